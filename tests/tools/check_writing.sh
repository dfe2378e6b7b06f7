#!/usr/bin/env bash
# Checks how the repository is written. First, words that leave a sentence without a subject must not come back to sources
# and documents: name the caller, thread, stream or device instead. Then page writing-a-backend.md: its blocks are one
# file of less than 250 lines with three ops that compiles without warnings and passes nd4c plugin-check.
# Usage: check_writing.sh ND4C_PROGRAM SOURCE_DIR C_COMPILER
set -euo pipefail
nd4c=$1 source=$2 cc=$3
# grep -w compares whole words and finds possessives, too. It does not search the names of files.
words='nobody|whoever|whomever|somebody|someone|nothing marks|what is there|it is that|strangers?|lets? go of|as ever'
texts=(-name '*.[ch]' -o -name '*.cl' -o -name '*.py' -o -name '*.sh' -o -name '*.md' -o -name '*.svg' -o -name '*.txt')
found=$(cd "$source" && find src include backends kernels tools bindings docs bench examples scripts README.md -type f \
  -not -path '*/licenses/*' \
  \( "${texts[@]}" -o -path 'scripts/*' \) -print0 | xargs -0 grep -nwiE "$words" || true)
if [ -n "$found" ]; then
  echo "$found" | cut -c1-200
  echo "expected none of these words: name the subject (caller, thread, stream, device)"
  exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$source/docs/how-to/writing-a-backend.md
awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page" >"$work/acme.c"
lines=$(wc -l <"$work/acme.c")
echo "$lines lines"
if [ "$lines" -lt 150 ] || [ "$lines" -ge 250 ]; then
  echo "expected 150 to 249 lines"
  exit 1
fi
ops=$(grep -oE 'KERNEL\([a-z]+, [0-9]\)' "$work/acme.c" | wc -l)
if [ "$ops" -lt 3 ]; then
  echo "$ops ops, expected 3"
  exit 1
fi
if grep -nE '^.{121}' "$work/acme.c"; then
  echo "expected lines of at most 120 characters"
  exit 1
fi
"$cc" -std=c17 -O2 -Wall -Wpedantic -Werror -shared -fPIC -fvisibility=hidden -I"$source/include" "$work/acme.c" \
  -o "$work/libacme.so"
"$nd4c" plugin-check --seconds 120 "$work/libacme.so" | tee "$work/said"
for line in 'contiguous operands: [1-9][0-9]* computed' '[1-9][0-9]* kernels declined with a reason' \
  '[1-9][0-9]* allocations of the plug-in.s were refused' 'acme:0: acme.s thread, other, asynchronous'; do
  grep -qE "^  $line" "$work/said" || { echo "no '$line'"; exit 1; }
done
# The page's sections must matter: without the wait between streams the check must fail.
sed 's/(void)fence_wait(NULL, (nd4c_fence)t->fence, NULL);/(void)t;/' "$work/acme.c" >"$work/unordered.c"
cmp -s "$work/acme.c" "$work/unordered.c" && { echo "nothing was planted"; exit 1; }
"$cc" -std=c17 -O2 -shared -fPIC -fvisibility=hidden -I"$source/include" "$work/unordered.c" -o "$work/libacme.so"
if "$nd4c" plugin-check --section streams "$work/libacme.so" >"$work/said"; then
  echo "streams that wait for no fence pass:"
  cat "$work/said"
  exit 1
fi

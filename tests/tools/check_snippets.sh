#!/usr/bin/env bash
# Compiles and runs every ```c block of the pages that is a program (has a main), in the order of the pages. A block
# ```output right after it is what the program must print.
# Usage: check_snippets.sh BUILD_DIR SOURCE_DIR C_COMPILER PAGE...
set -euo pipefail
build=$1 source=$2 cc=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

programs=0
for page in "$@"; do
  rm -f "$work"/block.*
  # block.N.c and block.N.out, N the line where the program begins.
  awk -v to="$work/block" '
    /^```c$/ { file = to "." FNR ".c"; program = FNR; next }
    /^```python$/ { file = ""; program = ""; next } # the tests of the Python package run these
    /^```output$/ && program == "" { file = ""; next }
    /^```output$/ { file = to "." program ".out"; next }
    /^```/ { file = ""; next }
    file != "" { print > file }
  ' "$page"
  for block in "$work"/block.*.c; do
    [ -e "$block" ] && grep -q 'int main(' "$block" || continue
    line=${block#"$work"/block.}
    where=${page#"$source"/}:${line%.c}
    programs=$((programs + 1))
    "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$source/include" "$block" -L"$build/lib" -lnd4c -lm \
      -Wl,-rpath,"$build/lib" -o "$work/program" || { echo "$where does not compile"; exit 1; }
    (cd "$source" && "$work/program") >"$work/printed" || { echo "$where failed"; exit 1; }
    if [ -e "${block%.c}.out" ] && ! diff -u "${block%.c}.out" "$work/printed"; then
      echo "$where prints something else than the page says"
      exit 1
    fi
  done
done
echo "$programs programs compiled and ran"
[ "$programs" -gt 0 ]

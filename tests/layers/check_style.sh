#!/usr/bin/env bash
# Every C source is formatted by .clang-format, and loops step with i++: scripts/style --check, which first has to find
# three files that are not. Usage: check_style.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source=$1
work=$2/style
style=$source/scripts/style
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
cp "$source/.clang-format" "$work" # the build folder may be outside of the tree
printf 'int f(int n) {\n  for (int i = 0; i < n; i++) {\n    n--;\n  }\n  return n;\n}\n' >"$work/good.c"
sed 's/i++/++i/' "$work/good.c" >"$work/step.c"
sed 's/ {$//; s/^  }$//' "$work/good.c" | sed '1s/$/ {/' >"$work/braces.c"
sed 's/^  */ /' "$work/good.c" >"$work/indentation.c"
status=0
said=$("$style" --check "$work"/{good,step,braces,indentation}.c) || status=$?
if [ "$status" -eq 77 ]; then
  echo "$said"
  exit 77
fi
if [ "$status" -ne 1 ] || ! grep -q '^4 files, 3 not formatted$' <<<"$said"; then
  echo "scripts/style --check does not find three planted files: $said"
  exit 1
fi
exec "$style" --check

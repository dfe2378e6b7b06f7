#!/usr/bin/env bash
# No source file over 700 lines: past that it holds more than one idea.
# Usage: check_length.sh SOURCE_DIR
set -euo pipefail
cd "$1"
failed=0
while IFS= read -r file; do
  lines=$(wc -l <"$file")
  if [ "$lines" -gt 700 ]; then
    echo "$file has $lines lines: at most 700; split it by what it is about"
    failed=1
  fi
done < <(find include src backends kernels tools examples bench tests scripts -type f \
  \( -name '*.c' -o -name '*.h' -o -name '*.inc' -o -name '*.cc' -o -name '*.py' -o -name '*.sh' \) | sort)
exit "$failed"

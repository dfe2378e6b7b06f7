#!/usr/bin/env bash
# Every function of the Array API standard has the op or C function that tests/data/ops/array_api.txt names.
# Usage: check_surface.sh ND4C_PROGRAM LIBRARY SOURCE_DIR
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" ops | sed -nE 's/^([a-z0-9_]+)\(.*/op \1/p' >"$work/there"
nm -D --defined-only "$2" | sed -nE 's/^[0-9a-f]+ T ([a-z0-9_]+).*/function \1/p' >>"$work/there"
sort -u -o "$work/there" "$work/there"
grep -v '^#' "$3/tests/data/ops/array_api.txt" >"$work/list"
functions=$(cut -d ' ' -f 1 "$work/list" | sort)
if [ "$functions" != "$(sort -u <<<"$functions")" ] || [ "$(wc -l <<<"$functions")" -lt 170 ]; then
  echo "tests/data/ops/array_api.txt names a function twice, or lacks some of the standard's" >&2
  exit 1
fi
missing=$(cut -d ' ' -f 2- "$work/list" | sort -u | comm -23 - "$work/there")
if [ -n "$missing" ]; then
  echo "The Array API needs what is not there:" >&2
  echo "$missing" >&2
  exit 1
fi
echo "$(wc -l <<<"$functions") functions of the Array API, all there"

#!/usr/bin/env bash
# The committed prototypes of the op functions must be those generated from the op table and the rules.
# Usage: check_ops_header.sh PYTHON C_COMPILER SOURCE_DIR OUTPUT_DIR
set -euo pipefail
source=$3 output=$4
rm -rf "$output"
mkdir -p "$output"
"$1" -S "$source/scripts/ops_header.py" --check "$2" "$source" "$output"
diff -u "$source/include/nd4c/ops.h" "$output/ops.h" >&2 && diff -ur -x .clang-format "$source/include/nd4c/ops" "$output/ops" >&2 ||
  { echo "include/nd4c/ops.h or a header in include/nd4c/ops/ is out of date: ninja ops-header, and commit"; exit 1; }
# Every op of the table has two visible prototypes, so that a search for nd4c_add finds one.
rows=$(grep -hoE '^ +OP\([0-9]+, ' "$source"/include/nd4c/op_table/*.h | wc -l)
functions=$(grep -hoE '^ND4C_API nd4c_status nd4c_[a-z0-9_]+\(' "$source"/include/nd4c/ops/*.h | sort -u | wc -l)
[ "$functions" -eq $((2 * rows)) ] && [ "$rows" -gt 400 ] ||
  { echo "$rows rows in the op table, but $functions prototypes, expected two for each row"; exit 1; }
grep -q '^ND4C_API nd4c_status nd4c_add(const nd4c_array \*a, ' "$source/include/nd4c/ops/binary.h" ||
  { echo "include/nd4c/ops/binary.h has no prototype of nd4c_add"; exit 1; }
echo "$functions prototypes, all current"

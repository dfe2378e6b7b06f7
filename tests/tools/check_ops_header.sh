#!/usr/bin/env bash
# The committed prototypes of the op functions must be those generated from the op table and the rules.
# Usage: check_ops_header.sh PYTHON C_COMPILER SOURCE_DIR OUTPUT_DIR
set -euo pipefail
python=$1 compiler=$2 source=$3 output=$4
rm -rf "$output"
mkdir -p "$output"
"$python" -S "$source/scripts/ops_header.py" --check "$compiler" "$source" "$output"
diff -u "$source/include/nd4c/ops.h" "$output/ops.h" >&2 && diff -ur -x .clang-format "$source/include/nd4c/ops" "$output/ops" >&2 ||
  { echo "include/nd4c/ops.h or a header in include/nd4c/ops/ is out of date: ninja generated, and commit"; exit 1; }
# Every op of the table has two visible prototypes, so that a search for nd4c_add finds one.
rows=$(grep -hoE '^ +OP\([0-9]+, ' "$source"/include/nd4c/op_table/*.h | wc -l)
functions=$(grep -hoE '^ND4C_API nd4c_status nd4c_[a-z0-9_]+\(' "$source"/include/nd4c/ops/*.h | sort -u | wc -l)
[ "$functions" -eq $((2 * rows)) ] && [ "$rows" -gt 400 ] ||
  { echo "$rows rows in the op table, but $functions prototypes, expected two for each row"; exit 1; }
grep -q '^ND4C_API nd4c_status nd4c_add(const nd4c_array \*a, ' "$source/include/nd4c/ops/binary.h" ||
  { echo "include/nd4c/ops/binary.h has no prototype of nd4c_add"; exit 1; }

# planted SED_COMMAND TEXT: in a copy whose table is changed by the command, the script must end with the text alone.
planted() {
  rm -rf "$output/tree"
  mkdir -p "$output/tree/src/ops"
  cp -r "$source/include" "$output/tree/include"
  ln -s "$source/src/ops/infer" "$output/tree/src/ops/infer"
  ln -s "$source/src/array" "$output/tree/src/array"
  sed -i "$1" "$output"/tree/include/nd4c/op_table/*.h
  local status=0
  "$python" -S "$source/scripts/ops_header.py" "$compiler" "$output/tree" "$output/planted" >"$output/report" 2>&1 || status=$?
  [ "$status" -eq 1 ] && [ "$(wc -l <"$output/report")" -eq 1 ] && grep -qE "$2" "$output/report" ||
    { echo "'$1': expected status 1 and one line with '$2', got status $status:"; cat "$output/report"; exit 1; }
}
planted 's/OP([0-9]*, 1, flatten,/OP(133, 1, flatten,/' '^flatten: its number 133 is that of squeeze; the next free number is [0-9]+$'
planted 's/1, flatten, SHAPE/1, squeeze, SHAPE/' '^squeeze: two rows of the op table have this name$'
planted 's/ND4C_SIG_AXES, squeeze, STORED/ND4C_SIG_AXES, sqeeze, STORED/' \
  '^squeeze: its row names the rule sqeeze, but src/ops/infer has no nd4c_infer_sqeeze; the nearest name is nd4c_infer_squeeze$'
echo "$functions prototypes, all current; three planted mistakes were noticed"

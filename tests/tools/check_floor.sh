#!/usr/bin/env bash
# nd4c info --floor: it lists the pairs of op and dtype that no engine but the reference takes, and knows why.
# Usage: check_floor.sh ND4C_PROGRAM JSON_GET_PROGRAM SOURCE_DIR
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"

# listed OP: the dtypes with which the report of the last command has the op on scalar loops.
listed() { grep -oE "^  $1 +[a-z0-9 ]+" "$work/out" | sed -E "s/^  $1 +//; s/ +$//"; }

expect 0 "$nd4c" info --floor
first=$(head -1 "$work/out")
[[ $first =~ ^([0-9]+)\ pairs.*:\ ([0-9]+)\ run\ on\ scalar\ loops,\ ([0-9]+)\ of\ them\ for\ a\ reason ]] || { echo "no counts in '$first'"; exit 1; }
pairs=${BASH_REMATCH[1]} floor=${BASH_REMATCH[2]} with_reason=${BASH_REMATCH[3]}
[ "$floor" -lt "$pairs" ] || { echo "every pair is on scalar loops"; exit 1; }
lacks out '^  (add|matmul) .*float32' # vector loops
lacks out '^  sum .*int32'            # its samples name another dtype of the result, so the attribute is left out, too
lacks out '^  fft .*float32'          # only samples that are made larger are long enough for a vector kernel
lacks out '^  (bitwise_(and|invert)|floor_divide|gcd|is_close|trunc|nan_to_num|crelu|bias_add|zeros|arange|eye) '
lacks out '^  (transpose|reshape) '   # views
lacks out '^stale: '
says out '^  random_advance +int64: it adds one number'

# The JSON has the same pairs.
expect 0 "$nd4c" info --floor --json
same "$(value pairs)" "$pairs" "pairs in the JSON"
same "$(value on_reference)" "$floor" "pairs on scalar loops"
same "$(value with_reason)" "$with_reason" "pairs with a reason"
same "$(grep -c '"dtype":' "$work/out")" $((floor + $(value without_sample))) "rows of the JSON"
same "$(grep -cE '"reason":	".+"' "$work/out")" "$with_reason" "reasons of the JSON"

# Without the other engines every pair that is not a view is on scalar loops, and the line says who declined and why.
expect 0 env SD_KERNEL_DISABLE_ENGINES=simd,openblas,onednn,fftw "$nd4c" info --floor
same "$(listed add)" "float32 float64 bfloat16 float16 int32 int64 uint8" "dtypes of add without vector loops"
says out '^  add .*: simd\.add.*disabled'
lacks out '^  (transpose|reshape) '

expect 2 "$nd4c" info --floor --probe
says err 'exclude each other'

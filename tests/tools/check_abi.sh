#!/usr/bin/env bash
# The binary interface of the public headers is the committed one, and `scripts/abi check` notices changes of it: each
# line below plants one in a copy of the headers.
# Usage: check_abi.sh PYTHON C_COMPILER SOURCE_DIR
set -euo pipefail
python=$1 compiler=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -S "$source/scripts/abi" check --compiler "$compiler" # 77: abidw is not installed

# planted FILE SED_COMMAND LINE VERDICT: after the change, the report must have the line and the verdict.
planted() {
  rm -rf "$work/include"
  cp -r "$source/include" "$work/include"
  sed -i "$2" "$work/include/nd4c/$1"
  ! cmp -s "$source/include/nd4c/$1" "$work/include/nd4c/$1" || { echo "'$2' changes nothing in $1"; exit 1; }
  local status=0
  "$python" -S "$source/scripts/abi" check --compiler "$compiler" --include "$work/include" >"$work/report" || status=$?
  [ "$status" -eq 1 ] && grep -qF -e "$3" "$work/report" && grep -qF "$4" "$work/report" ||
    { echo "'$2' in $1: expected status 1, '$3' and '$4' in the report, got status $status:"; cat "$work/report"; exit 1; }
}
breaks='may break' adds='Lines are only added'
planted ops/binary.h 's/nd4c_add(const nd4c_array \*a, /&bool fast, /' \
  '+nd4c_status nd4c_add(const nd4c_array *, bool, const nd4c_array *, nd4c_array **)' "$breaks"
planted ops/window.h '/struct nd4c_conv_options {/,/}/s/int64_t groups/int32_t groups/' \
  '+struct nd4c_conv_options: 68 int32_t groups' "$breaks"
planted ops/window.h '/struct nd4c_conv_options {/,/}/s/nd4c_activation activation;/& int64_t more;/' \
  '+struct nd4c_conv_options: 88 int64_t more' "$adds"
planted plugin/kernel.h '/struct nd4c_kernel {/,/}/s/int32_t priority;/int64_t priority;/' \
  '+struct nd4c_kernel: 32 int64_t priority' "$breaks"
planted ops/enums.h 's/ND4C_AUTO_PAD_VALID = 3/ND4C_AUTO_PAD_VALID = 4/' \
  '+enum nd4c_auto_pad: 4 ND4C_AUTO_PAD_VALID' "$breaks"
planted ops/binary.h '/^ND4C_API nd4c_status nd4c_add(/,/;/d' \
  '-nd4c_status nd4c_add(const nd4c_array *, const nd4c_array *, nd4c_array **)' "$breaks"
planted array.h 's/^ND4C_EXTERN_C_END/ND4C_API void nd4c_array_planted(void);\n&/' '+void nd4c_array_planted(void)' "$adds"
echo "seven planted changes were noticed"

#!/usr/bin/env bash
# The number of pairs of op and dtype that the OpenCL device computes must not fall below the documents' promise: nine
# in ten of every family that makes sense on a device; of linear algebra all but decompositions, ops that use them, and
# products of bytes. It only asks the backend: other tests check that the device computes the pairs that it claims.
# Usage: check_coverage_least.sh ND4C_CONFORMANCE --records DIR
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$1" --backend opencl --coverage --ask "${@:2}" >"$log" 2>&1
code=$?
[ $code -ne 77 ] || exit 77
[ $code -eq 0 ] || { tail -n 30 "$log"; exit 1; }

bad=0
for family in UNARY BINARY TERNARY REDUCTION NN SHAPE INDEXING SORTING CREATION RANDOM IMAGE; do
  line=$(grep -E "^  $family " "$log") || { echo "no line of $family"; bad=1; continue; }
  read -r _ whole _ pairs _ <<<"$line"
  pairs=${pairs%%[^0-9]*}
  if [ $((whole * 10)) -lt $((pairs * 9)) ]; then
    echo "$family: the device computes $whole of $pairs pairs, expected nine in ten"
    bad=1
  fi
done

# Of the ops in LINALG these may decline.
may='cholesky|cholesky_solve|det|eig|eigh|eigvals|eigvalsh|expm|inv|linear_int8|lstsq|lu|lu_factor|lu_solve|matmul_integer'
may+='|matmul_nbits|matrix_norm|matrix_power|matrix_rank|pinv|qlinear_matmul|qr|slogdet|solve|svd|svdvals|triangular_solve'
families='conv_integer|dynamic_quantize_linear|qlinear_add|qlinear_conv|cast_float8|decode_image|label_index|istft|stft'
families+='|mel_weight_matrix|score_transform|svm_kernel|svm_probabilities|tfidf_vectorizer|tree_ensemble|[a-z]*fft[a-z]*'
others=$(grep -E '^(declined|partly) ' "$log" | grep -v -E "^[a-z]+ ($may|$families) " || true)
if [ -n "$others" ]; then
  printf 'ops that the device computed before:\n%s\n' "$others"
  bad=1
fi
exit $bad

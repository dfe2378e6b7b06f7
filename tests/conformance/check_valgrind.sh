#!/usr/bin/env bash
# check_valgrind.sh PROGRAM [OP...]: runs nd4c_conformance, built optimised, under valgrind's memcheck: reads of memory that
# nobody set or that is not the program's, in the very machine code that users run. AddressSanitizer sees other code (-O1,
# its own checks between), and once missed a loop that gcc 12 miscompiled at -O3. Values are not judged here: valgrind
# computes long double, in which the oracles are, in 64 bits. It knows no AVX-512, so the loops are those of AVX2.
set -u
program=${1:?the program nd4c_conformance}
shift
# An op for every kind of loop, each on the engine that has that loop.
simd=(negative exp gelu cast clip add power where sum max argmax softmax layer_norm batch_norm max_pool average_pool lrn
  transpose concat gather linear)
reference=(sqrt divide mean argmin conv slice log_softmax)
if [ $# -gt 0 ]; then
  simd=("$@")
  reference=()
fi

passed=0
failed=0
# memory ENGINE OP: valgrind ends with 9 if it found something; 1 says that values differ.
memory() {
  local status=0 output
  output=$(OMP_NUM_THREADS=1 valgrind --quiet --error-exitcode=9 \
    "$program" --engine "$1" --op "$2" 2>&1) || status=$?
  if [ "$status" -gt 1 ]; then
    printf '%s, engine %s: exit %d\n%s\n' "$2" "$1" "$status" "$(grep '^==' <<<"$output" | head -n 40)"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
    printf '%s, engine %s: clean\n' "$2" "$1"
  fi
}

for op in "${simd[@]}"; do
  memory simd "$op"
done
for op in "${reference[@]}"; do
  memory reference "$op"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]

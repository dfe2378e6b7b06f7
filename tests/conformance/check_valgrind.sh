#!/usr/bin/env bash
# check_valgrind.sh PROGRAM [OP...]: runs nd4c_conformance, built optimised, under valgrind's memcheck: finds reads of
# memory that the program has not set or does not own, in the machine code that users run. AddressSanitizer checks other
# code (-O1, with its checks in between), and once missed a loop that gcc 12 miscompiled at -O3. This test does not
# judge values, because valgrind computes the oracles' long double in 64 bits. Valgrind has no AVX-512, so the loops are
# those of AVX2.
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
# memory ENGINE OP: valgrind exits with 9 if it found an error; 1 means only that values differ.
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

#!/usr/bin/env bash
# The coverage of a backend counts the bytes that ops read back to the host: a pair counts as computed on the device if
# few bytes are read back; if many are, it counts as a host copy, which fails.
# Usage: check_coverage.sh ND4C_CONFORMANCE [--records DIR]
set -uo pipefail
conformance=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() {
  "$conformance" --backend opencl --coverage --quick --dtype float32 "$@" >"$log" 2>&1
}

says() {
  grep -q -- "$1" "$log" || fail "no '$1'"
}

fail() {
  echo "$1 in:"
  cat "$log"
  exit 1
}

run --op gather
code=$?
[ $code -ne 77 ] || exit 77
[ $code -eq 0 ] || fail "code $code"
says ' 1 of     1 (100.0 %), 0, 0, 0$'
! grep -q 'not counted' "$log" || fail "nothing was counted"
if [ $# -gt 0 ]; then
  run --op nonzero "$@" || fail "code $?"
  says '^  nonzero reads back 8 bytes at most, of calls with up to [0-9]* bytes of operands: '
fi
FAULTY_CL_LIE=host_copy run --op gather && fail "no failure"
says '^host copy gather float32: '
says ' 0 of     1 (  0.0 %), 0, 1, 0$'
says 'the call read [0-9]* bytes back to the host'

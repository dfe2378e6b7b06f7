#!/usr/bin/env bash
# The cache of built programs: the backend writes files and uses them again. It rebuilds and replaces a file that is
# damaged or that other users may write. It keeps no files for PoCL, which has a cache. Without a writable directory
# programs are only slower to build.
# Usage: check_cache.sh ND4C_CONFORMANCE FAULTY_LOADER ND4C
set -uo pipefail
conformance=$1
faulty=$2
nd4c=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ND4J_LOG_INITIALIZATION=true ND4C_OPENCL_CACHE=$work/cache

run() {
  "$conformance" --backend opencl --op logical_not --dtype bool --quick >"$work/log" 2>&1
  local code=$?
  [ $code -eq 0 ] || { cat "$work/log"; exit $code; }
}

fail() {
  echo "$1"
  cat "$work/log"
  exit 1
}

run # exits where no device is
# PoCL has a cache of programs, and to give a binary it compiles every kernel of the program once more.
if "$nd4c" info --probe 2>/dev/null | grep -q 'opencl:0 .*Portable Computing Language'; then
  [ ! -e "$work/cache" ] || fail "programs of PoCL are kept twice"
  ! grep -q "Clang's header" "$work/log" || fail "builtins.cl does not suit this PoCL"
  # A program that cannot be built without Clang's header is built with it, which the log reports once.
  FAULTY_CL=clBuildProgram:1:-11 ND4C_OPENCL_LIBRARY=$faulty run
  [ "$(grep -c "warning \[opencl\].*programs are built with Clang's header" "$work/log")" -eq 1 ] ||
    fail "that the header is needed is not told once"
fi
export FAULTY_CL_PLATFORM='No PoCL' ND4C_OPENCL_LIBRARY=$faulty
run
files=$(find "$work/cache" -name '*.clbin' | wc -l)
[ "$files" -gt 0 ] || fail "nothing was kept"
run
! grep -q damaged "$work/log" || fail "a sound file was refused"
for file in "$work"/cache/*.clbin; do
  printf 'x' | dd of="$file" bs=1 seek=3000 conv=notrunc 2>"$work/dd.log"
done
run
grep -q damaged "$work/log" || fail "a changed byte was not noticed"
run
! grep -q damaged "$work/log" || fail "a damaged file was not replaced"
for file in "$work"/cache/*.clbin; do
  truncate -s 20 "$file"
done
run
grep -q damaged "$work/log" || fail "a cut file was not noticed"
for file in "$work"/cache/*.clbin; do
  chmod g+w "$file"
done
run
grep -q 'not read' "$work/log" || fail "a file that others may write to was read"
for file in "$work"/cache/*.clbin; do
  rm "$file"
  mkfifo -m 600 "$file"
done
run
grep -q 'not read' "$work/log" || fail "a pipe was read"
run
! grep -q 'not read' "$work/log" || fail "what was not read was not replaced"
[ "$(find "$work/cache" -type f | wc -l)" -eq "$files" ] || fail "a temporary file was left behind"
ND4C_OPENCL_CACHE=$work/log/nowhere run
[ "$(grep -c 'warning \[opencl\].*could not be written: programs are built anew' "$work/log")" -eq 1 ] ||
  fail "an unusable directory is not told once"
FAULTY_CL_LIE=no_binary ND4C_OPENCL_CACHE=$work/empty run
[ "$(grep -c 'warning \[opencl\] opencl:0: the driver gives no binary' "$work/log")" -eq 1 ] ||
  fail "a driver that gives no binary is not told once"
! grep -q 'could not be written' "$work/log" || fail "the directory is blamed for the driver"
ND4C_OPENCL_CACHE=off run

#!/usr/bin/env bash
# Options that CMake refuses at configure time, with texts that say why and what to do.
# Usage: check_options.sh SOURCE_DIR C_COMPILER
set -euo pipefail
source=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# refused OPTION WORDS...: CMake fails with these words, regardless of its line breaks.
refused() {
  local option=$1 words
  shift
  if cmake -G Ninja -S "$source" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DND4C_TESTS=OFF "$option" >"$work/log" 2>&1; then
    echo "CMake takes $option"
    exit 1
  fi
  tr -s '[:space:]' ' ' <"$work/log" >"$work/text"
  for words in "$@"; do
    grep -qF -- "$words" "$work/text" || { echo "CMake does not say '$words' of $option:"; cat "$work/log"; exit 1; }
  done
}

refused -DBUILD_SHARED_LIBS=OFF "nd4c is a shared library only" "exist once in a process" "leave BUILD_SHARED_LIBS out"
rm -rf "$work/build"
refused -DND4C_DTYPES=some "ND4C_DTYPES is 'some': expected full or lite"
rm -rf "$work/build"
refused -DCMAKE_SYSTEM_NAME=FreeBSD "nd4c runs on Linux, on x86-64 and arm64, and this build is for FreeBSD"
rm -rf "$work/build"
# CMake accepts ON and fails at the next option that it refuses.
if cmake -G Ninja -S "$source" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DND4C_TESTS=OFF -DBUILD_SHARED_LIBS=ON \
  -DND4C_DTYPES=some >"$work/log" 2>&1 || grep -q 'shared library only' "$work/log"; then
  cat "$work/log"
  exit 1
fi
echo "refused with words that say what to do"

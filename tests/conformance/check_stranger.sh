#!/usr/bin/env bash
# Builds the stub backend as an author outside the project would: from its folder alone, against an installed nd4c, once
# through the CMake package and once with the include folder. Each result links no library of nd4c and passes the op
# records.
# Usage: check_stranger.sh BUILD_DIR SOURCE_DIR C_COMPILER
set -euo pipefail
build=$1 source=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
cp -r "$source/backends/stub" "$work/stub"

check() {
  local name=$1
  shift
  cmake -G Ninja -S "$work/stub" -B "$work/$name" -DCMAKE_C_COMPILER="$cc" "$@" >"$work/$name.log" 2>&1 &&
    cmake --build "$work/$name" >>"$work/$name.log" 2>&1 || { cat "$work/$name.log"; exit 1; }
  ! grep -q warning "$work/$name.log" || { cat "$work/$name.log"; exit 1; }
  local plugin=$work/$name/libnd4c_stub.so
  if nm -D --undefined-only "$plugin" | grep -q ' nd4c_'; then
    echo "$name: the plug-in needs symbols of nd4c's:"
    nm -D --undefined-only "$plugin" | grep ' nd4c_'
    exit 1
  fi
  for op in add matmul sum transpose; do
    "$build/tests/bin/nd4c_conformance" --backend stub --plugin "$plugin" --op $op --quick >"$work/run.log" ||
      { cat "$work/run.log"; exit 1; }
  done
  tail -1 "$work/run.log"
}

check package -DCMAKE_PREFIX_PATH="$work/prefix"
check headers -DND4C_INCLUDE_DIR="$work/prefix/include"
echo "built outside the tree, two ways"

#!/usr/bin/env bash
# The three trial contributions as authors outside the project would build them: copies outside the tree, compiled only
# against an installed nd4c, checked by the installed program. Kernels for cpu:0, compilers for cpu:0, and a device that
# records work, whose buffers are opaque and whole.
# Usage: check_outside.sh BUILD_DIR SOURCE_DIR C_COMPILER
set -euo pipefail
build=$1 source=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset ND4C_BACKEND_PLUGINS

quietly() { # COMMAND...: its words, if it fails
  "$@" >"$work/log" 2>&1 || { echo "failed: $*"; cat "$work/log"; exit 1; }
}
says() { # WORDS: the last log has such a line
  grep -qE "$1" "$work/log" || { echo "no '$1' in:"; cat "$work/log"; exit 1; }
}

quietly cmake --install "$build" --prefix "$work/prefix"
nd4c=$work/prefix/bin/nd4c
mkdir "$work/stranger"
cp -r "$source/backends/stub" "$source/tests/plugin/contributor.c" "$source/tests/plugin/chain_compiler.c" \
  "$source/examples/digits/digits.onnx" "$work/stranger"
cd "$work/stranger"

quietly cmake -G Ninja -S stub -B with_package -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-Werror
quietly cmake --build with_package -j 2 --target nd4c_plugin_stub
quietly cmake -G Ninja -S stub -B with_folder -DND4C_INCLUDE_DIR="$work/prefix/include" -DCMAKE_C_COMPILER="$cc"
for name in contributor chain_compiler; do
  quietly "$cc" -std=c17 -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -I"$work/prefix/include" "$name.c" \
    -o "$name.so"
done
stub=$PWD/with_package/libnd4c_stub.so
for plugin in "$stub" ./contributor.so ./chain_compiler.so; do
  if readelf -d "$plugin" | grep -q 'NEEDED.*nd4c'; then
    echo "$plugin is linked with nd4c"
    exit 1
  fi
done

quietly "$nd4c" plugin-check ./contributor.so
says '^  contiguous operands: [1-9][0-9]* computed'
says 'every statement holds$'
quietly "$nd4c" plugin-check --section plans --ops 'a*' ./chain_compiler.so
says '[1-9][0-9]* of them with compiled segments'
says 'every statement holds$'
quietly "$nd4c" plugin-check --section kept ./chain_compiler.so
says '[1-9][0-9]* executables were written, [1-9][0-9]* times one was loaded$'
says 'every statement holds$'
export STUB_MEMORY=whole STUB_CAPTURE=all
quietly "$nd4c" plugin-check "$stub"
says '^  stub:0: mode: capture '
says 'every statement holds$'

# The alternating plan, and the same model as one recording.
export ND4C_BACKEND_PLUGINS=$stub
quietly "$nd4c" run digits.onnx --random-inputs --devices cpu:0,stub:0 --report --trace -
says '^device transitions: [1-9]'
says '^requested but not applied: nothing$'
quietly "$nd4c" run digits.onnx --random-inputs --devices stub:0 --report
says '^mode: capture '
says '^requested but not applied: nothing$'
echo "three plug-ins were built against the installed nd4c and hold"

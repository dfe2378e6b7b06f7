# Shared by the scripts of this folder: progress, logs, and setting up a machine. To be sourced.
# shellcheck shell=bash

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
logs=$root/build/logs
cache=$root/.cache
mkdir -p "$logs" "$cache"
started=$SECONDS

# These variables would force OpenBLAS to use kernels for another processor.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
elapsed() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# step LOG TEXT COMMAND...: runs quietly with the output in build/logs/LOG.log, shows progress, and prints its time.
# Returns the command's status; on failure the end of the log is shown.
step() {
  local log=$logs/$1.log text=$2 begin=$SECONDS told=$SECONDS status=0 pid last
  shift 2
  printf '==> %s\n' "$text"
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if [ $((SECONDS - told)) -ge 15 ]; then
      told=$SECONDS
      last=$(tail -n 1 "$log" 2>/dev/null | tr -d '\r' | cut -c 1-90)
      printf '    %s  %s\n' "$(elapsed $((SECONDS - begin)))" "$last"
    fi
  done
  wait "$pid" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '    failed after %s (exit %d); the end of %s:\n' "$(elapsed $((SECONDS - begin)))" "$status" "${log#"$root"/}"
    tail -n 40 "$log" | sed 's/^/    | /'
    return "$status"
  fi
  printf '    %s\n' "$(elapsed $((SECONDS - begin)))"
}

# shellcheck source-path=SCRIPTDIR
. "$root/scripts/packages.sh"

# The checkout's virtual environment, for packages that the package manager lacks. Fails with a message if no Python can
# create one.
need_venv() {
  [ -x "$cache/venv/bin/pip" ] && return 0
  python3 -c 'import ensurepip, venv' 2>/dev/null || want_packages python3 python3-venv
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    say "There is no Python 3 that can make an environment for pip (package python3-venv)"
    return 1
  fi
  step venv "Making a Python environment in .cache/venv" python3 -m venv "$cache/venv"
}

# -- tools ------------------------------------------------------------------------------------------------------------

cmake_is_recent() { # 3.25 or newer
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/.*version //p')
  [ -n "$version" ] && [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ]
}

# fetch_tool NAME: a program that pip has, pinned in scripts/NAME.txt.
fetch_tool() {
  need_venv && step "pip-$1" "Fetching $1 with pip, into .cache/venv" \
    "$cache/venv/bin/pip" install --disable-pip-version-check -r "scripts/$1.txt"
}

# CMake and Ninja: the system's, else pip's. Environments of earlier runs come first in PATH, so that a second run
# fetches nothing.
need_cmake() {
  [ -x "$cache/venv/bin/cmake" ] && PATH=$cache/venv/bin:$PATH
  cmake_is_recent && return 0
  fetch_tool cmake || fail "CMake 3.25 or newer is needed, and pip could not fetch it. As root: $(apt_command cmake)"
  PATH=$cache/venv/bin:$PATH
  hash -r
  cmake_is_recent || fail "CMake 3.25 or newer is needed; found $(cmake --version 2>/dev/null | head -n 1)"
}

need_ninja() {
  if have ninja || have ninja-build || have samu; then
    return 0
  fi
  if [ ! -x "$cache/venv/bin/ninja" ]; then
    fetch_tool ninja || fail "Ninja is needed, and pip could not fetch it. As root: $(apt_command ninja-build)"
  fi
  PATH=$PATH:$cache/venv/bin
  hash -r
}

unpack_onednn() {
  local folder=$cache/onednn
  rm -rf "$folder" && mkdir -p "$folder" &&
    "$cache/venv/bin/pip" download --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
      -r scripts/onednn.txt -d "$folder/wheel" &&
    "$cache/venv/bin/python" -m zipfile -e "$folder"/wheel/*.whl "$folder/unpacked" &&
    cp "$(find "$folder/unpacked" -name libdnnl.so.3 | head -n 1)" "$folder/libdnnl.so.3.part" &&
    rm -rf "$folder/wheel" "$folder/unpacked" &&
    mv "$folder/libdnnl.so.3.part" "$folder/libdnnl.so.3"
}

# oneDNN 3: the system's, else a pinned prebuilt one kept in .cache/onednn, from where the build takes it. nd4c works
# without it, so a failure here is reported but not fatal.
need_onednn() {
  [ -e "$cache/onednn/libdnnl.so.3" ] && return 0
  has_library libdnnl.so.3 && return 0
  if have apt-get && offered libdnnl3; then
    want_packages libdnnl3
    installed libdnnl3 && return 0
  fi
  if [ "$(uname -m)" = x86_64 ] && need_venv && step onednn "Fetching oneDNN with pip (39 MB, into .cache/onednn)" unpack_onednn; then
    return 0
  fi
  leave_out "oneDNN 3" libdnnl3 "nd4c's own kernels compute convolutions"
}

# The compiler cache is used if it is installed, and never installed by the scripts.
if have ccache && [ -z "${CMAKE_C_COMPILER_LAUNCHER-}" ]; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache # CMake reads it where a build folder is configured first
fi

# clang with libFuzzer, for scripts/fuzz. Some releases keep the sanitizers' and the fuzzer's runtime in a package
# apart.
need_fuzzer() {
  local version
  have clang || need_packages clang
  version=$(clang -dumpversion | cut -d. -f1)
  if have apt-get && offered "libclang-rt-$version-dev"; then
    need_packages "libclang-rt-$version-dev"
  fi
}

# need_python_packages WHAT LIST TEXT: installs the packages that tests compare with into .cache/venv. If pip has none
# for this Python, those tests are left out, and CMake says so.
need_python_packages() {
  local mark
  mark=$cache/venv/$1-$(cksum <"$2" | tr ' ' '-')
  [ -e "$mark" ] && return 0
  if need_venv && step "pip-$1" "Fetching $3 with pip, for tests (into .cache/venv)" \
    "$cache/venv/bin/pip" install --disable-pip-version-check -r "$2"; then
    touch "$mark"
  else
    say "$2 could not be installed: the tests that need it are left out"
  fi
}

# tell_space GIGABYTES: warns early if the disk may fill up, because compilers and tests report a full disk in obscure
# ways.
tell_space() {
  local free
  free=$(df -Pk "$root" | awk 'NR == 2 { print int($4 / 1000000) }')
  [ "${free:-$1}" -ge "$1" ] || say "Only $free GB are free here: a first run fills some $1 GB of build/ and .cache/"
}

# setup [test]: installs everything that building, or building and testing, needs. Names the packages that are missing
# and cannot be installed, and continues without those that a build does not require.
setup() {
  [ "${1-}" != test ] || tell_space 6
  want_packages "${build_packages[@]}"
  need_compiler
  if [ "${1-}" = test ]; then
    want_packages "${test_packages[@]}"
    has_header cjson/cJSON.h || need_packages libcjson-dev
    has_header cmocka.h || need_packages libcmocka-dev
    want_offered "${codec_packages[@]}" "${opencl_packages[@]}" "${abi_packages[@]}" "${link_packages[@]}"
    need_python_packages models tests/models/requirements.txt "ONNX Runtime and NumPy"
    need_python_packages onnx tests/onnx/requirements.txt "ONNX's backend cases"
    need_python_packages records tests/records/requirements.txt "NumPy, SciPy and mpmath"
    need_python_packages style scripts/style.txt "clang-format and clang-tidy"
    need_python_packages site scripts/site.txt "MkDocs"
  fi
  want_offered "${engine_packages[@]}"
  need_cmake
  need_ninja
  need_onednn
  look_for_optional
}

# build PRESET TEXT [OPTIONS...]: configures and builds build/PRESET, incrementally.
build() {
  local preset=$1 text=$2
  shift 2
  step "$preset-configure" "Configuring $text (build/$preset)" cmake --preset "$preset" "$@"
  step "$preset-build" "Building $text" cmake --build --preset "$preset"
}

build_lite() { cmake --preset lite && cmake --build --preset lite; }

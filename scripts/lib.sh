# Shared by the scripts of this folder: progress, logs, and setting up a machine. To be sourced.
# shellcheck shell=bash

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
logs=$root/build/logs
cache=$root/.cache
mkdir -p "$logs" "$cache"
started=$SECONDS

# These would force another kernel set on OpenBLAS than the machine deserves.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
elapsed() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# step LOG TEXT COMMAND...: runs quietly with the output in build/logs/LOG.log, shows that it goes on, prints its time.
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

# -- packages ---------------------------------------------------------------------------------------------------------

build_packages=(gcc libc6-dev cmake ninja-build libhwloc-dev libcjson-dev libopenblas0-openmp)
# What makes some engines faster where it is found at run time: LAPACKE for factorisations, FFTW for Fourier transforms.
engine_packages=(liblapacke libfftw3-double3 libfftw3-single3)
test_packages=(libcmocka-dev g++ pkg-config binutils)
# What decode_image, regex_full_match and the readers of .npz and .safetensors load at run time; their tests want them.
codec_packages=(libturbojpeg0 libpng16-16 libwebp7 libtiff6 libopenjp2-7 libpcre2-8-0 libminizip1 libcjson1)
# An OpenCL device that every machine can have (PoCL: the processor), the loader, and a BLAS for it.
opencl_packages=(pocl-opencl-icd ocl-icd-libopencl1 libclblast1)

# Kernels for arm64, on another machine: a compiler, and what runs its programs.
arm64_packages=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
# Whether the package manager offers a package.
offered() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([^(].*\)/\1/p')" ]; }

refresh_packages() {
  [ -z "${packages_refreshed-}" ] || return 0
  step apt-update "Reading the package lists" as_root apt-get -o DPkg::Lock::Timeout=120 update
  packages_refreshed=yes
}

# need_packages NAME...: installs those that are missing.
need_packages() {
  local package missing=()
  if ! have apt-get; then
    say "No apt-get here: the packages below (or this system's equivalents) must be there already: $*"
    return 0
  fi
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! have sudo; then
    fail "packages are missing and there is no sudo; as root: apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "To install with apt-get: ${missing[*]}"
  refresh_packages
  step apt-install "Installing ${#missing[@]} packages" as_root apt-get -o DPkg::Lock::Timeout=120 install -y \
    --no-install-recommends "${missing[@]}"
}

# need_offered NAME...: installs those of them that this system's package manager knows by that name.
need_offered() {
  local package known=()
  have apt-get || return 0
  for package in "$@"; do
    installed "$package" && continue
    refresh_packages
    if offered "$package"; then
      known+=("$package")
    else
      say "This system has no package $package: nd4c does without it and says so"
    fi
  done
  [ ${#known[@]} -eq 0 ] || need_packages "${known[@]}"
}

# A virtual environment of the checkout's own, for what the package manager does not have.
need_venv() {
  [ -x "$cache/venv/bin/pip" ] && return 0
  need_packages python3 python3-venv
  step venv "Making a Python environment in .cache/venv" python3 -m venv "$cache/venv"
}

# -- tools ------------------------------------------------------------------------------------------------------------

cmake_is_recent() { # 3.25 or newer
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/.*version //p')
  [ -n "$version" ] && [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ]
}

need_cmake() {
  [ -x "$cache/venv/bin/cmake" ] && PATH=$cache/venv/bin:$PATH
  cmake_is_recent && return 0
  need_venv
  step pip-cmake "Fetching CMake with pip (the system's is older than 3.25)" \
    "$cache/venv/bin/pip" install --disable-pip-version-check -r scripts/cmake.txt
  PATH=$cache/venv/bin:$PATH
  hash -r
  cmake_is_recent || fail "CMake 3.25 or newer is needed; found $(cmake --version 2>/dev/null | head -n 1)"
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
# without it, so a failure here is told and not fatal.
need_onednn() {
  [ -e "$cache/onednn/libdnnl.so.3" ] && return 0
  ldconfig -p 2>/dev/null | grep -q 'libdnnl\.so\.3 ' && return 0
  if have apt-get && offered libdnnl3; then
    need_packages libdnnl3
    return 0
  fi
  if [ "$(uname -m)" != x86_64 ]; then
    say "oneDNN 3: none in the package lists, and the pinned one is for x86-64; building without it"
    return 0
  fi
  need_venv
  step onednn "Fetching oneDNN with pip (39 MB, into .cache/onednn)" unpack_onednn ||
    say "oneDNN could not be fetched: nd4c is built without it (nd4c info says so)"
}

# The compiler cache is used where it is installed, and never asked for.
if have ccache && [ -z "${CMAKE_C_COMPILER_LAUNCHER-}" ]; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache # CMake reads it where a build folder is configured first
fi

# clang with libFuzzer, for scripts/fuzz. Some releases keep the sanitizers' and the fuzzer's runtime in a package apart.
need_fuzzer() {
  local version
  have clang || need_packages clang
  version=$(clang -dumpversion | cut -d. -f1)
  if have apt-get && offered "libclang-rt-$version-dev"; then
    need_packages "libclang-rt-$version-dev"
  fi
}

# need_python_packages WHAT LIST TEXT: what tests compare with, into .cache/venv. Where pip has it not for this Python,
# those tests are left out, which CMake says, too.
need_python_packages() {
  local mark
  mark=$cache/venv/$1-$(cksum <"$2" | tr ' ' '-')
  [ -e "$mark" ] && return 0
  need_venv
  if step "pip-$1" "Fetching $3 with pip, to compare with (into .cache/venv)" \
    "$cache/venv/bin/pip" install --disable-pip-version-check -r "$2"; then
    touch "$mark"
  else
    say "$2 could not be installed: the tests that need it are left out"
  fi
}

# tell_space GIGABYTES: a word in time where the disk may become full, which compilers and tests tell in odd ways.
tell_space() {
  local free
  free=$(df -Pk "$root" | awk 'NR == 2 { print int($4 / 1000000) }')
  [ "${free:-$1}" -ge "$1" ] || say "Only $free GB are free here: a first run fills some $1 GB of build/ and .cache/"
}

# setup [test]: everything that building, or building and testing, needs.
setup() {
  if [ "${1-}" = test ]; then
    tell_space 6
    need_packages "${build_packages[@]}" "${test_packages[@]}"
    need_offered "${codec_packages[@]}" "${opencl_packages[@]}"
    need_python_packages models tests/models/requirements.txt "ONNX Runtime and NumPy"
    need_python_packages onnx tests/onnx/requirements.txt "ONNX's backend cases"
    need_python_packages records tests/records/requirements.txt "NumPy, SciPy and mpmath"
  else
    need_packages "${build_packages[@]}"
  fi
  need_offered "${engine_packages[@]}"
  need_cmake
  need_onednn
}

# build PRESET TEXT [OPTIONS...]: configures and builds build/PRESET; what is up to date is not built again.
build() {
  local preset=$1 text=$2
  shift 2
  step "$preset-configure" "Configuring $text (build/$preset)" cmake --preset "$preset" "$@"
  step "$preset-build" "Building $text" cmake --build --preset "$preset"
}

build_lite() { cmake --preset lite && cmake --build --preset lite; }

# Packages of the system, for the scripts of this folder: installs missing ones if it may, and detects what the machine
# has. Sourced by lib.sh.
# shellcheck shell=bash

build_packages=(gcc libc6-dev cmake ninja-build libhwloc-dev libcjson-dev libopenblas0-openmp)
# Libraries that some engines use if they find them at run time: LAPACKE for factorisations, FFTW for Fourier
# transforms.
engine_packages=(liblapacke libfftw3-double3 libfftw3-single3)
test_packages=(libcmocka-dev g++ pkg-config binutils)
# A linker that takes half of the usual one's time for the programs of the tests.
link_packages=(mold)
# Libraries that decode_image, regex_full_match and the readers of .npz and .safetensors load at run time; their tests
# need them.
codec_packages=(libturbojpeg0 libpng16-16 libwebp7 libtiff6 libopenjp2-7 libpcre2-8-0 libminizip1 libcjson1)
# An OpenCL device that works on every machine (PoCL, on the processor), the loader, and a BLAS for it.
opencl_packages=(pocl-opencl-icd ocl-icd-libopencl1 libclblast1)
# abidw reads the binary interface of the headers; without it the test tools.abi is skipped.
abi_packages=(abigail-tools)
# Kernels for arm64 on another machine: a cross compiler and an emulator.
arm64_packages=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# Whether installing can be tried: apt-get exists, and the user is root or has sudo, which has not refused so far.
can_install() {
  have apt-get && [ -z "${install_refused-}" ] && { [ "$(id -u)" -eq 0 ] || have sudo; }
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
# Whether the package manager offers a package.
offered() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([^(].*\)/\1/p')" ]; }

# If this fails, because sudo refuses or no package server answers, the scripts do not try to install anything else.
refresh_packages() {
  [ -z "${packages_refreshed-}" ] || return 0
  step apt-update "Reading the package lists" as_root apt-get -o DPkg::Lock::Timeout=120 update || {
    install_refused=yes
    return 1
  }
  packages_refreshed=yes
}

# want_packages NAME...: installs the missing ones if it may. Never fails: the caller checks what the machine has.
want_packages() {
  local package missing=()
  have apt-get || return 0
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if can_install; then
    say "To install with apt-get: ${missing[*]}"
    refresh_packages && step apt-install "Installing ${#missing[@]} packages" as_root apt-get \
      -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "${missing[@]}" && return 0
  fi
  not_installed+=("${missing[@]}")
  say "Not installed: ${missing[*]}. Going on with what the machine has"
}

# want_offered NAME...: the same for the packages among them that this system's package manager offers.
want_offered() {
  local package known=()
  have apt-get || return 0
  for package in "$@"; do
    installed "$package" && continue
    ! can_install || refresh_packages || true
    if offered "$package"; then
      known+=("$package")
    else
      say "This system has no package $package: nd4c works without it and reports that"
    fi
  done
  [ ${#known[@]} -eq 0 ] || want_packages "${known[@]}"
}

# need_packages NAME...: the same for packages without which the caller cannot continue.
need_packages() {
  local package missing=()
  if ! have apt-get; then
    say "No apt-get here: the packages below (or this system's equivalents) must be installed already: $*"
    return 0
  fi
  want_packages "$@"
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] ||
    fail "packages are missing and cannot be installed here; as root: $(apt_command "${missing[@]}")"
}

apt_command() { printf 'apt-get install --no-install-recommends %s' "$*"; }

# -- what the machine has ---------------------------------------------------------------------------------------------

not_installed=()
left_out=()

# The C compiler that CMake would take.
c_compiler() {
  local compiler
  for compiler in "${CC-}" cc gcc clang; do
    if [ -n "$compiler" ] && have "$compiler"; then
      say "$compiler"
      return 0
    fi
  done
  return 1
}

# has_header NAME: whether a C program may include it.
has_header() { printf '#include <%s>\n' "$1" | "$(c_compiler)" -E -x c - >/dev/null 2>&1; }

# has_library FILE: whether the system's loader finds it. ldconfig is in a folder that few users have in PATH. There is
# no pipe, because grep closes it early and pipefail would report that as a failure.
has_library() { grep -qF "$1 " <<<"$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null)"; }

# leave_out WHAT PACKAGE CONSEQUENCE: printed at once, and again at the end.
leave_out() {
  left_out+=("$1 (package $2): $3")
  say "Left out: $1 (package $2): $3"
}

# The two packages without which nothing can be built; CMake and Ninja may come from pip.
need_compiler() {
  has_header stdio.h || fail "there is no C compiler with the C library's headers, and none could be installed." \
    "As root: $(apt_command gcc libc6-dev)"
}

# Looks for optional packages and names the missing ones.
look_for_optional() {
  has_header hwloc.h || leave_out hwloc libhwloc-dev "the pool's width comes from the kernel's list of processors"
  with_program=ON
  has_header cjson/cJSON.h || {
    with_program=OFF
    leave_out "the program nd4c" libcjson-dev "it needs cJSON; the library and the examples are built"
  }
  has_library libopenblas.so.0 || leave_out OpenBLAS libopenblas0-openmp "nd4c's own kernels compute its ops"
  has_library liblapacke.so.3 || leave_out LAPACKE liblapacke "engine reference computes factorisations"
  has_library libfftw3.so.3 || leave_out FFTW libfftw3-double3 "nd4c's own Fourier transforms compute"
}

# Prints what was left out and how to install it; nothing if nothing was left out.
show_left_out() {
  local line
  [ ${#left_out[@]} -gt 0 ] || return 0
  say "Built without:"
  for line in "${left_out[@]}"; do
    say "    $line"
  done
  [ ${#not_installed[@]} -eq 0 ] ||
    say "To have all of it, as root: $(apt_command "${not_installed[@]}") and run this again."
}

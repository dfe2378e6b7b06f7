#!/usr/bin/env bash
# Installs into a temporary prefix and builds programs against it, with pkg-config and with find_package.
# Usage: check_install.sh BUILD_DIR SOURCE_DIR C_COMPILER CXX_COMPILER VERSION [LINK_FLAGS]
set -euo pipefail
build=$1 source=$2 cc=$3 cxx=$4 version=$5 flags=${6-}
here=$source/tests/tools/package
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

cmake --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }

# The installed tree also works after it is moved.
mv "$prefix" "$work/moved"
prefix=$work/moved
library=$(find "$prefix" -name 'libnd4c.so.0')
[ -n "$library" ] || { echo "libnd4c.so.0 was not installed"; exit 1; }
libdir=$(dirname "$library")
readelf -d "$library" | grep -q 'SONAME.*\[libnd4c\.so\.0\]' || { echo "SONAME is not libnd4c.so.0"; exit 1; }

export PKG_CONFIG_PATH=$libdir/pkgconfig
[ "$(pkg-config --modversion nd4c)" = "$version" ] || { echo "nd4c.pc states another version than $version"; exit 1; }
# shellcheck disable=SC2046,SC2086
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror $flags "$here/program.c" $(pkg-config --cflags --libs nd4c) \
  -Wl,-rpath,"$libdir" -o "$work/with_pkg_config"
"$work/with_pkg_config"

cmake -G Ninja -S "$here" -B "$work/user" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED_VERSION="${version%.*}" \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="$flags" \
  -DCMAKE_CXX_FLAGS="$flags -Wall -Wextra" \
  >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
cmake --build "$work/user" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/user/user_c"
"$work/user/user_cxx"
! cmake -G Ninja -S "$here" -B "$work/other" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED_VERSION=99 \
  >"$work/other.log" 2>&1 || { echo "find_package(nd4c 99) was satisfied by $version"; exit 1; }
grep -q 'requested version "99"' "$work/other.log" || { cat "$work/other.log"; exit 1; }
# nd4c shadows no library of the system: its oneDNN is in a private folder, with its licence.
docs=$(realpath "$(dirname "$(find "$prefix" -name LICENSE)")")
cmp "$docs/LICENSE" "$source/LICENSE"
foreign=$(find "$libdir" -maxdepth 1 -name '*.so*' ! -name 'libnd4c.so*')
[ -z "$foreign" ] || { echo "installed among the system's libraries: $foreign"; exit 1; }
if [ -e "$build/lib/nd4c/libdnnl.so.3" ]; then
  cmp "$libdir/nd4c/libdnnl.so.3" "$build/lib/nd4c/libdnnl.so.3"
  grep -q 'Apache License' "$docs/licenses/oneDNN.txt" || { echo "oneDNN is installed without its licence"; exit 1; }
  if [ -x "$prefix/bin/nd4c" ]; then
    env -u LD_LIBRARY_PATH ND4C_BACKEND_DISABLE=opencl "$prefix/bin/nd4c" info --probe >"$work/info"
    used=$(sed -nE 's/^ +engine onednn +oneDNN [0-9.]+, (.*libdnnl[^,]*).*$/\1/p' "$work/info")
    [ "$(realpath "$used")" = "$(realpath "$libdir/nd4c/libdnnl.so.3")" ] || {
      echo "oneDNN is not the installed one but '$used'"
      exit 1
    }
    env -u LD_LIBRARY_PATH "$prefix/bin/nd4c" info | grep -E 'engine onednn +found .*nd4c/libdnnl\.so\.3, not opened' || {
      echo "nd4c info does not find the installed oneDNN"
      exit 1
    }
  fi
else
  [ ! -e "$docs/licenses" ] || { echo "licences of libraries are installed that are not"; exit 1; }
fi
# Every page, and each file that one links to.
(cd "$source/docs" && find -L . -name '*.md') | while IFS= read -r page; do
  cmp "$docs/docs/$page" "$source/docs/$page" || exit 1
  links=$(grep -oE '\]\([A-Za-z0-9_./-]+[)#]' "$docs/docs/$page" | sed -E 's/^\]\(//; s/[)#]$//' || true)
  for link in $links; do
    [ -e "$docs/docs/$(dirname "$page")/$link" ] || { echo "$page links to $link, which is not installed"; exit 1; }
  done
done
# The page for authors of backends, and each source that it names.
page=$(find "$prefix" -name writing-a-backend.md)
[ -n "$page" ] || { echo "writing-a-backend.md was not installed"; exit 1; }
for file in $(grep -oE '(backends|tests)/[a-z/_]+\.c' "$page"); do
  [ -f "$docs/$file" ] || { echo "$file, which the page names, was not installed"; exit 1; }
done
if [ -x "$prefix/bin/nd4c" ]; then
  "$prefix/bin/nd4c" --version | grep -q "$version"
  pages=$(dirname "$(find "$prefix" -name nd4c.1)")
  for command in $("$prefix/bin/nd4c" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p'); do
    [ -s "$pages/nd4c-$command.1" ] || { echo "nd4c-$command.1 was not installed"; exit 1; }
  done
fi
echo "installed, moved, used with pkg-config and CMake"

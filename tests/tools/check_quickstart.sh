#!/usr/bin/env bash
# scripts/quickstart on machines of several kinds: with root, with sudo, with neither, without a compiler or cJSON. The
# scripts are copies in a folder of their own; the system's programs that they call are stand-ins that write down how they
# were called, so that nothing is installed, fetched or built here.
# Usage: check_quickstart.sh SOURCE_DIR
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
real=(bash env cat cut date df dirname awk grep head mkdir rm sed sleep sort tail tee tr touch wc cksum find cp mv chmod uname kill printf)

stand_in() { # NAME: its text comes from stdin
  { echo '#!/bin/bash'; cat; } >"$bin/$1"
  chmod +x "$bin/$1"
}

# machine NAME: sets up a new machine: Debian, a user without root and sudo, all tools and no packages.
machine() {
  name=$1 bin=$work/$1/bin tree=$work/$1/tree log=$work/$1/calls
  mkdir -p "$bin" "$tree"
  : >"$log"
  cp -r "$source/scripts" "$tree"
  local program
  for program in "${real[@]}"; do
    ln -sf "$(type -P "$program")" "$bin/$program"
  done
  stand_in id <<<'echo 1000'
  stand_in apt-get <<<"echo apt-get \"\$@\" >>'$log'"
  stand_in apt-cache <<<'printf "%s:\n  Candidate: 1.0\n" "$2"'
  stand_in dpkg-query <<<'exit 1'
  stand_in python3 <<<'exit 1'
  stand_in ninja <<<'exit 0'
  stand_in ldconfig <<<'exit 0'
  stand_in cc <<'END'
read -r include # "#include <name>"
case " stdio.h hwloc.h cjson/cJSON.h " in *" $(sed -E 's/.*<(.*)>/\1/' <<<"$include") "*) exit 0 ;; esac
exit 1
END
  stand_in cmake <<END
echo cmake "\$@" >>'$log'
case \$1 in
  --version) echo "cmake version 3.25.1" ;;
  --build)
    mkdir -p build/release/bin
    for program in nd4c digits; do
      printf '#!/bin/bash\necho "\$0 ran"\n' >build/release/bin/\$program
      chmod +x build/release/bin/\$program
    done ;;
esac
END
}

# quickstart EXIT_CODE
quickstart() {
  local code=0
  (cd "$tree" && exec env -i HOME="$work" PATH="$bin" "$tree/scripts/quickstart") >"$work/out" 2>&1 </dev/null || code=$?
  [ "$code" -eq "$1" ] || { echo "$name: exit code $code instead of $1:"; cat "$work/out"; exit 1; }
}
says() { grep -qE -- "$1" "$work/out" || { echo "$name: quickstart does not say '$1':"; cat "$work/out"; exit 1; }; }
lacks() { ! grep -qE -- "$1" "$work/out" || { echo "$name: quickstart says '$1':"; cat "$work/out"; exit 1; }; }
called() { grep -qE -- "$1" "$log" || { echo "$name: no call '$1' among:"; cat "$log"; exit 1; }; }
not_called() { ! grep -qE -- "$1" "$log" || { echo "$name: called '$1':"; cat "$log"; exit 1; }; }

machine no_sudo # names missing packages, what their lack means and how to install them; builds the rest
quickstart 0
lacks 'command not found'
not_called apt-get
called '^cmake --preset release .*-DND4C_TOOLS=ON'
says '/nd4c ran$'
says '/digits ran$'
says '^    OpenBLAS \(package libopenblas0-openmp\): '
says '^    LAPACKE \(package liblapacke\): '
says '^    FFTW \(package libfftw3-double3\): '
says '^    oneDNN 3 \(package libdnnl3\): '
lacks '^    hwloc'
says 'as root: apt-get install --no-install-recommends .*liblapacke .*run this again'
says '^Done in '

machine complete # libraries that dpkg does not know, as in a user's prefix, cause no complaint
stand_in ldconfig <<'END' # more lines than a pipe holds
for file in libopenblas.so.0 liblapacke.so.3 libfftw3.so.3 libdnnl.so.3 $(printf 'libother.so.%d ' {1..9999}); do
  echo "  $file (libc6) => /x"
done
END
quickstart 0
lacks 'Built without'
lacks '^Left out'

machine no_cjson # the program is left out, the rest is built
stand_in cc <<<'read -r include; case $include in *stdio.h*) exit 0 ;; esac; exit 1'
quickstart 0
called '^cmake --preset release .*-DND4C_TOOLS=OFF'
says '^    the program nd4c \(package libcjson-dev\): '
says '^    hwloc \(package libhwloc-dev\): '
lacks '/nd4c ran$'
says '/digits ran$'

machine no_compiler # nothing can be built: the reason, and what to ask the administrator for
rm "$bin/cc"
quickstart 1
says '^error: there is no C compiler .* As root: apt-get install --no-install-recommends gcc libc6-dev$'
not_called 'cmake --preset'

machine no_ninja # pip's, if Python could make an environment; here it cannot
rm "$bin/ninja"
quickstart 1
says '^error: Ninja is needed, .* As root: apt-get install --no-install-recommends ninja-build$'

machine pip_ninja # and here it can: a stand-in of pip installs it
rm "$bin/ninja"
stand_in python3 <<'END'
[ "$1 $2" != "-m venv" ] && exit 0
mkdir -p "$3/bin"
printf '#!/bin/bash\ncase "$*" in *scripts/ninja.txt*) touch "${0%%/*}/ninja"; chmod +x "${0%%/*}/ninja" ;; *) exit 1 ;; esac\n' >"$3/bin/pip"
chmod +x "$3/bin/pip"
END
quickstart 0
[ -x "$tree/.cache/venv/bin/ninja" ] || { echo "$name: ninja was not fetched"; exit 1; }
says '^    oneDNN 3 ' # pip fails for it
called '^cmake --build'

machine sudo_refuses # sudo is tried once, and then not used
stand_in sudo <<<"echo sudo \"\$@\" >>'$log'; exit 1"
quickstart 0
[ "$(grep -c '^sudo' "$log")" -eq 1 ] || { echo "$name: sudo was asked again:"; cat "$log"; exit 1; }
says '^    OpenBLAS '
says '/digits ran$'

for user in root sudo; do # everything that is missing is installed
  machine "$user"
  if [ "$user" = root ]; then
    stand_in id <<<'echo 0'
  else
    stand_in sudo <<<'exec "$@"'
  fi
  quickstart 0
  called '^apt-get .*update$'
  called '^apt-get .*install .*libcjson-dev'
  called '^apt-get .*install .*libfftw3-double3'
done

machine no_apt # another system: quickstart uses the installed packages
rm "$bin/apt-get" "$bin/apt-cache" "$bin/dpkg-query"
quickstart 0
lacks 'command not found'
says '^    OpenBLAS '
lacks 'apt-get install'
echo "quickstart ran on $(find "$work" -name calls | wc -l) machines"

#!/usr/bin/env bash
# The shared library exports nd4c_* and nothing else, and exactly what the public headers declare.
# Usage: check_exports.sh LIBRARY INCLUDE_DIR C_COMPILER
set -euo pipefail
library=$1 include=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Run-time libraries are looked for in the folder nd4c beside the library and beside the library itself: an empty element
# would be the current directory.
runpath=$(readelf -d "$library" | sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]/\2/p')
wanted="\$ORIGIN/nd4c:\$ORIGIN"
[ "$runpath" = "$wanted" ] || { echo "the library's RPATH is '$runpath', not $wanted"; exit 1; }

# A program that opens the library late (Python, Java) has little static thread-local storage left for it: 1664 bytes at
# most with the GNU C library, shared with every other library opened like that.
own=$((16#$(readelf -lW "$library" | awk '$1 == "TLS" { print substr($6, 3) }')))
[ "$own" -le 640 ] || { echo "$own bytes of thread-local storage, expected at most 640"; exit 1; }

# The wheel runs from glibc 2.34 on, if the build system's glibc has no newer versions of the functions that it uses.
case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
  'glibc 2.3'[4-7])
    late=$(nm -D --undefined-only "$library" | grep -E '@GLIBC_2\.(3[5-9]|[4-9][0-9])' || true)
    [ -z "$late" ] || { echo "symbols that glibc 2.34 does not have: $late"; exit 1; }
    ;;
esac

nm -D --defined-only "$library" | awk '$3 != "" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
foreign=$(grep -v '^nd4c_' "$work/exported" || true)
[ -z "$foreign" ] || { echo "exported without the prefix: $foreign"; exit 1; }

printf '#include <nd4c/nd4c.h>\n#include <nd4c/dlpack.h>\n#include <nd4c/plugin.h>\n' |
  "$cc" -std=c17 -I"$include" -E -P - | tr '\n' ' ' | sed 's/__attribute__((visibility("default")))/\nEXPORT /g' |
  sed -nE 's/^EXPORT [^(]*[ *](nd4c_[a-z0-9_]+) *\(.*/\1/p' | sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 200 ] || { echo "only $(wc -l <"$work/declared") declarations were read"; exit 1; }
missing=$(comm -23 "$work/declared" "$work/exported")
[ -z "$missing" ] || { echo "declared but not exported: $missing"; exit 1; }
secret=$(comm -13 "$work/declared" <(grep '^nd4c_' "$work/exported"))
[ -z "$secret" ] || { echo "exported but not declared in a public header: $secret"; exit 1; }
echo "$(wc -l <"$work/exported") symbols, all declared"

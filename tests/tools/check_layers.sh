#!/usr/bin/env bash
# Reads every #include "..." line and fails on an arrow that points up. The order of the layers is the order below.
# Usage: check_layers.sh SOURCE_DIR
set -euo pipefail
tree=$(cd "$1" && pwd)
layers="base array device ops dispatch graph io"

rank() { # rank LAYER: its place, or nothing
  local place=0 layer
  for layer in $layers; do
    place=$((place + 1))
    if [ "$layer" = "$1" ]; then
      echo "$place"
      return
    fi
  done
}

# allowed FILE HEADER: whether FILE may include "HEADER"; prints the rule if not.
allowed() {
  local file=$1 header=$2 own target
  case $file in
    src/*)
      own=$(echo "$file" | cut -d/ -f2)
      target=${header%%/*}
      case $header in
        nd4c/* | builtin_backends.h) return 0 ;;
        */*) ;;
        *) [ -e "$(dirname "$file")/$header" ] && return 0 ;;
      esac
      if [ -z "$(rank "$own")" ]; then
        echo "src/$own is not a layer"
      elif [ -z "$(rank "$target")" ]; then
        echo "src may include layers of src and nd4c/"
      elif [ "$(rank "$target")" -gt "$(rank "$own")" ]; then
        echo "src/$own stands below src/$target"
      else
        return 0
      fi
      ;;
    backends/*)
      own=$(echo "$file" | cut -d/ -f1-2)
      case $header in
        nd4c/plugin.h | nd4c/device.h | nd4c/dtype.h | nd4c/op.h | nd4c/op_table.h) return 0 ;;
        nd4c/status.h | nd4c/export.h | nd4c/version.h | kernels/*) return 0 ;;
        "$own"/*) return 0 ;;
      esac
      [ -e "$own/$header" ] || [ -e "$(dirname "$file")/$header" ] && return 0
      echo "a backend may include nd4c/plugin.h (and what that includes), kernels/ and its own files"
      ;;
    kernels/*)
      case $header in
        kernels/* | nd4c/dtype.h) return 0 ;;
      esac
      [ -e "$(dirname "$file")/$header" ] && return 0
      echo "a kernel may include kernels/ and nd4c/dtype.h"
      ;;
    include/nd4c/*)
      case $header in
        nd4c/*) return 0 ;;
      esac
      echo "a public header may include public headers"
      ;;
    *)
      case $header in
        nd4c/*) return 0 ;;
      esac
      [ -e "$(dirname "$file")/$header" ] && return 0
      echo "tools, examples and benchmarks use the public headers and their own files"
      ;;
  esac
  return 1
}

# check TREE: prints each violation; fails if there is one. Leaves the number of lines read in `count`.
check() {
  local failures=0 file line text header rule
  count=0
  while IFS=: read -r file line text; do
    header=$(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]+)[">].*/\1/p' <<<"$text")
    # System headers (in angle brackets, none of ours) are nobody's layer.
    case $text in
      *\<*)
        case $header in
          nd4c/* | kernels/* | base/* | array/* | device/* | ops/* | dispatch/* | graph/* | io/*) ;;
          *) continue ;;
        esac
        ;;
    esac
    [ -n "$header" ] || continue
    count=$((count + 1))
    if ! rule=$(allowed "$file" "$header"); then
      echo "$file:$line includes \"$header\": $rule"
      failures=$((failures + 1))
    fi
  done < <(cd "$1" && grep -rnE --include='*.c' --include='*.h' --include='*.inc' '^[[:space:]]*#[[:space:]]*include' \
    include src backends kernels tools examples bench)
  [ "$failures" -eq 0 ]
}

# The checker must notice what it is for: each of these lines is a violation.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
cd "$planted"
mkdir -p include src backends/x kernels/cpu tools examples bench src/base src/graph src/ops
plant() {
  printf '#include %s\n' "$2" >"$1"
  if check . >/dev/null; then
    echo "the check overlooked $2 in $1"
    exit 1
  fi
  rm "$1"
}
plant src/base/low.c '"graph/plan.h"'
plant src/graph/low.c '<io/onnx.h>'
plant src/ops/low.c '"backends/cpu/cpu.h"'
plant backends/x/backend.c '"base/status.h"'
plant backends/x/backend.c '"nd4c/graph.h"'
plant kernels/cpu/add.c '"nd4c/plugin.h"'
plant tools/info.c '"base/cpu.h"'

cd "$tree"
if ! check .; then
  exit 1
fi
[ "$count" -gt 50 ] || { echo "only $count include lines were read"; exit 1; }
echo "$count includes, none upward"

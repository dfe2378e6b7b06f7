#!/usr/bin/env bash
# Reads every #include line and fails on an arrow that points up.
# Usage: check_includes.sh SOURCE_DIR
set -euo pipefail
tree=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/rules.awk" <<'RULES'
# Input: first the list of files, then lines "file:number:#include ...". The layers of src, from the lowest up:
BEGIN { split("base array device ops submit dispatch graph io import", order, " "); for (i in order) place[order[i]] = i }

function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
function own(file, header) { return (folder(file) "/" header) in files }

# The rule that FILE breaks by including HEADER, or "".
function broken(file, header,    layer, target, home, part) {
  split(file, part, "/")
  if (part[1] == "src") {
    layer = part[2]
    target = header
    sub(/\/.*/, "", target)
    if (header ~ /^nd4c\// || header ~ /^(builtin_providers|onnx_families|passes_list)\.h$/ || header == "kernels/types.h") return ""
    if (header !~ /\//) return own(file, header) ? "" : "src names headers by their layer"
    if (!(layer in place)) return "src/" layer " is not a layer"
    if (!(target in place)) return "src may include layers of src and nd4c/"
    return place[target] > place[layer] ? "src/" layer " stands below src/" target : ""
  }
  if (part[1] == "backends") {
    home = part[1] "/" part[2]
    if (header ~ /^nd4c\/(plugin|plugin\/[a-z]+|device|dtype|op|op_table|status|export|version)\.h$/) return ""
    if (header ~ /^(kernels\/|backends\/[a-z_]+\.h$)/ || index(header, home "/") == 1) return ""
    if (own(file, header) || (home "/" header) in files || header ~ /^(families|kernel_(tables|levels))\.h$/) return "" # the build makes those
    return "a backend may include nd4c/plugin.h (and what that includes), kernels/, headers of backends/ itself and its own files"
  }
  if (part[1] == "kernels") {
    if (header ~ /^kernels\// || header == "nd4c/dtype.h" || own(file, header)) return ""
    return "a kernel may include kernels/ and nd4c/dtype.h"
  }
  if (header ~ /^nd4c\//) return ""
  if (part[1] == "include") return "a public header may include public headers"
  if (part[1] == "tools" && (("tools/cli/" header) in files || header == "bench/limits.h")) return ""
  if (part[1] == "bench" && header ~ /^bench\// && header in files) return ""
  return own(file, header) ? "" : "tools, examples and benchmarks use the public headers and their own files"
}

FNR == NR { files[$0]; next }
{
  match($0, /:[0-9]+:/)
  file = substr($0, 1, RSTART - 1)
  line = substr($0, RSTART + 1, RLENGTH - 2)
  text = substr($0, RSTART + RLENGTH)
  if (!match(text, /["<][^">]+[">]/)) next
  header = substr(text, RSTART + 1, RLENGTH - 2)
  # Headers in angle brackets that are not the project's belong to no layer: check_system.sh reads them.
  if (text ~ /</ && header !~ /^(nd4c|kernels|base|array|device|ops|dispatch|graph|io|import)\//) next
  count++
  if ((rule = broken(file, header)) != "") {
    print file ":" line " includes \"" header "\": " rule
    failures++
  }
}
END {
  print count + 0 " includes, " failures + 0 " upward"
  if (count < least) print "fewer than " least ": the check reads the wrong files"
  exit failures > 0 || count < least
}
RULES

# check TREE LEAST: LEAST includes at least must be there to be read.
check() {
  (
    cd "$1"
    find include src backends kernels tools examples bench -type f >"$work/files"
    grep -rnE --include='*.c' --include='*.h' --include='*.inc' '^[[:space:]]*#[[:space:]]*include' \
      include src backends kernels tools examples bench >"$work/includes" || true
    awk -v least="$2" -f "$work/rules.awk" "$work/files" "$work/includes"
  )
}

# The checker must find each of these lines, which are violations.
plant() {
  local planted=$work/planted
  mkdir -p "$planted"/{include,src,backends,kernels,tools,examples,bench} "$planted/$(dirname "$1")"
  printf '#include %s\n' "$2" >"$planted/$1"
  if check "$planted" 1 >/dev/null; then
    echo "the check overlooked $2 in $1"
    exit 1
  fi
  rm -r "$planted"
}
plant src/base/low.c '"graph/plan.h"'
plant src/graph/low.c '<io/onnx.h>'
plant src/ops/low.c '"backends/cpu/cpu.h"'
plant src/array/low.c '"kernels/reference/support/value.h"'
plant backends/x/backend.c '"base/status.h"'
plant backends/x/backend.c '"backends/cpu/cpu.h"'
plant backends/x/backend.c '"nd4c/graph.h"'
plant kernels/cpu/add.c '"nd4c/plugin.h"'
plant tools/info.c '"base/threads/cpu.h"'
plant tools/info.c '"bench/measure.h"'

check "$tree" 500

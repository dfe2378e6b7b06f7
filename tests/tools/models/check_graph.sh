#!/usr/bin/env bash
# `nd4c graph`: the list of passes, graphs in each format, explanations, errors.
# shellcheck source-path=SCRIPTDIR/..
. "$(dirname "$0")/../cli_lib.sh"
model=$digits/digits.onnx
shape=(--shape image=2,1,8,8)

# The list: each pass once, below its phase; the same as JSON.
expect 0 "$nd4c" graph passes
silent err
says out '^simplify$'
says out '^  identity +removes nodes that give their input back$'
says out '^  layout +gives values .* \(plans of one device, without dims\)$'
listed=$(grep -c '^  ' "$work/out")
expect 0 "$nd4c" graph passes --json
same "$(value 0.name)" dead "the first pass"
same "$(value 0.phase)" simplify "its phase"
same "$(value 0.where)" any "its place"
value "$((listed - 1)).meaning" >/dev/null
! value "$listed.name" >/dev/null 2>&1

# A graph as text, before and after the passes.
expect 0 "$nd4c" graph show "$model" "${shape[@]}"
silent err
says out '^input image: float32\(2, 1, 8, 8\)$'
says out "^%[0-9]+ float32\(2, 8, 8, 8\) = conv 'Conv' \(image, constant float32\(8, 1, 3, 3\), constant float32\(8,\)\) \{pads 1 1 1 1\}  18.4 koperations, "
says out '^output logits: %[0-9]+$'
says out '^9 nodes, estimated: '
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized
says out "= conv 'Relu' .*activation relu\} \[conv \+ relu\]"
says out '^6 nodes, estimated: '
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized --passes -fuse_activation
says out '^9 nodes, estimated: '
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized -D nd4c.plan.passes=dead
says out '^9 nodes, estimated: '
expect 0 "$nd4c" graph show "$model"
says err "input 'image' is \(batch, 1, 8, 8\).*1 is taken"

# For Graphviz: a box for each input, node and output, and the arrows between them.
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --format dot -o "$work/digits.dot"
silent out
same "$(grep -c 'shape=box' "$work/digits.dot")" 9 "nodes"
same "$(grep -c 'shape=ellipse' "$work/digits.dot")" 2 "ports"
same "$(grep -c -- '->' "$work/digits.dot")" 10 "arrows"
if command -v dot >/dev/null; then
  dot -Tsvg "$work/digits.dot" >/dev/null
fi

# A picture: well-formed, with a group for each box and an arrow's head for each arrow; no two boxes overlap.
cat >"$work/look.py" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
space = "{http://www.w3.org/2000/svg}"
boxes = [[float(group.find(space + "rect").get(key)) for key in ("x", "y", "width", "height")]
         for group in root.iter(space + "g")]
for i, (x, y, width, height) in enumerate(boxes):
    assert x >= 0 and y >= 0 and x + width <= float(root.get("width")) and y + height <= float(root.get("height")), "outside"
    for left, top, wide, high in boxes[:i]:
        assert left + wide <= x or x + width <= left or top + high <= y or y + height <= top, "two boxes overlap"
print(len(boxes), sum("marker-end" in path.attrib for path in root.iter(space + "path")))
PYTHON
picture() { [ ! -x "${python:-}" ] || same "$("$python" "$work/look.py" "$1")" "$2" "boxes and arrows"; }
python=${4:-}
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --format svg -o "$work/digits.svg"
picture "$work/digits.svg" "11 10"
expect 0 "$nd4c" graph show "$source/tests/data/onnx/elementwise_13.onnx" --format svg -o "$work/many.svg"
grep -q '<title>%[0-9]* .* = ' "$work/many.svg"
nodes=$(grep -c 'class="node"' "$work/many.svg")
[ "$nodes" -gt 40 ]
picture "$work/many.svg" "$(grep -c '<g class=' "$work/many.svg") $(grep -c 'marker-end' "$work/many.svg")"

expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized --format svg
same "$(grep -c 'class="merged"' "$work/out")" 3 "nodes made from several"
same "$(grep -c 'class="node"' "$work/out")" 3 "other nodes"

# What the passes change; at most twelve nodes of each run, or all.
expect 0 "$nd4c" graph explain "$model" "${shape[@]}"
says out '^9 nodes recorded$'
says out '^  fuse_activation: 9 -> 6 nodes, 3 changes  \('
says out "^    - conv 'Conv'$"
says out "^    ~ relu 'Relu': becomes conv \(conv \+ relu\)$"
says out '^estimate: .* before the passes; .* after them$'
expect 0 "$nd4c" graph explain "$model" "${shape[@]}" --passes gelu
lacks out '^fuse$'
says out '^passes switched off: dead, inline_calls, loop_invariants, identity'
expect 0 "$nd4c" graph explain "$source/tests/data/onnx/elementwise_13.onnx" --all -o "$work/all"
! grep -q 'and [0-9]* more' "$work/all"

# What is refused.
expect 2 "$nd4c" graph
says err "passes, show or explain was expected first, not ''"
expect 2 "$nd4c" graph dance
says err "not 'dance'"
expect 2 "$nd4c" graph passes "$model"
says err 'no model was expected'
expect 2 "$nd4c" graph show
says err 'one model was expected'
expect 2 "$nd4c" graph show "$model" --format png
says err 'text, dot or svg was expected'
expect 2 "$nd4c" graph explain "$model" --format svg
says err 'nd4c graph: explain has no option --format'
expect 2 "$nd4c" graph show "$model" --all
says err 'nd4c graph: show has no option --all'
expect 2 "$nd4c" graph passes -o "$work/passes"
says err 'nd4c graph: passes has no option --output'
expect 2 "$nd4c" graph show "$model" --shape image=a
expect 1 "$nd4c" graph show "$model" --shape image=2,3
says err "nd4c_model_graph: the shape given for input 'image' is not one that the model declares"
expect 1 "$nd4c" graph explain "$model" "${shape[@]}" --passes gelo
says err "options.passes: there is no pass 'gelo': the nearest is 'gelu'"
expect 1 "$nd4c" graph show /nowhere.onnx
expect 1 "$nd4c" graph show "$model" "${shape[@]}" -o /nowhere/at/all
says err '/nowhere/at/all: '
expect 1 sh -c "'$nd4c' graph show '$model' >/dev/full"
says err 'stdout: '
expect 1 "$nd4c" graph show "$model" "${shape[@]}" -o /dev/full
says err '/dev/full: not all could be written'

echo "$cases cases"

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
says out '^metadata onnx.producer_name: nd4c examples/digits$'
says out '^input image: float32\(2, 1, 8, 8\)$'
says out "^%[0-9]+ float32\(2, 8, 8, 8\) = conv 'Conv' \(image, constant float32\(8, 1, 3, 3\), constant float32\(8,\)\) \{pads 1 1 1 1\}  18.4 koperations, "
says out '^output logits: %[0-9]+$'
says out '^9 nodes, estimated: '
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized
says out "= conv 'Conv \+ Relu' .*activation relu\} \[conv \+ relu\]"
says out '^6 nodes, estimated: '
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized --passes -fuse_activation
says out '^9 nodes, estimated: '
expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized -D nd4c.plan.passes=dead
says out '^9 nodes, estimated: '
# What the model leaves free stays a name, or gets a number.
expect 0 "$nd4c" graph show "$model"
silent err
says out '^input image: float32\(batch, 1, 8, 8\)$'
says out "^%[0-9]+ float32\(batch, 8, 8, 8\) = conv 'Conv' "
says out '^9 nodes, estimated with each dim as 64, or its bound nearest to 64: '
expect 0 "$nd4c" graph show "$model" --dim batch=3
says out '^input image: float32\(3, 1, 8, 8\)$'
expect 2 "$nd4c" graph show "$model" --dim batch=x
says err '\-\-dim batch=x: a number from 0 on was expected'
expect 1 "$nd4c" graph show "$model" --dim breadth=3
says err "'breadth'"
expect 2 "$nd4c" graph show "$model" --dim batch=3 "${shape[@]}"
says err '\-\-dim and --shape exclude each other'
for action in show explain; do
  expect 2 "$nd4c" graph "$action" "$model" --shape nope=1
  says err "nd4c graph: --shape nope=1: the model has no such input, only 'image'"
  expect 2 "$nd4c" graph "$action" "$model" "${shape[@]}" --shape image=3,1,8,8
  says err '\-\-shape image is given twice'
done

# A part of a graph: around a node, or of one op.
expect 0 "$nd4c" graph show "$model" --around Relu --depth 1
says out "^%[0-9]+ .* = conv 'Conv' "
says out "^%[0-9]+ .* = relu 'Relu' "
says out '^9 nodes \(6 of them not shown\)'
expect 0 "$nd4c" graph show "$model" --around Relu --depth 0 --format dot
same "$(grep -c 'shape=box' "$work/out")" 1 "one node"
expect 0 "$nd4c" graph show "$model" --op conv
same "$(grep -c ' = ' "$work/out")" "$(grep -c ' = conv ' "$work/out")" "nodes of one op"
expect 1 "$nd4c" graph show "$model" --around Nowhere
says err '\-\-around Nowhere: no node has this label or gives this value'
expect 2 "$nd4c" graph show "$model" --around ''
says err '\-\-around: a label, a part of one, or %5 was expected'
silent out
expect 1 "$nd4c" graph show "$model" --op softmin
expect 1 "$nd4c" graph show "$model" --op loop
says err '\-\-op loop: no node is shown'
expect 2 "$nd4c" graph show "$model" --depth -1
# Far away is everything that is connected.
expect 0 "$nd4c" graph show "$model" --around Relu --depth 1000
says out '^9 nodes, estimated'

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
         for group in root.iter(space + "g") if group.get("class") in ("node", "merged", "port", "control")]
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
picture "$work/many.svg" "$(grep -c '<g class="[npm]' "$work/many.svg") $(grep -c 'marker-end' "$work/many.svg")"

expect 0 "$nd4c" graph show "$model" "${shape[@]}" --optimized --format svg
same "$(grep -c 'class="merged"' "$work/out")" 3 "nodes made from several"
same "$(grep -c 'class="node"' "$work/out")" 3 "other nodes"

# Models as bytes, for a Python without onnx.
cat >"$work/wire.py" <<'PYTHON'
def number(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(tag, value):
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(value)) + value


def value(name, dtype, extents):
    dims = b"".join(field(1, field(2 if isinstance(e, str) else 1, e)) for e in extents)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, dims)))


def node(op, inputs, outputs, **graphs):
    text = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, "my_" + op) + field(4, op)
    return text + b"".join(field(5, field(1, key) + field(6, body) + field(20, 5)) for key, body in graphs.items())


def graph(nodes, inputs, outputs, constants=()):
    return (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, c) for c in constants)
            + b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs))


def model(path, main, *more):
    open(path, "wb").write(field(1, 8) + field(7, main) + field(8, field(1, "") + field(2, 16)) + b"".join(more))


FLOAT, INT64, BOOL = 1, 7, 9
PYTHON

# Bodies: a loop of n rounds over a body of two nodes, and an if whose branches read a value of the graph.
cat >"$work/bodies.py" <<'PYTHON'
import struct
import sys

from wire import *

shape = ["batch", 4]
body = graph([node("Add", ["c", "x"], ["d"]), node("Tanh", ["d"], ["e"]), node("Identity", ["go"], ["on"])],
             [value("i", INT64, []), value("go", BOOL, []), value("c", FLOAT, shape)],
             [value("on", BOOL, []), value("e", FLOAT, shape)])
branches = [graph([node(op, ["x"], ["r"])], [], [value("r", FLOAT, shape)]) for op in ("Neg", "Exp")]
trips = field(2, INT64) + field(8, "n") + field(9, struct.pack("<q", 7000))
main = graph([node("Loop", ["n", "", "x"], ["y"], body=body),
              node("If", ["p"], ["z"], then_branch=branches[0], else_branch=branches[1])],
             [value("x", FLOAT, shape), value("p", BOOL, [])], [value("y", FLOAT, shape), value("z", FLOAT, shape)], [trips])
model(sys.argv[1], main)
PYTHON
# An attribute with an extent: zeros of the shape of x.
cat >"$work/extents.py" <<'PYTHON'
import sys

from wire import *

shape = ["batch", 4]
main = graph([node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["s"], ["o"]), node("Add", ["x", "o"], ["y"])],
             [value("x", FLOAT, shape)], [value("y", FLOAT, shape)])
model(sys.argv[1], main)
PYTHON
if [ -x "${python:-}" ]; then
  "$python" "$work/extents.py" "$work/extents.onnx"
  expect 0 "$nd4c" graph show "$work/extents.onnx"
  says out '\{shape batch 4\}'
  "$python" "$work/bodies.py" "$work/bodies.onnx"
  expect 0 "$nd4c" graph show "$work/bodies.onnx" --shape x=3,4
  says out "= loop 'my_Loop' .*\{loop, 7000 rounds\}"
  says out '^  body:$'
  says out '^    %[0-9]+ float32\(3, 4\) = tanh '
  says out '^  then:$'
  says out '^    %[0-9]+ float32\(3, 4\) = negative '
  says out '^  else:$'
  expect 0 "$nd4c" graph show "$work/bodies.onnx" --shape x=3,4 --format dot
  same "$(grep -c 'subgraph cluster_' "$work/out")" 5 "two nodes with three bodies"
  same "$(grep -c '{' "$work/out")" "$(grep -c '}' "$work/out")" "clusters that end"
  expect 0 "$nd4c" graph show "$work/bodies.onnx" --shape x=3,4 --format svg -o "$work/bodies.svg"
  same "$(grep -o 'class="control"' "$work/bodies.svg" | wc -l)" 2 "nodes with bodies"
  same "$(grep -o 'class="body"' "$work/bodies.svg" | wc -l)" 3 "bodies"
  # A profile has the steps of bodies, with their rounds.
  expect 0 "$nd4c" run "$work/bodies.onnx" --random-inputs --shape x=3,4 --profile
  says out '^bodies: their steps in all rounds of a run'
  says out '^ +[0-9.]+ +[0-9.]+ % .* 7000  0\.0, .*(tanh|segment)'
  expect 0 "$nd4c" run "$work/bodies.onnx" --random-inputs --shape x=3,4 --profile --repeat 3 --json
  same "$(value profile.bodies.0.rounds)" 7000 "rounds"
  "$python" -c "import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])" "$work/bodies.svg"
fi

# Names are any text: characters that could command a terminal are shown as '?', in every format.
cat >"$work/names.py" <<'PYTHON'
import sys

from wire import *

odd = b"a\x1b[2J\r\xc2\x9b"
kind = field(2, field(1, field(1, FLOAT) + field(2, field(1, field(2, odd + b"n")))))
tanh = field(1, odd + b"x") + field(2, odd + b"y") + field(3, odd + b"node") + field(4, "Tanh")
main = graph([tanh], [field(1, odd + b"x") + kind], [field(1, odd + b"y") + kind])
model(sys.argv[1], main, field(14, field(1, odd + b"key") + field(2, odd + b"value")))
PYTHON
plain() { same "$(LC_ALL=C tr -d '\12\40-\176' <"$1" | wc -c)" 0 "bytes that are not plain in $1"; }
if [ -x "${python:-}" ]; then
  "$python" "$work/names.py" "$work/names.onnx"
  for form in text dot svg; do
    expect 0 "$nd4c" graph show "$work/names.onnx" --format $form
    says out 'a\?\[2J'
    plain "$work/out"
  done
  expect 0 "$nd4c" graph explain "$work/names.onnx" --shape $'a\x1b[2J\r\xc2\x9bx=1' --kernels
  plain "$work/out"
fi

# What the passes change; at most twelve nodes of each run, or all.
expect 0 "$nd4c" graph explain "$model" "${shape[@]}"
says out '^9 nodes recorded$'
says out '^fuse, round 1$'
says out '^  fuse_activation: 9 -> 6 nodes, 3 changes  \('
says out '^    estimate [0-9.]+ koperations, [0-9.]+ kB moved -> [0-9.]+ koperations, [0-9.]+ kB moved$'
says out "^    - conv 'Conv'$"
says out "^    ~ relu 'Relu': becomes conv \(conv \+ relu\)$"
says out '^estimate: .* before the passes; .* after them$'
expect 0 "$nd4c" graph explain "$model" "${shape[@]}" --passes gelu
lacks out '^fuse$'
says out '^passes switched off: dead, inline_calls, loop_invariants, widen, identity'
# Why each kernel was chosen, and the graph before and after the passes, side by side.
expect 0 "$nd4c" graph explain "$model" "${shape[@]}" --kernels
says out '^why each kernel:$'
says out "^  node 'Relu' \(conv\)"
says out '^      .*taken|^      .*wins|^      .* takes it'
expect 2 "$nd4c" graph explain "$model" --kernels
says err '\-\-kernels: kernels are chosen for numbers: give --dim batch='
# Nothing is written before all has gone well.
echo before >"$work/kept"
expect 2 "$nd4c" graph explain "$model" --kernels -o "$work/kept"
expect 1 "$nd4c" graph show "$model" --op loop -o "$work/kept"
same "$(cat "$work/kept")" before "a file whose text failed"
expect 0 "$nd4c" graph explain "$model" --format svg -o "$work/pair.svg"
same "$(grep -c 'class="merged"' "$work/pair.svg")" 3 "nodes made from several"
says_in() { grep -qE "$2" "$1" || { echo "$2 is not in $1"; exit 1; }; }
says_in "$work/pair.svg" 'before the passes: 9 nodes, estimated '
says_in "$work/pair.svg" 'after the passes: 6 nodes, estimated '
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
expect 2 "$nd4c" graph explain "$model" --format dot
says err 'text or svg was expected'
expect 2 "$nd4c" graph explain "$model" --around Relu
says err 'nd4c graph: explain has no option --around'
expect 2 "$nd4c" graph show "$model" --all
says err 'nd4c graph: show has no option --all'
expect 2 "$nd4c" graph passes -o "$work/passes"
says err 'nd4c graph: passes has no option --output'
expect 2 "$nd4c" graph explain "$model" --format svg --kernels
says err '\-\-kernels: a picture \(--format svg\) does not tell that'
expect 2 "$nd4c" graph explain "$model" --all --format svg
expect 2 "$nd4c" graph show "$model" --depth 2
says err '\-\-around NODE was expected'
expect 2 "$nd4c" graph show "$model" --passes gelu
says err '\-\-optimized was expected'
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

# A model that is no graph, since data decides how many rows are chosen: two products, and NonZero between them.
base64 -d >"$work/parts.onnx" <<'END'
CAg6lAIKIhIBcyIIQ29uc3RhbnQqEwoKdmFsdWVfaW50c0BgQGCgAQcKFwoBcxIBdyIPQ29uc3RhbnRPZlNoYXBlChgKAXgKAXcSAWEaBWZpcnN0IgZN
YXRNdWwKFgoBbRIBehoFZm91bmQiB05vblplcm8KIRICdjAiCENvbnN0YW50KhEKCnZhbHVlX2ludHNAAKABBwoTCgF6CgJ2MBIBaSIHU3F1ZWV6ZQoR
CgFhCgFpEgFyIgZHYXRoZXIKGQoBcgoBdxIBeRoGc2Vjb25kIgZNYXRNdWwSAWdaEwoBeBIOCgwIARIICgIIYAoCCGBaDwoBbRIKCggIARIECgIIYGIU
CgF5Eg8KDQgBEgkKAxIBbgoCCGBCBAoAEA0=
END
expect 0 "$nd4c" graph show "$work/parts.onnx"
says out '^interpreted in part: 1 of 8 nodes, beside 2 planned parts$'
says out "^interpreted: node 'found' \(NonZero\): "
says out '^part 1 of 2$'
says out '^input z: int64\(1, z.1\)$'
says out "matmul 'second' .*float32\(z.1, 96\)|float32\(z.1, 96\) = matmul 'second'"
expect 0 "$nd4c" graph explain "$work/parts.onnx" --part 2
says out '^part 2 of 2$'
lacks out "'first'"
expect 0 "$nd4c" graph show "$work/parts.onnx" --part 1 --format svg
expect 2 "$nd4c" graph show "$work/parts.onnx" --format svg
says err 'the model has 2 parts, --part NUMBER was expected'
expect 2 "$nd4c" graph show "$work/parts.onnx" --part 3
says err '\-\-part 3: the model has 2'
expect 2 "$nd4c" graph show "$model" --part 2
says err '\-\-part 2: the model is one graph'
expect 2 "$nd4c" graph show "$model" --part 0
expect 0 "$nd4c" run "$work/parts.onnx" --random-inputs --profile
says out 'first'
says out 'second'

echo "$cases cases"

#!/usr/bin/env python3
"""Plants one error at a time in the passes of the graph and checks that random graphs catch it.

    tests/planted/plant_passes.py [--graphs N] [--rows FIRST:LAST] [--table FILE]

Works in a copy of the checkout (build/planted/tree), as plant.py does, but with the preset ci. Each row of ERRORS is a line of a
pass and what becomes of it: a condition that is left out, a wrong operand, a wrong number. An error that only lets a pass do less
is none, because the results stay right. For each row the script rebuilds nd4c_random_graphs and runs it with a fixed seed. The
graph that fails must pass after the error is removed. The exit code is 1 if an error was not caught, or if a line is not there any
more: then the row must follow the pass.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parents[2]
tree = root / "build/planted/tree"
build = tree / "build/ci"
TARGET = "nd4c_random_graphs"

# (pass, or a file of src/graph, what the line says, what it becomes)
ERRORS = [
    ("identity", "if (axis != i && input->rank > 1) {", "if (axis != i && input->rank > 2) {"),
    ("identity", "if (steps->as.ints[i] != 1) {", "if (steps->as.ints[i] == 0) {"),
    ("identity", "case ND4C_OP_concat:", "case ND4C_OP_concat: case ND4C_OP_abs:"),
    ("fold_constants", "inputs[i] = node->inputs[i] < 0 ? NULL : graph->values[node->inputs[i]].constant;",
     "inputs[i] = node->inputs[i] < 0 ? NULL : graph->values[node->inputs[0]].constant;"),
    ("gelu", " || half != 0.5", ""),
    ("gelu", "is_about(found.terms[1], first, dtype) &&", ""),
    ("layer_norm", "attrs[ND4C_ATTR_layer_norm_epsilon].as.f = root->epsilon;", ""),
    ("layer_norm", "nd4c_node_input(norm, ND4C_IN_layer_norm_bias) >= 0 ||", "false ||"),
    ("ir/moments", "if (!reduced[i]) {", "if (!reduced[i] && i < 0) {"),
    ("ir/moments", "&two) && two == 2.0;", "&two) && two > 1.0;"),
    ("fold_affine", "bool reversed = op == ND4C_OP_subtract && constant_at == 0,", "bool reversed = false,"),
    ("fold_affine", "(axis != 1 || constant->shape[i] != channels)", "(axis == 0 || constant->shape[i] != channels)"),
    ("fold_affine", "op == ND4C_OP_divide ? 1.0 / numbers[i]", "op == ND4C_OP_divide ? numbers[i]"),
    ("fold_affine", "sqrt(numbers[VARIANCE][i] + epsilon)", "sqrt(numbers[VARIANCE][i] - epsilon)"),
    ("ir/mapped", "return number * factor + term;", "return number * factor * factor + term;"),
    ("fold_affine", "conv->attrs[ND4C_ATTR_conv_activation].as.i != 0 ||", ""),
    ("linear", "info->rank > 0 && info->size == count &&", "info->rank > 0 &&"),
    ("linear", "attrs[ND4C_ATTR_linear_transpose_w] = node->attrs[ND4C_ATTR_linear_transpose_w];",
     "attrs[ND4C_ATTR_linear_transpose_w].as.i = 0;"),
    ("fuse_addend", "&& activation_of(node) == ND4C_ACTIVATION_NONE;",
     "&& activation_of(node) >= ND4C_ACTIVATION_NONE;"),
    ("fuse_addend", "sum->inputs[1 - side]};", "sum->inputs[side]};"),
    ("fuse_activation", "if (host->attrs[position].as.i != ND4C_ACTIVATION_NONE) {", "if (position < 0) {"),
    ("fuse_activation", "approximate].as.i != 0 ? ND4C_ACTIVATION_GELU_TANH", "approximate].as.i == 0 ? ND4C_ACTIVATION_GELU_TANH"),
    ("strength", "node->inputs[0] == node->inputs[1] &&", ""),
    ("casts", "if (!contains(middle, from) || !is_same_rule(from, middle, to)) {",
     "if (!contains(middle, from) && !is_same_rule(from, middle, to)) {"),
    ("select", "if (inputs[A] == inputs[B]) {", "if (inputs[A] >= 0) {"),
    ("algebra", "if (node->inputs[0] == node->inputs[1]) {", "if (node->inputs[0] >= 0) {"),
    ("transpose", "list->count == 0 ? axes->rank - 1 - i :", "list->count == 0 ? i :"),
    ("peephole", "made = ND4C_OP_add;", "made = ND4C_OP_subtract;"),
    ("strength", "nd4c_uniform_is(exponent, 0.5) && nd4c_value_is_never_negative(rewrite, x)", "nd4c_uniform_is(exponent, 0.5)"),
    ("slices", "if (complete && cuts[axis].step == 1 && cuts", "if (complete && cuts"),
    ("swish", "node->inputs[0], &one) && one == 1;", "node->inputs[0], &one);"),
    ("swish", "softplus != NULL && softplus->inputs[0] == x &&", "softplus != NULL &&"),
    ("fold_constants", "nd4c_graph_node_is_fixed(graph, node) &&", ""),
]


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def ninja():
    return run(["ninja", "-C", str(build), TARGET])


def prepare():
    """Copies the checkout and builds the program."""
    tree.mkdir(parents=True, exist_ok=True)
    for name in filter(None, run(["git", "-C", str(root), "ls-files"]).stdout.split("\n")):
        source, target = root / name, tree / name
        if source.is_file() and (not target.exists() or target.read_bytes() != source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    done = run(["cmake", "--preset", "ci", "-DND4C_TESTS=ON", "-S", str(tree)], cwd=tree)
    done = done if done.returncode else ninja()
    if done.returncode:
        sys.exit(done.stdout[-3000:])


def fuzz(*arguments):
    """The line that repeats a failure, or None."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    try:
        done = run([str(build / "tests/bin" / TARGET), "--failures", "1", "--whole", *arguments], env=plain, timeout=250)
    except subprocess.TimeoutExpired:
        return f"{TARGET} {' '.join(arguments)} # does not end"
    if done.returncode == 0:
        return None
    lines = [x for x in done.stdout.splitlines() if x.startswith(TARGET)]
    return lines[0] if lines else f"{TARGET} {' '.join(arguments)} # exit {done.returncode}"


def plant(name, before, after, graphs):
    """The line that caught the error, or None."""
    target = tree / "src/graph" / (f"{name}.c" if "/" in name else f"passes/{name}.c")
    original = target.read_text()
    if original.count(before) != 1:
        sys.exit(f"{name}: '{before}' is there {original.count(before)} times")
    target.write_text(original.replace(before, after))
    try:
        done = ninja()
        if done.returncode:
            sys.exit(f"{name}: '{after}' does not compile\n{done.stdout[-1500:]}")
        return fuzz("--graphs", str(graphs), "--thorough")
    finally:
        target.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=8000)
    parser.add_argument("--rows", default=":", help="part of the list, FIRST:LAST, as in Python")
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    first, last = (int(x) if x else None for x in options.rows.split(":"))
    prepare()
    rows = []
    for name, before, after in ERRORS[first:last]:
        begin = time.monotonic()
        caught = plant(name, before, after, options.graphs)
        rows.append((name, before, after, caught))
        print(f"{name:16} {'CAUGHT ' + caught[:150] if caught else 'MISSED ' + before}  "
              f"({time.monotonic() - begin:.0f} s)", flush=True)
    done = ninja()
    again = done.stdout if done.returncode else fuzz("--graphs", "800", "--thorough")
    if again:
        sys.exit(f"fails with no error planted: {again}")
    if options.table:
        cell = lambda text: "`" + str(text).replace("|", "\\|")[:140] + "`"
        options.table.write_text("| pass | was | became | caught by |\n|---|---|---|---|\n" + "".join(
            f"| {n} | {cell(b)} | {cell(a)} | {cell(c) if c else '**missed**'} |\n" for n, b, a, c in rows))
    missed = sum(row[-1] is None for row in rows)
    print(f"{len(rows) - missed} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Plants one error at a time in the passes of the graph and checks that random graphs, or a test of the pass, catch it.

    tests/planted/plant_passes.py [--graphs N] [--rows FIRST:LAST] [--table FILE]

Works in a copy of the checkout (build/planted/tree), as plant.py does, but with the preset ci. Each row of ERRORS is a line of a
pass and what becomes of it: a condition that is left out, a wrong operand, a wrong number. An error that only lets a pass do less
is none, because the results stay right. For each row the script rebuilds nd4c_random_graphs and runs it with a fixed seed. Random
graphs have neither quantised ops nor a precision, and their bodies do not read what they carry: rows of passes for these name the
test program that must fail. What
failed must pass after the errors are removed. The exit code is 1 if an error was not caught, or if a line is not there any
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

# (pass, or a file of src/graph, what the line says, what it becomes[, the test program that catches it])
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
    ("passes/dtypes/casts", "if (!contains(middle, from) || !is_same_rule(from, middle, to)) {",
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
    ("attention", "attrs[ND4C_ATTR_attention_scale].as.f = found.scale;", ""),
    ("attention", "found->scale *= factor * cap;", "found->scale *= factor;", "test_graph_attention"),
    ("attention_cache", "parts[] = {past, *joined};", "parts[] = {*joined, past};", "test_graph_attention"),
    ("cse", "case ND4C_OP_add:", "case ND4C_OP_add: case ND4C_OP_subtract:", "test_graph_rearrangement"),
    ("ir/rewrite", "if (rewrite->uses[node->outputs[i]] > 0) {", "if (i == 0 && rewrite->uses[node->outputs[i]] > 0) {"),
    ("fold_chain", "made.number_negated = at == 1;", "made.number_negated = false;"),
    ("layout", "node->output_count != 1 || work->is_output[node->outputs[0]] ||", "node->output_count != 1 ||"),
    ("reassociate", "{side == 0 ? outer_matrix : inner_matrix,", "{side != 0 ? outer_matrix : inner_matrix,"),
    ("rms_norm", "attrs[ND4C_ATTR_rms_norm_epsilon].as.f = found->epsilon;", ""),
    ("shapes", "return are_all(&node->attrs[ND4C_ATTR_roll_shifts], 0);", "return true;"),
    ("group_norm", "attrs[ND4C_ATTR_group_norm_epsilon].as.f = epsilon;",
     "attrs[ND4C_ATTR_group_norm_epsilon].as.f = 2 * epsilon;"),
    ("group_norm", "nd4c_uniform_is(&all, number));", "all.real * number == number * all.real);"),
    ("skip_norm", "found->attrs[ND4C_ATTR_skip_layer_norm_rms].as.i = rms;", ""),
    ("scale_products", "ND4C_TRY(scale(rewrite, factor, &found.inputs[ND4C_IN_linear_bias]));", ""),
    ("scale_products", "*factor = 1 / *factor;", ""),
    ("join_products", "ND4C_TRY(nd4c_emit_slice(&rewrite->emitter, y, -1, at, at + columns, 1, &part));",
     "ND4C_TRY(nd4c_emit_slice(&rewrite->emitter, y, -1, 0, columns, 1, &part));", "test_graph_fusions"),
    ("recompute", "inputs[i] = node.inputs[i];", "inputs[i] = node.inputs[0];"),
    ("inline_calls", "control->bodies[condition != 0 ? 0 : 1];", "control->bodies[condition == 0 ? 0 : 1];", "test_graph_control"),
    ("loop_invariants", "work->first + i].value] = work->captured[i];", "work->first + i].value] = work->captured[0];",
     "test_graph_control"),
    ("dynamic_quantization", "[ND4C_IN_linear_int8_w_scale] = scales->inputs[1 - x_at],",
     "[ND4C_IN_linear_int8_w_scale] = scales->inputs[x_at],", "test_graph_quantized"),
    ("hoist_quantize", "bytes[1] < least + 255};", "false};", "test_graph_quantized"),
    ("quantized_add", "[ND4C_IN_qlinear_add_b_scale] = b.scale,", "[ND4C_IN_qlinear_add_b_scale] = a.scale,",
     "test_graph_quantized"),
    ("quantized_conv", "(float)w_scales[scale_count == 1 ? 0 : i]);", "(float)w_scales[scale_count == 0 ? i : 0]);",
     "test_graph_quantized"),
    ("quantized_linear", "[ND4C_IN_linear_int8_x_zero_point] = x.zero,", "[ND4C_IN_linear_int8_x_zero_point] = -1,",
     "test_graph_quantized"),
    ("passes/dtypes/retyping", "retyping->changed[value] ? nd4c_retyping_read(retyping, value, false, &read) : ND4C_OK",
     "ND4C_OK", "test_graph_reduced_precision"),
]


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def ninja(program=TARGET):
    return run(["ninja", "-C", str(build), program])


def prepare():
    """Copies the checkout and builds the program."""
    tree.mkdir(parents=True, exist_ok=True)
    names = set(filter(None, run(["git", "-C", str(root), "ls-files"]).stdout.split("\n")))
    for source in tree.rglob("*.[ch]"):  # the build would take up sources that have moved
        name = str(source.relative_to(tree))
        if not name.startswith("build/") and name not in names:
            source.unlink()
    for name in sorted(names):
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


def catch(program, graphs):
    """The line of a failure of the random graphs or of a test program, or None."""
    if program == TARGET:
        return fuzz("--graphs", str(graphs), "--thorough")
    try:
        code = run([str(build / "tests/bin" / program)], timeout=250).returncode
    except subprocess.TimeoutExpired:
        code = "no end"
    return f"{program} # exit {code}" if code else None


def plant(name, before, after, program, graphs):
    """The line that caught the error, or None."""
    target = tree / "src/graph" / (f"{name}.c" if "/" in name else f"passes/{name}.c")
    original = target.read_text()
    if original.count(before) != 1:
        sys.exit(f"{name}: '{before}' is there {original.count(before)} times")
    target.write_text(original.replace(before, after))
    try:
        done = ninja(program)
        if done.returncode:
            sys.exit(f"{name}: '{after}' does not compile\n{done.stdout[-1500:]}")
        return catch(program, graphs)
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
    programs = {TARGET}
    for name, before, after, *program in ERRORS[first:last]:
        begin = time.monotonic()
        programs.update(program)
        caught = plant(name, before, after, program[0] if program else TARGET, options.graphs)
        rows.append((name, before, after, caught))
        print(f"{name:16} {'CAUGHT ' + caught[:150] if caught else 'MISSED ' + before}  "
              f"({time.monotonic() - begin:.0f} s)", flush=True)
    for program in sorted(programs):
        done = ninja(program)
        again = done.stdout if done.returncode else catch(program, 800)
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

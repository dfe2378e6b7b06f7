#!/usr/bin/env python3
"""Plants one error at a time in the passes of the graph, and in plans with dims, buckets and runners, and checks that random
graphs or a test catch it.

    tests/planted/plant_passes.py [--graphs N] [--seconds N] [--rows FIRST:LAST] [--names NAME...] [--table FILE]

Works in a copy of the checkout (build/planted/tree), as plant.py does, but with the preset ci. Each row of ERRORS is a line of a
pass and what becomes of it: a condition that is left out, a wrong operand, a wrong number. An error that only lets a pass do less
is none, because the results stay right. For each row the script rebuilds nd4c_random_graphs and runs it with a fixed seed, at most
--graphs graphs and --seconds seconds. Rows for what random graphs do not show name the test program that must fail. What
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
HANGS = 240  # seconds after which a graph or a test program counts as one that never ends

# (pass or file of src/graph, with its folder if it is none of passes/, what the line says, what it becomes[, the test program that
# catches it])
ERRORS = [
    ("identity", "if (axis != i && input->rank > 1) {", "if (axis != i && input->rank > 2) {"),
    ("identity", "if (steps->as.ints[i] != 1) {", "if (steps->as.ints[i] == 0) {"),
    ("identity", "case ND4C_OP_concat:", "case ND4C_OP_concat: case ND4C_OP_abs:"),
    ("fold_constants", "inputs[i] = node->inputs[i] < 0 ? NULL : rewrite->graph->values[node->inputs[i]].constant;",
     "inputs[i] = node->inputs[i] < 0 ? NULL : rewrite->graph->values[node->inputs[0]].constant;"),
    ("gelu", " || half != 0.5", ""),
    ("gelu", "is_about(found.terms[1], first, dtype) &&", "first > 0 &&"),
    ("layer_norm", "attrs[ND4C_ATTR_layer_norm_epsilon].as.f = root->epsilon;", ""),
    ("layer_norm", "nd4c_node_input(norm, ND4C_IN_layer_norm_bias) >= 0 ||", "false ||",
     "test_graph_passes"),
    ("match/moments", "if (!reduced[i]) {", "if (!reduced[i] && i < 0) {"),
    ("match/moments", "&two) && two == 2.0;", "&two) && two > 1.0;"),
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
    ("fold_constants", " || !nd4c_graph_node_is_fixed(graph, node)", ""),
    ("attention", "attrs[ND4C_ATTR_attention_scale].as.f = found.scale;", ""),
    ("attention", "found->scale *= factor * cap;", "found->scale *= factor;", "test_graph_attention"),
    ("attention_cache", "parts[] = {past, *joined};", "parts[] = {*joined, past};", "test_graph_attention"),
    ("cse", "case ND4C_OP_add:", "case ND4C_OP_add: case ND4C_OP_subtract:", "test_graph_rearrangement"),
    ("ir/rewrite", "if (rewrite->uses[node->outputs[i]] > 0) {", "if (i == 0 && rewrite->uses[node->outputs[i]] > 0) {"),
    ("fold_chain", "made.number_negated = at == 1;", "made.number_negated = false;"),
    ("layout", "node->output_count != 1 || work->is_output[node->outputs[0]] ||", "node->output_count != 1 ||",
     "test_graph_joins"),
    ("reassociate", "{side == 0 ? outer_matrix : inner_matrix,", "{side != 0 ? outer_matrix : inner_matrix,"),
    ("rms_norm", "attrs[ND4C_ATTR_rms_norm_epsilon].as.f = found->epsilon;", ""),
    ("shapes", "return are_all(&node->attrs[ND4C_ATTR_roll_shifts], 0);", "return true;"),
    ("group_norm", "attrs[ND4C_ATTR_group_norm_epsilon].as.f = epsilon;",
     "attrs[ND4C_ATTR_group_norm_epsilon].as.f = 2 * epsilon;"),
    ("group_norm", "nd4c_uniform_is(&all, number));", "all.real * number == number * all.real);"),
    ("skip_norm", "found->attrs[ND4C_ATTR_skip_layer_norm_rms].as.i = rms;", ""),
    ("scale_products", "ND4C_TRY(scale(rewrite, factor, &found.inputs[ND4C_IN_linear_bias]));", ""),
    ("match/moments", "*factor = 1 / *factor;", ""),
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
    ("dead", "rewrite->changes += nd4c_rewrite_remove_unread(rewrite);",
     "rewrite->changes += nd4c_rewrite_remove_unread(rewrite) + 1;"),
    ("swiglu", "attrs[ND4C_ATTR_swiglu_alpha].as.f = gate->attrs[ND4C_ATTR_swish_alpha].as.f;", "", "test_opencl_swiglu"),
    ("swiglu", "{gate->inputs[0], node->inputs[1 - i]}", "{gate->inputs[0], node->inputs[i]}", "test_opencl_swiglu"),
    ("quantize", "origin = affine.zero;", "origin = 128;"),
    ("quantize", "codes[i % n * k + i / n] = copy[i];", "codes[i] = copy[i];", "test_graph_calibration"),
    ("quantize", "*bias = nd4c_node_input(node, ND4C_IN_linear_bias);", "*bias = ND4C_VALUE_NONE;", "test_graph_calibration"),
    ("quantize", "root_of(s, value)->affine, &inputs[1]", "s->values[value].affine, &inputs[1]", "test_graph_calibration"),
    ("layer_norm", "== root->reads + (same ? 1 : 0)", ">= root->reads + (same ? 1 : 0)", "test_graph_passes"),
    ("quantization", "return fingerprint == calibration->fingerprint",
     "return fingerprint != 0 || fingerprint == calibration->fingerprint", "test_graph_calibration"),
    ("dynamic_solve", "multiple % place->factor != 0)", "false)", "test_graph_dynamic_plan"),
    ("dynamic_solve", "(!read_dim(place, extent, &dim) || dim != dims[place->dim])", "!read_dim(place, extent, &dim)",
     "test_graph_dynamic_plan"),
    ("dynamic_solve", "if (place->dim < 0 && given != value->shape[place->axis]) {",
     "if (place->dim < 0 && given < value->shape[place->axis]) {", "test_graph_dynamic_plan"),
    ("dynamic_bind", "nd4c_passes_at(i)->where == ND4C_PASS_NUMBERS && !switches.off[i]", "!switches.off[i]",
     "test_graph_dynamic_plan"),
    ("dynamic_graph", "mask != 0 ? number_attrs(", "mask > 1 ? number_attrs(", "test_graph_dynamic_plan"),
    ("dynamic_phase", "state->same >= ND4C_DYNAMIC_FREEZE_RUNS", "state->same > ND4C_DYNAMIC_FREEZE_RUNS",
     "test_graph_dynamic_bindings"),
    ("dynamic_bindings", "(at->hash != hash || memcmp(at->dims, dims, bytes) != 0)", "at->hash % 2 != hash % 2 && bytes > 0",
     "test_graph_dynamic_plan"),
    ("dynamic_bindings", "return binding->users == 0 && binding->used != dynamic->uses;", "return binding->used != dynamic->uses;",
     "test_graph_dynamic_bindings"),
    ("dynamic_bindings", "const bool older = oldest == NULL || (*link)->used < (*oldest)->used;",
     "const bool older = oldest == NULL || (*link)->used > (*oldest)->used;", "test_graph_dynamic_bindings"),
    ("dynamic_bindings", "(*link)->users > 0 || memcmp((*link)->top, top, bytes) != 0)", "memcmp((*link)->top, top, bytes) != 0)",
     "test_graph_dynamic_buckets"),
    ("dynamic_bindings", "make(plan, context, dims, top, old->plan, out);", "make(plan, context, dims, top, NULL, out);",
     "test_graph_dynamic_buckets"),
    ("dynamic_buckets", "if (number <= 1 || policy == 0) {", "if (policy == 0) {", "test_graph_dynamic_buckets"),
    ("dynamic_buckets", "top[i] > high && dims[i] <= high ? high : top[i];", "top[i] > high && dims[i] > high ? high : top[i];",
     "test_graph_dynamic_buckets"),
    ("plan/overlays", "(alias == ND4C_ALIAS_FIRST && index != 0)", "false", "test_graph_overlays"),
    ("plan/overlays", "(alias == ND4C_ALIAS_SAME && other->offset == 0 && same_layout(other, output));", "alias == ND4C_ALIAS_SAME;",
     "test_graph_overlays"),
    ("plan/overlays", "return last < first || is_computed_over(plan, input, output);", "return last <= first || is_computed_over(plan, input, output);",
     "test_graph_runner"),
    ("plan/overlays", "fits = !reads || nd4c_plan_is_in_place(plan, step, k);", "fits = !reads || step->inputs[k] >= 0;"),
    ("plan/overlays", "if (plan->whole || first < 0 || last > first) {", "if (plan->whole || first < 0) {"),
    ("runner", "i != index && (index >= 0 || runner->donated[i])", "i != index && runner->donated[i]", "test_graph_runner"),
    ("runner", "runner->results[i] = runner->outputs[i] == NULL ? runner->given[i] : NULL;", "runner->results[i] = NULL;"),
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
    onednn = root / ".cache/onednn/libdnnl.so.3"  # else the passes that only its kernels make worth while would do nothing
    given = [f"-DND4C_ONEDNN_FILE={onednn}"] if onednn.exists() else []
    done = run(["cmake", "--preset", "ci", "-DND4C_TESTS=ON", *given, "-S", str(tree)], cwd=tree)
    done = done if done.returncode else ninja()
    if done.returncode:
        sys.exit(done.stdout[-3000:])


def fuzz(graphs, seconds):
    """The line that repeats a failure, or None."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    arguments = ["--graphs", str(graphs), "--seconds", str(seconds), "--thorough"]
    try:
        done = run([str(build / "tests/bin" / TARGET), "--failures", "1", "--whole", *arguments], env=plain,
                   timeout=seconds + HANGS)
    except subprocess.TimeoutExpired:  # one graph took all of HANGS
        return f"{TARGET} {' '.join(arguments)} # does not end"
    if done.returncode == 0:
        return None
    lines = [x for x in done.stdout.splitlines() if x.startswith(TARGET)]
    return lines[0] if lines else f"{TARGET} {' '.join(arguments)} # exit {done.returncode}"


def catch(program, graphs, seconds):
    """The line of a failure of the random graphs or of a test program, or None."""
    if program == TARGET:
        return fuzz(graphs, seconds)
    try:
        code = run([str(build / "tests/bin" / program)], timeout=HANGS).returncode
    except subprocess.TimeoutExpired:
        code = "no end"
    return f"{program} # exit {code}" if code else None


def source_of(name):
    files = [tree / "src/graph" / folder / f"{name}.c" for folder in ("passes", ".")]
    return next((file for file in files if file.exists()), files[0])


def plant(name, before, after, program, options):
    """The line that caught the error, or None."""
    target = source_of(name)
    original = target.read_text()
    if original.count(before) != 1:
        sys.exit(f"{name}: '{before}' is there {original.count(before)} times")
    target.write_text(original.replace(before, after))
    try:
        done = ninja(program)
        if done.returncode:
            sys.exit(f"{name}: '{after}' does not compile\n{done.stdout[-1500:]}")
        return catch(program, options.graphs, options.seconds)
    finally:
        target.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=8000)
    parser.add_argument("--seconds", type=int, default=600, help="at most so long for the random graphs of a row")
    parser.add_argument("--names", nargs="*", help="only rows of these passes and files")
    parser.add_argument("--rows", default=":", help="part of the list, FIRST:LAST, as in Python")
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    first, last = (int(x) if x else None for x in options.rows.split(":"))
    prepare()
    rows = []
    programs = {TARGET}
    for name, before, after, *program in ERRORS[first:last]:
        if options.names and name not in options.names:
            continue
        begin = time.monotonic()
        programs.update(program)
        caught = plant(name, before, after, program[0] if program else TARGET, options)
        rows.append((name, before, after, caught))
        print(f"{name:16} {'CAUGHT ' + caught[:150] if caught else 'MISSED ' + before}  "
              f"({time.monotonic() - begin:.0f} s)", flush=True)
    for program in sorted(programs):
        done = ninja(program)
        again = done.stdout if done.returncode else catch(program, 800, options.seconds)
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

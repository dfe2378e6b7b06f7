"""Errors of the networks that bench/compare times, against a run in float64: `python bench/python/model_errors.py [NAME...]`.

The reference is the same file with all its numbers in float64, run by nd4c node by node (no pass changes it). An error is
the root of the mean square of the differences, divided by that of the reference. Peers run as in bench/compare, PyTorch
and JAX on translated models (bench/translation.py). --steps prints the error of every value of the network, in the file's
order, and by how much it exceeds that of the values before. docs/how-to/measuring.md says what is needed."""

import argparse
import functools
import os
import pathlib
import sys
import types

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "bench")]
import make_models  # noqa: E402
import nd4c  # noqa: E402
import networks  # noqa: E402
import translation  # noqa: E402

THREADS = 2
KEPT = ROOT / "build" / "model_errors"  # references, which take long
MANY = 1 << 22  # elements of a value that --steps samples


# -- the reference --------------------------------------------------------------------------------------------------------


def retype(graph, given, wanted):
    """Turns every number of one NumPy dtype in a graph into another one: weights, constants, casts, declared types. A
    finite number beyond the range of a narrower dtype, such as that of a mask, becomes the dtype's largest, as ONNX's
    converter to float16 does it: minus infinity for a whole row would make it NaN."""
    from onnx import helper, numpy_helper

    before, after = (helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) for dtype in (given, wanted))

    def tensor(x):
        if x.data_type == before:
            values, limits = numpy_helper.to_array(x), np.finfo(wanted)
            if np.dtype(wanted).itemsize < np.dtype(given).itemsize:
                values = np.where(np.isfinite(values), np.clip(values, limits.min, limits.max), values)
            x.CopyFrom(numpy_helper.from_array(values.astype(wanted), x.name))

    scales = {name for node in graph.node if node.op_type in ("Resize", "Upsample") for name in node.input[1:]}
    for x in graph.initializer:
        if x.name not in scales:  # they stay float32 whatever the dtype of the picture
            tensor(x)
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type == before:
            value.type.tensor_type.elem_type = after
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t") and not scales & set(node.output):
                tensor(attribute.t)
            if attribute.HasField("g"):
                retype(attribute.g, given, wanted)
            if node.op_type in ("Cast", "RandomNormal") and attribute.name in ("to", "dtype") and attribute.i == before:
                attribute.i = after


def gives_float32(path):
    """Whether a model has ops of ai.onnx.ml, such as trees, whose results are float32 by their definition."""
    import onnx

    return any(node.domain == "ai.onnx.ml" for node in onnx.load(path).graph.node)


def reference(library, name, inputs, steps):
    """Name -> value of the run in float64."""
    import onnx

    path = make_models.make(name, make_models.FOLDER)
    kept = KEPT / f"{name}{'.steps' if steps else ''}.npz"
    if kept.exists() and kept.stat().st_mtime > path.stat().st_mtime:
        return dict(np.load(kept))
    model = onnx.load(str(path))
    retype(model.graph, np.float32, np.float64)
    KEPT.mkdir(parents=True, exist_ok=True)
    wide = KEPT / f"{name}.onnx"
    onnx.save_model(model, str(wide), save_as_external_data=True, location=f"{name}.data")
    values = run_ours(library, wide, {key: x.astype(np.float64) if x.dtype == np.float32 else x for key, x in inputs.items()},
                      steps, no_optimization=True)
    wide.unlink()
    (KEPT / f"{name}.data").unlink(missing_ok=True)
    floats = {key: x for key, x in values.items() if x.dtype == np.float64}
    np.savez(kept, **floats)
    return floats


# -- runs -----------------------------------------------------------------------------------------------------------------


def run_ours(library, path, inputs, steps, no_optimization=False):
    model = nd4c.Model(library, path, all_intermediates=steps, no_optimization=no_optimization)
    model.bind(inputs)
    model.run()
    values = model.results()
    model.close()
    return values


def run_onnx(path, inputs, steps):
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, THREADS
    if steps:
        model = onnx.load(str(path))
        known = {output.name for output in model.graph.output}
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for node in model.graph.node for name in node.output
                                  if name and name not in known)
        path = KEPT / "steps.onnx"
        onnx.save_model(model, str(path), save_as_external_data=True, location="steps.data")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def run_openvino(path, inputs, steps):
    import openvino

    core = openvino.Core()
    compiled = core.compile_model(core.read_model(str(path)), "CPU", {
        "INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(inputs)
    return {compiled.outputs[i].any_name: np.array(results[i]) for i in range(len(compiled.outputs))}


def run_torch(path, inputs, steps):
    import torch
    import translation_torch

    torch.set_num_threads(THREADS)
    made = translation.Translation(path, translation_torch)
    with torch.inference_mode():
        given = [torch.from_numpy(inputs[name]) for name in made.inputs]
        results = made.function(types.SimpleNamespace(**made.constants), *given)
    return dict(zip(made.outputs, (result.numpy() for result in results)))


def run_jax(path, inputs, steps):
    import jax
    import translation_jax

    made = translation.Translation(path, translation_jax)
    results = jax.jit(made.function)(made.constants, *(inputs[name] for name in made.inputs))
    return dict(zip(made.outputs, map(np.asarray, results)))


PEERS = {"onnx": run_onnx, "openvino": run_openvino, "torch": run_torch, "jax": run_jax}
ENGINES = ("nd4c", *PEERS)
WITH_STEPS = ("nd4c", "onnx")


# -- errors ---------------------------------------------------------------------------------------------------------------


def error_of(value, exact):
    value, exact = (np.asarray(x, np.float64).ravel()[:MANY] for x in (value, exact))
    scale = np.sqrt(np.mean(exact**2)) or 1.0
    return float(np.sqrt(np.mean((value - exact)**2)) / scale)


def print_steps(exact, found):
    before = 0.0
    for name in exact:
        errors = [error_of(values[name], exact[name]) if name in values else float("nan") for values in found.values()]
        print(f"{name[:60]:60} " + "  ".join(f"{error:9.2e}" for error in errors) + f"  {errors[0] - before:+9.1e}", flush=True)
        before = errors[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="networks; default: all of bench/compare --only models")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only these (default: all)")
    parser.add_argument("--library", help="another libnd4c.so, or its build folder; default build/release")
    parser.add_argument("--steps", action="store_true", help=f"the error of every value, for one network; only {' and '.join(WITH_STEPS)}")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
    library = nd4c.Library(nd4c.find_library(options.library))
    engines = [e for e in options.engine or ENGINES if e in WITH_STEPS or not options.steps]
    names = options.names or [*make_models.NAMES, *(each + seed for each in networks.NAMES for seed in ("", "@1"))]
    print(f"{'':26} " + "  ".join(f"{engine:>9}" for engine in engines))
    for name in names:
        path = make_models.make(name, make_models.FOLDER)
        if gives_float32(path):
            print(f"{name:26} left out: its ops give float32 whatever their inputs are")
            continue
        inputs = make_models.sample_inputs(name)
        exact, found = reference(library, name, inputs, options.steps), {}
        for engine in engines:
            run = PEERS.get(engine, functools.partial(run_ours, library))
            try:
                found[engine] = run(path, inputs, options.steps)
            except translation.Refused as reason:
                print(f"{name:26} {engine} left out: {reason}")
                found[engine] = {}
        if options.steps:
            print_steps(exact, found)
            continue
        errors = [max(error_of(values[key], exact[key]) for key in exact) if values else float("nan")
                  for values in found.values()]
        print(f"{name:26} " + "  ".join(f"{error:9.2e}" for error in errors), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times and errors of networks in float16, of nd4c and ONNX Runtime: `.cache/peers/bin/python bench/python/half_models.py
[NAME...]`.

A network is one of tests/tools, with all its numbers in float16. Both run it on their CPU with two threads, in turns, and
the least time of each counts. An error is the root of the mean square of the differences from a run of the same numbers in
float64 (nd4c's, node by node), divided by that of the reference. A rounding to float16 at the outputs alone gives about
2e-4. docs/how-to/measuring.md says what is needed."""

import argparse
import os
import pathlib
import sys
import time

import model_errors
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
import make_models  # noqa: E402
import nd4c  # noqa: E402

THREADS = 2
FOLDER = ROOT / "build" / "half_models"
NAMES = ("mobilenet_v2", "light_squeezenet", "light_resnet50", "bert_base", "unet", "whisper", "lstm_tagger")


def cast(inputs, dtype):
    return {key: x.astype(dtype) if x.dtype in (np.float16, np.float32) else x for key, x in inputs.items()}


def save(model, name, dtype):
    """The model file with its numbers in the dtype, in place of float32 or float16."""
    import onnx

    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.{np.dtype(dtype).name}.onnx"
    path.unlink(missing_ok=True)
    (FOLDER / f"{path.name}.data").unlink(missing_ok=True)
    onnx.save_model(model, str(path), save_as_external_data=True, location=f"{path.name}.data")
    return path


def make(name):
    """The network in float16, and the same numbers in float64."""
    import onnx

    model = onnx.load(str(make_models.make(name, make_models.FOLDER)))
    model_errors.retype(model.graph, np.float32, np.float16)
    half = save(model, name, np.float16)
    model = onnx.load(str(half))
    model_errors.retype(model.graph, np.float16, np.float64)
    return half, save(model, name, np.float64)


def least(run, seconds):
    """The least time of a run, of those that start within so many seconds."""
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def session(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, THREADS
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def compare(library, name, seconds):
    half, wide = make(name)
    inputs = cast(make_models.sample_inputs(name), np.float16)
    exact = model_errors.run_ours(library, wide, cast(inputs, np.float64), False, no_optimization=True)
    model, theirs = nd4c.Model(library, half), session(half)
    names = [output.name for output in theirs.get_outputs()]
    model.bind(inputs)
    model.run()
    ours, values = model.results(), dict(zip(names, theirs.run(names, inputs)))
    errors = [max(model_errors.error_of(found[key], exact[key]) for key in exact) for found in (ours, values)]
    times = [[], []]
    for _ in range(4):
        times[0].append(least(model.run, seconds / 8))
        times[1].append(least(lambda: theirs.run(names, inputs), seconds / 8))
    model.close()
    times = [1e3 * min(each) for each in times]
    print(f"{name:24} {times[0]:9.3f} {times[1]:9.3f} {times[1] / times[0]:7.2f}   {errors[0]:9.2e} {errors[1]:9.2e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(NAMES)}")
    parser.add_argument("--library", help="another libnd4c.so, or its build folder; default build/release")
    parser.add_argument("--seconds", type=float, default=4, help="for each network")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
    library = nd4c.Library(nd4c.find_library(options.library))
    print(f"{'':24} {'nd4c ms':>9} {'onnx ms':>9} {'ratio':>7}   {'error':>9} {'onnx':>9}")
    for name in options.names or NAMES:
        compare(library, name, options.seconds)


if __name__ == "__main__":
    main()

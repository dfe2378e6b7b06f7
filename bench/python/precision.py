#!/usr/bin/env python3
"""Prints the errors of models in bfloat16, for nd4c and OpenVINO: the root mean square of the difference from nd4c's results
in float32, relative to that of these results, and how often the largest number of a row is the same.

    .cache/peers/bin/python bench/python/precision.py [--build BUILD] [NAME...]

Needs a build with nd4c, and the models of tests/tools/make_models.py; without names, all rows of bench/groups/reduced.py.
"""

import argparse
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "tools")]

import make_models
import nd4c
import rows

PRECISION = "bfloat16"


def ours(library, name, precision):
    """The first output of the model."""
    path, inputs = make_models.make(name, make_models.FOLDER), make_models.sample_inputs(name)
    model = nd4c.Model(library, path, precision=precision)
    model.bind(inputs)
    model.run()
    result = next(iter(model.results().values()))
    model.close()
    return result


def theirs(core, name):
    """OpenVINO's first output."""
    path, inputs = make_models.make(name, make_models.FOLDER), make_models.sample_inputs(name)
    compiled = core.compile_model(core.read_model(str(path)), "CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
    return np.array(compiled(inputs)[0])


def errors(exact, reduced):
    exact, reduced = exact.astype(np.float64), reduced.astype(np.float64).reshape(exact.shape)
    rms = np.sqrt(np.mean((exact - reduced) ** 2) / np.mean(exact ** 2))
    same = np.mean(exact.argmax(axis=-1) == reduced.argmax(axis=-1))
    return f"RMS {rms:.2e}, first place {100 * same:5.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    library = nd4c.Library(nd4c.find_library(options.build))
    try:
        import openvino

        core = openvino.Core()
    except ModuleNotFoundError:
        core = None
        print("absent: OpenVINO")
    for name in options.names or [row.name for row in rows.load("reduced").rows]:
        exact = ours(library, name, 0)
        print(f"{name:24} nd4c {errors(exact, ours(library, name, nd4c.NUMBERS[PRECISION]))}"
              + (f"; OpenVINO {errors(exact, theirs(core, name))}" if core else ""), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares nd4c with ONNX Runtime: every intermediate value of each model as recorded, and the outputs as optimised.

Two figures a tensor, both at most --tolerance: `of largest` is the largest difference relative to the tensor's largest
value; `by element` is the largest |a - b| / (|b| + root mean square of b), which small elements do not hide behind large
ones. Integers and booleans are equal. --part K/N takes the models at positions K, K + N, ... of the list. Ends with "N passed,
N failed".
"""

import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import make_models  # noqa: E402
import nd4c  # noqa: E402


class Worst:
    """The tensor that differs most, by each figure."""

    def __init__(self):
        self.largest, self.element, self.count, self.faults = (0.0, ""), (0.0, ""), 0, []

    def add(self, name, ours, theirs, tolerance):
        self.count += 1
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            self.faults.append(f"{name}: {ours.dtype} {ours.shape}, expected {theirs.dtype} {theirs.shape}")
            return
        if theirs.dtype.kind != "f":
            if not np.array_equal(ours, theirs):
                self.faults.append(f"{name}: {np.count_nonzero(ours != theirs)} of {theirs.size} elements differ")
            return
        if not np.array_equal(np.isfinite(ours), np.isfinite(theirs)):
            self.faults.append(f"{name}: {np.count_nonzero(~np.isfinite(ours))} elements that are no numbers")
            return
        if theirs.size == 0:
            return
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
        difference, size = np.abs(ours - theirs), np.abs(theirs)
        ordinary = theirs[size < 1e30]  # a mask's lowest number would distort the scale of the others
        scale = np.sqrt(np.mean(ordinary**2)) if ordinary.size else 0.0
        figures = difference.max() / max(size.max(), 1e-30), (difference / np.maximum(size + scale, 1e-30)).max()
        self.largest = max(self.largest, (figures[0], name))
        self.element = max(self.element, (figures[1], name))
        if max(figures) > tolerance:
            self.faults.append(f"{name}: differs by {figures[0]:.2e} of the largest, {figures[1]:.2e} by element")


def ort_session(source):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def with_intermediates(path):
    """Beside a model, a copy of it that gives every value of its nodes; returns its path."""
    model = onnx.load(path, load_external_data=False)
    have = {value.name for value in model.graph.output}
    for node in model.graph.node:
        # A mask that dropout writes for training is no value of the network.
        for name in node.output[:1] if node.op_type == "Dropout" else node.output:
            if name and name not in have and node.op_type != "Constant":
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    copy = path.with_name(path.stem + ".all.onnx")
    copy.write_bytes(model.SerializeToString())
    return copy


def run_ours(library, path, inputs, **options):
    model = nd4c.Model(library, path, **options)
    try:
        model.bind(inputs)
        model.run()
        first = model.results()
        model.run()  # the second run goes through the cached plan and writes into the same outputs
        second = model.results()
    finally:
        model.close()
    return first, second


def check(library, path, inputs, tolerance):
    """Compares one model; returns the two Worst."""
    everything, optimised = Worst(), Worst()
    copy = with_intermediates(path)
    try:
        session = ort_session(copy)
        names = [output.name for output in session.get_outputs()]
        expected = dict(zip(names, session.run(names, inputs)))
        del session
    finally:
        copy.unlink()
    ours, _ = run_ours(library, path, inputs, all_intermediates=True)
    for name, value in expected.items():
        if name in ours:
            everything.add(name, ours[name], value, tolerance)
        else:
            everything.faults.append(f"{name}: not among the values that nd4c gives")
    del ours, expected
    session = ort_session(path)
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, inputs)))
    for run, results in zip(("first", "second"), run_ours(library, path, inputs)):
        for name, value in expected.items():
            optimised.add(f"{name} ({run} run)", results[name], value, tolerance)
    return everything, optimised


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="which (default: all): " + ", ".join(make_models.NAMES))
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--nd4c", type=pathlib.Path, default=root / "build" / "release" / "bin" / "nd4c",
                        help="the program nd4c of the build to check; its library is used")
    parser.add_argument("--models", type=pathlib.Path, default=root / "build" / "models")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    library = nd4c.Library(nd4c.find_library(options.nd4c.resolve().parents[1]))
    passed = failed = 0
    print(f"{'model':24} {'values':>6}  {'of largest':>10} {'by element':>10}  {'outputs, optimised':>21}", flush=True)
    part, parts = map(int, options.part.split("/"))
    for name in (options.names or make_models.NAMES)[part::parts]:
        path = make_models.make(name, options.models)
        try:
            everything, optimised = check(library, path, make_models.sample_inputs(name), options.tolerance)
        except nd4c.Error as error:
            failed += 1
            print(f"{name:24} FAILED: {error}", flush=True)
            continue
        print(f"{name:24} {everything.count:6}  {everything.largest[0]:10.1e} {everything.element[0]:10.1e}  "
              f"{optimised.largest[0]:10.1e} {optimised.element[0]:10.1e}  worst: {everything.element[1]}", flush=True)
        faults = everything.faults + optimised.faults
        for fault in faults[:5]:
            print(f"  FAILED: {fault}")
        if len(faults) > 5:
            print(f"  and {len(faults) - 5} more")
        passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

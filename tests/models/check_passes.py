#!/usr/bin/env python3
"""Runs models with each pass off, with each pass alone and with all, and compares with the run without passes.

    tests/models/check_passes.py [--tolerance T] ND4C MODEL...

ND4C is the program `nd4c`, which makes random inputs. The figure of a run is the largest difference of an output's element
divided by the output's largest magnitude; NaN and infinities must be in the same places. The exit code is 1 if a figure is
larger than the tolerance.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy


def run(program, model, folder, passes, *options):
    """The outputs of one run: {file name: array}."""
    environment = dict(os.environ, ND4C_PLAN_PASSES=passes)
    folder.mkdir()
    command = [program, "run", model, "--random-inputs", "--output", str(folder), *options]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} with ND4C_PLAN_PASSES='{passes}':\n{done.stdout[-2000:]}")
    return {path.name: numpy.load(path) for path in sorted(folder.glob("*.npy"))}, done.stdout


def passes_of(program, model, folder):
    """Names and numbers of changes of all passes, from the report of a run with all."""
    outputs, text = run(program, model, folder, "", "--report")
    found = re.findall(r"^ +(\w+) +\d+ -> +\d+ nodes, +(\d+) changes", text, re.M)
    return outputs, {name: int(changes) for name, changes in found}


def difference(base, got):
    """Infinite if a NaN or an infinity is somewhere else, or a shape or dtype is another."""
    worst = 0.0
    for name, wanted in base.items():
        other = got[name]
        if wanted.shape != other.shape or wanted.dtype != other.dtype:
            return float("inf")
        a, b = wanted.astype("f8"), other.astype("f8")
        finite = numpy.isfinite(a)
        if not numpy.array_equal(a[~finite], b[~finite], equal_nan=True) or not numpy.isfinite(b[finite]).all():
            return float("inf")
        if finite.any():
            largest = numpy.abs(a[finite]).max()
            worst = max(worst, numpy.abs(a[finite] - b[finite]).max() / (largest or 1.0))
    return worst


def check(program, model, tolerance):
    """True if all runs agree; prints a line for the model and one for each run that does not."""
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)
        base, _ = run(program, model, room / "base", "", "--no-optimization")
        outputs, changes = passes_of(program, model, room / "all")
        figures["all"] = difference(base, outputs)
        for one in changes:
            for kind in ("-", ""):
                if kind == "" or changes[one] > 0:
                    got, _ = run(program, model, room / f"{kind}{one}", kind + one)
                    figures[kind + one] = difference(base, got)
    wrong = {key: value for key, value in figures.items() if not value <= tolerance}
    worst = max(figures, key=figures.get)
    print(f"{pathlib.Path(model).name}: {len(figures)} runs, {sum(map(bool, changes.values()))} passes change it, "
          f"all {figures['all']:.2g}, worst {figures[worst]:.2g} ({worst})", flush=True)
    for key, value in wrong.items():
        print(f"  ND4C_PLAN_PASSES='{key}' differs by {value:.3g}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("program")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    right = [check(options.program, model, options.tolerance) for model in options.models]
    print(f"{sum(right)} passed, {len(right) - sum(right)} failed")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())

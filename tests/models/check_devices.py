#!/usr/bin/env python3
"""Runs the light models on the stub, a capture-capable asynchronous device whose buffers are opaque and whole.

Each model runs three times: nodes alternately on the host and on the stub, wholly on the stub step by step (mode
stream), and wholly on the stub as one recording (mode capture). The outputs are compared with ONNX Runtime's. The plan's
report must say that every node runs where it was placed, and the trace that it did. With --sample, a number, each model but
digits runs one way, which is another one for the next model, and with the next number. Ends with "N passed, N failed".
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import make_models  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("digits",) + tuple(name for name in make_models.NAMES if name.startswith("light_"))
STUB = {"STUB_MEMORY": "whole", "STUB_CAPTURE": "all", "STUB_MODE": "kernels", "STUB_NAME": "stub"}
# name, devices, whether plans may record, mode of the report
WAYS = (("alternating", "cpu:0,stub:0", True, "arrays"),
        ("stream", "stub:0", False, "stream"),
        ("capture", "stub:0", True, "capture"))


def model_and_inputs(name, folder):
    if name == "digits":
        digits = ROOT / "examples" / "digits"
        images = np.load(digits / "digits_images.npy").astype(np.float32).reshape(-1, 1, 8, 8)
        return digits / "digits.onnx", {"image": images[:16]}
    return make_models.make(name, folder), make_models.sample_inputs(name)


def expected_of(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def run(program, plugin, path, files, way, folder):
    """Returns the program's output text; the model's outputs are files in the folder."""
    _, devices, capture, _ = way
    command = [program, "run", path, "--devices", devices, "--report", "--trace", "-", "--output", folder,
               "-D", f"nd4c.plan.capture={'true' if capture else 'false'}"]
    for name, file in files.items():
        command += ["--input", f"{name}={file}"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STUB_")}
    environment.update(STUB, ND4C_BACKEND_PLUGINS=os.fspath(plugin))
    done = subprocess.run([os.fspath(part) for part in command], env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def steps_of(text, devices):
    """By step of the plan: its device, or for a plan on one device the engine of its kernel."""
    column = r"(\S+) +\w+" if "," in devices else r"\w+[^:\n]*: (\S+)"
    steps = text.split("\nsteps:\n", 1)[1].split("\nviews resolved", 1)[0]
    return re.findall(rf"^ +\d+ {column}", steps, re.MULTILINE)


def executions_of(text, device):
    """Executions that the trace counted on the device."""
    table = text.split("\nops: device", 1)[1].split("\nmemory:", 1)[0]
    return sum(int(count) for count in re.findall(rf"^ +{device} +\w+ +(\d+) ", table, re.MULTILINE))


def faults_of(text, way):
    """The fault or an empty text, and (steps, those on the stub, transitions)."""
    name, devices, _, mode = way
    steps = steps_of(text, devices)
    on_stub = sum(step in ("stub", "stub:0") for step in steps)
    transitions = int(re.search(r"^device transitions: (\d+)", text, re.MULTILINE)[1])
    faults = []
    if f"\nmode: {mode} " not in text:
        faults.append(f"expected mode {mode}, not '{re.search('mode: .*', text)[0]}'")
    if "requested but not applied: nothing" not in text:
        faults.append(text.split("requested but not applied:", 1)[1].split("\ncopies", 1)[0].strip()[:300])
    if executions_of(text, "stub:0") != on_stub or executions_of(text, "cpu:0") != len(steps) - on_stub:
        faults.append("the trace counts other executions than the plan has steps")
    if name == "alternating":
        changes = sum(a != b for a, b in zip(steps, steps[1:]))
        if transitions != changes or transitions == 0:
            faults.append(f"{transitions} transitions, {changes} changes of the device between steps")
        # Nodes alternate, some of which are views and have no step.
        if not 0.4 * len(steps) <= on_stub <= 0.6 * len(steps):
            faults.append(f"{on_stub} of {len(steps)} steps on the stub")
    elif on_stub != len(steps) or transitions != 0:
        faults.append(f"{on_stub} of {len(steps)} steps on the stub, {transitions} transitions")
    return faults, (len(steps), on_stub, transitions)


def difference(ours, theirs):
    """The larger one of: by the tensor's largest value, by element as check_models.py has it."""
    if ours.shape != theirs.shape or not np.isfinite(ours).all():
        return float("inf")
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    off, size = np.abs(ours - theirs), np.abs(theirs)
    return max(off.max() / max(size.max(), 1e-30), (off / (size + np.sqrt(np.mean(theirs**2)) + 1e-30)).max())


def check(options, name, way, path, files, expected):
    """Checks a model one way, prints a line; returns whether it passed."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            text = run(options.nd4c, options.plugin, path, files, way, folder)
        except RuntimeError as error:
            print(f"{name:24} {way[0]:12} FAILED: {error}", flush=True)
            return False
        faults, (steps, on_stub, transitions) = faults_of(text, way)
        off = 0.0
        for output, value in expected.items():
            off = max(off, difference(np.load(pathlib.Path(folder) / (re.sub(r"[^\w.-]", "_", output) + ".npy")), value))
    if off > options.tolerance:
        faults.append(f"differs by {off:.1e}")
    print(f"{name:24} {way[0]:12} {steps:5} {on_stub:8} {transitions:11} {off:10.1e}", flush=True)
    for fault in faults:
        print(f"  FAILED: {fault}", flush=True)
    return not faults


def ways_of(name, position, sample):
    """The ways in which the model at the position of the list runs."""
    return WAYS if sample is None or name == "digits" else (WAYS[(position + sample) % len(WAYS)],)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="which (default: all): " + ", ".join(NAMES))
    parser.add_argument("--nd4c", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "nd4c")
    parser.add_argument("--plugin", type=pathlib.Path, default=ROOT / "build" / "release" / "lib" / "libnd4c_stub.so")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build" / "models")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    results = []
    print(f"{'model':24} {'way':12} {'steps':>5} {'on stub':>8} {'transitions':>11} {'off':>10}", flush=True)
    for position, name in enumerate(options.names or NAMES):
        path, inputs = model_and_inputs(name, options.models)
        expected = expected_of(path, inputs)
        with tempfile.TemporaryDirectory() as folder:
            files = {key: pathlib.Path(folder) / f"{number}.npy" for number, key in enumerate(inputs)}
            for key, file in files.items():
                np.save(file, inputs[key])
            results += [check(options, name, way, path, files, expected) for way in ways_of(name, position, options.sample)]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

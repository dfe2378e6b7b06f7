#!/usr/bin/env python3
"""Models of networks quantised to 8 bits by ONNX Runtime, as its users do: "resnet50.qdq" by quantize_static (uint8
activations, int8 weights with a scale for each channel), "bert_base.dynamic" by quantize_dynamic. make_models.py makes
them; the packages onnx and onnxruntime must be there. Calibrated on the model's sample input and one of other numbers.

    tests/tools/quantized.py build/release/bin/nd4c [NAME...]

prints the error of the first output against the network in float32: of this model, as nd4c and ONNX Runtime compute it,
and of the network that nd4c quantises itself, calibrated on the same samples."""

import logging
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import onnx

BASES = {".qdq": ("resnet50", "mobilenet_v2", "light_squeezenet", "vit_b_16", "bert_base", "whisper", "llama_prefill"),
         ".dynamic": ("vit_b_16", "bert_base", "whisper", "llama_prefill", "llama_decode")}
NAMES = tuple(base + kind for kind, bases in BASES.items() for base in bases)
LEAST_OPSET = 13  # from which on DequantizeLinear has an axis


def base_of(name):
    """The network of a quantised model; None: the name is none."""
    base, dot, kind = name.partition(".")
    return base if dot and base in BASES.get("." + kind, ()) else None


class Samples:
    """What quantize_static calls a reader: the inputs that it calibrates on."""

    def __init__(self, inputs):
        random = np.random.default_rng(zlib.crc32(b"calibration"))
        other = {name: (random.standard_normal(data.shape, dtype=np.float32) if data.dtype == np.float32 else data)
                 for name, data in inputs.items()}
        self.rest = iter([inputs, other])

    def get_next(self):
        return next(self.rest, None)


def upgraded(path, folder):
    """The model with an opset that can be quantised by channel."""
    if onnx.load(path, load_external_data=False).opset_import[0].version >= LEAST_OPSET:
        return path
    to = pathlib.Path(folder) / path.name
    onnx.save(onnx.version_converter.convert_version(onnx.load(path), LEAST_OPSET), to)
    return to


def make(name, base, inputs, path):
    """Writes the model. base: the file of the network; inputs: its sample input."""
    from onnxruntime import quantization

    logging.disable(logging.WARNING)  # messages about layers that have no channels
    with tempfile.TemporaryDirectory() as folder:
        base = str(upgraded(base, folder))
        if name.endswith(".dynamic"):
            quantization.quantize_dynamic(base, str(path), weight_type=quantization.QuantType.QInt8)
        else:
            quantization.quantize_static(base, str(path), Samples(inputs), quant_format=quantization.QuantFormat.QDQ,
                                         per_channel=True, activation_type=quantization.QuantType.QUInt8,
                                         weight_type=quantization.QuantType.QInt8)
    logging.disable(logging.NOTSET)


def by_onnxruntime(path, inputs):
    """The name and the elements of the first output."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_outputs()[0].name
    return name, session.run([name], inputs)[0].astype(np.float64)


def by_own(program, name, base, inputs, output):
    """The same of the network in float32, which nd4c quantises itself as the model of this name is."""
    if name.endswith(".dynamic"):
        return by_nd4c(program, base, inputs, output, "--precision", "int8")
    with tempfile.TemporaryDirectory() as folder:
        folder, samples = pathlib.Path(folder), Samples(inputs)
        for number, sample in enumerate(iter(samples.get_next, None)):
            np.savez(folder / f"{number}.npz", **sample)
        subprocess.run([program, "calibrate", base, folder, "--output", folder / "ranges.json"], check=True,
                       stdout=subprocess.DEVNULL)
        return by_nd4c(program, base, inputs, output, "--precision", "int8", "--calibration", folder / "ranges.json")


def by_nd4c(program, path, inputs, output, *options):
    with tempfile.TemporaryDirectory() as folder:
        folder, given = pathlib.Path(folder), [*options]
        for number, (name, data) in enumerate(inputs.items()):
            np.save(folder / f"{number}.npy", data)
            given += ["--input", f"{name}={folder / str(number)}.npy"]
        subprocess.run([program, "run", path, *given, "--output", folder / "out"], check=True, stdout=subprocess.DEVNULL)
        return np.load(folder / "out" / (re.sub(r"[^\w.-]", "_", output) + ".npy")).astype(np.float64)


def main():
    import make_models

    program, *names = sys.argv[1:]
    print(f"{'root mean square error':24} {'nd4c':>8} {'ONNX Runtime':>12}  nd4c to ONNX Runtime  nd4c, own quantisation")
    for name in names or NAMES:
        base = make_models.make(base_of(name), make_models.FOLDER)
        inputs = make_models.sample_inputs(name)
        output, exact = by_onnxruntime(base, inputs)
        path = make_models.make(name, make_models.FOLDER)
        theirs, ours = by_onnxruntime(path, inputs)[1], by_nd4c(program, path, inputs, output)
        error = lambda a, b: np.sqrt(np.square(a - b).mean() / np.square(exact).mean())
        print(f"{name:24} {error(ours, exact):8.4f} {error(theirs, exact):12.4f}  {error(ours, theirs):20.4f}"
              f"  {error(by_own(program, name, base, inputs, output), exact):22.4f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Networks of the shapes that people run, with seeded random weights: NAMES are models that make_models.py makes.

"resnet18" is the network as its paper has it; "resnet18@5" is a variant that the number draws: other channels, batch, image or
length, opset. The same name gives the same bytes."""

import dataclasses
import zlib

import numpy as np
import onnx
import onnx.shape_inference

from networks import convolution, sequence
from networks.builder import Builder

# name: function, batch, side of the image, length
TABLE = {
    "resnet18": (convolution.resnet18, 1, 224, 0),
    "resnet50": (convolution.resnet50, 1, 224, 0),
    "mobilenet_v2": (convolution.mobilenet_v2, 1, 224, 0),
    "mobilenet_v3": (convolution.mobilenet_v3, 1, 224, 0),
    "efficientnet_b0": (convolution.efficientnet_b0, 1, 224, 0),
    "yolo": (convolution.yolo, 1, 320, 0),
    "unet": (convolution.unet, 1, 256, 0),
    "vit_b_16": (sequence.vit_b_16, 1, 224, 0),
    "llama_prefill": (sequence.llama_prefill, 1, 0, 128),
    "llama_decode": (sequence.llama_decode, 1, 0, 1),
    "whisper": (sequence.whisper, 1, 0, 1500),
    "lstm_tagger": (sequence.lstm_tagger, 4, 0, 64),
    "trees": (sequence.trees, 1000, 0, 0),
}
NAMES = tuple(TABLE)
OPSETS = (13, 14, 17, 18, 21)


@dataclasses.dataclass
class Dimensions:
    batch: int
    side: int
    length: int
    width: float = 1.0


def is_name(name):
    base, _, seed = name.partition("@")
    return base in TABLE and (not seed or seed.isdecimal())


def random_of(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def drawn(name):
    """The dimensions and the opset of a name."""
    base, _, seed = name.partition("@")
    _, batch, side, length = TABLE[base]
    d = Dimensions(batch, side, length)
    if not seed:
        return d, 18
    random = random_of(name + " variant")
    d.width = float(random.choice([0.73, 0.9, 1.1, 1.3]))
    d.batch = batch if base.startswith(("vit", "llama", "whisper")) else int(random.integers(1, 4)) * max(1, batch // 4)
    d.side = side + 32 * int(random.integers(-2, 3)) if side else 0
    d.length = max(1, int(length * random.choice([0.29, 0.71, 1.37]))) if length > 1 else length
    return d, int(random.choice(OPSETS))


def make(name, path):
    """Writes the model."""
    base, dimensions = name.partition("@")[0], drawn(name)
    builder = Builder(name, random_of(name), dimensions[1])
    TABLE[base][0](builder, dimensions[0])
    model = onnx.shape_inference.infer_shapes(builder.model())
    del model.graph.value_info[:]
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def sample_inputs(name, path):
    """Inputs for the model in the file: name -> array."""
    model = onnx.load(path, load_external_data=False)
    below = {each.key: int(each.value) for each in model.metadata_props}
    random, given = random_of(name + " input"), {}
    for value in model.graph.input:
        shape = [each.dim_value for each in value.type.tensor_type.shape.dim]
        if f"below:{value.name}" in below:
            given[value.name] = random.integers(0, below[f"below:{value.name}"], shape)
        else:
            given[value.name] = random.standard_normal(shape, dtype=np.float32)
    return given

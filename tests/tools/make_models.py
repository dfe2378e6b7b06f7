#!/usr/bin/env python3
"""Makes the models that nd4c is compared on, into build/models (or --output): needs onnx and numpy.

light_*.onnx: the nine networks of the package onnx. As shipped, every weight of them is one constant and so is every
output; here the weights are seeded random values of the size that trained ones have (He: a convolution keeps the
variance of what it reads). bert_base*.onnx: an encoder of BERT's shape as PyTorch exports it, its weights beside it as
external data. The package networks has more, with variants by number ("resnet18@5"), and
the module quantized has models of 8 bits ("resnet50.qdq"). The same seed gives the same files;
files that are up to date are not made again.
"""

import argparse
import fcntl
import os
import pathlib
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import networks
import quantized

VERSION = "1"  # version of the models; a change makes all models again
LIGHT = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19",
         "zfnet512")
BERT = {"bert_base": True, "bert_base_decomposed": False}  # name: LayerNormalization as one node
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build" / "models"
NAMES = tuple("light_" + name for name in LIGHT) + tuple(BERT)

# Trained statistics hold activations in place. Random ones do not, so the growth is compensated: residual branches are added
# at half their size, and the last layer scales down the sums after max pooling, because softmax would otherwise give one class
# everything.
RESIDUAL_GAIN = 0.5
LAST_LAYER_GAIN = {"light_bvlc_alexnet": 0.4, "light_inception_v1": 0.015, "light_inception_v2": 0.25,
                   "light_resnet50": 0.25, "light_shufflenet": 0.004}


def random_of(*names):
    """A generator whose numbers depend only on the names."""
    return np.random.default_rng([zlib.crc32(name.encode()) for name in names])


# -- the nine networks -------------------------------------------------------------------------------------------------

def attribute(node, name, default):
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def roles_of(graph):
    """The role of each value for its consumer: name -> (op, position of the input, node). Views pass on their role."""
    roles = {}
    for node in reversed(graph.node):
        for position, name in enumerate(node.input):
            if node.op_type in ("Unsqueeze", "Reshape") and position == 0:
                if node.output[0] in roles:
                    roles.setdefault(name, roles[node.output[0]])
            else:
                roles.setdefault(name, (node.op_type, position, node))
    return roles


def values(random, role, shape, last_gain, last, residual):
    """Random values that suit a role. `last`: the output of the last layer; `residual`: the names that a Sum adds up."""
    op, position, node = role
    gain = last_gain if node.output[0] == last else 1
    normal = lambda deviation: random.standard_normal(shape, dtype=np.float32) * np.float32(deviation)
    if op == "Conv" and position == 1:
        return normal(np.sqrt(2.0 / np.prod(shape[1:])) * gain)
    if op == "Gemm" and position == 1:
        fan_in = shape[1] if attribute(node, "transB", 0) else shape[0]
        return normal(np.sqrt(2.0 / fan_in) * gain)
    if op in ("Conv", "Gemm"):
        return normal(0.05)
    if op == "BatchNormalization" and position == 4:
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    if op == "BatchNormalization" and position == 1:
        return (RESIDUAL_GAIN if node.output[0] in residual else 1) + normal(0.1)
    if op == "Mul":
        return 1 + normal(0.1)
    if op in ("BatchNormalization", "Add", "Sum"):
        return normal(0.1)
    return None


def make_light(name, path):
    folder = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    model = onnx.load(folder / (name + ".onnx"))
    graph = model.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer if tensor.dims}
    roles = roles_of(graph)
    last = next(node.output[0] for node in reversed(graph.node) if node.op_type in ("Gemm", "Conv"))
    residual = {value for node in graph.node if node.op_type == "Sum" for value in node.input}
    made, kept = {}, []

    def fill(value, shape):
        gain = LAST_LAYER_GAIN.get(name, 1)
        data = values(random_of(name, value), roles[value], shape, gain, last, residual) if value in roles else None
        if data is None:
            return False
        made[value] = numpy_helper.from_array(np.ascontiguousarray(data, dtype=np.float32), value)
        return True

    for node in graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in shapes:
            kept.append(node)
        elif not fill(node.output[0], tuple(int(n) for n in shapes[node.input[0]])):
            # A substitute for a picture or another operand without a rule above: any numbers will do.
            data = random_of(name, node.output[0]).standard_normal(shapes[node.input[0]], dtype=np.float32)
            made[node.output[0]] = numpy_helper.from_array(data, node.output[0])
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            fill(tensor.name, tuple(tensor.dims))
    used = {value for node in kept for value in node.input}
    initializers = [made.get(tensor.name, tensor) for tensor in graph.initializer if tensor.name in used]
    present = {tensor.name for tensor in initializers}
    initializers += [tensor for value, tensor in made.items() if value in used and value not in present]
    inputs = [value for value in graph.input if value.name not in {tensor.name for tensor in graph.initializer}]
    for field, content in (("node", kept), ("initializer", initializers)):
        content = list(content)
        graph.ClearField(field)
        getattr(graph, field).extend(content)
    # ONNX before IR version 4 lists every initializer among the inputs, too.
    content = inputs + [helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
                        for tensor in initializers]
    graph.ClearField("input")
    graph.input.extend(content)
    path.write_bytes(model.SerializeToString())


# -- BERT --------------------------------------------------------------------------------------------------------------

class Encoder:
    """Builds the encoder node by node; weights go to one file of external data, each on a page of its own."""

    LAYERS, HIDDEN, HEADS, INNER, SEQUENCE = 12, 768, 12, 3072, 128

    def __init__(self, data_path, fused_norm):
        self.fused_norm = fused_norm
        self.data_path = data_path
        self.data = None
        self.nodes, self.initializers = [], []
        self.count = 0

    def node(self, op, *inputs, **attributes):
        self.count += 1
        output = f"/encoder/{op}_{self.count}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"/encoder/{op}_{self.count}", **attributes))
        return output

    def constant(self, value, dtype=np.float32):
        """A small constant, as a node: that is how PyTorch writes them."""
        return self.node("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    def weight(self, name, shape, mean=0.0, deviation=0.02):
        random = random_of("bert_base", name)
        data = (random.standard_normal(shape, dtype=np.float32) * np.float32(deviation) + np.float32(mean))
        offset = -self.data.tell() % 4096 + self.data.tell()
        self.data.seek(offset)
        self.data.write(data.astype("<f4").tobytes())
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape,
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.data_path.name), ("offset", offset), ("length", data.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        self.initializers.append(tensor)
        return name

    def linear(self, name, x, width_in, width_out):
        weight = self.weight(f"{name}.weight", (width_in, width_out))
        product = self.node("MatMul", x, weight)
        return self.node("Add", self.weight(f"{name}.bias", (width_out,)), product)

    def norm(self, name, x):
        scale = self.weight(f"{name}.weight", (self.HIDDEN,), 1.0, 0.05)
        bias = self.weight(f"{name}.bias", (self.HIDDEN,))
        if self.fused_norm:
            return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        variance = self.node("ReduceMean", self.node("Pow", centred, self.constant(2.0)), axes=[-1])
        deviation = self.node("Sqrt", self.node("Add", variance, self.constant(1e-12)))
        scaled = self.node("Mul", self.node("Div", centred, deviation), scale)
        return self.node("Add", scaled, bias)

    def heads(self, x, order):
        shape = self.constant([1, self.SEQUENCE, self.HEADS, self.HIDDEN // self.HEADS], np.int64)
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def attention(self, name, x, mask):
        query = self.linear(f"{name}.self.query", x, self.HIDDEN, self.HIDDEN)
        key = self.heads(self.linear(f"{name}.self.key", x, self.HIDDEN, self.HIDDEN), [0, 2, 3, 1])
        value = self.heads(self.linear(f"{name}.self.value", x, self.HIDDEN, self.HIDDEN), [0, 2, 1, 3])
        scores = self.node("MatMul", self.heads(query, [0, 2, 1, 3]), key)
        scores = self.node("Div", scores, self.constant(np.sqrt(self.HIDDEN // self.HEADS)))
        weights = self.node("Softmax", self.node("Add", scores, mask), axis=-1)
        context = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        context = self.node("Reshape", context, self.constant([1, self.SEQUENCE, self.HIDDEN], np.int64))
        projected = self.linear(f"{name}.output.dense", context, self.HIDDEN, self.HIDDEN)
        return self.norm(f"{name}.output.LayerNorm", self.node("Add", projected, x))

    def gelu(self, x):
        erf = self.node("Erf", self.node("Div", x, self.constant(np.sqrt(2.0))))
        return self.node("Mul", self.node("Mul", x, self.node("Add", erf, self.constant(1.0))), self.constant(0.5))

    def mask(self, attention_mask):
        """Maps 1 for a word to 0, and 0 for padding to the lowest number, which softmax turns into 0."""
        axes = [self.constant([axis], np.int64) for axis in (1, 2)]
        mask = self.node("Unsqueeze", self.node("Unsqueeze", attention_mask, axes[0]), axes[1])
        mask = self.node("Cast", mask, to=TensorProto.FLOAT)
        absent = self.node("Sub", self.constant(1.0), mask)
        return self.node("Mul", absent, self.constant(np.finfo(np.float32).min))

    def build(self):
        with open(self.data_path, "wb") as self.data:
            mask = self.mask("attention_mask")
            x = "hidden_states"
            for layer in range(self.LAYERS):
                name = f"encoder.layer.{layer}"
                x = self.attention(f"{name}.attention", x, mask)
                inner = self.gelu(self.linear(f"{name}.intermediate.dense", x, self.HIDDEN, self.INNER))
                output = self.linear(f"{name}.output.dense", inner, self.INNER, self.HIDDEN)
                x = self.norm(f"{name}.output.LayerNorm", self.node("Add", output, x))
        self.nodes[-1].output[0] = "last_hidden_state"
        sizes = [1, self.SEQUENCE, self.HIDDEN]
        graph = helper.make_graph(
            self.nodes, "bert_encoder",
            [helper.make_tensor_value_info("hidden_states", TensorProto.FLOAT, sizes),
             helper.make_tensor_value_info("attention_mask", TensorProto.INT64, sizes[:2])],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, sizes)], self.initializers)
        opset = 17 if self.fused_norm else 13
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)],
                                 producer_name="nd4c-tests")


def make_bert(name, path):
    model = Encoder(path.with_suffix(".onnx.data"), BERT[name]).build()
    path.write_bytes(model.SerializeToString())
    onnx.checker.check_model(str(path))


# -- inputs and files --------------------------------------------------------------------------------------------------

def sample_inputs(name, folder=FOLDER):
    """The input a model is compared on: name -> array. folder: where make() has put it."""
    name = quantized.base_of(name) or name
    if networks.is_name(name):
        return networks.sample_inputs(name, folder / (name + ".onnx"))
    random = random_of(name, "input")
    if name in BERT:
        mask = np.ones((1, Encoder.SEQUENCE), np.int64)
        mask[:, -9:] = 0
        shape = (1, Encoder.SEQUENCE, Encoder.HIDDEN)
        return {"hidden_states": random.standard_normal(shape, dtype=np.float32), "attention_mask": mask}
    data = "gpu_0/data_0" if name.removeprefix("light_") in ("resnet50", "shufflenet", "zfnet512") else "data_0"
    return {data: random.standard_normal((1, 3, 224, 224), dtype=np.float32)}


def make(name, folder):
    """Makes one model unless it exists; returns its path."""
    path, stamp = folder / (name + ".onnx"), folder / (name + ".version")
    version = f"{VERSION} onnx {onnx.__version__}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / (name + ".lock"), "w") as lock:  # several processes of bench/compare may make one
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (path.exists() and stamp.exists() and stamp.read_text() == version):
            stamp.unlink(missing_ok=True)
            base = quantized.base_of(name)
            if base:
                quantized.make(name, make(base, folder), sample_inputs(base, folder), path)
            else:
                maker = networks.make if networks.is_name(name) else make_bert if name in BERT else make_light
                maker(name, path)
            stamp.write_text(version)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="which (default: all): " + ", ".join(NAMES))
    parser.add_argument("--output", type=pathlib.Path, default=FOLDER)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NAMES + quantized.NAMES and not networks.is_name(name)]
    if unknown:
        parser.error(f"unknown model {unknown[0]!r}; known: {', '.join(NAMES + networks.NAMES + quantized.NAMES)}, and variants as resnet18@5")
    for name in options.names or NAMES:
        path = make(name, options.output)
        print(f"{os.path.getsize(path) / 1e6:8.1f} MB  {path}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

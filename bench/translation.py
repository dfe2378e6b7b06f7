"""ONNX models as functions of PyTorch or JAX, which have no reader of ONNX files: bench/peers.py runs them.

OPS has a maker for each op: maker(library, node) reads attributes and constant operands and gives the function of the other
operands, once; the function runs in each call. `library` is torch or jax behind the few names that a maker uses
(translation_torch.py, translation_jax.py). What a table lacks is refused by name: an op, an attribute that no maker has read,
an operand that must be a constant. The translated function is straight code without a loop over nodes, so that eager calls
cost what the library's calls cost, and compilers can trace it."""

import functools
import math
import operator

import numpy as np


class Refused(Exception):
    """Why a model has no translation."""


class Node:
    """One node, as a maker sees it. Operands that it has read as constants are not passed to the function."""

    def __init__(self, proto, opset, constants):
        from onnx import helper

        self.op, self.inputs, self.outputs, self.opset = proto.op_type, list(proto.input), list(proto.output), opset
        self.attributes = {each.name: helper.get_attribute_value(each) for each in proto.attribute}
        self.constants, self.read, self.taken = constants, set(), set()

    def __call__(self, name, default=None):
        """An attribute."""
        self.read.add(name)
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def has(self, index):
        return index < len(self.inputs) and self.inputs[index] != ""

    def constant(self, index):
        """An operand that must be known now; None where the node does not have it."""
        if not self.has(index):
            return None
        if self.inputs[index] not in self.constants:
            raise Refused(f"{self.op}: operand {index} is not a constant")
        self.taken.add(index)
        return self.constants[self.inputs[index]]

    def numbers(self, index):
        value = self.constant(index)
        return None if value is None else [each.item() for each in value.reshape(-1)]

    def need(self, condition, what):
        if not condition:
            raise Refused(f"{self.op}: {what}")

    def axes(self, name="axes", index=1):
        """Axes, which older opsets have as an attribute, newer ones as an operand."""
        given = self(name)
        return list(given) if given is not None else self.numbers(index)


# -- makers -----------------------------------------------------------------------------------------------------------


def plain(name):
    """A function of the library, without attributes."""
    return lambda library, node: getattr(library, name)


def infix(function):
    return lambda library, node: function


def added(library, node):
    return lambda *values: functools.reduce(operator.add, values)


def same(library, node):
    node("ratio"), node("seed")  # of Dropout, which is the identity here
    return lambda x, *_: x


def constant(library, node):
    raise Refused("Constant: a value of another kind than a tensor")  # tensors were read before


def cast(library, node):
    from onnx import helper

    dtype = helper.tensor_dtype_to_np_dtype(node("to"))
    return lambda x: library.cast(x, dtype)


def clip(library, node):
    low, high = (node(name) if node(name) is not None else (node.numbers(i) or [None])[0]
                 for i, name in ((1, "min"), (2, "max")))
    return lambda x, *_: library.clip(x, low, high)


def hard_sigmoid(library, node):
    alpha, beta = node("alpha", 0.2), node("beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-7 and beta == 0.5:
        return library.hard_sigmoid
    return lambda x: library.clip(alpha * x + beta, 0.0, 1.0)


def softmax(name):
    def make(library, node):
        function, axis = getattr(library, name), node("axis", -1 if node.opset >= 13 else 1)
        if node.opset >= 13:
            return lambda x: function(x, axis)
        # Older opsets take all axes from this one on together.
        return lambda x: function(x.reshape(math.prod(x.shape[:axis]), -1), -1).reshape(x.shape)

    return make


def concat(library, node):
    axis = node("axis")
    return lambda *values: library.concat(values, axis)


def flatten(library, node):
    axis = node("axis", 1)
    return lambda x: x.reshape(math.prod(x.shape[:axis]), -1)


def reshape(library, node):
    shape = node.numbers(1)
    node.need(not node("allowzero", 0), "allowzero")
    if 0 in shape:
        return lambda x, _: x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape)])
    return lambda x, _: x.reshape(shape)


def transpose(library, node):
    order = node("perm")
    return lambda x: library.transpose(x, order if order is not None else list(range(len(x.shape)))[::-1])


def squeeze(library, node):
    axes = node.axes()
    node.need(axes is not None, "no axes")
    return lambda x, *_: library.squeeze(x, axes)


def unsqueeze(library, node):
    axes = node.axes()

    def function(x, *_):
        for axis in sorted(each % (len(x.shape) + len(axes)) for each in axes):
            x = library.unsqueeze(x, axis)
        return x

    return function


def expand(library, node):
    given = node.numbers(1)
    return lambda x, _: library.expand(x, np.broadcast_shapes(tuple(x.shape), tuple(given)))


def cut(library, node):
    starts, ends, axes, steps = (node.numbers(i) for i in (1, 2, 3, 4))
    axes, steps = axes or list(range(len(starts))), steps or [1] * len(starts)
    node.need(min(steps) > 0, "a negative step")
    parts = dict(zip(axes, map(slice, starts, ends, steps)))

    def function(x, *_):
        index = [slice(None)] * len(x.shape)
        for axis, part in parts.items():
            index[axis] = part
        return x[tuple(index)]

    return function


def gather(library, node):
    axis = node("axis", 0)
    if node.inputs[1] in node.constants and node.constants[node.inputs[1]].ndim == 0:
        at = int(node.constant(1))
        return lambda x, _: x[(slice(None),) * axis + (at,)]
    return lambda x, indices: library.gather(x, indices, axis)


def reduce_mean(library, node):
    axes, keep = node.axes(), bool(node("keepdims", 1))
    return lambda x, *_: library.mean(x, axes if axes is not None else list(range(len(x.shape))), keep)


def global_average(library, node):
    return lambda x: library.mean(x, list(range(2, len(x.shape))), True)


def layer_norm(library, node):
    axis, epsilon = node("axis", -1), node("epsilon", 1e-5)
    node.need(axis == -1, "another axis than the last")
    return lambda x, scale, shift=None: library.layer_norm(x, scale, shift, epsilon)


def batch_norm(library, node):
    epsilon = node("epsilon", 1e-5)
    node("momentum"), node.need(not node("training_mode", 0), "training")
    return lambda *operands: library.batch_norm(*operands, epsilon)


def response_norm(library, node):
    size, alpha, beta, bias = node("size"), node("alpha", 1e-4), node("beta", 0.75), node("bias", 1.0)
    node.need(size % 2 == 1, "an even size")
    return lambda x: library.response_norm(x, size, alpha, beta, bias)


def gemm(library, node):
    ta, tb = node("transA", 0), node("transB", 0)
    node.need(node("alpha", 1.0) == 1 and node("beta", 1.0) == 1, "factors")
    return lambda a, b, c=None: library.gemm(a, b, c, bool(ta), bool(tb))


def resize(library, node):
    node.need((node("mode"), node("coordinate_transformation_mode"), node("nearest_mode")) ==
              ("nearest", "asymmetric", "floor"), "another rule than nearest, asymmetric, floor")
    scales = node.numbers(2)
    node.need(scales and all(each == int(each) >= 1 for each in scales) and scales[:2] == [1, 1], "such scales")
    return lambda x, *_: library.enlarge(x, [int(each) for each in scales[2:]])


class Window:
    """Steps, padding and size of a convolution or pool, of any number of spatial axes."""

    def __init__(self, node, size):
        size = list(node("kernel_shape", size))
        count = len(size)
        self.size, self.stride = size, list(node("strides", [1] * count))
        self.dilation, pads = list(node("dilations", [1] * count)), list(node("pads", [0] * 2 * count))
        node.need(node("auto_pad", "NOTSET") == "NOTSET", "auto_pad")
        node.need(not node("ceil_mode", 0), "ceil_mode")
        self.begin, self.end = pads[:count], pads[count:]


def conv(library, node):
    weights = node.constants.get(node.inputs[1])
    node.need(weights is not None, "the weights are not a constant")
    window, groups = Window(node, weights.shape[2:]), node("group", 1)
    return lambda x, w, bias=None: library.conv(x, w, bias, window, groups)


def conv_transpose(library, node):
    weights = node.constants.get(node.inputs[1])
    node.need(weights is not None, "the weights are not a constant")
    window = Window(node, weights.shape[2:])
    node.need(node("group", 1) == 1 and node("output_padding") is None and node("output_shape") is None,
              "groups, or padding of the result")
    return lambda x, w, bias=None: library.conv_transpose(x, w, bias, window)


def max_pool(library, node):
    window = Window(node, ())
    node.need(len(node.outputs) == 1, "indices")
    return lambda x: library.max_pool(x, window)


def average_pool(library, node):
    window, count_padding = Window(node, ()), bool(node("count_include_pad", 0))
    return lambda x: library.average_pool(x, window, count_padding)


def lstm(library, node):
    """y, and the last states, which no model here reads."""
    node.need(node("direction", "forward") in ("forward", "bidirectional"), "the direction")
    node.need(not any(map(node.has, (4, 5, 6, 7))), "lengths, first states or peepholes")
    w, r, bias = (node.constant(i) for i in (1, 2, 3))
    hidden, bias = node("hidden_size"), np.zeros((len(w), 8 * w.shape[1] // 4), w.dtype) if bias is None else bias
    function = library.lstm(*(reordered(each, hidden) for each in (w, r)),
                            *(reordered(bias[:, i * 4 * hidden :][:, : 4 * hidden], hidden) for i in (0, 1)))
    return lambda x, *_: (function(x), None, None)


def reordered(x, hidden):
    """ONNX's gates input, output, forget, cell as PyTorch has them: input, forget, cell, output."""
    parts = [x[:, k * hidden : (k + 1) * hidden] for k in range(4)]
    return np.concatenate([parts[k] for k in (0, 2, 3, 1)], 1)


OPS = {
    "Add": infix(operator.add), "Sub": infix(operator.sub), "Mul": infix(operator.mul), "Div": infix(operator.truediv),
    "Pow": infix(operator.pow), "Neg": infix(operator.neg), "Sum": added, "MatMul": infix(operator.matmul), "Gemm": gemm,
    "Sqrt": plain("sqrt"), "Erf": plain("erf"), "Relu": plain("relu"), "Sigmoid": plain("sigmoid"), "Tanh": plain("tanh"),
    "HardSwish": plain("hard_swish"), "HardSigmoid": hard_sigmoid, "Clip": clip, "Cast": cast, "Identity": same,
    "Dropout": same, "Constant": constant, "Softmax": softmax("softmax"), "LogSoftmax": softmax("log_softmax"),
    "Concat": concat, "Flatten": flatten, "Reshape": reshape, "Transpose": transpose, "Squeeze": squeeze,
    "Unsqueeze": unsqueeze, "Expand": expand, "Slice": cut, "Gather": gather, "ReduceMean": reduce_mean,
    "GlobalAveragePool": global_average, "LayerNormalization": layer_norm, "BatchNormalization": batch_norm,
    "LRN": response_norm, "Resize": resize, "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": max_pool,
    "AveragePool": average_pool, "LSTM": lstm,
}


# -- models -----------------------------------------------------------------------------------------------------------


def maker_of(proto):
    if proto.domain not in ("", "ai.onnx") or proto.op_type not in OPS:
        raise Refused(f"{proto.op_type}: not in the table of {__name__}.py")
    return OPS[proto.op_type]


class Translation:
    """`function(constants, *inputs)` gives a tuple of the outputs; `constants`: name -> array of the library; `inputs`,
    `outputs`: the names. Nodes whose operands are all constants are computed now."""

    def __init__(self, path, library):
        import onnx
        from onnx import numpy_helper

        model = onnx.load(path)
        self.library, graph = library, model.graph
        opset = next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))
        self.known = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        self.inputs = [each.name for each in graph.input if each.name not in self.known]
        self.outputs = [each.name for each in graph.output]
        self.names = {name: f"x{i}" for i, name in enumerate(self.inputs)}
        self.constants, self.functions, self.lines = {}, {}, []
        for proto in graph.node:
            self.add(proto, opset)
        outputs = ", ".join(map(self.operand, self.outputs))
        text = "\n    ".join([f"def function({', '.join(['constants', *self.names_of_inputs()])}):", *self.lines,
                              f"return ({outputs},)"])
        exec(text, self.functions)
        self.function = self.functions["function"]

    def names_of_inputs(self):
        return [f"x{i}" for i in range(len(self.inputs))]

    def operand(self, name):
        """A value in the text. Single floats are numbers, as people write them."""
        if name == "":
            return "None"
        if name not in self.known:
            return self.names[name]
        value = self.known[name]
        if value.ndim == 0 and value.dtype == np.float32:
            return repr(float(value))
        self.names.setdefault(name, f"c{len(self.constants)}")
        self.constants.setdefault(self.names[name], self.library.array(value))
        return self.library.constant_text.format(self.names[name])

    def add(self, proto, opset):
        from onnx import numpy_helper

        value = next((each.t for each in proto.attribute if each.name == "value"), None)
        if proto.op_type == "Constant" and value is not None:
            self.known[proto.output[0]] = numpy_helper.to_array(value)
            return
        node = Node(proto, opset, self.known)
        function = maker_of(proto)(self.library, node)
        left = set(node.attributes) - node.read
        node.need(not left, f"attribute {', '.join(sorted(left))}")
        if node.inputs and all(name in self.known for name in node.inputs if name):
            operands = [None if i in node.taken or not name else self.library.array(self.known[name])
                        for i, name in enumerate(node.inputs)]
            self.known[node.outputs[0]] = np.asarray(self.library.numpy(function(*operands)))
            return
        self.functions[f"f{len(self.lines)}"] = function
        operands = ["None" if i in node.taken else self.operand(name) for i, name in enumerate(node.inputs)]
        results = []
        for name in node.outputs:
            self.names[name] = f"v{len(self.names)}"
            results.append(self.names[name])
        if node.op == "LSTM":  # gives its states, too, which the node may leave out
            results += ["_"] * (3 - len(results))
        several = ", ".join(results) if node.op == "LSTM" else results[0]
        self.lines.append(f"{several} = f{len(self.lines)}({', '.join(operands)})")

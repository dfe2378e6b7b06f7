"""Builds ONNX graphs layer by layer, with seeded random weights of the size that trained ones have."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Nodes, weights and ports of one model. Layers take and return names of values."""

    def __init__(self, name, random, opset):
        self.name, self.random, self.opset = name, random, opset
        self.nodes, self.weights, self.inputs, self.outputs, self.ranges = [], [], [], [], {}
        self.domains = [helper.make_opsetid("", opset)]

    # -- values -----------------------------------------------------------------------------------------------------

    def input(self, name, shape, dtype=TensorProto.FLOAT, below=None):
        """below: integers are drawn from 0 to below - 1."""
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        if below is not None:
            self.ranges[name] = below
        return name

    def output(self, value, name):
        self.outputs.append(onnx.ValueInfoProto(name=name))
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def constant(self, data, dtype=np.float32):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(data, dtype, order="C"), name))
        return name

    def integers(self, *numbers):
        return self.constant(numbers, np.int64)

    def normal(self, shape, scale):
        return self.constant(self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale))

    def op(self, kind, *inputs, count=1, **attributes):
        outputs = [f"v{len(self.nodes)}_{k}" for k in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs[0] if count == 1 else outputs

    # -- layers -----------------------------------------------------------------------------------------------------

    def conv(self, x, taken, given, size=3, stride=1, groups=1, gain=1.0, norm=False):
        """A convolution with "same" padding. norm: followed by a BatchNormalization, else with a bias."""
        fan = taken // groups * size * size
        w = self.normal((given, taken // groups, size, size), gain * np.sqrt(2 / fan))
        attributes = {"kernel_shape": [size, size], "strides": [stride] * 2, "pads": [size // 2] * 4, "group": groups}
        if not norm:
            return self.op("Conv", x, w, self.normal((given,), 0.05), **attributes)
        y = self.op("Conv", x, w, **attributes)
        scale = self.constant(self.random.uniform(0.8, 1.2, given))
        variance = self.constant(self.random.uniform(0.8, 1.2, given))
        return self.op("BatchNormalization", y, scale, self.normal((given,), 0.05), self.normal((given,), 0.05), variance)

    def linear(self, x, taken, given, gain=1.0, bias=True):
        """Over the last axis, as PyTorch exports it: MatMul and Add."""
        y = self.op("MatMul", x, self.normal((taken, given), gain / np.sqrt(taken)))
        return self.op("Add", self.normal((given,), 0.02), y) if bias else y

    def classifier(self, x, taken, classes):
        """Global average, flatten, Gemm."""
        flat = self.op("Flatten", self.op("GlobalAveragePool", x), axis=1)
        return self.op("Gemm", flat, self.normal((classes, taken), 1 / np.sqrt(taken)), self.normal((classes,), 0.02), transB=1)

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.constant(np.sqrt(2.0))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.constant(1.0))), self.constant(0.5))

    def layer_norm(self, x, width):
        scale, shift = self.constant(self.random.uniform(0.8, 1.2, width)), self.normal((width,), 0.05)
        if self.opset >= 17:
            return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.constant(2.0)), axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.constant(1e-5)))
        return self.op("Add", self.op("Mul", self.op("Div", centred, deviation), scale), shift)

    def rms_norm(self, x, width):
        """As exported from PyTorch's Llama: x * rsqrt(mean(x^2) + epsilon) * weight."""
        square = self.op("Pow", x, self.constant(2.0))
        mean = (self.op("ReduceMean", square, self.integers(-1)) if self.opset >= 18 else
                self.op("ReduceMean", square, axes=[-1]))
        root = self.op("Sqrt", self.op("Add", mean, self.constant(1e-6)))
        scaled = self.op("Mul", x, self.op("Div", self.constant(1.0), root))
        return self.op("Mul", self.constant(self.random.uniform(0.8, 1.2, width)), scaled)

    def reshape(self, x, *shape):
        return self.op("Reshape", x, self.integers(*shape))

    def transpose(self, x, *axes):
        return self.op("Transpose", x, perm=list(axes))

    def slice(self, x, start, stop, axis):
        return self.op("Slice", x, self.integers(start), self.integers(stop), self.integers(axis))

    # -- the model --------------------------------------------------------------------------------------------------

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, ir_version=8, opset_imports=self.domains, producer_name="nd4c-tests")
        helper.set_model_props(model, {f"below:{name}": str(below) for name, below in self.ranges.items()})
        return model

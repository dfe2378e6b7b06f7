"""Makes tests/data/onnx: small ONNX models, and ONNX Runtime's results for them.

Each case is two files: NAME.onnx, the model, and NAME.data.onnx, a model without nodes whose initializers in.X and out.Y
hold an input and the expected output of each name. tests/io/test_import.c runs all of them.

Needs numpy, onnx and onnxruntime; writes into the folder given, default tests/data/onnx beside this script.
"""
import os
import sys

import numpy as np
import onnx
import onnx.reference
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "data", "onnx")


class Case:
    """One model under construction: nodes are added, each of whose outputs becomes an output of the model."""

    def __init__(self, name, opset, seed=0, ir=8, domains=()):
        self.name, self.opset, self.ir = name, opset, ir
        self.opsets = [helper.make_opsetid(domain, version) for domain, version in [("", opset), *domains]]
        self.random = np.random.default_rng(seed)
        self.nodes, self.inputs, self.initializers, self.outputs, self.values = [], [], [], [], {}

    def input(self, name, array, shape=None):
        array = np.asarray(array)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape if shape is not None else array.shape))
        self.values[name] = array
        return name

    def floats(self, name, *shape, scale=1.0, declared=None):
        return self.input(name, (self.random.standard_normal(shape) * scale).astype(np.float32), declared)

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, name, *shape, scale=1.0):
        return self.constant(name, (self.random.standard_normal(shape) * scale).astype(np.float32))

    def ints(self, name, *values):
        return self.constant(name, np.array(values, np.int64))

    def node(self, op, inputs, output=None, outputs=None, keep=True, **attributes):
        names = outputs or [output or f"{op.lower()}_{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{len(self.nodes)}", **attributes))
        if keep:
            self.outputs += [name for name in names if name]
        return names[0]

    def write(self, expected=None):
        outputs = [onnx.ValueInfoProto(name=name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=self.opsets, ir_version=self.ir)
        if expected is None:
            shaped = onnx.shape_inference.infer_shapes(model)
            session = onnxruntime.InferenceSession(shaped.SerializeToString())
            expected = dict(zip(self.outputs, session.run(self.outputs, self.values)))
        infos = []
        for name in self.outputs:
            kind = helper.np_dtype_to_tensor_dtype(expected[name].dtype)
            infos.append(helper.make_tensor_value_info(name, kind, None))
        del model.graph.output[:]
        model.graph.output.extend(infos)
        onnx.save(model, os.path.join(FOLDER, self.name + ".onnx"))
        self.write_data(expected)

    def write_data(self, expected):
        arrays = {"in." + name: array for name, array in self.values.items()}
        arrays.update({"out." + name: array for name, array in expected.items()})
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                 for name, array in arrays.items()]
        tensors = [numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
                   for name, array in arrays.items()]
        graph = helper.make_graph([], self.name + ".data", [], infos, tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=self.ir)
        onnx.save(model, os.path.join(FOLDER, self.name + ".data.onnx"))


def elementwise(opset):
    case = Case(f"elementwise_{opset}", opset)
    x, y = case.floats("x", 2, 1, 4), case.floats("y", 3, 1)
    positive = case.node("Abs", [x])
    for op in ["Neg", "Exp", "Tanh", "Sigmoid", "Relu", "Floor", "Ceil", "Sin", "Cos", "Identity", "Reciprocal"]:
        case.node(op, [x])
    for op in ["Log", "Sqrt"]:
        case.node(op, [positive])
    for op in ["Sign", "Erf", "IsNaN"]:
        if opset >= 9:
            case.node(op, [x])
    for op in ["Add", "Sub", "Mul", "Div"]:
        case.node(op, [x, y])
    case.node("Pow", [positive, y])
    less = case.node("Less", [x, y])
    greater = case.node("Greater", [x, y])
    for op in ["And", "Or", "Xor"]:
        case.node(op, [less, greater])
    case.node("Not", [less])
    for op in ["Sum", "Max", "Min", "Mean"]:
        case.node(op, [x, y, x] if opset >= 8 else [x, positive])
    if opset >= 9:
        case.node("Where", [less, x, y])
    whole = case.input("whole", np.array([7, -7, 5, 0], np.int32))
    divisor = case.constant("divisor", np.array([2, 2, -3, 4], np.int32))
    case.node("Div", [whole, divisor])
    case.node("Equal", [whole, divisor])
    for to in [TensorProto.INT64, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BOOL]:
        case.node("Cast", [x], to=to)
    if opset >= 12:
        case.node("GreaterOrEqual", [x, y])
        case.node("LessOrEqual", [x, y])
        case.node("Pow", [whole, case.constant("two", np.array(2.0, np.float32))])
        case.node("Round", [x])
    case.write()


def legacy():
    """Before opset 7, `broadcast` and `axis` say how the second operand is spread. ONNX Runtime lacks this: NumPy."""
    case = Case("legacy_6", 6)
    x = case.floats("x", 2, 3, 4)
    middle, last, first = (case.random.standard_normal(n).astype(np.float32) for n in ((3,), (4,), (2, 3)))
    case.node("Add", [x, case.constant("middle", middle)], "add", broadcast=1, axis=1)
    case.node("Mul", [x, case.constant("last", last)], "mul", broadcast=1)
    case.node("Sub", [x, case.constant("first", first)], "sub", broadcast=1, axis=0)
    case.node("Div", [x, x], "div")
    case.node("Clip", [x], "both", min=-0.5, max=0.5)
    case.node("Clip", [x], "upper", max=0.25)
    v = case.values["x"]
    case.write({"add": v + middle[:, None], "mul": v * last, "sub": v - first[:, :, None], "div": v / v,
                "both": np.clip(v, -0.5, 0.5), "upper": np.minimum(v, np.float32(0.25))})


def activations(opset):
    case = Case(f"activation_{opset}", opset)
    x = case.floats("x", 2, 3, 4, scale=3)
    case.node("LeakyRelu", [x], alpha=0.1)
    case.node("PRelu", [x, case.weights("slope", 3, 1)])
    case.node("Elu", [x], alpha=0.7)
    case.node("Selu", [x])
    case.node("HardSigmoid", [x], alpha=0.3, beta=0.4)
    case.node("Softplus", [x])
    case.node("Softsign", [x])
    case.node("ThresholdedRelu", [x], alpha=0.5)
    for op in ["LeakyRelu", "Elu", "HardSigmoid", "ThresholdedRelu"]:
        case.node(op, [x])  # the attributes' defaults
    for op in ["Softmax", "LogSoftmax"]:
        case.node(op, [x])
        case.node(op, [x], axis=1)
        case.node(op, [x], axis=2)
    if opset >= 11:
        low, high = case.constant("low", np.float32(-1)), case.constant("high", np.float32(1))
        case.node("Clip", [x, low, high])
        case.node("Clip", [x, "", high])
        case.node("Clip", [x])
    if opset >= 14:
        case.node("HardSwish", [x])
        case.node("Celu", [x], alpha=0.5)
    if opset >= 20:
        case.node("Gelu", [x])
        case.node("Gelu", [x], approximate="tanh")
        case.node("Mish", [x])
    case.write()


def reductions(opset):
    case = Case(f"reduction_{opset}", opset)
    x = case.floats("x", 2, 3, 4)
    positive = case.node("Abs", [x], keep=False)
    for op in ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
               "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum"]:
        source = positive if op == "ReduceLogSum" else x
        as_input = opset >= (13 if op == "ReduceSum" else 18)
        axes = case.ints(f"axes_{op}", 0, -1) if as_input else None
        case.node(op, [source, axes] if as_input else [source], **({} if as_input else {"axes": [0, 2]}))
        case.node(op, [source], keepdims=0)
        if as_input:
            case.node(op, [source], noop_with_empty_axes=1) if op in ("ReduceSum", "ReduceMean") else None
    whole = case.input("whole", np.array([[3, 1, 3], [2, 2, -5]], np.int32))
    case.node("ReduceSum", [whole])
    for op in ["ArgMax", "ArgMin"]:
        case.node(op, [whole], axis=1)
        case.node(op, [x], axis=-1 if opset >= 11 else 2, keepdims=0)
        if opset >= 12:
            case.node(op, [whole], axis=1, select_last_index=1)
    case.write()


def shapes(opset):
    case = Case(f"shape_{opset}", opset)
    x = case.floats("x", 2, 3, 4)
    late = opset >= 13
    case.node("Reshape", [x, case.ints("to", 0, -1)])
    case.node("Flatten", [x], axis=2)
    case.node("Transpose", [x])
    case.node("Transpose", [x], perm=[1, 2, 0])
    wide = case.node("Unsqueeze", [x, case.ints("at", 0, 4)] if late else [x], **({} if late else {"axes": [0, 4]}))
    case.node("Squeeze", [wide, case.ints("gone", 0)] if late else [wide], **({} if late else {"axes": [0]}))
    case.node("Squeeze", [wide])
    case.node("Expand", [case.weights("row", 3, 1), case.ints("wanted", 2, 1, 4)])
    case.node("Expand", [x, case.ints("small", 1, 1)])
    case.node("Tile", [x, case.ints("repeats", 1, 2, 3)])
    case.node("Concat", [x, x, case.weights("block", 2, 1, 4)], axis=1)
    outputs = [f"split_{i}" for i in range(2)]
    case.node("Split", [x, case.ints("lengths", 1, 3)] if late else [x], outputs=outputs, axis=2,
              **({} if late else {"split": [1, 3]}))
    case.node("Split", [x], outputs=["half_0", "half_1"], axis=0, **({"num_outputs": 2} if opset >= 18 else {}))
    if opset >= 10:
        bounds = [case.ints("starts", 2, -1), case.ints("ends", -100, 100), case.ints("on", 1, 2), case.ints("by", -2, 1)]
        case.node("Slice", [x] + bounds)
        case.node("Slice", [x, case.ints("s", 1), case.ints("e", 2)])
    else:
        case.node("Slice", [x], starts=[1, -2], ends=[3, 100], axes=[1, 2])
        case.node("Slice", [x], starts=[1], ends=[2])
    case.node("Gather", [x, case.constant("picked", np.array([[2, 0], [1, 1]], np.int32))], axis=1)
    case.node("Gather", [x, case.constant("one", np.array(1 if opset < 11 else -1, np.int64))], axis=2)
    case.node("Shape", [x])
    case.node("Size", [x])
    case.node("ConstantOfShape", [case.ints("filled", 2, 2)], value=helper.make_tensor("v", TensorProto.INT64, [1], [7]))
    case.node("Constant", [], value=helper.make_tensor("v", TensorProto.FLOAT, [2], [1.5, -2]))
    images = case.floats("images", 1, 8, 4, 2)
    case.node("DepthToSpace", [images], blocksize=2)
    case.node("SpaceToDepth", [images], blocksize=2)
    if opset >= 11:
        case.node("DepthToSpace", [images], blocksize=2, mode="CRD")
        case.node("Pad", [x, case.ints("pads", 1, 0, -1, 0, 2, 1), case.constant("fill", np.float32(9))])
        steps = [case.constant(name, np.int64(value)) for name, value in (("from", 1), ("until", 9), ("every", 3))]
        case.node("Range", steps)
    else:
        case.node("Pad", [x], pads=[1, 0, 0, 0, 2, 1], value=9.0)
    case.node("EyeLike", [case.node("Flatten", [x], keep=False)], k=1)
    case.write()


def networks(opset):
    case = Case(f"nn_{opset}", opset)
    x = case.floats("x", 2, 4, 7, 6, declared=["batch", 4, None, 6])
    case.node("Conv", [x, case.weights("w", 6, 4, 3, 3), case.weights("b", 6)], kernel_shape=[3, 3], pads=[1, 0, 1, 2],
              strides=[2, 1])
    case.node("Conv", [x, case.weights("grouped", 4, 2, 2, 2)], group=2, dilations=[2, 1])
    case.node("Conv", [x, case.weights("deep", 4, 1, 3, 3)], group=4, auto_pad="SAME_UPPER", strides=[2, 2])
    line = case.floats("line", 1, 2, 9)
    case.node("Conv", [line, case.weights("w1", 3, 2, 3)], auto_pad="SAME_LOWER", kernel_shape=[3])
    case.node("MaxPool", [x], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
    case.node("AveragePool", [x], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
    case.node("AveragePool", [x], kernel_shape=[3, 3], auto_pad="SAME_UPPER", count_include_pad=1)
    if opset >= 10:
        case.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, dilations=[2, 1])
    case.node("GlobalAveragePool", [x])
    case.node("GlobalMaxPool", [x])
    statistics = [case.weights("scale", 4), case.weights("bias", 4), case.weights("mean", 4),
                  case.constant("variance", np.abs(case.random.standard_normal(4)).astype(np.float32))]
    case.node("BatchNormalization", [x] + statistics, epsilon=1e-3)
    case.node("InstanceNormalization", [x] + statistics[:2])
    case.node("LRN", [x], size=3, alpha=0.01, beta=0.6, bias=1.5)
    case.node("LRN", [x], size=3)
    case.node("BatchNormalization", [x] + statistics)
    case.node("Dropout", [x])
    if opset >= 17:
        case.node("LayerNormalization", [x, case.weights("ls", 6), case.weights("lb", 6)], axis=-1)
        case.node("LayerNormalization", [x, case.weights("ls2", 4, 7, 6)], axis=1, epsilon=1e-2)
    a, b = case.floats("a", 3, 5), case.weights("wb", 5, 4)
    case.node("MatMul", [a, b])
    case.node("Gemm", [a, b, case.weights("c", 4)])
    case.node("Gemm", [a, case.weights("bt", 4, 5), case.weights("column", 3, 1)], transB=1, alpha=0.5, beta=2.0)
    case.node("Gemm", [case.weights("at", 5, 3), b, case.weights("whole_c", 3, 4)], transA=1)
    case.write()


def encoder():
    """One layer of a BERT encoder as PyTorch exports it, with its arithmetic on shapes."""
    case = Case("encoder_14", 14)
    heads, width, size = 2, 8, 4
    ids = case.input("input_ids", np.array([[1, 4, 2], [3, 0, 0]], np.int64), ["batch", "sequence"])
    mask = case.input("attention_mask", np.array([[1, 1, 1], [1, 1, 0]], np.int64), ["batch", "sequence"])
    zero, one = case.constant("zero", np.int64(0)), case.constant("one", np.int64(1))
    keep = {"keep": False}
    shape = case.node("Shape", [ids], **keep)
    batch = case.node("Gather", [shape, zero], axis=0, **keep)
    length = case.node("Gather", [shape, one], axis=0, **keep)
    at0 = case.ints("at0", 0)
    batch1 = case.node("Unsqueeze", [batch, at0], **keep)
    length1 = case.node("Unsqueeze", [length, at0], **keep)
    positions = case.node("Slice", [case.constant("positions", np.arange(6, dtype=np.int64)[None]), case.ints("s", 0),
                                    length1, case.ints("axis1", 1)], **keep)
    words = case.node("Gather", [case.weights("words", 5, width), ids], **keep)
    x = case.node("Add", [words, case.node("Gather", [case.weights("places", 6, width), positions], **keep)], **keep)

    def norm(value, number):
        mean = case.node("ReduceMean", [value], axes=[-1], **keep)
        centred = case.node("Sub", [value, mean], **keep)
        squared = case.node("Pow", [centred, case.constant(f"two{number}", np.float32(2))], **keep)
        variance = case.node("ReduceMean", [squared], axes=[-1], **keep)
        below = case.node("Sqrt", [case.node("Add", [variance, case.constant(f"eps{number}", np.float32(1e-5))], **keep)],
                          **keep)
        scaled = case.node("Mul", [case.node("Div", [centred, below], **keep), case.weights(f"g{number}", width)], **keep)
        return case.node("Add", [scaled, case.weights(f"h{number}", width)], output=f"norm{number}")

    def dense(value, name, n, m):
        product = case.node("MatMul", [value, case.weights("w" + name, n, m, scale=0.5)], **keep)
        return case.node("Add", [case.weights("b" + name, m), product], **keep)

    x = norm(x, 0)
    split = case.node("Concat", [batch1, length1, case.ints("heads", heads), case.ints("size", size)], axis=0, **keep)
    parts = {}
    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        part = case.node("Reshape", [dense(x, name, width, width), split], **keep)
        parts[name] = case.node("Transpose", [part], perm=order, **keep)
    bias = case.node("Unsqueeze", [mask, case.ints("ax12", 1, 2)], **keep)
    bias = case.node("Cast", [bias], to=TensorProto.FLOAT, **keep)
    bias = case.node("Sub", [case.constant("onef", np.float32(1)), bias], **keep)
    bias = case.node("Mul", [bias, case.constant("low", np.float32(-3.4028235e38))], **keep)
    scores = case.node("MatMul", [parts["q"], parts["k"]], **keep)
    scores = case.node("Div", [scores, case.constant("root", np.float32(2))], **keep)
    weights = case.node("Softmax", [case.node("Add", [scores, bias], **keep)], axis=-1, output="attention")
    joined = case.node("Transpose", [case.node("MatMul", [weights, parts["v"]], **keep)], perm=[0, 2, 1, 3], **keep)
    merge = case.node("Concat", [batch1, length1, case.ints("width", width)], axis=0, **keep)
    joined = case.node("Reshape", [joined, merge], **keep)
    x = norm(case.node("Add", [dense(joined, "o", width, width), x], **keep), 1)
    inner = dense(x, "i", width, 12)
    erf = case.node("Erf", [case.node("Div", [inner, case.constant("sqrt2", np.float32(2 ** 0.5))], **keep)], **keep)
    gelu = case.node("Mul", [inner, case.node("Add", [erf, case.constant("plus", np.float32(1))], **keep)], **keep)
    gelu = case.node("Mul", [gelu, case.constant("half", np.float32(0.5))], **keep)
    x = norm(case.node("Add", [dense(gelu, "f", 12, width), x], **keep), 2)
    first = case.node("Gather", [x, zero], axis=1, **keep)
    pooled = case.node("Gemm", [first, case.weights("wp", width, width), case.weights("bp", width)], transB=1, **keep)
    case.node("Tanh", [pooled], output="pooled")
    case.write()


def forest(case, trees, votes, weight):
    """Attributes of three-class trees of seven nodes. votes(tree): the classes that a leaf votes for."""
    made = {name: [] for name in ("nodes_treeids nodes_nodeids nodes_featureids nodes_modes nodes_values nodes_truenodeids "
                                  "nodes_falsenodeids class_treeids class_nodeids class_ids class_weights").split()}
    for tree in range(trees):
        for node in range(7):
            leaf = node >= 3
            row = (tree, node, int(case.random.integers(4)), "LEAF" if leaf else "BRANCH_LEQ",
                   float(np.float32(case.random.standard_normal() / 2)), 0 if leaf else 2 * node + 1,
                   0 if leaf else 2 * node + 2)
            for name, value in zip(made, row):
                made[name].append(value)
            for vote in votes(tree) if leaf else ():
                for name, value in zip(list(made)[7:], (tree, node, vote, float(np.float32(weight())))):
                    made[name].append(value)
    return made


def learning():
    """Trees of three classes by each transform (weights of both signs, sums so large that a float32 softmax or logistic
    is the same for two classes), and CategoryMapper."""
    case = Case("learning_3", 15, domains=[("ai.onnx.ml", 3)])
    x = case.floats("x", 40, 4)
    own = {"domain": "ai.onnx.ml"}
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        for name, votes, scale in (("all", lambda tree: range(3), 1), ("one", lambda tree: [tree % 3], 1),
                                   ("far", lambda tree: range(3), 60)):
            attributes = forest(case, 6, votes, lambda: case.random.standard_normal() * scale)
            case.node("TreeEnsembleClassifier", [x], outputs=[f"label_{name}_{post}", f"score_{name}_{post}"],
                      classlabels_int64s=[7, 8, 9], post_transform=post, **attributes, **own)
    whole = case.input("whole", np.array([[3, 9, -1], [4, 3, 5]], np.int64))
    mapped = {"cats_int64s": [5, 3, 4], "cats_strings": ["five", "three", "four"], **own}
    words = case.node("CategoryMapper", [whole], keep=False, default_string="many", **mapped)
    case.node("CategoryMapper", [words], default_int64=-7, **mapped)
    case.write()


def unvoted():
    """A class that no reached leaf votes for has the sum 0, and is the best if the others are below it. ONNX's reference
    evaluator follows this; ONNX Runtime ignores such a class for the label, but not in the scores."""
    case = Case("learning_unvoted_3", 15, domains=[("ai.onnx.ml", 3)])
    x = case.floats("x", 40, 4)
    expected = {}
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        attributes = forest(case, 2, lambda tree: case.random.permutation(3)[:1].tolist(), lambda: -case.random.random())
        names = [f"label_{post}", f"score_{post}"]
        case.node("TreeEnsembleClassifier", [x], outputs=names, classlabels_int64s=[7, 8, 9], post_transform=post,
                  domain="ai.onnx.ml", **attributes)
        graph = helper.make_graph(case.nodes[-1:], "g", case.inputs, [onnx.ValueInfoProto(name=name) for name in names])
        model = helper.make_model(graph, opset_imports=case.opsets, ir_version=case.ir)
        expected.update(zip(names, onnx.reference.ReferenceEvaluator(model).run(None, case.values)))
    case.write(expected)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for opset in (7, 9, 13, 21):
        elementwise(opset)
    legacy()
    for opset in (10, 13, 20):
        activations(opset)
    for opset in (9, 13, 18):
        reductions(opset)
    for opset in (9, 11, 13, 18):
        shapes(opset)
    for opset in (9, 12, 17, 21):
        networks(opset)
    encoder()
    learning()
    unvoted()


main()

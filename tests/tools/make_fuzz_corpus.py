"""Makes tests/fuzz/corpus: small well-formed files from which the fuzzer starts.

Needs numpy, ml_dtypes and onnx; writes into the folder given, default tests/fuzz/corpus beside this script.
"""
import hashlib
import os
import struct
import sys

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "fuzz", "corpus")


def path(kind, name):
    os.makedirs(os.path.join(FOLDER, kind), exist_ok=True)
    return os.path.join(FOLDER, kind, name)


def write(kind, name, data):
    with open(path(kind, name), "wb") as file:
        file.write(data)


def npy():
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(path("npy", "float32.npy"), grid)
    np.save(path("npy", "fortran.npy"), np.asfortranarray(grid.astype(np.int32)))
    np.save(path("npy", "scalar.npy"), np.float64(2.5))
    np.save(path("npy", "bools.npy"), np.array([True, False]))
    np.save(path("npy", "text.npy"), np.array([["a", "\u00e4\u20ac"], ["", "\U0001f600"]]))
    np.save(path("npy", "complex.npy"), np.array([1 + 2j], np.complex64))
    np.save(path("npy", "bfloat16.npy"), np.array([1.5, -2], ml_dtypes.bfloat16))
    np.save(path("npy", "empty.npy"), np.zeros((0, 3), np.uint8))
    with open(path("npy", "version2.npy"), "wb") as file:
        np.lib.format.write_array(file, grid, version=(2, 0))


def tensor():
    write("tensor", "raw.pb", numpy_helper.from_array(np.arange(4, dtype=np.float32).reshape(2, 2), "x").SerializeToString())
    typed = [("float", TensorProto.FLOAT, [1.5, 2]), ("int8", TensorProto.INT8, [-1, 7]), ("int64", TensorProto.INT64, [-1, 1 << 40]),
             ("half", TensorProto.FLOAT16, [1, 2]), ("bfloat16", TensorProto.BFLOAT16, [1, 2]), ("double", TensorProto.DOUBLE, [1, 2]),
             ("uint64", TensorProto.UINT64, [1, 1 << 63]), ("bool", TensorProto.BOOL, [0, 1]), ("string", TensorProto.STRING, [b"a", b"bc"]),
             ("complex", TensorProto.COMPLEX64, [1 + 1j, 2])]
    for name, kind, values in typed:
        write("tensor", name + ".pb", helper.make_tensor(name, kind, [2], values).SerializeToString())
    outside = TensorProto(name="e", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "../w.bin"), ("offset", "8"), ("length", "8")):
        outside.external_data.add(key=key, value=value)
    write("tensor", "external.pb", outside.SerializeToString())


def model(name, nodes, inputs, outputs, constants=(), opset=13):
    infos = [helper.make_tensor_value_info(n, k, s) for n, k, s in inputs]
    results = [helper.make_tensor_value_info(n, k, None) for n, k in outputs]
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in constants]
    graph = helper.make_graph(nodes, "g", infos, results, tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    made.producer_name = ""
    write("onnx", name + ".onnx", made.SerializeToString())


def onnx_models():
    node, f32, i64 = helper.make_node, TensorProto.FLOAT, TensorProto.INT64
    weights = np.ones((2, 1, 2, 2), np.float32)
    model("conv", [node("Conv", ["x", "w"], ["c"], pads=[1, 1, 0, 0]), node("Relu", ["c"], ["r"]),
                   node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2], strides=[2, 2])],
          [("x", f32, ["n", 1, 4, 4])], [("y", f32)], [("w", weights)])
    model("gemm", [node("Gemm", ["x", "w", "b"], ["g"], transB=1, alpha=0.5), node("Softmax", ["g"], ["y"], axis=1)],
          [("x", f32, [2, 3])], [("y", f32)], [("w", np.ones((2, 3), np.float32)), ("b", np.ones(2, np.float32))], 11)
    model("shapes", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["d"]), node("Unsqueeze", ["d", "z"], ["u"]),
                     node("Concat", ["u", "m"], ["t"], axis=0), node("Reshape", ["x", "t"], ["r"]),
                     node("Slice", ["r", "z", "u"], ["y"])],
          [("x", f32, ["n", 3])], [("y", f32)],
          [("i", np.int64(0)), ("z", np.array([0])), ("m", np.array([-1]))])
    model("filled", [node("ConstantOfShape", ["s"], ["c"], value=helper.make_tensor("v", f32, [1], [2])),
                     node("Add", ["c", "x"], ["a"]), node("ReduceSum", ["a", "x1"], ["y"], keepdims=0)],
          [("x", f32, [3])], [("y", f32)], [("s", np.array([2, 3])), ("x1", np.array([1]))])
    model("norms", [node("BatchNormalization", ["x", "w", "w", "w", "w"], ["b"], epsilon=0.1), node("LRN", ["b"], ["l"], size=3),
                    node("GlobalAveragePool", ["l"], ["p"]), node("Dropout", ["p"], ["y", "mask"])],
          [("x", f32, [1, 2, 2, 2])], [("y", f32)], [("w", np.ones(2, np.float32))], 9)
    model("constants", [node("Constant", [], ["a"], value_ints=[1, 2]), node("Constant", [], ["b"], value_float=2.0),
                        node("Cast", ["a"], ["c"], to=f32), node("Mul", ["c", "b"], ["d"]), node("Expand", ["d", "a"], ["y"])],
          [], [("y", f32)])
    model("parts", [node("Split", ["x", "l"], ["a", "b"], axis=1), node("Tile", ["a", "l"], ["t"]),
                    node("Pad", ["t", "p"], ["q"], mode="constant"), node("Transpose", ["q"], ["y"], perm=[1, 0])],
          [("x", f32, [2, 3])], [("y", f32), ("b", f32)], [("l", np.array([1, 2])), ("p", np.array([1, 0, 0, 1]))])
    model("lookup", [node("Gather", ["w", "x"], ["g"]), node("ReduceMean", ["g"], ["m"], axes=[-1]), node("Sub", ["g", "m"], ["y"]),
                     node("ArgMax", ["y"], ["k"], axis=1)],
          [("x", i64, [2])], [("y", f32), ("k", i64)], [("w", np.ones((3, 2), np.float32))])


def datum():
    pair = [np.arange(2, dtype=np.float32), np.ones((2, 2), np.float32)]
    write("datum", "sequence.pb", numpy_helper.from_list(pair, "s").SerializeToString())
    write("datum", "optional.pb", numpy_helper.from_optional(pair, "o").SerializeToString())
    write("datum", "one.pb", numpy_helper.from_optional(pair[0], "o").SerializeToString())
    write("datum", "empty.pb", numpy_helper.from_optional(None, "o").SerializeToString())
    write("datum", "nested.pb", numpy_helper.from_list([pair, pair], "s").SerializeToString())


def inner(name, nodes, inputs, outputs):
    infos = [helper.make_tensor_value_info(n, k, s) for n, k, s in inputs]
    return helper.make_graph(nodes, name, infos, [helper.make_tensor_value_info(n, k, None) for n, k in outputs])


def graphs_inside():
    """If, Loop, Scan, functions, sequences and optionals."""
    node, f32, i64, boolean = helper.make_node, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    yes = inner("yes", [node("Add", ["x", "x"], ["a"])], [], [("a", f32)])
    no = inner("no", [node("Neg", ["x"], ["b"])], [], [("b", f32)])
    model("if", [node("If", ["c"], ["y"], then_branch=yes, else_branch=no)], [("x", f32, [2]), ("c", boolean, [])], [("y", f32)])
    body = inner("body", [node("Add", ["v", "x"], ["w"]), node("Identity", ["go"], ["on"]), node("Identity", ["w"], ["s"])],
                 [("i", i64, []), ("go", boolean, []), ("v", f32, [2])], [("on", boolean), ("w", f32), ("s", f32)])
    model("loop", [node("Loop", ["m", "", "x"], ["l", "y"], body=body)], [("x", f32, [2])], [("l", f32), ("y", f32)],
          [("m", np.int64(3))])
    step = inner("step", [node("Add", ["v", "e"], ["w"]), node("Identity", ["w"], ["s"])],
                 [("v", f32, [2]), ("e", f32, [2])], [("w", f32), ("s", f32)])
    model("scan", [node("Scan", ["z", "x"], ["l", "y"], body=step, num_scan_inputs=1, scan_input_directions=[1])],
          [("x", f32, [3, 2])], [("l", f32), ("y", f32)], [("z", np.zeros(2, np.float32))])
    model("sequences", [node("SplitToSequence", ["x"], ["s"], axis=0), node("SequenceAt", ["s", "p"], ["a"]),
                        node("SequenceErase", ["s", "p"], ["t"]), node("ConcatFromSequence", ["t"], ["y"], axis=0),
                        node("Optional", ["a"], ["o"]), node("OptionalGetElement", ["o"], ["b"])],
          [("x", f32, [3, 2])], [("y", f32), ("b", f32)], [("p", np.int64(-1))], 15)
    sequence = helper.make_tensor_sequence_value_info
    graph = helper.make_graph([node("SequenceInsert", ["s", "x"], ["t"])], "g",
                              [sequence("s", f32, None), helper.make_tensor_value_info("x", f32, [2])], [sequence("t", f32, None)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    write("onnx", "sequence_input.onnx", made.SerializeToString())
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("mine", 1)]
    leaky = node("LeakyRelu", ["p"], ["q"])
    leaky.attribute.add(name="alpha", ref_attr_name="a", type=1)
    function = helper.make_function("mine", "F", ["p"], ["q"], [leaky], opsets, ["a"])
    graph = helper.make_graph([node("F", ["x"], ["y"], domain="mine", a=0.5)], "g",
                              [helper.make_tensor_value_info("x", f32, [2])], [helper.make_tensor_value_info("y", f32, [2])])
    made = helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=8)
    write("onnx", "function.onnx", made.SerializeToString())


def executables():
    def padded(data):
        return data + bytes(-len(data) % 16)

    def entry(identity, engine, fingerprint, code):
        head = hashlib.sha256(identity).digest() + struct.pack("<IIQ", len(engine) + 1, len(fingerprint) + 1, len(code))
        return padded(head + engine + b"\0" + fingerprint + b"\0") + padded(code)

    def file(*entries):
        body = b"".join(entries)
        head = b"nd4cexe\0" + struct.pack("<IIQ", 1, len(entries), 64 + len(body)) + hashlib.sha256(body).digest()
        return head + bytes(8) + body

    one = entry(b"a", b"chain_sums", b"chains 1", bytes(range(40)))
    write("executables", "one.nd4cexe", file(one))
    write("executables", "two.nd4cexe", file(one, entry(b"b", b"x", b"y", b"")))
    write("executables", "none.nd4cexe", file())


npy()
tensor()
onnx_models()
datum()
graphs_inside()
executables()

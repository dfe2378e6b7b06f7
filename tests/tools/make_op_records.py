#!/usr/bin/env python3
"""Writes tests/data/ops/numpy.txt: shapes and dtypes of results by NumPy (for conv and pools, by ONNX Runtime).

    python3 tests/tools/make_op_records.py > tests/data/ops/numpy.txt

Needs numpy, onnx and onnxruntime. A line is a call, "->" and its result; the reader in tests/ops/record.h documents the
form. "-> error" stands for a call that is refused.
"""
import random

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

SEED = 20
NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
           "complex64", "complex128"]
FLOATING = ["float16", "float32", "float64", "complex64", "complex128"]
REAL = [name for name in NUMBERS if not name.startswith("complex")]
pick = random.Random(SEED)


def listed(values):
    return ",".join(str(value) for value in values)


def operand(array, strides=False):
    text = f"{array.dtype.name}({listed(array.shape)})"
    if strides:
        text += f"[{listed(stride // array.itemsize for stride in array.strides)}]"
    return text


def emit(op, inputs, attrs, compute, strides=False, view_of=None):
    call = " ".join([op] + [operand(array, strides) for array in inputs] + [f"{k}={v}" for k, v in attrs.items()])
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(compute())
    except (ValueError, IndexError, TypeError):
        print(f"{call} -> error")
        return
    text = operand(result)
    if view_of is not None and result.size > 0:
        text += view_text(result, view_of)
    print(f"{call} -> {text}")


def view_text(result, base):
    if not np.shares_memory(result, base):
        return " copy"
    offset = result.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    strides = listed(stride // result.itemsize for stride in result.strides)
    return f" view {strides}@{offset // result.itemsize}"


def zeros(shape, dtype="float32"):
    return np.zeros(shape, dtype)


def extents(rank, low=0, high=4):
    return tuple(pick.randint(low, high) for _ in range(rank))


def strided(rank):
    """An array of random memory order, some axes reversed, thinned, repeated or of length 1."""
    if rank == 0:
        return zeros(())
    shape = extents(rank, 1, 4)
    order = pick.sample(range(rank), rank)
    array = zeros([2 * shape[axis] for axis in order]).transpose(np.argsort(order))
    index = tuple(pick.choice([slice(0, n), slice(None, None, 2), slice(None, None, -2), slice(n - 1, None, -1)])
                  for n in shape)
    array = array[index]
    if pick.random() < 0.2:
        axis = pick.randrange(rank)
        array = np.broadcast_to(array.take([0], axis), array.shape)
    return array


def partner(shape):
    """A shape that mostly broadcasts with the given one."""
    other = [1 if pick.random() < 0.3 else n for n in shape[pick.randint(0, len(shape)):]]
    if other and pick.random() < 0.15:
        other[pick.randrange(len(other))] = 7
    return tuple(other)


def elementwise_records():
    for a in NUMBERS:
        for b in NUMBERS:
            emit("add", [zeros((2,), a), zeros((1,), b)], {}, lambda: zeros((2,), a) + zeros((1,), b))
    for a in REAL:
        b = pick.choice(REAL)
        emit("less", [zeros((2,), a), zeros((), b)], {}, lambda: zeros((2,), a) < zeros((), b))
        emit("abs", [zeros((2,), a)], {}, lambda: np.abs(zeros((2,), a)))
    for _ in range(60):
        shape = extents(pick.randint(0, 5))
        pair = [zeros(shape), zeros(partner(shape))]
        pick.shuffle(pair)
        emit("multiply", pair, {}, lambda: pair[0] * pair[1])
    for _ in range(20):
        shape = extents(pick.randint(0, 3), 1, 4)
        three = [zeros(partner(shape), "bool"), zeros(shape, pick.choice(REAL)),
                 zeros(partner(shape), pick.choice(REAL))]
        emit("where", three, {}, lambda: np.where(*three))


def axis_list(rank):
    count = pick.randint(1, max(rank, 1))
    axes = [pick.randint(-rank, max(rank - 1, 0)) for _ in range(count)]
    return axes + [rank] if pick.random() < 0.1 else axes


def reduction_records():
    for dtype in ["bool"] + NUMBERS:
        emit("sum", [zeros((2, 3), dtype)], {}, lambda: np.sum(zeros((2, 3), dtype)))
        emit("prod", [zeros((2, 3), dtype)], {"axes": 1}, lambda: np.prod(zeros((2, 3), dtype), axis=1))
    for dtype in FLOATING:
        emit("mean", [zeros((2, 3), dtype)], {}, lambda: np.mean(zeros((2, 3), dtype)))
    for _ in range(60):
        x = zeros(extents(pick.randint(0, 4)))
        axes, keep = axis_list(x.ndim), pick.random() < 0.5
        op = pick.choice(["sum", "max"])
        emit(op, [x], {"axes": listed(axes), "keepdims": int(keep)},
             lambda: getattr(np, op)(x, axis=tuple(axes), keepdims=keep))
    for _ in range(20):
        x = zeros(extents(pick.randint(1, 3), 1, 4))
        axis, keep = pick.randint(-3, 2), pick.random() < 0.5
        emit("argmax", [x], {"axis": axis, "keepdims": int(keep)}, lambda: np.argmax(x, axis=axis, keepdims=keep))


def matmul_records():
    for _ in range(100):
        n, k, m = extents(3)
        batch = extents(pick.randint(0, 3), 1, 3)
        a = batch + (n, k)
        b = partner(batch) + (k if pick.random() < 0.85 else k + 1, m)
        a = a if pick.random() < 0.8 else a[-1:]
        b = b if pick.random() < 0.8 else b[-2:-1]
        x, y = zeros(a, pick.choice(NUMBERS)), zeros(b, pick.choice(NUMBERS))
        emit("matmul", [x, y], {}, lambda: x @ y)


def random_reshape(size):
    shape, rest = [], size
    while rest > 1 and len(shape) < 4:
        factor = pick.choice([n for n in range(1, rest + 1) if rest % n == 0])
        shape.append(factor)
        rest //= factor
    shape.append(rest)
    pick.shuffle(shape)
    if pick.random() < 0.3:
        shape[pick.randrange(len(shape))] = -1
    if pick.random() < 0.1:
        shape.append(2)
    return shape


def view_records():
    for _ in range(120):
        x = strided(pick.randint(0, 4))
        shape = random_reshape(x.size)
        emit("reshape", [x], {"shape": listed(shape)}, lambda: x.reshape(shape), True, x)
    for _ in range(15):
        x = zeros(extents(pick.randint(1, 3), 0, 2))
        shape = pick.choice([(0,), (-1,), (0, -1), (4, 0), (3, -1)])
        emit("reshape", [x], {"shape": listed(shape)}, lambda: x.reshape(shape))
    for _ in range(25):
        x = strided(pick.randint(1, 4))
        axes = pick.choice([[], pick.sample(range(-x.ndim, 0), x.ndim), pick.sample(range(x.ndim), x.ndim)])
        emit("transpose", [x], {"axes": listed(axes)}, lambda: x.transpose(axes or None), True, x)
    for _ in range(25):
        x = strided(pick.randint(0, 3))
        shape = extents(pick.randint(0, 2), 1, 3) + tuple(5 if n == 1 else n for n in x.shape)
        emit("broadcast_to", [x], {"shape": listed(shape)}, lambda: np.broadcast_to(x, shape), True, x)
    for _ in range(25):
        x = strided(pick.randint(1, 4))
        axes = axis_list(x.ndim) if pick.random() < 0.7 else []
        emit("squeeze", [x], {"axes": listed(axes)}, lambda: x.squeeze(tuple(axes) if axes else None), True, x)
    for _ in range(25):
        x = strided(pick.randint(0, 3))
        axes = axis_list(x.ndim + 2)
        emit("expand_dims", [x], {"axes": listed(axes)}, lambda: np.expand_dims(x, tuple(axes)), True, x)


def bound():
    return pick.choice([None, pick.randint(-6, 6), pick.randint(-6, 6), 2**62, -(2**62)])


def slice_records():
    for _ in range(150):
        x = strided(pick.randint(1, 3))
        axes = pick.sample(range(x.ndim), pick.randint(1, x.ndim))
        starts, stops = [bound() for _ in axes], [bound() for _ in axes]
        steps = [pick.choice([1, 1, 2, 3, -1, -2, 2**62, -(2**62), -(2**63)]) for _ in axes]
        index = [slice(None)] * x.ndim
        for axis, start, stop, step in zip(axes, starts, stops, steps):
            index[axis] = slice(start, stop, step)
        attrs = {"starts": listed(starts), "stops": listed(stops), "axes": listed(axes), "steps": listed(steps)}
        emit("slice", [x], attrs, lambda: x[tuple(index)], True, x)


def join_records():
    for _ in range(40):
        shape = extents(pick.randint(1, 3))
        axis = pick.randint(-len(shape), len(shape) - 1)
        xs = []
        for _ in range(pick.randint(1, 4)):
            one = list(shape)
            one[axis] = pick.randint(0, 4)
            if pick.random() < 0.05:
                one[pick.randrange(len(one))] += 1
            xs.append(zeros(one, pick.choice(NUMBERS)))
        emit("concat", xs, {"axis": axis}, lambda: np.concatenate(xs, axis))
    for _ in range(25):
        x, indices = zeros(extents(pick.randint(1, 3), 1, 4)), zeros(extents(pick.randint(0, 2)), "int64")
        axis = pick.randint(-3, 2)
        emit("gather", [x, indices], {"axis": axis}, lambda: np.take(x, indices, axis))


def run_onnx(kind, arrays, **attrs):
    names = ["x", "w"][:len(arrays)]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
              for name, array in zip(names, arrays)]
    graph = helper.make_graph([helper.make_node(kind, names, ["y"], **attrs)], "one", inputs,
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, arrays)))[0]


AUTO_PAD = {0: "NOTSET", 1: "SAME_UPPER", 2: "SAME_LOWER", 3: "VALID"}


def window_records():
    for number in range(90):
        spatial = pick.randint(1, 3)
        x = zeros((pick.randint(1, 2), 4) + extents(spatial, 6, 12))
        kernel, strides = extents(spatial, 1, 3), extents(spatial, 1, 3)
        auto_pad = pick.choice([0, 0, 0, 1, 2, 3])
        # With dilations ONNX Runtime's SAME differs from the standard's ceil(input / stride), and it refuses a window
        # shorter than the stride.
        dilations = extents(spatial, 1, 2) if auto_pad in (0, 3) else (1,) * spatial
        strides = strides if auto_pad in (0, 3) else tuple(min(pair) for pair in zip(strides, kernel))
        pads = [pick.randint(0, kernel[i % spatial] - 1) for i in range(2 * spatial)] if auto_pad == 0 else []
        shared = {"strides": strides, "dilations": dilations, "auto_pad": AUTO_PAD[auto_pad]}
        shared.update({"pads": pads} if pads else {})
        attrs = {"strides": listed(strides), "pads": listed(pads), "dilations": listed(dilations),
                 "auto_pad": auto_pad}
        if number % 2 == 0:
            groups = pick.choice([1, 2, 4])
            w = zeros((groups * pick.randint(1, 2), 4 // groups) + kernel)
            emit("conv", [x, w], {**attrs, "groups": groups}, lambda: run_onnx("Conv", [x, w], group=groups, **shared))
        else:
            ceil = pick.randint(0, 1)
            op, kind = pick.choice([("max_pool", "MaxPool"), ("average_pool", "AveragePool")])
            emit(op, [x], {**attrs, "kernel": listed(kernel), "ceil_mode": ceil},
                 lambda: run_onnx(kind, [x], kernel_shape=kernel, ceil_mode=ceil, **shared))


print(f"# Made by tests/tools/make_op_records.py, seed {SEED}, NumPy {np.__version__}, "
      f"ONNX Runtime {onnxruntime.__version__}.")
elementwise_records()
reduction_records()
matmul_records()
view_records()
slice_records()
join_records()
window_records()

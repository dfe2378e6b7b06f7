#!/usr/bin/env python3
"""Cases of ONNX Runtime's own operators (domain com.microsoft), with the results that ONNX Runtime gives.

  runtime_cases.py FOLDER      writes FOLDER/runtime/<name>/{model.onnx,input_<i>.pb,output_<i>.pb} and FOLDER/cases.txt,
                               which nd4c_onnx_cases runs; the expected values are those of runtime_outputs.npz
  runtime_cases.py --record    computes the expected values anew, with the Python that has onnxruntime: by hand, after a
                               change here (.cache/peers/bin/python tests/onnx/runtime_cases.py --record)

Inputs are drawn by a generator whose numbers NumPy keeps (RandomState), seeded by the case's name.
"""
import io
import pathlib
import sys
import zipfile
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OUTPUTS = pathlib.Path(__file__).with_name("runtime_outputs.npz")
KIND = "runtime"
CASES = []


class Draw:
    """Arrays of one case."""

    def __init__(self, name):
        self.state = np.random.RandomState(zlib.crc32(name.encode()))

    def real(self, *shape):
        return self.state.standard_normal(shape).astype(np.float32)

    def ints(self, low, high, shape, dtype=np.int32):
        return self.state.randint(low, high, shape).astype(dtype)

    def u8(self, *shape):
        return self.ints(0, 256, shape, np.uint8)

    def i8(self, *shape):
        return self.ints(-127, 128, shape, np.int8)


def case(op, name="", outputs=1, rtol=1e-3, atol=1e-5, domain="com.microsoft"):
    """Registers a function of a Draw that gives the inputs (arrays, None for one left out; a tuple (array,) is an
    initializer), the attributes and, where ONNX Runtime has no kernel for the CPU, inputs that mean the same."""
    def add(function):
        full = op.lower() + ("_" + name if name else "")
        CASES.append((full, op, domain, outputs, rtol, atol, function))
        return function
    return add


f32 = np.float32


# -- activations, products, convolutions ---------------------------------------------------------------------------

@case("Gelu")
def _(d): return [d.real(3, 7)], {}

@case("FastGelu")
def _(d): return [d.real(3, 7)], {}

@case("FastGelu", "bias")
def _(d): return [d.real(2, 3, 8), (d.real(8),)], {}

@case("BiasGelu")
def _(d): return [d.real(2, 3, 8), (d.real(8),)], {}

@case("QuickGelu")
def _(d): return [d.real(3, 7)], {}

@case("QuickGelu", "alpha")
def _(d): return [d.real(3, 7)], {"alpha": 0.5}

@case("FusedMatMul")
def _(d): return [d.real(2, 3, 4), d.real(2, 4, 5)], {"alpha": 0.25}

@case("FusedMatMul", "transposed")
def _(d): return [d.real(2, 4, 3), d.real(2, 5, 4)], {"transA": 1, "transB": 1}

@case("FusedMatMul", "batches")
def _(d): return [d.real(3, 2, 6, 4), d.real(2, 6, 4, 5)], {"transBatchA": 1}

@case("FusedMatMul", "batches_transposed")
def _(d): return [d.real(4, 2, 3), d.real(5, 2, 4)], {"transBatchA": 1, "transA": 1, "transBatchB": 1, "transB": 1}

@case("TransposeMatMul")
def _(d): return [d.real(2, 4, 3), d.real(2, 4, 5)], {"transA": 1, "alpha": 2.0}

@case("FusedGemm", "leaky")
def _(d):
    return [d.real(3, 4), d.real(5, 4), d.real(5)], {"transB": 1, "activation": "LeakyRelu", "activation_alpha": 0.25}

@case("FusedGemm", "relu")
def _(d): return [d.real(3, 4), d.real(4, 5), d.real(3, 5)], {"alpha": 0.5, "beta": 2.0, "activation": "Relu"}

@case("FusedConv", "relu")
def _(d):
    return ([d.real(1, 3, 6, 5), (d.real(4, 3, 3, 3),), (d.real(4),)],
            {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3], "activation": "Relu"})

@case("FusedConv", "added")
def _(d):
    return ([d.real(1, 3, 5, 5), (d.real(4, 3, 3, 3),), (d.real(4,),), d.real(1, 4, 3, 3)],
            {"activation": "LeakyRelu", "activation_params": [0.2]})

@case("FusedConv", "clip")
def _(d):
    return ([d.real(1, 4, 7, 7), (d.real(4, 1, 3, 3),)],
            {"group": 4, "strides": [2, 2], "activation": "Clip", "activation_params": [-0.5, 1.0]})

@case("FusedConv", "hard_sigmoid")
def _(d):
    return ([d.real(1, 2, 5), (d.real(3, 2, 2),)], {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]})

@case("Inverse")
def _(d): return [d.real(2, 4, 4) + 4 * np.eye(4, dtype=f32)], {}

@case("Trilu")
def _(d): return [d.real(2, 3, 4), (np.array(1, np.int64),)], {"upper": 0}

@case("GatherND")
def _(d): return [d.real(3, 4, 2), np.array([[0, 1], [2, 3]], np.int64)], {}


# -- normalisations --------------------------------------------------------------------------------------------------

@case("LayerNormalization", domain="")
def _(d): return [d.real(2, 3, 8), (d.real(8),), (d.real(8),)], {"axis": -1, "epsilon": 1e-5}

@case("SimplifiedLayerNormalization", domain="")
def _(d): return [d.real(2, 3, 8), (d.real(8),)], {"epsilon": 1e-6}

@case("SkipLayerNormalization")
def _(d): return [d.real(2, 3, 8), d.real(2, 3, 8), (d.real(8),), (d.real(8),)], {"epsilon": 1e-6}

@case("SkipLayerNormalization", "sum", outputs=[0, 3])
def _(d): return [d.real(2, 3, 8), d.real(2, 3, 8), (d.real(8),), (d.real(8),), (d.real(8),)], {}

@case("SkipLayerNormalization", "broadcast")
def _(d): return [d.real(2, 3, 8), d.real(1, 3, 8), (d.real(8),), None, (d.real(8),)], {}

@case("SkipSimplifiedLayerNormalization", outputs=[0, 3])
def _(d): return [d.real(2, 3, 8), d.real(2, 3, 8), (d.real(8),)], {"epsilon": 1e-6}

@case("SkipSimplifiedLayerNormalization", "bias")
def _(d): return [d.real(2, 3, 8), d.real(2, 3, 8), (d.real(8),), (d.real(8),)], {}

@case("EmbedLayerNormalization", outputs=3)
def _(d):
    return ([d.ints(0, 11, (2, 5)), d.ints(0, 2, (2, 5)), (d.real(11, 8),), (d.real(6, 8),), (d.real(2, 8),),
             (d.real(8),), (d.real(8),), np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)], {"epsilon": 1e-6})

@case("EmbedLayerNormalization", "positions", outputs=2)
def _(d):
    return ([d.ints(0, 11, (2, 5)), None, (d.real(11, 8),), (d.real(6, 8),), None, (d.real(8),), (d.real(8),), None,
             d.ints(0, 6, (2, 5))], {})


# -- lengths of Resize by scales, which float64 would round to one less --------------------------------------------------

def ratios(*pairs):
    return (np.array([1, 1] + [to / of for of, to in pairs], f32),)

@case("Resize", "ratios", domain="")
def _(d): return [d.real(1, 1, 3, 5), None, ratios((3, 5), (5, 7))], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}

@case("Resize", "ratios_linear", domain="")
def _(d): return [d.real(1, 2, 6, 7), None, ratios((6, 5), (7, 11))], {"mode": "linear"}

@case("Resize", "ratios_cubic", domain="", rtol=2e-3)
def _(d): return [d.real(1, 1, 7, 12), None, ratios((7, 9), (12, 7))], {"mode": "cubic"}


# -- attention -------------------------------------------------------------------------------------------------------

@case("Attention")
def _(d): return [d.real(2, 4, 8), (d.real(8, 24),), (d.real(24),)], {"num_heads": 2}

@case("Attention", "mask")
def _(d):
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    return [d.real(2, 4, 8), (d.real(8, 24),), (d.real(24),), mask], {"num_heads": 2}

@case("Attention", "mask_filter")
def _(d):
    mask = np.array([[1, 1, 1, 0], [0, 0, 0, 0]], np.int32)
    return [d.real(2, 4, 8), (d.real(8, 24),), (d.real(24),), mask], {"num_heads": 2, "mask_filter_value": -2.5}

@case("Attention", "lengths")
def _(d):
    return [d.real(2, 4, 8), (d.real(8, 24),), (d.real(24),), np.array([3, 2], np.int32)], {"num_heads": 4}

@case("Attention", "ends_and_starts")
def _(d):
    return ([d.real(2, 4, 8), (d.real(8, 24),), (d.real(24),), np.array([4, 4, 1, 2], np.int32)], {"num_heads": 2})

@case("Attention", "mask_of_queries")
def _(d):
    mask = np.tril(np.ones((2, 4, 4), np.int32))
    return [d.real(2, 4, 8), (d.real(8, 24),), (d.real(24),), mask], {"num_heads": 2, "scale": 0.3}

@case("Attention", "causal")
def _(d): return [d.real(2, 4, 8), (d.real(8, 24),), (d.real(24),)], {"num_heads": 2, "unidirectional": 1}

@case("Attention", "past", outputs=2)
def _(d):
    return ([d.real(2, 2, 8), (d.real(8, 24),), (d.real(24),), None, d.real(2, 2, 2, 3, 4)],
            {"num_heads": 2, "unidirectional": 1})

@case("Attention", "sizes_and_bias")
def _(d):
    return ([d.real(2, 4, 8), (d.real(8, 32),), (d.real(32),), None, None, d.real(1, 2, 4, 4)],
            {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 16]})

@case("QAttention", atol=1e-4)
def _(d):
    return ([d.u8(2, 4, 8), (d.i8(8, 24),), (d.real(24),), (f32(0.02),), (f32(0.01),), np.array([4, 3], np.int32),
             (np.uint8(120),), (np.int8(0),)], {"num_heads": 2})

@case("QAttention", "columns", atol=1e-4)
def _(d):
    return ([d.u8(2, 4, 8), (d.i8(8, 24),), (d.real(24),), (f32(0.02),), ((d.real(24) ** 2 * f32(0.01)),), None,
             (np.uint8(120),), (np.zeros(24, np.int8),)], {"num_heads": 2, "unidirectional": 1})

@case("MultiHeadAttention")
def _(d): return [d.real(2, 4, 8), d.real(2, 5, 8), d.real(2, 5, 8)], {"num_heads": 2}

@case("MultiHeadAttention", "bias")
def _(d): return [d.real(2, 4, 8), d.real(2, 5, 8), d.real(2, 5, 12), (d.real(28),)], {"num_heads": 2}

def apart(x):
    """[n, t, heads, parts, head] as parts [n, t, heads * head]."""
    return [x[:, :, :, i].reshape(x.shape[0], x.shape[1], -1) for i in range(x.shape[3])]

@case("MultiHeadAttention", "packed")
def _(d):
    x = d.real(2, 4, 2, 3, 4)
    return [x], {"num_heads": 2}, apart(x)

@case("MultiHeadAttention", "packed_kv")
def _(d):
    x, y = d.real(2, 4, 8), d.real(2, 5, 2, 2, 4)
    return [x, y], {"num_heads": 2}, [x] + apart(y)

@case("MultiHeadAttention", "heads")
def _(d): return [d.real(2, 4, 8), d.real(2, 2, 5, 4), d.real(2, 2, 5, 4)], {"num_heads": 2}

@case("MultiHeadAttention", "heads_bias")
def _(d): return [d.real(2, 4, 8), d.real(2, 2, 5, 4), d.real(2, 2, 5, 4), (d.real(24),)], {"num_heads": 2}

@case("MultiHeadAttention", "mask")
def _(d):
    mask = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.int32)
    return [d.real(2, 4, 8), d.real(2, 5, 8), d.real(2, 5, 8), None, mask, d.real(1, 1, 4, 5)], {"num_heads": 2}

@case("MultiHeadAttention", "lengths")
def _(d):
    return ([d.real(2, 4, 8), d.real(2, 5, 8), d.real(2, 5, 8), None, np.array([5, 3], np.int32)], {"num_heads": 2})

@case("MultiHeadAttention", "past", outputs=3)
def _(d):
    return ([d.real(2, 2, 8), d.real(2, 2, 8), d.real(2, 2, 8), None, None, d.real(2, 2, 2, 5), d.real(2, 2, 3, 4),
             d.real(2, 2, 3, 4)], {"num_heads": 2, "unidirectional": 1})

@case("RotaryEmbedding")
def _(d): return [d.real(2, 3, 8), d.ints(0, 6, (2, 3), np.int64), (d.real(6, 2),), (d.real(6, 2),)], {}

@case("RotaryEmbedding", "offset")
def _(d):
    return [d.real(2, 2, 3, 4), np.array([2], np.int64), (d.real(6, 2),), (d.real(6, 2),)], {"interleaved": 1}

@case("RotaryEmbedding", "part")
def _(d):
    return ([d.real(2, 3, 16), d.ints(0, 6, (2, 3), np.int64), (d.real(6, 2),), (d.real(6, 2),)],
            {"num_heads": 2, "rotary_embedding_dim": 4})


def group(d, batch, length, past, lengths=None, rotary=False, packed=False, **attributes):
    """Inputs of 4 heads of 16 features that share 2 of k and v."""
    heads, kv, head = 4, 2, 16
    total = length + past
    lengths = [total] * batch if lengths is None else lengths
    inputs = [d.real(batch, length, (heads + 2 * kv) * head if packed else heads * head)]
    inputs += [None, None] if packed else [d.real(batch, length, kv * head) for _ in range(2)]
    inputs += [d.real(batch, kv, past, head) for _ in range(2)]
    inputs += [np.array(lengths, np.int32) - 1, (np.array(total, np.int32),)]
    if rotary:
        inputs += [(d.real(total + 2, head // 2),), (d.real(total + 2, head // 2),)]
    return inputs, dict(num_heads=heads, kv_num_heads=kv, do_rotary=int(rotary), **attributes)

@case("GroupQueryAttention", outputs=3)
def _(d): return group(d, 1, 4, 0)

@case("GroupQueryAttention", "step", outputs=3)
def _(d): return group(d, 1, 1, 5, rotary=True)

@case("GroupQueryAttention", "packed", outputs=3)
def _(d): return group(d, 1, 1, 5, rotary=True, packed=True, rotary_interleaved=1)

@case("GroupQueryAttention", "window", outputs=3)
def _(d): return group(d, 1, 1, 7, local_window_size=3, scale=0.4)

@case("GroupQueryAttention", "prompt_window", outputs=3)
def _(d): return group(d, 1, 6, 0, local_window_size=2, softcap=2.0)

@case("GroupQueryAttention", "batch", outputs=3)
def _(d): return group(d, 2, 4, 0, rotary=True)

@case("GroupQueryAttention", "batch_step", outputs=3)
def _(d): return group(d, 2, 1, 5, rotary=True)

@case("GroupQueryAttention", "lengths", outputs=3)
def _(d): return group(d, 2, 1, 5, lengths=[6, 4], rotary=True)

@case("GroupQueryAttention", "lengths_window", outputs=3)
def _(d): return group(d, 2, 1, 7, lengths=[5, 8], local_window_size=2)


# -- quantised ---------------------------------------------------------------------------------------------------------

def scale(value):
    return (f32(value),)

def zero(value, dtype=np.uint8):
    return (dtype(value),)

@case("QuantizeLinear")
def _(d): return [d.real(3, 4), scale(0.02), zero(130)], {}

@case("DequantizeLinear")
def _(d): return [d.u8(3, 4), (d.real(4) ** 2,), (d.u8(4),)], {"axis": 1}

@case("QLinearAdd")
def _(d): return [d.u8(3, 4), scale(0.02), zero(120), d.u8(4), scale(0.03), zero(99), scale(0.041), zero(110)], {}

@case("QLinearAdd", "no_zero")
def _(d): return [d.u8(3, 4), scale(0.02), zero(9), d.u8(3, 1), scale(0.03), zero(7), scale(0.061)], {}

@case("QLinearMul")
def _(d): return [d.i8(3, 4), scale(0.02), zero(5, np.int8), d.i8(4), scale(0.03), zero(-9, np.int8), scale(0.071),
                  zero(3, np.int8)], {}

@case("QLinearSigmoid")
def _(d): return [d.u8(3, 4), scale(0.05), zero(128), scale(1 / 256), zero(0)], {}

@case("QLinearLeakyRelu")
def _(d): return [d.u8(3, 4), scale(0.05), zero(128), scale(0.03), zero(40)], {"alpha": 0.2}

@case("QLinearConcat")
def _(d): return [scale(0.05), zero(128), d.u8(2, 3), scale(0.04), zero(120), d.u8(2, 2), scale(0.06), zero(100)], {"axis": 1}

@case("QLinearSoftmax")
def _(d): return [d.u8(3, 6), scale(0.03), zero(128), scale(1 / 256), zero(0)], {"opset": 13, "axis": -1}

@case("QLinearWhere")
def _(d): return [d.ints(0, 2, (3, 4), np.bool_), d.u8(3, 4), scale(0.02), zero(120), d.u8(1, 4), scale(0.03), zero(99),
                  scale(0.041), zero(110)], {}

@case("QLinearGlobalAveragePool")
def _(d): return [d.u8(1, 3, 5, 4), scale(0.03), zero(128), scale(0.011), zero(120)], {}

@case("QLinearGlobalAveragePool", "last")
def _(d): return [d.u8(1, 5, 4, 3), scale(0.03), zero(128), scale(0.011), zero(120)], {"channels_last": 1}

@case("QLinearAveragePool")
def _(d): return [d.u8(1, 3, 6, 6), scale(0.03), zero(128), scale(0.027), zero(120)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}

@case("MatMulIntegerToFloat")
def _(d): return [d.u8(2, 3, 4), (d.u8(4, 5),), scale(0.02), (d.real(5) ** 2,), zero(120), (d.u8(5),), (d.real(5),)], {}

@case("DynamicQuantizeMatMul", atol=1e-4)
def _(d): return [d.real(2, 3, 8), (d.i8(8, 5),), scale(0.02), zero(3, np.int8), (d.real(5),)], {}

@case("DynamicQuantizeMatMul", "columns", atol=1e-4)
def _(d): return [d.real(3, 8), (d.u8(8, 5),), (d.real(5) ** 2,), (d.u8(5),)], {}

@case("QGemm")
def _(d): return [d.u8(3, 8), scale(0.02), zero(120), (d.i8(5, 8),), (d.real(5) ** 2 * f32(0.1),), (np.zeros(5, np.int8),),
                  (d.ints(-99, 99, (5,)),), scale(0.5), zero(128)], {"transB": 1}

@case("QGemm", "real")
def _(d): return [d.u8(8, 3), scale(0.02), zero(120), (d.u8(8, 5),), scale(0.3), zero(99)], {"transA": 1, "alpha": 0.5}


def nbits(d, bits, k, n, block, zero_points, bias=False):
    blocks = -(-k // block)
    inputs = [d.real(2, 3, k), (d.u8(n, blocks, block * bits // 8),), (d.real(n, blocks) ** 2 + f32(0.01),)]
    inputs += [(d.u8(n, -(-blocks * bits // 8)),)] if zero_points else []
    inputs += [None, None, (d.real(n),)] if bias else []
    return inputs, {"K": k, "N": n, "bits": bits, "block_size": block}

@case("MatMulNBits", rtol=2e-3, atol=1e-3)
def _(d): return nbits(d, 4, 64, 6, 32, False)

@case("MatMulNBits", "zero_points", rtol=2e-3, atol=1e-3)
def _(d): return nbits(d, 4, 96, 6, 32, True)

@case("MatMulNBits", "ragged", rtol=2e-3, atol=1e-3)
def _(d): return nbits(d, 4, 45, 5, 16, True)

@case("MatMulNBits", "bias", rtol=2e-3, atol=1e-3)
def _(d): return nbits(d, 8, 64, 6, 32, False, bias=True)


def table(d, shape, axis, block, bits, dtype=np.uint8, zero_points=False, indices=(2, 3), gather=0):
    """data (codes of `bits` bits; in uint8 packed along the last axis), indices, scales and zero points."""
    import ml_dtypes
    scales = [-(-n // block) if i == axis % len(shape) else n for i, n in enumerate(shape)]
    half = 1 << bits - 1
    def codes(shape):
        if dtype != np.uint8:
            return d.ints(0, 2 * half, shape, np.int8).astype(dtype) if dtype == ml_dtypes.uint4 else d.ints(-half, half, shape, np.int8).astype(dtype)
        return d.u8(*shape[:-1], -(-shape[-1] * bits // 8))
    inputs = [(codes(shape),), d.ints(-shape[gather], shape[gather], indices, np.int64), (d.real(*scales) ** 2 + f32(0.01),)]
    inputs += [(codes(scales),)] if zero_points else []
    return inputs, {"gather_axis": gather, "quantize_axis": axis, "block_size": block, "bits": bits}

@case("GatherBlockQuantized")
def _(d): return table(d, [7, 32], 1, 16, 4)

@case("GatherBlockQuantized", "zero_points")
def _(d): return table(d, [7, 48], -1, 16, 4, zero_points=True)

@case("GatherBlockQuantized", "bytes")
def _(d): return table(d, [7, 3, 40], 2, 32, 8, zero_points=True, indices=(4,))

@case("GatherBlockQuantized", "two_bits")
def _(d): return table(d, [7, 64], 1, 16, 2, indices=())

@case("GatherBlockQuantized", "int4")
def _(d):
    import ml_dtypes
    return table(d, [32, 5], 0, 16, 4, ml_dtypes.int4, indices=(3,), gather=1)

@case("GatherBlockQuantized", "uint4")
def _(d):
    import ml_dtypes
    return table(d, [4, 5, 16], 2, 16, 4, ml_dtypes.uint4, zero_points=True, indices=(2, 2), gather=1)


# The weights are the same; ONNX Runtime also rounds x and the states to 8 bits.
def quantized_lstm(d, directions=1, columns=False, dtype=np.int8, **attributes):
    steps, batch, inputs, hidden = 5, 2, 6, 8
    shape = (directions, 4 * hidden) if columns else (directions,)
    codes = d.i8 if dtype == np.int8 else d.u8
    zero = np.zeros(shape, np.int8) if dtype == np.int8 else np.full(shape, 128, np.uint8)
    scale = (d.real(*shape) ** 2 + f32(1)) * f32(0.002)
    given = [d.real(steps, batch, inputs), (codes(directions, inputs, 4 * hidden),), (codes(directions, hidden, 4 * hidden),),
             (d.real(directions, 8 * hidden) * f32(0.1),), np.array([5, 3], np.int32), d.real(directions, batch, hidden) * f32(0.1),
             d.real(directions, batch, hidden) * f32(0.1), None, (scale,), (zero,), (scale,), (zero,)]
    return given, {"hidden_size": hidden, **attributes}

@case("DynamicQuantizeLSTM", outputs=3, atol=2e-2)
def _(d): return quantized_lstm(d)

@case("DynamicQuantizeLSTM", "columns", outputs=3, atol=2e-2)
def _(d): return quantized_lstm(d, 2, columns=True, direction="bidirectional")

@case("DynamicQuantizeLSTM", "bytes", outputs=3, atol=2e-2)
def _(d): return quantized_lstm(d, dtype=np.uint8, direction="reverse")


# -- files -----------------------------------------------------------------------------------------------------------

def build(full, op, domain, outputs, function, recording=False):
    """The model and its inputs by name."""
    inputs, attributes, *same = function(Draw(full))
    inputs = same[0] if same and recording else inputs
    outputs = list(range(outputs)) if isinstance(outputs, int) else outputs
    names, feeds, initializers = [], {}, []
    for i, given in enumerate(inputs):
        names.append("" if given is None else "x%d" % i)
        if isinstance(given, tuple):
            initializers.append(numpy_helper.from_array(np.asarray(given[0]), "x%d" % i))
        elif given is not None:
            feeds["x%d" % i] = np.asarray(given)
    results = ["y%d" % i if i in outputs else "" for i in range(max(outputs) + 1)]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
             for name, value in feeds.items()]
    made = [helper.make_empty_tensor_value_info("y%d" % i) for i in outputs]
    graph = helper.make_graph([node], full, infos, made, initializers)
    opsets = [helper.make_opsetid("", 16), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), feeds


def record():
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    arrays = {}
    for full, op, domain, outputs, _, _, function in CASES:
        model, feeds = build(full, op, domain, outputs, function, recording=True)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        for i, value in enumerate(session.run(None, feeds)):
            arrays["%s.%d" % (full, i)] = value
    with zipfile.ZipFile(OUTPUTS, "w", zipfile.ZIP_DEFLATED) as file:  # without the times that numpy.savez writes
        for name, value in sorted(arrays.items()):
            data = io.BytesIO()
            np.lib.format.write_array(data, np.ascontiguousarray(value))
            file.writestr(zipfile.ZipInfo(name + ".npy"), data.getvalue())
    print("%s: %d results of %d cases, onnxruntime %s" % (OUTPUTS, len(arrays), len(CASES), onnxruntime.__version__))


def write(folder):
    expected = np.load(OUTPUTS)
    lines = []
    for full, op, domain, outputs, rtol, atol, function in CASES:
        model, feeds = build(full, op, domain, outputs, function)
        path = folder / KIND / full
        path.mkdir(parents=True, exist_ok=True)
        (path / "model.onnx").write_bytes(model.SerializeToString())
        for i, (name, value) in enumerate(feeds.items()):
            (path / ("input_%d.pb" % i)).write_bytes(numpy_helper.from_array(value, name).SerializeToString())
        for i in range(len(model.graph.output)):
            value = numpy_helper.from_array(expected["%s.%d" % (full, i)], "y%d" % i)
            (path / ("output_%d.pb" % i)).write_bytes(value.SerializeToString())
        lines.append("%s %s %g %g %s" % (KIND, full, rtol, atol, op))
    (folder / "cases.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        write(pathlib.Path(sys.argv[1]))

"""Quantisation and products of quantised numbers, as ONNX defines them."""
import itertools

import ml_dtypes
import numpy as np

from framework import FLOATS, NUMPY, Case, Near, Refusal, cases, refusals, wide

SIGNED_FLOAT8S = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-2 ** 15, 2 ** 15 - 1), "uint16": (0, 2 ** 16 - 1),
          "int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
TARGETS = tuple(RANGES) + SIGNED_FLOAT8S + ("float4_e2m1fn",)
np.seterr(all="ignore")


def array(values, dtype):
    return np.asarray(values).astype(NUMPY[dtype])


def real(x):
    """Elements as float64, exact but for integers beyond 2^53."""
    x = np.asarray(x)
    return x.real.astype(np.float64) if x.dtype.kind == "c" else x.astype(np.float64)


def to_float8(value, dtype, saturate):
    """`value` in float64, rounded once: ml_dtypes' casts go through float32, so the code is looked up."""
    value = np.asarray(value, dtype=np.float64)
    largest = np.array(ml_dtypes.finfo(NUMPY[dtype]).max).astype(NUMPY[dtype]).view(np.uint8).item()
    table = np.arange(largest + 1, dtype=np.uint8).view(NUMPY[dtype]).astype(np.float64)
    ends = np.append((table[1:] + table[:-1]) / 2, table[-1] + (table[-1] - table[-2]) / 2)
    codes = np.searchsorted(ends, np.abs(value))  # of numbers up to the end that follows: ties go to the even code
    ties = ends[np.minimum(codes, largest)] == np.abs(value)
    codes = codes + (ties & (codes % 2 == 1))
    beyond = (codes > largest) & ~np.isnan(value)
    magnitude = table[np.minimum(codes, largest)]
    if not saturate and dtype != "float4_e2m1fn":
        magnitude = np.where(beyond, np.inf, magnitude)  # exact above this: infinity becomes infinity or NaN
    return np.where(np.isnan(value), value, np.copysign(magnitude, value)).astype(NUMPY[dtype])


# -- cast_float8 ---------------------------------------------------------------------------------------------------------

def power_code(x, saturate, rounding):
    """Code of float8_e8m0fnu for a number: an exponent, worked out with logarithms of exact powers."""
    if np.isnan(x) or x < 0:
        return 255
    if x == 0 or x < 2.0 ** -127:
        inside = saturate or (rounding == 1 and x > 0) or (rounding == 0 and x >= 1.5 * 2.0 ** -128)
        return 0 if inside else 255
    if np.isinf(x):
        return 254 if saturate else 255
    mantissa, exponent = np.frexp(x)
    code = int(exponent) - 1 + 127
    code += {0: mantissa >= 0.75, 1: mantissa > 0.5, 2: False}[rounding]
    return int(code) if code <= 254 else 254 if saturate else 255


def cast_values(s, dtype):
    yield s.special(dtype, (37,))
    yield s.small(dtype, (2, 5))
    yield np.repeat(s.small(dtype, (1, 3)), 4, axis=0)
    yield s.small(dtype, ())
    yield s.small(dtype, (0, 2))
    if dtype in ("float32", "float64"):
        for name in SIGNED_FLOAT8S:  # all numbers and half-way numbers, and their neighbours
            codes = np.arange(256, dtype=np.uint8).view(NUMPY[name]).astype(np.float64)
            finite = np.unique(codes[np.isfinite(codes)])
            step = finite[-1] - finite[-2]
            edges = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, [finite[-1] + step / 2, finite[0] - step]])
            edges = array(edges, dtype)
            sides = [np.nextafter(edges, edges.dtype.type(way)) for way in (-np.inf, np.inf)]
            yield np.concatenate([edges, *sides])
        yield array(np.ldexp([1, 1.5, 1.25, 1.75], [[-127], [-126], [-1], [0], [64], [127]]), dtype)
        yield array(2.0 ** np.array([-140, -129, -128, -127, 126, 127]), dtype)


@cases("cast_float8")
def cast_float8(s, dtype):
    options = list(itertools.product(SIGNED_FLOAT8S, (0, 1), (0,)))
    options += itertools.product(("float8_e8m0fnu",), (0, 1), (0, 1, 2))
    for x in cast_values(s, dtype):
        for target, saturate, rounding in options:
            if dtype == target and target != "float8_e8m0fnu":
                continue  # the same numbers
            if target == "float8_e8m0fnu":
                codes = [power_code(v, saturate, rounding) for v in real(x).reshape(-1)]
                y = np.array(codes, dtype=np.uint8).view(NUMPY[target]).reshape(x.shape)
            else:
                y = to_float8(real(x), target, saturate)
            yield Case([x], {"dtype": target, "saturate": saturate, "rounding": rounding}, [y])


@refusals("cast_float8")
def cast_float8_refusals(s):
    x = s.small("float32", (3,))
    yield Refusal([x], {"dtype": "float32"}, "DTYPE", "dtype is float32 (number 12), expected a float8 dtype")
    yield Refusal([x], {"dtype": "int4"}, "DTYPE", "expected a float8 dtype")
    yield Refusal([x], {}, "DTYPE", "expected a float8 dtype")
    yield Refusal([x], {"dtype": "float8_e5m2", "rounding": 3}, "ARGUMENT", "rounding")
    yield Refusal([x], {"dtype": "float8_e5m2", "rounding": -1}, "ARGUMENT", "rounding")


# -- quantize_linear, dequantize_linear ----------------------------------------------------------------------------------

def spread(parameter, shape, axis, block):
    """Scales or zero points as an array that broadcasts to x."""
    parameter = np.asarray(parameter)
    if parameter.size == 1 and parameter.ndim <= 1:
        return parameter.reshape(())
    if block:
        repeated = np.repeat(parameter, block, axis=axis)
        return repeated.take(range(shape[axis]), axis=axis)
    extents = [1] * len(shape)
    extents[axis] = -1
    return parameter.reshape(extents)


def quantized(x, scale, zero, target, axis, block, precision, saturate):
    name = np.dtype(scale.dtype).name
    if precision is None:
        precision = {"int32": "float64", "float8_e8m0fnu": x.dtype.name}.get(name, name)
        precision = "float64" if precision == "int32" else precision
    precision = NUMPY[precision]
    quotient = x.astype(precision) / spread(scale, x.shape, axis, block).astype(precision)
    quotient = np.asarray(quotient).astype(np.float64)
    zero = 0.0 if zero is None else spread(zero, x.shape, axis, block).astype(np.float64)
    if target in RANGES:
        whole = np.rint(np.where(np.isnan(quotient), 0, quotient)) + zero
        return np.clip(whole, *RANGES[target]).astype(np.int64).astype(NUMPY[target])
    return to_float8(quotient + zero, target, saturate or target == "float4_e2m1fn")


# shape, axis, shape of scale, block_size
GRAINS = [((5, 7), 1, (), 0), ((5, 7), 1, (1,), 0), ((5, 7), 0, (5,), 0), ((2, 3, 4), 1, (3,), 0),
          ((2, 3, 4), -1, (4,), 0), ((2, 6, 5), 1, (2, 2, 5), 3), ((3, 7), 1, (3, 3), 3), ((3, 7), -2, (2, 7), 2),
          ((), 1, (), 0), ((0, 3), 1, (3,), 0), ((4, 0), 1, (), 0), ((70, 3), 0, (), 0)]


def numbers(s, dtype, shape):
    if dtype == "int32":
        return s.integers(-300, 300, shape).astype(np.int32)
    x = s.uniform(dtype, -9, 9, shape)
    return np.asarray(np.where(s.integers(0, 9, shape) == 0, s.special(dtype, shape), x)).astype(NUMPY[dtype])


def zeros(s, dtype, shape):
    """Zero points: any of an integer dtype, 0 of a float."""
    if dtype in RANGES:
        return array(s.integers(*RANGES[dtype], shape), dtype)
    return np.zeros(shape, NUMPY[dtype])


@cases("quantize_linear")
def quantize_linear(s, dtype):
    for number, (shape, axis, scales, block) in enumerate(GRAINS):
        for place, target in enumerate(TARGETS):
            if len(shape) == 3 and (number + place) % 2:
                continue
            x = numbers(s, dtype, shape)
            if number == 0:
                x = np.repeat(x[:1], len(x), axis=0)
            scale_type = dtype if dtype != "int32" else "float32"
            scale = s.uniform(scale_type, 0.05, 2, scales)
            attrs = {"axis": axis, "block_size": block}
            zero = zeros(s, target, scales) if (number + place) % 3 else None
            if zero is None and target != "uint8":
                attrs["dtype"] = target
            saturate = place % 2
            attrs["saturate"] = saturate
            y = quantized(x, scale, zero, target, axis, block, None, saturate)
            yield Case([x, scale] if zero is None else [x, scale, zero], attrs, [y])
    yield from quantize_precisions(s, dtype)


def quantize_precisions(s, dtype):
    x = numbers(s, dtype, (4, 6))
    for scale_type, precision in (("float32", None), ("float32", "float16"), ("float16", "float32"),
                                  ("float64", "bfloat16"), ("float8_e8m0fnu", None), ("float8_e8m0fnu", "float32"),
                                  ("bfloat16", None), ("int32", None)):
        scale = array([1, 2, 3, 4], "int32") if scale_type == "int32" else array([0.25, 0.5, 1, 2], scale_type)
        attrs = {"axis": 0, "dtype": "int8"}
        if precision is not None:
            attrs["precision"] = precision
        yield Case([x, scale], attrs, [quantized(x, scale, None, "int8", 0, 0, precision, 1)])
    # Ties go to even before the zero point is added, of either kind.
    ties = array([-3, -2, -1, 0, 1, 2, 3, 5, 7, 253, 255, 257, -255, -257, -259], dtype)
    for target in ("int8", "uint8", "int16", "int4"):
        scale, zero = array(2, "float32"), array(3, target)
        yield Case([ties, scale, zero], {}, [quantized(ties, scale, zero, target, 0, 0, None, 1)])


@cases("dequantize_linear")
def dequantize_linear(s, dtype):
    for number, (shape, axis, scales, block) in enumerate(GRAINS):
        for place, target in enumerate(FLOATS):
            x = s.bits(dtype, shape)
            if number == 0:
                x = np.repeat(x[:1], len(x), axis=0)
            scale_type = FLOATS[(number + place) % 4] if (number + place) % 5 else "float8_e8m0fnu"
            scale = array(s.uniform("float32", 0.05, 2, scales), scale_type)
            zero = None
            if (number + place) % 3:
                zero = s.bits(dtype, scales) if dtype in RANGES else np.zeros(scales, NUMPY[dtype])
            attrs = {"axis": axis, "block_size": block, "dtype": target}
            if scale_type == target and place % 2:
                del attrs["dtype"]
            value = wide(real(x))
            if zero is not None:
                value = value - spread(wide(real(zero)), shape, axis, block)
            value = value * spread(wide(real(scale)), shape, axis, block)
            yield Case([x, scale] if zero is None else [x, scale, zero], attrs, [Near(value, target)])


@refusals("quantize_linear", "dequantize_linear")
def linear_refusals(s, op):
    x = s.small("float32" if op == "quantize_linear" else "int8", (2, 6))
    scale = array(0.5, "float32")
    yield Refusal([x, array([1, 2, 3], "float32")], {"axis": 1}, "SHAPE", "expected one value, (6,) for axis 1")
    yield Refusal([x, array([[1, 2, 3]], "float32")], {"axis": 1}, "SHAPE", "expected one value")
    yield Refusal([x, array(np.ones((2, 3)), "float32")], {"axis": 1, "block_size": 3}, "SHAPE", "one a block")
    yield Refusal([x, array([1, 2], "float32")], {"axis": 2}, "INDEX", "axis 2 is out of range")
    yield Refusal([x, scale], {"block_size": -1}, "ARGUMENT", "block_size is -1")
    yield Refusal([x, scale, array([1, 2], "int8")], {}, "SHAPE", "the shape of input scale")
    yield Refusal([x, array(1, "int8")], {}, "DTYPE", "input scale")
    if op == "quantize_linear":
        yield Refusal([x, scale, array(1, "float32")], {}, "DTYPE", "input zero_point is float32")
        yield Refusal([x, scale, array(1, "int8")], {"dtype": "uint8"}, "DTYPE", "expected uint8, the result's")
        yield Refusal([x, scale], {"dtype": "float8_e8m0fnu"}, "DTYPE", "dtype is float8_e8m0fnu")
        yield Refusal([x, scale], {"precision": "int8"}, "DTYPE", "precision is int8")
    else:
        yield Refusal([x, scale, array(1, "uint8")], {}, "DTYPE", "expected int8, the dtype of input x")
        yield Refusal([x, scale], {"dtype": "float8_e5m2"}, "DTYPE", "dtype is float8_e5m2")


# -- ranges --------------------------------------------------------------------------------------------------------------

@cases("dynamic_quantize_linear")
def dynamic_quantize_linear(s, dtype):
    one = np.float32(1)
    rows = np.repeat(s.uniform(dtype, -2, 3, (1, 5)), 3, axis=0)
    for x in [s.uniform(dtype, -3, 5, (4, 9)), s.uniform(dtype, 1, 5, (7,)), s.uniform(dtype, -5, -1, (2, 3)), rows,
              np.zeros((3,), np.float32), np.zeros((0, 2), np.float32), s.uniform(dtype, -1, 1, ()),
              array([1, np.nan, -2], dtype), s.uniform(dtype, -1000, 1000, (300,))]:
        known = x[~np.isnan(x)]
        low, high = np.minimum(known.min(initial=0), 0), np.maximum(known.max(initial=0), 0)
        scale = np.float32((high - low if high != low else one) / np.float32(255))
        zero = np.uint8(np.rint(np.clip(np.float32(0) - low / scale, 0, 255)))
        y = np.where(np.isnan(x), 0, np.rint(x / scale)) + float(zero)
        yield Case([x], {}, [np.clip(y, 0, 255).astype(np.uint8), np.array(scale, np.float32), np.array(zero, np.uint8)])


@cases("fake_quantize", ulps=1)
def fake_quantize(s, dtype):
    bounds = [(-1.0, 3.0), (0.0, 6.0), (0.5, 4.0), (-4.0, -1.0), (0.0, 0.0), (-2.0, 3.0), (-1.0, 1.5)]
    for number, (low, high) in enumerate(bounds):
        for bits, narrow in ((8, 0), (8, 1), (4, 0), (16, 1)):
            x = numbers(s, dtype, [(4, 5), (), (0, 3), (33,), (3, 4), (2, 5, 4, 9), (3, 721)][number])
            if number == 4:
                x = np.repeat(x[:1], 3, axis=0)
            shape = {0: (5,), 5: (5, 1, 1)}.get(number, ())
            low_array, high_array = np.full(shape, low), np.full(shape, high)
            if shape:
                high_array = high_array + np.arange(5).reshape(shape)
            lows, highs = array(low_array, dtype), array(high_array, dtype)
            first, last = (1 if narrow else 0), 2 ** bits - 1
            scale = (wide(highs) - wide(lows)) / (last - first)
            zero = np.rint(np.clip(first - wide(lows) / np.where(scale > 0, scale, 1), first, last))
            value = wide(x)
            steps = np.clip(np.rint((value.astype(np.float64) / np.where(scale > 0, scale, 1).astype(np.float64))) + zero, first, last)
            y = np.where(scale > 0, (steps - zero) * scale, 0)
            y = np.where(np.isnan(value), value, y)
            yield Case([x, lows, highs], {"bits": bits, "narrow_range": narrow}, [Near(y, dtype)])


@refusals("fake_quantize")
def fake_quantize_refusals(s):
    x, low, high = s.small("float32", (2, 3)), array(0, "float32"), array(1, "float32")
    yield Refusal([x, low, high], {"bits": 1}, "ARGUMENT", "bits is 1, expected 2 to 16")
    yield Refusal([x, low, high], {"bits": 17}, "ARGUMENT", "bits is 17")
    yield Refusal([x, array([0, 1], "float32"), high], {}, "SHAPE", "input low")
    yield Refusal([x, low, array(1, "float64")], {}, "DTYPE", "expected float32, the dtype of input x")


# -- products ------------------------------------------------------------------------------------------------------------

def signs(dtype):
    return ("int8", "uint8") if dtype == "int8" else ("uint8", "int8")


def integers(s, dtype, shape):
    return array(s.integers(*RANGES[dtype], shape), dtype)


def long(x):
    return np.asarray(x).astype(np.int64)


def wrap(x):
    return np.asarray(x).astype(np.int64).astype(np.int32)


def requantize(sums, factor, y_scale, zero):
    """`factor`: the scales' product in their dtype."""
    factor = (factor / y_scale).astype(factor.dtype)
    value = np.rint(np.asarray(sums).astype(np.float64) * factor.astype(np.float64)) + long(zero)
    return np.clip(value, *RANGES[zero.dtype.name]).astype(zero.dtype)


# a, b, whether zero points are one a row and column
PRODUCTS = [((3, 4), (4, 5), False), ((3, 4), (4, 5), True), ((2, 3, 4), (4, 2), False), ((2, 3, 4), (2, 4, 2), True),
            ((2, 1, 3, 4), (5, 4, 2), False), ((4,), (4, 3), False), ((3, 4), (4,), False), ((4,), (4,), False),
            ((0, 4), (4, 3), False), ((3, 0), (0, 2), False), ((17, 70), (70, 33), True), ((1, 40), (40, 600), True),
            ((64, 17), (17, 16), False), ((65, 33), (33, 15), True)]


def vectors(s, dtype, a, b, many, make):
    """Parameters for the rows of a and the columns of b, and as they broadcast."""
    if not many:
        return make(()), make(())
    if len(a) > 2:
        return make(a[:-1] + (1,)), make(b[:-2] + (1, b[-1]))
    return make(a[-2:-1]), make(b[-1:])


def across(parameter, rows):
    parameter = np.asarray(parameter)
    return parameter.reshape(-1, 1) if parameter.ndim == 1 and rows else parameter


@cases("matmul_integer")
def matmul_integer(s, dtype):
    for number, (a_shape, b_shape, many) in enumerate(PRODUCTS):
        for other in signs(dtype):
            a, b = integers(s, dtype, a_shape), integers(s, other, b_shape)
            if number == 0:
                a = np.repeat(a[:1], len(a), axis=0)
            a_zero, b_zero = vectors(s, dtype, a_shape, b_shape, many, lambda shape: s.integers(0, 100, shape))
            a_zero, b_zero = array(a_zero, dtype), array(b_zero, other)
            if number % 3 == 2:
                yield Case([a, b], {}, [wrap(np.matmul(long(a), long(b)))])
                yield Case([a, b, None, b_zero], {}, [wrap(np.matmul(long(a), long(b) - long(b_zero)))])
            y = np.matmul(long(a) - across(long(a_zero), True), long(b) - long(b_zero))
            yield Case([a, b, a_zero, b_zero], {}, [wrap(y)])
    for other in signs(dtype):  # a sum beyond 2^24 that float32 does not have
        a, b = (np.full(shape, np.iinfo(name).max, name) for name, shape in ((dtype, (1, 1507)), (other, (1507, 37))))
        yield Case([a, b], {}, [wrap(np.matmul(long(a), long(b)))])


@cases("qlinear_matmul")
def qlinear_matmul(s, dtype):
    for number, (a_shape, b_shape, many) in enumerate(PRODUCTS):
        for place, other in enumerate(signs(dtype)):
            scale_type = ("float32", "float16", "float32", "bfloat16")[(number + place) % 4]
            a, b = integers(s, dtype, a_shape), integers(s, other, b_shape)
            if number == 0:
                a = np.repeat(a[:1], len(a), axis=0)
            a_zero, b_zero = vectors(s, dtype, a_shape, b_shape, many, lambda shape: s.integers(0, 100, shape))
            a_zero, b_zero = array(a_zero, dtype), array(b_zero, other)
            a_scale, b_scale = vectors(s, dtype, a_shape, b_shape, many,
                                       lambda shape: s.uniform(scale_type, 0.01, 0.1, shape))
            y_scale, y_zero = s.uniform(scale_type, 1, 20), array(s.integers(0, 100), (dtype, other)[number % 2])
            sums = wrap(np.matmul(long(a) - across(long(a_zero), True), long(b) - long(b_zero)))
            factor = across(a_scale, True) * b_scale
            yield Case([a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero], {},
                       [requantize(sums, factor.astype(a_scale.dtype), y_scale, y_zero)])


@cases("linear_int8")
def linear_int8(s, dtype):
    for number, (x_shape, w_shape) in enumerate([((3, 4), (5, 4)), ((2, 3, 4), (6, 4)), ((4,), (3, 4)), ((0, 4), (2, 4)),
                                                 ((3, 0), (2, 0)), ((9, 65), (40, 65)), ((65, 33), (15, 33)),
                                                 ((17, 64), (33, 64)), ((4, 300), (20, 300)), ((33, 70), (17, 70)),
                                                 # few rows: each number of them, columns left over, ends of all lengths
                                                 ((1, 33), (7, 33)), ((2, 95), (6, 95)), ((3, 64), (3, 64)), ((4, 31), (1, 31)),
                                                 ((5, 7), (9, 7)), ((4, 160), (21, 160)), ((1, 1), (5, 1))]):
        for place, other in enumerate(signs(dtype)):
            scale_type = FLOATS[(number + place) % 4] if number < 6 else "float32" # which engines take
            x, w = integers(s, dtype, x_shape), integers(s, other, w_shape)
            if number == 0:
                x = np.repeat(x[:1], len(x), axis=0)
            many = number % 2 == 1 and x.ndim > 1
            x_scale = s.uniform(scale_type, 0.01, 0.1, x_shape[:-1] + (1,) if many and number < 6 else ())
            w_scale = s.uniform(scale_type, 0.01, 0.1, w_shape[:1] if many else ())
            x_zero = array(s.integers(0, 9), dtype)
            w_zero = array(s.integers(0, 9, w_shape[:1] if many else ()), other)
            bias = s.uniform(scale_type, -1, 1, w_shape[:1]) if place else None
            sums = np.matmul(long(x) - long(x_zero), (long(w) - long(across(w_zero, True))).T)
            y = wide(sums).astype(np.longdouble) * wide(x_scale) * wide(w_scale)
            scale = abs(y)
            if bias is not None:
                y = y + wide(bias)
                scale = scale + abs(wide(bias))
            inputs = [x, w, x_scale, w_scale, x_zero, w_zero] + ([bias] if place else [])
            yield Case(inputs, {}, [Near(y, scale_type, scale)], 1)


@refusals("matmul_integer")
def matmul_integer_refusals(s):
    a, b = integers(s, "int8", (3, 4)), integers(s, "uint8", (4, 5))
    yield Refusal([a, array(b, "int32")], {}, "DTYPE", "input b is int32")
    yield Refusal([a, integers(s, "int8", (3, 5))], {}, "SHAPE", "expected 4 rows")
    yield Refusal([integers(s, "int8", ()), b], {}, "SHAPE", "expected at least 1 axis")
    yield Refusal([integers(s, "int8", (2, 3, 4)), integers(s, "int8", (3, 4, 2))], {}, "SHAPE", "that broadcast")
    yield Refusal([a, b, array(0, "uint8")], {}, "DTYPE", "expected int8, the dtype of what it belongs to")
    yield Refusal([a, b, array([0, 1], "int8")], {}, "SHAPE", "one for each row")
    yield Refusal([a, b, None, array([0, 1], "uint8")], {}, "SHAPE", "one for each column")


@refusals("qlinear_matmul", "qlinear_add")
def triple_refusals(s, op):
    a, b = integers(s, "int8", (4, 4)), integers(s, "int8", (4, 4))
    scale, zero = array(1, "float32"), array(0, "int8")
    yield Refusal([a, scale, zero, array(b, "int16"), scale, zero, scale, zero], {}, "DTYPE", "input b is int16")
    yield Refusal([a, array(1, "int8"), zero, b, scale, zero, scale, zero], {}, "DTYPE", "input a_scale")
    yield Refusal([a, scale, zero, b, array(1, "float64"), zero, scale, zero], {}, "DTYPE", "the first scale")
    yield Refusal([a, scale, array(0, "uint8"), b, scale, zero, scale, zero], {}, "DTYPE", "input a_zero_point")
    yield Refusal([a, scale, zero, b, scale, zero, array([1, 1], "float32"), zero], {}, "SHAPE", "expected one value")
    yield Refusal([a, scale, zero, b, scale, zero, scale, array(0, "int16")], {}, "DTYPE", "input y_zero_point")


@refusals("linear_int8")
def linear_int8_refusals(s):
    x, w = integers(s, "int8", (3, 4)), integers(s, "int8", (5, 4))
    scale = array(1, "float32")
    yield Refusal([x, integers(s, "int8", (4, 5)), scale, scale], {}, "SHAPE", "expected [n, k]")
    yield Refusal([x, w, scale, array(1, "float64")], {}, "DTYPE", "expected float32")
    yield Refusal([x, w, array(1, "int8"), scale], {}, "DTYPE", "input x_scale")
    yield Refusal([x, w, scale, array([1, 2], "float32")], {}, "SHAPE", "one for each row")
    yield Refusal([x, w, scale, scale, None, None, array([1], "float32")], {}, "SHAPE", "one value a row of w")


@cases("matmul_nbits")
def matmul_nbits(s, dtype):
    kinds = ("int4", "uint4", "int8", "uint8", "int2", "uint2", "float4_e2m1fn")
    for number, (a_shape, n, block) in enumerate([((3, 8), 5, 4), ((2, 3, 7), 4, 3), ((9,), 2, 32), ((0, 4), 3, 2),
                                                  ((2, 0), 3, 2), ((5, 70), 9, 32)]):
        for place, kind in enumerate(kinds):
            k = a_shape[-1]
            a, b = s.small(dtype, a_shape), s.bits(kind, (n, k))
            if number == 0:
                a = np.repeat(a[:1], len(a), axis=0)
            blocks = (n, -(-k // block))
            scale = s.uniform(dtype, 0.1, 1, blocks)
            zero = s.bits(kind, blocks) if place % 2 else None
            bias = s.small(dtype, (n,)) if (number + place) % 3 == 0 else None
            weights = wide(real(b))
            if zero is not None:
                weights = weights - np.repeat(wide(real(zero)), block, axis=1)[:, :k]
            weights = weights * np.repeat(wide(scale), block, axis=1)[:, :k]
            y, size = np.matmul(wide(a), weights.T), np.matmul(abs(wide(a)), abs(weights).T)
            if bias is not None:
                y, size = y + wide(bias), size + abs(wide(bias))
            inputs = [a, b, scale] + ([zero, bias] if bias is not None else [zero] if zero is not None else [])
            yield Case(inputs, {"block_size": block}, [Near(y, dtype, size)], 4 if dtype == "float64" else 1)


@refusals("matmul_nbits")
def matmul_nbits_refusals(s):
    a, b = s.small("float32", (3, 8)), s.bits("int4", (5, 8))
    scale = s.uniform("float32", 0, 1, (5, 2))
    yield Refusal([a, s.bits("int4", (8, 5)), scale], {"block_size": 4}, "SHAPE", "expected [n, k]")
    yield Refusal([a, b, scale], {"block_size": 3}, "SHAPE", "[n, ceil(k / block_size)]")
    yield Refusal([a, b, scale], {"block_size": 0}, "ARGUMENT", "block_size is 0")
    yield Refusal([a, a, scale], {"block_size": 4}, "DTYPE", "input b is float32")
    yield Refusal([a, b, array(scale, "float64")], {"block_size": 4}, "DTYPE", "expected float32")
    yield Refusal([a, b, scale, s.bits("uint4", (5, 2))], {"block_size": 4}, "DTYPE", "expected int4")


# -- convolutions --------------------------------------------------------------------------------------------------------

def unfold(x, kernel, strides, pads, dilations):
    """Windows of x [n, c, ...], which is padded with 0: [n, outputs..., c, kernel...]."""
    axes = len(kernel)
    padded = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[axes + i]) for i in range(axes)])
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    outputs = [(padded.shape[2 + i] - reach[i]) // strides[i] + 1 for i in range(axes)]
    windows = np.zeros((x.shape[0], *outputs, x.shape[1], *kernel), np.int64)
    for at in np.ndindex(*outputs):
        part = tuple(slice(a * s, a * s + r, d) for a, s, r, d in zip(at, strides, reach, dilations))
        windows[(slice(None), *at)] = padded[(slice(None), slice(None), *part)]
    return windows


def convolved(x, w, strides, pads, dilations, groups):
    parts = []
    for group in range(groups):
        c, o = w.shape[1], w.shape[0] // groups
        windows = unfold(x[:, group * c:(group + 1) * c], w.shape[2:], strides, pads, dilations)
        weights = w[group * o:(group + 1) * o]
        axes = weights.ndim - 1
        part = np.tensordot(windows, weights, axes=(range(windows.ndim - axes, windows.ndim), range(1, axes + 1)))
        parts.append(np.moveaxis(part, -1, 1))
    return np.concatenate(parts, axis=1)


# x, w, attributes
CONVOLUTIONS = [((2, 3, 7), (4, 3, 3), {}), ((1, 4, 6, 5), (6, 2, 3, 2), {"groups": 2, "pads": [1, 0, 1, 1]}),
                ((2, 2, 5, 5), (2, 1, 3, 3), {"groups": 2, "strides": [2, 1], "auto_pad": 1}),
                ((1, 2, 4, 3, 4), (3, 2, 2, 2, 2), {"dilations": [1, 1, 2]}), ((0, 2, 5), (3, 2, 2), {}),
                ((1, 16, 9, 9), (20, 16, 3, 3), {"pads": [1, 1, 1, 1]}),
                ((2, 37, 13, 11), (37, 1, 3, 3), {"groups": 37, "pads": [1, 2, 0, 1], "strides": [2, 1]}),
                ((3, 19, 9, 8), (35, 19, 3, 2), {"pads": [2, 0, 1, 1], "strides": [1, 2]}),
                ((2, 40, 9, 9), (17, 40, 1, 1), {}), ((1, 4100, 3), (2, 4100, 2), {})]


def conv_arguments(x_shape, w_shape, attrs):
    axes = len(x_shape) - 2
    strides, dilations = attrs.get("strides", [1] * axes), attrs.get("dilations", [1] * axes)
    pads = attrs.get("pads", [0] * 2 * axes)
    if "auto_pad" in attrs:
        totals = [max(0, (-(-x_shape[2 + i] // strides[i]) - 1) * strides[i] + w_shape[2 + i] - x_shape[2 + i])
                  for i in range(axes)]
        pads = [t // 2 for t in totals] + [t - t // 2 for t in totals]
    return strides, pads, dilations, attrs.get("groups", 1)


@cases("conv_integer")
def conv_integer(s, dtype):
    for number, (x_shape, w_shape, attrs) in enumerate(CONVOLUTIONS):
        for place, other in enumerate(signs(dtype)):
            x, w = integers(s, dtype, x_shape), integers(s, other, w_shape)
            if number == 0:
                x = np.repeat(x[:1], len(x), axis=0)
            x_zero = array(s.integers(0, 90), dtype)
            w_zero = array(s.integers(0, 90, w_shape[:1] if place else ()), other)
            arguments = conv_arguments(x_shape, w_shape, attrs)
            weights = long(w) - long(w_zero).reshape(-1, *[1] * (w.ndim - 1))
            yield Case([x, w, x_zero, w_zero], attrs, [wrap(convolved(long(x) - long(x_zero), weights, *arguments))])
            if number % 2:
                yield Case([x, w], attrs, [wrap(convolved(long(x), long(w), *arguments))])


@cases("qlinear_conv")
def qlinear_conv(s, dtype):
    for number, (x_shape, w_shape, attrs) in enumerate(CONVOLUTIONS):
        for place, other in enumerate(signs(dtype)):
            x, w = integers(s, dtype, x_shape), integers(s, other, w_shape)
            if number == 0:
                x = np.repeat(x[:1], len(x), axis=0)
            channels = w_shape[:1] if place else ()
            x_zero, w_zero = array(s.integers(0, 90), dtype), array(s.integers(0, 90, channels), other)
            x_scale, w_scale = s.uniform("float32", 0.01, 0.1), s.uniform("float32", 0.01, 0.1, channels)
            y_scale, y_zero = s.uniform("float32", 1, 20), array(s.integers(0, 90), (dtype, other)[number % 2])
            weights = long(w) - long(w_zero).reshape(-1, *[1] * (w.ndim - 1))
            sums = wrap(convolved(long(x) - long(x_zero), weights, *conv_arguments(x_shape, w_shape, attrs)))
            inputs = [x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero]
            by_channel = (1, -1, *[1] * (x.ndim - 2))
            if number % 2:
                bias = s.integers(-999, 999, w_shape[:1]).astype(np.int32)
                sums = sums.astype(np.int64) + long(bias).reshape(by_channel)
                inputs.append(bias)
            factor = np.asarray(x_scale * w_scale).astype(np.float32).reshape(by_channel)
            yield Case(inputs, attrs, [requantize(sums, factor, y_scale, y_zero)])


@refusals("conv_integer")
def conv_integer_refusals(s):
    x, w = integers(s, "int8", (1, 4, 6)), integers(s, "int8", (2, 4, 3))
    yield Refusal([integers(s, "int8", (4, 6)), w], {}, "SHAPE", "1 to 3 spatial axes")
    yield Refusal([x, integers(s, "int8", (2, 3, 3))], {}, "SHAPE", "expected [o, 4, ...]")
    yield Refusal([x, w], {"groups": 3}, "SHAPE", "groups is 3")
    yield Refusal([x, w], {"groups": 0}, "ARGUMENT", "groups is 0")
    yield Refusal([x, w, array([1, 2], "int8")], {}, "SHAPE", "expected one value")
    yield Refusal([x, w, None, array([1, 2, 3], "int8")], {}, "SHAPE", "one an output channel")
    yield Refusal([x, array(w, "float32")], {}, "DTYPE", "input w is float32")


@refusals("qlinear_conv")
def qlinear_conv_refusals(s):
    x, w = integers(s, "int8", (1, 4, 6)), integers(s, "int8", (2, 4, 3))
    scale, zero = array(1, "float32"), array(0, "int8")
    yield Refusal([x, array([1, 2], "float32"), zero, w, scale, zero, scale, zero], {}, "SHAPE", "input x_scale")
    yield Refusal([x, scale, zero, w, array([1, 2, 3], "float32"), zero, scale, zero], {}, "SHAPE", "output channel")
    yield Refusal([x, scale, zero, w, scale, zero, scale, zero, array([1, 2], "float32")], {}, "DTYPE", "expected int32")
    yield Refusal([x, scale, zero, w, scale, zero, scale, zero, array([1], "int32")], {}, "SHAPE", "one value an output")


@cases("qlinear_add")
def qlinear_add(s, dtype):
    for a_shape, b_shape in [((3, 4), (3, 4)), ((2, 1, 5), (3, 1)), ((), (6,)), ((0, 2), (2,)), ((40, 41), (41,))]:
        for other in signs(dtype):
            a, b = integers(s, dtype, a_shape), integers(s, other, b_shape)
            if a_shape == (3, 4):
                a = np.repeat(a[:1], len(a), axis=0)
            a_zero, b_zero = array(s.integers(0, 99), dtype), array(s.integers(0, 99), other)
            a_scale, b_scale, y_scale = (s.uniform("float32", 0.1, 2) for _ in range(3))
            y_zero = array(s.integers(0, 99), dtype)
            value = ((long(a) - long(a_zero)) * float(a_scale) + (long(b) - long(b_zero)) * float(b_scale)) / float(y_scale)
            y = np.clip(np.rint(value) + long(y_zero), *RANGES[dtype]).astype(NUMPY[dtype])
            yield Case([a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero], {}, [y])

"""Activations."""
import mpmath
import numpy as np
from mpmath import mp

from framework import NUMPY, Case, Exact, Near, Refusal, cases, is_complex, is_float, is_integer, refusals, wide
from numbers_oracle import arrays, both_zeros, each, real

inf, nan = mpmath.inf, mpmath.nan
ALPHA, GAMMA = 1.6732632423543772, 1.0507009873554805


def exp(x):
    return mpmath.exp(min(max(x, -40000), 40000))


def sigmoid(x):
    return 1 / (1 + exp(-x)) if x > -30000 else mpmath.mpf(0)


def softplus(x):
    return x if x > 30000 else mpmath.log1p(exp(x))


def celu(x, alpha):
    return max(x, 0) + min(alpha * (mpmath.expm1(min(x / alpha, 30000))), 0)


def rational_tanh(x):
    u = abs(x) * 2 / 3
    p = u + u * u + mpmath.mpf("1.41645") * u ** 4
    return mpmath.sign(x) * mpmath.mpf("1.7159") * p / (1 + p)


def tanh_shrink(x):
    if abs(x) < 1e-20:
        return x * x * x / 3
    with mpmath.workprec(400):
        return x - tanh(x)


def tanh(x):
    return mpmath.tanh(min(max(x, -1000), 1000))


def clip(x, low, high):
    return min(max(x, low), high)


def number(function):
    """NaN stays; infinities are handed on as mpf."""
    return lambda x: nan if x != x else function(mpmath.mpf(x))


# op: (attributes, function of mpf) for each choice of attributes
ACTIVATIONS = {
    "elu": [({}, real(lambda x: x if x > 0 else mpmath.expm1(max(x, -9999)), at_low=-1, at_high=inf)),
            ({"alpha": 2.5}, real(lambda x: x if x > 0 else 2.5 * mpmath.expm1(max(x, -9999)), at_low=-2.5, at_high=inf))],
    "selu": [({}, real(lambda x: GAMMA * (x if x > 0 else ALPHA * mpmath.expm1(max(x, -9999))),
                       at_low=-mpmath.mpf(GAMMA) * ALPHA, at_high=inf)),
             ({"alpha": 2.0, "gamma": 3.0}, real(lambda x: 3 * (x if x > 0 else 2 * mpmath.expm1(max(x, -9999))),
                                                 at_low=-6, at_high=inf))],
    "celu": [({}, real(lambda x: celu(x, 1), at_low=-1, at_high=inf)),
             ({"alpha": 2.0}, real(lambda x: celu(x, mpmath.mpf(2)), at_low=-2, at_high=inf))],
    "softplus": [({}, real(softplus, at_low=0, at_high=inf)),
                 ({"beta": 2.0}, real(lambda x: softplus(2 * x) / 2, at_low=0, at_high=inf))],
    "softsign": [({}, real(lambda x: x / (1 + abs(x)), at_low=-1, at_high=1))],
    "hard_sigmoid": [({}, number(lambda x: clip(mpmath.mpf(0.2) * x + 0.5, 0, 1))),
                     ({"alpha": 1 / 6, "beta": 0.25}, number(lambda x: clip(mpmath.mpf(1 / 6) * x + 0.25, 0, 1)))],
    "hard_swish": [({}, number(lambda x: mpmath.mpf(0) if x <= -3 else x if x >= 3 else x * (x + 3) / 6))],
    "mish": [({}, real(lambda x: x * tanh(softplus(x)), at_low=0, at_high=inf))],
    "swish": [({}, real(lambda x: x * sigmoid(x), at_low=0, at_high=inf)),
              ({"alpha": 1.702}, real(lambda x: x * sigmoid(mpmath.mpf(1.702) * x), at_low=0, at_high=inf)),
              ({"alpha": -1.0}, real(lambda x: x * sigmoid(-x), at_low=-inf, at_high=0))],
    "threshold": [({}, number(lambda x: x if x > 0 else mpmath.mpf(0))),
                  ({"threshold": 1.5, "value": -20.0}, number(lambda x: x if x > 1.5 else mpmath.mpf(-20)))],
    "hard_tanh": [({}, number(lambda x: clip(x, -1, 1))), ({"low": 0.0, "high": 6.0}, number(lambda x: clip(x, 0, 6)))],
    "log_sigmoid": [({}, real(lambda x: -softplus(-x), at_low=-inf, at_high=0))],
    "tanh_shrink": [({}, real(tanh_shrink, at_low=-inf, at_high=inf))],
    "shrink": [({}, number(lambda x: x if abs(x) > 0.5 else mpmath.mpf(0))),
               ({"lambd": 1.5, "bias": 1.5}, number(lambda x: x - 1.5 if x > 1.5 else x + 1.5 if x < -1.5 else mpmath.mpf(0)))],
    "rational_tanh": [({}, real(rational_tanh, at_low=-mpmath.mpf(1.7159), at_high=mpmath.mpf(1.7159)))],
    "rectified_tanh": [({}, real(lambda x: max(tanh(x), 0), at_low=0, at_high=1))],
}
POINTS = (1e-9, -1e-4, 0.5, -0.5, 3, -3, 1.5, -20, 20, -88, 90, -700, -104, 41, 61, -12)


# Beyond one unit: exponentials in the elements' own precision, and quotients of them.
ULPS = {"elu": 2, "celu": 2, "selu": 3, "softplus": 4, "log_sigmoid": 4, "mish": 4, "swish": 4, "softsign": 1.5}
# 0 at 0, and -0 at -0
KEEP_ZERO = {"elu", "selu", "celu", "softsign", "mish", "swish", "hard_swish"}


@cases(*ACTIVATIONS, ulps=1)
def activations(s, dtype, op):
    for attrs, function in ACTIVATIONS[op]:
        for x in arrays(s, dtype, -6, 6, POINTS):
            # alpha x + beta may cancel, in float64
            scale = 1e-8 if op == "hard_sigmoid" and dtype != "float64" else None
            yield Case([x], attrs, [Near(each(function, x), dtype, scale)], ulps=ULPS.get(op))
        if op in KEEP_ZERO:
            yield Case([both_zeros(dtype)], attrs, [Exact(both_zeros(dtype), signs=True)])


@cases("cube", ulps=0.5, complex_ulps=4)
def cube(s, dtype):
    for shape in [(), (0, 3), (7,), (2, 3, 5), (257,)]:
        x = s.small(dtype, shape)
        if is_integer(dtype):
            yield Case([x], {}, [np.array(x * x * x, dtype=x.dtype)])
        else:
            yield Case([x], {}, [Near(wide(x) * wide(x) * wide(x), dtype)])
    x = np.repeat(s.small(dtype, (1, 5)), 3, axis=0)
    yield Case([x], {}, [np.array(x * x * x, dtype=x.dtype) if is_integer(dtype) else Near(wide(x) ** 3, dtype)])


@cases("prelu", ulps=0.5)
def prelu(s, dtype):
    for a, b in [((), ()), ((7,), ()), ((2, 3, 5), (2, 3, 5)), ((4, 5, 6), (5, 1)), ((0, 3), (3,)), ((257,), (1,))]:
        x, slope = s.small(dtype, a), s.small(dtype, b)
        if is_integer(dtype):
            yield Case([x, slope], {}, [np.where(x < 0, x * slope, x).astype(x.dtype)])
        else:
            yield Case([x, slope], {}, [Near(np.where(wide(x) < 0, wide(x) * wide(slope), wide(x)), dtype)])
    x = np.repeat(s.small(dtype, (1, 5)), 3, axis=0)
    yield Case([x, np.ones((5,), x.dtype)], {}, [Exact(x)])
    if is_float(dtype):
        x = s.special(dtype, (67,))
        with np.errstate(all="ignore"):
            yield Case([x, np.array(0.25, x.dtype)], {}, [Near(np.where(wide(x) < 0, wide(x) / 4, wide(x)), dtype)])


@cases("glu", ulps=1)
def glu(s, dtype):
    for shape, axis in [((8,), 0), ((3, 4), -1), ((4, 3, 5), 0), ((2, 6, 3), 1), ((2, 0, 3), 1), ((0, 4), 1), ((1, 514), -1)]:
        x = s.uniform(dtype, -6, 6, shape)
        a, b = np.split(x, 2, axis=axis)
        yield Case([x], {"axis": axis}, [Near(each(lambda u, v: mpmath.mpf(u) * sigmoid(mpmath.mpf(v)), a, b), dtype)])
    x = np.repeat(s.uniform(dtype, -6, 6, (1, 6)), 4, axis=0)
    a, b = np.split(x, 2, axis=1)
    yield Case([x], {}, [Near(each(lambda u, v: mpmath.mpf(u) * sigmoid(mpmath.mpf(v)), a, b), dtype)])


@cases("swiglu", ulps=1)
def swiglu(s, dtype):
    for a, b in [((), ()), ((7,), ()), ((2, 3, 5), (2, 3, 5)), ((4, 1, 6), (5, 1)), ((0, 3), (3,)), ((257,), (257,))]:
        for attrs, alpha in (({}, 1), ({"alpha": 1.75}, mpmath.mpf(1.75))):
            x, y = s.uniform(dtype, -6, 6, a), s.uniform(dtype, -6, 6, b)
            value = each(lambda u, v: mpmath.mpf(u) * sigmoid(alpha * mpmath.mpf(u)) * mpmath.mpf(v), x, y)
            yield Case([x, y], attrs, [Near(value, dtype)])
    x, y = np.repeat(s.uniform(dtype, -6, 6, (1, 6)), 4, axis=0), s.uniform(dtype, -6, 6, (6,))
    value = each(lambda u, v: mpmath.mpf(u) * sigmoid(mpmath.mpf(u)) * mpmath.mpf(v), x, y)
    yield Case([x, y], {}, [Near(value, dtype)])


@cases("crelu", ulps=0)
def crelu(s, dtype):
    for shape, axis in [((8,), 0), ((3, 4), -1), ((4, 3, 5), 0), ((2, 6, 3), 1), ((2, 0, 3), 1), ((0, 4), 1)]:
        x = s.small(dtype, shape)
        zero = np.zeros((), x.dtype)
        yield Case([x], {"axis": axis}, [Exact(np.concatenate([np.maximum(x, zero), np.maximum(-x, zero)], axis=axis))])
    x = np.repeat(s.special(dtype, (1, 6)), 4, axis=0)
    y = [np.where(np.isnan(v), v, np.maximum(v, np.zeros((), x.dtype))) if is_float(dtype)
         else np.maximum(v, np.zeros((), x.dtype)) for v in (x, -x)]
    yield Case([x], {}, [Exact(np.concatenate(y, axis=-1).astype(x.dtype))])


@refusals("celu", "softplus")
def no_divisor(s, op):
    yield Refusal([s.small("float32", (3,))], {"alpha" if op == "celu" else "beta": 0.0}, "ARGUMENT", "is 0, expected")


@refusals("glu", "crelu")
def no_axis(s, op):
    yield Refusal([s.small("float32", (4,))], {"axis": 1}, "INDEX", "axis")
    yield Refusal([s.small("float32", ())], {"axis": 0}, "INDEX", "axis")
    if op == "glu":
        yield Refusal([s.small("float32", (2, 3))], {}, "SHAPE", "odd length 3")


@refusals("prelu")
def no_slope(s):
    yield Refusal([s.small("float32", (2, 3)), s.small("float32", (2,))], {}, "SHAPE", "slope")
    yield Refusal([s.small("float32", (3,)), s.small("float64", (3,))], {}, "DTYPE", "slope")

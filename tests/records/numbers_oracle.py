"""Arbitrary-precision oracles that several families share: functions of real numbers with their domain and limits."""
import mpmath
import numpy as np
from mpmath import mp

from framework import NUMPY, Near, is_complex

mp.prec = 160
SHAPES = [(), (0, 3), (7,), (2, 3, 5), (4, 1, 33), (257,)]


def arrays(s, dtype, low=-4, high=4, points=()):
    """Numbers between low and high in several shapes, one with equal rows, special ones, any bits, and the points."""
    for shape in SHAPES:
        yield s.uniform(dtype, low, high, shape)
    yield np.repeat(s.uniform(dtype, low, high, (1, 5)), 3, axis=0)
    yield s.special(dtype, (61,))
    yield s.bits(dtype, (67,))
    if points:
        with np.errstate(all="ignore"):
            yield np.array([float(p) for p in points], dtype=np.float64).astype(NUMPY[dtype])


def both_zeros(dtype):
    """0 and -0, more elements than a vector has."""
    return np.array([0.0, -0.0] * 19, dtype=NUMPY[dtype])


def exact(x):
    """The element as an mpf: every float is one."""
    return mpmath.mpf(float(x))


def each(function, *operands):
    """function(*elements as floats or Python integers) in the shape of the operands broadcast, as objects."""
    broadcast = np.broadcast_arrays(*operands)
    result = np.empty(broadcast[0].shape, dtype=object)
    flat = [b.reshape(-1) for b in broadcast]
    out = result.reshape(-1)
    for i in range(out.size):
        out[i] = function(*[f[i].item() if f[i].dtype.kind in "biu" else float(f[i]) for f in flat])
    return out.reshape(result.shape)


def real(function, low=-mpmath.inf, high=mpmath.inf, at_low=None, at_high=None, at_zero=None):
    """A function of floats from one of mpf: NaN outside [low, high]; at infinities the limits given; at_zero: of 1 and
    -1, at 0 and -0."""
    def of(x):
        if at_zero is not None and x == 0:
            return at_zero * np.copysign(1, x)
        if x != x or x < low or x > high:
            return mpmath.nan
        if x == -mpmath.inf:
            return at_low
        if x == mpmath.inf:
            return at_high
        return function(mpmath.mpf(x))
    return of


def near(function, x, dtype, scale=None):
    return Near(each(function, x), dtype, scale)


def complex_near(function, x, dtype):
    """function of mpc, elements finite."""
    x = np.asarray(x)
    result = np.empty(x.shape, dtype=object)
    flat, out = x.reshape(-1), result.reshape(-1)
    for i in range(out.size):
        out[i] = mpmath.mpc(function(mpmath.mpc(float(flat[i].real), float(flat[i].imag))))
    assert is_complex(dtype)
    return Near(out.reshape(x.shape), dtype)

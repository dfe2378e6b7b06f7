#!/usr/bin/env python3
"""Writes arguments and results in arbitrary precision for nd4c_accuracy: points.py FILE [COUNT]

For each function and for float32 and float64: random bit patterns, random numbers of the range that matters, and
neighbours of zeros (found here, where they are not plain). A result is the sum of two doubles times a power of two.
"""
import pathlib
import struct
import sys

import mpmath
import numpy as np
from mpmath import mp

mp.prec = 140
inf, nan = mpmath.inf, mpmath.nan


def limited(function, low, high):
    """Beyond low and high all numbers give the same double."""
    return lambda x: function(min(max(x, mpmath.mpf(low)), mpmath.mpf(high)))


def log_gamma(x):
    if x <= 0 and x == mpmath.floor(x):
        return inf
    if x > 0:
        return mpmath.loggamma(x)
    return mpmath.log(mp.pi / abs(mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def digamma(x):
    if x <= 0 and x == mpmath.floor(x):
        return None
    return mpmath.digamma(x) if x > 0 else mpmath.digamma(1 - x) - mp.pi * mpmath.cospi(x) / mpmath.sinpi(x)


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def gelu(x):
    return x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def gelu_tanh(x):
    return x * sigmoid(2 * mpmath.sqrt(2 / mp.pi) * (x + mpmath.mpf("0.044715") * x ** 3))


def only_if(condition, function):
    return lambda x: function(x) if condition(x) else None


def convergents(x, count):
    """Numerators of the best fractions for x: the whole numbers that are nearest to a multiple of x."""
    before, last, found = 1, int(x), []
    for _ in range(count):
        x = 1 / (x - mpmath.floor(x))
        before, last = last, int(x) * last + before
        found.append(last)
    return found


def beside_poles(deepest):
    """lgamma's negative zeros: two to the left of -2, then one on each side of -3, -4, ..., about 1 / n! away."""
    found = [mpmath.findroot(log_gamma, mpmath.mpf(start)) for start in ("-2.457", "-2.7476", "-3.1436")]
    for n in range(4, deepest):
        far, close = min(mpmath.mpf(0.5), 5 / mpmath.factorial(n)), mpmath.mpf(0.1) / mpmath.factorial(n)
        found += [mpmath.findroot(log_gamma, (-n + side * far, -n + side * close), solver="anderson") for side in (-1, 1)]
    return found


# Multiples of pi / 2 below 2^20: of some of them, n times the first 106 bits of pi / 2 leaves next to nothing, too.
MULTIPLES = [k * mp.pi / 2 for k in (29, 177601, 409102, *range(3, 667544, 29989))]
HARD_ANGLES = convergents(mp.pi / 2, 36) + [mpmath.ldexp(6381956970095103, 797)] + MULTIPLES
LGAMMA_ZEROS = [1, 2] + beside_poles(13)
DIGAMMA_ZEROS = [mpmath.findroot(mpmath.digamma, x) for x in ([1.4616, -0.504] + [1 / mpmath.log(n + 9) - n for n in range(2, 12)])]

# name: function of mpf (None: left out), low and high of the range that matters, zeros
FUNCTIONS = {
    "exp": (limited(mpmath.exp, -2000, 2000), -110, 110, ()),
    "expm1": (limited(mpmath.expm1, -2000, 2000), -40, 40, (0,)),
    "log": (only_if(lambda x: x > 0, mpmath.log), 0, 8, (1,)),
    "log1p": (only_if(lambda x: x > -1, mpmath.log1p), -1, 8, (0,)),
    "sin": (mpmath.sin, -30, 30, [k * mp.pi for k in (1, 2, 3, 22, 355, 10 ** 6, 10 ** 15)] + HARD_ANGLES),
    "cos": (mpmath.cos, -30, 30, [(k + mpmath.mpf(1) / 2) * mp.pi for k in (0, 1, 2, 56, 10 ** 6, 10 ** 15)] + HARD_ANGLES),
    "tan": (mpmath.tan, -30, 30, [k * mp.pi / 2 for k in (1, 2, 3, 22, 355, 10 ** 6, 10 ** 15)] + HARD_ANGLES),
    "tanh": (limited(mpmath.tanh, -500, 500), -12, 12, ()),
    "erf": (limited(mpmath.erf, -200, 200), -6, 6, ()),
    "erfc": (limited(mpmath.erfc, -200, 200), -6, 28, ()),
    "sqrt": (only_if(lambda x: x >= 0, mpmath.sqrt), 0, 8, ()),
    "sigmoid": (limited(sigmoid, -2000, 2000), -110, 110, ()),
    "softplus": (lambda x: x if x > 2000 else mpmath.log1p(mpmath.exp(max(x, mpmath.mpf(-2000)))), -110, 110, ()),
    "lgamma": (log_gamma, -20, 40, LGAMMA_ZEROS),
    "digamma": (digamma, -20, 40, DIGAMMA_ZEROS),
    "gelu": (lambda x: x if x > 100 else gelu(max(x, mpmath.mpf(-100))), -40, 20, ()),
    "gelu_tanh": (lambda x: x if x > 100 else gelu_tanh(max(x, mpmath.mpf(-100))), -22, 20, ()),
}
TYPES = {"float32": (np.float32, np.uint32, -149, 128), "float64": (np.float64, np.uint64, -1074, 1024)}


def arguments(random, dtype, count, low, high, zeros):
    kind, bits, _, _ = TYPES[dtype]
    with np.errstate(all="ignore"):
        wide = random.integers(0, np.iinfo(bits).max, count // 2, dtype=bits).view(kind)
        near = random.uniform(low, high, count - count // 2).astype(kind)
        values = [wide[np.isfinite(wide)], near]
        for zero in zeros:
            x = kind(float(zero))
            around = [x]
            for direction in (-np.inf, np.inf):
                y = x
                for _ in range(12):
                    y = np.nextafter(y, kind(direction))
                    around.append(y)
            values.append(np.array(around, dtype=kind))
    return np.concatenate(values).astype(np.float64)


def in_parts(value):
    """high, low and exponent: results smaller than every double keep their digits, too."""
    if not mpmath.isfinite(value) or value == 0:
        return float(value), 0.0, 0.0
    mantissa, exponent = mpmath.frexp(value)
    high = float(mantissa)
    return high, float(mantissa - mpmath.mpf(high)), float(exponent)


def block(name, dtype, x, y, values):
    columns = np.array([x, y, *zip(*(in_parts(v) for v in values))], dtype=np.float64)
    return name.encode().ljust(16, b"\0") + dtype.encode().ljust(16, b"\0") + struct.pack("<q", len(x)) + columns.tobytes()


def powers(random, dtype, count):
    kind, _, lowest, highest = TYPES[dtype]
    near_one = 1 + random.choice((-1, 1), count // 4) * 2.0 ** random.uniform(-50 if dtype == "float64" else -22, -1, count // 4)
    a = np.abs(np.concatenate([arguments(random, dtype, count, 0, 8, (1, 2)), near_one.astype(kind).astype(np.float64)]))
    a = a[a > 0]
    b = random.uniform(1.02 * lowest, 1.02 * highest, a.size) / np.where(a == 1, 1, np.log2(a))
    with np.errstate(all="ignore"):
        b = b.astype(kind).astype(np.float64)
    keep = np.isfinite(b)
    a, b = a[keep], b[keep]
    return a, b, [mpmath.power(mpmath.mpf(u), mpmath.mpf(v)) for u, v in zip(a.tolist(), b.tolist())]


def main():
    target, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1200
    random = np.random.Generator(np.random.PCG64(4))
    chunks = [b"ND4CPTS1"]
    for dtype in TYPES:
        for name, (function, low, high, zeros) in FUNCTIONS.items():
            pairs = [(x, function(mpmath.mpf(x))) for x in arguments(random, dtype, count, low, high, zeros).tolist()]
            pairs = [(x, v) for x, v in pairs if v is not None]
            x, values = [p[0] for p in pairs], [p[1] for p in pairs]
            chunks.append(block(name, dtype, x, [0.0] * len(x), values))
        a, b, values = powers(random, dtype, count)
        chunks.append(block("pow", dtype, a, b, values))
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    part.write_bytes(b"".join(chunks))
    part.rename(target)


if __name__ == "__main__":
    main()

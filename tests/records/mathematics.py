"""Elementary and special functions, parts and bits of numbers."""
import fractions
import math as scalar

import mpmath
import numpy as np
from mpmath import mp

from framework import (COMPLEXES, NUMPY, UINTS, Case, Exact, Near, Refusal, cases, is_complex, is_float, is_integer,
                       refusals)
from numbers_oracle import arrays, both_zeros, complex_near, each, near, real

inf, nan, pi = mpmath.inf, mpmath.nan, mp.pi
PART = {"complex64": "float32", "complex128": "float64"}


def sinc(x):
    return mpmath.sincpi(x)


def logit(x):
    return mpmath.log(x) - mpmath.log1p(-x) if x not in (0, 1) else (-inf if x == 0 else inf)


def pole(function):
    """A function with poles at -1, -2, ..."""
    def of(x):
        return nan if x < 0 and x == mpmath.floor(x) else function(x)
    return of


def log_gamma(x):
    if x <= 0 and x == mpmath.floor(x):
        return inf
    return mpmath.re(mpmath.loggamma(x)) if x > 0 or x > -1e6 else reflected_log_gamma(x)


def reflected_log_gamma(x):
    return mpmath.log(pi / abs(mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def gamma(x):
    if abs(x) > 2000:
        return inf if x > 0 else mpmath.mpf(0)
    return mpmath.gamma(x)


def digamma(x):
    return mpmath.digamma(x) if x > -1e5 else mpmath.digamma(1 - x) - pi * mpmath.cospi(x) / mpmath.sinpi(x)


def erfinv(x):
    if abs(x) < 1e-30:
        return mpmath.sqrt(pi) / 2 * x
    return mpmath.erfinv(x)


def bounded_exp(function, limit=2000):
    """For arguments far beyond every exponent: the limit of the sign."""
    return lambda x: function(min(max(x, -limit), limit))


# op: function of mpf, of floats; range to sample; points of interest; complex function of mpc; NumPy's complex function
REAL = {
    "acos": (real(mpmath.acos, -1, 1), (-1, 1), (1 - 1e-9, -1 + 1e-9)),
    "acosh": (real(mpmath.acosh, 1, inf, at_high=inf), (1, 8), (1 + 1e-9, 1 + 1e-3, 1e30)),
    "asin": (real(mpmath.asin, -1, 1), (-1, 1), (1e-9, 1 - 1e-9)),
    "asinh": (real(mpmath.asinh, at_low=-inf, at_high=inf), (-4, 4), (1e-9, -1e-30, 1e30)),
    "atan": (real(mpmath.atan, at_low=-pi / 2, at_high=pi / 2), (-4, 4), (1e-9, 1e30)),
    "atanh": (real(mpmath.atanh, -1, 1), (-1, 1), (1e-9, 1 - 1e-9)),
    "cosh": (real(bounded_exp(mpmath.cosh), at_low=inf, at_high=inf), (-4, 4), (11, 88, -89, 700, 710.3)),
    "sinh": (real(bounded_exp(mpmath.sinh), at_low=-inf, at_high=inf), (-4, 4), (1e-9, 11, 88, -89, 700, 710.3)),
    "tan": (real(mpmath.tan, at_low=nan, at_high=nan), (-4, 4), (1e-9, 1.5707963, 1e5, 1e30)),
    "expm1": (real(bounded_exp(mpmath.expm1), at_low=-1, at_high=inf), (-4, 4), (1e-9, -1e-4, 11, 88, 709, -50)),
    "log1p": (real(lambda x: mpmath.log1p(x) if x > -1 else -inf, -1, inf, at_high=inf), (-0.9, 4),
              (1e-9, -1e-4, 1e30, -1)),
    "log2": (real(lambda x: mpmath.log(x, 2) if x > 0 else -inf, 0, inf, at_high=inf), (0.01, 4), (1, 2, 1024, 1 + 1e-4)),
    "log10": (real(lambda x: mpmath.log10(x) if x > 0 else -inf, 0, inf, at_high=inf), (0.01, 4), (1, 10, 1000, 1 + 1e-4)),
    "exp2": (real(bounded_exp(lambda x: mpmath.power(2, x), 3000), at_low=0, at_high=inf), (-4, 4),
             (15.99, 127.99, -149, 1023.99, -1074)),
    "cbrt": (real(lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), at_low=-inf, at_high=inf), (-4, 4), (8, -27, 1e-30)),
    "rsqrt": (real(lambda x: 1 / mpmath.sqrt(x), 0, inf, at_high=0, at_zero=inf), (0.01, 4), (4, 1e-30)),
    "erfc": (real(lambda x: mpmath.erfc(x) if x < 200 else mpmath.mpf(0), at_low=2, at_high=0), (-4, 4),
             (1e-9, 9, 10, 26.5, -6)),
    "erfinv": (real(erfinv, -1, 1), (-1, 1), (1e-9, 1 - 1e-9, 0.999, -0.9999999)),
    "lgamma": (real(log_gamma, at_low=inf, at_high=inf), (-4, 4), (1, 2, 1 + 1e-4, 2 - 1e-4, -2.4570247382208, 30, 1e30)),
    "gamma": (real(pole(gamma), at_low=nan, at_high=inf, at_zero=inf), (-4, 4), (5, 34.9, 171.6, 8.9, -33.5)),
    "digamma": (real(pole(digamma), at_low=nan, at_high=inf, at_zero=-inf), (-4, 4),
                (1.4616321449683623, -0.5040830082644554, -1.5734984731623904, -10.5, 30, 1e30, 1e-30)),
    "i0": (real(bounded_exp(lambda x: mpmath.besseli(0, x)), at_low=inf, at_high=inf), (-4, 4), (29.9, 30.1, 88, 700)),
    "i1": (real(bounded_exp(lambda x: mpmath.besseli(1, x)), at_low=-inf, at_high=inf), (-4, 4), (29.9, -30.1, 88, 700)),
    "sinc": (real(sinc, at_low=0, at_high=0), (-4, 4), (0.5, 1, 2, 1000.5, 1e-9)),
    "deg2rad": (real(lambda x: x * pi / 180, at_low=-inf, at_high=inf), (-400, 400), (180,)),
    "rad2deg": (real(lambda x: x * 180 / pi, at_low=-inf, at_high=inf), (-4, 4), (3.141592653589793,)),
    "logit": (real(logit, 0, 1), (0, 1), (0.5, 0.5 + 1e-4, 1e-9, 0.25, 0.75)),
}


# Odd functions and others whose value at 0 is 0, and at -0 is -0 (C, Annex F)
KEEP_ZERO = {"asin", "asinh", "atan", "atanh", "sinh", "tan", "expm1", "log1p", "cbrt", "erfinv", "i1", "deg2rad", "rad2deg"}


def log1p_complex(z):
    return np.log(np.where(np.isfinite(z), 1 + z, z))


def scaled(values, factor):
    return values.real * factor, values.imag * factor


def parts(real_part, imaginary):
    result = np.empty(np.shape(real_part), dtype=np.complex128)
    result.real, result.imag = real_part, imaginary
    return result


COMPLEX = {
    "acos": (mpmath.acos, np.arccos), "acosh": (mpmath.acosh, np.arccosh), "asin": (mpmath.asin, np.arcsin),
    "asinh": (mpmath.asinh, np.arcsinh), "atan": (mpmath.atan, np.arctan), "atanh": (mpmath.atanh, np.arctanh),
    "cosh": (mpmath.cosh, np.cosh), "sinh": (mpmath.sinh, np.sinh), "tan": (mpmath.tan, np.tan),
    "expm1": (mpmath.expm1, lambda z: parts(np.exp(z).real - 1, np.exp(z).imag)),
    "log1p": (mpmath.log1p, lambda z: np.log(parts(z.real + 1, z.imag))),
    "log2": (lambda z: mpmath.log(z) / mpmath.log(2), lambda z: parts(*scaled(np.log(z), 1 / scalar.log(2)))),
    "log10": (lambda z: mpmath.log(z) / mpmath.log(10), lambda z: parts(*scaled(np.log(z), 1 / scalar.log(10)))),
    "exp2": (lambda z: mpmath.power(2, z), lambda z: np.exp(parts(*scaled(z, scalar.log(2))))),
}


def complex_cases(s, dtype, op):
    exact, special = COMPLEX[op]
    for shape in [(), (0, 3), (7,), (2, 3, 5), (257,)]:
        z = s.uniform(dtype, -4, 4, shape)
        yield Case([z], {}, [complex_near(exact, z, dtype)])
    z = s.special(dtype, (131,))
    with np.errstate(all="ignore"):
        yield Case([z], {}, [Near(special(z.astype(np.complex128)), dtype)])


@cases(*REAL, ulps=1, complex_ulps=4)
def real_functions(s, dtype, op):
    if is_complex(dtype):
        yield from complex_cases(s, dtype, op)
        return
    function, (low, high), points = REAL[op]
    for x in arrays(s, dtype, low, high, points):
        yield Case([x], {}, [near(function, x, dtype)], ulps=2 if op in ("gamma", "lgamma", "digamma") else None)
    if op in KEEP_ZERO:
        yield Case([both_zeros(dtype)], {}, [Exact(both_zeros(dtype), signs=True)])


# -- parts and bits ---------------------------------------------------------------------------------------------------

def plain(s, dtype):
    for shape in [(), (0, 3), (7,), (2, 3, 5), (4, 1, 33)]:
        yield s.small(dtype, shape)
    yield np.repeat(s.small(dtype, (1, 5)), 3, axis=0)
    yield s.special(dtype, (131,))
    yield s.bits(dtype, (67,))


@cases("trunc", "positive", "conj", "frac", ulps=0)
def moved(s, dtype, op):
    with np.errstate(all="ignore"):
        for x in plain(s, dtype):
            if op == "trunc" and not is_integer(dtype):
                y = np.trunc(x.astype(np.float64)).astype(x.dtype)
            elif op == "frac":
                y = (x.astype(np.float64) - np.trunc(x.astype(np.float64))).astype(x.dtype)
            else:
                y = np.conj(x) if op == "conj" and is_complex(dtype) else x
            yield Case([x], {}, [Exact(y, signs=op in ("trunc", "conj"))])


@cases("real", "imag", ulps=0)
def real_and_imag(s, dtype, op):
    for x in plain(s, dtype):
        y = (x.real if op == "real" else x.imag) if is_complex(dtype) else (x if op == "real" else np.zeros_like(x))
        yield Case([x], {}, [Exact(np.array(y), signs=True)])


@cases("angle", ulps=1)
def angle(s, dtype):
    for x in plain(s, dtype):
        if is_complex(dtype):
            wide = x.astype(np.clongdouble)
            yield Case([x], {}, [Near(np.arctan2(wide.imag, wide.real), PART[dtype])])
        else:
            with np.errstate(all="ignore"):
                wide = x.astype(np.float64)
            y = np.where(np.isnan(wide), np.nan, np.where(wide < 0, np.longdouble(np.pi), 0))
            yield Case([x], {}, [Near(y, dtype)])


@cases("is_finite", "signbit", ulps=0)
def predicates(s, dtype, op):
    for x in plain(s, dtype):
        if is_integer(dtype):
            y = np.ones(x.shape, dtype=bool)
        else:
            with np.errstate(all="ignore"):
                wide = x.astype(np.complex128 if is_complex(dtype) else np.float64)
            y = np.isfinite(wide) if op == "is_finite" else np.signbit(x.view(np.int16 if x.itemsize == 2 else x.dtype))
            y = np.array(x.view(np.int16) < 0) if op == "signbit" and x.itemsize == 2 else y
        yield Case([x], {}, [np.array(y, dtype=bool)])


@cases("is_inf", ulps=0)
def is_inf(s, dtype):
    for x in plain(s, dtype):
        for negative in (True, False):
            for positive in (True, False):
                y = np.zeros(x.shape, dtype=bool)
                if not is_integer(dtype):
                    wide = x.astype(np.complex128)
                    for part in (wide.real, wide.imag):
                        y = y | (negative & np.isneginf(part)) | (positive & np.isposinf(part))
                yield Case([x], {"detect_negative": negative, "detect_positive": positive}, [np.array(y, dtype=bool)])


@cases("bitwise_invert", "bit_count", ulps=0)
def bits(s, dtype, op):
    every_byte = np.arange(256 + 37, dtype=np.uint8).view(NUMPY[dtype]) if np.dtype(NUMPY[dtype]).itemsize == 1 else None
    for x in [*plain(s, dtype), *([] if every_byte is None or dtype == "bool" else [every_byte])]:
        if op == "bitwise_invert":
            yield Case([x], {}, [np.array(np.invert(x))])
        else:
            counts = [bin(abs(int(v))).count("1") for v in x.reshape(-1)]
            yield Case([x], {}, [np.array(counts, dtype=np.uint8).reshape(x.shape)])


@cases("bit_cast", ulps=0)
def bit_cast(s, dtype):
    """To integers, so that NaNs' bits are compared; from integers, but without patterns of NaN."""
    size = np.dtype(NUMPY[dtype]).itemsize
    for x in plain(s, dtype):
        for target in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            if np.dtype(NUMPY[target]).itemsize == size:
                yield Case([x], {"dtype": target}, [np.ascontiguousarray(x).view(NUMPY[target]).reshape(x.shape)])
    for target in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        if np.dtype(NUMPY[target]).itemsize == size and (dtype == target or is_integer(dtype)):
            y = s.small(target, (3, 5))
            yield Case([np.ascontiguousarray(y).view(NUMPY[dtype]).reshape(y.shape)], {"dtype": target},
                       [Exact(y, signs=True)])


@refusals("bit_cast")
def no_such_size(s):
    yield Refusal([s.small("int32", (3,))], {"dtype": "float64"}, "DTYPE", "expected a number or bool of 32 bits")
    yield Refusal([s.small("complex128", (3,))], {"dtype": "utf8"}, "DTYPE", "is no target")


@cases("nan_to_num", ulps=0)
def nan_to_num(s, dtype):
    largest = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127"),
               "float32": float(np.finfo(np.float32).max), "float64": np.finfo(np.float64).max}[dtype]
    for x in plain(s, dtype):
        for attrs in ({}, {"nan": 2.5, "posinf": 7.0, "neginf": -1e300}, {"posinf": float("inf")}):
            wide = np.array(x.astype(np.float64))
            y = np.where(np.isnan(wide), attrs.get("nan", 0.0), wide)
            for infinity, name, preset in ((np.inf, "posinf", largest), (-np.inf, "neginf", -largest)):
                value = attrs.get(name, preset)
                value = value if np.isinf(value) else min(max(value, -largest), largest)
                y = np.where(wide == infinity, value, y)
            yield Case([x], attrs, [Exact(y.astype(x.dtype))])


# -- two operands -----------------------------------------------------------------------------------------------------

PAIRS = [((), ()), ((7,), ()), ((2, 3, 5), (2, 3, 5)), ((4, 1, 6), (5, 1)), ((0, 3), (3,)), ((257,), (257,)),
         ((2, 40), (40,))]


def wrap(value, dtype):
    info = np.iinfo(NUMPY[dtype])
    span = int(info.max) - int(info.min) + 1
    return (value - int(info.min)) % span + int(info.min)


def pairs(s, dtype, other=None):
    """Operands of one dtype, broadcast, special and arbitrary; then of two."""
    for a, b in PAIRS:
        yield s.small(dtype, a), s.small(other or dtype, b)
    yield np.repeat(s.small(dtype, (1, 5)), 3, axis=0), s.small(other or dtype, (3, 5))
    yield s.special(dtype, (131,)), s.special(other or dtype, (131,))
    yield s.bits(dtype, (131,)), s.bits(other or dtype, (131,))
    yield s.bits(dtype, (67,)), s.small(other or dtype, (67,))


def mixed(s, dtype):
    """A few operands of two dtypes, with the dtype that they share."""
    others = {"int8": ("int16", "int16"), "uint8": ("int8", "int16"), "int32": ("int64", "int64"),
              "float16": ("float32", "float32"), "float32": ("float64", "float64"), "bfloat16": ("float16", "float32")}
    if dtype in others:
        other, common = others[dtype]
        yield s.small(dtype, (3, 7)), s.small(other, (3, 7)), common


def every_pair(s, dtype):
    for a, b in pairs(s, dtype):
        yield a, b, dtype
    yield from mixed(s, dtype)


def special_of(function, a, b):
    with np.errstate(all="ignore"):
        return float(function(np.float64(a), np.float64(b)))


def floor_quotient(a, b):
    if not (scalar.isfinite(a) and scalar.isfinite(b)) or b == 0:
        return mpmath.mpf(special_of(np.floor_divide, a, b))
    return mpmath.mpf(fractions.Fraction(a) // fractions.Fraction(b))


def rest(a, b):
    if not (scalar.isfinite(a) and scalar.isfinite(b)) or b == 0:
        return mpmath.mpf(special_of(np.remainder, a, b))
    exact = fractions.Fraction(a) % fractions.Fraction(b)
    return mpmath.fdiv(exact.numerator, exact.denominator, exact=False) if exact else mpmath.mpf(0)


def log_sum(base):
    def of(a, b):
        if a != a or b != b:
            return nan
        if max(a, b) in (inf, -inf):
            return mpmath.mpf(max(a, b))
        low, high = mpmath.mpf(min(a, b)), mpmath.mpf(max(a, b))
        power = mpmath.mpf(0) if low == -inf or low - high < -5000 else mpmath.power(base, low - high)
        return high + mpmath.log1p(power) / mpmath.log(base)
    return of


def xlogy(a, b):
    if a == 0 and b == b:
        return mpmath.mpf(0)
    if a != a or not b >= 0:
        return nan
    if not scalar.isfinite(a) or not scalar.isfinite(b) or b == 0:
        with np.errstate(all="ignore"):
            return mpmath.mpf(float(np.float64(a) * np.log(np.float64(b))))
    return mpmath.mpf(a) * mpmath.log(mpmath.mpf(b))


def hypot(a, b):
    if scalar.isinf(a) or scalar.isinf(b):
        return inf
    return mpmath.hypot(mpmath.mpf(a), mpmath.mpf(b)) if a == a and b == b else nan


def arc(a, b):
    if not (scalar.isfinite(a) and scalar.isfinite(b)) or a == 0 or b == 0:
        return mpmath.mpf(special_of(np.arctan2, a, b)) if a != a or b != b else exact_arc(a, b)
    return mpmath.atan2(mpmath.mpf(a), mpmath.mpf(b))


def exact_arc(a, b):
    """The multiples of pi / 4 nearest to NumPy's doubles."""
    return mpmath.nint(mpmath.mpf(special_of(np.arctan2, a, b)) * 4 / pi) * pi / 4


def extreme(largest):
    def of(a, b):
        if a != a or b != b:
            return b if a != a else a
        return max(a, b) if largest else min(a, b)
    return of


FLOAT_PAIRS = {
    "atan2": arc, "hypot": hypot, "logaddexp": log_sum(mp.e), "logaddexp2": log_sum(mpmath.mpf(2)), "xlogy": xlogy,
    "copysign": lambda a, b: mpmath.mpf(scalar.copysign(a, b)),
    "heaviside": lambda a, b: mpmath.mpf(b if a == 0 else a if a != a else float(a > 0)),
    "divide_no_nan": lambda a, b: mpmath.mpf(0) if b == 0 else quotient(a, b),
}
NUMBER_PAIRS = {
    "floor_divide": (floor_quotient, lambda a, b: a // b if b else 0),
    "remainder": (rest, lambda a, b: a % b if b else 0),
    "fmod": (lambda a, b: mpmath.mpf(special_of(np.fmod, a, b)),
             lambda a, b: int(scalar.copysign(1, a)) * (abs(a) % abs(b)) if b else 0),
    "fmax": (extreme(True), max), "fmin": (extreme(False), min),
    "squared_difference": (lambda a, b: square(difference(a, b)), lambda a, b: (a - b) ** 2),
}
INTEGER_PAIRS = {
    "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b, "bitwise_xor": lambda a, b: a ^ b,
    "gcd": scalar.gcd, "lcm": scalar.lcm,
}


def quotient(a, b):
    if not scalar.isfinite(a) or not scalar.isfinite(b):
        return mpmath.mpf(special_of(np.divide, a, b))
    return mpmath.mpf(a) / mpmath.mpf(b)


def difference(a, b):
    return mpmath.mpf(a) - mpmath.mpf(b) if scalar.isfinite(a) and scalar.isfinite(b) else mpmath.mpf(a - b)


def square(x):
    return x * x


def as_integers(function, a, b, dtype):
    result = each(lambda x, y: wrap(function(int(x), int(y)), dtype), a, b)
    return Exact(result.astype(NUMPY[dtype]))


@cases(*FLOAT_PAIRS, ulps=1)
def float_pairs(s, dtype, op):
    for a, b, common in every_pair(s, dtype):
        scale = None
        if op.startswith("logaddexp"):
            with np.errstate(all="ignore"):
                scale = np.maximum(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
                scale = np.where(np.isfinite(scale), scale, 0) * 2.0 ** -8
        value = each(FLOAT_PAIRS[op], a, b)
        if op in ("copysign", "heaviside"):
            yield Case([a, b], {}, [Exact(value.astype(np.float64).astype(NUMPY[common]), signs=op == "copysign")])
        else:
            yield Case([a, b], {}, [Near(value, common, scale)])


@cases(*NUMBER_PAIRS, ulps=1)
def number_pairs(s, dtype, op):
    of_floats, of_integers = NUMBER_PAIRS[op]
    for a, b, common in every_pair(s, dtype):
        if is_integer(dtype):
            yield Case([a, b], {}, [as_integers(of_integers, a, b, common)])
        else:
            yield Case([a, b], {}, [Near(each(of_floats, a, b), common)], ulps=2 if op == "squared_difference" else None)


@cases(*INTEGER_PAIRS, ulps=0)
def integer_pairs(s, dtype, op):
    for a, b, common in every_pair(s, dtype):
        if dtype == "bool":
            yield Case([a, b], {}, [np.array(each(INTEGER_PAIRS[op], a, b).astype(bool))])
        else:
            yield Case([a, b], {}, [as_integers(INTEGER_PAIRS[op], a, b, common)])


@cases("bitwise_left_shift", "bitwise_right_shift", ulps=0)
def shifts(s, dtype, op):
    bits_of = np.iinfo(NUMPY[dtype]).bits

    def left(a, b):
        return a << b if 0 <= b < bits_of else 0

    def right(a, b):
        return a >> b if 0 <= b < bits_of else (-1 if a < 0 else 0)
    function = left if op == "bitwise_left_shift" else right
    for a, b in pairs(s, dtype):
        yield Case([a, b], {}, [as_integers(function, a, b, dtype)])
    a, b = s.bits(dtype, (131,)), s.integers(0, bits_of, (131,)).astype(NUMPY[dtype])
    yield Case([a, b], {}, [as_integers(function, a, b, dtype)])


@cases("nextafter", ulps=0)
def nextafter(s, dtype):
    for a, b in pairs(s, dtype):
        with np.errstate(all="ignore"):
            y = np.nextafter(a, b)
        yield Case([a, b], {}, [Exact(np.where(a == b, b, y).astype(a.dtype), signs=True)])


@cases("true_divide", ulps=0.5, complex_ulps=4)
def true_divide(s, dtype):
    for a, b in list(pairs(s, dtype))[:7]:
        with np.errstate(all="ignore"):
            if is_complex(dtype):
                b = np.where(b == 0, 1, b).astype(b.dtype)
                wide = a.astype(np.clongdouble) / b.astype(np.clongdouble)
                yield Case([a, b], {}, [Near(wide, dtype)])
            else:
                y = a.astype(np.longdouble) / b.astype(np.longdouble)
                yield Case([a, b], {}, [Near(y, dtype if is_float(dtype) else "float64")])


@cases("ldexp", ulps=0.5)
def ldexp(s, dtype):
    for exponent_dtype in ("int8", "int32", "int64", "uint64"):
        for a, b in PAIRS:
            x = s.small(dtype, a)
            n = (s.integers(0 if exponent_dtype == "uint64" else -30, 30, b)).astype(NUMPY[exponent_dtype])
            yield Case([x, n], {}, [Near(each(lambda v, e: mpmath.ldexp(mpmath.mpf(v), int(e)), x, n), dtype)])
        x, n = s.special(dtype, (67,)), s.special(exponent_dtype, (67,))
        value = each(lambda v, e: mpmath.mpf(v) if not scalar.isfinite(v)
                     else mpmath.ldexp(mpmath.mpf(v), max(min(int(e), 9999), -9999)), x, n)
        yield Case([x, n], {}, [Near(value, dtype)])


@cases("is_close", ulps=0)
def is_close(s, dtype):
    for attrs in ({}, {"rtol": 0.1, "atol": 0.25, "equal_nan": True}):
        for a, b in pairs(s, dtype):
            with np.errstate(all="ignore"):
                wide = np.clongdouble if is_complex(dtype) else np.longdouble
                x, y = a.astype(wide), b.astype(wide)
                size = np.abs(y)
                close = np.abs(x - y) <= attrs.get("atol", 1e-8) + attrs.get("rtol", 1e-5) * size
                close = close & np.isfinite(size) & np.isfinite(x)
                close = close | (x == y) | (np.isnan(x) & np.isnan(y) & attrs.get("equal_nan", False))
            yield Case([a, b], attrs, [np.array(close, dtype=bool)])


# -- bounds -----------------------------------------------------------------------------------------------------------

@cases("clip")
def clip(s, dtype):
    def expected(x, low, high):
        y = x
        with np.errstate(all="ignore"):
            y = y if low is None else np.maximum(y, low)
            y = y if high is None else np.minimum(y, high)
        return np.array(np.broadcast_to(y, y.shape), NUMPY[dtype])

    shapes = [((3, 4, 9), (), ()), ((3, 4), (4,), (3, 1)), ((5,), (2, 1), None), ((5,), None, (1, 1)), ((), (3,), (2, 1)),
              ((0, 3), (3,), ()), ((7,), None, None), ((300,), (300,), (300,)), ((4, 1), (1,), (6,))]
    for shape, below, above in shapes:
        x = s.small(dtype, shape)
        low = None if below is None else s.small(dtype, below)
        high = None if above is None else s.small(dtype, above)
        yield Case([x, low, high], {}, [expected(x, low, high)])
    x, low, high = s.special(dtype, (61,)), s.special(dtype, (61,)), s.special(dtype, (61,))
    yield Case([x, low, high], {}, [expected(x, low, high)])
    yield Case([x, low[:1].reshape(()), None], {}, [expected(x, low[0], None)])
    x = np.repeat(s.small(dtype, (1, 5)), 3, axis=0)
    yield Case([x], {}, [x])
    for narrower in {"int32": ("int8", "uint16"), "float64": ("float32", "float16"), "uint64": ("uint8",)}.get(dtype, ()):
        x, low = s.small(dtype, (3, 5)), s.positive(narrower, (5,))
        yield Case([x, low], {}, [expected(x, low.astype(NUMPY[dtype]), None)])


@refusals("clip")
def clip_refusals(s):
    x = s.small("float32", (3, 4))
    yield Refusal([x, s.small("float64", ())], {}, "DTYPE", "a dtype that promotes with float32 to float32")
    yield Refusal([x, None, s.small("bool", ())], {}, "DTYPE", "input high is bool")
    yield Refusal([x, s.small("float32", (3,))], {}, "SHAPE", "expected a shape that broadcasts with that of input x, (3, 4)")
    yield Refusal([x, s.small("float32", (2, 1, 1)), s.small("float32", (3, 1, 1))], {}, "SHAPE",
                  "that of inputs x and low together, (2, 3, 4)")


# -- refusals ---------------------------------------------------------------------------------------------------------

@refusals("acos", "erfc", "lgamma", "i0")
def not_floating(s, op):
    yield Refusal([s.small("int32", (3,))], {}, "DTYPE", "input x is int32")


@refusals("bitwise_and", "gcd", "bitwise_left_shift")
def not_integer(s, op):
    yield Refusal([s.small("float32", (3,)), s.small("float32", (3,))], {}, "DTYPE", "input a is float32")
    yield Refusal([s.small("int32", (3,)), s.small("float32", (3,))], {}, "DTYPE", "input b is float32")
    yield Refusal([s.small("int64", (3,)), s.small("uint64", (3,))], {}, "DTYPE", "the two would become float64")
    yield Refusal([s.small("int32", (3,)), s.small("int32", (4,))], {}, "SHAPE", "input")


@refusals("atan2", "remainder", "hypot")
def not_paired(s, op):
    yield Refusal([s.small("float32", (3,)), s.small("float32", (4,))], {}, "SHAPE", "input")
    yield Refusal([s.small("float32", (3,)), s.small("bool", (3,))], {}, "DTYPE", "input b is bool")


@refusals("ldexp")
def not_an_exponent(s):
    yield Refusal([s.small("float32", (3,)), s.small("float32", (3,))], {}, "DTYPE", "expected an integer dtype")
    yield Refusal([s.small("float32", (3,)), s.small("int32", (4,))], {}, "SHAPE", "input")

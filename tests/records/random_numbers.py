"""Random numbers, computed independently from Philox's definition: the words, and each op's results from them. tests/random
checks the distributions."""
import functools
import hashlib
import json
import math
import pathlib

import mpmath
import numpy as np

from framework import FLOATS, INTS, NUMPY, UINTS, Case, Near, Refusal, cases, refusals

M32, M64, M128 = 2 ** 32 - 1, 2 ** 64 - 1, 2 ** 128 - 1
mpmath.mp.prec = 160
STATES = [(0, 0), (42, 7), (0xDEADBEEF12345678, 2 ** 63 + 5), (2 ** 64 - 1, 2 ** 64 - 3), (3, 2 ** 64 - 2, 1),
          (5, 1, 2 ** 64 - 1)]


@functools.lru_cache(maxsize=None)  # every dtype and op starts from the same states
def philox(key, counter, rounds=10):
    a, b, c, d = (counter >> s & M32 for s in (0, 32, 64, 96))
    k, l = key & M32, key >> 32
    for _ in range(rounds):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = right >> 32 ^ b ^ k, right & M32, left >> 32 ^ d ^ l, left & M32
        k, l = k + 0x9E3779B9 & M32, l + 0xBB67AE85 & M32
    return a, b, c, d


KNOWN = json.loads((pathlib.Path(__file__).resolve().parent.parent / "data/philox.json").read_text())


def joined(words):
    """Words of 32 bits, low first, as one number."""
    return sum(int(w, 16) << 32 * i for i, w in enumerate(words))


for vector in KNOWN["vectors"]:
    found = philox(joined(vector["key"]), joined(vector["ctr"]), vector["rounds"])
    assert list(found) == [int(w, 16) for w in vector["out"]], vector


class State:
    def __init__(self, words):
        self.key, self.counter = words[0], words[1] + (words[2] << 64 if len(words) > 2 else 0)

    def block(self, step, draw=0):
        counter = (self.counter + step & M128) + (draw << 96) & M128
        return philox(self.key, counter)

    def word32(self, i):
        return self.block(i // 4)[i % 4]

    def word64(self, i):
        block = self.block(i // 2)
        return block[2 * (i % 2)] | block[2 * (i % 2) + 1] << 32

    def unit(self, i):
        return (self.word64(i) >> 11) * 2.0 ** -53

    def supply(self, i):
        """The words of element i's own stream."""
        draw = 0
        while True:
            block = self.block(i, draw)
            yield block[0] | block[1] << 32
            yield block[2] | block[3] << 32
            draw += 1

    def below(self, i, n):
        for word in self.supply(i):
            product = word * n
            if product & M64 >= (2 ** 64 - n) % n:
                return product >> 64


def states(dtype):
    for words in STATES:
        unsigned = np.array(words, dtype=np.uint64)
        yield State(words), unsigned.astype(NUMPY[dtype])


@functools.lru_cache(maxsize=None)
def normal(word):
    p = mpmath.mpf(2 * (word >> 1) + 1) / 2 ** 65
    x = mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)
    return -x if word & 1 else x


def array(values, shape, kind=object):
    out = np.empty(shape, dtype=kind)
    for number, place in enumerate(np.ndindex(*shape)):
        out[place] = values(number)
    return out


SHAPES = [(), (1,), (7,), (3, 5), (2, 1, 3, 2), (0,), (3, 0)]


def shapes(number, large=1100):
    return SHAPES + [(large,)] if number == 1 else SHAPES[number % 7:number % 7 + 2] or SHAPES[2:4]


def float_dtypes(number):
    return FLOATS if number < 2 else FLOATS[number % 4:number % 4 + 1]


@cases("random_advance")
def random_advance(s, dtype):
    for state, x in states(dtype):
        for steps in (0, 1, 5, 2 ** 63 - 1):
            counter = state.counter + steps & M128
            words = [state.key, counter & M64, counter >> 64][:len(x)]
            yield Case([x], {"steps": steps}, [np.array(words, dtype=np.uint64).astype(NUMPY[dtype])])


@cases("random_bits")
def random_bits(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to in INTS + UINTS:
            for shape in shapes(number, 1030):
                bits = np.dtype(NUMPY[to]).itemsize * 8
                y = array(lambda i: (state.word64(i) if bits == 64 else state.word32(i)) & 2 ** bits - 1, shape,
                          np.uint64)
                yield Case([x], {"shape": list(shape), "dtype": to}, [y.astype(NUMPY[to])])
    for stream in KNOWN["streams"]:
        counter = int(stream["ctr0"], 16)
        words = [joined(stream["key"]), counter & M64, counter >> 64]
        y = np.array([State(words).block(i) for i in range(stream["blocks"])], dtype="<u4").reshape(-1)
        assert hashlib.sha256(y.tobytes()).hexdigest() == stream["sha256_le_words"], stream
        yield Case([np.array(words, dtype=np.uint64).astype(NUMPY[dtype])], {"shape": [y.size], "dtype": "uint32"}, [y])


@cases("random_uniform", ulps=1)
def random_uniform(s, dtype):
    digits = {"float16": 11, "bfloat16": 8, "float32": 24}
    for number, (state, x) in enumerate(states(dtype)):
        for to in float_dtypes(number):
            for low, high in ((0, 1), (-2.5, 7), (3, 3)):
                for shape in shapes(number):
                    if to == "float64":
                        u = array(lambda i: np.longdouble(state.unit(i)), shape, np.longdouble)
                    else:
                        u = array(lambda i: np.longdouble((state.word32(i) >> 32 - digits[to]) * 2.0 ** -digits[to]),
                                  shape, np.longdouble)
                    yield Case([x], {"shape": list(shape), "dtype": to, "low": low, "high": high},
                               [Near(low + u * (high - low), to, np.full(shape, abs(low)))])


@cases("random_normal", "random_log_normal", "random_exponential", ulps=4)
def random_normal(s, dtype, op):
    for number, (state, x) in enumerate(states(dtype)):
        for to in float_dtypes(number):
            for mean, scale in ((0, 1), (-1.5, 0.25), (2, 0)):
                for shape in shapes(number, 130):
                    attrs = {"shape": list(shape), "dtype": to, "scale": scale}
                    if op == "random_exponential":
                        y = array(lambda i: -scale * mpmath.log(mpmath.mpf(2 * state.word64(i) + 1) / 2 ** 65), shape)
                        size = np.full(shape, scale / 2)
                    else:
                        attrs["mean"] = mean
                        y = array(lambda i: mean + scale * normal(state.word64(i)), shape)
                        size = np.full(shape, abs(mean))
                        if op == "random_log_normal":
                            y = array(lambda i: mpmath.exp(y.reshape(-1)[i]), shape)
                            size = array(lambda i: 2 * float(y.reshape(-1)[i]), shape, float)
                    yield Case([x], attrs, [Near(y, to, size)])


@cases("random_truncated_normal", ulps=8)
def random_truncated_normal(s, dtype):
    def value(state, i, low, high):
        u = mpmath.mpf(2 * (state.word64(i) >> 11) + 1) / 2 ** 54
        if low > 0:
            return -from_tail(1 - u, -high, -low)
        return from_tail(u, low, high)

    def from_tail(u, low, high):
        below = [mpmath.erfc(-mpmath.mpf(v) / mpmath.sqrt(2)) / 2 for v in (low, high)]
        p = below[0] + u * (below[1] - below[0])
        return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1) if p > mpmath.mpf(2) ** -100 else \
            mpmath.findroot(lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2 / p - 1, (low, min(high, low + 1)))

    for number, (state, x) in enumerate(states(dtype)):
        for to in float_dtypes(number):
            for low, high in ((-2, 2), (-0.5, 6), (1, 3), (-5, -4), (-math.inf, math.inf)):
                for shape in shapes(number, 40):
                    y = array(lambda i: 1 + 2 * value(state, i, low, high), shape)
                    yield Case([x], {"shape": list(shape), "dtype": to, "mean": 1, "scale": 2, "low": low,
                                     "high": high}, [Near(y, to, np.full(shape, 2))])


@cases("random_integers")
def random_integers(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to, low, high in (("int64", 0, 2), ("int64", -2 ** 63, 2 ** 63 - 1), ("int8", -128, 128), ("uint8", 3, 4),
                              ("int32", -5, 1000), ("uint16", 0, 65536), ("int64", 0, 2 ** 62 + 3),
                              ("uint64", 0, 2 ** 63 - 1)):
            for shape in shapes(number, 1030)[:5 if to != "int32" else 8]:
                y = array(lambda i: low + state.below(i, high - low), shape)
                yield Case([x], {"shape": list(shape), "dtype": to, "low": low, "high": high},
                           [np.array(y.tolist(), dtype=NUMPY[to]).reshape(shape)])


def order(state, n):
    out = list(range(n))
    for i in range(n - 1, 0, -1):
        j = state.below(i, i + 1)
        out[i], out[j] = out[j], out[i]
    return out


@cases("random_permutation")
def random_permutation(s, dtype):
    for state, x in states(dtype):
        for n in (0, 1, 2, 10, 300):
            for to in ("int64", "int16", "uint32"):
                yield Case([x], {"n": n, "dtype": to}, [np.array(order(state, n), dtype=NUMPY[to])])
        for n in (1025, 1026) if dtype == "uint64" else ():  # a run of numbers, and one more
            yield Case([x], {"n": n}, [np.array(order(state, n), dtype=np.int64)])


@cases("random_shuffle")
def random_shuffle(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to in ("float32", "int8", "complex128", "bool", "bfloat16"):
            for shape, axis in (((7,), 0), ((3, 4), -1), ((3, 4), 0), ((2, 5, 3), 1), ((0,), 0), ((2, 0), 0)):
                y = s.small(to, shape)
                yield Case([x, y], {"axis": axis}, [np.take(y, order(state, shape[axis]), axis)])


@cases("random_dropout", ulps=1)
def random_dropout(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to in float_dtypes(number):
            for rate in (0, 0.3, 0.5, 1):
                for shape in shapes(number):
                    y = s.small(to, shape)
                    mask = array(lambda i: state.unit(i) >= rate, shape, bool)
                    kept = y.astype(np.longdouble) / np.longdouble(1 - rate if rate < 1 else 1)
                    yield Case([x, y], {"rate": rate}, [Near(np.where(mask, kept, np.longdouble(0)), to), mask])


@cases("rrelu", ulps=1)
def rrelu(s, dtype):
    for number, (state, key) in enumerate(states("int64")):
        for shape in shapes(number):
            x = s.small(dtype, shape)
            low, high = [(0.125, 1 / 3), (0, 1), (0.5, 0.5)][number % 3]
            attrs = {} if number % 3 == 0 else {"low": low, "high": high}
            slope = array(lambda i: low + state.unit(i) * (high - low), shape, np.float64).astype(np.longdouble)
            wide = x.astype(np.longdouble)
            yield Case([x, key], attrs, [Near(np.where(wide < 0, slope * wide, wide), dtype)])
            yield Case([x], attrs, [Near(np.where(wide < 0, np.longdouble(low + 0.5 * (high - low)) * wide, wide), dtype)])
    x = s.special(dtype, (61,))
    wide = x.astype(np.longdouble)
    yield Case([x], {}, [Near(np.where(wide < 0, np.longdouble(0.125 + 0.5 * (1 / 3 - 0.125)) * wide, wide), dtype)])


@refusals("rrelu")
def rrelu_refusals(s):
    x = s.small("float32", (3,))
    yield Refusal([x, STATE], {"low": 0.5, "high": 0.25}, "ARGUMENT", "low is 0.5 and high 0.25")
    yield Refusal([x], {"high": math.inf}, "ARGUMENT", "expected finite numbers")
    yield Refusal([x, STATE[:1]], {}, "SHAPE", "input state is")
    yield Refusal([x, s.small("int32", (2,))], {}, "DTYPE", "expected int64 or uint64")
    yield Refusal([s.small("int32", (3,))], {}, "DTYPE", "input x is int32")


def parameter_shapes(number):
    """Shape of a parameter, attribute shape, shape of the result."""
    yield from (((), [], ()), ((5,), [], (5,)), ((3, 1), [3, 4], (3, 4)), ((), [2, 3], (2, 3)), ((0,), [], (0,)),
                ((4,), [2, 4], (2, 4)))
    if number == 0:
        yield (), [1100], (1100,)


@cases("random_bernoulli")
def random_bernoulli(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to in ("bool", "float32", "int32", "uint8", "float16"):
            for own, shape, whole in parameter_shapes(number):
                kind = ["float32", "float64", "float16", "bfloat16"][number % 4]
                p = s.uniform(kind, 0, 1, own)
                if own == (5,):
                    p = np.array([0, 1, 0.5, 0, 1], dtype=NUMPY[kind])
                wide = np.broadcast_to(p.astype(np.float64), whole).reshape(-1)
                y = array(lambda i: state.unit(i) < wide[i], whole, bool)
                yield Case([x, p], {"shape": shape, "dtype": to}, [y.astype(NUMPY[to])])


# -- laws that take words of their own: the same steps in doubles ------------------------------------------------------

def open_unit(supply):
    return ((next(supply) >> 11) + 0.5) * 2.0 ** -53


def gamma(supply, alpha):
    if alpha == 0:
        return 0.0
    boost = open_unit(supply) ** (1 / alpha) if alpha < 1 else 1.0
    d = (alpha + 1 if alpha < 1 else alpha) - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = float(normal(next(supply)))
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        if math.log(open_unit(supply)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v


def log_poisson(k, rate):
    return float(k * mpmath.log(rate) - rate - mpmath.loggamma(k + 1))


def log_binomial(k, n, p):
    p = mpmath.mpf(p)
    return float(mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1) +
                 k * mpmath.log(p) + (n - k) * mpmath.log(1 - p))


def poisson(supply, rate):
    if rate < 10:
        u, chance, k = open_unit(supply), math.exp(-rate), 0
        while u > chance and k < 1000:
            u -= chance
            k += 1
            chance *= rate / k
        return k
    b = 0.931 + 2.53 * math.sqrt(rate)
    a, quick, inverse = -0.059 + 0.02483 * b, 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = open_unit(supply) - 0.5, open_unit(supply)
        away = 0.5 - abs(u)
        k = math.floor((2 * a / away + b) * u + rate + 0.43)
        if away >= 0.07 and v <= quick:
            return k
        if k < 0 or (away < 0.013 and v > away):
            continue
        if math.log(v * inverse / (a / (away * away) + b)) <= log_poisson(k, rate):
            return k


def binomial(supply, n, p):
    rare = 1 - p if p > 0.5 else p
    if n == 0 or rare == 0:
        k = 0
    elif n * rare < 10:
        u, chance, k = open_unit(supply), math.exp(n * math.log1p(-rare)), 0
        while u > chance and k < n and k < 1000:
            u -= chance
            k += 1
            chance *= (n - k + 1) / k * (rare / (1 - rare))
    else:
        k = binomial_by_rejection(supply, n, rare)
    return n - k if p > 0.5 else k


def binomial_by_rejection(supply, n, p):
    deviation = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a, center, quick = -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5, 0.92 - 4.2 / b
    alpha, top = (2.83 + 5.1 / b) * deviation, log_binomial(math.floor((n + 1) * p), n, p)
    while True:
        u, v = open_unit(supply) - 0.5, open_unit(supply)
        away = 0.5 - abs(u)
        k = math.floor((2 * a / away + b) * u + center)
        if away >= 0.07 and v <= quick:
            return k
        if k < 0 or k > n:
            continue
        if math.log(v * alpha / (a / (away * away) + b)) <= log_binomial(k, n, p) - top:
            return k


@cases("random_gamma", ulps=64)
def random_gamma(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to in ("float64", "float32"):
            for own, shape, whole in list(parameter_shapes(1)):
                alpha = s.uniform("float64", 0.01, 5, own)
                if own == (5,):
                    alpha = np.array([0, 1, 0.05, 100, 1e6])
                wide = np.broadcast_to(alpha, whole).reshape(-1)
                y = array(lambda i: np.longdouble(0.5 * gamma(state.supply(i), float(wide[i]))), whole, np.longdouble)
                yield Case([x, alpha], {"shape": shape, "dtype": to, "scale": 0.5}, [Near(y, to)])


@cases("random_poisson")
def random_poisson(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to in ("int64", "float64", "int32"):
            for own, shape, whole in list(parameter_shapes(1)):
                rate = s.uniform("float64", 0, 40, own)
                if own == (5,):
                    rate = np.array([0, 0.001, 9.99, 1000, 1e15 if to != "int32" else 1e6])
                wide = np.broadcast_to(rate, whole).reshape(-1)
                y = array(lambda i: poisson(state.supply(i), float(wide[i])), whole)
                yield Case([x, rate], {"shape": shape, "dtype": to},
                           [np.array(y.tolist(), dtype=NUMPY[to]).reshape(whole)])


@cases("random_binomial")
def random_binomial(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for to in ("int64", "float32"):
            for own, shape, whole in list(parameter_shapes(1)):
                n, p = s.integers(0, 200, own), s.uniform("float64", 0, 1, own)
                if own == (5,):
                    n, p = np.array([0, 7, 7, 1000, 2 ** 40 if to == "int64" else 50]), np.array([0.5, 0, 1, 0.001, 0.7])
                many, chances = np.broadcast_to(n, whole).reshape(-1), np.broadcast_to(p, whole).reshape(-1)
                y = array(lambda i: binomial(state.supply(i), int(many[i]), float(chances[i])), whole)
                yield Case([x, n, p], {"shape": shape, "dtype": to},
                           [np.array(y.tolist(), dtype=NUMPY[to]).reshape(whole)])


@cases("random_categorical")
def random_categorical(s, dtype):
    for number, (state, x) in enumerate(states(dtype)):
        for shape, samples in (((4,), 6), ((3, 5), 3), ((2, 3, 7), 7), ((1,), 1), ((0, 3), 2), ((2, 60), 50), ((3,), 0)):
            for replacement in (True, False):
                if not replacement and samples > shape[-1]:
                    continue
                p = np.where(s.integers(0, 3, shape) == 0, 0, s.uniform("float64", 0.1, 1, shape))
                p[..., 0] = 1.5
                rows = p.reshape(math.prod(shape[:-1]), shape[-1])
                y = np.zeros((len(rows), samples), np.int64)
                for r, row in enumerate(rows):
                    if replacement:
                        sums = np.add.accumulate(row)
                        for k in range(samples):
                            place = state.unit(r * samples + k) * sums[-1]
                            y[r, k] = min(int((sums <= place).sum()), shape[-1] - 1)
                    else:
                        waits = [-math.log(state.unit(r * shape[-1] + i) + 2.0 ** -54) / v if v > 0 else math.inf
                                 for i, v in enumerate(row)]
                        y[r] = sorted(range(len(waits)), key=lambda i: waits[i])[:samples]
                attrs = {"samples": samples, "replacement": replacement, "dtype": ["int64", "int32", "uint8"][number % 3]}
                y = y.reshape(shape[:-1] + (samples,)).astype(NUMPY[attrs["dtype"]])
                yield Case([x, p], attrs, [y])
                with np.errstate(divide="ignore"):
                    yield Case([x, np.log(p) + 3], {**attrs, "logarithms": True}, [y])


# -- refusals --------------------------------------------------------------------------------------------------------

STATE = np.array([1, 2], dtype=np.uint64)


@refusals("random_advance", "random_bits", "random_uniform", "random_normal", "random_log_normal",
          "random_truncated_normal", "random_exponential", "random_integers", "random_permutation")
def state_refusals(s, op):
    yield Refusal([STATE[:1]], {}, "SHAPE", "expected a key and a counter")
    yield Refusal([np.array([[1, 2]], np.int64)], {}, "SHAPE", "expected a key and a counter")
    if op == "random_advance":
        yield Refusal([STATE], {"steps": -1}, "ARGUMENT", "steps is -1, expected at least 0")
        return
    if op == "random_permutation":
        yield Refusal([STATE], {"n": -1}, "ARGUMENT", "n is -1, expected at least 0")
        yield Refusal([STATE], {"n": 129, "dtype": "int8"}, "ARGUMENT", "n is 129, expected at least 0, values of int8")
        yield Refusal([STATE], {"dtype": "float32"}, "DTYPE", "dtype is float32, expected an integer dtype")
        return
    yield Refusal([STATE], {"shape": [2, -1]}, "SHAPE", "expected extents of at least 0")
    yield Refusal([STATE], {"shape": [2 ** 40, 2 ** 40]}, "OVERFLOW", "expected a size in bytes that 64 bits hold")
    yield Refusal([STATE], {"shape": [1] * 40}, "SHAPE", "shape has 40 extents")
    yield Refusal([STATE], {"dtype": "complex64"}, "DTYPE", "dtype is complex64, expected")
    yield Refusal([STATE], {"dtype": "utf8"}, "DTYPE", "dtype is utf8, expected")
    if op in ("random_normal", "random_log_normal", "random_truncated_normal", "random_exponential"):
        yield Refusal([STATE], {"scale": -1}, "ARGUMENT", "scale is -1, expected a finite number of at least 0")
        yield Refusal([STATE], {"scale": math.nan}, "ARGUMENT", "scale is")
        yield Refusal([STATE], {"dtype": "int32"}, "DTYPE", "dtype is int32, expected a real floating dtype")


@refusals("random_uniform")
def uniform_refusals(s):
    yield from state_refusals(s, "random_uniform")
    yield Refusal([STATE], {"low": 2, "high": 1}, "ARGUMENT", "low is 2 and high 1, expected low <= high")
    yield Refusal([STATE], {"low": -1.7e308, "high": 1.7e308}, "ARGUMENT", "not too far apart")
    yield Refusal([STATE], {"high": math.inf}, "ARGUMENT", "high is inf, expected a finite number")


@refusals("random_truncated_normal")
def truncated_refusals(s):
    yield from state_refusals(s, "random_truncated_normal")
    yield Refusal([STATE], {"low": 2, "high": 2}, "ARGUMENT", "expected low < high")
    yield Refusal([STATE], {"low": 40, "high": 50}, "ARGUMENT", "low is 40 and high 50")
    yield Refusal([STATE], {"low": math.nan}, "ARGUMENT", "expected low < high")


@refusals("random_integers")
def integers_refusals(s):
    yield from state_refusals(s, "random_integers")
    yield Refusal([STATE], {"low": 2, "high": 2}, "ARGUMENT", "low is 2 and high 2, expected low < high")
    yield Refusal([STATE], {"high": 300, "dtype": "uint8"}, "ARGUMENT", "expected low < high, values of uint8")
    yield Refusal([STATE], {"low": -1, "dtype": "uint64"}, "ARGUMENT", "low is -1")


@refusals("random_bernoulli", "random_binomial", "random_gamma", "random_poisson")
def parameter_refusals(s, op):
    def call(values, dtype=np.float64):
        values = np.array(values, dtype=dtype)
        return [STATE, np.array(5, np.int64), values] if op == "random_binomial" else [STATE, values]

    yield Refusal([STATE[:1], *call([0.5])[1:]], {}, "SHAPE", "expected a key and a counter")
    yield Refusal(call([0.5, -0.5]), {}, "ARGUMENT", "is -0.5, expected 0 to")
    yield Refusal(call([math.nan]), {}, "ARGUMENT", "element 0 of")
    yield Refusal(call([0.5, 0.5]), {"shape": [3]}, "SHAPE", "expected a shape that broadcasts to the result's (3,)")
    yield Refusal(call([0.5], np.complex64), {}, "DTYPE", "expected a real dtype")
    yield Refusal(call([0.5]), {"dtype": "complex128"}, "DTYPE", "dtype is complex128, expected")
    if op in ("random_bernoulli", "random_binomial"):
        yield Refusal(call([1.5]), {}, "ARGUMENT", "is 1.5, expected 0 to 1")
    if op == "random_poisson":
        yield Refusal(call([1e16]), {}, "ARGUMENT", "is 1e+16, expected 0 to 9.0072e+15")
    if op == "random_gamma":
        yield Refusal(call([math.inf]), {}, "ARGUMENT", "is inf, expected 0 to")
        yield Refusal(call([1]), {"scale": -2}, "ARGUMENT", "scale is -2")
    if op == "random_binomial":
        yield Refusal([STATE, np.array(2.5), np.array(0.5)], {}, "ARGUMENT", "is 2.5, expected a whole number of 0 to")


@refusals("random_categorical")
def categorical_refusals(s):
    p = np.array([[0.5, 0.5], [0, 0]])
    yield Refusal([STATE, p], {}, "ARGUMENT", "row 1 of p has no chances")
    yield Refusal([STATE, np.array([1, -1.0])], {}, "ARGUMENT", "row 0 of p has no chances: expected numbers of at least 0")
    yield Refusal([STATE, np.array([np.nan])], {"logarithms": True}, "ARGUMENT", "expected no NaN or infinity")
    yield Refusal([STATE, np.array(1.0)], {}, "SHAPE", "expected a last axis of at least one class")
    yield Refusal([STATE, p[:1]], {"samples": 3, "replacement": False}, "ARGUMENT", "which are not replaced")
    yield Refusal([STATE, p], {"samples": -1}, "ARGUMENT", "samples is -1, expected at least 0")
    yield Refusal([STATE, np.ones(200)], {"dtype": "int8"}, "DTYPE", "expected one that holds 200 classes")
    yield Refusal([STATE[:1], p], {}, "SHAPE", "expected a key and a counter")


@refusals("random_shuffle")
def shuffle_refusals(s):
    yield Refusal([STATE, s.small("float32", (3,))], {"axis": 1}, "INDEX", "axis 1 is out of range, expected -1 to 0")
    yield Refusal([STATE[:1], s.small("float32", (3,))], {}, "SHAPE", "expected a key and a counter")


@refusals("random_dropout")
def dropout_refusals(s):
    x = s.small("float32", (3,))
    yield Refusal([STATE, x], {"rate": 1.5}, "ARGUMENT", "rate is 1.5, expected 0 to 1")
    yield Refusal([STATE, x], {"rate": math.nan}, "ARGUMENT", "rate is")
    yield Refusal([STATE, s.small("int32", (3,))], {}, "DTYPE", "expected a real floating dtype")
    yield Refusal([STATE[:1], x], {}, "SHAPE", "expected a key and a counter")

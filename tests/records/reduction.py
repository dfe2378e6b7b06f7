"""Statistics over axes and along an axis. Sums are worked out exactly (math.fsum, Fraction-free long double for
logarithms), so that only the result's own rounding is left."""
import itertools
import math

import numpy as np
from framework import (NUMPY, Case, Exact, Near, Refusal, cases, is_complex, is_float, is_integer, refusals, wide)

LD = np.longdouble
SHAPES = [(), (1,), (7,), (3, 4), (2, 1, 3, 2), (600,), (3, 530), (0,), (3, 0)]


def axes_of(shape):
    """Lists of axes to reduce, negative ones among them; [] is all of them, () none."""
    rank = len(shape)
    yield []
    yield ()
    if rank >= 1:
        yield [-1]
        yield [0]
    if rank >= 3:
        yield [0, -1]
        yield [2, 1]


def real_of(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def split(x, axes):
    """x as (kept..., all reduced elements in one last axis), and the shape with keepdims."""
    rank = x.ndim
    reduced = sorted({a % rank for a in axes}) if axes != [] else list(range(rank))
    kept = [a for a in range(rank) if a not in reduced]
    flat = np.transpose(x, kept + reduced).reshape([x.shape[a] for a in kept] +
                                                   [math.prod(x.shape[a] for a in reduced)])
    return flat, tuple(1 if a in reduced else x.shape[a] for a in range(rank))


def reduce_with(x, axes, keepdims, function, dtype=LD):
    flat, kept = split(x, axes)
    out = np.empty(flat.shape[:-1], dtype=object)
    for place in np.ndindex(*out.shape):
        out[place] = function(flat[place])
    out = np.array(out.tolist(), dtype=dtype).reshape(out.shape)
    return out.reshape(kept) if keepdims else out


def special_of(s, dtype, shape):
    """Special values whose squares and sums a double holds: elsewhere a sum may overflow on its way, as NumPy's."""
    x = s.special(dtype, shape)
    if dtype in ("float64", "complex128"):
        with np.errstate(all="ignore"):
            x = np.where(np.isfinite(x) & (np.abs(x) > 1e150), np.sign(x) * 1e150, x).astype(x.dtype)
    return x


def arrays(s, dtype, special=True):
    for shape in SHAPES:
        yield s.small(dtype, shape)
    yield special_of(s, dtype, (4, 9)) if special else s.positive(dtype, (4, 9))
    yield np.full((3, 3), s.small(dtype, ()))
    if is_float(dtype) or is_complex(dtype):
        yield (s.uniform(dtype, -1, 1, (5, 4)) * NUMPY[dtype](100) + NUMPY[dtype](1000)).astype(NUMPY[dtype])


def each(s, dtype, special=True, nonempty=False):
    number = 0
    for x in arrays(s, dtype, special):
        for axes in axes_of(x.shape):
            flat, _ = split(x, axes)
            if nonempty and flat.shape[-1] == 0:
                continue
            number += 1
            yield x, axes, number % 2 == 0


def quiet(function):
    def inner(*arguments):
        with np.errstate(all="ignore"):
            yield from function(*arguments)
    return inner


def fsum(values):
    """Exact sum of numbers of long double as a long double; IEEE's result if one is not finite."""
    values = np.asarray(values, dtype=LD)
    high = values.astype(np.float64)
    if not np.isfinite(high).all():  # nor is a number that is not finite as a long double
        return values.sum()
    parts = high.tolist() + (values - high).astype(np.float64).tolist()
    try:
        first = math.fsum(parts)
        return LD(first) + LD(math.fsum(parts + [-first]))
    except OverflowError:
        return values.sum()


def variance(values, correction):
    n = len(values)
    w = wide(values) if values.dtype != object else values
    if n == 0:
        return LD(np.nan)
    parts = [w.real, w.imag] if np.iscomplexobj(w) else [w]
    total = LD(0)
    for p in parts:
        total = total + fsum((p - fsum(p) / n) ** 2)
    divisor = max(n - correction, 0)
    return total / LD(divisor)


def largest_square(x, axes, keepdims):
    return reduce_with(np.abs(wide(x)).astype(LD), axes, keepdims, lambda v: v.max() if len(v) else LD(0))


def variance_cases(s, dtype, root):
    number = 0
    for x, axes, keepdims in each(s, dtype):
        number += 1
        correction = [0, 1, 0.5, 2][number % 4]
        value = reduce_with(x, axes, keepdims, lambda v: variance(v, correction))
        # a float64 mean is rounded, too: its error is relative to the elements' size
        yield Case([x], {"axes": axes, "keepdims": keepdims, "correction": correction},
                   [Near(np.sqrt(value) if root else value, real_of(dtype))])


@cases("var", ulps=8)
@quiet
def var(s, dtype):
    yield from variance_cases(s, dtype, False)


@cases("std", ulps=8)
@quiet
def std(s, dtype):
    yield from variance_cases(s, dtype, True)


@cases("moments", ulps=8)
@quiet
def moments(s, dtype):
    for x, axes, keepdims in each(s, dtype):
        mean = reduce_with(wide(x), axes, keepdims, lambda v: fsum(v) / LD(len(v)))
        scale = np.nan_to_num(largest_square(x, axes, keepdims).astype(float), nan=0, posinf=0) / 8
        yield Case([x], {"axes": axes, "keepdims": keepdims},
                   [Near(mean, dtype, scale), Near(reduce_with(x, axes, keepdims, lambda v: variance(v, 0)), dtype)])


def lnsum(values):
    values = wide(values)
    if len(values) == 0:
        return LD(-np.inf)
    top = values.max()
    return top + np.log(fsum(np.exp(values - top))) if np.isfinite(top) else top


def magnitude(values):
    w = wide(values)
    return np.hypot(w.real, w.imag) if np.iscomplexobj(w) else np.abs(w)


def norm2(values):
    m = magnitude(values)
    if len(m) == 0 or not np.all(np.isfinite(m)):
        return LD(0) if len(m) == 0 else np.sqrt((m * m).sum())
    top = max(m.max(), LD(5e-324))
    return np.sqrt(fsum((m / top) ** 2)) * top


def norm_p(values, p):
    m = magnitude(values)
    if p == 0:
        return LD(np.count_nonzero(m))
    if np.isinf(p):
        return (m.max() if p > 0 else m.min()) if len(m) else LD(0 if p > 0 else np.inf)
    return np.power(np.power(m, LD(p)).sum(), 1 / LD(p)) if len(m) else LD(0) if p > 0 else LD(np.inf)


def plogp(log):
    def function(values):
        w = wide(values)
        return fsum(np.where(w == 0, LD(0), -w * log(np.where(w == 0, LD(1), w))))
    return function


SIMPLE = {
    "logsumexp": lnsum,
    "norm1": lambda v: fsum(magnitude(v)),
    "norm2": norm2,
    "norm_max": lambda v: magnitude(v).max() if len(v) else LD(0),
    "sum_square": lambda v: fsum(magnitude(v) ** 2),
    "abs_min": lambda v: magnitude(v).min(),
    "abs_mean": lambda v: fsum(magnitude(v)) / LD(len(v)),
}


@cases(*SIMPLE, ulps=4)
@quiet
def simple(s, dtype, op):
    for x, axes, keepdims in each(s, dtype, nonempty=op == "abs_min"):
        y = reduce_with(x, axes, keepdims, SIMPLE[op])
        scale = np.ones(y.shape) / 2 if op == "logsumexp" else None
        yield Case([x], {"axes": axes, "keepdims": keepdims}, [Near(y, real_of(dtype), scale)])
    if op in ("norm1", "abs_mean", "sum_square") and dtype == "float64":
        yield Case([np.full(3, 1.7e308)], {}, [Near(LD(np.inf), dtype)])


@cases("norm_p", ulps=8)
@quiet
def norm_p_cases(s, dtype):
    for p in (2, 1, 3, 0.5, -1, -2.5, 0, np.inf, -np.inf):
        for x, axes, keepdims in itertools.islice(each(s, dtype), 0, 40, 3):
            y = reduce_with(x, axes, keepdims, lambda v: norm_p(v, p))
            yield Case([x], {"axes": axes, "keepdims": keepdims, "p": p}, [Near(y, real_of(dtype))])
    if dtype == "float64":
        for big in (1e300, 1e-300):
            yield Case([np.array([3 * big, -4 * big])], {}, [Near(LD(5) * LD(big), dtype)])


@cases("entropy", "shannon_entropy", "log_entropy", ulps=4)
@quiet
def entropy(s, dtype, op):
    log = np.log2 if op == "shannon_entropy" else np.log
    for shape in SHAPES + [(4, 5)]:
        x = s.uniform(dtype, 0, 1, shape)
        x = np.where(s.integers(0, 5, shape) == 0, NUMPY[dtype](0), x).astype(NUMPY[dtype])
        for axes in axes_of(shape):
            y = reduce_with(x, axes, False, plogp(log))
            scale = np.ones(y.shape) / 2 if op == "log_entropy" else None
            yield Case([x], {"axes": axes}, [Near(np.log(y) if op == "log_entropy" else y, dtype, scale)])
    yield Case([np.array([-1, 0.5], dtype=NUMPY[dtype])], {}, [Near(LD(np.nan), dtype)])


@cases("count_nonzero", "count_zero", "zero_fraction")
@quiet
def counts(s, dtype, op):
    for x, axes, keepdims in each(s, dtype):
        x = np.where(s.integers(0, 2, x.shape) == 0, np.zeros_like(x), x).astype(x.dtype)
        zeros = reduce_with(x == 0, axes, keepdims, lambda v: int(v.sum()), np.int64)
        total = split(x, axes)[0].shape[-1]
        if op == "zero_fraction":
            kind = "float64" if dtype == "float64" else "float32"
            out = Near(zeros.astype(LD) / LD(total), kind)
        else:
            out = np.asarray(zeros if op == "count_zero" else total - zeros, dtype=np.int64)
        yield Case([x], {"axes": axes, "keepdims": keepdims}, [out])


@cases("ptp")
@quiet
def ptp(s, dtype):
    for x, axes, keepdims in each(s, dtype, nonempty=True):
        w = wide(x)
        if is_float(dtype):
            y = Near(reduce_with(w, axes, keepdims, lambda v: v.max() - v.min()), dtype)
        else:
            bits = np.iinfo(NUMPY[dtype]).bits
            y = reduce_with(w, axes, keepdims, lambda v: max(v) - min(v), object)
            y = np.vectorize(lambda v: v % 2 ** bits, otypes=[object])(y) if y.size else y
            y = y.astype(np.uint64).astype(NUMPY[dtype])
        yield Case([x], {"axes": axes, "keepdims": keepdims}, [y])


def quantile_of(values, q, method):
    w = np.sort(np.array([LD(v) if isinstance(v, int) else v for v in wide(values)], dtype=LD))
    if np.isnan(w).any() or len(w) == 0:
        return LD(np.nan)
    place = q * (len(w) - 1)
    low = math.floor(place)
    part = place - low
    a, b = w[low], w[low + (part > 0)]
    if method == "nearest":
        return w[int(np.rint(place))]
    if method == "lower" or part == 0 or a == b:
        return a
    return b if method == "higher" else a / 2 + b / 2 if method == "midpoint" else a + (b - a) * LD(part)


def quantile_dtype(dtype):
    return dtype if is_float(dtype) else "float64"


@cases("median", "nanmedian", ulps=1)
@quiet
def median(s, dtype, op):
    for x, axes, keepdims in each(s, dtype, nonempty=True):
        keep = (lambda v: v[~np.isnan(v.astype(float))]) if op == "nanmedian" else (lambda v: v)
        y = reduce_with(x, axes, keepdims, lambda v: quantile_of(keep(v), 0.5, "midpoint"))
        yield Case([x], {"axes": axes, "keepdims": keepdims}, [Near(y, quantile_dtype(dtype))])
    for shape in ((3, 400), (3, 401), (131071,), (131072,)):  # threads split the longest
        if dtype in ("float32", "float64"):
            x = s.uniform(dtype, -4, 4, shape)
            y = np.median(x.astype(np.float64), -1)
            yield Case([x], {"axes": [-1]}, [Near(y, dtype)])


@cases("quantile", ulps=2)
@quiet
def quantile(s, dtype):
    for number, (x, axes, keepdims) in enumerate(each(s, dtype, nonempty=True)):
        method = ["linear", "lower", "higher", "midpoint", "nearest"][number % 5]
        q = [[0.5], [0, 0.25, 1], [0.1, 0.9, 0.33, 0.33], []][number % 4]
        y = [reduce_with(x, axes, keepdims, lambda v, p=p: quantile_of(v, p, method)) for p in q]
        shape = (len(q),) + reduce_with(x, axes, keepdims, lambda v: 0).shape
        scale = np.nan_to_num(np.broadcast_to(largest_square(x.astype(np.float64), axes, keepdims), shape[1:]).astype(
            float), nan=0, posinf=0)
        yield Case([x], {"axes": axes, "keepdims": keepdims, "q": q, "method": method},
                   [Near(np.array(y, dtype=LD).reshape(shape), quantile_dtype(dtype),
                         np.broadcast_to(scale, shape))])
    for shape in ((3, 400), (2, 1021), (131072,)):  # places that are looked for one by one, and all at once
        for q in ([0.05, 0.95], [0.95, 0.5, 0.5, 0, 1], [0.5, 0.501], [n / 10 for n in range(11)]):
            if dtype in ("float32", "float64") and (len(shape) > 1 or len(q) < 3):
                x = s.uniform(dtype, -4, 4, shape)
                x[..., ::3] = x[..., :1]
                y = np.quantile(x.astype(np.float64), q, -1)
                yield Case([x], {"axes": [-1], "q": q, "method": "linear"}, [Near(y, dtype, np.full(y.shape, 16.0))])


def drop(values):
    w = wide(values)
    return w[~np.isnan(w)]


NAN = {
    "nansum": lambda v: fsum(v),
    "nanprod": lambda v: np.prod(v) if len(v) else LD(1),
    "nanmean": lambda v: fsum(v) / LD(len(v)),
    "nanmax": lambda v: v.max() if len(v) else LD(np.nan),
    "nanmin": lambda v: v.min() if len(v) else LD(np.nan),
}


@cases(*NAN, "nanvar", "nanstd", ulps=8)
@quiet
def without_nan(s, dtype, op):
    for x, axes, keepdims in each(s, dtype, op != "nanprod", op in ("nanmax", "nanmin")):
        if op == "nanprod" and x.size > 100:
            continue
        x = np.where(s.integers(0, 2, x.shape) == 0, NUMPY[dtype](np.nan), x).astype(x.dtype)
        attrs = {"axes": axes, "keepdims": keepdims}
        if op in NAN:
            y = reduce_with(x, axes, keepdims, lambda v: NAN[op](drop(v)))
        else:
            attrs["correction"] = 1
            y = reduce_with(x, axes, keepdims, lambda v: variance(drop(v), 1))
            y = np.sqrt(y) if op == "nanstd" else y
        scale = None
        if op in ("nansum", "nanmean"):
            scale = np.nan_to_num(reduce_with(np.nan_to_num(np.abs(wide(x)).astype(LD), nan=0, posinf=0), axes, keepdims,
                                              lambda v: v.sum() if len(v) else LD(0)).astype(float), posinf=0) / 8
        yield Case([x], attrs, [Near(y, dtype, scale)])


def cosine(a, b):
    return fsum(a * b) / (np.sqrt(fsum(a * a)) * np.sqrt(fsum(b * b)))


DISTANCES = {
    "cosine_similarity": cosine,
    "euclidean_distance": lambda a, b: np.sqrt(fsum((a - b) ** 2)),
    "manhattan_distance": lambda a, b: fsum(np.abs(a - b)),
    "hamming_distance": lambda a, b: LD(np.sum(a != b)),
    "jaccard_distance": lambda a, b: 1 - fsum(np.minimum(a, b)) / fsum(np.maximum(a, b)),
}


@cases(*DISTANCES, ulps=8)
@quiet
def distances(s, dtype, op):
    for a, axes, keepdims in each(s, dtype):
        b = np.where(s.integers(0, 1, a.shape) == 0, a, special_of(s, dtype, a.shape)).astype(a.dtype)
        if op in ("cosine_similarity", "jaccard_distance"):
            a, b = (np.nan_to_num(np.abs(v.astype(np.float64)), posinf=7, nan=3).clip(0.1, 100).astype(a.dtype)
                    for v in (a, b))
        pairs = np.empty(a.shape, dtype=object)
        for place in np.ndindex(*a.shape):
            pairs[place] = (LD(a[place]), LD(b[place]))
        y = reduce_with(pairs, axes, keepdims, lambda v: DISTANCES[op](
            np.array([p[0] for p in v], dtype=LD), np.array([p[1] for p in v], dtype=LD)))
        yield Case([a, b], {"axes": axes, "keepdims": keepdims}, [Near(y, dtype, np.ones(y.shape))])
    zero, nan = np.zeros(3, NUMPY[dtype]), np.array([np.nan, 1, 2], dtype=NUMPY[dtype])
    if op in ("cosine_similarity", "jaccard_distance"):
        yield Case([zero, zero], {}, [Near(LD(np.nan), dtype)])
        yield Case([zero + NUMPY[dtype](1), nan], {}, [Near(LD(np.nan), dtype)])


# -- along an axis ---------------------------------------------------------------------------------------------------

def sum_dtype(dtype):
    return "int64" if dtype in ("bool", "int8", "int16", "int32") else \
        "uint64" if dtype in ("uint8", "uint16", "uint32") else dtype


def running(x, axis, function, first, reverse, exclusive, initial):
    """Along the axis: after each element function(all so far)."""
    x = np.flip(x, axis) if reverse else x
    lines = np.moveaxis(x, axis, -1)
    n = lines.shape[-1]
    out = np.empty(lines.shape[:-1] + (n + initial,), dtype=object)
    for place in np.ndindex(*lines.shape[:-1]):
        values = [function(lines[place][:i]) if i else first for i in range(n + 1)]
        out[place] = values if initial else values[:-1] if exclusive else values[1:]
    out = np.moveaxis(out, -1, axis)
    return np.flip(out, axis) if reverse else out


def as_dtype(values, dtype):
    if is_integer(dtype):
        bits = np.iinfo(NUMPY[dtype]).bits
        flat = [int(v) % 2 ** bits for v in values.reshape(-1)]
        return np.array(flat, dtype=np.uint64).astype(NUMPY[dtype]).reshape(values.shape)
    kind = np.clongdouble if is_complex(dtype) else LD
    return np.array(values.reshape(-1).tolist(), dtype=kind).reshape(values.shape)


def total_of(op):
    def add(values):
        if op == "cumulative_sum":
            if values.dtype == object:
                return sum(values.tolist())
            return fsum(values.real) + 1j * fsum(values.imag) if values.dtype.kind == "c" else fsum(values)
        product = values[0]
        for v in values[1:]:
            product = product * v
        return product
    return add


@cases("cumulative_sum", "cumulative_prod", ulps=4, complex_ulps=16)
@quiet
def cumulative(s, dtype, op):
    number = 0
    # Pieces of 512 elements of a line, blocks of 1024 columns. The oracle takes the square of a line's length.
    long = [(512,), (513,), (2, 1024), (2, 1025)] if dtype in ("int16", "float32", "float64") else []
    for shape in [(1,), (7,), (3, 4), (2, 1, 3, 2), (0,), (2, 0), (0, 3), (530,) if op == "cumulative_sum" else (20,)] + long:
        for axis in (0,) if shape in long else sorted({0, -1}):
            for flags in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1)][:1 if shape in long else 6]:
                number += 1
                x = s.small(dtype, shape)
                if op == "cumulative_prod" and x.size > 500: # neither 0 nor beyond the range
                    x = np.where(x > 0, 1, -1).astype(x.dtype)
                reverse, exclusive, initial = map(bool, flags)
                attrs = {"axis": axis, "reverse": reverse, "exclusive": exclusive, "include_initial": initial}
                to = sum_dtype(dtype)
                if number % 3 == 0:
                    to = ["float32", "int64", "complex128", "float64", "int8"][number // 3 % 5]
                    to = dtype if is_complex(dtype) else to
                    attrs["dtype"] = to
                elements = x.astype(NUMPY[to])
                first = 0 if op == "cumulative_sum" else 1
                w = wide(elements)
                y = as_dtype(running(w, axis, total_of(op), first, *map(bool, flags)), to)
                if is_integer(to):
                    yield Case([x], attrs, [y])
                    continue
                scale = np.abs(as_dtype(running(np.abs(w), axis, total_of(op), 1 if first else 0, *map(bool, flags)),
                                        real_of(to))).astype(float)
                yield Case([x], attrs, [Near(y, to, scale / 4 if op == "cumulative_sum" else scale)])
    if is_float(dtype):
        x = np.array([1, np.inf, 2, -np.inf, np.nan, 3], dtype=NUMPY[dtype])
        function = np.add.accumulate if op == "cumulative_sum" else np.multiply.accumulate
        yield Case([x], {}, [Near(function(x.astype(LD)), dtype)])
    if dtype == "float64" and op == "cumulative_sum":  # the sum overflows, and compensation ends
        x = np.array([1.7e308, 1.7e308, 1, -1.7e308])
        yield Case([x], {}, [np.cumsum(x)])


@cases("sum", "prod", ulps=2, complex_ulps=16)
@quiet
def gathered(s, dtype, op):
    """With a dtype; tests/conformance/reduction.c has the other cases."""
    number = 0
    for to in ("int8", "int64", "uint32", "float16", "float32", "float64", "complex128", "bfloat16"):
        for shape, axes in (((3, 4), [0]), ((2, 3, 2), []), ((0, 3), [0]), ((), []), ((2, 9), [1])):
            number += 1
            if is_complex(dtype) and not is_complex(to):
                continue
            x = s.positive(dtype, shape) if to == "uint32" else s.small(dtype, shape)
            w = wide(x.astype(NUMPY[to]))
            chosen = tuple(axes) if axes else None
            keepdims = number % 2 == 0
            one = np.add if op == "sum" else np.multiply
            y = as_dtype(np.asarray(one.reduce(w, axis=chosen, keepdims=keepdims)), to)
            attrs = {"axes": axes, "keepdims": keepdims, "dtype": to}
            scale = None if is_integer(to) else np.abs(w).sum(axis=chosen, keepdims=keepdims).astype(float)
            yield Case([x], attrs, [y if is_integer(to) else Near(y, to, scale if op == "sum" else np.abs(y).astype(float))])
    if op == "sum" and dtype in ("float32", "bfloat16"):  # partial sums exceed the dtype, the total does not
        x = np.where(np.arange(256) < 128, 3e38, -3e38).astype(NUMPY[dtype])
        yield Case([x], {}, [Near(np.array(0, LD), dtype, np.array(1.0))])
        yield Case([np.repeat(x[:, None], 20, axis=1)], {"axes": [0]}, [Near(np.zeros(20, LD), dtype, np.ones(20))])


@refusals("sum", "prod")
def gathered_refusals(s, op):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {"dtype": "bool"}, "DTYPE", "dtype is bool, expected a numeric one")
    yield Refusal([x], {"dtype": "utf8"}, "DTYPE", "dtype is utf8, expected a numeric one")
    yield Refusal([x], {"dtype": "int4"}, "DTYPE", "dtype is int4, expected a numeric one")


@cases("cumulative_max", "cumulative_min")
@quiet
def cumulative_best(s, dtype, op):
    long = [(512,), (513,), (3, 1025)] if dtype in ("int8", "float32", "float64") else []
    for shape in [(1,), (7,), (3, 4), (2, 1, 3, 2), (0,), (2, 0)] + long:
        for x in (s.small(dtype, shape), s.special(dtype, shape), np.zeros(shape, NUMPY[dtype])):
            for axis in {0, len(shape) // 2, -1}:
                lines = np.moveaxis(x, axis, -1)
                best, where = np.empty_like(lines), np.empty(lines.shape, np.int64)
                for place in np.ndindex(*lines.shape[:-1]):
                    top, at = None, 0
                    for i, v in enumerate(lines[place]):
                        nan = v != v
                        better = v >= top if op == "cumulative_max" and i else i == 0 or v <= top
                        if i == 0 or nan or (top == top and better):
                            top, at = v, i
                        best[place][i], where[place][i] = top, at
                yield Case([x], {"axis": axis}, [np.moveaxis(best, -1, axis), np.moveaxis(where, -1, axis)])


@cases("cumulative_logsumexp", ulps=4)
@quiet
def cumulative_logsumexp(s, dtype):
    for shape in [(1,), (7,), (3, 4), (2, 3, 2), (0,), (40,)]:
        for reverse, exclusive in itertools.product((False, True), repeat=2):
            for x in (s.small(dtype, shape), s.special(dtype, shape), s.uniform(dtype, -100, 100, shape)):
                y = running(x, -1, lnsum, LD(-np.inf), reverse, exclusive, False)
                y = np.array(y.reshape(-1).tolist(), dtype=LD).reshape(shape)
                yield Case([x], {"axis": -1, "reverse": reverse, "exclusive": exclusive},
                           [Near(y, dtype, np.ones(shape))])


@cases("diff", ulps=1, complex_ulps=1)
@quiet
def diff(s, dtype):
    for shape in [(1,), (7,), (3, 4), (2, 1, 3, 2), (0,), (2, 0)]:
        for order in (0, 1, 2, 9):
            for axis in sorted({0, -1}):
                x = s.small(dtype, shape)
                pieces = []
                for number in range(2):
                    length = list(shape)
                    length[axis] = int(s.integers(0, 2))
                    pieces.append(s.small(dtype, tuple(length)) if s.integers(0, 1) else None)
                whole = np.concatenate([p for p in (pieces[0], x, pieces[1]) if p is not None], axis)
                attrs = {"axis": axis, "order": order}
                if is_integer(dtype):
                    yield Case([x, *pieces], attrs, [np.diff(whole, order, axis).astype(NUMPY[dtype])])
                else:
                    y = np.diff(wide(whole), order, axis) if order < whole.shape[axis] or order == 0 else None
                    if y is None:
                        empty = list(whole.shape)
                        empty[axis] = 0
                        y = np.zeros(empty, LD)
                    yield Case([x, *pieces], attrs, [Near(y, dtype)])


# -- refusals --------------------------------------------------------------------------------------------------------

OVER_AXES = ["var", "std", "logsumexp", "norm1", "norm2", "norm_max", "norm_p", "sum_square", "count_nonzero",
             "count_zero", "zero_fraction", "entropy", "log_entropy", "shannon_entropy", "abs_min", "abs_mean",
             "moments", "ptp", "median", "nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar",
             "nanstd", "nanmedian"]


@refusals(*OVER_AXES)
def over_axes_refusals(s, op):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {"axes": [2]}, "INDEX", "axes 2 is out of range, expected -2 to 1")
    yield Refusal([x], {"axes": [0, -2]}, "ARGUMENT", "axes names axis 0 twice, expected each axis once")
    if op in ("abs_min", "ptp", "median", "nanmax", "nanmin", "nanmedian"):
        yield Refusal([s.small("float32", (3, 0))], {"axes": [1]}, "SHAPE", "axis 1 is empty")


@refusals(*DISTANCES)
def distance_refusals(s, op):
    x = s.small("float32", (3, 4))
    yield Refusal([x, s.small("float64", (3, 4))], {}, "DTYPE", "expected float32")
    yield Refusal([x, s.small("float32", (4,))], {}, "SHAPE", "expected the shape of input a")
    yield Refusal([x, x], {"axes": [2]}, "INDEX", "axes 2 is out of range")


@refusals("quantile")
def quantile_refusals(s):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {"q": [1.5]}, "ARGUMENT", "q[0] is 1.5, expected 0 to 1")
    yield Refusal([x], {"q": [0.5, math.nan]}, "ARGUMENT", "q[1] is")
    yield Refusal([x], {"q": [0.5], "method": "cubic"}, "ARGUMENT", "method is 'cubic', expected one of linear")
    yield Refusal([x], {"q": [0.5], "axes": [5]}, "INDEX", "axes 5 is out of range")


@refusals("cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_min", "cumulative_logsumexp")
def along_axis_refusals(s, op):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {"axis": 2}, "INDEX", "axis 2 is out of range")
    yield Refusal([s.small("float32")], {}, "INDEX", "there is no axis")
    if op in ("cumulative_sum", "cumulative_prod"):
        yield Refusal([x], {"exclusive": True, "include_initial": True}, "ARGUMENT", "expected at most one")
        yield Refusal([x], {"dtype": "bool"}, "DTYPE", "dtype is bool, expected a numeric one")
        yield Refusal([x], {"dtype": "float8_e5m2"}, "DTYPE", "dtype is float8_e5m2, expected a numeric one")


@refusals("diff")
def diff_refusals(s):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {"order": -1}, "ARGUMENT", "order is -1, expected at least 0")
    yield Refusal([x], {"axis": -3}, "INDEX", "axis -3 is out of range")
    yield Refusal([x, s.small("float64", (3, 1))], {}, "DTYPE", "expected float32")
    yield Refusal([x, None, s.small("float32", (2, 1))], {}, "SHAPE", "expected the shape of input x but for axis 1")

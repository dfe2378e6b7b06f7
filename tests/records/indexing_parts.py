"""Triangles and diagonals, one-hot and masks from indices, partitions and segments."""
import numpy as np

from framework import INDEX, Case, Near, Refusal, NUMPY, cases, dense, is_float, is_integer, picks, refusals, wide, zeros

KS = (0, 1, -1, 2, -3, 60, -60, 2**62, -2**63)


@cases("tril", "triu")
def triangles(s, dtype, op):
    for shape in [(3, 3), (2, 5), (5, 2), (0, 3), (3, 0), (2, 3, 4), (33, 40)]:
        for k in KS:
            x = s.special(dtype, shape)
            distance = np.arange(shape[-1])[None, :] - np.arange(shape[-2])[:, None]
            keep = distance <= k if op == "tril" else distance >= k
            yield Case([x], {"k": k}, [np.where(keep, x, np.zeros((), x.dtype)).astype(x.dtype)])


@refusals("tril", "triu", "matrix_band_part")
def triangles_refusals(s, op):
    yield Refusal([s.small("float32", (3,))], {}, "SHAPE", "at least 2 axes")


@cases("matrix_band_part")
def matrix_band_part(s, dtype):
    for shape in [(3, 3), (2, 5), (5, 2), (0, 3), (2, 3, 4)]:
        for lower, upper in [(-1, -1), (0, 0), (1, -1), (-1, 0), (1, 2), (2**62, 0)]:
            x = s.small(dtype, shape)
            distance = np.arange(shape[-1])[None, :] - np.arange(shape[-2])[:, None]
            keep = ((lower < 0) | (-distance <= lower)) & ((upper < 0) | (distance <= upper))
            yield Case([x], {"lower": lower, "upper": upper}, [np.where(keep, x, np.zeros((), x.dtype)).astype(x.dtype)])


@cases("diag")
def diag(s, dtype):
    for shape in [(3,), (1,), (0,), (3, 4), (4, 3), (0, 2)]:
        for k in (0, 1, -2, 5, -5):
            x = s.special(dtype, shape)
            if len(shape) == 1:
                n = shape[0] + abs(k)
                y = np.zeros((n, n), x.dtype)
                for i in range(shape[0]):
                    y[i + max(-k, 0), i + max(k, 0)] = x[i]
            else:
                y = dense(np.diagonal(x, k))
            yield Case([x], {"k": k}, [y])


@refusals("diag")
def diag_refusals(s):
    yield Refusal([s.small("float32", (2, 2, 2))], {}, "SHAPE", "1 or 2 axes")
    yield Refusal([s.small("float32", (2,))], {"k": -2**63}, "OVERFLOW", "exceed 64 bits")
    yield Refusal([s.small("float32", (2,))], {"k": 2**40}, "OVERFLOW", "64 bits")


@cases("diag_embed")
def diag_embed(s, dtype):
    for shape, a, b in [((3,), -2, -1), ((2, 3), 0, 2), ((2, 3), 2, 0), ((2, 1, 2), 1, -1), ((0,), 0, 1), ((2, 0), 0, 1)]:
        for k in (0, 1, -2):
            x = s.small(dtype, shape)
            n = shape[-1] + abs(k)
            y = np.zeros(shape[:-1] + (n, n), x.dtype)
            for i in range(shape[-1]):
                y[..., i + max(-k, 0), i + max(k, 0)] = x[..., i]
            yield Case([x], {"offset": k, "axis1": a, "axis2": b}, [dense(np.moveaxis(y, (-2, -1), (a, b)))])


@refusals("diag_embed")
def diag_embed_refusals(s):
    yield Refusal([s.small("float32", ())], {}, "SHAPE", "at least 1 axis")
    yield Refusal([s.small("float32", (3,))], {"axis1": 1}, "ARGUMENT", "both axis 1")
    yield Refusal([s.small("float32", (3,))], {"axis1": 2}, "INDEX", "axis1 2")


@cases("matrix_set_diag")
def matrix_set_diag(s, dtype):
    for shape, k, given in [((3, 3), 0, (3,)), ((2, 5), 1, (2,)), ((5, 2), -1, (1,)), ((2, 3, 4), 0, (2, 3)), ((2, 3, 4), 2, (1, 2)),
                            ((2, 3, 4), -1, ()), ((3, 3), 7, (0,)), ((0, 2, 2), 0, (2,)), ((3, 3), -2**63, (0,))]:
        x, d = s.small(dtype, shape), np.asarray(s.small(dtype, given), dtype=NUMPY[dtype])
        y = x.copy()
        for r in range(shape[-2]):
            if 0 <= r + k < shape[-1]:
                length = min(shape[-2] - max(-k, 0), shape[-1] - max(k, 0))
                y[..., r, r + k] = np.broadcast_to(d, shape[:-2] + (length,))[..., r - max(-k, 0)]
        yield Case([x, d], {"k": k}, [y])


@refusals("matrix_set_diag")
def matrix_set_diag_refusals(s):
    x = s.small("float32", (3, 3))
    yield Refusal([x, s.small("float32", (2,))], {}, "SHAPE", "broadcasts to the diagonals' (3,)")
    yield Refusal([x, s.small("int8", (3,))], {}, "DTYPE", "expected float32")
    yield Refusal([x[0], x[0]], {}, "SHAPE", "at least 2 axes")


# -- from indices ---------------------------------------------------------------------------------------------------------

@cases("sequence_mask")
def sequence_mask(s, dtype):
    for shape, maxlen in [((), 4), ((3,), 5), ((2, 3), 4), ((0,), 3), ((3,), 0), ((5,), 70)]:
        x = np.asarray(s.integers(-2, maxlen + 2, shape)).astype(NUMPY[dtype])
        mask = np.arange(maxlen) < x[..., None]
        yield Case([x], {"maxlen": maxlen}, [mask])
        for other in ("float16", "int64", "complex64"):
            yield Case([x], {"maxlen": maxlen, "dtype": other}, [mask.astype(NUMPY[other])])


@refusals("sequence_mask")
def sequence_mask_refusals(s):
    yield Refusal([np.array([1])], {"maxlen": -1}, "ARGUMENT", "maxlen is -1")
    yield Refusal([np.array([1])], {"dtype": "utf8"}, "DTYPE", "dtype is utf8")
    yield Refusal([np.array([1])], {"dtype": "int4"}, "DTYPE", "dtype is int4, expected bool or a number of at least 8 bits")


@cases("one_hot")
def one_hot(s, dtype):
    for shape, depth, axis in [((), 3, -1), ((4,), 3, -1), ((4,), 3, 0), ((2, 3), 4, 1), ((0,), 3, 0), ((2,), 0, -1), ((30,), 9, 0)]:
        x = np.asarray(s.integers(-depth - 1, depth + 1, shape)).astype(NUMPY[dtype])
        front = axis % (x.ndim + 1)
        grid = np.arange(depth).reshape([-1 if i == front else 1 for i in range(x.ndim + 1)])
        wrapped = np.expand_dims(np.where(x < 0, x + depth, x), front)
        on = (wrapped == grid) & (wrapped >= 0)
        yield Case([x], {"depth": depth, "axis": axis}, [on.astype(np.float32)])
        yield Case([x], {"depth": depth, "axis": axis, "dtype": "bool"}, [on])
        for values in (np.array([2, 7], np.int16), np.array([-1.5, np.nan]), np.array(["no", "yes"], dtype=object)):
            y = np.empty(on.shape, values.dtype)
            y[...] = values[0]
            y[on] = values[1]
            yield Case([x, values], {"depth": depth, "axis": axis}, [y])


@refusals("one_hot")
def one_hot_refusals(s):
    x = np.array([1, 2])
    yield Refusal([x], {"depth": -1}, "ARGUMENT", "depth is -1")
    yield Refusal([x], {"depth": 3, "axis": 2}, "INDEX", "axis 2")
    yield Refusal([x, s.small("float32", (3,))], {"depth": 3}, "SHAPE", "two elements: off and on")
    yield Refusal([x], {"depth": 3, "dtype": "utf8"}, "DTYPE", "dtype is utf8")
    yield Refusal([x], {"depth": 3, "dtype": "int4"}, "DTYPE", "dtype is int4, expected bool or a number of at least 8 bits")


@cases("invert_permutation")
def invert_permutation(s, dtype):
    for n in (0, 1, 2, 7, 300):
        x = s.random.permutation(n).astype(NUMPY[dtype])
        yield Case([x], {}, [np.argsort(x).astype(NUMPY[dtype])])


@refusals("invert_permutation")
def invert_permutation_refusals(s):
    yield Refusal([np.array([0, 2, 2])], {}, "INDEX", "x[2] is 2, expected each of 0 to 2 once")
    yield Refusal([np.array([0, -1])], {}, "INDEX", "x[1] is -1")
    yield Refusal([np.array([[0]])], {}, "SHAPE", "expected 1 axis")


@cases("unravel_index")
def unravel_index(s, dtype):
    for places, shape in [((), (3, 4)), ((5,), (3, 4)), ((2, 3), (7,)), ((4,), (2, 3, 5)), ((0,), (2, 2)), ((0,), (0, 2)), ((1,), ())]:
        size = int(np.prod(shape))
        x = picks(s, max(size, 1), places, NUMPY[dtype])
        at = np.unravel_index(np.where(x < 0, x + size, x), shape) if shape else ()
        y = np.array(at, np.int64).reshape((len(shape),) + places)
        yield Case([x], {"shape": list(shape)}, [y])


@refusals("unravel_index")
def unravel_index_refusals(s):
    yield Refusal([np.array([3, 12])], {"shape": [3, 4]}, "INDEX", "indices[1] is 12, out of range")
    yield Refusal([np.array([0])], {"shape": [3, -1]}, "ARGUMENT", "an extent of shape is -1")
    yield Refusal([np.array([0])], {"shape": [2**40, 2**40]}, "OVERFLOW", "more elements")


@cases("ravel_multi_index")
def ravel_multi_index(s, dtype):
    for places, shape in [((), (3, 4)), ((5,), (3, 4)), ((2, 3), (7,)), ((4,), (2, 3, 5)), ((0,), (2, 2)), ((2,), ())]:
        x = np.zeros((len(shape),) + places, NUMPY[dtype])
        for i, n in enumerate(shape):
            x[i] = picks(s, n, places, NUMPY[dtype])
        y = np.zeros(places, np.int64)
        for row, n in zip(x.astype(np.int64), shape):
            y = y * n + row % n
        yield Case([x], {"shape": list(shape)}, [y])


@refusals("ravel_multi_index")
def ravel_multi_index_refusals(s):
    yield Refusal([np.array([[0, 1], [4, 0]])], {"shape": [3, 4]}, "INDEX", "indices[1, 0] is 4, out of range for axis 1 of length 4")
    yield Refusal([np.array([[0, 1]])], {"shape": [3, 4]}, "SHAPE", "expected 2 rows")


# -- partitions and segments ------------------------------------------------------------------------------------------------

@cases("dynamic_partition")
def dynamic_partition(s, dtype):
    for shape, given, count in [((5,), (5,), 3), ((4, 3), (4,), 2), ((2, 3), (2, 3), 4), ((0, 2), (0,), 2), ((3,), (), 2), ((40, 5), (40,), 7)]:
        for index in INDEX:
            x, p = s.special(dtype, shape), np.asarray(s.integers(0, count - 1, given)).astype(index)
            rows = x.reshape((p.size,) + shape[len(given):])
            order = np.argsort(p.reshape(-1), kind="stable")
            counts = np.bincount(p.reshape(-1), minlength=count).astype(np.int64)
            yield Case([x, p], {"num_partitions": count}, [rows[order], counts])


@refusals("dynamic_partition")
def dynamic_partition_refusals(s):
    x = s.small("float32", (3, 2))
    yield Refusal([x, np.array([0, 2, 1])], {"num_partitions": 2}, "INDEX", "number 1 of partitions is 2, expected 0 to 1")
    yield Refusal([x, np.array([0, -1, 1])], {"num_partitions": 2}, "INDEX", "number 1 of partitions is -1")
    yield Refusal([x, np.array([0, 1])], {"num_partitions": 2}, "SHAPE", "first axes of input x")
    yield Refusal([x, np.array([0, 1, 0])], {"num_partitions": -2}, "ARGUMENT", "num_partitions is -2")


@cases("dynamic_stitch")
def dynamic_stitch(s, dtype):
    if NUMPY[dtype] not in INDEX:  # the first inputs are indices; data of every dtype comes below
        return
    for kind in ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128", "utf8"):
        for rest, sizes, total in [((), [(2,), (3,)], -1), ((3,), [(2, 2), (), (3,)], 9), ((2, 2), [(0,), (4,)], 6)]:
            count = total if total >= 0 else sum(int(np.prod(n)) for n in sizes)
            indices = [picks(s, count, n, NUMPY[dtype]) for n in sizes]
            data = [np.asarray(s.small(kind, n + rest), dtype=NUMPY[kind]) for n in sizes]
            y = zeros((count,) + rest, kind)
            for i, d in zip(indices, data):
                for at in np.ndindex(i.shape):
                    y[int(i[at])] = d[at]
            yield Case(indices + data, {"size": total}, [y])


@refusals("dynamic_stitch")
def dynamic_stitch_refusals(s):
    i, x = np.array([0, 1]), s.small("float32", (2, 3))
    yield Refusal([i], {}, "ARGUMENT", "as many arrays of data as of indices")
    yield Refusal([i + 1, x], {}, "INDEX", "number 1 of xs[0] is 2, expected -2 to 1")
    yield Refusal([i, i, x, x[:, :2]], {}, "SHAPE", "expected the axes of xs[1]")
    yield Refusal([i, i, x, x.astype(np.float64)], {}, "DTYPE", "expected float32 as the others")


SEGMENTS = ("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod", "segment_sqrt_n")


def empty_segment(op, dtype):
    if op in ("segment_max", "segment_min"):
        sign = -1 if op == "segment_max" else 1
        if is_float(dtype):
            return sign * np.longdouble(np.inf)
        info = np.iinfo(NUMPY[dtype])
        return info.min if sign < 0 else info.max
    return 1 if op == "segment_prod" else 0


def segment(op, rows, dtype):
    if op == "segment_prod":
        return np.prod(rows, axis=0)
    if op in ("segment_max", "segment_min"):
        return (np.max if op == "segment_max" else np.min)(rows, axis=0)
    total = np.sum(rows, axis=0)
    n = np.longdouble(len(rows))
    return total / (n if op == "segment_mean" else np.sqrt(n)) if op in ("segment_mean", "segment_sqrt_n") else total


@cases(*SEGMENTS, ulps=1, complex_ulps=4)
def segments(s, dtype, op):
    calls = [((5,), 3), ((6, 2), 4), ((4, 2, 3), 2), ((0, 3), 2), ((3, 0), 2), ((40, 150), 6), ((5,), -1), ((4, 2), -1), ((0, 2), -1)]
    for number, (shape, count) in enumerate(calls):
        for ordered in (True, False):
            x = s.positive(dtype, shape) if op == "segment_prod" else s.small(dtype, shape)
            n = count if count >= 0 else max(shape[0], 1)
            ids = np.asarray(s.integers(0, n - 1, (shape[0],))).astype(INDEX[number % 2])
            ids = np.sort(ids) if ordered else ids
            total = count if count >= 0 else int(ids.max(initial=-1)) + 1
            w = wide(x)
            y = np.zeros((total,) + shape[1:], w.dtype)
            scale = np.zeros(y.shape)
            for k in range(total):
                rows = w[ids == k]
                y[k] = segment(op, rows, dtype) if len(rows) else empty_segment(op, dtype)
                if not is_integer(dtype) and op not in ("segment_max", "segment_min", "segment_prod"):
                    scale[k] = np.sum(np.abs(rows), axis=0).astype(np.float64)
            if is_integer(dtype):
                bits = np.iinfo(NUMPY[dtype]).bits
                y = (y.astype(object) % 2**bits).astype(np.uint64).astype(f"uint{bits}").view(NUMPY[dtype])
                yield Case([x, ids], {"num_segments": count}, [y])
            else:
                long = dtype in ("float64", "complex128")
                yield Case([x, ids], {"num_segments": count}, [Near(y, dtype, scale if long else None)],
                           ulps=(30 if op == "segment_prod" else 4) if long else None)
    if is_float(dtype) and op in ("segment_max", "segment_min"):
        x = np.array([1, np.nan, 2, np.inf, -np.inf, 3]).astype(NUMPY[dtype])
        y = np.array([np.nan, np.inf if op == "segment_max" else 2, 3 if op == "segment_max" else -np.inf])
        yield Case([x, np.array([0, 0, 1, 1, 2, 2])], {}, [y.astype(NUMPY[dtype])])


@refusals(*SEGMENTS)
def segments_refusals(s, op):
    x = s.small("float32", (3, 2))
    yield Refusal([x, np.array([0, 2, 1])], {"num_segments": 2}, "INDEX", "number 1 of segments is 2, expected 0 to 1")
    yield Refusal([x, np.array([0, -1, 1])], {}, "INDEX", "number 1 of segments is -1")
    yield Refusal([x, np.array([0, 3, 1])], {}, "INDEX", "number 1 of segments is 3, expected 0 to 2")
    yield Refusal([x, np.array([0, 1])], {}, "SHAPE", "as long as input x's first, 3")
    yield Refusal([x, np.array([0., 1, 1])], {}, "DTYPE", "int32 or int64")

"""Sorting, searching, sets, histograms."""
import math

import numpy as np

from framework import NUMPY, Case, Exact, Near, Refusal, cases, is_complex, is_float, is_integer, refusals, wide

LD = np.longdouble


@cases("nonzero", "argwhere")
def nonzero(s, dtype, op):
    # blocks of 255, parts of 16384
    long = {"int8": [(255,), (256,)], "float32": [(255,), (3, 86)], "int32": [(16384,), (16385,), (2, 16390)]}
    for shape in [(), (1,), (7,), (3, 4), (2, 1, 3, 2), (0,), (3, 0)] + long.get(dtype, []):
        for x in (s.small(dtype, shape), s.special(dtype, shape), np.zeros(shape, s.small(dtype, ()).dtype)):
            x = np.where(s.integers(0, 2, shape) == 0, np.zeros_like(x), x).astype(x.dtype)
            if op == "argwhere":
                y = np.argwhere(x).astype(np.int64)
            else:
                y = np.array(np.nonzero(np.atleast_1d(x)), dtype=np.int64)
            yield Case([x], {}, [y])
    for length in (63, 64, 65, 200):  # vectors that are whole, full, half full, nearly empty
        for one_in in (1, 2, 50):
            x = (s.integers(0, one_in - 1, (length,)) == 0).astype(s.small(dtype, ()).dtype)
            places = np.argwhere(x).astype(np.int64)
            yield Case([x], {}, [places if op == "argwhere" else places.T])


# -- order -----------------------------------------------------------------------------------------------------------

def sort_key(v):
    """A key that Python's stable sort orders as nd4c: NaN last, NaN imaginary parts before NaN real parts."""
    if isinstance(v, (bool, np.bool_)):
        return (0, int(v))
    if isinstance(v, (complex, np.complexfloating)):
        real, imag = float(v.real), float(v.imag)
        kind = 2 * math.isnan(real) + math.isnan(imag)
        return (kind, 0 if math.isnan(real) else real, 0 if math.isnan(imag) else imag)
    if isinstance(v, (int, np.integer)):
        return (0, int(v))
    v = float(v)
    return (1, 0) if math.isnan(v) else (0, v)


def argsort_line(line, descending=False):
    keys = [sort_key(v) for v in line]
    order = sorted(range(len(keys)), key=lambda i: keys[i], reverse=False)
    if not descending:
        return order
    # equal elements keep their order
    return sorted(range(len(keys) - 1, -1, -1), key=lambda i: keys[i])[::-1]


def argsort(x, axis, descending=False):
    lines = np.moveaxis(x, axis, -1)
    order = np.zeros(lines.shape, dtype=np.int64)
    for place in np.ndindex(*lines.shape[:-1]):
        order[place] = argsort_line(lines[place], descending)
    return np.moveaxis(order, -1, axis)


def arrays(s, dtype, long=True):
    for shape in [(1,), (7,), (3, 4), (2, 1, 3, 2), (0,), (2, 0), (0, 3)]:
        yield s.small(dtype, shape)
    yield s.special(dtype, (40,))
    yield s.special(dtype, (5, 9))
    yield s.bits(dtype, (3, 60))
    yield np.full((3, 3), s.small(dtype, ()))
    if long:
        yield s.bits(dtype, (300,))
        yield s.small(dtype, (2, 200))


# Lengths on both sides of the limits at which engine simd changes its method: counting 8 and 16 bits, splitting a line.
LONG_LINES = {"int8": (511, 512), "uint8": (511, 512), "int16": (32767, 32768), "bfloat16": (32767, 32768),
              "float32": (32767, 32768), "int64": (32767, 32768)}


@cases("sort", "argsort")
def sort(s, dtype, op):
    for n in LONG_LINES.get(dtype, ()):
        x = s.bits(dtype, (n,))
        order = argsort(x, 0, n % 2 == 1)
        yield Case([x], {"axis": 0, "descending": n % 2 == 1}, [x[order] if op == "sort" else order])
    for x in arrays(s, dtype):
        for axis in sorted({0, -1}):
            for descending in (False, True):
                order = argsort(x, axis, descending)
                y = np.take_along_axis(x, order, axis) if op == "sort" else order
                yield Case([x], {"axis": axis, "descending": descending}, [y])


@cases("top_k")
def top_k(s, dtype):
    for n in (131071, 131072) if dtype in ("float32", "float64", "int64") else ():  # threads split the line
        x = s.bits(dtype, (n,))
        order = argsort(x, 0, n % 2 == 1)[:5]
        yield Case([x], {"axis": 0, "k": 5, "largest": n % 2 == 1}, [x[order], order])
    for k in (100, 101):  # few of a line, and not so few
        x = s.bits(dtype, (1600,))
        order = argsort(x, 0, True)[:k]
        yield Case([x], {"k": k}, [x[order], order])
    for x in arrays(s, dtype):
        for axis in sorted({0, -1}):
            n = x.shape[axis]
            for k in sorted({0, min(1, n), n // 2, n}):
                for largest in (False, True):
                    order = np.take(argsort(x, axis, largest), range(k), axis)
                    yield Case([x], {"axis": axis, "k": k, "largest": largest},
                               [np.take_along_axis(x, order, axis), order])


@cases("kth_value")
def kth_value(s, dtype):
    for x in arrays(s, dtype):
        for axis in sorted({0, -1}):
            n = x.shape[axis]
            for k in sorted({0, n // 2, n - 1}) if n > 0 else ():
                order = np.take(argsort(x, axis), [k], axis)
                values = np.take_along_axis(x, order, axis)
                keepdims = k == 0
                if not keepdims:
                    order, values = np.squeeze(order, axis), np.squeeze(values, axis)
                yield Case([x], {"axis": axis, "k": k, "keepdims": keepdims}, [values, order])


# -- sets ------------------------------------------------------------------------------------------------------------

def groups(rows):
    """Lists of the positions of equal rows (lists of elements), in ascending order of the rows."""
    order = sorted(range(len(rows)), key=lambda i: [sort_key(v) for v in rows[i]])
    found = []
    for i in order:
        if found and all(a == b for a, b in zip(rows[found[-1][0]], rows[i])):
            found[-1].append(i)
        else:
            found.append([i])
    return found


def ints(values):
    return np.array(values, dtype=np.int64)


def pools(s, dtype):
    """1-D arrays with many equal elements."""
    for n in (0, 1, 5, 40, 130):
        yield s.small(dtype, (n,))
    yield s.special(dtype, (60,))
    yield s.bits(dtype, (20,))


@cases("unique_all", "unique_counts", "unique_inverse", "unique_values")
def unique_family(s, dtype, op):
    chunks = (1024, 1025, 65535, 65536) if dtype == "int32" and op == "unique_all" else ()
    long = [s.small(dtype, (n,)) for n in chunks]
    for x in long + list(pools(s, dtype)) + [s.small(dtype, ()), s.small(dtype, (3, 4)), s.special(dtype, (2, 3, 5)),
                                      s.small(dtype, (2, 0))]:
        flat = x.reshape(-1)
        found = groups([[v] for v in flat])
        values = flat[[g[0] for g in found]] if found else flat[:0]
        inverse = np.zeros(flat.shape, dtype=np.int64)
        for number, g in enumerate(found):
            inverse[g] = number
        inverse, first = inverse.reshape(x.shape), ints([g[0] for g in found])
        counts = ints([len(g) for g in found])
        yield Case([x], {}, {"unique_all": [values, first, inverse, counts], "unique_counts": [values, counts],
                             "unique_inverse": [values, inverse], "unique_values": [values]}[op])


@cases("unique")
def unique(s, dtype):
    def case(x, axis, in_order):
        moved = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0)
        rows = moved.reshape(moved.shape[0], math.prod(moved.shape[1:]))
        found = groups([list(r) for r in rows])
        if not in_order:
            found.sort(key=lambda g: g[0])
        inverse = np.zeros(len(rows), dtype=np.int64)
        for number, g in enumerate(found):
            inverse[g] = number
        first = ints([g[0] for g in found])
        values = moved[first] if len(found) else moved[:0]
        values = values.reshape(-1) if axis is None else np.moveaxis(values, 0, axis)
        return Case([x], {"axis": [] if axis is None else [axis], "sorted": in_order},
                    [values, first, inverse, ints([len(g) for g in found])])

    for x in [*pools(s, dtype), s.small(dtype, (3, 4)), s.special(dtype, (3, 2, 5))]:
        for in_order in (True, False):
            yield case(x, None, in_order)
    for n in (1, 6, 70):
        x = np.where(s.integers(0, 1, (n, 2, 3)) == 0, s.small(dtype, (2, 3)), s.small(dtype, (2, 3))).astype(
            NUMPY[dtype])
        x = x[s.integers(0, n - 1, (n,))]
        for axis in (0, 1, -1):
            for in_order in (True, False):
                yield case(x, axis, in_order)
    yield case(np.zeros((3, 0), NUMPY[dtype]), 0, True)
    yield case(np.zeros((0, 3), NUMPY[dtype]), 0, False)
    yield case(s.small(dtype, ()), None, True)


@cases("union1d", "intersect1d", "setdiff1d", "setxor1d")
def set_operations(s, dtype, op):
    chosen = {"union1d": lambda a, b: True, "intersect1d": lambda a, b: a and b, "setdiff1d": lambda a, b: a and not b,
              "setxor1d": lambda a, b: a != b}[op]
    for a in [*pools(s, dtype), s.small(dtype, (3, 2)), s.small(dtype, ())]:
        for b in [*pools(s, dtype), s.small(dtype, (2, 2, 3))]:
            both = np.concatenate([a.reshape(-1), b.reshape(-1)])
            kept = [g[0] for g in groups([[v] for v in both])
                    if chosen(any(i < a.size for i in g), any(i >= a.size for i in g))]
            yield Case([a, b], {}, [both[kept] if kept else both[:0]])


@cases("isin")
def isin(s, dtype):
    for a in [*pools(s, dtype), s.small(dtype, (3, 4)), s.small(dtype, ())]:
        for b in [*pools(s, dtype), s.small(dtype, (2, 2))]:
            for invert in (False, True):
                found = np.array([any(v == w for w in b.reshape(-1)) for v in a.reshape(-1)], dtype=bool)
                yield Case([a, b], {"invert": invert}, [(found != invert).reshape(a.shape)])


# -- searching -------------------------------------------------------------------------------------------------------

def places(keys, values, right):
    out = []
    for v in values:
        k = sort_key(v)
        out.append(sum(1 for a in keys if a < k or (right and a == k)))
    return out


@cases("searchsorted")
def searchsorted(s, dtype):
    for x in pools(s, dtype):
        blocks = [s.small(dtype, (n,)) for n in (1024, 1025)] if dtype == "float32" and len(x) == 40 else []
        for values in [s.small(dtype, (3, 4)), s.special(dtype, (9,)), s.small(dtype, ()), s.small(dtype, (0,))] + blocks:
            for right in (False, True):
                order = argsort_line(x)
                keys = [sort_key(x[i]) for i in order]
                y = ints(places(keys, values.reshape(-1), right)).reshape(values.shape)
                yield Case([x[order] if order else x, values], {"right": right}, [y])
                sorter = np.array(order, dtype=[np.int64, np.int32, np.uint8][len(order) % 3])
                yield Case([x, values, sorter], {"right": right}, [y])


@cases("digitize")
def digitize(s, dtype):
    # Up to eight bins are counted, more are halved, for 32 elements side by side.
    for x in (s.small(dtype, (3, 4)), s.special(dtype, (9,)), s.small(dtype, ()), s.small(dtype, (0,)), s.small(dtype, (70,))):
        for bins in ([], [1], [0, 2, 3, 3, 5], [7, 7, 4, 1], [2, 2], [0, 1, 1, 2, 3, 3, 4, 5], [0, 1, 1, 2, 3, 3, 4, 5, 6],
                     [9, 8, 7, 6, 5, 4, 3, 2, 1]):
            bins = np.array(bins, dtype=NUMPY[dtype])
            for right in (False, True):
                keys = [sort_key(v) for v in bins]
                down = len(keys) > 1 and keys[0] > keys[-1]
                y = ints(places(keys[::-1] if down else keys, x.reshape(-1), not right)).reshape(x.shape)
                yield Case([x, bins], {"right": right}, [len(keys) - y if down else y])


@cases("is_non_decreasing", "is_strictly_increasing")
def is_ordered(s, dtype, op):
    strict = op == "is_strictly_increasing"
    few = [[], [3], [1, 2, 3], [1, 1, 2], [3, 2], [0, 0]]
    for x in [np.array(v, dtype=NUMPY[dtype]) for v in few] + [np.array([[1, 2], [3, 4]], dtype=NUMPY[dtype]),
                                                               s.special(dtype, (2,)), s.special(dtype, (3,))]:
        flat = list(x.reshape(-1))
        y = all((a < b) if strict else (a <= b) for a, b in zip(flat, flat[1:]))
        yield Case([x], {}, [np.array(bool(y))])
    if is_float(dtype):
        yield Case([np.array([1, np.nan], dtype=NUMPY[dtype])], {}, [np.array(False)])


@cases("in_top_k")
def in_top_k(s, dtype):
    for rows, classes in ((4, 5), (1, 1), (0, 3), (3, 0), (6, 40)):
        for p in (s.small(dtype, (rows, classes)), s.special(dtype, (rows, classes))):
            targets = s.integers(-1, classes, (rows,)).astype([np.int64, np.int32][rows % 2])
            for k in (0, 1, 3):
                y = [0 <= t < classes and bool(np.isfinite(p[i, t])) and
                     int((p[i].astype(float) > float(p[i, t])).sum()) < k for i, t in enumerate(targets)]
                yield Case([p, targets], {"k": k}, [np.array(y, dtype=bool)])


# -- bins ------------------------------------------------------------------------------------------------------------

def edge_dtype(dtype):
    return dtype if is_float(dtype) else "float64"


def edges_of(low, high, bins, dtype):
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = (high - low) / bins
    return np.array([low + i * step for i in range(bins)] + [high], dtype=np.float64).astype(NUMPY[dtype])


def range_of(x):
    x = x.astype(np.float64)
    return (float(x.min()), float(x.max())) if x.size else (0.0, 1.0)


def count_in(x, edges, weights=None):
    e = edges.astype(np.float64)
    out = [0.0] * (len(e) - 1)
    for i, v in enumerate(x.astype(np.float64).reshape(-1)):
        if len(out) and e[0] <= v <= e[-1]:
            at = min(int(np.searchsorted(e, v, "right")) - 1, len(out) - 1)
            if at == len(out) - 1 and v == e[-1]:
                at = len(out) - 1
            out[at] += 1 if weights is None else float(weights.reshape(-1)[i])
    return np.array(out)


@cases("histogram", ulps=4)
def histogram(s, dtype):
    to = edge_dtype(dtype)
    for x in (s.small(dtype, (50,)), s.small(dtype, (3, 4)), s.small(dtype, ()), s.small(dtype, (0,)),
              np.full(5, s.small(dtype, ())), s.uniform(dtype, 0, 100, (300,)) if not is_integer(dtype) else
              s.bits(dtype, (300,))):
        for bins, limits in ((10, []), (1, []), (7, [-2, 3]), (3, [1, 1]), (64, [0, 1e3])):
            edges = edges_of(*(limits or range_of(x)), bins, to)
            attrs = {"bins": bins, "range": limits}
            yield Case([x], attrs, [count_in(x, edges).astype(np.int64), edges])
            weights = s.uniform("float32", 0, 1, x.shape)
            yield Case([x, None, weights], attrs, [Near(count_in(x, edges, weights), "float32"), edges])
        if x.size:
            totals = count_in(x, edges_of(*range_of(x), 5, to))
            edges = edges_of(*range_of(x), 5, to)
            yield Case([x], {"bins": 5, "density": True},
                       [Near(totals / np.diff(edges.astype(np.float64)) / totals.sum(), "float64"), edges])
        for edges in ([1], [0, 1, 5, 7.5], [2, 2, 3]):
            edges = np.array(edges, dtype=NUMPY[to])
            yield Case([x, edges], {}, [count_in(x, edges).astype(np.int64), edges])
    if is_float(dtype):
        x = s.special(dtype, (30,))
        edges = edges_of(-3, 3, 4, to)
        yield Case([x], {"bins": 4, "range": [-3, 3]}, [count_in(x, edges).astype(np.int64), edges])


@cases("histogram_bin_edges")
def histogram_bin_edges(s, dtype):
    for x in (s.small(dtype, (50,)), s.small(dtype, (3, 4)), s.small(dtype, (0,)), np.full(5, s.small(dtype, ()))):
        for bins, limits in ((10, []), (1, []), (7, [-2, 3]), (3, [1, 1])):
            yield Case([x], {"bins": bins, "range": limits}, [edges_of(*(limits or range_of(x)), bins, edge_dtype(dtype))])


@cases("histogram_fixed_width")
def histogram_fixed_width(s, dtype):
    for x in (s.small(dtype, (50,)), s.small(dtype, (3, 4)), s.special(dtype, (40,)), s.small(dtype, (0,)),
              s.small(dtype, (2, 571))):  # of more than one block
        for low, high, bins in ((0, 1, 100), (-3, 3, 4), (-1.5, 7, 5)):
            out = np.zeros(bins, np.int64)
            for v in x.astype(np.float64).reshape(-1):
                if not np.isnan(v):
                    with np.errstate(over="ignore"):
                        out[int(min(max(np.floor((v - low) / (high - low) * bins), 0), bins - 1))] += 1
            yield Case([x], {"low": low, "high": high, "bins": bins}, [out])


@cases("bincount", ulps=4)
def bincount(s, dtype):
    for n in (65535, 65536) if dtype == "int32" else (): # the second is counted in two pieces
        x = np.abs(s.small(dtype, (n,)))
        yield Case([x], {"minlength": 0, "maxlength": 65536}, [np.bincount(x).astype(np.int64)])
    for shape in ((0,), (1,), (40,), (3, 4), ()):
        x = np.abs(s.small(dtype, shape))
        for least, most in ((0, 65536), (5, 100), (20, 20)):
            y = np.bincount(x.reshape(-1).astype(np.int64), minlength=least)
            attrs = {"minlength": least, "maxlength": most}
            yield Case([x], attrs, [y.astype(np.int64)])
            weights = s.uniform("float64", -1, 1, shape)
            y = np.bincount(x.reshape(-1).astype(np.int64), weights.reshape(-1), minlength=least)
            size = np.bincount(x.reshape(-1).astype(np.int64), np.abs(weights.reshape(-1)), minlength=least)
            yield Case([x, weights], attrs, [Near(y, "float64", size)])
    x, weights = np.abs(s.small(dtype, (1025,))), s.uniform("float32", -1, 1, (1025,))
    y = np.bincount(x.astype(np.int64), weights.astype(np.float64))
    yield Case([x, weights], {}, [Near(y, "float32", np.bincount(x.astype(np.int64), np.abs(weights)))])


@cases("confusion_matrix", ulps=4)
def confusion_matrix(s, dtype):
    for shape, classes in (((30,), 4), ((0,), 2), ((2, 5), 7), ((), 1), ((3, 411), 5)):
        a, b = s.integers(0, classes - 1, shape).astype(NUMPY[dtype]), s.integers(0, classes - 1, shape).astype(NUMPY[dtype])
        y, sums = np.zeros((classes, classes), np.int64), np.zeros((classes, classes))
        weights = s.uniform("float32", 0, 1, shape)
        for i, j, w in zip(a.reshape(-1), b.reshape(-1), weights.reshape(-1)):
            y[i, j] += 1
            sums[i, j] += float(w)
        yield Case([a, b], {"classes": classes}, [y])
        yield Case([a, b, weights], {"classes": classes}, [Near(sums, "float32")])


# -- refusals --------------------------------------------------------------------------------------------------------

@cases("lexsort")
def lexsort(s, dtype):
    others = ("int8", "float32", "bool", dtype)
    for shape in ((0,), (1,), (9,), (300,), (3, 4), (2, 1, 7), (3, 0), (0, 3)):
        for axis in {0, -1}:
            first = s.small(dtype, shape)
            keys = [first] + [s.small(other, shape) for other in others[:len(shape) + 1]]
            for chosen in (keys[:1], keys[:2], keys):
                order = np.lexsort(chosen, axis=axis) if not any(k.dtype.kind == "V" for k in chosen) else \
                    np.lexsort([k.astype(np.float32) if k.dtype.kind == "V" else k for k in chosen], axis=axis)
                yield Case(chosen, {"axis": axis}, [np.asarray(order, np.int64).reshape(shape)])
    x = np.repeat(s.small(dtype, (1, 5)), 3, axis=0)
    yield Case([x, x], {"axis": 0}, [np.repeat(np.arange(3), 5).reshape(3, 5)])
    if is_float(dtype):
        x = np.array([np.nan, 1, -np.inf, np.nan, 1, 0, -0.0]).astype(NUMPY[dtype])
        yield Case([np.arange(7, 0, -1).astype(np.int32), x], {}, [np.array([2, 6, 5, 4, 1, 3, 0])])


@refusals("lexsort")
def lexsort_refusals(s):
    x = s.small("float32", (3, 4))
    yield Refusal([x, s.small("float32", (4, 3))], {}, "SHAPE", "the shape of all keys")
    yield Refusal([x, x], {"axis": 2}, "INDEX", "axis 2 is out of range")
    yield Refusal([s.small("float32", ())], {}, "INDEX", "there is no axis")
    yield Refusal([], {}, "NULL_ARGUMENT", "input keys is missing", dtype="float32")


@refusals("sort", "argsort", "top_k", "kth_value")
def sort_refusals(s, op):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {"axis": 2}, "INDEX", "axis 2 is out of range, expected -2 to 1")
    yield Refusal([s.small("float32")], {}, "INDEX", "there is no axis")
    if op in ("top_k", "kth_value"):
        yield Refusal([x], {"k": 5}, "ARGUMENT", "k is 5, expected 0 to")
        yield Refusal([x], {"k": -1}, "ARGUMENT", "k is -1, expected 0 to")


@refusals("unique")
def unique_refusals(s):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {"axis": [0, 1]}, "ARGUMENT", "axis has 2 values, expected one or none")
    yield Refusal([x], {"axis": [-3]}, "INDEX", "axis -3 is out of range")


@refusals("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin")
def set_refusals(s, op):
    yield Refusal([s.small("float32", (3,)), s.small("float64", (3,))], {}, "DTYPE", "expected float32")


@refusals("searchsorted")
def searchsorted_refusals(s):
    x, v = s.small("float32", (3,)), s.small("float32", (2,))
    yield Refusal([s.small("float32", (3, 2)), v], {}, "SHAPE", "expected 1 axes")
    yield Refusal([x, s.small("int32", (2,))], {}, "DTYPE", "expected float32")
    yield Refusal([x, v, s.small("float32", (3,))], {}, "DTYPE", "expected an integer dtype")
    yield Refusal([x, v, np.array([0, 1], np.int64)], {}, "SHAPE", "expected the shape of input x")
    yield Refusal([x, v, np.array([0, 1, 3], np.int64)], {}, "INDEX", "sorter[2] is 3, expected 0 to 2")
    yield Refusal([x, v, np.array([0, -1, 2], np.int8)], {}, "INDEX", "sorter[1] is -1")


@refusals("digitize")
def digitize_refusals(s):
    x = s.small("float32", (3,))
    yield Refusal([x, s.small("float32", (2, 2))], {}, "SHAPE", "expected 1 axes")
    yield Refusal([x, s.small("float64", (2,))], {}, "DTYPE", "expected float32")
    yield Refusal([x, np.array([1, 3, 2], np.float32)], {}, "ARGUMENT", "neither ascend nor descend")


@refusals("in_top_k")
def in_top_k_refusals(s):
    p, t = s.small("float32", (3, 4)), np.array([0, 1, 2], np.int64)
    yield Refusal([p[0], t], {}, "SHAPE", "expected 2 axes")
    yield Refusal([p, t[:2]], {}, "SHAPE", "expected one target for each of 3 rows")
    yield Refusal([p, t.astype(np.float32)], {}, "DTYPE", "expected an integer dtype")
    yield Refusal([p, t], {"k": -1}, "ARGUMENT", "k is -1, expected at least 0")


@refusals("histogram")
def histogram_refusals(s):
    x = s.small("float32", (3,))
    yield Refusal([x], {"bins": 0}, "ARGUMENT", "bins is 0, expected 1 to")
    yield Refusal([x], {"range": [1]}, "ARGUMENT", "range has 1 numbers, expected none or two")
    yield Refusal([x], {"range": [2, 1]}, "ARGUMENT", "range is 2 to 1, expected finite numbers")
    yield Refusal([x], {"range": [0, math.inf]}, "ARGUMENT", "range is 0 to inf")
    yield Refusal([np.array([1, np.nan], np.float32)], {}, "ARGUMENT", "NaN or infinite extent")
    yield Refusal([x, np.array([1, 3, 2], np.float32)], {}, "ARGUMENT", "edges[2] is 2, expected ascending numbers")
    yield Refusal([x, np.array([1, 3, 2], np.float64)], {}, "DTYPE", "expected float32")
    yield Refusal([x, None, np.ones(2, np.float32)], {}, "SHAPE", "expected the shape of input x")
    yield Refusal([x, None, np.ones(3, np.int32)], {}, "DTYPE", "expected a real floating dtype")


@refusals("histogram_bin_edges")
def histogram_bin_edges_refusals(s):
    yield Refusal([np.array([1, np.inf], np.float32)], {}, "ARGUMENT", "NaN or infinite extent")
    yield Refusal([s.small("float32", (3,))], {"bins": -1}, "ARGUMENT", "bins is -1, expected 1 to")


@refusals("histogram_fixed_width")
def histogram_fixed_width_refusals(s):
    x = s.small("float32", (3,))
    yield Refusal([x], {"low": 1, "high": 1}, "ARGUMENT", "expected low < high")
    yield Refusal([x], {"low": math.nan}, "ARGUMENT", "range is")
    yield Refusal([x], {"bins": 1 << 40}, "ARGUMENT", "bins is 1099511627776")


@refusals("bincount")
def bincount_refusals(s):
    x = np.array([1, 5, 2], np.int32)
    yield Refusal([x], {"maxlength": 5}, "INDEX", "element 1 is 5, expected 0 to 4")
    yield Refusal([-x], {}, "INDEX", "element 0 is -1, expected 0 to")
    yield Refusal([x], {"minlength": -1}, "ARGUMENT", "expected 0 <= minlength")
    yield Refusal([x], {"minlength": 5, "maxlength": 4}, "ARGUMENT", "minlength is 5 and maxlength 4")
    yield Refusal([x, np.ones(2)], {}, "SHAPE", "expected the shape of input x")
    yield Refusal([x, x], {}, "DTYPE", "expected a real floating dtype")


@refusals("confusion_matrix")
def confusion_matrix_refusals(s):
    x = np.array([1, 5, 2], np.int32)
    yield Refusal([x, x], {}, "ARGUMENT", "classes is 0, expected 1 to")
    yield Refusal([x, x], {"classes": 5}, "INDEX", "element 1 of labels is 5, expected 0 to 4")
    yield Refusal([x * 0, -x], {"classes": 6}, "INDEX", "element 0 of predictions is -1")
    yield Refusal([x, x[:2]], {"classes": 6}, "SHAPE", "expected the shape of input labels")
    yield Refusal([x, x.astype(np.int64)], {"classes": 6}, "DTYPE", "expected int32")

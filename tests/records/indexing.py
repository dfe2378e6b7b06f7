"""Picking and placing elements at indices and where a mask is true; diagonals, one-hot, partitions and segments."""
import numpy as np

from framework import INDEX, Case, Near, Refusal, NUMPY, cases, dense, is_complex, is_float, is_integer, picks, refusals


# -- picking ------------------------------------------------------------------------------------------------------------

@cases("take")
def take(s, dtype):
    for shape, axes, places in [((5,), [0], (7,)), ((4, 3, 2), [1], (2, 5)), ((4, 6), [-1], ()), ((4, 6), [0], (0,)),
                                ((9, 33), [0], (12,)), ((3, 4), [], (2, 3)), ((), [], (2,)), ((0, 3), [1], (2,))]:
        for mode, name in enumerate(("raise", "wrap", "clip")):
            x = s.special(dtype, shape)
            extent = shape[axes[0]] if axes else x.size
            for index in INDEX:
                i = picks(s, extent, places, index)
                if mode > 0:
                    i = np.asarray(s.integers(-30, 30, places)).astype(index)
                y = np.take(x, i, axes[0] if axes else None, mode=name)
                yield Case([x, i], {"axes": axes, "mode": mode}, [np.asarray(y, dtype=x.dtype)])


@refusals("take")
def take_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, np.array([[0, 1], [3, 0]])], {"axes": [1]}, "INDEX",
                  "indices[1, 0] is 3, out of range for axis 1 of length 3: expected -3 to 2")
    yield Refusal([x, np.array([-7])], {}, "INDEX", "indices[0] is -7")
    yield Refusal([x, np.array([0, 5, 6])], {}, "INDEX", "indices[2] is 6")
    yield Refusal([x, np.array([0], np.int16)], {}, "DTYPE", "int32 or int64")
    yield Refusal([x, np.array([0])], {"axes": [2]}, "INDEX", "axes 2")
    yield Refusal([x, np.array([0])], {"axes": [0, 1]}, "ARGUMENT", "axes has 2 values")
    yield Refusal([x, np.array([0])], {"mode": 3}, "ARGUMENT", "mode is 3")
    yield Refusal([s.small("float32", (0,)), np.array([0])], {"mode": 1}, "SHAPE", "nothing to take from")


@refusals("gather")
def gather_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, np.array([0, 2])], {}, "INDEX", "index 2")
    yield Refusal([x, np.array([0, 2, -4], np.int32)], {"axis": 1}, "INDEX", "index -4")


@cases("embedding_lookup")
def embedding_lookup(s, dtype):
    for shape, places in [((5, 4), (3,)), ((4,), (2, 3)), ((3, 2, 2), ()), ((3, 0), (2,)), ((9, 65), (7,))]:
        for index in INDEX:
            x, i = s.special(dtype, shape), picks(s, shape[0], places, index)
            yield Case([x, i], {}, [np.take(x, i, 0)])


@refusals("embedding_lookup")
def embedding_lookup_refusals(s):
    yield Refusal([s.small("float32", (3, 2)), np.array([3])], {}, "INDEX", "indices[0] is 3")
    yield Refusal([s.small("float32", (3, 2)), np.array([0, 2, -4])], {}, "INDEX", "indices[2] is -4")
    yield Refusal([s.small("float32", ()), np.array([0])], {}, "SHAPE", "at least 1 axis")


@cases("take_along_axis")
def take_along_axis(s, dtype):
    for shape, places, axis in [((5,), (3,), 0), ((3, 4), (3, 2), 1), ((3, 4), (5, 4), 0), ((3, 4), (1, 2), -1),
                                ((1, 4), (3, 2), 1), ((2, 3, 4), (2, 7, 1), 1), ((0, 3), (0, 2), 1), ((3, 4), (3, 0), 1),
                                ((33, 20), (33, 20), 1)]:
        for index in INDEX:
            x, i = s.special(dtype, shape), picks(s, shape[axis], places, index)
            yield Case([x, i], {"axis": axis}, [np.take_along_axis(x, i.astype(np.int64), axis)])


@refusals("take_along_axis")
def take_along_axis_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, np.array([[3], [0]])], {}, "INDEX", "indices[0, 0] is 3, out of range for axis 1 of length 3")
    yield Refusal([x, np.array([[2], [3]])], {}, "INDEX", "indices[1, 0] is 3")
    yield Refusal([x, np.array([0])], {}, "SHAPE", "expected rank 2")
    yield Refusal([x, np.zeros((3, 1), np.int64)], {}, "SHAPE", "axis 0 has 3, expected 1 or 2")
    yield Refusal([x, np.zeros((2, 1), np.uint8)], {}, "DTYPE", "int32 or int64")
    yield Refusal([s.small("float32", ()), np.array(0)], {}, "INDEX", "there is no axis")


def element_places(indices, axis):
    """Positions in C order of indices, with the place that each index selects."""
    for at in np.ndindex(indices.shape):
        place = list(at)
        place[axis] = int(indices[at])
        yield at, tuple(place)


ELEMENTS = [((5,), (3,), 0), ((3, 4), (3, 2), 1), ((3, 4), (2, 6), 1), ((3, 4), (5, 3), 0), ((2, 3, 4), (2, 5, 1), -2),
            ((3, 4), (0, 4), 0), ((3, 0), (3, 0), 0), ((4, 33), (7, 33), 0)]


@cases("gather_elements")
def gather_elements(s, dtype):
    for shape, places, axis in ELEMENTS:
        for index in INDEX:
            x, i = s.special(dtype, shape), picks(s, shape[axis], places, index)
            y = np.empty(places, x.dtype)
            for at, place in element_places(i, axis):
                y[at] = x[place]
            yield Case([x, i], {"axis": axis}, [y])


@refusals("gather_elements")
def gather_elements_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, np.array([[-4], [0]])], {"axis": 1}, "INDEX", "indices[0, 0] is -4")
    yield Refusal([x, np.array([[0], [-4]])], {"axis": 1}, "INDEX", "indices[1, 0] is -4")
    yield Refusal([x, np.zeros((3, 1), np.int64)], {"axis": 1}, "SHAPE", "axis 0 has 3, expected at most 2")
    yield Refusal([x, np.zeros((3,), np.int64)], {"axis": 1}, "SHAPE", "expected rank 2")


POSITIONS = [((4, 5), (3, 2), 0), ((4, 5), (3, 1), 0), ((4, 5, 2), (2, 3, 2), 0), ((2, 4, 5), (2, 3, 1), 1),
             ((2, 3, 4), (2, 3, 1), 2), ((2, 3, 4), (2, 2), 1), ((4, 5), (0, 2), 0), ((4, 5), (3, 0), 0), ((6,), (1,), 0),
             ((4, 0), (3, 1), 0), ((7, 70), (9, 1), 0)]


def positions(s, shape, places, batch, index):
    columns = [picks(s, max(shape[batch + k], 1), places[:-1], index) for k in range(places[-1])]
    return np.stack(columns, -1) if columns else np.zeros(places, index)


@cases("gather_nd")
def gather_nd(s, dtype):
    for shape, places, batch in POSITIONS:
        for index in INDEX:
            x, i = s.special(dtype, shape), positions(s, shape, places, batch, index)
            y = np.empty(places[:-1] + shape[batch + places[-1]:], x.dtype)
            for at in np.ndindex(places[:-1]):
                y[at] = x[at[:batch] + tuple(int(v) for v in i[at])]
            yield Case([x, i], {"batch_dims": batch}, [y])


@refusals("gather_nd")
def gather_nd_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, np.array([[0, 0], [1, 3]])], {}, "INDEX", "indices[1, 1] is 3, out of range for axis 1 of length 3")
    yield Refusal([x, np.array([[0, 0, 0]])], {}, "SHAPE", "positions of 3 numbers, expected at most 2")
    yield Refusal([x, np.array(0)], {}, "SHAPE", "at least 1 axes")
    yield Refusal([x, np.array([[0], [0], [0]])], {"batch_dims": 1}, "SHAPE", "batch axis 0 has 3, expected 2")
    yield Refusal([x, np.array([[0]])], {"batch_dims": -1}, "ARGUMENT", "batch_dims is -1")


# -- placing ------------------------------------------------------------------------------------------------------------

NONE, ADD, MULTIPLY, MAXIMUM, MINIMUM, SUBTRACT, DIVIDE = range(7)


def reductions_of(dtype):
    if dtype == "utf8" or "float8" in dtype:
        return [NONE]
    if dtype == "bool":
        return [NONE, ADD, MULTIPLY, MAXIMUM, MINIMUM]
    return [NONE, ADD, MULTIPLY, SUBTRACT, DIVIDE] if is_complex(dtype) else list(range(7))


def joined(reduction, a, b):
    """a joined with b: integers wrap, floats are rounded to their dtype after each step."""
    if reduction == NONE:
        return b
    t = a.dtype.type
    if a.dtype == np.bool_:
        return a | b if reduction in (ADD, MAXIMUM) else a & b
    if a.dtype.kind in "iu":
        p, q = int(a), int(b)
        quotient = 0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        v = {ADD: p + q, MULTIPLY: p * q, MAXIMUM: max(p, q), MINIMUM: min(p, q), SUBTRACT: p - q, DIVIDE: quotient}
        return np.array(v[reduction] % 2**(8 * a.itemsize), np.uint64).astype(f"uint{8 * a.itemsize}").view(a.dtype)[()]
    wider = np.complex128 if a.dtype.kind == "c" else np.float64
    p, q = wider(a), wider(b)
    with np.errstate(all="ignore"):
        if reduction in (MAXIMUM, MINIMUM):
            return t((np.maximum if reduction == MAXIMUM else np.minimum)(p, q))
        v = {ADD: np.add, MULTIPLY: np.multiply, SUBTRACT: np.subtract, DIVIDE: np.divide}[reduction](p, q)
    return t(v)


def operand(s, dtype, shape):
    """Numbers away from zero, so that quotients stay small; the same for strings."""
    x = s.positive(dtype, shape) if dtype not in ("utf8", "bool") and "float8" not in dtype else s.small(dtype, shape)
    return np.asarray(x, dtype=NUMPY[dtype])


def result(y, dtype, reduction):
    """Products and quotients of complex numbers have several correct formulas, which round differently."""
    if is_complex(dtype) and reduction in (MULTIPLY, DIVIDE):
        return Near(y.astype(np.clongdouble), dtype)
    return y


@cases("put_along_axis")
def put_along_axis(s, dtype):
    for shape, places, values, axis in [((5,), (3,), (3,), 0), ((3, 4), (3, 2), (3, 2), 1), ((3, 4), (1, 2), (3, 1), 1),
                                        ((3, 4), (3, 1), (), 1), ((2, 3, 4), (2, 5, 1), (5, 4), 1), ((0, 3), (0, 2), (1,), 1)]:
        for index in INDEX:
            x, i, v = s.small(dtype, shape), picks(s, shape[axis], places, index), s.small(dtype, values)
            v = np.asarray(v, dtype=NUMPY[dtype])
            y = x.copy()
            wanted = tuple(p if k == axis % len(shape) else n for k, (p, n) in enumerate(zip(places, shape)))
            spread = np.broadcast_to(i, wanted)
            for at, place in element_places(spread, axis):
                y[place] = np.broadcast_to(v, wanted)[at]
            yield Case([x, i, v], {"axis": axis}, [y])


@refusals("put_along_axis")
def put_along_axis_refusals(s):
    x = s.small("float32", (2, 3))
    one = s.small("float32", ())
    yield Refusal([x, np.array([[3], [0]]), one], {}, "INDEX", "indices[0, 0] is 3")
    yield Refusal([x, np.array([[0], [3]]), one], {}, "INDEX", "indices[1, 0] is 3")
    yield Refusal([x, np.array([[0]]), s.small("float64", ())], {}, "DTYPE", "expected float32")
    yield Refusal([x, np.array([[0]]), s.small("float32", (3, 3))], {}, "SHAPE", "broadcasts to that of the places")
    yield Refusal([s.small("float32", (1, 3)), np.array([[0], [0]]), one], {}, "SHAPE", "axis 0 has 2, expected 1")


@cases("scatter_elements", complex_ulps=6)
def scatter_elements(s, dtype):
    for shape, places, axis in ELEMENTS:
        for reduction in reductions_of(dtype):
            x, i, u = operand(s, dtype, shape), picks(s, shape[axis], places), operand(s, dtype, places)
            y = x.copy()
            for at, place in element_places(i, axis):
                y[place] = joined(reduction, y[place], u[at])
            yield Case([x, i.astype(INDEX[reduction % 2]), u], {"axis": axis, "reduction": reduction},
                       [result(y, dtype, reduction)])
    if is_integer(dtype) or is_float(dtype):  # extremes, division by zero, NaN
        for reduction in (MAXIMUM, MINIMUM) + ((DIVIDE, ADD) if is_integer(dtype) else ()):
            x, i, u = s.special(dtype, (6,)), np.arange(6), s.special(dtype, (6,))
            y = np.array([joined(reduction, a, b) for a, b in zip(x, u)], dtype=x.dtype)
            yield Case([x, i, u], {"reduction": reduction}, [y])


@refusals("scatter_elements")
def scatter_elements_refusals(s):
    x, i = s.small("float32", (2, 3)), np.array([[0, 1, 1]])
    u = s.small("float32", (1, 3))
    yield Refusal([x, i + 1, u], {}, "INDEX", "indices[0, 1] is 2, out of range for axis 0 of length 2: expected -2 to 1")
    yield Refusal([x, i, u[:, :2]], {}, "SHAPE", "expected the shape (1, 3)")
    yield Refusal([x, i, s.small("float64", (1, 3))], {}, "DTYPE", "expected float32")
    yield Refusal([x, i, u], {"reduction": 7}, "ARGUMENT", "reduction is 7")
    yield Refusal([x > 0, i, u > 0], {"reduction": SUBTRACT}, "DTYPE", "a dtype that has subtract")
    yield Refusal([x.astype("c8"), i, u.astype("c8")], {"reduction": MAXIMUM}, "DTYPE", "a dtype that has maximum")
    yield Refusal([s.small("utf8", (2, 3)), i, s.small("utf8", (1, 3))], {"reduction": ADD}, "DTYPE", "has add")


@cases("scatter_nd", complex_ulps=6)
def scatter_nd(s, dtype):
    for shape, places, batch in POSITIONS:
        if batch > 0:
            continue
        for reduction in reductions_of(dtype):
            x, i = operand(s, dtype, shape), positions(s, shape, places, 0, INDEX[reduction % 2])
            u = operand(s, dtype, places[:-1] + shape[places[-1]:])
            y = x.copy()
            for at in np.ndindex(u.shape):
                place = tuple(int(v) for v in i[at[:len(places) - 1]]) + at[len(places) - 1:]
                y[place] = joined(reduction, y[place], u[at])
            yield Case([x, i, u], {"reduction": reduction}, [result(y, dtype, reduction)])


@refusals("scatter_nd")
def scatter_nd_refusals(s):
    x, u = s.small("float32", (2, 3)), s.small("float32", (2,))
    yield Refusal([x, np.array([[0, 0], [2, 0]]), u], {}, "INDEX", "indices[1, 0] is 2, out of range for axis 0 of length 2")
    yield Refusal([x, np.array([[0], [1]]), u], {}, "SHAPE", "expected the shape (2, 3)")
    yield Refusal([x, np.array([[0, 0], [1, 0]]), s.small("int8", (2,))], {}, "DTYPE", "expected float32")
    yield Refusal([x, np.array([[0, 0], [1, 0]]), u], {"reduction": -1}, "ARGUMENT", "reduction is -1")


SCATTERS = {"scatter_update": NONE, "scatter_add": ADD, "scatter_subtract": SUBTRACT, "scatter_multiply": MULTIPLY,
            "scatter_divide": DIVIDE, "scatter_maximum": MAXIMUM, "scatter_minimum": MINIMUM}


@cases(*SCATTERS, complex_ulps=6)
def scatters(s, dtype, op):
    for shape, places, axis in [((5,), (7,), 0), ((4, 3), (2,), 0), ((3, 4), (5,), 1), ((2, 3, 2), (2, 2), -2), ((4, 3), (), 0),
                                ((3, 4), (0,), 0), ((2, 0), (3,), 0), ((5, 40), (6,), 0)]:
        x, i = operand(s, dtype, shape), picks(s, shape[axis], places, INDEX[len(places) % 2])
        front = axis % len(shape)
        u = operand(s, dtype, shape[:front] + places + shape[front + 1:])
        y = x.copy()
        for at in np.ndindex(u.shape):
            place = at[:front] + (int(i[at[front:front + len(places)]]),) + at[front + len(places):]
            y[place] = joined(SCATTERS[op], y[place], u[at])
        yield Case([x, i, u], {"axis": axis}, [result(y, dtype, SCATTERS[op])])


@refusals("scatter_add", "scatter_update")
def scatters_refusals(s, op):
    x, u = s.small("float32", (2, 3)), s.small("float32", (1, 3))
    yield Refusal([x, np.array([2]), u], {}, "INDEX", "indices[0] is 2, out of range for axis 0 of length 2")
    yield Refusal([x, np.array([0, 1]), u], {}, "SHAPE", "expected the shape (2, 3)")
    yield Refusal([x, np.array([0]), u], {"axis": 2}, "INDEX", "axis 2 is out of range")
    yield Refusal([x, np.array([0]), s.small("float64", (1, 3))], {}, "DTYPE", "expected float32")


@cases("index_fill")
def index_fill(s, dtype):
    for shape, places, axis in [((5,), (2,), 0), ((3, 4), (2, 2), 1), ((2, 3, 2), (), -2), ((3, 4), (0,), 0)]:
        for index in INDEX:
            x, i = s.small(dtype, shape), picks(s, shape[axis], places, index)
            value = np.asarray(s.small(dtype, ()), dtype=NUMPY[dtype])
            y = x.copy()
            np.moveaxis(y, axis, 0)[i.reshape(-1).astype(np.int64)] = value[()]
            yield Case([x, i, value], {"axis": axis}, [y])


@refusals("index_fill")
def index_fill_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, np.array([2]), s.small("float32", ())], {}, "INDEX", "indices[0] is 2")
    yield Refusal([x, np.array([0, 2]), s.small("float32", ())], {}, "INDEX", "indices[1] is 2")
    yield Refusal([x, np.array([0]), s.small("float32", (2,))], {}, "SHAPE", "one element")
    yield Refusal([x, np.array([0]), s.small("int8", ())], {}, "DTYPE", "expected float32")


@cases("tensor_scatter")
def tensor_scatter(s, dtype):
    for shape, steps, axis in [((2, 5, 3), 2, -2), ((3, 2, 4, 2), 4, 2), ((2, 6), 3, 1), ((1, 2, 3), 0, 1), ((0, 4, 2), 2, 1), ((3, 2, 7, 33), 5, -2)]:
        front = axis % len(shape)
        for circular, index in ((0, None), (0, np.int64), (1, np.int32), (1, np.int64)):
            x, u = s.small(dtype, shape), s.small(dtype, shape[:front] + (steps,) + shape[front + 1:])
            high = shape[front] - 1 if circular else shape[front] - steps
            at = np.zeros(shape[0], np.int64) if index is None else np.asarray(s.integers(0, high, (shape[0],)), index)
            y = x.copy()
            for b in range(shape[0]):
                for k in range(steps):
                    place = (int(at[b]) + k) % shape[front]
                    np.moveaxis(y[b], front - 1, 0)[place] = np.moveaxis(u[b], front - 1, 0)[k]
            yield Case([x, u] + ([] if index is None else [at]), {"axis": axis, "circular": circular}, [y])


@refusals("tensor_scatter")
def tensor_scatter_refusals(s):
    x, u = s.small("float32", (2, 5, 3)), s.small("float32", (2, 2, 3))
    yield Refusal([x, u, np.array([0, 4])], {}, "INDEX", "write_indices[1] is 4, expected 0 to 3")
    yield Refusal([x, u, np.array([-1, 0])], {}, "INDEX", "write_indices[0] is -1")
    yield Refusal([x, u, np.array([0])], {}, "SHAPE", "expected the shape (2,)")
    yield Refusal([x, u], {"axis": 0}, "ARGUMENT", "axis is 0")
    yield Refusal([x, s.small("float32", (2, 6, 3))], {}, "SHAPE", "expected at most 5")
    yield Refusal([x, s.small("float32", (1, 2, 3))], {}, "SHAPE", "expected the shape (2, 2, 3)")


# -- masks --------------------------------------------------------------------------------------------------------------

def coin(s, shape):
    return np.asarray(s.integers(0, 1, shape)).astype(bool)


@cases("masked_fill")
def masked_fill(s, dtype):
    for shape, mask, value in [((), (), ()), ((5,), (5,), ()), ((3, 4), (4,), ()), ((3, 4), (3, 1), (3, 4)), ((3, 4), (), (1,)),
                               ((0, 3), (3,), ()), ((2, 3, 40), (3, 40), ())]:
        x, m, v = s.special(dtype, shape), coin(s, mask), np.asarray(s.small(dtype, value), dtype=NUMPY[dtype])
        yield Case([x, m, v], {}, [np.asarray(np.where(m, v, x), dtype=x.dtype)])


@refusals("masked_fill")
def masked_fill_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, coin(s, (2,)), x], {}, "SHAPE", "broadcasts to the result's (2, 3)")
    yield Refusal([x, x, x], {}, "DTYPE", "expected bool")
    yield Refusal([x, coin(s, (3,)), s.small("int8", ())], {}, "DTYPE", "expected float32")


@cases("masked_scatter")
def masked_scatter(s, dtype):
    for shape, mask, source in [((), (), (1,)), ((5,), (5,), (5,)), ((3, 4), (4,), (3, 4)), ((3, 4), (3, 1), (2, 8)),
                                ((0, 3), (3,), (0,)), ((2, 40), (2, 40), (90,)), ((3, 411), (3, 411), (7, 200))]:
        x, m, v = s.small(dtype, shape), coin(s, mask), s.small(dtype, source)
        spread = np.broadcast_to(m, shape)
        y = np.asarray(x.copy())
        y[spread] = np.asarray(v, dtype=NUMPY[dtype]).reshape(-1)[:spread.sum()]
        yield Case([x, m, v], {}, [y])


@refusals("masked_scatter")
def masked_scatter_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, np.ones((2, 3), bool), x[0]], {}, "SHAPE", "value has 3 elements, expected at least 6")
    yield Refusal([x, x, x], {}, "DTYPE", "expected bool")


@cases("masked_select")
def masked_select(s, dtype):
    for shape, mask in [((), ()), ((5,), (5,)), ((3, 4), (4,)), ((3, 1), (3, 4)), ((4,), (3, 4)), ((0, 3), (3,)), ((7, 30), (7, 30))]:
        for m in (coin(s, mask), np.zeros(mask, bool), np.ones(mask, bool)):
            x = s.special(dtype, shape)
            a, b = np.broadcast_arrays(np.asarray(x, dtype=NUMPY[dtype]), m)
            yield Case([x, m], {}, [dense(a[b])])


@cases("boolean_mask")
def boolean_mask(s, dtype):
    long = [((n,), (n,), 0) for n in (8192, 8193, 16385)] if dtype in ("int8", "float32", "float64") else [] # parts
    for shape, mask, axis in long + [((5,), (5,), 0), ((3, 4), (3,), 0), ((3, 4), (4,), 1), ((3, 4), (3, 4), 0), ((2, 3, 4), (3, 4), 1),
                              ((2, 3, 4), (3,), -2), ((), (), 0), ((0, 3), (3,), 1), ((5, 40), (5,), 0), ((1100, 3), (1100,), 0),
                              ((2, 3), (), 1)]:
        for m in (coin(s, mask), np.zeros(mask, bool), np.ones(mask, bool)):
            x = np.asarray(s.special(dtype, shape), dtype=NUMPY[dtype])
            y = x[(slice(None),) * (axis % max(x.ndim, 1)) + (m,)]
            yield Case([x, m], {"axis": axis}, [dense(y)])


@cases("compress")
def compress(s, dtype):
    for shape, mask, axes in [((5,), (5,), [0]), ((3, 4), (3,), [0]), ((3, 4), (2,), [-1]), ((3, 4), (12,), []), ((3, 4), (5,), []),
                              ((2, 3, 4), (3,), [1]), ((0, 3), (3,), [1]), ((3, 4), (0,), [0]), ((), (1,), [])]:
        for m in (coin(s, mask), np.zeros(mask, bool), np.ones(mask, bool)):
            x = np.asarray(s.special(dtype, shape), dtype=NUMPY[dtype])
            yield Case([x, m], {"axes": axes}, [dense(np.compress(m, x, axes[0] if axes else None))])


@refusals("masked_select", "boolean_mask", "compress")
def masks_refusals(s, op):
    x = s.small("float32", (2, 3))
    yield Refusal([x, x], {}, "DTYPE", "expected bool")
    if op == "masked_select":
        yield Refusal([x, coin(s, (2,))], {}, "SHAPE", "broadcasts with")
    elif op == "boolean_mask":
        yield Refusal([x, coin(s, (3,))], {}, "SHAPE", "expected the shape (2,)")
        yield Refusal([x, coin(s, (3, 1))], {"axis": 1}, "SHAPE", "expected at most 1 axes")
        yield Refusal([x, coin(s, (3,))], {"axis": 2}, "INDEX", "axis 2")
    else:
        yield Refusal([x, coin(s, (4,))], {"axes": [1]}, "SHAPE", "expected one axis of at most 3")
        yield Refusal([x, coin(s, (2, 3))], {}, "SHAPE", "expected one axis of at most 6")

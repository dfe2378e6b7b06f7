"""Views of chosen and overlapping axes; joining, padding, repeating, rolling, blocks, windows as columns."""
import itertools

import numpy as np

from framework import Case, Near, Refusal, NUMPY, cases, dense, is_complex, is_integer, refusals, wide, zero, zeros

SHAPES = [(), (1,), (7,), (3, 4), (2, 1, 3, 2), (0,), (3, 0, 2)]


# -- views ------------------------------------------------------------------------------------------------------------

@cases("flip")
def flip(s, dtype):
    for shape, axes in [((), []), ((5,), []), ((5,), [0]), ((3, 4), [-1]), ((3, 4), [1, 0]), ((2, 3, 4), [0, -1]),
                        ((0, 3), []), ((2, 0), [1]), ((37, 21), [1]), ((2, 50, 3), [1]), ((3, 4), ())]:
        x = s.special(dtype, shape)
        yield Case([x], {"axes": axes}, [dense(np.flip(x, tuple(axes) if axes != [] else None))])


@refusals("flip")
def flip_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x], {"axes": [2]}, "INDEX", "axes 2 is out of range")
    yield Refusal([x], {"axes": [1, -1]}, "ARGUMENT", "names axis 1 twice")


@cases("swapaxes")
def swapaxes(s, dtype):
    for shape, a, b in [((5,), 0, 0), ((3, 4), 0, 1), ((2, 3, 4), -1, 0), ((2, 3, 4, 5), 1, -1), ((0, 3), 1, 0)]:
        x = s.small(dtype, shape)
        yield Case([x], {"axis1": a, "axis2": b}, [dense(np.swapaxes(x, a, b))])
    x = s.small(dtype, (3, 2, 5))
    yield Case([x], {}, [dense(np.swapaxes(x, -2, -1))])


@refusals("swapaxes")
def swapaxes_refusals(s):
    yield Refusal([s.small("int8", (3,))], {}, "INDEX", "axis1 -2 is out of range")
    yield Refusal([s.small("int8", (3, 2))], {"axis2": 2}, "INDEX", "axis2 2 is out of range")


@cases("moveaxis")
def moveaxis(s, dtype):
    for shape, a, b in [((3, 4), [0], [1]), ((2, 3, 4), [0], [-1]), ((2, 3, 4, 5), [3, 0], [0, 2]), ((2, 3), [], []),
                        ((2, 3, 4), [0, 1, 2], [2, 1, 0]), ((2, 0, 3), [2], [0]), ((), [], [])]:
        x = s.small(dtype, shape)
        yield Case([x], {"source": a, "destination": b}, [dense(np.moveaxis(x, a, b))])


@refusals("moveaxis")
def moveaxis_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x], {"source": [0], "destination": []}, "ARGUMENT", "source has 1 axes")
    yield Refusal([x], {"source": [0, 0], "destination": [0, 1]}, "ARGUMENT", "source names axis 0 twice")
    yield Refusal([x], {"source": [0], "destination": [2]}, "INDEX", "destination 2")


@cases("atleast_nd")
def atleast_nd(s, dtype):
    for shape in SHAPES:
        for ndim in (-1, 0, 1, 3):
            x = s.small(dtype, shape)
            yield Case([x], {"ndim": ndim}, [x.reshape((1,) * max(0, ndim - x.ndim) + x.shape)])


@refusals("atleast_nd")
def atleast_nd_refusals(s):
    yield Refusal([s.small("float32", (2,))], {"ndim": 33}, "SHAPE", "33 axes")


@cases("select")
def select(s, dtype):
    for shape, axis, index in [((5,), 0, 2), ((3, 4), 1, -1), ((3, 4), -2, 0), ((2, 3, 4), 1, -3), ((2, 0, 3), 2, 1)]:
        x = s.small(dtype, shape)
        yield Case([x], {"axis": axis, "index": index}, [np.take(x, index, axis)])


@refusals("select")
def select_refusals(s):
    yield Refusal([s.small("float32", (2, 3))], {"axis": 1, "index": 3}, "INDEX", "index 3 is out of range for axis 1")
    yield Refusal([s.small("float32", (2, 3))], {"axis": 1, "index": -4}, "INDEX", "of length 3")
    yield Refusal([s.small("float32", ())], {}, "INDEX", "there is no axis")


@cases("sliding_window_view")
def sliding_window_view(s, dtype):
    for shape, window, axes in [((5,), [3], []), ((5, 6), [2, 3], []), ((5, 6), [2], [-1]), ((4, 5), [4, 1], [1, 0]),
                                ((6,), [2, 3], [0, 0]), ((3, 0), [2], [0]), ((2, 9, 3), [9], [1]), ((), [], [])]:
        x = s.small(dtype, shape)
        numbers = np.arange(x.size).reshape(shape)
        view = np.lib.stride_tricks.sliding_window_view(numbers, window, tuple(axes) if axes else None)
        yield Case([x], {"window": window, "axes": axes}, [dense(x.reshape(-1)[view])])


@refusals("sliding_window_view")
def sliding_window_view_refusals(s):
    x = s.small("float32", (4, 5))
    yield Refusal([x], {"window": [2]}, "ARGUMENT", "window has 1 extents, expected 2")
    yield Refusal([x], {"window": [6], "axes": [1]}, "SHAPE", "a window of 6 on axis 1")
    yield Refusal([x], {"window": [0], "axes": [1]}, "SHAPE", "a window of 0")
    yield Refusal([x], {"window": [4, 4], "axes": [0, 0]}, "SHAPE", "longer than it")
    yield Refusal([x], {"window": [1], "axes": [2]}, "INDEX", "axes 2")


@cases("unfold")
def unfold(s, dtype):
    for shape, axis, size, step in [((7,), 0, 3, 2), ((7,), 0, 7, 1), ((3, 8), 1, 2, 3), ((6, 2, 3), -3, 2, 9),
                                    ((0, 4), 1, 2, 2)]:
        x = s.small(dtype, shape)
        parts = [np.take(x, range(i, i + size), axis) for i in range(0, x.shape[axis] - size + 1, step)]
        axis_from_front = axis % x.ndim
        expected = np.moveaxis(np.stack(parts, axis_from_front), axis_from_front + 1, -1)
        yield Case([x], {"axis": axis, "size": size, "step": step}, [dense(expected)])


@refusals("unfold")
def unfold_refusals(s):
    x = s.small("float32", (4, 5))
    yield Refusal([x], {"size": 6}, "SHAPE", "a window of 6")
    yield Refusal([x], {"size": 2, "step": 0}, "ARGUMENT", "step is 0")


# -- joining, padding, repeating ----------------------------------------------------------------------------------------

@cases("stack")
def stack(s, dtype):
    for shape, axis in [((), 0), ((3,), 0), ((3,), 1), ((2, 3), -1), ((2, 3), 1), ((0, 2), 0)]:
        for count in (1, 3):
            xs = [s.special(dtype, shape) for _ in range(count)]
            yield Case(xs, {"axis": axis}, [np.stack(xs, axis)])
    for size, count in [(9, 5), (70, 20), (9, 21), (1100, 5)]:
        xs = [s.small(dtype, (size,)) for _ in range(count)]
        yield Case(xs, {"axis": 1}, [np.stack(xs, 1)])
    if dtype in ("int8", "float32", "bool"):
        xs = [s.small(dtype, (2, 3)), s.small("float64" if dtype == "float32" else "int32", (2, 3))]
        yield Case(xs, {"axis": 1}, [np.stack(xs, 1)])


@refusals("stack")
def stack_refusals(s):
    a, b = s.small("float32", (2, 3)), s.small("float32", (2, 4))
    yield Refusal([a, b], {}, "SHAPE", "expected the first one's shape (2, 3)")
    yield Refusal([a, a], {"axis": 3}, "INDEX", "axis 3 is out of range")
    yield Refusal([a, s.small("utf8", (2, 3))], {}, "DTYPE", "mixes")


MODES = ["constant", "edge", "reflect", "wrap", "symmetric"]


def continued(n, mode, j):
    """The source of position j of an axis of n elements, by the definition of the mode."""
    if mode == "edge":
        return min(max(j, 0), n - 1)
    if mode == "wrap":
        return j % n
    period = {"symmetric": list(range(n)) + list(range(n))[::-1],
              "reflect": list(range(n)) + list(range(n))[-2:0:-1]}[mode]
    return period[j % len(period)]


def padded(x, begins, ends, mode, value):
    for axis in range(x.ndim):
        n = x.shape[axis]
        places = range(-begins[axis], n + ends[axis])
        if mode == "constant":
            rows = []
            for j in places:
                row = np.empty(x.shape[:axis] + (1,) + x.shape[axis + 1:], x.dtype)
                row[...] = value if j < 0 or j >= n else np.take(x, [j], axis)
                rows.append(row)
            empty = np.empty(x.shape[:axis] + (0,) + x.shape[axis + 1:], x.dtype)
            x = np.concatenate([empty] + rows, axis)
        else:
            x = np.take(x, [continued(n, mode, j) for j in places], axis)
    return x


@cases("pad")
def pad(s, dtype):
    calls = [((), [], []), ((5,), [2], [3]), ((5,), [-2], [1]), ((5,), [-1], [-3]), ((3, 4), [1, 0], [0, 2]),
             ((2, 3, 2), [2, 1, 0], [0, 4, 3]), ((2, 3, 4), [0, 2, 0], [0, 2, 0]), ((1, 2), [3, 5], [2, 7]), ((3, 4), [-3, 1], [5, -2]), ((6,), [17], [20]),
             ((40, 33), [1, 2], [3, 4]), ((600, 5), [1, 2], [2, 1]), ((3, 70), [1, 20], [0, 20])]
    for shape, begins, ends in calls:
        for number, mode in enumerate(MODES):
            x = s.special(dtype, shape)
            value = np.asarray(s.small(dtype, ()), dtype=NUMPY[dtype])
            y = padded(x, begins, ends, mode, value[()])
            yield Case([x, value], {"pads": begins + ends, "mode": number}, [y])
    x = s.small(dtype, (2, 3, 4))
    attrs = {"pads": [1, 2, 0, 1], "axes": [-1, 0]}
    yield Case([x], attrs, [padded(x, (2, 0, 1), (1, 0, 0), "constant", zero(dtype))])
    yield Case([x], attrs | {"mode": 2}, [padded(x, (2, 0, 1), (1, 0, 0), "reflect", None)])
    x = s.small(dtype, (0, 2))
    yield Case([x], {"pads": [1, 0, 1, 1]}, [zeros((2, 3), dtype)])
    yield Case([x], {"pads": [0, 1, 0, 1], "mode": 1}, [np.empty((0, 4), NUMPY[dtype])])
    if dtype == "float32":  # the oracle agrees with NumPy
        x = s.small(dtype, (4, 3))
        for number, mode in list(enumerate(MODES))[1:]:
            y = np.pad(x, [(2, 3), (1, 2)], mode)
            assert np.array_equal(y, padded(x, (2, 1), (3, 2), mode, None))
            yield Case([x], {"pads": [2, 1, 3, 2], "mode": number}, [y])


@refusals("pad")
def pad_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x], {"pads": [1, 2]}, "ARGUMENT", "pads has 2 values, expected 4")
    yield Refusal([x], {"pads": [1, 0, 0, 0], "mode": 5}, "ARGUMENT", "mode is 5")
    yield Refusal([x], {"pads": [-2, 0, -1, 0]}, "SHAPE", "leave -1 of axis 0")
    yield Refusal([x], {"pads": [1, 2], "axes": [2]}, "INDEX", "axes 2")
    yield Refusal([x], {"pads": [1, 2, 3, 4], "axes": [0, -2]}, "ARGUMENT", "twice")
    yield Refusal([x], {"pads": [2**62, 0, 2**62, 0]}, "OVERFLOW", "axis 0 of the result")
    yield Refusal([x, s.small("float32", (2,))], {"pads": [0] * 4}, "SHAPE", "expected one element")
    yield Refusal([x, s.small("float64", ())], {"pads": [0] * 4}, "DTYPE", "expected float32")
    yield Refusal([s.small("float32", (0, 3))], {"pads": [1, 0, 0, 0], "mode": 1}, "SHAPE", "axis 0 is empty")


@cases("tile")
def tile(s, dtype):
    for shape, repeats in [((), []), ((), [3]), ((4,), [3]), ((2, 3), [2, 2]), ((2, 3), [2]), ((3,), [2, 1, 2]),
                           ((2, 3), [0, 2]), ((0, 3), [2, 2]), ((2, 1, 3), [1, 4, 1]), ((3, 300), [2, 2])]:
        x = s.special(dtype, shape)
        yield Case([x], {"repeats": repeats}, [np.tile(x, repeats)])


@refusals("tile")
def tile_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x], {"repeats": [-1]}, "ARGUMENT", "repeats has -1")
    yield Refusal([x], {"repeats": [2**62]}, "OVERFLOW", "axis 1 of the result")
    yield Refusal([x], {"repeats": [1] * 33}, "SHAPE", "33 axes")


@cases("repeat")
def repeat(s, dtype):
    for shape, repeats, axes in [((), [3], []), ((4,), [3], [0]), ((4,), [0], [0]), ((2, 3), [2], [1]), ((2, 3), [2], []),
                                 ((2, 3), [1, 0, 2], [-1]), ((3, 2), [0, 2, 1], [0]), ((2, 2), [1, 2, 3, 4], []),
                                 ((0, 3), [2], [1]), ((2, 0), [2], [1]), ((2, 3, 70), [2], [1]),
                                 ((60,), [(i * i) % 11 for i in range(59)] + [100], [0]), ((9, 5), [2, 0, 7] * 3, [0])]:
        x = s.special(dtype, shape)
        axis = axes[0] if axes else None
        yield Case([x], {"repeats": repeats, "axes": axes}, [np.repeat(x, repeats, axis)])
        if len(repeats) > 1:
            for index in (np.int32, np.int64):
                attrs = {"axes": axes, "total": sum(repeats)}
                yield Case([x, np.array(repeats, index)], attrs, [np.repeat(x, repeats, axis)])


@refusals("repeat")
def repeat_refusals(s):
    x = s.small("float32", (2, 3))
    counts = np.array([1, 2, 3])
    yield Refusal([x], {"axes": [1]}, "ARGUMENT", "repeats has 0 values")
    yield Refusal([x], {"axes": [1], "repeats": [1, 2]}, "ARGUMENT", "expected 1 or 3")
    yield Refusal([x], {"axes": [1], "repeats": [-1]}, "ARGUMENT", "repeats has -1")
    yield Refusal([x], {"axes": [0, 1], "repeats": [1]}, "ARGUMENT", "axes has 2 values")
    yield Refusal([x], {"axes": [2], "repeats": [1]}, "INDEX", "axes 2")
    yield Refusal([x], {"axes": [1], "repeats": [2**62]}, "OVERFLOW", "axis 1 of the result")
    yield Refusal([x, counts], {"axes": [1]}, "ARGUMENT", "expected total")
    yield Refusal([x, counts], {"axes": [1], "total": 5}, "ARGUMENT", "counts[2] is 3, expected 0 to 2")
    yield Refusal([x, counts], {"axes": [1], "total": 7}, "ARGUMENT", "sum of counts is 6, expected total, 7")
    yield Refusal([x, -counts], {"axes": [1], "total": 7}, "ARGUMENT", "counts[0] is -1")
    yield Refusal([x, counts], {"axes": [0], "total": 7}, "SHAPE", "expected one axis of 2")
    yield Refusal([x, counts.astype(np.float32)], {"axes": [1], "total": 6}, "DTYPE", "int32 or int64")
    yield Refusal([x, counts], {"axes": [1], "total": 6, "repeats": [1]}, "ARGUMENT", "either counts or repeats")


@cases("roll")
def roll(s, dtype):
    for shape, shifts, axes in [((5,), [2], []), ((5,), [-7], [0]), ((3, 4), [1], []), ((3, 4), [-6], []),
                                ((3, 4), [1, -2], [0, 1]), ((3, 4), [1, 2], [1, 1]), ((2, 3, 2), [2**62], [1]),
                                ((0, 3), [1], [0]), ((), [1], []), ((2, 0), [1], []), ((3, 300), [7], [-1])]:
        x = s.special(dtype, shape)
        yield Case([x], {"shifts": shifts, "axes": axes},
                   [np.roll(x, shifts, tuple(axes)) if axes else np.roll(x, shifts[0])])


@refusals("roll")
def roll_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x], {"shifts": [1, 2]}, "ARGUMENT", "shifts has 2 values, expected 1")
    yield Refusal([x], {"shifts": [1], "axes": [2]}, "INDEX", "axes 2")


# -- blocks -------------------------------------------------------------------------------------------------------------

def to_space(x, b, first, last):
    x = np.moveaxis(x, -1, -3) if last else x
    c, h, w = x.shape[-3:]
    lead = x.shape[:-3]
    n = len(lead)
    d = c // (b * b)
    x = x.reshape(lead + ((d, b, b) if first else (b, b, d)) + (h, w))
    order = (0, 3, 1, 4, 2) if first else (2, 3, 0, 4, 1)
    y = x.transpose(list(range(n)) + [n + i for i in order]).reshape(lead + (d, h * b, w * b))
    return dense(np.moveaxis(y, -3, -1) if last else y)


@cases("depth_to_space", "space_to_depth")
def blocks(s, dtype, op):
    for shape, b in [((1, 8, 2, 3), 2), ((2, 9, 1, 2), 3), ((4, 2, 2), 2), ((2, 3, 4, 1, 2), 1), ((1, 0, 2, 2), 2),
                     ((0, 4, 3, 2), 2), ((1, 4, 20, 33), 2)]:
        for first, last in itertools.product((0, 1), repeat=2):
            x = s.small(dtype, shape)
            x = dense(np.moveaxis(x, -3, -1)) if last else x
            y = to_space(x, b, first, last)
            attrs = {"block_size": b, "depth_first": first, "channels_last": last}
            yield Case([x], attrs, [y]) if op == "depth_to_space" else Case([y], attrs, [x])


@refusals("depth_to_space", "space_to_depth")
def blocks_refusals(s, op):
    x = s.small("float32", (1, 6, 3, 3))
    yield Refusal([x], {"block_size": 2}, "SHAPE", "expected a multiple of")
    yield Refusal([x], {"block_size": 0}, "ARGUMENT", "block_size is 0")
    yield Refusal([s.small("float32", (2, 2))], {"block_size": 1}, "SHAPE", "at least 3 axes")


def to_batch(x, block, begins, ends, value):
    pads = [(0, 0)] + list(zip(begins, ends)) + [(0, 0)] * (x.ndim - 1 - len(block))
    x = padded(x, [p[0] for p in pads], [p[1] for p in pads], "constant", value)
    m = len(block)
    split = [x.shape[0]]
    for i, b in enumerate(block):
        split += [x.shape[i + 1] // b, b]
    rest = list(x.shape[m + 1:])
    y = x.reshape(split + rest)
    order = [2 * i + 2 for i in range(m)] + [0] + [2 * i + 1 for i in range(m)]
    y = y.transpose(order + list(range(2 * m + 1, y.ndim)))
    return dense(y.reshape([x.shape[0] * int(np.prod(block))] + [x.shape[i + 1] // b for i, b in enumerate(block)] + rest))


@cases("space_to_batch", "batch_to_space")
def batches(s, dtype, op):
    for shape, block, begins, ends in [((1, 4, 4, 1), [2, 2], [0, 0], [0, 0]), ((2, 3, 5, 2), [2, 3], [1, 0], [0, 1]),
                                       ((3, 4), [2], [1], [3]), ((1, 2, 3, 2), [3], [4], [0]), ((0, 4), [2], [0], [0]),
                                       ((2, 6, 2), [1, 2], [0, 0], [0, 2])]:
        x = s.small(dtype, shape)
        y = to_batch(x, block, begins, ends, zero(dtype))
        attrs = {"block_shape": block, "pads": begins + ends}
        yield Case([x], attrs, [y]) if op == "space_to_batch" else Case([y], attrs, [x])
    x = s.small(dtype, (1, 4, 6))
    y = to_batch(x, [2, 3], [0, 0], [0, 0], zero(dtype))
    yield Case([x if op == "space_to_batch" else y], {"block_shape": [2, 3]}, [y if op == "space_to_batch" else x])


@refusals("space_to_batch", "batch_to_space")
def batches_refusals(s, op):
    x = s.small("float32", (3, 5, 5))
    yield Refusal([x], {"block_shape": [2]}, "SHAPE", "expected a multiple of 2")
    yield Refusal([x], {"block_shape": []}, "SHAPE", "block_shape has 0 extents")
    yield Refusal([x], {"block_shape": [0]}, "ARGUMENT", "block_shape has 0")
    yield Refusal([x], {"block_shape": [1], "pads": [1]}, "ARGUMENT", "pads has 1 values")
    yield Refusal([x], {"block_shape": [1], "pads": [1, -1]}, "ARGUMENT", "pads has -1")
    if op == "batch_to_space":
        yield Refusal([x], {"block_shape": [1], "pads": [3, 3]}, "SHAPE", "pads cut 6 off axis 1 of 5")


# -- windows as columns -------------------------------------------------------------------------------------------------

COLUMNS = [((1, 2, 5), [3], [], [], []), ((2, 3, 5, 6), [2, 3], [2, 1], [1, 0, 0, 2], [1, 2]),
           ((1, 1, 4, 4), [2, 2], [2, 2], [], []), ((1, 2, 3, 4, 3), [2, 2, 2], [1, 2, 1], [1, 1, 0, 0, 0, 1], [2, 1, 1]),
           ((0, 2, 4), [2], [], [], []), ((1, 1, 2, 2), [3, 3], [], [3, 3, 3, 3], []), ((1, 2, 12, 13), [3, 3], [], [], []),
           ((1, 2, 6, 43), [2, 3], [1, 2], [1, 2, 0, 1], []), ((2, 1, 3, 50), [2, 4], [2, 1], [0, 3, 1, 2], [1, 3])]


def geometry(shape, kernel, strides, pads, dilations):
    m = len(kernel)
    strides, dilations, pads = strides or [1] * m, dilations or [1] * m, pads or [0] * 2 * m
    windows = [(shape[i + 2] + pads[i] + pads[i + m] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
               for i in range(m)]
    cells = list(itertools.product(*map(range, kernel)))
    outs = list(itertools.product(*map(range, windows)))
    for c, cell in enumerate(cells):
        for o, out in enumerate(outs):
            at = tuple(out[i] * strides[i] + cell[i] * dilations[i] - pads[i] for i in range(m))
            if all(0 <= a < n for a, n in zip(at, shape[2:])):
                yield c, o, at
    return


def columns_shape(shape, kernel, strides, pads, dilations):
    m = len(kernel)
    strides, dilations, pads = strides or [1] * m, dilations or [1] * m, pads or [0] * 2 * m
    windows = [(shape[i + 2] + pads[i] + pads[i + m] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
               for i in range(m)]
    return shape[0], shape[1] * int(np.prod(kernel)), int(np.prod(windows))


@cases("im2col")
def im2col(s, dtype):
    for shape, *call in COLUMNS:
        x = s.small(dtype, shape)
        y = zeros(columns_shape(shape, *call), dtype)
        cells = int(np.prod(call[0]))
        for c, o, at in geometry(shape, *call):
            y[:, c::cells, o] = x[(slice(None), slice(None)) + at]
        yield Case([x], dict(zip(("kernel", "strides", "pads", "dilations"), call)), [y])


@cases("col2im", ulps=0.5)
def col2im(s, dtype):
    for shape, *call in COLUMNS:
        x = s.small(dtype, columns_shape(shape, *call))
        y = np.zeros(shape, object) if is_integer(dtype) else \
            np.zeros(shape, np.clongdouble if is_complex(dtype) else np.longdouble)
        scale = np.zeros(shape)
        cells = int(np.prod(call[0]))
        for c, o, at in geometry(shape, *call):
            index = (slice(None), slice(None)) + at
            y[index] += wide(x)[:, c::cells, o]
            if not is_integer(dtype):
                scale[index] += np.abs(wide(x)[:, c::cells, o]).astype(np.float64)
        attrs = {"image": list(shape[2:])} | dict(zip(("kernel", "strides", "pads", "dilations"), call))
        if is_integer(dtype):
            bits = np.iinfo(NUMPY[dtype]).bits
            wrapped = (y % 2**bits).astype(np.uint64).astype(f"uint{bits}").view(NUMPY[dtype])
            yield Case([x], attrs, [wrapped])
        else:
            yield Case([x], attrs, [Near(y, dtype, scale if dtype in ("float64", "complex128") else None)],
                       ulps=4 if dtype in ("float64", "complex128") else None)


@refusals("im2col")
def im2col_refusals(s):
    x = s.small("float32", (1, 1, 4, 4))
    yield Refusal([x], {"kernel": [2]}, "SHAPE", "kernel has 1 extents")
    yield Refusal([x], {"kernel": [5, 5]}, "SHAPE", "no window of 5 cells")
    yield Refusal([x], {"kernel": [2, 2], "strides": [0, 1]}, "ARGUMENT", "positive values")
    yield Refusal([x], {"kernel": [2, 2], "pads": [1, 1]}, "ARGUMENT", "twice as many pads")
    yield Refusal([x], {"kernel": [2**62, 2], "dilations": [4, 1]}, "SHAPE", "no window of")
    yield Refusal([s.small("float32", (4, 4))], {"kernel": []}, "SHAPE", "kernel has 0 extents")


@refusals("col2im")
def col2im_refusals(s):
    x = s.small("float32", (1, 4, 9))
    yield Refusal([x], {"image": [4, 4], "kernel": [2]}, "SHAPE", "as many extents in image (2) as in kernel (1)")
    yield Refusal([x], {"image": [4, 5], "kernel": [2, 2]}, "SHAPE", "expected (n, a multiple of 4, 12)")
    yield Refusal([x], {"image": [4, -4], "kernel": [2, 2]}, "ARGUMENT", "image has the extent -4")


@cases("reverse_sequence")
def reverse_sequence(s, dtype):
    for shape, batch, time in [((4, 3), 1, 0), ((3, 4), 0, 1), ((2, 5, 3), -1, 1), ((3, 2, 4), 0, -1), ((0, 3), 1, 0),
                               ((4, 0), 1, 0), ((9, 2, 33), 1, 0)]:
        for index in (np.int32, np.int64):
            x = s.small(dtype, shape)
            lengths = np.asarray(s.integers(0, shape[time], (shape[batch],)), dtype=index)
            y = x.copy()
            for b, n in enumerate(lengths):
                part = np.moveaxis(y, (batch, time), (0, 1))
                part[b, :n] = part[b, :n][::-1].copy()
            yield Case([x, lengths], {"batch_axis": batch, "time_axis": time}, [y])


@refusals("reverse_sequence")
def reverse_sequence_refusals(s):
    x = s.small("float32", (4, 3))
    yield Refusal([x, np.array([1, 5, 2])], {}, "INDEX", "lengths[1] is 5, expected 0 to 4")
    yield Refusal([x, np.array([1, -1, 2])], {}, "INDEX", "lengths[1] is -1")
    yield Refusal([x, np.array([1, 2])], {}, "SHAPE", "expected one axis of 3")
    yield Refusal([x, np.array([1., 2, 3])], {}, "DTYPE", "int32 or int64")
    yield Refusal([x, np.array([1, 2, 3])], {"batch_axis": 0}, "ARGUMENT", "both 0")

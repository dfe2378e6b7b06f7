"""Functions that change shapes, join, split, pad, insert and delete, in nd4c and nd4c.numpy, against NumPy."""
import numpy
import pytest

import nd4c
import nd4c.numpy as np
from values import EVERY, check, make, views

RNG = numpy.random.default_rng(4)
CUBE = numpy.arange(24).reshape(2, 3, 4)


def errors(call, *kinds):
    """Both libraries refuse the call, with an exception of one of the kinds."""
    for library in (numpy, np):
        with pytest.raises(kinds):
            call(library)


def both(call, *arrays):
    """A call of either library on the arrays and on views of them has the same results."""
    for laid_out in zip(*(views(RNG, a) for a in arrays)):
        check(call(np, *laid_out), call(numpy, *laid_out))


CALLS = {
    "reshape": lambda xp, a: xp.reshape(a, (4, -1)), "reshape F": lambda xp, a: xp.reshape(a, (4, -1), order="F"),
    "reshape A": lambda xp, a: xp.reshape(xp.asarray(a), (4, -1), order="A"), "ravel": lambda xp, a: xp.ravel(a),
    "ravel F": lambda xp, a: xp.ravel(a, "F"), "squeeze": lambda xp, a: xp.squeeze(a[:1]),
    "squeeze axis": lambda xp, a: xp.squeeze(a[:1], 0), "expand_dims": lambda xp, a: xp.expand_dims(a, (0, -1)),
    "transpose": lambda xp, a: xp.transpose(a), "transpose axes": lambda xp, a: xp.transpose(a, (1, 0, -1)),
    "permute_dims": lambda xp, a: xp.permute_dims(a, axes=(2, 0, 1)), "moveaxis": lambda xp,
         a: xp.moveaxis(a, [0, 1], [-1, 0]),
    "swapaxes": lambda xp, a: xp.swapaxes(a, 0, -1), "rollaxis": lambda xp, a: xp.rollaxis(a, 2, 1),
    "flip": lambda xp, a: xp.flip(a), "flip axis": lambda xp, a: xp.flip(a, (0, 2)), "fliplr": lambda xp,
         a: xp.fliplr(a),
    "flipud": lambda xp, a: xp.flipud(a), "roll": lambda xp, a: xp.roll(a, 5), "roll axis": lambda xp,
         a: xp.roll(a, (1, -7), (0, 1)),
    "roll twice": lambda xp, a: xp.roll(a, 3, (1, 1)), "roll far": lambda xp, a: xp.roll(a, 2 ** 70, 1),
    "tile": lambda xp, a: xp.tile(a, (2, 1)), "tile more": lambda xp, a: xp.tile(a, (2, 1, 1, 2)),
    "repeat": lambda xp, a: xp.repeat(a, 2), "repeat axis": lambda xp, a: xp.repeat(a, [0, 2, 1], axis=1),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, (2,) + a.shape), "resize": lambda xp, a: xp.resize(a, (3, 11)),
    "resize less": lambda xp, a: xp.resize(a, 5), "rot90": lambda xp, a: [xp.rot90(a, k, (1, 2)) for k in range(-1, 5)],
    "atleast": lambda xp, a: [f(x) for f in (xp.atleast_1d, xp.atleast_2d, xp.atleast_3d)
                              for x in (a, a[0], a[0, 0], 5)],
    "concatenate": lambda xp, a: xp.concatenate((a, a[:, :1]), axis=1), "concatenate none": lambda xp,
         a: xp.concatenate([a, [1]], None),
    "concatenate dtype": lambda xp, a: xp.concatenate([a, a], dtype=complex), "stack": lambda xp,
         a: xp.stack([a, a], -1),
    "vstack": lambda xp, a: xp.vstack([a[0], a[1][:2]]), "hstack": lambda xp,
         a: [xp.hstack([a, a]), xp.hstack([a[0, 0], a[0, 1]])],
    "dstack": lambda xp, a: [xp.dstack([a, a]), xp.dstack([a[0], a[1]]), xp.dstack([a[0, 0], a[0, 1]])],
    "column_stack": lambda xp, a: xp.column_stack([a[0], a[1, :, 0]]), "unstack": lambda xp, a: xp.unstack(a, axis=1),
    "block": lambda xp, a: xp.block([[a[0], a[1]], [a[0][:2], a[1][1:]]]), "split": lambda xp,
         a: xp.split(a, 3, axis=1),
    "split places": lambda xp, a: xp.split(a, [1, 3, 9], axis=-1), "array_split": lambda xp, a: xp.array_split(a, 3, 2),
    "hsplit": lambda xp, a: xp.hsplit(a, 3), "vsplit": lambda xp, a: xp.vsplit(a, 2), "dsplit": lambda xp,
         a: xp.dsplit(a, [1]),
    "append": lambda xp, a: [xp.append(a, [1, 2]), xp.append(a, a[:1], axis=0)],
    "insert": lambda xp, a: [xp.insert(a, i, 1, axis) for i in (0, -1, [2, 0], slice(0, 2), xp.asarray([True, False]))
                             for axis in (0, 1, None)],
    "insert rows": lambda xp, a: xp.insert(a, [1], a[:1], axis=0), "insert many": lambda xp,
         a: xp.insert(a, [1, 1, 0], [1, 0, 1]),
    "delete": lambda xp, a: [xp.delete(a, i, axis) for i in (0, -1, [1, 0], [], slice(None, None, 2))
                             for axis in (0, 1, None)],
    "delete mask": lambda xp, a: xp.delete(a, [True, False, True], 1), "pad": lambda xp, a: xp.pad(a, 1),
    "size": lambda xp, a: numpy.array([xp.size(a), xp.size(a, 1), xp.size(a, (0, -1)), xp.ndim(a), *xp.shape(a)])
         if xp is numpy
    else nd4c.asarray([xp.size(a), xp.size(a, 1), xp.size(a, (0, -1)), xp.ndim(a), *xp.shape(a)])}


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_and_views(name):
    for dtype in EVERY:
        both(CALLS[name], make(RNG, (2, 3, 4), dtype))


def test_views_are_views():
    x = nd4c.arange(6)
    for call in (lambda: np.reshape(x, (2, 3)), lambda: np.reshape(x, (2, 3), order="F"), lambda: np.ravel(x),
                 lambda: np.flip(x),
                 lambda: np.squeeze(x), lambda: np.expand_dims(x, 0), lambda: np.split(x, 2)[0],
                 lambda: np.broadcast_to(x, (2, 6)),
                 lambda: np.atleast_2d(x), lambda: np.rot90(np.atleast_2d(x))):
        assert np.shares_memory(x, call())
    assert not np.shares_memory(x, np.reshape(x, (2, 3), copy=True))


def test_out_and_casting():
    a, out = numpy.ones((2, 2)), nd4c.zeros((4, 2), dtype="float32")
    assert np.concatenate([a, a], out=out) is out and out.tolist() == [[1, 1]] * 4
    held = nd4c.zeros((2, 2, 2))
    assert np.stack([a, a], out=held) is held and held.tolist() == [[[1, 1]] * 2] * 2
    check(np.vstack([a, a], dtype="int8", casting="unsafe"), numpy.vstack([a, a], dtype="int8", casting="unsafe"))
    errors(lambda xp: xp.concatenate([a, a], dtype="int8"), TypeError)
    errors(lambda xp: xp.concatenate([a, a], out=xp.zeros((4, 2)), dtype=float), TypeError)
    errors(lambda xp: xp.concatenate([a, a], out=xp.zeros((3, 2))), ValueError)
    errors(lambda xp: xp.concatenate([a], casting="x"), ValueError)


ERRORS = [
    (lambda xp, a: xp.reshape(a, (5, 5)), ValueError), (lambda xp, a: xp.reshape(a, (-1, -1)), ValueError),
    (lambda xp, a: xp.reshape(a, 24, order="x"), ValueError),
          (lambda xp, a: xp.reshape(a.T, 24, copy=False), ValueError),
    (lambda xp, a: xp.squeeze(a, 0), ValueError), (lambda xp, a: xp.expand_dims(a, 7), ValueError),
    (lambda xp, a: xp.expand_dims(a, (0, 0)), ValueError), (lambda xp, a: xp.transpose(a, (0, 1)), ValueError),
    (lambda xp, a: xp.transpose(a, (0, 0, 1)), ValueError), (lambda xp, a: xp.moveaxis(a, 0, (0, 1)), ValueError),
    (lambda xp, a: xp.moveaxis(a, (0, 0), (0, 1)), ValueError), (lambda xp, a: xp.flip(a, 3), ValueError),
    (lambda xp, a: xp.roll(a, (1, 2), (0, 1, 2)), ValueError), (lambda xp, a: xp.repeat(a, [1, 2]), ValueError),
    (lambda xp, a: xp.repeat(a, -1), ValueError), (lambda xp, a: xp.repeat(a, xp.asarray([1.5])), TypeError),
          (lambda xp, a: xp.tile(a, -1), ValueError),
    (lambda xp, a: xp.concatenate([]), ValueError), (lambda xp, a: xp.concatenate([1, 2]), ValueError),
    (lambda xp, a: xp.concatenate([a, a[0]]), ValueError), (lambda xp, a: xp.concatenate([a, a], axis=3), ValueError),
    (lambda xp, a: xp.concatenate(x for x in [a]), TypeError), (lambda xp, a: xp.concatenate(5), TypeError),
    (lambda xp, a: xp.stack([a, a[0]]), ValueError), (lambda xp, a: xp.stack([]), ValueError),
          (lambda xp, a: xp.vstack([]), ValueError),
    (lambda xp, a: xp.block([[1, 2], [[3]]]), ValueError), (lambda xp, a: xp.block([]), ValueError),
          (lambda xp, a: xp.block((1,)), TypeError),
    (lambda xp, a: xp.split(a, 5), ValueError), (lambda xp, a: xp.array_split(a, 0), ValueError),
          (lambda xp, a: xp.dsplit(a[0], 2), ValueError),
    (lambda xp, a: xp.hsplit(xp.asarray(1), 1), ValueError), (lambda xp, a: xp.insert(a, 9, 1, axis=0), IndexError),
    (lambda xp, a: xp.insert(a, [0, 9], 1, axis=0), IndexError), (lambda xp, a: xp.insert(a, 0, 1, axis=5), ValueError),
    (lambda xp, a: xp.delete(a, 9, axis=0), IndexError), (lambda xp, a: xp.delete(a, [9], axis=0), IndexError),
    (lambda xp, a: xp.delete(a, [True], axis=1), ValueError), (lambda xp, a: xp.resize(a, (-1, 2)), ValueError),
    (lambda xp, a: xp.rot90(a, axes=(0, 0)), ValueError), (lambda xp, a: xp.fliplr(xp.zeros(3)), ValueError),
    (lambda xp, a: xp.swapaxes(a, 0, 3), ValueError), (lambda xp, a: xp.rollaxis(a, 0, 9), ValueError),
    (lambda xp, a: xp.broadcast_to(a, (3,)), ValueError), (lambda xp, a: xp.broadcast_shapes((2,), (3,)), ValueError),
    (lambda xp, a: xp.trim_zeros([1], "x"), ValueError), (lambda xp, a: xp.copyto(xp.zeros(3), [1, 2]), ValueError),
    (lambda xp, a: xp.copyto(xp.zeros(3, int), 1.5), TypeError), (lambda xp, a: xp.copyto([1], 1), TypeError)]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    call, kind = ERRORS[number]
    for library in (numpy, np):
        with pytest.raises(kind):
            call(library, library.asarray(CUBE))


def test_axis_errors_are_numpys():
    with pytest.raises(np.exceptions.AxisError, match="flip: axis 3 is out of bounds for array of dimension 1"):
        nd4c.flip([1, 2], axis=3)


def test_copyto():
    for source, where in ((5, True), ([1, 2, 3], True), ([[1], [2]], [True, False, True]), (True, True),
                          ([[[1, 2, 3]]], True)):
        got, wanted = nd4c.zeros((2, 3), dtype="int16"), numpy.zeros((2, 3), "int16")
        for xp, target in ((np, got), (numpy, wanted)):
            xp.copyto(target, source, where=where)
        check(got, wanted)


def test_trim_zeros():
    for a in ([0, 0, 1, 2, 0], [0, 0], [1, 2], []):
        for trim in ("fb", "f", "b"):
            assert np.trim_zeros(a, trim) == numpy.trim_zeros(a, trim)
    grid = numpy.zeros((4, 5), int)
    grid[1:3, 2:4] = [[1, 0], [0, 2]]
    for axis in (None, 0, 1, (0, 1)):
        check(np.trim_zeros(grid, axis=axis), numpy.trim_zeros(grid, axis=axis))


MODES = ({"mode": "constant", "constant_values": ((1, 2), (3, 4))}, {"mode": "edge"}, {"mode": "reflect"},
         {"mode": "symmetric"}, {"mode": "wrap"},
         {"mode": "reflect", "reflect_type": "odd"}, {"mode": "symmetric", "reflect_type": "odd"},
         {"mode": "linear_ramp", "end_values": (5, -4)},
         {"mode": "maximum"}, {"mode": "minimum", "stat_length": 1}, {"mode": "mean"},
         {"mode": "mean", "stat_length": ((2, 1), (1, 3))},
         {"mode": "median", "stat_length": 2}, {"mode": "constant"})


@pytest.mark.parametrize("number", range(len(MODES)))
def test_pad(number):
    named = MODES[number]
    for dtype in ("int8", "int64", "float32", "float64", "complex128"):
        if dtype == "complex128" and named["mode"] in ("maximum", "minimum", "median"):
            continue  # the order of complex numbers belongs to the reductions' tests
        for shape in ((3, 4), (1, 2), (2, 1)):
            a = make(RNG, shape, dtype)
            for width in (0, 1, (2, 3), ((1, 0), (0, 2)), ((4, 9), (8, 3)), {1: (1, 2)}):
                for x in (a, numpy.asfortranarray(a)):
                    check(np.pad(x, width, **named), numpy.pad(x, width, **named), tolerance=4, absolute=1e-6)


def test_pad_by_function_and_errors():
    def fill(vector, widths, axis, named):
        vector[:widths[0]] = named.get("padder", 10)
        vector[vector.shape[0] - widths[1]:] = axis
    check(np.pad(CUBE[0], 2, fill, padder=7), numpy.pad(CUBE[0], 2, fill, padder=7))
    assert np.pad(CUBE, 1, "empty").shape == (4, 5, 6)
    for arguments, named in (((-1,), {}), ((1, "x"), {}), ((1, "edge"), {"constant_values": 1}), (((1, 2, 3),), {})):
        errors(lambda xp: xp.pad(xp.arange(6).reshape(2, 3), *arguments, **named), ValueError)
    errors(lambda xp: xp.pad([1, 2], 1.5), TypeError)
    errors(lambda xp: xp.pad(xp.zeros((0, 2)), 1, "edge"), ValueError)


def test_functions_of_slices():
    for axis in range(3):
        for function in (lambda v: v.sum(), lambda v: v[:2] * 2, lambda v: v[:, None] * v[None, :]):
            check(np.apply_along_axis(function, axis, CUBE), numpy.apply_along_axis(function, axis, CUBE))
    check(np.apply_over_axes(np.sum, CUBE, [0, 2]), numpy.apply_over_axes(numpy.sum, CUBE, [0, 2]))
    x = numpy.array([-2.5, -1, 0, 1, 2])
    for xp in (np, numpy):
        assert xp.piecewise(xp.asarray(x), [x < 0, x > 0], [lambda v: -v, lambda v: v * 10, 7]).tolist() == [2.5, 1, 7,
                                                                                                             10, 20]
    errors(lambda xp: xp.piecewise(xp.asarray(x), [x < 0], [1, 2, 3]), ValueError)
    errors(lambda xp: xp.apply_along_axis(lambda v: v, 0, xp.zeros((2, 0))), ValueError)


def test_vectorize():
    def larger(a, b=2):
        """The larger one."""
        return a if a > b else b
    for given in (([1, 5, 2], 3), ([[1], [4]], [2, 3]), (1, 2), ([1.5, 2],)):
        check(np.vectorize(larger)(*given), numpy.vectorize(larger)(*given))
    check(np.vectorize(larger, otypes="f")([]), numpy.vectorize(larger, otypes="f")([]))
    check(np.vectorize(lambda a: (a, a * 2.5))([1, 2]), numpy.vectorize(lambda a: (a, a * 2.5))([1, 2]))
    assert np.vectorize(larger).__doc__ == "The larger one."

    def inner(a, b):
        return (a * b).sum()
    for shapes in (((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))):
        given = [make(RNG, shape, "int64") for shape in shapes]
        check(np.vectorize(inner, signature="(n),(n)->()")(*given),
              numpy.vectorize(inner, signature="(n),(n)->()")(*given))
    assert np.vectorize(lambda a, n: a * n, excluded={1})([1, 2], 3).tolist() == [3, 6]
    errors(lambda xp: xp.vectorize(larger)([]), ValueError)
    errors(lambda xp: xp.vectorize(larger, otypes=1), ValueError)
    errors(lambda xp: xp.vectorize(inner, signature="(n,(n)->()"), ValueError)
    errors(lambda xp: xp.vectorize(inner, signature="(n),(n)->()")([1, 2], [1, 2, 3]), ValueError)

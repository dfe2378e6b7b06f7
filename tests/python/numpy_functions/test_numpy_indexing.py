"""Taking, putting, choosing, diagonals, positions, grids of indices, iterators and views by strides, against NumPy."""
import numpy
import pytest

import nd4c
import nd4c.numpy as np
from values import EVERY, check, make, views

RNG = numpy.random.default_rng(5)
GRID = numpy.arange(12).reshape(3, 4)


def errors(call, *kinds):
    """Both libraries refuse the call, with an exception of one of the kinds."""
    for library in (numpy, np):
        with pytest.raises(kinds):
            call(library)


WRITES = {
    "put": lambda xp, a: xp.put(a, [0, 5, -1], [7, 8]), "put wrap": lambda xp, a: xp.put(a, [13, -15], 1, mode="wrap"),
    "put clip": lambda xp, a: xp.put(a, [99, -5], [1, 0], mode="clip"), "place": lambda xp,
          a: xp.place(a, GRID % 2 == 0, [1, 0, 1]),
    "putmask": lambda xp, a: xp.putmask(a, GRID > 4, a[::-1]), "putmask few": lambda xp,
          a: xp.putmask(a, GRID > 4, [0, 1]),
    "put_along_axis": lambda xp, a: xp.put_along_axis(a, xp.asarray([[1], [0], [3]]), 1, axis=1),
    "fill_diagonal": lambda xp, a: xp.fill_diagonal(a, [1, 0]), "fill_diagonal wrap": lambda xp,
          a: xp.fill_diagonal(a.T, 1, wrap=True)}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name):
    for dtype in EVERY:
        if dtype == "bool" and name in ("put",):
            continue  # 7 and 8 are both True there, which shows nothing
        for a in views(RNG, make(RNG, (3, 4), dtype)):
            got, wanted = nd4c.asarray(a.copy(order="K")), a.copy(order="K")
            WRITES[name](np, got)
            WRITES[name](numpy, wanted)
            check(got, wanted)


def test_puts_into_flattened_arrays():
    got, wanted = nd4c.asarray(GRID.copy()), GRID.copy()
    np.put_along_axis(got, [1, -1], [50, 60], axis=None)
    numpy.put_along_axis(wanted, numpy.array([1, -1]), [50, 60], axis=None)
    check(got, wanted)


CALLS = {
    "choose": lambda xp, a: xp.choose(GRID % 3, [a, a[:1], xp.asarray(1, dtype=a.dtype)]), "extract": lambda xp,
         a: xp.extract(GRID % 2, a),
    "choose wrap": lambda xp, a: xp.choose([[-1], [0], [5]], (a, a[0], a[1]), mode="wrap"),
    "choose clip": lambda xp, a: xp.choose([[-1], [0], [5]], (a, a[0], a[1]), mode="clip"),
    "select": lambda xp, a: xp.select([GRID < 3, GRID > 9], [a, a[::-1]], xp.asarray(0, dtype=a.dtype)),
    "compress": lambda xp, a: [xp.compress([True, False, True], a, axis) for axis in (0, 1, None)],
    "diagonal": lambda xp, a: [xp.diagonal(a, k) for k in range(-3, 5)], "diagonal axes": lambda xp,
         a: xp.diagonal(a, 1, 1, 0),
    "take": lambda xp, a: [xp.take(a, [[0, 2], [1, -1]], axis) for axis in (0, 1, None)],
    "take modes": lambda xp, a: [xp.take(a, [7, -9], 0, mode=mode) for mode in ("wrap", "clip")],
    "take_along_axis": lambda xp, a: xp.take_along_axis(a, xp.asarray([[1, 0], [0, 3], [2, 2]]), 1),
    "where": lambda xp, a: xp.where(GRID % 2 == 0, a, a[:1]), "where one": lambda xp, a: xp.where(a),
    "ix_": lambda xp, a: xp.asarray(a)[xp.ix_([2, 0], [True, False, True, True])]}


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_and_views(name):
    for dtype in EVERY:
        for a in views(RNG, make(RNG, (3, 4), dtype)):
            check(CALLS[name](np, nd4c.asarray(a)), CALLS[name](numpy, a))


def test_select_promotes_and_compress_writes():
    for choices, default in (([[1, 2], [1.5, 2]], 0), ([1, 2], 3.5), ([numpy.int8([1, 2])] * 2, 7)):
        conditions = [[True, False], [False, False]]
        got, wanted = (xp.select([xp.asarray(c) for c in conditions], choices, default) for xp in (np, numpy))
        check(got, wanted)
    out = nd4c.zeros((2, 4), dtype=int)
    assert np.compress([True, False, True], GRID, 0, out=out) is out and out.tolist() == GRID[::2].tolist()


def test_positions():
    for order in "CF":
        for shape in ((7, 6), (2, 3, 4), (24,), 24):
            for places in (5, [0, 3, 23], [[1, 2], [3, 4]]):
                check(np.unravel_index(places, shape, order=order), numpy.unravel_index(places, shape, order=order))
        rows = numpy.unravel_index([0, 5, 23], (2, 3, 4))
        check(np.ravel_multi_index(rows, (2, 3, 4), order=order), numpy.ravel_multi_index(rows, (2, 3, 4), order=order))
        for mode in ("wrap", "clip", ("wrap", "clip")):
            check(np.ravel_multi_index(([5, -1], [7, -3]), (3, 4), mode, order),
                  numpy.ravel_multi_index(([5, -1], [7, -3]), (3, 4), mode, order))
    check(np.indices((2, 3)), numpy.indices((2, 3)))
    check(np.indices((2, 3), dtype="float32"), numpy.indices((2, 3), dtype="float32"))
    check(np.indices((2, 3), sparse=True), numpy.indices((2, 3), sparse=True))
    check(np.diag_indices(3, 3), numpy.diag_indices(3, 3))
    check(np.diag_indices_from(GRID[:, :3]), numpy.diag_indices_from(GRID[:, :3]))


KEYS = ("[0:5]", "[0:5, 1:3]", "[0:1:5j, 2:3:2j]", "[-1:1:5j]", "[0:5:2, 0.5:2]", "[0:3:1.5]", "[1:1, 0:2]")
PARTS = ("[1, 2, 3]", "[1, 2.5, 0:4]", "[[1, 2], 0, [3]]", "['-1', [[1]], [[2]]]", "['0,2', [1, 2], [3, 4]]",
         "['0,2,0', [1, 2], [3, 4]]",
         "['1,2,0', [1, 2], [3, 4]]", "[0:6:2, -1:1:3j]", "[True, False]", "[numpy.int8([1]), 2]",
         "[numpy.float32([1]), 2.5]")


def test_grids():
    for name in ("mgrid", "ogrid"):
        for key in KEYS:
            check(*[eval("%s.%s%s" % (xp, name, key)) for xp in ("np", "numpy")], tolerance=4)
    for name in ("r_", "c_"):
        for key in PARTS:
            try:
                wanted = eval("numpy.%s%s" % (name, key))
            except ValueError:
                with pytest.raises(ValueError):
                    eval("np.%s%s" % (name, key))
            else:
                check(eval("np.%s%s" % (name, key)), wanted, tolerance=4)
    assert np.s_[1:3, ..., None] == numpy.s_[1:3, ..., None] and np.index_exp[2] == (2,)
    with pytest.raises(ValueError, match="matrix"):
        np.r_["r", [1], [2]]


def test_iterators():
    assert list(np.ndindex(2, 1, 2)) == list(numpy.ndindex(2, 1, 2)) and list(np.ndindex(())) == [()]
    assert [(place, value.item()) for place, value in np.ndenumerate(GRID)] == list(numpy.ndenumerate(GRID))
    got, wanted = (xp.broadcast([1, 2, 3], [[4], [5]]) for xp in (np, numpy))
    assert (got.shape, got.size, got.nd, got.ndim, got.numiter) == (wanted.shape, wanted.size, wanted.nd, wanted.ndim,
                                                                    wanted.numiter)
    assert [tuple(int(one) for one in pair) for pair in got] == [tuple(int(one) for one in pair) for pair in wanted]
    assert got.index == 6
    got.reset()
    assert [int(one) for one in next(got)] == [1, 4] and np.iterable("ab") and not np.iterable(3)


def test_strides():
    windows = np.lib.stride_tricks.sliding_window_view
    for a in views(RNG, GRID):
        for shape, axis in (((2, 2), None), (2, 1), (3, 0), ((2, 2), (1, 1)), ((), ())):
            check(windows(a, shape, axis), numpy.lib.stride_tricks.sliding_window_view(a, shape, axis))
    x = nd4c.arange(6)
    check(np.lib.stride_tricks.as_strided(x, (4, 3), (8, 8)),
          numpy.lib.stride_tricks.as_strided(numpy.arange(6), (4, 3), (8, 8)))
    np.lib.stride_tricks.as_strided(x, (2,), (16,))[1] = 9
    assert x.tolist() == [0, 1, 9, 3, 4, 5]
    with pytest.raises(ValueError):
        windows(x, 2)[0, 0] = 1  # read-only, as NumPy's
    with pytest.raises(IndexError):
        np.lib.stride_tricks.as_strided(x, (7,), (8,))  # NumPy would read past the end
    with pytest.raises(ValueError):
        np.lib.stride_tricks.as_strided(x, (2,), (3,))
    assert np.shares_memory(x, x[2:]) and not np.may_share_memory(x[:2], x[4:])
    low, high = np.lib.array_utils.byte_bounds(x[::-2])
    assert high - low == 40


ERRORS = [
    (lambda xp: xp.put([1, 2], 0, 1), TypeError), (lambda xp: xp.put(xp.zeros(2), 5, 1), IndexError),
    (lambda xp: xp.put(xp.zeros(2), 0, 1, mode="x"), ValueError),
          (lambda xp: xp.place(xp.zeros(2), [True], 1), ValueError),
    (lambda xp: xp.place(xp.zeros(2), [True, False], []), ValueError),
          (lambda xp: xp.putmask(xp.zeros(2), [True], 1), ValueError),
    (lambda xp: xp.putmask(xp.zeros(2, int), [True, False], xp.asarray([1.5])), TypeError),
    (lambda xp: xp.choose([2], [1, 2]), ValueError), (lambda xp: xp.choose([0], []), ValueError),
    (lambda xp: xp.select([], []), ValueError), (lambda xp: xp.select([xp.asarray([True])], []), ValueError),
    (lambda xp: xp.select([xp.asarray([1])], [xp.asarray([1])]), TypeError),
          (lambda xp: xp.compress([[True]], [1]), ValueError),
    (lambda xp: xp.compress([False, False, True], [1, 2]), IndexError), (lambda xp: xp.diagonal([1, 2]), ValueError),
    (lambda xp: xp.diagonal(GRID, 0, 0, 0), ValueError), (lambda xp: xp.diagonal(GRID, 0, 0, 5), ValueError),
    (lambda xp: xp.fill_diagonal(xp.zeros(3), 1), ValueError),
          (lambda xp: xp.fill_diagonal(xp.zeros((2, 2, 3)), 1), ValueError),
    (lambda xp: xp.unravel_index(24, (2, 3, 4)), ValueError), (lambda xp: xp.unravel_index(-1, (2, 3)), ValueError),
    (lambda xp: xp.unravel_index(1.5, (2, 3)), TypeError), (lambda xp: xp.ravel_multi_index(([3], [0]), (3, 4)),
                                                            ValueError),
    (lambda xp: xp.ravel_multi_index(([3],), (3, 4)), ValueError),
          (lambda xp: xp.ravel_multi_index(([0.5], [0]), (3, 4)), TypeError),
    (lambda xp: xp.ix_([[1]]), ValueError), (lambda xp: xp.take([1, 2], 5), IndexError),
          (lambda xp: xp.ndindex(-1), ValueError),
    (lambda xp: xp.diag_indices_from(xp.zeros((2, 3))), ValueError),
          (lambda xp: xp.broadcast([1, 2], [1, 2, 3]), ValueError),
    (lambda xp: xp.lib.stride_tricks.sliding_window_view(GRID, 9, 0), ValueError), (lambda xp: xp.r_[()], ValueError),
    (lambda xp: xp.lib.stride_tricks.sliding_window_view(GRID, (2, 2), 0), ValueError),
          (lambda xp: xp.where([True], 1), ValueError)]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    errors(*ERRORS[number])

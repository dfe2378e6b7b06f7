"""Sorts, searches, picks and sets with NumPy's arguments, against NumPy."""
import itertools

import numpy as np
import pytest
from numpy_twin import function, same
from values import EVERY, check, make, views

import nd4c
import nd4c.numpy

SHAPES = ((1,), (5,), (0,), (3, 4), (2, 0, 3), (2, 3, 4))


def with_nan(rng, shape, dtype):
    a = make(rng, shape, dtype)
    if a.dtype.kind in "fc" and a.ndim:
        a[rng.random(shape) < 0.3] = np.nan
    return a


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_sort(name):
    rng = np.random.default_rng(1)
    for dtype, shape in itertools.product(EVERY, SHAPES):
        a = with_nan(rng, shape, dtype)
        for axis, kind in itertools.product([None, *range(-a.ndim, a.ndim)], (None, "stable", "Merge")):
            if name == "sort" or kind:
                same(name, a, axis, kind)
        for view in views(rng, a):
            same(name, view, -1, stable=True)
    for arguments in (([3, 1], 2), ([3, 1], -1, "bubble"), ([3, 1], -1, None, "field"), (["b", 1j],), (5, None)):
        if arguments != (["b", 1j],):
            same(name, *arguments)
    same(name, [3, 1], kind="quicksort", stable=True)
    same(name, 5)
    check(function(name)([1, 3, 2], descending=True), [3, 2, 1] if name == "sort" else [1, 2, 0])


def test_partition():
    rng = np.random.default_rng(2)
    for dtype, shape in itertools.product(EVERY, ((5,), (3, 4))):
        a = with_nan(rng, shape, dtype)
        for axis in (None, 0, -1):
            extent = a.size if axis is None else a.shape[axis]
            for kth in (0, extent - 1, -1, [0, extent // 2]):
                place = np.atleast_1d(kth)
                got = np.asarray(nd4c.numpy.partition(nd4c.asarray(a), kth, axis))
                wanted = np.partition(a, kth, axis)
                np.testing.assert_array_equal(np.take(got, place, axis or 0), np.take(wanted, place, axis or 0))
                chosen = np.asarray(nd4c.numpy.argpartition(nd4c.asarray(a), kth, axis))
                picked = np.take_along_axis(a.ravel() if axis is None else a, chosen, axis or 0)
                np.testing.assert_array_equal(np.take(picked, place, axis or 0), np.take(wanted, place, axis or 0))
    for name, arguments in itertools.product(("partition", "argpartition"), (
            ([1, 2], 5), ([1, 2], 1.5), ([1, 2], 0, 3), ([1, 2], 0, -1, "quick"), ([1, 2], 0, -1, "introselect", "x"))):
        same(name, *arguments)
    same("partition", 3, 0)
    for axis in (None, 0, 1):
        same("partition", np.zeros((3, 0)), 0, axis)
        same("argpartition", np.zeros((3, 0)), 5, axis)


def test_lexsort():
    rng = np.random.default_rng(3)
    for dtype, shape in itertools.product(EVERY, ((7,), (3, 4), (0,), ())):
        a, b = make(rng, shape, dtype, 0, 2), make(rng, shape, "int64", 0, 2)
        for axis in (-1, 0):
            same("lexsort", (a, b), axis)
            same("lexsort", (b, a), axis)
    same("lexsort", [[1, 2, 1], [0, 1, 0]])
    same("lexsort", ())
    same("lexsort", ([1, 2],), 2)
    with pytest.raises(ValueError, match="lexsort"):
        nd4c.numpy.lexsort(([1, 2], [1, 2, 3]))


def test_sort_complex_and_indices():
    rng = np.random.default_rng(4)
    for dtype, shape in itertools.product(EVERY, SHAPES):
        a = make(rng, shape, dtype, -1, 1)
        same("sort_complex", a)
        for name in ("flatnonzero", "argwhere", "nonzero"):
            same(name, a)
    for name in ("flatnonzero", "argwhere"):
        same(name, 5)
        same(name, 0)
    same("nonzero", 5)
    same("argwhere", [[1, 0], [0, 1]])


def test_searchsorted():
    rng = np.random.default_rng(5)
    for one, other, side in itertools.product(EVERY, EVERY, ("left", "right")):
        a = np.sort(make(rng, (9,), one))
        same("searchsorted", a, make(rng, (3, 4), other), side)
        order = rng.permutation(9)
        same("searchsorted", a[order], make(rng, (5,), other), side, np.argsort(order).astype("int32"))
    same("searchsorted", [1, 2, 3], 2.5)
    same("searchsorted", [1, 2, np.nan], [np.nan, 5])
    same("searchsorted", [], [1, 2])
    for side, sorter in (("middle", None), ("left", [0.0, 1]), ("left", [0]), ("left", [0, 5])):
        same("searchsorted", [1, 2], 1, side, sorter)
    same("searchsorted", [[1, 2]], 1)


def test_isin():
    rng = np.random.default_rng(6)
    for one, other in itertools.product(EVERY, EVERY):
        a, b = make(rng, (3, 4), one), make(rng, (5,), other)
        same("isin", a, b)
        same("isin", a, b, invert=True)
        same("isin", a, b, False, True, kind="sort")
    same("isin", 5, [5, 6])
    same("isin", [1, 2], 2)
    same("isin", [np.nan], [np.nan])
    for kind in ("table", "hash"):
        same("isin", [1.0], [1.0], kind=kind)


def test_take():
    rng = np.random.default_rng(7)
    a = make(rng, (3, 4, 2), "float32")
    for axis in (None, 0, 1, -1):
        extent = a.size if axis is None else a.shape[axis]
        for indices in (0, [0, 1], np.array([[1], [0]], "int8"), np.array([], "int64")):
            same("take", a, indices, axis)
        for mode in ("wrap", "clip"):
            same("take", a, [-9, 0, extent, 3 * extent + 1], axis, mode=mode)
        same("take", a, [extent], axis)
    same("take", [4, 5], [0], 3)
    same("take", [4, 5], [0], mode="bounce")
    same("take", np.zeros((0,)), [0], mode="clip")
    out = nd4c.zeros(2, dtype="float32")
    assert nd4c.take(nd4c.asarray(a), [3, 4], out=out) is out
    check(out, np.take(a, [3, 4]))
    with pytest.raises(TypeError, match="take"):
        nd4c.take([1, 2], [0.5])


def test_take_along_axis():
    rng = np.random.default_rng(8)
    a = make(rng, (3, 4), "int64")
    for axis in (0, 1, -1):
        same("take_along_axis", a, np.argsort(a, axis), axis)
        same("take_along_axis", a, np.argmax(a, axis, keepdims=True).astype("uint8"), axis)
    same("take_along_axis", a, np.argsort(a, None), None)
    for indices, axis in (([0, 1], 0), ([[0.5]], 0), ([[9]], 0), ([[0]], 5)):
        same("take_along_axis", a, np.array(indices), axis)


def test_where():
    rng = np.random.default_rng(9)
    for one, other in itertools.product(EVERY, EVERY):
        same("where", rng.random((3, 4)) < 0.5, make(rng, (3, 4), one), make(rng, (4,), other))
    for arguments in (([1, 0], 2, 3), ([1, 0], 2.5, 3), (True, [1, 2], 3), ([True, False], 1j, 2), ([1, 0], 2),
                      ([0.0, 2.0], [1, 2], [3.5, 4]), (np.array([[1, 0], [0, 1]]),), ([True, False], [1, 2, 3], 4)):
        same("where", *arguments)


# -- sets -------------------------------------------------------------------------------------------------------------

def test_unique():
    rng = np.random.default_rng(10)
    for dtype, shape in itertools.product(EVERY, ((), (9,), (0,), (3, 4), (2, 3, 2))):
        a = with_nan(rng, shape, dtype)
        for flags in itertools.product((False, True), repeat=3):
            same("unique", a, *flags)
        same("unique", a, True, True, True, equal_nan=False)
        b = make(rng, shape, dtype, 0, 1)
        for axis in range(-b.ndim, b.ndim):
            same("unique", b, True, True, True, axis)
    same("unique", np.zeros((2, 0, 3)), True, True, True, 0)
    same("unique", np.zeros((0, 2)), True, True, True, 0)
    same("unique", [3, 1, 3])
    same("unique", [[1, 2]], axis=2)
    same("unique", [[1, 2]], axis=0.5)
    same("unique", [1, np.nan, 2, np.nan], axis=0)


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
def test_sets(name):
    rng = np.random.default_rng(11)
    for one, other in itertools.product(EVERY, EVERY):
        a, b = make(rng, (3, 4), one, 0, 4), make(rng, (7,), other, 0, 4)
        same(name, a, b)
        if one[0] not in "fc" and other[0] not in "fc":
            same(name, a.round(), b.round())
    same(name, [3, 1, 2], [2, 7])
    same(name, [], [1, 2])
    same(name, 5, [5, 6])
    same(name, np.array([]), np.array([]))
    if name != "union1d":
        same(name, [3, 1, 2], [7, 2], True)
        same(name, [3, 1, 2], [7, 2], assume_unique=True)
    with pytest.raises(TypeError):
        function(name)(["a"], ["b"])


def test_intersection_with_indices():
    rng = np.random.default_rng(12)
    for dtype in EVERY:
        a, b = make(rng, (3, 4), dtype, 0, 4), make(rng, (9,), dtype, 0, 4)
        same("intersect1d", a, b, return_indices=True)
    same("intersect1d", [4, 1, 3], [3, 9, 1], True, True)


def test_standard_sets_take_lists():
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        same(name, [[3, 1], [3, 2]])
        assert function(name)([1])._fields == getattr(np, name)([1])._fields
    check(nd4c.unique_values([[3, 1], [3, 2]]), [1, 2, 3])


def test_ediff1d():
    rng = np.random.default_rng(13)
    for dtype in EVERY[1:]:
        a = make(rng, (3, 4), dtype)
        same("ediff1d", a, tolerance=4, absolute=1e-5)
        same("ediff1d", a, [1, 2], 3, tolerance=4, absolute=1e-5)
    same("ediff1d", [])
    same("ediff1d", [1, 2], 0.5)
    same("ediff1d", np.array([1, 2], "int8"), to_begin=1j)


def test_top_k():
    values, places = nd4c.numpy.top_k([[1, 5, 3], [9, 9, 2]], 2)
    check(values, [[5, 3], [9, 9]])
    check(places, [[1, 2], [0, 1]])
    values, places = nd4c.numpy.top_k([1, 5, 3], k=1, largest=False, axis=0)
    check(values, [1])
    with pytest.raises(ValueError, match="top_k"):
        nd4c.numpy.top_k([1, 2], 3)
    with pytest.raises(IndexError, match="top_k"):
        nd4c.numpy.top_k([1, 2], 1, 3)


@pytest.mark.parametrize("signed", ["int64", "int32"])
def test_sets_of_both_signs_are_exact(signed):
    """uint64 and signed integers share float64, in which 2^53 equals 2^53 + 1."""
    far = 2**53 if signed == "int64" else 2**30
    left = [-1, -far - 1, far, far + 2, 0, 7, 7, np.iinfo(signed).max]
    right = [far + 1, far + 2, 2**64 - 1, 2**63, 2**64 - far - 1, 7, int(np.iinfo(signed).max)]
    a, b = nd4c.asarray(np.array(left, signed)), nd4c.asarray(np.array(right, np.uint64))
    common = sorted(set(left) & set(right))
    for x, y, first, second in ((a, b, left, right), (b, a, right, left)):
        assert nd4c.isin(x, y).tolist() == [one in second for one in first]
        assert nd4c.isin(x, y, invert=True).tolist() == [one not in second for one in first]
        assert nd4c.numpy.setdiff1d(x, y).tolist() == sorted(set(first) - set(second))
        assert nd4c.numpy.setxor1d(x, y).tolist() == sorted({float(one) for one in set(first) ^ set(second)})
        values, places, others = nd4c.numpy.intersect1d(x, y, return_indices=True)
        assert values.dtype == nd4c.float64 and values.tolist() == [float(one) for one in common]
        assert nd4c.numpy.intersect1d(x, y).tolist() == values.tolist()
        assert [first[i] for i in places.tolist()] == common and [second[i] for i in others.tolist()] == common
        ordered = nd4c.sort(x)
        for side in ("left", "right"):
            wanted = [sum(one < other or (one == other and side == "right") for one in first) for other in second]
            assert nd4c.searchsorted(ordered, y, side).tolist() == wanted
            assert nd4c.searchsorted(x, y, side, nd4c.argsort(x)).tolist() == wanted
            assert nd4c.numpy.digitize(y, nd4c.unique_values(x), side == "left").tolist() == [
                sum(one < other or (one == other and side == "right") for one in set(first)) for other in second]


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_far_integers_are_exact(dtype):
    """Numbers beyond 2^53 that float64 would take for equal."""
    rng = np.random.default_rng(11)
    for count in (7, 300, 5000):
        a = (2**62 + rng.integers(0, 40, count)).astype(dtype)
        b = (2**62 + rng.integers(20, 60, count)).astype(dtype)
        same("unique", a, return_counts=True)
        for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
            same(name, a, b)
        for name in ("sort", "argmax", "argmin", "max", "min"):
            same(name, a)
        same("searchsorted", np.sort(a), b)
        assert nd4c.argsort(nd4c.asarray(a)).tolist() == np.argsort(a, kind="stable").tolist()

"""Reductions, running sums and differences with NumPy's arguments, against NumPy: lists, out, where, initial, dtype."""
import itertools

import numpy as np
import pytest
from numpy_twin import function, same, to_nd4c
from values import EVERY, REAL, axes_of, check, make, views

import nd4c
import nd4c.numpy

SHAPES = ((), (1,), (5,), (0,), (3, 4), (2, 0, 3), (2, 3, 4))
REDUCTIONS = "sum prod max min all any mean var std argmax argmin count_nonzero".split()
CLOSE = {"sum": (4, 1e-4), "prod": (40, 1e-4), "mean": (8, 1e-5), "var": (30, 1e-5), "std": (30, 1e-5)}


def close(name):
    tolerance, absolute = CLOSE.get(name, (0, 0))
    return {"tolerance": tolerance, "absolute": absolute}


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any", "mean", "var", "std"])
def test_axes_and_masks(name):
    rng = np.random.default_rng(1)
    for dtype, shape in itertools.product(EVERY, SHAPES):
        a = make(rng, shape, dtype)
        for axis, keepdims in itertools.product(axes_of(a.ndim), (False, True)):
            same(name, a, axis, keepdims=keepdims, **close(name))
            initial = {"initial": 3} if name in ("max", "min") else {}
            same(name, a, axis, keepdims=keepdims, where=rng.random(shape) < 0.7, **initial, **close(name))
            if a.ndim:
                same(name, a, axis, keepdims=keepdims, where=rng.random(shape[-1]) < 0.7, **initial, **close(name))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_initial(name):
    rng = np.random.default_rng(2)
    for dtype, shape, initial in itertools.product(EVERY, SHAPES, (2, 5.5, True)):
        a = make(rng, shape, dtype)
        for axis in axes_of(a.ndim):
            same(name, a, axis, initial=initial, **close(name))
    same(name, [1, 2], initial=1j)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_dtype(name):
    rng = np.random.default_rng(3)
    for dtype, wanted in itertools.product(EVERY, ("int64", "float32", "float64", "complex128")):
        if name not in ("sum", "prod") and wanted == "int64":
            continue  # NumPy computes means of integers in integers
        if name in ("var", "std") and wanted == "complex128" and "complex" not in dtype:
            continue
        if "complex" in dtype and "complex" not in wanted:
            continue  # NumPy warns, and drops the imaginary parts
        a = make(rng, (3, 4), dtype)
        if name in ("var", "std") and wanted == "complex128":
            check(function(name)(nd4c.asarray(a), 0), np.asarray(getattr(np, name)(a, 0)), 30, absolute=1e-5)
            continue
        same(name, a, 0, dtype=wanted, **close(name))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any", "mean", "var", "std", "argmax", "argmin"])
def test_out(name):
    rng = np.random.default_rng(4)
    for dtype, out_dtype in itertools.product(("bool", "int8", "int64", "float32", "float64"), ("int64", "float64")):
        a = make(rng, (3, 4), dtype)
        with np.errstate(all="ignore"):
            wanted = np.zeros(4, out_dtype)
            try:
                getattr(np, name)(a, 0, out=wanted)
            except TypeError:
                out = nd4c.zeros(4, dtype=out_dtype)
                with pytest.raises(TypeError, match=name):
                    function(name)(nd4c.asarray(a), 0, out=out)
                continue
        out = nd4c.zeros(4, dtype=out_dtype)
        assert function(name)(nd4c.asarray(a), 0, out=out) is out
        check(out, wanted, 30, absolute=1e-5)
        with pytest.raises(ValueError, match="out has the shape"):
            function(name)(nd4c.asarray(a), 0, out=nd4c.zeros(3, dtype=out_dtype))


@pytest.mark.parametrize("name", REDUCTIONS + "median ptp nansum nanmax nanmean nanvar nanmedian nanargmin".split())
def test_errors(name):
    for axis in (2, -3, 1.5, "first", *(((0, 0), (0, 5), (0, 1)) if "arg" not in name else ())):
        same(name, np.ones((2, 3)), axis=axis, **close(name))
        same(name, [[1, 2]], axis=axis, **close(name))
    with pytest.raises(TypeError):
        function(name)(nd4c.asarray(["a", "b"]))
    with pytest.raises(TypeError):
        function(name)(None)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_lists_numbers_and_arrays_of_numpy(name):
    rng = np.random.default_rng(5)
    for value in (5, 2.5, True, 1j, [1, 2, 3], [[1.5, 2], [3, 4]], (1, 0), [True, False], [1j, 2]):
        same(name, value, **close(name))
        same(name, value, 0, **close(name))
    for a in views(rng, make(rng, (3, 4), "float64")):
        check(function(name)(a, 0), getattr(np, name)(a, 0), 30)
        same(name, a, 1, tolerance=30)


def test_variance_with_a_known_mean_and_corrections():
    rng = np.random.default_rng(6)
    for name, dtype in itertools.product(("var", "std"), ("int32", "float32", "float64", "complex128")):
        a = make(rng, (4, 5), dtype)
        mean = a.mean(axis=1, keepdims=True)
        same(name, a, axis=1, mean=mean, tolerance=30, absolute=1e-5)
        for ddof in (0, 1, 2.5, 5, 7):
            same(name, a, axis=1, ddof=ddof, tolerance=30, absolute=1e-5)
            same(name, a, axis=1, correction=ddof, tolerance=30, absolute=1e-5)
            same(name, a, axis=1, ddof=ddof, where=[True, True, False, True, False], tolerance=30, absolute=1e-5)
        same(name, a, ddof=1, correction=1)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extrema(name):
    rng = np.random.default_rng(7)
    for dtype, shape in itertools.product(EVERY, SHAPES):
        a = make(rng, shape, dtype)
        for axis, keepdims in itertools.product([None, *range(-a.ndim, a.ndim)], (False, True)):
            same(name, a, axis, keepdims=keepdims)
    for unknown in (np.nan, complex(np.nan, 1), complex(1, np.nan)):
        same(name, np.array([1, 5, unknown, 7, unknown]))
    same(name, [1, 5, 1, 5])
    for parts in ((0, 2, 1), (0, np.nan, 1), (2, 0, 1)):
        same(name, np.array([complex(np.nan, part) for part in parts]))
        same(name[3:], np.array([complex(np.nan, part) for part in parts]))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "uint16", "int64", "uint64"])
def test_long_running_sums_of_integers(dtype):
    """Lines that are shared out among threads: sums wrap alike wherever the pieces begin."""
    rng = np.random.default_rng(41)
    limits = np.iinfo(dtype) if dtype != "bool" else None
    for count in (65537, 100_003):
        a = rng.integers(limits.min, limits.max, count, dtype, True) if limits else rng.random(count) < 0.5
        for x in (a, a[::-1], np.repeat(a, 2)[::2]):
            same("cumsum", x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_running_sums_of_floats(dtype):
    """Integers have exact sums in any order. Tenths one after the other would be off by thousands of last places."""
    rng = np.random.default_rng(42)
    for count in (3, 5, 9, 65537, 100_003):
        whole = rng.integers(-64, 65, count)
        tenths = np.full(count, 0.1, dtype)
        for step in (1, -1):
            made = np.asarray(nd4c.numpy.cumsum(to_nd4c(whole.astype(dtype)[::step])))
            assert made.dtype == dtype and np.array_equal(made, np.cumsum(whole[::step]))
        expected = np.cumsum(tenths, dtype="longdouble")
        made = np.asarray(nd4c.numpy.cumsum(to_nd4c(tenths)))
        assert np.abs(made - expected).max() <= 16 * np.spacing(made[-1])


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_running(name):
    rng = np.random.default_rng(8)
    for dtype, shape in itertools.product(EVERY, SHAPES):
        a = make(rng, shape, dtype, -1.5 if dtype[0] in "fc" else 0, 1.5 if dtype[0] in "fc" else 1)
        for axis in [None, *range(-a.ndim, a.ndim)]:
            same(name, a, axis, tolerance=60, absolute=1e-4)
            same(name, a, axis, dtype="complex128", tolerance=60, absolute=1e-4)
    same(name, [1.5, np.nan, 2], tolerance=4)
    same(name, [[1, 2]], 3)
    out = nd4c.zeros(3)
    assert function(name)([1, 2, 3], out=out) is out
    check(out, getattr(np, name)([1.0, 2, 3]))
    small = nd4c.zeros(3, dtype="int8")
    three = np.array([1, 2, 3], "int8")
    check(function(name)(nd4c.asarray(three), out=small), getattr(np, name)(three, dtype="int8"))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_cumulative(name):
    for arguments in (([1, 2, 3],), (np.array([[1, 2], [3, 4]]),), (5,)):
        same(name, *arguments)
        same(name, *arguments, include_initial=True)
    for axis in (0, 1, -1, 2):
        same(name, [[1, 2], [3, 4]], axis=axis, include_initial=True)
        same(name, np.array([[True, False]]), axis=axis)


def test_diff():
    rng = np.random.default_rng(9)
    for dtype, shape in itertools.product(EVERY, ((4,), (1,), (0,), (3, 4))):
        a = make(rng, shape, dtype)
        for axis, n in itertools.product(range(-a.ndim, a.ndim), range(4)):
            same("diff", a, n, axis, tolerance=4, absolute=1e-5)
        same("diff", a, prepend=a[..., :1], append=np.concatenate([a, a], -1), tolerance=4, absolute=1e-5)
    same("diff", [1, 2], prepend=0.5, append=3)
    same("diff", np.ones((2, 2)), prepend=0, axis=0)
    for arguments in ((5,), ([1, 2], -1), ([1, 2], 1, 3), ([1, 2], 1, 0, [[1]])):
        same("diff", *arguments)


def test_ptp_average_and_extrema():
    rng = np.random.default_rng(10)
    for dtype, shape in itertools.product(EVERY, ((4,), (3, 4), (2, 3, 4))):
        a = make(rng, shape, dtype)
        for axis, keepdims in itertools.product(axes_of(a.ndim), (False, True)):
            same("ptp", a, axis, keepdims=keepdims)
            same("average", a, axis, keepdims=keepdims, tolerance=8, absolute=1e-5)
            weights = make(rng, shape, "float64", 0, 1)
            same("average", a, axis, weights, True, keepdims=keepdims, tolerance=60, absolute=1e-4)
        same("amax", a, 0)
        same("amin", a, 0)
        same("average", a, -1, weights=np.arange(4) + 1, returned=True, tolerance=60, absolute=1e-4)
    a = make(rng, (2, 3, 4), "float64")
    same("average", a, (2, 0), weights=np.arange(8.0).reshape(4, 2), tolerance=60, absolute=1e-9)
    same("average", a, (0, 1), weights=np.arange(8.0).reshape(4, 2))
    same("average", a, weights=np.arange(4.0))
    same("average", [1, 2], weights=[0, 0])
    same("ptp", [])


def test_integers_at_the_limits():
    same("ptp", np.array([-128, 127], "int8"))
    same("sum", np.array([2 ** 63, 1], "uint64"))
    same("max", np.array([2 ** 63, 1], "uint64"), initial=5)
    for dtype in REAL:
        a = np.array([1, 2, 3], dtype)
        for name in ("sum", "prod", "max", "min"):
            out = nd4c.zeros((), dtype=dtype)
            function(name)(to_nd4c(a), out=out)
            check(out, getattr(np, name)(a).astype(dtype))

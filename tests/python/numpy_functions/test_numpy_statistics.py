"""NumPy's statistics against NumPy: medians, quantiles, covariances, counts, histograms, lines."""
import itertools

import numpy as np
import pytest
from numpy_twin import function, same
from values import EVERY, FLOATS, INTEGERS, REAL, axes_of, check, make, views

import nd4c
import nd4c.numpy

METHODS = ("inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
           "median_unbiased normal_unbiased lower higher midpoint nearest").split()
CLOSE = {"tolerance": 30, "absolute": 1e-5}


def with_nan(rng, shape, dtype, share=0.3):
    a = make(rng, shape, dtype)
    if a.dtype.kind in "fc" and a.ndim:
        a[rng.random(shape) < share] = np.nan
    return a


# -- medians and quantiles -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_median(name):
    rng = np.random.default_rng(1)
    for dtype, shape in itertools.product(EVERY, ((), (5,), (6,), (3, 4), (2, 3, 4))):
        a = with_nan(rng, shape, dtype, 0.2) if "complex" not in dtype else make(rng, shape, dtype)
        for axis, keepdims in itertools.product(axes_of(a.ndim), (False, True)):
            same(name, a, axis, keepdims=keepdims, **CLOSE)
    for a in views(rng, make(rng, (4, 5), "float64")):
        same(name, a, 1, **CLOSE)
    for shape, axis in (((0,), None), ((0, 3), 0), ((0, 3), 1), ((2, 0), 1)):
        same(name, np.zeros(shape), axis)
        same(name, np.zeros(shape, "int32"), axis)
    same(name, [1.0, np.inf, np.inf])
    same(name, [np.nan, np.nan])
    same(name, [[1, 2]], 3)
    out = nd4c.zeros(2)
    assert function(name)([[1, 2], [5, 4]], 1, out) is out
    check(out, [1.5, 4.5])


@pytest.mark.parametrize("method", METHODS)
def test_quantile_methods(method):
    rng = np.random.default_rng(2)
    shapes = ((1,), (2,), (9,), (10,), (3, 4), (2, 3, 4))
    for dtype, shape in itertools.product(("int8", "int64", "uint8", "float32", "float64"), shapes):
        a = make(rng, shape, dtype)
        for axis, q in itertools.product((None, 0, -1), (0.5, [0, 0.25, 0.4, 1], np.array(0.9))):
            same("quantile", a, q, axis, method=method, **CLOSE)
        unknown = with_nan(rng, shape, dtype)
        for axis in (None, 0, -1):
            same("quantile", unknown, [0.2, 0.5], axis, method=method, keepdims=True, **CLOSE)
            if dtype != "float32":  # where NumPy's dtype depends on the first row
                same("nanquantile", unknown, [0.2, 0.5], axis, method=method, keepdims=True, **CLOSE)


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantile_arguments(name):
    scale = 100 if "percentile" in name else 1
    rng = np.random.default_rng(3)
    a = make(rng, (2, 3, 4), "float64")
    for axis in axes_of(3):
        same(name, a, 0.3 * scale, axis, **CLOSE)
        if "nan" not in name or type(axis) is not tuple:  # where NumPy's own nan functions confuse the axes
            same(name, a, [[0.3 * scale, 0], [1, 0.7]], axis, keepdims=True, **CLOSE)
    for dtype in REAL:
        b = make(rng, (7,), dtype)
        for q in (0.5 * scale, 1, np.float32(0.5), np.array([0.5, 1], "float32"), [0, 1]):
            same(name, b, q, **CLOSE)
    infinite = function(name)([1.0, np.inf, 3, np.inf], [0.25 * scale, 0.9 * scale])
    check(infinite, [2.5, np.inf])  # NumPy: NaN between infinities
    same(name, [-np.inf, 1.0, np.inf], 0.5 * scale)
    same(name, [True, False, True], 0.5 * scale, method="lower")
    for q in (1.1 * scale, -0.1, [0.5, 101], np.nan):
        same(name, a, q)
    for arguments in ((a, 0.5, 3), (a, 0.5, (0, 0)), ([1j], 0.5)):
        same(name, *arguments)
    same(name, a, 0.5, method="median")
    out = nd4c.zeros((2, 4))
    assert function(name)(nd4c.asarray(a[0]), [0.5, 1], 0, out) is out
    check(out, getattr(np, name)(a[0], [0.5, 1], 0), **CLOSE)


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantile_weights(name):
    scale = 100 if "percentile" in name else 1
    rng = np.random.default_rng(4)
    q = [0, 0.21 * scale, 0.5 * scale, scale]
    for dtype, shape in itertools.product(("int64", "float32", "float64"), ((6,), (3, 4), (2, 3, 4))):
        a = with_nan(rng, shape, dtype, 0.2)
        w = rng.integers(0, 4, shape) + (rng.random(shape) < 0.5)
        w[..., 0] += 1
        for axis in (None, -1):
            same(name, a, q, axis, weights=w, method="inverted_cdf")
            same(name, a, 0.5 * scale, axis, weights=w.astype("float64"), method="inverted_cdf", keepdims=True)
        if "nan" not in name:  # where NumPy takes no such weights
            same(name, a, q, -1, weights=np.arange(shape[-1]), method="inverted_cdf")
    same(name, [1, 2], 0.5, weights=[1, 2])
    for w in ([0, 0], [-1, 2], [np.inf, 1], [1, 2, 3], [1j, 2]):
        if w != [1j, 2]:
            same(name, [1.0, 2.0], 0.5, 0, weights=w, method="inverted_cdf")


# -- covariances -----------------------------------------------------------------------------------------------------

def test_covariances():
    rng = np.random.default_rng(5)
    close = {"tolerance": 200, "absolute": 1e-9}
    dtypes = ("int32", "bool", "float32", "float64", "complex64", "complex128")
    for dtype, shape in itertools.product(dtypes, ((6,), (3, 6), (1, 6))):
        m = make(rng, shape, dtype)
        for options in ({}, {"rowvar": False}, {"bias": True}, {"ddof": 2}, {"y": make(rng, shape, "float64")}):
            same("cov", m, **options, **close)
        for name in ("fweights", "aweights"):
            same("cov", m, **{name: rng.integers(1, 5, 6)}, **close)
        same("cov", m, fweights=rng.integers(1, 5, 6), aweights=rng.random(6), **close)
        if m.ndim == 2 and dtype != "bool":
            same("corrcoef", m, **close)
            same("corrcoef", m, m[::-1], **close)
    same("corrcoef", [1.0, 2, 4], **close)
    same("cov", np.zeros((0, 3)))
    same("cov", [[1, 2], [3, 5]], dtype="float32", tolerance=4)
    same("cov", np.zeros((1, 2, 3)))
    for options in ({"ddof": 1.5}, {"fweights": [0.5, 1]}, {"fweights": [1, 2, 3]}, {"fweights": [[1, 2]]},
                    {"aweights": [-1, 2]}, {"aweights": [1, 2, 3]}, {"fweights": [-1, 2]}):
        same("cov", [1, 2], **options)


# -- counts ----------------------------------------------------------------------------------------------------------

def test_bincount():
    rng = np.random.default_rng(6)
    for dtype in INTEGERS:
        x = make(rng, (20,), dtype, 0, 9)
        same("bincount", x)
        same("bincount", x, minlength=15)
        same("bincount", x, make(rng, (20,), "float64"), 3, tolerance=8, absolute=1e-12)
        same("bincount", x, make(rng, (20,), "int16"))
    same("bincount", [0, 1, 1])
    same("bincount", [True, False])
    same("bincount", [])
    same("bincount", [], minlength=3)
    same("bincount", np.array([], "int64"), np.array([]), 2)
    for arguments in (([-1],), (np.array([1.5]),), ([[1]],), ([1], None, -1), ([1], None, "long"), ([1, 2], [1, 2, 3]),
                      ([1], None, 1.5)):
        same("bincount", *arguments)
    check(nd4c.numpy.bincount([0, 2], maxlength=4), [1, 0, 1])
    with pytest.raises(IndexError, match="bincount"):
        nd4c.numpy.bincount([0, 9], maxlength=4)


def test_digitize():
    rng = np.random.default_rng(7)
    for one, other, right in itertools.product(REAL, REAL, (False, True)):
        x, bins = make(rng, (3, 4), one), np.sort(make(rng, (5,), other))
        same("digitize", x, bins, right)
        same("digitize", x, bins[::-1], right)
    same("digitize", 2.5, [1, 2, 3])
    same("digitize", [1], [])
    for arguments in (([1], [1, 3, 2]), ([1j], [1, 2]), ([1, 2], [1, 2j]), ([1], [[1]])):
        same("digitize", *arguments)


RULES = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


def test_histogram_bins():
    rng = np.random.default_rng(8)
    for dtype, shape in itertools.product(REAL, ((50,), (0,), (1,), (4, 5))):
        a = make(rng, shape, dtype)
        for bins in (10, 3, [-2, 0, 1, 1, 5], *RULES):
            same("histogram_bin_edges", a, bins, tolerance=4, absolute=1e-5)
            same("histogram", a, bins, tolerance=4, absolute=1e-5)
        same("histogram", a, 4, (0, 3), tolerance=4)
        same("histogram", a, "auto", (0, 3), tolerance=4)
        same("histogram", a, 4, density=True, tolerance=8, absolute=1e-5)
    same("histogram", np.ones(3), tolerance=2)
    same("histogram", rng.normal(size=1000), 33, absolute=1e-12)
    for rule in RULES:
        same("histogram", rng.normal(size=1000), rule, absolute=1e-12)
        same("histogram", rng.integers(0, 40, 1000), rule, absolute=1e-12)


def test_histogram_weights():
    rng = np.random.default_rng(9)
    a = rng.normal(size=60)
    for dtype in EVERY[1:]:
        w = make(rng, (60,), dtype)
        for options in ({"bins": 5}, {"bins": [-1, 0, 2.0]}, {"bins": 4, "range": (-1, 1)}):
            same("histogram", a, weights=w, tolerance=30, absolute=1e-5, **options)
    same("histogram", a, 4, weights=rng.random(60), density=True, tolerance=30)
    for arguments in ((a, 0), (a, [3, 1]), (a, [[1, 2]]), (a, "best"), (a, 4, (2, 1)), (a, 4, (0, np.inf)),
                      ([1, np.nan],), (a, 1.5), ([1.0, 1.0 + 2 ** -52], 10)):
        same("histogram", *arguments)
    same("histogram", a, 3, weights=[1, 2])
    same("histogram", a, "auto", weights=a)


def test_histograms_of_several_dimensions():
    rng = np.random.default_rng(10)
    points = rng.normal(size=(40, 3))
    for bins in (3, (2, 3, 4), [np.array([-1.0, 0, 1]), 2, np.array([0, 0.5, 2])]):
        for options in ({}, {"density": True}, {"weights": rng.random(40)}, {"range": ((-1, 1), (-2, 2), (0, 1))}):
            same("histogramdd", points, bins, **options, **CLOSE)
    same("histogramdd", points[:, 0], 4, **CLOSE)
    same("histogramdd", (points[:, 0], points[:, 1]), 4, **CLOSE)
    for bins in (4, (2, 3), [np.array([-1.0, 0, 1]), np.array([0, 0.5, 2])], np.array([-1.0, 0, 0.5, 1])):
        same("histogram2d", points[:, 0], points[:, 1], bins, **CLOSE)
    same("histogram2d", points[:, 0], points[:, 1], 3, weights=rng.random(40), density=True, **CLOSE)
    same("histogram2d", [1, 2], [1, 2, 3])
    for bins in ((2, 3), 0, (1, 2, [2, 1]), (1, 2, 1.5)):
        same("histogramdd", points, bins)
    same("histogramdd", points, 2, ((0, 1),))


# -- lines -----------------------------------------------------------------------------------------------------------

def test_convolution():
    rng = np.random.default_rng(11)
    for one, other, sizes in itertools.product(EVERY, EVERY, ((7, 3), (3, 7), (4, 4), (1, 5))):
        a, v = make(rng, sizes[:1], one), make(rng, sizes[1:], other)
        for name, mode in itertools.product(("convolve", "correlate"), ("full", "same", "valid")):
            same(name, a, v, mode, tolerance=60, absolute=1e-4)
    for dtype in ("int16", "uint64", "float32", "float64"):
        for sizes in ((2100, 9), (200, 290)):                            # several pieces of a result, blocks and their edges
            a, v = make(rng, sizes[:1], dtype), make(rng, sizes[1:], dtype)
            for name, mode in itertools.product(("convolve", "correlate"), ("full", "same", "valid")):
                same(name, a, v[::-1], mode, tolerance=600, absolute=1e-3)
                same(name, np.repeat(a, 2)[::2], v, mode, tolerance=600, absolute=1e-3)
    same("convolve", [1, 2, 3], [0, 1, 0.5])
    same("correlate", [1, 2, 3], [0, 1, 0.5])
    same("convolve", np.ones(300, bool), np.ones(300, bool))
    for name in ("convolve", "correlate"):
        for arguments in (([], [1]), ([1], []), ([[1]], [1]), ([1], [1], "whole"), ([1], [1], None)):
            same(name, *arguments)


def test_gradient():
    rng = np.random.default_rng(12)
    for dtype, shape, order in itertools.product(EVERY[1:], ((5,), (3, 4), (3, 4, 5)), (1, 2)):
        f = make(rng, shape, dtype)
        same("gradient", f, edge_order=order, tolerance=60, absolute=1e-4)
        same("gradient", f, 0.5, axis=-1, edge_order=order, tolerance=60, absolute=1e-4)
        same("gradient", f, np.sort(rng.random(shape[0])) * 4, axis=0, edge_order=order, tolerance=4000, absolute=1e-3)
        if len(shape) == 2:
            same("gradient", f, 2.0, np.arange(4) * 3, edge_order=order, tolerance=60, absolute=1e-4)
    for arguments in (([1],), ([1, 2], [1, 2, 3]), ([1, 2], 1, 2), ([1, 2], [[1, 2]])):
        same("gradient", *arguments)
    same("gradient", [1, 2, 3], axis=1)
    same("gradient", [1, 2, 3], edge_order=3)


def test_trapezoid():
    rng = np.random.default_rng(13)
    for dtype in ("int8", "int64", *FLOATS, "complex128"):
        y = make(rng, (3, 4), dtype)
        for axis in (0, 1, -1):
            same("trapezoid", y, axis=axis, **CLOSE)
            same("trapezoid", y, dx=0.5, axis=axis, **CLOSE)
            same("trapezoid", y, np.sort(rng.random(y.shape[axis])), axis=axis, tolerance=200, absolute=1e-5)
            same("trapezoid", y, np.sort(rng.random((3, 4)), axis), axis=axis, tolerance=200, absolute=1e-5)
            for dx in (1, 1.0, -3, np.float64(0.25), np.array([2.0]), 2j):
                same("trapezoid", y, dx=dx, axis=axis, **CLOSE)
    huge = np.array([1.7e308, 1e307, 5e-324, 5e-324, np.inf, 1.0])
    for y in (huge[1:4], huge[:2], huge[3:], huge[2:4], huge[4:] + 1j, np.array([np.nan, 1])):
        kept = y.copy()
        same("trapezoid", y)
        same("trapezoid", y, dx=4)
        assert np.array_equal(y, kept, equal_nan=True)
    same("trapezoid", [1, 2, 3])
    same("trapezoid", [1, 2], axis=3)


def test_interp():
    rng = np.random.default_rng(14)
    xp = np.sort(rng.random(8))
    for fp in (rng.random(8), rng.random(8) + 1j, np.arange(8)):
        for options in ({}, {"left": -1, "right": 9.5}, {"period": 0.7}, {"period": -0.7}):
            same("interp", rng.random((3, 4)) * 2 - 0.5, xp, fp, tolerance=200, absolute=1e-12, **options)
    x = np.array([0.5, 1, 1.25, 2, 2.5, 3, 3.5, np.nan, np.inf, -np.inf, -0.0])
    kept, given = x.copy(), nd4c.asarray(x)
    for options in ({}, {"left": -1, "right": 9.5}):
        check(nd4c.numpy.interp(given, [1, 2, 3], [3, 5.5, -4], **options), np.interp(x, [1, 2, 3], [3, 5.5, -4], **options))
        assert np.array_equal(np.asarray(given), kept, equal_nan=True)
        same("interp", rng.random(3001) * 4, [1, 2, 3], [3, 5.5, -4], tolerance=200, absolute=1e-12, **options)
        for one in (0.5, 1.0, 1.75, 3.0, 3.5):
            same("interp", np.array(one), [1, 2, 3], [3, 5.5, -4], **options)
    same("interp", [1, 2.5, np.nan, np.inf, -np.inf], [1, 2, 3], [3, np.inf, 0])
    same("interp", 2, [1, 2, 3], [3, np.nan, 0])
    for xp, fp in itertools.product(([-np.inf, np.inf], [0, np.inf], [-np.inf, 1]), ([10, 10], [0, 10], [0, np.inf])):
        same("interp", [0.5, -1], xp, fp)
        same("interp", 0.5, xp, np.array(fp) + 1j)
    same("interp", [1.0, 2], [1], [3.0])
    for arguments in (([1], [], []), ([1], [1, 2], [1]), ([1], [[1]], [[1]])):
        same("interp", *arguments)
    same("interp", [1], [1, 2], [1, 2], period=0)


def test_unwrap():
    rng = np.random.default_rng(15)
    for dtype in ("float32", "float64", "int64"):
        p = make(rng, (3, 9), dtype, -20, 20)
        for axis in (0, 1, -1):
            same("unwrap", p, axis=axis, tolerance=200, absolute=1e-4)
            same("unwrap", p, period=4, axis=axis, tolerance=200, absolute=1e-4)
            same("unwrap", p, period=5, axis=axis, discont=3, tolerance=200, absolute=1e-4)
    same("unwrap", [0, 1, 2, -1, 0], period=4)


# -- NaN -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"])
def test_nan_reductions(name):
    rng = np.random.default_rng(16)
    for dtype, shape in itertools.product(EVERY, ((), (5,), (3, 4), (2, 3, 4))):
        a = with_nan(rng, shape, dtype)
        if a.dtype.kind in "fc" and a.ndim > 1:
            a[0] = np.nan
        for axis, keepdims in itertools.product(axes_of(a.ndim), (False, True)):
            same(name, a, axis, keepdims=keepdims, tolerance=60, absolute=1e-4)
            initial = {"initial": 3} if name in ("nanmax", "nanmin") else {}
            initial["where"] = rng.random(shape) < 0.7
            same(name, a, axis, keepdims=keepdims, **initial, tolerance=60, absolute=1e-4)
        if name in ("nanvar", "nanstd"):
            for ddof in (1, 2.5, 4):
                same(name, a, -1 if a.ndim else None, ddof=ddof, tolerance=60, absolute=1e-4)
    same(name, [np.nan, np.nan])
    same(name, np.zeros((0, 3)), 1, **CLOSE)


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_nan_places(name):
    rng = np.random.default_rng(17)
    for dtype, shape in itertools.product(EVERY, ((5,), (3, 8), (2, 3, 8))):
        a = with_nan(rng, shape, dtype, 0.1)
        for axis, keepdims in itertools.product((None, 0, -1), (False, True)):
            same(name, a, axis, keepdims=keepdims)
    same(name, [[np.nan, 1], [np.nan, np.nan]], 1)
    same(name, [])
    same(name, [np.nan, -np.inf, np.inf])


def test_dtypes_of_means_without_nan():
    for name in ("nanmean", "nanvar", "nanstd"):
        same(name, np.array([1.0, 2]), dtype="int64")
        same(name, np.array([1, 2]), dtype="float32", tolerance=2)
        with pytest.raises(TypeError, match=name):
            function(name)([1.0, 2.0], out=nd4c.zeros((), dtype="int64"))

"""Polynomials and windows of nd4c.numpy against NumPy."""
import itertools

import numpy as np
import pytest
from numpy_twin import same
from values import check

import nd4c
import nd4c.numpy as xp

LISTS = ([1, 2, 3], [0, 0, 1, 5], [2.5], [0], [1, 0, -3.5, 2], [1j, 2, 0, 1])


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul", "polydiv"])
def test_arithmetic(name):
    for a, b in itertools.product(LISTS, LISTS):
        if name != "polydiv" or b not in ([0], [0, 0, 1, 5]):
            same(name, np.array(a), np.array(b), tolerance=8, absolute=1e-12)
    assert isinstance(getattr(xp, name)(xp.poly1d([1, 2]), [1, 2]), xp.poly1d) or name == "polydiv"


def test_values_roots_and_calculus():
    x = np.linspace(-2, 2, 7)
    for p in LISTS:
        same("polyval", np.array(p), x, tolerance=8, absolute=1e-12)
        same("polyval", np.array(p), 3)
        for dtype in ("int16", "float16", "float32", "float64", "complex64"):
            for values in ([-2.0, 0.5, 3], [[1, 2], [3, 4]], []):
                same("polyval", np.array(p), np.array(values).astype(dtype), tolerance=8, absolute=1e-12)
                if np.array(p).dtype.kind != "c":
                    same("polyval", np.array(p, dtype), np.array(values).astype(dtype), tolerance=8, absolute=1e-12)
        same("polyder", np.array(p))
        same("polyder", np.array(p), 2)
        same("polyint", np.array(p))
        same("polyint", np.array(p), 3, [1, 2, 3], tolerance=2)
    for zeros in ([1, 2, 3], [0, 0, 2], [1 + 1j, 1 - 1j], [1j, 2], [], [-0.5]):
        same("poly", np.array(zeros), tolerance=8, absolute=1e-12)
        p = np.atleast_1d(np.poly(zeros))
        got, wanted = xp.roots(p), np.roots(p)
        assert got.dtype.name == wanted.dtype.name
        np.testing.assert_allclose(np.sort_complex(np.asarray(got)), np.sort_complex(wanted), atol=1e-7)
    same("poly", np.array([[2.0, 1], [1, 3]]), tolerance=64)
    for arguments in (("polyint", [1, 2], -1), ("polyder", [1, 2], -1), ("poly", np.ones((2, 3))),
                      ("roots", np.ones((2, 2))),
                      ("polyint", [1, 2], 3, [1, 2])):
        same(*arguments)


def test_values_beside_numbers_that_are_not_finite():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, -1e-308])
    kept = x.copy()
    for p in ([-0.0], [0.0], [2.0], [1.0, -3.0, 2.0], [np.inf, 1.0], [1.0, np.nan]):
        same("polyval", np.array(p), x)
        given = nd4c.asarray(x)
        with np.errstate(all="ignore"):
            got, wanted = np.asarray(xp.polyval(p, given)), np.polyval(p, x)
        numbers = ~np.isnan(wanted)
        assert np.array_equal(np.signbit(got)[numbers], np.signbit(wanted)[numbers])
        assert np.array_equal(np.asarray(given), kept, equal_nan=True)      # no result is in x's place


def test_fits():
    rng = np.random.default_rng(1)
    x, y = np.linspace(0, 3, 9), rng.normal(size=9)
    for degree in (0, 1, 3):
        same("polyfit", x, y, degree, absolute=1e-9)
        same("polyfit", x, np.stack([y, 2 * y], 1), degree, absolute=1e-9)
        same("polyfit", x, y, degree, w=np.arange(1.0, 10), absolute=1e-9)
    for cov in (True, "unscaled"):
        got, wanted = xp.polyfit(x, y, 2, cov=cov), np.polyfit(x, y, 2, cov=cov)
        for one, other in zip(got, wanted):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-8, atol=1e-10)
    got, wanted = xp.polyfit(x, y, 2, full=True), np.polyfit(x, y, 2, full=True)
    for one, other in zip(got, wanted):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-8, atol=1e-10)
    for arguments in (([1, 2], [1, 2], -1), ([[1]], [1], 1), ([1, 2], [1], 1), ([], [], 1)):
        same("polyfit", *arguments)


def test_poly1d():
    p, q = xp.poly1d([1, 2, 3]), np.poly1d([1, 2, 3])
    assert repr(p) == repr(q) and len(p) == len(q) == 2 and p.variable == "x"
    assert p == xp.poly1d([0, 1, 2, 3]) and p != xp.poly1d([1])
    for operation in (lambda p: p(2), lambda p: p * p, lambda p: p + 1, lambda p: 2 - p, lambda p: p ** 3, lambda p: -p,
                      lambda p: p / 2,
                      lambda p: p.deriv(), lambda p: p.integ(k=1), lambda p: p(p), lambda p: (p * p) / p,
                      lambda p: p[1], lambda p: p[9],
                      lambda p: p.c, lambda p: p.o):
        got, wanted = operation(p), operation(q)
        for one, other in zip(*(part if isinstance(part, tuple) else (part,) for part in (got, wanted))):
            np.testing.assert_allclose(np.asarray(getattr(one, "coeffs", one)), getattr(other, "coeffs", other))
    p[4] = 7
    check(p.coeffs, np.array([7, 0, 1, 2, 3]))
    for coefficients in ([1, 2, 3], [1, 0, 3.5, -2], [0], [1], [1, 0], [-1, -2], [1j, 2 + 3j, 1], list(range(1, 30)),
                         [1.23456789, 1e9, 2]):
        assert str(xp.poly1d(coefficients)) == str(np.poly1d(coefficients))
        assert str(xp.poly1d(coefficients, variable="z")) == str(np.poly1d(coefficients, variable="z"))
    check(xp.poly1d([2, 3], r=True).coeffs, np.array([1.0, -5, 6]))
    with pytest.raises(AttributeError, match="coeffs cannot be set"):
        p.coeffs = nd4c.asarray([1])
    with pytest.raises(ValueError, match="non-negative"):
        p ** -1
    with pytest.raises(ValueError, match="negative powers"):
        p[-1] = 2


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    for points in (-1, 0, 1, 2, 3, 8, 25, 5.5):
        same(name, points, tolerance=4, absolute=1e-15)
    with pytest.raises(TypeError, match="number of points"):
        getattr(xp, name)([1, 2])


def test_kaiser_i0_sinc():
    for points, beta in itertools.product((0, 1, 2, 9), (0.0, 4, 14.5)):
        same("kaiser", points, beta, tolerance=64, absolute=1e-15)
    same("i0", np.linspace(-20, 20, 41), tolerance=64)
    same("i0", np.arange(4), tolerance=2)
    for x in (np.linspace(-3, 3, 13), np.arange(-2, 3), np.array([0, 0.5 + 1j])):
        same("sinc", x, tolerance=16, absolute=1e-15)
    with pytest.raises(TypeError, match="complex"):
        xp.i0([1j])


# -- numpy.polynomial: the lowest power first ------------------------------------------------------------------------

SERIES = (([1, 2, 3], {}), ([1, -2, 3.5], {"domain": [0, 4]}), ([1, 2], {"domain": [-2, 2], "window": [-1, 1]}),
          ([2], {}))


@pytest.mark.parametrize("coefficients, named", SERIES)
def test_polynomial_class(coefficients, named):
    p, q = xp.polynomial.Polynomial(coefficients, **named), np.polynomial.Polynomial(coefficients, **named)
    assert repr(p) == repr(q) and str(p) == str(q) and len(p) == len(q) and p == p.copy() and p.degree() == q.degree()
    for operation in (lambda p: p(1.5), lambda p: p.deriv(), lambda p: p.integ(2, k=[1, 2], lbnd=1), lambda p: p * p,
                      lambda p: p ** 3 // p,
                      lambda p: p.roots(), lambda p: p.convert(), lambda p: p + 1, lambda p: 2 - p,
                      lambda p: p.linspace(5)[1],
                      lambda p: p / 2, lambda p: (p ** 2)(p), lambda p: p % [1, 1], lambda p: p.trim(),
                      lambda p: p.truncate(1), lambda p: -p):
        got, wanted = operation(p), operation(q)
        np.testing.assert_allclose(np.asarray(getattr(got, "coef", got)), getattr(wanted, "coef", wanted), atol=1e-9)
    other = xp.polynomial.Polynomial(coefficients, domain=[7, 9])
    with pytest.raises(TypeError, match="Domains differ"):
        p + other
    with pytest.raises(TypeError, match="true division"):
        p / p


def test_polynomial_is_fitted():
    x = np.linspace(0, 3, 8)
    for degree in (3, [0, 2]):
        got, wanted = xp.polynomial.Polynomial.fit(x, np.sin(x), degree), np.polynomial.Polynomial.fit(x, np.sin(x), degree)
        np.testing.assert_allclose(np.asarray(got.coef), wanted.coef, atol=1e-12)
    np.testing.assert_allclose(np.asarray(xp.polynomial.Polynomial.fromroots([1, 2, 3]).coef), [-6, 11, -6, 1])
    with pytest.raises(AttributeError, match="power series only"):
        xp.polynomial.Chebyshev


X, C = np.linspace(0, 3, 8), np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("name, arguments", [
    ("polyval", (X, C)), ("polyval2d", (X, X + 1, C)), ("polygrid2d", (X, X + 1, C)), ("polyint", (C, 2)),
    ("polyder", (C,)),
    ("polyder", (C, 1, 2, 1)), ("polyval", (X[:3], C, False)), ("polycompanion", ([1, 2, 3],)), ("polyvander", (X, 3)),
    ("polyadd", ([1, 2], [1, 2, 3])), ("polysub", ([1, 2], [1, 2])), ("polymul", ([1, 2, 0], [3, 4])),
    ("polydiv", ([1, 2, 3], [1, 2])),
    ("polydiv", ([1], [1, 2])), ("polypow", ([1, 2], 3)), ("polyfromroots", ([1, 2],)), ("polyroots", ([6, -5, 1],)),
    ("polymulx", ([1, 2],)),
    ("polytrim", ([1, 2, 0],)), ("polyline", (1, 2)), ("polyfit", (X, np.cos(X), 2)),
    ("polyfit", (X, np.cos(X), 2, None, False, X)),
    ("polyint", ([1, 2], 1, 3, 1)), ("polyval3d", (X, X, X, np.arange(8.0).reshape(2, 2, 2)))])
def test_functions_of_series(name, arguments):
    wanted = getattr(np.polynomial.polynomial, name)(*arguments)
    got = getattr(xp.polynomial.polynomial, name)(*[nd4c.asarray(one) if isinstance(one, np.ndarray) else one
                                                    for one in arguments])
    for one, other in zip(*(part if isinstance(part, tuple) else (part,) for part in (got, wanted))):
        assert one.shape == other.shape
        np.testing.assert_allclose(np.asarray(one), other, atol=1e-9)

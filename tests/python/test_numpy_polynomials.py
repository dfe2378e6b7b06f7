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
    for arguments in (("polyint", [1, 2], -1), ("polyder", [1, 2], -1), ("poly", np.ones((2, 3))), ("roots", np.ones((2, 2))),
                      ("polyint", [1, 2], 3, [1, 2])):
        same(*arguments)


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
    assert repr(p) == repr(q) and len(p) == len(q) == 2 and p.variable == "x" and p == xp.poly1d([0, 1, 2, 3]) and p != xp.poly1d([1])
    for operation in (lambda p: p(2), lambda p: p * p, lambda p: p + 1, lambda p: 2 - p, lambda p: p ** 3, lambda p: -p, lambda p: p / 2,
                      lambda p: p.deriv(), lambda p: p.integ(k=1), lambda p: p(p), lambda p: (p * p) / p, lambda p: p[1], lambda p: p[9],
                      lambda p: p.c, lambda p: p.o):
        got, wanted = operation(p), operation(q)
        for one, other in zip(*(part if isinstance(part, tuple) else (part,) for part in (got, wanted))):
            np.testing.assert_allclose(np.asarray(getattr(one, "coeffs", one)), getattr(other, "coeffs", other))
    p[4] = 7
    check(p.coeffs, np.array([7, 0, 1, 2, 3]))
    for coefficients in ([1, 2, 3], [1, 0, 3.5, -2], [0], [1], [1, 0], [-1, -2], [1j, 2 + 3j, 1], list(range(1, 30)), [1.23456789, 1e9, 2]):
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

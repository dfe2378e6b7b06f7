"""Functions that make arrays, in nd4c and nd4c.numpy, against NumPy: values, dtypes, layouts, errors."""
import numpy
import pytest

import nd4c
import nd4c.numpy as np
from values import EVERY, REAL, check

SHAPES = (3, (), (0,), (2, 3), [2, 1, 4])


def errors(call, *kinds):
    """Both libraries refuse the call, with an exception of one of the kinds."""
    for library in (numpy, np):
        with pytest.raises(kinds):
            call(library)


@pytest.mark.parametrize("name", ("zeros", "ones", "empty"))
def test_shapes_and_dtypes(name):
    for shape in SHAPES:
        for dtype in (None, int, "f4", bool, complex, nd4c.int8):
            wanted = getattr(numpy, name)(shape, "int8" if dtype is nd4c.int8 else dtype)
            got = getattr(np, name)(shape, dtype)
            assert (got.shape, got.dtype.name) == (wanted.shape, wanted.dtype.name)
            if name != "empty":
                check(got, wanted)
    assert getattr(np, name)(shape=(2, 3), order="F").strides == (8, 16)
    errors(lambda xp: getattr(xp, name)(-1), ValueError)
    errors(lambda xp: getattr(xp, name)(2.5), TypeError)
    errors(lambda xp: getattr(xp, name)(2, order="K"), ValueError)
    errors(lambda xp: getattr(xp, name)(2, like=[1]), TypeError)


def test_full():
    for value in (7, 2.5, True, 1j, [1, 2, 3], numpy.float32(3)):
        for dtype in (None, "float32", complex):
            if dtype != "float32" or value != 1j:
                check(np.full((2, 3), value, dtype), numpy.full((2, 3), value, dtype))
    check(np.full(2, fill_value=3.7, dtype=int), numpy.full(2, 3.7, int))
    errors(lambda xp: xp.full(2, [1, 2, 3]), ValueError)
    errors(lambda xp: xp.full(2, 300, "int8"), OverflowError)


@pytest.mark.parametrize("name", ("zeros_like", "ones_like", "empty_like"))
def test_like(name):
    make, wanted = getattr(np, name), getattr(numpy, name)
    for dtype in EVERY:
        a = numpy.ones((2, 3), dtype)
        for order in "KACF":
            got, expected = make(nd4c.asarray(a.T), order=order), wanted(a.T, order=order)
            assert (got.shape, got.dtype.name, got.strides) == (expected.shape, expected.dtype.name, expected.strides)
    assert make([1, 2], shape=(4, 5), dtype="int16").shape == (4, 5)
    check(np.full_like([[1, 2]], 2.9), numpy.full_like([[1, 2]], 2.9))


def test_arange():
    for arguments in ((5,), (0,), (2, 9), (2, 9, 3), (9, 2, -2), (1.5,), (0, 1, 0.1), (-3, 3.0), (5, 2), (0, 10, 2.5)):
        check(np.arange(*arguments), numpy.arange(*arguments), tolerance=1)
        for dtype in REAL:
            if min(arguments) >= 0 and arguments != (0, 10, 2.5):
                check(np.arange(*arguments, dtype=dtype), numpy.arange(*arguments, dtype=dtype), tolerance=2)
    check(np.arange(stop=3), numpy.arange(stop=3))
    check(np.arange(start=3, stop=9), numpy.arange(start=3, stop=9))
    check(np.arange(numpy.int8(3)), numpy.arange(numpy.int8(3)))
    check(np.arange(numpy.float32(3)), numpy.arange(numpy.float32(3)))
    check(np.arange(2, dtype=bool), numpy.arange(2, dtype=bool))
    errors(lambda xp: xp.arange(0, 5, 0), ZeroDivisionError)
    errors(lambda xp: xp.arange(), TypeError)
    errors(lambda xp: xp.arange(start=4), TypeError)
    errors(lambda xp: xp.arange(5, dtype=bool), TypeError)
    errors(lambda xp: xp.arange(0, float("inf")), ValueError, OverflowError)


def test_linspace():
    for start, stop in ((0, 1), (1, -1), (2.5, 7), (0, 1j), ([0, 1], [2, 5]), (numpy.float32(0), 1), ([[1.5]], 2)):
        for num in (0, 1, 2, 7):
            for endpoint in (True, False):
                got, wanted = (xp.linspace(start, stop, num, endpoint, retstep=True) for xp in (np, numpy))
                check(got[0], wanted[0], absolute=1e-15, tolerance=2)
                numpy.testing.assert_allclose(numpy.asarray(got[1]), wanted[1], rtol=1e-6)
    for dtype in ("int32", "float32", "complex64", bool):
        check(np.linspace(0, 10, 7, dtype=dtype), numpy.linspace(0, 10, 7, dtype=dtype), tolerance=2)
    for axis in (0, 1, -1):
        check(np.linspace([0, 1], [2, 5], 4, axis=axis), numpy.linspace([0, 1], [2, 5], 4, axis=axis), tolerance=2)
    errors(lambda xp: xp.linspace(0, 1, -1), ValueError)
    errors(lambda xp: xp.linspace(0, 1, 2.5), TypeError)


def test_ratios():
    for start, stop in ((1, 1000), (-1, -8), (1, 256), (2.0, 0.5), (1j, 16j), ([1, 2], [10, 20])):
        for endpoint in (True, False):
            check(np.geomspace(start, stop, 5, endpoint), numpy.geomspace(start, stop, 5, endpoint), absolute=1e-12,
                  tolerance=16)
    for base in (10.0, 2, [2, 3]):
        check(np.logspace(0, 3, 4, base=base), numpy.logspace(0, 3, 4, base=base), tolerance=8)
    check(np.geomspace(1, 64, 4, dtype=int), numpy.geomspace(1, 64, 4, dtype=int))
    check(np.logspace(0, [1, 2], 3, axis=1), numpy.logspace(0, [1, 2], 3, axis=1), tolerance=8)
    errors(lambda xp: xp.geomspace(0, 1), ValueError)
    errors(lambda xp: xp.logspace(0, 1, -1), ValueError)


def test_matrices():
    a = numpy.arange(12).reshape(3, 4)
    for k in (-4, -1, 0, 1, 5):
        for name in ("tril", "triu", "diag"):
            for x in (a, a[0]) if name != "diag" or abs(k) < 4 else (a[0],):
                check(getattr(np, name)(x, k), getattr(numpy, name)(x, k))
        check(np.tri(3, 4, k), numpy.tri(3, 4, k))
        check(np.eye(3, 4, k, int), numpy.eye(3, 4, k, int))
        check(np.tril_indices(3, k, 4), numpy.tril_indices(3, k, 4))
        check(np.triu_indices(3, k, 4), numpy.triu_indices(3, k, 4))
        check(np.triu_indices_from(a, k), numpy.triu_indices_from(a, k))
        check(np.tril_indices_from(a, k), numpy.tril_indices_from(a, k))
    assert np.eye(3, 4, order="F").strides == (8, 24)
    check(np.diagflat(a, 1), numpy.diagflat(a, 1))
    check(np.identity(3, "f4"), numpy.identity(3, "f4"))
    check(np.mask_indices(3, np.triu, 1), numpy.mask_indices(3, numpy.triu, 1))
    for dtype in ("int8", "float32", "complex128", "bool"):
        for n in (None, 0, 1, 4):
            x = numpy.array([1, 2, 3], dtype)
            check(np.vander(x, n), numpy.vander(x, n))
            check(np.vander(x, n, increasing=True), numpy.vander(x, n, increasing=True))
    errors(lambda xp: xp.diag(xp.zeros((2, 2, 2))), ValueError)
    errors(lambda xp: xp.vander([[1]]), ValueError)
    errors(lambda xp: xp.triu_indices_from(xp.zeros(3)), ValueError)


def test_meshgrid():
    x, y, z = [1, 2, 3], [4.5, 5], [True]
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            for given in ((x,), (x, y), (x, y, z)):
                check(np.meshgrid(*given, indexing=indexing, sparse=sparse),
                      numpy.meshgrid(*given, indexing=indexing, sparse=sparse))
    held = nd4c.asarray([1, 2])
    np.meshgrid(held, held)[0][0, 0] = 9
    assert held.tolist() == [1, 2]
    np.meshgrid(held, held, copy=False)[0][0, 0] = 9
    assert held.tolist() == [9, 2]
    errors(lambda xp: xp.meshgrid(x, indexing="x"), ValueError)


def test_of_objects():
    a = numpy.arange(6.0).reshape(2, 3)
    mixed = ([numpy.arange(3), [1, 2, 3]], [numpy.float32(1), 2], [[numpy.int64(4), 5]], range(4), (1, 2.5), [True, 2],
             [a, a])
    for obj in mixed:
        check(np.array(obj), numpy.array(obj))
        check(np.asarray(obj, "float32"), numpy.asarray(obj, "float32"))
    check(np.array([nd4c.asarray(1), 2.5]), numpy.array([1, 2.5]))
    check(np.asarray([nd4c.ones(2), [1, 2]], dtype="int8"), numpy.array([[1, 1], [1, 2]], "int8"))
    check(np.array([1, 2], ndmin=3), numpy.array([1, 2], ndmin=3))
    for order in "CFAK":
        for x in (a, a.T, a[:, ::2]):
            for name in ("array", "copy"):
                got, wanted = (getattr(xp, name)(xp.asarray(x), order=order) for xp in (np, numpy))
                check(got, wanted)
                assert got.strides == wanted.strides or order in "AK" and not wanted.flags.forc
                assert not np.shares_memory(got, nd4c.asarray(x))
    check(np.ascontiguousarray(5), numpy.ascontiguousarray(5))
    assert np.asfortranarray(a).strides == (8, 16)
    assert np.require(a, requirements="F").strides == (8, 16)
    check(np.asarray_chkfinite([1, 2]), numpy.asarray([1, 2]))
    errors(lambda xp: xp.asarray_chkfinite([1, float("nan")]), ValueError)
    errors(lambda xp: xp.asarray([1, 2], copy=False), ValueError)
    errors(lambda xp: xp.array([[1, 2], [3]]), ValueError)
    errors(lambda xp: xp.array([numpy.arange(2), numpy.arange(3)]), ValueError)
    errors(lambda xp: xp.array({1}, dtype=float), TypeError)
    errors(lambda xp: xp.array((i for i in range(3)), dtype=int), TypeError)
    errors(lambda xp: xp.require([1], requirements=["C", "F"]), ValueError)
    errors(lambda xp: xp.require([1], requirements="Q"), KeyError)
    errors(lambda xp: xp.array([1, 2], copy="always"), ValueError)


def test_texts_become_numbers_as_by_astype():
    for texts, dtype in ((["1", "2.5", " 3 "], float), ([["1"], ["-2"]], int), ("7", "float32"), (("1", "2"), "int8")):
        for make in (lambda xp: xp.array(texts, dtype=dtype), lambda xp: xp.asarray(texts, dtype=dtype),
                     lambda xp: xp.array(texts).astype(dtype)):
            check(make(np), make(numpy))
    errors(lambda xp: xp.array(["1", "x"], dtype=float), ValueError)
    with pytest.raises(TypeError, match="texts do not mix with numbers; make all of them texts or numbers"):
        np.array(["1", 2], dtype=float)


def test_of_buffers_and_texts():
    data = bytes(range(48))
    for dtype in REAL:
        for offset, count in ((0, -1), (8, 2), (16, -1), (0, 0)):
            check(np.frombuffer(data, dtype, count, offset), numpy.frombuffer(data, dtype, count, offset))
    check(np.frombuffer(data, "int32", 3, 1), numpy.frombuffer(data, "int32", 3, 1))
    writable = bytearray(8)
    np.frombuffer(writable, "uint8")[0] = 7
    assert writable[0] == 7
    for text, sep in (("1 2 3", " "), ("1, 2,3,", ","), ("4;5", ";"), ("", ",")):
        check(np.fromstring(text, int, sep=sep), numpy.fromstring(text, int, sep=sep))
    check(np.fromstring("1.5 2", sep=" ", count=1), numpy.fromstring("1.5 2", sep=" ", count=1))
    check(np.fromiter(range(5), "int16", 3), numpy.fromiter(range(5), "int16", 3))
    check(np.fromiter((), float), numpy.fromiter((), float))
    check(np.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype="int32"),
          numpy.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype="int32"))
    errors(lambda xp: xp.frombuffer(b"abc", "int16"), ValueError)
    errors(lambda xp: xp.frombuffer(b"abcd", "int16", 3), ValueError)
    errors(lambda xp: xp.frombuffer(b"abcd", "int16", offset=9), ValueError)
    errors(lambda xp: xp.fromiter(range(2), int, 5), ValueError)

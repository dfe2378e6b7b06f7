"""Random arrays for both libraries, and how their results are compared: integers and bools exactly, floats within ULPs."""
import numpy as np

import nd4c

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = INTEGERS + FLOATS
NUMERIC = REAL + COMPLEX
EVERY = ("bool",) + NUMERIC
SHAPES = ((), (1,), (7,), (0,), (3, 5), (2, 0, 3), (2, 3, 4), (1, 4, 1, 2), (33,), (17, 19))


def make(rng, shape, dtype, low=None, high=None):
    """Random numbers; integers of all of a small range, floats between low and high (default -4 and 4)."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        first = (0 if dtype.kind == "u" else -9) if low is None else int(low)
        return np.asarray(rng.integers(first, 10 if high is None else int(high) + 1, shape), dtype)
    span = (-4.0 if low is None else low, 4.0 if high is None else high)
    if dtype.kind == "c":
        return np.asarray(rng.uniform(*span, shape) + 1j * rng.uniform(*span, shape), dtype)
    return np.asarray(rng.uniform(*span, shape), dtype)


def views(rng, a):
    """The array, and others with the same values and other layouts in memory."""
    yield a
    if a.ndim:
        doubled = np.zeros(tuple(2 * n + 1 for n in a.shape), a.dtype)
        cut = doubled[tuple(slice(1, 2 * n + 1, 2) for n in a.shape)]
        cut[...] = a
        yield cut
        yield np.ascontiguousarray(a[::-1])[::-1]
    if a.ndim > 1:
        yield np.ascontiguousarray(a.T).T


def ulps(got, wanted):
    """Largest distance in units in the last place of the wanted numbers; exact where both are not finite."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    if wanted.dtype.kind == "c":
        # Relative to the modulus, because a complex function may lose precision in the smaller part.
        scale = np.spacing(np.maximum(np.abs(wanted), np.finfo(wanted.dtype).tiny))
        difference = np.abs(got.astype("c16") - wanted.astype("c16"))
    else:
        scale = np.spacing(np.maximum(np.abs(wanted), np.finfo(wanted.dtype).tiny))
        difference = np.abs(got.astype("f8") - wanted.astype("f8"))
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        distance = np.where(same, 0, difference / scale)
    return 0 if not distance.size else float(np.max(np.where(np.isnan(distance), np.inf, distance)))


def check(got, wanted, tolerance=0.0, dtype=True, absolute=0.0):
    """An nd4c result against NumPy's: shape, dtype, values."""
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            check(one, other, tolerance, dtype, absolute)
        return
    wanted = np.asarray(wanted)
    assert type(got) is nd4c.Array, type(got)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    if dtype:
        assert got.dtype.name == wanted.dtype.name, (got.dtype, wanted.dtype)
    numbers = np.asarray(got)
    if wanted.dtype.kind in "biu":
        np.testing.assert_array_equal(numbers, wanted)
    elif absolute and np.allclose(numbers, wanted, rtol=0.0, atol=absolute, equal_nan=True):
        return
    else:
        worst = ulps(numbers, wanted)
        assert worst <= tolerance, "%s ulp, at most %s expected\n%.300s\n%.300s" % (worst, tolerance, numbers, wanted)


def axes_of(ndim):
    """Axis arguments of an array of ndim axes."""
    yield None
    for axis in range(-ndim, ndim):
        yield axis
    if ndim > 1:
        yield (0, ndim - 1)
        yield tuple(range(ndim))

"""The native core's fast forms give what the Python functions behind them give."""
import inspect
import pickle

import numpy as np
import pytest

import nd4c
from nd4c._arrays import fast as _fast
from same import check

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_of_numpy_share_their_memory(name):
    whole = np.arange(24).reshape(4, 6).astype(name)
    for part in (whole, whole[::2], whole[:, ::-1], whole.T, whole[1:1], whole[0, 0:1].reshape(()), whole[1], whole[None]):
        x = nd4c.asarray(part)
        check(x, part)
        assert x.dtype == name and x.shape == part.shape
        if part.size:
            assert np.shares_memory(np.asarray(x), part)
    x = nd4c.asarray(whole)
    x[0, 0] = True
    assert whole[0, 0] == 1


def test_layouts_that_are_not_nd4cs_are_copied_or_refused():
    whole = np.arange(6, dtype=">i4")
    check(nd4c.asarray(whole), whole.astype("i4"))
    packed = np.zeros(3, dtype=[("a", "i1"), ("b", "f8")])["b"]
    packed[...] = [1, 2, 3]
    assert nd4c.asarray(packed).tolist() == [1, 2, 3]
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        nd4c.asarray(frozen)[0] = 1
    with pytest.raises(TypeError, match="datetime64"):
        nd4c.asarray(np.zeros(2, dtype="M8[s]"))


@pytest.mark.parametrize("name", DTYPES)
def test_lists_and_copies(name):
    whole = (np.arange(24) % 5).reshape(2, 3, 4).astype(name)
    for part in (whole, whole[:, ::2], whole.T, whole[0], whole[:0], whole[:, :0], whole[0, 0, 0:1], whole[1, 2, 3:].reshape(())):
        x = nd4c.asarray(part)
        made = x.tolist()
        assert made == part.tolist() and repr(made) == repr(part.tolist())
        copied = x.copy()
        check(copied, part)
        if part.size:
            assert not np.shares_memory(np.asarray(copied), part)
    assert whole[0, 0, 0:1].tolist()[0] == nd4c.asarray(whole)[0, 0, 0].item()


@pytest.mark.parametrize("name", DTYPES)
def test_few_elements_by_a_mask(name):
    rng = np.random.default_rng(5)
    for size in (0, 1, 10, 255, 256, 257, 5000):
        values, mask = rng.integers(0, 100, size).astype(name), rng.random(size) < 0.4
        for a, m in ((values, mask), (values[::-1], mask), (values, np.zeros(size, bool)), (values, ~np.zeros(size, bool))):
            check(nd4c.asarray(a)[nd4c.asarray(m)], a[m])


def test_making():
    for shape in (3, (3,), (2, 0), (), (2, 3, 4)):
        check(nd4c.zeros(shape), np.zeros(shape))
        assert nd4c.empty(shape).shape == np.empty(shape).shape
        for name in ("int8", "float32", "complex64"):
            check(nd4c.zeros(shape, dtype=getattr(nd4c, name)), np.zeros(shape, name))
            check(nd4c.zeros(shape, dtype=name), np.zeros(shape, name))
    for stop in (0, 1, 10, 10 ** 4, 70001):
        check(nd4c.arange(stop), np.arange(stop))
        for name in ("float32", "float64", "int64", "int16" if stop < 2 ** 15 else "int32"):
            check(nd4c.arange(stop, dtype=getattr(nd4c, name)), np.arange(stop, dtype=name))
    check(nd4c.arange(-3), np.arange(-3))
    for wrong in (lambda: nd4c.zeros(-1), lambda: nd4c.zeros((2, -1)), lambda: nd4c.zeros("a"), lambda: nd4c.zeros(2 ** 70),
                  lambda: nd4c.arange(2 ** 70), lambda: nd4c.zeros((1,) * 40), lambda: nd4c.arange("a")):
        with pytest.raises((ValueError, TypeError, OverflowError, MemoryError)):
            wrong()


def test_they_look_like_the_functions_behind_them():
    for name in _fast.FUNCTIONS:
        function = getattr(nd4c, name)
        assert "Shapes:" in function.__doc__ and inspect.signature(function).parameters
        assert pickle.loads(pickle.dumps(function)) is function
    for name in _fast.METHODS:
        assert list(inspect.signature(getattr(nd4c.Array, name)).parameters)[0] == "self" and getattr(nd4c.Array, name).__doc__


def test_elements_do_not_change_with_the_array():
    for whole in (np.arange(4), np.arange(6.0).reshape(2, 3), np.arange(4).astype("int8")[::-1]):
        x, a = nd4c.asarray(whole), whole.copy()
        for i, j in ((0, 1), (-1, 0)):
            i, j = ((i,) * whole.ndim, (j,) * whole.ndim) if whole.ndim > 1 else (i, j)
            x[i], x[j] = x[j], x[i]
            a[i], a[j] = a[j], a[i]
        assert x.tolist() == a.tolist()
    x = nd4c.arange(3)
    first, view, rest = x[0], x[0, ...], list(x)
    x[0] = 9
    assert (int(first), int(view), [int(one) for one in rest]) == (0, 9, [0, 1, 2])
    for wrong in (3, -4, 2 ** 70, (0, 0)):
        with pytest.raises(IndexError):
            x[wrong]


@pytest.mark.parametrize("name", DTYPES)
def test_assignment_converts_numbers(name):
    for value in (1, 0, True, 2.75, np.float32(1.5), np.array([0.0, 1.0, 2.9]), nd4c.asarray([1, 0, 3], dtype="int16")):
        a, x = np.zeros(3, name), nd4c.zeros(3, dtype=name)
        a[...] = np.asarray(value)
        x[...] = value
        check(x, a)
    if not name.startswith("complex"):
        with pytest.raises(TypeError):
            nd4c.zeros(3, dtype=name)[0] = 1j
    with pytest.raises(TypeError):
        nd4c.zeros(3, dtype=name)[0] = "a"

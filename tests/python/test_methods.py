"""Methods that NumPy's arrays also have."""
import operator
import sys

import numpy as np
import pytest

import nd4c


def same(mine, theirs):
    """Equal elements, shape and dtype."""
    theirs = np.asarray(theirs)
    assert type(mine) is nd4c.Array and mine.shape == theirs.shape and mine.dtype == theirs.dtype, (mine, theirs)
    np.testing.assert_array_equal(np.asarray(mine), theirs)


a = np.arange(1.0, 7.0).reshape(2, 3)
x = nd4c.asarray(a)


@pytest.mark.parametrize("name", "sum prod mean min max std var argmax argmin any all".split())
def test_reductions(name):
    for axis in (None, 0, -1):
        np.testing.assert_allclose(np.asarray(getattr(x, name)(axis)), getattr(a, name)(axis))
        np.testing.assert_allclose(np.asarray(getattr(x, name)(axis=axis, keepdims=True)),
                                   getattr(a, name)(axis=axis, keepdims=True))


def test_shapes_and_dtypes():
    assert x.reshape(3, 2).shape == x.reshape((3, -1)).shape == (3, 2) and x.flatten().shape == (6,)
    assert x.astype(nd4c.int64).dtype == nd4c.int64
    copied = x.copy()
    copied[0, 0] = 9.0
    assert float(x[0, 0]) == 1.0


def test_ops_take_axis_as_the_standard_does():
    assert nd4c.nansum(x, axis=0).tolist() == [5.0, 7.0, 9.0]
    assert nd4c.median(x, axis=(0, 1)).tolist() == 3.5
    assert nd4c.diff(x, 2).tolist() == [[0.0], [0.0]]
    with pytest.raises(TypeError):
        nd4c.nansum(x, axis="first")


@pytest.mark.parametrize("combine", [operator.add, operator.eq, operator.ne, operator.lt, operator.matmul])
@pytest.mark.parametrize("other", [np.ones(3), [1.0, 1.0, 1.0], (1.0, 1.0, 1.0), range(3)])
def test_lists_and_numpy_arrays_are_operands(combine, other):
    mine, theirs = nd4c.arange(3.0), np.arange(3.0)
    same(combine(mine, other), combine(theirs, other))
    same(combine(other, mine), combine(other, theirs))


def test_in_place_with_lists_and_numpy_arrays():
    for other in ([1, 2, 3], (1, 2, 3), np.asarray([1, 2, 3])):
        mine = kept = nd4c.ones(3, dtype="float32")
        mine += other
        assert mine is kept
        same(mine, np.asarray([2, 3, 4], dtype="float32"))


class Tensor:
    """As another library's tensor: it shares its memory, and knows nothing of other libraries' operators."""
    def __dlpack__(self, **named):
        return np.ones(3).__dlpack__(**named)


@pytest.mark.parametrize("combine", [operator.add, operator.eq, operator.lt, operator.iadd, operator.matmul])
def test_other_libraries_tensors_are_refused_by_name(combine):
    with pytest.raises(TypeError, match=r"not with Tensor; nd4c\.asarray\(\)"):
        combine(nd4c.ones(3), Tensor())


def test_what_is_no_array_is_left_to_its_class():
    class Other:
        def __radd__(self, array):
            return "mine"

        def __eq__(self, array):
            return "equal"
    ones = nd4c.ones(3)
    assert ones + Other() == "mine" and (ones == Other()) == "equal"


def test_nothing_and_texts_equal_no_number():
    ones, words = nd4c.ones((2, 2)), nd4c.asarray(["a", "b"])
    for got, wanted in ((ones == None, False), (ones != None, True), (None == ones, False), (ones == "a", False),  # noqa: E711
                        (ones != "a", True), (words == None, False)):  # noqa: E711
        assert got.dtype is nd4c.bool and set(nd4c.reshape(got, (-1,)).tolist()) == {wanted}
    assert (words == "a").tolist() == [True, False] and (words == ["b", "b"]).tolist() == [False, True]


def test_integers_out_of_the_dtype_compare():
    x = nd4c.asarray([-128, 127], dtype="int8")
    for number in (300, -300, 2 ** 70):
        for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
            assert compare(x, number).tolist() == [compare(one, number) for one in (-128, 127)]
            assert compare(number, x).tolist() == [compare(number, one) for one in (-128, 127)]


def test_integers_to_negative_powers():
    i = nd4c.asarray([1, 2, 3])
    for power in (lambda: i ** -1, lambda: i ** nd4c.asarray([1, -1, 2]), lambda: i.__ipow__(-2), lambda: 2 ** -i,
                  lambda: nd4c.pow(i, -1), lambda: nd4c.pow(i, [-1])):
        with pytest.raises(ValueError, match="negative integer powers"):
            power()
    assert i.tolist() == [1, 2, 3] and (2 ** i).tolist() == [2, 4, 8] and (i ** -1.0).tolist() == [1, 1 / 2, 1 / 3]
    assert (i ** nd4c.asarray([2, 0, 1])).tolist() == [1, 1, 3]


def test_choice_takes_a_chance_for_each():
    for x in (3, nd4c.arange(3)):
        with pytest.raises(ValueError, match=r"\(2,\), expected \(3,\)"):
            nd4c.random.choice(x, 2, p=[0.5, 0.5])


@pytest.mark.parametrize("call, text", [
    (lambda: nd4c.irfft(nd4c.ones((3, 3)), norm=3.5), "irfft: norm: expected one of 'backward', .*, got 3.5"),
    (lambda: nd4c.ops.histogram_bin_edges(x, range=["a", 1]), r"histogram_bin_edges: range: expected numbers, got \['a', 1\]"),
    (lambda: nd4c.ops.leaky_relu(x, alpha="a"), "leaky_relu: alpha: expected a number, got 'a'"),
    (lambda: nd4c.ops.transpose(x, axes=["a"]), r"transpose: axes: expected a tuple of integers, got \('a',\)")])
def test_attributes_of_another_type(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_sizes_and_axes_out_of_range():
    with pytest.raises(ValueError, match="axes"):
        nd4c.tensordot(x, x, axes=2 ** 31)
    with pytest.raises(MemoryError, match="bytes|too large|memory"):
        nd4c.random.permutation(2 ** 40)


def test_methods_of_what_is_no_array():
    for name, arguments in (("__add__", (6,)), ("__radd__", (6,)), ("__iadd__", (6,)), ("__neg__", ()), ("__eq__", (6,)),
                            ("__getitem__", (6,)), ("__setitem__", (0, 6))):
        with pytest.raises((TypeError, AttributeError)):
            getattr(nd4c.Array, name)(5, *arguments)


def test_sizes_that_overflow():
    for built_in in (OverflowError, ValueError, nd4c.Error):
        with pytest.raises(built_in):
            nd4c.zeros((2 ** 62, 4))


def both(make):
    """The result of a call on an array of nd4c and on NumPy's equal one."""
    theirs = np.arange(24.0).reshape(2, 3, 4)
    return make(nd4c.asarray(theirs.copy())), make(theirs.copy())


@pytest.mark.parametrize("call", [
    lambda x: x.T, lambda x: x.transpose(2, 0, 1), lambda x: x.transpose((0, 2, 1)), lambda x: x.swapaxes(0, 2),
    lambda x: x.reshape(4, -1), lambda x: x.ravel(), lambda x: x[:, ::2].flatten(), lambda x: x.astype("int8"), lambda x: x.clip(3, 9),
    lambda x: x.cumsum(1), lambda x: x.cumprod(0), lambda x: x.round(1), lambda x: x.dot(x[0, 0]), lambda x: x.diagonal(),
    lambda x: x.trace(), lambda x: x.repeat(2, 1), lambda x: x.take([1, 2], 1), lambda x: x.compress([True, False], 0),
    lambda x: x.argsort(0), lambda x: x.squeeze(), lambda x: x.view("int64"), lambda x: x[..., :2].copy().view("complex128"),
    lambda x: x.byteswap().view("uint64"), lambda x: x.real, lambda x: x.imag, lambda x: (x + 1j).imag, lambda x: (x * 2j)[::-1].imag,
    lambda x: x.conj(), lambda x: x.mean(axis=(0, 1)), lambda x: x.var(ddof=1), lambda x: x.sum(dtype="float32"),
    lambda x: x.max(axis=1, keepdims=True), lambda x: x.flat[3:9:2], lambda x: x.flat.copy(), lambda x: x == x.flat.base])
def test_methods_are_those_of_numpy(call):
    same(*both(call))


@pytest.mark.parametrize("change", [
    lambda x: x.fill(3), lambda x: x.sort(), lambda x: x.sort(axis=0), lambda x: x.put([0, 5], [7, 8]),
    lambda x: x.flat.__setitem__(slice(2, 9), [1, 2]), lambda x: x[:, ::2].flat.__setitem__(3, 99),
    lambda x: setattr(x, "flat", [1, 2, 3]), lambda x: setattr(x, "real", 4), lambda x: x.view("int64").fill(0),
    lambda x: x[::-1].sort(0), lambda x: x.byteswap(inplace=True).byteswap(True)])
def test_changes_in_place_are_those_of_numpy(change):
    def changed(x):
        assert change(x) is None or change is not None
        return x
    same(*both(changed))


def test_parts_of_complex_numbers_are_views():
    z = nd4c.asarray([1 + 2j, 3 + 4j])
    z.real[0], z.imag = 9, [7, 8]
    assert z.tolist() == [9 + 7j, 3 + 8j]


@pytest.mark.parametrize("call", [
    lambda x: x.item(5), lambda x: x.item(1, 2, 3), lambda x: x.item((0, 0, 1)), lambda x: x.tobytes(), lambda x: x.tobytes("F"),
    lambda x: x.itemsize, lambda x: x.nbytes, lambda x: x.strides, lambda x: x.T.flags.f_contiguous, lambda x: x.flags.c_contiguous,
    lambda x: x[:, ::2].flags["C_CONTIGUOUS"], lambda x: x.T.flags.fnc, lambda x: x.flags.writeable, lambda x: len(x.flat),
    lambda x: [float(one) for one in x.flat], lambda x: x.ctypes.shape[:], lambda x: x.ctypes.strides[:], lambda x: bool(x[0, 0, :1]),
    lambda x: hash(x[0, 0, 2]), lambda x: x.copy("F").flags.f_contiguous, lambda x: bytes(x.data), lambda x: x.astype(int).item(3)])
def test_plain_results_are_those_of_numpy(call):
    if nd4c._core.name != "native" and "data" in call.__code__.co_names and sys.version_info < (3, 12):
        pytest.skip("the ctypes core has buffers from Python 3.12 on")
    mine, theirs = both(call)
    assert mine == theirs


def test_elements_are_arrays_of_their_own():
    x, m = nd4c.arange(4), nd4c.ones((2, 2))
    x[0], x[1] = x[1], x[0]
    m[0, 0], m[1, 1] = nd4c.asarray(5.0), m[0, 0]
    assert x.tolist() == [1, 0, 2, 3] and m.tolist() == [[5, 1], [1, 1]]
    assert {int(one) for one in set(x)} == {0, 1, 2, 3} and {1: "one"}[x[0]] == "one" and hash(nd4c.asarray(2.5)) == hash(2.5)
    m[0, ..., 1][...] = 9
    assert m[0, 1] == 9
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_assignment_casts():
    i, b = nd4c.arange(4), nd4c.zeros(2, dtype=bool)
    i[0], i[1:3], b[0] = 1.7, [2.5, -3.5], 5
    assert i.tolist() == [1, 2, -3, 3] and b.tolist() == [True, False]
    for value, error in ((1j, TypeError), (float("nan"), ValueError), ("a", TypeError), (nd4c.ones(1) * 1j, TypeError)):
        with pytest.raises(error):
            i[0] = value


@pytest.mark.parametrize("call, error, text", [
    (lambda: x.sum(axis=7), ValueError, "sum: axis 7 is out of bounds for array of dimension 2"), (lambda: x.item(), ValueError, "item"),
    (lambda: x.item(99), IndexError, "item: index 99"), (lambda: x.resize(7), ValueError, "nd4c.numpy.resize"),
    (lambda: x.view("complex128"), ValueError, "divisor"), (lambda: x.view("utf8"), TypeError, "view"),
    (lambda: x.transpose(0, 0), ValueError, "repeated"), (lambda: x.astype("int8", casting="safe"), TypeError, "Cannot cast"),
    (lambda: x.setflags(write=False), ValueError, "WRITEABLE"), (lambda: x.flags["Z"], KeyError, "flags"),
    (lambda: nd4c.asarray(b"321").sort(), ValueError, "read-only"), (lambda: x.T.byteswap(3, 4), TypeError, "byteswap")])
def test_errors_of_methods(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_arrays_without_axes_do_not_change_in_place():
    """As NumPy's scalars: names that shared one before stay as they were."""
    t, kept = nd4c.zeros(()), []
    for _ in range(3):
        t += 0.5
        kept.append(t)
    assert [float(one) for one in kept] == [0.5, 1.0, 1.5]
    best = loss = nd4c.arange(3.0).sum()
    loss *= 2
    loss -= 1
    loss /= 2
    loss **= 2
    assert float(best) == 3.0 and float(loss) == 6.25
    x = nd4c.arange(3.0)
    view = x[:]
    view += 1
    assert x.tolist() == [1, 2, 3]


def test_lists_are_repeated_by_an_element():
    n = nd4c.asarray([2, 3]).max()
    assert [0] * n == [0, 0, 0] and n * (1, 2) == (1, 2) * 3 and [None] * n == [None] * 3 and "ab" * n == "ababab"
    assert (nd4c.asarray(2.5) * [1, 2]).tolist() == [2.5, 5.0] and (nd4c.asarray([1, 2]) * [3, 4]).tolist() == [3, 8]

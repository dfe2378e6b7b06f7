"""Methods that NumPy's arrays also have."""
import operator

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
    (lambda: nd4c.ops.transpose(x, axes=["a"]), r"transpose: axes: expected integers, got \('a',\)")])
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

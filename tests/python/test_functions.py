"""Creation, shapes, searching, sorting, sets, reductions against NumPy: shapes, dtypes, axes, views."""
import itertools

import numpy as np
import pytest
from values import EVERY, FLOATS, INTEGERS, NUMERIC, REAL, SHAPES, axes_of, check, make, views

import nd4c

LARGE = [shape for shape in SHAPES if 0 not in shape]


def wide(dtype):
    return np.dtype({"i": "int64", "u": "uint64", "b": "int64"}.get(np.dtype(dtype).kind, dtype))


# -- creation ---------------------------------------------------------------------------------------------------------

def test_filled():
    for dtype in EVERY:
        for shape in SHAPES:
            check(nd4c.zeros(shape, dtype=dtype), np.zeros(shape, dtype))
            check(nd4c.ones(shape, dtype=dtype), np.ones(shape, dtype))
            check(nd4c.full(shape, 1, dtype=dtype), np.full(shape, 1, dtype))
            x = nd4c.empty(shape, dtype=dtype)
            assert x.shape == shape and x.dtype.name == dtype
            check(nd4c.zeros_like(x), np.zeros(shape, dtype))
            check(nd4c.ones_like(x), np.ones(shape, dtype))
            check(nd4c.full_like(x, 1), np.ones(shape, dtype))
            assert nd4c.empty_like(x).shape == shape
    for value in (True, 3, 2.5, 1j):
        check(nd4c.full(3, value), np.full(3, value))
    check(nd4c.full((2,), 2 ** 63 + 1, dtype="uint64"), np.full(2, 2 ** 63 + 1, "uint64"))


def test_arange():
    for arguments in ((5,), (2, 9), (2, 9, 3), (9, 2, -2), (5, 5), (0,), (-3, 3), (1.5,), (0.5, 4.0, 0.25), (3, 1)):
        check(nd4c.arange(*arguments), np.arange(*arguments))
    for dtype in REAL:
        check(nd4c.arange(2, 11, 3, dtype=dtype), np.arange(2, 11, 3, dtype=dtype))
    check(nd4c.arange(2 ** 60, 2 ** 60 + 3), np.arange(2 ** 60, 2 ** 60 + 3))
    with pytest.raises(ZeroDivisionError, match="step"):
        nd4c.arange(1, 2, 0)


@pytest.mark.parametrize("dtype, start, stop, step", [
    ("uint64", 2 ** 63, 2 ** 63 + 3, 1), ("uint64", 2 ** 64 - 3, 2 ** 64, 1), ("uint64", 5, -1, -1),
    ("uint64", 2 ** 63 + 2, -1, -2 ** 62), ("int64", -2 ** 63, -2 ** 63 + 3, 1), ("int64", 2 ** 63 - 3, 2 ** 63, 1),
    ("int64", 2 ** 63 - 1, 2 ** 63 - 4, -1), ("int64", -2 ** 63 + 2, -2 ** 63 - 1, -1), ("int64", 2 ** 53, 2 ** 53 + 5, 1)])
def test_arange_of_large_integers(dtype, start, stop, step):
    check(nd4c.arange(start, stop, step, dtype=dtype), np.array(list(range(start, stop, step)), dtype))


@pytest.mark.parametrize("arguments, error", [
    ((0, 2 ** 62), OverflowError), ((2 ** 64,), OverflowError), ((0, 1e300, 1e-5), OverflowError), ((1e19,), OverflowError),
    ((2 ** 63, 2 ** 63 + 2), OverflowError), ((2.0 ** 50,), MemoryError)])
def test_arange_refuses_what_cannot_be(arguments, error):
    with pytest.raises((error, nd4c.errors.OverflowError)):
        nd4c.arange(*arguments)


def test_linspace():
    for arguments, endpoint in itertools.product(((0, 1, 5), (-2, 3.5, 11), (1, 1, 3), (0, 1, 1), (0, 1, 0)), (True, False)):
        check(nd4c.linspace(*arguments, endpoint=endpoint), np.linspace(*arguments, endpoint=endpoint), 2, absolute=1e-15)
    check(nd4c.linspace(0, 1 + 2j, 4), np.linspace(0, 1 + 2j, 4), 4)
    with pytest.raises(ValueError):
        nd4c.linspace(0, 1, -1)


def test_eye_and_triangles():
    rng = np.random.default_rng(1)
    for k in range(-3, 4):
        check(nd4c.eye(3, 5, k=k), np.eye(3, 5, k))
        for dtype in EVERY:
            a = make(rng, (2, 4, 3), dtype)
            check(nd4c.tril(nd4c.asarray(a), k=k), np.tril(a, k))
            check(nd4c.triu(nd4c.asarray(a), k=k), np.triu(a, k))


def test_diagonals_far_outside():
    for k in (2 ** 63, -2 ** 63, 2 ** 70):
        assert not nd4c.any(nd4c.eye(3, k=k) != 0)
        assert nd4c.all(nd4c.tril(nd4c.ones((2, 2)), k=k) == (1 if k > 0 else 0))
    with pytest.raises(OverflowError, match="64 bits"):
        nd4c.ops.cumulative_max(nd4c.ones(2), axis=2 ** 64)


def test_meshgrid():
    arrays = [np.arange(3), np.arange(4) * 2, np.asarray(7)]
    for count, indexing in itertools.product((1, 2, 3), ("xy", "ij")):
        check(nd4c.meshgrid(*map(nd4c.asarray, arrays[:count]), indexing=indexing),
              np.meshgrid(*arrays[:count], indexing=indexing))


# -- dtypes -----------------------------------------------------------------------------------------------------------

def test_astype():
    rng = np.random.default_rng(2)
    for one in EVERY:
        for other in EVERY:
            a = make(rng, (3, 4), one, 0, 5)
            if np.dtype(one).kind == "c" and np.dtype(other).kind != "c":
                continue
            check(nd4c.astype(nd4c.asarray(a), getattr(nd4c, other)), a.astype(other))
    x = nd4c.asarray(a)
    assert nd4c.astype(x, x.dtype, copy=False) is x and nd4c.astype(x, x.dtype) is not x


def test_limits():
    for dtype in INTEGERS:
        assert nd4c.iinfo(getattr(nd4c, dtype)).max == np.iinfo(dtype).max
    for dtype in FLOATS:
        mine, theirs = nd4c.finfo(getattr(nd4c, dtype)), np.finfo(dtype)
        assert (mine.bits, mine.eps, mine.max, mine.min, mine.smallest_normal) == (
            theirs.bits, theirs.eps, theirs.max, theirs.min, theirs.smallest_normal)
    with pytest.raises(ValueError, match="finfo"):
        nd4c.finfo(nd4c.int8)


def test_can_cast_and_isdtype():
    assert nd4c.can_cast(nd4c.int8, nd4c.int16) and not nd4c.can_cast(nd4c.int16, nd4c.int8)
    assert nd4c.isdtype(nd4c.int8, "integral") and nd4c.isdtype(nd4c.bool, ("numeric", "bool"))
    assert not nd4c.isdtype(nd4c.float32, "complex floating") and nd4c.isdtype(nd4c.float32, nd4c.float32)
    with pytest.raises(ValueError):
        nd4c.isdtype(nd4c.int8, "whole")


# -- shapes -----------------------------------------------------------------------------------------------------------

def test_shapes():
    rng = np.random.default_rng(3)
    for dtype in ("bool", "int16", "float32", "complex128"):
        for whole in (make(rng, shape, dtype) for shape in SHAPES):
            for a in views(rng, whole):
                x = nd4c.asarray(a)
                check(nd4c.reshape(x, (a.size,)), a.reshape(a.size))
                for axis in axes_of(a.ndim):
                    check(nd4c.flip(x, axis=axis), np.flip(a, axis))
                    check(nd4c.roll(x, 2, axis=axis), np.roll(a, 2, axis))
                for axis in range(-a.ndim - 1, a.ndim + 1):
                    check(nd4c.expand_dims(x, axis), np.expand_dims(a, axis))
                for order in itertools.permutations(range(a.ndim)):
                    check(nd4c.permute_dims(x, order), np.transpose(a, order))
                check(nd4c.tile(x, (2, 1, 2)), np.tile(a, (2, 1, 2)))
                check(nd4c.broadcast_to(x, (2,) + a.shape), np.broadcast_to(a, (2,) + a.shape))
                if a.ndim:
                    check(nd4c.moveaxis(x, 0, -1), np.moveaxis(a, 0, -1))
                    check(nd4c.unstack(x, axis=-1), list(np.moveaxis(a, -1, 0)))
                if a.ndim > 1:
                    check(x.mT, np.swapaxes(a, -1, -2))
                if a.ndim == 2:
                    check(x.T, a.T)


def test_repeat():
    a = np.arange(12).reshape(3, 4)
    x = nd4c.asarray(a)
    check(nd4c.repeat(x, 2), np.repeat(a, 2))
    check(nd4c.repeat(x, 3, axis=1), np.repeat(a, 3, axis=1))
    check(nd4c.repeat(x, nd4c.asarray([1, 0, 2]), axis=0), np.repeat(a, [1, 0, 2], axis=0))
    check(nd4c.repeat(x, nd4c.asarray(2), axis=-1), np.repeat(a, 2, axis=-1))


def test_squeeze_concat_stack():
    a = np.arange(6).reshape(1, 2, 1, 3)
    check(nd4c.squeeze(nd4c.asarray(a), 0), a.squeeze(0))
    check(nd4c.squeeze(nd4c.asarray(a), (0, -2)), a.squeeze((0, 2)))
    with pytest.raises(ValueError):
        nd4c.squeeze(nd4c.asarray(a), 1)
    b, c = np.arange(6).reshape(2, 3), np.arange(4.0).reshape(2, 2)
    check(nd4c.concat([nd4c.asarray(b), nd4c.asarray(c)], axis=1), np.concatenate([b, c], axis=1))
    check(nd4c.concat([nd4c.asarray(b), nd4c.asarray(c)], axis=None), np.concatenate([b, c], axis=None))
    for axis in range(-3, 3):
        check(nd4c.stack([nd4c.asarray(b)] * 4, axis=axis), np.stack([b] * 4, axis=axis))


def test_broadcasting():
    assert nd4c.broadcast_shapes((3, 1), (4,), ()) == (3, 4) and nd4c.broadcast_shapes() == ()
    with pytest.raises(ValueError, match="3.*4"):
        nd4c.broadcast_shapes((3,), (4,))
    a, b = np.ones((3, 1)), np.arange(4)
    check(nd4c.broadcast_arrays(nd4c.asarray(a), nd4c.asarray(b)), np.broadcast_arrays(a, b))


def test_reshape_copies_as_told():
    x = nd4c.asarray(np.arange(6.0).reshape(2, 3))
    y = nd4c.reshape(x, (3, 2), copy=False)
    y[0, 0] = 9
    assert x[0, 0] == 9
    z = nd4c.reshape(x, (6,), copy=True)
    z[0] = 5
    assert x[0, 0] == 9
    with pytest.raises(ValueError, match="copy"):
        nd4c.reshape(x.T, (6,), copy=False)


# -- searching, sorting, sets -----------------------------------------------------------------------------------------

def test_arg_reductions():
    rng = np.random.default_rng(4)
    for dtype in REAL:
        for shape in LARGE:
            a = make(rng, shape, dtype)
            for axis, keepdims in itertools.product([None, *range(-len(shape), len(shape))], (False, True)):
                for name in ("argmax", "argmin"):
                    check(getattr(nd4c, name)(nd4c.asarray(a), axis=axis, keepdims=keepdims),
                          getattr(np, name)(a, axis=axis, keepdims=keepdims))


def test_sorting():
    rng = np.random.default_rng(5)
    for dtype in REAL:
        for whole in (make(rng, shape, dtype) for shape in SHAPES if shape):
            for a in views(rng, whole):
                for axis in range(-a.ndim, a.ndim):
                    x = nd4c.asarray(a)
                    check(nd4c.sort(x, axis=axis), np.sort(a, axis=axis))
                    check(nd4c.argsort(x, axis=axis), np.argsort(a, axis=axis, kind="stable"))
                    check(nd4c.sort(x, axis=axis, descending=True), np.flip(np.sort(a, axis=axis), axis))


@pytest.mark.parametrize("shape", [(1,), (0,), (100003,), (3, 0, 2), (300, 700), (9000, 3), (5, 7, 4001)])
def test_nonzero_of_long_arrays(shape):
    """Sizes that several workers share, with parts that end within rows; negative zeros are zeros."""
    rng = np.random.default_rng(11)
    for dtype in ("bool", "uint8", "int16", "int64", "float16", "float32", "float64", "complex64", "complex128"):
        for share in (0, 0.03, 0.5, 1):
            a = ((rng.random(shape) < share) * rng.integers(1, 100, shape)).astype(dtype)
            if "float" in dtype:
                a[a == 0] = -0.0
            x = nd4c.asarray(a)
            for got, expected in zip(nd4c.nonzero(x), np.nonzero(a)):
                assert np.array_equal(np.asarray(got), expected), (dtype, share)
            assert int(nd4c.count_nonzero(x)) == np.count_nonzero(a)


def test_nonzero_and_counts():
    rng = np.random.default_rng(6)
    for dtype in EVERY:
        for shape in SHAPES[1:]:
            a = make(rng, shape, dtype, 0, 2)
            check(nd4c.nonzero(nd4c.asarray(a)), np.nonzero(a))
            for axis in axes_of(len(shape)):
                check(nd4c.count_nonzero(nd4c.asarray(a), axis=axis), np.count_nonzero(a, axis=axis))


def test_searchsorted_and_isin():
    rng = np.random.default_rng(7)
    for dtype in REAL:
        a, b = np.sort(make(rng, (20,), dtype)), make(rng, (3, 4), dtype)
        for side in ("left", "right"):
            check(nd4c.searchsorted(nd4c.asarray(a), nd4c.asarray(b), side=side), np.searchsorted(a, b, side))
        shuffled = rng.permutation(a)
        order = np.argsort(shuffled)
        check(nd4c.searchsorted(nd4c.asarray(shuffled), nd4c.asarray(b), sorter=nd4c.asarray(order)),
              np.searchsorted(shuffled, b, sorter=order))
        for invert in (False, True):
            check(nd4c.isin(nd4c.asarray(b), nd4c.asarray(a[:5]), invert=invert), np.isin(b, a[:5], invert=invert))
    check(nd4c.isin(nd4c.asarray([1, 2]), nd4c.asarray([2.0], dtype="float32")), np.isin([1, 2], [2.0]))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_isin_of_long_arrays(dtype):
    """Few values are compared, many are searched for, and NaN is in neither."""
    x = (np.arange(1200) % 100).astype(dtype).reshape(30, 40)
    if x.dtype.kind == "f":
        x[::7] = np.nan
    for count in (1, 3, 8, 9, 200):
        wanted = x.ravel()[np.arange(count) * 11 % x.size]
        for invert in (False, True):
            check(nd4c.isin(nd4c.asarray(x), nd4c.asarray(wanted), invert=invert), np.isin(x, wanted, invert=invert))
    if x.dtype.kind in "iu":
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max] * 300, dtype)
        check(nd4c.isin(nd4c.asarray(ends), nd4c.asarray(ends[1:].repeat(2)[:9])), np.isin(ends, ends[1:].repeat(2)[:9]))


def test_running_extremes():
    for x in (np.array([3, 1, 4, 1, 5], "int8"), np.array([[1.0, np.nan, 2.0], [9.0, 0.5, -9.0]])):
        for axis in range(x.ndim):
            for name in ("maximum", "minimum"):
                check(getattr(nd4c, name).accumulate(nd4c.asarray(x), axis=axis), getattr(np, name).accumulate(x, axis=axis))


def test_out_that_is_an_operand():
    """The op writes into out itself; overlapping operands and results of another dtype give what NumPy gives."""
    x = np.arange(5000.0)
    mine = nd4c.asarray(x.copy())
    assert nd4c.add(mine, 1, out=mine) is mine
    np.add(x, 1, out=x)
    nd4c.add(mine[1:], mine[:-1], out=mine[1:])
    np.add(x[1:], x[:-1], out=x[1:])
    nd4c.negative(mine[::-1], out=mine)
    np.negative(x[::-1], out=x)
    check(mine, x)
    whole = nd4c.arange(4)
    with pytest.raises(TypeError, match="divide"):
        nd4c.divide(whole, 2, out=whole)
    with pytest.raises(ValueError, match="add"):
        nd4c.add(whole, nd4c.ones((2, 4), dtype=int), out=whole)
    check(whole, np.arange(4))


@pytest.mark.parametrize("dtype", REAL)
def test_quotients_of_long_arrays(dtype):
    x = (np.arange(1500) % 120).astype(dtype).reshape(30, 50)
    mine = nd4c.asarray(x)
    with np.errstate(all="ignore"):
        for key in (slice(None), (slice(None, None, 2), slice(1, None, 3))):
            quotient = nd4c.divide(mine[key], nd4c.asarray(x[::-1])[key])
            if x.dtype.itemsize > 1:  # of 8 bits NumPy's are float16
                check(quotient, np.divide(x[key], x[::-1][key]))
            check(nd4c.ops.true_divide(mine, nd4c.asarray(3.0)), x / np.asarray([3.0]))


def test_unique():
    rng = np.random.default_rng(8)
    for dtype in INTEGERS + FLOATS:
        for shape in ((0,), (20,), (4, 5)):
            a = make(rng, shape, dtype, 0, 5)
            check(nd4c.unique_values(nd4c.asarray(a)), np.unique(a))
            got, wanted = nd4c.unique_all(nd4c.asarray(a)), np.unique_all(a)
            check(list(got), list(wanted))
            check(list(nd4c.unique_counts(nd4c.asarray(a))), list(np.unique_counts(a)))
            check(list(nd4c.unique_inverse(nd4c.asarray(a))), list(np.unique_inverse(a)))
            assert got._fields == ("values", "indices", "inverse_indices", "counts")


def test_take():
    rng = np.random.default_rng(9)
    a = make(rng, (3, 4, 5), "float64")
    for axis, index_dtype in itertools.product(range(-3, 3), ("int8", "int32", "int64", "uint8")):
        indices = np.asarray([2, 0, 1], index_dtype)
        check(nd4c.take(nd4c.asarray(a), nd4c.asarray(indices), axis=axis), np.take(a, indices, axis))
        order = np.argsort(a, axis)
        check(nd4c.take_along_axis(nd4c.asarray(a), nd4c.asarray(order), axis=axis), np.take_along_axis(a, order, axis))
    with pytest.raises(IndexError):
        nd4c.take(nd4c.asarray(a), nd4c.asarray([5]), axis=0)
    check(nd4c.take(nd4c.asarray(a), nd4c.asarray([59, 0])), np.take(a, [59, 0]))  # NumPy's: of a flattened


# -- reductions -------------------------------------------------------------------------------------------------------

def reductions(name, dtypes, shapes, tolerance, numpy_name=None, **named):
    rng = np.random.default_rng(10)
    for dtype in dtypes:
        for whole in (make(rng, shape, dtype, 0.5 if np.dtype(dtype).kind in "fc" else 1, 2) for shape in shapes):
            for a in views(rng, whole):
                for axis, keepdims in itertools.product(axes_of(a.ndim), (False, True)):
                    got = getattr(nd4c, name)(nd4c.asarray(a), axis=axis, keepdims=keepdims, **named)
                    wide_enough = a.astype({"float32": "float64", "complex64": "complex128"}.get(dtype, dtype))
                    wanted = np.asarray(getattr(np, numpy_name or name)(wide_enough, axis=axis, keepdims=keepdims, **named))
                    if dtype in ("float32", "complex64") and wanted.dtype.kind in "fc":
                        wanted = wanted.astype("float32" if wanted.dtype.kind == "f" and name != "var" else wanted.dtype)
                        wanted = wanted.astype({"c": "complex64", "f": "float32"}[wanted.dtype.kind])
                    check(got, wanted, tolerance)


def test_sum_and_prod():
    reductions("sum", EVERY, SHAPES, 4)
    reductions("prod", NUMERIC, [s for s in SHAPES if s != (17, 19)], 16)


def test_extremes():
    reductions("max", REAL, LARGE, 0)
    reductions("min", REAL, LARGE, 0)
    with pytest.raises(ValueError):
        nd4c.max(nd4c.zeros((0,)))


def test_all_and_any():
    reductions("all", EVERY, SHAPES, 0)
    reductions("any", EVERY, SHAPES, 0)


def test_means():
    reductions("mean", FLOATS + ("complex64", "complex128"), LARGE, 4)
    reductions("var", FLOATS, LARGE, 64)
    reductions("std", FLOATS, LARGE, 64)
    a = np.random.default_rng(11).random((3, 4))
    check(nd4c.var(nd4c.asarray(a), axis=1, correction=1), np.var(a, axis=1, ddof=1), 8)


def test_no_axes_at_all():
    a = np.arange(1.0, 7.0).reshape(2, 3)
    for name in ("sum", "prod", "max", "min", "mean", "std", "var", "all", "any"):
        check(getattr(nd4c, name)(nd4c.asarray(a), axis=()), getattr(np, name)(a, axis=()), 1)


def test_dtypes_of_sums():
    a = np.ones((3,), "int8")
    for dtype in ("int16", "float32", "float64", "complex64"):
        check(nd4c.sum(nd4c.asarray(a), dtype=getattr(nd4c, dtype)), np.sum(a, dtype=dtype))
        check(nd4c.prod(nd4c.asarray(a), dtype=getattr(nd4c, dtype)), np.prod(a, dtype=dtype))


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy before 2.1")
def test_cumulative():
    rng = np.random.default_rng(12)
    for dtype in NUMERIC:
        for shape in ((7,), (3, 5), (2, 3, 4), (0,)):
            a = make(rng, shape, dtype, 0.5 if np.dtype(dtype).kind in "fc" else 0, 2)
            for axis, include in itertools.product(range(-len(shape), len(shape)), (False, True)):
                for name in ("cumulative_sum", "cumulative_prod"):
                    check(getattr(nd4c, name)(nd4c.asarray(a), axis=axis, include_initial=include),
                          getattr(np, name)(a, axis=axis, include_initial=include), 16)
    check(nd4c.cumulative_sum(nd4c.asarray([1, 2, 3], dtype="int8"), dtype=nd4c.float32), np.asarray([1, 3, 6], "float32"))
    with pytest.raises(ValueError, match="axis"):
        nd4c.cumulative_sum(nd4c.ones((2, 2)))


def test_diff():
    rng = np.random.default_rng(13)
    for dtype in NUMERIC:
        a = make(rng, (4, 6), dtype)
        for axis, n in itertools.product((-1, 0, 1), (0, 1, 2)):
            check(nd4c.diff(nd4c.asarray(a), axis=axis, n=n), np.diff(a, axis=axis, n=n), 8, absolute=1e-5)
        edge = make(rng, (4, 1), dtype)
        check(nd4c.diff(nd4c.asarray(a), prepend=nd4c.asarray(edge), append=nd4c.asarray(edge)),
              np.diff(a, prepend=edge, append=edge))


# -- ops -------------------------------------------------------------------------------------------------------------

def test_numbers_of_ops_go_by_position():
    x = nd4c.asarray(np.arange(-8.0, 8.0).reshape(1, 1, 4, 4))
    for placed, named in (
            (nd4c.nn.max_pool(x, (2, 2), (2, 2)), nd4c.nn.max_pool(x, kernel=(2, 2), strides=(2, 2))),
            (nd4c.nn.leaky_relu(x, 0.5), nd4c.nn.leaky_relu(x, alpha=0.5)), (nd4c.nn.softmax(x, 2), nd4c.nn.softmax(x, axis=2)),
            (nd4c.ops.concat([x, x], 1), nd4c.ops.concat([x, x], axis=1)), (nd4c.ops.cast(x, "int8"), nd4c.ops.cast(x, dtype="int8"))):
        check(placed, np.asarray(named))
    assert np.asarray(nd4c.nn.leaky_relu(x, 0.5)).min() == -4


@pytest.mark.parametrize("call", [
    lambda x: nd4c.ops.sum(x, 0, True),  # a flag
    lambda x: nd4c.ops.top_k(x, 3),  # an axis that a number follows
    lambda x: nd4c.nn.mse_loss(x, x, None, "sum"),  # behind an array that may be left out
    lambda x: nd4c.ops.arange(3),  # no array
])
def test_other_attributes_go_by_name(call):
    with pytest.raises(TypeError, match="positional argument"):
        call(nd4c.ones((1, 1, 4, 4)))


def test_a_list_is_asked_for_by_name():
    with pytest.raises(TypeError, match="max_pool: kernel: expected a tuple of integers, got 2"):
        nd4c.nn.max_pool(nd4c.ones((1, 1, 4, 4)), 2)


def test_flatten():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = nd4c.asarray(a)
    check(nd4c.flatten(x), a.ravel())
    check(nd4c.flatten(x.T), a.T.flatten())
    check(nd4c.flatten(x, axis=1), a.reshape(2, 12))
    assert nd4c.flatten([[1], [2]]).tolist() == [1, 2]
    flat = nd4c.flatten(x)
    flat[0] = 7
    assert x[0, 0, 0] == 0

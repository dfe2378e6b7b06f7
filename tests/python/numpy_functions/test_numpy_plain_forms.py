"""Forms of NumPy's functions that take a shorter way than the general one: results and dtypes are NumPy's on both ways."""
import numpy as np
import pytest

import nd4c
import nd4c.numpy as xp

LENGTHS = (1, 3, 7, 8, 9, 16, 63, 64, 65, 257, 1000)
HARD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308, -1.7e308, 0.5, 2.0 ** 53]
REFUSED = (ArithmeticError, IndexError, TypeError, ValueError)
WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def same(mine, numpys):
    mine = np.asarray(mine)
    assert mine.dtype == np.asarray(numpys).dtype
    np.testing.assert_array_equal(mine, numpys)
    if mine.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(numpys))


def both(name, *arguments, **named):
    """The same call of both libraries, or the same refusal."""
    theirs = [np.asarray(one) if isinstance(one, nd4c.Array) else one for one in arguments]
    try:
        wanted = getattr(np, name)(*theirs, **named)
    except REFUSED:
        with pytest.raises(REFUSED):
            getattr(xp, name)(*arguments, **named)
        return
    same(getattr(xp, name)(*arguments, **named), wanted)


@pytest.mark.parametrize("order", ("big", "little"))
def test_packed_bits(order):
    rng = np.random.default_rng(1)
    for length in LENGTHS:
        for dtype in ("bool",) + WHOLE:
            a = rng.integers(0, 2, length).astype(dtype)
            if dtype != "bool":
                a[a > 0] = rng.choice([1, 2, 64, np.iinfo(dtype).max, np.iinfo(dtype).min or 4], int((a > 0).sum())).astype(dtype)
            x = nd4c.asarray(a.copy())
            for mine, theirs in ((x, a), (x[::-1], a[::-1]), (x[1::2], a[1::2])):
                same(xp.packbits(mine, bitorder=order), np.packbits(theirs, bitorder=order))
        packed = rng.integers(0, 256, length).astype("u1")
        y = nd4c.asarray(packed.copy())
        for count in (None, 3, 8 * length + 5, -1):
            same(xp.unpackbits(y, count=count, bitorder=order), np.unpackbits(packed, count=count, bitorder=order))
        same(xp.unpackbits(y[::-2], bitorder=order), np.unpackbits(packed[::-2], bitorder=order))
    table = rng.integers(0, 256, (5, 16, 3)).astype("u1")
    for axis in (0, 1, 2, -1, None):
        same(xp.packbits(nd4c.asarray(table > 99), axis, order), np.packbits(table > 99, axis, order))
        same(xp.unpackbits(nd4c.asarray(table), axis, bitorder=order), np.unpackbits(table, axis, bitorder=order))
    same(xp.packbits(nd4c.zeros((0,), dtype="bool")), np.packbits(np.zeros(0, "?")))
    same(xp.packbits(nd4c.asarray(np.arange(16, dtype="u1")).view(bool)), np.packbits(np.arange(16, dtype="u1").view(bool)))


def test_views_of_other_sizes():
    a = np.arange(48, dtype="u1").reshape(3, 16)
    x = nd4c.asarray(a.copy())
    for dtype in ("u8", "u4", "f4", "i2", "?", "i1"):
        same(x.view(dtype), a.view(dtype))
        same(x[1:].view(dtype), a[1:].view(dtype))
        same(x.view("u4").view(dtype), a.view("u4").view(dtype))
    x.view("u8")[0, 0] = 0  # the same memory
    assert np.asarray(x)[0, :8].tolist() == [0] * 8
    with pytest.raises(ValueError):
        x[:, :7].view("u4")
    frozen = a.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError):
        nd4c.asarray(frozen).view("u8")[0, 0] = 1


@pytest.mark.parametrize("dtype", ("float64", "int64", "int32", "uint8"))
def test_percentiles_and_medians(dtype):
    rng = np.random.default_rng(2)
    for length in LENGTHS + (4097, 20011):
        a = (rng.normal(size=length) * 50 + 100).astype(dtype)
        x = nd4c.asarray(a.copy())
        for q in (50, 37.5, [5, 95], (95, 5.0, 5.0, 50), [0, 100], [], [1] * 9, 101, -1, np.nan):
            both("percentile", x, q)
        for q in (0.5, [0.05, 0.95], 0, 1, [0, 1.0], 1.5):
            both("quantile", x, q)
        both("percentile", x, [25.0, 75.0], keepdims=True)
        both("median", x)
    table = (rng.normal(size=(7, 300)) * 50 + 100).astype(dtype)
    for axis in (None, 0, 1, -1, (0, 1), (), 2):
        both("percentile", nd4c.asarray(table), [10.0, 90.0], axis=axis)
        both("percentile", nd4c.asarray(table), 90.0, axis=axis, keepdims=True)


def test_selection_among_equal_and_ordered_elements():
    """Partitions that do not divide: few values, rising and falling lines, infinities, NaN."""
    rng = np.random.default_rng(3)
    lines = [np.full(5000, 3.0), np.arange(5000.0), np.arange(5000.0)[::-1].copy(), rng.integers(0, 3, 5000).astype(float),
             rng.choice(HARD, 5000), np.where(np.arange(5000) % 2, np.inf, -np.inf), np.arange(5000.0) % 7,
             np.r_[np.zeros(4999), 1.0], np.r_[np.full(4999, np.inf), -1.0], rng.standard_cauchy(5000)]
    for a in lines:
        for dtype in ("float64", "float32"):
            x = nd4c.asarray(a.astype(dtype))
            for place in (0, 1, 1249, 2500, 4998, 4999):
                wanted = np.sort(np.asarray(x))[place]
                assert np.asarray(xp.quantile(x, place / 4999, method="lower")) <= wanted
                assert np.asarray(nd4c.ops.kth_value(x, axis=-1, k=place)[0]) == wanted
                assert np.asarray(nd4c.ops.quantile(x, q=[place / 4999], method="nearest"))[0] == wanted
            same(nd4c.ops.top_k(x, axis=-1, k=700)[0], np.sort(np.asarray(x))[::-1][:700] + 0.0)
    with_nan = nd4c.asarray(np.r_[np.arange(900.0), np.nan])
    both("percentile", with_nan, [1.0, 99.0])
    assert np.isnan(np.asarray(xp.median(with_nan)))
    assert float(xp.nanmedian(with_nan)) == 449.5


def test_interp_through_few_points():
    rng = np.random.default_rng(4)
    points = [([0, .5, 1.], [1., 2., 0.]), ([-3., 2.], [5., -1.]), ([1.], [2.]), ([0., 0., 1.], [1., 2., 3.]),
              ([0., np.inf], [1., 2.]), ([0., 1.], [np.inf, 1.]), ([0., 1e-300], [0., 1e300]), (list(range(40)), [7.] * 40)]
    for xs, ys in points:
        for a in (rng.random(100) * 4 - 2, np.array(HARD + [np.nan]), np.array(xs), np.float64(0.3), np.array([1, 0, 7])):
            x = nd4c.asarray(a)
            with np.errstate(all="ignore"):
                both("interp", x, xs, ys)
                both("interp", x, xs, ys, left=-9.)
                both("interp", x, nd4c.asarray(xs), nd4c.asarray(ys))


def test_counts():
    for dtype in WHOLE:
        a = np.array([0, 3, 3, 1, 100], dtype)
        for named in ({}, {"minlength": 3}, {"minlength": 200}, {"weights": [.5, 1, 2, 4, 8]}):
            both("bincount", nd4c.asarray(a), **named)
    for numbers in ([70000, 3], [-1, 2], [65535], [65536], []):
        both("bincount", nd4c.asarray(np.array(numbers, "int64")))
    assert xp.bincount(nd4c.asarray([1]), maxlength=5).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", ("float64", "float32", "float16", "int64", "int8", "uint8", "bool"))
def test_numbers_beside_arrays(dtype):
    a = np.array([0, 1, 2, 100, 3, 50, 0], "float64").astype(dtype)
    x = nd4c.asarray(a.copy())
    for low, high in ((.5, 2.5), (1, 50), (50, 1), (0, 10 ** 6), (-10 ** 30, 10 ** 30), (1, 2.5), (np.nan, 1.), (-np.inf, np.inf)):
        if dtype != "bool":
            both("clip", x, low, high)
    mask = nd4c.asarray(np.array([1, 0, 1, 0, 1, 0, 0], "?"))
    for number in (0, 1, -1.5, 2.5, 7, True, 1j, np.float32(2), 10 ** 30):
        if isinstance(number, int) and abs(number) > 99 and dtype in ("int8", "uint8", "int64", "bool"):
            continue  # NumPy's result is of objects, or refused
        both("where", mask, x, number)
        both("where", mask, number, x)
    both("where", mask, x[:1], 2)
    for name in ("argmax", "argmin"):
        for mine in (x, x.reshape(7, 1), x[::-1], x[:0], x.reshape(1, 7, 1)[:, ::2]):
            both(name, mine)
            both(name, mine, keepdims=True)
            if mine.size:
                same(getattr(mine, name)(), getattr(np.asarray(mine), name)())
                same(getattr(mine, name)(-1), getattr(np.asarray(mine), name)(-1))
            else:
                with pytest.raises(ValueError):
                    getattr(mine, name)()
    for place, found in enumerate(xp.nonzero(x.reshape(1, 7))):
        same(found, np.nonzero(a.reshape(1, 7))[place])
    same(xp.nonzero(x)[0], np.nonzero(a)[0])


@pytest.mark.parametrize("name", ("add", "subtract", "multiply", "divide", "maximum", "minimum"))
def test_at_places_of_one_axis(name):
    for dtype in ("float64", "float32", "int64", "int32"):
        for places in ([0, 3, 3, -1], [], [4, -5, 4, 0], [5], [-6]):
            for values in (2, 2.5, [1, 2, 3, 4], np.array([1, 2, 3, 4], "i1"), np.array([.5, 1, 2, 4], "f4")):
                a = np.array([1, 2, 3, 4, 5], dtype)
                x, index = nd4c.asarray(a.copy()), np.array(places, "int64")
                mine = nd4c.asarray(values) if isinstance(values, np.ndarray) else values
                try:
                    getattr(np, name).at(a, index, values)
                except (IndexError, TypeError, ValueError):
                    with pytest.raises((IndexError, TypeError, ValueError)):
                        getattr(xp, name).at(x, nd4c.asarray(index), mine)
                else:
                    getattr(xp, name).at(x, nd4c.asarray(index), mine)
                    same(x, a)


def test_ranges_and_zeros():
    for arguments in ((0., 5.), (0., 5.5), (1, 2., .25), (5., 0., -1), (0., 5., -1), (2., 2.), (0., 1e-9), (-3, 3, 1.5), (0, 3, .1),
                      (0., 1., 0.), (np.nan, 1.), (0., np.inf), (0., 1e300, 1e299), (10 ** 400, 1.)):
        both("arange", *arguments)
    both("arange", 0., 3., dtype="float32")
    both("arange", 2, 9)
    both("arange", 2, 9, 3)
    for name in ("zeros", "empty"):
        for dtype in ("i4", "f8", "u1", "b1", "c16", "float32", int, float, bool, np.float32, "<i2", "?"):
            mine, theirs = getattr(xp, name)((2, 3), dtype), getattr(np, name)((2, 3), dtype)
            assert mine.shape == theirs.shape and np.asarray(mine).dtype == theirs.dtype
    for wrong in ("i5", "nothing", 7):
        with pytest.raises((TypeError, ValueError)):
            xp.zeros(3, wrong)
    for number in (1, -2 ** 63, 2 ** 63 - 1, 2 ** 63, 1.5, -0.0, np.inf, True):
        same(xp.asarray(number), np.asarray(number))


@pytest.mark.parametrize("dtype", ("float64", "float32", "int64", "uint64", "int32", "int8"))
def test_sorts_of_lines_around_the_width_of_networks(dtype):
    rng = np.random.default_rng(5)
    for length in (*range(18), 31, 32, 33, 63, 64, 65, 127, 129, 1023, 1025, 5000, 40000):
        lines = [rng.integers(-50, 50, length), rng.integers(-2 ** 62, 2 ** 62, length), np.arange(length), np.arange(length)[::-1],
                 np.arange(length) % 2, np.zeros(length)]
        if dtype[0] == "f":
            lines += [rng.choice(HARD + [np.nan], length), rng.normal(size=length)]
        else:
            lines.append(rng.choice([np.iinfo(dtype).min, np.iinfo(dtype).max, 1], length))
        for line in lines:
            with np.errstate(all="ignore"):
                a = line.astype(dtype)
            x = nd4c.asarray(a.copy())
            same(xp.sort(x), np.sort(a, kind="stable"))
            same(xp.argsort(x), np.argsort(a, kind="stable"))


def test_partitions_of_long_lines():
    rng = np.random.default_rng(6)
    for a in (rng.normal(size=5000), rng.integers(-3, 4, 5000), rng.integers(-2 ** 62, 2 ** 62, 4096), rng.choice(HARD, 4500),
              rng.normal(size=5000).astype("f4"), np.r_[np.zeros(4200), np.nan], np.arange(9000, dtype="u1"), rng.integers(0, 9, 4095)):
        x = nd4c.asarray(a.copy())
        for kth in (0, 17, 2048, -1, len(a) - 1, [5, 3000]):
            ordered = np.sort(a, kind="stable")
            for y in (np.asarray(xp.partition(x, kth)), a[np.asarray(xp.argpartition(x, kth))]):
                assert y.dtype == a.dtype and np.asarray(xp.argpartition(x, kth)).dtype == np.int64
                np.testing.assert_array_equal(np.sort(y, kind="stable").view("i1").sum(), ordered.view("i1").sum())  # zeros keep their signs
                for place in np.atleast_1d(kth):
                    np.testing.assert_array_equal(y[place], ordered[place])
                    rest = y[~np.isnan(y)] if y.dtype.kind == "f" else y
                    place = place % len(a)
                    if len(rest) == len(y):
                        assert (y[:place] <= y[place]).all() and (y[place:] >= y[place]).all()

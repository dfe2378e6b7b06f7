"""Functions element by element against NumPy: every dtype and pair of dtypes, special values, and NumPy's keyword arguments."""
import doctest
import inspect
import pickle

import numpy as np
import pytest

import nd4c
import nd4c.numpy as xp
from nd4c._functions import elementwise_table as tables

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
ONE = [row[0] for table in (tables.ONE, tables.NUMPY_ONE) for row in tables.rows(table)]
TWO = [row[0] for table in (tables.TWO, tables.NUMPY_TWO) for row in tables.rows(table)]
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 2.5, 0.3, -0.7, 6.0]
TOLERANCE = {"float16": 4e-3, "float32": 3e-6, "complex64": 1e-5}


def mine(name):
    return getattr(xp, name, None) or getattr(nd4c, name)


def values(dtype, shift=0):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray([True, False, True, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        return np.roll(np.asarray([limits.max, limits.min, 0, 1, 2, 5, 7, 3], dtype=dtype), shift)
    whole = np.roll(np.asarray(FLOATS), shift)
    return (whole if kind == "f" else whole + 1j * np.roll(whole, 3)).astype(dtype)


def outcome(function, *arguments, **named):
    with np.errstate(all="ignore"):
        try:
            return function(*arguments, **named)
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            return next(one for one in (TypeError, OverflowError, IndexError, ValueError) if isinstance(error, one))


def same(got, wanted, exact=False):
    """Equal dtypes, shapes and elements; or the same kind of refusal."""
    if isinstance(wanted, type):
        assert isinstance(got, type) and issubclass(got, wanted), (got, wanted)
        return
    if isinstance(wanted, tuple):
        assert type(got) is tuple and len(got) == len(wanted)
        for one, other in zip(got, wanted):
            same(one, other, exact)
        return
    wanted = np.asarray(wanted)
    assert type(got) is nd4c.Array, got
    assert str(got.dtype) == wanted.dtype.name and got.shape == wanted.shape, (got.dtype, wanted.dtype)
    tolerance = 0 if exact or wanted.dtype.kind in "biu" else TOLERANCE.get(wanted.dtype.name, 1e-14)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance / 10)


# Where infinities and NaN meet in complex numbers, C's standard leaves the parts open.
FINITE = {"exp2", "expm1", "reciprocal", "square", "sign", "multiply", "divide", "pow", "float_power", "acos", "acosh", "asin", "asinh",
          "atan", "atanh", "log1p", "sqrt", "tan", "tanh", "sin", "cos", "sinh", "cosh", "exp", "log", "log2", "log10"}


@pytest.mark.parametrize("name", ONE)
def test_one(name):
    for dtype in DTYPES:
        a = values(dtype)
        if np.dtype(dtype).kind == "c" and name in FINITE:
            a = a[np.isfinite(a) & (a != 0)]
        if name == "reciprocal":
            a = a[a != 0]
            a = np.resize(a, 8)
        for one in (a, a[::2], a[:1].reshape(1, 1), a[3]):
            same(outcome(mine(name), nd4c.asarray(one)), outcome(getattr(np, name), one))
        if dtype != "uint64":  # lists of integers beyond int64 are uint64 here, of both kinds float64 in NumPy
            same(outcome(mine(name), a.tolist()), outcome(getattr(np, name), np.asarray(a.tolist())))


@pytest.mark.parametrize("name", TWO)
def test_two(name):
    function, reference = mine(name), getattr(np, name)
    for left in DTYPES:
        for right in DTYPES:
            a, b = values(left)[:4], values(right, 1)[:4]
            if "c" in (np.dtype(left).kind, np.dtype(right).kind) and name in FINITE:
                a, b = (np.where(np.isfinite(one) & (one != 0), one, 1).astype(one.dtype) for one in (a, b))
            if name == "pow" and a.dtype.kind in "biu" and b.dtype.kind in "biu":
                a, b = (np.minimum(np.maximum(one, 0), 1).astype(one.dtype) for one in (a, b))
            if name in ("pow", "float_power"):
                a, b = (np.where(abs(one) > 10, 2, one).astype(one.dtype) for one in (a, b))
            if "shift" in name:
                b = np.minimum(np.maximum(b, 0), 3).astype(b.dtype)
            if name in ("gcd", "lcm"):
                a, b = (np.minimum(np.maximum(one, 0), 9).astype(one.dtype) for one in (a, b))
            same(outcome(function, nd4c.asarray(a), nd4c.asarray(b)), outcome(reference, a, b))


@pytest.mark.parametrize("name", ["add", "divide", "less", "maximum", "logical_and", "pow", "copysign"])
@pytest.mark.parametrize("number", [2, True, 1.5, 1j])
def test_python_numbers(name, number):
    for dtype in DTYPES:
        a = np.asarray([1, 0, 1], dtype=dtype)
        for arguments, others in (((nd4c.asarray(a), number), (a, number)), ((number, nd4c.asarray(a)), (number, a))):
            same(outcome(mine(name), *arguments), outcome(getattr(np, name), *others))


@pytest.mark.parametrize("name", ["modf", "frexp"])
def test_two_results(name):
    for dtype in DTYPES:
        a = np.concatenate([values(dtype).ravel(), np.asarray([5e-324, 1e-310, 1e300]).astype(dtype)]) if (
            dtype == "float64") else values(dtype)
        if np.dtype(dtype).kind == "f" and name == "frexp":
            a = np.concatenate([a[np.isfinite(a)], a[:0]])
        same(outcome(mine(name), nd4c.asarray(a)), outcome(getattr(np, name), a), exact=True)
    first, second = nd4c.zeros(2), nd4c.zeros(2, dtype="int32" if name == "frexp" else None)
    assert mine(name)([1.5, 8.0], first, second) == (first, second) and float(nd4c.sum(nd4c.abs(first))) > 0
    assert mine(name)([1.5, 8.0], out=(first, None))[0] is first


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_parts_of_any_bits(dtype):
    """Every float16; of the others random bits, zeros, subnormals, and the greatest, with their signs."""
    if dtype == "float16":
        a = np.arange(65536).astype(np.uint16).view(dtype)
    else:
        limits = np.finfo(dtype)
        ends = np.asarray([0, limits.max, limits.tiny, limits.tiny / 2, limits.smallest_subnormal, np.inf, 1, 2, 1.5], dtype)
        a = np.concatenate([ends, -ends, np.frombuffer(np.random.default_rng(1).bytes(16384), dtype)])
    with np.errstate(all="ignore"):
        for name in ("spacing", "modf", "frexp"):
            got, wanted = getattr(xp, name)(nd4c.asarray(a)), getattr(np, name)(a)
            for one, other in zip(*((made if type(made) is tuple else (made,)) for made in (got, wanted))):
                one = np.asarray(one)
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(np.signbit(one[np.isfinite(a)]), np.signbit(other[np.isfinite(a)]))


def test_divmod_and_ldexp():
    for dtype in DTYPES:
        a, b = values(dtype)[:4], values(dtype, 1)[:4]
        same(outcome(xp.divmod, nd4c.asarray(a), nd4c.asarray(b)), outcome(np.divmod, a, b))
        for exponents in ("int8", "int32", "int64", "uint64", "float32", "bool"):
            e = np.asarray([1, 0, 1, 1]).astype(exponents)
            same(outcome(xp.ldexp, nd4c.asarray(a), nd4c.asarray(e)), outcome(np.ldexp, a, e))
    same(divmod(nd4c.asarray([7, -7]), 3), divmod(np.asarray([7, -7]), 3))
    same(divmod(7, nd4c.asarray([2, 3])), divmod(7, np.asarray([2, 3])))


def test_out_where_dtype_casting():
    a, b = np.arange(6.0).reshape(2, 3), np.asarray([1.0, 2.0, 3.0])
    for named in ({}, {"dtype": "float32"}, {"dtype": "complex128"}, {"dtype": int}, {"dtype": int, "casting": "unsafe"},
                  {"casting": "safe"}, {"casting": "what"}, {"order": "F"}, {"order": "Z"}, {"signature": "dd->d"},
                  {"signature": "ff->f", "casting": "same_kind"}, {"signature": "dd->d", "dtype": float}, {"subok": False},
                  {"unknown": 1}):
        same(outcome(nd4c.add, nd4c.asarray(a), b, **named), outcome(np.add, a, b, **named))
    for dtype in ("float64", "float32", "int64", "complex64"):
        for shape in ((2, 3), (4, 2, 3), (3,), (2, 1)):
            for mask in (True, [True, False, True], [[True], [False]]):
                out, theirs = nd4c.ones(shape, dtype=dtype), np.ones(shape, dtype=dtype)
                got = outcome(nd4c.multiply, nd4c.asarray(a), b, out=out, where=mask)
                same(got, outcome(np.multiply, a, b, out=theirs, where=mask))
                assert got is out or isinstance(got, type)
                same(out, theirs)
    target = np.zeros((2, 3))
    assert nd4c.add(nd4c.asarray(a), 1, out=target) is target and (target == a + 1).all()
    x = nd4c.asarray(a)
    assert nd4c.add(x, x, x) is x and nd4c.exp(x, out=(x,)) is x
    view = nd4c.asarray(np.arange(8.0))
    nd4c.add(view[1:], 1, out=view[:-1])
    same(view, np.asarray([2.0, 3, 4, 5, 6, 7, 8, 7]))
    for wrong in (3, (x, x), "out"):
        with pytest.raises((TypeError, ValueError), match="out"):
            nd4c.add(x, 1, out=wrong)
    with pytest.raises(TypeError, match="where"):
        nd4c.add(x, 1, where=[1, 0, 1])


@pytest.mark.parametrize("name", "add multiply subtract maximum minimum logical_and logical_or logical_xor bitwise_and bitwise_or "
                                 "bitwise_xor fmax fmin gcd hypot logaddexp divide".split())
def test_reductions_of_functions(name):
    function, reference = mine(name), getattr(np, name)
    rng = np.random.default_rng(0)
    for dtype in ("bool", "int32", "uint8", "float32", "float64", "complex128"):
        a = (rng.random((3, 5)) * 5 + 1).astype(dtype)
        for named in ({}, {"axis": 1}, {"axis": None}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}, {"axis": 2}, {"initial": 2},
                      {"axis": 0, "where": a.real > 2, "initial": 1}):
            got, wanted = outcome(function.reduce, a, **named), outcome(reference.reduce, a, **named)
            close(got, wanted)
        for axis in (0, 1):
            close(outcome(function.accumulate, a, axis), outcome(reference.accumulate, a, axis))
            for places in ([0, 2], [0, 2, 1], [1, 1, 2], []) + (([9],) if dtype == "int32" else ()):
                places = np.asarray(places, dtype=int)
                close(outcome(function.reduceat, a, places, axis), outcome(reference.reduceat, a, places, axis))
        close(outcome(function.outer, a[0], a[1, :2]), outcome(reference.outer, a[0], a[1, :2]))
    with pytest.raises(ValueError):
        nd4c.exp.reduce([1.0])


def close(got, wanted):
    """As same(), within what another order of the additions makes of the last places."""
    if isinstance(wanted, type):
        assert isinstance(got, type) and issubclass(got, wanted), (got, wanted)
        return
    wanted = np.asarray(wanted)
    assert str(got.dtype) == wanted.dtype.name and got.shape == wanted.shape, (got, wanted)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol={"float16": 1e-2, "float32": 1e-5}.get(wanted.dtype.name, 1e-12))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "bitwise_or", "negative", "logical_and"])
def test_at(name):
    for dtype in ("int32", "float64", "bool"):
        a, b = np.asarray([1, 2, 0, 4]).astype(dtype), np.asarray([1, 2, 1]).astype(dtype)
        x = nd4c.asarray(a.copy())
        for places in ([0, 1, 0], slice(0, 3), np.asarray([3, 3, 3])):
            operands = () if name == "negative" else (b,)
            wanted = outcome(getattr(np, name).at, a, places, *operands)
            got = outcome(mine(name).at, x, places, *operands)
            assert got is wanted or issubclass(got, wanted)
            same(x, a)


def test_attributes_of_functions():
    for name in ONE + TWO + ["modf", "frexp", "divmod", "ldexp"]:
        function, reference = mine(name), getattr(np, name)
        assert (function.nin, function.nout, function.nargs) == (reference.nin, reference.nout, reference.nargs), name
        assert list(inspect.signature(function).parameters) == list(inspect.signature(reference).parameters), name
        assert function.identity == reference.identity and function.signature is None
        assert function.ntypes == len(function.types) > 0
    assert pickle.loads(pickle.dumps(nd4c.add)) is nd4c.add and pickle.loads(pickle.dumps(xp.cbrt)) is xp.cbrt
    assert xp.add is nd4c.add and xp.arccos is nd4c.acos and xp.power is nd4c.pow


def test_rounding_clipping_and_parts():
    rng = np.random.default_rng(1)
    for dtype in DTYPES:
        a = (rng.random((2, 4)) * 99 + 1).astype(dtype)
        for decimals in (0, 1, -1):
            same(outcome(nd4c.round, a, decimals), outcome(np.round, a, decimals))
        for low, high in ((2, 50), (None, 7), (3, None), (a[0], 60), (-1000, 1000), (1.5, 20.25), (a[:, :1], None)):
            if dtype != "bool":
                same(outcome(nd4c.clip, a, low, high), outcome(np.clip, a, low, high))
        same(nd4c.real(a), np.real(a))
        same(nd4c.imag(a), np.imag(a))
    with pytest.raises(ValueError, match="clip: a bound comes twice"):
        nd4c.clip([1], 0, 2, a_min=0)
    same(nd4c.clip(a=[1, 5, 9], a_min=2, a_max=6), np.clip([1, 5, 9], a_min=2, a_max=6))


def test_tests_of_elements():
    a, b = np.asarray(FLOATS), np.roll(FLOATS, 1)
    for named in ({}, {"equal_nan": True}, {"rtol": 0.5}, {"atol": [1.0] * len(a)}):
        same(outcome(xp.isclose, a, b, **named), outcome(np.isclose, a, b, **named))
    assert xp.allclose([1.0], [1.0 + 1e-9]) is True and xp.allclose([1.0], [2.0]) is False
    for left, right in (([1, 2], [1.0, 2.0]), ([1, 2], [[1, 2]]), (["a"], ["a"]), ([1], ["a"]), ([np.nan], [np.nan]), ([], [])):
        assert xp.array_equal(left, right) == np.array_equal(left, right)
        assert xp.array_equiv(left, right) == np.array_equiv(left, right)
    assert xp.array_equal([np.nan], [np.nan], equal_nan=True) is True
    for name in ("isneginf", "isposinf", "iscomplex", "isreal", "fix", "angle", "nan_to_num"):
        for dtype in DTYPES:
            same(outcome(getattr(xp, name), values(dtype)), outcome(getattr(np, name), values(dtype)))
    same(xp.nan_to_num(a, nan=1.0, posinf=2.0, neginf=[3.0] * len(a)), np.nan_to_num(a, nan=1.0, posinf=2.0, neginf=[3.0] * len(a)))
    same(xp.real_if_close([2.1 + 4e-14j], tol=1000), np.real_if_close([2.1 + 4e-14j], tol=1000))
    same(xp.angle([1j, -1], deg=True), np.angle([1j, -1], deg=True))


def test_bits():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, (3, 11))
    for order in ("big", "little"):
        for axis in (None, 0, 1, -1):
            packed = np.packbits(a, axis=axis, bitorder=order)
            same(xp.packbits(a, axis=axis, bitorder=order), packed)
            for count in (None, 5, -3, 90):
                same(xp.unpackbits(packed, axis=axis, count=count, bitorder=order),
                     np.unpackbits(packed, axis=axis, count=count, bitorder=order))
    for number in (0, 5, -5, 255, -128):
        assert xp.binary_repr(number) == np.binary_repr(number) and xp.binary_repr(number, 12) == np.binary_repr(number, 12)
        assert xp.base_repr(number, 7, 2) == np.base_repr(number, 7, 2)
    for wrong in (lambda: xp.packbits([1.5]), lambda: xp.unpackbits([1]), lambda: xp.base_repr(3, 40)):
        with pytest.raises((TypeError, ValueError)):
            wrong()


def test_examples():
    """The examples of all functions and methods of this chapter run as they stand."""
    from nd4c._arrays import flat as _flat, layout as _layout, protocols as _protocols
    from nd4c._functions import ufunc as _ufunc
    from nd4c.numpy import _bits, _tests_of_elements
    objects = [mine(name) for name in ONE + TWO + ["modf", "frexp", "divmod", "ldexp", "round", "clip", "real", "imag"]]
    objects += [getattr(_tests_of_elements, name) for name in _tests_of_elements.__all__]
    objects += [getattr(_bits, name) for name in _bits.__all__] + [_flat.Flat, _layout.Flags, _layout.Ctypes]
    objects += [_ufunc.reduce, _ufunc.accumulate, _ufunc.reduceat, _ufunc.outer, _ufunc.at]
    objects += [_protocols.array_ufunc, _protocols.array_function, _protocols.array_wrap]
    objects += [method for name, method in vars(nd4c.Array).items() if not name.startswith("_") and hasattr(np.ndarray, name)
                and callable(method) and name not in ("tolist", "to_device")]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for one in objects:
        found = doctest.DocTestParser().get_doctest(one.__doc__, {"nd4c": nd4c, "np": xp}, one.__name__, None, 0)
        assert found.examples, one.__name__
        runner.run(found)
    assert runner.failures == 0 and len(objects) > 140

"""Functions of one and two arrays against NumPy: dtypes, shapes, views, Python numbers, promotion."""
import numpy as np
import pytest
from values import COMPLEX, EVERY, FLOATS, INTEGERS, NUMERIC, REAL, SHAPES, check, make, views

import nd4c

# name: dtypes, NumPy's name, ULPs of real results, range of floats
UNARY = {
    "abs": (NUMERIC, "absolute", 2, None), "negative": (NUMERIC, None, 0, None), "positive": (NUMERIC, None, 0, None),
    "sign": (REAL, None, 0, None), "square": (NUMERIC, None, 1, None), "ceil": (REAL, None, 0, None),
    "floor": (REAL, None, 0, None), "trunc": (REAL, None, 0, None), "round": (NUMERIC, None, 0, None),
    "conj": (NUMERIC, None, 0, None), "real": (NUMERIC, None, 0, None), "imag": (NUMERIC, None, 0, None),
    "isfinite": (NUMERIC, None, 0, None), "isinf": (NUMERIC, None, 0, None), "isnan": (NUMERIC, None, 0, None),
    "signbit": (FLOATS, None, 0, None), "logical_not": (("bool",), None, 0, None),
    "bitwise_invert": (("bool",) + INTEGERS, "bitwise_not", 0, None),
    "sqrt": (FLOATS, None, 0, (0, 9)), "reciprocal": (FLOATS, None, 1, (0.5, 4)), "exp": (FLOATS, None, 2, None),
    "expm1": (FLOATS, None, 2, None), "log": (FLOATS, None, 2, (0.01, 9)), "log1p": (FLOATS, None, 2, (-0.9, 9)),
    "log2": (FLOATS, None, 3, (0.01, 9)), "log10": (FLOATS, None, 3, (0.01, 9)), "sin": (FLOATS, None, 2, None),
    "cos": (FLOATS, None, 2, None), "tan": (FLOATS, None, 4, (-1.4, 1.4)), "sinh": (FLOATS, None, 4, None),
    "cosh": (FLOATS, None, 4, None), "tanh": (FLOATS, None, 4, None), "asin": (FLOATS, "arcsin", 4, (-1, 1)),
    "acos": (FLOATS, "arccos", 4, (-1, 1)), "atan": (FLOATS, "arctan", 4, None), "asinh": (FLOATS, "arcsinh", 4, None),
    "acosh": (FLOATS, "arccosh", 4, (1, 9)), "atanh": (FLOATS, "arctanh", 4, (-0.9, 0.9)),
}
COMPLEX_UNARY = ("sqrt", "reciprocal", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan",
                 "asinh", "acosh", "atanh", "log2", "log10", "log1p", "expm1", "sign")
BINARY = {
    "add": (NUMERIC, None, 0), "subtract": (NUMERIC, None, 0), "multiply": (NUMERIC, None, 2),
    "divide": (FLOATS, None, 0), "floor_divide": (REAL, None, 0), "remainder": (REAL, None, 0), "pow": (REAL, "power", 2),
    "maximum": (REAL, None, 0), "minimum": (REAL, None, 0), "equal": (EVERY, None, 0), "not_equal": (EVERY, None, 0),
    "less": (REAL, None, 0), "less_equal": (REAL, None, 0), "greater": (REAL, None, 0), "greater_equal": (REAL, None, 0),
    "logical_and": (("bool",), None, 0), "logical_or": (("bool",), None, 0), "logical_xor": (("bool",), None, 0),
    "bitwise_and": (("bool",) + INTEGERS, None, 0), "bitwise_or": (("bool",) + INTEGERS, None, 0),
    "bitwise_xor": (("bool",) + INTEGERS, None, 0), "bitwise_left_shift": (INTEGERS, None, 0),
    "bitwise_right_shift": (INTEGERS, None, 0), "atan2": (FLOATS, "arctan2", 4), "copysign": (FLOATS, None, 0),
    "hypot": (FLOATS, None, 2), "logaddexp": (FLOATS, None, 4), "nextafter": (FLOATS, None, 0),
}
PAIRS = ((), ()), ((7,), (7,)), ((3, 5), (5,)), ((3, 1), (1, 5)), ((2, 3, 4), ()), ((), (4,)), ((0, 3), (3,)), ((40,), (40,))


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    dtypes, numpy_name, tolerance, span = UNARY[name]
    rng = np.random.default_rng(1)
    function, reference = getattr(nd4c, name), getattr(np, numpy_name or name)
    for dtype in dtypes:
        for shape in SHAPES:
            whole = make(rng, shape, dtype, *(span or ()))
            for a in views(rng, whole):
                wanted = reference(a)
                if name in ("ceil", "floor", "trunc"):
                    wanted = np.asarray(wanted).astype(dtype)
                check(function(nd4c.asarray(a)), wanted, tolerance)


@pytest.mark.parametrize("name", COMPLEX_UNARY)
def test_complex(name):
    rng = np.random.default_rng(2)
    reference = getattr(np, (UNARY.get(name) or (0, None))[1] or name)
    for dtype in COMPLEX:
        a = make(rng, (50,), dtype, 0.3, 2)
        check(getattr(nd4c, name)(nd4c.asarray(a)), reference(a.astype("c16")).astype(dtype), 8)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    dtypes, numpy_name, tolerance = BINARY[name]
    rng = np.random.default_rng(3)
    function, reference = getattr(nd4c, name), getattr(np, numpy_name or name)
    for dtype in dtypes:
        for left, right in PAIRS:
            a, b = make(rng, left, dtype), make(rng, right, dtype)
            if name in ("floor_divide", "remainder", "divide") and np.dtype(dtype).kind in "iu":
                b = np.where(b == 0, np.asarray(3, dtype), b)
            if name == "pow":
                a, b = np.abs(a), np.abs(b) % 4
            if "shift" in name:
                a, b = np.abs(a), np.abs(b) % 4
            for one in views(rng, a):
                with np.errstate(all="ignore"):
                    wanted = reference(one, b)
                check(function(nd4c.asarray(one), nd4c.asarray(b)), wanted, tolerance)


@pytest.mark.parametrize("operator", ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "@"))
def test_operators(operator):
    rng = np.random.default_rng(4)
    code = compile("a %s b" % operator, operator, "eval")
    for dtype in ("int32", "int64", "float32", "float64"):
        a, b = (make(rng, (4, 4), dtype, 1, 5) for _ in range(2))
        wanted = eval(code, {"a": a, "b": b})
        check(eval(code, {"a": nd4c.asarray(a), "b": nd4c.asarray(b)}), wanted, 4)
        if operator != "@":
            check(eval(code, {"a": nd4c.asarray(a), "b": 2}), eval(code, {"a": a, "b": 2}), 4)
            check(eval(code, {"a": 3, "b": nd4c.asarray(b)}), eval(code, {"a": 3, "b": b}), 4)


@pytest.mark.parametrize("operator", ("+=", "-=", "*=", "//=", "%=", "**=", "/=", "&=", "|=", "^=", "<<=", ">>="))
def test_in_place(operator):
    rng = np.random.default_rng(5)
    dtypes = {"/=": FLOATS, "&": INTEGERS}.get(operator, INTEGERS if operator[0] in "&|^<>" else ("int32", "float64"))
    for dtype in dtypes:
        for other in (make(rng, (3, 4), dtype, 1, 3), make(rng, (4,), dtype, 1, 3), 2):
            names = {"a": make(rng, (3, 4), dtype, 1, 5), "b": other}
            mine = {"a": nd4c.asarray(names["a"].copy()), "b": nd4c.asarray(other) if isinstance(other, np.ndarray) else other}
            same, view = mine["a"], mine["a"][1:]
            exec("a %s b" % operator, names)
            exec("a %s b" % operator, mine)
            assert mine["a"] is same
            check(same, names["a"], 4)
            check(view, names["a"][1:], 4)


def test_in_place_keeps_dtype_and_shape():
    x = nd4c.ones((3,), dtype="float32")
    x += nd4c.ones((3,), dtype="float64")
    assert x.dtype is nd4c.float32 and x.tolist() == [2, 2, 2]
    i = nd4c.asarray([1, 2, 3])
    with pytest.raises(TypeError):
        i += 1.5
    with pytest.raises(ValueError):
        x += nd4c.ones((2, 3), dtype="float32")
    assert i.tolist() == [1, 2, 3] and x.tolist() == [2, 2, 2]


def test_promotion():
    rng = np.random.default_rng(6)
    for one in EVERY:
        for other in EVERY:
            a, b = make(rng, (3,), one), make(rng, (3,), other)
            assert nd4c.result_type(nd4c.asarray(a), nd4c.asarray(b)).name == np.result_type(a, b).name
            if one != "bool" or other != "bool":
                check(nd4c.asarray(a) + nd4c.asarray(b), a + b)


@pytest.mark.parametrize("number", (True, 3, 2.5, 1.5 - 2j))
def test_python_numbers(number):
    """A Python number takes the array's dtype if that can hold its kind: NumPy's rule, too."""
    rng = np.random.default_rng(7)
    for dtype in NUMERIC:
        a = make(rng, (4,), dtype)
        check(nd4c.asarray(a) + number, a + number, 1)
        check(number - nd4c.asarray(a), number - a, 1)
        assert nd4c.result_type(nd4c.asarray(a), number).name == np.result_type(a, number).name


def test_scalars_of_numpy_are_arrays():
    a = np.arange(3, dtype="float32")
    for scalar in (np.float64(1.5), np.float32(2), np.int64(3)):
        check(nd4c.asarray(a) + scalar, a + scalar)
        check(scalar + nd4c.asarray(a), scalar + a)


def test_numbers_out_of_range():
    with pytest.raises(OverflowError, match="300.*int8"):
        nd4c.asarray([1], dtype="int8") + 300
    with pytest.raises(OverflowError):
        nd4c.asarray([1, 2 ** 70])
    assert (nd4c.asarray([1], dtype="uint64") + (2 ** 64 - 2)).tolist() == [2 ** 64 - 1]


def test_zeros_keep_their_signs():
    for dtype in FLOATS:
        zeros = nd4c.asarray([-0.0] * 20 + [0.0] * 20, dtype=dtype)
        kept = [True] * 20 + [False] * 20
        for name in ("sin", "tan", "tanh", "sinh", "asin", "atan", "asinh", "atanh", "expm1", "log1p", "sqrt", "ceil",
                     "floor", "trunc", "round"):
            assert nd4c.signbit(getattr(nd4c, name)(zeros)).tolist() == kept, name
        assert not nd4c.any(nd4c.signbit(nd4c.sign(zeros)))


def test_integers_where_floats_are_needed():
    x = nd4c.asarray([1, 2, 3])
    check(nd4c.sqrt(x), np.sqrt([1, 2, 3]), 1)
    check(nd4c.mean(x), np.mean([1, 2, 3]))


def test_clip():
    rng = np.random.default_rng(8)
    for dtype in REAL:
        a = make(rng, (3, 4), dtype)
        check(nd4c.clip(nd4c.asarray(a), 1, 3), np.clip(a, np.asarray(1, dtype), np.asarray(3, dtype)))
        low = make(rng, (4,), dtype)
        check(nd4c.clip(nd4c.asarray(a), nd4c.asarray(low), None), np.maximum(a, low))
        check(nd4c.clip(nd4c.asarray(a), max=2), np.minimum(a, np.asarray(2, dtype)))
        check(nd4c.clip(nd4c.asarray(a)), a)


def test_where():
    rng = np.random.default_rng(9)
    condition = make(rng, (3, 4), "bool")
    for dtype in EVERY:
        a, b = make(rng, (4,), dtype), make(rng, (3, 1), dtype)
        check(nd4c.where(nd4c.asarray(condition), nd4c.asarray(a), nd4c.asarray(b)), np.where(condition, a, b))
    check(nd4c.where(nd4c.asarray(condition), 1.5, nd4c.asarray(a)), np.where(condition, 1.5, a))
    check(nd4c.where(nd4c.asarray(condition), 1, 0), np.where(condition, 1, 0))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_masks_beside_numbers(dtype):
    """A bool beside a number counts as the number's 0 or 1, as in NumPy; of two bools, + is `or` and * is `and`."""
    rng = np.random.default_rng(10)
    a, mask = make(rng, (3, 4), dtype), make(rng, (4,), "bool")
    x, m = nd4c.asarray(a), nd4c.asarray(mask)
    for name in ("__add__", "__sub__", "__mul__"):
        check(getattr(x, name)(m), getattr(a, name)(mask))
        check(getattr(m, name)(x), getattr(mask, name)(a))
    check(nd4c.multiply(m, x), mask * a)
    kept = x
    x *= m
    check(x, a * mask)
    assert x is kept and str(x.dtype) == dtype
    with pytest.raises(TypeError, match="subtract.*bool"):
        m - m
    with pytest.raises(TypeError):
        m *= x
    with pytest.raises(TypeError, match="multiply"):
        m * nd4c.asarray(["text"])
    check(m + m, mask + mask)
    check(m * m, mask * mask)


def test_masks_beside_python_numbers():
    mask = np.asarray([True, False])
    m = nd4c.asarray(mask)
    for got, expected in ((m * 2, mask * 2), (1 - m, 1 - mask), (m * 0.5, mask * 0.5), (2j * m, 2j * mask)):
        check(got, expected)

"""The manners of NumPy 2 in the calls that surprise first: Python's numbers beyond a dtype, rules of casting, dtypes of sums,
reductions of one element, shapes of no element. Each test makes one call with NumPy and with nd4c.numpy."""
import operator
import platform
import warnings

import numpy as np
import pytest

import nd4c
import nd4c.numpy as xp

pytestmark = pytest.mark.filterwarnings("ignore")
INTEGERS = ("int8", "uint8", "int16", "int64", "uint64", "bool")
BEYOND = (2, 256, -1, -300, 2 ** 40, 2 ** 63, 2 ** 64, -2 ** 70)


def outcome(function, module):
    try:
        return function(module)
    except Exception as error:
        return error


def alike(function, text, tolerance=0):
    """The same dtype, shape and elements, or an error of the same built-in class."""
    wanted, got = outcome(function, np), outcome(function, xp)
    if isinstance(wanted, Exception):
        kinds = [one for one in type(wanted).__mro__ if one.__module__ == "builtins"]
        assert isinstance(got, kinds[0]), "%s: NumPy raises %r, here %r" % (text, wanted, got)
        return
    assert not isinstance(got, Exception), "%s: %r" % (text, got)
    assert type(got) is nd4c.Array, text
    wanted = np.asarray(wanted)
    assert (str(got.dtype), got.shape) == (wanted.dtype.name, wanted.shape), (text, got, wanted)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=tolerance, err_msg=text)


# -- Python's numbers ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["truediv", "add", "mul", "floordiv", "mod", "and_", "lt", "eq"])
def test_operators_with_numbers_beyond_the_dtype(name):
    compute = getattr(operator, name)
    for dtype in INTEGERS:
        for number in BEYOND:
            if name in ("lt", "eq") and dtype == "bool" and not -2 ** 63 <= number < 2 ** 63:
                continue  # NumPy refuses to compare bools with these
            alike(lambda m: compute(m.asarray([1, 1, 0, 1], dtype=dtype), number), "%s %s %s" % (dtype, name, number))
            alike(lambda m: compute(number, m.asarray([1, 1, 1], dtype=dtype)), "%s %s %s" % (number, name, dtype))


@pytest.mark.parametrize("name", ["divide", "true_divide", "add", "maximum", "remainder", "arctan2", "hypot", "copysign", "fmod",
                                  "power", "gcd"])
def test_functions_with_numbers_beyond_the_dtype(name):
    for dtype in INTEGERS:
        for number in BEYOND:
            alike(lambda m: getattr(m, name)(m.asarray([1, 1, 1], dtype=dtype), number), "%s(%s, %s)" % (name, dtype, number), 1e-3)
            alike(lambda m: getattr(m, name)(number, m.asarray([1, 1, 1], dtype=dtype)), "%s(%s, %s)" % (name, number, dtype), 1e-3)


@pytest.mark.parametrize("other", ["bool", "uint8", "float32"])
def test_products_of_masks(other):
    """Of two masks the operator @ gives a mask; beside numbers they are 0 and 1. 300 ones would wrap to 44 in uint8."""
    def operand(module, shape, dtype):
        return module.asarray(np.arange(np.prod(shape)).reshape(shape) % 3 != 1, dtype=dtype)

    for left, right in (((3, 5), (5, 4)), ((2, 3, 5), (5,)), ((300,), (300,)), ((256, 256), (256, 256))):
        what = "%s @ %s %s" % (left, right, other)
        alike(lambda m: operand(m, left, "bool") @ operand(m, right, other), what)
        alike(lambda m: operand(m, left, other) @ operand(m, right, "bool"), what)
    alike(lambda m: operator.imatmul(operand(m, (3, 3), "bool"), operand(m, (3, 3), other)), "@= %s" % other)
    alike(lambda m: m.ones((256, 256), dtype=bool) @ m.ones((256, 256), dtype=bool), "256 ones")
    alike(lambda m: m.einsum("ij,jk", m.ones((2, 512), dtype=bool), m.ones((512, 2), dtype=bool)), "512 ones")


def test_quotients_beyond_the_dtype_into_an_array():
    alike(lambda m: operator.itruediv(m.asarray([1, 2], dtype="uint8"), 256), "uint8 /= 256")
    alike(lambda m: m.divide(m.asarray([1, 2], dtype="uint8"), 256, out=m.zeros(2)), "out of float64")
    alike(lambda m: m.divide(m.asarray([1, 2], dtype="uint8"), 256, out=m.zeros(2, dtype="float32")), "out of float32")
    alike(lambda m: m.divide(m.asarray([1, 2], dtype="uint8"), 256, out=m.zeros(2, dtype="int8")), "out of int8")
    alike(lambda m: m.asarray([1.0]) / 10 ** 400, "float64 / 10**400")
    alike(lambda m: m.asarray([1]) / 10 ** 400, "int64 / 10**400")


def test_powers_of_floats_and_integers():
    for base in (0.5, 2.0, 2, -2, True):
        for dtype in ("int8", "int32", "int64", "uint8", "float32"):
            for exponents in ([-1, 2], [1, 2], [], -3):
                if dtype == "uint8" and exponents in ([-1, 2], -3):
                    continue
                alike(lambda m: m.power(base, m.asarray(exponents, dtype=dtype)), "power(%r, %s %s)" % (base, dtype, exponents))
                alike(lambda m: base ** m.asarray(exponents, dtype=dtype), "%r ** %s %s" % (base, dtype, exponents))
    alike(lambda m: m.power(0.5, m.asarray([-1, 2]), out=m.zeros(2)), "power into floats")


# -- casting ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_casting_of_inputs(casting):
    pairs = [("int32", "int64"), ("int64", "int64"), ("int64", "float32"), ("uint8", "int8"), ("bool", "int64"), ("float32", "float64"),
             ("int64", "uint64"), ("int16", "int16"), ("float64", "float64")]
    for name in ("add", "multiply", "hypot", "equal", "less", "logical_and", "bitwise_and", "divide", "power", "maximum", "gcd"):
        for a, b in pairs + [(b, a) for a, b in pairs]:
            alike(lambda m: getattr(m, name)(m.asarray([1, 1], dtype=a), m.asarray([1, 1], dtype=b), casting=casting),
                  "%s(%s, %s, casting=%r)" % (name, a, b, casting), 1e-6)
    for name in ("sqrt", "negative", "floor", "isnan", "logical_not", "abs", "square", "signbit"):
        for dtype in ("bool", "int16", "int64", "float32", "float64"):
            alike(lambda m: getattr(m, name)(m.asarray([1, 1], dtype=dtype), casting=casting),
                  "%s(%s, casting=%r)" % (name, dtype, casting))
    alike(lambda m: m.add(m.asarray([1, 2], dtype="int8"), 2, casting="no"), "a Python number has no dtype")


# -- reductions ------------------------------------------------------------------------------------------------------

NAMED = [{}, {"axis": None}, {"keepdims": True}, {"initial": 4}, {"axis": ()}, {"dtype": "float64"}, {"dtype": bool}, {"initial": None}]


def reduced(m, name, values, named):
    """With AVX-512 NumPy 2.4 forgets the first of two floats in power.reduce(..., initial=4); as objects it does not."""
    if m is np and name == "power" and named == {"initial": 4} and values.dtype.kind == "f":
        return np.asarray(np.power.reduce(values.astype(object), **named)).astype(values.dtype)
    return getattr(m, name).reduce(m.asarray(values), **named)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power", "hypot", "gcd", "lcm", "maximum", "minimum",
                                  "logaddexp", "bitwise_and", "logical_or", "copysign", "floor_divide", "equal"])
def test_reductions_of_few_elements(name):
    for dtype in ("int32", "float32", "float64", "bool"):
        for values in ([-3], [5], [], [[5], [6]], 7):
            if values == [] and name == "lcm":
                continue
            for named in NAMED:
                if values == [] and "dtype" in named:
                    continue  # NumPy decides by the dtype, nd4c by the missing identity
                alike(lambda m: reduced(m, name, np.asarray(values, dtype=dtype), named),
                      "%s.reduce(%s %s, %s)" % (name, dtype, values, named), 2e-3 if dtype == "bool" else 1e-6)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "nansum", "nanprod", "cumsum", "cumprod"])
def test_sums_of_bools_and_integers(name):
    for source in ("int32", "float64", "bool", "uint8"):
        for values in ([0, 2, 3], [0, 0], [0.9, 0.9, 1.9, 0.2], [[1, 2], [0, 0]]):
            for dtype in (bool, int, "float32"):
                array = np.asarray(values).astype(source)
                for named in ({}, {"axis": -1}):
                    alike(lambda m: getattr(m, name)(m.asarray(array), dtype=dtype, **named),
                          "%s(%r, dtype=%s, %s)" % (name, array, dtype, named), 1e-6)
                    if name[:3] != "nan":
                        alike(lambda m: getattr(m.asarray(array), name)(dtype=dtype, **named),
                              "%r.%s(dtype=%s, %s)" % (array, name, dtype, named), 1e-6)
    if name in ("sum", "prod"):
        alike(lambda m: getattr(m, name)(m.asarray([0, 2, 3]), dtype=bool, initial=3), "initial")
        alike(lambda m: getattr(m, name)([2, 0, 3], dtype=bool, where=m.asarray([True, False, True])), "where")
        alike(lambda m: getattr(m, name)([[0, 2], [1, 1]], dtype=bool, axis=0, keepdims=True), "keepdims")
        alike(lambda m: getattr(m, name)(m.zeros((0, 2)), dtype=bool, axis=0), "no element")


def test_running_sums_of_bools_with_their_first():
    for name in ("cumulative_sum", "cumulative_prod"):
        alike(lambda m: getattr(m, name)(m.asarray([0, 2, 0]), dtype=bool, include_initial=True), name)


def test_trace_of_bools():
    alike(lambda m: m.trace(m.asarray([[1, 2], [0, 0]]), dtype=bool), "trace")


# -- shapes ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_shapes_without_elements(name):
    """A 0 among the extents gives no leave for the others to overflow: NumPy multiplies without it."""
    for shape in [(2 ** 40, 2 ** 40, 0), (0, 2 ** 40, 2 ** 40), (2 ** 62, 0, 4), (2 ** 63, 0), (2 ** 31, 2 ** 31, 2), (2 ** 62, 0, 0),
                  (2 ** 40, 2 ** 19, 0), (2 ** 40, 2 ** 22, 0), (2 ** 30, 0, 2 ** 29), (-1, 0), (0, -1), (2 ** 63 - 1, 0), (0, 3), 0]:
        for dtype in ("float64", "uint8", "complex128"):
            alike(lambda m: getattr(m, name)(shape, dtype=dtype), "%s(%s, %s)" % (name, shape, dtype))


# -- values ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
                                   "complex64", None])
def test_full_at_the_ends_of_dtypes(dtype):
    for value in (1, -1, 0, 127, 128, 255, 256, -128, -129, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 1,
                  -2 ** 53, -2 ** 54, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64, 1.5, True):
        if dtype is None and value == 2 ** 64:
            continue  # an array of objects in NumPy
        alike(lambda m: m.full((2,), value, dtype=dtype), "full(%r, %s)" % (value, dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_full_of_floats_that_no_integer_is(dtype):
    """x86's casts, which NumPy's are: the values are those of NumPy on it, the warnings those of NumPy anywhere."""
    for value in (np.nan, np.inf, -np.inf, -1.5, 300.5, 3e9, 1e30, 2.0 ** 31, -2.0 ** 31, -2.0 ** 31 - 1, -2.0 ** 31 - 0.5, 2.0 ** 63,
                  -2.0 ** 63, 2.0 ** 64, np.float64("nan")):
        text = "full(%r, %s)" % (value, dtype)
        shown = []
        for module in (np, xp):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                module.full(2, value, dtype=dtype)
                module.full_like(module.ones(3, dtype=dtype), value)
            shown.append([(one.category, str(one.message)) for one in seen])
        assert shown[0] == shown[1] and all(one.filename == __file__ for one in seen), text
        if platform.machine() == "x86_64":
            alike(lambda m: m.full((2,), value, dtype=dtype), text)
            alike(lambda m: m.full_like(m.ones(3, dtype=dtype), value), text)
    with warnings.catch_warnings(), xp.errstate(invalid="ignore"):
        warnings.simplefilter("error")
        xp.full(2, np.nan, dtype=dtype)


@pytest.mark.parametrize("name", ["subtract", "add", "multiply", "maximum"])
def test_floats_at_places_of_integers_wrap(name):
    def applied(m, dtype, values):
        a = m.asarray([3, 100, 7], dtype=dtype)
        getattr(m, name).at(a, [0, 2, 0], values)
        return a
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        for values in ([5.5, 200, 1.25], 9.75, [-1.5, 300.5, 2], [5, 200, 1]):
            alike(lambda m: applied(m, dtype, values), "%s.at(%s, %s)" % (name, dtype, values))
    alike(lambda m: applied(m, "uint64", [2.0 ** 63, 2.0 ** 63 + 2048, 0]), "%s.at of great numbers" % name)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
def test_numbers_in_place_of_nan(dtype):
    values = np.asarray([1, -2, -0.0, 3] if dtype == "int32" else [1, np.nan, np.inf, -np.inf, -2, -0.0], dtype=dtype)
    for named in ({}, {"nan": 3}, {"posinf": 9, "neginf": -7}, {"nan": np.nan}, {"posinf": np.inf}, {"nan": 1e300}, {"posinf": 1e39},
                  {"nan": True}, {"posinf": np.nan}):
        alike(lambda m: m.nan_to_num(m.asarray(values), **named), "nan_to_num(%r, %s)" % (values, named))


def test_ranges_of_floats():
    for arguments in [(5.0,), (0, 1, 0.1), (1.5, -3, -0.7), (0.0, 1.0, 0.3), (3, 3, 0.5), (0, 7.000001, 1.0), (1, 0, 0.5)]:
        alike(lambda m: m.arange(*arguments), "arange%r" % (arguments,), 1e-12)
        alike(lambda m: m.arange(*arguments, dtype="float32"), "arange%r of float32" % (arguments,), 1e-3)

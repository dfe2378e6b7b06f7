"""NumPy's functions element by element that the standard lacks, and NumPy's names of those that it has."""
from nd4c import _dtypes
from nd4c._functions import elementwise as _standard, ufunc as _ufunc
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.elementwise import functions_of as _functions_of
from nd4c._functions.elementwise_table import NUMPY_ONE as _ONE, NUMPY_TWO as _TWO, rows as _table_rows
from nd4c._functions.support import cast as _cast, op as _op
from nd4c._functions.ufunc import FLOATS as _FLOATS, REAL as _REAL

_MODULE = "nd4c.numpy"


# -- what the ops lack -----------------------------------------------------------------------------------------------

def _spacing(x):
    """The distance from x to the next number away from zero, infinite beside the greatest number; NumPy gives zeros the
    distance above them, and float16 that to the next greater number, whatever the sign of x."""
    if x.dtype.name == "float16":
        distance = _op("subtract")(_op("nextafter")(x, float("inf")), x)
        return _op("where")(_op("is_finite")(x), distance, float("nan"))
    whole = _dtypes.by_name["int%d" % x.dtype.bits].number
    bits = _op("bit_cast")(_op("add")(x, 0.0), whole)  # -0.0 becomes 0.0
    return _op("subtract")(_op("bit_cast")(_op("add")(bits, 1), x.dtype.number), x)


def _halves(x):
    """modf: the fraction and the whole part, both with the sign of x."""
    whole = _op("trunc")(x)
    fraction = _op("where")(_op("is_inf")(x, True, True), 0.0, _op("subtract")(x, whole))
    return _op("copysign")(fraction, x), whole


_tables = {}  # by device


def _exponent_tables(x):
    """frexp's exponents by the upper 12 bits of a float64, its sign and exponent: 0 for zeros, infinities and NaN. The second list
    is for numbers below 2**-1022, which were multiplied by 2**52."""
    device = x.device if type(x) is Array else None
    if device not in _tables:
        plain = [0 if bits in (0, 0x7ff) else bits - 1022 for bits in range(0x800)] * 2
        small = [exponent - 52 if exponent else 0 for exponent in plain]
        _tables[device] = tuple([asarray(one, dtype="int32", device=device) for one in (plain, small)])
    return _tables[device]


def _mantissa(x):
    """frexp: x = mantissa * 2**exponent with a mantissa from 0.5 to 1; zeros, infinities and NaN have the exponent 0."""
    wide, is_double = _cast(x, _dtypes.by_name["float64"]), x.dtype.name == "float64"
    if is_double:
        is_small = _op("less")(_op("abs")(x), 2.0 ** -1022)
        wide = _op("where")(is_small, _op("multiply")(x, 2.0 ** 52), x)
    bits = _op("bit_cast")(wide, _dtypes.by_name["uint64"].number)
    upper = _cast(_op("bitwise_right_shift")(bits, 52), _dtypes.by_name["int32"])
    plain, small = _exponent_tables(x)
    exponent = _op("gather")(plain, upper, 0)
    if is_double:
        exponent = _op("where")(is_small, _op("gather")(small, upper, 0), exponent)
    return _op("ldexp")(x, _op("negative")(exponent)), exponent


def _quotient(x1, x2):
    return _op("floor_divide")(x1, x2), _op("remainder")(x1, x2)


def _power_of_doubles(x1, x2):
    return _op("power")(x1, x2)


def _count_bits(x):
    if type(x) is not Array:
        raise TypeError("bitwise_count: expected an array, got %s" % type(x).__name__)  # which makes an array of it
    return _op("bit_count")(_op("abs")(x) if x.dtype.kind == "i" else x)


_SPECIAL = {"spacing": _spacing, "rint": lambda x: _op("round")(x), "fabs": lambda x: _op("abs")(x),
            "float_power": _power_of_doubles, "bitwise_count": _count_bits, **_standard.ON_INTEGERS}
globals().update(_functions_of(_ONE, 1, _MODULE, "np", _SPECIAL))
globals().update(_functions_of(_TWO, 2, _MODULE, "np", _SPECIAL))

modf = _ufunc.make(_ufunc.Plan("modf", _halves, 1, _FLOATS, nout=2), _MODULE, """The fraction and the whole part, both with the sign of x.

Shapes: any; both results have the same.
Dtypes: floats; bools and small integers give float16 or float32, others float64.
Errors: TypeError for complex numbers and texts.

>>> np.modf([1.5, -2.25])
(array([ 0.5 , -0.25]), array([ 1., -2.]))
""")
frexp = _ufunc.make(_ufunc.Plan("frexp", _mantissa, 1, _FLOATS, nout=2), _MODULE, """Mantissa and exponent: x = mantissa * 2**exponent, the mantissa's size from 0.5 to 1.

Shapes: any; both results have the same.
Dtypes: floats, the mantissa's; the exponents are int32.
Errors: TypeError for complex numbers and texts.

>>> np.frexp([8.0, 0.75])
(array([0.5 , 0.75]), array([4, 0], dtype=int32))
""")
divmod = _ufunc.make(_ufunc.Plan("divmod", _quotient, 2, _REAL, nout=2), _MODULE, """The quotient, rounded down, and what it leaves.

Shapes: x1 and x2 are broadcast against each other.
Dtypes: real numbers; bools give int8.
Errors: TypeError for complex numbers and texts.

>>> np.divmod([7, -7], 3)
(array([ 2, -3]), array([1, 2]))
""")


class _Exponents(_ufunc.Plan):
    """ldexp, whose second operand keeps its integer dtype."""

    __slots__ = ()

    def __init__(self):
        super().__init__("ldexp", _op("ldexp"), 2, _FLOATS, direct=False)

    def compute(self, operands, dtype=None, casting="same_kind"):
        x, exponent = (one if type(one) is Array else asarray(one) for one in operands)
        if exponent.dtype.kind not in "bi" and not (
                exponent.dtype.kind == "u" and exponent.dtype.bits < 64):
            raise TypeError("ldexp: expected exponents of integers, got %s (not supported for the input types)" % exponent.dtype)
        loop = self.loop(x.dtype) if dtype is None else _dtypes.of(dtype)
        if loop is None or loop.kind != "f":
            raise TypeError("ldexp: not supported for the input types (%s)" % x.dtype)
        return self.call(_cast(x, loop), _cast(exponent, _dtypes.by_name["int64"]))


ldexp = _ufunc.make(_Exponents(), _MODULE, """x1 * 2**x2.

Shapes: x1 and x2 are broadcast against each other.
Dtypes: x1 floats, which the result is of; x2 integers.
Errors: TypeError for exponents that are no integers.

>>> np.ldexp([1.0, 3.0], [3, -1])
array([8. , 1.5])
""")


# -- NumPy's names ---------------------------------------------------------------------------------------------------

_NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "bitwise_not": "bitwise_invert", "conjugate": "conj", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "mod": "remainder", "power": "pow", "right_shift": "bitwise_right_shift",
    "true_divide": "divide", "around": "round",
}
globals().update({name: getattr(_standard, standard) for name, standard in _NAMES.items()})

from nd4c.numpy._tests_of_elements import *  # noqa: E402,F401,F403
from nd4c.numpy import _tests_of_elements as _tests  # noqa: E402

__all__ = sorted([*_NAMES, *[row[0] for row in _table_rows(_ONE)], *[row[0] for row in _table_rows(_TWO)], "divmod", "frexp",
                  "ldexp", "modf", *_tests.__all__])

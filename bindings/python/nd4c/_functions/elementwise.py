"""Functions element by element that the standard names: those of _functions/elementwise_table.py, and clip, round, real and imag."""
from operator import index as _index

from nd4c import _dtypes
from nd4c._abi import NUMBERS as _N
from nd4c._core import Array, calls as _calls
from nd4c._creation import asarray
from nd4c._functions.support import as_array as _as_array, cast as _cast, finish as _finish, op as _op
from nd4c._functions import ufunc as _ufunc
from nd4c._functions.elementwise_table import ONE, TWO, rows
from nd4c._functions.ufunc import FLOATS, INEXACT, INTEGERS, NUMBERS_OF_ALL_KINDS, REAL
from nd4c._symbols import ARRAYS, Dim

_LOOPS = {
    "bools and numbers": "?" + NUMBERS_OF_ALL_KINDS, "numbers": NUMBERS_OF_ALL_KINDS, "real numbers": REAL,
    "bools and real numbers": "?" + REAL, "floats": FLOATS, "floats and complex numbers": INEXACT, "integers": INTEGERS,
    "bools and integers": "?" + INTEGERS,
    "numbers, not bools": NUMBERS_OF_ALL_KINDS, "integers, not bools": INTEGERS, "doubles": "dD", "everything as bools": "truth",
    "numbers and texts": NUMBERS_OF_ALL_KINDS + "U",
}
_SMALL = "bools and small integers give float16 or float32, others float64."
_SAYS = {
    "floats": "floats; " + _SMALL, "floats and complex numbers": "floats and complex numbers; " + _SMALL,
    "doubles": "float64 and complex128, to which all others are converted.",
    "everything as bools": "all but texts; numbers count as True unless they are 0.",
}
_RESULTS = {"": None, "?": "?", "floating": INEXACT, "B": "B"}
_RESULT_SAYS = {"": "", "?": " The result is bool.", "floating": " The result has a floating dtype.", "B": " The result is uint8."}
_IDENTITIES = {"add": 0, "multiply": 1, "bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "logical_and": True,
               "logical_or": False, "logical_xor": False, "hypot": 0, "logaddexp": float("-inf"),
               "logaddexp2": float("-inf"), "gcd": 0}
_TEXT = """%s

Shapes: %s.
Dtypes: %s%s
Errors: TypeError for other dtypes%s.
out, where, dtype and casting are NumPy's.

>>> %s.%s(%s)
%s
"""


# -- what the ops lack -----------------------------------------------------------------------------------------------

def _copied(x):
    return _op("copy")(x)


def _or(a, b):
    return _op("logical_or")(a, b)


def _and(a, b):
    return _op("logical_and")(a, b)


def _is_infinite(x, out=None):
    return _op("is_inf")(x, True, True, out)


def _power(x1, x2):
    """x1 ** x2, of which the C library rounds integers to negative powers to 0, where NumPy refuses."""
    if (x2.dtype.kind if type(x2) in ARRAYS else "i" if type(x2) is int else "") == "i" and (
            (x1.dtype.kind if type(x1) in ARRAYS else "i" if type(x1) in (int, bool) else "f") in "iu"):
        least = x2 if type(x2) is int else int(_op("min")(x2, None, False)) if x2.size else 0
        if least < 0:
            if type(x2) is int and type(x1) in ARRAYS:
                asarray(x2, dtype=x1.dtype)  # an OverflowError, if x1's dtype does not hold the power, is NumPy's first
            raise ValueError("pow: integers to negative integer powers are not allowed; make one of them floats")
    return _op("power")(x1, x2)


def _whole_reciprocal(x):
    unit = _op("equal")(x, 1)
    if x.dtype.kind == "i":
        unit = _or(unit, _op("equal")(x, -1))
    return _op("where")(unit, x, 0)


def _by_parts(strict, equal):
    """A comparison of complex numbers: by their real parts, where these are equal by their imaginary ones."""
    def compare(a, b):
        a_real, b_real = _op("real")(a), _op("real")(b)
        return _or(_op(strict)(a_real, b_real),
                   _and(_op("equal")(a_real, b_real), _op(equal)(_op("imag")(a), _op("imag")(b))))
    return compare


def _one_of(compare, first_is_nan):
    """The maximum or minimum of complex numbers; first_is_nan: a NaN wins, else it loses."""
    def choose(a, b):
        chosen = compare(a, b)
        if first_is_nan:
            return _op("where")(_or(_op("is_nan")(a), chosen), a, b)
        return _op("where")(_or(_op("is_nan")(b), chosen), a, b)
    return choose


_GREATER_EQUAL, _LESS_EQUAL = _by_parts("greater", "greater_equal"), _by_parts("less", "less_equal")
_OTHER = {
    "abs": {"b": _copied}, "ceil": {"b": _copied}, "floor": {"b": _copied}, "trunc": {"b": _copied},
    "add": {"b": _or}, "multiply": {"b": _and},
    "maximum": {"b": _or, "c": _one_of(_GREATER_EQUAL, True)}, "minimum": {"b": _and, "c": _one_of(_LESS_EQUAL, True)},
    "fmax": {"b": _or, "c": _one_of(_GREATER_EQUAL, False)}, "fmin": {"b": _and, "c": _one_of(_LESS_EQUAL, False)},
    "greater": {"c": _by_parts("greater", "greater")}, "greater_equal": {"c": _GREATER_EQUAL},
    "less": {"c": _by_parts("less", "less")}, "less_equal": {"c": _LESS_EQUAL},
    "reciprocal": {"i": _whole_reciprocal, "u": _whole_reciprocal},
}


# -- functions from the tables ---------------------------------------------------------------------------------------

def _documentation(module, name, nin, dtypes, result, summary, arguments, example):
    shapes = "any; the result has the same" if nin == 1 else "x1 and x2 are broadcast against each other"
    return _TEXT % (summary, shapes, _SAYS.get(dtypes, dtypes + "."), _RESULT_SAYS[result],
                    "" if nin == 1 else ", ValueError for shapes that do not broadcast", module, name, arguments, example)


def functions_of(table, nin, module, short, special=None):
    """The functions of a table, by name. short: what examples call the module. special: by name, what computes in an op's place.

    Functions of ops that take dtypes as they are which NumPy converts first are among the special ones."""
    made = {}
    for name, op, dtypes, result, summary, arguments, example in rows(table):
        number = _N.get(op)
        call = special.get(name) if special else None
        direct = call is None or name in _AS_DIRECT
        call = call or _calls[number]
        plan = _ufunc.Plan(name, call, nin, _LOOPS[dtypes], _RESULTS[result], _OTHER.get(name), identity=_IDENTITIES.get(name),
                           direct=direct)
        if dtypes.endswith("not bools"):
            plan.bools = "%s: bools are not supported%s (not supported for the input types)" % (
                name, _INSTEAD_OF_BOOLS.get(name, ""))
        if direct:
            _ufunc.by_number.setdefault(number, plan)
        made[name] = _ufunc.make(plan, module, _documentation(short, name, nin, dtypes, result, summary, arguments, example))
    return made


_INSTEAD_OF_BOOLS = {"negative": "; ~x or logical_not inverts them",
                     "subtract": " by the - operator; x ^ y or logical_xor tells where two bools differ"}
def _of_one_dtype(op):
    """An op on integers, which takes int64 beside uint64 as float64 bits: only operands of one dtype go to it at once."""
    call = _calls[_N[op]]

    def checked(x1, x2):
        if type(x1) in ARRAYS and type(x2) in ARRAYS and x1.dtype is not x2.dtype:
            raise TypeError("%s: operands of %s and %s" % (op, x1.dtype, x2.dtype))
        return call(x1, x2)
    return checked


_AS_DIRECT = {"bitwise_count", "isinf", "pow", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm"}
ON_INTEGERS = {name: _of_one_dtype(name) for name in _AS_DIRECT - {"bitwise_count", "isinf", "pow"}}
_SPECIAL = {"isinf": _is_infinite, "pow": _power, **ON_INTEGERS}
globals().update(functions_of(ONE, 1, "nd4c", "nd4c", _SPECIAL))
globals().update(functions_of(TWO, 2, "nd4c", "nd4c", _SPECIAL))


# -- functions with other arguments ----------------------------------------------------------------------------------

def real(val, /):
    """The real part of complex numbers; of other numbers, the numbers.

    Shapes: any; the result has the same.
    Dtypes: complex64 gives float32, complex128 float64; others stay as they are.
    Errors: TypeError for texts.

    >>> nd4c.real([1 + 2j, 3])
    array([1., 3.])
    """
    x = _as_array(val, "real")
    return x if x.dtype.kind == "b" else _op("real")(x)


def imag(val, /):
    """The imaginary part of complex numbers; of other numbers, zeros.

    Shapes: any; the result has the same.
    Dtypes: complex64 gives float32, complex128 float64; others stay as they are.
    Errors: TypeError for texts.

    >>> nd4c.imag([1 + 2j, 3])
    array([2., 0.])
    """
    x = _as_array(val, "imag")
    return _op("logical_xor")(x, x) if x.dtype.kind == "b" else _op("imag")(x)


def round(a, decimals=0, out=None):
    """Rounded to a number of decimals; halves go to the even neighbour. Negative decimals round before the point.

    Shapes: any; the result has the same.
    Dtypes: numbers, whose dtype stays; bools give float16.
    Errors: TypeError for texts, or if out cannot take the result's dtype.

    >>> nd4c.round([2.5, -1.26], 1)
    array([ 2.5, -1.3])
    """
    x = _as_array(a, "round")
    if type(decimals) is not int:
        decimals = _whole(decimals)
    if x.dtype.kind == "b":
        if decimals:
            raise TypeError("round: bools have no decimals: leave decimals out, or cast them to a number first")
        x = _cast(x, _dtypes.by_name["float16"])
    if not decimals:
        result = _op("round")(x)
    elif x.dtype.kind in "iu":
        result = _op("copy")(x) if decimals > 0 else _cast(_shifted(_op("true_divide")(x, 1), decimals), x.dtype)
    else:
        result = _shifted(x, decimals)
    return _finish(result, out, "unsafe", "round")


def _whole(decimals):
    try:
        return _index(decimals)
    except TypeError:
        raise TypeError("round: decimals: expected an integer, got %r" % (decimals,)) from None


def _shifted(x, decimals):
    """Floats rounded to decimals."""
    if decimals > 0:
        return _op("divide")(_op("round")(_op("multiply")(x, 10.0 ** decimals)), 10.0 ** decimals)
    return _op("multiply")(_op("round")(_op("divide")(x, 10.0 ** -decimals)), 10.0 ** -decimals)


def clip(a, min=None, max=None, out=None, *, a_min=None, a_max=None, **named):
    """x within bounds, each of which may be an array or None.

    Shapes: a and the bounds are broadcast against each other.
    Dtypes: that which a and the bounds share; Python integers beyond the dtype's range bound nothing.
    Errors: ValueError if a bound comes by both of its names; TypeError for texts.
    a_min and a_max are NumPy's older names of the bounds; where, dtype and casting are NumPy's.

    >>> nd4c.clip([1, 5, 9], 2, 6)
    array([2, 5, 6])
    """
    if type(a) is Array and type(min) in _NUMBERS and type(max) is type(min) and out is None and not named:
        if (type(min) is int or a.dtype.kind == "f") and a_min is None and a_max is None:
            try:
                return _clip(a, min, max)
            except (OverflowError, TypeError):
                pass
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("clip: a bound comes twice; pass min and max, or a_min and a_max")
    x = _as_array(a, "clip")
    low, high = _bound(x, a_min if min is None else min), _bound(x, a_max if max is None else max)
    if low is None and high is None:
        return _finish(_op("copy")(x), out, where="clip")
    if high is None:
        return _ufunc.apply(maximum.plan, (x, low), out, named)  # noqa: F821: made from the table
    if low is None:
        return _ufunc.apply(minimum.plan, (x, high), out, named)  # noqa: F821
    return _ufunc.apply(_CLIP, (x, low, high), out, named)


_NUMBERS, _clip = (int, float), _op("clip")


def _bound(x, value):
    """A bound; a Python integer that integers of x cannot reach becomes the last one that they can."""
    if type(value) is Dim:
        value = _index(value)
    if type(value) is not int or x.dtype.kind not in "iu":
        return value
    least = -2 ** (x.dtype.bits - 1) if x.dtype.kind == "i" else 0
    greatest = least + 2 ** x.dtype.bits - 1
    return least if value < least else greatest if value > greatest else value


def _between(x, low, high):
    if x.dtype.kind != "c" and not low.ndim and not high.ndim:
        return _op("clip")(x, low, high)
    return minimum(maximum(x, low), high)  # noqa: F821


_CLIP = _ufunc.Plan("clip", _between, 3, NUMBERS_OF_ALL_KINDS)

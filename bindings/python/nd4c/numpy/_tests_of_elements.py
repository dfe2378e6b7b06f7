"""Tests and replacements of elements: closeness, equality of arrays, infinities, parts of complex numbers, NaN by numbers."""
from nd4c import _dtypes
from nd4c._functions import elementwise as _e
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.manipulation import broadcast_arrays
from nd4c._functions.support import as_array as _as_array, cast as _cast, finish as _finish, op as _op
from nd4c._symbols import Symbol

__all__ = ["allclose", "angle", "array_equal", "array_equiv", "fix", "iscomplex", "isclose", "isnat", "isneginf", "isposinf",
           "isreal", "nan_to_num", "real_if_close"]


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where abs(a - b) <= atol + rtol * abs(b); infinities are close to their equals alone.

    Shapes: a, b, rtol and atol are broadcast against each other.
    Dtypes: numbers and bools; the result is bool.
    Errors: TypeError for texts.

    >>> np.isclose([1.0, 2.0], [1.0 + 1e-9, 2.1])
    array([ True, False])
    """
    x, y = _as_array(a, "isclose"), _as_array(b, "isclose")
    if y.dtype.kind in "biu":
        y = _cast(y, _dtypes.by_name["float64"])
    if x.dtype.kind == "b":
        x = _cast(x, y.dtype)
    bound = _e.add(_e.multiply(_e.abs(y), rtol), atol)
    near = _e.logical_or(_e.logical_and(_e.less_equal(_e.abs(_e.subtract(x, y)), bound), _e.isfinite(y)), _e.equal(x, y))
    if not equal_nan:
        return near
    return _e.logical_or(near, _e.logical_and(_e.isnan(x), _e.isnan(y)))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose() holds for all elements: True or False.

    Shapes: a and b are broadcast against each other.
    Dtypes: numbers; the result is a bool, in a recorded function a Symbol without axes.
    Errors: as isclose.

    >>> np.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    True
    """
    return _whether_all(isclose(a, b, rtol, atol, equal_nan))


def _whether_all(x):
    """Whether all elements are True, a Python bool; of a value of a graph another one."""
    result = _op("all")(x, None, False)
    return result if type(result) is Symbol else bool(result)


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have one shape and equal elements: True or False; False for what is no array.

    equal_nan: NaN equals NaN.

    Shapes: any; the result is a bool.
    Dtypes: all.
    Errors: none for what asarray takes: what does not compare is not equal.

    >>> np.array_equal([1, 2], [1.0, 2.0]), np.array_equal([1, 2], [[1, 2]])
    (True, False)
    """
    try:
        x, y = asarray(a1), asarray(a2)
    except (TypeError, ValueError):
        return False
    if x.shape != y.shape:
        return False
    return _all_equal(x, y, equal_nan)


def _all_equal(x, y, equal_nan=False):
    if (x.dtype.kind == "U") != (y.dtype.kind == "U"):
        return not x.size
    same = _e.equal(x, y)
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        same = _e.logical_or(same, _e.logical_and(_e.isnan(x), _e.isnan(y)))
    return _whether_all(same)


def array_equiv(a1, a2):
    """Whether two arrays have shapes that broadcast and equal elements then: True or False.

    Shapes: any; the result is a bool.
    Dtypes: all.
    Errors: none for what asarray takes: what does not compare is not equal.

    >>> np.array_equiv([1, 2], [[1, 2], [1, 2]])
    True
    """
    try:
        x, y = broadcast_arrays(asarray(a1), asarray(a2))
    except (TypeError, ValueError):
        return False
    return _all_equal(x, y)


def _infinite(name, x, out, negative):
    x = _as_array(x, name)
    if x.dtype.kind == "c":
        raise TypeError("%s: this operation is not supported for %s values because it would be ambiguous; test real or imag"
                        % (name, x.dtype))
    if x.dtype.kind == "b":
        x = _cast(x, _dtypes.by_name["int8"])
    return _finish(_op("is_inf")(x, negative, not negative), out, where=name, grows=True)


def isneginf(x, out=None):
    """Where x is minus infinity.

    Shapes: any; the result has the same.
    Dtypes: bools and real numbers; the result is bool.
    Errors: TypeError for complex numbers.

    >>> np.isneginf([-float("inf"), float("inf"), 0.0])
    array([ True, False, False])
    """
    return _infinite("isneginf", x, out, True)


def isposinf(x, out=None):
    """Where x is plus infinity.

    Shapes: any; the result has the same.
    Dtypes: bools and real numbers; the result is bool.
    Errors: TypeError for complex numbers.

    >>> np.isposinf([-float("inf"), float("inf"), 0.0])
    array([False,  True, False])
    """
    return _infinite("isposinf", x, out, False)


def iscomplex(x):
    """Where the imaginary part is not 0.

    Shapes: any; the result, of bools, has the same.
    Dtypes: all; the result is bool.
    Errors: TypeError for what asarray does not take.

    >>> np.iscomplex([1 + 1j, 2 + 0j])
    array([ True, False])
    """
    return _e.logical_not(isreal(x))


def isreal(x):
    """Where the imaginary part is 0; True for all real numbers.

    Shapes: any; the result, of bools, has the same.
    Dtypes: all; the result is bool.
    Errors: TypeError for what asarray does not take.

    >>> np.isreal([1 + 1j, 2 + 0j])
    array([False,  True])
    """
    return _e.equal(_e.imag(x), 0)


def isnat(x, /, out=None, **named):
    """Where a date is none; nd4c has no dates, so that it refuses everything with a TypeError.

    Shapes: any.
    Dtypes: none of nd4c's: it has no dates.
    Errors: TypeError for arrays of nd4c.

    >>> np.isnat(1)
    Traceback (most recent call last):
    TypeError: isnat: only defined for dates (np.datetime64 and np.timedelta64), which nd4c has not
    """
    raise TypeError("isnat: only defined for dates (np.datetime64 and np.timedelta64), which nd4c has not")


def fix(x, out=None):
    """The whole part, towards zero; the same as trunc.

    Shapes: any; the result has the same.
    Dtypes: bools and real numbers, which stay as they are.
    Errors: TypeError for complex numbers.

    >>> np.fix([-1.5, 2.7])
    array([-1.,  2.])
    """
    return _e.trunc(x, out=out)


def angle(z, deg=False):
    """The angle of complex numbers in radians, or in degrees; 0 or pi for real numbers.

    Shapes: any; the result has the same.
    Dtypes: complex64 gives float32, complex128 and integers float64, floats stay.
    Errors: TypeError for texts.

    >>> np.angle([1j, -1], deg=True)
    array([ 90., 180.])
    """
    x = _as_array(z, "angle")
    result = _e.atan2(_e.imag(x), _e.real(x)) if x.dtype.kind == "c" else _e.atan2(0, x)
    return _op("rad2deg")(result) if deg else result


def real_if_close(a, tol=100):
    """The real part of complex numbers whose imaginary parts are all nearly 0; else the numbers themselves.

    tol: how many of the dtype's smallest steps beside 1 count as nearly 0, or below 1 the bound itself.

    Shapes: any; the result has the same.
    Dtypes: all; complex becomes real where no imaginary part counts.
    Errors: TypeError for what asarray does not take.

    >>> np.real_if_close([2.1 + 4e-14j, 5.2 + 3e-15j], tol=1000)
    array([2.1, 5.2])
    """
    x = _as_array(a, "real_if_close")
    if x.dtype.kind != "c":
        return x
    bound = tol * _dtypes.limits(_e.real(x).dtype).epsilon if tol > 1 else tol
    return _e.real(x) if bool(_op("all")(_e.less(_e.abs(_e.imag(x)), bound), None, False)) else x


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """x with numbers in place of NaN and infinities; None: the dtype's greatest and least number.

    Shapes: any; the result has the same. nan, posinf and neginf may be arrays that are broadcast against x.
    Dtypes: all but texts; the dtype stays. copy=False writes into x.
    Errors: TypeError for texts; ValueError if copy=False cannot write into x.

    >>> np.nan_to_num([float("nan"), 1.0, -float("inf")], neginf=-9.0)
    array([ 0.,  1., -9.])
    """
    x_given = _as_array(x, "nan_to_num")
    if x_given.dtype.kind == "c":
        parts = [_replaced(part, nan, posinf, neginf) for part in (_e.real(x_given), _e.imag(x_given))]
        result = _op("view_as_complex")(_op("stack")(parts, -1))
    else:
        result = _replaced(x_given, nan, posinf, neginf)
    if copy or result is x_given:
        return _op("copy")(result) if copy and result is x_given else result
    x_given[...] = result
    return x_given


_REAL = (int, float)


def _replaced(x, nan, posinf, neginf):
    if x.dtype.kind not in "fc":
        return x
    limits = _dtypes.limits(x.dtype)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    if type(nan) in _REAL and type(high) in _REAL and type(low) in _REAL and all(
            value != value or limits.min <= value <= limits.max for value in (nan, high, low)):
        return _op("nan_to_num")(x, float(nan), float(high), float(low))
    for where, value in ((_op("is_nan")(x), nan), (_op("is_inf")(x, False, True), high), (_op("is_inf")(x, True, False), low)):
        x = _op("where")(where, value if type(value) is not Array and _number(value) else _cast(_as_array(
            value, "nan_to_num"), x.dtype), x)
    return x


def _number(value):
    return type(value) in (bool, int, float)

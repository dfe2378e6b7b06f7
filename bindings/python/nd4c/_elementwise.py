"""Functions element by element, and clip."""
import builtins as _builtins
from math import ceil as _ceil

from nd4c import _dtypes
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._dtype_functions import astype, iinfo
from nd4c._manipulation import broadcast_shapes, broadcast_to
from nd4c._support import array as _array, define_in as _define_in, one as _one, op as _op, two as _two

def _define(names, of, parameters):
    _define_in(globals(), names, of, parameters)


def _one_float(call):
    def function(x, /):
        try:
            return call(x)
        except TypeError:
            return call(_floating(x))
    return function


def _floating(x):
    """x as the default floating dtype if it holds integers or bools, as in NumPy."""
    if type(x) is Array and x.dtype.kind in "biu":
        return astype(x, _dtypes.DEFAULTS[float])
    raise


_define("abs bitwise_invert ceil conj floor imag isfinite=is_finite logical_not negative positive real round "
        "sign signbit square trunc", _one, "x")
_define("acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 reciprocal sin sinh sqrt tan tanh",
        _one_float, "x")
_define("add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign "
        "divide=true_divide equal floor_divide greater greater_equal hypot less less_equal logaddexp "
        "logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow=power remainder "
        "subtract", _two, "x1, x2")


def isinf(x, /):
    """Where x is infinite."""
    return _op("is_inf")(x, True, True)


def isnan(x, /):
    """Where x is not a number."""
    return _op("is_nan")(x)


def clip(x, /, min=None, max=None):
    """x within min and max, which are broadcast."""
    _array(x, "clip")
    low, high = _bound(x, min, "min"), _bound(x, max, "max")
    if (low is None or not low.ndim) and (high is None or not high.ndim):
        return _op("copy")(x) if low is None and high is None else _op("clip")(x, low, high)
    shape = broadcast_shapes(*[a.shape for a in (x, low, high) if a is not None])
    result = broadcast_to(x, shape)
    if low is not None:
        result = _op("maximum")(result, low)
    return result if high is None else _op("minimum")(result, high)


def _bound(x, value, name):
    if value is None:
        return None
    if type(value) is not Array:
        kind = type(value)
        if kind is float and x.dtype.kind in "iu" and value == value and _builtins.abs(value) != float("inf"):
            value = int(_ceil(value)) if name == "min" else int(value // 1)
        elif kind is float and x.dtype.kind in "iu":
            return None
        if type(value) is int and x.dtype.kind in "iu":
            limits = iinfo(x.dtype)
            value = limits.min if value < limits.min else limits.max if value > limits.max else value
        return asarray(value, dtype=x.dtype)
    return value if value.dtype is x.dtype else astype(value, x.dtype)

"""What the modules of the namespace's functions share: the core's callables by name, arguments as NumPy takes them, results
written into given arrays."""
import builtins as _builtins
from operator import index as _index

from nd4c import _dtypes
from nd4c._abi import NUMBERS as _N
from nd4c._core import Array, calls as _calls
from nd4c._creation import asarray as _asarray
from nd4c._errors import AxisError
from nd4c._symbols import ARRAYS


def op(name):
    """The core's callable of an op."""
    return _calls[_N[name]]


# -- arguments -------------------------------------------------------------------------------------------------------

def array(x, where):
    """x, which has to be an Array; `where` names the function in the error."""
    if type(x) is not Array:
        raise TypeError("%s: expected an nd4c.Array, got %s; nd4c.asarray() makes an array of it"
                        % (where, type(x).__name__))
    return x


def as_array(x, where):
    """The array that a function computes with: x, or one made of a number, nested lists, or another library's array."""
    if type(x) in ARRAYS:
        return x
    try:
        return _asarray(x)
    except TypeError as error:
        text = str(error)
    if x is None or text.startswith("asarray: no array can be made"):
        text = "expected an array, a number or nested lists of numbers, got %s" % type(x).__name__
    raise TypeError("%s: %s" % (where, text[9:] if text.startswith("asarray: ") else text))


def text(value, parameter, where):
    """A text that an argument has to be; bytes are read as Latin-1. Errors: TypeError for anything else."""
    if isinstance(value, (bytes, bytearray)):
        return value.decode("latin1")
    if isinstance(value, str):
        return value
    raise TypeError("%s: %s: expected a text, got %s" % (where, parameter, type(value).__name__))


def number(dtype):
    """A dtype as an op's attribute takes it; None: 0."""
    return 0 if dtype is None else _dtypes.of(dtype).number


def normalize_axis(axis, ndim, where=""):
    """An axis counted from the front.

    Errors: AxisError, a ValueError and IndexError, if the array has no such axis; TypeError for what is no integer."""
    try:
        place = _index(axis)
    except TypeError:
        raise TypeError("%sexpected an axis as an integer, got %r" % (where and where + ": ", axis)) from None
    if -ndim <= place < ndim:
        return place + ndim if place < 0 else place
    raise AxisError(place, ndim, where or None)


def normalize_axes(axis, ndim, where=""):
    """A tuple of different axes counted from the front; None: all of them.

    Errors: as normalize_axis; ValueError if an axis comes twice."""
    if axis is None:
        return tuple(range(ndim))
    try:
        axes = (_index(axis),)
    except TypeError:
        try:
            axes = tuple(axis)
        except TypeError:
            axes = (axis,)
    axes = tuple([normalize_axis(one, ndim, where) for one in axes])
    if len(set(axes)) != len(axes):
        raise ValueError("%san axis comes twice: %r (duplicate value in 'axis')" % (where and where + ": ", axis))
    return axes


# -- results ---------------------------------------------------------------------------------------------------------

_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
_RANKS = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}


def castable(source, target, casting="same_kind"):
    """Whether NumPy's casting rule lets elements of one DType become another's."""
    if casting not in _CASTINGS:
        raise ValueError("casting must be one of %s, got %r" % (", ".join(map(repr, _CASTINGS)), casting))
    if source is target or casting == "unsafe":
        return True
    if casting in ("no", "equiv") or "U" in (source.kind, target.kind):
        return False
    return bool(_dtypes.can_cast(source, target)) or (
        casting == "same_kind" and _RANKS[source.kind] <= _RANKS[target.kind])


def cast(x, dtype):
    """x in another DType; x itself if it has it."""
    return x if x.dtype is dtype else op("cast")(x, dtype.number)


def output(out, where):
    """The array of an argument out=: None, an array, or a tuple of one. NumPy's arrays are written through their memory."""
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    if out is None or type(out) is Array:
        return out
    if not hasattr(out, "__array_interface__"):
        raise TypeError("%s: out: return arrays must be arrays, got %s" % (where, type(out).__name__))
    return _asarray(out, copy=False)


def finish(result, out, casting="same_kind", where="", mask=None, grows=False):
    """The result itself, or `out` after the result has been written into it, converted by NumPy's rule `casting`.

    `where` names the function in errors. Where `mask` is False, out keeps its elements. grows: out may have more axes and
    longer ones, as elementwise functions allow."""
    if out is None or (type(out) is tuple and out == (None,)):
        return result
    into, prefix = output(out, where), where and where + ": "
    if not castable(result.dtype, into.dtype, casting):
        raise TypeError("%sCannot cast output from %s to %s with casting rule %r; casting='unsafe' allows it"
                        % (prefix, result.dtype, into.dtype, casting))
    if into.shape != result.shape and not (grows and _reaches(result.shape, into.shape)):
        raise ValueError("%sout has the shape %s, the result %s, which is non-broadcastable to it"
                         % (prefix, into.shape, result.shape))
    result = cast(result, into.dtype)
    if mask is not None:
        result = op("where")(mask, result, into)
    into[...] = result
    return out[0] if type(out) is tuple else out


def _reaches(shape, target):
    """Whether broadcasting takes a shape to the target."""
    return len(shape) <= len(target) and _builtins.all(
        extent in (1, goal) for extent, goal in zip(reversed(shape), reversed(target)))


def masked(x, mask, fill):
    """x with the number `fill` where the mask of an argument where= is False; x itself for True."""
    if mask is True:
        return x
    condition = as_array(mask, "where")
    if condition.dtype.kind != "b":
        raise TypeError("where: expected a mask of bools, got %s" % condition.dtype)
    return op("where")(condition, x, fill)

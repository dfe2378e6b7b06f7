"""The Array API standard's functions, version 2025.12, in its order of chapters."""
import builtins as _builtins
import ctypes as _ctypes
from collections import namedtuple
from math import ceil as _ceil
from operator import index as _index

from nd4c import _creation, _devices, _dtypes
from nd4c._abi import MAX_RANK as _MAX_RANK
from nd4c._abi import NUMBERS as _N
from nd4c._arguments import axes as _axes
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array, calls as _calls, core as _core, from_handle as _from_handle, handle as _handle
from nd4c._creation import asarray, made_on as _made_on
from nd4c._dlpack import from_dlpack
from nd4c._errors import check as _check
from nd4c._library import bind as _bind

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793


def _op(name):
    return _calls[_N[name]]


def _array(x, where):
    if type(x) is not Array:
        raise TypeError("%s: expected an nd4c.Array, got %s; nd4c.asarray() makes an array of it"
                        % (where, type(x).__name__))
    return x


def _number(dtype):
    return 0 if dtype is None else _dtypes.of(dtype).number


# -- element by element -----------------------------------------------------------------------------------------------

def _define_in(module, names, of, parameters):
    """Functions that are one op each: a Python function with the standard's signature around the core's callable."""
    for name in names.split():
        name, _, op = name.partition("=")
        function = of(_op(op or name))
        function.__name__ = function.__qualname__ = name
        function.__doc__ = "%s(%s): see nd4c.ops.%s." % (name, parameters, op or name)
        module[name] = function


def _define(names, of, parameters):
    _define_in(globals(), names, of, parameters)


def _one(call):
    def function(x, /):
        return call(x)
    return function


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


def _two(call):
    def function(x1, x2, /):
        return call(x1, x2)
    return function


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
        if kind is float and x.dtype.kind in "iu" and value == value and _builtins.abs(value) != inf:
            value = int(_ceil(value)) if name == "min" else int(value // 1)
        elif kind is float and x.dtype.kind in "iu":
            return None
        if type(value) is int and x.dtype.kind in "iu":
            limits = iinfo(x.dtype)
            value = limits.min if value < limits.min else limits.max if value > limits.max else value
        return asarray(value, dtype=x.dtype)
    return value if value.dtype is x.dtype else astype(value, x.dtype)


# -- creation ---------------------------------------------------------------------------------------------------------

_float64, _core_empty, _core_zeros = _dtypes.DEFAULTS[float], _core.empty, _core.zeros


def empty(shape, *, dtype=None, device=None):
    """An array without defined contents."""
    return _core_empty(_shape_of(shape), _float64 if dtype is None else _dtypes.of(dtype),
                       None if device is None else _devices.handle_or_none(device))


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros."""
    return _core_zeros(_shape_of(shape), _float64 if dtype is None else _dtypes.of(dtype),
                       None if device is None else _devices.handle_or_none(device))


def ones(shape, *, dtype=None, device=None):
    """An array of ones."""
    return _core.full(_shape_of(shape), 1.0, _dtypes.DEFAULTS[float] if dtype is None else _dtypes.of(dtype),
                      _devices.handle_or_none(device))


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one value."""
    if type(fill_value) is Array:
        if dtype is not None:
            fill_value = astype(fill_value, dtype)
        return _made_on(device, lambda: _op("copy")(broadcast_to(fill_value, _shape_of(shape))))
    wanted = _dtypes.of(type(fill_value) if dtype is None else dtype)
    if type(fill_value) is float and wanted.kind == "f":
        return _core.full(_shape_of(shape), fill_value, wanted, _devices.handle_or_none(device))
    return _made_on(device, lambda: _op("full")(asarray(fill_value, dtype=wanted), _shape_of(shape)))


def empty_like(x, /, *, dtype=None, device=None):
    """An array without defined contents, of x's shape and dtype."""
    _array(x, "empty_like")
    return empty(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros of x's shape and dtype."""
    _array(x, "zeros_like")
    return zeros(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones of x's shape and dtype."""
    _array(x, "ones_like")
    return ones(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """One value in x's shape and dtype."""
    _array(x, "full_like")
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, ... before stop; with one argument from 0 to it. Integers are exact; one that the dtype does not
    hold is an OverflowError."""
    if stop is None:
        start, stop = 0, start
    kinds = (type(start), type(stop), type(step))
    if dtype is None:
        dtype = _dtypes.DEFAULTS[float if _builtins.any(issubclass(kind, float) for kind in kinds) else int]
    dtype = _dtypes.of(dtype)
    if not step:
        raise ValueError("arange: step is 0")
    if _builtins.all(isinstance(value, int) for value in (start, stop, step)):
        count = _builtins.max(0, -((start - stop) // step))
    else:
        start, stop, step = (float(value) for value in (start, stop, step))
        count = _builtins.max(0, int(_ceil((stop - start) / step)))
    if count >= 2 ** 63:
        raise OverflowError("arange: about %.3g elements are more than an array can have" % count)
    if dtype.kind in "iu" and float(start).is_integer() and float(step).is_integer():
        return _made_on(device, _integers, int(start), int(step), count, dtype)
    between = start + (count - 0.5) * step  # midway between the last number and the next, if floats tell them apart
    if device is not None and dtype.kind == "f" and count and _ceil((between - start) / step) == count:
        return _made_on(device, _op("arange"), start, between, step, dtype.number)
    out = _ctypes.c_void_p()
    target = dtype if dtype.kind != "b" else _dtypes.DEFAULTS[int]
    _check(_arange(target.number, float(start), float(step), count, _devices.handle_or_none(device),
                   _ctypes.byref(out)))
    return _from_handle(out.value)


_arange = _bind("nd4c_array_arange")


def _integers(start, step, count, dtype):
    """The op takes 64 bits, signed or unsigned by the dtype. A step may need more bits if there are only two elements."""
    if count < 3:
        return asarray([start + i * step for i in range(count)], dtype=dtype)
    ends = [_creation.bits64(number, dtype) for number in (start, start + (count - 1) * step)]
    return _op("integer_range")(*ends, step, True, dtype.number)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num numbers from start to stop in equal steps; without the endpoint, stop is left out."""
    if device is not None:
        return _made_on(device, lambda: linspace(start, stop, num, dtype=dtype, endpoint=endpoint))
    is_complex = _builtins.any(isinstance(value, complex) for value in (start, stop))
    if dtype is None:
        dtype = _dtypes.default(complex if is_complex else float)
    dtype = _dtypes.of(dtype)
    num = _index(num)
    if num < 0:
        raise ValueError("linspace: num is %d, it counts the numbers" % num)
    if dtype.kind == "c":
        start, stop = complex(start), complex(stop)
        half = "float32" if dtype.bits == 64 else "float64"
        real_part = linspace(start.real, stop.real, num, dtype=half, endpoint=endpoint)
        imag_part = linspace(start.imag, stop.imag, num, dtype=half, endpoint=endpoint)
        return astype(real_part + imag_part * 1j, dtype)
    return _op("linspace")(float(start), float(stop), num, endpoint, dtype.number)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones where column - row = k, else zeros."""
    rows, columns = _index(n_rows), _index(n_rows if n_cols is None else n_cols)
    number = (_dtypes.DEFAULTS[float] if dtype is None else _dtypes.of(dtype)).number
    return _made_on(device, _op("eye"), rows, columns, _diagonal(k), number)


def _diagonal(k):
    """The number of a diagonal, limited to the range beyond which all results are the same."""
    return _builtins.max(-2 ** 62, _builtins.min(_index(k), 2 ** 62))


def tril(x, /, *, k=0):
    """x on and below diagonal k, zeros above."""
    return _op("tril")(x, _diagonal(k))


def triu(x, /, *, k=0):
    """x on and above diagonal k, zeros below."""
    return _op("triu")(x, _diagonal(k))


def meshgrid(*arrays, indexing="xy", device=None):
    """Coordinates of a grid, one array each of `arrays`: views of these, or of their copies on the device."""
    if indexing not in ("xy", "ij"):
        raise ValueError("meshgrid: indexing is %r; it may be 'xy' or 'ij'" % (indexing,))
    if not arrays:
        return ()
    if device is not None:
        arrays = [_creation.to_device(_array(a, "meshgrid"), device) for a in arrays]
    return _list_call(_meshgrid, arrays, "meshgrid", indexing == "xy" and len(arrays) > 1)


_meshgrid, _broadcast_arrays = _bind("nd4c_meshgrid"), _bind("nd4c_broadcast_arrays")
_unstack, _split = _bind("nd4c_unstack"), _bind("nd4c_split")


def _list_call(call, arrays, where, *middle):
    handles = (_ctypes.c_void_p * len(arrays))(*[_handle(_array(a, where)) for a in arrays])
    outs = (_ctypes.c_void_p * len(arrays))()
    _check(call(handles, *middle, outs, len(arrays)))
    return tuple(_from_handle(out) for out in outs)


# -- dtypes -----------------------------------------------------------------------------------------------------------

def astype(x, dtype, /, *, copy=True, device=None):
    """x in another dtype; copy=False gives x itself where nothing changes."""
    wanted = _dtypes.of(dtype)
    if _array(x, "astype").dtype is wanted:
        there = x if device is None else _creation.to_device(x, device)
        return _creation.copied(x) if copy and there is x else there
    return _made_on(device, _op("cast"), x, wanted.number)


def can_cast(from_, to, /):
    """Whether promotion takes one dtype to the other."""
    return _dtypes.can_cast(from_.dtype if type(from_) is Array else _dtypes.of(from_), _dtypes.of(to))


finfo_object = namedtuple("finfo", "bits eps max min smallest_normal dtype smallest_subnormal")
iinfo_object = namedtuple("iinfo", "bits max min dtype")


def finfo(type, /):
    """Limits of a floating dtype: bits, eps, max, min, smallest_normal, smallest_subnormal, dtype."""
    dtype = type.dtype if isinstance(type, Array) else _dtypes.of(type)
    if dtype.kind not in "fc":
        raise TypeError("finfo: %s is no floating dtype; iinfo() is for integers" % dtype.name)
    row = _dtypes.limits(dtype)
    part = dtype if dtype.kind == "f" else _dtypes.by_name["float32" if dtype.bits == 64 else "float64"]
    return finfo_object(row.bits, row.epsilon, row.max, row.min, row.smallest_normal, part, row.smallest_subnormal)


def iinfo(type, /):
    """Limits of an integer dtype: bits, max, min, dtype."""
    dtype = type.dtype if isinstance(type, Array) else _dtypes.of(type)
    if dtype.kind not in "iu":
        raise TypeError("iinfo: %s is no integer dtype; finfo() is for floats" % dtype.name)
    row = _dtypes.limits(dtype)
    return iinfo_object(row.bits, row.integer_max, row.integer_min, dtype)


_DTYPE_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
                "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype, kind):
    """Whether a dtype equals another dtype, is of a kind named by the standard ("integral"), or matches one of several."""
    dtype = _dtypes.of(dtype)
    if isinstance(kind, tuple):
        return _builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _DTYPE_KINDS:
        return dtype.kind in _DTYPE_KINDS[kind]
    if isinstance(kind, str):
        raise ValueError("isdtype: %r is none of %s" % (kind, ", ".join(map(repr, _DTYPE_KINDS))))
    return dtype is _dtypes.of(kind)


def result_type(*arrays_and_dtypes):
    """The dtype that a computation of all of these has."""
    strong, weak = [], []
    for one in arrays_and_dtypes:
        if type(one) is Array:
            strong.append(one.dtype)
        elif type(one) in (bool, int, float, complex):
            weak.append(type(one))
        else:
            strong.append(_dtypes.of(one))
    if not strong:
        if not weak:
            raise ValueError("result_type: at least one array or dtype is needed")
        raise ValueError("result_type: numbers alone have no dtype; at least one array or dtype is needed")
    result = strong[0]
    for dtype in strong[1:]:
        result = _dtypes.promote(result, dtype)
    for kind in weak:
        result = _dtypes.weak(kind, result)
    return result


# -- shapes -----------------------------------------------------------------------------------------------------------

def broadcast_arrays(*arrays):
    """All arrays seen with the one shape that they broadcast to."""
    return _list_call(_broadcast_arrays, arrays, "broadcast_arrays") if arrays else ()


_shapes_broadcast = _bind("nd4c_shapes_broadcast", keeps_gil=True)


def broadcast_shapes(*shapes):
    """The one shape that several broadcast to."""
    shapes = [_shape_of(shape) for shape in shapes]
    count = len(shapes)
    lists = [(_ctypes.c_int64 * len(shape))(*shape) for shape in shapes]
    ranks = (_ctypes.c_int32 * count)(*map(len, shapes))
    places = (_ctypes.c_void_p * count)(*map(_ctypes.addressof, lists))
    rank, extents = _ctypes.c_int32(), (_ctypes.c_int64 * _MAX_RANK)()
    _check(_shapes_broadcast(count, ranks, places, _ctypes.byref(rank), extents))
    return tuple(extents[:rank.value])


def broadcast_to(x, /, shape):
    """x repeated to a shape: a view."""
    return _op("broadcast_to")(x, _shape_of(shape))


def concat(arrays, /, *, axis=0):
    """Arrays joined along an axis; None: of all flattened."""
    arrays = [_array(a, "concat") for a in arrays]
    if axis is None:
        arrays, axis = [_op("reshape")(a, (-1,)) if a.size else _op("reshape")(a, (0,)) for a in arrays], 0
    return _op("concat")(arrays, axis)


def expand_dims(x, /, axis):
    """x with axes of length 1 at the given places of the result."""
    return _op("expand_dims")(x, _axes(axis))


def flip(x, /, *, axis=None):
    """x with the order along axes (None: all) reversed."""
    return _op("flip")(x, _axes(axis))


def moveaxis(x, source, destination, /):
    """x with axes moved to other places."""
    return _op("moveaxis")(x, _axes(source), _axes(destination))


def permute_dims(x, /, axes):
    """x with its axes in another order."""
    axes = tuple(axes)
    if not axes:
        if _array(x, "permute_dims").ndim:
            raise ValueError("permute_dims: axes are (), the array has %d" % x.ndim)
        return x
    return _op("transpose")(x, axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element repeated along an axis; None: of x flattened."""
    axes = None if axis is None else (axis,)
    if type(repeats) is not Array:
        return _op("repeat")(x, None, _axes(repeats), axes, -1)
    if not repeats.ndim:
        return _op("repeat")(x, None, (int(repeats),), axes, -1)
    extent = _array(x, "repeat").size if axis is None else x.shape[axis]
    if repeats.size == 1 and extent != 1:
        return _op("repeat")(x, None, (int(repeats[0]),), axes, -1)
    return _op("repeat")(x, None, repeats.tolist(), axes, -1) if repeats.size else _op("copy")(
        x if axis is not None else _op("reshape")(x, (-1,) if x.size else (0,)))


def reshape(x, /, shape, *, copy=None):
    """x in another shape of as many elements; one extent may be -1. A view where the strides allow it."""
    result = _op("reshape")(x, _shape_of(shape))
    if copy is None:
        return result
    shared = _overlaps(_handle(x), _handle(result)) or not x.size
    if copy:
        return _creation.copied(result) if shared else result
    if not shared:
        raise ValueError("reshape: %s cannot become %s without a copy; leave copy=False out" % (x.shape, tuple(shape)))
    return result


_overlaps = _bind("nd4c_array_overlaps", keeps_gil=True)


def roll(x, /, shift, *, axis=None):
    """x shifted along axes; elements that leave at one end enter at the other; None: of x flattened."""
    shifts, axes = _axes(shift), _axes(axis)
    if axes is not None and len(shifts) != len(axes):
        shifts = shifts * len(axes) if len(shifts) == 1 else shifts
        axes = axes * len(shifts) if len(axes) == 1 else axes
    return _op("roll")(x, shifts, axes)


def squeeze(x, /, axis):
    """x without the given axes, which are of length 1."""
    return _op("squeeze")(x, _axes(axis))


def stack(arrays, /, *, axis=0):
    """Arrays of one shape joined along a new axis."""
    return _op("stack")([_array(a, "stack") for a in arrays], axis)


def tile(x, repetitions, /):
    """x repeated as a whole."""
    return _op("tile")(x, _shape_of(repetitions))


def unstack(x, /, *, axis=0):
    """The slices of x along an axis."""
    if not _array(x, "unstack").ndim:
        raise ValueError("unstack: an array without axes has no slices")
    place = axis + x.ndim if axis < 0 else axis
    count = x.shape[place] if 0 <= place < x.ndim else 0
    outs = (_ctypes.c_void_p * _builtins.max(count, 1))()
    _check(_unstack(_handle(x), axis, outs, count))
    return tuple(_from_handle(outs[i]) for i in range(count))

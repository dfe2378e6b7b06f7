"""Functions that make arrays of a shape: zeros, arange, eye and their like. _creation.py makes arrays of other objects."""
import builtins as _builtins
import ctypes as _ctypes
from math import ceil as _ceil
from operator import index as _index

from nd4c import _creation, _devices, _dtypes
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array, core as _core, from_handle as _from_handle
from nd4c._creation import asarray, made_on as _made_on
from nd4c._dtype_functions import astype
from nd4c._errors import check as _check
from nd4c._library import bind as _bind
from nd4c._manipulation import broadcast_to, list_call as _list_call
from nd4c._support import array as _array, op as _op

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


_meshgrid = _bind("nd4c_meshgrid")

"""Functions that make arrays of a shape: zeros, arange, eye and their like. _creation.py makes arrays of other
objects."""
import builtins as _builtins
import ctypes as _ctypes
import sys as _sys
import warnings as _warnings
from math import ceil as _ceil
from operator import index as _index

from nd4c import _creation, _devices, _dtypes
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array, core as _core, from_handle as _from_handle
from nd4c._creation import asarray, made_on as _made_on
from nd4c._functions.dtypes import astype
from nd4c._errors import check as _check
from nd4c._library import bind as _bind
from nd4c._memory import is_contiguous as _is_contiguous
from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected
from nd4c._functions.manipulation import broadcast_to, list_call as _list_call, moveaxis as _moveaxis, reshape as _reshape
from nd4c._functions.support import as_array as _as_array, normalize_axis as _normalize_axis, op as _op
from nd4c._symbols import Dim, Symbol, caller as _caller, graph_of

_float64, _core_empty, _core_zeros = _dtypes.DEFAULTS[float], _core.empty, _core.zeros


def empty(shape, dtype=None, order="C", *, device=None, like=None):
    """An array without defined contents.

    Shapes: shape, a tuple or one number. Dtypes: dtype, float64 if it is left out. order: "C" or "F".
    Errors: ValueError for a negative extent or another order; MemoryError.

    >>> nd4c.empty((2, 3), "int8").shape
    (2, 3)
    """
    if order != "C" or like is not None:
        return _laid_out(empty, "empty", order, like, shape, dtype, device)
    if graph_of(shape) is not None:
        return full(shape, 0, _float64 if dtype is None else dtype)
    return _core_empty(_shape_of(shape), _float64 if dtype is None else _dtype_of("empty", shape, dtype),
                       None if device is None else _devices.handle_or_none(device))


def zeros(shape, dtype=None, order="C", *, device=None, like=None):
    """An array of zeros.

    Shapes: shape, a tuple or one number. Dtypes: dtype, float64 if it is left out. order: "C" or "F".
    Errors: ValueError for a negative extent or another order; MemoryError.

    >>> nd4c.zeros(3, int)
    array([0, 0, 0])
    """
    if order != "C" or like is not None:
        return _laid_out(zeros, "zeros", order, like, shape, dtype, device)
    if graph_of(shape) is not None:
        return full(shape, 0, _float64 if dtype is None else dtype)
    return _core_zeros(_shape_of(shape), _float64 if dtype is None else _dtype_of("zeros", shape, dtype),
                       None if device is None else _devices.handle_or_none(device))


def ones(shape, dtype=None, order="C", *, device=None, like=None):
    """An array of ones.

    Shapes: shape, a tuple or one number. Dtypes: dtype, float64 if it is left out. order: "C" or "F".
    Errors: ValueError for a negative extent or another order; MemoryError.

    >>> nd4c.ones((1, 2))
    array([[1., 1.]])
    """
    if order != "C" or like is not None:
        return _laid_out(ones, "ones", order, like, shape, dtype, device)
    if graph_of(shape) is not None:
        return full(shape, 1, _float64 if dtype is None else dtype)
    return _core.full(_shape_of(shape), 1.0, _float64 if dtype is None else _dtype_of("ones", shape, dtype),
                      None if device is None else _devices.handle_or_none(device))


def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """An array of one value; an array as the value is broadcast to the shape.

    Shapes: shape, a tuple or one number. Dtypes: dtype; if it is left out, the value's. A float as an integer loses its
    fraction and wraps; for NaN and what is far out of range the result is NumPy's (of int64 the smallest), with a
    RuntimeWarning. order: "C" or "F".
    Errors: ValueError for a negative extent, another order or a value that does not broadcast; OverflowError for an
    integer that the dtype does not hold.

    >>> nd4c.full((2, 2), 7)
    array([[7, 7],
           [7, 7]])
    """
    if order != "C" or like is not None:
        return _laid_out(lambda shape, dtype, device: full(shape, fill_value, dtype, device=device),
                         "full", order, like, shape, dtype, device)
    if dtype is not None and isinstance(fill_value, float) and _dtypes.of(dtype).kind in "iu":
        fill_value = _whole_of(fill_value, _dtypes.of(dtype))
    graph = graph_of(shape)
    if type(fill_value) is Dim:
        fill_value = fill_value._graph._array_of(fill_value)
    elif graph is not None and type(fill_value) in (bool, int, float, complex):
        fill_value = graph.constant(asarray(fill_value, dtype=dtype))
    if type(fill_value) not in (bool, int, float, complex, str):
        value = asarray(fill_value)
        if dtype is not None:
            value = astype(value, dtype, copy=False)
        return _made_on(device, lambda: _op("copy")(broadcast_to(value, _shape_of(shape))))
    if dtype is None and type(fill_value) is int and fill_value >= 2 ** 63:
        dtype = _dtypes.by_name["uint64"]  # as arrays of such a number are
    wanted = _dtypes.of(type(fill_value) if dtype is None else dtype)
    if _is_double(fill_value, wanted):
        return _core.full(_shape_of(shape), float(fill_value), wanted,
                          None if device is None else _devices.handle_or_none(device))
    return _made_on(device, lambda: _op("full")(asarray(fill_value, dtype=wanted), _shape_of(shape)))


def _whole_of(value, dtype):
    """A float as an integer of a dtype, as NumPy's cast gives it on x86: C leaves open what NaN and what the register does not
    hold become, which is the register's smallest integer; in narrower dtypes the low bits of it."""
    limit = 2 ** 31 if dtype.bits <= 32 and not (dtype.kind == "u" and dtype.bits == 32) else 2 ** 63
    high = 2 * limit if dtype.kind == "u" and dtype.bits == 64 else limit
    if not -limit - 1 < value < high:
        _warn_of_cast()
        number = 0 if high != limit and value >= high else -limit
    else:
        number = int(value)
    wrapped = number % (1 << dtype.bits)
    return wrapped - (1 << dtype.bits) if dtype.kind == "i" and wrapped >> dtype.bits - 1 else wrapped


def _warn_of_cast():
    """NumPy's warning, at the caller's line outside the package, unless nd4c.numpy.errstate(invalid="ignore") holds."""
    settings = _sys.modules.get("nd4c.numpy._errors_state")
    if settings is not None and settings.geterr()["invalid"] == "ignore":
        return
    frame = _caller()
    place = ("?", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    _warnings.warn_explicit("invalid value encountered in cast", RuntimeWarning, *place)


def _is_double(value, dtype):
    """Whether a number is a double that the dtype holds: C makes an array of it without another one for the number."""
    if type(value) is float:
        return dtype.kind == "f"
    if type(value) is not int or dtype.kind not in "iuf":
        return False
    high = 1 << min(53, dtype.bits - (dtype.kind == "i")) if dtype.kind != "f" else 1 << 53
    return -high * (dtype.kind != "u") <= value < high


def _dtype_of(where, shape, dtype):
    """The DType that a caller names. An integer in its place is the second extent of a shape without parentheses."""
    if type(dtype) is _builtins.int:
        raise _shape_apart(where, shape, dtype)
    return _dtypes.of(dtype)


def _shape_apart(where, *extents):
    """The TypeError about a shape whose extents came as arguments of their own."""
    return TypeError("%s: the shape is one argument, a tuple: shape=%s" % (where, extents))


def _laid_out(make, where, order, like, shape, dtype, device):
    """What make gives of a shape, in the layout that order names: column by column is the transpose of the reversed
    shape."""
    if type(order) is _builtins.int and type(dtype) is _builtins.int:
        raise _shape_apart(where, shape, dtype, order)
    if like is not None:
        _creation.check_like(like, where)
    if order is not None and _creation.check_order(order, where, "CF") == "F":
        made = make(_shape_of(shape)[::-1], dtype=dtype, device=device)
        return _op("transpose")(made, None)
    return make(shape, dtype=dtype, device=device)


def _alike(make, where, x, dtype, order, shape, device):
    """What make gives of x's shape, dtype and device where the caller names no others, laid out as x is unless order
    says how."""
    x = _as_array(x, where)
    if shape is None:
        shape = x.shape
    if type(x) is Symbol:
        element = make((), dtype=x.dtype if dtype is None else dtype, device=None)
        return _op("full")(element if type(element) is Symbol else x._graph.constant(element), _shape_of(shape))
    dtype, device = x.dtype if dtype is None else dtype, x.device if device is None else device
    if order not in ("K", "C"):
        order = _creation.check_order(order, where)
    if order == "F" or (order in ("K", "A") and len(x.shape) > 1 and _is_column_by_column(x)):
        return _op("transpose")(make(_shape_of(shape)[::-1], dtype=dtype, device=device), None)
    return make(shape, dtype=dtype, device=device)


def _is_column_by_column(x):
    return not _is_contiguous(x) and _creation.is_fortran(x)


def empty_like(prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array without defined contents, of another's shape and dtype.

    Shapes: the prototype's, unless shape names one. Dtypes: its, unless dtype names one. order: "K" and "A" take its
    layout, "C" and "F" say another. subok has no effect: arrays have no subclasses.
    Errors: ValueError for an unknown dtype; a device that is not there raises an nd4c.Error.

    >>> nd4c.empty_like(nd4c.ones((2, 3)), dtype=bool).dtype
    nd4c.bool
    """
    return _alike(empty, "empty_like", prototype, dtype, order, shape, device)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros of another array's shape and dtype.

    Shapes: a's, unless shape names one. Dtypes: its, unless dtype names one. order: "K" and "A" take its layout, "C"
    and "F" say another. subok has no effect: arrays have no subclasses.
    Errors: ValueError for an unknown dtype; a device that is not there raises an nd4c.Error.

    >>> nd4c.zeros_like(nd4c.asarray([1, 2]))
    array([0, 0])
    """
    return _alike(zeros, "zeros_like", a, dtype, order, shape, device)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Ones of another array's shape and dtype.

    Shapes: a's, unless shape names one. Dtypes: its, unless dtype names one. order: "K" and "A" take its layout, "C"
    and "F" say another. subok has no effect: arrays have no subclasses.
    Errors: ValueError for an unknown dtype; a device that is not there raises an nd4c.Error.

    >>> nd4c.ones_like(nd4c.asarray([3, 4]), dtype=float)
    array([1., 1.])
    """
    return _alike(ones, "ones_like", a, dtype, order, shape, device)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """One value in another array's shape and dtype.

    Shapes: a's, unless shape names one. Dtypes: its, unless dtype names one; the value is converted to it. order: "K"
    and "A" take its layout, "C" and "F" say another. subok has no effect: arrays have no subclasses.
    Errors: ValueError for an unknown dtype; a device that is not there raises an nd4c.Error.

    >>> nd4c.full_like(nd4c.asarray([1, 2]), 7)
    array([7, 7])
    """
    def make(shape, dtype, device):
        return full(shape, fill_value, dtype, device=device)
    return _alike(make, "full_like", a, dtype, order, shape, device)


_MISSING = object()


def arange(start_or_stop=_MISSING, /, stop=None, step=1, *, dtype=None, device=None, like=None, start=_MISSING):
    """start, start + step, ... before stop; with one argument from 0 to it.

    Shapes: one axis of ceil((stop - start) / step) elements.
    Dtypes: int64 for integers, float64 if one of them is a float, unless dtype names one. Integers are exact.
    Errors: ZeroDivisionError if step is 0; ValueError for ends that are no numbers; OverflowError for an integer that
    the dtype does not hold.

    >>> nd4c.arange(2, 10, 3)
    array([2, 5, 8])
    >>> nd4c.arange(3, dtype="float32")
    array([0., 1., 2.], dtype=float32)
    """
    if like is not None:
        _creation.check_like(like, "arange")
    start, stop = _ends(start_or_stop, start, stop)
    step = 1 if step is None else step
    graph = graph_of((start, stop))
    if graph is not None and type(start) in _WHOLE and type(stop) in _WHOLE and type(step) is int and step:
        made = _range_of_dims(graph, start, stop, step, _dtypes.DEFAULTS[int] if dtype is None else _dtypes.of(dtype))
        if made is not None:
            return made
    if type(start) is not int or type(stop) is not int or type(step) is not int:
        dtype = _arange_dtype(start, stop, step) if dtype is None else dtype
        start, stop, step = (_real(value, name) for value, name in ((start, "start"), (stop, "stop"), (step, "step")))
    dtype = _dtypes.DEFAULTS[int] if dtype is None else _dtypes.of(dtype)
    if not step:
        raise ZeroDivisionError("arange: step is 0")
    if _builtins.all(isinstance(value, int) for value in (start, stop, step)):
        count = _builtins.max(0, -((start - stop) // step))
    else:
        start, stop, step = (float(value) for value in (start, stop, step))
        if start != start or stop != stop or step != step:
            raise ValueError("arange: cannot compute length: start is %r, stop %r, step %r" % (start, stop, step))
        if _builtins.abs(stop - start) == float("inf"):
            raise ValueError("arange: Maximum allowed size exceeded: start is %r, stop %r" % (start, stop))
        count = _builtins.max(0, int(_ceil((stop - start) / step)))
    if count >= 2 ** 63:
        raise OverflowError("arange: about %.3g elements are more than an array can have" % count)
    if dtype.kind in "iu" and float(start).is_integer() and float(step).is_integer():
        return _made_on(device, _integers, int(start), int(step), count, dtype)
    if dtype.kind == "b" and count > 2:
        raise TypeError("arange: %d elements of dtype bool; there are at most two" % count)
    between = start + (count - 0.5) * step  # midway between the last number and the next, if floats tell them apart
    if device is not None and dtype.kind == "f" and count and _ceil((between - start) / step) == count:
        return _made_on(device, _op("arange"), start, between, step, dtype.number)
    out = _ctypes.c_void_p()
    target = dtype if dtype.kind != "b" else _dtypes.DEFAULTS[int]
    _check(_arange(target.number, float(start), float(step), count, _devices.handle_or_none(device),
                   _ctypes.byref(out)))
    made = _from_handle(out.value)
    return made if target is dtype else astype(made, dtype)


_arange = _bind("nd4c_array_arange")


_WHOLE = int, Dim


def _range_of_dims(graph, start, stop, step, dtype):
    """arange of a dim, as a value of its graph; None where only numbers can say what it is: the dtype is narrow, or no place
    lies between the ends of the call that is recorded."""
    if dtype.name not in ("int64", "int32", "float64", "float32"):
        return None
    if step < 0 or not _is_extent(start) or not _is_extent(stop):
        count = (start - stop - step - 1) // -step if step < 0 else (stop - start + step - 1) // step
        if not _is_extent(count):
            return None
        places = arange(count) * step
        made = places + start if type(start) is int else places + graph._array_of(start)
    else:
        made = graph._op("integer_range", start, stop, step, False, _dtypes.DEFAULTS[int].number)
    return astype(made, dtype, copy=False)


def _is_extent(one):
    """Whether an integer or a Dim is at least 0."""
    return one >= 0 if type(one) is int else not one._negative


def _ends(first, start, stop):
    """start and stop as the caller of arange named them."""
    if start is not _MISSING:
        if first is not _MISSING:
            raise TypeError("arange: start is given twice, by its place and by its name")
        first = start
    elif first is _MISSING:
        first = 0
    elif stop is None:
        return 0, first
    if stop is None:
        raise TypeError("arange: stop is missing; the forms are arange(stop), arange(start, stop), arange(start, stop, step)")
    return 0 if first is None else first, stop


def _arange_dtype(*numbers):
    """The dtype of arange's result, at least int64."""
    dtype = _dtypes.DEFAULTS[int]
    for value in numbers:
        kind = type(value)
        own = value.dtype if kind is Array else _dtypes.DEFAULTS.get(kind) or asarray(value).dtype
        if not (kind is int and dtype.kind in "iu"):
            dtype = _dtypes.promote(dtype, own)
    return dtype


def _real(value, name):
    """An end or step of arange as a Python number."""
    if type(value) in (int, float):
        return value
    array = asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise TypeError("arange: %s is %s of %s; it is one real number" % (name, array.shape, array.dtype.name))
    return array.item() if array.dtype.kind != "b" else int(array.item())


def _integers(start, step, count, dtype):
    """The op takes 64 bits, signed or unsigned by the dtype. A step may need more bits if there are only two
    elements."""
    if count < 3:
        return asarray([start + i * step for i in range(count)], dtype=dtype)
    ends = [_creation.bits64(number, dtype) for number in (start, start + (count - 1) * step)]
    return _op("integer_range")(*ends, step, True, dtype.number)


@_explained
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None, **wrong):
    """num numbers from start to stop in equal steps; without the endpoint, stop is left out.

    Shapes: num numbers along `axis`, the other axes those to which start and stop broadcast.
    Dtypes: floating, or dtype; integers are rounded down. retstep: the result is (numbers, step).
    Errors: ValueError for a negative num; TypeError for one that is no integer.

    >>> nd4c.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> nd4c.linspace([0, 10], [1, 30], 3)
    array([[ 0. , 10. ],
           [ 0.5, 20. ],
           [ 1. , 30. ]])
    """
    if wrong:
        raise _unexpected(linspace, wrong)
    num = _index(num)
    if num < 0:
        raise ValueError("linspace: num is %d, it counts the numbers" % num)
    start, stop = _ends_of_line(start, stop)
    if type(start) not in _NUMBERS or type(stop) not in _NUMBERS or axis not in (0, -1):
        made, step = _made_on(device, _steps_between, start, stop, num, endpoint, dtype, axis)
        return (made, step) if retstep else made
    made = _made_on(device, _numbers_between, start, stop, num, endpoint, dtype)
    if not retstep:
        return made
    count = num - 1 if endpoint else num
    return made, (stop - start) / count if count > 0 else float("nan")


_NUMBERS = (bool, int, float, complex)


def _ends_of_line(*ends):
    """Numbers as they are, everything else as arrays; arrays without axes count as numbers where they are as precise."""
    ends = [end if type(end) in _NUMBERS else _as_array(end, "linspace") for end in ends]
    exact = [type(end) in _NUMBERS or (not end.ndim and (end.dtype.kind in "biu" or end.dtype.name in _PRECISE)) for end in ends]
    return [end if type(end) in _NUMBERS else end.item() for end in ends] if _builtins.all(exact) else ends


_PRECISE = ("float64", "complex128")


def _numbers_between(start, stop, num, endpoint, dtype):
    """linspace between two Python numbers."""
    is_complex = complex in (type(start), type(stop))
    dtype = _dtypes.default(complex if is_complex else float) if dtype is None else _dtypes.of(dtype)
    if dtype.kind == "b":
        return astype(_numbers_between(start, stop, num, endpoint, float), dtype)
    if dtype.kind != "c":
        if is_complex:
            raise TypeError("linspace: complex numbers between %r and %r do not fit %s" % (start, stop, dtype.name))
        return _op("linspace")(float(start), float(stop), num, endpoint, dtype.number)
    start, stop = complex(start), complex(stop)
    half = "float32" if dtype.bits == 64 else "float64"
    real_part = _numbers_between(start.real, stop.real, num, endpoint, half)
    imag_part = _numbers_between(start.imag, stop.imag, num, endpoint, half)
    return astype(real_part + imag_part * 1j, dtype)


def _steps_between(start, stop, num, endpoint, dtype, axis):
    """linspace between arrays, and its step."""
    arrays = [None if type(x) in _NUMBERS else _floating(_as_array(x, "linspace")) for x in (start, stop)]
    dtypes = [x.dtype for x in arrays if x is not None] or [_float64]
    computed = _dtypes.promote(dtypes[0], dtypes[-1])
    for number, x in zip((start, stop), arrays):
        computed = computed if x is not None else _dtypes.weak(type(number), computed)
    start, stop = (asarray(number, computed) if x is None else astype(x, computed, copy=False)
                   for number, x in zip((start, stop), arrays))
    wanted = computed if dtype is None else _dtypes.of(dtype)
    count = num - 1 if endpoint else num
    delta = stop - start
    axis = _normalize_axis(axis, delta.ndim + 1, "linspace")
    places = _reshape(astype(arange(num), computed), (-1,) + (1,) * delta.ndim)
    if count > 0:
        step = delta / count
        # A step that underflows to 0 would lose the ends' difference: it is divided after the product then.
        exact = delta != 0
        vanished = bool(_op("any")((step == 0) & exact, None, False))
        made = places / count * delta if vanished else places * step
        step = _op("copy")(step)
    else:
        made, step = places * delta, _op("full_like")(delta, asarray(float("nan"), dtype=computed))
    made = made + start
    if endpoint and num > 1:
        made[-1] = broadcast_to(stop, made.shape[1:])
    if axis:
        made = _moveaxis(made, 0, axis)
    if wanted.kind in "iu" and computed.kind == "f":
        made = _op("floor")(made)
    return astype(made, wanted, copy=False), step


def _floating(x):
    """x in a floating or complex dtype: float64 for integers and bools."""
    return x if x.dtype.kind in "fc" else astype(x, _float64)


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """Ones where column - row = k, else zeros.

    Shapes: N rows and M columns, as many as rows if M is left out. Dtypes: dtype, float64 if it is left out.
    Errors: ValueError for a negative extent.

    >>> nd4c.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    rows, columns = [one if type(one) is Dim else _index(one) for one in (N, N if M is None else M)]
    if order != "C" or like is not None:
        if like is not None:
            _creation.check_like(like, "eye")
        if order is not None and _creation.check_order(order, "eye", "CF") == "F":
            return _op("transpose")(eye(columns, rows, -_index(k), dtype, device=device), None)
    number = (_float64 if dtype is None else _dtypes.of(dtype)).number
    graph = graph_of((rows, columns))
    if graph is not None:
        return graph._op("eye", rows, columns, diagonal_number(k), number)
    return _made_on(device, _op("eye"), rows, columns, diagonal_number(k), number)


def diagonal_number(k):
    """The number of a diagonal, limited to the range beyond which all results are the same."""
    return _builtins.max(-2 ** 62, _builtins.min(_index(k), 2 ** 62))


def tril(m, k=0):
    """Matrices on and below diagonal k, zeros above.

    Shapes: m, matrices in its last two axes; one axis is the row of a square matrix. Dtypes: any, the result's is m's.
    Errors: TypeError for what asarray does not take.

    >>> nd4c.tril(nd4c.ones((3, 3), int))
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    return _op("tril")(_square(m, "tril"), diagonal_number(k))


def triu(m, k=0):
    """Matrices on and above diagonal k, zeros below.

    Shapes: m, matrices in its last two axes; one axis is the row of a square matrix. Dtypes: any, the result's is m's.
    Errors: TypeError for what asarray does not take.

    >>> nd4c.triu(nd4c.ones((2, 2), int), 1)
    array([[0, 1],
           [0, 0]])
    """
    return _op("triu")(_square(m, "triu"), diagonal_number(k))


def _square(m, where):
    m = _as_array(m, where)
    return broadcast_to(m, m.shape * 2) if m.ndim == 1 else m


def meshgrid(*xi, copy=True, sparse=False, indexing="xy", device=None):
    """Coordinates of a grid, one array each of the given ones.

    Shapes: of arrays with n1, n2, n3, ... elements (n2, n1, n3, ...), with indexing="ij" (n1, n2, n3, ...); sparse:
    with length 1 but for the own axis. Dtypes: each array's own. copy=False gives views of the given arrays.
    Errors: ValueError for another indexing.

    >>> x, y = nd4c.meshgrid([1, 2, 3], [10, 20])
    >>> x + y
    array([[11, 12, 13],
           [21, 22, 23]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("meshgrid: indexing is %r; it may be 'xy' or 'ij'" % (indexing,))
    if not xi:
        return ()
    arrays = [_reshape(a, -1) if a.ndim != 1 else a for a in (_as_array(a, "meshgrid") for a in xi)]
    is_recorded = _builtins.any(type(a) is Symbol for a in arrays)
    if device is not None:
        arrays = [_creation.to_device(a, device) for a in arrays]
    swapped = indexing == "xy" and len(arrays) > 1
    if sparse:
        places = [1, 0] + list(range(2, len(arrays))) if swapped else range(len(arrays))
        grids = tuple(_reshape(a, (1,) * place + (-1,) + (1,) * (len(arrays) - 1 - place))
                      for a, place in zip(arrays, places))
    elif is_recorded:
        sides = [a.shape[0] for a in arrays]
        shape = tuple(sides[1::-1] + sides[2:] if swapped else sides)
        graph, parts = graph_of(shape), meshgrid(*arrays, copy=False, sparse=True, indexing=indexing)
        if graph is not None:
            parts = [a if type(a) is Symbol else graph.constant(a) for a in parts]
        return tuple([broadcast_to(a, shape) for a in parts])
    else:
        grids = _list_call(_meshgrid, arrays, "meshgrid", swapped)
    return tuple(_creation.copied(grid) for grid in grids) if copy and not is_recorded else grids


_meshgrid = _bind("nd4c_meshgrid")

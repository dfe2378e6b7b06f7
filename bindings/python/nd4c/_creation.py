"""Arrays from Python's and other libraries' objects."""
import struct
import sys
from ctypes import byref, c_void_p

from nd4c import _devices, _dtypes, _memory
from nd4c._core import Array, calls, core, from_handle, handle
from nd4c._abi import MAX_RANK, NUMBERS
from nd4c._errors import check
from nd4c._library import bind
from nd4c._symbols import ARRAYS, Dim, Symbol, caller

_PACK = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
         "uint64": "Q", "float64": "d"}
_KINDS = (bool, int, float, complex, str)
_NUMBERS = {bool, int, float, complex}
_PYTHON = {bool, int, float, complex, list, tuple}
_DEEP = {list, tuple, range}
_to_device = bind("nd4c_array_to_device")
_wait = bind("nd4c_array_wait")
_from_nested, _from_scalar = getattr(core, "from_nested", None), core.from_scalar
_copy, _cast, _stack, _transpose = NUMBERS["copy"], NUMBERS["cast"], NUMBERS["stack"], NUMBERS["transpose"]


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """An array of numbers, nested lists, buffers, or other libraries' arrays.

    The memory of buffers and arrays is shared where that is possible.

    Shapes: of the nesting; all lists of one depth have the same length.
    Dtypes: of the numbers, int64, float64, complex128 or bool, unless `dtype` names one; arrays keep theirs.
    copy: True always copies, False never does, None copies only where sharing is impossible.
    order: "C" and "F" lay the elements out row by row or column by column; None, "K" and "A" keep the order that `a`
    has.
    Errors: ValueError for ragged lists, and for copy=False where only a copy is possible; TypeError for objects of
    which no array can be made; OverflowError for an integer that the dtype does not hold.

    >>> nd4c.asarray([[1, 2], [3, 4.5]])
    array([[1. , 2. ],
           [3. , 4.5]])
    >>> nd4c.asarray([1, 2], "float32")
    array([1., 2.], dtype=float32)
    """
    if type(a) in _PYTHON and dtype is order is device is copy is like is None:
        return from_python(a, None)
    wanted = None if dtype is None else _dtypes.of(dtype)
    if like is not None:
        check_like(like, "asarray")
    if order is not None:
        return ordered(asarray(a, wanted, device=device, copy=copy), order, copy, "asarray")
    if type(a) is Array:
        return _finish(a, wanted, device, copy, shared=True)
    if type(a) is Symbol:
        return a if wanted is None or wanted is a.dtype else calls[_cast](a, wanted.number)
    if device is None and copy is None and type(a) in _PYTHON:
        return from_python(a, wanted)
    if type(a) is Dim and caller() is sys._getframe(1):  # the package's own functions take a dim as a number
        return a._graph._array_of(a, wanted)
    if isinstance(a, (bool, int, float, complex, str, list, tuple, range)) and not hasattr(a, "dtype"):
        if copy is False:
            raise ValueError("asarray: Python numbers and lists cannot be taken without a copy; leave copy=False out")
        return _finish(from_python(a, wanted), wanted, device, None, shared=False)
    return _finish(_foreign(a, wanted), wanted, device, copy, shared=True)


def check_like(like, where):
    """Refuses a `like` that is no array of a library with NumPy's protocol: results are nd4c's whatever it is."""
    if not hasattr(like, "__array_function__"):
        raise TypeError("%s: like is a %s; it may be an nd4c.Array or None" % (where, type(like).__name__))


# -- layouts ---------------------------------------------------------------------------------------------------------

def check_order(order, where, permitted="CFAK"):
    """NumPy's letter of a layout, in upper case; None: the first one permitted."""
    if order is None:
        return permitted[0]
    if not isinstance(order, str):
        raise TypeError("%s: order is %r; it may be %s" % (where, order, ", ".join(map(repr, permitted))))
    if order.upper() not in tuple(permitted):
        raise ValueError("%s: order must be one of %s (got %r)" % (where, ", ".join(map(repr, permitted)), order))
    return order.upper()


def is_fortran(array):
    """Whether the elements lie column by column, the first index fastest."""
    return _memory.is_contiguous(calls[_transpose](array, None))


def fortran_copy(array):
    """A copy whose elements lie column by column: a transposed view of the transposed copy."""
    return calls[_transpose](copied(calls[_transpose](array, None)), None)


def laid_out_as(made, source):
    """An array that a function made of another, in a copy by columns if the other one lies so."""
    if type(made) is not Array or type(source) is not Array:
        return made
    return fortran_copy(made) if source.ndim > 1 and not _memory.is_contiguous(source) and is_fortran(source) else made


def copied_in(array, order):
    """A copy in the layout that order names; K and A keep an F-contiguous array so."""
    if order != "F" and _memory.is_contiguous(array):
        return array.copy()
    if order == "F" or (order in "KA" and is_fortran(array)):
        return fortran_copy(array)
    return copied(array)


def ordered(array, order, copy, where):
    """The array in the layout that order names; a copy only where the layout asks for one."""
    order = check_order(order, where)
    if order in "KA" or (_memory.is_contiguous if order == "C" else is_fortran)(array):
        return array
    if copy is False:
        raise ValueError("%s: the array is not in order %r and copy=False forbids a copy; leave copy=False out"
                         % (where, order))
    return copied_in(array, order)


def _finish(array, wanted, device, copy, shared):
    if wanted is not None and array.dtype is not wanted:
        if copy is False:
            raise ValueError("asarray: %s cannot become %s without a copy; leave copy=False out"
                             % (array.dtype.name, wanted.name))
        array, copy = calls[_cast](array, wanted.number), None
    if device is not None and _devices.Device(device) != array.device:
        if copy is False:
            raise ValueError("asarray: the array is on %s and cannot be on %s without a copy" % (array.device, device))
        array, copy = to_device(array, device), None
    return copied(array) if copy and shared else array


def made_on(device, make, *arguments):
    """The result of make(*arguments), computed on the device; if the device cannot compute it, the host does, and the
    result is copied to the device. None: the block decides."""
    if device is None:
        return make(*arguments)
    target = _devices.Device(device)
    if _devices.computes_on(target):
        return _moved(make(*arguments), target)
    with _devices.on(target):
        return _moved(make(*arguments), target)


def _moved(made, target):
    if isinstance(made, dict):
        return type(made)({name: to_device(array, target) for name, array in made.items()})
    return tuple(to_device(array, target) for array in made) if type(made) is tuple else to_device(made, target)


def copied(array):
    """A copy with separate memory on the array's device, regardless of routing."""
    return made_on(array.device, calls[_copy], array)


def to_device(array, device):
    """A copy on another device; the array itself if it is there."""
    target = _devices.Device(device)
    if target == array.device:
        return array
    out = c_void_p()
    check(_to_device(handle(array), target.handle, byref(out)))
    return from_handle(out.value)


# -- other libraries' objects ----------------------------------------------------------------------------------------

def _foreign(obj, wanted):
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(obj, numpy.generic):
        obj = numpy.asarray(obj)
    described = getattr(obj, "__array_interface__", None)
    if isinstance(described, dict):
        return _from_numpy(obj, described)
    if hasattr(obj, "__dlpack__"):
        from nd4c import _dlpack
        return _dlpack.from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        pass
    else:
        return _memory.from_buffer(obj)
    if hasattr(obj, "__array__"):
        converted = obj.__array__()
        if type(converted) is Array:
            return converted
        if not hasattr(converted, "__array_interface__"):
            raise ValueError("asarray: object __array__ method not producing an array: %s gave a %s"
                             % (type(obj).__name__, type(converted).__name__))
        return _from_numpy(converted, converted.__array_interface__)
    if _is_sequence(obj):
        return from_python(list(obj), wanted)
    for base in (int, float, complex):
        method = {int: "__index__", float: "__float__", complex: "__complex__"}[base]
        if hasattr(obj, method):
            return from_python(base(obj), wanted)
    raise TypeError("asarray: no array can be made of %s; pass numbers, nested lists, a buffer, or an object with "
                    "__dlpack__ or __array_interface__" % type(obj).__name__)


def _from_numpy(obj, described):
    array = _memory.from_interface(obj, described)
    if array is not None:
        return array
    numpy = sys.modules.get("numpy")
    dtype = getattr(obj, "dtype", None)
    if numpy is None or dtype is None:
        raise TypeError("asarray: the type string %r is of no dtype of nd4c's" % described["typestr"])
    if dtype.kind in "US" or (dtype.kind == "O" and all(isinstance(item, str) for item in obj.ravel())):
        texts = [str(item) if dtype.kind != "S" else item.decode() for item in obj.ravel()]
        return _memory.from_strings(texts, obj.shape)
    if dtype.kind in "biufc" and dtype.newbyteorder("=").name in _dtypes.by_name:
        return asarray(numpy.array(obj, dtype=dtype.newbyteorder("="), order="C"))
    raise TypeError("asarray: NumPy arrays of %s are not supported; nd4c has %s" % (dtype, ", ".join(_dtypes.by_name)))


def _is_sequence(obj):
    """Whether an object that is no list is indexed as lists are: a deque, an array.array, a class of the user's."""
    if isinstance(obj, (str, bytes)) or hasattr(obj, "keys"):
        return False
    return hasattr(obj, "__len__") and hasattr(obj, "__getitem__")


def _as_lists(obj):
    return [_as_lists(item) for item in obj] if isinstance(obj, (list, tuple)) or _is_sequence(obj) else obj


# -- Python's numbers and lists --------------------------------------------------------------------------------------

def from_python(obj, wanted):
    """An array of a number, a text, or nested lists."""
    if _from_nested is not None and (type(obj) is list or type(obj) is tuple):
        array = _from_nested(obj, wanted)
        if array is not None:
            return array
    if wanted is None and (type(obj) is float or type(obj) is int and -2 ** 63 <= obj < 2 ** 63):
        return _from_scalar(obj, _dtypes.default(type(obj)))
    if not isinstance(obj, (list, tuple, range)):
        return _packed([obj], (), {_kind(obj)}, wanted)
    kinds = set(map(type, obj))
    if kinds and kinds <= _NUMBERS:
        return _packed(obj, (len(obj),), kinds, wanted)
    if not kinds <= _DEEP and any(type(item) in ARRAYS or hasattr(item, "__dlpack__") for item in obj):
        return _stacked(obj, wanted)
    shape = []
    level = obj
    while isinstance(level, (list, tuple, range)):
        if len(shape) == MAX_RANK:
            raise ValueError("asarray: lists nested more than %d deep, which is as many axes as an array has"
                             % MAX_RANK)
        shape.append(len(level))
        if not level:
            break
        level = level[0]
    if level is not obj and hasattr(level, "ndim"):
        return _stacked(obj, wanted)
    if not isinstance(level, (list, tuple, range)) and _is_sequence(level):
        return from_python(_as_lists(obj), wanted)
    flat = []
    _flatten(obj, shape, 0, (), flat)
    kinds = set(map(type, flat))
    return _packed(flat, tuple(shape), {kind if kind in _KINDS else None for kind in kinds}, wanted)


def _stacked(items, wanted):
    """Lists of arrays: joined along a new axis, as NumPy does."""
    arrays = [asarray(item, wanted) for item in items]
    shape = arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != shape:
            raise ValueError("asarray: the list is ragged: the item [%d] has the shape %s, those before it have %s"
                             % (number, array.shape, shape))
    return calls[_stack](arrays, 0)


def _flatten(obj, shape, depth, position, flat):
    nested = isinstance(obj, (list, tuple, range))
    if nested != (depth < len(shape)) or (nested and len(obj) != shape[depth]):
        where = "".join("[%d]" % i for i in position) or "the list"
        expected = "%d elements" % shape[depth] if depth < len(shape) else "a number"
        given = "%d elements" % len(obj) if nested else type(obj).__name__
        raise ValueError("asarray: the nested lists are ragged: at %s expected %s as in the lists before it, got %s"
                         % (where, expected, given))
    if not nested:
        flat.append(obj)
    elif depth + 1 == len(shape) and set(map(type, obj)) <= {bool, int, float, complex, str}:
        flat.extend(obj)
    else:
        for number, item in enumerate(obj):
            _flatten(item, shape, depth + 1, position + (number,), flat)


def _kind(value):
    return type(value) if type(value) in _KINDS else None


def _plain(value):
    """A plain Python number from one of a subclass or from another library's scalar."""
    if type(value) in _KINDS:
        return value
    if hasattr(value, "item"):
        return value.item()
    for base in (bool, int, float, complex, str):
        if isinstance(value, base):
            return base(value)
    if hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError("asarray: lists hold numbers, texts or lists, not %s" % type(value).__name__)


def _packed(flat, shape, kinds, wanted):
    if None in kinds:
        scalar = next(value for value in flat if _kind(value) is None)
        flat = [_plain(value) for value in flat]
        kinds = set(map(type, flat))
        if wanted is None and hasattr(scalar, "dtype"):
            wanted = _common(kinds) if len(kinds) > 1 else _dtypes.of(scalar.dtype)
    if str in kinds:
        if kinds != {str}:
            raise TypeError("asarray: texts do not mix with numbers; make all of them texts or numbers")
        texts = _memory.from_strings(flat, shape)
        return texts if wanted is None or wanted.kind == "U" else calls[_cast](texts, wanted.number)
    dtype = wanted or _widened(flat, _common(kinds))
    return _from_numbers(flat, shape, kinds, dtype)


def _common(kinds):
    for kind in (complex, float, int, bool):
        if kind in kinds:
            return _dtypes.default(kind)
    return _dtypes.DEFAULTS[float]


def _widened(flat, dtype):
    if dtype.name == "int64" and flat and max(flat) >= 2 ** 63 and "uint64" in _dtypes.by_name:
        return _dtypes.by_name["uint64"]
    return dtype


def _from_numbers(flat, shape, kinds, dtype):
    code = _PACK.get(dtype.name)
    if dtype.kind == "c":
        numbers = [complex(value) for value in flat]
        data = struct.pack("%dd" % (2 * len(numbers)), *[part for z in numbers for part in (z.real, z.imag)])
        array = core.from_data(data, shape, _dtypes.by_name["complex128"])
        return array if dtype.name == "complex128" else calls[_cast](array, dtype.number)
    if complex in kinds:
        raise TypeError("asarray: complex numbers cannot become %s" % dtype.name)
    if code is None:
        array = core.from_data(struct.pack("%dd" % len(flat), *flat), shape, _dtypes.by_name["float64"])
        return calls[_cast](array, dtype.number)
    if dtype.name == "bool":
        flat = [bool(value) for value in flat]
    elif dtype.kind in "iu" and float in kinds:
        flat = [int(value) for value in flat]
    try:
        return core.from_data(struct.pack("%d%s" % (len(flat), code), *flat), shape, dtype)
    except (struct.error, OverflowError):
        raise _beyond(next(value for value in flat if not _fits(value, dtype)), dtype) from None


def bits64(value, dtype):
    """An integer of a dtype as an op's attribute takes it: the int64 with the same bits."""
    if not _fits(value, dtype):
        raise _beyond(value, dtype)
    return value - 2 ** 64 if value >= 2 ** 63 else value


def _beyond(value, dtype):
    return OverflowError("Python integer %r out of bounds for %s" % (value, dtype.name))


def _fits(value, dtype):
    if dtype.kind == "f":
        return abs(value) < 2 ** 1024
    low = -2 ** (dtype.bits - 1) if dtype.kind == "i" else 0
    return low <= value < low + 2 ** dtype.bits

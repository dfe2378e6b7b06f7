"""The core over ctypes: the array class, its operators and indexing, and one callable an op. Complete without a compiler.

An Array is a c_void_p: the object is the handle, and the C library writes a new handle into it, so that an operation makes one
Python object and no list of arguments. Ops are called through the library object that releases the GIL. Calls that only read
an array's properties, make a view or drop a reference keep the GIL, which is faster."""
import ctypes
import functools
import struct
from ctypes import byref, c_double, c_int32, c_int64, c_void_p
from importlib import import_module
from operator import index as _index

from nd4c import _abi, _attributes, _dtypes
from nd4c._attributes import convert as _convert, extents, ints
from nd4c._errors import error as _error
from nd4c._hidden import hide_buffer
from nd4c._library import holding, releasing
from nd4c._registered import UNWRITABLE, recorded, register, registered as _registered, takes_symbol  # noqa: F401: a core has register

_handle_of = c_void_p.value.__get__
_DTYPE_STATUS = 203
_SLICE_NONE = -2 ** 63
_WHERE = _abi.NUMBERS["where"]


def _prototype(library, name, restype=None, argtypes=None):
    function = library[name]
    function.restype, function.argtypes = restype, argtypes
    return function


_query = functools.partial(_prototype, holding)


_release = _query("nd4c_array_release")
_rank = _query("nd4c_array_rank", ctypes.c_int)
_size = _query("nd4c_array_size", c_int64)
_dtype = _query("nd4c_array_dtype", ctypes.c_int)
_shape = _query("nd4c_array_shape", ctypes.POINTER(c_int64))
_device = _query("nd4c_array_device", c_void_p)
_code = _query("nd4c_error_code", ctypes.c_int)
_set = releasing.nd4c_array_set
_read = releasing.nd4c_array_read
_read.argtypes = (c_void_p, c_void_p, ctypes.c_size_t)
_wrap = _query("nd4c_array_wrap", ctypes.c_int, (c_int32, c_int32, c_void_p, c_void_p, c_void_p, ctypes.c_bool, c_void_p,
                                                 c_void_p, c_void_p))
_find = _query("nd4c_device_find", ctypes.c_int, (ctypes.c_char_p, c_void_p))
_from_data = _query("nd4c_array_from_data", ctypes.c_int,
                    (c_int32, c_int32, c_void_p, c_void_p, c_void_p, c_void_p))
_by_number = [_dtypes.by_number.get(number) for number in range(64)]


# -- operands that are no arrays ------------------------------------------------------------------------------------

_PACK = {name: struct.Struct(code).pack for name, code in (
    ("bool", "?"), ("int8", "b"), ("int16", "h"), ("int32", "i"), ("int64", "q"), ("uint8", "B"), ("uint16", "H"),
    ("uint32", "I"), ("uint64", "Q"), ("float32", "f"), ("float64", "d"), ("complex64", "ff"), ("complex128", "dd"))}


_numbers = {}  # small integers and a few floats, for use beside arrays of the host; they are never written
_zeros_of = {}
_cells = []    # their memory
_host = None   # their device


def _beside_array(value, kind, array):
    """A 0-d array of a Python number, in the dtype that the number has beside the array, on the array's device."""
    number, device = _dtype(array), _device(array)
    if device != (_host or _find_host()):
        return from_scalar(value, _dtypes.weak(kind, _by_number[number]), device)
    try:
        return _numbers[kind, value, number] if value else _zeros_of[kind, number]
    except KeyError:
        pass
    array = from_scalar(value, _dtypes.weak(kind, _by_number[number]), device)
    if not value:
        if kind is int or kind is bool:
            array = _zeros_of[kind, number] = _lasting(array)
    elif len(_numbers) < 512 and (kind is not int or -16 <= value <= 256):
        array = _numbers[kind, value, number] = _lasting(array)
    return array


def _find_host():
    global _host
    out = c_void_p()
    status = _find(b"cpu:0", byref(out))
    if status:
        raise _error(status)
    _host = out.value
    return _host


def _lasting(array):
    """A number's array over Python's memory: memory from nd4c would belong to the thread's current workspace, which a lasting
    array would keep open."""
    dtype, cell, out = _by_number[_dtype(array)], (c_int64 * 2)(), _new()
    status = (_read(array, cell, dtype.itemsize or 1)
              or _wrap(dtype.number, 0, None, None, cell, True, None, None, byref(out)))
    if status:
        raise _error(status)
    _cells.append(cell)
    return out


def from_scalar(value, dtype, device=None):
    """A 0-d array of a Python number."""
    pack = _PACK.get(dtype.name)
    if pack is None or (dtype.name == "float32" and type(value) is not bool):
        return _rounded(value, dtype, device)
    try:
        if dtype.kind == "c":
            value = complex(value)
            data = pack(value.real, value.imag)
        else:
            data = pack(value)
    except struct.error:
        raise OverflowError("Python integer %r out of bounds for %s" % (value, dtype.name)) from None
    out = _new()
    status = _from_data(dtype.number, 0, None, data, device, byref(out))
    if status:
        raise _error(status)
    return out


def _rounded(value, dtype, device):
    """A number of a dtype that Python's own packing does not round as C does."""
    out = _new()
    status = holding.nd4c_array_scalar(dtype.number, c_double(value), c_void_p(device), byref(out))
    if status:
        raise _error(status)
    return out


def _operand(value, array):
    """The operand beside `array`: a Python number, or a scalar of another library; NotImplemented for anything else."""
    kind = type(value)
    if type(array) is not Array:  # Array.__add__(5, 6): C must not take a number for an address
        raise TypeError("expected an nd4c.Array, got %s" % type(array).__name__)
    if kind is float or kind is int or kind is bool or kind is complex:
        return _beside_array(value, kind, array)
    if kind is Array:
        return value
    if getattr(value, "ndim", None) == 0 and hasattr(value, "dtype"):
        return _registered["asarray"](value)
    for base in (bool, int, float, complex):
        if isinstance(value, base):
            return _beside_array(base(value), base, array)
    return NotImplemented


def _argument(value, arrays, where):
    """Makes an array of an op's input that is not an array, with the dtype and device rules of the first input that is one."""
    for array in arrays:
        if type(array) is Array:
            value_of = _operand(value, array)
            if value_of is not NotImplemented:
                return value_of
            break
    hint = "; nd4c.asarray() makes an array of it" if not isinstance(value, (int, float, complex)) else (
        "; at least one of the arguments has to be an array")
    raise TypeError("%s: expected an nd4c.Array, got %s%s" % (where, type(value).__name__, hint))


# -- ops ------------------------------------------------------------------------------------------------------------

def _unary(name):
    """A function of one array, which serves as an operator, too."""
    call = releasing["nd4c_" + name]
    number = _abi.NUMBERS[name]

    def op(x, out=None):
        if type(x) is not Array:
            if takes_symbol((x,)):
                return recorded(number, (x,))
            _argument(x, (), name)
        made = _new() if out is None else written(name, out)
        status = call(x, byref(made))
        if status and out is None:
            return _mixed(status, number, x)
        if status:
            raise _error(status)
        return made
    return op


def _binary(name):
    """A function of two arrays."""
    call = releasing["nd4c_" + name]
    number = _abi.NUMBERS[name]

    def op(a, b, out=None):
        if (type(a) is not Array or type(b) is not Array) and takes_symbol((a, b)):
            return recorded(number, (a, b))
        if type(a) is not Array:
            a = _argument(a, (b,), name)
        if type(b) is not Array:
            b = _argument(b, (a,), name)
        made = _new() if out is None else written(name, out)
        status = call(a, b, byref(made))
        if status and out is None:
            return _mixed(status, number, a, b)
        if status:
            raise _error(status)
        return made
    return op


def written(name, out):
    """An array that an op writes into: the library finds it where it would write the handle of a new one."""
    if type(out) is not Array:
        raise TypeError("%s: out: expected an nd4c.Array, got %r" % (name, out))
    return out


def all_written(name, out, outputs):
    """The arrays that an op with several results writes into."""
    if type(out) is not tuple or len(out) != outputs:
        raise TypeError("%s: out: expected a tuple with an nd4c.Array for each result, got %r" % (name, out))
    return [written(name, one) for one in out]


def _mixed(status, number, *operands):
    """After a refusal: the result, if NumPy computes it for these dtypes."""
    out = _registered["mixed"](number, *operands) if status == _DTYPE_STATUS else None
    if out is None:
        raise _error(status)
    return out


def handles(arrays):
    """A C list of arrays; the caller keeps them."""
    return (c_void_p * len(arrays))(*map(_handle_of, arrays))


_ARGTYPES = {"i": (c_void_p,), "o": (c_void_p,), "v": (c_void_p, c_int32), **_attributes.ARGTYPES}


def _general(name, inputs, attrs, outputs, where_condition):
    """An op of any signature. Inputs and attributes are pairs of kind and name, see _abi.OPS."""
    call, number = releasing["nd4c_" + name], _abi.NUMBERS[name]
    kinds = "".join(kind for kind, _ in inputs + attrs)
    call.argtypes = sum((_ARGTYPES[kind] for kind in kinds), ()) + (c_void_p,) * outputs
    names = [argument for _, argument in inputs + attrs]
    arrays_end = sum(kind in "iov" for kind in kinds)

    def arrays_of(values):
        return values[where_condition:arrays_end]

    def op(*values):
        into = None
        if len(values) == len(kinds) + 1:
            *values, into = values
        if len(values) != len(kinds):
            raise TypeError("%s: expected %d arguments, got %d" % (name, len(kinds), len(values)))
        if takes_symbol(values):
            return recorded(number, values)
        arguments, kept = [], []
        for place, (kind, value) in enumerate(zip(kinds, values)):
            if kind == "i" or kind == "o":
                if type(value) is not Array and (value is not None or kind == "i"):
                    value = _argument(value, arrays_of(values), name)
                arguments.append(value)
            elif kind == "v":
                value = [a if type(a) is Array else _argument(a, value, name) for a in value]
                kept.append(value)
                arguments += (handles(value), len(value))
            else:
                arguments += _convert(name, names[place], kind, value)
        if into is None:
            outs = [_new() for _ in range(outputs)]
        else:
            outs = [written(name, into)] if outputs == 1 else all_written(name, into, outputs)
        arguments += map(byref, outs)
        status = call(*arguments)
        if status:
            raise _error(status)
        return outs[0] if outputs == 1 else tuple(outs)
    return op


def function(number):
    """The callable of an op: inputs, then attributes in the schema's order, all given, and the array or the tuple of arrays to
    write into where the caller has them. Returns an Array or a tuple of them."""
    if number not in _abi.OPS or number in _abi.WITH_OPTIONS:
        return import_module("nd4c._positional").function(number)
    name, inputs, attrs, outputs = _abi.OPS[number]
    kinds = "".join(kind for kind, _ in inputs + attrs)
    if outputs == 1 and kinds == "i":
        op = _unary(name)
    elif outputs == 1 and kinds == "ii":
        op = _binary(name)
    else:
        op = _general(name, inputs, attrs, outputs, 1 if number == _WHERE else 0)
    op.__name__ = op.__qualname__ = name
    return op


# -- operators ------------------------------------------------------------------------------------------------------

def _operator(name):
    """As _binary; operands that are no arrays are the package's."""
    call = releasing["nd4c_" + name]
    number = _abi.NUMBERS[name]
    compares = name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    inverts, divides = name == "power", name == "true_divide"
    integers = name.startswith("bitwise")

    def op(a, b):
        x, y = a, b
        if integers and type(a) is Array and type(b) is Array and _dtype(a) != _dtype(b):
            return _registered["unmixed"](number, a, b)
        try:
            if type(a) is not Array:
                x = _operand(a, b)
            elif type(b) is not Array:
                y = _operand(b, a)
        except OverflowError:
            if not compares and not divides:
                raise
            x = NotImplemented
        if x is NotImplemented or y is NotImplemented or (inverts and _may_invert(a, b)):
            return _registered["unmixed"](number, a, b)
        out = _new()
        status = call(x, y, byref(out))
        if status:
            return _mixed(status, number, x, y)
        return out
    return op


def _may_invert(a, b):
    """Whether an integer to the power of b may be one to a negative power, which the op rounds to 0 and the package refuses."""
    kinds = [_by_number[_dtype(x)].kind if type(x) is Array else "iu"[x >= 0] if isinstance(x, int) else "" for x in (a, b)]
    return kinds[1] == "i" and kinds[0] in ("i", "u")


def _reflected(forward):
    def operator(self, other):
        return forward(other, self)
    return operator


def _in_place(name):
    """An array without axes is what NumPy has scalars for: `best = loss; loss *= 2` leaves best alone, so that the operator gives
    a new array."""
    call, forward = releasing["nd4c_" + name], _operator(name)
    number = _abi.NUMBERS[name]
    inverts, divides = name == "power", name == "true_divide"

    def operator(self, other):
        if type(self) is Array and not _rank(self):
            return forward(self, other)
        try:
            operand = other if type(other) is Array else _operand(other, self)
        except OverflowError:
            if not divides:
                raise
            operand = NotImplemented
        if operand is NotImplemented or (inverts and _may_invert(self, other)):
            return _registered["in_place"](number, self, other)
        status = call(self, operand, byref(self))
        if status == _DTYPE_STATUS:
            return _registered["in_place"](number, self, other)
        if status:
            raise _error(status)
        return self
    return operator


# -- indexing -------------------------------------------------------------------------------------------------------

_INTEGER, _SLICE, _ELLIPSIS, _NEW_AXIS, _MASK, _ARRAY = 1, 2, 3, 4, 5, 6
_LARGE = 2 ** 63
# A list of items as C has it is five words an item, kind, start, stop, step and array, and one item of zeros at its end.
_WORDS = [struct.Struct("=%dq40x" % (5 * count)).pack for count in range(_abi.MAX_RANK + 1)]
_integer_items, _slice_items = struct.Struct("=qq64x").pack, struct.Struct("=qqqq48x").pack
_EVERYTHING = _WORDS[1](_ELLIPSIS, 0, 0, 0, 0)
_KEY_ERROR = ("only integers, slices (':'), ellipsis ('...'), None, and arrays of integers or booleans are valid "
              "indices, not %s")


def _clamped(bound):
    if bound is None:
        return _SLICE_NONE
    try:
        return max(-2 ** 63 + 1, min(_index(bound), 2 ** 63 - 1))
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _integer(key):
    """The words of an index that is not an int; raises for an int that does not fit."""
    try:
        value = _index(key)
    except TypeError:
        raise IndexError(_KEY_ERROR % type(key).__name__) from None
    if not -_LARGE <= value < _LARGE:
        raise IndexError("index %d does not fit 64 bits" % value)
    return _INTEGER, value, 0, 0, 0


def _choice(key, kept):
    """The words of what may be an array; the array joins `kept`."""
    if type(key) is not Array:
        if type(key) is not bool and not isinstance(key, list) and not hasattr(key, "dtype"):
            return _integer(key)
        key = _registered["asarray"](key)
        if _size(key) == 0 and _by_number[_dtype(key)].kind == "f":
            key = _registered["asarray"](key, dtype=_dtypes.by_name["int64"])
    kept.append(key)
    return _MASK if _dtype(key) == 1 else _ARRAY, 0, 0, 0, _handle_of(key)


def _items(key, kept):
    """An index as the C library's list; arrays that it points to join `kept`."""
    words = []
    keys = key if type(key) is tuple else (key,)
    for item in keys:
        kind = type(item)
        if kind is int:
            words += (_INTEGER, item, 0, 0, 0) if -_LARGE <= item < _LARGE else _integer(item)
        elif kind is slice:
            words += _SLICE, _clamped(item.start), _clamped(item.stop), _clamped(item.step), 0
        elif item is None:
            words += _NEW_AXIS, 0, 0, 0, 0
        elif item is Ellipsis:
            words += _ELLIPSIS, 0, 0, 0, 0
        else:
            words += _choice(item, kept)
    count = len(keys)
    return _WORDS[count](*words) if count <= _abi.MAX_RANK else struct.pack("=%dq40x" % len(words), *words)


# -- the array ------------------------------------------------------------------------------------------------------

class Array(c_void_p):
    """An n-dimensional array of one dtype. Made by nd4c.asarray, nd4c.zeros, ... and by every function."""

    __slots__ = ()
    __module__ = "nd4c"
    _address = c_void_p.value  # None: the C function that should have made an array failed

    def __init__(self, *arguments, **named):
        raise TypeError("arrays are made by nd4c.asarray(), nd4c.empty(), nd4c.zeros(), ..., not by nd4c.Array()")

    def __init_subclass__(cls, **named):
        raise TypeError("nd4c.Array cannot be subclassed")

    @property
    def value(self):
        raise AttributeError("'Array' object has no attribute 'value'")

    def __setattr__(self, name, value):
        place = getattr(Array, name, None)
        if type(place) is property and place.fset is not None:
            place.fset(self, value)
            return
        raise AttributeError("attribute %r of arrays cannot be set" % name)

    def __getitem__(self, key):
        kind = type(key)
        if type(self) is not Array:
            raise TypeError("expected an nd4c.Array, got %s" % type(self).__name__)
        try:
            if kind is slice:
                start, stop, step = key.start, key.stop, key.step
                out = _at(self, _slice_items(_SLICE, _SLICE_NONE if start is None else start,
                                             _SLICE_NONE if stop is None else stop, 1 if step is None else step))
            elif kind is int:
                out = _at(self, _integer_items(_INTEGER, key))
                if out._address is not None and not _rank(out):
                    return _one_element(out)
            else:
                return _got(self, key)
        except struct.error:
            return _got(self, key)
        if out._address is None:
            raise _error(_code())
        return out

    def __setitem__(self, key, value):
        kept = []
        items = _items(key, kept)
        operand = value
        if type(value) is not Array:
            operand = _operand(value, self)
            operand = _registered["asarray"](value) if operand is NotImplemented else operand
            if type(operand) is not Array:
                raise TypeError(UNWRITABLE)
        status = _set(self, items, len(key) if type(key) is tuple else 1, operand)
        if status == _DTYPE_STATUS:
            status = _set(self, items, len(key) if type(key) is tuple else 1, _registered["assigned"](self, value))
        if status:
            raise _error(status)

    @property
    def shape(self):
        """Extents of the axes."""
        return tuple(_shape(self)[:_rank(self)])

    @property
    def ndim(self):
        """Number of axes."""
        return _rank(self)

    @property
    def size(self):
        """Number of elements."""
        return _size(self)

    @property
    def dtype(self):
        """The elements' type."""
        return _by_number[_dtype(self)]

    @property
    def device(self):
        """Where the elements are."""
        return _registered["devices"](_device(self))

    def __bool__(self):
        if _size(self) != 1:
            raise ValueError("the truth value of an array with more or less than one element is ambiguous (this one has %d); use "
                             "x.any() or x.all()" % _size(self))
        return bool(_scalar(self, "bool", any_rank=True))

    def __int__(self):
        return int(_scalar(self, "int", "c"))

    def __float__(self):
        return float(_scalar(self, "float", "c"))

    def __complex__(self):
        return complex(_scalar(self, "complex"))

    def __index__(self):
        if _by_number[_dtype(self)].kind not in "iu":
            raise TypeError("only integer arrays of one element can be an index, not %s"
                            % _by_number[_dtype(self)].name)
        return _scalar(self, "index")


def _got(array, key):
    """array[key] of any key; releases the GIL while elements move."""
    if takes_symbol((key,)):
        return _registered["picked"](array, key)
    kept = []
    items = _items(key, kept)
    out = (_moved if kept else _at)(array, items)
    if out._address is None:
        raise _error(_code())
    if not kept and not _rank(out) and type(key) is not slice and all(
            item is not None and item is not Ellipsis for item in (key if type(key) is tuple else (key,))):
        return _one_element(out)
    return out


def _one_element(view):
    """One element as an array of its own, as NumPy's scalars are: x[0], x[1] = x[1], x[0] exchanges two."""
    out = _new()
    status = releasing.nd4c_copy(view, byref(out))
    if status:
        raise _error(status)
    return out


_at, _moved = (_prototype(library, "nd4c_array_at", Array) for library in (holding, releasing))


_UNPACK = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
           "uint64": "Q", "float16": "e", "float32": "f", "float64": "d", "complex64": "ff", "complex128": "dd"}
_UNPACK = {name: struct.Struct(code) for name, code in _UNPACK.items()}


def _scalar(array, wanted, refused=None, any_rank=False):
    """The only element of an array, which has no axes unless any_rank, as a Python number."""
    if _rank(array) != 0 and not any_rank:
        raise TypeError("only arrays of no axes can be converted to a Python %s; this one has the shape %s"
                        % (wanted, array.shape))
    dtype = _by_number[_dtype(array)]
    if dtype.kind == refused or dtype.kind == "U":
        raise TypeError("a %s array cannot be converted to a Python %s" % (dtype.name, wanted))
    return item(array)


def item(array):
    """The first element as a Python number, or text."""
    dtype = _by_number[_dtype(array)]
    unpack = _UNPACK.get(dtype.name)
    if unpack is None:
        return _registered["item"](array)
    cell = ctypes.create_string_buffer(16)
    status = _read(array, cell, unpack.size)
    if status:
        raise _error(status)
    values = unpack.unpack_from(cell)
    return values[0] if len(values) == 1 else complex(*values)


def _hash(array):
    """Of an element, as of NumPy's scalars; arrays with axes have none."""
    if _rank(array):
        raise TypeError("unhashable type: 'nd4c.Array'")
    return hash(item(array))


def _attach():
    def put(name, function):
        function.__name__, function.__qualname__ = name, "Array." + name
        setattr(Array, name, function)

    for name, op in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "true_divide"),
                     ("floordiv", "floor_divide"), ("mod", "remainder"), ("pow", "power"), ("matmul", "matmul"),
                     ("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor"),
                     ("lshift", "bitwise_left_shift"), ("rshift", "bitwise_right_shift")):
        forward = _operator(op)
        put("__%s__" % name, forward)
        put("__r%s__" % name, _reflected(forward))
        put("__i%s__" % name, _in_place(op))
    for name, op in (("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"), ("gt", "greater"),
                     ("ge", "greater_equal")):
        put("__%s__" % name, _operator(op))
    for name, op in (("neg", "negative"), ("pos", "positive"), ("abs", "abs"), ("invert", "bitwise_invert")):
        put("__%s__" % name, _unary(op))
    Array.__hash__ = _hash
    # A C function bound to its object calls nd4c_array_release(self) without a Python frame.
    bound = ctypes.pythonapi.PyInstanceMethod_New
    bound.restype, bound.argtypes = ctypes.py_object, (ctypes.py_object,)
    Array.__del__ = bound(_release)


_attach()
_new = functools.partial(c_void_p.__new__, Array)


def from_handle(address):
    """An Array of an nd4c_array * whose reference it takes over."""
    array = _new()
    c_void_p.value.__set__(array, address)
    return array


def handle(array):
    """The nd4c_array * of an Array, borrowed."""
    if type(array) is not Array:
        raise TypeError("expected an nd4c.Array, got %s; nd4c.asarray() makes an array of it" % type(array).__name__)
    return _handle_of(array)


# -- creation -------------------------------------------------------------------------------------------------------

def _maker(name, *middle):
    call = getattr(holding, name)
    call.argtypes = (c_int32, c_int32, c_void_p) + middle + (c_void_p, c_void_p)
    return call


_empty, _zeros = _maker("nd4c_array_empty"), _maker("nd4c_array_zeros")
_full = _maker("nd4c_array_full", c_double)


def _shaped(call, doc):
    def make(shape, dtype, device=None):
        out = _new()
        status = call(dtype.number, len(shape), extents(shape), device, byref(out))
        if status:
            raise _error(status)
        return out
    make.__doc__ = doc
    return make


empty = _shaped(_empty, "An array without defined contents; dtype a DType, device an nd4c_device * or None.")
zeros = _shaped(_zeros, "An array of zeros.")


def full(shape, value, dtype, device=None):
    """An array of one value, given as a float."""
    out = _new()
    status = _full(dtype.number, len(shape), extents(shape), value, device, byref(out))
    if status:
        raise _error(status)
    return out


def from_data(data, shape, dtype, device=None):
    """A copy of C-ordered bytes."""
    out = _new()
    status = _from_data(dtype.number, len(shape), ints(shape), data, device, byref(out))
    if status:
        raise _error(status)
    return out


hide_buffer(Array, _new)

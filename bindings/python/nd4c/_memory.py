"""Arrays over memory of other libraries, and memory of arrays for other libraries: the array interface, buffers,
bytes."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_int64, c_void_p

from nd4c import _abi, _dtypes
from nd4c._core import core, from_handle, handle
from nd4c._errors import check
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Union

    from nd4c import Array

_wrap = bind("nd4c_array_wrap")
_share = bind("nd4c_array_to_dlpack")
_deleter = ctypes.CFUNCTYPE(None, c_void_p)
_read = bind("nd4c_array_read")
_string = bind("nd4c_array_string")
_from_strings = bind("nd4c_array_from_strings")
_from_blocks = bind("nd4c_array_from_blocks")
_block_format = bind("nd4c_array_block_format", keeps_gil=True)
_block_format.restype = ctypes.c_char_p
_read_only = bind("nd4c_array_is_read_only", keeps_gil=True)
_contiguous = bind("nd4c_array_is_contiguous", keeps_gil=True)
_strides = bind("nd4c_array_strides", keeps_gil=True)
_strides.restype = ctypes.POINTER(c_int64)
_bytes = bind("nd4c_dtype_bytes", keeps_gil=True)

_owners = {}
_next = iter(range(1, 2 ** 62)).__next__


@_abi.release_callback
def forget(key, owners=_owners):
    owners.pop(key, None)


# Arrays may go after the modules have, when the interpreter ends: the library must still find the callback then.
ctypes.pythonapi.Py_IncRef(ctypes.py_object(forget))


def keep(owner):
    """A number for the library's release callback, `forget`. The owner is kept until the callback runs."""
    key = _next()
    _owners[key] = owner
    return key


def wrap(address, shape, strides, dtype, read_only, owner):
    """An array over memory that `owner` keeps; strides count elements, None: C order."""
    key = keep(owner)
    out = c_void_p()
    status = _wrap(dtype.number, len(shape), int64(shape), None if strides is None else int64(strides), address,
                   read_only, forget, key, byref(out))
    if status:
        del _owners[key]
        check(status)
    return from_handle(out.value)


def int64(values):
    return (c_int64 * len(values))(*values)


def byte_strides(array):
    """Bytes from one index to the next, an axis each, as NumPy counts. 0 for dtypes of which several elements share a
    byte."""
    size = array.dtype.itemsize
    return tuple(stride * size for stride in strides(array))


def strides(array):
    """Elements from one index to the next, an axis each."""
    return tuple(_strides(handle(array))[:array.ndim])


def is_contiguous(array):
    return _contiguous(handle(array))


def is_read_only(array):
    return _read_only(handle(array))


def address(array):
    """The address of the first element, which other libraries may keep as long as the array lives; waits for pending
    work. It exports through DLPack, because exported memory keeps its address when arrays migrate and workspaces
    end."""
    out = c_void_p()
    check(_share(handle(array), byref(out)))
    managed = _abi.dl_managed.from_address(out.value)
    place = managed.tensor.data or 0
    _deleter(managed.deleter)(out.value)
    return place


def read(array):
    """All elements in C order as a ctypes array of bytes."""
    count = _bytes(array.dtype.number, array.size)
    cell = (ctypes.c_char * max(count, 1))()
    check(_read(handle(array), cell, count))
    return cell, count


def strings(array):
    """All elements of an array of strings in C order."""
    text, length = c_void_p(), c_int64()
    result = []
    for number in range(array.size):
        check(_string(handle(array), number, byref(text), byref(length)))
        result.append(ctypes.string_at(text.value, length.value).decode() if length.value else "")
    return result


def from_strings(texts, shape):
    """An array of strings."""
    encoded = [text.encode() for text in texts]
    out = c_void_p()
    check(_from_strings(len(shape), int64(shape), (ctypes.c_char_p * len(encoded))(*encoded),
                        int64([len(text) for text in encoded]), byref(out)))
    return from_handle(out.value)


def from_blocks(format: str, shape: Union[int, Sequence[int]], blocks: Any) -> Array:
    r"""A read-only float32 array that stays in quantised blocks: `format` as GGUF names it ("q8_0", "q4_0"), `blocks`
    their bytes. `x @ array` and `x @ array.mT` read the blocks on the CPU; everything else sees the elements, decoded
    once.

    Shapes: `shape`, whose last axis is a whole number of blocks.
    Dtypes: float32.
    Errors: ValueError for an unknown format or another number of bytes.

    >>> scale, numbers = b"\x00\x3c", bytes(range(32))  # q8_0: a float16 scale, here 1, and 32 int8
    >>> x = nd4c.from_blocks("q8_0", (1, 32), scale + numbers)
    >>> x[0, :4]
    array([0., 1., 2., 3.], dtype=float32)
    """
    data = bytes(blocks)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    out = c_void_p()
    check(_from_blocks(format.encode(), len(shape), int64(shape), data, len(data), byref(out)))
    return from_handle(out.value)


def block_format(array: Array) -> Optional[str]:
    """The block format in which an array, or the array that it is a view of, is stored; None: no blocks.

    Shapes: any.
    Dtypes: all; blocks are seen as float32.
    Errors: TypeError for what is no nd4c.Array.

    >>> nd4c.block_format(nd4c.zeros(2)) is None
    True
    """
    name = _block_format(handle(array))
    return None if name is None else name.decode()


# -- the array interface, version 3 ----------------------------------------------------------------------------------

def interface(array):
    """__array_interface__, from which NumPy makes an array over the same memory."""
    dtype = array.dtype
    if dtype.kind == "U" or dtype.bits < 8 or "V" in dtype.numpy_type:
        raise AttributeError("%s arrays have no array interface" % dtype.name)
    read_only = is_read_only(array)
    return {"version": 3, "typestr": dtype.numpy_type, "shape": array.shape,
            "strides": byte_strides(array),
            "data": (address(array), read_only)}


class Interface:
    """Gives NumPy an array's memory as the dtype named, and keeps the array alive."""

    def __init__(self, array, typestr=None):
        self.array = array
        self.__array_interface__ = dict(_raw(array), typestr=typestr) if typestr else interface(array)


def _raw(array):
    return {"version": 3, "shape": array.shape, "strides": byte_strides(array),
            "data": (address(array), is_read_only(array))}


def from_interface(owner, described):
    """An array over the memory that an __array_interface__ describes; None if nd4c has no such array."""
    typestr, shape = described["typestr"], tuple(described["shape"])
    dtype = _by_typestr(owner, typestr)
    if dtype is None or described.get("data") is None or described.get("mask") is not None:
        return None
    byte_strides = described.get("strides")
    data = described["data"]
    if type(data) is tuple:
        place, read_only = data
    else:
        held = _Held(memoryview(data))
        place, read_only, owner = held.buffer.buf + described.get("offset", 0), held.buffer.readonly != 0, (owner, held)
    size = dtype.itemsize
    if byte_strides is not None and any(stride % size for stride in byte_strides):
        return None
    if place % _alignment(dtype):
        return None
    counted = None if byte_strides is None else [stride // size for stride in byte_strides]
    return wrap(place, shape, counted, dtype, read_only, owner)


def _alignment(dtype):
    return min(dtype.itemsize, 8) if dtype.kind != "c" else dtype.itemsize // 2


_BY_TYPESTR = {dtype.numpy_type: dtype for dtype in _dtypes.by_number.values()
               if "V" not in dtype.numpy_type and dtype.kind != "U"}


def _by_typestr(owner, typestr):
    name = getattr(getattr(owner, "dtype", None), "name", None)
    if name in _dtypes.by_name and _dtypes.by_name[name].bits >= 8:
        return _dtypes.by_name[name] if typestr[0] != ">" else None
    return _BY_TYPESTR.get(typestr.replace("=", "<"))


# -- buffers ---------------------------------------------------------------------------------------------------------

class _Buffer(ctypes.Structure):
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", c_void_p),
                ("strides", c_void_p), ("suboffsets", c_void_p), ("internal", c_void_p)]


class _Held:
    """A buffer of another object, held until the array over it is gone."""

    def __init__(self, view):
        self.buffer = _Buffer()
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), byref(self.buffer), 0x1 * (not view.readonly) | 0x18)

    def __del__(self, release=ctypes.pythonapi.PyBuffer_Release):
        release(byref(self.buffer))


_FORMATS = {"?": "bool", "b": "int8", "B": "uint8", "c": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32",
            "q": "int64", "Q": "uint64", "e": "float16", "f": "float32", "d": "float64", "Zf": "complex64",
            "Zd": "complex128", "F": "complex64", "D": "complex128"}
_FORMATS["l"], _FORMATS["L"] = ("int64", "uint64") if ctypes.sizeof(ctypes.c_long) == 8 else ("int32", "uint32")
_FORMATS["n"], _FORMATS["N"] = "int64", "uint64"
_CODES = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "float32": "f",
          "float64": "d"}
# NumPy's int64 is C's long where that has 64 bits; "q" would be another dtype of the same kind, which prints its name.
_CODES["int64"], _CODES["uint64"] = "lL" if ctypes.sizeof(ctypes.c_long) == 8 else "qQ"


def from_buffer(owner):
    """An array over an object's buffer; a TypeError that names the format if nd4c has no such dtype."""
    view = memoryview(owner)
    code = view.format.lstrip("@=<" if view.format[0] != ">" else "")
    dtype = _dtypes.by_name.get(_FORMATS.get(code))
    if dtype is None:
        raise TypeError("asarray: buffers of the format %r are not supported; nd4c has %s"
                        % (view.format, ", ".join(sorted(set(_FORMATS.values())))))
    held = _Held(view)
    steps = [stride // view.itemsize for stride in view.strides]
    if any(stride % view.itemsize for stride in view.strides) or (held.buffer.buf or 0) % _alignment(dtype):
        raise ValueError("asarray: the buffer is not aligned for %s; copy it first" % dtype.name)
    return wrap(held.buffer.buf, view.shape, steps, dtype, view.readonly, held)


def over_bytes(view, dtype):
    """An array of one axis over a contiguous memoryview of bytes, which are elements of dtype. Memory that is not
    aligned for the dtype is copied."""
    held = _Held(view)
    count, place = view.nbytes // dtype.itemsize, held.buffer.buf
    if place % _alignment(dtype):
        return core.from_data(bytes(view), (count,), dtype)
    return wrap(place, (count,), None, dtype, view.readonly, held)


def buffer(array, flags=0):
    """__buffer__ (Python 3.12): a memoryview over the array's memory."""
    dtype = array.dtype
    code = _CODES.get(dtype.name)
    if code is None:
        raise BufferError("%s has no buffer format; numpy.asarray() or DLPack share it" % dtype.name)
    if not is_contiguous(array):
        raise BufferError("the array is not C-contiguous; numpy.asarray() or DLPack share it, nd4c.copy() makes it so")
    read_only = is_read_only(array)
    if flags & 1 and read_only:
        raise BufferError("the array is read-only")
    count = array.size * dtype.itemsize
    cells = (ctypes.c_char * count).from_address(address(array)) if count else (ctypes.c_char * 0)()
    cells.array = array
    view = memoryview(cells).cast("B")
    if 0 in array.shape:
        raise BufferError("an array without elements has no buffer")
    view = view.cast(code, array.shape)
    return view.toreadonly() if read_only else view

"""Takes the buffer protocol from a class that inherits it from ctypes."""
import ctypes
import sys

_SLOTS_BEFORE = 17  # of a type object, between ob_size and tp_as_buffer
_TYPE_SIZE = 2048  # a type object that Python code made, at most


def hide_buffer(cls, new):
    """Before Python 3.12 a class cannot say in Python what its buffer is, and one over c_void_p has the eight bytes of the
    pointer. This takes the slot bf_getbuffer out of the class; consumers then use the array interface. It writes only if the
    slot holds the expected value: the address of a table inside the type object."""
    if sys.version_info >= (3, 12):
        return
    try:
        memoryview(new())
    except TypeError:
        return
    word = ctypes.sizeof(ctypes.c_void_p)
    table = ctypes.c_void_p.from_address(id(cls) + object.__basicsize__ + (1 + _SLOTS_BEFORE) * word)
    if id(cls) < (table.value or 0) < id(cls) + _TYPE_SIZE:
        ctypes.c_void_p.from_address(table.value).value = None

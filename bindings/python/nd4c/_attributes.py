"""Attributes of ops as arguments of the C functions, for the ctypes core and nd4c.graph."""
import ctypes
import struct
from ctypes import c_bool, c_char_p, c_double, c_int32, c_int64, c_void_p
from operator import index

from nd4c import _abi, _schema

# For each letter of _abi.OPS: the C parameters of an attribute, and the type that Python's value must have.
ARGTYPES = {"n": (c_int64,), "b": (c_bool,), "f": (c_double,), "N": (c_void_p, c_int32), "F": (c_void_p, c_int32),
            "t": (c_int32,), "s": (c_char_p,)}
_EXPECTED = {"n": "an integer", "b": "True or False", "f": "a number", "N": "a tuple of integers", "F": "numbers", "t": "a dtype",
             "s": "text"}
_LISTS = [struct.Struct("%dq" % count).pack for count in range(_abi.MAX_RANK + 1)]


def integer(value):
    """An int64."""
    value = index(value)
    if not -2 ** 63 <= value < 2 ** 63:
        raise OverflowError("%d does not fit 64 bits" % value)
    return value


def ints(values):
    """A list of int64 as bytes."""
    count = len(values)
    pack = _LISTS[count] if count < len(_LISTS) else struct.Struct("%dq" % count).pack
    try:
        return pack(*values)
    except struct.error:
        for value in values:
            integer(value)
        raise


def extents(shape):
    """A shape as bytes; the error of an extent that is too large is NumPy's."""
    try:
        return ints(shape)
    except OverflowError as error:
        raise ValueError("the extents of a shape: %s (Maximum allowed dimension exceeded)" % error) from None


def _floats(values):
    return struct.pack("%dd" % len(values), *values)


def _listed(pack):
    def convert(values):
        if values is None:
            return None, 0
        values = tuple(values)
        return pack(values), len(values)
    return convert


def _number(value):
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError
    return float(value)


def _text(value):
    if value is not None and not isinstance(value, (str, bytes)):
        raise TypeError
    return value.encode() if isinstance(value, str) else value


_CONVERT = {"n": integer, "b": bool, "f": _number, "t": index, "s": _text}
_CONVERT = {kind: lambda value, convert=convert: (convert(value),) for kind, convert in _CONVERT.items()}
_CONVERT.update(N=_listed(ints), F=_listed(_floats))


def convert(op, name, kind, value):
    """The arguments of an attribute, a tuple."""
    try:
        return _CONVERT[kind](value)
    except OverflowError as error:
        raise OverflowError("%s: %s: %s" % (op, name, error)) from None
    except (TypeError, ValueError, struct.error):
        raise TypeError("%s: %s: expected %s, got %r" % (op, name, _EXPECTED[kind], value)) from None


_NUMBERS = {letter: number for number, letter in _schema.KINDS.items()}


def fill(row, kind, converted):
    """Writes what `convert` gave into a struct nd4c_attr_value. Returns the objects that the struct points to."""
    row.kind = _NUMBERS[kind]
    union = getattr(row, "as")
    if kind in "NF":
        block, row.count = converted
        if block is None:
            return None
        kept = ctypes.create_string_buffer(block, len(block) or 1)
        setattr(union, "ints" if kind == "N" else "floats", ctypes.addressof(kept))
        return kept
    setattr(union, {"f": "f", "s": "string"}.get(kind, "i"), converted[0])
    return converted

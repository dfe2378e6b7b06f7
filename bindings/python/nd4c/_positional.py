"""Ops of plug-ins, and those whose C function takes a struct of options, in the ctypes core: these use the generic call, with
the attributes in the order of the schema."""
import ctypes
from ctypes import byref, c_int32, c_void_p

from nd4c import _abi
from nd4c._arguments import signature
from nd4c._attributes import convert, fill
from nd4c._ctypes import Array, _argument, _handle_of, all_written, from_handle, recorded, takes_symbol, written
from nd4c._errors import error
from nd4c._library import releasing

_call = releasing.nd4c_op_call_positional
_call.argtypes = (c_void_p, ctypes.c_uint32, c_void_p, c_int32, c_void_p, c_void_p)


def function(number):
    """As _ctypes.function."""
    name, inputs, attrs, outputs = signature(number)
    count = len(inputs)
    listed = count > 0 and inputs[-1][0] == "v"

    def arrays_of(values):
        """The inputs one after another, the last one's list among them."""
        given = list(values[:count - listed]) + (list(values[count - 1]) if listed else [])
        return [value if type(value) is Array or (value is None and place < count and inputs[place][0] == "o")
                else _argument(value, [other for other in given if other is not None], name)
                for place, value in enumerate(given)]

    def op(*values):
        into = None
        if len(values) == count + len(attrs) + 1:
            *values, into = values
        if len(values) != count + len(attrs):
            raise TypeError("%s: expected %d arguments, got %d" % (name, count + len(attrs), len(values)))
        if takes_symbol(values):
            return recorded(number, values)
        arrays = arrays_of(values)
        rows = (_abi.attr_value * len(attrs))()
        kept = [fill(row, kind, convert(name, word, kind, value))
                for row, (kind, word), value in zip(rows, attrs, values[count:])]
        written_into = () if into is None else [written(name, into)] if outputs == 1 else all_written(name, into, outputs)
        made = (c_void_p * outputs)(*map(_handle_of, written_into))
        pointers = (c_void_p * len(arrays))(*[None if array is None else _handle_of(array) for array in arrays])
        status = _call(None, number, pointers, len(arrays), byref(rows), byref(made))
        del kept
        if status:
            raise error(status)
        if into is not None:
            return into
        arrays = [from_handle(pointer) for pointer in made]
        return arrays[0] if outputs == 1 else tuple(arrays)
    op.__name__ = op.__qualname__ = name
    return op

"""Methods of arrays that both cores share; attached to the core's Array class."""
import ctypes
import struct
from ctypes import byref, c_void_p

from nd4c import _abi, _creation, _devices, _dlpack, _dtypes, _errors, _memory
from nd4c._abi import NUMBERS
from nd4c._core import Array, calls, core, handle
from nd4c._errors import check
from nd4c._library import bind, take_text

_format = bind("nd4c_array_format")

_print_options = {"precision": 8, "threshold": 1000, "edge_items": 3, "line_width": 75}


def set_print_options(**options):
    """How arrays print: precision (digits after the point), threshold (more elements are summarised), edge_items,
    line_width.

    Errors: TypeError for an unknown option.

    >>> nd4c.set_print_options(precision=3)
    >>> nd4c.asarray(1 / 3)
    array(0.333)
    >>> nd4c.set_print_options(precision=8)
    """
    unknown = set(options) - set(_print_options)
    if unknown:
        raise TypeError("set_print_options: no option %s; there are %s"
                        % (", ".join(sorted(unknown)), ", ".join(_print_options)))
    _print_options.update(options)


# A function that makes the texts of arrays instead of the C library: nd4c.numpy's, while print options are set that only it has.
python_text = None


def text(array, repr=False):
    """The array as NumPy would print it."""
    return c_text(array, repr) if python_text is None else python_text(array, repr)


def c_text(array, repr=False, **options):
    """The array as the C library prints it."""
    row = _abi.print_options(struct_size=ctypes.sizeof(_abi.print_options), repr=repr, **dict(_print_options, **options))
    out = c_void_p()
    check(_format(handle(array), byref(row), byref(out)))
    return take_text(out)


# -- Python's numbers ------------------------------------------------------------------------------------------------

_CODES = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
          "uint64": "Q", "float16": "e", "float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}


def _elements(array):
    dtype = array.dtype
    if dtype.kind == "U":
        return _memory.strings(array)
    code = _CODES.get(dtype.name)
    if code is None:
        wide = _dtypes.by_name["float32" if dtype.kind == "f" else "int32"]
        return _elements(calls[NUMBERS["cast"]](array, wide.number))
    cell, count = _memory.read(array)
    values = struct.unpack_from("%d%s" % (count // struct.calcsize(code), code), cell)
    if dtype.kind == "c":
        return [complex(*pair) for pair in zip(values[::2], values[1::2])]
    return list(values)


def _tolist(self):
    """Nested lists of Python numbers.

    Shapes: any; without axes a number.
    Dtypes: Python's bool, int, float, complex and str.
    Errors: none.

    >>> nd4c.asarray([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    values = _elements(self)
    for extent in reversed(self.shape[1:]):
        values = [values[i:i + extent] for i in range(0, len(values), extent)] if extent else []
    if 0 in self.shape[1:]:
        return _empty_lists(self.shape)
    return values if self.shape else values[0]


def _empty_lists(shape):
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if shape else None


def only_element(array):
    """The only element as a Python number or text."""
    return _elements(array)[0]


# -- methods ---------------------------------------------------------------------------------------------------------

def _matrix_transposed(self):
    if self.ndim < 2:
        raise ValueError("x.mT is for arrays of two axes or more, not of the shape %s" % (self.shape,))
    return calls[NUMBERS["matrix_transpose"]](self)


def _len(self):
    if not self.ndim:
        raise TypeError("len() of an array without axes")
    return self.shape[0]


def _iter(self):
    if not self.ndim:
        raise TypeError("iteration over an array without axes")
    return (self[number] for number in range(self.shape[0]))


def _contains(self, value):
    return bool(calls[NUMBERS["any"]](self == value, None, False))


def _to_device(self, device, /, *, stream=None):
    """A copy on another device; the array itself if it is there.

    Shapes: any; the result has the same.
    Dtypes: all; the result has the same.
    Errors: an unknown device raises an nd4c.Error; ValueError for a stream.

    >>> nd4c.ones(2).to_device("cpu:0").device
    nd4c.Device('cpu:0')
    """
    if stream is not None:
        raise ValueError("to_device: stream is %r; devices of nd4c are given without one" % (stream,))
    return _creation.to_device(self, device)


def _namespace(self, /, *, api_version=None):
    """The namespace with the Array API standard's functions: the package nd4c."""
    import nd4c
    if api_version not in (None,) + nd4c.ARRAY_API_VERSIONS:
        raise ValueError("__array_namespace__: api_version %r is not supported; nd4c has %s"
                         % (api_version, ", ".join(nd4c.ARRAY_API_VERSIONS)))
    return nd4c


def _numpy(self, dtype=None, copy=None):
    """A NumPy array over the same memory, or a copy where dtype or NumPy's lack of the dtype asks for one."""
    import numpy
    own = self.dtype
    if own.kind == "U":
        result = numpy.array(_memory.strings(self), dtype=dtype or numpy.str_).reshape(self.shape)
        return result
    if own.name == "bfloat16" or own.numpy_type == "|V1":
        if own.bits < 8:
            raise TypeError("NumPy has no packed %s; cast it to int8 or float32 first" % own.name)
        shared = numpy.asarray(_memory.Interface(self, "<u%d" % own.itemsize)).view(own.dtype)
    else:
        shared = numpy.asarray(_memory.Interface(self))
    wanted = shared.dtype if dtype is None else numpy.dtype(dtype)
    if copy is False and wanted != shared.dtype:
        raise ValueError("__array__: %s cannot become %s without a copy" % (own.name, wanted))
    return shared.astype(wanted, copy=bool(copy)) if copy or wanted != shared.dtype else shared


def _repr(self):
    return text(self, repr=True)


def _str(self):
    return text(self)


def _format_spec(self, spec):
    return format(self.item(), spec) if spec else text(self)


# -- copies and pickles ----------------------------------------------------------------------------------------------

def _copy(self):
    return _creation.copied(self)


def _deepcopy(self, memo):
    return _creation.copied(self)


def _restore(name, shape, data):
    dtype = _dtypes.by_name[name]
    return _memory.from_strings(data, shape) if dtype.kind == "U" else core.from_data(data, shape, dtype)


def _reduce(self, protocol):
    if self.dtype.kind == "U":
        return _restore, ("utf8", self.shape, _memory.strings(self))
    cell, count = _memory.read(self)
    return _restore, (self.dtype.name, self.shape, cell.raw[:count])


def _interface(self):
    return _memory.interface(self)


_ARRAY = """An n-dimensional array of one dtype. Made by nd4c.asarray, nd4c.zeros, ... and by every function.

Shapes: up to 32 axes.
Dtypes: nd4c.float32 and the others; texts are utf8.
Errors: TypeError when called: arrays have no constructor.

>>> x = nd4c.asarray([[1, 2], [3, 4]])
>>> x.shape, x.dtype
((2, 2), nd4c.int64)
>>> x[0] * 10
array([10, 20])
"""


def _numbers_of_dtypes():
    """The numbers of dtypes by their names, by NumPy's short ones and by Python's types."""
    found = {name: dtype.number for name, dtype in _dtypes.by_name.items()}
    found.update({dtype.numpy_type[1:]: dtype.number for dtype in _dtypes.by_number.values()
                  if "V" not in dtype.numpy_type and dtype.kind != "U"})
    found.update({kind: dtype.number for kind, dtype in _dtypes.DEFAULTS.items() if dtype is not None})
    return found


def attach():
    """Adds to the core's Array class the methods that the core does not define."""
    core.register(dtypes=_dtypes.by_number, devices=_devices.of_handle, raise_error=_errors.raise_error,
                  asarray=_creation.asarray, item=only_element, names=_numbers_of_dtypes())
    methods = {
        "tolist": _tolist, "to_device": _to_device, "__array_namespace__": _namespace,
        "__array__": _numpy, "__dlpack__": _dlpack.to_capsule, "__dlpack_device__": _dlpack.device_of,
        "__repr__": _repr, "__str__": _str, "__format__": _format_spec, "__len__": _len, "__iter__": _iter,
        "__contains__": _contains, "__copy__": _copy, "__deepcopy__": _deepcopy, "__reduce_ex__": _reduce,
        "__buffer__": _memory.buffer, "mT": property(_matrix_transposed, doc="The matrices of the last two axes transposed, a view."),
        "nbytes": property(lambda self: self.size * self.dtype.itemsize, doc="Bytes of all elements."),
        "strides": property(_memory.byte_strides, doc="Bytes from one index to the next, an axis each."),
        "__array_interface__": property(_interface),
    }
    kept = set(getattr(core, "OWN_METHODS", ()))
    for name, method in methods.items():
        if name not in kept:
            if not isinstance(method, property):
                method.__name__ = name
            setattr(Array, name, method)
    Array.__doc__ = _ARRAY


attach()

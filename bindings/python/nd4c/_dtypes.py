"""Element types: one DType object for each row of the C library's table that this build has."""
import ctypes
import sys

from nd4c import _abi
from nd4c._errors import check
from nd4c._library import bind


class DType:
    """An element type: nd4c.float32. There is one object of each, so `is` and `==` are the same.

    numpy.dtype(nd4c.float32) is NumPy's dtype of that name, where NumPy has one."""

    __slots__ = ("number", "name", "kind", "bits", "numpy_type")

    def __init__(self, number, name, kind, bits, numpy_type):
        for key, value in zip(self.__slots__, (number, name, kind, bits, numpy_type)):
            object.__setattr__(self, key, value)

    def __setattr__(self, key, value):
        raise AttributeError("dtypes do not change: %s.%s cannot be set" % (self.name, key))

    @property
    def itemsize(self):
        """Bytes an element takes; 0 where several share one."""
        return self.bits // 8

    @property
    def dtype(self):
        """NumPy's dtype of that name."""
        import numpy
        if self.name in ("bfloat16",) or self.numpy_type == "|V1":
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError("NumPy has no %s of its own: install the package ml_dtypes, or cast to float32 first"
                                % self.name) from None
            return numpy.dtype(getattr(ml_dtypes, self.name))
        return numpy.dtype(self.numpy_type)

    def __repr__(self):
        return "nd4c." + self.name

    def __str__(self):
        return self.name

    def __reduce__(self):
        return of, (self.name,)


def _rows():
    info = bind("nd4c_dtype_get_info", keeps_gil=True)
    info.restype = ctypes.POINTER(_abi.dtype_info)
    for _, name, number, _, kind, bits, _, _, _, numpy_type in _abi.TABLES["DTYPE"]:
        if info(number).contents.available:
            yield DType(number, name, kind.lower(), bits, numpy_type)


by_number = {dtype.number: dtype for dtype in _rows()}
by_name = {dtype.name: dtype for dtype in by_number.values()}
globals().update({name if name != "bool" else "bool_": dtype for name, dtype in by_name.items()})

# The dtype of a Python number if no array or argument decides it.
DEFAULTS = {bool: by_name["bool"], int: by_name["int64"], float: by_name["float64"],
            complex: by_name.get("complex128")}
_ALIASES = {"double": "float64", "float": "float64", "half": "float16", "str": "utf8"}


def of(value):
    """The DType that a value names: a DType, its name, a Python type, or a dtype of NumPy, ml_dtypes or PyTorch."""
    if type(value) is DType:
        return value
    if isinstance(value, type):
        if value in DEFAULTS and DEFAULTS[value] is not None:
            return DEFAULTS[value]
        if value is str:
            return by_name["utf8"]
    name = value if isinstance(value, str) else _foreign_name(value)
    found = by_name.get(name) or by_name.get(_ALIASES.get(name))
    if found is None and isinstance(value, str):
        number = ctypes.c_int32()
        check(_find(value.encode(), ctypes.byref(number)))
        found = by_number[number.value]
    if found is None:
        raise TypeError("not a dtype: %r; nd4c has %s" % (value, ", ".join(by_name)))
    return found


def _foreign_name(value):
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.dtype, type)):
        try:
            dtype = numpy.dtype(value)
        except TypeError:
            return None
        return dtype.name if dtype.isnative and dtype.fields is None else None
    text = str(value)
    return text[6:] if text.startswith("torch.") else None



def dtype_or_none(value):
    """The number that an op's dtype attribute takes; 0 for None."""
    return 0 if value is None else of(value).number



_find = bind("nd4c_dtype_find", keeps_gil=True)
_promote = bind("nd4c_dtype_promote", keeps_gil=True)
_can_cast = bind("nd4c_dtype_can_cast", keeps_gil=True)
_limits = bind("nd4c_dtype_get_limits", keeps_gil=True)


def promote(a, b):
    """The dtype that two share."""
    if a is b:
        return a
    result = ctypes.c_int32()
    check(_promote(a.number, b.number, ctypes.byref(result)))
    return by_number[result.value]


def can_cast(a, b):
    return _can_cast(a.number, b.number)


def limits(dtype):
    row = _abi.dtype_limits(struct_size=ctypes.sizeof(_abi.dtype_limits))
    check(_limits(dtype.number, ctypes.byref(row)))
    return row


def weak(kind, dtype):
    """The dtype of a Python number of type `kind` beside an array of `dtype`: the array's own, unless the number is of a
    kind that it cannot hold."""
    own = dtype.kind
    if own == "string":
        raise TypeError("a Python %s does not mix with an array of strings" % kind.__name__)
    if kind is bool or own == "complex" or (kind is int and own != "bool") or (kind is float and own == "float"):
        return dtype
    if kind is complex and own == "float" and dtype.bits <= 32 and "complex64" in by_name:
        return by_name["complex64"]
    return default(kind)


def default(kind):
    """The dtype of a Python number without an array beside it."""
    dtype = DEFAULTS[kind]
    if dtype is None:
        raise TypeError("this build of nd4c has no dtype for Python's %s numbers" % kind.__name__)
    return dtype

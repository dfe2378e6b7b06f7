"""Element types: one DType object for each row of the C library's table that this build has."""
import ctypes
import sys

from nd4c import _abi
from nd4c._errors import check
from nd4c._library import bind


class DType:
    """An element type, such as nd4c.float32. There is one object of each, so that `is` compares them.

    DType(x) is the one that x names. It equals its name, its type string, the Python type and the NumPy dtype of the same elements.
    Called with a value, it makes an array of this type. `kind` is NumPy's letter: b bool, i and u integers, f floats, c complex numbers, U texts.

    >>> nd4c.float32(1.5)
    array(1.5, dtype=float32)
    >>> nd4c.zeros(2).dtype == "float64", nd4c.DType("f4")
    (True, nd4c.float32)
    """

    __slots__ = ("number", "name", "kind", "bits", "numpy_type")

    def __new__(cls, dtype):
        return of(dtype)

    def __setattr__(self, key, value):
        raise AttributeError("dtypes do not change: %s.%s cannot be set" % (self.name, key))

    def __call__(self, value=0, /):
        from nd4c import _creation
        if isinstance(value, (str, bytes)) and self.kind != "U":
            value = _PYTHON[self.kind](value)  # as NumPy's scalar types read text
        return _creation.asarray(value, dtype=self, copy=True if hasattr(value, "dtype") else None)

    @property
    def __class__(self):
        """numpy.dtype once NumPy is imported, for whose dtypes isinstance() and numpy.isdtype() ask: xarray does."""
        return DType if _numpys(self) is None else sys.modules["numpy"].dtype

    def __instancecheck__(self, instance):
        return getattr(instance, "dtype", None) is self and not instance.ndim

    def __eq__(self, other):
        if type(other) is DType or other is None:
            return self is other
        try:
            return self is of(other)
        except (TypeError, ValueError):
            return False

    def __hash__(self):
        return hash(self.name)

    def __le__(self, other):
        return bool(can_cast(self, of(other)))

    def __lt__(self, other):
        return self is not of(other) and self <= other

    def __ge__(self, other):
        return of(other) <= self

    def __gt__(self, other):
        return of(other) < self

    @property
    def itemsize(self):
        """Bytes an element takes; 0 where several share one."""
        return self.bits // 8

    @property
    def alignment(self):
        """Bytes to which the library aligns an element."""
        return max(1, self.itemsize // 2 if self.kind == "c" else min(self.itemsize, 8))

    @property
    def type(self):
        """NumPy's scalar type of the same elements once NumPy is imported, for code that asks whether it is a numpy.floating.

        Without NumPy, and where NumPy has none, the dtype itself, which makes arrays when called.
        """
        numpys = _numpys(self)
        return self if numpys is None else numpys.type

    @property
    def str(self):
        """NumPy's type string, such as "<f4"."""
        return self.numpy_type

    @property
    def char(self):
        """NumPy's letter of the type, such as "f" for float32; "V" where NumPy has none."""
        return _CHARS.get(self.name, "V")

    __name__ = property(lambda self: self.name, doc="The name, as NumPy's scalar types have it.")
    num = property(lambda self: _NUMBERS.get(self.name, 256 + self.number), doc="NumPy's number; others from 256.")
    descr = property(lambda self: [("", self.numpy_type)], doc="A list of one field without a name, NumPy's form for files.")
    metadata = property(lambda self: None, doc="None: a dtype carries no metadata.")
    isalignedstruct = property(lambda self: False, doc="False: no dtype is a struct.")
    byteorder = property(lambda self: "|" if self.itemsize <= 1 or self.kind == "U" else "=", doc="Always the machine's order.")
    isnative = property(lambda self: True, doc="True: elements have the machine's byte order.")
    hasobject = property(lambda self: False, doc="False: no element is a Python object.")
    names = fields = subdtype = property(lambda self: None, doc="None: no dtype has fields.")
    shape = property(lambda self: (), doc="(): no dtype has axes.")
    ndim = property(lambda self: 0, doc="0: no dtype has axes.")
    base = property(lambda self: self, doc="The dtype itself.")

    def newbyteorder(self, new_order="S", /):
        """The dtype itself, for the machine's byte order ("=", "|"), the only one.

        Errors: ValueError for another order.

        >>> nd4c.float32.newbyteorder("=") is nd4c.float32
        True
        """
        if new_order not in ("=", "|", "N", "native", "I", sys.byteorder, "<" if sys.byteorder == "little" else ">"):
            raise ValueError("newbyteorder: %r is not the machine's byte order, in which all elements are" % (new_order,))
        return self

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


def _numpys(dtype):
    """NumPy's dtype of the same elements, if NumPy is imported and has one; else None."""
    numpy = sys.modules.get("numpy")
    return numpy.dtype(dtype.numpy_type) if numpy is not None and dtype.name in _CHARS else None


_KINDS = {"BOOL": "b", "INT": "i", "UINT": "u", "FLOAT": "f", "COMPLEX": "c", "STRING": "U"}


def _rows():
    info = bind("nd4c_dtype_get_info", keeps_gil=True)
    info.restype = ctypes.POINTER(_abi.dtype_info)
    for _, name, number, _, kind, bits, _, _, _, numpy_type in _abi.TABLES["DTYPE"]:
        if info(number).contents.available:
            made = object.__new__(DType)
            for key, value in zip(DType.__slots__, (number, name, _KINDS[kind], bits, numpy_type)):
                object.__setattr__(made, key, value)
            yield made


by_number = {dtype.number: dtype for dtype in _rows()}
by_name = {dtype.name: dtype for dtype in by_number.values()}
globals().update({name if name != "bool" else "bool_": dtype for name, dtype in by_name.items()})

# The dtype of a Python number if no array or argument decides it.
DEFAULTS = {bool: by_name["bool"], int: by_name["int64"], float: by_name["float64"],
            complex: by_name.get("complex128")}
# NumPy's letters, and its other names on the 64-bit machines that nd4c runs on.
_CHARS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "l", "uint8": "B", "uint16": "H", "uint32": "I",
          "uint64": "L", "float16": "e", "float32": "f", "float64": "d", "complex64": "F", "complex128": "D", "utf8": "U"}
_NUMBERS = {name: number for number, name in enumerate(
    ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"))}
_NUMBERS.update(float32=11, float64=12, complex64=14, complex128=15, utf8=19, float16=23)
# The Python type that reads the text of a number, by kind.
_PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_ALIASES = {"double": "float64", "float": "float64", "float_": "float64", "half": "float16", "single": "float32", "str": "utf8",
            "bool_": "bool", "b1": "bool", "int": "int64", "int_": "int64", "intp": "int64", "long": "int64", "longlong": "int64",
            "intc": "int32", "short": "int16", "byte": "int8", "uint": "uint64", "uintp": "uint64", "ulong": "uint64",
            "ulonglong": "uint64", "uintc": "uint32", "ushort": "uint16", "ubyte": "uint8", "complex": "complex128",
            "csingle": "complex64", "cdouble": "complex128", "q": "int64", "Q": "uint64", "p": "int64", "P": "uint64", "n": "int64",
            "N": "uint64", "str_": "utf8",
            "object": None, "O": None}
_ALIASES.update({char: name for name, char in _CHARS.items()})
_ALIASES.update({dtype.numpy_type[1:]: dtype.name for dtype in by_number.values()
                 if "V" not in dtype.numpy_type and "O" not in dtype.numpy_type})


def of(value):
    """The DType that a value names: a DType, its name, NumPy's letter or type string, a Python type, or a dtype of NumPy,
    ml_dtypes or PyTorch."""
    if type(value) is DType:
        return value
    if isinstance(value, type):
        if value in DEFAULTS and DEFAULTS[value] is not None:
            return DEFAULTS[value]
        if value is str:
            return by_name["utf8"]
    name = value if isinstance(value, str) else _foreign_name(value)
    found = by_name.get(name) or by_name.get(_alias(name))
    if found is None and isinstance(value, str):
        number = ctypes.c_int32()
        if not _find(value.encode(), ctypes.byref(number)):
            found = by_number[number.value]
    if found is None:
        raise TypeError("not a dtype: %r (data type not understood); nd4c has %s" % (value, ", ".join(by_name)))
    return found


def _alias(name):
    """The name of a dtype that an alias or a type string in the machine's byte order stands for."""
    if name is not None and name[:1] in ("=", "|", "<" if sys.byteorder == "little" else ">"):
        name = name[1:]
    return _ALIASES.get(name)


def _foreign_name(value):
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.dtype, type)):
        try:
            dtype = numpy.dtype(value)
        except TypeError:
            return None
        if dtype.kind == "U":
            return "utf8"
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
    if own == "U":
        raise TypeError("a Python %s does not mix with an array of strings" % kind.__name__)
    if kind is bool or own == "c" or (kind is int and own != "b") or (kind is float and own == "f"):
        return dtype
    if kind is complex and own == "f" and dtype.bits <= 32 and "complex64" in by_name:
        return by_name["complex64"]
    return default(kind)


def default(kind):
    """The dtype of a Python number without an array beside it."""
    dtype = DEFAULTS[kind]
    if dtype is None:
        raise TypeError("this build of nd4c has no dtype for Python's %s numbers" % kind.__name__)
    return dtype

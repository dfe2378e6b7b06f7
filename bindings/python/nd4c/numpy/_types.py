"""NumPy's names of dtypes, its hierarchy of scalar types, promotion and questions about types.

nd4c has no scalars: float64 and its like are the DType objects, which make arrays without axes when called; for the
hierarchy, such an array is an instance of its dtype, and that of the abstract types above it."""
import sys as _sys

from nd4c import _dtypes
from nd4c._core import Array
from nd4c._functions.dtypes import _dtype_of
from nd4c._arrays.flat import Flat as flatiter
from nd4c._functions.support import as_array as _as_array

__all__ = [
    "ScalarType", "bool_", "byte", "bytes_", "cdouble", "character", "clongdouble", "common_type",
    "complexfloating", "csingle", "datetime64", "double", "dtype", "euler_gamma", "flatiter", "flexible", "floating",
    "generic", "half", "inexact", "int_", "intc", "integer", "intp", "iscomplexobj", "isfortran", "isrealobj",
    "isscalar", "issubdtype", "little_endian", "long", "longdouble", "longlong", "min_scalar_type", "mintypecode",
    "ndarray", "number", "object_", "promote_types", "sctypeDict", "short", "signedinteger", "single", "str_",
    "timedelta64", "typecodes", "typename", "ubyte", "ufunc", "uint", "uintc", "uintp", "ulong", "ulonglong",
    "unsignedinteger", "ushort", "void",
]

ndarray = Array
euler_gamma = 0.577215664901532860606512090082402431
little_endian = _sys.byteorder == "little"


# -- the hierarchy ---------------------------------------------------------------------------------------------------

def _of_numpys(scalar_type):
    """The dtype or the abstract type here that a scalar type of NumPy stands for, as x.dtype.type gives it; None for others."""
    numpy = _sys.modules.get("numpy")
    if numpy is None or not isinstance(scalar_type, type) or not issubclass(scalar_type, numpy.generic):
        return None
    own = globals().get(scalar_type.__name__)
    return own if isinstance(own, _Kinds) else _dtypes.of(scalar_type)


class _Kinds(type):
    """The class of the scalar types above and beside the dtypes. `kinds` are the letters of the dtypes that belong to one."""

    def __instancecheck__(cls, instance):
        return type(instance) is Array and not instance.ndim and instance.dtype.kind in cls.kinds

    def __subclasscheck__(cls, subclass):
        if type(subclass) is _dtypes.DType:
            return subclass.kind in cls.kinds
        own = _of_numpys(subclass)
        if own is not None:
            return issubclass(own, cls)
        return type.__subclasscheck__(cls, subclass)

    def __call__(cls, *values, **named):
        raise TypeError("%s: %s" % (cls.__name__, cls.__doc__.splitlines()[0]))


class generic(metaclass=_Kinds):
    """An abstract type, which makes no arrays: every dtype is one."""
    kinds = "biufcU"


class number(generic):
    """An abstract type, which makes no arrays: the dtypes of numbers, without bool."""
    kinds = "iufc"


class integer(number):
    """An abstract type, which makes no arrays: int8 to int64, uint8 to uint64 and the smaller ones."""
    kinds = "iu"


class signedinteger(integer):
    """An abstract type, which makes no arrays: int8 to int64 and the smaller ones."""
    kinds = "i"


class unsignedinteger(integer):
    """An abstract type, which makes no arrays: uint8 to uint64 and the smaller ones."""
    kinds = "u"


class inexact(number):
    """An abstract type, which makes no arrays: the dtypes of floats and of complex numbers."""
    kinds = "fc"


class floating(inexact):
    """An abstract type, which makes no arrays: float16, float32, float64, bfloat16 and the smaller ones."""
    kinds = "f"


class complexfloating(inexact):
    """An abstract type, which makes no arrays: complex64 and complex128."""
    kinds = "c"


class flexible(generic):
    """An abstract type, which makes no arrays: utf8, the only dtype whose elements differ in length."""
    kinds = "U"


class character(flexible):
    """An abstract type, which makes no arrays: utf8."""
    kinds = "U"


# NumPy's types that no dtype of nd4c is. They stay classes, so that code may ask whether a dtype is one: none is.

class longdouble(floating):
    """nd4c has no extended precision; float64 is the widest float."""
    kinds = ""


class clongdouble(complexfloating):
    """nd4c has no extended precision; complex128 is the widest complex dtype."""
    kinds = ""


class bytes_(character):
    """nd4c has no byte strings; str_ (utf8) holds texts, uint8 bytes."""
    kinds = ""


class void(flexible):
    """nd4c has no structured and no raw elements; keep one array for each field."""
    kinds = ""


class object_(generic):
    """nd4c has no Python objects as elements; a list keeps them."""
    kinds = ""


class datetime64(generic):
    """nd4c has no dates; int64 holds the units since an epoch."""
    kinds = ""


class timedelta64(signedinteger):
    """nd4c has no durations; int64 holds their units."""
    kinds = ""


# What names a type that nd4c lacks where a dtype is asked about.
_LACKING = {
    object: object_, "object": object_, "O": object_, bytes: bytes_, "bytes": bytes_, "S": bytes_, "void": void, "V": void,
    "datetime64": datetime64, "M": datetime64, "timedelta64": timedelta64, "m": timedelta64,
    "longdouble": longdouble, "g": longdouble, "clongdouble": clongdouble, "G": clongdouble}


class _OfUfuncs(type):
    def __instancecheck__(cls, instance):
        return callable(instance) and isinstance(getattr(instance, "nin", None), int) and hasattr(instance, "accumulate")


class ufunc(metaclass=_OfUfuncs):
    """The type of functions that compute element by element, for isinstance: add, sin and their like.

    Shapes: those of the operands broadcast.
    Dtypes: those that the function takes.
    Errors: TypeError when called; vectorize makes a function of one's own.

    >>> isinstance(np.add, np.ufunc), isinstance(np.reshape, np.ufunc)
    (True, False)
    """

    def __new__(cls):
        raise TypeError("ufunc: cannot create 'numpy.ufunc' instances; vectorize makes one of a Python function")


# -- names -----------------------------------------------------------------------------------------------------------

_ALIASES = ("bool_ byte cdouble csingle double half int_ intc intp long longlong short single str_ ubyte uint uintc uintp "
            "ulong ulonglong ushort").split()
globals().update({_name: _dtypes.of(_name) for _name in _ALIASES})

# Arrays without axes, which nd4c.numpy makes on first use: importing it makes no array.
ON_FIRST_USE = {"True_": True, "False_": False}

# NumPy's letters of the dtypes that nd4c has.
typecodes = {"Character": "", "Integer": "bhilqnp", "UnsignedInteger": "BHILQNP", "Float": "efd", "Complex": "FD",
             "AllInteger": "bBhHiIlLqQnNpP", "AllFloat": "efdFD", "Datetime": "", "All": "?bhilqnpBHILQNPefdFDU"}
# The dtypes that NumPy has, too, by group.
sctypes = {_group: [_dtypes.of(_name) for _name in _names.split()] for _group, _names in (
    ("int", "int8 int16 int32 int64"), ("uint", "uint8 uint16 uint32 uint64"), ("float", "float16 float32 float64"),
    ("complex", "complex64 complex128"), ("others", "str_ bool"))}
ScalarType = (int, float, complex, bool, str) + tuple(_one for _group in sctypes.values() for _one in _group)
sctypeDict = {_name: _dtypes.of(_name) for _name in _ALIASES + ["float", "complex", "int", "str"]}
sctypeDict.update({_one.name: _one for _group in sctypes.values() for _one in _group})


class _OfDtypes(type):
    def __instancecheck__(cls, instance):
        return type(instance) is _dtypes.DType

    def __subclasscheck__(cls, subclass):
        return subclass is _dtypes.DType or type.__subclasscheck__(cls, subclass)


class dtype(metaclass=_OfDtypes):
    """The dtype that something names; for isinstance, the type of dtypes.

    dtype: a dtype, its name, NumPy's letter or type string, a Python type, a dtype of NumPy; None is float64. align and copy
    change nothing. Errors: TypeError for what nd4c has no dtype for: structs, dates, byte strings, objects.

    >>> np.dtype("f4"), np.dtype(int), isinstance(np.float32, np.dtype)
    (nd4c.float32, nd4c.int64, True)
    """

    def __new__(cls, dtype, align=False, copy=False, **kwargs):
        if set(kwargs) - {"metadata"}:
            raise TypeError("dtype: no argument %s; there are dtype, align, copy, metadata" % ", ".join(sorted(set(kwargs))))
        return _dtypes.default(float) if dtype is None else _dtypes.of(dtype)


# -- questions -------------------------------------------------------------------------------------------------------

def _type_of(value):
    """A DType or a class of the hierarchy."""
    if isinstance(value, _Kinds):
        return value
    if isinstance(value, (str, type)) and value in _LACKING:
        return _LACKING[value]
    own = _of_numpys(value)
    return _dtype_of(value) if own is None else own


def issubdtype(arg1, arg2):
    """Whether a dtype is another dtype, or below an abstract type such as np.floating.

    Errors: TypeError for what names no dtype.

    >>> np.issubdtype(np.float32, np.floating), np.issubdtype("i8", np.floating), np.issubdtype(np.float64, float)
    (True, False, True)
    """
    one, other = _type_of(arg1), _type_of(arg2)
    if type(other) is _dtypes.DType:
        return one is other
    return issubclass(one, other)


def promote_types(type1, type2, /):
    """The smallest dtype that both cast to without loss: int64 and float32 give float64.

    Errors: TypeError where there is none, as for texts and numbers.

    >>> np.promote_types("i4", "f4"), np.promote_types(np.int8, np.uint8)
    (nd4c.float64, nd4c.int16)
    """
    return _dtypes.promote(_dtypes.of(type1), _dtypes.of(type2))


def min_scalar_type(a, /):
    """The smallest dtype that holds a number; of an array with axes its own dtype.

    Non-negative integers give unsigned dtypes. Errors: TypeError for integers beyond 64 bits.

    >>> np.min_scalar_type(10), np.min_scalar_type(-300), np.min_scalar_type(1e50), np.min_scalar_type(np.arange(4))
    (nd4c.uint8, nd4c.int16, nd4c.float64, nd4c.int64)
    """
    if not isinstance(a, (bool, int, float, complex, str)):
        x = _as_array(a, "min_scalar_type")
        if x.ndim or x.dtype.kind in "bU":
            return x.dtype
        a = x.item()
    if isinstance(a, (bool, str)):
        return _dtypes.of(type(a) if type(a) in (bool, str) else str)
    if isinstance(a, int):
        for bits in (8, 16, 32, 64):
            if -(1 << bits - 1) <= a < 1 << bits:
                return _dtypes.by_name[("uint%d" if a >= 0 else "int%d") % bits]
        raise TypeError("min_scalar_type: no dtype holds %d; 64 bits are the most" % a)
    if isinstance(a, complex):
        size = max(abs(part) if part - part == 0 else 0 for part in (a.real, a.imag))
        return _dtypes.by_name["complex64" if size < 3.4e38 else "complex128"]
    size = abs(a) if a - a == 0 else 0
    return _dtypes.by_name["float16" if size < 65000 else "float32" if size < 3.4e38 else "float64"]


def common_type(*arrays):
    """The floating or complex dtype that all arrays fit: float64 for integers.

    Errors: TypeError for arrays of bools and texts, which are no numbers.

    >>> np.common_type(np.arange(2, dtype=np.float32)), np.common_type(np.arange(2), np.array([1j]))
    (nd4c.float32, nd4c.complex128)
    """
    result = _dtypes.of("float16")
    for one in arrays:
        own = _as_array(one, "common_type").dtype
        if own.kind not in "iufc":
            raise TypeError("common_type: can't get common type for non-numeric array: %s; cast it to a number's dtype" % own)
        result = _dtypes.promote(result, own if own.kind in "fc" else _dtypes.default(float))
    return result


def isscalar(element):
    """Whether something is one element: a number of Python, a text, or an array without axes, of which NumPy has scalars.

    >>> np.isscalar(3.1), np.isscalar(np.float32(1)), np.isscalar([3.1]), np.isscalar(np.ones(1))
    (True, True, False, False)
    """
    if type(element) is Array:
        return not element.ndim
    if isinstance(element, (bool, int, float, complex, str, bytes, memoryview)):
        return True
    import numbers
    numpy = _sys.modules.get("numpy")
    return isinstance(element, numbers.Number) or (numpy is not None and isinstance(element, numpy.generic))


def isfortran(a):
    """Whether an array lies in memory column by column and not row by row, as a transposed matrix does.

    >>> np.isfortran(np.ones((2, 3)).T), np.isfortran(np.ones((2, 3))), np.isfortran(np.ones(3))
    (True, False, False)
    """
    flags = _as_array(a, "isfortran").flags
    return flags.f_contiguous and not flags.c_contiguous


def iscomplexobj(x):
    """Whether something has a complex dtype, whatever its elements are.

    Shapes: any; the result is a bool.
    Dtypes: all.
    Errors: none for what asarray takes.

    >>> np.iscomplexobj([3, 1 + 0j]), np.iscomplexobj(1)
    (True, False)
    """
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return (_as_array(x, "iscomplexobj").dtype.kind if kind is None else kind) == "c"


def isrealobj(x):
    """Whether something has no complex dtype.

    Shapes: any; the result is a bool.
    Dtypes: all.
    Errors: none for what asarray takes.

    >>> np.isrealobj([3, 1 + 0j]), np.isrealobj(1)
    (False, True)
    """
    return not iscomplexobj(x)


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """The letter of the smallest type of a set that all letters cast to.

    >>> np.mintypecode(["d", "f", "F"]), np.mintypecode("abceh")
    ('D', 'd')
    """
    letters = [one if isinstance(one, str) else _as_array(one, "mintypecode").dtype.char for one in typechars]
    found = {letter for letter in letters if letter in typeset}
    if not found:
        return default
    if "F" in found and "d" in found:
        return "D"
    return min(found, key="GDFgdf".index)


_DESCRIPTIONS = {
    "S1": "character", "?": "bool", "B": "unsigned char", "H": "unsigned short", "I": "unsigned integer",
    "L": "unsigned long integer", "Q": "unsigned long long integer", "b": "signed char", "h": "short", "i": "integer", "l": "long integer",
    "q": "long long integer", "f": "single precision", "d": "double precision", "F": "complex single precision",
    "D": "complex double precision", "g": "long precision", "G": "complex long double precision", "S": "string", "U": "unicode",
    "V": "void", "O": "object"}


def typename(char):
    """What a type's letter stands for.

    Errors: KeyError for letters without a description.

    >>> np.typename("d")
    'double precision'
    """
    return _DESCRIPTIONS[char]

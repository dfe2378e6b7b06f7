"""Functions about dtypes: astype, promotion, limits. The namespace nd4c has them, and nd4c.numpy."""
import builtins as _builtins
import math as _math
from types import GenericAlias as _GenericAlias

from nd4c import _creation, _dtypes
from nd4c._core import Array
from nd4c._creation import made_on as _made_on
from nd4c._functions.support import as_array as _as_array, castable as _castable, op as _op
from nd4c._symbols import ARRAYS


def astype(x, dtype, /, *, copy=True, device=None):
    """x in another dtype; copy=False gives x itself where nothing changes.

    Floats lose their fraction as integers, complex numbers their imaginary part; numbers too large for the dtype wrap.
    Shapes: any; the result has the same.
    Dtypes: all to all.
    x may also be a list, a number or another library's array.
    Errors: TypeError if no array can be made of x, or dtype is none.

    >>> nd4c.astype(nd4c.asarray([1.7, -1.7]), "int8")
    array([ 1, -1], dtype=int8)
    """
    wanted = _dtypes.of(dtype)
    x = _as_array(x, "astype")
    if x.dtype is wanted:
        there = x if device is None else _creation.to_device(x, device)
        return _creation.copied(x) if copy and there is x else there
    return _made_on(device, _op("cast"), x, wanted.number)


def can_cast(from_, to, casting="safe"):
    """Whether elements of one dtype may become another's under a rule.

    casting: "no" and "equiv": the same dtype; "safe": every number keeps its value; "same_kind": also a smaller dtype of the
    same kind or a higher one; "unsafe": always.
    Errors: TypeError for Python's numbers, which have no dtype of their own; ValueError for another rule.

    >>> nd4c.can_cast(nd4c.int32, nd4c.float64), nd4c.can_cast("float64", "float32"), nd4c.can_cast("f8", "f4", "same_kind")
    (True, False, True)
    """
    if type(from_) in (int, float, complex, bool):
        raise TypeError("can_cast: expected a dtype or an array, got the %s %r; dtypes decide, not values"
                        % (type(from_).__name__, from_))
    return _castable(_dtype_of(from_), _dtypes.of(to), casting)


def _dtype_of(value):
    """The dtype of an array or of another library's array, or that a dtype names."""
    if type(value) in ARRAYS:
        return value.dtype
    if type(value) is not _dtypes.DType and not isinstance(value, type):
        value = getattr(value, "dtype", value)
    return _dtypes.of(value)


class _Limits:
    """What finfo and iinfo objects share: one object a dtype, attributes that do not change, and NumPy's texts."""

    def __class_getitem__(cls, parameters):
        return _GenericAlias(cls, parameters)

    def __setattr__(self, name, value):
        raise AttributeError("%s: the attributes do not change: %s cannot be set" % (type(self).__name__, name))

    @classmethod
    def _of(cls, dtype):
        """The object of a dtype."""
        found = _made.get((cls, dtype))
        if found is None:
            found = _made[cls, dtype] = object.__new__(cls)
            for name, value in cls._values(dtype).items():
                object.__setattr__(found, name, value)
        return found

    def __reduce__(self):
        return type(self), (self._key,)

    def _text(self, name):
        """A number with as many digits as the dtype has."""
        value = getattr(self, name)
        return str(self.dtype(value) if type(value) is float else value)

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%s" % (name, self._text(name)) for name in self._shown))


_made = {}


class finfo(_Limits):
    """Limits of a floating dtype, as numbers of Python.

    bits, eps (from 1 to the next number), max, min, smallest_normal (= tiny), smallest_subnormal, dtype; and NumPy's epsneg,
    resolution, precision, nmant, nexp, iexp, machep, negep, minexp, maxexp. A complex dtype has those of its parts.
    Errors: ValueError for dtypes of other kinds.

    >>> nd4c.finfo(nd4c.float32).eps
    1.1920928955078125e-07
    """

    _shown = ("resolution", "min", "max", "dtype")

    def __new__(cls, dtype):
        given = _dtypes.default(type(dtype)) if type(dtype) in (float, complex) else _dtype_of(dtype)
        if given.kind not in "fc":
            raise ValueError("finfo: %s is no floating dtype (data type not inexact); iinfo() is for integers" % given.name)
        return cls._of(given)

    @staticmethod
    def _values(dtype):
        row = _dtypes.limits(dtype)
        part = dtype if dtype.kind == "f" else _dtypes.by_name["float32" if dtype.bits == 64 else "float64"]
        digits = _builtins.max(0, round(-_math.log2(row.epsilon)))
        precision = int(digits * _math.log10(2))
        exponent_bits = part.bits - digits - 1
        return dict(
            _key=dtype, dtype=part, bits=row.bits, eps=row.epsilon, max=row.max, min=row.min,
            smallest_normal=row.smallest_normal, smallest_subnormal=row.smallest_subnormal, tiny=row.smallest_normal, nmant=digits, precision=precision,
            resolution=10.0 ** -precision, machep=-digits, negep=-digits - 1, epsneg=row.epsilon / 2, iexp=exponent_bits,
            nexp=exponent_bits, maxexp=_math.frexp(row.max)[1], minexp=_math.frexp(row.smallest_normal)[1] - 1)

    def __str__(self):
        values = {name: self._text(name) for name in vars(self)}
        return _table(self.dtype, [row.format_map(values) for row in (
            "precision = {precision:>3}   resolution = {resolution}", "machep = {machep:>3}   eps =        {eps}",
            "negep =  {negep:>3}   epsneg =     {epsneg}", "minexp = {minexp:>3}   tiny =       {tiny}",
            "maxexp = {maxexp:>3}   max =        {max}", "nexp =   {nexp:>3}   min =        -max",
            "smallest_normal = {smallest_normal}   smallest_subnormal = {smallest_subnormal}")])


class iinfo(_Limits):
    """Limits of an integer dtype: bits, max, min, dtype, kind and NumPy's key ("i8").

    Errors: ValueError for dtypes of other kinds.

    >>> nd4c.iinfo(nd4c.int8).max
    127
    """

    _shown = ("min", "max", "dtype")

    def __new__(cls, int_type):
        given = _dtypes.default(type(int_type)) if type(int_type) in (int, float, complex) else _dtype_of(int_type)
        if given.kind not in "iu":
            raise ValueError("iinfo: %s is no integer dtype (Invalid integer data type %r); finfo() is for floats"
                             % (given.name, given.kind))
        return cls._of(given)

    @staticmethod
    def _values(dtype):
        row = _dtypes.limits(dtype)
        return dict(_key=dtype, bits=row.bits, max=row.integer_max, min=row.integer_min, dtype=dtype, kind=dtype.kind,
                    key="%s%d" % (dtype.kind, row.bits))

    def __str__(self):
        return _table(self.dtype, ["min = %d" % self.min, "max = %d" % self.max])


def _table(dtype, rows):
    line = "-" * 63
    return "\n".join(["Machine parameters for %s" % dtype, line] + rows + [line, ""])


_DTYPE_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
                "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype, kind):
    """Whether a dtype equals another dtype, is of a kind named by the standard, or matches one of several.

    Kinds: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric".
    Errors: ValueError for another kind's name; TypeError for what is no dtype.

    >>> nd4c.isdtype(nd4c.int8, "integral"), nd4c.isdtype(nd4c.int8, ("real floating", nd4c.int16))
    (True, False)
    """
    dtype = _dtypes.of(dtype)
    if isinstance(kind, tuple):
        return _builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _DTYPE_KINDS:
        return dtype.kind in _DTYPE_KINDS[kind]
    if isinstance(kind, str):
        raise ValueError("isdtype: %r is none of %s" % (kind, ", ".join(map(repr, _DTYPE_KINDS))))
    return dtype is _dtypes.of(kind)


def result_type(*arrays_and_dtypes):
    """The dtype that a computation of all of these has.

    Python's numbers take the others' dtype unless their kind does not fit it; without others they have their defaults.
    Errors: ValueError without arguments; TypeError where two dtypes share none.

    >>> nd4c.result_type(nd4c.int8, nd4c.uint8), nd4c.result_type(nd4c.int8, 1.5), nd4c.result_type(1, 2)
    (nd4c.int16, nd4c.float64, nd4c.int64)
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is required")
    result, weak = None, []
    for one in arrays_and_dtypes:
        if type(one) in _WEAK:
            weak.append(type(one))
        else:
            dtype = _dtype_of(one)
            result = dtype if result is None else _dtypes.promote(result, dtype)
    for kind in sorted(weak, key=_WEAK.index):
        result = _dtypes.default(kind) if result is None else _dtypes.weak(kind, result)
    return result


_WEAK = (bool, int, float, complex)

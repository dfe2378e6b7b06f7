"""Functions about dtypes: astype, promotion, limits."""
from collections import namedtuple
import builtins as _builtins

from nd4c import _creation, _dtypes
from nd4c._core import Array
from nd4c._creation import made_on as _made_on
from nd4c._support import array as _array, op as _op

def astype(x, dtype, /, *, copy=True, device=None):
    """x in another dtype; copy=False gives x itself where nothing changes."""
    wanted = _dtypes.of(dtype)
    if _array(x, "astype").dtype is wanted:
        there = x if device is None else _creation.to_device(x, device)
        return _creation.copied(x) if copy and there is x else there
    return _made_on(device, _op("cast"), x, wanted.number)


def can_cast(from_, to, /):
    """Whether promotion takes one dtype to the other."""
    return _dtypes.can_cast(from_.dtype if type(from_) is Array else _dtypes.of(from_), _dtypes.of(to))


finfo_object = namedtuple("finfo", "bits eps max min smallest_normal dtype smallest_subnormal")
iinfo_object = namedtuple("iinfo", "bits max min dtype")


def finfo(type, /):
    """Limits of a floating dtype: bits, eps, max, min, smallest_normal, smallest_subnormal, dtype."""
    dtype = type.dtype if isinstance(type, Array) else _dtypes.of(type)
    if dtype.kind not in "fc":
        raise TypeError("finfo: %s is no floating dtype; iinfo() is for integers" % dtype.name)
    row = _dtypes.limits(dtype)
    part = dtype if dtype.kind == "f" else _dtypes.by_name["float32" if dtype.bits == 64 else "float64"]
    return finfo_object(row.bits, row.epsilon, row.max, row.min, row.smallest_normal, part, row.smallest_subnormal)


def iinfo(type, /):
    """Limits of an integer dtype: bits, max, min, dtype."""
    dtype = type.dtype if isinstance(type, Array) else _dtypes.of(type)
    if dtype.kind not in "iu":
        raise TypeError("iinfo: %s is no integer dtype; finfo() is for floats" % dtype.name)
    row = _dtypes.limits(dtype)
    return iinfo_object(row.bits, row.integer_max, row.integer_min, dtype)


_DTYPE_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
                "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype, kind):
    """Whether a dtype equals another dtype, is of a kind named by the standard ("integral"), or matches one of several."""
    dtype = _dtypes.of(dtype)
    if isinstance(kind, tuple):
        return _builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _DTYPE_KINDS:
        return dtype.kind in _DTYPE_KINDS[kind]
    if isinstance(kind, str):
        raise ValueError("isdtype: %r is none of %s" % (kind, ", ".join(map(repr, _DTYPE_KINDS))))
    return dtype is _dtypes.of(kind)


def result_type(*arrays_and_dtypes):
    """The dtype that a computation of all of these has."""
    strong, weak = [], []
    for one in arrays_and_dtypes:
        if type(one) is Array:
            strong.append(one.dtype)
        elif type(one) in (bool, int, float, complex):
            weak.append(type(one))
        else:
            strong.append(_dtypes.of(one))
    if not strong:
        if not weak:
            raise ValueError("result_type: at least one array or dtype is needed")
        raise ValueError("result_type: numbers alone have no dtype; at least one array or dtype is needed")
    result = strong[0]
    for dtype in strong[1:]:
        result = _dtypes.promote(result, dtype)
    for kind in weak:
        result = _dtypes.weak(kind, result)
    return result

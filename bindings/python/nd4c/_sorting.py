"""Functions that search, sort, count and find distinct elements."""
from collections import namedtuple

from nd4c import _dtypes
from nd4c._arguments import axes as _axes
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._dtype_functions import astype, result_type
from nd4c._manipulation import unstack
from nd4c._support import array as _array, op as _op


def _arg(name):
    def function(x, /, *, axis=None, keepdims=False):
        _array(x, name)
        if axis is not None:
            return _op(name)(x, axis, keepdims)
        flat = _op(name)(_op("reshape")(x, (-1,) if x.size else (0,)), 0, False)
        return _op("reshape")(flat, (1,) * x.ndim) if keepdims else flat
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Index of the first %s along an axis; None: of x flattened." % (
        "largest" if name == "argmax" else "smallest")
    return function


argmax, argmin = _arg("argmax"), _arg("argmin")


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements over axes are not 0."""
    return _op("count_nonzero")(x, _axes(axis), keepdims)


def nonzero(x, /):
    """Indices of the elements that are not 0, one array an axis."""
    if not _array(x, "nonzero").ndim:
        raise ValueError("nonzero: an array without axes has no indices; reshape it to (1,) first")
    found = _op("nonzero")(x)
    if type(found) is tuple:
        return found
    return unstack(found, axis=0)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where x2's elements go into the sorted x1."""
    if side not in ("left", "right"):
        raise ValueError("searchsorted: side is %r; it may be 'left' or 'right'" % (side,))
    x1, x2 = _shared_dtype(x1, x2)
    return _op("searchsorted")(x1, x2, None if sorter is None else _whole(sorter, "searchsorted"), side == "right")


def _shared_dtype(x1, x2):
    """Both in the dtype that they share; numbers count by their kind."""
    if type(x1) is not Array and type(x2) is not Array:
        raise TypeError("expected an nd4c.Array among the arguments, got %s and %s"
                        % (type(x1).__name__, type(x2).__name__))
    dtype = result_type(*[x if type(x) in (Array, bool, int, float, complex) else asarray(x) for x in (x1, x2)])
    return tuple(astype(x, dtype, copy=False) if type(x) is Array else asarray(x, dtype=dtype) for x in (x1, x2))


def where(condition, x1, x2, /):
    """x1 where the condition holds, else x2."""
    if type(x1) is not Array and type(x2) is not Array and not (hasattr(x1, "dtype") or hasattr(x2, "dtype")):
        kinds = (complex, float, int, bool)
        kind = next((kind for kind in kinds if kind in (type(x1), type(x2))), None)
        if kind is not None:
            x1, x2 = (asarray(kind(value), dtype=_dtypes.DEFAULTS[kind]) for value in (x1, x2))
    return _op("where")(condition, x1, x2)


def isin(x1, x2, /, *, invert=False):
    """Where x1's elements are among x2's."""
    return _op("isin")(*_shared_dtype(x1, x2), invert)


UniqueAllResult = namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = namedtuple("UniqueCountsResult", "values counts")
UniqueInverseResult = namedtuple("UniqueInverseResult", "values inverse_indices")


def unique_all(x, /):
    """The distinct elements in order, their first indices, for each element of x its number, and the count of each."""
    return UniqueAllResult(*_op("unique_all")(x))


def unique_counts(x, /):
    """The distinct elements in order, and the count of each."""
    return UniqueCountsResult(*_op("unique_counts")(x))


def unique_inverse(x, /):
    """The distinct elements in order, and for each element of x its number."""
    return UniqueInverseResult(*_op("unique_inverse")(x))


def unique_values(x, /):
    """The distinct elements in order."""
    return _op("unique_values")(x)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Indices that sort x along an axis; always stable."""
    return _op("argsort")(x, axis, descending)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """x sorted along an axis; always stable."""
    return _op("sort")(x, axis, descending)


def take(x, indices, /, *, axis=None):
    """x's slices at indices along an axis; x of one axis needs none."""
    if axis is None:
        if _array(x, "take").ndim != 1:
            raise ValueError("take: an array of the shape %s needs an axis" % (x.shape,))
        axis = 0
    return _op("take")(x, _whole(indices, "take"), (axis,), 0)


def take_along_axis(x, indices, /, *, axis=-1):
    """x[..., indices[..., i, ...], ...]: an index for each place of the result."""
    return _op("take_along_axis")(x, _whole(indices, "take_along_axis"), axis)


def _whole(indices, where):
    """Indices as the ops take them: int32 or int64."""
    if type(indices) is not Array:
        indices = asarray(indices)
    if indices.dtype.name in ("int32", "int64"):
        return indices
    if indices.dtype.kind not in "iu":
        raise TypeError("%s: indices are integers, not %s" % (where, indices.dtype.name))
    return _op("cast")(indices, _dtypes.DEFAULTS[int].number)

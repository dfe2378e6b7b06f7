"""Distinct elements and operations on sets: NumPy's unique, and what its neighbours compute of two arrays."""
import builtins as _builtins

from nd4c import _dtypes
from nd4c._creation import asarray
from nd4c._functions.dtypes import result_type
from nd4c._functions.reductions import diff
from nd4c._functions.sorting import flattened, isin, mixes_signs, searchsorted
from nd4c._functions.support import as_array as _as_array, cast as _cast, normalize_axis as _normalize_axis, op as _op

__all__ = ["ediff1d", "intersect1d", "setdiff1d", "setxor1d", "union1d", "unique"]

_INT = _dtypes.DEFAULTS[int].number


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True,
           sorted=True):
    """The distinct elements in order, or the distinct slices along an axis; if asked for, also where each occurs first,
    the number of the value of each element of ar, and how often each occurs.

    Shapes: the values have one axis (or ar's, with the axis given shorter); return_inverse has ar's shape (or one
    axis).
    Dtypes: numbers and bool; the other results are int64. All NaN are one value, unless equal_nan is False or an axis
    is given.
    sorted=False allows any order; the result is sorted all the same.
    Errors: AxisError if the axis is out of range; TypeError for strings.

    >>> np.unique([3, 1, 3])
    array([1, 3])
    >>> np.unique([3, 1, 3], return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    x = _as_array(ar, "unique")
    if axis is None and not return_index and not return_inverse:
        return _distinct_values(x, equal_nan, return_counts)
    if axis is None:
        found = _distinct(x, equal_nan)
        inverse = found[2] if found[2].shape == x.shape else _op("reshape")(found[2], x.shape)
        found = (found[0], found[1], inverse, found[3])
    else:
        if not hasattr(axis, "__index__"):
            raise TypeError("unique: axis is %r (integer argument expected)" % (axis,))
        axis = _normalize_axis(axis, x.ndim, "unique")
        found = _distinct(x, equal_nan) if x.ndim == 1 else _distinct_slices(x, axis)
    chosen = [one for one, wanted in zip(found, (True, return_index, return_inverse, return_counts)) if wanted]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def _distinct(x, equal_nan=True):
    """The op's values, first indices, inverse and counts of x flattened; one NaN where the op has each by itself."""
    values, index, inverse, counts = _op("unique")(flattened(x), None, True)
    if not (equal_nan and values.dtype.kind in "fc" and values.size > 1 and _is_nan(values[-1])):
        return values, index, inverse, counts
    first = values.size - int(_op("count_nonzero")(_op("is_nan")(values), None, False))
    kept = slice(0, first + 1)
    most = _op("sum")(counts[first:], None, True, 0)
    least = _op("min")(index[first:], None, True)
    return (values[kept], _op("concat")([index[:first], least], 0),
            _op("minimum")(inverse, asarray(first)), _op("concat")([counts[:first], most], 0))


def _distinct_values(x, equal_nan, return_counts):
    """As unique without places, which cost several times what values and counts do."""
    if not return_counts:
        values = _op("unique_values")(x)
        return _one_nan(values) if equal_nan else values
    values, counts = _op("unique_counts")(x)
    kept = _one_nan(values).size if equal_nan else values.size
    if kept < values.size:
        counts = _op("concat")([counts[:kept - 1], _op("sum")(counts[kept - 1:], None, True, 0)], 0)
    return values[:kept], counts


def _one_nan(values):
    """Ascending values with a single NaN, where the op has each by itself."""
    if values.dtype.kind not in "fc" or values.size < 2 or not _is_nan(values[-1]):
        return values
    return values[:values.size - int(_op("count_nonzero")(_op("is_nan")(values), None, False)) + 1]


def _is_nan(x):
    return _builtins.bool(_op("is_nan")(x))


def _distinct_slices(x, axis):
    """As _distinct, of the slices along an axis; slices without elements are all equal."""
    if x.size or not x.shape[axis]:
        return _op("unique")(x, (axis,), True) if x.size else _no_slices(x)
    first = x[(slice(None),) * axis + (slice(0, 1),)]
    places = _op("zeros")((x.shape[axis],), _INT)
    return first, places[:1], places, asarray([x.shape[axis]])


def _no_slices(x):
    none = _op("zeros")((0,), _INT)
    return x, none, none, none


def _two(a, b, name, as_given=False):
    """Both flattened, in the dtype that they share; as_given: in their own, where that would change integers."""
    x, y = flattened(_as_array(a, name)), flattened(_as_array(b, name))
    if x.dtype is not y.dtype and not (as_given and mixes_signs(x, y)):
        dtype = result_type(x, y)
        x, y = _cast(x, dtype), _cast(y, dtype)
    return x, y


def union1d(ar1, ar2):
    """The distinct elements of either array, in order.

    Shapes: of any shape; the result has one axis. Dtypes: numbers and bool; the result has the dtype that both share.
    Errors: TypeError for strings.

    >>> np.union1d([3, 1], [2, 3])
    array([1, 2, 3])
    """
    return _one_nan(_op("union1d")(*_two(ar1, ar2, "union1d")))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The distinct elements that both arrays have, in order; return_indices: also where each occurs first in them.

    Shapes: of any shape; the results have one axis.
    Dtypes: numbers and bool, compared in the dtype that both share, uint64 and signed integers exactly.
    assume_unique: both are known to hold no element twice.
    Errors: TypeError for strings.

    >>> np.intersect1d([3, 1, 3], [2, 3])
    array([3])
    >>> np.intersect1d([3, 1, 3], [2, 3], return_indices=True)
    (array([3]), array([0]), array([1]))
    """
    x, y = _two(ar1, ar2, "intersect1d", True)
    if mixes_signs(x, y):
        return _intersect_signed(x, y, return_indices)
    first = second = None
    if not return_indices and not assume_unique:
        return _op("intersect1d")(x, y)
    if not assume_unique:
        (x, first, _, _), (y, second, _, _) = _distinct(x), _distinct(y)
    both = _op("concat")([x, y], 0)
    order = _op("argsort")(both, 0, False)
    ranked = both[order]
    pairs = _op("nonzero")(_op("equal")(ranked[1:], ranked[:-1]))
    pairs = _op("reshape")(pairs, (pairs.size,))
    values = ranked[pairs]
    if not return_indices:
        return values
    places, others = order[pairs], order[pairs + 1] - x.size
    if first is not None:
        places, others = first[places], second[others]
    return values, places, others


def _intersect_signed(x, y, return_indices):
    """Of uint64 and signed integers: compared as they are, and only then cast to the dtype that both share."""
    dtype = result_type(x, y)
    (x, first, _, _), (y, second, _, _) = _distinct(x), _distinct(y)
    found = isin(x, y)
    values = x[found]
    if not return_indices:
        return _cast(values, dtype)
    return _cast(values, dtype), first[found], second[searchsorted(y, values)]


def setdiff1d(ar1, ar2, assume_unique=False):
    """The distinct elements of the first array that the second has not, in order.

    Shapes: of any shape; the result has one axis. Dtypes: numbers and bool; the result has the first one's dtype.
    assume_unique: neither array holds an element twice; the result then has the first one's order.
    Errors: TypeError for strings.

    >>> np.setdiff1d([3, 1, 2, 3], [2])
    array([1, 3])
    """
    x, other = _as_array(ar1, "setdiff1d"), _as_array(ar2, "setdiff1d")
    if not assume_unique and x.dtype is other.dtype:
        return _one_nan(_op("setdiff1d")(flattened(x), flattened(other)))
    x = flattened(x) if assume_unique else _distinct(x)[0]
    return x[isin(x, other if assume_unique else _distinct(other)[0], invert=True)]


def setxor1d(ar1, ar2, assume_unique=False):
    """The distinct elements that exactly one of both arrays has, in order.

    Shapes: of any shape; the result has one axis.
    Dtypes: numbers and bool; the result has the dtype that both share. uint64 and signed integers are compared exactly.
    assume_unique: neither array holds an element twice.
    Errors: TypeError for strings.

    >>> np.setxor1d([3, 1, 2], [2, 4])
    array([1, 3, 4])
    """
    x, y = _two(ar1, ar2, "setxor1d", True)
    if mixes_signs(x, y):
        return _op("union1d")(*_two(x[isin(x, y, invert=True)], y[isin(y, x, invert=True)], "setxor1d"))
    if not assume_unique:
        if x.dtype.kind not in "fc":  # two NaN, one of each array, are two values
            return _op("setxor1d")(x, y)
        x, y = _distinct(x)[0], _distinct(y)[0]
    ranked = _op("sort")(_op("concat")([x, y], 0), 0, False)
    if not ranked.size:
        return ranked
    edge = asarray([True])
    differs = _op("concat")([edge, _op("not_equal")(ranked[1:], ranked[:-1]), edge], 0)
    return ranked[_op("logical_and")(differs[1:], differs[:-1])]


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours in an array flattened, with numbers put before and behind them.

    Shapes: of any shape; the result has one axis. Dtypes: numbers; to_end and to_begin are cast to ary's dtype.
    Errors: TypeError if to_end or to_begin does not fit ary's dtype by NumPy's rule "same_kind".

    >>> np.ediff1d([1, 2, 4], to_begin=-9)
    array([-9,  1,  2])
    """
    x = flattened(_as_array(ary, "ediff1d"))
    parts = [_edge(to_begin, x.dtype, "to_begin"), diff(x), _edge(to_end, x.dtype, "to_end")]
    parts = [part for part in parts if part is not None]
    return parts[0] if len(parts) == 1 else _op("concat")(parts, 0)


def _edge(edge, dtype, name):
    """to_begin or to_end as an array of one axis of the differences' dtype."""
    if edge is None:
        return None
    edge = flattened(_as_array(edge, "ediff1d"))
    order = "buifc"
    if order.index(edge.dtype.kind) > order.index(dtype.kind):
        raise TypeError("ediff1d: dtype of `%s` must be compatible with that of the array, %s; it is %s"
                        % (name, dtype.name, edge.dtype.name))
    return _cast(edge, dtype)

"""Partial sorts, sorts by several keys, and indices of what is not 0: NumPy's functions beyond the standard's."""
from nd4c import _dtypes
from nd4c._abi import TABLES as _TABLES
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.sorting import argsort, check_sorting, flattened, sort
from nd4c._functions.support import as_array as _as_array, cast as _cast, normalize_axis as _normalize_axis, op as _op

__all__ = ["argpartition", "argwhere", "flatnonzero", "lexsort", "partition", "sort_complex", "top_k"]

_NEAREST = {row[2]: row[1] for row in _TABLES["QUANTILE_METHOD"]}["nearest"]


def _check_partition(name, a, kth, axis, kind, order):
    """The array, after the checks that NumPy makes of a partition's arguments, its axis, and the places of kth."""
    if not isinstance(kind, str):
        raise TypeError("%s: kind is %r; it is the text 'introselect'" % (name, kind))
    if kind != "introselect":
        raise ValueError("%s: kind is %r; it may only be 'introselect'" % (name, kind))
    check_sorting(name, None, order)
    x = _as_array(a, name)
    if axis is None:
        x, axis = flattened(x), 0
    elif x.ndim or name == "partition":
        axis = _normalize_axis(axis, x.ndim, name)
    places = _as_array(kth, name)
    if places.dtype.kind not in "iu" and places.size:
        raise TypeError("%s: kth holds integers, not %s" % (name, places.dtype.name))
    if places.ndim > 1:
        raise ValueError("%s: kth has the shape %s; it is a number or has one axis" % (name, places.shape))
    extent = x.shape[axis] if x.ndim else 1
    places = flattened(places).tolist() if x.size else ()
    for place in places:
        if not -extent <= place < extent:
            raise ValueError("%s: kth is %d, out of bounds for an axis of length %d" % (name, place, extent))
    return x, axis, places


_LONG_LINE = 4096  # where comparing three times costs less than sorting


def _three_parts(x, places):
    """Masks of the elements below, at and above the one place of a long line; None for all else, and if one is NaN."""
    if type(x) is not Array or x.ndim != 1 or len(places) != 1 or x.size < _LONG_LINE:
        return None
    place = places[0] % x.size
    if x.dtype.name in ("float64", "float32"):
        pivot = _op("quantile")(x, (0,), False, (place / (x.size - 1),), _NEAREST)
    elif x.dtype.kind in "iu":
        pivot = _op("kth_value")(x, 0, place, True)[0]
    else:
        return None
    if x.dtype.kind == "f" and _op("is_nan")(pivot).item():
        return None
    return [_op(name)(x, pivot) for name in ("less", "equal", "greater")]


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy of a in which element kth along an axis is where sorting puts it, none before it is larger, none behind it
    smaller.

    Shapes: that of a; None as the axis: a flattened. kth is an integer or several. Dtypes: numbers and bool.
    The elements before and behind kth may be in any order.
    Errors: ValueError for a kth out of bounds; AxisError if the axis is out of range; TypeError for strings.

    >>> np.partition([7, 1, 5, 3], 2)
    array([1, 3, 5, 7])
    """
    x, axis, places = _check_partition("partition", a, kth, axis, kind, order)
    parts = _three_parts(x, places)
    return sort(x, axis) if parts is None else _op("concat")([x[part] for part in parts], 0)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Indices that partition a along an axis, as np.partition does.

    Shapes: that of a; None as the axis: a flattened. kth is an integer or several. Dtypes: numbers and bool; the result
    is int64.
    Errors: ValueError for a kth out of bounds; AxisError if the axis is out of range; TypeError for strings.

    >>> np.argpartition([7, 1, 5, 3], 1)
    array([1, 3, 2, 0])
    """
    x, axis, places = _check_partition("argpartition", a, kth, axis, kind, order)
    parts = _three_parts(x, places)
    return argsort(x, axis) if parts is None else _op("concat")([flatnonzero(part) for part in parts], 0)


def lexsort(keys, axis=-1):
    """Indices that sort by several keys: by the last one, equal elements by the one before it, and so on; stably.

    Shapes: keys are arrays of one shape, or the rows of one array; the result has the shape of one key.
    Dtypes: numbers and bool, a dtype for each key; the result is int64. NaN comes last.
    Errors: TypeError without keys or for strings; ValueError for keys of several shapes; AxisError if the axis is out
    of range.

    >>> surnames, names = [2, 1, 2], [7, 9, 3]
    >>> np.lexsort((names, surnames))
    array([1, 2, 0])
    """
    arrays = [_as_array(key, "lexsort") for key in keys]
    if not arrays:
        raise TypeError("lexsort: there is no key to sort by; give at least one")
    if len({key.shape for key in arrays}) > 1:
        raise ValueError("lexsort: the keys have the shapes %s; they need one"
                         % ", ".join(str(key.shape) for key in arrays))
    if not arrays[0].ndim:
        if axis not in (0, -1):
            _normalize_axis(axis, 0, "lexsort")
        return asarray(0)
    axis = _normalize_axis(axis, arrays[0].ndim, "lexsort")
    order = _op("argsort")(arrays[0], axis, False)
    for key in arrays[1:]:
        again = _op("argsort")(_op("take_along_axis")(key, order, axis), axis, False)
        order = _op("take_along_axis")(order, again, axis)
    return order


def sort_complex(a):
    """a sorted along its last axis, as complex numbers: by real, then imaginary part.

    Shapes: that of a. Dtypes: numbers and bool; integers up to 16 bits give complex64, others complex128.
    Errors: AxisError for an array without axes; TypeError for strings.

    >>> np.sort_complex([5, 3, 6])
    array([3.+0.j, 5.+0.j, 6.+0.j])
    """
    x = sort(a)
    if x.dtype.kind == "c":
        return x
    small = x.dtype.name in ("int8", "uint8", "int16", "uint16")
    return _cast(x, _dtypes.by_name["complex64" if small else "complex128"])


def flatnonzero(a):
    """Indices of the elements of a flattened that are not 0.

    Shapes: a of any shape; the result has one axis. Dtypes: numbers and bool; the result is int64. Errors: TypeError
    for strings.

    >>> np.flatnonzero([[0, 1], [2, 0]])
    array([1, 2])
    """
    found = _op("nonzero")(flattened(_as_array(a, "flatnonzero")))
    return _op("reshape")(found, (found.size,))


def argwhere(a):
    """Indices of the elements that are not 0, one row an element.

    Shapes: a of any shape; the result has as many columns as a axes. Dtypes: numbers and bool; the result is int64.
    Errors: TypeError for strings.

    >>> np.argwhere([[0, 1], [2, 0]])
    array([[0, 1],
           [1, 0]])
    """
    return _op("argwhere")(_as_array(a, "argwhere"))


def top_k(x, k=1, axis=-1, *, largest=True):
    """The k largest (or smallest) elements along an axis, best first, and their indices.

    Shapes: the axis becomes k long. Dtypes: real numbers; the indices are int64. The first of equal elements wins; NaN
    is largest.
    Errors: ValueError if the axis has fewer than k elements; AxisError if it is out of range; TypeError for other
    dtypes.
    NumPy has no such function.

    >>> nd4c.top_k([1, 5, 3], 2)
    (array([5, 3]), array([1, 2]))
    """
    x = _as_array(x, "top_k")
    return _op("top_k")(x, _normalize_axis(axis, x.ndim, "top_k"), k, largest)

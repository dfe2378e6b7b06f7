"""Functions of the standard that search, sort, count, pick and find distinct elements, with NumPy's arguments."""
from collections import namedtuple
import builtins as _builtins
from operator import index as _index

from nd4c import _dtypes
from nd4c._arguments import axes as _axes
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.dtypes import result_type
from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected
from nd4c._functions.manipulation import unstack
from nd4c._functions.reductions import axes_of as _axes_of
from nd4c._symbols import ARRAYS, Dim
from nd4c._functions.support import (
    as_array as _as_array, cast as _cast, castable as _castable, finish as _finish, normalize_axis as _normalize_axis,
    op as _op, output as _output)

_bool, _uint8, _int64, _uint64 = [_dtypes.by_name[_name] for _name in ("bool", "uint8", "int64", "uint64")]
_argsort, _count_nonzero, _isin, _nonzero, _searchsorted, _sort, _where = [
    _op(_name) for _name in ("argsort", "count_nonzero", "isin", "nonzero", "searchsorted", "sort", "where")]
_REFUSED = (IndexError, TypeError, ValueError)  # what an op raises where the longer way computes it or words it better


def flattened(x):
    """x with one axis: a view where its strides allow one."""
    return x if x.ndim == 1 else _op("reshape")(x, (x.size,))


# -- extrema's places ------------------------------------------------------------------------------------------------

def _arg(name, largest, doc):
    call = _op(name)

    def function(a, axis=None, out=None, *, keepdims=False, **wrong):
        if wrong:
            raise _unexpected(function, wrong)
        if type(a) is Array and out is None and not (keepdims and axis is None):
            try:
                return call(a, axis, keepdims) if axis is not None else call(flattened(a), 0, False)
            except _REFUSED:
                pass
        x = _as_array(a, name)
        if out is not None and not _castable(_output(out, name).dtype, _int64, "same_kind"):
            raise TypeError("%s: out holds %s, it needs an integer dtype for indices"
                            % (name, _output(out, name).dtype.name))
        if axis is None:
            place, rows = 0, flattened(x)
        else:
            place = _whole_axis(axis, x.ndim, name)
            rows = x if x.ndim else flattened(x)
        result = _place_of_extreme(call, rows, place, keepdims and axis is not None, largest)
        if axis is None and keepdims:
            result = _op("reshape")(result, (1,) * x.ndim)
        elif not x.ndim:
            result = _op("reshape")(result, ())
        return _finish(result, out, where=name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return _explained(function)


def _whole_axis(axis, ndim, name):
    """One axis, counted from the front; the axes 0 and -1 of a 0-d array, too."""
    try:
        axis = _index(axis)
    except TypeError:
        raise TypeError("%s: axis is an integer or None, not %r" % (name, axis)) from None
    return axis if not ndim and axis in (0, -1) else _normalize_axis(axis, ndim, name)


def _place_of_extreme(call, x, axis, keepdims, largest):
    """The op on dtypes that C does not order, too: the first place in the sorted order, or of a NaN."""
    if x.dtype.kind == "b":
        x = _cast(x, _uint8)
    if not x.shape[axis] and x.size == 0 and _builtins.all(x.shape[:axis] + x.shape[axis + 1:]):
        raise ValueError("%s: attempt to get %s of an empty sequence: axis %d of the shape %s"
                         % (call.__name__, call.__name__, axis, x.shape))
    if x.dtype.kind != "c":
        return call(x, axis, keepdims)
    order = _op("argsort")(x, axis, largest)
    first = (slice(None),) * axis + (slice(0, 1) if keepdims else 0,)
    unknown = _cast(_op("is_nan")(x), _uint8)
    return _op("where")(_op("any")(unknown, (axis,), keepdims), _op("argmax")(unknown, axis, keepdims), order[first])


argmax = _arg("argmax", True, """Index of the first largest element along an axis; None: in a flattened.

    Shapes: a of any shape; the result without the axis, or with length 1 if keepdims.
    Dtypes: numbers and bool; the result is int64. Complex numbers order by real, then imaginary part; NaN counts as
    largest.
    Errors: ValueError for an empty axis; AxisError if the axis is out of range; TypeError for strings.

    >>> nd4c.argmax([[1, 5, 3], [7, 2, 7]], axis=1)
    array([1, 0])
    """)
argmin = _arg("argmin", False, """Index of the first smallest element along an axis; None: in a flattened.

    Shapes: a of any shape; the result without the axis, or with length 1 if keepdims.
    Dtypes: numbers and bool; the result is int64. Complex numbers order by real, then imaginary part; NaN counts as
    smallest.
    Errors: ValueError for an empty axis; AxisError if the axis is out of range; TypeError for strings.

    >>> nd4c.argmin([[1, 5, 3], [7, 2, 2]], axis=1)
    array([0, 1])
    """)


# -- what is not 0 ---------------------------------------------------------------------------------------------------

@_explained
def count_nonzero(a, axis=None, *, keepdims=False, **wrong):
    """How many elements over axes (None: all) are not 0.

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers and bool; the result is int64.
    Errors: AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.count_nonzero([[0, 1], [2, 3]], axis=0)
    array([1, 2])
    """
    if wrong:
        raise _unexpected(count_nonzero, wrong)
    if type(a) is Array:
        try:
            return _count_nonzero(a, _axes(axis), keepdims)
        except _REFUSED:
            pass
    x = _as_array(a, "count_nonzero")
    return _count_nonzero(x, _axes_of(axis, x.ndim, "count_nonzero"), keepdims)


def nonzero(a):
    """Indices of the elements that are not 0, one array an axis: x[nonzero(x)] are these elements.

    Shapes: a of at least one axis; each result has one axis. Dtypes: numbers and bool; the results are int64.
    Errors: ValueError for an array without axes; TypeError for strings.

    >>> nd4c.nonzero([[0, 1], [2, 3]])
    (array([0, 1, 1]), array([1, 0, 1]))
    """
    x = _as_array(a, "nonzero")
    if not x.ndim:
        raise ValueError("nonzero: Calling nonzero on 0d arrays is not allowed; reshape to (1,) first")
    found = _nonzero(x)
    if type(found) is Array:
        return (found[0],) if x.ndim == 1 else tuple([found[axis] for axis in range(x.ndim)])
    return found if type(found) is tuple else unstack(found, axis=0)


# -- searching -------------------------------------------------------------------------------------------------------

def searchsorted(a, v, side="left", sorter=None):
    """Where v's elements go into the sorted a: before equal ones, or behind them if side is "right".

    Shapes: a of one axis; the result has v's shape. sorter holds the indices that sort a (argsort), for an a that is
    not sorted.
    Dtypes: numbers and bool, compared in the dtype that both share, uint64 and signed integers exactly; the result is
    int64.
    Errors: ValueError for another side, or a sorter of another length or with an index out of range; TypeError for
    strings or a sorter that does not hold integers.

    >>> nd4c.searchsorted([1, 2, 3, 5], [2, 4])
    array([1, 3])
    >>> nd4c.searchsorted([1, 2, 3, 5], 2, side="right")
    array(2)
    """
    if type(a) is Array and type(v) is Array and sorter is None and side in ("left", "right"):
        try:
            return _searchsorted(a, v, None, side == "right")
        except _REFUSED:
            pass
    if side not in ("left", "right"):
        raise ValueError("searchsorted: side is %r; it may be 'left' or 'right'" % (side,))
    x, values = _as_given(a, v, "searchsorted")
    mixed = mixes_signs(x, values)
    x, values = (x, values) if mixed else _cast_both(x, values)
    if x.ndim != 1:
        raise ValueError("searchsorted: a has the shape %s; it needs exactly one axis" % (x.shape,))
    order = None
    if sorter is not None:
        order = _whole(sorter, "searchsorted", "sorter")
        if order.shape != x.shape:
            raise ValueError("searchsorted: sorter has the shape %s, a %s; they need the same" % (order.shape, x.shape))
        if order.size and (int(_op("min")(order, None, False)) < 0 or int(_op("max")(order, None, False)) >= x.size):
            raise ValueError("searchsorted: sorter holds an index that a of %d elements has not" % x.size)
    if mixed:
        return _search_signed(x, values, order, side == "right")
    if x.dtype.kind == "c":
        return _search_complex(x if order is None else x[order], values, side)
    if x.dtype.kind == "b":
        x, values = _cast(x, _uint8), _cast(values, _uint8)
    return _searchsorted(x, values, order, side == "right")


def _search_complex(x, values, side):
    """Complex numbers have no op that searches: their places come from sorting both together, stably."""
    wanted = flattened(values)
    both = [wanted, x] if side == "left" else [x, wanted]
    order = _op("argsort")(_op("concat")(both, 0), 0, False)
    first = wanted.size if side == "left" else x.size
    is_wanted = _op("less" if side == "left" else "greater_equal")(order, asarray(first))
    before = _op("cumulative_sum")(_cast(_op("logical_not")(is_wanted), _int64), 0, False, False, False, 0)
    places = order[is_wanted] if side == "left" else order[is_wanted] - first
    return _op("reshape")(before[is_wanted][_op("argsort")(places, 0, False)], values.shape)


def _search_signed(x, values, order, right):
    """Where signed integers and uint64 are mixed: what the other's dtype cannot hold goes before or behind all."""
    if x.dtype.kind == "i":
        x, values, beyond = _cast(x, _int64), _cast(values, _int64), x.size  # from 2^63 on the cast gives less than 0
        outside = _op("less")(values, asarray(0))
    else:
        outside, values, beyond = _op("less")(values, asarray(0, dtype=values.dtype)), _cast(values, _uint64), 0
    return _op("where")(outside, asarray(beyond), _searchsorted(x, values, order, right))


def mixes_signs(a, b):
    """Whether one is uint64 and the other has signed integers: they share float64, which has no room for both."""
    return (type(a) in ARRAYS and type(b) in ARRAYS and {a.dtype.kind, b.dtype.kind} == {"i", "u"}
            and result_type(a, b).kind == "f")


def _as_given(a, b, name):
    """Both as arrays, but for numbers beside an array, which count by their kind."""
    plain = [x if type(x) in (bool, int, float, complex) else _as_array(x, name) for x in (a, b)]
    if type(plain[0]) not in ARRAYS and type(plain[1]) not in ARRAYS:
        plain = [asarray(x) for x in plain]
    return plain


def _cast_both(a, b):
    dtype = result_type(a, b)
    return tuple([_cast(x, dtype) if type(x) in ARRAYS else asarray(x, dtype=dtype) for x in (a, b)])


def _shared_dtype(a, b, name):
    """Both as arrays of the dtype that they share; numbers count by their kind."""
    return _cast_both(*_as_given(a, b, name))


def where(condition, x=None, y=None, /):
    """x where the condition holds, else y; the condition alone: nonzero(condition).

    Shapes: all three broadcast.
    Dtypes: the condition counts as bool; the result has the dtype that x and y share.
    Errors: ValueError if only one of x and y is given, or if the shapes do not broadcast.

    >>> nd4c.where([True, False, True], [1, 2, 3], 0)
    array([1, 0, 3])
    """
    if x is None or y is None:
        if x is not y:
            raise ValueError("where: either both or neither of x and y are to be given")
        return nonzero(condition)
    if type(condition) not in ARRAYS or condition.dtype.kind != "b":
        condition = _cast(_as_array(condition, "where"), _bool)
    x, y = [_index(one) if type(one) is Dim else one for one in (x, y)]
    if type(x) in ARRAYS and type(y) in ARRAYS and x.dtype is y.dtype:
        return _where(condition, x, y)
    if _takes(x, y) or _takes(y, x):
        try:
            return _where(condition, x, y)
        except OverflowError:
            pass
    return _where(condition, *_shared_dtype(x, y, "where"))


def _takes(x, number):
    """Whether a number becomes one of x's dtype beside x."""
    return type(x) is Array and (type(number) is int and x.dtype.kind in "iuf" or type(number) is float and x.dtype.kind == "f")


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Where the elements are among the test elements (invert: where they are not).

    Shapes: the result has element's shape; test_elements may have any.
    Dtypes: numbers and bool, compared in the dtype that both share, uint64 and signed integers exactly; the result is
    bool. NaN equals nothing.
    assume_unique and kind ("sort", "table", None) choose NumPy's algorithm; here they change nothing.
    Errors: ValueError for another kind, or "table" for floats; TypeError for strings.

    >>> nd4c.isin([1, 2, 5], [5, 1])
    array([ True, False,  True])
    """
    if type(element) is Array and type(test_elements) is Array and kind is None:
        try:
            return _isin(element, test_elements, invert)
        except _REFUSED:
            pass
    if kind not in (None, "sort", "table"):
        raise ValueError("isin: kind is %r; it may be 'sort', 'table' or None" % (kind,))
    if kind == "table":
        for x in (_as_array(element, "isin"), _as_array(test_elements, "isin")):
            if x.dtype.kind not in "biu":
                raise ValueError("isin: kind='table' is for integers and bool, not for %s; leave kind out"
                                 % x.dtype.name)
    x, wanted = _as_given(element, test_elements, "isin")
    if mixes_signs(x, wanted):  # casts of 2^63 and more give less than 0, and equal nothing that was below 0 before
        x, wanted = _cast(x, _int64), _cast(wanted, _int64)
        found = _op("logical_and")(_isin(x, wanted, False), _op("greater_equal")(x, asarray(0)))
        return _op("logical_not")(found) if invert else found
    return _isin(*_cast_both(x, wanted), _builtins.bool(invert))


# -- distinct elements -----------------------------------------------------------------------------------------------

UniqueAllResult = namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = namedtuple("UniqueCountsResult", "values counts")
UniqueInverseResult = namedtuple("UniqueInverseResult", "values inverse_indices")


def unique_all(x):
    """The distinct elements in order, their first indices, for each element of x its number, and the count of each.

    Shapes: values, indices and counts have one axis, inverse_indices x's shape. Dtypes: values x's, the others int64.
    Each NaN is distinct. Errors: TypeError for strings.

    >>> nd4c.unique_all([3, 1, 3]).counts
    array([1, 2])
    """
    return UniqueAllResult(*_op("unique_all")(_as_array(x, "unique_all")))


def unique_counts(x):
    """The distinct elements in order, and the count of each.

    Shapes: both results have one axis. Dtypes: values x's, counts int64. Each NaN is distinct. Errors: TypeError for
    strings.

    >>> nd4c.unique_counts([3, 1, 3])
    UniqueCountsResult(values=array([1, 3]), counts=array([1, 2]))
    """
    return UniqueCountsResult(*_op("unique_counts")(_as_array(x, "unique_counts")))


def unique_inverse(x):
    """The distinct elements in order, and for each element of x its number: values[inverse_indices] is x.

    Shapes: values has one axis, inverse_indices x's shape. Dtypes: values x's, inverse_indices int64. Each NaN is
    distinct.
    Errors: TypeError for strings.

    >>> nd4c.unique_inverse([3, 1, 3]).inverse_indices
    array([1, 0, 1])
    """
    return UniqueInverseResult(*_op("unique_inverse")(_as_array(x, "unique_inverse")))


def unique_values(x):
    """The distinct elements in order.

    Shapes: x of any shape; the result has one axis. Dtypes: x's. Each NaN is distinct. Errors: TypeError for strings.

    >>> nd4c.unique_values([3, 1, 3])
    array([1, 3])
    """
    return _op("unique_values")(_as_array(x, "unique_values"))


# -- sorting ---------------------------------------------------------------------------------------------------------

_KINDS = {"q": "quicksort", "h": "heapsort", "m": "mergesort", "s": "stable"}


def check_sorting(name, kind, order, stable=None):
    """Refuses arguments that NumPy refuses; all others ask for an algorithm, and every sort here is stable."""
    if order is not None:
        raise ValueError("%s: order names fields of structured arrays, which nd4c does not have; leave it out" % name)
    if kind is not None and stable is not None:
        raise ValueError("%s: `kind` and keyword parameters can't be provided at the same time; leave kind out" % name)
    if kind is not None and not (type(kind) is str and kind[:1].lower() in _KINDS):
        raise ValueError("%s: kind is %r; it may be 'quicksort', 'heapsort', 'mergesort' or 'stable'" % (name, kind))


def _sorted_by(name, a, axis, kind, order, stable, descending):
    check_sorting(name, kind, order, stable)
    x = _as_array(a, name)
    if axis is None:
        x, axis = flattened(x), 0
    elif x.ndim or name == "sort":
        axis = _normalize_axis(axis, x.ndim, name)
    if not x.ndim:
        return asarray([0])
    return _op(name)(x, axis, descending)


@_explained
def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False, **wrong):
    """Indices that sort a along an axis, always stably; None: a flattened.

    Shapes: that of a. Dtypes: numbers and bool; the result is int64. NaN comes last, or first if descending.
    kind and stable are NumPy's choice of an algorithm; here they change nothing.
    Errors: AxisError if the axis is out of range; ValueError for another kind; TypeError for strings.

    >>> nd4c.argsort([3, 1, 2])
    array([1, 2, 0])
    """
    if wrong:
        raise _unexpected(argsort, wrong)
    if type(a) is Array and kind is None and order is None:
        try:
            return _argsort(a, axis, descending)
        except _REFUSED:
            pass
    return _sorted_by("argsort", a, axis, kind, order, stable, descending)


@_explained
def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False, **wrong):
    """A copy of a sorted along an axis, always stably; None: a flattened.

    Shapes: that of a. Dtypes: numbers and bool. NaN comes last, or first if descending.
    kind and stable are NumPy's choice of an algorithm; here they change nothing.
    Errors: AxisError if the axis is out of range; ValueError for another kind; TypeError for strings.

    >>> nd4c.sort(nd4c.asarray([3, 1, 2]))
    array([1, 2, 3])
    """
    if wrong:
        raise _unexpected(sort, wrong)
    if type(a) is Array and kind is None and order is None:
        try:
            return _sort(a, axis, descending)
        except _REFUSED:
            pass
    return _sorted_by("sort", a, axis, kind, order, stable, descending)


# -- picking ---------------------------------------------------------------------------------------------------------

@_explained
def take(a, indices, axis=None, out=None, mode="raise", **wrong):
    """a's slices at indices along an axis; None: elements of a flattened.

    Shapes: the axis becomes indices' shape. Dtypes: that of a; indices hold integers.
    mode: what an index out of range does: "raise" an IndexError, "wrap" around, or "clip" to the ends (where negative
    ones become 0).
    Errors: IndexError; AxisError if the axis is out of range; TypeError for indices that are no integers.

    >>> nd4c.take([10, 20, 30], [2, 0])
    array([30, 10])
    """
    if wrong:
        raise _unexpected(take, wrong)
    x = _as_array(a, "take")
    if axis is None:
        x, axis = flattened(x), 0
    else:
        axis = _normalize_axis(axis, x.ndim, "take")
    places = _whole(indices, "take")
    if mode != "raise":
        places = _brought_in(places, x.shape[axis], mode)
    return _finish(_op("take")(x, places, (axis,), 0), out, where="take")


def _brought_in(places, extent, mode):
    """Indices moved into an axis as take's mode says."""
    if mode not in ("wrap", "clip"):
        raise ValueError("take: mode is %r; it may be 'raise', 'wrap' or 'clip'" % (mode,))
    if not extent:
        if places.size:
            raise IndexError("take: there is nothing to take from an axis of length 0")
        return places
    limit = asarray(extent if mode == "wrap" else extent - 1, dtype=places.dtype)
    if mode == "wrap":
        return _op("remainder")(places, limit)
    return _op("minimum")(_op("maximum")(places, asarray(0, dtype=places.dtype)), limit)


@_explained
def take_along_axis(arr, indices, axis=-1, **wrong):
    """arr[..., indices[..., i, ...], ...]: an index for each place of the result; None: of arr flattened.

    Shapes: indices has as many axes as arr, and broadcasts with it but for the axis. Dtypes: that of arr; indices hold
    integers.
    Errors: IndexError for an index out of range or indices that are no integers; ValueError for another number of axes.

    >>> x = nd4c.asarray([[3, 1, 2], [4, 6, 5]])
    >>> nd4c.take_along_axis(x, nd4c.argsort(x, axis=1), axis=1)
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    if wrong:
        raise _unexpected(take_along_axis, wrong)
    x, places = _as_array(arr, "take_along_axis"), _as_array(indices, "take_along_axis")
    if places.dtype.kind not in "iu":
        raise _NoIndices("take_along_axis: indices are integers, not %s" % places.dtype.name)
    if axis is None:
        x, axis = flattened(x), 0
    axis = _normalize_axis(axis, x.ndim, "take_along_axis")
    if places.ndim != x.ndim:
        raise ValueError("take_along_axis: indices have %d axes, the array %d; they need as many"
                         % (places.ndim, x.ndim))
    return _op("take_along_axis")(x, _whole(places, "take_along_axis"), axis)


class _NoIndices(TypeError, IndexError):
    """Indices that are no integers: a TypeError as elsewhere in nd4c, and the IndexError that NumPy raises."""

    def __reduce__(self):
        return IndexError, self.args


# Tracebacks show it as what it is to users.
_NoIndices.__name__ = _NoIndices.__qualname__ = "IndexError"
_NoIndices.__module__ = "builtins"


def _whole(indices, where, name="indices"):
    """Indices as the ops take them: int32 or int64."""
    indices = _as_array(indices, where)
    if indices.dtype.name in ("int32", "int64"):
        return indices
    if indices.dtype.kind not in "iu" and indices.size:
        raise TypeError("%s: %s are integers, not %s" % (where, name, indices.dtype.name))
    return _cast(indices, _int64)

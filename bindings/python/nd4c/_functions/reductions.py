"""Sums, means, extrema and their like over axes, and running sums: the standard's reductions with NumPy's arguments.

Each function tries the op at once where its arguments are an Array and axes. What the op refuses (lists, masks of
elements, axes out of range, dtypes without an order in C) takes the longer way, which computes it or raises NumPy's
error."""
import builtins as _builtins

from nd4c import _dtypes
from nd4c._arguments import axes as _axes
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.dtypes import result_type
from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected
from nd4c._functions.manipulation import broadcast_to
from nd4c._functions.support import (
    as_array as _as_array, cast as _cast, castable as _castable, finish as _finish, normalize_axes as _normalize_axes,
    normalize_axis as _normalize_axis, number as _number, op as _op, output as _output)

_bool, _uint8, _float32, _float64 = [_dtypes.by_name[_name] for _name in ("bool", "uint8", "float32", "float64")]
_REFUSED = (IndexError, TypeError)  # what an op raises for arguments that the longer way may take


# -- what the reductions share ---------------------------------------------------------------------------------------

def axes_of(axis, ndim, where):
    """The axes to reduce, counted from the front; None names all. 0-d arrays have the axes 0 and -1, as in NumPy."""
    return () if not ndim and axis in (0, -1) else _normalize_axes(axis, ndim, where)


def mask_of(where, shape, name):
    """The argument `where` as booleans of x's shape."""
    mask = _as_array(where, name)
    mask = _cast(mask, _bool)
    if mask.ndim > len(shape):
        raise ValueError("%s: where has %d axes, the array only %d" % (name, mask.ndim, len(shape)))
    return broadcast_to(mask, shape)


def _of_dtype(value, dtype, name):
    """A number or array such as `initial` in the dtype of the result."""
    value = _as_array(value, name)
    if value.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError("%s: initial is complex, the result is %s" % (name, dtype.name))
    return _cast(value, dtype)


def masked(x, where, fill, name):
    """x where the mask holds, elsewhere the number `fill` in x's dtype."""
    return _op("where")(mask_of(where, x.shape, name), x, _of_dtype(fill, x.dtype, name))


def _count(x, axes):
    """How many elements each result has."""
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    return count


def last_axis(x, axes, keepdims=False):
    """x with the reduced axes (counted from the front) as one last axis, and the shape of the result."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    order = tuple(kept) + tuple(axes)
    moved = x if order == tuple(range(x.ndim)) else _op("transpose")(x, order)
    rest = tuple([x.shape[axis] for axis in kept])
    rows = moved if len(axes) == 1 else _op("reshape")(moved, rest + (_count(x, axes),))
    return rows, tuple([1 if axis in axes else n for axis, n in enumerate(x.shape)]) if keepdims else rest


# -- sums and products -----------------------------------------------------------------------------------------------

def _dtype_of_out(x, out, name):
    """The dtype that a sum is computed in: that of out, where elements become it without losing their kind."""
    into = _output(out, name)
    return into.dtype if into is not None and _castable(x.dtype, into.dtype) else None


def _total(name, identity, combine, truth, either, doc):
    """truth and either: what computes the sum or product of an axis of bools, and of two of them."""
    call = _op(name)

    def function(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, **wrong):
        if wrong:
            raise _unexpected(function, wrong)
        if type(a) is Array and out is None and initial is None and where is True:
            try:
                return call(a, None if axis is None else _axes(axis), keepdims, 0 if dtype is None else _number(dtype))
            except _REFUSED:
                pass
        x = _as_array(a, name)
        if dtype is None:
            dtype = _dtype_of_out(x, out, name)
        if where is not True:
            x = masked(x, where, identity, name)
        bools = dtype is not None and _dtypes.of(dtype) is _bool
        if bools:
            result = _op(truth)(_cast(x, _bool), axes_of(axis, x.ndim, name), keepdims)
        else:
            result = call(x, axes_of(axis, x.ndim, name), keepdims, _number(dtype))
        if initial is not None:
            result = _op(either if bools else combine)(result, _of_dtype(initial, result.dtype, name))
        return _finish(result, out, "unsafe", name)
    return _named(function, name, doc)


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return _explained(function)


sum = _total("sum", 0, "add", "any", "logical_or", """Sum over axes (None: all).

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a.
    Dtypes: numbers; bool and small integers sum as int64 (uint64). dtype: each element is cast to it first.
    The sum starts with initial. Elements where the mask `where` is False do not count.
    Errors: AxisError (a ValueError and IndexError) if an axis is out of range; TypeError for strings.

    >>> nd4c.sum(nd4c.asarray([[1, 2], [3, 4]]), axis=0)
    array([4, 6])
    >>> nd4c.sum([1, 2, 3], initial=10, where=[True, False, True])
    array(14)
    """)
prod = _total("prod", 1, "multiply", "all", "logical_and", """Product over axes (None: all).

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a.
    Dtypes: numbers; bool and small integers multiply as int64 (uint64). dtype: each element is cast to it first.
    The product starts with initial. Elements where the mask `where` is False do not count.
    Errors: AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.prod([[1, 2], [3, 4]], axis=1)
    array([ 2, 12])
    """)


# -- extrema ---------------------------------------------------------------------------------------------------------

def _extreme(name, doc):
    call = _op(name)

    def function(a, axis=None, out=None, keepdims=False, initial=None, where=True, **wrong):
        if wrong:
            raise _unexpected(function, wrong)
        if type(a) is Array and out is None and initial is None and where is True:
            try:
                return call(a, None if axis is None else _axes(axis), keepdims)
            except _REFUSED:
                pass
        x = _as_array(a, name)
        axes = axes_of(axis, x.ndim, name)
        if where is not True:
            if initial is None:
                raise ValueError("%s: a reduction with where needs initial, because it may be left with no element"
                                 % name)
            x = masked(x, where, initial, name)
        if initial is None:
            return _finish(_ordered(call, x, axes, keepdims), out, "unsafe", name)
        rows, shape = last_axis(x, axes, keepdims)
        initial = broadcast_to(_of_dtype(initial, x.dtype, name), shape)
        if rows.shape[-1]:
            initial = _ordered(call, _op("stack")([_ordered(call, x, axes, keepdims), initial], 0), (0,), False)
        return _finish(_op("copy")(initial), out, "unsafe", name)
    return _named(function, name, doc)


def _ordered(call, x, axes, keepdims):
    """The op on dtypes that C does not order, too: bools count as 0 and 1, complex numbers order by real and then
    imaginary part; NaN wins."""
    if x.dtype.kind == "b":
        return _cast(call(_cast(x, _uint8), axes, keepdims), _bool)
    if x.dtype.kind != "c":
        return call(x, axes, keepdims)
    rows, shape = last_axis(x, axes, keepdims)
    if not rows.shape[-1]:
        raise ValueError("%s: the reduced axes have no element, and there is no identity" % call.__name__)
    unknown = _cast(_op("is_nan")(rows), _uint8)
    first_nan = _op("take_along_axis")(rows, _op("argmax")(unknown, -1, True), -1)
    extreme = _op("sort")(rows, -1, False)[..., :1] if call is _op("min") else _op("sort")(rows, -1, True)[..., :1]
    return _op("reshape")(_op("where")(_op("any")(unknown, (-1,), True), first_nan, extreme), shape)


max = _extreme("max", """Largest element over axes (None: all).

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a.
    Dtypes: that of a; complex numbers order by real, then imaginary part; NaN wins.
    initial: the least result, and what an empty axis gives; where needs it.
    Errors: ValueError for an empty axis without initial; AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.max(nd4c.asarray([[1, 5], [3, 4]]), axis=0)
    array([3, 5])
    """)
min = _extreme("min", """Smallest element over axes (None: all).

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a.
    Dtypes: that of a; complex numbers order by real, then imaginary part; NaN wins.
    initial: the largest result, and what an empty axis gives; where needs it.
    Errors: ValueError for an empty axis without initial; AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.min(nd4c.asarray([[1, 5], [3, 4]]), axis=1)
    array([1, 3])
    """)


# -- truth -----------------------------------------------------------------------------------------------------------

def _truth(name, identity, doc):
    call = _op(name)

    def function(a, axis=None, out=None, keepdims=False, *, where=True, **wrong):
        if wrong:
            raise _unexpected(function, wrong)
        if type(a) is Array and out is None and where is True:
            try:
                return call(a, None if axis is None else _axes(axis), keepdims)
            except _REFUSED:
                pass
        x = _as_array(a, name)
        if where is not True:
            x = masked(x, where, identity, name)
        return _finish(call(x, axes_of(axis, x.ndim, name), keepdims), out, "unsafe", name)
    return _named(function, name, doc)


all = _truth("all", True, """Whether all elements over axes (None: all) are other than 0.

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a.
    Dtypes: numbers and bool; the result is bool, True for no element. Elements where the mask `where` is False do not
    count.
    Errors: AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.all([[True, False], [True, True]], axis=1)
    array([False,  True])
    """)
any = _truth("any", False, """Whether any element over axes (None: all) is other than 0.

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a.
    Dtypes: numbers and bool; the result is bool, False for no element. Elements where the mask `where` is False do not
    count.
    Errors: AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.any([[0, 0], [0, 2]], axis=1)
    array([False,  True])
    """)


# -- means and variances ---------------------------------------------------------------------------------------------

_mean, _var, _std = _op("mean"), _op("var"), _op("std")


def _averaged(x, dtype):
    """x in the dtype that its mean is computed in: integers and bools become float64 where no other is asked for."""
    if dtype is None:
        return _cast(x, _float64) if x.dtype.kind in "biu" else x
    dtype = _dtypes.of(dtype)
    return _cast(_cast(x, dtype), _float64) if dtype.kind in "biu" else _cast(x, dtype)


def _in_dtype(result, dtype):
    """A result in the dtype asked for, which integer dtypes are not computed in."""
    return result if dtype is None else _cast(result, _dtypes.of(dtype))


def _mean_of_chosen(x, axes, keepdims, where, name):
    """The mean of the elements that a mask chooses; NaN for none."""
    wide = _cast(x, _float32) if x.dtype.kind == "f" and x.dtype.bits < 32 else x
    total = _op("sum")(masked(wide, where, 0, name), axes, keepdims, 0)
    count = _op("sum")(mask_of(where, x.shape, name), axes, keepdims, 0)
    return _cast(_op("true_divide")(total, _cast(count, total.dtype)), x.dtype)


@_explained
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True, **wrong):
    """Arithmetic mean over axes (None: all).

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a.
    Dtypes: numbers; integers and bool give float64, others their own; dtype: each element is cast to it first.
    The mean of no element is NaN, without a warning. Elements where the mask `where` is False do not count.
    Errors: AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.mean(nd4c.asarray([[1, 2], [3, 5]]), axis=0)
    array([2. , 3.5])
    """
    if wrong:
        raise _unexpected(mean, wrong)
    if type(a) is Array and dtype is None and out is None and where is True:
        try:
            return _mean(_cast(a, _float64) if a.dtype.kind in "biu" else a, _axes(axis), keepdims)
        except _REFUSED:
            pass
    x = _averaged(_as_array(a, "mean"), dtype)
    axes = _normalize_axes(axis, x.ndim, "mean")
    result = _mean(x, axes, keepdims) if where is True else _mean_of_chosen(x, axes, keepdims, where, "mean")
    return _finish(_in_dtype(result, dtype), out, "unsafe", "mean")


def _variance(name, call, a, axis, dtype, out, ddof, keepdims, where, given, correction):
    """var and std, in the general case."""
    if correction is not None:
        if ddof != 0:
            raise ValueError("%s: ddof and correction can't be provided simultaneously: they are one argument" % name)
        ddof = correction
    x = _averaged(_as_array(a, name), dtype)
    axes = _normalize_axes(axis, x.ndim, name)
    casting = "unsafe" if name == "var" else "same_kind"
    if where is True and given is None:
        return _finish(_in_dtype(call(x, axes, keepdims, float(ddof)), dtype), out, casting, name)
    wide = _cast(x, _float32) if x.dtype.kind == "f" and x.dtype.bits < 32 else x
    if given is None:
        given = _mean_of_chosen(wide, axes, True, where, name)
    distance = _op("subtract")(wide, _as_array(given, name))
    if distance.dtype.kind == "c":
        distance = _op("abs")(distance)
    square = _op("square")(distance)
    count = _count(x, axes)
    if where is not True:
        square = masked(square, where, 0, name)
        count = _op("sum")(mask_of(where, x.shape, name), axes, keepdims, 0)
    total = _op("sum")(square, axes, keepdims, 0)
    divisor = _op("maximum")(_cast(asarray(count), total.dtype) - ddof, asarray(0, dtype=total.dtype))
    result = _op("true_divide")(total, divisor)
    result = _op("sqrt")(result) if name == "std" else result
    result = _cast(result, x.dtype) if x.dtype.kind == "f" else result
    return _finish(_in_dtype(result, dtype), out, casting, name)


@_explained
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None, **wrong):
    """Variance over axes (None: all): the mean of |a - mean|**2, divided by the number of elements minus ddof.

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims; where broadcasts to a; a mean
    that the caller already has is given with its axes kept. correction is the standard's name of ddof.
    Dtypes: numbers; integers and bool give float64, complex numbers the floats of their parts, others their own.
    Where the divisor is 0 the result is NaN (infinite if the sum is not 0).
    Errors: ValueError for both ddof and correction; AxisError if an axis is out of range; TypeError for strings.

    >>> nd4c.var([1, 2, 3, 4])
    array(1.25)
    >>> nd4c.var([1.0, 2.0, 4.0], ddof=1)
    array(2.33333333)
    """
    if wrong:
        raise _unexpected(var, wrong)
    if type(a) is Array and dtype is None and out is None and where is True and mean is None and (
            correction is None or ddof == 0):
        try:
            return _var(_cast(a, _float64) if a.dtype.kind in "biu" else a, _axes(axis), keepdims,
                        float(ddof if correction is None else correction))
        except _REFUSED:
            pass
    return _variance("var", _var, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@_explained
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None, **wrong):
    """Standard deviation over axes (None: all): the square root of the variance.

    As nd4c.var for shapes, dtypes, arguments and errors.

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; integers give float64.
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> nd4c.std([1, 2, 3, 4])
    array(1.11803399)
    >>> nd4c.std([[1.0, 3.0], [2.0, 2.0]], axis=1, ddof=1)
    array([1.41421356, 0.        ])
    """
    if wrong:
        raise _unexpected(std, wrong)
    if type(a) is Array and dtype is None and out is None and where is True and mean is None and (
            correction is None or ddof == 0):
        try:
            return _std(_cast(a, _float64) if a.dtype.kind in "biu" else a, _axes(axis), keepdims,
                        float(ddof if correction is None else correction))
        except _REFUSED:
            pass
    return _variance("std", _std, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


# -- running sums and differences ------------------------------------------------------------------------------------

def _with_first(x, axis, value):
    """x with one element more along an axis, which comes first."""
    shape = x.shape[:axis] + (1,) + x.shape[axis + 1:]
    return _op("concat")([broadcast_to(asarray(int(value), dtype=x.dtype), shape), x], axis)


def _running(name, extreme, doc):
    """extreme: the running extremum that is the function of bools."""
    call = _op(name)

    def function(x, /, *, axis=None, dtype=None, out=None, include_initial=False, **wrong):
        if wrong:
            raise _unexpected(function, wrong)
        x = _as_array(x, name)
        if axis is None:
            if x.ndim > 1:
                raise ValueError("%s: an array of the shape %s needs an axis" % (name, x.shape))
            axis = 0
            if not x.ndim:
                x = _op("reshape")(x, (1,))
        elif not 0 <= axis < x.ndim:
            axis = _normalize_axis(axis, x.ndim, name)
        if dtype is None:
            dtype = _dtype_of_out(x, out, name)
        if dtype is not None and _dtypes.of(dtype) is _bool:
            bits = _op(extreme)(_cast(_cast(x, _bool), _uint8), axis)[0]
            result = _cast(_with_first(bits, axis, extreme == "cumulative_min") if include_initial else bits, _bool)
        else:
            result = call(x, axis, False, False, include_initial, _number(dtype))
        return _finish(result, out, "unsafe", name)
    return _named(function, name, doc)


cumulative_sum = _running("cumulative_sum", "cumulative_max", """Sums of the elements up to each one along an axis.

    Shapes: that of x; an array of one axis need not name it; include_initial: one element longer, a 0 first.
    Dtypes: numbers; bool and small integers sum as int64 (uint64). dtype: each element is cast to it first.
    Errors: ValueError if x has several axes and none is named; AxisError if the axis is out of range; TypeError for
    strings.
    NumPy's cumsum flattens x instead.

    >>> nd4c.cumulative_sum([1, 2, 3])
    array([1, 3, 6])
    >>> nd4c.cumulative_sum([1, 2, 3], include_initial=True)
    array([0, 1, 3, 6])
    """)
cumulative_prod = _running("cumulative_prod", "cumulative_min", """Products of the elements up to each one along an axis.

    Shapes: that of x; an array of one axis need not name it; include_initial: one element longer, a 1 first.
    Dtypes: numbers; bool and small integers multiply as int64 (uint64). dtype: each element is cast to it first.
    Errors: ValueError if x has several axes and none is named; AxisError if the axis is out of range; TypeError for
    strings.
    NumPy's cumprod flattens x instead.

    >>> nd4c.cumulative_prod([1, 2, 3])
    array([1, 2, 6])
    """)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times.

    Shapes: a of at least one axis; the axis becomes n shorter, but not shorter than 0. prepend and append are joined to
    a first: numbers, or arrays of a's other extents.
    Dtypes: numbers; bools give whether neighbours differ; unsigned integers wrap.
    Errors: ValueError for n < 0 or a 0-d array; AxisError if the axis is out of range; TypeError for strings.

    >>> nd4c.diff([1, 2, 4, 7])
    array([1, 2, 3])
    >>> nd4c.diff([1, 2, 4, 7], n=2)
    array([1, 1])
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError("diff: n is %d; it counts how often differences are taken" % n)
    x = _as_array(a, "diff")
    if not x.ndim:
        raise ValueError("diff: an array without axes has no neighbours; it needs at least one axis")
    axis = _normalize_axis(axis, x.ndim, "diff")
    joined = [_as_array(edge, "diff") for edge in (prepend, append) if edge is not None]
    if joined:
        edge_shape = x.shape[:axis] + (1,) + x.shape[axis + 1:]
        dtype = result_type(x, *joined)
        edges = [edge if edge.ndim else broadcast_to(edge, edge_shape) for edge in joined]
        for edge in edges:
            if edge.ndim != x.ndim or edge.shape[:axis] + edge.shape[axis + 1:] != x.shape[:axis] + x.shape[axis + 1:]:
                raise ValueError("diff: prepend and append need the array's extents but for axis %d: %s and %s"
                                 % (axis, edge.shape, x.shape))
        parts = edges[:1] * (prepend is not None) + [x] + edges[-1:] * (append is not None)
        x = _op("concat")([_cast(part, dtype) for part in parts], axis)
    if x.dtype.kind == "U":
        return _op("diff")(x, None, None, axis, n)  # which says why texts have no differences
    difference = _op("not_equal" if x.dtype.kind == "b" else "subtract")
    before = (slice(None),) * axis
    for _ in range(_builtins.min(n, x.shape[axis])):  # the op diff computes one element at a time, subtract whole rows
        x = difference(x[before + (slice(1, None),)], x[before + (slice(None, -1),)])
    return x

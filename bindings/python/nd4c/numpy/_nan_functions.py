"""NumPy's reductions that leave NaN out. What they reduce is ordinary: the sums of an array with 0 where it is NaN, the
extrema with an infinity there. Nothing warns: what has no element but NaN gives NaN."""
from nd4c import _dtypes
from nd4c._arguments import axes as _axes
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.reductions import (
    axes_of, cumulative_prod, cumulative_sum, mask_of, max as _max, mean as _mean, min as _min, prod, std, sum as _sum,
    var)
from nd4c._functions.sorting import argmax, argmin
from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected
from nd4c._functions.support import (
    as_array as _as_array, cast as _cast, finish as _finish, normalize_axis as _normalize_axis, op as _op,
    output as _output)
from nd4c.numpy._quantiles import median_of, quantiles
from nd4c.numpy._running import running

__all__ = ["nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
           "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar"]

_float64 = _dtypes.DEFAULTS[float]


def _replaced(x, number):
    """x with a number where it is NaN."""
    if x.dtype.kind not in "fc":
        return x
    return _op("where")(_op("is_nan")(x), asarray(number, dtype=x.dtype), x)


def _plain(name, a, axis, keepdims, where, *others):
    """The op of this name at once, where the arguments are what it takes; else None."""
    if type(a) is Array and a.dtype.kind == "f" and where is True and all(one is None for one in others):
        try:
            return _op(name)(a, _axes(axis), keepdims)
        except (IndexError, TypeError):
            pass
    return None


# -- sums ------------------------------------------------------------------------------------------------------------

@_explained
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, **wrong):
    """Sum over axes (None: all) in which NaN counts as 0.

    As nd4c.sum for shapes, dtypes, arguments and errors.

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; sums and products of bool and small integers are int64 (uint64).
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nansum([1, np.nan, 2])
    array(3.)
    """
    if wrong:
        raise _unexpected(nansum, wrong)
    result = _plain("nansum", a, axis, keepdims, where, dtype, out, initial)
    if result is not None:
        return result
    x = _as_array(a, "nansum")
    return _sum(_replaced(x, 0), axes_of(axis, x.ndim, "nansum"), dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Product over axes (None: all) in which NaN counts as 1.

    As nd4c.prod for shapes, dtypes, arguments and errors.

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; sums and products of bool and small integers are int64 (uint64).
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nanprod([3, np.nan, 2])
    array(6.)
    """
    result = _plain("nanprod", a, axis, keepdims, where, dtype, out, initial)
    if result is not None:
        return result
    x = _as_array(a, "nanprod")
    return prod(_replaced(x, 1), axes_of(axis, x.ndim, "nanprod"), dtype, out, keepdims, initial, where)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Sums of the elements up to each one along an axis (None: of a flattened), in which NaN counts as 0.

    As np.cumsum for shapes, dtypes, arguments and errors.

    Shapes: any; the result has the same, or one axis without `axis`.
    Dtypes: numbers; bool and small integers give int64 (uint64).
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nancumsum([1, np.nan, 2])
    array([1., 1., 3.])
    """
    return running(cumulative_sum, "nancumsum", _replaced(_as_array(a, "nancumsum"), 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Products of the elements up to each one along an axis (None: of a flattened), in which NaN counts as 1.

    As np.cumprod for shapes, dtypes, arguments and errors.

    Shapes: any; the result has the same, or one axis without `axis`.
    Dtypes: numbers; bool and small integers give int64 (uint64).
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nancumprod([3, np.nan, 2])
    array([3., 3., 6.])
    """
    return running(cumulative_prod, "nancumprod", _replaced(_as_array(a, "nancumprod"), 1), axis, dtype, out)


# -- extrema ---------------------------------------------------------------------------------------------------------

def _extreme(name, reduce, beyond, a, axis, out, keepdims, initial, where):
    """nanmax and nanmin: `beyond` is the infinity that never wins."""
    result = _plain(name, a, axis, keepdims, where, out, initial)
    if result is not None:
        return result
    x = _as_array(a, name)
    axis = axes_of(axis, x.ndim, name)
    if x.dtype.kind not in "fc":
        return reduce(x, axis, out, keepdims, initial, where)
    unknown = _op("is_nan")(x)
    result = reduce(_replaced(x, beyond), axis, None, keepdims, initial, where)
    if where is not True:
        unknown = _op("logical_or")(unknown, _op("logical_not")(mask_of(where, x.shape, name)))
    lost = _op("all")(unknown, axis, keepdims)
    if initial is None:
        result = _op("where")(lost, asarray(float("nan"), dtype=result.dtype), result)
    return _finish(result, out, "unsafe", name)


@_explained
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True, **wrong):
    """Largest element over axes (None: all) that is not NaN; NaN if there is no other.

    As nd4c.max for shapes, dtypes, arguments and errors.

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; sums and products of bool and small integers are int64 (uint64).
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nanmax([[1, np.nan], [3, 2]], axis=0)
    array([3., 2.])
    """
    if wrong:
        raise _unexpected(nanmax, wrong)
    return _extreme("nanmax", _max, float("-inf"), a, axis, out, keepdims, initial, where)


@_explained
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True, **wrong):
    """Smallest element over axes (None: all) that is not NaN; NaN if there is no other.

    As nd4c.min for shapes, dtypes, arguments and errors.

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; sums and products of bool and small integers are int64 (uint64).
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nanmin([[1, np.nan], [3, 2]], axis=0)
    array([1., 2.])
    """
    if wrong:
        raise _unexpected(nanmin, wrong)
    return _extreme("nanmin", _min, float("inf"), a, axis, out, keepdims, initial, where)


def _place(name, find, beyond, a, axis, out, keepdims):
    """nanargmax and nanargmin: `beyond` is the infinity that wins only over NaN, which is refused."""
    x = _as_array(a, name)
    place = None if axis is None else _normalize_axis(axis, x.ndim, name)
    if not (x.size if place is None else x.shape[place]):
        raise ValueError("%s: attempt to get %s of an empty sequence" % (name, name[3:]))
    if x.dtype.kind in "fc":
        unknown = _op("is_nan")(x)
        if x.size and _op("any")(_op("all")(unknown, None if place is None else (place,), False), None, False):
            raise ValueError("%s: All-NaN slice encountered; it has no %s" % (name, name[6:]))
        x = _op("where")(unknown, asarray(beyond, dtype=x.dtype), x)
    return find(x, place, out, keepdims=keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Index of the first largest element along an axis (None: in a flattened) that is not NaN.

    As nd4c.argmax for shapes, dtypes, arguments and errors; ValueError where all elements are NaN.

    Shapes: any; the result without the axis, or with length 1 if keepdims.
    Dtypes: real numbers; the result is int64.

    >>> np.nanargmax([1, np.nan, 2])
    array(2)
    """
    return _place("nanargmax", argmax, float("-inf"), a, axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Index of the first smallest element along an axis (None: in a flattened) that is not NaN.

    As nd4c.argmin for shapes, dtypes, arguments and errors; ValueError where all elements are NaN.

    Shapes: any; the result without the axis, or with length 1 if keepdims.
    Dtypes: real numbers; the result is int64.

    >>> np.nanargmin([np.nan, 3, 2])
    array(2)
    """
    return _place("nanargmin", argmin, float("inf"), a, axis, out, keepdims)


# -- means -----------------------------------------------------------------------------------------------------------

def _known(x, where, name):
    """The mask of the elements that count."""
    known = _op("logical_not")(_op("is_nan")(x))
    return known if where is True else _op("logical_and")(known, mask_of(where, x.shape, name))


def _check_dtypes(name, x, dtype, out):
    """Means of numbers with NaN have no integer dtype, as in NumPy."""
    if x.dtype.kind not in "fc":
        return
    if dtype is not None and _dtypes.of(dtype).kind not in "fc":
        raise TypeError("%s: dtype must be inexact for an array of %s, not %s"
                        % (name, x.dtype.name, _dtypes.of(dtype).name))
    into = _output(out, name)
    if into is not None and into.dtype.kind not in "fc":
        raise TypeError("%s: out must be inexact for an array of %s, not %s" % (name, x.dtype.name, into.dtype.name))


@_explained
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True, **wrong):
    """Arithmetic mean over axes (None: all) of the elements that are not NaN; NaN if there are none.

    As nd4c.mean for shapes, dtypes, arguments and errors; floats have no integer dtype or out (TypeError).

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; integers give float64.
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nanmean([[1, np.nan], [3, 2]], axis=1)
    array([1. , 2.5])
    """
    if wrong:
        raise _unexpected(nanmean, wrong)
    result = _plain("nanmean", a, axis, keepdims, where, dtype, out)
    if result is not None:
        return result
    x = _as_array(a, "nanmean")
    axis = axes_of(axis, x.ndim, "nanmean")
    _check_dtypes("nanmean", x, dtype, out)
    if x.dtype.kind in "fc":
        where = _known(x, where, "nanmean")
    return _mean(x, axis, dtype, out, keepdims, where=where)


def _spread(name, reduce, a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    """nanvar and nanstd; as NumPy says, a divisor that is not positive gives NaN."""
    x = _as_array(a, name)
    axis = axes_of(axis, x.ndim, name)
    _check_dtypes(name, x, dtype, out)
    if x.dtype.kind not in "fc":
        return reduce(x, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if x.dtype.kind == "f" and dtype is None and mean is None and where is True and (correction is None or ddof == 0):
        result = _op(name)(x, axis, keepdims, float(ddof if correction is None else correction))
    else:
        result = reduce(x, axis, dtype, None, ddof, keepdims,
                        where=_known(x, where, name), mean=mean, correction=correction)
    if ddof == 0 and not correction:
        return _finish(result, out, "unsafe", name)
    count = _op("count_nonzero")(_known(x, where, name), axis, keepdims)
    few = _op("less_equal")(_cast(count, _float64), asarray(float(ddof if correction is None else correction)))
    return _finish(_op("where")(few, asarray(float("nan"), dtype=result.dtype), result), out, "unsafe", name)


@_explained
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None,
           **wrong):
    """Variance over axes (None: all) of the elements that are not NaN; NaN if there are not more than ddof.

    As nd4c.var for shapes, dtypes, arguments and errors; floats have no integer dtype or out (TypeError).

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; integers give float64.
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nanvar([1, np.nan, 3])
    array(1.)
    """
    if wrong:
        raise _unexpected(nanvar, wrong)
    return _spread("nanvar", var, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@_explained
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None,
           **wrong):
    """Standard deviation over axes (None: all) of the elements that are not NaN; NaN if there are not more than ddof.

    As nd4c.var for shapes, dtypes, arguments and errors; floats have no integer dtype or out (TypeError).

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; integers give float64.
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nanstd([1, np.nan, 3])
    array(1.)
    """
    if wrong:
        raise _unexpected(nanstd, wrong)
    return _spread("nanstd", std, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


# -- middles ---------------------------------------------------------------------------------------------------------

@_explained
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False, **wrong):
    """Median over axes (None: all) of the elements that are not NaN; NaN if there are none.

    As np.median for shapes, dtypes, arguments and errors.

    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; integers give float64.
    Errors: AxisError for an axis out of range; TypeError for texts.

    >>> np.nanmedian([[10, np.nan, 4], [3, 2, 1]], axis=1)
    array([7., 2.])
    """
    if wrong:
        raise _unexpected(nanmedian, wrong)
    return median_of("nanmedian", a, axis, out, keepdims)


@_explained
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None,
                **wrong):
    """Quantiles over axes (None: all) of the elements that are not NaN; NaN if there are none.

    As np.quantile for shapes, dtypes, arguments and errors.

    Shapes: any; the result has q's axes, then those of a without the reduced ones.
    Dtypes: real numbers; integers give float64.
    Errors: ValueError for a q out of its range or an unknown method; AxisError for an axis out of range.

    >>> np.nanquantile([10, np.nan, 4, 7], 0.5)
    array(7.)
    """
    if wrong:
        raise _unexpected(nanquantile, wrong)
    return quantiles("nanquantile", a, q, 1, axis, out, method, keepdims, weights, True)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """Percentiles over axes (None: all) of the elements that are not NaN; NaN if there are none.

    As np.quantile for shapes, dtypes, arguments and errors; q counts to 100.

    Shapes: any; the result has q's axes, then those of a without the reduced ones.
    Dtypes: real numbers; integers give float64.
    Errors: ValueError for a q out of its range or an unknown method; AxisError for an axis out of range.

    >>> np.nanpercentile([10, np.nan, 4, 7], 50)
    array(7.)
    """
    return quantiles("nanpercentile", a, q, 100, axis, out, method, keepdims, weights, True)

"""Quantiles, percentiles and medians, with and without NaN: what _statistics.py and _nan_functions.py offer.

All are computed from the sorted axis: a method says which place, possibly between two elements, a quantile has among
n."""
from nd4c import _dtypes
from nd4c._abi import TABLES as _TABLES
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.dtypes import result_type
from nd4c._functions.manipulation import broadcast_to
from nd4c._functions.reductions import axes_of, last_axis
from nd4c._functions.support import as_array as _as_array, cast as _cast, finish as _finish, op as _op
from nd4c._symbols import Symbol

_float64, _int64, _uint8 = _dtypes.DEFAULTS[float], _dtypes.DEFAULTS[int], _dtypes.by_name["uint8"]
_LINEAR = {row[2]: row[1] for row in _TABLES["QUANTILE_METHOD"]}["linear"]


# -- methods: the place of the quantiles q among n sorted elements, counted from 0 -----------------------------------

def _between(alpha, beta):
    """The continuous methods of Hyndman and Fan: places are linear in q, with two plotting parameters."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _inverted_cdf(n, q):
    return _op("ceil")(n * q - 1)


def _averaged_inverted_cdf(n, q):
    place = n * q - 1
    below = _op("floor")(place)
    return _op("where")(_op("equal")(place, below), below + 0.5, below + 1)


def _closest_observation(n, q):
    place = n * q - 1.5
    below = _op("floor")(place)
    whole = _op("equal")(place, below)
    even = _op("equal")(_op("remainder")(below, asarray(2.0)), asarray(1.0))
    return _op("where")(_op("logical_and")(whole, even), below, below + 1)


def _midpoint(n, q):
    place = (n - 1) * q
    return (_op("floor")(place) + _op("ceil")(place)) * 0.5


_DISCRETE = {
    "inverted_cdf": _inverted_cdf,
    "closest_observation": _closest_observation,
    "lower": lambda n, q: _op("floor")((n - 1) * q),
    "higher": lambda n, q: _op("ceil")((n - 1) * q),
    "nearest": lambda n, q: _op("round")((n - 1) * q),
}
_CONTINUOUS = {
    "averaged_inverted_cdf": _averaged_inverted_cdf,
    "interpolated_inverted_cdf": _between(0.0, 1.0),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0.0, 0.0),
    "linear": lambda n, q: (n - 1) * q,
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
    "midpoint": _midpoint,
}


# -- arguments -------------------------------------------------------------------------------------------------------

def quantiles(name, a, q, scale, axis, out, method, keepdims, weights, skips_nan):
    """quantile, percentile and their nan forms: `scale` is what q counts to, 1 or 100."""
    if type(a) is Array and method == "linear" and weights is None and not skips_nan:
        found = _linear_at_once(name, a, q, scale, axis, keepdims)
        if found is not None:
            return _finish(found, out, "unsafe", name, grows=True)
    x = _as_array(a, name)
    if x.dtype.kind not in "biuf":
        raise TypeError("%s: a must be an array of real numbers, not %s" % (name, x.dtype.name))
    if method not in _CONTINUOUS and method not in _DISCRETE:
        raise ValueError("%s: method is %r; it may be one of %s"
                         % (name, method, ", ".join(sorted({**_DISCRETE, **_CONTINUOUS}))))
    wanted = x.dtype if type(q) in (int, float) and x.dtype.kind == "f" else None
    q = _as_array(q, name)
    if q.ndim > 2:
        raise ValueError("%s: q has the shape %s; it must be a scalar or 1d" % (name, q.shape))
    if q.dtype.kind not in "biuf":
        raise TypeError("%s: q holds real numbers, not %s" % (name, q.dtype.name))
    if wanted is None:
        divided = scale == 100 and x.dtype.kind == "f"
        wanted = q.dtype if q.dtype.kind == "f" else result_type(q, x) if divided else _float64
    places = _cast(q, _float64) / scale if scale != 1 else _cast(q, _float64)
    if not _within_unit(places):
        raise ValueError("%s: %s must be in the range [0, %d]"
                         % (name, "Quantiles" if scale == 1 else "Percentiles", scale))
    axes = axes_of(axis, x.ndim, name)
    rows, shape = last_axis(x, axes, keepdims)
    flat = _op("reshape")(places, (places.size,))
    if method == "linear" and scale == 1 and q.dtype.kind != "f":
        method = "lower"  # whole shares, 0 and 1, choose elements, which keep their dtype
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError("%s: Only method 'inverted_cdf' supports weights, not %r" % (name, method))
        found = _weighted(name, rows, _cast(flat, wanted), _weights_of(name, x, weights, axis, axes), skips_nan)
    else:
        found = _unweighted(rows, flat, method, wanted, skips_nan)
    found = _op("moveaxis")(found, (-1,), (0,)) if found.ndim > 1 else found
    return _finish(_op("reshape")(found, places.shape + shape), out, "unsafe", name, grows=True)


def _linear_at_once(name, x, q, scale, axis, keepdims):
    """What one op computes: results of float64 for plain numbers q within their range; None for all else."""
    given = q if type(q) in (list, tuple) else (q,)
    for one in given:
        if not (type(one) is float or type(one) is int and scale == 100) or not 0 <= one <= scale:
            return None
    axes = axes_of(axis, x.ndim, name)
    if not given or not x.size or (x.ndim and not axes) or not (x.dtype is _float64 or x.dtype.kind in "iu"):
        return None
    found = _op("quantile")(x, axes, keepdims, tuple([one / scale for one in given]), _LINEAR)
    return found if given is q else _op("reshape")(found, found.shape[1:])


def _within_unit(q):
    if type(q) is Symbol or not q.size:
        return True
    return float(_op("min")(q, None, False)) >= 0 and float(_op("max")(q, None, False)) <= 1


# -- without weights -------------------------------------------------------------------------------------------------

def _unweighted(rows, q, method, q_dtype, skips_nan):
    """Quantiles along the last axis, which becomes that of q."""
    n = rows.shape[-1]
    if rows.dtype.kind == "b" and method in _CONTINUOUS:
        raise TypeError("quantile: bools have no elements between them; use a method such as 'lower', or cast to uint8")
    if not n:
        dtype = rows.dtype if rows.dtype.kind == "f" else _float64
        return _op("full")(asarray(float("nan"), dtype=dtype), rows.shape[:-1] + (q.size,))
    rows = _op("sort")(rows, -1, False)
    unknown = count = None
    if rows.dtype.kind == "f":
        if skips_nan:
            known = _op("count_nonzero")(_op("logical_not")(_op("is_nan")(rows)), (-1,), True)
            unknown, count = _op("equal")(known, asarray(0)), _cast(known, _float64)
        else:
            unknown = _op("is_nan")(rows[..., -1:])
    continuous = method in _CONTINUOUS
    picked = _interpolated(rows, q, count, method, q_dtype) if continuous else _chosen(rows, q, count, method)
    if unknown is None or (type(unknown) is not Symbol and not _op("any")(unknown, None, False)):
        return picked
    return _op("where")(unknown, asarray(float("nan"), dtype=picked.dtype), picked)


def _limits(rows, count):
    """The number of elements, and the last place: of the axis, or of each row's elements that are not NaN."""
    if count is None:
        n = int(rows.shape[-1])
        return n, asarray(float(n - 1))
    return count, _op("maximum")(count - 1, asarray(0.0))


def _clamped(place, last):
    return _cast(_op("minimum")(_op("maximum")(place, asarray(0.0)), last), _int64)


def _picked(rows, places):
    """Elements of the last axis at places of shape (k,), or of one row of places for each row."""
    if places.ndim == 1:
        return _op("take")(rows, places, (-1,), 0)
    return _op("take_along_axis")(rows, places, -1)


def _chosen(rows, q, count, method):
    n, last = _limits(rows, count)
    return _picked(rows, _clamped(_DISCRETE[method](n, q), last))


def _interpolated(rows, q, count, method, q_dtype):
    n, last = _limits(rows, count)
    place = _op("minimum")(_op("maximum")(_CONTINUOUS[method](n, q), asarray(0.0)), last)
    below = _op("floor")(place)
    share = _cast(place - below, q_dtype)
    low, high = _picked(rows, _cast(below, _int64)), _picked(rows, _clamped(below + 1, last))
    return _lerp(low, high, share)


def _lerp(low, high, share):
    """low + share (high - low), computed from the nearer end, so that it never leaves the interval."""
    dtype = result_type(low, share)
    low, high, share = _cast(low, dtype), _cast(high, dtype), _cast(share, dtype)
    distance = high - low
    left = _op("less")(share, asarray(0.5, dtype=dtype))
    near = _op("where")(left, low + distance * share, high - distance * (1 - share))
    return _op("where")(_op("equal")(low, high), low, near)  # infinite neighbours have no distance


# -- with weights ----------------------------------------------------------------------------------------------------

def _weights_of(name, x, weights, axis, axes):
    """Weights for each element of the rows."""
    w = _as_array(weights, name)
    if w.dtype.kind not in "biuf":
        raise TypeError("%s: weights are real numbers, not %s" % (name, w.dtype.name))
    w = beside_axes(name, w, x, axis, axes)
    if type(w) is not Symbol and w.size and float(_op("min")(_cast(w, _float64), None, False)) < 0:
        raise ValueError("%s: Weights must be non-negative" % name)
    return last_axis(_cast(w, w.dtype if w.dtype.kind == "f" else _float64), axes)[0]


def beside_axes(name, w, x, axis, axes):
    """Weights of the shape of x, or of the extents of the axes named, as an array of x's shape."""
    if w.shape == x.shape:
        return w
    if axis is None:
        raise TypeError("%s: Axis must be specified when shapes of a and weights differ: %s and %s"
                        % (name, x.shape, w.shape))
    if w.shape != tuple([x.shape[one] for one in axes]):
        raise ValueError("%s: Shape of weights must be consistent with shape of a along specified axis: %s and %s"
                         % (name, w.shape, tuple([x.shape[one] for one in axes])))
    order = sorted(range(len(axes)), key=lambda place: axes[place])
    w = _op("transpose")(w, tuple(order)) if len(order) > 1 else w
    shape = tuple([extent if one in axes else 1 for one, extent in enumerate(x.shape)])
    return broadcast_to(_op("reshape")(w, shape), x.shape)


def _weighted(name, rows, q, weights, skips_nan):
    """The first elements at which the sums of sorted weights reach the share q of all."""
    order = _op("argsort")(rows, -1, False)
    rows, w = _op("take_along_axis")(rows, order, -1), _op("take_along_axis")(weights, order, -1)
    unknown = _op("is_nan")(rows) if rows.dtype.kind == "f" else None
    if unknown is not None and skips_nan:
        w = _op("where")(unknown, asarray(0.0, dtype=w.dtype), w)
    sums = _op("cumulative_sum")(w, -1, False, False, False, 0)
    total = sums[..., -1:]
    lost = _op("all")(unknown, (-1,), True) if unknown is not None and skips_nan else None
    usable = _op("logical_and")(_op("is_finite")(total), _op("not_equal")(total, asarray(0.0, dtype=total.dtype)))
    usable = _op("all")(usable if lost is None else _op("logical_or")(usable, lost), None, False)
    if type(usable) is not Symbol and not usable:
        raise ValueError("%s: Weights included NaN, inf or were all zero" % name)
    shares = sums / total
    shares = _cast(shares, q.dtype)  # 0.4 in float64 is more than 0.4 in float32
    nothing, before = [asarray(number, dtype=shares.dtype) for number in (0.0, -1.0)]
    shares = _op("where")(_op("equal")(shares, nothing), before, shares)  # what weighs nothing is no quantile
    places = [_op("count_nonzero")(_op("less")(shares, q[i]), (-1,), True) for i in range(q.size)]
    if not places:
        return _op("take")(rows, _cast(q, _int64), (-1,), 0)
    found = _op("take_along_axis")(rows, _clamped(_cast(_op("concat")(places, -1), _float64),
                                                  asarray(float(rows.shape[-1] - 1))), -1)
    if unknown is None:
        return found
    unknown = lost if skips_nan else unknown[..., -1:]
    return _op("where")(unknown, asarray(float("nan"), dtype=found.dtype), found)


# -- medians ---------------------------------------------------------------------------------------------------------

def median_of(name, a, axis, out, keepdims):
    """median and nanmedian: `name` is that of the op, too."""
    if type(a) is Array and out is None and a.dtype.kind == "f" and a.size:
        try:
            return _op(name)(a, None if axis is None else axes_of(axis, a.ndim, name), keepdims)
        except IndexError:
            pass
    x = _as_array(a, name)
    axes = axes_of(axis, x.ndim, name)
    rows, shape = last_axis(x, axes, keepdims)
    if not rows.shape[-1]:
        dtype = x.dtype if x.dtype.kind in "fc" else _float64
        result = _op("full")(asarray(float("nan"), dtype=dtype), shape)
    elif x.dtype.kind == "c":
        result = _op("reshape")(_middle_of_complex(rows, name == "nanmedian"), shape)
    else:
        rows = _cast(rows, _uint8) if x.dtype.kind == "b" else rows
        result = _op("reshape")(_op(name if x.dtype.kind == "f" else "median")(rows, (-1,), False), shape)
    return _finish(result, out, "unsafe", name)


def _middle_of_complex(rows, skips_nan):
    """The mean of the two elements in the middle of the sorted rows."""
    rows = _op("sort")(rows, -1, False)
    unknown = _op("is_nan")(rows)
    if skips_nan:
        n = _op("count_nonzero")(_op("logical_not")(unknown), (-1,), True)
    else:
        n = broadcast_to(asarray(rows.shape[-1]), rows.shape[:-1] + (1,))
    two = asarray(2)
    low = _op("maximum")(_op("floor_divide")(n - 1, two), asarray(0))
    pair = _op("take_along_axis")(rows, _op("concat")([low, _op("floor_divide")(n, two)], -1), -1)
    middle = _op("mean")(pair, (-1,), False)
    return middle if skips_nan else _op("where")(unknown[..., -1], rows[..., -1], middle)

"""Sums, means, extrema and their like over axes, and running sums."""
from nd4c import _dtypes
from nd4c._arguments import axes as _axes
from nd4c._dtype_functions import astype
from nd4c._support import array as _array, number as _number, op as _op


def _reduced(name):
    def function(x, /, *, axis=None, keepdims=False):
        return _op(name)(x, _axes(axis), keepdims)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "The reduction %s over axes (None: all)." % name
    return function


max, min, all, any = _reduced("max"), _reduced("min"), _reduced("all"), _reduced("any")


def mean(x, /, *, axis=None, keepdims=False):
    """Arithmetic mean over axes (None: all)."""
    return _op("mean")(_averaged(x), _axes(axis), keepdims)


def _averaged(x):
    return astype(x, _dtypes.DEFAULTS[float]) if _array(x, "mean").dtype.kind in "biu" else x


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Variance over axes (None: all), divided by their number minus correction."""
    return _op("var")(_averaged(x), _axes(axis), keepdims, correction)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Standard deviation over axes (None: all)."""
    return _op("std")(_averaged(x), _axes(axis), keepdims, correction)


_sum, _prod = _op("sum"), _op("prod")


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """Sum over axes (None: all); small integers become (u)int64."""
    return _sum(x, None if axis is None else _axes(axis), keepdims, 0 if dtype is None else _number(dtype))


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """Product over axes (None: all); small integers become (u)int64."""
    return _prod(x, None if axis is None else _axes(axis), keepdims, 0 if dtype is None else _number(dtype))


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Sums of the first elements along an axis, which arrays of one axis need not name."""
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Products of the first elements along an axis, which arrays of one axis need not name."""
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial)


def _cumulative(name, x, axis, dtype, include_initial):
    if axis is None:
        if _array(x, name).ndim > 1:
            raise ValueError("%s: an array of the shape %s needs an axis" % (name, x.shape))
        axis = 0
        if not x.ndim:
            x = _op("reshape")(x, (1,))
    return _op(name)(x, axis, False, False, include_initial, _number(dtype))


def diff(x, /, n=1, *, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times."""
    return _op("diff")(x, prepend, append, axis, n)

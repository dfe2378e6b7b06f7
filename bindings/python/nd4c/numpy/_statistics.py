"""NumPy's statistics beyond the standard's: averages, medians, quantiles, covariances, counts. Its neighbours
_histograms.py and _running.py have the rest of the chapter."""
import builtins as _builtins
from operator import index as _index

from nd4c import _dtypes
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.dtypes import result_type
from nd4c._functions.reductions import axes_of, max as amax, min as amin
from nd4c._functions.sorting import searchsorted
from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected
from nd4c._functions.support import as_array as _as_array, cast as _cast, finish as _finish, op as _op
from nd4c._symbols import Symbol
from nd4c.numpy import _histograms, _running
from nd4c.numpy._quantiles import beside_axes, median_of, quantiles

__all__ = ["amax", "amin", "average", "bincount", "corrcoef", "cov", "digitize", "median", "percentile", "ptp",
           "quantile"]
for _module in (_histograms, _running):
    globals().update({_name: getattr(_module, _name) for _name in _module.__all__})
    __all__ += _module.__all__

_int64, _float64 = _dtypes.DEFAULTS[int], _dtypes.DEFAULTS[float]


# -- middles ---------------------------------------------------------------------------------------------------------

@_explained
def average(a, axis=None, weights=None, returned=False, *, keepdims=False, **wrong):
    """Weighted average over axes (None: all); returned: also the sum of the weights.

    Shapes: weights have a's shape, or the extents of the axes; the result is a without the axes, or with length 1 if
    keepdims.
    Dtypes: numbers; integers and bool give float64, others the dtype that a and weights share.
    Errors: ZeroDivisionError if weights sum to 0, except in a recorded function, which gives NaN or inf; TypeError if weights of another shape come without an axis;
    ValueError for weights that do not fit the axis; AxisError if an axis is out of range.

    >>> np.average([1, 2, 3], weights=[3, 1, 0])
    array(1.25)
    """
    if wrong:
        raise _unexpected(average, wrong)
    x = _as_array(a, "average")
    axes = axes_of(axis, x.ndim, "average")
    if weights is None:
        x = x if x.dtype.kind in "fc" else _cast(x, _float64)
        result = _op("mean")(x, axes, keepdims)
        total = _op("full")(asarray(x.size / _builtins.max(result.size, 1), dtype=result.dtype), result.shape)
        return (result, total) if returned else result
    w = _as_array(weights, "average")
    dtype = result_type(x, w, _float64) if x.dtype.kind in "biu" else result_type(x, w)
    w = beside_axes("average", _cast(w, dtype), x, axis, axes)
    total = _op("sum")(w, axes, keepdims, 0)
    if type(total) is not Symbol and _op("any")(_op("equal")(total, asarray(0, dtype=dtype)), None, False):
        raise ZeroDivisionError("average: weights sum to zero, so that the average cannot be normalized")
    result = _op("sum")(_cast(x, dtype) * w, axes, keepdims, 0) / total
    return (result, total) if returned else result


@_explained
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False, **wrong):
    """Median over axes (None: all): the middle of the sorted elements, of an even number the mean of two.

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; integers and bool give float64. NaN wins; the median of no element is NaN. a is never overwritten.
    Errors: AxisError if an axis is out of range; TypeError for strings.

    >>> np.median([[10, 7, 4], [3, 2, 1]], axis=1)
    array([7., 2.])
    """
    if wrong:
        raise _unexpected(median, wrong)
    return median_of("median", a, axis, out, keepdims)


@_explained
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None,
             **wrong):
    """Quantiles over axes (None: all): what the share q of the elements does not exceed.

    Shapes: q's shape, then a without the axes (with length 1 if keepdims). weights (only with method "inverted_cdf")
    have a's shape, or the extents of the axes.
    Dtypes: real numbers; integers give float64, floats their own. Methods that choose elements keep a's dtype. NaN
    wins.
    method: "linear" and NumPy's other twelve.
    Errors: ValueError for q outside of [0, 1] or another method; AxisError if an axis is out of range; TypeError for
    complex a.

    >>> np.quantile([1, 2, 3, 4], 0.5)
    array(2.5)
    >>> np.quantile([1, 2, 3, 4], [0, 0.4], method="nearest")
    array([1, 2])
    """
    if wrong:
        raise _unexpected(quantile, wrong)
    return quantiles("quantile", a, q, 1, axis, out, method, keepdims, weights, False)


@_explained
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None,
               **wrong):
    """Percentiles over axes (None: all): quantiles whose q counts to 100.

    As np.quantile for shapes, dtypes, arguments and errors.

    Shapes: any; the result has q's axes, then those of a without the reduced ones.
    Dtypes: real numbers; integers give float64.
    Errors: ValueError for a q out of its range or an unknown method; AxisError for an axis out of range.

    >>> np.percentile([[10, 7, 4], [3, 2, 1]], 50, axis=0)
    array([6.5, 4.5, 2.5])
    """
    if wrong:
        raise _unexpected(percentile, wrong)
    return quantiles("percentile", a, q, 100, axis, out, method, keepdims, weights, False)


@_explained
def ptp(a, axis=None, out=None, keepdims=False, **wrong):
    """Range over axes (None: all): the largest element minus the smallest ("peak to peak").

    Shapes: a of any shape; the result without the axes, or with length 1 if keepdims.
    Dtypes: numbers; that of a, in which signed integers may wrap. NaN wins.
    Errors: ValueError for an empty axis; AxisError if an axis is out of range; TypeError for bool and strings.

    >>> np.ptp([[4, 9, 2], [6, 9, 7]], axis=1)
    array([7, 3])
    """
    if wrong:
        raise _unexpected(ptp, wrong)
    x = _as_array(a, "ptp")
    if x.dtype.kind == "b":
        raise TypeError("ptp: bools have no difference; cast them to a number's dtype")
    if x.dtype.kind == "c":
        return _finish(amax(x, axis, None, keepdims) - amin(x, axis, None, keepdims), out, where="ptp")
    return _finish(_op("ptp")(x, axes_of(axis, x.ndim, "ptp"), keepdims), out, where="ptp")


# -- covariances -----------------------------------------------------------------------------------------------------

def _observations(name, m, y, rowvar, dtype):
    """The variables, a row each, of both arrays in a floating dtype."""
    given = [_as_array(one, name) for one in (m, y) if one is not None]
    for one, label in zip(given, "my"):
        if one.ndim > 2:
            raise ValueError("%s: %s has more than 2 dimensions: %s" % (name, label, one.shape))
    wanted = _dtypes.of(dtype) if dtype is not None else result_type(*given, _float64)
    tables = []
    for one in given:
        table = _op("reshape")(one, (1, one.size)) if one.ndim < 2 else one
        tables.append(_op("matrix_transpose")(table) if not rowvar and one.ndim == 2 else table)
    if len(tables) == 2 and not tables[0].size and tables[0].shape[0] == 0:
        tables = tables[1:]
    tables = [_cast(table, wanted) for table in tables]
    return tables[0] if len(tables) == 1 else _op("concat")(tables, 0)


def _sample_weights(name, w, count):
    w = _as_array(w, "cov")
    if w.ndim > 1:
        raise RuntimeError("cov: %s has the shape %s; it needs one axis" % (name, w.shape))
    if w.shape != (count,):
        raise RuntimeError("cov: there are %d observations, %s has the shape %s" % (count, name, w.shape))
    if count and float(_op("min")(_cast(w, _float64), None, False)) < 0:
        raise ValueError("cov: %s cannot be negative" % name)
    return w


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Covariance matrix of variables: the rows of m (columns if not rowvar), and those of y.

    Shapes: m and y of at most two axes; the result is square, or without axes for one variable. fweights (integers: how
    often an observation counts) and aweights (how much) have one element an observation.
    Dtypes: numbers; float64, complex128, or dtype. Divided by the number of observations minus ddof (None: 1, or 0 if
    bias).
    Errors: ValueError for more axes, negative weights or a ddof that is no integer; TypeError for fweights that are no
    integers; RuntimeError for weights of another shape.

    >>> np.cov([[0, 1, 2], [2, 1, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("cov: ddof must be an integer, not %r" % (ddof,))
    x = _observations("cov", m, y, rowvar, dtype)
    if not x.shape[0]:
        return _op("reshape")(x, (0, 0))
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    if fweights is not None:
        w = _as_array(fweights, "cov")
        if w.dtype.kind == "f" and not _op("all")(_op("equal")(w, _op("round")(w)), None, False) or w.dtype.kind == "c":
            raise TypeError("cov: fweights must be integers, they count observations")
        w = _sample_weights("fweights", w, x.shape[1])
    real = x.dtype if x.dtype.kind == "f" else _op("real")(x[:0]).dtype
    if aweights is not None:
        a = _cast(_sample_weights("aweights", aweights, x.shape[1]), real)
        w = a if w is None else _cast(w, a.dtype) * a
    if w is None:
        count = divisor = x.shape[1]
        center = _op("mean")(x, (1,), True)
        divisor = count - ddof
    else:
        w = _cast(w, real)
        total = float(_op("sum")(w, None, False, 0))
        if total == 0:
            raise ZeroDivisionError("cov: weights sum to zero, so that the mean cannot be normalized")
        center = _op("sum")(x * w, (1,), True, 0) / total
        divisor = total
        if ddof:
            divisor -= ddof if aweights is None else ddof * float(_op("sum")(w * a, None, False, 0)) / total
    distance = x - center
    other = _op("matrix_transpose")(distance if w is None else distance * w)
    product = _op("matmul")(distance, _op("conj")(other) if other.dtype.kind == "c" else other)
    result = product / asarray(float(_builtins.max(divisor, 0)), dtype=real)
    return _op("reshape")(result, ()) if result.size == 1 else result


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Correlation coefficients of variables: the rows of x (columns if not rowvar), and those of y.

    Shapes: x and y of at most two axes; the result is square, or without axes for one variable.
    Dtypes: numbers; float64, complex128, or dtype. A variable that does not vary gives NaN.
    Errors: ValueError for more axes.

    >>> np.corrcoef([[0, 1, 2], [2, 1, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    if not c.size:
        return c
    diagonal = _op("diagonal")(c, 0, 0, 1)
    scale = _op("sqrt")(_op("real")(diagonal) if c.dtype.kind == "c" else diagonal)
    c = c / _op("reshape")(scale, (scale.size, 1)) / scale
    if c.dtype.kind != "c":
        return _within_one(c)
    parts = [_within_one(_op(part)(c)) for part in ("real", "imag")]
    return _op("view_as_complex")(_op("stack")(parts, -1))


def _within_one(x):
    """Rounding may take a coefficient a unit in the last place beyond 1."""
    one = asarray(1.0, dtype=x.dtype)
    return _op("minimum")(_op("maximum")(x, _op("negative")(one)), one)


# -- counts ----------------------------------------------------------------------------------------------------------

_FEW_COUNTS = 65536


def bincount(x, /, weights=None, minlength=0, *, maxlength=None):
    """How often each of the numbers 0, 1, 2, ... is in x, or the sum of its weights.

    Shapes: x of one axis; weights of the same; the result is as long as the largest number in x needs, at least
    minlength.
    maxlength, which NumPy lacks: a number of x that does not fit is refused, and x is not searched for its largest.
    Dtypes: x of integers or bool; the result is int64, with weights float64.
    Errors: ValueError for negative numbers, another shape, or a negative minlength; TypeError for floats.

    >>> np.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    >>> np.bincount([0, 1, 1], weights=[0.5, 1, 2])
    array([0.5, 3. ])
    """
    x = _as_array(x, "bincount")
    if x.ndim != 1:
        raise ValueError("bincount: x has the shape %s; it needs one axis" % (x.shape,))
    if x.dtype.kind not in "biu" and x.size:
        raise TypeError("bincount: x is %s (Cannot cast it to int64 by the rule 'safe'); it counts integers"
                        % x.dtype.name)
    try:
        minlength = _index(minlength)
    except TypeError:
        raise TypeError("bincount: minlength is %r ('%s' object cannot be interpreted as an integer)"
                        % (minlength, type(minlength).__name__)) from None
    if minlength < 0:
        raise ValueError("bincount: 'minlength' must not be negative, it is %d" % minlength)
    if x.dtype.kind not in "iu":
        x = _cast(x, _int64)
    w = None
    if weights is not None:
        w = _as_array(weights, "bincount")
        if w.shape != x.shape:
            raise ValueError("bincount: the weights and list don't have the same length: %s and %s"
                             % (w.shape, x.shape))
        if w.dtype.kind == "c":
            raise TypeError("bincount: weights are real numbers, not complex (Cannot cast them by the rule 'safe')")
        w = _cast(w, _float64)
    if not x.size:
        return _op("zeros")((minlength,), _int64.number)
    if maxlength is None and type(x) is Array:
        try:  # finds the largest element itself
            return _op("bincount")(x, w, minlength, _builtins.max(minlength, _FEW_COUNTS))
        except (IndexError, ValueError):
            pass
    if maxlength is None:
        if x.dtype.kind == "i" and int(_op("min")(x, None, False)) < 0:
            raise ValueError("bincount: x must have no negative elements")
        maxlength = _builtins.max(minlength, int(_op("max")(x, None, False)) + 1)
    return _op("bincount")(x, w, minlength, maxlength)


def digitize(x, bins, right=False):
    """The number of the bin of each element: i where bins[i-1] <= x < bins[i]; right: bins[i-1] < x <= bins[i].

    Shapes: x of any shape; bins of one axis, rising or falling (then bins[i-1] > x >= bins[i]). Dtypes: real numbers;
    the result is int64.
    Errors: ValueError for bins that are not monotonic; TypeError for complex numbers.

    >>> np.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0])
    array([1, 4, 3])
    """
    x, bins = _as_array(x, "digitize"), _as_array(bins, "digitize")
    if "c" in (x.dtype.kind, bins.dtype.kind):
        raise TypeError("digitize: x and bins may not be complex")
    if bins.ndim != 1:
        raise ValueError("digitize: bins has the shape %s; it needs one axis" % (bins.shape,))
    side = "left" if right else "right"
    if not _op("any")(_op("greater")(bins[:-1], bins[1:]), None, False):
        return searchsorted(bins, x, side)
    if _op("any")(_op("less")(bins[:-1], bins[1:]), None, False):
        raise ValueError("digitize: bins must be monotonically increasing or decreasing")
    return asarray(bins.size) - searchsorted(_op("flip")(bins, None), x, side)

"""Histograms of one and several variables, and the rules that choose their bins: a part of _statistics.py's chapter."""
import builtins as _builtins
import math as _math
from operator import index as _index

from nd4c import _dtypes
from nd4c._creation import asarray
from nd4c._functions.creation import linspace
from nd4c._functions.dtypes import result_type
from nd4c._functions.reductions import diff
from nd4c._functions.sorting import flattened, searchsorted
from nd4c._functions.support import as_array as _as_array, cast as _cast, op as _op
from nd4c.numpy._quantiles import quantiles

__all__ = ["histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

_int64, _float64 = _dtypes.DEFAULTS[int], _dtypes.DEFAULTS[float]


# -- rules for the width of bins -------------------------------------------------------------------------------------

def _spread(x):
    """Largest minus smallest element, in Python's integers, which do not wrap."""
    return _op("max")(x, None, False).item() - _op("min")(x, None, False).item()


def _freedman_diaconis(x, n, ends):
    quarters = quantiles("histogram", x, [0.75, 0.25], 1, None, None, "linear", False, None, False).tolist()
    return 2.0 * (quarters[0] - quarters[1]) * n ** (-1 / 3)


def _deviation(x):
    return float(_op("std")(_floats(x), None, False, 0.0))


def _floats(x):
    return x if x.dtype.kind == "f" else _cast(x, _float64)


def _doane(x, n, ends):
    sigma = _deviation(x) if n > 2 else 0.0
    if not sigma > 0.0:
        return 0.0
    x = _cast(x, _float64)
    skew = float(_op("mean")(((x - _op("mean")(x, None, False)) / sigma) ** 3, None, False))
    expected = _math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    return _spread(x) / (1.0 + _math.log2(n) + _math.log2(1.0 + abs(skew) / expected))


def _stone(x, n, ends):
    """The number of bins whose estimated error, by leaving one out, is least."""
    spread = _spread(x)
    if n <= 1 or spread == 0:
        return 0

    def loss(count):
        shares = _cast(histogram(x, count, ends)[0], _float64) / n
        return (2 - (n + 1) * float(_op("sum")(shares * shares, None, False, 0))) * count / spread
    return spread / _builtins.min(_builtins.range(1, _builtins.max(100, int(_math.sqrt(n))) + 1), key=loss)


def _auto(x, n, ends):
    width = {rule: _WIDTHS[rule](x, n, ends) for rule in ("fd", "sqrt", "sturges")}
    return _builtins.min(_builtins.max(width["fd"], width["sqrt"] / 2), width["sturges"])


_WIDTHS = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": lambda x, n, ends: _spread(x) / (2.0 * n ** (1 / 3)),
    "scott": lambda x, n, ends: (24.0 * _math.pi ** 0.5 / n) ** (1 / 3) * _deviation(x),
    "sqrt": lambda x, n, ends: _spread(x) / _math.sqrt(n),
    "stone": _stone,
    "sturges": lambda x, n, ends: _spread(x) / (_math.log2(n) + 1.0),
}


# -- edges -----------------------------------------------------------------------------------------------------------

def _samples(name, a, weights):
    """The elements and their weights, flattened."""
    x = _as_array(a, name)
    if x.dtype.kind == "c" or x.dtype.kind == "U":
        raise TypeError("%s: a holds real numbers, not %s" % (name, x.dtype.name))
    w = None
    if weights is not None:
        w = _as_array(weights, name)
        if w.shape != x.shape:
            raise ValueError("%s: weights should have the same shape as a: %s and %s" % (name, w.shape, x.shape))
        w = flattened(w)
    return flattened(_cast(x, _dtypes.by_name["uint8"]) if x.dtype.kind == "b" else x), w


def _ends(name, x, range):
    """The outer edges: those of range, or the least and largest element."""
    if range is not None:
        first, last = [one.item() if hasattr(one, "item") else one for one in range]
        if first > last:
            raise ValueError("%s: max must be larger than min in range, got (%s, %s)" % (name, first, last))
    elif not x.size:
        first, last = 0, 1
    else:
        first, last = _op("min")(x, None, False).item(), _op("max")(x, None, False).item()
    if not (_math.isfinite(first) and _math.isfinite(last)):
        raise ValueError("%s: %s range of [%s, %s] is not finite"
                         % (name, "autodetected" if range is None else "supplied", first, last))
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _automatic(name, x, rule, range, ends):
    """How many bins a rule makes."""
    if rule not in _WIDTHS:
        raise ValueError("%s: %r is not a valid estimator for bins; there are %s"
                         % (name, rule, ", ".join(sorted(_WIDTHS))))
    if range is not None:
        low, high = [asarray(end, dtype=_float64) for end in ends]
        wide = _cast(x, _float64)
        x = x[_op("logical_and")(_op("greater_equal")(wide, low), _op("less_equal")(wide, high))]
    width = _WIDTHS[rule](x, x.size, ends) if x.size else 0
    if x.dtype.kind in "iu" and width and width < 1:
        width = 1
    return int(_math.ceil((ends[1] - ends[0]) / width)) if width else 1


def _edges(name, x, bins, range, weights):
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("%s: automated estimation of the number of bins is not supported for weighted data" % name)
        ends = _ends(name, x, range)
        return _equal_bins(name, x, range, ends, _automatic(name, x, bins, range, ends))
    given = None if isinstance(bins, int) else _as_array(bins, name)
    if given is None or not given.ndim:
        try:
            count = _index(bins)
        except TypeError:
            raise TypeError("%s: bins must be an integer, a string, or an array, not %r" % (name, bins)) from None
        if count < 1:
            raise ValueError("%s: bins must be positive, when an integer; it is %d" % (name, count))
        return _equal_bins(name, x, range, _ends(name, x, range), count)
    return _rising(name, given, "bins")


def _rising(name, edges, label):
    if edges.ndim != 1:
        raise ValueError("%s: %s must be 1d, when an array; it has the shape %s" % (name, label, edges.shape))
    if _op("any")(_op("greater")(edges[:-1], edges[1:]), None, False):
        raise ValueError("%s: %s must increase monotonically, when an array" % (name, label))
    return edges


def _equal_bins(name, x, range, ends, count):
    given = [one for one in (range if range is not None else ()) if hasattr(one, "dtype")]
    dtype = result_type(x, *given)
    dtype = dtype if dtype.kind == "f" else _float64
    edges = linspace(ends[0], ends[1], count + 1, dtype=dtype)
    if _op("any")(_op("greater_equal")(edges[:-1], edges[1:]), None, False):
        raise ValueError("%s: Too many bins for data range: %d finite-sized bins cannot be made" % (name, count))
    return edges


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that np.histogram would use.

    Shapes: a of any shape; the result has one axis, an element longer than there are bins.
    Dtypes: real numbers; edges are a's dtype, float64 for integers, or that of the bins given.
    bins: how many; their edges; or a rule: "auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges".
    Errors: ValueError for another rule, falling edges, or a range that is not finite; TypeError for a rule with
    weights.

    >>> np.histogram_bin_edges([0, 1, 4], bins=4)
    array([0., 1., 2., 3., 4.])
    """
    x, w = _samples("histogram_bin_edges", a, weights)
    return _edges("histogram_bin_edges", x, bins, range, w)


# -- counts ----------------------------------------------------------------------------------------------------------

def _places(x, edges):
    """The bin of each element, counted from 1; 0 below the first edge, one more than there are bins above the last."""
    places = searchsorted(edges, x, "right")
    return places - _cast(_op("equal")(x, edges[-1]), _int64)


def _weighed(places, weights, length):
    """bincount of places below length, in the dtype of the weights."""
    if weights is None:
        return _op("bincount")(places, None, length, length)
    if weights.dtype.kind == "c":
        parts = [_weighed(places, _op(part)(weights), length) for part in ("real", "imag")]
        return _op("view_as_complex")(_op("stack")(parts, -1))
    return _cast(_op("bincount")(places, _cast(weights, _float64), length, length), weights.dtype)


def histogram(a, bins=10, range=None, density=None, weights=None, *, edges=None):
    """How many elements lie in each bin (or the sum of their weights), and the edges of the bins.

    A bin holds its left edge, the last bin both edges. density: divided by the total and by the bin's width.
    Shapes: a of any shape; the results have one axis, the edges are one longer.
    Dtypes: real numbers; counts are int64, with weights of their dtype, with density float64.
    bins: how many; their edges (also as edges=); or a rule, see np.histogram_bin_edges. range: the outer edges.
    Errors: those of np.histogram_bin_edges; ValueError for weights of another shape.

    >>> np.histogram([1, 2, 1, 4], bins=3)
    (array([2, 1, 1]), array([1., 2., 3., 4.]))
    """
    x, w = _samples("histogram", a, weights)
    edges = _edges("histogram", x, bins if edges is None else edges, range, w)
    count = edges.size - 1
    if not x.size or count < 1:
        n = _op("zeros")((_builtins.max(count, 0),), (_int64 if w is None else w.dtype).number)
    elif w is None and edges.dtype.kind == "f" and result_type(x, edges) is edges.dtype:
        n = _op("histogram")(_cast(x, edges.dtype), edges, None, 0, None, False)[0]
    else:
        n = _weighed(_places(x, edges), w, count + 2)[1:-1]
    if not density:
        return _op("copy")(n), edges
    n = _cast(n, _float64) if n.dtype.kind != "c" else n
    return n / _cast(diff(edges), _float64) / _op("sum")(n, None, False, 0), edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """How many of the points (x, y) lie in each bin of a grid, and the grid's edges of x and of y.

    Shapes: x and y of one axis and one length; the counts have the bins of x as rows, those of y as columns.
    Dtypes: real numbers; the results are float64. bins: a number or edges, for both or one each; range, density and
    weights as in np.histogramdd.
    Errors: ValueError if x and y have different lengths.

    >>> np.histogram2d([0, 0, 1], [0, 1, 1], bins=2)[0]
    array([[1., 1.],
           [0., 1.]])
    """
    x, y = _as_array(x, "histogram2d"), _as_array(y, "histogram2d")
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError("histogram2d: x and y must have the same length: %s and %s" % (x.shape, y.shape))
    try:
        several = len(bins)
    except TypeError:
        several = 1
    if several not in (1, 2):
        bins = [_as_array(bins, "histogram2d")] * 2
    hist, edges = histogramdd([x, y], bins, range, density, weights)
    return hist, edges[0], edges[1]


def _grid(samples, bins, range):
    """Edges of every dimension."""
    try:
        if len(bins) != len(samples):
            raise ValueError("histogramdd: the dimension of bins must be that of the sample, %d; it is %d"
                             % (len(samples), len(bins)))
    except TypeError:
        bins = [bins] * len(samples)
    range = [None] * len(samples) if range is None else list(range)
    if len(range) != len(samples):
        raise ValueError("histogramdd: range must have one entry per dimension, %d; it has %d"
                         % (len(samples), len(range)))
    grid = []
    for i, (x, chosen, ends) in enumerate(zip(samples, bins, range)):
        label = "bins[%d]" % i
        given = _as_array(chosen, "histogramdd")
        if given.ndim:
            grid.append(_rising("histogramdd", given, label))
            continue
        if given.item() < 1:
            raise ValueError("histogramdd: %s must be positive, when an integer" % label)
        try:
            count = _index(given.item())
        except TypeError:
            raise TypeError("histogramdd: %s must be an integer, when a scalar, not %r" % (label, chosen)) from None
        grid.append(linspace(*_ends("histogramdd", x, ends), count + 1))
    return grid


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """How many points lie in each bin of a grid of several dimensions (or the sum of their weights), and the edges of
    each.

    Shapes: sample is an array of one row a point, or a list of the coordinates of each dimension; weights have one
    element a point.
    Dtypes: real numbers; the results are float64.
    bins: a number, or a number or edges for each dimension; range: outer edges or None for each. density: divided by
    the total and by the bin's volume.
    Errors: ValueError for bins or ranges of another number of dimensions, or falling edges.

    >>> hist, edges = np.histogramdd(([0.0, 1.0, 1.0], [0.0, 1.0, 0.0]), bins=(2, 2))
    >>> hist
    array([[1., 0.],
           [1., 1.]])
    """
    points = _as_array(sample, "histogramdd")
    if points.ndim == 2 and hasattr(sample, "shape"):
        points = _op("matrix_transpose")(points)
    elif points.ndim < 2:
        points = _op("reshape")(points, (1, points.size))
    samples = [points[i] for i in _builtins.range(points.shape[0])]
    if not samples:
        raise ValueError("histogramdd: the sample has points of no dimensions, %s; expected an array of one row a point"
                         % (points.shape[::-1],))
    grid = _grid(samples, bins, range)
    lengths = [edges.size + 1 for edges in grid]
    places = None
    for x, edges, length in zip(samples, grid, lengths):
        place = _places(x, edges)
        places = place if places is None else places * length + place
    w = None if weights is None else _as_array(weights, "histogramdd")
    if w is not None and w.dtype.kind == "c":
        raise TypeError("histogramdd: weights are real numbers, not complex (Cannot cast them by the rule 'safe')")
    total = _math.prod(lengths)
    hist = _weighed(places, w, total) if places.size else _op("zeros")((total,), _int64.number)
    hist = _cast(_op("reshape")(hist, tuple(lengths)), _float64)[(slice(1, -1),) * len(lengths)]
    if not density:
        return _op("copy")(hist), grid
    whole = _op("sum")(hist, None, False, 0)
    for axis, edges in enumerate(grid):
        shape = tuple([-1 if one == axis else 1 for one in _builtins.range(len(grid))])
        hist = hist / _op("reshape")(_cast(diff(edges), _float64), shape)
    return hist / whole, grid

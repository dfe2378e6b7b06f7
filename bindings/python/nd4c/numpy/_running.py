"""Functions along an axis or a line: running sums, differences, integrals, interpolation, convolution. A part of the
chapter _statistics.py."""
import builtins as _builtins
from math import isfinite as _is_finite

from nd4c import _dtypes
from nd4c._abi import TABLES as _TABLES
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected
from nd4c._functions.dtypes import result_type
from nd4c._functions.reductions import cumulative_prod, cumulative_sum, diff, sum as _sum
from nd4c._functions.sorting import flattened, searchsorted
from nd4c._functions.support import (
    as_array as _as_array, cast as _cast, normalize_axes as _normalize_axes, normalize_axis as _normalize_axis,
    op as _op)

__all__ = ["convolve", "correlate", "cumprod", "cumsum", "gradient", "interp", "trapezoid", "unwrap"]

_float64, _int64 = _dtypes.DEFAULTS[float], _dtypes.DEFAULTS[int]


# -- running sums ----------------------------------------------------------------------------------------------------

def running(cumulative, name, a, axis, dtype, out):
    """cumsum and cumprod: along an axis, or of an array flattened."""
    x = _as_array(a, name)
    if axis is None or (not x.ndim and axis in (0, -1)):
        x, axis = flattened(x), 0
    else:
        axis = _normalize_axis(axis, x.ndim, name)
    return cumulative(x, axis=axis, dtype=dtype, out=out)


@_explained
def cumsum(a, axis=None, dtype=None, out=None, **wrong):
    """Sums of the elements up to each one along an axis; None: of a flattened.

    Shapes: that of a, or one axis. Dtypes: numbers; bool and small integers sum as int64 (uint64). dtype: each element
    is cast to it first.
    Errors: AxisError if the axis is out of range; TypeError for strings.

    >>> np.cumsum([[1, 2], [3, 4]])
    array([ 1,  3,  6, 10])
    >>> np.cumsum([[1, 2], [3, 4]], axis=0)
    array([[1, 2],
           [4, 6]])
    """
    if wrong:
        raise _unexpected(cumsum, wrong)
    return running(cumulative_sum, "cumsum", a, axis, dtype, out)


@_explained
def cumprod(a, axis=None, dtype=None, out=None, **wrong):
    """Products of the elements up to each one along an axis; None: of a flattened.

    Shapes: that of a, or one axis. Dtypes: numbers; bool and small integers multiply as int64 (uint64). dtype: each
    element is cast to it first.
    Errors: AxisError if the axis is out of range; TypeError for strings.

    >>> np.cumprod([1, 2, 3])
    array([1, 2, 6])
    """
    if wrong:
        raise _unexpected(cumprod, wrong)
    return running(cumulative_prod, "cumprod", a, axis, dtype, out)


# -- derivatives and integrals ---------------------------------------------------------------------------------------

def _at(ndim, axis, place):
    """A key: place along the axis, everything along the others."""
    return (slice(None),) * axis + (place,) + (slice(None),) * (ndim - axis - 1)


def _spacings(f, given, axes):
    """The distance of neighbours along each axis: a number, or an array of them."""
    if not given:
        return [1.0] * len(axes)
    given = [_as_array(one, "gradient") for one in given]
    if len(given) == 1 and not given[0].ndim:
        given = given * len(axes)
    if len(given) != len(axes):
        raise TypeError("gradient: invalid number of arguments: %d spacings for %d axes" % (len(given), len(axes)))
    spacings = []
    for one, axis in zip(given, axes):
        if not one.ndim:
            spacings.append(one.item())
            continue
        if one.ndim != 1:
            raise ValueError("gradient: distances must be either scalars or 1d, not of the shape %s" % (one.shape,))
        if one.size != f.shape[axis]:
            raise ValueError("gradient: when 1d, distances must match the length of the axis: %d and %d"
                             % (one.size, f.shape[axis]))
        steps = diff(one if one.dtype.kind in "fc" else _cast(one, _float64))
        same = steps.size and _op("all")(_op("equal")(steps, steps[0]), None, False)
        spacings.append(steps[0].item() if same else steps)
    return spacings


def _inner(f, axis, step):
    """Second-order differences at all places but the ends."""
    before, here, after = [f[_at(f.ndim, axis, part)] for part in (slice(None, -2), slice(1, -1), slice(2, None))]
    if type(step) is not Array:
        return _op("divide")(after - before, 2.0 * step)
    shape = _at_shape(f.ndim, axis)
    left, right = _op("reshape")(step[:-1], shape), _op("reshape")(step[1:], shape)
    return (before * (_op("negative")(right) / (left * (left + right))) + here * ((right - left) / (left * right))
            + after * (left / (right * (left + right))))


def _at_shape(ndim, axis):
    return (1,) * axis + (-1,) + (1,) * (ndim - axis - 1)


def _end(f, axis, step, order, first):
    """The one-sided difference at an end, of first or second order."""
    sign = 1 if first else -1
    near, next_, third = [f[_at(f.ndim, axis, slice(place, place + 1 or None))] for place in
                          ((0, 1, 2 if order == 2 else 1) if first else (-1, -2, -3 if order == 2 else -2))]
    if type(step) is Array:
        close, far = step[0 if first else -1].item(), (step[1 if first else -2].item() if order == 2 else 0.0)
    else:
        close = far = step
    if order == 1:
        return (next_ - near) / close if first else (near - next_) / close
    a = -(2.0 * close + far) / (close * (close + far))
    b = (close + far) / (close * far)
    c = -close / (far * (close + far))
    return near * (sign * a) + next_ * (sign * b) + third * (sign * c)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Derivatives along axes (None: all), by differences of second order, and of edge_order at the ends.

    Shapes: f of at least edge_order + 1 elements an axis; a result of f's shape for each axis, alone if there is only
    one.
    varargs: the distance of neighbours, or the coordinates (one axis), for all axes or one for each.
    Dtypes: numbers; integers give float64, others their own.
    Errors: ValueError for too few elements, or coordinates of another length; TypeError for another number of them;
    AxisError if an axis is out of range.

    >>> np.gradient([1, 2, 4, 7, 11])
    array([1. , 1.5, 2.5, 3.5, 4. ])
    """
    f = _as_array(f, "gradient")
    axes = _normalize_axes(axis, f.ndim, "gradient")
    spacings = _spacings(f, varargs, axes)
    if edge_order > 2:
        raise ValueError("gradient: edge_order greater than 2 is not supported; it is %r" % (edge_order,))
    if f.dtype.kind in "biu":
        f = _cast(f, _float64)
    results = []
    for axis, step in zip(axes, spacings):
        if f.shape[axis] < edge_order + 1:
            raise ValueError("gradient: axis %d has %d elements; at least (edge_order + 1) are required"
                             % (axis, f.shape[axis]))
        parts = [_end(f, axis, step, edge_order, True), _inner(f, axis, step), _end(f, axis, step, edge_order, False)]
        results.append(_op("concat")([_cast(part, f.dtype) for part in parts], axis))
    return results[0] if len(results) == 1 else tuple(results)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integral along an axis by the trapezoidal rule.

    Shapes: y without the axis. x: the places of the elements, of one axis or y's shape; without it they are dx apart.
    Dtypes: numbers; integers give float64.
    Errors: AxisError if the axis is out of range; ValueError if x does not broadcast with y.

    >>> np.trapezoid([1, 2, 3])
    array(4.)
    >>> np.trapezoid([1, 2, 3], x=[4, 6, 8])
    array(8.)
    """
    y = _as_array(y, "trapezoid")
    axis = _normalize_axis(axis, y.ndim, "trapezoid")
    y = _cast(y, _float64) if y.dtype.kind in "biu" else y
    width = dx
    if x is not None:
        x = _as_array(x, "trapezoid")
        width = _op("reshape")(diff(x), _at_shape(y.ndim, axis)) if x.ndim == 1 else diff(x, axis=axis)
    elif not isinstance(dx, (int, float, complex)):
        width = _as_array(dx, "trapezoid")
    pairs = y[_at(y.ndim, axis, slice(1, None))] + y[_at(y.ndim, axis, slice(None, -1))]
    if type(width) not in (int, float):
        pairs = pairs * width
    elif width != 1:
        pairs *= width
    if y.dtype.kind == "f":
        pairs *= 0.5
    else:
        pairs /= 2.0
    return _sum(pairs, axis)


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Angles along an axis with their jumps removed: neighbours that differ by more than discont (None: half a period)
    are brought together by whole periods.

    Shapes: that of p. Dtypes: real numbers; integers with an integer period stay integers, others become floats.
    Errors: AxisError if the axis is out of range.

    >>> np.unwrap([0, 1, 2, -1, 0], period=4)
    array([0, 1, 2, 3, 4])
    """
    p = _as_array(p, "unwrap")
    axis = _normalize_axis(axis, p.ndim, "unwrap")
    dtype = result_type(p, period if type(period) in (int, float) else _as_array(period, "unwrap"))
    period = _as_array(period, "unwrap").item()
    whole = dtype.kind in "iu"
    limit = period // 2 if whole else period / 2
    jumps = diff(_cast(p, dtype), axis=axis)
    high, low, size = [asarray(number, dtype=dtype) for number in (limit, -limit, period)]
    small = _op("remainder")(jumps - low, size) + low
    if not whole or period % 2 == 0:
        upper = _op("logical_and")(_op("equal")(small, low), _op("greater")(jumps, asarray(0, dtype=dtype)))
        small = _op("where")(upper, high, small)
    near = _op("less")(_op("abs")(jumps), asarray(period / 2 if discont is None else discont))
    steps = _op("where")(near, asarray(0, dtype=dtype), small - jumps)
    p = _cast(p, dtype)
    rest = p[_at(p.ndim, axis, slice(1, None))] + _cast(cumulative_sum(steps, axis=axis), dtype)
    return _op("concat")([p[_at(p.ndim, axis, slice(0, 1))], rest], axis)


# -- lines through points --------------------------------------------------------------------------------------------

def interp(x, xp, fp, left=None, right=None, period=None):
    """Values at x of the line through the points (xp, fp).

    Shapes: xp and fp of one axis and one length; the result has x's shape.
    Dtypes: real numbers, fp complex, too; the result is float64 or complex128.
    left, right: the values before the first and behind the last point (None: that point's own). period: xp, which then
    need not rise, repeats.
    Errors: ValueError for no points, other shapes or a period of 0; TypeError for complex x or xp.

    >>> np.interp([2.5, 0, 9], [1, 2, 3], [3, 2, 0])
    array([1., 3., 0.])
    """
    if type(x) is Array and x.dtype is _float64 and type(xp) is type(fp) is list and left is right is period is None:
        if len(xp) == len(fp) <= _FEW_POINTS and _PLAIN.issuperset(map(type, xp)) and _PLAIN.issuperset(map(type, fp)):
            found = _on_short_line(x, xp, fp)
            if found is not None:
                return found
    fp = _as_array(fp, "interp")
    x, xp = [_as_array(one, "interp") for one in (x, xp)]
    if x.dtype.kind not in "biuf" or xp.dtype.kind not in "biuf":
        raise TypeError("interp: x and xp are real numbers, not %s and %s" % (x.dtype.name, xp.dtype.name))
    dtype = _dtypes.default(complex) if fp.dtype.kind == "c" else _float64
    x, xp, fp = _cast(x, _float64), _cast(xp, _float64), _cast(fp, dtype)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("interp: data points must be 1-D sequences, not of the shapes %s and %s"
                         % (xp.shape, fp.shape))
    if xp.size != fp.size:
        raise ValueError("interp: fp and xp are not of the same length: %d and %d" % (fp.size, xp.size))
    if not xp.size:
        raise ValueError("interp: array of sample points is empty")
    if xp.size <= _FEW_POINTS and fp.dtype is _float64 and period is left is right is None and Array is type(xp) is type(fp):
        found = _on_short_line(x, xp.tolist(), fp.tolist())
        if found is not None:
            return found
    if period is not None:
        x, xp, fp = _around(x, xp, fp, period)
        left = right = None
    limits = left is None and right is None
    left, right = [fp[place] if edge is None else _cast(_as_array(edge, "interp"), dtype)
                   for edge, place in ((left, 0), (right, -1))]
    if xp.size == 1:
        found = _op("full")(fp[0], x.shape)
    elif fp.dtype.kind == "c":  # an infinite real part leaves the imaginary part alone
        parts = [_on_line(x, xp, _op(part)(fp)) for part in ("real", "imag")]
        found = _op("view_as_complex")(_op("stack")(parts, -1))
    else:
        found = _on_line(x, xp, fp)
    if limits and xp.size > 1:
        return found
    found = _op("where")(_op("less")(x, xp[0]), left, _op("where")(_op("greater")(x, xp[-1]), right, found))
    return found if xp.size == 1 else _op("where")(_op("is_nan")(x), _cast(x, dtype), found)


def _around(x, xp, fp, period):
    """Everything within one period, the points sorted, with one more at each end."""
    if period == 0:
        raise ValueError("interp: period must be a non-zero value")
    size = asarray(float(abs(period)))
    x, xp = _op("remainder")(x, size), _op("remainder")(xp, size)
    order = _op("argsort")(xp, 0, False)
    xp, fp = xp[order], fp[order]
    return (x, _op("concat")([xp[-1:] - size, xp, xp[:1] + size], 0), _op("concat")([fp[-1:], fp, fp[:1]], 0))


_FEW_POINTS = 32  # whose slopes cost less one by one
_PLAIN = {float}
_clip, _search, _take, _add, _multiply, _subtract = [
    _op(_name) for _name in ("clip", "searchsorted", "take", "add", "multiply", "subtract")]


def _on_short_line(x, xp, fp):
    """The same for lists of finite points with finite slopes; None for all others."""
    try:
        slopes = [(y1 - y0) / (x1 - x0) for x0, x1, y0, y1 in zip(xp, xp[1:], fp, fp[1:])]
    except ZeroDivisionError:
        return None
    if len(xp) < 2 or not _builtins.all(map(_is_finite, slopes + xp + fp)):
        return None
    x = _clip(x, xp[0], xp[-1])
    place = _search(asarray(xp), x, None, True)  # counts from 1
    x0, y0, slope = [_take(asarray(one), place, (0,), 0) for one in (xp[:1] + xp, fp[:1] + fp, [0.0] + slopes + [0.0])]
    return _add(y0, _multiply(slope, _subtract(x, x0)))


def _on_line(x, xp, fp):
    """Values between the points, those of the ends outside of them."""
    slope = diff(fp) / diff(xp)
    if not all(_op("all")(_op("is_finite")(one), None, False) for one in (slope, xp, fp)):
        return _on_infinite_line(x, xp, fp)
    x = _op("clip")(x, xp[0], xp[-1])
    place = searchsorted(xp, x, "right")  # 1 for the first point: the tables below have one more in front
    x0, y0, slope = [_op("concat")(parts, 0) for parts in ((xp[:1], xp), (fp[:1], fp), (slope[:1], slope, asarray([0.0])))]
    x -= _op("take")(x0, place, (0,), 0)
    x *= _op("take")(slope, place, (0,), 0)
    x += _op("take")(y0, place, (0,), 0)
    return x


def _on_infinite_line(x, xp, fp):
    """The same where infinities make NaN of a value computed from the left point: from the right one then."""
    place = searchsorted(xp, x, "right") - 1
    place = _op("minimum")(_op("maximum")(place, asarray(0)), asarray(xp.size - 2))
    x0, x1, y0, y1 = [_op("take")(one, place + step, (0,), 0) for one, step in ((xp, 0), (xp, 1), (fp, 0), (fp, 1))]
    slope = (y1 - y0) / (x1 - x0)
    found = y0 + slope * (x - x0)
    found = _op("where")(_op("is_nan")(found), y1 + slope * (x - x1), found)
    found = _op("where")(_op("logical_and")(_op("is_nan")(found), _op("equal")(y0, y1)), y0, found)
    found = _op("where")(_op("equal")(x, x0), y0, found)
    found = _op("where")(_op("equal")(x, x1), y1, found)
    found = _op("where")(_op("less")(x, xp[0]), fp[0], _op("where")(_op("greater")(x, xp[-1]), fp[-1], found))
    return _op("where")(_op("is_nan")(x), x, found)


# -- convolution -----------------------------------------------------------------------------------------------------

_MODES = {row[2].lower(): row[1] for row in _TABLES["CONVOLVE_MODE"]}
_MODES.update({0: _MODES["valid"], 1: _MODES["same"], 2: _MODES["full"]})  # NumPy's own numbers


def _lines(name, a, v, mode):
    """Both arrays in the dtype that they share, and the mode's name."""
    if not isinstance(mode, (str, int)):
        raise TypeError("%s: mode is %r; expected 'valid', 'same' or 'full'" % (name, mode))
    if mode not in _MODES:
        raise ValueError("%s: mode is %r; it may be 'valid', 'same' or 'full'" % (name, mode))
    a, v = [flattened(one) if one.ndim == 0 else one for one in (_as_array(a, name), _as_array(v, name))]
    for one, label in ((a, "a"), (v, "v")):
        if one.ndim != 1:
            raise ValueError("%s: %s has the shape %s; it needs one axis" % (name, label, one.shape))
        if not one.size:
            raise ValueError("%s: %s cannot be empty" % (name, label))
    dtype = result_type(a, v)
    wanted = _int64 if dtype.kind == "b" else dtype
    return _cast(a, wanted), _cast(v, wanted), _MODES[mode], dtype


def convolve(a, v, mode="full"):
    """Convolution of two arrays of one axis: sums of a[i] v[n - i].

    Shapes: "full" gives len(a) + len(v) - 1 elements, "same" as many as the longer array, "valid" those where the
    shorter one lies within it.
    Dtypes: numbers and bool; the result has the dtype that both share.
    Errors: ValueError for empty arrays, more axes, or another mode.

    >>> np.convolve([1, 2, 3], [0, 1, 0.5])
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    a, v, mode, dtype = _lines("convolve", a, v, mode)
    if v.size > a.size:
        a, v = v, a
    return _cast(_op("convolve")(a, v, mode), dtype)


def correlate(a, v, mode="valid"):
    """Cross-correlation of two arrays of one axis: sums of a[n + i] conj(v[i]).

    Shapes: "valid" gives the elements where the shorter array lies within the longer one, "same" as many as the longer
    has, "full" len(a) + len(v) - 1.
    Dtypes: numbers and bool; the result has the dtype that both share.
    Errors: ValueError for empty arrays, more axes, or another mode.

    >>> np.correlate([1, 2, 3], [0, 1, 0.5])
    array([3.5])
    """
    a, v, mode, dtype = _lines("correlate", a, v, mode)
    if v.size <= a.size:
        return _cast(_op("correlate")(a, v, mode), dtype)
    turned = _op("correlate")(v, a, mode)
    turned = _op("conj")(turned) if dtype.kind == "c" else turned
    return _cast(_op("flip")(turned, None), dtype)

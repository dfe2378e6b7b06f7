"""pad: arrays with elements around them.

The op `pad` computes the modes that repeat elements; the others fill one axis after the other."""
import builtins as _builtins

from nd4c._functions import reductions as _reductions
from nd4c._creation import asarray, laid_out_as
from nd4c._functions.creation import linspace
from nd4c._functions.manipulation import broadcast_to, moveaxis
from nd4c._functions.support import as_array as _as_array, cast as _cast, op as _op
from nd4c._symbols import Dim

_KEYWORDS = {"constant": ("constant_values",), "empty": (), "edge": (), "linear_ramp": ("end_values",),
             "maximum": ("stat_length",),
             "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
             "reflect": ("reflect_type",),
             "symmetric": ("reflect_type",), "wrap": ()}


def pad(array, pad_width, mode="constant", **kwargs):
    """An array with elements around it.

    Shapes: pad_width, one number, (before, after), one such pair an axis, or a dict {axis: number or pair}. Dtypes:
    array's.
    mode: "constant" (constant_values=0), "edge", "linear_ramp" (end_values=0), "maximum", "mean", "median", "minimum"
    (stat_length=None), "reflect" and "symmetric" (reflect_type="even" or "odd"), "wrap", "empty", or a function(vector,
    pair, axis, kwargs) that changes each vector in place. Values may be given an axis and side each, as pad_width.
    Errors: ValueError for an unknown mode, a negative width and an empty axis to repeat; TypeError for a width that is
    no integer.

    >>> np.pad([1, 2, 3], 1)
    array([0, 1, 2, 3, 0])
    >>> np.pad([1, 2, 3], (2, 1), mode="reflect")
    array([3, 2, 1, 2, 3, 2])
    """
    x = _as_array(array, "pad")
    return laid_out_as(_padded(x, pad_width, mode, kwargs), x)


def _padded(x, pad_width, mode, kwargs):
    if isinstance(pad_width, dict):
        pad_width = _of_axes(pad_width, x.ndim)
    widths = _pairs(pad_width, x.ndim, "pad_width", whole=True)
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    if not isinstance(mode, str) or mode not in _KEYWORDS:
        raise ValueError("pad: mode '%s' is not supported; it may be %s or a function"
                         % (mode, ", ".join(map(repr, _KEYWORDS))))
    unknown = set(kwargs) - set(_KEYWORDS[mode])
    if unknown:
        raise ValueError("pad: unsupported keyword arguments for mode %r: %s; nd4c.ops.pad has the op's own arguments"
                         % (mode, ", ".join(sorted(unknown))))
    if mode not in ("constant", "empty"):
        _check_not_empty(x, widths, mode)
    if mode == "constant":
        return _constant(x, widths, kwargs.get("constant_values", 0))
    if mode == "empty":
        return _by_op(x, widths, "constant", None)
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and _is_even(kwargs.get("reflect_type", "even"))):
        return _by_op(x, widths, mode, None)
    return _axis_by_axis(x, widths, mode, kwargs)


def _of_axes(widths, ndim):
    """pad_width as a pair an axis, from a dict of axes."""
    pairs = [(0, 0)] * ndim
    for axis, width in widths.items():
        if not -ndim <= axis < ndim:
            raise ValueError("pad: pad_width names the axis %r, the array has %d axes" % (axis, ndim))
        pairs[axis] = (width, width) if not hasattr(width, "__len__") else tuple(width)
    return pairs


def _pairs(values, ndim, name, whole=False):
    """A pair (before, after) an axis, of one number, a pair, or a list of them."""
    plain = _plain_pairs(values, ndim)
    if plain is not None:
        return plain
    try:
        given = _as_array(values, "pad: " + name)
    except TypeError as error:
        raise TypeError(error if not whole else "pad: `pad_width` must be of integral type. It is %r"
                        % (values,)) from None
    if given.ndim > 2:
        raise ValueError("pad: %s has the shape %s, input operand has more dimensions than allowed by the axis remapping: "
                         "a number, a pair, or a pair an axis" % (name, given.shape))
    if whole:
        if given.dtype.kind not in "iu":
            raise TypeError("pad: `pad_width` must be of integral type, not %s" % given.dtype.name)
        if given.size and int(_op("min")(given, None, False)) < 0:
            raise ValueError("pad: %s: index can't contain negative values" % name)
    try:
        spread = broadcast_to(given, (ndim, 2))
    except ValueError:
        raise ValueError("pad: %s has the shape %s, operands could not be broadcast together with (%d, 2), a pair an "
                         "axis"
                         % (name, given.shape, ndim)) from None
    return [tuple(pair) for pair in spread.tolist()]


def _plain_pairs(values, ndim):
    """The pairs of the usual forms, a number or one tuple of two, without arrays. None: another form, or a negative number."""
    pair = (values, values) if type(values) is int else values
    if type(pair) is not tuple or len(pair) != 2 or not _builtins.all(type(one) is int and one >= 0 for one in pair):
        return None
    return [pair] * ndim


def _is_even(kind):
    if kind not in ("even", "odd"):
        raise ValueError("pad: reflect_type is %r; it may be 'even' or 'odd'" % (kind,))
    return kind == "even"


def _check_not_empty(x, widths, mode):
    for axis, (pair, extent) in enumerate(zip(widths, x.shape)):
        if type(extent) is not Dim and not extent and _builtins.max(pair):  # the op checks a dim when a plan runs
            raise ValueError("pad: can't extend empty axis %d using modes other than 'constant' or 'empty', not %r"
                             % (axis, mode))


def _by_op(x, widths, mode, value):
    pads = [before for before, _ in widths] + [after for _, after in widths]
    code = {"constant": 0, "edge": 1, "reflect": 2, "wrap": 3, "symmetric": 4}[mode]
    return _op("pad")(x, value, pads, None, code)


def _constant(x, widths, values):
    values = _pairs(values, x.ndim, "constant_values")
    flat = {value for pair in values for value in pair}
    if len(flat) <= 1:
        value = flat.pop() if flat else 0
        return _by_op(x, widths, "constant", asarray(_fitting(value, x), x.dtype) if value else None)
    made = _by_op(x, widths, "constant", None)
    for axis, (pair, (before, after)) in enumerate(zip(widths, values)):
        _set_ends(made, axis, pair, _fitting(before, x), _fitting(after, x))
    return made


def _fitting(value, x):
    """A number as NumPy's assignment takes it: floats are truncated in integer arrays."""
    return int(value) if x.dtype.kind in "iu" and type(value) is float else value


def _set_ends(made, axis, pair, before, after):
    lead = (slice(None),) * axis
    made[lead + (slice(pair[0]),)] = before
    made[lead + (slice(made.shape[axis] - pair[1], None),)] = after


def _axis_by_axis(x, widths, mode, kwargs):
    """Modes whose elements on one axis depend on those that the axes before it got."""
    ends = _pairs(kwargs.get("end_values", 0), x.ndim, "end_values")
    lengths = [(None, None)] * x.ndim
    if kwargs.get("stat_length") is not None:
        lengths = _pairs(kwargs["stat_length"], x.ndim, "stat_length", whole=True)
    if mode in ("maximum", "minimum") and _builtins.any(0 in pair for pair in lengths):

        raise ValueError("pad: stat_length of 0 yields no value for padding")
    made = _by_op(x, widths, "constant", None)
    for axis, (pair, extent) in enumerate(zip(widths, x.shape)):
        # What is filled so far: all places of this axis and those before it, x's own of the axes behind.
        known = made[tuple(slice(None) if one < axis else slice(first, first + n) if one > axis else slice(None)
                           for one, ((first, _), n) in enumerate(zip(widths, x.shape)))]
        if mode == "linear_ramp":
            _ramp(known, axis, pair, extent, ends[axis])
        elif mode in ("reflect", "symmetric"):
            _odd(known, axis, pair, extent, mode)
        else:
            _statistic(known, axis, pair, extent, mode, lengths[axis])
    return made


def _ramp(known, axis, pair, extent, ends):
    if not extent:
        return
    lead = (slice(None),) * axis
    for side, (width, end) in enumerate(zip(pair, ends)):
        if not width:
            continue
        edge = known[lead + (pair[0] if side == 0 else pair[0] + extent - 1,)]
        steps = linspace(end, edge, width, endpoint=False, dtype=known.dtype, axis=axis)
        if side == 0:
            known[lead + (slice(width),)] = steps
        else:
            known[lead + (slice(pair[0] + extent, None),)] = _op("flip")(steps, (axis,))


def _statistic(known, axis, pair, extent, mode, lengths):
    lead = (slice(None),) * axis
    if not _builtins.any(pair):
        return
    values = []
    for side, length in enumerate(lengths):
        count = extent if length is None or length > extent else length
        start = pair[0] if side == 0 else pair[0] + extent - count
        values.append(_STATISTICS[mode](known[lead + (slice(start, start + count),)], axis))
    for side, value in enumerate(values):
        part = slice(pair[0]) if side == 0 else slice(pair[0] + extent, None)
        if value.dtype.kind == "f" and known.dtype.kind in "iu":
            value = _op("round")(value)
        known[lead + (part,)] = _cast(value, known.dtype)


def _mean(part, axis):
    return _reductions.mean(part, axis, keepdims=True)


def _median(part, axis):
    from nd4c.numpy import median
    return median(part, axis=axis, keepdims=True)


_STATISTICS = {"maximum": lambda part, axis: _reductions.max(part, axis, keepdims=True),
               "minimum": lambda part, axis: _reductions.min(part, axis, keepdims=True), "mean": _mean,
               "median": _median}


def _odd(known, axis, pair, extent, mode):
    """Mirror images at the edges, turned over: 2 edge - element; wider ones are mirrored again."""
    view = moveaxis(known, axis, 0)
    skip = 1 if mode == "reflect" else 0
    before, after = pair
    if extent == 1 and skip:
        view[:before], view[before + 1:] = view[before], view[before]
        return
    start, stop = before, before + extent  # what is filled so far
    while start > 0 or stop < view.shape[0]:
        # Each round mirrors whole periods, so that the images stay those of the first.
        period = (stop - start - skip) // (extent - skip) * (extent - skip) + skip
        reach = period - skip
        if start > 0:
            count = _builtins.min(start, reach)
            image = view[start + skip:start + skip + count]
            view[start - count:start] = _op("flip")(view[start] * 2 - image, (0,))
            start -= count
        if stop < view.shape[0]:
            count = _builtins.min(view.shape[0] - stop, reach)
            image = view[stop - skip - count:stop - skip]
            view[stop:stop + count] = _op("flip")(view[stop - 1] * 2 - image, (0,))
            stop += count


def _by_function(x, widths, function, kwargs):
    """Calls function with each vector of each axis; it changes the vector in place."""
    from itertools import product
    made = _by_op(x, widths, "constant", None)
    for axis in range(x.ndim):
        view = moveaxis(made, axis, -1)
        for place in product(*map(range, view.shape[:-1])):
            function(view[place], widths[axis], axis, kwargs)
    return made

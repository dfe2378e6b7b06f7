"""reduce, accumulate, reduceat, outer and at of functions element by element (_functions/ufunc.py).

Sums, products and extrema are reductions of the C library. Other functions that may be applied in any grouping halve the axis
until one element is left; only those that may not (subtract, divide, power, comparisons) go along it slice by slice."""
from nd4c import _dtypes
from nd4c._core import Array, core
from nd4c._creation import asarray
from nd4c._functions.support import as_array, cast, castable, finish, masked, normalize_axes, normalize_axis, op, output

_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}
_RUNNING = {"add": "cumulative_sum", "multiply": "cumulative_prod"}
_RUNNING_EXTREMA = {"maximum": "cumulative_max", "minimum": "cumulative_min"}
_GROUPED = {"add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
            "bitwise_xor", "fmax", "fmin", "gcd", "lcm", "hypot", "logaddexp", "logaddexp2"}
_UNSIGNED = {"gcd", "hypot"}  # their results are never negative
_NOTHING = object()


def _checked(function, method):
    if function.nin != 2 or function.nout != 1:
        raise ValueError("%s.%s: only supported for binary functions (of two inputs and one result)" % (function.__name__, method))
    return "%s.%s" % (function.__name__, method)


def _given(function, array, dtype, out, where):
    """The array in the dtype that the steps compute in."""
    x = as_array(array, where)
    if dtype is None and out is not None and function.__name__ in ("add", "multiply"):
        into = output(out, where)
        dtype = None if into is None or castable(_summed(function, x.dtype), into.dtype, "safe") else into.dtype
    if dtype is not None:
        return cast(x, _named(function.plan, _dtypes.of(dtype), where))
    return cast(x, _stepping(function, x.dtype, where))


def _named(plan, dtype, where):
    """The dtype that a caller asks for: one that the function both takes and gives."""
    letters = plan.loops if plan.results == plan.loops else plan.results
    if dtype.char != "V" and dtype.char not in letters:
        raise TypeError("%s: No loop matching the specified signature and casting was found: dtype %s" % (where, dtype))
    if dtype.kind == "b" and plan.bools:
        raise TypeError(plan.bools)
    return dtype


def _stepping(function, dtype, where):
    """The dtype of which operands and results are the same."""
    plan = function.plan
    if plan.truth:
        return _dtypes.by_name["bool"] if dtype.kind != "b" else dtype
    if plan.comparison:
        if dtype.kind != "b":
            raise TypeError("%s: expected bools, which comparisons give, got %s (No loop matching the specified signature)"
                            % (where, dtype))
        return dtype
    loop = plan.loop(dtype)
    if loop is None:
        raise TypeError("%s: not supported for the input type %s" % (where, dtype))
    if plan.results != plan.loops and loop.kind in "iu":
        return _dtypes.by_name["float64"]
    return _summed(function, loop)


def _summed(function, dtype):
    """Sums and products of bools and small integers are of 64 bits."""
    if function.__name__ in ("add", "multiply") and dtype.kind in "biu" and dtype.bits < 64:
        return _dtypes.by_name["uint64" if dtype.kind == "u" else "int64"]
    return dtype


def _along(x, axis, start, stop):
    return x[(slice(None),) * axis + (slice(start, stop),)]


# -- reduce ----------------------------------------------------------------------------------------------------------

def reduced(function, array, axis, dtype, out, keepdims=False, initial=_NOTHING, where=True):
    """function.reduce: see _ufunc.reduce."""
    name = _checked(function, "reduce")
    x = as_array(array, name)
    axes = normalize_axes(axis, x.ndim, name) if x.ndim or axis not in (0, -1) else ()
    x = _given(function, x, dtype, out, name)
    whole = function.__name__ in _REDUCTIONS and x.dtype.kind != "U" and not (
        function.__name__ in ("maximum", "minimum") and x.dtype.kind in "bc")
    reorderable = function.identity is not None or function.__name__ in ("maximum", "minimum", "fmax", "fmin")
    if len(axes) > 1 and not reorderable:
        raise ValueError("%s: reduction operation '%s' is not reorderable, so at most one axis may be specified"
                         % (name, function.__name__))
    start = function.identity if initial is _NOTHING else initial
    if where is not True and start is None:
        raise ValueError("%s: reduction operation '%s' does not have an identity, so to use a where mask one has to specify "
                         "'initial'" % (name, function.__name__))
    empty = 0 in [x.shape[one] for one in axes]
    if empty and start is None:
        raise ValueError("%s: zero-size array to reduction operation %s which has no identity" % (name, function.__name__))
    first = None if initial is _NOTHING or initial is None else asarray(initial, dtype=x.dtype)
    if empty:
        value = _neutral(function, x.dtype, start) if initial is _NOTHING else asarray(start, dtype=x.dtype)
        result = op("copy")(op("broadcast_to")(value, _kept(x.shape, axes)))
    elif function.__name__ in _GROUPED:
        if where is not True:
            x = masked(x, where, _neutral(function, x.dtype, start))
        result = _by_reduction(function, x, axes) if whole else _stepwise(function, x, axes)
        if first is None and start is not None and function.__name__ in _UNSIGNED and all(x.shape[one] == 1 for one in axes):
            first = _neutral(function, x.dtype, start)  # NumPy begins with the identity, which makes -3 a 3
        result = result if first is None else function(first, result)
    else:
        mask = None if where is True else op("broadcast_to")(as_array(where, name), x.shape)
        result = _one_by_one(function, x, axes[0], first, mask) if axes else _beside(function, x, first, mask)
    if not keepdims:
        result = op("reshape")(result, tuple([n for place, n in enumerate(x.shape) if place not in axes]))
    return finish(result, out, where=name)


def _beside(function, x, first, mask):
    """What a reduction over no axis gives: each element after `first`, if there is one."""
    if first is None:
        return op("copy")(x)
    return function(first, x) if mask is None else op("where")(mask, function(first, x), first)


def _kept(shape, axes):
    return tuple([1 if place in axes else extent for place, extent in enumerate(shape)])


def _neutral(function, dtype, start):
    """The element that changes no result."""
    if function.identity == -1 and dtype.kind == "u":  # bitwise_and: all bits
        return op("bitwise_invert")(asarray(0, dtype=dtype))
    return asarray(start if function.identity is None else function.identity, dtype=dtype)


def _by_reduction(function, x, axes):
    name = _REDUCTIONS[function.__name__]
    if not axes:
        return op("copy")(x)
    if name not in ("sum", "prod"):
        return op(name)(x, axes, True)
    if x.dtype.kind == "b":
        return op("any" if name == "sum" else "all")(x, axes, True)
    return op(name)(x, axes, True, x.dtype.number)


def _stepwise(function, x, axes):
    for axis in axes:
        x = _halved(function, x, axis)
    return x


def _halved(function, x, axis):
    """Pairs of neighbours, then pairs of these: each round halves the axis."""
    while x.shape[axis] > 1:
        length = x.shape[axis]
        even = length - length % 2
        paired = function(_step(x, axis, 0, even), _step(x, axis, 1, even))
        x = paired if even == length else op("concat")([paired, cast(_along(x, axis, even, length), paired.dtype)], axis)
    return x


def _step(x, axis, start, stop):
    return x[(slice(None),) * axis + (slice(start, stop, 2),)]


def _one_by_one(function, x, axis, first, mask):
    """Slice by slice from `first`, or from the first slice; slices where the mask is False change nothing."""
    result = _along(x, axis, 0, 1) if first is None else op("copy")(op("broadcast_to")(first, _kept(x.shape, (axis,))))
    for place in range(first is None, x.shape[axis]):
        following = function(result, _along(x, axis, place, place + 1))
        result = following if mask is None else op("where")(_along(mask, axis, place, place + 1), following, result)
    return result


# -- accumulate ------------------------------------------------------------------------------------------------------

def accumulated(function, array, axis, dtype, out):
    """function.accumulate: see _ufunc.accumulate."""
    name = _checked(function, "accumulate")
    x = as_array(array, name)
    if not x.ndim:
        raise TypeError("%s: cannot accumulate on a scalar" % name)
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise ValueError("%s: accumulate does not allow multiple axes" % name)
        axis = axis[0]
    axis = normalize_axis(0 if axis is None else axis, x.ndim, name)
    x = _given(function, x, dtype, out, name)
    running = _RUNNING.get(function.__name__)
    if running and x.dtype.kind in "iufc":
        result = op(running)(x, axis, False, False, False, x.dtype.number)
    elif function.__name__ in _RUNNING_EXTREMA and x.dtype.kind in "iuf":
        result = op(_RUNNING_EXTREMA[function.__name__])(x, axis)[0]
    elif function.__name__ in _GROUPED:
        result = _doubled(function, x, axis)
    else:
        result = _listed(function, x, axis)
    return finish(result, out, where=name)


def _doubled(function, x, axis):
    """Each element takes in the one before it, then the one two before, four before: in log2(n) rounds all before it."""
    reach = 1
    while reach < x.shape[axis]:
        later = function(_along(x, axis, None, -reach), _along(x, axis, reach, None))
        x = op("concat")([_along(x, axis, None, reach), later], axis)
        reach *= 2
    return op("copy")(x)


def _listed(function, x, axis):
    if not x.shape[axis]:
        return op("copy")(x)
    results = [_along(x, axis, 0, 1)]
    for place in range(1, x.shape[axis]):
        results.append(function(results[-1], _along(x, axis, place, place + 1)))
    return op("concat")([cast(one, results[-1].dtype) for one in results], axis)


# -- reduceat --------------------------------------------------------------------------------------------------------

_SEGMENTS = {"add": "segment_sum", "multiply": "segment_prod", "maximum": "segment_max", "minimum": "segment_min"}


def reduced_at(function, array, indices, axis, dtype, out):
    """function.reduceat: see _ufunc.reduceat."""
    name = _checked(function, "reduceat")
    x = as_array(array, name)
    axis = normalize_axis(axis, x.ndim, name)
    x = _given(function, x, dtype, out, name)
    begins, length = as_array(indices, name), x.shape[axis]
    if not begins.size:
        return finish(_along(x, axis, 0, 0), out, where=name)
    if begins.dtype.kind not in "iu":
        raise TypeError("%s: expected indices of integers, got %s" % (name, begins.dtype))
    begins = cast(begins, _dtypes.by_name["int64"])
    for one in (int(op("min")(begins, None, False)), int(op("max")(begins, None, False))):
        if not 0 <= one < length:
            raise IndexError("%s: index %d out-of-bounds in [0, %d)" % (name, one, length))
    following = op("concat")([begins[1:], asarray([length])], 0)
    ends = op("where")(op("greater")(following, begins), following, op("add")(begins, 1))
    if function.__name__ in _SEGMENTS and x.dtype.kind in "iuf":
        result = _segmented(function, x, axis, begins, ends)
    else:
        result = op("concat")([reduced(function, _along(x, axis, begin, end), axis, x.dtype, None, keepdims=True)
                               for begin, end in zip(begins.tolist(), ends.tolist())], axis)
    return finish(result, out, where=name)


def _segmented(function, x, axis, begins, ends):
    """All slices at once: their elements one after another, with the number of the slice beside each."""
    lengths = op("subtract")(ends, begins)
    stops = op("cumulative_sum")(lengths, 0, False, False, False, 0)
    counted = _counted(int(stops[-1]))
    numbers = op("searchsorted")(stops, counted, None, True)
    first = op("subtract")(begins, op("subtract")(stops, lengths))
    places = op("add")(_picked(first, numbers), counted)
    elements = op("moveaxis")(op("take")(x, places, (axis,), 0), (axis,), (0,))
    return op("moveaxis")(op(_SEGMENTS[function.__name__])(elements, numbers, begins.shape[0]), (0,), (axis,))


def _counted(stop):
    return op("integer_range")(0, stop, 1, False, _dtypes.by_name["int64"].number)


def _picked(x, places):
    return op("take")(x, places, (0,), 0)


# -- outer and at ----------------------------------------------------------------------------------------------------

def outer_of(function, a, b, **named):
    """function.outer: see _ufunc.outer."""
    if function.nin != 2:
        raise ValueError("%s.outer: only supported for functions of two inputs (outer product only supported for binary functions)"
                         % function.__name__)
    a, b = as_array(a, function.__name__ + ".outer"), as_array(b, function.__name__ + ".outer")
    return function(op("reshape")(a, a.shape + (1,) * b.ndim), b, **named)


_SCATTERS = {"add": "scatter_add", "subtract": "scatter_subtract", "multiply": "scatter_multiply", "divide": "scatter_divide",
             "maximum": "scatter_maximum", "minimum": "scatter_minimum"}


def apply_at(function, a, indices, b):
    """function.at: see _ufunc.at."""
    name = function.__name__ + ".at"
    if function.nout > 1:
        raise ValueError("%s: only supported for functions of one result" % name)
    if function.nin == 2 and b is None:
        raise ValueError("%s: second operand needed for ufunc" % name)
    if function.nin == 1 and b is not None:
        raise ValueError("%s: second operand provided when ufunc is unary" % name)
    x = output(a, name)
    scatter = _SCATTERS.get(function.__name__)
    if scatter and x.ndim == 1 and type(indices) is Array and _is_scattered(scatter, x, indices, b):
        if type(b) is not Array and -2 ** 53 <= b <= 2 ** 53:
            op(scatter)(x, indices, core.full(indices.shape, float(b), x.dtype, None), 0, x)
            return
        values = cast(as_array(b, name), x.dtype)
        if values.shape != indices.shape:  # the kernels want the values one after the other
            values = op("copy")(op("broadcast_to")(values, indices.shape))
        x[...] = op(scatter)(x, indices, values, 0)
        return
    flat = op("copy")(op("reshape")(x, (-1,)))
    chosen = op("reshape")(_counted(x.size), x.shape)[indices]
    places = op("reshape")(chosen, (-1,))
    values = None if b is None else op("reshape")(op("broadcast_to")(as_array(b, name), chosen.shape), (-1,))
    if scatter and x.dtype.kind in "iuf" and (x.dtype.kind == "f" or scatter != "scatter_divide") and castable(
            values.dtype, x.dtype, "safe"):
        flat = op(scatter)(flat, places, cast(values, x.dtype), 0)
    else:
        _in_rounds(function, flat, places, values)
    x[...] = op("reshape")(flat, x.shape)


def _is_scattered(scatter, x, indices, b):
    """Whether the op takes the indices as they are, and the values in a dtype that x holds."""
    if indices.ndim != 1 or indices.dtype.name not in ("int64", "int32") or x.dtype.kind not in "iuf":
        return False
    if scatter == "scatter_divide" and x.dtype.kind != "f":
        return False
    if type(b) is Array:
        return b.dtype is x.dtype or castable(b.dtype, x.dtype, "safe")
    return type(b) is float and x.dtype.name == "float64" or type(b) is int and x.dtype.name in ("int64", "float64")


def _in_rounds(function, flat, places, values):
    """The first time that each place comes, then the second time, and so on: within a round all places differ."""
    order = op("argsort")(places, 0, False)
    ordered, count = _picked(places, order), _counted(places.size)
    begins = op("concat")([asarray([True]), op("not_equal")(ordered[1:], ordered[:-1])], 0)
    first = op("cumulative_max")(op("where")(begins, count, 0), 0)[0]
    turn = op("subtract")(count, first)
    for number in range(int(op("max")(turn, None, False)) + 1 if places.size else 0):
        now = op("equal")(turn, number)
        chosen = ordered[now]
        operands = (flat[chosen],) if values is None else (flat[chosen], _picked(values, order)[now])
        flat[chosen] = _wrapped(function(*operands), flat.dtype)


def _wrapped(values, dtype):
    """The values in a dtype, as NumPy's casts make integers of floats: by way of a register, whose low bits remain."""
    if values.dtype.kind != "f" or dtype.kind not in "iu" or dtype.kind == "i" and dtype.bits >= 32:
        return cast(values, dtype)
    wrapped = cast(cast(values, _dtypes.by_name["int64"]), dtype)
    if dtype.bits < 64:
        return wrapped
    great = op("where")(op("less")(values, 2.0 ** 64), cast(values, dtype), 0)
    return op("where")(op("less")(values, 0), wrapped, great)

"""Functions that change shapes and join arrays."""
import builtins as _builtins
import ctypes as _ctypes
from operator import index as _index

from nd4c import _creation, _dtypes
from nd4c._abi import MAX_RANK as _MAX_RANK
from nd4c._arguments import axes as _axes, shape as _shape_of
from nd4c._core import Array, from_handle as _from_handle, handle as _handle
from nd4c._errors import Error as _Error, ShapeError as _ShapeError, check as _check
from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected
from nd4c._library import bind as _bind
from nd4c._memory import is_contiguous as _is_contiguous
from nd4c._symbols import ARRAYS, Dim, beside_dims, graph_of
from nd4c._functions.support import (
    as_array as _as_array, cast as _cast, castable as _castable, finish as _finish, normalize_axis as _normalize_axis,
    op as _op, output as _output)

_broadcast_arrays, _unstack = _bind("nd4c_broadcast_arrays"), _bind("nd4c_unstack")


def list_call(call, arrays, where, *middle):
    handles = (_ctypes.c_void_p * len(arrays))(*[_handle(a) for a in arrays])
    outs = (_ctypes.c_void_p * len(arrays))()
    _check(call(handles, *middle, outs, len(arrays)))
    return tuple(_from_handle(out) for out in outs)


def list_of(arrays, where):
    """The arrays of an argument that is a list of them, or one array whose slices are meant."""
    if type(arrays) in ARRAYS:
        return unstack(arrays)
    if not hasattr(arrays, "__len__") or not hasattr(arrays, "__getitem__"):
        raise TypeError("%s: arrays to stack must be a list or tuple of arrays, not a %s"
                        % (where, type(arrays).__name__))
    return [a if type(a) in ARRAYS else _as_array(a, where) for a in arrays]


def normal_axes(axis, ndim, where, argument="", repeated=False):
    """A tuple of axes counted from the front; ValueError for one that is named twice, unless repeated ones may be."""
    axes = tuple([_normalize_axis(one, ndim, where) for one in _axes(axis)])
    if not repeated and len(set(axes)) < len(axes):
        raise ValueError("%s: repeated axis%s: %s" % (where, argument and " in `%s` argument" % argument, axis))
    return axes


def _over_axes(name, a, axes):
    """An op of an array and a list of axes. The op checks the axes itself; what it refuses is refused in NumPy's words."""
    try:
        return _op(name)(a, axes)
    except _Error:
        normal_axes(axes, a.ndim, name)
        raise


def broadcast_arrays(*args, subok=False):
    """All arrays seen with the one shape that they broadcast to.

    Shapes: those of the arrays broadcast. The results are views, a tuple. Dtypes: each array's own.
    Errors: ValueError for shapes that do not broadcast.

    >>> nd4c.broadcast_arrays([1, 2], [[3], [4]])[1]
    array([[3, 3],
           [4, 4]])
    """
    arrays = [_as_array(a, "broadcast_arrays") for a in args]
    if not _builtins.all(type(a) is Array for a in arrays):
        shape = broadcast_shapes(*[a.shape for a in arrays])
        return tuple([_op("broadcast_to")(a, shape) for a in arrays])
    return list_call(_broadcast_arrays, arrays, "broadcast_arrays") if arrays else ()


_shapes_broadcast = _bind("nd4c_shapes_broadcast", keeps_gil=True)


def broadcast_shapes(*args):
    """The one shape that several broadcast to.

    Shapes: tuples or single numbers; the result is a tuple. Errors: ValueError for shapes that do not broadcast.

    >>> nd4c.broadcast_shapes((3, 1), (1, 4), 4)
    (3, 4)
    """
    shapes = [_shape_of(shape) for shape in args]
    for shape in shapes:
        if _builtins.any(extent < 0 for extent in shape):
            raise ValueError("broadcast_shapes: the shape %s has a negative extent" % (shape,))
    count = len(shapes)
    lists = [(_ctypes.c_int64 * len(shape))(*shape) for shape in shapes]
    ranks = (_ctypes.c_int32 * count)(*map(len, shapes))
    places = (_ctypes.c_void_p * count)(*map(_ctypes.addressof, lists))
    rank, extents = _ctypes.c_int32(), (_ctypes.c_int64 * _MAX_RANK)()
    _check(_shapes_broadcast(count, ranks, places, _ctypes.byref(rank), extents))
    return tuple(extents[:rank.value])


def broadcast_to(array, shape, subok=False):
    """An array repeated to a shape: a view.

    Shapes: shape, to which array's broadcasts. Dtypes: any. Writing into the view writes into all places that share an
    element.
    Errors: ValueError if the shape does not fit.

    >>> nd4c.broadcast_to([1, 2, 3], (2, 3))
    array([[1, 2, 3],
           [1, 2, 3]])
    """
    shape = _shape_of(shape)
    return _op("broadcast_to")(beside_dims(array if type(array) is Array else _as_array(array, "broadcast_to"), shape), shape)


@_explained
def concat(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind", **wrong):
    """Arrays joined along an axis; None: of all flattened.

    Shapes: equal but for the axis. Dtypes: promoted, unless dtype or out says another, to which casting allows to go.
    Errors: ValueError for no array, an array without axes and shapes that do not fit; AxisError; TypeError if casting
    forbids it.

    >>> nd4c.concat([[1, 2], [3]])
    array([1, 2, 3])
    >>> nd4c.concat([nd4c.ones((1, 2)), nd4c.zeros((1, 2))], axis=1)
    array([[1., 1., 0., 0.]])
    """
    if wrong:
        raise _unexpected(concat, wrong)
    arrays = list_of(arrays, "concat")
    if not arrays:
        raise ValueError("concat: the list of arrays is empty; at least one is needed")
    if axis is None:
        arrays, axis = [ravel(a) for a in arrays], 0
    ndim = arrays[0].ndim
    if not ndim:
        raise ValueError("concat: arrays without axes cannot be joined; stack() makes an axis of them")
    if axis != 0:
        axis = _normalize_axis(axis, ndim, "concat")
    return _joined("concat", arrays, axis, out, dtype, casting)


def _joined(name, arrays, axis, out, dtype, casting):
    if dtype is None and out is None and casting == "same_kind":
        try:
            return _op(name)(arrays, axis)
        except _ShapeError as error:
            raise _ShapeError("%s (%s)" % (error, _difference(arrays, axis))) from None
    if dtype is not None and out is not None:
        raise TypeError("%s: dtype and out are given; the result has out's dtype, leave dtype out" % name)
    wanted = _output(out, name).dtype if out is not None else None if dtype is None else _dtypes.of(dtype)
    if wanted is None:
        wanted = arrays[0].dtype
        for a in arrays[1:]:
            wanted = _dtypes.promote(wanted, a.dtype)
    for a in arrays:
        if not _castable(a.dtype, wanted, casting):
            raise TypeError("%s: Cannot cast array data from %r to %r according to the rule %r; casting='unsafe' "
                            "allows it" % (name, a.dtype, wanted, casting))
    return _finish(_op(name)([_cast(a, wanted) for a in arrays], axis), out, "unsafe", name)


def _difference(arrays, axis):
    """How the shapes of arrays that cannot be joined differ, in NumPy's words."""
    first = arrays[0]
    for number, other in enumerate(arrays):
        if other.ndim != first.ndim:
            return ("all the input arrays must have same number of dimensions, but the array at index 0 has %d "
                    "dimension(s) and the array at index %d has %d dimension(s)" % (first.ndim, number, other.ndim))
        for place, (one, extent) in enumerate(zip(first.shape, other.shape)):
            if one != extent and place != axis:
                return ("all the input array dimensions except for the concatenation axis must match exactly, but "
                        "along dimension %d, the array at index 0 has size %d and the array at index %d has size %d"
                        % (place, one, number, extent))
    return "the shapes differ"


@_explained
def expand_dims(a, axis, **wrong):
    """An array with axes of length 1 at the given places of the result: a view.

    Shapes: axis, one number or several. Dtypes: any. Errors: AxisError for a place outside; ValueError for one named
    twice.

    >>> nd4c.expand_dims([1, 2], 0)
    array([[1, 2]])
    """
    if wrong:
        raise _unexpected(expand_dims, wrong)
    a = _as_array(a, "expand_dims")
    axes = _axes(axis)
    return _op("expand_dims")(a, normal_axes(axes, a.ndim + len(axes), "expand_dims"))


@_explained
def flip(m, axis=None, **wrong):
    """An array with the order along axes (None: all) reversed: a view.

    Shapes: any. Dtypes: any. Errors: AxisError for an axis outside.

    >>> nd4c.flip([[1, 2], [3, 4]], 1)
    array([[2, 1],
           [4, 3]])
    """
    if wrong:
        raise _unexpected(flip, wrong)
    m = _as_array(m, "flip")
    return _over_axes("flip", m, _axes(axis))


def moveaxis(a, source, destination):
    """An array with axes moved to other places, the others in their order: a view.

    Shapes: source and destination name as many axes. Dtypes: any.
    Errors: AxisError for an axis outside; ValueError for different numbers of axes and for one named twice.

    >>> nd4c.moveaxis(nd4c.zeros((3, 4, 5)), 0, -1).shape
    (4, 5, 3)
    """
    a = _as_array(a, "moveaxis")
    source = normal_axes(source, a.ndim, "moveaxis: source", "source")
    destination = normal_axes(destination, a.ndim, "moveaxis: destination", "destination")
    if len(source) != len(destination):
        raise ValueError("moveaxis: `source` and `destination` arguments must have the same number of elements, not %d "
                         "and %d"
                         % (len(source), len(destination)))
    return _op("moveaxis")(a, source, destination)


def permute_dims(a, axes=None):
    """An array with its axes in another order; None: reversed. A view.

    Shapes: axes names each axis once. Dtypes: any. Errors: AxisError for an axis outside; ValueError for too few or
    repeated ones.

    >>> nd4c.permute_dims(nd4c.zeros((3, 4, 5)), (2, 0, 1)).shape
    (5, 3, 4)
    """
    a = _as_array(a, "transpose")
    if axes is None:
        return _op("transpose")(a, None)
    axes = _axes(axes)
    if len(axes) != a.ndim:
        raise ValueError("transpose: axes don't match array: axes are %s, the array has %d" % (axes, a.ndim))
    return _over_axes("transpose", a, axes) if axes else a


def ravel(a, order="C"):
    """All elements along one axis: a view where the strides allow it.

    order: "C" row by row, "F" column by column, "A" by columns if the array lies so, "K" as "A".

    Shapes: any; the result has one axis, a view where that is possible.
    Dtypes: all.
    Errors: ValueError for another order.

    >>> nd4c.numpy.ravel([[1, 2], [3, 4]], order="F")
    array([1, 3, 2, 4])
    """
    a = _as_array(a, "ravel")
    if order != "C":
        order = _creation.check_order(order, "ravel")
        if order == "F" or (order in "AK" and not _is_contiguous(a) and _creation.is_fortran(a)):
            a = _op("transpose")(a, None)
    return _op("reshape")(a, (a.size if type(a) is Array else -1,))


def repeat(a, repeats, axis=None):
    """Each slice along an axis repeated; None: each element of the array flattened.

    Shapes: repeats, one number for all slices or one for each. Dtypes: any; repeats are integers.
    Errors: AxisError; ValueError for negative repeats or a wrong number of them; TypeError for repeats that are no
    integers.

    >>> nd4c.repeat([3, 4], 2)
    array([3, 3, 4, 4])
    >>> nd4c.repeat([[1, 2], [3, 4]], [1, 2], axis=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    """
    a = _as_array(a, "repeat")
    axes = None if axis is None else (_normalize_axis(axis, a.ndim, "repeat"),)
    if axes is not None and not a.ndim:
        a = _op("reshape")(a, (1,))
    if type(repeats) is int:
        return _op("repeat")(a, None, (repeats,), axes, -1)
    if type(repeats) is Dim:
        return _repeated(beside_dims(a, repeats), repeats, axes)
    counts = _as_array(repeats, "repeat")
    if counts.dtype.kind not in "biu" and counts.size:
        raise TypeError("repeat: repeats are integers, not %s" % counts.dtype.name)
    if counts.ndim > 1:
        raise ValueError("repeat: repeats have the shape %s; they are one number or a list" % (counts.shape,))
    counts = [int(count) for count in ravel(counts).tolist()]
    extent = a.size if axes is None else a.shape[axes[0]]
    if len(counts) not in (1, extent):
        raise ValueError("repeat: operands could not be broadcast: %d repeats for %d slices" % (len(counts), extent))
    if not counts:
        return _op("copy")(a if axes is not None else ravel(a))
    return _op("repeat")(a, None, tuple(counts), axes, -1)


def _repeated(x, repeats, axes):
    """A value of a graph repeated by a dim: along a new axis, which then joins that before it."""
    if axes is None:
        x, axes = _op("reshape")(x, (-1,)), (0,)
    after = axes[0] + 1
    before, extent, rest = x.shape[:axes[0]], x.shape[axes[0]], x.shape[after:]
    made = _op("broadcast_to")(_op("expand_dims")(x, (after,)), before + (extent, repeats) + rest)
    return _op("reshape")(made, before + (extent * repeats,) + rest)


def flatten(x, axis=None):
    """A copy with one axis; with `axis`, two: the first joins the axes before it, the second joins the others.

    Shapes: any; the result has one axis, or two. Dtypes: any.
    Errors: IndexError if x does not have the axis.

    >>> nd4c.flatten([[1, 2], [3, 4]])
    array([1, 2, 3, 4])
    >>> nd4c.flatten(nd4c.zeros((2, 3, 4)), axis=1).shape
    (2, 12)
    """
    x = _as_array(x, "flatten")
    return x.flatten() if axis is None else _op("flatten")(x, axis)


def reshape(a, /, shape, order="C", *, copy=None):
    """An array in another shape of as many elements; one extent may be -1. A view where the strides allow it.

    order: "C" takes and places elements row by row, "F" column by column, "A" as "F" if the array lies by columns, else
    as "C".
    copy: True always copies, False never does. Dtypes: any.
    Shapes: any; the result has `shape`, in which one -1 stands for what is left.
    Errors: ValueError for another number of elements, and for copy=False where only a copy is possible.

    >>> nd4c.reshape([1, 2, 3, 4], (2, -1), order="F")
    array([[1, 3],
           [2, 4]])
    """
    shape = _shape_of(shape)
    x = beside_dims(a if type(a) is Array else _as_array(a, "reshape"), shape)
    if order == "C":
        result = _op("reshape")(x, shape)
    elif type(order) is int:
        raise TypeError("reshape: the shape is one argument, a tuple: shape=%s" % (shape + (order,),))
    else:
        result = _reshaped_in(x, shape, order)
    if copy is None:
        return result
    shared = _overlaps(_handle(x), _handle(result)) or not x.size
    if copy:
        return _creation.copied(result) if shared else result
    if not shared:
        raise ValueError("reshape: Unable to avoid creating a copy while reshaping. %s cannot become %s without one; leave "
                         "copy=False out" % (x.shape, shape))
    return result


_overlaps = _bind("nd4c_array_overlaps", keeps_gil=True)


def _reshaped_in(x, shape, order):
    """Column by column, elements are taken from the transposed array and placed in the reversed shape's transpose."""
    order = _creation.check_order(order, "reshape", "CFA")
    if order == "C" or (order == "A" and (_is_contiguous(x) or not _creation.is_fortran(x))):
        return _op("reshape")(x, shape)
    return _op("transpose")(_op("reshape")(_op("transpose")(x, None), shape[::-1]), None)


@_explained
def roll(a, shift, axis=None, **wrong):
    """An array shifted along axes; elements that leave at one end enter at the other; None: of the array flattened.

    Shapes: shift and axis, one number or several, which are broadcast. Dtypes: any. Errors: AxisError; ValueError.

    >>> nd4c.roll([1, 2, 3, 4], 1)
    array([4, 1, 2, 3])
    >>> nd4c.roll([[1, 2], [3, 4]], 1, axis=0)
    array([[3, 4],
           [1, 2]])
    """
    if wrong:
        raise _unexpected(roll, wrong)
    a = _as_array(a, "roll")
    shifts = _whole_numbers(shift, "roll: shift")
    if axis is None:
        return _op("roll")(a, (_builtins.sum(shifts) % _builtins.max(a.size, 1),), None)
    axes = normal_axes(axis, a.ndim, "roll", repeated=True)
    if len(shifts) != len(axes):
        if 1 not in (len(shifts), len(axes)):
            raise ValueError("roll: 'shift' and 'axis' should be scalars or 1D sequences of one length, not %d and %d "
                             "numbers"
                             % (len(shifts), len(axes)))
        shifts = shifts * len(axes) if len(shifts) == 1 else shifts
        axes = axes * len(shifts) if len(axes) == 1 else axes
    if not shifts:
        return _op("copy")(a)
    sums = {}
    for place, number in zip(axes, shifts):
        sums[place] = sums.get(place, 0) + number
    # The op counts in 64 bits; a shift by more elements than the axis has is the same as one by the remainder.
    return _op("roll")(a, tuple(number % _builtins.max(a.shape[place], 1) for place, number in sums.items()),
                       tuple(sums))


def _whole_numbers(values, where):
    """A tuple of Python integers of one number, a list of them or an array."""
    if type(values) is int:
        return (values,)
    if type(values) is Array:
        values = values.tolist()
    try:
        return (_index(values),)
    except TypeError:
        pass
    try:
        return tuple(_index(value) for value in values)
    except TypeError:
        raise TypeError("%s: expected an integer or several, got %r" % (where, values)) from None


@_explained
def squeeze(a, axis=None, **wrong):
    """An array without axes of length 1: the given ones, or all. A view.

    Shapes: any; the result without the axes.
    Dtypes: any. Errors: AxisError for an axis outside; ValueError for one of another length.

    >>> nd4c.squeeze(nd4c.zeros((1, 3, 1))).shape
    (3,)
    >>> nd4c.squeeze(nd4c.zeros((1, 3, 1)), axis=0).shape
    (3, 1)
    """
    if wrong:
        raise _unexpected(squeeze, wrong)
    a = _as_array(a, "squeeze")
    if axis is None or axis == () or (not a.ndim and axis in (0, -1)):
        return _op("squeeze")(a, None) if axis is None else _op("reshape")(a, a.shape)
    return _over_axes("squeeze", a, _axes(axis))


@_explained
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind", **wrong):
    """Arrays of one shape joined along a new axis.

    Shapes: all equal; axis is a place of the result. Dtypes: promoted, unless dtype or out says another, to which
    casting allows to go. Errors: ValueError for no array and shapes that differ; AxisError; TypeError if casting
    forbids it.

    >>> nd4c.stack([[1, 2], [3, 4]], axis=1)
    array([[1, 3],
           [2, 4]])
    """
    if wrong:
        raise _unexpected(stack, wrong)
    arrays = list_of(arrays, "stack")
    if not arrays:
        raise ValueError("stack: need at least one array to stack; the list is empty")
    if _builtins.all(type(a) is Array for a in arrays) and len({a.shape for a in arrays}) > 1:
        raise ValueError("stack: all input arrays must have the same shape, not %s"
                         % ", ".join(str(a.shape) for a in arrays))
    if axis != 0:
        axis = _normalize_axis(axis, arrays[0].ndim + 1, "stack")
    return _joined("stack", arrays, axis, out, dtype, casting)


def tile(A, reps):
    """An array repeated as a whole.

    Shapes: reps, one number or one an axis; the shorter of reps and A's shape is filled up with ones in front. Dtypes:
    any.
    Errors: ValueError for a negative number.

    >>> nd4c.tile([1, 2], 2)
    array([1, 2, 1, 2])
    >>> nd4c.tile([1, 2], (2, 1))
    array([[1, 2],
           [1, 2]])
    """
    A, reps = _as_array(A, "tile"), _shape_of(reps) if graph_of(reps) is not None else _whole_numbers(reps, "tile: reps")
    return _op("tile")(beside_dims(A, reps), reps)


@_explained
def unstack(x, /, *, axis=0, **wrong):
    """The slices of an array along an axis, a tuple of views.

    Shapes: one axis or more; the results without the axis.
    Dtypes: any. Errors: ValueError for an array without axes; AxisError for an axis outside.

    >>> nd4c.unstack([[1, 2], [3, 4]])
    (array([1, 2]), array([3, 4]))
    """
    if wrong:
        raise _unexpected(unstack, wrong)
    x = _as_array(x, "unstack")
    if not x.ndim:
        raise ValueError("unstack: an array without axes has no slices")
    count = x.shape[_normalize_axis(axis, x.ndim, "unstack")]
    if type(x) is not Array:
        before = (slice(None),) * _normalize_axis(axis, x.ndim)
        return tuple([x[before + (place,)] for place in range(count)])
    outs = (_ctypes.c_void_p * _builtins.max(count, 1))()
    _check(_unstack(_handle(x), axis, outs, count))
    return tuple(_from_handle(outs[i]) for i in range(count))

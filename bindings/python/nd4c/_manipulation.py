"""Functions that change shapes and join arrays."""
import builtins as _builtins
import ctypes as _ctypes

from nd4c import _creation
from nd4c._abi import MAX_RANK as _MAX_RANK
from nd4c._arguments import axes as _axes, shape as _shape_of
from nd4c._core import Array, from_handle as _from_handle, handle as _handle
from nd4c._errors import check as _check
from nd4c._library import bind as _bind
from nd4c._support import array as _array, op as _op

_broadcast_arrays, _unstack = _bind("nd4c_broadcast_arrays"), _bind("nd4c_unstack")


def list_call(call, arrays, where, *middle):
    handles = (_ctypes.c_void_p * len(arrays))(*[_handle(_array(a, where)) for a in arrays])
    outs = (_ctypes.c_void_p * len(arrays))()
    _check(call(handles, *middle, outs, len(arrays)))
    return tuple(_from_handle(out) for out in outs)


def broadcast_arrays(*arrays):
    """All arrays seen with the one shape that they broadcast to."""
    return list_call(_broadcast_arrays, arrays, "broadcast_arrays") if arrays else ()


_shapes_broadcast = _bind("nd4c_shapes_broadcast", keeps_gil=True)


def broadcast_shapes(*shapes):
    """The one shape that several broadcast to."""
    shapes = [_shape_of(shape) for shape in shapes]
    count = len(shapes)
    lists = [(_ctypes.c_int64 * len(shape))(*shape) for shape in shapes]
    ranks = (_ctypes.c_int32 * count)(*map(len, shapes))
    places = (_ctypes.c_void_p * count)(*map(_ctypes.addressof, lists))
    rank, extents = _ctypes.c_int32(), (_ctypes.c_int64 * _MAX_RANK)()
    _check(_shapes_broadcast(count, ranks, places, _ctypes.byref(rank), extents))
    return tuple(extents[:rank.value])


def broadcast_to(x, /, shape):
    """x repeated to a shape: a view."""
    return _op("broadcast_to")(x, _shape_of(shape))


def concat(arrays, /, *, axis=0):
    """Arrays joined along an axis; None: of all flattened."""
    arrays = [_array(a, "concat") for a in arrays]
    if axis is None:
        arrays, axis = [_op("reshape")(a, (-1,)) if a.size else _op("reshape")(a, (0,)) for a in arrays], 0
    return _op("concat")(arrays, axis)


def expand_dims(x, /, axis):
    """x with axes of length 1 at the given places of the result."""
    return _op("expand_dims")(x, _axes(axis))


def flip(x, /, *, axis=None):
    """x with the order along axes (None: all) reversed."""
    return _op("flip")(x, _axes(axis))


def moveaxis(x, source, destination, /):
    """x with axes moved to other places."""
    return _op("moveaxis")(x, _axes(source), _axes(destination))


def permute_dims(x, /, axes):
    """x with its axes in another order."""
    axes = tuple(axes)
    if not axes:
        if _array(x, "permute_dims").ndim:
            raise ValueError("permute_dims: axes are (), the array has %d" % x.ndim)
        return x
    return _op("transpose")(x, axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element repeated along an axis; None: of x flattened."""
    axes = None if axis is None else (axis,)
    if type(repeats) is not Array:
        return _op("repeat")(x, None, _axes(repeats), axes, -1)
    if not repeats.ndim:
        return _op("repeat")(x, None, (int(repeats),), axes, -1)
    extent = _array(x, "repeat").size if axis is None else x.shape[axis]
    if repeats.size == 1 and extent != 1:
        return _op("repeat")(x, None, (int(repeats[0]),), axes, -1)
    return _op("repeat")(x, None, repeats.tolist(), axes, -1) if repeats.size else _op("copy")(
        x if axis is not None else _op("reshape")(x, (-1,) if x.size else (0,)))


def reshape(x, /, shape, *, copy=None):
    """x in another shape of as many elements; one extent may be -1. A view where the strides allow it."""
    result = _op("reshape")(x, _shape_of(shape))
    if copy is None:
        return result
    shared = _overlaps(_handle(x), _handle(result)) or not x.size
    if copy:
        return _creation.copied(result) if shared else result
    if not shared:
        raise ValueError("reshape: %s cannot become %s without a copy; leave copy=False out" % (x.shape, tuple(shape)))
    return result


_overlaps = _bind("nd4c_array_overlaps", keeps_gil=True)


def roll(x, /, shift, *, axis=None):
    """x shifted along axes; elements that leave at one end enter at the other; None: of x flattened."""
    shifts, axes = _axes(shift), _axes(axis)
    if axes is not None and len(shifts) != len(axes):
        shifts = shifts * len(axes) if len(shifts) == 1 else shifts
        axes = axes * len(shifts) if len(axes) == 1 else axes
    return _op("roll")(x, shifts, axes)


def squeeze(x, /, axis):
    """x without the given axes, which are of length 1."""
    return _op("squeeze")(x, _axes(axis))


def stack(arrays, /, *, axis=0):
    """Arrays of one shape joined along a new axis."""
    return _op("stack")([_array(a, "stack") for a in arrays], axis)


def tile(x, repetitions, /):
    """x repeated as a whole."""
    return _op("tile")(x, _shape_of(repetitions))


def unstack(x, /, *, axis=0):
    """The slices of x along an axis."""
    if not _array(x, "unstack").ndim:
        raise ValueError("unstack: an array without axes has no slices")
    place = axis + x.ndim if axis < 0 else axis
    count = x.shape[place] if 0 <= place < x.ndim else 0
    outs = (_ctypes.c_void_p * _builtins.max(count, 1))()
    _check(_unstack(_handle(x), axis, outs, count))
    return tuple(_from_handle(outs[i]) for i in range(count))

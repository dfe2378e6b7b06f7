"""numpy.lib.array_utils: axes as functions of arrays take them, and the bounds of an array's memory."""
from nd4c import _memory
from nd4c._functions.support import as_array as _as_array, normalize_axis as _normalize_axis

__all__ = ["byte_bounds", "normalize_axis_index", "normalize_axis_tuple"]


def byte_bounds(a):
    """The addresses of the first byte of an array and of the one after its last.

    >>> low, high = np.lib.array_utils.byte_bounds(nd4c.zeros(4, "int16"))
    >>> high - low
    8
    """
    a = _as_array(a, "byte_bounds")
    low = high = _memory.address(a)
    for stride, extent in zip(_memory.byte_strides(a), a.shape):
        if stride < 0:
            low += (extent - 1) * stride
        else:
            high += (extent - 1) * stride
    return low, high + a.dtype.itemsize


def normalize_axis_index(axis, ndim, msg_prefix=None):
    """An axis counted from the front. Errors: AxisError if there is no such axis.

    >>> np.lib.array_utils.normalize_axis_index(-1, ndim=3)
    2
    """
    return _normalize_axis(axis, ndim, msg_prefix or "")


def normalize_axis_tuple(axis, ndim, argname=None, allow_duplicate=False):
    """One axis or several as a tuple of axes counted from the front.

    Errors: AxisError if there is no such axis; ValueError for one that is named twice, unless allow_duplicate.

    >>> np.lib.array_utils.normalize_axis_tuple((0, -1), 3)
    (0, 2)
    """
    from nd4c._functions.manipulation import normal_axes
    return normal_axes(axis, ndim, argname or "normalize_axis_tuple", argname or "", allow_duplicate)

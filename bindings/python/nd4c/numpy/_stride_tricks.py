"""Views by strides, and whether arrays share memory."""
from ctypes import byref, c_void_p

from nd4c import _memory
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array, from_handle, handle
from nd4c._errors import check
from nd4c._library import bind
from nd4c._functions.support import as_array as _as_array, normalize_axis as _normalize_axis

__all__ = ["may_share_memory", "shares_memory"]

_as_strided = bind("nd4c_array_as_strided")
_overlaps = bind("nd4c_array_overlaps", keeps_gil=True)


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view of an array's memory with another shape and other strides.

    Shapes: shape, x's if it is left out. strides: bytes from one index to the next, an axis each; x's if they are left
    out. writeable=False makes the view read-only where the array is on the host. subok has no effect: arrays have no
    subclasses.
    Dtypes: all; the result has the same.
    Errors: IndexError for a view that would leave the array's memory, which NumPy does not see; ValueError for strides
    that are no whole elements.

    >>> x = nd4c.arange(4)
    >>> np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """
    x = _as_array(x, "as_strided")
    shape = x.shape if shape is None else _shape_of(shape)
    strides = _memory.byte_strides(x) if strides is None else tuple(strides)
    if len(shape) != len(strides):
        raise ValueError("as_strided: shape has %d axes, strides have %d" % (len(shape), len(strides)))
    size = x.dtype.itemsize
    if not size or any(stride % size for stride in strides):
        raise ValueError("as_strided: strides %s are not whole elements of %s, %d bytes each"
                         % (strides, x.dtype.name, size))
    out = c_void_p()
    check(_as_strided(handle(x), len(shape), _memory.int64(shape),
                      _memory.int64([stride // size for stride in strides]), 0,
                      byref(out)))
    return _protected(from_handle(out.value), writeable)


def _protected(view, writeable):
    """The view, or a read-only one of the same memory."""
    if writeable or not view.size or view.dtype.kind == "U" or view.device.name != "cpu:0":
        return view
    return _memory.wrap(_memory.address(view), view.shape, _memory.strides(view), view.dtype, True, view)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of a shape in an array: a view whose last axes are those of the window.

    Shapes: axes with windows are shorter by the window's length - 1. axis: those of the window; None: all. Dtypes: any.
    Errors: ValueError for a negative window, one longer than the axis, and another number of axes; AxisError.

    >>> np.lib.stride_tricks.sliding_window_view(nd4c.arange(4), 2)
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """
    x, window = _as_array(x, "sliding_window_view"), _shape_of(window_shape)
    if any(extent < 0 for extent in window):
        raise ValueError("sliding_window_view: `window_shape` cannot contain negative values: %s" % (window,))
    if axis is None:
        axes = tuple(range(x.ndim))
        if len(window) != x.ndim:
            raise ValueError("sliding_window_view: Since axis is None, must provide window_shape for all dimensions of "
                             "`x`; got %d window_shape elements and `x.ndim` is %d." % (len(window), x.ndim))
    else:
        axes = tuple(_normalize_axis(one, x.ndim, "sliding_window_view") for one in _shape_of(axis))
        if len(window) != len(axes):
            raise ValueError("sliding_window_view: Must provide matching length window_shape and axis; got %d window_shape "
                             "elements and %d axes elements." % (len(window), len(axes)))
    left = list(x.shape)
    for one, extent in zip(axes, window):
        if left[one] < extent:
            raise ValueError("sliding_window_view: window shape cannot be larger than input array shape: %s on axes %s "
                             "of %s"
                             % (window, axes, x.shape))
        left[one] -= extent - 1
    strides = _memory.byte_strides(x)
    return as_strided(x, tuple(left) + window, strides + tuple(strides[one] for one in axes), writeable=writeable)


def shares_memory(a, b, /, max_work=-1):
    """Whether two arrays share a byte of memory. The bounds of both decide, so interleaved views count as sharing.

    Shapes: any; the result is a bool.
    Dtypes: all.
    Errors: none for arrays.

    >>> x = nd4c.arange(4)
    >>> np.shares_memory(x, x[1:]), np.shares_memory(x, nd4c.copy(x))
    (True, False)
    """
    return _share(a, b, "shares_memory")


def may_share_memory(a, b, /, max_work=0):
    """Whether two arrays may share memory, by their bounds.

    Shapes: any; the result is a bool.
    Dtypes: all.
    Errors: none for arrays.

    >>> x = nd4c.arange(4)
    >>> np.may_share_memory(x[:2], x[2:])
    False
    """
    return _share(a, b, "may_share_memory")


def _share(a, b, name):
    a, b = (one if type(one) is Array else _as_array(one, name) for one in (a, b))
    return bool(_overlaps(handle(a), handle(b)))

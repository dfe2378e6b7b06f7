"""Indices: taking, putting, choosing, diagonals, positions of elements."""
import builtins as _builtins
from operator import index as _index

from nd4c import _dtypes
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array
from nd4c._creation import asarray, made_on
from nd4c._functions.creation import arange
from nd4c._functions.dtypes import result_type
from nd4c._functions.manipulation import broadcast_arrays, ravel, reshape
from nd4c._memory import is_contiguous
from nd4c._functions.sorting import nonzero, take, take_along_axis, where
from nd4c._functions.support import (
    as_array as _as_array, cast as _cast, castable as _castable, finish as _finish, normalize_axis as _normalize_axis,
    op as _op)
from nd4c._symbols import ARRAYS
from nd4c.numpy._grids import c_, index_exp, mgrid, ogrid, r_, s_
from nd4c.numpy._iterators import broadcast, ndenumerate, ndindex
from nd4c.numpy._manipulation import resize

__all__ = [
    "broadcast", "c_", "choose", "compress", "diag_indices", "diag_indices_from", "diagonal", "extract",
    "fill_diagonal", "index_exp", "indices", "iterable", "ix_", "mgrid", "ndenumerate", "ndindex", "nonzero", "ogrid",
    "place", "put", "put_along_axis", "putmask", "r_", "ravel_multi_index", "s_", "select", "take", "take_along_axis",
    "unravel_index", "where"]

_INT = _dtypes.DEFAULTS[int]


def _target(a, name):
    """The array that a function writes into, which cannot be made of anything else."""
    if type(a) is not Array:
        raise TypeError("%s: argument 1 must be an nd4c.Array, which is written into, not %s"
                        % (name, type(a).__name__))
    return a


def _mask(condition, name):
    condition = _as_array(condition, name)
    return condition if condition.dtype.kind == "b" else condition != 0


def _integers(values, name):
    """Indices as int64."""
    made = _as_array(values, name)
    if made.dtype.kind == "f" and not made.size and not hasattr(values, "dtype"):
        return _cast(made, _INT)
    if made.dtype.kind not in "biu":
        raise TypeError("%s: indices are integers, Cannot cast array data from %s" % (name, made.dtype.name))
    return _cast(made, _INT)


def _brought_in(places, extent, mode, name, negative=True):
    """Indices moved into an axis as mode says; "raise": checked, negative ones counted from the end where they may
    be."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError("%s: mode is %r; it may be 'raise', 'wrap' or 'clip'" % (name, mode))
    if not places.size:
        return places
    if not extent:
        raise ValueError("%s: there is no index into an axis of length 0 (cannot do it on empty dimensions)" % name)
    if mode == "wrap":
        return places % extent
    if mode == "clip":
        return _op("clip")(places, asarray(0), asarray(extent - 1))
    low, high = int(_op("min")(places, None, False)), int(_op("max")(places, None, False))
    if low < (-extent if negative else 0) or high >= extent:
        wrong = low if low < (-extent if negative else 0) else high
        kind = IndexError if negative else ValueError
        raise kind("%s: index %d is out of bounds for array with size %d (invalid entry in coordinates array)"
                   % (name, wrong, extent))
    return places + extent * (places < 0) if low < 0 else places


# -- putting ---------------------------------------------------------------------------------------------------------

def _set_flat(a, places, values):
    """a.flat[places] = values, for whatever layout a has."""
    values = _cast(values, a.dtype)
    if is_contiguous(a):
        _op("reshape")(a, (a.size,))[places] = values
    else:
        a[_unraveled(places, a.shape)] = values


def _unraveled(places, shape):
    return tuple(_op("unravel_index")(places, shape))


def put(a, ind, v, mode="raise"):
    """Writes values into a at indices of its elements in C order.

    Shapes: v is repeated as often as needed. Dtypes: v is converted to a's. mode: an index out of range raises, is
    wrapped ("wrap") or clipped ("clip"). Errors: IndexError; TypeError if a is no array.

    >>> x = nd4c.arange(5)
    >>> np.put(x, [0, 2], [-44, -55])
    >>> x
    array([-44,   1, -55,   3,   4])
    """
    _target(a, "put")
    places = ravel(_integers(ind, "put"))
    values = ravel(_as_array(v, "put"))
    if not places.size or not values.size:
        return
    if not a.size:
        raise IndexError("put: cannot replace elements of an empty array")
    _set_flat(a, _brought_in(places, a.size, mode, "put"), resize(values, places.shape))


def place(arr, mask, vals):
    """Writes the first of vals into the elements of arr where the mask is True, one after the other.

    Shapes: mask has as many elements as arr; vals is repeated as often as needed. Dtypes: vals is converted to arr's.
    Errors: ValueError for no value; TypeError if arr is no array.

    >>> x = nd4c.asarray([1, 2, 3])
    >>> np.place(x, x > 1, [44, 55])
    >>> x
    array([ 1, 44, 55])
    """
    _target(arr, "place")
    mask = _mask(mask, "place")
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size, not %d and %d" % (mask.size, arr.size))
    places = nonzero(ravel(mask))[0]
    values = ravel(_as_array(vals, "place"))
    if not places.size:
        return
    if not values.size:
        raise ValueError("place: Cannot insert from an empty array!")
    _set_flat(arr, places, resize(values, places.shape))


def putmask(a, /, mask, values):
    """Writes into a, where the mask is True, the elements of values at the same places.

    Shapes: mask has a's; values are repeated in C order as often as needed. Dtypes: values are converted to a's.
    Errors: ValueError for a mask of another size; TypeError if a is no array.

    >>> x = nd4c.arange(5)
    >>> np.putmask(x, x > 1, [-33, -44])
    >>> x
    array([  0,   1, -33, -44, -33])
    """
    _target(a, "putmask")
    mask = _mask(mask, "putmask")
    if mask.size != a.size:
        raise ValueError("putmask: mask and data must be the same size, not %d and %d" % (mask.size, a.size))
    values = _as_array(values, "putmask") if hasattr(values, "dtype") else asarray(values, a.dtype)
    if not _castable(values.dtype, a.dtype, "safe"):
        raise TypeError("putmask: Cannot cast array data from %r to %r according to the rule 'safe'; cast the values "
                        "first"
                        % (values.dtype, a.dtype))
    if values.size:
        a[...] = _op("where")(_op("reshape")(mask, a.shape), _cast(resize(values, a.shape), a.dtype), a)


def put_along_axis(arr, indices, values, axis):
    """Writes values into arr[..., indices[..., i, ...], ...], an index for each place along an axis.

    axis None: the indices are those of arr flattened.


    Shapes: indices has as many axes as arr, and broadcasts with it but for the axis; values broadcast to that.
    Dtypes: values are converted to arr's. Errors: IndexError; ValueError for another number of axes; TypeError if arr
    is no array.

    >>> x = nd4c.asarray([[10, 30, 20], [60, 40, 50]])
    >>> np.put_along_axis(x, nd4c.argmax(x, axis=1, keepdims=True), 99, axis=1)
    >>> x
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    _target(arr, "put_along_axis")
    places = _as_array(indices, "put_along_axis")
    if places.dtype.kind not in "iu":
        raise IndexError("put_along_axis: `indices` must be an integer array, not %s" % places.dtype.name)
    values = _cast(_as_array(values, "put_along_axis"), arr.dtype)
    if axis is None:
        if places.ndim != 1:
            raise ValueError("put_along_axis: when axis=None, `indices` must have a single dimension, not %d"
                             % places.ndim)
        _set_flat(arr, _brought_in(_cast(places, _INT), arr.size, "raise", "put_along_axis"), values)
        return
    axis = _normalize_axis(axis, arr.ndim, "put_along_axis")
    if places.ndim != arr.ndim:
        raise ValueError("put_along_axis: `indices` and `arr` must have the same number of dimensions, not %d and %d"
                         % (places.ndim, arr.ndim))
    arr[tuple(places if one == axis else reshape(arange(extent), (-1,) + (1,) * (arr.ndim - 1 - one))
              for one, extent in enumerate(arr.shape))] = values


# -- choosing --------------------------------------------------------------------------------------------------------

def choose(a, choices, out=None, mode="raise"):
    """At each place the element of the choice whose number a has there.

    Shapes: a and all choices broadcast. Dtypes: a holds integers; the result has the dtype that the choices share.
    mode: a number out of range raises, is wrapped ("wrap") or clipped ("clip"). Errors: ValueError.

    >>> np.choose([1, 0], [[10, 11], [20, 21]])
    array([20, 11])
    """
    numbers = _integers(a, "choose")
    listed = list(choices)
    if not listed:
        raise ValueError("choose: choices is empty, at least one is needed")
    listed, dtype = _with_dtype(listed, "choose", wraps=True)
    numbers, *listed = broadcast_arrays(numbers, *listed)
    numbers = _brought_in(numbers, len(listed), mode, "choose", negative=False)
    table = _op("stack")([_cast(one, dtype) for one in listed], 0)
    return _finish(_op("take_along_axis")(table, _op("expand_dims")(numbers, (0,)), 0)[0], out, "unsafe", "choose")


def _with_dtype(values, name, wraps=False):
    """Values as arrays, and the dtype that they share, in which Python numbers count by their kind.

    An integer that the dtype does not hold is an OverflowError, unless `wraps`."""
    weak = [one if type(one) in (int, float, complex) else _as_array(one, name) for one in values]
    if not _builtins.any(type(one) in ARRAYS for one in weak):
        weak = [asarray(one) for one in weak]
    dtype = result_type(*weak)
    return [one if type(one) in ARRAYS else asarray(one, None if wraps else dtype) for one in weak], dtype


def select(condlist, choicelist, default=0):
    """At each place the element of the choice of the first condition that holds there; the default where none does.

    Shapes: all conditions and choices broadcast. Dtypes: conditions are bool; the result has the dtype that the choices
    share.
    Errors: ValueError for lists of different lengths or without conditions; TypeError for a condition that is not bool.

    >>> x = nd4c.arange(5)
    >>> np.select([x < 2, x > 3], [x, x * 10], -1)
    array([ 0,  1, -1, -1, 40])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("select: list of cases must be same length as list of conditions, not %d and %d"
                         % (len(choicelist), len(condlist)))
    if not len(condlist):
        raise ValueError("select: select with an empty condition list is not possible")
    numbers, dtype = _with_dtype(list(choicelist) + [default], "select")
    conditions = [_as_array(condition, "select") for condition in condlist]
    for number, condition in enumerate(conditions):
        if condition.dtype.kind != "b":
            raise TypeError("select: invalid entry %d in condlist: should be boolean ndarray, not %s"
                            % (number, condition.dtype.name))
    spread = broadcast_arrays(*conditions, *[_cast(one, dtype) for one in numbers])
    made = spread[-1]
    for condition, choice in reversed(list(zip(spread[:len(conditions)], spread[len(conditions):]))):
        made = _op("where")(condition, choice, made)
    return made


def compress(condition, a, axis=None, out=None):
    """a's slices along an axis where the condition holds; None: elements of a flattened.

    Shapes: condition has one axis; slices past its end are left out. Dtypes: a's.
    Errors: ValueError for a condition of other axes; IndexError for one that holds outside; AxisError.

    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=0)
    array([[3, 4]])
    """
    condition = _mask(condition, "compress")
    if condition.ndim != 1:
        raise ValueError("compress: condition must be a 1-d array, not of the shape %s" % (condition.shape,))
    a = _as_array(a, "compress")
    axis = None if axis is None else _normalize_axis(axis, a.ndim, "compress")
    extent = a.size if axis is None else a.shape[axis]
    if condition.size > extent:
        if bool(_op("any")(condition[extent:], None, False)):
            raise IndexError("compress: the condition holds at %d, out of bounds for axis of %d"
                             % (extent + int(nonzero(condition[extent:])[0][0]), extent))
        condition = condition[:extent]
    return _finish(_op("compress")(a, condition, None if axis is None else (axis,)), out, "unsafe", "compress")


def extract(condition, arr):
    """The elements of an array, in C order, where the condition is not 0. Dtypes: arr's.

    Shapes: any of one size; the result has one axis.
    Errors: IndexError if condition has true elements behind the end of arr.

    >>> np.extract([True, False, True], [1, 2, 3])
    array([1, 3])
    """
    arr, mask = ravel(arr), ravel(_mask(condition, "extract"))
    return arr[mask] if mask.size == arr.size else arr[nonzero(mask)[0]]


# -- diagonals -------------------------------------------------------------------------------------------------------

def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of the matrices in two axes: elements whose second index is the first plus offset. A view.

    Shapes: the two axes are left out, the diagonal comes last. Dtypes: any.
    Errors: ValueError for fewer than two axes or one axis twice; AxisError. nd4c.linalg.diagonal takes the last two
    axes.

    >>> np.diagonal([[1, 2], [3, 4]])
    array([1, 4])
    """
    a = _as_array(a, "diagonal")
    if a.ndim < 2:
        raise ValueError("diagonal: diag requires an array of at least two dimensions, this one has %d" % a.ndim)
    axis1, axis2 = (_normalize_axis(axis, a.ndim, "diagonal") for axis in (axis1, axis2))
    if axis1 == axis2:
        raise ValueError("diagonal: axis1 and axis2 cannot be the same, both are %d" % axis1)
    return _op("diagonal")(a, _index(offset), axis1, axis2)


def diag_indices(n, ndim=2):
    """The indices of the main diagonal of an array of ndim axes of length n, one array an axis.

    Shapes: ndim vectors of the length of the diagonal.
    Dtypes: int64.
    Errors: TypeError for a length that is no integer.

    >>> np.diag_indices(3)
    (array([0, 1, 2]), array([0, 1, 2]))
    """
    return (arange(n),) * ndim


def diag_indices_from(arr):
    """diag_indices of an array's shape. Errors: ValueError for fewer than two axes, and for axes of different lengths.

    Shapes: ndim vectors of the length of the diagonal.
    Dtypes: int64.

    >>> np.diag_indices_from(nd4c.zeros((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    arr = _as_array(arr, "diag_indices_from")
    if arr.ndim < 2:
        raise ValueError("diag_indices_from: input array must be at least 2-d, this one has %d axes" % arr.ndim)
    if len(set(arr.shape)) > 1:
        raise ValueError("diag_indices_from: All dimensions of input must be of equal length, not %s" % (arr.shape,))
    return diag_indices(arr.shape[0], arr.ndim)


def fill_diagonal(a, val, wrap=False):
    """Writes values into the main diagonal of an array, in place.

    Shapes: a of two axes, or of more of one length; val is repeated as often as needed. wrap: tall matrices get the
    diagonal again below, after a free row. Dtypes: val is converted to a's. Errors: ValueError for other shapes;
    TypeError if a is no array.

    >>> x = nd4c.zeros((2, 2), int)
    >>> np.fill_diagonal(x, 5)
    >>> x
    array([[5, 0],
           [0, 5]])
    """
    _target(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("fill_diagonal: array must be at least 2-d, this one has %d axes" % a.ndim)
    end = a.size
    if a.ndim == 2:
        step = a.shape[1] + 1
        end = end if wrap else _builtins.min(a.shape[1] * a.shape[1], end)
    else:
        if len(set(a.shape)) > 1:
            raise ValueError("fill_diagonal: All dimensions of input must be of equal length, not %s" % (a.shape,))
        step = _builtins.sum(a.shape[0] ** power for power in range(a.ndim))
    values = ravel(_as_array(val, "fill_diagonal"))
    places = arange(0, end, step)
    if places.size and values.size:
        _set_flat(a, places, resize(values, places.shape))


# -- positions of elements -------------------------------------------------------------------------------------------

def indices(dimensions, dtype=int, sparse=False, *, device=None):
    """The indices of a grid, one array an axis.

    They are joined along a first axis, or, if sparse, a tuple of arrays with one long axis each.


    Dtypes: dtype. Shapes: dimensions, a tuple; the result has (len(dimensions),) in front of them.
    Errors: ValueError for a negative length.

    >>> np.indices((2, 3))[1]
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    dimensions, wanted = _shape_of(dimensions), _dtypes.of(dtype)
    if sparse:
        count = len(dimensions)
        return tuple(reshape(_cast(arange(extent, device=device), wanted),
                             (1,) * axis + (extent,) + (1,) * (count - 1 - axis))
                     for axis, extent in enumerate(dimensions))
    if wanted.kind not in "iuf":
        return _cast(indices(dimensions, int, device=device), wanted)
    return made_on(device, _op("indices"), dimensions, wanted.number)


def unravel_index(indices, shape, order="C"):
    """The indices of elements of which the position in an array is given, one array an axis.

    Shapes: indices of any shape, which the results have. order: positions count in "C" or "F" order. Dtypes: integers.
    Errors: ValueError for a position outside; TypeError for positions that are no integers.

    >>> np.unravel_index([22, 41], (7, 6))
    (array([3, 6]), array([4, 5]))
    """
    if order not in ("C", "F"):
        raise ValueError("unravel_index: only 'C' or 'F' order is permitted, not %r" % (order,))
    places, shape = _positions(indices, "unravel_index"), _shape_of(shape)
    size = _size_of(shape, "unravel_index")
    _brought_in(places, size, "raise", "unravel_index", negative=False)
    if not shape:
        if places.ndim:
            raise ValueError("unravel_index: multiple indices are not supported for 0d array")
        return ()
    made = []
    for extent in reversed(shape) if order == "C" else shape:
        made.append(places % extent if extent else places)
        places = places // extent if extent else places
    return tuple(reversed(made) if order == "C" else made)


def _positions(values, name):
    """Positions as int64, which have to be integers."""
    made = _as_array(values, name)
    if made.dtype.kind not in "iu":
        if not made.size and not hasattr(values, "dtype"):
            raise TypeError("%s: indices must be integral: the provided empty sequence was inferred as float. Wrap it "
                            "with 'np.array(indices, dtype=np.intp)'" % name)
        raise TypeError("%s: only int indices permitted, not %s" % (name, made.dtype.name))
    return _cast(made, _INT)


def _size_of(shape, name):
    size = 1
    for extent in shape:
        size *= extent
    if size >= 2 ** 63:
        raise ValueError("%s: invalid dims: array size defined by dims is larger than the maximum possible size."
                         % name)
    return size


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """The positions of elements in an array of a shape, of which the indices are given, one array an axis.

    Shapes: the index arrays broadcast. mode: an index out of range raises, is wrapped ("wrap") or clipped ("clip"), for
    all axes or, a tuple, each. order: positions count in "C" or "F" order. Dtypes: integers.
    Errors: ValueError for an index outside; TypeError for indices that are no integers.

    >>> np.ravel_multi_index(([3, 6], [4, 5]), (7, 6))
    array([22, 41])
    """
    dims = _shape_of(dims)
    _size_of(dims, "ravel_multi_index")
    if order not in ("C", "F"):
        raise ValueError("ravel_multi_index: only 'C' or 'F' order is permitted, not %r" % (order,))
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    rows = [_positions(row, "ravel_multi_index") for row in multi_index]
    if len(rows) != len(dims) or len(modes) != len(dims):
        raise ValueError("ravel_multi_index: parameter multi_index must be a sequence of length %d, not %d"
                         % (len(dims), len(rows)))
    rows = [_brought_in(row, extent, mode, "ravel_multi_index", negative=False)
            for row, extent, mode in zip(rows, dims, modes)]
    made = asarray(0)
    for row, extent in zip(rows, dims) if order == "C" else zip(reversed(rows), reversed(dims)):
        made = made * extent + row
    return made


def ix_(*args):
    """Index arrays that choose the products of the given indices: x[np.ix_(rows, columns)].

    Shapes: each of one axis. Dtypes: integers; masks stand for the places where they hold. Errors: ValueError for other
    axes.

    >>> nd4c.asarray([[1, 2, 3], [4, 5, 6]])[np.ix_([0, 1], [0, 2])]
    array([[1, 3],
           [4, 6]])
    """
    made = []
    for number, one in enumerate(args):
        row = _as_array(one, "ix_")
        if row.ndim != 1:
            raise ValueError("ix_: Cross index must be 1 dimensional, argument %d has %d axes" % (number, row.ndim))
        if not row.size and not hasattr(one, "dtype"):
            row = _cast(row, _INT)
        if row.dtype.kind == "b":
            row = nonzero(row)[0]
        made.append(_op("reshape")(row, (1,) * number + (row.size,) + (1,) * (len(args) - number - 1)))
    return tuple(made)


def iterable(y):
    """Whether an object can be iterated over.

    >>> np.iterable([1, 2]), np.iterable(2)
    (True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True

"""Shapes, axes, joining, splitting, inserting and deleting."""
import builtins as _builtins
from operator import index as _index

from nd4c import _dtypes
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array
from nd4c._creation import asarray, laid_out_as
from nd4c._functions.creation import arange, empty, ones, zeros
from nd4c._functions.manipulation import (
    broadcast_arrays, broadcast_shapes, broadcast_to, concat, expand_dims, flip, list_of, moveaxis, permute_dims, ravel,
    repeat, reshape, roll, squeeze, stack, tile, unstack)
from nd4c._functions.products import matrix_transpose
from nd4c._functions.sorting import nonzero
from nd4c._functions.support import (
    as_array as _as_array, cast as _cast, castable as _castable, normalize_axes as _normalize_axes, normalize_axis as
    _normalize_axis, op as _op, text as _text)
from nd4c.numpy._applying import apply_along_axis, apply_over_axes, piecewise, vectorize
from nd4c.numpy._padding import pad

__all__ = [
    "append", "apply_along_axis", "apply_over_axes", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "column_stack", "concat", "concatenate", "copyto", "delete",
    "dsplit", "dstack", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack", "insert", "matrix_transpose",
    "moveaxis", "ndim", "pad", "permute_dims", "piecewise", "ravel", "repeat", "reshape", "resize", "roll", "rollaxis",
    "rot90", "row_stack", "shape", "size", "split", "squeeze", "stack", "swapaxes", "tile", "transpose", "trim_zeros",
    "unstack", "vectorize", "vsplit", "vstack"]

concatenate, transpose = concat, permute_dims


# -- shapes ----------------------------------------------------------------------------------------------------------

def shape(a):
    """The shape of an array or of nested lists, a tuple.

    Shapes: any; the result is Python's.
    Dtypes: all.
    Errors: TypeError for what asarray does not take.

    >>> np.shape([[1, 2, 3]])
    (1, 3)
    """
    return _as_array(a, "shape").shape


def ndim(a):
    """How many axes an array or nested lists have.

    Shapes: any; the result is Python's.
    Dtypes: all.
    Errors: TypeError for what asarray does not take.

    >>> np.ndim([[1, 2, 3]])
    2
    """
    return _as_array(a, "ndim").ndim


def size(a, axis=None):
    """How many elements there are, or along axes. Errors: AxisError for an axis outside.

    Shapes: any; the result is an int.
    Dtypes: all.

    >>> np.size([[1, 2, 3]])
    3
    >>> np.size([[1, 2, 3]], 0)
    1
    """
    a = _as_array(a, "size")
    if axis is None:
        return a.size
    count = 1
    for place in _normalize_axes(axis, a.ndim, "size"):
        count *= a.shape[place]
    return count


def resize(a, new_shape):
    """An array of a new shape whose elements are a's, over and over in C order; zeros if a has none.

    Shapes: any; the result has new_shape, filled by repeating a.
    Dtypes: any. Errors: ValueError for a negative extent.

    >>> np.resize([1, 2, 3], (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    new_shape = _shape_of(new_shape)
    count = 1
    for extent in new_shape:
        if extent < 0:
            raise ValueError("resize: all elements of `new_shape` must be non-negative, not %s" % (new_shape,))
        count *= extent
    flat = ravel(a)
    if not flat.size or not count:
        return zeros(new_shape, flat.dtype)
    whole = tile(flat, -(-count // flat.size)) if count > flat.size else _op("copy")(flat)
    return reshape(whole[:count], new_shape)


def _atleast(ndim, place, name, doc):
    def function(*arys):
        made = [place(_as_array(a, name)) for a in arys]
        return made[0] if len(made) == 1 else tuple(made)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = """Arrays seen with at least %d ax%ss; views.

    %s The result is one array or, of several, a tuple.

    Shapes: any; new axes have length 1.
    Dtypes: all; the results have the same.
    Errors: TypeError for what asarray does not take.

    >>> np.%s(7).shape
    %s
    """ % (ndim, "i" if ndim == 1 else "e", doc, name, (1,) * ndim)
    return function


def _three(a):
    if a.ndim == 2:
        return _op("expand_dims")(a, (2,))
    return _op("reshape")(a, (1, a.size, 1)) if a.ndim < 2 else a


atleast_1d = _atleast(1, lambda a: a if a.ndim else _op("reshape")(a, (1,)), "atleast_1d",
                      "A number becomes an array of one element.")
atleast_2d = _atleast(2, lambda a: _op("atleast_nd")(a, 2), "atleast_2d", "Axes of length 1 are added in front.")
atleast_3d = _atleast(3, _three, "atleast_3d", "The shape (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1).")


def swapaxes(a, axis1, axis2):
    """An array with two axes exchanged: a view. Dtypes: any. Errors: AxisError for an axis outside.

    Shapes: any; a view with its axes in another order.

    >>> np.swapaxes(nd4c.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = _as_array(a, "swapaxes")
    axis1, axis2 = (_normalize_axis(axis, a.ndim, "swapaxes") for axis in (axis1, axis2))
    return _op("swapaxes")(a, axis1, axis2)


def rollaxis(a, axis, start=0):
    """An array with an axis moved to lie before the axis `start`: a view. Errors: AxisError for an axis outside.

    Shapes: any; a view with its axes in another order.
    Dtypes: all.

    >>> np.rollaxis(nd4c.zeros((3, 4, 5, 6)), 3, 1).shape
    (3, 6, 4, 5)
    """
    a = _as_array(a, "rollaxis")
    axis, start = _normalize_axis(axis, a.ndim, "rollaxis"), _index(start)
    if not -a.ndim <= start <= a.ndim:
        raise _axis_error("rollaxis: 'start' arg requires %d <= start < %d, but %d was passed in"
                          % (-a.ndim, a.ndim + 1, start))
    start += a.ndim if start < 0 else 0
    return moveaxis(a, axis, start - 1 if axis < start else start)


def _axis_error(text):
    from nd4c._errors import AxisError
    return AxisError(text)


def rot90(m, k=1, axes=(0, 1)):
    """An array turned by k right angles in the plane of two axes, from the first towards the second: a view.

    Shapes: two axes or more; the lengths of the two axes change places for odd k.
    Dtypes: any. Errors: ValueError for other than two different axes, and for an axis outside.

    >>> np.rot90([[1, 2], [3, 4]])
    array([[2, 4],
           [1, 3]])
    """
    m, axes = _as_array(m, "rot90"), tuple(axes)
    if len(axes) != 2:
        raise ValueError("rot90: len(axes) must be 2, axes are %s" % (axes,))
    first, second = (_normalize_axis(axis, m.ndim, "rot90") for axis in axes)
    if first == second:
        raise ValueError("rot90: Axes must be different, they are %s" % (axes,))
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return _op("flip")(m, (first, second))
    if k == 1:
        return _op("swapaxes")(_op("flip")(m, (second,)), first, second)
    return _op("flip")(_op("swapaxes")(m, first, second), (second,))


def fliplr(m):
    """An array with the order of its columns reversed: a view. Errors: ValueError for fewer than two axes.

    Shapes: two axes or more; a view of the same shape.
    Dtypes: all.

    >>> np.fliplr([[1, 2], [3, 4]])
    array([[2, 1],
           [4, 3]])
    """
    m = _as_array(m, "fliplr")
    if m.ndim < 2:
        raise ValueError("fliplr: Input must be >= 2-d, the array has %d axes" % m.ndim)
    return _op("flip")(m, (1,))


def flipud(m):
    """An array with the order of its rows reversed: a view. Errors: ValueError for an array without axes.

    Shapes: one axis or more; a view of the same shape.
    Dtypes: all.

    >>> np.flipud([[1, 2], [3, 4]])
    array([[3, 4],
           [1, 2]])
    """
    m = _as_array(m, "flipud")
    if m.ndim < 1:
        raise ValueError("flipud: Input must be >= 1-d, the array has no axes")
    return _op("flip")(m, (0,))


def copyto(dst, src, casting="same_kind", where=True):
    """Writes src into the array dst, where the mask `where` is True.

    Shapes: src and where are broadcast to dst's. Dtypes: src's are converted, if casting allows it.
    Errors: TypeError if casting forbids it, or dst is no array; ValueError for shapes that do not broadcast.

    >>> x = nd4c.asarray([1, 2, 3])
    >>> np.copyto(x, 0, where=[True, False, True])
    >>> x
    array([0, 2, 0])
    """
    if type(dst) is not Array:
        raise TypeError("copyto: dst is a %s; it has to be an nd4c.Array" % type(dst).__name__)
    source = _dtypes.weak(type(src), dst.dtype) if type(src) in (bool, int, float, complex) else None
    src = asarray(src, source) if source is not None else _as_array(src, "copyto")
    if not _castable(src.dtype, dst.dtype, casting):
        raise TypeError("copyto: Cannot cast array data from %r to %r according to the rule %r; casting='unsafe' "
                        "allows it"
                        % (src.dtype, dst.dtype, casting))
    src = broadcast_to(_trimmed(src, dst.ndim), dst.shape)
    if where is True:
        dst[...] = _cast(src, dst.dtype)
        return
    mask = _as_array(where, "copyto")
    if mask.dtype.kind != "b":
        raise TypeError("copyto: where holds %s, Cannot cast array data to bool; it is a mask" % mask.dtype.name)
    dst[...] = _op("where")(broadcast_to(mask, dst.shape), _cast(src, dst.dtype), dst)


def _trimmed(a, ndim):
    """a without axes of length 1 in front that are more than ndim, which assignment does not count."""
    while a.ndim > ndim and a.shape[0] == 1:
        a = a[0]
    return a


# -- joining ---------------------------------------------------------------------------------------------------------

def vstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays joined one below the other: along the first axis, arrays of one axis as rows.

    Shapes: equal but for the first axis. Dtypes: promoted, or dtype, if casting allows it. Errors: ValueError for other
    shapes.

    >>> np.vstack(([1, 2], [3, 4]))
    array([[1, 2],
           [3, 4]])
    """
    return concat([atleast_2d(a) for a in list_of(tup, "vstack")], 0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup, *, dtype=None, casting="same_kind"):
    """Arrays joined side by side: along the second axis, arrays of one axis along it.

    Shapes: equal but for that axis. Dtypes: promoted, or dtype, if casting allows it. Errors: ValueError for other
    shapes.

    >>> np.hstack(([1, 2], [3]))
    array([1, 2, 3])
    """
    arrays = [atleast_1d(a) for a in list_of(tup, "hstack")]
    return concat(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup):
    """Arrays joined along a third axis, as atleast_3d sees them.

    Shapes: equal but for the third axis. Dtypes: promoted. Errors: ValueError for other shapes.

    >>> np.dstack(([1, 2], [3, 4]))
    array([[[1, 3],
            [2, 4]]])
    """
    return concat([atleast_3d(a) for a in list_of(tup, "dstack")], 2)


def column_stack(tup):
    """Arrays of one axis as the columns of a matrix, matrices side by side.

    Shapes: as many rows in each. Dtypes: promoted. Errors: ValueError for other shapes.

    >>> np.column_stack(([1, 2], [3, 4]))
    array([[1, 3],
           [2, 4]])
    """
    return concat([a if a.ndim > 1 else _op("reshape")(a, (a.size, 1)) for a in list_of(tup, "column_stack")], 1)


def block(arrays):
    """An array of blocks in nested lists.

    The innermost lists are joined along the last axis, those around them along the one before.


    Shapes: blocks get axes of length 1 in front; they fit beside each other. Dtypes: promoted.
    Errors: ValueError for an empty list, lists of different depths and shapes that do not fit; TypeError for tuples.

    >>> np.block([[nd4c.eye(2), nd4c.zeros((2, 1))], [7, 8, 9]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [7., 8., 9.]])
    """
    empty, leaves = [], []
    depth = _depth(arrays, (), empty)
    if empty:
        raise ValueError("%s: List at arrays cannot be empty" % empty[0])
    _leaves(arrays, leaves)
    most = _builtins.max([depth] + [leaf.ndim for leaf in leaves])
    taken = iter(leaves)

    def joined(part, level):
        if type(part) is not list:
            return _op("atleast_nd")(next(taken), most)
        return concat([joined(one, level + 1) for one in part], level - depth)
    made = joined(arrays, 0)
    return _op("copy")(made) if type(arrays) is not list else made


def _depth(part, place, empty):
    """How deep the lists of block are nested. The places of empty lists join `empty`."""
    where = "block: arrays" + "".join("[%d]" % i for i in place)
    if type(part) is tuple:
        raise TypeError("%s is a tuple. Only lists can be used to arrange blocks" % where)
    if type(part) is not list:
        return 0
    if not part:
        empty.append(where)
        return 1
    depths = [_depth(one, place + (i,), empty) for i, one in enumerate(part)]
    if len(set(depths)) > 1:
        raise ValueError("%s: List depths are mismatched: they are %s" % (where, depths))
    return depths[0] + 1


def _leaves(part, leaves):
    if type(part) is list:
        for one in part:
            _leaves(one, leaves)
    else:
        leaves.append(_as_array(part, "block"))


# -- splitting -------------------------------------------------------------------------------------------------------

# More parts than elements are empty ones; so many of them still fit into memory.
_MOST_PARTS = 1 << 24


def array_split(ary, indices_or_sections, axis=0):
    """The parts of an array along an axis, a list of views.

    They are so many of nearly equal length, or those between the given indices.


    Shapes: views of parts along the axis; the other axes stay.
    Dtypes: any. Errors: ValueError for fewer than one part and for more than 2^24 of a shorter axis; AxisError.

    >>> np.array_split(nd4c.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    ary = _as_array(ary, "array_split")
    axis = _normalize_axis(axis, ary.ndim, "array_split")
    extent = ary.shape[axis]
    if hasattr(indices_or_sections, "__len__") and getattr(indices_or_sections, "ndim", 1):
        ends = [0] + [_index(one) for one in _listed(indices_or_sections)] + [None]
    else:
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("array_split: number sections must be larger than 0, it is %d" % count)
        if count > _builtins.max(extent, _MOST_PARTS):
            raise ValueError("array_split: too many parts (indices_or_sections) of an axis with %d elements; at most %d can be "
                             "made where some are empty" % (extent, _MOST_PARTS))
        each, extra = divmod(extent, count)
        ends = [part * each + _builtins.min(part, extra) for part in range(count + 1)]
    before = (slice(None),) * axis
    return [ary[before + (slice(start, stop),)] for start, stop in zip(ends, ends[1:])]


def _listed(values):
    return values.tolist() if hasattr(values, "tolist") else list(values)


def split(ary, indices_or_sections, axis=0):
    """The parts of an array along an axis, a list of views.

    They are so many of equal length, or those between the given indices.


    Shapes: views of parts along the axis; the other axes stay.
    Dtypes: any. Errors: ValueError if the axis cannot be divided equally; AxisError.

    >>> np.split(nd4c.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    >>> np.split(nd4c.arange(4), [1, 3])
    [array([0]), array([1, 2]), array([3])]
    """
    ary = _as_array(ary, "split")
    axis = _normalize_axis(axis, ary.ndim, "split")
    if not hasattr(indices_or_sections, "__len__") or not getattr(indices_or_sections, "ndim", 1):
        count = int(indices_or_sections)
        if count > 0 and ary.shape[axis] % count:
            raise ValueError("split: array split does not result in an equal division: %d elements into %d parts"
                             % (ary.shape[axis], count))
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """The parts of an array side by side: split along the second axis, of an array with one axis along it.

    Shapes: views of parts along the axis; the other axes stay.
    Dtypes: all; the parts have the same.
    Errors: ValueError for an array without axes, and if it cannot be divided equally.

    >>> np.hsplit(nd4c.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    ary = _with_axes(ary, 1, "hsplit")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """The parts of an array one below the other: split along the first axis.

    Shapes: views of parts along the axis; the other axes stay.
    Dtypes: all; the parts have the same.
    Errors: ValueError for fewer than two axes, and if it cannot be divided equally.

    >>> np.vsplit([[1, 2], [3, 4]], 2)
    [array([[1, 2]]), array([[3, 4]])]
    """
    return split(_with_axes(ary, 2, "vsplit"), indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """The parts of an array along its third axis.

    Shapes: views of parts along the axis; the other axes stay.
    Dtypes: all; the parts have the same.
    Errors: ValueError for fewer than three axes, and if it cannot be divided equally.

    >>> np.dsplit(nd4c.zeros((2, 2, 4)), 2)[0].shape
    (2, 2, 2)
    """
    return split(_with_axes(ary, 3, "dsplit"), indices_or_sections, 2)


def _with_axes(ary, least, name):
    ary = _as_array(ary, name)
    if ary.ndim < least:
        raise ValueError("%s: %s only works on arrays of %d or more dimensions, this one has %d"
                         % (name, name, least, ary.ndim))
    return ary


# -- inserting and deleting ------------------------------------------------------------------------------------------

def append(arr, values, axis=None):
    """An array with values joined at its end along an axis; None: both flattened.

    Shapes: equal but for the axis. Dtypes: promoted. Errors: ValueError for other shapes; AxisError.

    >>> np.append([1, 2], [[3], [4]])
    array([1, 2, 3, 4])
    """
    if axis is None:
        return concat((ravel(arr), ravel(values)))
    return concat((_as_array(arr, "append"), _as_array(values, "append")), axis)


def insert(arr, obj, values, axis=None):
    """An array with values inserted along an axis before the given indices; None: the array flattened.

    Shapes: obj, one index, several, a slice or a mask of one axis; values are broadcast to the inserted slices.
    Dtypes: arr's, to which values are converted. Errors: IndexError for an index outside; ValueError; AxisError.

    >>> np.insert([1, 2, 3], 1, 9)
    array([1, 9, 2, 3])
    >>> np.insert([[1, 2], [3, 4]], [0, 2], 0, axis=1)
    array([[0, 1, 2, 0],
           [0, 3, 4, 0]])
    """
    arr, axis = _along(arr, axis, "insert")
    extent, before = arr.shape[axis], (slice(None),) * axis
    places = arange(*obj.indices(extent)) if isinstance(obj, slice) else _places(obj, "insert")
    if places.dtype.kind == "b":
        places = nonzero(places)[0]
    values = _op("atleast_nd")(_cast(_as_array(values, "insert"), arr.dtype), arr.ndim)
    if places.size == 1:
        place = _inside(places.item(), extent + 1, extent, axis, "insert")
        if not places.ndim:
            values = moveaxis(values, 0, axis)
        shape = arr.shape[:axis] + (values.shape[axis],) + arr.shape[axis + 1:]
        parts = arr[before + (slice(place),)], broadcast_to(values, shape), arr[before + (slice(place, None),)]
        return laid_out_as(concat(parts, axis), arr)
    if places.size:
        low, high = int(_op("min")(places, None, False)), int(_op("max")(places, None, False))
        for place in (low, high):
            _inside(place, extent + 1, extent, axis, "insert")
        places = _op("where")(places < 0, places + extent, places)
    order = _op("argsort")(places, 0, False)
    places = _op("copy")(places)
    places[order] = places[order] + arange(places.size)
    made = empty(arr.shape[:axis] + (extent + places.size,) + arr.shape[axis + 1:], arr.dtype)
    old = ones((extent + places.size,), bool)
    old[places] = False
    made[before + (places,)] = values
    made[before + (old,)] = arr
    return laid_out_as(made, arr)


def _along(arr, axis, name):
    """The array and axis of insert and delete: without an axis, the array flattened."""
    arr = _as_array(arr, name)
    if axis is None:
        return ravel(arr), 0
    return arr, _normalize_axis(axis, arr.ndim, name)


def _places(obj, name):
    places = _as_array(obj, name)
    if not places.size and not hasattr(obj, "dtype"):
        places = _cast(places, _dtypes.DEFAULTS[int])
    if places.dtype.kind not in "biu":
        raise IndexError("%s: arrays used as indices must be of integer (or boolean) type, not %s"
                         % (name, places.dtype.name))
    if places.ndim > 1 and (name == "insert" or places.dtype.kind == "b"):
        raise ValueError("%s: index array argument obj to %s must be one dimensional or scalar, not of the shape %s"
                         % (name, name, places.shape))
    if places.dtype.kind == "b" and places.ndim != 1:
        raise ValueError("%s: boolean array argument obj to %s must be one dimensional" % (name, name))
    return places if places.dtype.kind == "b" else _cast(places, _dtypes.DEFAULTS[int])


def _inside(place, limit, extent, axis, name):
    if not -extent <= place < limit:
        raise IndexError("%s: index %d is out of bounds for axis %d with size %d" % (name, place, axis, extent))
    return place + extent if place < 0 else place


def delete(arr, obj, axis=None):
    """An array without the slices at the given indices along an axis; None: the array flattened.

    Shapes: obj, one index, several, a slice or a mask as long as the axis. Dtypes: arr's.
    Errors: IndexError for an index outside; ValueError for a mask of another length; AxisError.

    >>> np.delete([1, 2, 3, 4], [0, 2])
    array([2, 4])
    >>> np.delete([[1, 2], [3, 4]], 1, axis=0)
    array([[1, 2]])
    """
    arr, axis = _along(arr, axis, "delete")
    extent = arr.shape[axis]
    keep = ones((extent,), bool)
    if isinstance(obj, slice):
        keep[obj] = False
    else:
        places = _places(obj, "delete")
        if places.dtype.kind == "b":
            if places.size != extent:
                raise ValueError("delete: boolean array argument obj to delete must be one dimensional and match the "
                                 "axis length of %d" % extent)
            keep = _op("logical_not")(places)
        elif places.size:
            if places.size == 1:
                _inside(places.item(), extent, extent, axis, "delete")
            keep[places] = False
    return laid_out_as(arr[(slice(None),) * axis + (keep,)], arr)


def trim_zeros(filt, trim="fb", axis=None):
    """An array without the zeros at its ends.

    The result is the part from the first to the last element along each axis that is not 0.


    trim: "f" cuts at the front, "b" at the back. axis: those to cut; None: all. A list stays a list; of an array it is
    a view.
    Shapes: any; the result is a view of the same number of axes.
    Dtypes: numbers.
    Errors: ValueError for another trim; AxisError.

    >>> np.trim_zeros([0, 0, 1, 0, 2, 0])
    [1, 0, 2]
    """
    array, trim = _as_array(filt, "trim_zeros"), _text(trim, "trim", "trim_zeros").lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError("trim_zeros: unexpected character(s) in `trim`: %r; it may be 'f', 'b' or 'fb'" % (trim,))
    axes = _normalize_axes(axis, array.ndim, "trim_zeros")
    if not axes:
        return filt
    key = [slice(None)] * array.ndim
    others = {place: tuple(one for one in range(array.ndim) if one != place) for place in axes}
    for place in axes:
        held = _op("any")(array if array.dtype.kind == "b" else array != 0, others[place], False)
        found = nonzero(held)[0]
        if found.size:
            key[place] = slice(found[0].item() if "f" in trim else None, found[-1].item() + 1 if "b" in trim else None)
        else:
            key[place] = slice(0, 0)
    return filt[key[0]] if array.ndim == 1 else array[tuple(key)]

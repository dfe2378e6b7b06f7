"""Arrays from values, shapes, other arrays and functions."""
from operator import index as _index

from nd4c import _creation, _dtypes
from nd4c._abi import MAX_RANK
from nd4c._core import Array
from nd4c._creation import asarray, copied
from nd4c._functions.creation import (
    arange, diagonal_number, empty, empty_like, eye, full, full_like, linspace, meshgrid, ones, ones_like, tril, triu,
    zeros, zeros_like)
from nd4c._dlpack import from_dlpack
from nd4c._functions.dtypes import astype, result_type
from nd4c._functions.manipulation import broadcast_arrays, expand_dims, ravel
from nd4c._functions.reductions import cumulative_prod
from nd4c._memory import is_contiguous as _is_contiguous, is_read_only as _is_read_only, over_bytes as _over_bytes
from nd4c._functions.support import as_array as _as_array, normalize_axis as _normalize_axis, op as _op, text as _text

__all__ = [
    "arange", "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "copy",
    "diag", "diagflat", "empty", "empty_like", "eye", "from_dlpack", "frombuffer", "fromfunction", "fromiter",
    "fromstring", "full", "full_like", "geomspace", "identity", "isfortran", "linspace", "logspace", "mask_indices",
    "meshgrid", "ones", "ones_like", "require", "tri", "tril", "tril_indices", "tril_indices_from", "triu",
    "triu_indices", "triu_indices_from", "vander", "zeros", "zeros_like"]


# -- of other objects ------------------------------------------------------------------------------------------------

def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    """A new array of numbers, nested lists, buffers or other arrays.

    Shapes: of the nesting, with axes of length 1 in front until there are ndmin.
    Dtypes: of the numbers, unless `dtype` names one. copy: True always copies, None only where needed, False never.
    order: "C", "F", or "K" and "A", which keep a layout by columns. subok has no effect: arrays have no subclasses.
    Errors: as asarray's; ValueError for lists nested deeper than ndmax, if it is not 0.

    >>> np.array([1, 2, 3], ndmin=2)
    array([[1, 2, 3]])
    """
    if like is not None:
        _creation.check_like(like, "array")
    kind = type(object)
    if order in ("K", "C") and not ndmin and not ndmax and like is None:
        if copy is True and dtype is None and kind is Array and _is_contiguous(object):
            return object.copy()
        if kind in _ALWAYS_NEW and (copy is True or copy is None):
            return asarray(object, dtype)
    if ndmin > ndmax > 0:
        raise ValueError("array: ndmin must be <= ndmax, they are %d and %d" % (ndmin, ndmax))
    if not 0 <= ndmax <= MAX_RANK:
        raise ValueError("array: ndmax must be in the range 0 to %d, it is %d" % (MAX_RANK, ndmax))
    if copy is not None and type(copy) is not bool:
        copy = _truth(copy)
    if type(object) is Array or order not in ("K", None, "C"):
        wanted = None if dtype is None else _dtypes.of(dtype)
        made = _array_of(object, wanted, copy, _creation.check_order(order or "K", "array"))
    else:
        made = asarray(object, dtype, order, copy=None if copy and type(object) in _ALWAYS_NEW else copy)
    if ndmax and made.ndim > ndmax:
        raise ValueError("array: object too deep for desired array: it has %d axes, more than ndmax=%d (setting an array "
                         "element with a sequence. The requested array would exceed the maximum number of dimension of %d)"
                         % (made.ndim, ndmax, ndmax))
    return _op("reshape")(made, (1,) * (ndmin - made.ndim) + made.shape) if ndmin > made.ndim else made


_ALWAYS_NEW = (list, tuple, int, float, bool, complex)


def _truth(copy):
    """copy as a bool; NumPy's enumeration of copy modes and integers among the values."""
    if isinstance(copy, str):
        raise ValueError("array: strings are not allowed for 'copy' keyword. Use True/False/None instead of %r"
                         % (copy,))
    value = getattr(copy, "value", copy)
    if value == 2:
        return None
    if not isinstance(value, (int, bool)) and type(value).__module__ != "numpy":
        raise TypeError("array: copy is %r; it may be True, False or None" % (copy,))
    return bool(value)


def _array_of(object, wanted, copy, order):
    x = asarray(object, copy=copy if copy is False else None)
    if wanted is not None and x.dtype is not wanted:
        if copy is False:
            raise ValueError("array: %s cannot become %s without a copy; leave copy=False out"
                             % (x.dtype.name, wanted.name))
        return _creation.ordered(_op("cast")(x, wanted.number), order, None, "array")
    return _creation.copied_in(x, order) if copy else _creation.ordered(x, order, copy, "array")


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """asarray by the name for subclasses, of which nd4c has none.

    Shapes: any; the result has the same.
    Dtypes: `dtype`, or else that of a.
    Errors: TypeError for what asarray does not take.

    >>> np.asanyarray([1, 2])
    array([1, 2])
    """
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


def ascontiguousarray(a, dtype=None, *, like=None):
    """An array of one axis or more whose elements lie row by row; a copy only where needed.

    Shapes: any; the result has the same.
    Dtypes: `dtype`, or else that of a.
    Errors: TypeError for what asarray does not take.

    >>> np.ascontiguousarray(nd4c.asarray([[1, 2], [3, 4]]).T).strides
    (16, 8)
    """
    made = asarray(a, dtype, "C", like=like)
    return made if made.ndim else _op("reshape")(made, (1,))


def asfortranarray(a, dtype=None, *, like=None):
    """An array whose elements lie column by column; a copy only where needed.

    Shapes: any; the result has the same.
    Dtypes: `dtype`, or else that of a.
    Errors: TypeError for what asarray does not take.

    >>> np.asfortranarray([[1, 2, 3], [4, 5, 6]]).strides
    (8, 16)
    """
    made = asarray(a, dtype, "F", like=like)
    return made if made.ndim else _op("reshape")(made, (1,))


def isfortran(a):
    """Whether an array lies column by column, and not row by row as well.

    Shapes: any; the result is a bool.
    Dtypes: all.
    Errors: TypeError for what is no array.

    >>> np.isfortran(nd4c.zeros((2, 3)).T)
    True
    """
    a = _as_array(a, "isfortran")
    return not _is_contiguous(a) and _creation.is_fortran(a)


def asarray_chkfinite(a, dtype=None, order=None):
    """An array of finite numbers. Errors: ValueError if one is infinite or not a number.

    Shapes: any; the result has the same.
    Dtypes: `dtype`, or else that of a.

    >>> np.asarray_chkfinite([1, 2.5])
    array([1. , 2.5])
    """
    made = asarray(a, dtype, order)
    if made.dtype.kind in "fc" and not bool(_op("all")(_op("is_finite")(made), None, False)):
        raise ValueError("asarray_chkfinite: array must not contain infs or NaNs")
    return made


def copy(a, order="K", subok=False):
    """A copy with memory of its own.

    order: "C", "F", or "K" and "A", which keep a layout by columns. Dtypes: any. subok has no effect: arrays have no
    subclasses.

    Shapes: any; the result has the same.
    Errors: TypeError for what asarray does not take.

    >>> x = nd4c.asarray([1, 2])
    >>> y = np.copy(x)
    >>> y[0] = 7
    >>> x
    array([1, 2])
    """
    return _creation.copied_in(_as_array(a, "copy"), _creation.check_order(order, "copy"))


_REQUIREMENTS = {"C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F",
                 "A": "A", "ALIGNED": "A",
                 "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E"}


def require(a, dtype=None, requirements=None, *, like=None):
    """An array of a dtype with the named properties of its memory; a copy only where needed.

    requirements: one or several of "C", "F" (layouts), "W" (writeable), "O" (no view), "A" (aligned, as all arrays
    are), "E".
    Shapes: any; the result has the same.
    Dtypes: `dtype`, or else that of a.
    Errors: ValueError for "C" and "F" together; KeyError for another name; TypeError for what is no text.

    >>> np.require([1, 2], "float32", ["C", "W"])
    array([1., 2.], dtype=float32)
    """
    names = [requirements] if isinstance(requirements, str) else requirements or ()
    wanted = set()
    for name in names:
        known = _REQUIREMENTS.get(_text(name, "requirements", "require").upper())
        if known is None:
            raise KeyError("require: %r is none of %s" % (name, ", ".join(sorted(_REQUIREMENTS))))
        wanted.add(known)
    if {"C", "F"} <= wanted:
        raise ValueError("require: Cannot specify both \"C\" and \"F\" order")
    order = "F" if "F" in wanted else "C" if "C" in wanted else None
    made = asarray(a, dtype, order, like=like)
    if ("W" in wanted and _is_read_only(made)) or ("O" in wanted and made is a):
        return _creation.copied_in(made, order or "K")
    return made


def frombuffer(buffer, dtype=None, count=-1, offset=0, *, like=None):
    """An array of one axis over the memory of a buffer: bytes, bytearray, mmap, array.array.

    Shapes: count elements, -1: as many as there are from the byte `offset` on. Dtypes: dtype, float64 if it is left
    out. The array is read-only if the buffer is. Errors: ValueError if the buffer is too short or has no whole number
    of elements.

    >>> np.frombuffer(b"\\x01\\x00\\x02\\x00", dtype="int16")
    array([1, 2], dtype=int16)
    """
    if like is not None:
        _creation.check_like(like, "frombuffer")
    wanted = _dtypes.DEFAULTS[float] if dtype is None else _dtypes.of(dtype)
    size = wanted.itemsize
    if not size:
        raise ValueError("frombuffer: elements of %s share bytes; read them as uint8" % wanted.name)
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise ValueError("frombuffer: the buffer is not contiguous; copy it first")
    view = view.cast("B") if view.nbytes else memoryview(b"")
    if not 0 <= offset <= view.nbytes:
        raise ValueError("frombuffer: offset must be non-negative and no greater than buffer length (%d), not %d"
                         % (view.nbytes, offset))
    there = view.nbytes - offset
    if count < 0:
        if there % size:
            raise ValueError("frombuffer: buffer size must be a multiple of element size: %d bytes, %d each"
                             % (there, size))
        count = there // size
    if count * size > there:
        raise ValueError("frombuffer: buffer is smaller than requested size: %d bytes, %d elements of %s asked for"
                         % (there, count, wanted.name))
    if not count:
        return empty((0,), wanted)
    return _over_bytes(view[offset:offset + count * size], wanted)


def fromiter(iter, dtype, count=-1, *, like=None):
    """An array of one axis of an iterator's numbers.

    Shapes: count numbers, -1: all. Dtypes: dtype. Errors: ValueError if the iterator ends before count numbers.

    >>> np.fromiter((i * i for i in range(4)), dtype=int)
    array([0, 1, 4, 9])
    """
    if like is not None:
        _creation.check_like(like, "fromiter")
    from itertools import islice
    wanted, count = _dtypes.of(dtype), _index(count)
    numbers = list(iter if count < 0 else islice(iter, count))
    if len(numbers) < count:
        raise ValueError("fromiter: iterator too short: Expected %d but iterator had only %d items."
                         % (count, len(numbers)))
    made = asarray(numbers, wanted) if numbers else empty((0,), wanted)
    if made.ndim != 1:
        raise ValueError("fromiter: setting an array element with a sequence: items have the shape %s"
                         % (made.shape[1:],))
    return made


def fromstring(string, dtype=float, count=-1, *, sep, like=None):
    """An array of one axis of the numbers in a text.

    sep: what stands between the numbers; white space around it does not count. count: how many numbers, -1: all.
    Shapes: the result has one axis.
    Dtypes: dtype. Errors: ValueError for a text that is no number, fewer numbers than count, and an empty sep:
    frombuffer() reads bytes.

    >>> np.fromstring("1, 2, 3", dtype=int, sep=",")
    array([1, 2, 3])
    """
    if like is not None:
        _creation.check_like(like, "fromstring")
    if isinstance(sep, str) and not sep:
        raise ValueError("fromstring: The binary mode of fromstring is removed, use frombuffer instead")
    text, mark = _text(string, "string", "fromstring"), _text(sep, "sep", "fromstring").strip()
    wanted = _dtypes.of(dtype)
    words = [word.strip() for word in (text.split(mark) if mark else text.split())]
    if words and not words[-1]:
        words.pop()
    words = words if count < 0 else words[:count]
    if len(words) < count:
        raise ValueError("fromstring: %d numbers are expected, the text has %d" % (count, len(words)))
    try:
        numbers = [_number(word, wanted.kind) for word in words]
    except ValueError:
        raise ValueError("fromstring: string or file could not be read to its end due to unmatched data: %r"
                         % (text,)) from None
    return asarray(numbers, wanted) if numbers else empty((0,), wanted)


def _number(word, kind):
    if kind == "c":
        return complex(word)
    if kind in "iub":
        return int(word)
    return float(word)


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """What a function makes of the indices of a grid, one array an axis.

    Shapes: shape, a tuple. Dtypes: of the indices, dtype. The result is what the function returns.
    Errors: ValueError for a negative length.

    >>> np.fromfunction(lambda i, j: i + j, (2, 3), dtype=int)
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    from nd4c.numpy._indexing import indices
    if like is not None:
        _creation.check_like(like, "fromfunction")
    return function(*indices(shape, dtype=dtype), **kwargs)


# -- matrices --------------------------------------------------------------------------------------------------------

def identity(n, dtype=None, *, like=None):
    """The square matrix with ones on the main diagonal. Dtypes: dtype, float64 if it is left out.

    Shapes: the result is square.
    Errors: TypeError for what is no number.

    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype, like=like)


def tri(N, M=None, k=0, dtype=float, *, device=None, like=None):
    """Ones where column - row <= k, else zeros.

    Shapes: N rows and M columns, as many as rows if M is left out. Dtypes: dtype, float64 if it is left out.
    Errors: TypeError for a length that is no integer.

    >>> np.tri(2, 3, 1, dtype=int)
    array([[1, 1, 0],
           [1, 1, 1]])
    """
    if like is not None:
        _creation.check_like(like, "tri")
    wanted = _dtypes.DEFAULTS[float] if dtype is None else _dtypes.of(dtype)
    rows, columns = _index(N), _index(N if M is None else M)
    return _creation.made_on(device, _op("tri"), rows, columns, diagonal_number(k), wanted.number)


def diag(v, k=0):
    """Diagonal k of a matrix, a copy; of an array with one axis the matrix that has it there.

    Shapes: a matrix gives the vector of a diagonal, a vector a square matrix.
    Dtypes: any. Errors: ValueError for other numbers of axes.

    >>> np.diag([1, 2])
    array([[1, 0],
           [0, 2]])
    >>> np.diag([[1, 2], [3, 4]])
    array([1, 4])
    """
    v = _as_array(v, "diag")
    if v.ndim not in (1, 2):
        raise ValueError("diag: Input must be 1- or 2-d.; the array has %d axes" % v.ndim)
    return _op("diag")(v, diagonal_number(k) if v.ndim == 2 else _index(k))


def diagflat(v, k=0):
    """The matrix that has all elements of an array on diagonal k. Dtypes: any.

    Shapes: the result is square.
    Errors: TypeError for what is no number.

    >>> np.diagflat([[1], [2]], 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return _op("diag")(ravel(v), _index(k))


def vander(x, N=None, increasing=False):
    """The powers of numbers, a row each: from N - 1 down to 0, or up if increasing.

    Shapes: x of one axis; the result has N columns, as many as rows if N is left out. Dtypes: numbers.
    Errors: ValueError for another number of axes.

    >>> np.vander([1, 2, 3], increasing=True)
    array([[1, 1, 1],
           [1, 2, 4],
           [1, 3, 9]])
    """
    x = _as_array(x, "vander")
    if x.ndim != 1:
        raise ValueError("vander: x must be a one-dimensional array or sequence, not of the shape %s" % (x.shape,))
    N = x.size if N is None else _index(N)
    x = astype(x, _dtypes.promote(x.dtype, _dtypes.DEFAULTS[int]), copy=False)
    made = ones((x.size, N), x.dtype)
    if N > 1:
        made[:, 1:] = expand_dims(x, 1)
        made = cumulative_prod(made, axis=1, dtype=made.dtype)
    return made if increasing else copied(_op("flip")(made, (1,)))


# -- indices of triangles --------------------------------------------------------------------------------------------

def mask_indices(n, mask_func, k=0):
    """The indices of the elements of an n by n matrix that mask_func(ones, k) keeps, one array an axis.

    Shapes: two vectors of one length: rows and columns.
    Dtypes: int64.
    Errors: TypeError for a length that is no integer.

    >>> np.mask_indices(2, np.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _places(mask_func(ones((n, n), int), k) != 0)


def tril_indices(n, k=0, m=None):
    """The indices of the elements on and below diagonal k of a matrix with n rows and m columns, one array an axis.

    Shapes: two vectors of one length: rows and columns.
    Dtypes: int64.
    Errors: TypeError for a length that is no integer.

    >>> np.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return _places(tri(n, m, k=k, dtype=bool))


def triu_indices(n, k=0, m=None):
    """The indices of the elements on and above diagonal k of a matrix with n rows and m columns, one array an axis.

    Shapes: two vectors of one length: rows and columns.
    Dtypes: int64.
    Errors: TypeError for a length that is no integer.

    >>> np.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _places(_op("logical_not")(tri(n, m, k=_index(k) - 1, dtype=bool)))


def _places(mask):
    from nd4c._functions.sorting import nonzero
    return tuple(nonzero(mask))


def tril_indices_from(arr, k=0):
    """tril_indices of an array's shape. Errors: ValueError for an array of other than two axes.

    Shapes: two vectors of one length: rows and columns.
    Dtypes: int64.

    >>> np.tril_indices_from(nd4c.zeros((2, 2)))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    arr = _matrix(arr, "tril_indices_from")
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    """triu_indices of an array's shape. Errors: ValueError for an array of other than two axes.

    Shapes: two vectors of one length: rows and columns.
    Dtypes: int64.

    >>> np.triu_indices_from(nd4c.zeros((2, 2)), 1)
    (array([0]), array([1]))
    """
    arr = _matrix(arr, "triu_indices_from")
    return triu_indices(arr.shape[0], k, arr.shape[1])


def _matrix(arr, where):
    arr = _as_array(arr, where)
    if arr.ndim != 2:
        raise ValueError("%s: input array must be 2-d, not of the shape %s" % (where, arr.shape))
    return arr


# -- numbers in equal ratios -----------------------------------------------------------------------------------------

def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, device=None):
    """num powers of base, whose exponents go from start to stop in equal steps.

    Shapes: num numbers along `axis`, the other axes those to which start, stop and base broadcast. Dtypes: floating, or
    dtype.
    Errors: ValueError for a negative num.

    >>> np.logspace(0, 3, 4)
    array([   1.,   10.,  100., 1000.])
    """
    if device is not None:
        return _creation.made_on(device, logspace, start, stop, num, endpoint, base, dtype, axis)
    if not _is_number(base):
        base = _as_array(base, "logspace: base")
        if base.ndim:
            start, stop, base = broadcast_arrays(start, stop, base)
            base = expand_dims(base, _normalize_axis(axis, base.ndim + 1, "logspace"))
    powers = linspace(start, stop, num, endpoint, axis=axis)
    if type(base) is Array and base.dtype.kind not in "fc":
        base = astype(base, float)
    made = base ** powers
    return made if dtype is None else astype(made, dtype, copy=False)


def _is_number(value):
    return type(value) in (bool, int, float, complex)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """num numbers from start to stop in equal ratios; complex ones lie on a spiral.

    Shapes: num numbers along `axis`, the other axes those to which start and stop broadcast. Dtypes: floating, or
    dtype.
    Errors: ValueError if an end is 0 or num is negative.

    >>> np.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    from nd4c import any, log10, sign
    num, wanted = _index(num), dtype
    start, stop = (_as_array(x, "geomspace") for x in (start, stop))
    if bool(any(start == 0)) or bool(any(stop == 0)):
        raise ValueError("geomspace: Geometric sequence cannot include zero")
    computed = result_type(start, stop, float(num))
    if computed.kind not in "fc":
        computed = _dtypes.DEFAULTS[float]
    if wanted is not None:
        wanted = _dtypes.of(wanted)
        computed = _dtypes.promote(computed, wanted)
    start, stop = (astype(x, computed, copy=False) for x in broadcast_arrays(start, stop))
    turn = sign(start)
    start, stop = start / turn, stop / turn
    logs = log10(start), log10(stop)
    made = logspace(*logs, num=num, endpoint=endpoint, base=10.0)
    if num > 0:
        made[0] = start
        if num > 1 and endpoint:
            made[-1] = stop
    made = made * turn
    axis = _normalize_axis(axis, made.ndim, "geomspace")
    if axis:
        made = _op("moveaxis")(made, (0,), (axis,))
    return astype(made, computed if wanted is None else wanted, copy=False)

"""Objects that make arrays of slices written in brackets: r_, c_, mgrid, ogrid, s_, index_exp."""
import builtins as _builtins

from nd4c import _dtypes
from nd4c._creation import asarray
from nd4c._functions.creation import arange, linspace
from nd4c._functions.manipulation import concat, permute_dims, reshape
from nd4c._functions.support import as_array as _as_array, cast as _cast, op as _op


def _bounds(one):
    return 0 if one.start is None else one.start, one.stop, 1 if one.step is None else one.step


def _is_count(step):
    """Whether a step such as 5j says how many numbers there are."""
    return isinstance(step, complex) or getattr(getattr(step, "dtype", None), "kind", "") == "c"


class _Grid:
    """The grid of slices: np.mgrid[0:2, 0:3] full, np.ogrid[0:2, 0:3] with one long axis each.

    A step such as 5j asks for five numbers, the stop among them.

    >>> np.mgrid[0:2, 0:3][1]
    array([[0, 1, 2],
           [0, 1, 2]])
    >>> np.ogrid[0:1:3j, 0:2][0]
    array([[0. ],
           [0.5],
           [1. ]])
    """

    def __init__(self, sparse):
        self.sparse = sparse

    def __repr__(self):
        return "np.ogrid" if self.sparse else "np.mgrid"

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _line(key, "mgrid")
        rows = [_line(one, "mgrid") for one in key]
        dtype = _shared(value for one in key for value in _bounds(one))
        count = len(rows)
        rows = [reshape(_cast(row, dtype), (1,) * axis + (-1,) + (1,) * (count - 1 - axis))
                for axis, row in enumerate(rows)]
        if self.sparse:
            return tuple(rows)
        shape = tuple(row.size for row in rows)
        return _op("stack")([_op("broadcast_to")(row, shape) for row in rows], 0) if rows else asarray([], int)


def _shared(values):
    """The dtype of a grid: that of the arrays among the bounds; Python numbers take it where they fit, alone they are
    at least int64."""
    values = [float(_builtins.abs(complex(value))) if _is_count(value) else value for value in values]
    strong = [asarray(value).dtype for value in values if type(value) not in (bool, int, float)]
    dtype = strong[0] if strong else _dtypes.DEFAULTS[int]
    for one in strong[1:]:
        dtype = _dtypes.promote(dtype, one)
    for value in values:
        dtype = _dtypes.weak(type(value), dtype) if type(value) in (bool, int, float) else dtype
    return dtype


def _line(one, name):
    """The numbers of one slice."""
    start, stop, step = _bounds(one)
    if stop is None:
        raise TypeError("%s: the slice %r has no stop" % (name, one))
    if not _is_count(step):
        return arange(start, stop, step)
    count = int(_builtins.abs(complex(step)))
    made = linspace(start, stop, count)
    return made if made.dtype.kind in "fc" else _cast(made, _dtypes.DEFAULTS[float])


class _Joined:
    """Arrays and slices joined along the first axis: np.r_[1, 2, 5:8].

    A first text of up to three numbers says the axis, the least number of axes, and where those of arrays with fewer
    begin.

    >>> np.r_[1, 2, 5:8]
    array([1, 2, 5, 6, 7])
    >>> np.r_["0,2", [1, 2], [3, 4]]
    array([[1, 2],
           [3, 4]])
    """

    def __init__(self, name, axis, ndmin, trans1d):
        self.name, self.axis, self.ndmin, self.trans1d = name, axis, ndmin, trans1d

    def __repr__(self):
        return "np." + self.name

    def __len__(self):
        return 0

    def __getitem__(self, key):
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self.axis, self.ndmin, self.trans1d
        if items and isinstance(items[0], str):
            axis, ndmin, trans1d = self._directive(items.pop(0), axis, ndmin, trans1d)
        made, numbers = [], []
        for item in items:
            if isinstance(item, str):
                raise ValueError("%s: special directives must be the first entry; %r is not" % (self, item))
            number = type(item) in (bool, int, float, complex)
            array = _line(item, repr(self)) if isinstance(item, slice) else _as_array(item, repr(self))
            numbers.append(type(item) if number else None)
            made.append(_spread(array, ndmin, trans1d, isinstance(item, slice)))
        if not made:
            raise ValueError("%s: need at least one array to concatenate" % self)
        return concat(self._agreed(made, numbers), axis)

    def _directive(self, text, axis, ndmin, trans1d):
        if text in ("r", "c"):
            raise ValueError("%s: %r asks for a matrix, which nd4c does not have; arrays of two axes: %s['0,2', ...]"
                             % (self, text, self))
        try:
            values = [int(word) for word in text.split(",")]
        except ValueError:
            raise ValueError("%s: unknown special directive %r; it has up to three numbers, '0,2,1'"
                             % (self, text)) from None
        axis, ndmin, trans1d = (values + [axis, ndmin, trans1d][len(values):])[:3]
        return axis, ndmin, trans1d

    def _agreed(self, arrays, numbers):
        """Python numbers take the dtype of the arrays beside them, as in computations."""
        strong = [array.dtype for array, number in zip(arrays, numbers) if number is None]
        if not strong or len(strong) == len(arrays):
            return arrays
        dtype = strong[0]
        for one in strong[1:]:
            dtype = _dtypes.promote(dtype, one)
        for number in numbers:
            dtype = dtype if number is None else _dtypes.weak(number, dtype)
        return [_cast(array, dtype) for array in arrays]


def _spread(array, ndmin, trans1d, is_slice):
    """The array with at least ndmin axes; those that it had begin at the place trans1d says."""
    had = array.ndim
    if had >= ndmin:
        return array if had else reshape(array, (1,))
    whole = reshape(array, (1,) * (ndmin - had) + array.shape)
    if trans1d == -1 or not had and not is_slice:
        return whole
    added = ndmin - had
    first = trans1d + ndmin - had + 1 if trans1d < 0 else trans1d
    places = list(range(ndmin))
    return permute_dims(whole, places[:first] + places[added:] + places[first:added])


class _Key:
    """The key of brackets, as an object: np.s_[1:3] is slice(1, 3).

    >>> np.s_[2::2]
    slice(2, None, 2)
    >>> np.index_exp[2::2]
    (slice(2, None, 2),)
    """

    def __init__(self, maketuple):
        self.maketuple = maketuple

    def __getitem__(self, item):
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


mgrid, ogrid = _Grid(False), _Grid(True)
r_, c_ = _Joined("r_", 0, 1, -1), _Joined("c_", -1, 2, 0)
s_, index_exp = _Key(False), _Key(True)

"""Iterators over indices and elements: ndindex, ndenumerate, broadcast."""
from itertools import product

from nd4c._functions.manipulation import broadcast_arrays, broadcast_shapes
from nd4c._functions.support import as_array as _as_array
from operator import index as _index


class ndindex:
    """The indices of all elements of a shape in C order, tuples.

    Shapes: lengths of the axes; iterating gives tuples of ints.
    Dtypes: none.
    Errors: ValueError for a negative extent; TypeError for one that is no integer.

    >>> list(np.ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """

    def __init__(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], tuple):
            shape = shape[0]
        shape = tuple(_index(extent) for extent in shape)
        if any(extent < 0 for extent in shape):
            raise ValueError("ndindex: negative dimensions are not allowed: %s" % (shape,))
        self._places = product(*map(range, shape))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._places)


class ndenumerate:
    """Pairs of index and element, a 0-d array, of an array in C order.

    Shapes: any; iterating gives an index and an element at a time.
    Dtypes: all.
    Errors: TypeError for what asarray does not take.

    >>> for place, value in np.ndenumerate([[1, 2], [3, 4]]):
    ...     print(place, value)
    (0, 0) 1
    (0, 1) 2
    (1, 0) 3
    (1, 1) 4
    """

    def __init__(self, arr):
        self._array = _as_array(arr, "ndenumerate")
        self._places = ndindex(self._array.shape)

    def __iter__(self):
        return self

    def __next__(self):
        place = next(self._places)
        return place, self._array[place]


def _mismatch(shapes):
    """The first two shapes that do not broadcast together."""
    for second in range(1, len(shapes)):
        for first in range(second):
            pairs = zip(reversed(shapes[first]), reversed(shapes[second]))
            if any(one != other and 1 not in (one, other) for one, other in pairs):
                return "arg %d with shape %s and arg %d with shape %s" % (first, shapes[first], second, shapes[second])
    raise AssertionError("all shapes broadcast together: %s" % (shapes,))


class _Elements:
    """An iterator over the elements of one array of a broadcast; `base` is the array."""

    def __init__(self, base, spread):
        self.base, self._spread, self._places = base, spread, ndindex(spread.shape)

    def __iter__(self):
        return self

    def __next__(self):
        return self._spread[next(self._places)]


class broadcast:
    """What several arrays broadcast to: its shape, and tuples of elements in C order.

    Shapes: any that broadcast; iterating gives tuples of arrays without axes.
    Dtypes: all.
    Errors: ValueError for shapes that do not broadcast.

    >>> b = np.broadcast([1, 2, 3], [[4], [5]])
    >>> b.shape, b.size, b.numiter
    ((2, 3), 6, 2)
    >>> next(b), next(b)
    ((array(1), array(4)), (array(2), array(4)))
    >>> b.reset()
    """

    def __init__(self, *arrays):
        held = []
        for one in arrays:
            held.extend(one._arrays if isinstance(one, broadcast) else [_as_array(one, "broadcast")])
        self._arrays = held
        try:
            self.shape = broadcast_shapes(*[array.shape for array in held])
        except ValueError:
            raise ValueError("broadcast: shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is "
                             "between %s"
                             % _mismatch([array.shape for array in held])) from None
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(held)
        self.size = 1
        for extent in self.shape:
            self.size *= extent
        self.reset()

    def reset(self, /):
        """Starts the iteration anew."""
        self.index = 0
        self._places = ndindex(self.shape)
        self._spread = None

    @property
    def iters(self):
        """An iterator over the elements of each array, in the order of the broadcast shape."""
        return tuple(_Elements(base, spread) for base, spread in zip(self._arrays, broadcast_arrays(*self._arrays)))

    def __iter__(self):
        return self

    def __next__(self):
        place = next(self._places)
        self.index += 1
        if self._spread is None:
            self._spread = broadcast_arrays(*self._arrays)
        return tuple(array[place] for array in self._spread)

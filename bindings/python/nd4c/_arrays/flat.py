"""x.flat: the elements of an array in C order, read and written in place. _arrays/methods.py makes one for each use."""
from nd4c import _memory
from nd4c._core import Array
from nd4c._functions.support import as_array, cast, op


class Flat:
    """The elements of an array in C order, as NumPy's flatiter: an iterator that can be indexed and written to.

    Shapes: those of the array; iterating gives its elements in C order.
    Dtypes: all.
    Errors: IndexError for a place out of range.

    >>> x = nd4c.zeros((2, 2))
    >>> x.flat[1:3] = 5
    >>> x.flat[1], list(x.flat) == [0, 5, 5, 0]
    (array(5.), True)
    """

    def __init__(self, array):
        self._array, self.index = array, 0

    base = property(lambda self: self._array, doc="The array.")

    @property
    def coords(self):
        """The index of the next element, an integer an axis."""
        place, found = self.index, []
        for extent in reversed(self._array.shape):
            found.insert(0, place % extent if extent else 0)
            place //= extent or 1
        return tuple(found)

    def copy(self):
        """The elements in an array of one axis.

        Shapes: any; the result has one axis.
        Dtypes: all; the result has the same.
        Errors: none.

        >>> nd4c.asarray([[1, 2], [3, 4]]).flat.copy()
        array([1, 2, 3, 4])
        """
        return op("copy")(op("reshape")(self._array, (-1,)))

    def __array__(self, dtype=None, copy=None):
        return self.copy().__array__(dtype)

    def __len__(self):
        return self._array.size

    def __iter__(self):
        self.index = 0
        return self

    def __next__(self):
        if self.index >= self._array.size:
            raise StopIteration
        element = op("reshape")(self._array, (-1,))[self.index]
        self.index += 1
        return element

    def __getitem__(self, key):
        return op("copy")(op("reshape")(self._array, (-1,))[_key(key)])

    def __setitem__(self, key, value):
        array = self._array
        if _memory.is_read_only(array):
            raise ValueError("flat: the array is read-only")
        straight = _memory.is_contiguous(array)
        flat = op("reshape")(array, (-1,)) if straight else self.copy()
        key = _key(key)
        flat[key] = _cycled(cast(as_array(value, "flat"), array.dtype), flat[key].size)
        if not straight:
            array[...] = op("reshape")(flat, array.shape)

    def __eq__(self, other):
        return self.copy() == _plain(other)

    def __ne__(self, other):
        return self.copy() != _plain(other)

    def __lt__(self, other):
        return self.copy() < _plain(other)

    def __le__(self, other):
        return self.copy() <= _plain(other)

    def __gt__(self, other):
        return self.copy() > _plain(other)

    def __ge__(self, other):
        return self.copy() >= _plain(other)

    __hash__ = None


def _plain(other):
    return other.copy() if type(other) is Flat else other


def _key(key):
    """One key: there is one axis."""
    if type(key) is tuple:
        if len(key) > 1:
            raise IndexError("flat: too many indices: one axis is indexed by %d keys" % len(key))
        return key[0] if key else Ellipsis
    if type(key) is not Array and isinstance(key, float):
        raise IndexError("flat: unsupported iterator index %r" % key)
    return key


def _cycled(values, count):
    """Values again and again until there are `count` of them, as NumPy fills."""
    values = op("reshape")(values, (-1,))
    if values.size == 1 or values.size == count:
        return values if values.size == count else values[0]
    if not values.size:
        raise ValueError("flat: no values for %d elements" % count)
    times = -(-count // values.size)
    return op("tile")(values, (times,))[:count]

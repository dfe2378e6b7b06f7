"""Random orders and samples of arrays and sequences. _generator.py makes a generator's methods of them."""
import sys
from operator import index

from nd4c._core import Array
from nd4c._creation import asarray, made_on
from nd4c._memory import read
from nd4c.random._parameters import NOT_NEGATIVE, REAL, WHOLE, axis_of, check, op, real, size_of, write
from nd4c._dtypes import by_name

_reshape, _take = op("reshape"), op("take")
_BYTE = by_name["uint8"]


def _count(size):
    number = 1
    for extent in size:
        number *= extent
    return number


class Orders:
    __slots__ = ()

    def bytes(self, length):
        """Random bytes, a Python bytes object of that length.

        Errors: ValueError if length is below 0.

        >>> nd4c.random.default_rng(7).bytes(5)
        b'-\xdcB\x82\x9b'
        """
        length = index(length)
        if length < 0:
            raise ValueError("bytes: length is %d, expected at least 0" % length)
        return bytes_of(self._draw("random_bits", ((length,), _BYTE.number)))

    def permutation(self, x, axis=0, *, device=None):
        """0 .. x - 1 in random order, or a copy of an array or nested lists with its slices along axis in random order.

        Shapes: (x,), or x's.
        Dtypes: int64, or x's.
        Errors: IndexError or ValueError if x has no such axis.
        NumPy's permuted() orders each slice by itself.

        >>> nd4c.random.default_rng(7).permutation(5)
        array([2, 3, 0, 1, 4])
        >>> nd4c.random.default_rng(7).permutation(nd4c.asarray([[1, 2], [3, 4], [5, 6]]))
        array([[5, 6],
               [3, 4],
               [1, 2]])
        """
        try:
            count = index(x)
        except TypeError:
            return self._shuffled("permutation", x, axis, device)
        if count < 0:
            raise ValueError("permutation: x is %d, expected a number of at least 0 or an array" % count)
        return self._draw("random_permutation", (count, WHOLE.number), device)

    def shuffled(self, x, *, axis=0, device=None):
        """A copy of x with its slices along an axis in random order; shuffle() does it in place, as NumPy's does.

        Shapes: x's.
        Dtypes: x's.
        Errors: IndexError or ValueError if x has no such axis.

        >>> nd4c.random.default_rng(7).shuffled(nd4c.asarray([1, 2, 3, 4]))
        array([3, 4, 1, 2])
        """
        return self._shuffled("shuffled", x, axis, device)

    def _shuffled(self, where, x, axis, device):
        near = self._near(asarray(x), x, device)
        if not near.ndim:
            raise ValueError("%s: x is %s, expected an array with axes%s" % (
                where, near, " or a whole number" if where == "permutation" else ""))
        return self._draw("random_shuffle", (axis_of(where, axis, near.ndim),), device, (near,))

    def shuffle(self, x, axis=0):
        """Puts x's slices along axis in random order, in place, and returns None.

        x: an array of nd4c or NumPy, or a sequence that can be changed, such as a list (axis 0 alone).
        Shapes: one axis or more.
        Dtypes: all.
        Errors: TypeError for other objects; IndexError or ValueError if x has no such axis.

        >>> x = nd4c.asarray([1, 2, 3, 4]); nd4c.random.default_rng(7).shuffle(x); x
        array([3, 4, 1, 2])
        """
        numpy = sys.modules.get("numpy")
        if type(x) is Array:
            x[...] = self._shuffled("shuffle", x, axis, x.device)
        elif numpy is not None and isinstance(x, numpy.ndarray):
            axis = axis_of("shuffle", axis, x.ndim)
            order = numpy.asarray(self.permutation(x.shape[axis]))
            x[...] = numpy.take(x, order, axis=axis)
        elif hasattr(x, "__setitem__") and hasattr(x, "__len__") and not hasattr(x, "keys"):
            if index(axis) != 0:
                raise NotImplementedError("shuffle: a %s has axis 0 alone, not axis %d; use an array"
                                          % (type(x).__name__, axis))
            x[:] = [x[place] for place in self.permutation(len(x)).tolist()]
        else:
            raise TypeError("shuffle: a %s cannot be changed in place; permutation() gives a copy" % type(x).__name__)

    def permuted(self, x, *, axis=None, out=None, device=None):
        """A copy of x in which each slice along axis is in a random order of its own; None: all elements.

        Shapes: x's.
        Dtypes: x's. out: an array that gets the result, x itself to do it in place.
        Errors: ValueError if out has another shape; IndexError or ValueError if x has no such axis.

        >>> nd4c.random.default_rng(7).permuted(nd4c.asarray([[1, 2, 3], [4, 5, 6]]), axis=1)
        array([[2, 1, 3],
               [5, 6, 4]])
        """
        near = self._near(asarray(x), x, device)
        if axis is None:
            made = _reshape(self.shuffled(_reshape(near, (near.size,)), device=device), near.shape)
        else:
            axis = axis_of("permuted", axis, near.ndim)
            keys = self._draw("random_bits", (near.shape, by_name["uint64"].number), device)
            made = made_on(device, lambda: op("take_along_axis")(near, op("argsort")(keys, axis, False), axis))
        if out is None:
            return made
        return write("permuted", out, made.shape, made.dtype, lambda shape, dtype: made)

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True, *, device=None):
        """Slices of a along axis (or of 0 .. a - 1) picked at random, p their probabilities.

        Shapes: size in the place of a's axis, which is gone if size is None.
        Dtypes: a's, int64 for a number.
        Without replacement no slice is picked twice, and the order is random whatever shuffle is.
        Errors: ValueError if p does not sum to 1, if there is nothing to pick from, or not enough without replacement.

        >>> nd4c.random.default_rng(7).choice(5, 3, replace=False)
        array([2, 3, 0])
        >>> nd4c.random.default_rng(7).choice([10.0, 20.0, 30.0], (2, 2), p=[0.5, 0.25, 0.25])
        array([[30., 10.],
               [30., 30.]])
        """
        try:
            given, count = None, index(a)
        except TypeError:
            given = self._near(asarray(a), a, device)
            if not given.ndim:
                raise ValueError("choice: a is %r, expected a whole number or an array with axes" % (a,)) from None
            axis = axis_of("choice", axis, given.ndim)
            count = given.shape[axis]
        shape = size_of("choice", size)
        number = _count(shape)
        if count <= 0 and (number or count < 0):
            raise ValueError("choice: a has %d elements to pick from, expected at least 1" % count)
        if not replace and number > count:
            raise ValueError("choice: %d of %d elements cannot be picked without replacement" % (number, count))
        picked = _reshape(self._picked(count, number, replace, p, device), shape)
        return picked if given is None else self._slices(given, picked, axis, device)

    def _picked(self, count, number, replace, p, device):
        """Indices below count, one axis of them."""
        if p is not None:
            return self._weighted(count, number, replace, p, device)
        if replace and number:
            return self._draw("random_integers", ((number,), WHOLE.number, 0, count), device)
        if number * 50 > count or not number:
            order = self._draw("random_permutation", (count, WHOLE.number), device)
            return order[:number]
        return self._distinct(count, number, device)

    def _distinct(self, count, number, device):
        """The first different ones of a sequence of integers below count: few of many, without an order of all."""
        found = None
        while found is None or found.size < number:
            more = self._draw("random_integers", ((number + number // 16 + 8,), WHOLE.number, 0, count), device)
            found = more if found is None else op("concat")([found, more], 0)
            firsts = op("unique_all")(found)[1]
            found = _take(found, op("sort")(firsts, 0, False), (0,), 0)
        return found[:number]

    def _weighted(self, count, number, replace, p, device):
        weights = real("choice: p", p)
        if type(weights) is float or weights.shape != (count,):
            raise ValueError("choice: p has the shape %s, expected (%d,): a chance for each of what is picked from"
                             % (() if type(weights) is float else weights.shape, count))
        check("choice: p", weights, NOT_NEGATIVE)
        total = float(op("sum")(weights, None, False, 0))
        precision = by_name[p.dtype.name] if type(p) is Array and p.dtype.kind == "f" else REAL
        from nd4c._dtypes import limits
        if not abs(total - 1) <= max(limits(precision).epsilon, limits(REAL).epsilon) ** 0.5:
            raise ValueError("choice: p sums to %r, expected 1; divide it by its sum" % total)
        if not replace and number > int(op("count_nonzero")(weights, None, False)):
            raise ValueError("choice: p has fewer elements above 0 than the %d to pick without replacement" % number)
        if not number:
            return asarray([], dtype=WHOLE)
        return self._draw("random_categorical", (number, False, bool(replace), WHOLE.number), device,
                          (self._near(weights, p, device),))

    def _slices(self, given, picked, axis, device):
        """Slices of an array along an axis, at an array of indices."""
        flat = _reshape(picked, (picked.size,))
        taken = made_on(device, _take, given, flat, (axis,), 0)
        return _reshape(taken, given.shape[:axis] + picked.shape + given.shape[axis + 1:])


def bytes_of(array):
    """An array's elements in C order as bytes."""
    cell, count = read(array)
    return cell.raw[:count]

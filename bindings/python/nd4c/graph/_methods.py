"""Gives Symbols the operators and methods of arrays. Methods are those of arrays themselves, where they need no memory."""
from __future__ import annotations

from operator import index

import nd4c
from nd4c._arrays import methods as _of_arrays
from nd4c._arrays.fast import PLAIN
from nd4c._core import Array
from nd4c._functions.support import normalize_axis, op
from nd4c._symbols import ARRAYS, Dim, Symbol

_OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
              "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
              "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}
_COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}
_METHODS = ("all any argmax argmin argsort clip conj cumprod cumsum diagonal dot max mean min prod ravel repeat round squeeze std sum "
            "swapaxes take trace var astype reshape transpose "
            "__divmod__ __rdivmod__ __round__").split()
_LOOKS = ("%s: a value of a graph has no elements while a function is recorded. nd4c.where(condition, a, b) "
          "chooses element by element, nd4c.cond runs one of two functions, nd4c.while_loop repeats one; what does not depend on arrays, such as "
          "x.shape and x.ndim, may be asked")


def _operand(other, beside):
    """A Dim beside integers as an array; beside other dtypes its number, which stays a constant for passes."""
    if type(other) is not Dim:
        return other
    return other._graph._array_of(other, beside.dtype) if beside.dtype.kind in "iu" else int(other)


def _forward(name):
    def operator(self, other):
        return getattr(nd4c, name)(self, _operand(other, self))
    return operator


def _reflected(name):
    def operator(self, other):
        return getattr(nd4c, name)(_operand(other, self), self)
    return operator


def _unary(name):
    def operator(self):
        return getattr(nd4c, name)(self)
    return operator


def _refused(name, what):
    def method(self):
        raise TypeError(_LOOKS % what)
    method.__name__, method.__qualname__ = name, "Symbol." + name
    method.__doc__ = """Refused: a value of a graph has no elements yet.

    >>> nd4c.compile(lambda x: x.%s())(nd4c.ones(1))
    Traceback (most recent call last):
        ...
    TypeError: %s
    """ % (name, _LOOKS % what)
    return method


# -- keys ------------------------------------------------------------------------------------------------------------

def _getitem(self, key):
    """Integers, slices, ..., None, and one array of integers or one mask's numbers of places."""
    items = list(key) if type(key) is tuple else [key]
    taken = sum(item is not None and item is not Ellipsis for item in items)
    if taken > self.ndim:
        raise IndexError("index: too many indices: %d for %d axes" % (taken, self.ndim))
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("index: an index has one ellipsis at most")
    place = next((at for at, item in enumerate(items) if item is Ellipsis), len(items))
    items[place:place + 1] = [slice(None)] * (self.ndim - taken)
    return _picked(self, items)


def _picked(x, items):
    """x[items], where each item but None is for an axis: slices first, then arrays of places, then axes that go and come."""
    axis, slices, gone, added, gathered, made = 0, [], [], [], [], 0
    for item in items:
        if item is None:
            added.append(made)
            made += 1
            continue
        if type(item) is slice:
            slices.append((axis, item.start, item.stop, item.step))
            made += 1
        elif type(item) in ARRAYS or isinstance(item, (list, bool)) or (getattr(item, "dtype", None) is not None):
            gathered.append((axis, _places(item)))
            made += 1
        else:
            if type(item) is Dim:
                item = _place_of(item, x.shape[axis])
                slices.append((axis, item, item + 1, None))
            else:
                start = _inside(item, x.shape[axis], axis)
                slices.append((axis, start, None if start == -1 else start + 1, None))
            gone.append(axis)
        axis += 1
    if len(gathered) > 1:
        raise NotImplementedError("index: several arrays in one index of a graph's value are not supported; nd4c.ops.gather_nd takes "
                                  "places of several axes")
    if gathered and added:
        raise NotImplementedError("index: an array and None in one index of a graph's value are not supported; index twice")
    x = _sliced(x, [one for one in slices if one[1:] != (None, None, None)])
    for place, places in gathered:
        x = op("gather")(x, places, place)
        gone = [one if one < place else one + places.ndim - 1 for one in gone]
    if gone:
        x = op("squeeze")(x, tuple(gone))
    return op("expand_dims")(x, tuple(added)) if added else x


def _place_of(bound, extent):
    """A Dim as a bound of a slice or as an index: counted from the front. It may be an integer; minus an extent is counted
    from the end, which needs that it is not 0."""
    if not bound._negative:
        return bound
    end = -bound
    if end._graph._is_less(end, 1):
        return index(bound)
    end._graph._extent_made("subtract", end, 1)  # that it is at least 1 becomes a guard
    return extent - end


def _bound(bound, extent, step, preset):
    """A bound of a slice as the op takes it."""
    if bound is None:
        return preset
    if type(bound) is not Dim:
        return bound.__index__()
    place = _place_of(bound, extent)
    if type(place) is Dim and place._negative:  # before the first element
        return 0 if step > 0 else index(bound)
    return place


def _inside(item, extent, axis):
    try:
        place = item.__index__()
    except (AttributeError, TypeError):
        raise IndexError("index: only integers, slices, ellipsis, None and arrays of integers are indices of a graph's value, not %s"
                         % type(item).__name__) from None
    if type(extent) is int and not -extent <= place < extent:
        raise IndexError("index: %d is out of bounds for axis %d of %d" % (place, axis, extent))
    return place


def _places(item):
    item = nd4c.asarray(item)
    if item.dtype.kind not in "iu":
        raise TypeError("index: the shape of x[mask] depends on elements, which a graph does not know; nd4c.where(mask, x, 0) keeps the "
                        "shape")
    return item


def _sliced(x, slices):
    if not slices:
        return x
    least, most = -2 ** 63 + 1, 2 ** 63 - 1
    axes, starts, stops, steps = [], [], [], []
    for axis, start, stop, step in slices:
        step = 1 if step is None else step.__index__()
        axes.append(axis)
        steps.append(step)
        starts.append(_bound(start, x.shape[axis], step, 0 if step > 0 else most))
        stops.append(_bound(stop, x.shape[axis], step, most if step > 0 else least))
    return op("slice")(x, tuple(starts), tuple(stops), tuple(axes), tuple(steps))


def _len(self):
    if not self.ndim:
        raise TypeError("len() of a value without axes")
    return int(self.shape[0])


def _iter(self):
    return iter([self[place] for place in range(_len(self))])


def _flatten(self):
    """The elements in one axis.

    >>> nd4c.Graph().input("x", "float32", ("n", 3)).flatten()
    Symbol(float32, (3*n,))
    """
    return self.reshape(-1)


def _matrix_transposed(self):
    return nd4c.matrix_transpose(self)


def _numpy(self, dtype=None, copy=None):
    raise TypeError(_LOOKS % "NumPy's array of x")


# NumPy's ufuncs behind the operators of its arrays, where nd4c's function has another name.
_UFUNCS = {"left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift", "power": "pow"}
# The functions behind methods of ufuncs.
_REDUCTIONS = {"add.reduce": "sum", "multiply.reduce": "prod", "maximum.reduce": "max", "minimum.reduce": "min",
               "add.accumulate": "cumsum", "multiply.accumulate": "cumprod"}


def _array_ufunc(self, ufunc, method, *inputs, **options):
    """`a + x` of an array of NumPy's and a Symbol is nd4c's op. Other calls of ufuncs are refused: of a Symbol NumPy could not give
    an array of its own."""
    name = _UFUNCS.get(ufunc.__name__, ufunc.__name__)
    if method == "__call__" and not options and len(inputs) == 2 and not isinstance(inputs[0], Symbol):
        if name in _OPERATORS.values() or name in _COMPARISONS.values():
            return getattr(nd4c, name)(_operand(inputs[0], self), self)
        if name == "divmod":
            return self.__rdivmod__(inputs[0])
    called = ufunc.__name__ if method == "__call__" else "%s.%s" % (ufunc.__name__, method)
    name = _REDUCTIONS.get(called, name if method == "__call__" else "")
    instead = "call nd4c.%s, which records it" % name if hasattr(nd4c, name) else "call functions of nd4c's instead"
    raise TypeError("np.%s is a function of NumPy's, which cannot take a value of a graph (a Symbol): %s" % (called, instead))


def _contains(self, value):
    raise TypeError(_LOOKS % "y in x")


def _set(self, key, value):
    raise TypeError("a value of a graph cannot be written into: x[key] = y would change the array that others see. nd4c.where(mask, y, x), "
                    "nd4c.concat and nd4c.ops.scatter_nd give a new value")


def attach():
    for short, name in _OPERATORS.items():
        setattr(Symbol, "__%s__" % short, _forward(name))
        setattr(Symbol, "__r%s__" % short, _reflected(name))
    for short, name in _COMPARISONS.items():
        setattr(Symbol, "__%s__" % short, _forward(name))
    for short, name in _UNARY.items():
        setattr(Symbol, "__%s__" % short, _unary(name))
    for name in _METHODS:
        setattr(Symbol, name, PLAIN.get(name) or getattr(Array, name))
    for name, what in (("__bool__", "bool(x), as in `if x > 0`"), ("__int__", "int(x)"), ("__float__", "float(x)"),
                       ("__complex__", "complex(x)"), ("__index__", "x as an index or a count"), ("item", "x.item()"),
                       ("tolist", "x.tolist()")):
        setattr(Symbol, name, _refused(name, what))
    Symbol.__getitem__, Symbol.__setitem__, Symbol.__len__, Symbol.__iter__, Symbol.flatten = _getitem, _set, _len, _iter, _flatten
    Symbol.__array__, Symbol.__contains__ = _numpy, _contains
    Symbol.__array_ufunc__ = _array_ufunc
    Symbol.T = property(lambda self: op("transpose")(self, None), doc="The axes in the reverse order.")
    Symbol.mT = property(_matrix_transposed, doc="The matrices of the last two axes transposed.")
    Symbol.real = property(lambda self: nd4c.real(self), doc="The real parts.")
    Symbol.imag = property(lambda self: nd4c.imag(self), doc="The imaginary parts.")


attach()

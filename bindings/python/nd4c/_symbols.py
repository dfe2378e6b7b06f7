"""Values of graphs as the package's functions see them: Symbol stands for an array, Dim for an extent that is only known when
a plan runs. nd4c.graph makes them and records what is done with them; the cores hand it each op of which an operand is a
Symbol. Functions that look at an operand's dtype or shape treat ARRAYS alike."""
from __future__ import annotations

import operator as _operator
import os
import sys
import threading
from operator import index

from nd4c._arguments import symbolic
from nd4c._core import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def caller():
    """The innermost frame of the user's program; None: there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


class _Traced(threading.local):
    """The graphs that this thread's functions are being traced into, bodies of control flow after what is around them."""

    graphs = ()


traced = _Traced()


class Dim:
    """An extent of a Symbol that is only known when a plan runs, such as the dim "batch", or what integers and dims give by
    +, -, *, // and %. It may stand in shapes and slices: x.reshape(x.shape[0], -1), x[: x.shape[0] // 2]. Where a program
    needs its number, a compiled function fixes it: other numbers are traced anew; a Graph, which knows none, refuses.

    >>> g = nd4c.Graph()
    >>> x = g.input("x", nd4c.float32, ("batch", 64))
    >>> x.shape, x.shape[0] * 2 + 1, x[x.shape[0] // 2 :].shape
    ((batch, 64), 2*batch + 1, (batch - batch / 2, 64))
    """

    __slots__ = ("_graph", "_extent", "_negative", "_parts")
    __module__ = "nd4c.graph"

    def __init__(self, graph, extent, negative=False, parts=None):
        self._graph, self._extent, self._negative = graph, extent, negative  # negative: it is minus the extent
        self._parts = parts  # the operation and the operands that the extent was made of

    def __index__(self) -> int:
        return self._graph._looked_at(self)

    def __repr__(self):
        text = self._graph._extent_text(self._extent)
        return text if not self._negative else "-" + text if text.isidentifier() else "-(%s)" % text

    def __eq__(self, other):
        if type(other) is Dim and other._graph is self._graph and other._extent == self._extent and (
                other._negative == self._negative):
            return True
        if other is None or isinstance(other, str):
            return False
        below, above = at_least(self, other), at_least(other, self)
        if below is False or above is False:
            return False
        return True if below and above else index(self) == other

    def __neg__(self):
        return Dim(self._graph, self._extent, not self._negative, self._parts)

    def __pos__(self):
        return self

    def __abs__(self):
        return abs_of(self)

    def __bool__(self):
        known = at_least(abs_of(self), 1)
        return bool(index(self)) if known is None else known

    def __hash__(self):
        return hash(index(self))

    def __round__(self, ndigits=None):
        return round(index(self), ndigits)

    def __format__(self, spec: str) -> str:
        return format(index(self), spec) if spec else repr(self)


def _symbolic(name, a, b):
    """a + b, a - b, a * b, a // b or a % b of dims and integers: a Dim, or an int where all dims fall out. None: it has to be
    computed with numbers."""
    for one in (a, b):
        if type(one) is not Dim and not (isinstance(one, int) and -_LARGE < one < _LARGE):
            return None
    graph = a._graph if type(a) is Dim else b._graph
    if type(a) is Dim is type(b) and a._graph is not b._graph:
        graph = next((one for one, other in ((a._graph, b._graph), (b._graph, a._graph)) if one._reaches(other)), None)
    return None if graph is None else _SYMBOLIC[name](graph, _signed(graph, a), _signed(graph, b))


_LARGE = 2 ** 63


def at_least(a, b):
    """Whether a >= b for all numbers of the dims (True) or for none (False); None: it depends on them, or cannot be known."""
    if type(a) is not Dim is not type(b):
        return a >= b
    if type(a) is type(b) and a._graph is not b._graph:
        return None
    for one in (a, b):
        if one._negative if type(one) is Dim else not isinstance(one, int) or one >= _LARGE - 1:
            return None
    if type(a) is not Dim and a < 0 or type(b) is not Dim and b < 0:
        return type(a) is Dim
    graph = a._graph if type(a) is Dim else b._graph
    low, high = graph._extent_of(a), graph._extent_of(b)
    if graph._computed("maximum", low, high) == low:
        return True
    return False if graph._computed("maximum", graph._computed("add", low, 1), high) == high else None


_ORDER = {"lt": lambda a, b: _opposite(at_least(a, b)), "le": lambda a, b: at_least(b, a),
          "gt": lambda a, b: _opposite(at_least(b, a)), "ge": at_least}


def _opposite(known):
    return None if known is None else not known


def _signed(graph, one):
    """The magnitude of an operand, a number or a Dim of the graph that is an extent, and whether it is below 0."""
    if type(one) is not Dim:
        return (-int(one), True) if one < 0 else (int(one), False)
    return (Dim(graph, graph._extent_of(abs_of(one))) if one._graph is not graph else abs_of(one)), one._negative


def abs_of(dim):
    """The extent of a Dim that may be minus an extent."""
    return -dim if dim._negative else dim


def _sum(graph, a, b):
    (first, below), (second, other_below) = a, b
    if below == other_below:
        made = graph._extent_made("add", first, second)
    elif below:  # b - a
        return _sum(graph, b, a)
    elif graph._is_less(first, second):
        below, made = True, graph._extent_made("subtract", second, first)
    else:
        made = graph._extent_made("subtract", first, second)
    return -made if below else made


def _product(graph, a, b):
    made = graph._extent_made("multiply", a[0], b[0])
    return -made if a[1] != b[1] else made


def _quotient(graph, a, b):
    (first, below), (second, other_below) = a, b
    if type(second) is int and not second:
        raise ZeroDivisionError("%r // 0" % (first,))
    if below == other_below:
        return graph._extent_made("divide", first, second)
    more = _sum(graph, (first, False), _signed(graph, _sum(graph, (second, False), (1, True))))  # rounds up
    return -graph._extent_made("divide", more, second)


def _remainder(graph, a, b):
    if type(b[0]) is int and not b[0]:
        raise ZeroDivisionError("%r %% 0" % (a[0],))
    return None if a[1] or b[1] else graph._extent_made("remainder", a[0], b[0])


_SYMBOLIC = {"add": _sum, "sub": lambda graph, a, b: _sum(graph, a, (b[0], not b[1])), "mul": _product, "floordiv": _quotient,
             "mod": _remainder}


def _binary(name, operation, reflected):
    """An operator that stays symbolic between dims and integers, if it can, or a comparison that does not depend on the
    numbers. Otherwise it fixes the dim and leaves the rest to Python: dim ** -0.5 is a float, dim * array an array."""
    def compute(self, other):
        if name in _SYMBOLIC:
            made = _symbolic(name, *((other, self) if reflected else (self, other)))
            if made is not None:
                return made
        elif name in _ORDER:
            known = _ORDER[name](self, other)
            if known is not None:
                return known
        if type(other) is Symbol:
            return NotImplemented
        number = index(self)
        other = index(other) if type(other) is Dim else other
        return operation(other, number) if reflected else operation(number, other)
    return compute


def _unary(operation):
    def compute(self):
        return operation(index(self))
    return compute


for _name in "add sub mul floordiv truediv mod pow and_ or_ xor lshift rshift".split():
    for _reflected in (False, True):
        setattr(Dim, "__%s%s__" % ("r" if _reflected else "", _name.rstrip("_")),
                _binary(_name, getattr(_operator, _name), _reflected))
for _reflected in (False, True):
    setattr(Dim, "__rdivmod__" if _reflected else "__divmod__", _binary("divmod", divmod, _reflected))
for _name in "lt le gt ge".split():
    setattr(Dim, "__%s__" % _name, _binary(_name, getattr(_operator, _name), False))
for _name, _function in (("invert", _operator.invert), ("float", float)):
    setattr(Dim, "__%s__" % _name, _unary(_function))


class Symbol:
    """A value of a graph: an input, a constant, or what a node gives. It has the operators, the methods and the attributes of
    an Array that need no elements, and nd4c's functions take it; what they compute becomes nodes of the graph.

    >>> g = nd4c.Graph()
    >>> x = g.input("x", nd4c.float32, ("batch", 64))
    >>> nd4c.sum(x * 2, axis=1), x.flatten()
    (Symbol(float32, (batch,)), Symbol(float32, (64*batch,)))
    """

    __slots__ = ("_graph", "_value", "dtype", "shape", "__weakref__")
    __module__ = "nd4c.graph"
    __hash__ = object.__hash__

    def __init__(self, graph, value, dtype, shape):
        self._graph, self._value, self.dtype, self.shape = graph, value, dtype, shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Union[int, Dim]:
        """Number of elements: a Dim if an extent is one."""
        size = 1
        for extent in self.shape:
            size = extent * size
        return size

    def __repr__(self):
        return "Symbol(%s, %s)" % (self.dtype.name, self.shape)

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        import nd4c
        return nd4c


ARRAYS = (Array, Symbol)
symbolic.add(Dim)


def beside_dims(array, shape):
    """An array whose new shape has dims as a value of their graph; otherwise itself."""
    graph = graph_of(shape) if type(array) is Array else None
    return array if graph is None else graph.constant(array)


def graph_of(shape):
    """The graph that the dims in a shape belong to; None: it is all numbers."""
    for extent in shape if type(shape) in (tuple, list) else (shape,):
        if type(extent) is Dim:
            return extent._graph
    return None

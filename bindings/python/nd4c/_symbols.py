"""Values of graphs as the package's functions see them: Symbol stands for an array, Dim for an extent that is only known when
a plan runs. nd4c.graph makes them and records what is done with them; the cores hand it each op of which an operand is a
Symbol. Functions that look at an operand's dtype or shape treat ARRAYS alike."""
from __future__ import annotations

import operator as _operator
import threading
from operator import index

from nd4c._core import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Traced(threading.local):
    """The graphs that this thread's functions are being traced into, bodies of control flow after what is around them."""

    graphs = ()


traced = _Traced()


class Dim:
    """An extent of a Symbol that is only known when a plan runs, such as the dim "batch". It may stand in shapes: x.reshape(
    x.shape[0], -1). Where a program needs its number, a compiled function fixes it: other numbers are traced anew; a Graph, which
    knows none, refuses.

    >>> g = nd4c.Graph()
    >>> g.input("x", nd4c.float32, ("batch", 64)).shape
    (batch, 64)
    """

    __slots__ = ("_graph", "_value", "_axis", "_extent")
    __module__ = "nd4c.graph"

    def __init__(self, graph, value, axis, extent):
        self._graph, self._value, self._axis, self._extent = graph, value, axis, extent

    def __index__(self) -> int:
        return self._graph._looked_at(self)

    def __repr__(self):
        return self._graph._extent_text(self._extent)

    def __eq__(self, other):
        if type(other) is Dim and other._graph is self._graph and other._extent == self._extent:
            return True
        return index(self) == other

    def __hash__(self):
        return hash(index(self))

    def __round__(self, ndigits=None):
        return round(index(self), ndigits)

    def __format__(self, spec: str) -> str:
        return format(index(self), spec) if spec else repr(self)


def _binary(operation, reflected):
    """An operator that fixes the dim and leaves the rest to Python: dim ** -0.5 is a float, dim * array an array."""
    def compute(self, other):
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
        setattr(Dim, "__%s%s__" % ("r" if _reflected else "", _name.rstrip("_")), _binary(getattr(_operator, _name), _reflected))
for _reflected in (False, True):
    setattr(Dim, "__rdivmod__" if _reflected else "__divmod__", _binary(divmod, _reflected))
for _name in "lt le gt ge".split():
    setattr(Dim, "__%s__" % _name, _binary(getattr(_operator, _name), False))
for _name, _function in (("neg", _operator.neg), ("pos", _operator.pos), ("invert", _operator.invert), ("abs", abs),
                         ("float", float), ("bool", bool)):
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
    __array_ufunc__ = None  # NumPy's operators leave an operation to the Symbol
    __hash__ = object.__hash__

    def __init__(self, graph, value, dtype, shape):
        self._graph, self._value, self.dtype, self.shape = graph, value, dtype, shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements; dims are looked at, as by int()."""
        size = 1
        for extent in self.shape:
            size *= index(extent)
        return size

    def __repr__(self):
        return "Symbol(%s, %s)" % (self.dtype.name, self.shape)

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        import nd4c
        return nd4c


ARRAYS = (Array, Symbol)


def graph_of(shape):
    """The graph that the dims in a shape belong to; None: it is all numbers."""
    for extent in shape if type(shape) in (tuple, list) else (shape,):
        if type(extent) is Dim:
            return extent._graph
    return None

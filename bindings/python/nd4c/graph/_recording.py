"""Records ops on Symbols as nodes: the cores call `record` for each op that gets a Symbol. Which graph gets the node depends on
the thread: the graph that a function is being traced into, or else that of the Symbols."""
from __future__ import annotations

from ctypes import c_int32
from operator import index

from nd4c import _abi, _dtypes
from nd4c._arguments import signature
from nd4c._attributes import convert, fill
from nd4c._core import Array, core
from nd4c._creation import asarray
from nd4c._errors import error
from nd4c._functions.ufunc import mixed
from nd4c._library import bind
from nd4c._symbols import Dim, Symbol, caller, traced

_op = bind("nd4c_graph_op")
_WHERE, _DTYPE_STATUS = _abi.NUMBERS["where"], 203
_NUMBERS = (bool, int, float, complex)
_NONE = -1  # ND4C_VALUE_NONE
# Attributes that take extents, but for those named shape.
_EXTENTS = {"slice": ("starts", "stops"), "integer_range": ("start", "stop"), "tile": ("repeats",), "pad": ("pads",),
            "top_k": ("k",), "eye": ("rows", "columns"), "one_hot": ("depth",), "resize": ("sizes",), "tril": ("k",),
            "triu": ("k",)}


class tracing:
    """A block in which ops on Symbols become nodes of a graph."""

    def __init__(self, graph):
        self._graph = graph

    def __enter__(self):
        traced.graphs += (self._graph,)
        return self._graph

    def __exit__(self, *_):
        traced.graphs = traced.graphs[:-1]


def target(symbols, where, owner=None):
    """The graph that gets a node with these inputs, which may belong to a graph by itself.

    Errors: ValueError for Symbols of graphs that have nothing to do with each other."""
    owners = {id(one._graph): one._graph for one in symbols}
    if owner is not None:
        owners[id(owner)] = owner
    graph = traced.graphs[-1] if traced.graphs else None
    if graph is not None and all(graph._reaches(owner) for owner in owners.values()):
        return graph
    if len(owners) != 1:
        raise ValueError("%s: the operands are values of different graphs; a node's inputs belong to one graph" % where)
    return next(iter(owners.values()))


def record(number, values, owner=None):
    """The Symbols that an op gives for the arguments of the core's callable; one alone: itself. owner: the graph that a node
    without inputs belongs to."""
    name, inputs, attrs, outputs = signature(number)
    if len(values) == len(inputs) + len(attrs) + 1 and values[-1] is not None:
        raise TypeError("%s: out: values of a graph are written to no array; use the result" % name)
    operands = list(values[:len(inputs)])
    if inputs and inputs[-1][0] == "v":
        operands[-1:] = list(operands[-1])
    graph = target([one for one in operands if type(one) is Symbol], name, owner)
    arrays = _arrays(graph, name, operands, inputs, 1 if number == _WHERE else 0)
    rows = (_abi.attr * len(attrs))()
    kept = [_fill(graph, row, name, kind, word, value)
            for row, (kind, word), value in zip(rows, attrs, values[len(inputs):])]
    numbers, made = (c_int32 * len(arrays))(*[graph._number_of(one) for one in arrays]), (c_int32 * outputs)()
    status = _op(graph._open(), number, numbers, len(numbers), rows, len(attrs), _place(name), made, outputs)
    del kept
    if status:
        found = mixed(number, *operands) if status == _DTYPE_STATUS and len(values) == len(operands) <= 2 else None
        if found is None:
            raise error(status)
        return found
    results = [graph._symbol(value) for value in made]
    return results[0] if outputs == 1 else tuple(results)


def _arrays(graph, name, operands, inputs, first):
    """Operands as Symbols, Arrays and None; numbers get their dtype beside the first of them that has one."""
    beside = next((one.dtype for one in operands[first:] if type(one) in (Symbol, Array)), None)
    made = []
    for place, one in enumerate(operands):
        kind = inputs[min(place, len(inputs) - 1)][0]
        if type(one) in (Symbol, Array) or (one is None and kind == "o"):
            made.append(one)
        elif getattr(one, "ndim", None) == 0 and hasattr(one, "dtype"):  # of NumPy's scalars some are Python's floats, too
            made.append(asarray(one))
        elif type(one) is Dim and beside is not None and beside.kind in "iu":
            made.append(graph._array_of(one, _dtypes.weak(int, beside)))
        elif isinstance(one, (*_NUMBERS, Dim)) and beside is not None:
            one = index(one) if type(one) is Dim else one
            base = next(base for base in _NUMBERS if isinstance(one, base))
            made.append(core.from_scalar(base(one), _dtypes.weak(base, beside)))
        else:
            raise TypeError("%s: expected an nd4c.Array or a Symbol, got %s; nd4c.asarray() makes an array of it"
                            % (name, type(one).__name__))
    return made


def _fill(graph, row, name, kind, word, value):
    """Writes an attribute into a struct nd4c_attr; returns what the struct points to. Dims stay symbolic where the op takes
    extents, but for those that are minus an extent."""
    row.name = word.encode()
    if word == "shape" or word in _EXTENTS.get(name, ()):
        if kind == "n":
            value = _extent(graph, value)
        elif kind == "N" and value is not None:
            value = tuple([_extent(graph, one, word == "shape") for one in value])
    return fill(row.value, kind, convert(name, word, kind, value))


def _extent(graph, one, must=False):
    return graph._extent_of(one) if type(one) is Dim and (must or not one._negative) else one


def _place(name):
    """The node's label: the function and the line of the user's program that computes it."""
    frame = caller()
    return None if frame is None else ("%s:%d %s" % (frame.f_code.co_name, frame.f_lineno, name)).encode()


def pick(array, key):
    """array[key] of an Array, where the key is or has a Symbol: the array becomes a constant."""
    graph = target([one for one in (key if type(key) is tuple else (key,)) if type(one) is Symbol], "index")
    return graph._symbol(graph._number_of(array))[key]


core.register(symbol=Symbol, recorded=record, picked=pick)

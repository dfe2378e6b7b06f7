"""Control flow of recorded functions: cond, while_loop and scan become nodes with bodies. With Arrays alone they run at once."""
from __future__ import annotations

import ctypes
from ctypes import c_bool, c_int32

from nd4c import _abi, _dtypes
from nd4c._creation import asarray
from nd4c._errors import check
from nd4c._functions.manipulation import stack
from nd4c._library import bind
from nd4c._symbols import ARRAYS, Dim, Symbol
from nd4c.graph._graph import Graph
from nd4c.graph._recording import target, tracing
from nd4c.graph._trees import flatten, rebuilt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Tuple

_if, _loop, _scan = (bind("nd4c_graph_" + name) for name in ("if", "loop", "scan"))
_INT64, _BOOL = _dtypes.by_name["int64"], _dtypes.by_name["bool"]


def _arrays(tree, where):
    """The leaves of a tree as Symbols and Arrays, and its structure."""
    leaves = []
    structure = flatten(tree, leaves)
    return [leaf if type(leaf) in ARRAYS else leaf._graph._array_of(leaf) if type(leaf) is Dim else asarray(leaf)
            for leaf in leaves], structure


class _Body:
    """A graph of a node, into which a function is recorded."""

    def __init__(self, around):
        self.graph = Graph(_parent=around, _hints=around._hints)

    def take(self, leaves, structure):
        """Inputs like these values, as the tree of the structure."""
        return rebuilt(structure, [self.graph._input_like(leaf) for leaf in leaves])

    def give(self, *values):
        for value in values:
            self.graph.output("out%d" % len(self.graph.outputs), value)

    def capture(self, symbols):
        """Makes inputs of values of the graph around, in this order, unless they are already."""
        for symbol in symbols:
            self.graph._number_of(symbol)

    @property
    def captured(self):
        return self.graph._captured


def _numbers(around, values):
    return (c_int32 * len(values))(*[around._number_of(one) for one in values])


def _condition(value, where):
    value = value if type(value) in ARRAYS else asarray(value)
    if value.dtype is not _BOOL or value.ndim:
        raise TypeError("%s: the condition is one bool, not %s of the shape %s" % (where, value.dtype, value.shape))
    return value


def _agree(where, first, second, names):
    """Refuses two trees that differ in structure, dtypes or numbers of axes."""
    if first[1] != second[1]:
        raise TypeError("%s: %s and %s have different structures" % (where, *names))
    for one, other in zip(first[0], second[0]):
        if one.dtype is not other.dtype or one.ndim != other.ndim:
            raise TypeError("%s: %s has %s of %d axes where %s has %s of %d axes" % (
                where, names[0], one.dtype, one.ndim, names[1], other.dtype, other.ndim))


# -- branches --------------------------------------------------------------------------------------------------------

def cond(condition: Any, true_function: Callable[..., Any], false_function: Callable[..., Any], *operands: Any) -> Any:
    """true_function(*operands) if the condition holds, else false_function(*operands). In a function that is recorded, both become
    bodies of one node, of which a run computes one.

    Shapes: the condition has no axes; both functions give the same shapes.
    Dtypes: the condition is bool; both functions give the same dtypes.
    Errors: TypeError where the functions' results differ in structure or dtype.

    >>> @nd4c.compile
    ... def root(x):
    ...     return nd4c.cond(nd4c.all(x >= 0), nd4c.sqrt, nd4c.zeros_like, x)
    >>> root(nd4c.asarray([4.0, 9.0])), root(nd4c.asarray([4.0, -9.0]))
    (array([2., 3.]), array([0., 0.]))
    """
    if type(condition) is not Symbol:
        return true_function(*operands) if bool(condition) else false_function(*operands)
    condition = _condition(condition, "cond")
    leaves, structure = _arrays(operands, "cond")
    around = target([condition] + [leaf for leaf in leaves if type(leaf) is Symbol], "cond")
    bodies, results = (_Body(around), _Body(around)), []
    for body, function in zip(bodies, (true_function, false_function)):
        arguments = body.take(leaves, structure)
        body.capture(bodies[0].captured)
        with tracing(body.graph):
            results.append(_arrays(function(*arguments), "cond"))
        body.give(*results[-1][0])
    bodies[0].capture(bodies[1].captured)
    _agree("cond", *results, ("the first function's result", "the second one's"))
    inputs = _numbers(around, leaves + bodies[1].captured)
    made = (c_int32 * len(results[0][0]))()
    check(_if(around._open(), around._number_of(condition), bodies[0].graph._open(), bodies[1].graph._open(), inputs, len(inputs),
              b"cond", made, len(made)))
    return rebuilt(results[0][1], [around._symbol(value) for value in made])


# -- loops -----------------------------------------------------------------------------------------------------------

def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], value: Any) -> Any:
    """value = body(value) as long as condition(value) holds; the last value.

    Shapes: the body keeps the shapes; condition gives one bool.
    Dtypes: the body keeps the dtypes.
    Errors: TypeError if the body's result has another structure or dtype; ValueError for another shape.

    >>> @nd4c.compile
    ... def halvings(x):
    ...     return nd4c.while_loop(lambda s: s[0] > 1, lambda s: (s[0] / 2, s[1] + 1), (x, nd4c.asarray(0)))[1]
    >>> halvings(nd4c.asarray(100.0))
    array(7)
    """
    leaves, structure = _arrays(value, "while_loop")
    symbols = [leaf for leaf in leaves if type(leaf) is Symbol]
    first = _condition(condition(rebuilt(structure, leaves)), "while_loop")
    if not symbols and type(first) is not Symbol:
        while first:
            leaves, structure = _arrays(body(rebuilt(structure, leaves)), "while_loop")
            first = _condition(condition(rebuilt(structure, leaves)), "while_loop")
        return rebuilt(structure, leaves)
    around = target(symbols + [first] if type(first) is Symbol else symbols, "while_loop")
    inner = _Body(around)
    inner.graph.input("round", _INT64, ())
    arguments = inner.take(leaves, structure)
    with tracing(inner.graph):
        after = _arrays(body(arguments), "while_loop")
        again = _condition(condition(rebuilt(*after[::-1])), "while_loop")
    _agree("while_loop", (leaves, structure), after, ("the value", "the body's result"))
    inner.give(again, *after[0])
    options = _abi.loop_options(struct_size=ctypes.sizeof(_abi.loop_options), decides=True)
    condition_number = c_int32(around._number_of(first))
    options.condition = ctypes.addressof(condition_number)
    kept = _lists(around, options, carried=leaves, captured=inner.captured)
    return _made(around, _loop, inner, options, len(leaves), structure, b"while_loop", kept)


def _lists(around, options, **values):
    """Puts lists of values into the options of a loop; returns them, as the options point to them."""
    kept = []
    for name, ones in values.items():
        numbers = _numbers(around, ones)
        setattr(options, name, ctypes.addressof(numbers))
        setattr(options, name + "_count", len(ones))
        kept.append(numbers)
    return kept


def _made(around, record, inner, options, count, structure, label, kept):
    made = (c_int32 * count)()
    check(record(around._open(), inner.graph._open(), ctypes.byref(options), label, made, count))
    del kept
    return rebuilt(structure, [around._symbol(value) for value in made])


def scan(function: Callable[[Any, Any], Tuple[Any, Any]], carry: Any, xs: Any, *, reverse: bool = False) -> Tuple[Any, Any]:
    """Calls carry, y = function(carry, x) for each x along the first axis of xs; gives the last carry, and the ys along a new first
    axis. reverse: from the last x to the first; ys keep the places of their xs.

    Shapes: the arrays of xs are of one length; the function keeps the carry's shapes.
    Dtypes: the function keeps the carry's dtypes.
    Errors: TypeError if the carry's structure or dtypes change; ValueError for xs of different lengths, or none.

    >>> nd4c.scan(lambda total, x: (total + x, total), nd4c.asarray(0), nd4c.asarray([1, 2, 3]))
    (array(6), array([0, 1, 3]))
    """
    carried, scanned = _arrays(carry, "scan"), _arrays(xs, "scan")
    if not scanned[0] or not all(leaf.ndim for leaf in scanned[0]):
        raise ValueError("scan: xs needs an array, and each of its arrays an axis")
    symbols = [leaf for leaf in carried[0] + scanned[0] if type(leaf) is Symbol]
    if not symbols:
        return _scanned_at_once(function, carried, scanned, reverse)
    around = target(symbols, "scan")
    inner = _Body(around)
    state = inner.take(*carried)
    element = rebuilt(scanned[1], [inner.graph._input_like(_Like(leaf.dtype, leaf.shape[1:])) for leaf in scanned[0]])
    with tracing(inner.graph):
        after, given = function(state, element)
        after, given = _arrays(after, "scan"), _arrays(given, "scan")
    _agree("scan", carried, after, ("the carry", "the function's carry"))
    inner.give(*after[0], *given[0])
    options = _abi.scan_options(struct_size=ctypes.sizeof(_abi.scan_options))
    kept = _lists(around, options, carried=carried[0], scanned=scanned[0], captured=inner.captured)
    if reverse:
        backward = (c_bool * max(len(scanned[0]), len(given[0]), 1))(*[True] * max(len(scanned[0]), len(given[0]), 1))
        options.backward = options.output_backward = ctypes.addressof(backward)
        kept.append(backward)
    structure = tuple, (carried[1], given[1])
    return _made(around, _scan, inner, options, len(carried[0]) + len(given[0]), structure, b"scan", kept)


class _Like:
    """A dtype and a shape."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, shape


def _scanned_at_once(function, carried, scanned, reverse):
    lengths = {leaf.shape[0] for leaf in scanned[0]}
    if len(lengths) > 1:
        raise ValueError("scan: the arrays of xs have different lengths: %s" % sorted(lengths))
    carry, rows = rebuilt(*carried[::-1]), []
    places = range(lengths.pop())
    for place in reversed(places) if reverse else places:
        carry, given = function(carry, rebuilt(scanned[1], [leaf[place] for leaf in scanned[0]]))
        rows.append(_arrays(given, "scan"))
    if not rows:
        raise ValueError("scan: xs are empty, so that nothing says what the function gives")
    rows = rows[::-1] if reverse else rows
    return carry, rebuilt(rows[0][1], [stack(ones) for ones in zip(*[row for row, _ in rows])])

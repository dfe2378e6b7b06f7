"""The class Graph: ops that are recorded once, and of which plans are made."""
from __future__ import annotations

import ctypes
import os
import re
from collections import namedtuple
from ctypes import byref, c_int32, c_int64, c_void_p
from operator import index

from nd4c import _abi, _dtypes, _memory
from nd4c._arguments import integer
from nd4c._attributes import ints
from nd4c._core import handle
from nd4c._creation import asarray
from nd4c._errors import check
from nd4c._handles import Owner
from nd4c._library import bind, take_text
from nd4c._symbols import Dim, Symbol, abs_of, at_least, caller
from nd4c.graph import _recording  # noqa: F401: the cores hand it ops on Symbols
from nd4c.graph._options import Options
from nd4c.graph._plan import Plan, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

(_create, _dim, _bind, _input, _constant, _output, _variable, _assign, _gradient, _optimize, _explain, _compile, _freeze, _state,
 _push, _pop) = (bind("nd4c_graph_" + name) if name != "compile" else bind("nd4c_plan_compile") for name in (
     "create", "dim", "bind", "input", "constant", "output", "variable", "assign", "gradient", "optimize", "explain", "compile",
     "freeze", "state", "push_scope", "pop_scope"))
_value_info, _value_constant, _text_of, _guards, _get_node = (
    bind("nd4c_graph_" + name, keeps_gil=True) for name in ("value_info", "value_constant", "extent_text", "guards", "get_node"))
_extent, _extent_number = (bind("nd4c_graph_" + name, keeps_gil=True) for name in ("extent", "extent_number"))
_OPERATIONS = {"add": 0, "subtract": 1, "multiply": 2, "divide": 3, "remainder": 4, "maximum": 5}  # nd4c_extent_operation
_count = {name: bind("nd4c_graph_%s_count" % name, keeps_gil=True) for name in ("dim", "input", "output", "node", "variable")}

Node = namedtuple("Node", "op inputs outputs label operations bytes")
Node.__doc__ = """A node of a graph: the op's name, the numbers of the values that it reads (None: left out) and gives, its label,
and estimates of its additions and multiplications and of the bytes that it moves.

>>> g = nd4c.Graph()
>>> y = g.input("x", "float32", (2, 3)) + 1
>>> g.nodes[0].op, g.nodes[0].operations
('add', 6.0)
"""


class Graph(Owner):
    """A graph, which records ops on Symbols instead of computing them. nd4c.compile makes graphs of Python functions; this class
    builds them by hand. One thread builds a graph; plans made from it are independent of it.

    >>> g = nd4c.Graph()
    >>> x = g.input("x", nd4c.float32, ("batch", 3))
    >>> g.output("y", nd4c.sum(x * x, axis=1))
    >>> plan = g.plan()
    >>> plan(x=nd4c.ones((2, 3), dtype="float32"))
    array([3., 3.], dtype=float32)
    >>> print(g.bind(batch=2).optimized())
    x = input float32[2, 3]
    %1 = square(x) float32[2, 3]  # <module>:1 multiply
    %2 = sum(%1) float32[2]  # <module>:1 sum
    y = output %2
    >>> g.bind(batch=2).compile("cpu:0", "made.nd4cexe")
    Traceback (most recent call last):
        ...
    nd4c.errors.UnsupportedError: no compiler of cpu:0 takes any of 2 nodes
    """

    _destroy = "nd4c_graph_destroy"
    __module__ = "nd4c.graph"

    def __init__(self, *, _handle=None, _parent=None, _hints=None):
        self._dims, self._constants, self._parent, self._hints = {}, {}, _parent, _hints
        self._imported, self._captured, self._seen = {}, [], _parent._seen if _parent is not None else Seen()
        out = c_void_p(_handle)
        if _handle is None:
            check(_create(byref(out)))
        self._handle = out.value
        for number in range(_count["dim"](self._handle)):
            name = bind("nd4c_graph_dim_name", keeps_gil=True)(self._handle, number).decode()
            self._dims[name] = None

    # -- building --------------------------------------------------------------------------------------------------

    def dim(self, name: str, low: int = 0, high: Optional[int] = None) -> Dim:
        """Declares a dim, an extent whose number each run brings, and its bounds.

        Errors: ValueError for a name that is taken and for bounds between which no number lies; OverflowError for bounds of
        more than 64 bits.

        >>> g = nd4c.Graph()
        >>> g.input("x", "float32", (g.dim("time", low=1, high=512), 8))
        Symbol(float32, (time, 8))
        """
        out = c_int64()
        low, high = integer("dim %r: low" % (name,), low), None if high is None else integer("dim %r: high" % (name,), high)
        if high is not None and high < 0:  # to the C library, it would be no bound
            raise ValueError("graph: dim %r is %d to %d, expected bounds of at least 0 in ascending order" % (name, low, high))
        check(_dim(self._open(), _encoded(name), low, -1 if high is None else high, byref(out)))
        self._dims[name] = out.value
        return Dim(self, out.value)

    def input(self, name: str, dtype, shape: Any) -> Any:
        """Declares an input. Extents are numbers, dims, or names of dims, which are declared where they are new.

        Shapes: `shape`.
        Dtypes: all.
        Errors: ValueError for a name that is taken, a negative extent, or a dim of another graph.

        >>> nd4c.Graph().input("x", nd4c.float32, ("batch", 64))
        Symbol(float32, (batch, 64))
        """
        extents = [self._extent_named(one) if isinstance(one, str) else self._extent_of(one) for one in _listed(shape)]
        out = c_int32()
        check(_input(self._open(), _encoded(name), _dtypes.of(dtype).number, len(extents), ints(extents), byref(out)))
        return self._symbol(out.value)

    def constant(self, value, *, copy: bool = True) -> Any:
        """Records a constant; Arrays beside Symbols become constants by themselves. copy=False: the graph shares the array's
        memory, which the caller must not change from then on.

        Shapes: any.
        Dtypes: all.
        Errors: TypeError for what asarray does not take.

        >>> nd4c.Graph().constant([1.0, 2.0])
        Symbol(float64, (2,))
        """
        array = asarray(value)
        if copy and array is value and array.ndim and not _memory.is_read_only(array):
            array = array.copy()
        out = c_int32()
        check(_constant(self._open(), handle(array), byref(out)))
        return self._symbol(out.value)

    def variable(self, name: str, initial: Any, *, trainable: bool = True) -> Any:
        """Declares a variable: an array that stays from one run to the next, beginning with `initial`. What it is worth now, and
        how to set it, is in the `state` of the plan.

        Shapes: any.
        Dtypes: all.
        Errors: ValueError for a name that is taken, or an initial value that depends on inputs.

        >>> g = nd4c.Graph()
        >>> n = g.variable("n", 0)
        >>> g.assign(n, n + 1)
        >>> plan = g.plan()
        >>> plan(), plan()
        ((), ())
        >>> plan.state["n"]
        array(2)
        """
        first = initial if type(initial) is Symbol else self.constant(initial)
        out = c_int32()
        check(_variable(self._open(), _encoded(name), self._number_of(first), trainable, byref(out)))
        return self._symbol(out.value)

    def assign(self, variable: Any, value: Any) -> None:
        """Assigns a value to a variable when a run has succeeded.

        Shapes: that of the variable.
        Dtypes: that of the variable.
        Errors: ValueError for another shape, or for what is no variable; TypeError for another dtype.

        >>> g = nd4c.Graph()
        >>> total = g.variable("total", 0.0)
        >>> g.assign(total, total + g.input("x", "float64", ()))
        >>> plan = g.plan()
        >>> plan(2.0), plan(3.0), plan.state["total"]
        ((), (), array(5.))
        """
        value = value if type(value) is Symbol else self.constant(asarray(value, dtype=variable.dtype))
        check(_assign(self._open(), self._number_of(variable), self._number_of(value)))

    def output(self, name: str, value: Any) -> None:
        """Marks a value as an output under a name.

        Shapes: any.
        Dtypes: all.
        Errors: ValueError for a name that is taken.
        """
        value = value if type(value) is Symbol else self.constant(value)
        check(_output(self._open(), _encoded(name), self._number_of(value)))

    def gradient(self, loss: Any, values: Optional[Sequence[Any]] = None) -> List[Any]:
        """The derivatives of a loss by values; None: by the trainable variables, in their order.

        Shapes: the loss is one number; each result has the shape of its value.
        Dtypes: floats.
        Errors: NotImplementedError where a node between has no gradient, which the text names; ValueError and TypeError for a loss
        that is not one float.

        >>> g = nd4c.Graph()
        >>> x = g.input("x", "float32", (3,))
        >>> g.output("dx", g.gradient(nd4c.sum(x * x), [x])[0])
        >>> g.plan()(nd4c.asarray([1, 2, 3], dtype="float32"))
        array([2., 4., 6.], dtype=float32)
        """
        if type(loss) is not Symbol:
            raise TypeError("gradient: the loss is a Symbol, not %s" % type(loss).__name__)
        count = self._trainable() if values is None else len(values)
        given = None if values is None else (c_int32 * count)(*[self._number_of(one) for one in values])
        made = (c_int32 * count)()
        check(_gradient(self._open(), self._number_of(loss), given, count, made))
        return [self._symbol(value) for value in made]

    def scope(self, name: str) -> Any:
        """A block in which labels of nodes and names of variables begin with `name/`.

        >>> g = nd4c.Graph()
        >>> with g.scope("encoder"):
        ...     w = g.variable("w", [1.0])
        >>> list(g.state)
        ['encoder/w']
        """
        return _Scope(self, name)

    @property
    def state(self) -> Optional[State]:
        """The State in which plans of this graph keep its variables, unless they name another one; None: it has no variables."""
        if not _count["variable"](self._open()):
            return None
        out = c_void_p()
        with self._used() as opened:
            check(_state(opened, byref(out)))
            bind("nd4c_state_initialize")(out, opened, None)
        return State(_handle=out.value)

    def _trainable(self):
        row, get = _abi.variable_info(struct_size=ctypes.sizeof(_abi.variable_info)), bind("nd4c_graph_get_variable")
        count = 0
        for index in range(_count["variable"](self._open())):
            check(get(self._open(), index, byref(row)))
            count += row.trainable
        return count

    # -- what recording needs --------------------------------------------------------------------------------------

    def _symbol(self, value):
        """The Symbol of a value's number."""
        dtype, rank, shape = ctypes.c_int(), c_int32(), ctypes.POINTER(c_int64)()
        check(_value_info(self._open(), value, byref(dtype), byref(rank), byref(shape)))
        extents = tuple([extent if extent > _abi.EXTENT_FIRST else Dim(self, extent) for extent in shape[:rank.value]])
        return Symbol(self, value, _dtypes.by_number[dtype.value], extents)

    def _number_of(self, operand):
        """The number of a value: a Symbol, an Array, which becomes a constant, or None."""
        if operand is None:
            return -1
        if type(operand) is Symbol:
            return operand._value if operand._graph is self else self._captured_number(operand)
        known = self._constants.get(id(operand))
        if known is None:
            known = self._constants[id(operand)] = operand, self.constant(operand)._value
        return known[1]

    def _reaches(self, graph):
        """Whether values of another graph can be used here: it is this one, or one around it."""
        return graph is self or (self._parent is not None and self._parent._reaches(graph))

    def _captured_number(self, symbol):
        """The input of a body that stands for a value of a graph around it."""
        if self._parent is None or not self._parent._reaches(symbol._graph):
            raise ValueError("%r belongs to another graph%s; a function gets what it needs as arguments"
                             % (symbol, "" if symbol._graph._handle else ", whose function has returned"))
        key = id(symbol._graph), symbol._value
        if key not in self._imported:
            self._imported[key] = self._input_like(symbol)._value
            self._captured.append(symbol)
        return self._imported[key]

    def _input_like(self, like):
        """An input of a body with the dtype and shape of a Symbol or Array of the graph around it."""
        shape = [one if type(one) is int else repr(one) for one in like.shape]
        for one in shape:
            if type(one) is str and not one.isidentifier():
                raise NeedsNumbers("control flow: the extent %s of a value that a body takes is not a dim itself" % one)
        return self.input("in%d" % _count["input"](self._open()), like.dtype, shape)

    def _extent_of(self, one):
        """An extent of this graph: a number, or that of a Dim, also of one of a graph around this one.

        Errors: ValueError for minus an extent, and for one of another graph."""
        if type(one) is not Dim:
            return index(one)
        if one._negative:
            raise ValueError("the extent %r is negative" % (one,))
        if one._graph is self:
            return one._extent
        if not self._reaches(one._graph) and not one._graph._reaches(self):  # a body's dims are those of the graph around it
            raise ValueError("the extent %r belongs to another graph; declare this graph's dims with its own dim()" % (one,))
        if one._parts is not None:
            return self._computed(one._parts[0], *[self._extent_of(part) for part in one._parts[1:]])
        text = repr(one)
        if text not in one._graph._dims:
            raise NeedsNumbers("control flow: the extent %s, which a body uses, is not a dim itself" % text)
        return self._extent_named(text)

    def _computed(self, operation, a, b):
        """What an operation gives of two extents: an extent."""
        out = c_int64()
        check(_extent(self._open(), _OPERATIONS[operation], a, b, byref(out)))
        return out.value

    def _extent_made(self, operation, a, b):
        """What an operation gives of numbers of at least 0 and dims of this graph: a number or a Dim."""
        made = self._computed(operation, self._extent_of(a), self._extent_of(b))
        return made if made > _abi.EXTENT_FIRST else Dim(self, made, parts=(operation, a, b))

    def _op(self, name, *values):
        """What an op without inputs gives of dims."""
        self._seen.arrays = True
        return _recording.record(_abi.NUMBERS[name], values, self)

    def _array_of(self, dim, dtype=None):
        """A Dim as a value without axes, of int64 unless a dtype is named."""
        end = abs_of(dim)
        made = self._op("integer_range", end, end + 1, 1, False, _dtypes.by_name["int64"].number).reshape(())
        made = -made if dim._negative else made
        return made if dtype is None else made.astype(dtype, copy=False)

    def _is_less(self, a, b):
        """Whether one extent is less than another. Where that depends on the dims, the numbers of the call that is traced say
        it, and which of them is less becomes a guard. In other graphs no such difference is below 0."""
        known = at_least(a, b)
        if known is not None or self._hints is None:
            return known is False
        self._seen.signs = True
        return self._number(self._extent_of(a)) < self._number(self._extent_of(b))

    def _extent_named(self, name):
        known = self._dims.get(name)
        return self.dim(name)._extent if known is None else known

    def _extent_text(self, extent):
        if self._handle is None:
            return "?"
        out = c_void_p()
        check(_text_of(self._handle, extent, byref(out)))
        return take_text(out)

    def _looked_at(self, dim):
        """The number of an extent, for a program that looks at it. Dims of a traced function have one, which is then fixed."""
        text = self._extent_text(dim._extent)
        if self._hints is None:
            raise TypeError("the extent %s is only known when a plan runs. Pass it in a shape, or declare the input with a number; "
                            "nd4c.compile traces a function once for each number that the function looks at" % text)
        names = [name for name in self._dims if re.search(r"\b%s\b" % re.escape(name), text)]
        self._seen.fixed.update(names)
        number, frame = self._number(dim._extent), caller()
        if frame is not None:
            look = Look(text, number, frame.f_code.co_name)
            self._seen.looks.setdefault((frame.f_code.co_filename, frame.f_lineno), look)
        return -number if dim._negative else number

    def _check_numbers(self):
        """ValueError if the numbers of the call that is traced are against a guard."""
        for extent in self._dims.values():
            self._number(extent)
            break

    def _number(self, extent):
        """The number of an extent in the call that is traced."""
        if extent > _abi.EXTENT_FIRST:
            return extent
        names = (ctypes.c_char_p * len(self._dims))(*map(_encoded, self._dims))
        extents = [self._hints[name] for name in self._dims]
        out = c_int64()
        check(_extent_number(self._open(), extent, names, ints(extents), len(extents), byref(out)))
        return out.value

    # -- other graphs ----------------------------------------------------------------------------------------------

    def _bound(self, numbers):
        names, extents = (ctypes.c_char_p * len(numbers))(*map(_encoded, numbers)), ints(tuple(numbers.values()))
        out = c_void_p()
        with self._used() as opened:
            check(_bind(opened, names, extents, len(numbers), byref(out)))
        return out.value

    def bind(self, **dims: int) -> Graph:
        """A graph in which the named dims are numbers.

        Errors: ValueError for an unknown dim, and for a number out of its bounds or against a guard.

        >>> g = nd4c.Graph()
        >>> g.output("y", g.input("x", "float32", ("batch", 3)) + 1)
        >>> print(g.bind(batch=8))
        x = input float32[8, 3]
        %2 = add(x, constant float32[]) float32[8, 3]  # <module>:1 add
        y = output %2
        """
        return Graph(_handle=self._bound(dims))

    def optimized(self, **options: Any) -> Graph:
        """The graph as the passes leave it, for looking at; options as of plan()."""
        out, chosen = c_void_p(), Options(**options)
        with self._used() as opened, chosen.block():
            check(_optimize(opened, None, chosen.address, byref(out)))
        return Graph(_handle=out.value)

    def frozen(self, state: Optional[State] = None) -> Graph:
        """The graph with its variables as constants, with the values that they have in a State (None: the graph's own).

        >>> g = nd4c.Graph()
        >>> g.output("y", g.variable("w", [1.0, 2.0]) * 2)
        >>> g.frozen().plan()()
        array([2., 4.])
        """
        out = c_void_p()
        with self._used() as opened:
            check(_freeze(opened, None if state is None else state._open(), None, byref(out)))
        return Graph(_handle=out.value)

    # -- plans -----------------------------------------------------------------------------------------------------

    def plan(self, **options: Any) -> Plan:
        """A Plan: the graph optimised and frozen for a device.

        device: where it runs; None: nd4c.current_device(). optimize=False: the nodes as recorded. passes: "-gelu" all but this
        one, "gelu,layout" these alone. precision: "bfloat16", "float16" or "int8", in which nodes of float32 compute where the device is
        fast in it. math: "exact", "reorder", "fast", "reduced", how far compilers may change the arithmetic. state: the State of
        its variables. buckets: "64" or "time=powers", which sizes of dims share a binding. binding_bytes, arena_bytes: limits of
        memory. compiled: a file of Graph.compile.

        Errors: ValueError for a graph without outputs and for unknown options' values; NotImplementedError, with the node's
        label, where no kernel computes a node.
        """
        return Plan(self, Options(**options))

    def explain(self, lines: Optional[int] = None, **options: Any) -> str:
        """What each pass changes: a text. lines: at most as many about nodes for each pass; options as of plan().

        >>> g = nd4c.Graph()
        >>> g.output("y", nd4c.sqrt(g.input("x", "float32", (3,)) + 0))
        >>> "identity" in g.explain() or "pass" in g.explain()
        True
        """
        out, chosen = c_void_p(), Options(**options)
        with self._used() as opened, chosen.block():
            check(_explain(opened, None, chosen.address, -1 if lines is None else min(lines, 2 ** 31 - 1), byref(out)))
        return take_text(out)

    def compile(self, target: str, path: Union[str, os.PathLike[str]], **options: Any) -> str:
        """Compiles ahead of time for a device by name ("tpu:0"), and writes the file for plan(compiled=...). Returns a text that
        lists the compiled pieces.

        Errors: NotImplementedError for a device without a compiler that takes a node.
        """
        out, chosen = c_void_p(), Options(**options)
        with self._used() as opened:
            check(_compile(opened, target.encode(), chosen.address, os.fsencode(path), byref(out)))
        return take_text(out)

    # -- looking ---------------------------------------------------------------------------------------------------

    @property
    def dims(self) -> Tuple[str, ...]:
        """Names of the dims."""
        return tuple(self._dims)

    @property
    def guards(self) -> Tuple[str, ...]:
        """What ops have assumed about the dims, such as "add: batch == time"."""
        out = c_void_p()
        check(_guards(self._open(), byref(out)))
        return tuple(take_text(out).splitlines())

    @property
    def inputs(self) -> Dict[str, Symbol]:
        """The inputs by name."""
        return self._named("input")

    @property
    def outputs(self) -> Dict[str, Symbol]:
        """The outputs by name."""
        return self._named("output")

    def _named(self, kind):
        name, value = (bind("nd4c_graph_%s_%s" % (kind, what), keeps_gil=True) for what in ("name", "value"))
        opened = self._open()
        return {name(opened, index).decode(): self._symbol(value(opened, index)) for index in range(_count[kind](opened))}

    @property
    def nodes(self) -> Tuple[Node, ...]:
        """The nodes, in an order in which they can run."""
        return tuple([self._node(index) for index in range(_count["node"](self._open()))])

    def _node(self, index):
        row = _abi.node_info(struct_size=ctypes.sizeof(_abi.node_info))
        check(_get_node(self._open(), index, byref(row)))
        inputs, outputs = ((c_int32 * count).from_address(place) if count else () for count, place in (
            (row.input_count, row.inputs), (row.output_count, row.outputs)))
        return Node(_abi.op_info.from_address(row.op).name.decode(), tuple([None if one < 0 else one for one in inputs]), tuple(outputs),
                    row.label.decode(), row.operations, row.bytes)

    def __str__(self):
        names = {symbol._value: name for name, symbol in self.inputs.items()}
        lines = ["%s = input %s" % (name, _typed(symbol)) for name, symbol in self.inputs.items()]
        for node in self.nodes:
            given = ", ".join("none" if one is None else self._value_text(one, names) for one in node.inputs)
            made = ", ".join("%%%d" % one for one in node.outputs)
            types = ", ".join(_typed(self._symbol(one)) for one in node.outputs)
            lines.append("%s = %s(%s) %s%s" % (made, node.op, given, types, node.label and "  # " + node.label))
        lines += ["%s = output %s" % (name, self._value_text(symbol._value, names)) for name, symbol in self.outputs.items()]
        return "\n".join(lines)

    def _value_text(self, value, names):
        if value in names:
            return names[value]
        constant = _value_constant(self._open(), value)
        return "%%%d" % value if constant is None else "constant " + _typed(self._symbol(value))

    def __repr__(self):
        if self._handle is None:
            return "<nd4c.Graph: closed>"
        return "<nd4c.Graph: %d inputs, %d nodes, %d outputs>" % tuple(
            _count[kind](self._handle) for kind in ("input", "node", "output"))


Look = namedtuple("Look", "extent number function")  # at a line: the extent's text and number, and the function's name


class Seen:
    """What a traced function has seen of its dims: those whose numbers are fixed, where in the program they were looked at,
    whether it depends on the sign of a difference, whether it made arrays of dims, and the error for which all extents became
    numbers."""

    def __init__(self):
        self.fixed, self.looks, self.signs, self.arrays, self.refused = set(), {}, False, False, None


class NeedsNumbers(Exception):
    """Recording needs numbers where the graph has dims: a compiled function is traced anew with the numbers of this call."""


class _Scope:
    """A block in which a scope of a graph is open."""

    def __init__(self, graph, name):
        self._graph, self._name = graph, name

    def __enter__(self):
        check(_push(self._graph._open(), _encoded(self._name)))
        return self._graph

    def __exit__(self, *_):
        check(_pop(self._graph._open()))


def _typed(symbol):
    return "%s[%s]" % (symbol.dtype.name, ", ".join(map(str, symbol.shape)))


def _encoded(name):
    if not isinstance(name, str) or "\0" in name:
        raise TypeError("a name is a text without zeros, not %r" % (name,))
    return name.encode()


def _listed(shape):
    return (shape,) if isinstance(shape, (str, int, Dim)) else tuple(shape)

"""nd4c.compile: Python functions as plans."""
from __future__ import annotations

import functools
import threading
import warnings
from collections import namedtuple

from nd4c._core import Array, core
from nd4c._creation import asarray
from nd4c._errors import Error, ShapeError
from nd4c._library import bind
from nd4c._symbols import Dim, Symbol, caller
from nd4c.graph._graph import Graph, NeedsNumbers
from nd4c.graph._options import OPTIONS, Options
from nd4c.graph._plan import Plan
from nd4c.graph._recording import traced, tracing
from nd4c.graph._trees import flatten, rebuilt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

_FOREIGN = ("__array_interface__", "__array__", "__dlpack__")
_tracing = threading.RLock()  # one for all functions, as those that are traced may call each other
_MANY = 8  # programs for one reason of which a function's user is told
_KNOWN, _PROGRAMS = 512, 64  # the most shapes and programs that a function remembers; older ones are forgotten
_context = bind("nd4c_context_current", keeps_gil=True)
_device = bind("nd4c_context_device", keeps_gil=True)



def _key_of_arrays(arguments):
    """What tells the device of the thread, dtypes and shapes of a call with Arrays alone from those of another; None: an argument is no
    Array."""
    key = [_device(_context())]
    for one in arguments:
        if type(one) is not Array:
            return None
        key += one.dtype.number, one.shape
    return tuple(key)


_call_key = getattr(core, "call_key", _key_of_arrays)


def _key(arguments, named, structure, leaves):
    """What tells a call from those with other dtypes, shapes or constants."""
    key = None if named else _call_key(arguments)
    if key is None:
        key = (_device(_context()), structure, *[(one.dtype, one.shape) if type(one) is Array else one for one in leaves])
    return key


Static = namedtuple("Static", "kind value text")
Static.__doc__ = """An argument that is no array: a program is made for each value of it. text: of a float, whose zeros are equal but not the same."""


class Program:
    """A function traced for arguments of certain dtypes and ranks.

    fixed: for each array and axis the extent that it must have, or None for any of 2 and more. arrays: places of the arrays
    among the arguments' leaves. made: the result's leaves, of which those that are numbers of outputs come from the plan. seen:
    what the function has looked at of the dims."""

    __slots__ = ("plan", "fixed", "structure", "made", "single", "is_constant", "graph", "options", "lock", "seen")

    def __init__(self, graph, fixed, structure, made, options, seen):
        self.graph, self.fixed, self.structure, self.made, self.seen = graph, fixed, structure, made, seen
        self.single = structure is None and type(made[0]) is _Output
        self.is_constant = not any(isinstance(leaf, _Output) for leaf in made)
        self.plan, self.options, self.lock = None, options, threading.Lock()

    def takes(self, shapes):
        return all(extent == wanted if wanted is not None else extent > 1
                   for shape, extents in zip(shapes, self.fixed) for extent, wanted in zip(shape, extents))

    def opened(self):
        """The plan, which the first run makes. The graph is given up then: the plan has packed its constants."""
        with self.lock:
            if self.plan is None:
                self.plan = Plan(self.graph, Options(**self.options))
                self.graph = None
        return self.plan

    def run(self, arrays):
        if self.is_constant:
            return rebuilt(self.structure, self.made)
        results = (self.opened() if self.plan is None else self.plan)._on_arrays(arrays)
        if self.single:
            return results[0]
        return rebuilt(self.structure, [leaf.of(results) if isinstance(leaf, _Output) else leaf for leaf in self.made])


class _LooksAtRange(Exception):
    """A TypeError of a function that has made arrays of dims, perhaps because it looks at their elements."""


class _Output(int):
    """The number of an output, among leaves that are constants of the program."""

    def of(self, results):
        return results[self]


class _OutputNumber(_Output):
    """The number of an output that stands for a dim: the function's result is a Python integer."""

    def of(self, results):
        return int(results[self])


class Compiled:
    """What nd4c.compile makes of a function. It is called as the function is.

    >>> double = nd4c.compile(lambda x: x * 2)
    >>> double(nd4c.ones(2)), double.plan(nd4c.ones(2)).bindings["made"]
    (array([2., 2.]), 1)
    >>> double.clear()
    """

    __module__ = "nd4c.graph"

    def __init__(self, function, dims, options):
        functools.update_wrapper(self, function)
        self._function, self._dims, self._options = function, dims, options
        self._known, self._programs, self._reasons, self._told = {}, {}, {}, set()
        Options(**options)  # refuses wrong ones at once

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function's result.

        Shapes: any that the function takes; new ones bind the plan's dims anew, or trace the function anew.
        Dtypes: any that the function takes; new ones trace the function anew.
        Errors: those of the function; TypeError where it looks at elements, which tracing does not know.
        """
        if not named:
            program = self._known.get(_call_key(arguments))
            if program is not None:
                return program.run(arguments)
        return self._called(arguments, named)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self):
        return "<nd4c.compile of %s>" % getattr(self._function, "__qualname__", self._function)

    def _called(self, arguments, named):
        leaves = []
        structure = flatten((arguments, named), leaves)
        if any(type(leaf) is Symbol for leaf in leaves):
            return self._function(*arguments, **named)
        leaves = self._leaves(leaves)
        arrays = tuple([leaf for leaf in leaves if type(leaf) is Array])
        key = _key(arguments, named, structure, leaves)
        program = self._known.get(key)
        if program is not None:
            return program.run(arrays)
        return self._first(key, structure, leaves, arrays)

    def _leaves(self, leaves):
        """Arguments as Arrays and Statics."""
        return [leaf if type(leaf) is Array else _leaf(leaf, self) for leaf in leaves]

    def _first(self, key, structure, leaves, arrays):
        """The result for shapes that are new: of a program whose dims take them, or of a new one."""
        kind = (_device(_context()), structure, *[(one.dtype, one.ndim) if type(one) is Array else one for one in leaves])
        shapes = [one.shape for one in arrays]
        with _tracing:
            found = [program for program in self._programs.get(kind, ()) if program.takes(shapes)]
            if not found:
                found = [self._traced(kind, structure, leaves, shapes, self._dims)]
        for program in found:
            try:
                result = program.run(arrays)
            except ShapeError:
                if all(None not in extents for extents in program.fixed):
                    raise
                continue  # the shapes are against what ops have assumed about the dims
            break
        else:
            with _tracing:  # where a difference has another sign than before, dims may do
                dims = self._dims and any(program.seen.signs for program in found)
                program = self._traced(kind, structure, leaves, shapes, dims)
            result = program.run(arrays)
        with _tracing:
            while len(self._known) >= _KNOWN:
                del self._known[next(iter(self._known))]
            self._known[key] = program
        return result

    # -- tracing ---------------------------------------------------------------------------------------------------

    def _traced(self, kind, structure, leaves, shapes, dims):
        """A new program. Where an op takes no dims, the extents of this call become numbers."""
        program = self._new(structure, leaves, dims)
        while sum(map(len, self._programs.values())) >= _PROGRAMS:
            oldest = next(iter(self._programs))
            dropped = self._programs[oldest].pop(0)
            if not self._programs[oldest]:
                del self._programs[oldest]
            self._known = {key: one for key, one in self._known.items() if one is not dropped}
        self._programs.setdefault(kind, []).append(program)
        if self._dims:
            self._count(kind, program, dims)
        return program

    def _count(self, kind, program, dims):
        """Counts the programs of one kind that differ in the numbers of dims, by what fixed these; warns once about each."""
        if kind not in self._reasons and len(self._reasons) >= _PROGRAMS:
            del self._reasons[next(iter(self._reasons))]
        counts = self._reasons.setdefault(kind, {})
        looks = {None: None} if program.seen.refused is not None or not dims else program.seen.looks
        for place, look in looks.items():
            numbers = counts.setdefault(place, set())
            numbers.add(len(numbers) if look is None else look.number)
            if len(numbers) >= _MANY and place not in self._told:
                self._told.add(place)
                _warn(self, len(numbers), place, program.seen)

    def _new(self, structure, leaves, dims):
        if not dims:
            return self._trace(structure, leaves, False)
        try:
            return self._trace(structure, leaves, True)
        except (Error, NeedsNumbers) as error:  # for instance because an op takes numbers only
            refused = str(error)
        except _LooksAtRange as error:
            refused = str(error)
        program = self._trace(structure, leaves, False)
        program.seen.refused = refused
        return program

    def _trace(self, structure, leaves, dims):
        hints = {}
        graph = Graph(_hints=hints)
        given, axes = [], []
        for leaf in leaves:
            if type(leaf) is not Array:
                given.append(leaf.value)
                continue
            name = "x%d" % len(axes)
            shape = ["%s_%d" % (name, axis) if dims and extent > 1 else extent for axis, extent in enumerate(leaf.shape)]
            hints.update((dim, extent) for dim, extent in zip(shape, leaf.shape) if type(dim) is str)
            for dim in shape:
                if type(dim) is str:
                    graph.dim(dim, low=2)
            given.append(graph.input(name, leaf.dtype, shape))
            axes.append((shape, leaf.shape))
        arguments, named = rebuilt(structure, given)
        before, traced.graphs = traced.graphs, ()
        try:
            with tracing(graph):
                result = self._function(*arguments, **named)
        except TypeError as error:  # with numbers in place of dims, arange(n) is an array, whose elements may be looked at
            if not graph._seen.arrays:
                raise
            raise _LooksAtRange(str(error)) from error
        finally:
            traced.graphs = before
        made = []
        result_structure = flatten(result, made)
        made = [_output(graph, leaf) for leaf in made]
        seen = graph._seen
        if seen.signs:
            graph._check_numbers()
        if seen.fixed:
            graph = graph.bind(**{name: hints[name] for name in seen.fixed})
        fixed = tuple([tuple([None if type(dim) is str and dim in graph.dims else extent for dim, extent in zip(*pair)])
                       for pair in axes])
        return Program(graph, fixed, result_structure, made, self._options, seen)

    # -- looking ---------------------------------------------------------------------------------------------------

    def graph(self, *arguments: Any, **named: Any) -> Graph:
        """The graph that a call with these arguments runs, before any pass.

        >>> @nd4c.compile
        ... def f(x):
        ...     return x * 2 + 1
        >>> [node.op for node in f.graph(nd4c.ones(3)).nodes]
        ['multiply', 'add']
        """
        leaves = []
        structure = flatten((arguments, named), leaves)
        leaves = self._leaves(leaves)
        with _tracing:
            return self._new(structure, leaves, self._dims).graph

    def plan(self, *arguments: Any, **named: Any) -> Plan:
        """The plan that a call with these arguments runs: its report, profile and steps."""
        self._called(arguments, named)
        leaves = []
        structure = flatten((arguments, named), leaves)
        return self._known[_key(arguments, named, structure, self._leaves(leaves))].opened()

    def clear(self) -> None:
        """Forgets all programs, and frees their plans when their last run has ended."""
        with _tracing:
            self._known, self._programs, self._reasons = {}, {}, {}


def _warn(function, count, place, seen):
    """Tells that a function was recorded once more for a reason that stays; the line shown is the one that looks at a dim."""
    text = "%r was recorded %d times for different sizes, and is recorded and planned for each new one: " % (function, count)
    if place is None:
        frame = caller()
        place = ("?", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        text += ("its extents could not stay symbolic (%s)" % seen.refused if seen.refused is not None
                 else "the sizes are against what its ops have assumed about extents")
    else:
        text += ("%s:%d, in %s, looks at the number of the extent %s. Shapes, slices, and +, -, *, // and %% with integers "
                 "need no number; nd4c.asarray() makes an array of an extent"
                 % (*place, seen.looks[place].function, seen.looks[place].extent))
    warnings.warn_explicit(text, RuntimeWarning, *place)


def _output(graph, leaf):
    """What stands for a leaf of the result: the number of an output, or the leaf itself."""
    if type(leaf) not in (Symbol, Array, Dim):
        return leaf
    number = len(graph.outputs)
    graph.output("y%d" % number, graph._array_of(leaf) if type(leaf) is Dim else leaf)
    return _OutputNumber(number) if type(leaf) is Dim else _Output(number)


def _leaf(leaf, function):
    """An argument that is no Array: other libraries' arrays become Arrays, everything else is static."""
    if any(hasattr(leaf, name) for name in _FOREIGN) and not isinstance(leaf, type):
        return asarray(leaf)
    try:
        hash(leaf)
    except TypeError:
        raise TypeError("%r: an argument is a %s, which is neither an array nor hashable; pass arrays, numbers, texts, and tuples, lists "
                        "and dicts of them" % (function, type(leaf).__name__)) from None
    return Static(type(leaf), leaf, repr(leaf) if isinstance(leaf, (float, complex)) else None)


def compile(function: Optional[Callable[..., Any]] = None, /, *, dims: bool = True, **options: Any) -> Any:
    """A function that runs as a plan. The first call with arguments of new dtypes or ranks calls the Python function once, with
    Symbols in place of the arrays, and records what it does with them. All calls then run the plan of that graph.

    Arrays may be in tuples, lists and dicts, also in the result. Arguments that are no arrays (numbers, texts, None) are constants
    of the program: a new value traces anew. So are arrays that the function takes from around it, as they are at the first call.
    dims=False: extents are numbers, and each new shape traces anew. options: those of Graph.plan, such as precision="bfloat16".

    Shapes: any; the extents of the first call become dims, but for 0, 1 and those whose numbers the function needs, as in
    comparisons. A RuntimeWarning tells once at which line a function needs a number that is always another one.
    Dtypes: any.
    Errors: TypeError where the function looks at elements, as `if x > 0` does; those of Graph.plan.

    >>> @nd4c.compile
    ... def softplus(x):
    ...     return nd4c.log(1 + nd4c.exp(x))
    >>> softplus(nd4c.asarray([0.0, 1.0]))
    array([0.69314718, 1.31326169])
    """
    if function is None:
        return functools.partial(compile, dims=dims, **options)
    if not callable(function):
        raise TypeError("compile: expected a function, got %s" % type(function).__name__)
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise TypeError("compile: no option %r; there are dims, %s" % (unknown[0], ", ".join(OPTIONS)))
    return Compiled(function, dims, options)

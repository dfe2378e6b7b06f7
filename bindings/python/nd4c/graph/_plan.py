"""Plans, which run graphs, and the states of their variables."""
from __future__ import annotations

import ctypes
from collections import namedtuple
from ctypes import byref, c_void_p

from nd4c import _abi, _dtypes
from nd4c._attributes import ints
from nd4c._core import Array, core, from_handle, handle
from nd4c._creation import asarray
from nd4c._errors import check, error
from nd4c._handles import Owner
from nd4c._library import bind, facts, take_text
from nd4c.graph._runner import Runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, Mapping, Tuple

(_create, _run, _report, _explain, _profile, _prepare, _bindings, _get_step) = (bind("nd4c_plan_" + name) for name in (
    "create", "run", "report", "explain", "profile", "prepare", "get_bindings", "get_step"))
_step_count = bind("nd4c_plan_step_count", keeps_gil=True)
_state_count, _state_info = (bind("nd4c_state_" + name, keeps_gil=True) for name in ("count", "get_info"))
_state_get, _state_set = bind("nd4c_state_get"), bind("nd4c_state_set")
_run_natively = getattr(core, "run_plan", None)
_PHASES = ("recording", "stabilising", "frozen", "thawed")

Step = namedtuple("Step", "engine kernel first_node node_count dtype operations bytes runs nanoseconds least_nanoseconds")
Step.__doc__ = """A step of a plan: the engine and kernel that compute its nodes, estimates of its work, and its times since the profile
began.

>>> g = nd4c.Graph()
>>> g.output("y", nd4c.exp(g.input("x", "float32", (8,))))
>>> plan = g.plan()
>>> with plan.profile():
...     y = plan(nd4c.zeros(8, dtype="float32"))
>>> plan.steps[0].runs
1
"""


class Plan(Owner):
    """A graph that was optimised and frozen for a device; made by Graph.plan. Several threads may run it at once. Constants and
    variables live as long as the plan. close(), which the end of a `with` block calls, too, frees it.

    >>> g = nd4c.Graph()
    >>> g.output("y", g.input("x", "float32", ("n",)) * 2)
    >>> plan = g.plan()
    >>> plan(nd4c.ones(3, dtype="float32")), plan.run(x=[1.5])
    (array([2., 2., 2.], dtype=float32), {'y': array([3.], dtype=float32)})
    >>> plan.prepare(n=5)
    >>> with plan.profile():
    ...     y = plan(nd4c.ones(5, dtype="float32"))
    >>> plan.report().splitlines()[0], len(plan.steps)
    ('plan on cpu:0: 1 nodes recorded, 1 after passes, for all numbers of 1 dims', 1)
    >>> "multiply" in g.bind(n=3).plan().explain()
    True
    >>> runner, x = plan.runner(), nd4c.ones(2, dtype="float32")
    >>> runner.bind_input("x", x)
    >>> runner.run()
    >>> runner.output("y")
    array([2., 2.], dtype=float32)
    """

    _destroy = "nd4c_plan_destroy"
    __module__ = "nd4c.graph"

    def __init__(self, graph, options):
        self._inputs = {name: symbol.dtype for name, symbol in graph.inputs.items()}
        self._outputs = tuple(graph.outputs)
        self.state = options.state if options.state is not None else graph.state
        out = c_void_p()
        with graph._used() as opened, options.block():
            check(_create(opened, None, options.address, byref(out)))
        self._handle = out.value
        self._lists = c_void_p * len(self._inputs), c_void_p * len(self._outputs), len(self._inputs), len(self._outputs)

    def __enter__(self) -> Plan:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def inputs(self) -> Tuple[str, ...]:
        """Names of the inputs, in their order."""
        return tuple(self._inputs)

    @property
    def outputs(self) -> Tuple[str, ...]:
        """Names of the outputs, in their order."""
        return self._outputs

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Outputs in order (one alone: itself), for inputs in order or by name.

        Shapes: those of the inputs; a dim takes any number within its bounds, the same one wherever it stands.
        Dtypes: those of the inputs; lists and numbers become arrays of them.
        Errors: TypeError for an input that is missing, too many or of another dtype; ValueError for another shape.
        """
        results = self._results(arguments, named)
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, *arguments: Any, **named: Any) -> Dict[str, Any]:
        """The outputs by name; otherwise as a call.

        Shapes, Dtypes and Errors: those of a call.
        """
        return dict(zip(self._outputs, self._results(arguments, named)))

    def _results(self, arguments, named):
        if len(arguments) > len(self._inputs):
            raise TypeError("the plan takes %d inputs, %d were given" % (len(self._inputs), len(arguments)))
        given = dict(zip(self._inputs, arguments))
        for name, value in named.items():
            if name in given or name not in self._inputs:
                raise TypeError("the plan has no input %r" % name if name not in self._inputs else "input %r is given twice" % name)
            given[name] = value
        missing = [name for name in self._inputs if name not in given]
        if missing:
            raise TypeError("input %r is missing; the plan takes %s" % (missing[0], ", ".join(self._inputs)))
        arrays = tuple([given[name] if type(given[name]) is Array else asarray(given[name], dtype=dtype if not hasattr(given[name], "dtype")
                                                                         else None) for name, dtype in self._inputs.items()])
        self._begin_use()
        try:
            return self._on_arrays(arrays)
        finally:
            self._end_use()

    def _on_arrays(self, arrays):
        """A list of the outputs for a tuple of Arrays, of a plan that no thread closes meanwhile."""
        if _run_natively is not None:
            results = _run_natively(self._handle, arrays, self._lists[3])
            if results is not None:
                return results
        taken, made, count, result_count = self._lists
        outs = made()
        status = _run(self._handle, taken(*map(handle, arrays)), count, outs, result_count)
        if status:
            raise error(status)
        return list(map(from_handle, outs))

    def runner(self) -> Runner:
        """A Runner, to which arrays are bound once for many runs."""
        return Runner(self)

    def prepare(self, **dims: int) -> None:
        """Makes the binding for these numbers of the dims, so that the next run with them finds it.

        Errors: ValueError for an unknown dim or one that is missing.
        """
        names = (ctypes.c_char_p * len(dims))(*[name.encode() for name in dims])
        with self._used() as opened:
            check(_prepare(opened, names, ints(tuple(dims.values())), len(dims)))

    def report(self) -> str:
        """A text: the passes, each step with its kernel and the reason for it, the arena, and what was asked and not granted."""
        return self._text(_report)

    def explain(self) -> str:
        """A text: for each step which engines were asked, why they declined, and what took it.

        Errors: NotImplementedError if the graph has dims: Graph.bind makes numbers of them.
        """
        return self._text(_explain)

    def _text(self, function):
        out = c_void_p()
        with self._used() as opened:
            check(function(opened, byref(out)))
        return take_text(out)

    def profile(self) -> Any:
        """A block in which runs measure their steps; `steps` has the times.

        Errors: NotImplementedError for a plan whose steps run on other devices than the host.
        """
        return Profile(self, _profile)

    @property
    def steps(self) -> Tuple[Step, ...]:
        """The steps, in the order in which they run; of a graph with dims, those of the latest run."""
        with self._used() as opened:
            return steps_of(opened, _step_count(opened), _get_step)

    @property
    def bindings(self) -> Dict[str, Any]:
        """What a graph with dims has made for their numbers: bindings made, reused and dropped, their memory, the phase."""
        row = _abi.plan_bindings(struct_size=ctypes.sizeof(_abi.plan_bindings))
        with self._used() as opened:
            check(_bindings(opened, byref(row)))
        return dict(facts(row), phase=_PHASES[row.phase])

    def __repr__(self):
        return "<nd4c.graph.Plan: %s -> %s>" % (", ".join(self._inputs) or "nothing", ", ".join(self._outputs) or "nothing")


def steps_of(opened, count, get):
    """The Steps of an opened plan or model; get: the C function that describes one of them."""
    steps = []
    for index in range(count):
        row = _abi.step_info(struct_size=ctypes.sizeof(_abi.step_info))
        check(get(opened, index, byref(row)))
        known = facts(row)
        known["dtype"] = _dtypes.by_number.get(row.dtype)
        steps.append(Step(**{name: known[name] for name in Step._fields}))
    return tuple(steps)


class Profile:
    """A block in which a plan or model is profiled; switch: the C function that begins and ends it."""

    def __init__(self, target, switch):
        self._target, self._switch = target, switch

    def __enter__(self):
        self._set(True)
        return self._target

    def __exit__(self, *_):
        self._set(False)

    def _set(self, on):
        with self._target._used() as opened:
            check(self._switch(opened, on))


class State(Owner):
    """The values of variables, by name. Plans of several graphs may share one: g.plan(state=state).

    >>> g = nd4c.Graph()
    >>> w = g.variable("w", nd4c.asarray([1.0, 2.0]))
    >>> g.output("y", w * g.input("x", "float64", ()))
    >>> plan = g.plan()
    >>> plan.state["w"] = [10.0, 20.0]
    >>> plan(3.0), dict(plan.state)
    (array([30., 60.]), {'w': array([10., 20.])})
    >>> plan.state.update({"w": [0.0, 0.0]})
    >>> plan.state.keys()
    ('w',)
    """

    _destroy = "nd4c_state_release"
    __module__ = "nd4c.graph"

    def __init__(self, *, _handle=None):
        out = c_void_p(_handle)
        if _handle is None:
            check(bind("nd4c_state_create")(byref(out)))
        self._handle = out.value

    def keys(self) -> Tuple[str, ...]:
        """Names of the variables."""
        row, names = _abi.state_info(struct_size=ctypes.sizeof(_abi.state_info)), []
        with self._used() as opened:
            for index in range(_state_count(opened)):
                check(_state_info(opened, index, byref(row)))
                names.append(row.name.decode())
        return tuple(names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> Array:
        self._check_name(name)
        out = c_void_p()
        with self._used() as opened:
            check(_state_get(opened, byref(ctypes.c_char_p(name.encode())), byref(out), 1))
        return from_handle(out.value)

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def update(self, values: Mapping[str, Any]) -> None:
        """Sets the values of several variables at once: runs that began before go on with the old ones.

        Shapes: those of the variables.
        Dtypes: those of the variables.
        Errors: KeyError for an unknown name; ValueError for another shape.
        """
        arrays = []
        for name, value in values.items():
            self._check_name(name)
            arrays.append(asarray(value, dtype=self[name].dtype))
        names = (ctypes.c_char_p * len(arrays))(*[name.encode() for name in values])
        with self._used() as opened:
            check(_state_set(opened, names, (c_void_p * len(arrays))(*map(handle, arrays)), len(arrays)))

    def _check_name(self, name):
        if name not in self.keys():
            raise KeyError("the state has no variable %r; it has %s" % (name, ", ".join(map(repr, self.keys())) or "none"))

    def __repr__(self):
        return "<nd4c.graph.State: %s>" % (", ".join(self.keys()) or "no variables")

"""Runner: a plan with arrays bound to its inputs and outputs. onnx/_runner.py makes the same of models."""
from __future__ import annotations

from ctypes import byref, c_void_p

from nd4c._core import Array, from_handle, handle
from nd4c._errors import check
from nd4c._handles import Owner
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

    from nd4c.graph._plan import Plan

_of_plan, _run = bind("nd4c_runner_of_plan"), bind("nd4c_runner_run")
_bind_input, _bind_output, _donate, _clear, _get_output = (
    bind("nd4c_runner_" + name) for name in ("bind_input", "bind_output", "donate", "clear", "get_output"))


def _encoded(name):
    if not isinstance(name, str):
        raise TypeError("Runner: inputs and outputs are given by name, not by %s" % type(name).__name__)
    return name.encode()


class BoundArrays(Owner):
    """What runners of plans and of models have: each run() reads the bound inputs as they are then, and writes the bound outputs in
    place. `_target`: the plan or model, an Owner."""

    _destroy = "nd4c_runner_destroy"

    def __init__(self, target, make):
        self._target = target
        out = c_void_p()
        with target._used() as opened:
            check(make(opened, byref(out)))
        self._handle = out.value

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bind(self, function, name, array):
        if array is not None and type(array) is not Array:
            raise TypeError("Runner: %r is bound to an nd4c.Array, not to %s" % (name, type(array).__name__))
        with self._target._used(), self._used() as opened:
            check(function(opened, _encoded(name), None if array is None else handle(array)))

    def bind_input(self, name: str, array: Optional[Array], /) -> None:
        """Binds an array to an input; None unbinds it.

        Shapes: those of the input; a dim takes any number within its bounds.
        Dtypes: the input's.
        Errors: ValueError for another name or shape, TypeError for another dtype and for what is no nd4c.Array.

        >>> runner = nd4c.onnx.load("digits/digits.onnx").runner()
        >>> runner.bind_input("image", nd4c.zeros((2, 1, 8, 8), dtype="float32"))
        >>> runner.run()
        >>> runner.output("logits").shape
        (2, 10)
        """
        self._bind(_bind_input, name, array)

    def bind_output(self, name: str, array: Optional[Array], /) -> None:
        """Binds an array that each run writes an output to; None unbinds it. It may be the array of an input, as a cache that a
        run updates: where the plan can, it writes only what changes.

        Shapes: those of the output.
        Dtypes: the output's.
        Errors: as bind_input; ValueError for a read-only array.

        >>> runner = nd4c.onnx.load("digits/digits.onnx").runner()
        >>> runner.bind_output("logits", nd4c.zeros((2, 10), dtype="float32"))
        """
        self._bind(_bind_output, name, array)

    def donate(self, name: str, array: Array, /) -> None:
        """Binds an array to an input for one run, which may use its memory for an output. After the run the array has no value, and
        the input is unbound. A run that fails before it has written to the memory leaves both as they are.

        Shapes: as bind_input.
        Dtypes: as bind_input.
        Errors: as bind_input; ValueError if the array is bound to another input or an output.

        >>> runner = nd4c.onnx.load("digits/digits.onnx").runner()
        >>> image = nd4c.zeros((2, 1, 8, 8), dtype="float32")
        >>> runner.donate("image", image)
        >>> runner.run()
        >>> image.tolist()
        Traceback (most recent call last):
            ...
        nd4c.errors.PoisonedError: ...
        """
        if array is None:
            raise TypeError("Runner.donate: expected an nd4c.Array")
        self._bind(_donate, name, array)

    def output(self, name: str, /) -> Array:
        """An output of the latest run: the bound array's memory, or the array that the run made.

        Shapes: the output's.
        Dtypes: the output's.
        Errors: ValueError for another name, and before the first run; TypeError for what is no name.

        >>> nd4c.onnx.load("digits/digits.onnx").runner().output("logits")
        Traceback (most recent call last):
            ...
        nd4c.errors.ArgumentError: runner: no run has given output 'logits'
        """
        out = c_void_p()
        with self._target._used(), self._used() as opened:
            check(_get_output(opened, _encoded(name), byref(out)))
        return from_handle(out.value)

    def clear(self) -> None:
        """Unbinds everything.

        >>> nd4c.onnx.load("digits/digits.onnx").runner().clear()
        """
        with self._used() as opened:
            check(_clear(opened))


class Runner(BoundArrays):
    """A plan with arrays bound to its inputs and outputs, made by Plan.runner(). Each run() reads the inputs as they are then, and
    writes the outputs in place. Outputs that are not bound are made anew by each run. One thread at a time uses a runner; several
    threads have a runner each.

    >>> g = nd4c.Graph()
    >>> g.output("y", g.input("x", "float64", ("n",)) * 2)
    >>> runner = g.plan().runner()
    >>> x, y = nd4c.zeros(2), nd4c.zeros(2)
    >>> runner.bind_input("x", x)
    >>> runner.bind_output("y", y)
    >>> x[...] = [1, 2]
    >>> runner.run()
    >>> y
    array([2., 4.])
    """

    __module__ = "nd4c.graph"
    plan: Plan

    def __init__(self, plan: Plan):
        self.plan = plan
        super().__init__(plan, _of_plan)

    def __enter__(self) -> Runner:
        self._open()
        return self

    def run(self) -> None:
        """Runs the plan on what is bound.

        Errors: ValueError if an input is not bound, and for shapes that contradict each other; those of a call of the plan.
        """
        with self.plan._used(), self._used() as opened:
            check(_run(opened))

"""Runner: a model with arrays bound to its inputs and outputs."""
from __future__ import annotations

from ctypes import byref, c_void_p

from nd4c._core import Array, from_handle, handle
from nd4c._devices import on
from nd4c._errors import check
from nd4c._handles import Owner
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

    from nd4c.onnx._model import Model

_of_model, _run = bind("nd4c_runner_of_model"), bind("nd4c_runner_run")
_bind_input, _bind_output, _donate, _clear, _get_output = (
    bind("nd4c_runner_" + name) for name in ("bind_input", "bind_output", "donate", "clear", "get_output"))


def _encoded(name):
    if not isinstance(name, str):
        raise TypeError("Runner: inputs and outputs are given by name, not by %s" % type(name).__name__)
    return name.encode()


class Runner(Owner):
    """A model with arrays bound to its inputs and outputs, made by Model.runner(). Each run() reads the inputs as they are then, and
    writes the outputs in place. Outputs that are not bound are made anew by each run. One thread at a time uses a runner; several
    threads have a runner each.

    >>> runner = nd4c.onnx.load("digits/digits.onnx").runner()
    >>> image, logits = nd4c.zeros((1, 1, 8, 8), dtype="float32"), nd4c.zeros((1, 10), dtype="float32")
    >>> runner.bind_input("image", image)
    >>> runner.bind_output("logits", logits)
    >>> for picture in nd4c.load("digits/digits_images.npy")[:3]:
    ...     image[0] = picture
    ...     runner.run()
    >>> nd4c.argmax(logits, axis=1).shape
    (1,)
    """

    _destroy = "nd4c_runner_destroy"
    model: Model

    def __init__(self, model: Model):
        self.model = model
        out = c_void_p()
        with model._used() as opened:
            check(_of_model(opened, None, byref(out)))
        self._handle = out.value

    def __enter__(self) -> Runner:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bind(self, function, name, array):
        if array is not None and type(array) is not Array:
            raise TypeError("Runner: %r is bound to an nd4c.Array, not to %s" % (name, type(array).__name__))
        with self.model._used(), self._used() as opened:
            check(function(opened, _encoded(name), None if array is None else handle(array)))

    def bind_input(self, name: str, array: Optional[Array], /) -> None:
        """Binds an array to an input; None unbinds it.

        Shapes: as the model's `inputs` says; a free dimension takes any extent.
        Dtypes: as the model's `inputs` says.
        Errors: ValueError for another name or shape, TypeError for another dtype and for what is no nd4c.Array.

        >>> runner = nd4c.onnx.load("digits/digits.onnx").runner()
        >>> runner.bind_input("image", nd4c.zeros((2, 1, 8, 8), dtype="float32"))
        >>> runner.run()
        >>> runner.output("logits").shape
        (2, 10)
        """
        self._bind(_bind_input, name, array)

    def bind_output(self, name: str, array: Optional[Array], /) -> None:
        """Binds an array that each run writes an output to; None unbinds it. It may be the array of an input, as a cache that the
        model updates: where the plan can, it writes only what changes.

        Shapes: as the model's `outputs` says.
        Dtypes: as the model's `outputs` says.
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

    def run(self) -> None:
        """Runs the model on what is bound.

        Errors: ValueError if an input is not bound, and for shapes that contradict each other; those of Model.run.

        >>> nd4c.onnx.load("digits/digits.onnx").runner().run()
        Traceback (most recent call last):
            ...
        nd4c.errors.ArgumentError: runner: nothing is bound to input 'image'
        """
        if self.model._device is None:
            self._run_here()
        else:
            with on(self.model._device, from_host=True):
                self._run_here()

    def _run_here(self):
        with self.model._used(), self._used() as opened:
            failure = self.model._failure(_run(opened))
            if failure is not None:
                try:
                    raise failure
                finally:
                    failure = None  # its traceback has this frame: a cycle would keep the model

    def output(self, name: str, /) -> Array:
        """An output of the latest run: the bound array's memory, or the array that the run made.

        Errors: ValueError for another name, and before the first run; TypeError for what is no name.

        >>> nd4c.onnx.load("digits/digits.onnx").runner().output("logits")
        Traceback (most recent call last):
            ...
        nd4c.errors.ArgumentError: runner: no run has given output 'logits'
        """
        out = c_void_p()
        with self.model._used(), self._used() as opened:
            check(_get_output(opened, _encoded(name), byref(out)))
        return from_handle(out.value)

    def clear(self) -> None:
        """Unbinds everything.

        >>> nd4c.onnx.load("digits/digits.onnx").runner().clear()
        """
        with self._used() as opened:
            check(_clear(opened))

"""Runner: a model with arrays bound to its inputs and outputs."""
from __future__ import annotations

from nd4c._devices import on
from nd4c._library import bind
from nd4c.graph._runner import BoundArrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nd4c.onnx._model import Model

_of_model, _run = bind("nd4c_runner_of_model"), bind("nd4c_runner_run")


class Runner(BoundArrays):
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

    model: Model

    def __init__(self, model: Model):
        self.model = model
        super().__init__(model, lambda opened, out: _of_model(opened, None, out))

    def __enter__(self) -> Runner:
        self._open()
        return self

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

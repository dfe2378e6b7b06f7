"""Ranges of a float32 model's values, to run it in int8: calibrate() and the class Calibration."""
from __future__ import annotations

import ctypes
import os
import tempfile
from collections import namedtuple
from ctypes import byref, c_void_p

from nd4c import _abi
from nd4c._core import handle
from nd4c._errors import check
from nd4c._handles import Owner
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Sequence, Tuple, Union

_METHODS = ("min_max", "moving_average", "percentile", "entropy", "mse")  # as the enum nd4c_calibration_method

class Layer(namedtuple("Layer", "name op decibels")):
    """A convolution or product, and what it loses alone in 8 bits: the ratio of signal to noise.

    >>> layer = nd4c.onnx.Layer("conv_0", "conv", 41.5)
    >>> layer.name
    'conv_0'
    """

    __slots__ = ()
    name: str
    op: str
    decibels: float


class Calibration(Owner):
    """Between which bounds the values of a model lie. load() takes one for precision="int8".

    `ranges`: (low, high) by the name of an input or node. `layers`: what each layer loses, if calibrate() measured it.

    Errors: FileNotFoundError; ValueError for a file that nd4c.onnx.calibrate(...).save did not write.

    >>> images = nd4c.load("digits/digits_images.npy")
    >>> calibration = nd4c.onnx.calibrate("digits/digits.onnx", [images])
    >>> calibration.ranges["image"]
    (0.0, 1.0)
    """

    _destroy = "nd4c_calibration_release"
    layers: Tuple[Layer, ...]

    def __init__(self, path: Union[str, os.PathLike[str]], /) -> None:
        out = c_void_p()
        check(bind("nd4c_calibration_load")(os.fsencode(path), byref(out)))
        self._handle = out.value
        self.layers = ()

    def __repr__(self):
        return "nd4c.onnx.Calibration: %d ranges" % len(self.ranges)

    @property
    def ranges(self) -> Dict[str, Tuple[float, float]]:
        """(low, high) by the name of an input or of the node that computes a value.

        >>> calibration = nd4c.onnx.calibrate("digits/digits.onnx", [nd4c.load("digits/digits_images.npy")])
        >>> len(calibration.ranges)
        7
        """
        made, name, low, high = {}, ctypes.c_char_p(), ctypes.c_double(), ctypes.c_double()
        with self._used() as opened:
            for index in range(bind("nd4c_calibration_count")(opened)):
                check(bind("nd4c_calibration_get_range")(opened, index, byref(name), byref(low), byref(high)))
                made[name.value.decode()] = low.value, high.value
        return made

    def keep(self, name: str, /) -> None:
        """Lets a node by name, or all nodes of an op ("conv"), stay in float32.

        Errors: NameError for a name that no op and no node has.

        >>> calibration = nd4c.onnx.calibrate("digits/digits.onnx", [nd4c.load("digits/digits_images.npy")])
        >>> calibration.keep("conv")
        """
        with self._used() as opened:
            check(bind("nd4c_calibration_keep")(opened, name.encode()))

    def save(self, path: Union[str, os.PathLike[str]], /) -> None:
        """Writes the ranges as JSON, for Calibration(path), load() and the program nd4c.

        >>> nd4c.onnx.calibrate("digits/digits.onnx", [nd4c.load("digits/digits_images.npy")]).save("ranges.json")
        >>> nd4c.onnx.Calibration("ranges.json").ranges["image"]
        (0.0, 1.0)
        """
        with self._used() as opened:
            check(bind("nd4c_calibration_save")(opened, os.fsencode(path)))

    def _remade(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ranges.json")
            self.save(path)
            with open(path, "rb") as file:
                return _read, (file.read(), self.layers)


def _taken(address):
    """A Calibration that owns a reference."""
    made = Calibration.__new__(Calibration)
    made._handle, made.layers = address, ()
    return made


def _read(data, layers):
    out = c_void_p()
    check(bind("nd4c_calibration_load_memory")(data, len(data), byref(out)))
    made = _taken(out.value)
    made.layers = layers
    return made


def calibrate(model: Any, samples: Sequence[Any], /, *, method: str = "min_max", percentile: float = 99.99, momentum: float = 0.01,
              float32: Union[str, Sequence[str]] = (), layers: bool = False) -> Calibration:
    """The ranges of a model's values on samples, for load(..., precision="int8", calibration=...). model: what load() takes, or a
    Model. samples: inputs by name, or, for a model of one input, arrays. A generator can make them one at a time, unless layers is true.
    method: "min_max", "moving_average" (momentum: the newest sample's weight), "percentile" (so many percent of the elements lie in
    the range), "entropy" or "mse". float32: names of nodes, or ops, that stay in float32, or one. layers: measures what each layer loses.

    Errors: ValueError for another method, no samples, or a sample with NaN or infinities; KeyError for a sample without an input;
    NotImplementedError for a model without layers that can compute in int8.

    >>> images = nd4c.load("digits/digits_images.npy")
    >>> calibration = nd4c.onnx.calibrate("digits/digits.onnx", [images[:10], images[10:20]], layers=True)
    >>> len(calibration.layers)
    4
    """
    from nd4c.onnx._model import Model

    if method not in _METHODS:
        raise ValueError("onnx.calibrate: method: expected one of %s, got %r" % (", ".join(_METHODS), method))
    model = model if isinstance(model, Model) else Model(model)
    samples = list(samples) if layers else samples
    options = _abi.calibration_options(struct_size=ctypes.sizeof(_abi.calibration_options), method=_METHODS.index(method),
                                       percentile=percentile, momentum=momentum)
    kept = [float32] if isinstance(float32, str) else float32
    calibration = None
    for sample in samples:
        arrays = _ordered(model, sample)
        calibration = _begun(model, arrays, options, kept) if calibration is None else calibration
        _give(calibration, "nd4c_calibration_observe", arrays)
    if calibration is None:
        raise ValueError("onnx.calibrate: samples: expected at least one")
    check(bind("nd4c_calibration_finish")(calibration._open()))
    for sample in samples if layers else ():
        _give(calibration, "nd4c_calibration_measure", _ordered(model, sample))
    calibration.layers = _layers(calibration) if layers else ()
    return calibration


def _ordered(model, sample):
    """The arrays of a sample in the order of the model's inputs."""
    from nd4c.onnx._model import _array_of

    if not hasattr(sample, "keys"):
        if len(model.inputs) != 1:
            raise TypeError("onnx.calibrate: a sample is a dict of %d arrays by name, not %s"
                            % (len(model.inputs), type(sample).__name__))
        sample = {model.inputs[0].name: sample}
    for value in model.inputs:
        if value.name not in sample:
            raise KeyError("onnx.calibrate: a sample has no input %r" % value.name)
    return [_array_of(sample[value.name], value) for value in model.inputs]


def _give(calibration, function, arrays):
    with calibration._used() as opened:
        check(bind(function)(opened, (c_void_p * len(arrays))(*map(handle, arrays)), len(arrays)))


def _begun(model, arrays, options, float32):
    """A calibration of the model's graph for all shapes or, if it has none, for those of the first sample."""
    graph, out = c_void_p(), c_void_p()
    with model._used() as opened:
        try:
            check(bind("nd4c_model_graph")(opened, None, None, None, byref(graph)))
        except (NotImplementedError, ValueError):
            rows = [(ctypes.c_int64 * max(array.ndim, 1))(*array.shape) for array in arrays]
            ranks = (ctypes.c_int32 * len(rows))(*[array.ndim for array in arrays])
            shapes = (c_void_p * len(rows))(*map(ctypes.addressof, rows))
            check(bind("nd4c_model_graph")(opened, None, ranks, shapes, byref(graph)))
    try:
        failure = model._failure(0)  # of progress
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # its traceback has this frame: a cycle would keep the model
        check(bind("nd4c_calibration_create")(graph, None, byref(options), byref(out)))
    finally:
        bind("nd4c_graph_destroy")(graph)
    made = _taken(out.value)
    for name in float32:  # a wrong name is found before all samples have run
        made.keep(name)
    return made


def _layers(calibration):
    row, made = _abi.calibration_layer(struct_size=ctypes.sizeof(_abi.calibration_layer)), []
    with calibration._used() as opened:
        for index in range(bind("nd4c_calibration_layer_count")(opened)):
            check(bind("nd4c_calibration_get_layer")(opened, index, byref(row)))
            made.append(Layer(row.name.decode(), row.op.decode(), row.decibels))
    return tuple(made)

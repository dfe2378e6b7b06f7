"""Models from ONNX files: load() and the class Model."""
from __future__ import annotations

import ctypes
import inspect
import os
import threading
from collections import namedtuple
from ctypes import byref, c_void_p

import nd4c
from nd4c import _abi, _dtypes
from nd4c._core import Array, from_handle, handle
from nd4c._devices import Device, find, on
from nd4c._errors import Error, check, error
from nd4c._handles import Owner
from nd4c._library import bind, take_text
from nd4c._requests import c_text, compile_request
from nd4c.graph._graph import Graph
from nd4c.graph._plan import Profile, steps_of
from nd4c.onnx._calibration import Calibration
from nd4c.onnx._runner import Runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

    from nd4c.graph._plan import Step

    _Device = Union[Device, str]

_open, _open_memory, _close = (bind("nd4c_model_" + name) for name in ("open", "open_memory", "close"))
_classes = bind("nd4c_model_classes")
_profile, _step_count, _get_step = (bind("nd4c_model_" + name) for name in ("profile", "step_count", "get_step"))
_run, _run_data, _report = bind("nd4c_model_run"), bind("nd4c_model_run_data"), bind("nd4c_model_report")
_release, _retain = bind("nd4c_datum_release"), bind("nd4c_array_retain", keeps_gil=True)
_ARRAY, _SEQUENCE, _OPTIONAL = 1, 2, 3
_NO_DEVICE = 1  # an address of no device
_MOST_NAMES = 16  # lists of inputs that a model keeps as the C library reads them

Value = namedtuple("Value", "name kind dtype shape")
Value.__doc__ = """An input or output: its kind ("array", "sequence of array", ...; None if not declared), dtype and shape,
in which a free dimension is its symbol or None. shape None: unknown.

>>> nd4c.onnx.load("digits/digits.onnx").outputs
(Value(name='logits', kind='array', dtype=nd4c.float32, shape=('batch', 10)),)
"""

Node = namedtuple("Node", "index count op label")
Node.__doc__ = """A node that is about to be placed: its number of `count`, its op's name, the name that it has in the model.

>>> def place(node):
...     return "cpu:0" if node.op == "conv" else None
>>> nd4c.onnx.load("digits/digits.onnx", devices=place)(nd4c.zeros((1, 1, 8, 8), dtype="float32")).shape
(1, 10)
"""


def load(model: Union[str, os.PathLike[str], bytes, bytearray, memoryview], /, *, all_intermediates: bool = False,
         optimize: bool = True, progress: Optional[Callable[[str, int, int], object]] = None,
         devices: Union[Sequence[_Device], Callable[[Node], Optional[_Device]], None] = None,
         device: Optional[_Device] = None, math: Optional[str] = None, compile_memory: int = 0,
         compile_options: Optional[Mapping[str, str]] = None,
         compiled: Union[str, os.PathLike[str], None] = None, precision: Optional[str] = None,
         calibration: Union[Calibration, str, os.PathLike[str], None] = None, passes: Optional[str] = None,
         overridden: Sequence[str] = (), loop_limit: int = 0) -> Model:
    """A model from a file, or from bytes. The model reads its weights from the file itself, which is mapped, as long as it or an
    array from it is alive: a program that writes into that file changes its results, and one that truncates it ends the process. Replace it
    by a rename: os.replace(new, path). all_intermediates: every value becomes an output; progress(what, done, total) is
    called during long work: what is "importing", "optimizing", "compiling", "preparing", "placing", "running" or "looping",
    done counts from 0 to total, which is 0 if it is not known; an exception in it is raised after the run. device: the device on which the model runs; the host computes
    what that device cannot. devices: those on which its nodes run in turn, or a function that gives a Node's device (None: that of the run). Neither: the device
    of the run, which is nd4c.current_device(). For compilers of the device: math ("exact", "reorder", "fast", "reduced"), the
    device's memory in bytes that a compiled part may take beside operands (0: no limit), options by key ("LEVEL", or
    "engine.LEVEL" for one compiler alone). compiled: a file of Model.compile, from which executables are loaded. precision: "bfloat16",
    "float16" or "int8", in which nodes of float32 compute where the device is fast in it; inputs and outputs keep their dtypes.
    calibration: for "int8", what calibrate() gives, or the path of its file; without it, only products compute in int8.
    passes: which passes optimise the model: "-gelu,-layout" all but these, "gelu,layout" these alone; None: as the property
    nd4c.plan.passes says. overridden: names of `defaults`, inputs that have an initialiser in the file, which become inputs.
    loop_limit: rounds after which a Loop of the model fails with OverflowError; 0: 2^32.

    Errors: FileNotFoundError; ValueError for what is no model, no pass, no default or another precision; NotImplementedError for ops that
    nd4c lacks, and by a run for a precision that the device lacks; TypeError for device beside devices.

    >>> model = nd4c.onnx.load("digits/digits.onnx")
    >>> model.inputs
    (Value(name='image', kind='array', dtype=nd4c.float32, shape=('batch', 1, 8, 8)),)
    """
    return Model(model, _Settings(all_intermediates, optimize, progress, devices, device, math, compile_memory,
                                  compile_options, compiled, precision, calibration, passes, overridden, loop_limit))


_Settings = namedtuple("_Settings", "all_intermediates optimize progress devices device math compile_memory compile_options compiled "
                       "precision calibration passes overridden loop_limit",
                       defaults=(False, True, None, None, None, None, 0, None, None, None, None, None, (), 0))


class _Told:
    """Calls the function of progress. It refers to no Model, which keeps it."""

    def __init__(self, function):
        self._function, self._mine = function, threading.local()

    def __call__(self, user, what, done, total):
        """The callback for the C library, which cannot take an exception: the first of this thread's run is kept for its
        end, and ends the calls."""
        if "failure" in self._mine.__dict__:
            return
        try:
            self._function(what.decode(), done, total)
        except BaseException as failure:
            self._mine.failure = failure

    def instead_of(self, failure):
        """The exception of the function, which is given once, or else `failure`."""
        return self._mine.__dict__.pop("failure", failure)


class _Placed:
    """Asks a function for the device of each node while a plan is made. It refers to no Model, which keeps it."""

    def __init__(self, device_of):
        self._device_of, self._mine = device_of, threading.local()

    def __call__(self, user, node):
        """The callback for the C library. An exception becomes an address of no device: then the library makes no plan, and
        the next run asks again."""
        try:
            row = _abi.plan_node.from_address(node)
            op = _abi.op_info.from_address(row.op)
            asked = Node(row.index, row.node_count, op.name.decode(), row.label.decode())
            device = self._device_of(asked)
            return None if device is None else _found(device, asked)
        except BaseException as failure:
            self._mine.failure = failure
            return _NO_DEVICE

    def instead_of(self, failure):
        """The exception that ended this thread's run: one that the function of devices raised, which is given once, or else
        `failure`, the C library's error."""
        return self._mine.__dict__.pop("failure", failure)


def _found(device, node):
    """The nd4c_device * that a function of devices has named for a node."""
    try:
        return find(device).handle
    except (Error, TypeError) as failure:
        raise type(failure)("onnx.load: devices, asked for node %d of %d, %r (%s): %s"
                            % (node.index, node.count, node.label, node.op, failure)) from None


def _check_callable(function):
    """Refuses at once an object that cannot be called with a Node. The devices that it names are checked when a plan is
    made."""
    try:
        taken = inspect.signature(function)
    except ValueError:  # a function in C without a signature
        return
    try:
        taken.bind(None)
    except TypeError:
        raise TypeError("onnx.load: devices: the function is called with a Node; %r takes %s"
                        % (getattr(function, "__name__", function), taken)) from None


class Model(Owner):
    """An ONNX model. `inputs` and `outputs` describe what it takes and gives, `defaults` the inputs that have an
    initialiser in the file, which it does not take (load's `overridden`). Several threads may run it at once. Its weights are those of the mapped file, which
    must not be written into or truncated meanwhile (`load`).

    close(), which the end of a `with` block calls, too, releases the weights. A copy is opened anew from the same bytes or
    file. Pickling stores the bytes of the file; the path where the weights are in files beside it.

    >>> with nd4c.onnx.load("digits/digits.onnx") as model:
    ...     model(nd4c.load("digits/digits_images.npy")[:2]).shape
    (2, 10)
    """

    _destroy = "nd4c_model_close"

    def __init__(self, model, settings=_Settings()):
        self._settings, self._placed, self._told = settings, None, None
        if settings.device is not None and settings.devices is not None:
            raise TypeError("onnx.load: device is for the whole model, devices for its nodes; give one of them")
        self._device = None if settings.device is None else Device(settings.device)
        devices = settings.devices if self._device is None else [self._device]
        request = compile_request("onnx.load", settings.math, settings.compile_memory, settings.compile_options)
        options = _abi.model_options(ctypes.sizeof(_abi.model_options), settings.all_intermediates, not settings.optimize)
        placement = None if devices is None else self._placement(devices)
        options.placement = None if placement is None else ctypes.addressof(placement)
        options.compile = None if request is None else ctypes.addressof(request)
        options.compiled = None if settings.compiled is None else os.fsencode(settings.compiled)
        options.passes = None if settings.passes is None else c_text("onnx.load: passes", settings.passes)
        if isinstance(settings.overridden, str):
            raise TypeError("onnx.load: overridden: expected a list of names, got %r" % settings.overridden)
        overridden = [c_text("onnx.load: overridden: a name", name) for name in settings.overridden]
        names = (ctypes.c_char_p * len(overridden))(*overridden)
        options.overridden, options.overridden_count = ctypes.addressof(names) if overridden else None, len(overridden)
        options.precision = _dtypes.dtype_or_none(settings.precision)
        if not 0 <= settings.loop_limit < 2**63:
            raise ValueError("onnx.load: loop_limit is %r, expected a number of rounds, or 0 for 2^32" % (settings.loop_limit,))
        options.loop_limit = settings.loop_limit
        calibration = settings.calibration
        if calibration is not None and not isinstance(calibration, Calibration):
            calibration = Calibration(calibration)
        options.calibration = None if calibration is None else calibration._open()
        self._calibration = calibration
        self._bytes = bytes(model) if isinstance(model, (bytes, bytearray, memoryview)) else None
        self.name = "<bytes>" if self._bytes is not None else os.fspath(model)
        self._handle = _opened(self.name if self._bytes is None else self._bytes, options)
        progress = settings.progress
        self.inputs = self._values("nd4c_model_input")
        self.outputs = self._values("nd4c_model_output")
        self.defaults = self._values("nd4c_model_default")
        self._takes = {value.name: value for value in self.inputs}
        self._names, self._outs = {}, c_void_p * len(self.outputs)
        self._gives_arrays = all(value.kind == "array" for value in self.inputs + self.outputs)
        if progress is not None:
            self._told = _Told(progress)
            self._progress = _abi.progress_callback(self._told)
            bind("nd4c_model_set_progress")(self._open(), self._progress, None)

    def __repr__(self):
        return "nd4c.onnx.Model(%r)\n  inputs: %s\n  outputs: %s" % (
            self.name, *("\n          ".join("%s: %s %s%s" % (v.name, v.kind, v.dtype, v.shape) for v in values)
                         for values in (self.inputs, self.outputs)))

    def __enter__(self) -> Model:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __copy__(self):
        return Model(self.name if self._bytes is None else self._bytes, self._settings)

    def _remade(self):
        settings = self._settings._replace(
            device=None if self._device is None else self._device.name,
            devices=[str(device) for device in self._settings.devices] if isinstance(self._settings.devices, (list, tuple))
            else self._settings.devices)
        return Model, (self._source(), settings)

    def _source(self):
        """What a pickle stores of the model: bytes, or the absolute path of a file whose weights are in further files."""
        if self._bytes is not None:
            return self._bytes
        with open(self.name, "rb") as file:
            data = file.read()
        try:
            _close(_opened(data, _abi.model_options(struct_size=ctypes.sizeof(_abi.model_options))))
        except Error:
            return os.path.abspath(self.name)
        return data

    def _placement(self, devices):
        row = _abi.placement(struct_size=ctypes.sizeof(_abi.placement))
        if callable(devices):
            _check_callable(devices)
            self._placed = _Placed(devices)
            self._device_of = _abi.placement_callback(self._placed)
            row.device_of = ctypes.cast(self._device_of, c_void_p)
        else:
            if isinstance(devices, str) or not hasattr(devices, "__len__"):
                raise TypeError("onnx.load: devices: expected a list of devices or a function, got %r" % (devices,))
            self._devices = (c_void_p * len(devices))(*[find(device).handle for device in devices])
            row.devices, row.device_count = ctypes.addressof(self._devices), len(devices)
        return row

    def _values(self, name):
        get, rows = bind(name), []
        for index in range(bind(name + "_count")(self._open())):
            row = _abi.model_value(struct_size=ctypes.sizeof(_abi.model_value))
            check(get(self._open(), index, byref(row)))
            rows.append(_described(row))
        return tuple(rows)

    @property
    def classes(self) -> Dict[str, Array]:
        """The classes of outputs that a converter ended with ZipMap, as those of scikit-learn's classifiers do, by the output's name.
        nd4c has no maps: such an output is the array of probabilities [n, classes], and its column i is that of class i.

        >>> nd4c.onnx.load("digits/digits.onnx").classes
        {}
        """
        found, out = {}, c_void_p()
        with self._used() as opened:
            for index, value in enumerate(self.outputs):
                check(_classes(opened, index, byref(out)))
                if out.value is not None:
                    found[value.name] = from_handle(out.value)
        return found

    def run(self, inputs: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Dict[str, Any]:
        """Outputs by name. inputs: arrays (or what asarray takes) by name; a sequence is a list, an empty optional None.

        Shapes: as `inputs` says; a free dimension takes any extent.
        Dtypes: as `inputs` says.
        Errors: ValueError for a name that the model does not have or one that is missing, and for another shape;
        TypeError for another dtype.

        >>> model = nd4c.onnx.load("digits/digits.onnx")
        >>> images, labels = nd4c.load("digits/digits_images.npy"), nd4c.load("digits/digits_labels.npy")
        >>> logits = model.run({"image": images[:5]})["logits"]
        >>> nd4c.argmax(logits, axis=1) == labels[:5]
        array([ True,  True,  True,  True,  True])
        """
        if inputs is not None and not hasattr(inputs, "keys"):
            raise TypeError("run: inputs is a dict of arrays by name, {%r: x}, not %s; model(x) takes inputs in order"
                            % (self.inputs[0].name if self.inputs else "x", type(inputs).__name__))
        given = dict(inputs or {}, **named)
        for name in given:
            if not isinstance(name, str):
                raise TypeError("run: inputs are given by name, not by %s" % type(name).__name__)
        takes = self._takes
        if self._gives_arrays and all(name in takes and value is not None for name, value in given.items()):
            arrays = [value if type(value) is Array else _array_of(value, takes[name]) for name, value in given.items()]
            return self._run(_run, given, [handle(array) for array in arrays], from_handle)
        made = []
        try:
            for name, value in given.items():
                made.append(_datum(value, takes.get(name), name))
            return self._run(_run_data, given, made, _taken)
        finally:
            for datum in made:
                _release(datum)

    def _run(self, function, names, handles, taken):
        """Runs by `function` and converts the outputs by `taken`, on the model's device if it has one."""
        outs = self._outs()
        encoded, count = self._encoded(tuple(names)), len(handles)
        arguments = (encoded, (c_void_p * count)(*handles), count, outs, len(outs))
        if self._device is None:
            return self._finish(function, arguments, outs, taken)
        with on(self._device, from_host=True):
            return self._finish(function, arguments, outs, taken)

    def _encoded(self, names):
        """The names as the C library reads them. Making them takes as long as some small models run, so they are kept."""
        encoded = self._names.get(names)
        if encoded is None:
            encoded = (ctypes.c_char_p * len(names))(*[name.encode() for name in names])
            if len(self._names) < _MOST_NAMES:
                self._names[names] = encoded
        return encoded

    def _finish(self, function, arguments, outs, taken):
        """Converts the outputs to Python objects before the surrounding block ends, because its end may raise."""
        opened = self._begin_use()  # `with self._used()` takes a microsecond more
        try:
            status = function(opened, None, *arguments)
            failure = self._failure(status) if status or self._told is not None else None
        finally:
            self._end_use()
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # its traceback has this frame: a cycle would keep the model
        return {value.name: taken(out) for value, out in zip(self.outputs, outs)}

    def _failure(self, status):
        """What ended this thread's call of the C library: the first exception of progress, that of the function of devices, or
        the library's error; None: nothing did."""
        failure = error(status) if status else None
        if failure is not None and self._placed is not None:
            failure = self._placed.instead_of(failure)
        return failure if self._told is None else self._told.instead_of(failure)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Outputs in order (one alone: itself), inputs in order or by name."""
        if len(arguments) > len(self.inputs):
            raise TypeError("%s takes %d inputs, %d were given" % (self.name, len(self.inputs), len(arguments)))
        result = self.run(dict(zip((value.name for value in self.inputs), arguments), **named))
        values = tuple(result.values())
        return values[0] if len(values) == 1 else values

    def _array(self, name, value):
        """The array of an input's value; as it is where the model has no such input."""
        return value if type(value) is Array or name not in self._takes else _array_of(value, self._takes[name])

    def runner(self) -> Runner:
        """A Runner, to which arrays are bound once for many runs.

        >>> nd4c.onnx.load("digits/digits.onnx").runner().bind_input("image", nd4c.zeros((1, 1, 8, 8), dtype="float32"))
        """
        return Runner(self)

    def compile(self, target: str, path: Union[str, os.PathLike[str]], /,
                shapes: Optional[Mapping[str, Sequence[int]]] = None) -> str:
        """Compiles the model ahead of time for a device by name ("tpu:0"), which need not be present if its backend is
        compile-only, and writes the file for onnx.load(compiled=...). shapes by input; shapes that the model declares
        completely may be left out. Returns a text that lists the compiled pieces.

        Errors: KeyError for an unknown input; ValueError where a shape is left free; NotImplementedError for a device
        without a compiler.

        >>> nd4c.onnx.load("digits/digits.onnx").compile("tpu:0", "digits.bin")
        Traceback (most recent call last):
            ...
        ValueError: compile: the model leaves the shape of input 'image' free: give shapes
        """
        self._open()
        ranks, pointers, _rows = self._shapes("compile", shapes)
        out = c_void_p()
        with self._used() as opened:
            failure = self._failure(bind("nd4c_model_compile")(opened, target.encode(), ranks, pointers, os.fsencode(path),
                                                               byref(out)))
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # its traceback has this frame: a cycle would keep the model
        return take_text(out)

    def _shapes(self, where, shapes):
        """The ranks and shapes of all inputs as the C library reads them, and what they point to."""
        known = {value.name: value.shape for value in self.inputs}
        unknown = set(shapes or ()) - set(known)
        if unknown:
            raise KeyError("%s: shapes: the model has no input %r" % (where, unknown.pop()))
        known.update(shapes or {})
        for name, shape in known.items():
            if shape is None or not all(isinstance(extent, int) for extent in shape):
                raise ValueError("%s: the model leaves the shape of input %r free: give shapes" % (where, name))
        rows = [(ctypes.c_int64 * len(shape))(*shape) for shape in known.values()]
        return (ctypes.c_int32 * len(rows))(*map(len, rows)), (c_void_p * len(rows))(*map(ctypes.addressof, rows)), rows

    def profile(self) -> Any:
        """A block in which runs measure their steps; `steps` has the times. They are those of the previous run's plan.

        Errors: ValueError before the first run; NotImplementedError for a model that is interpreted as a whole, and for steps on
        other devices than the host.

        >>> model, image = nd4c.onnx.load("digits/digits.onnx"), nd4c.zeros((1, 1, 8, 8), dtype="float32")
        >>> y = model(image)
        >>> with model.profile():
        ...     y = model(image)
        >>> model.steps[0].runs
        1
        """
        return Profile(self, _profile)

    @property
    def steps(self) -> Tuple[Step, ...]:
        """The steps of the previous run's plan, in the order in which they run; those of parts follow one another."""
        count = ctypes.c_int32()
        with self._used() as opened:
            check(_step_count(opened, byref(count)))
            return steps_of(opened, count.value, _get_step)

    def explain(self, shapes: Optional[Mapping[str, Sequence[int]]] = None) -> str:
        """A text: for each step of a plan for these shapes which engines were asked, why they declined, and what took it. The plan
        is made for the text. shapes by input; shapes that the model declares completely may be left out.

        Errors: KeyError for an unknown input; ValueError where a shape is left free; NotImplementedError for a model that is
        interpreted, and for one whose nodes are placed on several devices.

        >>> "conv" in nd4c.onnx.load("digits/digits.onnx").explain({"image": (1, 1, 8, 8)})
        True
        """
        settings, out = self._settings, c_void_p()
        if settings.devices is not None:
            raise NotImplementedError("explain: the model's nodes are placed by devices=, which a plan for a text lacks")
        ranks, pointers, _rows = self._shapes("explain", shapes)
        with self._used() as opened:
            check(bind("nd4c_model_graph")(opened, None, ranks, pointers, byref(out)))
        graph = Graph(_handle=out.value)
        with graph.plan(device=self._device, optimize=settings.optimize, passes=settings.passes, precision=settings.precision,
                        math=settings.math, compile_options=settings.compile_options, compile_memory=settings.compile_memory,
                        compiled=settings.compiled, calibration=self._calibration) as plan:
            return plan.explain()

    def report(self) -> str:
        """The report of the previous run: passes, kernels, or the node that kept the model from being a graph. Its last lines are
        about outputs: those that are probabilities in place of maps (`classes`), and warnings of shapes that contradict the declared
        ones.

        >>> model = nd4c.onnx.load("digits/digits.onnx")
        >>> y = model(nd4c.load("digits/digits_images.npy")[:1])
        >>> len(model.report()) > 0
        True
        """
        out = c_void_p()
        with self._used() as opened:
            check(_report(opened, byref(out)))
        return take_text(out)


def _opened(model, options):
    """The nd4c_model * of a file's path or of bytes, which the caller keeps as long as the model."""
    out = c_void_p()
    if isinstance(model, bytes):
        check(_open_memory(model, len(model), byref(options), _abi.release_callback(), None, byref(out)))
    else:
        check(_open(os.fsencode(model), byref(options), byref(out)))
    return out.value


def _described(row):
    kinds = ctypes.cast(row.kinds, ctypes.POINTER(ctypes.c_int))[:row.kind_count] if row.kinds else []
    names = {_ARRAY: "array", _SEQUENCE: "sequence", _OPTIONAL: "optional"}
    shape = None
    if row.rank >= 0:
        extents = ctypes.cast(row.shape, ctypes.POINTER(ctypes.c_int64))[:row.rank] if row.rank else []
        symbols = ctypes.cast(row.symbols, ctypes.POINTER(ctypes.c_char_p))[:row.rank] if row.rank and row.symbols else [
            None] * row.rank
        shape = tuple(extent if extent >= 0 else symbol.decode() if symbol else None
                      for extent, symbol in zip(extents, symbols))
    kind = " of ".join(names[kind] for kind in kinds) or None
    return Value(row.name.decode(), kind, _dtypes.by_number.get(row.dtype), shape)


def _array_of(value, declared):
    """An array of what asarray takes; numbers and lists without a dtype of their own get the declared one."""
    try:
        return nd4c.asarray(value) if hasattr(value, "dtype") else nd4c.asarray(value, declared.dtype)
    except (TypeError, ValueError) as error:
        raise type(error)("run: input %r: %s" % (declared.name, error)) from None


def _datum(value, declared, name):
    """An nd4c_datum * of a Python value, as the input declares it."""
    kinds = (declared.kind or "array").split(" of ") if declared is not None else []
    dtype = declared.dtype if declared is not None else None
    try:
        return _made(value, kinds, dtype)
    except (TypeError, ValueError) as error:
        raise type(error)("run: input %r: %s" % (name, error)) from None


def _made(value, kinds, dtype):
    out = c_void_p()
    if kinds[:1] == ["optional"] or value is None:
        inner = None if value is None else _made(value, kinds[1:], dtype)
        try:
            check(bind("nd4c_datum_of_optional")(inner, byref(out)))
        finally:
            _release(inner)
    elif kinds[:1] == ["sequence"] or (not kinds and isinstance(value, list)):
        items = [_made(item, kinds[1:], dtype) for item in value]
        try:
            check(bind("nd4c_datum_of_sequence")(dtype.number if dtype is not None and not items else 0,
                                                 (c_void_p * len(items))(*items), len(items), byref(out)))
        finally:
            for item in items:
                _release(item)
    else:
        plain = not hasattr(value, "dtype")
        array = value if type(value) is Array else nd4c.asarray(value, dtype=dtype if plain else None)
        check(bind("nd4c_datum_of_array")(handle(array), byref(out)))
    return out.value


_get_kind, _array = bind("nd4c_datum_get_kind", keeps_gil=True), bind("nd4c_datum_array", keeps_gil=True)
_count, _item = bind("nd4c_datum_count", keeps_gil=True), bind("nd4c_datum_item", keeps_gil=True)


def _taken(datum):
    """The Python value of an nd4c_datum *, which is released."""
    try:
        return _python(datum)
    finally:
        _release(datum)


def _python(datum):
    kind = _get_kind(datum)
    if kind == _ARRAY:
        return from_handle(_retain(_array(datum)))
    items = [_python(_item(datum, index)) for index in range(_count(datum))]
    return items if kind == _SEQUENCE else items[0] if items else None

"""InferenceSession: models by the names and manners of ONNX Runtime, for programs that were written for it."""
import contextlib
import threading
import time

from nd4c import _devices
from nd4c.onnx import _metadata, _providers
from nd4c.onnx._model import load
from nd4c.onnx._options import GraphOptimizationLevel, SessionOptions
from nd4c.onnx._values import IOBinding, NodeArg, OrtValue, to_numpy


class InferenceSession:
    """A model that runs as with ONNX Runtime: session.run(None, {"image": x})[0].

    providers select the device: "CUDAExecutionProvider" is nd4c's backend cuda. The host computes what the device cannot. Results
    of run() are NumPy arrays; run_with_ort_values() leaves them on their device. Several threads may call run(). close(), which the end of a
    `with` block calls, too, releases the model.

    Shapes: as get_inputs() says; a free dimension takes any extent.
    Dtypes: as get_inputs() says.
    Errors: FileNotFoundError, ValueError for what is no model, NotImplementedError for ops that nd4c lacks.

    >>> session = nd4c.onnx.InferenceSession("digits/digits.onnx", providers=["CPUExecutionProvider"])
    >>> session.get_inputs()[0].name, session.get_inputs()[0].shape
    ('image', ['batch', 1, 8, 8])
    >>> session.run(["logits"], {"image": nd4c.zeros((2, 1, 8, 8), dtype="float32")})[0].shape
    (2, 10)
    >>> session.get_outputs()
    [NodeArg(name='logits', type='tensor(float)', shape=['batch', 10])]
    >>> session.get_providers(), session.get_provider_options(), session.get_overridable_initializers()
    (['CPUExecutionProvider'], {'CPUExecutionProvider': {}}, [])
    >>> session.get_modelmeta().graph_name, session.get_session_options().intra_op_num_threads
    ('digits', 0)
    >>> session.set_providers(["CPUExecutionProvider"])
    >>> session.enable_fallback()
    >>> session.close()
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        unknown = set(kwargs) - {"disabled_optimizers", "enable_fallback"}
        if unknown:
            raise TypeError("InferenceSession: no argument %r" % unknown.pop())
        if kwargs.get("disabled_optimizers"):
            raise NotImplementedError("InferenceSession: disabled_optimizers names passes of ONNX Runtime; "
                                      "graph_optimization_level turns all of nd4c's off")
        self._options = SessionOptions() if sess_options is None else sess_options
        self._source = path_or_bytes
        self._profile = None
        self._lock = threading.Lock()  # guards _overriding
        self.set_providers(providers, provider_options)
        if self._options.enable_profiling:
            self._begin_profile()

    # -- facts ------------------------------------------------------------------------------------------------------------

    def get_inputs(self):
        """The inputs, a list of NodeArg."""
        return [NodeArg(value, self._options.free_dimensions) for value in self._model.inputs]

    def get_outputs(self):
        """The outputs, a list of NodeArg."""
        return [NodeArg(value, self._options.free_dimensions) for value in self._model.outputs]

    def get_overridable_initializers(self):
        """Inputs that have an initialiser in the file, a list of NodeArg. A run may be given other values for them, for which the
        session opens the model once more.
        """
        return [NodeArg(value, self._options.free_dimensions) for value in self._model.defaults]

    def get_modelmeta(self):
        """Producer, names and texts of the file, a ModelMetadata."""
        source = self._source
        return _metadata.read(bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else source)

    def get_session_options(self):
        """The SessionOptions."""
        return self._options

    def get_providers(self):
        """Names of the providers that the session uses, the first one first."""
        return [name for name, _ in self._used]

    def get_provider_options(self):
        """The options of each provider, by its name."""
        return {name: {key: str(value) for key, value in settings.items()} for name, settings in self._used}

    def set_providers(self, providers=None, provider_options=None):
        """Opens the model on the device that the providers select; None: nd4c's default device."""
        self._device, used = _providers.chosen(providers, provider_options)
        self._model, self._used, self._overriding = self._load(), used, {}

    def _load(self, overridden=()):
        optimize = self._options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL
        entries = self._options.entries
        return load(self._source, optimize=optimize, device=self._device, precision=entries.get("nd4c.precision"),
                    calibration=entries.get("nd4c.calibration"), overridden=overridden)

    def _model_for(self, feed):
        """The model, or one that takes those defaults as inputs which are fed."""
        names = tuple(value.name for value in self._model.defaults if value.name in feed)
        if not names:
            return self._model
        with self._lock:
            if names not in self._overriding:
                self._overriding[names] = self._load(names)
            return self._overriding[names]

    def enable_fallback(self):
        """Nothing to do: the host computes what the device cannot."""

    def disable_fallback(self):
        """Not supported: NotImplementedError. A block `with nd4c.device(name, fallback=False)` around nd4c.onnx.load is.

        >>> nd4c.onnx.InferenceSession("digits/digits.onnx").disable_fallback()
        Traceback (most recent call last):
            ...
        NotImplementedError: ...
        """
        raise NotImplementedError("InferenceSession.disable_fallback: run nd4c.onnx.load(...) in a block "
                                  "`with nd4c.device(name, fallback=False)` instead")

    # -- running ----------------------------------------------------------------------------------------------------------

    def run(self, output_names, input_feed, run_options=None):
        """Outputs as NumPy arrays, in the order of output_names (None or []: all).

        input_feed: arrays of NumPy or nd4c by input name; a sequence is a list, an empty optional None.
        Shapes: as get_inputs() says; a free dimension takes any extent.
        Dtypes: as get_inputs() says.
        Errors: ValueError for a missing or unknown name or another shape, TypeError for another dtype.

        >>> session = nd4c.onnx.InferenceSession("digits/digits.onnx")
        >>> session.run(None, {"image": nd4c.load("digits/digits_images.npy")[:3]})[0].argmax(axis=1).shape
        (3,)
        """
        results = self._results(output_names, input_feed, run_options)
        return [to_numpy(value) for value in results.values()]

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """As run(), but with OrtValues, whose arrays stay on their devices.

        Shapes: as get_inputs() says.
        Dtypes: as get_inputs() says.
        Errors: those of run().

        >>> session = nd4c.onnx.InferenceSession("digits/digits.onnx")
        >>> image = nd4c.onnx.OrtValue.ortvalue_from_shape_and_type([1, 1, 8, 8], "float32")
        >>> session.run_with_ort_values(["logits"], {"image": image})[0].shape()
        [1, 10]
        """
        feed = {name: value.array for name, value in input_dict_ort_values.items()}
        return [OrtValue(value) for value in self._results(output_names, feed, run_options).values()]

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs with the inputs and outputs of an IOBinding.

        Shapes: as get_inputs() says.
        Dtypes: as get_inputs() says.
        Errors: those of run().

        >>> session = nd4c.onnx.InferenceSession("digits/digits.onnx")
        >>> binding = session.io_binding()
        >>> binding.bind_cpu_input("image", nd4c.zeros((1, 1, 8, 8), dtype="float32"))
        >>> binding.bind_output("logits")
        >>> session.run_with_iobinding(binding)
        >>> binding.get_outputs()[0].shape()
        [1, 10]
        """
        if self._model._gives_arrays:
            self._check_overrides(iobinding.inputs)
            iobinding._run(self._model_for(iobinding.inputs), self._blocks(run_options))
        else:
            iobinding._take(self._results(list(iobinding.outputs), iobinding.inputs, run_options))

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs on another thread, which then calls callback(results, user_data, error): results as run() gives them and "", or [] and
        the error's text.

        >>> import threading
        >>> session, done = nd4c.onnx.InferenceSession("digits/digits.onnx"), threading.Event()
        >>> feed = {"image": nd4c.load("digits/digits_images.npy")[:1]}
        >>> session.run_async(None, feed, lambda results, event, error: event.set(), done)
        >>> done.wait(60)
        True
        """
        def work():
            try:
                results, failure = self.run(output_names, input_feed, run_options), ""
            except Exception as error:
                results, failure = [], str(error)
            callback(results, user_data, failure)
        threading.Thread(target=work, name="nd4c run_async").start()

    def io_binding(self):
        """A new IOBinding for this session.

        >>> session = nd4c.onnx.InferenceSession("digits/digits.onnx")
        >>> session.io_binding().get_outputs()
        []
        """
        return IOBinding(self)

    def _results(self, names, feed, run_options):
        names = list(names or ())
        if names:
            known = [value.name for value in self._model.outputs]
            for name in names:
                if name not in known:
                    raise ValueError("run: the model has no output %r; it has %s" % (name, ", ".join(known)))
        self._check_overrides(feed)
        results = self._run_model(feed, run_options)
        return {name: results[name] for name in names} if names else results

    def _run_model(self, feed, run_options):
        options, model = self._options, self._model_for(feed)
        if run_options is None and not options.intra_op_num_threads and not options.use_deterministic_compute:
            return model.run(feed)
        with self._blocks(run_options):
            return model.run(feed)

    def _blocks(self, run_options):
        """The blocks in which a run with these options computes."""
        blocks = contextlib.ExitStack()
        if run_options is not None:
            blocks.enter_context(run_options.cancellation)
        if self._options.intra_op_num_threads or self._options.use_deterministic_compute:
            blocks.enter_context(_Settings(self._options))
        return blocks

    def _check_overrides(self, feed):
        for value in self._model.inputs if self._options.free_dimensions else ():
            shape = getattr(feed.get(value.name), "shape", None)
            for axis, symbol in enumerate(value.shape or ()):
                wanted = self._options.free_dimensions.get(symbol)
                if wanted is not None and shape is not None and len(shape) == len(value.shape) and shape[axis] != wanted:
                    raise ValueError("run: input %r: axis %d is %s, which the session's options fix at %d; it is %d"
                                     % (value.name, axis, symbol, wanted, shape[axis]))

    # -- profiles and the end -----------------------------------------------------------------------------------------------

    def _begin_profile(self):
        from nd4c._tracing import tracing
        self._profile = tracing("%s_%s.json" % (self._options.profile_file_prefix, time.strftime("%Y-%m-%d_%H-%M-%S")))
        self._profile.__enter__()

    def end_profiling(self):
        """Ends the record that enable_profiling began, and returns the name of its file, which chrome://tracing and Perfetto
        show.

        Errors: RuntimeError if the session records nothing.

        >>> nd4c.onnx.InferenceSession("digits/digits.onnx").end_profiling()
        Traceback (most recent call last):
            ...
        RuntimeError: end_profiling: the session records nothing; set SessionOptions.enable_profiling before
        """
        if self._profile is None:
            raise RuntimeError("end_profiling: the session records nothing; set SessionOptions.enable_profiling before")
        profile, self._profile = self._profile, None
        profile.__exit__()
        return profile.path

    def close(self):
        """Releases the model; later runs raise ValueError."""
        if self._profile is not None:
            self.end_profiling()
        for model in (self._model, *self._overriding.values()):
            model.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __copy__(self):
        raise TypeError("an InferenceSession can be neither copied nor pickled; nd4c.onnx.load gives a Model, which can")

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce_ex__(self, protocol):
        return self.__copy__()


class _Settings:
    """A block with a session's number of threads and determinism, on the device of the surrounding block."""

    def __init__(self, options):
        self._settings = {"width": options.intra_op_num_threads, "deterministic": bool(options.use_deterministic_compute)}
        self._blocks = _devices.Blocks()

    def __enter__(self):
        settings = dict(_devices.settings_of_block() or {}, **self._settings)
        self._blocks.enter(_devices.current_device().handle, None, settings)

    def __exit__(self, *_):
        self._blocks.leave(self)


"""Values of a session by ONNX Runtime's names: NodeArg describes one, OrtValue holds one, IOBinding lists those of a run."""

from nd4c import _creation, _devices, _dtypes
from nd4c._core import Array
from nd4c.onnx._providers import name_of

# ONNX's words for dtypes where they differ from nd4c's names, and its numbers (TensorProto.DataType).
_WORDS = {"float32": "float", "float64": "double", "utf8": "string"}
_NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "utf8": 8, "bool": 9, "float16": 10,
            "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16, "float8_e4m3fn": 17,
            "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23}
_DTYPES = {number: name for name, number in _NUMBERS.items()}


def type_text(dtype, kinds=()):
    """ONNX Runtime's text of a type: "tensor(float)", "seq(tensor(int64))", "optional(tensor(float))"."""
    text = "tensor(%s)" % ("undefined" if dtype is None else _WORDS.get(dtype.name, dtype.name))
    for kind in reversed(kinds):
        if kind != "array":
            text = "%s(%s)" % ("seq" if kind == "sequence" else kind, text)
    return text


def dtype_of(element_type):
    """The DType that a NumPy type, a name or a number of TensorProto.DataType stands for."""
    return _dtypes.of(_DTYPES.get(element_type, element_type) if isinstance(element_type, int) else element_type)


def to_numpy(value):
    """A value as ONNX Runtime gives it: NumPy arrays, lists of them, None for an empty optional."""
    if isinstance(value, list):
        return [to_numpy(item) for item in value]
    if type(value) is not Array:
        return value
    try:
        import numpy
    except ImportError:
        raise ImportError("InferenceSession.run: results are NumPy arrays, and NumPy is not installed; "
                          "run_with_ort_values and nd4c.onnx.load(...).run give nd4c's arrays") from None
    return numpy.array(value, dtype=object) if value.dtype.kind == "U" else numpy.asarray(value)


class NodeArg:
    """An input or output of a session: `name`, `type` such as "tensor(float)", `shape`, a list in which a free dimension is its
    symbol or None.

    >>> nd4c.onnx.InferenceSession("digits/digits.onnx").get_inputs()
    [NodeArg(name='image', type='tensor(float)', shape=['batch', 1, 8, 8])]
    """

    __slots__ = ("name", "type", "shape")

    def __init__(self, value, overrides):
        self.name = value.name
        self.type = type_text(value.dtype, (value.kind or "array").split(" of "))
        self.shape = None if value.shape is None else [overrides.get(extent, extent) for extent in value.shape]

    def __repr__(self):
        return "NodeArg(name=%r, type=%r, shape=%s)" % (self.name, self.type, self.shape)


class OrtValue:
    """A value on a device, made by the functions ortvalue_from_*; `array` is nd4c's array, or a list of arrays.

    >>> value = nd4c.onnx.OrtValue.ortvalue_from_array(nd4c.asarray([1.0, 2.0], dtype="float32"))
    >>> value.shape(), value.data_type(), value.device_name()
    ([2], 'tensor(float)', 'cpu')
    >>> value.element_type(), value.tensor_size_in_bytes(), value.numpy().tolist()
    (1, 8, [1.0, 2.0])
    >>> value.has_value(), value.is_tensor(), value.is_tensor_sequence(), value.is_sparse_tensor()
    (True, True, False, False)
    >>> value.update_inplace(nd4c.asarray([3.0, 4.0], dtype="float32"))
    >>> value.data_ptr() % 4
    0
    """

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    @staticmethod
    def ortvalue_from_array(array):
        """The value of an nd4c.Array, without a copy.

        Shapes: any.
        Dtypes: all.
        Errors: TypeError for what asarray does not take.

        >>> nd4c.onnx.OrtValue.ortvalue_from_array(nd4c.ones(3)).shape()
        [3]
        """
        return OrtValue(array if type(array) is Array else _creation.asarray(array))

    @staticmethod
    def ortvalue_from_numpy(numpy_obj, /, device_type="cpu", device_id=0):
        """A copy of a NumPy array on a device ("cpu", "cuda", ...).

        Shapes: any.
        Dtypes: those of NumPy that nd4c has.
        Errors: TypeError for other dtypes; a device that is not there raises an nd4c.Error.

        >>> nd4c.onnx.OrtValue.ortvalue_from_numpy(nd4c.ones(3), "cpu", 0).data_type()
        'tensor(double)'
        """
        return OrtValue(_creation.asarray(numpy_obj, device=device_named(device_type, device_id), copy=True))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        """Memory without defined contents on a device.

        Shapes: `shape`.
        Dtypes: element_type: a NumPy type, a name, or a number of TensorProto.DataType.
        Errors: TypeError for what is no type; a device that is not there raises an nd4c.Error.

        >>> nd4c.onnx.OrtValue.ortvalue_from_shape_and_type([2, 3], "int64").tensor_size_in_bytes()
        48
        """
        from nd4c._functions.creation import empty
        return OrtValue(empty(tuple(shape), dtype=dtype_of(element_type), device=device_named(device_type, device_id)))

    @staticmethod
    def from_dlpack(data, /):
        """The value of another library's array, whose memory is shared.

        Shapes: any.
        Dtypes: all that DLPack has.
        Errors: TypeError for an object without __dlpack__.

        >>> nd4c.onnx.OrtValue.from_dlpack(nd4c.ones(3)).shape()
        [3]
        """
        from nd4c._dlpack import from_dlpack
        return OrtValue(from_dlpack(data))

    def _one(self, function):
        if type(self.array) is not Array:
            raise ValueError("OrtValue.%s: the value is no array but %s" % (
                function, "a list" if isinstance(self.array, list) else "an empty optional"))
        return self.array

    def numpy(self):
        """The value as a NumPy array; of a sequence, a list of them.

        Shapes: any; the result has the same.
        Dtypes: all that NumPy has.
        Errors: ImportError without NumPy.
        """
        return to_numpy(self.array)

    def shape(self):
        """The shape as a list."""
        return list(self._one("shape").shape)

    def data_type(self):
        """The type as a text, such as "tensor(float)"."""
        if isinstance(self.array, list):
            return type_text(self.array[0].dtype if self.array else None, ("sequence",))
        return type_text(self._one("data_type").dtype)

    def element_type(self):
        """ONNX's number of the element type (TensorProto.DataType)."""
        return _NUMBERS[self._one("element_type").dtype.name]

    def device_name(self):
        """The kind of the device in small letters, such as "cpu"."""
        return name_of(self._one("device_name").device)[:-len("ExecutionProvider")].lower()

    def data_ptr(self):
        """The address of the elements in the host's memory. ValueError for an array of another device."""
        from nd4c._memory import interface
        array = self._one("data_ptr")
        if not array.device.name.startswith("cpu:"):
            raise ValueError("OrtValue.data_ptr: the array is on %s; nd4c.memory.to_external gives its place" % array.device)
        return interface(array)["data"][0]

    def tensor_size_in_bytes(self):
        """Bytes of all elements."""
        return self._one("tensor_size_in_bytes").nbytes

    def update_inplace(self, data):
        """Writes a NumPy array of the same shape and dtype into the value.

        Shapes: that of the value, or one that broadcasts to it.
        Dtypes: that of the value.
        Errors: ValueError for a value that is no array, and for another shape.
        """
        self._one("update_inplace")[...] = _creation.asarray(data)

    def has_value(self):
        """False for an empty optional."""
        return self.array is not None

    def is_tensor(self):
        """Whether the value is one array."""
        return type(self.array) is Array

    def is_tensor_sequence(self):
        """Whether the value is a sequence of arrays."""
        return isinstance(self.array, list)

    def is_sparse_tensor(self):
        """False: nd4c has no sparse values."""
        return False

    def __dlpack__(self, *, stream=None, **named):
        return self._one("__dlpack__").__dlpack__(stream=stream, **named)

    def __dlpack_device__(self):
        return self._one("__dlpack_device__").__dlpack_device__()


def device_named(device_type, device_id):
    """The Device of ONNX Runtime's words: "cpu" and "cuda" with a number."""
    return _devices.Device("%s:%d" % (device_type.lower(), device_id))


class IOBinding:
    """The inputs and outputs of run_with_iobinding, by name; made by InferenceSession.io_binding().

    >>> session = nd4c.onnx.InferenceSession("digits/digits.onnx")
    >>> binding = session.io_binding()
    >>> binding.bind_cpu_input("image", nd4c.zeros((1, 1, 8, 8), dtype="float32"))
    >>> binding.bind_output("logits")
    >>> binding.synchronize_inputs()
    >>> session.run_with_iobinding(binding)
    >>> binding.synchronize_outputs()
    >>> binding.copy_outputs_to_cpu()[0].shape, binding.get_outputs()[0].shape()
    ((1, 10), [1, 10])
    >>> binding.clear_binding_inputs()
    >>> binding.clear_binding_outputs()
    >>> image = nd4c.onnx.OrtValue.ortvalue_from_shape_and_type([1, 1, 8, 8], "float32")
    >>> binding.bind_ortvalue_input("image", image)
    >>> binding.bind_input("image", "cpu", 0, "float32", [1, 1, 8, 8], image.data_ptr())
    >>> binding.bind_ortvalue_output("logits", nd4c.onnx.OrtValue.ortvalue_from_shape_and_type([1, 10], "float32"))
    """

    def __init__(self, session):
        self._names = [value.name for value in session.get_outputs()]
        self.inputs, self.outputs, self.results = {}, {}, {}
        self._runner, self._bound = None, {}

    def bind_cpu_input(self, name, arr_on_cpu):
        """Binds an input to a NumPy array, which is shared."""
        self.inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name, ortvalue):
        """Binds an input to an OrtValue."""
        self.inputs[name] = ortvalue.array

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Binds an input to memory at an address, which the caller keeps until the run is over."""
        self.inputs[name] = _external(device_type, device_id, element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name, ortvalue):
        """Has the run write an output into an OrtValue."""
        self._bind(name, ortvalue.array)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Asks for an output: in new memory on a device, or written to the memory at an address."""
        self._bind(name, device_named(device_type, device_id) if buffer_ptr is None
                   else _external(device_type, device_id, element_type, shape, buffer_ptr))

    def _bind(self, name, target):
        if name not in self._names:
            raise ValueError("IOBinding: the model has no output %r; it has %s" % (name, ", ".join(self._names)))
        self.outputs[name] = target

    def _run(self, model, blocks):
        """Runs a model whose inputs and outputs are arrays, inside the blocks. Arrays of nd4c are bound once; what else is bound is
        converted each time, as its contents may be copied."""
        with blocks:
            if self._runner is None or self._runner.model is not model:
                self._runner, self._bound = model.runner(), {}
            for name, value in self.inputs.items():
                if type(value) is not Array or self._bound.get(("input", name)) is not value:
                    self._runner.bind_input(name, model._array(name, value))
                    self._bound["input", name] = value
            for name, target in self.outputs.items():
                if self._bound.get(("output", name)) is not target:
                    self._runner.bind_output(name, target if type(target) is Array else None)
                    self._bound["output", name] = target
            self._runner.run()
            for name, target in self.outputs.items():
                self.results[name] = (target if type(target) is Array
                                      else _creation.to_device(self._runner.output(name), target))

    def _forget(self):
        self._bound = {}
        if self._runner is not None:
            self._runner.clear()

    def _take(self, results):
        """Stores a run's outputs, by name, where they are bound to."""
        for name, target in self.outputs.items():
            value = results[name]
            if type(target) is Array:
                target[...] = value
                value = target
            elif type(value) is Array:
                value = _creation.to_device(value, target)
            self.results[name] = value

    def get_outputs(self):
        """The outputs of the last run as OrtValues, in the order of binding."""
        return [OrtValue(self.results[name]) for name in self.outputs if name in self.results]

    def copy_outputs_to_cpu(self):
        """The outputs of the last run as NumPy arrays, in the order of binding."""
        return [to_numpy(self.results[name]) for name in self.outputs if name in self.results]

    def clear_binding_inputs(self):
        """Forgets the inputs."""
        self.inputs.clear()
        self._forget()

    def clear_binding_outputs(self):
        """Forgets the outputs and their results."""
        self.outputs.clear()
        self.results.clear()
        self._forget()

    def synchronize_inputs(self):
        """Waits for work that writes the inputs."""
        _wait(self.inputs.values())

    def synchronize_outputs(self):
        """Waits for the outputs of the last run."""
        _wait(self.results.values())


def _wait(values):
    for value in values:
        if type(value) is Array:
            value.wait()


def _external(device_type, device_id, element_type, shape, address):
    from nd4c._external import from_external
    device = device_named(device_type, device_id)
    kind = "host_pointer" if device.name.startswith("cpu:") else "device_pointer"
    return from_external(kind, address, tuple(shape), dtype_of(element_type), device)

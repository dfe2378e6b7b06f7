"""libnd4c.so in Python, with the parts that the comparisons need: arrays to and from NumPy, ops by name, models."""

import ctypes
import os
import pathlib

import ml_dtypes
import numpy as np

# nd4c/dtype.h: X(NAME, name, number, ...)
NUMBERS = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
           "float16": 10, "bfloat16": 11, "float32": 12, "float64": 13, "complex64": 14, "complex128": 15}
DTYPES = {number: np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)
          for name, number in NUMBERS.items()}

P = ctypes.c_void_p
I64 = ctypes.c_int64


class ModelOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("all_intermediates", ctypes.c_bool),
                ("no_optimization", ctypes.c_bool), ("placement", P), ("compile", P), ("compiled", ctypes.c_char_p),
                ("passes", ctypes.c_char_p), ("precision", ctypes.c_int), ("calibration", P)]


class ModelValue(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("name", ctypes.c_char_p), ("dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("shape", ctypes.POINTER(I64)),
                ("symbols", ctypes.POINTER(ctypes.c_char_p))]


class Error(Exception):
    pass


def find_library(folder=None):
    """The shared library of a build folder (or of build/release)."""
    folder = pathlib.Path(folder or pathlib.Path(__file__).resolve().parents[2] / "build" / "release")
    return folder if folder.is_file() else folder / "lib" / "libnd4c.so"


class Library:
    """One loaded libnd4c.so."""

    def __init__(self, path):
        self.c = ctypes.CDLL(os.fspath(path))
        for name, restype in (("nd4c_error_message", ctypes.c_char_p), ("nd4c_status_name", ctypes.c_char_p),
                              ("nd4c_array_shape", ctypes.POINTER(I64)), ("nd4c_array_is_contiguous", ctypes.c_bool)):
            getattr(self.c, name).restype = restype
        for name in ("nd4c_array_release", "nd4c_array_shape", "nd4c_array_rank", "nd4c_array_dtype",
                     "nd4c_model_close", "nd4c_model_input_count", "nd4c_model_output_count", "nd4c_free"):
            getattr(self.c, name).argtypes = [P]

    def call(self, name, *arguments):
        status = getattr(self.c, name)(*arguments)
        if status != 0:
            text = self.c.nd4c_error_message().decode(errors="replace")
            raise Error(f"{name}: {self.c.nd4c_status_name(status).decode()}: {text}")

    def wrap(self, data):
        """An nd4c array over a NumPy array's memory; the caller keeps that alive."""
        itemsize = data.dtype.itemsize
        shape = (I64 * max(data.ndim, 1))(*data.shape)
        strides = (I64 * max(data.ndim, 1))(*[stride // itemsize for stride in data.strides])
        array = P()
        self.call("nd4c_array_wrap", NUMBERS[data.dtype.name], data.ndim, shape, strides, P(data.ctypes.data),
                  ctypes.c_bool(False), None, None, ctypes.byref(array))
        return array

    def numpy(self, array):
        """A copy of an nd4c array's elements."""
        rank = self.c.nd4c_array_rank(array)
        shape = tuple(self.c.nd4c_array_shape(array)[axis] for axis in range(rank))
        data = np.empty(shape, DTYPES[self.c.nd4c_array_dtype(array)])
        self.call("nd4c_array_read", array, P(data.ctypes.data), ctypes.c_size_t(data.nbytes))
        return data

    def release(self, array):
        self.c.nd4c_array_release(array)

    def text(self, name, *arguments):
        """The text that a function returns."""
        text = ctypes.c_char_p()
        self.call(name, *arguments, ctypes.byref(text))
        value = text.value.decode()
        self.c.nd4c_free(text)
        return value


def calibrate(library, path, samples):
    """An nd4c_calibration of a model file on samples, each name -> NumPy array, all of one shape."""
    model, graph, calibration = Model(library, path), P(), P()
    names = [model.value("nd4c_model_input", index).name.decode()
             for index in range(library.c.nd4c_model_input_count(model.handle))]
    for sample in samples:
        data = [np.ascontiguousarray(sample[name]) for name in names]
        if not calibration:
            shapes = [(I64 * max(array.ndim, 1))(*array.shape) for array in data]
            library.call("nd4c_model_graph", model.handle, None, (ctypes.c_int32 * len(data))(*[a.ndim for a in data]),
                         (P * len(data))(*map(ctypes.addressof, shapes)), ctypes.byref(graph))
            library.call("nd4c_calibration_create", graph, None, None, ctypes.byref(calibration))
        arrays = (P * len(data))(*[library.wrap(array).value for array in data])
        library.call("nd4c_calibration_observe", calibration, arrays, len(data))
        for array in arrays:
            library.c.nd4c_array_release(P(array))
    library.call("nd4c_calibration_finish", calibration)
    library.c.nd4c_graph_destroy(graph)
    model.close()
    return calibration


class Model:
    """An open model file with its inputs bound once."""

    def __init__(self, library, path, all_intermediates=False, no_optimization=False, precision=0, calibration=None):
        self.library, self.handle = library, P()
        options = ModelOptions(ctypes.sizeof(ModelOptions), all_intermediates, no_optimization, precision=precision,
                               calibration=calibration)
        library.call("nd4c_model_open", os.fsencode(path), ctypes.byref(options), ctypes.byref(self.handle))
        self.count = library.c.nd4c_model_output_count(self.handle)
        self.names = [self.value("nd4c_model_output", index).name.decode() for index in range(self.count)]
        self.inputs = []

    def value(self, function, index):
        value = ModelValue(struct_size=ctypes.sizeof(ModelValue))
        self.library.call(function, self.handle, index, ctypes.byref(value))
        return value

    def bind(self, inputs):
        """Sets what run() reads: name -> NumPy array."""
        self.data = [np.ascontiguousarray(data) for data in inputs.values()]
        self.inputs = [self.library.wrap(data) for data in self.data]
        self.input_names = (ctypes.c_char_p * len(inputs))(*[name.encode() for name in inputs])
        self.input_arrays = (P * len(inputs))(*[array.value for array in self.inputs])
        self.outputs = (P * self.count)()

    def run(self):
        """Runs the model; outputs are fresh at first and written into again after that."""
        self.library.call("nd4c_model_run", self.handle, None, self.input_names, self.input_arrays, len(self.inputs),
                          self.outputs, self.count)

    def results(self):
        """Name -> copy of each output."""
        return {name: self.library.numpy(P(output)) for name, output in zip(self.names, self.outputs)}

    def report(self):
        return self.library.text("nd4c_model_report", self.handle)

    def close(self):
        for array in list(self.inputs) + [P(output) for output in (self.outputs if self.inputs else ())]:
            self.library.release(array)
        self.inputs = []
        self.library.c.nd4c_model_close(self.handle)

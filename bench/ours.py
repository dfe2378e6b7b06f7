"""nd4c's side of a row: one op in a loop of C, or a model. Also the peers that are called without nd4c: the loops written by
hand and the vendors' libraries of bench/*.c."""

import ctypes
import dataclasses
import pathlib
import tempfile
import time

import numpy as np

import models
import nd4c
import rows
from peers import THREADS

P, I64 = ctypes.c_void_p, ctypes.c_int64


class AttrUnion(ctypes.Union):
    _fields_ = [("i", I64), ("f", ctypes.c_double), ("p", P)]


class AttrValue(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("count", ctypes.c_int32), ("value", AttrUnion)]


class OpAttr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("preset", AttrValue)]


class OpInput(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("optional", ctypes.c_bool), ("variadic", ctypes.c_bool)]


class OpInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("op", ctypes.c_int), ("version", ctypes.c_uint32),
                ("name", ctypes.c_char_p), ("category_name", ctypes.c_char_p), ("category", ctypes.c_int),
                ("dtypes", ctypes.c_uint64), ("input_count", ctypes.c_int32), ("attr_count", ctypes.c_int32),
                ("output_count", ctypes.c_int32), ("inputs", ctypes.POINTER(OpInput)),
                ("attrs", ctypes.POINTER(OpAttr))]


KIND_FLOAT, KIND_FLOATS, KIND_STRING, KIND_DTYPE = 3, 5, 6, 8


class Constant:
    """An operand that a plan keeps."""

    def __init__(self, data):
        self.data = np.ascontiguousarray(data)


class OpNames(dict):
    """The names that an expression may use: inputs, np, const(array); every other name is an op."""

    def __init__(self, inputs):
        super().__init__(inputs, np=np, const=Constant)

    def __missing__(self, name):
        return lambda *inputs, **attrs: (name, inputs, attrs)


class Calls:
    """One op, prepared: a loop in C."""

    def __init__(self, peer, text, inputs, into):
        self.peer, self.library = peer, peer.library
        name, given, attrs = eval(text, {"__builtins__": {}}, OpNames(inputs))
        info = ctypes.POINTER(OpInfo)()
        self.library.call("nd4c_op_find", name.encode(), ctypes.byref(info))
        info = info.contents
        self.op, self.output_count = info.op, info.output_count
        self.data = [data if isinstance(data, np.ndarray) else None for data in given]
        self.arrays = [self.library.wrap(data) if data is not None else P() for data in self.data]
        variadic = any(info.inputs[i].variadic for i in range(info.input_count))
        count = len(given) if variadic else info.input_count
        self.inputs = (P * max(count, 1))(*[array.value for array in self.arrays])
        self.input_count = count
        self.attrs = (AttrValue * max(info.attr_count, 1))()
        self.keep = []
        for i in range(info.attr_count):
            attr = info.attrs[i]
            self.attrs[i] = attr.preset
            if attr.name.decode() in attrs:
                self.set(self.attrs[i], attrs.pop(attr.name.decode()))
        if attrs:
            raise RuntimeError(f"{name} has no attribute {', '.join(attrs)}")
        self.outputs = (P * self.output_count)()
        self.library.call("nd4c_op_call_positional", None, self.op, self.inputs, self.input_count, self.attrs,
                          self.outputs)
        self.results = [self.library.numpy(P(output)) for output in self.outputs]
        self.moved = (sum(data.nbytes for data in self.data if data is not None),
                      sum(result.nbytes for result in self.results))
        self.fresh = not into
        for i, result in enumerate(self.results):
            self.library.release(P(self.outputs[i]))
            self.outputs[i] = None
            if into:
                self.keep.append(rows.aligned(result.shape, result.dtype))
                self.outputs[i] = self.library.wrap(self.keep[-1]).value

    def set(self, to, value):
        if isinstance(value, str):
            if to.kind == KIND_DTYPE:
                to.value.i = nd4c.NUMBERS[rows.DTYPES.get(value, value)]
                return
            self.keep.append(ctypes.create_string_buffer(value.encode()))
            to.value.p = ctypes.addressof(self.keep[-1])
        elif isinstance(value, (list, tuple)):
            kind = ctypes.c_double if to.kind == KIND_FLOATS else ctypes.c_int64
            self.keep.append((kind * max(len(value), 1))(*value))
            to.value.p, to.count = ctypes.addressof(self.keep[-1]), len(value)
        elif to.kind == KIND_FLOAT:
            to.value.f = value
        else:
            to.value.i = int(value)

    def time(self, calls):
        result = self.peer.bench.bench_calls(self.op, self.inputs, self.input_count, self.attrs, self.outputs,
                                             self.output_count, self.fresh, calls)
        if result < 0:
            raise RuntimeError(self.library.c.nd4c_error_message().decode(errors="replace"))
        return result

    def result(self):
        if not self.fresh:
            self.time(1)
        results = self.results if self.fresh else self.keep[-self.output_count:]
        self.results = None
        return results[0]

    def __del__(self):
        for array in list(getattr(self, "arrays", [])) + [P(output) for output in getattr(self, "outputs", [])]:
            if array:
                self.library.release(array)


class Runner:
    """run(*arguments) gives a status."""

    def time(self, calls):
        run, arguments, status = self.run, self.arguments, 0
        begin = time.perf_counter_ns()
        for _ in range(calls):
            status |= run(*arguments)
        took = (time.perf_counter_ns() - begin) / calls
        if status:
            raise RuntimeError("what is timed fails")
        return took


class Planned(Runner):
    """One op without attributes in a plan, which packs weights that are const(...) once; outputs are fresh at first and
    written into again after that."""

    def __init__(self, peer, text, inputs):
        self.library, self.moved = peer.library, (0, 0)
        name, given, attrs = eval(text, {"__builtins__": {}}, OpNames(inputs))
        if attrs:
            raise RuntimeError(f"{name}: attributes are not passed on here")
        self.data = [data.data if isinstance(data, Constant) else data for data in given if data is not None]
        self.arrays = [self.library.wrap(data) for data in self.data]
        arrays, call, value = iter(self.arrays), self.library.call, ctypes.c_int32(-1)
        info, graph, self.plan = ctypes.POINTER(OpInfo)(), P(), P()
        call("nd4c_op_find", name.encode(), ctypes.byref(info))
        call("nd4c_graph_create", ctypes.byref(graph))
        values, passed = (ctypes.c_int32 * len(given))(), []
        for i, data in enumerate(given):
            value.value = -1
            if isinstance(data, Constant):
                call("nd4c_graph_constant", graph, next(arrays), ctypes.byref(value))
            elif data is not None:
                call("nd4c_graph_input", graph, f"x{i}".encode(), nd4c.NUMBERS[data.dtype.name], data.ndim,
                     (I64 * max(data.ndim, 1))(*data.shape), ctypes.byref(value))
                passed.append(next(arrays).value)
            values[i] = value.value
        call("nd4c_graph_op", graph, info.contents.op, values, len(given), None, 0, None, ctypes.byref(value), 1)
        call("nd4c_graph_output", graph, b"y", value)
        call("nd4c_plan_create", graph, None, None, ctypes.byref(self.plan))
        self.library.c.nd4c_graph_destroy(graph)
        self.outputs = (P * 1)()
        self.arguments = [self.plan, (P * len(passed))(*passed), len(passed), self.outputs, 1]
        self.run = self.library.c.nd4c_plan_run
        call("nd4c_plan_run", *self.arguments)

    def result(self):
        return self.library.numpy(P(self.outputs[0]))

    def __del__(self):
        if hasattr(self, "arguments"):
            self.library.c.nd4c_plan_destroy(self.plan)
            for array in [*self.arrays, P(self.outputs[0])]:
                self.library.release(array)


class View:
    """A view of all but the first element. It needs a class because views are not ops."""

    def __init__(self, peer, inputs):
        self.peer, self.data = peer, next(iter(inputs.values()))
        self.array, self.moved = peer.library.wrap(self.data), (0, 0)

    def time(self, calls):
        return self.peer.bench.bench_small_calls(2, self.array, self.array, self.array, calls)

    def result(self):
        return self.data[1:]

    def __del__(self):
        self.peer.library.release(self.array)


class Model(Runner):
    """A model that nd4c runs; outputs are fresh at first and written into again after that."""

    def __init__(self, peer, row, inputs):
        data, used = models.model_of(dataclasses.replace(row, onnx=f"file({row.own})") if row.own else row, inputs)
        calibration = nd4c.calibrate(peer.library, data, [used]) if row.own else None
        precision = "int8" if row.own else row.precision
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "row.onnx" if isinstance(data, bytes) else pathlib.Path(data)
            if isinstance(data, bytes):
                path.write_bytes(data)
            self.model = nd4c.Model(peer.library, path, precision=nd4c.NUMBERS[precision] if precision else 0,
                                    calibration=calibration)
        if calibration is not None:
            peer.library.c.nd4c_calibration_release(calibration)
        model = self.model
        model.bind(used)
        model.run()
        self.run = peer.library.c.nd4c_model_run
        self.run.argtypes = [P, P, P, P, ctypes.c_int32, P, ctypes.c_int32]
        self.arguments = [model.handle, None, ctypes.cast(model.input_names, P), ctypes.cast(model.input_arrays, P),
                          len(model.inputs), ctypes.cast(model.outputs, P), model.count]
        self.moved = (0, 0)

    def result(self):
        return next(iter(self.model.results().values()))

    def __del__(self):
        if hasattr(self, "model"):
            self.model.close()


class Bench:
    """libnd4c.so of one build, and libnd4c_bench.so, the library of bench/*.c, of the same build or another: where the loops
    need a library of that name (SONAME), the loader takes the libnd4c.so that is already loaded."""

    def __init__(self, build, loops):
        path = nd4c.find_library(build)
        self.library = nd4c.Library(path)
        self.bench = ctypes.CDLL(str(loops / "bench" / "libnd4c_bench.so"))
        with open("/proc/self/maps", encoding="utf-8") as file:
            loaded = {words[5] for line in file if len(words := line.rstrip("\n").split(None, 5)) > 5}
        other = [name for name in loaded if pathlib.Path(name).name.startswith("libnd4c.so") and not path.samefile(name)]
        if other:
            raise RuntimeError(f"the loops of {loops} need {other[0]}, whose SONAME is not that of {path}")
        number, dtype, flag = ctypes.c_double, ctypes.c_int, ctypes.c_bool
        for name, result, arguments in (
                ("bench_calls", number, [dtype, P, ctypes.c_int32, P, P, ctypes.c_int32, flag, I64]),
                ("bench_small_calls", number, [ctypes.c_int, P, P, P, I64]),
                ("bench_product_make", P, [ctypes.c_int, dtype, I64, I64, I64, P, P, P]),
                ("bench_product_run", flag, [P]),
                ("bench_product_free", None, [P]),
                ("bench_limit_gflops", number, [dtype, ctypes.c_int]),
                ("bench_limit_copy", None, [P, P, ctypes.c_size_t, ctypes.c_int]),
                ("bench_limit_read", number, [P, ctypes.c_size_t, ctypes.c_int]),
                ("bench_limit_binary", flag, [ctypes.c_int, dtype, P, P, P, I64, I64, flag, ctypes.c_int])):
            function = getattr(self.bench, name)
            function.restype, function.argtypes = result, arguments


class Nd4c(Bench):
    version = "nd4c"

    def prepare(self, row, inputs, into):
        if row.nd4c == "onnx":
            return Model(self, row, inputs)
        if row.nd4c.startswith("view("):
            return View(self, inputs)
        if "const(" in row.nd4c:
            return Planned(self, row.nd4c, inputs)
        return Calls(self, row.nd4c, inputs, into)

    def machine(self):
        """Lines on the processor, the engines and the scheduling."""
        import performance_page

        return list(performance_page.machine_lines(self.library, THREADS))

    def limits(self):
        """The machine's limits, measured now: name -> GB/s or GFLOP/s."""
        count, bench = 10**7, self.bench
        a, b, y = (rows.fill((count,), "f32", 0.5) for _ in range(3))
        binary = lambda stream: lambda: bench.bench_limit_binary(0, 12, a.ctypes.data, b.ctypes.data, y.ctypes.data,
                                                                 count, 1, stream, THREADS)
        bodies = {"read": (lambda: bench.bench_limit_read(a.ctypes.data, a.nbytes, THREADS), 1),
                  "copy": (lambda: bench.bench_limit_copy(y.ctypes.data, a.ctypes.data, a.nbytes, THREADS), 2),
                  "add, streaming": (binary(True), 3), "add, ordinary stores": (binary(False), 3)}
        found = {}
        for name, (body, arrays) in bodies.items():
            samples = []
            for _ in range(21):
                begin = time.perf_counter_ns()
                body()
                samples.append(time.perf_counter_ns() - begin)
            found[name] = arrays * a.nbytes / float(np.median(samples))
        for name in ("float32", "float64", "bfloat16", "int8"):
            found[{"float32": "f32", "float64": "f64", "bfloat16": "bf16", "int8": "int8"}[name]] = bench.bench_limit_gflops(
                nd4c.NUMBERS[name], THREADS)
        return found


class Repeated:
    """A body that is called in a loop of Python."""

    def __init__(self, body, value, held=None):
        self.body, self.value, self.held = body, value, held

    def time(self, calls):
        body = self.body
        begin = time.perf_counter_ns()
        for _ in range(calls):
            body()
        return (time.perf_counter_ns() - begin) / calls

    def result(self):
        return self.value


class StreamingLoop(Bench):
    """add(a, b) and multiply(a, b) by hand, past the caches where the processor allows it (limits.c)."""

    version = "loops by hand with streaming stores"

    def prepare(self, row, inputs, into):
        name, given, _ = eval(row.direct["loop"], {"__builtins__": {}}, OpNames(inputs))
        a, b = given
        y, step = rows.aligned(a.shape, a.dtype), a.strides[0] // a.itemsize
        arguments = [("add", "multiply").index(name), nd4c.NUMBERS[a.dtype.name], a.ctypes.data, b.ctypes.data,
                     y.ctypes.data, a.size, step, True, THREADS]
        if not self.bench.bench_limit_binary(*arguments):
            raise RuntimeError("there is no such loop")
        return Repeated(lambda: self.bench.bench_limit_binary(*arguments), y, inputs)


class Vendor(Bench):
    """Products of a vendor's library, called directly (vendor.c)."""

    def prepare(self, row, inputs, into):
        a, b = inputs["a"], inputs["b"]
        m, n = a.shape[0] if a.ndim > 1 else 1, b.shape[1] if b.ndim > 1 else 1
        shape = (*a.shape[:-1], *b.shape[1:])
        c = rows.aligned(shape, np.dtype("int32") if a.dtype == np.int8 else a.dtype)
        product = self.bench.bench_product_make(self.number, nd4c.NUMBERS[a.dtype.name], m, a.shape[-1], n, a.ctypes.data,
                                                b.ctypes.data, c.ctypes.data)
        if not product or not self.bench.bench_product_run(product):
            raise RuntimeError("not offered")
        return Repeated(lambda: self.bench.bench_product_run(product), c, inputs)


class OpenBlas(Vendor):
    number, version = 0, "OpenBLAS, called directly"


class OneDnnGemm(Vendor):
    number, version = 1, "oneDNN's dnnl_sgemm, called directly"


class OneDnnMatmul(Vendor):
    number, version = 2, "oneDNN's matmul primitive, called directly"


PEERS = {"nd4c": Nd4c, "loop": StreamingLoop, "openblas": OpenBlas, "onednn_gemm": OneDnnGemm,
         "onednn_matmul": OneDnnMatmul}

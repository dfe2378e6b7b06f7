"""The libraries that nd4c is compared with. Each prepares a row's expression once and calls it in a loop of Python, as its
users do. `y` is the output that is written into, copy(x) copies a view x into it; out=y of a fresh call is out=None.

PyTorch and JAX run the ONNX model of a row whose expression is "onnx" node by node, translated (translation.py)."""

import os
import time

import numpy as np

import models
import rows

THREADS = 2
PRECISIONS = {None: "f32", "bfloat16": "bf16", "float16": "f16"}


class Loop:
    """A prepared call: `text` in a loop, over `names`; `value`: what one call gave."""

    def __init__(self, text, names, value, to_numpy=np.asarray):
        self.names, self.value, self.to_numpy = names, value, to_numpy
        self.view = False  # whether the call gives a view of its inputs and computes nothing
        exec(f"def body(calls):\n    for _ in range(calls):\n        {text}\n", names)

    def time(self, calls):
        begin = time.perf_counter_ns()
        self.names["body"](calls)
        return (time.perf_counter_ns() - begin) / calls

    def result(self):
        """The call's first result."""
        value, self.value = self.value, None
        return self.to_numpy(value[0] if isinstance(value, (tuple, list)) else value)


def writes_into(text):
    return "out=y" in text or text.startswith("copy(")


class NumPy:
    def __init__(self, _):
        self.version, self.scipy = f"NumPy {np.__version__}", None
        try:  # rows that need a missing package are refused
            import scipy.fft
            import scipy.linalg
            import scipy.special

            self.scipy = scipy
            self.version += f", SciPy {scipy.__version__}"
        except ModuleNotFoundError:
            self.version += ", no SciPy"

    def prepare(self, row, inputs, into):
        text = row.calls()["numpy"]
        names = {**inputs, "np": np, "scipy": self.scipy, "y": None, "random": np.random.default_rng(1),
                 "copy": lambda view, dtype=None: np.empty(view.shape, dtype or view.dtype)}
        value = eval(text, names)
        if into and writes_into(text):
            y = names["y"] = rows.aligned(value.shape, value.dtype)
            names["copy"] = lambda view, dtype=None: np.copyto(y, view, casting="unsafe")
            eval(text, names)
            value = y
        made = Loop(text, names, value)
        made.view = isinstance(value, np.ndarray) and any(np.may_share_memory(value, data) for data in inputs.values())
        return made


class PyTorch:
    """Eager, in inference mode. The statements before the last semicolon run once, as a module's constructor does."""

    def __init__(self, _):
        import torch

        torch.set_num_threads(THREADS)
        self.mode = self.mode_of(torch)  # kept: the mode ends when this object is destroyed
        self.mode.__enter__()
        self.version = f"PyTorch {torch.__version__}"
        self.torch = torch

    @staticmethod
    def mode_of(torch):
        return torch.inference_mode()

    def tensor(self, data):
        if data.dtype.name == "bfloat16":
            return self.torch.from_numpy(data.view(np.int16)).view(self.torch.bfloat16)
        return self.torch.from_numpy(data)

    def array(self, tensor):
        tensor = tensor.detach()
        tensor = tensor.dequantize() if tensor.is_quantized else tensor.contiguous()
        if tensor.dtype == self.torch.bfloat16:
            return tensor.view(self.torch.int16).numpy().view(rows.numpy_dtype("bf16"))
        return tensor.numpy()

    def network(self, row, inputs):
        """The row's model as a module, and its inputs."""
        import translation
        import translation_torch

        torch, (path, used) = self.torch, models.model_of(row, inputs)
        made = translation.Translation(path, translation_torch)

        class Network(torch.nn.Module):
            def forward(self, *given):
                return made.function(self, *given)

        network = Network().eval()
        for name, value in made.constants.items():
            network.register_buffer(name, value)
        return network, [self.tensor(used[name]) for name in made.inputs]

    def prepare(self, row, inputs, into):
        torch = self.torch
        if row.torch == "onnx":
            return self.loop(*self.network(row, inputs))
        names = {name: self.tensor(data) for name, data in inputs.items()}
        names |= {"torch": torch, "F": torch.nn.functional, "y": None,
                  "copy": lambda view, dtype=None: torch.empty(view.shape, dtype=dtype or view.dtype)}
        setup, _, text = row.calls()["torch"].rpartition(";")
        exec(setup.strip(), names)
        text = text.strip()
        value = eval(text, names)
        if into and writes_into(text):
            y = names["y"] = self.tensor(rows.aligned(tuple(value.shape), self.array(value).dtype))
            names["copy"] = lambda view, dtype=None: y.copy_(view)
            value = eval(text, names)
        made = Loop(text, names, value, self.array)
        made.view = isinstance(value, torch.Tensor) and any(
            value.untyped_storage().data_ptr() == names[name].untyped_storage().data_ptr() for name in inputs)
        return made

    def loop(self, network, given):
        return Loop("network(*given)", {"network": network, "given": given}, network(*given), self.array)


class PyTorchCompiled(PyTorch):
    """torch.compile with frozen weights, which lets it pack and fold them."""

    def __init__(self, peers):
        super().__init__(peers)
        import torch._inductor.config as config

        config.freezing = True
        config.compile_threads = THREADS
        self.version += ", torch.compile"

    @staticmethod
    def mode_of(torch):
        return torch.no_grad()  # freezing knows no inference mode

    def loop(self, network, given):
        self.torch._dynamo.reset()
        return super().loop(self.torch.compile(network, dynamic=False), given)


class Jax:
    """jax.jit. It starts a thread for each processor that the process may use, and has no other setting."""

    def __init__(self, _):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
        import jax

        self.version, self.jax = f"JAX {jax.__version__}", jax

    def prepare(self, row, inputs, into):
        import translation
        import translation_jax

        path, used = models.model_of(row, inputs)
        made = translation.Translation(path, translation_jax)
        function = self.jax.jit(made.function)
        given = [made.constants, *(self.jax.numpy.asarray(used[name]) for name in made.inputs)]
        value = self.jax.block_until_ready(function(*given))
        return Loop("wait(function(*given))", {"wait": self.jax.block_until_ready, "function": function, "given": given}, value)


class OnnxRuntime:
    def __init__(self, _):
        import onnxruntime

        self.version = f"ONNX Runtime {onnxruntime.__version__}"
        self.ort = onnxruntime

    def prepare(self, row, inputs, into):
        model, used = models.model_of(row, inputs)
        options = self.ort.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = THREADS
        session = self.ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        results = session.run(names, used)
        binding = session.io_binding()
        held = {name: self.ort.OrtValue.ortvalue_from_numpy(data) for name, data in used.items()}
        for name, data in held.items():
            binding.bind_ortvalue_input(name, data)
        for name, result in zip(names, results):
            if into:
                held[name] = self.ort.OrtValue.ortvalue_from_numpy(result)
                binding.bind_ortvalue_output(name, held[name])
            else:
                binding.bind_output(name)
        names = {"run": session.run_with_iobinding, "binding": binding, "held": (session, held)}
        return Loop("run(binding)", names, results)


class OpenVino:
    """Asks for the row's precision, and else for single precision, as for all peers: OpenVINO's default is bfloat16 on
    processors that have it."""

    def __init__(self, _):
        import openvino

        self.version = f"OpenVINO {openvino.__version__.split('-')[0]}"
        self.core, self.openvino = openvino.Core(), openvino

    def prepare(self, row, inputs, into):
        model, used = models.model_of(row, inputs)
        compiled = self.core.compile_model(self.core.read_model(model), "CPU", {
            "INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": PRECISIONS[row.precision]})
        request = compiled.create_infer_request()
        for name, data in used.items():
            request.set_tensor(name, self.openvino.Tensor(data, shared_memory=True))
        request.infer()
        results = [np.array(request.get_output_tensor(i).data) for i in range(len(compiled.outputs))]
        return Loop("infer()", {"infer": request.infer, "held": (compiled, used)}, results)


PEERS = {"numpy": NumPy, "torch": PyTorch, "torch_compiled": PyTorchCompiled, "jax": Jax, "onnx": OnnxRuntime, "openvino": OpenVino}

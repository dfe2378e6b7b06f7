"""The rows of a comparison. Each row is one piece of work, written once for nd4c and once for each peer.

A row's calls are Python expressions over its inputs, which are NumPy expressions themselves; `y` stands for the output
array, None where each call makes a fresh one. nd4c's and ONNX's expressions name ops: add(a, b), Gemm(a, b, alpha=2.0).
"""

import dataclasses
import functools
import importlib
import pathlib
import zlib

import ml_dtypes
import numpy as np

DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "i8": "int8", "u8": "uint8", "u64": "uint64",
          "i32": "int32", "i64": "int64", "c64": "complex64", "c128": "complex128", "bool": "bool"}
FOLDER = pathlib.Path(__file__).resolve().parent / "groups"


@dataclasses.dataclass
class Row:
    """nd4c: an expression, or "onnx": the ONNX model, run by nd4c, too; likewise torch and jax, which translate it. direct: expressions for loops by hand and for vendors'
    libraries without nd4c. into: outputs are given where a library takes them; otherwise each call makes fresh ones."""

    name: str
    inputs: dict
    nd4c: str
    numpy: str = None
    torch: str = None
    jax: str = None
    onnx: str = None
    direct: dict = dataclasses.field(default_factory=dict)
    into: bool = True
    bar: float = 1.0  # the least ratio of the fastest peer's time to nd4c's; None: none
    flops: float = None  # what one call computes
    peak: str = "f32"  # the kind of multiply-adds that limits it
    check: str = "close"  # how results are compared: close, scaled (by the largest), abs (signs are free), shape, none
    tolerance: float = 1e-4
    opset: int = 21
    precision: str = None  # the dtype in which nd4c and OpenVINO compute the nodes of float32 of a model
    own: str = None  # the network that nd4c quantises itself, in place of the row's model

    def calls(self):
        """Peer -> expression."""
        calls = {peer: text for peer in ("nd4c", "numpy", "torch", "jax", "onnx") if (text := getattr(self, peer))}
        if self.nd4c == "onnx":
            calls["openvino"] = self.onnx
        if self.torch == "onnx":
            calls["torch_compiled"] = self.onnx
        return calls | self.direct


@dataclasses.dataclass
class Group:
    """title and text head its part of the page; mean: the bar of the geometric mean of its ratios. first: the row that stands
    for the group on the first page, and what it does in plain words. batch: the rows that are made ready together, which all
    processes then hold in memory. seconds: a row whose rounds are short is measured in more of them, for as long as this."""

    name: str
    title: str
    text: str
    rows: list
    mean: float = None
    first: tuple = None
    batch: int = 8
    seconds: float = 0.0


def aligned(shape, dtype):
    """An array that begins on a page boundary, so that all libraries get equally good addresses."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.zeros(size + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    return raw[start : start + size].view(dtype).reshape(shape)


def numpy_dtype(name):
    name = DTYPES.get(name, name)
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def fill(shape, dtype, values):
    result = aligned(shape, numpy_dtype(dtype))
    result[...] = values
    return result


def between(pool, step, random, count):
    chosen = random.integers(0, len(pool), count)
    return pool[chosen] + step[chosen] * random.random(count, np.float32) if step.any() else pool[chosen]


class Makers:
    """The functions that inputs are made with. Equal texts give equal numbers in every process."""

    def __init__(self, seed):
        self.random = np.random.default_rng(zlib.crc32(seed.encode()))

    def uniform(self, shape, dtype="f32", low=-1.0, high=1.0):
        shape = (shape,) if isinstance(shape, int) else shape
        if numpy_dtype(dtype).kind in "iu":
            return self.integers(shape, dtype, 1, 100)
        if numpy_dtype(dtype).kind == "c":
            return self.repeated(shape, dtype, lambda count: self.random.random(count) + 1j * self.random.random(count) - 0.5)
        return self.repeated(shape, dtype, lambda count: self.random.random(count, np.float32) * (high - low) + low)

    def repeated(self, shape, dtype, make):
        """Large arrays repeat a block of a million random numbers: making more of them would take longer than the measured
        work."""
        result, block = aligned(shape, numpy_dtype(dtype)), 1_000_003
        flat = result.reshape(-1)
        values = make(min(block, flat.size)).astype(flat.dtype)
        for begin in range(0, flat.size, block):
            part = flat[begin : begin + block]
            part[:] = values[: part.size]
        return result

    def integers(self, shape, dtype="i64", low=0, high=100):
        shape = (shape,) if isinstance(shape, int) else shape
        return self.repeated(shape, dtype, lambda count: self.random.integers(low, high, count))

    def positive(self, shape, dtype="f32"):
        return self.uniform(shape, dtype, 0.25, 2.0)

    def flags(self, shape, share=0.5):
        shape = (shape,) if isinstance(shape, int) else shape
        return self.repeated(shape, "bool", lambda count: self.random.random(count, np.float32) < share)

    def permutation(self, n, dtype="i64"):
        return fill((n,), dtype, self.random.permutation(n))

    def unrepeated(self, n, dtype="f32"):
        """Numbers from -1 to 1, as many different ones as the dtype allows."""
        return fill((n,), dtype, self.random.random(n) * 2 - 1)

    def definite(self, n, dtype="f64"):
        a = self.random.standard_normal((n, n))
        return fill((n, n), dtype, a @ a.T / n + np.eye(n))

    def sampled(self, dtype, shape, values, strided):
        """The values of a sample if there are as many, else elements drawn from them; without values, numbers around 0.
        Floats lie anywhere between two neighbours of the sample, so few are equal and none leaves an interval that holds all.
        strided: every second element of a larger array."""
        dtype, count = numpy_dtype(dtype), int(np.prod(shape, dtype=np.int64))
        pool = np.asarray(values) if values else self.random.standard_normal(min(max(count, 1), 1009))
        if dtype.kind in "iub":
            pool = np.where(pool.astype(np.int64) == 0, np.sign(pool), pool).astype(np.int64)  # a divisor stays one
        pool = abs(pool) if dtype.kind == "u" else pool > 0 if dtype.kind == "b" else pool
        made = np.reshape(pool, shape) if len(pool) == count else None
        if made is None:
            pool = np.sort(pool)
            step = np.append(np.diff(pool), 0) if dtype.kind not in "iub" else 0 * pool
            made = self.repeated(shape, dtype.name, lambda count: between(pool, step, self.random, count))
        if not strided:
            return fill(shape, dtype.name, made)
        wide = aligned((*shape[:-1], 2 * shape[-1]), dtype)
        wide[..., ::2] = made
        return wide[..., ::2]

    def numbers(self, value, dtype):
        return fill(np.shape(value), dtype, value)


@functools.lru_cache(maxsize=6)
def make_input(name, text):
    makers = Makers(name + text)
    names = {each: getattr(makers, each) for each in dir(makers) if not each.startswith("_")}
    return eval(text, {"np": np, "empty": lambda shape, dtype: aligned(shape, numpy_dtype(dtype)), **names})


def make_inputs(row):
    return {name: make_input(name, text) for name, text in row.inputs.items()}


@functools.cache
def load(name):
    """The Group of groups/<name>.py."""
    group = importlib.import_module(f"groups.{name}").GROUP
    names = [row.name for row in group.rows]
    assert group.name == name and len(set(names)) == len(names), f"{name}: another name, or two rows of one name"
    return group


def groups():
    """The names of all groups, in the page's order."""
    order = ("dispatch", "elementwise", "reductions", "normalization", "movement", "sorting", "gemm", "convolution",
             "linalg", "recurrent", "models")
    found = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    return [name for name in order if name in found] + sorted(found - set(order))

"""A program that uses nd4c as programs do, for type checkers: test_typing.py runs them on it, and runs it itself. Each
function says by assert_type which types checkers have to find."""
from __future__ import annotations

import os
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

import nd4c
import nd4c.numpy as np
from nd4c import Array, Device, DType
from nd4c.typing import ArrayLike, DTypeLike, ShapeLike

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    def assert_type(value, kind):
        return value


def creation() -> Array:
    x = assert_type(nd4c.asarray([[1, 2], [3, 4]], dtype=nd4c.float32), Array)
    nd4c.asarray(((1.5, 2), [True, 1j]))
    _ = nd4c.zeros((2, 3)), nd4c.ones(4, int), nd4c.full((2, x.ndim), 1.5, dtype="float64"), nd4c.eye(3, k=1)
    _ = nd4c.arange(0, 1, 0.25, dtype=float), nd4c.linspace(0, x.max(), 5), nd4c.empty(x.shape, device="cpu:0")
    assert_type(nd4c.linspace(0, 1, 5, retstep=True), Tuple[Array, Array])
    assert_type(nd4c.meshgrid([1, 2], [3, 4]), Tuple[Array, ...])
    assert_type(np.array(range(3), ndmin=2), Array)
    return x


def attributes(x: Array) -> None:
    assert_type(x.shape, Tuple[int, ...])
    assert_type(x.dtype, DType)
    assert_type(x.device, Device)
    assert_type((x.ndim, x.size, x.nbytes, x.itemsize), Tuple[int, int, int, int])
    assert_type(x.T.mT.real, Array)
    assert_type(x.flags.c_contiguous, bool)
    assert_type(x.dtype == "float32", bool)
    assert_type(nd4c.float32(3), Array)
    assert_type(x.dtype.itemsize + nd4c.iinfo("int8").max, int)
    assert_type(nd4c.finfo(x.dtype).eps, float)
    x.flat[0] = 1


def operators(x: Array) -> Array:
    y = assert_type(2 * x + [1, 2] - x / 3 ** x % 5 // 2, Array)
    y += 1
    y @= nd4c.eye(2)
    mask = assert_type((x > 1) & (x != 2) | ~(x == 3), Array)
    assert_type(x[0, ..., None, ::2], Array)
    x[mask] = 0
    x[0], x[1] = x[1], x[0]
    assert_type(divmod(x, 2), Tuple[Array, Array])
    assert_type((int(x[0, 0]), float(x[0, 0]), bool(x[0, 0] > 1), complex(x[0, 0])), Tuple[int, float, bool, complex])
    return y @ x if len(x) == 2 else -abs(x)


def methods(x: Array) -> List[float]:
    assert_type(x.sum(), Array)
    assert_type(x.mean(axis=0, keepdims=True), Array)
    _ = x.max(axis=(0, 1), initial=0), x.std(ddof=1), x.argmax(1), x.cumsum(axis=0), x.clip(0, 1), x.round(2)
    assert_type(x.reshape(4).reshape((2, -1)).ravel().astype(int).transpose(), Array)
    assert_type(x.nonzero(), Tuple[Array, ...])
    x.sort(axis=0)
    x.fill(3)
    rows: List[List[float]] = x.tolist()
    number: float = x.ravel()[0].item()
    assert_type(x.tobytes(), bytes)
    return [number, *(value for row in rows for value in row)]


def functions(x: Array) -> None:
    assert_type(nd4c.sin(x, out=nd4c.empty_like(x)), Array)
    assert_type(nd4c.add(x, 1, where=x > 0), Array)
    assert_type(nd4c.add.reduce(x, axis=0), Array)
    assert_type(nd4c.maximum.accumulate(x), Array)
    assert_type(nd4c.add.nin, int)
    _ = nd4c.sum(x, axis=0, dtype="float64"), nd4c.concat([x, x], axis=1), nd4c.stack((x, x)), nd4c.clip(x, 0, None)
    assert_type(nd4c.where(x > 1, x, 0), Array)
    assert_type(nd4c.where(x > 1), Tuple[Array, ...])
    assert_type(nd4c.unique_all(x).counts, Array)
    values, counts = nd4c.unique_counts(x)
    assert_type(counts, Array)
    assert_type(nd4c.result_type(x, "int8", 1.5), DType)
    assert_type(nd4c.isdtype(x.dtype, ("integral", "real floating")), bool)


def numpy_chapter(x: Array) -> None:
    assert_type(np.median(x, axis=0), Array)
    assert_type(np.unique(x), Array)
    assert_type(np.unique(x, return_counts=True), Tuple[Array, Array])
    assert_type(np.unique(x, return_index=True, return_inverse=True), Tuple[Array, Array, Array])
    assert_type(np.average(x, weights=[1, 2], axis=0), Array)
    assert_type(np.split(x, 2), List[Array])
    assert_type(np.histogram(x, bins=4), Tuple[Array, Array])
    assert_type(np.allclose(x, x, atol=1e-3), bool)
    assert_type(np.einsum("ij,jk->ik", x, x), Array)
    assert_type(np.r_[1:4, 0], Array)
    assert_type(np.divmod(x, 2), Tuple[Array, Array])
    _ = np.pad(x, 1), np.percentile(x, [25, 50]), np.quantile(x, 0.5), np.cumsum(x), np.vstack([x, x])
    kind: np.dtype = np.dtype("f4")
    assert_type(kind, DType)
    assert isinstance(x, np.ndarray)
    with np.errstate(divide="ignore"), np.printoptions(precision=3):
        assert_type(np.array2string(x), str)
    assert_type(np.poly1d([1, 2]) * 2, np.poly1d)
    assert_type(np.polynomial.Polynomial([1, 2]).deriv().coef, Array)
    assert_type(np.fft.rfft(x), Array)
    assert_type(np.lib.stride_tricks.sliding_window_view(x.ravel(), 2), Array)
    assert issubclass(np.exceptions.AxisError, IndexError)


def linear_algebra(x: Array) -> None:
    u, s, vh = nd4c.linalg.svd(x)
    assert_type(s, Array)
    assert_type(nd4c.linalg.svd(x, compute_uv=False), Array)
    assert_type(nd4c.linalg.qr(x).Q, Array)
    assert_type(nd4c.linalg.eigh(x @ x.T).eigenvalues, Array)
    assert_type(np.linalg.norm(x, ord="fro"), Array)
    _ = nd4c.linalg.solve(x + nd4c.eye(2) * 9, [1.0, 2.0]), nd4c.fft.rfft(x, n=4), nd4c.fft.fftn(x, axes=(0, 1)), u @ vh


def random_numbers(shape: ShapeLike = (2, 3)) -> Array:
    generator = nd4c.random.default_rng(42)
    assert_type(generator, nd4c.random.Generator)
    assert_type(generator.normal(5, 2, size=shape), Array)
    _ = generator.integers(0, 10, 3, endpoint=True), generator.choice([1, 2, 3], 2)
    generator.shuffle(nd4c.arange(3))
    nd4c.random.seed(1)
    np.random.rand(2, 3)
    return nd4c.random.uniform(size=shape, device="cpu:0", dtype="float32")


def devices_and_settings(folder: str) -> Dict[str, int]:
    assert_type(nd4c.devices(), Tuple[Device, ...])
    with nd4c.device("cpu:0") as device, nd4c.workspace("step") as space:
        assert_type(device, Device)
        x = nd4c.ones(3).to_device(device)
        assert_type(x.states, Dict[Device, str])
        space.stats()
    name = "nd4c.memory.origins"
    with nd4c.config({name: True}):
        nd4c.config[name] = False
    with nd4c.tracing() as trace, nd4c.routing("follow_data"):
        _ = x + 1
    path = os.path.join(folder, "a.npy")
    nd4c.save(path, x)
    assert_type(nd4c.explain(nd4c.add, x, 1), str)
    loaded: Array = nd4c.load(path)
    try:
        loaded.reshape(7)
    except nd4c.errors.ShapeError as error:
        assert_type(error.status_name, "str | None")
    assert nd4c.memory.stats()["live_count"] > 0
    return trace.totals()


def model(path: str, images: ArrayLike) -> Dict[str, Any]:
    network = nd4c.onnx.load(path, device="cpu:0")
    assert_type(network.inputs[0].name, str)
    calibration = nd4c.onnx.calibrate(network, [images], float32="conv", layers=True)
    assert_type(calibration.layers[0].name, str)
    assert_type(calibration.layers[0].decibels, float)
    assert_type(network.runner().model, nd4c.onnx.Model)
    network(images)
    with network.profile():
        network(images)
    assert_type(network.steps[0].nanoseconds, int)
    assert_type(network.explain({"image": (1, 1, 8, 8)}), str)
    recorded = nd4c.Graph()
    recorded.output("y", nd4c.exp(recorded.input("x", "float32", (2,))))
    assert_type(recorded.plan().runner().plan, nd4c.graph.Plan)
    session = nd4c.onnx.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert_type(session.get_inputs()[0].name, str)
    (first,) = session.run(None, {"image": images})
    (value,) = session.run_with_ort_values(None, {"image": nd4c.onnx.OrtValue.ortvalue_from_numpy(images)})
    assert_type(value, nd4c.onnx.OrtValue)
    done = threading.Event()
    session.run_async(None, {"image": images}, lambda results, event, error: event.set(), done)
    done.wait(60)
    logits = nd4c.asarray(first)
    x, kernel = nd4c.ones((1, 1, 3)), nd4c.ones((1, 1, 2))
    _ = nd4c.nn.softmax(logits, axis=-1), nd4c.ops.conv(x, kernel, auto_pad="same_upper")
    _ = nd4c.top_k(logits, 2), nd4c.relu(logits)
    return network.run({"image": images})


def scaled(x: ArrayLike, dtype: DTypeLike = "float32") -> Array:
    """What a user's own annotated function looks like."""
    return nd4c.asarray(x, dtype=dtype) * 2


def main(folder: str) -> None:
    x = creation()
    attributes(x)
    operators(creation())
    methods(creation())
    functions(x)
    numpy_chapter(x)
    linear_algebra(x)
    random_numbers()
    _ = scaled([1, (2.5, 3)[0]], float), scaled(x, nd4c.int8)
    model(os.path.join(folder, "digits.onnx"), nd4c.load(os.path.join(folder, "digits_images.npy"))[:2])
    with tempfile.TemporaryDirectory() as temporary:
        devices_and_settings(temporary)


if __name__ == "__main__":
    main(sys.argv[1])

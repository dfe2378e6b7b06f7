#!/usr/bin/env python3
"""Trains the small CNN of this example on scikit-learn's bundled handwritten digits, with NumPy alone.

Writes beside itself digits.onnx, digits_images.npy and digits_labels.npy (the 360 held-out images), and with
--logits FILE what ONNX Runtime computes from them, which the tests compare with.

Needs numpy, scikit-learn, onnx; onnxruntime for --logits. The files are kept in the repository, so you do not have to run
this to use the example.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 7
EPOCHS = 30
BATCH = 32
CHANNELS = (8, 16)
HIDDEN = 32


def load():
    images, labels = load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    return train_test_split(images, labels.astype(np.int64), test_size=360, random_state=SEED, stratify=labels)


def windows(x):
    """Every 3x3 window of x padded by one: [n, c, h, w] -> [n, h, w, c * 9]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = x.shape
    return view.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def conv(x, weight, bias):
    columns = windows(x)
    y = columns @ weight.reshape(weight.shape[0], -1).T + bias
    return y.transpose(0, 3, 1, 2), columns


def conv_gradient(columns, weight, dy):
    """Gradients of conv's weight, bias and input."""
    rows = dy.transpose(0, 2, 3, 1)
    n, h, w, o = rows.shape
    d_weight = (rows.reshape(-1, o).T @ columns.reshape(n * h * w, -1)).reshape(weight.shape)
    d_columns = (rows @ weight.reshape(o, -1)).reshape(n, h, w, weight.shape[1], 3, 3)
    dx = np.zeros((n, weight.shape[1], h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            dx[:, :, i : i + h, j : j + w] += d_columns[..., i, j].transpose(0, 3, 1, 2)
    return d_weight, rows.sum((0, 1, 2)), dx[:, :, 1:-1, 1:-1]


def pool(x):
    """2x2 maxima, and which cells won (ties share)."""
    n, c, h, w = x.shape
    cells = x.reshape(n, c, h // 2, 2, w // 2, 2)
    y = cells.max((3, 5))
    won = cells == y[:, :, :, None, :, None]
    return y, won / won.sum((3, 5), keepdims=True, dtype=np.float32)


def forward(p, x):
    a1, columns1 = conv(x, p["conv1.weight"], p["conv1.bias"])
    h1 = np.maximum(a1, 0)
    a2, columns2 = conv(h1, p["conv2.weight"], p["conv2.bias"])
    h2 = np.maximum(a2, 0)
    pooled, share = pool(h2)
    flat = pooled.reshape(len(x), -1)
    a3 = flat @ p["fc1.weight"].T + p["fc1.bias"]
    h3 = np.maximum(a3, 0)
    logits = h3 @ p["fc2.weight"].T + p["fc2.bias"]
    return logits, (a1, columns1, a2, columns2, pooled, share, flat, a3, h3)


def gradients(p, x, labels, smoothing=0.05):
    logits, (a1, columns1, a2, columns2, pooled, share, flat, a3, h3) = forward(p, x)
    e = np.exp(logits - logits.max(1, keepdims=True))
    wanted = np.full(logits.shape, smoothing / 10, np.float32)
    wanted[np.arange(len(x)), labels] += 1 - smoothing
    d = (e / e.sum(1, keepdims=True) - wanted) / len(x)
    g = {"fc2.weight": d.T @ h3, "fc2.bias": d.sum(0)}
    d = (d @ p["fc2.weight"]) * (a3 > 0)
    g["fc1.weight"], g["fc1.bias"] = d.T @ flat, d.sum(0)
    d = (d @ p["fc1.weight"]).reshape(pooled.shape)
    n, c, h, w = a2.shape
    d = (d[:, :, :, None, :, None] * share).reshape(n, c, h, w) * (a2 > 0)
    g["conv2.weight"], g["conv2.bias"], d = conv_gradient(columns2, p["conv2.weight"], d)
    g["conv1.weight"], g["conv1.bias"], _ = conv_gradient(columns1, p["conv1.weight"], d * (a1 > 0))
    return g


def shifted(x, generator):
    """Each image moved by at most one cell: the one augmentation that these 8x8 pictures bear."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    offsets = generator.choice(3, size=(len(x), 2), p=(0.2, 0.6, 0.2))
    return np.stack([image[:, i : i + 8, j : j + 8] for image, (i, j) in zip(padded, offsets)])


def train(images, labels):
    generator = np.random.default_rng(SEED)

    def he(*shape):
        return (generator.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    c1, c2 = CHANNELS
    p = {
        "conv1.weight": he(c1, 1, 3, 3), "conv1.bias": np.zeros(c1, np.float32),
        "conv2.weight": he(c2, c1, 3, 3), "conv2.bias": np.zeros(c2, np.float32),
        "fc1.weight": he(HIDDEN, c2 * 16), "fc1.bias": np.zeros(HIDDEN, np.float32),
        "fc2.weight": he(10, HIDDEN), "fc2.bias": np.zeros(10, np.float32),
    }
    first = {name: np.zeros_like(value) for name, value in p.items()}
    second = {name: np.zeros_like(value) for name, value in p.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = generator.permutation(len(images))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            step += 1
            for name, g in gradients(p, shifted(images[chosen], generator), labels[chosen]).items():
                first[name] += 0.1 * (g - first[name])
                second[name] += 0.001 * (g * g - second[name])
                p[name] -= (rate * (first[name] / (1 - 0.9**step)) /
                            (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)).astype(np.float32)
        if epoch % 10 == 9:
            right = (forward(p, images)[0].argmax(1) == labels).mean()
            print(f"epoch {epoch + 1}: {100 * right:.2f} % of the training images")
    return p


def to_onnx(p):
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["a1"], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("Relu", ["a1"], ["h1"]),
        helper.make_node("Conv", ["h1", "conv2.weight", "conv2.bias"], ["a2"], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("Relu", ["a2"], ["h2"]),
        helper.make_node("MaxPool", ["h2"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "fc1.weight", "fc1.bias"], ["a3"], transB=1),
        helper.make_node("Relu", ["a3"], ["h3"]),
        helper.make_node("Gemm", ["h3", "fc2.weight", "fc2.bias"], ["logits"], transB=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(value, name) for name, value in p.items()])
    model = helper.make_model(graph, producer_name="nd4c examples/digits", ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--logits", help="where to write ONNX Runtime's logits of the held-out images (.npy)")
    options = arguments.parse_args()
    train_images, test_images, train_labels, test_labels = load()
    parameters = train(train_images, train_labels)
    accuracy = (forward(parameters, test_images)[0].argmax(1) == test_labels).mean()
    print(f"held out: {100 * accuracy:.1f} % of {len(test_labels)}")
    if accuracy < 0.98:
        raise SystemExit("the network is worse than it should be: at least 98 % were expected")
    here = pathlib.Path(__file__).resolve().parent
    model = to_onnx(parameters)
    onnx.save(model, here / "digits.onnx")
    np.save(here / "digits_images.npy", test_images)
    np.save(here / "digits_labels.npy", test_labels.astype(np.uint8))
    if options.logits:
        import onnxruntime

        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        np.save(options.logits, session.run(None, {"image": test_images})[0])


if __name__ == "__main__":
    main()

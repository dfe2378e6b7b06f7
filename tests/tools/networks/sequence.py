"""Transformers, a recurrent tagger and trees. `d` has batch and length."""

import numpy as np
from onnx import TensorProto, helper


def heads_of(b, x, length, heads, size):
    """[1, length, heads * size] as [1, heads, length, size]."""
    return b.transpose(b.reshape(x, 1, length, heads, size), 0, 2, 1, 3)


def attend(b, q, k, v, size, mask=None):
    """softmax(q k^T / sqrt(size)) v, in the spelling of PyTorch's export: both operands are scaled by the fourth root."""
    scale = b.constant(float(size) ** -0.25)
    scores = b.op("MatMul", b.op("Mul", q, scale), b.op("Mul", b.transpose(k, 0, 1, 3, 2), scale))
    if mask is not None:
        scores = b.op("Add", scores, mask)
    return b.op("MatMul", b.op("Softmax", scores, axis=-1), v)


def joined(b, x, length, width):
    return b.reshape(b.transpose(x, 0, 2, 1, 3), 1, length, width)


# -- ViT ---------------------------------------------------------------------------------------------------------------

def packed_attention(b, x, length, width, heads):
    """Queries, keys and values from one product, taken apart by Gather, as torchvision's export does. x: [1, length, width]."""
    size = width // heads
    qkv = b.reshape(b.linear(b.transpose(x, 1, 0, 2), width, 3 * width), length, 1, 3, width)
    qkv = b.op("Squeeze", b.transpose(b.op("Unsqueeze", qkv, b.integers(0)), 3, 1, 2, 0, 4), b.integers(3))
    parts = []
    for k in range(3):
        part = b.op("Gather", qkv, b.constant(k, np.int64), axis=0)
        part = b.transpose(b.reshape(part, length, heads, size), 1, 0, 2)
        parts.append(b.reshape(part, 1, heads, length, size))
    y = b.reshape(b.transpose(attend(b, *parts, size), 2, 0, 1, 3), length, width)
    return b.transpose(b.reshape(b.linear(y, width, width, gain=0.5), length, 1, width), 1, 0, 2)


def vit_b_16(b, d, layers=12, width=768, heads=12, patch=16):
    side = d.side // patch
    length = side * side + 1
    x = b.input("image", [1, 3, d.side, d.side])
    w = b.normal((width, 3, patch, patch), np.sqrt(1 / (3 * patch * patch)))
    x = b.op("Conv", x, w, b.normal((width,), 0.02), kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = b.transpose(b.reshape(x, 1, width, side * side), 0, 2, 1)
    x = b.op("Add", b.op("Concat", b.normal((1, 1, width), 0.02), x, axis=1), b.normal((1, length, width), 0.02))
    for _ in range(layers):
        y = packed_attention(b, b.layer_norm(x, width), length, width, heads)
        x = b.op("Add", y, x)
        y = b.linear(b.gelu(b.linear(b.layer_norm(x, width), width, 4 * width)), 4 * width, width, gain=0.5)
        x = b.op("Add", x, y)
    first = b.op("Gather", b.layer_norm(x, width), b.constant(0, np.int64), axis=1)
    w, bias = b.normal((1000, width), 1 / np.sqrt(width)), b.normal((1000,), 0.02)
    b.output(b.op("Gemm", first, w, bias, transB=1), "logits")


# -- Whisper's encoder -------------------------------------------------------------------------------------------------

def whisper(b, d, layers=4, width=384, heads=6):
    frames = d.length
    x = b.input("mel", [1, 80, 2 * frames])
    for taken, stride in ((80, 1), (width, 2)):
        w = b.normal((width, taken, 3), np.sqrt(2 / (3 * taken)))
        x = b.gelu(b.op("Conv", x, w, b.normal((width,), 0.02), kernel_shape=[3], strides=[stride], pads=[1, 1]))
    x = b.op("Add", b.transpose(x, 0, 2, 1), b.normal((frames, width), 0.1))
    for _ in range(layers):
        y = b.layer_norm(x, width)
        q, k, v = (heads_of(b, b.linear(y, width, width, bias=bias), frames, heads, width // heads)
                   for bias in (True, False, True))
        y = joined(b, attend(b, q, k, v, width // heads), frames, width)
        x = b.op("Add", x, b.linear(y, width, width, gain=0.5))
        y = b.linear(b.gelu(b.linear(b.layer_norm(x, width), width, 4 * width)), 4 * width, width, gain=0.5)
        x = b.op("Add", x, y)
    b.output(b.layer_norm(x, width), "states")


# -- a decoder like Llama's --------------------------------------------------------------------------------------------

def rotated(b, x, cosine, sine, size):
    """x * cos + rotate_half(x) * sin."""
    half = b.op("Concat", b.op("Neg", b.slice(x, size // 2, 2**31 - 1, -1)), b.slice(x, 0, size // 2, -1), axis=-1)
    return b.op("Add", b.op("Mul", x, cosine), b.op("Mul", half, sine))


def repeated(b, x, groups, heads, length, size):
    """Each head of keys or values for several heads of queries."""
    if groups == 1:
        return x
    x = b.op("Expand", b.op("Unsqueeze", x, b.integers(2)), b.integers(1, heads, groups, length, size))
    return b.reshape(x, 1, heads * groups, length, size)


def decoder(b, d, past, layers=8, width=512, heads=8, shared=4, inner=1408, words=8192):
    """`past` positions are in the cache, d.length new ones are computed; gives logits and the grown cache."""
    new, total, size = d.length, past + d.length, width // heads
    tokens = b.input("tokens", [1, new], TensorProto.INT64, words)
    mask = np.triu(np.full((new, total), np.finfo(np.float32).min, np.float32), 1 + past)
    mask = b.constant(mask[None, None])
    angles = np.outer(np.arange(past, total), 10000.0 ** (-np.arange(0, size, 2) / size))
    angles = np.concatenate([angles, angles], 1)[None, None]
    cosine, sine = b.constant(np.cos(angles)), b.constant(np.sin(angles))
    x = b.op("Gather", b.normal((words, width), 1.0), tokens)
    for layer in range(layers):
        y = b.rms_norm(x, width)
        q = rotated(b, heads_of(b, b.linear(y, width, width, bias=False), new, heads, size), cosine, sine, size)
        k = heads_of(b, b.linear(y, width, shared * size, bias=False), new, shared, size)
        k, v = rotated(b, k, cosine, sine, size), heads_of(b, b.linear(y, width, shared * size, bias=False), new, shared, size)
        if past:
            k, v = (b.op("Concat", b.input(f"{what}{layer}", [1, shared, past, size]), part, axis=2)
                    for what, part in (("keys", k), ("values", v)))
        b.output(k, f"new_keys{layer}")
        b.output(v, f"new_values{layer}")
        k, v = (repeated(b, part, heads // shared, shared, total, size) for part in (k, v))
        x = b.op("Add", x, b.linear(joined(b, attend(b, q, k, v, size, mask), new, width), width, width, 0.5, False))
        y = b.rms_norm(x, width)
        gate = b.silu(b.linear(y, width, inner, bias=False))
        y = b.op("Mul", gate, b.linear(y, width, inner, bias=False))
        x = b.op("Add", x, b.linear(y, inner, width, 0.5, False))
    b.output(b.linear(b.rms_norm(x, width), width, words, bias=False), "logits")


def llama_prefill(b, d):
    decoder(b, d, 0)


def llama_decode(b, d):
    decoder(b, d, 128)


# -- a recurrent tagger ------------------------------------------------------------------------------------------------

def lstm_tagger(b, d, width=128, hidden=256, tags=20, words=10000):
    tokens = b.input("tokens", [d.length, d.batch], TensorProto.INT64, words)
    x, taken = b.op("Gather", b.normal((words, width), 1.0), tokens), width
    for _ in range(2):
        w, r = (b.normal((2, 4 * hidden, count), 1 / np.sqrt(count)) for count in (taken, hidden))
        y, _, _ = b.op("LSTM", x, w, r, b.normal((2, 8 * hidden), 0.02), count=3, hidden_size=hidden,
                       direction="bidirectional")
        x, taken = b.reshape(b.transpose(y, 0, 2, 1, 3), d.length, d.batch, 2 * hidden), 2 * hidden
    b.output(b.op("LogSoftmax", b.linear(x, taken, tags), axis=-1), "tags")


# -- trees -------------------------------------------------------------------------------------------------------------

def trees(b, d, count=100, depth=6, features=30):
    """A regressor of `count` complete trees, as XGBoost's converter writes it."""
    b.domains.append(helper.make_opsetid("ai.onnx.ml", 3))
    inner, whole = 2**depth - 1, 2 ** (depth + 1) - 1
    node, leaf = np.arange(whole), np.arange(inner, whole)
    branch = node < inner
    repeat = lambda values: np.tile(values, count).tolist()
    x = b.input("rows", [d.batch, features])
    y = b.op("TreeEnsembleRegressor", x, domain="ai.onnx.ml", n_targets=1,
             nodes_treeids=np.repeat(np.arange(count), whole).tolist(), nodes_nodeids=repeat(node),
             nodes_featureids=b.random.integers(0, features, count * whole).tolist(),
             nodes_values=b.random.standard_normal(count * whole).astype(np.float32).tolist(),
             nodes_modes=repeat(np.where(branch, "BRANCH_LT", "LEAF")),
             nodes_truenodeids=repeat(np.where(branch, 2 * node + 1, 0)),
             nodes_falsenodeids=repeat(np.where(branch, 2 * node + 2, 0)),
             target_treeids=np.repeat(np.arange(count), leaf.size).tolist(), target_nodeids=repeat(leaf),
             target_ids=[0] * (count * leaf.size),
             target_weights=(b.random.standard_normal(count * leaf.size) / 10).astype(np.float32).tolist())
    b.output(y, "prediction")

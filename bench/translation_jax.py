"""JAX as translation.py's makers see it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

constant_text = "constants['{}']"  # a tree of arrays, which is an argument of the compiled function

sqrt, erf, relu, sigmoid, tanh = jnp.sqrt, lax.erf, jax.nn.relu, jax.nn.sigmoid, jnp.tanh
hard_swish, hard_sigmoid = jax.nn.hard_swish, jax.nn.hard_sigmoid
softmax, log_softmax, concat, transpose = jax.nn.softmax, jax.nn.log_softmax, jnp.concatenate, jnp.transpose
unsqueeze, expand, clip, array, numpy = jnp.expand_dims, jnp.broadcast_to, jnp.clip, jnp.asarray, np.asarray


def cast(x, dtype):
    return x.astype(dtype)


def squeeze(x, axes):
    return jnp.squeeze(x, tuple(axes))


def mean(x, axes, keep):
    return jnp.mean(x, tuple(axes), keepdims=keep)


def gather(x, indices, axis):
    return jnp.take(x, indices, axis)


def gemm(a, b, c, ta, tb):
    y = (a.T if ta else a) @ (b.T if tb else b)
    return y if c is None else y + c


def layer_norm(x, scale, shift, epsilon):
    centred = x - x.mean(-1, keepdims=True)
    y = centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + epsilon) * scale
    return y if shift is None else y + shift


def channels(x, rank):
    """A row of channels beside [n, c, ...]."""
    return x.reshape((-1,) + (1,) * (rank - 2))


def batch_norm(x, scale, shift, mean, variance, epsilon):
    factor = scale * lax.rsqrt(variance + epsilon)
    return x * channels(factor, x.ndim) + channels(shift - mean * factor, x.ndim)


def response_norm(x, size, alpha, beta, bias):
    pads = [(0, 0), (size // 2, size // 2)] + [(0, 0)] * (x.ndim - 2)
    total = lax.reduce_window(x * x, 0.0, lax.add, (1, size) + (1,) * (x.ndim - 2), (1,) * x.ndim, pads)
    return x / (bias + alpha / size * total) ** beta


def enlarge(x, scales):
    for axis, scale in enumerate(scales, 2):
        x = jnp.repeat(x, scale, axis)
    return x


# -- windows ----------------------------------------------------------------------------------------------------------


def biased(y, bias):
    return y if bias is None else y + channels(bias, y.ndim)


def conv(x, w, bias, window, groups):
    order = lax.conv_dimension_numbers(x.shape, w.shape, ("NCHW", "OIHW", "NCHW") if x.ndim == 4 else ("NCH", "OIH", "NCH"))
    y = lax.conv_general_dilated(x, w, window.stride, list(zip(window.begin, window.end)), None, window.dilation, order, groups)
    return biased(y, bias)


def conv_transpose(x, w, bias, window):
    axes = tuple(range(2, x.ndim))
    reach = [d * (n - 1) for d, n in zip(window.dilation, window.size)]
    pads = [(n - begin, n - end) for n, begin, end in zip(reach, window.begin, window.end)]
    turned = jnp.flip(jnp.swapaxes(w, 0, 1), axes)
    y = lax.conv_general_dilated(x, turned, (1,) * len(axes), pads, window.stride, window.dilation)
    return biased(y, bias)


def pool(x, window, start, function):
    pads = [(0, 0), (0, 0), *zip(window.begin, window.end)]
    return lax.reduce_window(x, start, function, (1, 1, *window.size), (1, 1, *window.stride), pads,
                             window_dilation=(1, 1, *window.dilation))


def max_pool(x, window):
    return pool(x, window, -jnp.inf, lax.max)


def average_pool(x, window, count_padding):
    total = pool(x, window, 0.0, lax.add)
    return total / (np.prod(window.size) if count_padding else pool(jnp.ones_like(x), window, 0.0, lax.add))


# -- recurrent --------------------------------------------------------------------------------------------------------


def lstm(w, r, *biases):
    """Weights [directions, 4 hidden, ...]; the result as ONNX has it. The inputs' products are one, as people write it."""
    hidden = r.shape[2]

    def direction(x, k):
        given = x @ w[k].T + (biases[0][k] + biases[1][k])

        def step(state, now):
            h, c = state
            i, f, g, o = jnp.split(now + h @ r[k].T, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], hidden), x.dtype)
        return lax.scan(step, (zero, zero), given, reverse=k == 1)[1]

    return lambda x: jnp.stack([direction(x, k) for k in range(len(w))], 1)

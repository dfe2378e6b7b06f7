"""PyTorch as translation.py's makers see it."""

import numpy as np
import torch
import torch.nn.functional as F

constant_text = "constants.{}"  # buffers of a module

sqrt, erf, relu, sigmoid, tanh = torch.sqrt, torch.erf, torch.relu, torch.sigmoid, torch.tanh
hard_swish, hard_sigmoid = F.hardswish, F.hardsigmoid
softmax, log_softmax, concat, transpose = torch.softmax, torch.log_softmax, torch.cat, torch.permute
unsqueeze, expand, clip = torch.unsqueeze, torch.broadcast_to, torch.clamp


def array(value):
    return torch.from_numpy(np.array(value))


def numpy(tensor):
    return tensor.numpy()


def cast(x, dtype):
    return x.to(getattr(torch, np.dtype(dtype).name))


def squeeze(x, axes):
    return torch.squeeze(x, tuple(axes))


def mean(x, axes, keep):
    return torch.mean(x, axes, keepdim=keep)


def gather(x, indices, axis):
    if axis == 0:
        return F.embedding(indices, x) if x.dim() == 2 else x[indices]
    return torch.index_select(x, axis, indices.reshape(-1)).reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])


def gemm(a, b, c, ta, tb):
    a = a.t() if ta else a
    return F.linear(a, b if tb else b.t(), c)


def layer_norm(x, scale, shift, epsilon):
    return F.layer_norm(x, scale.shape, scale, shift, epsilon)


def batch_norm(x, scale, shift, mean, variance, epsilon):
    return F.batch_norm(x, mean, variance, scale, shift, False, 0.0, epsilon)


def response_norm(x, size, alpha, beta, bias):
    return F.local_response_norm(x, size, alpha, beta, bias)


def enlarge(x, scales):
    return F.interpolate(x, scale_factor=[float(each) for each in scales], mode="nearest")


# -- windows ----------------------------------------------------------------------------------------------------------


def padded(x, window, value, most=None):
    """x with what the library's own padding, which has two equal sides (and a limit for pools), cannot express; and that."""
    if window.begin == window.end and (most is None or all(map(lambda p, n: p <= n // 2, window.begin, window.size))):
        return x, window.begin
    sides = [side for pair in reversed(list(zip(window.begin, window.end))) for side in pair]
    return F.pad(x, sides, value=value), [0] * len(window.size)


CONV = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
CONV_TRANSPOSE = {1: torch.conv_transpose1d, 2: torch.conv_transpose2d, 3: torch.conv_transpose3d}
MAX_POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVERAGE_POOL = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def conv(x, w, bias, window, groups):
    x, padding = padded(x, window, 0.0)
    return CONV[len(window.size)](x, w, bias, window.stride, padding, window.dilation, groups)


def conv_transpose(x, w, bias, window):
    if window.begin != window.end:
        raise ValueError("ConvTranspose: padding on one side")
    return CONV_TRANSPOSE[len(window.size)](x, w, bias, window.stride, window.begin, 0, 1, window.dilation)


def max_pool(x, window):
    x, padding = padded(x, window, float("-inf"), most=True)
    return MAX_POOL[len(window.size)](x, window.size, window.stride, padding, window.dilation)


def average_pool(x, window, count_padding):
    if count_padding:
        x, padding = padded(x, window, 0.0, most=True)
    elif window.begin == window.end:
        padding = window.begin
    else:
        inside = average_pool(torch.ones_like(x), window, True)
        return average_pool(x, window, True) / inside
    return AVERAGE_POOL[len(window.size)](x, window.size, window.stride, padding, False, count_padding)


# -- recurrent --------------------------------------------------------------------------------------------------------


def lstm(w, r, *biases):
    """The layer of torch.nn with these weights, [directions, 4 hidden, ...]; the result as ONNX has it."""
    directions, hidden = len(w), r.shape[2]
    layer = torch.nn.LSTM(w.shape[2], hidden, bidirectional=directions == 2)
    with torch.no_grad():
        for k, end in enumerate(("", "_reverse")[:directions]):
            for name, value in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), (w, r, *biases)):
                getattr(layer, f"{name}_l0{end}").copy_(array(value[k]))
    layer.requires_grad_(False)

    def function(x):
        y, _ = layer(x)
        return y.reshape(*x.shape[:2], directions, hidden).transpose(1, 2)

    return function

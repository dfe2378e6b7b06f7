"""Normalisations, norms that clip, biases, hardmax."""
import numpy as np
from scipy import special as functions

from framework import NUMPY, Case, Refusal, cases, refusals
from network import double, near, repeat_first, sigmoid, special, ulps_of

SHAPES = [(2, 4, 5), (2, 4, 3, 2), (1, 4, 1, 2, 3), (0, 4, 2), (3, 4)]


def normalized(X, axes, epsilon, rms=False):
    """Also gives the magnitude of the subtrahend, in units of the result."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.zeros_like(X.sum(axis=axes, keepdims=True)) if rms else X.mean(axis=axes, keepdims=True)
        variance = ((X - mean) ** 2).mean(axis=axes, keepdims=True)
        below = np.sqrt(variance + epsilon)
        return (X - mean) / below, (abs(X) + abs(mean)) / below, mean, below


def by_channel(v, X):
    return v.reshape(1, -1, *[1] * (X.ndim - 2))


def affine(y, scale, s, b):
    if s is not None:
        y, scale = y * s, scale * abs(s)
    if b is not None:
        y, scale = y + b, scale + abs(b)
    return y, scale


@cases("instance_norm", "group_norm")
def channel_norms(s, dtype, op):
    for number, shape in enumerate(SHAPES):
        if op == "instance_norm" and len(shape) == 2:
            continue
        for groups in ((1, 2, 4) if op == "group_norm" else (shape[1],)):
            x = repeat_first(s.small(dtype, shape)) if number == 1 else s.small(dtype, shape)
            w = s.small(dtype, (4,)) if number % 2 == 0 else None
            b = s.small(dtype, (4,)) if number != 1 else None
            epsilon = 1e-5 if number < 3 else 0.5
            X = double(x).reshape(shape[0], groups, int(np.prod(shape[1:])) // groups)
            y, scale, _, _ = normalized(X, (2,), np.longdouble(epsilon))
            y, scale = y.reshape(shape), scale.reshape(shape)
            y, scale = affine(y, scale, None if w is None else by_channel(double(w), y),
                              None if b is None else by_channel(double(b), y))
            attrs = {} if epsilon == 1e-5 else {"epsilon": epsilon}
            if op == "group_norm" and groups > 1:
                attrs["groups"] = groups
            yield Case([x, w, b], attrs, [near(y, dtype, scale)], ulps_of(dtype, 64))


@refusals("instance_norm", "group_norm")
def channel_norm_refusals(s, op):
    x = s.small("float32", (2, 4, 3))
    yield Refusal([x, s.small("float32", (3,))], {}, "SHAPE", "expected (4,), one value a channel")
    yield Refusal([x, s.small("float64", (4,))], {}, "DTYPE", "expected float32")
    yield Refusal([s.small("float32", (4,))], {}, "SHAPE", "at least 2 axes")
    if op == "group_norm":
        yield Refusal([x], {"groups": 3}, "SHAPE", "groups is 3")
        yield Refusal([x], {"groups": 0}, "ARGUMENT", "groups is 0")


def trailing(shape, axis):
    axis = axis % len(shape)
    return axis, tuple(range(axis, len(shape)))


@cases("rms_norm", "layer_norm_with_statistics")
def trailing_norms(s, dtype, op):
    for number, (shape, axis, wide_scale) in enumerate([((3, 5), -1, True), ((2, 3, 4), 1, True), ((2, 3, 4), -3, False),
                                                        ((6,), 0, True), ((0, 3), -1, True), ((2, 2, 33), -1, False), ((3, 0), -1, True)]):
        x = repeat_first(s.small(dtype, shape)) if number == 1 else s.small(dtype, shape)
        axis, axes = trailing(shape, axis)
        w = s.small(dtype, shape[axis:] if wide_scale else shape[-1:]) if number != 3 else None
        epsilon = 1e-5 if number != 2 else 0.25
        y, scale, mean, below = normalized(double(x), axes, np.longdouble(epsilon), op == "rms_norm")
        attrs = {"axis": axis - len(shape)} if number % 2 else {"axis": axis}
        if epsilon != 1e-5:
            attrs["epsilon"] = epsilon
        if op == "rms_norm":
            y, scale = affine(y, scale, double(w), None)
            yield Case([x, w], attrs, [near(y, dtype, scale)], ulps_of(dtype))
            continue
        b = s.small(dtype, shape[-1:]) if number % 2 == 0 else None
        y, scale = affine(y, scale, double(w), double(b))
        kind = ["float32", "float64", "bfloat16", "float16"][number % 4]
        if kind != "float32":
            attrs["dtype"] = kind
        size = abs(double(x)).max(initial=0)
        yield Case([x, w, b], attrs, [near(y, dtype, scale), near(mean, kind, size), near(1 / below, kind)],
                   max(ulps_of(dtype, 64), ulps_of(kind, 64)))


@refusals("rms_norm", "layer_norm_with_statistics")
def trailing_norm_refusals(s, op):
    x = s.small("float32", (2, 3))
    yield Refusal([x], {"axis": 2}, "INDEX", "axis 2 is out of range")
    yield Refusal([x, s.small("float32", (2,))], {}, "SHAPE", "the normalised axes")
    yield Refusal([x, s.small("float16", (3,))], {}, "DTYPE", "expected float32")
    if op != "rms_norm":
        yield Refusal([x], {"dtype": "int32"}, "DTYPE", "expected a floating one")


@cases("skip_layer_norm")
def skip_layer_norm(s, dtype):
    for number, shape in enumerate([(2, 3, 4), (3, 5), (7,), (0, 4), (2, 2, 17)]):
        x = repeat_first(s.small(dtype, shape)) if number == 1 else s.small(dtype, shape)
        skip = s.small(dtype, shape if number != 1 else shape[-1:])
        w, b, a = [s.small(dtype, shape[-1:]) if number % k == 0 else None for k in (1, 2, 3)]
        total = double(x) + double(skip) + (0 if a is None else double(a))
        size = abs(double(x)) + abs(double(skip)) + (0 if a is None else abs(double(a)))
        rms = number % 2 == 1
        y, scale, _, below = normalized(total, (total.ndim - 1,), np.longdouble(1e-5), rms)
        scale = scale + size / below
        y, scale = affine(y, scale, double(w), double(b))
        yield Case([x, skip, w, b, a], {"rms": True} if rms else {}, [near(y, dtype, scale), near(total, dtype, size)],
                   ulps_of(dtype, 64))


@refusals("skip_layer_norm")
def skip_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, s.small("float32", (3, 3))], {}, "SHAPE", "input skip")
    yield Refusal([x, x, s.small("float32", (2,))], {}, "SHAPE", "the last axis")
    yield Refusal([s.small("float32", ()), s.small("float32", ())], {}, "SHAPE", "at least 1 axis")


@cases("lp_normalize")
def lp_normalize(s, dtype):
    for shape, axis, p, epsilon in [((3, 4), -1, 2.0, 0), ((3, 4), 0, 1.0, 0), ((2, 3, 4), 1, 3.0, 0), ((5,), 0, 2.0, 8.0),
                                    ((0, 3), 1, 2.0, 0), ((3, 0), 1, 2.0, 0), ((2, 3), 1, 2.5, 0)]:
        x = s.small(dtype, shape)
        if shape == (3, 4):
            x[0] = 0
        X, P = double(x), np.longdouble(p)
        norm = np.maximum((abs(X) ** P).sum(axis=axis, keepdims=True) ** (1 / P), epsilon)
        y = np.where(norm == 0, 0, X / np.where(norm == 0, 1, norm))
        attrs = {"axis": axis, "p": p}
        if epsilon:
            attrs["epsilon"] = epsilon
        yield Case([x], attrs, [near(y, dtype)], ulps_of(dtype))
    for x, p in far_numbers(s, dtype):
        norm = (abs(double(x)) ** np.longdouble(p)).sum(axis=1, keepdims=True) ** (1 / np.longdouble(p))
        yield Case([x], {"axis": 1, "p": p}, [near(double(x) / norm, dtype)], ulps_of(dtype, 64))


def far_numbers(s, dtype):
    """Rows whose sum of powers a double cannot hold, too large or too small, beside one that it can."""
    if dtype in ("float32", "float64"):
        x = s.positive(dtype, (3, 5))
        for far, p in [(1e200, 2.0), (1e-200, 2.0), (1e150, 3.0)] if dtype == "float64" else [(1e33, 10.0), (1e-33, 10.0)]:
            yield x * np.array([[far], [1], [1 / far]]).astype(x.dtype), p


@refusals("lp_normalize")
def lp_normalize_refusals(s):
    yield Refusal([s.small("float32", (2, 3))], {"axis": 2}, "INDEX", "axis 2")
    yield Refusal([s.small("float32", (2, 3))], {"p": 0.0}, "ARGUMENT", "p is 0")
    yield Refusal([s.small("float32", ())], {}, "INDEX", "there is no axis")


@cases("standardize")
def standardize(s, dtype):
    for shape, axes, epsilon in [((3, 4), [], 0), ((2, 3, 4), [0, 2], 1e-9), ((2, 3, 4), [-1], 0.5), ((2, 3, 2, 2), [0, 2, 3], 1e-9),
                                 ((6,), [0], 0), ((0, 3), [1], 0)]:
        x = repeat_first(s.small(dtype, shape)) if epsilon == 0.5 else s.small(dtype, shape)
        X = double(x)
        chosen = tuple(a % X.ndim for a in axes) or tuple(range(X.ndim))
        mean = X.mean(axis=chosen, keepdims=True) if X.size else X
        deviation = np.sqrt(((X - mean) ** 2).mean(axis=chosen, keepdims=True)) if X.size else X
        below = deviation + np.longdouble(epsilon)
        attrs = {"axes": axes}
        if epsilon:
            attrs["epsilon"] = epsilon
        yield Case([x], attrs, [near((X - mean) / below, dtype, (abs(X) + abs(mean)) / below)], ulps_of(dtype, 64))


@refusals("standardize", "clip_by_norm")
def axes_refusals(s, op):
    yield Refusal([s.small("float32", (2, 3))], {"axes": [2]}, "INDEX", "axes 2")
    yield Refusal([s.small("float32", (2, 3))], {"axes": [0, -2]}, "ARGUMENT", "twice")
    if op == "clip_by_norm":
        yield Refusal([s.small("float32", (2, 3))], {"max_norm": 0.0}, "ARGUMENT", "max_norm is 0")
        yield Refusal([s.small("float32", (2, 3)), s.small("float32", (1,))], {}, "SHAPE", "one number")


@cases("batch_norm_training")
def batch_norm_training(s, dtype):
    for number, shape in enumerate([(3, 4, 2), (2, 4, 3, 2), (5, 4), (1, 4, 1, 1), (2, 4, 2, 2, 2)]):
        x = repeat_first(s.small(dtype, shape)) if number == 1 else s.small(dtype, shape)
        w, b, m = [s.small(dtype, (4,)) for _ in range(3)]
        v = s.positive(dtype, (4,))
        epsilon, momentum = (1e-5, 0.9) if number % 2 == 0 else (0.125, 0.25)
        axes = (0, *range(2, len(shape)))
        y, scale, mean, _ = normalized(double(x), axes, np.longdouble(epsilon))
        variance = ((double(x) - mean) ** 2).mean(axis=axes)
        y, scale = affine(y, scale, by_channel(double(w), y), by_channel(double(b), y))
        M = np.longdouble(momentum)
        new_mean = double(m) * M + mean.reshape(4) * (1 - M)
        new_variance = double(v) * M + variance * (1 - M)
        attrs = {} if number % 2 == 0 else {"epsilon": epsilon, "momentum": momentum}
        yield Case([x, w, b, m, v], attrs, [near(y, dtype, scale), near(new_mean, dtype, 8), near(new_variance, dtype, 16)],
                   ulps_of(dtype, 64))


@refusals("batch_norm_training")
def batch_norm_training_refusals(s):
    v = s.positive("float32", (4,))
    yield Refusal([s.small("float32", (0, 4, 2)), v, v, v, v], {}, "SHAPE", "at least one value a channel")
    yield Refusal([s.small("float32", (2, 4, 2)), v, v, v[:3], v], {}, "SHAPE", "input mean")
    yield Refusal([s.small("float32", (4,)), v, v, v, v], {}, "SHAPE", "at least 2 axes")


ACTIVATIONS = [lambda x: x, lambda x: np.maximum(x, 0),
               lambda x: x / 2 * (1 + functions.erf((x / np.sqrt(np.longdouble(2))).astype(np.float64))),
               lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.longdouble(np.pi)) * (x + np.longdouble(0.044715) * x**3))),
               sigmoid, np.tanh]


@cases("bias_add")
def bias_add(s, dtype):
    for number, (shape, axis) in enumerate([((2, 3), 1), ((2, 3, 4), 1), ((2, 3, 4), -1), ((5,), 0), ((0, 3), 1), ((3, 2), 0)]):
        x = repeat_first(s.small(dtype, shape)) if number == 1 else s.small(dtype, shape)
        b = s.small(dtype, (shape[axis],))
        along = [1] * len(shape)
        along[axis] = -1
        total = double(x) + double(b).reshape(along)
        attrs = {"axis": axis}
        if number:
            attrs["activation"] = number
        yield Case([x, b], attrs, [near(ACTIVATIONS[number](total), dtype, 8)], ulps_of(dtype, 4))


@refusals("bias_add")
def bias_add_refusals(s):
    x = s.small("float32", (2, 3))
    yield Refusal([x, s.small("float32", (2,))], {}, "SHAPE", "expected (3,)")
    yield Refusal([x, s.small("float32", (3,))], {"axis": 2}, "INDEX", "axis 2")
    yield Refusal([x, s.small("float32", (3,))], {"activation": 9}, "ARGUMENT", "activation is 9")


@cases("clip_by_norm")
def clip_by_norm(s, dtype):
    for shape, axes, most, given in [((3, 4), [], 1.0, False), ((3, 4), [1], 4.0, False), ((2, 3, 2), [0, -1], 2.5, False),
                                     ((3,), [], 100.0, False), ((2, 3), [], 2.0, True), ((0, 3), [], 1.0, False), ((), [], 1.0, False)]:
        x = s.small(dtype, shape)
        X = double(x)
        chosen = tuple(a % X.ndim for a in axes) or tuple(range(X.ndim))
        norm = np.sqrt((X**2).sum(axis=chosen, keepdims=True))
        inputs = [x]
        if given:
            inputs.append(np.array(8, NUMPY[dtype]))
            norm = np.longdouble(8)
        y = X * np.longdouble(most) / np.maximum(norm, most)
        attrs = {"axes": axes}
        if most != 1:
            attrs["max_norm"] = most
        yield Case(inputs, attrs, [near(y, dtype)], ulps_of(dtype))
    for x, p in far_numbers(s, dtype):
        for most in [1.0, 1e-170] if p == 2 else []:
            norm = np.sqrt((double(x) ** 2).sum(axis=1, keepdims=True))
            y = double(x) * np.longdouble(most) / np.maximum(norm, np.longdouble(most))
            yield Case([x], {"axes": [1], "max_norm": most}, [near(y, dtype)], ulps_of(dtype, 64))


@cases("global_norm")
def global_norm(s, dtype):
    for shapes in [[(3, 4)], [(2,), (3, 2), ()], [(0, 3), (2, 2)], [(0,)], [(129,), (2, 3, 2)]]:
        xs = [s.small(dtype, shape) for shape in shapes]
        y = np.sqrt(sum(((double(x) ** 2).sum() for x in xs), np.longdouble(0)))
        yield Case(xs, {}, [near(y, dtype)], ulps_of(dtype))


@refusals("global_norm")
def global_norm_refusals(s):
    yield Refusal([s.small("float32", (2,)), s.small("float64", (2,))], {}, "DTYPE", "expected float32")


@cases("hardmax", ulps=0)
def hardmax(s, dtype):
    for shape, axis in [((3, 4), -1), ((3, 4), 0), ((2, 3, 4), 1), ((5,), 0), ((0, 3), 1), ((3, 0), 1), ((2, 2, 9), -1)]:
        for x in (s.small(dtype, shape), special(s, dtype, shape), np.ones(shape, NUMPY[dtype])):
            y = np.zeros(shape, x.dtype)
            if x.size:
                best = np.argmax(x.astype(np.float64), axis=axis)
                np.put_along_axis(y, np.expand_dims(best, axis), NUMPY[dtype](1), axis=axis)
            yield Case([x], {"axis": axis}, [y])


@refusals("hardmax")
def hardmax_refusals(s):
    yield Refusal([s.small("float32", (2, 3))], {"axis": 2}, "INDEX", "axis 2")

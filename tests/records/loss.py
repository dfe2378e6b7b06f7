"""Losses by their formulas, steps of optimisers as ONNX and PyTorch write them."""
import numpy as np

from framework import NUMPY, Case, Refusal, cases, refusals
from network import double, near, places, repeat_first, sigmoid, ulps_of


def reduced(values, shares, reduction, by_share):
    """none, sum, mean, mean by weight; and the magnitude of the terms."""
    size = abs(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        if reduction == 0:
            return values, size
        if reduction == 1:
            return values.sum(), size.sum()
        count = shares.sum() if by_share or reduction == 3 else np.longdouble(values.size)
        return values.sum() / count, size.sum() / abs(count)


def with_reduction(reduction):
    return {"reduction": reduction} if reduction != 2 else {}


def target_of(s, dtype, op, shape):
    if op == "hinge_loss":
        return (2 * s.integers(0, 1, shape) - 1).astype(NUMPY[dtype])
    if op in ("log_loss", "sigmoid_cross_entropy", "kl_divergence"):
        return np.where(s.integers(0, 3, shape) == 0, s.integers(0, 1, shape), s.uniform("float32", 0.1, 0.9, shape)).astype(NUMPY[dtype])
    return s.small(dtype, shape)


def xlogy(a, b):
    return np.where(a == 0, 0, a * np.log(np.where(a == 0, 1, b)))


def elementwise(op, x, t, p):
    """The loss, and the magnitude of its terms."""
    d = abs(x - t)
    if op == "mse_loss":
        return d**2, (abs(x) + abs(t)) * d
    if op == "l1_loss":
        return d, abs(x) + abs(t)
    if op == "huber_loss":
        return np.where(d <= p, d**2 / 2, p * (d - p / 2)), (abs(x) + abs(t) + p) * (p + 1)
    if op == "smooth_l1_loss":
        return np.where(d < p, d**2 / (2 * (p or 1)), d - p / 2), abs(x) + abs(t) + 1
    if op == "hinge_loss":
        return np.maximum(0, 1 - x * t), 1 + abs(x)
    if op == "log_loss":
        return -xlogy(t, x + p) - xlogy(1 - t, 1 - x + p), 1 + 0 * x
    if op == "sigmoid_cross_entropy":
        t = t * (1 - p) + p / 2
        return -t * np.log(sigmoid(x)) - (1 - t) * np.log(sigmoid(-x)), 8 + 0 * x
    if op == "kl_divergence":
        return (np.exp(t) * (t - x) if p else xlogy(t, t) - t * x), 8 + abs(x)
    return np.exp(x) - t * x, np.exp(x) + abs(t * x)


LOSSES = {"mse_loss": [(None, 0)], "l1_loss": [(None, 0)], "hinge_loss": [(None, 0)], "poisson_nll_loss": [(None, 0)],
          "huber_loss": [("delta", 1.0), ("delta", 2.5)], "smooth_l1_loss": [("beta", 1.0), ("beta", 0.5), ("beta", 0.0)],
          "log_loss": [("epsilon", 0.0), ("epsilon", 0.25)], "sigmoid_cross_entropy": [("label_smoothing", 0.0), ("label_smoothing", 0.25)],
          "kl_divergence": [("log_target", False), ("log_target", True)]}


def infinite_logits(dtype):
    """The limits of sigmoid_cross_entropy: 0 where the target says what x says, else infinity."""
    inf = np.inf
    x = np.array([inf, -inf, inf, -inf, inf, -inf, inf, -inf, 2, np.nan] * 3).astype(NUMPY[dtype])
    t = np.array([1, 0, 0, 1, 0.5, 0.25, np.nan, np.nan, inf, 1] * 3).astype(NUMPY[dtype])
    y = np.array([0, 0, inf, inf, inf, inf, np.nan, np.nan, -inf, np.nan] * 3).astype(NUMPY[dtype])
    yield Case([x, t], {"reduction": 0}, [y], 0)
    smoothed = np.full(6, inf).astype(NUMPY[dtype])
    yield Case([x[:6], t[:6]], {"reduction": 0, "label_smoothing": 0.5}, [smoothed], 0)


@cases(*LOSSES)
def losses(s, dtype, op):
    for shape, weighted in [((3, 4), None), ((2, 3, 2), (3, 1)), ((5,), (5,)), ((), ()), ((0, 3), None), ((4, 1), (1,))]:
        for name, p in LOSSES[op]:
            x = s.uniform(dtype, 0.1, 0.9, shape) if op == "log_loss" else s.small(dtype, shape)
            t = target_of(s, dtype, op, shape)
            if shape == (4, 1):
                x, t = repeat_first(x), repeat_first(t)
            w = None if weighted is None else s.positive(dtype, weighted)
            value, scale = elementwise(op, double(x), double(t), np.longdouble(p))
            shares = np.ones(shape, np.longdouble) if w is None else double(w) + np.zeros(shape)
            for reduction in range(4):
                y, size = reduced(value * shares, shares, reduction, False)
                size = size + reduced(scale * shares, shares, reduction, False)[0]
                attrs = with_reduction(reduction)
                if name and p != LOSSES[op][0][1]:
                    attrs[name] = p
                yield Case([x, t, w], attrs, [near(y, dtype, np.nan_to_num(np.asarray(size, np.float64)))], ulps_of(dtype, 32))
    if op == "sigmoid_cross_entropy":
        yield from infinite_logits(dtype)


@refusals(*LOSSES)
def loss_refusals(s, op):
    x = s.small("float32", (2, 3))
    yield Refusal([x, x[0]], {}, "SHAPE", "the shape of x")
    yield Refusal([x, x, x[:, :2]], {}, "SHAPE", "input weights")
    yield Refusal([x, x.astype(np.float64)], {}, "DTYPE", "expected float32")
    yield Refusal([x, x], {"reduction": 4}, "ARGUMENT", "reduction is 4")
    name = LOSSES[op][0][0]
    if name and name != "log_target":
        yield Refusal([x, x], {name: -0.5}, "ARGUMENT", f"{name} is -0.5")


def log_softmax(x, axis):
    x = x - x.max(axis=axis, keepdims=True, initial=-np.inf)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


@cases("dense_cross_entropy", "cosine_distance")
def axis_losses(s, dtype, op):
    for shape, axis, weighted in [((3, 4), -1, None), ((3, 4), 0, (4,)), ((2, 3, 2), 1, (2, 1)), ((5,), 0, None), ((0, 3), 1, None)]:
        x = repeat_first(s.small(dtype, shape)) if shape == (5,) else s.small(dtype, shape)
        t = s.uniform(dtype, 0, 1, shape)
        X, T = double(x), double(t)
        terms = -T * log_softmax(X, axis) if op == "dense_cross_entropy" else -T * X
        value = terms.sum(axis=axis) + (0 if op == "dense_cross_entropy" else 1)
        scale = abs(terms).sum(axis=axis) + 1
        w = None if weighted is None else s.positive(dtype, weighted)
        shares = np.ones(value.shape, np.longdouble) if w is None else double(w) + np.zeros(value.shape)
        for reduction in range(4):
            y, _ = reduced(value * shares, shares, reduction, False)
            size, _ = reduced(scale * shares, shares, reduction, False)
            attrs = dict(with_reduction(reduction), **({"axis": axis} if axis != -1 else {}))
            yield Case([x, t, w], attrs, [near(y, dtype, np.nan_to_num(np.asarray(size, np.float64)))], ulps_of(dtype, 32))


@refusals("dense_cross_entropy", "cosine_distance")
def axis_loss_refusals(s, op):
    x = s.small("float32", (2, 3))
    yield Refusal([x, x], {"axis": 2}, "INDEX", "axis 2")
    yield Refusal([x, x[0]], {}, "SHAPE", "the shape of x")
    yield Refusal([x, x, x[0]], {}, "SHAPE", "the loss's")
    yield Refusal([x, x], {"reduction": -1}, "ARGUMENT", "reduction is -1")


@cases("nll_loss", "softmax_cross_entropy")
def class_losses(s, dtype, op):
    for number, (shape, weighted, ignored) in enumerate([((3, 4), False, None), ((2, 3, 5), True, None), ((2, 3, 2, 2), True, 1), ((3, 2), False, -1),
                                                         ((0, 3), True, None), ((2, 4, 1, 2, 2), False, 9), ((2, 3), False, 0), ((3, 5), True, 4)]):
        x = repeat_first(s.small(dtype, shape)) if number == 3 else s.small(dtype, shape)
        places_shape = (shape[0], *shape[2:])
        t = s.integers(0, shape[1] - 1, places_shape).astype([np.int64, np.int32][number % 2])
        if ignored is not None and t.size:
            t.reshape(-1)[0] = ignored
        if number == 6:
            t[:] = ignored
        w = s.positive(dtype, (shape[1],)) if weighted else None
        logs = double(x) if op == "nll_loss" else log_softmax(double(x), 1)
        value, shares = np.zeros(places_shape, np.longdouble), np.zeros(places_shape, np.longdouble)
        for at in places(places_shape):
            if t[at] != ignored:
                shares[at] = 1 if w is None else double(w)[t[at]]
                value[at] = -shares[at] * logs[(at[0], t[at], *at[1:])]
        for reduction in range(4):
            y, size = reduced(value, shares, reduction, True)
            attrs = dict(with_reduction(reduction), **({} if ignored is None else {"ignore_index": ignored}))
            outputs = [near(y, dtype, np.nan_to_num(np.asarray(size, np.float64)) + 4)]
            if op == "softmax_cross_entropy":
                outputs.append(near(logs, dtype, 8))
            yield Case([x, t, w], attrs, outputs, ulps_of(dtype, 32))


@refusals("nll_loss", "softmax_cross_entropy")
def class_loss_refusals(s, op):
    x, t = s.small("float32", (2, 3, 4)), np.zeros((2, 4), np.int64)
    yield Refusal([x, t[:, 1:]], {}, "SHAPE", "x's without the classes")
    yield Refusal([x, t, s.small("float32", (4,))], {}, "SHAPE", "one weight a class")
    yield Refusal([x, t.astype(np.float32)], {}, "DTYPE", "expected integers")
    yield Refusal([x, t + 3], {}, "INDEX", "is 3, expected 0 to 2")
    yield Refusal([x, t - 1], {}, "INDEX", "is -1, expected 0 to 2")
    for bad, where in ((3, (0, 0)), (-1, (1, 3))):
        one = t.copy()
        one[where] = bad
        yield Refusal([x, one], {}, "INDEX", f"is {bad}, expected 0 to 2")
    yield Refusal([x[0, 0], t], {}, "SHAPE", "at least 2 axes")
    yield Refusal([x, t], {"reduction": 9}, "ARGUMENT", "reduction is 9")


# -- optimisers ----------------------------------------------------------------------------------------------------------

def sgd_step(x, g, r, decay=0):
    return [x - r * (g + decay * x)]


def momentum_step(x, g, v, r, t, alpha=0.9, beta=1, decay=0, nesterov=False):
    g = g + decay * x
    v = alpha * v + (beta if t > 0 else 1) * g
    return [x - r * ((g + alpha * v) if nesterov else v), v]


def adagrad_step(x, g, h, r, t, rate_decay=0, decay=0, epsilon=1e-6):
    g = g + decay * x
    h = h + g * g
    return [x - r / (1 + t * rate_decay) * g / (np.sqrt(h) + epsilon), h]


def rmsprop_step(x, g, h, r, alpha=0.99, decay=0, epsilon=1e-8):
    g = g + decay * x
    h = alpha * h + (1 - alpha) * g * g
    return [x - r * g / (np.sqrt(h) + epsilon), h]


def adam_step(x, g, v, h, r, t, alpha=0.9, beta=0.999, epsilon=1e-6, decay=0, decay_after=0):
    g = g + decay * x
    v, h = alpha * v + (1 - alpha) * g, beta * h + (1 - beta) * g * g
    if t > 0:
        r = r * np.sqrt(1 - beta**t) / (1 - alpha**t)
    return [(1 - decay_after) * (x - r * v / (np.sqrt(h) + epsilon)), v, h]


def adamw_step(x, g, v, h, r, t, alpha=0.9, beta=0.999, epsilon=1e-8, decay=0.01):
    v, h = alpha * v + (1 - alpha) * g, beta * h + (1 - beta) * g * g
    return [x * (1 - r * decay) - r * (v / (1 - alpha**t)) / (np.sqrt(h / (1 - beta**t)) + epsilon), v, h]


OPTIMIZERS = {  # states, whether there is a step, attributes to try
    "sgd_step": (sgd_step, "", False, [{}, {"decay": 0.25}]),
    "momentum_step": (momentum_step, "v", True, [{}, {"nesterov": True, "alpha": 0.5, "beta": 0.75}, {"decay": 0.125}]),
    "adagrad_step": (adagrad_step, "h", True, [{}, {"rate_decay": 0.5, "decay": 0.25, "epsilon": 0.125}]),
    "rmsprop_step": (rmsprop_step, "h", False, [{}, {"alpha": 0.5, "decay": 0.25, "epsilon": 0.125}]),
    "adam_step": (adam_step, "vh", True, [{}, {"alpha": 0.5, "beta": 0.75, "epsilon": 0.125, "decay": 0.25, "decay_after": 0.5}]),
    "adamw_step": (adamw_step, "vh", True, [{}, {"alpha": 0.5, "beta": 0.75, "epsilon": 0.125, "decay": 0.5}]),
}


@cases(*OPTIMIZERS)
def optimizers(s, dtype, op):
    function, states, stepped, options = OPTIMIZERS[op]
    for number, shape in enumerate([(3, 4), (), (7,), (0, 3), (4, 1)]):
        for attrs in options:
            for t in ((0, 3) if stepped and op != "adamw_step" else (1, 4)):
                x, g = s.small(dtype, shape), s.small(dtype, shape)
                kept = [s.positive(dtype, shape) if c == "h" else s.small(dtype, shape) for c in states]
                if number == 4:
                    x, g, kept = repeat_first(x), repeat_first(g), [repeat_first(k) for k in kept]
                rate = np.array(0.125, NUMPY[["float32", "float64", dtype][number % 3]])
                step = [np.array(t, [np.int64, np.int32][number % 2])] if stepped else []
                outs = function(double(x), double(g), *map(double, kept), np.longdouble(0.125), *([t] if stepped else []),
                                **{k: np.longdouble(v) if not isinstance(v, bool) else v for k, v in attrs.items()},
                                **{k: np.longdouble(v) for k, v in zip(function.__code__.co_varnames[function.__code__.co_argcount - len(function.__defaults__):],
                                                                      function.__defaults__) if k not in attrs and not isinstance(v, bool)})
                yield Case([x, g, *kept, rate, *step], attrs, [near(y, dtype, 32) for y in outs], ulps_of(dtype))


@refusals(*OPTIMIZERS)
def optimizer_refusals(s, op):
    function, states, stepped, _ = OPTIMIZERS[op]
    x, rate = s.small("float32", (2, 3)), np.array(0.1, np.float32)
    kept, step = [x for _ in states], [np.array(1)] if stepped else []
    yield Refusal([x, x[0], *kept, rate, *step], {}, "SHAPE", "input gradient")
    yield Refusal([x, x, *kept, x, *step], {}, "SHAPE", "one number")
    yield Refusal([x, x, *kept, np.array(1), *step], {}, "DTYPE", "input rate")
    yield Refusal([x, x.astype(np.float64), *kept, rate, *step], {}, "DTYPE", "expected float32")
    if stepped:
        yield Refusal([x, x, *kept, rate, rate], {}, "DTYPE", "expected integers")
        yield Refusal([x, x, *kept, rate, np.array([1])], {}, "SHAPE", "one number")
    if kept:
        yield Refusal([x, x, x[0], *kept[1:], rate, *step], {}, "SHAPE", "the shape of x")

"""Recurrent layers by the equations of ONNX, one sequence at a time; CTC by enumerating alignments."""
import itertools

import numpy as np

from framework import NUMPY, Case, Exact, Refusal, cases, refusals
from network import double, near, repeat_first, sigmoid, ulps_of

PRESETS = {3: (1, 0), 4: (0.01, 0), 5: (1, 0), 6: (1, 1), 7: (0.2, 0.5), 8: (1, 0)}


def function(number, alpha, beta):
    a, b = np.longdouble(alpha), np.longdouble(beta)
    return [lambda x: np.maximum(x, 0), np.tanh, sigmoid, lambda x: a * x + b, lambda x: np.where(x >= 0, x, a * x),
            lambda x: np.where(x >= a, x, 0), lambda x: a * np.tanh(b * x), lambda x: np.clip(a * x + b, 0, 1),
            lambda x: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))), lambda x: x / (1 + abs(x)),
            lambda x: np.logaddexp(x, 0)][number]


def rnn_step(x, h, c, w, r, b, p, f, options):
    n = h.size
    return f[0](w @ x + r @ h + b[:n] + b[n:]), c


def gru_step(x, h, c, w, r, b, p, f, options):
    n = h.size
    wz, wr, wh = np.split(w, 3)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh, cz, cr, ch = np.split(b, 6)
    z = f[0](wz @ x + rz @ h + bz + cz)
    reset = f[0](wr @ x + rr @ h + br + cr)
    inner = reset * (rh @ h + ch) if options.get("linear_before_reset") else rh @ (reset * h) + ch
    return (1 - z) * f[1](wh @ x + bh + inner) + z * h, c


def lstm_step(x, h, c, w, r, b, p, f, options):
    gates = w @ x + r @ h + b[:b.size // 2] + b[b.size // 2:]
    i, o, g, cell = np.split(gates, 4)
    pi, po, pf = np.split(p, 3)
    i = f[0](i + pi * c)
    g = 1 - i if options.get("input_forget") else f[0](g + pf * c)
    c = g * c + i * f[1](cell)
    return f[0](o + po * c) * f[2](c), c


KINDS = {"rnn": (1, 1, [1], rnn_step), "gru": (3, 2, [2, 1], gru_step), "lstm": (4, 3, [2, 1, 1], lstm_step)}


def functions_of(op, options, direction):
    _, count, preset, _ = KINDS[op]
    numbers = options.get("activations") or preset * 2
    clip = options.get("clip", 0)
    chosen = []
    for i in range(direction * count, (direction + 1) * count):
        alpha, beta = PRESETS.get(numbers[i], (0, 0))
        if options.get("alpha"):
            alpha = options["alpha"][i]
        if options.get("beta"):
            beta = options["beta"][i]
        g = function(numbers[i], alpha, beta)
        chosen.append(lambda x, g=g: g(np.clip(x, -clip, clip)) if clip else g(x))
    return chosen


def layer(op, x, w, r, bias, lengths, h0, c0, peepholes, options):
    """x [t, n, i] and outputs as with batch_first = False, in long double."""
    gates, _, _, step = KINDS[op]
    steps, batch, _ = x.shape
    hidden, directions = r.shape[2], w.shape[0]
    y = np.zeros((steps, directions, batch, hidden), np.longdouble)
    last = [np.zeros((directions, batch, hidden), np.longdouble) for _ in range(2)]
    for d in range(directions):
        f = functions_of(op, options, d)
        b = np.zeros(2 * gates * hidden, np.longdouble) if bias is None else bias[d]
        p = np.zeros(3 * hidden, np.longdouble) if peepholes is None else peepholes[d]
        for n in range(batch):
            h = np.zeros(hidden, np.longdouble) if h0 is None else h0[d, n]
            c = np.zeros(hidden, np.longdouble) if c0 is None else c0[d, n]
            order = range(steps if lengths is None else lengths[n])
            if options.get("direction") == 1 or d == 1:
                order = reversed(order)
            for t in order:
                h, c = step(x[t, n], h, c, w[d], r[d], b, p, f, options)
                y[t, d, n] = h
            last[0][d, n], last[1][d, n] = h, c
    return y, last[0], last[1]


def swap(x, *axes):
    return None if x is None else np.transpose(x, axes)


def layer_case(s, dtype, op, steps=3, batch=2, inputs=3, hidden=4, bias=True, lengths=None, h=False, c=False,
               peepholes=False, equal=False, reach=1, **options):
    gates = KINDS[op][0]
    d = 2 if options.get("direction") == 2 else 1
    x = s.uniform(dtype, -1, 1, (steps, batch, inputs))
    if equal:
        x = repeat_first(x)
    w, r = s.uniform(dtype, -1, 1, (d, gates * hidden, inputs)), s.uniform(dtype, -reach, reach, (d, gates * hidden, hidden))
    b = s.uniform(dtype, -1, 1, (d, 2 * gates * hidden)) if bias else None
    h0 = s.uniform(dtype, -1, 1, (d, batch, hidden)) if h else None
    c0 = s.uniform(dtype, -1, 1, (d, batch, hidden)) if c else None
    p = s.uniform(dtype, -1, 1, (d, 3 * hidden)) if peepholes else None
    lens = None if lengths is None else np.array(lengths, np.int32)
    y, last_h, last_c = layer(op, *map(double, (x, w, r, b)), lengths, *map(double, (h0, c0, p)), options)
    if options.get("batch_first"):
        x, h0, c0 = swap(x, 1, 0, 2), swap(h0, 1, 0, 2), swap(c0, 1, 0, 2)
        y, last_h, last_c = swap(y, 2, 0, 1, 3), swap(last_h, 1, 0, 2), swap(last_c, 1, 0, 2)
    given = [x, w, r, b, lens, h0] + ([c0, p] if op == "lstm" else [])
    outputs = [near(y, dtype, 1), near(last_h, dtype, 1)] + ([near(last_c, dtype, 2)] if op == "lstm" else [])
    # Engines may keep f32 in f32: sums of some ten products, then functions of which each loses a little.
    return Case(given, options, outputs, 16 if dtype == "float32" else ulps_of(dtype, 64))


@cases("rnn", "gru", "lstm")
def layers(s, dtype, op):
    extra = {"lstm": {"c": True, "peepholes": True}}.get(op, {})
    count = KINDS[op][1]
    yield layer_case(s, dtype, op)
    yield layer_case(s, dtype, op, direction=1, h=True, **extra)
    yield layer_case(s, dtype, op, direction=2, batch_first=True, h=True, lengths=[3, 1], **extra)
    yield layer_case(s, dtype, op, direction=2, bias=False, lengths=[0, 2], h=True, equal=True, **extra)
    yield layer_case(s, dtype, op, direction=1, lengths=[2, 3], clip=0.3, batch_first=True)
    yield layer_case(s, dtype, op, steps=0, batch=2, h=True)
    yield layer_case(s, dtype, op, batch=0)
    yield layer_case(s, dtype, op, inputs=0, hidden=2)
    for first in range(11):
        yield layer_case(s, dtype, op, steps=2, hidden=2, activations=[(first + i) % 11 for i in range(count)])
    both = [4, 3, 6, 8, 5, 7][:2 * count]
    yield layer_case(s, dtype, op, direction=2, activations=both, alpha=[0.5, 0.75, 1.25, 0.5, 0.25, 0.5][:2 * count],
                     beta=[0.25, -0.5, 0.5, 0, 0, 0.25][:2 * count])
    # More than one block of units, tiles of rows that end early.
    # Without gates, many units amplify what each step rounds if the weights of their state are large.
    reach = 0.25 if op == "rnn" else 1
    yield layer_case(s, dtype, op, steps=5, batch=11, inputs=20, hidden=35, direction=2, h=True, reach=reach)
    yield layer_case(s, dtype, op, steps=4, batch=1, inputs=9, hidden=17, batch_first=True)
    for batch in (4, 5, 6, 7):
        yield layer_case(s, dtype, op, steps=2, batch=batch, inputs=5, hidden=9, direction=2)
    if op == "gru":
        yield layer_case(s, dtype, op, steps=4, batch=11, inputs=20, hidden=35, linear_before_reset=True, batch_first=True)
        yield layer_case(s, dtype, op, linear_before_reset=True, h=True)
        yield layer_case(s, dtype, op, linear_before_reset=True, bias=False, direction=2)
    if op == "lstm":
        yield layer_case(s, dtype, op, input_forget=True, **extra)
        yield layer_case(s, dtype, op, input_forget=True, h=True, clip=0.5, **extra)


@refusals("rnn", "gru", "lstm")
def layer_refusals(s, op):
    gates, count, preset, _ = KINDS[op]
    g = gates * 4
    x, w, r = s.small("float32", (3, 2, 3)), s.small("float32", (1, g, 3)), s.small("float32", (1, g, 4))
    yield Refusal([x[0], w, r], {}, "SHAPE", "expected [steps, batch, inputs]")
    yield Refusal([x, w[:, 1:], r], {}, "SHAPE", "input w")
    yield Refusal([x, w, r[:, 1:]], {}, "SHAPE", "input r")
    yield Refusal([x, w, r], {"direction": 2}, "SHAPE", "input r")
    yield Refusal([x, w, r], {"direction": 3}, "ARGUMENT", "direction is 3")
    yield Refusal([x, w, r, s.small("float32", (1, g))], {}, "SHAPE", "input bias")
    yield Refusal([x, w, r, None, np.array([1, 2, 3], np.int32)], {}, "SHAPE", "one length a sequence")
    yield Refusal([x, w, r, None, s.small("float32", (2,))], {}, "DTYPE", "expected integers")
    yield Refusal([x, w, r, None, np.array([1, 4], np.int32)], {}, "INDEX", "is 4, expected 0 to 3")
    yield Refusal([x, w, r, None, np.array([-1, 2], np.int32)], {}, "INDEX", "is -1, expected 0 to 3")
    yield Refusal([x, w, r, None, None, s.small("float32", (1, 3, 4))], {}, "SHAPE", "input initial_h")
    yield Refusal([x, w.astype(np.float64), r], {}, "DTYPE", "expected float32")
    yield Refusal([x, w, r], {"activations": preset + [0]}, "ARGUMENT", "activations has")
    yield Refusal([x, w, r], {"activations": [11] * count}, "ARGUMENT", "activations is 11")
    yield Refusal([x, w, r], {"alpha": [1.0] * count}, "ARGUMENT", "alpha has")
    yield Refusal([x, w, r], {"clip": -1.0}, "ARGUMENT", "clip is -1")
    if op == "lstm":
        yield Refusal([x, w, r, None, None, None, s.small("float32", (1, 2, 3))], {}, "SHAPE", "input initial_c")
        yield Refusal([x, w, r, None, None, None, None, s.small("float32", (1, 4))], {}, "SHAPE", "input peepholes")


@cases("rnn_cell", "gru_cell", "lstm_cell")
def cells(s, dtype, op):
    kind = op[:-5]
    gates, _, _, step = KINDS[kind]
    for n, i, k, bias in [(2, 3, 4, True), (1, 2, 2, False), (3, 1, 3, True), (0, 2, 2, True)]:
        for flag in ((False, True) if op != "rnn_cell" else (False,)):
            x, h, c = [s.uniform(dtype, -1, 1, (n, m)) for m in (i, k, k)]
            if n == 3:
                x, h, c = repeat_first(x), repeat_first(h), repeat_first(c)
            w, r = s.uniform(dtype, -1, 1, (gates * k, i)), s.uniform(dtype, -1, 1, (gates * k, k))
            b = s.uniform(dtype, -1, 1, (2 * gates * k,)) if bias else None
            p = s.uniform(dtype, -1, 1, (3 * k,)) if op == "lstm_cell" and flag else None
            options = {"linear_before_reset": True} if op == "gru_cell" and flag else {}
            B = np.zeros(2 * gates * k, np.longdouble) if b is None else double(b)
            P = np.zeros(3 * k, np.longdouble) if p is None else double(p)
            rows = [step(double(x)[m], double(h)[m], double(c)[m], double(w), double(r), B, P,
                         functions_of(kind, {}, 0), options) for m in range(n)]
            results = [np.array([row[j] for row in rows], np.longdouble).reshape(n, k) for j in range(2)]
            if op == "lstm_cell":
                yield Case([x, h, c, w, r, b, p], options, [near(results[0], dtype, 1), near(results[1], dtype, 2)], ulps_of(dtype))
            else:
                yield Case([x, h, w, r, b], options, [near(results[0], dtype, 1)], ulps_of(dtype))


@refusals("rnn_cell", "gru_cell", "lstm_cell")
def cell_refusals(s, op):
    g = KINDS[op[:-5]][0] * 4
    x, h, w, r = [s.small("float32", shape) for shape in ((2, 3), (2, 4), (g, 3), (g, 4))]
    state = [h, h] if op == "lstm_cell" else [h]
    yield Refusal([x, *state, w[1:], r], {}, "SHAPE", "input w")
    yield Refusal([x, *state, w, r[:, 1:]], {}, "SHAPE", "input r")
    yield Refusal([x, *state, w, r, s.small("float32", (g,))], {}, "SHAPE", "input bias")
    yield Refusal([x, h[:1], *state[1:], w, r], {}, "SHAPE", "input h")
    yield Refusal([x[0], *state, w, r], {}, "SHAPE", "[batch, inputs]")
    if op == "lstm_cell":
        yield Refusal([x, h, h[:, 1:], w, r], {}, "SHAPE", "the shape of h")


@cases("sru")
def sru(s, dtype):
    for t, n, k, start in [(3, 2, 3, False), (2, 1, 4, True), (4, 3, 2, True), (0, 2, 2, True), (2, 0, 2, False)]:
        x = repeat_first(s.uniform(dtype, -1, 1, (t, n, k))) if n == 3 else s.uniform(dtype, -1, 1, (t, n, k))
        w, b = s.uniform(dtype, -1, 1, (3 * k, k)), s.uniform(dtype, -1, 1, (2 * k,))
        c0 = s.uniform(dtype, -1, 1, (n, k)) if start else None
        c = double(c0) if start else np.zeros((n, k), np.longdouble)
        y = np.zeros((t, n, k), np.longdouble)
        for i in range(t):
            u, f, r = np.split(double(x)[i] @ double(w).T, 3, axis=1)
            f, r = sigmoid(f + double(b)[:k]), sigmoid(r + double(b)[k:])
            c = f * c + (1 - f) * u
            y[i] = r * np.tanh(c) + (1 - r) * double(x)[i]
        yield Case([x, w, b, c0], {}, [near(y, dtype, 1), near(c, dtype, 2)], ulps_of(dtype))


@refusals("sru")
def sru_refusals(s):
    x, w, b = s.small("float32", (2, 2, 3)), s.small("float32", (9, 3)), s.small("float32", (6,))
    yield Refusal([x, w[1:], b], {}, "SHAPE", "input w")
    yield Refusal([x, w, b[1:]], {}, "SHAPE", "input bias")
    yield Refusal([x, w, b, s.small("float32", (2, 2))], {}, "SHAPE", "input initial_c")
    yield Refusal([x[0], w, b], {}, "SHAPE", "[steps, batch, hidden]")


# -- CTC -----------------------------------------------------------------------------------------------------------------

def collapse(path, blank):
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def labellings(x, blank):
    """Probability of every labelling of x [t, classes], by all alignments."""
    total = {}
    for path in itertools.product(range(x.shape[1]), repeat=x.shape[0]):
        p = np.exp(sum((x[t, k] for t, k in enumerate(path)), np.longdouble(0)))
        key = collapse(path, blank)
        total[key] = total.get(key, np.longdouble(0)) + p
    return total


def log_probabilities(s, dtype, shape):
    x = s.uniform("float64", -2, 2, shape)
    return (x - np.log(np.exp(x).sum(axis=-1, keepdims=True))).astype(NUMPY[dtype])


@cases("ctc_loss")
def ctc_loss(s, dtype):
    kinds = ["int64", "int32"]
    for number, (t, c, blank, targets, lengths, target_lengths) in enumerate([
            (4, 3, 0, [[1, 2], [1, 1]], [4, 4], [2, 2]), (5, 3, 2, [[0, 1, 0], [1, 0, 0]], [5, 3], [3, 1]),
            (3, 4, 1, [[0, 0, 0], [2, 3, 0]], [3, 2], [3, 0]), (4, 2, 0, [[1, 1, 1]], [0], [0]), (4, 2, 0, [[], []], [4, 2], [0, 0])]):
        n = len(lengths)
        x = log_probabilities(s, dtype, (t, n, c))
        index = np.array(targets, NUMPY[kinds[number % 2]]).reshape(n, -1)
        losses = []
        for i in range(n):
            p = labellings(double(x)[:lengths[i], i], blank).get(tuple(targets[i][:target_lengths[i]]), np.longdouble(0))
            with np.errstate(divide="ignore"):
                losses.append(-np.log(p))
        losses = np.array(losses, np.longdouble)
        inputs = [x, index, np.array(lengths), np.array(target_lengths)]
        for zero in (False, True):
            kept = np.where(np.isinf(losses), 0, losses) if zero else losses
            for reduction, value in enumerate([kept, kept.sum(), (kept / np.maximum(target_lengths, 1)).mean()]):
                attrs = {"blank": blank} if blank else {}
                attrs.update({"reduction": reduction} if reduction != 2 else {}, **({"zero_infinity": True} if zero else {}))
                yield Case(inputs, attrs, [near(value, dtype, 16)], ulps_of(dtype, 32))
    none = [s.small(dtype, (2, 0, 3)), np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)]
    for reduction, value in enumerate([np.zeros(0), np.array(0.0), np.array(np.nan)]):  # no sequences
        yield Case(none, {"reduction": reduction}, [value.astype(NUMPY[dtype])])


@refusals("ctc_loss")
def ctc_loss_refusals(s):
    x, y, n, m = s.small("float32", (4, 2, 3)), np.array([[1, 2], [2, 1]]), np.array([4, 4]), np.array([2, 1])
    yield Refusal([x, y, n, m], {"blank": 3}, "INDEX", "blank is 3")
    yield Refusal([x, y, n, m], {"reduction": 3}, "ARGUMENT", "reduction is 3")
    yield Refusal([x, y[:1], n, m], {}, "SHAPE", "input targets")
    yield Refusal([x, y, n[:1], m], {}, "SHAPE", "input input_lengths")
    yield Refusal([x, y, n, m[:1]], {}, "SHAPE", "input target_lengths")
    yield Refusal([x, y + 1, n, m], {}, "INDEX", "a target is 3, expected 0 to 2")
    yield Refusal([x, y, n + 1, m], {}, "INDEX", "an input length is 5")
    yield Refusal([x, y, n, m + 1], {}, "INDEX", "a target length is 3")
    yield Refusal([x, y, np.array([-1, 4]), m], {}, "INDEX", "an input length is -1, expected 0 to 4")
    yield Refusal([x, y, np.array([4, 5]), m], {}, "INDEX", "an input length is 5, expected 0 to 4")
    yield Refusal([x, y, n, np.array([-1, 1])], {}, "INDEX", "a target length is -1, expected 0 to 2")
    yield Refusal([x, y, n, np.array([1, 3])], {}, "INDEX", "a target length is 3, expected 0 to 2")
    yield Refusal([x, np.array([[3, 1], [1, 1]]), n, np.array([2, 2])], {}, "INDEX", "a target is 3, expected 0 to 2")
    yield Refusal([x, np.array([[1, 1], [1, -1]]), n, np.array([2, 2])], {}, "INDEX", "a target is -1, expected 0 to 2")
    yield Refusal([x, y.astype(np.float32), n, m], {}, "DTYPE", "expected integers")
    yield Refusal([x[0], y, n, m], {}, "SHAPE", "[steps, batch, classes]")


@cases("ctc_greedy_decode")
def ctc_greedy_decode(s, dtype):
    for number, (t, n, c, blank, lengths) in enumerate([(6, 2, 3, 0, None), (8, 3, 2, 1, [8, 0, 5]), (5, 1, 4, 2, [3]), (0, 2, 2, 0, None),
                                                        (4, 0, 2, 0, None)]):
        x = repeat_first(s.small(dtype, (t, n, c))) if number == 2 else s.small(dtype, (t, n, c))
        for merge in (True, False):
            labels, counts, score = -np.ones((n, t), np.int64), np.zeros(n, np.int64), np.zeros(n, np.longdouble)
            for i in range(n):
                rows = double(x)[:t if lengths is None else lengths[i], i]
                best = rows.argmax(axis=1) if len(rows) else []
                kept = collapse(best, blank) if merge else tuple(k for k in best if k != blank)
                labels[i, :len(kept)], counts[i], score[i] = kept, len(kept), rows.max(axis=1).sum() if len(rows) else 0
            attrs = dict({"blank": blank} if blank else {}, **({} if merge else {"merge_repeated": False}))
            inputs = [x] + ([] if lengths is None else [np.array(lengths, np.int32)])
            yield Case(inputs, attrs, [Exact(labels), Exact(counts), near(score, dtype, 32)], ulps_of(dtype))


@cases("ctc_beam_decode")
def ctc_beam_decode(s, dtype):
    for t, n, c, blank, lengths, paths in [(4, 2, 3, 0, None, 3), (5, 1, 3, 2, [4], 4), (3, 2, 2, 0, [3, 0], 2), (2, 0, 3, 0, None, 1)]:
        x = log_probabilities(s, dtype, (t, n, c))
        labels, counts = -np.ones((n, paths, t), np.int64), np.zeros((n, paths), np.int64)
        score = np.full((n, paths), -np.inf, np.longdouble)
        for i in range(n):
            found = labellings(double(x)[:t if lengths is None else lengths[i], i], blank)
            for p, (key, value) in enumerate(sorted(found.items(), key=lambda item: -item[1])[:paths]):
                labels[i, p, :len(key)], counts[i, p], score[i, p] = key, len(key), np.log(value)
        attrs = dict({"blank": blank} if blank else {}, beam_width=200, top_paths=paths)
        inputs = [x] + ([] if lengths is None else [np.array(lengths, np.int64)])
        yield Case(inputs, attrs, [Exact(labels), Exact(counts), near(score, dtype, 16)], ulps_of(dtype, 32))
    # A narrow beam keeps the likeliest prefixes at each step: with one class and the blank, the longer of two equal ones.
    x = np.log(np.array([[[0.6, 0.4]], [[0.6, 0.4]]])).astype(NUMPY[dtype])
    p = np.exp(double(x))
    yield Case([x], {"beam_width": 1}, [Exact(np.array([[[-1, -1]]])), Exact(np.array([[0]])),
                                        near(np.log(p[0, 0, 0] * p[1, 0, 0]).reshape(1, 1), dtype, 4)], ulps_of(dtype))


    for t, n, c, width in [(7, 3, 3, 2), (8, 2, 4, 3), (6, 4, 2, 2), (9, 2, 3, 5)]:
        x = log_probabilities(s, dtype, (t, n, c))
        labels, counts = -np.ones((n, width, t), np.int64), np.zeros((n, width), np.int64)
        score = np.full((n, width), -np.inf, np.longdouble)
        for i in range(n):
            for p, (key, value) in enumerate(beam_search(double(x)[:, i], width)):
                labels[i, p, :len(key)], counts[i, p], score[i, p] = key, len(key), np.log(value)
        yield Case([x], {"beam_width": width, "top_paths": width}, [Exact(labels), Exact(counts), near(score, dtype, 16)],
                   ulps_of(dtype, 32))


def beam_search(x, width):
    """The likeliest prefixes, of which `width` are kept after each step; blank 0. Probabilities by prefix that end in a
    blank, and in a label."""
    beams = {(): (np.longdouble(1), np.longdouble(0))}
    for row in np.exp(x):
        found = {}

        def add(prefix, blank, label):
            old = found.get(prefix, (0, 0))
            found[prefix] = (old[0] + blank, old[1] + label)

        for prefix, (blank, label) in beams.items():
            add(prefix, (blank + label) * row[0], label * row[prefix[-1]] if prefix else 0)
            for k in range(1, len(row)):
                add((*prefix, k), 0, (blank if prefix and prefix[-1] == k else blank + label) * row[k])
        beams = dict(sorted(found.items(), key=lambda item: -sum(item[1]))[:width])
    return [(key, sum(value)) for key, value in beams.items()]


@refusals("ctc_greedy_decode", "ctc_beam_decode")
def decode_refusals(s, op):
    x = s.small("float32", (4, 2, 3))
    yield Refusal([x], {"blank": -1}, "INDEX", "blank is -1")
    yield Refusal([x, np.array([4])], {}, "SHAPE", "one length a sequence")
    yield Refusal([x, np.array([4, 5])], {}, "INDEX", "an input length is 5")
    yield Refusal([x, np.array([-1, 4])], {}, "INDEX", "an input length is -1")
    yield Refusal([x, s.small("float32", (2,))], {}, "DTYPE", "expected integers")
    if op == "ctc_beam_decode":
        yield Refusal([x], {"beam_width": 0}, "ARGUMENT", "beam_width is 0")
        yield Refusal([x], {"beam_width": 2, "top_paths": 3}, "ARGUMENT", "top_paths 3")

"""Attention by NumPy's matmul on whole arrays, rotary embedding by complex numbers, linear attention by outer products."""
import numpy as np

from framework import NUMPY, Case, Refusal, cases, refusals
from network import double, near, repeat_first, special, ulps_of


LOWEST = {"float16": -65504, "bfloat16": -2.0**127, "float32": np.finfo(np.float32).min, "float64": np.finfo(np.float64).min}


def split_heads(x, heads):
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def softmax(x):
    """Rows without a finite number give 0."""
    top = x.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(np.where(np.isinf(x), -np.inf, x - np.where(np.isinf(top), 0, top)))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def attention_of(q, k, v, mask=None, past_key=None, past_value=None, lengths=None, q_heads=0, kv_heads=0, scale=0,
                 is_causal=False, softcap=0, left_window=-1, right_window=-1):
    """y, keys, values, and the four kinds of scores."""
    packed = q.ndim == 3
    q, k, v = split_heads(q, q_heads), split_heads(k, kv_heads), split_heads(v, kv_heads)
    if past_key is not None:
        k, v = np.concatenate([past_key, k], axis=2), np.concatenate([past_value, v], axis=2)
    n, heads, queries, head = q.shape
    keys = k.shape[2]
    scale = np.longdouble(scale) if scale else 1 / np.sqrt(np.longdouble(head))
    kk, vv = (np.repeat(x, heads // k.shape[1], axis=1) for x in (k, v))
    raw = scale * (q @ kk.transpose(0, 1, 3, 2))
    capped = softcap * np.tanh(raw / softcap) if softcap else raw
    bias = np.zeros((n, heads, queries, keys), np.longdouble)
    if mask is not None:
        add = np.where(mask, 0, -np.inf).astype(np.longdouble) if mask.dtype == bool else mask.astype(np.longdouble)
        if 1 < add.shape[-1] < keys:
            add = np.concatenate([add, np.full((*add.shape[:-1], keys - add.shape[-1]), -np.inf)], axis=-1)
        bias = bias + add
    offset = np.zeros(n, int) + (past_key.shape[2] if past_key is not None else 0)
    if lengths is not None:
        offset = np.array(lengths) - queries
        bias = np.where(np.arange(keys) < np.array(lengths).reshape(n, 1, 1, 1), bias, -np.inf)
    ahead = np.arange(keys) - (np.arange(queries)[:, None] + offset.reshape(n, 1, 1, 1))
    for on, bad in ((is_causal, ahead > 0), (left_window >= 0, -ahead > left_window), (right_window >= 0, ahead > right_window)):
        if on:
            bias = np.where(bad, -np.inf, bias)
    biased = np.where(np.isneginf(bias), -np.inf, capped + bias)
    share = softmax(biased)
    vv = np.where((share != 0).any(axis=2)[..., None], vv, 0)  # values that no query takes may be anything
    y = share @ vv
    size = share @ abs(vv)
    if packed:
        y, size = (x.transpose(0, 2, 1, 3).reshape(n, queries, heads * v.shape[3]) for x in (y, size))
    return y, size, k, v, [raw, capped, biased, share]


# n, q heads, kv heads, queries, keys, head, v head, past, packed, mask (kind, shape), options
ATTENTIONS = [
    (2, 2, 2, 3, 4, 3, 2, None, False, None, {}),
    (1, 4, 2, 3, 3, 2, 3, None, False, ("bool", (3, 3)), {"is_causal": True}),
    (2, 3, 1, 2, 5, 4, 4, None, True, ("float", (2, 1, 2, 5)), {"scale": 0.25}),
    (1, 2, 1, 2, 3, 2, 2, 3, False, ("float", (6,)), {"is_causal": True, "softcap": 2.0}),
    (2, 2, 2, 2, 2, 2, 2, 2, True, ("bool", (2, 1, 1, 3)), {"left_window": 2, "right_window": 0}),
    (2, 2, 1, 3, 4, 2, 2, None, False, None, {"is_causal": True, "lengths": [4, 2]}),
    (1, 2, 2, 3, 4, 3, 2, None, False, ("int64", (2, 1, 4)), {"left_window": 1, "right_window": 1}),
    (1, 1, 1, 3, 2, 2, 2, None, False, ("none", (3, 2)), {"softcap": 1.5}),
    (0, 2, 2, 2, 3, 2, 2, None, False, None, {}),
    (1, 2, 2, 2, 0, 3, 2, None, False, None, {}),
    (2, 2, 1, 9, 17, 8, 8, None, False, None, {}),  # enough for several workers
    (1, 2, 1, 35, 37, 5, 13, None, False, None, {"is_causal": True, "left_window": 0}),  # its own key alone
    (1, 4, 2, 17, 1, 3, 2, None, True, None, {"scale": -0.5}),  # one key
    (1, 2, 2, 3, 261, 2, 5, None, False, ("row", (3, 261)), {}),  # blocks of keys; a query without any
    (2, 2, 1, 2, 3, 2, 3, 131, False, ("lowest", (2, 1, 1, 134)), {"right_window": 3}),
    (1, 6, 2, 23, 9, 4, 4, None, True, ("bool", (6, 1, 9)), {"left_window": 3, "right_window": 2}),
    (3, 1, 1, 2, 4, 3, 3, None, False, None, {"left_window": 1, "lengths": [0, 1, 4]}),  # NaN past the lengths
]


def attention_cases(s, dtype, outputs):
    for number, (n, h, kh, tq, tk, d, dv, past, packed, mask, options) in enumerate(ATTENTIONS):
        options = dict(options)
        lengths = options.pop("lengths", None)

        def make(heads, t, size):
            return s.uniform(dtype, -2, 2, (n, t, heads * size) if packed else (n, heads, t, size))

        q, k, v = make(h, tq, d), make(kh, tk, d), make(kh, tk, dv)
        if number == 2:
            q, k, v = map(repeat_first, (q, k, v))
        if n == 3:
            for batch, length in enumerate(lengths):
                k[batch, :, length:], v[batch, :, length:] = np.nan, np.inf
        pk, pv = (None, None) if past is None else (s.uniform(dtype, -2, 2, (n, kh, past, size)) for size in (d, dv))
        m = None
        if mask is not None:
            kind, shape = mask
            m = (s.integers(0, 2, shape) > 0 if kind == "bool" else np.zeros(shape, bool) if kind == "none" else
                 s.small(kind if kind == "int64" else dtype, shape))
            if kind == "float":
                m.reshape(-1)[0] = -np.inf
            elif kind == "row":
                m[0] = -np.inf
                m[1, :-1] = -np.inf
            elif kind == "lowest":  # what models add beside padding
                m[m < 0] = LOWEST[dtype]
        if packed:
            options.update(q_heads=h, kv_heads=kh)
        y, size, keys, values, scores = attention_of(*map(double, (q, k, v)), m if m is None or m.dtype == bool else double(m),
                                                     double(pk), double(pv), lengths, **options)
        inputs = [q, k, v, m, pk, pv, None if lengths is None else np.array(lengths, np.int64)]
        if outputs == 1:
            yield Case(inputs, options, [near(y, dtype, size)], 16 if dtype == "float32" else ulps_of(dtype, 64))
            continue
        for mode in range(4):
            given = dict(options, scores_mode=mode) if mode else options
            yield Case(inputs, given, [near(y, dtype, size), keys.astype(NUMPY[dtype]), values.astype(NUMPY[dtype]),
                                       near(scores[mode], dtype, 16 if mode < 3 else 1)], ulps_of(dtype, 64))


@cases("attention")
def attention(s, dtype):
    yield from attention_cases(s, dtype, 1)


@cases("attention_with_cache")
def attention_with_cache(s, dtype):
    yield from attention_cases(s, dtype, 4)


@refusals("attention", "attention_with_cache")
def attention_refusals(s, op):
    def make(*shape):
        return s.small("float32", shape)
    q, k, v = make(1, 4, 3, 2), make(1, 2, 5, 2), make(1, 2, 5, 3)
    yield Refusal([q, k, make(1, 2, 4, 3)], {}, "SHAPE", "length 5")
    yield Refusal([q, make(1, 3, 5, 2), v], {}, "SHAPE", "divides its 4")
    yield Refusal([q, make(1, 2, 5, 3), v], {}, "SHAPE", "head size 2")
    yield Refusal([q, k[0], v], {}, "SHAPE", "as many axes as q")
    yield Refusal([q[0, 0], k, v], {}, "SHAPE", "expected [n, heads, t, head]")
    yield Refusal([q, k, v], {"q_heads": 4}, "ARGUMENT", "beside 4 axes")
    yield Refusal([q[0], k[0], v[0]], {}, "ARGUMENT", "the number of heads, which is 0")
    yield Refusal([q[0], k[0], v[0]], {"q_heads": 3, "kv_heads": 1}, "SHAPE", "multiple")
    yield Refusal([q, k.astype(np.float64), v], {}, "DTYPE", "input k")
    yield Refusal([q, k, v.astype(np.int32)], {}, "DTYPE", "input v")
    yield Refusal([q, k, v, make(3, 6)], {}, "SHAPE", "input mask")
    yield Refusal([q, k, v, s.small("complex64", (3, 5))], {}, "DTYPE", "bool or real")
    yield Refusal([q, k, v, None, make(1, 2, 1, 2)], {}, "ARGUMENT", "together")
    yield Refusal([q, k, v, None, make(1, 2, 1, 2), make(1, 2, 2, 3)], {}, "SHAPE", "as past_key")
    yield Refusal([q, k, v, None, make(1, 2, 1, 2), make(1, 2, 1, 3), np.array([5])], {}, "ARGUMENT", "without key_lengths")
    yield Refusal([q, k, v, None, None, None, np.array([6])], {}, "INDEX", "a key length is 6, expected 0 to 5")
    two = [np.concatenate([a, a]) for a in (q, k, v)]
    yield Refusal([*two, None, None, None, np.array([-1, 5])], {}, "INDEX", "a key length is -1, expected 0 to 5")
    yield Refusal([*two, None, None, None, np.array([5, 6])], {}, "INDEX", "a key length is 6, expected 0 to 5")
    yield Refusal([q, k, v, None, None, None, np.array([5, 5])], {}, "SHAPE", "one length a sequence")
    yield Refusal([q, k, v], {"left_window": -2}, "ARGUMENT", "left_window is -2")
    yield Refusal([q, k, v], {"softcap": -1.0}, "ARGUMENT", "softcap is -1")
    if op == "attention_with_cache":
        yield Refusal([q, k, v], {"scores_mode": 4}, "ARGUMENT", "scores_mode is 4")


@cases("multi_head_attention")
def multi_head_attention(s, dtype):
    for number, (n, tq, tk, fq, fk, fv, heads, p, pv, out) in enumerate([(2, 3, 4, 3, 2, 4, 2, 2, 3, 3), (1, 2, 2, 4, 4, 4, 1, 3, 2, 5),
                                                                         (2, 3, 3, 2, 2, 2, 2, 1, 1, 2), (0, 2, 2, 2, 2, 2, 1, 2, 2, 2)]):
        def make(*shape):
            return s.uniform(dtype, -1, 1, shape)
        q, k, v = make(n, tq, fq), make(n, tk, fk), make(n, tk, fv)
        if number == 1:
            q, k, v = map(repeat_first, (q, k, v))
        weights = [make(heads * p, fq), make(heads * p, fk), make(heads * pv, fv), make(out, heads * pv)]
        biases = [make(w.shape[0]) if number != 1 else None for w in weights]
        causal = number == 2
        mask = s.integers(0, 2, (n, 1, 1, tk)) > 0 if number == 0 else None
        W, B = list(map(double, weights)), [0 if b is None else double(b) for b in biases]
        parts = [double(x) @ w.T + b for x, w, b in zip((q, k, v), W, B)]
        y, size, *_ = attention_of(*parts, mask, q_heads=heads, kv_heads=heads, is_causal=causal)
        options = {"heads": heads} if heads > 1 else {}
        if causal:
            options["is_causal"] = True
        yield Case([q, k, v, *weights, *biases, mask], options, [near(y @ W[3].T + B[3], dtype, 16)], ulps_of(dtype, 64))


@refusals("multi_head_attention")
def multi_head_refusals(s):
    def make(*shape):
        return s.small("float32", shape)
    q, k, w, o = make(1, 3, 4), make(1, 2, 4), make(6, 4), make(4, 6)
    yield Refusal([q, k, k, w, w, w, o], {"heads": 4}, "SHAPE", "input wq")
    yield Refusal([q, k, k, w, w[:4], w, o], {"heads": 2}, "SHAPE", "input wk")
    yield Refusal([q, k, k, w, w, w[:, 1:], o], {"heads": 2}, "SHAPE", "input wv")
    yield Refusal([q, k, k, w, w, w, o[:, 1:]], {"heads": 2}, "SHAPE", "input wo")
    yield Refusal([q, k, q, w, w, w, o], {}, "SHAPE", "the length of k")
    yield Refusal([q, k, k, w, w, w, o, make(5)], {}, "SHAPE", "input bq")
    yield Refusal([q, k, k, w, w, w, o], {"heads": 0}, "ARGUMENT", "heads is 0")
    yield Refusal([q[0], k, k, w, w, w, o], {}, "SHAPE", "[n, t, features]")
    yield Refusal([q, k, k, w, w, w, o, None, None, None, None, make(3, 3)], {}, "SHAPE", "input mask")


@cases("rotary_embedding")
def rotary_embedding(s, dtype):
    for number, (n, h, t, d, turned, packed, ids) in enumerate([(2, 2, 3, 4, 0, False, False), (1, 3, 2, 6, 4, False, True),
                                                                (2, 2, 3, 4, 0, True, True), (1, 2, 2, 5, 2, True, False),
                                                                (0, 2, 3, 4, 0, False, False), (3, 1, 2, 2, 0, False, True),
                                                                (2, 3, 5, 74, 70, True, True), (1, 2, 3, 70, 0, False, False)]):
        for interleaved in (False, True):
            x = s.small(dtype, (n, t, h * d) if packed else (n, h, t, d))
            if number == 5:
                x = repeat_first(x)
            pairs = (turned or d) // 2
            table = (7, pairs) if ids else (n, t, pairs)
            c, sn = s.uniform(dtype, -1, 1, table), s.uniform(dtype, -1, 1, table)
            places = s.integers(0, 6, (n, t)).astype([np.int64, np.int32, np.uint8][number % 2 + 2 * (number > 5)]) if ids else None
            C, S = (double(a)[places] if ids else double(a) for a in (c, sn))
            angle = (C + 1j * S)[:, None]
            X = split_heads(double(x), h)
            part = X[..., :2 * pairs]
            z = part[..., 0::2] + 1j * part[..., 1::2] if interleaved else part[..., :pairs] + 1j * part[..., pairs:]
            z = z * angle
            if interleaved:
                turned_part = np.stack([z.real, z.imag], axis=-1).reshape(part.shape)
            else:
                turned_part = np.concatenate([z.real, z.imag], axis=-1)
            y = np.concatenate([turned_part, X[..., 2 * pairs:]], axis=-1)
            if packed:
                y = y.transpose(0, 2, 1, 3).reshape(x.shape)
            options = {"interleaved": True} if interleaved else {}
            if turned:
                options["rotary_dim"] = turned
            if packed:
                options["heads"] = h
            yield Case([x, c, sn, places], options, [near(y, dtype, 8)], ulps_of(dtype, 2))


@refusals("rotary_embedding")
def rotary_refusals(s):
    def make(*shape):
        return s.small("float32", shape)
    x, c = make(1, 2, 3, 4), make(1, 3, 2)
    yield Refusal([x, c, make(1, 3, 3)], {}, "SHAPE", "input sin")
    yield Refusal([x, make(1, 2, 2), c], {}, "SHAPE", "input cos")
    yield Refusal([x, c, c], {"rotary_dim": 3}, "ARGUMENT", "rotary_dim is 3")
    yield Refusal([x, c, c], {"rotary_dim": 6}, "ARGUMENT", "rotary_dim is 6")
    yield Refusal([make(1, 3, 8), c, c], {}, "ARGUMENT", "the number of heads, which is 0")
    yield Refusal([x, c[0], c[0], np.array([[0, 1, 3]])], {}, "INDEX", "a position is 3, expected 0 to 2")
    yield Refusal([x, c[0], c[0], np.array([[-1, 1, 2]])], {}, "INDEX", "a position is -1, expected 0 to 2")
    yield Refusal([x, c[0], c[0], np.array([[0, 1]])], {}, "SHAPE", "[n, t]")
    yield Refusal([x, c[0], c[0], make(1, 3)], {}, "DTYPE", "expected integers")
    yield Refusal([make(2, 3), c, c], {}, "SHAPE", "expected [n, heads, t, head]")


@cases("linear_attention")
def linear_attention(s, dtype):
    for number, (n, h, kh, t, d, dv, rule, past, wide_decay, one_beta) in enumerate([
            (2, 2, 2, 3, 3, 2, 0, False, False, False), (1, 4, 2, 3, 2, 3, 1, True, False, False),
            (2, 2, 1, 2, 3, 2, 1, False, True, False), (1, 2, 2, 3, 2, 2, 2, True, False, True),
            (1, 3, 1, 4, 2, 2, 3, True, True, False), (2, 2, 2, 2, 2, 2, 3, False, False, False), (0, 1, 1, 2, 2, 2, 0, False, False, False),
            (1, 1, 1, 0, 2, 2, 0, True, False, False)]):
        def make(*shape):
            return s.uniform(dtype, -1, 1, shape)
        q, k, v = make(n, t, h * d), make(n, t, kh * d), make(n, t, kh * dv)
        if number == 2:
            q, k, v = map(repeat_first, (q, k, v))
        kind = dtype if number % 2 == 0 else "float32"
        state = s.uniform(kind, -1, 1, (n, kh, d, dv)) if past else None
        decay = make(n, t, kh * d if wide_decay else kh) if rule in (1, 3) else None
        beta = make(n, t, 1 if one_beta else kh) if rule in (2, 3) else None
        scale = 0.5 if number % 3 == 0 else 0
        S = np.zeros((n, kh, d, dv), np.longdouble) if state is None else double(state)
        Q, K, V = split_heads(double(q), h), split_heads(double(k), kh), split_heads(double(v), kh)
        y = np.zeros((n, h, t, dv), np.longdouble)
        for i in range(t):
            if decay is not None:
                g = double(decay)[:, i].reshape(n, kh, -1, 1)
                S = S * np.exp(g)
            value = V[:, :, i]
            if beta is not None:
                value = double(beta)[:, i].reshape(n, -1, 1) * (value - np.einsum("nhij,nhi->nhj", S, K[:, :, i]))
            S = S + K[:, :, i, :, None] * value[:, :, None, :]
            y[:, :, i] = np.einsum("nhi,nhij->nhj", Q[:, :, i], np.repeat(S, h // kh, axis=1))
        y = (y * (np.longdouble(scale) or 1 / np.sqrt(np.longdouble(d)))).transpose(0, 2, 1, 3).reshape(n, t, h * dv)
        options = dict(q_heads=h, kv_heads=kh)
        if scale:
            options["scale"] = scale
        if rule:
            options["update_rule"] = rule
        yield Case([q, k, v, state, decay, beta], options, [near(y, dtype, 8), near(S, kind if past else dtype, 8)],
                   max(ulps_of(dtype), ulps_of(kind)))


@refusals("linear_attention")
def linear_attention_refusals(s):
    def make(*shape):
        return s.small("float32", shape)
    q, k, v = make(1, 3, 8), make(1, 3, 4), make(1, 3, 6)
    heads = {"q_heads": 4, "kv_heads": 2}
    yield Refusal([q, k, v], dict(heads, update_rule=4), "ARGUMENT", "update_rule is 4")
    yield Refusal([q, k, v], dict(heads, update_rule=1), "ARGUMENT", "decay given")
    yield Refusal([q, k, v, None, make(1, 3, 2)], heads, "ARGUMENT", "decay left out")
    yield Refusal([q, k, v, None, make(1, 3, 3)], dict(heads, update_rule=1), "SHAPE", "input decay")
    yield Refusal([q, k, v, None, None, make(1, 3, 4)], dict(heads, update_rule=2), "SHAPE", "input beta")
    yield Refusal([q, k, v], {"q_heads": 3, "kv_heads": 2}, "SHAPE", "multiple of the number of heads")
    yield Refusal([q, make(1, 2, 4), make(1, 2, 6)], heads, "SHAPE", "q's length 3")
    yield Refusal([q, k, v, make(1, 2, 2, 2)], heads, "SHAPE", "input past_state")


@cases("embedding_bag")
def embedding_bag(s, dtype):
    for number, (rows, d, shape, offsets, padding) in enumerate([(5, 3, (3, 4), None, -1), (4, 2, (7,), [0, 2, 2, 5], -1), (5, 3, (2, 3), None, 2),
                                                                 (3, 4, (6,), [1, 6], 0), (2, 2, (0, 3), None, -1), (3, 0, (2, 2), None, -1), (3, 2, (2, 0), None, -1),
                                                                 (9, 37, (5, 6), None, 3), (20, 75, (40,), [0, 9, 9, 30], -1)]):
        table = repeat_first(s.small(dtype, (rows, d))) if number == 2 else s.small(dtype, (rows, d))
        kind = [np.int64, np.int32, np.uint8, np.int16][number % 2 + 2 * (number > 6)]
        indices = s.integers(0, rows - 1, shape).astype(kind)
        for mode, weighted in [(0, False), (0, True), (1, False), (2, False)]:
            w = s.small(dtype, shape) if weighted else None
            if mode == 2 and number > 6:
                table = special(s, dtype, (rows, d))  # NaN wins
            bounds = None if offsets is None else [*offsets, shape[0]]
            bags = [range(a, b) for a, b in zip(bounds, bounds[1:])] if offsets else [range(i * shape[1], (i + 1) * shape[1]) for i in range(shape[0])]
            y, scale = np.zeros((len(bags), d), np.longdouble), np.zeros((len(bags), d))
            flat, weights = indices.reshape(-1), None if w is None else double(w).reshape(-1)
            for b, bag in enumerate(bags):
                kept = [i for i in bag if flat[i] != padding]
                if kept:
                    terms = np.stack([double(table)[flat[i]] * (1 if w is None else weights[i]) for i in kept])
                    y[b] = [terms.sum, terms.mean, terms.max][mode](axis=0)
                    scale[b] = 0 if mode == 2 else abs(terms).sum(axis=0)
            attrs = dict({"mode": mode} if mode else {}, **({"padding_index": padding} if padding >= 0 else {}))
            inputs = [table, indices, None if offsets is None else np.array(offsets, kind), w]
            yield Case(inputs, attrs, [near(y, dtype, scale)], ulps_of(dtype))


@refusals("embedding_bag")
def embedding_bag_refusals(s):
    table, indices = s.small("float32", (4, 2)), np.array([[0, 1], [2, 3]])
    yield Refusal([table, indices], {"mode": 3}, "ARGUMENT", "mode is 3")
    yield Refusal([table, indices[0]], {}, "SHAPE", "[bags, n] without offsets")
    yield Refusal([table, indices, np.array([0])], {}, "SHAPE", "1 axis beside offsets")
    yield Refusal([table, indices + 1], {}, "INDEX", "an index is 4, expected 0 to 3")
    yield Refusal([table, indices - 1], {}, "INDEX", "an index is -1, expected 0 to 3")
    yield Refusal([table, indices[0], np.array([-1, 0])], {}, "INDEX", "an offset is -1, expected 0 to 2")
    yield Refusal([table, indices[0], np.array([0, 3])], {}, "INDEX", "an offset is 3, expected 0 to 2")
    yield Refusal([table, indices[0], np.array([1, 0])], {}, "INDEX", "an offset is 0, expected 1 to 2")
    yield Refusal([table, indices, None, s.small("float32", (2, 2))], {"mode": 1}, "ARGUMENT", "only sums")
    yield Refusal([table, indices, None, s.small("float32", (2, 1))], {}, "SHAPE", "the shape of indices")
    yield Refusal([table, s.small("float32", (2, 2))], {}, "DTYPE", "expected integers")
    yield Refusal([table[0], indices], {}, "SHAPE", "[rows, features]")

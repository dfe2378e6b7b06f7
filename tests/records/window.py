"""Transposed, deformable and stateful convolutions, pools, morphology: plain loops over windows."""
import math

import numpy as np

from framework import NUMPY, Case, Exact, Refusal, cases, refusals
from network import double, near, places, repeat_first, special, strided_windows, ulps_of


# -- conv_transpose: the other way round than the kernel: each x is spread over y ----------------------------------------

def spread(x, w, bias, groups, strides, dilations, pads, outputs):
    n, c = x.shape[:2]
    each = w.shape[1]
    y = np.zeros((n, each * groups, *outputs), np.longdouble)
    scale = np.zeros(y.shape, np.longdouble)
    for b in range(n):
        for i in range(c):
            group = i // (c // groups)
            for at in places(x.shape[2:]):
                for tap in places(w.shape[2:]):
                    to = tuple(a * s + t * d - p for a, s, t, d, p in zip(at, strides, tap, dilations, pads))
                    if all(0 <= t < o for t, o in zip(to, outputs)):
                        for o in range(each):
                            term = x[(b, i, *at)] * w[(i, o, *tap)]
                            y[(b, group * each + o, *to)] += term
                            scale[(b, group * each + o, *to)] += abs(term)
    if bias is not None:
        y += bias.reshape(1, -1, *[1] * len(outputs))
        scale += abs(bias).reshape(1, -1, *[1] * len(outputs))
    return y, scale


def transpose_case(s, dtype, shape, kernel, each, bias=True, equal=False, **attrs):
    axes = len(kernel)
    groups = attrs.get("groups", 1)
    strides = attrs.get("strides", [1] * axes)
    dilations = attrs.get("dilations", [1] * axes)
    pads = attrs.get("pads", [0] * 2 * axes)
    extra = attrs.get("output_padding", [0] * axes)
    natural = [(shape[2 + i] - 1) * strides[i] + extra[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(axes)]
    begins = pads[:axes]
    outputs = [natural[i] - pads[i] - pads[axes + i] for i in range(axes)]
    auto = attrs.get("auto_pad", 0)
    if auto in (1, 2) or "output_shape" in attrs:
        outputs = attrs.get("output_shape", [shape[2 + i] * strides[i] for i in range(axes)])
        total = [max(0, natural[i] - outputs[i]) for i in range(axes)]
        begins = [t // 2 if auto == 1 else t - t // 2 for t in total]
    if 0 in shape[2:]:
        outputs = [0] * axes
    x, w = s.small(dtype, shape), s.small(dtype, (shape[1], each, *kernel))
    if equal:
        x = repeat_first(x)
    b = s.small(dtype, (each * groups,)) if bias else None
    y, scale = spread(double(x), double(w), double(b), groups, strides, dilations, begins, outputs)
    ulps = 2 if dtype == "float32" else ulps_of(dtype)  # libraries sum f32 in f32, of the size of the sum of |products|
    return Case([x, w, b] if bias else [x, w], attrs, [near(y, dtype, scale)], ulps)


@cases("conv_transpose")
def conv_transpose(s, dtype):
    yield transpose_case(s, dtype, (2, 2, 4), (3,), 2)
    yield transpose_case(s, dtype, (1, 2, 3, 3), (3, 3), 2, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    yield transpose_case(s, dtype, (2, 4, 3, 2), (2, 3), 1, groups=2, dilations=[2, 2], bias=False)
    yield transpose_case(s, dtype, (2, 2, 2, 2, 3), (2, 2, 2), 2, strides=[2, 1, 2], pads=[0, 1, 0, 1, 0, 0])
    yield transpose_case(s, dtype, (1, 1, 3, 3), (3, 3), 2, strides=[3, 2], output_shape=[10, 8], output_padding=[1, 1])
    yield transpose_case(s, dtype, (1, 1, 3, 3), (3, 3), 2, strides=[3, 2], output_shape=[8, 6])
    yield transpose_case(s, dtype, (1, 2, 3, 4), (3, 4), 1, strides=[2, 2], auto_pad=1)
    yield transpose_case(s, dtype, (1, 2, 3, 4), (3, 4), 1, strides=[2, 3], auto_pad=2)
    yield transpose_case(s, dtype, (1, 2, 3, 4), (1, 2), 1, strides=[2, 3], auto_pad=3)
    yield transpose_case(s, dtype, (3, 1, 2, 2), (2, 2), 1, equal=True)
    # more cells or outputs than engine simd multiplies together; strides of 3 and beside dilations; cells cut off
    yield transpose_case(s, dtype, (1, 2, 1100), (3,), 2, strides=[2], pads=[2, 1])
    yield transpose_case(s, dtype, (1, 3, 20, 40), (2, 2), 1, strides=[2, 2], pads=[0, 1, 1, 0])
    yield transpose_case(s, dtype, (1, 1, 3, 5, 70), (2, 1, 3), 1, strides=[2, 1, 3], pads=[1, 0, 2, 0, 0, 1])
    yield transpose_case(s, dtype, (2, 2, 2, 3), (3, 3), 20, groups=2, strides=[3, 2], dilations=[1, 3])
    yield transpose_case(s, dtype, (1, 2, 4, 5), (2, 3), 3, strides=[1, 4], pads=[1, 3, 2, 3])
    yield transpose_case(s, dtype, (0, 2, 3), (2,), 2)
    yield transpose_case(s, dtype, (2, 2, 0), (2,), 2)


def separable_case(s, dtype, shape, each, kernel, outputs, bias=True, equal=False, **attrs):
    """Each channel's filters one after the other, then the mixture of all, in long double."""
    x, first = s.small(dtype, shape), s.small(dtype, (shape[1] * each, 1, *kernel))
    x = repeat_first(x) if equal else x
    second, b = s.small(dtype, (outputs, shape[1] * each, 1, 1)), s.small(dtype, (outputs,)) if bias else None
    strides, dilations = attrs.get("strides", [1, 1]), attrs.get("dilations", [1, 1])
    pads = attrs.get("pads", [0] * 4)
    reach = [(kernel[i] - 1) * dilations[i] + 1 for i in range(2)]
    extents = [(shape[2 + i] + pads[i] + pads[2 + i] - reach[i]) // strides[i] + 1 for i in range(2)]
    if attrs.get("auto_pad"):
        extents = [-(-shape[2 + i] // strides[i]) for i in range(2)]
        total = [max(0, (extents[i] - 1) * strides[i] + reach[i] - shape[2 + i]) for i in range(2)]
        begins = [t // 2 if attrs["auto_pad"] == 1 else t - t // 2 for t in total]
        pads = [*begins, *(t - b for t, b in zip(total, begins))]
    padded = np.pad(double(x), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    y = np.zeros((shape[0], outputs, *extents), np.longdouble)
    scale = np.zeros(y.shape, np.longdouble)
    for row, column in places(kernel):
        low = [row * dilations[0], column * dilations[1]]
        part = padded[:, :, low[0]:low[0] + (extents[0] - 1) * strides[0] + 1:strides[0],
                      low[1]:low[1] + (extents[1] - 1) * strides[1] + 1:strides[1]]
        part = np.repeat(part, each, axis=1) * double(first)[:, 0, row, column].reshape(1, -1, 1, 1)
        for o in range(outputs):
            weights = double(second)[o].reshape(1, -1, 1, 1)
            y[:, o] += (part * weights).sum(axis=1)
            scale[:, o] += abs(part * weights).sum(axis=1)
    if bias:
        y, scale = y + double(b).reshape(1, -1, 1, 1), scale + abs(double(b)).reshape(1, -1, 1, 1)
    return Case([x, first, second, b] if bias else [x, first, second], attrs, [near(y, dtype, scale)], ulps_of(dtype))


@cases("separable_conv2d")
def separable_conv2d(s, dtype):
    yield separable_case(s, dtype, (2, 2, 4, 5), 1, (3, 3), 3)
    yield separable_case(s, dtype, (1, 3, 5, 4), 2, (2, 3), 2, strides=[2, 1], pads=[1, 0, 0, 1], bias=False)
    yield separable_case(s, dtype, (2, 2, 6, 6), 3, (2, 2), 1, dilations=[2, 3])
    yield separable_case(s, dtype, (1, 2, 5, 5), 1, (3, 2), 2, strides=[2, 2], auto_pad=1)
    yield separable_case(s, dtype, (1, 2, 5, 5), 1, (2, 3), 2, auto_pad=2)
    yield separable_case(s, dtype, (3, 2, 3, 3), 2, (2, 2), 2, equal=True)
    yield separable_case(s, dtype, (0, 2, 3, 3), 1, (2, 2), 2)


@refusals("separable_conv2d")
def separable_conv2d_refusals(s):
    x, d, p = s.small("float32", (1, 2, 4, 4)), s.small("float32", (4, 1, 2, 2)), s.small("float32", (3, 4, 1, 1))
    yield Refusal([x[0], d, p], {}, "SHAPE", "expected [n, c, h, w]")
    yield Refusal([x, s.small("float32", (3, 1, 2, 2)), p], {}, "SHAPE", "expected [c m, 1, kh, kw] for the 2 channels")
    yield Refusal([x, d, s.small("float32", (3, 2, 1, 1))], {}, "SHAPE", "expected [o, 4, 1, 1]")
    yield Refusal([x, d, p, s.small("float32", (4,))], {}, "SHAPE", "input bias")
    yield Refusal([x, d, s.small("float64", (3, 4, 1, 1))], {}, "DTYPE", "input pointwise is float64")
    yield Refusal([x, d, p], {"strides": [0, 1]}, "ARGUMENT", "attribute strides has the value 0")


@refusals("conv_transpose")
def conv_transpose_refusals(s):
    x, w = s.small("float32", (1, 4, 3, 3)), s.small("float32", (4, 2, 3, 3))
    yield Refusal([x, w], {"groups": 3}, "SHAPE", "divisor of the 4 channels")
    yield Refusal([x, w], {"groups": 0}, "ARGUMENT", "groups is 0")
    yield Refusal([x, s.small("float32", (3, 2, 3, 3))], {}, "SHAPE", "input w")
    yield Refusal([x, s.small("float32", (4, 2, 3))], {}, "SHAPE", "input w")
    yield Refusal([x, s.small("float32", (4, 2, 0, 3))], {}, "SHAPE", "at least 1 cell")
    yield Refusal([x, w, s.small("float32", (3,))], {}, "SHAPE", "one value a channel")
    yield Refusal([x, s.small("float64", (4, 2, 3, 3))], {}, "DTYPE", "expected float32")
    yield Refusal([x, w], {"strides": [1]}, "ARGUMENT", "strides has 1 values")
    yield Refusal([x, w], {"strides": [0, 1]}, "ARGUMENT", "at least 1")
    yield Refusal([x, w], {"auto_pad": 4}, "ARGUMENT", "auto_pad is 4")
    yield Refusal([x, w], {"pads": [1, 1, 1, 1], "auto_pad": 1}, "ARGUMENT", "pads")
    yield Refusal([x, w], {"pads": [9, 9, 9, 9]}, "SHAPE", "expected at least 0")
    yield Refusal([x, w], {"strides": [2**62, 2**62]}, "OVERFLOW", "spatial axis 0")
    yield Refusal([s.small("float32", (4, 2)), w], {}, "SHAPE", "spatial axes")


# -- deformable_conv -----------------------------------------------------------------------------------------------------

def sample(plane, place):
    """Linear interpolation, 0 outside."""
    total = np.longdouble(0)
    low = [math.floor(p) for p in place]
    for corner in places([2] * len(place)):
        at = [a + c for a, c in zip(low, corner)]
        if all(0 <= a < n for a, n in zip(at, plane.shape)):
            weight = np.longdouble(1)
            for p, l, c in zip(place, low, corner):
                weight *= (p - l) if c else 1 - (p - l)
            total += weight * plane[tuple(at)] if weight else 0  # an infinite cell beside the place does not count
    return total


def deform_case(s, dtype, shape, kernel, outs, groups=1, offset_groups=1, bias=True, mask=True, reach=2, odd=False,
                **attrs):
    axes = len(kernel)
    strides, dilations = attrs.get("strides", [1] * axes), attrs.get("dilations", [1] * axes)
    pads = attrs.get("pads", [0] * 2 * axes)
    n, c = shape[:2]
    outputs = [(shape[2 + i] + pads[i] + pads[axes + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1
               for i in range(axes)]
    taps = list(places(kernel))
    x, w = s.small(dtype, shape), s.small(dtype, (outs, c // groups, *kernel))
    # Multiples of one half: exact in every dtype, on and between cells.
    offset = (s.integers(-2 * reach, 2 * reach, (n, offset_groups * len(taps) * axes, *outputs)) / 2).astype(NUMPY[dtype])
    b = s.small(dtype, (outs,)) if bias else None
    m = s.small(dtype, (n, offset_groups * len(taps), *outputs)) if mask else None
    if odd:  # infinite elements under masks of 0, and masks that are not finite
        x[:, 0, ::2] = np.inf
        m[:, ::3], m[:, 1, 0], m[:, 2, 1] = 0, np.inf, np.nan
    X, W, O, B, M = map(double, (x, w, offset, b, m))
    y = np.zeros((n, outs, *outputs), np.longdouble)
    scale = np.zeros(y.shape, np.longdouble)
    for i in range(n):
        for o in range(outs):
            for at in places(outputs):
                for ci in range(c // groups):
                    channel = o // (outs // groups) * (c // groups) + ci
                    field = channel // (c // offset_groups)
                    for t, tap in enumerate(taps):
                        place = [at[k] * strides[k] - pads[k] + tap[k] * dilations[k] +
                                 O[(i, (field * len(taps) + t) * axes + k, *at)] for k in range(axes)]
                        term = sample(X[i, channel], place) * W[(o, ci, *tap)]
                        if mask:
                            term *= M[(i, field * len(taps) + t, *at)]
                        y[(i, o, *at)] += term
                        scale[(i, o, *at)] += abs(term)
                if bias:
                    y[(i, o, *at)] += B[o]
                    scale[(i, o, *at)] += abs(B[o])
    inputs = [x, w, offset, b, m]
    given = dict(attrs)
    if groups != 1:
        given["groups"] = groups
    if offset_groups != 1:
        given["offset_groups"] = offset_groups
    ulps = 2 if dtype == "float32" else ulps_of(dtype)  # sums of f32 in f32, as those of conv_transpose
    return Case(inputs, given, [near(y, dtype, np.where(np.isfinite(scale), scale, 0) + 4)], ulps)


@cases("deformable_conv")
def deformable_conv(s, dtype):
    yield deform_case(s, dtype, (1, 1, 3, 3), (2, 2), 1, bias=False, mask=False)
    yield deform_case(s, dtype, (2, 2, 4, 3), (2, 2), 2, pads=[1, 0, 1, 1], strides=[2, 1])
    yield deform_case(s, dtype, (1, 4, 4, 4), (2, 1), 2, groups=2, offset_groups=2, dilations=[2, 1])
    yield deform_case(s, dtype, (1, 4, 3), (2,), 2, offset_groups=4, mask=False)
    yield deform_case(s, dtype, (1, 2, 3, 2, 3), (2, 1, 2), 1, bias=False)
    yield deform_case(s, dtype, (0, 2, 3, 3), (2, 2), 1)
    yield deform_case(s, dtype, (1, 4, 13, 13), (2, 2), 8)  # enough for several workers, and more than one tile
    yield deform_case(s, dtype, (1, 4, 9, 9), (2, 2), 2, groups=2, pads=[1, 1, 0, 0], bias=False)
    with np.errstate(invalid="ignore"):
        yield deform_case(s, dtype, (1, 2, 6, 5), (2, 2), 2, odd=True)


@refusals("deformable_conv")
def deformable_conv_refusals(s):
    x, w = s.small("float32", (1, 2, 3, 3)), s.small("float32", (1, 2, 2, 2))
    offset = s.small("float32", (1, 8, 2, 2))
    yield Refusal([x, w, s.small("float32", (1, 4, 2, 2))], {}, "SHAPE", "expected (1, 8, 2, 2)")
    yield Refusal([x, w, offset, None, s.small("float32", (1, 8, 2, 2))], {}, "SHAPE", "expected (1, 4, 2, 2)")
    yield Refusal([x, w, offset], {"offset_groups": 3}, "SHAPE", "offset_groups is 3")
    yield Refusal([x, w, offset], {"groups": 2}, "SHAPE", "input w")
    yield Refusal([x, w, offset, s.small("float32", (2,))], {}, "SHAPE", "one value a channel")
    yield Refusal([x, w, s.small("float16", (1, 8, 2, 2))], {}, "DTYPE", "input offset")
    yield Refusal([x, w, offset], {"dilations": [5, 1]}, "SHAPE", "expected at most")


# -- causal_conv_with_state ----------------------------------------------------------------------------------------------

@cases("causal_conv_with_state")
def causal_conv_with_state(s, dtype):
    for n, c, t, k, bias, past, silu in [(2, 3, 5, 3, True, True, False), (1, 2, 4, 2, False, True, True),
                                         (2, 2, 3, 4, True, False, True), (1, 1, 1, 3, False, False, False),
                                         (2, 2, 3, 1, True, True, False), (0, 2, 3, 2, True, True, False),
                                         (2, 2, 0, 3, False, True, False)]:
        x, w = s.small(dtype, (n, c, t)), s.small(dtype, (c, 1, k))
        b = s.small(dtype, (c,)) if bias else None
        p = s.small(dtype, (n, c, k - 1)) if past else None
        stream = np.concatenate([p if past else np.zeros((n, c, k - 1), x.dtype), x], axis=2)
        W = double(w)[:, 0, :]
        terms = np.stack([double(stream)[:, :, i:i + t] * W[:, i, None] for i in range(k)])
        y, scale = terms.sum(axis=0), abs(terms).sum(axis=0)
        if bias:
            y, scale = y + double(b)[:, None], scale + abs(double(b))[:, None]
        if silu:
            y, scale = y / (1 + np.exp(-y)), scale * 2
        state = stream[:, :, stream.shape[2] - (k - 1):]
        yield Case([x, w, b, p], {"silu": True} if silu else {}, [near(y, dtype, scale), state], ulps_of(dtype))


@refusals("causal_conv_with_state")
def causal_conv_refusals(s):
    x, w = s.small("float32", (1, 2, 4)), s.small("float32", (2, 1, 3))
    yield Refusal([x, s.small("float32", (2, 2, 3))], {}, "SHAPE", "expected (2, 1, k)")
    yield Refusal([x, w, s.small("float32", (3,))], {}, "SHAPE", "one value a channel")
    yield Refusal([x, w, None, s.small("float32", (1, 2, 3))], {}, "SHAPE", "expected (1, 2, 2)")
    yield Refusal([s.small("float32", (1, 2)), w], {}, "SHAPE", "expected [n, channels, length]")


# -- pools ---------------------------------------------------------------------------------------------------------------

WINDOWS = [  # shape, kernel, attributes
    ((2, 3, 7), [3], {}),
    ((1, 2, 5, 6), [2, 3], {"strides": [2, 1], "pads": [1, 0, 0, 2]}),
    ((2, 1, 6, 5), [2, 2], {"strides": [2, 2], "dilations": [2, 3]}),
    ((1, 2, 5, 5), [3, 3], {"strides": [2, 2], "ceil_mode": True}),
    ((1, 1, 4, 4), [2, 2], {"strides": [3, 3], "ceil_mode": True, "pads": [0, 1, 0, 1]}),
    ((2, 3, 1, 5), [2, 2], {"strides": [2, 2], "ceil_mode": True}),
    ((1, 2, 5, 4), [3, 2], {"strides": [2, 2], "auto_pad": 1}),
    ((1, 2, 5, 4), [2, 2], {"auto_pad": 2}),
    ((1, 2, 5, 4), [2, 2], {"strides": [2, 2], "auto_pad": 3}),
    ((1, 2, 3, 4, 3), [2, 2, 2], {"pads": [1, 0, 1, 0, 1, 1]}),
    ((0, 2, 4), [2], {}),
    ((1, 2, 3), [2], {"strides": [2], "pads": [3, 4]}),  # windows of padding alone
    ((2, 3, 9, 37), [3, 3], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),  # rows of more than one vector
    ((1, 2, 6, 41), [2, 3], {"dilations": [2, 2], "pads": [2, 1, 0, 3]}),
    ((1, 1, 5, 70), [3, 5], {"strides": [1, 3]}),
    ((1, 2, 3, 4, 19), [2, 2, 3], {"strides": [1, 2, 1], "pads": [0, 1, 1, 1, 0, 0], "dilations": [1, 1, 2]}),
]


def resolve(extents, kernel, attrs):
    """Paddings before and output extents."""
    axes = len(kernel)
    strides, dilations = attrs.get("strides", [1] * axes), attrs.get("dilations", [1] * axes)
    pads, auto = attrs.get("pads", [0] * 2 * axes), attrs.get("auto_pad", 0)
    begins, outputs = [], []
    for i in range(axes):
        reach = (kernel[i] - 1) * dilations[i] + 1
        if auto in (1, 2):
            out = -(-extents[i] // strides[i])
            total = max(0, (out - 1) * strides[i] + reach - extents[i])
            begins.append(total // 2 if auto == 1 else total - total // 2)
        else:
            slack = extents[i] + pads[i] + pads[axes + i] - reach
            out = slack // strides[i] + 1
            if attrs.get("ceil_mode") and slack % strides[i] and out * strides[i] < extents[i] + pads[i]:
                out += 1
            begins.append(pads[i])
        outputs.append(out)
    return strides, dilations, begins, outputs


def pooled(x, kernel, attrs, function):
    """function(list of (tap, cell), plane, batch and channel) for each output."""
    strides, dilations, begins, outputs = resolve(x.shape[2:], kernel, attrs)
    results = [np.empty((*x.shape[:2], *outputs), dtype=object) for _ in range(2)]
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            for at, cells in strided_windows(x.shape[2:], kernel, strides, begins, dilations, outputs):
                results[0][(i, c, *at)], results[1][(i, c, *at)] = function(cells, x[i, c], (i, c))
    return results


@cases("max_pool_with_indices", ulps=0)
def max_pool_with_indices(s, dtype):
    for number, (shape, kernel, attrs) in enumerate(WINDOWS):
        x = special(s, dtype, shape) if number % 2 else s.small(dtype, shape)
        if number == 4:
            x = repeat_first(x)
        planar, column = number % 3 == 1, number % 2 == 1
        order = "F" if column else "C"

        def best(cells, plane, row):
            if not cells:
                return (np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf), -1
            values = [float(plane[c]) if x.dtype.kind not in "iu" else int(plane[c]) for _, c in cells]
            nans = [i for i, v in enumerate(values) if v != v]
            first = nans[0] if nans else values.index(max(values))
            index = int(np.ravel_multi_index(cells[first][1], plane.shape, order=order))
            return plane[cells[first][1]], index + (0 if planar else (row[0] * shape[1] + row[1]) * plane.size)

        y, indices = pooled(x, kernel, attrs, best)
        given = dict(attrs, kernel=kernel, planar=planar, column_major=column)
        yield Case([x], given, [y.astype(x.dtype), indices.astype(np.int64)])


@refusals("max_pool_with_indices", "lp_pool")
def pool_refusals(s, op):
    x = s.small("float32", (1, 2, 4, 4))
    yield Refusal([x], {"kernel": [2]}, "ARGUMENT", "kernel has 1 values")
    yield Refusal([x], {"kernel": [5, 2]}, "SHAPE", "expected at most")
    yield Refusal([x], {"kernel": [0, 2]}, "SHAPE", "at least 1 cell")
    yield Refusal([x], {"kernel": [2, 2], "strides": [0, 1]}, "ARGUMENT", "strides")
    yield Refusal([x], {"kernel": [2, 2], "pads": [1]}, "ARGUMENT", "pads")
    yield Refusal([s.small("float32", (2, 4))], {"kernel": []}, "SHAPE", "spatial axes")
    if op == "lp_pool":
        yield Refusal([x], {"kernel": [2, 2], "p": 0.0}, "ARGUMENT", "p is 0")
        yield Refusal([x], {"kernel": [2, 2], "p": float("nan")}, "ARGUMENT", "p is")


@cases("max_unpool", ulps=0)
def max_unpool(s, dtype):
    t = NUMPY[dtype]
    for shape, kernel, attrs, planar in [((1, 1, 2, 2), [2, 2], {"strides": [2, 2]}, False),
                                         ((1, 2, 2, 2), [2, 2], {"strides": [2, 2], "output_shape": [5, 6]}, False),
                                         ((2, 2, 3), [3], {"strides": [2], "pads": [1, 1]}, False),
                                         ((2, 2, 2, 3), [2, 2], {"strides": [2, 2]}, True),
                                         ((2, 1, 2, 2), [2, 2], {"output_shape": [4, 5]}, True),
                                         ((1, 2, 2, 1, 2), [2, 1, 2], {"strides": [2, 1, 2]}, True),
                                         ((0, 2, 2), [2], {}, False),
                                         ((2, 3, 7, 19), [2, 3], {"strides": [2, 3]}, False),
                                         ((2, 3, 7, 19), [2, 3], {"strides": [2, 3]}, True)]:
        axes = len(kernel)
        strides, pads = attrs.get("strides", [1] * axes), attrs.get("pads", [0] * 2 * axes)
        natural = [(shape[2 + i] - 1) * strides[i] + kernel[i] - pads[i] - pads[axes + i] for i in range(axes)]
        outputs = attrs.get("output_shape", natural)
        x = special(s, dtype, shape)
        count = int(np.prod(outputs)) if planar else int(np.prod(shape[:2])) * int(np.prod(natural))
        indices = s.integers(0, max(count - 1, 0), shape)
        if planar:
            y = np.zeros((*shape[:2], *outputs), t)
            for at in places(shape):
                y[at[:2]].reshape(-1)[indices[at]] = x[at]
        else:
            flat = np.zeros((*shape[:2], *natural), t)
            for at in places(shape):
                flat.reshape(-1)[indices[at]] = x[at]
            y = np.zeros((*shape[:2], *outputs), t)
            y[tuple(slice(0, n) for n in flat.shape)] = flat
        indices = indices.astype(np.int16 if 1000 < count < 2**15 else np.int64)
        yield Case([x, indices], dict(attrs, kernel=kernel, planar=planar), [y])


@refusals("max_unpool")
def max_unpool_refusals(s):
    x, i = s.small("float32", (1, 1, 2, 2)), np.arange(4).reshape(1, 1, 2, 2)
    yield Refusal([x, i], {"kernel": [2]}, "ARGUMENT", "kernel has 1 values")
    yield Refusal([x, i.astype(np.float32)], {"kernel": [2, 2]}, "DTYPE", "expected integers")
    yield Refusal([x, i[:, :, :1]], {"kernel": [2, 2]}, "SHAPE", "expected (1, 1, 2, 2)")
    yield Refusal([x, i + 8], {"kernel": [2, 2]}, "INDEX", "is 9, expected 0 to 8")
    yield Refusal([x, i - 1], {"kernel": [2, 2]}, "INDEX", "is -1, expected 0 to 8")
    yield Refusal([x, np.array([9, 0, 1, 2]).reshape(i.shape)], {"kernel": [2, 2]}, "INDEX", "is 9, expected 0 to 8")
    yield Refusal([x, np.array([0, 1, 2, -1]).reshape(i.shape)], {"kernel": [2, 2]}, "INDEX", "is -1, expected 0 to 8")
    yield Refusal([x, i], {"kernel": [2, 2], "output_shape": [2, 2]}, "ARGUMENT", "output_shape has the value 2")
    yield Refusal([x, i], {"kernel": [2, 2], "output_shape": [2]}, "ARGUMENT", "output_shape has 1 values")
    yield Refusal([x, i], {"kernel": [1, 1], "pads": [2, 2, 2, 2]}, "SHAPE", "expected at least 0")


@cases("lp_pool")
def lp_pool(s, dtype):
    for number, (shape, kernel, attrs) in enumerate(WINDOWS):
        x = s.small(dtype, shape)
        p = [2.0, 1.0, 3.0, 2.5][number % 4]

        def norm(cells, plane, row):
            return (sum((abs(plane[c]) ** np.longdouble(p) for _, c in cells), np.longdouble(0)) **
                    (1 / np.longdouble(p)), 0)

        y, _ = pooled(double(x), kernel, attrs, norm)
        given = dict(attrs, kernel=kernel)
        if p != 2:
            given["p"] = p
        yield Case([x], given, [near(y.astype(np.longdouble), dtype)], ulps_of(dtype))


def spatial(x):
    return tuple(range(2, x.ndim))


@cases("global_average_pool", "global_max_pool", "global_lp_pool")
def global_pools(s, dtype, op):
    for shape in [(2, 3, 5), (1, 2, 3, 4), (2, 2, 2, 3, 2), (0, 2, 3), (3, 1, 1)]:
        x = s.small(dtype, shape)
        X = double(x)
        if op == "global_average_pool":
            total = abs(X).sum(axis=spatial(X), keepdims=True)
            yield Case([x], {}, [near(X.mean(axis=spatial(X), keepdims=True), dtype, total)], ulps_of(dtype))
        elif op == "global_max_pool":
            x = special(s, dtype, shape)
            yield Case([x], {}, [np.max(x.astype(np.float64), axis=spatial(x), keepdims=True).astype(x.dtype)], 0)
        else:
            for p in (2.0, 1.0, 3.0):
                y = (abs(X) ** np.longdouble(p)).sum(axis=spatial(X), keepdims=True) ** (1 / np.longdouble(p))
                yield Case([x], {} if p == 2 else {"p": p}, [near(y, dtype)], ulps_of(dtype))


@refusals("global_average_pool", "global_max_pool", "global_lp_pool", "adaptive_average_pool", "adaptive_max_pool")
def global_pool_refusals(s, op):
    yield Refusal([s.small("float32", (2, 3))], {}, "SHAPE", "spatial axes")
    yield Refusal([s.small("float32", (2, 3, 0))], {}, "SHAPE", "at least 1 cell")
    if op.startswith("adaptive"):
        yield Refusal([s.small("float32", (2, 3, 4))], {"output_shape": [2, 2]}, "ARGUMENT", "output_shape has 2")
        yield Refusal([s.small("float32", (2, 3, 4))], {"output_shape": [-1]}, "ARGUMENT", "the value -1")
        yield Refusal([s.small("float32", (2, 3, 4))], {"output_shape": [2**62]}, "OVERFLOW", "64 bits")
    if op == "global_lp_pool":
        yield Refusal([s.small("float32", (2, 3, 4))], {"p": -1.0}, "ARGUMENT", "p is -1")


@cases("adaptive_average_pool", "adaptive_max_pool")
def adaptive_pools(s, dtype, op):
    for shape, outputs in [((2, 3, 7), [3]), ((1, 2, 5, 4), [3, 2]), ((1, 2, 3, 3), [5, 4]), ((2, 1, 4, 3, 5), [2, 3, 1]),
                           ((2, 2, 4), [0]), ((1, 2, 4, 4), [1, 1]), ((2, 3, 9, 37), [4, 5]), ((1, 2, 8, 72), [4, 18]),
                           ((1, 3, 70), [7]), ((1, 2, 5, 61), [3, 2]), ((3, 1, 2, 3, 90), [1, 2, 3])]:
        x = s.small(dtype, shape) if op == "adaptive_average_pool" else special(s, dtype, shape)
        X = double(x)
        y = np.zeros((*shape[:2], *outputs), np.longdouble)
        indices, scale = np.zeros(y.shape, np.int64), np.zeros(y.shape)
        for at in places(outputs):
            cut = tuple(slice(a * n // o, -((-(a + 1) * n) // o)) for a, n, o in zip(at, shape[2:], outputs))
            block = X[(slice(None), slice(None), *cut)]
            if op == "adaptive_average_pool":
                y[(slice(None), slice(None), *at)] = block.mean(axis=spatial(X))
                scale[(slice(None), slice(None), *at)] = abs(block).sum(axis=spatial(X))
            else:
                for row in places(shape[:2]):
                    flat = block[row].reshape(-1)
                    local = np.unravel_index(int(np.argmax(flat)), block[row].shape)
                    whole = tuple(l + c.start for l, c in zip(local, cut))
                    y[(*row, *at)] = X[(*row, *whole)]
                    indices[(*row, *at)] = np.ravel_multi_index(whole, shape[2:])
        if op == "adaptive_average_pool":
            yield Case([x], {"output_shape": outputs}, [near(y, dtype, scale)], ulps_of(dtype))
        else:
            yield Case([x], {"output_shape": outputs}, [near(y, dtype), Exact(indices)], 0)


@cases("morphological_dilation", "morphological_erosion")
def morphology(s, dtype, op):
    for shape, kernel, attrs in WINDOWS:
        if attrs.get("ceil_mode"):
            continue
        x, w = s.small(dtype, shape), s.small(dtype, (shape[1], *kernel))
        W = double(w)

        def extreme(cells, plane, row):
            if op == "morphological_dilation":
                return max((plane[c] + W[(row[1], *t)] for t, c in cells), default=-np.inf), 0
            return min((plane[c] - W[(row[1], *t)] for t, c in cells), default=np.inf), 0

        y, _ = pooled(double(x), kernel, attrs, extreme)
        yield Case([x, w], attrs, [near(y.astype(np.longdouble), dtype, 8)], ulps_of(dtype, 2))


@refusals("morphological_dilation", "morphological_erosion")
def morphology_refusals(s, op):
    x = s.small("float32", (1, 2, 4, 4))
    yield Refusal([x, s.small("float32", (3, 2, 2))], {}, "SHAPE", "expected [2, ...]")
    yield Refusal([x, s.small("float32", (2, 2))], {}, "SHAPE", "of 3 axes")
    yield Refusal([x, s.small("float32", (2, 5, 5))], {}, "SHAPE", "expected at most")
    yield Refusal([x, s.small("float64", (2, 2, 2))], {}, "DTYPE", "expected float32")

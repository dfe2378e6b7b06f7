"""Images: resize, sampling, boxes, colours."""
import colorsys
import itertools
import math

import numpy as np

from framework import Case, Near, Refusal, cases, is_complex, is_float, is_integer, refusals, wide

NEAREST, LINEAR, CUBIC = range(3)
HALF_PIXEL, SYMMETRIC, PYTORCH, ALIGN, ASYMMETRIC, CROP, UNSHIFTED = range(7)


def result(value, scale, like):
    """Numbers for the dtype of `like`: floats near, integers rounded to even and saturated; None if an integer depends on the
    last bits."""
    dtype = like.dtype.name
    if is_integer(dtype) and (abs(value % 1 - 0.5) < 1e-9).any():
        return None
    if is_float(dtype):
        return Near(value, dtype, scale)
    info = np.iinfo(like.dtype)
    rounded = [int(np.rint(v)) if np.isfinite(v) else 0 for v in value.reshape(-1)]
    return np.array([min(max(v, info.min), info.max) for v in rounded], dtype=object).reshape(value.shape).astype(
        like.dtype)


def numbers(x):
    return np.asarray(x).astype(np.float64).astype(np.longdouble)


# -- resize ------------------------------------------------------------------------------------------------------------

def place(o, n, m, width, scale, how, roi):
    if how == SYMMETRIC:
        return n / 2 * (1 - m / width) + (o + 0.5) / scale - 0.5
    if how == PYTORCH and width == 1:
        return -0.5
    if how == ALIGN:
        return 0.0 if width == 1 else o * (n - 1) / (width - 1)
    if how == ASYMMETRIC:
        return o / scale
    if how == UNSHIFTED:
        return (o + 0.5) / scale
    if how == CROP:
        span = (roi[1] - roi[0]) * (n - 1)
        return roi[0] * (n - 1) + (span / 2 if width == 1 else o * span / (width - 1))
    return (o + 0.5) / scale - 0.5


def keys(t, a):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def weight_matrix(n, m, width, scale, attrs, roi):
    """m x n weights, and which positions are outside."""
    how, mode = attrs.get("coordinates", 0), attrs.get("mode", 0)
    matrix, outside = np.zeros((m, n), np.longdouble), np.zeros(m, bool)
    for o in range(m):
        x = place(o, n, m, width, scale, how, roi)
        if how == CROP and not 0 <= x <= n - 1:
            outside[o] = True
        elif mode == NEAREST:
            rule = attrs.get("nearest", 0)
            i = [math.ceil(x - 0.5), math.floor(x + 0.5), math.floor(x), math.ceil(x)][rule]
            matrix[o, min(max(i, 0), n - 1)] = 1
        else:
            step = min(scale, 1.0) if attrs.get("antialias") else 1.0
            reach = math.ceil((2 if mode == CUBIC else 1) / step) + 1
            cells = range(math.floor(x) - reach, math.floor(x) + reach + 1)
            f = (lambda t: keys(t, attrs.get("cubic_a", -0.75))) if mode == CUBIC else (lambda t: max(0.0, 1 - abs(t)))
            row = {c: f((c - x) * step) for c in cells}
            if attrs.get("exclude_outside"):
                row = {c: w for c, w in row.items() if 0 <= c < n}
            total = sum(row.values()) if attrs.get("antialias") or attrs.get("exclude_outside") else 1
            for c, w in row.items():
                matrix[o, min(max(c, 0), n - 1)] += np.longdouble(w) / total
    return matrix, outside


def scaled_length(n, scale):
    """As in src/ops/infer/image.c: a scale that float32 holds is multiplied in float32."""
    exact = scale == math.floor(scale) or math.frexp(scale)[0] == 0.5
    return n * scale if exact or float(np.float32(scale)) != scale else float(np.float32(n) * np.float32(scale))


def resized(x, attrs, roi=None):
    axes = [a % x.ndim for a in attrs.get("axes", range(x.ndim))]
    sizes, scales = attrs.get("sizes"), attrs.get("scales", [])
    if sizes:
        scales = [s / x.shape[a] for s, a in zip(sizes, axes)]
        aspect = attrs.get("aspect", 0)
        if aspect:
            scales = [(min if aspect == 1 else max)(scales)] * len(axes)
            sizes = [math.floor(scales[0] * x.shape[a] + 0.5) for a in axes]
            widths = [scales[0] * x.shape[a] for a in axes]
        else:
            widths = sizes
    else:
        widths = [s * x.shape[a] for s, a in zip(scales, axes)]
        sizes = [math.floor(scaled_length(x.shape[a], s)) for s, a in zip(scales, axes)]
    nearest = attrs.get("mode", 0) == NEAREST
    y = x if nearest else numbers(x)
    scale = None if nearest else abs(y)
    outside = np.zeros((), bool)
    for k, (a, m, width, s) in enumerate(zip(axes, sizes, widths, scales)):
        bounds = None if roi is None else (float(roi[k]), float(roi[k + len(axes)]))
        matrix, out = weight_matrix(x.shape[a], m, width, s, attrs, bounds)
        if nearest:
            y = np.take(y, matrix.argmax(axis=1) if m else [], axis=a) if x.shape[a] or not m else y
            y = y.astype(x.dtype)
        else:
            y = np.moveaxis(np.tensordot(matrix, y, (1, a)), 0, a)
            scale = np.moveaxis(np.tensordot(abs(matrix), scale, (1, a)), 0, a)
        outside = outside | out.reshape([-1] + [1] * (x.ndim - a - 1))
    fill = attrs.get("extrapolation", 0)
    if outside.any():
        y = np.where(np.broadcast_to(outside, y.shape), np.asarray(fill).astype(y.dtype), y)
    return y if nearest else result(y, np.maximum(scale, abs(fill)).astype(np.float64), x)


@cases("resize", ulps=2)
def resize(s, dtype):
    full = dtype in ("float32", "float64")
    real = is_float(dtype) or is_integer(dtype)
    x4, x2, x3 = s.small(dtype, (2, 1, 4, 5)), s.small(dtype, (4, 6)), s.small(dtype, (3, 1, 7))

    def case(x, roi=None, **attrs):
        inputs = [x] if roi is None else [x, np.array(roi, np.float32)]
        want = resized(x, attrs, None if roi is None else inputs[1])
        return [] if want is None else [Case(inputs, attrs, [want], ulps=1024 if dtype == "float64" else None)]

    for how, nearest in itertools.product((0, 1, 2, 3, 4, UNSHIFTED), range(4)):
        yield from case(x2, mode=NEAREST, coordinates=how, nearest=nearest, sizes=[7, 3])
        if full:
            yield from case(x2, mode=NEAREST, coordinates=how, nearest=nearest, scales=[0.6, 1.7])
    yield from case(s.small(dtype), mode=NEAREST)
    yield Case([s.small(dtype, (0, 3))], {"sizes": [0, 5]}, [s.small(dtype, (0, 5))])
    yield Case([s.small(dtype, (0, 3))], {"scales": [2, 2]}, [s.small(dtype, (0, 6))])
    yield Case([s.small(dtype, (2, 3))], {"sizes": [2, 0]}, [s.small(dtype, (2, 0))])
    yield from case(s.small(dtype, (300,)), mode=NEAREST, scales=[2.5])
    yield from case(s.small(dtype, (3, 7)), mode=NEAREST, scales=[float(np.float32(5 / 3)), float(np.float32(9 / 7))])
    yield from case(np.repeat(x2[:1], 4, 0), mode=NEAREST, axes=[-1], sizes=[9])
    yield from case(x2, [0.2, 0.1, 1.1, 0.8], mode=NEAREST, coordinates=CROP, sizes=[5, 4], extrapolation=1)
    if not real:
        return
    y = np.array([0, 0.5, 1, 2.5, 4, 6.5, 9, 9])
    yield Case([np.array([0, 1, 4, 9]).astype(x2.dtype)], {"mode": LINEAR, "coordinates": ASYMMETRIC, "sizes": [8]},
               [(np.rint(y) if is_integer(dtype) else y).astype(x2.dtype)])
    for mode, how in itertools.product((LINEAR, CUBIC), range(5)):
        for more in ({}, {"antialias": True}, {"exclude_outside": True}):
            yield from case(x2, mode=mode, coordinates=how, sizes=[7, 3], **more)
            yield from case(x4, mode=mode, coordinates=how, axes=[3, 2], scales=[0.45, 1.6], **more)
    for mode in (LINEAR, CUBIC):
        yield from case(x2, [0.2, 0.1, 1.1, 0.8], mode=mode, coordinates=CROP, sizes=[5, 4], extrapolation=7)
        yield from case(x4, [0.3, 0.4, 0.7, 0.5], mode=mode, coordinates=CROP, axes=[2, 3], sizes=[3, 1])
        yield from case(x3, mode=mode, sizes=[2, 3, 4], antialias=True)
        yield from case(x4, mode=mode, axes=[2, 3], sizes=[9, 7], aspect=1)
        yield from case(x4, mode=mode, axes=[2, 3], sizes=[9, 7], aspect=2)
        yield from case(x3, mode=mode, axes=[0], scales=[1.9], cubic_a=-0.5)
    yield from case(s.small(dtype, (2, 130)), mode=LINEAR, axes=[1], sizes=[301])
    if full:
        yield from case(s.small(dtype, (2, 3, 33, 40)), mode=CUBIC, axes=[2, 3], scales=[2.3, 0.4], antialias=True)
        x = s.small(dtype, (4,))
        x[1] = np.inf  # a tap without weight is not read
        yield Case([x], {"mode": LINEAR, "coordinates": ALIGN, "sizes": [7]},
                   [Near(np.interp(np.linspace(0, 3, 7), range(4), np.where(np.isinf(x), 0, x)), dtype)]
                   if not np.isinf(x).any() else
                   [np.array([x[0], np.inf, np.inf, np.inf, x[2], (x[2] + x[3]) / 2, x[3]], x.dtype)])


@refusals("resize")
def resize_refusals(s):
    x = s.small("float32", (3, 4))
    yield Refusal([x], {}, "ARGUMENT", "either sizes or scales")
    yield Refusal([x], {"sizes": [2, 2], "scales": [1, 1]}, "ARGUMENT", "either sizes or scales")
    yield Refusal([x], {"sizes": [2]}, "ARGUMENT", "1 sizes given, expected 2")
    yield Refusal([x], {"sizes": [2, -1]}, "ARGUMENT", "sizes[1] is -1")
    yield Refusal([x], {"scales": [1, 0]}, "ARGUMENT", "scales[1] is 0")
    yield Refusal([x], {"scales": [1, np.nan]}, "ARGUMENT", "scales[1] is")
    yield Refusal([x], {"scales": [1, 1e30]}, "OVERFLOW", "scales[1] is 1e+30")
    yield Refusal([x], {"sizes": [2], "axes": [2]}, "INDEX", "axes 2 is out of range")
    yield Refusal([x], {"sizes": [2, 2], "axes": [1, -1]}, "ARGUMENT", "axes names axis 1 twice")
    yield Refusal([x], {"sizes": [2, 2], "mode": 3}, "ARGUMENT", "mode is 3, expected 0 to 2")
    yield Refusal([x], {"sizes": [2, 2], "coordinates": 7}, "ARGUMENT", "coordinates is 7")
    yield Refusal([x], {"sizes": [2, 2], "nearest": -1}, "ARGUMENT", "nearest is -1")
    yield Refusal([x], {"sizes": [2, 2], "aspect": 3}, "ARGUMENT", "aspect is 3")
    yield Refusal([x], {"sizes": [2, 2], "antialias": True}, "ARGUMENT", "antialias is given with mode nearest")
    yield Refusal([x], {"sizes": [2, 2], "coordinates": CROP}, "NULL_ARGUMENT", "input roi is missing")
    yield Refusal([x, x[0]], {"sizes": [2], "axes": [0], "coordinates": CROP}, "SHAPE", "expected (2,)")
    yield Refusal([x, np.zeros(4, np.int32)], {"sizes": [2, 2]}, "DTYPE", "expected a floating dtype")
    yield Refusal([x[:0]], {"sizes": [2, 2]}, "SHAPE", "axis 0 is empty")
    yield Refusal([s.small("bool", (3,))], {"sizes": [2], "mode": LINEAR}, "DTYPE", "mode nearest alone")


# -- sampling ----------------------------------------------------------------------------------------------------------

def mirrored(x, low, high):
    if high == low:
        return low
    t = (x - low) % (2 * (high - low))
    return low + min(t, 2 * (high - low) - t)


def sample_axis(u, n, mode, padding, align):
    """Indices and weights of the elements at a coordinate; None: nowhere."""
    u, edge = float(u), 0.0 if align else 0.5
    x = (u + 1) / 2 * (n - 1) if align else ((u + 1) * n - 1) / 2
    if math.isnan(x) or (math.isinf(x) and padding == 2):
        return None
    if mode == NEAREST and math.isfinite(x):
        x = float(np.rint(x))
    if not -edge <= x <= n - 1 + edge and padding:
        x = min(max(x, 0.0), n - 1.0) if padding == 1 else mirrored(x, -edge, n - 1 + edge)
    if math.isinf(x):
        return []
    low = math.floor(x)
    taps = ([(low, 1.0)] if mode == NEAREST else [(low, 1 - (x - low)), (low + 1, x - low)] if mode == LINEAR else
            [(low + k, keys(x - low - k, -0.75)) for k in (-1, 0, 1, 2)])
    inside = []
    for i, w in taps:
        if padding == 1:
            i = min(max(i, 0), n - 1)
        elif padding == 2 and not 0 <= i < n:
            i = int(mirrored(i, -edge, n - 1 + edge))
        if 0 <= i < n:
            inside.append((i, w))
    return inside


def sampled(x, grid, attrs):
    mode, padding, align = attrs.get("mode", 1), attrs.get("padding", 0), attrs.get("align_corners", False)
    d = x.ndim - 2
    value = np.zeros(x.shape[:2] + grid.shape[1:-1], np.longdouble)
    scale = np.zeros(value.shape)
    wide_x = numbers(x)
    for n in range(x.shape[0]):
        for at in np.ndindex(*grid.shape[1:-1]):
            taps = [sample_axis(grid[(n,) + at + (d - 1 - i,)], x.shape[2 + i], mode, padding, align) for i in range(d)]
            if any(t is None for t in taps):
                value[(n, slice(None)) + at] = np.nan
                continue
            for combination in itertools.product(*taps):
                weight = np.prod([np.longdouble(w) for _, w in combination])
                if weight != 0:
                    cell = wide_x[(n, slice(None)) + tuple(i for i, _ in combination)]
                    value[(n, slice(None)) + at] += weight * cell
                    scale[(n, slice(None)) + at] += np.abs(weight * cell).astype(np.float64)
    return result(value, np.where(np.isfinite(scale), scale, 0), x)


def grid_for(s, x, out, dtype="float32"):
    grid = s.uniform(dtype, -1.6, 1.6, (x.shape[0],) + out + (x.ndim - 2,))
    flat = grid.reshape(-1)
    for k, v in enumerate((-1, 1, 0, -0.5, 3.25)):
        if 3 * k < flat.size:
            flat[3 * k] = v
    return grid


@cases("grid_sample", ulps=4)
def grid_sample(s, dtype):
    x2, x3, x1 = s.small(dtype, (2, 2, 3, 4)), s.small(dtype, (1, 2, 3, 2, 3)), s.small(dtype, (2, 1, 5))
    x2[1] = x2[0]
    for mode, padding, align in itertools.product(range(3), range(3), (False, True)):
        attrs = {"mode": mode, "padding": padding, "align_corners": align}
        for x, out in ((x2, (3, 2)), (x3, (2, 1, 2)), (x1, (4,))):
            grid = grid_for(s, x, out, "float64" if dtype == "float64" else "float32")
            want = sampled(x, grid, attrs)
            if want is not None:
                yield Case([x, grid], attrs, [want], ulps=1024 if dtype == "float64" else None)
    one = s.small(dtype, (1, 1, 1, 1))
    for padding in range(3):
        grid = np.array([[[[-3, 0.3], [0, 0], [1e30, -1e30], [np.nan, 0], [np.inf, 0]]]], np.float32)
        for align in (False, True):
            attrs = {"padding": padding, "align_corners": align, "mode": NEAREST}
            yield Case([one, grid[..., 1:, :]], attrs, [sampled(one, grid[..., 1:, :], attrs)])
    yield Case([x2[:, :, :, :], np.zeros((2, 0, 3, 2), np.float32)], {}, [np.zeros((2, 2, 0, 3), x2.dtype)])


@refusals("grid_sample")
def grid_sample_refusals(s):
    x, grid = s.small("float32", (2, 3, 4, 5)), s.small("float32", (2, 2, 2, 2))
    yield Refusal([x[0, 0], grid], {}, "SHAPE", "expected [n, c, ...]")
    yield Refusal([x, grid[0]], {}, "SHAPE", "as many axes as x has")
    yield Refusal([x, grid[:1]], {}, "SHAPE", "expected [2, ..., 2]")
    yield Refusal([x, grid[..., :1]], {}, "SHAPE", "expected [2, ..., 2]")
    yield Refusal([x, grid.astype(np.int32)], {}, "DTYPE", "expected a floating dtype")
    yield Refusal([x[:, :, :0], grid], {}, "SHAPE", "not empty")
    yield Refusal([x, grid], {"mode": 5}, "ARGUMENT", "mode is 5")
    yield Refusal([x, grid], {"padding": 3}, "ARGUMENT", "padding is 3")


def base_places(n, align):
    i = np.arange(n, dtype=np.longdouble)
    if align:
        return 2 * i / (n - 1) - 1 if n > 1 else i
    return (2 * i + 1) / n - 1


def grid_of(theta, spatial, align):
    places = list(np.meshgrid(*[base_places(n, align) for n in spatial], indexing="ij"))[::-1]
    homogeneous = np.stack(places + [np.ones_like(places[0])], axis=-1)
    t = numbers(theta)
    return np.einsum("nij,...j->n...i", t, homogeneous), np.einsum("nij,...j->n...i", abs(t), abs(homogeneous))


@cases("affine_grid", ulps=2)
def affine_grid(s, dtype):
    for size in ([2, 3, 4, 5], [1, 1, 1, 3], [2, 1, 2, 3, 4], [1, 2, 1, 1, 1], [0, 3, 2, 2], [1, 1, 20, 30]):
        d = len(size) - 2
        for align in (False, True):
            theta = s.small(dtype, (size[0], d, d + 1))
            value, scale = grid_of(theta, size[2:], align)
            yield Case([theta], {"size": size, "align_corners": align},
                       [Near(value, dtype, scale.astype(np.float64))])


@refusals("affine_grid")
def affine_grid_refusals(s):
    theta = s.small("float32", (2, 2, 3))
    yield Refusal([theta], {"size": [2, 3, 4]}, "ARGUMENT", "size has 3 values")
    yield Refusal([theta], {"size": [3, 3, 4, 5]}, "SHAPE", "expected (3, 2, 3)")
    yield Refusal([theta], {"size": [2, 3, 4, 5, 6]}, "SHAPE", "expected (2, 3, 4)")
    yield Refusal([theta[0]], {"size": [2, 3, 4, 5]}, "SHAPE", "[n, d, d + 1]")
    yield Refusal([theta], {"size": [2, 3, 4, -5]}, "SHAPE", "expected extents of at least 0")


@cases("spatial_transformer", ulps=8)
def spatial_transformer(s, dtype):
    for shape, size in (((2, 2, 4, 5), [3, 3]), ((1, 1, 3, 2, 3), [2, 3, 2])):
        d = len(size)
        x = s.small(dtype, shape)
        for mode, padding, align in itertools.product(range(3), range(3), (False, True)):
            theta = np.eye(d, d + 1)[None] + s.random.uniform(-0.4, 0.4, (shape[0], d, d + 1))
            theta = np.round(theta * 64).astype(np.float32) / np.float32(64)
            grid, _ = grid_of(theta, size, align)
            attrs = {"mode": mode, "padding": padding, "align_corners": align}
            if mode == NEAREST:  # half way between two elements rounding decides
                grid = grid.astype(np.float64)
                u = np.moveaxis(grid, -1, 0)[::-1]
                n = np.array(shape[2:]).reshape([-1] + [1] * (d + 1))
                place_of = (u + 1) / 2 * (n - 1) if align else ((u + 1) * n - 1) / 2
                if (abs(place_of % 1 - 0.5) < 1e-9).any():
                    continue
            want = sampled(x, grid.astype(np.float64), attrs)
            if want is not None:
                yield Case([x, theta.astype(np.float32)], {"size": size, **attrs}, [want],
                           ulps=1024 if dtype == "float64" else None)


@refusals("spatial_transformer")
def spatial_transformer_refusals(s):
    x, theta = s.small("float32", (2, 3, 4, 5)), s.small("float32", (2, 2, 3))
    yield Refusal([x, theta], {"size": [3]}, "ARGUMENT", "size has 1 values, expected 2")
    yield Refusal([x, theta], {"size": [3, 0]}, "ARGUMENT", "expected 2 of at least 1")
    yield Refusal([x, theta[:1]], {"size": [3, 3]}, "SHAPE", "expected (2, 2, 3)")


@cases("crop_and_resize", ulps=4)
def crop_and_resize(s, dtype):
    x = s.small(dtype, (2, 4, 5, 3))
    boxes = np.array([[0, 0, 1, 1], [0.25, 0.5, 0.75, 0.25], [-0.5, 0.125, 1.5, 0.875], [0.5, 0.5, 0.5, 0.5]], np.float64)
    boxes = boxes.astype(np.float32)
    for mode, size in itertools.product((NEAREST, LINEAR), ([3, 2], [1, 1], [4, 5])):
        indices = np.array([0, 1, 1, 0], np.int32 if mode else np.int64)
        y = np.zeros((4, size[0], size[1], 3), np.longdouble)
        scale = np.zeros(y.shape)
        for b, i, j in itertools.product(range(4), range(size[0]), range(size[1])):
            def at(lo, hi, k, m, n):
                lo, hi = float(lo), float(hi)
                return lo * (n - 1) + k * (hi - lo) * (n - 1) / (m - 1) if m > 1 else 0.5 * (lo + hi) * (n - 1)
            r, c = at(boxes[b, 0], boxes[b, 2], i, size[0], 4), at(boxes[b, 1], boxes[b, 3], j, size[1], 5)
            image = numbers(x[indices[b]])
            if not (0 <= r <= 3 and 0 <= c <= 4):
                y[b, i, j] = 2.5
            elif mode == NEAREST:
                y[b, i, j] = image[math.floor(r + 0.5), math.floor(c + 0.5)]
            else:
                for di, dj in itertools.product((0, 1), (0, 1)):
                    w = (r % 1 if di else 1 - r % 1) * (c % 1 if dj else 1 - c % 1)
                    if w:
                        cell = image[int(r) + di, int(c) + dj] * np.longdouble(w)
                        y[b, i, j] += cell
                        scale[b, i, j] += abs(cell).astype(np.float64)
        yield Case([x, boxes, indices], {"size": size, "mode": mode, "extrapolation": 2.5}, [Near(y, dtype, scale)])
    wide = s.small(dtype, (1, 3, 40, 2))  # columns from the middle of a row, backwards, and past its end
    wide[0, 2] = np.inf  # which has no weight in a crop that ends on row 1
    for box, mode in itertools.product(([0, 0.25, 0.5, 0.75], [0.5, 0.9, 0, 0.1], [0, 0.5, 0.5, 1.25]), (NEAREST, LINEAR)):
        cells = [(k * (box[3] - box[1]) * 39 / 20 + box[1] * 39) for k in range(21)]
        y, scale = np.full((1, 2, 21, 2), 2.5, np.longdouble), np.zeros((1, 2, 21, 2))
        for i, (j, c) in itertools.product(range(2), enumerate(cells)):
            line = numbers(wide[0, int(2 * (box[2] if i else box[0]))])
            if 0 <= c <= 39 and mode == NEAREST:
                y[0, i, j] = line[math.floor(c + 0.5)]
            elif 0 <= c <= 39:
                ends = [line[int(c)] * np.longdouble(1 - c % 1), line[min(int(c) + 1, 39)] * np.longdouble(c % 1)]
                y[0, i, j], scale[0, i, j] = ends[0] + ends[1], (abs(ends[0]) + abs(ends[1])).astype(np.float64)
        attrs = {"size": [2, 21], "mode": mode, "extrapolation": 2.5}
        yield Case([wide, np.array([box], np.float64), np.zeros(1, np.int64)], attrs, [Near(y, dtype, scale)])
    yield Case([x, boxes[:0], np.zeros(0, np.int64)], {"size": [2, 2]}, [np.zeros((0, 2, 2, 3), x.dtype)])


@refusals("crop_and_resize")
def crop_and_resize_refusals(s):
    x, boxes, indices = s.small("float32", (2, 4, 5, 3)), s.small("float32", (2, 4)), np.zeros(2, np.int32)
    yield Refusal([x, boxes, np.array([0, 2])], {"size": [2, 2]}, "INDEX", "box_indices[1] is 2, expected 0 to 1")
    yield Refusal([x, boxes, np.array([-1, 0])], {"size": [2, 2]}, "INDEX", "box_indices[0] is -1")
    yield Refusal([x, boxes, indices], {"size": [2]}, "ARGUMENT", "size has 1 values")
    yield Refusal([x, boxes, indices], {"size": [2, 2], "mode": 2}, "ARGUMENT", "mode is 2, expected 0 to 1")
    yield Refusal([x, boxes[:, :3], indices], {"size": [2, 2]}, "SHAPE", "expected [boxes, 4]")
    yield Refusal([x, boxes, indices[:1]], {"size": [2, 2]}, "SHAPE", "one for each box")
    yield Refusal([x, boxes, indices.astype(np.float32)], {"size": [2, 2]}, "DTYPE", "expected int32 or int64")
    yield Refusal([x[0], boxes, indices], {"size": [2, 2]}, "SHAPE", "[b, h, w, c]")


# -- boxes -------------------------------------------------------------------------------------------------------------

def chosen(boxes, scores, most, iou, least, center):
    rows = []
    b, sc = boxes.astype(np.float64), scores.astype(np.float64)
    if center:
        b = np.stack([b[..., 1] - b[..., 3] / 2, b[..., 0] - b[..., 2] / 2, b[..., 1] + b[..., 3] / 2,
                      b[..., 0] + b[..., 2] / 2], -1)
    low, high = np.minimum(b[..., :2], b[..., 2:]), np.maximum(b[..., :2], b[..., 2:])
    area = np.prod(high - low, -1)
    for n, c in np.ndindex(*sc.shape[:2]):
        kept = []
        order = sorted((k for k in range(sc.shape[2]) if (sc[n, c, k] > least if least is not None else
                                                         not np.isnan(sc[n, c, k]))), key=lambda k: (-sc[n, c, k], k))
        for k in order:
            common = [np.prod(np.clip(np.minimum(high[n, k], high[n, o]) - np.maximum(low[n, k], low[n, o]), 0, None))
                      for o in kept]
            if len(kept) < most and not any(v > 0 and v / (area[n, k] + area[n, o] - v) > iou
                                            for v, o in zip(common, kept)):
                kept.append(k)
        rows += [[n, c, k] for k in kept]
    return np.array(rows, np.int64).reshape(-1, 3)


@cases("nms")
def nms(s, dtype):
    for n, c, k, center in ((1, 1, 6, False), (2, 3, 9, False), (2, 2, 8, True), (1, 2, 0, False), (1, 1, 1, False),
                            (1, 2, 70, False)):
        boxes = (s.integers(0, 16, (n, k, 4)) / 8).astype(s.small(dtype).dtype)
        scores = (s.integers(0, 12, (n, c, k)) / 8).astype(boxes.dtype)
        if k > 4:
            boxes[:, 1], scores[:, :, 1] = boxes[:, 0], scores[:, :, 0]
            scores[0, 0, 3] = np.nan
        for most, iou, least in ((None, None, None), (2, 0.5, None), (4, 0.25, 0.5), (0, 0.5, 0.0), (-3, 0.5, 0.0)):
            inputs = [boxes, scores] + [None if v is None else np.array([v], t)
                                        for v, t in ((most, np.int64), (iou, np.float32), (least, np.float32))]
            want = chosen(boxes, scores, k if most is None else most, iou or 0, least, center)
            yield Case(inputs, {"center_point_box": center}, [want])


@refusals("nms")
def nms_refusals(s):
    boxes, scores = s.small("float32", (1, 5, 4)), s.small("float32", (1, 2, 5))
    yield Refusal([boxes[..., :3], scores], {}, "SHAPE", "expected [n, boxes, 4]")
    yield Refusal([boxes, scores[..., :4]], {}, "SHAPE", "expected [1, classes, 5]")
    yield Refusal([boxes, scores, np.zeros(2, np.int64)], {}, "SHAPE", "expected a single element")
    yield Refusal([boxes, scores, np.zeros((), np.float32)], {}, "DTYPE", "expected int32 or int64")
    yield Refusal([boxes, scores, None, np.zeros((), np.int64)], {}, "DTYPE", "expected a floating dtype")


def aligned(x, rois, indices, attrs):
    x, rois = numbers(x), numbers(rois)
    ph, pw = attrs["size"]
    ratio, scale, half = attrs.get("sampling_ratio", 0), attrs.get("spatial_scale", 1.0), attrs.get("half_pixel", True)
    h, w = x.shape[2:]
    y = np.zeros((len(rois), x.shape[1], ph, pw), np.longdouble)
    size = np.zeros(y.shape)
    for r in range(len(rois)):
        x1, y1, x2, y2 = rois[r] * np.longdouble(scale) - (0.5 if half else 0)
        rh, rw = (y2 - y1, x2 - x1) if half else (max(y2 - y1, 1), max(x2 - x1, 1))
        gh = ratio or max(math.ceil(rh / ph), 0)
        gw = ratio or max(math.ceil(rw / pw), 0)
        for i, j in itertools.product(range(ph), range(pw)):
            samples = []
            for p, q in itertools.product(range(gh), range(gw)):
                py, px = y1 + i * rh / ph + (p + 0.5) * rh / ph / gh, x1 + j * rw / pw + (q + 0.5) * rw / pw / gw
                if py < -1 or py > h or px < -1 or px > w:
                    samples.append([np.zeros(x.shape[1], np.longdouble)] * 4)
                    continue
                py, px = min(max(py, 0), h - 1), min(max(px, 0), w - 1)
                a, b = int(py), int(px)
                fy, fx = py - a, px - b
                image = x[indices[r]]
                samples.append([image[:, min(a + u, h - 1), min(b + v, w - 1)] * ((fy if u else 1 - fy) *
                                                                                  (fx if v else 1 - fx))
                                for u, v in itertools.product((0, 1), (0, 1))])
            if not samples:
                continue
            parts = np.array(samples, np.longdouble)
            y[r, :, i, j] = parts.max(axis=(0, 1)) if attrs.get("mode") else parts.sum(axis=(0, 1)) / len(samples)
            size[r, :, i, j] = abs(parts).max(axis=(0, 1)) if attrs.get("mode") else (
                abs(parts).sum(axis=(0, 1)) / len(samples))
    return y, size


@cases("roi_align", ulps=8)
def roi_align(s, dtype):
    x = s.small(dtype, (2, 2, 6, 7))
    x[1] = x[0]
    rois = np.array([[0, 0, 6, 5], [1.25, 2.5, 4.75, 5.5], [-3, -2, 9, 3], [4, 4, 3, 3], [20, 20, 30, 30]], np.float32)
    indices = np.array([0, 1, 1, 0, 0], np.int64)
    for mode, ratio, half, scale in itertools.product((0, 1), (0, 2), (False, True), (1.0, 0.5)):
        attrs = {"size": [2, 3], "mode": mode, "sampling_ratio": ratio, "half_pixel": half, "spatial_scale": scale}
        value, size = aligned(x, rois, indices, attrs)
        yield Case([x, rois, indices.astype(np.int32) if ratio else indices], attrs,
                   [Near(value, dtype, np.maximum(size.astype(np.float64), 1e-3))],
                   ulps=1024 if dtype == "float64" else None)
    yield Case([x, rois[:0], indices[:0]], {"size": [1, 1]}, [np.zeros((0, 2, 1, 1), x.dtype)])
    # bins of up to 11 rows, more channels than are computed together, and more samples than cells
    wide = s.small(dtype, (1, 67, 12, 21))
    rois = np.array([[0, 0, 20, 11], [-4, 3, 30, 13], [1, 1, 2.5, 9.5], [12, 9, 3, 2]], np.float32)
    for mode, ratio, half in itertools.product((0, 1), (0, 5), (False, True)):
        attrs = {"size": [1, 3], "mode": mode, "sampling_ratio": ratio, "half_pixel": half}
        value, size = aligned(wide, rois, np.zeros(4, np.int64), attrs)
        yield Case([wide, rois, np.zeros(4, np.int64)], attrs, [Near(value, dtype, np.maximum(size.astype(np.float64), 1e-3))],
                   ulps=1024 if dtype == "float64" else None)
    # In mode max a weight of 0 makes NaN of an infinite cell, also beside larger ones; any other weight keeps -infinity.
    odd = s.small(dtype, (2, 3, 6, 6))
    odd[:, 0, 2, 3], odd[:, 1, 4, 4], odd[:, 2, 2, 2] = -np.inf, np.inf, np.nan
    indices = np.array([0, 1, 0, 1], np.int64)
    rois = np.array([[0.5, 0.25, 6.5, 4.25], [0.25, 0, 3.25, 5], [0, 0.25, 5, 4.25], [1, 1, 4, 4]], np.float32)
    attrs = {"size": [2, 3], "mode": 1, "sampling_ratio": 2, "half_pixel": False, "spatial_scale": 1.0}
    with np.errstate(invalid="ignore"):
        value, size = aligned(odd, rois, indices, attrs)
    yield Case([odd, rois, indices], attrs, [Near(value, dtype, np.where(np.isfinite(value), 1, 0) + 1e-3)],
               ulps=1024 if dtype == "float64" else None)


@refusals("roi_align")
def roi_align_refusals(s):
    x, rois, indices = s.small("float32", (2, 2, 6, 7)), s.positive("float32", (2, 4)), np.zeros(2, np.int64)
    far = np.array([[0, 0, 1e30, 1], [0, 0, 1, 1]], np.float32)
    nan = np.array([[0, 0, 1, 1], [0, np.nan, 1, 1]], np.float32)
    size = {"size": [2, 2]}
    yield Refusal([x, rois, np.array([0, 2])], size, "INDEX", "batch_indices[1] is 2, expected 0 to 1")
    yield Refusal([x, far, indices], size, "ARGUMENT", "rois[0] is not finite or needs more")
    yield Refusal([x, nan, indices], size, "ARGUMENT", "rois[1] is not finite or needs more")
    yield Refusal([x, rois, indices], {}, "ARGUMENT", "size has 0 values")
    yield Refusal([x, rois[:, :3], indices], size, "SHAPE", "expected [rois, 4]")
    yield Refusal([x[0], rois, indices], size, "SHAPE", "[n, c, h, w]")
    yield Refusal([x, rois, indices], {**size, "sampling_ratio": -1}, "ARGUMENT", "sampling_ratio is -1")
    yield Refusal([x, rois, indices], {**size, "mode": 2}, "ARGUMENT", "mode is 2")
    yield Refusal([x, rois, indices], {**size, "spatial_scale": np.inf}, "ARGUMENT", "spatial_scale is not finite")


@cases("max_roi_pool", ulps=0)
def max_roi_pool(s, dtype):
    x = s.small(dtype, (2, 3, 6, 7))
    rois = np.array([[0, 0, 0, 6, 5], [1, 1, 2, 4, 5], [1, -3, -2, 9, 3], [0, 4, 4, 3, 3], [1, 20, 20, 30, 30],
                     [0, 2.5, 2, 3.5, 2]], np.float32)
    for size, scale in itertools.product(([1, 1], [2, 3], [4, 5]), (1.0, 0.5)):
        y = np.zeros((len(rois), 3, size[0], size[1]), x.dtype)

        def cells(lo, hi, bins, k, extent):
            def away(v):  # half away from zero
                return math.floor(abs(v) + 0.5) * (1 if v >= 0 else -1)
            lo, hi = away(float(lo) * scale), away(float(hi) * scale)
            step = max(hi - lo + 1, 1) / bins
            return (min(max(math.floor(k * step) + lo, 0), extent), min(max(math.ceil((k + 1) * step) + lo, 0), extent))

        for r, i, j in itertools.product(range(len(rois)), range(size[0]), range(size[1])):
            t, b = cells(rois[r, 2], rois[r, 4], size[0], i, 6)
            le, ri = cells(rois[r, 1], rois[r, 3], size[1], j, 7)
            if t < b and le < ri:
                y[r, :, i, j] = x[int(rois[r, 0]), :, t:b, le:ri].max(axis=(1, 2))
        yield Case([x, rois], {"size": size, "spatial_scale": scale}, [y])


@refusals("max_roi_pool")
def max_roi_pool_refusals(s):
    x = s.small("float32", (2, 3, 6, 7))
    rois = np.array([[0, 0, 0, 6, 5], [2, 1, 2, 4, 5]], np.float32)
    yield Refusal([x, rois], {"size": [2, 2]}, "INDEX", "rois[1] names image 2")
    yield Refusal([x, rois[:, :4]], {"size": [2, 2]}, "SHAPE", "expected [rois, 5]")
    yield Refusal([x, rois], {"size": [0, 2]}, "ARGUMENT", "expected 2 of at least 1")


# -- colours -----------------------------------------------------------------------------------------------------------

YIQ = [[0.299, 0.587, 0.114], [0.59590059, -0.27455667, -0.32134392], [0.21153661, -0.52273617, 0.31119955]]
RGB_OF_YIQ = [[1, 0.95598634, 0.6208248], [1, -0.27201283, -0.64720424], [1, -1.10674021, 1.70423049]]
YUV = [[0.299, 0.587, 0.114], [-0.14714119, -0.28886916, 0.43601035], [0.61497538, -0.51496512, -0.10001026]]
RGB_OF_YUV = [[1, 0, 1.13988303], [1, -0.394642334, -0.58062185], [1, 2.03206185, 0]]
MATRICES = {"rgb_to_yiq": YIQ, "yiq_to_rgb": RGB_OF_YIQ, "rgb_to_yuv": YUV, "yuv_to_rgb": RGB_OF_YUV,
            "rgb_to_grayscale": [[0.2989, 0.587, 0.114]]}


def pixels(s, dtype, shape, axis):
    return np.moveaxis(s.uniform(dtype, 0, 1, shape + (3,)), -1, axis)


@cases(*MATRICES, ulps=2)
def matrices(s, dtype, op):
    for shape, axis in (((), -1), ((2, 3), -1), ((2, 3), 0), ((2, 3, 4), 1), ((0, 2), -1), ((33,), -1)):
        x = pixels(s, dtype, shape, axis)
        m = np.array(MATRICES[op], np.longdouble)
        y = np.moveaxis(np.tensordot(np.moveaxis(numbers(x), axis, -1), m, (-1, 1)), -1, axis)
        scale = np.moveaxis(np.tensordot(np.moveaxis(abs(numbers(x)), axis, -1), abs(m), (-1, 1)), -1, axis)
        yield Case([x], {"axis": axis}, [Near(y, dtype, scale.astype(np.float64))])


def by_pixel(function, x, axis):
    y = np.moveaxis(numbers(x), axis, -1)
    flat = [function(*map(float, p)) for p in y.reshape(-1, 3)]
    return np.moveaxis(np.array(flat, np.float64).reshape(y.shape), -1, axis)


def turned(delta):
    def function(r, g, b):
        h, sat, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb((h + delta) % 1.0, sat, v)
    return function


def saturated(factor):
    def function(r, g, b):
        h, sat, v = colorsys.rgb_to_hsv(r, g, b)
        return colorsys.hsv_to_rgb(h, min(max(sat * factor, 0.0), 1.0), v)
    return function


@cases("rgb_to_hsv", "hsv_to_rgb", "adjust_hue", "adjust_saturation", ulps=4)
def hues(s, dtype, op):
    corners = np.array(list(itertools.product((0, 0.5, 1), repeat=3)))
    for k, (shape, axis) in enumerate((((), -1), ((2, 3), -1), ((2, 3), 0), ((0, 2), -1), ((27,), -1))):
        x = pixels(s, dtype, shape, axis)
        if shape == (27,):
            x = corners.astype(x.dtype)
        amount = [0.25, -0.4, 1.7, 0.5, 2.0][k]
        function, attrs = {"rgb_to_hsv": (colorsys.rgb_to_hsv, {}), "hsv_to_rgb": (colorsys.hsv_to_rgb, {}),
                           "adjust_hue": (turned(amount), {"delta": amount}),
                           "adjust_saturation": (saturated(amount), {"factor": amount})}[op]
        y = by_pixel(function, x, axis)
        yield Case([x], {"axis": axis, **attrs}, [Near(y, dtype, np.ones(y.shape))])


@refusals("rgb_to_hsv", "rgb_to_grayscale", "adjust_hue")
def color_refusals(s, op):
    yield Refusal([s.small("float32", (3, 4))], {}, "SHAPE", "expected 3 colours on axis 1")
    yield Refusal([s.small("float32", (3,))], {"axis": 1}, "INDEX", "axis 1 is out of range")
    yield Refusal([s.small("float32")], {}, "INDEX", "there is no axis")


@cases("adjust_contrast", ulps=4)
def adjust_contrast(s, dtype):
    for shape, axis, factor in (((2, 4, 5, 3), -1, 1.5), ((3, 4, 5), -3, -0.5), ((4, 5, 1), 2, 0.0), ((2, 0, 5, 3), -1, 2.0)):
        x = s.uniform(dtype, 0, 1, shape)
        spatial = (len(shape) - 3, len(shape) - 2) if axis % len(shape) == len(shape) - 1 else (-2, -1)
        w = numbers(x)
        if x.size == 0:
            yield Case([x], {"axis": axis, "factor": factor}, [x])
            continue
        mean = w.mean(axis=spatial, keepdims=True)
        yield Case([x], {"axis": axis, "factor": factor},
                   [Near((w - mean) * factor + mean, dtype, np.full(shape, 1 + abs(factor)))])


@refusals("adjust_contrast")
def adjust_contrast_refusals(s):
    yield Refusal([s.small("float32", (3, 4))], {}, "SHAPE", "expected [..., h, w, c]")
    yield Refusal([s.small("float32", (3, 4, 5))], {"axis": 1}, "SHAPE", "expected [..., h, w, c]")

"""Fourier transforms, windows, convolution: NumPy's transforms in long double, the others worked out in it."""
import numpy as np

from framework import Case, Exact, Near, Refusal, cases, is_complex, is_integer, refusals, wide, FLOATS, NAMES, NUMPY

NARROW = ("float16", "bfloat16", "float32", "complex64")


SIMD_FLOATS = ("float32", "float64", "complex64", "complex128")


def complex_of(dtype):
    return "complex64" if dtype in NARROW else "complex128"


def real_of(dtype):
    return "float32" if dtype in NARROW else "float64"


def wide_float(x):
    return np.asarray(x).astype(np.longdouble) if np.asarray(x).dtype.kind in "iu" else wide(x)


def near(y, dtype, x, norm_scale=1.0, in_single=False):
    """Errors are relative to the length of what was transformed; those of single precision that is computed in double,
    to its rounding alone."""
    y = np.asarray(y)
    size = float(np.sqrt((np.abs(np.nan_to_num(wide_float(x))) ** 2).sum())) * norm_scale if x.size else 0.0
    rounded = dtype in ("complex64", "float32") and not in_single
    return Near(y, dtype, size * (2.0**-24 if rounded else 1.0))


def fft_ulps(n):
    return 4 + 2 * np.log2(max(n, 2))


def fft_near(y, dtype, out, x, scale, points):
    """(result, ulps): float32 and complex64 may be computed in single precision, which has its own library."""
    in_single = dtype in ("float32", "complex64")
    return near(y, out, x, scale, in_single), 1.0 if dtype in NARROW and not in_single else fft_ulps(points)


LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 25, 30, 31, 32, 37, 49, 64, 74, 97, 100, 121, 127, 128, 210, 243, 257, 961,
           1000, 1009, 1024]
FORMS = [((2, 5), {"axis": 0}), ((5, 2), {"axis": -2}), ((3, 4), {"n": 3}), ((3, 4), {"n": 7}), ((2, 3, 4), {"axis": 1, "n": 5}),
         ((0, 3), {}), ((3, 0), {"axis": 0}), ((20, 6), {}), ((4, 11), {"axis": 0, "n": 37}), ((3, 0), {"n": 4})]
# On both sides of the limits at which engine simd changes its method: lines that fill half of a vector, of 4096 points, of
# 2^15 if there are few.
BESIDE = [((7, 20), {}), ((8, 20), {}), ((33, 60), {}), ((60, 18), {"axis": 0}), ((9, 24), {"n": 30}), ((9, 25), {"n": 24}),
          ((4, 9, 12), {"axis": 1, "n": 10})]
LONG = [((8, 4096), {}), ((8, 5000), {}), ((5121, 2), {"axis": 0, "n": 5120}), ((1, 4500), {"n": 5000}), ((30000,), {}),
        ((32768,), {}), ((2, 36000), {"n": 34992})]
NORMS = ["", "backward", "ortho", "forward"]


def lines(s, op, dtype):
    """(input, attributes) of transforms along one axis."""
    for n in LENGTHS:
        yield s.small(dtype, (n,)), {"norm": NORMS[n % 4]}
    for number, (shape, attrs) in enumerate(FORMS):
        yield s.small(dtype, shape), dict(attrs, norm=NORMS[number % 4])
    for number, (shape, attrs) in enumerate(BESIDE + (LONG if dtype in SIMD_FLOATS else [])):
        if op in ("irfft", "hfft") and "n" not in attrs:
            shape = tuple(d // 2 + 1 if i == attrs.get("axis", -1) % len(shape) else d for i, d in enumerate(shape))
        yield s.small(dtype, shape), dict(attrs, norm=NORMS[number % 4])
    x = s.small(dtype, (4, 3))
    x[:] = x[0]
    yield x, {}


def numpy_attrs(attrs):
    result = {k: v for k, v in attrs.items() if k in ("n", "axis")}
    return dict(result, norm=attrs.get("norm") or None)


@cases("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
def one_axis(s, dtype, op):
    real_in, real_out = op in ("rfft", "ihfft"), op in ("irfft", "hfft")
    for x, attrs in lines(s, op, dtype):
        axis = attrs.get("axis", -1)
        points = attrs.get("n", 2 * (x.shape[axis] - 1) if real_out else x.shape[axis])
        if points < 1:
            continue
        y = transform(op, x, attrs)
        forward = op in ("fft", "rfft", "hfft")
        norm = attrs.get("norm") or "backward"
        scale = 1 / np.sqrt(points) if norm == "ortho" else 1 / points if (norm == "forward") == forward else 1
        expected, ulps = fft_near(y, dtype, real_of(dtype) if real_out else complex_of(dtype), x,
                                  scale * (2 if real_out else 1), points)
        yield Case([x], attrs, [expected], ulps=ulps)
    if op == "fft" and is_complex(dtype):
        x = s.small(dtype, (3, 6))
        x[1, 2] = complex(np.nan, np.nan)
        y = np.fft.fft(np.where(np.isnan(x), 0, wide(x)))
        y[1] = complex(np.nan, np.nan)
        yield Case([x], {}, [near(y, dtype, x)], ulps=6.0)


def transform(op, x, attrs):
    if x.size == 0 and 0 in np.delete(x.shape, attrs.get("axis", -1) % x.ndim):
        shape = list(x.shape)
        axis = attrs.get("axis", -1)
        points = attrs.get("n", 2 * (shape[axis] - 1) if op in ("irfft", "hfft") else shape[axis])
        shape[axis] = points // 2 + 1 if op in ("rfft", "ihfft") else points
        return np.zeros(shape)
    if x.size == 0:
        x = np.zeros([d or 1 for d in x.shape])
    return getattr(np.fft, op)(wide_float(x), **numpy_attrs(attrs))


@refusals("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
def one_axis_refusals(s, op):
    x = np.zeros((2, 3))
    yield Refusal([x], {"axis": 2}, "INDEX", "axis 2 is out of range")
    yield Refusal([np.float64(1)], {}, "INDEX", "there is no axis")
    yield Refusal([x], {"n": 0}, "ARGUMENT", "n is 0")
    yield Refusal([x], {"n": -2}, "ARGUMENT", "n is -2")
    yield Refusal([x], {"n": 2**41}, "OVERFLOW", "expected -1 or 1 to 2^40")
    yield Refusal([np.zeros((2, 0))], {}, "SHAPE", "at least 1 point")
    yield Refusal([x], {"norm": "none"}, "ARGUMENT", "norm is 'none'")
    if op in ("irfft", "hfft"):
        yield Refusal([np.zeros((2, 1))], {}, "SHAPE", "at least 1 point")


SEVERAL = [((3, 4), {}), ((5,), {}), ((2, 3, 4), {}), ((2, 3, 4), {"axes": [0, 2]}), ((2, 3, 4), {"axes": [2, 0]}),
           ((2, 3, 4), {"axes": [-2]}), ((3, 4), {"s": [5, 2]}), ((2, 3, 4), {"s": [4, 7]}),
           ((2, 3, 4), {"s": [3, -1], "axes": [1, 0]}), ((0, 3), {"axes": [1]}), ((17, 12), {}), ((4, 37, 6), {}),
           ((2, 3, 5), {"axes": [1, 2], "s": [-1, 6]}), ((16, 16, 8), {}),
           ((10, 6), {"s": [8, 10]}), ((12, 10), {"s": [15, 4], "axes": [1, 0]})]


@cases("fftn", "ifftn", "rfftn", "irfftn")
def several_axes(s, dtype, op):
    for number, (shape, attrs) in enumerate(SEVERAL):
        x = s.small(dtype, shape)
        yield several(op, x, dict(attrs, norm=NORMS[number % 4]), dtype)
    x = s.small(dtype, (4, 3))
    x[:] = x[0]
    yield several(op, x, {}, dtype)


def several(op, x, attrs, dtype):
    forward, real_out = op in ("fftn", "rfftn"), op == "irfftn"
    axes = list(attrs.get("axes", []) or range(x.ndim - len(attrs.get("s", x.shape)), x.ndim))
    s = [x.shape[a] if v == -1 else v for a, v in zip(axes, attrs.get("s", [-1] * len(axes)))]
    if real_out and attrs.get("s", [-1])[-1] == -1:
        s[-1] = 2 * (x.shape[axes[-1]] - 1)
    norm = attrs.get("norm") or "backward"
    if x.size == 0:
        shape = list(x.shape)
        shape[axes[-1]] = s[-1] // 2 + 1 if op == "rfftn" else s[-1]
        y = np.zeros(shape)
    else:
        y = getattr(np.fft, op)(wide_float(x), s=s, axes=axes, norm=norm)
    points = np.prod(s)
    scale = 1 / np.sqrt(points) if norm == "ortho" else 1 / points if (norm == "forward") == forward else 1
    expected, ulps = fft_near(y, dtype, real_of(dtype) if real_out else complex_of(dtype), x, scale * (2 if real_out else 1),
                              int(points))
    return Case([x], attrs, [expected], ulps=2 * ulps)


@refusals("fftn", "ifftn", "rfftn", "irfftn")
def several_refusals(s, op):
    x = np.zeros((2, 3))
    yield Refusal([x], {"axes": [2]}, "INDEX", "axes 2 is out of range")
    yield Refusal([x], {"axes": [0, 0]}, "ARGUMENT", "twice")
    yield Refusal([x], {"s": [2], "axes": [0, 1]}, "ARGUMENT", "s has 1 values and axes 2")
    yield Refusal([x], {"s": [2, 2, 2]}, "SHAPE", "at least 3 axes")
    yield Refusal([np.float64(1)], {}, "SHAPE", "at least 1 axis")
    yield Refusal([x], {"s": [0, 2]}, "ARGUMENT", "s is 0")
    yield Refusal([np.zeros((0, 3))], {}, "SHAPE", "at least 1 point")
    yield Refusal([x], {"norm": "no"}, "ARGUMENT", "norm is 'no'")


@cases("fftshift", "ifftshift")
def shifts(s, dtype, op):
    for shape, axes in [((5,), []), ((6,), []), ((3, 4), []), ((3, 4), [1]), ((3, 4), [-2]), ((2, 3, 5), [0, 2]), ((0, 3), []),
                        ((), []), ((2, 70, 3), []), ((3, 4), ())]:
        x = s.special(dtype, shape)
        chosen = axes if axes != [] else None
        yield Case([x], {"axes": axes}, [getattr(np.fft, op)(x, axes=chosen) if shape else x])
    x = s.small(dtype, (3, 4))
    x[:] = x[0]
    yield Case([x], {}, [getattr(np.fft, op)(x)])


@refusals("fftshift", "ifftshift")
def shift_refusals(s, op):
    yield Refusal([np.zeros((2, 3))], {"axes": [2]}, "INDEX", "axes 2 is out of range")
    yield Refusal([np.zeros((2, 3))], {"axes": [1, -1]}, "ARGUMENT", "twice")


# -- without inputs ---------------------------------------------------------------------------------------------------

@cases("fftfreq", "rfftfreq", ulps=1.5)
def frequencies(s, dtype, op):
    for n in (1, 2, 3, 8, 9, 100, 101):
        for d in (1.0, 0.25, 1 / 44100, -2.0):
            y = getattr(np.fft, op)(n) * n
            yield Case([], {"n": n, "d": d, "dtype": dtype}, [Near(y.round().astype(np.longdouble) / (np.longdouble(n) * d), dtype)])


@refusals("fftfreq", "rfftfreq")
def frequencies_refusals(s, op):
    yield Refusal([], {"n": 0}, "ARGUMENT", "n is 0")
    yield Refusal([], {"n": 4, "d": 0.0}, "ARGUMENT", "d is 0")
    yield Refusal([], {"n": 4, "dtype": "int32"}, "DTYPE", "dtype is int32, expected one of ")


def cosine_sum(size, periodic, a0, a1, a2):
    n = size if periodic else size - 1
    if n <= 0:
        return np.ones(size, dtype=np.longdouble)
    i = 2 * np.longdouble("3.14159265358979323846264338327950288") * np.arange(size).astype(np.longdouble) / n
    return a0 - a1 * np.cos(i) + a2 * np.cos(2 * i)


WINDOWS = {"hann_window": (0.5, 0.5, 0.0), "hamming_window": (0.54, 1 - 0.54, 0.0), "blackman_window": (0.42, 0.5, 0.08)}


@cases("hann_window", "hamming_window", "blackman_window", ulps=1)
def windows(s, dtype, op):
    for size in (0, 1, 2, 3, 8, 9, 100):
        for periodic in (False, True):
            y = cosine_sum(size, periodic, *WINDOWS[op])
            scale = 1.0 if dtype == "float64" else 1e-6
            yield Case([], {"size": size, "periodic": periodic, "dtype": dtype}, [Near(y, dtype, scale)], ulps=2.0)
    if op == "hamming_window":
        y = cosine_sum(10, True, 25 / 46, 1 - 25 / 46, 0.0)
        yield Case([], {"size": 10, "alpha": 25 / 46, "dtype": dtype}, [Near(y, dtype, 1.0)])


@refusals("hann_window", "hamming_window", "blackman_window")
def window_refusals(s, op):
    yield Refusal([], {"size": -1}, "ARGUMENT", "size is -1")
    yield Refusal([], {"size": 3, "dtype": "int8"}, "DTYPE", "dtype is int8")


@cases("mel_weight_matrix", ulps=1)
def mel_weight_matrix(s, dtype):
    for filters, length, rate, lower, upper in [(8, 16, 8192, 0, 4096), (1, 1, 100, 0, 50), (0, 16, 8192, 0, 4096),
                                                (20, 256, 16000, 125, 7600), (5, 33, 8000, 300, 300), (3, 8, 1000, 0, 2000)]:
        y = mel(filters, length, rate, lower, upper)
        attrs = {"mel_bins": filters, "dft_length": length, "sample_rate": float(rate), "lower": float(lower),
                 "upper": float(upper), "dtype": dtype}
        yield Case([], attrs, [Exact(np.trunc(y), dtype) if is_integer(dtype) else Near(y, dtype)])


def mel(filters, length, rate, lower, upper):
    bins = length // 2 + 1
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (lower, upper))
    edges = 700 * (10 ** ((np.arange(filters + 2) * (high - low) / (filters + 2) + low) / 2595) - 1)
    edges = np.floor((length + 1) * edges / rate).astype(int)
    y = np.zeros((bins, filters))
    for i in range(filters):
        a, b, c = edges[i:i + 3]
        for j in range(bins):
            if b <= j < c:
                y[j, i] = (c - j) / (c - b)
            elif a <= j <= b:
                y[j, i] = 1 if a == b else (j - a) / (b - a)
    return y


@refusals("mel_weight_matrix")
def mel_refusals(s):
    yield Refusal([], {"dft_length": 0}, "ARGUMENT", "dft_length 0")
    yield Refusal([], {"lower": 5.0, "upper": 4.0}, "ARGUMENT", "lower 5")
    yield Refusal([], {"sample_rate": 0.0}, "ARGUMENT", "sample_rate is 0")
    yield Refusal([], {"dtype": "bool"}, "DTYPE", "dtype is bool")


# -- frames -----------------------------------------------------------------------------------------------------------

STFTS = [((16,), 4, 2, True), ((16,), 5, 5, True), ((2, 20), 8, 3, True), ((9,), 9, 1, True), ((2, 3, 12), 4, 4, True),
         ((16,), 4, 2, False), ((40,), 37, 1, False), ((0, 8), 4, 2, True), ((300,), 64, 16, True)]


def frames_of(x, window, length, step, onesided):
    x = wide_float(x)
    count = 1 + (x.shape[-1] - length) // step
    frames = np.stack([x[..., i * step:i * step + length] for i in range(count)], -2) * window
    if frames.size == 0:
        return np.zeros(frames.shape[:-1] + (length // 2 + 1 if onesided else length,))
    return np.fft.rfft(frames) if onesided else np.fft.fft(frames)


@cases("stft")
def stft(s, dtype):
    for shape, length, step, onesided in STFTS:
        onesided = onesided and not is_complex(dtype)
        x = s.small(dtype, shape)
        kind = "float64" if dtype == "complex128" else "float32" if dtype == "complex64" else dtype
        window = s.uniform(kind, 0.1, 1, (length,))
        ulps = 4.0 + np.log2(length) if dtype not in NARROW else 1.0
        for w in (window, None):
            y = frames_of(x, wide(w) if w is not None else 1, length, step, onesided)
            yield Case([x, w], {"frame_length": length, "frame_step": step, "onesided": onesided},
                       [near(y, complex_of(dtype), x)], ulps=ulps)
        y = frames_of(x, wide(window), length, step, onesided)
        yield Case([x, window], {"frame_step": step, "onesided": onesided}, [near(y, complex_of(dtype), x)], ulps=ulps)
    x = np.repeat(s.small(dtype, (1, 8)), 2, axis=0)
    yield Case([x], {"frame_length": 4, "frame_step": 2, "onesided": False},
               [near(frames_of(x, 1, 4, 2, False), complex_of(dtype), x)], ulps=8.0)


@cases("istft")
def istft(s, dtype):
    for shape, length, step, onesided in STFTS:
        count = 1 + (shape[-1] - length) // step
        points = length // 2 + 1 if onesided else length
        x = s.small(dtype, shape[:-1] + (count, points))
        window = s.uniform("float64" if dtype in ("float64", "complex128") else "float32", 0.1, 1, (length,))
        frames = wide(x)
        if x.size:
            frames = np.fft.irfft(frames, length) if onesided else np.fft.ifft(frames)
        out = real_of(dtype) if onesided else complex_of(dtype)
        for w in (window, None):
            weights = wide(w) if w is not None else np.ones(length, dtype=np.longdouble)
            total = np.zeros(shape[:-1] + (length + (count - 1) * step,), dtype=np.clongdouble)
            squares = np.zeros(total.shape[-1], dtype=np.longdouble)
            for i in range(count):
                if x.size:
                    total[..., i * step:i * step + length] += frames[..., i, :] * weights
                squares[i * step:i * step + length] += weights ** 2
            y = total / np.where(squares > 0, squares, 1)
            y = y.real if onesided else y
            yield Case([x, w], {"frame_length": length, "frame_step": step, "onesided": onesided},
                       [near(y, out, x, 20.0)], ulps=4.0 + np.log2(length) if out[-2:] == "64" and dtype not in NARROW or
                       dtype not in NARROW else 1.0)
    x = np.repeat(s.small(dtype, (1, 2, 3)), 2, axis=0)
    frames = np.fft.irfft(wide(x), 4)
    y = np.concatenate([frames[:, 0, :2], (frames[:, 0, 2:] + frames[:, 1, :2]) / 2, frames[:, 1, 2:]], -1)
    yield Case([x], {"frame_step": 2}, [near(y, real_of(dtype), x, 4.0)], ulps=8.0)


@refusals("stft")
def stft_refusals(s):
    x, w = np.zeros(16), np.ones(4)
    yield Refusal([np.float64(1), w], {}, "SHAPE", "[..., time]")
    yield Refusal([x], {}, "SHAPE", "frame_length")
    yield Refusal([x, w], {"frame_length": 5}, "SHAPE", "expected frame_length elements: 5")
    yield Refusal([x, w], {"frame_step": 0}, "ARGUMENT", "frame_step is 0")
    yield Refusal([x[:3], w], {}, "SHAPE", "at least frame_length elements of time: 4")
    yield Refusal([x.astype(complex), w], {}, "DTYPE", "onesided")
    yield Refusal([x, w.astype(np.int32)], {}, "DTYPE", "input window is int32")
    yield Refusal([x, w.astype(complex)], {}, "SHAPE", "real numbers")


@refusals("istft")
def istft_refusals(s):
    x, w = np.zeros((3, 5)), np.ones(4)
    yield Refusal([x[0], w], {}, "SHAPE", "[..., frames, points]")
    yield Refusal([x, w], {}, "SHAPE", "1 frame of 3 points")
    yield Refusal([x[:0, :3], w], {}, "SHAPE", "at least 1 frame")
    yield Refusal([x[:, :3], w], {"frame_step": 2**50}, "OVERFLOW", "longer than 2^40")


# -- sequences --------------------------------------------------------------------------------------------------------

@cases("convolve", "correlate", ulps=4)
def convolve(s, dtype, op):
    for m, n in [(1, 1), (3, 1), (5, 3), (3, 5), (4, 4), (6, 2), (2, 6), (7, 4), (4, 7), (100, 9)]:
        for mode in ("full", "same", "valid", ""):
            a, b = s.small(dtype, (m,)), s.small(dtype, (n,))
            yield Case([a, b], {"mode": mode}, [convolved(op, a, b, mode, dtype)])
    # Blocks of 8, 16 and 32 neighbours, some of which lack terms, in pieces of 1024.
    for m, n in [(16, 1), (17, 17), (40, 5), (5, 40), (63, 33), (70, 70), (128, 64), (1100, 3)]:
        a, b = s.small(dtype, (m,)), s.small(dtype, (n,))
        yield Case([a, b], {"mode": "full"}, [convolved(op, a, b, "full", dtype)])
    if not is_integer(dtype) and not is_complex(dtype):  # the terms that lie outside are none, not products with 0
        a, b = s.small(dtype, (50,)), s.small(dtype, (5,))
        for place, value in ((0, np.inf), (20, np.nan), (33, -np.inf), (49, np.inf)):
            a[place] = value
        b[[0, 4]] = np.inf, np.nan
        for x in (np.array([1, 1, 1, 1, 1], dtype=a.dtype), b):
            yield Case([a, x], {"mode": "full"}, [Near(not_finite(op, a, x), dtype)])
    a, b = np.repeat(s.small(dtype, (1,)), 4), s.small(dtype, (3,))
    yield Case([a, b], {}, [convolved(op, a, b, "", dtype)])
    if is_integer(dtype):
        a, b = s.bits(dtype, (5,)), s.bits(dtype, (3,))
        yield Case([a, b], {"mode": "full"}, [convolved(op, a, b, "full", dtype)])
    if dtype == "float32":
        a, b = s.small(dtype, (5,)), s.small("complex128", (3,))
        yield Case([a, b], {"mode": "full"}, [convolved(op, a, b, "full", "complex128")])


def not_finite(op, a, b):
    """All sums of which a term is not finite, and the finite ones; NumPy's own sums may pad."""
    a, b = wide(a), wide(b)
    b = b[::-1] if op == "correlate" else b
    y = np.zeros(a.size + b.size - 1, a.dtype)
    with np.errstate(all="ignore"):
        for j in range(b.size):
            y[j:j + a.size] += a * b[j]
    return y


def convolved(op, a, b, mode, dtype):
    f = getattr(np, op)
    mode = mode or ("full" if op == "convolve" else "valid")
    if is_integer(dtype):
        with np.errstate(all="ignore"):
            return f(a.astype(np.uint64), b.astype(np.uint64), mode).astype(NUMPY[dtype])
    y = f(wide(a), wide(b), mode)
    return Near(y, dtype, f(np.abs(wide(a)).astype(float), np.abs(wide(b)).astype(float), mode))


@refusals("convolve", "correlate")
def convolve_refusals(s, op):
    yield Refusal([np.zeros((2, 2)), np.zeros(2)], {}, "SHAPE", "expected 1 axis")
    yield Refusal([np.zeros(2), np.zeros(0)], {}, "SHAPE", "at least 1 element")
    yield Refusal([np.zeros(2), np.zeros(2)], {"mode": "wrap"}, "ARGUMENT", "mode is 'wrap'")
    yield Refusal([np.zeros(2), np.zeros(2, dtype=bool)], {}, "DTYPE", "input b is bool")


@cases("view_as_complex")
def view_as_complex(s, dtype):
    for shape in [(2,), (3, 2), (2, 3, 2), (0, 2), (40, 2)]:
        x = s.special(dtype, shape)
        y = np.empty(shape[:-1], dtype=NUMPY[complex_of(dtype)])
        y.real, y.imag = x[..., 0], x[..., 1]
        yield Case([x], {}, [y])
    x = s.small(dtype, (2, 2))
    x[1] = x[0]
    yield Case([x], {}, [(wide(x[..., 0]) + 1j * wide(x[..., 1])).astype(NUMPY[complex_of(dtype)])])


@refusals("view_as_complex")
def view_as_complex_refusals(s):
    yield Refusal([np.zeros((2, 3))], {}, "SHAPE", "last axis of length 2")
    yield Refusal([np.float64(1)], {}, "SHAPE", "last axis of length 2")


@cases("view_as_real")
def view_as_real(s, dtype):
    for shape in [(), (3,), (2, 3), (0, 2), (50,)]:
        x = s.special(dtype, shape)
        yield Case([x], {}, [np.stack([x.real, x.imag] if is_complex(dtype) else [x, np.zeros_like(x)], -1)])
    x = np.repeat(s.small(dtype, (1, 3)), 2, axis=0)
    yield Case([x], {}, [np.stack([x.real, x.imag] if is_complex(dtype) else [x, np.zeros_like(x)], -1)])

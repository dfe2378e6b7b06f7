"""Arrays from numbers."""
import numpy as np

from framework import Case, Near, Refusal, NUMPY, cases, is_float, is_integer, refusals, wide


def numbers(values, dtype):
    return np.asarray(values).astype(NUMPY[dtype])


@cases("full")
def full(s, dtype):
    for shape in [(), (1,), (7,), (3, 4), (0,), (2, 0, 3), (2, 3, 300)]:
        for value in (s.small(dtype, ()), s.small(dtype, (1,)), s.special(dtype, (1, 1))):
            value = np.asarray(value, dtype=NUMPY[dtype])
            yield Case([value], {"shape": list(shape)}, [np.full(shape, value.reshape(()), dtype=value.dtype)])


@refusals("full")
def full_refusals(s):
    yield Refusal([s.small("float32", (2,))], {"shape": [3]}, "SHAPE", "expected one element")
    yield Refusal([s.small("float32", ())], {"shape": [3, -1]}, "SHAPE", "extent -1")
    yield Refusal([s.small("float32", ())], {"shape": [1] * 33}, "SHAPE", "33 axes")
    yield Refusal([s.small("float32", ())], {"shape": [2**40, 2**40]}, "OVERFLOW", "64 bits")


@cases("full_like")
def full_like(s, dtype):
    for shape in [(), (1,), (7,), (3, 4), (0,), (2, 3, 300)]:
        x, value = s.small(dtype, shape), np.asarray(s.special(dtype, (1,)), dtype=NUMPY[dtype])
        yield Case([x, value], {}, [np.full(shape, value.reshape(()), dtype=value.dtype)])


@refusals("full_like")
def full_like_refusals(s):
    yield Refusal([s.small("float32", (2,)), s.small("float32", (2,))], {}, "SHAPE", "expected one element")
    yield Refusal([s.small("float32", (2,)), s.small("int8", ())], {}, "DTYPE", "expected float32")


@cases("zeros", "ones")
def constants(s, dtype, op):
    for shape in [(), (1,), (5,), (3, 4), (0,), (2, 0), (3, 1, 70)]:
        yield Case([], {"shape": list(shape), "dtype": dtype}, [getattr(np, op)(shape, dtype=NUMPY[dtype])])


@refusals("zeros", "ones")
def constants_refusals(s, op):
    yield Refusal([], {"shape": [-2]}, "SHAPE", "extent -2")
    yield Refusal([], {"shape": [2], "dtype": "utf8"}, "DTYPE", "dtype is utf8")


@cases("zeros_like", "ones_like")
def likes(s, dtype, op):
    make = np.zeros if op == "zeros_like" else np.ones
    for shape in [(), (5,), (3, 4), (0, 2), (2, 3, 2, 2)]:
        x = s.special(dtype, shape)
        yield Case([x], {}, [make(shape, dtype=NUMPY[dtype])])
        for other in ("bool", "int16", "float64", "complex64"):
            yield Case([x], {"dtype": other}, [make(shape, dtype=NUMPY[other])])


@refusals("zeros_like")
def likes_refusals(s):
    yield Refusal([s.small("int8", (2,))], {"dtype": "utf8"}, "DTYPE", "dtype is utf8")


def truncated(x, dtype):
    if is_integer(dtype):
        info = np.iinfo(NUMPY[dtype])
        return np.array([min(max(int(v), info.min), info.max) for v in x], dtype=object).astype(NUMPY[dtype])
    return Near(x, dtype, np.max(np.abs(x), initial=0))


@cases("arange", ulps=1)
def arange(s, dtype):
    calls = [(0, 5, 1), (0, 0, 1), (5, 0, 1), (5, 0, -1), (1, 10, 3), (1, 10.5, 3), (10, 1, -3), (2.5, 7, 0.5),
             (0, 1, 0.1), (1, 1.3, 0.1), (0, 100, 0.75), (100, 0, -0.25), (0, 4999, 1)]
    for start, stop, step in calls:
        exact = [np.longdouble(start) + np.longdouble(step) * i for i in range(6000)]
        before = [v for v in exact if (v < stop if step > 0 else v > stop)]
        x = np.array([np.longdouble(float(np.float64(start) + np.float64(step) * i)) for i in range(len(before))],
                     dtype=np.longdouble)
        yield Case([], {"start": start, "stop": stop, "step": step, "dtype": dtype}, [truncated(x, dtype)])


@refusals("arange")
def arange_refusals(s):
    for start, stop, step in [(0, 1, 0), (0, np.inf, 1), (np.nan, 1, 1), (0, 1, np.inf)]:
        yield Refusal([], {"start": start, "stop": stop, "step": step}, "ARGUMENT", "expected finite numbers")
    yield Refusal([], {"start": 0.0, "stop": 1e300, "step": 1.0}, "OVERFLOW", "fewer than 2^62")
    yield Refusal([], {"start": 0.0, "stop": 3.0, "dtype": "complex64"}, "DTYPE", "dtype is complex64")


def bits64(value):
    """A number of 64 bits, signed or not, as the int64 of those bits, which is how attributes travel."""
    return (value + 2**63) % 2**64 - 2**63


def holds(dtype, values):
    info = np.iinfo(NUMPY[dtype])
    return all(info.min <= v <= info.max for v in values)


TOP = 2**63 - 1
RANGES = [(0, 5, 1), (0, 0, 1), (5, 0, 1), (5, 0, -1), (1, 10, 3), (10, 1, -3), (-7, 8, 5), (0, 127, 42), (0, 4099, 1),
          (TOP - 3, TOP, 1), (-TOP - 1, -TOP + 2, 2), (-TOP, TOP, TOP), (TOP, -TOP - 1, -TOP), (2**53, 2**53 + 7, 3)]
LARGE = [(2**63 - 2, 2**63 + 2, 1), (2**64 - 4, 2**64 - 1, 1), (2**64 - 1, 2**63, -2**61), (2**63 + 5, 2, -2**62), (3, 0, -1)]


@cases("integer_range")
def integer_range(s, dtype):
    for start, stop, step in RANGES + (LARGE if dtype == "uint64" else []):
        for endpoint in (False, True):
            values = list(range(start, stop + (endpoint and (1 if step > 0 else -1)), step))
            if not is_integer(dtype):
                expected = Near(np.array([np.longdouble(v) for v in values], dtype=np.longdouble), dtype)
            elif holds(dtype, values) and (dtype != "uint64" or min(start, stop) >= 0):
                expected = np.array(values, dtype=NUMPY[dtype])
            else:
                continue
            yield Case([], {"start": bits64(start), "stop": bits64(stop), "step": step, "endpoint": endpoint, "dtype": dtype},
                       [expected])
    if is_integer(dtype):  # the last number that there is
        top = int(np.iinfo(NUMPY[dtype]).max)
        yield Case([], {"start": bits64(top - 2), "stop": bits64(top), "endpoint": True, "dtype": dtype},
                   [np.array([top - 2, top - 1, top], dtype=NUMPY[dtype])])


@refusals("integer_range")
def integer_range_refusals(s):
    yield Refusal([], {"start": 0, "stop": 1, "step": 0}, "ARGUMENT", "step is 0")
    yield Refusal([], {"start": -2**63, "stop": 2**63 - 1, "step": 1}, "OVERFLOW", "more elements")
    yield Refusal([], {"start": 0, "stop": -1, "step": 1, "dtype": "uint64"}, "OVERFLOW", "from 0 to 18446744073709551615 by 1")
    yield Refusal([], {"start": 0, "stop": -1, "endpoint": True, "dtype": "uint64"}, "OVERFLOW", "more elements")
    yield Refusal([], {"start": 250, "stop": 257, "dtype": "uint8"}, "OVERFLOW", "256 does not fit uint8")
    yield Refusal([], {"start": -129, "stop": 0, "dtype": "int8"}, "OVERFLOW", "-129 does not fit int8")
    yield Refusal([], {"start": -1, "stop": 3, "dtype": "uint32"}, "OVERFLOW", "-1 does not fit uint32")
    yield Refusal([], {"start": 0, "stop": 3, "dtype": "bool"}, "DTYPE", "dtype is bool")


def spacing(start, stop, num, endpoint):
    steps = num - endpoint
    start, stop = np.longdouble(start), np.longdouble(stop)
    return np.array([stop if i == steps and steps > 0 else start + (stop - start) * i / max(steps, 1)
                     for i in range(num)], dtype=np.longdouble)


SPANS = [(0, 1, 5), (0, 1, 1), (0, 1, 0), (2, -3, 11), (-1.5, 7.25, 50), (1, 1, 3), (0.1, 0.7, 7), (0, 100, 4500)]


@cases("linspace", ulps=1)
def linspace(s, dtype):
    for start, stop, num in SPANS:
        for endpoint in (True, False):
            x = spacing(start, stop, num, endpoint)
            attrs = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "dtype": dtype}
            if is_integer(dtype):
                x = truncated(np.floor(x), dtype)
            elif is_float(dtype):
                x = Near(x, dtype, max(abs(start), abs(stop)))
            else:
                x = Near(x.astype(np.clongdouble), dtype, max(abs(start), abs(stop)))
            yield Case([], attrs, [x])


@refusals("linspace", "logspace")
def linspace_refusals(s, op):
    yield Refusal([], {"num": -1}, "ARGUMENT", "num is -1")
    yield Refusal([], {"dtype": "bool"}, "DTYPE", "dtype is bool")


@cases("logspace", ulps=1, complex_ulps=1)
def logspace(s, dtype):
    for start, stop, num in [(0, 3, 4), (0, 1, 1), (0, 1, 0), (2, -3, 11), (-1.5, 4.25, 50), (1, 1, 3)]:
        for endpoint in (True, False):
            for base in (10, 2, 2.5):
                x = np.longdouble(base) ** spacing(start, stop, num, endpoint)
                x = x if is_float(dtype) else x.astype(np.clongdouble)
                yield Case([], {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "base": base,
                                "dtype": dtype}, [Near(x, dtype)])


@cases("eye", "tri")
def eye(s, dtype, op):
    for rows, columns in [(0, 0), (1, 1), (3, 3), (2, 5), (5, 2), (0, 3), (3, 0), (40, 37)]:
        for k in (0, 1, -1, 2, -3, 9, -9, 2**62, -2**63):
            distance = np.arange(columns)[None, :] - np.arange(rows)[:, None]
            y = numbers(distance == k if op == "eye" else distance <= k, dtype)
            yield Case([], {"rows": rows, "columns": columns, "k": k, "dtype": dtype}, [y])
    yield Case([], {"rows": 3, "dtype": dtype}, [numbers(np.eye(3) if op == "eye" else np.tri(3), dtype)])


@refusals("eye", "tri")
def eye_refusals(s, op):
    yield Refusal([], {"rows": -1}, "SHAPE", "-1 rows")
    yield Refusal([], {"rows": 1, "columns": -2}, "SHAPE", "-2 columns")


@cases("indices")
def indices(s, dtype):
    for shape in [(), (3,), (2, 3), (0, 2), (2, 1, 4), (100, 2)]:
        yield Case([], {"shape": list(shape), "dtype": dtype}, [numbers(np.indices(shape), dtype)])


@refusals("indices")
def indices_refusals(s):
    yield Refusal([], {"shape": [-1]}, "SHAPE", "extent -1")
    yield Refusal([], {"shape": [1] * 32}, "SHAPE", "33 axes")

"""Records of the ops that tests/plugin/acme_ops.c brings, as tests/records has them of the built-in ones."""
import numpy as np

from framework import Case, Exact, Near, Refusal, cases, is_integer, refusals, wide

SHAPES = [((), ()), ((1,), (1,)), ((4,), ()), ((37,), (37,)), ((2, 3), (3,)), ((3, 1), (1, 4)), ((2, 1, 5), (3, 1)),
          ((0, 3), (3,)), ((4, 4), (4, 4))]


@cases("acme.scaled_add", ulps=1)
def scaled_add(s, dtype):
    for number, (first, second) in enumerate(SHAPES):
        a, b = s.small(dtype, first), s.small(dtype, second)
        scale = (1, -2, 0, 1000003)[number % 4]
        attrs = {} if scale == 1 else {"scale": scale}
        if is_integer(dtype):
            total = wide(a) + scale * wide(b)
            wrapped = np.asarray((total + 2**31) % 2**32 - 2**31).astype(np.int64).astype(np.int32)
            yield Case([a, b], attrs, [Exact(wrapped)])
        else:
            x, y = wide(a), scale * wide(b)
            yield Case([a, b], attrs, [Near(x + y, dtype, np.abs(x) + np.abs(y))])


@refusals("acme.scaled_add")
def scaled_add_refusals(s):
    yield Refusal([s.small("float32", (3,)), s.small("float32", (4,))], {}, "SHAPE", "do not broadcast")
    yield Refusal([s.small("float32", (3,)), s.small("float64", (3,))], {}, "DTYPE", "another dtype than a")


@cases("acme.halves")
def halves(s, dtype):
    for shape, axis in [((4,), -1), ((5,), 0), ((1,), 0), ((3, 5), 0), ((3, 5), 1), ((2, 3, 4), -2), ((0, 4), 1),
                        ((2, 0), 1), ((64,), 0)]:
        x = s.small(dtype, shape)
        cut = (shape[axis] + 1) // 2
        first, second = np.split(x, [cut], axis=axis)
        yield Case([x], {} if axis == -1 else {"axis": axis}, [Exact(first.copy()), Exact(second.copy())])


@refusals("acme.halves")
def halves_refusals(s):
    yield Refusal([s.small("float32", (3,))], {"axis": 1}, "INDEX", "axis 1 is out of range")
    yield Refusal([s.small("float32", ())], {}, "INDEX", "axis -1 is out of range")

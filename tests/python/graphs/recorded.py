"""What tests of graphs share: functions that count how often they are recorded, arrays, and how results are compared."""
import numpy as np

import nd4c

F32 = "float32"


def counted(function):
    """A compiled function, and a list that grows by one each time that it is traced."""
    traces = []

    def traced(*arguments, **named):
        traces.append(1)
        return function(*arguments, **named)
    return nd4c.compile(traced), traces


def random(*shape, seed=0, dtype=F32):
    return nd4c.asarray(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def close(got, want):
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want)
        for one, other in zip(got, want):
            close(one, other)
    else:
        assert got.shape == want.shape and got.dtype is want.dtype
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-6, atol=2e-6)

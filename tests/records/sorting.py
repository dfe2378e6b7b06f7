"""Sorting, searching, sets."""
import numpy as np

from framework import Case, cases


@cases("nonzero")
def nonzero(s, dtype):
    for shape in [(), (1,), (7,), (3, 4), (2, 1, 3, 2), (0,), (3, 0)]:
        for x in (s.small(dtype, shape), s.special(dtype, shape), np.zeros(shape, s.small(dtype, ()).dtype)):
            x = np.where(s.integers(0, 2, shape) == 0, np.zeros_like(x), x).astype(x.dtype)
            yield Case([x], {}, [np.array(np.nonzero(np.atleast_1d(x)), dtype=np.int64)])

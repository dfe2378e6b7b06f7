"""Functions that the record files of the neural-network families share; this file has no records."""
import itertools

import ml_dtypes
import numpy as np

from framework import NUMPY, Near, wide


def ulps_of(dtype, double=16):
    """Results are computed in double and rounded once; in float64 sums differ by their order."""
    return double if dtype == "float64" else 0.51


def near(value, dtype, scale=None):
    return Near(np.asarray(value, dtype=np.longdouble), dtype, None if scale is None else scale)


def double(x):
    """Long doubles of an input, None for one left out."""
    return None if x is None else wide(x).astype(np.longdouble)


def rounded(x, dtype):
    """As the dtype would hold it."""
    return np.asarray(x).astype(np.float64).astype(NUMPY[dtype])


def places(shape):
    return itertools.product(*[range(n) for n in shape])


def strided_windows(extents, kernel, strides, pads, dilations, outputs):
    """For each output place: the list of (tap, cell) inside x."""
    axes = len(extents)
    for at in places(outputs):
        cells = []
        for tap in places(kernel):
            cell = tuple(at[i] * strides[i] - pads[i] + tap[i] * dilations[i] for i in range(axes))
            if all(0 <= cell[i] < extents[i] for i in range(axes)):
                cells.append((tap, cell))
        yield at, cells


def special(s, dtype, shape):
    """Mostly small numbers, a few special ones."""
    return np.where(s.integers(0, 5, shape) == 0, s.special(dtype, shape), s.small(dtype, shape)).astype(NUMPY[dtype])


def limits(dtype):
    return ml_dtypes.finfo(NUMPY[dtype])


def repeat_first(x):
    """The same elements all along the first axis longer than one, for the layout `zero`."""
    x = np.array(x)
    for axis, extent in enumerate(x.shape):
        if extent > 1:
            return np.repeat(np.take(x, [0], axis=axis), extent, axis=axis)
    return x


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))

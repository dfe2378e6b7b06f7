"""Methods that NumPy's and PyTorch's arrays have beyond the standard: existing code calls x.sum(axis=0), SciPy among it."""
import sys

from nd4c._core import Array

# Functions of the namespace as methods: those whose other arguments are passed by name, with axis as the first of them.
_REDUCTIONS = "all any argmax argmin max mean min prod std sum var".split()


def _reduction(name):
    def method(self, axis=None, **named):
        return getattr(sys.modules["nd4c"], name)(self, axis=axis, **named)
    method.__name__ = name
    method.__doc__ = "nd4c.%s(x, axis=axis, ...)" % name
    return method


def astype(self, dtype, *, copy=True):
    """nd4c.astype(x, dtype)"""
    return sys.modules["nd4c"].astype(self, dtype, copy=copy)


def reshape(self, *shape, copy=None):
    """nd4c.reshape(x, shape); the shape as one tuple or as several numbers."""
    if len(shape) == 1 and not hasattr(shape[0], "__index__"):
        shape = shape[0]
    return sys.modules["nd4c"].reshape(self, tuple(shape), copy=copy)


def flatten(self):
    """A copy with one axis."""
    return sys.modules["nd4c"].reshape(self, (-1,), copy=True)


def copy(self):
    """A copy with separate memory."""
    return self.__copy__()


for _name in _REDUCTIONS:
    setattr(Array, _name, _reduction(_name))
for _method in (astype, reshape, flatten, copy):
    setattr(Array, _method.__name__, _method)

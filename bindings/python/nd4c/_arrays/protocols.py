"""NumPy's protocols: np.sin(x), np.add(x, y), np.mean(x), np.concatenate([x, y]) of arrays of nd4c give arrays of nd4c, computed by
nd4c.numpy's function of the same name. NumPy calls the two methods here whenever one of its functions gets such an array."""
import sys

from nd4c._core import Array

# NumPy answers these itself, over the memory that the arrays share with it: their results are no arrays, or go into an array.
_NUMPYS = frozenset("can_cast common_type copyto iscomplexobj isrealobj may_share_memory min_scalar_type ndim result_type "
                    "shape shares_memory size".split())
_NUMBERS = (bool, int, float, complex, list, tuple, range, type(None))


def _combines(kind, numpy):
    """Whether nd4c combines its arrays with objects of a type: its own, NumPy's arrays and scalars, and Python's."""
    return kind is Array or kind is numpy.ndarray or issubclass(kind, numpy.generic) or issubclass(kind, _NUMBERS)


def _namespace(module):
    """nd4c's module for one of NumPy's: nd4c.numpy.linalg for numpy.linalg."""
    from nd4c import numpy
    found = numpy
    for part in module.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return numpy
    return found


def _function(name, module, what):
    function = getattr(_namespace(module), name, None)
    if function is None:
        raise TypeError("%s.%s is no %s of nd4c; numpy.asarray(x) gives NumPy's array, which it takes" % (module, name, what))
    return function


def array_ufunc(self, ufunc, method, *inputs, **named):
    """A ufunc of NumPy on arrays of nd4c: nd4c.numpy's function of its name. Ufuncs of other libraries give NumPy's arrays.

    >>> import numpy
    >>> numpy.sqrt(nd4c.asarray([1.0, 4.0]))
    array([1., 2.])
    """
    import numpy
    if not callable(ufunc):
        raise TypeError("__array_ufunc__: expected a ufunc of NumPy, got %s" % type(ufunc).__name__)
    out = named.get("out", ())
    if not all(_combines(type(one), numpy) for one in inputs + (out if type(out) is tuple else (out,))):
        return NotImplemented
    if getattr(numpy, ufunc.__name__, None) is not ufunc:  # of SciPy or another library, which takes NumPy's arrays
        return getattr(ufunc, method)(*_shared(inputs), **_shared(named))
    function = _function(ufunc.__name__, "numpy", "function")
    return function(*inputs, **named) if method == "__call__" else getattr(function, method)(*inputs, **named)


def array_function(self, func, types, args, kwargs):
    """A function of NumPy on arrays of nd4c: nd4c.numpy's function of its name.

    >>> import numpy
    >>> numpy.concatenate([nd4c.zeros(1), nd4c.ones(1)])
    array([0., 1.])
    """
    import numpy
    if not callable(func):
        raise TypeError("__array_function__: expected a function of NumPy, got %s" % type(func).__name__)
    if not all(_combines(one, numpy) for one in types):
        return NotImplemented
    if func.__name__ in _NUMPYS or (func.__name__ == "broadcast_arrays" and None in map(_nothing, args)):
        return func(*_shared(args), **_shared(kwargs))
    return _function(func.__name__, func.__module__ or "numpy", "function")(*args, **kwargs)


def _shared(value):
    """The value with NumPy's arrays in place of nd4c's."""
    if type(value) is Array:
        return value.__array__()
    if type(value) in (list, tuple):
        return type(value)(map(_shared, value))
    if type(value) is dict:
        return {name: _shared(one) for name, one in value.items()}
    return value


def _nothing(value):
    """None for what no array of nd4c holds, such as the None that matplotlib broadcasts."""
    return None if value is None or isinstance(value, str) else 0


def array_wrap(self, array, context=None, return_scalar=False):
    """An array of nd4c from one of NumPy's, for NumPy's functions that keep the class of their argument.

    >>> import numpy
    >>> nd4c.zeros(1).__array_wrap__(numpy.ones(2))
    array([1., 1.])
    """
    return sys.modules["nd4c"].asarray(array)


for _name, _method in (("__array_ufunc__", array_ufunc), ("__array_function__", array_function), ("__array_wrap__", array_wrap)):
    setattr(Array, _name, _method)

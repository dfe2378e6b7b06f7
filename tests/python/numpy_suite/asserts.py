"""numpy.testing for nd4c: NumPy's own assertions, which see NumPy's arrays and dtypes where a test passes nd4c's."""
import functools
import types

import numpy
import numpy.testing

import nd4c

# The assertions about values. All others (assert_raises, assert_warns, ...) call functions with arguments that have to stay
# what they are.
_OF_VALUES = ("assert_ assert_equal assert_almost_equal assert_approx_equal assert_array_equal assert_array_almost_equal "
              "assert_array_less assert_allclose assert_array_max_ulp assert_array_almost_equal_nulp assert_string_equal "
              "assert_array_compare build_err_msg print_assert_equal").split()


def plain(value):
    """The value as NumPy has it: arrays, arrays without axes as NumPy's scalars, dtypes, and containers of these."""
    if type(value) is nd4c.Array:
        return numpy.asarray(value)[()]
    if type(value) is nd4c.DType:
        return value.dtype
    if isinstance(value, tuple):
        return tuple(map(plain, value)) if type(value) is tuple else type(value)(*map(plain, value))
    if type(value) is list:
        return list(map(plain, value))
    if type(value) is dict:
        return {key: plain(one) for key, one in value.items()}
    return value


def _of_values(function):
    @functools.wraps(function)
    def adapted(*values, **named):
        return function(*map(plain, values), **{name: plain(value) for name, value in named.items()})
    return adapted


def module():
    """The module that stands for numpy.testing."""
    adapted = types.ModuleType("numpy.testing")
    for source in (numpy.testing._private.utils, numpy.testing):
        for name, value in vars(source).items():
            if not name.startswith("__"):
                setattr(adapted, name, _of_values(value) if name in _OF_VALUES else value)
    adapted._private = types.ModuleType("numpy.testing._private")
    adapted._private.utils = adapted
    return adapted

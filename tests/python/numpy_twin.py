"""One call of NumPy's function and of nd4c.numpy's of the same name: results must agree in values, dtype and shape, and
what NumPy refuses must be refused with an error of the same class."""
import warnings

import numpy as np
from values import check

import nd4c
import nd4c.numpy
from nd4c.numpy.exceptions import AxisError


def function(name):
    return getattr(nd4c.numpy, name, None) or getattr(nd4c, name)


def to_nd4c(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return nd4c.asarray(value)
    if isinstance(value, (tuple, list)) and any(isinstance(one, (np.ndarray, np.generic)) for one in value):
        return type(value)(to_nd4c(one) for one in value)
    return value


def wanted_of(name, arguments, named):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return getattr(np, name)(*arguments, **named)
        except Exception as error:
            return error


def described(name, arguments, named):
    return "%s(%s)" % (name, ", ".join([repr(one) for one in arguments] + ["%s=%r" % one for one in named.items()]))


def same(name, *arguments, tolerance=0.0, absolute=0.0, **named):
    """Calls both and compares; ulp and absolute tolerances as in values.check."""
    wanted = wanted_of(name, arguments, named)
    try:
        options = {key: to_nd4c(value) for key, value in named.items()}
        got = function(name)(*[to_nd4c(one) for one in arguments], **options)
    except Exception as error:
        got = error
    try:
        if isinstance(wanted, Exception):
            refused_alike(name, got, wanted)
        else:
            assert not isinstance(got, Exception), "raises"
            check(got, wanted, tolerance, absolute=absolute)
    except AssertionError as error:
        raise AssertionError("%s: %s\nhere %r\nNumPy %r"
                             % (described(name, arguments, named), error, got, wanted)) from None


def refused_alike(name, got, wanted):
    """The same built-in class of error, or AxisError where NumPy has it; its text names the function."""
    if isinstance(wanted, np.exceptions.AxisError):
        kind = AxisError
    else:
        kind = next(one for one in type(wanted).__mro__ if one.__module__ == "builtins")
    assert isinstance(got, kind), "NumPy raises"
    assert name in str(got), "the error does not name the function"

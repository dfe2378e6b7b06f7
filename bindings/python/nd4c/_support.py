"""What the modules of the namespace's functions share: the core's callables by name, checks of arguments, functions from tables."""
from nd4c import _dtypes
from nd4c._abi import NUMBERS as _N
from nd4c._core import Array, calls as _calls


def op(name):
    """The core's callable of an op."""
    return _calls[_N[name]]


def array(x, where):
    """x, which has to be an Array; `where` names the function in the error."""
    if type(x) is not Array:
        raise TypeError("%s: expected an nd4c.Array, got %s; nd4c.asarray() makes an array of it"
                        % (where, type(x).__name__))
    return x


def number(dtype):
    """A dtype as an op's attribute takes it; None: 0."""
    return 0 if dtype is None else _dtypes.of(dtype).number


def define_in(module, names, of, parameters):
    """Functions that are one op each: a Python function with the standard's signature around the core's callable."""
    for name in names.split():
        name, _, called = name.partition("=")
        function = of(op(called or name))
        function.__name__ = function.__qualname__ = name
        function.__doc__ = "%s(%s): see nd4c.ops.%s." % (name, parameters, called or name)
        module[name] = function


def one(call):
    def function(x, /):
        return call(x)
    return function


def two(call):
    def function(x1, x2, /):
        return call(x1, x2)
    return function

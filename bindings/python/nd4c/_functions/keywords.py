"""Texts about arguments that a function does not have: sum(x, dim=0) says that axis is the name here.

A function that people call with PyTorch's or TensorFlow's words takes **wrong as its last parameter, raises unexpected() if
there are any, and is decorated with explained, so that its signature does not show them. That costs a call 20 ns. Without
inspect, whose import takes longer than this package's."""
from types import FunctionType

_VARIABLE_KEYWORDS = 8  # the flag of a code object that takes **

# Words of PyTorch and TensorFlow, and ours.
_WORDS = {"dim": "axis", "dims": "axis", "keepdim": "keepdims", "keep_dims": "keepdims", "reduction_indices": "axis",
          "unbiased": "correction", "input": "a", "x": "a", "descend": "descending", "shifts": "shift", "tensors": "arrays",
          "seq": "arrays", "repeats": "reps", "steps": "num", "end": "stop"}


def explained(function):
    """Hides a function's **wrong from inspect.signature() and help(), which look at what a function wraps."""
    code = function.__code__
    shown = FunctionType(code.replace(co_flags=code.co_flags & ~_VARIABLE_KEYWORDS), function.__globals__, function.__name__,
                         function.__defaults__, function.__closure__)
    shown.__kwdefaults__ = function.__kwdefaults__
    function.__wrapped__ = shown
    return function


def unexpected(function, wrong):
    """The TypeError about arguments that a function does not have."""
    code = function.__code__
    ours = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    name = next(iter(wrong))
    word = _WORDS.get(name)
    rest = "%s is the name here" % word if word in ours else "there are " + ", ".join(ours)
    return TypeError("%s: no argument %s; %s (unexpected keyword argument %r)" % (function.__name__, name, rest, name))

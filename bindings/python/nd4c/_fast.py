"""Puts the native core's fast forms around functions and methods that programs call most. nd4c/__init__.py imports it last.

The Python function keeps its signature, its documentation and every form but the plain ones, such as zeros(3)."""
import inspect
import sys

from nd4c._core import Array, core

_FUNCTIONS = ("asarray", "arange", "empty", "zeros")
_METHODS = ("copy", "item", "tolist")


def _text(function, name, bound=False):
    """Signature and documentation as built-in functions have them in one text."""
    signature = inspect.signature(function)
    if bound:
        first, *rest = signature.parameters.values()
        named = "$" + first.name
        text = str(signature.replace(parameters=rest))
        text = "(" + named + (", /, " if text != "()" else ", /") + text[1:]
        return "%s%s\n--\n\n%s" % (name, text, function.__doc__ or "")
    return "%s%s\n--\n\n%s" % (name, signature, function.__doc__ or "")


def attach(namespace):
    """Replaces the functions in a module's namespace and the methods of Array."""
    for name in _FUNCTIONS:
        namespace[name] = core.fast_function(name.encode(), namespace[name], _text(namespace[name], name).encode())
    for name in _METHODS:
        method = getattr(Array, name)
        setattr(Array, name, core.fast_method(name.encode(), method, _text(method, name, bound=True).encode()))


if hasattr(core, "fast_function"):
    attach(sys.modules["nd4c"].__dict__)

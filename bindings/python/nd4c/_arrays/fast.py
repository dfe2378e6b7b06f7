"""Puts the native core's fast forms around functions and methods that programs call most. nd4c/__init__.py imports it last.

The Python function keeps its signature, its documentation and every form but the plain ones, such as zeros(3)."""
import sys

from nd4c._core import Array, core

FUNCTIONS = ("asarray", "arange", "empty", "zeros")
METHODS = ("copy", "item", "tolist", "argmax", "argmin")
PLAIN = {name: getattr(Array, name) for name in METHODS}  # the methods as they were, which a Symbol has, too


def _text(function, name, bound=False):
    """Signature and documentation in one text, as built-in functions have them. Written without the module inspect, whose
    import takes longer than this package's."""
    code, defaults = function.__code__, function.__defaults__ or ()
    positional = list(code.co_varnames[:code.co_argcount])
    keywords = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount:]
    parts = [word + ("" if place < len(positional) - len(defaults)
                     else "=" + _value(defaults[place - len(positional) + len(defaults)])) for place, word in enumerate(positional)]
    before = code.co_posonlyargcount
    if bound:
        parts[0], before = "$" + parts[0], before or 1
    if before:
        parts.insert(before, "/")
    if code.co_flags & 4:  # *arguments
        parts.append("*" + rest[0])
    elif keywords:
        parts.append("*")
    parts += [word + ("=" + _value(function.__kwdefaults__[word]) if word in (function.__kwdefaults__ or {}) else "")
              for word in keywords]
    if code.co_flags & 8:  # **named
        parts.append("**" + rest[-1])
    return ("%s(%s)\n--\n\n%s" % (name, ", ".join(parts), function.__doc__ or "")).encode()


def _value(default):
    """A default as text that Python can read; a marker that stands for "not given" becomes None."""
    text = repr(default)
    return "None" if text.startswith("<") else text


def attach(namespace):
    """Replaces the functions in a module's namespace and the methods of Array."""
    for name in FUNCTIONS:
        namespace[name] = core.fast_function(name.encode(), namespace[name], _text(namespace[name], name))
    for name in METHODS:
        method = getattr(Array, name)
        setattr(Array, name, core.fast_method(name.encode(), method, _text(method, name, bound=True)))


if hasattr(core, "fast_function"):
    attach(sys.modules["nd4c"].__dict__)

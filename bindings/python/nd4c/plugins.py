"""Plug-ins: libraries that bring devices, kernels and ops of their own. nd4c.plugins.load("/opt/acme/libnd4c_acme.so") loads
one; those that nd4c.backend.plugins names are loaded with the first array, or with the first op that this module looks up.

    swiglu = nd4c.plugins.op("acme.swiglu2")
    y = swiglu(x, gate, alpha=1.5)"""
from __future__ import annotations

import ctypes
import os
from keyword import iskeyword

from nd4c import _abi, _dtypes, _schema
from nd4c._arguments import axes
from nd4c._core import calls
from nd4c._creation import made_on
from nd4c._errors import check
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Tuple, Union

__all__ = ["load", "op", "ops", "schema"]

_load, _find, _at, _get, _count = (bind("nd4c_" + name) for name in
                                   ("backend_load", "op_find", "op_at", "op_get", "op_count"))
_INFO = ctypes.POINTER(_abi.op_info)
_made: Dict[int, Callable[..., Any]] = {}


def load(path: Union[str, os.PathLike[str]]) -> None:
    """Loads a plug-in's library. path: an absolute one, or one with a '/'; no folder is searched.

    Errors: OSError if the library cannot be opened; ValueError if it is no plug-in, or its path is no path of a file.

    >>> nd4c.plugins.load("/nowhere/libnd4c_acme.so")
    Traceback (most recent call last):
        ...
    nd4c.errors.LibraryError: ...
    """
    check(_load(os.fsencode(path)))


def number(name):
    """The number of a plug-in's op; loads plug-ins first."""
    if not isinstance(name, str):
        raise TypeError("plugins: an op is named by text such as 'acme.swiglu2', not %s" % type(name).__name__)
    if "\0" in name:
        raise ValueError("plugins: %r is no op's name" % name)
    out = ctypes.c_void_p()
    check(_find(name.encode(), ctypes.byref(out)))
    info = ctypes.cast(out, _INFO).contents
    if info.op not in _abi.OPS:
        return info.op
    raise ValueError("plugins: %r is an op of nd4c itself: nd4c.ops.%s" % (name, info.name.decode()))


def ops() -> Tuple[str, ...]:
    """The names of all ops of the plug-ins that are loaded, each with its namespace: "acme.swiglu2".

    >>> all("." in name for name in nd4c.plugins.ops())
    True
    """
    infos = (ctypes.cast(_at(place), _INFO).contents for place in range(_count()))
    return tuple(dict.fromkeys(info.name.decode() for info in infos if info.op not in _abi.OPS))


def schema(name: str) -> Dict[str, Any]:
    """The facts about a plug-in's op: name, version, provider, doc, category, inputs, attributes with their defaults and the
    number of outputs.

    Errors: ValueError for an unknown name and for an op of nd4c itself; TypeError for what is no text.

    >>> nd4c.plugins.schema("add")
    Traceback (most recent call last):
        ...
    ValueError: plugins: 'add' is an op of nd4c itself: nd4c.ops.add
    """
    info = _info(number(name))
    found = row(info.op)
    return {"name": found["name"], "version": found["version"], "provider": info.provider.decode(), "doc": found["doc"],
            "category": found["category"], "inputs": tuple(name for name, _ in found["inputs"]),
            "attributes": {name: preset for name, _, preset in found["attrs"]}, "outputs": found["outputs"]}


def _info(number):
    return ctypes.cast(_get(number), _INFO).contents


def signature(number):
    """A plug-in's op as a row of _abi.OPS."""
    found = row(number)
    return (found["name"], tuple((kind, word) for word, kind in found["inputs"]),
            tuple((kind, word) for word, kind, _ in found["attrs"]), found["outputs"])


def row(number):
    """The schema of a plug-in's op by number, as _schema.read gives it."""
    return _schema.read(_info(number), _abi.op_input, _abi.op_attr, _DTYPE_NAMES)


_DTYPE_NAMES = {dtype.number: name for name, dtype in _dtypes.by_name.items()}


def op(name: str) -> Callable[..., Any]:
    """A plug-in's op as a function: inputs in their order (a list of arrays where the op takes any number, optional ones
    None), attributes by name with their defaults. It gives an Array, or a tuple where the op has several outputs. An op
    without inputs takes device=, too.

    name: "acme.swiglu2", or "acme.swiglu2@1" for a version; ValueError if no plug-in that is loaded brings it.

    Shapes: as the plug-in's op says.
    Dtypes: as the plug-in's op says.
    Errors: ValueError for an unknown name and for an op of nd4c itself; TypeError for what is no text.

    >>> nd4c.plugins.op(3)
    Traceback (most recent call last):
        ...
    TypeError: plugins: an op is named by text such as 'acme.swiglu2', not int
    """
    place = number(name)
    if place not in _made:
        _made[place] = _function(place, row(place))
    return _made[place]


def _function(number, row):
    """Python compiles the signature, as that of a named tuple: keywords then cost no more than with any function. The words
    are letters, digits and '_': the library checked them."""
    parameters, values, presets, optional, taken = [], [], {}, False, set(_TAKEN)
    for word, kind in row["inputs"]:
        optional = optional or kind == "o"
        values.append(_word(word, taken))
        parameters.append(values[-1] + ("=None" if optional else ""))
    keywords = []
    for place, (word, kind, preset) in enumerate(row["attrs"]):
        word = _word(word, taken)
        presets["_preset%d" % place] = preset
        keywords.append("%s=_preset%d" % (word, place))
        values.append({"t": "_dtype(%s)", "N": "_axes(%s)"}.get(kind, "%s") % word)
    placed = not row["inputs"] and all(word != "device" for word, _, _ in row["attrs"])
    keywords += ["device=None"] * placed
    call = "_made_on(device, _call, %s)" if placed else "_call(%s)"
    text = "lambda %s: %s" % (", ".join(parameters + ["*"] * bool(keywords) + keywords), call % ", ".join(values))
    function = eval(text, {"_call": calls[number], "_dtype": _dtypes.dtype_or_none, "_axes": axes, "_made_on": made_on,
                           **presets})
    function.__name__ = function.__qualname__ = row["name"]
    function.__module__, function.__doc__ = __name__, row["doc"] or None
    return function


def _word(word, taken):
    """A parameter's name, which is taken from then on. A Python keyword, or a name that is taken, gets a '_' at its end; a
    name that cannot begin an identifier gets one in front."""
    word = word if word[:1].isalpha() or word[:1] == "_" else "_" + word
    while iskeyword(word) or word in taken:
        word += "_"
    taken.add(word)
    return word


_TAKEN = {"_call", "_dtype", "_axes", "_made_on"}

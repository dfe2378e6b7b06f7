"""Picks the core that calls the C library: the extension `_native`, or ctypes if it is missing. ND4C_PYTHON_CORE
forces one."""
import os
from importlib import import_module

_forced = os.environ.get("ND4C_PYTHON_CORE", "")

if _forced not in ("", "native", "ctypes"):
    raise ImportError("nd4c: ND4C_PYTHON_CORE is %r; it may be 'native' or 'ctypes'" % _forced)
if _forced == "ctypes":
    from nd4c import _ctypes as core
else:
    try:
        core = import_module("nd4c._native")  # its error is clearer than that of a from-import
    except ImportError as error:
        if _forced:
            raise ImportError("nd4c: ND4C_PYTHON_CORE asks for the extension, which cannot be imported: %s" % error) from error
        from nd4c import _ctypes as core

name = core.__name__.rpartition(".")[2].lstrip("_")
Array = core.Array
function = core.function
from_handle = core.from_handle
handle = core.handle


class _Calls(dict):
    """Functions by op number, made on first use."""

    def __missing__(self, number):
        call = self[number] = function(number)
        return call


calls = _Calls()

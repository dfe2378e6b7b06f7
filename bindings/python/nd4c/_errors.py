"""Exceptions: nd4c.Error, and one class for each status of the C library, derived also from the built-in class that a Python
user expects.

The text comes from the library."""
import errno
import os

from nd4c import _abi
from nd4c._library import bind

_BUILT_IN = {
    "CONFIG": ValueError, "IO": OSError, "FORMAT": ValueError, "ARGUMENT": ValueError, "NULL_ARGUMENT": TypeError,
    "HANDLE": ValueError, "DTYPE": TypeError, "SHAPE": ValueError, "INDEX": IndexError, "NAME": ValueError,
    "OVERFLOW": (OverflowError, ValueError), "ALIAS": ValueError, "READ_ONLY": ValueError, "UNSUPPORTED": NotImplementedError,
    "LIBRARY": OSError, "SYMBOL": OSError, "ABI": OSError, "MEMORY": MemoryError, "MEMORY_CAP": MemoryError, "DEADLINE": TimeoutError,
}


class Error(Exception):
    """The base class of all failures of the C library; `status` is the failure's code, `status_name` the code's name."""

    status = None
    status_name = None
    __module__ = "nd4c"


def _class(name, number, text):
    title = "".join(part.capitalize() for part in name.split("_")) + "Error"
    built_in = _BUILT_IN.get(name, RuntimeError)
    bases = (Error, *(built_in if isinstance(built_in, tuple) else (built_in,)))
    return type(title, bases, {"status": number, "status_name": name, "__doc__": text.capitalize() + ".",
                               "__module__": "nd4c.errors"})


classes = {row[1]: _class(*row) for row in _abi.TABLES["STATUS"] if row[1]}
globals().update({cls.__name__: cls for cls in classes.values()})


class MissingFileError(classes[102], FileNotFoundError):
    """A file that does not exist."""

    __module__ = "nd4c.errors"


class AxisError(ValueError, IndexError):
    """An axis that an array does not have, as numpy.exceptions.AxisError: made of a text, or of an axis, the number of axes and
    the name of what refuses it."""

    __module__ = "nd4c.numpy.exceptions"

    def __init__(self, axis, ndim=None, msg_prefix=None):
        self.axis, self.ndim, text = (None, None, axis) if ndim is None else (axis, ndim, None)
        if text is None:
            text = "axis %d is out of bounds for array of dimension %d" % (axis, ndim)
            text = text if msg_prefix is None else "%s: %s" % (msg_prefix, text)
        super().__init__(text)
        self._arguments = axis, ndim, msg_prefix

    def __reduce__(self):
        return AxisError, self._arguments


_message = bind("nd4c_error_message", keeps_gil=True)
_ABSENT = os.strerror(errno.ENOENT)


# What a Python user has written where the library's text begins with the name of its C function.
_WRITTEN = {"array_get": "index", "array_at": "index", "array_set": "assignment"}


def _in_python(text):
    """The library's text with Python's word for what failed."""
    name, colon, rest = text.partition(": ")
    plain = name[5:] if name.startswith("nd4c_") else name
    if colon and plain.startswith("array_") and plain.isidentifier():
        return _WRITTEN.get(plain, plain[6:]) + colon + rest
    return text


def error(status):
    """The exception for a status that a call on this thread has just returned."""
    text = _in_python((_message() or b"").decode("utf-8", "replace")) or "nd4c: status %d" % status
    cls = classes.get(status, Error)
    if cls is classes[102] and _ABSENT in text:
        cls = MissingFileError
    return cls(text)


def raise_error(status):
    raise error(status)


def check(status):
    """Raises the exception for a status that is not OK."""
    if status:
        raise error(status)

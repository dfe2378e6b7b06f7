"""Finds and opens libnd4c.so: the one named by ND4C_LIBRARY, else the one in the package, else the system loader's.

The current directory is never searched. `releasing` releases the GIL during a call, `holding` keeps it, for calls that only
read properties, make views, or drop references."""
import ctypes
import os
import struct
import sys

from nd4c import _abi

_NAMES = {"darwin": ("libnd4c.0.dylib", "libnd4c.dylib"), "win32": ("nd4c.dll",)}.get(
    sys.platform, ("libnd4c.so.0", "libnd4c.so"))


def _check_interpreter():
    """ImportError in an interpreter that the package does not serve: a subinterpreter, whose objects would replace those of the
    main one in the extension and in callbacks of the C library, and a Python that runs without the GIL."""
    identify = ctypes.pythonapi.PyInterpreterState_GetID
    identify.restype, identify.argtypes = ctypes.c_int64, (ctypes.c_void_p,)
    current = ctypes.pythonapi.PyInterpreterState_Get
    current.restype, current.argtypes = ctypes.c_void_p, ()
    if identify(current()) != 0:
        raise ImportError("nd4c serves the main interpreter only, and this is a subinterpreter. With mod_wsgi, set "
                          "WSGIApplicationGroup %{GLOBAL}, so that the application runs in the main one; other programs start a "
                          "process of its own for nd4c.")
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ImportError("nd4c needs the GIL, and this Python runs without it. Start it with PYTHON_GIL=1 or -X gil=1, or use "
                          "the standard build of Python.")


def _candidates():
    explicit = os.environ.get("ND4C_LIBRARY")
    if explicit:
        return [os.path.abspath(explicit)], "ND4C_LIBRARY names it"
    folder = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(folder, *place, name) for place in ((), ("lib",)) for name in _NAMES]
    found = [path for path in beside if os.path.exists(path)]
    if found:
        return [os.path.realpath(found[0])], "it lies in the package"
    return list(_NAMES), "the package has none, so the system's loader was asked"


def _check_size(path):
    """OSError for an ELF file whose segments reach beyond its end: loading one that was cut short kills the process."""
    with open(path, "rb") as file:
        header = file.read(64)
        if header[:6] != b"\x7fELF\x02\x01":  # the loader reports a clear error for all other files
            return
        table, size, count = struct.unpack_from("<Q", header.ljust(64), 32) + struct.unpack_from("<2H", header.ljust(64), 54)
        file.seek(table)
        entries = file.read(size * count)
        length = file.seek(0, os.SEEK_END)
    whole = size >= 56 and len(entries) == size * count
    for at in range(0, len(entries) if whole else 0, size):
        kind, offset, bytes_there = struct.unpack_from("<I4xQ16xQ", entries, at)
        whole = whole and (kind != 1 or offset + bytes_there <= length)
    if not whole:
        raise OSError("the file ends early, after %d bytes" % length)


def _open():
    paths, why = _candidates()
    reasons = []
    for path in paths:
        try:
            if os.path.isabs(path):
                _check_size(path)
            return ctypes.CDLL(path), path
        except OSError as error:
            reasons.append("%s: %s" % (path, error))
    raise ImportError("nd4c: the shared library could not be opened (%s): %s. Install the nd4c wheel again, or set "
                      "ND4C_LIBRARY to the path of libnd4c.so." % (why, "; ".join(reasons)))


def _check(library, path):
    try:
        library.nd4c_version.restype = ctypes.c_char_p
        version = library.nd4c_version().decode()
    except AttributeError:
        raise ImportError("nd4c: %s is not libnd4c: it has no nd4c_version. Set ND4C_LIBRARY to the path of "
                          "libnd4c.so." % path) from None
    wanted = "%d.%d.%d" % _abi.VERSION
    if version.split(".")[:2] != wanted.split(".")[:2]:
        raise ImportError("nd4c: the Python package is of version %s, %s is %s. Install both from one wheel, or set "
                          "ND4C_LIBRARY to a libnd4c.so of version %s." % (wanted, path, version, wanted))
    return version


_check_interpreter()
releasing, path = _open()
version = _check(releasing, path)
holding = ctypes.PyDLL(path, handle=releasing._handle)


def bind(name, keeps_gil=False):
    """A function of the C API with its prototype set."""
    function = getattr(holding if keeps_gil else releasing, name)
    function.restype, function.argtypes = _abi.FUNCTIONS[name]
    return function


_free = bind("nd4c_free", keeps_gil=True)


def facts(row):
    """A filled struct of the C library as a dict: its fields but struct_size, texts decoded."""
    values = [(name, getattr(row, name)) for name, _ in row._fields_[1:]]
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in values}


def take_text(out):
    """The text that the C library handed over in the c_void_p `out`, which is freed."""
    try:
        return ctypes.string_at(out.value).decode()
    finally:
        _free(out)

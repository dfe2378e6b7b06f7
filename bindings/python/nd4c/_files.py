"""Arrays in files: nd4c.load and nd4c.save. The name's ending says the format."""
import os
from ctypes import byref, c_void_p

from nd4c._core import Array, from_handle, handle
from nd4c._creation import asarray
from nd4c._errors import check
from nd4c._library import bind

_readers = {".npy": "nd4c_npy_read"}
_writers = {".npy": "nd4c_npy_write"}


def load(path):
    """The array in a .npy or .pb (ONNX TensorProto) file."""
    path = os.fspath(path)
    out = c_void_p()
    if path.endswith(".pb"):
        check(bind("nd4c_tensor_read")(os.fsencode(path), byref(out), None))
    else:
        check(bind(_format(path, _readers, "load"))(os.fsencode(path), byref(out)))
    return from_handle(out.value)


def save(path, array):
    """Writes an array into a .npy or .pb (ONNX TensorProto) file, which takes the place of an older one at once."""
    path = os.fspath(path)
    if type(array) is not Array:
        array = asarray(array)
    if path.endswith(".pb"):
        check(bind("nd4c_tensor_write")(os.fsencode(path), handle(array), None))
    else:
        check(bind(_format(path, _writers, "save"))(os.fsencode(path), handle(array)))


def _format(path, functions, where):
    ending = os.path.splitext(path)[1]
    if ending not in functions:
        raise ValueError("%s: %r ends in none of %s" % (where, path, ", ".join(list(functions) + [".pb"])))
    return functions[ending]

"""Arrays in files: nd4c.load and nd4c.save. The name's ending selects the format."""
from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_void_p

from nd4c._core import Array, from_handle, handle
from nd4c._creation import asarray, copied, made_on
from nd4c._errors import check
from nd4c._library import bind
from nd4c._memory import is_read_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping, Optional, Union

    from nd4c import Device

_ENDINGS = (".npy", ".npz", ".safetensors", ".pb")


def load(path: Union[str, os.PathLike[str]], *, device: Union[Device, str, None] = None) -> Any:
    """The contents of a file: an array from .npy and .pb (ONNX TensorProto), a dict of arrays by name from .npz and
    .safetensors.

    Arrays of .safetensors share the mapped file's bytes, read-only, if those are aligned; with a device, they are copies on
    it. load_metadata gives the texts beside them."""
    path, ending = _split(path, "load")
    made = made_on(device, _loaded, path, ending)
    if device is None or ending != ".safetensors":
        return made
    return {name: copied(array) if is_read_only(array) else array for name, array in made.items()}


def _loaded(path, ending):
    out = c_void_p()
    if ending == ".npy":
        check(bind("nd4c_npy_read")(path, byref(out)))
        return from_handle(out.value)
    if ending == ".pb":
        check(bind("nd4c_tensor_read")(path, byref(out), None))
        return from_handle(out.value)
    archive = _open(path, ending)
    try:
        return {name: _member(archive, i) for i, name in enumerate(_texts(archive, "nd4c_archive_count", "nd4c_archive_name"))}
    finally:
        bind("nd4c_archive_release")(archive)


def load_metadata(path: Union[str, os.PathLike[str]]) -> Dict[str, str]:
    """The texts beside the arrays of a .safetensors file: a dict; an empty one where there are none."""
    path, ending = _split(path, "load_metadata", (".npz", ".safetensors"))
    archive = _open(path, ending)
    try:
        keys, values = (_texts(archive, "nd4c_archive_metadata_count", "nd4c_archive_metadata_" + part)
                        for part in ("key", "value"))
        return dict(zip(keys, values))
    finally:
        bind("nd4c_archive_release")(archive)


def save(path: Union[str, os.PathLike[str]], arrays: Any, *, compressed: bool = False,
         metadata: Optional[Mapping[str, str]] = None) -> None:
    """Writes an array into a .npy or .pb (ONNX TensorProto) file, a dict of arrays by name into a .npz or .safetensors one.

    compressed: of .npz, deflated. metadata: of .safetensors, a dict of texts. The file replaces an older one atomically."""
    path, ending = _split(path, "save")
    if compressed and ending != ".npz":
        raise ValueError("save: compressed is for .npz files, not %s" % ending)
    if metadata and ending != ".safetensors":
        raise ValueError("save: metadata is for .safetensors files, not %s" % ending)
    if ending in (".npz", ".safetensors"):
        return _save_named(path, ending, arrays, compressed, metadata or {})
    if isinstance(arrays, dict):
        raise TypeError("save: a %s file holds one array, not a dict; .npz and .safetensors files hold those" % ending)
    array = _array(arrays)
    if ending == ".npy":
        check(bind("nd4c_npy_write")(path, handle(array)))
    else:
        check(bind("nd4c_tensor_write")(path, handle(array), None))


def _save_named(path, ending, arrays, compressed, metadata):
    if not isinstance(arrays, dict):
        raise TypeError("save: a %s file holds a dict of arrays by name, not %s" % (ending, type(arrays).__name__))
    kept = [_array(array) for array in arrays.values()]
    names = _strings(arrays, "a name")
    handles = (c_void_p * len(kept))(*[handle(array) for array in kept])
    if ending == ".npz":
        check(bind("nd4c_npz_write")(path, names, handles, len(kept), compressed))
    else:
        check(bind("nd4c_safetensors_write")(path, names, handles, len(kept), _strings(metadata, "a key of metadata"),
                                             _strings(metadata.values(), "a text of metadata"), len(metadata)))


def _array(value):
    return value if type(value) is Array else asarray(value)


def _strings(texts, what):
    for text in texts:
        if not isinstance(text, str):
            raise TypeError("save: %s is a string, not %s" % (what, type(text).__name__))
        if "\0" in text:
            raise ValueError("save: %s holds a NUL character: %r" % (what, text))
    return (c_char_p * len(texts))(*[text.encode() for text in texts])


def _open(path, ending):
    out = c_void_p()
    check(bind("nd4c_npz_open" if ending == ".npz" else "nd4c_safetensors_open")(path, byref(out)))
    return out


def _texts(archive, count, text):
    return [bind(text)(archive, i).decode() for i in range(bind(count)(archive))]


def _member(archive, index):
    out = c_void_p()
    check(bind("nd4c_archive_array")(archive, index, byref(out)))
    return from_handle(out.value)


def _split(path, where, endings=_ENDINGS):
    path = os.fspath(path)
    ending = os.path.splitext(os.fsdecode(path))[1]
    if ending not in endings:
        raise ValueError("%s: %r ends in none of %s" % (where, path, ", ".join(endings)))
    return os.fsencode(path), ending

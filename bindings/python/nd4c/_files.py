"""Arrays in files: nd4c.load and nd4c.save. The name's ending selects the format; of an open file its first bytes do.

nd4c.numpy's load, save, savez use the same readers and writers."""
from __future__ import annotations

import os
from ast import literal_eval
from ctypes import byref, c_char_p, c_void_p
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from nd4c._core import Array, from_handle, handle
from nd4c._creation import asarray, copied, made_on
from nd4c._errors import check
from nd4c._library import bind
from nd4c._memory import is_read_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any, Dict, Mapping, Optional, Union

    from nd4c import Device

NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_OPEN = {".npz": "nd4c_npz_open", ".safetensors": "nd4c_safetensors_open"}
_ENDINGS = (".npy", ".npz", ".safetensors", ".pb")


class LoadedArrays(dict):
    """Arrays of a file by name: a dict that also has what programs ask of numpy.load's result. All arrays are in memory, so
    closing it changes nothing."""

    __slots__ = ()

    @property
    def files(self):
        """The names of the arrays, a list."""
        return list(self)

    def close(self):
        """Does nothing: the file was closed when load() returned."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def load(path: Union[str, os.PathLike[str], IO[bytes]], *, device: Union[Device, str, None] = None) -> Any:
    """The contents of a file: an array from .npy and .pb (ONNX TensorProto), a dict of arrays by name from .npz and
    .safetensors, which also has numpy.load's files, close() and `with`.

    path: a file's name, or an object that is open for reading bytes; of .npy such an object is read up to the array's end.
    Arrays of .safetensors share the mapped file's bytes, read-only, if those are aligned; with a device, they are copies on
    it. load_metadata gives the texts beside them.
    Shapes: those of the file.
    Dtypes: those of the file; Python objects are refused.
    Errors: FileNotFoundError; ValueError for damaged files and unknown formats; NotImplementedError for objects and
    records.

    >>> import io
    >>> file = io.BytesIO()
    >>> nd4c.save(file, nd4c.asarray([1, 2]))
    >>> _ = file.seek(0)
    >>> nd4c.load(file)
    array([1, 2])
    """
    ending = None
    if hasattr(path, "read"):
        made = made_on(device, _from_stream, path)
    else:
        path, ending = _split(path, "load")
        made = made_on(device, _loaded, path, ending)
    if type(made) is not dict:
        return made
    if device is not None and ending == ".safetensors":
        made = {name: copied(array) if is_read_only(array) else array for name, array in made.items()}
    return LoadedArrays(made)


def _loaded(path, ending):
    if ending == ".npy":
        return made_by("nd4c_npy_read", path, ...)
    if ending == ".pb":
        return made_by("nd4c_tensor_read", path, ..., None)
    return _members(opened(_OPEN[ending], path))


def _from_stream(file):
    """The contents of an object open for reading; its first bytes tell the format."""
    start = file.read(9)
    if start[:6] == NPY_MAGIC:
        return array_of_npy(file, start)
    data = start + file.read()
    if start[:4] in ZIP_MAGICS:
        return _members(opened("nd4c_npz_open_memory", data, len(data)))
    if start[8:] == b"{":
        return _members(opened("nd4c_safetensors_open_memory", data, len(data)))
    raise ValueError("load: the file object begins with %r, as no .npy, .npz or .safetensors file does; other formats are "
                     "loaded by their file's name" % start)


def array_of_npy(file, start):
    """The array of a .npy file that is open for reading, of which the bytes `start` have been read. Reads up to its end."""
    head = start + _exactly(file, 12 - len(start))
    wide = head[6] > 1
    length = int.from_bytes(head[8:12 if wide else 10], "little")
    header = head + _exactly(file, length - (0 if wide else 2))
    _, count = npy_layout(header[12 if wide else 10:])
    data = header + _exactly(file, count)
    return made_by("nd4c_npy_read_memory", data, len(data), ...)


def _exactly(file, count):
    data = file.read(count) if count else b""
    if len(data) != count:
        raise ValueError("load: the .npy file ends too early: expected %d more bytes, got %d" % (count, len(data)))
    return data


def npy_layout(header):
    """The dict of a .npy file's header, and how many bytes its elements take."""
    try:
        layout = literal_eval(header.decode("latin1").strip())
        described, count = layout["descr"], 1
        described = described if isinstance(described, str) else described[0][1]
        for extent in layout["shape"]:
            count *= extent
        return layout, count * int(described[2:] or 0) * (4 if described[1] == "U" else 1)
    except (SyntaxError, ValueError, KeyError, TypeError, IndexError):
        raise ValueError("load: the .npy file's header cannot be read: %r" % header[:80]) from None


def made_by(function, *arguments):
    """The array that a function of the library makes. Ellipsis among the arguments marks the place of its result."""
    out = c_void_p()
    check(bind(function)(*[byref(out) if argument is ... else argument for argument in arguments]))
    return from_handle(out.value)


def opened(function, *arguments):
    """An archive, opened by a function of the library: by its path, or by its bytes and their number."""
    out = c_void_p()
    check(bind(function)(*arguments, byref(out)))
    return out


def release(archive):
    """Closes an archive."""
    bind("nd4c_archive_release")(archive)


def names_of(archive):
    """The names of an archive's arrays, in their order."""
    return _texts(archive, "nd4c_archive_count", "nd4c_archive_name")


def member(archive, index):
    """The array of an archive at a place."""
    return made_by("nd4c_archive_array", archive, index, ...)


def _members(archive):
    try:
        return {name: member(archive, i) for i, name in enumerate(names_of(archive))}
    finally:
        release(archive)


def load_metadata(path: Union[str, os.PathLike[str]]) -> Dict[str, str]:
    """The texts beside the arrays of a .safetensors file: a dict; an empty one where there are none.

    Errors: FileNotFoundError; ValueError for a file of another format.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "a.safetensors")
    ...     nd4c.save(path, {"x": nd4c.ones(2)}, metadata={"by": "me"})
    ...     nd4c.load_metadata(path)
    {'by': 'me'}
    """
    path, ending = _split(path, "load_metadata", (".npz", ".safetensors"))
    archive = opened(_OPEN[ending], path)
    try:
        keys, values = (_texts(archive, "nd4c_archive_metadata_count", "nd4c_archive_metadata_" + part)
                        for part in ("key", "value"))
        return dict(zip(keys, values))
    finally:
        release(archive)


def save(path: Union[str, os.PathLike[str], IO[bytes]], arrays: Any, *, compressed: bool = False,
         metadata: Optional[Mapping[str, str]] = None) -> None:
    """Writes an array into a .npy or .pb (ONNX TensorProto) file, a dict of arrays by name into a .npz or .safetensors one.

    path: a file's name, or an object that is open for writing bytes: it gets .npy, of a dict .npz, with metadata .safetensors.
    compressed: of .npz, deflated. metadata: of .safetensors, a dict of texts. The file replaces an older one atomically.
    Shapes: any.
    Dtypes: all that the format has.
    Errors: ValueError for another ending, TypeError for what the format does not hold.

    >>> import io
    >>> file = io.BytesIO()
    >>> nd4c.save(file, {"x": nd4c.asarray([1.5])})
    >>> nd4c.load(io.BytesIO(file.getvalue()))
    {'x': array([1.5])}
    """
    if hasattr(path, "write"):
        named = isinstance(arrays, dict)
        ending = ".safetensors" if named and metadata else ".npz" if named else ".npy"
        return to_stream(path, save_as, ending, arrays, compressed, metadata)
    path, ending = _split(path, "save")
    save_as(path, ending, arrays, compressed, metadata)


def save_as(path, ending, arrays, compressed, metadata):
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


def to_stream(file, write, *arguments):
    """What write(path, *arguments) writes into a file, copied to an object that is open for writing bytes."""
    if hasattr(os, "memfd_create"):
        with open(os.memfd_create("nd4c"), "r+b") as scratch:
            write(os.fsencode("/proc/self/fd/%d" % scratch.fileno()), *arguments)
            return copyfileobj(scratch, file)
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "arrays")
        write(os.fsencode(path), *arguments)
        with open(path, "rb") as scratch:
            return copyfileobj(scratch, file)


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


def _texts(archive, count, text):
    return [bind(text)(archive, i).decode() for i in range(bind(count)(archive))]


def _split(path, where, endings=_ENDINGS):
    path = os.fspath(path)
    ending = os.path.splitext(os.fsdecode(path))[1]
    if ending not in endings:
        raise ValueError("%s: %r ends in none of %s" % (where, path, ", ".join(endings)))
    return os.fsencode(path), ending

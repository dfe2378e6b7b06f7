"""NumPy's files: save, load, savez, fromfile. Text files are in _text_files.py; the formats are those of nd4c._files."""
import os
from collections.abc import Mapping

from nd4c import _dtypes, _memory
from nd4c._core import core
from nd4c._creation import asarray
from nd4c._files import (
    NPY_MAGIC, ZIP_MAGICS, array_of_npy, save_as, made_by, member, names_of, npy_layout, opened, release, to_stream)
from nd4c._functions.support import as_array, op
from nd4c.numpy._text_files import genfromtxt, loadtxt, parse_text, savetxt

__all__ = ["fromfile", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed"]


def save(file, arr, allow_pickle=True):
    """Writes an array into a .npy file.

    file: a name, to which ".npy" is appended where it is missing, or an object open for writing bytes.
    Shapes: any.
    Dtypes: all of nd4c's. allow_pickle has no effect: no element is a Python object.
    Errors: OSError as open() raises; TypeError for what is no array.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, [1, 2])
    >>> np.load(io.BytesIO(file.getvalue()))
    array([1, 2])
    """
    _written(file, ".npy", as_array(arr, "save"))


def savez(file, *args, allow_pickle=True, **kwds):
    """Writes arrays into one .npz file, by the keywords' names; those without are arr_0, arr_1, and so on.

    file: a name, to which ".npz" is appended where it is missing, or an object open for writing bytes.
    Shapes: any.
    Dtypes: all that NumPy has.
    Errors: ValueError if a keyword is such a name, OSError as open() raises.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, [1, 2], x=[0.5])
    >>> np.load(io.BytesIO(file.getvalue())).files
    ['x', 'arr_0']
    """
    _written(file, ".npz", _named("savez", args, kwds), False)


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """As savez, deflated.

    Shapes: any.
    Dtypes: all that NumPy has.
    Errors: OSError if the file cannot be written; TypeError for what asarray does not take.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez_compressed(file, x=nd4c.zeros(1000))
    >>> len(file.getvalue()) < 1000
    True
    """
    _written(file, ".npz", _named("savez_compressed", args, kwds), True)


def _named(where, args, kwds):
    arrays = dict(kwds)
    for number, value in enumerate(args):
        name = "arr_%d" % number
        if name in arrays:
            raise ValueError("%s: the array without a name at place %d is called %s, as a keyword is (cannot use un-named "
                             "variables and keyword %s)" % (where, number, name, name))
        arrays[name] = value
    return {name: as_array(value, where) for name, value in arrays.items()}


def _written(file, ending, arrays, compressed=False):
    if hasattr(file, "write"):
        return to_stream(file, save_as, ending, arrays, compressed, None)
    path = os.fsencode(os.fspath(file))
    if not path.endswith(ending.encode()):
        path += ending.encode()
    save_as(path, ending, arrays, compressed, None)


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    """The array of a .npy file, or an NpzFile, a mapping from names to arrays, of a .npz one.

    file: a name, or an object open for reading bytes, which is read up to the array's end.
    mmap_mode: "r", "r+" or "c": the array shares the mapped file's bytes, read-only, written through, or copied on write.
    Shapes: those of the file.
    Dtypes: those of the file; Python objects are refused.
    Errors: FileNotFoundError; ValueError for other formats, pickles among them; NotImplementedError for objects and
    records.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, x=[1, 2])
    >>> with np.load(io.BytesIO(file.getvalue())) as arrays:
    ...     arrays["x"]
    array([1, 2])
    """
    if hasattr(file, "read"):
        return _from_stream(file)
    path = os.fspath(file)
    with open(path, "rb") as stream:
        start = stream.read(6)
        if start == NPY_MAGIC and mmap_mode:
            return _mapped(path, mmap_mode)
    if start == NPY_MAGIC:
        return made_by("nd4c_npy_read", os.fsencode(path), ...)
    if start[:4] in ZIP_MAGICS:
        return NpzFile(opened("nd4c_npz_open", os.fsencode(path)))
    raise _unknown(start, allow_pickle)


def _from_stream(file):
    start = file.read(6)
    if start == NPY_MAGIC:
        return array_of_npy(file, start)
    if start[:4] in ZIP_MAGICS:
        data = start + file.read()
        return NpzFile(opened("nd4c_npz_open_memory", data, len(data)))
    raise _unknown(start, False)


def _unknown(start, allow_pickle):
    if not start:
        return EOFError("load: No data left in file")
    return ValueError("load: the file begins with %r, as no .npy or .npz file does; pickles are not loaded%s" % (
        start, "" if allow_pickle else " (Cannot load file containing pickled data when allow_pickle=False)"))


def _mapped(path, mode):
    """The array over the mapped bytes of a .npy file."""
    import mmap
    access = {"r": mmap.ACCESS_READ, "r+": mmap.ACCESS_WRITE, "c": mmap.ACCESS_COPY}.get(mode)
    if access is None:
        raise ValueError("load: mmap_mode is %r; it may be 'r', 'r+' or 'c'" % (mode,))
    with open(path, "r+b" if mode == "r+" else "rb") as stream:
        head = stream.read(12)
        begin = 12 if head[6] > 1 else 10
        length = int.from_bytes(head[8:begin], "little")
        stream.seek(begin)
        layout, count = npy_layout(stream.read(length))
        block = asarray(memoryview(mmap.mmap(stream.fileno(), 0, access=access)))
    dtype, shape = _dtypes.of(layout["descr"]), tuple(layout["shape"])
    if dtype.kind == "U":
        raise ValueError("load: arrays of texts are not mapped; leave mmap_mode out")
    if block.size < begin + length + count:
        raise ValueError("load: %r ends too early: expected %d bytes, got %d" % (path, begin + length + count, block.size))
    turned = shape[::-1] if layout["fortran_order"] else shape
    array = _memory.wrap(_memory.address(block) + begin + length, turned, None, dtype, mode == "r", block)
    return op("transpose")(array, None) if layout["fortran_order"] else array


class NpzFile(Mapping):
    """The arrays of a .npz file by name, each read when it is asked for. `files` lists the names, f.x is f["x"].

    close(), or leaving a with statement, ends the reading.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, x=[1, 2], y=[3])
    >>> sorted(np.load(io.BytesIO(file.getvalue())))
    ['x', 'y']
    """

    def __init__(self, archive):
        self._archive = archive
        self.files = names_of(archive)
        self.f = _Names(self)

    def __getitem__(self, key):
        if self._archive is None:
            raise ValueError("NpzFile: %r is asked for, but the file has been closed" % (key,))
        name = key if key in self.files else key[:-4] if isinstance(key, str) and key.endswith(".npy") else key
        if name not in self.files:
            raise KeyError("%s is not a file in the archive; there are %s" % (key, ", ".join(self.files)))
        return member(self._archive, self.files.index(name))

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, key):
        return key in self.files or (isinstance(key, str) and key.endswith(".npy") and key[:-4] in self.files)

    def __repr__(self):
        return "NpzFile with keys: " + ", ".join(self.files)

    def close(self):
        """Ends the reading; arrays that were read stay.

        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, x=[1])
        >>> arrays = np.load(io.BytesIO(file.getvalue()))
        >>> arrays.close()
        """
        archive, self._archive = self._archive, None
        if archive is not None:
            release(archive)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        # Where __init__ failed, there is no archive.
        if getattr(self, "_archive", None) is not None:
            self.close()


class _Names:
    """Arrays of a .npz file as attributes."""

    def __init__(self, archive):
        self._all = archive

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._all[name]
        except KeyError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self):
        return list(self._all)


def fromfile(file, dtype=None, count=-1, sep="", offset=0, *, like=None):
    """A vector of the elements that a file holds, as bytes, or as text with sep between them.

    file: a name, or an object open for reading bytes, which is read from where it stands. count: how many (-1: all).
    offset: bytes that are left out first (not of text).
    Shapes: the result has one axis.
    Dtypes: `dtype`.
    Errors: ValueError if the text holds something else, or the file has fewer than count elements.

    >>> import io
    >>> np.fromfile(io.BytesIO(bytes([1, 0, 2, 0])), dtype=np.int16)
    array([1, 2], dtype=int16)
    """
    dtype = _dtypes.of(float if dtype is None else dtype)
    if hasattr(file, "read"):
        return _elements(file, dtype, count, sep, offset)
    with open(os.fspath(file), "rb") as stream:
        return _elements(stream, dtype, count, sep, offset)


def _elements(stream, dtype, count, sep, offset):
    if offset and sep:
        raise TypeError("fromfile: offset is for files of bytes; leave it out beside sep")
    if offset:
        stream.seek(offset, os.SEEK_CUR)
    if sep:
        data = stream.read()
        return parse_text("fromfile", data.decode("latin1") if isinstance(data, bytes) else data, dtype, count, sep)
    if not dtype.itemsize or dtype.kind == "U":
        raise TypeError("fromfile: elements of %s have no bytes of their own; read another dtype and cast it" % dtype)
    data = stream.read(count * dtype.itemsize if count >= 0 else -1)
    found = len(data) // dtype.itemsize
    return core.from_data(bytes(data[:found * dtype.itemsize]), (found,), dtype)

"""External memory: arrays over memory by its address, descriptor or handle, memory of arrays for others, registered host
memory. nd4c.memory shows it."""
from __future__ import annotations

import ctypes
from operator import index

from nd4c import _abi, _dtypes, _memory
from nd4c._arguments import enum_name, integer
from nd4c._arguments import shape as shape_of
from nd4c._core import from_handle, handle
from nd4c._devices import Device, current_device, find
from nd4c._errors import check
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Optional, Sequence, Union

    from nd4c import Array, DType

_import = bind("nd4c_array_from_external")
_export = bind("nd4c_array_to_external")
_register = bind("nd4c_host_register")
_unregister = bind("nd4c_host_unregister")
_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_KINDS = _abi.TABLES["EXTERNAL_KIND"]
_NAMES = {row[1]: row[2] for row in _KINDS}


def _place(device):
    return current_device() if device is None else find(device)


def _bytes(shape, strides, start, size):
    """Bytes from the first one to the end of the last element."""
    if 0 in shape:
        return start * size
    if strides is None:
        count = 1
        for extent in shape:
            count *= extent
        return (start + count) * size
    return (start + 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides) if stride > 0)) * size


def from_external(kind: str, place: int, shape: Union[int, Sequence[int]], dtype: Union[DType, str],
                  device: Union[Device, str, None] = None, *, strides: Optional[Sequence[int]] = None, start: int = 0,
                  offset: int = 0, bytes: Optional[int] = None, read_only: bool = False, owner: Any = None) -> Array:
    r"""An array on the device over memory that nd4c did not allocate, without a copy.

    kind: "host_pointer", "device_pointer" (place is an address), "descriptor" (a file descriptor, which may be closed behind
    the call), "native" (the vendor's handle, a cl_mem). strides and start count elements, start from the memory's first byte
    to element 0; offset and bytes count bytes: offset is where the memory begins within the object of a descriptor or handle.
    owner is kept until the last use of the memory is over. Other work on the memory must have ended.

    Shapes: `shape`, with `strides`; C-contiguous without.
    Dtypes: `dtype`; bytes of the memory are taken as they are.
    Errors: ValueError for an unknown kind, memory that is too small or not aligned; OverflowError for what can be no
    address; NotImplementedError for a kind that the device does not take.

    >>> cells = bytearray(b"\1\2\3")
    >>> import ctypes
    >>> place = ctypes.addressof(ctypes.c_char.from_buffer(cells))
    >>> x = nd4c.memory.from_external("host_pointer", place, 3, "uint8", owner=cells)
    >>> cells[0] = 9
    >>> x
    array([9, 2, 3], dtype=uint8)
    """
    dtype, shape = _dtypes.of(dtype), shape_of(shape)
    device = current_device() if device is None else Device(device)  # asked for, as by zeros()
    steps = None if strides is None else tuple(integer("from_external: strides", stride) for stride in strides)
    if steps is not None and len(steps) != len(shape):
        raise ValueError("from_external: %d strides for %d axes" % (len(steps), len(shape)))
    number, place, start = enum_name("from_external: kind", kind, _KINDS), index(place), integer("from_external: start", start)
    by_descriptor = _NAMES.get(number) == "descriptor"
    if not -1 <= place < (2 ** 31 if by_descriptor else 2 ** 64):
        raise OverflowError("from_external: %d is no %s" % (place, "descriptor" if by_descriptor else "address"))
    key = _memory.keep(owner)
    memory = _abi.external(ctypes.sizeof(_abi.external), number, None if by_descriptor else place,
                           place if by_descriptor else -1, bool(read_only), integer("from_external: offset", offset),
                           _bytes(shape, steps, start, dtype.itemsize) if bytes is None else integer("from_external: bytes", bytes), 0,
                           ctypes.cast(_memory.forget, ctypes.c_void_p), key)
    out = ctypes.c_void_p()
    status = _import(device.handle, dtype.number, len(shape), _memory.int64(shape),
                     None if steps is None else _memory.int64(steps), start, ctypes.byref(memory), ctypes.byref(out))
    if status:
        _memory.forget(key)
        check(status)
    return from_handle(out.value)


class _Owned:
    """The base of objects that hold memory of this process: they can be neither copied nor pickled."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("%s objects can be neither copied nor pickled: they hold memory of this process; pass the object itself"
                        % type(self).__name__)


class External(_Owned):
    """Memory of an array, for other libraries: place is its address, descriptor or handle, by kind. The array lives, and a
    descriptor is open, until release(), which the end of a `with` block calls, too.

    >>> with nd4c.memory.to_external(nd4c.zeros(3), "host_pointer") as memory:
    ...     memory.kind, memory.bytes >= 24, memory.read_only
    ('host_pointer', True, False)
    """

    __slots__ = ("_memory", "start")

    start: int

    def __init__(self, memory, start):
        self._memory, self.start = memory, start

    @property
    def kind(self) -> str:
        """How place is meant: "host_pointer", "device_pointer", "descriptor" or "native"."""
        return _NAMES[self._memory.kind]

    @property
    def place(self) -> int:
        """The address, descriptor or handle."""
        return self._memory.descriptor if self.kind == "descriptor" else self._memory.pointer

    @property
    def offset(self) -> int:
        """Bytes from the beginning of the descriptor's or handle's object to the memory's first byte."""
        return self._memory.offset

    @property
    def bytes(self) -> int:
        """The size of the memory."""
        return self._memory.bytes

    @property
    def read_only(self) -> bool:
        """Whether the receiver may only read."""
        return self._memory.read_only

    def release(self) -> None:
        """Ends the export; a second call does nothing.

        >>> nd4c.memory.to_external(nd4c.zeros(3), "host_pointer").release()
        """
        release, self._memory.release = self._memory.release, None
        if release:
            _release(release)(self._memory.user)

    close = release

    def __enter__(self) -> External:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release()

    def __del__(self):
        if hasattr(self, "_memory"):
            self.release()


def to_external(x: Array, kind: str, device: Union[Device, str, None] = None) -> External:
    """The array's memory on the device (None: the array's device). It is the memory of the whole array that a view belongs to:
    element 0 is `start` elements from the first byte. The contents are copied to the device first, and the call waits for work
    on them. The receiver may write unless the memory is read_only.

    Shapes: any; the memory is that of the array which x is a view of.
    Dtypes: all.
    Errors: ValueError for an unknown kind; NotImplementedError for one that the device does not give.

    >>> x = nd4c.arange(6)
    >>> with nd4c.memory.to_external(x[2:], "host_pointer") as memory:
    ...     memory.start, memory.bytes >= 48
    (2, True)
    """
    memory, start = _abi.external(struct_size=ctypes.sizeof(_abi.external)), ctypes.c_int64()
    check(_export(handle(x), (x.device if device is None else Device(device)).handle,
                  enum_name("to_external: kind", kind, _KINDS), ctypes.byref(memory), ctypes.byref(start)))
    return External(memory, start.value)


class Registered(_Owned):
    """Host memory that a device copies directly, until unregister(), which the end of a `with` block calls, too.
    """

    __slots__ = ("_device", "_cells")

    def __init__(self, device, cells):
        self._cells = None
        check(_register(device.handle, ctypes.addressof(cells), ctypes.sizeof(cells)))
        self._device, self._cells = device, cells

    def unregister(self) -> None:
        """Waits for copies that are under way; a second call does nothing.
        """
        cells, self._cells = self._cells, None
        if cells is not None:
            check(_unregister(self._device.handle, ctypes.addressof(cells)))

    close = unregister

    def __enter__(self) -> Registered:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.unregister()

    def __del__(self):
        if hasattr(self, "_cells"):
            self.unregister()


def register(x: Any, device: Union[Device, str, None] = None) -> Registered:
    """Lets the device copy from and to the memory of a writable contiguous buffer (bytearray, mmap, NumPy's) directly, where
    nd4c.Device(...).info["registers_host"] says that it can. The buffer is held meanwhile.

    Errors: TypeError for a buffer that is read-only or not contiguous; NotImplementedError where the device registers
    none.

    >>> nd4c.Device("cpu:0").info["registers_host"]
    False
    >>> nd4c.memory.register(bytearray(4096), "cpu:0")
    Traceback (most recent call last):
        ...
    nd4c.errors.UnsupportedError: nd4c_host_register: cpu:0 page-locks no memory of others
    """
    view = memoryview(x).cast("B")
    return Registered(_place(device), (ctypes.c_char * len(view)).from_buffer(view))

"""Devices as objects: nd4c.Device("cpu:0")."""
import ctypes

from nd4c import _abi
from nd4c._errors import check
from nd4c._library import bind

_find = bind("nd4c_device_find")
_default = bind("nd4c_device_default")
_get_info = bind("nd4c_device_get_info", keeps_gil=True)
_synchronize = bind("nd4c_device_synchronize")
_memory = bind("nd4c_memory_get_info", keeps_gil=True)
_trim = bind("nd4c_memory_trim")
_set_cap = bind("nd4c_memory_set_cap")
_cache = {}


class Device:
    """A place that holds arrays and computes with them, by its name: "cpu:0", or "cpu" for the first one."""

    __slots__ = ("handle", "name")

    def __new__(cls, name):
        if type(name) is cls:
            return name
        if not isinstance(name, str):
            raise TypeError("a device is named by text such as 'cpu:0', not by %s" % type(name).__name__)
        handle = ctypes.c_void_p()
        check(_find(name.encode(), ctypes.byref(handle)))
        return of_handle(handle.value)

    def __setattr__(self, key, value):
        raise AttributeError("devices do not change")

    def __repr__(self):
        return "nd4c.Device(%r)" % self.name

    def __str__(self):
        return self.name

    def __eq__(self, other):
        if type(other) is Device:
            return self.handle == other.handle
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return Device, (self.name,)

    @property
    def info(self):
        """What is known of the device, by name."""
        row = _info_row(self.handle)
        return {"name": self.name, "description": row.description.decode(), "type": _TYPES.get(row.type, "other"),
                "index": row.index, "host_addressable": row.host_addressable, "asynchronous": row.asynchronous,
                "memory_bytes": row.memory_bytes, "width": row.width}

    @property
    def memory(self):
        """Its memory manager's counts, by name: live_bytes, cached_bytes, peak_bytes, live_count, ..."""
        row = _abi.memory_info(struct_size=ctypes.sizeof(_abi.memory_info))
        check(_memory(self.handle, ctypes.byref(row)))
        return {name: getattr(row, name) for name, _ in row._fields_[1:]}

    def synchronize(self):
        """Waits for all work on the device and raises the first failure that nobody has seen."""
        check(_synchronize(self.handle))

    def trim_memory(self, keep_bytes=0):
        """Gives cached memory back to the system."""
        check(_trim(self.handle, keep_bytes))

    def set_memory_cap(self, bytes):
        """Limits what arrays may take; 0: no limit."""
        check(_set_cap(self.handle, bytes))

    @property
    def dlpack(self):
        """Type and number as DLPack has them."""
        row = _info_row(self.handle)
        return (1 if row.host_addressable else _DLPACK.get(row.type, 12)), row.index


_TYPES = {row[1]: row[2] for row in _abi.TABLES["DEVICE_TYPE"]}
_DLPACK = {1: 1, 2: 2, 3: 10, 6: 4, 7: 8, 8: 7}


def _info_row(handle):
    row = _abi.device_info(struct_size=ctypes.sizeof(_abi.device_info))
    check(_get_info(handle, ctypes.byref(row)))
    return row


def of_handle(handle):
    """The Device of an nd4c_device *."""
    device = _cache.get(handle)
    if device is None:
        device = object.__new__(Device)
        object.__setattr__(device, "handle", handle)
        object.__setattr__(device, "name", _info_row(handle).name.decode())
        device = _cache.setdefault(handle, device)
    return device


def default():
    """The device that the registry picked."""
    handle = ctypes.c_void_p()
    check(_default(ctypes.byref(handle)))
    return of_handle(handle.value)


def handle_or_none(device):
    """The nd4c_device * that a device argument stands for; None: the context decides."""
    return None if device is None else Device(device).handle


def every():
    """All devices of the backends that work here."""
    count, get = bind("nd4c_backend_count"), bind("nd4c_backend_get_status")
    found = []
    for index in range(count()):
        row = _abi.backend_status(struct_size=ctypes.sizeof(_abi.backend_status))
        check(get(index, ctypes.byref(row)))
        found += [Device("%s:%d" % (row.name.decode(), i)) for i in range(row.device_count)]
    return tuple(found) or (default(),)

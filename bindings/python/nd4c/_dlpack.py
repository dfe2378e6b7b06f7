"""DLPack both ways: NumPy, PyTorch and others share memory with nd4c, without a copy."""
import ctypes
import gc
import sys
from _thread import allocate_lock
from ctypes import byref, c_void_p

from nd4c import _abi, _devices
from nd4c._abi import NUMBERS
from nd4c._core import Array, calls, core, from_handle, handle
from nd4c._errors import check
from nd4c._library import bind
from nd4c._memory import is_read_only

_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"
_PLAIN, _USED_PLAIN = b"dltensor", b"used_dltensor"
_READ_ONLY, _COPIED = 1, 2
_to = bind("nd4c_array_to_dlpack")
_to_device = bind("nd4c_array_to_dlpack_on")
_from = bind("nd4c_array_from_dlpack")
_deleter = ctypes.CFUNCTYPE(None, c_void_p)


class _Plain(ctypes.Structure):
    """DLManagedTensor: the form before version 1."""

    _fields_ = [("tensor", _abi.dl_tensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


def _python(name, restype, *argtypes):
    function = ctypes.PyDLL(None)[name]
    function.restype, function.argtypes = restype, argtypes
    return function


_new = _python("PyCapsule_New", ctypes.py_object, c_void_p, ctypes.c_char_p, c_void_p)
_is = _python("PyCapsule_IsValid", ctypes.c_int, c_void_p, ctypes.c_char_p)
_pointer = _python("PyCapsule_GetPointer", c_void_p, c_void_p, ctypes.c_char_p)
_rename = _python("PyCapsule_SetName", ctypes.c_int, c_void_p, ctypes.c_char_p)


def _delete(address, offset):
    deleter = c_void_p.from_address(address + offset).value
    if deleter:
        _deleter(deleter)(address)


_given = {}
_open = [object()]
_ALONE = sys.getrefcount(_open[0])
_open.clear()
_sweeping = allocate_lock()


def _capsule(address, versioned):
    """A capsule. A destructor in Python may run while an exception is being raised, and ctypes would lose the exception. So
    this module keeps the capsules, and releases tensors that no consumer took at the next export."""
    _sweep("start", None)
    capsule = _new(address, _VERSIONED if versioned else _PLAIN, None)
    _open.append(capsule)
    return capsule


def _sweep(phase, facts):
    """Drops the capsules that only this module refers to; called by the garbage collector, too."""
    if phase != "start" or not _open or not _sweeping.acquire(False):
        return
    try:
        for place in reversed(range(len(_open))):
            if sys.getrefcount(_open[place]) == _ALONE:
                _give_back(_open.pop(place))
    finally:
        _sweeping.release()


def _give_back(capsule):
    for name, offset in ((_VERSIONED, _abi.dl_managed.deleter.offset), (_PLAIN, _Plain.deleter.offset)):
        if _is(id(capsule), name):
            _delete(_pointer(id(capsule), name), offset)


if hasattr(core, "capsule"):
    _capsule = core.capsule
else:
    gc.callbacks.append(_sweep)


@_deleter
def _delete_plain(address):
    plain = _given.pop(address, None)
    if plain is not None:
        _delete(plain.manager_ctx, _abi.dl_managed.deleter.offset)


@_deleter
def _delete_taken(address):
    managed = _given.pop(address, None)
    if managed is not None:
        _delete(managed.manager_ctx, _Plain.deleter.offset)


def to_capsule(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule from which another library makes an array over the same memory."""
    if stream is not None and stream != -1:
        raise BufferError("__dlpack__: stream is %r, but arrays on %s have no streams" % (stream, self.device))
    if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
        if tuple(dl_device) != (1, 0) or copy is False:
            raise BufferError("__dlpack__: the array is on %s %s and cannot be given on %s"
                              % (self.device, self.__dlpack_device__(), tuple(dl_device)))
        self = self.to_device("cpu:0")
    if self.dtype.kind == "U":
        raise BufferError("__dlpack__: DLPack has no strings")
    versioned = max_version is not None and max_version[0] >= 1
    if not versioned and not copy and is_read_only(self):
        raise BufferError("__dlpack__: the array is read-only, which only consumers of DLPack 1.0 or newer respect; "
                          "ask with copy=True")
    if copy:
        self = calls[NUMBERS["copy"]](self)
    out = c_void_p()
    if self.device.name != "cpu:0" and self.device.info["addressable"]:
        check(_to_device(handle(self), self.device.handle, byref(out)))
    else:
        check(_to(handle(self), byref(out)))
    managed = _abi.dl_managed.from_address(out.value)
    if copy:
        managed.flags |= _COPIED
    if versioned:
        return _capsule(out.value, True)
    plain = _Plain(managed.tensor, out.value, ctypes.cast(_delete_plain, c_void_p))
    address = ctypes.addressof(plain)
    _given[address] = plain
    return _capsule(address, False)


def device_of(self, /):
    """DLPack's type and number of the array's device."""
    return self.device.dlpack


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of another library's array; x has __dlpack__, or is a capsule that one made.

    Shapes: those of x.
    Dtypes: that of x; all that DLPack has.
    Errors: TypeError for an object without __dlpack__; ValueError for a capsule that was used, and if copy=False
    cannot be.

    >>> nd4c.from_dlpack(nd4c.asarray([1, 2]))
    array([1, 2])
    """
    if type(x) is Array and device is None and not copy:
        return x
    capsule = x if type(x).__name__ == "PyCapsule" else _ask(x, device, copy)
    array = _from_capsule(capsule)
    if device is not None and _devices.Device(device) != array.device:
        if copy is False:
            raise ValueError("from_dlpack: the array is on %s and cannot be on %s without a copy" % (array.device, device))
        return array.to_device(device)
    return array


def _ask(x, device, copy):
    if not hasattr(x, "__dlpack__"):
        raise TypeError("from_dlpack: %s has no __dlpack__; nd4c.asarray() takes numbers, lists and buffers"
                        % type(x).__name__)
    wanted = {"max_version": (1, 1)}
    if hasattr(x, "__dlpack_device__"):
        kind, number = x.__dlpack_device__()
        if int(kind) not in (1, 3, 11, 13) and not _devices.import_pointers(int(kind), int(number)):
            if copy is False:
                raise BufferError("from_dlpack: the array is on a device of DLPack type %d; nd4c would have to copy it"
                                  % int(kind))
            wanted["dl_device"] = (1, 0)
    if copy is not None:
        wanted["copy"] = copy
    try:
        return x.__dlpack__(**wanted)
    except TypeError:
        if "dl_device" in wanted:
            raise
    capsule = x.__dlpack__()
    if copy:
        return to_capsule(_from_capsule(capsule), max_version=(1, 1), copy=True)
    return capsule


def _from_capsule(capsule):
    place = id(capsule)
    if _is(place, _VERSIONED):
        managed = _pointer(place, _VERSIONED)
        out = c_void_p()
        check(_from(managed, byref(out)))
        _rename(place, _USED_VERSIONED)
        return from_handle(out.value)
    if _is(place, _PLAIN):
        return _from_plain(place)
    for used in (_USED_VERSIONED, _USED_PLAIN):
        if _is(place, used):
            raise ValueError("from_dlpack: the capsule has been used; ask its maker for another with __dlpack__()")
    raise ValueError("from_dlpack: the capsule holds no DLPack tensor")


def _from_plain(place):
    address = _pointer(place, _PLAIN)
    plain = _Plain.from_address(address)
    managed = _abi.dl_managed(1, 0, address, ctypes.cast(_delete_taken, c_void_p), 0, plain.tensor)
    _given[ctypes.addressof(managed)] = managed
    out = c_void_p()
    status = _from(ctypes.addressof(managed), byref(out))
    if status:
        del _given[ctypes.addressof(managed)]
        check(status)
    _rename(place, _USED_PLAIN)
    return from_handle(out.value)

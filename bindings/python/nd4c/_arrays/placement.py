"""The places of an array's contents: methods of arrays for programs with several devices."""
import ctypes

from nd4c import _creation, _devices
from nd4c._core import Array, handle
from nd4c._errors import check
from nd4c._library import bind

_migrate, _prefetch, _wait = (bind("nd4c_array_" + name) for name in ("migrate", "prefetch", "wait"))
_state, _is_ready = (bind("nd4c_array_" + name, keeps_gil=True) for name in ("state", "is_ready"))
_count, _at = (bind("nd4c_device_" + name, keeps_gil=True) for name in ("count", "at"))
_ABSENT = "-"


def to(self, device=None, dtype=None, *, copy=False):
    """The array on a device and of a dtype: itself if it has both already, unless copy.

    Shapes: any; the result has the same.
    Dtypes: all.
    Errors: an unknown device raises an nd4c.Error; ValueError for an unknown dtype.

    >>> nd4c.ones(2).to("cpu:0", "float32")
    array([1., 1.], dtype=float32)
    """
    return _creation.asarray(self, dtype=dtype, device=device, copy=True if copy else None)


def migrate(self, device, /):
    """Moves the contents, which all views share, to a device, and releases the memory on other devices. As with writing, no
    other thread may be using the array. Memory shared with NumPy or other libraries stays in place, and a copy is made.

    Shapes: any.
    Dtypes: all.
    Errors: an unknown device raises an nd4c.Error; MemoryError if the device has no room.

    >>> x = nd4c.ones(2)
    >>> x.migrate("cpu:0")
    """
    check(_migrate(handle(self), _devices.Device(device).handle))


def prefetch(self, device, /):
    """Begins to copy the contents to a device for their next use there; is_ready tells when the copy has arrived.

    Shapes: any.
    Dtypes: all.
    Errors: an unknown device raises an nd4c.Error; MemoryError if the device has no room.

    >>> x = nd4c.ones(2)
    >>> x.prefetch("cpu:0")
    """
    check(_prefetch(handle(self), _devices.Device(device).handle))


def state(self, device, /):
    """The state of the contents on a device: "M" current only there, "S" current there and elsewhere, "I" stale, "-" no memory
    there.

    Shapes: any.
    Dtypes: all.
    Errors: an unknown device raises an nd4c.Error.

    >>> nd4c.ones(2).state("cpu:0")
    'M'
    """
    return _state(handle(self), _devices.find(device).handle).decode()


def states(self):
    """The state on each device that has memory for the array, as state() gives it."""
    found, device = {}, ctypes.c_void_p()
    for index in range(_count()):
        check(_at(index, ctypes.byref(device)))
        letter = _state(handle(self), device).decode()
        if letter != _ABSENT:
            found[_devices.of_handle(device.value)] = letter
    return found


def is_ready(self, device=None, /):
    """Whether the contents are current on the device (None: the array's own) and no work that writes them is pending.

    Shapes: any.
    Dtypes: all.
    Errors: an unknown device raises an nd4c.Error.

    >>> nd4c.ones(2).wait().is_ready()
    True
    """
    return _is_ready(handle(self), (self.device if device is None else _devices.find(device)).handle)


def wait(self):
    """Waits until the array is computed and raises the failure of its computation. Returns the array.

    Shapes: any.
    Dtypes: all.
    Errors: what the computation failed with.

    >>> nd4c.ones(2).wait()
    array([1., 1.])
    """
    check(_wait(handle(self)))
    return self


for _method in (to, migrate, prefetch, state, is_ready, wait):
    setattr(Array, _method.__name__, _method)
Array.states = property(states)

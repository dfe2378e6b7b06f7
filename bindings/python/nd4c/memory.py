"""Memory of devices: nd4c.memory.stats("opencl:0"), caps, remaining bytes, live arrays; external memory.

device None: the device on which this thread makes arrays, as with nd4c.zeros()."""
from __future__ import annotations

import ctypes

from nd4c import _abi
from nd4c._arguments import integer
from nd4c._devices import current_device, find
from nd4c._errors import check
from nd4c._external import External, Registered, from_external, register, to_external
from nd4c._library import bind, take_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Optional, Union

    from nd4c import Device

__all__ = ["External", "Registered", "from_external", "register", "remaining", "report", "reset_peak", "set_cap", "stats",
           "to_external", "trim"]

_UNKNOWN = 2 ** 63 - 1
_remaining = bind("nd4c_memory_remaining")
_report = bind("nd4c_memory_report")


def _handle(device):
    return (current_device() if device is None else find(device)).handle


def stats(device: Union[Device, str, None] = None) -> Dict[str, int]:
    """Counts by name: live_bytes, cached_bytes, peak_bytes, cap_bytes (0: none), live_count, total_count, cache_hits,
    what nd4c.device.memory.spill moved away; of live_bytes, scratch_bytes, which streams use, and held_bytes, which backends
    hold beside arrays; imported_count and imported_bytes, which are counted separately.

    >>> x = nd4c.zeros(1000)
    >>> nd4c.memory.stats("cpu:0")["live_bytes"] >= x.nbytes
    True
    """
    return (current_device() if device is None else find(device)).memory


def remaining(device: Union[Device, str, None] = None) -> Optional[int]:
    """Bytes that arrays could take now, by the cap and by the device; None if neither is known.

    >>> left = nd4c.memory.remaining("cpu:0")
    >>> left is None or left > 0
    True
    """
    out = ctypes.c_int64()
    check(_remaining(_handle(device), ctypes.byref(out)))
    return out.value if out.value != _UNKNOWN else None


def set_cap(bytes: int, device: Union[Device, str, None] = None) -> None:
    """Limits live and cached bytes together; 0: no limit. An allocation beyond it raises MemoryError, which states use,
    request and cap.

    Errors: ValueError for a negative number.

    >>> nd4c.memory.set_cap(2 ** 40)
    >>> nd4c.memory.stats()["cap_bytes"] == 2 ** 40
    True
    >>> nd4c.memory.set_cap(0)
    """
    check(bind("nd4c_memory_set_cap")(_handle(device), integer("set_cap: bytes", bytes)))


def trim(device: Union[Device, str, None] = None, *, keep_bytes: int = 0) -> None:
    """Gives cached memory back until at most keep_bytes are cached; 0: idle streams, scratch and staging buffers, too.

    >>> before = nd4c.memory.stats()["cached_bytes"]
    >>> nd4c.memory.trim()
    >>> nd4c.memory.stats()["cached_bytes"] <= before
    True
    """
    check(bind("nd4c_memory_trim")(_handle(device), integer("trim: keep_bytes", keep_bytes)))


def reset_peak(device: Union[Device, str, None] = None) -> None:
    """Resets peak_bytes to the bytes that are live now.

    >>> nd4c.memory.reset_peak()
    >>> counts = nd4c.memory.stats()
    >>> counts["peak_bytes"] == counts["live_bytes"]
    True
    """
    check(bind("nd4c_memory_reset_peak")(_handle(device)))


def report(device: Union[Device, str, None] = None) -> str:
    """The live arrays, a line for each size and origin; origins are recorded while nd4c.config["nd4c.memory.origins"] is
    true.

    >>> x = nd4c.ones(5000)
    >>> "40960 bytes" in nd4c.memory.report("cpu:0")  # of 40,000, rounded up
    True
    """
    out = ctypes.c_void_p()
    check(_report(_handle(device), ctypes.byref(out)))
    return take_text(out)


def __dir__():
    return __all__

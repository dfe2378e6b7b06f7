"""Devices as objects: nd4c.Device("cpu:0"); with nd4c.device("opencl:0"): ..."""
from __future__ import annotations

import ctypes
import threading
from collections import namedtuple

from nd4c import _abi, _dtypes
from nd4c._arguments import enum_name
from nd4c._errors import check, error
from nd4c._library import bind, facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Tuple, Union

_find = bind("nd4c_device_find")
_default = bind("nd4c_device_default")
_get_info = bind("nd4c_device_get_info", keeps_gil=True)
_peer, _peer_kind = bind("nd4c_device_peer"), bind("nd4c_peer_kind_name", keeps_gil=True)
_synchronize = bind("nd4c_device_synchronize")
_memory = bind("nd4c_memory_get_info", keeps_gil=True)
_current, _of_context = (bind("nd4c_context_" + name, keeps_gil=True) for name in ("current", "device"))
_native = bind("nd4c_context_native")
_property = bind("nd4c_config_get", keeps_gil=True)
_cache = {}


class NativeHandles(namedtuple("NativeHandles", "device stream")):
    """Addresses as integers, None where there is nothing: the device's (cl_device_id, CUdevice) and the stream's
    (cl_command_queue, CUstream). A block with fallback=False submits all its work to this stream; other blocks use more
    streams."""

    __slots__ = ()

    device: Optional[int]
    stream: Optional[int]


class Device:
    """A device that holds arrays and computes with them, by its name: "cpu:0", or "cpu" for the first one.

    Errors: a device that is not there raises an nd4c.Error that names those that are; TypeError for what is no text.

    >>> cpu = nd4c.Device("cpu:0")
    >>> nd4c.zeros(2).device is cpu, cpu == "cpu:0"
    (True, True)
    """

    __slots__ = ("handle", "name")

    handle: int
    name: str

    def __new__(cls, name: Union[Device, str]) -> Device:
        if type(name) is cls:
            return name
        device = find(name)
        _follow(device)
        return device

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
    def info(self) -> Dict[str, Any]:
        """Facts about the device, by name: type, memory, the dtypes that it computes with (none: unknown), its vendor's handle
        `native`, ..."""
        row = _info_row(self.handle)
        known = facts(row)
        native = (known["native"] or 0) if known.pop("has_native") else None  # the handle may be a NULL pointer
        return dict(known, native=native, type=_TYPES.get(row.type, "other"), dtypes=tuple(
            name for name, dtype in _dtypes.by_name.items() if row.dtypes >> dtype.number & 1),
            imports=_kinds(row.imports), exports=_kinds(row.exports))

    @property
    def memory(self) -> Dict[str, int]:
        """Its memory manager's counts, by name: live_bytes, cached_bytes, peak_bytes, live_count, ..."""
        row = _abi.memory_info(struct_size=ctypes.sizeof(_abi.memory_info))
        check(_memory(self.handle, ctypes.byref(row)))
        return facts(row)

    def peer(self, other: Union[Device, str]) -> Tuple[str, int]:
        """How this device reaches the memory of another device without the host, "none", "copy" or "access", and the rank of
        the link's speed: 1 for the backend's fastest link, 0 if the speed is unknown.

        >>> nd4c.Device("cpu:0").peer("cpu:0")[0]
        'access'
        """
        row = _abi.peer_info(struct_size=ctypes.sizeof(_abi.peer_info))
        check(_peer(self.handle, Device(other).handle, ctypes.byref(row)))
        return _peer_kind(row.kind).decode(), row.rank

    def synchronize(self) -> None:
        """Waits for all work on the device and raises the first failure that no call has raised yet.

        >>> nd4c.Device("cpu:0").synchronize()
        """
        check(_synchronize(self.handle))

    def native_handles(self) -> NativeHandles:
        """The vendor's handles, for a program's own work beside nd4c's. Only inside a block of the device: the stream is the
        block's, and the handles are valid until the block ends.

        Errors: RuntimeError outside of a block of the device.

        >>> with nd4c.device("cpu:0") as device:
        ...     device.native_handles()
        NativeHandles(device=None, stream=None)
        """
        context = _current()
        if _of_context(context) != self.handle:
            raise RuntimeError("%r.native_handles: the stream is that of a block; this thread is in one of %s: "
                               "with nd4c.device(%r) as device: device.native_handles()" % (self, current_device(), self.name))
        row = _abi.native_handles(struct_size=ctypes.sizeof(_abi.native_handles))
        check(_native(context, ctypes.byref(row)))
        return NativeHandles((row.device or 0) if row.has_device else None, row.stream)

    @property
    def dlpack(self) -> Tuple[int, int]:
        """Type and number as DLPack has them."""
        row = _info_row(self.handle)
        return row.dlpack_type, row.index


_TYPES = {row[1]: row[2] for row in _abi.TABLES["DEVICE_TYPE"]}


def _kinds(bits):
    """Names of kinds of external memory."""
    return tuple(row[2] for row in _abi.TABLES["EXTERNAL_KIND"] if bits >> row[1] & 1)


def import_pointers(kind, number):
    """Whether an open device takes addresses that DLPack says are of this type and number."""
    handle = ctypes.c_void_p()
    for index in range(bind("nd4c_device_count")()):
        check(bind("nd4c_device_at")(index, ctypes.byref(handle)))
        row = _info_row(handle.value)
        if (row.dlpack_type, row.index) == (kind, number) and "device_pointer" in _kinds(row.imports):
            return True
    return False


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


def find(device):
    """The Device of that name. Unlike Device(name) it does not change routing: for callers that only read, or that set routing
    themselves."""
    if type(device) is Device:
        return device
    if type(device) is _device_class:
        return device._device
    if not isinstance(device, str):
        raise TypeError("a device is named by text such as 'cpu:0' or is an nd4c.Device, not %s" % type(device).__name__)
    handle = ctypes.c_void_p()
    check(_find(device.encode(), ctypes.byref(handle)))
    return of_handle(handle.value)


def current_device() -> Device:
    """The device on which this thread makes arrays and computes: that of the innermost `with nd4c.device(...)`, or the
    default one.

    >>> nd4c.current_device()
    nd4c.Device('cpu:0')
    """
    return of_handle(_of_context(_current()) or default().handle)


def default():
    """The device that the registry picked."""
    handle = ctypes.c_void_p()
    check(_default(ctypes.byref(handle)))
    return of_handle(handle.value)


def handle_or_none(device):
    """The nd4c_device * that a device argument stands for; None: the context decides."""
    return None if device is None else Device(device).handle


def every(*, probe: bool = False) -> Tuple[Device, ...]:
    """All usable devices of the open backends, in the backends' order; probe: first opens every backend that can be opened.

    >>> nd4c.Device("cpu:0") in nd4c.devices()
    True
    """
    if probe:
        check(bind("nd4c_backend_probe")(True))
    default()
    opened, handle = {}, ctypes.c_void_p()
    for index in range(bind("nd4c_device_count")()):
        check(bind("nd4c_device_at")(index, ctypes.byref(handle)))
        device = of_handle(handle.value)
        opened[device.name] = device
    found = []
    for index in range(bind("nd4c_backend_count")()):
        row = _abi.backend_status(struct_size=ctypes.sizeof(_abi.backend_status))
        check(bind("nd4c_backend_get_status")(index, ctypes.byref(row)))
        names = ["%s:%d" % (row.name.decode(), i) for i in range(row.device_count)]
        found += [opened[name] for name in names if name in opened]
    return tuple(found)


# -- several devices -------------------------------------------------------------------------------------------------

_lock = threading.Lock()
_followed = []  # names of the devices that the program has asked for, the default one first
_said = None    # the value that _follow set last; any other value comes from the program


def _follow(device):
    """Once a program asks for a second device, computation follows the data, as the array API requires: nd4c.routing becomes
    follow_data over the devices asked for. Values that the program or the environment has set stay."""
    global _said
    if device.name in _followed:
        return
    from nd4c._config import config
    with _lock:
        if not _followed:
            _followed.extend({default().name: None, "cpu:0": None})
        if device.name in _followed:
            return
        _followed.append(device.name)
        rows = [config.describe(name) for name in ("nd4c.routing", "nd4c.routing.devices")]
        if (tuple(row["value"] for row in rows) == _said
                or (_said is None and all(row["source"] == "default" for row in rows))):
            config["nd4c.routing.devices"] = ",".join(_followed[:8])
            config["nd4c.routing"] = "follow_data"
            _said = ("follow_data", ",".join(_followed[:8]))


_blocks = threading.local()  # .opened: the blocks that this thread is in, the innermost last


class _Block:
    """A context that is the thread's current one until the thread has left the block and all blocks inside it."""

    __slots__ = ("context", "before", "settings", "asked", "fallback", "left")

    def __init__(self, device, routing, settings, asked, fallback):
        self.context, self.before, self.settings, self.left = ctypes.c_void_p(), ctypes.c_void_p(), settings, False
        self.asked, self.fallback = asked, fallback
        if settings is None:
            check(bind("nd4c_context_acquire")(device, ctypes.byref(self.context)))
        else:
            if "stream" in settings:
                check(bind("nd4c_context_wrap")(device, settings["stream"], ctypes.byref(self.context)))
            else:
                options = _abi.context_options(struct_size=ctypes.sizeof(_abi.context_options), device=device, **settings)
                check(bind("nd4c_context_create")(ctypes.byref(options), ctypes.byref(self.context)))
            status = bind("nd4c_context_enter")(self.context, ctypes.byref(self.before))
            if status:
                failure = error(status)
                bind("nd4c_context_destroy")(self.context)
                raise failure
        opened = _blocks.__dict__.setdefault("opened", [])
        opened.append(self)
        try:
            if routing is not None:
                check(bind("nd4c_context_set_routing")(self.context, routing))
        except BaseException:
            self.end(opened)
            raise

    def end(self, opened):
        """Makes the previous context current again; if the library refuses, the block stays entered. Only for the innermost
        block."""
        if self.settings is None:
            check(bind("nd4c_context_release")(self.context))
            opened.pop()
        else:
            check(bind("nd4c_context_enter")(self.before, None))
            opened.pop()
            check(bind("nd4c_context_destroy")(self.context))  # may raise the failure of work on it


class Blocks:
    """The blocks of one object of `with`, by thread, because each thread has separate contexts."""

    def __init__(self):
        self._mine = threading.local()

    def enter(self, device, routing=None, settings=None, asked=None, fallback=True):
        """Makes a context on the device the thread's current one, with the routing. settings: members of
        nd4c_context_options by name; without them the library lends a context. asked: the Device that computes, None: routing
        decides; fallback False: an op that it cannot compute raises instead of running on another device."""
        self._mine.__dict__.setdefault("entered", []).append(_Block(device, routing, settings, asked, fallback))

    def leave(self, owner):
        """Leaves the block entered last. Blocks that are still open inside it, as when a generator is closed in another
        block, stay in force, and it ends with the last of them."""
        entered = self._mine.__dict__.get("entered")
        if not entered:
            raise RuntimeError("%r: this thread is in no block of it; a block is left on the thread that entered it" % owner)
        block, opened = entered[-1], _blocks.opened
        block.left = True
        try:
            while opened and opened[-1].left:
                opened[-1].end(opened)
        finally:
            if not (opened and opened[-1] is block):  # after a refusal the block stays entered
                entered.pop()


def settings_of_block():
    """The innermost block's settings without device, stream and routing, as Blocks.enter takes them, for a block that may be
    on another device."""
    opened = _blocks.__dict__.get("opened")
    settings = opened[-1].settings if opened else None
    return None if settings is None or "stream" in settings else dict(settings, priority=0)


class device:
    """Selects the device that computes and makes arrays in a with block, on the thread that entered it:
    `with nd4c.device("opencl:0"): y = x @ w`. The innermost block that is still entered counts, in whatever order blocks are
    left.

    fallback: the host computes what the device cannot compute or fails at; False raises NotImplementedError, or the failure.
    transfer: what happens when an op needs an array of another device: "on_demand" copies it, "eager" also brings copies up to
    date when an array is written, "none" refuses; None: as nd4c.config["nd4c.device.transfer"] says. strict: a request that
    cannot be applied is an error. deterministic: only kernels whose result does not depend on the number of threads. priority:
    of the stream, within the device's least_priority and greatest_priority (Device.info). stream: address of a stream that the
    program made with the vendor's functions (cl_command_queue, CUstream) and owns, to compute on; it stays alive until the
    block and the plans made in it are gone, and goes with none of the four before.

    Errors: a device that is not there raises an nd4c.Error; ValueError for another word of transfer; TypeError for a
    stream beside transfer, strict, deterministic or priority.

    >>> with nd4c.device("cpu:0", deterministic=True):
    ...     nd4c.zeros(2).device
    nd4c.Device('cpu:0')
    """

    def __init__(self, device: Union[Device, str], /, *, fallback: bool = True, transfer: Optional[str] = None,
                 strict: bool = False, deterministic: bool = False, priority: int = 0,
                 stream: Optional[int] = None) -> None:
        self._device, self._fallback, self._settings = Device(device), fallback, None
        if transfer is not None or strict or deterministic or priority:
            kind = 0 if transfer is None else enum_name("device: transfer", transfer, _abi.TABLES["TRANSFER"])
            self._settings = {"transfer": kind, "strict": strict, "deterministic": deterministic, "priority": priority}
        if stream is not None:
            if self._settings is not None:
                raise TypeError("device: stream goes with none of transfer, strict, deterministic and priority")
            self._settings = {"stream": stream}
        self._blocks = Blocks()

    def __repr__(self):
        return "nd4c.device(%r)" % self._device.name

    def __reduce__(self):
        if self._settings is not None and "stream" in self._settings:
            raise TypeError("device: a block on a stream can be neither copied nor pickled: the stream belongs to this process")
        return _remade, (self._device, self._fallback, self._settings)

    def __enter__(self) -> Device:
        routing = _routing_to(self._device) if self._fallback and self._device.name != "cpu:0" else None
        self._blocks.enter(self._device.handle, routing, self._settings, self._device, self._fallback)
        return self._device

    def __exit__(self, *_: object) -> None:
        self._blocks.leave(self)


def _remade(of, fallback, settings):
    """A copy of a `device`, with the same settings."""
    made = device(of, fallback=fallback)
    made._settings = settings
    return made


_device_class = device  # for functions with an argument of its name


class _On:
    """A block for one call's argument device=: the call computes on that device; all other settings, fallback too, are those
    of the surrounding block."""

    def __init__(self, device, from_host):
        self._device, self._from_host, self._blocks = device, from_host, Blocks()

    def __enter__(self):
        opened, device = _blocks.__dict__.get("opened"), self._device
        fallback = not opened or opened[-1].fallback
        routing = _routing_to(device) if fallback and device.name != "cpu:0" else None
        context = find("cpu:0") if self._from_host and fallback else device
        self._blocks.enter(context.handle, routing, settings_of_block(), device, fallback)

    def __exit__(self, *_):
        self._blocks.leave(self)


def in_block():
    """Whether the thread is in a block that selects its device."""
    return bool(_blocks.__dict__.get("opened"))


def computes_on(device):
    """Whether the thread computes on that Device here, without routing."""
    opened = _blocks.__dict__.get("opened")
    if opened:
        return opened[-1].asked is device
    return not _is_routed() and current_device() is device


_default_routing = False  # whether nd4c.set_default_routing() chose one


def follow_default(chosen):
    """Remembers whether a default routing is in force, because the C library does not report it."""
    global _default_routing
    _default_routing = chosen


def _is_routed():
    """Whether routing decides which device computes outside of blocks."""
    if _default_routing:
        return True
    policy = ctypes.c_char_p()
    check(_property(b"nd4c.routing", ctypes.byref(policy)))
    return policy.value != b"off"


def on(device, *, from_host=False):
    """A block that computes on a Device. from_host: the context stays on the host if the host may compute parts, for work
    whose parts name their devices."""
    return _On(device, from_host)


_routings = {}  # by device: kept for the next block


def _routing_to(device):
    """Lets ops prefer the device and fall back to the host."""
    with _lock:
        if device not in _routings:
            _routings[device] = _make_routing(device)
        return _routings[device]


def _make_routing(device):
    handles = (ctypes.c_void_p * 2)(device.handle, find("cpu:0").handle)
    options = _abi.routing_options(struct_size=ctypes.sizeof(_abi.routing_options),
                                   devices=ctypes.cast(handles, ctypes.c_void_p), device_count=2)
    routing = ctypes.c_void_p()
    check(bind("nd4c_routing_create")(ctypes.byref(options), ctypes.byref(routing)))
    try:
        for category in _abi.TABLES["CATEGORY"]:
            check(bind("nd4c_routing_set_category")(routing, category[1], handles, 2))
    except BaseException:
        bind("nd4c_routing_destroy")(routing)
        raise
    return routing

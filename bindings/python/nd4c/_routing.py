"""Routing: which of several devices an eager op runs on: with nd4c.routing("prefer_gpu", ["opencl:0", "cpu:0"]): ..."""
from __future__ import annotations

import ctypes

from nd4c import _abi
from nd4c._arguments import enum_name, integer, op_number
from nd4c._devices import Blocks, current_device, find, follow_default, settings_of_block
from nd4c._errors import check
from nd4c._handles import Owner
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Mapping, Optional, Sequence, Union

    from nd4c import Device

    _Devices = Sequence[Union[Device, str]]

_CREATION = {row[2]: row[1] for row in _abi.TABLES["ROUTING_CREATION"]}
# X(NAME, number), as enum_name wants it: names are those of nd4c.ops.CATEGORIES in either case.
_CATEGORIES = tuple((row[0], row[1], row[0].lower()) for row in _abi.TABLES["CATEGORY"])


class routing(Owner):
    """Chooses the device of ops: of this thread's ops in a with block, of all threads' ops by set_default_routing(). The
    object does not change and serves many blocks. The surrounding block keeps its device, transfer, strict and deterministic,
    but not its fallback: the routing decides where ops run.

    policy: "vote", "prefer_gpu", "prefer_cpu", "follow_data" or "memory". devices: those that ops may run on, the
    preferred one first; None: the default one and cpu:0. transfer False: ops run where all their inputs are, or are refused
    (ValueError). small_bytes: calls with no more input follow their data; None: 16 KiB, 0: none. creation: the device of
    arrays that name none: a device, "routed", or None, the block's. wait: calls return when their device has finished, and
    another device computes calls that fail in flight; otherwise reading the result raises the failure. categories and ops:
    devices by category ("nn", "linalg", ...) and by op (its name or function); only these are tried.

    Errors: ValueError for an unknown policy, category or op; a device that is not there raises an nd4c.Error.

    >>> with nd4c.routing("prefer_cpu", ["cpu:0"]):
    ...     (nd4c.ones(2) + 1).device
    nd4c.Device('cpu:0')
    """

    _destroy = "nd4c_routing_destroy"

    def __init__(self, policy: str = "vote", devices: Optional[_Devices] = None, *, transfer: bool = True,
                 small_bytes: Optional[int] = None, creation: Union[Device, str, None] = None,
                 wait: bool = False, categories: Optional[Mapping[str, _Devices]] = None,
                 ops: Optional[Mapping[Union[str, Callable[..., object]], _Devices]] = None) -> None:
        self.policy = policy
        handles = _handles("routing: devices", devices)
        routed = creation == "routed"
        place = None if creation is None or routed else find(creation).handle
        options = _abi.routing_options(
            struct_size=ctypes.sizeof(_abi.routing_options),
            policy=enum_name("routing: policy", policy, _abi.TABLES["ROUTING_POLICY"]),
            devices=ctypes.cast(handles, ctypes.c_void_p), device_count=len(handles), no_transfer=not transfer,
            small_bytes=integer("routing: small_bytes", small_bytes or (0 if small_bytes is None else -1)),
            creation=_CREATION["routed" if routed else "on_context" if place is None else "on_device"],
            creation_device=place, wait=wait)
        out = ctypes.c_void_p()
        check(bind("nd4c_routing_create")(ctypes.byref(options), ctypes.byref(out)))
        self._handle = out.value
        for name, given in (categories or {}).items():
            where = "routing: categories"
            self._set("nd4c_routing_set_category", where, enum_name(where, name, _CATEGORIES), given)
        for function, given in (ops or {}).items():
            self._set("nd4c_routing_set_op", "routing: ops", op_number("routing: ops", function), given)
        self._blocks = Blocks()
        self._made = (policy, _named(devices), dict(transfer=transfer, small_bytes=small_bytes, wait=wait,
                      creation=creation if routed or creation is None else str(creation),
                      categories={name: _named(given) for name, given in (categories or {}).items()},
                      ops={function: _named(given) for function, given in (ops or {}).items()}))

    def _set(self, setter, where, number, devices):
        handles = _handles(where, devices)
        check(bind(setter)(self._handle, number, handles, len(handles)))

    def __repr__(self):
        return "nd4c.routing(%r)" % self.policy

    def _remade(self):
        """A copy is a routing of its own with the same settings."""
        return _remake, self._made

    def __enter__(self) -> routing:
        self._blocks.enter(current_device().handle, self._open(), settings_of_block())
        return self

    def __exit__(self, *_: object) -> None:
        self._blocks.leave(self)


def _remake(policy, devices, settings):
    return routing(policy, devices, **settings)


def _named(devices):
    return None if devices is None else [str(device) for device in devices]


def _handles(where, devices):
    if isinstance(devices, str):
        raise TypeError("%s: expected a list of devices, got the text %r" % (where, devices))
    found = [find(device).handle for device in devices or ()]
    return (ctypes.c_void_p * len(found))(*found)


def set_default_routing(chosen: Optional[routing], /) -> None:
    """Routes the ops of all threads outside of blocks; None: by the properties nd4c.routing and those that begin so.

    Errors: TypeError for another object.

    >>> nd4c.set_default_routing(nd4c.routing("vote"))
    >>> nd4c.set_default_routing(None)
    """
    if chosen is not None and type(chosen) is not routing:
        raise TypeError("set_default_routing: expected an nd4c.routing or None, got %s" % type(chosen).__name__)
    check(bind("nd4c_routing_set_default")(None if chosen is None else chosen._open()))
    follow_default(chosen is not None)

"""Options of plans, as keyword arguments and as the C library's struct."""
from __future__ import annotations

import contextlib
import ctypes
import inspect
import os

from nd4c import _abi, _devices, _dtypes
from nd4c._arguments import integer
from nd4c._requests import c_text, compile_request


class Options:
    """An nd4c_plan_options, at `address`, with all that it points to. Graph.plan describes the arguments."""

    def __init__(self, *, device=None, optimize=True, passes=None, precision=None, math=None, compile_options=None,
                 compile_memory=0, compiled=None, state=None, buckets=None, binding_bytes=0, arena_bytes=0, calibration=None):
        self.device = None if device is None else _devices.Device(device)
        request = compile_request("plan", math, compile_memory, compile_options)
        self._row = row = _abi.plan_options(struct_size=ctypes.sizeof(_abi.plan_options), no_optimization=not optimize,
                                            binding_bytes=integer("plan: binding_bytes", binding_bytes),
                                            arena_bytes=integer("plan: arena_bytes", arena_bytes))
        row.passes, row.buckets = (None if text is None else c_text("plan: " + what, text)
                                   for text, what in ((passes, "passes"), (buckets, "buckets")))
        row.compile = None if request is None else ctypes.addressof(request)
        row.compiled = None if compiled is None else os.fsencode(compiled)
        row.precision = _dtypes.dtype_or_none(precision)
        row.state = None if state is None else state._open()
        row.calibration = None if calibration is None else calibration._open()
        self._kept, self.state = (request, calibration), state
        self.address = ctypes.addressof(row)

    def block(self):
        """A block on the device of the plan."""
        return contextlib.nullcontext() if self.device is None else _devices.on(self.device)


OPTIONS = tuple(inspect.signature(Options).parameters)  # their names, for texts

"""Records where ops ran and which copies were made: with nd4c.tracing("trace.json") as trace: ..."""
from __future__ import annotations

import ctypes
import os

from nd4c import _abi
from nd4c._arguments import integer
from nd4c._devices import find
from nd4c._errors import check, error
from nd4c._library import bind, facts, take_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Optional, Union

    from nd4c import Device

_latest = None  # the block that records, or that recorded last: the library keeps only its record


class tracing:
    """Records executions, copies between devices, allocations and round trips of all threads in a with block. Printing it
    shows the table of them; path: a file for chrome://tracing or Perfetto, written at the block's end.

    Errors: RuntimeError while something records already; OSError if the file cannot be written.

    >>> with nd4c.tracing() as trace:
    ...     y = nd4c.ones(3) + 1
    >>> trace.totals()["executions"] >= 1
    True
    """

    _table, _totals = "", None

    def __init__(self, path: Union[str, os.PathLike[str], None] = None) -> None:
        self.path = None if path is None else os.fspath(path)

    def __repr__(self):
        return "nd4c.tracing(%s)" % ("" if self.path is None else repr(self.path))

    def __enter__(self) -> tracing:
        global _latest
        if bind("nd4c_trace_is_on")():
            raise RuntimeError("tracing: something records already: a block around this one, another thread's, or a program "
                               "in C that began with nd4c_trace_start")
        check(bind("nd4c_trace_start")(None if self.path is None else os.fsencode(self.path)))
        _latest = self
        self._totals = None
        return self

    def __exit__(self, *_: object) -> None:
        out = ctypes.c_void_p()
        status = bind("nd4c_trace_stop")(ctypes.byref(out))
        failure = error(status) if status else None
        if out.value:
            self._table = take_text(out)
        self._totals = _ask(None, None)
        if failure is not None:
            raise failure

    def __str__(self):
        return self.table

    @property
    def table(self) -> str:
        """The summary as text: copies by pair of devices, ops and memory by device, sums by thread, transitions, round trips
        with the op that caused each."""
        if self._totals is None and _latest is self:
            out = ctypes.c_void_p()
            check(bind("nd4c_trace_report")(ctypes.byref(out)))
            return take_text(out)
        return self._table

    def totals(self, source: Union[Device, str, None] = None, target: Union[Device, str, None] = None, *,
               thread: Optional[int] = None) -> Dict[str, int]:
        """Sums by name: transitions, executions, copies, copied_bytes, round_trips, ... source and target select copies from
        and to a device, and `target` the other sums; thread: of that thread alone, numbered from 1 to the sum `threads`.
        Available until the next block begins."""
        if source is None and target is None and thread is None and self._totals is not None:
            return dict(self._totals)
        if _latest is not self:
            raise RuntimeError("tracing: " + ("another block has begun to record, so the record of this one is gone"
                                              if self._totals is not None else "nothing was recorded"))
        return _ask(source, target, thread)


def _ask(source, target, thread=None):
    row = _abi.trace_totals(struct_size=ctypes.sizeof(_abi.trace_totals))
    handles = [None if device is None else find(device).handle for device in (source, target)]
    if thread is None:
        check(bind("nd4c_trace_get_totals")(*handles, ctypes.byref(row)))
    else:
        number = max(-1, min(integer("totals: thread", thread), 2 ** 31 - 1))  # no thread has a larger number
        check(bind("nd4c_trace_get_thread_totals")(number, *handles, ctypes.byref(row)))
    return facts(row)

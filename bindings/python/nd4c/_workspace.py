"""Workspaces: arrays of a repeated step share one arena and are released together: with nd4c.workspace("step"): ..."""
from __future__ import annotations

import ctypes
import threading

from nd4c import _abi
from nd4c._arguments import enum_name, integer
from nd4c._devices import find
from nd4c._errors import check
from nd4c._handles import Owner
from nd4c._library import bind, facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Optional, Union

    from nd4c import Device


class _Scopes(threading.local):
    """Of a thread: the handles of the workspaces that it has entered, the innermost last; and of those whose block ended while
    blocks of other workspaces were open inside it, as when a generator is closed in another block. These end with the inner
    blocks."""

    def __init__(self):
        self.opened, self.left = [], []


_scopes = _Scopes()


class workspace(Owner):
    """Memory that the arrays of a repeated step take and release together: results in `with nd4c.workspace("step"):` lie in an
    arena on each device. In the first cycle they have separate memory; from the second on nothing is allocated.

    name: each thread has a workspace of that name, with the settings of its first use; None: this object is one workspace,
    which one thread at a time enters. outliving: "moved_out" copies arrays that outlive the block to memory of their own,
    "refused" raises ValueError at its end, and the scope stays open until leave() succeeds. device: only allocations on this
    device. initial_bytes: the size of each arena in the first cycle.

    Errors: ValueError for an unknown word of outliving, and while another thread is inside of a workspace without a
    name.

    >>> step = nd4c.workspace()
    >>> for _ in range(3):
    ...     with step:
    ...         total = float(nd4c.sum(nd4c.ones(1000)))
    >>> total, step.stats()["cycles"]
    (1000.0, 3)
    >>> step.close()
    """

    _destroy = "nd4c_workspace_destroy"

    def __init__(self, name: Optional[str] = None, *, outliving: str = "moved_out", device: Union[Device, str, None] = None,
                 initial_bytes: int = 0) -> None:
        self.name = name
        if name is not None and not isinstance(name, str):
            raise TypeError("workspace: the name is a text or None, not %r" % (name,))
        self._name = None if name is None else name.encode()
        self._options = _abi.workspace_options(
            struct_size=ctypes.sizeof(_abi.workspace_options),
            outliving=enum_name("workspace: outliving", outliving, _abi.TABLES["OUTLIVING"]),
            device=None if device is None else find(device).handle,
            initial_bytes=integer("workspace: initial_bytes", initial_bytes))
        self._made = name, outliving, None if device is None else str(device), initial_bytes
        if name is None:
            out = ctypes.c_void_p()
            check(bind("nd4c_workspace_create")(ctypes.byref(self._options), ctypes.byref(out)))
            self._handle = out.value
        else:
            self._find()

    def __repr__(self):
        return "nd4c.workspace(%s)" % ("" if self.name is None else repr(self.name))

    def close(self) -> None:
        """Frees the arenas; for a name, those of the calling thread, whose next block begins with new ones. ValueError while the
        workspace is entered."""
        if self._name is None:
            super().close()
        else:
            check(self._destroy_function(self._find()))

    def _remade(self):
        """A copy is a workspace of its own with the same settings; of a name, the calling thread's."""
        return _remake, self._made

    def _find(self):
        """The nd4c_workspace *; one with a name is the calling thread's."""
        if self._name is None:
            return self._open()
        out = ctypes.c_void_p()
        check(bind("nd4c_workspace_named")(self._name, ctypes.byref(self._options), ctypes.byref(out)))
        return out.value

    def __enter__(self) -> workspace:
        handle = self._find()
        check(bind("nd4c_workspace_enter")(handle))
        _scopes.opened.append(handle)
        return self

    def __exit__(self, *_: object) -> None:
        handle = self._find()
        if handle in _scopes.opened and handle != _scopes.opened[-1]:
            _scopes.left.append(self)
        else:
            self.leave()

    def leave(self) -> None:
        """Closes the innermost scope, as the end of a with block does. For a scope that stayed open because arrays outlived
        it.

        >>> step = nd4c.workspace(outliving="refused")
        >>> kept = step.__enter__() and nd4c.ones(1000)
        >>> step.leave()
        Traceback (most recent call last):
            ...
        nd4c.errors.ArgumentError: ...
        >>> del kept
        >>> step.leave()
        """
        self._close()
        while _scopes.opened:
            ended = [left for left in _scopes.left if left._find() == _scopes.opened[-1]]
            if not ended:
                break
            _scopes.left.remove(ended[0])  # first: if arrays that outlive it are refused, the program calls leave()
            ended[0]._close()

    def _close(self):
        handle = self._find()
        check(bind("nd4c_workspace_leave")(handle))
        if _scopes.opened and _scopes.opened[-1] == handle:
            _scopes.opened.pop()

    def stats(self, device: Union[Device, str, None] = None) -> Dict[str, int]:
        """Counts by name, on one device or (None) all: bytes of the arenas, used_bytes, peak_bytes, cycles, spilled_count
        and spilled_bytes (what did not fit), moved_count, live_count, depth."""
        row = _abi.workspace_info(struct_size=ctypes.sizeof(_abi.workspace_info))
        check(bind("nd4c_workspace_get_info")(self._find(), None if device is None else find(device).handle,
                                              ctypes.byref(row)))
        return facts(row)


def _remake(name, outliving, device, initial_bytes):
    return workspace(name, outliving=outliving, device=device, initial_bytes=initial_bytes)

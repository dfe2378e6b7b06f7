"""Cancellation: stopping what a thread computes, from another thread or at a deadline: with nd4c.cancellation(timeout=2): ..."""
from __future__ import annotations

import ctypes

from nd4c._errors import check
from nd4c._handles import Owner
from nd4c._library import bind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional


class cancellation(Owner):
    """Stops the work of threads that are inside `with nd4c.cancellation() as c:`. After c.request(), which any thread may
    call, each operation there raises nd4c.errors.CancelledError; past the timeout, in seconds from where the block begins,
    nd4c.errors.DeadlineError, which is a TimeoutError. A model stops between its nodes.

    Errors: ValueError for a negative timeout.

    >>> with nd4c.cancellation(timeout=60):
    ...     nd4c.ones(2) + 1
    array([2., 2.])
    >>> with nd4c.cancellation() as c:
    ...     c.request()
    ...     nd4c.ones(2) + 1
    Traceback (most recent call last):
        ...
    nd4c.errors.CancelledError: ...
    >>> c.reset()
    >>> c.close()
    """

    _destroy = "nd4c_cancellation_destroy"

    def __init__(self, timeout: Optional[float] = None) -> None:
        if timeout is not None and not timeout >= 0:
            raise ValueError("cancellation: timeout is %r, expected seconds, 0 or more, or None" % (timeout,))
        self.timeout = timeout
        out = ctypes.c_void_p()
        check(bind("nd4c_cancellation_create")(ctypes.byref(out)))
        self._handle = self._entered = out.value

    def __repr__(self):
        return "nd4c.cancellation(%s)" % ("" if self.timeout is None else "timeout=%r" % self.timeout)

    def __enter__(self) -> cancellation:
        if self.timeout is not None:
            nanoseconds = min(max(self.timeout * 1e9, 1), 2 ** 62)  # 0 would be no deadline
            check(bind("nd4c_cancellation_set_timeout")(self._open(), int(nanoseconds)))
        check(bind("nd4c_cancellation_enter")(self._open()))
        return self

    def __exit__(self, *_: object) -> None:
        check(bind("nd4c_cancellation_leave")(self._entered))  # threads inside keep it alive, also after close()

    def request(self) -> None:
        """Asks the threads inside the block to stop."""
        check(bind("nd4c_cancellation_request")(self._open()))

    def reset(self) -> None:
        """Takes the request and the deadline back."""
        check(bind("nd4c_cancellation_reset")(self._open()))

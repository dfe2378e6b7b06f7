"""The base of classes whose objects own one handle of the C library: closing, `with`, and what copying and pickling do."""
import contextlib
import threading

from nd4c._errors import check
from nd4c._library import bind


_lock = threading.Lock()  # over the handles and the counts of uses of all objects; held for a few instructions


class Owner:
    """Owns `_handle`, which `_destroy` (the name of a C function) releases once: by close(), or with the last reference.

    A class whose objects can be made again defines `_remade()`: a callable and its arguments. It makes the copies and what
    pickling restores. Objects of other classes can be neither copied nor pickled."""

    _handle = None
    _destroy = ""
    _uses, _closing = 0, False

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
        cls._destroy_function = staticmethod(bind(cls._destroy))

    def close(self) -> None:
        """Releases what the object holds in the library; a second call does nothing. Later uses raise ValueError; calls that other
        threads have begun finish first."""
        with _lock:
            handle, self._handle = self._handle, None
            if handle is None or self._uses:
                self._closing = handle if handle is not None else self._closing
                return  # the last use destroys it
        self._destroy_or_keep(handle)

    def _destroy_or_keep(self, handle):
        """Destroys the handle; where the library refuses that, the object stays open."""
        try:
            check(self._destroy_function(handle))
        except BaseException:
            self._handle = handle
            raise

    def __del__(self):
        handle, self._handle = self._handle, None
        if handle is not None:
            self._destroy_function(handle)

    @contextlib.contextmanager
    def _used(self):
        """The handle during a call that may take long: close() on another thread lets the call finish."""
        handle = self._begin_use()
        try:
            yield handle
        finally:
            self._end_use()

    def _begin_use(self):
        with _lock:
            handle = self._open()
            self._uses += 1
        return handle

    def _end_use(self):
        with _lock:
            self._uses -= 1
            closing = self._closing if not self._uses else False
            if closing:
                self._closing = False
        if closing:
            self._destroy_or_keep(closing)

    def _open(self):
        """The handle, for a call of the library."""
        if self._handle is None:
            raise ValueError("%s: it is closed" % type(self).__name__)
        return self._handle

    def _remade(self):
        raise TypeError("an nd4c %s can be neither copied nor pickled: it belongs to this process; pass the object itself"
                        % type(self).__name__)

    def __copy__(self):
        make, arguments = self._remade()
        return make(*arguments)

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce_ex__(self, protocol):
        return self._remade()

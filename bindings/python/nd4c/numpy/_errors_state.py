"""NumPy's settings about floating-point errors and buffers.

nd4c computes inf and NaN where IEEE 754 says so and reports nothing; only full() warns, where a float becomes an integer that it
is not, unless `invalid` is "ignore". So the settings that ask for no more than a message are
kept and given back; those that ask for an exception or a call are refused."""
import contextvars as _contextvars
import functools as _functools

__all__ = ["errstate", "getbufsize", "geterr", "geterrcall", "setbufsize", "seterr", "seterrcall"]

_NAMES = ("divide", "over", "under", "invalid")
_SILENT = ("ignore", "warn", "print", "log")
_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_state = _contextvars.ContextVar("nd4c.numpy.errors", default=(_DEFAULT, None))
_buffer = _contextvars.ContextVar("nd4c.numpy.buffer", default=8192)


def _checked(where, all, values):
    """The settings that result; None keeps one."""
    result = dict(_state.get()[0])
    for name, value in zip(_NAMES, values):
        value = all if value is None else value
        if value is None:
            continue
        if value in ("raise", "call"):
            raise NotImplementedError("%s: %s=%r: nd4c does not report floating-point errors; look for them with "
                                      "isfinite(x).all() afterwards" % (where, name, value))
        if value not in _SILENT:
            raise ValueError("%s: %s is %r; expected 'ignore', 'warn', 'print' or 'log'" % (where, name, value))
        result[name] = value
    return result


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """Sets how floating-point errors would be reported, and returns the settings before: nd4c reports none.

    "ignore", "warn", "print" and "log" are kept for geterr(). Errors: NotImplementedError for "raise" and "call";
    ValueError for another word.

    >>> before = np.seterr(all="ignore")
    >>> np.geterr()["divide"], np.seterr(**before)["over"]
    ('ignore', 'ignore')
    """
    before, call = _state.get()
    _state.set((_checked("seterr", all, (divide, over, under, invalid)), call))
    return dict(before)


def geterr():
    """The settings of seterr().

    >>> np.geterr()
    {'divide': 'warn', 'over': 'warn', 'under': 'ignore', 'invalid': 'warn'}
    """
    return dict(_state.get()[0])


def seterrcall(func):
    """Keeps a function, or an object with write(), that reports of floating-point errors would go to, and returns the one
    before. nd4c makes no reports.

    Errors: ValueError for what is neither.

    >>> np.seterrcall(None)
    """
    if func is not None and not callable(func) and not callable(getattr(func, "write", None)):
        raise ValueError("seterrcall: expected a function, an object with write(), or None; got %r" % (func,))
    settings, before = _state.get()
    _state.set((settings, func))
    return before


def geterrcall():
    """What seterrcall() was given.

    >>> np.geterrcall()
    """
    return _state.get()[1]


class errstate:
    """A context, or a decorator, in which seterr() has other settings: nd4c reports no floating-point errors in any.

    Errors: NotImplementedError for "raise" and "call"; ValueError for another word; TypeError if a context is entered twice.

    >>> with np.errstate(divide="ignore"):
    ...     np.ones(2) / 0
    array([inf, inf])
    """

    def __init__(self, *, call=False, all=None, divide=None, over=None, under=None, invalid=None):
        self._settings = _checked("errstate", all, (divide, over, under, invalid))
        self._given = {name: self._settings[name] for name, value in zip(_NAMES, (divide, over, under, invalid))
                       if value is not None or all is not None}
        self._call, self._token = call, None

    def __enter__(self):
        if self._token is not None:
            raise TypeError("errstate: Cannot enter `np.errstate` twice; make another one")
        settings, call = _state.get()
        self._token = _state.set((dict(settings, **self._given), call if self._call is False else self._call))

    def __exit__(self, *error):
        _state.reset(self._token)

    def __call__(self, function):
        @_functools.wraps(function)
        def inside(*values, **named):
            settings, call = _state.get()
            token = _state.set((dict(settings, **self._given), call if self._call is False else self._call))
            try:
                return function(*values, **named)
            finally:
                _state.reset(token)
        return inside


def setbufsize(size):
    """Keeps a buffer size and returns the one before; nd4c has no such buffers, so that nothing else changes.

    Errors: ValueError for sizes below 5, beyond 10 million, or that 16 does not divide; TypeError for what is no integer.

    >>> np.setbufsize(4096), np.setbufsize(8192)
    (8192, 4096)
    """
    if not 5 <= size <= 10_000_000 or size % 16:
        raise ValueError("setbufsize: %r is not between 16 and 10,000,000 and divisible by 16" % (size,))
    before = _buffer.get()
    _buffer.set(int(size))
    return before


def getbufsize():
    """The size that setbufsize() keeps.

    >>> np.getbufsize()
    8192
    """
    return _buffer.get()

"""Configuration as a mapping: nd4c.config["nd4c.memory.origins"] = True; with nd4c.config(name=value): ..."""
import ctypes
from collections.abc import MutableMapping

from nd4c import _abi
from nd4c._core import core
from nd4c._errors import check, error
from nd4c._library import bind

_count, _row = bind("nd4c_config_count"), bind("nd4c_config_get_row")
_get, _set = bind("nd4c_config_get"), bind("nd4c_config_set")
_NAME_STATUS = 206
_SOURCES = ("default", "environment", "set")
_kinds = {}  # property -> the type of its values; plug-ins may add properties, which the next miss finds


def _value_by_ctypes(name):
    """The text of a property, or the status of the failure."""
    value = ctypes.c_char_p()
    return _get(name.encode(), ctypes.byref(value)) or (value.value or b"").decode()


_value = getattr(core, "config_value", _value_by_ctypes)


class Config(MutableMapping):
    """The library's properties and their values. Deleting one returns it to the environment or its default; called with
    values it is a context that restores them: `with nd4c.config({"nd4c.threads": 1}): ...`.

    Errors: KeyError, which names the nearest property, for an unknown one; ValueError for a value out of its range.

    >>> with nd4c.config({"nd4c.memory.origins": True}):
    ...     nd4c.config["nd4c.memory.origins"]
    True
    >>> nd4c.config.describe("nd4c.memory.origins")["type"]
    'bool'
    """

    def __getitem__(self, name):
        text = _value(name) if type(name) is str else _text(name)
        if type(text) is int:
            raise _missing(text) if text == _NAME_STATUS else error(text)
        kind = _kinds.get(name)
        if kind is None:
            _kinds.update((row.property.decode(), row.type.decode()) for row in _rows())
            kind = _kinds.setdefault(name, "string")
        return text if kind == "string" else _parsed(text, kind)

    def __setitem__(self, name, value):
        status = _set(_text(name), None if value is None else _written(value).encode())
        if status == _NAME_STATUS:
            raise _missing(status)
        check(status)

    def __delitem__(self, name):
        self[name] = None

    def clear(self) -> None:
        """Returns every property that the program has set to the environment or its default."""
        for row in _rows():
            if row.source == _SOURCES.index("set"):
                del self[row.property.decode()]

    def popitem(self) -> "tuple[str, object]":
        """Not possible: TypeError. Properties stay, also when their values are taken back."""
        raise TypeError("config: properties cannot be removed; `del nd4c.config[name]` takes a value back, clear() all of them")

    def __iter__(self):
        return iter([row.property.decode() for row in _rows()])

    def __len__(self):
        return _count()

    def __repr__(self):
        return "\n".join("%s = %s  (%s)" % (row.property.decode(), (row.value or b"").decode(), _SOURCES[row.source])
                         for row in _rows())

    def __call__(self, values=None, **named):
        return _Changed(self, dict(values or {}, **named))

    def describe(self, name):
        """The facts about a property: environment, type, default, meaning, value, source."""
        for row in _rows():
            if row.property.decode() == name or (row.environment or b"").decode() == name:
                return {"property": row.property.decode(), "environment": (row.environment or b"").decode(),
                        "type": row.type.decode(), "default": (row.default_value or b"").decode(),
                        "meaning": row.meaning.decode(), "value": (row.value or b"").decode(),
                        "source": _SOURCES[row.source]}
        self[name]
        raise KeyError(name)


class _Changed:
    """Values set for the length of a with statement."""

    def __init__(self, config, values):
        self.config, self.values, self.before = config, values, []

    def __enter__(self):
        before = {row.property.decode(): (row.value.decode() if row.source == 2 else None) for row in _rows()}
        try:
            for name, value in self.values.items():
                self.config[name] = value
                self.before.append((name, before.get(name)))
        except BaseException:
            self.__exit__()
            raise
        return self.config

    def __exit__(self, *error):
        while self.before:
            name, value = self.before[-1]
            self.config[name] = value
            self.before.pop()


def _missing(status):
    return KeyError(str(error(status)))


def _text(name):
    if not isinstance(name, str):
        raise TypeError("config: a property is named by text, not by %s" % type(name).__name__)
    return name.encode()


def _rows():
    for index in range(_count()):
        row = _abi.config_row(struct_size=ctypes.sizeof(_abi.config_row))
        check(_row(index, ctypes.byref(row)))
        yield row


def _parsed(text, kind):
    if kind == "bool":
        return text.lower() in ("1", "true", "yes", "on")
    if kind == "int" and text.lstrip("+-").isdigit():
        return int(text)
    return text


def _written(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


config = Config()

"""The machine, the devices and the choice of kernels: nd4c.info(), nd4c.explain(), nd4c.devices()."""
import ctypes
from ctypes import byref, c_void_p

from nd4c import _abi, _devices, _dtypes
from nd4c._arguments import op_number, signature
from nd4c._config import config
from nd4c._core import Array, handle, name as _core_name
from nd4c._errors import check
from nd4c.memory import remaining
from nd4c._library import bind, facts, take_text, path as _path, version as _version

devices = _devices.every

_SHARING = ("nd4c.device.transfer", "nd4c.device.memory.spill", "nd4c.routing", "nd4c.routing.devices",
            "nd4c.routing.transfer", "nd4c.routing.creation", "nd4c.routing.wait")
_VERDICTS = {row[1]: row[2].replace("_", " ") for row in _abi.TABLES["VERDICT"]}


class Info(dict):
    """Facts by name; prints as a page."""

    def __repr__(self):
        lines = ["nd4c %s, %s" % (self["version"], self["library"]), self["build"], "core: " + self["core"], ""]
        lines += ["%-14s %s" % (name, value) for name, value in self["machine"].items()] + [""]
        for backend in self["backends"]:
            lines.append("%s%s  %s, priority %d: %s" % ("* " if backend["selected"] else "  ", backend["name"],
                                                      backend["verdict"], backend["priority"], backend["reason"]))
            lines += ["      %s: %s" % engine for engine in backend["engines"].items()]
            lines += ["      cannot be used: " + line for line in backend["unusable_devices"]]
        lines += [""] + ["%-26s %s" % fact for fact in self["sharing"].items()]
        for device in self["devices"]:
            lines += ["", "%s  %s" % (device["name"], device["description"])]
            lines += ["  %s" % line for line in _lines(device)]
        return "\n".join(lines)

    __str__ = __repr__


def info(*, probe=False):
    """The library, the machine, backends with verdict and reason, engines and devices, and the properties that govern several
    devices. probe: opens and checks every backend and engine first.

    >>> info = nd4c.info()
    >>> info["version"] == nd4c.__version__, info["core"] in ("native", "ctypes")
    (True, True)
    """
    row = _abi.machine_info(struct_size=ctypes.sizeof(_abi.machine_info))
    check(bind("nd4c_machine_get_info")(byref(row)))
    machine = facts(row)
    devices = [dict(device.info, memory=device.memory, remaining_bytes=remaining(device))
               for device in _devices.every(probe=probe)]  # before the backends: this call chooses one of them
    return Info(version=_version, library=_path, build=bind("nd4c_build_info")().decode(), core=_core_name,
                machine=machine, backends=_backends(probe), devices=devices,
                sharing={name: config[name] for name in _SHARING})


def _lines(device):
    """The facts about a device, one a line."""
    native, memory = device["native"], device["memory"]
    shown = dict(device, dtypes=" ".join(device["dtypes"]), native=native if native is None else hex(native),
                 memory=" ".join("%s %d" % count for count in memory.items()))
    return ["%-16s %s" % (name, value) for name, value in shown.items()
            if name not in ("name", "description") and value not in (None, "")]


def _backends(probe):
    found = []
    status, engine, state = bind("nd4c_backend_get_status"), bind("nd4c_backend_engine"), bind("nd4c_backend_engine_state")
    for index in range(bind("nd4c_backend_count")()):
        row = _abi.backend_status(struct_size=ctypes.sizeof(_abi.backend_status))
        check(status(index, byref(row)))
        entry = facts(row)
        entry["verdict"] = _VERDICTS[row.verdict]
        entry["unusable_devices"] = entry["unusable_devices"].splitlines()
        entry["type"] = dict((row[1], row[2]) for row in _abi.TABLES["DEVICE_TYPE"]).get(row.type, "other")
        entry["engines"] = {}
        place = 0
        while True:
            name = engine(row.name, place)
            if name is None:
                break
            entry["engines"][name.decode()] = (state(row.name, place, probe) or b"").decode()
            place += 1
        found.append(entry)
    return found


def explain(function, /, *arguments, **attributes):
    """Which kernel a call would use, and why each other candidate was passed over. Runs nothing.

    function: an op's name, or a function of nd4c that is one op. arguments: its arrays; attributes by name.

    Shapes: as the op takes them.
    Dtypes: as the op takes them.
    Errors: ValueError for an unknown op or attribute, and for a function that is no op; what the op itself refuses.

    >>> x = nd4c.ones(3)
    >>> "taken" in nd4c.explain("add", x, x)
    True
    """
    number = op_number("explain", function)
    name, inputs, attrs, _ = signature(number)
    kinds = dict((attr, kind) for kind, attr in attrs)
    arrays, kept = _arrays(inputs, arguments)
    rows = (_abi.attr * len(attributes))()
    if "axis" in attributes and "axis" not in kinds and "axes" in kinds:
        attributes["axes"] = attributes.pop("axis")
    for row, (attr, value) in zip(rows, attributes.items()):
        if attr not in kinds:
            raise ValueError("explain: %s has no attribute %r; it has %s" % (name, attr, ", ".join(kinds) or "none"))
        row.name = attr.encode()
        kept.append(_fill(row.value, kinds[attr], value))
    handles = (c_void_p * len(arrays))(*[None if a is None else handle(a) for a in arrays])
    out = c_void_p()
    check(bind("nd4c_explain")(None, number, handles, len(arrays), rows, len(attributes), byref(out)))
    return take_text(out)


def _arrays(inputs, arguments):
    from nd4c._creation import asarray
    arrays = []
    for argument in arguments:
        arrays += argument if isinstance(argument, (list, tuple)) and inputs[-1][0] == "v" else [argument]
    first = next((a for a in arrays if type(a) is Array), None)
    made = [a if a is None or type(a) is Array else asarray(
        a, dtype=_dtypes.weak(type(a), first.dtype) if first is not None and type(a) in _dtypes.DEFAULTS else None)
        for a in arrays]
    return made, list(made)


def _fill(value, kind, given):
    """Writes a Python value into a struct nd4c_attr_value. Returns the objects that the struct points to."""
    union = getattr(value, "as")
    value.kind = {"n": 1, "b": 2, "f": 3, "N": 4, "F": 5, "s": 6, "t": 8}[kind]
    if kind in "nb":
        union.i = int(given)
    elif kind == "f":
        union.f = float(given)
    elif kind == "t":
        union.i = _dtypes.of(given).number
    elif kind == "s":
        union.string = given = given.encode()
    else:
        values = list(given) if isinstance(given, (list, tuple)) else [given]
        given = ((ctypes.c_int64 if kind == "N" else ctypes.c_double) * len(values))(*values)
        setattr(union, "ints" if kind == "N" else "floats", ctypes.addressof(given))
        value.count = len(values)
    return given

"""What the record files share: samplers, cases, refusals, and the format in which they are handed to nd4c_conformance.

A record file defines, for ops of one family,

    @cases("cumulative_sum", ulps=4)
    def cumulative_sum(s, dtype):          # s: Sampler, dtype: the first input's (without inputs: the first output's)
        x = s.small(dtype, (3, 4))
        yield Case([x], {"axis": -1}, [exact_sum(x)])

    @refusals("cumulative_sum")
    def cumulative_sum_refusals(s):
        yield Refusal([s.small("float32", (3,))], {"axis": 1}, "INDEX", "axis 1 is out of range")

`cases` is called for every dtype that the op declares (`nd4c ops --json`). Inputs are Arrays (numpy arrays are wrapped),
None for one left out, lists of str (object arrays) for utf8. An expected result is Exact (the very elements: integers,
bools, strings, moved floats), or Near: numbers in long double, mpmath or float64 from which the result may differ by
`ulps` units in the last place of its dtype, relative to the larger of the value and `scale`.

Format of a .rec file, little-endian: "ND4CREC1", then for each case: 'C' or 'R'; op; dtype; ulps; complex ulps; inputs;
attributes; then property, outputs (C) or status, text (R). Texts are length (int32) and bytes; see tests/conformance/golden.c.
"""
import dataclasses
import struct

import ml_dtypes
import numpy as np

NUMPY = {
    "bool": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64, "uint8": np.uint8,
    "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64, "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64, "complex64": np.complex64,
    "complex128": np.complex128, "utf8": np.object_,
    **{name: getattr(ml_dtypes, name) for name in (
        "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn",
        "int4", "uint4", "int2", "uint2")},
}
NAMES = {np.dtype(t): name for name, t in NUMPY.items()}
KINDS = {"int": 1, "bool": 2, "float": 3, "ints": 4, "floats": 5, "string": 6, "dtype": 8}

BOOLS = ("bool",)
INTS = ("int8", "int16", "int32", "int64")
UINTS = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEXES = ("complex64", "complex128")
# Narrow dtypes: float8, and those packed in memory, whose elements are codes of a byte in records.
FLOAT8S = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")
PACKED = ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")
NARROW = FLOAT8S + PACKED


def is_float(dtype):
    return dtype in FLOATS


def is_complex(dtype):
    return dtype in COMPLEXES


def is_integer(dtype):
    return dtype in INTS or dtype in UINTS


def wide(x):
    """The elements in the widest number of their kind: long double, complex of long doubles, Python-sized integers."""
    x = np.asarray(x)
    if x.dtype == np.bool_ or x.dtype.kind in "iuO":
        return x.astype(object) if x.dtype.kind in "iu" else x
    if x.dtype.kind == "c":
        return x.astype(np.clongdouble)
    return x.astype(np.float64).astype(np.longdouble)


@dataclasses.dataclass
class Exact:
    value: object
    dtype: str = None  # of utf8 and of plain lists
    signs: bool = False  # zeros must have the sign of these


@dataclasses.dataclass
class Near:
    """Numbers (long double, complex long double, mpmath or float64) of a result of the given dtype."""
    value: object
    dtype: str
    scale: object = None


@dataclasses.dataclass
class Case:
    inputs: list
    attrs: dict
    outputs: list
    ulps: float = None
    property: str = ""


@dataclasses.dataclass
class Refusal:
    inputs: list
    attrs: dict
    status: str  # name without ND4C_: "SHAPE"
    text: str
    dtype: str = None


class Sampler:
    """Random arrays; the same for the same op and dtype, wherever it runs."""

    def __init__(self, seed):
        self.random = np.random.Generator(np.random.PCG64(seed))

    def integers(self, low, high, shape=()):
        """low .. high, both included; int64."""
        return self.random.integers(low, high, size=shape, endpoint=True)

    def uniform(self, dtype, low, high, shape=()):
        x = self.random.uniform(low, high, size=shape)
        if is_complex(dtype):
            x = x + 1j * self.random.uniform(low, high, size=shape)
        return np.asarray(x).astype(NUMPY[dtype])

    def small(self, dtype, shape=()):
        """-4 .. 4; integers -9 .. 9 (unsigned 0 .. 9); bools; a few short strings; any narrow number."""
        if dtype in NARROW:
            return self.bits(dtype, shape)
        if dtype == "utf8":
            words = np.array(["", "a", "nd4c", "äöü", "日本", "seven"], dtype=object)
            return np.asarray(words[self.random.integers(0, len(words), size=shape)], dtype=object)
        if dtype == "bool":
            return np.asarray(self.random.integers(0, 2, size=shape)).astype(bool)
        if is_integer(dtype):
            return np.asarray(self.random.integers(0 if dtype in UINTS else -9, 10, size=shape)).astype(NUMPY[dtype])
        return self.uniform(dtype, -4, 4, shape)

    def positive(self, dtype, shape=()):
        """0.1 .. 4; integers 1 .. 9."""
        if is_integer(dtype):
            return np.asarray(self.random.integers(1, 10, size=shape)).astype(NUMPY[dtype])
        return self.small(dtype, shape) if dtype in ("bool", "utf8") else self.uniform(dtype, 0.1, 4, shape)

    def bits(self, dtype, shape=()):
        """All bit patterns, NaN and infinities among them (0 or 1 for bool)."""
        if dtype == "bool":
            return self.small(dtype, shape)
        if dtype in PACKED:
            codes = self.random.integers(0, 4 if dtype.endswith("2") else 16, size=shape).astype(np.uint8)
            return codes.view(NUMPY[dtype])
        item = np.dtype(NUMPY[dtype])
        count = int(np.prod(shape, dtype=np.int64)) * item.itemsize
        return np.frombuffer(self.random.bytes(count), dtype=item).reshape(shape).copy()

    def special(self, dtype, shape=()):
        """Zeros, infinities, NaN, extremes and ties; integers: extremes."""
        if dtype in NARROW:
            return self.bits(dtype, shape)
        if dtype in ("bool", "utf8"):
            return self.small(dtype, shape)
        t = np.dtype(NUMPY[dtype])
        if is_integer(dtype):
            info = np.iinfo(t)
            values = [0, 1, 2, 7, info.max, info.max - 1, info.min, info.min + 1]
        elif is_complex(dtype):
            parts = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5]
            values = [complex(a, b) for a in parts for b in parts]
        else:
            info = ml_dtypes.finfo(t)
            values = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, info.max, info.min, info.tiny,
                      info.smallest_subnormal, -info.smallest_subnormal, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 100, -100]
        values = np.array([t.type(v) for v in values], dtype=t)
        return values[self.random.integers(0, len(values), size=shape)]


# -- for ops that move elements ------------------------------------------------------------------------------------------

INDEX = (np.int32, np.int64)


def zero(dtype):
    """What ops fill with: the element of zero bits, the empty string."""
    return "" if dtype == "utf8" else np.zeros(16, np.uint8).view(NUMPY[dtype])[0]


def zeros(shape, dtype):
    y = np.empty(shape, NUMPY[dtype])
    y[...] = zero(dtype)
    return y


def dense(x):
    """A copy in C order; NumPy's scalars and strings as 0-d arrays."""
    return np.array(x, dtype=np.object_ if isinstance(x, str) else x.dtype, order="C")


def picks(s, extent, shape, index=np.int64):
    """Indices in range, negative ones among them."""
    return np.asarray(s.integers(-extent, extent - 1, shape)).astype(index)


RECORDS = {}   # op: (function, ulps, complex ulps)
REFUSALS = {}  # op: function


def cases(*ops, ulps=0.5, complex_ulps=None):
    """Registers a sampler for ops; with several, it takes (s, dtype, op)."""
    def register(function):
        for op in ops:
            wanted = (lambda s, dtype, op=op: function(s, dtype, op)) if len(ops) > 1 else function
            RECORDS[op] = (wanted, ulps, ulps if complex_ulps is None else complex_ulps)
        return function
    return register


def refusals(*ops):
    def register(function):
        for op in ops:
            REFUSALS[op] = (lambda s, op=op: function(s, op)) if len(ops) > 1 else function
        return function
    return register


# -- writing ----------------------------------------------------------------------------------------------------------

def text(value):
    data = value.encode()
    return struct.pack("<i", len(data)) + data


def name_of(x):
    return NAMES[x.dtype]


def as_array(x):
    return np.array(x, dtype=object) if isinstance(x, (list, str)) else np.asarray(x)


def elements(x):
    if x.dtype == np.object_:
        return b"".join(text(str(v)) for v in x.reshape(-1))
    return np.ascontiguousarray(x).tobytes()


def shape(x):
    return struct.pack("<i", x.ndim) + struct.pack(f"<{x.ndim}q", *x.shape)


def write_input(x):
    if x is None:
        return text("")
    x = as_array(x)
    return text(name_of(x)) + shape(x) + elements(x)


def write_attr(name, value, kind):
    if isinstance(value, str) and kind == "int":
        kind = "string"  # the word for a number
    head = text(name) + struct.pack("<B", KINDS[kind])
    if kind in ("int", "bool"):
        return head + struct.pack("<q", int(value))
    if kind == "float":
        return head + struct.pack("<d", float(value))
    if kind in ("dtype", "string"):
        return head + text(value)
    return head + struct.pack("<i", len(value)) + struct.pack(f"<{len(value)}{'q' if kind == 'ints' else 'd'}", *value)


def two_doubles(value):
    """A number as the sum of two doubles."""
    high = float(value)
    low = float(value - type(value)(high)) if np.isfinite(high) else 0.0
    return struct.pack("<2d", high, low)


def pairs_of_doubles(values):
    """two_doubles of each number of a flat array: of all at once where NumPy has a number for them."""
    if values.dtype.kind != "f":
        return b"".join(map(two_doubles, values))
    with np.errstate(all="ignore"):
        high = values.astype(np.float64)
        low = np.where(np.isfinite(high), values - high.astype(values.dtype), 0).astype(np.float64)
    return np.stack([high, low], axis=-1).astype("<f8").tobytes()


def write_near(expected):
    value = np.asarray(expected.value)
    data = bytearray(text(expected.dtype) + shape(value))
    data += struct.pack("<BB", 1, expected.scale is not None)
    flat = value.reshape(-1)
    if is_complex(expected.dtype) and flat.dtype.kind in "fc":
        data += pairs_of_doubles(np.stack([flat.real, flat.imag], axis=-1).reshape(-1))
    elif is_complex(expected.dtype):
        data += b"".join(two_doubles(v.real) + two_doubles(v.imag) for v in flat)
    else:
        data += pairs_of_doubles(flat)
    if expected.scale is not None:
        scale = np.broadcast_to(np.asarray(expected.scale, dtype=np.float64), value.shape)
        data += np.ascontiguousarray(scale).tobytes()
    return bytes(data)


def write_output(expected):
    if isinstance(expected, Near):
        return write_near(expected)
    x = as_array(expected.value if isinstance(expected, Exact) else expected)
    if isinstance(expected, Exact) and expected.dtype not in (None, "utf8"):
        x = x.astype(NUMPY[expected.dtype])
    kind = 2 if isinstance(expected, Exact) and expected.signs else 0
    return text(name_of(x)) + shape(x) + struct.pack("<BB", kind, 0) + elements(x)


def write_call(kind, op, schema, dtype, ulps, inputs, attrs):
    """An attribute [] is left out, () is a list that is given and empty."""
    kinds = {a["name"]: a["kind"] for a in schema["attributes"]}
    data = kind + text(op) + text(dtype) + struct.pack("<2d", *ulps)
    data += struct.pack("<i", len(inputs)) + b"".join(write_input(x) for x in inputs)
    attrs = {name: value for name, value in attrs.items() if not (isinstance(value, list) and not value)}
    data += struct.pack("<i", len(attrs))
    for name, value in attrs.items():
        data += write_attr(name, value, kinds[name])
    return data


def write_case(op, schema, dtype, ulps, case):
    tolerance = ulps if case.ulps is None else (case.ulps, case.ulps)
    data = write_call(b"C", op, schema, dtype, tolerance, case.inputs, case.attrs)
    return data + text(case.property) + struct.pack("<i", len(case.outputs)) + b"".join(map(write_output, case.outputs))


def write_refusal(op, schema, statuses, refusal):
    first = next((as_array(x) for x in refusal.inputs if x is not None), None)
    dtype = refusal.dtype or ("" if first is None else name_of(first))
    data = write_call(b"R", op, schema, dtype, (0, 0), refusal.inputs, refusal.attrs)
    return data + struct.pack("<i", statuses[refusal.status]) + text(refusal.text)

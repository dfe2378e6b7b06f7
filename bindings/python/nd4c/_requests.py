"""What programs ask of compilers, as the C library's struct: nd4c.onnx.load and plans of nd4c.graph take the same arguments."""
import ctypes

from nd4c import _abi
from nd4c._arguments import integer

_MATH = {row[2]: row[1] for row in _abi.TABLES["MATH"]}


def compile_request(where, math, memory, options):
    """An nd4c_compile_request with the objects that it points to, which live as long as it does; None without settings."""
    if math is None and not memory and not options:
        return None
    if math is not None and math not in _MATH:
        raise ValueError("%s: math: expected one of %s, got %r" % (where, ", ".join(_MATH), math))
    pairs = [(c_text(where + ": compile_options: a key", key), c_text("%s: compile_options: a value of %r" % (where, key), value))
             for key, value in (options or {}).items()]
    rows = (_abi.compile_option * len(pairs))(*[_abi.compile_option(*pair) for pair in pairs])
    row = _abi.compile_request(struct_size=ctypes.sizeof(_abi.compile_request), math=_MATH[math or "exact"],
                               memory_bytes=integer(where + ": compile_memory", memory),
                               options=ctypes.addressof(rows) if pairs else None, option_count=len(pairs))
    row.kept = rows, pairs
    return row


def c_text(where, text):
    """A text as C has it."""
    if not isinstance(text, str) or "\0" in text:
        raise TypeError("%s: expected text without zeros, got %r" % (where, text))
    return text.encode()

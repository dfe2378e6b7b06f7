"""The schema of an op as Python values, read from the C library's nd4c_op_info: derive.py reads those of the build, the
package those of plug-ins."""
from ctypes import POINTER, cast

# nd4c_attr_kind -> the letter of _abi.OPS
KINDS = {1: "n", 2: "b", 3: "f", 4: "N", 5: "F", 6: "s", 8: "t"}


def read(info, input_type, attr_type, dtypes):
    """A dict of an nd4c_op_info; dtypes: number -> name, for presets."""
    inputs, attrs = cast(info.inputs, POINTER(input_type)), cast(info.attrs, POINTER(attr_type))
    return {
        "name": info.name.decode(), "doc": (info.doc or b"").decode(), "names": (info.names or b"").decode(),
        "category": info.category_name.decode(), "version": info.version, "outputs": info.output_count,
        "inputs": [(inputs[i].name.decode(), "v" if inputs[i].variadic else "o" if inputs[i].optional else "i")
                   for i in range(info.input_count)],
        "attrs": [_attribute(attrs[i], dtypes) for i in range(info.attr_count)],
    }


def _attribute(attr, dtypes):
    """Name, kind and preset; that of a list is None."""
    kind, union = KINDS[attr.preset.kind], getattr(attr.preset, "as")
    preset = {"n": lambda: int(union.i), "b": lambda: bool(union.i), "f": lambda: float(union.f),
              "t": lambda: dtypes.get(union.i), "s": lambda: union.string.decode() if union.string else None}
    return attr.name.decode(), kind, preset[kind]() if kind in preset else None

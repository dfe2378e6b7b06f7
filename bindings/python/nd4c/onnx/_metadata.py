"""What an ONNX file says about itself: producer, names, texts. Read by InferenceSession.get_modelmeta.

The numbers are the fields of ModelProto, GraphProto and StringStringEntryProto in onnx.proto."""
import mmap
from collections import namedtuple

ModelMetadata = namedtuple("ModelMetadata", "custom_metadata_map description domain graph_description graph_name producer_name version")
ModelMetadata.__doc__ = """Facts about a model, by ONNX Runtime's names; texts are "" where the file says nothing.

>>> nd4c.onnx.InferenceSession("digits/digits.onnx").get_modelmeta().producer_name
'nd4c examples/digits'
"""

_TEXTS = {2: "producer_name", 4: "domain", 6: "description"}
_VERSION, _GRAPH, _PROPERTY = 5, 7, 14
_GRAPH_TEXTS = {2: "graph_name", 10: "graph_description"}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read(source):
    """The ModelMetadata of a file's path or of bytes that the library has already taken as a model."""
    if isinstance(source, bytes):
        return _model(source)
    with open(source, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return _model(view)


def _model(data):
    found = dict.fromkeys(ModelMetadata._fields, "")
    found.update(custom_metadata_map={}, version=2 ** 63 - 1)  # ONNX Runtime's number for a model without a version
    for field, value in _fields(data, 0, len(data)):
        if field in _TEXTS:
            found[_TEXTS[field]] = _text(data, value)
        elif field == _VERSION:
            found["version"] = value
        elif field == _GRAPH:
            found.update((_GRAPH_TEXTS[inner], _text(data, part)) for inner, part in _fields(data, *value) if inner in _GRAPH_TEXTS)
        elif field == _PROPERTY:
            pair = {inner: _text(data, part) for inner, part in _fields(data, *value)}
            found["custom_metadata_map"][pair.get(1, "")] = pair.get(2, "")
    return ModelMetadata(**found)


def _text(data, place):
    return bytes(data[place[0]:place[1]]).decode("utf-8", "replace")


def _fields(data, at, end):
    """Number and value of each field of a message: an integer, or begin and end of bytes."""
    while at < end:
        key, at = _varint(data, at)
        wire = key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
        elif wire == _BYTES:
            size, at = _varint(data, at)
            value, at = (at, at + size), at + size
        else:
            value, at = None, at + {_FIXED64: 8, _FIXED32: 4}[wire]
        yield key >> 3, value


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7

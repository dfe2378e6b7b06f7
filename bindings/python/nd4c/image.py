"""Pictures: the ops of the category IMAGE."""
from nd4c import ops

__all__ = sorted(ops.CATEGORIES["IMAGE"])
globals().update({name: getattr(ops, name) for name in __all__})


def load(path, *, pixel_format="RGB"):
    """The picture in a file as an array [height, width, channels] of uint8."""
    with open(path, "rb") as file:
        data = file.read()
    from nd4c._creation import asarray
    return ops.decode_image(asarray(data), pixel_format=pixel_format)

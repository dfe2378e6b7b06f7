"""Pictures: the ops of the category IMAGE."""
from nd4c import ops

__all__ = sorted(ops.CATEGORIES["IMAGE"])
globals().update({name: getattr(ops, name) for name in __all__})


def load(path, *, pixel_format="RGB", device=None):
    """The picture in a file as an array [height, width, channels] of uint8; with a device, decoded by the host and brought
    there."""
    with open(path, "rb") as file:
        data = file.read()
    from nd4c._creation import asarray, made_on, to_device
    picture = made_on(None if device is None else "cpu:0", lambda: ops.decode_image(asarray(data), pixel_format=pixel_format))
    return picture if device is None else to_device(picture, device)

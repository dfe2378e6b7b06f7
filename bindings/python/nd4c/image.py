"""Pictures: the ops of the category IMAGE."""
from nd4c import ops

__all__ = sorted(ops.CATEGORIES["IMAGE"])
globals().update({name: getattr(ops, name) for name in __all__})


def load(path, *, pixel_format="RGB", device=None):
    """The picture in a file as an array [height, width, channels] of uint8; with a device, decoded by the host and brought
    there.

    Shapes: the result [height, width, channels]; 1 channel for "GRAYSCALE", else 3.
    Dtypes: uint8.
    Errors: FileNotFoundError; ValueError for what is no picture; NotImplementedError where the library for its format
    is absent.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:  # a picture of 1x1 in the format PPM
    ...     path = os.path.join(folder, "red.ppm")
    ...     with open(path, "wb") as file:
    ...         _ = file.write(b"P6 1 1 255 " + bytes([255, 0, 0]))
    ...     nd4c.image.load(path)
    array([[[255,   0,   0]]], dtype=uint8)
    """
    with open(path, "rb") as file:
        data = file.read()
    from nd4c._creation import asarray, made_on, to_device
    picture = made_on(None if device is None else "cpu:0", lambda: ops.decode_image(asarray(data), pixel_format=pixel_format))
    return picture if device is None else to_device(picture, device)

"""The Array API standard's Fourier transforms."""
from operator import index as _index

from nd4c import _creation, _dtypes
from nd4c._arguments import TABLES as _TABLES, axes as _axes, enum_name as _enum_name
from nd4c._support import array as _array, op as _op


def _along(name, doc):
    def function(x, /, *, n=None, axis=-1, norm="backward"):
        return _op(name)(x, -1 if n is None else _points(name, n), axis, _scaling(name, norm))
    return _named(function, name, doc)


def _over(name, doc):
    def function(x, /, *, s=None, axes=None, norm="backward"):
        if axes is not None and not len(axes):
            return _op("copy")(x)
        return _op(name)(x, None if s is None else [_points(name, n) for n in s], _axes(axes), _scaling(name, norm))
    return _named(function, name, doc)


def _points(name, n):
    n = _index(n)
    if n < 1:
        raise ValueError("%s: %d points are asked for; at least 1" % (name, n))
    return n


def _scaling(name, norm):
    return _enum_name(name + ": norm", norm, _TABLES["FFT_NORM"], 0)


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


fft = _along("fft", "Fourier transform of n points along an axis.")
ifft = _along("ifft", "Inverse Fourier transform of n points along an axis.")
rfft = _along("rfft", "First half of the transform of a real array along an axis.")
irfft = _along("irfft", "Real array of n points whose transform begins with x.")
hfft = _along("hfft", "Real transform of an array that is Hermitian, x its first half.")
ihfft = _along("ihfft", "First half of the inverse transform of a real array.")
fftn = _over("fftn", "Fourier transform over axes.")
ifftn = _over("ifftn", "Inverse Fourier transform over axes.")
rfftn = _over("rfftn", "Transform of a real array over axes, the last one as rfft.")
irfftn = _over("irfftn", "Inverse of rfftn.")


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """Frequencies of a transform's n points, samples d apart."""
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """Frequencies of rfft's points, samples d apart."""
    return _frequencies("rfftfreq", n, d, dtype, device)


def _frequencies(name, n, d, dtype, device):
    dtype = _dtypes.DEFAULTS[float] if dtype is None else _dtypes.of(dtype)
    return _creation.made_on(device, _op(name), _points(name, n), float(d), dtype.number)


def fftshift(x, /, *, axes=None):
    """x with frequency 0 in the middle of axes (None: all)."""
    return _op("fftshift")(x, _axes(axes)) if axes != () else _op("copy")(_array(x, "fftshift"))


def ifftshift(x, /, *, axes=None):
    """Inverse of fftshift."""
    return _op("ifftshift")(x, _axes(axes)) if axes != () else _op("copy")(_array(x, "ifftshift"))


__all__ = ["fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fftfreq", "rfftfreq",
           "fftshift", "ifftshift"]

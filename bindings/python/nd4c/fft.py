"""Fourier transforms: the Array API standard's extension fft with NumPy's whole numpy.fft.

Each function is one op of the C library; here are NumPy's parameters of n, s, axes, norm and out."""
from operator import index as _index

from nd4c import _creation, _dtypes
from nd4c._arguments import TABLES as _TABLES, axes as _axes, enum_name as _enum_name
from nd4c._functions.support import as_array as _as_array, cast as _cast, finish as _finish, normalize_axis as _normalize_axis, op as _op


def _along(name, summary, shapes, example, real=False):
    def function(a, n=None, axis=-1, norm=None, out=None):
        a = _operand(name, a, real)
        if n is None and not a.size and a.ndim:
            _points(name, a.shape[_normalize_axis(axis, a.ndim, name)])
        result = _op(name)(a, -1 if n is None else _points(name, n), axis, _scaling(name, norm))
        return result if out is None else _written(name, result, out)
    return _named(function, name, summary, "Shapes: %s along axis; n: %s." % (shapes, _N[real or name in _HALVES]), example)


def _over(name, summary, example, real=False, two=False):
    if two:
        def function(a, s=None, axes=(-2, -1), norm=None, out=None):
            return _transformed(name, name[:-1] + "n", a, s, axes, norm, out, real)
    else:
        def function(a, s=None, axes=None, norm=None, out=None):
            return _transformed(name, name, a, s, axes, norm, out, real)
    return _named(function, name, summary, "Shapes: any; the result has s on the axes; of real input the last one has "
                  "n / 2 + 1 places for n points.\n    s: the points along each axis (-1: all of it); a is cut or filled up with "
                  "zeros. axes: %s." % ("the last two" if two else "None takes all, or the last len(s)"), example)


def _named(function, name, summary, arguments, example):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = """%s

    %s
    norm: "backward" (the default) divides the inverse by the number of points, "forward" the transform,
    "ortho" both by the root.
    Dtypes: float32 and complex64 are computed as such, all others in double precision.
    Errors: ValueError for less than one point or another norm; AxisError (IndexError) for axes that a lacks.

    %s
    """ % (summary, arguments, example)
    return function


def _operand(name, a, real):
    a = _as_array(a, name)
    if real and a.dtype.kind == "c":
        raise TypeError("%s: expected real numbers, got %s; nd4c.real() gives their real part" % (name, a.dtype))
    return _cast(a, _dtypes.by_name["uint8"]) if a.dtype.kind == "b" else a


def _transformed(name, called, a, s, axes, norm, out, real):
    a = _operand(name, a, real)
    if axes is None:
        axes = tuple(range(a.ndim)) if s is None else tuple(range(a.ndim - len(s), a.ndim))
    axes = tuple(_normalize_axis(axis, a.ndim, name) for axis in _axes(axes))
    if s is not None and len(s) != len(axes):
        raise ValueError("%s: s has %d numbers and axes %d; expected as many" % (name, len(s), len(axes)))
    if s is not None:
        s = [a.shape[axis] if n == -1 else _points(name, n) for n, axis in zip(s, axes)]
    if not axes:
        if called not in ("fftn", "ifftn"):
            raise ValueError("%s: at least one axis is needed" % name)
        result = _op("copy")(a)
    elif len(set(axes)) == len(axes):
        result = _op(called)(a, s, axes, _scaling(name, norm))
    else:
        result = _repeated(called, a, s, axes, _scaling(name, norm))
    return result if out is None else _written(name, result, out)


def _written(name, result, out):
    """out, after the result has been written into it."""
    if not hasattr(out, "dtype"):
        raise TypeError("%s: out is %s; return arrays must be of ArrayType" % (name, type(out).__name__))
    if tuple(out.shape) != result.shape:
        raise ValueError("%s: output array has wrong shape %s; the result has %s" % (name, tuple(out.shape), result.shape))
    return _finish(result, out, where=name)


def _repeated(called, a, s, axes, scaling):
    """Transforms along axes of which one comes twice: one after another, as NumPy does, with the points of the axes of a."""
    if s is None:
        s = [a.shape[axis] for axis in axes]
        if called == "irfftn":
            s[-1] = 2 * (s[-1] - 1)
    steps = list(zip(["ifft" if called[0] == "i" else "fft"] * (len(axes) - 1) + [called[:-1]], s, axes))
    for step, points, axis in steps if called == "irfftn" else reversed(steps):
        a = _op(step)(a, points, axis, scaling)
    return a


def _points(name, n):
    n = _index(n)
    if n < 1:
        raise ValueError("%s: Invalid number of FFT data points (%d) specified; at least 1 is needed" % (name, n))
    return n


def _scaling(name, norm):
    return _enum_name(name + ": norm", norm, _TABLES["FFT_NORM"], 0)


_HALVES = ("irfft", "hfft")
_N = {False: "how many points; a is cut or filled up with zeros at the end",
      True: "how many real points there are; the half of the transform has n // 2 + 1"}

fft = _along("fft", "Fourier transform along an axis.", "as a, n elements",
            """>>> nd4c.fft.fft(nd4c.asarray([1.0, 0.0, 0.0, 0.0]))
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])""")
ifft = _along("ifft", "Inverse Fourier transform along an axis.", "as a, n elements", """>>> nd4c.fft.ifft([4, 0, 0, 0])
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])""")
rfft = _along("rfft", "Transform of real numbers along an axis: the half that is not redundant.", "n // 2 + 1 elements",
              """>>> nd4c.fft.rfft([1, 0, 0, 0])
    array([1.+0.j, 1.+0.j, 1.+0.j])""", real=True)
irfft = _along("irfft", "Inverse of rfft: real numbers whose transform begins with a.", "n elements, 2 (m - 1) for m of a",
               """>>> nd4c.fft.irfft([1, 1, 1])
    array([1., 0., 0., 0.])""")
hfft = _along("hfft", "Real transform of numbers of which a is the first half, the other its mirrored conjugate.",
              "n elements, 2 (m - 1) for m of a", """>>> nd4c.fft.hfft([1, 0, 0])
    array([1., 1., 1., 1.])""")
ihfft = _along("ihfft", "Inverse of hfft: the first half of the inverse transform of real numbers.", "n // 2 + 1 elements",
               """>>> nd4c.fft.ihfft([1, 1, 1, 1])
    array([1.-0.j, 0.-0.j, 0.-0.j])""", real=True)
fftn = _over("fftn", "Fourier transform over axes.", """>>> nd4c.fft.fftn([[1, 0], [0, 0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])""")
ifftn = _over("ifftn", "Inverse Fourier transform over axes.", """>>> nd4c.fft.ifftn([[4, 0], [0, 0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])""")
rfftn = _over("rfftn", "Transform of real numbers over axes; along the last one only the half that is not redundant.",
              """>>> nd4c.fft.rfftn([[1, 0, 0], [0, 0, 0]]).shape
    (2, 2)""", real=True)
irfftn = _over("irfftn", "Inverse of rfftn; s tells an odd number of points of the last axis.",
               """>>> nd4c.fft.irfftn([[1, 1], [1, 1]], s=(2, 3)).shape
    (2, 3)""")
fft2 = _over("fft2", "Fourier transform over two axes.", """>>> nd4c.fft.fft2([[1, 0], [0, 0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])""", two=True)
ifft2 = _over("ifft2", "Inverse Fourier transform over two axes.", """>>> nd4c.fft.ifft2([[4, 0], [0, 0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])""", two=True)
rfft2 = _over("rfft2", "Transform of real numbers over two axes; along the last one only the half that is not redundant.",
              """>>> nd4c.fft.rfft2([[1, 0, 0], [0, 0, 0]]).shape
    (2, 2)""", real=True, two=True)
irfft2 = _over("irfft2", "Inverse of rfft2; s tells an odd number of points of the last axis.",
               """>>> nd4c.fft.irfft2([[1, 1], [1, 1]], s=(2, 3)).shape
    (2, 3)""", two=True)


def fftfreq(n, d=1.0, device=None, *, dtype=None):
    """Frequencies of a transform's n points, samples d apart: 0, 1, ..., -2, -1 divided by n d.

    Shapes: (n,). Dtypes: float64, or dtype. Errors: ValueError if n is no positive integer.

    >>> nd4c.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(n, d=1.0, device=None, *, dtype=None):
    """Frequencies of rfft's points of n real numbers, samples d apart: 0, 1, ..., n // 2 divided by n d.

    Shapes: (n // 2 + 1,). Dtypes: float64, or dtype. Errors: ValueError if n is no positive integer.

    >>> nd4c.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    return _frequencies("rfftfreq", n, d, dtype, device)


def _frequencies(name, n, d, dtype, device):
    dtype = _dtypes.DEFAULTS[float] if dtype is None else _dtypes.of(dtype)
    try:
        n = _index(n)
    except TypeError:
        raise ValueError("%s: n is %r; n should be an integer" % (name, n)) from None
    return _creation.made_on(device, _op(name), _points(name, n), float(d), dtype.number)


def fftshift(x, axes=None):
    """x with frequency 0 in the middle of axes (None: all).

    Shapes and dtypes: as x. Errors: AxisError (IndexError) for axes that x lacks.

    Shapes: any; the result has the same.
    Dtypes: all; the result has the same.

    >>> nd4c.fft.fftshift([0, 1, 2, -2, -1])
    array([-2, -1,  0,  1,  2])
    """
    return _shifted("fftshift", x, axes)


def ifftshift(x, axes=None):
    """Inverse of fftshift: the middle of axes (None: all) moves to the begin.

    Shapes and dtypes: as x. Errors: AxisError (IndexError) for axes that x lacks.

    Shapes: any; the result has the same.
    Dtypes: all; the result has the same.

    >>> nd4c.fft.ifftshift([-2, -1, 0, 1, 2])
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted("ifftshift", x, axes)


def _shifted(name, x, axes):
    x, axes = _as_array(x, name), _axes(axes)
    return _op(name)(x, axes) if axes != () else _op("copy")(x)


__all__ = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "rfftn", "irfftn", "rfft2", "irfft2", "fft2", "ifft2", "fftn",
           "ifftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq"]


def __getattr__(name):
    """The text about a name that the module lacks."""
    from nd4c._suggestions import MissingAttribute
    raise MissingAttribute(__name__, name)

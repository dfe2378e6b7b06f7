"""Windows of signals, and the two functions they are made of: bartlett blackman hamming hanning kaiser, i0 and sinc."""
from math import pi as _pi

from nd4c import _dtypes
from nd4c._functions.matrices import inexact
from nd4c._functions.support import as_array, op

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser", "sinc"]

_FLOAT64 = _dtypes.DEFAULTS[float].number


def _steps(M):
    """From -1 to 1 in steps of 2 / (M - 1), as float64: where the points of a window lie; as many zeros for M below 2."""
    M = M if type(M) is int else as_array(M, "window")
    if type(M) is not int and (M.ndim or M.dtype.kind not in "iuf"):
        raise TypeError("window: M is the number of points, one integer, not an array of %s of the shape %s"
                        % (M.dtype, M.shape))
    M = float(M)
    if M < 2:
        return op("zeros")((max(0, int(M)),), _FLOAT64)
    return op("divide")(op("arange")(1.0 - M, M, 2.0, _FLOAT64), M - 1.0)


def _cosines(M, first, second=0.0):
    """constant + first cos(pi t) + second cos(2 pi t) for t from -1 to 1; 1 in the middle."""
    angle = op("multiply")(_steps(M), _pi)
    result = op("add")(op("multiply")(op("cos")(angle), first), 1.0 - first - second)
    return result if not second else op("add")(result, op("multiply")(op("cos")(op("multiply")(angle, 2.0)), second))


def bartlett(M):
    """Triangular window of M points that is 0 at both ends.

    Shapes: (M,); () elements for M < 1. Dtypes: float64. Errors: TypeError if M is no number.

    >>> np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return op("subtract")(1.0, op("abs")(_steps(M)))


def blackman(M):
    """Blackman's window of M points: 0.42 + 0.5 cos + 0.08 cos of twice the angle.

    Shapes: (M,). Dtypes: float64. Errors: TypeError if M is no number.

    >>> np.round(np.blackman(5), 2)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ])
    """
    return _cosines(M, 0.5, 0.08)


def hamming(M):
    """Hamming's window of M points: 0.54 + 0.46 cos.

    Shapes: (M,). Dtypes: float64. Errors: TypeError if M is no number.

    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _cosines(M, 0.46)


def hanning(M):
    """Hann's window of M points: 0.5 + 0.5 cos.

    Shapes: (M,). Dtypes: float64. Errors: TypeError if M is no number.

    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    return _cosines(M, 0.5)


def kaiser(M, beta):
    """Kaiser's window of M points: i0(beta sqrt(1 - t^2)) / i0(beta), t from -1 to 1.

    Shapes: (M,). Dtypes: float64. Errors: TypeError if M is no number.

    >>> np.round(np.kaiser(3, 8.6), 4)
    array([0.0013, 1.    , 0.0013])
    """
    t, beta = _steps(M), op("cast")(as_array(beta, "kaiser"), _FLOAT64)
    bell = op("sqrt")(op("subtract")(1.0, op("multiply")(t, t)))
    return op("divide")(op("i0")(op("multiply")(beta, bell)), op("i0")(beta))


def i0(x):
    """Modified Bessel function of the first kind, order 0.

    Shapes: as x. Dtypes: floats; integers and bools count as float64. Errors: TypeError for complex numbers.

    >>> np.i0(0)
    array(1.)
    """
    x = inexact(x, "i0")
    if x.dtype.kind == "c":
        raise TypeError("i0: i0 not supported for complex values (%s)" % x.dtype)
    return op("i0")(x)


def sinc(x):
    """sin(pi x) / (pi x), 1 at 0.

    Shapes: as x. Dtypes: floats and complex numbers; integers and bools count as float64.
    Errors: TypeError for texts.

    >>> np.sinc([0, 0.5])
    array([1.        , 0.63661977])
    """
    x = inexact(x, "sinc")
    if x.dtype.kind != "c":
        return op("sinc")(x)
    y = op("multiply")(op("where")(op("equal")(x, 0), 1e-20, x), _pi)
    return op("divide")(op("sin")(y), y)

"""Functions of power series by their coefficients, the lowest power first; numpy.polynomial.polynomial over nd4c's arrays.

The functions of nd4c.numpy of the same names (polyval, polyfit, ...) take the highest power first."""
from nd4c import _dtypes
from nd4c._creation import asarray
from nd4c._functions.creation import arange
from nd4c._functions.matrices import inexact
from nd4c._functions.solving import lstsq
from nd4c._functions.support import as_array, op
from nd4c.numpy import _polynomials

__all__ = ["polyadd", "polycompanion", "polyder", "polydiv", "polydomain", "polyfit", "polyfromroots", "polygrid2d", "polygrid3d",
           "polyint", "polyline", "polymul", "polymulx", "polyone", "polypow", "polyroots", "polysub", "polytrim", "polyval",
           "polyval2d", "polyval3d", "polyvander", "polyx", "polyzero"]

polydomain = asarray([-1.0, 1.0])
polyzero, polyone, polyx = asarray([0]), asarray([1]), asarray([0, 1])


def coefficients(c, where):
    """c as floats of one axis, without zeros at the end."""
    c = inexact(c, where)
    if c.ndim > 1:
        raise ValueError("%s: the coefficients have the shape %s (Coefficient array is not 1-d)" % (where, c.shape))
    if not c.size:
        raise ValueError("%s: there are no coefficients (Coefficient array is empty)" % where)
    c = op("reshape")(c, (c.size,))
    return c if c[-1] != 0 else _backward(_polynomials.trimmed(_backward(c)))


def _backward(c):
    return op("flip")(c, (0,))


def _by_highest(function, where, *series):
    """The result of a function of coefficients with the highest power first."""
    return coefficients(_backward(function(*[_backward(coefficients(c, where)) for c in series])), where)


def polyadd(c1, c2):
    """Sum of two series.

    Shapes: coefficients, the lowest power first. Dtypes: floats. Errors: ValueError for more axes or no element.

    >>> np.polynomial.polynomial.polyadd([1, 2, 3], [1, 1])
    array([2., 3., 3.])
    """
    return _by_highest(_polynomials.polyadd, "polyadd", c1, c2)


def polysub(c1, c2):
    """Difference of two series; as polyadd.

    >>> np.polynomial.polynomial.polysub([1, 2, 3], [1, 1])
    array([0., 1., 3.])
    """
    return _by_highest(_polynomials.polysub, "polysub", c1, c2)


def polymul(c1, c2):
    """Product of two series; as polyadd.

    >>> np.polynomial.polynomial.polymul([1, 2], [1, 1])
    array([1., 3., 2.])
    """
    return _by_highest(_polynomials.polymul, "polymul", c1, c2)


def polymulx(c):
    """A series times x.

    >>> np.polynomial.polynomial.polymulx([1, 2])
    array([0., 1., 2.])
    """
    return polymul(c, [0, 1])


def polydiv(c1, c2):
    """Quotient and remainder of two series: a tuple. Errors: ZeroDivisionError if c2 is 0.

    >>> np.polynomial.polynomial.polydiv([1, 3, 2], [1, 1])
    (array([1., 2.]), array([0.]))
    """
    first, second = coefficients(c1, "polydiv"), coefficients(c2, "polydiv")
    if second[-1] == 0:
        raise ZeroDivisionError("polydiv: the divisor is 0")
    if first.size < second.size:
        return first[:1] * 0, first
    quotient, rest = _polynomials.polydiv(_backward(first), _backward(second))
    return coefficients(_backward(quotient), "polydiv"), coefficients(_backward(rest), "polydiv")


def polypow(c, pow, maxpower=None):
    """A series to a power, a non-negative integer. Errors: ValueError for other powers, or one above maxpower.

    >>> np.polynomial.polynomial.polypow([1, 1], 2)
    array([1., 2., 1.])
    """
    power = int(pow)
    if power != pow or power < 0:
        raise ValueError("polypow: the power is %r (Power must be a non-negative integer.)" % (pow,))
    if maxpower is not None and power > maxpower:
        raise ValueError("polypow: the power %d is above %d (Power is too large)" % (power, maxpower))
    result = asarray([1.0])
    for _ in range(power):
        result = polymul(result, c)
    return result


def polyline(off, scl):
    """The series of off + scl x.

    >>> np.polynomial.polynomial.polyline(1, 2)
    array([1, 2])
    """
    return asarray([off, scl]) if scl != 0 else asarray([off])


def polyfromroots(roots):
    """The series that has these roots, its highest coefficient 1.

    >>> np.polynomial.polynomial.polyfromroots([2, 3])
    array([ 6., -5.,  1.])
    """
    roots = inexact(roots, "polyfromroots")
    result = op("ones")((1,), roots.dtype.number)
    for number in range(roots.size):
        factor = op("concat")([op("ones")((1,), roots.dtype.number), op("negative")(roots[number:number + 1])], 0)
        result = _polynomials.polymul(result, factor)
    return _backward(result)


def polyder(c, m=1, scl=1, axis=0):
    """The m-th derivative along an axis of coefficients, each time multiplied by scl.

    >>> np.polynomial.polynomial.polyder([1, 2, 3])
    array([2., 6.])
    """
    if m < 0:
        raise ValueError("polyder: m is %d (The order of derivation must be non-negative)" % m)
    c = op("moveaxis")(inexact(c, "polyder"), (axis,), (0,))
    for _ in range(m):
        powers = op("reshape")(arange(1.0, float(max(c.shape[0], 1))), (max(c.shape[0] - 1, 0),) + (1,) * (c.ndim - 1))
        c = c[1:] * powers * scl if c.shape[0] > 1 else c[:1] * 0
    return op("moveaxis")(c, (0,), (axis,))


def polyint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    """The m-th integral along an axis of coefficients, each time multiplied by scl; k the constants at lbnd.

    >>> np.polynomial.polynomial.polyint([1, 2, 3])
    array([0., 1., 1., 1.])
    """
    k = list(k) if hasattr(k, "__iter__") else [k]
    if m < 0:
        raise ValueError("polyint: m is %d (The order of integration must be non-negative)" % m)
    if len(k) > m:
        raise ValueError("polyint: %d constants are given for %d integrals (Too many integration constants)" % (len(k), m))
    c = op("moveaxis")(inexact(c, "polyint"), (axis,), (0,))
    for number in range(m):
        powers = op("reshape")(arange(1.0, c.shape[0] + 1.0), (c.shape[0],) + (1,) * (c.ndim - 1))
        higher = c * scl / powers
        integral = op("concat")([higher[:1] * 0, higher], 0)
        constant = (k[number] if number < len(k) else 0) - polyval(lbnd, integral)
        c = op("concat")([op("expand_dims")(constant, (0,)), higher], 0)
    return op("moveaxis")(c, (0,), (axis,))


def polyval(x, c, tensor=True):
    """Values of a series at x, by Horner's rule.

    Shapes: c of one axis: as x. Of more axes: of each column; tensor=True all columns at all x, c.shape[1:] + x.shape;
    tensor=False x is broadcast over the columns. Dtypes: the common dtype.

    >>> np.polynomial.polynomial.polyval([1, 2], [1, 0, 3])
    array([ 4., 13.])
    """
    if isinstance(x, (list, tuple)) or not hasattr(x, "__mul__"):
        x = as_array(x, "polyval")
    c = inexact(c, "polyval")
    c = c if c.ndim else op("reshape")(c, (1,))
    if hasattr(x, "ndim") and tensor:
        c = op("reshape")(c, c.shape + (1,) * x.ndim)
    result = c[-1] + x * 0
    for place in range(2, c.shape[0] + 1):
        result = c[-place] + result * x
    return result


def _values(points, c, grid):
    points = [as_array(one, "polyval") for one in points]
    if not grid and len({one.shape for one in points}) > 1:
        raise ValueError("polyval: the points have the shapes %s (x, y, z must have the same shape)"
                         % ", ".join(str(one.shape) for one in points))
    c = polyval(points[0], c)
    for one in points[1:]:
        c = polyval(one, c, tensor=grid)
    return c


def polyval2d(x, y, c):
    """Values of a series in two variables at the points (x, y); c[i, j] belongs to x^i y^j.

    >>> np.polynomial.polynomial.polyval2d([1, 2], [3, 4], [[0, 1], [1, 0]])
    array([4., 6.])
    """
    return _values((x, y), c, False)


def polyval3d(x, y, z, c):
    """Values of a series in three variables at the points (x, y, z).

    >>> np.polynomial.polynomial.polyval3d(1, 2, 3, [[[1]]])
    array(1.)
    """
    return _values((x, y, z), c, False)


def polygrid2d(x, y, c):
    """Values of a series in two variables at all pairs of x and y: x.shape + y.shape.

    >>> np.polynomial.polynomial.polygrid2d([1, 2], [3], [[0, 1], [1, 0]])
    array([[4.],
           [5.]])
    """
    return _values((x, y), c, True)


def polygrid3d(x, y, z, c):
    """Values of a series in three variables at all triples of x, y and z.

    >>> np.polynomial.polynomial.polygrid3d([1, 2], [3], [4], [[[1]]]).shape
    (2, 1, 1)
    """
    return _values((x, y, z), c, True)


def polyvander(x, deg):
    """Powers 0 to deg of x along a new last axis.

    >>> np.polynomial.polynomial.polyvander([2, 3], 2)
    array([[1., 2., 4.],
           [1., 3., 9.]])
    """
    if deg < 0:
        raise ValueError("polyvander: deg is %d (deg must be non-negative)" % deg)
    x = inexact(x, "polyvander")
    x = x if x.ndim else op("reshape")(x, (1,))
    return op("power")(op("expand_dims")(x, (-1,)), arange(deg + 1))


def polyfit(x, y, deg, rcond=None, full=False, w=None):
    """The series that fits points best, by least squares. deg: the highest power, or a list of all that it may have.

    w: weights of the points. rcond: as in nd4c.numpy.polyfit. Shapes: x (m,), y (m,) or (m, k); the result (n,) or (n, k).
    With full a tuple: the coefficients, and a list of residuals, rank, singular values and rcond.
    Errors: TypeError for other shapes, ValueError for negative powers.

    >>> np.round(np.polynomial.polynomial.polyfit([0, 1, 2], [1, 3, 5], 1), 8)
    array([1., 2.])
    """
    x, y, deg = inexact(x, "polyfit"), inexact(y, "polyfit"), as_array(deg, "polyfit")
    if deg.ndim > 1 or deg.dtype.kind not in "iu" or not deg.size:
        raise TypeError("polyfit: deg must be an int or non-empty 1-D array of int")
    powers = sorted(deg.tolist()) if deg.ndim else list(range(int(deg) + 1))
    if not powers or powers[0] < 0:
        raise ValueError("polyfit: expected deg >= 0")
    if x.ndim != 1 or not x.size or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        raise TypeError("polyfit: x and y have the shapes %s and %s; expected 1D vector for x, 1D or 2D array for y of the same "
                        "length" % (x.shape, y.shape))
    lhs, rhs = op("power")(x[:, None], asarray(powers)), y
    if w is not None:
        w = inexact(w, "polyfit")
        if w.shape != x.shape:
            raise TypeError("polyfit: w has the shape %s; expected a weight for each point" % (w.shape,))
        lhs, rhs = lhs * w[:, None], rhs * (w[:, None] if y.ndim == 2 else w)
    rcond = x.size * _dtypes.limits(x.dtype).epsilon if rcond is None else rcond
    scale = op("norm_p")(lhs, (0,), False, 2.0)
    scale = op("where")(scale == 0, 1.0, scale)
    found, residuals, rank, values = lstsq(lhs / scale, rhs, rcond)
    found = found / (scale[:, None] if y.ndim == 2 else scale)
    if len(powers) < powers[-1] + 1:
        spread = op("zeros")((powers[-1] + 1,) + found.shape[1:], found.dtype.number)
        spread[asarray(powers)] = found
        found = spread
    return (found, [residuals, rank, values, rcond]) if full else found


def polycompanion(c):
    """The companion matrix, whose eigenvalues are the roots. Errors: ValueError for less than two coefficients.

    >>> np.polynomial.polynomial.polycompanion([6, -5, 1])
    array([[ 0., -6.],
           [ 1.,  5.]])
    """
    c = coefficients(c, "polycompanion")
    if c.size < 2:
        raise ValueError("polycompanion: %d coefficients (Series must have maximum degree of at least 1.)" % c.size)
    matrix = op("eye")(c.size - 1, c.size - 1, -1, c.dtype.number)
    matrix[:, -1] -= c[:-1] / c[-1]
    return matrix


def polyroots(c):
    """The roots, in ascending order.

    >>> np.round(np.polynomial.polynomial.polyroots([6, -5, 1]), 8)
    array([2., 3.])
    """
    c = coefficients(c, "polyroots")
    if c.size < 2:
        return c[:0]
    from nd4c.numpy.linalg import eigvals
    found = eigvals(polycompanion(c))
    if found.dtype.kind == "c":
        return op("take_along_axis")(found, op("lexsort")(op("stack")([op("imag")(found), op("real")(found)], 0), -1), 0)
    return op("sort")(found, -1, False)


def polytrim(c, tol=0):
    """Coefficients without those up to tol at the end.

    >>> np.polynomial.polynomial.polytrim([1, 2, 0.001], tol=0.01)
    array([1., 2.])
    """
    if tol < 0:
        raise ValueError("polytrim: tol is %r (tol must be non-negative)" % tol)
    c = inexact(c, "polytrim")
    left = op("nonzero")(op("greater")(op("abs")(c), tol))[0]
    return c[:int(left[-1]) + 1] if left.size else c[:1] * 0

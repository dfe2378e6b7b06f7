"""Polynomials by their coefficients, the highest power first: poly, roots, polyval, polyfit, arithmetic. The class poly1d is in
_poly1d.py."""
from nd4c import _dtypes
from nd4c._arguments import TABLES, enum_name
from nd4c._functions.creation import arange
from nd4c._functions.dtypes import result_type
from nd4c._functions.matrices import inexact
from nd4c._functions.solving import inv, lstsq
from nd4c._functions.support import as_array, cast, op

__all__ = ["poly", "poly1d", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots"]

_FULL = enum_name("convolve", "full", TABLES["CONVOLVE_MODE"])


def coefficients(p, where):
    """The coefficients of a polynomial, a list or an array, as an array of one axis."""
    if isinstance(p, poly1d):
        return p.coeffs
    p = as_array(p, where)
    if p.ndim > 1:
        raise ValueError("%s: the coefficients have the shape %s (Polynomial must be 1d only)" % (where, p.shape))
    return p if p.ndim else op("reshape")(p, (1,))


def trimmed(p):
    """Coefficients without zeros in front; of zeros alone, the last one."""
    if not p.size:
        return op("zeros")((1,), p.dtype.number)
    if p[0] != 0:
        return p
    present = op("nonzero")(p)[0]
    return p[int(present[0]):] if present.size else p[-1:]


def _like(given, result):
    """The result as a poly1d if one of the given is one."""
    return poly1d(result) if any(isinstance(one, poly1d) for one in given) else result


def _product(a, b):
    if a.dtype.kind == b.dtype.kind == "b":
        a = cast(a, _dtypes.by_name["int8"])
    return op("convolve")(a, b, _FULL)


def poly(seq_of_zeros):
    """Coefficients of the polynomial that has these roots; of a square matrix, its characteristic polynomial.

    Shapes: (n,) or (n, n); the result (n + 1,), the first coefficient 1; without roots ().
    Dtypes: floats; complex if the roots are, unless they come in conjugate pairs.
    Errors: ValueError for other shapes.

    >>> np.poly([2, 3])
    array([ 1., -5.,  6.])
    """
    zeros = inexact(seq_of_zeros, "poly")
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.size:
        from nd4c.numpy.linalg import eigvals
        zeros = eigvals(zeros)
    elif zeros.ndim != 1:
        raise ValueError("poly: the shape is %s; input must be 1d or non-empty square 2d array" % (zeros.shape,))
    if not zeros.size:
        return op("ones")((), _dtypes.DEFAULTS[float].number)
    result = op("ones")((1,), zeros.dtype.number)
    for number in range(zeros.size):
        factor = op("concat")([op("ones")((1,), zeros.dtype.number), op("negative")(zeros[number:number + 1])], 0)
        result = _product(result, factor)
    if result.dtype.kind == "c":
        paired = op("equal")(_by_value(zeros), _by_value(op("conj")(zeros)))
        if op("all")(paired, None, False):
            result = op("copy")(op("real")(result))
    return result


def _by_value(numbers):
    """Complex numbers in the order of their real parts, then of their imaginary ones."""
    order = op("lexsort")(op("stack")([op("imag")(numbers), op("real")(numbers)], 0), -1)
    return op("take_along_axis")(numbers, order, 0)


def roots(p):
    """Roots of a polynomial: eigenvalues of its companion matrix.

    Shapes: (n + 1,) coefficients, the highest power first; the result has as many elements as the degree.
    Dtypes: float64, or complex if a root is. Errors: ValueError for arrays of more axes.

    >>> np.round(np.sort(np.roots([1, -5, 6])), 8)
    array([2., 3.])
    """
    p = coefficients(p, "roots")
    present = op("nonzero")(p)[0] if p.size else p
    if not present.size:
        return op("zeros")((0,), _dtypes.DEFAULTS[float].number)
    first, last = int(present[0]), int(present[-1])
    at_zero = p.size - last - 1
    p = inexact(p[first:last + 1], "roots")
    degree = p.size - 1
    if degree:
        from nd4c.numpy.linalg import eigvals
        companion = op("eye")(degree, degree, -1, p.dtype.number)
        companion[0] = op("divide")(op("negative")(p[1:]), p[0])
        found = eigvals(companion)
    else:
        found = p[:0]
    return op("concat")([found, op("zeros")((at_zero,), found.dtype.number)], 0)


def polyval(p, x):
    """Values of a polynomial at x, by Horner's rule; of a polynomial x, the composed polynomial.

    Shapes: p (n + 1,), the highest power first; x any, as the result. Dtypes: the common dtype.
    Errors: TypeError for texts.

    >>> np.polyval([1, 0, 3], [1, 2])
    array([4, 7])
    """
    p = coefficients(p, "polyval")
    composed = isinstance(x, poly1d)
    if not composed:
        x = as_array(x, "polyval")
        if x.ndim and p.size and x.dtype.kind == "f" and result_type(x, p) == x.dtype:
            return _horner(p, x)
        result = op("zeros_like")(x, 0)
    else:
        result = poly1d(op("zeros")((1,), p.dtype.number))
    for number in range(p.size):
        result = result * x + p[number]
    return result


def _horner(p, x):
    """The same where all results have x's dtype, each in the place of the one before. NaN and infinities count at once."""
    result = op("multiply")(x, 0.0)
    result += p[0]
    for number in range(1, p.size):
        result *= x
        result += p[number]
    return result


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial of degree deg that fits points best, by least squares.

    w: weights of the y. rcond: singular values up to it (relative to the largest) count as 0; None: len(x) times epsilon.
    Shapes: x (m,), y (m,) or (m, k); coefficients (deg + 1,) or (deg + 1, k), the highest power first. Result: the
    coefficients; with full a tuple (coefficients, residuals, rank, singular values, rcond); with cov a tuple
    (coefficients, their covariance), cov="unscaled" without the factor of the residuals.
    Dtypes: numbers; the result is float64 or complex128.
    Errors: TypeError for other shapes; ValueError if deg is negative, or there are too few points for cov.

    >>> np.round(np.polyfit([0, 1, 2], [1, 3, 5], 1), 8)
    array([2., 1.])
    """
    x, y, order = inexact(x, "polyfit"), inexact(y, "polyfit"), int(deg) + 1
    if order < 1:
        raise ValueError("polyfit: deg is %d (expected deg >= 0)" % deg)
    if x.ndim != 1 or not x.size:
        raise TypeError("polyfit: x has the shape %s (expected 1D vector for x, non-empty)" % (x.shape,))
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError("polyfit: y has the shape %s for %d points (expected x and y to have same length, y 1D or 2D array)"
                        % (y.shape, x.size))
    if rcond is None:
        rcond = x.size * _dtypes.limits(x.dtype).epsilon
    powers = op("power")(x[:, None], arange(order - 1, -1, -1))
    if w is not None:
        w = inexact(w, "polyfit")
        if w.ndim != 1 or w.shape[0] != x.shape[0]:
            raise TypeError("polyfit: w has the shape %s (expected a 1-d array for weights, of the length %d)"
                            % (w.shape, x.size))
        powers, y = powers * w[:, None], y * (w[:, None] if y.ndim == 2 else w)
    scale = op("sqrt")(op("sum")(op("square")(powers), (0,), False, 0))
    powers = powers / scale
    solution, residuals, rank, values = lstsq(powers, y, rcond)
    solution = solution / (scale[:, None] if y.ndim == 2 else scale)
    if full:
        return solution, residuals, rank, values, rcond
    return (solution, _covariance(powers, scale, residuals, x.size, order, y.ndim, cov)) if cov else solution


def _covariance(powers, scale, residuals, count, order, ndim, cov):
    base = inv(op("matmul")(op("matrix_transpose")(powers), powers)) / op("multiply")(scale[:, None], scale)
    if cov == "unscaled":
        factor = 1
    elif count <= order:
        raise ValueError("polyfit: %d points are too few to scale the covariance of %d coefficients (the number of data points "
                         "must exceed order to scale the covariance matrix)" % (count, order))
    else:
        factor = residuals / (count - order)
    return base * factor if ndim == 1 else base[:, :, None] * factor


def _added(name, operation, a1, a2):
    first, second = coefficients(a1, name), coefficients(a2, name)
    missing = first.size - second.size
    if missing > 0:
        second = op("concat")([op("zeros")((missing,), second.dtype.number), second], 0)
    elif missing < 0:
        first = op("concat")([op("zeros")((-missing,), first.dtype.number), first], 0)
    return _like((a1, a2), op(operation)(first, second))


def polyadd(a1, a2):
    """Sum of two polynomials.

    Shapes: coefficients, the highest power first; a poly1d among them makes the result one.
    Dtypes: numbers; the result has the one that they promote to.
    Errors: TypeError for texts.

    >>> np.polyadd([1, 2], [9, 5, 4])
    array([9, 6, 6])
    """
    return _added("polyadd", "add", a1, a2)


def polysub(a1, a2):
    """Difference of two polynomials.

    Shapes: coefficients, the highest power first; a poly1d among them makes the result one.
    Dtypes: numbers; the result has the one that they promote to.
    Errors: TypeError for texts.

    >>> np.polysub([2, 10, -2], [3, 10, -4])
    array([-1,  0,  2])
    """
    return _added("polysub", "subtract", a1, a2)


def polymul(a1, a2):
    """Product of two polynomials; zeros in front of their coefficients are left out.

    Shapes: coefficients, the highest power first; a poly1d among them makes the result one.
    Dtypes: numbers; the result has the one that they promote to.
    Errors: TypeError for texts.

    >>> np.polymul([1, 2], [1, 3])
    array([1, 5, 6])
    """
    first, second = (trimmed(coefficients(one, "polymul")) for one in (a1, a2))
    return _like((a1, a2), _product(first, second))


def polydiv(u, v):
    """Quotient and remainder of two polynomials: a tuple.

    Shapes: coefficients, the highest power first; a poly1d among them makes both results one. Dtypes: floats.
    Errors: TypeError for texts.

    >>> np.polydiv([3, 5, 2], [2, 1])
    (array([1.5 , 1.75]), array([0.25]))
    """
    first, second = inexact(coefficients(u, "polydiv"), "polydiv"), inexact(coefficients(v, "polydiv"), "polydiv")
    dtype = _dtypes.promote(first.dtype, second.dtype)
    rest, second = op("copy")(cast(first, dtype)), cast(second, dtype)
    steps = rest.size - second.size + 1
    quotient = op("zeros")((max(steps, 1),), dtype.number)
    for number in range(steps):
        factor = rest[number] / second[0]
        quotient[number] = factor
        rest[number:number + second.size] -= factor * second
    left = op("nonzero")(op("greater")(op("abs")(rest), 1e-8))[0]
    rest = rest[int(left[0]):] if left.size else rest[-1:]
    return _like((u, v), quotient), _like((u, v), rest)


_MOST = 1 << 16  # integrals: each adds a coefficient


def polyint(p, m=1, k=None):
    """The m-th integral of a polynomial; k its constants, the first integral's first (None: zeros).

    Shapes: coefficients, the highest power first; of a poly1d a poly1d. Dtypes: floats.
    Errors: ValueError if m is negative or beyond 65,536, or k has less than m numbers, but not one.

    >>> np.polyint([2, 3])
    array([1., 3., 0.])
    """
    m = int(m)
    if m < 0:
        raise ValueError("polyint: m is %d (order of integral must be positive, see polyder)" % m)
    if m > _MOST:
        raise ValueError("polyint: m is %d; at most %d integrals are made at once" % (m, _MOST))
    k = op("zeros")((m,), _dtypes.DEFAULTS[float].number) if k is None else coefficients(k, "polyint: k")
    if k.size == 1 and m > 1:
        k = op("broadcast_to")(k, (m,))
    if k.size < m:
        raise ValueError("polyint: k has %d numbers; k must be a scalar or a rank-1 array of length 1 or >m=%d" % (k.size, m))
    y = coefficients(p, "polyint")
    for number in range(m):
        divided = inexact(y, "polyint") / arange(y.size, 0, -1)
        y = op("concat")([divided, cast(k[number:number + 1], _dtypes.promote(divided.dtype, k.dtype))], 0)
    return _like((p,), y)


def polyder(p, m=1):
    """The m-th derivative of a polynomial.

    Shapes: coefficients, the highest power first; of a poly1d a poly1d. Dtypes: as p.
    Errors: ValueError if m is negative.

    >>> np.polyder([1, 1, 1, 1])
    array([3, 2, 1])
    """
    m = int(m)
    if m < 0:
        raise ValueError("polyder: m is %d (order of derivative must be positive, see polyint)" % m)
    y = coefficients(p, "polyder")
    for _ in range(min(m, y.size)):
        y = y[:-1] * arange(y.size - 1, 0, -1)
    return _like((p,), y)


def is_number(x):
    """Whether x is a number, or an array without axes."""
    return isinstance(x, (int, float, complex)) or (hasattr(x, "dtype") and not getattr(x, "ndim", 1))


from nd4c.numpy._poly1d import poly1d  # noqa: E402 (the class is made of the functions above, which return it)

"""Equations of matrices: inverses, solutions, determinants, ranks, powers. Functions of nd4c.linalg."""
import builtins as _builtins
from collections import namedtuple
from math import prod as _prod_of
from operator import index as _index

from nd4c import _dtypes
from nd4c._functions.decompositions import svd
from nd4c._functions.matrices import LinAlgError, MatrixShapeError, computed, inexact, matrices
from nd4c._functions.products import dot, matmul
from nd4c._functions.support import as_array, finish, normalize_axes, op

SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")


def inv(a):
    """Inverse of square matrices.

    Shapes: a (..., n, n), as the result. Dtypes: floats and complex numbers; integers and bools count as float64.
    Errors: LinAlgError if a matrix is singular or not square.

    >>> nd4c.linalg.inv([[2, 0], [0, 4]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return computed("inv", matrices(a, "inv"))


def solve(a, b):
    """The x with a x = b.

    Shapes: a (..., n, n); b a vector (n,), or matrices (..., n, k); the result as b, stacked as both.
    Dtypes: the common dtype of both; integers and bools count as float64.
    Errors: LinAlgError if a matrix is singular or not square; ValueError if the shapes do not fit.

    >>> nd4c.linalg.solve([[2, 0], [0, 4]], [1, 2])
    array([0.5, 0.5])
    """
    return computed("solve", matrices(a, "solve"), inexact(b, "solve"))


def det(a):
    """Determinant of square matrices.

    Shapes: a (..., n, n); the result (...). Dtypes: floats and complex numbers; integers and bools count as float64.
    Errors: LinAlgError if the matrices are not square.

    >>> nd4c.linalg.det([[2, 1], [0, 4]])
    array(8.)
    """
    return computed("det", matrices(a, "det"))


def slogdet(a):
    """Sign of the determinant and the logarithm of its modulus: a namedtuple (sign, logabsdet).

    Shapes: a (..., n, n); both results (...). Dtypes: sign as a, logabsdet real; integers and bools count as float64.
    Errors: LinAlgError if the matrices are not square.

    >>> nd4c.linalg.slogdet([[0, 1], [1, 0]])
    SlogdetResult(sign=array(-1.), logabsdet=array(0.))
    """
    return SlogdetResult(*computed("slogdet", matrices(a, "slogdet")))


def matrix_power(a, n):
    """Square matrices multiplied with themselves n times; negative n: their inverse.

    Shapes: a (..., n, n), as the result. Dtypes: that of a; of integers with negative n float64.
    Errors: TypeError if n is no integer; LinAlgError if a matrix is not square, or singular and n negative.

    >>> nd4c.linalg.matrix_power([[1, 1], [0, 1]], 5)
    array([[1, 5],
           [0, 1]])
    """
    a = as_array(a, "matrix_power")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise MatrixShapeError("matrix_power: expected square matrices, got the shape %s" % (a.shape,))
    try:
        n = _index(n)
    except TypeError:
        raise TypeError("matrix_power: n is %r; expected an integer" % (n,)) from None
    if -2 ** 63 <= n < 2 ** 63 and (n < 0 or a.dtype.kind in "fc"):
        return computed("matrix_power", inexact(a, "matrix_power"), n)
    return _squared(a, n) if n >= 0 else _squared(inv(a), -n)


def _squared(a, n):
    """The power by squaring, which is exact in the dtype of a and takes any n, too."""
    result = None
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    if result is None:
        identity = op("eye")(a.shape[-1], a.shape[-1], 0, a.dtype.number)
        result = op("broadcast_to")(identity, a.shape)
    return op("copy")(result)


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values are above a limit: tol, or rtol times the largest one.

    Without tol and rtol, rtol is max(m, n) times the dtype's epsilon. hermitian: A is Hermitian, its lower triangle is read.
    Shapes: A (..., m, n); tol and rtol as the result (...), or a number. Of vectors: 1, or 0 if all elements are 0.
    Dtypes: floats and complex numbers; the result is int64.
    Errors: ValueError if both tol and rtol are given.

    >>> nd4c.linalg.matrix_rank([[1, 2], [2, 4]])
    array(1)
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: only one may be given (`tol` and `rtol` can't be both set.)")
    A = as_array(A, "matrix_rank")
    if A.ndim < 2:
        return op("cast")(op("any")(op("not_equal")(A, 0), None, False), _dtypes.DEFAULTS[int].number)
    if tol is None and not hermitian and (rtol is None or isinstance(rtol, (int, float))):
        return computed("matrix_rank", inexact(A, "matrix_rank"), -1.0 if rtol is None else float(rtol))
    values = svd(A, compute_uv=False, hermitian=hermitian)
    limit = as_array(tol, "matrix_rank")[..., None] if tol is not None else _limit(A, values, rtol, "matrix_rank")
    return op("count_nonzero")(values > limit, (-1,), False)


def _limit(a, values, rtol, where):
    """The singular value up to which one counts as 0."""
    if not values.shape[-1]:
        return op("cast")(values, values.dtype.number)
    largest = op("max")(values, (-1,), True)
    if rtol is None:
        return largest * (_builtins.max(a.shape[-2:]) * _dtypes.limits(values.dtype).epsilon)
    return largest * op("cast")(as_array(rtol, where)[..., None], values.dtype.number)


def pinv(a, rcond=None, hermitian=False, *, rtol=None):
    """Pseudo-inverse of Moore and Penrose, by singular values; those up to rtol times the largest count as 0.

    rcond is NumPy's older name of rtol; None: max(m, n) times the dtype's epsilon. hermitian: a is Hermitian.
    Shapes: a (..., m, n); the result (..., n, m); rtol a number or of the shape (...).
    Dtypes: floats and complex numbers; integers and bools count as float64. Errors: LinAlgError for less than two axes.

    >>> nd4c.linalg.pinv([[1, 0], [0, 0]])
    array([[1., 0.],
           [0., 0.]])
    """
    if rcond is not None and rtol is not None:
        raise ValueError("pinv: they are one parameter (`rtol` and `rcond` can't be both set.)")
    a, rtol = matrices(a, "pinv"), rcond if rtol is None else rtol
    if not hermitian and (rtol is None or isinstance(rtol, (int, float))):
        return computed("pinv", a, -1.0 if rtol is None else float(rtol))
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    if not s.shape[-1]:
        return op("conj")(op("matrix_transpose")(a))
    kept = s > _limit(a, s, rtol, "pinv")
    inverse = op("where")(kept, op("divide")(1.0, op("where")(kept, s, 1.0)), 0.0)
    turned = op("conj")(op("matrix_transpose")(vh))
    return matmul(op("multiply")(turned, inverse[..., None, :]), op("conj")(op("matrix_transpose")(u)))


def lstsq(a, b, rcond=None):
    """Solution of least squares: a tuple (x, residuals, rank, singular values), x of least length with |a x - b| least.

    rcond: singular values up to rcond times the largest count as 0; None: max(m, n) times epsilon; -1: epsilon.
    Shapes: a (m, n); b (m,) or (m, k); x (n,) or (n, k); residuals (k,), without elements if the rank is below n or m
    <= n.
    Dtypes: the common dtype of both; integers and bools count as float64.
    Errors: LinAlgError for other shapes.

    >>> x, residuals, rank, values = nd4c.linalg.lstsq([[1, 0], [1, 1], [1, 2]], [1, 3, 5])
    >>> nd4c.round(x, 12)
    array([1., 2.])
    """
    a, b = matrices(a, "lstsq"), inexact(b, "lstsq")
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise MatrixShapeError("lstsq: expected a matrix and a vector or matrix, got the shapes %s and %s" % (a.shape, b.shape))
    if a.shape[0] != b.shape[0]:
        raise MatrixShapeError("lstsq: a has %d rows and b %d; expected as many (Incompatible dimensions)"
                               % (a.shape[0], b.shape[0]))
    if rcond is None:
        rcond = -1.0
    elif rcond < 0:
        rcond = _dtypes.limits(_dtypes.promote(a.dtype, b.dtype)).epsilon
    x, residuals, rank, values = computed("lstsq", a, b, float(rcond))
    if int(rank) < a.shape[1] or a.shape[0] <= a.shape[1]:
        residuals = op("reshape")(residuals, (-1,))[:0]
    return x, op("reshape")(residuals, (-1,)), rank, values


def multi_dot(arrays, *, out=None):
    """Product of two or more matrices, in an order that costs little.

    Shapes: matrices, of which the first and the last may be vectors. Dtypes: the common dtype.
    Errors: ValueError for less than two arrays; LinAlgError for arrays of other shapes.

    >>> nd4c.linalg.multi_dot([[1, 2], [[1, 0], [0, 1]], [3, 4]])
    array(11)
    """
    arrays = [as_array(array, "multi_dot") for array in arrays]
    if len(arrays) < 2:
        raise ValueError("multi_dot: expected at least two arrays, got %d" % len(arrays))
    if len(arrays) == 2:
        return dot(*arrays, out=out)
    for place, array in enumerate(arrays):
        if array.ndim != 2 and not (array.ndim == 1 and place in (0, len(arrays) - 1)):
            raise MatrixShapeError("multi_dot: array %d has the shape %s; expected a matrix" % (place, array.shape))
    return finish(op("multi_dot")(arrays), out)


def tensorsolve(a, b, axes=None):
    """The x with tensordot(a, x, x.ndim) = b.

    Shapes: a b.shape + q, as many elements in q as in b; x has the shape q. axes: axes of a that are moved to the end
    first.
    Dtypes: as solve. Errors: LinAlgError if that does not hold, or the matrix is singular.

    >>> nd4c.linalg.tensorsolve(nd4c.reshape(2 * nd4c.eye(4), (2, 2, 4)), nd4c.ones((2, 2)))
    array([0.5, 0.5, 0.5, 0.5])
    """
    a, b = inexact(a, "tensorsolve"), inexact(b, "tensorsolve")
    if axes is not None:
        moved = normalize_axes(axes, a.ndim, "tensorsolve")
        a = op("transpose")(a, tuple(axis for axis in range(a.ndim) if axis not in moved) + moved)
    shape = a.shape[b.ndim:]
    count = _prod_of(shape)
    if a.size != count * count:
        raise LinAlgError("tensorsolve: a of the shape %s is no square matrix for b of the shape %s" % (a.shape, b.shape))
    solution = solve(op("reshape")(a, (count, count)), op("reshape")(b, (-1,) if b.size else (0,)))
    return op("reshape")(solution, shape)


def tensorinv(a, ind=2):
    """The inverse of a as a map of arrays: tensordot(tensorinv(a, ind), a, ind) is the identity.

    Shapes: a p + q, with as many elements in the first ind axes p as in q; the result q + p.
    Dtypes: as inv. Errors: ValueError if ind is not positive; LinAlgError if that does not hold or a is singular.

    >>> nd4c.linalg.tensorinv(nd4c.reshape(2 * nd4c.eye(4), (4, 2, 2)), ind=1).shape
    (2, 2, 4)
    """
    a = inexact(a, "tensorinv")
    if ind <= 0:
        raise ValueError("tensorinv: ind is %d; it counts axes, at least 1" % ind)
    count = _prod_of(a.shape[ind:])
    if a.size != count * count:
        raise LinAlgError("tensorinv: a of the shape %s is no square matrix when cut at axis %d" % (a.shape, ind))
    inverse = inv(op("reshape")(a, (count, count)))
    return op("reshape")(inverse, a.shape[ind:] + a.shape[:ind])

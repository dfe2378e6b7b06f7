"""Linear algebra: the Array API standard's extension linalg with NumPy's whole numpy.linalg.

The functions stand by subject in _functions/decompositions.py, _functions/solving.py, _functions/norms.py and _functions/products.py; here are those whose meaning
differs from that of the function of the same name in the main namespace."""
from nd4c._functions.decompositions import (
    EighResult, EigResult, QRResult, SVDResult, cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals)
from nd4c._functions.matrices import LinAlgError, MatrixShapeError, SingularMatrixError
from nd4c._functions.norms import cond, matrix_norm, norm, vector_norm
from nd4c._functions.products import matmul, matrix_transpose, tensordot, vecdot
from nd4c._functions.reductions import sum as _sum
from nd4c._functions.solving import (
    SlogdetResult, det, inv, lstsq, matrix_power, matrix_rank, multi_dot, pinv, slogdet, solve, tensorinv, tensorsolve)
from nd4c._functions.support import as_array as _as_array, normalize_axis as _normalize_axis, op as _op


def cross(x1, x2, /, *, axis=-1):
    """Vector product of the 3-vectors along an axis. nd4c.numpy.cross takes 2-vectors, too.

    Shapes: x1 and x2 of 3 elements along axis; the other axes are broadcast. Dtypes: the common dtype.
    Errors: ValueError for another number of elements.

    >>> nd4c.linalg.cross(nd4c.asarray([1, 0, 0]), nd4c.asarray([0, 1, 0]))
    array([0, 0, 1])
    """
    x1, x2 = _as_array(x1, "cross"), _as_array(x2, "cross")
    for x in (x1, x2):
        if x.ndim and x.shape[_normalize_axis(axis, x.ndim, "cross")] != 3:
            raise ValueError("cross: an array has the shape %s, %d elements along axis %d (both input arrays must be (arrays of) "
                             "3-dimensional vectors)" % (x.shape, x.shape[axis], axis))
    return _op("cross")(x1, x2, axis)


def diagonal(x, /, *, offset=0):
    """Diagonals of the matrices of the last two axes, a view. nd4c.numpy.diagonal takes the first two.

    Shapes: x (..., m, n); the result (..., k). offset: above (positive) or below the main diagonal.
    Dtypes: all; the result has the same.
    Errors: ValueError for less than two axes.

    >>> nd4c.linalg.diagonal(nd4c.asarray([[1, 2], [3, 4]]))
    array([1, 4])
    """
    return _op("diagonal")(_as_array(x, "diagonal"), offset, -2, -1)


def outer(x1, x2, /):
    """All products of the elements of two vectors: x1[i] x2[j]. nd4c.numpy.outer flattens arrays.

    Shapes: x1 (m,), x2 (n,); the result (m, n). Dtypes: the common dtype. Errors: ValueError for other arrays than
    vectors.

    >>> nd4c.linalg.outer(nd4c.asarray([1, 2]), nd4c.asarray([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    x1, x2 = _as_array(x1, "outer"), _as_array(x2, "outer")
    for x in (x1, x2):
        if x.ndim != 1:
            raise ValueError("outer: expected vectors, got an array of the shape %s" % (x.shape,))
    operation = "logical_and" if x1.dtype.kind == x2.dtype.kind == "b" else "multiply"
    return _op(operation)(_op("reshape")(x1, x1.shape + (1,)), x2)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of the diagonals of the last two axes. nd4c.numpy.trace takes the first two.

    Shapes: x (..., m, n); the result (...). Dtypes: as nd4c.sum: bools and small integers sum as (u)int64.
    Errors: ValueError for less than two axes.

    >>> nd4c.linalg.trace(nd4c.asarray([[1, 2], [3, 4]]))
    array(5)
    """
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq",
           "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv",
           "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
           "vector_norm"]


def __getattr__(name):
    """The text about a name that the module lacks."""
    from nd4c._suggestions import MissingAttribute
    raise MissingAttribute(__name__, name)

"""numpy.linalg over nd4c's arrays: nd4c.linalg, but for eig and eigvals, whose results are real where NumPy's are."""
from nd4c.linalg import (
    EighResult, EigResult, LinAlgError, QRResult, SlogdetResult, SVDResult, cholesky, cond, cross, det, diagonal, eigh, eigvalsh,
    inv, lstsq, matmul, matrix_norm, matrix_power, matrix_rank, matrix_transpose, multi_dot, norm, outer, pinv, qr, slogdet,
    solve, svd, svdvals, tensordot, tensorinv, tensorsolve, trace, vecdot, vector_norm)
from nd4c.linalg import __all__ as __all__
from nd4c._functions import decompositions as _decompositions
from nd4c._functions.matrices import matrices as _matrices, no_infinities as _no_infinities
from nd4c._functions.support import op as _op


def eig(a):
    """Eigenvalues and right eigenvectors of general matrices: a namedtuple (eigenvalues, eigenvectors).

    Shapes: a (..., n, n); values (..., n); vectors (..., n, n), each column one of length 1.
    Dtypes: the results are real if a is real and all eigenvalues are; else complex. nd4c.linalg.eig's are always complex.
    Errors: LinAlgError if the matrices are not square, or hold infinities or NaN.

    >>> np.linalg.eig([[2, 0], [0, 3]]).eigenvalues
    array([2., 3.])
    """
    a = _no_infinities(_matrices(a, "eig"), "eig")
    values, vectors = _decompositions.eig(a)
    if a.dtype.kind == "f" and _is_real(values):
        values, vectors = _op("copy")(_op("real")(values)), _op("copy")(_op("real")(vectors))
    return EigResult(values, vectors)


def eigvals(a):
    """Eigenvalues of general matrices, in no particular order.

    Shapes: a (..., n, n); the result (..., n).
    Dtypes: real if a is real and all eigenvalues are; else complex. That of nd4c.linalg.eigvals is always complex.
    Errors: LinAlgError if the matrices are not square, or hold infinities or NaN.

    >>> np.linalg.eigvals([[2, 0], [0, 3]])
    array([2., 3.])
    """
    a = _no_infinities(_matrices(a, "eigvals"), "eigvals")
    values = _decompositions.eigvals(a)
    return _op("copy")(_op("real")(values)) if a.dtype.kind == "f" and _is_real(values) else values


def _is_real(values):
    return not _op("any")(_op("not_equal")(_op("imag")(values), 0), None, False)

"""Factors and eigenvalues of matrices: functions of nd4c.linalg."""
from collections import namedtuple

from nd4c._functions.matrices import computed, is_upper, matrices
from nd4c._functions.support import op

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SVDResult = namedtuple("SVDResult", "U S Vh")


def cholesky(a, /, *, upper=False):
    """The triangular factor L with L L^H = a, or U with U^H U = a.

    Shapes: a (..., n, n), Hermitian; only one triangle is read, the lower one, or the upper one with upper=True.
    Dtypes: floats and complex numbers; integers and bools count as float64.
    Errors: LinAlgError if a matrix is not positive definite or not square.

    >>> nd4c.linalg.cholesky(nd4c.asarray([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    return computed("cholesky", matrices(a, "cholesky"), bool(upper))


def eig(a):
    """Eigenvalues and right eigenvectors of general matrices: a namedtuple (eigenvalues, eigenvectors).

    Shapes: a (..., n, n); values (..., n); vectors (..., n, n), each column one of length 1.
    Dtypes: the results are complex, as the Array API standard asks; those of nd4c.numpy.linalg.eig are real where
    all imaginary parts are 0.
    Errors: LinAlgError if the matrices are not square.

    >>> values, vectors = nd4c.linalg.eig(nd4c.asarray([[2.0, 0.0], [0.0, 3.0]]))
    >>> nd4c.real(values)
    array([2., 3.])
    """
    return EigResult(*computed("eig", matrices(a, "eig")))


def eigvals(a):
    """Eigenvalues of general matrices, in no particular order.

    Shapes: a (..., n, n); the result (..., n).
    Dtypes: the result is complex; that of nd4c.numpy.linalg.eigvals is real where all imaginary parts are 0.
    Errors: LinAlgError if the matrices are not square.

    >>> nd4c.linalg.eigvals(nd4c.asarray([[0.0, -1.0], [1.0, 0.0]]))
    array([0.+1.j, 0.-1.j])
    """
    return computed("eigvals", matrices(a, "eigvals"))


def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices: a namedtuple (eigenvalues, eigenvectors), values ascending.

    Shapes: a (..., n, n), of which one triangle is read, UPLO "L" or "U"; values (..., n); vectors (..., n, n), a column each.
    Dtypes: values are real; integers and bools count as float64.
    Errors: LinAlgError if the matrices are not square; ValueError for another UPLO.

    >>> nd4c.linalg.eigh(nd4c.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    return EighResult(*computed("eigh", matrices(a, "eigh"), is_upper(UPLO, "eigh")))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of Hermitian matrices, ascending.

    Shapes: a (..., n, n), of which one triangle is read, UPLO "L" or "U"; the result (..., n).
    Dtypes: the result is real; integers and bools count as float64.
    Errors: LinAlgError if the matrices are not square; ValueError for another UPLO.

    >>> nd4c.linalg.eigvalsh([[2, 1], [1, 2]])
    array([1., 3.])
    """
    return computed("eigvalsh", matrices(a, "eigvalsh"), is_upper(UPLO, "eigvalsh"))


def qr(a, mode="reduced"):
    """Orthonormal and upper triangular factors: a namedtuple (Q, R), or R alone.

    mode: "reduced" (Q has min(m, n) columns), "complete" (Q is square) or "r" (only R, of "reduced").
    Shapes: a (..., m, n). Dtypes: floats and complex numbers; integers and bools count as float64.
    Errors: ValueError for other modes ("raw", LAPACK's own form, among them); LinAlgError for less than two axes.

    >>> q, r = nd4c.linalg.qr(nd4c.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> nd4c.round(nd4c.matmul(q, r), 12)
    array([[3., 1.],
           [4., 2.]])
    """
    mode = _QR_SYNONYMS.get(mode, mode)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError("qr: mode is %r; it may be 'reduced', 'complete' or 'r'" % (mode,))
    factors = computed("qr", matrices(a, "qr"), mode == "complete")
    return factors[1] if mode == "r" else QRResult(*factors)


_QR_SYNONYMS = {"full": "reduced", "f": "reduced"}


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular value decomposition a = U diag(S) Vh: a namedtuple (U, S, Vh), S descending; S alone without compute_uv.

    Shapes: a (..., m, n); S (..., k) with k = min(m, n); U (..., m, m) and Vh (..., n, n), or k columns and k rows
    with full_matrices=False. hermitian: a is Hermitian, of which the lower triangle is read.
    Dtypes: S is real; integers and bools count as float64.
    Errors: LinAlgError for less than two axes.

    >>> nd4c.linalg.svd(nd4c.asarray([[0.0, 2.0], [1.0, 0.0]])).S
    array([2., 1.])
    """
    a = matrices(a, "svd")
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    if not compute_uv:
        return computed("svdvals", a)
    return SVDResult(*computed("svd", a, bool(full_matrices)))


def _hermitian_svd(a, compute_uv):
    """By eigenvalues: the singular values are their moduli, and a sign goes to V."""
    values, vectors = eigh(a)
    moduli = op("abs")(values)
    order = op("argsort")(moduli, -1, True)
    moduli = op("take_along_axis")(moduli, order, -1)
    if not compute_uv:
        return moduli
    signs = op("sign")(op("take_along_axis")(values, order, -1))
    signs = op("where")(signs == 0, 1, signs)
    vectors = op("take_along_axis")(vectors, order[..., None, :], -1)
    signed = op("multiply")(vectors, signs[..., None, :])
    return SVDResult(vectors, moduli, op("conj")(op("matrix_transpose")(signed)))


def svdvals(x, /):
    """Singular values of matrices, descending.

    Shapes: x (..., m, n); the result (..., min(m, n)). Dtypes: the result is real; integers and bools count as float64.
    Errors: LinAlgError for less than two axes.

    >>> nd4c.linalg.svdvals([[0, 2], [1, 0]])
    array([2., 1.])
    """
    return computed("svdvals", matrices(x, "svdvals"))

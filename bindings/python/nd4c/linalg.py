"""The Array API standard's linear algebra, and further functions from the op table."""
from collections import namedtuple

from nd4c._arguments import TABLES as _TABLES, axes as _axes, enum_name as _enum_name
from nd4c._creation import asarray
from nd4c._dtype_functions import astype
from nd4c._products import matmul, matrix_transpose, tensordot, vecdot
from nd4c._reductions import sum
from nd4c._support import array as _array, define_in as _define_in, one as _one, op as _op, two as _two

EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")

_define_in(globals(), "det eigvals inv svdvals", _one, "x")
_define_in(globals(), "solve", _two, "x1, x2")


def cholesky(x, /, *, upper=False):
    """The triangular matrix L with L L^H = x, or U with U^H U = x."""
    return _op("cholesky")(x, upper)


def cross(x1, x2, /, *, axis=-1):
    """Vector product of the 3-vectors along an axis."""
    return _op("cross")(x1, x2, axis)


def diagonal(x, /, *, offset=0):
    """Diagonals of the matrices of the last two axes."""
    return _op("diagonal")(x, offset, -2, -1)


def eig(x, /):
    """Eigenvalues and eigenvectors of general matrices."""
    return EigResult(*_op("eig")(x))


def eigh(x, /):
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    return EighResult(*_op("eigh")(x, False))


def eigvalsh(x, /):
    """Eigenvalues of Hermitian matrices."""
    return _op("eigvalsh")(x, False)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norm of the matrices of the last two axes: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."""
    return _op("matrix_norm")(x, _enum_name("matrix_norm: ord", str(ord), _TABLES["MATRIX_NORM_ORDER"]), keepdims)


def matrix_power(x, n, /):
    """x multiplied with itself n times; negative n: of its inverse."""
    return _op("matrix_power")(x, n)


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are above rtol times the largest."""
    if rtol is None or isinstance(rtol, (int, float)):
        return _op("matrix_rank")(x, -1.0 if rtol is None else float(rtol))
    values = svdvals(x)
    from nd4c._reductions import max
    from nd4c._sorting import count_nonzero
    limit = max(values, axis=-1, keepdims=True) * asarray(rtol)[..., None]
    return count_nonzero(values > limit, axis=-1)


def outer(x1, x2, /):
    """All products of the elements of two vectors: x1[i] x2[j]."""
    for x in (x1, x2):
        if _array(x, "outer").ndim != 1:
            raise ValueError("outer: expected vectors, got an array of the shape %s" % (x.shape,))
    return _op("multiply")(_op("reshape")(x1, x1.shape + (1,)), x2)


def pinv(x, /, *, rtol=None):
    """Pseudo-inverse; singular values up to rtol times the largest count as 0."""
    if rtol is None or isinstance(rtol, (int, float)):
        return _op("pinv")(x, -1.0 if rtol is None else float(rtol))
    from nd4c._elementwise import conj
    from nd4c._reductions import max
    from nd4c._sorting import where
    u, s, vh = svd(x, full_matrices=False)
    limit = max(s, axis=-1, keepdims=True) * asarray(rtol)[..., None]
    inverse = where(s > limit, 1.0 / where(s > limit, s, 1.0), 0.0)
    return matmul(conj(matrix_transpose(vh)) * inverse[..., None, :], conj(matrix_transpose(u)))


def qr(x, /, *, mode="reduced"):
    """Orthogonal and upper triangular factors; mode "reduced" or "complete"."""
    if mode not in ("reduced", "complete"):
        raise ValueError("qr: mode is %r; it may be 'reduced' or 'complete'" % (mode,))
    return QRResult(*_op("qr")(x, mode == "complete"))


def slogdet(x, /):
    """Sign of the determinant and the logarithm of its modulus."""
    return SlogdetResult(*_op("slogdet")(x))


def svd(x, /, *, full_matrices=True):
    """Singular value decomposition: U, S, Vh."""
    return SVDResult(*_op("svd")(x, full_matrices))


def trace(x, /, *, offset=0, dtype=None):
    """Sums of the diagonals of the last two axes."""
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norm of vectors along axes (None: of all elements)."""
    axis = _axes(axis)
    if axis == ():
        from nd4c._elementwise import abs
        return abs(x) if ord != 0 else astype(x != 0, x.dtype if x.dtype.kind == "f" else abs(x).dtype)
    return _op("norm_p")(x, axis, keepdims, float(ord))


__all__ = ["cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm",
           "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
           "tensordot", "trace", "vecdot", "vector_norm"]

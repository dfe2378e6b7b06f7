"""Norms of vectors and matrices, and condition numbers: functions of nd4c.linalg."""
from math import inf as _inf

from nd4c._arguments import TABLES as _TABLES, axes as _axes, enum_name as _enum_name
from nd4c._functions.matrices import LinAlgError, MatrixShapeError, computed, inexact, matrices
from nd4c._functions.support import normalize_axis, op


def norm(x, ord=None, axis=None, keepdims=False):
    """Norm of vectors or of matrices.

    ord of vectors: None and 2 (Euclid's), inf, -inf, 0 (how many are not 0), another number p: sum(|x|^p)^(1/p).
    ord of matrices: None and "fro", "nuc", 2, -2 (by singular values), 1, -1 (by columns), inf, -inf (by rows).
    axis: one axis for vectors, two for matrices; None takes all of x, as one vector if ord is None too.
    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: the result is real; integers and bools count as float64.
    Errors: ValueError for another ord or more axes; AxisError (IndexError) for axes that x lacks.

    >>> nd4c.linalg.norm([3, 4])
    array(5.)
    >>> nd4c.linalg.norm([[1, -2], [3, 4]], ord=1)
    array(6.)
    """
    x = inexact(x, "norm")
    if axis is None and (ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1)):
        return op("norm_p")(x, None, bool(keepdims), 2.0)
    if axis is None:
        axis = tuple(range(x.ndim))
    places = tuple(normalize_axis(one, x.ndim, "norm") for one in _axes(axis))
    if len(places) == 1:
        if isinstance(ord, str):
            raise ValueError("norm: ord is %r, which is for matrices; for vectors it is a number" % (ord,))
        return op("norm_p")(x, places, bool(keepdims), 2.0 if ord is None else float(ord))
    if len(places) != 2:
        raise ValueError("norm: %d axes are given; vectors have one, matrices two" % len(places))
    if places[0] == places[1]:
        raise ValueError("norm: the axes (%d, %d) are one axis twice" % places)
    moved = op("moveaxis")(x, places, (-2, -1)) if places != (x.ndim - 2, x.ndim - 1) else x
    result = op("matrix_norm")(moved, _order("norm", "fro" if ord is None else ord), False)
    return op("expand_dims")(result, tuple(sorted(places))) if keepdims else result


def _order(where, ord):
    """A matrix norm's number in the C library."""
    text = {"f": "fro"}.get(ord, ord) if isinstance(ord, str) else "%g" % ord
    return _enum_name(where + ": ord", text, _TABLES["MATRIX_NORM_ORDER"])


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norm of the matrices of the last two axes: ord "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    Shapes: x (..., m, n); the result (...), with keepdims (..., 1, 1).
    Dtypes: the result is real; integers and bools count as float64.
    Errors: ValueError for another ord; LinAlgError for less than two axes.

    >>> nd4c.linalg.matrix_norm([[3, 0], [0, 4]])
    array(5.)
    """
    return op("matrix_norm")(matrices(x, "matrix_norm"), _order("matrix_norm", "fro" if ord is None else ord), bool(keepdims))


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norm of vectors along axes; None: of all elements.

    ord: 2, 1, inf, -inf, 0 (how many are not 0), another number p: sum(|x|^p)^(1/p).
    Shapes: any; the result without the axes, or with length 1 if keepdims.
    Dtypes: the result is real; integers and bools count as float64.
    Errors: IndexError for axes that x lacks.

    >>> nd4c.linalg.vector_norm([[3, 4], [6, 8]], axis=1)
    array([ 5., 10.])
    """
    x, axis = inexact(x, "vector_norm"), _axes(axis)
    if axis == ():
        return op("abs")(x) if ord != 0 else op("cast")(x != 0, op("abs")(x[:0] if x.ndim else x).dtype.number)
    return op("norm_p")(x, axis, bool(keepdims), 2.0 if ord is None else float(ord))


def cond(x, p=None):
    """Condition number: norm of a matrix times norm of its inverse; inf for singular ones.

    p: an order of norms of matrices; None and 2: by singular values.
    Shapes: x (..., m, n), square for all p but None, 2 and -2; the result (...).
    Dtypes: the result is real; integers and bools count as float64.
    Errors: LinAlgError for arrays without elements and less than two axes.

    >>> nd4c.linalg.cond([[1, 0], [0, 4]])
    array(4.)
    """
    x = matrices(x, "cond")
    if 0 in x.shape[-2:]:
        raise LinAlgError("cond: matrices without elements (the shape is %s) have no condition number" % (x.shape,))
    if p is None or p == 2 or p == -2:
        values = computed("svdvals", x)
        pair = (values[..., -1], values[..., 0]) if p == -2 else (values[..., 0], values[..., -1])
        result = op("divide")(*pair)
    else:
        result = _condition_by_inverse(x, p)
    unknown = op("any")(op("is_nan")(x), (-2, -1), False)
    return op("where")(op("logical_and")(op("is_nan")(result), op("logical_not")(unknown)), _inf, result)


def _condition_by_inverse(x, p):
    if x.shape[-1] != x.shape[-2]:
        raise MatrixShapeError("cond: p=%r is for square matrices, these are %d x %d" % ((p,) + x.shape[-2:]))
    # The op inv refuses a stack in which one matrix is singular: those are replaced, and their result is infinite.
    singular = op("equal")(computed("slogdet", x)[0], 0)
    identity = op("eye")(x.shape[-1], x.shape[-1], 0, x.dtype.number)
    inverse = computed("inv", op("where")(singular[..., None, None], identity, x))
    result = op("multiply")(matrix_norm(x, ord=p), matrix_norm(inverse, ord=p))
    return op("where")(singular, _inf, result)

"""What the functions of linear algebra share: arguments that are matrices, and LinAlgError."""
from nd4c import _dtypes
from nd4c._errors import classes as _classes
from nd4c._functions.support import as_array, op

_ArgumentError = next(cls for cls in _classes.values() if cls.status_name == "ARGUMENT")
_ShapeError = next(cls for cls in _classes.values() if cls.status_name == "SHAPE")


class LinAlgError(ValueError):
    """A matrix that a function of linear algebra cannot take: singular, not square, not positive definite.

    >>> try:
    ...     nd4c.linalg.inv([[1.0, 2.0], [2.0, 4.0]])
    ... except nd4c.linalg.LinAlgError:
    ...     print("singular")
    singular
    """

    __module__ = "nd4c.linalg"


class SingularMatrixError(_ArgumentError, LinAlgError):
    """A matrix that is singular or not positive definite, found by the C library."""

    __module__ = "nd4c.linalg"


class MatrixShapeError(_ShapeError, LinAlgError):
    """An array that is no matrix of the shape that is needed, found by the C library."""

    __module__ = "nd4c.linalg"


def inexact(a, where):
    """a as an array of floats or complex numbers; bools and integers become float64."""
    a = as_array(a, where)
    kind = a.dtype.kind
    if kind == "f" or kind == "c":
        return a
    if kind == "U":
        raise TypeError("%s: expected numbers, got an array of texts; nd4c.astype() reads numbers from them" % where)
    return op("cast")(a, _dtypes.DEFAULTS[float].number)


def matrices(a, where):
    """a as floats with two axes or more."""
    a = inexact(a, where)
    if a.ndim < 2:
        raise MatrixShapeError("%s: expected a matrix or a stack of matrices, got an array of the shape %s"
                               % (where, a.shape))
    return a


def computed(name, *arguments):
    """The result of an op on matrices; what it refuses as singular or by shape is also a LinAlgError."""
    try:
        return op(name)(*arguments)
    except _ShapeError as error:
        raise MatrixShapeError(str(error)) from None
    except _ArgumentError as error:
        raise SingularMatrixError(str(error)) from None


def is_upper(uplo, where):
    """Whether UPLO names the upper triangle."""
    letter = uplo.upper() if isinstance(uplo, str) else uplo
    if letter not in ("L", "U"):
        raise ValueError("%s: UPLO is %r; it may be 'L' or 'U', the triangle that is read" % (where, uplo))
    return letter == "U"


def no_infinities(a, where):
    """Refuses infinities and NaN with LinAlgError, as functions do whose iteration needs finite numbers."""
    if not op("all")(op("is_finite")(a), None, False):
        raise LinAlgError("%s: the array holds infinities or NaN" % where)
    return a

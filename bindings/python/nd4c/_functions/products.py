"""Products of matrices and of arrays over axes."""
from nd4c import _dtypes
from nd4c._arguments import axes as _axes
from nd4c._core import Array
from nd4c._functions.support import as_array as _as_array, cast as _cast, castable as _castable, finish as _finish, op as _op


class _NoValue:
    """The default of parameters that have a meaning only if they are given."""

    def __repr__(self):
        return "<no value>"


_NO_VALUE = _NoValue()
_matmul, _vecdot, _matvec, _vecmat, _multiply = (_op(name) for name in "matmul vecdot matvec vecmat multiply".split())


def matmul(x1, x2, /, out=None, *, axes=_NO_VALUE, axis=_NO_VALUE, keepdims=False, casting="same_kind", order="K",
           dtype=None, subok=True, signature=None):
    """Products of matrices, the operator @.

    Shapes: x1 (..., m, k) and x2 (..., k, n) give (..., m, n); a vector counts as a row on the left and as a column
    on the right, and its axis is left out of the result. axes: which axes of x1, x2 and the result hold the matrices.
    Dtypes: the common dtype; of two masks a mask, by "or" of "and". dtype: the one to compute in.
    Errors: ValueError if the shapes do not fit, or for arrays without axes.

    >>> nd4c.matmul(nd4c.asarray([[1, 2], [3, 4]]), nd4c.asarray([1, 1]))
    array([3, 7])
    """
    if type(x1) is Array and type(x2) is Array and out is None and dtype is None and axes is _NO_VALUE and signature is None:
        if x1.dtype.kind != "b" or x2.dtype.kind != "b":
            return _matmul(x1, x2)
    if axis is not _NO_VALUE or keepdims:
        raise TypeError("matmul: axis and keepdims are for products of vectors; axes names the axes of matrices")
    return _generalized("matmul", _matmul, (2, 2, 2), (x1, x2), out, axes, casting, dtype, signature)


def vecdot(x1, x2, /, out=None, *, axes=_NO_VALUE, axis=_NO_VALUE, keepdims=False, casting="same_kind", order="K",
           dtype=None, subok=True, signature=None):
    """Sums of conj(x1) x2 along an axis, the last one by default.

    Shapes: both of one length along axis; the other axes are broadcast; keepdims leaves the axis with length 1.
    Dtypes: the common dtype. Errors: ValueError if the lengths differ.

    >>> nd4c.vecdot(nd4c.asarray([[1, 2], [3, 4]]), nd4c.asarray([1, 1]))
    array([3, 7])
    """
    if (type(x1) is Array and type(x2) is Array and out is None and dtype is None and axes is _NO_VALUE and not keepdims
            and signature is None and not x1.dtype.kind == x2.dtype.kind == "b"):
        return _vecdot(x1, x2, -1 if axis is _NO_VALUE else axis)
    return _generalized("vecdot", lambda a, b: _vecdot(a, b, -1), (1, 1, 0), (x1, x2), out, axes, casting, dtype, signature,
                        axis, keepdims)


def matvec(x1, x2, /, out=None, *, axes=_NO_VALUE, axis=_NO_VALUE, keepdims=False, casting="same_kind", order="K",
           dtype=None, subok=True, signature=None):
    """Products of matrices with vectors.

    Shapes: x1 (..., m, n) and x2 (..., n) give (..., m). Dtypes: the common dtype.
    Errors: ValueError if the shapes do not fit.

    >>> nd4c.matvec(nd4c.asarray([[1, 2], [3, 4]]), nd4c.asarray([[1, 0], [0, 1]]))
    array([[1, 3],
           [2, 4]])
    """
    if axis is not _NO_VALUE or keepdims:
        raise TypeError("matvec: axis and keepdims are for products of vectors; axes names the axes of matrices")
    return _generalized("matvec", _matvec, (2, 1, 1), (x1, x2), out, axes, casting, dtype, signature)


def vecmat(x1, x2, /, out=None, *, axes=_NO_VALUE, axis=_NO_VALUE, keepdims=False, casting="same_kind", order="K",
           dtype=None, subok=True, signature=None):
    """Products of conjugated vectors with matrices.

    Shapes: x1 (..., m) and x2 (..., m, n) give (..., n). Dtypes: the common dtype.
    Errors: ValueError if the shapes do not fit.

    >>> nd4c.vecmat(nd4c.asarray([1, 1]), nd4c.asarray([[1, 2], [3, 4]]))
    array([4, 6])
    """
    if axis is not _NO_VALUE or keepdims:
        raise TypeError("vecmat: axis and keepdims are for products of vectors; axes names the axes of matrices")
    return _generalized("vecmat", _vecmat, (1, 2, 1), (x1, x2), out, axes, casting, dtype, signature)


def _generalized(name, call, core, operands, out, axes, casting, dtype, signature, axis=_NO_VALUE, keepdims=False):
    """A product with NumPy's keywords: `core` counts the axes of each operand and of the result that the product itself has."""
    operands = [_as_array(x, name) for x in operands]
    wanted = _wanted_dtype(name, dtype, signature)
    if wanted is not None:
        for x in operands:
            if not _castable(x.dtype, wanted, casting):
                raise TypeError("%s: cannot cast an operand of %s to %s by the rule %r" % (name, x.dtype, wanted, casting))
        operands = [_cast(x, wanted) for x in operands]
    vectors = tuple(name == "matmul" and x.ndim == 1 for x in operands)
    core = tuple(1 if vector else count for vector, count in zip(vectors, core)) + (core[2] - sum(vectors),)
    for x, count in zip(operands, core):
        if x.ndim < count or not x.ndim:
            raise ValueError("%s: an operand has the shape %s; expected at least %d axes" % (name, x.shape, max(count, 1)))
    places = _core_axes(name, axes, axis, core)
    operands = [_op("moveaxis")(x, place, tuple(range(-len(place), 0))) if place != tuple(range(-len(place), 0)) else x
                for x, place in zip(operands, places)]
    result = on_masks(call, *operands)
    if keepdims:
        result = _op("expand_dims")(result, places[0])
    elif places[2] != tuple(range(-len(places[2]), 0)):
        result = _op("moveaxis")(result, tuple(range(-len(places[2]), 0)), places[2])
    return _finish(result, out, casting, name)


def _wanted_dtype(name, dtype, signature):
    if signature is None:
        return None if dtype is None else _dtypes.of(dtype)
    if dtype is not None:
        raise TypeError("%s: dtype and signature are both given; only one may be" % name)
    if isinstance(signature, str):
        signature = signature.partition("->")[0]
    first = signature if not isinstance(signature, (str, tuple)) else next((one for one in signature if one is not None), None)
    return None if first is None else _dtypes.of(first)


def _core_axes(name, axes, axis, core):
    """For each operand and for the result, the axes that hold the vector or the matrix."""
    if axis is not _NO_VALUE:
        if axes is not _NO_VALUE:
            raise TypeError("%s: axis and axes are both given; only one may be" % name)
        return ((axis,), (axis,), ())
    if axes is _NO_VALUE:
        return tuple(tuple(range(-count, 0)) for count in core)
    if not isinstance(axes, list):
        raise TypeError("%s: axes is a list with an entry for each operand, not %s" % (name, type(axes).__name__))
    if len(axes) == 2 and not core[2]:
        axes = axes + [()]
    if len(axes) != 3:
        raise ValueError("%s: axes has %d entries; expected one for each operand and one for the result" % (name, len(axes)))
    places = tuple(_axes(one) for one in axes)
    for place, count in zip(places, core):
        if len(place) != count:
            raise ValueError("%s: axes has an entry of %d axes; expected %d" % (name, len(place), count))
    return places


def on_masks(call, *arrays):
    """call(*arrays) also for masks, which the C library's sums refuse.

    If all are masks, by counting in float32, whose sums of ones may round but never to 0: the result is a mask again. Beside
    numbers they become 0 and 1."""
    for x in arrays:
        if x.dtype.kind == "b":
            break
    else:
        return call(*arrays)
    numbers = [x.dtype for x in arrays if x.dtype.kind != "b"]
    wanted = numbers[0] if numbers else _dtypes.by_name["float32"]
    made = call(*[_cast(x, wanted) if x.dtype.kind == "b" else x for x in arrays])
    return made if numbers else _cast(made, _dtypes.DEFAULTS[bool])


def matrix_transpose(x, /):
    """The matrices of the last two axes transposed, a view.

    Shapes: x (..., m, n); the result (..., n, m). Errors: ValueError for less than two axes.
    Dtypes: all; the result has the same.

    >>> nd4c.matrix_transpose(nd4c.asarray([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    x = _as_array(x, "matrix_transpose")
    if x.ndim < 2:
        raise ValueError("matrix_transpose: the shape is %s (Input array must be at least 2-dimensional, but it is %d)"
                         % (x.shape, x.ndim))
    return _op("matrix_transpose")(x)


def tensordot(a, b, axes=2):
    """Sums of products over axes of both.

    axes: how many, the last ones of a with the first ones of b; or a pair, the axes of a and those of b.
    Shapes: the other axes of a, then those of b. Dtypes: the common dtype.
    Errors: ValueError if the extents differ, or there are fewer axes.

    >>> nd4c.tensordot(nd4c.asarray([[1, 2], [3, 4]]), nd4c.asarray([[1, 0], [0, 1]]))
    array(5)
    """
    a, b = _as_array(a, "tensordot"), _as_array(b, "tensordot")
    if hasattr(axes, "__index__"):
        axes = axes.__index__()
        if axes < 0:
            raise ValueError("tensordot: axes is %d, it counts them" % axes)
        if axes > a.ndim or axes > b.ndim:
            raise ValueError("tensordot: axes is %d; the arrays have %d and %d" % (axes, a.ndim, b.ndim))
        first, second = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        first, second = (_axes(one) for one in axes)
    if not first and not second:
        return on_masks(_op("multiply"), _op("reshape")(a, a.shape + (1,) * b.ndim), b)
    return on_masks(lambda x, y: _op("tensordot")(x, y, first, second), a, b)


def dot(a, b, out=None):
    """Product of arrays over the last axis of a and the last but one of b (its only one, if b is a vector).

    Of two vectors it is the sum of their products, of matrices the matrix product, of a number and an array all products.
    Shapes: a (..., k) and b (..., k, n) give a.shape[:-1] + b.shape[:-2] + (n,). matmul stacks instead.
    Dtypes: the common dtype; out has the result's. Errors: ValueError if the shapes do not fit.

    >>> nd4c.dot(nd4c.asarray([1, 2, 3]), nd4c.asarray([4, 5, 6]))
    array(32)
    """
    a, b = _as_array(a, "dot"), _as_array(b, "dot")
    left, right = a.ndim, b.ndim
    if not left or not right:
        result = on_masks(_multiply, a, b)
    elif a.shape[-1] != b.shape[-2 if right > 1 else 0]:
        raise ValueError("dot: the shapes %s and %s do not fit: %d and %d elements are multiplied"
                         % (a.shape, b.shape, a.shape[-1], b.shape[-2 if right > 1 else 0]))
    elif left == 1 or right < 3:
        result = on_masks(_matmul, a, b)
    else:
        result = on_masks(lambda x, y: _op("tensordot")(x, y, (left - 1,), (right - 2,)), a, b)
    if out is None:
        return result
    if type(out) is not Array or out.dtype is not result.dtype or out.shape != result.shape:
        raise ValueError("dot: out has to be an array of the result's dtype %s and shape %s" % (result.dtype, result.shape))
    return _finish(result, out)

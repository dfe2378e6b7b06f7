"""Products of arrays that only NumPy has: dot, inner, outer, kron, cross, trace. einsum is in _einsum.py."""
from nd4c import _dtypes
from nd4c._functions.products import dot, matvec, on_masks, vecmat
from nd4c._functions.reductions import sum as _sum
from nd4c._functions.support import as_array, finish, normalize_axis, op
from nd4c.numpy._einsum import einsum, einsum_path

__all__ = ["cross", "dot", "einsum", "einsum_path", "inner", "kron", "matvec", "outer", "trace", "vdot", "vecmat"]


def _flat(x, where):
    x = as_array(x, where)
    return op("reshape")(x, (x.size,))


def inner(a, b, /):
    """Sums of products over the last axes of both; if one has no axes, all products.

    Shapes: a (..., k), b (..., k); the result a.shape[:-1] + b.shape[:-1]. Dtypes: the common dtype.
    Errors: ValueError if the last axes differ.

    >>> np.inner([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return on_masks(op("inner"), as_array(a, "inner"), as_array(b, "inner"))


def outer(a, b, out=None):
    """All products of the elements of two arrays, flattened: a[i] b[j].

    Shapes: the result (a.size, b.size). Dtypes: the common dtype.
    Errors: TypeError for texts.

    >>> np.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    a, b = _flat(a, "outer"), _flat(b, "outer")
    return finish(on_masks(op("multiply"), op("reshape")(a, (a.size, 1)), b), out, where="outer")


def vdot(a, b, /):
    """Sum of conj(a) b over all elements of two arrays, flattened.

    Shapes: as many elements in both; the result has no axes. Dtypes: the common dtype.
    Errors: ValueError if the sizes differ.

    >>> np.vdot([1 + 2j, 3], [1 + 2j, 1])
    array(8.+0.j)
    """
    a, b = _flat(a, "vdot"), _flat(b, "vdot")
    if a.size != b.size:
        raise ValueError("vdot: a has %d elements and b %d; expected as many" % (a.size, b.size))
    return on_masks(lambda x, y: op("vecdot")(x, y, -1), a, b)


def kron(a, b):
    """Kronecker product: every element of a times all of b, block by block.

    Shapes: the shorter shape gets axes of length 1 in front; the extents are multiplied. Dtypes: the common dtype.
    Errors: TypeError for texts.

    >>> np.kron([1, 10], [1, 2])
    array([ 1,  2, 10, 20])
    """
    return on_masks(op("kron"), as_array(a, "kron"), as_array(b, "kron"))


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Vector product of 3-vectors; 2-vectors count as (x, y, 0), and of two of them only the third component is given.

    axisa, axisb, axisc: where the vectors lie in a, in b and in the result; axis: in all three.
    Shapes: the other axes are broadcast. Dtypes: the common dtype.
    Errors: ValueError for vectors of another length; AxisError (IndexError) for axes that the arrays lack.

    >>> np.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    >>> np.cross([1, 2], [3, 4])
    array(-2)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_array(a, "cross"), as_array(b, "cross")
    if not a.ndim or not b.ndim:
        raise ValueError("cross: expected vectors, got the shapes %s and %s" % (a.shape, b.shape))
    a = op("moveaxis")(a, (normalize_axis(axisa, a.ndim, "cross: axisa"),), (-1,))
    b = op("moveaxis")(b, (normalize_axis(axisb, b.ndim, "cross: axisb"),), (-1,))
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("cross: the vectors have %d and %d elements; expected 2 or 3" % (a.shape[-1], b.shape[-1]))
    if a.shape[-1] == b.shape[-1] == 2:
        return op("subtract")(op("multiply")(a[..., 0], b[..., 1]), op("multiply")(a[..., 1], b[..., 0]))
    result = op("cross")(_of_three(a), _of_three(b), -1)
    return op("moveaxis")(result, (-1,), (normalize_axis(axisc, result.ndim, "cross: axisc"),))


def _of_three(x):
    """2-vectors with a third component 0."""
    if x.shape[-1] == 3:
        return x
    return op("concat")([x, op("zeros_like")(x[..., :1], 0)], -1)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sums of the diagonals of two axes, the first two by default. nd4c.linalg.trace takes the last two.

    Shapes: the other axes of a. offset: above (positive) or below the main diagonal.
    Dtypes: as sum: bools and small integers sum as (u)int64. Errors: ValueError for less than two axes.

    >>> np.trace([[1, 2], [3, 4]])
    array(5)
    """
    diagonals = op("diagonal")(as_array(a, "trace"), offset, axis1, axis2)
    if dtype is None and diagonals.dtype.kind == "b":
        dtype = _dtypes.DEFAULTS[int]
    return finish(_sum(diagonals, axis=-1, dtype=dtype), out, where="trace")

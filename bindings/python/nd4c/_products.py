"""Products of matrices and of arrays over axes."""
from nd4c._arguments import axes as _axes
from nd4c._support import array as _array, define_in as _define_in, one as _one, op as _op, two as _two

_define_in(globals(), "matmul", _two, "x1, x2")
_define_in(globals(), "matrix_transpose", _one, "x")


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over axes of both: the last of x1 with the first of x2, or two lists."""
    _array(x1, "tensordot")
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError("tensordot: axes is %d, it counts them" % axes)
        if axes > x1.ndim:
            raise ValueError("tensordot: axes is %d, x1 has %d" % (axes, x1.ndim))
        first, second = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        first, second = (_axes(one) for one in axes)
    if not first and not second:
        left = _op("reshape")(x1, x1.shape + (1,) * _array(x2, "tensordot").ndim)
        return _op("multiply")(left, x2)
    return _op("tensordot")(x1, x2, first, second)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of conj(x1) x2 along an axis."""
    return _op("vecdot")(x1, x2, axis)

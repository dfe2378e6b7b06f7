"""What the operators of arrays do beyond the C library: NumPy's rules for operands that it refuses, and for lists and NumPy's
arrays as operands. And what assignment casts. The cores call the functions at the end."""
import sys

from nd4c import _dtypes
from nd4c._functions import elementwise as _elementwise, ufunc as _ufunc  # the elementwise functions make the plans
from nd4c._abi import NUMBERS
from nd4c._core import Array, calls, core
from nd4c._creation import asarray
from nd4c._functions.products import matmul
from nd4c._functions.support import as_array, cast, finish

_EQUAL, _NOT_EQUAL, _MULTIPLY, _MATMUL = (NUMBERS[name] for name in ("equal", "not_equal", "multiply", "matmul"))
_FOREIGN = ("__array_interface__", "__array__", "__dlpack__")


def _array_of(other):
    """The array of a list or of a NumPy array; None for what its own class has to combine with arrays.

    Errors: TypeError for arrays of libraries that combine with no other library's."""
    if type(other) is Array or isinstance(other, (list, tuple, range)) or type(other) in (bool, int, float, complex):
        return asarray(other)
    numpy = sys.modules.get("numpy")
    if numpy is not None and (type(other) is numpy.ndarray or isinstance(other, numpy.generic)):
        return asarray(other)
    if hasattr(other, "__array_ufunc__") or not any(hasattr(other, name) for name in _FOREIGN):
        return None
    raise TypeError("arrays are combined with arrays, lists and numbers, not with %s; nd4c.asarray() makes an array of it"
                    % type(other).__name__)


def _computed(number, a, b):
    """The result by NumPy's rules; a and b are arrays and Python's numbers."""
    plan = _ufunc.by_number.get(number)
    return (matmul(a, b) if number == _MATMUL else calls[number](a, b)) if plan is None else plan.compute([a, b])


def _incomparable(number, array, other):
    """Whether == and != have the same answer for all elements: beside None, and beside texts where no element is one."""
    return number in (_EQUAL, _NOT_EQUAL) and (other is None or (isinstance(other, (str, bytes)) and array.dtype.kind != "U"))


def mixed(number, *operands):
    """The result of an operator on operands that the C library refuses for their dtypes; None where these are no operands of
    NumPy's either. The operator @ is the only one that has no universal function."""
    if number == _MATMUL and all(type(one) is Array and one.dtype.kind == "b" for one in operands):
        return matmul(*operands)
    return _ufunc.mixed(number, *operands)


def unmixed(number, a, b):
    """The result of an operator of which one operand is neither an array nor a number that the array's dtype takes;
    NotImplemented where Python has to ask the operand's class."""
    array, other = (a, b) if type(a) is Array else (b, a)
    if _incomparable(number, array, other):
        return core.full(array.shape, float(number == _NOT_EQUAL), _dtypes.by_name["bool"], None)
    if number == _MULTIPLY and isinstance(other, (list, tuple)) and not array.ndim and array.dtype.kind in "iu":
        return other * int(array)  # [0] * x.max() repeats the list, as with NumPy's scalars
    if isinstance(other, str) and array.dtype.kind == "U":
        made = asarray(other)
    else:
        made = other if type(other) in (bool, int, float, complex) else _array_of(other)
    if made is None:
        return NotImplemented
    if array.dtype.kind == "U" or (type(made) is Array and made.dtype.kind == "U"):
        return calls[number](*((a, made) if array is a else (made, b)))
    return _computed(number, *((a, made) if array is a else (made, b)))


def in_place(number, array, other):
    """The array, into which an operator has written its result by the rule "same_kind"; NotImplemented as above."""
    if type(other) not in (bool, int, float, complex):
        other = _array_of(other)
        if other is None:
            return NotImplemented
    name = _ufunc.by_number[number].name if number in _ufunc.by_number else "matmul"
    return finish(_computed(number, array, other), array, where=name)


def assigned(array, value):
    """A value in the dtype of the array whose elements it becomes: NumPy cuts fractions off and takes numbers as bools.

    Errors: TypeError for complex numbers that would lose their imaginary parts, and for texts; ValueError for NaN as an
    integer; OverflowError for an infinity."""
    made, wanted = as_array(value, "assignment"), array.dtype
    if "U" in (made.dtype.kind, wanted.kind) or (made.dtype.kind == "c" and wanted.kind != "c"):
        raise TypeError("assignment: %s cannot become %s; %s" % (
            made.dtype, wanted, "x.real are the real parts" if made.dtype.kind == "c" else "numbers and texts do not mix"))
    if type(value) is float and wanted.kind in "iu":
        value = int(value)
        return asarray(value, dtype=wanted)
    return cast(made, wanted)


core.register(mixed=mixed, unmixed=unmixed, in_place=in_place, assigned=assigned)

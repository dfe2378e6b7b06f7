"""What the methods of a generator take: parameters of distributions, sizes, dtypes. Checks are those of NumPy's Generator."""
from collections import namedtuple
from math import copysign, inf
from operator import index

from nd4c import _dtypes
from nd4c._abi import NUMBERS as _N
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array
from nd4c._core import calls as _calls
from nd4c._creation import asarray

REAL = _dtypes.DEFAULTS[float]
WHOLE = _dtypes.DEFAULTS[int]


def op(name):
    """The callable of an op."""
    return _calls[_N[name]]


def _not_negative(value):
    if type(value) is float:
        return copysign(1.0, value) > 0 or value != value
    return op("logical_or")(op("logical_not")(op("signbit")(value)), value != value)


# A limit: what is expected, in words, and whether a number or each element of an array is so. NaN passes where the
# distribution of a NaN is NaN, as in NumPy.
Limit = namedtuple("Limit", "text holds")
ANY = Limit("a number", lambda value: True)
NOT_NEGATIVE = Limit("at least 0", _not_negative)
FINITE = Limit("a finite number of at least 0", lambda value: (value >= 0) & (value < inf))
FINITE_ABOVE = Limit("a finite number of more than 0", lambda value: (value > 0) & (value < inf))
POSITIVE = Limit("more than 0", lambda value: (value > 0) | (value != value))
PROBABILITY = Limit("0 to 1", lambda value: (value >= 0) & (value <= 1))
CHANCE = Limit("more than 0 and at most 1", lambda value: (value > 0) & (value <= 1))
BELOW_ONE = Limit("at least 0 and less than 1", lambda value: (value >= 0) & (value < 1))
ABOVE_ONE = Limit("more than 1", lambda value: value > 1)
RATE = Limit("0 to 2^53", lambda value: (value >= 0) & (value <= 2.0 ** 53))
COUNT = Limit("a whole number of 0 to 2^53", lambda value: (value >= 0) & (value <= 2.0 ** 53) & (value % 1 == 0))


def real(where, value):
    """A number as a float, anything else as an array of float64."""
    if type(value) is float:
        return value
    if type(value) is int:
        return float(value)
    if type(value) is not Array:
        try:
            value = asarray(value)
        except TypeError:
            raise TypeError("%s is %r; expected a number, an array or nested lists of numbers" % (where, value)) from None
    if value.dtype.kind not in "biuf":
        raise TypeError("%s holds %s; expected real numbers" % (where, value.dtype.name))
    if not value.ndim:
        return float(value)
    return value if value.dtype is REAL else op("cast")(value, REAL.number)


def check(where, value, limit):
    """Refuses what real() made if it is beyond a limit."""
    holds = limit.holds(value)
    if holds is True:
        return
    if holds is False:
        raise ValueError("%s is %r, expected %s" % (where, value, limit.text))
    if not op("all")(holds, None, False):
        position = int(op("argmin")(op("reshape")(op("cast")(holds, WHOLE.number), (-1,)), 0, False))
        place = []
        for extent in reversed(value.shape):
            position, rest = divmod(position, extent)
            place.insert(0, rest)
        raise ValueError("%s is %r at %s, expected %s" % (where, float(value[tuple(place)]), place, limit.text))


def size_of(where, size):
    """A size as the shape of a result; None: no axes."""
    if size is None:
        return ()
    if type(size) is int and size >= 0:
        return (size,)
    try:
        shape = tuple(map(index, _shape_of(size)))
    except TypeError:
        raise TypeError("%s: size is %r, expected an integer or several" % (where, size)) from None
    for extent in shape:
        if extent < 0:
            raise ValueError("%s: size is %r, expected no length below 0" % (where, size))
    return shape


def axis_of(where, axis, ndim):
    """An axis counted from the front."""
    place = index(axis)
    if not -ndim <= place < ndim:
        raise IndexError("%s: axis is %d, but the array has %d axes" % (where, place, ndim))
    return place % ndim


def shape_for(where, size, arrays):
    """The shape of a result: size, or None the shape to which the parameters broadcast."""
    shapes = [array.shape for array in arrays if array.ndim]
    if not shapes:
        return size_of(where, size)
    from nd4c._functions.manipulation import broadcast_shapes
    try:
        common = broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError("%s: the parameters' shapes %s do not broadcast to one" % (
            where, ", ".join(map(str, shapes)))) from None
    if size is None:
        return common
    size = size_of(where, size)
    try:
        fits = broadcast_shapes(common, size) == size
    except ValueError:
        fits = False
    if not fits:
        raise ValueError("%s: size is %s, to which the parameters' shape %s does not broadcast; leave size out to get that "
                         "shape" % (where, size, common))
    return size


def floating(where, dtype):
    """The number of the floating dtype that is asked for; None: float64."""
    if dtype is None:
        return REAL.number
    dtype = _dtypes.of(dtype)
    if dtype.kind != "f":
        raise TypeError("%s: dtype is %s, expected a floating dtype such as float32" % (where, dtype.name))
    return dtype.number


def counting(where, dtype):
    """The number of the dtype for counts; None: int64."""
    if dtype is None:
        return WHOLE.number
    dtype = _dtypes.of(dtype)
    if dtype.kind not in "iuf":
        raise TypeError("%s: dtype is %s, expected a dtype of real numbers such as int64" % (where, dtype.name))
    return dtype.number


def write(where, out, shape, dtype_given, make):
    """make(shape, dtype) into out, or as a new array where out is None. shape None: out's, or no axes."""
    if out is None:
        return make(size_of(where, shape), dtype_given)
    if type(out) is not Array:
        raise TypeError("%s: out is of %s, expected an nd4c.Array" % (where, type(out).__name__))
    if shape is not None and size_of(where, shape) != out.shape:
        raise ValueError("%s: size is %s and out has the shape %s; leave size out" % (where, size_of(where, shape), out.shape))
    if dtype_given is not None and _dtypes.of(dtype_given) is not out.dtype:
        raise TypeError("%s: dtype is %s and out is of %s; leave dtype out" % (
            where, _dtypes.of(dtype_given).name, out.dtype.name))
    out[...] = make(out.shape, out.dtype)
    return out

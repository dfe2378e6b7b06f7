"""Integers of exactly equal chances between bounds, numbers or arrays. _discrete.py uses it for Generator.integers."""
from operator import index

from nd4c import _dtypes
from nd4c._core import Array
from nd4c._creation import asarray, made_on
from nd4c.random._parameters import WHOLE, op, shape_for
from nd4c.random._stream import Draws, until_accepted

_UNSIGNED = _dtypes.by_name["uint64"]
_ALL = 2 ** 64


def _limits(dtype):
    if dtype.kind == "b":
        return 0, 1
    least = -2 ** (dtype.bits - 1) if dtype.kind == "i" else 0
    return least, least + 2 ** dtype.bits - 1


def _bound(name, value):
    """A bound as an integer or an array of integers."""
    try:
        return index(value)
    except TypeError:
        pass
    made = asarray(value)
    if made.dtype.kind == "f":
        if op("any")(made % 1 != 0, None, False):
            raise ValueError("integers: %s is %s, expected whole numbers" % (name, value))
        made = op("cast")(made, WHOLE.number)
    if made.dtype.kind not in "iub":
        raise TypeError("integers: %s holds %s, expected whole numbers" % (name, made.dtype.name))
    return made if made.ndim else int(made.item())


def integers(stream, low, high, size, dtype, endpoint, device):
    if high is None:
        low, high = 0, low
    dtype = WHOLE if dtype is None else _dtypes.of(dtype)
    if dtype.kind not in "iub":
        raise TypeError("integers: dtype is %s, expected an integer dtype or bool" % dtype.name)
    least, most = _bound("low", low), _bound("high", high)
    if type(least) is not int or type(most) is not int:
        return _between_arrays(stream, (least, low), (most, high), size, dtype, endpoint, device)
    most -= not endpoint
    if least > most:
        raise ValueError("integers: low is %d and high is %d, expected low %s high" % (
            least, most + (not endpoint), "<=" if endpoint else "<"))
    _check_limits(least, most, dtype)
    return _between(stream, least, most, shape_for("integers", size, ()), dtype, device)


def _check_limits(least, most, dtype):
    bounds = _limits(dtype)
    if least < bounds[0] or most > bounds[1]:
        raise ValueError("integers: results of %d to %d are beyond %s, which holds %d to %d" % (
            least, most, dtype.name, bounds[0], bounds[1]))


def _between(stream, least, most, shape, dtype, device):
    if dtype.kind == "b":
        drawn = stream._draw("random_integers", (shape, WHOLE.number, least, most + 1), device)
        return made_on(device, op("cast"), drawn, dtype.number)
    if most < 2 ** 63 - 1:
        return stream._draw("random_integers", (shape, dtype.number, least, most + 1), device)
    if most - least == _ALL - 1:
        return stream._draw("random_bits", (shape, dtype.number), device)
    # The op's bounds are int64: draw as many integers from -2^63 on, and move them there modulo 2^64.
    drawn = stream._draw("random_integers", (shape, WHOLE.number, -2 ** 63, most - least + 1 - 2 ** 63), device)
    moved = op("bit_cast")(drawn, _UNSIGNED.number) + (least + 2 ** 63) % _ALL
    return op("bit_cast")(moved, dtype.number)


# -- arrays of bounds: computed modulo 2^64, in uint64 -----------------------------------------------------------------

def _words(value, like):
    """An integer or an array of them as uint64, modulo 2^64, on the stream's device where it is the caller's no array."""
    if type(value) is int:
        return like(asarray(value % _ALL, dtype=_UNSIGNED))
    if value.dtype is _UNSIGNED:
        return value
    return op("bit_cast")(value if value.dtype is WHOLE else op("cast")(value, WHOLE.number), _UNSIGNED.number)


def _extremes(value):
    """The least and the largest element."""
    if type(value) is int:
        return value, value
    if not value.size:
        return 0, 0
    return int(op("min")(value, None, False)), int(op("max")(value, None, False))


def _between_arrays(stream, low, high, size, dtype, endpoint, device):
    bounds = [stream._near(value, given, device) if type(value) is Array else value for value, given in (low, high)]
    shape = shape_for("integers", size, [value for value in bounds if type(value) is Array])
    if all(type(value) is int or value.size for value in bounds):
        _check_limits(_extremes(bounds[0])[0], _extremes(bounds[1])[1] - (not endpoint), dtype)
    least, most = (_words(value, lambda made: stream._near(made, None, device)) for value in bounds)
    # Flipping the highest bit orders words as int64 does.
    flip = 0 if dtype is _UNSIGNED else 2 ** 63
    if not endpoint:
        ordered = (least ^ flip) < (most ^ flip)
        if dtype is not _UNSIGNED and dtype is WHOLE:
            ordered = ordered | (most == 2 ** 63)  # one more than the largest int64
        most = most - 1
    else:
        ordered = (least ^ flip) <= (most ^ flip)
    if not op("all")(ordered, None, False):
        raise ValueError("integers: low is not %s high everywhere; expected low %s high for each pair" % (
            ("at most", "<=") if endpoint else ("below", "<")))

    def propose(draw, least, span):
        word = draw.bits(_UNSIGNED)
        rest = op("where")(span == 0, word, word % op("maximum")(span, 1))
        # A word counts if all words of its block of `span` are below 2^64; span is 0 for 2^64.
        return least + rest, (span == 0) | (word - rest <= 0 - span)

    def make():
        drawn = until_accepted(Draws(stream, shape, device), (least, most - least + 1), propose)
        signed = drawn if dtype is _UNSIGNED else op("bit_cast")(drawn, WHOLE.number)
        return signed if signed.dtype is dtype else op("cast")(signed, dtype.number)
    return made_on(device, make)

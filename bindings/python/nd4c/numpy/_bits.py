"""Bits of integers: packed eight to a byte, and as texts."""
from operator import index as _index

from nd4c import _dtypes
from nd4c._arrays.methods import reinterpret
from nd4c._core import Array
from nd4c._creation import asarray
from nd4c._functions.sorting import flattened
from nd4c._functions.support import as_array as _as_array, cast as _cast, normalize_axis as _normalize_axis, op as _op

__all__ = ["base_repr", "binary_repr", "packbits", "unpackbits"]

_BYTE, _WORD, _PLACE = [_dtypes.by_name[_name] for _name in ("uint8", "uint64", "int32")]


def _check_order(bitorder, where):
    if bitorder not in ("big", "little"):
        raise ValueError("%s: 'order' must be either 'little' or 'big', got bitorder=%r" % (where, bitorder))


def _weights(bitorder):
    return asarray([128 >> place if bitorder == "big" else 1 << place for place in range(8)], dtype=_BYTE)


def packbits(a, /, axis=None, bitorder="big"):
    """Eight elements of an axis in the bits of a byte each, 0 as 0 and all others as 1; None: of all elements in order.

    Shapes: the axis has an eighth of its length, rounded up; the last byte is filled with zeros.
    Dtypes: bools and integers; the result is uint8. bitorder: "big" puts the first element in the highest bit.
    Errors: TypeError for other dtypes; ValueError for another bitorder or axis.

    >>> np.packbits([1, 0, 1, 0, 0, 0, 0, 1])
    array([161], dtype=uint8)
    """
    if type(a) is Array and axis is None and a.ndim == 1 and a.dtype.kind == "b" and not a.size % 8 and bitorder in _GATHERS:
        packed = _packed_words(_cast(a, _BYTE), bitorder)
        if packed is not None:
            return packed
    x = _as_array(a, "packbits")
    _check_order(bitorder, "packbits")
    if x.dtype.kind not in "biu":
        raise TypeError("packbits: expected an input array of integer or boolean data type, got %s" % x.dtype)
    if axis is None or not x.ndim:
        x, axis = flattened(x), 0
    axis = _normalize_axis(axis, x.ndim, "packbits")
    bits = _cast(x, _BYTE) if x.dtype.kind == "b" else _op("not_equal")(x, 0)  # bytes of 0 and 1 in either case
    bits = bits if axis == x.ndim - 1 else _op("moveaxis")(bits, (axis,), (-1,))
    missing = -bits.shape[-1] % 8
    if missing:
        zeros = _op("zeros")(bits.shape[:-1] + (missing,), bits.dtype.number)
        bits = _op("concat")([bits, zeros], bits.ndim - 1)
    packed = _packed_words(bits, bitorder)
    if packed is None:
        grouped = _op("reshape")(_cast(bits, _BYTE), bits.shape[:-1] + (bits.shape[-1] // 8, 8))
        packed = _op("sum")(_op("multiply")(grouped, _weights(bitorder)), (-1,), False, _BYTE.number)
    if axis == x.ndim - 1:
        return packed
    return _op("moveaxis")(packed, (-1,), (axis,))


# A word of eight bytes, each 0 or 1, times one of these has the bytes' bits in its highest byte: no two products of a
# byte and a bit of the factor meet.
_multiply, _right_shift = _op("multiply"), _op("bitwise_right_shift")
_GATHERS = {"big": 0x8040201008040201, "little": 0x0102040810204080}


def _packed_words(bits, bitorder):
    """Bytes of 0 and 1, whose last axis is a multiple of 8 long, packed as words; None where no memory can be seen as words."""
    if type(bits) is not Array or not bits.size:
        return None
    words = reinterpret(bits, _WORD)
    if words is None:  # not in C order, perhaps
        words = reinterpret(_op("copy")(bits), _WORD)
    if words is None:
        return None
    return _cast(_right_shift(_multiply(words, _GATHERS[bitorder]), 56), _BYTE)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of bytes along an axis as elements of 0 and 1; None: of all bytes in order.

    Shapes: the axis is eight times as long; count: so many of them, or without the last -count ones.
    Dtypes: uint8, of which the result is, too. bitorder: "big" gives the highest bit first.
    Errors: TypeError for other dtypes; ValueError for another bitorder or axis.

    >>> np.unpackbits(nd4c.asarray([161], dtype="uint8"))
    array([1, 0, 1, 0, 0, 0, 0, 1], dtype=uint8)
    """
    x = _as_array(a, "unpackbits")
    _check_order(bitorder, "unpackbits")
    if x.dtype is not _BYTE:
        raise TypeError("unpackbits: expected an input array of unsigned byte data type, got %s" % x.dtype)
    if axis is None or not x.ndim:
        x, axis = flattened(x), 0
    axis = _normalize_axis(axis, x.ndim, "unpackbits")
    last = x if axis == x.ndim - 1 else _op("moveaxis")(x, (axis,), (-1,))
    bits = _spread(last, bitorder)
    if bits is None:
        bits = _op("not_equal")(_op("bitwise_and")(_op("expand_dims")(last, (last.ndim,)), _weights(bitorder)), 0)
        bits = _cast(_op("reshape")(bits, last.shape[:-1] + (last.shape[-1] * 8,)), _BYTE)
    if count is not None:
        bits = _counted(bits, _index(count))
    return bits if axis == x.ndim - 1 else _op("moveaxis")(bits, (-1,), (axis,))


_TABLES = {}


def _spread(x, bitorder):
    """The bits of each byte as a word of eight bytes, from a table of all; None where no memory can be seen as bytes."""
    if type(x) is not Array or not x.size:
        return None
    table = _TABLES.get(bitorder)
    if table is None:
        places = range(8) if bitorder == "little" else range(7, -1, -1)
        words = [sum((byte >> place & 1) << 8 * at for at, place in enumerate(places)) for byte in range(256)]
        table = _TABLES[bitorder] = asarray(words, dtype=_WORD, device="cpu:0")
    return reinterpret(_op("take")(table, _cast(x, _PLACE), (0,), 0), _BYTE)


def _counted(bits, count):
    length = bits.shape[-1]
    if count < 0:
        if -count > length:
            raise ValueError("unpackbits: count=%d leaves out more than the %d bits of the axis (-ve count)" % (count, length))
        count += length
    if count > length:
        zeros = _op("zeros")(bits.shape[:-1] + (count - length,), _BYTE.number)
        return _op("concat")([bits, zeros], bits.ndim - 1)
    return bits[..., :count]


def binary_repr(num, width=None):
    """The binary digits of an integer as a text; of negative ones with a width the two's complement.

    Errors: ValueError if the width is too small; TypeError for what is no integer.

    >>> np.binary_repr(5, width=8), np.binary_repr(-3, width=4)
    ('00000101', '1101')
    """
    number = _index(num)
    if number >= 0:
        digits = format(number, "b")
        _wide_enough(digits, width)
        return digits.zfill(width or 0)
    if width is None:
        return "-" + format(-number, "b")
    needed = len(format(-number, "b"))
    if 2 ** (needed - 1) == -number:
        needed -= 1
    length = max(needed + 1, width)
    digits = format(2 ** length + number, "b")
    _wide_enough(digits, width)
    return "1" * (length - len(digits)) + digits


def _wide_enough(digits, width):
    if width is not None and len(digits) > width > 0 or (width is not None and width < 0):
        raise ValueError("binary_repr: insufficient bit width=%d provided for binwidth=%d" % (width, len(digits)))


def base_repr(number, base=2, padding=0):
    """The digits of an integer to a base from 2 to 36 as a text, with zeros before it.

    Errors: ValueError for other bases.

    >>> np.base_repr(255, 16), np.base_repr(5, padding=3)
    ('FF', '000101')
    """
    if not 2 <= base <= 36:
        raise ValueError("base_repr: bases greater than 36 or less than 2 are not handled, got %d" % base)
    value, digits = abs(int(number)), []
    while value:
        value, digit = divmod(value, base)
        digits.append("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit])
    digits.append("0" * padding)
    if number < 0:
        digits.append("-")
    return "".join(reversed(digits)) or "0"

"""Floats as decimal text: the shortest one that means the float, or with a number of digits. Used by _printing.py."""
import struct

_PACKED = {"float32": "f", "float16": "e"}


def shortest(x, dtype_name):
    """The shortest decimal that is read back as the same float of this dtype: (digits, exponent of the first digit)."""
    code = _PACKED.get(dtype_name)
    if code is None:
        return _taken(repr(abs(x)))
    for count in range(10):
        text = "%.*e" % (count, abs(x))
        try:
            if struct.unpack(code, struct.pack(code, float(text)))[0] == abs(x):
                break
        except OverflowError:  # rounded up beyond the largest float of the dtype
            continue
    return _taken(text)


def _taken(text):
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    place = len(whole) - 1 + int(exponent or 0)
    stripped = digits.lstrip("0")
    if not stripped:
        return "0", 0
    place -= len(digits) - len(stripped)
    return stripped.rstrip("0"), place


def positional(x, dtype_name="float64", precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=0,
               pad_right=0, min_digits=0):
    """A float without exponent. precision: digits after the point at most (of all digits if not fractional)."""
    digits, place = shortest(x, dtype_name)
    if place >= 0:
        whole, fraction = digits[:place + 1].ljust(place + 1, "0"), digits[place + 1:]
    else:
        whole, fraction = "0", "0" * (-place - 1) + digits
    if digits == "0":
        fraction = ""
    wanted, least = precision, min_digits
    if not fractional:
        wanted = None if precision is None else precision - 1 - (0 if digits == "0" else place)
        least = max(min_digits - len(whole), 0)
    zeros = least if unique else 0
    least = least if wanted is None else max(min(least, wanted), 0)
    if wanted is not None and (len(fraction) > wanted or not unique):
        whole, fraction = _cut(_rounded(abs(x), wanted), whole, fraction[:max(wanted, 0)], unique)
    elif len(fraction) < least:
        whole, _, fraction = ("%.*f" % (least, abs(x))).partition(".")
    return _padded(_signed(x, sign) + whole, _trimmed(fraction, trim, zeros), pad_left, pad_right)


_MOST_DIGITS = 320  # of the whole part of a float64


def _rounded(x, places):
    """x with so many digits after the point; of negative places, rounded before it."""
    if places >= 0:
        return "%.*f" % (places, x)
    return "%d" % round(int(x), places) if places > -_MOST_DIGITS else "0"


def _cut(rounded, whole, fraction, unique):
    """Both parts of a rounded number. Where a digit was rounded up, a unique text has no zeros behind it, as in NumPy."""
    new_whole, _, new_fraction = rounded.partition(".")
    if unique and (new_whole, new_fraction) != (whole, fraction):
        new_fraction = new_fraction.rstrip("0")
    return new_whole, new_fraction


def scientific(x, dtype_name="float64", precision=None, unique=True, trim="k", sign=False, pad_left=0, exp_digits=2,
               min_digits=0):
    """A float with exponent. precision: digits after the point at most."""
    digits, place = shortest(x, dtype_name)
    whole, fraction = digits[0], digits[1:]
    zeros = min_digits if unique else 0
    if precision is not None:
        min_digits = min(min_digits, precision)
    if precision is not None and (len(fraction) > precision or not unique):
        mantissa, _, exponent = ("%.*e" % (precision, abs(x))).partition("e")
        whole, fraction = _cut(mantissa, whole, fraction[:precision], unique)
        place = int(exponent)
    elif len(fraction) < min_digits:
        mantissa, _, exponent = ("%.*e" % (min_digits, abs(x))).partition("e")
        whole, _, fraction = mantissa.partition(".")
        place = int(exponent)
    text = _padded(_signed(x, sign) + whole, _trimmed(fraction, trim, zeros), pad_left, 0)
    return "%se%s%s" % (text, "-" if place < 0 else "+", str(abs(place)).rjust(max(exp_digits, 2), "0"))


def _signed(x, sign):
    return "-" if str(x).startswith("-") else "+" if sign else ""


def _trimmed(fraction, trim, min_digits):
    """The point and what follows it. trim: k keeps zeros, . trims them, 0 leaves one, - trims the point, too."""
    if trim == "k":
        return "." + fraction.ljust(min_digits, "0")
    fraction = fraction.rstrip("0")
    if not fraction and trim == "0":
        fraction = "0"
    return "" if not fraction and trim == "-" else "." + fraction


def _padded(whole, fraction, pad_left, pad_right):
    return whole.rjust(pad_left or 0) + (fraction.ljust(pad_right + 1) if pad_right else fraction)

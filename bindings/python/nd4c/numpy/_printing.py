"""Arrays as text: array2string, array_repr, array_str, print options, and floats as text.

The C library prints arrays with precision, threshold, edge items and line width; here are NumPy's further options, for which
the few elements that are shown are formatted in Python."""
from contextlib import contextmanager
from math import isfinite, isnan
from operator import index as _index

from nd4c._arrays import array as _array
from nd4c._core import Array
from nd4c._functions.support import as_array, op
from nd4c.numpy._number_text import positional, scientific

__all__ = ["array2string", "array_repr", "array_str", "format_float_positional", "format_float_scientific", "get_printoptions",
           "printoptions", "set_printoptions"]

# NumPy's options that the C library has, by its names for them, and those that it lacks.
_OWN = {"precision": "precision", "threshold": "threshold", "edgeitems": "edge_items", "linewidth": "line_width"}
_DEFAULTS = {"suppress": False, "nanstr": "nan", "infstr": "inf", "formatter": None, "sign": "-", "floatmode": "maxprec",
             "legacy": False, "override_repr": None}
_further = dict(_DEFAULTS)
_MOST = 2 ** 62


# -- options ---------------------------------------------------------------------------------------------------------

def get_printoptions():
    """The options of print as a dict: precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, sign, floatmode,
    formatter, legacy, override_repr.

    >>> np.get_printoptions()["precision"]
    8
    """
    return dict({name: _array._print_options[own] for name, own in _OWN.items()}, **_further)


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None, nanstr=None, infstr=None,
                     formatter=None, sign=None, floatmode=None, *, legacy=None, override_repr=None):
    """Sets how arrays print; None leaves an option as it is, but for formatter, which None takes away.

    precision: digits after the point at most. threshold: more elements are summarised, with edgeitems at each end.
    linewidth: characters of a line. suppress: no exponents. sign: "-", "+" or " ". floatmode: "maxprec", "fixed", "unique",
    "maxprec_equal". formatter: a dict of functions from elements to texts, by kind ("float_kind", "int", "all", ...).
    Errors: TypeError and ValueError for other values; ValueError for legacy modes, which nd4c does not have.

    >>> with np.printoptions(precision=2):
    ...     print(nd4c.asarray([3.14159]))
    [3.14]
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth, "suppress": suppress,
             "nanstr": nanstr, "infstr": infstr, "sign": sign, "floatmode": floatmode, "legacy": legacy,
             "override_repr": override_repr}
    given = {name: value for name, value in given.items() if value is not None}
    if given.get("floatmode", _further["floatmode"]) == "fixed" and precision is None and get_printoptions()["precision"] is None:
        raise ValueError("set_printoptions: floatmode is 'fixed', which needs a precision")
    _apply(dict(_checked("set_printoptions", given), formatter=formatter))


def _apply(options):
    for name, value in options.items():
        if name in _OWN:
            _array._print_options[_OWN[name]] = value
        else:
            _further[name] = value
    _array.python_text = _text if _further != _DEFAULTS or _c_options(get_printoptions()) is None else None


def _checked(where, given):
    """The options as they are kept. Errors for what no option takes."""
    checked = dict(given)
    for name in ("precision", "edgeitems", "linewidth"):
        if name in given and not (name == "precision" and given[name] is None):
            try:
                checked[name] = _index(given[name])
            except TypeError:
                raise TypeError("%s: %s is %r; %s must be an integer" % (where, name, given[name], name)) from None
    if "threshold" in given:
        threshold = given["threshold"]
        if not isinstance(threshold, (int, float)) and not hasattr(threshold, "__index__"):
            raise TypeError("%s: threshold is %r; threshold must be numeric" % (where, threshold))
        if threshold != threshold:
            raise ValueError("%s: threshold must be non-NAN, try sys.maxsize for untruncated representation" % where)
        checked["threshold"] = int(min(threshold, _MOST))
    for name, allowed in (("sign", ("-", "+", " ")), ("floatmode", ("maxprec", "fixed", "unique", "maxprec_equal"))):
        if name in given and given[name] not in allowed:
            raise ValueError("%s: %s option must be one of %s, not %r"
                             % (where, name, ", ".join(map(repr, allowed)), given[name]))
    if given.get("legacy") not in (None, False):
        raise ValueError("%s: legacy is %r; nd4c prints as NumPy 2 does, without older modes" % (where, given["legacy"]))
    return checked


@contextmanager
def printoptions(*args, **kwargs):
    """A with statement in which set_printoptions(...) has been called; afterwards the options are as before.

    >>> with np.printoptions(suppress=True):
    ...     print(nd4c.asarray([1e-10, 1.0]))
    [0. 1.]
    """
    before = get_printoptions()
    try:
        set_printoptions(*args, **kwargs)
        yield get_printoptions()
    finally:
        _apply(before)


# -- arrays as text --------------------------------------------------------------------------------------------------

def array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=" ", prefix="", *, formatter=None,
                 threshold=None, edgeitems=None, sign=None, floatmode=None, suffix="", legacy=None):
    """The elements of an array as text in brackets; None takes each option from set_printoptions.

    separator: between elements. prefix, suffix: texts that will stand around the result, whose length is kept free.
    The other arguments: as set_printoptions.

    Shapes: any.
    Dtypes: all; the result is a str.
    Errors: TypeError for what asarray does not take.

    >>> np.array2string(nd4c.asarray([1.0, 2.5]), separator=", ", precision=1)
    '[1. , 2.5]'
    """
    a = as_array(a, "array2string")
    given = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small, "threshold": threshold,
             "edgeitems": edgeitems, "sign": sign, "floatmode": floatmode, "legacy": legacy}
    options = _merged("array2string", given)
    if formatter is not None:
        if not isinstance(formatter, dict):
            raise TypeError("array2string: formatter: expected a dict of functions by kind of element, got %s"
                            % type(formatter).__name__)
        options["formatter"] = formatter
    options["linewidth"] -= len(suffix)
    return _elements_text(a, options, separator, prefix)


def _merged(where, given):
    return dict(get_printoptions(), **_checked(where, {name: value for name, value in given.items() if value is not None}))


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text repr() gives: array([...]), with the dtype where the elements do not tell it.

    Shapes: any.
    Dtypes: all; the result is a str.
    Errors: TypeError for what asarray does not take.

    >>> np.array_repr(nd4c.asarray([1.5, 2.0]), precision=1)
    'array([1.5, 2. ])'
    """
    options = _merged("array_repr", {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small})
    return _repr(as_array(arr, "array_repr"), options)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The text str() gives: the elements in brackets; of an array without axes the element alone.

    Shapes: any.
    Dtypes: all; the result is a str.
    Errors: TypeError for what asarray does not take.

    >>> np.array_str(nd4c.asarray([1.234, 2.0]), precision=1)
    '[1.2 2. ]'
    """
    options = _merged("array_str", {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small})
    return _str(as_array(a, "array_str"), options)


def _text(array, repr):
    """The text of an array while options are set that the C library lacks."""
    options = get_printoptions()
    if options["override_repr"] is not None:
        return options["override_repr"](array)
    return _repr(array, options) if repr else _str(array, options)


def _c_options(options):
    """The options as the C library takes them; None if it lacks one of those that are set."""
    if any(options[name] != value for name, value in _DEFAULTS.items() if name != "override_repr"):
        return None
    if options["precision"] is None or options["edgeitems"] < 1 or options["linewidth"] < 1:
        return None
    return {own: options[name] for name, own in _OWN.items()}


def _str(array, options):
    known = _c_options(options)
    if known is not None or not array.ndim:
        return _array.c_text(array, False, **(known or {}))
    return _elements_text(array, options, " ", "")


_IMPLIED = ("bool", "int64", "float64", "complex128")


def _repr(array, options):
    known = _c_options(options)
    if known is not None:
        return _array.c_text(array, True, **known)
    extras = []
    if (not array.size and array.shape != (0,)) or array.size > options["threshold"]:
        extras.append("shape=%s" % (array.shape,))
    if array.dtype.name not in _IMPLIED or not array.size:
        extras.append("dtype=%s" % array.dtype.name)
    narrowed = dict(options, linewidth=options["linewidth"] - 1)
    text = "array(" + (_elements_text(array, narrowed, ", ", "array(") if array.size else "[]")
    if not extras:
        return text + ")"
    extra = ", ".join(extras) + ")"
    last = len(text) - (text.rfind("\n") + 1)
    return text + "," + ("\n" + " " * len("array(") if last + len(extra) + 1 > options["linewidth"] else " ") + extra


def _elements_text(array, options, separator, prefix):
    if not array.size:
        return "[]"
    known = _c_options(options)
    if known is not None and separator == " " and not prefix and array.ndim:
        return _array.c_text(array, False, **known)
    edge = options["edgeitems"]
    shortened = array.size > options["threshold"]
    shown = _edges(array, edge) if shortened else array
    element = _formatter(shown, options)
    summarised = [shortened and extent > 2 * edge for extent in array.shape]
    return _lines(shown.tolist(), element, summarised, edge, options["linewidth"], " " + " " * len(prefix), separator)


def _edges(array, edge):
    """The first and the last elements along each axis."""
    for axis, extent in enumerate(array.shape):
        if extent > 2 * edge:
            ends = [array[(slice(None),) * axis + (part,)] for part in (slice(0, edge), slice(extent - edge, extent))]
            array = op("concat")(ends, axis)
    return array


def _lines(values, element, summarised, edge, width, indent, separator):
    """Nested lists of elements as NumPy lays them out; `indent` begins each line but the first."""
    if not summarised:
        return element(values)
    left = len(summarised)
    if left == 1:
        words = [element(value) for value in values]
        if summarised[0]:
            words[edge:edge] = ["..."]
        body = _wrapped(words, width - max(len(separator.rstrip()), 1), indent, separator)
    else:
        parts = [_lines(value, element, summarised[1:], edge, width - 1, indent + " ", separator) for value in values]
        if summarised[0]:
            parts[edge:edge] = ["..."]
        between = separator.rstrip() + "\n" * (left - 1)
        body = between.join(indent + part for part in parts)
    return "[" + body[len(indent):] + "]"


def _wrapped(words, width, indent, separator):
    text, line = "", indent
    for number, word in enumerate(words):
        first, *rest = word.splitlines() or [""]
        longest = max(len(first), *map(len, rest)) if rest else len(first)
        if len(line) + longest > width and len(line) > len(indent):
            text += line.rstrip() + "\n"
            line = indent
        if rest:  # an element of several lines: all of them begin below its first one
            below = " " * len(line)
            text += line + first + "\n" + "".join(below + other + "\n" for other in rest[:-1])
            line = below + rest[-1]
        else:
            line += first
        if number + 1 < len(words):
            line += separator
    return text + line


# -- elements as text ------------------------------------------------------------------------------------------------

_KEYS = {"b": ("bool",), "i": ("int_kind", "int"), "u": ("int_kind", "int"), "f": ("float_kind", "float"),
         "c": ("complex_kind", "complexfloat"), "U": ("str_kind", "numpystr")}


def _formatter(shown, options):
    """The function from elements to their texts, all of one width."""
    own = {name: call for name, call in (options["formatter"] or {}).items() if call is not None}
    chosen = [own[name] for name in ("all",) + _KEYS[shown.dtype.kind] if name in own]
    if chosen:
        return lambda value: chosen[-1](shown.dtype(value))
    flat = op("reshape")(shown, (shown.size,)).tolist()
    kind, name = shown.dtype.kind, shown.dtype.name
    if kind == "b":
        return (lambda value: str(value).rjust(5)) if shown.ndim else str
    if kind in "iu":
        sign = "" if options["sign"] == "-" else options["sign"]
        spec = "%" + sign + "d"
        width = max(len(spec % value) for value in flat)
        return lambda value: (spec % value).rjust(width)
    if kind == "U":
        return repr
    if kind == "f":
        return _float_formatter(flat, name, options, options["sign"])
    part = {"complex64": "float32", "complex128": "float64"}[name]
    real = _float_formatter([value.real for value in flat], part, options, options["sign"])
    imaginary = _float_formatter([value.imag for value in flat], part, options, "+")

    def complex_text(value):
        tail = imaginary(value.imag)
        return real(value.real) + tail.rstrip() + "j" + tail[len(tail.rstrip()):]
    return complex_text


def _float_formatter(flat, name, options, sign):
    """The function from floats to their texts, by the range of all of them, as NumPy chooses digits and exponents."""
    mode, precision = options["floatmode"], None if options["floatmode"] == "unique" else options["precision"]
    finite = [value for value in flat if isfinite(value)]
    plus, left, right, write = sign == "+", 0, 0, None
    if finite and _needs_exponents(finite, name, options["suppress"]):
        write, left, right = _exponential(finite, name, precision, mode, plus)
    elif finite:
        write, left, right = _fixed(finite, name, precision, mode, plus)
    if sign == " " and not any(str(value).startswith("-") for value in finite):
        left += 1
    if len(finite) < len(flat):
        negative = sign != "-" or any(value == -float("inf") for value in flat)
        left = max(left, len(options["nanstr"]) - right - 1, len(options["infstr"]) + negative - right - 1)

    def text(value):
        if isfinite(value):
            return write(value, left)
        if isnan(value):
            word = ("+" if plus else "") + options["nanstr"]
        else:
            word = ("-" if value < 0 else "+" if plus else "") + options["infstr"]
        return word.rjust(left + right + 1)
    return text


_FROM = {"float16": 1e3, "float32": 1e6}  # numbers from here on have more digits than the dtype tells


def _needs_exponents(finite, name, suppress):
    sizes = [abs(value) for value in finite if value != 0]
    if not sizes:
        return False
    most, least = max(sizes), min(sizes)
    return most >= _FROM.get(name, 1e8) or (not suppress and (least < 0.0001 or most / least > 1000.0))


def _exponential(finite, name, precision, mode, plus):
    trim = "k" if mode == "fixed" else "."
    texts = [scientific(value, name, precision, True, trim, plus, min_digits=precision if mode == "fixed" else 0)
             for value in finite]
    mantissas, exponents = zip(*(text.split("e") for text in texts))
    wholes, fractions = zip(*(text.split(".") for text in mantissas))
    digits, size, left = max(map(len, fractions)), max(map(len, exponents)) - 1, max(map(len, wholes))
    return (lambda value, left: scientific(value, name, digits, True, "k", plus, left, size, digits)), left, size + 2 + digits


def _fixed(finite, name, precision, mode, plus):
    texts = [positional(value, name, precision, True, True, "k" if mode == "fixed" else ".", plus,
                        min_digits=precision if mode == "fixed" else 0) for value in finite]
    wholes, fractions = zip(*(text.split(".") for text in texts))
    left, right = max(map(len, wholes)), max(map(len, fractions))
    if mode in ("fixed", "maxprec_equal"):
        return (lambda value, left: positional(value, name, right, True, True, "k", plus, left, right, right)), left, right
    return (lambda value, left: positional(value, name, precision, True, True, ".", plus, left, right)), left, right


# -- single floats ---------------------------------------------------------------------------------------------------

def _float_of(x):
    """A number and the name of its floating dtype."""
    if type(x) is Array or hasattr(x, "dtype"):
        x = as_array(x, "format_float")
        if x.dtype.kind == "c":
            raise TypeError("format_float: expected a real number, got %s" % x.dtype)
        return float(x.item()), x.dtype.name
    return float(x), "float64"


def format_float_positional(x, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None,
                            pad_right=None, min_digits=None):
    """A float as text without exponent.

    precision: digits at most, after the point, or of all if not fractional. unique: no more digits than tell the float;
    unique=False takes exactly precision of them. trim: "k" keeps zeros at the end, "." trims them, "0" leaves one after the
    point, "-" trims the point, too. sign: with a plus. pad_left, pad_right: characters on both sides of the point at least.
    Errors: TypeError for complex numbers; ValueError without precision if not unique.

    >>> np.format_float_positional(1e-5)
    '0.00001'
    """
    _check_digits("format_float_positional", precision, unique, min_digits)
    if not fractional and precision == 0:
        raise ValueError("format_float_positional: precision must be greater than 0 if fractional=False")
    value, name = _float_of(x)
    if not isfinite(value):
        return _not_finite(value, sign)
    return positional(value, name, precision, unique, fractional, trim, sign, pad_left or 0, pad_right or 0, min_digits or 0)


def format_float_scientific(x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None,
                            min_digits=None):
    """A float as text with exponent; exp_digits: how many digits it has at least. The others: as format_float_positional.

    >>> np.format_float_scientific(123.0, precision=1)
    '1.2e+02'
    """
    _check_digits("format_float_scientific", precision, unique, min_digits)
    value, name = _float_of(x)
    if not isfinite(value):
        return _not_finite(value, sign)
    return scientific(value, name, precision, unique, trim, sign, pad_left or 0, exp_digits or 0, min_digits or 0)


def _check_digits(where, precision, unique, min_digits):
    if not unique and precision is None:
        raise ValueError("%s: unique=False needs a precision (in non-unique mode `precision` must be supplied)" % where)
    if precision and min_digits and min_digits > precision:
        raise ValueError("%s: min_digits must be less than or equal to precision" % where)


def _not_finite(value, sign):
    return "nan" if isnan(value) else "-inf" if value < 0 else "+inf" if sign else "inf"

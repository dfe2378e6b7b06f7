"""Converts arguments as users write them to the values that the C library takes."""
from operator import index

from nd4c._abi import NUMBERS, OPS, TABLES

__all__ = ["TABLES"]


def integer(where, value):
    """An integer that C's int64 holds."""
    value = index(value)
    if not -2 ** 63 <= value < 2 ** 63:
        raise OverflowError("%s: %d does not fit 64 bits" % (where, value))
    return value


_SYNONYMS = {"divide": "true_divide", "pow": "power", "isnan": "is_nan", "isinf": "is_inf", "isfinite": "is_finite",
             "permute_dims": "transpose", "astype": "cast", "vector_norm": "norm_p"}


def op_number(where, function):
    """The number of an op, given by its name or by its function in nd4c."""
    name = function if isinstance(function, str) else getattr(function, "__name__", str(function))
    number = NUMBERS.get(name, NUMBERS.get(_SYNONYMS.get(name)))
    if number is None and "." in name:
        from nd4c.plugins import number as number_of
        return number_of(name)
    if number is None:
        raise ValueError("%s: %r is no op of nd4c; dir(nd4c.ops) lists them" % (where, name))
    return number


def signature(number):
    """The row of _abi.OPS of any op; ops of plug-ins too."""
    if number in OPS:
        return OPS[number]
    from nd4c.plugins import signature as signature_of
    return signature_of(number)


def enum_name(where, value, table, preset=None):
    """The number of a name such as "same_upper"; numbers pass, and None is the preset where there is one."""
    if value is None and preset is not None:
        return preset
    if isinstance(value, str):
        for row in table:
            if row[2].lower() == value.lower():
                return row[1]
        raise ValueError("%s: %r is none of %s" % (where, value, ", ".join(repr(row[2]) for row in table)))
    try:
        return index(value)
    except TypeError:
        raise TypeError("%s: expected one of %s, got %r" % (where, ", ".join(repr(row[2]) for row in table), value)) from None


def enum_names(where, values, table):
    return None if values is None else [enum_name(where, value, table) for value in values]


def axes(axis):
    """A list of axes: None stays None, one number becomes a list."""
    if axis is None or type(axis) is tuple:
        return axis
    if type(axis) is int:
        return (axis,)
    try:
        return (index(axis),)
    except TypeError:
        return tuple(axis)


symbolic = set()  # types of extents that stay as they are in shapes; _symbols.py names its own


def shape(value):
    """A shape: one number or several."""
    if type(value) is tuple:
        return value
    if type(value) in symbolic:
        return (value,)
    try:
        return (index(value),)
    except TypeError:
        pass
    try:
        return tuple([extent if type(extent) in symbolic else index(extent) for extent in value])
    except TypeError:
        raise TypeError("a shape is an integer or a tuple of integers, not %r" % (value,)) from None

"""Arguments as users write them, made into what the C library takes."""
from operator import index

from nd4c._abi import TABLES

__all__ = ["TABLES"]


def enum_name(where, value, table):
    """The number of a name such as "same_upper"; numbers pass."""
    if isinstance(value, str):
        for row in table:
            if row[2].lower() == value.lower():
                return row[1]
        raise ValueError("%s: %r is none of %s" % (where, value, ", ".join(repr(row[2]) for row in table)))
    return index(value)


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


def shape(value):
    """A shape: one number or several."""
    if type(value) is tuple:
        return value
    try:
        return (index(value),)
    except TypeError:
        pass
    try:
        return tuple(index(extent) for extent in value)
    except TypeError:
        raise TypeError("a shape is an integer or a tuple of integers, not %r" % (value,)) from None

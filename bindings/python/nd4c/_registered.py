"""What the package gives the ctypes core when it is loaded, and what the core does with values of graphs: it hands an op with one
to nd4c.graph, which records it."""

UNWRITABLE = ("a value of a graph cannot be written into an array, which is there already when the plan runs; compute a new value, as "
              "nd4c.where and nd4c.concat do")
registered = {}
_symbol = None  # the class of a graph's values, once there are graphs


def register(**objects):
    """Takes the objects that the package gives to a core: dtypes, devices, raise_error, asarray, item, mixed, unmixed, in_place,
    assigned, names, symbol, recorded, picked."""
    global _symbol
    registered.update(objects)
    _symbol = objects.get("symbol", _symbol)


def takes_symbol(values):
    """Whether an argument, or an array of a list of arrays, is a value of a graph."""
    return _symbol is not None and any(
        type(value) is _symbol or (type(value) in (list, tuple) and any(type(item) is _symbol for item in value))
        for value in values)


def recorded(number, values):
    """What the package gives for an op that it records as a node."""
    return registered["recorded"](number, tuple(values))

"""The class Generator: NumPy's Generator on nd4c's arrays."""
from types import FunctionType as _Function

from nd4c.random._continuous import Continuous
from nd4c.random._discrete import Discrete
from nd4c.random._extras import Extras
from nd4c.random._multivariate import Multivariate
from nd4c.random._orders import Orders
from nd4c.random._stream import Stream


class Generator(Continuous, Discrete, Multivariate, Orders, Extras, Stream):
    """A stream of random numbers, with the methods of NumPy's Generator.

    Numbers depend on the seed and the position in the stream alone, not on threads; on other devices and machines, logarithms
    and such in them may differ in the last bit. They are other numbers than NumPy's. Every method takes device=, and dtype=
    where numbers are made.
    seed: None, an integer of at least 0, a sequence of integers, NumPy's SeedSequence, or a Generator, whose state is copied.
    state: an array (key, counter), made on the device; setting it returns to that point of the stream.
    Errors: ValueError for negative seeds, TypeError for other objects.

    >>> nd4c.random.Generator(7).normal(5, 2, size=(2, 2))
    array([[5.63687731, 1.56247762],
           [5.51891042, 5.10569305]])
    """

    __slots__ = ()


for _base in Generator.__bases__:  # so that Python's own errors about arguments name the class that users know
    for _method in vars(_base).values():
        if isinstance(_method, _Function):
            _method.__qualname__ = "Generator." + _method.__name__

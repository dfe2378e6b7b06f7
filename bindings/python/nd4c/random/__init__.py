"""Random numbers with NumPy's interface: Philox4x32-10, whose numbers depend only on the seed and the position, not on threads
or the machine.

    generator = nd4c.random.default_rng(42)
    generator.normal(5, 2, size=(3, 4))
    generator.normal(size=(3, 4), device="opencl:0")    # computed there; without device= where the generator's state is

The module's functions draw from one generator a thread, seeded by the system or by seed(). The class Generator is in
_generator.py, its methods in the modules beside it: distributions of real numbers in _continuous.py, of whole ones in
_discrete.py, of vectors in _multivariate.py; orders and samples in _orders.py; what NumPy lacks in _extras.py. _stream.py
draws and advances the state, _parameters.py checks what users give, _seeds.py makes keys."""
import os
import threading
from types import MethodType

from nd4c._symbols import traced
from nd4c.random._generator import Generator
from nd4c.random._stream import RECORDED, BitGenerator

_local = threading.local()


def default_rng(seed=None, *, device=None):
    """A generator of a seed, as NumPy's default_rng: a Generator is returned as it is.

    seed: None (the system's randomness), an integer of at least 0, a sequence of integers, or NumPy's SeedSequence.
    Errors: ValueError for negative seeds, TypeError for other objects.

    >>> nd4c.random.default_rng(7).integers(0, 10, 8)
    array([7, 7, 0, 2, 9, 3, 4, 4])
    """
    return seed if isinstance(seed, Generator) and device is None else Generator(seed, device=device)


def default_generator():
    """The calling thread's generator, from which the module's functions draw.

    >>> nd4c.random.default_generator() is nd4c.random.default_generator()
    True
    """
    if getattr(_local, "process", None) != os.getpid():
        _local.generator, _local.process = Generator(), os.getpid()
    return _local.generator


def seed(seed=None):
    """Restarts the calling thread's numbers from a seed; None: the system's randomness.

    >>> nd4c.random.seed(3); nd4c.random.uniform(size=2)
    array([0.11682557, 0.76523065])
    """
    if traced.graphs:
        raise RuntimeError(RECORDED)
    _local.generator, _local.process = Generator(seed), os.getpid()


def _drawing(name):
    method = getattr(Generator, name)

    def function(*arguments, **named):
        return method(default_generator(), *arguments, **named)
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = method.__doc__
    function.__wrapped__ = MethodType(method, Generator)  # the method's signature without self
    return function


_METHODS = tuple(name for part in Generator.__mro__[1:-2] for name in vars(part) if not name.startswith("_"))
globals().update({name: _drawing(name) for name in _METHODS})
__all__ = ("BitGenerator", "Generator", "default_generator", "default_rng", "seed") + _METHODS


def __getattr__(name):
    """The text about a name that the module lacks."""
    from nd4c._suggestions import MissingAttribute
    raise MissingAttribute(__name__, name)

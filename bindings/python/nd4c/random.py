"""Random numbers: Philox4x32-10, whose numbers depend on the seed and the place alone, not on threads or the machine.

    generator = nd4c.random.Generator(42)
    generator.normal((3, 4))

The module's functions draw from one generator a thread, seeded by the system or by seed()."""
import os
import threading

from nd4c import _dtypes
from nd4c._abi import NUMBERS as _N
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array, calls as _calls
from nd4c._creation import asarray
from nd4c._namespace import ones as _ones

_local = threading.local()


class Generator:
    """A stream of random numbers. `state` is an array (seed, counter); setting it goes back to where it was."""

    __slots__ = ("state",)

    def __init__(self, seed=None):
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        self.state = asarray([(seed + 2 ** 63) % 2 ** 64 - 2 ** 63, 0], dtype="int64")

    def __repr__(self):
        return "nd4c.random.Generator(state=%s)" % self.state.tolist()

    def __getstate__(self):
        return None, {"state": self.state}

    def _draw(self, name, inputs, attributes):
        result = _calls[_N[name]](self.state, *inputs, *attributes)
        first = result[0] if type(result) is tuple else result
        steps = max([first.size] + [x.size for x in inputs if type(x) is Array])
        self.state = _calls[_N["random_advance"]](self.state, max(steps, 1))
        return result

    def uniform(self, shape=(), low=0.0, high=1.0, *, dtype=None):
        """Numbers from low up to high, high left out."""
        return self._draw("random_uniform", (), (_shape_of(shape), _floating(dtype), low, high))

    def normal(self, shape=(), mean=0.0, scale=1.0, *, dtype=None):
        """Normally distributed numbers."""
        return self._draw("random_normal", (), (_shape_of(shape), _floating(dtype), mean, scale))

    def log_normal(self, shape=(), mean=0.0, scale=1.0, *, dtype=None):
        """e to the power of normally distributed numbers."""
        return self._draw("random_log_normal", (), (_shape_of(shape), _floating(dtype), mean, scale))

    def truncated_normal(self, shape=(), mean=0.0, scale=1.0, low=-2.0, high=2.0, *, dtype=None):
        """Normally distributed numbers within low and high scales of the mean."""
        return self._draw("random_truncated_normal", (), (_shape_of(shape), _floating(dtype), mean, scale, low, high))

    def exponential(self, shape=(), scale=1.0, *, dtype=None):
        """Exponentially distributed numbers of the given mean."""
        return self._draw("random_exponential", (), (_shape_of(shape), _floating(dtype), scale))

    def integers(self, low, high=None, shape=(), *, dtype=None):
        """Integers from low up to high, high left out; with one bound from 0 to it."""
        low, high = (0, low) if high is None else (low, high)
        return self._draw("random_integers", (), (_shape_of(shape), _of(dtype, int), low, high))

    def bits(self, shape=(), *, dtype="uint32"):
        """Random bits as integers."""
        return self._draw("random_bits", (), (_shape_of(shape), _dtypes.of(dtype).number))

    def bernoulli(self, p, shape=None, *, dtype="bool"):
        """True with probability p."""
        return self._draw("random_bernoulli", (_real(p),), (_like(shape), _dtypes.of(dtype).number))

    def binomial(self, n, p, shape=None, *, dtype=None):
        """How many of n trials succeed, each with probability p."""
        return self._draw("random_binomial", (_real(n), _real(p)), (_like(shape), _of(dtype, int)))

    def gamma(self, alpha, shape=None, scale=1.0, *, dtype=None):
        """Gamma distributed numbers of shape parameter alpha."""
        return self._draw("random_gamma", (_real(alpha),), (_like(shape), _floating(dtype), scale))

    def poisson(self, rate, shape=None, *, dtype=None):
        """Poisson distributed numbers of the given mean."""
        return self._draw("random_poisson", (_real(rate),), (_like(shape), _of(dtype, int)))

    def categorical(self, p, samples=1, *, logarithms=False, replacement=True, dtype=None):
        """For each row of p, indices with probabilities in its proportions."""
        return self._draw("random_categorical", (_real(p),), (samples, logarithms, replacement, _of(dtype, int)))

    def permutation(self, x):
        """0 .. x - 1 in random order, or an array's slices."""
        if isinstance(x, int):
            state = self.state
            result = _calls[_N["random_permutation"]](state, x, _dtypes.DEFAULTS[int].number)
            self.state = _calls[_N["random_advance"]](state, max(x, 1))
            return result
        return self.shuffled(x)

    def shuffled(self, x, *, axis=0):
        """x with its slices along an axis in random order."""
        return self._draw("random_shuffle", (asarray(x),), (axis,))

    def choice(self, x, size=None, *, replace=True, p=None):
        """Slices of x (or of 0 .. x - 1) picked at random, p their chances."""
        count = x if isinstance(x, int) else asarray(x).shape[0]
        shape = () if size is None else _shape_of(size)
        number = 1
        for extent in shape:
            number *= extent
        weights = asarray([1.0]) * asarray(p) if p is not None else _ones((count,))
        if weights.shape != (count,):
            raise ValueError("choice: p has the shape %s, expected (%d,): a chance for each of what is picked from"
                             % (weights.shape, count))
        picked = self.categorical(weights, number, replacement=replace)
        picked = _calls[_N["reshape"]](picked, shape)
        return picked if isinstance(x, int) else _calls[_N["take"]](asarray(x), picked, (0,), 0)

    def dropout(self, x, rate=0.5):
        """x / (1 - rate) where the mask is true, else 0; and the mask."""
        return self._draw("random_dropout", (asarray(x),), (rate,))


def _floating(dtype):
    return _of(dtype, float)


def _of(dtype, kind):
    return (_dtypes.DEFAULTS[kind] if dtype is None else _dtypes.of(dtype)).number


def _real(value):
    array = asarray(value)
    return array if array.dtype.kind == "float" else _calls[_N["cast"]](array, _dtypes.DEFAULTS[float].number)


def _like(shape):
    return None if shape is None else _shape_of(shape)


def default_generator():
    """The calling thread's generator."""
    if not hasattr(_local, "generator") or _local.process != os.getpid():
        _local.generator, _local.process = Generator(), os.getpid()
    return _local.generator


def seed(value):
    """Starts the calling thread's numbers anew."""
    _local.generator, _local.process = Generator(value), os.getpid()


def _drawing(name):
    method = getattr(Generator, name)

    def function(*arguments, **named):
        return getattr(default_generator(), name)(*arguments, **named)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = method.__doc__
    function.__wrapped__ = method
    return function


_METHODS = ("uniform", "normal", "log_normal", "truncated_normal", "exponential", "integers", "bits", "bernoulli",
            "binomial", "gamma", "poisson", "categorical", "permutation", "shuffled", "choice", "dropout")
globals().update({name: _drawing(name) for name in _METHODS})
__all__ = ("Generator", "default_generator", "seed") + _METHODS

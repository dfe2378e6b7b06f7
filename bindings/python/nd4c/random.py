"""Random numbers: Philox4x32-10, whose numbers depend only on the seed and the position, not on threads or the machine.

    generator = nd4c.random.Generator(42)
    generator.normal((3, 4))
    generator.normal((3, 4), device="opencl:0")    # computed there; without device= where the generator's state is

The module's functions draw from one generator a thread, seeded by the system or by seed()."""
import os
import threading

from nd4c import _devices, _dtypes
from nd4c._abi import NUMBERS as _N
from nd4c._arguments import shape as _shape_of
from nd4c._core import Array
from nd4c._core import calls as _calls
from nd4c._creation import asarray, made_on, to_device
from nd4c._creation_functions import ones as _ones

_local = threading.local()


class Generator:
    """A stream of random numbers. `state` is an array (seed, counter), made on the device; setting it returns to that point of
    the stream."""

    __slots__ = ("state",)

    def __init__(self, seed=None, *, device=None):
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        self.state = asarray([(seed + 2 ** 63) % 2 ** 64 - 2 ** 63, 0], dtype="int64", device=device)

    def __repr__(self):
        return "nd4c.random.Generator(state=%s)" % self.state.tolist()

    def __getstate__(self):
        return None, {"state": self.state}

    def _draw(self, name, attributes, device, inputs=(), taken=None):
        """Runs one op and returns its result. The state advances by the steps that the op took, and stays on its device."""
        given = []

        def draw():
            state = self.state if device is None else to_device(self.state, device)
            given.extend(self._near(taken(value), value, device) for value in inputs)
            return _calls[_N[name]](state, *given, *attributes)
        result = made_on(device, draw)
        first = result[0] if type(result) is tuple else result
        steps = max([first.size] + [x.size for x in given])
        place = None if device is None else self.state.device
        self.state = made_on(place, _calls[_N["random_advance"]], self.state, max(steps, 1))
        return result

    def _near(self, made, given, device):
        """Arrays made of the caller's numbers or lists go to the state's device: numbers have no device, and must not pull the
        op away from the state. The caller's arrays stay on their devices, and device= or a block decides by itself."""
        placed = type(given) is Array or device is not None or _devices.in_block()
        return made if placed else to_device(made, self.state.device)

    def uniform(self, shape=(), low=0.0, high=1.0, *, dtype=None, device=None):
        """Numbers from low up to high, high left out."""
        return self._draw("random_uniform", (_shape_of(shape), _floating(dtype), low, high), device)

    def normal(self, shape=(), mean=0.0, scale=1.0, *, dtype=None, device=None):
        """Normally distributed numbers."""
        return self._draw("random_normal", (_shape_of(shape), _floating(dtype), mean, scale), device)

    def log_normal(self, shape=(), mean=0.0, scale=1.0, *, dtype=None, device=None):
        """e to the power of normally distributed numbers."""
        return self._draw("random_log_normal", (_shape_of(shape), _floating(dtype), mean, scale), device)

    def truncated_normal(self, shape=(), mean=0.0, scale=1.0, low=-2.0, high=2.0, *, dtype=None, device=None):
        """Normally distributed numbers within low and high scales of the mean."""
        return self._draw("random_truncated_normal", (_shape_of(shape), _floating(dtype), mean, scale, low, high), device)

    def exponential(self, shape=(), scale=1.0, *, dtype=None, device=None):
        """Exponentially distributed numbers of the given mean."""
        return self._draw("random_exponential", (_shape_of(shape), _floating(dtype), scale), device)

    def integers(self, low, high=None, shape=(), *, dtype=None, device=None):
        """Integers from low up to high, high left out; with one bound from 0 to it."""
        low, high = (0, low) if high is None else (low, high)
        return self._draw("random_integers", (_shape_of(shape), _of(dtype, int), low, high), device)

    def bits(self, shape=(), *, dtype="uint32", device=None):
        """Random bits as integers."""
        return self._draw("random_bits", (_shape_of(shape), _dtypes.of(dtype).number), device)

    def bernoulli(self, p, shape=None, *, dtype="bool", device=None):
        """True with probability p."""
        return self._draw("random_bernoulli", (_like(shape), _dtypes.of(dtype).number), device, (p,), _real)

    def binomial(self, n, p, shape=None, *, dtype=None, device=None):
        """How many of n trials succeed, each with probability p."""
        return self._draw("random_binomial", (_like(shape), _of(dtype, int)), device, (n, p), _real)

    def gamma(self, alpha, shape=None, scale=1.0, *, dtype=None, device=None):
        """Gamma distributed numbers of shape parameter alpha."""
        return self._draw("random_gamma", (_like(shape), _floating(dtype), scale), device, (alpha,), _real)

    def poisson(self, rate, shape=None, *, dtype=None, device=None):
        """Poisson distributed numbers of the given mean."""
        return self._draw("random_poisson", (_like(shape), _of(dtype, int)), device, (rate,), _real)

    def categorical(self, p, samples=1, *, logarithms=False, replacement=True, dtype=None, device=None):
        """For each row of p, indices with probabilities in its proportions."""
        return self._draw("random_categorical", (samples, logarithms, replacement, _of(dtype, int)), device, (p,), _real)

    def permutation(self, x, *, device=None):
        """0 .. x - 1 in random order, or an array's slices."""
        if isinstance(x, int):
            return self._draw("random_permutation", (x, _dtypes.DEFAULTS[int].number), device)
        return self.shuffled(x, device=device)

    def shuffled(self, x, *, axis=0, device=None):
        """x with its slices along an axis in random order."""
        return self._draw("random_shuffle", (axis,), device, (x,), asarray)

    def choice(self, x, size=None, *, replace=True, p=None, device=None):
        """Slices of x (or of 0 .. x - 1) picked at random, p their chances."""
        return made_on(device, self._choice, x, size, replace, p, device)

    def _choice(self, x, size, replace, p, device):
        count = x if isinstance(x, int) else asarray(x).shape[0]
        shape = () if size is None else _shape_of(size)
        number = 1
        for extent in shape:
            number *= extent
        weights = self._near(asarray([1.0]) * asarray(p) if p is not None else _ones((count,)), p, device)
        if weights.shape != (count,):
            raise ValueError("choice: p has the shape %s, expected (%d,): a chance for each of what is picked from"
                             % (weights.shape, count))
        picked = self.categorical(weights, number, replacement=replace, device=device)
        picked = _calls[_N["reshape"]](picked, shape)
        return picked if isinstance(x, int) else _calls[_N["take"]](asarray(x), picked, (0,), 0)

    def dropout(self, x, rate=0.5, *, device=None):
        """x / (1 - rate) where the mask is true, else 0; and the mask."""
        return self._draw("random_dropout", (rate,), device, (x,), asarray)


def _floating(dtype):
    return _of(dtype, float)


def _of(dtype, kind):
    return (_dtypes.DEFAULTS[kind] if dtype is None else _dtypes.of(dtype)).number


def _real(value):
    array = asarray(value)
    return array if array.dtype.kind == "f" else _calls[_N["cast"]](array, _dtypes.DEFAULTS[float].number)


def _like(shape):
    return None if shape is None else _shape_of(shape)


def default_generator():
    """The calling thread's generator."""
    if not hasattr(_local, "generator") or _local.process != os.getpid():
        _local.generator, _local.process = Generator(), os.getpid()
    return _local.generator


def seed(value):
    """Restarts the calling thread's numbers from a seed."""
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

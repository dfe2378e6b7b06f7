"""numpy.random over nd4c's arrays: default_rng and Generator of nd4c.random, and the functions of NumPy's older interface.

Those draw from the calling thread's generator of nd4c.random, or from one of their own in a RandomState. Seeds give other
numbers than NumPy's. Bit generators of NumPy's that nd4c lacks are an AttributeError that says what to use."""
from types import MethodType as _MethodType

from nd4c import random as _random
from nd4c.random import BitGenerator, Generator, default_generator as _default_generator, default_rng

__all__ = ["BitGenerator", "Generator", "RandomState", "default_rng"]


class RandomState:
    """A generator with the methods of NumPy's RandomState, among them rand, randn, randint and random_sample.

    Errors: ValueError for negative seeds, TypeError for what is no seed.

    >>> np.random.RandomState(7).randint(0, 10, size=3)
    array([7, 7, 0])
    """

    __slots__ = ("_generator",)

    def __init__(self, seed=None):
        self._generator = Generator(seed)

    def __repr__(self):
        return "RandomState(%r)" % self._generator

    def seed(self, seed=None):
        """Restarts the numbers from a seed.

        >>> state = np.random.RandomState(1); state.seed(7); state.randint(0, 10, size=3)
        array([7, 7, 0])
        """
        self._generator = Generator(seed)

    def get_state(self, legacy=True):
        """The state, which set_state() takes: a tuple, or a dictionary unless legacy.

        >>> state = np.random.RandomState(7); kept = state.get_state(); first = state.rand(); state.set_state(kept)
        >>> bool(state.rand() == first)
        True
        """
        state = self._generator.bit_generator.state
        return tuple(state.items()) if legacy else state

    def set_state(self, state):
        """Returns to a state that get_state() gave.

        Errors: TypeError for anything else.

        >>> state = np.random.RandomState(7); state.set_state(state.get_state(legacy=False))
        """
        self._generator.bit_generator.state = state if isinstance(state, dict) else dict(state)

    def rand(self, *shape):
        """Numbers 0 <= u < 1 in a shape given by its lengths.

        Shapes: the lengths given; without any, no axes.
        Dtypes: float64.
        Errors: ValueError for a negative length.

        >>> np.random.RandomState(7).rand(2, 3).shape
        (2, 3)
        """
        return self._generator.random(shape)

    def randn(self, *shape):
        """Standard normal numbers in a shape given by its lengths.

        Shapes: the lengths given; without any, no axes.
        Dtypes: float64.
        Errors: ValueError for a negative length.

        >>> np.random.RandomState(7).randn(2, 3).shape
        (2, 3)
        """
        return self._generator.standard_normal(shape)

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers from low up to high, high left out; with one bound from 0 to it.

        Shapes: `size`; without it no axes.
        Dtypes: an integer one or bool. Errors: ValueError if low >= high.

        >>> np.random.RandomState(7).randint(0, 10, size=3)
        array([7, 7, 0])
        """
        return self._generator.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Integers from low to high, high included; with one bound from 1 to it.

        Shapes: `size`; without it no axes.
        Dtypes: int64.
        Errors: ValueError for a negative size, or an empty range.

        >>> np.random.RandomState(7).random_integers(6, size=3)
        array([5, 5, 1])
        """
        low, high = (1, low) if high is None else (low, high)
        return self._generator.integers(low, high, size, endpoint=True)

    def tomaxint(self, size=None):
        """Integers from 0 to the largest int64.

        Shapes: `size`; without it no axes.
        Dtypes: int64.
        Errors: ValueError for a negative size, or an empty range.

        >>> np.random.RandomState(7).tomaxint(3).dtype
        nd4c.int64
        """
        return self._generator.integers(0, 2 ** 63 - 1, size, endpoint=True)

    def random_sample(self, size=None):
        """Numbers 0 <= u < 1.

        Shapes: `size`; without it that of the parameters.
        Dtypes: float64.
        Errors: ValueError for a negative size, or parameters out of their range.

        >>> np.random.RandomState(7).random_sample(3)
        array([0.75015222, 0.08565787, 0.79528404])
        """
        return self._generator.random(size)

    def random(self, size=None):
        """Numbers 0 <= u < 1; the same as random_sample.

        Shapes: `size`; without it that of the parameters.
        Dtypes: float64.
        Errors: ValueError for a negative size, or parameters out of their range.

        >>> np.random.RandomState(7).random(3)
        array([0.75015222, 0.08565787, 0.79528404])
        """
        return self._generator.random(size)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Numbers from low up to high; of two numbers, high may be the smaller one.

        Shapes: `size`; without it that of the parameters.
        Dtypes: float64.
        Errors: ValueError for a negative size, or parameters out of their range.

        >>> np.random.RandomState(7).uniform(-1, 1, size=3)
        array([ 0.50030444, -0.82868427,  0.59056807])
        """
        return -self._generator.uniform(-low, -high, size) if type(low) in (int, float) and type(high) in (int, float) \
            and low > high else self._generator.uniform(low, high, size)

    def choice(self, a, size=None, replace=True, p=None):
        """Elements of a (or of 0 .. a - 1) picked at random, p their probabilities.

        Shapes: `size`; without it no axes.
        Dtypes: that of a; int64 for a number.
        Errors: ValueError if a has several axes, or as Generator.choice.

        >>> np.random.RandomState(7).choice(5, 3, replace=False)
        array([2, 3, 0])
        """
        if getattr(a, "ndim", 1) > 1:
            raise ValueError("choice: a has %d axes, expected one; Generator.choice takes an axis" % a.ndim)
        return self._generator.choice(a, size, replace, p)

    def shuffle(self, x):
        """Puts x's slices in random order, in place.

        Shapes: one axis or more.
        Dtypes: all.
        Errors: TypeError for what can be no array; ValueError for one that is read-only.

        >>> x = [1, 2, 3]; np.random.RandomState(7).shuffle(x); sorted(x)
        [1, 2, 3]
        """
        self._generator.shuffle(x)

    def permutation(self, x):
        """0 .. x - 1 or a copy of x's slices in random order.

        Shapes: that of x; a number gives a vector.
        Dtypes: that of x; int64 for a number.
        Errors: ValueError for a negative number.

        >>> np.random.RandomState(7).permutation(5)
        array([2, 3, 0, 1, 4])
        """
        return self._generator.permutation(x)

    def standard_exponential(self, size=None):
        """Exponentially distributed numbers of mean 1.

        Shapes: `size`; without it that of the parameters.
        Dtypes: float64.
        Errors: ValueError for a negative size, or parameters out of their range.

        >>> np.random.RandomState(7).standard_exponential(3)
        array([0.28747913, 2.45739423, 0.22905595])
        """
        return self._generator.standard_exponential(size)

    def standard_gamma(self, shape, size=None):
        """Gamma distributed numbers of scale 1.

        Shapes: `size`; without it that of the parameters.
        Dtypes: float64.
        Errors: ValueError for a negative size, or parameters out of their range.

        >>> np.random.RandomState(7).standard_gamma(2.0, 3)
        array([2.11249664, 2.02456197, 7.48557558])
        """
        return self._generator.standard_gamma(shape, size)

    def standard_normal(self, size=None):
        """Normally distributed numbers of mean 0 and standard deviation 1.

        Shapes: `size`; without it that of the parameters.
        Dtypes: float64.
        Errors: ValueError for a negative size, or parameters out of their range.

        >>> np.random.RandomState(7).standard_normal(3)
        array([ 0.31843865, -1.71876119,  0.25945521])
        """
        return self._generator.standard_normal(size)

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8):
        """Normally distributed vectors of a mean and a covariance matrix.

        Shapes: `size`, then n, for mean [n] and cov [n, n].
        Dtypes: float64.
        Errors: ValueError for shapes that do not fit.

        >>> np.random.RandomState(7).multivariate_normal([0, 10], [[1, 0.5], [0.5, 2]], size=2).shape
        (2, 2)
        """
        return self._generator.multivariate_normal(mean, cov, size, check_valid, tol)


def _inherited(name):
    """A method of Generator, which the older interface has with the same parameters."""
    method = getattr(Generator, name)

    def function(self, *arguments, **named):
        return method(self._generator, *arguments, **named)
    function.__name__, function.__qualname__ = name, "RandomState." + name
    function.__doc__, function.__wrapped__ = method.__doc__, method
    return function


for _name in ("beta binomial bytes chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic "
              "lognormal logseries multinomial negative_binomial noncentral_chisquare noncentral_f normal pareto poisson power "
              "rayleigh standard_cauchy standard_t triangular vonmises wald weibull zipf").split():
    setattr(RandomState, _name, _inherited(_name))


class _OfThread(RandomState):
    """The state behind the module's functions: the calling thread's generator of nd4c.random."""

    __slots__ = ()

    def __init__(self):
        pass

    @property
    def _generator(self):
        return _default_generator()

    @_generator.setter
    def _generator(self, value):
        _random.seed(value)


def _module_function(name, method):
    def function(*arguments, **named):
        return method(_OfThread(), *arguments, **named)
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = __name__, method.__doc__
    function.__wrapped__ = _MethodType(method, RandomState)
    return function


for _name, _method in list(vars(RandomState).items()):
    if not _name.startswith("_") and _name != "tomaxint":
        globals()[_name] = _module_function(_name, _method)
        __all__.append(_name)
for _name in ("ranf", "sample"):
    globals()[_name] = _module_function(_name, RandomState.random_sample)
    __all__.append(_name)

_ABSENT = {name: "nd4c has one bit generator, Philox4x32; use default_rng(seed)"
           for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")}
_ABSENT["SeedSequence"] = "default_rng(seed) takes integers and sequences of them; its spawn() makes independent generators"
_ABSENT["bit_generator"] = _ABSENT["mtrand"] = "it is internal to NumPy; use default_rng(seed)"


def __getattr__(name):
    raise AttributeError("module 'nd4c.numpy.random' has no attribute %r%s" % (
        name, ": " + _ABSENT[name] if name in _ABSENT else ""))

"""Distributions of whole numbers of one variable. _generator.py makes a generator's methods of them.

Results are int64 if no dtype is asked for; numbers beyond it become its largest one, as in NumPy."""
from math import log

from nd4c import _dtypes
from nd4c._core import Array
from nd4c.random._integers import integers
from nd4c.random._parameters import (ABOVE_ONE, BELOW_ONE, CHANCE, COUNT, FINITE_ABOVE, PROBABILITY, RATE, check, counting, op,
                                     real)
from nd4c.random._stream import counted, until_accepted

_any, _ceil, _exp, _expm1, _floor = op("any"), op("ceil"), op("exp"), op("expm1"), op("floor")
_log, _log1p, _maximum, _minimum = op("log"), op("log1p"), op("maximum"), op("minimum")
_where = op("where")


def _geometric(draw, p):
    return _maximum(_ceil(draw.exponential() / -_log1p(-p)), 1.0)


def _logseries(draw, p):
    """Kemp: geometric numbers whose chance to go on, q = 1 - (1 - p)^u, is itself random."""
    power = _log1p(-p) * draw.uniform()
    log_q = _where(power < -log(2), _log1p(-_exp(power)), _log(-_expm1(power)))
    return _floor(1 + draw.exponential() / -log_q)


def _zipf(draw, a):
    """Devroye's rejection from powers of uniform numbers up to 2^63; from 1025 on, 2 is too rare for a float."""
    drawn = until_accepted(draw, (_minimum(a, 1025.0) - 1,), _zipf_proposal)
    return _where(a >= 1025, 1.0, drawn)


def _zipf_proposal(draw, less):
    """less: a - 1. Differences of numbers near 1 are taken by expm1, for a near 1 and for large results."""
    depth = -_log1p(draw.uniform() * _expm1(-63 * log(2) * less))
    whole = _floor(_exp(depth / less))
    growth, most = _expm1(less * _log1p(1 / whole)), _expm1(less * log(2))
    return whole, draw.uniform() * whole * growth / most <= (1 + growth) / (1 + most)


def hypergeometric(draw, ngood, nbad, nsample):
    """How many of the nsample lowest marks are good ones', if each item has a random mark.

    Each pass halves the good ones: the middle one of their marks is t, a beta number, and the bad ones below t are binomial.
    If all of these fit into the sample, the good ones up to t are in it, and the others go on; else those from t on are not.
    Exact but for the rounding of t, and as many passes as the smaller of ngood and nsample has binary digits."""
    total = ngood + nbad
    good, sample = _minimum(ngood, nsample), _maximum(ngood, nsample)  # the distribution is symmetric in these two
    bad, found = total - good, op("copy")(op("broadcast_to")(good * 0.0, draw.shape))
    for _ in range(int(op("max")(good, None, False)).bit_length() if good.size else 0):
        middle = _floor((good + 1) / 2)
        g, h = draw.gamma(middle), draw.gamma(good - middle + 1)
        below = draw.binomial(bad, g / (g + h))
        fits = middle + below <= sample
        found = found + _where(fits, middle, 0.0)
        sample = sample - _where(fits, middle + below, 0.0)
        good = _where(fits, good - middle, _maximum(middle - 1, 0.0))
        bad = _where(fits, bad - below, below)
    return found


class Discrete:
    __slots__ = ()

    def integers(self, low, high=None, size=None, dtype=None, endpoint=False, *, device=None):
        """Integers from low up to high, high left out unless endpoint; with one bound from 0 to it.

        All have exactly equal chances.
        Shapes: size, or None that to which low and high broadcast.
        Dtypes: an integer one or bool, int64 if None.
        Errors: ValueError if low >= high (low > high with endpoint), if the
        dtype does not hold all results, or if a bound is not whole; TypeError for another dtype.

        >>> nd4c.random.default_rng(7).integers(0, 10, 8)
        array([7, 7, 0, 2, 9, 3, 4, 4])
        >>> nd4c.random.default_rng(7).integers([10, 20, 30], [11, 22, 33])
        array([10, 20, 30])
        """
        return integers(self, low, high, size, dtype, endpoint, device)

    def bernoulli(self, p, size=None, *, dtype="bool", device=None):
        """True with probability p. NumPy has no such method: its binomial(1, p) counts.

        Shapes: size, or None p's.
        Dtypes: dtype, bool if it is left out.
        Errors: ValueError unless 0 <= p <= 1.

        >>> nd4c.random.default_rng(7).bernoulli(0.25, size=4)
        array([False,  True, False, False])
        """
        return self._counts("bernoulli", "random_bernoulli", (("p", p, PROBABILITY),), size,
                            _counting_or_bool("bernoulli", dtype), device)

    def binomial(self, n, p, size=None, *, dtype=None, device=None):
        """How many of n trials succeed, each with probability p.

        Shapes: size, or None that to which n and p broadcast.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError unless 0 <= p <= 1 and n is a whole number of 0 to 2^53.

        >>> nd4c.random.default_rng(7).binomial(10, 0.5, size=5)
        array([6, 6, 1, 4, 9])
        """
        return self._counts("binomial", "random_binomial", (("n", n, COUNT), ("p", p, PROBABILITY)), size,
                            counting("binomial", dtype), device)

    def poisson(self, lam=1.0, size=None, *, dtype=None, device=None):
        """Poisson distributed numbers of mean lam.

        Shapes: size, or None lam's.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError unless 0 <= lam <= 2^53.

        >>> nd4c.random.default_rng(7).poisson([1.0, 100.0])
        array([  2, 104])
        """
        return self._counts("poisson", "random_poisson", (("lam", lam, RATE),), size, counting("poisson", dtype), device)

    def _counts(self, where, name, parameters, size, number, device):
        """A distribution that is one op, which draws in the dtype of a number."""
        def formula(draw, *values):
            return self._draw(name, (draw.shape, number), device, values)
        return self._made(where, formula, parameters, size, None, device, lambda value, _: value)

    def geometric(self, p, size=None, *, dtype=None, device=None):
        """How many trials the first success takes, each with probability p; at least 1.

        Shapes: size, or None p's.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError unless 0 < p <= 1.

        >>> nd4c.random.default_rng(7).geometric(0.25, size=5)
        array([ 1,  9,  1,  1, 17])
        """
        return self._made("geometric", _geometric, (("p", p, CHANCE),), size, dtype, device, counted)

    def negative_binomial(self, n, p, size=None, *, dtype=None, device=None):
        """How many trials fail before n succeed, each with probability p; n need not be whole.

        Shapes: size, or None that to which n and p broadcast.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError unless n > 0 and 0 < p <= 1, and if results could be above 2^53.

        >>> nd4c.random.default_rng(7).negative_binomial(3, 0.25, size=5)
        array([ 8,  9, 27,  7,  3])
        """
        def formula(draw, n, p):
            odds = (1 - p) / p
            if _any(odds * (n + 10 * op("sqrt")(n) + 40) > 2.0 ** 53, None, False):
                raise ValueError("negative_binomial: n is too large or p too small: results would pass 2^53")
            return draw.poisson(draw.gamma(n) * odds)
        return self._made("negative_binomial", formula, (("n", n, FINITE_ABOVE), ("p", p, CHANCE)), size, dtype, device, counted)

    def hypergeometric(self, ngood, nbad, nsample, size=None, *, dtype=None, device=None):
        """How many of nsample items are good ones, drawn without replacement from ngood good and nbad bad ones.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError if a parameter is no whole number of at least 0, or nsample > ngood + nbad.
        NumPy refuses numbers of 10^9 and more; here the limit is 2^53.

        >>> nd4c.random.default_rng(7).hypergeometric(15, 10, 8, size=5)
        array([5, 4, 3, 4, 5])
        """
        values = [real("hypergeometric: " + name, value) for name, value in
                  (("ngood", ngood), ("nbad", nbad), ("nsample", nsample))]
        lacks = values[0] + values[1] < values[2]
        if lacks is True or (type(lacks) is Array and _any(lacks, None, False)):
            raise ValueError("hypergeometric: nsample is above ngood + nbad; expected no more than there are")
        check("hypergeometric: ngood + nbad", values[0] + values[1], COUNT)
        return self._made("hypergeometric", hypergeometric, (
            ("ngood", ngood, COUNT), ("nbad", nbad, COUNT), ("nsample", nsample, COUNT)), size, dtype, device, counted)

    def logseries(self, p, size=None, *, dtype=None, device=None):
        """Numbers from 1 on, k with a probability in proportion to p^k / k.

        Shapes: size, or None p's.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError unless 0 <= p < 1.

        >>> nd4c.random.default_rng(7).logseries(0.75, size=5)
        array([3, 1, 2, 3, 1])
        """
        return self._made("logseries", _logseries, (("p", p, BELOW_ONE),), size, dtype, device, counted)

    def zipf(self, a, size=None, *, dtype=None, device=None):
        """Numbers from 1 on, k with a probability in proportion to k^-a.

        Shapes: size, or None a's.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError unless a > 1.

        >>> nd4c.random.default_rng(7).zipf(2.5, size=5)
        array([2, 1, 2, 8, 1])
        """
        return self._made("zipf", _zipf, (("a", a, ABOVE_ONE),), size, dtype, device, counted)


def _counting_or_bool(where, dtype):
    if dtype is not None and _dtypes.of(dtype).kind == "b":
        return _dtypes.of(dtype).number
    return counting(where, dtype)

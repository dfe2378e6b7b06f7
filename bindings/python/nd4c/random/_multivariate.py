"""Distributions of vectors. _generator.py makes a generator's methods of them.

Counts of categories are split in halves, and the halves again, so that a thousand categories take ten draws."""
import warnings

from nd4c._creation import made_on
from nd4c.random._discrete import hypergeometric
from nd4c.random._parameters import ANY, COUNT, FINITE, NOT_NEGATIVE, counting, floating, op, shape_for, size_of
from nd4c.random._stream import Draws, counted, rounded

_any, _exp, _sum, _where = op("any"), op("exp"), op("sum"), op("where")
_LAST = (-1,)


def _vector(where, value, kind="one axis"):
    if value.ndim != 1 or not value.size:
        raise ValueError("%s has the shape %s, expected %s with at least one element" % (where, value.shape, kind))


def _split(counts, weights, share):
    """Counts of categories: from one count of all, share(counts, left, right) of it goes to the left half of the categories,
    whose weights sum to left, and so on down to single ones. counts has a last axis of length 1."""
    levels = [weights]
    while levels[-1].shape[-1] > 1:
        last = _even(levels[-1])
        levels.append(last[..., 0::2] + last[..., 1::2])
    for level in levels[-2::-1]:
        paired = _even(level)
        taken = share(counts, paired[..., 0::2], paired[..., 1::2])
        pairs = op("stack")([taken, counts - taken], -1)
        counts = op("reshape")(pairs, pairs.shape[:-2] + (paired.shape[-1],))[..., :level.shape[-1]]
    return counts


def _even(level):
    """Weights with one of 0 behind an odd number of them."""
    return op("concat")([level, level[..., :1] * 0.0], -1) if level.shape[-1] % 2 else level


class Multivariate:
    __slots__ = ()

    def multinomial(self, n, pvals, size=None, *, dtype=None, device=None):
        """How many of n draws give each of the categories, which have probabilities pvals along the last axis.

        Shapes: (..., k), where ... is size, or None that to which n and pvals without its last axis broadcast. The last
        category has the probability that the others leave.
        Dtypes: of real numbers, int64 if None.
        Errors: ValueError if a probability is not 0 to 1, or all but the last sum to more than 1.

        >>> nd4c.random.default_rng(7).multinomial(20, [0.5, 0.3, 0.2])
        array([8, 7, 5])
        """
        number = counting("multinomial", dtype)
        n = self._parameter("multinomial: n", n, COUNT, device)
        p = self._parameter("multinomial: pvals", pvals, NOT_NEGATIVE, device)
        if not p.ndim or not p.shape[-1]:
            raise ValueError("multinomial: pvals has the shape %s, expected a probability of at least one category" % (p.shape,))
        first = p[..., :-1]
        rest = 1 - _sum(first, _LAST, True, 0)
        if _any(rest < -1e-12, None, False) or _any(p != p, None, False):
            raise ValueError("multinomial: pvals without the last sum to more than 1; divide them by their sum")
        shape = shape_for("multinomial", size, (n, p[..., 0]))

        def share(counts, left, right):
            whole = left + right
            chance = op("clip")(_where(whole > 0, left / _where(whole > 0, whole, 1.0), 0.0), 0.0, 1.0)
            return Draws(self, shape + (left.shape[-1],), device).binomial(counts, chance)

        def make():
            weights = op("concat")([first, op("maximum")(rest, 0.0)], -1)
            start = op("broadcast_to")(op("expand_dims")(n, _LAST), shape + (1,))
            return counted(_split(start, weights, share), number)
        return _owned(made_on(device, make), shape + (p.shape[-1],))

    def multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals", *, dtype=None, device=None):
        """How many items of each color are among nsample, drawn without replacement from colors[i] of each.

        Shapes: (..., k), where ... is size.
        Dtypes: of real numbers, int64 if None. method is "marginals" or "count", as in
        NumPy; nd4c computes marginals for both.
        Errors: ValueError if colors or nsample are no whole numbers of at least 0, or nsample is above the sum of colors.

        >>> nd4c.random.default_rng(7).multivariate_hypergeometric([16, 8, 4], 6)
        array([3, 3, 0])
        """
        if method not in ("marginals", "count"):
            raise ValueError("multivariate_hypergeometric: method is %r, expected 'marginals' or 'count'" % (method,))
        number = counting("multivariate_hypergeometric", dtype)
        colors = self._parameter("multivariate_hypergeometric: colors", colors, COUNT, device)
        _vector("multivariate_hypergeometric: colors", colors)
        sample = self._parameter("multivariate_hypergeometric: nsample", nsample, COUNT, device)
        if sample.ndim:
            raise ValueError("multivariate_hypergeometric: nsample has the shape %s, expected one number" % (sample.shape,))
        if _any(sample > _sum(colors, None, False, 0), None, False):
            raise ValueError("multivariate_hypergeometric: nsample is above the sum of colors; expected no more than there are")
        shape = size_of("multivariate_hypergeometric", size)

        def share(counts, left, right):
            return hypergeometric(Draws(self, shape + (left.shape[-1],), device), left, right, counts)

        def make():
            return counted(_split(op("broadcast_to")(sample, shape + (1,)), colors, share), number)
        return _owned(made_on(device, make), shape + colors.shape)

    def dirichlet(self, alpha, size=None, *, dtype=None, device=None):
        """Vectors of positive numbers whose sum is 1: gamma numbers of shape parameters alpha, divided by their sum.

        Shapes: (..., k), where ... is size and (k,) is alpha's shape.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if alpha is not one axis of numbers of at least 0.

        >>> nd4c.random.default_rng(7).dirichlet([10, 5, 3])
        array([0.40336095, 0.1677335 , 0.42890555])
        """
        number = floating("dirichlet", dtype)
        alpha = self._parameter("dirichlet: alpha", alpha, FINITE, device)
        _vector("dirichlet: alpha", alpha)
        shape = size_of("dirichlet", size) + alpha.shape

        def make():
            # By logarithms: for small alpha all gamma numbers may be below the smallest float.
            log_g, e = Draws(self, shape, device).log_gamma(alpha)
            logs = log_g - e / alpha
            parts = _exp(logs - op("max")(logs, _LAST, True))
            parts = _where(alpha > 0, parts, 0.0)
            total = _sum(parts, _LAST, True, 0)
            return rounded(parts / _where(total > 0, total, 1.0), number)
        return made_on(device, make)

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd", dtype=None, device=None):
        """Normally distributed vectors of a mean and a covariance matrix.

        Shapes: (..., k), where ... is size, (k,) mean's shape and (k, k) cov's.
        Dtypes: a floating one, float64 if None.
        method says how cov is factored: "svd", "eigh", or "cholesky", the fastest, for positive definite ones.
        Errors: ValueError for other shapes. Of a cov that is not symmetric and positive semidefinite within tol, check_valid
        "warn" gives a RuntimeWarning, "raise" a ValueError, "ignore" nothing; cholesky does not check.

        >>> nd4c.random.default_rng(7).multivariate_normal([0, 10], [[1, 0.5], [0.5, 2]])
        array([-1.23292255, 11.02275472])
        """
        where = "multivariate_normal: "
        for name, value, words in (("check_valid", check_valid, ("warn", "raise", "ignore")),
                                   ("method", method, ("svd", "eigh", "cholesky"))):
            if value not in words:
                raise ValueError("%s%s is %r, expected one of %s" % (where, name, value, ", ".join(map(repr, words))))
        number = floating("multivariate_normal", dtype)
        mean = self._parameter(where + "mean", mean, ANY, device)
        cov = self._parameter(where + "cov", cov, ANY, device)
        _vector(where + "mean", mean)
        if cov.shape != mean.shape * 2:
            raise ValueError("%scov has the shape %s, expected %s for mean's %s" % (where, cov.shape, mean.shape * 2, mean.shape))
        shape = size_of("multivariate_normal", size) + mean.shape

        def make():
            factor = _factor(cov, method, check_valid, tol)
            z = op("reshape")(Draws(self, shape, device).normal(), (-1,) + mean.shape)
            return rounded(op("reshape")(op("matmul")(z, factor), shape) + mean, number)
        return made_on(device, make)


def _factor(cov, method, check_valid, tol):
    """A matrix f with f^T f = cov."""
    from nd4c import linalg
    if method == "cholesky":
        return op("matrix_transpose")(linalg.cholesky(cov))
    if method == "svd":
        _, values, rows = linalg.svd(cov)
    else:
        values, columns = linalg.eigh(cov)
        rows = op("matrix_transpose")(columns)
    scaled = op("sqrt")(op("abs")(values)).reshape((-1, 1)) * rows
    if check_valid != "ignore":
        error = op("abs")(op("matmul")(op("matrix_transpose")(scaled), scaled) - cov)
        if _any(error > tol + tol * op("abs")(cov), None, False):
            text = "multivariate_normal: cov is not symmetric and positive semidefinite"
            if check_valid == "raise":
                raise ValueError(text + "; give a covariance matrix, or check_valid='ignore'")
            warnings.warn(text, RuntimeWarning, stacklevel=6)
    return scaled


def _owned(counts, shape):
    """Counts as an array of their own: _split may give a view of more."""
    return op("copy")(counts) if counts.shape == shape else op("copy")(op("broadcast_to")(counts, shape))

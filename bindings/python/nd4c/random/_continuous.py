"""Distributions of real numbers. _generator.py makes a generator's methods of them.

Numbers are computed in float64 and rounded to the dtype asked for, except where one op draws in that dtype. Formulas get
parameters as arrays; inverse distribution functions are written in exponential numbers, whose logarithm never is of 0."""
from math import copysign, inf, isfinite, pi

from nd4c.random._parameters import (ANY, FINITE, FINITE_ABOVE, NOT_NEGATIVE, POSITIVE, check, floating, op, real, size_of,
                                     write)
from nd4c.random._stream import until_accepted

_PLAIN = {float, int}
_abs, _any, _cos, _exp, _expm1 = op("abs"), op("any"), op("cos"), op("exp"), op("expm1")
_log, _maximum, _pow, _sqrt, _where = op("log"), op("maximum"), op("power"), op("sqrt"), op("where")


# -- formulas: what the methods below compute, from numbers to draw and parameters as arrays ---------------------------

def _beta(draw, a, b):
    """g / (g + h) of gamma numbers, by logarithms: for small a and b both g and h are below the smallest float. Exponents are
    scaled by the larger parameter, so that they compare even where they are infinite."""
    larger = _maximum(a, b)
    (log_g, e), (log_h, f) = draw.log_gamma(a), draw.log_gamma(b)
    return 1 / (1 + _exp(log_h - log_g - (f * (larger / b) - e * (larger / a)) / larger))


def _chisquare(draw, df):
    return 2 * draw.gamma(df / 2)


def _noncentral_chisquare(draw, df, nonc):
    """A Poisson mixture of central ones; a normal number's square is exact for large nonc, too, but needs df > 1."""
    if _any(df <= 1, None, False):
        return 2 * draw.gamma(df / 2 + draw.poisson(nonc / 2))
    shifted = draw.normal() + _sqrt(nonc)
    return shifted * shifted + 2 * draw.gamma((df - 1) / 2)


def _f(draw, dfnum, dfden):
    return _chisquare(draw, dfnum) / dfnum / (_chisquare(draw, dfden) / dfden)


def _noncentral_f(draw, dfnum, dfden, nonc):
    return _noncentral_chisquare(draw, dfnum, nonc) / dfnum / (_chisquare(draw, dfden) / dfden)


def _triangular(draw, left, mode, right):
    u, width = draw.uniform(), right - left
    rising = left + _sqrt(u * width * (mode - left))
    return _where(u * width <= mode - left, rising, right - _sqrt((1 - u) * width * (right - mode)))


def _vonmises(draw, mu, kappa):
    """Best and Fisher's rejection from a wrapped Cauchy distribution. Below 1e-8 the density is as good as constant, above 1e6
    as good as a normal one."""
    sharp = kappa > 1e6
    angle = until_accepted(draw, (op("clip")(kappa, 1e-8, 1e6),), _best_fisher)
    if _any(sharp, None, False):
        angle = _where(sharp, draw.normal() / _sqrt(kappa), angle)
    turned = (angle + mu + pi) % (2 * pi) - pi
    return _where(kappa != kappa, kappa, turned)


def _best_fisher(draw, kappa):
    root = 1 + _sqrt(1 + 4 * kappa * kappa)
    rho = (root - _sqrt(2 * root)) / (2 * kappa)
    s = _where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho * rho) / (2 * rho))
    z, v, side = _cos(pi * draw.uniform()), draw.uniform(), draw.uniform()
    w = (1 + s * z) / (s + z)
    y = kappa * (s - w)
    accepted = (y * (2 - y) - v >= 0) | (_log(y / v) + 1 - y >= 0) | (kappa != kappa)
    angle = op("acos")(op("clip")(w, -1.0, 1.0))
    return _where(side < 0.5, -angle, angle), accepted


def _wald(draw, mean, scale):
    """Michael, Schucany and Haas: one of the two roots of a quadratic equation, written without cancellation."""
    z = draw.normal()
    d = mean * z * z / (2 * scale)
    ratio = 1 + d + _sqrt(d * (2 + d))
    return _where(draw.uniform() * (1 + ratio) <= ratio, mean / ratio, mean * ratio)


def _weibull(draw, a):
    return _where(a == 0, a * 0, _pow(draw.exponential(), 1 / a))


class Continuous:
    __slots__ = ()

    # -- uniform, normal and exponential numbers, each one op ----------------------------------------------------------

    def random(self, size=None, dtype=None, out=None, *, device=None):
        """Numbers 0 <= u < 1, equally likely.

        Shapes: size, or out's.
        Dtypes: a floating one, float64 if None; u has as many random bits as its significand.
        Errors: TypeError for other dtypes; ValueError if size is not out's shape.

        >>> nd4c.random.default_rng(7).random(3)
        array([0.75015222, 0.08565787, 0.79528404])
        """
        return write("random", out, size, dtype, lambda shape, dtype: self._draw(
            "random_uniform", (shape, floating("random", dtype), 0.0, 1.0), device))

    def uniform(self, low=0.0, high=1.0, size=None, *, dtype=None, device=None):
        """Numbers from low up to high, high left out (rounding may give it).

        Shapes: size, or None that to which low and high broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if high < low; OverflowError if high - low is not finite.

        >>> nd4c.random.default_rng(7).uniform(-1, 1, size=3)
        array([ 0.50030444, -0.82868427,  0.59056807])
        """
        if type(low) in _PLAIN and type(high) in _PLAIN:
            if not 0 <= high - low < inf:
                _check_range(low, high)
            return self._draw("random_uniform", (
                size_of("uniform", size), floating("uniform", dtype), low, high), device)
        _check_range(real("uniform: low", low), real("uniform: high", high))
        return self._made("uniform", lambda draw, low, high: low + draw.uniform() * (high - low),
                          (("low", low, ANY), ("high", high, ANY)), size, dtype, device)

    def standard_normal(self, size=None, dtype=None, out=None, *, device=None):
        """Normally distributed numbers of mean 0 and standard deviation 1.

        Shapes: size, or out's.
        Dtypes: a floating one, float64 if None.
        Errors: TypeError for other dtypes; ValueError if size is not out's shape.

        >>> nd4c.random.default_rng(7).standard_normal(3)
        array([ 0.31843865, -1.71876119,  0.25945521])
        """
        return write("standard_normal", out, size, dtype, lambda shape, dtype: self._draw(
            "random_normal", (shape, floating("standard_normal", dtype), 0.0, 1.0), device))

    def normal(self, loc=0.0, scale=1.0, size=None, *, dtype=None, device=None):
        """Normally distributed numbers of mean loc and standard deviation scale.

        Shapes: size, or None that to which loc and scale broadcast: a 0-d array for two numbers.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if scale < 0 or the shapes do not fit.

        >>> nd4c.random.default_rng(7).normal(5, 2, size=3)
        array([5.63687731, 1.56247762, 5.51891042])
        >>> nd4c.random.default_rng(7).normal(5, 2)
        array(5.63687731)
        """
        if type(loc) in _PLAIN and type(scale) in _PLAIN and _taken_by_op(loc, scale):
            return self._draw("random_normal", (
                size_of("normal", size), floating("normal", dtype), loc, scale), device)
        return self._made("normal", lambda draw, loc, scale: loc + scale * draw.normal(),
                          (("loc", loc, ANY), ("scale", scale, NOT_NEGATIVE)), size, dtype, device)

    def standard_exponential(self, size=None, dtype=None, method="zig", out=None, *, device=None):
        """Exponentially distributed numbers of mean 1.

        Shapes: size, or out's.
        Dtypes: a floating one, float64 if None. method is "zig" or "inv", as in NumPy; nd4c inverts the
        distribution function for both.
        Errors: ValueError for another method.

        >>> nd4c.random.default_rng(7).standard_exponential(3)
        array([0.28747913, 2.45739423, 0.22905595])
        """
        if method not in ("zig", "inv"):
            raise ValueError("standard_exponential: method is %r, expected 'zig' or 'inv'" % (method,))
        return write("standard_exponential", out, size, dtype, lambda shape, dtype: self._draw(
            "random_exponential", (shape, floating("standard_exponential", dtype), 1.0), device))

    def exponential(self, scale=1.0, size=None, *, dtype=None, device=None):
        """Exponentially distributed numbers of mean scale.

        Shapes: size, or None scale's.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if scale < 0.

        >>> nd4c.random.default_rng(7).exponential(2.0, size=3)
        array([0.57495826, 4.91478846, 0.4581119 ])
        """
        if type(scale) in _PLAIN and _taken_by_op(0, scale):
            return self._draw("random_exponential", (
                size_of("exponential", size), floating("exponential", dtype), scale), device)
        return self._made("exponential", lambda draw, scale: scale * draw.exponential(),
                          (("scale", scale, NOT_NEGATIVE),), size, dtype, device)

    def lognormal(self, mean=0.0, sigma=1.0, size=None, *, dtype=None, device=None):
        """e to the power of normally distributed numbers of that mean and standard deviation.

        Shapes: size, or None that to which mean and sigma broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if sigma < 0.

        >>> nd4c.random.default_rng(7).lognormal(0, 0.5, size=3)
        array([1.1725951 , 0.42342427, 1.13851821])
        """
        if type(mean) in _PLAIN and type(sigma) in _PLAIN and _taken_by_op(mean, sigma):
            return self._draw("random_log_normal", (
                size_of("lognormal", size), floating("lognormal", dtype), mean, sigma), device)
        return self._made("lognormal", lambda draw, mean, sigma: _exp(mean + sigma * draw.normal()),
                          (("mean", mean, ANY), ("sigma", sigma, NOT_NEGATIVE)), size, dtype, device)

    # -- gamma numbers and what is made of them ------------------------------------------------------------------------

    def standard_gamma(self, shape, size=None, dtype=None, out=None, *, device=None):
        """Gamma distributed numbers of shape parameter `shape` and scale 1.

        Shapes: size, out's, or None that of `shape`.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if `shape` < 0, or if size does not fit it or out.

        >>> nd4c.random.default_rng(7).standard_gamma(2.0, size=3)
        array([2.11249664, 2.02456197, 7.48557558])
        """
        def make(size, dtype):
            return self._made("standard_gamma", lambda draw, shape: draw.gamma(shape), (("shape", shape, FINITE),),
                              size, dtype, device)
        return make(size, dtype) if out is None else write("standard_gamma", out, size, dtype, make)

    def gamma(self, shape, scale=1.0, size=None, *, dtype=None, device=None):
        """Gamma distributed numbers of shape parameter `shape`, times scale.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if a parameter is below 0.

        >>> nd4c.random.default_rng(7).gamma(2.0, [1.0, 100.0])
        array([  2.11249664, 202.45619731])
        """
        return self._made("gamma", lambda draw, shape, scale: scale * draw.gamma(shape),
                          (("shape", shape, FINITE), ("scale", scale, NOT_NEGATIVE)), size, dtype, device)

    def beta(self, a, b, size=None, *, dtype=None, device=None):
        """Beta distributed numbers, 0 to 1, of mean a / (a + b).

        Shapes: size, or None that to which a and b broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if a or b is not above 0.

        >>> nd4c.random.default_rng(7).beta(2, 5, size=3)
        array([0.47712977, 0.22309376, 0.626161  ])
        """
        return self._made("beta", _beta, (("a", a, FINITE_ABOVE), ("b", b, FINITE_ABOVE)), size, dtype, device)

    def chisquare(self, df, size=None, *, dtype=None, device=None):
        """Sums of the squares of df standard normal numbers; df need not be whole.

        Shapes: size, or None df's.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if df is not above 0.

        >>> nd4c.random.default_rng(7).chisquare(4, size=3)
        array([ 4.22499328,  4.04912395, 14.97115117])
        """
        return self._made("chisquare", _chisquare, (("df", df, FINITE_ABOVE),), size, dtype, device)

    def noncentral_chisquare(self, df, nonc, size=None, *, dtype=None, device=None):
        """Sums of the squares of df normal numbers whose means' squares sum to nonc.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if df is not above 0 or nonc is below 0; also if nonc is above 2^54 and a df is at most 1.

        >>> nd4c.random.default_rng(7).noncentral_chisquare(3, 20, size=3)
        array([23.14866918,  8.89321992, 22.68677153])
        """
        return self._made("noncentral_chisquare", _noncentral_chisquare,
                          (("df", df, FINITE_ABOVE), ("nonc", nonc, FINITE)), size, dtype, device)

    def f(self, dfnum, dfden, size=None, *, dtype=None, device=None):
        """Ratios of two chi-square numbers, each divided by its degrees of freedom.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if a parameter is not above 0.

        >>> nd4c.random.default_rng(7).f(3, 20, size=3)
        array([1.58179911, 1.01802212, 6.25527221])
        """
        return self._made("f", _f, (("dfnum", dfnum, FINITE_ABOVE), ("dfden", dfden, FINITE_ABOVE)), size, dtype, device)

    def noncentral_f(self, dfnum, dfden, nonc, size=None, *, dtype=None, device=None):
        """Ratios as of f(), the upper chi-square number noncentral.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if dfnum or dfden is not above 0, or nonc is below 0.

        >>> nd4c.random.default_rng(7).noncentral_f(3, 20, 1.5, size=3)
        array([1.13458167, 0.68256462, 0.88270504])
        """
        return self._made("noncentral_f", _noncentral_f, (
            ("dfnum", dfnum, FINITE_ABOVE), ("dfden", dfden, FINITE_ABOVE), ("nonc", nonc, FINITE)), size, dtype, device)

    def standard_t(self, df, size=None, *, dtype=None, device=None):
        """Student's t of df degrees of freedom.

        Shapes: size, or None df's.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if df is not above 0.

        >>> nd4c.random.default_rng(7).standard_t(10, size=3)
        array([ 0.4418426 , -1.78447125,  0.34172471])
        """
        return self._made("standard_t", lambda draw, df: draw.normal() * _sqrt(df / 2 / draw.gamma(df / 2)),
                          (("df", df, FINITE_ABOVE),), size, dtype, device)

    # -- inverse distribution functions --------------------------------------------------------------------------------

    def gumbel(self, loc=0.0, scale=1.0, size=None, *, dtype=None, device=None):
        """Gumbel distributed numbers, the limit of the largest of many: loc - scale ln(e), e exponential.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if scale < 0.

        >>> nd4c.random.default_rng(7).gumbel(0, 1, size=3)
        array([ 1.24660501, -0.89910153,  1.47378899])
        """
        return self._made("gumbel", lambda draw, loc, scale: loc - scale * _log(draw.exponential()),
                          (("loc", loc, ANY), ("scale", scale, NOT_NEGATIVE)), size, dtype, device)

    def laplace(self, loc=0.0, scale=1.0, size=None, *, dtype=None, device=None):
        """Laplace distributed numbers: loc and scale times the difference of two exponential numbers.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if scale < 0.

        >>> nd4c.random.default_rng(7).laplace(0, 1, size=3)
        array([-1.09830147,  0.48429408,  0.21859486])
        """
        return self._made("laplace", lambda draw, loc, scale: loc + scale * (draw.exponential() - draw.exponential()),
                          (("loc", loc, ANY), ("scale", scale, NOT_NEGATIVE)), size, dtype, device)

    def logistic(self, loc=0.0, scale=1.0, size=None, *, dtype=None, device=None):
        """Logistically distributed numbers of mean loc.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if scale < 0.

        >>> nd4c.random.default_rng(7).logistic(0, 1, size=3)
        array([-1.0994243 ,  2.36784378, -1.35707586])
        """
        return self._made("logistic", lambda draw, loc, scale: loc + scale * _log(_expm1(draw.exponential())),
                          (("loc", loc, ANY), ("scale", scale, NOT_NEGATIVE)), size, dtype, device)

    def pareto(self, a, size=None, *, dtype=None, device=None):
        """Pareto numbers of the second kind (Lomax), from 0 up: (1 - u)^(-1 / a) - 1.

        Shapes: size, or None a's.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if a is not above 0.

        >>> nd4c.random.default_rng(7).pareto(3, size=3)
        array([0.10056796, 1.26852856, 0.07934242])
        """
        return self._made("pareto", lambda draw, a: _expm1(draw.exponential() / a), (("a", a, POSITIVE),), size, dtype, device)

    def power(self, a, size=None, *, dtype=None, device=None):
        """Numbers 0 to 1 of density a x^(a - 1).

        Shapes: size, or None a's.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if a is not above 0.

        >>> nd4c.random.default_rng(7).power(3, size=3)
        array([0.62983264, 0.97059097, 0.5893644 ])
        """
        return self._made("power", lambda draw, a: _pow(-_expm1(-draw.exponential()), 1 / a), (("a", a, POSITIVE),), size,
                          dtype, device)

    def rayleigh(self, scale=1.0, size=None, *, dtype=None, device=None):
        """Lengths of vectors of two normal numbers of standard deviation scale.

        Shapes: size, or None scale's.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if scale < 0.

        >>> nd4c.random.default_rng(7).rayleigh(2.0, size=3)
        array([1.51652004, 4.43386443, 1.35367928])
        """
        return self._made("rayleigh", lambda draw, scale: scale * _sqrt(2 * draw.exponential()),
                          (("scale", scale, NOT_NEGATIVE),), size, dtype, device)

    def standard_cauchy(self, size=None, *, dtype=None, device=None):
        """Ratios of two standard normal numbers.

        Shapes: size.
        Dtypes: a floating one, float64 if None.
        Errors: TypeError for other dtypes.

        >>> nd4c.random.default_rng(7).standard_cauchy(3)
        array([ -0.27689418,  -1.16177187, -19.89219587])
        """
        return self._made("standard_cauchy", lambda draw: draw.normal() / draw.normal(), (), size, dtype, device)

    def triangular(self, left, mode, right, size=None, *, dtype=None, device=None):
        """Numbers from left to right whose density rises to mode and falls behind it.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError unless left <= mode <= right and left < right.

        >>> nd4c.random.default_rng(7).triangular(0, 1, 4, size=3)
        array([2.26847659, 0.5853473 , 2.43264824])
        """
        bounds = [real("triangular: " + name, value) for name, value in (("left", left), ("mode", mode), ("right", right))]
        for text, fails in (("left is above mode", bounds[0] > bounds[1]), ("mode is above right", bounds[1] > bounds[2]),
                            ("left equals right", bounds[0] == bounds[2])):
            if fails is True or (fails is not False and _any(fails, None, False)):
                raise ValueError("triangular: %s; expected left <= mode <= right, and left < right" % text)
        return self._made("triangular", _triangular, (("left", left, ANY), ("mode", mode, ANY), ("right", right, ANY)), size,
                          dtype, device)

    def weibull(self, a, size=None, *, dtype=None, device=None):
        """Weibull numbers of scale 1: exponential numbers to the power of 1 / a; 0 where a is 0.

        Shapes: size, or None a's.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if a < 0.

        >>> nd4c.random.default_rng(7).weibull(1.5, size=3)
        array([0.43558296, 1.82102772, 0.37436426])
        """
        return self._made("weibull", _weibull, (("a", a, NOT_NEGATIVE),), size, dtype, device)

    # -- by rejection, or of several numbers ---------------------------------------------------------------------------

    def vonmises(self, mu, kappa, size=None, *, dtype=None, device=None):
        """Angles from -pi to pi around mu, the closer the larger kappa is.

        Shapes: size, or None that to which mu and kappa broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if kappa < 0.

        >>> nd4c.random.default_rng(7).vonmises(0, 4, size=3)
        array([-1.08493717, -0.0675275 , -0.5291366 ])
        """
        return self._made("vonmises", _vonmises, (("mu", mu, ANY), ("kappa", kappa, NOT_NEGATIVE)), size, dtype, device)

    def wald(self, mean, scale, size=None, *, dtype=None, device=None):
        """Inverse Gaussian numbers: when Brownian motion with drift first passes a level.

        Shapes: size, or None that to which the parameters broadcast.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if a parameter is not above 0.

        >>> nd4c.random.default_rng(7).wald(3, 2, size=3)
        array([2.03610071, 0.47833423, 4.11672006])
        """
        return self._made("wald", _wald, (("mean", mean, POSITIVE), ("scale", scale, POSITIVE)), size, dtype, device)

    def truncated_normal(self, loc=0.0, scale=1.0, low=-2.0, high=2.0, size=None, *, dtype=None, device=None):
        """Normally distributed numbers within low and high standard deviations of loc. NumPy has no such method.

        Shapes: size, no axes if None; the parameters are numbers.
        Dtypes: a floating one, float64 if None.
        Errors: ValueError if scale < 0 or low >= high.

        >>> nd4c.random.default_rng(7).truncated_normal(0, 1, -1, 1, size=3)
        array([ 0.44205776, -0.78191257,  0.52897127])
        """
        check("truncated_normal: scale", real("truncated_normal: scale", scale), NOT_NEGATIVE)
        if not low < high:
            raise ValueError("truncated_normal: low is %r and high is %r, expected low < high" % (low, high))
        return self._draw("random_truncated_normal", (
            size_of("truncated_normal", size), floating("truncated_normal", dtype), loc, scale, low, high), device)


def _taken_by_op(loc, scale):
    """Whether an op takes the two as they are: both finite, scale not below 0 (nor -0.0, which NumPy refuses)."""
    return loc - loc == 0 == scale - scale and copysign(1, scale) > 0


def _check_range(low, high):
    width = high - low
    if type(width) in _PLAIN:
        infinite, negative = not isfinite(width), width < 0
    else:
        infinite = _any(op("logical_not")(op("is_finite")(width)), None, False)
        negative = not infinite and _any(width < 0, None, False)
    if infinite:
        raise OverflowError("uniform: high - low is not finite; expected bounds that are less than 1.8e308 apart")
    if negative:
        raise ValueError("uniform: high is below low; expected low <= high")

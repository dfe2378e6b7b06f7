"""Special functions with parameters: incomplete gamma and beta, zeta, polygamma."""
import mpmath
import numpy as np

from framework import NUMPY, Case, Near, Refusal, cases, refusals
from numbers_oracle import each

inf, nan = mpmath.inf, mpmath.nan
SHAPES = [((), ()), ((0, 3), (3,)), ((2, 1, 3), (3, 1)), ((7,), ()), ((17,), (17,))]


def converged(function):
    """With more bits until two results agree: mpmath's series cancel for large parameters."""
    with mpmath.workprec(130):
        before = function()
        for bits in (300, 800, 4000, 20000):
            with mpmath.workprec(bits):
                now = function()
            if now == before or abs(now - before) <= abs(now) * mpmath.mpf(2) ** -120:
                return +now
            before = now
    raise ArithmeticError("no convergence")


def gamma_part(a, x, upper):
    if not (a >= 0 and x >= 0) or (a == 0 and x == 0) or (a == inf and x == inf):
        return nan
    if a == 0 or x == inf:
        return mpmath.mpf(0 if upper else 1)
    if a == inf or x == 0:
        return mpmath.mpf(1 if upper else 0)
    if a > 2e5:  # only far from the middle in the samples
        return mpmath.mpf(int((x > a) != upper))
    if upper:
        return converged(lambda: mpmath.gammainc(mpmath.mpf(a), mpmath.mpf(x), inf, regularized=True))
    return converged(lambda: mpmath.gammainc(mpmath.mpf(a), 0, mpmath.mpf(x), regularized=True))


def betainc(a, b, x):
    if not (a >= 0 and b >= 0 and 0 <= x <= 1) or (a == 0 and b == 0) or (a == inf and b == inf):
        return nan
    if x in (0, 1):
        return mpmath.mpf(x)
    if a == 0 or b == inf:
        return mpmath.mpf(1)
    if b == 0 or a == inf:
        return mpmath.mpf(0)
    with mpmath.workprec(400):
        a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
        return beta_series(a, b, x) if x <= 0.5 else 1 - beta_series(b, a, 1 - x)


def beta_series(a, b, x):
    """DLMF 8.17.8: all terms are positive."""
    term = total = mpmath.mpf(1)
    n = 0
    while term > total * mpmath.mpf(2) ** -390:
        n += 1
        term *= (a + b + n - 1) / (a + n) * x
        total += term
    return total * x ** a * (1 - x) ** b / (a * mpmath.beta(a, b))


def zeta(s, q):
    if s != s or q != q or s < 1:
        return nan
    if s == 1 or (q <= 0 and (q == -inf or q == int(q))):
        return inf
    if q < 0 and s != inf and s != int(s):
        return nan
    if s == inf:
        return inf if q < 1 else mpmath.mpf(int(q == 1))
    if q == inf:
        return mpmath.mpf(0)
    s, q = mpmath.mpf(s), mpmath.mpf(q)
    if s > 3000:  # all but the first two terms are negligible
        return mpmath.power(q, -s) + mpmath.power(q + 1, -s)
    below = mpmath.mpf(0)
    while q < 0:
        below += 1 / q ** int(s)
        q += 1
    return below + mpmath.zeta(s, q)


def polygamma(n, x):
    if n != n or x != x or n < 0 or (n != inf and n != int(n)):
        return nan
    if n == 0:
        if x in (0, -inf) or (x < 0 and x == int(x)):
            return -inf if x == 0 and np.copysign(1, x) > 0 else inf if x == 0 else nan
        return inf if x == inf else mpmath.digamma(mpmath.mpf(x))
    sign = 1 if n != inf and n % 2 else -1
    if n == inf or (x <= 0 and (x == -inf or x == int(x))):
        return sign * inf
    return mpmath.mpf(0) if x == inf else sign * mpmath.factorial(int(n)) * zeta(n + 1, x)


# function; ranges of the inputs; tuples of interest; scale-free units in the last place
POINTS = {
    "igamma": [(0.5, 0.1), (1e-9, 0.5), (1e-9, 3), (3, 1.4), (3, 1.6), (100, 60), (100, 99), (100, 101), (100, 160),
               (4999, 5000), (5001, 5000), (6000, 6400), (6000, 5500), (100000, 100500), (100000, 99000),
               (0, 1), (0, 0), (2, 0), (inf, 1), (inf, inf), (2, inf), (-1, 1), (1, -1), (nan, 1), (1, nan), (1e9, 5),
               (30, 1e-9), (1e-30, 1), (0.3, 700), (170, 1000)],
    "betainc": [(0.5, 0.5, 0.3), (1e-9, 2, 0.3), (2, 1e-9, 0.8), (1, 1e-12, 0.99), (20, 1e-6, 0.999), (100, 3, 0.9),
                (3, 100, 0.01), (200, 300, 0.39), (200, 300, 0.41), (6000, 9000, 0.39), (6000, 9000, 0.41),
                (0, 1, 0.5), (1, 0, 0.5), (0, 0, 0.5), (inf, 1, 0.5), (1, inf, 0.5), (inf, inf, 0.5), (2, 3, 0),
                (2, 3, 1), (2, 3, -0.1), (2, 3, 1.1), (-1, 3, 0.5), (2, -3, 0.5), (nan, 1, 0.5), (2, 3, nan),
                (1e-5, 1e-5, 0.4), (40, 0.5, 1 - 1e-7)],
    "zeta": [(2, 1), (1.0625, 0.5), (1, 2), (0.5, 2), (30, 0.25), (200, 3), (3, -1.5), (2, -7.25), (2.5, -1.5), (2, 0),
             (2, -3), (inf, 1), (inf, 2), (inf, 0.5), (2, inf), (nan, 1), (2, nan), (5, 1e6), (1000, 1.5), (4, 1e-9)],
    "polygamma": [(0, 1.5), (0, -1.5), (1, 1), (2, 0.25), (3, -2.75), (10, 20), (100, 60), (170, 3), (1, 0), (2, -1),
                  (1.5, 1), (-1, 1), (nan, 1), (1, nan), (1, inf), (2, inf), (1, 1e6), (5, 1e-9), (4, -0.25)],
}
OF = {"igamma": lambda a, x: gamma_part(a, x, False), "igammac": lambda a, x: gamma_part(a, x, True),
      "betainc": betainc, "zeta": zeta, "polygamma": polygamma}
POINTS["igammac"] = POINTS["igamma"]


def operands(s, dtype, op, *shapes):
    if op in ("igamma", "igammac"):
        return s.uniform(dtype, 0, 12, shapes[0]), s.uniform(dtype, 0, 12, shapes[1])
    if op == "betainc":
        return (s.uniform(dtype, 0, 9, shapes[0]), s.uniform(dtype, 0, 9, shapes[1]),
                s.uniform(dtype, 0, 1, shapes[0]))
    if op == "zeta":
        return s.uniform(dtype, 1, 9, shapes[0]), s.uniform(dtype, 0, 9, shapes[1])
    return (np.asarray(s.integers(0, 6, shapes[0])).astype(NUMPY[dtype]), s.uniform(dtype, -4, 9, shapes[1]))


def scale_of(op, xs):
    """Left of 0 digamma and the odd sums have zeros."""
    if op != "polygamma":
        return None
    return each(lambda n, x: 1.0 if n == 0 and abs(x) < 100 else 0.0, *xs).astype(np.float64)


@cases("igamma", "igammac", "betainc", "zeta", "polygamma", ulps=1)
def parametric(s, dtype, op):
    for shapes in SHAPES:
        xs = operands(s, dtype, op, *shapes)
        yield Case(list(xs), {}, [Near(each(OF[op], *xs), dtype, scale_of(op, xs))])
    with np.errstate(all="ignore"):
        columns = np.array([[float(v) for v in p] for p in POINTS[op]], dtype=np.float64).T
        xs = [c.astype(NUMPY[dtype]) for c in columns]
    yield Case(xs, {}, [Near(each(OF[op], *xs), dtype, scale_of(op, xs))])
    repeated = [np.repeat(x[:1], 3, axis=0) for x in operands(s, dtype, op, (1, 5), (1, 5))]
    yield Case(repeated, {}, [Near(each(OF[op], *repeated), dtype, scale_of(op, repeated))])
    if op == "polygamma":  # by logarithms of several thousand
        far = [np.array([v]).astype(NUMPY[dtype]) for v in (1800, 650)]
        yield Case(far, {}, [Near(each(OF[op], *far), dtype)], ulps=64)
    if dtype == "float32":
        mixed = operands(s, dtype, op, (3,), (3,))
        mixed = [x.astype(np.float64) if i == 1 else x for i, x in enumerate(mixed)]
        yield Case(mixed, {}, [Near(each(OF[op], *mixed), "float64", scale_of(op, mixed))])


@refusals("igamma", "zeta", "polygamma")
def not_a_pair(s, op):
    x = s.positive("float32", (3,))
    yield Refusal([x, s.positive("float32", (4,))], {}, "SHAPE", "input")
    yield Refusal([s.positive("int32", (3,)), x], {}, "DTYPE", "is int32")
    yield Refusal([x, s.positive("int32", (3,))], {}, "DTYPE", "is int32")


@refusals("betainc")
def not_three(s):
    x = s.positive("float32", (3,))
    yield Refusal([x, x, s.positive("float32", (4,))], {}, "SHAPE", "the first two inputs together, (3,)")
    yield Refusal([x, x, s.positive("int64", (3,))], {}, "DTYPE", "input x is int64")
    yield Refusal([x, s.positive("float32", (2,)), x], {}, "SHAPE", "input b")
    yield Refusal([x, x], {}, "NULL_ARGUMENT", "input x is missing")

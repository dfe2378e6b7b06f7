"""Each distribution of nd4c.random against SciPy's: Kolmogorov and Smirnov's test or chi-square, and moments. Seeds are fixed,
so the results are the same on every run; a p below 1e-4 in one of some 150 tests means a wrong distribution, not bad luck."""
import math

import numpy as np
import pytest
from scipy import stats

import nd4c

COUNT, LEAST = 20000, 1e-4

CONTINUOUS = [
    ("random", (), stats.uniform()),
    ("uniform", (-3, 7), stats.uniform(-3, 10)),
    ("standard_normal", (), stats.norm()),
    ("normal", (5, 2), stats.norm(5, 2)),
    ("normal", (-1e6, 1e-3), stats.norm(-1e6, 1e-3)),
    ("standard_exponential", (), stats.expon()),
    ("exponential", (3.5,), stats.expon(scale=3.5)),
    ("lognormal", (1, 0.5), stats.lognorm(0.5, scale=math.e)),
    ("standard_gamma", (0.05,), stats.gamma(0.05)),
    ("standard_gamma", (1,), stats.gamma(1)),
    ("gamma", (7.5, 3), stats.gamma(7.5, scale=3)),
    ("gamma", (1e6, 1), stats.gamma(1e6)),
    ("beta", (2, 5), stats.beta(2, 5)),
    ("beta", (0.5, 0.5), stats.beta(0.5, 0.5)),
    ("beta", (0.1, 0.3), stats.beta(0.1, 0.3)),
    ("beta", (1e5, 3e5), stats.beta(1e5, 3e5)),
    ("beta", (0.2, 40), stats.beta(0.2, 40)),
    ("chisquare", (1,), stats.chi2(1)),
    ("chisquare", (50,), stats.chi2(50)),
    ("noncentral_chisquare", (3, 20), stats.ncx2(3, 20)),
    ("noncentral_chisquare", (0.5, 2), stats.ncx2(0.5, 2)),
    ("noncentral_chisquare", (1, 0), stats.chi2(1)),
    ("f", (3, 20), stats.f(3, 20)),
    ("f", (40, 1.5), stats.f(40, 1.5)),
    ("noncentral_f", (3, 20, 1.5), stats.ncf(3, 20, 1.5)),
    ("standard_t", (1.5,), stats.t(1.5)),
    ("standard_t", (30,), stats.t(30)),
    ("gumbel", (1, 2), stats.gumbel_r(1, 2)),
    ("laplace", (-1, 3), stats.laplace(-1, 3)),
    ("logistic", (2, 0.5), stats.logistic(2, 0.5)),
    ("pareto", (3,), stats.lomax(3)),
    ("pareto", (0.5,), stats.lomax(0.5)),
    ("power", (0.3,), stats.powerlaw(0.3)),
    ("power", (5,), stats.powerlaw(5)),
    ("rayleigh", (2,), stats.rayleigh(scale=2)),
    ("standard_cauchy", (), stats.cauchy()),
    ("triangular", (-1, 0, 4), stats.triang(0.2, -1, 5)),
    ("triangular", (0, 0, 1), stats.triang(0, 0, 1)),
    ("triangular", (0, 1, 1), stats.triang(1, 0, 1)),
    ("weibull", (0.7,), stats.weibull_min(0.7)),
    ("weibull", (3,), stats.weibull_min(3)),
    ("vonmises", (0, 4), stats.vonmises(4)),
    ("vonmises", (0, 0.1), stats.vonmises(0.1)),
    ("vonmises", (0, 1e-12), stats.uniform(-math.pi, 2 * math.pi)),
    ("vonmises", (0, 3e-6), stats.uniform(-math.pi, 2 * math.pi)),
    ("vonmises", (0, 300), stats.vonmises(300)),
    ("vonmises", (0, 1e8), stats.norm(scale=1e-4)),
    ("wald", (3, 2), stats.invgauss(1.5, scale=2)),
    ("wald", (1, 1e-3), stats.invgauss(1e3, scale=1e-3)),
    ("wald", (1, 1e4), stats.invgauss(1e-4, scale=1e4)),
    ("truncated_normal", (1, 2, -1, 3), stats.truncnorm(-1, 3, 1, 2)),
]

DISCRETE = [
    ("integers", (3, 9), stats.randint(3, 9)),
    ("integers", (-2 ** 63, -2 ** 63 + 5), stats.randint(0, 5)),
    ("binomial", (1, 0.3), stats.binom(1, 0.3)),
    ("binomial", (20, 0.75), stats.binom(20, 0.75)),
    ("binomial", (100000, 0.4), stats.binom(100000, 0.4)),
    ("poisson", (0.2,), stats.poisson(0.2)),
    ("poisson", (8,), stats.poisson(8)),
    ("poisson", (1000,), stats.poisson(1000)),
    ("geometric", (0.25,), stats.geom(0.25)),
    ("geometric", (0.999,), stats.geom(0.999)),
    ("geometric", (1e-3,), stats.geom(1e-3)),
    ("negative_binomial", (3, 0.25), stats.nbinom(3, 0.25)),
    ("negative_binomial", (0.4, 0.05), stats.nbinom(0.4, 0.05)),
    ("hypergeometric", (15, 10, 8), stats.hypergeom(25, 15, 8)),
    ("hypergeometric", (2, 3, 1), stats.hypergeom(5, 2, 1)),
    ("hypergeometric", (3, 1000, 900), stats.hypergeom(1003, 3, 900)),
    ("hypergeometric", (500, 700, 600), stats.hypergeom(1200, 500, 600)),
    ("hypergeometric", (10 ** 6, 10 ** 6, 400), stats.hypergeom(2 * 10 ** 6, 10 ** 6, 400)),
    ("logseries", (0.1,), stats.logser(0.1)),
    ("logseries", (0.75,), stats.logser(0.75)),
    ("logseries", (0.999,), stats.logser(0.999)),
    ("zipf", (1.5,), stats.zipf(1.5)),
    ("zipf", (2.5,), stats.zipf(2.5)),
    ("zipf", (20,), stats.zipf(20)),
    ("bernoulli", (0.3,), stats.bernoulli(0.3)),
]


def sample(name, arguments, seed=12):
    return np.asarray(getattr(nd4c.random.Generator(seed), name)(*arguments, size=COUNT))


def chi_square(values, law):
    """p of a chi-square test: cells of neighbouring numbers, at least 20 expected in each."""
    values = np.sort(values.astype(float))
    quantiles = np.unique(law.ppf(np.linspace(0, 1, 41)[1:-1]))
    below = np.concatenate([[0], np.searchsorted(values, quantiles, side="right"), [len(values)]])
    chances = np.diff(np.concatenate([[0], law.cdf(quantiles), [1]]))
    observed, expected = np.diff(below), chances * len(values)
    while len(expected) > 1 and expected.min() < 20:
        at = int(expected.argmin())
        other = at - 1 if at else 1
        for cells in (observed, expected):
            cells[other] += cells[at]
        observed, expected = np.delete(observed, at), np.delete(expected, at)
    return stats.chisquare(observed, expected).pvalue if len(expected) > 1 else float(observed[0] == len(values))


def check_mean(values, law):
    """Where the mean of so many numbers is nearly normal."""
    mean, variance, excess = law.stats("mvk")
    if np.isfinite(mean) and np.isfinite(variance) and excess < 100:
        assert abs(values.mean() - mean) < 4.5 * math.sqrt(variance / COUNT)


@pytest.mark.parametrize("name, arguments, law", CONTINUOUS, ids=lambda value: str(value) if type(value) is tuple else None)
def test_continuous(name, arguments, law):
    values = sample(name, arguments)
    assert values.dtype == np.float64 and np.isfinite(values).all()
    assert stats.kstest(values, law.cdf).pvalue > LEAST
    if name != "vonmises":  # of which SciPy computes moments by slow integrals
        check_mean(values, law)


@pytest.mark.parametrize("name, arguments, law", DISCRETE, ids=lambda value: str(value) if type(value) is tuple else None)
def test_discrete(name, arguments, law):
    values = sample(name, arguments)
    if arguments[0] == -2 ** 63:
        values = values - np.int64(-2 ** 63)
    assert values.dtype == (bool if name == "bernoulli" else np.int64)
    assert chi_square(values, law) > LEAST
    check_mean(values, law)


def test_a_wrong_law_would_be_seen():
    """The tests above can fail: neighbouring laws do."""
    assert stats.kstest(sample("normal", (5, 2)), stats.norm(5, 2.2).cdf).pvalue < LEAST
    assert stats.kstest(sample("vonmises", (0, 4)), stats.vonmises(5).cdf).pvalue < LEAST
    assert chi_square(sample("hypergeometric", (15, 10, 8)), stats.binom(8, 0.6)) < LEAST
    assert chi_square(sample("zipf", (2.5,)), stats.zipf(2.6)) < LEAST


@pytest.mark.parametrize("name, arguments", [(name, arguments) for name, arguments, _ in CONTINUOUS + DISCRETE if arguments])
def test_arrays_of_parameters_have_each_its_law(name, arguments):
    """A column of parameters beside another: the halves are those of their own parameters."""
    if name == "truncated_normal" or arguments[0] == -2 ** 63:
        return
    law = next(law for one, given, law in CONTINUOUS + DISCRETE if (one, given) == (name, arguments))
    other = next((given for one, given, _ in CONTINUOUS + DISCRETE if one == name and given != arguments), arguments)
    rows = [nd4c.asarray([[float(a)], [float(b)]]) for a, b in zip(arguments, other)]
    if name in ("integers",):
        rows = [nd4c.astype(row, "int64") for row in rows]
    made = getattr(nd4c.random.Generator(5), name)(*rows, size=(2, COUNT))
    values = np.asarray(made)[0]
    test = chi_square(values, law) if any(one == name for one, _, _ in DISCRETE) else stats.kstest(values, law.cdf).pvalue
    assert made.shape == (2, COUNT) and test > LEAST


# -- vectors -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n, p", [(20, [0.5, 0.3, 0.2]), (1, [0.1] * 10), (1000, [0.05, 0, 0.7, 0.25, 0]), (7, [1.0])])
def test_multinomial(n, p):
    values = np.asarray(nd4c.random.Generator(3).multinomial(n, p, size=COUNT))
    assert values.shape == (COUNT, len(p)) and (values.sum(1) == n).all() and (values >= 0).all()
    for column, chance in zip(values.T, p):
        assert chi_square(column, stats.binom(n, chance)) > LEAST
    if len(p) > 2:
        assert np.cov(values.T)[0, 2] == pytest.approx(-n * p[0] * p[2], abs=0.1 * n * max(p[0] * p[2], 1e-9) + 0.02)


def test_multinomial_of_arrays():
    values = np.asarray(nd4c.random.Generator(4).multinomial(nd4c.asarray([[3], [50]]), [[0.5, 0.5], [0.1, 0.9]]))
    assert values.shape == (2, 2, 2) and values.sum(-1).tolist() == [[3, 3], [50, 50]]
    many = np.asarray(nd4c.random.Generator(4).multinomial(10, [[0.5, 0.5], [0.1, 0.9]], size=(COUNT, 2)))
    assert chi_square(many[:, 1, 0], stats.binom(10, 0.1)) > LEAST


@pytest.mark.parametrize("colors, count", [([16, 8, 4], 6), ([0, 5, 0, 7, 1], 13), ([3, 0], 0), ([100] * 5, 250)])
@pytest.mark.parametrize("method", ["marginals", "count"])
def test_multivariate_hypergeometric(colors, count, method):
    values = np.asarray(nd4c.random.Generator(3).multivariate_hypergeometric(colors, count, size=COUNT, method=method))
    assert values.shape == (COUNT, len(colors)) and (values.sum(1) == count).all()
    for column, have in zip(values.T, colors):
        assert (column <= have).all() and chi_square(column, stats.hypergeom(sum(colors), have, count)) > LEAST


@pytest.mark.parametrize("alpha", [[10, 5, 3], [0.5, 0.5], [0.2, 0.3, 0.2], [2.0]])
def test_dirichlet(alpha):
    values = np.asarray(nd4c.random.Generator(3).dirichlet(alpha, size=COUNT))
    assert values.shape == (COUNT, len(alpha)) and np.allclose(values.sum(1), 1)
    for column, one in zip(values.T, alpha):
        rest = sum(alpha) - one
        assert not rest or stats.kstest(column, stats.beta(one, rest).cdf).pvalue > LEAST


def test_small_parameters():
    """Of such numbers the most are 0 or 1 to a float: as many as should be, and never NaN."""
    g = nd4c.random.Generator(3)
    a, b = 0.01, 0.03
    for values in (np.asarray(g.beta(a, b, size=COUNT)), np.asarray(g.dirichlet([a, 0.01, 0.02], size=COUNT))[:, 0]):
        for bound in (1e-200, 1e-50, 1e-10, 0.5):
            share = stats.beta(a, b).cdf(bound)
            assert abs((values < bound).mean() - share) < 4.5 * math.sqrt(share * (1 - share) / COUNT)
    ones = np.asarray(g.beta(2e-309, 6e-309, size=COUNT))  # a share a / (a + b) is 1, all others 0
    assert set(ones.tolist()) == {0.0, 1.0} and abs(ones.mean() - 0.25) < 4.5 * math.sqrt(0.25 * 0.75 / COUNT)


def test_dirichlet_of_zeros():
    assert nd4c.random.Generator(3).dirichlet([0, 1]).tolist() == [0, 1] and nd4c.random.dirichlet([0, 0]).tolist() == [0, 0]


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    mean, cov = [0, 10, -3], [[2, 0.8, 0], [0.8, 1, -0.3], [0, -0.3, 0.5]]
    values = np.asarray(nd4c.random.Generator(3).multivariate_normal(mean, cov, size=(COUNT // 100, 100), method=method))
    assert values.shape == (COUNT // 100, 100, 3)
    values = values.reshape(-1, 3)
    assert np.allclose(values.mean(0), mean, atol=0.04) and np.allclose(np.cov(values.T), cov, atol=0.06)
    whitened = np.linalg.solve(np.linalg.cholesky(cov), (values - mean).T)
    for row in whitened:
        assert stats.kstest(row, stats.norm.cdf).pvalue > LEAST


def test_multivariate_normal_of_no_covariance():
    bad = [[1, 2], [2, 1]]
    with pytest.warns(RuntimeWarning, match="semidefinite"):
        nd4c.random.multivariate_normal([0, 0], bad)
    with pytest.raises(ValueError, match="semidefinite"):
        nd4c.random.multivariate_normal([0, 0], bad, check_valid="raise")
    nd4c.random.multivariate_normal([0, 0], bad, check_valid="ignore")
    assert nd4c.random.multivariate_normal([1, 2], [[0, 0], [0, 0]], size=2).tolist() == [[1, 2], [1, 2]]


# -- orders ------------------------------------------------------------------------------------------------------------

def test_every_order_is_equally_likely():
    g = nd4c.random.Generator(8)
    rows = np.asarray(g.permuted(nd4c.broadcast_to(nd4c.arange(4), (COUNT, 4)), axis=1))
    codes, counts = np.unique(rows @ [64, 16, 4, 1], return_counts=True)
    assert len(codes) == 24 and stats.chisquare(counts).pvalue > LEAST
    columns = np.asarray(g.permuted(nd4c.broadcast_to(nd4c.reshape(nd4c.arange(3), (3, 1)), (3, COUNT)), axis=0))
    codes, counts = np.unique([9, 3, 1] @ columns, return_counts=True)
    assert len(codes) == 6 and stats.chisquare(counts).pvalue > LEAST


@pytest.mark.parametrize("count, number", [(5, 2), (1000, 3)])
def test_choice_without_replacement_is_uniform(count, number):
    """1000 and 3: few of many are drawn without an order of all."""
    g = nd4c.random.Generator(8)
    picked = np.array([g.choice(count, number, replace=False).tolist() for _ in range(4000)])
    assert all(len(set(row)) == number for row in picked.tolist())
    for column in picked.T:
        assert stats.chisquare(np.bincount(column * 5 // count, minlength=5)).pvalue > LEAST


def test_choice_with_probabilities():
    g, p = nd4c.random.Generator(8), [0.1, 0.0, 0.6, 0.3]
    counts = np.bincount(np.asarray(g.choice(4, COUNT, p=p)), minlength=4)
    assert counts[1] == 0 and stats.chisquare(counts[[0, 2, 3]], np.array([0.1, 0.6, 0.3]) * COUNT).pvalue > LEAST
    firsts = np.array([g.choice(4, 2, replace=False, p=p).tolist() for _ in range(4000)])
    assert stats.chisquare(np.bincount(firsts[:, 0], minlength=4)[[0, 2, 3]], np.array([0.1, 0.6, 0.3]) * 4000).pvalue > LEAST
    assert (firsts[:, 0] != firsts[:, 1]).all() and 1 not in firsts


def test_integers_between_arrays_are_uniform():
    g = nd4c.random.Generator(8)
    low, high = nd4c.asarray([[0], [-5], [2 ** 40]]), nd4c.asarray([[3], [5], [2 ** 40 + 7]])
    values = np.asarray(g.integers(low, high, size=(3, COUNT)))
    for row, first, count in zip(values, (0, -5, 2 ** 40), (3, 10, 7)):
        assert stats.chisquare(np.bincount(row - first, minlength=count)).pvalue > LEAST
    wide = np.asarray(g.integers(nd4c.asarray([0, 1]), 2 ** 63 - 1, size=(COUNT, 2), endpoint=True))
    assert stats.kstest(wide[:, 0] / 2.0 ** 63, stats.uniform.cdf).pvalue > LEAST


def test_children_are_independent():
    first, second = (np.asarray(child.standard_normal(COUNT)) for child in nd4c.random.Generator(1).spawn(2))
    assert abs(np.corrcoef(first, second)[0, 1]) < 4.5 / math.sqrt(COUNT)
    assert stats.kstest(np.concatenate([first, second]), stats.norm.cdf).pvalue > LEAST

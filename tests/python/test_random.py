"""nd4c.random as an interface: signatures are NumPy's, sizes, dtypes, out, errors, states. test_random_distributions.py looks at
the numbers themselves."""
import copy
import doctest
import inspect
import pickle

import numpy as np
import pytest

import nd4c
import nd4c.numpy.random as legacy
from same import check

random = nd4c.random
METHODS = [name for name in dir(np.random.Generator) if not name.startswith("_") and name != "bit_generator"]
# Arguments of every method that draws, without a size.
DRAWING = {
    "beta": (2, 5), "binomial": (10, 0.5), "chisquare": (3,), "choice": (5,), "dirichlet": ([1, 2],), "exponential": (),
    "f": (3, 4), "gamma": (2,), "geometric": (0.3,), "gumbel": (), "hypergeometric": (15, 10, 8), "integers": (9,),
    "laplace": (), "logistic": (), "lognormal": (), "logseries": (0.7,), "multinomial": (5, [0.5, 0.5]), "multivariate_hypergeometric": ([5, 6], 4),
    "multivariate_normal": ([0, 0], [[1, 0], [0, 1]]), "negative_binomial": (3, 0.25), "noncentral_chisquare": (3, 20),
    "noncentral_f": (3, 20, 1.5), "normal": (), "pareto": (3,), "poisson": (), "power": (3,), "random": (), "rayleigh": (),
    "standard_cauchy": (), "standard_exponential": (), "standard_gamma": (2,), "standard_normal": (), "standard_t": (4,),
    "triangular": (0, 1, 4), "uniform": (), "vonmises": (0, 4), "wald": (3, 2), "weibull": (1.5,), "zipf": (2.5,),
    "bernoulli": (0.5,), "truncated_normal": (), "bits": ()}
VECTORS = {"dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal"}
WHOLE = {"binomial", "geometric", "hypergeometric", "integers", "logseries", "multinomial", "multivariate_hypergeometric",
         "negative_binomial", "poisson", "zipf", "choice"}


@pytest.mark.parametrize("arguments, scale", [((0, 1), 1), ((5, 2), 2), ((), 1)])
def test_normal_of_two_numbers_is_one_number(arguments, scale):
    """Once, normal(0, 1) was an array without elements and normal(5, 2) five numbers: shapes came first."""
    for normal in (random.normal, random.default_rng(1).normal, legacy.normal):
        drawn = normal(*arguments)
        assert drawn.shape == () and abs(float(drawn) - (arguments or (0,))[0]) < 8 * scale
    values = random.default_rng(1).normal(*arguments, size=1000)
    check(nd4c.mean(values), np.asarray((arguments or (0.0,))[0], dtype=float), 0.25)
    assert 0.9 < float(nd4c.std(values)) / scale < 1.1


# -- signatures --------------------------------------------------------------------------------------------------------

def parameters(function, without=("self", "dtype", "device")):
    return [(name, one.kind, one.default) for name, one in inspect.signature(function).parameters.items() if name not in without]


@pytest.mark.parametrize("name", METHODS)
def test_signatures_are_numpys(name):
    ours, theirs = getattr(random.Generator, name), getattr(np.random.Generator, name)
    assert parameters(ours) == parameters(theirs)
    names = list(inspect.signature(theirs).parameters)
    if "dtype" in names:  # where NumPy has one, ours has its place
        assert list(inspect.signature(ours).parameters)[:len(names)] == names
    if name not in ("spawn", "bytes", "shuffle"):
        assert inspect.signature(ours).parameters["device"].kind is inspect.Parameter.KEYWORD_ONLY
    if name != "spawn":
        of_module = getattr(random, name)
        assert inspect.signature(of_module).parameters == dict(list(inspect.signature(ours).parameters.items())[1:])


def test_every_drawing_method_takes_a_dtype():
    assert set(DRAWING) >= set(METHODS) - {"bytes", "permutation", "permuted", "shuffle", "spawn"}
    for name in set(DRAWING) - {"choice"}:
        assert "dtype" in inspect.signature(getattr(random.Generator, name)).parameters, name


@pytest.mark.parametrize("name", np.random.__all__)
def test_older_functions(name):
    if name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"):
        with pytest.raises(AttributeError, match="default_rng"):
            getattr(legacy, name)
    elif name not in ("Generator", "BitGenerator", "RandomState", "rand", "randn", "ranf", "sample"):
        ours, theirs = parameters(getattr(legacy, name)), parameters(getattr(np.random, name))
        assert ours == theirs
    assert name in legacy.__all__ or name[0].isupper()


# -- sizes, dtypes, out ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", sorted(DRAWING))
def test_sizes(name):
    arguments = DRAWING[name]
    draw = getattr(random.default_rng(3), name)
    tail = (2,) if name in VECTORS else ()
    assert draw(*arguments).shape == tail
    for size, shape in ((4, (4,)), ((2, 3), (2, 3)), ([2, 3], (2, 3)), ((), ()), (0, (0,)), ((2, 0), (2, 0)),
                        (np.int64(2), (2,))):
        assert draw(*arguments, size=size).shape == shape + tail
    for size, error in ((-1, ValueError), ((2, -3), ValueError), (2.5, TypeError), ((2, "a"), TypeError)):
        with pytest.raises(error, match=name + ": size is "):
            draw(*arguments, size=size)


@pytest.mark.parametrize("name", sorted(set(DRAWING) - {"choice", "bits", "bernoulli"}))
def test_dtypes(name):
    draw = getattr(random.default_rng(3), name)
    assert draw(*DRAWING[name], size=5).dtype is (nd4c.int64 if name in WHOLE else nd4c.float64)
    for dtype in ("int32", np.uint8, nd4c.int64) if name in WHOLE else ("float32", np.float32, nd4c.float16):
        made = draw(*DRAWING[name], size=5, dtype=dtype)
        assert made.dtype is nd4c.zeros(1, dtype=dtype).dtype
    with pytest.raises(TypeError, match=name + ": dtype is utf8|" + name + ": dtype is int32"):
        draw(*DRAWING[name], size=5, dtype="utf8" if name in WHOLE else "int32")


@pytest.mark.parametrize("name, arguments", [("gamma", ([1.0, 2, 3], 2)), ("normal", ([0, 10, 20], [[1], [2]])),
                                             ("poisson", ([1.0, 2, 3],)), ("vonmises", (np.zeros(3), 4)),
                                             ("integers", ([0, 10], [[5], [20]])), ("hypergeometric", ([1, 2, 3], 5, 4)),
                                             ("zipf", (nd4c.asarray([2.0, 3]),))])
def test_parameters_broadcast(name, arguments):
    wanted = np.broadcast_shapes(*[np.shape(np.asarray(value)) for value in arguments])
    if name == "integers":
        arguments = ([0, 10], [[15], [20]])
    draw = getattr(random.default_rng(3), name)
    assert draw(*arguments).shape == wanted
    assert draw(*arguments, size=(4,) + wanted).shape == (4,) + wanted
    with pytest.raises(ValueError, match="size is"):
        draw(*arguments, size=wanted + (7,))


def test_out():
    g = random.default_rng(3)
    for name, arguments in (("random", ()), ("standard_normal", ()), ("standard_exponential", ()), ("standard_gamma", (2,))):
        out = nd4c.zeros((2, 3), dtype="float32")
        made = getattr(g, name)(*arguments, out=out)
        assert made is out and len(set(np.asarray(out).ravel().tolist())) == 6
        assert getattr(g, name)(*arguments, size=(2, 3), dtype="float32", out=out) is out
        with pytest.raises(ValueError, match="size"):
            getattr(g, name)(*arguments, size=4, out=out)
        with pytest.raises(TypeError, match="dtype"):
            getattr(g, name)(*arguments, dtype="float64", out=out)
        with pytest.raises(TypeError, match="list"):
            getattr(g, name)(*arguments, out=[1.0])


# -- parameters --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, arguments", [
    ("normal", (0, -1)), ("normal", (0, -0.0)), ("normal", (0, [1, -1])), ("uniform", (1, 0)), ("uniform", ([0, 1], 0.5)),
    ("lognormal", (0, -1)), ("exponential", (-1,)), ("exponential", (-0.0,)), ("gamma", (-1,)), ("gamma", (1, -1)),
    ("standard_gamma", (-1,)), ("beta", (0, 1)), ("beta", (1, -1)), ("chisquare", (0,)), ("f", (0, 1)), ("f", (1, 0)),
    ("noncentral_chisquare", (1, -1)), ("noncentral_chisquare", (0, 1)), ("noncentral_f", (1, 0, 1)), ("standard_t", (0,)),
    ("gumbel", (0, -1)), ("laplace", (0, -1)), ("logistic", (0, -1)), ("pareto", (0,)), ("power", (0,)), ("rayleigh", (-1,)),
    ("triangular", (1, 0, 2)), ("triangular", (0, 3, 2)), ("triangular", (1, 1, 1)), ("weibull", (-1,)), ("vonmises", (0, -1)),
    ("wald", (0, 1)), ("wald", (1, 0)), ("binomial", (-1, 0.5)), ("binomial", (1.5, 0.5)), ("binomial", (1, 1.5)),
    ("binomial", (1, float("nan"))), ("poisson", (-1,)), ("poisson", (float("nan"),)), ("poisson", (1e300,)), ("geometric", (0,)),
    ("geometric", (1.1,)), ("negative_binomial", (0, 0.5)), ("negative_binomial", (1, 0)), ("negative_binomial", (1e10, 1e-10)),
    ("hypergeometric", (1, 1, 3)), ("hypergeometric", (-1, 1, 0)), ("hypergeometric", (2.5, 1, 1)), ("logseries", (1,)),
    ("logseries", (-0.1,)), ("zipf", (1,)), ("zipf", (float("nan"),)), ("multinomial", (3, [0.5, 0.6, 0.1])),
    ("multinomial", (3, [])), ("multinomial", (-1, [1.0])), ("multinomial", (1, [-0.5, 1])),
    ("multivariate_hypergeometric", ([1, 2], 4)), ("multivariate_hypergeometric", ([1, -2], 0)), ("dirichlet", ([[1, 2]],)),
    ("multivariate_hypergeometric", ([1, 2], 2, None, "x")), ("dirichlet", ([-1, 2],)), ("dirichlet", ([],)),
    ("multivariate_normal", ([[0, 0]], [[1, 0], [0, 1]])), ("multivariate_normal", ([0, 0], [[1, 0, 0]])),
    ("multivariate_normal", ([0], [[1]], None, "x")), ("integers", (0,)), ("integers", (5, 5)), ("integers", (0, [1, 0])),
    ("integers", (0, 2.5)), ("integers", (0, 300, None, "int8")), ("integers", (-1, 3, None, "uint64")),
    ("integers", (0, 3, None, "bool")), ("standard_exponential", (2, None, "x")), ("bernoulli", (1.5,)), ("choice", (0,)),
    ("choice", (-1,)), ("choice", ([],)), ("choice", (2.5,)), ("choice", (5, 10, False)), ("choice", (5, -1)),
    ("choice", (2, None, True, [0.5, 0.6])), ("choice", (2, None, True, [1.5, -0.5])), ("choice", (5, None, True, [0.5, 0.5])),
    ("choice", (3, 2, False, [1.0, 0, 0])), ("bytes", (-1,)), ("spawn", (-1,)), ("permutation", (-1,)),
    ("gamma", (float("inf"),)), ("beta", (1, float("nan"))),
    ("truncated_normal", (0, 1, 2, 1)), ("truncated_normal", (0, -1)), ("dropout", ([1.0], 1.5)), ("dropout", ([1.0], -0.5)),
    ("permutation", (2.5,)), ("shuffled", (nd4c.asarray(1),)), ("normal", ([0, 1], [1, 2, 3])), ("normal", ([0, 1], 1, 3))])
def test_values_are_refused(name, arguments):
    """With a text of ours that names the method, and without a step of the state."""
    g = random.default_rng(3)
    before = g.state.tolist()
    with pytest.raises(ValueError) as caught:
        getattr(g, name)(*arguments)
    assert str(caught.value).startswith(name + ":") and g.state.tolist() == before


@pytest.mark.parametrize("name, arguments, error", [
    ("normal", ("a",), TypeError), ("normal", (1j,), TypeError), ("normal", (None,), TypeError), ("gamma", ({},), TypeError),
    ("uniform", (0, float("inf")), OverflowError), ("uniform", (-1e308, 1e308), OverflowError), ("integers", (0, "a"), TypeError),
    ("integers", (0, 2, None, "float32"), TypeError), ("random", (2, "int32"), TypeError), ("shuffle", (5,), TypeError),
    ("shuffle", ((1, 2),), TypeError), ("shuffle", (np.zeros(3), 1), IndexError),
    ("shuffle", (nd4c.zeros(3), 1), IndexError), ("permutation", ([1, 2], 1), IndexError), ("shuffle", ([1, 2], 1), NotImplementedError), ("permuted", ([1, 2],), None),
    ("bytes", (2.5,), TypeError), ("choice", ("abc",), ValueError)])
def test_other_errors(name, arguments, error):
    if error is None:
        assert sorted(random.permuted(*arguments).tolist()) == [1, 2]
        with pytest.raises(IndexError, match="permuted: axis is 1"):
            random.permuted([1, 2], axis=1)
        with pytest.raises(IndexError, match="choice: axis is 2"):
            random.choice([[1, 2]], axis=2)
        return
    with pytest.raises(error):
        getattr(random, name)(*arguments)


def test_edges():
    g = random.default_rng(3)
    for name, arguments, value in (
            ("normal", (3, 0), 3), ("gamma", (0,), 0), ("weibull", (0,), 0), ("exponential", (0,), 0), ("binomial", (0, 0.5), 0),
            ("binomial", (7, 1), 7), ("binomial", (7, 0), 0), ("poisson", (0,), 0), ("geometric", (1,), 1), ("logseries", (0,), 1),
            ("negative_binomial", (3, 1), 0), ("hypergeometric", (0, 5, 3), 0), ("hypergeometric", (5, 0, 3), 3),
            ("hypergeometric", (5, 7, 12), 5), ("hypergeometric", (5, 7, 0), 0), ("zipf", (2000,), 1), ("uniform", (4, 4), 4),
            ("integers", (5, 6), 5), ("choice", (1,), 0), ("noncentral_f", (1e300, 1, 0), None)):
        made = g.__getattribute__(name)(*arguments, size=50)
        assert value is None or set(made.tolist()) == {value}, name
    assert np.isnan(float(g.normal(0, float("nan")))) and np.isnan(float(g.vonmises(0, float("nan"))))
    assert int(nd4c.max(g.geometric(1e-300, size=3))) == 2 ** 63 - 1  # as in NumPy
    assert int(nd4c.min(g.zipf(1 + 1e-9, size=100))) > 0
    assert g.hypergeometric(2 ** 51, 2 ** 51, 10 ** 6).shape == ()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_reach_the_ends(dtype):
    g, limits = random.default_rng(3), nd4c.iinfo(dtype)
    for low, high in ((limits.min, limits.min + 1), (limits.max - 1, limits.max), (limits.min, limits.max)):
        for bounds in ((low, high), ([low], high), (np.array([low], dtype), np.array([high], dtype))):
            made = g.integers(*bounds, size=500, dtype=dtype, endpoint=True)
            values = np.asarray(made)
            assert made.dtype.name == dtype and values.min() >= low and values.max() <= high
            if high - low == 1:
                assert set(values.tolist()) == {low, high}
            else:  # the upper and the lower half
                middle = (high + low) // 2
                assert 180 < (values > middle).sum() < 320
    assert g.integers(limits.max, limits.max + 1, dtype=dtype).item() == limits.max
    with pytest.raises(ValueError, match=dtype):
        g.integers(0, limits.max + 2, dtype=dtype)


def test_integers_of_bool():
    assert set(random.integers(0, 2, size=50, dtype=bool).tolist()) == {True, False}
    assert random.integers([0, 1], 2, size=(50, 2), dtype=bool).dtype is nd4c.bool


# -- orders and samples ------------------------------------------------------------------------------------------------

def test_shuffle_is_in_place():
    g = random.default_rng(3)
    x = nd4c.reshape(nd4c.arange(12), (6, 2))
    view = x[:, 0]
    assert g.shuffle(x) is None and sorted(view.tolist()) == [0, 2, 4, 6, 8, 10] != view.tolist()
    check(x[:, 1] - x[:, 0], np.ones(6, dtype=int))
    wide = nd4c.reshape(nd4c.arange(12), (2, 6))
    g.shuffle(wide, axis=1)
    check(wide[1] - wide[0], np.full(6, 6))
    theirs, items = np.arange(20).reshape(10, 2), list("abcdefghij")
    g.shuffle(theirs), g.shuffle(items)
    assert sorted(theirs[:, 0]) == list(range(0, 20, 2)) != theirs[:, 0].tolist()
    assert sorted(items) == list("abcdefghij") != items


def test_permutations_are_copies():
    g, x = random.default_rng(3), nd4c.reshape(nd4c.arange(60), (3, 20))
    kept = x.tolist()
    assert sorted(g.permutation(20).tolist()) == list(range(20))
    columns = g.permutation(x, axis=1)
    check(columns[1] - columns[0], np.full(20, 20))
    apart = g.permuted(x, axis=1)
    assert len({tuple(value % 20 for value in row) for row in apart.tolist()}) == 3
    assert [sorted(row) for row in apart.tolist()] == kept == x.tolist()
    assert sorted(nd4c.reshape(g.permuted(x), (-1,)).tolist()) == list(range(60)) and g.permuted(x).shape == x.shape
    assert g.permuted(x, axis=0, out=x) is x and x.tolist() != kept
    assert sorted(g.permutation([5, 6, 7]).tolist()) == [5, 6, 7] == sorted(g.shuffled([5, 6, 7]).tolist())


def test_choice():
    g, x = random.default_rng(3), nd4c.reshape(nd4c.arange(12), (3, 4))
    assert g.choice(x).shape == (4,) and g.choice(x, 5, axis=1).shape == (3, 5) and g.choice(x, (2, 2)).shape == (2, 2, 4)
    assert g.choice(x, axis=-1).shape == (3,) and g.choice(2 ** 40, 3, replace=False).shape == (3,)
    assert sorted(g.choice(5, 5, replace=False, shuffle=False).tolist()) == list(range(5))
    assert g.choice(0, 0).shape == (0,) and g.choice([], (0, 2)).shape == (0, 2)
    p = nd4c.asarray([0.1, 0.2, 0.7], dtype="float32")  # sums to 1 as far as its dtype goes
    assert set(g.choice([1, 2, 3], 100, p=p).tolist()) == {1, 2, 3}


# -- states ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", sorted(DRAWING))
def test_numbers_depend_on_the_state_alone(name):
    """A generator's copies, however made, give the same numbers and end in the same state; the next numbers are others."""
    g = random.default_rng(11)
    copies = [pickle.loads(pickle.dumps(g)), copy.copy(g), copy.deepcopy(g), random.Generator(g), random.Generator(11)]
    first = getattr(g, name)(*DRAWING[name], size=(40, 3))
    for other in copies:
        assert getattr(other, name)(*DRAWING[name], size=(40, 3)).tolist() == first.tolist()
        assert other.state.tolist() == g.state.tolist() != [11, 0]
    assert getattr(g, name)(*DRAWING[name], size=(40, 3)).tolist() != first.tolist()


def test_one_op_takes_as_many_steps_as_it_has_elements():
    for name in ("random", "normal", "exponential", "integers", "gamma", "poisson"):
        g = random.default_rng(0)
        getattr(g, name)(*DRAWING[name], size=(5, 3))
        assert g.state.tolist() == [0, 15]
    g = random.default_rng(0)
    assert g.laplace(size=10).shape == (10,) and g.state.tolist() == [0, 20]


def test_seeds():
    def first(seed):
        return random.default_rng(seed).random().item()
    assert first(7) == first([7]) == first(np.int64(7)) == first(np.array([7])) != first(8)
    seeds = [7, [7, 0], [7, 8], (8, 7), 2 ** 64, 2 ** 64 + 7, 2 ** 200, np.random.SeedSequence(7), np.random.SeedSequence(8)]
    assert len({first(seed) for seed in seeds}) == len(seeds)
    assert first(np.random.SeedSequence(7)) == first(np.random.SeedSequence(7)) and first(None) != first(None)
    assert random.default_rng(2 ** 64 - 1).state.tolist() == [-1, 0]
    for seed, error in ((-1, ValueError), ([1, -2], ValueError), (1.5, TypeError), ("a", TypeError), ([1.5], TypeError)):
        with pytest.raises(error, match="seed"):
            random.default_rng(seed)
    g = random.default_rng(7)
    assert random.default_rng(g) is g and random.Generator(g) is not g


def test_children():
    g = random.default_rng(7)
    before = g.state.tolist()
    children = g.spawn(3) + g.spawn(1) + g.spawn(0)
    assert g.state.tolist() == before and [type(child) for child in children] == [random.Generator] * 4
    grandchildren = [child for parent in children for child in parent.spawn(2)]
    assert len({child.random().item() for child in children + grandchildren + [g]}) == 13
    assert random.default_rng(7).spawn(4)[3].state.tolist() == random.default_rng(7).spawn(5)[3].state.tolist()
    assert pickle.loads(pickle.dumps(g)).spawn(1)[0].random().item() == g.spawn(1)[0].random().item()
    after = pickle.loads(pickle.dumps(g))
    for count in (2**62, 2**63 - 1, 10**30):
        with pytest.raises(MemoryError):
            g.spawn(count)
    assert g.spawn(1)[0].random().item() == after.spawn(1)[0].random().item()


def test_bit_generator():
    g = random.default_rng(7)
    g.random(10)
    state = g.bit_generator.state
    first = g.random(5).tolist()
    other = random.default_rng(1)
    other.bit_generator.state = state
    assert other.random(5).tolist() == first and state["bit_generator"] == "Philox4x32"
    raw = g.bit_generator.random_raw()
    assert type(raw) is int and 0 <= raw < 2 ** 64 and g.bit_generator.random_raw(3).dtype is nd4c.uint64
    ahead = random.default_rng(7)
    ahead.bit_generator.advance(10)
    assert ahead.random(5).tolist() == first and random.Generator(ahead.bit_generator).random() == ahead.random()
    for value, error in (({}, TypeError), (5, TypeError), (dict(state, bit_generator="PCG64"), ValueError)):
        with pytest.raises(error, match="state"):
            g.bit_generator.state = value
    with pytest.raises(ValueError, match="delta"):
        g.bit_generator.advance(-1)


def test_functions_of_the_module_share_the_threads_generator():
    for module in (random, legacy):
        module.seed(5)
        first = [random.normal(), legacy.rand(2), random.integers(9, size=3)]
        module.seed(5)
        again = [random.normal(), legacy.rand(2), random.integers(9, size=3)]
        assert [x.tolist() for x in again] == [x.tolist() for x in first]
    assert random.normal.__name__ == "normal" and random.normal.__doc__ == random.Generator.normal.__doc__


def test_older_interface():
    legacy.seed(5)
    state = legacy.get_state()
    numbers = legacy.randn(2, 3)
    legacy.set_state(state)
    assert legacy.randn(2, 3).tolist() == numbers.tolist() and numbers.shape == (2, 3) and legacy.rand().shape == ()
    assert set(legacy.randint(3, size=100).tolist()) == {0, 1, 2}
    assert set(legacy.random_integers(3, size=100).tolist()) == {1, 2, 3}
    assert all(x.shape == (4,) for x in (legacy.random_sample(4), legacy.ranf(4), legacy.sample(4), legacy.random(4)))
    own, same = legacy.RandomState(3), legacy.RandomState(3)
    assert own.normal(5, 2, 4).tolist() == same.normal(5, 2, 4).tolist() and own.tomaxint().dtype is nd4c.int64
    assert own.uniform(3, 1).item() <= 3 and pickle.loads(pickle.dumps(own)).rand().item() == own.rand().item()
    with pytest.raises(ValueError, match="axes"):
        own.choice(nd4c.ones((2, 2)))
    with pytest.raises(AttributeError, match="nothing"):
        legacy.nothing


def test_dropout_and_categories():
    g = random.default_rng(3)
    y, mask = g.dropout(nd4c.ones(1000), 0.25)
    assert mask.dtype is nd4c.bool and set(y.tolist()) == {0, 1 / 0.75} and 700 < int(nd4c.count_nonzero(mask)) < 800
    rows = g.categorical([[1, 0, 0], [0, 1, 1]], 50)
    assert rows.shape == (2, 50) and set(rows[0].tolist()) == {0} and set(rows[1].tolist()) == {1, 2}
    assert g.categorical(nd4c.asarray([0.0, float("-inf")]), logarithms=True).tolist() == [0]
    with pytest.raises(TypeError, match="bits: dtype"):
        g.bits(3, dtype="float32")


def test_examples_of_docstrings():
    """nd4c.random's and those of NumPy's older interface."""
    for module in (random, legacy):
        failed, tried = doctest.testmod(module, extraglobs={"nd4c": nd4c, "np": nd4c.numpy})
        assert not failed and tried > 50

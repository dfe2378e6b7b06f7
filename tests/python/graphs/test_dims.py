"""Arithmetic of dims: results against NumPy's for many sizes with one program, what is refused, and what a user is told."""
import warnings

import numpy as np
import pytest
from graphs.recorded import F32, close, counted, random

import nd4c
import nd4c.ops


def sizes_of(np, x):
    """What dims by +, -, *, // and % are used for, by a function of nd4c or of NumPy."""
    n, m = x.shape
    joined = getattr(np, "concat", None) or np.concatenate
    return [x[:n // 2], x[n // 2:], x[n // 2::2], x[:, :-(m - 1)], x[-(n // 2):], x[:-(n // 2)], x[n - 1],
            x[-1 - n // 2], x[::-1][:n - 1],
            x[m - 2:n - 1, 1:m], x[n - 1::-1], x[n - n:], x[n // 2 - n:], x[1:n + 5],
            x.reshape(n * m), x.reshape(m, -1), x.reshape((1, n, m * 1)), x[:n - n % 2].reshape(n // 2, 2, m),
            np.reshape(x, [m, n]),
            np.zeros(n + 1), np.ones((2 + n, m)), np.full((n * 2, m - 1), 2.5), np.full(m * n, 3),
            np.full((2, n), m - 1), np.empty((n - 2, 0)),
            np.broadcast_to(x[0], (n + 2, m)), np.broadcast_to(np.arange(3.0), (n * 2, 3)),
            x[:, None] + np.zeros((n, 2 * m // 2, m)),
            np.arange(n), np.arange(0, n), np.arange(2, n * m, 3), np.arange(n - 1, -1, -1), np.arange(-2, n + 1),
            np.arange(-n, n, 2),
            np.arange(n // 2, n), np.arange(m - 2, n, dtype="int32"), np.arange(n, dtype="float32"), np.arange(n + 1, 0, -2),
            np.repeat(x, n, axis=0), np.repeat(x, m - 1, axis=-1), np.repeat(x, n - 1), np.repeat(np.arange(3), n),
            np.tile(x, n), np.tile(x, (n - 1, 2)), np.tile(np.arange(2), m * 2), np.eye(n),
            np.eye(n, m + 1, dtype="int8"), np.eye(m - 1, n),
            joined([x[:n // 2], x[n // 2:]]) + x, x.reshape(-1)[:n * m - 1], np.arange(n) + n, n - np.arange(n),
            np.arange(m) * (n - m) // 1,
            +n * m, -(-n // 2), n - m, m - n, n // -2, 3 * n - 1, n % 3, (n + m) * (n - 1) // 2, x.size, x[1:].size + 1,
            (n - 5) * 1 + 5, 7 - n + n, n // m, (2 + n) % m]


@pytest.mark.parametrize("place", range(len(sizes_of(np, np.zeros((4, 3))))))
def test_arithmetic_of_dims_stays_symbolic(place):
    """One program serves all sizes. What depends on the sign of a difference has a program for each sign."""
    f, traces = counted(lambda x: sizes_of(nd4c, x)[place])
    sizes = ((9, 3), (4, 3), (13, 5), (5, 4), (40, 6), (7, 7))
    for size in sizes:
        x = random(*size)
        got, want = f(x), sizes_of(np, np.asarray(x))[place]
        assert type(got) is int if type(want) is int else got.dtype.name == np.asarray(want).dtype.name
        assert np.shape(got) == np.shape(want) and np.array_equal(np.asarray(got), want), size
    assert len(traces) <= 2 and sum(map(len, f._programs.values())) == len(traces)


@pytest.mark.parametrize("function", (
    lambda x, n, m: nd4c.ops.top_k(x, k=n // 2, axis=0)[0], lambda x, n, m: nd4c.ops.tril(x, k=n - 2),
    lambda x, n, m: nd4c.ops.triu(x, k=m - 2), lambda x, n, m: nd4c.ops.pad(x, pads=(0, n, m - 1, 1)),
    lambda x, n, m: nd4c.ops.one_hot(nd4c.arange(n), nd4c.asarray([0, 1]), depth=n + 1),
    lambda x, n, m: nd4c.ops.resize(x, sizes=(n * 2, m)),
    lambda x, n, m: nd4c.cond(x[0, 0] == x[0, 0], lambda v: v + nd4c.zeros(m * 2, dtype=F32)[:m], lambda v: v, x[0])))
def test_ops_take_dims_as_attributes(function):
    f, traces = counted(lambda x: function(x, *x.shape))
    for size in ((4, 3), (7, 5), (6, 3)):
        close(f(random(*size)), function(random(*size), *size))
    assert len(traces) == 1


def test_one_program_for_all_sizes():
    def function(x):
        n, m = x.shape
        halves = x[:n // 2].sum() - x[n // 2:].sum()
        shapes = nd4c.tile(x, (2, m - 1)), nd4c.full((n + m, n * 2), 1.5), x[:, :-(m // 2)]
        return nd4c.arange(n * m).reshape(n, m) * halves, *shapes
    f, traces = counted(function)
    for rows in range(2, 40):
        x = random(rows, 3 + rows % 5)
        close(f(x), function(x))
    assert len(traces) == 1 and f.graph(x).dims == ("x0_0", "x0_1")
    assert f.plan(x).bindings["made"] > 1


def test_dims_of_a_graph():
    """Without numbers, a difference is at least 0: a run that makes it less is refused, and the error names the expression."""
    g = nd4c.Graph()
    x = g.input("x", F32, ("n", "m"))
    n, m = x.shape
    assert repr((n + 1, 2 * n, n - 2, n // 2, n * m, 5 - n, -n, -(n + 1), +n, n % 4, x.size)) == (
        "(n + 1, 2*n, n - 2, n / 2, n*m, 5 - n, -n, -(n + 1), n, n - 4*(n / 4), n*m)")
    assert n - n == 0 and n + 1 == 1 + n and n * 0 == 0 and (n + 3) - n == 3 and type(n * 2 - 2 * n) is int
    assert x[:n // 2].shape == (n // 2, m) and x[n // 2:].shape[0] == n - n // 2
    assert nd4c.zeros([n + 1, 2]).shape == (n + 1, 2) and x.reshape(n * m).shape == (n * m,)
    assert nd4c.tile(x, n).shape == (n, m * n)
    assert "the extent n - 2: n >= 2" in g.guards
    assert n - (n + 1) == -1 and repr(n - (3 * n + 2)) == "-(2*n + 2)"
    with pytest.raises(ValueError, match="the extent -n is negative"):
        nd4c.zeros(-n)
    with pytest.raises(ValueError, match="exceeds 64 bits"):
        nd4c.Graph().dim("k", 3) * (2 ** 62) * 3
    with pytest.raises(ZeroDivisionError):
        n // 0
    with pytest.raises(ZeroDivisionError):
        n % 0
    for looks in (lambda: n < 3, lambda: n ** 2, lambda: n / 2, lambda: float(n), lambda: bool(n), lambda: hash(n),
                  lambda: n == 3,
                  lambda: n + 1.5, lambda: n + 2 ** 70, lambda: range(n)):
        with pytest.raises(TypeError, match="the extent n is only known when a plan runs"):
            looks()
    assert n != "n" and (n == None) is False  # noqa: E711
    short = nd4c.Graph()
    y = short.input("y", F32, ("n",))
    short.output("cut", y[: y.shape[0] - 2])
    plan = short.plan()
    assert plan(random(5)).shape == (3,) and plan(random(2)).shape == (0,)
    with pytest.raises(ValueError, match="the extent n - 2: n >= 2; here the two are 1 and 2"):
        plan(random(1))
    other = nd4c.Graph().input("z", F32, ("k",))
    with pytest.raises(TypeError, match="only known when a plan runs"):
        n + other.shape[0]


def test_elements_of_a_range_are_looked_at():
    """With numbers, arange(n) is an array that is there: a function that looks at its elements is recorded for each size."""
    def looks(x):
        places = nd4c.arange(x.shape[0])
        return nd4c.numpy.bincount(places, minlength=x.shape[0] + 1) + (2 if places[1] else 3)
    f, traces = counted(looks)
    for rows in (4, 6, 4):
        assert f(random(rows)).tolist() == [3] * rows + [2]
    assert len(traces) == 4, "each size first with dims"
    with pytest.raises(TypeError, match="nd4c.where"):
        nd4c.compile(lambda x: nd4c.arange(x.shape[0]) if x.sum() else x)(random(3))
    with pytest.raises(TypeError, match="nd4c.where"):
        nd4c.compile(lambda x: x if nd4c.arange(x.shape[0]) @ x > 0 else -x)(random(3))


def test_arrays_of_dims():
    f, traces = counted(lambda x: (x.sum() / nd4c.asarray(x.shape[0], dtype=x.dtype), nd4c.asarray(x.size - 1),
                                   nd4c.full_like(x, x.shape[1] - 1),
                                   nd4c.full(3, -x.shape[0], dtype=F32), nd4c.asarray(2 - x.shape[0])))
    for rows in (4, 5, 9):
        x = random(rows, 3)
        close(f(x), (x.sum() / rows, nd4c.asarray(rows * 3 - 1), nd4c.full_like(x, 2), nd4c.full(3, -rows, dtype=F32),
                     nd4c.asarray(2 - rows)))
    assert len(traces) == 1
    g = nd4c.Graph()
    n = g.input("x", F32, ("n",)).shape[0]
    g.output("n", nd4c.asarray(n * 2))
    assert g.plan()(random(7)).tolist() == 14


def test_dims_beside_floats_are_numbers():
    for function in (lambda x: nd4c.where(x > 0, x, x.shape[0] * 2), lambda x: nd4c.clip(x, -x.shape[0] // 9, x.shape[1] - 2),
                     lambda x: nd4c.minimum(x, x.shape[0] - 4), lambda x: x + x.size, lambda x: x.shape[1] * 2 - x):
        compiled = nd4c.compile(function)
        for rows in (4, 5):
            close(compiled(random(rows, 3)), function(random(rows, 3)))


def test_comparisons_that_need_no_number():
    def function(x):
        n, m = x.shape
        answers = (n > 0, n >= 2, n < 1, n <= -1, 0 < n, 1 == n, n != 0, n == 1, bool(n), n + 1 > n, n + 1 == n,
                   n // 2 <= n, n - n // 2 >= 0,
                   n == -3, n * 2 != n, not n, n <= 0, n > -1, -1 < n, abs(n - n - n) == n, n == n + 0, n * m >= m,
                   x.size == n * m, x.size == 0)
        assert all(type(one) is bool for one in answers)
        return [int(one) for one in answers] + [abs(-n)]
    f, traces = counted(function)
    for size in ((4, 3), (9, 2), (2, 2)):
        assert f(random(*size)) == function(np.zeros(size))
    assert len(traces) == 1
    for unknown in (lambda n, m: n > 2, lambda n, m: n == m, lambda n, m: n - 1 < m, lambda n, m: bool(n - 2),
                    lambda n, m: n >= 2.5):
        f, traces = counted(lambda x: x + 1 if unknown(*x.shape) else x)  # noqa: B023
        for size in ((4, 3), (2, 5), (5, 5)):
            close(f(random(*size)), random(*size) + 1 if unknown(*size) else random(*size))
        assert len(traces) == 3


def test_signs_of_differences():
    """A compiled function has a program for each sign of a difference, and no more."""
    f, traces = counted(lambda x: x[x.shape[0] - 5:])
    for rows in (9, 3, 12, 4, 2, 7, 5, 8):
        close(f(random(rows, 2)), random(rows, 2)[rows - 5:])
    assert len(traces) <= 4  # a cut from the front, from the end, and what begins before the first element
    f, traces = counted(lambda x: x[:-(x.shape[0] - 5)])
    for rows in (9, 5, 12, 7):
        close(f(random(rows, 2)), random(rows, 2)[:-(rows - 5)])


def test_dims_in_control_flow():
    def function(x, flag):
        n = x.shape[0]
        half = nd4c.cond(flag, lambda x: x[: n // 2 + 1] * 2, lambda x: x[n - (n // 2 + 1):], x)
        return half, nd4c.while_loop(lambda s: s > 3, lambda s: s // 2, n), nd4c.scan(lambda c, x: (c + n, x.sum()), n, x)
    f, traces = counted(function)
    for rows in (6, 9, 31):
        for flag in (True, False):
            close(f(random(rows, 3), nd4c.asarray(flag)), function(random(rows, 3), nd4c.asarray(flag)))
    assert len(traces) == 1


def test_gradients_through_dims():
    f = nd4c.grad(lambda x: (x[: x.shape[0] // 2].sum() * 2 - x[x.shape[0] // 2:].reshape(-1).sum()))
    for rows in (4, 7):
        want = np.ones((rows, 2), F32) * -1
        want[: rows // 2] = 2
        assert np.array_equal(np.asarray(f(random(rows, 2))), want)


def test_many_recordings_are_told_once():
    """Where a number is looked at again and again, one warning names the line; a number that stays is not named."""
    def looks(x):
        y = x * float(x.shape[1])
        return y / x.shape[0]
    f = nd4c.compile(looks)
    line = looks.__code__.co_firstlineno + 2
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for rows in range(2, 9):
            f(random(rows, 3))
        assert not seen
        for rows in range(9, 30):
            f(random(rows, 3))
    (one,) = seen
    assert one.category is RuntimeWarning and (one.filename, one.lineno) == (__file__, line)
    assert "looks> was recorded 8 times for different sizes" in str(one.message)
    assert "%s:%d, in looks, looks at the number of the extent x0_0" % (__file__, line) in str(one.message)


def test_recordings_without_dims_are_told_once():
    """So are extents that could not stay symbolic, and sizes against a guard; dims=False asks for no dims."""
    flat = lambda x: nd4c.scan(lambda c, row: (c + row.sum(), c[:1]), x.reshape(-1), x)  # noqa: E731
    added = lambda x, y: x[: x.shape[0] // 2] + y  # noqa: E731
    f, g, h = nd4c.compile(flat), nd4c.compile(flat, dims=False), nd4c.compile(added)
    close(h(random(4), random(2)), added(random(4), random(2)))
    for compiled, arguments, text in (
            (f, lambda size: (random(size, 3),),
             r"its extents could not stay symbolic (control flow: the extent x0_0*x0_1 of a value that "),
            (g, lambda size: (random(size, 3),), None),
            (h, lambda size: (random(2), random(size)), "the sizes are against what its ops have assumed about extents")):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for size in range(2, 9):
                compiled(*arguments(size))
            assert not seen
            for size in range(9, 20):
                close(compiled(*arguments(size)), compiled._function(*arguments(size)))
        assert len(seen) == (text is not None)
        if seen:
            assert seen[0].category is RuntimeWarning and text in str(seen[0].message) and seen[0].filename == __file__


# -- graphs by hand --------------------------------------------------------------------------------------------------

def same(got, wanted):
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("bounds", ({"low": 2**63}, {"low": 2**64 + 5, "high": 2**64 + 9}, {"high": 2**64},
                                    {"high": -2**63 - 1}))
def test_bounds_beyond_64_bits(bounds):
    g = nd4c.Graph()
    with pytest.raises(OverflowError, match="dim 'k': (low|high): -?[0-9]{19,} does not fit 64 bits"):
        g.dim("k", **bounds)
    for wrong in ({"low": -1}, {"high": -1}, {"high": -2}, {"low": 3, "high": 2}):
        with pytest.raises(ValueError, match="dim 'k' is .* expected bounds of at least 0"):
            g.dim("k", **wrong)
    with pytest.raises(TypeError, match="float"):
        g.dim("k", low=1.5)
    assert repr(g.dim("k", low=1, high=2**62)) == "k"  # the name is still free


@pytest.mark.parametrize("name", ("binding_bytes", "arena_bytes", "compile_memory"))
def test_limits_beyond_64_bits(name):
    g = nd4c.Graph()
    g.output("y", g.input("x", F32, ("n",)) + 1)
    for wrong in (2**64 + 1, 2**63, -2**63 - 1):
        for use in (g.plan, g.explain, g.optimized):
            with pytest.raises(OverflowError, match=r"plan: %s: -?\d+ does not fit 64 bits" % name):
                use(**{name: wrong})
    same(g.plan(**{name: 2**40})(np.ones(3, F32)), np.full(3, 2))


def test_lines_of_an_explanation_have_no_most():
    g = nd4c.Graph()
    g.output("y", -(-g.input("x", F32, ("n",))))
    assert g.explain(lines=2**32) == g.explain() != g.explain(lines=0)


def test_dims_of_another_graph_are_refused():
    other, g = nd4c.Graph(), nd4c.Graph()
    n = other.dim("n", low=2, high=9)
    x = g.input("x", F32, ("m",))
    for extent in (n, n + 1, n // 2):
        with pytest.raises(ValueError, match="the extent .*n.* belongs to another graph"):
            g.input("q", F32, (extent,))
        with pytest.raises(ValueError, match="another graph"):
            nd4c.broadcast_to(x, (extent, x.shape[0]))
    with pytest.raises(TypeError, match="float"):
        g.input("q", F32, (2.5,))
    q = g.input("q", F32, (g.dim("n", low=2, high=9),))
    g.output("y", q * 2)
    same(g.plan()(x=np.ones(3, F32), q=np.ones(9, F32)), np.full(9, 2))
    with pytest.raises(ValueError, match="n"):
        g.plan()(x=np.ones(3, F32), q=np.ones(10, F32))


def test_values_that_are_alike_by_a_guard():
    """x has n rows, y and the halves of x have as many only by assumption."""
    for whole in (False, True):
        g = nd4c.Graph()
        x = g.input("x", F32, ("n", 4))
        y = nd4c.concat([x[::2], x[1::2]], axis=0) if whole else g.input("y", F32, ("m", 4))
        both = nd4c.concat([x, y], axis=1)
        for name, value in (("a", both[:, :4] * 2), ("b", both[:, 4:] * 2), ("c", nd4c.exp(x + y)), ("d", nd4c.sin(y + x))):
            g.output(name, value)
        plan = g.plan()
        for rows in (3, 8, 1):
            given = {"x": random(rows, 4)} if whole else {"x": random(rows, 4), "y": random(rows, 4)}
            first = np.asarray(given["x"])
            second = np.concatenate([first[::2], first[1::2]]) if whole else np.asarray(given["y"])
            wanted = {"a": first * 2, "b": second * 2, "c": np.exp(first + second), "d": np.sin(first + second)}
            made = plan.run(**given)
            for name in wanted:
                same(made[name], wanted[name])
        assert plan.bindings["made"] == 3

"""Graphs: nd4c.compile, nd4c.grad, control flow, and nd4c.Graph. What a plan computes is compared with what the same function
computes at once."""
import copy
import doctest
import gc
import math
import threading

import numpy as np
import pytest
from graphs.recorded import F32, close, counted, random

import nd4c
import nd4c.graph
import nd4c.ops
from nd4c import _abi, _core


# -- every op --------------------------------------------------------------------------------------------------------

def same(got, want):
    if want.dtype.kind == "U" or want.dtype.bits < 8:
        return got.dtype is want.dtype and nd4c.astype(got, "int8").tolist() == nd4c.astype(want, "int8").tolist()
    both = np.asarray(got), np.asarray(want)
    return got.dtype is want.dtype and np.array_equal(*both, equal_nan=want.dtype.kind in "fc")


def as_node(number, failures, seen):
    """An op that computes at once, and once more as the node of a graph."""
    call, (name, inputs, attrs, _) = _core.calls[number], _abi.OPS[number]

    def both(*values):
        want, graph, arrays = call(*values), nd4c.Graph(), []

        def symbol(value):
            if type(value) is not nd4c.Array:
                return value
            arrays.append(value)
            return graph.input("x%d" % len(arrays), value.dtype, value.shape)
        operands = [[symbol(one) for one in value] if kind == "v" else symbol(value) for (kind, _), value in zip(inputs, values)]
        if arrays:
            try:
                made = call(*operands, *values[len(inputs):len(inputs) + len(attrs)])
            except nd4c.errors.UnsupportedError as error:
                if "depends on the data" not in str(error) and "strings are computed on the host" not in str(error):
                    failures.append((name, str(error)))
                return want
            wanted = want if type(want) is tuple else (want,)
            for place, one in enumerate(made if type(made) is tuple else (made,)):
                graph.output("y%d" % place, one)
            got = graph.plan().run(*arrays)
            seen.add(name)
            if not all(map(same, got.values(), wanted)):
                failures.append((name, got, want))
        return want
    return both


def test_every_op_is_a_node(monkeypatch):
    """The examples of all ops give the same bits as nodes of graphs; only ops on texts, and those whose shapes depend on elements,
    are no nodes."""
    failures, seen = [], set()
    monkeypatch.setattr(nd4c.ops, "_calls", {number: as_node(number, failures, seen) for number in _abi.OPS})
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
    for name in (row[0] for row in _abi.OPS.values()):
        function = getattr(nd4c.ops, name, None) or getattr(nd4c.ops, name + "_")
        for test in finder.find(function, name, globs={"nd4c": nd4c}):
            runner.run(test, out=lambda text: None)
    assert failures == [] and len(seen) > 420


# -- functions, operators, methods -----------------------------------------------------------------------------------

FUNCTIONS = (
    lambda x, y: (x + y, 2 - x, x * y / 3, x ** 2, -x, abs(x), x @ y.T, x > y, (x > 0) & (y > 0), x // 2, x % 2),
    lambda x, y: (nd4c.asarray([[1.0], [2.0]], dtype=F32)[:1] * x, nd4c.ones(3, dtype=F32) - y),
    lambda x, y: (x[0], x[-1], x[1:], x[::-1], x[:, 1], x[..., None], x[None, 0], x[:, nd4c.asarray([2, 0])], x[1:, :-1]),
    lambda x, y: (x.sum(), x.mean(axis=1), x.max(axis=0, keepdims=True), x.std(), x.T, x.reshape(-1), x.astype("int32"), x.argmax(axis=1)),
    lambda x, y: (nd4c.concat([x, y], axis=1), nd4c.stack([x, y]), nd4c.where(x > y, x, 0), nd4c.clip(x, -0.5, 0.5), nd4c.flip(x)),
    lambda x, y: (nd4c.zeros_like(x), nd4c.ones_like(x, dtype="int8"), nd4c.full_like(x, 2.5), nd4c.zeros((x.shape[0], 2)), nd4c.asarray(x)),
    lambda x, y: (nd4c.nn.softmax(x), nd4c.matmul(x, nd4c.permute_dims(y)), nd4c.tril(x), nd4c.cumulative_sum(x, axis=1), nd4c.sort(x)),
    lambda x, y: (nd4c.sum(x, where=x > 0), nd4c.broadcast_to(x[0], x.shape), nd4c.squeeze(x[:1], axis=0), nd4c.exp(x, dtype="float64")),
    lambda x, y: nd4c.broadcast_arrays(x[0], y[0][:, None]) + nd4c.unstack(x, axis=1),
    lambda x, y: (nd4c.pad(x, 1), nd4c.pad(x, ((1, 0), (0, 2)), mode="edge"), nd4c.pad(x, 1, mode="reflect"), nd4c.pad(x, 1, constant_values=2.5)),
    lambda x, y: nd4c.meshgrid(x[0], y[1]) + nd4c.meshgrid(x[:, 0], y[0], x[1], indexing="ij") + nd4c.meshgrid(x[:, 0], y, sparse=True),
    lambda x, y: nd4c.meshgrid(x[:, 0], nd4c.asarray([1.0, 2.0]), y[0]) + nd4c.meshgrid(x) + nd4c.meshgrid([1, 2], x[0]),
    lambda x, y: nd4c.split(x, 3, axis=1) + nd4c.split(y, [1, 2]) + [one * x[0] for one in divmod(7, x.shape[1])],
    lambda x, y: (round(x), round(x, 1), divmod(x, y), divmod(x, 0.5), divmod(2.0, x), nd4c.divmod(x, y)),
    lambda x, y: (nd4c.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=F32)[nd4c.astype(x > 0, "int64")], nd4c.arange(9)[nd4c.astype(y > 0, "int64"), ...]),
)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_functions_compute_what_they_compute_at_once(number):
    function = FUNCTIONS[number]
    compiled, traces = counted(function)
    for rows in (4, 7, 4):
        x, y = random(rows, 3), random(rows, 3, seed=1)
        close(compiled(x, y), function(x, y))
    assert len(traces) == 1, "new sizes bind the plan anew"


def test_arguments_and_results_are_trees():
    @nd4c.compile
    def f(pair, *, scale, names):
        return {"sum": pair[0] + pair[1]["b"] * scale, "rest": [names, None, (pair[0],)]}
    for scale in (2, 3):
        x = random(2, 2)
        result = f((x, {"b": [1.0, 2.0] and nd4c.ones(2, dtype=F32)}), scale=scale, names=("a", "b"))
        close(result["sum"], x + scale)
        assert result["rest"][:2] == [("a", "b"), None] and result["rest"][2][0].tolist() == x.tolist()
    close(f((np.ones(2, F32), {"b": np.ones(2, F32)}), scale=1, names=())["sum"], nd4c.full(2, 2.0, dtype=F32))


def test_constants_of_a_program():
    signs, traces = counted(lambda x, zero: nd4c.copysign(x, zero))
    assert [float(signs(nd4c.asarray(1.0), zero)) for zero in (0.0, -0.0, 0.0)] == [1.0, -1.0, 1.0] and len(traces) == 2
    kinds, traces = counted(lambda x, n: x * n)
    assert [kinds(nd4c.asarray(2), n).dtype for n in (1, True, 1.0, 1)] == [nd4c.int64, nd4c.int64, nd4c.float64, nd4c.int64]
    assert len(traces) == 3
    w = nd4c.ones(3)
    closed = nd4c.compile(lambda x: x + w)
    assert closed(nd4c.zeros(3)).tolist() == [1, 1, 1]
    w[...] = 5  # what the program took stays
    assert closed(nd4c.zeros(3)).tolist() == [1, 1, 1]
    nothing = nd4c.compile(lambda x: (1, "text"))
    assert nothing(w) == (1, "text")
    fresh = nd4c.compile(lambda x: (w, x))
    results = fresh(nd4c.zeros(3)), fresh(nd4c.zeros(3))
    results[0][0][...] = 9
    assert results[1][0].tolist() == [5, 5, 5]


def test_dtypes_are_those_at_once():
    """NumPy's scalars have a dtype of their own, Python's numbers take that of the array beside them."""
    x = random(2, 3)
    for function in (lambda x: x * np.float64(2), lambda x: np.float64(2) - x, lambda x: x + np.int64(1), lambda x: x ** np.float64(2),
                     lambda x: nd4c.maximum(x, np.float64(0)), lambda x: nd4c.clip(x, np.float64(-1), 1), lambda x: x * np.float32(2),
                     lambda x: nd4c.where(x > 0, x, np.float64(1)), lambda x: x * np.complex128(2), lambda x: x * 2.0, lambda x: x * np.bool_(True),
                     lambda x: nd4c.select([x > 0], [x]), lambda x: nd4c.select([x > 0, x < -1], [x, 2], default=0.5),
                     lambda x: nd4c.select([x > 0], [nd4c.astype(x, "int8")], default=np.float64(1)), lambda x: nd4c.select([x > 0], [1.0])):
        close(nd4c.compile(function)(x), function(x))


def test_inputs_are_not_shared_with_outputs():
    x = nd4c.zeros(3)
    y = nd4c.compile(lambda x: x)(x)
    y[0] = 1
    assert x.tolist() == [0, 0, 0]


# -- dims ------------------------------------------------------------------------------------------------------------

def test_functions_that_fix_extents():
    """What computes with the number of elements is recorded for each number."""
    nan = nd4c.where(nd4c.arange(12).reshape(4, 3) == 5, math.nan, random(4, 3))
    for function in (lambda x: nd4c.percentile(x, 30), lambda x: nd4c.percentile(x, [10, 50], axis=1), lambda x: nd4c.quantile(x, 0.3, axis=0),
                     lambda x: nd4c.quantile(x, nd4c.asarray([0.25, 0.5]), axis=0, keepdims=True), lambda x: nd4c.quantile(x, x[0] * 0 + 0.5),
                     lambda x: nd4c.nanpercentile(x, 40, axis=0), lambda x: nd4c.quantile(x, 0.4, method="hazen", axis=1),
                     lambda x: nd4c.quantile(x, 0.4, method="inverted_cdf", weights=nd4c.where(x == x, abs(x), 1.0), axis=0), lambda x: nd4c.array_split(x, 2),
                     lambda x: nd4c.average(x[1:], weights=abs(x[:-1])), lambda x: nd4c.average(x, axis=1, weights=[1, 2, 3]),
                     lambda x: nd4c.average(x, axis=0, weights=x * x, returned=True), lambda x: [one * x[0] for one in divmod(x.shape[0], 2)]):
        compiled = nd4c.compile(function)
        for x in (random(4, 3), random(5, 3), nan):
            close(compiled(x), function(x))
    with pytest.raises(ValueError, match="equal division"):
        nd4c.compile(lambda x: nd4c.split(x, 2))(random(3))


def test_comparisons_of_whole_arrays():
    x, y = random(2, 3), random(2, 3, seed=1)
    for function in (nd4c.allclose, nd4c.array_equal, nd4c.array_equiv, lambda x, y: nd4c.array_equal(x, y, equal_nan=True)):
        compiled = nd4c.compile(function)
        for other in (x, y, x + 1e-9):
            assert compiled(x, other).dtype is nd4c.bool and bool(compiled(x, other)) is function(x, other)
    with pytest.raises(TypeError, match="nd4c.where"):
        nd4c.compile(lambda x: x if nd4c.allclose(x, 0) else -x)(x)


def test_numbers_that_the_function_looks_at_are_fixed():
    f, traces = counted(lambda x: x.sum(axis=0) / x.shape[0])
    for rows in (2, 3, 2, 3):
        close(f(random(rows, 4)), nd4c.mean(random(rows, 4), axis=0))
    assert len(traces) == 2
    close(f(random(3, 9)), nd4c.mean(random(3, 9), axis=0))
    assert len(traces) == 2, "the other axis stays a dim"


def test_arithmetic_with_extents():
    """An extent that is looked at is a number: the operators of Python's integers, on either side."""
    x = random(4, 9)
    for function in (lambda x: x * x.shape[-1] ** -0.5, lambda x: x * (1.5 * x.shape[0]) + (x.shape[1] - 1.0),
                     lambda x: x + 2.0 ** x.shape[0] + (x.shape[0] & 5) + (1 << x.shape[0]) - (x.shape[1] >> 1),
                     lambda x: x * (7 // x.shape[0]) + divmod(20, x.shape[1])[1] + round(x.shape[0]), lambda x: x / x.shape[0] - x.shape[0],
                     lambda x: x + float("{:3d}".format(x.shape[0])), lambda x: x * (x.shape[0] <= 4.5)):
        close(nd4c.compile(function)(x), function(x))
    with pytest.raises(TypeError):
        nd4c.compile(lambda x: x + (x.shape[0] + "a"))(x)


def test_ones_and_what_ops_assume():
    f, traces = counted(lambda x, y: x + y)
    for shapes in (((3,), (3,)), ((5,), (5,)), ((3, 1), (1, 3)), ((4, 1), (1, 9)), ((3,), (1,)), ((0,), (0,)), ((0,), (1,))):
        x, y = (random(*shape) for shape in shapes)
        close(f(x, y), x + y)
    assert len(traces) == 5
    g, traces = counted(lambda x, y: nd4c.nn.relu(x) + y.sum() if x.shape == y.shape else x)
    close(g(random(3), random(3)), nd4c.nn.relu(random(3)) + random(3).sum())
    close(g(random(3), random(4)), random(3))
    with pytest.raises(ValueError, match=r"add.*\(4,\).*broadcasts"):
        f(random(3), random(4))
    close(f(random(6), random(6)), random(6) * 2)


def test_each_shape_by_itself():
    traces = []
    fixed = nd4c.compile(lambda x: traces.append(x.shape) or x + 1, dims=False)
    for rows in (2, 3, 2):
        close(fixed(random(rows)), random(rows) + 1)
    assert traces == [(2,), (3,)]
    assert all(type(extent) is int for shape in traces for extent in shape)


def test_ops_that_take_numbers_only():
    function = lambda x: nd4c.linalg.inv(x @ x.T + nd4c.eye(x.shape[0]))  # noqa: E731
    x = random(3, 4, dtype="float64")
    np.testing.assert_allclose(np.asarray(nd4c.compile(function)(x)), np.asarray(function(x)), rtol=1e-9)


def test_programs_are_bounded():
    f, traces = counted(lambda x, n: x + n)
    for n in range(200):
        assert int(f(nd4c.asarray(1), n)) == n + 1
    assert sum(map(len, f._programs.values())) <= 64 and len(f._known) <= 512
    assert int(f(nd4c.asarray(1), 0)) == 1 and len(traces) == 201
    f.clear()
    assert int(f(nd4c.asarray(1), 0)) == 1 and len(traces) == 202


def test_compiled_functions_in_others_and_as_methods():
    inner, traces = counted(lambda x: x * 2)
    outer = nd4c.compile(lambda x: inner(x) + inner(nd4c.ones(2)))
    assert outer(nd4c.ones(2)).tolist() == [4, 4]
    assert [node.op for node in outer.graph(nd4c.ones(2)).nodes] == ["multiply", "add"]

    class Layer:
        def __init__(self, w):
            self.w = w

        @nd4c.compile
        def __call__(self, x):
            """Doubles."""
            return x * self.w
    assert Layer(nd4c.asarray(2.0))(nd4c.ones(2)).tolist() == [2, 2] and Layer(nd4c.asarray(3.0))(nd4c.ones(2)).tolist() == [3, 3]
    assert Layer.__call__.__doc__ == "Doubles." and Layer.__call__.__name__ == "__call__"


def test_options_reach_the_plan():
    @nd4c.compile(passes="dead")
    def f(x):
        return nd4c.sqrt(x + 0)
    assert [node.op for node in f.graph(random(3)).nodes] == ["add", "sqrt"]
    assert "switched off" in f.plan(nd4c.ones(3)).report() or "dead" in f.plan(nd4c.ones(3)).report()
    with pytest.raises(TypeError, match="passe"):
        nd4c.compile(lambda x: x, passe="dead")
    with pytest.raises(ValueError, match="no_such"):
        nd4c.compile(lambda x: x, passes="no_such")(random(3))


# -- random numbers --------------------------------------------------------------------------------------------------

def test_random_numbers_are_no_constants():
    """A recorded function draws from no generator from around it: each call would give the same numbers."""
    outside = nd4c.random.default_rng(1)
    for draw in (lambda x: x + nd4c.random.standard_normal(2), lambda x: x + outside.normal(size=2), lambda x: x + nd4c.random.random(2),
                 lambda x: x + nd4c.random.default_rng().uniform(size=2), lambda x: x + nd4c.random.integers(0, 9, 2),
                 lambda x: nd4c.random.permutation(2) + x, lambda x: x + nd4c.random.Generator(outside).normal(size=2),
                 lambda x: x + outside.spawn(1)[0].normal(size=2), lambda x: nd4c.random.seed(3) or x,
                 lambda x: outside.bit_generator.advance(3) and x, lambda x: x + outside.bit_generator.random_raw()):
        before = outside.state.tolist()
        with pytest.raises(RuntimeError, match="Pass random arrays as arguments"):
            nd4c.compile(draw)(nd4c.ones(2))
        assert outside.state.tolist() == before
    with pytest.raises(RuntimeError, match="being recorded"):
        nd4c.compile(lambda x, generator: x + generator.normal(size=2))(nd4c.ones(2), outside)

    def rows(x):
        generator = nd4c.random.default_rng(1)
        return nd4c.scan(lambda carry, row: (carry, row + generator.normal()), x[0], x)[1]
    with pytest.raises(RuntimeError, match="being recorded"):  # one number for all rows
        nd4c.compile(rows)(nd4c.ones((2, 2)))
    assert nd4c.random.standard_normal(2).shape == outside.normal(size=2).shape == (2,)


def test_random_numbers_of_a_seed_and_of_a_state():
    seeded = lambda x: x + nd4c.random.default_rng(5).normal(1, 2, size=x.shape)  # noqa: E731
    close(nd4c.compile(seeded)(nd4c.ones(3)), seeded(nd4c.ones(3)))

    @nd4c.compile
    def noisy(x, state):
        generator = nd4c.random.default_rng(0)
        generator.state = state
        return x + generator.normal(1, 2, size=2), generator.gamma(2.0, size=2), generator.integers(0, 9, 2), generator.state
    generator = nd4c.random.default_rng(7)
    state = generator.state
    for _ in range(3):
        *got, state = noisy(nd4c.ones(2), state)
        close(got, [1 + generator.normal(1, 2, size=2), generator.gamma(2.0, size=2), generator.integers(0, 9, 2)])
    assert state.tolist() == generator.state.tolist()


# -- refusals --------------------------------------------------------------------------------------------------------

def store(x):
    x[0] = 1


REFUSED = (
    (lambda x: x if x.sum() > 0 else -x, TypeError, r"bool\(x\).*nd4c.where.*nd4c.cond.*nd4c.while_loop"),
    (lambda x: float(x.sum()), TypeError, r"float\(x\)"),
    (lambda x: x.sum().item(), TypeError, r"x.item\(\)"),
    (lambda x: np.asarray(x), TypeError, "NumPy's array"),
    (lambda x: 1 in x, TypeError, "y in x"),
    (store, TypeError, "written into.*nd4c.where"),
    (lambda x: x[x > 0], TypeError, "x.mask. depends on elements"),
    (lambda x: nd4c.nonzero(x), NotImplementedError, "depends on the data"),
    (lambda x: x[5, 5], IndexError, "too many"),
    (lambda x: x["a"], IndexError, "str"),
    (lambda x: x.no_such, AttributeError, "no_such"),
    (lambda x: nd4c.add(x, object()), TypeError, "object"),
    (lambda x: nd4c.add(x, x, out=nd4c.ones(3)), TypeError, "written into an array"),
    (lambda x: nd4c.zeros(3).__setitem__(0, x[0]), TypeError, "written into an array"),
    (lambda x: nd4c.sum(x, out=nd4c.ones(())), TypeError, "written into an array"),
    (lambda x: nd4c.matmul(x, nd4c.ones(4)), ValueError, "matmul"),
    (lambda x: x + nd4c.Graph().input("other", x.dtype, (3,)), ValueError, "different graphs|another graph"),
    (lambda x: nd4c.cond(x > 0, nd4c.exp, nd4c.sin, x), TypeError, "cond: the condition is one bool"),
    (lambda x: nd4c.cond(x[0] > 0, nd4c.exp, lambda y: (y, y), x), TypeError, "different structures"),
    (lambda x: nd4c.cond(x[0] > 0, nd4c.exp, lambda y: y.sum(), x), TypeError, "axes"),
    (lambda x: nd4c.while_loop(lambda y: y.sum() < 1, lambda y: y.astype("int8"), x), TypeError, "body's result"),
    (lambda x: nd4c.scan(lambda c, y: (c, y), x, ()), ValueError, "xs needs an array"),
)


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number):
    function, cls, text = REFUSED[number]
    compiled = nd4c.compile(function)
    for _ in range(2):  # a refused call leaves nothing behind
        with pytest.raises(cls, match=text):
            compiled(nd4c.ones(3))
    assert nd4c.compile(lambda x: x + 1)(nd4c.ones(1)).tolist() == [2]


def test_arguments_that_are_refused():
    with pytest.raises(TypeError, match="neither an array nor hashable"):
        nd4c.compile(lambda x, y: x)(nd4c.ones(1), {1, 2})
    with pytest.raises(TypeError, match="expected a function"):
        nd4c.compile(3)
    leaked = []
    nd4c.compile(lambda x: leaked.append(x) or x)(nd4c.ones(2))
    with pytest.raises(ValueError, match="different graphs"):
        nd4c.compile(lambda x: x + leaked[0])(nd4c.ones(2))


def test_errors_name_the_line():
    def wrong(x):
        return x @ nd4c.ones((5, 5))
    with pytest.raises(ValueError, match=r"node 'wrong:\d+ matmul'"):
        nd4c.compile(wrong)(nd4c.ones((3, 3)))


# -- derivatives -----------------------------------------------------------------------------------------------------

def loss(parameters, x, y):
    hidden = nd4c.tanh(x @ parameters["w"][0] + parameters["b"])
    return nd4c.mean((hidden @ parameters["w"][1] - y) ** 2)


def test_gradients_are_those_of_differences():
    parameters = {"w": [random(3, 4, dtype="float64"), random(4, 2, seed=1, dtype="float64")], "b": random(4, seed=2, dtype="float64")}
    x, y = random(5, 3, seed=3, dtype="float64"), random(5, 2, seed=4, dtype="float64")
    value, gradients = nd4c.value_and_grad(loss)(parameters, x, y)
    close(value, loss(parameters, x, y))
    assert set(gradients) == {"w", "b"} and type(gradients["w"]) is list
    for leaf, gradient in ((lambda p: p["b"], gradients["b"]), (lambda p: p["w"][0], gradients["w"][0])):
        moved = [copy.deepcopy(parameters) for _ in range(2)]
        place = (0,) * gradient.ndim
        leaf(moved[0])[place], leaf(moved[1])[place] = leaf(parameters)[place] + 1e-6, leaf(parameters)[place] - 1e-6
        slope = (float(loss(moved[0], x, y)) - float(loss(moved[1], x, y))) / 2e-6
        assert math.isclose(float(gradient[place]), slope, rel_tol=1e-6)


def test_gradients_of_quotients():
    x = nd4c.asarray([1.0, 2.0])
    for function, slopes in ((lambda a: nd4c.sum(a * a) / a.shape[0], [1, 2]), (lambda a: nd4c.sum(3 / a + a / 2), [-2.5, -0.25]),
                             (lambda a: nd4c.sum(nd4c.divide(a, a * a)), [-1, -0.25])):
        assert nd4c.grad(function)(x).tolist() == slopes


def test_gradients_of_what_users_call():
    x, i, ones = nd4c.asarray([[1.0, 2.0], [4.0, 3.0]]), nd4c.asarray([1, 0, 0]), [[1, 1], [1, 1]]
    for function, slopes in (
            (lambda a: nd4c.sum(a[i] * 2), [[4, 4], [2, 2]]), (lambda a: nd4c.sum(a[:, 1] * a[1]), [[0, 4], [2, 3 + 3]]),
            (lambda a: nd4c.sum(nd4c.take(a, i, axis=1)), [[2, 1], [2, 1]]),
            (lambda a: nd4c.sum(nd4c.stack([a, a * 3])), [[4, 4], [4, 4]]),
            (lambda a: nd4c.sum(nd4c.tile(a, (2, 3)) + nd4c.repeat(nd4c.repeat(a, 3, axis=1), 2, axis=0)), [[12, 12], [12, 12]]),
            (lambda a: nd4c.sum(nd4c.flip(a) * a), [[6, 8], [4, 2]]),
            (lambda a: nd4c.sum(nd4c.roll(a, 1) * a), [[3 + 2, 1 + 4], [2 + 3, 4 + 1]]),
            (lambda a: nd4c.sum(nd4c.sort(a, axis=1) * nd4c.asarray([1.0, 10.0])), [[1, 10], [10, 1]]),
            (lambda a: nd4c.prod(a), [[24, 12], [6, 8]]), (lambda a: nd4c.var(a), [[-0.75, -0.25], [0.75, 0.25]]),
            (lambda a: nd4c.linalg.vector_norm(a - 1, ord=1), [[0, 1], [1, 1]]),
            (lambda a: nd4c.linalg.trace(a), [[1, 0], [0, 1]]),
            (lambda a: nd4c.sum(nd4c.cumulative_sum(a, axis=1)), [[2, 1], [2, 1]]), (lambda a: nd4c.sum(nd4c.nn.elu(a)), ones),
            (lambda a: nd4c.sum(nd4c.einsum("ij,kj->ik", a, a)), [[10, 10], [10, 10]]),
            (lambda a: nd4c.tensordot(a, a), [[2, 4], [8, 6]]), (lambda a: nd4c.sum(nd4c.vecdot(a, a)), [[2, 4], [8, 6]]),
            (lambda a: nd4c.sum(nd4c.linalg.outer(a[0], a[1])), [[7, 7], [3, 3]]),
            (lambda a: nd4c.nn.l1_loss(a, a * 0), [[0.25, 0.25], [0.25, 0.25]]),
            (lambda a: nd4c.linalg.trace(nd4c.linalg.matrix_power(a, 2)), [[2, 8], [4, 6]]),
            (lambda a: nd4c.sum(nd4c.round(a) * a), [[1, 2], [4, 3]]),
            (lambda a: nd4c.sum(nd4c.tril(a) * a), [[2, 0], [8, 6]])):
        assert nd4c.grad(function)(x).tolist() == slopes


def test_gradients_that_are_stopped():
    x, stop = nd4c.asarray([1.0, 2.0]), nd4c.stop_gradient
    assert nd4c.grad(lambda a: nd4c.sum(a * stop(a) + stop({"b": [a * a]})["b"][0]))(x).tolist() == [1, 2]
    cubes = [nd4c.grad(lambda a: nd4c.sum(a * stop(a * a)))(x.astype(dtype)) for dtype in ("float16", "bfloat16", F32)]
    assert [slopes.tolist() for slopes in cubes] == [[1, 4]] * 3
    assert nd4c.grad(lambda a: nd4c.sum((a + stop(nd4c.round(a) - a)) ** 2))(nd4c.asarray([0.75, 2.25])).tolist() == [2, 4]
    assert stop(x) is x and stop([1, (x,)])[1][0] is x and stop(2.5).tolist() == 2.5
    assert nd4c.compile(stop)(x).tolist() == [1, 2] and nd4c.compile(lambda a: stop(a > 1))(x).tolist() == [False, True]
    with pytest.raises(TypeError):
        stop(object())


def test_gradients_at_equal_operands():
    """They go to the first operand, as the page python-graphs.md says."""
    x = nd4c.zeros(2)
    for function in (nd4c.maximum, nd4c.minimum):
        slopes = nd4c.grad(lambda a, b: nd4c.sum(function(a, b)), (0, 1))(x, nd4c.zeros(2))
        assert [one.tolist() for one in slopes] == [[1, 1], [0, 0]]
    for function, slope in ((lambda a: nd4c.maximum(a, 0), 1), (lambda a: nd4c.maximum(0, a), 0), (nd4c.nn.relu, 0)):
        assert nd4c.grad(lambda a: nd4c.sum(function(a)))(x).tolist() == [slope, slope]


def test_forms_of_gradients():
    x, y = nd4c.asarray([1.0, 2.0]), nd4c.asarray([3.0, 5.0])
    product = lambda a, b: nd4c.sum(a * b)  # noqa: E731
    assert [one.tolist() for one in nd4c.grad(product, (0, 1))(x, y)] == [[3, 5], [1, 2]]
    assert nd4c.grad(product, 1)(x, x).tolist() == [1, 2], "the same array twice is two arguments"
    assert nd4c.grad(product, -1)(x, y).tolist() == [1, 2]
    gradient, aux = nd4c.grad(lambda a: (nd4c.sum(a ** 2), {"a": a}), has_aux=True)(x)
    assert gradient.tolist() == [2, 4] and aux["a"].tolist() == [1, 2]
    assert float(nd4c.grad(lambda a: a ** 3)(2.0)) == 12
    assert nd4c.grad(lambda a: nd4c.sum(nd4c.grad(product)(a, a ** 2)))(x).tolist() == [2, 4]
    assert nd4c.grad(lambda a: nd4c.sum(y))(x).tolist() == [0, 0]
    assert nd4c.compile(lambda a: a - nd4c.grad(product)(a, y))(x).tolist() == [-2, -3]
    assert nd4c.grad(nd4c.compile(product))(x, y).tolist() == [3, 5]


def test_gradients_that_are_refused():
    x = nd4c.asarray([1.0, 2.0])
    for function, arguments, cls, text in (
            (lambda a: a * 2, (x,), ValueError, "the loss is not one number; sum or mean"), (lambda a: nd4c.sum(a), (nd4c.asarray([1, 2]),), TypeError, "the loss has dtype int64, expected a floating one"),
            (lambda a: nd4c.sum(nd4c.abs(a * 1j)), (x,), NotImplementedError, "is complex, and complex numbers have no gradient"),
            (lambda a: nd4c.ops.nanmedian(a), (x,), NotImplementedError, "nanmedian.*gradient|gradient.*nanmedian"),
            (lambda a: 3.0, (x,), TypeError, "gave a float"), (lambda a: nd4c.sum(a), (), TypeError, "argnums has 0")):
        with pytest.raises(cls, match=text):
            nd4c.grad(function)(*arguments)


# -- control flow ----------------------------------------------------------------------------------------------------

def test_branches():
    scale = nd4c.asarray(10.0)

    def choose(x, y):
        shift = y * 2
        return nd4c.cond(x.sum() > 0, lambda a: (a + shift, a * scale), lambda a: (y - a, nd4c.cond(y.sum() > 0, nd4c.exp, nd4c.sin, shift)), x)
    compiled, traces = counted(choose)
    for seed in range(4):
        x, y = random(3 + seed % 2, seed=seed, dtype="float64"), random(3 + seed % 2, seed=seed + 10, dtype="float64")
        close(compiled(x, y), choose(x, y))
    assert len(traces) == 1


def test_loops():
    limit = nd4c.asarray(100.0)

    def grow(x):
        step = x + 1
        return nd4c.while_loop(lambda s: s["sum"] < limit, lambda s: {"sum": s["sum"] + step.sum(), "n": s["n"] + 1},
                               {"sum": nd4c.sum(x), "n": nd4c.asarray(0)})
    compiled, traces = counted(grow)
    for x in (nd4c.ones(3), nd4c.full(5, 30.0), nd4c.full(4, 0.25)):
        got, want = compiled(x), grow(x)
        assert got["n"].tolist() == want["n"].tolist() and got["sum"].tolist() == want["sum"].tolist()
    assert len(traces) == 1


@pytest.mark.parametrize("reverse", (False, True))
def test_scans(reverse):
    def cell(x, w):
        return nd4c.scan(lambda h, e: (nd4c.tanh(h @ w + e["x"]), {"h": h * 2, "e": e["x"]}), nd4c.zeros_like(x[0]), {"x": x}, reverse=reverse)
    compiled, traces = counted(cell)
    for length in (4, 6):
        x, w = random(length, 2, 3), random(3, 3, seed=1)
        (state, rows), (wanted, wanted_rows) = compiled(x, w), cell(x, w)
        close(state, wanted)
        close(rows["h"], wanted_rows["h"])
        close(rows["e"], x)
    assert len(traces) == 1


# -- graphs by hand --------------------------------------------------------------------------------------------------

def test_a_graph_and_its_plan():
    g = nd4c.Graph()
    x, w = g.input("x", nd4c.float32, ("batch", 64)), random(64, 3)
    assert repr(x) == "Symbol(float32, (batch, 64))" and x.ndim == 2
    g.output("y", nd4c.nn.softmax(x @ w))
    g.output("total", nd4c.sum(x))
    assert g.dims == ("batch",) and list(g.inputs) == ["x"] and list(g.outputs) == ["y", "total"] and g.guards == ()
    assert str(g).splitlines()[0] == "x = input float32[batch, 64]" and str(g).splitlines()[-1].startswith("total = output %")
    assert [node.op for node in g.nodes] == ["matmul", "softmax", "sum"] and g.nodes[0].label.startswith("test_a_graph_and_its_plan:")
    plan = g.plan()
    g.close()
    for rows in (2, 5):
        data = random(rows, 64)
        close(plan(data)[0], nd4c.nn.softmax(data @ w))
        assert set(plan.run(x=data)) == {"y", "total"}
    assert plan.inputs == ("x",) and plan.outputs == ("y", "total") and plan.bindings["made"] == 2
    plan.prepare(batch=9)
    assert plan.bindings["made"] == 3 and "plan on cpu:0" in plan.report()
    with plan.profile() as profiled:
        profiled(random(2, 64))
    assert sum(step.runs for step in plan.steps) == len(plan.steps) > 0 and plan.steps[0].kernel
    for arguments, named, cls, text in (((), {}, TypeError, "'x' is missing"), ((1, 2), {}, TypeError, "takes 1 inputs"),
                                        ((random(2, 63),), {}, ValueError, "input 'x'.*63"), ((random(2, 64),), {"x": 1}, TypeError, "twice"),
                                        ((random(2, 64).astype("float64"),), {}, TypeError, "input 'x'"), ((), {"z": 1}, TypeError, "'z'")):
        with pytest.raises(cls, match=text):
            plan(*arguments, **named)
    plan.close()
    with pytest.raises(ValueError, match="closed"):
        plan(random(2, 64))


def test_graphs_refuse():
    g = nd4c.Graph()
    x = g.input("x", F32, ("n", g.dim("m", low=2, high=8)))
    with pytest.raises(ValueError, match="'x'"):
        g.input("x", F32, ())
    with pytest.raises(TypeError, match="the extent n is only known when a plan runs"):
        int(x.shape[0])
    with pytest.raises(ValueError, match="bound|between|high"):
        g.dim("k", low=3, high=2)
    with pytest.raises(ValueError, match="output"):
        g.plan()
    g.output("y", x + 1)
    with pytest.raises(ValueError, match="'y'"):
        g.output("y", x)
    with pytest.raises(ValueError, match="m"):
        g.bind(m=9)
    with pytest.raises(ValueError, match="k"):
        g.bind(k=9)
    with pytest.raises(TypeError, match="optimise"):
        g.plan(optimise=False)
    with pytest.raises(ValueError, match="math: expected one of.*'exactly'"):
        g.plan(math="exactly")
    with pytest.raises(ValueError, match="different graphs"):
        x + nd4c.Graph().input("x", F32, (1,))
    assert g.bind(n=2, m=3).plan()(random(2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match="'m'|dim m"):
        g.plan()(random(2, 9))
    with pytest.raises(NotImplementedError, match="compiler"):
        g.bind(n=2, m=3).compile("cpu:0", "made.nd4cexe")
    with pytest.raises(TypeError, match="neither be copied|copied"):
        copy.copy(g)


def test_optimized_explain_and_passes():
    g = nd4c.Graph()
    x = g.input("x", F32, (4,))
    g.output("y", nd4c.sqrt(nd4c.negative(nd4c.negative(x))))
    assert len(g.optimized().nodes) < len(g.nodes) == len(g.optimized(passes="dead").nodes)
    assert "nodes after passes" in g.explain(0)
    assert [node.op for node in g.optimized(optimize=False).nodes] == [node.op for node in g.nodes]


def test_variables_train():
    g = nd4c.Graph()
    with g.scope("model"):
        w = g.variable("w", nd4c.zeros(3, dtype=F32))
    steps = g.variable("steps", nd4c.asarray(0), trainable=False)
    x, y = g.input("x", F32, ("n", 3)), g.input("y", F32, ("n",))
    error = nd4c.mean((x @ w - y) ** 2)
    gradient, = g.gradient(error)
    g.assign(w, w - 0.1 * gradient)
    g.assign(steps, steps + 1)
    g.output("loss", error)
    plan = g.plan()
    assert list(plan.state) == ["model/w", "steps"] and "model/w" in plan.state and len(plan.state) == 2
    data = random(64, 3)
    target = data @ nd4c.asarray([1.0, -2.0, 3.0], dtype=F32)
    losses = [float(plan(x=data, y=target)) for _ in range(100)]
    assert losses[-1] < 1e-3 * losses[0] and int(plan.state["steps"]) == 100
    np.testing.assert_allclose(np.asarray(plan.state["model/w"]), [1, -2, 3], atol=0.1)
    frozen = g.frozen(plan.state)
    assert frozen.state is None and float(frozen.plan()(x=data, y=target)) <= losses[-1]
    plan.state.update({"model/w": [0.0, 0.0, 0.0], "steps": 7})
    assert plan.state["steps"].tolist() == 7 and math.isclose(float(plan(x=data, y=target)), losses[0], rel_tol=1e-6)
    other = nd4c.graph.State()
    assert list(g.plan(state=other).state) == ["model/w", "steps"] and int(other["steps"]) == 0
    for call, cls, text in ((lambda: plan.state["v"], KeyError, "no variable 'v'"), (lambda: plan.state.update({"steps": [1, 2]}), ValueError, "steps"),
                            (lambda: g.assign(x, x), ValueError, "variable"), (lambda: g.assign(w, nd4c.zeros(2, dtype=F32)), ValueError, "w"),
                            (lambda: g.variable("z", x), ValueError, "'x'")):
        with pytest.raises(cls, match=text):
            call()


# -- memory and threads ----------------------------------------------------------------------------------------------

def live():
    gc.collect()
    return nd4c.Device("cpu:0").memory["live_count"]


def test_nothing_leaks():
    w = random(64, 64)

    def cycle():
        f = nd4c.compile(lambda x: nd4c.nn.relu(x @ w).sum())
        f(random(4, 64)), f(random(5, 64))
        nd4c.grad(lambda x: nd4c.sum(x @ w))(random(2, 64))
        with pytest.raises(TypeError):
            nd4c.compile(lambda x: float((x @ w).sum()))(random(2, 64))
        g = nd4c.Graph()
        g.output("y", g.variable("v", random(3)) + 1)
        g.plan()()
    cycle()
    before = live()
    for _ in range(3):
        cycle()
    assert live() == before


def test_plans_keep_their_constants():
    g = nd4c.Graph()
    w = random(8, 8)
    want = np.asarray(w).copy()
    g.output("y", g.input("x", F32, (8, 8)) @ w)
    plan = g.plan()
    del w, g
    gc.collect()
    np.testing.assert_array_equal(np.asarray(plan(nd4c.eye(8, dtype=F32))), want)


def test_threads_share_a_function():
    f, traces = counted(lambda x, n: nd4c.cumulative_sum(x * n) + 1)
    failures, gate = [], threading.Barrier(6)

    def work(number):
        try:
            gate.wait()
            for turn in range(60):
                x = random(2 + (turn + number) % 5, seed=turn)
                close(f(x, number % 2), nd4c.cumulative_sum(x * (number % 2)) + 1)
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and len(traces) == 2

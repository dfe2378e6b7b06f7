"""Plan.runner(): plans with arrays bound to their inputs and outputs."""
import pytest

import nd4c


def test_runner_of_a_plan():
    """Arrays bound once: inputs are read and outputs written in place, dims may change, the plan is closed under it."""
    g = nd4c.Graph()
    x, w = g.input("x", "float64", ("n",)), g.input("w", "float64", ())
    g.output("y", x * w)
    g.output("total", nd4c.sum(x))
    plan = g.plan()
    with plan.runner() as runner:
        assert runner.plan is plan and type(runner) is nd4c.graph.Runner
        a, y, factor = nd4c.asarray([1.0, 2.0]), nd4c.zeros(2), nd4c.asarray(3.0)
        with pytest.raises(ValueError, match="nothing is bound to input 'x'"):
            runner.run()
        for refused, kind, words in ((("z", a), ValueError, "there is no input 'z'"), (("x", [1.0]), TypeError, "not to list"),
                                     (("x", nd4c.zeros(2, dtype="float32")), TypeError, "float64"), (("x", factor), ValueError, "has shape")):
            with pytest.raises(kind, match=words):
                runner.bind_input(*refused)
        runner.bind_input("x", a)
        runner.bind_input("w", factor)
        runner.bind_output("y", y)
        runner.run()
        assert y.tolist() == [3, 6] and float(runner.output("total")) == 3
        a[0] = 10.0
        runner.run()
        assert y.tolist() == [30, 6] and float(runner.output("total")) == 12
        runner.bind_input("x", nd4c.ones(3))
        with pytest.raises(ValueError):
            runner.run()  # y has two places
        runner.bind_output("y", None)
        runner.run()
        assert runner.output("y").tolist() == [3, 3, 3]
        runner.donate("x", a)
        runner.run()
        with pytest.raises(nd4c.errors.PoisonedError):
            a.tolist()
        runner.clear()
        with pytest.raises(ValueError, match="nothing is bound"):
            runner.run()
        plan.close()
        with pytest.raises(ValueError, match="Plan: it is closed"):
            runner.run()
    with pytest.raises(ValueError, match="Runner: it is closed"):
        runner.clear()
    with pytest.raises(ValueError, match="closed"):
        plan.runner()

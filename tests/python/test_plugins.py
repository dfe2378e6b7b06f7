"""Ops of plug-ins from Python: tests/plugin/acme_ops.c, loaded in a process of its own (with_stub.py)."""
import pytest
from with_stub import acme, needs_stub, run

import nd4c as xp
from nd4c import plugins

pytestmark = needs_stub


def test_called_by_name():
    run("""
        import inspect
        scaled_add = xp.plugins.op("acme.scaled_add")
        assert scaled_add is xp.plugins.op("acme.scaled_add@2")
        a, b = xp.reshape(xp.arange(6, dtype="float32"), (2, 3)), xp.asarray([10, 20, 30], dtype="float32")
        assert scaled_add(a, b, scale=-2).tolist() == (a - 2 * b).tolist()
        assert scaled_add(a, b).tolist() == (a + b).tolist()
        assert scaled_add(b=b, a=a, scale=3).tolist() == (a + 3 * b).tolist()
        assert scaled_add(a, 1, scale=2).tolist() == (a + 2).tolist()  # a number beside an array, as with any op
        halves = xp.plugins.op("acme.halves")
        left, right = halves(a)
        assert left.tolist() == [[0, 1], [3, 4]] and right.tolist() == [[2], [5]]
        top, bottom = halves(a, axis=0)
        assert top.tolist() == [[0, 1, 2]] and bottom.tolist() == [[3, 4, 5]]
        assert str(inspect.signature(scaled_add)) == "(a, b, *, scale=1)" and scaled_add.__doc__ == "a + scale * b, broadcast"
        assert scaled_add.__name__ == "acme.scaled_add"
    """, plugin=acme)


def test_listed_explained_and_routed():
    run("""
        assert xp.plugins.ops() == ()  # none is loaded before one is asked for
        assert xp.plugins.schema("acme.scaled_add") == {
            "name": "acme.scaled_add", "version": 2, "provider": "acme", "doc": "a + scale * b, broadcast",
            "category": "BINARY", "inputs": ("a", "b"), "attributes": {"scale": 1}, "outputs": 1}
        assert xp.plugins.ops() == ("acme.scaled_add", "acme.halves")
        a = xp.ones(4, dtype="float32")
        scaled_add = xp.plugins.op("acme.scaled_add")
        for function in ("acme.scaled_add", scaled_add):
            assert "acme.scaled_add.fast" in xp.explain(function, a, a, scale=2)
        with pytest.raises(ValueError, match="has no attribute 'scales'; it has scale"):
            xp.explain(scaled_add, a, a, scales=2)
        with xp.routing(ops={scaled_add: ["cpu:0"]}):
            assert scaled_add(a, a).tolist() == [2, 2, 2, 2]
    """, plugin=acme)


def test_refused():
    run("""
        scaled_add, a = xp.plugins.op("acme.scaled_add"), xp.ones(3, dtype="float32")
        for call, kind, words in (
                (lambda: xp.plugins.op("acme.scaled_adds"), ValueError, "the nearest is 'acme.scaled_add'"),
                (lambda: xp.plugins.op("other.op"), ValueError, "no plug-in that is loaded brings it"),
                (lambda: xp.plugins.op("add"), ValueError, "nd4c.ops.add"),
                (lambda: scaled_add(a), TypeError, "missing 1 required positional argument: 'b'"),
                (lambda: scaled_add(a, a, 2), TypeError, "positional"),
                (lambda: scaled_add(a, a, scale="x"), TypeError, "acme.scaled_add: scale: expected an integer, got 'x'"),
                (lambda: scaled_add(a, a, scale=2 ** 70), OverflowError, "does not fit 64 bits"),
                (lambda: scaled_add(a, "x"), TypeError, "expected an nd4c.Array, got str"),
                (lambda: scaled_add(a, xp.ones(2, dtype="float32")), ValueError, "do not broadcast"),
                (lambda: xp.plugins.op("acme.halves")(a, axis=5), IndexError, "axis 5 is out of range"),
                (lambda: xp.plugins.load("libnd4c_acme.so"), ValueError, "'/'"),
                (lambda: xp.plugins.load("/nowhere/libnd4c_acme.so"), OSError, "/nowhere/libnd4c_acme.so")):
            with pytest.raises(kind, match=words):
                call()
    """, plugin=acme)


def test_loaded_from_python():
    run("""
        import os
        xp.plugins.load(os.environ["ACME"])
        assert xp.plugins.ops() == ("acme.scaled_add", "acme.halves")
    """, ACME=str(acme))


def test_names_that_are_none():
    for name, kind in ((None, TypeError), (3, TypeError), ("acme.scaled_add\0x", ValueError)):
        with pytest.raises(kind, match="plugins: "):
            xp.plugins.op(name)


def test_words_of_parameters():
    """A word that Python reserves, one that another parameter has by then, one that begins with a digit."""
    taken = set(plugins._TAKEN)
    assert [plugins._word(word, taken) for word in ("x", "class_", "class", "2nd", "_call", "x")] == [
        "x", "class_", "class__", "_2nd", "_call_", "x_"]

"""einops' functions for the Array API on nd4c's arrays, unmodified: values as on NumPy's."""
import numpy as np
import pytest
from same import check, run_example, to_nd4c

einops = pytest.importorskip("einops")
from einops import array_api

a = np.arange(2 * 4 * 6.0).reshape(2, 4, 6)


@pytest.mark.parametrize("pattern, sizes", [
    ("a b c -> c b a", {}), ("a b c -> (a b) c", {}), ("a (b d) c -> a b (d c)", {"d": 2}), ("a b c -> a 1 b c", {}),
    ("a ... -> ... a", {})])
def test_rearrange(pattern, sizes):
    check(array_api.rearrange(to_nd4c(a), pattern, **sizes), einops.rearrange(a, pattern, **sizes))


@pytest.mark.parametrize("how", ["min", "max", "sum", "mean", "prod"])
def test_reduce(how):
    check(array_api.reduce(to_nd4c(a), "a (b two) c -> c b", how, two=2), einops.reduce(a, "a (b two) c -> c b", how, two=2))


def test_repeat():
    check(array_api.repeat(to_nd4c(a), "a b c -> a (b two) c", two=2), einops.repeat(a, "a b c -> a (b two) c", two=2))


def test_pack():
    parts = [a, a[0], a[:, :, :]]
    got, shapes = array_api.pack([to_nd4c(part) for part in parts], "* b c")
    wanted, wanted_shapes = einops.pack(parts, "* b c")
    check(got, wanted)
    assert shapes == wanted_shapes
    for one, other in zip(array_api.unpack(got, shapes, "* b c"), parts):
        check(one, other)


def test_numpy_and_back():
    np.testing.assert_array_equal(array_api.asnumpy(to_nd4c(a)), a)


def test_example():
    assert run_example("with_einops.py").splitlines()[1:] == [
        "mean of each channel: [31.5 47.5 63.5]", "twice as large: (2, 3, 8, 8)", "packed: (3, 3, 4, 4) [(2,), ()]"]

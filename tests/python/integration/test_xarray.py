"""xarray on nd4c's arrays, unmodified: it wraps them, because they have NumPy's two protocols, and gives them back."""
import pickle

import numpy as np
import pytest

import nd4c

xr = pytest.importorskip("xarray")
a = np.random.default_rng(0).random((6, 5))
theirs = xr.DataArray(a, dims=("a", "b"))


def mine():
    return xr.DataArray(nd4c.asarray(a), dims=("a", "b"))


# What keeps nd4c's arrays within.
KEPT = {
    "sum": lambda d: d.sum("a"), "mean": lambda d: d.mean(), "std": lambda d: d.std("b"), "max": lambda d: d.max("b"),
    "argmax": lambda d: d.argmax("b"), "arithmetic": lambda d: (d + 1) * d - d.T, "isel": lambda d: d.isel(a=[0, 2]),
    "ufunc": lambda d: np.sin(d), "transpose": lambda d: d.transpose("b", "a"), "concat": lambda d: xr.concat([d, d], "a"),
    "cumsum": lambda d: d.cumsum("a"), "roll": lambda d: d.roll(a=1), "median": lambda d: d.median("a"),
    "clip": lambda d: d.clip(0.2, 0.5), "stack": lambda d: d.stack(z=("a", "b")), "expand_dims": lambda d: d.expand_dims("c"),
    "isnull": lambda d: d.isnull(), "astype": lambda d: d.astype("float32"), "coarsen": lambda d: d.coarsen(a=2).mean(),
    "broadcast": lambda d: xr.broadcast(d, d.isel(a=0))[1], "dataset": lambda d: xr.Dataset({"q": d}).mean()["q"],
    "copy": lambda d: d.copy(), "pickle": lambda d: pickle.loads(pickle.dumps(d)), "fillna": lambda d: d.fillna(0),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    got, wanted = KEPT[name](mine()), KEPT[name](theirs)
    assert type(got.data) is nd4c.Array, type(got.data)
    assert got.dims == wanted.dims
    np.testing.assert_allclose(np.asarray(got.data), wanted.data, rtol=1e-6)


def test_as_numpy():
    d = mine()
    assert type(d.data) is nd4c.Array and type(d.values) is np.ndarray and (d.to_numpy() == a).all()
    assert "nd4c" in repr(d) or "array" in repr(d)
    assert d.equals(d.copy()) and not d.equals(d + 1)

"""xarray on nd4c's arrays, unmodified: it wraps them, because they have NumPy's two protocols, and gives them back."""
import pickle

import numpy as np
import pytest

import nd4c

xr = pytest.importorskip("xarray")
a = np.random.default_rng(0).random((6, 5))
places = {"a": np.arange(6.0)}
theirs = xr.DataArray(a, dims=("a", "b"), coords=places)


def mine():
    return xr.DataArray(nd4c.asarray(a), dims=("a", "b"), coords=places)


def masked(d):
    return d.where(d > 0.3)


def written(d, place, value):
    made = d.copy(deep=True)
    made[place] = value
    return made


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
    "where": masked, "where drop": lambda d: d.where(d.a > 2, drop=True), "where other": lambda d: d.where(d > 0.5, 0.0),
    "three-way where": lambda d: xr.where(d > 0.5, d, -d), "shift": lambda d: d.shift(a=1), "shift fill": lambda d: d.shift(a=1, fill_value=0.0),
    "shift of integers": lambda d: (d * 9).astype("int64").shift(a=1), "pad": lambda d: d.pad(a=1), "pad edge": lambda d: d.pad(a=1, mode="edge"),
    "rolling mean": lambda d: d.rolling(a=3).mean(), "rolling sum": lambda d: d.rolling(a=3, min_periods=1).sum(),
    "rolling max": lambda d: d.rolling(a=2, center=True).max(), "windows": lambda d: d.rolling(a=3).construct("w"),
    "cumulative": lambda d: d.cumulative("a").sum(), "coarsen pad": lambda d: d.coarsen(a=4, boundary="pad").max(),
    "reindex": lambda d: d.reindex(a=[0.0, 1.0, 9.0]), "align": lambda d: xr.align(d, d[1:], join="outer")[1],
    "combine": lambda d: masked(d).combine_first(d * 0), "dropna": lambda d: masked(d).dropna("a"), "notnull": lambda d: masked(d).notnull(),
    "count": lambda d: masked(d).count("a"), "skips NaN in std": lambda d: masked(d).std("a"), "skips NaN in min": lambda d: masked(d).min("a"),
    "skips NaN in median": lambda d: masked(d).median("a"), "idxmax": lambda d: d.idxmax("a"), "cov": lambda d: xr.cov(d, 1 - d),
    "corr": lambda d: xr.corr(d, d ** 2, "a"), "weighted": lambda d: d.weighted(d.isel(b=0)).mean("a"), "dot": lambda d: d.dot(d),
    "quantile": lambda d: d.quantile(0.3, "a"), "groupby": lambda d: d.groupby_bins("a", [0, 2, 6]).mean(), "diff": lambda d: d.diff("a"),
    "sel": lambda d: d.sel(a=1.2, method="nearest"), "sel of a mask": lambda d: d.isel(a=d.isel(b=0) > 0.3),
    "differentiate": lambda d: d.differentiate("a"), "integrate": lambda d: d.integrate("a"), "sortby": lambda d: d.sortby("a", ascending=False),
    "assignment": lambda d: written(d, {"a": 0}, 9.0), "unstack": lambda d: d.stack(z=("a", "b")).unstack("z"),
    "apply_ufunc": lambda d: xr.apply_ufunc(lambda z: z.mean(axis=-1), d, input_core_dims=[["b"]]), "isin": lambda d: d.isin([a[0, 0]]),
    "polyfit": lambda d: d.polyfit("a", 1).polyfit_coefficients, "full_like": lambda d: xr.full_like(d, 3.0),
}
# What xarray computes with NumPy or SciPy.
NUMPYS = {
    "interp": lambda d: d.interp(a=[0.5, 1.5]), "interp nearest": lambda d: d.interp(a=[0.5, 1.5], method="nearest"),
    "interpolate_na": lambda d: masked(d).interpolate_na("a"), "series": lambda d: d.to_series().to_xarray(),
}


@pytest.mark.parametrize("name", NUMPYS)
def test_numpys(name):
    got, wanted = NUMPYS[name](mine()), NUMPYS[name](theirs)
    assert got.dims == wanted.dims
    np.testing.assert_allclose(got.values, wanted.values, rtol=1e-9)


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    got, wanted = KEPT[name](mine()), KEPT[name](theirs)
    assert type(got.data) is nd4c.Array, type(got.data)
    assert got.dims == wanted.dims
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(got.data), wanted.data, rtol=1e-6, atol=1e-12)


def test_as_numpy():
    d = mine()
    assert type(d.data) is nd4c.Array and type(d.values) is np.ndarray and (d.to_numpy() == a).all()
    assert "nd4c" in repr(d) or "array" in repr(d)
    assert d.equals(d.copy()) and not d.equals(d + 1)

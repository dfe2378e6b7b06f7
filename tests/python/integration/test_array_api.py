"""array-api-compat takes nd4c as a plain namespace of the standard; array-api-extra computes on its arrays."""
import numpy as np
import pytest
from same import check, run_example, to_nd4c

import nd4c

compat = pytest.importorskip("array_api_compat")
xpx = pytest.importorskip("array_api_extra")
rng = np.random.default_rng(5)
v, a = rng.random(12), rng.random((3, 4))


def test_namespace():
    x = to_nd4c(a)
    assert compat.array_namespace(x, 1.0, None, x) is nd4c
    assert compat.is_array_api_obj(x) and compat.is_array_api_strict_namespace(nd4c) is False
    for library in ("numpy", "torch", "cupy", "jax", "dask"):
        assert not getattr(compat, "is_%s_array" % library)(x)
        assert not getattr(compat, "is_%s_namespace" % library)(nd4c)
    assert compat.device(x) == x.device and compat.to_device(x, x.device) is x and compat.size(x) == 12
    assert not compat.is_lazy_array(x) and compat.is_writeable_array(x)
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, a)


CASES = {
    "cov": lambda xp, a, v: xpx.cov(a), "kron": lambda xp, a, v: xpx.kron(a, a),
    "atleast_nd": lambda xp, a, v: xpx.atleast_nd(v, ndim=3),
    "create_diagonal": lambda xp, a, v: xpx.create_diagonal(v, offset=1),
    "pad": lambda xp, a, v: xpx.pad(v, (1, 2)),
    "setdiff1d": lambda xp, a, v: xpx.setdiff1d(v, v[:4]), "sinc": lambda xp, a, v: xpx.sinc(v),
    "isclose": lambda xp, a, v: xpx.isclose(v, v + 1e-12), "partition": lambda xp, a, v: xp.min(xpx.partition(v, 3)[3:]),
    "apply_where": lambda xp, a, v: xpx.apply_where(v > 0.5, v, lambda x: x * 2, lambda x: -x),
    "nan_to_num": lambda xp, a, v: xpx.nan_to_num(xp.log(v - v)), "angle": lambda xp, a, v: xpx.angle(a + 1j),
    "isin": lambda xp, a, v: xpx.isin(v, v[:2]), "union1d": lambda xp, a, v: xpx.union1d(v, v[:3]),
    "at set": lambda xp, a, v: xpx.at(v)[1:3].set(5.0), "at add": lambda xp, a, v: xpx.at(v)[v > 0.5].add(1.0),
    "one_hot": lambda xp, a, v: xpx.one_hot(xp.asarray([0, 2]), 3),
    "lazy_apply": lambda xp, a, v: xpx.lazy_apply(np.sin, v, as_numpy=True),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    function = CASES[name]
    with np.errstate(all="ignore"):
        check(function(nd4c, to_nd4c(a), to_nd4c(v)), np.asarray(function(np, a, v)), 1e-12)


def test_numbers():
    assert int(xpx.nunique(to_nd4c(np.asarray([1, 2, 2])))) == 2
    assert xpx.default_dtype(nd4c) == nd4c.float64 and xpx.default_dtype(nd4c, "integral") == nd4c.int64


def test_example():
    assert "namespace: nd4c\n" in run_example("with_array_api_extra.py")

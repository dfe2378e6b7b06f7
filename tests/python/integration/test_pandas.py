"""pandas on nd4c's arrays, unmodified."""
import numpy as np
import pytest

import nd4c

pd = pytest.importorskip("pandas")
a, table = np.linspace(0, 1, 6), np.arange(6.0).reshape(3, 2)
x, m = nd4c.asarray(a), nd4c.asarray(table)
s = pd.Series(np.arange(6.0))


@pytest.mark.parametrize("make", [
    lambda x, m: pd.Series(x), lambda x, m: pd.DataFrame({"a": x, "b": x}), lambda x, m: pd.DataFrame(m, columns=list("pq")),
    lambda x, m: pd.Series(x).isin(x[:2]), lambda x, m: s + x, lambda x, m: x + s, lambda x, m: s > x, lambda x, m: x * s - 1,
    lambda x, m: pd.DataFrame({"a": np.zeros(6)}).assign(b=x), lambda x, m: pd.cut(pd.Series(x), 3).astype(str),
    lambda x, m: s.iloc[np.argsort(x)[:2]] if isinstance(x, np.ndarray) else s.iloc[nd4c.argsort(x)[:2]],
    lambda x, m: pd.DataFrame(m).loc[np.asarray(m[:, 0] % 4 > 1)],
    lambda x, m: s.loc[np.asarray(x > 0.3)],
    lambda x, m: s.where(x > 0.3, x),
    lambda x, m: pd.DataFrame({"a": s}).iloc[[0, 2]].assign(c=x[:2]),
    lambda x, m: pd.DataFrame(np.zeros((6, 2))).where(pd.DataFrame(np.eye(6, 2)) > 0, 1),
    lambda x, m: pd.Series(x, dtype=nd4c.float32), lambda x, m: s.astype(nd4c.int8), lambda x, m: pd.Series(x).map(lambda v: v * 2),
    lambda x, m: pd.Series(x).fillna(0).rolling(2).mean(), lambda x, m: pd.concat([pd.Series(x), s]),
    lambda x, m: pd.DataFrame({"k": x > 0.3, "v": x}).groupby("k").sum(),
    lambda x, m: pd.Series(x, index=x), lambda x, m: pd.DataFrame(m).mean(), lambda x, m: np.sin(pd.Series(x))])
def test_results_are_those_of_numpy(make):
    mine, theirs = make(x, m), make(a, table)
    assert type(mine) is type(theirs)
    testing = pd.testing.assert_series_equal if isinstance(theirs, pd.Series) else pd.testing.assert_frame_equal
    testing(mine, theirs)


def test_masks_are_numpys():
    """pandas takes only NumPy's arrays, lists and its own objects as masks; it looks up other arrays' elements as labels."""
    with pytest.raises(KeyError, match="in the"):
        s.loc[x > 0.3]


def test_arrays_of_pandas():
    assert nd4c.asarray(pd.Series(x)).tolist() == a.tolist() and nd4c.sin(pd.Series(x)).tolist() == nd4c.sin(x).tolist()
    frame = pd.DataFrame({"a": x})
    frame["b"] = x * 2
    assert frame["b"].tolist() == (a * 2).tolist() and pd.Index(x).tolist() == a.tolist()


def test_assignments_take_arrays():
    mine, theirs = (pd.DataFrame({"a": np.zeros(6), "b": np.zeros(6)}) for _ in range(2))
    for frame, x in ((mine, nd4c.asarray(a)), (theirs, a)):
        frame["c"] = x
        frame.loc[np.asarray(x > 0.5), "a"] = x[x > 0.5]
        frame.iloc[:3, 1] = x[:3]
        frame.loc[:, "d"] = x * 2
    pd.testing.assert_frame_equal(mine, theirs)

"""joblib on nd4c's arrays: hashes of contents, files, cached results, other processes."""
import numpy as np
import pytest

import nd4c

joblib = pytest.importorskip("joblib")


def doubled(x):
    return x * 2


def test_hashes():
    one, other = nd4c.arange(6.0), nd4c.asarray(np.arange(6.0))
    assert joblib.hash(one) == joblib.hash(other) != joblib.hash(one + 1)


def test_files(tmp_path):
    x = nd4c.reshape(nd4c.arange(6.0), (2, 3))
    kept = joblib.load(joblib.dump({"x": x}, tmp_path / "x.joblib")[0])["x"]
    assert type(kept) is nd4c.Array and kept.tolist() == x.tolist()


def test_cached_results(tmp_path):
    calls = []

    def counted(x):
        calls.append(1)
        return x + 1
    cached = joblib.Memory(tmp_path, verbose=0).cache(counted)
    for _ in range(2):
        assert cached(nd4c.arange(3)).tolist() == [1, 2, 3]
    assert len(calls) == 1


def test_other_processes():
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(doubled)(nd4c.arange(3) + number) for number in range(3))
    assert [result.tolist() for result in results] == [[0, 2, 4], [2, 4, 6], [4, 6, 8]]

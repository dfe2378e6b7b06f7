"""Methods that NumPy's arrays have, too."""
import numpy as np
import pytest

import nd4c

a = np.arange(1.0, 7.0).reshape(2, 3)
x = nd4c.asarray(a)


@pytest.mark.parametrize("name", "sum prod mean min max std var argmax argmin any all".split())
def test_reductions(name):
    for axis in (None, 0, -1):
        np.testing.assert_allclose(np.asarray(getattr(x, name)(axis)), getattr(a, name)(axis))
        np.testing.assert_allclose(np.asarray(getattr(x, name)(axis=axis, keepdims=True)),
                                   getattr(a, name)(axis=axis, keepdims=True))


def test_shapes_and_dtypes():
    assert x.reshape(3, 2).shape == x.reshape((3, -1)).shape == (3, 2) and x.flatten().shape == (6,)
    assert x.astype(nd4c.int64).dtype == nd4c.int64
    copied = x.copy()
    copied[0, 0] = 9.0
    assert float(x[0, 0]) == 1.0


def test_ops_take_axis_as_the_standard_does():
    assert nd4c.nansum(x, axis=0).tolist() == [5.0, 7.0, 9.0]
    assert nd4c.median(x, axis=(0, 1)).tolist() == 3.5
    assert nd4c.diff(x, 2).tolist() == [[0.0], [0.0]]
    with pytest.raises(TypeError):
        nd4c.nansum(x, axis="first")

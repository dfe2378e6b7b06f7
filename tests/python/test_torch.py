"""PyTorch and nd4c share memory through DLPack, both ways. PyTorch is too large for the tests' environment:
docs/explanation/python-package.md says how this file is run where there is one."""
import gc

import numpy as np
import pytest
from values import make

import nd4c

torch = pytest.importorskip("torch", reason="PyTorch is not installed here; see docs/explanation/python-package.md")

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128")
SMALL = ("uint16", "uint32", "uint64")  # newer dtypes of PyTorch, which support copies but few computations


def live():
    gc.collect()
    return nd4c.Device("cpu:0").memory["live_count"]


def numbers(dtype):
    """Numbers of a dtype, as a NumPy array of a dtype that holds them."""
    base = "float32" if dtype == "bfloat16" else dtype
    return make(np.random.default_rng(3), (3, 4), base)


def as_numpy(tensor):
    return (tensor.to(torch.float32) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def from_nd4c(x):
    return np.asarray(x.tolist()).reshape(x.shape)


@pytest.mark.parametrize("dtype", DTYPES + SMALL)
def test_tensors_of_arrays(dtype):
    x = nd4c.astype(nd4c.asarray(numbers(dtype)), getattr(nd4c, dtype))
    tensor = torch.from_dlpack(x)
    assert tensor.dtype == getattr(torch, dtype) and tuple(tensor.shape) == x.shape
    assert np.array_equal(as_numpy(tensor), from_nd4c(x))
    x[1, 2] = True
    assert tensor[1, 2].item() == 1
    tensor[2, 0] = 0
    assert x[2, 0].item() == 0


@pytest.mark.parametrize("dtype", DTYPES + SMALL)
def test_arrays_of_tensors(dtype):
    tensor = torch.from_numpy(numbers(dtype)).to(getattr(torch, dtype))
    x = nd4c.from_dlpack(tensor)
    assert x.dtype is getattr(nd4c, dtype) and x.shape == (3, 4)
    assert torch.from_dlpack(x).data_ptr() == tensor.data_ptr()
    assert np.array_equal(from_nd4c(x), as_numpy(tensor))
    tensor[1, 2] = 1
    assert x[1, 2].item() == 1
    x[2, 0] = False
    assert tensor[2, 0].item() == 0
    assert np.array_equal(from_nd4c(nd4c.asarray(tensor)), as_numpy(tensor))


def test_views_keep_their_strides():
    tensor = torch.arange(24.0).reshape(2, 3, 4)
    for view in (tensor.permute(2, 0, 1), tensor[:, 1:, ::2], tensor[1, 2, 3], tensor[:, 0:0], tensor.transpose(0, 2),
                 tensor[:, :1].expand(2, 5, 4)):
        x = nd4c.from_dlpack(view)
        assert x.shape == tuple(view.shape) and np.array_equal(from_nd4c(x), view.numpy())
        back = torch.from_dlpack(x)
        assert torch.equal(back, view) and (view.numel() == 0 or back.data_ptr() == view.data_ptr())
        if view.numel() > 1:
            assert back.stride() == view.stride()
    y = nd4c.reshape(nd4c.arange(24), (2, 3, 4))
    for view in (nd4c.permute_dims(y, (2, 0, 1)), y[:, 1:, ::2], y[1, 2, 3], y[:, 0:0]):
        assert np.array_equal(torch.from_dlpack(view).numpy(), from_nd4c(view))
    torch.from_dlpack(y[1])[:] = -1
    assert nd4c.all(y[1] == -1) and nd4c.all(y[0] >= 0)
    with pytest.raises(Exception, match="[Ss]tride"):
        torch.from_dlpack(y[::-1])  # PyTorch has no negative strides


def test_memory_outlives_its_maker():
    before = live()
    x = nd4c.arange(1000)
    tensor = torch.from_dlpack(x)
    part = tensor[500:]
    del x, tensor
    gc.collect()
    assert live() == before + 1 and part[0].item() == 500
    del part
    assert live() == before
    tensor = torch.arange(1000)
    x = nd4c.from_dlpack(tensor)[500:]
    del tensor
    filler = [torch.zeros(1000, dtype=torch.int64) for _ in range(8)]
    assert x[0].item() == 500 and x[499].item() == 999 and filler
    del x
    assert live() == before


def test_copies_when_asked():
    tensor = torch.ones(4)
    copied = nd4c.from_dlpack(tensor, copy=True)
    tensor[0] = 7
    assert copied.tolist() == [1, 1, 1, 1]
    x = nd4c.ones(4)
    copied = torch.from_dlpack(x, copy=True)
    x[0] = 7
    assert copied.tolist() == [1, 1, 1, 1]


def test_tensors_that_are_refused():
    weights = torch.ones(3, requires_grad=True)
    for make_array in (nd4c.from_dlpack, nd4c.asarray):
        with pytest.raises((BufferError, RuntimeError), match="grad.*detach"):
            make_array(weights)
    assert nd4c.from_dlpack(weights.detach()).tolist() == [1, 1, 1]
    with pytest.raises((BufferError, RuntimeError), match="conj"):
        nd4c.from_dlpack(torch.ones(3, dtype=torch.complex64).conj())
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        nd4c.from_dlpack(torch.eye(3).to_sparse())


def test_tensors_beside_arrays():
    """Tensors are refused as operands, except 0-d ones, which are scalars of their dtype."""
    with pytest.raises(TypeError):
        nd4c.ones(3).__add__(torch.ones(3)) + 1
    assert (nd4c.ones(3, dtype="float32") * torch.tensor(2.0)).tolist() == [2, 2, 2]
    assert nd4c.zeros(2, dtype=torch.bfloat16).dtype is nd4c.bfloat16

"""Errors about arguments say the function, the parameter and what is expected, and show nothing of the package's inside."""
import io
import pickle

import numpy
import pytest

import nd4c
import nd4c.numpy as np

x = nd4c.arange(4)


@pytest.mark.parametrize("kind, text, call", [
    (TypeError, "trim_zeros: trim: expected a text, got float", lambda: np.trim_zeros(x, 1.0)),
    (TypeError, "fromstring: sep: expected a text, got int", lambda: np.fromstring("1", sep=1)),
    (TypeError, "fromstring: string: expected a text, got list", lambda: np.fromstring([], sep=",")),
    (TypeError, "require: requirements: expected a text, got int", lambda: np.require(x, requirements=[1])),
    (TypeError, "savetxt: delimiter: expected a text, got bool", lambda: np.savetxt(io.StringIO(), x, delimiter=True)),
    (TypeError, "savetxt: newline: expected a text, got int", lambda: np.savetxt(io.StringIO(), x, newline=1)),
    (TypeError, "array2string: formatter: expected a dict", lambda: np.array2string(x, formatter=1)),
    (TypeError, "nanvar: out: return arrays must be arrays, got float", lambda: np.nanvar([1.5], out=0.5)),
    (TypeError, "__array_ufunc__: expected a ufunc of NumPy, got str", lambda: x.__array_ufunc__("sin", "__call__", x)),
    (TypeError, "__array_function__: expected a function of NumPy, got float", lambda: x.__array_function__(0.5, (), (), {})),
    (TypeError, "astype: expected an array, a number or nested lists", lambda: nd4c.astype(None, "f4")),
    (ValueError, "histogramdd: the sample has points of no dimensions", lambda: np.histogramdd(nd4c.zeros((1, 0)))),
    (ValueError, "tensorsolve: ", lambda: nd4c.linalg.tensorsolve(nd4c.asarray(3.0), nd4c.ones(4), (0, 1))),
    (ValueError, "array_split: too many parts", lambda: np.array_split(x, 1e308)),
    (ValueError, "array_split: too many parts", lambda: np.array_split(x, 2 ** 31)),
    (TypeError, "relu: input x is bool (1,): expected one of int8, ", lambda: nd4c.nn.relu(nd4c.asarray([True]))),
    (TypeError, "erf: input x is int64 (4,): expected one of float16, ", lambda: nd4c.nn.erf(x)),
    (IndexError, "take_along_axis: indices are integers, not float64", lambda: nd4c.take_along_axis(x, [0.5])),
])
def test_arguments(kind, text, call):
    with pytest.raises(kind) as raised:
        call()
    assert str(raised.value).startswith(text)
    assert raised.type.__name__.lstrip("_") == raised.type.__name__


def test_an_error_of_two_kinds_can_be_pickled():
    with pytest.raises(TypeError) as raised:
        nd4c.take_along_axis(x, [0.5])
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), IndexError)


def test_astype_takes_what_arrays_are_made_of():
    for given in ([1.7, -1.7], numpy.asarray([1.7, -1.7]), nd4c.asarray([1.7, -1.7])):
        made = nd4c.astype(given, "int8")
        assert made.dtype is nd4c.int8 and made.tolist() == [1, -1]
    a = numpy.arange(3.0)
    copied = nd4c.astype(a, "float64")
    copied[0] = 7
    assert a[0] == 0


@pytest.mark.parametrize("call, kind, words", [
    (lambda: nd4c.zeros(3)[5], IndexError, "^index: "),
    (lambda: nd4c.zeros(3).__setitem__(5, 1), IndexError, "^assignment: "),
    (lambda: nd4c.zeros(-1), ValueError, "^zeros: "),
    (lambda: nd4c.random.normal(shape=3), TypeError, r"^Generator\.normal\(\) got"),
    (lambda: nd4c.workspace(1), TypeError, "workspace: the name is a text"),
    (lambda: nd4c.zeros(3).round("a"), TypeError, "round: decimals: expected an integer, got 'a'"),
    (lambda: nd4c.onnx.Model("/nonexistent.onnx"), FileNotFoundError, "nonexistent"),
])
def test_texts_name_what_users_wrote(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_blocks_of_devices_can_be_copied():
    import copy
    import pickle
    block = nd4c.device("cpu:0", deterministic=True)
    for other in (copy.copy(block), copy.deepcopy(block), pickle.loads(pickle.dumps(block))):
        with other as device:
            assert device == "cpu:0" and nd4c.ones(2).device == "cpu:0"

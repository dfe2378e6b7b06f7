"""The interface of both cores to the package (bindings/python/README.md), and the additions of the extension."""
import os
import pathlib
import re
import sys
import weakref

import pytest

import nd4c
from nd4c import _abi, _core, _creation

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
core = _core.core


def test_the_core_asked_for_is_there():
    assert _core.name == (os.environ.get("ND4C_PYTHON_CORE") or _core.name)
    for name in ("Array", "function", "empty", "zeros", "full", "from_data", "from_scalar", "from_handle", "handle",
                 "register"):
        assert hasattr(core, name), name


def test_one_class():
    x = nd4c.asarray([1.0])
    assert type(x) is nd4c.Array and type(x).__name__ == "Array" and type(x).__module__ == "nd4c"
    with pytest.raises(TypeError, match="nd4c.asarray"):
        nd4c.Array()
    with pytest.raises(TypeError):
        type("Own", (nd4c.Array,), {})
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_weak_references():
    x = nd4c.asarray([1.0])
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None


def test_handles():
    x = nd4c.asarray([1.0, 2.0])
    assert isinstance(core.handle(x), int)
    with pytest.raises(TypeError, match="nd4c.asarray"):
        core.handle([1.0])


def test_functions():
    add, transpose, concat = (core.function(_core_number(name)) for name in ("add", "transpose", "concat"))
    x = nd4c.asarray([[1.0, 2.0]])
    assert add.__name__ == "add"
    assert add(x, 1).tolist() == [[2.0, 3.0]]
    assert add(2, x).tolist() == [[3.0, 4.0]]
    assert transpose(x, None).shape == (2, 1) and transpose(x, (1, 0)).shape == (2, 1)
    assert concat([x] * 50, 0).shape == (50, 2)
    with pytest.raises(TypeError):
        add(x)
    with pytest.raises(TypeError, match="add"):
        add(1, 2)
    with pytest.raises(TypeError):
        add(x, "a")
    with pytest.raises(TypeError):
        concat([x, None], 0)


def test_ops_with_options_are_those_of_the_headers():
    """The ctypes core calls these ops by their numbers: a struct in place of loose arguments would be read as garbage."""
    taking = re.compile(r"nd4c_status nd4c_(\w+)\([^;]*?const nd4c_\1_options \*options")
    headers = "".join(path.read_text() for path in (ROOT / "include" / "nd4c" / "ops").glob("*.h"))
    names = set(taking.findall(headers))
    assert len(names) >= 30
    assert {_abi.OPS[number][0] for number in _abi.WITH_OPTIONS} == names


def _core_number(name):
    return _abi.NUMBERS[name]


LISTS = [
    [1.0, 2.5], [[1.0, 2.0], [3.0, 4.0]], (1, 2, 3), [[1], [2]], [True, False], [[True], [False]], [1, 2.5, 3], [1.5, 2],
    [2 ** 53 + 1, 0.5], [2 ** 63 - 1, -2 ** 63], [[[0.0] * 5] * 4] * 3, [float("nan"), float("inf")], [-0.0], [()], [[], []],
    [list(range(40)), list(range(40))], [1e39, 1e-50], ((1, 2), [3, 4]), [2 ** 63], [1, True], [1, 2j], ["a", "bc"],
]


@pytest.mark.parametrize("values", LISTS, ids=repr)
@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int64", "bool"])
def test_lists_are_read_alike(values, dtype):
    """The extension's function for the usual lists and the package's function for all lists give the same results and
    errors."""
    def read(fast):
        kept, _creation._from_nested = _creation._from_nested, fast
        try:
            return nd4c.asarray(values, dtype=None if dtype is None else getattr(nd4c, dtype))
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)
        finally:
            _creation._from_nested = kept
    here, slow = read(getattr(core, "from_nested", None)), read(None)
    if isinstance(slow, type):
        assert here is slow
    else:
        assert here.dtype is slow.dtype and here.shape == slow.shape and repr(here) == repr(slow)


@pytest.mark.parametrize("values", [[[1, 2], [3]], [[1, 2], 3], [1, [2]], [[1.0], [[2.0]]]], ids=repr)
def test_ragged_lists_are_refused(values):
    with pytest.raises(ValueError):
        nd4c.asarray(values)


# -- the extension -----------------------------------------------------------------------------------------------------

native = pytest.mark.skipif(_core.name != "native", reason="of the extension alone")


@native
@pytest.mark.parametrize("dtype, code", [("bool", "?"), ("int8", "b"), ("uint16", "H"), ("int64", "l"), ("float16", "e"),
                                         ("float32", "f"), ("float64", "d"), ("complex64", "Zf")])
def test_buffers(dtype, code):
    x = nd4c.zeros((2, 3), dtype=getattr(nd4c, dtype))
    view = memoryview(x)
    assert view.format == code and view.shape == (2, 3) and view.itemsize == x.dtype.itemsize and view.nbytes == x.nbytes
    assert memoryview(x[:, ::-1]).strides == (3 * x.dtype.itemsize, -x.dtype.itemsize)
    assert memoryview(x[0, 0]).shape == () and memoryview(x[:0]).nbytes == 0


@native
def test_buffers_are_the_memory():
    x = nd4c.asarray([1.0, 2.0])
    memoryview(x)[1] = 7.0
    assert x.tolist() == [1.0, 7.0]
    assert bytes(x[1:]) == memoryview(x).tobytes()[8:]


@native
def test_buffers_refused():
    with pytest.raises(BufferError):
        memoryview(nd4c.asarray(["a"]))
    if hasattr(nd4c, "bfloat16"):
        with pytest.raises(BufferError):
            memoryview(nd4c.ones((2,), dtype=nd4c.bfloat16))
    constant = nd4c.asarray(memoryview(b"12345678"))
    assert memoryview(constant).readonly
    with pytest.raises((BufferError, TypeError)):
        memoryview(constant)[0] = 1


@native
def test_deletion_is_refused():
    x = nd4c.asarray([1.0])
    with pytest.raises(TypeError):
        del x[0]


@native
def test_iteration():
    x = nd4c.asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]] and len(x) == 2
    with pytest.raises(TypeError):
        iter(x[0, 0])
    with pytest.raises(TypeError):
        len(x[0, 0])
    assert sys.getsizeof(x) < 100


def test_ops_write_into_given_arrays():
    exp, add, total, qr, unique = (core.function(_core_number(name)) for name in ("exp", "add", "sum", "qr", "unique_counts"))
    x, out = nd4c.asarray([[1.0, 2.0], [3.0, 5.0]]), nd4c.zeros((2, 4))[:, ::2]
    assert exp(x, out) is out and out.tolist() == nd4c.exp(x).tolist()
    assert add(x, 1, out) is out and out.tolist() == [[2.0, 3.0], [4.0, 6.0]]
    assert add(x, x, x) is x and x.tolist() == [[2.0, 4.0], [6.0, 10.0]]
    assert add(x, 1, None).tolist() == [[3.0, 5.0], [7.0, 11.0]]
    sums = nd4c.zeros((2,))
    assert total(x, (0,), False, 0, sums) is sums and sums.tolist() == [8.0, 14.0]
    pair = nd4c.zeros((2, 2)), nd4c.zeros((2, 2))
    assert qr(x, False, pair) == pair and nd4c.all(nd4c.abs(pair[0] @ pair[1] - x) < 1e-9)
    for call, arguments in ((exp, (x, 3)), (add, (x, 1, [0.0])), (total, (x, None, False, 0, "out")), (qr, (x, False, out)),
                            (qr, (x, False, (out,))), (unique, (x, (1, 2)))):
        with pytest.raises(TypeError, match="out: expected"):
            call(*arguments)
    with pytest.raises(ValueError, match="output given has shape"):
        add(x, 1, sums)
    with pytest.raises(TypeError, match="output given is float32"):
        add(x, 1, nd4c.zeros((2, 2), dtype="float32"))
    assert _core_number("im2col") in _abi.WITH_OPTIONS
    columns, image = core.function(_core_number("im2col")), nd4c.ones((1, 1, 4, 4))
    arguments = image, (2, 2), (1, 1), None, None
    made = columns(*arguments)
    out = nd4c.zeros(made.shape)
    assert columns(*arguments, out) is out and bool(nd4c.all(out == made))
    with pytest.raises(TypeError, match="out: expected"):
        columns(*arguments, 3)

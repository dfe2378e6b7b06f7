"""Operations release all Python objects and library memory that they take, also when they fail."""
import gc
import sys

import pytest

import nd4c

ROUNDS, SLACK = 500, 60


def allocated():
    gc.collect()
    return sys.getallocatedblocks(), nd4c.Device("cpu:0").memory["live_count"]


def check_balanced(function):
    """The numbers of blocks of Python and of the library are the same after many rounds. Caches fill for a while, but a leak
    grows in every one of several runs."""
    grown = []
    for _ in range(6):
        before = allocated()
        for _ in range(ROUNDS):
            function()
        after = allocated()
        grown.append((after[0] - before[0], after[1] - before[1]))
        if grown[-1][0] < SLACK and grown[-1][1] == 0:
            return
    raise AssertionError("grown by (Python's, the library's) blocks: %s" % grown)


x = nd4c.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
i = nd4c.asarray([1, 0])
mask = x > 2
state = nd4c.asarray([1, 2])


def refused(function, *errors):
    def call():
        with pytest.raises(errors):
            function()
    return call


def set_items():
    y = x + 0
    y[0] = 1
    y[y > 3] = 0.5
    y[i] = x
    y[...] = [1, 2, 3]
    y[0, 1] = nd4c.asarray(7.0)


def in_place():
    y = x + 0
    y += 1
    y *= x
    y **= 2
    z = nd4c.asarray([1, 2])
    z += nd4c.asarray([1, 2], dtype=nd4c.int16)


WORKS = {
    "operators": lambda: (x + x, x - 1, 2 * x, x / 2.5, x ** 2, -x, x @ x.T, x < 3, x == x, i & 1, i << i, abs(x)),
    "complex numbers": lambda: (x + 1j, 1j * x, complex(x[0, 0])),
    "in place": in_place,
    "basic items": lambda: (x[0], x[1, 2], x[:, ::-1], x[..., None], x[-1:]),
    "advanced items": lambda: (x[i], x[mask], x[[0, 1], [1, 2]], x[True], x[[]]),
    "setting": set_items,
    "attributes": lambda: (x.shape, x.ndim, x.size, x.dtype, x.device, x.T, x.mT),
    "numbers": lambda: (float(x[0, 0]), int(i[0]), bool(mask[0, 0]), [0, 1][i[0]], list(i)),
    "ops": lambda: (nd4c.sum(x), nd4c.sum(x, axis=(0, 1)), nd4c.concat([x, x]), nd4c.where(mask, x, 0.0),
                    nd4c.reshape(x, (3, 2)), nd4c.unique_all(i)),
    "long lists": lambda: nd4c.concat([x] * 40),
    "creation": lambda: (nd4c.empty((2, 3)), nd4c.zeros(3), nd4c.full((2,), 1.5), nd4c.asarray([[1, 2], [3, 4]])),
    "copies": lambda: (x.__copy__(), nd4c.asarray(x, copy=True)),
    "text": lambda: (repr(x), str(i)),
    "out of range": refused(lambda: x[5], IndexError),
    "out of range in an array": refused(lambda: x[:, [0, 7]], IndexError),
    "no index": refused(lambda: x["a"], IndexError),
    "no value": refused(lambda: x.__setitem__(0, [1, 2, 3, 4]), ValueError),
    "no operand": refused(lambda: x + "a", TypeError),
    "no room": refused(lambda: nd4c.asarray([1], dtype=nd4c.uint8) + 300, OverflowError),
    "shapes": refused(lambda: x + nd4c.ones((4,)), ValueError),
    "no array": refused(lambda: nd4c.exp(None), TypeError),
    "lists and NumPy's rules": lambda: (nd4c.exp([1, 2]), x + [1, 2, 3], mask * mask, nd4c.add(x, 1, out=nd4c.zeros((2, 3))),
                                        nd4c.add(x, 1, where=mask, dtype="float32"), nd4c.add.reduce(x), x == None),  # noqa: E711
    "no cast": refused(lambda: nd4c.add(x, 1, out=i), TypeError),
    "one of several is none": refused(lambda: nd4c.concat([x, "a"]), TypeError, ValueError),
    "no truth": refused(lambda: bool(x), ValueError),
    "no attribute": refused(lambda: nd4c.sum(x, axis="a"), TypeError, ValueError),
}


@pytest.mark.parametrize("name", WORKS)
def test_balanced(name):
    check_balanced(WORKS[name])


def test_balanced_buffers():
    if sys.version_info < (3, 12) and nd4c._core.name != "native":
        pytest.skip("the ctypes core has buffers from Python 3.12 on")

    def work():
        view = memoryview(x)
        assert view.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        assert not view.readonly
        memoryview(i)[0]

    check_balanced(work)


def test_a_buffer_keeps_its_array():
    if sys.version_info < (3, 12) and nd4c._core.name != "native":
        pytest.skip("the ctypes core has buffers from Python 3.12 on")
    view = memoryview(nd4c.asarray([1.0, 2.0]))
    gc.collect()
    others = [nd4c.asarray([7.0, 7.0]) for _ in range(10)]
    assert view.tolist() == [1.0, 2.0]
    assert len(others) == 10


def test_an_array_goes_at_once():
    before = nd4c.Device("cpu:0").memory["live_bytes"]
    big = nd4c.zeros((1000, 1000))
    assert nd4c.Device("cpu:0").memory["live_bytes"] >= before + 8_000_000
    view = big[10:20]
    del big
    assert nd4c.Device("cpu:0").memory["live_bytes"] >= before + 8_000_000
    del view
    assert nd4c.Device("cpu:0").memory["live_bytes"] <= before

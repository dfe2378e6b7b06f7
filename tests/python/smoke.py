"""A short test of the whole package without other packages, even NumPy and pytest: scripts/pythons runs it from the wheel
under every CPython, with each core.

    ND4C_PYTHON_CORE=ctypes python smoke.py
"""
import copy
import gc
import os
import pickle
import sys
import tempfile
import threading

import nd4c as xp


def expect(error, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except error as raised:
        assert str(raised), error
        return
    raise AssertionError("%s was not raised" % error.__name__)


def arrays():
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert (x @ x.T).tolist() == [[5.0, 11.0], [11.0, 25.0]] and x.shape == (2, 2) and x.dtype == xp.float64
    assert (1 - x * 2).tolist() == [[-1.0, -3.0], [-5.0, -7.0]] and float(xp.sum(x)) == 10.0
    assert x[:, 1].tolist() == [2.0, 4.0] and x[x > 2].tolist() == [3.0, 4.0] and x[None, ..., 0].shape == (1, 2)
    x[0] = 9
    x += 1
    assert x.tolist() == [[10.0, 10.0], [4.0, 5.0]] and repr(x).startswith("array(")
    assert xp.arange(2 ** 64 - 3, 2 ** 64, dtype=xp.uint64).tolist() == [2 ** 64 - 3, 2 ** 64 - 2, 2 ** 64 - 1]
    assert xp.linalg.solve(xp.eye(2) * 2, xp.ones(2)).tolist() == [0.5, 0.5]
    assert abs(xp.fft.ifft(xp.fft.fft(xp.asarray([1j, 2.0])))[0] - 1j) < 1e-12
    assert xp.random.normal(size=3).shape == (3,) and xp.nn.softmax(xp.zeros((1, 4))).tolist() == [[0.25] * 4]


def sharing():
    data = bytearray(8)
    view = xp.asarray(memoryview(data))
    view[0] = 7
    assert data[0] == 7
    x = xp.asarray([1.0, 2.0])
    y = xp.from_dlpack(x)
    y[1] = 5.0
    assert x.tolist() == [1.0, 5.0] and copy.copy(x).tolist() == pickle.loads(pickle.dumps(x)).tolist() == [1.0, 5.0]
    if xp.info()["core"] == "native" or sys.version_info >= (3, 12):
        assert memoryview(x).tolist() == [1.0, 5.0]


def errors():
    x = xp.zeros((2, 3))
    expect(ValueError, xp.reshape, x, (4,))
    expect(IndexError, lambda: x[5])
    expect(TypeError, xp.add, x, "word")
    expect(OverflowError, xp.arange, 0, 300, dtype=xp.uint8)
    expect(FileNotFoundError, xp.load, "/nowhere/a.npy")


def files():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npy")
        xp.save(path, xp.arange(5))
        assert xp.load(path).tolist() == [0, 1, 2, 3, 4]


def threads():
    def work():
        for _ in range(50):
            assert float(xp.sum(xp.full((1000,), 2.0))) == 2000.0

    running = [threading.Thread(target=work) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def lifetime():
    gc.collect()
    live = xp.Device("cpu:0").memory["live_count"]
    x = xp.ones((100, 100))
    assert xp.Device("cpu:0").memory["live_count"] == live + 1
    del x
    assert xp.Device("cpu:0").memory["live_count"] == live


for part in (arrays, sharing, errors, files, threads, lifetime):
    part()
wanted = os.environ.get("ND4C_PYTHON_CORE")
assert wanted in (None, xp.info()["core"]), xp.info()["core"]
print("nd4c %s, CPython %s, core %s: fine" % (xp.__version__, sys.version.split()[0], xp.info()["core"]))

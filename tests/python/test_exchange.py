"""Arrays in and out: lists, buffers, NumPy, DLPack, pickles, copies, files; no unnecessary copies."""
import array
import copy
import gc
import io
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import safetensors.numpy as package
from values import EVERY, SHAPES, check, make, views

import nd4c

NUMPY = tuple(map(int, np.__version__.split(".")[:2]))


def live():
    gc.collect()
    return nd4c.Device("cpu:0").memory["live_count"]


# -- quantised blocks ------------------------------------------------------------------------------------------------

def blocks_of(format, count):
    """Bytes of blocks, and their elements as NumPy decodes them."""
    random = np.random.default_rng(5)
    scales = random.uniform(-2, 2, count).astype("<f2")
    codes = random.integers(0, 256, (count, 32 if format == "q8_0" else 16)).astype("u1")
    data = b"".join(scale.tobytes() + code.tobytes() for scale, code in zip(scales, codes))
    whole = codes.view("i1") if format == "q8_0" else np.concatenate([codes & 15, codes >> 4], 1).astype("i4") - 8
    return data, (scales.astype("f4")[:, None] * whole.astype("f4")).reshape(-1)


@pytest.mark.parametrize("format", ("q8_0", "q4_0"))
def test_blocks(format):
    data, elements = blocks_of(format, 12)
    x = nd4c.from_blocks(format, (6, 64), data)
    assert (x.dtype, x.shape, nd4c.block_format(x)) == (nd4c.float32, (6, 64), format)
    a = np.linspace(-1, 1, 3 * 64, dtype="f4").reshape(3, 64)
    product = (a.astype("f8") @ elements.reshape(6, 64).T.astype("f8")).astype("f4")
    assert np.allclose(np.asarray(nd4c.asarray(a) @ x.mT), product, rtol=1e-6, atol=1e-6)
    assert np.array_equal(np.asarray(x), elements.reshape(6, 64))
    with pytest.raises(ValueError):
        np.asarray(x)[0] = 1
    assert nd4c.block_format(nd4c.zeros(3)) is None


def test_refused_blocks():
    for arguments, words in ((("q9", 32, b""), "q8_0 or q4_0"), (("q8_0", 33, b""), "multiple of 32"),
                             (("q8_0", (2, 32), b"123"), "3 bytes given, 64 elements of q8_0 need 68")):
        with pytest.raises(nd4c.Error, match=words):
            nd4c.from_blocks(*arguments)


# -- lists ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value", (
    1, 2.5, True, 1j, [], [1, 2], [[1, 2], [3, 4]], [1, 2.5], [True, 2], [[]], [[], []], ((1, 2), [3, 4]), [1, 2j],
    [[[1]], [[2]]], range(4), [False, True]))
def test_lists(value):
    check(nd4c.asarray(value), np.asarray(value))
    for dtype in ("float32", "complex128"):
        check(nd4c.asarray(value, dtype=dtype) if not np.iscomplexobj(np.asarray(value)) or dtype[0] == "c" else
              nd4c.asarray(0, dtype=dtype), np.asarray(value if not np.iscomplexobj(np.asarray(value)) or dtype[0] == "c"
                                                       else 0).astype(dtype))


def test_lists_that_contain_themselves():
    inner = []
    inner.append(inner)
    for value in (inner, [inner, 1]):
        with pytest.raises(ValueError, match="nested more than"):
            nd4c.asarray(value)


@pytest.mark.parametrize("dtype", [">i2", ">u4", ">i8", ">f2", ">f4", ">f8", ">c8", ">c16"])
@pytest.mark.parametrize("order", "CF")
def test_big_endian_files(tmp_path, dtype, order):
    array = np.asarray((np.arange(6).reshape(2, 3) * 257.5).astype(dtype), order=order)
    np.save(tmp_path / "big.npy", array)
    read = nd4c.load(tmp_path / "big.npy")
    assert read.dtype.name == array.dtype.newbyteorder("=").name and np.array_equal(np.asarray(read), array)


def test_object_arrays():
    texts = nd4c.asarray(np.array(["a", "bc"], dtype=object))
    assert texts.dtype == nd4c.utf8 and texts.tolist() == ["a", "bc"]
    with pytest.raises(TypeError, match="object"):
        nd4c.asarray(np.array([1, None], dtype=object))


@pytest.mark.parametrize("value, place", (
    ([[1, 2], [3]], r"\[1\] expected 2 elements.*got 1"), ([1, [2]], r"\[1\] expected a number.*1 elements"),
    ([[1], 2], r"\[1\] expected 1 elements.*int"), ([[[1, 2], [3, 4]], [[5, 6], [7]]], r"\[1\]\[1\] expected 2.*got 1")))
def test_ragged_lists(value, place):
    with pytest.raises(ValueError, match="ragged.*" + place):
        nd4c.asarray(value)


def test_lists_of_arrays_and_scalars():
    check(nd4c.asarray([nd4c.asarray([1, 2]), nd4c.asarray([3, 4])]), np.asarray([[1, 2], [3, 4]]))
    check(nd4c.asarray([np.float32(1), np.float32(2)]), np.asarray([1, 2], "float32"))
    check(nd4c.asarray(np.float32(1.5)), np.asarray(1.5, "float32"))


def test_wrong_objects():
    for value in (object(), {1: 2}, [object()], None, [None]):
        with pytest.raises(TypeError):
            nd4c.asarray(value)
    with pytest.raises(TypeError):
        nd4c.asarray(["a", 1])
    with pytest.raises(OverflowError):
        nd4c.asarray([300], dtype="int8")
    with pytest.raises(TypeError, match="nd4c has"):
        nd4c.zeros(3, dtype=object())
    with pytest.raises(TypeError, match="float33"):
        nd4c.zeros(3, dtype="float33")


def test_strings():
    x = nd4c.asarray([["a", "bc"], ["", "d\u00e9"]])
    assert x.dtype is nd4c.utf8 and x.tolist() == [["a", "bc"], ["", "d\u00e9"]]
    check(nd4c.asarray(np.asarray(["a", "bc"])) == nd4c.asarray(["a", "x"]), np.asarray([True, False]))
    assert np.asarray(x).tolist() == x.tolist()


# -- memory of others --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", EVERY)
def test_numpy_shares_memory(dtype):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        for a in views(rng, make(rng, shape, dtype)):
            x = nd4c.asarray(a)
            check(x, a)
            back = np.asarray(x)
            assert not a.size or np.shares_memory(a, back)
            through = np.from_dlpack(x)
            assert through.dtype == a.dtype and (not a.size or np.shares_memory(a, through))
            check(nd4c.from_dlpack(a), a)
            assert not a.size or not np.shares_memory(a, np.asarray(nd4c.asarray(a, copy=True)))


def test_writes_are_seen():
    a = np.arange(6.0)
    x = nd4c.asarray(a)
    x[0] = 9
    a[1] = 8
    assert a[0] == 9 and x[1] == 8
    y = nd4c.arange(4)
    np.asarray(y)[2] = 7
    assert y[2] == 7
    if NUMPY >= (2, 1):  # older ones take all DLPack memory as read-only
        np.from_dlpack(y)[3] = 5
        assert y[3] == 5
    assert y.tolist()[:3] == [0, 1, 7]


def test_memory_lives_as_long_as_it_is_used():
    before = live()
    x = nd4c.arange(1000)
    a = np.asarray(x)[10:]
    del x
    gc.collect()
    assert a[0] == 10 and live() > before
    del a
    assert live() == before
    a = np.arange(1000.0)
    x = nd4c.asarray(a)
    references = sys.getrefcount(a)
    view = x[5:]
    del x, a
    assert view[0] == 5.0
    b = np.arange(3)
    count = sys.getrefcount(b)
    x = nd4c.asarray(b)
    assert sys.getrefcount(b) == count + 1
    del x
    assert sys.getrefcount(b) == count and references


def test_read_only_memory():
    a = np.arange(3.0)
    a.flags.writeable = False
    x = nd4c.asarray(a)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    assert not np.asarray(x).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    assert (x + 1).tolist() == [1, 2, 3] and a.tolist() == [0, 1, 2]
    if NUMPY >= (2, 1):
        assert np.from_dlpack(x).flags.writeable is False


def test_buffers():
    data = bytearray(b"\1\2\3\4")
    x = nd4c.asarray(data)
    assert x.dtype is nd4c.uint8
    x[0] = 9
    assert data[0] == 9
    check(nd4c.asarray(array.array("d", [1, 2])), np.asarray([1.0, 2.0]))
    check(nd4c.asarray(memoryview(b"abcd")), np.frombuffer(b"abcd", "u1"))
    with pytest.raises(ValueError):
        nd4c.asarray(b"ab")[0] = 1
    with pytest.raises(TypeError):
        nd4c.asarray(array.array("u", "ab"))


def test_own_buffer():
    x = nd4c.asarray([[1.5, 2.5]], dtype="float32")
    if sys.version_info < (3, 12) and type(x).__base__ is not object:
        with pytest.raises(TypeError):
            memoryview(x)
        return
    view = memoryview(x)
    assert (view.shape, view.format, view.readonly) == ((1, 2), "f", False) and view.tolist() == [[1.5, 2.5]]
    view[0, 0] = 7
    assert x[0, 0] == 7
    del x
    assert view[0, 1] == 2.5


def test_foreign_byte_order_and_odd_types():
    check(nd4c.asarray(np.arange(3, dtype=">i4")), np.arange(3, dtype="i4"))
    for odd in (np.asarray([1], "datetime64[s]"), np.asarray([object()]), np.zeros(2, [("a", "i4")])):
        with pytest.raises(TypeError):
            nd4c.asarray(odd)
    packed = np.zeros(3, np.dtype([("a", "i1"), ("b", "<f8")]))["b"]  # misaligned
    check(nd4c.asarray(packed), packed)


def test_numpy_conversions():
    x = nd4c.asarray([1.5, 2.5])
    assert np.asarray(x, dtype="int32").tolist() == [1, 2]
    assert np.array(x, copy=True).tolist() == [1.5, 2.5]
    copied = x.__array__(copy=True)
    copied[0] = 0
    assert x[0] == 1.5
    assert np.dtype(nd4c.float32) == np.float32 and np.dtype(nd4c.bool) == np.bool_
    assert nd4c.zeros(2, dtype=np.float32).dtype is nd4c.float32 and nd4c.zeros(2, dtype=np.dtype("i2")).dtype is nd4c.int16


# -- DLPack ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("version", (None, (0, 8), (1, 0), (1, 1)))
def test_capsules(version):
    x = nd4c.arange(500, dtype="float32")
    x[3] = 77  # numbers beside arrays are kept
    del x
    before = live()
    x = nd4c.arange(500, dtype="float32")
    capsule = x.__dlpack__(max_version=version)
    y = nd4c.from_dlpack(capsule)
    with pytest.raises(ValueError, match="used"):
        nd4c.from_dlpack(capsule)
    x[3] = 77
    del x, capsule
    assert y[3] == 77
    del y
    unused = nd4c.arange(500).__dlpack__(max_version=version)
    assert live() > before
    del unused
    assert live() == before


def test_dlpack_arguments():
    x = nd4c.arange(4)
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        x.__dlpack__(stream=3)
    copied = nd4c.from_dlpack(x.__dlpack__(copy=True))
    copied[0] = 9
    assert x[0] == 0
    with pytest.raises(BufferError):
        nd4c.asarray(["a"]).__dlpack__()
    with pytest.raises(TypeError):
        nd4c.from_dlpack([1])
    with pytest.raises(IndexError, match="cpu:99"):
        nd4c.from_dlpack(x.__dlpack__(), device="cpu:99")


def test_refused_capsules_give_back_and_say_why():
    before = live()
    for _ in range(3):
        x = nd4c.asarray([1.0, 2.0] * 100, dtype="bfloat16")
        with pytest.raises((RuntimeError, BufferError), match="dtype"):
            np.from_dlpack(x)
    del x
    assert live() == before


def test_packed_dtypes():
    x = nd4c.astype(nd4c.asarray([1, -2, 3]), nd4c.int4)
    assert pickle.loads(pickle.dumps(x)).tolist() == copy.copy(x).tolist() == x.tolist() == [1, -2, 3]
    with pytest.raises(TypeError, match="int4"):
        np.asarray(x)
    with pytest.raises(TypeError, match="cast"):
        x + x


class OldProducer:
    """__dlpack__ as it was before version 1: no arguments but the stream."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, stream=None):
        return self.a.__dlpack__()

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def test_old_producers():
    a = np.arange(3.0)
    x = nd4c.from_dlpack(OldProducer(a))
    x[0] = 5
    assert a[0] == 5
    y = nd4c.from_dlpack(OldProducer(a), copy=True)
    y[0] = 6
    assert a[0] == 5


# -- pickles, copies, text, files --------------------------------------------------------------------------------------

def test_pickles_and_copies():
    rng = np.random.default_rng(2)
    for dtype in EVERY:
        for shape in SHAPES:
            a = make(rng, shape, dtype)
            x = nd4c.asarray(a)
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                check(pickle.loads(pickle.dumps(x, protocol)), a)
            check(copy.copy(x), a)
            check(copy.deepcopy([x])[0], a)
            assert x.tolist() == a.tolist()
    assert pickle.loads(pickle.dumps(nd4c.asarray(["a", "b"]))).tolist() == ["a", "b"]
    for thing in (nd4c.float32, nd4c.Device("cpu:0")):
        assert pickle.loads(pickle.dumps(thing)) is thing and copy.deepcopy(thing) is thing


def test_text():
    for value in ([1, 2], [[1.5, -2.25], [3, 1e10]], True, [], [1j], np.asarray([0.1], "float32")):
        a = np.asarray(value)
        assert repr(nd4c.asarray(value)) == repr(a) and str(nd4c.asarray(value)) == str(a)
    assert str(nd4c.arange(2000)) == str(np.arange(2000))
    assert "{:.2f}".format(nd4c.asarray(1.234)) == "1.23"


def test_files(tmp_path):
    for dtype in EVERY:
        a = make(np.random.default_rng(3), (3, 4), dtype)
        path = tmp_path / "a.npy"
        nd4c.save(path, nd4c.asarray(a))
        check(nd4c.load(path), a)
        np.testing.assert_array_equal(np.load(path), a)
    nd4c.save(tmp_path / "a.pb", nd4c.arange(3))
    assert nd4c.load(tmp_path / "a.pb").tolist() == [0, 1, 2]
    with pytest.raises(FileNotFoundError, match="nothing.npy"):
        nd4c.load(tmp_path / "nothing.npy")
    with pytest.raises(ValueError, match="npy"):
        nd4c.load(tmp_path / "a.txt")
    (tmp_path / "bad.npy").write_bytes(b"no numbers")
    with pytest.raises(ValueError):
        nd4c.load(tmp_path / "bad.npy")


ARCHIVES = os.path.join(os.path.dirname(__file__), "..", "data", "archives")


NARROW = ("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "int4", "uint4",
          "int2", "uint2", "float4_e2m1fn")  # NumPy has them from ml_dtypes, and its files do not say which dtype it was


def example(name):
    return nd4c.load(os.path.join(ARCHIVES, name))


@pytest.mark.parametrize("compressed", (False, True))
def test_npz(tmp_path, compressed):
    numpys = example("deflated.npz" if compressed else "stored.npz")
    with np.load(os.path.join(ARCHIVES, "stored.npz")) as expected:
        assert list(numpys) == list(expected)
        assert all(value.tolist() == expected[name].tolist() for name, value in numpys.items())
    arrays = {dtype: make(np.random.default_rng(3), (3, 4), dtype) for dtype in EVERY}
    arrays["../\u00e4"] = np.zeros(100000, "int16")
    path = tmp_path / "a.npz"
    nd4c.save(path, {name: nd4c.asarray(value) for name, value in arrays.items()}, compressed=compressed)
    assert (os.path.getsize(path) < 100000) == compressed
    read = nd4c.load(path)
    with np.load(path) as file:
        assert list(read) == list(arrays) == list(file)
        for name, value in arrays.items():
            check(read[name], value)
            np.testing.assert_array_equal(file[name], value)
    columns = np.asfortranarray(arrays["float32"])
    (np.savez_compressed if compressed else np.savez)(path, columns=columns, words=np.array(["a", "\u00e4\u20ac"]), **arrays)
    theirs = nd4c.load(path)
    assert list(theirs) == ["columns", "words"] + list(arrays) and theirs["words"].tolist() == ["a", "\u00e4\u20ac"]
    check(theirs["columns"], columns)
    for name, value in arrays.items():
        check(theirs[name], value)
    del theirs
    narrow = {dtype: nd4c.astype(nd4c.asarray([0.0, 1.0]), getattr(nd4c, dtype)) for dtype in NARROW}
    nd4c.save(path, narrow, compressed=compressed)
    assert {name: (value.dtype.name, value.tolist()) for name, value in nd4c.load(path).items()} == {
        name: (name, value.tolist()) for name, value in narrow.items()}
    with np.load(path) as file:
        assert all(file[name].shape == (2,) and file[name].itemsize == max(1, value.dtype.bits // 8)
                   for name, value in narrow.items())
    read["int16"][0, 0] = 5
    before = live()
    del read
    assert live() < before
    nd4c.save(path, {})
    assert nd4c.load(path) == {} and list(np.load(path)) == []
    with pytest.raises(ValueError):
        (tmp_path / "bad.npz").write_bytes(path.read_bytes()[:-1])
        nd4c.load(tmp_path / "bad.npz")


def test_safetensors(tmp_path):
    read = example("numpy.safetensors")
    name = os.path.join(ARCHIVES, "numpy.safetensors")
    assert nd4c.load_metadata(name) == {"format": "pt", "\u00e4": 'a "quoted" text'}
    assert all(value.dtype.name == key for key, value in read.items() if key not in ("one", "none"))
    assert read["int8"].tolist() == [[0, 1], [1, 0]] and read["one"].tolist() == 3 and read["none"].shape == (2, 0)
    with pytest.raises(ValueError):
        read["int8"][0, 0] = 1  # the file's own bytes
    for key, value in nd4c.load(name, device="cpu:0").items():  # copies
        assert value.tolist() == read[key].tolist() and not nd4c._memory.is_read_only(value)
    path = tmp_path / "a.safetensors"
    nd4c.save(path, read, metadata=nd4c.load_metadata(name))
    with open(name, "rb") as expected:
        assert path.read_bytes() == expected.read()
    nd4c.save(path, {"a": [1, 2]})
    assert nd4c.load(path)["a"].tolist() == [1, 2] and nd4c.load_metadata(path) == {}
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="data_offsets 0 to 16 of 15 bytes"):
        nd4c.load(path)


def test_safetensors_package(tmp_path):
    """nd4c reads files of the safetensors package, and the reverse."""
    arrays = {dtype: make(np.random.default_rng(3), (3, 4), dtype) for dtype in EVERY if dtype not in ("complex64", "complex128")}
    arrays["../\u00e4"] = np.array(2.5)
    path = tmp_path / "a.safetensors"
    package.save_file(arrays, path, {"who": "they"})
    read = nd4c.load(path)
    assert sorted(read) == sorted(arrays) and nd4c.load_metadata(path) == {"who": "they"}
    for name, value in arrays.items():
        check(read[name], value)
    path = tmp_path / "b.safetensors"
    nd4c.save(path, {name: nd4c.asarray(value) for name, value in arrays.items()}, metadata={"who": "we"})
    theirs = package.load_file(path)
    assert sorted(theirs) == sorted(arrays)
    for name, value in arrays.items():
        np.testing.assert_array_equal(theirs[name], value, strict=True)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    for name in ("a.npz", "a.safetensors"):
        nd4c.save(tmp_path / name, {"a": [1, 2]})
        for refused in ({"a": 1, "": 2}, {"a\0": 1}, {3: 4}):
            with pytest.raises((ValueError, TypeError)):
                nd4c.save(tmp_path / name, refused)
        assert nd4c.load(tmp_path / name)["a"].tolist() == [1, 2]
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "a.safetensors"]


def test_zip_bombs(tmp_path):
    """Small files that claim to hold much are refused before memory is asked for."""
    path = tmp_path / "a.npz"
    small = io.BytesIO()
    np.save(small, np.zeros(10, "int8"))
    huge = small.getvalue().replace(b"(10,)", b"(1073741824,)")[:128]
    for data, words in ((small.getvalue() + bytes(1 << 26), "'a': npy data: 67108874 bytes from byte 128 on, expected 10"),
                        (bytes(1 << 26), "'a': not a .npy file"), (huge + bytes(1 << 26), "expected 1073741824")):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("a.npy", data)
        with pytest.raises(ValueError, match=words):
            nd4c.load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("a.npy", small.getvalue())
    with pytest.raises(NotImplementedError, match="compression 12"):
        nd4c.load(path)


@pytest.mark.parametrize("call, error, words", (
    (lambda: nd4c.save("a.npz", [1]), TypeError, "a dict of arrays by name, not list"),
    (lambda: nd4c.save("a.npy", {"a": 1}), TypeError, "holds one array"),
    (lambda: nd4c.save("a.npz", {1: 1}), TypeError, "a name is a string, not int"),
    (lambda: nd4c.save("a.npz", {"a\0b": 1}), ValueError, "NUL"),
    (lambda: nd4c.save("a.npz", {"": 1}), ValueError, "name 0 is empty"),
    (lambda: nd4c.save("a.npy", 1, compressed=True), ValueError, "compressed is for .npz"),
    (lambda: nd4c.save("a.npz", {}, metadata={"a": "b"}), ValueError, "metadata is for .safetensors"),
    (lambda: nd4c.save("a.safetensors", {"a": 1j}), TypeError, "complex128, which the format lacks"),
    (lambda: nd4c.save("a.safetensors", {"a": 1}, metadata={"a": 1}), TypeError, "a text of metadata is a string"),
    (lambda: nd4c.load("nothing.npz"), FileNotFoundError, "nothing.npz"),
    (lambda: nd4c.load_metadata("a.npy"), ValueError, "ends in none of .npz, .safetensors")))
def test_refused_archives(call, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        call()
    assert not os.listdir(tmp_path)


def test_shared_memory_outlives_the_modules():
    """An array of NumPy's memory that is still there when the interpreter ends: its release finds the package gone."""
    program = "import sys, types, numpy, nd4c; late = types.ModuleType('late'); sys.modules['late'] = late; " \
              "late.x = nd4c.asarray(numpy.ones(3)); late.y = late.x[1:]; late.itself = late; print('done')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")

"""Files of nd4c.numpy, written and read by NumPy and nd4c in all combinations; file objects in nd4c.load and nd4c.save."""
import gzip
import io
import pathlib
import pickle

import numpy as np
import pytest
from values import EVERY, check, make

import nd4c
import nd4c.numpy as xp


@pytest.mark.parametrize("dtype", EVERY + ("float16",))
def test_npy_both_ways(dtype, tmp_path):
    rng = np.random.default_rng(1)
    for shape in ((), (0,), (3,), (2, 3, 4)):
        a = make(rng, shape, dtype)
        xp.save(tmp_path / "a", nd4c.asarray(a))
        check(nd4c.asarray(np.load(tmp_path / "a.npy")), a)
        np.save(tmp_path / "b.npy", a)
        check(xp.load(tmp_path / "b.npy"), a)
        file = io.BytesIO()
        xp.save(file, nd4c.asarray(a))
        assert file.getvalue() == (tmp_path / "a.npy").read_bytes()
        check(nd4c.load(io.BytesIO(file.getvalue())), a)


def test_several_arrays_in_one_file(tmp_path):
    given = [nd4c.arange(5), nd4c.asarray(["a", "bcd"]), nd4c.ones(3, dtype="bfloat16"),
             nd4c.asarray([1, -2], dtype="int4")]
    with open(tmp_path / "many", "wb") as file:
        for array in given:
            xp.save(file, array)
    with open(tmp_path / "many", "rb") as file:
        for array in given:
            loaded = xp.load(file)
            assert loaded.dtype is array.dtype and loaded.tolist() == array.tolist()
        with pytest.raises(EOFError, match="No data left"):
            xp.load(file)


def test_fortran_and_wide_headers():
    a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    file = io.BytesIO()
    np.lib.format.write_array(file, a, version=(2, 0))
    file.seek(0)
    check(xp.load(file), a)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_mapped(mode, tmp_path):
    for a in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6, dtype="i2").reshape(2, 3))):
        np.save(tmp_path / "a.npy", a)
        x = xp.load(tmp_path / "a.npy", mmap_mode=mode)
        check(x, a)
        if mode == "r":
            with pytest.raises(ValueError, match="read-only"):
                x[0, 0] = 7
            continue
        x[0, 0] = 7
        assert x[0, 0] == 7
        del x
        assert np.load(tmp_path / "a.npy")[0, 0] == (7 if mode == "r+" else 0)
    with pytest.raises(ValueError, match="mmap_mode"):
        xp.load(tmp_path / "a.npy", mmap_mode="w+")


@pytest.mark.parametrize("save", ["savez", "savez_compressed"])
def test_npz(save, tmp_path):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3)
    getattr(xp, save)(tmp_path / "z", a, y=b)
    with np.load(tmp_path / "z.npz") as theirs:
        assert set(theirs.files) == {"arr_0", "y"} and (theirs["y"] == b).all()
    getattr(np, save)(tmp_path / "n.npz", a, y=b)
    stream = io.BytesIO()
    getattr(xp, save)(stream, a, y=b)
    for source in (str(tmp_path / "n.npz"), tmp_path / "z.npz", io.BytesIO(stream.getvalue())):
        with xp.load(source) as arrays:
            assert set(arrays) == {"arr_0", "y"} and len(arrays) == 2 and "y.npy" in arrays and "q" not in arrays
            check(arrays["arr_0"], a)
            check(arrays.f.y, b)
            check(arrays["y.npy"], b)
            with pytest.raises(KeyError, match="q is not a file"):
                arrays["q"]
        with pytest.raises(ValueError, match="closed"):
            arrays["y"]
    with pytest.raises(ValueError, match="un-named"):
        getattr(xp, save)(tmp_path / "z", a, arr_0=b)
    check(nd4c.load(io.BytesIO(stream.getvalue()))["y"], b)


def test_file_objects_of_load_and_save(tmp_path):
    x = nd4c.arange(4)
    for value, more in ((x, {}), ({"x": x}, {}), ({"x": x}, {"compressed": True}),
                        ({"x": x}, {"metadata": {"k": "v"}})):
        file = io.BytesIO()
        nd4c.save(file, value, **more)
        file.seek(0)
        got = nd4c.load(file)
        check(got["x"] if isinstance(value, dict) else got, np.arange(4))
    with open(tmp_path / "a", "wb") as file:
        nd4c.save(file, x)
    with open(tmp_path / "a", "rb") as file:
        check(nd4c.load(file, device="cpu:0"), np.arange(4))
    with pytest.raises(ValueError, match="no .npy, .npz or .safetensors"):
        nd4c.load(io.BytesIO(b"hello world, this is text"))


def test_loaded_arrays_are_a_dict_with_what_numpys_have(tmp_path):
    for name in ("a.npz", "a.safetensors"):
        nd4c.save(tmp_path / name, {"x": nd4c.arange(4), "y": nd4c.ones(2)})
        for device in (None, "cpu:0"):
            with nd4c.load(tmp_path / name, device=device) as arrays:
                assert isinstance(arrays, dict) and sorted(arrays.files) == ["x", "y"]
            arrays.close()
            check(arrays["x"], np.arange(4))
    assert repr(pickle.loads(pickle.dumps(arrays))) == repr(dict(arrays))


def test_damaged_and_pickled_files():
    file = io.BytesIO()
    xp.save(file, nd4c.arange(100))
    for count in (7, 11, 60, 400):
        with pytest.raises(ValueError, match="load"):
            xp.load(io.BytesIO(file.getvalue()[:count]))
    stream = io.BytesIO()
    np.save(stream, np.array([{}, 1], dtype=object), allow_pickle=True)
    stream.seek(0)
    with pytest.raises((ValueError, NotImplementedError)):
        xp.load(stream)
    with pytest.raises(ValueError, match="pickles are not loaded"):
        xp.load(io.BytesIO(b"\x80\x04abcdef"))


def test_fromfile(tmp_path):
    a = np.arange(5, dtype="i4")
    a.tofile(tmp_path / "b")
    for more in ({}, {"count": 2}, {"offset": 8}, {"count": 1, "offset": 4}):
        check(xp.fromfile(tmp_path / "b", "int32", **more), np.fromfile(tmp_path / "b", "int32", **more))
    (tmp_path / "t").write_text("1.5, 2, 3e2,")
    check(xp.fromfile(tmp_path / "t", sep=","), np.array([1.5, 2, 300]))
    (tmp_path / "t").write_text("1 2\n3")
    check(xp.fromfile(tmp_path / "t", int, sep=" "), np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="element 1, 'x', is no float64"):
        (tmp_path / "t").write_text("1 x")
        xp.fromfile(tmp_path / "t", sep=" ")


# -- text ------------------------------------------------------------------------------------------------------------

LOADED = [
    (["1 2", "3 4"], {}), (["1,2", "3,4"], {"delimiter": ","}), (["# c", "1 2 # d", "", "3 4"], {}),
    (["1 2", "3 4"], {"dtype": int}),
    (["1 2 3", "4 5 6"], {"usecols": (0, -1)}), (["1 2 3", "4 5 6"], {"usecols": 1}),
    (["1 2", "3 4"], {"unpack": True}), (["1", "2"], {}),
    (["1 2"], {"ndmin": 2}), (["1", "2"], {"ndmin": 2}), (["1"], {"ndmin": 1}), (["5"], {}),
    (["x", "1 2", "3 4"], {"skiprows": 1}),
    (["1 2", "3 4", "5 6"], {"max_rows": 2}), (["1%2", "3"], {"comments": "%"}),
    (["1;2 3", "4//5", "6"], {"comments": [";", "//"]}),
    (["2 0", "1 0"], {"dtype": bool}), (["1+2j (3-4j)"], {"dtype": complex}),
    (['"1";"2"', "3;4"], {"delimiter": ";", "quotechar": '"'}),
    (["1 2", "3 4"], {"converters": {0: lambda text: float(text) * 10}}), (["1 2", "3 4"], {"converters": float}),
    (["1 2", "3 4"], {"dtype": "float32"}), (["-1 255", "3 4"], {"dtype": "int16"}), (["nan inf -inf 1e5"], {}),
    (["1\t2", " 3  4 "], {}),
]


@pytest.mark.parametrize("lines, more", LOADED)
def test_loadtxt(lines, more, tmp_path):
    wanted = np.loadtxt(lines, **more)
    check(xp.loadtxt(lines, **more), wanted)
    text = "\n".join(lines) + "\n"
    (tmp_path / "t").write_text(text)
    with gzip.open(tmp_path / "t.gz", "wt") as file:
        file.write(text)
    for source in (tmp_path / "t", str(tmp_path / "t.gz"), io.StringIO(text), io.BytesIO(text.encode())):
        check(xp.loadtxt(source, **more), wanted)


@pytest.mark.parametrize("lines, more, text", [
    (["1 2", "3 x"], {}, "could not convert string 'x' to float64 at row 1, column 2"),
    (["1 2", "3"], {}, "the number of columns changed from 2 to 1 at row 2"),
    (["1 2"], {"usecols": 2}, "invalid column index 2 at row 1 with 2 columns"),
    (["300"], {"dtype": "int8"}, "could not convert string '300'"),
    (["1_0"], {}, "could not convert string '1_0'"), (["1"], {"ndmin": 3}, "ndmin"),
    (["1"], {"skiprows": -1}, "nonnegative"),
    (["1.5"], {"dtype": int}, "could not convert string '1.5'"),
])
def test_loadtxt_errors(lines, more, text):
    with pytest.raises(ValueError, match="loadtxt: .*" + text):
        xp.loadtxt(lines, **more)


def test_loadtxt_of_the_wrong_kind():
    for more in ({"delimiter": ",,"}, {"delimiter": "\n"}, {"quotechar": "ab"}, {"usecols": "a"}, {"converters": 3},
                 {"max_rows": 1.5}):
        with pytest.raises(TypeError):
            xp.loadtxt(["1 2"], **more)
    with pytest.raises(FileNotFoundError):
        xp.loadtxt("no such file")


READ = [
    (["1,2", "3,"], {"delimiter": ","}), (["1 2", "3 4"], {"dtype": None}),
    (["a,1", "2,3"], {"delimiter": ",", "skip_header": 1}),
    (["1,N/A", "3,4"], {"delimiter": ",", "missing_values": "N/A", "filling_values": -9}),
    (["12345", "67890"], {"delimiter": (2, 3)}),
    (["123456"], {"delimiter": 2}), (["1 2", "3 4", "end"], {"skip_footer": 1}),
    (["1 2 3", "4 5 6"], {"usecols": (2, 0)}),
    (["1,x", "3,4"], {"delimiter": ","}), (["1,2", "3"], {"delimiter": ",", "invalid_raise": False}),
    (["1 2", "3 4"], {"unpack": True}),
    (["1,,3"], {"delimiter": ",", "dtype": int}), (["1 2", "3 4"], {"max_rows": 1}),
    (["1 2", "3 4"], {"converters": {1: lambda text: 7.0}}), (["# a", "1 2"], {}),
]


@pytest.mark.parametrize("lines, more", READ)
def test_genfromtxt(lines, more):
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.genfromtxt(lines, **more)
    check(xp.genfromtxt(lines, **more), wanted)


def test_genfromtxt_errors():
    with pytest.raises(ValueError, match=r"line 2 \(got 1 columns instead of 2\)"):
        xp.genfromtxt(["1 2", "3"])
    with pytest.raises(ValueError, match="could not convert string 'x'"):
        xp.genfromtxt(["1 x"], loose=False)
    with pytest.raises(TypeError, match="no records"):
        xp.genfromtxt(["a b", "1 2"], names=True)


WRITTEN = [
    ([1.5, 2], {}), ([[1, 2], [3, 4]], {"fmt": "%d"}), ([[1.0, 2], [3, 4]], {"fmt": "%.2f", "delimiter": ","}),
    ([[1.0, 2]], {"fmt": ["%d", "%.3f"]}), ([[1.0, 2]], {"fmt": "%d:%.1f"}), ([[1 + 2j, 3 - 4j]], {"fmt": "%.1f"}),
    ([True, False], {"fmt": "%d"}),
    ([1.0], {"header": "a\nb", "footer": "z", "fmt": "%g"}), ([1.0, 2], {"newline": ";", "fmt": "%g"}),
    ([1.0], {"comments": "%", "header": "h"}),
    (np.zeros((0, 2)), {}), (np.arange(200000.0).reshape(-1, 2), {"fmt": "%g"}),
]


@pytest.mark.parametrize("values, more", WRITTEN)
def test_savetxt(values, more, tmp_path):
    theirs, ours, binary = io.StringIO(), io.StringIO(), io.BytesIO()
    np.savetxt(theirs, values, **more)
    xp.savetxt(ours, values, **more)
    assert ours.getvalue() == theirs.getvalue()
    xp.savetxt(binary, values, **more)
    assert binary.getvalue().decode("latin1") == theirs.getvalue()
    xp.savetxt(tmp_path / "t.gz", values, **more)
    with gzip.open(tmp_path / "t.gz", "rt") as file:
        assert file.read() == theirs.getvalue()


def test_savetxt_errors():
    for values, more, kind in ((np.ones((2, 2, 2)), {}, ValueError), (np.ones(()), {}, ValueError),
                               ([[1, 2]], {"fmt": "%d %d %d"}, ValueError),
                               ([[1, 2]], {"fmt": ["%d"]}, AttributeError), ([[1j]], {"fmt": "%d %d %d"}, ValueError)):
        with pytest.raises(kind, match="savetxt"):
            xp.savetxt(io.StringIO(), values, **more)
    with pytest.raises(FileNotFoundError):
        xp.savetxt(pathlib.Path("no such folder") / "t", [1])

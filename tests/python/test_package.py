"""The package itself: namespace, devices, configuration, errors, models, random numbers, fork, and the cost of importing."""
import ast
import base64
import os
import pathlib
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
from values import check

import nd4c

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def python(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, **environment))
    return done.returncode, done.stdout.strip(), done.stderr


def test_relative_library_path_is_refused(tmp_path):
    (tmp_path / "lib").mkdir()
    code = "import os; os.chdir(%r); import nd4c\ntry: nd4c.ones(2) + 1\nexcept nd4c.Error as e: print(e)" % str(tmp_path)
    status, out, error = python(code, ND4C_LIBRARY_PATH="lib,/usr/lib")
    assert status == 0 and "ND4C_LIBRARY_PATH" in out and "begin with '/'" in out, (out, error)


def test_every_function_of_the_standard_is_here():
    with open(os.path.join(ROOT, "tests", "data", "ops", "array_api.txt"), encoding="utf-8") as file:
        names = [line.split()[0] for line in file if not line.startswith("#")]
    assert len(names) > 170
    for name in names:
        target = nd4c
        for part in name.split("."):
            target = getattr(target, part)
        assert callable(target) and target.__doc__, name


def test_every_op_is_here():
    for name in dir(nd4c.ops):
        if not name.startswith("_") and callable(getattr(nd4c.ops, name)) and name != "annotations":
            assert getattr(nd4c.ops, name).__doc__, name
    assert nd4c.conv.__doc__ and nd4c.ops.conv is nd4c.conv
    with pytest.raises(AttributeError, match="nothing_like_it"):
        nd4c.nothing_like_it
    assert "conv" in dir(nd4c) and "linalg" in dir(nd4c)


@pytest.mark.parametrize("name", ["ops", "random", "nn", "image", "linalg", "fft", "onnx", "errors", "memory", "plugins"])
def test_namespaces_are_modules(name):
    """Modules are the same object however they are imported, and in any order."""
    code = ("import sys, nd4c.{0}, nd4c; from nd4c import {0} as other; import nd4c.{0} as third;"
            "assert other is third is nd4c.{0} is sys.modules['nd4c.{0}']; print(other.__name__)").format(name)
    assert python(code) == (0, "nd4c." + name, "")
    code = "import nd4c; first = nd4c.{0}; import nd4c.{0} as second; print(first is second)".format(name)
    assert python(code)[1] == "True"


def test_stubs_name_everything():
    folder = os.path.dirname(nd4c.__file__)
    for stub, module in (("__init__", nd4c), ("linalg", nd4c.linalg), ("fft", nd4c.fft), ("random/__init__", nd4c.random),
                         ("nn", nd4c.nn), ("image", nd4c.image), ("ops", nd4c.ops), ("errors", nd4c.errors)):
        with open(os.path.join(folder, stub + ".pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        named = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        named |= {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        assigned = [getattr(node, "target", None) or node.targets[0] for node in tree.body
                    if isinstance(node, (ast.Assign, ast.AnnAssign))]
        named |= {target.id for target in assigned}
        public = getattr(module, "__all__", [name for name in dir(module) if not name.startswith("_")])
        missing = set(public) - named
        assert not missing, (stub, missing)
        if stub == "random/__init__":  # every function that draws takes a device
            drawing = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and "Array" in ast.dump(node.returns)]
            assert len(drawing) == 94 and all("device" in [arg.arg for arg in node.args.kwonlyargs] for node in drawing)


def test_namespace_and_inspection():
    x = nd4c.ones(2)
    assert x.__array_namespace__() is nd4c and x.__array_namespace__(api_version="2025.12") is nd4c
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.12")
    info = nd4c.__array_namespace_info__()
    assert info.default_device() == nd4c.Device("cpu:0") and info.devices()[0] == "cpu:0"
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert info.default_dtypes()["integral"] is nd4c.int64 and info.capabilities()["boolean indexing"]


def test_arrays_are_made_by_functions_alone():
    with pytest.raises(TypeError, match="asarray"):
        nd4c.Array()
    with pytest.raises(TypeError):
        class Other(nd4c.Array):
            pass
    x = nd4c.ones(2)
    with pytest.raises(AttributeError):
        x.value
    with pytest.raises(AttributeError):
        x.something = 1
    with pytest.raises(TypeError):
        hash(x)


def test_weak_references():
    x = nd4c.ones(2)
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None


def test_python_conversions():
    assert int(nd4c.asarray(3)) == 3 and float(nd4c.asarray(2.5)) == 2.5 and complex(nd4c.asarray(1j)) == 1j
    assert bool(nd4c.asarray(True)) and not bool(nd4c.asarray(0.0)) and [10, 20][nd4c.asarray(1)] == 20
    assert int(nd4c.asarray(2 ** 63 + 1, dtype="uint64")) == 2 ** 63 + 1
    assert float(nd4c.asarray(0.5, dtype="float16")) == 0.5 and float(nd4c.asarray(0.5, dtype="bfloat16")) == 0.5
    with pytest.raises(ValueError, match="ambiguous"):
        bool(nd4c.ones(2))
    for convert in (int, float, complex):
        with pytest.raises(TypeError):
            convert(nd4c.ones(2))
    with pytest.raises(TypeError):
        nd4c.asarray(1.0).__index__()
    with pytest.raises(TypeError):
        float(nd4c.asarray(1j))
    assert len(nd4c.ones((3, 2))) == 3 and [row.tolist() for row in nd4c.asarray([[1], [2]])] == [[1], [2]]
    with pytest.raises(TypeError):
        len(nd4c.asarray(1))
    assert 2 in nd4c.asarray([1, 2]) and 3 not in nd4c.asarray([1, 2])


ERRORS = (
    (lambda: nd4c.ones((2, 3)) + nd4c.ones((4,)), ValueError, "add.*4.*2, 3"),
    (lambda: nd4c.ones(3)[5], IndexError, "5.*3"),
    (lambda: nd4c.ones(3)[1, 2], IndexError, "too many"),
    (lambda: nd4c.ones(3)[1.5], IndexError, "integers"),
    (lambda: nd4c.ones(3)["a"], IndexError, "integers"),
    (lambda: nd4c.ones(3)[::0], ValueError, "step"),
    (lambda: nd4c.sum(nd4c.ones(3), axis=2), IndexError, "sum"),
    (lambda: nd4c.reshape(nd4c.ones(3), (2,)), ValueError, "reshape"),
    (lambda: nd4c.bitwise_and(nd4c.ones(3), nd4c.ones(3)), TypeError, "bitwise_and"),
    (lambda: nd4c.zeros((-1,)), ValueError, "-1"),
    (lambda: nd4c.zeros((2 ** 40, 2 ** 40)), (ValueError, MemoryError), "more bytes|memory"),
    (lambda: nd4c.Device("gpu:0"), nd4c.Error, "gpu.*cpu:0"),
    (lambda: nd4c.ones(3).to_device("cpu:7"), Exception, "cpu:7"),
    (lambda: nd4c.concat([nd4c.ones((2, 2)), nd4c.ones((3,))]), ValueError, "concat"),
    (lambda: nd4c.permute_dims(nd4c.ones((2, 2)), (0, 0)), (ValueError, IndexError), "transpose"),
    (lambda: nd4c.abs(object()), TypeError, "abs: expected an array.*object"),
    (lambda: nd4c.conv(nd4c.ones((1, 1, 3)), nd4c.ones((1, 1, 2)), auto_pad="some"), ValueError, "auto_pad.*same_upper"),
    (lambda: nd4c.onnx.load("/nonexistent.onnx"), FileNotFoundError, "nonexistent"),
    (lambda: nd4c.onnx.load(b"no model"), ValueError, ""),
    (lambda: nd4c.onnx.load(b"", math="exactly"), ValueError, "reduced"),
    (lambda: nd4c.onnx.load(b"", compile_options={"LEVEL": 3}), TypeError, "LEVEL"),
    (lambda: nd4c.onnx.load(b"", passes=["gelu"]), TypeError, "passes: expected text.*gelu"),
)


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    call, cls, text = ERRORS[number]
    with pytest.raises(cls, match="(?i)" + text):
        call()


def test_errors_are_of_one_class():
    with pytest.raises(nd4c.Error) as caught:
        nd4c.ones(3)[5]
    assert caught.value.status_name == "INDEX" and isinstance(caught.value, IndexError)


def test_config():
    config = nd4c.config
    assert len(config) == len(list(config)) > 5 and dict(config)
    name = "nd4c.memory.origins"
    before = config[name]
    with config({name: True}):
        assert config[name] is True
        with config({name: False}):
            assert config[name] is False
        assert config[name] is True
    assert config[name] == before
    config[name] = True
    del config[name]
    assert config[name] == before
    assert config.describe(name)["type"] == "bool" and name in repr(config)
    with pytest.raises(KeyError, match="nearest"):
        config["nd4c.memory.origin"]
    with pytest.raises(ValueError):
        config[name] = "perhaps"


def test_info_and_explain():
    info = nd4c.info()
    assert info["version"] == nd4c.__version__ and "cpu:0" in str(info) and info["core"] in ("ctypes", "native")
    assert any(backend["selected"] for backend in info["backends"])
    assert "add on cpu:0" in nd4c.explain(nd4c.add, nd4c.ones(3), 1.0)
    assert "sum" in nd4c.explain("sum", nd4c.ones((2, 3)), axes=[0], keepdims=True)
    with pytest.raises(ValueError, match="no_such"):
        nd4c.explain("no_such")
    with pytest.raises(ValueError, match="axess"):
        nd4c.explain("sum", nd4c.ones(3), axess=[0])
    done = subprocess.run([sys.executable, "-m", "nd4c", "info"], capture_output=True, text=True)
    assert done.returncode == 0 and "cpu:0" in done.stdout
    assert subprocess.run([sys.executable, "-m", "nd4c", "what"], capture_output=True).returncode == 2


def test_memory_of_devices():
    device = nd4c.Device("cpu:0")
    before = device.memory["live_count"]
    x = nd4c.ones((1000,))
    assert device.memory["live_count"] == before + 1
    del x
    assert device.memory["live_count"] == before
    assert device.info["type"] == "cpu" and nd4c.devices()[0] == device and nd4c.Device(device) is device
    device.synchronize()


def test_nn_and_image():
    x = nd4c.asarray([[-1.0, 0.0, 2.0]])
    assert nd4c.nn.relu(x).tolist() == [[0, 0, 2]]
    check(nd4c.sum(nd4c.nn.softmax(x)), np.asarray(1.0), 2)
    y = nd4c.nn.conv(nd4c.ones((1, 1, 5, 5)), nd4c.ones((2, 1, 3, 3)), auto_pad="same_upper", activation="relu")
    assert y.shape == (1, 2, 5, 5) and float(y[0, 0, 2, 2]) == 9
    assert "resize" in nd4c.image.__all__


def test_model(tmp_path):
    folder = os.path.join(ROOT, "examples", "digits")
    model = nd4c.onnx.load(os.path.join(folder, "digits.onnx"))
    images, labels = (nd4c.load(os.path.join(folder, "digits_%s.npy" % name)) for name in ("images", "labels"))
    assert model.inputs[0].name == "image" and model.inputs[0].shape == ("batch", 1, 8, 8)
    logits = model.run({"image": images})["logits"]
    assert int(nd4c.count_nonzero(nd4c.argmax(logits, axis=-1) == nd4c.astype(labels, "int64"))) > 0.95 * len(images)
    check(model(images[:3]), np.asarray(logits)[:3], 64, absolute=1e-4)
    assert "plan on" in model.report() and "image" in repr(model)
    for shapes, kind, words in (({"image": (1, 1, 8, 8)}, nd4c.errors.UnsupportedError, "no compiler of cpu:0 takes any"),
                                (None, ValueError, "shape of input 'image' free"), ({"x": (1,)}, KeyError, "no input 'x'"),
                                ({"image": (1, 2, 8, 8)}, ValueError, "not one that the model declares")):
        with pytest.raises(kind, match=words):
            model.compile("cpu:0", os.path.join(str(tmp_path), "made.nd4cexe"), shapes)
    with open(os.path.join(folder, "digits.onnx"), "rb") as file:
        other = nd4c.onnx.load(file.read())
    check(other(images[:1]), np.asarray(logits)[:1], 64, absolute=1e-4)
    for wrong, cls in (({}, ValueError), ({"picture": images}, ValueError), ({"image": nd4c.ones((1, 2), dtype="float32")}, ValueError),
                       ({"image": nd4c.astype(images, "float64")}, TypeError)):
        with pytest.raises(cls, match="image|picture"):
            model.run(wrong)


# An ONNX model: t = SequenceInsert(s, x), e = SequenceAt(t, i), has = OptionalHasElement(o).
SEQUENCES = """
CAk6uQEKGQoBcwoBeBIBdCIOU2VxdWVuY2VJbnNlcnQKFQoBdAoBaRIBZSIKU2VxdWVuY2VBdAocCgFvEgNoYXMiEk9wdGlvbmFs
SGFzRWxlbWVudBIBZ1oNCgFzEggiBgoECgIIAVoNCgFvEghKBgoECgIIAVoQCgF4EgsKCQgBEgUKAxIBbloLCgFpEgYKBAgHEgBi
DQoBdBIIIgYKBAoCCAFiCQoBZRIECgIIAWINCgNoYXMSBgoECAkSAEIECgAQEg=="""


def test_sequences_and_optionals():
    model = nd4c.onnx.load(base64.b64decode(SEQUENCES))
    assert [value.kind for value in model.inputs] == ["sequence of array", "optional of array", "array", "array"]
    x = nd4c.asarray([1.0, 2.0], dtype="float32")
    for optional in (None, x):
        for sequence in ([], [x, x + 1]):
            outputs = model.run({"s": sequence, "o": optional, "x": [5.0], "i": -1})
            assert [part.tolist() for part in outputs["t"]] == [part.tolist() for part in sequence] + [[5.0]]
            assert outputs["e"].tolist() == [5.0] and bool(outputs["has"]) is (optional is not None)
    with pytest.raises(TypeError, match="'s'"):
        model.run({"s": [nd4c.arange(2)], "o": None, "x": x, "i": 0})


def test_fork():
    if not hasattr(os, "fork"):
        return
    x = nd4c.ones((300, 300)) @ nd4c.ones((300, 300))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            y = nd4c.matmul(x, x) + nd4c.sum(x)
            os.write(write, b"%d" % int(y[0, 0]))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == b"%d" % int((x @ x + nd4c.sum(x))[0, 0])
    os.waitpid(child, 0)


def test_missing_library():
    code, _, error = python("import nd4c", ND4C_LIBRARY="/nonexistent/libnd4c.so")
    assert code and "ImportError" in error and "ND4C_LIBRARY" in error and "/nonexistent/libnd4c.so" in error
    code, _, error = python("import nd4c", ND4C_LIBRARY=sys.executable)
    assert code and "ImportError" in error
    code, _, error = python("import nd4c", ND4C_PYTHON_CORE="fast")
    assert code and "'native' or 'ctypes'" in error


def test_library_that_was_cut_short(tmp_path):
    whole = pathlib.Path(nd4c._library.path).read_bytes()
    for size in (0, 40, 64, 500, len(whole) // 2):
        cut = tmp_path / "libnd4c.so.0"
        cut.write_bytes(whole[:size])
        code, _, error = python("import nd4c", ND4C_LIBRARY=str(cut))
        assert code == 1 and "ImportError" in error and str(cut) in error, (size, code, error)


def test_importing_needs_nothing():
    code, out, error = python(
        "import sys; import nd4c; nd4c.ones(3) + 1; "
        "print([name for name in ('numpy', 'nd4c.ops', 'nd4c.onnx', 'nd4c.random') if name in sys.modules])")
    assert code == 0 and out == "[]", error

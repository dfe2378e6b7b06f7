"""Type checkers over the package: its own stubs, a program that uses everything (typing_use.py), the examples, mistakes
that they have to find, and mypy's comparison of the stubs with the modules (stubtest)."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import nd4c

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
USE = pathlib.Path(__file__).resolve().parent / "typing_use.py"
# Each line has one mistake.
WRONG = """
import nd4c
import nd4c.numpy as np
x = nd4c.ones(3)
x.summ()
x.shape = (1, 3)
nd4c.nothing
nd4c.zeros("3")
nd4c.sum(x, axes=0)
nd4c.sin()
nd4c.sin(object())
a: int = nd4c.sum(x)
b: int = np.unique(x, return_counts=True)
nd4c.random.normal(sizes=3)
nd4c.onnx.load(3)
nd4c.ops.relu([1.0])
nd4c.asarray(1, dtype=3)
nd4c.float32.bytes
np.nothing(x)
np.linalg.solve(x)
nd4c.workspace(3)
np.random.default_rng(1).normals()
""".lstrip()
# What the comparison may say: classes whose objects functions make have their arguments for themselves; dtype is
# DType to checkers, as it is to isinstance; programs do not call the metaclasses, which answer isinstance.
ALLOWED = r"""
nd4c\.(\w+\.)*_[a-z]\w*(\..*)?
nd4c\.(graph|memory|onnx|random)\.\w+\.__init__
nd4c\.graph\.Symbol\.__array_ufunc__
nd4c(\.numpy)?\.dtype(\..*)?
nd4c\.__main__
nd4c\.Array
nd4c\.Array\.(__array_priority__|__class_getitem__|__r?pow__|nonzero)
nd4c\.memory\.\w+\.__del__
nd4c\.onnx\.InferenceSession\.__(deep)?copy__
nd4c\.numpy\.ufunc(\..*)?
"""



def lacks(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=module + " is not installed")


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """A folder of the package's stubs alone, as checkers find them beside an installed package, and of the programs."""
    if os.environ.get("ND4C_PYTHON_CORE") == "ctypes":
        pytest.skip("what checkers say depends on the stubs alone, which are the same for both cores")
    package = pathlib.Path(nd4c.__file__).parent
    folder = tmp_path_factory.mktemp("stubs")
    for path in [*package.rglob("*.pyi"), package / "py.typed", package / "typing.py"]:
        place = folder / "nd4c" / path.relative_to(package)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(path), str(place))
    examples, no_caches = ROOT / "examples" / "python", shutil.ignore_patterns("__pycache__")
    shutil.copytree(str(examples), str(folder / "programs"), ignore=no_caches)
    shutil.copy(str(USE), str(folder / "programs"))
    return folder


def run(module, *arguments, cwd, **environment):
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, timeout=600,
                          cwd=str(cwd), env=dict(os.environ, **environment))
    return done.returncode, done.stdout + done.stderr


def mypy(stubs, *arguments):
    """mypy without a word about libraries that have no types."""
    return run("mypy", "--strict", "--disable-error-code=import-untyped", "--cache-dir", str(stubs / "cache"),
               *arguments, cwd=stubs, MYPYPATH=str(stubs))


def pyright(stubs, *paths):
    """pyright, which does not infer untyped libraries' types from their sources: that takes longer than all else."""
    (stubs / "pyrightconfig.json").write_text(json.dumps(
        {"include": paths, "useLibraryCodeForTypes": False, "reportMissingModuleSource": False}))
    return run("pyright", "--pythonpath", sys.executable, cwd=stubs, PYRIGHT_PYTHON_IGNORE_WARNINGS="1")


def test_the_program_runs(tmp_path):
    done = subprocess.run([sys.executable, str(USE), str(ROOT / "examples" / "digits")], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr


@lacks("mypy")
def test_mypy(stubs):
    status, text = mypy(stubs, "nd4c", "programs")
    assert status == 0 and "no issues found in" in text, text


@lacks("pyright")
def test_pyright(stubs):
    status, text = pyright(stubs, "nd4c", "programs")
    assert status == 0 and "0 errors, 0 warnings" in text, text


@pytest.mark.parametrize("checker", [pytest.param(one, marks=lacks(one.__name__)) for one in (mypy, pyright)])
def test_mistakes_are_found(stubs, checker):
    (stubs / "wrong.py").write_text(WRONG)
    status, text = checker(stubs, "wrong.py")
    found = {int(number) for number in re.findall(r"wrong\.py:(\d+):[^\n]*\berror: ", text)}
    assert status == 1 and found == set(range(4, WRONG.count("\n") + 1)), text


@lacks("mypy")
def test_stubs_and_modules_agree(stubs, tmp_path):
    """Every public name is in the stubs with its parameters and defaults, and the stubs have no other name."""
    refused = [name for name in vars(nd4c.Array) if not hasattr(nd4c.Array, name)]
    assert "unsqueeze" in refused  # other libraries' names, each of which has a text
    functions = {name for module in (nd4c, nd4c.numpy) for name in dir(module)
                 if hasattr(getattr(module, name), "reduce") and hasattr(getattr(module, name), "nin")}
    assert {"add", "sin", "true_divide"} <= functions  # their class has the parameters' types, not their names
    allowed = tmp_path / "allowed.txt"
    kinds = [name for name in dir(nd4c.numpy) if type(getattr(nd4c.numpy, name)).__name__ == "_Kinds"]
    allowed.write_text(ALLOWED + "nd4c\\.Array\\.(%s)\nnd4c(\\.numpy)?\\.(%s)\n" % (
        "|".join(refused), "|".join([*functions, *kinds])))
    package = str(pathlib.Path(nd4c.__file__).parents[1])
    status, text = run("mypy.stubtest", "--allowlist", str(allowed), "--ignore-unused-allowlist", "--concise", "nd4c",
                       cwd=stubs, MYPYPATH=str(stubs), PYTHONPATH=package)
    assert status == 0, text

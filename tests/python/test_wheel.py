"""What the wheel carries, where nd4c was installed from one."""
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest

import nd4c

FOLDER = pathlib.Path(nd4c.__file__).resolve().parent
try:
    METADATA = importlib.metadata.distribution("nd4c")
    INSTALLED = pathlib.Path(METADATA.locate_file("nd4c")).resolve() == FOLDER
except importlib.metadata.PackageNotFoundError:
    INSTALLED = False
pytestmark = pytest.mark.skipif(not INSTALLED or "ND4C_LIBRARY" in os.environ, reason="nd4c is not installed from a wheel")


def test_metadata():
    assert METADATA.version == nd4c.__version__ and METADATA.requires is None
    assert METADATA.metadata["Requires-Python"] == ">=3.9" and METADATA.metadata["License-Expression"]
    files = {file.name for file in METADATA.files}
    assert {"LICENSE", "OpenBLAS.txt", "oneDNN.txt", "GCC-runtime.txt", "py.typed"} <= files
    stubs = {str(file) for file in METADATA.files if file.name.endswith(".pyi")}
    for folder in ("", "numpy/", "numpy/lib/", "numpy/polynomial/", "onnx/", "random/"):
        assert "nd4c/%s__init__.pyi" % folder in stubs
    assert {"nd4c/ops.pyi", "nd4c/memory.pyi", "nd4c/numpy/linalg.pyi", "nd4c/numpy/polynomial/polynomial.pyi"} <= stubs
    assert not any(name.startswith(("libfftw", "libc.", "libstdc++")) for name in files)


def test_libraries_are_the_packages_own():
    carried = {path.name for path in (FOLDER / "lib").iterdir()}
    assert "libnd4c.so.0" in carried
    nd4c.linalg.solve(nd4c.eye(3), nd4c.ones(3))
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.split(None, 5)[5].strip() for line in maps if line.count("/")}
    ours = {pathlib.Path(path).name for path in mapped if path.startswith(str(FOLDER / "lib"))}
    assert "libnd4c.so.0" in ours
    engines = next(backend for backend in nd4c.info()["backends"] if backend["selected"])["engines"]
    for engine, name in (("openblas", "libopenblas.so.0"), ("onednn", "libdnnl.so.3")):
        if name in carried and "ND4C_LIBRARY_PATH" not in os.environ and "LD_LIBRARY_PATH" not in os.environ:
            assert str(FOLDER / "lib" / name) in engines[engine]


def test_current_directory_is_never_searched(tmp_path):
    for name in ("libnd4c.so.0", "libopenblas.so.0", "libdnnl.so.3", "libgomp.so.1", "libhwloc.so.15"):
        (tmp_path / name).write_bytes(b"not a library")
    code = "import nd4c; print(nd4c.linalg.solve(nd4c.eye(2), nd4c.ones(2)).tolist(), nd4c.info()['library'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=str(tmp_path), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[1.0, 1.0] ") and str(tmp_path) not in done.stdout

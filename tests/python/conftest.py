"""Adds the tests' helpers to the path, wherever pytest was started, and sets SCIPY_ARRAY_API, which SciPy and scikit-learn
read when they are first imported.

Both cores run all tests, and behind the boundary between Python and C both call the same functions. So scripts/ci names a
sample (ND4C_TEST_SAMPLE, a number), with which the core in Python takes a third of the tests of functions, other ones with each
commit, and leaves the type checkers to the other core. It always takes the tests of the boundary itself."""
import os
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ["SCIPY_ARRAY_API"] = "1"

PARTS = 3
OF_FUNCTIONS = {"numpy_functions", "integration", "test_docstrings.py", "test_elementwise.py", "test_fast.py", "test_functions.py",
                "test_linalg_fft.py", "test_random.py", "test_random_distributions.py"}
OF_SOURCES = {"test_typing.py"}


def is_left_out(item, sample):
    path = item.path.relative_to(os.path.dirname(os.path.abspath(__file__)))
    if path.parts[0] in OF_SOURCES:
        return True
    return path.parts[0] in OF_FUNCTIONS and zlib.crc32(item.name.encode()) % PARTS != sample % PARTS


def pytest_collection_modifyitems(config, items):
    sample = os.environ.get("ND4C_TEST_SAMPLE", "")
    if sample and os.environ.get("ND4C_PYTHON_CORE") == "ctypes":
        left = [item for item in items if is_left_out(item, int(sample))]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]

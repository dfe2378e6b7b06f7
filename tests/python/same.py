"""One call on NumPy's arrays and on nd4c's: the results must be nd4c's and of the same values."""
import os
import pathlib
import subprocess
import sys

import numpy as np

import nd4c

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


def to_nd4c(value):
    return nd4c.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else value


def check(got, wanted, tolerance=1e-9, exact_type=True):
    if isinstance(wanted, tuple) and hasattr(wanted, "_asdict"):
        got = tuple(got)
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            check(one, other, tolerance, exact_type)
    elif isinstance(wanted, (np.ndarray, np.generic)):
        if exact_type:
            assert isinstance(got, nd4c.Array), "got %s" % type(got)
            assert got.shape == wanted.shape
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance)
    else:
        assert got == wanted


def run_example(name):
    """The output of an example, run in a separate process."""
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "python" / name)], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout

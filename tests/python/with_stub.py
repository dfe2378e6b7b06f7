"""Programs in a process of their own that loads the stub backend, or another plug-in of the tests beside it: the one that
ND4C_TEST_STUB names, else that of the build folder."""
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import nd4c

named = os.environ.get("ND4C_TEST_STUB")  # for a wheel, which contains no stub
stub = pathlib.Path(named or pathlib.Path(nd4c.__file__).parent / "lib" / "libnd4c_stub.so")
needs_stub = pytest.mark.skipif(not named and not stub.exists(), reason="no stub backend beside the library, and "
                                "ND4C_TEST_STUB names none")


acme = stub.with_name("libnd4c_acme.so")  # ops of its own: tests/plugin/acme_ops.c


def run(program, plugin=stub, **environment):
    assert plugin.exists(), "%s is not there; ND4C_TEST_STUB names the stub, beside which it is" % plugin
    settings = dict(os.environ, ND4C_BACKEND_PLUGINS=str(plugin), **environment)
    done = subprocess.run([sys.executable, "-c", "import nd4c as xp, pytest\n" + textwrap.dedent(program)], env=settings,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

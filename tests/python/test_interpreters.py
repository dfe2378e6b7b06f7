"""Interpreters that the package does not serve are refused, and the main one goes on."""
import subprocess
import sys

SUBINTERPRETER = """
import nd4c, sys
x = nd4c.ones(3)
try:
    import _interpreters as interpreters                        # 3.13 and later
    create, run = (lambda: interpreters.create("legacy")), interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    create, run = (lambda: interpreters.create(isolated=False)), interpreters.run_string
inner = create()
code = '''
import sys
sys.path[:] = %r
try:
    import nd4c
except ImportError as error:
    assert "main interpreter only" in str(error) and "mod_wsgi" in str(error), error
else:
    raise AssertionError("imported")
''' % (sys.path,)
failure = run(inner, code)
assert failure is None, failure
interpreters.destroy(inner)
y = (x + nd4c.asarray([1.0, 2.0, 3.0])).tolist()
assert y == [2, 3, 4] and nd4c.float64(2).dtype is nd4c.float64 and nd4c.asarray([True]).dtype is nd4c.bool
try:
    nd4c.ones(2) + nd4c.ones(3)
except nd4c.Error:
    print("well")
"""


def test_a_subinterpreter_is_refused_and_the_main_one_goes_on():
    done = subprocess.run([sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "well\n"), done.stderr


def test_a_python_without_the_gil_is_refused():
    code = ("import sys; sys._is_gil_enabled = lambda: False\ntry:\n    import nd4c\nexcept ImportError as error:\n    print(error)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "PYTHON_GIL=1" in done.stdout, done.stderr

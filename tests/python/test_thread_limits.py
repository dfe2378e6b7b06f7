"""What limits nd4c's threads: the environment, threadpoolctl, joblib's workers; and more threads than processors. Each case is a
process of its own, which counts its threads: nothing here depends on time."""
import os
import subprocess
import sys

import pytest

import nd4c

# One call whose loops share work, and one of OpenBLAS; then the number of threads that nd4c has started.
CALLS = """
import os
import nd4c
{before}
threads = lambda: len(os.listdir("/proc/self/task"))
start = threads()
def call():
    a = nd4c.ones((512, 512), dtype=nd4c.float64)
    assert float(nd4c.sum(a @ a)) == 512.0 ** 3
    assert float(nd4c.sum(nd4c.exp(nd4c.zeros(10**6)))) == 10**6
call()
print(threads() - start)
"""
VARIABLES = ("ND4C_WIDTH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def start(code, **variables):
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment.update(variables, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE)


def answer(process):
    text = process.communicate(timeout=120)[0]
    assert process.returncode == 0
    return text.strip()


@pytest.mark.parametrize("variables, started", [
    ({"ND4C_WIDTH": "3"}, 2), ({"ND4C_WIDTH": "1"}, 0), ({"OMP_NUM_THREADS": "1"}, 0),
    ({"OMP_NUM_THREADS": "1", "ND4C_WIDTH": "2"}, 1)])
def test_environment(variables, started):
    assert int(answer(start(CALLS.format(before=""), **variables))) == started


@pytest.mark.parametrize("before", ["import threadpoolctl", ""], ids=["imported first", "imported later"])
def test_threadpoolctl(before):
    pytest.importorskip("threadpoolctl", minversion="3.2")
    code = before + CALLS.format(before="""
import threadpoolctl
width = lambda: nd4c.info()["machine"]["width"]
limited = threadpoolctl.threadpool_limits(2, user_api="blas")
assert width() == 2
with threadpoolctl.threadpool_limits(1):
    assert width() == 1
    start = len(os.listdir("/proc/self/task"))
    assert float(nd4c.sum(nd4c.ones(10**6))) == 10**6
    assert len(os.listdir("/proc/self/task")) == start
assert width() == 2
limited.restore_original_limits()
assert width() == 4 and nd4c.config.describe("nd4c.width")["value"] in (4, "4")
""")
    assert int(answer(start(code, ND4C_WIDTH="4"))) == 3


def test_workers_of_joblib(monkeypatch):
    """joblib shares the processors among its workers, by the variables of the environment that it gives them."""
    joblib = pytest.importorskip("joblib")
    monkeypatch.delenv("ND4C_WIDTH", raising=False)
    widths = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(width_here)() for _ in range(4))
    assert max(widths) <= max(joblib.cpu_count() // 2, 1)


def width_here():
    import nd4c
    return nd4c.info()["machine"]["width"]


def test_openblas_s_variable():
    """One thread for OpenBLAS, two for nd4c's own loops: a product starts none."""
    engines = next(backend["engines"] for backend in nd4c.info(probe=True)["backends"] if backend["name"] == "cpu")
    blas = engines.get("openblas", "")
    if "on nd4c's threads" not in blas:
        pytest.skip("OpenBLAS is not on nd4c's threads: " + blas)
    code = """
import os
import nd4c
def product():
    a = nd4c.ones((400, 400), dtype=nd4c.float64)
    before = len(os.listdir("/proc/self/task"))
    assert float((a @ a)[0, 0]) == 400
    return len(os.listdir("/proc/self/task")) - before
print(product())
"""
    assert answer(start(code, ND4C_WIDTH="2", OPENBLAS_NUM_THREADS="1")) == "0"
    assert answer(start(code, ND4C_WIDTH="2")) == "1"


def test_four_processes_of_two_threads():
    """More threads than processors: each process ends, with the right results, and with one thread beside its own."""
    code = CALLS.format(before="") + "for _ in range(50): call()\nprint(threads() - start)"
    processes = [start(code, ND4C_WIDTH="2") for _ in range(4)]
    assert [answer(process).split() for process in processes] == [["1", "1"]] * 4

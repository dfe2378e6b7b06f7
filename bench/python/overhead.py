"""The cost of one small call in Python: nd4c's two cores, NumPy, PyTorch, measured in turns.

    PYTHONPATH=build/release/python python bench/python/overhead.py [--rounds 30] [--json FILE] [CASE...]

Each library works in a process of its own; each case and round times them in turn, so that other work on the machine affects
all of them equally. A row is the median over the rounds, in nanoseconds a call; `vs` is nd4c's native core over the other
one's, the median of the rounds' quotients. Libraries that are not installed are left out.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import timeit

# name: statement. x, y: 8 float32 numbers; m: 8 by 8; i: 8 integers; big: 10^7; z: zeros; ns: the library. t: 10 float64
# numbers, l: 10^4; tm, lm: masks that choose half of them; nt, nl: NumPy's arrays of the same. NumPy's asarray() of its own
# array makes nothing, so its cases make a view, which is what sharing memory costs.
CASES = {
    "x + y": "x + y",
    "x + 1.0": "x + 1.0",
    "z += y": "z += y",
    "-x": "-x",
    "x < y": "x < y",
    "x[2:6]": "x[2:6]",
    "m[1]": "m[1]",
    "m[1, 2:4]": "m[1, 2:4]",
    "m[i] (8 indices)": "m[i]",
    "x[x > 0]": "x[mask]",
    "x[3] = 2.0": "x[3] = 2.0",
    "x.shape": "x.shape",
    "x.dtype": "x.dtype",
    "float(x[0])": "float(x[0])",
    "sum(x)": "ns.sum(x)",
    "sum(m, axis=0)": "ns.sum(m, axis=0)",
    "exp(x)": "ns.exp(x)",
    "m @ m": "m @ m",
    "matmul(m, m)": "ns.matmul(m, m)",
    "reshape(x, (2, 4))": "ns.reshape(x, (2, 4))",
    "zeros((8,))": "ns.zeros((8,))",
    "asarray([1.0, 2.0])": "ns.asarray([1.0, 2.0])",
    "tolist 10": "t.tolist()",
    "tolist 10^4": "l.tolist()",
    "copy 10": "copy(t)",
    "copy 10^4": "copy(l)",
    "arange 10": "ns.arange(10)",
    "arange 10^4": "ns.arange(10000)",
    "asarray(ndarray) 10": "share(nt)",
    "asarray(ndarray) 10^4": "share(nl)",
    "asarray(x) 10": "ns.asarray(t)",
    "x[mask] 10": "t[tm]",
    "x[mask] 10^4": "l[lm]",
    "zeros 10": "ns.zeros(10)",
    "zeros 10^4": "ns.zeros(10000)",
    "read of a setting": "setting()",
    "big + big": "big + big",
    "sum(big)": "ns.sum(big)",
}
SETUP = """
x = ns.ones((8,), dtype=ns.float32) * 1.5
y = ns.ones((8,), dtype=ns.float32) * 2.5
m = ns.reshape(ns.arange(64), (8, 8)) * ns.asarray(0.125, dtype=ns.float32)
i = ns.arange(8)
mask = x > 0
big = ns.ones((10_000_000,), dtype=ns.float32)
t, l = ns.arange(10) * 1.0, ns.arange(10_000) * 1.0
tm, lm = t >= 5, l >= 5000
copy = (lambda x: x.clone()) if ns.__name__ == "torch" else lambda x: x.copy()
try:
    import numpy
    nt, nl = numpy.arange(10) * 1.0, numpy.arange(10_000) * 1.0
except ImportError:
    pass
share = (lambda x: x.view()) if ns.__name__ == "numpy" else ns.asarray
setting = ns.get_printoptions if ns.__name__ == "numpy" else ns.get_default_dtype if hasattr(ns, "get_default_dtype") else (
    lambda: ns.config["nd4c.device.transfer"])
"""


def namespace(library):
    if library in ("native", "ctypes"):
        os.environ["ND4C_PYTHON_CORE"] = library
        import nd4c
        return nd4c
    return __import__(library)


def work(library):
    """Reads lines `case loops` and answers each with seconds, until the input ends."""
    ns = namespace(library)
    names = {"ns": ns}
    exec(SETUP, names)
    timers = {name: timeit.Timer(statement, "z = x - x", globals=names) for name, statement in CASES.items()}
    print("ready", flush=True)
    for line in sys.stdin:
        loops, name = line.rstrip("\n").split(" ", 1)
        print(timers[name].timeit(int(loops)), flush=True)


class Worker:
    """A library in a process of its own."""

    def __init__(self, library, script):
        self.library = library
        self.process = subprocess.Popen([sys.executable, script, "--work", library], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.ready = self.process.stdout.readline() == "ready\n"

    def measure(self, name, loops):
        self.process.stdin.write("%d %s\n" % (loops, name))
        self.process.stdin.flush()
        return float(self.process.stdout.readline()) / loops * 1e9

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(libraries, script):
    workers = []
    for library in libraries:
        worker = Worker(library, script)
        if worker.ready:
            workers.append(worker)
        else:
            reason = worker.process.stderr.read().strip().splitlines()
            print("left out: %s: %s" % (library, reason[-1] if reason else "?"), file=sys.stderr)
    return workers


def measure(workers, name, rounds):
    loops = {}
    for worker in workers:
        once = worker.measure(name, 1)
        once = min(once, worker.measure(name, 1))
        loops[worker.library] = max(1, min(20000, int(5e6 / max(once, 50))))
    samples = {worker.library: [] for worker in workers}
    for number in range(rounds):
        for worker in workers if number % 2 == 0 else reversed(workers):
            samples[worker.library].append(worker.measure(name, loops[worker.library]))
    return samples


def print_head(libraries):
    others = [library for library in libraries if library != "native"] if "native" in libraries else []
    print("%-20s" % "ns a call" + "".join("%12s" % library for library in libraries)
          + "".join("%12s" % ("vs " + other) for other in others))


def print_row(name, samples):
    others = [library for library in samples if library != "native"] if "native" in samples else []
    row = "%-20s" % name + "".join("%12.0f" % statistics.median(times) for times in samples.values())
    for other in others:
        row += "%12.2f" % statistics.median(a / b for a, b in zip(samples["native"], samples[other]))
    print(row, flush=True)


def compare(script, text, cases, work, libraries, rounds, head, row):
    """The program: arguments, a worker for each library, a row for each case. script: the file that works with --work."""
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--libraries", default=libraries)
    parser.add_argument("--json", help="writes all samples there")
    parser.add_argument("case", nargs="*", help="parts of the names of cases; all")
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
        return
    workers = start(arguments.libraries.split(","), os.path.abspath(script))
    head([worker.library for worker in workers])
    results = {}
    for name in cases:
        if not arguments.case or any(part in name for part in arguments.case):
            results[name] = measure(workers, name, arguments.rounds)
            row(name, results[name])
    for worker in workers:
        worker.close()
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file)


if __name__ == "__main__":
    compare(__file__, __doc__, CASES, work, "native,ctypes,numpy,torch", 30, print_head, print_row)

"""Beside busy programs nd4c at its default width takes no longer than at width 1: times of both, in turns.

    PYTHONPATH=build/release/python .cache/peers/bin/python bench/python/contention.py [OPTION...] [ROW...]

Rows are a run of the digits model 2,000 times, a BERT of four layers, ops called one by one, factorisations, and mixed
plans, in which nd4c's own loops stand before and after a product of oneDNN's or OpenBLAS's. --drawn adds so many calls of
any op, dtype, layout and size, drawn from the op table by --seed; --cell adds one of them by its name. The load is that many
processes that count. Each variant works in a process of its own: width 1, the default width, and ONNX Runtime for models if
it is installed. They take turns, so that the machine's other work meets all of them. A ratio is the default width's time
over that of width 1, the median of the rounds' quotients; with no load it also says what the second thread brings. What
is above the bar is measured twice more, and the middle one of the three counts: beside a load the system gives two equal
processes unequal times. Exit status 1 if a ratio is above the bar: 1.25 beside a load, 1.05 without; or if a process uses
its processor after its last call. PYTHONPATH may name another build; --old FOLDER measures the default width of that
build's python folder, too.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import drawn_calls

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAR, BAR_ALONE, IDLE_BAR = 1.25, 1.05, 0.002  # the last: seconds of processor time in half a second

# name: calls a round, of what the workers define.
ROWS = {
    "digits model": 2000,
    "BERT, 4 layers": 10,
    "a ** 2, 5,000": 10_000,
    "a + b, 10^6": 50,
    "exp(a), 10^5": 200,
    "sum(a), 10^6": 100,
    "max(bytes), 10^5": 5000,
    "sort(a), 5,000": 500,
    "fft(a), 4,096": 1000,
    "a @ b, 32": 10_000,
    "a @ b, 128": 200,
    "a @ b, 512": 10,
    "a @ b, 200, f64": 100,
    "a @ b, 100 x 10^5 x 100": 2,
    "conv 1x16x56x56": 100,
    "eigvalsh, 50": 100,
    "svd, 50": 20,
    "inv, 50": 200,
    "eigvalsh, 200": 5,
    "svd, 200": 2,
    "inv, 300": 5,
    "cholesky, 300": 10,
    "solve, 300": 10,
    "qr, 200": 10,
    "mixed plan, f32": 50,
    "mixed plan, f64": 20,
}
ROUND_SECONDS, TRIALS = 0.02, 5  # of a drawn call, by the shortest of so many
MODELS = ("digits model", "BERT, 4 layers")


def bert():
    """A small encoder of BERT's shape; its path and inputs."""
    sys.path.insert(0, str(ROOT / "tests" / "tools"))
    import numpy as np

    import make_models

    class Small(make_models.Encoder):
        LAYERS, HIDDEN, HEADS, INNER, SEQUENCE = 4, 256, 4, 1024, 32

    folder = ROOT / "build" / "contention"
    path = folder / "bert_small.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        model = Small(folder / "bert_small.onnx.data", True).build()
        path.with_suffix(".part").write_bytes(model.SerializeToString())
        path.with_suffix(".part").rename(path)
    states = np.random.default_rng(5).standard_normal((1, Small.SEQUENCE, Small.HIDDEN)).astype(np.float32)
    return path, {"hidden_states": states, "attention_mask": np.ones((1, Small.SEQUENCE), np.int64)}


def digits():
    import numpy as np

    folder = ROOT / "examples" / "digits"
    images = np.load(folder / "digits_images.npy")
    return folder / "digits.onnx", images


def ours():
    """name -> a function that makes the row's call."""
    import numpy as np

    import nd4c
    import nd4c.onnx

    random = np.random.default_rng(3)

    def array(*shape, dtype=np.float32):
        return nd4c.asarray(random.standard_normal(shape).astype(dtype))

    def model(path, feeds):
        loaded = nd4c.onnx.load(str(path))
        return lambda: loaded.run(feeds)

    def digits_model():
        path, images = digits()
        loaded = nd4c.onnx.load(str(path))
        name = loaded.inputs[0].name
        shape = [1 if not isinstance(extent, int) or extent < 1 else extent for extent in loaded.inputs[0].shape]
        feeds = {name: np.ascontiguousarray(images[:1].astype(np.float32).reshape(shape))}
        return lambda: loaded.run(feeds)

    small, million, many = array(5000), array(10**6), array(10**5)
    m128, m512, m200, m50 = array(128, 128), array(512, 512), array(200, 200, dtype=np.float64), array(50, 50, dtype=np.float64)
    flat = array(100, 10**5, dtype=np.float64)
    m300 = array(300, 300, dtype=np.float64)
    positive = m300 @ m300.T + 300 * nd4c.eye(300, dtype=np.float64)
    m32, wave = array(32, 32), array(4096)
    octets = nd4c.asarray(random.integers(0, 255, 10**5).astype(np.uint8))
    x, w = array(1, 16, 56, 56), array(16, 16, 3, 3)
    def mixed(m):
        """Two loops of nd4c's, a vendor's product, and two loops more. Two pools would spin against each other here."""
        plan = nd4c.compile(lambda x: nd4c.tanh(nd4c.sqrt(nd4c.abs(nd4c.exp(x) * 0.01 @ m))))
        return lambda: plan(m)

    return {
        "mixed plan, f32": lambda: mixed(array(256, 256)),
        "mixed plan, f64": lambda: mixed(array(300, 300, dtype=np.float64)),
        "digits model": digits_model,
        "BERT, 4 layers": lambda: model(*bert()),
        "a ** 2, 5,000": lambda: lambda: small**2,
        "a + b, 10^6": lambda: lambda: million + million,
        "exp(a), 10^5": lambda: lambda: nd4c.exp(many),
        "sum(a), 10^6": lambda: lambda: nd4c.sum(million),
        "max(bytes), 10^5": lambda: lambda: nd4c.max(octets),
        "sort(a), 5,000": lambda: lambda: nd4c.sort(small),
        "fft(a), 4,096": lambda: lambda: nd4c.fft.fft(wave),
        "a @ b, 32": lambda: lambda: m32 @ m32,
        "a @ b, 128": lambda: lambda: m128 @ m128,
        "a @ b, 512": lambda: lambda: m512 @ m512,
        "a @ b, 200, f64": lambda: lambda: m200 @ m200,
        "a @ b, 100 x 10^5 x 100": lambda: lambda: flat @ flat.T,
        "conv 1x16x56x56": lambda: lambda: nd4c.nn.conv(x, w, pads=[1, 1, 1, 1]),
        "eigvalsh, 50": lambda: lambda: nd4c.linalg.eigvalsh(m50),
        "svd, 50": lambda: lambda: nd4c.linalg.svd(m50),
        "inv, 50": lambda: lambda: nd4c.linalg.inv(m50),
        "eigvalsh, 200": lambda: lambda: nd4c.linalg.eigvalsh(m200),
        "svd, 200": lambda: lambda: nd4c.linalg.svd(m200),
        "inv, 300": lambda: lambda: nd4c.linalg.inv(m300),
        "cholesky, 300": lambda: lambda: nd4c.linalg.cholesky(positive),
        "solve, 300": lambda: lambda: nd4c.linalg.solve(m300, m300),
        "qr, 200": lambda: lambda: nd4c.linalg.qr(m200),
    }


def onnxruntime_rows():
    import numpy as np
    import onnxruntime

    def session(path, feeds=None):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = os.cpu_count()
        opened = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return lambda: opened.run(None, feeds)

    def digits_model():
        path, images = digits()
        opened = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        port = opened.get_inputs()[0]
        shape = [1 if not isinstance(extent, int) else extent for extent in port.shape]
        feeds = {port.name: np.ascontiguousarray(images[:1].astype(np.float32).reshape(shape))}
        return session(path, feeds)

    return {"digits model": digits_model, "BERT, 4 layers": lambda: session(*bert())}


def work(kind):
    """A worker: reads a number and a row's name from each line, makes so many calls, answers with seconds a call. 0 makes a
    few, and answers with how many make a round. "idle" answers with the processor time of half a second in which nothing is
    called."""
    rows = onnxruntime_rows() if kind == "onnxruntime" else ours()
    made = {}
    print("ready", flush=True)
    for line in sys.stdin:
        count, _, name = line.strip().partition(" ")
        if count == "idle":
            time.sleep(0.02)  # the pool's threads fall asleep
            begin = time.process_time()
            time.sleep(0.5)
            print(time.process_time() - begin, flush=True)
            continue
        if name not in made:
            made[name] = rows[name]() if name in rows else drawn_calls.make(drawn_calls.parse(name))
        call, count = made[name], int(count)
        if count == 0:
            taken = min(seconds(call, 1) for _ in range(TRIALS))
            print(ROWS.get(name) or min(max(int(ROUND_SECONDS / taken), 1), 10_000), flush=True)
        else:
            print(seconds(call, count), flush=True)


def seconds(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


class Worker:
    def __init__(self, kind, width, path=None):
        self.kind = kind
        environment = dict(os.environ)
        environment.pop("ND4C_WIDTH", None)
        if width:
            environment["ND4C_WIDTH"] = str(width)
        if path:
            environment["PYTHONPATH"] = str(path)
        self.process = subprocess.Popen([sys.executable, __file__, "--worker", kind], text=True, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def has_onnxruntime():
    return subprocess.run([sys.executable, "-c", "import onnxruntime"], stderr=subprocess.DEVNULL).returncode == 0


class Load:
    """So many busy processes."""

    def __init__(self, count):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
        time.sleep(0.3 if count else 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def measure(workers, row, rounds):
    """kind -> times, in turns."""
    times = {name: [] for name, worker in workers.items() if worker.kind != "onnxruntime" or row in MODELS}
    count = int(workers["width 1"].ask(f"0 {row}"))
    for name in times:
        workers[name].ask(f"{count} {row}")  # warm
    for _ in range(rounds):
        for name in times:
            times[name].append(workers[name].ask(f"{count} {row}"))
    return times


def judge(workers, row, rounds, bar):
    """The times, and the ratio; of a row above the bar the middle one of three measurements."""
    found = []
    while not found or (len(found) < 3 and found[0][0] > bar):
        times = measure(workers, row, rounds)
        found.append((statistics.median(a / b for a, b in zip(times["default"], times["width 1"])), times))
    ratio, times = sorted(found, key=lambda each: each[0])[len(found) // 2]
    return times, ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="rows to measure, by their first letters")
    parser.add_argument("--loads", default="0,2,4,16", help="numbers of busy processes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--drawn", type=int, default=0, metavar="N", help="so many calls drawn from the op table")
    parser.add_argument("--seed", default="1", help="what draws them")
    parser.add_argument("--cell", action="append", default=[], metavar="CELL", help="a call as --drawn names it, again")
    parser.add_argument("--old", help="the python folder of another build, measured as well")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker)
    rows = [row for row in ROWS if not arguments.rows or any(row.startswith(name) for name in arguments.rows)]
    rows += drawn_calls.draw(arguments.seed, arguments.drawn) + arguments.cell
    workers = {"width 1": Worker("nd4c", 1), "default": Worker("nd4c", 0)}
    if arguments.old:
        workers["old"] = Worker("nd4c", 0, arguments.old)
    if has_onnxruntime():
        workers["onnxruntime"] = Worker("onnxruntime", 0)
    results, missed = [], 0
    try:
        for load in map(int, arguments.loads.split(",")):
            with Load(load):
                for row in rows:
                    times, ratio = judge(workers, row, arguments.rounds, BAR if load else BAR_ALONE)
                    bad = ratio > (BAR if load else BAR_ALONE)
                    missed += bad
                    medians = {name: statistics.median(values) for name, values in times.items()}
                    results.append({"row": row, "load": load, "ratio": ratio, **medians})
                    if not arguments.json:
                        shown = "  ".join(f"{name} {seconds * 1e6:.1f}" for name, seconds in medians.items())
                        mark = "  MISSED" if bad else ""
                        print(f"{load:2} busy  {row:32} {ratio:5.2f} of width 1{mark}   us: {shown}", flush=True)
        for name, worker in workers.items():
            if worker.kind == "nd4c":
                idle = worker.ask("idle")
                bad = idle > IDLE_BAR and name != "old"
                missed += bad
                results.append({"row": "idle", "variant": name, "seconds": idle})
                if not arguments.json:
                    mark = "  MISSED" if bad else ""
                    print(f"{name}: {idle * 1e3:.2f} ms of processor time in 500 ms after the last call{mark}")
    finally:
        for worker in workers.values():
            worker.end()
    if arguments.json:
        print(json.dumps(results))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

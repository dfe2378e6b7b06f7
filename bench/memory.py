"""Peak memory of models, nd4c beside ONNX Runtime: `python bench/memory.py` (docs/how-to/measuring.md says what is needed).

Each engine opens, runs and closes a model in a process of its own, while this process reads how much anonymous memory
that process has (RssAnon: the mapped pages of files do not count). Figures are what the model adds to the process as
it was after the imports. The cases are models whose weights a runtime may hold more than once."""

import argparse
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

WIDTH = 1536
CASES = {
    # One weight of 9 MB, transposed, in 150 products: each product may get a copy of its own.
    "shared": {"layers": 150, "weights": 1, "batches": [8], "opens": 1, "transposed": True},
    "batches": {"layers": 20, "weights": 20, "batches": [1, 2, 4, 8, 16], "opens": 1},  # 180 MB, five shapes
    "twice": {"layers": 20, "weights": 20, "batches": [8], "opens": 2},  # the same file opened two times
}
ENGINES = ("nd4c", "onnxruntime")


# -- the models ---------------------------------------------------------------------------------------------------------


def make(case, path):
    """A chain of products and tanh. Its weights are in the file itself, as most programs write them."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(7)
    weights = [numpy_helper.from_array(
        (rng.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH)).astype(np.float32), f"w{i}")
        for i in range(case["weights"])]
    nodes, value = [], "x"
    for i in range(case["layers"]):
        weight = f"w{i % case['weights']}"
        if case.get("transposed"):
            nodes.append(helper.make_node("Transpose", [weight], [f"u{i}"], perm=[1, 0]))
            weight = f"u{i}"
        nodes.append(helper.make_node("MatMul", [value, weight], [f"m{i}"]))
        nodes.append(helper.make_node("Tanh", [f"m{i}"], [f"t{i}"]))
        value = f"t{i}"
    port = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", WIDTH]) for name in ("x", value)]
    graph = helper.make_graph(nodes, "chain", port[:1], port[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


# -- one engine in one process ------------------------------------------------------------------------------------------


def opener(engine):
    """A function that opens a model and returns what runs it."""
    if engine == "nd4c":
        import nd4c
        import nd4c.onnx

        nd4c.set_num_threads(2) if hasattr(nd4c, "set_num_threads") else None
        return nd4c.onnx.load
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2

    def load(path):
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda x: session.run(None, {"x": x})[0]

    return load


def work(engine, case, path):
    """Says when each stage has ended, and goes on when told to."""
    import numpy as np

    load = opener(engine)
    inputs = [np.full((batch, WIDTH), 0.25, np.float32) for batch in case["batches"]]
    stage("ready")
    models, total = [], 0.0
    for _ in range(case["opens"]):
        models.append(load(path))
        for x in inputs:
            total += float(np.abs(np.asarray(models[-1](x))).sum())
    stage("ran", checksum=total)
    for model in models:
        if hasattr(model, "close"):
            model.close()
    del models, model
    gc.collect()
    stage("closed")


def stage(name, **more):
    print(json.dumps({"stage": name, **more}), flush=True)
    sys.stdin.readline()


# -- measuring ----------------------------------------------------------------------------------------------------------


def anonymous(pid):
    """Resident anonymous bytes of the process."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            lines = [line for line in status if line.startswith("RssAnon")]
        return int(lines[0].split()[1]) * 1024 if lines else 0
    except OSError:
        return 0  # it has ended


class Peak(threading.Thread):
    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.over = pid, 0, False
        self.start()

    def run(self):
        while not self.over:
            self.most = max(self.most, anonymous(self.pid))
            time.sleep(0.002)

    def end(self):
        self.over = True
        self.join()
        return self.most


def measure(engine, name, path):
    command = [sys.executable, __file__, "--worker", engine, name, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "2"}) as process:
        peak, at, checksum = Peak(process.pid), {}, None
        for line in process.stdout:
            told = json.loads(line)
            at[told["stage"]] = anonymous(process.pid)
            checksum = told.get("checksum", checksum)
            process.stdin.write("\n")
            process.stdin.flush()
        most = peak.end()
    if process.returncode != 0 or "closed" not in at:
        raise SystemExit(f"{engine} failed on case {name}")
    mb = {"peak": most - at["ready"], "running": at["ran"] - at["ready"], "kept": at["closed"] - at["ready"]}
    return {key: round(value / 1e6, 1) for key, value in mb.items()}, checksum


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, action="append", help="only these cases")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only these engines")
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--worker", nargs=3, metavar=("ENGINE", "CASE", "PATH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        engine, name, path = arguments.worker
        work(engine, CASES[name], path)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.case or CASES:
            path = pathlib.Path(folder) / f"{name}.onnx"
            make(CASES[name], path)
            for engine in arguments.engine or ENGINES:
                figures, checksum = measure(engine, name, path)
                if arguments.json:
                    print(json.dumps({"case": name, "engine": engine, **figures, "checksum": checksum}), flush=True)
                else:
                    print(f"{name:8} {engine:12} peak {figures['peak']:8.1f} MB  running {figures['running']:8.1f} MB"
                          f"  after close {figures['kept']:6.1f} MB", flush=True)
            path.unlink()


if __name__ == "__main__":
    main()

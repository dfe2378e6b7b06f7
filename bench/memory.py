"""Peak memory of models, nd4c beside ONNX Runtime: `python bench/memory.py` (docs/how-to/measuring.md says what is needed).

Each engine opens, runs and closes a model in a process of its own, while this process reads how much anonymous memory
that process has (RssAnon: the mapped pages of files do not count). Figures are what the model adds to the process as
it was after the imports. The cases are models whose weights a runtime may hold more than once, an encoder
that meets many shapes, and the networks of bench/compare. The exit status is 1 if nd4c misses a bar: at its peak 1.1 times ONNX Runtime's memory, after close 5 MB."""

import argparse
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "tools"))

WIDTH = 1536
MODEL, HEADS = 256, 4  # of the encoder
CASES = {
    # One weight of 9 MB, transposed, in 150 products: each product may get a copy of its own.
    "shared": {"layers": 150, "weights": 1, "batches": [8], "opens": 1, "transposed": True},
    "batches": {"layers": 20, "weights": 20, "batches": [1, 2, 4, 8, 16], "opens": 1},  # 180 MB, five shapes
    # A decoder: 128 positions at once, then one at a time, with 75 MB of weights by rows and by columns.
    "decode": {"layers": 8, "weights": 8, "batches": [128, 1, 1, 1], "opens": 1},
    "decode_turned": {"layers": 8, "weights": 8, "batches": [128, 1, 1, 1], "opens": 1, "transposed": True},
    "twice": {"layers": 20, "weights": 20, "batches": [8], "opens": 2},  # the same file opened two times
    # An encoder of 12 MB of weights that meets 600 shapes: 1 to 4 sequences of 150 lengths up to 300.
    "shapes": {"layers": 4, "opens": 1, "sizes": [(1 + at % 4, 300 - 2 * (at // 4)) for at in range(600)]},
}
ENGINES = ("nd4c", "onnxruntime")
MOST_OF_PEER, MOST_KEPT = 1.1, 5.0  # bars: ratio of the peaks, MB after close
RUNS = 3  # of a network


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


def make_encoder(case, path):
    """Layers of attention and of two products, as exporters write them; batch and length are dims."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng, weights, nodes = np.random.default_rng(7), [], []

    def node(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, list(inputs), [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def constant(array):
        weights.append(numpy_helper.from_array(array, f"w{len(weights)}"))
        return weights[-1].name

    def linear(value, rows, columns):
        weight = (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)
        return node("Add", node("MatMul", value, constant(weight)), constant(np.zeros(columns, np.float32)))

    def norm(value):
        return node("LayerNormalization", value, constant(np.ones(MODEL, np.float32)), constant(np.zeros(MODEL, np.float32)))

    def heads(value, order):
        parts = node("Reshape", linear(value, MODEL, MODEL), constant(np.array([0, 0, HEADS, MODEL // HEADS], np.int64)))
        return node("Transpose", parts, perm=order)

    value = "x"
    for _ in range(case["layers"]):
        query, key, content = heads(value, [0, 2, 1, 3]), heads(value, [0, 2, 3, 1]), heads(value, [0, 2, 1, 3])
        scores = node("Mul", node("MatMul", query, key), constant(np.array((MODEL // HEADS) ** -0.5, np.float32)))
        mixed = node("Transpose", node("MatMul", node("Softmax", scores, axis=-1), content), perm=[0, 2, 1, 3])
        joined = node("Reshape", mixed, constant(np.array([0, 0, MODEL], np.int64)))
        value = norm(node("Add", value, linear(joined, MODEL, MODEL)))
        wide = node("Relu", linear(value, MODEL, 4 * MODEL))
        value = norm(node("Add", value, linear(wide, 4 * MODEL, MODEL)))
    port = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "length", MODEL]) for name in ("x", value)]
    graph = helper.make_graph(nodes, "encoder", port[:1], port[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def model_of(name, folder):
    if name in CASES:
        path = folder / f"{name}.onnx"
        (make_encoder if "sizes" in CASES[name] else make)(CASES[name], path)
        return path
    import make_models

    return pathlib.Path(make_models.make(name, make_models.FOLDER))


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
        return lambda **inputs: session.run(None, inputs)

    return load


def inputs_of(name, path):
    """How often the model is opened, and the inputs of its runs."""
    import numpy as np

    if name in CASES:
        case = CASES[name]
        if "sizes" in case:
            room = np.full(MODEL * max(batch * length for batch, length in case["sizes"]), 0.25, np.float32)
            return case["opens"], [{"x": room[: MODEL * batch * length].reshape(batch, length, MODEL)}
                                   for batch, length in case["sizes"]]
        return case["opens"], [{"x": np.full((batch, WIDTH), 0.25, np.float32)} for batch in case["batches"]]
    import make_models

    return 1, [make_models.sample_inputs(name)] * RUNS


def sum_of(outputs):
    import numpy as np

    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return float(sum(np.abs(np.asarray(each).astype(np.float64)).sum() for each in outputs))


def work(engine, name, path):
    """Says when each stage has ended, and goes on when told to."""
    opens, runs = inputs_of(name, path)
    load = opener(engine)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what the imports have freed is not the model's
    stage("ready")
    models, total = [], 0.0
    for _ in range(opens):
        models.append(load(path))
        for inputs in runs:
            total += sum_of(models[-1](**inputs))
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
    mb = {"peak": max(most, at["ran"]) - at["ready"], "running": at["ran"] - at["ready"], "kept": at["closed"] - at["ready"]}
    return {key: round(value / 1e6, 1) for key, value in mb.items()}, checksum


def judge(found):
    """What is missed, and the ratio of the peaks; `found`: engine -> figures."""
    ours, peer, missed = found.get("nd4c"), found.get("onnxruntime"), []
    ratio = ours["peak"] / max(peer["peak"], 0.1) if ours and peer else None
    if ratio is not None and ratio > MOST_OF_PEER:
        missed.append("peak")
    if ours and ours["kept"] > MOST_KEPT:
        missed.append("after close")
    return ratio, missed


def tell(name, found):
    ratio, missed = judge(found)
    for engine, figures in found.items():
        verdict = "" if engine != "nd4c" else "  missed: " + ", ".join(missed) if missed else "  met"
        beside = f"  {ratio:5.2f} of the peer's peak" if engine == "nd4c" and ratio is not None else ""
        print(f"{name:24} {engine:12} peak {figures['peak']:8.1f} MB  running {figures['running']:8.1f} MB"
              f"  after close {figures['kept']:6.1f} MB{beside}{verdict}", flush=True)
    return missed


def names_of(cases):
    import make_models
    import networks

    known = (*CASES, *make_models.NAMES, *(each + seed for each in networks.NAMES for seed in ("", "@1")))
    unknown = [name for name in cases or () if name not in known]
    if unknown:
        raise SystemExit(f"bench/memory.py: no case {', '.join(unknown)}; there are {', '.join(known)}")
    return cases or known


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", help=f"only these cases: {', '.join(CASES)}, or a network")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only these engines")
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--worker", nargs=3, metavar=("ENGINE", "CASE", "PATH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        engine, name, path = arguments.worker
        work(engine, name, path)
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names_of(arguments.case):
            path, found = model_of(name, pathlib.Path(folder)), {}
            for engine in arguments.engine or ENGINES:
                found[engine], checksum = measure(engine, name, path)
                if arguments.json:
                    print(json.dumps({"case": name, "engine": engine, **found[engine], "checksum": checksum}), flush=True)
            missed += bool((judge(found)[1] if arguments.json else tell(name, found)))
            if name in CASES:
                path.unlink()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

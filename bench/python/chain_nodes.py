"""A chain of 1,000 nodes of 8 numbers from a plan, beside NumPy: nanoseconds a node, in turns.

    PYTHONPATH=build/release/python .cache/venv/bin/python bench/python/chain_nodes.py [--json]

No pass and no compiler changes the chain: the plan's report must have a step for each node. NumPy computes the same ops
one after another, into fresh arrays. The bar is 0.12 of NumPy's time; the exit status is 1 if it is missed.
"""
import json
import os
import statistics
import sys
import time

os.environ["SD_KERNEL_DISABLE_ENGINES"] = "tile"  # it would make one step of many nodes

import numpy as np
import onnx
from onnx import TensorProto, helper

import nd4c
import nd4c.onnx

NODES, SIZE, ROUNDS, CALLS, BAR = 1000, 8, 21, 20, 0.12
OPS = (("Add", np.add), ("Mul", np.multiply), ("Sub", np.subtract), ("Max", np.maximum), ("Abs", np.abs), ("Tanh", np.tanh))


def make():
    """The model's bytes, and the same chain in NumPy."""
    nodes, chain = [], []
    for i in range(NODES):
        name, function = OPS[i % len(OPS)]
        operands = [f"v{i}"] if name in ("Abs", "Tanh") else [f"v{i}", "y"]
        nodes.append(helper.make_node(name, operands, [f"v{i + 1}"]))
        chain.append((function, len(operands)))
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIZE]) for name in ("v0", "y", f"v{NODES}")]
    graph = helper.make_graph(nodes, "chain", ports[:2], ports[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString(), chain


def by_numpy(chain, x, y):
    for function, count in chain:
        x = function(x) if count == 1 else function(x, y)
    return x


def seconds(body):
    begin = time.perf_counter()
    for _ in range(CALLS):
        body()
    return (time.perf_counter() - begin) / CALLS


def main():
    data, chain = make()
    random = np.random.default_rng(3)
    x, y = (random.standard_normal(SIZE).astype(np.float32) for _ in range(2))
    model = nd4c.onnx.load(data, optimize=False)
    given = nd4c.asarray(x), nd4c.asarray(y)
    ours, theirs = (lambda: model(*given)), (lambda: by_numpy(chain, x, y))
    np.testing.assert_allclose(np.asarray(ours()), theirs(), rtol=1e-4, atol=1e-5)
    steps = f"{NODES} nodes recorded, {NODES} after passes, {NODES} steps"
    if steps not in model.report():
        sys.exit(f"chain_nodes.py: not every node is a step: {model.report().splitlines()[0]}, expected {steps}")
    times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    a, b = (1e9 * statistics.median(each) / NODES for each in zip(*times))
    ratio = statistics.median(ours / theirs for ours, theirs in times)
    if "--json" in sys.argv:
        print(json.dumps({"nodes": NODES, "nd4c_ns": a, "numpy_ns": b, "ratio": ratio, "bar": BAR}))
    else:
        print(f"{NODES} nodes of {SIZE} numbers: nd4c {a:.0f} ns a node, NumPy {b:.0f} ns, ratio {ratio:.3f} "
              f"(bar {BAR}: {'met' if ratio <= BAR else 'missed'})")
    return 0 if ratio <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())

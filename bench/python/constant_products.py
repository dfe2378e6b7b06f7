"""Products with constant weights and a bias, x [m, k] w [k, n] + b, on each engine of the CPU: GFLOP/s, best and median.

    PYTHONPATH=build/release/python .cache/venv/bin/python bench/python/constant_products.py [M,M,...]

Each engine works in a process of its own, which sleeps while the others run. An engine that does not serve a product
leaves it to the next one.
"""
import os
import statistics
import subprocess
import sys
import time

ENGINES, ROUNDS = ("simd", "onednn", "openblas"), 9
GIGAFLOPS = 0.3  # of a round: some 5 ms
SHAPES = ((768, 768), (768, 3072), (3072, 768), (512, 2048), (1000, 300), (256, 64))
ROWS = (1, 2, 8, 16, 48, 128, 384, 512)


def model(m, k, n):
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    weights = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
               for name, shape in (("w", (k, n)), ("b", (n,)))]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [m, k]), ("y", [m, n]))]
    graph = helper.make_graph(nodes, "product", ports[:1], ports[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString()


def work():
    """Answers each line "m k n calls" with the seconds of a call."""
    import numpy as np

    import nd4c
    import nd4c.onnx

    shape = run = x = None
    for line in sys.stdin:
        *asked, calls = map(int, line.split())
        if asked != shape:
            shape = asked
            run, x = nd4c.onnx.load(model(*shape)), nd4c.asarray(np.ones(shape[:2], np.float32))
            run(x)
        run(x)
        begin = time.perf_counter()
        for _ in range(calls):
            run(x)
        print((time.perf_counter() - begin) / calls, flush=True)


def compare(script, products):
    """Products (label, what a worker reads without the number of calls, gigaflops of a call): a line for each. script: the file
    whose work() answers."""
    workers = [subprocess.Popen([sys.executable, script, "work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                env=dict(os.environ, SD_KERNEL_FORCE_ENGINE=engine)) for engine in ENGINES]
    for label, asked, of_call in products:
        calls = max(1, min(300, int(GIGAFLOPS / of_call)))
        times = [[] for _ in ENGINES]
        for _ in range(ROUNDS):
            for worker, taken in zip(workers, times):
                worker.stdin.write("%s %d\n" % (asked, calls))
                worker.stdin.flush()
                taken.append(float(worker.stdout.readline()))
        print("%-30s" % label + "  ".join(
            "%s %.1f, %.1f" % (engine, of_call / min(taken), of_call / statistics.median(taken))
            for engine, taken in zip(ENGINES, times)), flush=True)
    for worker in workers:
        worker.stdin.close()
        worker.wait()


def main():
    rows = [int(m) for m in sys.argv[1].split(",")] if len(sys.argv) > 1 else ROWS
    compare(__file__, [("%4d x %4d x %4d" % (m, k, n), "%d %d %d" % (m, k, n), 2e-9 * m * k * n) for k, n in SHAPES for m in rows])


if __name__ == "__main__":
    work() if sys.argv[1:] == ["work"] else main()

"""A pre-norm transformer block, 128 x 768 x 12 heads, beside jax.jit and PyTorch: medians of runs in turns.

    PYTHONPATH=build/release/python .cache/peers/bin/python bench/python/block.py [--json]

Each library works in a process of its own, which sleeps while the others run. The block is layer norm, attention,
residual, layer norm, 3072 GELU (erf) units, residual, with random weights; results must agree. A library that is not
installed is left out. The bar is 1.3 times the speed of jax.jit; the exit status is 1 if it is missed.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "tools"))

LENGTH, WIDTH, HEADS, INNER, ROUNDS, CALLS, BAR = 128, 768, 12, 3072, 21, 8, 1.3
LIBRARIES = ("nd4c", "jax", "torch", "torch compiled")


def weights():
    import numpy as np

    random = np.random.default_rng(5)
    normal = lambda *shape: (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
    made = {"wq": normal(WIDTH, WIDTH), "wk": normal(WIDTH, WIDTH), "wv": normal(WIDTH, WIDTH), "wo": normal(WIDTH, WIDTH),
            "w1": normal(WIDTH, INNER), "w2": normal(INNER, WIDTH), "b1": 0.02 * normal(INNER), "b2": 0.02 * normal(WIDTH)}
    for name in ("g1", "g2"):
        made[name] = (1 + 0.1 * random.standard_normal(WIDTH)).astype(np.float32)
    for name in ("s1", "s2"):
        made[name] = (0.1 * random.standard_normal(WIDTH)).astype(np.float32)
    return made, random.standard_normal((LENGTH, WIDTH)).astype(np.float32)


def nd4c_block(w, x):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    import nd4c
    import nd4c.onnx

    nodes, size = [], WIDTH // HEADS
    constants = {**w, "scale": np.float32(size ** -0.5), "half": np.float32(0.5), "one": np.float32(1),
                 "root": np.float32(2 ** -0.5), "split": np.array([LENGTH, HEADS, size]), "join": np.array([LENGTH, WIDTH])}

    def op(name, *inputs, **attributes):
        nodes.append(helper.make_node(name, inputs, [f"r{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def heads(value, *order):
        return op("Transpose", op("Reshape", value, "split"), perm=order)

    y = op("LayerNormalization", "x", "g1", "s1", axis=-1)
    q, k, v = (op("MatMul", y, name) for name in ("wq", "wk", "wv"))
    scores = op("Mul", op("MatMul", heads(q, 1, 0, 2), heads(k, 1, 2, 0)), "scale")
    y = op("MatMul", op("Softmax", scores, axis=-1), heads(v, 1, 0, 2))
    y = op("MatMul", op("Reshape", op("Transpose", y, perm=[1, 0, 2]), "join"), "wo")
    x1 = op("Add", "x", y)
    y = op("Add", op("MatMul", op("LayerNormalization", x1, "g2", "s2", axis=-1), "w1"), "b1")
    y = op("Mul", op("Mul", y, op("Add", op("Erf", op("Mul", y, "root")), "one")), "half")
    out = op("Add", x1, op("Add", op("MatMul", y, "w2"), "b2"))
    port = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [LENGTH, WIDTH]) for name in ("x", out)]
    initial = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "block", port[:1], port[1:], initial)
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    model, given = nd4c.onnx.load(data), nd4c.asarray(x)
    return lambda: np.asarray(model(given))


def jax_block(w, x):
    import jax
    import jax.numpy as jnp

    w, x = {name: jnp.asarray(value) for name, value in w.items()}, jnp.asarray(x)
    size = WIDTH // HEADS

    def norm(x, g, s):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * g + s

    @jax.jit
    def block(x, w):
        y = norm(x, w["g1"], w["s1"])
        q, k, v = ((y @ w[name]).reshape(LENGTH, HEADS, size).transpose(1, 0, 2) for name in ("wq", "wk", "wv"))
        y = jax.nn.softmax(q @ k.transpose(0, 2, 1) * size ** -0.5, axis=-1) @ v
        x = x + y.transpose(1, 0, 2).reshape(LENGTH, WIDTH) @ w["wo"]
        y = jax.nn.gelu(norm(x, w["g2"], w["s2"]) @ w["w1"] + w["b1"], approximate=False)
        return x + y @ w["w2"] + w["b2"]

    return lambda: block(x, w).block_until_ready()


def torch_block(w, x, compiled):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(2)
    w, x = {name: torch.from_numpy(value) for name, value in w.items()}, torch.from_numpy(x)
    size = WIDTH // HEADS

    def block(x):
        y = F.layer_norm(x, (WIDTH,), w["g1"], w["s1"])
        q, k, v = ((y @ w[name]).reshape(LENGTH, HEADS, size).transpose(0, 1)[None] for name in ("wq", "wk", "wv"))
        y = F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1).reshape(LENGTH, WIDTH)
        x = x + y @ w["wo"]
        return x + F.gelu(F.layer_norm(x, (WIDTH,), w["g2"], w["s2"]) @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]

    run = torch.compile(block) if compiled else block

    def call():
        with torch.inference_mode():
            return run(x)

    return call


def work(library):
    """Answers each line of input with milliseconds of a call; the first line of output describes the result."""
    import numpy as np

    made = {"nd4c": nd4c_block, "jax": jax_block, "torch": lambda *a: torch_block(*a, False),
            "torch compiled": lambda *a: torch_block(*a, True)}
    try:
        body = made[library](*weights())
        result = np.asarray(body()).astype(np.float64)
    except ImportError as error:
        print(json.dumps({"absent": str(error)}), flush=True)
        return
    body()
    print(json.dumps({"sample": result.reshape(-1)[::997].tolist()}), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        for _ in range(CALLS):
            body()
        print(json.dumps((time.perf_counter() - begin) * 1e3 / CALLS), flush=True)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--worker":
        work(sys.argv[2])
        return 0
    workers, samples, times = {}, {}, {}
    for library in LIBRARIES:
        process = subprocess.Popen([sys.executable, __file__, "--worker", library], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        told = json.loads(process.stdout.readline() or '{"absent": "it failed"}')
        if "absent" in told:
            print(f"absent: {library}: {told['absent']}", file=sys.stderr)
            process.wait()
        else:
            workers[library], samples[library], times[library] = process, told["sample"], []
    for _ in range(ROUNDS):
        for library, process in workers.items():
            process.stdin.write("\n")
            process.stdin.flush()
            times[library].append(json.loads(process.stdout.readline()))
    for process in workers.values():
        process.stdin.close()
        process.wait()
    if "nd4c" not in times:
        sys.exit("block.py: nd4c is missing")
    missed = False
    for library, each in times.items():
        worst = max(abs(a - b) for a, b in zip(samples[library], samples["nd4c"]))
        if worst > 1e-3:
            sys.exit(f"block.py: the result of {library} differs by {worst:.2g}")
        ratio = statistics.median(b / a for a, b in zip(times["nd4c"], each))
        missed = missed or (library == "jax" and ratio < BAR)
        row = {"library": library, "median_ms": statistics.median(each), "least_ms": min(each), "ratio": ratio}
        print(json.dumps(row) if "--json" in sys.argv else
              f"{library:15} median {row['median_ms']:6.2f} ms, least {row['least_ms']:6.2f} ms, nd4c is {ratio:.2f} times as fast")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

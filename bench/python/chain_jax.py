"""The chains of bench_chain by jax.jit and, where it is installed, numexpr: medians and least milliseconds of 21 runs.

    .cache/peers/bin/python bench/python/chain_jax.py [ELEMENTS]

Run it in turn with build/<preset>/bench/bench_chain, each alone on the machine.
"""
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

RUNS = 21
CHAIN = "tanh(sqrt(x * x + y * y) * 0.5 + exp(-x) / (1 + y)) - x * y + 2"
KINDS = {"chain": (CHAIN, False), "chain, mean": (CHAIN, True), "mean square": ("(x - y) ** 2", True)}


def time_runs(run):
    run()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return f"median {statistics.median(times):.2f} ms, least {min(times):.2f} ms"


def jitted(text, mean):
    """The expression with the functions of jax.numpy."""
    names = {"tanh": jnp.tanh, "sqrt": jnp.sqrt, "exp": jnp.exp}
    value = eval(f"lambda x, y: {text}", names)
    return jax.jit((lambda x, y: value(x, y).mean()) if mean else value)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    jax.config.update("jax_enable_x64", True)
    try:
        import numexpr
        numexpr.set_num_threads(2)
    except ModuleNotFoundError:
        numexpr = None
    random = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        x, y = (random.random(count, dtype=dtype) * 4 for _ in range(2))
        on_device = [jnp.asarray(each) for each in (x, y)]
        for name, (text, mean) in KINDS.items():
            chain = jitted(text, mean)
            print(f"jax {jax.__version__}, {name}, {dtype.__name__}: "
                  + time_runs(lambda: chain(*on_device).block_until_ready()), flush=True)
            if numexpr is not None:
                whole = f"sum({text})" if mean else text
                print(f"numexpr {numexpr.__version__}, {name}, {dtype.__name__}: "
                      + time_runs(lambda: numexpr.evaluate(whole, {"x": x, "y": y})), flush=True)


if __name__ == "__main__":
    main()

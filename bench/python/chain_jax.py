"""The chain of bench_chain by jax.jit: prints the median and least milliseconds of 21 runs.

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


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    random = np.random.default_rng(0)
    x, y = (jnp.asarray(random.random(count, dtype=np.float32) * 4) for _ in range(2))
    chain = jax.jit(lambda x, y: jnp.tanh(jnp.sqrt(x * x + y * y) * 0.5 + jnp.exp(-x) / (1 + y)) - x * y + 2)
    chain(x, y).block_until_ready()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        chain(x, y).block_until_ready()
        times.append((time.perf_counter() - start) * 1e3)
    print(f"jax {jax.__version__}: median {statistics.median(times):.2f} ms, least {min(times):.2f} ms")


if __name__ == "__main__":
    main()

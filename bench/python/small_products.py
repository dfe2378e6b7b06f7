"""Products a @ b of arrays, many of them small, batches and few rows, on each engine of the CPU: GFLOP/s, best and median.

    PYTHONPATH=build/release/python .cache/venv/bin/python bench/python/small_products.py

The processes are those of constant_products.py.
"""
import sys
import time

from constant_products import compare

SHAPES = ((1, 8, 8, 8), (1, 24, 24, 24), (1, 48, 48, 48), (1, 96, 96, 96), (1, 200, 200, 200), (1, 2, 500, 500), (1, 7, 100, 1000),
          (1, 20, 400, 30), (1000, 4, 4, 4), (1000, 8, 8, 8), (1000, 16, 16, 16), (64, 32, 32, 32), (8, 128, 128, 128))


def work():
    """Answers each line "dtype batch m k n calls" with the seconds of a call."""
    import numpy as np

    import nd4c

    for line in sys.stdin:
        dtype, *numbers = line.split()
        batch, m, k, n, calls = map(int, numbers)
        a, b = (nd4c.asarray(np.ones((batch,) * (batch > 1) + shape, dtype)) for shape in ((m, k), (k, n)))
        nd4c.matmul(a, b)
        begin = time.perf_counter()
        for _ in range(calls):
            nd4c.matmul(a, b)
        print((time.perf_counter() - begin) / calls, flush=True)


def main():
    compare(__file__, [("%s %4d of %3d x %3d x %4d" % (dtype[:1] + dtype[-2:], *shape), dtype + " %d %d %d %d" % shape,
                        2e-9 * shape[0] * shape[1] * shape[2] * shape[3]) for dtype in ("float32", "float64") for shape in SHAPES])


if __name__ == "__main__":
    work() if sys.argv[1:] == ["work"] else main()

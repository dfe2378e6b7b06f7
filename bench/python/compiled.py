"""What a call of a compiled function costs beside the ops that it computes, on 8 float32 numbers, measured in turns.

    PYTHONPATH=build/release/python python bench/python/compiled.py [--rounds 15]

Each row is the median over the rounds, in microseconds a call."""
import argparse
import statistics
import timeit

import nd4c

CASES = {"exp(x)": lambda x: nd4c.exp(x), "sqrt(exp(x) * 2 + 1) / 3": lambda x: nd4c.sqrt(nd4c.exp(x) * 2 + 1) / 3}
CALLS = 5000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    x = nd4c.ones(8, dtype="float32")
    print("%-26s %8s %8s   core %s" % ("", "at once", "compiled", nd4c.info()["core"]))
    for name, function in CASES.items():
        compiled, times = nd4c.compile(function), ([], [])
        compiled(x)
        for _ in range(rounds):
            for one, row in zip((function, compiled), times):
                row.append(timeit.timeit(lambda: one(x), number=CALLS) / CALLS * 1e6)
        print("%-26s %8.2f %8.2f" % (name, *map(statistics.median, times)))


if __name__ == "__main__":
    main()

"""The cost of starting: a fresh process that imports nd4c or NumPy and adds two arrays, turn by turn.

    python bench/python/startup.py [--rounds 41]

Lines of JSON: medians and shortest times in milliseconds, of the import with the first op and of the whole process. The
pages of both libraries are in memory after the first round, which is not counted."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

WORK = """
import time
begin = time.perf_counter()
import {name} as xp
imported = time.perf_counter()
x = xp.asarray([1.0, 2.0, 3.0])
y = x + x
end = time.perf_counter()
print(imported - begin, end - begin)
"""


def run(code, environment):
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, **environment), check=True,
                          stdout=subprocess.PIPE, universal_newlines=True)
    return [time.perf_counter() - begin] + [float(word) for word in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=41)
    rounds = parser.parse_args().rounds
    cases = {
        "python alone": ("print(0, 0)", {}),
        "numpy": (WORK.format(name="numpy"), {}),
        "nd4c, core in C": (WORK.format(name="nd4c"), {"ND4C_PYTHON_CORE": "native"}),
        "nd4c, core in Python": (WORK.format(name="nd4c"), {"ND4C_PYTHON_CORE": "ctypes"}),
    }
    times = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            row = run(*case)
            if number > 0:
                times[name].append(row)
    for name, rows in times.items():
        process, imported, first = ([1000 * value for value in column] for column in zip(*rows))
        print(json.dumps({"case": name, "import_ms": round(statistics.median(imported), 2),
                          "import_and_first_op_ms": round(statistics.median(first), 2),
                          "shortest_ms": round(min(first), 2), "process_ms": round(statistics.median(process), 2)}))


if __name__ == "__main__":
    main()

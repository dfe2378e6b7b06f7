"""From opening a model to its first result, nd4c and ONNX Runtime turn by turn, each time in a fresh process.

    python bench/python/first_run.py vit_b_16 llama_decode [--rounds 7] [--engine nd4c]

The names are networks of bench/compare. Lines of JSON:
medians in milliseconds, of opening with the first run, and of a later run. The pages of the file are in memory after
the first round, which is not counted. nd4c must be importable: PYTHONPATH=build/release/python."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "tools"))
ENGINES = ("nd4c", "onnxruntime")
LATER = 5


def inputs_of(name):
    """The file of a model, and arrays for its inputs."""
    import make_models

    return pathlib.Path(make_models.make(name, make_models.FOLDER)), make_models.sample_inputs(name)


def opener(engine):
    if engine == "nd4c":
        import nd4c.onnx

        return lambda path: nd4c.onnx.load(path)
    import onnxruntime

    def load(path):
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return lambda **inputs: session.run(None, inputs)

    return load


def work(engine, name):
    import numpy as np

    path, inputs = inputs_of(name)
    load = opener(engine)

    def run():
        outputs = model(**inputs)
        return [np.asarray(each) for each in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]

    begin = time.perf_counter()
    model = load(path)
    run()
    first, later = time.perf_counter() - begin, []
    for _ in range(LATER):
        begin = time.perf_counter()
        run()
        later.append(time.perf_counter() - begin)
    print(first, statistics.median(later))


def measure(engine, name):
    done = subprocess.run([sys.executable, __file__, "--worker", engine, name], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True)
    return [1000 * float(word) for word in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["vit_b_16", "llama_decode"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only these engines")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(*arguments.worker)
        return
    for name in arguments.names:
        times = {engine: [] for engine in arguments.engine or ENGINES}
        for number in range(arguments.rounds + 1):
            for engine, rows in times.items():
                row = measure(engine, name)
                if number > 0:
                    rows.append(row)
        for engine, rows in times.items():
            first, later = (statistics.median(column) for column in zip(*rows))
            print(json.dumps({"model": name, "engine": engine, "first_ms": round(first, 1),
                              "later_ms": round(later, 2)}), flush=True)


if __name__ == "__main__":
    main()

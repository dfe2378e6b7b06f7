"""Writes tests/data/print/numpy.txt: arrays and the text that NumPy (2.4 or newer) prints for them.

    python3 tests/tools/golden/make_print_golden.py [FILE] [CASES] [SEED]

Each record is a line of "dtype repr precision threshold edge width rank extents...", a line with the elements' bytes in
C order as hexadecimal digits (texts: each as digits, separated by commas), the number of lines of the text, and the text.
"""
import pathlib
import random
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128", "utf8"]
TEXTS = ["", "a", "it's", '"q"', "both ' and \"", "tab\tnew\nline", "back\\slash", "\x01\x7f\x85", "größe", "日本語",
         "a longer text with several words in it", "🙂"]


def some_floats(rng, count):
    style = rng.randrange(12)
    if style == 0:
        values = [rng.uniform(-1, 1) for _ in range(count)]
    elif style == 1:
        values = [float(rng.randint(-50, 50)) for _ in range(count)]
    elif style == 2:
        values = [rng.choice([1, -1]) * 10.0 ** rng.uniform(-12, 12) for _ in range(count)]
    elif style == 3:
        values = [rng.randint(-999, 999) / 8 for _ in range(count)]
    elif style == 4:
        values = [2.0 ** rng.randint(-140, 120) for _ in range(count)]
    elif style == 5:
        values = [rng.choice([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.5, 100.25]) for _ in range(count)]
    elif style == 6:
        values = [round(rng.uniform(0, 1000), 2) for _ in range(count)]
    elif style == 7:
        values = [rng.choice([float("nan"), float("inf"), float("-inf")]) for _ in range(count)]
    elif style == 8:
        values = [rng.uniform(1, 2) * 10.0 ** rng.randint(-45, -36) for _ in range(count)]
    elif style == 9:
        values = [rng.randint(0, 2 ** 20) + 0.5 for _ in range(count)]
    elif style == 10:
        values = [0.0] * count
    else:
        values = [rng.uniform(9.9, 10) for _ in range(count)]
    return values


def some_array(rng, dtype):
    rank = rng.choice([0, 1, 1, 1, 2, 2, 3, 4])
    limit = {0: 1, 1: 30, 2: 8, 3: 4, 4: 3}[rank]
    shape = tuple(rng.randint(0 if rng.random() < 0.08 else 1, limit) for _ in range(rank))
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == "utf8":
        array = np.empty(count, dtype=object)
        array[:] = [rng.choice(TEXTS) for _ in range(count)]
    elif dtype == "bool":
        array = np.array([rng.random() < 0.5 for _ in range(count)], dtype=bool)
    elif "int" in dtype:
        info = np.iinfo(dtype)
        span = rng.choice([10, 1000, int(info.max)])
        low = max(int(info.min), -span)
        array = np.array([rng.randint(low, min(int(info.max), span)) for _ in range(count)], dtype=dtype)
    else:
        parts = some_floats(rng, count)
        if dtype.startswith("complex"):
            other = some_floats(rng, count)
            array = np.array([complex(a, b) for a, b in zip(parts, other)], dtype=np.complex128)
        else:
            array = np.array(parts, dtype=np.float64)
        with np.errstate(over="ignore"):
            array = array.astype(dtype)
    return array.reshape(shape)


def data_line(array, dtype):
    if dtype == "utf8":
        return ",".join(text.encode().hex() for text in array.reshape(-1))
    return np.ascontiguousarray(array).tobytes().hex()


def name_utf8(text, width):
    """NumPy's "object" is longer than nd4c's "utf8", which may move the extras to a separate last line."""
    text = text.replace("dtype=object)", "dtype=utf8)")
    body, _, last = text.rpartition("\n")
    begin = body.rpartition("\n")[2]
    extras = last.removeprefix(" " * len("array("))
    if extras.startswith(("dtype=", "shape=")) and len(begin) + len(extras) + 1 <= width:
        return body + " " + extras
    return text


def write_case(out, array, dtype, is_repr, precision, threshold, edge, width):
    with np.printoptions(precision=precision, threshold=threshold, edgeitems=edge, linewidth=width):
        text = repr(array) if is_repr else str(array)
    if dtype == "utf8" and is_repr:
        text = name_utf8(text, width)
    lines = text.split("\n")
    shape = "".join(f" {extent}" for extent in array.shape)
    out.write(f"{dtype} {int(is_repr)} {precision} {threshold} {edge} {width} {array.ndim}{shape}\n")
    out.write(data_line(array, dtype) + "\n")
    out.write(f"{len(lines)}\n" + text + "\n")


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent.parent / "data" / "print" / "numpy.txt"
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 240
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        write_case(out, np.arange(1200, dtype=np.int16), "int16", False, 8, 1000, 3, 75)
        write_case(out, np.arange(1200, dtype=np.int16).reshape(20, 60), "int16", True, 8, 1000, 3, 75)
        for number in range(cases):
            dtype = DTYPES[number % len(DTYPES)]
            array = some_array(rng, dtype)
            plain = rng.random() < 0.5
            # A text of rank 0 that holds a new line prints as several lines: fine, the count says how many.
            write_case(out, array, dtype, rng.random() < 0.5, 8 if plain else rng.randint(0, 17),
                       1000 if plain else rng.choice([1, 5, 20]), 3 if plain else rng.randint(1, 4),
                       75 if plain else rng.randint(20, 100))


if __name__ == "__main__":
    main()

"""Writes tests/data/narrow.txt: ml_dtypes' values of the codes of narrow dtypes, and its codes for numbers; and
tests/data/print/narrow.txt: how arrays of them are printed, in the format of make_print_golden.py.

    .cache/venv/bin/python tests/tools/golden/make_narrow_golden.py

A line "codes DTYPE" is followed by the float32 bits of all codes; a line "casts DTYPE" by pairs of float32 bits and the
code that they become (floats only: nearest even, out of range to infinity or NaN where there is one). The numbers are
those of the codes, what lies half-way between two of them, and the neighbours of all these.
"""
import pathlib
import random
import warnings

import make_print_golden
import ml_dtypes
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
FLOATS = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"]
INTEGERS = ["int4", "uint4", "int2", "uint2"]


def code_count(name):
    return 256 if name.startswith("float8") else 4 if name.endswith("2") else 16


def numbers_of(name):
    codes = np.arange(code_count(name), dtype=np.uint8)
    return codes.view(getattr(ml_dtypes, name)).astype(np.float32)


def edge_numbers(name):
    numbers = numbers_of(name).astype(np.float64)
    finite = np.unique(numbers[np.isfinite(numbers)])
    step = finite[-1] - finite[-2]
    halves = (finite[1:] + finite[:-1]) / 2
    wanted = [finite, halves, [finite[-1] + step / 2, finite[-1] + step, np.inf, np.nan, 3e38]]
    if name != "float8_e8m0fnu":  # below its range ml_dtypes and ONNX differ; cast_float8's record has those
        wanted.append([finite[0] - step / 2, finite[0] - step, -np.inf, -3e38, 1e-40, -1e-40])
    with np.errstate(over="ignore"):
        exact = np.concatenate([np.asarray(w, dtype=np.float64) for w in wanted]).astype(np.float32)
    around = [exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(-np.inf))]
    result = np.unique(np.concatenate(around))
    return result[~(result < 2.0 ** -126)] if name == "float8_e8m0fnu" else result


def write_words(out, words):
    for start in range(0, len(words), 12):
        out.write(" ".join(words[start:start + 12]) + "\n")


class Packed(np.ndarray):
    """Prints as it is; its bytes are the packed ones."""

    def tobytes(self, order="C"):
        codes = np.asarray(self).view(np.uint8).reshape(-1)
        each = 4 if code_count(self.dtype.name) == 4 else 2
        codes = np.append(codes & (code_count(self.dtype.name) - 1), np.zeros(-len(codes) % each, np.uint8))
        bits = 8 // each
        return sum(codes[i::each] << (bits * i) for i in range(each)).astype(np.uint8).tobytes()


def write_prints(path):
    rng = random.Random(1)
    with path.open("w") as out:
        for number in range(120):
            name = (FLOATS + INTEGERS)[number % 10]
            shape = rng.choice([(), (1,), (7,), (40,), (3, 4), (2, 3, 5), (0,), (2, 0), (5, 9)])
            codes = np.array([rng.randrange(code_count(name)) for _ in range(int(np.prod(shape)))], dtype=np.uint8)
            array = codes.view(getattr(ml_dtypes, name)).reshape(shape)
            header = (rng.random() < 0.5, 8, rng.choice([1000, 5]), rng.randint(1, 3), rng.choice([75, 30]))
            make_print_golden.data_line = lambda a, n: (a if n.startswith("float8") else a.view(Packed)).tobytes().hex()
            make_print_golden.write_case(out, array, name, *header)


def main():
    path = HERE.parent.parent / "data" / "narrow.txt"
    write_prints(HERE.parent.parent / "data" / "print" / "narrow.txt")
    warnings.simplefilter("ignore")
    with path.open("w") as out:
        for name in FLOATS + INTEGERS:
            numbers = numbers_of(name)
            out.write(f"codes {name} {len(numbers)}\n")
            write_words(out, [f"{bits:08x}" for bits in numbers.view(np.uint32)])
        for name in FLOATS:
            numbers = edge_numbers(name)
            codes = numbers.astype(getattr(ml_dtypes, name)).view(np.uint8)
            out.write(f"casts {name} {len(numbers)}\n")
            write_words(out, [f"{bits:08x}:{code:02x}" for bits, code in zip(numbers.view(np.uint32), codes)])


if __name__ == "__main__":
    main()

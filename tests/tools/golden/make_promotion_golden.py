"""Writes tests/data/promotion.txt: NumPy's result_type of every pair of dtypes that both libraries have.

    python3 tests/tools/golden/make_promotion_golden.py
"""
import pathlib

import numpy as np

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]

path = pathlib.Path(__file__).resolve().parent.parent.parent / "data" / "promotion.txt"
with open(path, "w", encoding="ascii", newline="\n") as out:
    for a in NAMES:
        for b in NAMES:
            out.write(f"{a} {b} {np.result_type(np.dtype(a), np.dtype(b)).name}\n")

"""Makes tests/data/archives: small .npz and .safetensors files written by NumPy and the safetensors package.

Needs numpy, ml_dtypes and safetensors; writes into the folder given, default tests/data/archives beside this script.
"""
import os
import sys

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "data", "archives")

LITE = ("bool", "uint8", "int32", "int64", "float32", "float64")  # the dtypes of a lite build


def arrays():
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    return {"grid": grid, "columns": np.asfortranarray(grid.astype(np.int32)), "flags": np.array([True, False, True]),
            "one": np.float64(2.5), "none": np.zeros((0, 3), np.uint8), "folder/\u00e4": np.array([1, -2], np.int64),
            "words": np.array(["a", "\u00e4\u20ac"]), "same": np.full(1000, 7, np.int32)}


def tensors():
    names = ("bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32", "float64", "int64", "uint64")
    made = {name: np.array([[0, 1], [1, 0]]).astype(name) for name in names}
    made.update({name: np.array([1, 0.5]).astype(name) for name in ("bfloat16", "float8_e5m2", "float8_e4m3fn")})
    made["one"] = np.array(3, np.int64)
    made["none"] = np.zeros((2, 0), np.float32)
    return made


os.makedirs(FOLDER, exist_ok=True)
np.savez(os.path.join(FOLDER, "stored.npz"), **arrays())
np.savez_compressed(os.path.join(FOLDER, "deflated.npz"), **arrays())
save_file({name: value for name, value in tensors().items() if value.dtype.name in LITE},
          os.path.join(FOLDER, "lite.safetensors"), {"format": "pt", "\u00e4": "a \"quoted\" text"})
save_file(tensors(), os.path.join(FOLDER, "numpy.safetensors"), {"format": "pt", "\u00e4": "a \"quoted\" text"})

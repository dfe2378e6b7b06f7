"""The Python package of one build, build/<preset>/python, with the libnd4c.so that the caller names: small calls of
bench/python/overhead.py, each in timeit's loop, and calls of nd4c.ops (bench/every_op)."""

import os
import pathlib
import sys
import timeit

import numpy as np

import peers
from rows import Group, Row

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "python"))
import overhead

GROUP = Group("python", "Small calls from Python", "The small calls of bench/python/overhead.py, by the extension in C.",
              [Row(name, {}, statement, check="none") for name, statement in overhead.CASES.items()
               if "big" not in statement])


class Statement:
    def __init__(self, text, names):
        self.timer = timeit.Timer(text, "z = x - x", globals=names)
        self.timer.timeit(1)

    def time(self, calls):
        return self.timer.timeit(calls) / calls * 1e9

    def result(self):
        return np.zeros(1)  # results are not compared here: the package's tests do that


class Package:
    version = "the Python package"

    def __init__(self, library, build):
        folder = build / "python"
        sys.path.insert(0, str(folder))
        os.environ["ND4C_LIBRARY"] = str(library)
        os.environ.setdefault("ND4C_PYTHON_CORE", "native")  # else one build's extension could run against the other's ctypes
        import nd4c

        if not pathlib.Path(nd4c.__file__).is_relative_to(folder):
            raise RuntimeError(f"no package in {folder}; ninja -C {build} python makes it")
        self.names = {"ns": nd4c}
        exec(overhead.SETUP, self.names)

    def prepare(self, row, inputs, into):
        if not row.nd4c.startswith("ops."):
            return Statement(row.nd4c, self.names)
        given = {name: self.names["ns"].asarray(data, copy=False) for name, data in inputs.items()}
        names = {"ops": self.names["ns"].ops, **given}
        made = peers.Loop(row.nd4c, names, eval(row.nd4c, names))
        first = made.value[0] if isinstance(made.value, (tuple, list)) else made.value
        made.view = any(np.may_share_memory(np.asarray(first), data) for data in inputs.values())
        return made

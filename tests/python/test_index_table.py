"""x[items] and x[items] = value as tests/data/index/numpy.txt has them from NumPy, through Python's own keys."""
import os
import pathlib

import pytest

import nd4c

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
ERRORS = {"INDEX": IndexError, "SHAPE": ValueError, "ARGUMENT": ValueError}


class Words:
    """A line of the table, read word by word."""

    def __init__(self, line):
        self.words = iter(line.split())

    def number(self):
        word = next(self.words)
        return None if word == "_" else int(word)

    def shape(self):
        return tuple(self.number() for _ in range(self.number()))

    def array(self, dtype=None):
        shape = self.shape()
        size = 1
        for extent in shape:
            size *= extent
        values = [self.number() for _ in range(size)]
        if dtype is nd4c.bool:
            values = [value != 0 for value in values]
        return nd4c.reshape(nd4c.asarray(values, dtype=dtype or nd4c.int64), shape)

    def item(self):
        kind = next(self.words)
        if kind == "s":
            return slice(self.number(), self.number(), self.number())
        if kind in "am":
            return self.array(nd4c.bool if kind == "m" else nd4c.int64)
        return self.number() if kind == "i" else Ellipsis if kind == "e" else None

    def refusal(self, line):
        return ERRORS[line.split()[-1]] if "!" in line else None


def check(line):
    words = Words(line)
    sets = next(words.words) == "set"
    shape = words.shape()
    key = tuple(words.item() for _ in range(words.number()))
    key = key[0] if len(key) == 1 else key
    value = words.array() if sets else None
    refused = words.refusal(line)
    size = 1
    for extent in shape:
        size *= extent
    x = nd4c.reshape(nd4c.arange(size), shape)
    if refused:
        with pytest.raises(refused):
            x.__setitem__(key, value) if sets else x[key]
        return
    expected = words.array()
    if sets:
        x[key] = value
    result = x if sets else x[key]
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


def test_table():
    lines = (ROOT / "tests" / "data" / "index" / "numpy.txt").read_text().splitlines()
    assert len(lines) > 1000
    for line in lines:
        try:
            check(line)
        except BaseException:
            print(line)
            raise

#!/usr/bin/env python3
"""Writes the cases of `nd4c selftest`: make_selftest.py ND4C_PROGRAM > tools/cli/selftest.txt

A line a case, two at most for each op: small ones of its record for float32 (else the first dtype that it declares)
in which something is computed, without results, which the reference computes wherever the test runs:

    op | attribute=value ... | input | input ...

An input is a dtype, a shape and its elements in C order; `@` is the dtype of the case, in whose place the test puts each
dtype that the op declares; `-` is an optional input left out. Ops that are tested by C's samplers have their inputs from
the table below.

A line that begins with `? ` is a sample for `nd4c info --floor`, which asks kernels and computes nothing: the first cases of the
record with different attributes. Inputs of many elements have their shape alone.
"""
import functools
import importlib
import itertools
import json
import pathlib
import subprocess
import sys
import zlib

import numpy as np

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "records"))
import framework  # noqa: E402
import generate  # noqa: E402

CASES, LOOKED_AT, ELEMENTS = 2, 60, 200
SAMPLES, SAMPLE_ELEMENTS, SAMPLE_VALUES = 4, 4096, 8
ORDER = ("float32", "float64", "int32", "int64", "uint8", "bool")

# Shapes of inputs of the case's dtype, and attributes; a name stands for a whole category where it begins with a capital.
PLAIN = {
    "UNARY": [([(3, 4)], {})],
    "BINARY": [([(3, 4), (3, 4)], {}), ([(2, 3, 4), (3, 1)], {})],
    "cast": [([(3, 4)], {"dtype": "int32"}), ([(3, 4)], {"dtype": "float32"})],
    "clip": [([(3, 4), (), ()], {})],
    "where": [(["bool", ("float32", (3, 4)), ("float32", (4,))], {}),
              (["bool", ("int64", (3, 4), None), ("int64", (1,), [7])], {})],
    "REDUCTION": [([(3, 4, 5)], {}), ([(3, 4, 5)], {"axes": [1], "keepdims": True})],
    "argmax": [([(3, 5)], {"axis": 1})],
    "argmin": [([(3, 5)], {"axis": 0})],
    "matmul": [([(5, 7), (7, 6)], {}), ([(2, 3, 4), (4,)], {})],
    "linear": [([(3, 5), (5, 4), (4,)], {}), ([(3, 5), (4, 5)], {"transpose_w": True, "activation": 1})],
    "conv": [([(1, 2, 6, 6), (3, 2, 3, 3), (3,)], {"pads": [1, 1, 1, 1]}),
             ([(1, 2, 7), (4, 1, 3)], {"groups": 2, "strides": [2]})],
    "max_pool": [([(1, 2, 5, 5)], {"kernel": [2, 2]})],
    "average_pool": [([(1, 2, 5, 5)], {"kernel": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]})],
    "batch_norm": [([(2, 3, 4), (3,), (3,), (3,), ("positive", (3,))], {})],
    "layer_norm": [([(3, 8), (8,), (8,)], {})],
    "softmax": [([(3, 5)], {}), ([(3, 5)], {"axis": 0})],
    "log_softmax": [([(3, 5)], {})],
    "lrn": [([(1, 6, 3)], {"size": 3})],
    "reshape": [([(3, 4)], {"shape": [2, 6]})],
    "transpose": [([(3, 4)], {})],
    "broadcast_to": [([(4,)], {"shape": [3, 4]})],
    "squeeze": [([(3, 1)], {})],
    "expand_dims": [([(3,)], {"axes": [0]})],
    "flatten": [([(2, 3, 2)], {"axis": 1})],
    "slice": [([(5, 4)], {"starts": [1], "stops": [5], "steps": [2]})],
    "concat": [([(2, 3), (1, 3)], {"axis": 0})],
    "gather": [([(4, 3), ("int64", (2,), [3, 1])], {"axis": 0})],
}


def element(x):
    if isinstance(x, (bool, np.bool_)):
        return "1" if x else "0"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    return f"{float(x):.9g}"


def input_text(x, dtype):
    if x is None:
        return "-"
    x = np.asarray(x)
    name = framework.NAMES[x.dtype]
    shape = ",".join(str(n) for n in x.shape)
    return f"{'@' if name == dtype else name}[{shape}] " + " ".join(element(v) for v in x.ravel().tolist())


def value_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(element(v) if not isinstance(v, float) else f"{v:.17g}" for v in value) + "]"
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def line(op, dtype, inputs, attrs):
    given = " ".join(f"{name}={value_text(v)}" for name, v in attrs.items())
    return " | ".join([op, given or "-", *(input_text(x, dtype) for x in inputs)])


def is_simple(case):
    """Only plain numbers; nothing whose right answer is judged by a property."""
    arrays = [np.asarray(x) for x in case.inputs if x is not None]
    plain = all(x.dtype in framework.NAMES and framework.NAMES[x.dtype] not in framework.NARROW
                and x.dtype.kind in "biuf" for x in arrays)
    lists = all(not (isinstance(v, str) and " " in v) and not (isinstance(v, (list, tuple)) and
                                                               any(isinstance(e, str) for e in v))
                for v in case.attrs.values())
    return plain and lists and not case.property and sum(x.size for x in arrays) <= ELEMENTS


def first_dtype(schema):
    return next((d for d in (*ORDER, *schema["dtypes"]) if d in schema["dtypes"]), None)


def elements(case):
    return sum(np.asarray(x).size for x in case.inputs if x is not None)


def results(case):
    """Elements of the result."""
    return sum(np.asarray(getattr(y, "value", y)).size for y in case.outputs)


def is_telling(case):
    """Whether the case has elements to compute and elements to compute from."""
    arrays = [np.asarray(x) for x in case.inputs if x is not None]
    return results(case) > 0 and all(x.size > 0 for x in arrays)


def rank(case, dtype):
    """Sorts small cases first; cases with a few elements, and those in the case's dtype, precede the others."""
    foreign = {None: 0, dtype: 1, "float32": 1}.get(case.attrs.get("dtype"), 2)
    return foreign, results(case) < 4 and elements(case) < 4, elements(case) + results(case)


@functools.lru_cache(maxsize=1)
def first_cases(op, dtype):
    """The first cases of the op's record. To compute their results takes the oracle most of this script's time."""
    sampler = framework.Sampler(zlib.crc32(f"{op} {dtype}".encode()))
    return list(itertools.islice(framework.RECORDS[op][0](sampler, dtype), LOOKED_AT))


def recorded(op, schema):
    dtype = first_dtype(schema)
    if dtype is None:
        return []
    found = sorted((c for c in first_cases(op, dtype) if is_simple(c) and is_telling(c)), key=lambda c: rank(c, dtype))
    other = [c for c in found[1:] if c.attrs != found[0].attrs]  # other attributes test more than other numbers
    chosen = found[:1] + (other or found[1:])[:CASES - 1]
    return [line(op, dtype, c.inputs, c.attrs) for c in chosen]


def is_sample(case):
    arrays = [np.asarray(x) for x in case.inputs if x is not None]
    known = all(x.dtype in framework.NAMES and x.dtype.kind in "biuf" for x in arrays)
    texts = all(not isinstance(e, str) for v in case.attrs.values() if isinstance(v, (list, tuple)) for e in v)
    spaced = any(isinstance(v, str) and " " in v for v in case.attrs.values())
    return known and texts and not spaced and 0 < sum(x.size for x in arrays) <= SAMPLE_ELEMENTS


def sample_input(x, dtype):
    text = input_text(x, dtype)
    if x is None or np.asarray(x).size <= (1 if text.startswith("@") and dtype in framework.FLOATS else SAMPLE_VALUES):
        return text
    return text[:text.index("]") + 1]


def samples(op, schema):
    dtype, found = first_dtype(schema), {}
    if dtype is None or op not in framework.RECORDS:
        return
    for case in first_cases(op, dtype):
        ranks = [None if x is None else np.ndim(x) for x in case.inputs]
        key = str((case.attrs, ranks))
        if is_sample(case) and elements(case) > elements(found.get(key, framework.Case([], {}, []))):
            found[key] = case
    chosen = list(found.values())
    largest = sorted(chosen[1:], key=elements, reverse=True)[:SAMPLES - 1]
    for case in chosen[:1] + largest:
        given = " ".join(f"{name}={value_text(v)}" for name, v in case.attrs.items())
        yield " | ".join([f"? {op}", given or "-", *(sample_input(x, dtype) for x in case.inputs)])


def plain(op, schema):
    dtype = first_dtype(schema)
    sampler = framework.Sampler(zlib.crc32(op.encode()))
    for inputs, attrs in PLAIN.get(op) or PLAIN.get(schema["category"], []):
        arrays = []
        for spec in inputs:
            if spec == "bool":
                arrays.append(sampler.small("bool", (3, 4)))
            elif len(spec) == 3 and spec[0] == "int64":
                values = np.arange(np.prod(spec[1])) if spec[2] is None else spec[2]
                arrays.append(np.array(values, np.int64).reshape(spec[1]))
            elif len(spec) == 2 and spec[0] == "float32":
                arrays.append(sampler.small("float32", spec[1]))
            elif len(spec) == 2 and spec[0] == "positive":
                arrays.append(sampler.positive(dtype, spec[1]))
            else:
                arrays.append(sampler.small(dtype, spec))
        if op == "clip":
            arrays[1], arrays[2] = (np.asarray(v).astype(arrays[0].dtype) for v in (-1, 2))
        yield line(op, dtype, arrays, attrs)


def main():
    listing = subprocess.run([sys.argv[1], "ops", "--json"], check=True, capture_output=True).stdout
    for family in generate.families(generate.here):
        importlib.import_module(family)
    for schema in json.loads(listing):
        op = schema["name"]
        if schema["category"] == "TEXT":
            continue
        known = op in framework.RECORDS and op not in PLAIN
        judged = known and recorded(op, schema) or plain(op, schema)  # records of comparisons have texts alone
        for text in (*judged, *samples(op, schema)):
            print(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the examples for the docstrings of nd4c.ops.

    make_examples.py ND4C_PROGRAM > bindings/python/examples.txt
    make_examples.py ND4C_PROGRAM --check bindings/python/examples.txt

An example an op, in the form that doctest runs, behind the op's name. The call is the shortest telling case of the op's
record (tests/records), drawn with numbers that are short in decimal, and the result is the oracle's: nd4c only prints it.
Ops without a record, or whose record judges the result by a property, stand in written_examples.py.

It needs tests/records/requirements.txt, and the package nd4c on PYTHONPATH for the printing.
"""
import importlib
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import textwrap
import zlib

import numpy as np

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parents[1] / "records"))
import framework  # noqa: E402
import generate  # noqa: E402
import written_examples  # noqa: E402

import nd4c  # noqa: E402

LOOKED_AT, WIDTH = 150, 108
ELEMENTS = 1000  # a case with more makes no short text, and to write a million of them takes long
# Dtypes of which nd4c.asarray makes arrays by itself come first: the text needs no dtype then.
ORDER = ("float64", "int64", "utf8", "float32", "int32", "uint8", "bool", "complex128", "float16")
ODD = re.compile(r"\.\d{5}|\de[-+]?\d\d|\d{6}|bfloat16|float8|float16|uint|int8|int16")  # not what a reader looks for
DEFAULT = {"float64", "int64", "utf8", "bool", "complex128"}


class ShortNumbers(framework.Sampler):
    """The records' sampler, with numbers that have one digit behind the point."""

    def uniform(self, dtype, low, high, shape=()):
        x = np.round(self.random.uniform(low, high, size=shape), 1)
        if framework.is_complex(dtype):
            x = x + 1j * np.round(self.random.uniform(low, high, size=shape), 1)
        return np.asarray(x).astype(framework.NUMPY[dtype])


def literal(value):
    """An element or nested lists as Python's text."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(literal, value))
    if isinstance(value, (float, complex)) and not np.isfinite(value):
        return "nd4c.nan" if value != value else "-nd4c.inf" if value == -math.inf else "nd4c.inf"
    return repr(value).strip("()")


def plain(x):
    """An input as lists of Python's numbers: of float32 the shortest decimals."""
    if x.dtype in (np.float32, np.float16):
        return np.array([float(str(v)) for v in x.ravel()]).reshape(x.shape).tolist()
    return x.tolist()


def as_code(x):
    """The expression that makes an input; None where Python's lists do not say it."""
    x = framework.as_array(x)
    name = framework.NAMES.get(x.dtype)
    if name is None or name in framework.NARROW or name == "bfloat16" or (x.size == 0 and x.ndim != 1):
        return None
    if x.size == 0:
        return "nd4c.zeros(0, dtype=nd4c.%s)" % name
    if name == "complex64" or (name == "complex128" and not np.isfinite(x).all()):
        return None
    return "nd4c.asarray(%s%s)" % (literal(plain(x)), "" if name in DEFAULT else ", dtype=nd4c." + name)


def attribute(name, value, schema, op):
    """An argument as the Python function takes it; None if it is the default."""
    kind, words = schema["kind"], {number: word for word, number in schema.get("values", {}).items()}
    if words:
        listed = isinstance(value, (list, tuple))
        value = [words.get(v, v) for v in value] if listed else words.get(value, value)
        default = words.get(int(schema["default"])) if schema["default"] not in ("none", "") else None
    elif kind == "dtype":
        return None if str(value) == schema["default"] else "%s=nd4c.%s" % (name, value)
    else:
        value = list(value) if isinstance(value, tuple) else value
        default = None if schema["default"] in ("none", "") else schema["default"]
        if kind in ("int", "float") and default is not None:
            value, default = (int if kind == "int" else float)(value), float(default)
        if kind == "bool":
            value, default = bool(value), default == "true"
    if value == default or value in ([], ""):
        return None
    names = nd4c_parameters(op)
    if name == "axes" and name not in names and len(value) == 1:
        value = value[0]
    return "%s=%s" % (name if name in names else name + "_" if name + "_" in names else "axis", literal(value))


def nd4c_parameters(op):
    code = getattr(nd4c.ops, op).__code__
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]


def call(schema, inputs, attrs):
    """The lines of the example, without prompts; None where an input cannot be written."""
    lines, arguments, position = [], [], 0
    arrays = sum(x is not None for x in inputs)
    for place in schema["inputs"]:
        taken = inputs[position:] if place["variadic"] else inputs[position:position + 1]
        position += len(taken)
        names = []
        for i, x in enumerate(taken):
            code = None if x is None else as_code(x)
            if x is not None and code is None:
                return None
            name = place["name"] + (str(i + 1) if place["variadic"] else "")
            if code is None:
                names.append("None")
            elif len(code) * arrays < 60:
                names.append(code)
            else:
                lines.append("%s = %s" % (name, code))
                names.append(name)
        arguments.append("[%s]" % ", ".join(names) if place["variadic"] else (names or ["None"])[0])
    while arguments and arguments[-1] == "None":
        arguments.pop()
    known = {row["name"]: row for row in schema["attributes"]}
    for name, value in attrs.items():
        text = attribute(name, value, known[name], schema["name"])
        if text is not None:
            arguments.append(text)
    return lines + ["nd4c.ops.%s(%s)" % (schema["name"] , ", ".join(arguments))]


def expected(output):
    """The oracle's result as an array of nd4c."""
    value = output.value if isinstance(output, (framework.Exact, framework.Near)) else output
    name = getattr(output, "dtype", None)
    x = np.asarray(value, dtype=object) if name == "utf8" else np.asarray(value)
    if isinstance(output, framework.Near):  # mpmath's numbers become doubles
        x = np.vectorize(complex if framework.is_complex(name) else float, otypes=[object])(x) if x.size else x
    name = name if isinstance(name, str) else framework.NAMES.get(x.dtype)
    if name in framework.NARROW or name == "bfloat16":
        x = x.astype(np.float64).tolist()
        return nd4c.asarray(nd4c.asarray(x), dtype=getattr(nd4c, name))
    if name == "utf8":
        return nd4c.asarray(x.tolist(), dtype=nd4c.utf8) if x.size else nd4c.zeros(x.shape, dtype=nd4c.utf8)
    return nd4c.asarray(np.array(x.tolist(), framework.NUMPY[name]).reshape(x.shape))


def prompted(lines):
    """Lines of code as doctest has them; long ones are continued behind a comma."""
    out = []
    for line in lines:
        parts = [line] if "'" in line else textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False,
                                                        break_on_hyphens=False)
        out += [(">>> " if i == 0 else "... ") + part for i, part in enumerate(parts)]
    return out


def printed(result):
    return [line.rstrip() or "<BLANKLINE>" for line in repr(result).split("\n")]


def text(lines, result):
    return "\n".join(prompted(lines) + printed(result))


def is_telling(case):
    """Whether something is computed from several elements, and neither NaN nor an infinity takes part."""
    arrays = [framework.as_array(x) for x in case.inputs if x is not None]
    values = [np.asarray(getattr(y, "value", y)) for y in case.outputs]
    sizes = [x.size for x in arrays]
    finite = all(np.isfinite(x).all() for x in arrays + values if x.dtype.kind in "fc" and x.dtype.itemsize >= 2)
    return finite and min([x.size for x in values] + sizes, default=0) > 0 and max(sizes + [x.size for x in values]) > 1


def is_small(case):
    """Whether the text of the case can be short."""
    arrays = [framework.as_array(x) for x in case.inputs if x is not None]
    return sum(x.size for x in arrays + [np.asarray(getattr(y, "value", y)) for y in case.outputs]) <= ELEMENTS


def is_varied(case):
    """Whether the first output and the first input have more than one value: equal elements tell little."""
    first = next((framework.as_array(x) for x in case.inputs if x is not None), None)
    value = getattr(case.outputs[0], "value", case.outputs[0])
    return all(x is None or len({str(v) for v in np.asarray(x).ravel().tolist()}) > 1 for x in (first, value))


def recorded(schema):
    """The shortest telling example of the op's record; None if there is none."""
    op = schema["name"]
    best = None
    for dtype in [d for d in ORDER if d in schema["dtypes"]]:
        sampler = ShortNumbers(zlib.crc32(("%s %s" % (op, dtype)).encode()))
        for case in itertools.islice(framework.RECORDS[op][0](sampler, dtype), LOOKED_AT):
            given_empty = () in case.attrs.values()  # a list
            if case.property or given_empty or not is_small(case) or not is_telling(case):
                continue
            lines = call(schema, case.inputs, case.attrs)
            if lines is None:
                continue
            code = "\n".join(lines)
            rank = not is_varied(case), bool(ODD.search(code)), len(code)
            if best and rank >= best[0]:  # not even without its result
                continue
            results = tuple(map(expected, case.outputs))
            shown = text(lines, results[0] if len(results) == 1 else results)
            if best is None or rank[:2] + (len(shown),) < best[0]:
                best = rank[:2] + (len(shown),), shown
        if best and not any(best[0][:2]):
            break
    return best and best[1]


def main():
    listing = subprocess.run([sys.argv[1], "ops", "--json"], check=True, capture_output=True).stdout
    for family in generate.families(generate.here):
        importlib.import_module(family)
    blocks, missing = [], []
    for schema in json.loads(listing):
        op = schema["name"]
        if op in written_examples.RESULTS:
            lines, result = written_examples.RESULTS[op]
            shown = text(lines, result)
        elif op in written_examples.TEXTS:
            shown = written_examples.TEXTS[op]
        else:
            shown = recorded(schema) if op in framework.RECORDS else None
        blocks.append("%s\n%s\n" % (op, shown))
        missing += [op] if shown is None else []
    if missing:
        raise SystemExit("make_examples.py: no example of " + ", ".join(missing))
    made = "\n".join(blocks)
    if sys.argv[2:3] != ["--check"]:
        print(made, end="")
    elif pathlib.Path(sys.argv[3]).read_text(encoding="utf-8") != made:
        raise SystemExit("%s is out of date: ninja generated, and commit" % sys.argv[3])


if __name__ == "__main__":
    main()

"""The cells of bench/every_op: each op of the table with each dtype, layout and size, and the calls of a cell, for nd4c and
for the peers. Everything is derived: the ops from `nd4c ops --json`, the operands and attributes from the samples of the
conformance records (tools/cli/selftest.txt), the peers' functions from the names in the op table. A new op appears by itself.

What a peer's function takes is not known, so there are several forms of its call. bench/every_op takes the first that gives
nd4c's result, so a form that means something else is never timed. Pure functions, without NumPy."""

import dataclasses
import itertools
import math
import random
import re

DTYPES = ("float32", "float64", "bfloat16", "float16", "int8", "int32", "int64", "uint8", "bool", "complex64", "complex128")
SIZES = (10, 1000, 100_000, 10_000_000)  # elements of the largest operand
FROM_PYTHON = 10_000  # calls on fewer elements are made from Python, larger ones in a loop of C
MOST = 1e4  # drawn elements are finite and no larger, so that every dtype of floats can hold them
AXES = {"first axis": 0, "middle axis": 1, "last axis": -1}
PEERS = ("numpy", "torch")


@dataclasses.dataclass(frozen=True)
class Cell:
    op: str
    dtype: str
    layout: str
    size: int

    def key(self):
        return f"{self.op} {self.dtype} {self.layout}, {self.size}"


@dataclasses.dataclass(frozen=True)
class Operand:
    """One input of a sample; values: those that a larger operand is made of; empty: any numbers."""

    varies: bool  # has the cell's dtype
    dtype: str
    shape: tuple
    values: tuple


@dataclasses.dataclass(frozen=True)
class Sample:
    attrs: dict
    operands: tuple  # None for one left out

    def rank(self):
        return max((len(each.shape) for each in self.operands if each and each.varies), default=0)


# -- samples --------------------------------------------------------------------------------------------------------------


def read_value(text, kind, words):
    if kind == "int":
        return int(text) if text.lstrip("-").isdigit() else words[text]
    if kind == "bool":
        return text in ("true", "1")
    if kind == "float":
        return float(text)
    if kind in ("ints", "floats"):
        items = [each for each in text.strip("[]").split(",") if each]
        return [int(each) if kind == "ints" else float(each) for each in items]
    return text


def read_operand(text):
    if text.strip() == "-":
        return None
    head, _, values = text.strip().partition("]")
    dtype, _, shape = head.partition("[")
    numbers = tuple(float(each) if re.search(r"[.e]", each) else int(each) for each in values.split()
                    if each.strip("-").lower() not in ("inf", "nan") and (dtype != "@" or abs(float(each)) <= MOST))
    return Operand(dtype == "@", dtype, tuple(int(n) for n in shape.split(",") if n), numbers)


def read_samples(text, ops):
    """Op's name -> its samples, those with values first. text: tools/cli/selftest.txt."""
    found = {}
    for line in text.splitlines():
        name, given, *inputs = line.removeprefix("? ").split(" | ")
        if name not in ops:
            continue
        kinds = {attr["name"]: (attr["kind"], attr.get("values", {})) for attr in ops[name]["attributes"]}
        pairs = [] if given == "-" else [pair.partition("=")[::2] for pair in given.split(" ")]
        attrs = {attr: read_value(value, *kinds[attr]) for attr, value in pairs
                 if value or kinds[attr][0] == "string"}  # an empty word stands for the default
        found.setdefault(name, []).append(Sample(attrs, tuple(map(read_operand, inputs))))
    return found


# -- cells ----------------------------------------------------------------------------------------------------------------


def is_elementwise(op):
    return op["category"] in ("UNARY", "BINARY", "TERNARY")


def axis_attr(op):
    return next((attr for attr in op["attributes"] if attr["name"] in ("axis", "axes")), None)


def layouts(op, samples):
    rank = max((sample.rank() for sample in samples), default=0)
    found = ["contiguous"]
    if rank >= 1:
        found.append("strided")
    if is_elementwise(op) and len(op["inputs"]) > 1 and rank >= 2:
        found.append("broadcast")
    if axis_attr(op) and rank >= 2:
        found += [name for name in AXES if name != "middle axis" or rank >= 3]
    return found


def peers_of(op):
    """Peer -> the names that its functions may have."""
    names = dict(zip(PEERS, op["names"].split("|")))
    return {peer: name for peer, name in names.items() if name.strip()}


def all_cells(ops, samples):
    """Of every op that a peer has."""
    return [Cell(name, dtype, layout, size) for name, op in ops.items() if name in samples and peers_of(op)
            for dtype in DTYPES if dtype in op["dtypes"]
            for layout in layouts(op, samples[name]) for size in SIZES]


def draw(cells, seed, count):
    """So many of them; equal seeds give equal cells."""
    return random.Random(seed).sample(cells, min(count, len(cells)))


# -- operands -------------------------------------------------------------------------------------------------------------


def sample_for(op, cell, samples):
    """The sample that the cell's operands are made from: the first that can have the cell's size; for an axis one of the
    highest rank."""
    rank = max(sample.rank() for sample in samples) if cell.layout in AXES else 0
    wanted = [sample for sample in samples if sample.rank() >= rank]
    return next((sample for sample in wanted if is_near(largest(grown(op, sample.operands, cell.size)), cell.size)), wanted[0])


FAR = 4  # a cell's largest operand has at least its size divided by this, at most its size times this


def is_near(elements, size):
    return size / FAR <= elements <= size * FAR


def largest(shapes):
    return max((math.prod(shape) for shape in shapes if shape is not None), default=0)


def fixed_extents(op, operands):
    """Extents of a window's weights, which do not grow with the operands."""
    names = {attr["name"] for attr in op["attributes"]}
    if not {"strides", "dilations"} <= names or len(operands) < 2 or not operands[1] or len(operands[1].shape) < 3:
        return {1}
    return {1, *operands[1].shape[2:]}


def grown(op, operands, size):
    """The operands' shapes, with all extents multiplied so that the largest operand has about `size` elements: relations
    between the operands' extents stay. They shrink only if they are far larger."""
    fixed = fixed_extents(op, operands)

    def shapes(factor):
        return [None if each is None else tuple(n if n in fixed else max(1, round(n * factor)) for n in each.shape)
                for each in operands]

    low, high = 0.0, 1.0
    while largest(shapes(high)) < size and high < 1e9:
        low, high = high, high * 2
    if high == 1.0 and largest(shapes(1.0)) <= size * FAR:
        return shapes(1.0)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if largest(shapes(middle)) >= size else (middle, high)
    return shapes(max(round(high), 1) if high > 1 else high)  # a whole number keeps 3 * hidden three times as much as hidden


def without_dtypes(op, attrs):
    """The attributes but dtypes; None if there are no such."""
    left = {attr["name"]: attrs[attr["name"]] for attr in op["attributes"] if attr["kind"] != "dtype" and attr["name"] in attrs}
    return None if left == attrs else left


def grown_attrs(op, attrs, size):
    """The attributes with the one that is a shape, or else a count, made so large that it stands for `size` elements; None
    if there is neither."""
    kinds = {attr["name"]: attr["kind"] for attr in op["attributes"] if not attr.get("values")}
    lists = [name for name, value in attrs.items() if kinds.get(name) == "ints" and value and "ax" not in name]
    counts = [name for name, value in attrs.items() if kinds.get(name) == "int" and "ax" not in name and value > 1]
    if lists:
        shape = attrs[lists[0]]
        return {**attrs, lists[0]: [1] * (len(shape) - 1) + [size]}
    if counts:
        each = round(size ** (1 / len(counts)))
        return {**attrs, **dict.fromkeys(counts, max(each, 2))}
    return None


def inputs_of(op, cell, sample, grow=True):
    """Name -> the text that makes the input (rows.Makers.sampled), and the names in the op's order, None for one left
    out. grow: to the cell's size."""
    shapes = grown(op, sample.operands, cell.size) if grow else [each and each.shape for each in sample.operands]
    order, texts = [], {}
    varying = [i for i, each in enumerate(sample.operands) if each and each.varies and each.shape]
    for i, (operand, shape) in enumerate(zip(sample.operands, shapes)):
        if operand is None:
            order.append(None)
            continue
        layout = cell.layout if operand.varies and shape else "contiguous"
        if layout == "broadcast":
            shape = (1, *shape[1:]) if i == varying[-1] and len(shape) > 1 else shape
        dtype = cell.dtype if operand.varies else operand.dtype
        values = operand.values if operand.shape == () or not operand.varies else operand.values[:200]
        order.append(f"x{i}")
        texts[f"x{i}"] = f"sampled({dtype!r}, {shape!r}, {values!r}, {layout == 'strided'})"
    return texts, order


def attrs_of(op, cell, sample):
    attrs = dict(sample.attrs)
    for attr in op["attributes"]:
        if attr["kind"] == "dtype" and attrs.get(attr["name"]) == "float32":
            attrs[attr["name"]] = cell.dtype  # the sample's own dtype
    axis = axis_attr(op)
    if cell.layout in AXES:
        attrs[axis["name"]] = [AXES[cell.layout]] if axis["kind"] == "ints" else AXES[cell.layout]
    return attrs


# -- calls ----------------------------------------------------------------------------------------------------------------


def ours(op, order, attrs, python, axes="axes"):
    """nd4c's call: of the Python package, where some functions call their axes `axis`, or of the C function."""
    inputs = [str(name) for name in order]
    if python and any(each["variadic"] for each in op["inputs"]):
        first = next(i for i, each in enumerate(op["inputs"]) if each["variadic"])
        inputs = [*inputs[:first], f"[{', '.join(inputs[first:])}]"]
    given = [*inputs, *(f"{axes if name == 'axes' else name}={value!r}" for name, value in attrs.items())]
    return f"{'ops.' if python else ''}{op['name']}({', '.join(given)})"


def functions(peer, names, drawn=False):
    """Texts of the functions that a column of the op table names: "conv1d, conv2d" are several; one that stands behind
    another is in the same module. drawn: those of random numbers are in a module of their own."""
    found, module = [], ""
    for name in re.sub(r"\([^)]*\)", "", names).split(","):
        name = name.strip()
        if re.fullmatch(r"\dd", name) and found:
            found.append(found[-1][:-2] + name)  # max_pool1d, 2d
            continue
        if not re.fullmatch(r"[A-Za-z_][\w.]*", name):
            continue  # an expression, such as x[mask]
        head, _, last = name.rpartition(".")
        module = head or module
        path = f"{module}.{last}" if module else last
        if path.startswith(("Tensor.", "ndarray.")):
            found.append(f"x0.{last}")
        elif peer == "numpy" and drawn and not head:
            found.append(f"random.{last}")
        elif peer == "numpy":
            found.append(path if path.startswith("scipy.") else f"scipy.{path}" if path.startswith(("special.", "stats."))
                         else f"np.{path}")
        else:
            found.append(path.replace("nn.functional.", "F.", 1) if path.startswith("nn.functional.") else f"torch.{path}")
    return found


RENAMED = {"numpy": {"axes": "axis"},
           "torch": {"axis": "dim", "axes": "dim", "keepdims": "keepdim", "kernel": "kernel_size", "strides": "stride",
                     "pads": "padding", "dilations": "dilation", "shape": "size"}}


def literal(peer, name, value, kind):
    if kind == "dtype":
        return f"{'np' if peer == 'numpy' else 'torch'}.{value if value != 'bool' or peer == 'torch' else 'bool_'}"
    if isinstance(value, list):
        half = len(value) // 2
        if peer == "torch" and name == "pads" and value[:half] == value[half:]:
            value = value[:half]  # the same in front and behind
        return repr(value[0] if len(value) == 1 and name == "axes" else tuple(value))
    return repr(value)


def forms(peer, op, order, attrs):
    """Texts of calls that may do the same, the likeliest first."""
    kinds = {attr["name"]: attr["kind"] for attr in op["attributes"]}
    inputs = [name for name in order if name is not None]
    given = {name: value for name, value in attrs.items() if value != []}
    words = {attr["name"]: {number: word for word, number in attr.get("values", {}).items()} for attr in op["attributes"]}
    texts = {name: repr(words[name][value]) if not isinstance(value, list) and value in words[name]
             else literal(peer, name, value, kinds[name]) for name, value in given.items()}
    named = {RENAMED[peer].get(name, name): text for name, text in texts.items()}
    own = {name: repr(tuple(given[name])) if isinstance(given[name], list) else text for name, text in texts.items()}
    common = {name: text for name, text in named.items() if name in ("axis", "dim", "keepdims", "keepdim", "dtype")}
    placed = {name: text for name, text in texts.items() if kinds[name] != "dtype"}
    dtype = {name: text for name, text in named.items() if name == "dtype"}
    drawn = op["category"] == "RANDOM"
    if drawn and "shape" in named:
        named["size"] = named.pop("shape")
    spread = lambda names: [f"{name}={text}" for name, text in names.items()]
    arguments = [[*inputs, *spread(named)], [*inputs, *spread(common)], [*inputs, *spread(own)], [*inputs, *texts.values()],
                 [*inputs, *placed.values(), *spread(dtype)], [*placed.values(), *inputs], inputs,
                 [f"[{', '.join(inputs)}]", *spread(named)], [f"[{', '.join(inputs)}]", *spread(common)]]
    if drawn:  # the state is the library's own
        arguments = [[f"size={named.get('size', '()')}", *spread(dtype)], [named.get("size", "()")]]
    found = []
    for function, given in itertools.product(functions(peer, peers_of(op).get(peer, ""), drawn), arguments):
        if function.startswith("x0."):
            given = [each for each in given if each != "x0"]
        text = f"{function}({', '.join(given)})"
        if text not in found:
            found.append(text)
    return found

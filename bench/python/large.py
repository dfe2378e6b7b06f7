"""Ops on 10^7 elements from Python: nd4c beside its own C functions, NumPy and PyTorch, measured in turns.

    PYTHONPATH=build/release/python python bench/python/large.py [--rounds 21] [--json FILE] [CASE...]

Column `c` calls the C library's function directly, with arguments made once: `c/nd4c` shows what Python adds, and is 1 where
it adds nothing. Quotients are the other's time over nd4c's, the median of the rounds' quotients, so more than 1 means that
nd4c is faster. Each library works in a process of its own, as in overhead.py; those that are not installed are left out."""
import ctypes
import statistics
import sys
import timeit

from overhead import compare, namespace

# name: statement, and the op with its inputs and the attributes that are not its defaults. x, y: 10^7 float32 numbers;
# m: the same as 2500 rows; i: integers; b: x > 0.
CASES = {
    "x + y": ("x + y", "add", "xy", {}),
    "x * 2.0": ("x * 2.0", "multiply", "xt", {}),
    "x < y": ("x < y", "less", "xy", {}),
    "i + i": ("i + i", "add", "ii", {}),
    "sqrt(x)": ("ns.sqrt(x)", "sqrt", "x", {}),
    "exp(x)": ("ns.exp(x)", "exp", "x", {}),
    "tanh(x)": ("ns.tanh(x)", "tanh", "x", {}),
    "where(b, x, y)": ("ns.where(b, x, y)", "where", "bxy", {}),
    "sum(x)": ("ns.sum(x)", "sum", "x", {}),
    "sum(m, axis=0)": ("ns.sum(m, axis=0)", "sum", "m", {"axes": (0,)}),
    "sum(m, axis=1)": ("ns.sum(m, axis=1)", "sum", "m", {"axes": (1,)}),
    "max(m)": ("ns.max(m)", "max", "m", {}),
    "x[b]": ("x[b]", "boolean_mask", "xb", {}),
}
SETUP = """
x = ns.linspace(-3.0, 3.0, 10_000_000, dtype=ns.float32)
y = x * 0.5
t = ns.ones((), dtype=ns.float32) * 2.0
m = ns.reshape(x, (2500, 4000))
i = ns.arange(10_000_000)
b = x > 0
"""


def c_call(names, op, inputs, attrs):
    """A function of no arguments that calls nd4c_<op>; the result before last is released, as Python's assignment does."""
    from nd4c import _abi, _library
    from nd4c._ctypes import _ARGTYPES, ints
    _, schema, attributes, _ = _abi.OPS[_abi.NUMBERS[op]]
    empty = {"N": None, "b": False, "n": 0, "t": 0, "f": 0.0}
    arguments = [names[name] for name in inputs]
    for kind, name in attributes:
        value = attrs.get(name, empty[kind])
        arguments += [value] if kind != "N" else [None, 0] if value is None else [ints(value), len(value)]
    function = _library.releasing["nd4c_" + op]
    function.argtypes = sum((_ARGTYPES[kind] for kind, _ in schema + attributes), ()) + (ctypes.c_void_p,)
    release = _library.holding["nd4c_array_release"]
    outs = [ctypes.c_void_p(), ctypes.c_void_p()]

    def call():
        outs.reverse()
        status = function(*arguments, ctypes.byref(outs[0]))
        assert status == 0, status
        release(outs[1])
        outs[1].value = None
    return call


def work(library):
    """Reads lines `case loops` and answers each with seconds, until the input ends."""
    names = {"ns": namespace({"nd4c": "native", "c": "ctypes"}.get(library, library))}
    exec(SETUP, names)
    timers = {}
    for name, (statement, *rest) in CASES.items():
        timers[name] = timeit.Timer(c_call(names, *rest)) if library == "c" else timeit.Timer(statement, globals=names)
    print("ready", flush=True)
    for line in sys.stdin:
        loops, name = line.rstrip("\n").split(" ", 1)
        print(timers[name].timeit(int(loops)), flush=True)


def print_head(libraries):
    print("%-18s" % "ms" + "".join("%9s" % library for library in libraries)
          + "".join("%12s" % (library + "/" + libraries[0]) for library in libraries[1:]))


def print_row(name, samples):
    first, *others = samples.values()
    row = "%-18s" % name + "".join("%9.2f" % (statistics.median(times) / 1e6) for times in samples.values())
    for other in others:
        row += "%12.2f" % statistics.median(a / b for a, b in zip(other, first))
    print(row, flush=True)


if __name__ == "__main__":
    compare(__file__, __doc__, CASES, work, "nd4c,c,numpy,torch", 21, print_head, print_row)

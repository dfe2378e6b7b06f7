"""Random calls of the package's public functions and of arrays' methods: none may crash, hang, or fail inside of the package.

    python tests/python/fuzz_calls.py --calls 1000000 [--seed 1] [--first 0]
    python tests/python/fuzz_calls.py --seed 1 --first 4711 --calls 1      the one call that a failure names

scripts/ci runs a part of it, with --full all. The calls run in a process of their own, in an empty folder. Each depends only on
the seed and its number. Any exception that a caller can act on is fine. Not fine: a signal, a call that takes more than a
minute of a processor, SystemError, NameError, and the library's own report of an inconsistency (InternalError)."""
import argparse
import collections
import faulthandler
import inspect
import mmap
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings

MEMORY = 6 << 30
PATIENCE, WAITING = 60, 600  # seconds that a call may take: of processors, and on the clock
# Names whose effect outlives the call, or that wait for something outside of the process.
LEFT_OUT = {
    "set_default_routing", "set_print_options", "set_printoptions", "config", "seed", "set_state", "explain", "info", "devices", "load",
    "load_metadata", "fromfile", "memmap", "genfromtxt", "loadtxt", "fromregex", "test", "migrate", "prefetch", "to", "to_device", "device",
    "tofile", "dump", "from_external", "register", "set_cap", "trim", "from_blocks", "routing", "tracing", "workspace", "cancellation",
    "printoptions", "errstate", "seterr", "seterrcall", "setbufsize"}
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 utf8 int4".split()
INTEGERS = (0, 0, 1, 1, 2, 3, -1, -1, -2, 5, 7, 64, 1000, -1000, 2 ** 31, -2 ** 31 - 1, 2 ** 63 - 1, -2 ** 63, 2 ** 64, 10 ** 30)
FLOATS = (0.0, 1.0, -1.0, 0.5, 2.5, 1e-300, 1e308, float("inf"), -float("inf"), float("nan"), -0.0)
TEXTS = ("", "a", "ij,jk->ik", "same_upper", "constant", "reflect", "mean", "f8", "linear", "left", "C", "F", "ortho", "x" * 300, "\0", "é")
ODD = (None, True, False, (), [], {}, object(), b"abc", 1j, slice(None), slice(3, None, -2), Ellipsis, range(3), "float32", float, int)


def targets():
    """(name, callable) of everything that is called."""
    import nd4c
    import nd4c.numpy
    found = []
    modules = [nd4c, nd4c.ops, nd4c.numpy, nd4c.linalg, nd4c.fft, nd4c.random, nd4c.nn, nd4c.image, nd4c.numpy.random]
    for module in modules:
        for name in dir(module):
            value = getattr(module, name, None)
            if not name.startswith("_") and callable(value) and not isinstance(value, type) and name not in LEFT_OUT:
                found.append(("%s.%s" % (module.__name__, name), value))
    methods = [name for name in dir(nd4c.Array) if callable(getattr(nd4c.Array, name, None)) and name not in LEFT_OUT]
    left = ("__init__", "__new__", "__class__", "__getattribute__", "__setattr__", "__delattr__", "__init_subclass__", "__subclasshook__",
            "__buffer__", "__release_buffer__", "__del__", "__getattr__")
    found += [("Array.%s" % name, getattr(nd4c.Array, name)) for name in methods if name not in left]
    for name in dir(nd4c.random.Generator):
        if not name.startswith("_") and name not in LEFT_OUT and callable(getattr(nd4c.random.Generator, name)):
            found.append(("Generator.%s" % name, lambda *given, name=name, **named: getattr(
                nd4c.random.default_rng(1), name)(*given, **named)))
    return found


class Caller:
    """Makes calls from numbers."""

    def __init__(self, seed):
        import nd4c
        self.nd4c, self.seed, self.targets = nd4c, seed, targets()
        self.parameters = {}

    def parameters_of(self, name, function):
        if name not in self.parameters:
            try:
                self.parameters[name] = [p for p in inspect.signature(function).parameters.values()]
            except (TypeError, ValueError):
                self.parameters[name] = None
        return self.parameters[name]

    def shape(self, draw):
        return tuple(draw.choice((0, 1, 1, 2, 3, 3, 4, 5)) for _ in range(draw.choice((0, 1, 1, 1, 2, 2, 2, 3, 4))))

    def array(self, draw):
        """An array of any dtype, shape and layout."""
        nd4c, dtype = self.nd4c, draw.choice(DTYPES)
        shape = self.shape(draw)
        count = 1
        for extent in shape:
            count *= extent
        if dtype == "utf8":
            return nd4c.asarray([draw.choice(("", "a", "bc", "é")) for _ in range(count)] or ["a"])
        low = 0 if dtype[0] in "ub" else -2
        values = [draw.choice((low, 0, 1, 2, 3)) for _ in range(count)]
        if draw.random() < 0.2 and "float" in dtype:
            values = [draw.choice(FLOATS) for _ in values]
        x = nd4c.reshape(nd4c.asarray(values or [0])[:count], shape)
        x = nd4c.astype(x, dtype if dtype != "int4" else "int8")
        way = draw.randrange(8)
        if way == 0 and x.ndim:
            x = nd4c.flip(x)
        elif way == 1 and x.ndim > 1:
            x = nd4c.permute_dims(x, tuple(reversed(range(x.ndim))))
        elif way == 2 and x.ndim:
            x = x[::2]
        elif way == 3:
            x = nd4c.broadcast_to(x, (2,) + x.shape)
        return nd4c.astype(x, dtype) if dtype == "int4" else x

    def value(self, draw, name="", depth=0):
        kind = draw.random()
        if name in ("axis", "axes", "axis1", "axis2", "source", "destination", "k", "n", "offset", "shift") and kind < 0.8:
            return draw.choice((None, 0, 1, -1, 2, (0, 1), (0,), (1, -1), -3, 7, ()))
        if name in ("shape", "newshape", "size", "repeats", "reps", "pad_width", "repetitions") and kind < 0.8:
            return draw.choice((self.shape(draw), draw.choice((0, 1, 2, 3, -1)), -1, (2, -1), ((1, 2), (0, 1)), 2 ** 62))
        if "dtype" in name and kind < 0.8:
            return draw.choice((None, draw.choice(DTYPES), float, int, "f4"))
        if name in ("keepdims", "endpoint", "copy", "sparse") and kind < 0.9:
            return draw.random() < 0.5
        if name in ("out", "device", "like", "order", "subok", "casting") and kind < 0.7:
            return None
        if kind < 0.55:
            return self.array(draw)
        if kind < 0.68:
            return draw.choice(INTEGERS)
        if kind < 0.76:
            return draw.choice(FLOATS)
        if kind < 0.82:
            return draw.choice(TEXTS)
        if kind < 0.92 and depth < 2:
            made = [self.value(draw, name, depth + 1) for _ in range(draw.randrange(4))]
            return made if draw.random() < 0.6 else tuple(made)
        return draw.choice(ODD)

    def call(self, number):
        """(text, function, arguments, arguments by name) of a call."""
        draw = random.Random("%d %d" % (self.seed, number))
        name, function = self.targets[draw.randrange(len(self.targets))]
        parameters, given, named = self.parameters_of(name, function), [], {}
        if name.startswith("Array."):
            given.append(self.array(draw))
            parameters = parameters[1:] if parameters else parameters
        if parameters is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
            given += [self.value(draw) for _ in range(draw.randrange(4))]
        else:
            for parameter in parameters:
                needed = parameter.default is parameter.empty
                if parameter.kind is parameter.VAR_KEYWORD or (not needed and draw.random() < 0.6):
                    continue
                value = self.value(draw, parameter.name)
                if parameter.kind is parameter.KEYWORD_ONLY or (named and parameter.kind is not parameter.POSITIONAL_ONLY):
                    named[parameter.name] = value
                elif not named and len(given) - name.startswith("Array.") == parameters.index(parameter):
                    given.append(value)
                elif parameter.kind is not parameter.POSITIONAL_ONLY:
                    named[parameter.name] = value
        return name, function, given, named


def shown(name, given, named):
    def one(value):
        text = repr(value)
        if hasattr(value, "dtype") and hasattr(value, "strides"):
            text = "<%s %s strides %s %s>" % (value.dtype, value.shape, value.strides, " ".join(text.split())[:60])
        return text if len(text) < 120 else text[:117] + "..."
    return "%s(%s)" % (name, ", ".join([one(value) for value in given] + ["%s=%s" % (key, one(value)) for key, value in named.items()]))


def work(seed, first, count, place, verbose):
    """Makes the calls; writes the number of each into the file before it is made."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(500)
    with open(place, "r+b") as file:
        shared = mmap.mmap(file.fileno(), 8)
    caller, outcomes = Caller(seed), collections.Counter()
    bad = (SystemError, NameError, caller.nd4c.errors.InternalError)
    failures = 0
    for number in range(first, first + count):
        shared[:8] = number.to_bytes(8, "little")
        name, function, given, named = caller.call(number)
        if verbose:
            print(shown(name, given, named), flush=True)
        try:
            result = function(*given, **named)
            if hasattr(result, "wait") and hasattr(result, "dtype"):
                result.wait()
            outcomes["done"] += 1
        except bad as error:
            failures += 1
            print("call %d: %s: %s: %s" % (number, shown(name, given, named), type(error).__name__, error), flush=True)
        except Exception as error:
            outcomes[type(error).__name__] += 1
            if verbose:
                print("%s: %s" % (type(error).__name__, error), flush=True)
    print("%d calls of %d functions, seed %d: %s" % (count, len(caller.targets), seed, ", ".join(
        "%s %d" % pair for pair in outcomes.most_common())), flush=True)
    sys.exit(1 if failures else 0)


def used(process):
    """Seconds of processors that a process has used, those of all its threads; 0 if it is gone."""
    try:
        with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(process, place):
    """Waits for the process, and kills it if one call takes too long. Returns the number of the call under way."""
    before, since, spent = None, time.monotonic(), 0
    while True:
        with open(place, "rb") as file:
            number = int.from_bytes(file.read(8), "little")
        if number != before:
            before, since, spent = number, time.monotonic(), used(process)
        try:
            process.wait(1)
            return number, None
        except subprocess.TimeoutExpired:
            if used(process) - spent > PATIENCE or time.monotonic() - since > WAITING:
                process.kill()
                process.wait()
                return number, "took more than %d s" % PATIENCE


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="shows each call")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.seed, arguments.first, arguments.calls, arguments.work, arguments.verbose)
    script = os.path.abspath(__file__)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "number")
        with open(place, "wb") as file:
            file.write(bytes(8))
        options = ["--seed", str(arguments.seed), "--first", str(arguments.first), "--calls", str(arguments.calls)]
        paths = os.environ.get("PYTHONPATH")  # the process has another folder
        environment = dict(os.environ, **({"PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths.split(os.pathsep)))} if paths else {}))
        process = subprocess.Popen([sys.executable, script, "--work", place] + options + ["--verbose"] * (
            arguments.verbose or arguments.calls == 1), cwd=folder, env=environment)
        number, reason = watch(process, place)
    if reason is None and process.returncode in (0, 1):
        return process.returncode
    print("call %d %s: %s %s --seed %d --first %d --calls 1" % (
        number, reason or "ended the process with %d" % process.returncode, sys.executable, script, arguments.seed, number))
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Which files have mutants, the room that each belongs to, and the tests that claim a room. mutate.py asks it."""
import json
import pathlib
import re

from mutant_build import run

SOURCES = ["src/**/*.[ch]", "kernels/cpu/**/*.[ch]", "kernels/reference/**/*.[ch]", "backends/cpu/**/*.[ch]"]
# Files without results to check: they measure time, speak to other systems, or only write for people.
LEFT_OUT = re.compile(r"src/base/os|/trace/|explain|report|src/base/topology|progress|/look\.c")
SHARED = "elementwise"
# Labels of ctest that claim a layer, beside its own.
BESIDE = {"array": ["dispatch", "ops"], "dispatch": ["array", "graph"], "import": ["io", "graph", "onnx"],
          "submit": ["device", "dispatch", "graph"], "ops": ["graph", "array", "io", "onnx"],
          "base": ["device", "array", "dispatch", "kernels", "graph"], "graph": ["io", "onnx"], "io": [],
          "device": ["dispatch", "plugin", "graph"]}
# Tests by name that claim a layer, too: of a pass for which only another device has kernels, of a kernel that fails.
NAMED = {"graph": ["opencl.swiglu"], "dispatch": ["plugin.narrow"]}
# Folders of src whose functions compute the ops that src/dispatch/host_ops.h lists.
COMPUTED = {"dispatch/text", "dispatch/image", "dispatch/host"}
PARTS = 12
GRAPHS = 100  # of graph.random_graphs in a part: it takes longer than mutate.py waits
ENGINES = ["simd", "reference", "onednn", "openblas", "fftw"]


class Claims:
    def __init__(self, root, build):
        self.root, self.build = root, build
        self.families = {}
        for header in sorted((root / "include/nd4c/op_table").glob("*.h")):
            self.families[header.stem] = re.findall(r"\bOP\(\s*\d+, \d+, (\w+),", header.read_text())
        self.tests = [test for test in json.loads(run(
            ["ctest", "--test-dir", str(build), "--show-only=json-v1"]).stdout)["tests"] if test.get("command")]

    def files(self):
        """{file: room}."""
        found = {}
        for pattern in SOURCES:
            for path in sorted(self.root.glob(pattern)):
                name = str(path.relative_to(self.root))
                if not LEFT_OUT.search(name):
                    found[name] = self.room_of(name)
        return {name: room for name, room in found.items() if room is not None}

    def family_of(self, word):
        """The family that a file's name begins with, as signal of signal_fft.c."""
        fitting = [family for family in self.families if word == family or word.startswith(family + "_")]
        return max(fitting, key=len) if fitting else None

    def room_of(self, name):
        """(engine, family) for kernels, ('src', layer) for the rest."""
        parts = pathlib.PurePath(name).parts
        if parts[0] == "src":
            return ("src", "/".join(parts[1:3]) if len(parts) > 3 else parts[1])
        if parts[0] == "kernels":
            engine = "simd" if parts[1] == "cpu" else "reference"
            return (engine, parts[2] if parts[2] in self.families else self.family_of(parts[2]) or SHARED)
        if len(parts) < 4 or parts[2] not in ("simd", "reference", "onednn", "openblas", "fftw"):
            return ("cpu", "support")
        if parts[2] in ("simd", "reference"):
            stem = parts[3] if len(parts) > 4 else pathlib.PurePath(parts[3]).stem
            return (parts[2], self.family_of(stem) or SHARED)
        return (parts[2], parts[2])

    def ops_of(self, family):
        if family == SHARED:
            return [op for name, ops in self.families.items() for op in ops
                    if name == SHARED or not (self.root / "kernels/reference" / name).exists()]
        return self.families.get(family, [])

    def units(self, room):
        """[(name, program, arguments, environment)] of the tests that claim a room."""
        engine, family = room
        records = ["--records", str(self.build / "tests/records")]
        lowest = {"ND4C_CPU_LEVEL": "base"}  # its loops are not those of the levels above
        if family in COMPUTED:
            ops = re.findall(r"^  X\((\w+), ", (self.root / "src/dispatch/host_ops.h").read_text(), re.M)
            pictures = [(f"{name} ImageDecoder", program, [*arguments, "--filter", "ImageDecoder"], environment)
                        for name, program, arguments, environment in self.labelled({"onnx"}) if name == "onnx.cases"]
            own = [(op, "nd4c_conformance", [*records, "--quick", "--op", op], {}) for op in ops]
            return own + pictures + self.labelled({"dispatch"})
        if engine == "src":
            layer = family.split("/")[0]
            labels = {layer, *BESIDE.get(layer, []), *NAMED.get(layer, [])}
            parts = [("reference", part) for part in range(PARTS)] if layer in ("ops", "array", "dispatch", "submit") else []
            symbolic = [(f"symbolic {part}", "nd4c_conformance", [*records, "--symbolic", "--part", f"{part}/{PARTS}"], {})
                        for part in range(PARTS if layer == "ops" else 0)]
        else:
            # What engines share, and what plans compute in one step, is called by plans alone or by any of the engines.
            labels = {"kernels", *(["graph"] if engine == "cpu" or family == SHARED else []),
                      *(["random"] if family == "random" else []), *(["accuracy"] if family == SHARED else [])}
            engines = ENGINES if engine == "cpu" else [engine]
            parts = [(name, part) for name in engines for part in range(PARTS)] if not self.ops_of(family) else []
            symbolic = []
        whole = [(f"{name} {part}/{PARTS}", "nd4c_conformance",
                  [*records, "--quick", "--part", f"{part}/{PARTS}", "--engine", name], {}) for name, part in parts]
        ops = self.ops_of(family) if engine in ("simd", "reference") else []
        own = [(f"{op} on {engine}", "nd4c_conformance", [*records, "--op", op, "--engine", engine], {}) for op in ops]
        own += [(f"{op} on {engine} at the lowest level", "nd4c_conformance",
                 [*records, "--quick", "--op", op, "--engine", engine], lowest) for op in ops if engine == "simd"]
        return own + self.labelled(labels) + symbolic + whole

    def labelled(self, labels):
        """Of the tests with one of these labels, or names."""
        found = []
        for test in self.tests:
            properties = {item["name"]: item["value"] for item in test.get("properties", [])}
            program = pathlib.Path(test["command"][0])
            if (not labels & {*properties.get("LABELS", []), test["name"]} or program.parent != self.build / "tests/bin"
                    or program.name == "nd4c_conformance"):
                continue
            environment = {}
            for change in properties.get("ENVIRONMENT_MODIFICATION", []):
                key, _, value = change.partition("=")
                environment[key] = None if value == "unset:" else value.removeprefix("set:")
            found += ((name, program.name, arguments, environment) for name, arguments in self.split(test))
        return found

    @staticmethod
    def split(test):
        """[(name, arguments)] of a ctest test: one, but several of random graphs, each with graphs of its own."""
        arguments = test["command"][1:]
        if test["name"] != "graph.random_graphs":
            return [(test["name"], arguments)]
        count = int(arguments[arguments.index("--graphs") + 1])
        return [(f"{test['name']} from {first}", ["--graphs", str(GRAPHS), "--seed", str(first), "--thorough"])
                for first in range(1, count, GRAPHS)]

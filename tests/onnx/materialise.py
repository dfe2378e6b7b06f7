#!/usr/bin/env python3
"""Writes the ONNX backend's test cases as files, from the installed `onnx` package, which no longer ships them.

  materialise.py FOLDER      into FOLDER/<kind>/<name>/{model.onnx,input_<i>.pb,output_<i>.pb} and FOLDER/cases.txt

Kinds: node (one op), expanded (the same through the op's function body), simple, pytorch-converted, pytorch-operator,
light. A line of cases.txt: kind, name, relative and absolute tolerance, op. Nothing is done if FOLDER is up to date:
its cases.txt names the versions of `onnx`, of numpy and of this script.
"""

import glob
import hashlib
import os
import shutil
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader
from onnx.backend.test.case import model as model_cases

DATA = loader.DATA_DIR


def proto_of(value, info):
    """The value as the proto that the type of the graph's input or output requires."""
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    if info.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, info.name)
    if info.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, info.name)
    if info.type.HasField("map_type"):
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name)


class Writer:
    """Writes cases into a folder and lists them."""

    def __init__(self, folder):
        self.folder = folder
        self.lines = []
        self.names = set()

    def begin(self, kind, name, rtol, atol, op):
        if (kind, name) in self.names:
            raise SystemExit(f"two cases {kind}/{name}")
        self.names.add((kind, name))
        self.lines.append(f"{kind} {name} {rtol:g} {atol:g} {op}")
        path = os.path.join(self.folder, kind, name)
        os.makedirs(path)
        return path

    def write_model(self, path, model):
        with open(os.path.join(path, "model.onnx"), "wb") as file:
            file.write(model.SerializeToString())

    def write_values(self, path, what, values, infos):
        for i, (value, info) in enumerate(zip(values, infos)):
            with open(os.path.join(path, f"{what}_{i}.pb"), "wb") as file:
                file.write(proto_of(value, info).SerializeToString())

    def add_made(self, case, op):
        """A case that the package computes in Python."""
        kind = case.kind if "_expanded" not in case.name else "expanded"
        path = self.begin(kind, case.name, case.rtol, case.atol, op)
        (inputs, outputs), = case.data_sets
        self.write_model(path, case.model)
        self.write_values(path, "input", inputs, case.model.graph.input)
        self.write_values(path, "output", outputs, case.model.graph.output)

    def add_stored(self, kind, name, op):
        """A case that the package has as files."""
        path = self.begin(kind, name, 1e-3, 1e-7, op)
        source = os.path.join(DATA, kind, name)
        shutil.copy(os.path.join(source, "model.onnx"), path)
        sets = glob.glob(os.path.join(source, "test_data_set_*"))
        if len(sets) != 1:
            raise SystemExit(f"{source}: {len(sets)} sets of data; expected one")
        for file in glob.glob(os.path.join(sets[0], "*.pb")):
            shutil.copy(file, path)

    def add_light(self, case):
        """A large model with weights of one value; its input is a ramp."""
        path = self.begin("light", case.name, case.rtol, case.atol, case.model_name)
        source = os.path.join(DATA, "light", f"light_{case.model_name}")
        model = onnx.load(source + ".onnx")
        self.write_model(path, model)
        known = {tensor.name for tensor in model.graph.initializer}
        infos = [info for info in model.graph.input if info.name not in known]
        ramps = []
        for info in infos:
            shape = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in info.type.tensor_type.shape.dim]
            size = int(np.prod(shape))
            ramps.append((np.arange(size).reshape(shape) / size).astype(np.float32))
        self.write_values(path, "input", ramps, infos)
        for i in range(len(model.graph.output)):
            shutil.copy(f"{source}_output_{i}.pb", os.path.join(path, f"output_{i}.pb"))


def op_of(case, ops):
    """The op that a node case is about; for an expanded case that of the case it came from."""
    if "_expanded" in case.name:
        return ops[case.name[: case.name.index("_expanded")]]
    nodes = case.model.graph.node
    domain = nodes[0].domain + "." if nodes[0].domain not in ("", "ai.onnx") else ""
    ops[case.name] = domain + nodes[0].op_type
    return ops[case.name]


def write_all(folder):
    writer = Writer(folder)
    ops = {}
    for case in loader.load_node_model_tests():
        writer.add_made(case, op_of(case, ops))
    simple = set()
    for case in model_cases.collect_testcases():
        if case.kind == "real":
            writer.add_light(case)
        else:
            simple.add(case.name)
            writer.add_made(case, "model")
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for name in sorted(os.listdir(os.path.join(DATA, kind))):
            is_case = os.path.exists(os.path.join(DATA, kind, name, "model.onnx"))
            if is_case and not (kind == "simple" and name in simple):
                writer.add_stored(kind, name, "model")
    return writer.lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    warnings.simplefilter("ignore")
    with open(__file__, "rb") as file:
        own = hashlib.sha256(file.read()).hexdigest()[:16]
    head = f"# onnx {onnx.__version__} numpy {np.__version__} script {own}"
    listing = os.path.join(folder, "cases.txt")
    if os.path.exists(listing):
        with open(listing, encoding="utf-8") as file:
            if file.readline().rstrip("\n") == head:
                return
    temporary = f"{folder}.{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    np.random.seed(0)
    lines = write_all(temporary)
    with open(os.path.join(temporary, "cases.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join([head, *lines]) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(temporary, folder)
    kinds = [line.split()[0] for line in lines]
    print(f"{len(lines)} cases in {folder}: " + ", ".join(f"{kind} {kinds.count(kind)}" for kind in dict.fromkeys(kinds)))


if __name__ == "__main__":
    main()

"""ONNX models of a row's expression: MatMul(a, const(b)), one node a call."""

import numpy as np


class Node:
    def __init__(self, op, inputs, attrs):
        self.op, self.inputs, self.attrs = op, inputs, attrs
        self.domain, self.count = attrs.pop("domain", ""), attrs.pop("outputs", 1)


class Constant:
    def __init__(self, data):
        self.data = data


class Names(dict):
    """The names that an expression may use: inputs, const(array), i64(numbers), np; every other name is an op."""

    def __init__(self, inputs):
        super().__init__(inputs, np=np, const=Constant, i64=lambda *numbers: Constant(np.array(numbers, np.int64)))

    def __missing__(self, name):
        return lambda *inputs, **attrs: Node(name, inputs, attrs)


class Builder:
    def __init__(self, inputs):
        self.given = {id(data): name for name, data in inputs.items()}
        self.nodes, self.constants, self.used = [], [], {}

    def value(self, node):
        """The name of the value that an expression gives."""
        from onnx import helper, numpy_helper

        if node is None:
            return ""
        if isinstance(node, Constant):
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(node.data), f"c{len(self.constants)}"))
            return self.constants[-1].name
        if isinstance(node, np.ndarray):
            name = self.given[id(node)]
            self.used[name] = node
            return name
        arguments = [self.value(each) for each in node.inputs]
        results = [f"r{len(self.nodes)}_{k}" for k in range(node.count)]
        self.nodes.append(helper.make_node(node.op, arguments, results, domain=node.domain, **node.attrs))
        return results[0]


def make(row, inputs):
    """The model's bytes, and the inputs that are not constants: name -> array."""
    import onnx
    from onnx import helper

    build = Builder(inputs)
    build.value(eval(row.onnx, {"__builtins__": {}}, Names(inputs)))
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(data.dtype), data.shape)
             for name, data in build.used.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in build.nodes[-1].output]
    domains = sorted({node.domain for node in build.nodes} - {""})
    opsets = [helper.make_opsetid("", row.opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    model = helper.make_model(helper.make_graph(build.nodes, "row", infos, outputs, build.constants),
                              opset_imports=opsets, ir_version=10)
    typed = onnx.shape_inference.infer_shapes(model, data_prop=True)  # OpenVINO does not infer shapes
    if all(output.type.WhichOneof("value") for output in typed.graph.output):
        model = typed
    return model.SerializeToString(), build.used

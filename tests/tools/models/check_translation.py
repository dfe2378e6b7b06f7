#!/usr/bin/env python3
"""bench/translation.py on small models, with NumPy in the place of PyTorch and JAX: results, and what is refused by name.
Usage: check_translation.py SOURCE_DIR"""

import pathlib
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    print(f"left out: {error}")
    sys.exit(77)

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / "bench"))
import translation


class Library:
    constant_text, array, numpy = "constants['{}']", np.asarray, np.asarray
    sqrt, transpose, unsqueeze, expand = np.sqrt, np.transpose, np.expand_dims, np.broadcast_to

    @staticmethod
    def relu(x):
        return np.maximum(x, 0)

    @staticmethod
    def mean(x, axes, keep):
        return x.mean(tuple(axes), keepdims=keep)

    @staticmethod
    def lstm(*weights):
        return lambda x: x

    @staticmethod
    def gather(x, indices, axis):
        return np.take(x, indices, axis)


def translate(nodes, constants=None, opset=18, shape=(2, 3, 4)):
    """nodes: from the input x to the output y."""
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    weights = [numpy_helper.from_array(np.asarray(data), name) for name, data in (constants or {}).items()]
    graph = helper.make_graph(nodes, "small", [value("x", shape)], [value("y", None)], weights)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "small.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), path)
        return translation.Translation(str(path), Library)


def node(op, *inputs, to="y", **attributes):
    return helper.make_node(op, inputs, [to], **attributes)


class Translated(unittest.TestCase):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 11

    def compare(self, expected, *arguments, **more):
        made = translate(*arguments, **more)
        (result,) = made.function(made.constants, self.x)
        np.testing.assert_array_equal(result, expected)
        return made

    def test_calls_follow_each_other(self):
        self.compare(np.maximum(self.x * 2, 0) + self.x,
                     [node("Mul", "x", "two", to="a"), node("Relu", "a", to="b"), node("Add", "b", "x")],
                     {"two": np.float32(2)})

    def test_constants_of_constants_are_computed_once(self):
        made = self.compare(self.x + 5, [node("Sqrt", "c", to="r"), node("Add", "r", "two", to="s"), node("Add", "x", "s")],
                            {"c": np.float32([9]), "two": np.float32([2])})
        self.assertEqual(len(made.lines), 1)

    def test_a_reshape_copies_extents(self):
        self.compare(self.x.reshape(2, 12), [node("Reshape", "x", "to")], {"to": np.int64([0, -1])})

    def test_a_slice_ends_where_the_axis_does(self):
        self.compare(self.x[:, 1:, ::2], [node("Slice", "x", "from", "to", "axes", "steps")],
                     {"from": np.int64([1, 0]), "to": np.int64([2**40, 4]), "axes": np.int64([1, -1]), "steps": np.int64([1, 2])})

    def test_one_index_drops_the_axis(self):
        self.compare(self.x[:, 2], [node("Gather", "x", "at", axis=1)], {"at": np.int64(2)})
        self.compare(self.x[:, [2, 0]], [node("Gather", "x", "at", axis=1)], {"at": np.int64([2, 0])})

    def test_axes_come_as_an_attribute_or_an_operand(self):
        expected = self.x.mean((0, 2), keepdims=True)
        self.compare(expected, [node("ReduceMean", "x", axes=[0, 2])], opset=13)
        self.compare(expected, [node("ReduceMean", "x", "axes")], {"axes": np.int64([0, 2])})

    def test_an_lstm_may_leave_its_states_out(self):
        weights = {"w": np.zeros((1, 4, 4), np.float32), "r": np.zeros((1, 4, 1), np.float32)}
        self.compare(self.x, [node("LSTM", "x", "w", "r", hidden_size=1)], weights)

    def refuse(self, text, *arguments, **more):
        with self.assertRaisesRegex(translation.Refused, text):
            translate(*arguments, **more)

    def test_an_unknown_op_is_named(self):
        self.refuse("^Cosh: not in the table", [node("Cosh", "x")])

    def test_an_op_of_another_domain_is_named(self):
        self.refuse("^Add: not in the table", [node("Add", "x", "x", domain="other")])

    def test_an_attribute_that_was_not_read_is_named(self):
        self.refuse("^Relu: attribute slope$", [node("Relu", "x", slope=1.0)])

    def test_an_operand_that_must_be_known_is_named(self):
        self.refuse("^Reshape: operand 1 is not a constant$", [node("Reshape", "x", "x")])

    def test_a_negative_step_is_refused(self):
        self.refuse("^Slice: a negative step$", [node("Slice", "x", "from", "to", "axes", "steps")],
                    {"from": np.int64([3]), "to": np.int64([0]), "axes": np.int64([2]), "steps": np.int64([-1])})


if __name__ == "__main__":
    unittest.main()

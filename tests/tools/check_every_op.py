#!/usr/bin/env python3
"""bench/every_op without measuring: which cells there are, what they call, what is kept, and the page.
Usage: check_every_op.py SOURCE_DIR"""

import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(sys.argv.pop(1)) / "bench"))
import cells
import every_op_page
import kept_cells


def op(name, category, names, inputs, attributes=(), dtypes=("float32", "int32", "utf8")):
    return {"name": name, "category": category, "names": names, "dtypes": list(dtypes),
            "inputs": [{"name": each, "variadic": False, "optional": False} for each in inputs],
            "attributes": [dict(zip(("name", "kind", "values"), each)) for each in attributes]}


OPS = {each["name"]: each for each in (
    op("add", "BINARY", "add|add|Add|add", ("a", "b")),
    op("sum", "REDUCTION", "sum|sum|ReduceSum|sum", ("x",), (("axes", "ints"), ("keepdims", "bool"), ("dtype", "dtype"))),
    op("fft", "SIGNAL", "fft.fft|fft.fft|DFT|fft", ("x",), (("norm", "int", {"backward": 0, "ortho": 1}),)),
    op("conv", "NN", "|nn.functional.conv1d, conv2d|Conv|conv1d", ("x", "w"), (("strides", "ints"), ("dilations", "ints"))),
    op("norm1", "REDUCTION", "||ReduceL1|norm1", ("x",)))}
SAMPLES = cells.read_samples(
    "add | - | @[3,4] 1 2 3 4 5 6 7 8 9 10 11 12 | @[3,4] 1 2 3 4 5 6 7 8 9 10 11 12.5\n"
    "sum | axes=[0] keepdims=true dtype=float32 | @[2,3,2] 1 2 3 4 5 6 7 8 9 10 11 12\n"
    "? fft | norm=ortho | @[1024]\n? fft | norm= | @[8]\n"
    "conv | strides=[2,1] | @[1,2,6,6] 1 | @[3,2,3,3] 1\n"
    "norm1 | - | @[3] 1 2 3\nfrom_a_plugin | - | @[3] 1 2 3\n", OPS)


def first(name, **what):
    return next(cell for cell in cells.all_cells(OPS, SAMPLES) if cell.op == name and
                all(getattr(cell, key) == value for key, value in what.items()))


class Cells(unittest.TestCase):
    def test_ops_that_a_peer_has_appear_by_themselves(self):
        known = cells.all_cells(OPS, SAMPLES)
        self.assertEqual({cell.op for cell in known}, {"add", "sum", "fft", "conv"})
        self.assertEqual({cell.dtype for cell in known}, {"float32", "int32"})
        self.assertEqual({cell.layout for cell in known if cell.op == "add"}, {"contiguous", "strided", "broadcast"})
        self.assertEqual({cell.layout for cell in known if cell.op == "sum"}, {"contiguous", "strided", *cells.AXES})
        self.assertEqual(len({cell.key() for cell in known}), len(known))

    def test_equal_seeds_draw_equal_cells(self):
        known = cells.all_cells(OPS, SAMPLES)
        self.assertEqual(cells.draw(known, "a", 10), cells.draw(known, "a", 10))
        self.assertNotEqual(cells.draw(known, "a", 10), cells.draw(known, "b", 10))
        self.assertEqual(len(cells.draw(known, "a", 10**6)), len(known))

    def test_operands_grow_and_keep_their_relations(self):
        for size in cells.SIZES:
            a, b = cells.grown(OPS["add"], SAMPLES["add"][0].operands, size)
            self.assertEqual(a, b)
            self.assertTrue(size * 0.9 <= a[0] * a[1] <= size * 1.2 + 2, (size, a))
        x, w = cells.grown(OPS["conv"], SAMPLES["conv"][0].operands, 100_000)
        self.assertEqual(w, (3, x[1], 3, 3))  # the window stays, the channels agree

    def test_extents_grow_by_a_whole_number(self):
        gru = op("gru", "NN", "|nn.GRU|GRU|gru", ("x", "r"))
        (x, r) = cells.grown(gru, (cells.Operand(True, "@", (3, 2, 4), ()), cells.Operand(True, "@", (1, 12, 4), ())), 100_000)
        self.assertEqual(r, (1, 3 * x[2], x[2]))

    def test_layouts(self):
        sample = SAMPLES["add"][0]
        texts, order = cells.inputs_of(OPS["add"], first("add", layout="broadcast", size=1000), sample)
        self.assertEqual(order, ["x0", "x1"])
        self.assertIn("'float32', (1, ", texts["x1"])
        self.assertNotIn("'float32', (1, ", texts["x0"])
        strided, _ = cells.inputs_of(OPS["add"], first("add", layout="strided"), sample)
        self.assertTrue(strided["x0"].endswith("True)"))
        middle = first("sum", layout="middle axis", dtype="int32")
        self.assertEqual(cells.attrs_of(OPS["sum"], middle, SAMPLES["sum"][0]),
                         {"axes": [1], "keepdims": True, "dtype": "int32"})

    def test_ops_whose_size_is_an_attribute(self):
        zeros = op("zeros", "CREATION", "zeros|zeros||create", (), (("shape", "ints"), ("dtype", "dtype")))
        self.assertEqual(cells.grown_attrs(zeros, {"shape": [2, 5], "dtype": "float32"}, 1000)["shape"], [1, 1000])
        eye = op("eye", "CREATION", "eye|eye||eye", (), (("rows", "int"), ("columns", "int"), ("axis", "int")))
        self.assertEqual(cells.grown_attrs(eye, {"rows": 3, "columns": 4, "axis": 2}, 100), {"rows": 10, "columns": 10, "axis": 2})
        self.assertIsNone(cells.grown_attrs(OPS["sum"], {"keepdims": True}, 100))
        self.assertEqual(cells.without_dtypes(zeros, {"shape": [2], "dtype": "float32"}), {"shape": [2]})
        self.assertIsNone(cells.without_dtypes(zeros, {"shape": [2]}))

    def test_calls(self):
        cell = first("sum", layout="first axis", dtype="float32")
        attrs = cells.attrs_of(OPS["sum"], cell, SAMPLES["sum"][0])
        self.assertEqual(cells.ours(OPS["sum"], ["x0"], attrs, True, "axis"), "ops.sum(x0, axis=[0], keepdims=True, dtype='float32')")
        self.assertEqual(cells.forms("numpy", OPS["sum"], ["x0"], attrs)[0],
                         "np.sum(x0, axis=0, keepdims=True, dtype=np.float32)")
        self.assertEqual(cells.forms("torch", OPS["sum"], ["x0"], attrs)[0],
                         "torch.sum(x0, dim=0, keepdim=True, dtype=torch.float32)")
        self.assertEqual(cells.forms("torch", OPS["fft"], ["x0"], SAMPLES["fft"][0].attrs)[0], "torch.fft.fft(x0, norm='ortho')")
        self.assertIn("np.fft.fft(x0, axes=(1,))", cells.forms("numpy", {**OPS["fft"], "attributes": OPS["sum"]["attributes"]},
                                                               ["x0"], {"axes": [1]}))
        self.assertEqual(SAMPLES["fft"][1].attrs, {})
        self.assertEqual(cells.functions("torch", "nn.functional.max_pool1d, 2d, 3d"),
                         ["F.max_pool1d", "F.max_pool2d", "F.max_pool3d"])
        self.assertEqual(cells.functions("numpy", "x[mask], special.logsumexp"), ["scipy.special.logsumexp"])
        self.assertEqual(cells.forms("numpy", OPS["conv"], ["x0", "x1"], {}), [])


class Kept(unittest.TestCase):
    def test_a_miss_is_judged_by_the_median(self):
        entry = lambda ratio: {"ns": {"nd4c": 10.0, "numpy": 10.0 * ratio}, "ratios": {"numpy": ratio}}
        self.assertTrue(kept_cells.is_miss(entry(0.96)))
        self.assertFalse(kept_cells.is_miss(entry(0.97)))
        self.assertFalse(kept_cells.is_miss({"why": "refused"}))
        found = kept_cells.judged([entry(0.5), entry(1.1), entry(1.2)])
        self.assertEqual((found["ratios"], found["measured"]), ({"numpy": 1.1}, 3))
        self.assertEqual(kept_cells.best({"ratios": {"numpy": 3.0, "torch": 0.5}}), ("torch", 0.5))

    def test_files_merge(self):
        old = {"a": {"ratios": {"numpy": 1.0}, "date": "2026-01-01"}, "b": {"why": "refused", "date": "2026-03-01"}}
        new = {"a": {"ratios": {"numpy": 2.0}, "date": "2026-02-01"}, "b": {"ratios": {"numpy": 1.0}, "date": "2026-02-01"},
               "c": {"why": "refused", "date": "2026-02-01"}}
        for files in ([old, new], [new, old]):
            self.assertEqual(kept_cells.merge(files), new)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "deep" / "cells.json"
            kept_cells.save(path, new)
            self.assertEqual(kept_cells.load(path), new)
            self.assertEqual(len(path.read_text().splitlines()), 2 + len(new))

    def test_the_page_has_counts_misses_and_reasons(self):
        known = cells.all_cells(OPS, SAMPLES)
        slow, fast = first("add", size=10), first("sum", size=10)
        found = {slow.key(): {"ns": {"nd4c": 2000.0, "numpy": 500.0}, "ratios": {"numpy": 0.25}},
                 fast.key(): {"ns": {"nd4c": 500.0, "torch": 2000.0}, "ratios": {"torch": 4.0}},
                 first("fft").key(): {"why": "numpy: differs by 2"}, "gone float32 contiguous, 10": {"ratios": {"numpy": 0.1}}}
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(every_op_page.write(pathlib.Path(folder), OPS, known, found), 1)
            text = (pathlib.Path(folder) / "every-op.md").read_text()
            picture = xml.etree.ElementTree.parse(pathlib.Path(folder) / "every-op.svg")
        self.assertIn("3 tried, 2 judged, 1 missed", text)
        self.assertIn(f"| {slow.key()} | 0.250 | numpy | 2 | 0.5 |", text)
        self.assertIn("| fft | numpy: differs by 2 |", text)
        self.assertIn("`norm1`", text)
        self.assertNotIn("gone", text)
        fills = {rect.get("fill") for rect in picture.iter("{http://www.w3.org/2000/svg}rect")}
        self.assertTrue({every_op_page.colour(0.25), every_op_page.colour(4.0), "#eeeeee"} <= fills)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The names of mutants, and the file of those that are no errors, on planted sites and lines.
Usage: check_mutant_names.py SOURCE_DIR"""

import pathlib
import sys
import unittest

source = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(source / "tests/planted"))
import mutant_names
from mutant_names import Site, key_of, number, read_equivalent, stale

HEAD = "What the lines are, as 'text # reason'.\n\n"


def site(start, function="f", original="0", changed="(0 + 1)", kind="number"):
    return Site("a.c", start, start + len(original), start, function, kind, original, changed, False)


class Names(unittest.TestCase):
    def test_alike(self):
        for sites, expected in (
                ([site(5)], ["a.c | f | number | 0 -> (0 + 1)"]),
                ([site(9), site(5)], ["a.c | f | number | 0 -> (0 + 1) | 1 of 2", "a.c | f | number | 0 -> (0 + 1) | 2 of 2"]),
                ([site(5), site(9, "g")], ["a.c | f | number | 0 -> (0 + 1)", "a.c | g | number | 0 -> (0 + 1)"]),
                ([site(5), site(5, kind="index", changed="0"), site(9, original="0 ")],
                 ["a.c | f | index | 0 -> 0", "a.c | f | number | 0 -> (0 + 1) | 1 of 2",
                  "a.c | f | number | 0 -> (0 + 1) | 2 of 2"]),
                ([site(5, original="x =\n    y;", changed="", kind="statement")], ["a.c | f | statement | x = y; ->"])):
            numbered = number(sites)
            self.assertEqual([key_of(each) for each in numbered], expected)
            self.assertEqual([each.start for each in numbered], sorted(each.start for each in sites))

    def test_lines_excuse_one_site(self):
        """A line excuses its site alone, and none once another site is beside it."""
        known = read_equivalent(HEAD + "a.c | f | number | 0 -> (0 + 1) # one\n")
        self.assertEqual(stale(known, number([site(5)])), [])
        self.assertEqual(stale(known, number([site(5), site(9)])), list(known))
        known = read_equivalent(HEAD + "a.c | f | number | 0 -> (0 + 1) | 2 of 2 # one\n")
        numbered = number([site(5), site(9)])
        self.assertEqual([key_of(each) in known for each in numbered], [False, True])
        self.assertEqual(stale(known, numbered), [])
        self.assertEqual(stale(known, number([site(9)])), list(known))

    def test_lines_are_checked(self):
        for lines in ("a.c | f | number | 0 -> 1\n", "a.c | f | number | 0 -> 1 # \n", " # reason\n", "k # a\nk # b\n"):
            with self.assertRaises(ValueError):
                read_equivalent(HEAD + lines)
        self.assertEqual(read_equivalent(HEAD + "k # a # b\nl # c\n"), {"k": "a # b", "l": "c"})


class Tree(unittest.TestCase):
    """The lines of the tree, as far as text without a parser tells; mutate.py looks for the places themselves."""

    def test_lines(self):
        known = read_equivalent((source / "tests/planted/equivalent.txt").read_text())
        self.assertTrue(known)
        for key in known:
            file = source / mutant_names.file_of(key)
            original = key.split(" | ", 3)[3].split(" ->")[0]
            self.assertIn(original, " ".join(file.read_text().split()), f"{file} has no longer what a line names")


if __name__ == "__main__":
    unittest.main()

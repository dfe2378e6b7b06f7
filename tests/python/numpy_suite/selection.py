"""Reads selection.txt, the written rule about which of NumPy's tests run, and floors.txt."""
import os
import pathlib
import re

from . import standins

_HERE = pathlib.Path(__file__).parent
RULE = _HERE / "selection.txt"
FLOORS = _HERE / "floors.txt"


def _lines(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.partition("  #")[0].strip()
        if line and not line.startswith("#"):
            yield line


class Selection:
    """`file PATH`, `only PATH CLASSES`, `exclude PATTERN`, `parameter PATTERN`: selection.txt explains them."""

    def __init__(self):
        self.files, self.only, excluded, parameters = [], {}, [], []
        for line in _lines(RULE):
            word, rest = line.split(None, 1)
            if word == "file":
                self.files.append(rest)
            elif word == "only":
                path, classes = rest.split(None, 1)
                self.files.append(path)
                self.only[path] = set(classes.split())
            elif word == "exclude":
                excluded.append(rest)
            elif word == "parameter":
                parameters.append(rest)
            else:
                raise ValueError("%s: unknown word %r" % (RULE, word))
        self.excluded = re.compile("|".join("(?:%s)" % one for one in excluded), re.IGNORECASE)
        self.parameters = re.compile("|".join("(?:%s)" % one for one in parameters))

    def takes(self, path, test, parameters):
        """Whether a test, named "Class::test[ids]" with these values of its parameters, is one that counts."""
        if path in self.only and test.partition("::")[0] not in self.only[path]:
            return False
        if self.excluded.search(test):
            return False
        return not any(self.parameters.fullmatch(text) for value in parameters for text in _texts(value))


def _texts(value):
    """What the rule's `parameter` patterns look at: dtypes, their letters and names, types; also inside of tuples."""
    if isinstance(value, (tuple, list)):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, standins.Placeholder):
        yield object.__getattribute__(value, "label")
    elif isinstance(value, type):
        yield value.__name__
    elif type(value).__name__.endswith(("DType", "dtype")) or type(value).__name__ in ("str_", "bytes_", "void", "datetime64",
                                                                                     "timedelta64"):
        yield str(getattr(value, "dtype", value))


def floors():
    """How many tests of each file have to pass."""
    if not FLOORS.exists():
        return {}
    return {path: int(count) for path, count in (line.split()[:2] for line in _lines(FLOORS))}


def unlisted():
    """The files with a floor that selection.txt does not name: their tests would no longer run, and nothing would say so."""
    return sorted(set(floors()) - set(Selection().files))


def write_floors(counts):
    """counts: {path: (passed, total)}; files that were not run keep their floor, those that are not selected lose it."""
    gone = unlisted()
    rows = {path: floor for path, floor in floors().items() if path not in gone}
    rows.update({path: passed for path, (passed, total) in counts.items()})
    text = "# Tests of each of NumPy's files that have to pass; scripts/numpy-tests --update writes this.\n"
    FLOORS.write_text(text + "".join("%s %d\n" % row for row in sorted(rows.items())), encoding="utf-8")


def listed(path):
    """The path of the selected file that a user named: with or without its folder or ending."""
    name = os.fspath(path)
    found = [one for one in Selection().files if one == name or one.endswith("/" + name) or
             name in (one.rpartition("/")[2], one.rpartition("/test_")[2].partition(".")[0])]
    if not found:
        raise ValueError("%s is none of the files of %s" % (path, RULE))
    return found

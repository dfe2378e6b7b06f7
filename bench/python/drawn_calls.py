"""Calls of ops with any dtype, layout and size, drawn from the op table as bench/every_op draws its cells, with nd4c's side only:
bench/python/contention.py measures them. A new op appears by itself."""
import functools
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "tests" / "tools")]  # last: tests/tools has another nd4c
MOST = 1_000_000  # elements: beside sixteen processes a larger call would take seconds


@functools.cache
def table(program):
    """The ops by name, and their samples."""
    import cells

    ops = {op["name"]: op for op in json.loads(subprocess.run([program, "ops", "--json"], check=True, capture_output=True).stdout)}
    return ops, cells.read_samples((ROOT / "tools/cli/selftest.txt").read_text(encoding="utf-8"), ops)


def program():
    """The program `nd4c` of the build that the package belongs to."""
    import nd4c

    return str(pathlib.Path(nd4c.__file__).parents[2] / "bin" / "nd4c")


def draw(seed, count):
    """So many cells that nd4c takes, as texts; equal seeds give equal ones."""
    import cells

    ops, samples = table(program())
    known = [cell for cell in cells.all_cells(ops, samples) if cell.size <= MOST]
    found = []
    for cell in cells.draw(known, seed, len(known)):
        if len(found) == count:
            break
        try:
            make(cell)
        except Exception:  # the sample has no such dtype or size
            continue
        found.append("%s|%s|%s|%d" % (cell.op, cell.dtype, cell.layout, cell.size))
    return found


def parse(text):
    import cells

    op, dtype, layout, size = text.split("|")
    return cells.Cell(op, dtype, layout, int(size))


def make(cell):
    """A function that makes the cell's call, which has been made once."""
    import cells
    import nd4c
    import nd4c.ops
    import rows

    ops, samples = table(program())
    op = ops[cell.op]
    sample = cells.sample_for(op, cell, samples[cell.op])
    attrs = cells.attrs_of(op, cell, sample)
    larger = cells.grown_attrs(op, attrs, cell.size)
    told = None
    for grow, used in ((True, attrs), (True, cells.without_dtypes(op, attrs)), (False, larger), (True, larger)):
        for axes in ("axis", "axes") if used and "axes" in used else ("axes",):
            if used is None:
                continue
            inputs, order = cells.inputs_of(op, cell, sample, grow)
            row = rows.Row(cell.key(), inputs, cells.ours(op, order, used, True, axes))
            data = rows.make_inputs(row)
            if not cells.is_near(max([cell.size // cells.FAR, *(math.prod(each.shape) for each in data.values())]), cell.size):
                continue
            names = {"ops": nd4c.ops, **{name: nd4c.asarray(each, copy=False) for name, each in data.items()}}
            call = eval("lambda: " + row.nd4c, names)
            try:
                call()
            except Exception as error:
                told = error
                continue
            return call
    raise told or ValueError(f"{cell.key()}: no sample has this size")

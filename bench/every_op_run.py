"""Measures cells (bench/cells.py) in the workers of bench/compare: one process a library, in turns. bench/every_op calls it."""

import math

import cells
import kept_cells
import nd4c  # tests/tools/nd4c.py
import rows
import running
import worker

LIMIT_S = 20  # for one answer of a worker: a call that takes longer is not judged
VIEW_NS = 1000  # as many elements as a loop in C is timed with cannot be computed in less
AGAIN = 2  # how often a miss is measured once more
TOLERANCES = {"bfloat16": 2e-2, "float16": 4e-3, "float32": 1e-4, "complex64": 1e-4}


class NotJudged(Exception):
    pass


class CellRunner(running.Runner):
    """workers["nd4c"] is the package's process or that of the loops in C, as the cell asks."""

    def __init__(self, build, ops, samples):
        super().__init__(build, ["nd4c", *cells.PEERS], rounds=7, seconds=0.5)
        if "nd4c" in self.absent:
            raise SystemExit(f"bench/every_op: {self.absent['nd4c']}")
        self.ops, self.samples, self.forms = ops, samples, {}
        self.sides = {False: self.workers["nd4c"], True: worker.Worker("package", nd4c.find_library(build), build)}
        if isinstance(self.sides[True].state, Exception):
            raise SystemExit(f"bench/every_op: {self.sides[True].state}")
        for each in (*self.workers.values(), *self.sides.values()):
            each.limit = LIMIT_S

    def revive(self):
        for python, each in self.sides.items():
            if each.process.poll() is not None:
                self.sides[python] = each.again()
        self.workers.pop("nd4c")
        super().revive()

    def close(self):
        self.workers.pop("nd4c", None)
        super().close()
        for each in self.sides.values():
            each.close()

    def variants(self, cell):
        """Ways to give the cell its size, each nd4c's call as a row with what the peers' calls are made from: larger operands,
        or larger attributes, such as the shape of what is created."""
        op = self.ops[cell.op]
        sample = cells.sample_for(op, cell, self.samples[cell.op])
        attrs = cells.attrs_of(op, cell, sample)
        larger, plain = cells.grown_attrs(op, attrs, cell.size), cells.without_dtypes(op, attrs)
        python = cell.size < cells.FROM_PYTHON
        for grow, used in ((True, attrs), (True, plain), (False, larger), (True, larger)):
            for axes in ("axis", "axes") if python and used and "axes" in used else ("axes",):
                if used is not None:
                    inputs, order = cells.inputs_of(op, cell, sample, grow)
                    yield rows.Row(cell.key(), inputs, cells.ours(op, order, used, python, axes), into=False,
                                   tolerance=TOLERANCES.get(cell.dtype, 1e-6),
                                   check="shape" if op["category"] == "RANDOM" else "close"), order, used

    def ready(self, row, peer):
        """The first part of a row's result in that worker; raises RuntimeError."""
        each = self.workers[peer]
        if each.process.poll() is not None:
            raise RuntimeError("the process has ended")
        return each.ask("prepare", row)[0]

    def prepare_ours(self, cell):
        """The first variant that nd4c takes and that has the cell's size, with nd4c's result."""
        why = "no sample"
        for row, order, attrs in self.variants(cell):
            try:
                wanted = self.ready(row, "nd4c")
            except RuntimeError as error:
                why = f"nd4c: {running.shortened(error)}"
                if self.workers["nd4c"].process.poll() is not None:
                    break
                continue
            largest = max([math.prod(wanted[0]), *(each.size for each in rows.make_inputs(row).values())])
            if cells.is_near(largest, cell.size):
                return row, order, attrs, wanted
            why = f"the largest operand has {largest} elements"
        raise NotJudged(why)

    def find_form(self, cell, row, order, attrs, peer, wanted):
        """Makes the peer ready with the first form that gives nd4c's result; "" or why there is none."""
        op, told = self.ops[cell.op], ""
        known = (cell.op, peer, cell.layout in cells.AXES)
        texts = cells.forms(peer, op, order, attrs)
        if known in self.forms:  # the place of the form that fitted another cell comes first
            texts.sort(key=lambda text: text.split("(")[0] != self.forms[known])
        for text in texts:
            setattr(row, peer, text)
            try:
                why = running.difference(row, wanted, self.ready(row, peer))
            except RuntimeError as error:
                why = running.shortened(error)
                if self.workers[peer].process.poll() is not None:
                    return why
            if not why:
                self.forms[known] = text.split("(")[0]
                return ""
            told = told or f"{text}: {why}"
        return told or "the op table names no function of it"

    def is_view(self, cell, row):
        """Whether nd4c computes nothing for the call."""
        if cell.size < cells.FROM_PYTHON:
            return self.workers["nd4c"].ask("is_view", cell.key())
        return running.time_once(self.workers["nd4c"], row) < VIEW_NS

    def prepare_cell(self, cell):
        row, order, attrs, wanted = self.prepare_ours(cell)
        refused = {peer: self.find_form(cell, row, order, attrs, peer, wanted) for peer in cells.PEERS if peer in self.workers}
        if not self.is_view(cell, row):
            for peer in [peer for peer, why in refused.items() if not why]:
                if self.workers[peer].ask("is_view", cell.key()):
                    refused[peer] = "it gives a view"
        found = {"ready": ["nd4c", *(peer for peer, why in refused.items() if not why)], "refused": {}, "wrong": {}}
        if len(found["ready"]) == 1:
            raise NotJudged("; ".join(f"{peer}: {why[:120]}" for peer, why in refused.items()))
        return row, found

    def forget(self, cell):
        """Frees what the processes hold for the cell; one that has ended holds nothing."""
        for each in self.workers.values():
            if each.process.poll() is None:
                try:
                    each.ask("drop", cell.key())
                except RuntimeError:
                    each.close()

    def judge(self, cell):
        """The cell's entry (kept_cells.py)."""
        self.revive()
        self.workers["nd4c"] = self.sides[cell.size < cells.FROM_PYTHON]
        row, measurements = None, []
        try:
            row, found = self.prepare_cell(cell)
            for _ in range(1 + AGAIN):
                measurements.append(dict(self.measure(row, found)))
                if not kept_cells.is_miss(measurements[-1]):
                    break
        except NotJudged as error:
            return {"why": str(error)}
        except RuntimeError as error:
            return {"why": f"nd4c: {running.shortened(error)}"}
        finally:
            self.forget(cell)
        return kept_cells.judged(measurements)

"""Writes docs/reference/performance.md, performance-rows.md and their pictures from what bench/compare has kept."""

import ctypes
import math
import os
import platform

import performance_pictures
import running

TOLERANCE = 0.97  # a bar is met from this part of it on
DISTURBED = 0.1  # part of the processors that others had meanwhile
UNSTEADY = 1.1  # factor between the ratio of the medians and the median of the ratios, from which a row is not judged
FROM_MEMORY = 32 << 20  # bytes that a call must move for the memory to be its limit


def machine_lines(library, threads):
    """The processor, nd4c's engines, the scheduling; of this process and moment."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    library.c.nd4c_backend_engine.restype = library.c.nd4c_backend_engine_state.restype = ctypes.c_char_p
    engines, index = [], 0
    while (engine := library.c.nd4c_backend_engine(b"cpu", index)) is not None:
        state = library.c.nd4c_backend_engine_state(b"cpu", index, ctypes.c_bool(True)).decode()
        engines.append(f"{engine.decode()}: {state.split(', /')[0].split('; warning')[0]}")
        index += 1
    policy = {os.SCHED_OTHER: "ordinary", os.SCHED_FIFO: "real-time (first in, first out)",
              os.SCHED_RR: "real-time (round robin)"}.get(os.sched_getscheduler(0), "another")
    yield f"{model}, {os.cpu_count()} processors; {threads} threads each; {platform.system()} {platform.release()}"
    yield "; ".join(engines)
    yield f"scheduling: {policy}; load average of the machine {os.getloadavg()[0]:.1f}"


class Line:
    """One row with what was found, judged."""

    def __init__(self, row, found, limits):
        self.row, self.found, self.limits = row, found, limits
        self.best, self.ratio = running.best(found)
        self.ours = found["ns"].get("nd4c")
        compared = [peer for peer in found["ns"] if peer != "nd4c"]
        self.wrong = bool(compared) and all(peer in found["wrong"] for peer in compared)
        refused = "nd4c" in found["refused"]
        times = found["ns"].get(self.best, 0) / self.ours if self.ours else 0
        self.steady = not self.ratio or 1 / UNSTEADY <= times / self.ratio <= UNSTEADY
        self.judged = row.bar is not None and (self.ratio is not None or refused or self.wrong) and self.steady
        right = self.judged and not refused and not self.wrong
        self.met = right and self.ratio >= row.bar * TOLERANCE
        self.reaches = right and self.ratio >= row.bar

    def ratio_text(self):
        """Nothing for an unsteady row: the times beside it would contradict any number."""
        return f"{self.ratio:.2f}" if self.ratio and self.steady else ""

    def limit(self):
        """Nanoseconds that the machine needs at least, None: no limit is known."""
        row, bounds = self.row, []
        if row.flops and self.limits.get(row.peak):
            bounds.append(row.flops / self.limits[row.peak])
        read, written = self.found["moved"] or (0, 0)
        if read + written >= FROM_MEMORY:
            kind = "read" if written * 10 < read else "copy"
            bounds.append((read + written) / max(self.limits[kind], 1e-9))
        return max(bounds, default=None)

    def rate(self):
        if not self.ours:
            return ""
        if self.row.flops:
            return f"{self.row.flops / self.ours:.0f} GFLOP/s"
        moved = sum(self.found["moved"] or (0, 0))
        return f"{moved / self.ours:.3g} GB/s" if moved >= FROM_MEMORY else ""

    def reached(self):
        limit = self.limit()
        return f"{100 * limit / self.ours:.0f} %" if limit and self.ours else ""

    def verdict(self):
        if "nd4c" in self.found["refused"]:
            return "**refused**"
        if not self.steady:
            return "unsteady"
        text = "**wrong**" if self.wrong else "" if not self.judged else "met" if self.met else "**missed**"
        return text + (" (disturbed)" if self.found.get("disturbed", 0) > DISTURBED else "")


def duration(nanoseconds):
    for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if nanoseconds < limit:
            return f"{nanoseconds / divisor:.3g} {unit}" if nanoseconds < 999.5 * divisor else f"{nanoseconds / divisor:.0f} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def bar_text(row):
    if row.bar is None:
        return ""
    return f">= {row.bar:g}" if row.bar in (0.9, 1.0) else f">= {row.bar:.2f}"


def mean(lines):
    ratios = [line.ratio for line in lines if line.ratio and line.steady]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def cell(line, peer):
    found = line.found
    if peer in found["ns"]:
        time = duration(found["ns"][peer])
        return (f"**{time}**" if peer == line.best and line.ratio_text() else time) + (" (differs)" if peer in found["wrong"] else "")
    return "refused" if peer in found["refused"] else ""


def group_lines(group, lines, data):
    peers = [peer for peer in running.PEERS if any(peer in line.found["ns"] or peer in line.found["refused"]
                                                   for line in lines)]
    yield from (f"## {group.title}", "", group.text, "")
    average = mean(lines)
    if average is not None:
        bar = f", bar {group.mean:g}: {'met' if average >= group.mean * TOLERANCE else '**missed**'}" if group.mean else ""
        yield from (f"Geometric mean of the ratios: {average:.2f}{bar}.", "")
    yield "| what | " + " | ".join(running.PEERS[peer] for peer in peers) + " | rate | of the limit | ratio | bar | |"
    yield "|---" * (len(peers) + 6) + "|"
    for line in lines:
        yield (f"| {line.row.name} | " + " | ".join(cell(line, peer) for peer in peers) +
               f" | {line.rate()} | {line.reached()} | {line.ratio_text()} | {bar_text(line.row)} | {line.verdict()} |")
    yield ""
    limits = ", ".join(f"{name} {value:.4g}" for name, value in data["limits"].items())
    yield from (f"Limits in this run (GB/s and, by dtype, GFLOP/s): {limits}.", "")


def missed_lines(groups):
    yield from ("## What misses its bar", "", "| group | what | nd4c | best peer | ratio | bar |", "|---|---|---|---|---|---|")
    for group, lines in groups:
        for line in sorted((line for line in lines if line.judged and not line.met), key=lambda line: line.ratio or 0):
            peer = f"{running.PEERS[line.best]} {duration(line.found['ns'][line.best])}" if line.best else ""
            ours = duration(line.ours) if line.ours else "refused: " + line.found["refused"]["nd4c"][:80]
            yield f"| {group.name} | {line.row.name} | {ours} | {peer} | {line.ratio_text()} | {bar_text(line.row)} |"
    yield ""


def summary_lines(groups):
    yield from ("| group | rows | bars met | geometric mean | its bar |", "|---|---|---|---|---|")
    for group, lines in groups:
        judged, average = [line for line in lines if line.judged], mean(lines)
        text = "" if average is None else f"{average:.2f}"
        yield (f"| {group.title} | {len(lines)} of {len(group.rows)} | {sum(line.met for line in judged)} of {len(judged)} | "
               f"{text} | {group.mean or ''} |")
    yield ""


def machines_line(kept):
    """The machine, or each of several and the groups that were measured on it."""
    said = {}
    for group, data in kept:
        said.setdefault(data["machine"][0], []).append(group.title)
    if len(said) == 1:
        return [f"The machine: {next(iter(said))}."]
    return ["The machines:", "", *(f"- {machine}. Groups: {'; '.join(titles)}" for machine, titles in said.items())]


def run_lines(kept):
    """What the groups were measured on; equal lines once."""
    yield from ("## The machine and the runs", "")
    said = {}
    for group, data in kept:
        versions = ", ".join(version for peer, version in data["versions"].items() if peer != "nd4c")
        absent = ", ".join(running.PEERS[peer] for peer in data["absent"]) or "none"
        for text in (*data["machine"][:2], f"peers: {versions}; absent: {absent}", data["machine"][2]):
            said.setdefault(text, []).append(group.name)
    for text, names in said.items():
        yield f"- {text}" + (f" ({', '.join(names)})" if len(names) < len(kept) else "")
    dates = sorted({row.get("date", "") for _, data in kept for row in data["rows"].values()} - {""})
    rounds = sorted({row.get("rounds", 0) for _, data in kept for row in data["rows"].values()} - {0})
    if dates:
        yield f"- {dates[0]} to {dates[-1]}; {rounds[0]} to {rounds[-1]} rounds in turns, each beginning with another"
    yield ""


HEAD = """# Performance

How long nd4c takes, beside the libraries that people use today. One row from each of ten groups, on the machine
named below, with two threads each. A bar is the time that a library takes, where nd4c takes 1: shorter is faster.

![Times of ten kinds of work, beside nd4c's](performance.svg)
"""

HOW = """A ratio is the best peer's time divided by nd4c's: above 1, nd4c is faster. It is the median over the rounds, in which the
libraries take turns. A bar says "at or above 1", and counts as met from {tolerance} on: two runs of one program differ by as
much. The count of rows that reach the whole bar stands beside it. [Every row](performance-rows.md) is listed with all times, and
[Measure speed](../how-to/measuring.md) says how to repeat the measurement."""

ROWS_HEAD = """# Performance, every row

Written by `bench/compare`, as is [the first page](performance.md). It runs nd4c and its peers in turns, with two threads each.
Every library has a process of its own, which is stopped between its turns. A ratio is the best peer's time divided by nd4c's,
as the median over the rounds: above 1, nd4c is faster. The best peer is the one with the least ratio; its time is in bold. A
bar is met if the ratio is at least {tolerance} times the bar. A row is unsteady if that median and the ratio of the two times
differ by more than {unsteady:.0f} %: other work disturbed it. It has no ratio and counts neither as met nor in a mean. nd4c is called from C; NumPy, PyTorch and the runtimes are called from Python, as their
users call them. Models run through each runtime's own interface, with bound inputs and outputs. OpenVINO runs only models, so
it takes part only in rows that run a model in nd4c, too. Results are compared: a peer whose result differs does not count.
`bench/groups` says what is timed, and the figures are in `docs/reference/performance`. "Of the limit" compares nd4c's time with
the time that the bytes or multiply-adds of the call would take at the rates measured in the same run: 100 % is the limit. It is
more than 100 % if caches hold data that the limit assumes to be in memory. Rows marked disturbed shared the machine with other
work for more than a tenth of its processors. Whether one build of nd4c is slower than another one is measured by
`bench/compare --against` ([Measure speed](../how-to/measuring.md))."""


def first_lines(groups):
    """The row that stands for each group: its words and its line."""
    for group, lines in groups:
        if group.first:
            name, words = group.first
            yield from ((words, line) for line in lines if line.row.name == name)


def first_table(groups):
    yield from ("| what | nd4c | best peer | ratio |", "|---|---|---|---|")
    for words, line in first_lines(groups):
        peer = f"{running.PEERS[line.best]} {duration(line.found['ns'][line.best])}" if line.best else ""
        yield f"| {words} | {duration(line.ours) if line.ours else 'refused'} | {peer} | {line.ratio_text() or line.verdict()} |"
    yield ""


def count_line(groups):
    lines = [line for _, lines in groups for line in lines]
    judged, unsteady = [line for line in lines if line.judged], sum(not line.steady for line in lines)
    return (f"**{sum(line.met for line in judged)} of {len(judged)} bars are met**, from {TOLERANCE:g} of a bar on; "
            f"{sum(line.reaches for line in judged)} rows reach the whole bar. " +
            (f"{unsteady} more rows were unsteady and are not judged." if unsteady else "")).rstrip()


def first_page(groups, kept):
    """For people: ten rows, one picture, the groups."""
    return [HEAD, *first_table(groups), *machines_line(kept), "", HOW.format(tolerance=TOLERANCE), "", "## Groups", "",
            count_line(groups), "", *summary_lines(groups)]


def rows_page(groups, kept):
    """Every row."""
    out = [ROWS_HEAD.format(tolerance=TOLERANCE, unsteady=100 * (UNSTEADY - 1)), "", count_line(groups), "",
           "![Ratios of all comparisons](performance-rows.svg)", ""]
    if any(line.judged and not line.met for _, lines in groups for line in lines):
        out += missed_lines(groups)
    for (group, lines), (_, data) in zip(groups, kept):
        out += group_lines(group, lines, data)
    return out + list(run_lines(kept))


def pages(kept):
    """kept: pairs of Group and the group's JSON. Returns the text of each file by name, and how many bars are missed."""
    kept = [(group, data) for group, data in kept if data["rows"]]
    groups = [(group, [Line(row, data["rows"][row.name], data["limits"]) for row in group.rows if row.name in data["rows"]])
              for group, data in kept]
    averages = [(group, lines, mean(lines)) for group, lines in groups]
    files = {"performance.md": "\n".join(first_page(groups, kept)).rstrip() + "\n",
             "performance-rows.md": "\n".join(rows_page(groups, kept)).rstrip() + "\n",
             "performance.svg": performance_pictures.bars(list(first_lines(groups))),
             "performance-rows.svg": performance_pictures.lanes(averages)}
    return files, sum(line.judged and not line.met for _, lines in groups for line in lines)


def write(folder, kept):
    """Returns how many bars are missed."""
    files, missed = pages(kept)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return missed

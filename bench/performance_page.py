"""Writes docs/reference/performance.md and its picture from what bench/compare has kept."""

import ctypes
import math
import os
import platform
from xml.sax.saxutils import escape

import running

TOLERANCE = 0.97  # a bar is met from this part of it on
DISTURBED = 0.1  # part of the processors that others had meanwhile
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
        self.best, self.ratio = running.best(row, found)
        self.ours = found["ns"].get("nd4c")
        compared = [peer for peer in found["ns"] if peer != "nd4c"]
        self.wrong = bool(compared) and all(peer in found["wrong"] for peer in compared)
        refused = "nd4c" in found["refused"]
        self.judged = row.bar is not None and (self.ratio is not None or refused or self.wrong)
        self.met = self.judged and not refused and not self.wrong and self.ratio >= row.bar * TOLERANCE

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
    ratios = [line.ratio for line in lines if line.ratio]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def cell(line, peer):
    found = line.found
    if peer in found["ns"]:
        return duration(found["ns"][peer]) + (" (differs)" if peer in found["wrong"] else "")
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
        ratio = f"{line.ratio:.2f}" if line.ratio else ""
        yield (f"| {line.row.name} | " + " | ".join(cell(line, peer) for peer in peers) +
               f" | {line.rate()} | {line.reached()} | {ratio} | {bar_text(line.row)} | {line.verdict()} |")
    yield ""
    limits = ", ".join(f"{name} {value:.4g}" for name, value in data["limits"].items())
    yield from (f"Limits in this run (GB/s and, by dtype, GFLOP/s): {limits}.", "")


def picture(groups):
    """A lane a group: each row a dot on a logarithmic axis, the geometric mean a line."""
    left, width, top, lane = 150, 900, 56, 46
    height = top + lane * len(groups) + 36
    low, high = math.log2(1 / 16), math.log2(32)
    at = lambda ratio: left + (min(max(math.log2(ratio), low), high) - low) / (high - low) * (width - left - 70)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           '<text x="16" y="24" font-size="16" fill="#1a1a1a">Time of the best peer / time of nd4c</text>',
           '<text x="16" y="42" fill="#555555">a dot: one row, right of 1 nd4c is faster; orange: below its bar; a line: the '
           "geometric mean</text>"]
    for power in range(-4, 6):
        x, colour = at(2.0**power), "#666666" if power == 0 else "#dddddd"
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 28}" stroke="{colour}"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle" fill="#555555">{2.0**power:g}</text>')
    for number, (group, lines) in enumerate(groups):
        y = top + lane * number
        out.append(f'<text x="16" y="{y + lane / 2 + 4:.0f}" fill="#1a1a1a">{escape(group.name)}</text>')
        rated = sorted((line for line in lines if line.ratio), key=lambda line: line.ratio)
        for place, line in enumerate(rated):
            colour = "#9aa7b4" if not line.judged else "#2f8f83" if line.met else "#d9663b"
            out.append(f'<circle cx="{at(line.ratio):.1f}" cy="{y + 10 + (place * 7) % (lane - 18):.1f}" r="3" fill="{colour}" '
                       f'fill-opacity="0.75"><title>{escape(line.row.name)}: {line.ratio:.2f}</title></circle>')
        average = mean(lines)
        if average:
            x = at(average)
            out.append(f'<line x1="{x:.1f}" y1="{y + 4}" x2="{x:.1f}" y2="{y + lane - 4}" stroke="#000000" stroke-width="2"/>')
            out.append(f'<text x="{width - 50}" y="{y + lane / 2 + 4:.0f}" fill="#1a1a1a">{average:.2f}</text>')
    return "\n".join(out + ["</svg>", ""])


def missed_lines(groups):
    yield from ("## What misses its bar", "", "| group | what | nd4c | best peer | ratio | bar |", "|---|---|---|---|---|---|")
    for group, lines in groups:
        for line in sorted((line for line in lines if line.judged and not line.met), key=lambda line: line.ratio or 0):
            peer = f"{running.PEERS[line.best]} {duration(line.found['ns'][line.best])}" if line.best else ""
            ours = duration(line.ours) if line.ours else "refused: " + line.found["refused"]["nd4c"][:80]
            ratio = f"{line.ratio:.2f}" if line.ratio else ""
            yield f"| {group.name} | {line.row.name} | {ours} | {peer} | {ratio} | {bar_text(line.row)} |"
    yield ""


def summary_lines(groups):
    yield from ("| group | rows | bars met | geometric mean | its bar |", "|---|---|---|---|---|")
    for group, lines in groups:
        judged, average = [line for line in lines if line.judged], mean(lines)
        text = "" if average is None else f"{average:.2f}"
        yield (f"| {group.title} | {len(lines)} of {len(group.rows)} | {sum(line.met for line in judged)} of {len(judged)} | "
               f"{text} | {group.mean or ''} |")
    yield ""


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

Written by `bench/compare`. It runs nd4c and its peers in turns, with two threads each. Every library has a process of its
own, which is stopped between its turns. A ratio is the best peer's time divided by nd4c's, as the median over the rounds:
above 1, nd4c is faster. A bar is met if the ratio is at least 0.97 times the bar. nd4c is called from C; NumPy, PyTorch and
the runtimes are called from Python, as their users call them. Models run through each runtime's own interface, with bound
inputs and outputs. OpenVINO runs only models, so it takes part only in rows that run a model in nd4c, too. Results are
compared: a peer whose result differs does not count. `bench/groups` says what is timed, and the figures are in
`docs/reference/performance`. "Of the limit" compares nd4c's time with the time that the bytes or multiply-adds of the call
would take at the rates measured in the same run: 100 % is the limit. It is more than 100 % if caches hold data that the
limit assumes to be in memory. Rows marked disturbed shared the machine with other work for more than a tenth of its
processors. Whether one build of nd4c is slower than another one is measured by `bench/compare --against`
([Measure speed](../how-to/measuring.md))."""


def write(folder, kept):
    """kept: pairs of Group and the group's JSON. Returns how many bars are missed."""
    kept = [(group, data) for group, data in kept if data["rows"]]
    groups = [(group, [Line(row, data["rows"][row.name], data["limits"]) for row in group.rows if row.name in data["rows"]])
              for group, data in kept]
    judged = [line for _, lines in groups for line in lines if line.judged]
    met = sum(line.met for line in judged)
    out = [HEAD, "", f"**{met} of {len(judged)} bars are met.**", "", *summary_lines(groups),
           "![Ratios of all comparisons](performance.svg)", ""]
    if met < len(judged):
        out += missed_lines(groups)
    for (group, lines), (_, data) in zip(groups, kept):
        out += group_lines(group, lines, data)
    out += run_lines(kept)
    (folder / "performance.md").write_text("\n".join(out), encoding="utf-8")
    (folder / "performance.svg").write_text(picture(groups), encoding="utf-8")
    return len(judged) - met

"""Writes docs/performance.md and its picture from what bench/compare measured."""

import ctypes
import datetime
import math
import os
import platform
import resource
from importlib import metadata
from xml.sax.saxutils import escape

GROUPS = {
    "dispatch": "Small calls: nd4c is called in a loop of C, NumPy in a loop of Python, as their users call them.",
    "element-wise": "10^7 elements. The peers are NumPy and a loop written by hand with streaming stores "
                    "(`bench/limits.c`), on as many threads as nd4c.",
    "GEMM": "Square matrices. The peers are OpenBLAS and oneDNN called directly, with their own choice of kernels.",
    "models": "Batch 1, single precision. The nine networks of the package onnx with seeded random weights, and an encoder "
              "of BERT-base's shape at 128 words (`tests/tools/make_models.py`). The peer is ONNX Runtime.",
}


def page_faults():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt + usage.ru_majflt


def duration(nanoseconds):
    for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if nanoseconds < limit:
            return f"{nanoseconds / divisor:.3g} {unit}" if nanoseconds / divisor < 1000 else f"{nanoseconds / divisor:.0f} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def verdict(row):
    if row.wrong:
        return "**missed** (wrong)"
    return {None: "", True: "met", False: "**missed**"}[row.passed]


def machine_lines(limits, library, rounds, threads):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    library.c.nd4c_backend_engine.restype = library.c.nd4c_backend_engine_state.restype = ctypes.c_char_p
    engines, index = [], 0
    while (engine := library.c.nd4c_backend_engine(b"cpu", index)) is not None:
        state = library.c.nd4c_backend_engine_state(b"cpu", index, ctypes.c_bool(True)).decode()
        engines.append(f"{engine.decode()}: {state.split(', /')[0].split('; warning')[0]}")
        index += 1
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "ml_dtypes", "onnxruntime", "onnx"))
    policy = {os.SCHED_OTHER: "ordinary", os.SCHED_FIFO: "real-time (first in, first out)",
              os.SCHED_RR: "real-time (round robin)"}.get(os.sched_getscheduler(0), "another")
    load = os.getloadavg()[0]
    yield f"- {model}, {os.cpu_count()} processors; {threads} threads each; {platform.system()} {platform.release()}"
    yield f"- {'; '.join(engines)}"
    yield f"- {packages}"
    yield (f"- {datetime.date.today()}; {rounds} rounds in turns, each beginning with another; scheduling: {policy}; load "
           f"average of the machine {load:.1f}")
    yield "- limits measured in this run: " + "; ".join(f"{name} {value:.1f}" for name, value in limits.items())


def picture(rows):
    """Bars of all ratios on a logarithmic axis, each with a mark where its bar lies."""
    left, right, top, step, width = 300, 70, 56, 22, 900
    shown = sorted({row.group for row in rows}, key=list(GROUPS).index)
    height = top + step * (len(rows) + len(shown)) + 40
    largest = max(8.0, max(row.ratio for row in rows))
    low, high = math.log2(0.25), math.log2(largest) + 0.1
    at = lambda ratio: left + (max(math.log2(max(ratio, 0.25)), low) - low) / (high - low) * (width - left - right)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           '<text x="16" y="24" font-size="16" fill="#1a1a1a">Time of the best peer / time of nd4c</text>',
           '<text x="16" y="42" fill="#555555">right of 1: nd4c is faster; a black mark: where the bar lies</text>']
    tick = 0.25
    while tick <= largest * 1.05:
        x = at(tick)
        colour = "#666666" if tick == 1 else "#dddddd"
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 28}" stroke="{colour}"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle" fill="#555555">{tick:g}</text>')
        tick *= 2
    y = top
    for group in shown:
        out.append(f'<text x="16" y="{y + 15}" font-weight="bold" fill="#1a1a1a">{escape(group)}</text>')
        y += step
        for row in (row for row in rows if row.group == group):
            colour = {None: "#9aa7b4", True: "#2f8f83", False: "#d9663b"}[row.passed]
            begin, end = sorted((at(1), at(row.ratio)))
            out.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end" fill="#1a1a1a">{escape(row.name)}</text>')
            out.append(f'<rect x="{begin:.1f}" y="{y + 4}" width="{max(end - begin, 1):.1f}" height="{step - 8}" '
                       f'fill="{colour}"/>')
            if row.bar is not None:
                x = at(row.bar)
                out.append(f'<line x1="{x:.1f}" y1="{y + 1}" x2="{x:.1f}" y2="{y + step - 1}" stroke="#000000" '
                           'stroke-width="2"/>')
            out.append(f'<text x="{max(end, at(row.bar or 0)) + 6:.1f}" y="{y + 15}" fill="#1a1a1a">'
                       f"{row.ratio:.2f}</text>")
            y += step
    return "\n".join(out + ["</svg>", ""])


def write(folder, rows, limits, library, rounds, threads):
    told = [row for row in rows if row.passed is not None]
    met = sum(row.passed for row in told)
    lines = ["# Performance", "",
             "Written by `bench/compare`, which runs nd4c and its peers in turns in one process. A ratio is the median over "
             "the rounds of the best peer's time divided by nd4c's: above 1, nd4c is faster. \"At or above\" holds from 0.97 "
             "on.", "", f"**{met} of {len(told)} bars are met.**", "",
             "![Ratios of all comparisons](performance.svg)", ""]
    for group, text in GROUPS.items():
        lines += [f"## {group[0].upper() + group[1:]}", "", text, "",
                  "| what | nd4c | peers | ratio | bar | |", "|---|---|---|---|---|---|"]
        for row in (row for row in rows if row.group == group):
            peers = ", ".join(f"{who} {duration(value)}" for who, value in row.peers.items())
            note = f" ({row.note})" if row.note else ""
            lines.append(f"| {row.name} | {duration(row.ours)}{note} | {peers} | {row.ratio:.2f} | {row.bar_text} | "
                         f"{verdict(row)} |")
        lines.append("")
    lines += ["## The machine and the run", "", *machine_lines(limits, library, rounds, threads), ""]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "performance.md").write_text("\n".join(lines), encoding="utf-8")
    (folder / "performance.svg").write_text(picture(rows), encoding="utf-8")

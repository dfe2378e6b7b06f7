"""Whether the pages about performance are those that bench/compare makes of the kept figures, whether each row's ratio agrees
with the times beside it, and whether the counts of bars are those of the rows. Measures nothing. CTest runs it; exit code 77 if Python lacks what bench/compare needs."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "tools")]
try:
    import performance_page
    import rows
except ModuleNotFoundError as error:
    print(f"skipped: Python lacks {error.name} (tests/models/requirements.txt)")
    sys.exit(77)

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
HEADS = ["rate", "of the limit", "ratio", "bar", ""]
ROUNDING = 1.02  # of times with three digits and ratios with two decimals
PAGES = ROOT / "docs" / "reference"


def kept(name):
    path = PAGES / "performance" / f"{name}.json"  # a group without figures is not on the page
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": {}}


def current():
    """Names of the files that differ from what the kept figures give."""
    files, _ = performance_page.pages([(rows.load(name), kept(name)) for name in rows.groups()])
    return [name for name, text in files.items() if (PAGES / name).read_text(encoding="utf-8") != text]


def times(cells):
    """Nanoseconds of the cells that say a time of a right result."""
    found = (re.fullmatch(r"\**([0-9.e+]+) (ns|us|ms|s)\**", cell) for cell in cells)
    return [float(match[1]) * UNITS[match[2]] for match in found if match]


def table_rows(text):
    """Cells of each row of the groups' tables, and how many libraries they name."""
    peers = 0
    for line in text.splitlines():
        cells = [cell.strip() for cell in line[1:-1].split("|")] if line.startswith("|") else []
        if cells[-5:] == HEADS:
            peers = len(cells) - 1 - len(HEADS)
        elif not cells:
            peers = 0
        elif peers and not line.startswith("|---"):
            yield peers, cells


def disagreeing(text):
    """Rows whose ratio is not the best peer's time divided by nd4c's, and how many were compared. Reads the text alone."""
    wrong, compared = [], 0
    for peers, cells in table_rows(text):
        ours, ratio, verdict = times(cells[1:2]), cells[-3], cells[-1]
        best = times(cell for cell in cells[2 : 1 + peers] if cell.startswith("**"))
        if (not ratio or verdict.startswith("unsteady")) and not best:
            continue
        compared += 1
        factor = best[0] / ours[0] / float(ratio) if len(best) == 1 and ours and ratio else 0
        most = performance_page.UNSTEADY * ROUNDING
        if not 1 / most <= factor <= most:
            wrong.append(f"{cells[0]}: ratio '{ratio}', times {best} and {ours} ns")
    return wrong, compared


def miscounted(text):
    """What is wrong with the line of counts, by the rows. A ratio is rounded, so a few rows may fall to the other side."""
    said = re.search(r"\*\*(\d+) of (\d+) bars are met\*\*, from ([0-9.]+) of a bar on; (\d+) rows reach", text)
    if said is None:
        return ["the page does not say how many bars are met and reached"]
    bars = [(cells[-1], float(cells[-3] or 0), float(cells[-2].removeprefix(">= "))) for _, cells in table_rows(text)
            if cells[-2] and cells[-1].split(" ")[0] in ("met", "**missed**", "**refused**", "**wrong**")]
    met, close = sum(verdict.startswith("met") for verdict, _, _ in bars), 0.011
    least = sum(verdict.startswith("met") and ratio >= bar + close for verdict, ratio, bar in bars)
    most = sum(verdict.startswith("met") and ratio >= bar - close for verdict, ratio, bar in bars)
    right = (int(said[1]), int(said[2])) == (met, len(bars)) and least <= int(said[4]) <= most
    return [] if right else [f"it says '{said[0]}', but {met} of {len(bars)} are met, and {least} to {most} reach the bar"]


def main():
    failures = [f"{name} is not what the kept figures give: run bench/compare --page" for name in current()]
    wrong, compared = disagreeing((PAGES / "performance-rows.md").read_text(encoding="utf-8"))
    failures += wrong + miscounted((PAGES / "performance-rows.md").read_text(encoding="utf-8"))
    if compared < 400:
        failures.append(f"only {compared} rows were compared, expected at least 400")
    print("\n".join(failures) or f"{compared} ratios agree with their times")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

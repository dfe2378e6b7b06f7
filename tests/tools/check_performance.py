"""Whether the pages about performance are those that bench/compare makes of the kept figures, and whether each row's ratio
agrees with the times beside it. Measures nothing. CTest runs it; exit code 77 if Python lacks what bench/compare needs."""

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
    found = (re.fullmatch(r"([0-9.e+]+) (ns|us|ms|s)", cell) for cell in cells)
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
        ours, theirs, ratio, verdict = times(cells[1:2]), times(cells[2 : 1 + peers]), cells[-3], cells[-1]
        if not ours or not theirs or not ratio or verdict.startswith("unsteady"):
            continue
        compared += 1
        factor = min(theirs) / ours[0] / float(ratio)
        most = performance_page.UNSTEADY * ROUNDING
        # the best peer is the one of the least ratio: another one may have a slightly shorter median
        if not 1 / most**2 <= factor <= most:
            wrong.append(f"{cells[0]}: ratio {ratio}, times {min(theirs):g} and {ours[0]:g} ns")
    return wrong, compared


def main():
    failures = [f"{name} is not what the kept figures give: run bench/compare --page" for name in current()]
    wrong, compared = disagreeing((PAGES / "performance-rows.md").read_text(encoding="utf-8"))
    failures += wrong
    if compared < 400:
        failures.append(f"only {compared} rows were compared, expected at least 400")
    print("\n".join(failures) or f"{compared} ratios agree with their times")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

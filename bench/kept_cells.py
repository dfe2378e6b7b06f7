"""What bench/every_op keeps of cells: a file of JSON, a line a cell, so that files of several runs can be merged.

An entry has `ns` (nanoseconds of a call, by library), `ratios` (time of a peer / time of nd4c, the median of what was
measured), `measured` (how often), `commit` and `date`; or `why`, if the cell is not judged."""

import json
import statistics

LEAST = 0.97  # of the best peer's speed


def best(entry):
    """The best peer and its ratio; None, None for a cell that is not judged."""
    return min(entry.get("ratios", {}).items(), key=lambda item: item[1], default=(None, None))


def is_miss(entry):
    ratio = best(entry)[1]
    return ratio is not None and ratio < LEAST


def judged(measurements):
    """One entry of the measurements of a cell: medians of each library's figures. Only misses have more than one."""
    def median(what):
        names = set.intersection(*(set(each[what]) for each in measurements))
        return {name: float(f"{statistics.median(each[what][name] for each in measurements):.4g}") for name in sorted(names)}

    return {"ns": median("ns"), "ratios": median("ratios"), "measured": len(measurements)}


def load(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(path, found):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(found[key], sort_keys=True)}" for key in sorted(found))
    part = path.with_suffix(".part")
    part.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    part.replace(path)


def merge(files):
    """Cells of several runs: of two entries of a cell the later one, and one that was judged before one that was not."""
    found = {}
    for each in files:
        for key, entry in each.items():
            if key not in found or rank(entry) > rank(found[key]):
                found[key] = entry
    return found


def rank(entry):
    return "ratios" in entry, entry.get("date", "")


def told(key, entry):
    peer, ratio = best(entry)
    if ratio is None:
        return f"{key:52} not judged: {entry['why'][:90]}"
    times = ", ".join(f"{name} {ns / 1e3:.4g}" for name, ns in entry["ns"].items())
    return f"{key:52} {ratio:7.3f}  us: {times}{'  MISS' if is_miss(entry) else ''}"

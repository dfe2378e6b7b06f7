"""The page of bench/every_op: counts, the worst misses, and a heat map of ops and kinds of cells, as Markdown and SVG."""

import html
import math

import cells
import kept_cells

WORST = 100  # misses that the page lists
KINDS = {"floats of 32 and 64 bits": ("float32", "float64"), "floats of 16 bits": ("bfloat16", "float16"),
         "integers": ("int8", "int32", "int64", "uint8"), "bool": ("bool",), "complex": ("complex64", "complex128")}


def column_of(cell):
    kind = next(name for name, dtypes in KINDS.items() if cell.dtype in dtypes)
    return kind, cell.size


COLUMNS = [(kind, size) for kind in KINDS for size in cells.SIZES]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def ratios_by(known, found, key):
    """Key of a cell -> the ratios of its judged cells."""
    result = {}
    for cell in known:
        ratio = kept_cells.best(found.get(cell.key(), {}))[1]
        if ratio is not None:
            result.setdefault(key(cell), []).append(ratio)
    return result


def colour(ratio):
    """White at 1, green above, orange below; full at 4 and at a quarter."""
    share = max(-1.0, min(1.0, math.log2(ratio) / 2))
    end = (47, 143, 131) if share > 0 else (217, 102, 59)
    return "#" + "".join(f"{round(255 + (each - 255) * abs(share)):02x}" for each in end)


def heat_map(names, groups):
    """A row an op, a column a kind of dtypes and a size; the colour is the geometric mean of the cells' ratios."""
    left, top, width, height = 190, 70, 22, 13
    across = left + width * len(COLUMNS) + 12 * len(KINDS)
    down = top + height * len(names) + 12
    at = lambda place: left + place * width + 12 * (place // len(cells.SIZES))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}" '
           'font-family="sans-serif" font-size="10">', f'<rect width="{across}" height="{down}" fill="#ffffff"/>',
           '<text x="10" y="18" font-size="14" fill="#1a1a1a">Time of the best peer / time of nd4c: green above 1, orange '
           "below, grey not judged</text>"]
    for place, (kind, size) in enumerate(COLUMNS):
        if place % len(cells.SIZES) == 0:
            out.append(f'<text x="{at(place)}" y="44" fill="#333333">{html.escape(kind)}</text>')
        told = str(size) if size < 1000 else f"1e{round(math.log10(size))}"
        out.append(f'<text x="{at(place) + width / 2}" y="62" text-anchor="middle" fill="#555555">{told}</text>')
    for row, name in enumerate(names):
        y = top + height * row
        out.append(f'<text x="{left - 6}" y="{y + 10}" text-anchor="end" fill="#1a1a1a">{html.escape(name)}</text>')
        for place, column in enumerate(COLUMNS):
            ratio = mean(groups.get((name, *column), []))
            told = "not judged" if ratio is None else f"{ratio:.2f}"
            out.append(f'<rect x="{at(place)}" y="{y}" width="{width - 1}" height="{height - 1}" '
                       f'fill="{"#eeeeee" if ratio is None else colour(ratio)}"><title>{html.escape(name)}, {column[0]}, '
                       f"{column[1]}: {told}</title></rect>")
    return "\n".join([*out, "</svg>", ""])


def table(title, groups):
    """A line for each key: cells, misses, geometric mean."""
    lines = [f"| {title} | cells | missed | geometric mean |", "|---|---|---|---|"]
    for key, ratios in groups.items():
        missed = sum(ratio < kept_cells.LEAST for ratio in ratios)
        lines.append(f"| {key} | {len(ratios)} | {missed} | {mean(ratios):.2f} |")
    return "\n".join(lines)


def worst(known, found):
    rated = [(kept_cells.best(found[cell.key()]), cell) for cell in known if kept_cells.is_miss(found.get(cell.key(), {}))]
    lines = ["| cell | ratio | peer | nd4c, us | peer, us |", "|---|---|---|---|---|"]
    for (peer, ratio), cell in sorted(rated, key=lambda item: (item[0][1], item[1].key()))[:WORST]:
        ns = found[cell.key()]["ns"]
        lines.append(f"| {cell.key()} | {ratio:.3f} | {peer} | {ns['nd4c'] / 1e3:.4g} | {ns[peer] / 1e3:.4g} |")
    return "\n".join(lines)


def unjudged(known, found):
    """The ops of which no cell could be judged although some were tried, with one reason each."""
    reasons, judged = {}, set()
    for cell in known:
        entry = found.get(cell.key())
        if entry and "ratios" in entry:
            judged.add(cell.op)
        elif entry:
            reasons.setdefault(cell.op, entry["why"])
    lines = [f"| {op} | {why.replace('|', chr(92) + '|')} |" for op, why in sorted(reasons.items()) if op not in judged]
    return "\n".join(["| op | why |", "|---|---|", *lines]) if lines else "None."


def page(ops, known, found):
    judged = ratios_by(known, found, lambda cell: "all")
    count, tried = len(judged.get("all", [])), sum(cell.key() in found for cell in known)
    missed = sum(kept_cells.is_miss(found.get(cell.key(), {})) for cell in known)
    without = sorted(name for name, op in ops.items() if not cells.peers_of(op))
    by = lambda key: ratios_by(known, found, key)
    parts = [
        "# Every op beside NumPy, SciPy and PyTorch",
        "Made by `bench/every_op`. A cell is an op with a dtype, a layout and a size; a ratio is the time of the best peer "
        f"divided by nd4c's. A cell is missed below {kept_cells.LEAST}, in the median of three measurements.",
        f"{len(known):,} cells of {len({cell.op for cell in known})} ops; {tried:,} tried, {count:,} judged, {missed:,} missed.",
        "![heat map](every-op.svg)", table("size", by(lambda cell: f"{cell.size:,}")),
        table("dtype", by(lambda cell: cell.dtype)), table("layout", by(lambda cell: cell.layout)),
        table("category", by(lambda cell: ops[cell.op]["category"])), f"## The worst misses\n\n{worst(known, found)}",
        f"## Ops that could not be judged\n\n{unjudged(known, found)}",
        f"## Ops that no peer has\n\n{', '.join(f'`{name}`' for name in without)}."]
    return "\n\n".join(parts) + "\n", missed


def write(folder, ops, known, found):
    """Writes every-op.md and every-op.svg; returns the number of misses."""
    folder.mkdir(parents=True, exist_ok=True)
    text, missed = page(ops, known, found)
    (folder / "every-op.md").write_text(text, encoding="utf-8")
    names = list(dict.fromkeys(cell.op for cell in known))
    groups = ratios_by(known, found, lambda cell: (cell.op, *column_of(cell)))
    (folder / "every-op.svg").write_text(heat_map(names, groups), encoding="utf-8")
    return missed

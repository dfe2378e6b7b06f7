"""Writes tests/data/calibration.txt: the ranges of samples by each method of calibration, and the uint8 scales of the
ranges, as NumPy computes them from all elements at once.

    .cache/venv/bin/python tests/graph/calibration/make_calibration_golden.py

A line is "CASE METHOD PERCENTILE LOW HIGH STEP ZERO", numbers in hexadecimal. test_calibration.c makes the
same samples: element i of a sample is the cube of (7919 i + OFFSET) mod 2003 - 1001, scaled, shifted and bounded below.
"""
import pathlib

import numpy as np

BINS, LEVELS, STRIDE, CLIPS = 8192, 128, 8, 64
# name: samples of (count, offset, scale, shift, least); the second one of `grows` needs wider bins
CASES = {"cubes": [(5000, 13, 2.0**-20, 0, -np.inf)],
         "bounded": [(5000, 5, 2.0**-22, 3, 0)],
         "negative": [(3000, 77, 2.0**-24, -100, -np.inf)],
         "grows": [(1000, 1, 2.0**-32, 0, -np.inf), (4000, 2, 2.0**-20, 0, -np.inf), (2000, 3, 2.0**-22, 1, -np.inf)],
         "outliers": [(20000, 13, 2.0**-26, 0, -np.inf), (6, 1, 2.0**-20, 0, -np.inf)],
         "zeros": [(100, 0, 0, 0, -np.inf)],
         "zeros_first": [(100, 0, 0, 0, -np.inf), (400, 9, 2.0**-20, 0, -np.inf)],
         "threes": [(64, 0, 0, 3, -np.inf)]}


def sample(count, offset, scale, shift, least):
    u = (7919.0 * np.arange(count) + offset) % 2003 - 1001
    return np.maximum(u * u * u * scale + shift, least).astype(np.float32).astype(np.float64)


def histogram(x):
    most = np.abs(x).max()
    bound = 2.0 ** np.frexp(most)[1] if most > 0 else 2.0**-126
    return np.histogram(x, bins=BINS, range=(-bound, bound))[0].astype(float), np.linspace(-bound, bound, BINS + 1)


def percentile(x, percent):
    counts, edges = histogram(x)
    cut = (100 - percent) / 200 * len(x)
    first = int(np.argmax(np.cumsum(counts) > cut))
    last = BINS - 1 - int(np.argmax(np.cumsum(counts[::-1]) > cut))
    return edges[first], edges[last + 1]


def entropy(x):
    counts, edges = histogram(x)
    folded = counts[BINS // 2:] + counts[:BINS // 2][::-1]
    folded = folded[::2] + folded[1::2]
    used = int(np.nonzero(folded)[0][-1]) + 1
    folded[0] = folded[1]
    losses = {}
    for limit in [*range(LEVELS, used, STRIDE), used] if used > LEVELS else []:
        kept = folded[:limit]
        p = kept.copy()
        p[-1] += folded[limit:].sum()
        level = np.searchsorted([(k + 1) * limit // LEVELS for k in range(LEVELS)], np.arange(limit), side="right")
        sums, filled = np.bincount(level, kept, LEVELS), np.bincount(level, kept > 0, LEVELS)
        q = np.where(kept > 0, sums[level] / np.maximum(filled[level], 1) / max(kept.sum(), 1), 1e-9)
        p /= max(p.sum(), 1)
        losses[limit] = (p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum()
    best = min(losses, key=losses.get) if losses else used
    best = used if losses and losses[used] <= losses[best] else best
    return -edges[BINS // 2 + 2 * best], edges[BINS // 2 + 2 * best]


def mse(x):
    counts, edges = histogram(x)
    centres = (edges[1:] + edges[:-1]) / 2

    def error(low, high):
        beyond = np.maximum(np.maximum(low - centres, centres - high), 0)
        return (counts * np.where(beyond > 0, beyond**2, ((high - low) / 255)**2 / 12)).sum()

    def best(bound, other):
        tried = [bound * i / CLIPS for i in range(CLIPS, 0, -1)] if bound else [bound]
        return min(tried, key=lambda at: error(min(at, other), max(at, other)))

    least, most = min(x.min(), 0), max(x.max(), 0)
    low, high = least, most
    for _ in range(2):
        high = best(most, low)
        low = best(least, high)
    return low, high


def moving_average(samples, momentum=0.25):
    low, high = samples[0].min(), samples[0].max()
    for x in samples[1:]:
        low, high = low + momentum * (x.min() - low), high + momentum * (x.max() - high)
    return low, high


def main():
    lines = []
    for name, rows in CASES.items():
        samples = [sample(*row) for row in rows]
        x = np.concatenate(samples)
        for method, percent in (("min_max", 0), ("moving_average", 0), ("percentile", 99), ("percentile", 50), ("entropy", 0),
                                ("mse", 0)):
            if method == "moving_average":
                low, high = moving_average(samples)
            elif method == "min_max":
                low, high = x.min(), x.max()
            else:
                low, high = percentile(x, percent) if percent else {"entropy": entropy, "mse": mse}[method](x)
                low, high = max(low, x.min()), min(high, x.max())
                high = max(low, high)
            step = np.float32((max(high, 0) - min(low, 0)) / 255)
            zero = np.rint(-min(low, 0) / float(step)) if step > 0 else 0
            step = step if step > 0 else np.float32(1)
            lines.append(" ".join([name, method, str(percent), float(low).hex(), float(high).hex(), float(step).hex(),
                                   str(int(zero))]))
    folder = pathlib.Path(__file__).resolve().parents[2] / "data"
    (folder / "calibration.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

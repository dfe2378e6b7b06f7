"""Functions of nd4c.numpy beside NumPy's, as programs call them: least time of each, in turns, and NumPy's over nd4c's.

    PYTHONPATH=build/release/python .cache/peers/bin/python bench/python/functions.py [--sizes 1000,1000000] [--below 0.97]
        [ROW...]

bench/every_op measures every op by dtype and layout; these rows also cost what the package's Python costs: checks,
conversions, several ops for one function. ROW is a part of a name. --below prints only rows under that ratio. Trust ratios
of a quiet machine.
"""
import argparse
import time

import numpy

import nd4c.numpy

ROUNDS, LEAST = 9, 2e-3  # rounds of each; seconds that a round lasts at least


def calls_a_round(function):
    function()
    begin = time.perf_counter()
    function()
    return max(1, int(LEAST / max(time.perf_counter() - begin, 1e-7)))


def seconds(function, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def compared(function, operands):
    """The least times of NumPy's and nd4c's function."""
    ours = [nd4c.numpy.asarray(one) for one in operands]
    both = [lambda: function(numpy, *operands), lambda: function(nd4c.numpy, *ours)]
    calls = [calls_a_round(one) for one in both]
    rounds = [[seconds(one, count) for one, count in zip(both, calls)] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds)]


def rows_of(n):
    """Name: the call, with NumPy or nd4c.numpy as l; and the arrays that it is given."""
    rng = numpy.random.default_rng(0)
    d, s = rng.random(n), rng.random(n).astype("f4")
    i, u = rng.integers(0, 1000, n), rng.integers(0, 255, n).astype("u1")
    places = rng.integers(0, n, n)
    return {
        "arange f": (lambda l: l.arange(0., float(n)), []),
        "arange i": (lambda l: l.arange(n), []),
        "linspace": (lambda l: l.linspace(0, 1, n), []),
        "bitwise_count u1": (lambda l, x: l.bitwise_count(x), [u]),
        "bitwise_count i8": (lambda l, x: l.bitwise_count(x), [i]),
        "frexp": (lambda l, x: l.frexp(x), [d]),
        "frexp f4": (lambda l, x: l.frexp(x), [s]),
        "modf": (lambda l, x: l.modf(x), [d]),
        "ldexp": (lambda l, x, y: l.ldexp(x, y), [d, i.astype('i4')]),
        "cumsum f8": (lambda l, x: l.cumsum(x), [d]),
        "cumsum f4": (lambda l, x: l.cumsum(x), [s]),
        "cumsum i8": (lambda l, x: l.cumsum(x), [i]),
        "cumprod f8": (lambda l, x: l.cumprod(x), [d]),
        "maximum.accumulate": (lambda l, x: l.maximum.accumulate(x), [d]),
        "spacing": (lambda l, x: l.spacing(x), [d]),
        "nextafter": (lambda l, x: l.nextafter(x, x), [d]),
        "round2": (lambda l, x: l.round(x, 2), [d]),
        "i//7": (lambda l, x: x//7, [i]),
        "i/7": (lambda l, x: x/7, [i]),
        "i%7": (lambda l, x: x%7, [i]),
        "zeros i4": (lambda l: l.zeros(n, 'i4'), []),
        "diff": (lambda l, x: l.diff(x), [d]),
        "interp": (lambda l, x: l.interp(x, [0., .5, 1.], [1., 2., 0.]), [d]),
        "searchsorted": (lambda l, x, y: l.searchsorted(y, x), [d, numpy.sort(d)]),
        "digitize": (lambda l, x: l.digitize(x, [0., .25, .5, .75]), [d]),
        "histogram": (lambda l, x: l.histogram(x, 50)[0], [d]),
        "bincount": (lambda l, x: l.bincount(x), [i]),
        "unique": (lambda l, x: l.unique(x), [i]),
        "median": (lambda l, x: l.median(x), [d]),
        "percentile": (lambda l, x: l.percentile(x, [5, 95]), [d]),
        "partition": (lambda l, x: l.partition(x, n//2), [d]),
        "argsort": (lambda l, x: l.argsort(x), [d]),
        "lexsort": (lambda l, x, y: l.lexsort((x, y)), [d, i]),
        "nonzero": (lambda l, x: l.nonzero(x > 500)[0], [i]),
        "mask": (lambda l, x: x[x > 500], [i]),
        "setmask": (lambda l, x: x.__setitem__(x > 500, 5), [i.copy()]),
        "take": (lambda l, x, y: x[y], [d, places]),
        "put": (lambda l, x, y: x.__setitem__(y, 1.0), [d.copy(), places]),
        "add.at": (lambda l, x, y: l.add.at(x, y, 1.0), [d.copy(), places]),
        "where": (lambda l, x: l.where(x > .5, x, 0), [d]),
        "clip": (lambda l, x: l.clip(x, .2, .8), [d]),
        "roll": (lambda l, x: l.roll(x, 7), [d]),
        "convolve": (lambda l, x: l.convolve(x, l.ones(9)), [d]),
        "gradient": (lambda l, x: l.gradient(x), [d]),
        "trapezoid": (lambda l, x: l.trapezoid(x), [d]),
        "isin": (lambda l, x: l.isin(x, [1, 5, 9]), [i]),
        "unwrap": (lambda l, x: l.unwrap(x), [d]),
        "angle": (lambda l, x: l.angle(x), [(d+1j*d)]),
        "packbits": (lambda l, x: l.packbits(x > 500), [i]),
        "tile": (lambda l, x: l.tile(x, 3), [d]),
        "repeat": (lambda l, x: l.repeat(x, 3), [d]),
        "flip": (lambda l, x: l.flip(x).copy(), [d]),
        "nanmean": (lambda l, x: l.nanmean(x), [d]),
        "nanmedian": (lambda l, x: l.nanmedian(x), [d]),
        "cov": (lambda l, x: l.cov(x, x), [d]),
        "std": (lambda l, x: x.std(), [d]),
        "var ax": (lambda l, x: x.reshape(-1, 10).var(axis=0), [d]),
        "argmax": (lambda l, x: x.argmax(), [d]),
        "ptp": (lambda l, x: l.ptp(x), [d]),
        "allclose": (lambda l, x: l.allclose(x, x), [d]),
        "array_equal": (lambda l, x: l.array_equal(x, x), [d]),
        "tolist": (lambda l, x: x.tolist(), [d]),
        "polyval": (lambda l, x: l.polyval([1., 2., 3.], x), [d]),
        "kron": (lambda l, x: l.kron(x[:1000], x[:n//1000]), [d]),
        "outer": (lambda l, x: l.outer(x[:1000], x[:n//1000]), [d]),
        "meshgrid": (lambda l, x: l.meshgrid(x[:1000], x[:n//1000])[0], [d]),
        "tril": (lambda l, x: l.tril(x.reshape(-1, 1000)), [d]),
        "lcm": (lambda l, x: l.lcm(x, 12), [i]),
        "gcd": (lambda l, x: l.gcd(x, 12), [i]),
        "sort f8": (lambda l, x: l.sort(x), [d]), "sort f4": (lambda l, x: l.sort(x), [s]),
        "sort i8": (lambda l, x: l.sort(x), [places]),
        "unique f8": (lambda l, x: l.unique(x), [d]), "unique f4": (lambda l, x: l.unique(x), [s]),
        "unique counts": (lambda l, x: l.unique(x, return_counts=True)[1], [i]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,1000000")
    parser.add_argument("--below", type=float)
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    for n in map(int, options.sizes.split(",")):
        for name, (function, operands) in rows_of(n).items():
            if options.rows and not any(part in name for part in options.rows):
                continue
            theirs, ours = compared(function, operands)
            if options.below is None or theirs / ours < options.below:
                print("%-24s %9d  NumPy %10.1f us  nd4c %10.1f us  ratio %6.2f" % (
                    name, n, theirs * 1e6, ours * 1e6, theirs / ours), flush=True)


if __name__ == "__main__":
    main()

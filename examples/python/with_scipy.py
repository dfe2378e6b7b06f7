"""SciPy computes with nd4c's arrays and gives nd4c's arrays back. It looks at SCIPY_ARRAY_API when it is first imported.

    SCIPY_ARRAY_API=1 python examples/python/with_scipy.py"""
import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import scipy.fft
import scipy.optimize.elementwise
import scipy.signal
import scipy.special
import scipy.stats

import nd4c as xp


def main() -> None:
    time = xp.arange(256, dtype=xp.float64) / 256
    wave = xp.sin(2 * xp.pi * 20 * time) + 0.3 * xp.cos(2 * xp.pi * 50 * time)
    spectrum = xp.abs(xp.asarray(scipy.fft.rfft(wave)))
    print("strongest frequencies:", sorted(xp.argsort(spectrum, descending=True)[:2].tolist()))

    smooth = scipy.signal.fftconvolve(wave, xp.ones(16) / 16, mode="same")
    print("smoothed: %s, %d values of %s" % (type(smooth).__name__, smooth.size, smooth.dtype))

    print("softmax:", scipy.special.softmax(xp.asarray([0.0, 0.0, 0.0, 0.0])))
    print("skew: %.4f" % scipy.stats.skew(xp.exp(time)))

    # Roots of many equations at once: x^2 = 1, 2, ..., 5.
    squares = xp.arange(1.0, 6.0)
    roots = scipy.optimize.elementwise.find_root(lambda x, square: x * x - square, (xp.zeros(5), squares + 1), args=(squares,))
    print("roots:", roots.x)


if __name__ == "__main__":
    main()

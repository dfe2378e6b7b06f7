"""matplotlib on nd4c's arrays, unmodified: what it draws is what it draws of NumPy's."""
import numpy as np
import pytest

import nd4c

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

rng = np.random.default_rng(0)
a, grid = np.linspace(0.1, 1, 20), rng.random((6, 5))
DRAWN = {
    "plot": lambda ax, x, m: ax.plot(x, x * x), "plot of columns": lambda ax, x, m: ax.plot(m),
    "scatter": lambda ax, x, m: ax.scatter(x, x, c=x, s=x), "bar": lambda ax, x, m: ax.bar(x, x, width=0.02),
    "hist": lambda ax, x, m: ax.hist(x, bins=5), "hist of bins": lambda ax, x, m: ax.hist(x, bins=x),
    "imshow": lambda ax, x, m: ax.imshow(m), "contourf": lambda ax, x, m: ax.contourf(m),
    "pcolormesh": lambda ax, x, m: ax.pcolormesh(m), "fill_between": lambda ax, x, m: ax.fill_between(x, x),
    "errorbar": lambda ax, x, m: ax.errorbar(x, x, yerr=x), "boxplot": lambda ax, x, m: ax.boxplot(m),
    "quiver": lambda ax, x, m: ax.quiver(x, x, x, x), "hexbin": lambda ax, x, m: ax.hexbin(x, x),
    "stackplot": lambda ax, x, m: ax.stackplot(x, x), "semilogy": lambda ax, x, m: ax.semilogy(x, x),
    "xlim": lambda ax, x, m: (ax.plot(x, x), ax.set_xlim(x[0], x[-1]), ax.set_ylim(x.min(), x.max())),
    "ticks": lambda ax, x, m: (ax.plot(x, x), ax.set_xticks(x[::5])), "axvline": lambda ax, x, m: ax.axvline(x[1]),
}


def picture(draw, x, m):
    figure, ax = plt.subplots(figsize=(2, 2), dpi=50)
    draw(ax, x, m)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba()).copy()
    plt.close(figure)
    return pixels


@pytest.mark.parametrize("name", DRAWN)
def test_pictures(name):
    draw = DRAWN[name]
    mine, theirs = picture(draw, nd4c.asarray(a), nd4c.asarray(grid)), picture(draw, a, grid)
    assert (mine == theirs).all() and len(np.unique(theirs)) > 1


def test_limits_of_the_current_axes():
    x = nd4c.asarray(a)
    plt.figure()
    plt.plot(x, nd4c.sin(x))
    assert plt.xlim(x[0], x[-1]) == (0.1, 1.0) and plt.ylim(nd4c.asarray([0.0, 2.0])) == (0.0, 2.0)
    plt.close("all")

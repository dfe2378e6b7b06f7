"""SciPy with SCIPY_ARRAY_API=1 on nd4c's arrays, unmodified: values as on NumPy's."""
import numpy as np
import pytest
from same import check, run_example, to_nd4c

import nd4c

pytest.importorskip("scipy")
import scipy.cluster.vq
import scipy.differentiate
import scipy.fft
import scipy.integrate
import scipy.ndimage
import scipy.optimize
import scipy.optimize.elementwise as elementwise
import scipy.signal
import scipy.special
import scipy.stats
from scipy.spatial.transform import Rotation

rng = np.random.default_rng(7)
v, w, a, m = rng.random(50), rng.random(50), rng.random((4, 6)), rng.random((4, 4))
z = v + 1j * w

CASES = {
    "fft": (scipy.fft.fft, z), "ifft": (scipy.fft.ifft, z), "rfft": (scipy.fft.rfft, v), "fftn": (scipy.fft.fftn, a),
    "irfftn": (scipy.fft.irfftn, a + 1j), "fftshift": (scipy.fft.fftshift, v), "dct": (scipy.fft.dct, v),
    **{"special." + name: (getattr(scipy.special, name), v)
       for name in "erf erfc gammaln expit logit i0 i1 ndtr log_ndtr entr logsumexp softmax log_softmax".split()},
    **{"special." + name: (getattr(scipy.special, name), v, w) for name in "rel_entr xlogy gammainc gammaincc".split()},
    "special.betainc": (scipy.special.betainc, v, w, v),
    **{"stats." + name: (getattr(scipy.stats, name), v)
       for name in "skew kurtosis moment variation gmean hmean zscore gzscore gstd sem iqr entropy kstat circmean circvar "
                   "circstd jarque_bera skewtest kurtosistest normaltest differential_entropy rankdata".split()},
    **{"stats." + name: (getattr(scipy.stats, name), v, w)
       for name in "ttest_ind ttest_rel mannwhitneyu bartlett levene f_oneway wilcoxon".split()},
    "stats.ttest_1samp": (scipy.stats.ttest_1samp, v, 0.5),
    "stats.quantile": (scipy.stats.quantile, v, np.asarray([0.1, 0.5])),
    "ndimage.gaussian_filter": (scipy.ndimage.gaussian_filter, a, 1.0), "ndimage.sobel": (scipy.ndimage.sobel, a),
    "ndimage.median_filter": (scipy.ndimage.median_filter, a, 3), "ndimage.zoom": (scipy.ndimage.zoom, a, 2.0),
    "signal.convolve": (scipy.signal.convolve, v, w), "signal.fftconvolve": (scipy.signal.fftconvolve, v, w),
    "signal.oaconvolve": (scipy.signal.oaconvolve, v, w), "signal.detrend": (scipy.signal.detrend, v),
    "signal.hilbert": (scipy.signal.hilbert, v), "signal.resample": (scipy.signal.resample, v, 20),
    "signal.lfilter": (scipy.signal.lfilter, np.asarray([1.0, 2.0]), np.asarray([1.0, 0.3]), v),
    "integrate.trapezoid": (scipy.integrate.trapezoid, v),
    "integrate.cumulative_simpson": (scipy.integrate.cumulative_simpson, v),
    "cluster.whiten": (scipy.cluster.vq.whiten, a), "cluster.vq": (scipy.cluster.vq.vq, a, a[:2]),
    "optimize.rosen": (scipy.optimize.rosen, v), "optimize.rosen_der": (scipy.optimize.rosen_der, v),
    "float32": (scipy.stats.skew, v.astype(np.float32)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_values(name):
    function, *arguments = CASES[name]
    check(function(*map(to_nd4c, arguments)), function(*arguments), 1e-5 if name == "float32" else 1e-8)


def test_pearsonr():
    got, wanted = scipy.stats.pearsonr(to_nd4c(v), to_nd4c(w)), scipy.stats.pearsonr(v, w)
    check((got.statistic, got.pvalue), (np.asarray(wanted.statistic), np.asarray(wanted.pvalue)), exact_type=False)
    assert isinstance(got.statistic, nd4c.Array)


def test_functions_of_functions():
    xp = nd4c
    roots = elementwise.find_root(lambda x: x * x - 2, (xp.asarray(0.0), xp.asarray(2.0)))
    assert isinstance(roots.x, xp.Array) and abs(float(roots.x) - 2 ** 0.5) < 1e-12
    least = elementwise.find_minimum(lambda x: (x - 1) ** 2, (xp.asarray(0.0), xp.asarray(0.5), xp.asarray(2.0)))
    assert abs(float(least.x) - 1) < 1e-6
    slope = scipy.differentiate.derivative(xp.exp, xp.asarray([0.0, 1.0]))
    check(slope.df, np.exp([0.0, 1.0]), 1e-7)
    check(scipy.differentiate.hessian(scipy.optimize.rosen, xp.asarray([1.0, 2.0])).ddf,
          np.asarray([[402.0, -400.0], [-400.0, 200.0]]), 1e-6)
    area = scipy.integrate.tanhsinh(lambda x: x * x, xp.asarray(0.0), xp.asarray([1.0, 2.0]))
    check(area.integral, np.asarray([1 / 3, 8 / 3]))
    check(scipy.integrate.cubature(lambda x: x[:, 0] ** 2 + x[:, 1], xp.zeros(2), xp.ones(2)).estimate,
          np.asarray(5 / 6))


def test_rotation():
    quaternions = rng.random((5, 4))
    got = Rotation.from_quat(to_nd4c(quaternions))
    wanted = Rotation.from_quat(quaternions)
    check(got.as_matrix(), wanted.as_matrix())
    check(got.apply(to_nd4c(v[:3])), wanted.apply(v[:3]))


def test_windows_and_frequencies():
    check(scipy.signal.windows.hann(8, xp=nd4c), scipy.signal.windows.hann(8))
    check(scipy.fft.fftfreq(8, xp=nd4c), scipy.fft.fftfreq(8))


def test_example():
    assert run_example("with_scipy.py") == """\
strongest frequencies: [20, 50]
smoothed: Array, 256 values of float64
softmax: [0.25 0.25 0.25 0.25]
skew: 0.3441
roots: [1.         1.41421356 1.73205081 2.         2.23606798]
"""

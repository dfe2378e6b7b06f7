"""numpy.polynomial over nd4c's arrays: power series, as the class Polynomial and the functions of the module polynomial.

Other bases (Chebyshev, Legendre, Laguerre, Hermite) are refused: NumPy's classes take numpy.asarray(x)."""
from nd4c.numpy.polynomial import polynomial as polynomial
from nd4c.numpy.polynomial._series import Polynomial as Polynomial

__all__ = ["Polynomial", "polynomial"]

_OTHERS = ("Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE")


def __getattr__(name):
    if name in _OTHERS or name in [one.lower() for one in _OTHERS] + ["hermite_e"]:
        raise AttributeError("module 'nd4c.numpy.polynomial' has no attribute %r: nd4c has power series only; Polynomial takes "
                             "their coefficients, and NumPy's classes take numpy.asarray(x)" % name)
    raise AttributeError("module 'nd4c.numpy.polynomial' has no attribute %r; there are %s" % (name, ", ".join(__all__)))

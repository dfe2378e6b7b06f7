"""Exceptions by NumPy's names: numpy.exceptions."""
from nd4c._errors import AxisError

__all__ = ["AxisError"]

"""Exceptions and warnings by NumPy's names: numpy.exceptions. nd4c raises AxisError and DTypePromotionError; the warnings are
there for code that names them in filters."""
from nd4c._errors import AxisError, classes as _classes

__all__ = ["AxisError", "ComplexWarning", "DTypePromotionError", "ModuleDeprecationWarning", "RankWarning", "TooHardError",
           "VisibleDeprecationWarning"]

DTypePromotionError = next(_one for _one in _classes.values() if _one.__name__ == "DtypeError")


class ComplexWarning(RuntimeWarning):
    """NumPy's warning where a cast drops imaginary parts; nd4c casts without one."""


class ModuleDeprecationWarning(DeprecationWarning):
    """NumPy's warning about modules that will go; nd4c has none."""


class RankWarning(RuntimeWarning):
    """NumPy's warning about ill-conditioned polynomial fits; nd4c returns the rank instead."""


class TooHardError(RuntimeError):
    """NumPy's error where shares_memory() exceeds the work that it may do."""


class VisibleDeprecationWarning(UserWarning):
    """NumPy's warning about deprecated calls, shown to users; nd4c has none."""

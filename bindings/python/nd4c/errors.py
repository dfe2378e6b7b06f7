"""Exceptions: one class a status of the C library; all are nd4c.Error and the built-in class that a Python user expects."""
from nd4c import _errors

__all__ = sorted(name for name, value in vars(_errors).items() if isinstance(value, type) and issubclass(value, _errors.Error))
globals().update({name: getattr(_errors, name) for name in __all__})

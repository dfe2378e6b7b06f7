"""NumPy's namespace over nd4c's arrays: import nd4c.numpy as np.

Functions that nd4c itself has with NumPy's meaning are the same objects here. A name that NumPy has and nd4c cannot serve is
an AttributeError that says what to use instead (_refused.py)."""
from importlib import import_module as _import_module

# Each chapter is a module of this folder, whose __all__ lists its functions.
_CHAPTERS = (
    "types",
    "elementwise",
    "creation",
    "manipulation",
    "indexing",
    "stride_tricks",
    "statistics",
    "nan_functions",
    "sorting",
    "sets",
    "products",
    "polynomials",
    "windows",
    "bits",
    "files",
    "printing",
    "errors_state",
)

for _chapter in _CHAPTERS:
    _module = _import_module("nd4c.numpy._" + _chapter)
    globals().update({_name: getattr(_module, _name) for _name in _module.__all__})

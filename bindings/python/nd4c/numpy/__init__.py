"""NumPy's namespace over nd4c's arrays: import nd4c.numpy as np.

Functions that nd4c itself has with NumPy's meaning are the same objects here. A name that NumPy has and nd4c cannot serve is
an AttributeError that says what to use instead (_refused.py)."""
from importlib import import_module as _import_module

import nd4c as _nd4c
from nd4c._arrays.fast import FUNCTIONS as _FAST
from nd4c.numpy._types import ON_FIRST_USE as _ON_FIRST_USE

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
_MODULES = ("exceptions", "fft", "lib", "linalg", "polynomial", "random")

# Of the names that the standard gives nd4c; the chapters have NumPy's meaning of those that differ.
globals().update({_name: getattr(_nd4c, _name) for _name in _nd4c._OF_STANDARD})
for _chapter in _CHAPTERS:
    _module = _import_module("nd4c.numpy._" + _chapter)
    globals().update({_name: getattr(_module, _name) for _name in _module.__all__})
globals().update({_name: getattr(_nd4c, _name) for _name in _FAST})  # the native core's forms of functions of the chapters

__version__ = _nd4c.__version__
__all__ = sorted([_name for _name in globals() if not _name.startswith("_")] + list(_ON_FIRST_USE)) + [
    "__array_namespace_info__", "__version__"]


def __getattr__(name):
    """Modules and arrays, which are imported and made on first use, and the texts about names that nd4c lacks."""
    if name in _MODULES:
        return _import_module("nd4c.numpy." + name)
    if name in _ON_FIRST_USE:
        return globals().setdefault(name, _nd4c.asarray(_ON_FIRST_USE[name]))
    if name == "__array_namespace_info__":
        return getattr(_nd4c, name)
    from nd4c.numpy._refused import FUNCTIONS, MODULES
    reason = FUNCTIONS.get(name) or MODULES.get(name)
    if reason is None:
        from nd4c._suggestions import MissingAttribute
        raise MissingAttribute("nd4c.numpy", name)
    raise AttributeError("module 'nd4c.numpy' has no attribute %r: %s" % (name, reason))


def __dir__():
    return sorted(set(globals()) | set(_MODULES) | set(__all__))

"""nd4c: arrays, ops and models on whatever hardware is there.

The package is a namespace of the Array API standard 2025.12. Beyond it there are nd4c.ops (every op of the library),
nd4c.random, nd4c.nn, nd4c.image, nd4c.compile, nd4c.grad and nd4c.Graph (graphs and plans), nd4c.onnx, nd4c.load and nd4c.save (arrays in files), nd4c.plugins (ops and
devices of others), several devices (nd4c.device,
nd4c.memory, nd4c.workspace, nd4c.tracing, nd4c.routing), nd4c.config, nd4c.info() and nd4c.explain()."""
from importlib import import_module as _import_module

from nd4c import _dtypes
from nd4c._core import Array
from nd4c._devices import Device, current_device, device
from nd4c._dtypes import DType
from nd4c._errors import Error
from nd4c._arrays import methods as _methods, operators as _operators, placement as _placement, protocols as _protocols
from nd4c._arrays.array import set_print_options
from nd4c._library import version as __version__
from nd4c._creation import asarray
from nd4c._functions.creation import (
    arange, empty, empty_like, eye, full, full_like, linspace, meshgrid, ones, ones_like, tril, triu, zeros, zeros_like)
from nd4c._dlpack import from_dlpack
from nd4c._functions.dtypes import astype, can_cast, finfo, iinfo, isdtype, result_type
from nd4c._functions.elementwise import (
    abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or,
    bitwise_right_shift, bitwise_xor, ceil, clip, conj, copysign, cos, cosh, divide, equal, exp, expm1, floor, floor_divide,
    greater, greater_equal, hypot, imag, isfinite, isinf, isnan, less, less_equal, log, log10, log1p, log2, logaddexp,
    logical_and, logical_not, logical_or, logical_xor, maximum, minimum, multiply, negative, nextafter, not_equal, positive,
    pow, real, reciprocal, remainder, round, sign, signbit, sin, sinh, sqrt, square, subtract, tan, tanh, trunc)
from nd4c._functions.manipulation import (
    broadcast_arrays, broadcast_shapes, broadcast_to, concat, expand_dims, flip, moveaxis, permute_dims, repeat, reshape, roll,
    squeeze, stack, tile, unstack)
from nd4c._functions.products import matmul, matrix_transpose, tensordot, vecdot
from nd4c._functions.reductions import all, any, cumulative_prod, cumulative_sum, diff, max, mean, min, prod, std, sum, var
from nd4c._functions.sorting import (
    argmax, argmin, argsort, count_nonzero, isin, nonzero, searchsorted, sort, take, take_along_axis, unique_all, unique_counts,
    unique_inverse, unique_values, where)

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

__array_api_version__ = "2025.12"
ARRAY_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

globals().update(_dtypes.by_name)  # float32, int64, bool, ...: the dtypes of this build of the library
from nd4c import _thread_limits  # noqa: E402
from nd4c._arrays import fast as _fast, foreign_names as _foreign_names  # noqa: E402 - last: they look at the functions and methods above

_foreign_names.attach(Array)
_thread_limits.attach()

_MODULES = ("linalg", "fft", "random", "nn", "image", "graph", "numpy", "onnx", "ops", "errors", "memory", "plugins", "typing")
_LAZY = {"__array_namespace_info__": "_info", "load": "_files", "load_metadata": "_files", "save": "_files",
         "config": "_config", "info": "_machine", "explain": "_machine", "devices": "_machine", "workspace": "_workspace",
         "cancellation": "_cancellation", "tracing": "_tracing", "routing": "_routing", "set_default_routing": "_routing",
         "flatten": "_functions.manipulation",
         "Graph": "graph", "compile": "graph", "grad": "graph", "value_and_grad": "graph", "stop_gradient": "graph", "cond": "graph", "while_loop": "graph",
         "scan": "graph", "from_blocks": "_memory", "block_format": "_memory"}
_OWN = ("Array", "Device", "current_device", "device", "DType", "Error", "set_print_options", "ARRAY_API_VERSIONS")
_OF_STANDARD = tuple(_name for _name in globals() if not _name.startswith("_") and _name not in _OWN + _MODULES)

__all__ = [*_OWN, *_OF_STANDARD, *_LAZY]


def __getattr__(name):
    """Attributes that the package imports on first use: modules, tools, NumPy's functions, and the ops."""
    if name in _MODULES:
        value = _import_module("nd4c." + name)
    elif name in _LAZY:
        value = getattr(_import_module("nd4c." + _LAZY[name]), name)
    else:
        value = _of_numpy_or_ops(name)
    globals()[name] = value
    return value


def _of_numpy_or_ops(name):
    """NumPy's function or type of the name, or else the op."""
    if not name.startswith("_"):
        numpy = _import_module("nd4c.numpy")
        if name in getattr(numpy, "__all__", ()) or name in ("lib", "polynomial", "exceptions"):
            return getattr(numpy, name)
        from nd4c._abi import NUMBERS
        if name in NUMBERS:
            return getattr(_import_module("nd4c.ops"), name)
    from nd4c._suggestions import MissingAttribute
    raise MissingAttribute("nd4c", name)


def __dir__():
    from nd4c._abi import NUMBERS
    return sorted({*globals(), *_MODULES, *_LAZY, *NUMBERS, *_import_module("nd4c.numpy").__all__})

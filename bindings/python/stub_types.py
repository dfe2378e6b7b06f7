"""Types that the stubs of the Python package have beside those that its modules annotate: of parameters by their names,
of results by function, of attributes by class. stubs.py reads these tables.

Types are written with Python's built-in names, those of typing and of nd4c.typing, and the package's classes."""


def _by_name(table):
    """The types by name, of a table with the names by type."""
    return {name: kind for kind, names in table.items() for name in names.split()}


# -- parameters ------------------------------------------------------------------------------------------------------

# Types of parameters by name. A parameter whose default is None takes None, too.
PARAMETERS = _by_name({
    "ArrayLike": """
        a a1 a2 A a_max a_min aweights append ar ar1 ar2 arr array ary b c c1 c2 c_or_r coef condition element
        fill_value filt fp fweights high indices initial left low m mask mean multi_index obj p prepend prototype q
        repeats right roots sample seq_of_zeros sorter src step stop test_elements to_begin to_end u v val vals
        value values w weights where x x1 x2 X xp y z max min alpha colors cov df dfden dfnum kappa lam loc mu nbad
        ngood nonc nsample pvals rate scale sigma off scl lbnd arg posinf neginf rtol atol domain window period
        discont nan start dx rcond tol""",
    "Sequence[ArrayLike]": "choicelist tup",
    "DTypeLike": "dtype to type1 type2",
    "DeviceLike": "device",
    "ShapeLike": "shape size dims new_shape window_shape",
    "AxisLike": "axes",
    "str": """
        bitorder casting check_valid comments delimiter encoding fmt footer header indexing kind method mode newline
        norm order prefix quotechar sep separator side suffix trim UPLO variable symbol floatmode format""",
    "bool": "assume_unique copy descending full_matrices keepdims hermitian stable subok density",
    "SupportsIndex": """
        axis1 axis2 axisa axisb axisc count k maxlength maxpower minlength M N n n_children ndim ndmax ndmin num
        length precision max_line_width threshold edgeitems linewidth min_digits pad_left pad_right exp_digits width
        deg max_rows""",
    "Union[SupportsIndex, Sequence[SupportsIndex]]": "shift source destination kth usecols",
    "Sequence[SupportsIndex]": "s",
    "float": "correction ddof d",
    "Union[int, ArrayLike]": "indices_or_sections",
    "Union[str, int, ArrayLike]": "bins",
    "Tuple[float, float]": "range",
    "Union[str, float]": "ord",
    "Callable[..., Any]": "func func1d function mask_func",
    "Union[str, os.PathLike[str], IO[Any]]": "file fid fname",
    "Optional[Sequence[str]]": "output_names",
    "Mapping[str, Any]": "input_feed input_dict_ort_values",
    "RunOptions": "run_options",
    "SessionOptions": "sess_options",
    "IOBinding": "iobinding",
    "InferenceSession": "session",
    "OrtValue": "ortvalue",
    "Union[str, os.PathLike[str], bytes]": "path_or_bytes",
    "Sequence[Any]": "providers provider_options",
    "object": "like",
    "Any": """
        args arguments attributes kw kwargs named number formatter legacy seed stream signature funclist iter buffer
        string converters missing_values filling_values excludelist instance owner""",
})

# Types of parameters of one function or class, "function.parameter".
SPECIAL = _by_name({
    "Any": """
        array.object asarray.a asanyarray.a from_dlpack.x isscalar.element iterable.y iscomplexobj.x isrealobj.x
        result_type.arrays_and_dtypes can_cast.from_ issubdtype.arg1 issubdtype.arg2 typename.char block.arrays
        tensordot.axes einsum.operands einsum_path.operands einsum.optimize einsum_path.optimize matmul.axes
        vecdot.axes matvec.axes vecmat.axes pad.pad_width pad.mode histogramdd.bins histogram2d.bins
        histogramdd.range histogram2d.range isnat.x clip.named delete.obj insert.obj loadtxt.fname genfromtxt.fname
        genfromtxt.names loadtxt.comments mintypecode.typechars mintypecode.typeset set_state.state vectorize.otypes
        vectorize.excluded errstate.call printoptions.args permutation.x shuffle.x choice.a seed.seed DType.dtype
        Config.named set_printoptions.suppress set_printoptions.nanstr set_printoptions.infstr set_printoptions.sign
        set_printoptions.floatmode set_printoptions.override_repr""",
    "ArrayLike": """
        shape.a size.a common_type.arrays broadcast_arrays.args meshgrid.xi ix_.args atleast_1d.arys atleast_2d.arys
        atleast_3d.arys broadcast.arrays savez.args savez.kwds savez_compressed.args savez_compressed.kwds
        gradient.f gradient.varargs lexsort.keys full.fill_value average.weights multinomial.n binomial.n
        negative_binomial.n triangular.mode gamma.shape standard_gamma.shape choice.p polyint.k piecewise.condlist
        integ.k fill_diagonal.val select.default put.ind histogram.edges ndenumerate.arr polygrid2d.x pinv.rtol""",
    "Optional[bool]": "asarray.copy array2string.suppress_small array_repr.suppress_small array_str.suppress_small",
    "Union[str, DTypeLike, Tuple[Union[str, DTypeLike], ...]]": "isdtype.kind",
    "Union[DTypeLike, complex, Array]": "finfo.dtype iinfo.int_type",
    "SupportsIndex": """
        round.decimals rand.shape randn.shape normalize_axis_index.axis matrix_power.n polyder.m polyint.m deriv.m
        integ.m polypow.pow polyvander.deg tril_indices.m triu_indices.m apply_along_axis.axis top_k.k
        binary_repr.num tensorinv.ind eye.M""",
    "ShapeLike": "broadcast_shapes.args ndindex.shape tile.reps",
    "float": "kaiser.beta interp.left interp.right interp.period",
    "bool": "meshgrid.copy angle.deg digitize.right unique.sorted nan_to_num.copy polyval.tensor",
    "Sequence[ArrayLike]": "choose.choices select.condlist multi_dot.arrays",
    "Union[SupportsIndex, Sequence[SupportsIndex]]": "normalize_axis_tuple.axis",
    "Union[str, Callable[..., Any]]": "explain.function",
    "int": "setbufsize.size set_print_options.options advance.delta",
    "Optional[Callable[..., Any]]": "seterrcall.func",
    "Optional[str]": """
        load.mmap_mode genfromtxt.comments isin.kind loadtxt.encoding AxisError.msg_prefix vectorize.doc
        vectorize.signature normalize_axis_index.msg_prefix normalize_axis_tuple.argname array2string.sign
        seterr.all errstate.all seterr.divide errstate.divide seterr.over errstate.over seterr.under errstate.under
        seterr.invalid errstate.invalid""",
    "Union[None, str, Sequence[str]]": "require.requirements",
    "Union[str, float]": "cond.p",
    "Optional[ArrayLike]": "arange.start arange.start_or_stop",
    "Union[bool, str]": "polyfit.cov",
    "Union[Array, Sequence[ArrayLike]]": "concat.arrays stack.arrays",
    "Array": "copyto.dst place.arr putmask.a put.a put_along_axis.arr fill_diagonal.a byte_bounds.a",
    "str": "genfromtxt.deletechars mintypecode.default",
    "Sequence[SupportsIndex]": "fromfunction.shape indices.dimensions",
    "AxisLike": "trim_zeros.axis",
    "Optional[Sequence[int]]": "as_strided.strides",
    "Union[str, int, ArrayLike]": "histogram.bins",
    "Union[str, int]": "AxisError.axis",
    "Optional[int]": "AxisError.ndim",
    "Callable[..., Any]": "vectorize.pyfunc",
    "Optional[Mapping[str, Any]]": "Config.values",
})

# Parameters of ops, by the kinds of _abi.OPS.
KINDS = {"i": "Union[Array, complex]", "o": "Union[Array, complex]", "v": "Sequence[Union[Array, complex]]", "n": "int",
         "b": "bool", "f": "float", "N": "Optional[Sequence[int]]", "F": "Optional[Sequence[float]]",
         "t": "Optional[DTypeLike]", "s": "Optional[str]"}

# -- results ---------------------------------------------------------------------------------------------------------

# Types of results by function; all others give an Array.
RESULTS = _by_name({
    "Tuple[Array, ...]": """
        broadcast_arrays meshgrid nonzero unstack ix_ diag_indices diag_indices_from mask_indices tril_indices
        tril_indices_from triu_indices triu_indices_from unravel_index""",
    "Tuple[Array, Array]": "histogram top_k polydiv dropout divmod frexp modf",
    "Tuple[Array, Array, Array]": "histogram2d",
    "Tuple[Array, List[Array]]": "histogramdd",
    "Tuple[Array, Array, Array, Array]": "lstsq",
    "List[Array]": "array_split dsplit hsplit split vsplit",
    "bool": """
        allclose array_equal array_equiv can_cast iscomplexobj isdtype isfortran isrealobj isscalar issubdtype iterable
        may_share_memory shares_memory has_value is_tensor is_tensor_sequence is_sparse_tensor""",
    "int": "getbufsize ndim setbufsize size normalize_axis_index degree element_type data_ptr tensor_size_in_bytes",
    "Tuple[int, ...]": "broadcast_shapes normalize_axis_tuple shape",
    "Tuple[int, int]": "byte_bounds",
    "str": """
        array2string array_repr array_str base_repr binary_repr explain format_float_positional
        format_float_scientific mintypecode typename get_device data_type device_name get_run_config_entry
        get_session_config_entry end_profiling""",
    "bytes": "bytes tobytes dumps",
    "Dict[str, Any]": "get_printoptions describe capabilities",
    "Dict[str, str]": "geterr seterr",
    "Dict[str, DType]": "dtypes default_dtypes",
    "None": """
        copyto fill_diagonal place put put_along_axis putmask save savetxt savez savez_compressed set_print_options
        set_printoptions seed set_state shuffle fill tofile dump reset close bind_cpu_input bind_ortvalue_input
        bind_input bind_ortvalue_output bind_output clear_binding_inputs clear_binding_outputs synchronize_inputs
        synchronize_outputs run_with_iobinding update_inplace add_run_config_entry add_session_config_entry
        add_free_dimension_override_by_name register_custom_ops_library set_providers enable_fallback
        disable_fallback run_async""",
    "DType": "common_type min_scalar_type promote_types result_type",
    "Generator": "default_rng default_generator",
    "List[str]": "get_all_providers get_available_providers get_providers",
    "List[NodeArg]": "get_inputs get_outputs get_overridable_initializers",
    "UniqueAllResult": "unique_all",
    "UniqueCountsResult": "unique_counts",
    "UniqueInverseResult": "unique_inverse",
    "EigResult": "eig",
    "EighResult": "eigh",
    "SlogdetResult": "slogdet",
    "Info": "info",
    "Tuple[List[Any], str]": "einsum_path",
    "ContextManager[Dict[str, Any]]": "printoptions",
    "Any": """
        fromfunction geterrcall gradient load seterrcall trim_zeros get_state real_if_close data_as shape_as
        strides_as isnat random_raw atleast_1d atleast_2d atleast_3d apply_over_axes""",
})

# Results of methods that differ from those of functions of the same name, "Class.method".
METHOD_RESULTS = _by_name({
    "None": """
        Array.sort Array.partition Array.resize Array.put Array.setflags IOBinding.take RandomState.seed
        Array.migrate Array.prefetch""",
    "Any": """
        Array.item Array.tolist Symbol.item Symbol.tolist poly1d.__call__ Polynomial.fit errstate.__call__ vectorize.__call__
        vectorize.__get__ OrtValue.numpy Array.to_numpy RandomState.tomaxint Polynomial.__call__ Polynomial.convert""",
    "Symbol": """
        Symbol.all Symbol.any Symbol.argmax Symbol.argmin Symbol.argsort Symbol.astype Symbol.clip Symbol.conj
        Symbol.cumprod Symbol.cumsum Symbol.diagonal Symbol.dot Symbol.flatten Symbol.max Symbol.mean Symbol.min
        Symbol.prod Symbol.ravel Symbol.repeat Symbol.reshape Symbol.round Symbol.squeeze Symbol.std Symbol.sum
        Symbol.swapaxes Symbol.take Symbol.trace Symbol.transpose Symbol.var""",
    "List[Generator]": "Generator.spawn",
    "List[BitGenerator]": "BitGenerator.spawn",
    "BitGenerator": "BitGenerator.advance",
    "DType": "DType.newbyteorder",
    "Array": "DType.__call__",
    "poly1d": "poly1d.integ poly1d.deriv",
    "Tuple[Array, Array]": "Polynomial.linspace",
    "Tuple[Any, Any]": "Polynomial.mapparms",
    "ContextManager[Config]": "Config.__call__",
    "List[Any]": "InferenceSession.run",
    "List[OrtValue]": "InferenceSession.run_with_ort_values IOBinding.get_outputs",
    "IOBinding": "InferenceSession.io_binding",
    "ModelMetadata": "InferenceSession.get_modelmeta",
    "SessionOptions": "InferenceSession.get_session_options",
    "Dict[str, Dict[str, str]]": "InferenceSession.get_provider_options",
    "List[Array]": "IOBinding.copy_outputs_to_cpu",
    "List[int]": "OrtValue.shape",
    "Device": "__array_namespace_info__.default_device",
    "Tuple[Device, ...]": "__array_namespace_info__.devices",
    "bool": "Array.is_ready",
    "str": "Array.state",
    "Polynomial": """
        Polynomial.fromroots Polynomial.identity Polynomial.basis Polynomial.copy Polynomial.trim
        Polynomial.truncate Polynomial.cutdeg Polynomial.deriv Polynomial.integ""",
    "OrtValue": """
        OrtValue.ortvalue_from_array OrtValue.ortvalue_from_numpy OrtValue.ortvalue_from_shape_and_type
        OrtValue.from_dlpack""",
})

# Forms of a function with other results: the parameters that have other types there, and the result. Types with ! have
# to be given, those of literals where the default is another. The last form takes the rest.
_TRUE, _FALSE = "Literal[True]", "Literal[False]"
_FLAGS = ("return_index", "return_inverse", "return_counts")
FORMS = {
    "linspace": [({"retstep": _FALSE}, "Array"), ({"retstep": _TRUE}, "Tuple[Array, Array]"), ({}, "Any")],
    "average": [({"returned": _FALSE}, "Array"), ({"returned": _TRUE}, "Tuple[Array, Array]"), ({}, "Any")],
    "intersect1d": [({"return_indices": _FALSE}, "Array"), ({"return_indices": _TRUE}, "Tuple[Array, Array, Array]"),
                    ({}, "Any")],
    "svd": [({"compute_uv": _TRUE}, "SVDResult"), ({"compute_uv": _FALSE}, "Array"), ({}, "Any")],
    "qr": [({"mode": "Literal['reduced', 'complete', 'raw']"}, "QRResult"), ({"mode": "Literal['r']"}, "Array"),
           ({}, "Any")],
    "where": [({"x": "ArrayLike!", "y": "ArrayLike!"}, "Array"), ({"x": "None", "y": "None"}, "Tuple[Array, ...]")],
    "polyval": [({"x": "ArrayLike"}, "Array"), ({"x": "Any"}, "Any")],  # of polynomials, too, as polynomials
    "polyfit": [({"full": _FALSE, "cov": _FALSE}, "Array"), ({}, "Any")],
    "unique": [({flag: _TRUE if bits >> place & 1 else _FALSE for place, flag in enumerate(_FLAGS)},
                "Tuple[%s]" % ", ".join(["Array"] * (1 + bin(bits).count("1"))) if bits else "Array")
               for bits in range(8)] + [({}, "Any")],
}

# -- classes ---------------------------------------------------------------------------------------------------------

# Classes that are no public names but results of public functions, by module; these modules have stubs for them.
HIDDEN = _by_name({
    "nd4c._functions.sorting": "UniqueAllResult UniqueCountsResult UniqueInverseResult",
    "nd4c._functions.decompositions": "EigResult EighResult QRResult SVDResult",
    "nd4c._functions.solving": "SlogdetResult",
    "nd4c._arrays.flat": "Flat",
    "nd4c._arrays.layout": "Flags Ctypes",
    "nd4c._config": "Config",
    "nd4c._machine": "Info",
    "nd4c._devices": "NativeHandles",
    "nd4c.numpy._grids": "Grid Joined Key",
})

# Types of attributes, "Class.attribute" or by name alone.
ATTRIBUTES = _by_name({
    "int": """
        ndim size nbytes itemsize bits alignment num index number count order o version Ctypes.data iinfo.min
        iinfo.max Step.first_node Step.node_count Step.runs Step.nanoseconds Step.least_nanoseconds""",
    "bool": """
        c_contiguous contiguous writeable aligned owndata writebackifcopy forc fnc behaved carray farray
        f_contiguous fortran isalignedstruct isnative hasobject terminate""",
    "str": """
        name kind numpy_type str char byteorder __name__ variable symbol policy op label description engine kernel
        graph_description graph_name producer_name ModelMetadata.domain kinds NodeArg.type""",
    "Tuple[int, ...]": "shape strides coords",
    "Dict[str, str]": "custom_metadata_map",
    "Symbol": "Symbol.T Symbol.mT Symbol.real Symbol.imag",
    "Tuple[Any, ...]": "Symbol.shape iters Node.inputs Node.outputs",
    "Optional[State]": "Plan.state",
    "float": "operations bytes",
    "Optional[DType]": "Value.dtype Step.dtype",
    "DType": "dtype DType.base DType.type",
    "Any": "DType.dtype",
    "Device": "device",
    "Array": "T mT real imag coef domain window coeffs c coefficients roots r Flat.base OrtValue.array Generator.state",
    "Dict[Device, str]": "states",
    "Dict[str, Any]": "BitGenerator.state __array_interface__",
    "memoryview": "Array.data",
    "None": "Array.base metadata names fields subdtype",
    "Flat": "flat",
    "Flags": "flags",
    "Ctypes": "ctypes",
    "Tuple[Value, ...]": "Model.inputs Model.outputs",
    "Optional[Tuple[Union[int, str, None], ...]]": "Value.shape",
    "Optional[List[Union[int, str, None]]]": "NodeArg.shape",
    "BitGenerator": "bit_generator",
    "cancellation": "RunOptions.cancellation",
    "List[Tuple[str, str]]": "descr",
    "Optional[str]": "status_name Value.kind workspace.name tracing.path",
    "Optional[int]": "status AxisError.axis AxisError.ndim",
    "Optional[float]": "cancellation.timeout",
})

# Attributes that objects get when they are made, and expressions of objects whose attributes those of their class are.
OF_OBJECTS = {"Model": "name inputs outputs", "Generator": "state", "AxisError": "axis ndim", "Polynomial": "coef",
              "Plan": "state", "workspace": "name", "tracing": "path", "cancellation": "timeout", "routing": "policy"}
SAMPLES = {
    "finfo": "nd4c.finfo(nd4c.float32)", "iinfo": "nd4c.iinfo(nd4c.int8)",
    "SessionOptions": "nd4c.onnx.SessionOptions()", "RunOptions": "nd4c.onnx.RunOptions()",
    "broadcast": "nd4c.numpy.broadcast(1, 2)",
}

# Classes whose attributes cannot be set, and from which no program can derive its own.
UNCHANGING = frozenset(["Array", "DType", "Device"])
FINAL = frozenset(["Array"])
# Names that a class inherits from what a core is made of, and refuses.
ABSENT = frozenset(["Array.value"])

# What operators of a class take and give: arithmetic, comparisons. Those of arrays take anything, so that an Array is
# one to the protocols of the typed Array API (array_api_extra's): their operators take every other library's arrays.
OPERATORS = {"Array": ("Any", "Array", "Array"), "Symbol": ("Any", "Symbol", "Symbol"), "Dim": ("Any", "Any", "bool"),
             "Flat": ("Any", "Any", "Array"), "poly1d": ("Any", "poly1d", "bool"),
             "Polynomial": ("Any", "Polynomial", "bool")}

# Signatures of methods that Python calls; "Class.method" before "method".
DUNDERS = {
    "__len__": "self -> int",
    "__iter__": "self -> Iterator[Any]",
    "__next__": "self -> Any",
    "__bool__": "self -> bool",
    "__int__": "self -> int",
    "__float__": "self -> float",
    "__complex__": "self -> complex",
    "__index__": "self -> int",
    "__contains__": "self, value: object, / -> bool",
    "__getitem__": "self, key: Any, / -> Any",
    "__setitem__": "self, key: Any, value: Any, / -> None",
    "__array__": "self, dtype: Any = None, copy: Optional[bool] = None -> Any",
    "__dlpack_device__": "self -> Tuple[int, int]",
    "__array_namespace__": "self, /, *, api_version: Optional[str] = None -> Any",
    "__exit__": "self, *error: object -> None",
    "__divmod__": "self, other: Any, / -> Tuple[Any, Any]",
    "__rdivmod__": "self, other: Any, / -> Tuple[Any, Any]",
    "__round__": "self, ndigits: Optional[int] = None, / -> Array",
    "__hash__": "self -> int",
    "Dim.__abs__": "self -> Dim",
    "Dim.__neg__": "self -> Dim",
    "Dim.__pos__": "self -> Dim",
    "Array.__iter__": "self -> Iterator[Array]",
    "Array.__getitem__": "self, key: Any, / -> Array",
    "__array_ufunc__": "self, ufunc: Any, method: str, *inputs: Any, **named: Any -> Any",
    "__array_function__": "self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any -> Any",
    "__array_wrap__": "self, array: Any, context: Any = None, return_scalar: bool = False -> Any",
    "__dlpack__":
        "self, /, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None, "
        "dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None -> Any",
    "Array.__copy__": "self -> Array",
    "Symbol.__getitem__": "self, key: Any, / -> Symbol",
    "Symbol.__iter__": "self -> Iterator[Symbol]",
    "State.__getitem__": "self, name: str, / -> Array",
    "State.__setitem__": "self, name: str, value: ArrayLike, / -> None",
    "State.__iter__": "self -> Iterator[str]",
    "Array.__deepcopy__": "self, memo: Any, / -> Array",
    "Model.__copy__": "self -> Model",
    "OrtValue.__dlpack__": "self, *, stream: Any = None, **named: Any -> Any",
    "Array.__divmod__": "self, other: ArrayLike, / -> Tuple[Array, Array]",
    "Array.__rdivmod__": "self, other: ArrayLike, / -> Tuple[Array, Array]",
    "Config.__getitem__": "self, name: str, / -> Any",
    "Config.__setitem__": "self, name: str, value: Any, / -> None",
    "Config.__delitem__": "self, name: str, / -> None",
    "Config.__iter__": "self -> Iterator[str]",
    "DType.__instancecheck__": "self, instance: Any, / -> bool",
    "Grid.__getitem__": "self, key: Any, / -> Any",
    "Joined.__getitem__": "self, key: Any, / -> Array",
    "ndindex.__next__": "self -> Tuple[int, ...]",
    "ndindex.__iter__": "self -> ndindex",
    "ndenumerate.__next__": "self -> Tuple[Tuple[int, ...], Any]",
    "ndenumerate.__iter__": "self -> ndenumerate",
    "broadcast.__next__": "self -> Tuple[Any, ...]",
    "broadcast.__iter__": "self -> broadcast",
    "errstate.__enter__": "self -> None",
    "InferenceSession.__enter__": "self -> InferenceSession",
    "InferenceSession.__exit__": "self, *_: object -> None",
    "External.__exit__": "self, *exception: Any -> None",
    "Registered.__exit__": "self, *exception: Any -> None",
}
UNARY = frozenset("__neg__ __pos__ __abs__ __invert__".split())
COMPARISONS = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__".split())
_ARITHMETIC = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
ARITHMETIC = frozenset("__%s%s__" % (form, name) for form in ("", "r", "i") for name in _ARITHMETIC)

# Classes of nd4c.numpy that are one of nd4c to checkers: dtype makes a DType, and is DType to isinstance.
SAME = {"dtype": "DType"}
# Classes of which no program makes objects by calling them.
MADE_BY_FUNCTIONS = frozenset(
    "Array Flat Flags Ctypes BitGenerator External Registered Model Grid Joined Key NodeArg Info Config Symbol Dim Plan Compiled"
    .split())
GENERIC_BASES = {"MutableMapping": "MutableMapping[str, Any]", "Mapping": "Mapping[str, Any]", "dict": "Dict[str, Any]"}

# The class of functions that compute element by element, which have methods beside their call.
UFUNC = """
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: List[str]
    identity: Any
    signature: Optional[str]
    __name__: str
    def reduce(self, array: ArrayLike, /, axis: AxisLike = 0, dtype: Optional[DTypeLike] = None, out: Any = None,
               **named: Any) -> Array: ...
    def accumulate(self, array: ArrayLike, /, axis: SupportsIndex = 0, dtype: Optional[DTypeLike] = None,
                   out: Any = None) -> Array: ...
    def reduceat(self, array: ArrayLike, /, indices: ArrayLike, axis: SupportsIndex = 0,
                 dtype: Optional[DTypeLike] = None, out: Any = None) -> Array: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **named: Any) -> Array: ...
    def at(self, a: Array, indices: Any, b: Optional[ArrayLike] = None, /) -> None: ...
"""
UFUNC_MODULE = '''from typing import Callable, Generic, TypeVar

from nd4c.numpy import ufunc
from typing_extensions import ParamSpec

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

class Ufunc(ufunc, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

def as_ufunc(function: Callable[_P, _R]) -> Ufunc[_P, _R]: ...
'''

"""Types that the stubs of the Python package have beside those that its modules annotate: of parameters by their names, of
results by function, of attributes by class. stubs.py reads these tables.

Types are written with Python's built-in names, those of typing and of nd4c.typing, and the package's classes."""

# -- parameters ------------------------------------------------------------------------------------------------------

# Types of parameters by name. A parameter whose default is None takes None, too.
_PARAMETERS = {
    "ArrayLike": """a a1 a2 A a_max a_min aweights append ar ar1 ar2 arr array array1 array2 ary b c c1 c2 c_or_r coef condition
        element end f fill_value filt fp fweights high indices initial k_array left low m mask mean multi_index obj p prepend prototype q
        repeats right roots sample seq_of_zeros sorter src start_or_stop step stop test_elements to_begin to_end u v val vals
        value values w weights where x x1 x2 X xp y z max min alpha beta colors cov df dfden dfnum kappa lam loc
        mode_of_triangle mu nbad ngood nonc nsample pvals rate scale sigma default off scl lbnd arg posinf neginf rtol atol
        domain window period discont nan start dx rcond tol""",
    "Sequence[ArrayLike]": "arrays arys choices choicelist condlist keys operands tup xi",
    "Array": "dst",
    "DTypeLike": "dtype from_ to type1 type2 int_type new_dtype",
    "DeviceLike": "device",
    "ShapeLike": "shape size dims dimensions newshape new_shape window_shape reps",
    "AxisLike": "axes",
    "str": """bitorder casting check_valid comments delimiter encoding fmt footer header indexing kind method mode newline norm order
        prefix quotechar sep separator side suffix trim UPLO variable symbol typechars typeset floatmode char format""",
    "bool": "assume_unique copy descending full_matrices keepdims hermitian stable subok density",
    "SupportsIndex": """axis1 axis2 axisa axisb axisc count decimals delta high_index ind k maxlength maxpower minlength M N n n_children
        ndim ndmax ndmin num length precision max_line_width threshold edgeitems linewidth min_digits pad_left pad_right exp_digits
        width base_of_digits deg max_rows""",
    "Union[SupportsIndex, Sequence[SupportsIndex]]": "shift source destination kth usecols",
    "Sequence[SupportsIndex]": "s",
    "float": "correction ddof d",
    "Union[int, ArrayLike]": "indices_or_sections",
    "Union[str, int, ArrayLike]": "bins",
    "Tuple[float, float]": "range",
    "Union[str, float]": "ord",
    "Callable[..., Any]": "func func1d function mask_func pyfunc",
    "Union[str, os.PathLike[str], IO[Any]]": "file fid fname",
    "Sequence[str]": "output_names",
    "Mapping[str, Any]": "input_feed input_dict_ort_values",
    "RunOptions": "run_options", "SessionOptions": "sess_options", "IOBinding": "iobinding", "InferenceSession": "session",
    "OrtValue": "ortvalue",
    "Union[str, os.PathLike[str], bytes]": "path_or_bytes",
    "Sequence[Any]": "providers provider_options",
    "object": "like other object obj_of_any",
    "Any": """args arguments attributes kw kwargs kwds named number formatter legacy seed stream signature varargs funclist iter buffer
        string dtype_of_any converters missing_values filling_values names excludelist memo instance owner""",
}
PARAMETERS = {name: text for text, names in _PARAMETERS.items() for name in names.split()}

# Types of parameters of one function, "function.parameter", or of all functions of a module, "module.*.parameter".
SPECIAL = {
    "array.object": "Any", "asarray.a": "Any", "asanyarray.a": "Any", "from_dlpack.x": "Any", "isscalar.element": "Any",
    "iterable.y": "Any", "iscomplexobj.x": "Any", "isrealobj.x": "Any", "shape.a": "ArrayLike", "size.a": "ArrayLike",
    "asarray.copy": "Optional[bool]",
    "isdtype.kind": "Union[str, DTypeLike, Tuple[Union[str, DTypeLike], ...]]", "result_type.arrays_and_dtypes": "Any",
    "can_cast.from_": "Any", "issubdtype.arg1": "Any", "issubdtype.arg2": "Any", "finfo.dtype": "Union[DTypeLike, complex, Array]",
    "iinfo.int_type": "Union[DTypeLike, complex, Array]", "common_type.arrays": "ArrayLike", "typename.char": "Any",
    "round.decimals": "SupportsIndex", "block.arrays": "Any", "tensordot.axes": "Any", "einsum.operands": "Any", "einsum_path.operands": "Any",
    "einsum.optimize": "Any", "einsum_path.optimize": "Any", "matmul.axes": "Any", "vecdot.axes": "Any", "matvec.axes": "Any", "vecmat.axes": "Any",
    "broadcast_arrays.args": "ArrayLike", "broadcast_shapes.args": "ShapeLike", "meshgrid.xi": "ArrayLike", "ix_.args": "ArrayLike",
    "atleast_1d.arys": "ArrayLike", "atleast_2d.arys": "ArrayLike", "atleast_3d.arys": "ArrayLike", "broadcast.arrays": "ArrayLike",
    "savez.args": "ArrayLike", "savez.kwds": "ArrayLike", "savez_compressed.args": "ArrayLike", "savez_compressed.kwds": "ArrayLike",
    "ndindex.shape": "ShapeLike", "kaiser.beta": "float", "rand.shape": "SupportsIndex", "randn.shape": "SupportsIndex", 
    "gradient.f": "ArrayLike", "gradient.varargs": "ArrayLike", "meshgrid.copy": "bool", "pad.pad_width": "Any", "pad.mode": "Any",
    "lexsort.keys": "ArrayLike", "choose.choices": "Sequence[ArrayLike]", "select.condlist": "Sequence[ArrayLike]",
    "histogramdd.bins": "Any", "histogram2d.bins": "Any", "histogramdd.range": "Any", "histogram2d.range": "Any",
    "normalize_axis_index.axis": "SupportsIndex", "normalize_axis_tuple.axis": "Union[SupportsIndex, Sequence[SupportsIndex]]",
    "explain.function": "Union[str, Callable[..., Any]]", "full.fill_value": "ArrayLike", "average.weights": "ArrayLike",
    "setbufsize.size": "int", "seterrcall.func": "Optional[Callable[..., Any]]", "isnat.x": "Any", "where.x": "ArrayLike",
    "set_print_options.options": "int", "load.mmap_mode": "Optional[str]", "require.requirements": "Union[None, str, Sequence[str]]",
    "multinomial.n": "ArrayLike", "binomial.n": "ArrayLike", "negative_binomial.n": "ArrayLike", "triangular.mode": "ArrayLike",
    "gamma.shape": "ArrayLike", "standard_gamma.shape": "ArrayLike", "choice.p": "ArrayLike", "polyint.k": "ArrayLike",
    "matrix_power.n": "SupportsIndex", "cond.p": "Union[str, float]", "piecewise.condlist": "ArrayLike", "clip.named": "Any",
    "polyder.m": "SupportsIndex", "polyint.m": "SupportsIndex", "deriv.m": "SupportsIndex", "integ.m": "SupportsIndex", "integ.k": "ArrayLike",
    "polypow.pow": "SupportsIndex", "polyvander.deg": "SupportsIndex", "fill_diagonal.val": "ArrayLike", "arange.start": "ArrayLike",
    "tril_indices.m": "SupportsIndex", "triu_indices.m": "SupportsIndex", "polyfit.cov": "Union[bool, str]", "tile.reps": "ShapeLike",
    "multi_dot.arrays": "Sequence[ArrayLike]", "concat.arrays": "Union[Array, Sequence[ArrayLike]]", "angle.deg": "bool",
    "stack.arrays": "Union[Array, Sequence[ArrayLike]]", "apply_along_axis.axis": "SupportsIndex", "copyto.dst": "Array",
    "place.arr": "Array", "putmask.a": "Array", "put.a": "Array", "put_along_axis.arr": "Array", "fill_diagonal.a": "Array",
    "interp.left": "float", "interp.right": "float", "interp.period": "float", "digitize.right": "bool", "delete.obj": "Any", "insert.obj": "Any",
    "unique.sorted": "bool", "nan_to_num.copy": "bool", "polyval.tensor": "bool", "top_k.k": "SupportsIndex", "loadtxt.fname": "Any",
    "genfromtxt.fname": "Any", "genfromtxt.comments": "Optional[str]", "genfromtxt.names": "Any", "loadtxt.comments": "Any",
    "isin.kind": "Optional[str]", "loadtxt.encoding": "Optional[str]", "genfromtxt.deletechars": "str", "select.default": "ArrayLike",
    "fromfunction.shape": "Sequence[SupportsIndex]", "indices.dimensions": "Sequence[SupportsIndex]", "mintypecode.typechars": "Any",
    "mintypecode.typeset": "Any", "binary_repr.num": "SupportsIndex", "trim_zeros.axis": "AxisLike", "mintypecode.default": "str",
    "tensorinv.ind": "SupportsIndex", "put.ind": "ArrayLike", "histogram.edges": "ArrayLike", "eye.M": "SupportsIndex",
    "as_strided.strides": "Optional[Sequence[int]]", "set_state.state": "Any", "byte_bounds.a": "Array", "histogram.bins": "Union[str, int, ArrayLike]",
    "device": "Union[None, Device, str]", "ndenumerate.arr": "ArrayLike", "AxisError.axis": "Union[str, int]",
    "AxisError.ndim": "Optional[int]", "AxisError.msg_prefix": "Optional[str]", "vectorize.otypes": "Any", "vectorize.excluded": "Any",
    "vectorize.doc": "Optional[str]", "vectorize.signature": "Optional[str]", "vectorize.pyfunc": "Callable[..., Any]",
    "normalize_axis_index.msg_prefix": "Optional[str]", "normalize_axis_tuple.argname": "Optional[str]", "errstate.call": "Any",
    "polygrid2d.x": "ArrayLike", "printoptions.args": "Any", "array2string.suppress_small": "Optional[bool]", "array_repr.suppress_small": "Optional[bool]",
    "array_str.suppress_small": "Optional[bool]", "array2string.sign": "Optional[str]", "dtype.dtype": "Any", "pinv.rtol": "ArrayLike",
    "permutation.x": "Any", "shuffle.x": "Any", "choice.a": "Any", "seed.seed": "Any", "advance.delta": "int",
    "Config.values": "Optional[Mapping[str, Any]]", "Config.named": "Any",
}
for _name in "all divide over under invalid".split():
    SPECIAL["seterr." + _name] = SPECIAL["errstate." + _name] = "Optional[str]"
for _name in "suppress nanstr infstr sign floatmode override_repr".split():
    SPECIAL["set_printoptions." + _name] = "Any"

# Parameters of ops, by the kinds of _abi.OPS.
KINDS = {"i": "ArrayLike", "o": "ArrayLike", "v": "Sequence[ArrayLike]", "n": "int", "b": "bool", "f": "float",
         "N": "Optional[Sequence[int]]", "F": "Optional[Sequence[float]]", "t": "Optional[DTypeLike]", "s": "Optional[str]"}

# -- results ---------------------------------------------------------------------------------------------------------

# Types of results by function; all others give an Array.
_RESULTS = {
    "Tuple[Array, ...]": """broadcast_arrays meshgrid nonzero unstack ix_ diag_indices diag_indices_from mask_indices tril_indices
        tril_indices_from triu_indices triu_indices_from unravel_index""",
    "Tuple[Array, Array]": "histogram top_k polydiv dropout divmod frexp modf mapparms",
    "Tuple[Array, Array, Array]": "histogram2d",
    "Tuple[Array, List[Array]]": "histogramdd",
    "Tuple[Array, Array, Array, Array]": "lstsq",
    "List[Array]": "array_split dsplit hsplit split vsplit",
    "bool": """allclose array_equal array_equiv can_cast iscomplexobj isdtype isrealobj isscalar issubdtype iterable may_share_memory
        shares_memory has_value is_tensor is_tensor_sequence is_sparse_tensor""",
    "int": "getbufsize ndim setbufsize size normalize_axis_index degree count element_type data_ptr tensor_size_in_bytes",
    "Tuple[int, ...]": "broadcast_shapes normalize_axis_tuple",
    "Tuple[int, int]": "byte_bounds",
    "str": """array2string array_repr array_str base_repr binary_repr explain format_float_positional format_float_scientific mintypecode
        typename get_device data_type device_name get_run_config_entry get_session_config_entry end_profiling""",
    "bytes": "bytes tobytes dumps",
    "Dict[str, Any]": "get_printoptions describe capabilities",
    "Dict[str, str]": "geterr seterr",
    "Dict[str, DType]": "dtypes default_dtypes",
    "None": """copyto fill_diagonal place put put_along_axis putmask save savetxt savez savez_compressed set_print_options
        set_printoptions seed set_state shuffle fill sort_in_place partition_in_place resize_in_place tofile dump setflags reset close
        bind_cpu_input bind_ortvalue_input bind_input bind_ortvalue_output bind_output clear_binding_inputs clear_binding_outputs
        synchronize_inputs synchronize_outputs run_with_iobinding update_inplace add_run_config_entry add_session_config_entry
        add_free_dimension_override_by_name register_custom_ops_library set_providers enable_fallback disable_fallback run_async take_results""",
    "DType": "common_type min_scalar_type promote_types result_type",
    "Generator": "default_rng default_generator",
    "List[str]": "get_all_providers get_available_providers get_providers",
    "List[NodeArg]": "get_inputs get_outputs get_overridable_initializers",
    "UniqueAllResult": "unique_all", "UniqueCountsResult": "unique_counts", "UniqueInverseResult": "unique_inverse",
    "EigResult": "eig", "EighResult": "eigh", "SlogdetResult": "slogdet",
    "Info": "info",
    "Tuple[List[Any], str]": "einsum_path",
    "ContextManager[Dict[str, Any]]": "printoptions",
    "Any": """astype_of_any fromfunction geterrcall gradient load seterrcall trim_zeros get_state item tolist real_if_close __reduce__ data_as
        shape_as strides_as isnat random_raw atleast_1d atleast_2d atleast_3d apply_over_axes rand_any""",
}
RESULTS = {name: text for text, names in _RESULTS.items() for name in names.split()}
RESULTS["shape"] = "Tuple[int, ...]"

# Results of methods that differ from those of functions of the same name, "Class.method".
METHOD_RESULTS = {
    "Array.sort": "None", "Array.partition": "None", "Array.resize": "None", "Array.put": "None", "Array.setflags": "None",
    "Array.item": "Any", "Array.tolist": "Any", "Generator.spawn": "List[Generator]", "BitGenerator.spawn": "List[BitGenerator]",
    "BitGenerator.advance": "BitGenerator", "DType.newbyteorder": "DType", "DType.__call__": "Array", "poly1d.__call__": "Any",
    "poly1d.integ": "poly1d", "poly1d.deriv": "poly1d", "Polynomial.fit": "Any", "Polynomial.mapparms": "Tuple[Array, Array]",
    "Polynomial.linspace": "Tuple[Array, Array]", "Polynomial.has_samecoef": "bool", "errstate.__call__": "Any", "vectorize.__call__": "Any",
    "vectorize.__get__": "Any", "Config.__call__": "ContextManager[Config]", "InferenceSession.run": "List[Any]",
    "InferenceSession.run_with_ort_values": "List[OrtValue]", "InferenceSession.io_binding": "IOBinding",
    "InferenceSession.get_modelmeta": "ModelMetadata", "InferenceSession.get_session_options": "SessionOptions",
    "InferenceSession.get_provider_options": "Dict[str, Dict[str, str]]", "IOBinding.take": "None", "IOBinding.get_outputs": "List[OrtValue]",
    "IOBinding.copy_outputs_to_cpu": "List[Array]", "OrtValue.numpy": "Any", "OrtValue.shape": "List[int]",
    "__array_namespace_info__.default_device": "Device", "__array_namespace_info__.devices": "Tuple[Device, ...]", "RandomState.seed": "None",
    "RandomState.tomaxint": "Any", "Polynomial.__call__": "Any", "Array.is_ready": "bool", "Array.migrate": "None", "Array.prefetch": "None",
    "Array.state": "str",
}
for _name in "fromroots identity basis copy trim truncate cutdeg deriv integ".split():
    METHOD_RESULTS["Polynomial." + _name] = "Polynomial"
METHOD_RESULTS["Polynomial.convert"] = "Any"
for _name in "ortvalue_from_array ortvalue_from_numpy ortvalue_from_shape_and_type from_dlpack".split():
    METHOD_RESULTS["OrtValue." + _name] = "OrtValue"

# Forms of a function with other results: the parameters that have other types there, and the result. The last form takes the rest.
_TRUE, _FALSE = "Literal[True]", "Literal[False]"
FORMS = {
    "linspace": [({"retstep": _FALSE}, "Array"), ({"retstep": _TRUE}, "Tuple[Array, Array]"), ({}, "Any")],
    "average": [({"returned": _FALSE}, "Array"), ({"returned": _TRUE}, "Tuple[Array, Array]"), ({}, "Any")],
    "intersect1d": [({"return_indices": _FALSE}, "Array"), ({"return_indices": _TRUE}, "Tuple[Array, Array, Array]"), ({}, "Any")],
    "svd": [({"compute_uv": _TRUE}, "SVDResult"), ({"compute_uv": _FALSE}, "Array"), ({}, "Any")],
    "qr": [({"mode": "Literal['reduced', 'complete', 'raw']"}, "QRResult"), ({"mode": "Literal['r']"}, "Array"), ({}, "Any")],
    "where": [({"x": "ArrayLike!", "y": "ArrayLike!"}, "Array"), ({"x": "None", "y": "None"}, "Tuple[Array, ...]")],
    "polyfit": [({"full": _FALSE, "cov": _FALSE}, "Array"), ({}, "Any")],
    "unique": [({flag: _TRUE if number >> place & 1 else _FALSE for place, flag in enumerate(
        ("return_index", "return_inverse", "return_counts"))}, "Array" if number == 0 else "Tuple[%s]" % ", ".join(
            ["Array"] * (1 + bin(number).count("1")))) for number in range(8)] + [({}, "Any")],
}

# -- classes ---------------------------------------------------------------------------------------------------------

# Classes that are no public names but results of public functions; the stubs of their package have them with a leading _.
HIDDEN = {
    "UniqueAllResult": "nd4c._sorting", "UniqueCountsResult": "nd4c._sorting", "UniqueInverseResult": "nd4c._sorting",
    "EigResult": "nd4c._decompositions", "EighResult": "nd4c._decompositions", "QRResult": "nd4c._decompositions",
    "SVDResult": "nd4c._decompositions", "SlogdetResult": "nd4c._solving", "Flat": "nd4c._flat", "Flags": "nd4c._layout",
    "Ctypes": "nd4c._layout", "Config": "nd4c._config", "Info": "nd4c._machine", "NativeHandles": "nd4c._devices",
    "Grid": "nd4c.numpy._grids", "Joined": "nd4c.numpy._grids", "Key": "nd4c.numpy._grids",
}

# Types of attributes, "Class.attribute" or by name alone.
_ATTRIBUTES = {
    "int": """ndim nd numiter size nbytes itemsize bits alignment num index number handle count order o version precision nmant nexp iexp machep
        negep minexp maxexp nin nout nargs ntypes Ctypes.data iinfo.min iinfo.max""",
    "float": "eps epsneg max min smallest_normal smallest_subnormal tiny resolution",
    "bool": """c_contiguous contiguous writeable aligned owndata writebackifcopy forc fnc behaved carray farray f_contiguous fortran
        isalignedstruct isnative hasobject terminate""",
    "str": """name kind numpy_type str char byteorder __name__ variable symbol policy op label description domain_of_model graph_description
        graph_name producer_name ModelMetadata.domain key kinds NodeArg.type""",
    "Tuple[int, ...]": "shape strides coords",
    "Dict[str, str]": "custom_metadata_map",
    "DType": "dtype DType.dtype DType.base",
    "Device": "device",
    "Array": "T mT real imag coef domain window coeffs c coefficients roots r Flat.base OrtValue.array Generator.state",
    "Dict[Device, str]": "states",
    "Dict[str, Any]": "BitGenerator.state __array_interface__",
    "memoryview": "Array.data",
    "None": "Array.base metadata names fields subdtype",
    "Flat": "flat", "Flags": "flags", "Ctypes": "ctypes",
    "Tuple[Value, ...]": "Model.inputs Model.outputs",
    "Optional[Tuple[Union[int, str, None], ...]]": "Value.shape", "Optional[List[Union[int, str, None]]]": "NodeArg.shape",
    "Optional[DType]": "Value.dtype",
    "BitGenerator": "bit_generator",
    "cancellation": "RunOptions.cancellation",
    "List[Tuple[str, str]]": "descr", "type": "DType.type",
    "Tuple[Any, ...]": "iters",
    "Optional[str]": "status_name Value.kind", "Optional[int]": "status AxisError.axis AxisError.ndim",
}
ATTRIBUTES = {name: text for text, names in _ATTRIBUTES.items() for name in names.split()}

# Attributes that objects get when they are made, beside those of the object that SAMPLES makes.
OF_OBJECTS = {"Model": "name inputs outputs", "Generator": "state", "AxisError": "axis ndim", "Polynomial": "coef", "workspace": "name",
              "tracing": "path", "cancellation": "timeout", "routing": "policy"}
ATTRIBUTES.update({"workspace.name": "Optional[str]", "tracing.path": "Optional[str]", "cancellation.timeout": "Optional[float]"})
SAMPLES = {
    "finfo": "nd4c.finfo(nd4c.float32)", "iinfo": "nd4c.iinfo(nd4c.int8)", "SessionOptions": "nd4c.onnx.SessionOptions()",
    "RunOptions": "nd4c.onnx.RunOptions()", "broadcast": "nd4c.numpy.broadcast(1, 2)",
}

# Names that a class inherits from what a core is made of, and refuses.
ABSENT = frozenset(["Array.value"])

# What operators of a class take and give: arithmetic, comparisons.
OPERATORS = {"Array": ("ArrayLike", "Array", "Array"), "Flat": ("Any", "Any", "Array"), "poly1d": ("Any", "poly1d", "bool"),
             "Polynomial": ("Any", "Polynomial", "bool")}

# Signatures of methods that Python calls; "Class.method" before "method".
DUNDERS = {
    "__len__": "self -> int", "__iter__": "self -> Iterator[Any]", "__next__": "self -> Any", "__bool__": "self -> bool", "__int__": "self -> int",
    "__float__": "self -> float", "__complex__": "self -> complex", "__index__": "self -> int",
    "__contains__": "self, value: object, / -> bool", "__getitem__": "self, key: Any, / -> Any",
    "__setitem__": "self, key: Any, value: Any, / -> None", "__delitem__": "self, key: Any, / -> None",
    "__array__": "self, dtype: Any = None, copy: Optional[bool] = None -> Any", "__dlpack_device__": "self -> Tuple[int, int]",
    "__array_namespace__": "self, /, *, api_version: Optional[str] = None -> Any", "__exit__": "self, *error: object -> None",
    "__divmod__": "self, other: Any, / -> Tuple[Any, Any]", "__rdivmod__": "self, other: Any, / -> Tuple[Any, Any]",
    "__round__": "self, ndigits: Optional[int] = None, / -> Array", "__hash__": "self -> int",
    "Array.__iter__": "self -> Iterator[Array]", "Array.__getitem__": "self, key: Any, / -> Array", "__array_ufunc__": 
    "self, ufunc: Any, method: str, *inputs: Any, **named: Any -> Any", "__array_function__": 
    "self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any -> Any", "__array_wrap__":
    "self, array: Any, context: Any = None, return_scalar: bool = False -> Any",
    "__dlpack__": """self, /, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None -> Any""",
    "OrtValue.__dlpack__": "self, *, stream: Any = None, **named: Any -> Any",
    "Array.__divmod__": "self, other: ArrayLike, / -> Tuple[Array, Array]", "Array.__rdivmod__": "self, other: ArrayLike, / -> Tuple[Array, Array]",
    "Config.__getitem__": "self, name: str, / -> Any", "Config.__setitem__": "self, name: str, value: Any, / -> None",
    "Config.__delitem__": "self, name: str, / -> None", "Config.__iter__": "self -> Iterator[str]",
    "DType.__instancecheck__": "self, instance: Any, / -> bool", "Grid.__getitem__": "self, key: Any, / -> Any",
    "Joined.__getitem__": "self, key: Any, / -> Array", "ndindex.__next__": "self -> Tuple[int, ...]", "ndindex.__iter__": "self -> ndindex",
    "ndenumerate.__next__": "self -> Tuple[Tuple[int, ...], Any]", "ndenumerate.__iter__": "self -> ndenumerate",
    "broadcast.__next__": "self -> Tuple[Any, ...]", "broadcast.__iter__": "self -> broadcast", "errstate.__enter__": "self -> None",
    "InferenceSession.__enter__": "self -> InferenceSession", "InferenceSession.__exit__": "self, *_: object -> None",
    "External.__exit__": "self, *exception: Any -> None", "Registered.__exit__": "self, *exception: Any -> None",
}
UNARY = frozenset("__neg__ __pos__ __abs__ __invert__".split())
COMPARISONS = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__".split())
_ARITHMETIC = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
ARITHMETIC = frozenset("__%s%s__" % (form, name) for form in ("", "r", "i") for name in _ARITHMETIC)

# Classes that are another one for those who read annotations: nd4c.numpy.dtype makes a DType, and is DType to isinstance.
SAME = {"nd4c.numpy.dtype": "DType"}
# Classes of which no program makes objects by calling them.
MADE_BY_FUNCTIONS = frozenset("Array DType Flat Flags Ctypes BitGenerator External Registered Model Grid Joined Key NodeArg Info Config".split())
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
    def reduce(self, array: ArrayLike, /, axis: AxisLike = 0, dtype: Optional[DTypeLike] = None, out: Any = None, **named: Any) -> Array: ...
    def accumulate(self, array: ArrayLike, /, axis: SupportsIndex = 0, dtype: Optional[DTypeLike] = None, out: Any = None) -> Array: ...
    def reduceat(self, array: ArrayLike, /, indices: ArrayLike, axis: SupportsIndex = 0, dtype: Optional[DTypeLike] = None,
                 out: Any = None) -> Array: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **named: Any) -> Array: ...
    def at(self, a: Array, indices: Any, b: Optional[ArrayLike] = None, /) -> None: ...
"""

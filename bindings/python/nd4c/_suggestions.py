"""What an AttributeError says about a name that nd4c or nd4c.numpy does not have: the word that nd4c has for it.

Words of PyTorch, TensorFlow, JAX, SciPy and ONNX come from the derived ops' docstrings ("Elsewhere: ...") and the table
here. The package imports this module when a name is not found. For arrays: _arrays/foreign_names.py."""

# Functions of other libraries that are no op of the same meaning, or whose op has another name in the namespace.
_FUNCTIONS = {
    "tensor": "asarray", "Tensor": "asarray", "as_tensor": "asarray", "from_numpy": "asarray",
    "convert_to_tensor": "asarray", "constant": "asarray", "Variable": "asarray", "cat": "concat", "hcat": "concat",
    "clone": "copy", "unsqueeze": "expand_dims", "permute": "permute_dims", "view": "reshape",
    "mm": "matmul", "bmm": "matmul", "mv": "matvec", "rand": "random.random",
    "randn": "random.standard_normal", "randint": "random.integers", "randperm": "random.permutation",
    "manual_seed": "random.seed", "set_seed": "random.seed", "relu": "nn.relu", "gelu": "nn.gelu",
    "one_hot": "ops.one_hot", "norm": "linalg.norm", "no_grad": None, "jit": "compile", "optim": None,
    "autograd": "grad", "vmap": "vectorize",
    "reduce_sum": "sum", "reduce_mean": "mean", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod",
    "reduce_any": "any", "reduce_all": "all", "gather_nd": "ops.gather_nd", "gt": "greater", "lt": "less",
    "ge": "greater_equal", "le": "less_equal", "eq": "equal", "ne": "not_equal", "numel": "size",
    "Session": "onnx.InferenceSession", "InferenceSession": "onnx.InferenceSession", "onnx_load": "onnx.load",
    "device_count": "devices", "cuda": 'device("cuda:0")',
}

# Names that NumPy had before 2.0 and 1.24, and what has succeeded them in nd4c.
_OF_OLD_NUMPY = {
    "float_": "float64", "complex_": "complex128", "cfloat": "complex128", "singlecomplex": "complex64",
    "unicode_": "str_", "bool8": "bool", "int0": "intp", "uint0": "uintp", "cumproduct": "cumprod", "product": "prod",
    "sometrue": "any", "alltrue": "all", "trapz": "trapezoid", "in1d": "isin", "Inf": "inf", "Infinity": "inf",
    "infty": "inf", "PINF": "inf", "NaN": "nan", "NAN": "nan", "round_": "round", "find_common_type": "result_type",
    "issubsctype": "issubdtype", "fastCopyAndTranspose": "copy(x.T)", "asfarray": "asarray(x, dtype=float)",
    "msort": "sort(x, axis=0)",
    "byte_bounds": "numpy.lib.array_utils.byte_bounds", "AxisError": "numpy.exceptions.AxisError",
    "RankWarning": "numpy.exceptions.RankWarning", "ComplexWarning": "numpy.exceptions.ComplexWarning",
    "recfromtxt": "genfromtxt", "recfromcsv": "genfromtxt",
}

# Names for which there is more to say than one word of nd4c's.
_SENTENCES = {
    "int": "write int, or nd4c.int64 for the dtype", "float": "write float, or nd4c.float64 for the dtype",
    "complex": "write complex, or nd4c.complex128 for the dtype", "str": "write str; texts have the dtype nd4c.utf8",
    "object": "nd4c has no Python objects as elements", "object0": "nd4c has no Python objects as elements",
    "ma": "nd4c has no masked arrays; NaN and the nan functions of nd4c, or where= of reductions, leave elements out",
    "NINF": "write -nd4c.inf", "PZERO": "write 0.0", "NZERO": "write -0.0",
    "mat": "nd4c has arrays only; x @ y multiplies matrices",
    "asscalar": "write x.item()", "rank": "write x.ndim", "alen": "write len(x)",
}

_NO_LAYERS = "nd4c has no layers with weights of their own: its functions take the weights, nd4c.onnx runs whole models"
_LAYERS = """
    Module ModuleList Sequential Linear Conv1d Conv2d Conv3d ReLU GELU Sigmoid Softmax Tanh Dropout Embedding Flatten LayerNorm
    BatchNorm1d BatchNorm2d GroupNorm MaxPool2d AvgPool2d LSTM GRU RNN MultiheadAttention CrossEntropyLoss MSELoss
"""
_OF_EACH_RANK = {"conv": "conv", "conv_transpose": "conv_transpose", "max_pool": "max_pool", "avg_pool": "average_pool",
                 "adaptive_avg_pool": "adaptive_average_pool", "adaptive_max_pool": "adaptive_max_pool"}
_OF_OLDER_RANDOM = "rand randn randint random_integers random_sample ranf sample RandomState get_state set_state"

# Words of the counterparts of modules: words of nd4c's, as in _FUNCTIONS, or sentences, which hold a space.
_OF_MODULES = {
    "nd4c.nn": {
        **{word + "%dd" % rank: "nn." + ours for word, ours in _OF_EACH_RANK.items() for rank in (1, 2, 3)},
        **dict.fromkeys(_LAYERS.split(), _NO_LAYERS),
        "linear": "x @ w.T + b is the product; nd4c.ops.linear computes it in one step",
        "functional": "its functions are those of nd4c.nn", "Parameter": "nd4c's weights are arrays",
        "cross_entropy": "nn.softmax_cross_entropy", "binary_cross_entropy": "nn.log_loss",
        "binary_cross_entropy_with_logits": "nn.sigmoid_cross_entropy", "kl_div": "nn.kl_divergence",
        "dropout": "random.dropout", "embedding": "nn.embedding_lookup", "silu": "nn.swish", "hardtanh": "nn.hard_tanh",
        "hardsigmoid": "nn.hard_sigmoid", "hardswish": "nn.hard_swish", "logsigmoid": "nn.log_sigmoid",
        "normalize": "nn.lp_normalize", "scaled_dot_product_attention": "nn.attention", "avg_pool": "nn.average_pool",
        "unfold": "nn.im2col", "fold": "nn.col2im", "pixel_shuffle": "nn.depth_to_space", "interpolate": "image.resize",
    },
    "nd4c.random": {
        **{name: "numpy.random." + name for name in _OF_OLDER_RANDOM.split()},
        "randperm": "random.permutation", "manual_seed": "random.seed", "set_seed": "random.seed",
        "PRNGKey": "random.default_rng", "key": "random.default_rng", "gaussian": "random.normal",
    },
    "nd4c.onnx": {
        "set_seed": "random.seed", "load_model": "onnx.load", "Session": "onnx.InferenceSession",
        "ModelProto": "onnx.Model", "get_version_string": "__version__",
        "export": "nd4c runs ONNX models; torch.onnx.export writes them",
        "save": "nd4c runs ONNX models; the package onnx writes them",
        "helper": "nd4c runs ONNX models; the package onnx makes them",
        "checker": "nd4c.onnx.load checks a model",
    },
    "nd4c.linalg": {
        "solve_triangular": "ops.triangular_solve", "eigsh": "linalg.eigh",
        "expm": "nd4c has no exponential of matrices; eigh() gives that of symmetric ones",
    },
    "nd4c.fft": {},
}


def _elsewhere():
    """The op that has another library's word in its docstring, by the last part of the word."""
    import re
    from nd4c import ops
    found = {}
    for name in ops.__dict__:
        doc = getattr(getattr(ops, name), "__doc__", None) or ""
        words = doc.partition("Elsewhere: ")[2].partition("\n\n")[0]
        for word in re.findall(r"[\w.]+", words):
            found.setdefault(word.rpartition(".")[2], name)
    return found


def replacement(name):
    """The word that nd4c has for a name, after "nd4c."; None if it knows none, "" if nd4c has nothing of the kind."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name] or ""
    if name in _OF_OLD_NUMPY:
        return _OF_OLD_NUMPY[name]
    import nd4c
    op = _elsewhere().get(name)
    if op is not None:
        of_standard = {"true_divide": "divide", "power": "pow", "is_nan": "isnan", "is_inf": "isinf",
        "is_finite": "isfinite"}
        return of_standard.get(op, op)
    return _near(name, dir(nd4c))


def _near(name, known):
    import difflib
    near = difflib.get_close_matches(name, [one for one in known if not one.startswith("_")], 1, 0.8)
    return near[0] if near else None


def _advice(module, name):
    """What to use instead of a name, as a sentence; None where there is nothing."""
    if module in _OF_MODULES:
        import sys
        word = _OF_MODULES[module].get(name)
        if word is not None and " " in word:
            return word
        near = None if word else _near(name, sys.modules[module].__all__)
        word = word or (near and "%s.%s" % (module[5:], near)) or (None if name in _SENTENCES else replacement(name))
    elif name in _SENTENCES:
        return _SENTENCES[name]
    else:
        word = replacement(name)
    if word == "":
        return "arrays record no gradients: nd4c.grad differentiates functions, and nd4c.compile compiles them"
    return word and "did you mean nd4c.%s?" % word


class MissingAttribute(AttributeError):
    """A module lacks a name. The text is made when it is read: hasattr() asks for names in loops."""

    def __init__(self, module, name):
        super().__init__(module, name)
        self.name = name

    def __str__(self):
        module, name = self.args
        text = "module %r has no attribute %r" % (module, name)
        if name.startswith("__"):
            return text
        advice = _advice(module, name)
        return text + (": " + advice if advice else "; dir(%s) lists its names" % module)

    def __reduce__(self):
        return AttributeError, (str(self),)


# Tracebacks show it as what it is to users.
MissingAttribute.__name__ = MissingAttribute.__qualname__ = "AttributeError"
MissingAttribute.__module__ = "builtins"

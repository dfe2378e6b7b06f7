"""What an AttributeError says about a name that nd4c or nd4c.numpy does not have: the word that nd4c has for it.

Words of PyTorch, TensorFlow, JAX, SciPy and ONNX come from the derived ops' docstrings ("Elsewhere: ...") and the table
here. The package imports this module when a name is not found. For arrays: _arrays/foreign_names.py."""

# Functions of other libraries that are no op of the same meaning, or whose op has another name in the namespace.
_FUNCTIONS = {
    "tensor": "asarray", "Tensor": "asarray", "as_tensor": "asarray", "from_numpy": "asarray",
    "convert_to_tensor": "asarray", "constant": "asarray", "Variable": "asarray", "cat": "concat", "hcat": "concat",
    "clone": "copy", "unsqueeze": "expand_dims", "permute": "permute_dims", "view": "reshape",
    "flatten": "reshape(x, -1)", "mm": "matmul", "bmm": "matmul", "mv": "matvec", "rand": "random.random",
    "randn": "random.standard_normal", "randint": "random.integers", "randperm": "random.permutation",
    "manual_seed": "random.seed", "set_seed": "random.seed", "relu": "nn.relu", "gelu": "nn.gelu",
    "one_hot": "ops.one_hot", "no_grad": None, "jit": None, "grad": None, "vmap": "vectorize", "compile": None,
    "reduce_sum": "sum", "reduce_mean": "mean", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod",
    "reduce_any": "any", "reduce_all": "all", "gather_nd": "ops.gather_nd", "gt": "greater", "lt": "less",
    "ge": "greater_equal", "le": "less_equal", "eq": "equal", "ne": "not_equal", "numel": "size",
    "Session": "onnx.InferenceSession", "InferenceSession": "onnx.InferenceSession", "onnx_load": "onnx.load",
    "device_count": "devices", "cuda": 'device("cuda:0")',
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
    import difflib
    import nd4c
    op = _elsewhere().get(name)
    if op is not None:
        of_standard = {"true_divide": "divide", "power": "pow", "is_nan": "isnan", "is_inf": "isinf", "is_finite": "isfinite"}
        return of_standard.get(op, op)
    known = [one for one in dir(nd4c) if not one.startswith("_")]
    near = difflib.get_close_matches(name, known, 1, 0.8)
    return near[0] if near else None


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
        word = replacement(name)
        if word == "":
            return text + ": it records no gradients and compiles no Python functions; nd4c.onnx runs models"
        return text + (": did you mean nd4c.%s?" % word if word else "; dir(%s) lists its names" % module)

    def __reduce__(self):
        return AttributeError, (str(self),)


# Tracebacks show it as what it is to users.
MissingAttribute.__name__ = MissingAttribute.__qualname__ = "AttributeError"
MissingAttribute.__module__ = "builtins"

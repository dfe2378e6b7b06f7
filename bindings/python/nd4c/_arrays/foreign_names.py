"""Attributes and methods of other libraries' arrays that nd4c.Array lacks: each is an AttributeError that says what to write.

They are descriptors on the class, so that hasattr() is False, and attributes that arrays have cost nothing more."""

# What to write instead, by name.
_INSTEAD = {
    "numpy": "numpy.asarray(x)", "float": "x.astype(nd4c.float32)", "double": "x.astype(nd4c.float64)",
    "half": "x.astype(nd4c.float16)", "bfloat16": "x.astype(nd4c.bfloat16)", "int": "x.astype(nd4c.int32)",
    "long": "x.astype(nd4c.int64)", "short": "x.astype(nd4c.int16)", "bool": "x.astype(bool)",
    "byte": "x.astype(nd4c.uint8)", "type": "x.astype(dtype)", "cuda": 'x.to("cuda:0")', "cpu": 'x.to("cpu:0")',
    "unsqueeze": "nd4c.expand_dims(x, axis)", "clone": "x.copy()", "permute": "x.transpose(axes)", "numel": "x.size",
    "element_size": "x.itemsize", "dim": "x.ndim", "contiguous": "x.copy()", "is_contiguous": "x.flags.c_contiguous",
    "expand": "nd4c.broadcast_to(x, shape)", "expand_as": "nd4c.broadcast_to(x, y.shape)",
    "view_as": "x.reshape(y.shape)", "mm": "x @ y", "bmm": "x @ y", "matmul": "x @ y", "t": "x.T", "add": "x + y",
    "sub": "x - y", "mul": "x * y", "div": "x / y", "pow": "x ** y", "add_": "x += y", "sub_": "x -= y",
    "mul_": "x *= y", "div_": "x /= y", "fill_": "x.fill(value)", "zero_": "x.fill(0)", "copy_": "x[...] = y",
    "abs": "nd4c.abs(x)", "exp": "nd4c.exp(x)", "log": "nd4c.log(x)", "sqrt": "nd4c.sqrt(x)",
    "sigmoid": "nd4c.sigmoid(x)", "relu": "nd4c.nn.relu(x)", "softmax": "nd4c.nn.softmax(x, axis=axis)",
    "tanh": "nd4c.tanh(x)", "norm": "nd4c.linalg.norm(x)", "topk": "nd4c.top_k(x, k)",
    "gather": "nd4c.take_along_axis(x, indices, axis)", "index_select": "nd4c.take(x, indices, axis)",
    "masked_fill": "nd4c.where(mask, value, x)", "masked_fill_": "x[mask] = value", "chunk": "nd4c.split(x, count)",
    "split": "nd4c.split(x, count)", "unbind": "nd4c.unstack(x)", "new_zeros": "nd4c.zeros(shape, dtype=x.dtype)",
    "new_ones": "nd4c.ones(shape, dtype=x.dtype)", "at": "x[index] = value, which writes into x",
    "to_numpy": "numpy.asarray(x)", "as_numpy": "numpy.asarray(x)", "get": "numpy.asarray(x)", "get_shape": "x.shape",
    "tostring": "x.tobytes()", "ptp": "nd4c.ptp(x)", "itemset": "x[index] = value", "median": "nd4c.median(x)",
    "clamp": "x.clip(min, max)", "clamp_": "x[...] = x.clip(min, max)", "eq": "x == y", "ne": "x != y", "lt": "x < y",
    "le": "x <= y", "gt": "x > y", "ge": "x >= y", "unique": "nd4c.unique_values(x)", "type_as": "x.astype(y.dtype)",
    "is_cuda": "x.device", "storage": "x.data",
}

# What to leave out, and why.
_NEEDLESS = {
    "arrays record no gradients":
        "detach backward grad requires_grad requires_grad_",
    "operations have finished when they return":
        "block_until_ready eval",
    "elements have the machine's byte order":
        "newbyteorder",
}


class ForeignName:
    """A name of another library's arrays on the Array class: an AttributeError with a text."""

    def __init__(self, text):
        self._text = text

    def __get__(self, instance, owner):
        raise AttributeError(self._text)


def attach(cls):
    """Puts the names that the class lacks on it, and leaves them out of dir()."""
    texts = {name: "did you mean %s?" % instead for name, instead in _INSTEAD.items()}
    texts.update({name: "leave it out: " + reason for reason, names in _NEEDLESS.items() for name in names.split()})
    added = frozenset(name for name in texts if not hasattr(cls, name))
    for name in added:
        setattr(cls, name, ForeignName("'nd4c.Array' object has no attribute %r: %s" % (name, texts[name])))
    every = cls.__dir__

    def __dir__(self):
        """The names of attributes and methods."""
        return [name for name in every(self) if name not in added]
    cls.__dir__ = __dir__

"""__array_namespace_info__ of the Array API standard."""
from nd4c import _devices, _dtypes
from nd4c._functions.dtypes import _DTYPE_KINDS


class __array_namespace_info__:
    """The library's capabilities, as the standard defines them.

    >>> info = nd4c.__array_namespace_info__()
    >>> info.capabilities()["max dimensions"], info.default_dtypes()["integral"]
    (32, nd4c.int64)
    >>> info.dtypes(kind="complex floating")
    {'complex64': nd4c.complex64, 'complex128': nd4c.complex128}
    >>> info.default_device() in info.devices()
    True
    """

    def capabilities(self):
        """Whether shapes may depend on data; the largest number of axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self):
        """The device that arrays are made on unless another is asked for."""
        return _devices.default()

    def default_dtypes(self, /, *, device=None):
        """The default dtypes of Python's numbers."""
        names = _dtypes.DEFAULTS
        return {"real floating": names[float], "complex floating": names[complex], "integral": names[int],
                "indexing": names[int]}

    def dtypes(self, /, *, device=None, kind=None):
        """The standard's dtypes by name, all or those of a kind."""
        kinds = (kind,) if isinstance(kind, str) else kind
        wanted = "biufc" if kinds is None else "".join(_DTYPE_KINDS[one] for one in kinds)
        return {name: dtype for name, dtype in _dtypes.by_name.items() if dtype.kind in wanted and name in _STANDARD}

    def devices(self):
        """All devices that arrays can be made on."""
        return _devices.every()


_STANDARD = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
             "complex64", "complex128"}

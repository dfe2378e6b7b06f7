"""Names of NumPy's that nd4c cannot serve, and what to use instead. nd4c.numpy raises an AttributeError with the text."""

_OF_DATES = "nd4c has no dates; count units since an epoch in int64, or use Python's datetime"
_OF_RECORDS = "nd4c has no structured elements; keep one array for each field"
_OF_ITERATORS = "nd4c iterates over elements in C only; broadcast_arrays, x.flat and ndindex give views, elements and indices"

FUNCTIONS = {
    "busday_count": _OF_DATES, "busday_offset": _OF_DATES, "busdaycalendar": _OF_DATES, "datetime_as_string": _OF_DATES,
    "datetime_data": _OF_DATES, "is_busday": _OF_DATES,
    "record": _OF_RECORDS, "recarray": _OF_RECORDS,
    "fromregex": _OF_RECORDS + "; Python's re finds the numbers, asarray takes lists of them",
    "frompyfunc": "nd4c has no Python objects as elements; vectorize makes an array of what a function returns",
    "nditer": _OF_ITERATORS, "nested_iters": _OF_ITERATORS,
    "matrix": "nd4c has arrays only; x @ y multiplies matrices", "asmatrix": "nd4c has arrays only; x @ y multiplies matrices",
    "bmat": "nd4c has arrays only; block() joins blocks",
    "memmap": "numpy.memmap makes the file's memory an array, nd4c.asarray() shares it without a copy",
    "float128": "nd4c has no extended precision; float64 is the widest float",
    "complex256": "nd4c has no extended precision; complex128 is the widest complex dtype",
    "get_include": "nd4c's C headers are those of the package libnd4c-dev, include/nd4c",
    "test": "scripts/ci of nd4c's sources runs the tests",
    "show_config": "nd4c.info() tells the libraries and devices in use",
    "show_runtime": "nd4c.info() tells the libraries and devices in use",
    "info": "help(x) shows a docstring; nd4c.info() tells about the machine",
}

MODULES = {
    "char": "nd4c.ops has functions of texts: nd4c.ops.CATEGORIES['string']",
    "strings": "nd4c.ops has functions of texts: nd4c.ops.CATEGORIES['string']",
    "ma": "nd4c has no masked arrays; NaN and the nan functions, or where= of reductions, leave elements out",
    "rec": _OF_RECORDS, "ctypeslib": "nd4c.asarray() shares the memory of ctypes' arrays",
    "emath": "cast to complex128 first: sqrt(x.astype(complex))",
    "f2py": "nd4c.plugins loads ops that are written in C", "core": "its functions are those of nd4c.numpy",
    "testing": "numpy.testing takes nd4c's arrays", "typing": "nd4c.typing has ArrayLike, DTypeLike and others",
    "dtypes": "nd4c.DType is the class of all dtypes", "matlib": "nd4c has arrays only",
    "distutils": "nd4c does not build extensions",
}

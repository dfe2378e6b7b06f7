"""The names of NumPy's main namespace: nd4c.numpy has each, with NumPy's signature, or refuses it with a text; and what
AttributeErrors of nd4c say about other libraries' words."""
import inspect
import subprocess
import sys
import types

import numpy
import pytest

import nd4c
import nd4c.numpy as np
from nd4c.numpy import _refused

_NAMES = [name for name in numpy.__all__ if not isinstance(getattr(numpy, name), types.ModuleType)]
_MODULES = [name for name in numpy.__all__ if isinstance(getattr(numpy, name), types.ModuleType)]
_CALLABLE = [name for name in _NAMES if callable(getattr(numpy, name))]
_FUNCTIONS = [name for name in _CALLABLE if not isinstance(getattr(numpy, name), type)]

# Names that exist, so that code may ask whether a dtype is one, but make no arrays.
_TYPES_ONLY = {"longdouble", "clongdouble", "bytes_", "void", "object_", "datetime64", "timedelta64"}


@pytest.mark.parametrize("name", _NAMES)
def test_each_name_exists_or_is_refused(name):
    if name in _refused.FUNCTIONS:
        with pytest.raises(AttributeError, match="^module 'nd4c.numpy' has no attribute %r: .{20}" % name):
            getattr(np, name)
        assert not hasattr(np, name)
    else:
        assert getattr(np, name) is getattr(np, name)
        assert name in np.__all__


@pytest.mark.parametrize("name", _MODULES)
def test_each_module_exists_or_is_refused(name):
    if name in _refused.MODULES:
        with pytest.raises(AttributeError, match="has no attribute %r: .{20}" % name):
            getattr(np, name)
    else:
        assert isinstance(getattr(np, name), types.ModuleType)


def test_few_are_refused(capsys):
    refused = [name for name in _CALLABLE if name in _refused.FUNCTIONS or name in _TYPES_ONLY]
    with capsys.disabled():
        print("\nnumpy: %d callables exist, %d are refused" % (len(_CALLABLE) - len(refused), len(refused)))
    assert len(refused) <= 30 and not set(_refused.FUNCTIONS) - set(numpy.__all__)


def test_no_function_is_numpys_own():
    for name in np.__all__:
        value = getattr(np, name)
        assert not (getattr(value, "__module__", "") or "").startswith("numpy"), name


@pytest.mark.parametrize("name", sorted(_TYPES_ONLY))
def test_types_without_elements_say_what_to_use(name):
    with pytest.raises(TypeError, match="^%s: nd4c has no .*; " % name):
        getattr(np, name)(1)
    with pytest.raises(TypeError, match="not a dtype"):
        np.zeros(2, dtype=getattr(np, name))
    assert not np.issubdtype(np.float64, getattr(np, name))


# Functions whose parameters differ from NumPy's, and why.
_SIGNATURES = {
    "arange": "start= by its name, which NumPy takes without showing it",
    "clip": "the bounds by position are the standard's min and max; a_min and a_max go by name",
    "isnat": "no dtype has dates, so that the options change nothing",
    "real": "val is positional, as the standard's x", "imag": "val is positional, as the standard's x",
}


def _parameters(function):
    return list(inspect.signature(function).parameters.values())


@pytest.mark.parametrize("name", [name for name in _FUNCTIONS if name not in _refused.FUNCTIONS])
def test_signatures_are_numpys(name):
    try:
        theirs = _parameters(getattr(numpy, name))
    except ValueError:
        pytest.skip("NumPy's has no signature")
    if name in _SIGNATURES:
        return
    ours = _parameters(getattr(np, name))
    placed = [(p.name, p.kind) for p in theirs if p.kind is not p.KEYWORD_ONLY]
    assert [(p.name, p.kind) for p in ours if p.kind is not p.KEYWORD_ONLY] == placed
    ours = {parameter.name: parameter for parameter in ours}
    for other in theirs:
        mine = ours[other.name]
        assert mine.kind is other.kind and (mine.default is mine.empty) == (other.default is other.empty), mine
        if isinstance(other.default, (int, float, str, tuple, type(None))):
            assert mine.default == other.default, mine


# -- other libraries' words ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, ours", [
    ("cat", "concat"), ("unsqueeze", "expand_dims"), ("permute", "permute_dims"), ("tensor", "asarray"), ("reduce_sum", "sum"),
    ("convert_to_tensor", "asarray"), ("randn", "random.standard_normal"), ("concatt", "concat"),
    ("logsumexpp", "logsumexp"), ("topk", "top_k"), ("Softmax", "softmax"), ("bmm", "matmul"), ("eq", "equal"),
])
def test_a_foreign_word_names_ours(name, ours):
    with pytest.raises(AttributeError, match=r"module 'nd4c' has no attribute %r: did you mean nd4c\.%s\?" % (name, ours)):
        getattr(nd4c, name)
    with pytest.raises(AttributeError, match="did you mean"):
        getattr(np, name)
    value = nd4c
    for part in ours.split("."):
        value = getattr(value, part)
    assert callable(value)


@pytest.mark.parametrize("name, text", [
    ("int", r"write int, or nd4c\.int64"), ("float", r"write float, or nd4c\.float64"), ("object", "no Python objects"),
    ("ma", "masked arrays"), ("trapz", r"nd4c\.trapezoid\?"), ("in1d", r"nd4c\.isin\?"), ("product", r"nd4c\.prod\?"),
    ("float_", r"nd4c\.float64\?"), ("Inf", r"nd4c\.inf\?"), ("NINF", r"-nd4c\.inf"), ("norm", r"nd4c\.linalg\.norm\?"),
    ("optim", "record no gradients"),
])
def test_a_name_of_older_numpy_names_its_successor(name, text):
    for module in (nd4c, np):
        with pytest.raises(AttributeError, match=text):
            getattr(module, name)


@pytest.mark.parametrize("module, name, text", [
    ("nn", "Linear", "no layers with weights"), ("nn", "Module", "no layers with weights"), ("nn", "conv2d", r"nd4c\.nn\.conv\?"),
    ("nn", "linear", r"x @ w\.T \+ b"), ("nn", "max_pool2d", r"nd4c\.nn\.max_pool\?"), ("nn", "softmaxx", r"nd4c\.nn\.softmax\?"),
    ("nn", "cross_entropy", r"nd4c\.nn\.softmax_cross_entropy\?"), ("nn", "dropout", r"nd4c\.random\.dropout\?"),
    ("random", "rand", r"nd4c\.numpy\.random\.rand\?"), ("random", "RandomState", r"nd4c\.numpy\.random\.RandomState\?"),
    ("onnx", "set_seed", r"nd4c\.random\.seed\?"), ("linalg", "choleski", r"nd4c\.linalg\.cholesky\?"),
    ("fft", "fft4", r"nd4c\.fft\.fft\?"), ("fft", "zork", r"dir\(nd4c\.fft\)"),
])
def test_a_foreign_word_of_a_module_names_ours(module, name, text):
    part = getattr(nd4c, module)
    with pytest.raises(AttributeError, match=r"module 'nd4c\.%s' has no attribute %r[:;] .*%s" % (module, name, text)):
        getattr(part, name)
    assert not hasattr(part, name)


def test_a_word_without_a_replacement():
    with pytest.raises(AttributeError, match="record no gradients"):
        nd4c.no_grad
    with pytest.raises(AttributeError, match=r"dir\(nd4c\)"):
        nd4c.zork


@pytest.mark.parametrize("name, text", [
    ("numpy", r"did you mean numpy\.asarray\(x\)\?"), ("cuda", "did you mean"), ("unsqueeze", r"nd4c\.expand_dims"),
    ("float", "astype"), ("clamp", r"x\.clip\(min, max\)"), ("unique", r"nd4c\.unique_values\(x\)"), ("detach", "leave it out: arrays record no gradients"),
])
def test_a_foreign_method_names_ours(name, text):
    x = nd4c.ones(2)
    with pytest.raises(AttributeError, match=text):
        getattr(x, name)
    assert not hasattr(x, name) and name not in dir(x) and "shape" in dir(x)


def test_foreign_methods_cost_nothing_on_hits():
    assert not hasattr(nd4c.Array, "__getattr__")


def test_what_the_texts_name_exists():
    from nd4c import _suggestions
    from nd4c._arrays import foreign_names as _foreign_names
    tables = (_suggestions._FUNCTIONS, _suggestions._OF_OLD_NUMPY, *_suggestions._OF_MODULES.values())
    words = [text.partition("(")[0] for table in tables for text in table.values() if text]
    for word in (word for word in words if " " not in word):  # the others are sentences
        value = nd4c
        for part in word.split("."):
            value = getattr(value, part)
    x = nd4c.ones((2, 2))
    for text in _foreign_names._INSTEAD.values():
        if text.startswith("x."):
            getattr(x, text[2:].partition("(")[0].partition(".")[0])
        elif text.startswith("nd4c."):
            value = nd4c
            for part in text.partition("(")[0].split(".")[1:]:
                value = getattr(value, part)


@pytest.mark.parametrize("call, text", [
    (lambda x: nd4c.sum(x, dim=0), "sum: no argument dim; axis is the name here"),
    (lambda x: nd4c.mean(x, axis=0, keepdim=True), "mean: no argument keepdim; keepdims is the name here"),
    (lambda x: nd4c.softmax(x, dim=1), "softmax: no argument dim; axis is the name here"),
    (lambda x: nd4c.nn.log_softmax(x, dim=1), "log_softmax: no argument dim; axis is the name here"),
    (lambda x: np.median(x, dim=0), "median: no argument dim; axis is the name here"),
    (lambda x: np.cumsum(x, dim=0), "cumsum: no argument dim; axis is the name here"),
    (lambda x: np.quantile(x, 0.5, dim=0), "quantile: no argument dim; axis is the name here"),
    (lambda x: np.nanmean(x, 0, keepdim=True), "nanmean: no argument keepdim; keepdims is the name here"),
    (lambda x: nd4c.max(x, dim=0), "max: no argument dim; axis is the name here"),
    (lambda x: nd4c.argmax(x, dim=0), "argmax: no argument dim; axis is the name here"),
    (lambda x: nd4c.concat([x, x], dim=0), "concat: no argument dim; axis is the name here"),
    (lambda x: nd4c.stack([x, x], dim=0), "stack: no argument dim; axis is the name here"),
    (lambda x: nd4c.sort(x, dim=0), "sort: no argument dim; axis is the name here"),
    (lambda x: nd4c.squeeze(x, dim=0), "squeeze: no argument dim; axis is the name here"),
    (lambda x: nd4c.roll(x, 1, dims=0), "roll: no argument dims; axis is the name here"),
    (lambda x: nd4c.std(x, zork=1), "std: no argument zork; there are a, axis, "),
])
def test_a_foreign_argument_names_ours(call, text):
    with pytest.raises(TypeError, match="^" + text):
        call(nd4c.ones((2, 2)))


@pytest.mark.parametrize("call, text", [
    (lambda x: nd4c.zeros(2, 3), r"zeros: the shape is one argument, a tuple: shape=\(2, 3\)"),
    (lambda x: np.ones(2, 3, 4), r"ones: the shape is one argument, a tuple: shape=\(2, 3, 4\)"),
    (lambda x: nd4c.reshape(x, 1, 4), r"reshape: the shape is one argument, a tuple: shape=\(1, 4\)"),
    (lambda x: x.view(1, 4), r"view: expected a dtype, got 1, 4; another shape gives x\.reshape\(1, 4\)"),
    (lambda x: x.view(-1), r"view: expected a dtype, got -1; another shape gives x\.reshape\(-1\)"),
    (lambda x: nd4c.random.default_rng("x"), r"random: the seed is 'x'; .* or another Generator$"),
    (lambda x: nd4c.linspace(0, 1, steps=5), "linspace: no argument steps; num is the name here"),
])
def test_a_wrong_argument_is_told_what_to_write(call, text):
    with pytest.raises(TypeError, match="^" + text):
        call(nd4c.ones((2, 2)))


def test_the_truth_of_several_elements_names_the_methods():
    with pytest.raises(ValueError, match=r"ambiguous .*; use x\.any\(\) or x\.all\(\)"):
        bool(nd4c.ones(2))


def test_all_and_dir():
    for module in (nd4c, np):
        assert len(set(module.__all__)) == len(module.__all__)
        assert set(module.__all__) <= set(dir(module))
        for name in module.__all__:
            getattr(module, name)
    namespace = {}
    exec("from nd4c import *", namespace)
    assert namespace["concat"] is nd4c.concat and "numpy" not in namespace
    assert nd4c.median is np.median and nd4c.sum is np.sum


# -- types -----------------------------------------------------------------------------------------------------------

_ABSTRACT = ("generic number integer signedinteger unsignedinteger inexact floating complexfloating flexible character "
             "longdouble object_ datetime64").split()
_DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("name", _DTYPES)
def test_the_hierarchy_is_numpys(name):
    for abstract in _ABSTRACT:
        wanted = numpy.issubdtype(name, getattr(numpy, abstract))
        ours = getattr(np, abstract)
        assert np.issubdtype(name, ours) == wanted == issubclass(np.dtype(name), ours)
        assert np.issubdtype(name, getattr(numpy, abstract)) == wanted
        assert isinstance(np.ones((), name), ours) == wanted
        assert not isinstance(np.ones(1, name), ours)
    for other in _DTYPES:
        assert np.issubdtype(name, other) == numpy.issubdtype(name, other)


def test_promotion_is_numpys():
    for a in _DTYPES:
        for b in _DTYPES:
            assert np.promote_types(a, b).name == numpy.promote_types(a, b).name
            for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
                assert np.can_cast(a, b, casting) == numpy.can_cast(a, b, casting), (a, b, casting)
        for numbers in ((1,), (1.5,), (1j,), (True, 2.0), (1, 2j)):
            assert np.result_type(a, *numbers).name == numpy.result_type(a, *numbers).name
            assert np.result_type(np.ones(2, a), *numbers).name == numpy.result_type(numpy.ones(2, a), *numbers).name
    assert np.result_type(1, 2.0).name == "float64" and np.result_type(True) is np.bool
    with pytest.raises(ValueError, match="at least one"):
        np.result_type()
    with pytest.raises(TypeError, match="can_cast"):
        np.can_cast(1, "int8")
    with pytest.raises(ValueError, match="casting"):
        np.can_cast("i1", "i2", "perhaps")
    assert issubclass(np.exceptions.DTypePromotionError, TypeError)
    with pytest.raises(np.exceptions.DTypePromotionError):
        np.promote_types("str", "i4")


@pytest.mark.parametrize("value", [0, 1, 255, 256, -1, -128, -129, 2 ** 32, 2 ** 64 - 1, -2 ** 63, 1.0, 70000.0, 1e300,
                                   float("inf"), float("nan"), 1j, 1e300j, True])
def test_min_scalar_type(value):
    assert np.min_scalar_type(value).name == numpy.min_scalar_type(value).name
    assert np.min_scalar_type(np.asarray([value])).name == np.asarray([value]).dtype.name


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_finfo(name):
    ours, theirs = np.finfo(name), numpy.finfo(name)
    for attribute in [one for one in dir(theirs) if not one.startswith("_")]:
        if attribute == "dtype":
            assert ours.dtype == theirs.dtype
        else:
            assert getattr(ours, attribute) == pytest.approx(getattr(theirs, attribute), rel=1e-7, abs=0), attribute
    assert name == "float16" or repr(ours) == repr(theirs)  # NumPy rounds float16 to four digits
    assert np.finfo(np.ones(2, name)) == ours
    with pytest.raises(AttributeError, match="do not change"):
        ours.eps = 1


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
def test_iinfo(name):
    ours, theirs = np.iinfo(name), numpy.iinfo(name)
    for attribute in ("bits", "min", "max", "kind", "key"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert repr(ours) == repr(theirs) and str(ours).split() == str(theirs).split()


def test_names_of_dtypes():
    for name in sorted(set(numpy.sctypeDict) - {"g", "G"}):
        try:
            theirs = numpy.dtype(name)
        except TypeError:
            continue
        if theirs.kind in "biufc" and name not in ("longdouble", "clongdouble", "float128", "complex256"):
            assert np.dtype(name) == theirs and np.dtype(name).num in (theirs.num, theirs.num - 2), name
    for letter in np.typecodes["All"]:
        assert np.dtype(letter).kind == numpy.dtype(letter).kind
        assert np.dtype(letter).itemsize == numpy.dtype(letter).itemsize or letter == "U"
    assert isinstance(np.float32, np.dtype) and issubclass(nd4c.DType, np.dtype) and np.dtype(None) is np.float64
    assert np.dtype("i4") < np.dtype("i8") <= np.int64 and not np.dtype("i8") < np.dtype("i8")
    assert np.float64("1.5") == 1.5 and np.int32("7") == 7 and np.float32.__name__ == "float32"
    with pytest.raises(TypeError, match="not a dtype"):
        np.dtype([("a", "i4")])


def test_questions_about_types():
    for value in (3, 3.0, 3j, "a", b"a", [3], (3,), None, numpy.float32(3), numpy.ones(1)):
        assert np.isscalar(value) == numpy.isscalar(value), value
    for value in (3, 3j, [3], [1, 1j], numpy.ones(2, complex), numpy.ones(2)):
        assert np.iscomplexobj(value) == numpy.iscomplexobj(value) != np.isrealobj(value)
    for letters in ("dfF", "fD", "abc", "?lf", ""):
        assert np.mintypecode(letters) == numpy.mintypecode(letters)
    for letter in np.typecodes["All"]:
        try:
            wanted = numpy.typename(letter)
        except KeyError:
            with pytest.raises(KeyError):
                np.typename(letter)
        else:
            assert np.typename(letter) == wanted
    assert np.common_type(np.ones(2, "f2"), np.ones(2, "f4")).name == "float32"
    with pytest.raises(TypeError, match="non-numeric"):
        np.common_type(np.ones(2, bool))
    assert isinstance(np.add, np.ufunc) and isinstance(np.ones(2), np.ndarray) and not isinstance(np.concat, np.ufunc)
    with pytest.raises(TypeError, match="ufunc"):
        np.ufunc()


# -- settings about errors -------------------------------------------------------------------------------------------

def test_error_settings_are_kept():
    assert np.geterr() == numpy.geterr()
    before = np.seterr(divide="ignore")
    try:
        assert np.geterr()["divide"] == "ignore" and np.geterr()["over"] == "warn"
        with np.errstate(all="ignore", over="print"):
            assert np.geterr() == {"divide": "ignore", "over": "print", "under": "ignore", "invalid": "ignore"}
            with np.errstate(under="log"):
                assert np.geterr()["under"] == "log" and np.geterr()["over"] == "print"
        assert np.geterr()["over"] == "warn"
    finally:
        np.seterr(**before)
    assert np.geterr() == numpy.geterr()

    @np.errstate(invalid="ignore")
    def inside():
        return np.geterr()["invalid"]
    assert inside() == inside() == "ignore" and np.geterr()["invalid"] == "warn"


@pytest.mark.parametrize("call", [lambda: np.seterr(all="raise"), lambda: np.errstate(divide="call")])
def test_error_settings_that_nd4c_cannot_keep_are_refused(call):
    with pytest.raises(NotImplementedError, match="isfinite"):
        call()


def test_error_settings_check_their_arguments():
    with pytest.raises(ValueError, match="seterr: divide is 'loud'"):
        np.seterr(divide="loud")
    with pytest.raises(ValueError, match="seterrcall"):
        np.seterrcall(3)
    with pytest.raises(ValueError, match="setbufsize"):
        np.setbufsize(3)
    context = np.errstate(all="ignore")
    with context, pytest.raises(TypeError, match="twice"):
        context.__enter__()


def test_importing_makes_no_array():
    code = "import nd4c.numpy as np; print(np.dtype, __import__('nd4c').Device('cpu:0').memory['live_count'], np.True_, np.False_ is np.False_)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith(" 0 True True\n"), done


# -- dtypes among NumPy's --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split())
def test_dtypes_count_as_numpys(name):
    """xarray and other code for NumPy asks for a dtype's class and for its scalar type."""
    ours, theirs = getattr(nd4c, name), numpy.dtype(name)
    assert isinstance(ours, numpy.dtype) and isinstance(ours, nd4c.DType) and type(ours) is nd4c.DType
    assert ours.type is theirs.type and issubclass(ours.type, np.generic)
    for kind in ("integer", "signedinteger", "floating", "complexfloating", "inexact", "number"):
        wanted = numpy.issubdtype(theirs, getattr(numpy, kind))
        assert numpy.issubdtype(ours, getattr(numpy, kind)) == issubclass(ours.type, getattr(np, kind)) == wanted
    for kind in ("bool", "integral", "real floating", "complex floating", "numeric"):
        assert numpy.isdtype(ours, kind) == numpy.isdtype(theirs, kind)
    made = nd4c.ones(2, dtype=ours) * ours.type(1)
    assert type(made) is nd4c.Array and made.dtype is ours
    assert numpy.zeros(1, dtype=ours).dtype == theirs and numpy.promote_types(ours, "int8") == numpy.promote_types(theirs, "int8")


def test_dtypes_that_numpy_lacks_are_their_own():
    assert nd4c.bfloat16.type is nd4c.bfloat16 and not isinstance(nd4c.bfloat16, numpy.dtype)
    code = "import nd4c; print(nd4c.int8.type is nd4c.int8, nd4c.int8.__class__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True <class 'nd4c._dtypes.DType'>\n", done

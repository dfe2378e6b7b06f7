"""Every public function, class and method says what it computes, its shapes, dtypes and errors, and has an example; doctest
runs all of them, on the core that the tests run on.

EXEMPT names what needs less, with the reason. An array of an example may differ from what is written in the last printed
digit: libraries for BLAS and Fourier transforms round differently.
"""
import doctest
import inspect
import os
import re

import pytest

import nd4c
import nd4c.numpy

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
MODULES = ("", "ops", "linalg", "fft", "random", "nn", "image", "graph", "onnx", "memory", "plugins", "numpy", "numpy.linalg", "numpy.fft",
           "numpy.random", "numpy.polynomial", "numpy.lib", "numpy.lib.stride_tricks", "numpy.lib.array_utils")
LABELS = ("Shapes:", "Dtypes:", "Errors:")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


class Checker(doctest.OutputChecker):
    """Texts are equal but for spaces; floats may differ by one in the last printed digit, or by 1e-8."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags | doctest.NORMALIZE_WHITESPACE):
            return True
        want = want.replace("<BLANKLINE>", "")
        frames = [re.sub(r"\s", "", NUMBER.sub("#", text)) for text in (want, got)]
        numbers = [NUMBER.findall(text) for text in (want, got)]
        return frames[0] == frames[1] and len(numbers[0]) == len(numbers[1]) and all(map(close, *numbers))


def close(want, got):
    if not set(want + got) & set(".e"):
        return want == got
    mantissa, _, exponent = want.lower().partition("e")
    printed = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    digits = len(mantissa.strip("+-").replace(".", "").lstrip("0"))
    # Fewer digits than float32 has are the whole number: nd4c leaves out zeros at the end.
    allowed = printed if digits >= 7 else 1e-8 * max(1, abs(float(want)))
    return abs(float(want) - float(got)) <= 1.01 * allowed


# Names that need no example, and why.
WITHOUT_EXAMPLE = {
    "NumPy's abstract types, for issubdtype and isinstance alone":
        "nd4c.numpy.(void|object_|datetime64|timedelta64|longdouble|clongdouble|bytes_|character|flexible|generic|number|"
        "integer|signedinteger|unsignedinteger|inexact|floating|complexfloating)",
    "needs a device that registers host memory, which cpu:0 does not": r"nd4c.memory.Registered(\.unregister)?",
}
# Names that neither take nor give arrays: they say what they refuse where they refuse something.
WITHOUT_ARRAYS = {
    "devices, settings and places": r"nd4c.(Device|cancellation|workspace|tracing)(\.\w+)?",
    "facts and settings": "nd4c.(config|current_device|device|devices|info|routing|set_default_routing|set_print_options|"
                          "load_metadata)",
    "what the standard asks a namespace": r"nd4c.__array_namespace_info__(\.\w+)?",
    "counts and memory by address": r"nd4c.memory.(?!from_external|to_external)[\w.]+",
    "plug-ins and their ops by name": "nd4c.plugins.(load|ops|schema)",
    "sessions, options and descriptions": r"nd4c.onnx.(?!(Model|InferenceSession).run$|OrtValue\.)[\w.]+",
    "facts about a value": "nd4c.onnx.OrtValue.(data_ptr|data_type|device_name|element_type|has_value|is_\\w+|shape|"
                           "tensor_size_in_bytes)",
    "graphs and plans, whose inputs say which arrays they take":
        r"nd4c.(Graph|graph\.\w+)(\.(?!(assign|constant|gradient|input|output|variable)$)\w+)?",
    "dtypes": r"nd4c.(DType(\.\w+)?|can_cast|finfo|iinfo|isdtype|result_type|broadcast_shapes)",
    "NumPy's dtypes and numbers as text": "nd4c.numpy.(dtype|issubdtype|min_scalar_type|mintypecode|promote_types|typename|"
                                          "common_type|base_repr|binary_repr|format_float_\\w+|isscalar|iterable)",
    "NumPy's settings": "nd4c.numpy.(geterr|seterr|geterrcall|seterrcall|errstate|getbufsize|setbufsize|get_printoptions|"
                        "set_printoptions|printoptions)",
    "iterators": r"nd4c.numpy.broadcast.reset",
    "axes and addresses": r"nd4c.numpy.lib.array_utils.\w+",
    "seeds and states": r"nd4c.(numpy.)?random.(BitGenerator(\.\w+)?|default_generator|default_rng|seed|spawn|bytes|"
                        r"get_state|set_state|Generator|Generator.(spawn|bytes)|RandomState|RandomState.(seed|get_state|"
                        r"set_state|bytes))",
}


def public():
    """Every public object once, however many namespaces have it: (shortest name, object, whether it is a member)."""
    found = {}
    for module in MODULES:
        place = nd4c
        for part in filter(None, module.split(".")):
            place = getattr(place, part)
        for name in getattr(place, "__all__", None) or [name for name in dir(place) if not name.startswith("_")]:
            value = getattr(place, name)
            if callable(value) and not is_constant(value):
                found.setdefault(id(value), (".".join(filter(None, ("nd4c", module, name))), value, None))
    for name, value, _ in list(found.values()):
        if inspect.isclass(value):
            for owner in value.__mro__:
                for member, thing in vars(owner).items():
                    if owner.__module__.startswith("nd4c") and not member.startswith("_"):
                        found.setdefault(id(thing), (name + "." + member, thing, value))
    return sorted(found.values(), key=lambda entry: entry[0])


def is_constant(value):
    """Dtypes, Python's types under NumPy's names, and exceptions: objects of tables."""
    return (isinstance(value, nd4c.DType) or value in (bool, int, float, complex, str, bytes)
            or inspect.isclass(value) and issubclass(value, BaseException))


def is_attribute(value):
    """Attributes say in a line what they are; slots have their line in the class's text."""
    return isinstance(value, property) or inspect.isdatadescriptor(value)


def text(value):
    return inspect.getdoc(getattr(value, "__func__", value)) or ""


ENTRIES = public()


def missing(name, value, owner):
    """What the docstring lacks, or None."""
    doc = text(value)
    if is_attribute(value) or not callable(getattr(value, "__func__", value)):
        return None if doc or not isinstance(value, property) else "a docstring"
    if not doc:
        return "a docstring"
    if listed(name, WITHOUT_EXAMPLE):
        return None
    own = ">>>" in doc
    if not own and not (owner is not None and "." + value_name(value) + "(" in text(owner).partition(">>>")[2]):
        return "an example"
    if listed(name, WITHOUT_ARRAYS):
        return None
    lacking = [label for label in LABELS if label not in with_referred(doc)]
    return " ".join(lacking) or None


def listed(name, table):
    return any(re.fullmatch(names, name) for names in table.values())


def with_referred(doc):
    """A docstring and those of the functions that it refers to: "As nd4c.sum(x, ...)"."""
    for name in re.findall(r"\bAs (?:nd4c|np)\.([\w.]+)", doc):
        place = nd4c
        for part in name.split("."):
            place = getattr(place, part)
        doc += "\n" + text(place)
    return doc


def value_name(value):
    return getattr(value, "__func__", value).__name__


def test_every_docstring_is_complete():
    lacking = {name: what for name, value, owner in ENTRIES for what in [missing(name, value, owner)] if what}
    assert not lacking, "\n".join("%s: %s" % row for row in sorted(lacking.items()))
    assert len(ENTRIES) > 1400  # so that no namespace is left out


def test_exemptions_are_used():
    names = [name for name, _, _ in ENTRIES]
    for table in (WITHOUT_EXAMPLE, WITHOUT_ARRAYS):
        unused = [reason for reason, pattern in table.items() if not any(re.fullmatch(pattern, name) for name in names)]
        assert not unused, unused


def test_examples(monkeypatch, capsys, tmp_path):
    for name in os.listdir(EXAMPLES):
        os.symlink(os.path.join(EXAMPLES, name), tmp_path / name)
    monkeypatch.chdir(tmp_path)  # some examples write files
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(Checker(), verbose=False, optionflags=doctest.ELLIPSIS)
    functions = 0
    for name, value, _ in ENTRIES:
        examples = parser.get_doctest(text(value), {"nd4c": nd4c, "np": nd4c.numpy}, name, None, 0)
        functions += bool(examples.examples)
        runner.run(examples)
    failed, tried = runner.summarize(False)
    printed = capsys.readouterr().out
    print("%d docstrings, %d with examples, %d lines of them, %d failed" % (len(ENTRIES), functions, tried, failed))
    assert not failed, printed
    assert functions > 1200


@pytest.mark.parametrize("want, got, same", [
    ("array([0.33333333, 2.])", "array([0.33333334, 2.])", True), ("array([0.33333333])", "array([0.33333335])", False),
    ("array([2.])", "array([1.99999999])", True), ("array([2.])", "array([3.])", False), ("array([0.])", "array([1.1e-16])", True),
    ("array([1.25])", "array([1.26])", False), ("array([1, 2])", "array([1, 3])", False), ("1.5", "[1.5]", False),
    ("array([1.5])", "array([nan])", False)])
def test_checker_sees_differences(want, got, same):
    assert Checker().check_output(want + "\n", got + "\n", 0) is same


def test_examples_of_ops_have_the_results_of_the_oracle():
    """An example whose result is wrong fails: what doctest sees is the text that derive_docs.py took from examples.txt."""
    wrong = text(nd4c.ops.add).replace("11.", "12.")
    runner = doctest.DocTestRunner(Checker(), verbose=False)
    parsed = doctest.DocTestParser().get_doctest(wrong, {"nd4c": nd4c}, "add", None, 0)
    assert runner.run(parsed, out=lambda text: None).failed == 1

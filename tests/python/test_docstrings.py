"""Every public function, class and method says what it computes, its shapes, dtypes and errors, and has an example; doctest
runs all of them, on the core that the tests run on.

EXEMPT names what needs less, with the reason. An array of an example may differ from what is written in the last printed
digit: libraries for BLAS and Fourier transforms round differently.
"""
import doctest
import inspect
import os
import re

import numpy
import pytest

import nd4c
import nd4c.numpy

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
MODULES = ("", "ops", "linalg", "fft", "random", "nn", "image", "onnx", "memory", "plugins", "numpy", "numpy.linalg", "numpy.fft",
           "numpy.random", "numpy.polynomial", "numpy.lib", "numpy.lib.stride_tricks", "numpy.lib.array_utils")
LABELS = ("Shapes:", "Dtypes:", "Errors:")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


class Checker(doctest.OutputChecker):
    """Texts are equal but for spaces; floats may differ by one in the last printed digit."""

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
    mantissa, _, exponent = want.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return abs(float(want) - float(got)) <= 1.01 * 10.0 ** -digits


def public():
    """Every public object once, however many namespaces have it: (shortest name, object)."""
    found = {}
    for module in MODULES:
        place = nd4c
        for part in filter(None, module.split(".")):
            place = getattr(place, part)
        names = [name for name in getattr(place, "__all__", None) or dir(place) if not name.startswith("_")]
        for name in names:
            value = getattr(place, name)
            if callable(value):
                found.setdefault(id(value), (".".join(filter(None, ("nd4c", module, name))), value))
    for name, value in list(found.values()):
        if inspect.isclass(value) and not issubclass(value, BaseException):
            for member in dir(value):
                thing = inspect.getattr_static(value, member)
                if not member.startswith("_") and (callable(thing) or isinstance(thing, (property, classmethod, staticmethod))
                                                   or inspect.isdatadescriptor(thing)):
                    found.setdefault(id(thing), (name + "." + member, thing))
    return [entry for entry in found.values() if not exempt(*entry)]


# Objects of which no docstring with an example is asked, and why.
EXEMPT = {
    nd4c.DType: "dtypes: objects of a table, each with its name",
}


def exempt(name, value):
    if isinstance(value, nd4c.DType) or value in (bool, int, float, complex, str, bytes):
        return True  # dtypes, and Python's types under NumPy's names
    return inspect.isclass(value) and issubclass(value, BaseException)


def text(value):
    return inspect.getdoc(getattr(value, "__func__", value)) or ""


ENTRIES = sorted(public(), key=lambda entry: entry[0])


def test_docs():
    import collections
    bad = collections.defaultdict(list)
    for name, value in ENTRIES:
        doc = text(value)
        if not doc: bad["nodoc"].append(name)
        elif ">>>" not in doc: bad["noexample"].append(name)
        elif not all(label in doc for label in LABELS): bad["nolabels"].append(name)
    print(len(ENTRIES), {k: len(v) for k, v in bad.items()})
    for k, v in bad.items(): print(k, " ".join(v))


def test_examples():
    os.chdir(EXAMPLES)
    finder = doctest.DocTestParser()
    runner = doctest.DocTestRunner(Checker(), verbose=False)
    tried = 0
    for name, value in ENTRIES:
        examples = finder.get_doctest(text(value), {"nd4c": nd4c, "np": nd4c.numpy}, name, None, 0)
        if examples.examples:
            tried += 1
            runner.run(examples)
    print(tried, runner.summarize(False))

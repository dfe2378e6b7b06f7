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

"""The results that functions and methods have in their own docstrings' examples are of the types that the stubs say."""
import ast
import collections
import doctest
import functools
import importlib
import inspect
import os
import pathlib

import pytest

import nd4c

PACKAGE = pathlib.Path(nd4c.__file__).parent
MODULES = ("nd4c", "nd4c.numpy", "nd4c.linalg", "nd4c.fft", "nd4c.random", "nd4c.numpy.linalg", "nd4c.numpy.random",
           "nd4c.onnx", "nd4c.memory", "nd4c.ops", "nd4c.numpy.lib.array_utils", "nd4c.numpy.lib.stride_tricks",
           "nd4c.numpy.polynomial.polynomial")
CLASSES = (("nd4c", "Array"), ("nd4c", "DType"), ("nd4c", "Device"), ("nd4c.random", "Generator"),
           ("nd4c.random", "BitGenerator"), ("nd4c.numpy", "poly1d"), ("nd4c.numpy.polynomial", "Polynomial"),
           ("nd4c.numpy.random", "RandomState"))


def stub(module):
    """Types of results in a module's stub by "function" and "Class.method", several where there are overloads."""
    folder = PACKAGE.joinpath(*module.split(".")[1:])
    path = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
    found = collections.defaultdict(list)
    for node in ast.parse(path.read_text()).body:
        methods = [(one, node.name + ".%s") for one in node.body] if isinstance(node, ast.ClassDef) else []
        for part, name in [(node, "%s")] + methods:
            if isinstance(part, ast.FunctionDef):
                found[name % part.name].append(part.returns)
    return found


def is_of(value, kind):
    """Whether a value is of the type that a stub names."""
    text = ast.unparse(kind)
    others = {"Dict": isinstance(value, dict), "ContextManager": hasattr(value, "__exit__"),
              "Iterator": hasattr(value, "__next__")}
    if isinstance(kind, ast.Subscript):
        outer, inner = ast.unparse(kind.value), kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        if outer in ("Optional", "Union"):
            return outer == "Optional" and value is None or any(is_of(value, one) for one in inner)
        if outer in ("List", "Tuple"):
            many = outer == "List" or ast.unparse(inner[-1]) == "..."
            wanted = [inner[0]] * len(value) if many and isinstance(value, (list, tuple)) else inner
            right = type(value) is (list if outer == "List" else tuple) and len(wanted) == len(value)
            return right and all(map(is_of, value, wanted))
        return others[outer]
    if text in ("Any", "None"):
        return text == "Any" or value is None
    name = type(value).__name__.lstrip("_")
    return ("Array" if name == "Symbol" else name) == text.rpartition(".")[2]  # of Symbols, functions give Symbols


class Watch:
    """Puts functions around those of modules and classes that keep their results."""

    def __init__(self, patch):
        self.patch, self.wrong, self.seen, self.around = patch, [], set(), {}

    def module(self, name):
        module, kinds = importlib.import_module(name), stub(name)
        for key in kinds:
            value = getattr(module, key, None)
            if "." not in key and callable(value) and not inspect.isclass(value):
                self.around[id(value)] = made = self.watched(value, name + "." + key, kinds[key])
                self.patch.setattr(module, key, made)
                if name == "nd4c.numpy" and nd4c.__dict__.get(key) in (None, value):
                    self.patch.setattr(nd4c, key, made, raising=False)

    def cls(self, module, name):
        cls, kinds = getattr(importlib.import_module(module), name), stub(module)
        for key in kinds:
            owner, _, method = key.partition(".")
            value = inspect.getattr_static(cls, method, None) if owner == name else None
            if inspect.isfunction(value) and method not in ("__init__", "__new__"):
                holder = next(one for one in cls.__mro__ if method in vars(one))
                self.patch.setattr(holder, method, self.watched(value, module + "." + key, kinds[key]))

    def watched(self, function, name, kinds):
        @functools.wraps(function)
        def around(*arguments, **named):
            result = function(*arguments, **named)
            self.seen.add(name)
            if result is not NotImplemented and not any(is_of(result, kind) for kind in kinds):
                self.wrong.append((name, type(result).__name__, [ast.unparse(kind) for kind in kinds]))
            return result
        return around


@pytest.mark.skipif(not hasattr(ast, "unparse"), reason="needs ast.unparse")
def test_results_are_of_the_types_in_the_stubs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    import nd4c.numpy as np
    texts = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for key in dir(module):
            value = getattr(module, key)
            if callable(value) and ">>>" in (getattr(value, "__doc__", None) or ""):
                texts[id(value)] = (name + "." + key, value.__doc__)
    for module, name in CLASSES:
        cls = getattr(importlib.import_module(module), name)
        texts.update({(name, key): (name + "." + key, value.__doc__) for key in dir(cls) if hasattr(cls, key)
                      for value in [getattr(cls, key)] if ">>>" in (getattr(value, "__doc__", None) or "")})
    watch = Watch(monkeypatch)
    for name in MODULES:
        watch.module(name)
    for module, name in CLASSES:
        watch.cls(module, name)
    runner, parser = doctest.DocTestRunner(verbose=False), doctest.DocTestParser()
    with open(os.devnull, "w") as sink:
        for name, text in texts.values():
            runner.run(parser.get_doctest(text, {"nd4c": nd4c, "np": np}, name, None, None), out=sink.write)
    assert not watch.wrong, "bindings/python/stub_types.py needs rows for %s" % sorted(set(map(str, watch.wrong)))
    assert len(watch.seen) > 600, len(watch.seen)

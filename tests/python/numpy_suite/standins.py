"""What NumPy's test files get when they import NumPy: nd4c.numpy, strictly, with numpy.testing adapted (asserts.py).

A name that nd4c.numpy lacks is an AttributeError or ImportError of the test that uses it; NumPy's own is never handed out. At
the top of a file a name that cannot be imported becomes a placeholder, which raises when it is used, so that the file's
other tests run."""
import builtins
import importlib
import types

from . import asserts

# Modules of NumPy's whose functions nd4c does not have under other names: all of their names are missing.
_ABSENT = ("numpy.ma", "numpy.rec", "numpy.char", "numpy.strings", "numpy.dtypes", "numpy.core", "numpy.ctypeslib",
           "numpy.f2py","numpy.lib.recfunctions", "numpy.lib.format", "numpy._core._multiarray_tests", "numpy._core._operand_flag_tests")
# Tools of the tests, which hold nothing that is tested.
_TOOLS = ("numpy._utils", "numpy._core.tests")


# Numbers that the tests take from NumPy's private modules, to compare with.
_CONSTANTS = {"PZERO": 0.0, "NZERO": -0.0, "PINF": float("inf"), "NINF": -float("inf"), "NAN": float("nan")}


class MissingName(AttributeError):
    """Something of NumPy's that nd4c.numpy lacks was used."""


def _refuse(self, *values, **named):
    raise MissingName(object.__getattribute__(self, "reason"))


class Placeholder:
    """Stands for a name that could not be made; every use raises."""

    def __init__(self, reason, name):
        object.__setattr__(self, "reason", str(reason))
        object.__setattr__(self, "label", name)

    def __repr__(self):
        return "<missing>"

    __call__ = __getattr__ = __getitem__ = __iter__ = __len__ = __add__ = __mul__ = __mro_entries__ = __or__ = _refuse


class StandIn(types.ModuleType):
    """A module of NumPy's: attributes come from the module of nd4c.numpy of that name, or for private ones from nd4c.numpy."""

    def __init__(self, name, sources):
        super().__init__(name)
        self.sources = sources

    def __getattr__(self, name):
        if name in ("__path__", "__file__", "__spec__"):
            raise AttributeError(name)
        if name in _CONSTANTS and self.__name__.startswith("numpy._core"):
            return _CONSTANTS[name]
        full = "%s.%s" % (self.__name__, name)
        if full == "numpy.lib" or full in _ABSENT or full == "numpy._core":
            return module(full)
        for source in self.sources:
            if hasattr(source, name):
                return getattr(source, name)
        if self.sources:
            return getattr(self.sources[0], name)  # its error says what nd4c.numpy has instead
        raise AttributeError("nd4c has no %s" % full)


class _Forgiving:
    """A module whose missing names are placeholders."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        try:
            return getattr(self.inner, name)
        except AttributeError as error:
            return Placeholder(error, name)


prefix = "nd4c."  # "" has NumPy's tests run against NumPy itself, which shows what the harness does to them
_modules = {"numpy.testing": asserts.module()}
_modules["numpy.ma.testutils"] = _modules["numpy.testing._private.utils"] = _modules["numpy.testing"]


def _own(name):
    """nd4c's module of NumPy's name; None if there is none."""
    try:
        return importlib.import_module(prefix + name)
    except ModuleNotFoundError:
        return None


def _sources(name):
    if name in _ABSENT:
        return []
    own = _own(name)
    if own is not None:
        return [own]
    parts = ("numpy", "numpy._types", "numpy.lib.stride_tricks", "numpy.lib.array_utils", "numpy.linalg")
    private = name.startswith(("numpy._core", "numpy.lib", "numpy.linalg._", "numpy.matlib", "numpy.polynomial"))
    return [part for part in map(_own, parts) if part is not None] if private else []


def module(name):
    """The stand-in for a module of NumPy's."""
    if name in _modules:
        return _modules[name]
    if name.startswith(_TOOLS):
        return importlib.import_module(name)
    made = _modules[name] = StandIn(name, _sources(name))
    if name == "numpy":
        made.testing = _modules["numpy.testing"]
    else:
        parent, _, last = name.rpartition(".")
        setattr(module(parent), last, made)
    return made


def import_(name, globals=None, locals=None, fromlist=(), level=0):
    """__import__ of NumPy's test files."""
    if level or name.partition(".")[0] != "numpy":
        return builtins.__import__(name, globals, locals, fromlist, level)
    wanted = module(name)
    if not fromlist:
        return module("numpy")
    return _Forgiving(wanted) if locals is globals else wanted

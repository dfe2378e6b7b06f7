#!/usr/bin/env python3
"""Writes the type stubs of the Python package: imports the package that derive.py has just completed and looks at its
public modules. derive.py runs it.

    stubs.py --modules bindings/python/nd4c --library build/debug/lib/libnd4c.so --output build/debug/python/nd4c

Types are those that the modules annotate, and for the rest those of stub_types.py. It needs only Python's standard
library."""
import argparse
import builtins
import enum
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import types

import stub_types as tables
from stub_text import (
    admits, annotation, default_text, definition, definition_of_all, split, wrapped, write)

HEAD = '"""Made by bindings/python/stubs.py; not to be edited."""\n'
TYPING = frozenset("""Any Callable ClassVar ContextManager Dict Generic IO Iterator List Literal Mapping MutableMapping
    NamedTuple NoReturn Optional Sequence SupportsFloat SupportsIndex Tuple Type Union final overload""".split())
LIKE = frozenset("ArrayLike AxisLike DTypeLike DeviceLike ShapeLike".split())


def load(modules, output):
    """The package nd4c, of the modules in one folder and the derived ones in another."""
    spec = importlib.util.spec_from_file_location(
        "nd4c", os.path.join(modules, "__init__.py"), submodule_search_locations=[modules, output])
    package = sys.modules["nd4c"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


def public_modules(package):
    """The package and its public modules by name; nd4c.typing, which is annotated itself, has no stub."""
    names = [package.__name__]
    folders = [(package.__name__, package.__path__)]
    while folders:
        name, path = folders.pop()
        for found in pkgutil.iter_modules(path, name + "."):
            last = found.name.rpartition(".")[2]
            if not last.startswith("_") and found.name != "nd4c.typing":
                names.append(found.name)
                if found.ispkg:
                    folders.append((found.name, importlib.import_module(found.name).__path__))
    return {name: importlib.import_module(name) for name in sorted(set(names))}


def public_names(module):
    """Names that a module gives its users."""
    names = set(getattr(module, "__all__", ()))
    if module.__name__ == "nd4c" or not names:
        names.update(name for name in dir(module) if not name.startswith("_"))
    return sorted(name for name in names if not name.startswith("__") or name in getattr(module, "__all__", ()))


def is_class(value):
    return isinstance(value, type)


def is_function(value):
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType))


class Stubs:
    """The public objects of the package and the module whose stub defines each; the others import it from there."""

    def __init__(self, package):
        self.modules = public_modules(package)
        self.homes = {}  # id of a class or function -> (module, name)
        self.classes = {}  # name in types -> (module, name in the stub)
        first = [(self.modules["nd4c"], name) for name in package.__all__]
        # nd4c has the others' names, too
        names = sorted(self.modules, key=lambda name: (name == "nd4c", name.count("."), name))
        every = [(self.modules[module], name) for module in names for name in public_names(self.modules[module])]
        own = [(module, name) for module, name in every
               if getattr(getattr(module, name), "__module__", None) == module.__name__]
        for name, other in tables.SAME.items():
            self.homes[id(getattr(package.numpy, name))] = (package.__name__, other)
        for module, name in first + own + every:
            self._settle(module.__name__, name, getattr(module, name))
        self.private = {}  # private modules with classes that public functions give
        for name, place in tables.HIDDEN.items():
            module = importlib.import_module(place)
            cls = getattr(module, name, None) or getattr(module, "_" + name)
            self.homes[id(cls)] = self.classes[name] = (place, name)
            self.private.setdefault(place, {})[name] = cls

    def _settle(self, module, name, value):
        defined = is_class(value) and value.__module__ != "builtins" or is_function(value)
        if defined and id(value) not in self.homes:
            self.homes[id(value)] = (module, name)
            if is_class(value):
                self.classes.setdefault(name, (module, name))

    def write(self, folder):
        """Writes the stubs, and removes those of modules that are gone."""
        written = set()
        public = {name: {key: getattr(module, key) for key in public_names(module)}
                  for name, module in self.modules.items()}
        for name in list(self.modules) + ["nd4c.typing"]:
            outer, _, last = name.rpartition(".")
            if outer:
                public[outer][last] = importlib.import_module(name)
        for name, values in dict(public, **self.private).items():
            parts = name.split(".")[1:] + (["__init__"] if hasattr(sys.modules[name], "__path__") else [])
            path = os.path.join(folder, *parts) + ".pyi"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            listed = getattr(sys.modules[name], "__all__", None) if name in public else None
            write(path, Module(self, name, values, listed).text())
            written.add(path)
        path = os.path.join(folder, "_functions", "ufunc.pyi")
        write(path, HEAD + tables.UFUNC_MODULE)
        written.add(path)
        # Of private packages: without one, a checker reads all their modules instead of the stubs.
        for place in {os.path.join(os.path.dirname(path), "__init__.pyi") for path in written} - written:
            write(place, HEAD)
            written.add(place)
        for place, _, files in os.walk(folder):
            for path in (os.path.join(place, file) for file in files if file.endswith(".pyi")):
                if path not in written:
                    os.remove(path)


# -- one module ------------------------------------------------------------------------------------------------------

class Module:
    """The stub of one module."""

    def __init__(self, stubs, name, values, listed):
        self.stubs, self.name, self.values, self.listed = stubs, name, values, listed
        self.taken = set(values)
        self.imports = {}  # module -> set of "name" or "name as other"
        for key, value in values.items():
            if is_class(value) and stubs.homes.get(id(value)) == (name, key):
                self.taken.update(dir(value))

    # types

    def kind(self, text):
        """The text of a type, with its names imported."""
        return re.sub(r"'[^']*'|[A-Za-z_][\w.]*", self._named, text)

    def _named(self, match):
        name = match.group()
        if name.startswith("'") or name in ("None", "True", "False"):
            return name
        if name.startswith(("os.", "builtins.", "typing_extensions.", "_P.")) or name in ("_P", "_R"):
            self.imports.setdefault(name.partition(".")[0], set())
            return name
        own = self.values.get(name)
        if is_class(own) and self.stubs.homes.get(id(own)) == (self.name, name):  # another module may have one of this name
            return name
        if name in self.stubs.classes:
            return self.imported(*self.stubs.classes[name])
        if name in LIKE:
            self.imports.setdefault("nd4c.typing", set()).add(name)
            return name
        if name in TYPING:
            self.imports.setdefault("typing", set()).add(name)
            return name
        if hasattr(builtins, name):
            if name in self.taken:
                self.imports.setdefault("builtins", set())
                return "builtins." + name
            return name
        raise SystemExit("stubs.py: %s: no type %r" % (self.name, name))

    def imported(self, home, name):
        """The name by which this stub has another one's class."""
        if home == self.name:
            return name
        clash = name in self.taken and self.stubs.homes.get(id(self.values.get(name))) != (home, name)
        self.imports.setdefault(home, set()).add("%s as _%s" % (name, name) if clash else name)
        return "_" + name if clash else name

    # functions

    def parameter(self, owner, parameter, kinds=None):
        """The type of a parameter of a function, as text."""
        name, default = parameter.name, parameter.default
        text = annotation(parameter.annotation, self.annotating)
        if text is not None:
            return text
        text = (kinds or {}).get(name) or tables.SPECIAL.get("%s.%s" % (owner, name)) or self._by_name(name, default)
        with_none = ("Optional", "Union[None", "Any", "AxisLike", "object")
        if text is not None and default is None and not text.startswith(with_none):
            text = "Optional[%s]" % text
        return text or "Any"

    def _by_name(self, name, default):
        if name == "out":
            return "Optional[Array]" if default is None else "Any"
        if name == "axis":
            by_default = {type(None): "AxisLike", int: "SupportsIndex"}
            return by_default.get(type(default), "Union[SupportsIndex, Sequence[SupportsIndex]]")
        if name in tables.PARAMETERS:
            return tables.PARAMETERS[name]
        by_default = {bool: "bool", int: "SupportsIndex", float: "SupportsFloat", str: "str"}
        return by_default.get(type(default))

    def parameters(self, owner, signature, kinds=None, changed=None):
        """The parameter list of a stub. changed: types of parameters that differ in this form; one that must be given
        is keyword-only from there on where parameters before it may be left out."""
        parts, state, optional = [], None, False
        form = inspect.Parameter
        for parameter in signature.parameters.values():
            kind, name = parameter.kind, parameter.name
            if state is form.POSITIONAL_ONLY and kind is not form.POSITIONAL_ONLY:
                parts.append("/")
            text = changed[name] if changed and name in changed else self.parameter(owner, parameter, kinds)
            required = bool(changed) and name in changed and (text.endswith("!") or not admits(text, parameter.default))
            text = text.rstrip("!")
            if kind is form.VAR_POSITIONAL:
                parts.append("*%s: %s" % (name, self.kind(text)))
            elif kind is form.VAR_KEYWORD:
                parts.append("**%s: %s" % (name, self.kind(text)))
            else:
                if kind is form.KEYWORD_ONLY and state not in (form.KEYWORD_ONLY, form.VAR_POSITIONAL):
                    parts.append("*")
                elif required and optional and state not in (form.KEYWORD_ONLY, form.VAR_POSITIONAL):
                    parts.append("*")
                    kind = form.KEYWORD_ONLY
                given = parameter.default is not form.empty and not required
                optional = optional or given
                if state is form.KEYWORD_ONLY:
                    kind = state
                if name == "self" or name == "cls":
                    parts.append(name)
                else:
                    default = " = " + default_text(parameter.default) if given else ""
                    parts.append("%s: %s%s" % (name, self.kind(text), default))
            state = kind
        if state is form.POSITIONAL_ONLY:
            parts.append("/")
        return parts

    def function(self, name, value, owner="", indent="", decorator="", bound=False):
        """The definition of a function or method, several if it has forms."""
        self.annotating = getattr(inspect.unwrap(value), "__module__", None) or self.name
        signature = signature_of(value, name, owner)
        given = annotation(signature.return_annotation, self.annotating)
        key = "%s.%s" % (owner, name)
        result = given or tables.METHOD_RESULTS.get(key) or (owner if name == "__new__" else None) or (
            "None" if name == "__init__" else None) or tables.RESULTS.get(name, "Array")
        kinds = None
        table_owner = owner if name in ("__init__", "__new__", "__call__") else name
        if self.name == "nd4c.ops":
            kinds, result = op_kinds(name, signature)
        forms = tables.FORMS.get(name) if not owner and self.name != "nd4c.ops" else None
        lines = []
        for changed, form_result in forms or [(None, result)]:
            if forms:
                self.kind("overload")
                lines.append(indent + "@overload")
            if decorator:
                lines.append(indent + decorator)
            parts = self.parameters(table_owner, signature, kinds, changed)
            lines.append(definition(indent, name, parts, self.kind(form_result)))
        return lines

    # classes

    def variable(self, value):
        if is_class(value):
            return self.kind("Type[Any]")
        if isinstance(value, types.ModuleType):
            return None
        for cls in type(value).__mro__:
            home = self.stubs.homes.get(id(cls))
            if home:
                return self.kind(next(name for name, place in self.stubs.classes.items() if place == home))
        if value is None:
            return "None"
        if isinstance(value, (dict, tuple, list)):
            return self.kind({dict: "Dict[str, Any]", tuple: "Tuple[Any, ...]", list: "List[Any]"}[type(value)])
        return self.kind(type(value).__name__)

    def bases(self, cls, members):
        """The bases that the stub names; members of others are collected in `members`."""
        found = []
        for base in cls.__bases__:
            if base is object or base.__module__ in ("ctypes", "_ctypes"):  # what a core is made of
                continue
            home = self.stubs.homes.get(id(base))
            if base.__name__ in tables.GENERIC_BASES and not home:
                found.append(self.kind(tables.GENERIC_BASES[base.__name__]))
            elif home:
                found.append(self.kind(next(name for name, place in self.stubs.classes.items() if place == home)))
            elif base.__module__ == "builtins":
                found.append(self.kind(("builtins." if base.__name__ in self.taken else "") + base.__name__))
            elif base.__module__ == "enum":
                self.imports.setdefault("enum", set())
                found.append("enum." + base.__name__)
            else:
                found += [one for one in self.bases(base, members) if one not in found]
                members.update(vars(base))
        return found

    def class_lines(self, cls, name):
        if self.name == "nd4c.numpy" and name == "ufunc":
            return ["class ufunc:"] + [self.kind_of_line(line) for line in tables.UFUNC.strip("\n").split("\n")]
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            notes = getattr(cls, "__annotations__", {})
            rows = []
            for field in cls._fields:
                noted = annotation(notes[field], cls.__module__) if field in notes else None
                ignored = "  # type: ignore[assignment]" if hasattr(tuple, field) else ""  # a tuple's index and count
                rows.append("    %s: %s%s" % (field, self.kind(noted or self.attribute(name, field, "Array")), ignored))
            return ["class %s(%s):" % (name, self.kind("NamedTuple"))] + rows
        members = {}
        bases = self.bases(cls, members)
        members.update(vars(cls))
        rows = []
        if issubclass(cls, enum.Enum):
            rows = ["    %s = %d" % (one.name, one.value) for one in cls]
            members = {}
        notes = members.get("__annotations__", {})
        for attribute in tables.OF_OBJECTS.get(name, "").split():
            rows.append("    %s: %s" % (attribute, self.kind(self.attribute(name, attribute))))
        if name in tables.SAMPLES:
            sample = eval(tables.SAMPLES[name], {"nd4c": sys.modules["nd4c"]})
            for key, value in vars(sample).items():
                text = tables.ATTRIBUTES.get(name + "." + key)
                if not key.startswith("_"):
                    rows.append("    %s: %s" % (key, self.kind(text) if text else self.variable(value)))
        listed = {row.split(":")[0].strip() for row in rows}
        for key in sorted(set(members) | set(notes)):
            if key in notes and key not in members and key not in listed and not key.startswith("_"):  # set by __init__
                rows.append("    %s: %s" % (key, self.kind(annotation(notes[key], cls.__module__))))
            elif key not in listed and hasattr(cls, key) and "%s.%s" % (name, key) not in tables.ABSENT:
                rows += self.member(cls, name, key, members[key], notes)
        final = "@%s\n" % self.kind("final") if name in tables.FINAL else ""
        head = final + "class %s%s:" % (name, "(%s)" % ", ".join(bases) if bases else "")
        return [head] + rows if rows else [head + " ..."]

    def kind_of_line(self, line):
        """A line of a stub with its types' names imported."""
        return re.sub(r"\b(?!None\b)[A-Z]\w+", self._named, line)

    @staticmethod
    def returned(getter):
        """The type that a property's function is annotated to give."""
        if not inspect.isfunction(getter):
            return None
        return annotation(inspect.signature(getter).return_annotation, getter.__module__)

    def attribute(self, owner, name, otherwise="Any"):
        return tables.ATTRIBUTES.get("%s.%s" % (owner, name)) or tables.ATTRIBUTES.get(name, otherwise)

    def member(self, cls, owner, name, value, notes):
        """The lines of one attribute or method; none where users do not see it."""
        if name == "__hash__" and value is None:
            return ["    __hash__: %s  # type: ignore[assignment]" % self.kind("ClassVar[None]")]
        if isinstance(value, property) and (not name.startswith("_") or name in tables.ATTRIBUTES):
            text = self.returned(value.fget) or self.attribute(owner, name)
            rows = ["    @property", "    def %s(self) -> %s: ..." % (name, self.kind(text))]
            if value.fset:
                given = self.kind("ArrayLike" if text in ("Array", "Flat") else text)
                rows += ["    @%s.setter" % name, "    def %s(self, value: %s) -> None: ..." % (name, given)]
            return rows
        if name.startswith("__"):
            return self.special(owner, name, value)
        if name.startswith("_"):
            return []
        if name in notes:
            return ["    %s: %s" % (name, self.kind(annotation(notes[name], cls.__module__)))]
        if isinstance(value, classmethod):
            return self.function(name, value.__func__, owner, "    ", "@classmethod")
        if isinstance(value, staticmethod):
            return self.function(name, value.__func__, owner, "    ", "@staticmethod")
        if callable(value) and not is_class(value):
            return self.function(name, value, owner, "    ")
        if type(value).__name__ in ("member_descriptor", "getset_descriptor"):
            text = self.kind(self.attribute(owner, name))
            if owner in tables.UNCHANGING:
                return ["    @property", "    def %s(self) -> %s: ..." % (name, text)]
            return ["    %s: %s" % (name, text)]
        text = tables.ATTRIBUTES.get(name)
        return ["    %s: %s" % (name, self.kind(text) if text else self.variable(value))]

    def special(self, owner, name, value):
        """The lines of a method that Python calls."""
        if not callable(value) and not isinstance(value, staticmethod):
            return []
        operand, arithmetic, comparison = tables.OPERATORS.get(owner, ("object", "Any", "bool"))
        text = tables.DUNDERS.get("%s.%s" % (owner, name)) or tables.DUNDERS.get(name)
        note = ""
        if text is None and name in tables.UNARY:
            text = "self -> " + arithmetic
        elif text is None and name in tables.ARITHMETIC:
            text = "self, other: %s, / -> %s" % (operand, arithmetic)
        elif text is None and name in tables.COMPARISONS:
            both = name in ("__eq__", "__ne__")
            text = "self, other: %s, / -> %s" % ("object" if both else operand, comparison)
            note = "  # type: ignore[override]" if both and comparison != "bool" else ""
        if text is not None:
            arguments, _, result = text.partition(" -> ")
            return [definition("    ", name, [self.typed(part) for part in split(arguments)], self.kind(result)) + note]
        function = getattr(value, "__func__", value)
        hidden = name in ("__init__", "__new__") and owner in tables.MADE_BY_FUNCTIONS
        if hidden or name not in ("__init__", "__new__", "__call__", "__enter__", "__exit__", "__get__"):
            return []
        return self.function(name, function, owner, "    ") if inspect.isfunction(function) else []

    def typed(self, part):
        """One parameter of a table's signature."""
        name, colon, rest = part.partition(": ")
        kind, equals, default = rest.partition(" = ")
        return name + colon + self.kind(kind) + equals + default if colon else part

    # the whole

    def text(self):
        body = sorted(filter(None, map(self.lines, self.values)), key=lambda part: " = " in part.partition("\n")[0] and
                       not part.startswith(("def", "class", "@")))  # other names of what stands before
        if self.listed is not None:
            body.append(definition_of_all(self.listed))
        return HEAD + self.import_lines() + "\n" + "\n".join(body).rstrip("\n") + "\n"

    def lines(self, name):
        """The lines of one name: its definition, or an import."""
        value = self.values[name]
        if isinstance(value, types.ModuleType):
            package, _, last = value.__name__.rpartition(".")
            self.imports.setdefault(package, set()).add("%s as %s" % (last, name))
            return ""
        home = self.stubs.homes.get(id(value)) if is_class(value) or is_function(value) else None
        if home and home != (self.name, name):
            return self.elsewhere(name, *home)
        if is_class(value) and home:
            return "\n".join(self.class_lines(value, name)) + "\n"
        if is_class(value):
            return "%s = %s\n" % (name, self.kind("builtins." + value.__name__))
        if not is_function(value):
            return "%s: %s" % (name, self.variable(value))
        decorator = ""
        if hasattr(value, "nin") and hasattr(value, "reduce"):
            decorator = "@as_ufunc"
            self.imports.setdefault("nd4c._functions.ufunc", set()).add("as_ufunc")
        return "\n".join(self.function(name, value, decorator=decorator))

    def elsewhere(self, name, home, own):
        """What gives this module a name that another one defines, or that is another name of its own."""
        if home == self.name or own != name and name not in (self.listed or ()):
            return "%s = %s\n" % (name, self.imported(home, own))  # checkers hide imports under another name
        self.imports.setdefault(home, set()).add("%s as %s" % (own, name))
        return ""

    def import_lines(self):
        out = []
        for module in sorted(self.imports, key=lambda name: (name.startswith("nd4c"), name)):
            every = self.imports[module]
            names = sorted(name for name in every if "%s as %s" % (name, name) not in every)
            if not names:
                out.append("import " + module)
            else:
                out += wrapped("from %s import " % module, names)
        return "\n".join(out) + "\n"


def signature_of(value, name, owner):
    """The signature of a function. Methods that pass everything on have that of the function they call, with self."""
    signature = inspect.signature(value)
    if not owner and "self" in signature.parameters:  # Python 3.9 sees through the bound method of a module's function
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    if owner and [str(one) for one in signature.parameters.values()] == ["self", "*arguments", "**named"] and hasattr(
            sys.modules["nd4c"], name):
        function = inspect.signature(getattr(sys.modules["nd4c"], name))
        first, *rest = function.parameters.values()
        return function.replace(parameters=[first.replace(name="self", kind=inspect.Parameter.POSITIONAL_ONLY)] + rest)
    return signature


def op_kinds(name, signature):
    """Types of an op's parameters and of its result."""
    abi = sys.modules["nd4c._abi"]
    _, inputs, attributes, outputs = next(row for row in abi.OPS.values() if row[0] in (name, name.rstrip("_")))
    names = list(signature.parameters)
    kinds = {}
    for place, (kind, _) in enumerate(inputs + attributes):
        parameter = signature.parameters[names[place]]
        text = tables.KINDS[kind]
        if kind == "n" and isinstance(parameter.default, str):
            text = "str"
        elif kind == "N" and "axis" in names[place]:
            text = "AxisLike"
        elif kind == "t" and parameter.default is inspect.Parameter.empty:
            text = "DTypeLike"
        kinds[names[place]] = text
    return kinds, "Array" if outputs == 1 else "Tuple[%s]" % ", ".join(["Array"] * outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--modules", required=True, help="the folder of the package's own modules")
    parser.add_argument("--library", required=True)
    parser.add_argument("--output", required=True, help="the package's folder, which has the derived modules")
    arguments = parser.parse_args()
    sys.dont_write_bytecode = True
    os.environ.update(ND4C_LIBRARY=os.path.abspath(arguments.library), ND4C_PYTHON_CORE="ctypes")
    Stubs(load(os.path.abspath(arguments.modules), os.path.abspath(arguments.output))).write(arguments.output)


if __name__ == "__main__":
    main()

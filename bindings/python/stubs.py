#!/usr/bin/env python3
"""Writes the type stubs of the Python package: imports the package that derive.py has just completed and looks at its public
modules. derive.py runs it.

    stubs.py --modules bindings/python/nd4c --library build/debug/lib/libnd4c.so --output build/debug/python/nd4c

Types are those that the modules annotate, and for the rest those of stub_types.py. It needs only Python's standard library."""
import argparse
import ast
import builtins
import enum
import importlib
import importlib.util
import inspect
import keyword
import os
import pkgutil
import re
import sys
import types
import typing

import stub_types as tables

HEAD = '"""Made by bindings/python/stubs.py; not to be edited."""\n'
TYPING = frozenset("""Any Callable ClassVar ContextManager Dict Generic IO Iterator List Literal Mapping MutableMapping NamedTuple NoReturn
    Optional Sequence SupportsFloat SupportsIndex Tuple Type TypeVar Union overload""".split())
LIKE = frozenset("ArrayLike AxisLike DTypeLike DeviceLike ShapeLike".split())
WIDTH = 120


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
    return callable(value) and not is_class(value) and type(value).__name__ in ("function", "builtin_function_or_method", "method", "fast_function")


class Stubs:
    """The public objects of the package and the module whose stub defines each; the others import it from there."""

    def __init__(self, package):
        self.modules = public_modules(package)
        self.homes = {}  # id of a class or function -> (module, name)
        self.classes = {}  # name in types -> (module, name in the stub)
        self.kept = []
        first = [(self.modules["nd4c"], name) for name in package.__all__]
        outer = sorted(self.modules, key=lambda name: (name == "nd4c", name.count("."), name))  # nd4c has the others' names, too
        every = [(self.modules[module], name) for module in outer for name in public_names(self.modules[module])]
        own = [(module, name) for module, name in every if getattr(getattr(module, name), "__module__", None) == module.__name__]
        for module, name in first + own + every:
            self._settle(module.__name__, name, getattr(module, name))
        self.hidden = {}
        for name, place in tables.HIDDEN.items():
            module = importlib.import_module(place)
            cls = getattr(module, name, None) or getattr(module, "_" + name)
            home = place.rpartition(".")[0]
            self.homes[id(cls)] = self.classes[name] = (home, "_" + name)
            self.hidden.setdefault(home, []).append((name, cls))

    def _settle(self, module, name, value):
        if (is_class(value) or is_function(value)) and id(value) not in self.homes and module + "." + name not in tables.SAME:
            if is_class(value) and value.__module__ == "builtins":
                return
            self.homes[id(value)] = (module, name)
            self.kept.append(value)
            if is_class(value):
                self.classes.setdefault(name, (module, name))

    def write(self, folder):
        """Writes the stubs, and removes those of modules that are gone."""
        written = set()
        for name, module in self.modules.items():
            parts = name.split(".")[1:] + (["__init__"] if hasattr(module, "__path__") else [])
            path = os.path.join(folder, *parts) + ".pyi"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path, Module(self, module).text())
            written.add(path)
        for place, _, files in os.walk(folder):
            for path in (os.path.join(place, file) for file in files if file.endswith(".pyi")):
                if path not in written:
                    os.remove(path)


def write(path, text):
    """Writes a file only if its text changes, so that the build does not remake what depends on it."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# -- annotations -----------------------------------------------------------------------------------------------------

_namespaces = {}


def namespace(name):
    """Names that a module's annotations use: its own, and those that it imports for type checkers alone."""
    if name not in _namespaces:
        module = sys.modules[name]
        names = _namespaces[name] = dict(vars(module))
        with open(module.__file__, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in tree.body:
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                exec(compile(ast.Module(node.body, []), module.__file__, "exec"), names)
    return _namespaces[name]


def annotation(text, module):
    """The type that an annotation says, as the text of a type; None for no annotation."""
    if text is inspect.Parameter.empty:
        return None
    return described(eval(text, namespace(module)) if isinstance(text, str) else text, module)


def described(kind, module):
    if isinstance(kind, str):
        return annotation(kind, module)
    if isinstance(kind, typing.ForwardRef):
        return annotation(kind.__forward_arg__, module)
    if kind is None or kind is type(None):
        return "None"
    if kind is Ellipsis:
        return "..."
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        if type(None) in arguments and len(arguments) == 2:
            return "Optional[%s]" % next(described(one, module) for one in arguments if one is not type(None))
        return "Union[%s]" % ", ".join(described(one, module) for one in arguments)
    if origin is not None:
        name = getattr(kind, "_name", None) or origin.__name__
        name = "os.PathLike" if origin is os.PathLike else name
        inner = ["[%s]" % ", ".join(described(one, module) for one in part) if isinstance(part, list) else described(part, module)
                 for part in arguments]
        return "%s[%s]" % (name, ", ".join(inner)) if inner else name
    return getattr(kind, "__name__", None) or str(kind).replace("typing.", "")


# -- one module ------------------------------------------------------------------------------------------------------

class Module:
    """The stub of one module."""

    def __init__(self, stubs, module):
        self.stubs, self.module, self.name = stubs, module, module.__name__
        self.names = public_names(module)
        self.taken = set(self.names)
        self.imports = {}  # module -> set of "name" or "name as other"
        for name in self.names:
            value = getattr(module, name)
            if is_class(value) and stubs.homes.get(id(value)) == (self.name, name):
                self.taken.update(dir(value))
        for _, cls in stubs.hidden.get(self.name, ()):
            self.taken.update(dir(cls))

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
        clash = name in self.taken and self.stubs.homes.get(id(getattr(self.module, name, None))) != (home, name)
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
        if text is not None and default is None and not text.startswith(("Optional", "Union[None", "Any", "AxisLike", "object")):
            text = "Optional[%s]" % text
        return text or "Any"

    def _by_name(self, name, default):
        if name == "out":
            return "Optional[Array]" if default is None else "Any"
        if name == "axis":
            return {type(None): "AxisLike", int: "SupportsIndex"}.get(type(default), "Union[SupportsIndex, Sequence[SupportsIndex]]")
        if name in tables.PARAMETERS:
            return tables.PARAMETERS[name]
        by_default = {bool: "bool", int: "SupportsIndex", float: "SupportsFloat", str: "str"}
        return by_default.get(type(default))

    def parameters(self, owner, signature, kinds=None, changed=None):
        """The parameter list of a stub. changed: types of parameters that differ in this form; one that must be given is keyword-only
        from there on where parameters before it may be left out."""
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
                    parts.append("%s: %s%s" % (name, self.kind(text), " = " + default_text(parameter.default) if given else ""))
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
            lines.append(definition(indent, name, self.parameters(table_owner, signature, kinds, changed), self.kind(form_result)))
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

    def class_lines(self, cls, name, stub_name):
        if self.name == "nd4c.numpy" and name == "ufunc":
            return ["class ufunc:"] + [self.kind_of_line(line) for line in tables.UFUNC.strip("\n").split("\n")]
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            notes = getattr(cls, "__annotations__", {})
            rows = []
            for field in cls._fields:
                text = annotation(notes[field], cls.__module__) if field in notes else self.attribute(name, field, "Array")
                rows.append("    %s: %s%s" % (field, self.kind(text), "  # type: ignore[assignment]" if hasattr(tuple, field) else ""))
            return ["class %s(%s):" % (stub_name, self.kind("NamedTuple"))] + rows
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
            rows += ["    %s: %s" % (key, self.kind(tables.ATTRIBUTES[name + "." + key]) if name + "." + key in tables.ATTRIBUTES else
                                     self.variable(value)) for key, value in vars(sample).items() if not key.startswith("_")]
        listed = {row.split(":")[0].strip() for row in rows}
        for key in sorted(members):
            if key not in listed and hasattr(cls, key) and "%s.%s" % (name, key) not in tables.ABSENT:
                rows += self.member(cls, name, key, members[key], notes)
        head = "class %s%s:" % (stub_name, "(%s)" % ", ".join(bases) if bases else "")
        return [head] + rows if rows else [head + " ..."]

    def kind_of_line(self, line):
        """A line of a stub with its types' names imported."""
        return re.sub(r"\b(?!None\b)[A-Z]\w+", self._named, line)

    @staticmethod
    def returned(getter):
        """The type that a property's function is annotated to give."""
        return annotation(inspect.signature(getter).return_annotation, getter.__module__) if inspect.isfunction(getter) else None

    def attribute(self, owner, name, otherwise="Any"):
        return tables.ATTRIBUTES.get("%s.%s" % (owner, name)) or tables.ATTRIBUTES.get(name, otherwise)

    def member(self, cls, owner, name, value, notes):
        """The lines of one attribute or method; none where users do not see it."""
        if name == "__hash__" and value is None:
            return ["    __hash__: %s  # type: ignore[assignment]" % self.kind("ClassVar[None]")]
        if name.startswith("__"):
            return self.special(owner, name, value)
        if name.startswith("_"):
            return []
        if isinstance(value, property):
            text = self.returned(value.fget) or self.attribute(owner, name)
            rows = ["    @property", "    def %s(self) -> %s: ..." % (name, self.kind(text))]
            setter = ["    @%s.setter" % name, "    def %s(self, value: %s) -> None: ..." % (
                name, self.kind("ArrayLike" if text == "Array" else text))]
            return rows + setter if value.fset else rows
        if name in notes:
            return ["    %s: %s" % (name, self.kind(annotation(notes[name], cls.__module__)))]
        if isinstance(value, classmethod):
            return self.function(name, value.__func__, owner, "    ", "@classmethod")
        if isinstance(value, staticmethod):
            return self.function(name, value.__func__, owner, "    ", "@staticmethod")
        if callable(value) and not is_class(value):
            return self.function(name, value, owner, "    ")
        if type(value).__name__ in ("member_descriptor", "getset_descriptor"):
            return ["    @property", "    def %s(self) -> %s: ..." % (name, self.kind(self.attribute(owner, name)))] \
                if owner in ("Array", "DType", "Device") else ["    %s: %s" % (name, self.kind(self.attribute(owner, name)))]
        text = tables.ATTRIBUTES.get(name)
        return ["    %s: %s" % (name, self.kind(text) if text else self.variable(value))]

    def special(self, owner, name, value):
        """The lines of a method that Python calls."""
        if not callable(value) and not isinstance(value, (staticmethod, property)):
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
        if name in ("__init__", "__new__") and (owner in tables.MADE_BY_FUNCTIONS or not hasattr(value, "__func__") and not
                                                inspect.isfunction(value)):
            return []
        if name in ("__init__", "__new__", "__call__", "__enter__", "__exit__", "__get__"):
            return self.function(name, getattr(value, "__func__", value), owner, "    ")
        return []

    def typed(self, part):
        """One parameter of a table's signature."""
        name, colon, rest = part.partition(": ")
        kind, equals, default = rest.partition(" = ")
        return name + colon + self.kind(kind) + equals + default if colon else part

    # the whole

    def text(self):
        body = []
        for name, cls in self.stubs.hidden.get(self.name, ()):
            body.append("\n".join(self.class_lines(cls, name, "_" + name)) + "\n")
        body += sorted(filter(None, map(self.lines, self.names)), key=lambda part: " = " in part.partition("\n")[0] and
                       not part.startswith(("def", "class", "@")))  # other names of what stands before
        if self.name == "nd4c":
            body.insert(0, self.elementwise())
        listed = getattr(self.module, "__all__", None)
        if listed is not None:
            body.append(definition_of_all(listed))
        return HEAD + self.import_lines() + "\n" + "\n".join(body).rstrip("\n") + "\n"

    def elementwise(self):
        """The class of functions of one element and more, and what makes a function one of it."""
        self.imports.setdefault("typing_extensions", set())
        self.imports.setdefault("nd4c.numpy", set()).add("ufunc")
        self.kind("Generic TypeVar Callable".replace(" ", ", "))
        return ("_P = typing_extensions.ParamSpec(\"_P\")\n_R = TypeVar(\"_R\", covariant=True)\n\n"
                "class _Ufunc(ufunc, Generic[_P, _R]):\n"
                "    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...\n\n"
                "def _as_ufunc(function: Callable[_P, _R]) -> _Ufunc[_P, _R]: ...\n")

    def lines(self, name):
        value = getattr(self.module, name)
        if isinstance(value, types.ModuleType):
            package, _, last = value.__name__.rpartition(".")
            self.imports.setdefault(package, set()).add("%s as %s" % (last, name))
            return ""
        same = tables.SAME.get("%s.%s" % (self.name, name)) or tables.SAME.get(getattr(value, "__module__", "") and "%s.%s" % (
            "nd4c.numpy", name) if is_class(value) and name == "dtype" else "")
        if same:
            home, own = self.stubs.classes[same]
            if home == self.name:
                return "%s = %s\n" % (name, own)
            self.imports.setdefault(home, set()).add("%s as %s" % (own, name))
            return ""
        home = self.stubs.homes.get(id(value)) if is_class(value) or is_function(value) else None
        if home and home != (self.name, name):
            if home[0] == self.name:
                return "%s = %s\n" % (name, home[1])
            self.imports.setdefault(home[0], set()).add("%s as %s" % (home[1], name))
            return ""
        if is_class(value) and value.__module__ == "builtins":
            return "%s = builtins.%s\n" % (name, value.__name__) if self.imports.setdefault("builtins", set()) is not None else ""
        if is_class(value):
            return "\n".join(self.class_lines(value, name, name)) + "\n"
        if is_function(value):
            decorator = ""
            if hasattr(value, "nin") and hasattr(value, "reduce"):
                decorator = "@_as_ufunc"
                if self.name != "nd4c":
                    self.imports.setdefault("nd4c", set()).add("_as_ufunc")
            return "\n".join(self.function(name, value, decorator=decorator))
        return "%s: %s" % (name, self.variable(value))

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


def split(text):
    """Parameters of a signature's text, which has commas in brackets, too."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", " ".join(text.split()))]


def wrapped(head, names):
    line = head + ", ".join(names)
    if len(line) <= WIDTH:
        return [line]
    lines, row = [], "   "
    for name in names:
        if len(row) + len(name) + 2 > WIDTH:
            lines.append(row)
            row = "   "
        row += " %s," % name
    return [head + "("] + lines + [row.rstrip(",") + ")"]


def definition(indent, name, parts, result):
    name = name if not keyword.iskeyword(name) else name + "_"
    line = "%sdef %s(%s) -> %s: ..." % (indent, name, ", ".join(parts), result)
    if len(line) <= WIDTH:
        return line
    lines, row = [], indent + "       "
    for part in parts:
        if len(row) + len(part) + 2 > WIDTH:
            lines.append(row)
            row = indent + "       "
        row += " %s," % part
    return "%sdef %s(\n%s) -> %s: ..." % (indent, name, "\n".join(lines + [row.rstrip(",")]), result)


def definition_of_all(names):
    return "\n".join(wrapped("__all__ = [", [repr(name) for name in names])).replace("[(\n", "[\n").replace("')", "'") + "]\n"


def admits(text, default):
    """Whether a literal type takes the default of its parameter."""
    return text == "None" and default is None or repr(default) in re.findall(r"True|False|'[^']*'", text)


def default_text(default):
    simple = default is None or type(default) in (bool, int, str) or type(default) is float and abs(default) < float("inf")
    return repr(default) if simple else "..."


def signature_of(value, name, owner):
    """The signature of a function. Methods that pass everything on have that of the function they call, with self."""
    signature = inspect.signature(value)
    if owner and [str(one) for one in signature.parameters.values()] == ["self", "*arguments", "**named"] and hasattr(
            sys.modules["nd4c"], name):
        function = inspect.signature(getattr(sys.modules["nd4c"], name))
        first, *rest = function.parameters.values()
        return function.replace(parameters=[first.replace(name="self", kind=inspect.Parameter.POSITIONAL_ONLY)] + rest)
    return signature


def op_kinds(name, signature):
    """Types of an op's parameters and of its result."""
    abi = sys.modules["nd4c._abi"]
    _, inputs, attributes, outputs = next(row for row in abi.OPS.values() if row[0] == name.rstrip("_") or row[0] == name)
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

"""Texts of stubs: types as annotations say them, definitions within the length of a line. stubs.py decides which."""
import ast
import inspect
import keyword
import os
import re
import sys
import textwrap
import typing

WIDTH = 120


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
        inner = ["[%s]" % ", ".join(described(one, module) for one in part) if isinstance(part, list)
                 else described(part, module) for part in arguments]
        return "%s[%s]" % (name, ", ".join(inner)) if inner else name
    return getattr(kind, "__name__", None) or str(kind).replace("typing.", "")


# -- definitions -----------------------------------------------------------------------------------------------------

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
    opening, closing = "[]" if isinstance(names, list) else "()"
    rows = textwrap.wrap(", ".join(map(repr, names)), WIDTH - 4)
    return "__all__ = %s\n    %s%s\n" % (opening, "\n    ".join(rows), closing)


def admits(text, default):
    """Whether a literal type takes the default of its parameter."""
    return text == "None" and default is None or repr(default) in re.findall(r"True|False|'[^']*'", text)


def default_text(default):
    if default is None or type(default) in (bool, int, str) or type(default) is float and abs(default) < float("inf"):
        return repr(default)
    return "..."

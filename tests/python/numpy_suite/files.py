"""Loads a test file of NumPy's as a module that sees nd4c.numpy for NumPy.

Statements at the top of the file and of its classes run under a guard: what cannot be made with nd4c.numpy (a
parametrization by dtypes that it lacks, a subclass) becomes failing tests, one for each that NumPy itself would run."""
import ast
import builtins
import functools
import importlib.util
import types

from . import standins

_LOST, _CHECK = "__nd4c_lost__", "__nd4c_check__"


class _Guard(ast.NodeTransformer):
    """Puts each statement of the module's and its classes' bodies into try/except."""

    def __init__(self):
        self.path = []

    def body(self, statements):
        return [self.guarded(one) for one in statements]

    def guarded(self, statement):
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)) or (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            return statement
        names = _bound(statement)
        if isinstance(statement, ast.ClassDef):
            self.path.append(statement.name)
            statement.body = self.body(statement.body)
            self.path.pop()
        handler = ["try: pass", "except Exception as __nd4c_error__:", "  pass"]
        handler += ["  %s = %s(__nd4c_error__, %r)" % (name, _LOST, ".".join(self.path + [name])) for name in names]
        guard = ast.parse("\n".join(handler)).body[0]
        for node in ast.walk(guard):
            if hasattr(node, "lineno"):
                ast.copy_location(node, statement)
        guard.body = [statement]
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            check = ast.parse("%s(%s)" % (_CHECK, statement.name)).body[0]
            guard.body += [check] if statement.name.lower().startswith("test") else []
        return guard


def _bound(statement):
    """Names that a statement binds in its own scope."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    names = []
    for node in ast.walk(statement):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return sorted(set(names))


def _check(test):
    """Raises if the parameters of a test could not be made. Generators of parameters run here, within the guard."""
    for mark in getattr(test, "pytestmark", ()):
        if mark.name != "parametrize" or len(mark.args) < 2:
            continue
        object.__setattr__(mark, "args", (mark.args[0], list(mark.args[1])) + mark.args[2:])


class _Losses:
    """Makes failing tests of what a file could not define, by the file as NumPy itself has it."""

    def __init__(self, path):
        self.path = path

    @functools.cached_property
    def reference(self):
        spec = importlib.util.spec_from_file_location("numpys_own_" + self.path.stem, self.path)
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    def __call__(self, error, qualified):
        last = qualified.rpartition(".")[2]
        if not last.lower().startswith("test"):
            return standins.Placeholder(error, last)
        found = self.reference
        for part in qualified.split("."):
            found = getattr(found, part, None)
        if found is None:
            return standins.Placeholder(error, last)
        return _failing(found, "%s: %s" % (type(error).__name__, error))


def _failing(reference, reason):
    """A test, or a class of tests, with the reference's names and parameters that fails for the reason."""
    if isinstance(reference, type):
        members = {name: _failing(getattr(reference, name), reason) for name in dir(reference) if name.startswith("test")}
        members["pytestmark"] = list(getattr(reference, "pytestmark", ()))
        return type(reference.__name__, (), members)

    @functools.wraps(reference)
    def lost(*values, **named):
        raise standins.MissingName("the test could not be defined: " + reason)
    for name in ("is_hypothesis_test", "hypothesis"):
        lost.__dict__.pop(name, None)
    return lost


def load(path, name):
    """The test file as a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    tree.body = _Guard().body(tree.body)
    made = types.ModuleType(name)
    made.__file__ = str(path)
    made.__builtins__ = dict(vars(builtins), __import__=standins.import_, **{_LOST: _Losses(path), _CHECK: _check})
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), vars(made))
    return made

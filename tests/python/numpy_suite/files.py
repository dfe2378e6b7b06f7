"""Loads a test file of NumPy's as a module that sees nd4c.numpy for NumPy.

Statements at the top of the file and of its classes run under a guard: what cannot be made with nd4c.numpy (a
parametrization by dtypes that it lacks, a subclass) becomes failing tests, one for each that NumPy itself would run."""
import ast
import builtins
import functools
import importlib.util
import types

from . import standins

_LOST, _CHECK, _STATIC, _EACH = ("__nd4c_%s__" % word for word in ("lost", "check", "static", "each"))


class _Guard(ast.NodeTransformer):
    """Puts each statement of the module's and its classes' bodies into try/except, and each element of a list that tests take
    their parameters from: one that cannot be made becomes a placeholder."""

    def __init__(self):
        self.path = []
        self.count = 0

    def body(self, statements):
        return [made for one in statements for made in self.guarded(one)]

    def guarded(self, statement):
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass)) or (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            return [statement]
        names = _bound(statement)
        before = []
        for node in _parameters(statement):
            before += self.elements(node) if isinstance(node, (ast.List, ast.Tuple)) else []
            if isinstance(node, ast.ListComp):
                node.elt = _guarded_call(node.elt)
        if isinstance(statement, ast.ClassDef):
            self.path.append(statement.name)
            statement.body = self.body(statement.body)
            self.path.pop()
        elif self.path and isinstance(statement, ast.Assign):
            statement.value = ast.Call(ast.Name(_STATIC, ast.Load()), [statement.value], [])
        body = [statement]
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name.lower().startswith("test"):
            body += ast.parse("%s(%s, %r)" % (_CHECK, statement.name, ".".join(self.path + [statement.name]))).body
        return before + [_tried(body, statement, [(name, ".".join(self.path + [name])) for name in names])]

    def elements(self, node):
        """Statements that make the elements of a list or tuple, which then consists of their names."""
        made = []
        for place, element in enumerate(node.elts):
            if not isinstance(element, (ast.Constant, ast.Starred)):
                name = "__nd4c_element_%d__" % self.count
                self.count += 1
                assignment = ast.Assign([ast.Name(name, ast.Store())], element)
                made.append(_tried([ast.copy_location(assignment, element)], element, [(name, ast.unparse(element))]))
                node.elts[place] = ast.copy_location(ast.Name(name, ast.Load()), element)
        return made


def _tried(body, place, losses):
    """A try statement; where it fails, names get what _LOST makes of them."""
    handler = ["try: pass", "except Exception as __nd4c_error__:", "  pass"]
    handler += ["  %s = %s(__nd4c_error__, %r)" % (name, _LOST, what) for name, what in losses]
    guard = ast.parse("\n".join(handler)).body[0]
    guard.body = body
    for node in ast.walk(guard):
        if not hasattr(node, "lineno") or node is guard or node in guard.handlers:
            ast.copy_location(node, place)
    for node in ast.walk(guard.handlers[0]):
        ast.copy_location(node, place)
    return guard


def _guarded_call(node):
    """An expression that is a placeholder where it fails; for comprehensions, which do not see a class's names either."""
    call = ast.parse("%s(lambda: None, %r)" % (_EACH, ast.unparse(node)), mode="eval").body
    call.args[0].body = node
    return call


def _each(make, source):
    """What _guarded_call() calls."""
    try:
        return make()
    except Exception as error:
        return standins.Placeholder(error, source)


def _parameters(statement):
    """The lists, tuples and list comprehensions of a statement that hold parameters: those of parametrize, and assigned ones;
    also where + joins them."""
    if isinstance(statement, ast.Assign):
        values = [statement.value]
    else:
        calls = [one for one in getattr(statement, "decorator_list", ()) if isinstance(one, ast.Call) and len(one.args) > 1]
        values = [one.args[1] for one in calls if getattr(one.func, "attr", "") == "parametrize"]
    while values:
        value = values.pop()
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            values += [value.left, value.right]
        elif isinstance(value, (ast.List, ast.Tuple, ast.ListComp)):
            yield value


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


def _static(value):
    """A function of nd4c's that a class keeps does not become a method, as NumPy's, which are no Python functions, do not."""
    own = isinstance(value, types.FunctionType) and value.__module__.startswith("nd4c.")
    return staticmethod(value) if own else value


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

    def found(self, qualified):
        """NumPy's own test or class of tests; None if there is none."""
        found = self.reference
        for part in qualified.split("."):
            found = getattr(found, part, None)
        return found

    def check(self, test, qualified):
        """Runs generators of a test's parameters, within the guard. A placeholder among rows of parameters becomes a row; where
        a generator fails, placeholders stand for the rows that NumPy has from there on."""
        for place, mark in enumerate(getattr(test, "pytestmark", ())):
            if mark.name != "parametrize" or len(mark.args) < 2:
                continue
            names, values = mark.args[:2]
            count = len(names.split(",") if isinstance(names, str) else names)
            rows, error = _rows(values)
            if error is not None:
                theirs, _ = _rows(self.found(qualified).pytestmark[place].args[1])
                rows += [standins.Placeholder(error, "") for _ in theirs[len(rows):]]
            rows = [(row,) * count if isinstance(row, standins.Placeholder) and count > 1 else row for row in rows]
            object.__setattr__(mark, "args", (names, rows) + mark.args[2:])

    def __call__(self, error, qualified):
        last = qualified.rpartition(".")[2]
        if not last.isidentifier() or not last.lower().startswith("test"):
            return standins.Placeholder(error, qualified if "(" in qualified else last)
        found = self.found(qualified)
        if found is None:
            return standins.Placeholder(error, last)
        return _failing(found, "%s: %s" % (type(error).__name__, error))


def _rows(values):
    """The rows of parameters up to a failure, and the failure."""
    rows = []
    try:
        for row in values:
            rows.append(row)
    except Exception as error:
        return rows, error
    return rows, None


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
    losses = _Losses(path)
    own = {_LOST: losses, _CHECK: losses.check, _STATIC: _static, _EACH: _each}
    made.__builtins__ = dict(vars(builtins), __import__=standins.import_, **own)
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), vars(made))
    return made

"""An example for each op: those of the Python package's docstrings (bindings/python/examples.txt), whose results are the
oracle's of tests/records. ops.py puts them into the entries, with the arguments for the same call in C.
"""

import ast


def blocks(path):
    """{op: {"text": Markdown, "attributes": {name: text}, "inputs": [given or not]}} of the file of examples."""
    text = path.read_text(encoding="utf-8")
    return {op: entry(op, lines) for op, _, lines in (block.strip().partition("\n") for block in text.split("\n\n")) if op}


def entry(op, lines):
    parts = list(statements(lines))
    attributes, inputs = arguments(op, "\n".join(code for code, _ in parts))
    return {"text": markdown(parts), "attributes": attributes, "inputs": inputs}


def statements(lines):
    """(code, output) for each statement of an example in doctest's form."""
    code, output = [], []
    for line in lines.split("\n"):
        if line.startswith(">>> ") and code:
            yield "\n".join(code), "\n".join(output)
            code, output = [], []
        if line.startswith((">>> ", "... ")):
            code.append(line[4:])
        else:
            output.append(line.replace("<BLANKLINE>", ""))
    yield "\n".join(code), "\n".join(output)


def markdown(parts):
    """Blocks of code, each with the output of its last statement."""
    out, code = [], []
    for statement, output in parts:
        code.append(statement)
        if output:
            out += ["```python\n%s\n```" % "\n".join(code), "```output\n%s\n```" % output]
            code = []
    return "\n\n".join(out + ["```python\n%s\n```" % "\n".join(code)] * bool(code))


def arguments(op, code):
    """The attributes of the example's call as the selftest's cases write them, and which inputs it gives."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "nd4c.ops." + op:
            given = {word.arg: value(word.value) for word in node.keywords}
            return given, [not (isinstance(x, ast.Constant) and x.value is None) for x in node.args]
    raise SystemExit("examples.py: the example of %s does not call it" % op)


def value(node):
    text = ast.unparse(node)
    if text.startswith(("nd4c.", "-nd4c.")):  # a dtype, inf, nan
        return text.replace("nd4c.", "")
    known = ast.literal_eval(node)
    if isinstance(known, (list, tuple)):
        return "[%s]" % ",".join(map(str, known))
    return str(known).lower() if isinstance(known, bool) else str(known)

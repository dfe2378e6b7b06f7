"""Runs the blocks of Python of a page, all in one namespace as in a notebook, and compares what they print with the
block `output` after each. An expression at a block's end shows its value; an exception its class and text.

    python tests/python/page_blocks.py --check PAGE    exit status 1 where a page says something else
    python tests/python/page_blocks.py PAGE...         writes what the blocks print into the pages

test_pages.py and tests/tools/check_blocks.py call it. A block behind a comment <!-- needs: ... --> needs a device or
a file that is not here: it is compiled, and each name of the package that it uses must be there.
"""

import ast
import contextlib
import difflib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BLOCK = re.compile(
    r"^(<!-- needs: [^\n]* -->\n\n?)?```python\n(.*?)^```\n(?:\n^```output\n(.*?)^```\n)?", re.M | re.S
)


def run(code, names, where):
    """The output of a block."""
    tree = ast.parse(code, where)
    shown = io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(shown):
        try:
            exec(compile(tree, where, "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), where, "eval"), names)
                if value is not None:
                    print(repr(value))
        except Exception as error:
            print("%s.%s: %s" % (type(error).__module__, type(error).__name__, error))
    return "".join(line.rstrip() + "\n" for line in shown.getvalue().splitlines())


def unknown_names(code, where):
    """The names below `nd4c` or `xp` in a block that the package lacks."""
    import nd4c

    missing = []
    for node in ast.walk(ast.parse(code, where)):
        path = []
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if path and isinstance(node, ast.Name) and node.id in ("nd4c", "xp"):
            value = nd4c
            for name in path:
                if not hasattr(value, name):
                    missing.append("%s.%s" % (node.id, ".".join(path)))
                    break
                value = getattr(value, name)
    return sorted(set(missing))


def wrong(page, text):
    """The differences between a page and the output of its blocks, a text for each."""
    names, out = {"__name__": "page", "ROOT": str(ROOT)}, []
    for block in BLOCK.finditer(text):
        needs, code, expected = block.groups()
        where = "%s:%d" % (page, text.count("\n", 0, block.start(2)))
        if needs:
            missing = unknown_names(code, where)
            out += ["%s: the package has no %s" % (where, ", ".join(missing))] if missing else []
            continue
        printed = run(code, names, where)
        if printed != (expected or ""):
            lines = difflib.unified_diff(
                (expected or "").split("\n"), printed.split("\n"), "the page", "the block", lineterm=""
            )
            out.append("%s prints something else than the page says:\n%s" % (where, "\n".join(lines)))
    return out


def rewrite(page):
    text, names = pathlib.Path(page).read_text(encoding="utf-8"), {"__name__": "page", "ROOT": str(ROOT)}

    def filled(block):
        if block.group(1):
            return block.group(0)
        printed = run(block.group(2), names, page)
        return "```python\n%s```\n%s" % (block.group(2), "\n```output\n%s```\n" % printed if printed else "")

    pathlib.Path(page).write_text(BLOCK.sub(filled, text), encoding="utf-8")


def main():
    check = sys.argv[1:2] == ["--check"]
    pages = [pathlib.Path(name).resolve() for name in sys.argv[2 if check else 1 :]]
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # blocks write their files there
        for page in pages:
            if check:
                complaints += wrong(os.path.relpath(page, ROOT), page.read_text(encoding="utf-8"))
            else:
                rewrite(page)
        os.chdir("/")
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()

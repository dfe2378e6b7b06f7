"""Pages with Python in them: every ```python block is run, one page's in one namespace as in a notebook, and prints what the
```output block after it shows. An expression at a block's end shows its value; an exception its class and text.

    python tests/python/test_pages.py PAGE...     writes what the blocks print into the pages
"""
import ast
import contextlib
import io
import os
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
PAGES = ("docs/tutorials/python.md", "docs/how-to/python.md", "README.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```output\n(.*?)^```\n)?", re.M | re.S)


def run(code, names, where):
    """What a block prints."""
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


@pytest.mark.parametrize("page", PAGES)
def test_page(page, monkeypatch, tmp_path):
    for package in ("numpy", "einops"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    names, blocks = {"__name__": "page", "ROOT": str(ROOT)}, list(BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        where = "%s:%d" % (page, text.count("\n", 0, block.start()) + 1)
        assert run(block.group(1), names, where) == (block.group(2) or ""), where


def rewrite(page):
    text, names = pathlib.Path(page).read_text(encoding="utf-8"), {"__name__": "page", "ROOT": str(ROOT)}

    def filled(block):
        printed = run(block.group(1), names, page)
        return "```python\n%s```\n%s" % (block.group(1), "\n```output\n%s```\n" % printed if printed else "")

    pathlib.Path(page).write_text(BLOCK.sub(filled, text), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(name)

"""The blocks of Python of the documents run and print what the pages show: page_blocks.py."""

import importlib.util
import pathlib

import pytest

SPEC = importlib.util.spec_from_file_location("page_blocks", pathlib.Path(__file__).with_name("page_blocks.py"))
page_blocks = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(page_blocks)
ROOT = page_blocks.ROOT
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (*ROOT.glob("docs/**/*.md"), ROOT / "README.md")
    if "```python" in page.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("page", PAGES)
def test_page(page, monkeypatch, tmp_path):
    for package in ("numpy", "einops"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert page_blocks.BLOCK.search(text)
    assert page_blocks.wrong(page, text) == []

"""Every snippet of the README and the docs runs and prints what it says."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets(page):
    failed, tried = doctest.testfile(str(page), module_relative=False,
                                     optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0
    assert tried > 0 or ">>>" not in page.read_text()


def test_a_wrong_snippet_would_fail(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n\n```\n")
    with pytest.raises(doctest.DocTestFailure):
        doctest.testfile(str(page), module_relative=False, raise_on_error=True)

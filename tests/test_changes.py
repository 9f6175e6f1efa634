"""Fragments of the changelog are well formed, and a release gathers every one of them."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
FRAGMENTS = sorted((DOCS / "changes").glob("*"))


@pytest.fixture(scope="module")
def changes():
    """Load the command, which lies in docs/, which is no package."""
    spec = importlib.util.spec_from_file_location("gather_changes", DOCS / "gather_changes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_is_well_formed(changes, path):
    assert changes.read_fragment(path)


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.md", "It is so."),
        ("a.md", "**It is so.**"),
        ("a.md", "**It is so** and more."),
        ("a.md", "## New\n\n**It is so.** More."),
        ("a.md", "**It is so.** " + "More. " * 30),
        ("A-b.md", "**It is so.** More."),
    ],
    ids=range(6),
)
def test_another_form_is_refused(changes, name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=name):
        changes.read_fragment(tmp_path / name)


LOG = "# Changes\n\n## Unreleased: 0.2\n\n**Old.** One.\n\n## 0.1, 2026-01-01\n\n**First.** Zero.\n"


def test_a_release_gathers_all_and_deletes_them(changes, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(LOG)
    (tmp_path / "changes").mkdir()
    for name in "ba":
        (tmp_path / "changes" / f"{name}.md").write_text(f"\n**New {name}.** Said.\n\n")
    gathered = changes.gather_changes("0.2", "2026-02-03", tmp_path)
    assert [path.name for path in gathered] == ["a.md", "b.md"]
    assert not list((tmp_path / "changes").iterdir())
    assert (tmp_path / "CHANGELOG.md").read_text() == (
        "# Changes\n\n## 0.2, 2026-02-03\n\n**New a.** Said.\n\n**New b.** Said.\n\n**Old.** One.\n\n"
        "## 0.1, 2026-01-01\n\n**First.** Zero.\n"
    )
    with pytest.raises(ValueError, match="must have one section Unreleased, and none of 0.2"):
        changes.gather_changes("0.2", "2026-02-03", tmp_path)


def test_nothing_is_gathered_where_a_fragment_is_wrong(changes, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(LOG)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "a.md").write_text("wrong")
    with pytest.raises(ValueError, match="a.md"):
        changes.gather_changes("0.2", "2026-02-03", tmp_path)
    assert (tmp_path / "CHANGELOG.md").read_text() == LOG
    assert (tmp_path / "changes" / "a.md").exists()


def test_the_changelog_has_a_section_to_gather_into(changes):
    assert len(changes.UNRELEASED.findall((DOCS / "CHANGELOG.md").read_text())) == 1

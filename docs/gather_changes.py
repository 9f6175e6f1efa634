"""Gather the fragments of docs/changes/ into the changelog, for a release:
`python docs/gather_changes.py VERSION YYYY-MM-DD`.

A fragment is one change that a user can notice, in a file of its own, so that changes made at the
same time do not meet in one place. The fragments become the first paragraphs of the section
*Unreleased*, which takes the version and the date as its heading; then they are deleted.
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
UNRELEASED = re.compile(r"^## Unreleased.*\n", re.MULTILINE)
FRAGMENT = re.compile(r"\*\*[A-Z`][^*\n]+\.\*\* [A-Z`\[]")  # a sentence in bold, then what it means
NAME, WIDTH = re.compile(r"[a-z0-9_]+\.md"), 130


def read_fragment(path: Path) -> str:
    """Return the text of a fragment, without the blank lines around it; a fragment that is not well
    formed raises ValueError."""
    text = path.read_text().strip()
    if not NAME.fullmatch(path.name):
        raise ValueError(f"{path.name}: a fragment's name is lower_case.md")
    if not FRAGMENT.match(text):
        raise ValueError(
            f"{path.name}: a fragment begins with a sentence in bold: **It is so.** ..."
        )
    if any(line.startswith("#") or len(line) > WIDTH for line in text.splitlines()):
        raise ValueError(
            f"{path.name}: lines have at most {WIDTH} characters, and none is a heading"
        )
    return text


def gather_changes(version: str, date: str, docs: Path = DOCS) -> list[Path]:
    """Move all fragments into the changelog under a version's heading, and return their paths."""
    log, paths = docs / "CHANGELOG.md", sorted((docs / "changes").glob("*.md"))
    text = log.read_text()
    if f"\n## {version}," in text or len(UNRELEASED.findall(text)) != 1:
        raise ValueError(f"{log.name} must have one section Unreleased, and none of {version}")
    fragments = "".join(f"\n{read_fragment(path)}\n" for path in paths)
    log.write_text(UNRELEASED.sub(lambda _: f"## {version}, {date}\n{fragments}", text))
    for path in paths:
        path.unlink()
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 3 or not re.fullmatch(r"\d{4}-\d\d-\d\d", sys.argv[2]):
        sys.exit("usage: python docs/gather_changes.py VERSION YYYY-MM-DD")
    try:
        print(*(path.name for path in gather_changes(*sys.argv[1:])), sep="\n")
    except ValueError as error:
        sys.exit(str(error))

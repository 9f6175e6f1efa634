"""The record of a paper: it holds only what the paper's own text, a reference in another of the
papers, or its place of publication says."""

from typing import Any, NamedTuple

from fedtheory.display import facts_table


class Paper(NamedTuple):
    id: str  # the name that claims, symbols and files use
    title: str
    authors: tuple[Any, ...]  # () where the text gives none
    year: int | None = None  # None where neither the text nor a reference gives one
    where: str = ""  # where it was published
    link: str = ""
    known_by: str = ""  # the source of these facts, if not the paper's own first page

    @property
    def by(self) -> str:
        """Return the authors in one line."""
        return ", ".join(self.authors) or "authors not named"

    def _repr_html_(self) -> str:
        return facts_table(self.title, {self.by: str(self)})

    def __str__(self) -> str:
        facts = ", ".join(part for part in (self.where, str(self.year or ""), self.link) if part)
        return f"{self.by}: {self.title}" + (f" ({facts})" if facts else "")

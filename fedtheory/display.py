"""The representation of results: one line in a list or a debugger, a small table in a notebook."""

from collections.abc import Mapping
from html import escape
from typing import SupportsFloat

CELL = 'style="text-align: left; vertical-align: top; white-space: pre-wrap"'


class Shown:
    """A base class of records that have a `heading` and a few `facts` for display."""

    __slots__ = ()

    def heading(self) -> str:
        """Return a few words that say what the object is."""
        raise NotImplementedError

    def facts(self) -> dict[str, str]:
        """Return {label: text} of the facts to show, the most important first; texts may hold
        $LaTeX$."""
        raise NotImplementedError

    def __repr__(self) -> str:
        told = ", ".join(
            f"{label} {text}" for label, text in self.facts().items() if fits_a_line(text)
        )
        return f"<{self.heading()}{': ' * bool(told)}{told}>"

    def _repr_html_(self) -> str:
        return facts_table(self.heading(), self.facts())


def fits_a_line(text: object) -> bool:
    """Tell whether a fact fits in a line: at most 60 characters and no line break."""
    return len(str(text)) <= 60 and "\n" not in str(text)


def facts_table(heading: str, facts: Mapping[str, str]) -> str:
    """Return the HTML of a heading above a table of facts; all texts are escaped."""
    rows = "".join(
        f"<tr><th {CELL}>{escape(str(label))}</th><td {CELL}>{html_lines(text)}</td></tr>"
        for label, text in facts.items()
    )
    return f"<b>{escape(str(heading))}</b><table>{rows}</table>"


def html_lines(text: object) -> str:
    return "<br>".join(map(escape, str(text).splitlines()))


def number_text(value: SupportsFloat) -> str:
    """Return a number as text with 6 significant digits."""
    return f"{float(value):.6g}"

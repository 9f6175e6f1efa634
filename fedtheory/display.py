"""How what the library returns looks: one line in a list or a debugger, a small table in a
notebook."""

from html import escape

CELL = 'style="text-align: left; vertical-align: top; white-space: pre-wrap"'


class Shown:
    """Something with a `heading` and a few `facts` worth seeing at a glance."""

    __slots__ = ()

    def heading(self):
        """What it is, in a few words."""
        raise NotImplementedError

    def facts(self):
        """{label: text} of what is worth seeing, the most important first; texts may hold $LaTeX$."""
        raise NotImplementedError

    def __repr__(self):
        told = ", ".join(
            f"{label} {text}" for label, text in self.facts().items() if fits_a_line(text)
        )
        return f"<{self.heading()}{': ' * bool(told)}{told}>"

    def _repr_html_(self):
        return facts_table(self.heading(), self.facts())


def fits_a_line(text):
    """Whether a fact has room in a line."""
    return len(str(text)) <= 60 and "\n" not in str(text)


def facts_table(heading, facts):
    """HTML of a heading above facts; whatever a text holds, it stays text."""
    rows = "".join(
        f"<tr><th {CELL}>{escape(str(label))}</th><td {CELL}>{html_lines(text)}</td></tr>"
        for label, text in facts.items()
    )
    return f"<b>{escape(str(heading))}</b><table>{rows}</table>"


def html_lines(text):
    return "<br>".join(map(escape, str(text).splitlines()))


def number_text(value):
    """A number in as many digits as one reads."""
    return f"{float(value):.6g}"

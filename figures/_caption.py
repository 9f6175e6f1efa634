"""Captions computed from a figure's arrays, as Markdown and as LaTeX: what is plotted, and what the
figure shows in numbers.

Text between dollars is mathematics, as it is in rows; everything else is plain.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.figures import _findings
from fedtheory.figures._record import WIDTHS
from fedtheory.typing import Assignment

if TYPE_CHECKING:
    from fedtheory.figures._record import Figure
    from fedtheory.language.symbol import Table


def describe_plot(record: "Figure", data: Mapping[str, np.ndarray]) -> str:
    """Return the text on what is plotted: constants, laws, bands, the number of seeds, and the
    meaning of +-."""
    return record.caption(data) if record.caption else ""


def describe_findings(
    record: "Figure", data: Mapping[str, np.ndarray], outcomes: Mapping[str, Any]
) -> str:
    """Return the text on what the figure shows: the record's own description, then a tally of the
    findings."""
    own = record.says(data) if record.says else ""
    return " ".join(filter(None, (own, tally_findings(outcomes))))


def tally_findings(outcomes: Mapping[str, Any]) -> str:
    """Return `Of 38 sentences, 12 are reproduced, ...; not reproduced: a, b` for the outcomes of a
    figure's findings."""
    if not outcomes:
        return ""
    verdicts = [verdict for verdict, _ in outcomes.values()]
    counts = [f"{verdicts.count(v)} {v}" for v in _findings.VERDICTS if v in verdicts]
    wrong = [claim for claim, (v, _) in outcomes.items() if v == _findings.NOT_REPRODUCED]
    named = f" Not reproduced: {join_words(wrong, 6)}." if wrong else ""
    sentences = "the sentence" if len(verdicts) == 1 else f"{len(verdicts)} sentences"
    return f"Findings on {sentences} of the paper: {', '.join(counts)}.{named}"


def join_words(words: Iterator[Any] | str | Sequence[str], most: int = 99) -> str:
    """Return the words as `a, b and 3 more`, at most `most` of them; words that contain commas are
    separated by semicolons."""
    words = list(words)
    if len(words) > 1 and any(", " in word for word in words):
        return "; ".join(words[:most])
    more = [f"{len(words) - most + 1} more"] if len(words) > most else []
    words = words[: most - 1] + more if more else words
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else "none"


def constants_text(table: "Table", values: Assignment) -> str:
    r"""Return `$L=1$, $\mu=0.05$` for numbers by name: names in the symbol table as the paper's
    letters, other names as they are."""

    def letter(name: str) -> str:
        plain = "\\" in name or len(name) == 1
        return table[name].latex if name in table else name if plain else rf"\mathrm{{{name}}}"

    return ", ".join(f"${letter(name)}={bare_number(value)}$" for name, value in values.items())


def bare_number(value: float, digits: int = 3) -> str:
    """Return a number as LaTeX mathematics, without dollar signs."""
    value = float(value)
    if not np.isfinite(value):
        return r"\infty" if value > 0 else r"-\infty" if value < 0 else r"\text{unknown}"
    size = 0 if value == 0 else int(np.floor(np.log10(abs(value))))
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}".replace(",", r"\,")
    if -3 <= size < 4:
        text = f"{round(value, digits - 1 - size):.{max(0, digits - 1 - size)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa = f"{value / 10.0**size:.{digits}g}"
    return ("" if mantissa == "1" else rf"{mantissa}\times") + f"10^{{{size}}}"


def number_text(value: float, digits: int = 2) -> str:
    """Return a number for a sentence, as LaTeX mathematics between dollar signs."""
    return f"${bare_number(value, digits)}$"


def caption_files(
    name: str, record: "Figure", data: Mapping[str, np.ndarray], outcomes: Mapping[str, Any]
) -> dict[str, str]:
    """Return {suffix: text} of a figure's caption files."""
    about, says = describe_plot(record, data), describe_findings(record, data, outcomes)
    title = f"{record.cites}: {record.title}."
    where = f"{record.width} width, {WIDTHS[record.width]} in"
    if record.stacks:
        where += f"; {name}.column.pdf for one column, {WIDTHS['column']} in"
    tex = r"\caption{\textbf{" + tex_of(title) + "} " + tex_of(f"{about} {says}".strip())
    return {
        "md": "\n\n".join(
            filter(
                None,
                (
                    f"**{caption_markdown(title)}** {caption_markdown(about)}".strip(),
                    caption_markdown(says),
                ),
            )
        )
        + "\n",
        "caption.tex": f"% {name}: made for {where}\n{tex}}}\n\\label{{fig:{name}}}\n",
    }


def split_mathematics(text: str) -> list[tuple[str, bool]]:
    """Split a text into (part, whether the part is mathematics) at dollar signs; with an odd number
    of dollar signs the whole text is plain."""
    split = text.split("$")
    if len(split) % 2 == 0:
        return [(text, False)]
    return [(part, n % 2 == 1) for n, part in enumerate(split)]


def caption_markdown(text: str) -> str:
    escaped = lambda part: re.sub(r"([\\`*_\[\]<>|])", r"\\\1", part)
    return "".join(
        f"${part}$" if maths else escaped(part) for part, maths in split_mathematics(text)
    )


TEX = {
    "\\": r"\textbackslash{}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "<": "$<$",
    ">": "$>$",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "−": "$-$",
    "≈": r"$\approx$",
    "–": "--",
    "√": r"$\surd$",
    "∞": r"$\infty$",
    "↔": r"$\leftrightarrow$",
    "“": "``",
    "”": "''",
    "’": "'",
}


def tex_of(text: str) -> str:
    """Return a text escaped for LaTeX; parts between dollar signs are mathematics already and stay
    unchanged."""
    plain = lambda part: "".join(TEX.get(c, c) for c in part)
    return "".join(f"${part}$" if maths else plain(part) for part, maths in split_mathematics(text))

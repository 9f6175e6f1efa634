r"""A counterexample in LaTeX, for an e-mail to an author: an article with amsmath and amssymb.

The sentences are those of `words`; formulas are set with the paper's letters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.documents import EXISTENCE
from fedtheory.exact.path_recorder import Track
from fedtheory.language.statements import DENIED
from fedtheory.models import by_name, entry_names
from fedtheory.rendering import words
from fedtheory.rendering.formulas import (
    SIGNS,
    LatexWriter,
    plain_letter,
    typeset_number,
    write_formula,
)
from fedtheory.rendering.losses import MADE_OF, losses_of
from fedtheory.rendering.steps import first_rounds, name_walkers, point_text, record_steps
from fedtheory.typing import Assignment, Document

SPECIAL = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<=": r"$\le$",
    ">=": r"$\ge$",
    "<": "$<$",
    ">": "$>$",
}
RELATIONS = {SIGNS[op]: text for op, text in LatexWriter.signs.items()}
WIDE = 60  # approximate number of signs in a line of a display
LONG = 6000  # signs; a longer formula in LaTeX is unreadable


def counterexample_latex(document: Any) -> str:
    r"""Return the document of a counterexample as LaTeX for an article, and "" for any other
    document.

    >>> import fedtheory as ft
    >>> from fedtheory.rendering.mail import counterexample_latex
    >>> print(counterexample_latex(ft.check("mixed.stepD2", budget=1).certificate).splitlines()[-1])
    which is false. A program derives this anew from a document that stands alone.
    """
    told = words.describe_counterexample(document)
    if not told:
        return ""
    if document["format"] == EXISTENCE:
        return "\n".join(
            instance_sentences(affirm_denial(document["denial"]), shows=document["claim"])
        )
    if document["format"] == check_instance.FORMAT:
        return "\n".join(instance_sentences(document))
    if document["format"] == check_family.FORMAT:
        return "\n".join(family_sentences(document))
    return "\n".join([*map(escape_latex, told[:1]), *itemise_lines(map(escape_latex, told[1:]))])


def escape_latex(text: str) -> str:
    """Return plain words with the special characters of LaTeX escaped."""
    return re.sub(r"<=|>=|[&%$#_{}\\~^<>]", lambda found: SPECIAL[found[0]], text.strip())


def itemise_lines(lines: Iterator[Any] | Sequence[str]) -> list[str]:
    """Return a list in LaTeX with one item for each line, and nothing without lines."""
    items = [rf"\item {line}" for line in lines]
    return [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []


def letter_latex(document: Any) -> dict[str, str]:
    """Return {name: LaTeX} of the symbols in a document."""
    table = by_name(document["setting"]).table
    found = {name: entry.latex for name, entry in table.items()}
    found.update({check_family.CONSTANT: "C"})
    measured = document["statement"]["measured"]
    return {
        **found,
        **{mine: found[theirs] for mine, theirs in measured.items() if theirs in found},
    }


def formula_latex(text: str) -> str:
    """Return a formula of `loss_formula`, a point or a number in LaTeX."""
    text = re.sub(r"-?\d+/\d+", lambda found: typeset_number(found[0]), text)
    text = re.sub(r"(\d)e([+-]\d+)", lambda f: rf"{f[1]} \cdot 10^{{{int(f[2])}}}", text)
    text = re.sub(r"\bx(\d+)", r"x_{\1}", text)
    text = re.sub(r"\b(log|exp)\b", r"\\\1", text).replace(")+^2", ")_+^2")
    return text.replace("->", r"\to").replace("...", r"\dots").replace("+-", r"\pm ")


def value_pairs(values: Sequence[tuple[str, Any]], named: Mapping[str, str]) -> list[str]:
    """Return a text $name = value$ for each pair."""
    return [
        f"${named.get(name) or plain_letter(name)} = {formula_latex(words.short_text(v))}$"
        for name, v in values
    ]


def made_of(document: dict[str, Any] | None) -> Iterator[str]:
    """Yield sentences on the losses, other entries and numbers of an instance."""
    setting, named = by_name(document["setting"]), letter_latex(document)
    parts, called_ = check_instance.read_numbers(document["instance"]), entry_names(setting)
    losses = losses_of(parts, called_.get("losses", ()))
    for loss in losses:
        meaning = f" ({escape_latex(loss.meaning)})" * bool(loss.meaning)
        formula = formula_latex(str(loss).removesuffix(loss.more))
        yield f"${plain_letter(loss.name)}(x) = {formula}${meaning}{escape_latex(loss.more)}"
    for name, value in parts.items():
        if (
            losses
            and name in MADE_OF
            or called_.get(name) == ""
            or words.is_trivial(name, value, parts)
        ):
            continue
        lot = words.describe_lottery(value)
        if lot and name in called_:
            yield f"{escape_latex(called_[name])}: {lottery_words(lot)}"
        elif name in called_ and isinstance(value, list):
            yield f"{escape_latex(called_[name])}: ${formula_latex(words.short_text(value))}$"
        elif isinstance(value, dict) or isinstance(value, str):
            yield escape_latex(f"{called_.get(name, name)}: {words.short_text(value)}")
        else:
            yield from value_pairs([(name, value)], named)
    given = check_instance.read_numbers(document["numbers"])
    yield from value_pairs([(n, v) for n, v in given.items() if n != check_family.CONSTANT], named)


def lottery_words(text: str) -> str:
    """Return the words that describe a random variable, with their numbers typeset."""
    return re.sub(
        r"[+-]*\([^()]*\)|[+-]*\d[\d./e+-]*(?<![,.])",
        lambda found: f"${formula_latex(found[0])}$",
        text,
    )


def line_of(document: dict[str, Any] | None, values: Assignment) -> str:
    """Return the line with numbers substituted for symbols, or "" where the line is too long."""
    stated, typesets = document["statement"], LatexWriter(letter_latex(document))
    sides = [write_formula(stated[side], values, typesets, LONG) for side in words.SIDES]
    return "" if None in sides else f" {RELATIONS[stated['sign']]} ".join(sides)


def end_of(document: dict[str, Any] | None) -> str:
    """Return the values of the two sides, with the relation between them."""
    sides = [typeset_end(document[side]) for side in words.SIDES]
    return f" {RELATIONS[document['statement']['sign']]} ".join(sides)


def display_line(document: Document | None, values: Assignment) -> str:
    """Return the line of a document as a displayed formula, or in plain words where the formula is
    too long."""
    line = line_of(document, values)
    return line and display_formula(line) or escape_latex(words.failing_line(document))


def display_formula(line: str) -> str:
    """Return a displayed formula, over several lines where the formula is wide, and "" where a line
    stays too wide.

    Widths are estimated by the number of signs, without commands and braces of LaTeX. WIDE is the
    target of a line; a part of more than twice the width cannot be set.
    """
    width = lambda text: len(re.sub(r"\\[a-zA-Z]+|[{}^_\\ ]", "", text))
    rows = [""]
    for term in break_terms(line):
        wide = rows[-1] and width(rows[-1] + term) > WIDE
        rows.append(term) if wide else rows.append(rows.pop() + term)
    if max(map(width, rows)) > 2 * WIDE:
        return ""
    if len(rows) == 1:
        return rf"\[ {line} \]"
    return "\n".join([r"\begin{multline*}", " \\\\\n".join(rows), r"\end{multline*}"])


def break_terms(line: str) -> Iterator[str]:
    """Yield the parts of a formula between which a line may break.

    A break is possible in front of +, - and a relation, outside all braces and brackets.
    """
    depth, start = 0, 0
    for found in re.finditer(r"\\left|\\right|[{}]| (?=[+-] |\\le |\\ge |[<>=] )", line):
        depth += {"{": 1, r"\left": 1, "}": -1, r"\right": -1}.get(found[0], 0)
        if not found[0].strip() and not depth:
            yield line[start : found.start()]
            start = found.start()
    yield line[start:]


def affirm_denial(denial: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counterexample to the negation of a claim as a document whose line is true."""
    stated = denial["statement"]
    return {**denial, "statement": {**stated, "sign": DENIED[stated["sign"]], "says": "line 1"}}


def instance_sentences(document: Any, shows: str = "") -> Iterator[str]:
    """Yield sentences on a counterexample to a line, or on an instance that shows the claim of
    existence named by `shows`."""
    named, end = letter_latex(document), end_of(document)
    yield (
        f"There is an instance, as {escape_latex(shows)} says, for which"
        if shows
        else (f"The line of {escape_latex(document['cites'])}")
    )
    yield display_line(document, {})
    says = escape_latex(by_name(document["setting"]).says)
    yield f"Of {says}, take" if shows else f"fails for {says}. Take"
    yield ", ".join(made_of(document)) + "."
    yield from describe_run(document)
    found = words.names_used(document)
    told = [
        f"${named.get(n) or plain_letter(n)} = {typeset_end(words.number_texts(document)[n])}$"
        for n in found
    ]
    yield f"There {', '.join(told)}, and the line reads" if told else "There the line reads"
    put_in = line_of(document, words.number_texts(document))
    shown = display_formula(f"{put_in},") if put_in not in ("", end) else ""
    if shown:
        yield shown
        yield "that is"
    yield display_formula(f"{end},")
    yield f"which is {'true' if shows else 'false'}. A program derives this anew from a document that stands alone."


def typeset_end(text: str) -> str:
    """Return a side of a document in LaTeX: a number, or words such as `at least 3`."""
    return typeset_number(text) if re.match("-?[0-9]", text) else rf"\text{{{escape_latex(text)}}}"


def describe_run(document: Document | None) -> list[str]:
    """Return the rounds of a run as a list in LaTeX, with equal paths of clients joined in one
    item."""
    rounds = record_steps(document)
    lines = []
    for each in first_rounds(rounds):
        alike = {}
        for track in each.tracks:
            alike.setdefault((track.who == 0, path_sentence(track)), []).append(track.who)
        told = [f"{name_walkers(who)}: {words}" for (_, words), who in alike.items()]
        lines.append(
            f"{each.what} {each.number + 1}: {'; '.join(told)}; then ${formula_latex(point_text(each.end))}$"
        )
    if len(rounds) > len(lines):
        lines.append(
            f"and so on, to ${formula_latex(point_text(rounds[-1].end))}$ after {len(rounds)} of them"
        )
    return ["Step by step:", *itemise_lines(lines)] if lines else []


def path_sentence(track: Track) -> str:
    """Return the points and gradients of a client's or the server's path in one round as LaTeX."""
    path = formula_latex(" -> ".join(map(point_text, track.points)))
    taken = formula_latex(", ".join(map(point_text, track.taken)))
    if not track.taken:
        return f"its gradient at the start is ${formula_latex(point_text(track.first))}$"
    first = (
        ""
        if track.first is None
        else f", after ${formula_latex(point_text(track.first))}$ at the start"
    )
    return f"${path}$, with gradients ${taken}${first}"


def family_sentences(document: Any) -> Iterator[str]:
    """Yield sentences on a family of instances that refutes an order for every constant C."""
    first = document["members"][0]
    yield f"No constant $C$ makes true what {escape_latex(document['cites'])} says,"
    yield display_line(first, {})
    yield f"(written there as {escape_latex(document['says'])}). Take"
    yield ", ".join(made_of(first)) + "."
    yield from describe_run(first)
    yield from map(escape_latex, words.describe_moves(document))
    rows = [(number, end_of(each)) for number, each in words.member_lines(document)]
    yield from itemise_lines(
        f"$C = {formula_latex(number)}$: ${line}$ is false" for number, line in rows
    )
    yield f"and so on, for {len(document['members'])} such instances."

"""Claims for readers who have not read the paper: `explain` in a terminal, `bound` at given
numbers, `list` in rows.

Text and data say the same: `describe_claim` collects the data, and `explain` lays them out. No
claim is decided here, and no method runs. The numbers of `bound` are read as fractions and
evaluated in enclosures.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fedtheory import arguments, discover
from fedtheory.arithmetic import float_above
from fedtheory.arithmetic.domains import DOMAINS
from fedtheory.errors import InvalidInput, article, refuse, show
from fedtheory.language.conditions import Assumption, Rule
from fedtheory.language.printing import plain
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim
    from fedtheory.language.statements import Comparison

KINDS = {
    "exact": "an inequality or identity with every constant given",
    "order": "an order of growth: constants are left out",
    "step": "one line of a proof",
    "structure": "a count, or two methods that coincide",
    "finding": "a sentence about an experiment",
    "existence": "an instance is there, and one shows it",
}
RELATIONS = {
    "~": "is about",
    "<": "is below",
    ">": "is above",
    "<=": "is at most",
    ">=": "is at least",
}
NUMBER = re.compile(
    r"[+-]?(\d{1,50}/\d{1,50}|(\d{1,50}(\.\d{0,50})?|\.\d{1,50})([eE][+-]?\d{1,3})?)", re.ASCII
)


def parse_assignment(text: str) -> tuple[str, Fraction]:
    """Parse NAME=NUMBER into (name, Fraction). The number is an integer, a decimal, or written like
    3/4 or 1e-3; nothing is evaluated as code."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        refuse("a value", "must be NAME=NUMBER, such as gamma=3/4", text)
    if not NUMBER.fullmatch(value) or value.partition("/")[2].strip("0") == "" and "/" in value:
        refuse(
            name, "must be an integer, a decimal or a fraction, such as 5, 0.25, 1e-3 or 3/4", value
        )
    return name, Fraction(value)


def explain(claim: "Claim | str", width: int = 88, bold: bool = False) -> str:
    """Return the explanation of a claim in plain text, for a reader who has not seen the paper.

    `claim` is an id or a record. The text says in the claim's own letters what is stated, under
    which hypotheses, which further hypotheses only the proof uses, and what each symbol means.
    Lines have at most `width` characters (40 or more), and headings are in bold face if `bold` is
    true. Raises InvalidInput for an unknown id.

    >>> import fedtheory as ft
    >>> ft.explain("fsl.theorem1").startswith("fsl.theorem1")
    True
    """
    width, bold = (
        arguments.check_integer("width", width, 40, 10**6),
        arguments.check_flag("bold", bold),
    )
    about = describe_claim(claim)
    head = (lambda text: f"\033[1m{text}\033[0m") if bold else str
    out = [head(line) for line in _wrap_text(f"{about['id']}: {about['where']}", width, "", "  ")]
    if about["from"]:
        out += _wrap_text(f"of {about['from']}", width, "  ", "  ")
    out += _wrap_text(about["meaning"], width, "")
    for title, remark, lines in _explain_sections(about, width):
        if lines:
            out += ["", head(title) + remark, *lines]
    return "\n".join(line.rstrip() for line in out)


def _explain_sections(about: Mapping[str, Any], width: int) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (title, remark, lines) of each section of an explanation; sections without lines are
    left out."""
    kind = about["kind"]
    formulas = lambda texts: [line for text in texts for line in _wrap_formula(text, width)]
    items = lambda texts: [
        line for text in texts for line in _wrap_text("- " + text, width, hang="  ")
    ]
    yield "It says", f" ({kind}: {KINDS[kind]})", formulas(about["statement"])
    yield "with", "", formulas(f"{name} = {text}" for name, text in about["definitions"].items())
    yield "It holds for steps of the order", "", formulas(about["regime"])
    yield "It assumes", "", items(about["stated"])
    yield "Its proof also uses, though the text does not say so", "", items(about["unstated"])
    yield "By the meaning of the symbols", "", items(about["by_meaning"])
    yield "Its proof takes", "", items(about["follows"])
    yield "That is", "", items(about["comparisons"])
    cells = [
        f"  {name:34s} {printed!s:>20s} {'' if computed is None else str(computed):>20s}"
        for name, (printed, computed) in about["cells"].items()
    ]
    yield "Printed, and computed", "", cells
    yield "Symbols", " (units: x of a point, f of a loss)", _letter_lines(about["symbols"], width)
    yield "Note", "", _wrap_text(about["note"], width)
    further = (_wrap_text("- " + text, width, hang="    ") for text in _further_reading(about))
    yield "See", "", [line for lines in further for line in lines]


def _wrap_text(text: str, width: int, indent: str = "  ", hang: str = "") -> list[str]:
    """Return text wrapped at `width`, without breaking words or hyphens, since names contain
    both."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _letter_lines(rows: Any, width: Number) -> list[str]:
    """Return one or more lines for each symbol: its name, meaning, domain and unit."""
    wide = min(26, 2 + max(map(len, rows), default=0))
    out = []
    for name, row in rows.items():
        facts = ", ".join(filter(None, (row["domain"], row["unit"] and f"unit {row['unit']}")))
        text = row["meaning"] + (f" ({facts})" if facts else "")
        first, *rest = textwrap.wrap(text, width - wide - 2)
        out += [f"  {name:{wide}s}{first}", *(" " * (wide + 2) + line for line in rest)]
    return out


def _further_reading(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines on further material: commands about the claim, its methods and its figure."""
    if about["explicit"]:
        yield f"with its constants: fedtheory explain {about['explicit']}"
    for name, text in about["algorithms"].items():
        yield f"of the method {name}: {text}"
    if about["figure"]:
        yield f"of {about['figure']}"
    if about["needs"]:
        numbers = " ".join(f"{name}=..." for name in about["needs"])
        yield f"at numbers: fedtheory bound {about['id']} {numbers}"
    if about["unstated"] and not about["comparisons"]:
        check = f"fedtheory check {about['id']}"
        yield f"as printed, without what the text does not say, and as meant: {check}"


def of_paper(name: str, width: int = 88) -> Any:
    """Return (data, text) of a paper: where the paper was published, and how many claims of each
    kind the paper makes."""
    paper, claims = discover.papers()[name], [c for c in discover.claims() if c.paper == name]
    counts = {kind: sum(c.kind == kind for c in claims) for kind in KINDS}
    unknown = [
        what
        for what, value in (
            ("authors", paper.authors),
            ("year", paper.year),
            ("where", paper.where),
        )
        if not value
    ]
    lines = [
        *textwrap.wrap(paper.title, width),
        *textwrap.wrap(paper.by, width, initial_indent="  ", subsequent_indent="  "),
    ]
    lines += ["  " + fact for fact in (paper.where, str(paper.year or ""), paper.link) if fact]
    if unknown:
        lines.append(f"  (not said in the text: {', '.join(unknown)})")
    lines += [
        "",
        *(f"{count:5d} {KINDS[kind]}" for kind, count in counts.items() if count),
        "",
        f"fedtheory list claims {name} names them.",
    ]
    return dict(paper._asdict(), claims=counts), "\n".join(lines)


def describe_claim(claim: "Claim") -> dict[str, str]:
    """Return the content of `explain` as data."""
    claim = discover.claim(claim)
    hypotheses = [a for a in claim.assumptions if not isinstance(a, Rule)]
    return dict(
        id=claim.id,
        paper=claim.paper,
        where=claim.where,
        kind=claim.kind,
        meaning=claim.meaning or claim.says,
        **{"from": str(discover.papers().get(claim.paper, ""))},
        statement=[line.text for line in claim.lines] or [claim.statement.text],
        latex=claim.latex() if claim.lines else "",
        definitions={s.name: claim.plain(e) for s, e in claim.definitions.items()},
        regime=[
            f"{claim.plain(theta.symbol)} = Theta({claim.plain(theta.shape)})"
            for theta in claim.regime
        ],
        stated=[_assumption_text(a, claim) for a in hypotheses if a.stated],
        unstated=[_assumption_text(a, claim) for a in hypotheses if not a.stated],
        by_meaning=[claim.plain(a.holds) for a in claim.assumptions if isinstance(a, Rule)],
        follows=_step_lines(claim),
        comparisons=[_comparison_text(c) for c in claim.compares],
        cells={name: (printed, computed) for name, printed, computed in claim.cells()},
        symbols={
            name: dict(
                meaning=e.meaning,
                latex=e.latex,
                unit=_unit_text(e.unit),
                domain=""
                if e.domain == "real" or e.measure or e.definition is not None
                else DOMAINS[e.domain][1].removeprefix("is "),
                measured=e.measure is not None,
                derived=e.definition is not None,
            )
            for name, e in claim.symbols.items()
        },
        note=claim.note,
        explicit=claim.explicit,
        algorithms=_algorithm_data(claim),
        figure=claim.figure,
        needs=_needed_letters(claim) if claim.lines else [],
    )


def _step_lines(claim: "Claim") -> list[Any]:
    """Return, for each line of a proof, the premises that the paper names for the line, and whether
    the step from these premises is proved."""
    from fedtheory.proofs.textbook import proof_steps

    words = dict(proved="a proved step", undecided="not shown", refused="no step")
    found = []
    for line in sorted(claim.follows):
        step = proof_steps.step_of(claim, line - 1)
        which = f"line {line} " if len(claim.lines) > 1 else "the statement "
        why = f": {step.why}" if step.why else ""
        found.append(f"{which}from {', '.join(step.premises)} ({words[step.status]}{why})")
    return found


def _needed_letters(claim: Any, line: Number = 0, strict: bool = True) -> list[str]:
    """Return the letters that have to be given to evaluate a line, and its hypotheses if
    `strict`."""
    relations = [a.relation for a in claim.assumptions if strict and a.relation is not None]
    return claim.needs(claim.lines[line][2], *relations)


def _assumption_text(a: Assumption, claim: "Claim") -> str:
    """Return a hypothesis in words or as a relation, with its place and its note."""
    text = a.holds.says if a.condition else claim.plain(a.holds)
    return (
        text
        + (f"  [{a.where}]" if a.where and a.where not in text else "")
        + (f": {a.note}" if a.note else "")
    )


def _comparison_text(c: "Comparison") -> str:
    """Return a comparison of a finding in words, with its margin and place."""
    where = f" ({c.where})" if c.where else ""
    margin = f", within {c.margin:.3g}" if c.margin is not None else ""
    margin += (
        " and half a unit of the last digit"
        if c.relation == "~" and NUMBER.fullmatch(c.other)
        else ""
    )
    return f"{c.quantity.replace('_', ' ')}: {c.one} {RELATIONS.get(c.relation, c.relation)} {c.other}{margin}{where}"


def _algorithm_data(claim: "Claim") -> dict[str, str]:
    """Return {method: its place in the paper and its meaning} of the methods that a claim names."""
    known = discover.algorithms() if claim.algorithm is not None else {}
    given = claim.algorithm if isinstance(claim.algorithm, (tuple, list)) else (claim.algorithm,)
    names = [getattr(a, "name", a) for a in given if a is not None]
    return {
        name: f"{known[name].cites}, {known[name].meaning}" if name in known else ""
        for name in names
    }


def _wrap_formula(text: str, width: int) -> list[str]:
    """Split a formula into lines, before its outermost + and - and, where that is not enough, at
    spaces."""
    depth, pieces = 0, [""]
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and re.match(r" (\+|-|<=|>=|<|>|=|else) ", text[at:]):
            pieces.append("")
        else:
            pieces[-1] += letter
    lines = [""]
    for piece in pieces:
        if lines[-1] and len(lines[-1]) + len(piece) + 5 > width:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + piece
    out = []
    for n, line in enumerate(lines):
        out += textwrap.wrap(
            line,
            width,
            initial_indent="  " if n == 0 else "      ",
            subsequent_indent=" " * 8,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return out


def _unit_text(powers: tuple[int, int]) -> str:
    """Return a unit as text: f^2/x^2 for (-2, 2), the powers of x and of f."""
    part = lambda pairs: " ".join(
        f"{name}^{power}" if power != 1 else name for name, power in pairs if power > 0
    )
    point, loss = powers
    above_, below = part([("x", point), ("f", loss)]), part([("x", -point), ("f", -loss)])
    return (
        (above_ or "1") + (f"/{below}" if " " not in below else f"/({below})") * bool(below)
        if any(powers)
        else ""
    )


def evaluate_bound(
    claim: Any, values: Any, strict: bool = True, line: Number = 0
) -> dict[str, float | str]:
    """Return the right-hand side of a claim, evaluated at given numbers, as data.

    `values` is {name: number} for the parameters and measured quantities; `line` counts from 0.
    With `strict`, values that break a hypothesis are refused; otherwise `unmet` names the broken
    hypotheses. The data have the value rounded to the safe side, an enclosure in floats, and the
    exact value where there is a short one. Raises InvalidInput for unknown, derived and missing
    names.
    """
    claim = discover.claim(claim)
    if not claim.lines:
        raise InvalidInput(f"{claim.id} is {article(claim.kind)}; it has no bound")
    if not 0 <= line < len(claim.lines):
        refuse("line", f"must be from 0 to {len(claim.lines) - 1} for {claim.id}", line)
    left, sign, right = claim.lines[line]
    unknown = sorted(set(values) - set(claim.parameters) - set(claim.quantities))
    derived = [name for name in unknown if name in claim.symbols]
    if derived:
        raise InvalidInput(
            f"{derived[0]} of {claim.id} is {plain(claim.symbols[derived[0]].definition)}; give "
            + ", ".join(claim.needs(claim.symbols[derived[0]].symbol))
        )
    if unknown:
        raise InvalidInput(
            f"{claim.id} has no symbol {', '.join(unknown)}; it takes "
            + ", ".join([*claim.parameters, *claim.quantities])
        )
    missing = [name for name in _needed_letters(claim, line, strict) if name not in values]
    if missing:
        raise InvalidInput(
            f"{claim.id} needs "
            + ", ".join(f"{name} ({claim.symbols[name].meaning})" for name in missing)
        )
    value = claim.evaluate(values, strict=strict, line=line)
    exact = value.exact
    return dict(
        id=claim.id,
        where=claim.where,
        left=claim.plain(left),
        relation=sign,
        right=claim.plain(right),
        value=float(value),
        enclosure=[-float_above(-value.lower), float_above(value.upper)],
        exact=str(exact) if exact is not None and len(str(exact)) <= 200 else None,
        unmet=[str(a) for a in claim.admits(values)] if not strict else [],
        values={name: str(v) for name, v in values.items()},
    )


def bound_text(found: Mapping[str, Any], width: Number = 88) -> str:
    """Return a bound as text: the line with its value, how it is rounded, and hypotheses that are
    not met."""
    sign, value = found["relation"], found["value"]
    rounded = {">=": "rounded down", ">": "rounded down"}.get(sign, "rounded up")
    said = "of the order of" if sign == "O" else "=" if sign == "==" else sign
    out = [
        f"{found['id']} ({found['where']})",
        *_wrap_formula(f"{found['left']} {said} {value!r}", width),
    ]
    out[-1] += f"  ({rounded})"
    out.append(
        f"  exactly {found['exact']}"
        if found["exact"] is not None and len(found["exact"]) < width - 12
        else f"  enclosed by [{found['enclosure'][0]!r}, {found['enclosure'][1]!r}]"
    )
    for text in found["unmet"]:
        out += textwrap.wrap(
            f"not met: {text}", width, initial_indent="  ", subsequent_indent="    "
        )
    return "\n".join(out)


def list_claims(prefix: str = "") -> dict[str, dict[str, str]]:
    """Return a dict from id to kind, paper, place and meaning of every claim whose id starts with
    `prefix`, the name of a paper or a part of the name."""
    rows = {
        c.id: dict(
            kind=c.kind,
            paper=c.paper,
            where=c.where,
            meaning=c.meaning or c.says or c.statement.text,
        )
        for c in discover.claims()
        if c.id.startswith(prefix)
    }
    if not rows:
        papers = dict.fromkeys(c.id.partition(".")[0] for c in discover.claims())
        raise InvalidInput(f"no claim starts with {show(prefix)}; papers are {', '.join(papers)}")
    return rows

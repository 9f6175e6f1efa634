"""`audit`: evaluation of a proof's chain of lines on one instance: the slack of each line, the
first line that fails, and where looseness enters.

The chain of a claim consists of steps and lemmas of its paper, in the order of the files and up to
the claim. A step or lemma belongs to the chain if it can be measured in the claim's model and
needs no hypothesis about functions or rounds that the claim lacks. Each line is evaluated in
Fractions, or in enclosures where roots appear. Relations that a line assumes between numbers are
evaluated at the same instance.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory import arguments, discover
from fedtheory.arithmetic.operations import ends_of
from fedtheory.errors import refuse
from fedtheory.language.claim import Claim
from fedtheory.language.printing import plain
from fedtheory.models import Setting, by_name, conditions, fitting
from fedtheory.proofs.dimensions import Inhomogeneous, expression_unit, show_unit
from fedtheory.search.counterexample import texts
from fedtheory.search.exact_instances import (
    NO_VALUE,
    ExactInstance,
    answer_at,
    draw_case,
    find_worst,
    target_at,
)

if TYPE_CHECKING:
    import sympy


@dataclass
class Audit:
    """The result of `audit`.

    A row is a dict with the claim and line, the sides, the slack, the ratio, the share of the last
    line's slack, the unit, the statement in words, the status and the reason.
    """

    claim: str
    case: ExactInstance
    rows: list[dict]  # one for each line of the chain; the claim's own lines come last
    # claim -> the hypothesis because of which the claim does not belong to the chain
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def fails(self) -> dict | None:
        """Return the row of the first line that fails, None if no line fails."""
        return next((row for row in self.rows if row["status"] == "fails"), None)

    def waterfall(self) -> list[dict]:
        """Return the lines that bound the same quantity as the claim, the tightest first. The
        `adds` of these lines sum to the claim's slack."""
        last, found, before = self.rows[-1], [], 0.0
        alike = [
            row
            for row in self.rows
            if row["slack"] is not None
            and row["bounds"] == last["bounds"]
            and row["slack"] <= last["slack"]
            and row is not last
        ]
        for row in [
            *sorted(alike, key=lambda row: row["slack"]),
            *([last] if last["slack"] is not None else []),
        ]:
            found.append(dict(row, adds=row["slack"] - before))
            before = row["slack"]
        return found

    def as_dict(self) -> dict:
        return dict(
            claim=self.claim,
            setting=self.case.setting,
            instance=texts(self.case.instance),
            numbers=texts(self.case.numbers),
            rows=[dict(row) for row in self.rows],
            left_out=dict(self.left_out),
        )

    def __str__(self) -> str:
        rows = [
            ("line", "left", "", "right", "slack", "ratio", "share", ""),
            *map(cells, self.rows),
        ]
        widths = [max(len(row[n]) for row in rows) for n in range(7)]
        table = [
            "  ".join(
                [row[0].ljust(widths[0]), *map(str.rjust, row[1:7], widths[1:]), row[7]]
            ).rstrip()
            for row in rows
        ]
        verdict = "No line fails there."
        if fails := self.fails:
            place = f"{fails['claim']}, line {fails['line']} ({fails['cites']})"
            verdict = f"The first line that fails: {place}: {fails['says']}."
        return "\n".join([f"{self.claim} in {by_name(self.case.setting).says}", *table, verdict])


def cells(row: dict) -> tuple[str, ...]:
    """Return the cells of a row in the table of an Audit."""
    number = lambda value: "" if value is None else f"{value:.4g}"
    name = f"{row['claim'].partition('.')[2]}.{row['line']}"
    measured = (number(row[key]) for key in ("right", "slack", "ratio"))
    share = "" if row["share"] is None else f"{100 * row['share']:.3g} %"
    status = row["status"] + (f": {row['why']}" if row["why"] else "")
    return name, number(row["left"]), row["sign"], *measured, share, status


def audit(
    claim: Claim | str,
    at: str | ExactInstance = "worst",
    steps: Iterable[Claim | str] | None = None,
    budget: float = 5.0,
    seed: int = 0,
) -> Audit:
    """Evaluate the lines of a claim's proof at an instance, and return the slack of each line.

    `at` is "worst" (the worst instance of a search), "drawn" (a random one) or a Case. `steps` are
    claims or ids that replace the claim's own chain. `budget` is in seconds of one core for the
    search of the worst instance; `seed` fixes the search or the draw.

    The Audit has a row per line, the claim's own lines last: left and right side, slack (right
    minus left for an upper bound), ratio, the share of the last line's slack for lines in the same
    unit, and a status. "holds", "equal" and "fails" are decided exactly; "outside" says that the
    instance breaks a relation which the line assumes; "undecided" says why no value was found.

    Raises InvalidInput for a claim without lines, an order O, a claim that no model measures, and a
    claim without an instance inside its hypotheses.

    >>> import fedtheory as ft
    >>> found = ft.audit("fsl.theorem1", at="drawn", budget=1)
    >>> found.claim, found.fails is None
    ('fsl.theorem1', True)
    """
    asked = discover.claim(claim)
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    if not asked.lines or any(sign == "O" for _, sign, _ in asked.lines):
        refuse("claim", "must have lines with constants", asked.id)
    if not isinstance(at, ExactInstance) and not (isinstance(at, str) and at in ("worst", "drawn")):
        refuse("at", 'must be "worst", "drawn" or a Case', at)
    if steps is not None and (isinstance(steps, str) or not arguments.is_iterable(steps)):
        refuse("steps", "must be several claims or ids", steps)
    named = None if steps is None else [discover.claim(step) for step in steps]
    setting = by_name(at.setting) if isinstance(at, ExactInstance) else best_setting(asked, named)
    links, left_out = (named, {}) if named is not None else proof_chain(asked, setting)
    line, case = len(asked.lines) - 1, at if isinstance(at, ExactInstance) else None
    if at == "worst":
        case = find_worst(asked, setting.name, budget, seed, line)
    elif at == "drawn":
        case = draw_case(asked, setting.name, seed, line)
    if case is None:
        where = f"inside its hypotheses in {setting.says}"
        refuse("claim", f"must have an instance {where}; none was found for", asked.id)
    return Audit(asked.id, case, fill_shares(rows_of([*links, asked], case)), left_out)


def best_setting(claim: Claim, named: list[Claim] | None) -> Setting:
    """Return the model, among all that fit a claim, in which the most lines of its chain can be
    measured."""
    settings = fitting(claim)
    if not settings:
        refuse("claim", "must be one that a model measures", claim.id)
    links = lambda s: (
        len(proof_chain(claim, s)[0])
        if named is None
        else sum(s in fitting(each) for each in named)
    )
    return max(settings, key=links)


def proof_chain(claim: Claim, setting: Setting) -> tuple[list[Claim], dict[str, str]]:
    """Return (claims of the chain, {claim: reason why it is left out}) in a model.

    The chain has the claims of the kinds "step" and "exact" that the paper's files list before the
    claim. A claim about numbers alone belongs to the chain if it is a step whose parameters are
    known. A claim that fits the model but assumes more is left out, and the first lacking
    hypothesis is the reason.
    """
    links: list[Claim] = []
    left_out: dict[str, str] = {}
    mine = conditions(claim)
    known = set(claim.parameters) | set(setting.gives) | set(setting.takes) | set(setting.loose)
    for other in discover.claims():
        if other.id == claim.id:
            break
        if other.paper != claim.paper or other.kind not in ("step", "exact") or not other.lines:
            continue
        if (
            not other.quantities
        ):  # a claim about numbers alone belongs to the chain if it is a step between known numbers
            if other.kind == "step" and set(other.parameters) <= known:
                links.append(other)
        elif setting in fitting(other):
            lacking = [c.says for name, c in conditions(other).items() if name not in mine]
            if lacking:
                left_out[other.id] = lacking[0]
            else:
                links.append(other)
    return links, left_out


def rows_of(links: list[Claim], case: ExactInstance) -> list[dict]:
    """Return a row for each line, whose status is exact; a quantity in several lines is measured
    once."""
    setting = by_name(case.setting)
    lines = [
        (link, line)
        for link in links
        for line in range(len(link.lines))
        if link.lines[line][1] != "O"
    ]
    wanted = sorted(
        {name for link, line in lines for name in target_at(link, case.setting, line).wanted}
    )
    try:
        measured = setting.measure(
            case.instance, {**setting.constants(case.instance), **case.numbers}, wanted
        )
    except NO_VALUE:
        measured = {}  # each line then measures its own quantities
    return [row_of(link, line, case, measured) for link, line in lines]


def row_of(link: Claim, line: int, case: ExactInstance, measured: dict) -> dict:
    """Return the row of a line, in exact numbers where these decide.

    The slack is nonnegative where the line holds, for lower and upper bounds alike; of an equation
    the slack is minus the absolute difference.
    """
    left, sign, right = link.lines[line]
    row = dict(
        claim=link.id,
        cites=link.cites,
        line=line + 1,
        left=None,
        sign=sign,
        **dict.fromkeys(("right", "slack", "ratio", "share")),
        unit=unit_of(link, left, right),
        says=f"{plain(left)} {sign} {plain(right)}",
        status="undecided",
        why="",
        bounds=f"{plain(left)} {'<=' if sign in ('<', '==') else sign}",
    )
    try:
        found = answer_at(link, case, line, measured)
        broken = next(iter(found.failing()), None)
        if broken is not None:
            return dict(row, status="outside", why=f"it assumes {broken}")
        gap = found.right - found.left if found.target.way >= 0 else found.left - found.right
    except NO_VALUE as error:
        return dict(row, why=str(error))
    gap = -abs(gap) if found.target.way == 0 else gap
    status = "fails" if found.certainly_fails else "equal" if ends_of(gap) == (0, 0) else "holds"
    return dict(
        row,
        left=as_float(found.left),
        right=as_float(found.right),
        slack=as_float(gap),
        ratio=found.ratio,
        status=status,
    )


def fill_shares(rows: list[dict]) -> list[dict]:
    """Return the rows with their shares of the last line's slack filled in, for lines in the unit
    of the last line."""
    last = rows[-1]
    if last["slack"]:
        for row in rows:
            if row["slack"] is not None and row["unit"] == last["unit"]:
                row["share"] = row["slack"] / last["slack"]
    return rows


def unit_of(link: Claim, *sides: sympy.Expr) -> str:
    """Return the unit of a line as text, empty where its sides have no common unit."""
    try:
        found = [expression_unit(side, link.table) for side in sides]
    except (Inhomogeneous, TypeError):
        return ""
    return next((show_unit(each) for each in found if each is not None), "1")


def as_float(value: Any) -> float:
    """Return a value as a float: the middle of its enclosure, infinite beyond the range of floats."""
    middle = sum(ends_of(value)) / 2
    try:
        return float(middle)
    except OverflowError:
        return float("inf") if middle > 0 else float("-inf")

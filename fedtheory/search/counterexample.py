"""A counterexample as a JSON document with everything that `certificate_run` needs to reproduce the
violation."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fedtheory import arithmetic, discover
from fedtheory.arithmetic.operations import Interval
from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_instance import approximate_text
from fedtheory.language.claim import ANY, Claim
from fedtheory.language.names import LONGEST, name_skeleton
from fedtheory.models import by_name, conditions, fitting
from fedtheory.models.instances import number, texts
from fedtheory.search.objective import Target
from fedtheory.search.rational_points import UNANSWERED, Point
from fedtheory.typing import Document

if TYPE_CHECKING:
    import sympy


def point_document(point: Point) -> dict[str, Any]:
    """Return the document of a Point at which a line fails; the document is checked before it is
    returned."""
    q, hunt = point.hunt.target, point.hunt
    loose = [name for name in q.slack if point.numbers[f"slack {name}"] != 1]
    return build_document(q, point.breaks(), [*q.reals, *loose, *q.pinned, *hunt.numbers])


def build_document(q: Target, answer: Any, given: Sequence[str]) -> dict[str, Any]:
    """Return the document of an Answer that violates its line; `given` names the numbers that the
    document states. The document is checked here by the same program that readers run; a wrong
    search raises an error instead of giving a verdict."""
    stated = target_statement(q)
    shown = stated["statement"]["domains"].keys() | stated["statement"]["measured"].keys()
    written = dict(
        stated,
        instance=texts(answer.instance),
        numbers={name: number(answer.values[name]) for name in given},
        values={name: approximate_text(answer.values[name]) for name in sorted(shown)},
        left=approximate_text(answer.left),
        right=approximate_text(answer.right),
    )
    written["digest"] = check_instance.digest_of(written)
    check_instance.check(written)  # a wrong search raises an error here instead of giving a verdict
    return written


def restate_counterexample(
    document: Document, claim: Claim, other: Claim
) -> tuple[Any, ...] | None:
    """Return (document, ratio) of the instance of a claim's counterexample, applied to another
    reading of the claim. Return None where the instance does not violate that reading."""
    setting, at = by_name(document["setting"]), document["line"]
    instance = check_instance.instance_of(document, setting)
    old, new = (Target(one, setting, at) for one in (claim, other))
    try:
        tight = setting.constants(instance)
        known = {name: read_number(each) for name, each in document["numbers"].items()}
        known = {**tight, **old.values_before_run(known, tight)}
        named = lambda name: name if name in known else name.removeprefix(ANY)
        loose = [name for name in new.loose if name in document["numbers"]]
        given = {
            name: known[named(name)]
            for name in dict.fromkeys((*new.reals, *loose, *new.counts))
            if name not in new.pinned
        }
        answer = new.exactly(instance, new.values_before_run(given, tight))
        if answer.certainly_fails and not any(answer.failing()):
            return build_document(new, answer, [*given, *new.pinned]), answer.ratio
    except (*UNANSWERED, ValueError, KeyError):  # KeyError: the other reading lacks a number
        return None
    return None


def target_statement(q: Target) -> dict[str, Any]:
    """Return the part of a document that depends on the Target alone: all entries except the
    numbers and what follows from them."""
    claim = q.claim
    came = check_instance.came_from(q.setting)
    return dict(
        {} if came is None else {"from": came},
        format=check_instance.FORMAT,
        claim=document_title(claim),
        cites=claim.cites,
        line=q.line,
        setting=q.setting.name,
        symbols=sorted(set(claim.parameters) | set(claim.quantities)),
        statement=dict(
            says=str(claim) if len(claim.lines) == 1 else f"line {q.line + 1} of: {claim}",
            left=formula_data(q.left),
            sign=q.sign,
            right=formula_data(q.right),
            assumes=[dict(says=claim.plain(r), program=formula_data(r)) for r in q.relations],
            conditions={name: condition.says for name, condition in conditions(claim).items()},
            domains={name: entry.domain for name, entry in claim.parameters.items()},
            measured={
                mine: theirs for mine, theirs in q.measured.items() if mine in used_measures(q)
            },
            solved=[[n, formula_data(e)] for n, e in reversed(q.solved) if n not in q.pinned],
        ),
    )


def find_recorded_claim(name: str) -> Claim | None:
    """Return the recorded claim with this name, or the reading of a recorded claim, or None where
    there is none."""
    if not isinstance(name, str) or len(name) > LONGEST:
        return None
    base, reading, _ = name.partition("!")
    claim = discover.find_recorded(base)
    if claim is None or not reading:
        return claim
    return next((r for r in readings(claim) if r.id == name), None)


def readings(claim: Claim) -> list[Claim]:
    """Return a claim's readings: as printed, without each unstated hypothesis, and the denials of
    the claim and of each of these readings."""
    found = [claim.as_printed, *claim.lacking.values()]
    return [*found, *(r.denial for r in (claim, *found) if r.denial is not None)]


def lookalike(name: str) -> str | None:
    """Return the id of a recorded claim, or of a reading of one, with which a name may be confused.
    Return None where there is none."""
    claim = discover.find_recorded(name.partition("!")[0])
    if claim is None:
        return discover.lookalike(name)
    others = [reading.id for reading in readings(claim)] if "!" in name else []
    alike = [other for other in others if name_skeleton(other) == name_skeleton(name)]
    return None if name in alike else next(iter(alike), None)


def document_title(claim: Claim) -> str:
    """Return the name of a claim in documents: its id, or the id with `!variant` if a recorded
    claim with this id differs."""
    record = find_recorded_claim(claim.id)
    return (
        claim.id
        if record is None or record is claim or claim_content(record) == claim_content(claim)
        else f"{claim.id}!variant"
    )


def claim_content(claim: Claim) -> tuple[Any, ...]:
    """Return a tuple of everything that a claim states, for comparison."""
    return (
        claim.cites,
        claim.kind,
        claim.says,
        claim.lines or claim.statement.expressions,
        claim.regime,
        claim.logs,
        claim.explicit,
        claim.same,
        claim.printed,
        {name: (e.domain, e.measure, e.definition, e.some) for name, e in claim.symbols.items()},
        [a.condition[:2] if a.condition else a.holds for a in claim.assumptions],
    )


def first_difference(written: Mapping[str, Any], q: Target) -> str | None:
    """Return the first entry in which a document differs from the statement of a Target, or None if
    all agree."""
    # One statement for each way of meeting the Target's equations.
    ways = [target_statement(each) for each in (q, *q.others())]
    same = (
        each for each in ways if each["statement"]["solved"] == written["statement"].get("solved")
    )
    asked = next(same, ways[0])
    parts = [(written, asked, name) for name in asked if name != "statement"]
    parts += [(written["statement"], asked["statement"], name) for name in asked["statement"]]
    return next((name for theirs, mine, name in parts if theirs.get(name) != mine[name]), None)


def unlike_claim(written: Mapping[str, Any], claim: Claim) -> str | None:
    """Return the first entry that shows that a document is not about a line of this claim in a
    model that measures it. Return None if the document is about such a line."""
    line, setting = written["line"], by_name(written["setting"])
    if type(line) is not int or not 0 <= line < len(claim.lines) or claim.lines[line][1] == "O":
        return "line"
    return (
        "setting"
        if written["setting"] not in {s.name for s in fitting(claim)}
        else first_difference(written, Target(claim, setting, line))
    )


def speaks_of(written: Mapping[str, Any], claim: Claim) -> bool:
    """Tell whether a document states exactly a line of this claim."""
    return unlike_claim(written, claim) is None


def used_measures(q: Target) -> set[str]:
    """Return the names of the measured quantities in the line and in the hypotheses."""
    return {
        name for e in (q.left, q.right, *q.relations) for name in q.names(e) if name in q.measured
    }


def formula_data(expr: "sympy.Basic") -> list[list[Any]]:
    """Return a formula's program as plain data."""
    return [
        [op, list(operands), _detail_text(op, detail)]
        for op, operands, detail in arithmetic.compile_expression(expr)
    ]


def _detail_text(op: str, detail: Any) -> Any:
    if op == "number":
        return str(detail)
    return [str(detail[0]), detail[1]] if op == "power" else detail


def read_number(written: str) -> Counted:
    """Return the number that `number` wrote."""
    fraction = check_instance.parse_fraction
    return fraction(written) if isinstance(written, str) else Interval(*map(fraction, written))

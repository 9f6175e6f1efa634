"""Judgement of stored verdicts without a search: what their documents show, and the ratios at the
instances they name.

A verdict is read in the form of a ledger, plain data with its documents in their places, and may
come from anybody. Results that rest on a search alone (that nothing was found, how many instances
were tried, remarks) are not judged here.
"""

from collections.abc import Iterator, Mapping, Set
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory.app import ledger
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused, require
from fedtheory.models import by_name, fitting
from fedtheory.proofs import algebra, dimensions
from fedtheory.search import counterexample, optimizer
from fedtheory.search.objective import Target
from fedtheory.search.rational_points import Point
from fedtheory.typing import Document
from fedtheory.verdicts import pipeline, printed_reading, vacuity
from fedtheory.verdicts.combination import combine_lines, conclude, derive_fields
from fedtheory.verdicts.evidence import Counterexample, Difference, Family, Proof
from fedtheory.verdicts.verdict import FIELDS, Verdict, find_fault

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

PROOFS, STRUCTURE = "fedtheory proofs 1", "fedtheory structure 1"
# digits of a number that a search may have reached, and the limit of a count
DIGITS, MOST = 400, 1000
DRAWS = 2000  # random shapes that are drawn to measure their sizes
PROVING = 10.0  # seconds of budget for a proof that hypotheses exclude each other


class Judgement(NamedTuple):
    """The result of judging a verdict without a search."""

    wrong: list[Any]  # sentences on parts of the verdict that do not follow from its evidence
    ratios: int = 0  # the number of ratios that were derived again
    rests: str = (
        # the basis of the remaining parts: "search", "cases" (their number until it failed), or
        # nothing
        ""
    )


def judge_verdict(
    claim: "Claim", verdict: Mapping[str, Any], budget: float, seed: int
) -> Judgement:
    """Judge a verdict without a search, as the claim is meant and in the claim's other readings."""
    if find_fault(verdict):
        return Judgement(["its verdict has not the shape of one"])
    found = [_judge_reading(claim, dict(verdict, printed=None, removals=[]), budget, seed)]
    wrong = found[0].wrong + missing_readings(claim, verdict, budget)
    if not wrong:
        for reading, part in verdict_readings(claim, verdict):
            if budget < printed_reading.LEAST and part["status"] == "undecided":
                due = plain_verdict(printed_reading.small_budget_reading(reading, verdict["kind"]))
                found.append(Judgement(describe_differences(part, due)))
            else:
                found.append(_judge_reading(reading, part, budget, seed))
            wrong += [f"{reading.id.removeprefix(claim.id)}: {why}" for why in found[-1].wrong]
    rests = {each.rests for each in found}
    rests = next((kind for kind in ("search", "cases") if kind in rests), "")
    return Judgement(wrong, sum(each.ratios for each in found), rests)


def verdict_readings(
    claim: "Claim", verdict: Mapping[str, Any]
) -> "Iterator[tuple[Claim, dict[str, Any]]]":
    """Yield (the claim in another reading, the verdict on that reading), for a well-formed verdict."""
    if verdict["printed"] is not None:
        yield claim.as_printed, verdict["printed"]
        for reading, removal in zip(claim.lacking.values(), verdict["removals"]):
            yield reading, removal["verdict"]


def missing_readings(claim: "Claim", verdict: Mapping[str, Any], budget: float) -> list[Any]:
    """Return sentences about readings of the claim that a verdict leaves out, or has in excess."""
    printed, removals = verdict["printed"], verdict["removals"]
    if verdict["kind"] == "error":
        return [] if printed is None and not removals else ["its verdict has readings"]
    if (printed is not None) != bool(claim.unstated):
        return ["its verdict does not say how its claim stands as printed"]
    if printed is None:
        return ["its verdict lacks hypotheses that are stated"] if removals else []
    apart = (
        verdict["status"] not in ("violated", "vacuous")
        and budget >= printed_reading.LEAST
        and not printed_reading.same_conclusion(verdict["status"], printed["status"])
    )
    told = [[r["name"], r["hypothesis"], r["saves"]] for r in removals]
    due = [
        [a.name, str(a), removal["verdict"]["status"] == "violated"]
        for a, removal in zip(claim.lacking, removals)
    ]
    complete = len(removals) == (len(claim.lacking) if apart or removals else 0)
    wrong = told != due or not complete or apart and not removals
    return ["its verdict does not say what saves it from how it is printed"] if wrong else []


def _judge_reading(
    claim: "Claim", verdict: Mapping[str, Any], budget: float, seed: int
) -> Judgement:
    """Judge the verdict on one reading."""
    if any(part["claim"] != claim.id for part in (verdict, *verdict["lines"])):
        return Judgement(["its verdict names another claim"])
    said = claim.lines and not claim.dropped and verdict["kind"] != "error"
    units = dimensions.unit_notes(claim) if said else []  # computed once, for all readings
    if units:
        first = len(verdict["notes"]) - len(units)
        if first < 0 or verdict["notes"][first:] != units:
            return Judgement(["its verdict, notes: they are not what its units say"])
        verdict = dict(verdict, notes=verdict["notes"][:first])
    if (
        not claim.lines and not claim.same
    ):  # a sentence, which is not decided here, or cells that are computed
        return Judgement(describe_differences(verdict, of_claim(claim, budget, seed)))
    if verdict["status"] == "vacuous" and verdict["kind"] == "algebra" and not verdict["lines"]:
        found = vacuity.examine_hypotheses(claim, seed, max(PROVING, budget)).vacuity
        if found is None:
            return Judgement(["its verdict, vacuous: no proof shows it"])
        return Judgement(describe_differences(verdict, plain_verdict(conclude(claim.id, found))))
    wrong, parts = check_whole(claim, verdict), verdict["lines"] or [verdict]
    ratios = 0
    for at, part in enumerate(parts):
        if not verdict["lines"] and isinstance(verdict["certificate"], dict):
            # the document names its line, and is checked
            at = verdict["certificate"].get("line", 0)
        name = f"line {at + 1}, " if verdict["lines"] else ""
        try:
            expected = evidence_fields(claim, at, part, verdict)
        except Refused as why:
            wrong.append(f"its verdict, {name}{part['status']}: {why}")
            continue
        except Exception as error:  # any error that a malformed document or instance causes
            wrong.append(
                f"its verdict, {name}{part['status']}: its evidence is not well formed: {error!r}"
            )
            continue
        ratios += expected.get("tightness") is not None
        wrong += [
            f"its verdict, {name}{field} is not what its evidence gives"
            for field, value in expected.items()
            if not written_alike(part[field], value)
        ]
    statuses = {part["status"] for part in parts}
    return Judgement(
        wrong,
        ratios,
        "" if statuses == {"proved"} else "cases" if statuses == {"violated"} else "search",
    )


def of_claim(claim: "Claim", budget: float, seed: int) -> dict[str, Any]:
    return ledger.decide_claim(claim, budget, seed)["verdict"]


def plain_verdict(verdict: Verdict) -> dict[str, Any]:
    return ledger.plain_data(verdict.as_dict())


def describe_differences(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> list[Any]:
    return [
        f"its verdict, {field} is not what was derived here"
        for field in FIELDS
        if not written_alike(theirs[field], mine[field])
    ]


def written_alike(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON text: 1 differs from 1.0 and from true, and the
    order of entries counts."""
    return ledger.json_text(one) == ledger.json_text(other)


def check_whole(claim: "Claim", verdict: Mapping[str, Any]) -> list[Any]:
    """Return sentences about a statement's verdict that does not follow from the verdicts of its
    lines."""
    # where the first line is violated, its verdict is that of the statement
    if not verdict["lines"]:
        alone = (
            len(claim.lines) <= 1
            or verdict["status"] == "violated"
            or verdict["kind"] == "error"
            or claim.dropped
            and verdict["status"] == "undecided"  # this reading was not searched
        )
        return [] if alone else ["its verdict leaves out its lines"]
    lines = [Verdict.from_dict(line) for line in verdict["lines"]]
    broken = [line.status == "violated" for line in lines]
    if (
        any(broken[:-1])
        or len(lines) < 2
        or len(lines) > len(claim.lines)
        or len(lines) < len(claim.lines)
        and not broken[-1]
    ):
        return ["its verdict has not the lines of the claim"]
    made = plain_verdict(combine_lines(claim, lines))
    if verdict["status"] == "proved":  # the statement's document contains the proofs of its lines
        made["certificate"] = verdict["certificate"]
    # later remarks concern the statement as a whole
    remarks = verdict["notes"][: len(made["notes"])]
    return describe_differences(dict(verdict, notes=remarks), dict(made, lines=verdict["lines"]))


def evidence_fields(
    claim: "Claim", at: int, part: Mapping[str, Any], verdict: Mapping[str, Any]
) -> dict[str, Any]:
    """Return {field: value} of a part's verdict, as far as its own evidence determines the fields;
    raise Refused where there is no evidence."""
    document, status = part["certificate"], part["status"]
    if status == "violated":
        return expected_fields(violation_evidence(claim, at, document))
    # where all lines are proved, their proofs are in the statement's document
    if status == "proved":
        return proof_fields(claim, at, document or verdict["certificate"])
    require(document is None, "a certificate that decides nothing")
    if status == "holds" and part["tightness"] is not None:
        require(part["witness"] is not None, "no instance reaches its ratio")
        return witness_ratio(claim, at, part["witness"])
    require(part["tightness"] is None, "no instance reaches its ratio")
    return {} if part["witness"] is None or status == "undecided" else dict(witness=None)


def expected_fields(evidence: Any) -> Any:
    """Return the fields of a verdict that evidence determines, as plain data."""
    fields = dict(tightness=None, confidence=None, witness=None) | derive_fields(evidence)
    return ledger.plain_data(fields)


def violation_evidence(claim: "Claim", at: int, document: Document) -> Any:
    """Return the evidence of a counterexample, a family of counterexamples, or two differing runs."""
    require(isinstance(document, dict), "no certificate shows it")
    found = pipeline.replay(document)
    require(
        found["status"] == "violated" and document["claim"] == claim.id,
        "its certificate speaks of something else",
    )
    if document["format"] == STRUCTURE:
        return differing_runs(claim, document, found)
    require(document["line"] == at, "its certificate speaks of another line")
    if document["format"] != check_instance.FORMAT:
        growth = [f"{float(c):.6g}" for c in found["constants"]]
        model = by_name(document["members"][0]["setting"])
        return Family(model=model, document=document, growth=growth)
    require(
        counterexample.speaks_of(document, claim), "its certificate speaks of another statement"
    )
    setting = by_name(document["setting"])
    numbers = {
        name: check_instance.parse_fraction(text)
        for name, text in document["numbers"].items()
        if isinstance(text, str)
    }
    instance, target = check_instance.read_numbers(document["instance"]), Target(claim, setting, at)
    asked = counterexample.target_statement(target)
    require(
        all(written_alike(document[name], asked[name]) for name in asked),
        "its certificate is written otherwise",
    )
    reached = target.exactly(
        instance, target.values_before_run(numbers, setting.constants(instance))
    ).ratio
    return Counterexample(model=setting, document=document, ratio=reached)


def differing_runs(
    claim: "Claim", document: Document, found: Mapping[str, Any]
) -> dict[str, str | dict[str, Any]]:
    """Return the evidence of two differing runs, given the result of their replay."""
    from fedtheory.verdicts.equivalence import side_label

    require("points" in found, "its certificate speaks of cells")
    same = claim.same[document["same"]]
    return Difference(
        one=side_label(same.one),
        other=side_label(same.other),
        gap=found["gap"],
        instance=document["instance"],
        points=[[[repr(float(x)) for x in point] for point in path] for path in found["points"]],
    )


def proof_fields(claim: "Claim", at: int, document: Document) -> dict[str, Any]:
    """Return the fields that a proof of a line determines."""
    require(
        isinstance(document, dict) and pipeline.replay(document)["status"] == "proved",
        "no proof shows it",
    )
    if document["format"] == PROOFS:
        require(
            document["claim"] == claim.id and len(document["lines"]) == len(claim.lines),
            "its proof speaks of another claim",
        )
        document = document["lines"][at]
    require(algebra.speaks_of(document, claim, at), "its proof speaks of another statement")
    says = f"proved, {algebra.proof_size(document['proof'])} terms"
    rest = dict(cases=0, notes=[], decided_on="", searched="")
    return rest | expected_fields(Proof(says=says))


def witness_ratio(claim: "Claim", at: int, witness: Mapping[str, Any]) -> dict[str, Any]:
    """Measure the instance with the largest ratio again in fractions, and return the fields that it
    determines."""
    setting = next((s for s in fitting(claim) if s.name == witness.get("setting")), None)
    require(
        setting is not None and set(witness) == {"setting", "shape", "numbers"},
        "its instance fits no setting",
    )
    target, shape, numbers = Target(claim, setting, at), witness["shape"], dict(witness["numbers"])
    largest = largest_sizes(setting.name, frozenset(target.relaxed))
    require(
        all(
            part in largest and 0 <= entry_size(value) <= largest[part]
            for part, value in shape.items()
        ),
        "its instance is larger than any that is drawn",
    )
    counts = {name: numbers.pop(name) for name in target.counts}
    require(
        all(type(n) is int and 1 <= n <= MOST for n in counts.values()),
        "it has a count that no search reaches",
    )
    hunt = optimizer.search_at(target, shape, counts, 0)
    require(
        set(hunt.kinds) == set(numbers)
        and all(isinstance(text, str) and len(text) <= DIGITS for text in numbers.values()),
        "its numbers are not those it needs",
    )
    point = Point(
        hunt, {name: check_instance.parse_fraction(text) for name, text in numbers.items()}
    )
    reached = point.ratio(certified=True)
    require(reached is not None, "its instance does not meet its hypotheses")
    return dict(tightness=ledger.plain_data(reached), confidence=None)


@cache
def largest_sizes(name: str, relaxed: Set[str]) -> dict[str, int]:
    """Return {part: largest of many draws} of a setting's shapes."""
    setting, found, random = by_name(name), {}, Random(0)
    for _ in range(DRAWS):
        for part, value in setting.shapes(random, relaxed).items():
            found[part] = max(found.get(part, 0), entry_size(value))
    return found


def entry_size(value: int) -> int:
    require(isinstance(value, (int, str)), "it has a part that is no part of a shape")
    return len(value) if isinstance(value, str) else int(value)

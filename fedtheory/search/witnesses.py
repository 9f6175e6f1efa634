"""Instances that were found before for this claim or a variant of it, tested exactly before any
search.

A witness is the document of a counterexample, the instance at which a verdict found a line
tightest, or a stored verdict that contains one of the two. Only the setting (a model's name), the
instance and the numbers of a witness are read. Everything else in it is ignored, since every line
is evaluated anew. A document that is no witness is refused; the evaluation of a witness is limited
to the work that a document may take.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory import arguments, arithmetic
from fedtheory.arithmetic import Undefined, work
from fedtheory.arithmetic.operations import ends_of
from fedtheory.certificates import check_instance, documents
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.language.claim import Claim
from fedtheory.models import Model, by_name, fitting
from fedtheory.search import optimizer
from fedtheory.search.counterexample import build_document
from fedtheory.search.counterexample import read_number as exactly
from fedtheory.search.objective import Target
from fedtheory.search.rational_points import STEP, UNANSWERED, Point
from fedtheory.typing import Assignment

MOST = 200  # witnesses that a user may give with a claim
# Limits of a shape. ENTRIES: number of entries. SIDE: the largest integer. WORD: letters of a text.
ENTRIES, SIDE, WORD = 60, 64, 20
NUMBERS = 400  # the most numbers in a witness
RULE = "must be documents of counterexamples, or verdicts with the instance of the largest ratio"


class Witness(NamedTuple):
    """The content of a witness document: an instance, or a shape with its coordinates."""

    setting: Model
    instance: Any  # None if the witness has a shape
    shape: Any  # None if the witness has an instance
    numbers: (
        dict[
            str, Any
        ]  # free numbers, and coordinates if the witness has a shape: Fractions or Intervals
    )
    near: dict[
        str, Any
    ]  # values that the document shows, for symbols that equations of its claim fix


class ConfirmedWitness(NamedTuple):
    """An answer at a witness that certainly meets all hypotheses."""

    witness: Witness
    answer: Any
    ratio: float | None
    document: (
        dict[str, Any] | None
    )  # the counterexample's document, if the line fails at the witness


def read_witnesses(given: Any) -> list[Witness]:
    """Return witnesses from documents. Raises InvalidInput that names a document that is no
    witness."""
    if isinstance(given, (str, bytes, dict)) or not arguments.is_iterable(given):
        refuse("witnesses", "must be several documents", given)
    found = []
    for each in given:
        if len(found) >= MOST:
            refuse("witnesses", f"must be at most {MOST}", f"more than {MOST}")
        found.append(each if isinstance(each, Witness) else as_witness(each))
    return found


def as_witness(document: Any) -> Witness:
    """Return the Witness of a document or of a Verdict."""
    if hasattr(document, "certificate"):
        document = document.certificate or document.witness
    elif type(document) is dict and "setting" not in document:  # a stored verdict
        document = document.get("certificate") or document.get("witness")
    try:
        return documents.refuse_malformed(_parse_witness)(document)
    except Refused as why:
        raise InvalidInput(f"witnesses {RULE}; got one of which {why}") from None


def _parse_witness(document: Any) -> Witness:
    """Return the Witness of a document, whatever the document holds. Raises Refused, in words,
    unless the model is known, the numbers are exact and few, and there is an instance or a small
    shape."""
    document = documents.plain_copy(document)
    documents.require(isinstance(document, dict), "nothing is known: it is no object")
    setting = by_name(document.get("setting"))
    documents.require(setting is not None, f"no setting is {show(document.get('setting'))}")
    numbers = document.get("numbers")
    documents.require(
        isinstance(numbers, dict) and len(numbers) <= NUMBERS, "the numbers are none, or too many"
    )
    numbers = {name: exact_value(each) for name, each in numbers.items()}
    if document.get("format") == check_instance.FORMAT:
        values = document.get("values")
        near = approximate_values(values) if isinstance(values, dict) else {}
        documents.require("instance" in document, "there is no instance")
        return Witness(setting, check_instance.instance_of(document, setting), None, numbers, near)
    documents.require("format" not in document, "the format is another one")
    return Witness(setting, None, check_shape(document.get("shape"), len(numbers)), numbers, {})


def exact_value(each: str) -> work.Counted:
    """Return a number, or an Interval from its two ends."""
    ends = each if isinstance(each, list) else [each]
    documents.require(
        1 <= len(ends) <= 2 and all(isinstance(end, str) for end in ends), "a number is none"
    )
    return exactly(each)


def approximate_values(values: Assignment) -> dict[str, Fraction]:
    """Return {name: Fraction} of the values that a document shows, without entries that are no
    numbers."""
    found = {}
    for name, text in values.items():
        try:
            found[name] = arithmetic.exact_number(name, text)
        except InvalidInput:
            continue
    return found


def check_shape(shape: Any, known: int) -> dict[str, Any] | None:
    """Check that a shape is one that models draw (few small integers and short words), and return
    it."""
    documents.require(
        isinstance(shape, dict) and 0 < len(shape) <= ENTRIES, "there is no instance, and no shape"
    )
    size = 1
    for name, value in shape.items():
        documents.require(
            isinstance(value, str)
            and len(value) <= WORD
            or type(value) in (int, bool)
            and 0 <= value <= SIDE,
            f"the shape's {show(name)} is no small integer and no short word",
        )
        size *= max(1, value) if type(value) is int and name in ("N", "d", "pieces", "kinds") else 1
    documents.require(size <= max(SIDE, 4 * known), "the shape is too large for so few numbers")
    return shape


def ask_witnesses(
    claim: Claim, at: int, witnesses: Sequence[Witness], models: Any = None
) -> Iterator[tuple[Any, float]]:
    """Yield (Found, elementary steps taken) for each witness whose model fits a line. Found is None
    where the witness does not certainly meet the hypotheses. `models` are those that fit the claim,
    if they are known."""
    if claim.lines[at][1] == "O":
        return
    able = {model.name for model in (fitting(claim) if models is None else models)}
    targets: dict = {}
    for witness in witnesses:
        name = witness.setting.name
        if name not in able:
            continue
        q = targets.setdefault(name, Target(claim, witness.setting, at))
        if q.impossible:
            continue
        left, before, found = [0], 0, None
        try:
            with work.limit_work(documents.STEPS) as left:
                before = left[0]
                found = _ask_witness(q, witness)
        except (*UNANSWERED, Refused, LookupError, ValueError, TypeError, ArithmeticError):
            pass  # `within` raises it again where NumPy went on
        yield found, STEP * (before - left[0])


def _ask_witness(q: Target, witness: Witness) -> ConfirmedWitness | None:
    """Return the Found of a line at a witness, or None unless all hypotheses certainly hold there.
    Bounds that the witness states may be looser than the instance's own constants, never tighter.
    Raises Undefined for a tighter bound."""
    point = answer = given = None
    if witness.shape is None:
        tight = witness.setting.constants(witness.instance)
        known = {**witness.near, **tight, **witness.numbers}
        loose = [name for name in q.slack if name in witness.numbers]
        given = {name: known[name] for name in dict.fromkeys((*q.reals, *loose, *q.counts))}
        for name in loose:
            low, high = ends_of(tight[name])
            over = q.setting.loose[name] > 0
            if known[name] < high if over else known[name] > low:
                raise Undefined(f"no bound any more: {name}")
        answer = q.exactly(witness.instance, q.values_before_run(given, tight))
    else:
        point = at_shape(q, witness)
        answer = point.answer()
    if answer is None or any(answer.failing()):
        return None
    document = _build_document(q, answer, given, point) if answer.certainly_fails else None
    return ConfirmedWitness(witness, answer, answer.ratio, document)


def _build_document(q: Any, answer: Any, given: Any, point: Any) -> dict[str, Any] | None:
    """Return the document of a counterexample, or None if checking it takes more work than a
    document may."""
    if point is not None:
        loose = [name for name in q.slack if point.numbers[f"slack {name}"] != 1]
        given = [*q.reals, *loose, *point.hunt.numbers]
    try:
        return build_document(q, answer, [*given, *q.pinned])
    except documents.Laborious:
        return None


def at_shape(q: Target, witness: Witness) -> Point:
    """Return the Point of a line at a witness's shape and coordinates."""
    counts = {name: int(witness.numbers[name]) for name in q.counts}
    hunt = optimizer.search_at(q, witness.shape, counts, 0)
    slack = lambda name: Fraction(1) if name.startswith("slack ") else None
    numbers = {name: witness.numbers.get(name, slack(name)) for name in hunt.names}
    missing = [name for name, number in numbers.items() if not isinstance(number, Fraction)]
    documents.require(not missing, f"nothing gives {', '.join(missing)}")
    return Point(hunt, numbers)


__all__ = ["ConfirmedWitness", "Witness", "ask_witnesses", "read_witnesses"]

"""Hypotheses that a variant has dropped, and probability laws that a claim does not mention. A
verdict rests on instances that violate these hypotheses and laws, and such instances are counted.

An instance breaks a condition if its model says that the instance does not meet the condition, or
if a constant that the condition certified is not the instance's constant. An instance breaks a
relation if its numbers violate the relation.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import sympy
from sympy.core.relational import Relational

from fedtheory import discover
from fedtheory.arithmetic.operations import nearest_float
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import ANY, Claim
from fedtheory.language.conditions import (
    ALL,
    EQUAL_WEIGHTS,
    INDEPENDENT,
    LAWS,
    UNIFORM_COHORT,
    Assumption,
    unsaid_laws,
)
from fedtheory.language.printing import plain
from fedtheory.models import HOUSE, Model, by_name
from fedtheory.proofs import algebra
from fedtheory.search import scheduler
from fedtheory.search.objective import Target, exact_value
from fedtheory.search.optimizer import ShapeSearch
from fedtheory.search.rational_points import UNANSWERED, Point
from fedtheory.typing import Assignment, Number

if TYPE_CHECKING:
    import numpy as np

    from fedtheory.algorithm import Algorithm

# ROWS: instances of a shape that are examined. ENOUGH: violating instances of a hypothesis after
# which no more are counted.
ROWS, ENOUGH = 3, 60
# SHAPES: shapes drawn to see whether a model can break a hypothesis. DRAWN: instances drawn at each
# shape.
SHAPES, DRAWN = (24, 8)
# Shapes drawn where a verdict depends on which hypotheses a model can break. So many draws reach
# each of five hypotheses, if the model rarely breaks one and never two at a time.
TRIED = 48
# A share of the sum of a relation's sides. A relation counts as broken if its gap is larger:
# rounding does not explain such a gap.
AFAR = 1e-6
# A share of the budget, for a further search among instances that break a law, where few of the
# searched instances did.
EXTRA = 0.3
FEW = 4  # shapes at which a law is broken; with fewer, the search continues
# Searches of a model that are examined for broken laws; shapes that name a law come first.
HUNTS = 40
SECONDS = 0.5  # seconds for a proof that a relation follows from the remaining hypotheses
LOOKED = 0.1  # seconds for a proof that a probability law makes no difference
# A share of the budget: for all models together that break nothing, if other models break
# something.
LITTLE = 0.1


class ViolationCounts(NamedTuple):
    """How often a search violated what a claim does not assume."""

    dropped: dict[Assumption, int]  # instances that violate a dropped hypothesis
    laws: dict[Assumption, int]  # shapes with an instance that violates an unmentioned law

    @classmethod
    def of(cls, claim: Claim, models: Sequence[Model], budget: float) -> "ViolationCounts":
        """Return the counts, all 0, of what the instances of some models have to violate."""
        dropped, laws = relevant_hypotheses(claim, budget), silent(claim, models)
        return cls(dict.fromkeys(dropped, 0), dict.fromkeys(laws, 0))

    def rare_laws(self) -> list[Assumption]:
        """Return the laws violated at few searched shapes."""
        return [a for a, n in self.laws.items() if n < FEW]

    def add_searches(self, claim: Claim, hunts: Iterable[ShapeSearch]) -> None:
        """Add the violating instances among the best rows of searches."""
        if self.dropped:
            count_breaking(self.dropped, claim, hunts)
        if self.laws:
            note_laws(self.laws, claim, hunts)


def relevant_hypotheses(claim: Claim, budget: float) -> list[Assumption]:
    """Return the dropped hypotheses of a claim that instances have to violate. All other dropped
    hypotheses follow from the remaining hypotheses or make no difference."""
    left = [a.relation for a in claim.assumptions if a.relation is not None]
    open_ = unsaid_laws(a.name for a in claim.assumptions)
    return [
        a
        for a in claim.dropped
        if not (a.condition is not None and not claim.quantities)
        and not (a.name in LAWS and not (a.name in open_ and matters(claim, a.name)))
        and not (
            a.relation is not None
            and follows_from(claim, a.relation, left, min(SECONDS, 0.1 * budget))
        )
    ]


def silent(claim: Claim, settings: Sequence[Model]) -> list[Assumption]:
    """Return the probability laws, as hypotheses, that a claim in the library's own letters does
    not mention although its measured quantity depends on them. Models of a paper return none:
    these models draw instances that violate the laws in any case."""
    if any(setting.table.paper != HOUSE for setting in settings):
        return []
    ensured = frozenset().union(*(setting.ensures for setting in settings))
    laws = unsaid_laws(a.name for a in (*claim.assumptions, *claim.dropped)) & ensured
    return [Assumption(ALL[law]) for law in sorted(laws) if matters(claim, law)]


def matters(claim: Claim, law: str) -> bool:
    """Tell whether the measured quantities of a claim can depend on a probability law."""
    measures = [entry.measure for entry in claim.quantities.values()]
    if not measures or law != EQUAL_WEIGHTS.name and not any(m.average for m in measures):
        return False
    if law == UNIFORM_COHORT.name and everyone(claim):
        return False
    counts = {name: claim.table[name].symbol for name in "NSTK" if name in claim.table}
    left = [a.relation for a in claim.assumptions if a.relation is not None]
    spoken = {s.name for r in left if isinstance(r, Relational) for s in r.free_symbols}
    if not spoken & {"N", "S"} or not {"N", "S"} <= counts.keys():
        return True
    N, S = counts["N"], counts["S"]
    draws = S * counts.get("T", 1) * (1 if one_step(claim) else counts.get("K", 1))
    void = {
        EQUAL_WEIGHTS.name: N <= 1,
        UNIFORM_COHORT.name: S >= N,
        INDEPENDENT.name: draws <= 1,
    }.get(law)
    return void is None or not follows_from(claim, void, [*left, S <= N], LOOKED)


def everyone(claim: Claim) -> bool:
    """Tell whether all clients take part in every round of a claim's methods."""
    methods = records(claim)
    return bool(methods) and all(method.everyone for method in methods)


def one_step(claim: Claim) -> bool:
    """Tell whether clients take one gradient per round in every method of the claim, or the claim
    names no method."""
    return all(method.steps == 1 and not method.client_grad for method in records(claim))


def records(claim: Claim) -> "list[Algorithm]":
    """Return the records of the methods that a claim names."""
    several = claim.algorithm if isinstance(claim.algorithm, tuple) else (claim.algorithm,)
    return [discover.algorithm(each) for each in several if each is not None]


def follows_from(
    claim: Claim, relation: sympy.Rel, left: Sequence[sympy.Rel], seconds: float
) -> bool:
    """Tell whether algebra proves a relation from the relations `left`."""
    try:
        return relation in left or bool(
            algebra.prove(relation, left, dict(claim.definitions), seconds, refute=False)
        )
    except Refused:
        return False


def breaks_hypothesis(
    assumption: Assumption,
    claim: Claim,
    facts: tuple[frozenset[str], dict[str, Number]],
    setting: Model,
    values: Assignment,
) -> bool:
    """Tell whether an instance with these facts violates a hypothesis for certain."""
    held, tight = facts
    if assumption.condition is not None:
        if not held:  # the model has no instance at all
            return False
        freed = [name.removeprefix(ANY) for name in claim.parameters if name.startswith(ANY)]
        return assumption.name in setting.ensures - held or any(
            is_beyond(tight[name], values[ANY + name], setting.loose.get(name, 0))
            for name in claim.table.names_of_constants(assumption.condition.constants)
            if name in freed and name in tight and ANY + name in values
        )
    relation = claim.expand(assumption.relation)
    known = {s.name: values.get(ANY + s.name, values.get(s.name)) for s in relation.free_symbols}
    if any(
        value is None for value in known.values()
    ):  # the variant does not mention the number, which may then have any value
        return not any(
            name in claim.table and claim.table[name].measure is not None for name in known
        )
    return any(
        fails_certainly(part, known)
        for part in (relation.args if isinstance(relation, sympy.And) else (relation,))
    )


def is_beyond(tight: Fraction, given: Fraction, way: int) -> bool:
    """Tell whether a constant given as an arbitrary number is violated by the instance's own tight
    value: exceeded for way > 0, undercut for way < 0, different for way = 0."""
    tight, given = float(nearest_float(tight)), float(nearest_float(given))
    gap = AFAR * (abs(tight) + abs(given))
    return (
        tight - given > gap
        if way > 0
        else given - tight > gap
        if way < 0
        else abs(tight - given) > gap
    )


def fails_certainly(relation: sympy.Rel, values: Assignment) -> bool:
    """Tell whether a relation fails at numbers by more than rounding."""
    if not isinstance(relation, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt, sympy.Eq)):
        return False
    try:
        left, right = (float(nearest_float(exact_value(side, values))) for side in relation.args)
    except (*UNANSWERED, ValueError):
        return False
    gap = AFAR * (abs(left) + abs(right))
    return (
        abs(left - right) > gap
        if isinstance(relation, sympy.Eq)
        else left - right > gap
        if isinstance(relation, (sympy.Le, sympy.Lt))
        else right - left > gap
    )


def count_breaking(
    found: Mapping[Assumption, int],
    claim: Claim,
    hunts: "Mapping[ShapeSearch, tuple[float, np.ndarray]] | Sequence[ShapeSearch]",
) -> None:
    """Add to {hypothesis: number of violating instances} the violating instances among the best
    rows of searches."""
    for hunt in hunts:
        if all(n >= ENOUGH for n in found.values()):
            return
        for row in [row for row, rate in zip(hunt.top, hunt.rates) if rate >= 0][:ROWS]:
            count_instance(found, claim, hunt, row)


def count_instance(
    found: dict[Assumption, int], claim: Claim, hunt: ShapeSearch, row: "np.ndarray"
) -> None:
    """Add one instance to the counts, if its numbers can be computed."""
    point = Point.near(hunt, row)
    try:
        instance, values = point.instance_and_values() if point is not None else (None, None)
    except UNANSWERED:
        return
    if point is None:
        return
    setting = hunt.target.setting
    held = setting.ensures if setting.holds is None else setting.holds(instance)
    facts = held, setting.constants(instance)
    for assumption in found:
        found[assumption] += breaks_hypothesis(assumption, claim, facts, setting, values)


def note_laws(
    laws: dict[Assumption, int],
    claim: Claim,
    hunts: "Mapping[ShapeSearch, tuple[float, np.ndarray]]",
) -> None:
    """Add to {law: number of shapes with a violating instance} the shapes of these searches."""
    named = {a.name for a in laws}
    first = sorted(hunts, key=lambda hunt: not named & set(map(str, hunt.shape.values())))
    for hunt in first[:HUNTS]:
        if all(n >= FEW for n in laws.values()):
            return
        found = dict.fromkeys(laws, 0)
        for row in [row for row, rate in zip(hunt.top, hunt.rates) if rate >= 0][:ROWS]:
            count_instance(found, claim, hunt, row)
        for law, n in found.items():
            laws[law] += bool(n)


def violated_laws(document: dict, laws: Iterable[Assumption]) -> list[Assumption]:
    """Return the probability laws that the instance of a counterexample violates."""
    if not laws or document.get("format") != check_instance.FORMAT:
        return []
    model = by_name(document["setting"])
    if model is None or model.holds is None:
        return []
    held = model.holds(check_instance.read_numbers(document["instance"]))
    return [a for a in laws if a.name in model.ensures - held]


def hypothesis_text(assumption: Assumption) -> str:
    return (
        assumption.condition.says
        if assumption.condition is not None
        else plain(assumption.relation)
    )


def draws_break(hunt: ShapeSearch, claim: Claim, needed: Mapping[Assumption, int]) -> bool:
    """Tell whether some of a few drawn instances of a shape violates one of the hypotheses."""
    found = dict.fromkeys(needed, 0)
    count_drawn(found, hunt, claim)
    return any(found.values())


def count_drawn(found: Mapping[Assumption, int], hunt: ShapeSearch, claim: Claim) -> None:
    """Add to {hypothesis: number of violating instances} the violating instances among a few drawn
    instances of a shape."""
    rows, _, good = hunt.evaluate_hypotheses(hunt.draw(DRAWN))
    for row in rows[good][:ROWS]:
        count_instance(found, claim, hunt, row)


def breakable_hypotheses(
    claim: Claim, at: int, setting: Model, needed: Sequence[Assumption], seed: int
) -> set[Assumption]:
    """Return the hypotheses in `needed` that drawn instances of a few shapes of a model violate."""
    target, found = Target(claim, setting, at), dict.fromkeys(needed, 0)
    for _, hunt in zip(range(TRIED), scheduler.generate_hunts(target, seed, target.relaxed)):
        count_drawn(found, hunt, claim)
        if all(found.values()):
            break
    return {a for a, n in found.items() if n}


def setting_can_break(
    claim: Claim, at: int, setting: Model, needed: Mapping[Assumption, int], seed: int
) -> bool:
    """Tell whether drawn instances of some shape of a model violate one of the hypotheses."""
    target = Target(claim, setting, at)
    return not target.impossible and any(
        draws_break(hunt, claim, needed)
        for _, hunt in zip(range(SHAPES), scheduler.generate_hunts(target, seed, target.relaxed))
    )


def budget_shares(
    claim: Claim, at: int, settings: Sequence[Model], needed: Mapping[Assumption, int], seed: int
) -> list[float]:
    """Return the share of the budget of each model: most of the budget goes to models in which
    a dropped hypothesis can be violated."""
    chosen = (
        [setting for setting in settings if setting_can_break(claim, at, setting, needed, seed)]
        if needed
        else []
    )
    others = len(settings) - len(chosen)
    if not chosen or not others:
        return [1 / len(settings)] * len(settings)
    return [
        (1 - LITTLE) / len(chosen) if setting in chosen else LITTLE / others for setting in settings
    ]

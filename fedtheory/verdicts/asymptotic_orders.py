"""Decisions on orders, left = O(shape): a family of instances along which left over shape grows
refutes an order, an explicit companion claim supports it.

The constant that O hides may depend on every symbol that the shape does not mention, and on nothing
else. So a family that refutes an order moves only symbols of the shape and symbols that equations
fix. An explicit companion supports its order under two conditions. First, the companion's
hypotheses follow from the hypotheses and the regime of the order. Second, the companion's bound
over the shape stays below one constant as the symbols of the shape go to their extremes, wherever
the sweeps start. Both conditions are searched and not proved. The companion's statements about
symbols of its own (the number of rounds, coefficients, a learning rate that the order does not
name) fill in what the order leaves open.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import sympy

from fedtheory import discover
from fedtheory.arithmetic import Undefined
from fedtheory.certificates.check_family import COEFFICIENT
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.language.printing import plain
from fedtheory.proofs import equations, refutation
from fedtheory.search import divergent_families
from fedtheory.search.asymptotic_sweeps import SAID, sweep_shape
from fedtheory.search.scaling_moves import MODERATE
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.evidence import Companion, Evidence, Family, Gap
from fedtheory.verdicts.status import STANDS
from fedtheory.verdicts.verdict import Verdict

# Values at which the regime's coefficients are fixed, tried in turn: at the last, a step size is
# small enough.
HELD = (1.0, 0.1, 0.01)
# DRAWN: sets of drawn points from which the sweeps start. ALIKE: the largest factor between the
# suprema that they find.
DRAWN, ALIKE = 3, 1.25
SWEPT: dict[tuple, "SweepComparison | None"] = {}  # results of sweeps
FOLLOWED = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt, sympy.Eq)  # relations that a search can follow


def examine_order(case: Case, known: Verdict | None) -> Evidence:
    """Return the evidence on an order. `known` is the Verdict on its explicit
    companion, if there is one."""
    claim, at = case.claim, case.line
    left, shown = claim.lines[at][0], divergent_families.mentioned_names(claim, at)
    chosen = [
        s.name
        for s in sorted(claim.expand(left).free_symbols - constrained_symbols(claim), key=str)
        if s.name not in shown and s.name in claim.parameters
    ]
    free = (
        f"Its left side is free: nothing it assumes ties {', '.join(chosen)}, so it is a rule "
        "for choosing"
    )
    support = compare_companion(case, known)
    support = replace(support, notes=((free,) if chosen else ()) + support.notes)
    if isinstance(support, Companion) or chosen:
        return support
    share = 0.5 * case.budget / max(1, len(case.models))
    for model in case.models:
        found = divergent_families.refute_order(claim, at, model, share, case.seed)
        if found:
            document, _, constants = found
            return Family(
                model=model,
                document=document,
                growth=[f"{float(c):.6g}" for c in constants],
                cases=support.cases,
                notes=support.notes,
            )
    none = "No family of instances was found along which it fails."
    more = none if case.models else "No setting measures it."
    return replace(support, says=f"{support.says} {more}")


def explicit_companion(claim: Claim) -> Claim | None:
    """Return the explicit companion of an order without the hypotheses that the order has dropped;
    None where there is no companion."""
    if not claim.explicit:
        return None
    return drop_from_companion(discover.claim(claim.explicit), claim.dropped)


def compare_companion(case: Case, known: Verdict | None) -> Companion | Gap:
    """Return the evidence on an order from the explicit companion alone."""
    if known is None:
        return Gap(says="It has no explicit companion.", kind="order")
    claim, at, seed, cases = case.claim, case.line, case.seed, known.cases
    # A companion that fails with fewer hypotheses is compared with all of them.
    stands = known.status in STANDS
    companion = discover.claim(claim.explicit)
    if stands:
        companion = drop_from_companion(companion, claim.dropped)
    name, notes = companion.id, (f"Companion {companion.id}: {known.status}",)
    gap = lambda says, *more: Gap(says=says, kind="order", cases=cases, notes=(*notes, *more))
    more, held = extra_assumptions(claim, companion)
    if more:
        return gap(
            f"{name}, from which it would follow, assumes what it does not: {'; '.join(more)}."
        )
    if not divergent_families.mentioned_names(claim, at):
        return gap(
            "Its shape mentions nothing: the constant may depend on everything, and the order says "
            "only that what it measures is finite."
        )
    swept = sweep_order(claim, at, companion, seed, held)
    if swept is None:
        return gap(f"The bound of {name} could not be compared with the shape.")
    if swept.growth:
        return gap(
            f"Its shape does not follow from {name}.",
            "The printed shape does not follow from the companion: its bound over the shape, "
            f"what is measured being any number, grows along {swept.growth}",
        )
    later = [sweep_order(claim, at, companion, seed + n, [swept.held]) for n in range(1, DRAWN)]
    constants = [each.constant for each in (swept, *later) if each]
    constant = max(constants)
    if any(each is None or each.growth for each in later) or constant > ALIKE * min(constants):
        return gap(
            f"No constant: the bound of {name} over the shape reaches "
            f"{', '.join(f'{c:.6g}' for c in constants)} as its sweeps start from other draws."
        )
    if not stands:
        return gap(
            f"{name}, from which it would follow with the constant {constant:.6g}, is "
            f"{known.status}."
        )
    return Companion(
        name=name,
        verdict=known,
        constant=constant,
        held=swept.held,
        sweeps=SAID,
        cases=cases,
        notes=notes,
    )


def drop_from_companion(companion: Claim, dropped: Iterable[Assumption]) -> Claim:
    """Return the companion without the dropped hypotheses of the order."""
    gone = [a.holds for a in dropped]
    kept = [a for a in (*companion.assumes, *companion.unstated) if a.holds not in gone]
    return companion.under(kept) if gone else companion


def extra_assumptions(claim: Claim, companion: Claim) -> tuple[list[str], list[float]]:
    """Return the hypotheses, in words, that a companion assumes and its order does not, and the
    coefficients of the regime at which their number is least."""
    mine = {a.name for a in claim.assumptions if a.condition is not None}
    said = [
        a.condition.says
        for a in companion.assumptions
        if a.condition is not None and a.name not in mine
    ]
    apart = [
        r
        for r in split_relations(companion)
        if r not in split_relations(claim) and not r.free_symbols - mentioned_symbols(claim)
    ]
    unmet = {held: unimplied_relations(claim, apart, held) for held in HELD}
    least = min(map(len, unmet.values()))
    held = [held for held, relations in unmet.items() if len(relations) == least]
    return said + [plain(relation) for relation in unmet[held[0]]], held


def unimplied_relations(
    claim: Claim, relations: Iterable[sympy.Basic], held: float
) -> list[sympy.Basic]:
    """Return the relations among `relations` that do not follow from a claim's own relations, with
    the coefficients of its regime fixed at `held`. A relation is returned where numbers were found
    that satisfy the claim's relations and violate this one, or where the existence of such numbers
    is not excluded."""
    solved, rules = eliminate_symbols(
        split_relations(claim) + regime_equations(claim, held), constrained_symbols(claim), set()
    )
    rules += positive_counts(solved)
    if any(isinstance(rule, sympy.Eq) for rule in rules):
        return list(relations)
    ways = lambda r: (
        (sympy.Le(*r.args, evaluate=False), sympy.Ge(*r.args, evaluate=False))
        if isinstance(r, sympy.Eq)
        else (r,)
    )
    met = lambda goal: (
        sympy.false in rules or refutation.RefutationSearch(goal, rules, solved, 0).find() is None
    )
    return [r for r in relations if not (isinstance(r, FOLLOWED) and all(map(met, ways(r))))]


def split_relations(claim: Claim) -> list[sympy.Basic]:
    """Return a claim's relations with definitions expanded and each conjunction split into its
    parts."""
    relations = [claim.expand(a.relation) for a in claim.assumptions if a.relation is not None]
    return [
        p
        for r in dict.fromkeys(relations)
        for p in (r.args if isinstance(r, sympy.And) else (r,))
        if p is not sympy.true
    ]


def regime_equations(claim: Claim, held: float | None = None) -> list[sympy.Eq]:
    """Return the equations of a claim's regime: each symbol is its shape times a coefficient, which
    is a symbol or, if `held` is given, that number."""
    coefficient = lambda n: (
        sympy.Symbol(f"{COEFFICIENT}{n + 1}", positive=True)
        if held is None
        else sympy.Rational(str(held))
    )
    return [
        sympy.Eq(
            claim.expand(theta.symbol), coefficient(n) * claim.expand(theta.shape), evaluate=False
        )
        for n, theta in enumerate(claim.regime)
    ]


def mentioned_symbols(claim: Claim) -> set[sympy.Symbol]:
    """Return the symbols in a claim's lines, hypotheses and regime."""
    return constrained_symbols(claim).union(
        *(claim.expand(e).free_symbols for left, _, shape in claim.lines for e in (left, shape))
    )


def constrained_symbols(claim: Claim) -> set[sympy.Symbol]:
    """Return the symbols in a claim's own hypotheses and regime."""
    said = [a.relation for a in claim.assumptions if a.relation is not None]
    said += [e for theta in claim.regime for e in theta]
    return set().union(*(claim.expand(e).free_symbols for e in said))


def eliminate_symbols(
    rules: Sequence[sympy.Basic],
    first: Collection[sympy.Symbol],
    last: Collection[str],
    never: Collection[sympy.Symbol] = frozenset(),
) -> tuple[list[tuple[sympy.Symbol, sympy.Expr]], list[sympy.Basic]]:
    """Return ([(symbol, value)], remaining rules) after solving the equations among the rules.
    Symbols in `first` are solved for first, names in `last` last and symbols in `never` not at all;
    an equation in which a symbol's factor may be 0 remains."""
    solved: list[tuple[sympy.Symbol, sympy.Expr]] = []
    equal = [rule for rule in rules if isinstance(rule, sympy.Eq)]
    rules = [rule for rule in rules if not isinstance(rule, sympy.Eq)]
    left: list[sympy.Basic] = []
    for equation in equal:
        equation = equation.xreplace(dict(solved))
        if equation is sympy.true:
            continue
        order = lambda s: (s not in first, bool(s.is_integer), s.name in last, s.name)
        free = sorted(equation.free_symbols - never, key=order)
        found = equations.solve_equation(equation, free, rules)
        if found is None or len(equations.equation_cases((equation,), tuple(free), rules)) > 1:
            left.append(equation)
            continue
        symbol, value, _ = found
        solved = [(s, v.xreplace({symbol: value})) for s, v in solved] + [(symbol, value)]
        rules = [refutation.substitute_value(rule, symbol, value) for rule in rules]
    return solved, [rule for rule in rules if rule is not sympy.true] + left


def positive_counts(solved: Iterable[tuple[sympy.Symbol, sympy.Expr]]) -> list[sympy.Basic]:
    """Return the rules that counts fixed by equations are at least 1. A shape that tends to 0
    therefore cannot be the order of a number of rounds, clients or steps."""
    return [
        rule
        for symbol, value in solved
        if symbol.is_integer and symbol.is_positive
        for rule in [sympy.Ge(value, 1, evaluate=False)]
    ]


class SweepComparison(NamedTuple):
    """The comparison of a companion's bound with the shape of an order."""

    constant: float  # the largest ratio of bound to shape that was found
    held: float  # the coefficients of the regime
    growth: str  # the direction along which the ratio grows without end; "" for none


def sweep_order(
    claim: Claim, at: int, companion: Claim, seed: int, coefficients: Sequence[float] = HELD
) -> SweepComparison | None:
    """Return the result of `_sweep_order`, cached by relations and lines. Readings of a claim that
    differ only in conditions that are not relations share one result."""
    key = (
        claim.lines[at],
        claim.logs,
        claim.regime,
        tuple(split_relations(claim)),
        tuple(split_relations(companion)),
        tuple(companion.lines),
        seed,
        tuple(coefficients),
    )
    if key not in SWEPT:
        if len(SWEPT) > 100:
            SWEPT.clear()
        SWEPT[key] = _sweep_order(claim, at, companion, seed, coefficients)
    return SWEPT[key]


def _sweep_order(
    claim: Claim, at: int, companion: Claim, seed: int, coefficients: Sequence[float]
) -> SweepComparison | None:
    """Return the comparison of a companion's bound with the shape of an order; None where the two
    cannot be compared."""
    left, shape = claim.lines[at][0], divergent_families.whole_shape(claim, at)
    line = next(
        (each for each in companion.lines if companion.expand(each[0]) == claim.expand(left)), None
    )
    rounds = None
    if line is None:
        line, rounds = companion.lines[0], solved_for(claim, at, companion)
        if rounds is None:
            return None
    # The order's own equations are solved first. The companion's equations follow, for symbols that
    # the order does not mention.
    mine = [*split_relations(claim), *regime_equations(claim)]
    solved, rules = eliminate_symbols(
        mine, constrained_symbols(claim), divergent_families.mentioned_names(claim, at)
    )
    theirs = [r.xreplace(dict(solved)) for r in split_relations(companion) if r not in mine]
    more, rules = eliminate_symbols(
        [*rules, *theirs],
        set(),
        divergent_families.mentioned_names(claim, at),
        never=mentioned_symbols(claim),
    )
    solved = [(s, v.xreplace(dict(more))) for s, v in solved] + more
    if any(rule is sympy.false or isinstance(rule, sympy.Eq) for rule in rules):
        return None
    rules += positive_counts(solved)
    goal = sympy.Le(companion.expand(line[2]), claim.expand(shape), evaluate=False)
    hunt = refutation.RefutationSearch(goal, rules, solved, seed)
    shown = divergent_families.mentioned_names(claim, at)
    for held, others in [(c, other) for c in coefficients for other in {1.0: 0, c: 0}]:
        hunt.steps = (1.0, 1.0)
        try:
            found = sweep_shape(hunt, shown, held, others, rounds)
        except Undefined:
            return None
        if found:
            low, high = hunt.steps
            outside = low < 1 / MODERATE or high > MODERATE
            beyond = f"steps from {low:.3g} to {high:.3g} times its regime's" if outside else ""
            return SweepComparison(found[0], held, found[1] or beyond)
    return None


def solved_for(claim: Claim, at: int, companion: Claim) -> tuple[sympy.Symbol, sympy.Symbol] | None:
    """Return (symbol of the rounds, symbol of the error to reach) of a claim on the number of
    rounds that an error needs; None for any other claim."""
    left, _, shape = claim.lines[at]
    measures = {entry.symbol: entry for entry in claim.quantities.values()}
    bound, theirs = companion.expand(companion.lines[0][2]), companion.quantities
    if left not in measures or not measures[left].measure.metric.startswith("rounds_to"):
        return None
    unit = next((e.unit for e in theirs.values() if e.symbol == companion.lines[0][0]), None)
    errors = [
        claim.symbols[n].symbol
        for n in sorted(divergent_families.mentioned_names(claim, at))
        if n in claim.parameters and claim.symbols[n].unit == unit and n not in companion.parameters
    ]
    shown = divergent_families.mentioned_names(claim, at)
    rounds = [
        s for s in sorted(bound.free_symbols, key=str) if s.is_integer and s.name not in shown
    ]
    return (rounds[0], errors[0]) if len(errors) == len(rounds) == 1 else None

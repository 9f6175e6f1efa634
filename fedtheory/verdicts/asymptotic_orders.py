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

import sympy

from fedtheory import discover
from fedtheory.arithmetic import Undefined
from fedtheory.certificates.check_family import COEFFICIENT
from fedtheory.language.printing import plain
from fedtheory.models import fitting
from fedtheory.proofs import equations, refutation
from fedtheory.search import divergent_families
from fedtheory.search.asymptotic_sweeps import SAID, sweep_shape
from fedtheory.search.scaling_moves import MODERATE
from fedtheory.verdicts.verdict import Verdict

# Values at which the regime's coefficients are fixed, tried in turn: at the last, a step size is
# small enough.
HELD = (1.0, 0.1, 0.01)
# DRAWN: sets of drawn points from which the sweeps start. ALIKE: the largest factor between the
# suprema that they find.
DRAWN, ALIKE = 3, 1.25
SWEPT: dict = {}  # results of sweeps
FOLLOWED = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt, sympy.Eq)  # relations that a search can follow


def decide_order(claim, at, budget, seed, check):
    """Return the Verdict on a line that is an order; `check` decides its explicit companion."""
    notes, left = [], claim.lines[at][0]
    shown = divergent_families.mentioned_names(claim, at)
    chosen = [
        s.name
        for s in sorted(claim.expand(left).free_symbols - constrained_symbols(claim), key=str)
        if s.name not in shown and s.name in claim.parameters
    ]
    if chosen:
        notes.append(
            f"Its left side is free: nothing it assumes ties {', '.join(chosen)}, so it is a rule "
            "for choosing"
        )
    verdict = support_by_companion(claim, at, budget, seed, check, notes)
    if verdict.status == "holds" or chosen:
        return verdict
    settings = fitting(claim)
    for setting in settings:
        found = divergent_families.refute_order(
            claim, at, setting, 0.5 * budget / len(settings), seed
        )
        if found:
            document, moves, constants = found
            table = [f"{float(c):.6g}" for c in constants]
            return Verdict(
                claim.id,
                "violated",
                "order",
                describe_family(document, setting, moves, table),
                None,
                verdict.cases,
                1.0,
                dict(moves=moves, growth=table, first=document["members"][0]["values"]),
                document,
                notes=notes,
            )
    verdict.why += (
        " No family of instances was found along which it fails."
        if settings
        else " No setting measures it."
    )
    return verdict


def describe_family(document, setting, moves, table):
    """Return a sentence that says how a family of instances refutes an order."""
    by = ", ".join(f"{name} times {factor}" for name, factor in moves.items())
    if not moves:
        return f"Its shape is 0 where what it measures is not, in {setting.says}."
    if document["members"][0]["left"] == "infinite":
        return (
            f"What it measures has no end in {setting.says}, whatever the constant and however "
            f"small the step: as each step takes {by}, it stays so."
        )
    return (
        f"Left over shape grows without bound in {setting.says} as each step takes {by}: "
        f"{table[0]}, {table[1]}, ..., {table[-1]}."
    )


def support_by_companion(claim, at, budget, seed, check, notes):
    """Return the Verdict that follows from the explicit companion alone: "holds" or "undecided"."""
    open_ = lambda why, cases=0: Verdict(
        claim.id, "undecided", "order", why, cases=cases, notes=notes
    )
    if not claim.explicit:
        return open_("It has no explicit companion.")
    companion = discover.claim(claim.explicit)
    fewer = drop_from_companion(companion, claim.dropped)
    verdict = check(fewer, 0.5 * budget, seed)
    if verdict.status in ("proved", "holds"):
        companion = fewer
    notes.append(f"Companion {companion.id}: {verdict.status}")
    more, held = extra_assumptions(claim, companion)
    if more:
        return open_(
            f"{companion.id}, from which it would follow, assumes what it does not: {'; '.join(more)}.",
            verdict.cases,
        )
    if not divergent_families.mentioned_names(claim, at):
        return open_(
            "Its shape mentions nothing: the constant may depend on everything, and the order says only "
            "that what it measures is finite.",
            verdict.cases,
        )
    reached = sweep_order(claim, at, companion, seed, held)
    if reached is None:
        return open_(
            f"The bound of {companion.id} could not be compared with the shape.", verdict.cases
        )
    constant, held, growth = reached
    if growth:
        notes.append(
            "The printed shape does not follow from the companion: its bound over the shape, "
            f"what is measured being any number, grows along {growth}"
        )
        return open_(f"Its shape does not follow from {companion.id}.", verdict.cases)
    again = [sweep_order(claim, at, companion, seed + more, [held]) for more in range(1, DRAWN)]
    constants = [constant, *(found[0] for found in again if found)]
    if any(found is None or found[2] for found in again) or max(constants) > ALIKE * min(constants):
        return open_(
            f"No constant: the bound of {companion.id} over the shape reaches "
            f"{', '.join(f'{c:.6g}' for c in constants)} as its sweeps start from other draws.",
            verdict.cases,
        )
    constant = max(constants)
    if verdict.status not in ("proved", "holds"):
        return open_(
            f"{companion.id}, from which it would follow with the constant {constant:.6g}, is "
            f"{verdict.status}.",
            verdict.cases,
        )
    said = "is proved" if verdict.status == "proved" else "holds"
    return Verdict(
        claim.id,
        "holds",
        "order",
        f"{companion.id} {said}, and its bound is at most {constant:.6g} "
        f"times the shape along all sweeps, its regime's coefficients held at {held:g}.",
        cases=verdict.cases,
        notes=notes,
        searched="; ".join(
            filter(
                None,
                (
                    f"{companion.id} {said}: {verdict.searched}"
                    if verdict.searched
                    else f"{companion.id} {said}",
                    f"its bound over the shape along {SAID}",
                ),
            )
        ),
    )


def drop_from_companion(companion, dropped):
    """Return the companion without the hypotheses that its order has dropped."""
    gone = [a.holds for a in dropped]
    kept = [a for a in (*companion.assumes, *companion.unstated) if a.holds not in gone]
    return companion.under(kept) if gone else companion


def extra_assumptions(claim, companion):
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


def unimplied_relations(claim, relations, held):
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
        sympy.false in rules or refutation.Hunt(goal, rules, solved, 0).find() is None
    )
    return [r for r in relations if not (isinstance(r, FOLLOWED) and all(map(met, ways(r))))]


def split_relations(claim):
    """Return a claim's relations with definitions expanded and each conjunction split into its
    parts."""
    relations = [claim.expand(a.relation) for a in claim.assumptions if a.relation is not None]
    return [
        p
        for r in dict.fromkeys(relations)
        for p in (r.args if isinstance(r, sympy.And) else (r,))
        if p is not sympy.true
    ]


def regime_equations(claim, held=None):
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


def mentioned_symbols(claim):
    """Return the symbols that a claim's lines, hypotheses or regime mention."""
    return constrained_symbols(claim).union(
        *(claim.expand(e).free_symbols for left, _, shape in claim.lines for e in (left, shape))
    )


def constrained_symbols(claim):
    """Return the symbols that a claim's own hypotheses or regime mention."""
    said = [a.relation for a in claim.assumptions if a.relation is not None]
    said += [e for theta in claim.regime for e in theta]
    return set().union(*(claim.expand(e).free_symbols for e in said))


def eliminate_symbols(rules, first, last, never=frozenset()):
    """Return ([(symbol, value)], remaining rules) after solving the equations among the rules.
    Symbols in `first` are solved for first, names in `last` last and symbols in `never` not at all;
    an equation in which a symbol's factor may be 0 remains."""
    solved, equal = [], [rule for rule in rules if isinstance(rule, sympy.Eq)]
    rules, left = [rule for rule in rules if not isinstance(rule, sympy.Eq)], []
    for equation in equal:
        equation = equation.xreplace(dict(solved))
        if equation is sympy.true:
            continue
        order = lambda s: (s not in first, bool(s.is_integer), s.name in last, s.name)
        free = sorted(equation.free_symbols - never, key=order)
        found = equations.solve(equation, free, rules)
        if found is None or len(equations.cases((equation,), tuple(free), rules)) > 1:
            left.append(equation)
            continue
        symbol, value, _ = found
        solved = [(s, v.xreplace({symbol: value})) for s, v in solved] + [(symbol, value)]
        rules = [refutation.substitute(rule, symbol, value) for rule in rules]
    return solved, [rule for rule in rules if rule is not sympy.true] + left


def positive_counts(solved):
    """Return the rules that counts fixed by equations are at least 1. A shape that tends to 0
    therefore cannot be the order of a number of rounds, clients or steps."""
    return [
        rule
        for symbol, value in solved
        if symbol.is_integer and symbol.is_positive
        for rule in [sympy.Ge(value, 1, evaluate=False)]
    ]


def sweep_order(claim, at, companion, seed, coefficients=HELD):
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


def _sweep_order(claim, at, companion, seed, coefficients):
    """Return (largest ratio found of the companion's bound to the shape, coefficients of the
    regime, the direction along which the ratio grows), or None where the two cannot be compared."""
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
    hunt = refutation.Hunt(goal, rules, solved, seed)
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
            return (
                found[0],
                held,
                found[1] or outside and f"steps from {low:.3g} to {high:.3g} times its regime's",
            )
    return None


def solved_for(claim, at, companion):
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

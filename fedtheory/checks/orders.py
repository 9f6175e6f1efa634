"""Orders: left = O(shape), refuted by families along which left over shape grows, supported by explicit companions.

The constant that O hides may depend on whatever the shape does not mention, and on nothing else. So a family that
refutes moves only what the shape mentions and what equations fix, and a companion supports its order if its bound over
the shape stays below a constant while what the shape mentions goes to its extremes. Such a supremum is searched, never
fitted; it is no proof.
"""

import numpy as np
import sympy

from fedtheory import discover
from fedtheory.checks import families, refutation
from fedtheory.checks.certificate_family import COEFFICIENT
from fedtheory.checks.settings import fitting
from fedtheory.checks.verdict import Verdict
from fedtheory.enclosure import Undefined

FAR, BASE = 10, 4.0      # steps of a sweep, and the factor of each
DRAWS, START, PAIRS, PASSES = 1500, 40, 15, 4    # points drawn, those swept, sweeps of two symbols, and repetitions
RISING = 1.25            # growth at each of the last steps that is taken for growth without bound
HELD = (1.0, 0.1, 0.01)    # what is held fixed, tried in turn: a step size is small enough at the last
HIGHEST = 40.0           # rounds are looked for up to e to this


def decide(claim, at, budget, seed, check):
    """The Verdict on a line that is an order; `check` decides its explicit companion."""
    notes, left = [], claim.lines[at][0]
    shown = families.mentioned(claim, at)
    chosen = [s.name for s in sorted(claim.expand(left).free_symbols - tied(claim), key=str)
              if s.name not in shown and s.name in claim.parameters]
    if chosen:
        notes.append(f"Its left side is free: nothing it assumes ties {', '.join(chosen)}, so it is a rule "
                     "for choosing")
    verdict = supported(claim, at, budget, seed, check, notes)
    if verdict.status == "holds" or chosen:
        return verdict
    settings = fitting(claim)
    for setting in settings:
        found = families.refuted(claim, at, setting, 0.5 * budget / len(settings), seed)
        if found:
            document, moves, constants = found
            table = [f"{float(c):.6g}" for c in constants]
            by = ", ".join(f"{name} times {factor}" for name, factor in moves.items())
            return Verdict(claim.id, "violated", "order", f"Left over shape grows without bound in {setting.says} as "
                           f"each step takes {by}: {table[0]}, {table[1]}, ..., {table[-1]}.", None, verdict.cases, 1.0,
                           dict(moves=moves, growth=table, first=document["members"][0]["values"]), document,
                           notes=notes)
    verdict.why += " No family of instances was found along which it fails." if settings else " No setting measures it."
    return verdict


def supported(claim, at, budget, seed, check, notes):
    """The Verdict from the explicit companion alone: "holds" or "undecided"."""
    open_ = lambda why, cases=0: Verdict(claim.id, "undecided", "order", why, cases=cases, notes=notes)
    if not claim.explicit:
        return open_("It has no explicit companion.")
    companion = discover.claim(claim.explicit)
    verdict = check(companion, budget=0.5 * budget, seed=seed)
    notes.append(f"Companion {companion.id}: {verdict.status}")
    reached = swept(claim, at, companion, seed)
    if reached is None:
        return open_(f"The bound of {companion.id} could not be compared with the shape.", verdict.cases)
    constant, held, growth = reached
    if growth:
        notes.append("The printed shape does not follow from the companion: its bound over the shape, "
                     f"what is measured being any number, grows along {growth}")
        return open_(f"Its shape does not follow from {companion.id}.", verdict.cases)
    if verdict.status not in ("proved", "holds"):
        return open_(f"{companion.id}, from which it would follow with the constant {constant:.6g}, is "
                     f"{verdict.status}.", verdict.cases)
    said = "is proved" if verdict.status == "proved" else "holds"
    return Verdict(claim.id, "holds", "order", f"{companion.id} {said}, and its bound is at most {constant:.6g} "
                   f"times the shape along all sweeps, its regime's coefficients held at {held:g}.",
                   cases=verdict.cases, notes=notes, searched="; ".join(filter(None, (
                       f"{companion.id} {said}: {verdict.searched}" if verdict.searched else f"{companion.id} {said}",
                       f"its bound over the shape along sweeps of {FAR} steps by {BASE:g} of what the shape mentions, "
                       f"alone and in pairs, from {START} of {DRAWS} drawn points, {PASSES} times"))))


def tied(claim):
    """Symbols of which a claim's own hypotheses and regime speak."""
    said = [a.relation for a in claim.assumptions if a.relation is not None]
    said += [e for theta in claim.regime for e in theta]
    return set().union(*(claim.expand(e).free_symbols for e in said))


def eliminated(rules, first, last):
    """([(symbol, its value)], what remains): equations solved, for symbols in `first` if they can be, `last` at best
    never, and coefficients of a regime, which stay as they are, only where nothing else can be."""
    solved, equations = [], [rule for rule in rules if isinstance(rule, sympy.Eq)]
    rules = [rule for rule in rules if not isinstance(rule, sympy.Eq)]
    for equation in equations:
        equation = equation.xreplace(dict(solved))
        gap = equation.lhs - equation.rhs
        order = lambda s: (s not in first, bool(s.is_integer), s.name in last, s.name)
        for symbol in sorted(gap.free_symbols, key=order):
            slope = sympy.expand(gap.diff(symbol))
            if slope != 0 and symbol not in slope.free_symbols:
                value = sympy.expand(-gap.subs(symbol, 0)) / slope
                solved = [(s, v.xreplace({symbol: value})) for s, v in solved] + [(symbol, value)]
                rules = [rule.xreplace({symbol: value}) for rule in rules]
                break
        else:
            if equation != sympy.true:
                return solved, [sympy.false]
    return solved, [rule for rule in rules if rule != sympy.true]


def swept(claim, at, companion, seed):
    """(supremum found of the companion's bound over the shape, the regime's coefficients, what it grows along)."""
    left, _, shape = claim.lines[at]
    line = next((each for each in companion.lines if companion.expand(each[0]) == claim.expand(left)), None)
    rounds = None
    if line is None:
        line, rounds = companion.lines[0], solved_for(claim, at, companion)
        if rounds is None:
            return None
    relations = [each.expand(a.relation) for each in (companion, claim) for a in each.assumptions
                 if a.relation is not None]
    relations = list(dict.fromkeys(relations))
    relations += [sympy.Eq(claim.expand(theta.symbol), sympy.Symbol(f"{COEFFICIENT}{n + 1}", positive=True)
                           * claim.expand(theta.shape), evaluate=False) for n, theta in enumerate(claim.regime)]
    parts = [p for r in relations for p in (r.args if isinstance(r, sympy.And) else (r,))]
    solved, rules = eliminated([p for p in parts if p is not sympy.true], tied(claim), families.mentioned(claim, at))
    if any(rule is sympy.false or isinstance(rule, sympy.Eq) for rule in rules):
        return None
    goal = sympy.Le(companion.expand(line[2]), claim.expand(shape), evaluate=False)
    hunt = refutation.Hunt(goal, rules, solved, seed)
    shown = families.mentioned(claim, at)
    for held, others in [(c, other) for c in HELD for other in {1.0: 0, c: 0}]:
        try:
            found = sweeps(hunt, shown, held, others, rounds)
        except Undefined:
            return None
        if found:
            return found[0], held, found[1]
    return None


def solved_for(claim, at, companion):
    """(symbol of the rounds, of the error to reach) of a claim on how many rounds an error takes; None of any other."""
    left, _, shape = claim.lines[at]
    measures = {entry.symbol: entry for entry in claim.quantities.values()}
    bound, theirs = companion.expand(companion.lines[0][2]), companion.quantities
    if left not in measures or not measures[left].measure.metric.startswith("rounds_to"):
        return None
    unit = next((e.unit for e in theirs.values() if e.symbol == companion.lines[0][0]), None)
    errors = [claim.symbols[n].symbol for n in sorted(families.mentioned(claim, at)) if n in claim.parameters
              and claim.symbols[n].unit == unit and n not in companion.parameters]
    shown = families.mentioned(claim, at)
    rounds = [s for s in sorted(bound.free_symbols, key=str) if s.is_integer and s.name not in shown]
    return (rounds[0], errors[0]) if len(errors) == len(rounds) == 1 else None


def sweeps(hunt, shown, held, others, rounds):
    """(largest ratio of the goal's sides, or of rounds over shape; what it grows along); None: nothing is admitted.

    What the shape mentions goes to its extremes, alone and in pairs, from drawn points, then from where it was largest.
    """
    points = hunt.draw()[:DRAWS]
    for n, symbol in enumerate(hunt.symbols):
        if symbol.name not in shown:
            points[:, n] = 1.0 if symbol.is_integer else held if symbol.name.startswith(COEFFICIENT) else others
        elif not symbol.is_integer and not symbol.is_positive:    # noise and the like: often absent
            points[hunt.rng.random(len(points)) < 0.4, n] = 0.0
    points = points[np.isfinite(ratios(hunt, points, rounds)[0])][:START]
    if not len(points):
        return None
    ways = [(n, way) for n, symbol in enumerate(hunt.symbols) if symbol.name in shown
            for way in ((1,) if symbol.is_integer else (1, -1))]
    pairs = [{a: x, b: y} for i, (a, x) in enumerate(ways) for b, y in ways[i + 1:] if a < b]
    pairs = [pairs[k] for k in hunt.rng.permutation(len(pairs))[:PAIRS if rounds is None else PAIRS // 3]]
    most = []
    for _ in range(PASSES):
        every, rates = [], []
        for moves in [{n: way} for n, way in ways] + pairs:
            here, track = sweep(hunt, points, moves, rounds)
            growth = growing(hunt, points, moves, track)
            if growth:
                return float(np.nanmax(track)), growth
            every.append(here)
            rates.append(np.nan_to_num(track.ravel(), nan=-np.inf, posinf=-np.inf))
        every, rates = np.vstack(every), np.concatenate(rates)
        best = np.argsort(-rates, kind="stable")[:START]
        points, most = every[best[np.isfinite(rates[best])]], [*most, rates[best[0]]]
    return float(most[-1]), "sweeps of sweeps, which find more each time" if most[-1] > RISING * most[-2] else ""


def sweep(hunt, points, moves, rounds):
    """(points, ratios of shape (FAR + 1, number of points)) as some symbols move geometrically."""
    here = np.repeat(points[None], FAR + 1, axis=0)
    for n, way in moves.items():
        here[:, :, n] *= (BASE ** (way * np.arange(FAR + 1)))[:, None]
    here = here.reshape(-1, points.shape[1])
    return here, ratios(hunt, here, rounds)[0].reshape(FAR + 1, len(points))


def growing(hunt, points, moves, track):
    """In words, along which sweep the ratio rises at each of the last steps without slowing down; "" along none."""
    with np.errstate(all="ignore"):
        factors = track[-6:][1:] / track[-6:][:-1]
        grown = np.all(np.isfinite(track[-6:]), axis=0) & np.all(factors > RISING, axis=0) \
            & np.all(factors[1:] >= families.SLOWING * factors[:-1], axis=0)
    if not grown.any():
        return ""
    k, names = int(np.argmax(grown)), [s.name for s in hunt.symbols]
    by = ", ".join(f"{names[n]} times {'4' if way > 0 else '1/4'}" for n, way in moves.items())
    at = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, points[k]))
    return f"{by} at each step from {at}: from {track[0][k]:.4g} at first to {track[-1][k]:.4g} at step {FAR}"


def ratios(hunt, points, rounds):
    """(bound over shape, or rounds beyond the first over shape; points) where the relations hold, NaN elsewhere."""
    if rounds is None:
        left, right, good = sides(hunt, points)
        with np.errstate(all="ignore"):
            return np.where(good & (right > 0), left / right, np.nan), points
    column = [s.name for s in hunt.symbols].index(rounds[0].name)
    error = [s.name for s in hunt.symbols].index(rounds[1].name)
    low, high = np.zeros(len(points)), np.full(len(points), HIGHEST)
    for _ in range(26):    # the bound falls with the rounds
        middle = (low + high) / 2
        trial = points.copy()
        trial[:, column] = np.exp(middle)
        left, _, good = sides(hunt, trial)
        enough = good & (left <= points[:, error])
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    one = points.copy()
    one[:, column] = 1.0
    first, _, good = sides(hunt, one)
    trial[:, column] = np.where(good & (first <= points[:, error]), 1.0, np.ceil(np.exp(high)))
    left, right, good = sides(hunt, trial)
    with np.errstate(all="ignore"):
        return np.where(good & (left <= points[:, error]) & (right > 0), (trial[:, column] - 1) / right, np.nan), trial


def sides(hunt, points):
    """(left, right of the goal, whether the relations hold) at points."""
    values = {s.name: points[:, n] for n, s in enumerate(hunt.symbols)}
    for symbol, value in reversed(hunt.solved):
        values[symbol.name] = hunt.evaluate(value, values)
    spread = lambda e: np.broadcast_to(np.asarray(hunt.evaluate(e, values), dtype=float), len(points))
    left, right = map(spread, hunt.goal.args)
    return left, right, np.isfinite(left) & np.isfinite(right) & (hunt.merit(points) >= -1.0 - 1e-9)

"""Lines of claims that a worst-case program decides: one measure after a number of steps of
gradient descent, or at a point, against a multiple of another measure.

The hypotheses have to fix the number of rounds, and every step size in units of 1/L. A statement
about f with smoothness L is a statement about f/L with smoothness 1, so one program covers every L.
The program also covers every start, since a bound by multipliers is linear in the bound assumed at
the start. Hypotheses that a program cannot express are left out: a line that is proved without them
also holds with them.
"""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeVar

import sympy

from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, STRONGLY_CONVEX, Along
from fedtheory.language.symbol import Measure
from fedtheory.models import methods
from fedtheory.proofs import equations
from fedtheory.proofs.meaning import meanings_of
from fedtheory.symbols.run import TABLE

Point = TypeVar("Point")  # a symbolic point of a worst-case program

# Maps a metric to (its quantity in a program, the number of losses that the objective sums).
METRICS = {
    "loss": ("loss", 1),
    "sq_grad_norm": ("sq_grad_norm", 1),
    "sq_distance": ("sq_distance", 1),
    "mixed_loss": ("loss", 2),
    "sq_mixed_grad_norm": ("sq_grad_norm", 2),
    "sq_mixed_distance": ("sq_distance", 2),
    "gap_x": ("loss", 1),
    "sq_grad_x": ("sq_grad_norm", 1),
}
RELATIVE = ("loss", "mixed_loss")  # metrics that subtract the infimum only if a Measure says so
UNITS = dict(loss=1, sq_grad_norm=2, sq_distance=0)  # powers of L in each quantity of L f
MOST = 8  # rounds, at most: the work of a program grows with the cube of their number
ENDS = ("T", "min_T")  # T: after all rounds. min_T: the least over the rounds.


class Question(NamedTuple):
    """The question to a worst-case program: the largest `measure` where `start` is at most 1, for L
    = 1."""

    measure: str
    start: str
    rounds: int
    step: sympy.Rational  # the step size of gradient descent, in units of 1/L
    low: sympy.Rational  # the least curvature, in units of L; negative for losses not convex
    losses: int  # the number of losses that the objective sums
    minimiser: bool  # whether the objective attains its infimum
    least: bool  # whether the measure is the least over all points, and not at the last point


class MeasuredQuantity(NamedTuple):
    """A measured quantity in a line."""

    symbol: sympy.Symbol
    measure: Measure


class Bound(NamedTuple):
    """A line of the form: measure <= number times start, in units in which L is 1."""

    question: Question
    number: sympy.Rational


class SolvedBound(NamedTuple):
    """The bound of a Question, with the document that proves it, as text."""

    bound: Fraction
    document: str


def parse_question(claim: Claim, at: int) -> Bound | None:
    """Return the Bound that a line says; None for a line of another form."""
    left, sign, right = claim.lines[at]
    if sign not in ("<=", ">="):
        return None
    small, large = map(claim.expand, (left, right) if sign == "<=" else (right, left))
    after, before = one_of(claim, small), one_of(claim, large)
    units = [claim.table[name].symbol for name in claim.table.names_of_constants({"L"})]
    along = [m for _, m in meanings_of(claim, Along) if m.constant == "L" and not m.within]
    words = {meaning.kind for meaning in along}
    if after is None or before is None or len(units) != 1 or not words & {"flatter", "curved"}:
        return None
    known = solve_fixed(claim)
    question = build_question(claim, after, before, words, units[0], known)
    if question is None:
        return None
    factor = sympy.cancel(small.xreplace(known) / after.symbol)
    share = sympy.cancel(large.xreplace(known) / before.symbol / factor)
    if not factor.is_positive or factor.has(after.symbol):
        return None
    power = UNITS[question.start] - UNITS[question.measure]
    number = sympy.cancel(share * units[0] ** power).xreplace(known)
    return Bound(question, number) if number.is_Rational else None


def one_of(claim: Claim, side: sympy.Expr) -> MeasuredQuantity | None:
    """Return the only measured quantity in a side of a line; None unless there is exactly one and a
    program can treat it."""
    measured = [e for e in claim.quantities.values() if e.symbol in side.free_symbols]
    found = [MeasuredQuantity(e.symbol, e.measure) for e in measured if e.measure is not None]
    if len(found) != 1 or found[0].measure.metric not in METRICS:
        return None
    measure = found[0].measure
    absolute = measure.metric in RELATIVE and measure.minus != "inf"
    return None if absolute or measure.average not in ("", "E") else found[0]


def solve_fixed(claim: Claim) -> dict[sympy.Symbol, sympy.Expr]:
    """Return {symbol: value} of the symbols that equations among the hypotheses fix; a value may
    contain L. No equation is divided by a factor that may be 0."""
    known: dict[sympy.Symbol, sympy.Expr] = {}
    relations = [a.relation for a in claim.assumptions if a.relation is not None]
    rules = [claim.expand(r) for r in relations]
    equal = [r for r in rules if isinstance(r, sympy.Eq)]
    names = [claim.table[name].symbol for name in claim.table.names_of_constants({"L"})]
    for _ in equal:
        for equation in equal:
            equation = equation.xreplace(known)
            free = sorted(equation.free_symbols - {*names}, key=str)
            if len(free) == 1 and (found := equations.solve_equation(equation, free, rules)):
                known |= {found.symbol: sympy.cancel(found.value)} if found.surely else {}
    return known


def build_question(
    claim: Claim,
    after: MeasuredQuantity,
    before: MeasuredQuantity,
    words: set[str],
    L: sympy.Symbol,
    known: dict[sympy.Symbol, sympy.Expr],
) -> Question | None:
    """Return the Question of two measures; None where no program covers these measures."""
    (measure, losses), (start, same) = (METRICS[e.measure.metric] for e in (after, before))
    rounds = rounds_of(claim, after.measure.at, before.measure.at, known)
    step = sympy.Integer(1)
    if rounds:
        eta = TABLE["eta"].symbol
        step = sympy.cancel(known.get(eta, eta) * L).xreplace(known)
    minimiser = "sq_distance" in (measure, start)
    point = not rounds and not minimiser  # one point: no lower curvature
    low = sympy.Integer(-1) if point else least_curvature(claim, words, L, known)
    if losses != same or rounds is None or low is None or not (step.is_Rational and step > 0):
        return None
    below = any(a.condition and a.condition.name == "bounded_below" for a in claim.assumptions)
    if not (minimiser or low > 0 or below) or minimiser and low < 0:
        return None
    least = after.measure.at == "min_T"
    return Question(measure, start, rounds, step, low, losses, bool(minimiser or low > 0), least)


def rounds_of(
    claim: Claim, after: str, before: str, known: dict[sympy.Symbol, sympy.Expr]
) -> int | None:
    """Return the number of steps of gradient descent between two places of a run; None where the
    number is open, or a round is anything else."""
    if after == before and after in ("t", "0", "T", "T-1"):
        return 0
    letters = ("S", "N", "T", "eta")
    house = all(n in claim.table and claim.table[n] == TABLE[n] for n in letters)
    if methods(claim) != ("fedsgd",) or not house:
        return None
    S, N, T = (TABLE[name].symbol for name in "SNT")
    held = [a.condition for a in claim.assumptions if a.condition is not None]
    whole = sympy.Eq(S, N) in [a.relation for a in claim.assumptions]
    whole &= not any(each.settles for each in held)  # N draws with replacement may miss clients
    if not (whole and EXACT_GRADIENTS in held):
        return None
    if (after, before) == ("T", "T-1"):
        return 1
    rounds = known.get(T, T) if after in ENDS and before == "0" else None
    return int(rounds) if rounds is not None and rounds.is_Integer and 1 <= rounds <= MOST else None


def least_curvature(
    claim: Claim, words: set[str], L: sympy.Symbol, known: dict[sympy.Symbol, sympy.Expr]
) -> sympy.Rational | None:
    """Return the least curvature that the hypotheses allow for losses of smoothness 1; None means
    any."""
    held = {a.condition.holds for a in claim.assumptions if a.condition is not None}
    if STRONGLY_CONVEX.holds in held and "mu" in claim.table:
        mu = claim.table["mu"].symbol
        ratio = sympy.cancel(known.get(mu, mu) / L).xreplace(known)
        if ratio.is_Rational and 0 < ratio < 1:
            return ratio
    if held & {CONVEX.holds, STRONGLY_CONVEX.holds}:
        return sympy.Integer(0)
    return sympy.Integer(-1) if "curved" in words else None


@lru_cache(maxsize=64)
def solve_question(question: Question) -> SolvedBound | None:
    """Return the bound of a Question with its document; None where no bound is proved."""
    from fedtheory.proofs.worstcase import program

    about = dict(
        weights=dict.fromkeys(range(1, question.losses + 1), 1),
        mu=str(question.low),
        start={question.start: 1},
        measure=question.measure,
        over="least" if question.least else "last",
        minimiser=question.minimiser,
    )
    try:
        method = program.gradient_descent(str(question.step))
        if question.losses > 1:  # several losses: both measures are at the start
            method = stay_at_start
        found = program.worst_case(method, question.rounds, **about)
    except (FedtheoryError, ModuleNotFoundError):  # no bound was proved, or there is no solver
        return None
    return SolvedBound(found.bound, json.dumps(found.certificate))


def stay_at_start(x: Point, gradient: Callable[[Point], Point]) -> Iterator[Point]:
    """Yield the start forever, as a method that only queries its start."""
    while True:
        yield x


def prove_worst_case(claim: Claim, at: int) -> dict | None:
    """Return the document of a worst case that is at most the bound of a line; None where there is
    none."""
    said = parse_question(claim, at)
    best = solve_question(said.question) if said else None
    return json.loads(best.document) if said and best and best.bound <= said.number else None

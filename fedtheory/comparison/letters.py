"""The letters of a paper as numbers of a problem and of a run: constants, counts, hyper-parameters,
moments of participation, and letters that hypotheses determine."""

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import sympy

from fedtheory import arithmetic
from fedtheory.comparison.objectives import Objective
from fedtheory.comparison.setup import work_table
from fedtheory.errors import InvalidInput, refuse
from fedtheory.participation import Participation, moments
from fedtheory.problem import Problem
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.algorithm import Algorithm
    from fedtheory.language.claim import Claim
    from fedtheory.language.symbol import Table
    from fedtheory.runs.planning import Plan

WAYS = 4096  # most joint outcomes of the clients' work that are enumerated
INSIDE = 1e-9  # relative distance from the end of the range that a hypothesis admits


def count_letters(table: "Table", problem: Any, S: Number, rounds: Number) -> dict[str, int]:
    """Return {letter: number} for the letters of a table that count something of the problem or of
    the run."""
    of = dict(rounds=rounds, N=problem.N, S=S, d=problem.d, layers=len(problem.layers))
    return {
        letter: of[what]
        for letter, what in table.run.items()
        if letter in table and what in of and of[what] is not None
    }


def certified_letters(claim: "Claim", problem: Problem, counted: Set[str] = ()) -> dict[str, str]:
    """Return {letter: name of the problem's constant} for the letters that stand for constants in
    the claim's table."""
    theirs = claim.table.constants
    return {
        name: theirs.get(name, name)
        for name in claim.parameters
        if name not in counted and theirs.get(name, name) in problem.constants
    }


def choose_hyper(table: "Table", algorithm: "Algorithm") -> dict[str, str]:
    """Return {letter: hyper-parameter of the method}, except for choices between words. The two
    names are equal unless the table has a letter of its own for the hyper-parameter."""
    own = {what: letter for letter, what in table.run.items()}
    found = {}
    for name, field in algorithm.hyper.items():
        letter = own.get(name, name)
        taken = table.run.get(letter, name) != name
        if not field.choices and letter in table and not taken:
            found[letter] = name
    return found


# ---------------------------------------------------------------- moments of participation


def law_of(pmf: np.ndarray) -> list[list[Fraction | list[int]]]:
    """Return [(probability, steps of each client)] for clients whose numbers of steps are
    independent of each other. `pmf` is (N, E + 1), the probabilities of 0 .. E steps. Raises
    InvalidInput above WAYS joint outcomes."""
    ways = [[(Fraction(float(q)), s) for s, q in enumerate(row) if q > 0] for row in pmf]
    if np.prod([float(len(row)) for row in ways]) > WAYS:
        raise InvalidInput(
            f"the moments of {len(pmf)} clients' work take more than {WAYS} joint outcomes"
        )
    return [[np.prod([q for q, _ in way]), [s for _, s in way]] for way in product(*ways)]


def of_law(
    problem: Any,
    algorithm: "Algorithm",
    participation: Participation,
    E: int,
    wanted: Sequence[str],
) -> dict[str, Fraction]:
    """Return {symbol name: value} of flex's moments, exact in the floats of the problem.

    The law of work gives the moments in LAWS; with p^k the clients' weights (scaled to sum 1),
    Gamma = sum_k p^k Gamma_k and sigma_bar^2 = sum_k (p^k)^2 sigma_k^2. Names that are not
    `wanted`, and methods other than schemes A to C, get nothing.
    """
    scheme = algorithm.name.removeprefix("flex_").upper()
    if not wanted or scheme not in moments.SCHEMES:
        return {}
    pmf = work_table(problem, participation, E)
    pmf = np.eye(E + 1)[[E] * problem.N] if pmf is None else pmf
    p = [Fraction(float(w)) for w in problem.weights[1:]]
    full = sum(p)
    p = [w / full for w in p]
    sigma_sq = [Fraction(float(s)) ** 2 for s in problem.sigma[1:]]
    Gamma = [Fraction(gap) for gap in client_excesses(problem)]
    more = dict(
        Gamma=lambda: sum(a * b for a, b in zip(p, Gamma)),
        sigma_bar_sq=lambda: sum(a * a * b for a, b in zip(p, sigma_sq)),
    )
    laws = [name for name in wanted if name in LAWS]
    found = moments.of_rounds(scheme, p, law_of(pmf), E, Gamma, sigma_sq, laws, 1) if laws else {}
    found.update({name: more[name]() for name in wanted if name in more})
    return found


LAWS = (
    "ps ps_Gamma ps_plus p_plus plus_A p2s_over_p p2s_sigma ratio_min ratio_max ratio_sup E_inv_K "
    "E_s E_inv_s active p_inv p_sigma_inv I_sum"
).split()
PER_ROUND = ("I_sum",)  # letters that are sums over rounds


def client_excesses(problem: Problem) -> list[float]:
    """Return Gamma_k = F_k(w*) - F_k* of each client."""
    star = problem.minimizer()
    found = []
    for k in range(1, problem.N + 1):
        alone = problem.reweighted(np.eye(problem.N)[k - 1])
        low = Objective(alone, 1.0, 0.0).lowest().low
        found.append(max(problem.client_loss(k, star) - low, 0.0))
    return found


# ---------------------------------------------------------------- letters that hypotheses determine


class LetterSolver:
    """The letters that hypotheses fix: by an equation in which no other letter is unknown or, where
    no equation does, by the end of the admitted range (the longest step, the tightest constant).

    Only relations that are linear in the unknown letter are used. `known` grows as letters are
    found, and `by_rounds` collects the letters whose value came through the number of rounds T.
    """

    def __init__(self, claim: "Claim", known: Mapping[str, Number]) -> None:
        self.claim, self.known, self.by_rounds = claim, dict(known), set()
        self.rounds = {letter for letter, what in claim.table.run.items() if what == "rounds"}
        self.relations = [
            claim.expand(a.relation)
            for a in claim.assumptions
            if isinstance(a.relation, sympy.core.relational.Relational)
        ]

    def _open(self, relation: sympy.Rel) -> sympy.Symbol | None:
        """Return the only unknown letter of a relation, None where there are none or several."""
        names = [s for s in relation.free_symbols if s.name not in self.known]
        return names[0] if len(names) == 1 else None

    def _parts(self, relation: sympy.Rel) -> tuple[sympy.Symbol, float, float] | None:
        """Return (letter, slope, rest) where a relation reads slope * letter + rest ? 0, linear in
        its only unknown letter; else None."""
        letter = self._open(relation)
        if letter is None:
            return None
        difference = relation.lhs - relation.rhs
        slope = difference.diff(letter)
        if letter in slope.free_symbols:
            return None
        return letter, self._value(slope), self._value(difference.subs(letter, 0))

    def _value(self, expr: sympy.Expr) -> float:
        """Return an expression of known letters as a float, NaN where the expression has no value."""
        numbers = {
            s.name: arithmetic.exact_number(s.name, self.known[s.name]) for s in expr.free_symbols
        }
        try:
            return float(arithmetic.enclose_value(expr, numbers))
        except arithmetic.Undefined:
            return float("nan")

    def _keep(self, letter: sympy.Symbol, value: float, relations: Sequence[sympy.Rel]) -> bool:
        """Store a letter's value, rounded for a count, and whether T determined it; return False,
        having stored nothing, for a value that is not finite."""
        if not np.isfinite(value):
            return False
        entry = self.claim.table[letter.name]
        self.known[letter.name] = round(value) if entry.domain == "count" else value
        through = {s.name for relation in relations for s in relation.free_symbols}
        if through & (self.rounds | self.by_rounds):
            self.by_rounds.add(letter.name)
        return True

    def by_equation(self, wanted: Sequence[str]) -> bool:
        """Find one of the wanted letters from an equation slope * letter + rest = 0 and store it;
        return whether one was found."""
        for relation in self.relations:
            if isinstance(relation, sympy.Eq):
                parts = self._parts(relation)
                if parts and parts[0].name in wanted and parts[1]:
                    if self._keep(parts[0], -parts[2] / parts[1], [relation]):
                        return True
        return False

    def _ends(self, wanted: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return ({letter: upper ends}, {letter: lower ends}, {letter: relations}) for the letters
        in `wanted`, from relations in which such a letter is the only unknown."""
        highs, lows, through = {}, {}, {}
        for relation in self.relations:
            if not isinstance(relation, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)):
                continue
            parts = self._parts(relation)
            if not parts or parts[0].name not in wanted or not parts[1]:
                continue
            letter, slope, rest = parts
            below = isinstance(relation, (sympy.Le, sympy.Lt)) == (slope > 0)
            (highs if below else lows).setdefault(letter, []).append(-rest / slope)
            through.setdefault(letter, []).append(relation)
        return highs, lows, through

    def allows_value(self, name: str, value: float | None) -> bool:
        """Tell whether the hypotheses in which no other letter is unknown admit this value of a
        letter."""
        highs, lows, _ = self._ends([name])
        ends = lambda found: next(iter(found.values()), [])
        return all(value <= end for end in ends(highs)) and all(value >= end for end in ends(lows))

    def by_ends(self, wanted: Sequence[str]) -> bool:
        """Set one of the wanted letters, the first in the table's order, to the end of its admitted
        range, and return whether one was found. The least upper end is preferred to the greatest
        lower end; the value keeps the relative distance INSIDE from it, so that strict inequalities
        hold."""
        highs, lows, through = self._ends(wanted)
        for letter in sorted(through, key=lambda s: list(self.claim.table).index(s.name)):
            end = (
                min(highs[letter]) * (1 - INSIDE)
                if letter in highs
                else max(lows[letter]) * (1 + INSIDE)
            )
            if self._keep(letter, end, through[letter]):
                return True
        return False


def refuse_missing(claim: "Claim", name: str) -> NoReturn:
    """Raise InvalidInput for a letter that has no value."""
    raise InvalidInput(
        f"{claim.title} needs {name}, {claim.table[name].meaning}; no value was given, and neither the "
        "problem, the run nor a hypothesis determines one"
    )


def constant_over_rounds(claim: "Claim", plan: "Plan") -> tuple[int, Any]:
    """Return how many first rounds move nothing, and the hyper-parameters of the rounds after them.
    Refuse hyper-parameters that change from round to round, unless the claim's table says that they
    do."""
    hyper, rounds = plan.hyper, max(plan.rounds, 1)
    paced = {choose_hyper(claim.table, plan.algorithm).get(letter) for letter in claim.table.paced}
    names = hyper.Hyper._fields
    columns = {
        name: np.asarray(column[:rounds])
        for name, column in zip(names, hyper.columns)
        if np.ndim(column) and name not in paced
    }
    idle = 0
    while columns and idle < rounds - 1 and all(column[idle] == 0 for column in columns.values()):
        idle += 1
    for name, column in columns.items():
        if np.any(column[idle:] != column[idle]):
            refuse(
                name, f"must be constant over rounds for a comparison with {claim.title}", column
            )
    return idle, hyper[idle]

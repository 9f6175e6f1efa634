"""A line of a claim on a problem under one choice of hyper-parameters: every letter has a number,
every hypothesis is checked, and both sides are computed for each number of rounds."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import discover
from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic import arrays
from fedtheory.comparison import letters, user_measures
from fedtheory.comparison.letters import (
    LetterSolver,
    certified_letters,
    choose_hyper,
    count_letters,
    refuse_missing,
)
from fedtheory.comparison.lines import Line, at_start
from fedtheory.comparison.objectives import LOSSES, NEAR, measured_loss
from fedtheory.comparison.run_measures import MeasureInputs, metric_curve, over_rounds, point_curves
from fedtheory.errors import InvalidInput, refuse
from fedtheory.language.conditions import Assumption, Outside
from fedtheory.language.symbol import Entry
from fedtheory.participation import Participation
from fedtheory.problem import Problem
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim
    from fedtheory.runs.planning import Plan

SWEPT = 1e-11  # relative margin: `arrays.sweep` keeps 12 digits
LONGEST = 10**6  # most rounds that are tried where smaller numbers of rounds are too small


def claim_method(claim: "Claim | None", algorithm: Algorithm | None = None) -> Algorithm:
    """Return the record of the method that a claim is about."""
    of = claim.algorithm[0] if isinstance(claim.algorithm, tuple) else claim.algorithm
    return discover.algorithm(of if algorithm is None else algorithm)


class Letters:
    """The numbers of a claim's letters: given values, and values from the problem, the run and the
    start; and the numbers that hypotheses determine, at each number of rounds.

    A letter takes its value from the first source that has it: the problem's certified constants
    and counts, overridden by what is given; functions of a user's table; the law of participation;
    the measured start. `at(T)` adds what depends on the number of rounds: equations among the
    hypotheses, the method's defaults, and the ends of admitted ranges. `known` holds the former;
    nothing in it depends on T.
    """

    def __init__(
        self,
        line: Line,
        problem: Problem,
        S: int,
        participation: Participation,
        algorithm: Algorithm,
        given: Mapping[str, Any],
        x_0: Number,
        idle: int = 0,
    ) -> None:
        self.asked = line, problem, S, participation, algorithm, given, x_0, idle
        self.chosen = {}  # letters that nothing fixes, chosen where the bound is least
        self.line, self.claim, self.problem = line, line.claim, problem
        self.S, self.participation, self.algorithm = S, participation, algorithm
        self.x_0, self.idle = x_0, idle
        table = self.claim.table
        self.rounds = [name for name, what in table.run.items() if what == "rounds"]
        self.hyper = choose_hyper(table, algorithm)
        counted = count_letters(table, problem, S, None)
        constants = certified_letters(self.claim, problem, {*self.hyper, *self.rounds, *counted})
        self.constants = constants
        self.known = {name: float(problem.constants[theirs]) for name, theirs in constants.items()}
        self.known.update(counted)
        self.known.update(given)
        self.known.update(user_measures.user_constants(self.claim, problem, x_0, self.known))
        self._of_law()
        self._of_start()

    def _of_law(self) -> None:
        """Add the moments of participation (flexible participation's table: LAWS, Gamma,
        sigma_bar^2) that the claim names and nothing else gives."""
        named = {*self.claim.quantities, *self.claim.parameters}
        wanted = [
            n for n in (*letters.LAWS, "Gamma", "sigma_bar_sq") if n in named - set(self.known)
        ]
        if wanted and "E" in self.algorithm.hyper:
            E = self.known.get("E", self.algorithm.hyper["E"].default)
            self.known.update(
                letters.of_law(self.problem, self.algorithm, self.participation, int(E), wanted)
            )

    def _of_start(self) -> None:
        """Set `start` to {name: (low, high)} of the quantities measured at the start, where these
        are known."""
        self.start = {}
        for name, entry in self.claim.quantities.items():
            if not at_start(entry):
                continue
            if name in self.known:
                self.start[name] = (self.known[name], self.known[name])
            elif self.x_0 is not None:
                low, high = self.of_start(entry)
                self.start[name] = (low, high)
                self.known[name] = (low + high) / 2

    def of_start(self, entry: Entry) -> tuple[float, ...]:
        """Return (low, high) of a measured quantity at the start: the mean over the trials' starts,
        widened by the relative error NEAR of floats, minus the two ends of the infimum where one is
        subtracted. The ends of a quantity that is nonnegative are clipped to 0."""
        how, problem = entry.measure, self.problem
        gamma = self.gamma
        points = np.reshape(self.x_0, (-1, 1, problem.d))
        if how.metric in LOSSES:
            f = measured_loss(problem, how.metric, float(gamma))
            value = float(np.mean([f.loss(row[0]) for row in points]))
        else:
            value = float(
                np.mean(
                    metric_curve(
                        how, self.measure_inputs(point_curves(problem, points, gamma), points)
                    )
                )
            )
        low, high = value - NEAR * abs(value), value + NEAR * abs(value)
        if how.minus:
            least = measured_loss(problem, how.metric, float(gamma)).lowest()
            low, high = low - least.high, high - least.low
        return (max(low, 0.0), max(high, 0.0)) if entry.domain == "nonnegative" else (low, high)

    def with_letter(self, name: str, value: float) -> "Letters":
        """Return a copy of these letters with one more letter given."""
        line, problem, S, participation, algorithm, given, *rest = self.asked
        more = {**given, name: value}
        return Letters(line, problem, S, participation, algorithm, more, *rest)

    @property
    def gamma(self) -> float:
        """Return the weight of f_0 in the modified loss, 1 where the method has no such weight."""
        field = self.algorithm.hyper.get("gamma")
        return float(self.known.get("gamma", 1.0 if field is None else field.default))

    def values(self, T: int) -> Any:
        """Return {name: number} of the claim's own letters at T rounds, as far as the numbers are
        known."""
        known = self.at(T)[0]
        return {n: v for n, v in known.items() if n in self.claim.symbols}

    def measure_inputs(
        self, curves: dict[str, Any], points: Number, h: Any = None
    ) -> MeasureInputs:
        """Return these letters' problem, method and numbers with curves and points, as the readers
        of derived quantities take them."""
        return MeasureInputs(
            self.problem, self.algorithm.name, h, self.known, curves, points, self.idle
        )

    # Values of letters

    def open(self) -> list[str]:
        """Return the names of the claim's parameters that have no number yet."""
        return [n for n in self.claim.parameters if n not in self.known and n not in self.rounds]

    def at(self, T: int) -> tuple[dict[str, Number], set[str]]:
        """Return the numbers of all letters at T rounds, and the names of the letters that would
        differ at another T.

        Equations are used as long as one of them has a single unknown letter. Then one default is
        taken, if the hypotheses admit it, or one letter is set to the end of its range; then
        equations again.
        """
        more = {name: self.known[name] * T for name in letters.PER_ROUND if name in self.known}
        solver = LetterSolver(self.claim, {**self.known, **more, **dict.fromkeys(self.rounds, T)})
        wanted = self.open()
        while True:
            while solver.by_equation(wanted):
                pass
            left = [n for n in wanted if n not in solver.known]
            usual = [n for n in left if self._default(n) is not None]
            default = next((n for n in usual if solver.allows_value(n, self._default(n))), None)
            if default is not None:
                solver.known[default] = self._default(default)
            elif not solver.by_ends(wanted):
                break
        return solver.known, solver.by_rounds

    def _default(self, letter: str) -> float | None:
        """Return the default of the hyper-parameter that a letter stands for, None where there is
        none."""
        field = self.algorithm.hyper.get(self.hyper.get(letter))
        return None if field is None else field.default

    def over(self, T: np.ndarray | list[int]) -> dict[str, Number]:
        """Return the letters for an array T of numbers of rounds: a number each, or an array over T
        where the letter depends on T."""
        T = np.asarray(T)
        known, by_rounds = self.at(int(T[-1]))
        known.update({name: T.astype(float) for name in self.rounds})
        for name in letters.PER_ROUND:
            if name in self.known:
                known[name] = float(self.known[name]) * T
        if by_rounds:
            rows = [self.at(int(t))[0] for t in T]
            known.update(
                {
                    name: np.array([row.get(name, np.nan) for row in rows], float)
                    for name in by_rounds
                }
            )
        return known


# ---------------------------------------------------------------- hypotheses


def admissible_rows(
    letters_: Letters, T: np.ndarray | Sequence[int], numbers: Mapping[str, Number]
) -> np.ndarray:
    """Return where in T all hypotheses between numbers hold, as a mask (len(T),).

    `numbers` are the letters over T. Raises InvalidInput where there is no such T, or where a
    letter lies outside its domain at the last of them: the sentence names the hypothesis, the
    values that break it, and a number of rounds that would be enough, if one is found.
    """
    claim, T = letters_.claim, np.asarray(T)
    good, full = _good_rounds(claim, T, numbers)
    last = int(np.flatnonzero(good)[-1]) if good.any() else len(T) - 1
    values = {
        n: v[last].item() if n not in numbers or np.ndim(numbers[n]) else numbers[n]
        for n, v in full.items()
        if n in claim.symbols
    }
    values = {
        n: int(v) if claim.table[n].domain == "count" and v == int(v) else v
        for n, v in values.items()
    }
    broken = claim.admits(values)
    if broken and (not good.any() or any(isinstance(each, Outside) for each in broken)):
        names = (
            [broken[0].name] if isinstance(broken[0], Outside) else claim.needs(broken[0].relation)
        )
        raise InvalidInput(
            f"{claim.title} assumes {broken[0]}; this run breaks it at "
            + ", ".join(f"{name}={float(values[name]):g}" for name in names if name in values)
            + _rounds_needed(letters_, int(T[-1])) * bool({*names} & {*letters_.rounds})
        )
    return good


def _good_rounds(
    claim: "Claim", T: np.ndarray, numbers: Mapping[str, Number]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return (where in T all hypotheses between numbers hold, the letters' numbers over T)."""
    good = np.ones(len(T), bool)
    full = {n: np.broadcast_to(np.asarray(v, float), T.shape) for n, v in numbers.items()}
    for assumption in claim.assumptions:
        relation = None if assumption.relation is None else claim.expand(assumption.relation)
        names = [] if relation is None else [s.name for s in relation.free_symbols]
        if relation is not None and all(name in full for name in names):
            good &= np.broadcast_to(
                arrays.holds_at(relation, {name: full[name] for name in names}), T.shape
            )
    return good, full


def round_marks(last: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, ... below the last number of rounds, and the last."""
    found = [m * 10**p for p in range(len(str(last))) for m in (1, 2, 5)]
    return [*(t for t in found if t < last), last]


def _rounds_needed(letters_: Letters, T: int) -> str:
    """Return in words how many rounds would be enough; "" where no such number is found."""
    for t in round_marks(LONGEST):
        if t > T and _good_rounds(letters_.claim, np.array([t]), letters_.over([t]))[0].all():
            return f"; rounds={t} would do"
    return ""


def check_conditions(
    claim: "Claim", problem: Problem, setup: SimpleNamespace, x_0: np.ndarray | None = None
) -> None:
    """Refuse a problem or a run that fails a condition of the claim."""
    for assumption in claim.assumptions:
        condition = assumption.condition
        if condition is None:
            continue
        if condition.holds is None:
            met = user_measures.meets_condition(condition, problem, x_0)
        else:
            met = condition(problem, setup)
        if not met:
            _refuse_unmet(claim, assumption, problem)


def check_certificates(claim: "Claim", problem: Problem) -> None:
    """Refuse a problem without a constant that a condition of the claim needs."""
    for assumption in claim.assumptions:
        condition = assumption.condition
        if condition is None or condition.holds is None:
            continue
        if not set(condition.constants) <= set(problem.constants) and not condition(problem):
            _refuse_unmet(claim, assumption, problem)


def _refuse_unmet(claim: "Claim", assumption: Assumption, problem: Problem) -> None:
    """Raise InvalidInput for a condition that fails, with an example that meets the condition, if
    the condition's record names one."""
    other = assumption.condition.met_by
    raise InvalidInput(
        f"{claim.title} assumes {assumption}; {problem.name} or this run does not meet it"
        + f": {other} does" * bool(other)
    )


def refuse_other_schedule(claim: "Claim", plan: "Plan", letters_: Letters) -> None:
    """Refuse a schedule that differs from the values that a claim prescribes round by round."""
    for letter in claim.table.paced:
        name = letters_.hyper.get(letter)
        if name is None or letter not in claim.parameters:
            continue
        pace = round_values(letters_, letter, plan.rounds)
        if pace is None:
            continue
        column = [getattr(h, name) for h in plan.hyper[: plan.rounds]]
        if not np.allclose(column, pace, rtol=1e-9, atol=0):
            refuse(
                name,
                f"must follow the rate that {claim.title} prescribes, {pace[0]:.6g} in round 0 and "
                f"{pace[-1]:.6g} in round {plan.rounds - 1}",
                np.array(column),
            )


def round_values(letters_: Letters, letter: str, rounds: int) -> np.ndarray | None:
    """Return the values in rounds 0, 1, ... of a letter that stands for the value in one round;
    None where no hypothesis fixes the letter. The letter's round index starts at 1, the array's at
    0."""
    values = []
    for t in range(rounds):
        known, by_rounds = letters_.at(t)
        if letter not in by_rounds:
            return None
        values.append(known[letter])
    return np.array(values)


# ---------------------------------------------------------------- both sides


def read_measures(
    line: Line,
    letters_: Any,
    h: Any,
    numbers: Mapping[str, Any],
    curves: Mapping[str, Any],
    points: Number,
    T: np.ndarray,
    exact: Mapping[str, Any] | None = None,
) -> dict[str, np.ndarray]:
    """Return {name: array (rows, len(T))} of the quantities that a run measures; an infimum is
    subtracted as the float value at its minimiser. The `exact` curves show in which round a least
    expectation is attained."""
    seen, found = letters_.measure_inputs(curves, points, h)._replace(numbers=numbers, T=T), {}
    known = None if exact is None else seen._replace(curves=exact)
    gamma = getattr(h, "gamma", 1.0)
    for name, entry in line.run.items():
        how = entry.measure
        values = metric_curve(how, seen)
        if how.minus:
            values = values - measured_loss(letters_.problem, how.metric, gamma).lowest().high
        guide = None if known is None else metric_curve(how, known)
        found[name] = over_rounds(how.at, values, T, guide)
    return found


def evaluate_over(
    evaluate: Callable[..., Any], named: Mapping[str, Number], shape: Sequence[int]
) -> np.ndarray:
    """Return a side at arrays of numbers, which are flattened for the evaluation."""
    flat = {n: np.broadcast_to(np.asarray(v, float), shape).ravel() for n, v in named.items()}
    return np.broadcast_to(evaluate(flat), (int(np.prod(shape)),)).reshape(shape)


def side_values(
    line: Line, which: str, numbers: Mapping[str, Number], measured: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return a side of the line for each row of measured values, as an array (rows, len(T));
    letters are numbers or arrays over T."""
    claim = line.claim
    expr = line.left if which == "left" else line.right
    names = claim.needs(expr)
    for name in names:
        if name not in numbers and name not in measured:
            refuse_missing(claim, name)
    shape = np.broadcast_shapes(
        (1, 1),
        *(np.shape(measured[n]) for n in names if n in measured),
        *((1, np.size(numbers[n])) for n in names if n not in measured),
    )
    named = {n: measured[n] if n in measured else numbers[n] for n in names}
    evaluate = claim.fast_left if which == "left" else claim.fast
    return evaluate_over(lambda flat: evaluate(flat, line.number), named, shape)


def right_side(
    line: Line,
    letters_: Letters,
    numbers: Mapping[str, Number],
    measured: Mapping[str, np.ndarray],
    T: np.ndarray | Sequence[int],
) -> np.ndarray:
    """Return the right side for each T, rounded to the safe side.

    The quantities measured at the start are enclosed, so the right side is evaluated at every
    corner of their box, moved by the relative error SWEPT of the evaluation; the weakest of these
    bounds counts. The corners are enough where the bound is monotone in each quantity.
    """
    ends = {n: letters_.start[n] for n in line.claim.needs(line.right) if n in letters_.start}
    up = line.sign in ("<=", "<")
    found = []
    for corner in product(*ends.values()):
        at = side_values(line, "right", {**numbers, **dict(zip(ends, corner))}, measured)
        found.append(at[0] + (SWEPT if up else -SWEPT) * np.abs(at[0]))
    weakest = np.max(found, axis=0) if up else np.min(found, axis=0)
    return np.broadcast_to(weakest, np.shape(T)).copy()

"""The function `ft.compare`: compares a claim with runs, and with their exact expectation, on one
problem.

The order is: choose the line (`line_of`) and the letters (`plan_requests`), check every hypothesis,
run, read the measured quantities, evaluate both sides at each T, and move the ends of the left side
by the rounding that the quantities may carry. Everything that can be refused is refused before
anything runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import arguments, discover
from fedtheory.comparison import user_measures
from fedtheory.comparison.case import (
    Letters,
    admissible_rows,
    check_conditions,
    claim_method,
    read_measures,
    refuse_other_schedule,
    right_side,
    side_values,
)
from fedtheory.comparison.letters import constant_over_rounds, refuse_missing
from fedtheory.comparison.lines import Line, line_of
from fedtheory.comparison.objectives import measured_loss
from fedtheory.comparison.requests import check_rounds, letters_of, plan_requests, split_settings
from fedtheory.comparison.result import Comparison, join_comparisons
from fedtheory.comparison.rounding import FAR, FINE, ROOM, Rounding
from fedtheory.comparison.run_measures import over_rounds, required_metrics
from fedtheory.comparison.setup import is_deterministic, setup_of, several_minimisers
from fedtheory.comparison.usual_participation import usual_participation as usual
from fedtheory.errors import NotExact, refuse
from fedtheory.exact.expected import Expected, Metrics, expected
from fedtheory.metrics import ALL
from fedtheory.participation import Participation
from fedtheory.problem import Problem
from fedtheory.runs import plots
from fedtheory.runs.planning import Plan
from fedtheory.runs.running import Run
from fedtheory.runs.running import run as carry_out
from fedtheory.symbols.run import TABLE as HOUSE
from fedtheory.typing import Hyper, Number, Points

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

# The measures of the neutral table that take distances from the nearest minimiser.
NEAREST = {e.measure for e in HOUSE.values() if e.measure and e.measure.metric == "sq_distance"}

TRIALS = 64
# no note on assumed rounding is given where the sides differ by this factor times that rounding
SAFE = 1000.0
TRACED = 100  # most coordinates for which covariances are computed where no minimiser is known


def compare(
    claim: "str | Claim",
    problem: Problem,
    run: Run | None = None,
    *,
    rounds: int | Sequence[int] | np.ndarray | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    x_0: Points | None = None,
    S: int | None = None,
    participation: Participation | None = None,
    line: int | None = None,
    exact: bool = True,
    metrics: Sequence[str] = (),
    progress: Callable[..., Any] | bool | None = None,
    **settings: Hyper,
) -> Comparison:
    """Compare a claim with runs of its method on a problem, and with their exact expectation;
    return the Comparison of both sides for each T.

    `claim` is an id or a record, and `line` the claim's line, needed where several can be compared.
    Either `run` is a Run of the claim's method on this problem; or `rounds`, `trials`, `seed`,
    `x_0`, `S` and `participation` are those of `ft.run`. `metrics` names further quantities that
    the runs record; `exact=False` leaves out the expectations, and `trials=0` the runs. Where
    `rounds` is a sequence, the sides are compared after these numbers of rounds alone; those at
    which a hypothesis fails are left out.

    `settings` are the method's hyper-parameters and any letter of the claim, read through the
    paper's table. A letter without a value takes the first of these values that exists:

    - the value that an equation among the hypotheses gives;
    - the method's default;
    - the end of the range that the hypotheses admit: the longest step, the tightest constant;
    - where one letter is left that nothing limits, the value at which the bound after all rounds is
      least.

    Words among the method's parameters, and the participation, are chosen as the hypotheses require
    where they are not given. Where prescribed steps depend on T, there is a run for each T.
    A measured quantity that is among the settings is not measured: the given value stands for it.

    Raises InvalidInput, in one sentence and before anything runs, where the hypotheses cannot be
    met or a letter has no value.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=2, clients=4, L=1.0, mu=0.5, G=0.5, sigma=0.2)
    >>> found = ft.compare("fsl.theorem2", problem, rounds=20, trials=8, S=2, K=2, K_0=2)
    >>> found.exceeded is None, bool((found.left_exact <= found.right).all())
    (True, True)
    >>> found = ft.compare("fsl.corollary2a_explicit", problem, rounds=[10, 40], trials=0, c_a=0.05)
    >>> found.T.tolist(), float(found.numbers["eta_0"][0] / found.numbers["eta_0"][1])
    ([10, 40], 2.0)
    """
    claim = discover.claim(claim)
    if not isinstance(problem, Problem):
        refuse("problem", "must be a Problem, such as ft.problems.quadratic makes", problem)
    exact = arguments.check_flag("exact", exact)
    line = line_of(claim, line, {*settings} & {*claim.quantities})
    metrics = arguments.check_words("metrics", metrics, ALL)
    if run is not None and not isinstance(run, Run):
        refuse("run", "must be a Run, as ft.run returns it", run)
    T = check_rounds(rounds) if np.ndim(rounds) else None
    if run is not None:
        return _of_run(line, problem, run, settings, exact, progress)
    rounds = arguments.check_integer("rounds", rounds, 1) if T is None else int(T[-1])
    sampled = arguments.check_integer("trials", trials, 0) > 0
    asked = dict(
        trials=max(trials, 1),
        seed=arguments.check_seed(seed, bits=64),
        S=S,
        participation=usual(claim, problem) if participation is None else participation,
    )
    found = [
        _PlannedComparison(*each).carry_out(exact, progress, more=metrics, sampled=sampled)
        for each in plan_requests(line, problem, rounds, x_0, asked, settings, T)
    ]
    return found[0] if len(found) == 1 else join_comparisons(found)


# ---------------------------------------------------------------- one run


class _PlannedComparison:
    """A plan with checked hypotheses, and the computation of its comparison.

    `T` are the numbers of rounds at which all hypotheses hold, `left_out` the others; `numbers` are
    the letters over T, a number or an array each. `idle` counts first rounds in which step sizes
    are 0, which the claim's t does not count.
    """

    def __init__(
        self,
        line: Line,
        problem: Problem,
        plan: Plan,
        x_0: np.ndarray,
        letters: Letters,
        T: np.ndarray | None = None,
    ) -> None:
        self.line, self.problem, self.plan, self.x_0 = line, problem, plan, x_0
        claim = line.claim
        self.idle, self.h = constant_over_rounds(claim, plan)
        self.letters = letters
        refuse_other_schedule(claim, plan, letters)
        check_conditions(claim, problem, setup_of(plan, self.h, self.idle), x_0)
        rounds = plan.rounds - self.idle
        T = np.arange(1, rounds + 1) if T is None else T
        numbers = letters.over(T)
        for name in letters.claim.parameters:
            if name not in numbers:
                refuse_missing(claim, name)
        good = admissible_rows(letters, T, numbers)
        self.left_out = T[~good]
        self.T = T[good]
        self.numbers = {n: v[good] if np.ndim(v) else v for n, v in numbers.items()}
        self.metrics, self.path = required_metrics(line.run.values())
        nearest = NEAREST & {entry.measure for entry in claim.quantities.values()}
        if (nearest or claim.parameters.get("R") == HOUSE["R"]) and several_minimisers(problem):
            refuse(
                "problem",
                "must have exactly one minimiser, because the claim measures the distance to the nearest "
                "minimiser, and runs measure the distance to the minimiser of least norm",
                problem.name,
            )
        # `taken`: metrics whose rounding is assumed, because no bound is known
        self.rounding, self.taken = Rounding(plan), []

    def carry_out(
        self,
        exact: bool = True,
        progress: Callable[..., Any] | None = None,
        run: Any = None,
        more: Sequence[Any] = (),
        sampled: bool = True,
    ) -> Comparison:
        """Return the Comparison, from an exact expectation, from runs, or from both.

        An expectation is computed where all trials share the start and no quantity needs the path
        of points. `run` is an earlier Run to read from; if it lacks a metric or the path, the same
        draws are run again. `more` names metrics to record besides, and without `sampled` no run is
        made. Where nothing is random, one trial is the expectation.
        """
        plan = self.plan
        words = {name: field.choices for name, field in plan.algorithm.hyper.items()}
        hyper = {
            name: words[name][value] if words[name] else value
            for name, value in zip(plan.hyper.Hyper._fields, plan.hyper.columns)
        }
        shared = dict(S=plan.S, participation=plan.participation, **hyper)
        x_0 = self.x_0
        e = (
            self._compute_expectation(shared)
            if exact and np.ndim(x_0) == 1 and not self.path
            else None
        )
        curves = None if e is None else {name: e.metrics[name][None] for name in self.metrics}
        if not sampled:
            return self.build_comparison(
                None, None, curves and self._evaluate_sides(curves, None), e
            )
        if (
            run is None
            and e is None
            and not self.rounding.why
            and self.problem.minimize is not None
        ):
            more = (*more, "sq_distance")  # gives the size of the points, for the bound on rounding
        if run is None or not set(self.metrics) <= set(run.metrics) or self.path and run.x is None:
            # run again with the same numbers, and record the missing metrics or points
            run = carry_out(
                self.problem,
                plan.algorithm,
                rounds=plan.rounds,
                trials=plan.trials,
                seed=plan.seed,
                x_0=x_0,
                metrics=tuple(dict.fromkeys([*self.metrics, *more])),
                progress=progress,
                keep="x" if self.path else "metrics",
                **shared,
            )
        points = None if run.x is None else run.x[:, self.idle :]
        rows = self._evaluate_sides(run.metrics, points, curves)
        there = None if curves is None else self._evaluate_sides(curves, None)
        if exact and self.path and np.ndim(x_0) == 1 and is_deterministic(plan):
            there = {name: each[:1] for name, each in rows.items()}
        return self.build_comparison(run, rows, there, e)

    def _compute_expectation(self, shared: Mapping[str, Any]) -> Expected | None:
        """Return the exact expectation of the measured quantities, None where there is no exact
        form."""
        plan, problem = self.plan, self.problem
        traced = problem.minimize is None and problem.d <= TRACED and not is_deterministic(plan)
        try:
            e = expected(
                problem,
                plan.algorithm,
                rounds=plan.rounds,
                x_0=self.x_0,
                covariance=traced,
                **shared,
            )
            return e if all(e.metrics[name] is not None for name in self.metrics) else None
        except NotExact:
            return None

    def _evaluate_sides(
        self,
        curves: Mapping[str, np.ndarray],
        points: np.ndarray | None,
        exact: Mapping[str, np.ndarray] | None = None,
    ) -> dict[str, np.ndarray]:
        """Return {name: array (rows, len(T))} of the line's measured quantities: a row for each
        trial, or one row for expectations. `points` is (trials, rounds + 1, d) or None, and `exact`
        holds the expectation's curves, if known."""
        kept = lambda curves: {name: values[:, self.idle :] for name, values in curves.items()}
        exact = None if exact is None else kept(exact)
        rest, mine = self.line.split_user_quantities()
        found = read_measures(
            rest, self.letters, self.h, self.numbers, kept(curves), points, self.T, exact
        )
        return {**found, **self._evaluate_users(mine, points)}

    def _evaluate_users(self, mine: Mapping[str, Any], points: Number) -> dict[str, Any]:
        """Return the values that a user's own functions compute from a run."""
        if not mine:
            return {}
        rounds = None if self.idle else user_measures.rounds_of(self.plan, self.h, self.x_0)
        if rounds is not None:
            rounds, end = rounds
            near = np.abs(end - points[0, -1]).max() <= user_measures.ALIKE * (
                1 + np.abs(points[0]).max()
            )
            rounds = rounds if near else None
        words = self.h._asdict()
        letters = lambda n: {
            **words,
            **{name: v[n] if np.ndim(v) else v for name, v in self.numbers.items()},
        }
        return {
            name: user_measures.read_along(entry, self.problem, points, letters, self.T, rounds)
            for name, entry in mine.items()
        }

    def build_comparison(
        self, run: Any, rows: Mapping[str, np.ndarray], there: Any, e: Expected | None = None
    ) -> Comparison:
        """Return the Comparison of both sides over T.

        `rows` are the quantities measured in each trial and `there` their exact expectations;
        either may be None. The left side is evaluated at the means of the quantities for `left`,
        and in each trial for the band. The exact side decides where it is known, and bounds on
        rounding apply to the side that decides.
        """
        line, T, numbers, judged = self.line, self.T, self.numbers, there
        of = lambda values: np.broadcast_to(values, T.shape).copy()
        left = low = high = size = least = most = np.full(T.shape, np.nan)
        if run is not None:
            means = {name: values.mean(axis=0, keepdims=True) for name, values in rows.items()}
            judged = means if there is None else there
            left = side_values(line, "left", numbers, means)[0]
            low, high = np.quantile(side_values(line, "left", numbers, rows), plots.BAND, axis=0)
        right = right_side(line, self.letters, numbers, judged or {}, T)
        if judged is not None:
            size, (least, most) = self._size(judged), self._ends(run, judged, e)
        with np.errstate(invalid="ignore"):
            far = np.minimum(np.abs(least - right), np.abs(most - right)) > SAFE * (most - least)
        return Comparison(
            line.claim,
            line.number,
            self.problem,
            self.plan.algorithm,
            () if run is None else (run,),
            numbers,
            T,
            of(left),
            of(low),
            of(high),
            None if there is None else of(side_values(line, "left", numbers, there)[0]),
            right,
            size,
            least,
            most,
            self._list_notes(run, not far.all()),
        )

    def _size(self, measured: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the size of the terms that the left side adds up, for each T: |left side| plus,
        where several quantities are measured, the absolute contribution of each. Rounding is
        relative to this size and not to the left side, whose terms may cancel."""
        line = self.line
        total = np.abs(side_values(line, "left", self.numbers, measured)[0])
        entries = line.on(line.left)
        if len(entries) > 1:
            for name in entries:
                zero = {other: values * (other == name) for other, values in measured.items()}
                nothing = {other: values * 0 for other, values in measured.items()}
                alone = side_values(line, "left", self.numbers, zero) - side_values(
                    line, "left", self.numbers, nothing
                )
                total = total + np.abs(alone[0])
        return np.broadcast_to(total, self.T.shape).copy()

    def _ends(
        self, run: Any, measured: Mapping[str, np.ndarray], e: Expected | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest left side within the rounding of the measured
        quantities; rounding of quantities on the right side counts against the left side. Both
        sides are assumed to be monotone in each quantity."""
        sides = {which: self._side(which, measured) for which in ("left", "right")}
        least, most = sides["left"].copy(), sides["left"].copy()
        for name, ends in self._rounding_range(run, measured, e).items():
            hidden = np.isfinite(measured[name][0]) & ~np.isfinite(sum(ends))
            ends = [np.where(hidden, measured[name], end) for end in ends]
            for which, sign in (("left", 1), ("right", -1)):
                if name in self.line.on(getattr(self.line, which)):
                    moved = [self._side(which, {**measured, name: end}) for end in ends]
                    with np.errstate(invalid="ignore"):
                        moved = [sign * (each - sides[which]) for each in moved]
                    least = least + np.fmin(np.fmin(*moved), 0.0)
                    most = most + np.fmax(np.fmax(*moved), 0.0)
            least, most = (
                np.where(hidden[0], far, side) for far, side in ((-np.inf, least), (np.inf, most))
            )
        return least, most

    def _side(self, which: str, measured: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return one side of the line ("left" or "right") over T, at one row of measured
        quantities."""
        found = side_values(self.line, which, self.numbers, measured)[0]
        return np.broadcast_to(found, self.T.shape)

    def _rounding_range(
        self, run: Any, measured: Mapping[str, np.ndarray], e: Expected | None
    ) -> dict[str, Any]:
        """Return {name: (low, high)} of the measured quantities for each T, within rounding."""
        curves, found = run.metrics if e is None else e.metrics, {}
        sizes, traces = self._sizes(run, e)
        for name, entry in self.line.run.items():
            if entry.domain == "nonnegative":
                how = entry.measure
                margins = self._rounding_margins(how, curves, sizes, traces)
                found[name] = (
                    self._nearly_range(how, measured[name], sizes)
                    if margins is None
                    else self._follow_errors(how, curves, *margins)
                )
        return found

    def _rounding_margins(
        self,
        how: Any,
        curves: Metrics | Mapping[str, np.ndarray],
        sizes: np.ndarray,
        traces: Number,
    ) -> tuple[np.ndarray, ...] | None:
        """Return (root, flat) of `Rounding.margins` for a measured quantity, None where the
        quantity is not read from a recorded metric or no bound is known."""
        if how.metric not in self.metrics or how.metric not in curves:
            return None
        return self.rounding.margins(how.metric, sizes, traces, self._infimum_ends(how))

    def _infimum_ends(self, how: Any) -> Any:
        """Return the ends of the infimum that is subtracted from a measured quantity, None where no
        infimum is subtracted."""
        if not how.minus:
            return None
        return measured_loss(self.problem, how.metric, self.letters.gamma).lowest()

    def _follow_errors(
        self,
        how: Any,
        curves: Metrics | Mapping[str, np.ndarray],
        root: np.ndarray,
        flat: np.ndarray,
    ) -> list[np.ndarray]:
        """Return [low, high] of a measured quantity over T, as far as the method's rule for the
        growth of errors gives bounds."""
        lowest = self._infimum_ends(how)
        infimum = 0.0 if lowest is None else lowest.high
        values = np.reshape(curves[how.metric], (-1, len(root))).mean(axis=0) - infimum
        ends = self.rounding.ends(values, root, flat, infimum)
        return [over_rounds(how.at, end[None, self.idle :], self.T) for end in ends]

    def _nearly_range(
        self, how: Any, values: np.ndarray, sizes: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return (low, high) of a measured quantity for a method without a rule for the growth of
        errors, as if errors were a share of the largest value."""
        self.taken.append(how.metric)
        largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
        farthest = sizes.max() if how.metric == "sq_distance" else 0.0
        return self.rounding.ends(values, ROOM * np.sqrt(largest) + FINE * farthest, 0.0)

    def _sizes(self, run: Any, e: Expected | None) -> tuple[np.ndarray, Any]:
        """Return (upper bounds of the norms of the points x_0 .. x_T, traces of their covariances
        or None)."""
        count = self.plan.rounds + 1
        if e is not None:
            sizes, certainly = np.linalg.norm(e.mean, axis=1), is_deterministic(self.plan)
            if certainly:
                return sizes, np.zeros(count)
            if e.covariance is not None:
                return sizes, np.trace(e.covariance, axis1=1, axis2=2)
            known = self.problem.minimize is not None and "sq_distance" in e.metrics
            return sizes, e.metrics["sq_distance"] if known else np.full(count, np.inf)
        if run.x is not None:
            return np.linalg.norm(run.x, axis=2).max(axis=0), None
        if "sq_distance" in run.metrics:
            star = np.linalg.norm(self.problem.minimizer())
            return star + np.sqrt(run.metrics["sq_distance"].max(axis=0)), None
        farthest = max(float(np.linalg.norm(x, axis=-1).max()) for x in (run.start, run.final))
        return np.full(count, FAR * farthest), None

    def _list_notes(self, run: Any, near: bool) -> tuple[str, ...]:
        """Return the sentences that stand below a comparison: letters that were chosen, numbers of
        rounds at which a hypothesis fails, assumed rounding (if `near`: the sides are too close for
        it not to matter), trials that left the ball in which a constant holds, and constants that
        were measured instead of proved."""
        notes = [
            f"{name} = {value:g}, which nothing fixes, makes the bound after all rounds least"
            for name, value in self.letters.chosen.items()
        ]
        if len(self.left_out):
            notes.append(
                f"its hypotheses hold at {len(self.T)} of {len(self.T) + len(self.left_out)} numbers "
                f"of rounds, from T = {self.T[0]} to {self.T[-1]}"
            )
        if self.taken and near:
            why = self.rounding.why or "how rounding moves " + ", ".join(dict.fromkeys(self.taken))
            why += "" if self.rounding.why else " is not known"
            notes.append(f"{why}: it is taken for {ROOM:g} of the root of the largest value")
        used = set(self.letters.constants.values())
        notes += [
            f"{constant} holds within {self.problem.constants[constant].radius:g} of the minimiser, "
            f"and {int((~inside).sum())} of {run.trials} trials left that ball"
            for constant, inside in (() if run is None else (run.inside or {}).items())
            if constant in used
        ]
        seen = [name for name in self.problem.measured if name in used]
        if seen:
            notes.append(
                f"{', '.join(seen)} {'was' if len(seen) == 1 else 'were'} measured at points of a run "
                "and may be larger elsewhere: a bound that is exceeded says nothing of the claim"
            )
        return tuple(notes)


def _of_run(
    line: Line,
    problem: Problem,
    run: Any,
    settings: Mapping[str, Any],
    exact: bool,
    progress: Callable[..., Any] | None,
) -> Comparison:
    """Return the Comparison of an earlier run. Refuses a run on another problem or of another
    method, hyper-parameters in `settings`, and a run of 0 rounds."""
    claim = line.claim
    if run.problem is not problem:
        refuse("run", "must be a run on the problem that is given", run.problem.name)
    wanted = claim_method(claim)
    if run.algorithm.name != wanted.name:
        refuse(
            "run",
            f"must be a run of {wanted.name}, of which {claim.title} speaks",
            run.algorithm.name,
        )
    plan = run.settings._replace(rounds=run.rounds)
    hyper, rest = split_settings(claim, plan.algorithm, settings)
    for name in hyper:
        refuse(
            "compare",
            "takes no hyper-parameters together with run=, because the run has hyper-parameters",
            name,
        )
    if not run.rounds:
        refuse("run", "must have at least one round", run.rounds)
    idle, h = constant_over_rounds(claim, plan)
    x_0 = run.start
    letters = letters_of(
        line,
        problem,
        plan.S,
        plan.participation,
        plan.algorithm,
        h._asdict(),
        rest,
        _single_start(x_0),
        idle,
    )
    return _PlannedComparison(line, problem, plan, _single_start(x_0), letters).carry_out(
        exact, progress, run
    )


def _single_start(x_0: Number) -> Number:
    """Return the common start as one point where all trials share it; else the start unchanged."""
    return x_0[0] if np.ndim(x_0) == 2 and np.all(x_0 == x_0[0]) else x_0

"""A check of a claim on one problem by sampled runs, for losses and methods of which no exact
values are known.

The left side must be a nonnegative multiple of one measured expectation, and the right side a
number. Draws come from `ft.run` in blocks, each with a seed of its own. A betting e-process refutes
the claim, so the draws may be inspected at any time; fresh seeds then confirm the refutation. For a
minimum over rounds, the expectation of each round has to exceed the bound, so the smallest of the
rounds' e-processes counts.
"""

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fedtheory import arguments, arithmetic, discover, metrics
from fedtheory.algorithm import Algorithm
from fedtheory.comparison.case import Letters, check_conditions
from fedtheory.comparison.letters import choose_hyper
from fedtheory.comparison.lines import Line, at_start, of_law
from fedtheory.comparison.objectives import measured_loss
from fedtheory.comparison.rounding import Rounding
from fedtheory.comparison.run_measures import at_end
from fedtheory.comparison.setup import setup_of
from fedtheory.errors import InvalidInput, refuse
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.language.symbol import Entry
from fedtheory.participation import Participation
from fedtheory.problem import Problem
from fedtheory.runs.planning import plan_of, start_of
from fedtheory.runs.running import run
from fedtheory.typing import Assignment, Hyper, Number, Points
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.confidence_sequences import against_at_most, lower_mean
from fedtheory.verdicts.evidence import Draws, Gap
from fedtheory.verdicts.verdict import Verdict

BLOCK = 64  # trials with one seed
JUDGED = (
    "T",
    "min",
    "min_T",
    "mean",
    "mean_T",
    "1",
)  # the places at which a Measure may be taken: expectations at the end of a run


def seed_of(seed: Number, look: Any, block: bytes) -> Any:
    """Return a separate seed for each block of each look at the draws."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{look}/{block}".encode()).digest()[:7], "big")


def judged_entry(claim: Claim, start: Any) -> Entry:
    """Return the Entry of the one expectation that a claim's first line bounds. Quantities known at
    the start, and of the participation law, are no expectations."""
    known = {name for name, entry in claim.quantities.items() if of_law(entry)}
    known |= (
        {name for name, entry in claim.quantities.items() if at_start(entry)}
        if start is None
        else set(start)
    )
    left, sign, _ = claim.lines[0]
    measured = [entry for name, entry in claim.quantities.items() if name not in known]
    if sign not in ("<=", "<") or len(measured) != 1 or measured[0].symbol not in left.free_symbols:
        raise InvalidInput(
            f"{claim.title} must bound one measured expectation from above; give what is known at the "
            "start by start={...}"
        )
    how = measured[0].measure
    if how.metric not in metrics.ALL or how.at not in JUDGED or how.average not in ("E", ""):
        raise InvalidInput(f"{measured[0].name} is not read off the rounds of a run")
    return measured[0]


def settings_by_letter(
    claim: Claim, algorithm: Algorithm, hyper: Mapping[str, float]
) -> dict[str, float]:
    """Return the numeric hyper-parameters by the claim's letters."""
    return {
        letter: hyper[name]
        for letter, name in choose_hyper(claim.table, algorithm).items()
        if isinstance(hyper.get(name), (int, float))
    }


def check_on(
    claim: Claim | str,
    problem: Problem,
    *,
    rounds: int,
    draws: int = 4096,
    seed: int = 0,
    alpha: float = 1e-3,
    start: Mapping[str, float | Fraction] | None = None,
    x_0: Points | None = None,
    S: int | None = None,
    infimum: float | Fraction | None = None,
    **hyper: Hyper,
) -> Verdict:
    """Return the Verdict on a claim's first line for one problem and one choice of
    hyper-parameters, from at most `draws` runs per look at the draws.

    `rounds` is T, `S` the number of sampled clients (all N if not given), `x_0` the start of the
    runs, `alpha` the largest probability with which a true line may be called violated, and `seed`
    fixes all draws. `hyper` are the method's hyper-parameters by name. `start` gives values of
    quantities measured at the start (such as D_0), exactly or rounded to the safe side. `infimum`
    is the infimum that the claim subtracts. Values that are not given are derived from the problem
    where possible.

    The Verdict has the kind "sampled". "violated" needs two looks with separate seeds that both
    refute at alpha / 2, also from the lower ends of the values under rounding; "holds" says that
    the first look did not refute. "undecided" has its reason: a run that left the finite numbers or
    the ball of a constant, a gap that rounding can explain, or fresh draws that do not confirm the
    first.

    Raises InvalidInput for fewer than 64 draws, an alpha outside (0, 1), a problem whose constants
    were measured, a claim that bounds no single expectation from above, and a run that does not
    meet the claim's hypotheses.

    >>> import fedtheory as ft
    >>> zeros = [[0.0], [0.0], [0.0]]
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=zeros, sigma=0.1, sigma_0=0.1)
    >>> steps = dict(eta_l=0.1, eta_g=1.0, eta_0=0.1, gamma=1.0)
    >>> setting = dict(rounds=2, x_0=[1.0], S=2, K=1, K_0=1, **steps)
    >>> start = dict(tilde_D_0=0.5)    # x_0^2 / 2, and the least is 0
    >>> v = ft.check_on("fsl.theorem2", problem, draws=128, start=start, **setting)
    >>> v.kind, v.status
    ('sampled', 'holds')
    """
    begun = time.perf_counter()
    rounds, draws = (
        arguments.check_integer("rounds", rounds, 1),
        arguments.check_integer("draws", draws, BLOCK),
    )
    alpha = arguments.check_real("alpha", alpha, open_low=True)
    if not alpha < 1:
        refuse("alpha", "must lie in (0, 1)", alpha)
    if infimum is not None:
        infimum = arguments.check_real("infimum", infimum, low=-arguments.LARGEST)
    question = Question(discover.claim(claim), problem, rounds, start, x_0, S, infimum, hyper)
    found = Sample(question, arguments.check_seed(seed)).examine(draws, alpha)
    verdict = conclude(question.claim.id, found)
    return replace(verdict, seconds=time.perf_counter() - begun)


class Question:
    """A claim's first line for one problem and one choice of hyper-parameters: the expectation of
    the measured quantity, minus `shift`, is at most `bound`.

    The claim is read in the letters of its method, and the hypotheses are checked on the plan of
    the run before any draw. `balls` names constants that are known on a ball only: draws that leave
    the ball say nothing.
    """

    def __init__(
        self,
        claim: Claim,
        problem: Problem,
        rounds: int,
        start: Any,
        x_0: np.ndarray,
        S: int | None,
        infimum: Any,
        hyper: Mapping[str, float],
    ) -> None:
        if not isinstance(problem, Problem):
            refuse("problem", "must be a Problem, such as ft.problems.quadratic makes", problem)
        if problem.measured:
            rule = "must have constants that hold, for a verdict, not such as were measured"
            refuse("problem", rule, ", ".join(problem.measured))
        if start is not None and not isinstance(start, Mapping):
            refuse("start", "must be a mapping of what is measured at the start to numbers", start)
        if not claim.lines:
            refuse("claim", "must have lines", claim.id)
        self.claim, self.problem, self.rounds, self.hyper = claim, problem, rounds, hyper
        self.algorithm, self.entry = discover.algorithm(claim.algorithm), judged_entry(claim, start)
        self.x_0, self.S = x_0, problem.N if S is None else S
        letters, values = self._letters(start)
        self.lowest = None
        if self.how.minus and infimum is None:
            self.lowest = measured_loss(problem, self.how.metric, letters.gamma).lowest()
            infimum = self.lowest.high
        self.shift = 0.0 if infimum is None else float(infimum)
        self._meets_hypotheses()
        self.bound = self._compute_bound(letters, values)
        self.balls = set(letters.constants.values())  # constants that may hold on a ball only

    how = property(lambda self: self.entry.measure)

    def _letters(self, start: Any) -> Any:
        """Return (letters of the claim's line, their values) for this run; refuse a run outside
        the hypotheses."""
        participation = Participation()
        participation.check(self.problem.N, self.S)
        letters = Letters(
            Line(self.claim, 0),
            self.problem,
            self.S,
            participation,
            self.algorithm,
            {**settings_by_letter(self.claim, self.algorithm, self.hyper), **(start or {})},
            None if start is not None else start_of(self.problem, self.x_0, 1)[0],
        )
        values = letters.values(self.rounds)
        for broken in self.claim.admits(values):
            raise InvalidInput(f"{self.claim.title} assumes {broken}; this run does not meet it")
        return letters, values

    def _meets_hypotheses(self) -> None:
        """Plan the run, and refuse a problem or plan that does not meet the claim's conditions."""
        self.plan = plan_of(
            self.problem,
            self.algorithm,
            rounds=self.rounds,
            trials=1,
            seed=0,
            S=self.S,
            participation=Participation(),
            keep="metrics",
            names=(),
            given=self.hyper,
        )
        check_conditions(self.claim, self.problem, setup_of(self.plan, self.plan.hyper[0]))

    def _compute_bound(self, letters: Any, values: Assignment) -> float:
        """Return an upper end of the right side under rounding, divided by the factor of the
        measured quantity.

        The left side is slope * E[quantity] with a slope of the problem's numbers. The slope is
        enclosed from below, and of the corners of the enclosed start values the weakest right side
        counts.
        """
        claim, entry = self.claim, self.entry
        slope = claim.expand(claim.lines[0][0]).diff(entry.symbol)
        exact = {name: arithmetic.exact_number(name, value) for name, value in values.items()}
        factor = arithmetic.enclose_value(slope, exact, up=False)
        if entry.symbol in slope.free_symbols or not factor > 0:
            raise InvalidInput(
                f"the left side of {claim.title} is no positive multiple of {entry.name} here"
            )
        weakest = max(
            claim.evaluate({**values, **dict(zip(letters.start, corner))})
            for corner in product(*letters.start.values())
        )
        return float(np.nextafter(weakest / float(factor), np.inf))


class Sample:
    """The draws for a question, one look at a time, and the resulting verdict."""

    def __init__(self, question: Any, seed: int) -> None:
        self.question, self.seed = question, seed
        self.taken, self.sizes = 0, np.zeros(question.rounds + 1)  # runs so far, largest norms
        self.rounding = Rounding(question.plan)
        self.method = getattr(question.claim.algorithm, "name", question.claim.algorithm)

    def rows(self, look: Any, first: Any, count: Number) -> Any:
        """Return the judged values of runs first .. first + count - 1 of a look, a row per run, NaN
        for runs that leave the ball of a constant."""
        q, found = self.question, []
        for block in range(first // BLOCK, -(-(first + count) // BLOCK)):
            r = run(
                q.problem,
                q.claim.algorithm,
                rounds=q.rounds,
                trials=BLOCK,
                seed=seed_of(self.seed, look, block),
                x_0=q.x_0,
                S=q.S,
                metrics=(q.how.metric,),
                keep="x",
                **q.hyper,
            )
            self.sizes = np.maximum(self.sizes, np.linalg.norm(r.x, axis=2).max(axis=0))
            stayed = np.all([r.inside[c] for c in q.balls & set(r.inside or ())], axis=0)
            values = at_end(q.how.at, r.metrics[q.how.metric] - q.shift, q.rounds)
            found.append(np.where(np.reshape(stayed, (-1, 1)), values, np.nan))
        return np.concatenate(found)[first % BLOCK :][:count]

    def look_again(self, look: Any, draws: Number, needed: Mapping[Assumption, Any]) -> Any:
        """Return (rows, evidence) of a look, which ends when the evidence exceeds `needed`; the
        evidence is None where a row is not finite or negative.

        The first block has BLOCK runs, and each further block doubles the number of runs, up to
        `draws`. An e-process may be inspected after each block without a correction.
        """
        seen, evidence, count = None, -math.inf, BLOCK
        while evidence <= needed and (seen is None or len(seen) < draws):
            more = self.rows(look, 0 if seen is None else len(seen), count)
            seen = more if seen is None else np.concatenate([seen, more])
            count = min(len(seen), draws - len(seen))
            if not np.isfinite(seen).all() or (seen < -1e-12).any():
                evidence = None
                break
            evidence = self.evidence(np.maximum(seen, 0))
        self.taken += len(seen)
        return seen, evidence

    def evidence(self, rows: Sequence[Any]) -> Any:
        """Return the log evidence against the bound in every round: the smallest over rounds,
        infinite where the bound is negative.

        A minimum over rounds exceeds the bound only if the expectation of every round does, hence
        the smallest of the rounds' e-processes, each at its largest value so far.
        """
        bound = self.question.bound
        if bound < 0:  # the judged quantity is never negative
            return math.inf
        return min(against_at_most(column, bound).max() for column in rows.T)

    def ends(self, rows: Sequence[dict[str, Any]]) -> Any:
        """Return (lower, upper) ends of the judged values of each run in exact arithmetic."""
        q = self.question
        margins = self.rounding.margins(q.how.metric, self.sizes, lowest=q.lowest)
        if margins is None:
            return np.zeros_like(rows), np.full_like(rows, np.inf)
        # For a mean over rounds, the largest margin of a round is a margin.
        mean = q.how.at.startswith("mean")
        root, flat = (
            each.max(keepdims=True)[None] if mean else at_end(q.how.at, each[None], q.rounds)
            for each in margins
        )
        return self.rounding.ends(rows, root, flat, q.shift)

    def hidden_by_rounding(
        self, rows: Sequence[dict[str, Any]], needed: Mapping[Assumption, int]
    ) -> Any:
        """Tell whether the draws would refute the line if rounding had lowered the values as much
        as it can. The result is False where rounds amplify errors, because rounding is then not
        known closely enough."""
        if self.rounding.why or self.rounding.round(0).rho > 1:
            return False
        most = self.ends(rows)[1]
        return bool(np.isfinite(most).all()) and self.evidence(most) > needed

    def examine(self, draws: int, alpha: float) -> Draws | Gap:
        """Return the evidence of a first look and, where it refutes the line, of a second look with
        fresh seeds.

        Both looks have to refute the claim. A claim that only the first look refutes stays open:
        the confident result of the first look contradicts a search that found nothing.
        """
        needed, bound, refuted = math.log(2 / alpha), self.question.bound, list[bool]()
        for look in (0, 1):
            seen, evidence = self.look_again(look, draws, needed)
            if evidence is None:
                return self.gap(
                    "A run left the finite numbers, or the ball on which a constant is known: it "
                    "says nothing."
                )
            if evidence > needed and self.evidence(self.ends(seen)[0]) <= needed:
                return self.gap(
                    f"Its left side lies above its right side {bound:.6g}, by no "
                    f"more than the rounding of {self.question.rounds} rounds in floats may make of it."
                )
            if look == 0:
                best = min(lower_mean(np.maximum(column, 0), alpha / 2) for column in seen.T)
            refuted.append(evidence > needed)
            if not refuted[-1]:
                break
        if refuted == [False] and self.hidden_by_rounding(seen, needed):
            return self.gap(
                f"Its right side {bound:.6g} is below what rounding of {self.question.rounds} rounds in "
                "floats may hide of its left side."
            )
        if refuted == [True, False]:
            return self.gap(
                f"Its left side seems to lie above its right side {bound:.6g}, with confidence "
                f"{1 - alpha / 2:g}, but {draws} fresh draws do not confirm it."
            )
        q = self.question
        return Draws(
            refuted=refuted == [True, True],
            bound=bound,
            least=float(best),
            alpha=alpha,
            witness=dict(
                problem=q.problem.name,
                algorithm=str(self.method),
                rounds=q.rounds,
                seed=self.seed,
                S=q.S,
                **q.hyper,
            ),
            cases=self.taken,
            searched=self.describe_runs(),
        )

    def gap(self, says: str) -> Gap:
        """Return the reason why the draws decide nothing."""
        searched = self.describe_runs()
        return Gap(says=says, kind="sampled", cases=self.taken, searched=searched)

    def describe_runs(self) -> str:
        """Return the number of runs, the method, the problem and the rounds in words."""
        q = self.question
        return f"{self.taken} runs of {self.method} on {q.problem.name}, {q.rounds} rounds each"

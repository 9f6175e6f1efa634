"""The moments of a run: round maps are probed once for all equal rounds, then mean and covariance
are propagated through the maps.

A stretch of rounds with the same hyper-parameters, law of participation and objective has one map.
Which solver follows it depends on the map: the required entries alone (needed_second_moments.py),
blocks of client memories (client_state_moments.py), or all states (moments.py). All three give the
same moments up to rounding.
"""

import dis
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory import jit
from fedtheory.algorithm import Algorithm
from fedtheory.errors import NotExact
from fedtheory.exact import needed_second_moments
from fedtheory.exact.affine_maps import Map, assemble_map
from fedtheory.exact.batched_rounds import WORDS, Batch, Round
from fedtheory.exact.client_state_moments import follow_memories
from fedtheory.exact.moments import Series, follow_rounds
from fedtheory.exact.participation_law import law_of
from fedtheory.exact.round_map_models import model_of
from fedtheory.exact.round_probe import Prober
from fedtheory.problem import Problem
from fedtheory.problems import quadratics
from fedtheory.runs.execution import blas_alone
from fedtheory.runs.planning import Plan
from fedtheory.typing import Number


def round_objective(plan: Plan, problem: Problem, t: int) -> Problem:
    """Return the objective of round t, defined as in `run`: reweighted to the clients that are
    present."""
    there = plan.participation.members(t, problem.N)[1:]
    return problem if there.all() else problem.reweighted(problem.weights[1:] * there)


def constant_stretches(plan: Plan) -> list[tuple[int, int]]:
    """Return (first round, end) of the stretches of rounds in which neither the clients nor the
    objective change."""
    shifts = [t for t in plan.participation.shifts if t < max(plan.rounds, 1)]
    return list(zip(shifts, [*shifts[1:], plan.rounds]))


def round_of(plan: Plan, batch: Batch, t: int) -> Round:
    """Return the Round t of a plan: hyper-parameters, weights in the aggregation, law of cohort and
    work."""
    h, algorithm = plan.hyper[t], plan.algorithm
    law = law_of(
        plan.participation, t, plan.problem.N, plan.S, algorithm.number(algorithm.steps, h)
    )
    shares = plan.participation.shares(batch.machine.trained.weights, t, 1)[0]
    return Round(t, h, shares, algorithm.number(algorithm.server_steps, h), law)


def batch_for(
    plan: Plan, problem: Problem, x_0: np.ndarray, t: int, most: int, wanted: int = 0
) -> Batch:
    """Build a batch on the objective of round t, of at most `most` states, or as many as memory
    should hold."""
    h = plan.hyper[t]
    layers = np.array([layer.start for layer in problem.layers] + [problem.d], dtype=np.int64)
    size = sum(np.size(a) for a in plan.algorithm.init(x_0, problem.N, layers, h))
    size = int(np.clip(WORDS // size, 1, most))
    return Batch(round_objective(plan, problem, t), plan.algorithm, x_0, plan.S, h, size, wanted)


def eigenbasis_twin(problem: Problem) -> tuple[Problem, Any]:
    """Return a quadratic with one dense Hessian expressed in its eigenbasis, and the basis; for any
    other problem, the problem and None."""
    data = problem.data
    if not isinstance(data, quadratics.Dense) or len(data.A) > 1:
        return problem, None
    eigenvalues, turn = np.linalg.eigh(data.A[0])
    seen = quadratics.Diagonal(
        eigenvalues[None].copy(), data.b @ turn, eigenvalues, data.x_star @ turn, data.F_star
    )
    return replace(problem, data=seen, kernels=quadratics.DIAGONAL, start=None), turn


def is_decoupled(problem: Problem) -> bool:
    """Tell whether no client's gradient mixes coordinates."""
    x = np.random.default_rng(3).standard_normal(problem.d)
    for i in range(0 if problem.has_server else 1, problem.N + 1):
        level, slope = (
            problem.client_grad(i, np.zeros(problem.d)),
            problem.client_grad(i, np.ones(problem.d)),
        )
        slope -= level
        scale = np.abs(slope).max() + np.abs(level).max()
        if np.abs(problem.client_grad(i, x) - level - slope * x).max() > 1e-10 * scale:
            return False
    return True


def affine_rounding(problem: Problem, x: np.ndarray) -> float:
    """Return the deviation of the affine gradients from affinity, relative to the change of the
    gradients. Any deviation found is rounding."""
    centre = problem.minimizer() if problem.minimize is not None else x
    v, found = np.random.default_rng(5).standard_normal(problem.d), 0.0
    for i in range(0 if problem.has_server else 1, problem.N + 1):
        there, here, back = (problem.client_grad(i, centre + s * v) for s in (1.0, 0.0, -1.0))
        found = max(
            found, np.abs(there + back - 2 * here).max() / max(np.abs(there - back).max(), 1e-300)
        )
    return found


def uses_time(algorithm: Algorithm) -> bool:
    """Tell whether `begin`, the only kernel that takes the round's number, reads that number."""
    code = getattr(jit.python(algorithm.begin), "__code__", None)
    return code is None or any(
        step.argval == code.co_varnames[1] for step in dis.get_instructions(code)
    )


class FollowedMoments:
    """The mean and covariance of the state; if `apart`, in a basis in which coordinates decouple
    where there is such a basis."""

    def __init__(self, plan: Plan, x_0: np.ndarray, covariance: bool, apart: bool) -> None:
        if not plan.problem.affine:
            raise NotExact(f"{plan.problem.name} has gradients that are not affine")
        if plan.problem.noise == "minibatch":
            raise NotExact("the variance of minibatch noise depends on the point")
        self.plan = plan
        self.problem, self.turn = eigenbasis_twin(plan.problem) if apart else (plan.problem, None)
        # Cohorts correlate even coordinates that no gradient mixes, so a covariance needs all
        # coordinates together.
        self.coupled = (
            covariance or not apart or self.turn is None and not is_decoupled(self.problem)
        )
        self.given_x_0, self.x_0 = x_0, x_0 if self.turn is None else x_0 @ self.turn
        # One round from a deterministic point needs no map of states: the covariance comes from the
        # draws alone.
        self.linear = plan.rounds > 1
        self.centre = (
            self.problem.minimizer() if self.linear and self.problem.minimize is not None else None
        )
        if self.linear and self.centre is None:
            self.centre = self.x_0
        self.by_time = uses_time(plan.algorithm)
        self.known, self.fields, self.kept = {}, None, []

    def carry(self, first: int, end: int) -> None:
        """Propagate the moments through rounds first .. end - 1, on one objective."""
        # the cores are used by clients
        with blas_alone(self.coupled and self.plan.algorithm.memory):
            self._carry_rounds(first, end)

    def _carry_rounds(self, first: int, end: int) -> None:
        plan = self.plan
        self.known.clear()
        self.batch = batch_for(plan, self.problem, self.x_0, first, 512)
        self.given = (
            self.batch
            if self.turn is None
            else batch_for(plan, plan.problem, self.given_x_0, first, 4)
        )
        if self.fields is None:
            self._start()
        t = first
        while t < end:
            key = self._key(t)
            if key not in self.known:
                self.known[key] = self._probe(round_of(plan, self.batch, t))
            map, after = self.known[key]
            same = all(np.array_equal(a, b) for a, b in zip(after, self._constants()))
            stop = t + 1
            while same and stop < end and self._key(stop) == key:
                stop += 1
            self.kept.append(self._along_map(map, stop - t, stop == plan.rounds))
            for n, value in zip(self.others, after):
                self.fields[n] = value
            t = stop

    def _along_map(self, map: Any, rounds: Number, last: bool) -> Any:
        """Return (means, covariances) of the server point after each of `rounds` rounds of one map,
        and advance the moments.

        In the `last` stretch the state's moments are not needed afterwards, so the cheapest solver
        may drop them. Solvers are tried from the most special to the most general; each returns
        None where the map lacks its form.
        """
        if last and self.x_count == 1 and len(self.memories):
            weights = self.batch.machine.trained.weights[1:]
            found = needed_second_moments.follow_pairs(
                map, rounds, self.m, self.C, self.x_at, self.memories, self.shared, weights
            )
            if found is not None:
                means, variances = found
                return means[:, :, None], variances[:, :, None, None]
        if self.coupled and len(self.memories):
            own = np.stack([self.folded(rows) for rows in self.memories.T])
            found = follow_memories(map, rounds, self.m, self.C, self.x_at, self.x_count, own, last)
            if found is not None:
                return found
        return follow_rounds(map, rounds, self.m, self.C, self.x_at, self.x_count)

    def _start(self) -> None:
        """Set up the state at x_0: find which stacks of points a round reads (in the first round or
        in the last), and store their mean m (D, M) and covariance C (D, M, M) = 0."""
        plan = self.plan
        self.fields = list(self.batch.first)
        ends = [round_of(plan, self.batch, t) for t in {0, max(plan.rounds - 1, 0)}]
        probers = [
            Prober(self.batch, round, self.fields, self.centre, self.coupled) for round in ends
        ]
        self.blocks = sorted({n for prober in probers for n in prober.blocks})
        forgotten = {n for prober in probers for n in prober.forgotten} - set(self.blocks)
        self.which = self.blocks, sorted(forgotten)
        self.others = [n for n in range(len(self.fields)) if n not in self.blocks]
        self.points = probers[0].points
        prober = Prober(
            self.batch, ends[0], self.fields, self.centre, self.coupled, which=self.which
        )
        self.m = np.ascontiguousarray(prober.fold_state((prober.start - prober.centre)[None])[0])
        self.C = np.zeros((*self.m.shape, prober.M))
        self.memories, self.shared, self.folded = (
            prober.own[1:].T,
            prober.shared,
            prober.folded_indices,
        )
        self.D, self.M, self.origin = prober.D, prober.M, prober.centre[prober.x_row]
        self.x_at, self.x_count = (
            (prober.x_row * prober.d, prober.d) if self.coupled else (prober.x_row, 1)
        )
        x = (self.m[:, self.x_at : self.x_at + self.x_count]).copy()
        self.kept.append((x[None], np.zeros((1, len(self.m), self.x_count, self.x_count))))

    def _constants(self) -> list[np.ndarray]:
        """Return the values of the fields whose moments are not followed."""
        return [self.fields[n] for n in self.others]

    def _key(self, t: int) -> tuple[Any, ...]:
        """Return what identifies the map of round t. Rounds with equal keys have equal maps."""
        round = round_of(self.plan, self.batch, t)
        return (
            round.h,
            round.shares.tobytes(),
            round.law.pmf.tobytes(),
            t if self.by_time else 0,
            *(value.tobytes() for value in self._constants()),
        )

    def _probe(self, round: Round) -> tuple[Map, list[np.ndarray]]:
        """Find the map of a round, and the values after the round of the fields whose moments are
        not followed."""
        prober = Prober(self.batch, round, self.fields, self.centre, self.coupled, which=self.which)
        given = prober
        if self.turn is not None:
            fields = [f @ self.turn.T if n in self.points else f for n, f in enumerate(self.fields)]
            given = Prober(
                self.given, round, fields, self.centre, self.coupled, self.turn, self.which
            )
        with np.errstate(all="ignore"):  # at distant points, a map that is not affine may overflow
            try:
                map = assemble_map(model_of(prober, given, self.linear).parts(), prober)
            except NotExact:
                lost = affine_rounding(self.plan.problem, self.given_x_0)
                if lost < 1e-10:
                    raise
                raise NotExact(
                    f"rounding leaves its gradients a relative error of {lost:.0e}: they are differences of far "
                    "larger numbers, as where curvatures are far apart"
                ) from None
        return map, [prober.next[n] for n in self.others]

    def series(self) -> Series:
        """Return the Series of x_0 .. x_T, with means in absolute coordinates."""
        means = np.concatenate([means for means, _ in self.kept])
        covariances = np.concatenate([covariances for _, covariances in self.kept])
        means = (means[:, 0] if self.coupled else means[:, :, 0]) + self.origin
        return Series(
            means, covariances[:, 0] if self.coupled else covariances[:, :, 0, 0], self.coupled
        )

    def objectives(self) -> list[tuple[Problem, int, int]]:
        """Return (objective, first, end) over rounds 0 .. T as `run` records them: after round t,
        the objective of round t."""
        found = [
            (round_objective(self.plan, self.problem, first), first + 1, end + 1)
            for first, end in constant_stretches(self.plan)
        ]
        return [(found[0][0], 0, found[0][2]), *found[1:]]

    def mean(self, series: Series) -> np.ndarray:
        """Return E x_t in the problem's own basis, (T + 1, d)."""
        return series.means if self.turn is None else series.means @ self.turn.T

    def covariance(self, series: Series) -> np.ndarray:
        """Return Cov x_t in the problem's own basis, (T + 1, d, d)."""
        return (
            series.covariances
            if self.turn is None
            else self.turn @ series.covariances @ self.turn.T
        )

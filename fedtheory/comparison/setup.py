"""The conditions' view of a run: who takes part, how many steps each client does, and by which
options of a method's listing."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.arithmetic import float_above
from fedtheory.problem import FLAT, Problem

if TYPE_CHECKING:
    from fedtheory.participation import Participation
    from fedtheory.runs.planning import Plan


def work_table(problem: Problem, participation: "Participation", steps: int) -> np.ndarray | None:
    """Return an array (N, steps + 1) of probabilities of each client's number of steps, None where
    every client does all steps."""
    return None if participation.work is None else participation.work.table(problem.N, steps)


def setup_of(plan: "Plan", h: Any, idle: int = 0) -> SimpleNamespace:
    """Return the setup for `Condition.holds`, for the rounds of a plan at hyper-parameters h, after
    `idle` rounds that move nothing."""
    problem, participation = plan.problem, plan.participation
    pmf = work_table(problem, participation, plan.algorithm.number(plan.algorithm.steps, h))
    moves = bool(participation.arrivals or participation.departures)
    some = lambda column: bool(np.any(pmf[:, column] > 0))
    word = lambda name: plan.algorithm.hyper[name].choices[getattr(h, name)]
    named = plan.algorithm.hyper
    whole = participation.cohort != "with" and plan.S == problem.N
    found = SimpleNamespace(
        cohort="full" if whole else participation.cohort,
        partial=moves or pmf is not None and bool(np.any(pmf[:, :-1] > 0)),
        static=not moves,
        work_independent=True,
        devices_independent=True,
        homogeneous=pmf is None or bool(np.all(pmf == pmf[0])),
        some_complete=pmf is None or bool(np.any(pmf[:, -1] == 1)),
        all_active=not moves and (pmf is None or not some(0)),
        sgd=all(word(name) == "sgd" for name in named if name.endswith("_opt")),
        warm=bool(idle) and has_warm_start(plan, h),
    )
    if "phi" in named:
        found.phi = word("phi")
        found.plain_moments = is_steady(problem, h) and (
            (h.beta_1 == 0 or word("momentum") == "kept")
            and (
                word("bias_correction") == "none"
                or h.beta_1 == 0
                and word("bias_correction") == "m"
            )
        )
        found.layers_apart = layers_apart(problem)
    return found


def several_minimisers(problem: Problem) -> bool:
    """Tell whether a quadratic problem is known to have more than one minimiser."""
    if problem.minimize is None or not hasattr(problem.data, "A"):
        return False
    A, p = problem.data.A, problem.weights[1:]
    if A.ndim == 1:  # one curvature per coordinate, shared by all clients
        mean = A
    else:
        mean = A[0] if len(A) == 1 else np.tensordot(p, A[1:], 1)
    found = mean if mean.ndim == 1 else np.linalg.eigvalsh(mean)
    return bool(found.min() <= FLAT * abs(found).max())


def is_noiseless(problem: Problem) -> bool:
    """Tell whether gradients carry no noise."""
    return problem.noise == "none" or problem.noise != "minibatch" and not np.any(problem.sigma)


def is_deterministic(plan: "Plan") -> bool:
    """Tell whether nothing in a run is random, so that every trial equals the expectation."""
    law = plan.participation
    whole = plan.S == plan.problem.N and law.cohort != "with"
    return is_noiseless(plan.problem) and whole and law.work is None


def has_warm_start(plan: "Plan", h: Any) -> bool:
    """Tell whether a first round that moves nothing gives the gradients of both losses at x^(0):
    the gradients carry no noise, and every client that F counts takes part with the same weight."""
    p = plan.problem.weights[1:]
    return (
        is_noiseless(plan.problem)
        and plan.algorithm.hyper["transfer"].choices[h.transfer] == "gradients"
        and plan.S == plan.problem.N
        and bool(np.all(p == p[0]))
    )


def is_steady(problem: Problem, h: Any) -> bool:
    """Tell whether second moments stay at their start: surely and everywhere, no gradient's
    coordinate exceeds the root of the start. The square root's additive term is then the same
    factor for all coordinates, and cancels in the step of a layer, whose length is set separately.
    """
    M = problem.constants.get("M")
    return M is not None and M.scope == "global" and float_above(float(M) * float(M)) <= h.epsilon


def layers_apart(problem: Any, tries: int = 4) -> bool:
    """Tell whether the gradient of each layer depends on that layer alone, at drawn points."""
    generator = np.random.default_rng(1)
    for layer in problem.layers if len(problem.layers) > 1 else ():
        own = slice(layer.start, layer.stop)
        for _ in range(tries):
            x, y = generator.standard_normal((2, problem.d))
            y[own] = x[own]
            for i in range(1, problem.N + 1):
                one, other = problem.client_grad(i, x)[own], problem.client_grad(i, y)[own]
                if np.abs(one - other).max() > 1e-9 * (np.abs(one).max() + 1e-300):
                    return False
    return True

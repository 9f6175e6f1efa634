"""The checks that turn a user's request into a plan, before anything runs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, discover, metrics
from fedtheory.algorithm import Algorithm, Schedule
from fedtheory.errors import InvalidInput, refuse
from fedtheory.participation import Participation
from fedtheory.problem import Problem, no_test, no_value
from fedtheory.typing import Number


class Plan(NamedTuple):
    """A checked request: everything that determines the result, except x_0.

    `wanted` holds the flags of `fedtheory.metrics` that tell the engine what to measure.
    `first_round` and `first_trial` shift the keys of the draws: pre-training and blocks of trials
    use them.
    """

    problem: Problem
    algorithm: Algorithm
    hyper: Schedule
    rounds: int
    trials: int
    seed: int
    S: int
    participation: Participation
    keep: str
    names: tuple[Any, ...]
    wanted: int
    every: int = 1
    first_round: int = 0
    first_trial: int = 0


def plan_of(
    problem: Problem,
    algorithm: str | Algorithm,
    *,
    rounds: int,
    trials: int,
    seed: int,
    S: Number,
    participation: Participation | None,
    keep: str,
    names: Sequence[str] | None,
    given: Mapping[str, Any],
    every: int = 1,
) -> Plan:
    """Return the Plan of a request, whose arguments are those of `ft.run`; raise InvalidInput where
    an argument breaks a rule.

    `names` are the metrics to record (None for the default ones) and `given` the hyper-parameters.
    Besides each argument alone, the combination is checked: the cohort against the method's memory,
    methods that hear from every client against S, and the size of the result against this machine.
    """
    if not isinstance(problem, Problem):
        refuse("problem", "must be a Problem, such as ft.problems.quadratic makes", problem)
    algorithm = discover.algorithm(algorithm)
    rounds, trials = (
        arguments.check_integer("rounds", rounds),
        arguments.check_integer("trials", trials, 1),
    )
    seed, every = arguments.check_seed(seed, bits=64), arguments.check_integer("every", every, 1)
    if not isinstance(keep, str) or keep not in ("metrics", "x"):
        refuse("keep", "must be 'metrics' or 'x'", keep)
    names, wanted = _check_metrics(names, problem)
    arguments.check_fits(
        "rounds and trials", trials, rounds + 1, 2 * len(names) + (keep == "x") * problem.d + 1
    )
    arguments.check_fits("trials", trials, problem.d)
    participation = Participation() if participation is None else participation
    if not isinstance(participation, Participation):
        refuse(
            "participation",
            "must be a Participation (fedtheory.participation), or None",
            participation,
        )
    S = problem.N if S is None else S
    participation.check(problem.N, S)
    if participation.cohort == "with" and algorithm.memory:
        raise InvalidInput(
            f"cohort must be 'without' or 'full' for {algorithm.name}, whose clients keep state that a "
            "second visit would update twice; got 'with'"
        )
    if algorithm.everyone and (S != problem.N or participation.cohort == "with"):
        raise InvalidInput(
            f"{algorithm.name} ({algorithm.cites}) hears from every client in every round, so S must be "
            f"{problem.N} without replacement; got S={S}, cohort {participation.cohort!r}"
        )
    hyper = algorithm.resolve(given, max(rounds, 1))
    if algorithm.check is not None:
        algorithm.check(hyper[0], problem.N, S)
    return Plan(
        problem,
        algorithm,
        hyper,
        rounds,
        trials,
        seed,
        S,
        participation,
        keep,
        names,
        wanted,
        every,
    )


def _check_metrics(names: Sequence[str] | None, problem: Problem) -> tuple[tuple[str, ...], int]:
    """Return the checked metric names and the flags that tell the engine what to measure."""
    names = (
        metrics.DEFAULT if names is None else arguments.check_words("metrics", names, metrics.ALL)
    )
    flags = 0
    for name in names:
        for column in metrics.ALL[name].needs:
            flags |= metrics.GROUP[column]
    if any(constant.scope == "ball" for constant in problem.constants.values()):
        flags |= metrics.DISTANCE  # to find whether the run stayed inside the ball
    if not problem.has_server:
        flags &= ~(metrics.SERVER | metrics.SEEN)
    if problem.minimize is None:
        flags &= ~metrics.DISTANCE
    if problem.kernels.value is no_value and flags & metrics.OBJECTIVE:
        flags |= metrics.SLOPE
    if problem.kernels.test is no_test:
        flags &= ~metrics.TEST
    return names, flags


def start_of(
    problem: Problem, x_0: np.ndarray | Sequence[float | list[float]] | None, trials: int
) -> np.ndarray:
    """Return the starts of all trials, an array (trials, d): x_0 itself, one point for all, the
    problem's own start, or zeros. Raises InvalidInput where x_0 has another shape or is not finite.
    """
    if x_0 is None:
        x_0 = np.zeros(problem.d) if problem.start is None else problem.start
    x_0 = arguments.check_array("x_0", x_0)
    if x_0.shape not in ((problem.d,), (trials, problem.d)) or not np.all(np.isfinite(x_0)):
        refuse(
            "x_0",
            f"must be finite of shape ({problem.d},) or ({trials}, {problem.d})",
            x_0.shape if np.all(np.isfinite(x_0)) else x_0,
        )
    return np.ascontiguousarray(np.broadcast_to(x_0, (trials, problem.d)))

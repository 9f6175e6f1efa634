"""Flex, theorem 3.1 and corollary 3.2.1: phase diagrams over multiples of the learning rate and
over rounds.

Both prescribe the rate of every round, so that they speak of one column, that of once the rate; beside
it one sees how much their bounds leave to other rates. Who works is random and multiplies points: a
round of some rate is unstable where the mean of the squared factor exceeds 1 in some direction.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.figures import _phase, theory_flex
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.problem import Problem

POINTS = dict(smoke=(9, 8), quick=(41, 40), paper=(81, 80))  # multiples of the rate, rounds
ROUNDS = dict(smoke=1000, quick=20_000, paper=20_000)
MULTIPLES = 32.0
IDS = {"flex.theorem3_1": "rounds", theory_flex.AFTER: "rounds since the arrival"}
STATEMENTS = {"flex.theorem3_1": "theorem 3.1", theory_flex.AFTER: "corollary 3.2.1"}


prescribed = cache(theory_flex.statement_values)


def values(id: str, times: float, T: int) -> dict[str, Number]:
    found = prescribed(id, int(T))
    return dict(found, eta=found["eta"] * float(times))


def plane(id: str, scale: str) -> _phase.Plane:
    across, rounds = POINTS[scale]
    after = id == theory_flex.AFTER
    of = theory_flex.arc_problem(theory_flex.N + after)
    title, scheme, rows = theory_flex.PANELS[id]
    ways = theory_flex.round_outcomes(of, scheme, rows[: theory_flex.N + after])
    etas = theory_flex.learning_rates(id, ROUNDS[scale] + 1)[theory_flex.ARRIVAL if after else 0 :]
    times = np.geomspace(1 / MULTIPLES, MULTIPLES, across)
    times[across // 2] = 1.0  # no rounding: here the hypotheses hold
    return _phase.Plane(
        claim=id,
        title=f"{STATEMENTS[id]}: {title}",
        labels=("times the rate", rf"{IDS[id]} $\tau$"),
        x=times,
        y=np.unique(np.round(np.geomspace(1, ROUNDS[scale], rounds)).astype(int)),
        values=lambda times, T: values(id, times, T),
        truth=lambda times, Ts: theory_flex.exact_distance(id, int(Ts[-1]), times)[Ts],
        trivial=lambda times, Ts: (theory_flex.largest_gradient() / theory_flex.MU) ** 2,
        radius=lambda times, T: stretch(of, ways, times * etas[int(T)]),
    )


def stretch(of: "Problem", ways: Sequence[np.ndarray], eta: float) -> float:
    """Compute the largest factor by which roots of second moments grow in a round at rate eta."""
    stays, _, _ = theory_flex.a_round(of, ways, eta)
    return float(np.sqrt((ways[0] @ stays**2).max()))


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    found = _phase.plane_arrays([plane(id, scale) for id in IDS], progress)
    return dict(found, constants=np.array(theory_flex.constants_of_panels()))


def about(data: Mapping[str, np.ndarray]) -> str:
    return (
        f"Quadratics and laws of the theory figure (scheme C; left with absences, right after an arrival): {data['constants']}. "
        r"Both statements prescribe $\eta_\tau$, and speak of the column of once the rate alone; left, all rates are multiplied, "
        r"right, those from the arrival on. $\|w-w^\star\|^2$ is at most $(G/\mu)^2$ without training."
    )


FIGURE = _phase.phase_figure(
    "flex, theorem 3.1 and corollary 3.2.1", compute_arrays, about, tuple(IDS)
)

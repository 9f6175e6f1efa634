"""FED-LAMB, theorem 1: phase diagrams over learning rates and over rounds.

Problem and method are those of the theory figure's first panels: sign descent, every way of which is
followed. Its steps are as long as the rate, wherever it is: a round has no linear map, and nothing
is unstable. Rates are small multiples of powers of 1/2, for ways that meet again to be one.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fedtheory.errors import NotExact
from fedtheory.figures import _phase, theory_lamb

OCTAVES = dict(smoke=range(-8, 2, 2), quick=range(-8, 2), paper=range(-10, 3))
WITHIN = dict(smoke=(1.0,), quick=(1.0, 1.25, 1.5, 1.75), paper=(1.0, 1.25, 1.5, 1.75))
ROUNDS = dict(smoke=(1, 16, 6), quick=(1, 64, 24), paper=(1, 128, 40))  # from, to, how many
BUDGET = dict(smoke=4 * 10**4, quick=2 * 10**6, paper=6 * 10**6)
IDS = [f"lamb.theorem1_explicit@{steps}" for steps in (1, 2)]


def values(id: str, alpha: float, R: int) -> dict[str, float]:
    """Return the values of a statement's letters at a learning rate and R rounds."""
    steps = theory_lamb.steps_of(id)
    first = theory_lamb.exact_expectation("loss", steps, float(alpha), 1, 1000)[1]
    at = theory_lamb.statement_letters(id)
    return dict(at, R=int(R), alpha=float(alpha), f_excess=float(first))


def truth(id: str, alpha: float, Rs: np.ndarray, budget: int) -> np.ndarray:
    """Compute the mean squared gradients over sqrt(v_0) for each number of rounds; NaN where the
    enumeration of all paths exceeds the budget."""
    try:
        asked = "sq_grad_norm", theory_lamb.steps_of(id), float(alpha), int(max(Rs)), budget
        squares = theory_lamb.exact_expectation(*asked)
    except NotExact:
        return np.full(len(Rs), np.nan)
    return np.array([theory_lamb.mean_over_rounds(squares, int(R)) for R in Rs])


def plane(id: str, scale: str) -> _phase.Plane:
    low, high, count = ROUNDS[scale]
    return _phase.Plane(
        claim=id.partition("@")[0],
        title=f"$T={theory_lamb.steps_of(id)}$",
        labels=(r"learning rate $\alpha$", "rounds $R$"),
        x=np.array([2.0**k * part for k in OCTAVES[scale] for part in WITHIN[scale]]),
        y=np.unique(np.round(np.geomspace(low, high, count)).astype(int)),
        values=lambda alpha, R: values(id, alpha, R),
        truth=lambda alpha, Rs: truth(id, alpha, Rs, BUDGET[scale]),
        trivial=lambda alpha, Rs: theory_lamb.M**2 / np.sqrt(theory_lamb.V_0),
    )


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    found = _phase.plane_arrays([plane(id, scale) for id in IDS], progress)
    return dict(found, constants=np.array(theory_lamb.constants_of_panels(("alpha",))))


def about(data: Mapping[str, np.ndarray]) -> str:
    return (
        f"Sign descent on the theory figure's bounded losses: {data['constants']}, with $T$ local steps. "
        r"What is measured is at most $M^2/\sqrt{v_0}$ without training. The theorem has no ceiling of $\alpha$, and "
        "steps of sign descent are as long as the rate wherever it is: nothing is outside or unstable."
    )


FIGURE = _phase.phase_figure(
    "FED-LAMB, theorem 1", compute_arrays, about, ("lamb.theorem1_explicit",)
)

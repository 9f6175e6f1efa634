"""Mixed FL, theorems B.1 to B.3, strongly convex: phase diagrams over steps and over rounds.

Problem, cohort and server step are those of the theory figure. The mean point's weights follow the
step, and no point's is negative; its moments are carried along with those of the points, for every
number of rounds at once.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fedtheory.figures import _caption, _phase, _style, _theory, theory_mixed
from fedtheory.models.mixed import moments
from fedtheory.symbols.mixed import TABLE

POINTS = dict(smoke=(8, 8), quick=(40, 40), paper=(80, 80))  # steps, rounds
STEPS, ROUNDS = (2e-4, 20.0), (2, 2000)  # effective steps K eta eta_s, times beta
IDS = [f"mixed.theorem{theorem}_strong_explicit" for theorem in theory_mixed.METHODS]


@cache
def theory_letters(id: str) -> dict[str, float]:
    """Return the values of a statement's letters in the theory figure after the most rounds."""
    of, x_0 = theory_mixed.theory_problem(id)
    found = theory_mixed.compare_longest(id, of, x_0, [ROUNDS[1]], trials=0, exact=False)
    return _theory.letters_at(found, ROUNDS[1])


def statement_values(id: str, u: float, T: int) -> dict[str, float]:
    """Return the values of a statement's letters at an effective step u and T rounds, for the
    theory figure's losses."""
    found = dict(theory_letters(id), T=int(T))
    eta = float(u) / (found["K"] * found["eta_s"])
    return dict(found, eta=eta, eta_c=eta * found["eta_s"])


class Round(NamedTuple):
    """The map of a round along a coordinate."""

    linear: np.ndarray
    constant: np.ndarray
    fresh: np.ndarray  # the covariance of the noise


def round_maps(id: str, u: float) -> Iterator[Round]:
    """Yield the map of a round for each coordinate. Without noise, points that start at 0 stay at
    0."""
    case = theory_mixed.moment_case(id, None, statement_values(id, u, 1))
    for along in theory_mixed.coordinates(*theory_mixed.theory_problem(id)):
        found = moments.by_kernels(case, along.bends, along.tilts, along.noise)
        yield Round(*(np.array(part, float) for part in found))


def spectral_radius(id: str, u: float) -> float:
    """Return the spectral radius of the map of means. The noise of a round does not depend on its
    start, so the radius for second moments is the square."""
    return max(np.abs(np.linalg.eigvals(linear)).max() for linear, *_ in round_maps(id, u))


def true_excess(id: str, u: float, Ts: np.ndarray) -> np.ndarray:
    """Compute E f(mean point) - f* exactly for each T, with the weighted sum of points as one more
    number in the state of a round."""
    at, last = statement_values(id, u, 1), int(max(Ts))
    rate = float(theory_mixed.moment_case(id, None, at).contraction) * at["mu"]
    keep, gap = max(1 - rate, 0.0), np.zeros(last + 1)
    places = theory_mixed.coordinates(*theory_mixed.theory_problem(id))
    for along, (linear, constant, fresh) in zip(places, round_maps(id, u)):
        n = len(constant)
        carry, shift, noise = np.zeros((n + 1, n + 1)), np.zeros(n + 1), np.zeros((n + 1, n + 1))
        carry[:n, :n], carry[n, :n], carry[n, n] = linear, linear[0], keep
        shift[:n], shift[n] = constant, constant[0]
        both = np.vstack([np.eye(n), np.eye(n)[:1]])  # the noise of x is in the sum as well
        noise[:] = both @ fresh @ both.T
        mean, spread = np.zeros(n + 1), np.zeros((n + 1, n + 1))
        mean[0] = mean[n] = along.start
        total = 1.0
        for T in range(last + 1):
            gap[T] += sum(along.bends) * (mean[n] ** 2 + spread[n, n]) / total**2 / 2
            mean, spread = carry @ mean + shift, carry @ spread @ carry.T + noise
            total = keep * total + 1
    return np.nan_to_num(gap[np.asarray(Ts, int)], nan=np.inf)


def phase_plane(id: str, scale: str) -> Any:
    steps, rounds = POINTS[scale]
    theorem, _ = theory_mixed.IDS[id]
    start = theory_letters(id)
    trivial = start["beta"] * start["D_sq"]  # f_f and f_c are beta-smooth: f(x_0) - f* is no larger
    return _phase.Plane(
        claim=id,
        title=f"{_style.algorithm_look(theory_mixed.METHODS[theorem]).label}, theorem B.{theorem[1]}",
        labels=(r"step $K\eta\eta_s$", "rounds $T$"),
        x=np.geomspace(*STEPS, steps),
        y=np.unique(np.round(np.geomspace(*ROUNDS, rounds)).astype(int)),
        values=lambda u, T: statement_values(id, u, T),
        truth=lambda u, Ts: true_excess(id, u, Ts),
        trivial=lambda u, Ts: trivial,
        radius=lambda u, T: spectral_radius(id, u),
    )


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    names = ("beta", "mu", "G", "B", "sigma", "sigma_c", "N", "S", "K", "eta_s")
    at = theory_letters(IDS[0])
    constants = _caption.constants_text(TABLE, {name: at[name] for name in names})
    planes = [phase_plane(id, scale) for id in IDS]
    return dict(_phase.plane_arrays(planes, progress), constants=np.array(constants))


def describe_problem(data: Mapping[str, np.ndarray]) -> str:
    return (
        f"Convex quadratics of the theory figure: {data['constants']}, $\\eta_c=\\eta\\eta_s$, $\\eta_m=1$; without training "
        r"$f-f^\star$ is at most $\beta D^2$. Below, where one is outside, are too few rounds: $T<1/(2\mu\hat\eta)$."
    )


FIGURE = _phase.phase_figure(
    "mixed FL, theorems B.1 to B.3, strongly convex", compute_arrays, describe_problem, tuple(IDS)
)

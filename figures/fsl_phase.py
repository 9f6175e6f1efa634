"""FSL, theorem 2: phase diagrams over steps and rounds, and over steps and the server's weight.

The problem is that of the theory figure; what is true of it is the exact expectation. Hessians are
alike, so that nothing multiplies noise, and the square of the map of means is that of second moments.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _caption, _phase, theory_fsl, vacuity_fsl
from fedtheory.symbols.fsl import TABLE

CLAIM, CEILING = "fsl.theorem2", "fsl.h_lower"  # (11), (13)
POINTS = dict(smoke=(8, 8, 4), quick=(40, 40, 24), paper=(80, 80, 48))  # steps, rounds, gamma
STEPS, ROUNDS, GAMMA = (0.03, 60.0), (2, 640), (0.05, 8.0)  # steps: shares of (11) at gamma = 1/2
AT_T = 80  # rounds, in the plane of steps and gamma


def numbers(gamma: float, u: float, T: int = 1) -> dict[str, float]:
    """Return the values of all letters of theorem 2 except the start, for arrays or numbers."""
    fixed, spectrum = theory_fsl.FIXED, theory_fsl.SPECTRUM
    at = {name: spectrum[name] for name in ("L", "G", "xi_bar", "sigma", "sigma_0")}
    at.update(fixed, gamma=gamma, N=spectrum["clients"], T=T, tilde_D_0=0.0)
    return dict(at, eta_0=u / fixed["K_0"], eta_l=u / (fixed["K"] * fixed["eta_g"]))


def ceilings(gamma: float) -> list[float]:
    """Return the largest K_0 eta_0 of (11) and of (13)."""
    claim, found = discover.claim(CLAIM), []
    for id, where in ((CLAIM, "(11)"), (CEILING, "(13)")):
        (limit,) = [a.relation for a in discover.claim(id).assumes if a.where == where]
        found.append(float(vacuity_fsl.value_at(claim, limit.rhs, numbers(gamma, 1.0))))
    return found


def settings(gamma: float, u: float) -> dict[str, float]:
    at = numbers(gamma, u)
    return {name: at[name] for name in ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S")}


def truth(gamma: float, u: float, T: int) -> np.ndarray:
    """Compute the least expected squared gradient of the modified loss within 1, 2, ..., T rounds."""
    of, x_0 = theory_fsl.theory_problem()
    with np.errstate(all="ignore"):
        e = ft.expected(of, "fsl", rounds=T, x_0=x_0, **settings(gamma, u))
        squares = np.asarray(e.metrics["sq_tilde_grad_norm"], float)[:T]
    return np.minimum.accumulate(np.nan_to_num(squares, nan=np.inf))


@cache
def radius(gamma: float, u: float) -> float:
    """Compute the largest factor by which the exact map of a round stretches, from the means of two
    starts."""
    of, _ = theory_fsl.theory_problem()
    ends = [
        ft.expected(of, "fsl", rounds=1, x_0=x_0, **settings(gamma, u)).mean[1]
        for x_0 in (np.zeros(of.d), np.ones(of.d))
    ]
    return float(np.abs(ends[1] - ends[0]).max())  # Hessians are diagonal


def bounds(gamma: float, u: float, T: np.ndarray) -> np.ndarray:
    """Compute theorem 2's bound on the least squared gradient; inf where h <= 0."""
    claim, at = discover.claim(CLAIM), numbers(gamma, u, T)
    h = vacuity_fsl.value_at(claim, claim.table["h"].symbol, at)
    start = theory_fsl.modified_excess(*theory_fsl.theory_problem(), gamma)
    right = claim.fast(dict(at, tilde_D_0=start))
    return np.where(h > 0, right / np.where(h > 0, h, 1.0), np.inf)


def trivial(gamma: float) -> float:
    """Return 2 L times the excess of the modified loss at the start over its infimum, an upper
    bound on the squared gradient there."""
    start = theory_fsl.modified_excess(*theory_fsl.theory_problem(), gamma)
    return 2 * theory_fsl.SPECTRUM["L"] * start


def stable(gamma: float, low: float = 0.1, high: float = 100.0) -> float:
    """Find the longest step at which a round stretches no direction, by bisection of its logarithm."""
    for _ in range(18):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if radius(gamma, middle) <= 1 else (low, middle)
    return low


def planes(scale: str) -> list[_phase.Plane]:
    steps, rounds, weights = POINTS[scale]
    at = theory_fsl.FIXED["gamma"]
    gamma = np.geomspace(*GAMMA, weights)
    limits = np.array([[*ceilings(g), stable(g)] for g in [at, *gamma]]).T
    names = ("(11)", "(13)", "stable")
    steps = ceilings(at)[0] * np.geomspace(*STEPS, steps)
    across = r"step $K_0\eta_0=K\eta_l\eta_g$"
    over_T = _phase.Plane(
        claim=CLAIM,
        title=rf"$\gamma={at:g}$",
        labels=(across, "rounds $T$"),
        x=steps,
        y=np.unique(np.round(np.geomspace(*ROUNDS, rounds)).astype(int)),
        values=lambda u, T: numbers(at, u, int(T)),
        truth=lambda u, Ts: truth(at, u, Ts[-1])[Ts - 1],
        trivial=lambda u, Ts: trivial(at),
        radius=lambda u, T: radius(at, u),
        bound=lambda u, Ts: bounds(at, u, Ts),
        lines=dict(zip(names, limits[:, 0])),
    )
    over_gamma = over_T._replace(
        title=f"$T={AT_T}$",
        labels=(across, r"weight of the server $\gamma$"),
        x=np.geomspace(min(steps[0], limits[:, 1:].min()), steps[-1], len(steps)),
        y=gamma,
        values=lambda u, g: numbers(g, u, AT_T),
        truth=lambda u, gs: np.array([truth(g, u, AT_T)[-1] for g in gs]),
        trivial=lambda u, gs: np.array([trivial(g) for g in gs]),
        radius=lambda u, g: radius(g, u),
        bound=lambda u, gs: np.array([bounds(g, u, np.array([AT_T]))[0] for g in gs]),
        lines=dict(zip(names, limits[:, 1:])),
    )
    return [over_T, over_gamma]


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    names = ("L", "mu", "G", "xi_bar", "sigma", "sigma_0")
    constants = {**{n: theory_fsl.SPECTRUM[n] for n in names}, **theory_fsl.FIXED}
    told = dict(constants=np.array(_caption.constants_text(TABLE, constants)))
    return dict(_phase.plane_arrays(planes(scale), progress), **told)


def about(data: Mapping[str, np.ndarray]) -> str:
    longest = dict(zip(data["names_0"].tolist(), data["lines_0"][:, 0]))
    far = [_caption.number_text(longest["stable"] / longest[name]) for name in ("(11)", "(13)")]
    return (
        f"Quadratics of the theory figure: {data['constants']}. The least expected squared gradient is at most "
        r"$2L\tilde D_0$ without training; where $h\leq0$, theorem 2 says nothing. Dashed, from left to right: (13), "
        f"(11), the longest stable step, which at $\\gamma={theory_fsl.FIXED['gamma']:g}$ is {far[0]} times that of (11) "
        f"and {far[1]} times that of (13)."
    )


FIGURE = _phase.phase_figure("FSL, theorem 2", compute_arrays, about, (CLAIM,))

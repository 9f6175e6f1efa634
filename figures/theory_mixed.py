"""Mixed FL, theorems B.1 to B.3: how far the three methods stay below their bounds, over the number
of rounds.

Steps are the longest that a statement admits, and of the length that it asks for where it names
one. Losses are convex quadratics in every panel, those of statements that ask for no convexity
included: on them moments of the points' mean are exact. Two statements need a
case of their own: theorem B.2 without convexity takes a beta that f itself meets, twice the losses'
own; theorem B.3 without convexity takes true gradients to transfer first, which a round that moves
nothing leaves where there is no noise.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.comparison.result import Comparison
from fedtheory.figures import _caption, _style, _theory
from fedtheory.models.mixed import moments
from fedtheory.problem import Problem
from fedtheory.problems.mixed import mixed_minimizer

SPECTRUM = dict(d=2, clients=8, L=1.0, mu=0.5, G=1.0)
FIXED = dict(S=4, K=2, eta_s=2.0)  # eta_s = sqrt(S), the least that theorem B.2 admits
METHODS = {"B1": "parallel_training", "B2": "one_way_gt", "B3": "two_way_gt"}
CASES = {"strong": "strongly convex", "convex": "convex", "nonconvex": "no convexity asked"}
IDS = {
    f"mixed.theorem{theorem}_{case}_explicit": (theorem, case)
    for theorem in METHODS
    for case in CASES
}
SUM_SMOOTH, QUIET = "mixed.theoremB2_nonconvex_explicit", "mixed.theoremB3_nonconvex_explicit"
WORST_T = dict(
    smoke=dict(B1=(30,), B2=(30,), B3=(10, 170)),
    quick=dict(B1=(10, 30, 100), B2=(10, 30, 100), B3=(10, 90, 170)),
)
WORST_T["paper"] = WORST_T["quick"]
ROUNDS = dict(
    smoke=(10, 30, 100, 300, 1000),
    quick=(10, 30, 100, 300, 1000, 3000),
    paper=(10, 30, 100, 300, 1000, 3000, 10000),
)
ROUNDED = 300  # without noise gradients decrease to 0, and rounding decides after more rounds
TRIALS = dict(smoke=40, quick=200, paper=400)
SECONDS = dict(smoke=0.1, quick=2.0, paper=10.0)  # of search for each statement and T


def theory_problem(id: str) -> tuple[Problem, np.ndarray]:
    """Return a statement's losses and the start x_0."""
    noise = 0.0 if id == QUIET else 1.0
    of = ft.problems.mixed(seed=3, sigma=noise, sigma_c=noise, **SPECTRUM)
    of = of.relaxed(L=2 * SPECTRUM["L"]) if id == SUM_SMOOTH else of
    return of, np.full(SPECTRUM["d"], 2.0)


def loss_curvatures(of: Problem) -> np.ndarray:
    """Return the curvatures of f_f and of f_c, one row each."""
    return np.stack([of.data.H, of.data.A[0]])


def compare_longest(
    id: str, of: Problem, x_0: np.ndarray, T: Sequence[int], **settings: Any
) -> Comparison:
    """Compare a statement with runs at the longest admitted steps. `settings` are those of
    `ft.compare`; where no moments of the mean point are known to it, `exact_gap` has them."""
    return ft.compare(id, of, rounds=T, x_0=x_0, **{**FIXED, **settings})


def panel_settings(id: str) -> dict[str, Any]:
    """Return the settings of a panel besides FIXED: the gradients transferred first are those of
    all clients."""
    return dict(S=SPECTRUM["clients"]) if id == QUIET else {}


def point_weights(id: str, T: int, at: dict[str, float]) -> np.ndarray:
    """Return the weights of x^(0), ..., x^(T) in the mean point."""
    rate = 0.0
    if IDS[id][1] == "strong":
        rate = float(moment_case(id, T, at).contraction) * at["mu"]
    found = (1 - rate) ** np.arange(T, -1.0, -1)
    return found / found.sum()


def moment_case(id: str, T: int | None, at: dict[str, float]) -> moments.Case:
    """Return the case in which moments are computed, from the values of a statement's letters."""
    steps = (at["eta"], at["eta_s"], at.get("eta_c"), at.get("eta_m", 1.0))
    return moments.Case(METHODS[IDS[id][0]], None, None, at["S"], int(at["K"]), T, *steps)


class Coordinate(NamedTuple):
    """The losses bends y^2/2 + tilts y of f_f and f_c along a coordinate, with y = x - x*; the
    variances of a client's gradient and of a central one; and y at the start."""

    bends: list[float]
    tilts: list[float]
    noise: list[float]
    start: float


def coordinates(of: Problem, x_0: np.ndarray) -> list[Coordinate]:
    """Return the coordinates of a problem, which do not interact."""
    bends, star = loss_curvatures(of), mixed_minimizer(of)
    tilts = bends * (star - np.stack([of.data.x_star, of.data.b[0]]))
    noise = [of.constants[name].value ** 2 / of.d for name in ("sigma", "sigma_c")]
    parts = zip(bends.T.tolist(), tilts.T.tolist(), (x_0 - star).tolist())
    return [Coordinate(bend, tilt, noise, start) for bend, tilt, start in parts]


def exact_gap(id: str, T: int, at: dict[str, float], of: Problem, x_0: np.ndarray) -> float:
    """Compute E f(mean point) - f* exactly, coordinate by coordinate."""
    case, weights, total = moment_case(id, T, at), point_weights(id, T, at).tolist(), 0.0
    for bends, tilts, noise, start in coordinates(of, x_0):
        state = (start, 0.0, 0.0) if case.method == "two_way_gt" else (start,)
        _, (mean, variance) = moments.point_moments(case, state, bends, tilts, noise, weights)
        total += sum(bends) * (mean**2 + variance) / 2
    return total


def panel_of(id: str, scale: str) -> dict[str, np.ndarray]:
    """Compute the arrays of a panel."""
    (of, x_0), (theorem, case) = theory_problem(id), IDS[id]
    rounds, own = WORST_T[scale][theorem], panel_settings(id)
    T = sorted(T for T in {*ROUNDS[scale], *rounds} if id != QUIET or T <= ROUNDED)
    found = compare_longest(id, of, x_0, T, trials=TRIALS[scale], **own)
    letters, exact = {T: _theory.letters_at(found, T) for T in found.T.tolist()}, None
    if case != "nonconvex":
        exact = np.array([exact_gap(id, T, at, of, x_0) for T, at in letters.items()])
    at = letters[found.T[0]]
    level = 4 * at["beta"] * at["F"] if case == "nonconvex" else at["beta"] * at["D_sq"]
    curves = _theory.read_curves(found, exact)
    made = _theory.search_panel(id, curves, rounds, SECONDS[scale])
    return {**made, _theory.array_name(id, "trivial"): level}


def compute_arrays(scale, progress):
    data = dict(trials=np.array(TRIALS[scale]), constants=np.array(constants_of_panels()))
    return data | _theory.compute_panels(panel_of, IDS, scale, progress)


def constants_of_panels():
    """Return the constants of all panels, in the paper's letters."""
    of, _ = theory_problem("mixed.theoremB1_strong_explicit")
    table, at = discover.claim("mixed.theoremB1_strong_explicit").table, {**SPECTRUM, **FIXED}
    names = dict(beta="L", mu="mu", G="G_bgd", B="B_bgd", sigma="sigma", sigma_c="sigma_c")
    found = {letter: of.constants[name].value for letter, name in names.items()}
    found.update(N=at["clients"], S=at["S"], K=at["K"], eta_s=at["eta_s"])
    return _caption.constants_text(table, found)


TITLES = {
    id: f"{_style.algorithm_look(METHODS[theorem]).label}, {CASES[case]}"
    for id, (theorem, case) in IDS.items()
}


def draw_figure(figure, data):
    axes = figure.subplots(len(METHODS), len(CASES), sharex=True)
    share_scales(axes)
    for ax, (id, (theorem, case)) in zip(axes.flat, IDS.items()):
        method, trivial = METHODS[theorem], data[_theory.array_name(id, "trivial")]
        _theory.draw_panel(ax, data, id, method, TITLES[id])
        _theory.draw_trivial(ax, trivial)
        if theorem == "B1":
            _theory.say_trivial(
                ax, trivial, r"$4\beta F$" if case == "nonconvex" else r"$\beta D^2$"
            )
    _theory.say_worst(axes[0, 0], 0.06, 0.2)
    for ax in axes[-1]:
        ax.set_xlabel("$T$")
    for row in axes:
        row[0].set_ylabel(r"$\mathbb{E}f(\bar x)-f^*$, weighted mean")
        row[1].set_ylabel(r"$\mathbb{E}f(\bar x)-f^*$, mean")
        row[2].set_ylabel(r"least $\mathbb{E}\|\nabla f\|^2$")
    axes[-1, -1].text(
        0.04, 0.05, "without noise", transform=axes[-1, -1].transAxes, fontsize=_style.SMALL
    )
    for ax in axes[:2, -1]:
        _style.direct_labels(ax)


def share_scales(axes):
    """Share one scale within each column of axes; the panel without noise, whose gradients decrease
    to 0, has its own scale."""
    for column in axes.T:
        for ax in column[1:]:
            if ax is not axes[-1, -1]:
                ax.sharey(column[0])


FIGURE = _theory.theory_figure(
    "mixed FL, theorems B.1 to B.3",
    compute_arrays,
    draw_figure,
    "Rows: parallel training, one-way and two-way gradient transfer; columns: what a statement "
    "asks of the losses. Clients and the centre have convex quadratics in all panels, noise is "
    "Gaussian, S of N clients are drawn uniformly, steps are the longest that a statement admits; "
    "in the last panel there is no noise, all clients take part, and lines end where rounding "
    "would decide.",
    TITLES,
    "error",
    minutes=1.0,
    height=5.2,
)

"""Flex, table 1: convergence of schemes A, B and C for homogeneous and for heterogeneous devices.

Quadratics under theorem 3.1's learning rates, for which w*, Gamma_k and where a scheme heads
(flex.bias_A_B) are exact. Alike, all three decay as 1/tau. Unlike, A and B stop short of w*, as the
table says, at the distance that flex.bias_A_B gives, far inside D/E; C goes on as 1/tau as long as
no device is inactive.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.claim import Claim
from fedtheory.figures import _style, _table
from fedtheory.figures._flex import SCHEMES, E
from fedtheory.figures._record import Arrays, Figure, Progress
from fedtheory.participation import Participation, distribution, staircase
from fedtheory.participation.moments import limit_weights, moments
from fedtheory.participation.traces import NAMES, pmf
from fedtheory.problem import Problem
from fedtheory.problems.quadratics import quadratic_from_arrays

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

L, MU, SIGMA = 2.0, 1.0, 0.5
ALIKE, UNLIKE, INACTIVE = COLUMNS = ("hom", "het", "inactive")
AWAY = [0.5, 0, 0, 0, 0, 0.5]  # probabilities of s = 0..E: inactive every other round
DEVICES = {
    ALIKE: 10 * [pmf("T_30", E)],
    UNLIKE: 2 * [pmf(name, E) for name in NAMES[:5]],
    INACTIVE: 5 * [pmf("T_0", E)] + 5 * [AWAY],
}
N = len(DEVICES[ALIKE])
SCALES = dict(
    smoke=(5, 4, 300), quick=(5, 8, 2000), paper=(10, 20, 4000)
)  # groups of trials, trials, rounds
CASES = [
    (scheme, column)
    for column in COLUMNS
    for scheme in SCHEMES
    if column != INACTIVE or scheme == "C"
]


def build_problem() -> Problem:
    """Build quadratics with minimisers on an arc, in the order of the devices: devices that do
    little work have minimisers on one side."""
    angles = np.linspace(0, np.pi, N)
    b = np.vstack([np.zeros(2), np.column_stack([np.cos(angles), np.sin(angles)])])
    return quadratic_from_arrays(np.array([L, MU]), b, sigma=SIGMA)


def printed_law(scheme: str, column: str, of: Any) -> tuple[float, float, float, float]:
    """Return theorem 3.1's learning rate (eta_0, offset), D/E, and the squared distance between w*
    and the limit point of a scheme."""
    p, table = of.weights[1:], DEVICES[column]
    x_star = of.minimizer()
    gaps = [of.client_loss(k, x_star) - of.client_loss(k, of.data.b[k]) for k in range(1, N + 1)]
    found = moments(scheme, p, table, E, Gamma=gaps)
    theta = dict(A=N, B=1, C=E)[scheme]
    offset = max(32 * E * (1 + theta) * L / (MU * found["ps"]), 4 * E**2 * theta / found["ps"])
    limit = of.reweighted(limit_weights(scheme, p, table, E)).minimizer()
    return (
        16 / (MU * found["ps"]),
        offset / E,
        64 * found["ps_Gamma"] / (MU * found["ps"]),
        float((limit - x_star) @ (limit - x_star)),
    )


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    groups, trials, rounds = SCALES[scale]
    of, data = build_problem(), {"scale": np.array([groups, trials])}
    starts = np.unique(
        np.geomspace(1, rounds + 1, 60).astype(int)
    )  # of ranges of tau that are averaged
    lengths = np.diff(starts)
    for done, (scheme, column) in enumerate(CASES):
        progress(done, len(CASES))
        eta_0, offset, bound, limit = printed_law(scheme, column, of)
        run = ft.run(
            of,
            SCHEMES[scheme],
            rounds=rounds,
            trials=groups * trials,
            E=E,
            metrics=("sq_distance",),
            eta=staircase(eta_0, rounds, offset=offset),
            participation=Participation(work=distribution(DEVICES[column])),
        )
        means = run.metrics["sq_distance"].reshape(groups, trials, -1).mean(axis=1)
        data[f"{scheme}_{column}"] = np.add.reduceat(means, starts[:-1], axis=1) / lengths
        data[f"{scheme}_{column}_law"] = np.array([bound, limit])
        claim = f"flex.table1_{scheme}_{'het' if column == INACTIVE else column}"
        data[f"{scheme}_{column}_formula"] = np.array(cell_latex(discover.claim(claim)))
    return {**data, "tau": starts[:-1] + (lengths - 1) / 2}


def cell_latex(claim: Claim) -> str:
    """Return a cell as LaTeX: O(...), or the limit as an upper bound."""
    bound = claim.latex(claim.bound)
    return rf"$\mathcal{{O}}\left({bound}\right)$" if claim.relation == "O" else rf"$\leq {bound}$"


def fit_slopes(data: Arrays, case: str) -> np.ndarray:
    """Fit the slope of log E||w - w*||^2 against log tau over the last factor of 5 in tau, for each
    group of trials."""
    late = data["tau"] >= data["tau"][-1] / 5
    return np.polyfit(np.log(data["tau"][late]), np.log(data[case][:, late]).T, 1)[0]


def table_rows(data: Arrays) -> list[list[str]]:
    found = [["", "cell", "slope in tau", "E||w - w*||^2 at the end", "where it heads", "D/E"]]
    for scheme, column in CASES:
        case = f"{scheme}_{column}"
        bound, limit = data[f"{case}_law"]
        limits = ["0" if limit < 1e-20 else _table.number_text(limit), _table.number_text(bound)]
        found.append(
            [
                f"{scheme}, {column}",
                str(data[f"{case}_formula"]),
                _table.spread_of(fit_slopes(data, case)),
                _table.spread_of(data[case][:, -1]),
                *limits,
            ]
        )
    return found


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    tau = data["tau"]
    for ax, columns, title in (
        (axes[0], (ALIKE,), "devices alike"),
        (axes[1], (UNLIKE, INACTIVE), "devices unlike"),
    ):
        for scheme, column in (case for case in CASES if case[1] in columns):
            means = data[f"{scheme}_{column}"]
            label = f"{scheme}, inactive" if column == INACTIVE else scheme
            _style.draw_band(
                ax,
                tau,
                means.mean(axis=0),
                means.min(axis=0),
                means.max(axis=0),
                SCHEMES[scheme],
                label,
                **dict(linestyle=":") if column == INACTIVE else {},
            )
            limit = data[f"{scheme}_{column}_law"][1]
            if limit > 1e-20:
                ax.axhline(limit, **{**_style.EXACT, "linewidth": 0.5}, zorder=0)
        start = data["C_hom"].mean(axis=0)
        ax.plot(
            tau[tau > 100],
            3 * start[-1] * tau[-1] / tau[tau > 100],
            **_style.BOUND,
            label=r"$\propto1/\tau$",
        )
        ax.set(xscale="log", yscale="log", xlabel=r"$\tau$", xlim=(1, tau[-1]), title=title)
        _style.direct_labels(ax)
    axes[0].set_ylabel(r"$\mathrm{E}\,\|w^G_{\tau E}-w^*\|^2$")


def write_caption(data: Arrays) -> str:
    groups, trials = data["scale"]
    return (
        f"Quadratics with L = {L:g}, $\\mu={MU:g}$, $\\sigma_k={SIGMA:g}$, {N} devices, E = {E}, under theorem 3.1's learning "
        f"rates. Lines: means of {groups * trials} runs over ranges of $\\tau$; bands: the least and the largest mean of "
        f"{groups} groups of {trials} runs; in the table ± is the deviation of these groups. Thin lines: where a scheme "
        r"heads, exactly; dashed: a decay as $1/\tau$."
    )


def describe_result(data: Arrays) -> str:
    slope = lambda case: _table.spread_of(fit_slopes(data, case)).replace("−", "-")
    alike = "; ".join(f"{scheme} {slope(f'{scheme}_{ALIKE}')}" for scheme in SCHEMES)
    apart = "; ".join(f"{scheme} {slope(f'{scheme}_{UNLIKE}')}" for scheme in SCHEMES)
    return (
        f"Slopes of the logarithm in $\\log\\tau$ over the last factor of 5: alike {alike}; unlike {apart}. The table "
        "claims -1 where devices are alike and for C, and a limit otherwise."
    )


FIGURE = Figure(
    cites="flex, table 1",
    title="Convergence of schemes A, B and C, devices alike and unlike",
    compute=compute_arrays,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    rows=table_rows,
    width="page",
    stacks=True,
    height=2.4,
)

"""FED-LAMB, theorem 1 and corollary 1: how far gradients stay below, or rise above, their bounds,
over the rounds.

In the first four panels the plotted method is sign descent: no gradient's coordinate exceeds
sqrt(v_0), so that the second moment stays v_0, and each layer is one coordinate that no other sees,
which a step moves by exactly alpha. What is measured is the squared gradient over sqrt(v_0). Such a
run moves on a lattice, and every way it can go is followed, as far as there is room for all of
them; beyond, there are runs alone. T counts local steps.

In the last panel layers have two coordinates and v_0 is small, so that v_hat moves. There epsilon
is added to the root as the listing has it, which the proof leaves out: the panel's run is outside
its hypotheses by that. The mean of a run of every length is taken, each going on from the last.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.comparison.result import Comparison, join_comparisons
from fedtheory.errors import NotExact
from fedtheory.figures import _caption, _style, _theory, _worst
from fedtheory.problems._separable import build_separable
from fedtheory.runs import plots

D, CLIENTS, L, M, G, SIGMA, X_0 = 2, 2, 1.0, 1.0, 0.2, 0.4, 2.0
FIXED = dict(beta_1=0.0, beta_2=0.9, phi_m=1.0, phi_M=1.0)
V_0, ALPHA, A = M**2, 2.0**-5, 0.5  # alpha = A / sqrt(h R) in the corollary
TITLES = {
    "lamb.theorem1_explicit@1": "thm. 1, $T=1$",
    "lamb.theorem1_explicit@2": "thm. 1, $T=2$",
    "lamb.corollary1_explicit@1": "cor. 1, $T=1$",
    "lamb.corollary1_explicit@2": "cor. 1, $T=2$",
    "lamb.theorem1_explicit@moving": r"thm. 1, $\hat v$ moves",
}
SECOND = "lamb.theorem1_explicit@moving"
LAYERS, SMALL_V = [2, 2], 0.01  # of the second problem, and its v_0
LENGTHS = dict(smoke=64, quick=512, paper=2048)  # rounds of its runs
WORST_R = {1: (1, 2, 3, 6), 2: (1, 2, 3)}  # by local steps
ROUNDS = dict(
    smoke=(2, 8, 32, 128, 512),
    quick=(2, 8, 32, 128, 512, 2048, 8192),
    paper=(2, 8, 32, 128, 512, 2048, 8192),
)
TRIALS = dict(smoke=40, quick=200, paper=400)
SECONDS = dict(smoke=0.1, quick=2.0, paper=10.0)  # of search for each statement and R
BUDGET = dict(
    smoke=4 * 10**4, quick=2 * 10**6, paper=6 * 10**6
)  # rounds of single paths, in an enumeration


def theory_problem():
    """Build convex losses with bounded gradients."""
    return ft.problems.bounded(
        d=D, clients=CLIENTS, L=L, M=M, G=G, sigma=SIGMA, layers=[1] * D, noise="rademacher", seed=3
    )


def one_coordinate(of, j):
    """Build the problem of a single layer, coordinate j."""
    data, noise = of.data, SIGMA / np.sqrt(D)
    return build_separable(
        "layer",
        "pseudo_huber",
        1.0,
        data.a[[j]],
        data.w[[j]],
        0.0,
        data.c[[j]],
        data.o[:, [j]],
        of.weights[1:],
        noise,
        0.0,
        "rademacher",
        None,
        {},
    )


def method_hyper(steps: int) -> dict[str, Any]:
    """Return the method's parameters except alpha; without momentum, the way in which momentum is
    stored has no effect."""
    return dict(FIXED, T=steps, epsilon=V_0, phi="clipped", bias_correction="none")


@cache
def exact_expectation(metric, steps, alpha, rounds, budget):
    """Compute E of the loss or of the squared gradient after each round exactly, layer by layer."""
    of = theory_problem()
    return sum(
        ft.expected(
            one_coordinate(of, j),
            "fed_lamb",
            rounds=rounds,
            x_0=np.full(1, X_0),
            budget=budget,
            alpha=alpha,
            **method_hyper(steps),
        ).metrics[metric]
        for j in range(D)
    )


def alpha_of(id: str, R: int) -> float:
    """Return a statement's learning rate."""
    return float(A / np.sqrt(D * R) if "corollary" in id else ALPHA)


def steps_of(id: str) -> int:
    return 1 if id == SECOND else int(id.partition("@")[2])


def first_excess(id: str, R: int) -> float:
    """Return the exact expectation of the loss after the first of R rounds; its infimum is 0."""
    return float(exact_expectation("loss", steps_of(id), alpha_of(id, R), 1, 1000)[1])


def compare_panel(id: str, Rs: Sequence[int], trials: int) -> Comparison:
    """Compare a panel's statement with runs, without the exact expectation, which is known layer by
    layer alone."""
    rate = dict(a=A) if "corollary" in id else dict(alpha=ALPHA)
    settings = dict(trials=trials, x_0=np.full(D, X_0), exact=False, **method_hyper(steps_of(id)))
    claim, of = _theory.claim_id(id), theory_problem()
    found = [
        ft.compare(claim, of, rounds=[R], f_excess=first_excess(id, R), **rate, **settings)
        for R in Rs
    ]
    return join_comparisons(found)


@cache
def statement_letters(id: str) -> dict[str, float]:
    """Return the values of a statement's letters after a single round."""
    return _theory.letters_at(compare_panel(id, (1,), 0), 1)


def mean_over_rounds(squares: np.ndarray, R: int) -> np.ndarray:
    """Return 1/R sum_{r=1}^R of squared gradients (..., rounds + 1), over sqrt(v_0)."""
    return squares[..., 1 : R + 1].mean(axis=-1) / np.sqrt(V_0)


def enumerate_expectation(id: str, R: int, budget: int) -> float:
    """Compute the exact expectation by enumeration of all paths; NaN if the enumeration needs more
    rounds than the budget."""
    try:
        squares = exact_expectation("sq_grad_norm", steps_of(id), alpha_of(id, R), R, budget)
    except NotExact:
        return np.nan
    return float(mean_over_rounds(squares, R))


def exact_means(id: str, Rs: Sequence[int], budget: int) -> np.ndarray:
    """Return the exact expectation at each number of rounds; NaN from the first number on for which
    there is no room for all ways."""
    found: list[float] = []
    for R in Rs:
        room = not found or np.isfinite(found[-1])
        found.append(enumerate_expectation(id, R, budget) if room else np.nan)
    return np.array(found)


def bounded_problem():
    """Build convex losses with bounded gradients and two coordinates in each layer."""
    return ft.problems.bounded(
        d=sum(LAYERS),
        clients=CLIENTS,
        L=L,
        M=M,
        G=G,
        sigma=SIGMA,
        layers=LAYERS,
        noise="rademacher",
        seed=3,
    )


def moving_means(rounds: int, trials: int) -> tuple[np.ndarray, float, float]:
    """Return, from runs of the second problem, 1/R sum of squared gradients over the root of v_hat
    (trials, rounds), the growth of v_hat, and the mean of f after the first round."""
    of, run, squares = bounded_problem(), None, np.empty((trials, rounds))
    chosen = dict(method_hyper(1), alpha=ALPHA, epsilon=SMALL_V)
    start = dict(trials=trials, x_0=np.full(of.d, X_0), metrics=())
    for r in range(rounds):
        run = ft.run(of, "fed_lamb", rounds=r + 1, resume=run, **start, **chosen)
        gradients = np.array([of.grad(x) for x in run.final])
        squares[:, r] = np.sum(gradients**2 / np.sqrt(run._state[1]), axis=1)
        if r == 0:
            first = float(np.mean([of.loss(x) for x in run.final]))
    grown = float(np.mean(run._state[1])) / SMALL_V
    return np.cumsum(squares, axis=1) / np.arange(1, rounds + 1), grown, first


def second_problem(scale: str) -> dict[str, np.ndarray]:
    """Compute the panel of the second problem, and the growth of its v_hat."""
    of, rounds = bounded_problem(), LENGTHS[scale]
    means, grown, first = moving_means(rounds, TRIALS[scale])
    at = dict(
        statement_letters("lamb.theorem1_explicit@1"),
        p=of.d,
        h=len(LAYERS),
        v_0=SMALL_V,
        sigma=of.constants["sigma_coordinate"].value,
        f_excess=first,
    )
    R = 2 ** np.arange(int(np.log2(rounds)) + 1)
    bound = discover.claim("lamb.theorem1_explicit").fast(dict(at, R=R))
    runs = plots.mean_and_band(means[:, R - 1])
    curves = _theory.Curves(R, bound, np.full(len(R), np.nan), *runs)
    made = _theory.panel_arrays(SECOND, curves, (), _worst.NONE)
    made[_theory.array_name(SECOND, "trivial")] = np.array(M**2 / np.sqrt(SMALL_V))
    return dict(made, grown=np.array(grown))


def constants_of_panels(without: Collection[str] = ()) -> str:
    """Return the constants of the first four panels, in the paper's letters."""
    at = statement_letters("lamb.theorem1_explicit@1")
    names = ("n", "p", "h", "L_l", "M", "sigma", "v_0", "beta_1", "beta_2", "alpha")
    claim = discover.claim("lamb.theorem1_explicit")
    return _caption.constants_text(claim.table, {n: at[n] for n in names if n not in without})


def panel_of(id: str, scale: str) -> dict[str, np.ndarray]:
    """Compute the arrays of one of the first four panels."""
    steps = steps_of(id)
    Rs = sorted({*ROUNDS[scale], *WORST_R[steps]})
    found = compare_panel(id, Rs, TRIALS[scale])
    curves = _theory.read_curves(found, exact_means(id, Rs, BUDGET[scale]))
    return _theory.search_panel(id, curves, WORST_R[steps], SECONDS[scale], T=steps)


def either_panel(id: str, scale: str) -> dict[str, np.ndarray]:
    return second_problem(scale) if id == SECOND else panel_of(id, scale)


def compute_arrays(scale, progress):
    data = dict(trials=np.array(TRIALS[scale]), constants=np.array(constants_of_panels()))
    data |= _theory.compute_panels(either_panel, TITLES, scale, progress)
    return dict(data, trivial=np.array([M**2 / np.sqrt(V_0)]))


def draw_figure(figure, data):
    left = r"mean $\mathbb{E}\|\nabla f(\bar\theta_r)/\hat v_r^{1/4}\|^2$"
    axes = _theory.draw_panels(figure, data, TITLES, "fed_lamb", left, xlabel="$R$", titles=TITLES)
    for ax, id in zip(axes, TITLES):
        _theory.draw_trivial(ax, _theory.trivial_level(data, id))
    level = _theory.trivial_level(data, SECOND)
    _theory.say_trivial(axes[4], level, r"$M^2/\sqrt{v_0}$: trivial")
    marks = [data[_theory.array_name(id, "worst_broken")] for id in FIRST]
    if not all(broken.all() for broken in marks):
        _theory.say_worst(axes[0], 0.06, 0.13, "worst found,\nof bound")
    if any(broken.any() for broken in marks):
        _theory.say_broken(axes[1], 0.06, 0.13)
    axes[3].text(
        0.04,
        0.03,
        "beyond “exact”:\nruns alone",
        transform=axes[3].transAxes,
        fontsize=_style.SMALL,
        color=_style.OPEN,
        linespacing=1.05,
    )
    runs, bound, exact = axes[3].get_lines()[:3]
    there = np.isfinite(exact.get_ydata())
    axes[3].annotate(
        "exact",
        (exact.get_xdata()[there][-1], exact.get_ydata()[there][-1]),
        xytext=(2, 3),
        textcoords="offset points",
        fontsize=_style.SMALL,
    )
    axes[4].text(
        0.04,
        0.03,
        rf"$\hat v$: ${_caption.bare_number(data['grown'], 2)}\,v_0$ at the end",
        transform=axes[4].transAxes,
        fontsize=_style.SMALL,
        color=_style.OPEN,
    )
    _style.direct_labels(axes[4], list(axes[4].get_lines()[:2]))


FIRST = [id for id in TITLES if id != SECOND]


def describe_result(data):
    grown = (
        f"In the last panel $\\hat v$ ends at {_caption.number_text(data['grown'])} times $v_0$."
    )
    return f"{_theory.describe_result(data, TITLES, 'R')} {grown}"


FIGURE = replace(
    _theory.theory_figure(
        "FED-LAMB, theorem 1 and corollary 1",
        compute_arrays,
        draw_figure,
        r"T counts local steps, $\alpha=0.5/\sqrt{hR}$ in the corollary; rademacher noise, losses are pseudo-Huber. "
        r"In the first four panels $\hat v$ stays $v_0$ and layers are single coordinates: the plotted method is sign "
        r"descent, each step moving each layer by $\alpha$. In the last, layers have two coordinates, "
        rf"$v_0={SMALL_V}$ and $\hat v$ moves; there $\epsilon$ is added to the root as the listing has it, which the "
        "proof leaves out. Constants are those of the first four.",
        TITLES,
        "mean squared gradient",
        minutes=1.0,
        stacks=True,
        height=2.3,
    ),
    says=describe_result,
)

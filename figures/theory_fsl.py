"""FSL: how far the method stays below its bounds, over the number of rounds, for growing server
weight gamma and cohort size S.

Theorem 2's step is the largest that (13) admits; the corollaries' constants are such that theirs
are there from T = 5. The three cases of corollary 2 have one run and differ in their bounds. With a
large weight of the server (appendix A-F (b)) its loss is the clients' mean, and its weight 4.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.claims.fsl._assumptions import EQ13
from fedtheory.comparison.objectives import measured_loss
from fedtheory.comparison.result import Comparison
from fedtheory.figures import _caption, _parts, _style, _theory
from fedtheory.problem import Problem
from fedtheory.symbols import fsl as symbols

SPECTRUM = dict(d=4, clients=8, L=1.0, mu=0.05, G=1.0, xi_bar=0.3, sigma=1.0, sigma_0=1.0)
FIXED = dict(gamma=0.5, eta_g=2.0, K=2, K_0=4, S=4)  # eta_g = sqrt(S)
THEOREM, FIRST, SGD = "fsl.theorem2", "fsl.corollary1_explicit", "fsl.special_sgd_explicit"
IDS = (THEOREM, FIRST, *(f"fsl.corollary2{case}_explicit" for case in "abc"), SGD)
CASES = IDS[2:5]  # of corollary 2: one panel
OWN = {  # what is not as in FIXED and SPECTRUM; panels are statements, with more behind an @
    f"{THEOREM}@0.1": dict(gamma=0.1),
    f"{THEOREM}@2": dict(gamma=2.0),
    SGD: dict(gamma=4.0, xi_bar=0.0),  # where the statement asks for it
    f"{FIRST}@1": dict(S=1, eta_g=1.0),
    f"{FIRST}@8": dict(S=8, eta_g=8.0**0.5),
}
TITLES = {
    f"{THEOREM}@0.1": r"theorem 2, $\gamma=0.1$",
    THEOREM: r"theorem 2, $\gamma=0.5$",
    f"{THEOREM}@2": r"theorem 2, $\gamma=2$",
    SGD: r"appendix A-F, $\gamma=4$",
    f"{FIRST}@1": "corollary 1, $S=1$",
    FIRST: "corollary 1, $S=4$",
    f"{FIRST}@8": "corollary 1, $S=N=8$",
    **{id: f"corollary 2 ({id[len('fsl.corollary2')]})" for id in CASES},
}
WORST_T = dict(smoke=(5, 20), quick=(5, 10, 20, 40), paper=(5, 10, 20, 40))
CONSTANTS = ("c", "c_a", "c_b")  # of the corollaries' steps
START = 5  # the number of rounds from which the corollaries' steps are admitted
ROUNDS = dict(smoke=(4, 1280), quick=(2, 10240), paper=(2, 40960))  # factor between them, most
TRIALS = dict(smoke=40, quick=200, paper=1000)
SECONDS = dict(smoke=0.1, quick=3.0, paper=20.0)  # of search for each statement and T


def problem_arguments(of: dict[str, Any], id: str | None) -> dict[str, Any]:
    """Return SPECTRUM or FIXED with the values that a statement replaces."""
    return {name: OWN.get(id or "", {}).get(name, value) for name, value in of.items()}


def theory_problem(id: str | None = None) -> tuple[Problem, np.ndarray]:
    return ft.problems.quadratic(seed=3, **problem_arguments(SPECTRUM, id)), np.full(
        SPECTRUM["d"], 2.0
    )


def modified_excess(of: Problem, x_0: np.ndarray, gamma: float = FIXED["gamma"]) -> float:
    """Return the excess of the modified loss at x_0 over its infimum."""
    loss = measured_loss(of, "tilde_loss", gamma)
    return loss.loss(x_0) - loss.lowest().high


def compare_longest(
    id: str, of: Problem, x_0: np.ndarray, T: Sequence[int], **settings: Any
) -> Comparison:
    """Compare a statement with runs at the longest steps of (13), for T rounds in a theorem and
    from START rounds on in a corollary. Sides are those of the least expected squared
    gradient, without its factor h in theorem 2. `settings` are those of `ft.compare`."""
    claim = discover.claim(_theory.claim_id(id))
    claim = claim.replace(assumptions=(*claim.assumptions, EQ13))
    given = {n: v for n, v in dict(a=1.0, b=2.0).items() if n in claim.parameters}
    first = {**settings, "trials": 0, "exact": False}
    at = _theory.letters_at(ft.compare(claim, of, rounds=[START], x_0=x_0, **first, **given), START)
    given.update((name, at[name]) for name in CONSTANTS if name in claim.parameters)
    return ft.compare(claim, of, rounds=T, x_0=x_0, **settings, **given).per_quantity()


def compare_panel(id: str, T: Sequence[int], **settings: Any) -> Comparison:
    """Compare a panel's statement with runs on its own problem."""
    return compare_longest(id, *theory_problem(id), T, **problem_arguments(FIXED, id), **settings)


def constants_of_panels():
    """Return the constants that all panels share, in the paper's letters."""
    at = {**SPECTRUM, **FIXED, "N": SPECTRUM["clients"]}
    kept = ("L", "mu", "G", "xi_bar", "sigma", "sigma_0", "N", "K", "K_0", "S", "gamma")
    return _caption.constants_text(symbols.TABLE, {name: at[name] for name in kept})


def rounds_at(scale: str) -> list[int]:
    factor, most = ROUNDS[scale]
    return [5 * factor**n for n in range(20) if 5 * factor**n <= most]


def start_excess(id: str) -> float:
    """Return the excess of the modified loss over its infimum at the start of a statement's runs."""
    return modified_excess(*theory_problem(id), problem_arguments(FIXED, id)["gamma"])


def measured_curves(id: str, scale: str) -> dict[str, np.ndarray]:
    found = compare_panel(id, rounds_at(scale), trials=TRIALS[scale])
    return _theory.read_curves(found)._asdict()


def panel_of(id: str, scale: str) -> dict[str, np.ndarray]:
    """Compute the arrays of a panel."""
    alike = CASES[0] if id in CASES else id  # the cases of corollary 2 share their runs
    curves = _theory.Curves(**_parts.compute_part(measured_curves, alike, scale))
    if alike != id:
        bound = compare_panel(id, rounds_at(scale), trials=0, exact=False).right
        curves = curves._replace(bound=bound)
    made = _theory.search_panel(id, curves, WORST_T[scale], SECONDS[scale])
    return {**made, _theory.array_name(id, "trivial"): 2 * SPECTRUM["L"] * start_excess(id)}


def compute_arrays(scale, progress):
    data = dict(trials=np.array(TRIALS[scale]), constants=np.array(constants_of_panels()))
    return data | _theory.compute_panels(panel_of, TITLES, scale, progress)


def draw_figure(figure, data):
    axes = figure.subplots(2, 4, sharex=True, sharey=True)
    for ax, id in zip(axes.flat, TITLES):
        _theory.draw_panel(ax, data, id, "fsl", TITLES[id])
        _theory.draw_trivial(ax, data[_theory.array_name(id, "trivial")])
    last = axes[-1, -1]
    for id in CASES[1:]:
        of = lambda name: data[_theory.array_name(id, name)]
        last.plot(of("T"), of("bound"), label="_", **_style.BOUND)
    wrong = [id for id in CASES if _theory.has_violation(data, id)]
    last.set_title("corollary 2 (a, b, c)" + ": violated" * bool(wrong))
    for id in CASES:
        of = lambda name: data[_theory.array_name(id, name)]
        _theory.plot_worst(last, data, id)
    for row in axes:
        row[0].set_ylabel(r"least $\mathbb{E}\|\nabla\tilde F(x_t)\|^2$")
    for ax in axes[1]:
        ax.set_xlabel("$T$")
    _theory.say_trivial(
        axes[0, 0], data[_theory.array_name(THEOREM, "trivial")], r"$2L\tilde D_0$: trivial"
    )
    _theory.say_worst(axes[1, 0], 0.06, 0.24)
    _style.direct_labels(axes[0, -1])
    _style.direct_labels(last)
    ends = [(data[_theory.array_name(id, "bound")][-1], id[len("fsl.corollary2")]) for id in CASES]
    low, high = min(ends), max(ends)
    names = lambda end: ", ".join(f"({name})" for value, name in ends if value == end[0])
    for end, place in ((low, -9), (high, 3)) if low[0] < 0.9 * high[0] else ():
        last.annotate(
            names(end),
            (data[_theory.array_name(CASES[0], "T")][-1], end[0]),
            xytext=(-1, place),
            textcoords="offset points",
            ha="right",
            fontsize=_style.SMALL,
        )


FIGURE = _theory.theory_figure(
    "FSL, theorem 2, corollaries 1 and 2, appendix A-F",
    compute_arrays,
    draw_figure,
    r"Quadratics, Gaussian noise, S of N clients drawn uniformly, $\eta_g=\sqrt S$, the longest steps that "
    "(13) admits; constants are those of all panels whose title says nothing else. The three cases of "
    "corollary 2 share their runs.",
    TITLES,
    "least squared gradient",
    minutes=3.0,
    stacks=True,
    height=3.7,
)

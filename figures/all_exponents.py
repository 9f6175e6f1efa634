"""Exponents: how fast the bounds grow with each of their letters, and how fast the true values
grow.

An exponent is the slope of the logarithm where one letter is doubled and nothing else changes but
the steps that a statement prescribes. A bound may be right and its exponents wrong: a letter on
which the truth does not depend has exponent 0. Mixed FL is asked where noise and dissimilarity
matter; flex and FED-LAMB in the one letter that their statements follow, the number of rounds. The
truth is an exact expectation, of FED-LAMB the mean of many runs.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import (
    _caption,
    _style,
    _theory,
    theory_flex,
    theory_fsl,
    theory_lamb,
    theory_mixed,
)
from fedtheory.figures._record import Figure

T = dict(smoke=100, quick=1000, paper=10000)
FSL = dict(gamma=0.5, K=2, S=4, G=1.0, xi_bar=1.0, sigma=1.0)
MIXED = dict(S=4, K=2, G=8.0, sigma=8.0, sigma_c=8.0)
METHODS = {f"mixed.theorem{t}_convex_explicit": m for t, m in theory_mixed.METHODS.items()}
COROLLARY = "fsl.corollary1_explicit"
FLEX = {  # claim -> the scheme, and devices
    "flex.table1_A_hom_explicit": "A, alike",
    "flex.table1_B_hom_explicit": "B, alike",
    "flex.table1_C_hom_explicit": "C, alike",
    "flex.table1_C_het_explicit": "C, unlike",
    "flex.table1_A_het_explicit": "A, unlike",
    "flex.table1_B_het_explicit": "B, unlike",
}
LAMB = {f"lamb.corollary1_explicit@{steps}": f"$T={steps}$" for steps in (1, 2)}
TRIALS = dict(smoke=40, quick=400, paper=2000)  # of FED-LAMB's runs
PANELS = {  # title -> the method whose colour is drawn, statements
    "FSL, corollary 1": ("fsl", (COROLLARY,)),
    **{f"{_style.algorithm_look(m).label}, convex": (m, (id,)) for id, m in METHODS.items()},
    r"flex, table 1, in $\tau$": ("flex_c", tuple(FLEX)),
    "FED-LAMB, cor. 1, in $R$": ("fed_lamb", tuple(LAMB)),
}


def fsl(T: int, gamma: float, K: int, S: int, **sources: float) -> tuple[float, float]:
    """Return (bound, exact value) of the least squared gradient in corollary 1, at the corollary's
    own steps."""
    of = ft.problems.quadratic(d=4, clients=32, L=1.0, mu=0.05, sigma_0=1.0, seed=3, **sources)
    fixed = dict(gamma=gamma, K=K, K_0=8, S=S, eta_g=float(S) ** 0.5)
    found = theory_fsl.compare_longest(COROLLARY, of, np.full(4, 2.0), [T], trials=0, **fixed)
    return found.right[0], found.left_exact[0]


def mixed_bounds(id: str, T: int, S: int, K: int, G: float, **noise: float) -> tuple[float, float]:
    """Return (bound, exact value) of a theorem of mixed FL, at the theorem's longest steps."""
    of = ft.problems.mixed(seed=3, **dict(theory_mixed.SPECTRUM, clients=32, G=G), **noise)
    _, x_0 = theory_mixed.theory_problem(id)
    fixed = dict(S=S, K=K, eta_s=float(S) ** 0.5)
    found = theory_mixed.compare_longest(id, of, x_0, [T], trials=0, exact=False, **fixed)
    at = _theory.letters_at(found, T)
    return found.right[0], theory_mixed.exact_gap(id, T, at, of, x_0)


def slopes(both: Callable[..., Any], letters: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Return {name: exponents of the bound and of the true value}, measured by doubling each
    letter."""
    here = np.log2(both(**letters))
    return {
        name: np.log2(both(**{**letters, name: 2 * value})) - here
        for name, value in letters.items()
    }


def over_rounds(id: str, T: int, trials: int) -> np.ndarray:
    """Compute the exponents of (bound, true value) of flex or FED-LAMB in the number of rounds,
    from T and 2 T rounds."""
    if id in FLEX:
        truths = theory_flex.exact_distance(id, 2 * T)[[T, 2 * T]]
        limits = [theory_flex.bound_at(id, each) for each in (T, 2 * T)]
    else:
        found = theory_lamb.compare_panel(id, (T, 2 * T), trials)
        truths, limits = found.left, found.right
    return np.log2([limits[1] / limits[0], truths[1] / truths[0]])


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    found, total = [], 1 + len(METHODS) + len(FLEX) + len(LAMB)
    made = slopes(fsl, dict(FSL, T=T[scale]))
    found += [(COROLLARY, name, *pair) for name, pair in made.items()]
    progress(1, total)
    for n, id in enumerate(METHODS):
        made = slopes(lambda id=id, **letters: mixed_bounds(id, **letters), dict(MIXED, T=T[scale]))
        found += [(id, name, *pair) for name, pair in made.items()]
        progress(n + 2, total)
    for n, id in enumerate([*FLEX, *LAMB], 1 + len(METHODS)):
        letter = "tau" if id in FLEX else "R"
        found.append((id, letter, *over_rounds(id, T[scale], TRIALS[scale])))
        progress(n + 1, total)
    names = ("claim", "letter", "bound", "exact")
    return dict({n: np.array(c) for n, c in zip(names, zip(*found))}, T=np.array(T[scale]))


def row_name(id: str, letter: str | np.str_) -> str:
    """Return the name of a row in a panel."""
    table = discover.claim(id.partition("@")[0]).table
    return FLEX.get(id) or LAMB.get(id) or f"${table[letter].latex}$"


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    axes = figure.subplots(2, 3, sharex=True)
    for ax, (title, (method, ids)) in zip(axes.flat, PANELS.items()):
        at = np.flatnonzero(np.isin(data["claim"], ids))
        for y, n in enumerate(at):
            ends = data["bound"][n], data["exact"][n]
            ax.plot(ends, [y, y], color=_style.RULE, linewidth=0.9, zorder=0)
        colour = _style.algorithm_look(method).colour
        ax.plot(data["bound"][at], np.arange(len(at)), "|", color=_style.INK, markersize=8)
        ax.plot(data["exact"][at], np.arange(len(at)), "o", color=colour, markersize=3.5)
        letters = [row_name(*each) for each in zip(data["claim"][at].tolist(), data["letter"][at])]
        ax.axvline(0, color=_style.RULE, linewidth=0.6, zorder=0)
        ax.set(yticks=range(len(at)), yticklabels=letters, ylim=(len(at) - 0.5, -0.5), title=title)
        ax.tick_params(axis="y", length=0)
    for ax in axes[-1]:
        ax.set_xlabel("exponent")
    from matplotlib.lines import Line2D

    bare = dict(linestyle="", color=_style.INK)
    handles = [
        Line2D([], [], marker="|", markersize=8, label="bound", **bare),
        Line2D([], [], marker="o", markersize=3.5, label="truth", **bare),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    T = int(data["T"])
    return (
        "Exponents: base-2 logarithms of the ratio when one letter is doubled, from "
        f"{_caption.constants_text(discover.claim(COROLLARY).table, dict(FSL, T=T))} (FSL), "
        f"{_caption.constants_text(discover.claim(next(iter(METHODS))).table, dict(MIXED, T=T))} (mixed FL), 32 clients, "
        rf"from $\tau={T}$ (flex) and $R={T}$ (FED-LAMB) on the problems of the theory figures; steps are those that each "
        "statement prescribes or admits at the letters' values. The truth is the exact expectation on quadratics, of "
        "FED-LAMB the mean of runs."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    gap, titles = np.abs(data["bound"] - data["exact"]), {}
    for title, (_, ids) in PANELS.items():
        titles |= dict.fromkeys(ids, title.partition(", in ")[0])
    name = lambda n: (
        f"{titles[data['claim'][n].item()]} in {row_name(data['claim'][n].item(), data['letter'][n].item())} "
        f"({_caption.number_text(data['bound'][n])} for {_caption.number_text(data['exact'][n])})"
    )
    worst = "; ".join(map(name, np.argsort(-gap)[:3]))
    number = _caption.number_text(np.median(gap))
    return f"Exponents of bound and truth differ by {number} in the median, most for {worst}."


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    columns = zip(*(data[name].tolist() for name in ("claim", "letter", "bound", "exact")))
    return [
        ["claim", "letter", "exponent of the bound", "of the truth"],
        *([id, letter, f"{one:.3f}", f"{other:.3f}"] for id, letter, one, other in columns),
    ]


FIGURE = Figure(
    cites="all papers, exponents",
    title="How bounds grow with their letters, and how the truth does",
    shows=(COROLLARY, *METHODS, *FLEX, "lamb.corollary1_explicit"),
    compute=compute_arrays,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    stacks=True,
    height=3.6,
)

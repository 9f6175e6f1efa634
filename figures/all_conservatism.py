"""Every explicit bound of the papers on one scale of powers of ten: how far the worst case found is
below the bound, how far the exact expectation of one problem is below the worst case, and where the
runs' 90 % quantile lies.

Problems, steps and searches are those of the theory figures, each statement at the largest number
of rounds at which its figure searches. The worst case is the statement's, over all problems; the
other two are of the plotted problem. A statement that an instance breaks reaches beyond its bound.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.figures import (
    _caption,
    _parts,
    _style,
    _theory,
    theory_flex,
    theory_fsl,
    theory_lamb,
    theory_mixed,
)
from fedtheory.figures._record import Figure
from fedtheory.typing import Number

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

ROUNDS = dict(fsl=20, mixed=30, two_way=170, flex=5, lamb=2)
PAPERS = dict(fsl="FSL", mixed="mixed FL", flex="flex", lamb="FED-LAMB")
METHODS = dict(fsl="fsl", mixed="two_way_gt", flex="flex_c", lamb="fed_lamb")  # whose colours


FIGURES = dict(fsl=theory_fsl, mixed=theory_mixed, flex=theory_flex, lamb=theory_lamb)


def rounds_of(paper: str, id: str) -> int:
    """Return the number of rounds at which a statement is shown."""
    if id == theory_flex.START:
        return 1
    return ROUNDS["two_way" if paper == "mixed" and theory_mixed.IDS[id][0] == "B3" else paper]


def read_panel(paper: str, id: str, scale: str) -> tuple[Number, ...]:
    """Return (T, bound, worst case over bound, whether the bound is violated, exact expectation, 90
    % quantile) of a panel."""
    panel, T = _parts.compute_part(FIGURES[paper].panel_of, id, scale), rounds_of(paper, id)
    of = lambda name: panel[_theory.array_name(id, name)]
    (at,), (star,) = np.flatnonzero(of("T") == T), np.flatnonzero(of("worst_T") == T)
    worst = of("worst_ratio")[star], of("worst_broken")[star]
    return T, of("bound")[at], *worst, of("exact")[at], of("high")[at]


PANELS = {
    "fsl": {id: title for id, title in theory_fsl.TITLES.items() if "@" not in id},
    "mixed": theory_mixed.TITLES,
    "flex": {id: title for id, (title, *_) in theory_flex.PANELS.items()},
    "lamb": {id: theory_lamb.TITLES[id] for id in theory_lamb.FIRST},
}
CLAIMS = sorted({id.partition("@")[0] for panels in PANELS.values() for id in panels})


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    rows = []
    asked = [(paper, *panel) for paper, panels in PANELS.items() for panel in panels.items()]
    asked = asked if scale != "smoke" else asked[::4]
    for paper, id, title in asked:
        rows.append((paper, title, id.partition("@")[0], *read_panel(paper, id, scale)))
        progress(len(rows), len(asked))
    names = ("paper", "title", "claim", "T", "bound", "worst", "broken", "exact", "high")
    found = {name: np.array(column) for name, column in zip(names, zip(*rows))}
    trials = {paper: figure.TRIALS[scale] for paper, figure in FIGURES.items()}
    return dict(found, trials=np.array([trials[paper] for paper in found["paper"].tolist()]))


def decades_over_bound(data: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return (worst case, exact expectation, runs' quantile) over the bound, in powers of ten."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = data["worst"], data["exact"] / data["bound"], data["high"] / data["bound"]
        found = np.log10(np.array(shares, float))
    return np.where(np.isfinite(found), found, np.nan)


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    ax = figure.subplots()
    count, worst, exact, high = len(data["claim"]), *decades_over_bound(data)
    y = np.arange(count) + 0.9 * np.cumsum(np.r_[0, data["paper"][1:] != data["paper"][:-1]])
    for n in range(count):
        colour, broken = (
            _style.algorithm_look(METHODS[data["paper"][n].item()]).colour,
            data["broken"][n],
        )
        inside = [place for place in (worst[n], exact[n]) if place <= 0]
        places, bar = [0.0, *inside], dict(linewidth=5.5, solid_capstyle="butt")
        for one, other, share in zip(places, places[1:], (0.75, 0.35)):
            light = 0.35 if broken else share
            ax.plot([one, other], [y[n]] * 2, color=_style.tint_colour(colour, light), **bar)
        if broken:
            ax.plot([0, worst[n]], [y[n]] * 2, color=_style.DIFFER, **bar)
        ax.plot(worst[n], y[n], **(_style.BROKEN if broken else _style.WORST))
        ax.plot(exact[n], y[n], "|", color=_style.INK, markersize=7)
        ax.plot(high[n], y[n], "o", color=colour, markersize=2.4)
    ax.axvline(0, color=_style.INK, linewidth=0.8)
    ax.set(
        yticks=y,
        yticklabels=data["title"].tolist(),
        ylim=(y[-1] + 0.7, -0.7),
        xlabel="powers of ten of the bound",
    )
    for text, broken in zip(ax.get_yticklabels(), data["broken"]):
        text.set_color(_style.DIFFER if broken else _style.INK)
    for paper, name in PAPERS.items():
        if paper not in data["paper"]:
            continue
        first = y[np.argmax(data["paper"] == paper)]
        ax.annotate(
            name,
            (1, first),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=_style.SMALL,
            color=_style.darken_text(_style.algorithm_look(METHODS[paper]).colour),
            weight="bold",
        )
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=_style.PALE, linewidth=0.6)
    ax.set_axisbelow(True)
    _draw_legend(ax)


def _draw_legend(ax: "Axes") -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_style.INK, linewidth=0.8, label="bound"),
        Line2D([], [], label="worst found", **_style.WORST),
        Line2D([], [], label="violated", **_style.BROKEN),
        Line2D([], [], color=_style.INK, marker="|", linestyle="", label="exact"),
        Line2D(
            [],
            [],
            color=_style.OPEN,
            marker="o",
            markersize=2.4,
            linestyle="",
            label="90 % of runs",
        ),
    ]
    ax.figure.legend(handles=handles, loc="outside lower center", ncols=5, columnspacing=1.2)


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    trials = _caption.join_words(map(str, np.unique(data["trials"])))
    return (
        "Each row a statement with explicit constants, on the problem of its theory figure. From the bound (0) to the left: "
        "the largest share of it that the theory figure's search reached with any problem of as many rounds (star; red cross, to the right, where an instance breaks it), the exact expectation on the plotted problem "
        f"(tick; left of it a star only where the search fell short of the plotted problem) and the 90 % quantile of {trials} runs (dot). Where there is no star, the search reached "
        "nothing above a millionth of the bound."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    worst, exact, _ = decades_over_bound(data)
    names = [f"{PAPERS[p]}, {t}" for p, t in zip(data["paper"].tolist(), data["title"].tolist())]
    broken = [names[n] for n in np.flatnonzero(data["broken"])]
    held = ~data["broken"] & np.isfinite(worst)
    tight = names[int(np.argmax(np.where(held, worst, -np.inf)))]
    return (
        f"Between bound and worst case lie {_caption.number_text(-np.median(worst[held]))} decades in the median, between bound "
        f"and truth {_caption.number_text(-np.nanmedian(exact))}; nearest to its bound comes {tight}, at "
        f"{_caption.number_text(10 ** np.max(worst[held]))} of it. "
        + (f"Violated: {_caption.join_words(broken)}." if broken else "None is violated.")
    )


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    number = lambda value: f"{value:.4g}" if np.isfinite(value) else ""
    columns = ("title", "claim", "T", "bound", "worst", "exact", "high")
    return [
        ["statement", "claim", "rounds", "bound", "worst, share", "exact", "90 % of runs", ""],
        *(
            [title, claim, str(T), *map(number, numbers), "violated" if broken else ""]
            for (title, claim, T, *numbers), broken in zip(
                zip(*(data[name].tolist() for name in columns)), data["broken"]
            )
        ),
    ]


FIGURE = Figure(
    cites="all papers, explicit bounds",
    title="How far worst cases, expectations and runs stay below their bounds",
    shows=tuple(CLAIMS),
    compute=compute_arrays,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    height=5.4,
)

"""Code that the theory figures share: a bound over T, the exact expectation, sampled runs with
their band, and the worst case found.

80 % of the runs lie in the band; where a least expectation is bounded, they are averaged in the
round that attains it. The worst case is the statement's, over all problems and step sizes, not the
plotted problem's: it is drawn as the share of the bound that a search found some instance of T
rounds to reach, above the bound where that is violated.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory import discover
from fedtheory.comparison.result import Comparison
from fedtheory.errors import refuse
from fedtheory.figures import _caption, _parts, _style, _worst
from fedtheory.figures._record import Figure


class Curves(NamedTuple):
    """What a panel plots over the numbers of rounds T: the bound, the exact expectation (NaN where
    none is known), and the mean of the runs with the ends of their band."""

    T: np.ndarray
    bound: np.ndarray
    exact: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def read_curves(found: Comparison, exact: np.ndarray | None = None) -> Curves:
    """Return the curves of a comparison; `exact`, where given, stands for its exact expectation."""
    exact = found.left_exact if exact is None else exact
    known = np.full(len(found.T), np.nan) if exact is None else exact
    return Curves(found.T, found.right, known, found.left, found.low, found.high)


def letters_at(found: Comparison, T: int) -> dict[str, float]:
    """Return the values of a comparison's letters at T rounds."""
    (n,) = np.flatnonzero(found.T == T)
    return {name: np.ravel(v)[n if np.ndim(v) else 0].item() for name, v in found.numbers.items()}


def claim_id(panel: str) -> str:
    """Return the id of a panel's claim. A panel is named after the claim, with a suffix after @
    where a claim has several panels."""
    return panel.partition("@")[0]


def array_name(panel: str, name: str) -> str:
    """Return the name of a panel's array."""
    return f"{panel.replace('.', '_').replace('@', '_')}_{name}"


def search_panel(
    id: str, curves: Curves, rounds: Iterable[int], seconds: float, line: int = 0, **shape: Any
) -> dict[str, np.ndarray]:
    """Return a panel's arrays by name, with the worst case found by a search of the given seconds
    at each of the given numbers of rounds that the panel shows."""
    rounds = [T for T in rounds if T in curves.T]
    worst = _worst.search_once(claim_id(id), rounds, seconds, line, **shape)
    return panel_arrays(id, curves, rounds, worst)


def panel_arrays(
    id: str, curves: Curves, worst_T: Sequence[int], worst: _worst.Worst
) -> dict[str, np.ndarray]:
    """Return a panel's arrays by name, with the worst cases at the numbers of rounds worst_T, each
    of them among the panel's own."""
    curves = Curves(*map(np.asarray, curves))
    measured = np.array(curves[2:], float)
    if (measured < 0).any():
        refuse(f"{id}: what is measured", "must be no square below 0", np.nanmin(measured))
    at = np.array([np.flatnonzero(curves.T == T)[0] for T in worst_T], int)
    # The panel's own problem is an instance too: no worst case is below what is exact there.
    ratios = np.fmax(worst.ratios, (curves.exact / curves.bound)[at])
    found = dict(
        curves._asdict(),
        worst_T=worst_T,
        worst_ratio=ratios,
        worst_broken=worst.broken,
        worst_bound=curves.bound[at],
        cites=discover.claim(claim_id(id)).cites,
    )
    return {array_name(id, name): np.asarray(value) for name, value in found.items()}


def compute_panels(
    panel: Callable[[str, str], dict[str, np.ndarray]],
    ids: Collection[str],
    scale: str,
    progress: Callable[[int, int], None],
) -> dict[str, np.ndarray]:
    """Return the arrays of all panels, each computed once by `panel(id, scale)`."""
    found: dict[str, np.ndarray] = {}
    for n, id in enumerate(ids):
        found |= _parts.compute_part(panel, id, scale)
        progress(n + 1, len(ids))
    return found


def theory_figure(
    cites: str,
    compute: Callable,
    draw: Callable,
    about: str,
    titles: dict[str, str],
    measured: str,
    letter: str = "T",
    without: Collection[str] = (),
    **layout: Any,
) -> Figure:
    """Build the Figure of the panels in `titles`, {id: title}. `compute` is defined in the figure's
    own file, whose name identifies the saved arrays; `about` is the caption's text on the problems,
    and `measured` names the measured quantity."""
    return Figure(
        cites=cites,
        title="Bounds, exact expectation, runs and worst cases",
        shows=tuple(dict.fromkeys(map(claim_id, titles))),
        compute=compute,
        draw=draw,
        rows=partial(rows_of, ids=titles, left=measured),
        caption=partial(write_caption, about=about),
        says=partial(describe_result, titles=titles, letter=letter, without=without),
        width="page",
        **layout,
    )


def has_violation(data, id):
    """Tell whether some instance violates a panel's statement."""
    return bool(data[array_name(id, "worst_broken")].any())


def draw_panel(ax, data, id, method, title=None):
    """Draw one statement on logarithmic axes: runs in the look of their method, the bound, the
    exact expectation, and the worst case."""
    of = lambda name: data[array_name(id, name)]
    _style.draw_band(ax, of("T"), of("mean"), of("low"), of("high"), method, label="runs")
    ax.plot(of("T"), of("bound"), label="bound", **_style.BOUND)
    ax.plot(
        of("T"),
        of("exact"),
        label="exact" if np.isfinite(of("exact")).any() else "_",
        **_style.EXACT,
    )
    plot_worst(ax, data, id)
    title = title or str(of("cites")).partition(", ")[2]
    ax.set(xscale="log", yscale="log", title=title)
    if has_violation(data, id):
        ax.set_title(f"{title}: violated", color=_style.DIFFER)


def plot_worst(ax, data, id):
    """Plot the largest ratios that a search found as stars, and as crosses where an instance
    violates the bound."""
    of = lambda name: data[array_name(id, name)]
    high = of("worst_ratio") * of("worst_bound")
    for which, look in ((~of("worst_broken"), _style.WORST), (of("worst_broken"), _style.BROKEN)):
        if np.isfinite(high[which]).any():
            ax.plot(of("worst_T")[which], high[which], label="_", **look)


def draw_trivial(ax, level):
    """Draw the level that holds without any training."""
    ax.axhline(level, color=_style.OPEN, linewidth=0.7, linestyle=":")


def say_trivial(ax, level, text, high=True):
    """Write the name of the trivial level at its right end."""
    ax.annotate(
        text,
        (1, level),
        xycoords=("axes fraction", "data"),
        xytext=(-1, 2 if high else -2),
        textcoords="offset points",
        ha="right",
        va="bottom" if high else "top",
        fontsize=_style.SMALL,
        color=_style.OPEN,
    )


def say_worst(ax, across, high, text="worst case found\nfor any problem,\nas share of bound"):
    """Draw a star with its explanation to the right, at a place in fractions of the axes."""
    _name_curve(ax, across, high, text, _style.WORST)


def say_broken(ax, across, high, text="an instance\nbreaks it"):
    """Draw a cross with its explanation to the right, at a place in fractions of the axes."""
    _name_curve(ax, across, high, text, _style.BROKEN)


def _name_curve(ax, across, high, text, look):
    ax.plot(across, high, transform=ax.transAxes, label="_", **look)
    ax.annotate(
        text,
        (across, high),
        xycoords="axes fraction",
        xytext=(4, _style.SMALL / 2),
        textcoords="offset points",
        va="top",
        fontsize=_style.SMALL,
        color=look["color"],
        linespacing=1.05,
    )


def draw_panels(figure, data, ids, method, left, trivial=None, xlabel="$T$", titles=None):
    """Draw the panels of several statements with common axes, and the trivial level where one is
    given; return the axes."""
    axes = figure.subplots(1, len(ids), sharex=True, sharey=True, squeeze=False)[0]
    for ax, id in zip(axes, ids):
        draw_panel(ax, data, id, method, (titles or {}).get(id))
        if trivial is not None:
            draw_trivial(ax, trivial[0])
        ax.set_xlabel(xlabel)
    axes[0].set_ylabel(left)
    return axes


def rows_of(data, ids, left):
    """Return the plotted numbers as a table."""
    found = [
        [
            "statement",
            "T",
            "bound",
            f"{left}, exact",
            "runs, mean",
            "80 % from",
            "to",
            "worst case, share",
            "",
        ]
    ]
    shown = lambda value: f"{value:.5g}" if np.isfinite(value) else ""
    for id in ids:
        of = lambda name: data[array_name(id, name)]
        worst = zip(of("worst_T").tolist(), of("worst_ratio"), of("worst_broken"))
        shares = {T: (ratio, broken) for T, ratio, broken in worst}
        for n, T in enumerate(of("T").tolist()):
            found.append(
                [
                    id,
                    f"{T}",
                    *(shown(of(name)[n]) for name in ("bound", "exact", "mean", "low", "high")),
                    f"{shares[T][0]:.4g}" if T in shares and np.isfinite(shares[T][0]) else "",
                    "violated" if T in shares and shares[T][1] else "",
                ]
            )
    return found


READ = (
    "Band: from the 10 % to the 90 % quantile of {trials} runs around their mean; thin line: exact "
    "expectation; dashed: the bound. Stars: the largest share of the bound that a search reached with "
    "any problem, step size and law of that many rounds, certain in exact arithmetic, or the plotted "
    "problem's own share where that is larger; a red cross: an instance at which the bound is violated."
)


def write_caption(data, about):
    """Return the text on what is plotted: the setup, the saved constants, and how to read the
    lines."""
    given = f" Constants: {data['constants']}." if "constants" in data else ""
    return f"{about}{given} " + READ.format(trials=int(data["trials"]))


def trivial_level(data, id):
    """Return the level that holds without any training; nan where a panel has no such level."""
    level = data.get(array_name(id, "trivial"), data.get("trivial", np.nan))
    return float(np.ravel(level)[0])


def describe_result(data, titles, letter="T", without=()):
    """Return a text on the panels: the bound over the truth at the right end, the T from which the
    bound is below the trivial level, and the violated statements. `titles` maps ids to the panels'
    names."""
    ends, speaks, silent = {}, {}, []
    for id, title in titles.items():
        of = lambda name: data[array_name(id, name)]
        truth = np.where(np.isfinite(of("exact")), of("exact"), of("mean"))
        ends[title] = of("bound")[-1] / truth[-1]
        below = np.flatnonzero(of("bound") < trivial_level(data, id))
        if id in without:
            continue
        if len(below):
            speaks.setdefault(int(of("T")[below[0]]), []).append(title)
        else:
            silent.append(title)
    least, most = min(ends, key=ends.get), max(ends, key=ends.get)
    last = {int(data[array_name(id, "T")][-1]) for id in titles}
    end = f" (${letter}={_caption.bare_number(max(last))}$)" if len(last) == 1 else "s"
    found = (
        f"At the right end{end} the bound is "
        f"{_caption.number_text(ends[least])} ({least}) to {_caption.number_text(ends[most])} ({most}) times the "
        "truth."
    )
    when = [f"${letter}={T}$ ({_caption.join_words(names)})" for T, names in sorted(speaks.items())]
    if when:
        found += f" Of the plotted numbers of rounds, it first beats what is trivial at {', '.join(when)}."
    if silent:
        found += f" Never there: {_caption.join_words(silent)}."
    return f"{found} {describe_broken(data, titles, letter)}"


def describe_broken(data, titles, letter="T"):
    """Return a text on which statements some instance violates, and by what ratio."""
    told = []
    for id, title in titles.items():
        if has_violation(data, id):
            at = data[array_name(id, "worst_broken")]
            ratio = np.where(at, data[array_name(id, "worst_ratio")], -np.inf)
            n = int(np.argmax(np.nan_to_num(ratio, nan=-np.inf)))
            T = data[array_name(id, "worst_T")][n]
            told.append(
                f"{title} (left over right {_caption.number_text(ratio[n], 3)} at ${letter}={T}$)"
            )
    return (
        f"Violated by an instance: {_caption.join_words(told)}."
        if told
        else "No instance that was found violates any of them."
    )

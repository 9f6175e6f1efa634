"""FSL, theorem 1: which of its constants, terms and hypotheses are needed for the theorem to be
true.

Each mark is a wrong relative of the statement, made by one change: killed by an exact
counterexample, surviving the search (evidence of slack, no proof; the darker, the nearer an instance
came to breaking it), implied by the statement, hence no wrong relative, or such that the search found
no instance that could speak against it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import discover
from fedtheory.figures import _style
from fedtheory.figures._record import Figure
from fedtheory.verdicts import mutation_testing

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

    from fedtheory.language.claim import Claim
    from fedtheory.verdicts.mutants import Mutant

CLAIM = "fsl.theorem1"
KINDS = dict(
    term="left out",
    scale="halved or doubled",
    factor="power changed",
    swap="swapped",
    condition="left out",
    ceiling="2 or 8 times as far",
)
SECONDS = dict(smoke=2.0, quick=60.0, paper=240.0)  # of search, altogether
STATES = {
    "killed": (_style.AGREE, "x"),
    "survives": (_style.DIFFER, "o"),
    "implied": (_style.OPEN, "_"),
    "unasked": (_style.OPEN, "."),
}
# Kinds of changes that stand below each other, and what heads them
COLUMNS = {  # long names have no powers: they may run below that heading
    "power": ("factor",),
    "½, 2": ("scale", "ceiling"),
    "out": ("term", "condition", "swap"),
}


def is_small_scale(mutant: "Mutant") -> Any:
    """Tell whether a change is tested at smoke scale: changes of the statement's own terms and of
    its hypotheses."""
    return mutant.at[0] == "condition" or mutant.at[0] == "term" and ", in" not in mutant.change


def part_of(claim: "Claim", mutant: "Mutant") -> Any:
    """Return the part of the claim that a change is in: `(12)`, a defined symbol as LaTeX,
    `symbols` or `hypotheses`."""
    if mutant.at[0] in ("condition", "ceiling"):
        return "hypotheses"
    if mutant.at[0] == "swap":
        return "symbols"
    if ", in " in mutant.change:
        return claim.symbols[mutant.change.rpartition(", in ")[2]].latex
    return "(12)"


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    claim = discover.claim(CLAIM)
    found = mutation_testing.mutate(
        claim,
        SECONDS[scale],
        progress=lambda done, total, _: progress(done, total),
        only=is_small_scale if scale == "smoke" else lambda mutant: True,
    )
    made = found.mutants
    return dict(
        change=np.array([m.change for m in made]),
        state=np.array([mutant_state(m) for m in made]),
        reached=np.array([largest_ratio(m) for m in made]),
        part=np.array([part_of(claim, m) for m in made]),
        kind=np.array([m.at[0] for m in made]),
        about=np.array([change_text(claim, m) for m in made]),
        statement=np.array(claim.latex()),
    )


def mutant_state(mutant: "Mutant") -> str:
    if mutant.implied or mutant.killed:
        return "implied" if mutant.implied else "killed"
    return "survives" if mutant.asked else "unasked"


def largest_ratio(mutant: "Mutant") -> Any:
    """Return the largest ratio of left to right that was found for a surviving mutant; NaN for
    other mutants or where no ratio was found."""
    ratio = mutant.verdict.tightness if mutant.verdict is not None else None
    return np.nan if ratio is None or mutant_state(mutant) != "survives" else float(ratio)


def change_text(claim: "Claim", mutant: "Mutant") -> Any:
    """Return the object of a change in the paper's letters."""
    kind, *names = mutant.at
    if kind in ("condition", "ceiling"):
        found = next(a for a in claim.assumptions if a.name == names[0])
        where = re.sub(r"T_(\w+)", r"$T_{\1}$", found.where)
        return where if found.relation is not None else f"{names[0].replace('_', ' ')} ({where})"
    if kind in ("factor", "swap"):
        return ", ".join(f"${claim.table[name].latex}$" for name in names)
    return f"${mutant_latex(claim, names[0])}$"


def mutant_latex(claim: "Claim", text: str) -> Any:
    """Return a term's formula as LaTeX: the symbol that is defined as the text, or the part of the
    statement whose plain form is the text."""
    import sympy

    for symbol, whole in claim.definitions.items():
        if claim.plain(whole) == text:
            return claim.latex(symbol)
    for whole in (claim.lines[0][2], *claim.definitions.values()):
        for part in sympy.preorder_traversal(whole):
            if claim.plain(part) == text:
                return sympy.latex(
                    part, symbol_names=claim.table.latex_names(), fold_short_frac=True
                )
    return rf"\mathrm{{{text}}}"


def group_mutants(data: Mapping[str, np.ndarray]) -> Any:
    """Return {(part, about): [(kind, state, ratio reached), ...]}, with marks in the order of
    COLUMNS."""
    found, order = {}, {"(12)": 0, "symbols": 98, "hypotheses": 99}
    names = ("part", "about", "kind", "state", "reached")
    for part, what, *mark in zip(*(data[name].tolist() for name in names)):
        found.setdefault((part, what), []).append(tuple(mark))
    found = {key: sorted(marks, key=lambda m: kind_column(m[0])) for key, marks in found.items()}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0][0], 1)))


def kind_column(kind: Sequence[str]) -> Any:
    """Return the index in COLUMNS of a kind of change."""
    return next(n for n, kinds in enumerate(COLUMNS.values()) if kind in kinds)


def column_slots(found: Any) -> Any:
    """Return, for each of COLUMNS, the largest number of marks in any row."""
    count = lambda marks, n: sum(kind_column(kind) == n for kind, *_ in marks)
    return [max(count(marks, n) for marks in found.values()) for n in range(len(COLUMNS))]


MARK, GAP = 7.5, 6.0  # points: from one mark to the next, and between COLUMNS


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    found = group_mutants(data)
    count = len(found) + len({part for part, _ in found})
    columns = 3 if count > 40 else 2
    size = -(-count // columns) + 1
    width, height = figure.get_size_inches() * 72
    ax.set(xlim=(0, width), ylim=(height, 0))
    top, wide = 12.0, width / columns
    step = min(30.0, (height - 18 - top) / size)
    starts = np.cumsum([0, *(MARK * n + GAP * (n > 0) for n in column_slots(found))])
    for n in range(columns):  # where each kind of mark begins, and its heading
        for heading, start, end in zip(COLUMNS, starts, starts[1:]):
            if end > start:
                x = wide * (n + 1) - 9 - starts[-1] + GAP + start
                ax.text(x - 4, 7, heading, fontsize=_style.SMALL, va="center", color=_style.OPEN)
    place, last = 0, None
    for (part, what), marks in found.items():
        if part != last and place % size == size - 1:  # no heading alone at a column's foot
            place += 1
        for kind in ("heading",) * (part != last) + ("row",):
            x, y = wide * (place // size), top + step * (place % size + 0.5)
            if kind == "heading":
                bold = dict(fontsize=_style.NORMAL, weight="bold", va="center")
                ax.text(x, y, HEADINGS.get(part, f"in ${part}$"), **bold)
            else:
                colour = _style.PALE if place % 2 else "white"
                ends = x / width, (x + wide - 8) / width
                ax.axhspan(y - step / 2, y + step / 2, *ends, linewidth=0, color=colour)
                ax.text(x + 4, y, what, fontsize=_style.SMALL, va="center")
                draw_row(ax, marks, x + wide - 9 - starts[-1] + GAP, y, starts)
            place += 1
        last = part
    _draw_legend(ax, data, width, height - 7)


def draw_row(
    ax: "Axes",
    marks: Mapping[tuple[int, int], tuple[str, str]],
    x: np.ndarray,
    y: np.ndarray,
    starts: Any,
) -> None:
    """Draw a row's marks, each below the heading of its kind."""
    used = [0] * len(COLUMNS)
    for kind, state, ratio in marks:
        n = kind_column(kind)
        draw_mark(ax, x + starts[n] + MARK * used[n], y, state, ratio)
        used[n] += 1


def draw_mark(ax: "Axes", x: np.ndarray, y: np.ndarray, state: Any, ratio: float = np.nan) -> None:
    """Draw a mark; the mark of a surviving mutant is darker the nearer its ratio is to 1."""
    colour, marker = STATES[state]
    share = 0.0 if np.isnan(ratio) else min(max(ratio, 0.0), 1.0)
    inside = _style.tint_colour(colour, share) if state == "survives" else "none"
    look = dict(color=colour, markersize=4.2, markeredgewidth=1.1, markerfacecolor=inside)
    ax.plot(x, y, marker, **look)


def _draw_legend(ax: "Axes", data: Mapping[str, np.ndarray], width: int, y: np.ndarray) -> None:
    x = 0.0
    for state, words in LEGEND.items():
        count = int(np.sum(data["state"] == state))
        if count:
            draw_mark(ax, x + 4, y, state)
            said = dict(fontsize=_style.SMALL, va="center", color=STATES[state][0])
            ax.text(x + 11, y, f"{words}: {count}", **said)
        x += width * LEGEND_WIDTHS[state]


LEGEND = {
    "killed": "refuted by a counterexample",
    "survives": "not refuted, darker near 1",
    "implied": "follows from the statement",
    "unasked": "none found to ask",
}
LEGEND_WIDTHS = dict(killed=0.28, survives=0.27, implied=0.25, unasked=0.2)
HEADINGS = {"(12)": "in (12) itself", "symbols": "symbols swapped", "hypotheses": "hypotheses"}


def table_rows(data: Mapping[str, np.ndarray]) -> Any:
    return [
        ["part", "change", "outcome", "largest ratio"],
        *(
            [part, change, state, "" if np.isnan(ratio) else f"{ratio:.4g}"]
            for part, change, state, ratio in zip(
                *(data[name].tolist() for name in ("part", "change", "state", "reached"))
            )
        ),
    ]


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    return (
        f"{len(data['state'])} relatives of theorem 1, each by one change: a term left out, a number halved or doubled, a "
        "power changed, symbols swapped, a hypothesis left out, a ceiling 2 or 8 times as far. Cross: refuted by an "
        "exact counterexample; ring: not refuted, with the largest ratio of left to right that was reached, dark "
        "near 1; bar: it follows from the statement; dot: no instance was found that could speak against it."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    count = lambda state: int(np.sum(data["state"] == state))
    return (
        f"{count('killed')} are refuted, {count('implied')} follow from the statement, {count('survives')} are not "
        f"refuted: slack, or too short a search; for {count('unasked')} no instance was found that could tell."
    )


FIGURE = Figure(
    cites="FSL, theorem 1",
    title="What the truth of theorem 1 needs",
    shows=(CLAIM,),
    compute=compute_arrays,
    minutes=1.2,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    rows=table_rows,
    width="page",
    height=5.6,
)

"""FSL, theorem 1: which of its constants, terms and hypotheses the truth needs.

Each mark is a wrong relative of the statement, made by one change: killed by an exact
counterexample, surviving the search (evidence of slack, no proof), or implied by the statement,
hence no wrong relative.
"""

import re

import numpy as np

from fedtheory import discover
from fedtheory.figures import _style
from fedtheory.figures._record import Figure
from fedtheory.verdicts import mutation

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
}


def small(mutant):
    """What is changed at smoke scale: the statement's own terms and its hypotheses."""
    return mutant.at[0] == "condition" or mutant.at[0] == "term" and ", in" not in mutant.change


def part_of(claim, mutant):
    """The line's term, the definition, or the hypothesis that a change is in."""
    if mutant.at[0] in ("condition", "ceiling"):
        return "hypotheses"
    if mutant.at[0] == "swap":
        return "symbols"
    if ", in " in mutant.change:
        return claim.symbols[mutant.change.rpartition(", in ")[2]].latex
    return "(12)"


def compute(scale, progress):
    claim = discover.claim(CLAIM)
    found = mutation.mutate(
        claim,
        SECONDS[scale],
        progress=lambda done, total, _: progress(done, total),
        only=small if scale == "smoke" else lambda mutant: True,
    )
    made = found.mutants
    states = ["implied" if m.implied else "killed" if m.killed else "survives" for m in made]
    return dict(
        change=np.array([m.change for m in made]),
        state=np.array(states),
        part=np.array([part_of(claim, m) for m in made]),
        kind=np.array([m.at[0] for m in made]),
        about=np.array([about(claim, m) for m in made]),
        statement=np.array(claim.latex()),
    )


def about(claim, mutant):
    """What a change is about, in the paper's letters."""
    kind, *names = mutant.at
    if kind in ("condition", "ceiling"):
        found = next(a for a in claim.assumptions if a.name == names[0])
        where = re.sub(r"T_(\w+)", r"$T_{\1}$", found.where)
        return where if found.relation is not None else f"{names[0].replace('_', ' ')} ({where})"
    if kind in ("factor", "swap"):
        return ", ".join(f"${claim.table[name].latex}$" for name in names)
    return f"${mutant_latex(claim, names[0])}$"


def mutant_latex(claim, text):
    """A term's formula: of the symbol so defined, or the part of the statement that reads like the
    text."""
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


def groups(data):
    """(part, about) -> [(kind, state), ...], in the order in which they were made."""
    found = {}
    order = {"(12)": 0, "symbols": 98, "hypotheses": 99}
    for part, what, kind, state in zip(
        *(data[name].tolist() for name in ("part", "about", "kind", "state"))
    ):
        found.setdefault((part, what), []).append((kind, state))
    return dict(sorted(found.items(), key=lambda item: order.get(item[0][0], 1)))


def draw(figure, data):
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    found = groups(data)
    count = len(found) + len({part for part, _ in found})
    columns = 3 if count > 40 else 2
    size = -(-count // columns) + 1
    width, height = figure.get_size_inches() * 72
    ax.set(xlim=(0, width), ylim=(height, 0))
    step, marks = min(33.0, (height - 16) / (size + 1)), 9.0
    place, last = 0, None
    for (part, what), states in found.items():
        heading = part != last
        if heading and place % size == size - 1:  # no heading alone at a column's foot
            place += 1
        for kind in ("heading",) * heading + ("row",):
            x, y = width / columns * (place // size), step * (place % size + 0.7)
            if kind == "heading":
                ax.text(
                    x,
                    y,
                    HEADINGS.get(part, f"in ${part}$"),
                    fontsize=_style.NORMAL,
                    weight="bold",
                    va="center",
                )
            else:
                ax.text(x + 4, y, what, fontsize=_style.SMALL, va="center")
                right = x + width / columns - 12
                ax.axhspan(
                    y - step / 2,
                    y + step / 2,
                    x / width,
                    (right + 5) / width,
                    linewidth=0,
                    color=_style.PALE if place % 2 else "white",
                )
                for n, (_, state) in enumerate(reversed(states)):
                    colour, marker = STATES[state]
                    ax.plot(
                        right - n * marks,
                        y,
                        marker,
                        color=colour,
                        markersize=4.2,
                        markeredgewidth=1.1,
                        markerfacecolor="none",
                    )
            place += 1
        last = part
    x, legend = 0, step * (size + 0.7) + 8
    for state, words in LEGEND.items():
        colour, marker = STATES[state]
        ax.plot(
            x + 4,
            legend,
            marker,
            color=colour,
            markersize=4.2,
            markeredgewidth=1.1,
            markerfacecolor="none",
        )
        count = int(np.sum(data["state"] == state))
        ax.text(
            x + 11, legend, f"{words}: {count}", fontsize=_style.SMALL, va="center", color=colour
        )
        x += width / 3


LEGEND = {
    "killed": "refuted by a counterexample",
    "survives": "not refuted (slack, or too short a search)",
    "implied": "follows from the statement",
}
HEADINGS = {"(12)": "in (12) itself", "symbols": "symbols swapped", "hypotheses": "hypotheses"}


def rows(data):
    return [
        ["part", "change", "outcome"],
        *(
            list(each)
            for each in zip(*(data[name].tolist() for name in ("part", "change", "state")))
        ),
    ]


def caption(data):
    return (
        f"{len(data['state'])} relatives of theorem 1, each by one change: a term left out, a number halved or doubled, a "
        "power changed, symbols swapped, a hypothesis left out, a ceiling 2 or 8 times as far. Cross: refuted by an "
        "exact counterexample; ring: not refuted, with the largest ratio of left to right that was reached, dark "
        "near 1; bar: it follows from the statement."
    )


def says(data):
    count = lambda state: int(np.sum(data["state"] == state))
    return (
        f"{count('killed')} are refuted, {count('implied')} follow from the statement, {count('survives')} are not "
        "refuted: slack, or too short a search."
    )


FIGURE = Figure(
    cites="FSL, theorem 1",
    title="What the truth of theorem 1 needs",
    shows=(CLAIM,),
    compute=compute,
    caption=caption,
    says=says,
    draw=draw,
    rows=rows,
    width="page",
    height=5.6,
)

"""Flex, table 2: the share of E local steps that a device completes under each of the eight traces.

The table gives means and deviations only. Ours are the distributions of
fedtheory.participation.traces at E = 5, which have both; the samples are what Participation draws.
"""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.figures import _caption, _style, _table
from fedtheory.figures._flex import E
from fedtheory.figures._record import Arrays, Figure, Progress
from fedtheory.participation import Participation
from fedtheory.participation.traces import NAMES, TABLE, pmf, trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SEEDS = 5
ROUNDS = dict(smoke=200, quick=2000, paper=20000)


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    rounds, sampled = ROUNDS[scale], np.empty((len(NAMES), SEEDS, 2))
    for n, name in enumerate(NAMES):
        progress(n, len(NAMES))
        law = Participation(work=trace(name))
        for seed in range(SEEDS):
            _, work = law.draw(seed, np.arange(1), 0, rounds, 1, np.full(rounds, E), 1)
            sampled[n, seed] = 100 * work.mean() / E, 100 * work.std() / E
    return {"pmf": np.array([pmf(name, E) for name in NAMES]), "sampled": sampled}


def exact_moments(data: Arrays) -> np.ndarray:
    """Return the exact means and standard deviations (traces, 2) of the distributions, in percent
    of E."""
    share = 100 * np.arange(E + 1) / E
    mean = data["pmf"] @ share
    return np.column_stack([mean, np.sqrt(np.maximum(data["pmf"] @ share**2 - mean**2, 0))])


def table_rows(data: Arrays) -> list[list[str]]:
    found = [
        [
            "trace",
            *(
                f"{what}, {side}"
                for what in ("mean", "deviation")
                for side in ("exact", "sampled", "paper")
            ),
            "P(s = E)",
            "P(s = 0)",
        ]
    ]
    for name, law, sampled, ours in zip(NAMES, data["pmf"], data["sampled"], exact_moments(data)):
        sides = (
            [f"{value:.1f}", _table.spread_of(samples), f"{said:.1f}"]
            for value, samples, said in zip(ours, sampled.T, TABLE[name])
        )
        found.append(
            [name, *(cell for side in sides for cell in side), f"{law[E]:.4f}", f"{law[0]:.4f}"]
        )
    return found


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    axes = figure.subplots(2, 4, sharex=True, sharey=True)
    share = 100 * np.arange(E + 1) / E
    for ax, name, law, (mean, deviation) in zip(axes.flat, NAMES, data["pmf"], exact_moments(data)):
        ax.bar(share, law, width=13, color=_style.algorithm_look("flex_c").colour, alpha=0.75)
        ax.plot([TABLE[name][0]] * 2, [0, 1], color=_style.DIFFER, linewidth=0.9)
        kind = name.partition("_")[2]
        ax.set_title(
            rf"$\mathcal{{T}}_{{{kind if kind.isdigit() else chr(92) + 'mathrm{' + kind + '}'}}}$  "
            f"{mean:.1f} ± {deviation:.1f}"
        )
        ax.set(ylim=(0, 1), xticks=(0, 20, 40, 60, 80, 100))
    axes[0, 0].text(
        94, 0.5, "the paper's mean", color=_style.DIFFER, fontsize=_style.SMALL, ha="right"
    )
    for ax in axes[1]:
        ax.set_xlabel("% of $E$ done")
    for ax in axes[:, 0]:
        ax.set_ylabel("probability")


def write_caption(data: Arrays) -> str:
    return (
        f"Bars: our laws of the share of E = {E} local steps, which have the table's means and deviations exactly (in "
        f"the titles, mean ± deviation over rounds); red: the paper's mean. Sampled: {SEEDS} seeds, ± their deviation."
    )


def describe_result(data: Arrays) -> str:
    error = np.abs(data["sampled"] - exact_moments(data)[:, None]).max()
    return f"Sampled means and deviations are within {_caption.number_text(error)} points of the exact ones."


FIGURE = Figure(
    cites="flex, table 2",
    title="What devices complete under the eight traces, E = 5",
    compute=compute_arrays,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    rows=table_rows,
    width="page",
    stacks=True,
    height=2.7,
)

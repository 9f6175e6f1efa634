"""FSL, figure 2: accuracy and rise time over the server's weight gamma, for several learning rates
and sizes of the server's data. gamma = 0 is DS, as in the paper, and FL is shown for comparison."""

import numpy as np

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _fsl, _style
from fedtheory.figures._record import Figure

GAMMAS = tuple(f"{gamma:g}" for gamma in fsl_scenario1.GAMMAS)
RATES = tuple(fsl_scenario1.RATES)
DASHES = (_style.SHORT, "-", _style.LONG)


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(fsl_scenario1.EXPERIMENT.runs_of("fig2", scale), progress)


def settings(read):
    """Return (set, C, rate, samples per class) of every line."""
    return list(dict.fromkeys(cell[:4] for cell in read.cells))


def base(read, place):
    """Return the set's own number of server samples per class, at which the rates vary."""
    return next(cell[3] for cell in settings(read) if cell[0] == place)


def draw_figure(figure, data):
    read = _fsl.Read(data)
    gammas = [0, *map(float, GAMMAS)]
    axes = figure.subplots(2, 4, sharex=True, squeeze=False)
    for row, quantity in zip(axes, ("final_accuracy", "rise_time")):
        for column, place in enumerate(fsl_scenario1.SETS):
            C = read.having(place)[0][1]
            mine = [cell for cell in settings(read) if cell[:2] == (place, C)]
            by_rate = [cell for cell in mine if cell[3] == base(read, place)]
            by_size = sorted((cell for cell in mine if cell[2] == "base"), key=lambda c: int(c[3]))
            for ax, chosen, place_of in (
                (row[2 * column], by_rate, 2),
                (row[2 * column + 1], by_size, 3),
            ):
                for n, (cell, dash) in enumerate(zip(chosen, DASHES)):
                    values = [read(quantity, *cell, name) for name in ("DS", *GAMMAS)]
                    label = f"$\\eta_l$ {cell[2]}" if place_of == 2 else f"{cell[3]} a class"
                    look = dict(linestyle=dash, label=label, marker="")
                    _fsl.draw_bars(ax, gammas, values, "FSL", (n, len(chosen)), **look)
                if quantity == "final_accuracy":
                    ax.set_title(f"{place} st.-in, $C={C}$: {'rate' if place_of == 2 else '$n_0$'}")
                else:
                    ax.set_xlabel(r"$\gamma$ (0: DS)")
        row[0].set_ylabel(
            quantity.replace("_", " ") + (" (share)" if quantity == "rise_time" else "")
        )
    _style.legend_below(figure, *axes[0], ncols=6)


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "C", "eta_l", "per class", "gamma"])


def helps(read):
    helped, more, plateau = {}, {}, {}
    for cell in settings(read):
        where = " ".join(cell)
        for quantity in ("final_accuracy", "rise_time"):
            by_gamma = {gamma: read(quantity, *cell, gamma) for gamma in GAMMAS}
            helped[quantity, "FSL gamma>0", where] = np.mean([*by_gamma.values()], axis=0)
            helped[quantity, "DS", where] = read(quantity, *cell, "DS")
            for gamma in ("0.5", "1.5"):
                plateau[quantity, f"FSL gamma={gamma}", where] = by_gamma[gamma]
        if (*cell, "FL") in read.place:
            fsl = read("final_accuracy", *cell, "1")
            for other in ("FL", "DS"):
                gain = fsl - read("final_accuracy", *cell, other)
                more["final_accuracy", f"FSL - {other}", where] = gain
    return helped, more, plateau


def by_dataset(read):
    found = {}
    for place in fsl_scenario1.SETS:
        cells = [cell for cell in settings(read) if cell[0] == place]
        levels = [
            np.mean([read("final_accuracy", *cell, gamma) for cell in cells], axis=0)
            for gamma in GAMMAS
        ]
        found["final_accuracy", "FSL", place] = np.column_stack(levels)
    where = "EMNIST C=1 large eta_l"
    cell = ("EMNIST", "1", "high", base(read, "EMNIST"))
    at = lambda gamma: read("final_accuracy", *cell, gamma)
    found["final_accuracy", "FSL gamma=1", where] = at("1")
    found["final_accuracy", "FSL gamma>1", where] = (at("1.5") + at("2")) / 2
    return found


def sizes(read):
    """Return the effect of the server's data: trends in n_0, and the gain from the fewest to the
    most samples."""
    found = {}
    for place in fsl_scenario1.SETS:
        gains = []
        for C in dict.fromkeys(cell[1] for cell in read.having(place)):
            mine = [c for c in settings(read) if c[:3] == (place, C, "base")]
            mine.sort(key=lambda cell: int(cell[3]))
            levels = np.column_stack([read("final_accuracy", *cell, "1") for cell in mine])
            found["final_accuracy", "FSL", f"{place} C={C}"] = levels
            gains.append(levels[:, -1] - levels[:, 0])
        found["accuracy_gain_from_n_0", place, ""] = np.mean(gains, axis=0)
    return found


def rates(read):
    found = {}
    for place in fsl_scenario1.SETS:
        cells = {cell[2]: cell for cell in settings(read) if cell[3] == base(read, place)}
        gain = lambda cell: read("rise_time", *cell, "DS") - read("rise_time", *cell, "1")
        found["rise_time_gain", "FSL", place] = np.column_stack([gain(cells[r]) for r in RATES])
    return found


def starts(read):
    found = {}
    for place in fsl_scenario1.SETS:
        cell = next(c for c in settings(read) if c[0] == place)
        for name, line in (("pretrained", "1"), ("random", "FL")):
            found["start_accuracy", name, place] = read.curve(*cell, line)[:, 0]
    return found


def judge_findings(data):
    read = _fsl.Read(data)
    helped, more, plateau = helps(read)
    return _fsl.judge_outcomes(
        data,
        {
            "fsl.fig2_gamma_helps": helped,
            "fsl.fig2_more_over_fl": more,
            "fsl.fig2_gamma_plateau": plateau,
            "fsl.fig2_gamma_by_dataset": by_dataset(read),
            "fsl.fig2_pretrain": starts(read),
            "fsl.fig2_n_0": sizes(read),
            "fsl.fig2_rise_eta_l": rates(read),
        },
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"FSL over $\\gamma$; at $\\gamma=0$ stands DS, as in the paper. Left of each pair: half, once and twice the base of $\\eta_l$; right: samples of each class at the server. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL, figure 2",
    title="Accuracy and rise time over the server's weight, learning rate and data",
    compute=compute_arrays,
    minutes=2.0,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=3.6,
)

"""Code that the figures of FSL's short paper share."""

import numpy as np

from fedtheory.experiments.records import fsl_short
from fedtheory.figures import _fsl, _style

METHODS = tuple(fsl_short.METHODS)
DASHES = (":", "--", "-")


def gather_figure(figure, scale, progress):
    return _fsl.gather_arrays(fsl_short.EXPERIMENT.runs_of(figure, scale), progress)


def mean_over_cells(read, quantity, cells):
    """Return a quantity (seeds,) averaged over several cells."""
    return np.mean([read(quantity, *cell) for cell in cells], axis=0)


def level_columns(read, quantity, cells):
    """Return a quantity (seeds, levels) with one column for each cell, in increasing order."""
    return np.column_stack([read(quantity, *cell) for cell in cells])


def by_epochs(figure, data, quantities=("final_accuracy", "rise_time")):
    """Draw accuracy and rise time over E_s, one line for each eta_0; FL and DS, which have no
    eta_0, are horizontal lines."""
    read = _fsl.Read(data)
    ratios = [ratio for ratio in read.parts(1) if ratio]
    for ax, quantity in zip(figure.subplots(1, len(quantities)), quantities):
        alone, drawn = [cell for cell in read.cells if not cell[1]], 0
        count = 2 * len(ratios) + len(alone)
        for method in ("FSL", "DSL"):
            for ratio, dash in zip(ratios, DASHES):
                cells = [c for c in read.cells if (c[1], c[3]) == (ratio, method)]
                values = [read(quantity, *cell) for cell in cells]
                label = f"{method}, $\\eta_0={float(ratio):g}\\,\\eta_l$"
                x, look = [int(cell[2]) for cell in cells], dict(linestyle=dash, marker="")
                _fsl.draw_bars(ax, x, values, method, (drawn, count), label=label, **look)
                drawn += 1
        for n, cell in enumerate(alone, drawn):
            values = [read(quantity, *cell)] * len(fsl_short.ES)
            _fsl.draw_bars(ax, fsl_short.ES, values, cell[3], (n, count), marker="")
        ax.set_xticks(fsl_short.ES)
        ax.set_xlabel("$E_s$")
        ax.set_ylabel(quantity.replace("_", " ") + (" (share)" if quantity == "rise_time" else ""))
    _style.legend_below(figure, figure.axes[0], ncols=4)


def draw_final_accuracy(figure, data, label):
    """Draw final accuracy over the second part of the cells' names, one line for each method."""
    read = _fsl.Read(data)
    ax = figure.subplots()
    x = [part for part in read.parts(1) if part]
    for n, method in enumerate(METHODS):
        cells = [cell for cell in read.cells if cell[2] == method]
        if len(cells) == len(x):
            _fsl.draw_bars(
                ax,
                [float(c[1]) for c in cells],
                [read("final_accuracy", *c) for c in cells],
                method,
                (n, len(METHODS)),
            )
        elif cells:
            values = [read("final_accuracy", *cells[0])] * len(x)
            at = [float(part) for part in x]
            _fsl.draw_bars(ax, at, values, method, (n, len(METHODS)), marker="")
    ax.set_xticks([float(part) for part in x], x)
    ax.set(xlabel=label, ylabel="test accuracy")
    _style.legend_below(figure, ax)


def draw_accuracy(figure, data, label):
    """Draw accuracy over rounds, one panel for each second part of the cells' names."""
    read = _fsl.Read(data)
    parts = read.parts(1)
    for ax, part in zip(figure.subplots(1, len(parts), sharey=True), parts):
        for cell in read.having("CIFAR-10", part):
            _fsl.draw_accuracy(ax, read, cell[2], *cell)
        ax.set(title=label(part), xlabel="round $k$")
    figure.axes[0].set_ylabel("test accuracy")
    _style.legend_below(figure, figure.axes[-1])

"""Code that FED-LAMB's figures share: each method at the best cell of its grid, the curves, and the
rows.

A cell is (*setting, method, alpha, lambda).
"""

import numpy as np

from fedtheory.experiments import _curves, _lamb
from fedtheory.figures import _fsl, _style, _table

NAMES = tuple(_lamb.MEASURE)
METHODS = tuple(_lamb.METHODS)
LAMB, AMS, SGD = METHODS


def best_cell(read, method, *setting):
    """Return the cell of a method with the best step size (and lambda), by final accuracy over all
    seeds."""
    setting = tuple(map(str, setting))
    cells = [cell for cell in read.cells if cell[:-3] == setting and cell[-3] == method]
    return max(cells, key=lambda cell: np.nan_to_num(read("final_accuracy", *cell)).mean())


def at_best(read, quantity, method, *setting):
    """Return a quantity (seeds,) at a method's best cell: a measure of its curve, or a loss at the
    end."""
    cell = best_cell(read, method, *setting)
    if quantity in _curves.MEASURES:
        return read(quantity, *cell)
    if quantity == "generalization_gap":
        return final_values(read, "test_loss", cell) - final_values(read, "loss", cell)
    return final_values(read, dict(train_loss="loss").get(quantity, quantity), cell)


def final_values(read, name, cell):
    return np.array([_curves.final(curve) for curve in read.curve(*cell, name=name)])


def draw_panel(ax, read, title, *setting):
    """Draw test accuracy over rounds, each method at its best cell."""
    for method in METHODS:
        cell = best_cell(read, method, *setting)
        curves = read.curve(*cell)
        _style.draw_band(
            ax,
            read.rounds(*cell),
            curves.mean(axis=0),
            curves.min(axis=0),
            curves.max(axis=0),
            _lamb.METHODS[method],
            label=method,
        )
    ax.set(title=title, xlabel="round $r$")
    ax.xaxis.get_major_locator().set_params(integer=True)


def table_rows(data, heads):
    read = _fsl.Read(data)
    head = [*heads, "method", "alpha", "lambda", "accuracy", "rise time", "test loss", "train loss"]
    found = [[*head, "best"]]
    for cell in read.cells:
        chosen = cell == best_cell(read, cell[-3], *cell[:-3])
        values = [read("final_accuracy", *cell), read("rise_time", *cell)]
        values += [final_values(read, name, cell) for name in NAMES[1:]]
        found.append([*cell, *map(_table.spread_of, values), "*" if chosen else ""])
    return found


def describe_result(read, settings):
    """Return a text with the final accuracy of each method and the rates at which the method
    reaches that accuracy."""
    told = []
    for label, setting in settings.items():
        for method in METHODS:
            cell = best_cell(read, method, *setting)
            rates = f"$\\alpha={cell[-2]}$" + (f", $\\lambda={cell[-1]}$" if method == LAMB else "")
            end = _table.spread_of(read("final_accuracy", *cell))
            told.append(f"{method} {end} ({label}, {rates})")
    return "Accuracy at the end: " + "; ".join(told) + "."


CURVES = (
    "Each method at the best step size of its grid, Fed-LAMB also at its best $\\lambda$. A line is the mean over "
    "seeds, its band goes from the least to the most."
)

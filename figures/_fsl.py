"""Code that FSL's accuracy figures share: pool runs as arrays, measures by cell, drawing, and the
judging of sentences."""

import numpy as np

from fedtheory import discover
from fedtheory.errors import refuse
from fedtheory.experiments import _curves, _pool
from fedtheory.experiments.data import _sets
from fedtheory.figures import _findings, _style

# Sentences that the small scales leave open, whatever is measured, and why.
TELLS_APART = "it tells data sets apart, which stand-ins cannot"
OPEN = {
    **dict.fromkeys(
        (
            "fsl.fig2_gamma_by_dataset",
            "fsl.fig2_n_0",
            "fsl.fig5_emnist",
            "fsl.fig5_cifar",
            "fsl.fig5_syn",
            "fsl.fig9_few_samples",
        ),
        TELLS_APART,
    ),
    "fsl.fig5_rates_easy": "it rests on the grid of step sizes, which the paper does not print: three values "
    "and four gave opposite verdicts",
}
PRINTED = "a printed number belongs to the paper's data and network, and stand-ins have their own"
BETWEEN = "|"  # in the name of a cell
METHODS = {
    "FL": "fedavg",
    "DS": "data_sharing",
    "FSL": "fsl",
    "FSL-p": "fsl_parallel",
    "DSL": "dsl",
    "FSLsyn": "fsl",
    "SCAFFOLD": "scaffold",
    "FedDyn": "feddyn",
}
STAND_INS = (
    "on stand-ins (handwriting for EMNIST, textures for CIFAR-10) with a small perceptron, "
    "not on the paper's data and networks"
)


def gather_arrays(runs, progress, names=("test_accuracy",)):
    """Run the requests {(cell, seed): request} and return their arrays: `cells` with the names of
    the cells, and each metric as (cells, seeds, measurements)."""
    found = _pool.several(list(runs.values()), progress)
    return gather_cells(runs, found, names)


def gather_present(runs, progress, names=("test_accuracy",)):
    """Return the arrays of `gather_arrays` where some data sets may be absent: runs on absent data
    are NaN. Refuse where no run has its data."""
    asked, _ = _pool.possible(list(runs.values()))
    found = {_pool.request_text(r): a for r, a in zip(asked, _pool.several(asked, progress))}
    if not found:
        refuse("data", "must be there for one run or more", "none")
    none = {
        name: np.full_like(values, np.nan) for name, values in next(iter(found.values())).items()
    }
    return gather_cells(
        runs, [found.get(_pool.request_text(r), none) for r in runs.values()], names
    )


def gather_cells(runs, found, names):
    cells = list(dict.fromkeys(cell for cell, _ in runs))
    seeds = len(runs) // len(cells)
    return {
        "cells": np.array([BETWEEN.join(map(str, cell)) for cell in cells]),
        "rounds": found[0]["rounds"],
        "real": np.array(all(_is_published(request) for request in runs.values())),
        **{
            name: np.array([run[name] for run in found]).reshape(len(cells), seeds, -1)
            for name in names
        },
    }


def join_arrays(parts):
    """Join several results of `gather_arrays` with runs of different lengths: the longest rounds,
    the number of measurements of each cell, and NaN beyond a cell's end."""
    parts = list(parts)
    longest = max(parts, key=lambda part: len(part["rounds"]))["rounds"]
    if any(not np.array_equal(p["rounds"], longest[: len(p["rounds"])]) for p in parts):
        refuse("rounds", "must be alike where they overlap", longest.tolist())
    fill = lambda values: np.pad(
        values, ((0, 0), (0, 0), (0, len(longest) - values.shape[2])), constant_values=np.nan
    )
    whole = {name: [part[name] for part in parts] for name in parts[0]}
    return {
        "cells": np.concatenate(whole["cells"]),
        "rounds": longest,
        "real": np.array(all(whole["real"])),
        "lengths": np.repeat(*zip(*((len(p["rounds"]), len(p["cells"])) for p in parts))),
        **{
            name: np.concatenate([fill(values) for values in several])
            for name, several in whole.items()
            if several[0].ndim == 3
        },
    }


def _is_published(request):
    """Tell whether a run uses a published data set."""
    return bool(_sets.find_set(request["set"]["name"]).layouts)


class Read:
    """A reader of saved arrays by cell: `read("final_accuracy", "EMNIST", 1, "FSL")` is an array
    over seeds."""

    def __init__(self, data):
        self.cells = [tuple(name.split(BETWEEN)) for name in data["cells"]]
        self.data, self.place = data, {cell: n for n, cell in enumerate(self.cells)}

    def curve(self, *cell, name="test_accuracy"):
        """Return a cell's curves (seeds, measurements) of test accuracy or of the named metric."""
        place = self.place[tuple(map(str, cell))]
        return self.data[name][place][:, : len(self.rounds(*cell))]

    def rounds(self, *cell):
        """Return the rounds (measurements,) at which a cell's runs were measured."""
        lengths = self.data.get("lengths")
        most = None if lengths is None else lengths[self.place[tuple(map(str, cell))]]
        return self.data["rounds"][:most]

    def __call__(self, quantity, *cell):
        measure = _curves.MEASURES[quantity]
        return np.array([measure(curve) for curve in self.curve(*cell)])

    def having(self, *start):
        """Return the cells whose names begin with the given parts."""
        start = tuple(map(str, start))
        return [cell for cell in self.cells if cell[: len(start)] == start]

    def parts(self, place):
        """Return the distinct parts that the cells have at a place of their names, in order of
        appearance."""
        return list(dict.fromkeys(cell[place] for cell in self.cells))


def judge_cells(id, cells, smaller=True, stand_ins=STAND_INS):
    """Judge a finding from its cells and return (verdict, sentence), where the sentence names the
    data. On stand-in data (`smaller`), comparisons with printed numbers are left out: these numbers
    hold for the paper's data and network only."""
    claim = discover.claim(id)
    if not smaller:
        return _findings.judge_claim(claim, cells)
    kept = _findings.of_stand_ins(claim)
    if not kept:
        return _findings.not_judged(PRINTED)
    verdict, sentence = _findings.judge_claim(claim, cells, compares=kept)
    if id in OPEN:
        verdict, why = _findings.not_judged(OPEN[id])
        sentence = f"{why}; of them it is {sentence}"
    if len(kept) < len(claim.compares):
        sentence += "; printed numbers are not compared"
    return verdict, f"{sentence}; {stand_ins}"


def is_smaller_scale(data):
    """Tell whether some of the data behind the arrays are not a published data set, as is so below
    the paper's scale."""
    return not data["real"]


def judge_outcomes(data, by_claim, stand_ins=STAND_INS):
    return {
        id: judge_cells(id, cells, is_smaller_scale(data), stand_ins)
        for id, cells in by_claim.items()
    }


def draw_accuracy(ax, read, method, *cell, label=None, **more):
    """Draw the rolling mean of the test accuracy: its mean over seeds as a line, its extremes over
    seeds as a band."""
    curves = np.array([_curves.rolling(curve) for curve in read.curve(*cell)])
    return _style.draw_band(
        ax,
        read.rounds(*cell),
        curves.mean(axis=0),
        curves.min(axis=0),
        curves.max(axis=0),
        METHODS[method],
        label=label or method,
        **more,
    )


def accuracy_rows(read, heads, quantities=tuple(_curves.MEASURES)):
    """Return a table row for every cell, header first: mean and standard deviation over seeds of
    each quantity."""
    from fedtheory.figures import _table

    head = [*heads, *(name.replace("_", " ") for name in quantities)]
    return [head] + [
        [*cell, *(_table.spread_of(read(name, *cell)) for name in quantities)]
        for cell in read.cells
    ]


def write_caption(data, text, stand_ins=STAND_INS):
    """Return the figure's own text followed by the data, rounds and seeds on which it was computed."""
    count, rounds = _seed_count(data), int(data["rounds"][-1])
    where = f"{stand_ins[0].upper()}{stand_ins[1:]}. " if is_smaller_scale(data) else ""
    return f"{text} {where}{rounds:,} rounds, {count} seeds, which all methods share."


def _seed_count(data):
    return next(values.shape[1] for values in data.values() if values.ndim == 3)


CURVES = (
    "Rolling means over 2 % of the rounds; a line is the mean over seeds, its band goes from the least "
    "to the most."
)
SPREADS = "A line is the mean over seeds, its bars go from the least to the most."


ROOM = 0.3  # of the distance of two places: what the bars of one place share


def draw_bars(ax, x, values, method, among=(0, 1), **more):
    """Draw means over seeds of values (x, seeds) in a method's look, with bars from the least to
    the greatest value, since bars of a standard deviation of shares could reach below 0. `among` =
    (n, count) shifts the n-th of several lines sideways so that no bar hides another."""
    style = _style.algorithm_look(METHODS[method])
    x, values, (n, count) = np.asarray(x, float), np.asarray(values), among
    room = ROOM * (np.diff(np.unique(x)).min() if len(x) > 1 else 1.0)
    mean = values.mean(axis=1)
    ax.errorbar(
        x + room * ((n + 0.5) / count - 0.5),
        mean,
        np.maximum(0.0, [mean - values.min(axis=1), values.max(axis=1) - mean]),  # rounding apart
        **{
            "color": style.colour,
            "linestyle": style.dash,
            "marker": style.marker,
            "capsize": 1.5,
            "elinewidth": 0.7,
            "label": method,
            **more,
        },
    )

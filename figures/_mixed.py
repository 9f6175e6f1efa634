"""Code that mixed FL's figures share: runs of a task by name, drawing, and the round at which a
loss is reached."""

import numpy as np

from fedtheory.claims.mixed.findings import RISE
from fedtheory.experiments import _curves
from fedtheory.experiments._mixed import METHODS
from fedtheory.figures import _caption, _fsl, _style, _table

LOOKS = METHODS | {"only FL": "fedavg", "oracle": "server_sgd", "baseline": "fedavg"}
STAND_INS = dict(
    smile="on drawn faces with a small perceptron, not on CelebA",
    language="on two made sources of characters with a small network, not on the paper's corpora",
    movies="on planted tastes with a small encoder, not on MovieLens",
)


def gather_tasks(progress, **tasks):
    """Gather the arrays of several tasks, {task: runs of an experiment}; the name of each array
    begins with its task."""
    found = {}
    for task, runs in tasks.items():
        names = next(iter(runs.values()))["measure"]
        found |= {f"{task}_{k}": v for k, v in _fsl.gather_arrays(runs, progress, names).items()}
    first = next(iter(tasks))
    real = all(found[f"{task}_real"] for task in tasks)
    return found | {"rounds": found[f"{first}_rounds"], "real": np.array(real)}


def read_task(data, task):
    """Return a reader of one task's runs by cell."""
    start = f"{task}_"
    return _fsl.Read({k.removeprefix(start): v for k, v in data.items() if k.startswith(start)})


def mean_curve(runs, cells, name):
    """Return the curve (seeds, measurements) averaged over one or more cells."""
    return np.mean([runs.curve(*cell, name=name) for cell in cells], axis=0)


def draw_curves(ax, runs, name, cells, dashes=None, label=None):
    """Draw curves given as {label: (look, cells)}: the mean over seeds as a line, the extremes over
    seeds as a band. A curve ends where its values are no longer finite."""
    for place, (text, (look, several)) in enumerate(cells.items()):
        values = mean_curve(runs, several, name)
        more = dict(linestyle=dashes[place]) if dashes else {}
        _style.draw_band(
            ax,
            runs.data["rounds"],
            values.mean(axis=0),
            values.min(axis=0),
            values.max(axis=0),
            LOOKS.get(look, look),
            label=text,
            **more,
        )
    ax.set(xlabel="round $t$", ylabel=label or name.replace("test_", "test ").replace("auc", "AUC"))


def final_losses(values):
    """Return the final values (seeds,) of curves (seeds, measurements)."""
    return np.array([_curves.final(each) for each in values])


def share_of_rounds(curves, low=True):
    """Return {label: (seeds,)}: the share of the rounds after which each curve has gained nine
    tenths of the final gain of the worst curve, seed by seed; inf where a curve never has."""
    sign = -1.0 if low else 1.0
    ends = np.array([sign * final_losses(values) for values in curves.values()])
    worst = np.nanmin(np.where(np.isfinite(ends), ends, np.nan), axis=0)
    begun = sign * next(iter(curves.values()))[:, 0]
    goals = begun + _curves.HIGH * (worst - begun)
    return {
        label: np.array([_curves.rise(sign * each, goal) for each, goal in zip(values, goals)])
        for label, values in curves.items()
    }


def judge_outcomes(data, task, by_claim):
    return _fsl.judge_outcomes(data, by_claim, STAND_INS[task])


def write_caption(data, task, text):
    return _fsl.write_caption(data, text, STAND_INS[task])


def table_rows(data, task, heads, quantities):
    """Return a table row for every cell, header first: mean and standard deviation over seeds of
    each metric at the end."""
    runs = read_task(data, task)
    head = [*heads, *(name.replace("_", " ") for name in quantities)]
    return [head] + [
        [
            *cell,
            *(_table.spread_of(final_losses(runs.curve(*cell, name=name))) for name in quantities),
        ]
        for cell in runs.cells
    ]


def describe_values(values):
    """Return `PT 0.91 ± 0.01, ...` for values over seeds by label."""
    return ", ".join(f"{label} {_table.spread_of(each)}" for label, each in values.items())


def distance_from_first(curves):
    """Return a text with the largest distance of each curve (seeds, measurements) from the first
    curve, over all seeds and rounds."""
    (first, one), *others = curves.items()
    far = {label: _caption.number_text(np.abs(each - one).max()) for label, each in others}
    every = np.concatenate([*curves.values()])
    told = ", ".join(f"{label} {most}" for label, most in far.items())
    span = _caption.number_text(np.ptp(every))
    return f"Largest distance from {first} in any seed and round: {told}; all lie within {span}"


def rise_cells(found, where):
    """Return the cells {(RISE, label, where): rounds needed} for the values by label."""
    return {(RISE, label, where): values for label, values in found.items()}


LINES = "A line is the mean over seeds, its band goes from the least to the most."
DASHES = (":", (0, (2, 1)), (0, (6, 1.5, 1.5, 1.5)), "-")

"""Runs of an experiment as arrays by cell, and what is read off them.

A cell is one setting of an experiment; its coordinates (`set`, `C`, `method`, ...) name the parts of
its name. Cells (the record) says which numbers over seeds a sentence, a table or a text needs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory.errors import refuse
from fedtheory.experiments import _curves, _pool
from fedtheory.experiments._record import Experiment
from fedtheory.experiments.data import _sets
from fedtheory.figures._record import Arrays, Progress

BETWEEN = "|"  # in the name of a cell
Name = tuple[str, ...]
Coordinates = dict[str, Any]
Template = str | Callable[[Coordinates], str]  # "{set} C={C}", filled in with coordinates
Measure = Callable[["Runs", Sequence[Name]], dict[Name, np.ndarray]]  # of cells: (seeds,) of each


# ---------------------------------------------------------------- from the pool to arrays


class Source(NamedTuple):
    """The runs of some parts of an experiment, and the names of their cells' coordinates."""

    experiment: Experiment
    parts: Sequence[str]
    coordinates: Sequence[str]
    lengths: bool = False  # whether runs differ in length
    absent: bool = False  # whether data may be absent: their runs are NaN

    def list_requests(self, scale: str) -> dict[tuple[tuple, int], dict]:
        """Return {(cell, seed): request} of all parts."""
        found: dict[tuple[tuple, int], dict] = {}
        for part in self.parts:
            found |= self.experiment.runs_of(part, scale)
        return found

    def gather_runs(self, scale: str, progress: Progress) -> Arrays:
        """Return the arrays of the runs, computed now or stored before."""
        runs = self.list_requests(scale)
        metrics = next(iter(runs.values())).get("measure", ["test_accuracy"])
        if not self.lengths:
            return gather_arrays(runs, progress, metrics, self.absent)
        parts: dict[int, dict] = {}
        for key, request in runs.items():
            parts.setdefault(request["rounds"], {})[key] = request
        return join_arrays(gather_arrays(part, progress, metrics) for part in parts.values())


def gather_arrays(
    runs: Mapping,
    progress: Progress,
    names: Sequence[str] = ("test_accuracy",),
    absent: bool = False,
) -> Arrays:
    """Run the requests {(cell, seed): request} and return the arrays: `cells` with the names of the
    cells, and each metric as (cells, seeds, measurements). With `absent`, runs on data that are not
    there are NaN; without any data the requests are refused."""
    asked = list(runs.values())
    if absent:
        asked, _ = _pool.possible_runs(asked)
    found = {
        _pool.request_text(r): a for r, a in zip(asked, _pool.load_or_run_all(asked, progress))
    }
    if not found:
        refuse("data", "must be there for one run or more", "none")
    first = next(iter(found.values()))
    none = {name: np.full_like(values, np.nan) for name, values in first.items()}
    arrays = [found.get(_pool.request_text(request), none) for request in runs.values()]
    cells = list(dict.fromkeys(cell for cell, _ in runs))
    seeds = len(runs) // len(cells)
    return {
        "cells": np.array([BETWEEN.join(map(str, cell)) for cell in cells]),
        "rounds": first["rounds"],
        "real": np.array(all(_is_published(request) for request in runs.values())),
        **{
            name: np.array([run[name] for run in arrays]).reshape(len(cells), seeds, -1)
            for name in names
        },
    }


def join_arrays(several: Iterable[Arrays]) -> Arrays:
    """Join several results of `gather_arrays` with runs of different lengths: the longest rounds,
    the number of measurements of each cell, and NaN beyond a cell's end."""
    parts = list(several)
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
        "lengths": np.concatenate([np.full(len(p["cells"]), len(p["rounds"])) for p in parts]),
        **{
            name: np.concatenate([fill(values) for values in each])
            for name, each in whole.items()
            if each[0].ndim == 3
        },
    }


def _is_published(request: Mapping) -> bool:
    """Tell whether a run uses a published data set."""
    return bool(_sets.find_set(request["set"]["name"]).layouts)


def is_smaller_scale(data: Arrays) -> bool:
    """Tell whether some of the data behind the arrays are not a published data set, as is so below
    the paper's scale."""
    return not data["real"]


# ---------------------------------------------------------------- measures


def of_curve(metric: str, statistic: Callable, factor: float = 1.0) -> Measure:
    """Return the measure by a statistic of each seed's curve of a metric."""
    return lambda runs, cells: {
        cell: factor * np.array([statistic(curve) for curve in runs.curves_of(*cell, name=metric)])
        for cell in cells
    }


def rounds_to_worst(metric: str, low: bool = True, among: Sequence[str] = ()) -> Measure:
    """Return the measure of how soon a curve has gained nine tenths of the final gain of the worst
    curve, as a share of the rounds; curves compete that agree in the coordinates `among`."""

    def measure_rounds(runs: "Runs", cells: Sequence[Name]) -> dict[Name, np.ndarray]:
        groups: dict[tuple, dict[Name, np.ndarray]] = {}
        for cell in cells:
            group = tuple(runs.coordinates_of(cell)[name] for name in among)
            groups.setdefault(group, {})[cell] = runs.curves_of(*cell, name=metric)
        return {k: v for group in groups.values() for k, v in share_of_rounds(group, low).items()}

    return measure_rounds


def final_values(curves: np.ndarray) -> np.ndarray:
    """Return the final values (seeds,) of curves (seeds, measurements)."""
    return np.array([_curves.final_mean(each) for each in curves])


def share_of_rounds(curves: Mapping[Any, np.ndarray], low: bool = True) -> dict[Any, np.ndarray]:
    """Return {label: (seeds,)}: the share of the rounds after which each curve has gained nine
    tenths of the final gain of the worst curve, seed by seed; inf where a curve never has."""
    sign = -1.0 if low else 1.0
    ends = np.array([sign * final_values(values) for values in curves.values()])
    worst = np.nanmin(np.where(np.isfinite(ends), ends, np.nan), axis=0)
    begun = sign * next(iter(curves.values()))[:, 0]
    goals = begun + _curves.HIGH * (worst - begun)
    return {
        label: np.array(
            [_curves.rounds_to_goal(sign * each, goal) for each, goal in zip(values, goals)]
        )
        for label, values in curves.items()
    }


MEASURES: dict[str, Measure] = {
    name: of_curve("test_accuracy", statistic) for name, statistic in _curves.MEASURES.items()
}


# ---------------------------------------------------------------- reading


class Tuning(NamedTuple):
    """How the best of several cells is chosen: over which coordinates, and by what at the end."""

    over: Sequence[str]
    metric: str = "test_accuracy"
    low: bool = False  # whether the best is the lowest

    def rate_cell(self, runs: "Runs", cell: Name) -> np.ndarray:
        """Return the value of a cell (seeds,), the higher the better; a run that left the finite
        numbers is the worst, of accuracies 0."""
        end = final_values(runs.curves_of(*cell, name=self.metric))
        return -np.nan_to_num(end, nan=np.inf) if self.low else np.nan_to_num(end)


class Cells(NamedTuple):
    """Which numbers over seeds are to be read off the runs, as {(quantity, name, where): values}.

    Cells whose name and place read alike are averaged.
    """

    quantities: str | Sequence[str]
    name: Template = "{method}"
    where: Template = ""
    match: Mapping[str, Any] = {}  # of coordinates: a value, or a tuple of values
    levels: str = ""  # a coordinate over which values are stacked, in increasing order
    minus: Mapping[str, str] = {}  # coordinates of the cell to subtract, otherwise alike
    called: str = ""  # the quantity's name, if it is not what is measured
    reduce: Callable | None = None  # of values (seeds, levels), for each seed
    tuned: bool = True  # only the best cells, where the figure tunes
    task: str = ""  # whose runs


def fill_template(template: Template, at: Coordinates) -> str:
    """Return a text with the coordinates of a cell filled in."""
    return template.format_map(at) if isinstance(template, str) else template(at)


def level_order(value: Any) -> tuple:
    """Return the sorting key of a coordinate's value: numbers by size, words in order of appearance."""
    try:
        return (float(value),)
    except ValueError:
        return (0.0,)


class Runs:
    """Runs by cell: `runs("final_accuracy", "EMNIST", 1, "FSL")` is an array over seeds.

    `more(runs, at)` returns further coordinates of a cell, derived from its own.
    """

    def __init__(
        self,
        data: Arrays,
        coordinates: Sequence[str] = (),
        more: Callable[["Runs", Coordinates], Coordinates] | None = None,
        measures: Mapping[str, Measure] | None = None,
        tuning: Tuning | None = None,
        only: Mapping[str, Any] | None = None,
    ) -> None:
        self.data, self.coordinates, self.more, self.tuning = data, coordinates, more, tuning
        self.measures = MEASURES | dict(measures or {})
        self.cells = [tuple(str(name).split(BETWEEN)) for name in data["cells"]]
        self.place = {cell: n for n, cell in enumerate(self.cells)}
        self._at: dict[Name, Coordinates] = {}
        self._best: list[Name] | None = None
        self.cells = self.select_cells(**(only or {}))

    def curves_of(self, *cell: Any, name: str = "test_accuracy") -> np.ndarray:
        """Return a cell's curves (seeds, measurements) of test accuracy or of the named metric."""
        place = self.place[tuple(map(str, cell))]
        return self.data[name][place][:, : len(self.rounds_of(*cell))]

    def rounds_of(self, *cell: Any) -> np.ndarray:
        """Return the rounds (measurements,) at which a cell's runs were measured."""
        lengths = self.data.get("lengths")
        most = None if lengths is None else lengths[self.place[tuple(map(str, cell))]]
        return self.data["rounds"][:most]

    def __call__(self, quantity: str, *cell: Any) -> np.ndarray:
        named = tuple(map(str, cell))
        return self.measures[quantity](self, [named])[named]

    def coordinates_of(self, cell: Name) -> Coordinates:
        """Return the coordinates of a cell, with derived coordinates."""
        if cell not in self._at:
            own = dict(zip(self.coordinates, cell))
            self._at[cell] = own
            self._at[cell] = own | (self.more(self, own) if self.more else {})
        return self._at[cell]

    def _read_coordinate(self, cell: Name, name: str) -> Any:
        own = self.coordinates.index(name) if name in self.coordinates else None
        return self.coordinates_of(cell)[name] if own is None else cell[own]

    def select_cells(self, **match: Any) -> list[Name]:
        """Return the cells with given values of coordinates, or with a value of a tuple."""
        return self._filter_cells(self.cells, match)

    def _filter_cells(self, cells: Sequence[Name], match: Mapping[str, Any]) -> list[Name]:
        wanted = {k: v if isinstance(v, tuple) else (v,) for k, v in match.items()}
        return [
            cell
            for cell in cells
            if all(self._read_coordinate(cell, name) in values for name, values in wanted.items())
        ]

    def distinct_values(self, name: str, **match: Any) -> list[Any]:
        """Return the values of a coordinate, in order of appearance, among matching cells."""
        return list(
            dict.fromkeys(self._read_coordinate(cell, name) for cell in self.select_cells(**match))
        )

    def best_cells(self) -> list[Name]:
        """Return the best cell of each group, which differs in tuned coordinates alone, rated by the
        mean over seeds; all cells where nothing is tuned."""
        if self._best is None:
            groups: dict[Name, list[Name]] = {}
            for cell in self.cells:
                groups.setdefault(self._fixed_parts(cell), []).append(cell)
            rate = lambda cell: self.tuning.rate_cell(self, cell).mean() if self.tuning else 0.0
            self._best = [max(group, key=rate) for group in groups.values()]
        return self._best

    def _fixed_parts(self, cell: Name) -> Name:
        """Return a cell's name without tuned parts."""
        tuned = self.tuning.over if self.tuning else ()
        return tuple(part for name, part in zip(self.coordinates, cell) if name not in tuned)

    def choose_cells(self, match: Mapping[str, Any], tuned: bool = True) -> list[Name]:
        """Return the matching cells, only the best cells where the figure tunes."""
        return self._filter_cells(self.best_cells() if tuned and self.tuning else self.cells, match)

    def measure_cells(self, asked: Cells) -> dict[tuple[str, str, str], np.ndarray]:
        """Return {(quantity, name, where): values over seeds, or (seeds, levels)}."""
        several = asked.quantities
        found: dict[tuple[str, str, str], np.ndarray] = {}
        for quantity in [several] if isinstance(several, str) else several:
            for key, levels in self._group_values(asked, quantity).items():
                order = sorted(levels, key=level_order)
                means = [np.mean(levels[level], axis=0) for level in order]
                stacked = np.column_stack(means) if asked.levels else means[0]
                with np.errstate(invalid="ignore"):  # what is never reached has no distance
                    found[key] = asked.reduce(stacked, axis=1) if asked.reduce else stacked
        return found

    def _group_values(self, asked: Cells, quantity: str) -> dict[tuple[str, str, str], dict]:
        """Return {(quantity, name, where): {level: [values of a cell, ...]}}."""
        cells = self.choose_cells(asked.match, asked.tuned)
        values = self.measures[quantity](self, cells)
        groups: dict[tuple[str, str, str], dict] = {}
        for cell in cells:
            at, one = self.coordinates_of(cell), values[cell]
            if asked.minus:
                less = {key: fill_template(value, at) for key, value in asked.minus.items()}
                other = self.find_counterpart(cell, less, asked.tuned)
                if other is None:
                    continue
                with np.errstate(invalid="ignore"):
                    one = one - self.measures[quantity](self, [other])[other]
            name, where = (fill_template(text, at) for text in (asked.name, asked.where))
            level = at[asked.levels] if asked.levels else ""
            groups.setdefault((asked.called or quantity, name, where), {}).setdefault(
                level, []
            ).append(one)
        return groups

    def find_counterpart(
        self, cell: Name, other: Mapping[str, str], tuned: bool = True
    ) -> Name | None:
        """Return the cell with some coordinates changed, None where there is none."""
        free = {*other, *(self.tuning.over if self.tuning and tuned else ())}
        fixed = {k: v for k, v in zip(self.coordinates, cell) if k not in free}
        return next(iter(self.choose_cells({**fixed, **other}, tuned)), None)


def pool_cells(data: Arrays, place: int) -> Arrays:
    """Return arrays with the mean over a part of the cells' names, at a place in the names."""
    groups: dict[str, list[int]] = {}
    for n, name in enumerate(data["cells"]):
        parts = str(name).split(BETWEEN)
        groups.setdefault(BETWEEN.join([*parts[:place], *parts[place + 1 :]]), []).append(n)
    mean = lambda values: np.array([np.mean(values[ns], axis=0) for ns in groups.values()])
    return {
        **data,
        "cells": np.array([*groups]),
        **{name: mean(values) for name, values in data.items() if values.ndim == 3},
    }

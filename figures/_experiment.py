"""The record of a figure over experiments: which runs it shows, in which panels, which sentences of
the paper are judged by which cells, and what its texts say.

Arrays, pictures, tables, findings and captions follow from it. What a figure does otherwise is given
as a function of its own, as in `_record.Figure`.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import discover
from fedtheory.experiments._samples import request_text
from fedtheory.figures import _findings, _runs, _table
from fedtheory.figures._panels import Panels
from fedtheory.figures._record import Arrays, Figure, Progress
from fedtheory.figures._runs import (
    Cells,
    Coordinates,
    Measure,
    Runs,
    Source,
    Tuning,
    is_smaller_scale,
)
from fedtheory.store import source_hash

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

STAND_IN = (
    "on stand-ins (handwriting for EMNIST, textures for CIFAR-10) with a small perceptron, "
    "not on the paper's data and networks"
)
PRINTED = "a printed number belongs to the paper's data and network, and stand-ins have their own"
TELLS_APART = "it tells data sets apart, which stand-ins cannot"
Sentence = Cells | Sequence[Cells] | Callable[[Arrays], dict]  # cells by which it is judged


@dataclass(frozen=True, kw_only=True)
class ExperimentFigure(Figure):
    """A figure over the runs of one experiment, or of several tasks."""

    compute: Callable | None = None
    draw: Callable | None = None
    source: Source | Mapping[str, Source]  # of each task: its arrays' names begin with the task
    panels: Panels | None = None
    sentences: Mapping[str | tuple[str, ...], Sentence] = field(default_factory=dict)
    text: str = ""  # what is plotted
    table: Sequence[str] = tuple(_runs.MEASURES)  # quantities of the table
    heads: Mapping[str, str] = field(default_factory=dict)  # of columns: coordinates, quantities
    result: str = ""  # what is shown, with the names of `numbers` in braces
    numbers: Mapping[str, Sentence] = field(default_factory=dict)
    show: Callable[[np.ndarray], str] = _table.spread_of  # a number of the result
    more: Callable[[Runs, Coordinates], Coordinates] | None = None  # derived coordinates
    measures: Mapping[str, Measure] = field(default_factory=dict)
    tuning: Tuning | None = None
    only: Mapping[str, Any] = field(default_factory=dict)  # coordinates of the cells that count
    pooled: Mapping[str, str] = field(default_factory=dict)  # task -> coordinate to average over
    stand_in: str = STAND_IN
    stand_ins: Mapping[str, str] = field(default_factory=dict)  # of each task, if they differ
    doubts: Mapping[str, str] = field(default_factory=dict)  # claim -> why stand-ins say nothing

    def __post_init__(self) -> None:
        super().__post_init__()
        derived: dict[str, Callable] = {
            "compute": self.gather_arrays,
            "draw": self.draw_panels,
            "rows": self.table_rows,
            "caption": lambda data: self.write_caption(data, self.text),
        }
        if self.sentences:
            derived["findings"] = self.judge_sentences
        if self.result:
            derived["says"] = self.describe_result
        for name, function in derived.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, function)

    # ------------------------------------------------------------ arrays

    @property
    def tasks(self) -> Mapping[str, Source]:
        """Return the source of each task; the task "" alone of a figure over a single experiment."""
        return {"": self.source} if isinstance(self.source, Source) else self.source

    def gather_arrays(self, scale: str, progress: Progress) -> Arrays:
        """Return the arrays of all runs."""
        if isinstance(self.source, Source):
            return self.source.gather_runs(scale, progress)
        found: Arrays = {}
        for task, source in self.source.items():
            found |= {f"{task}_{k}": v for k, v in source.gather_runs(scale, progress).items()}
        real = all(found[f"{task}_real"] for task in self.source)
        return found | {
            "rounds": found[f"{next(iter(self.source))}_rounds"],
            "real": np.array(real),
        }

    def arrays_digest(self, scale: str) -> str:
        """Return a hash of the runs, and of the code to compute and gather runs."""
        code = source_hash.part_digest(source_hash.home_file(Source), "Source")
        runs = [
            [task, source.lengths, source.absent, [[*map(str, cell)], seed, request]]
            for task, source in self.tasks.items()
            for (cell, seed), request in source.list_requests(scale).items()
        ]
        return hashlib.sha256(f"{code} {request_text(runs)}".encode()).hexdigest()

    def read_runs(self, data: Arrays, task: str = "") -> Runs:
        """Return a reader of the runs of a task."""
        if not isinstance(self.source, Source):
            task = task or next(iter(self.source))
            start = f"{task}_"
            data = {k.removeprefix(start): v for k, v in data.items() if k.startswith(start)}
        coordinates = [*self.tasks[task].coordinates]
        if task in self.pooled:
            place = coordinates.index(self.pooled[task])
            data = _runs.pool_cells(data, place)
            coordinates.pop(place)
        return Runs(data, coordinates, self.more, self.measures, self.tuning, self.only)

    # ------------------------------------------------------------ pictures and tables

    def draw_panels(self, figure: "Canvas", data: Arrays) -> None:
        """Draw the declared panels."""
        assert self.panels is not None
        self.panels.draw_panels(figure, cache(lambda task: self.read_runs(data, task)))

    def table_rows(self, data: Arrays) -> list[list[str]]:
        """Return a row for every cell, header first: mean and standard deviation over seeds of each
        quantity."""
        found: list[list[str]] = []
        for task in self.tasks:
            runs = self.read_runs(data, task)
            words = [name.replace("_", " ") for name in self.table]
            heads = {**dict(zip(self.table, words)), **self.heads}
            names = [*runs.coordinates, *self.table, *(["best"] if self.tuning else [])]
            found = found or [[heads.get(name, name) for name in names]]
            values = [runs.measures[name](runs, runs.cells) for name in self.table]
            for cell in runs.cells:
                mark = ["*" if cell in runs.best_cells() else ""] if self.tuning else []
                found.append([*cell, *(_table.spread_of(each[cell]) for each in values), *mark])
        return found

    # ------------------------------------------------------------ findings and texts

    def cells_of(self, data: Arrays, sentence: Sentence) -> dict:
        """Return the cells {(quantity, name, where): values} for the judgement of a sentence."""
        if callable(sentence):
            return sentence(data)
        found: dict = {}
        for asked in [sentence] if isinstance(sentence, Cells) else sentence:
            found |= self.read_runs(data, asked.task).measure_cells(asked)
        return found

    def judge_sentences(self, data: Arrays) -> dict[str, tuple[str, str]]:
        """Return {claim: (verdict, sentence)} of the declared sentences."""
        found = {}
        for ids, sentence in self.sentences.items():
            cells = self.cells_of(data, sentence)
            several = () if callable(sentence) else sentence
            first = several if isinstance(several, Cells) else next(iter(several), None)
            stand_in = self.stand_ins.get(first.task if first else "", self.stand_in)
            for id in [ids] if isinstance(ids, str) else ids:
                found[id] = self.judge_sentence(id, cells, data, stand_in)
        return found

    def judge_sentence(self, id: str, cells: dict, data: Arrays, stand_in: str) -> tuple[str, str]:
        """Judge a finding from its cells and return (verdict, sentence), where the sentence names
        the data. On stand-ins, comparisons with printed numbers are left out: these numbers hold
        for the paper's data and network only."""
        claim = discover.claim(id)
        if not is_smaller_scale(data):
            return _findings.judge_claim(claim, cells)
        kept = _findings.of_stand_ins(claim)
        if not kept:
            return _findings.not_judged(PRINTED)
        verdict, sentence = _findings.judge_claim(claim, cells, compares=kept)
        if id in self.doubts:
            verdict, why = _findings.not_judged(self.doubts[id])
            sentence = f"{why}; of them it is {sentence}"
        if len(kept) < len(claim.compares):
            sentence += "; printed numbers are not compared"
        return verdict, f"{sentence}; {stand_in}"

    def write_caption(self, data: Arrays, text: str) -> str:
        """Return a text followed by the data, rounds and seeds on which the figure was computed."""
        return write_caption(data, text, self.stand_in)

    def describe_result(self, data: Arrays) -> str:
        """Return the text on the result, with all numbers filled in."""
        found = self.result
        for name, asked in self.numbers.items():
            values = self.cells_of(data, asked)
            items = [insert_number(of, self.show(each)) for (_, of, _), each in values.items()]
            between = "; " if any(", " in item for item in items) else ", "
            found = found.replace("{" + name + "}", between.join(items))
        return found


def write_caption(data: Arrays, text: str, stand_in: str) -> str:
    """Return a text followed by the data, rounds and seeds on which a figure was computed."""
    seeds = next(values.shape[1] for values in data.values() if values.ndim == 3)
    where = f"{stand_in[0].upper()}{stand_in[1:]}. " if is_smaller_scale(data) else ""
    rounds = int(data["rounds"][-1])
    return f"{text} {where}{rounds:,} rounds, {seeds} seeds, which all methods share."


def insert_number(label: str, number: str) -> str:
    """Return `PT 0.91 ± 0.01`, or the number in place of {value} where a label has that."""
    return label.replace("{value}", number) if "{value}" in label else f"{label} {number}"

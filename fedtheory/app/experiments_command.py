"""The command `fedtheory experiments`: the papers' experiments, their cost on this machine, and
their runs.

Runs are requests to the experiments' own store: a request that is stored is never computed again.
Data sets that are not in the folder leave out the runs that need them, and the answer says which.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fedtheory import terminal
from fedtheory.errors import refuse
from fedtheory.experiments import experiment, experiments
from fedtheory.experiments._record import Experiment
from fedtheory.experiments.data import _sets


def describe_experiments(
    name: str | None = None,
    scale: str = "quick",
    folder: Path | None = None,
    carry: bool = False,
    only: Sequence[str] = (),
) -> tuple[dict[str, Any], str]:
    """Return (records, text) of all experiments, or of the experiment called `name`. With `carry`,
    carry out its runs that are not stored yet (without a name, the runs of all experiments); with
    `only`, restrict the runs to the runs whose description contains all these words.

    `scale` names the size of the runs ("quick" by default), `folder` the folder of the data sets.
    The record of one experiment has the values that the paper prints, the values chosen here, what
    was tuned, what is judged at this scale, the sets that are absent, and the cost in seconds of
    one core.
    """
    if folder is not None:
        os.environ[_sets.FOLDER] = str(_sets.folder_of(folder))
    if name is None and only:
        refuse("only", "must come with the name of an experiment", " ".join(only))
    if name is None and carry:
        return _all_carried(scale)
    if name is None:
        rows = {n: dict(cites=e.cites, judges=e.judges) for n, e in experiments().items()}
        return rows, "\n".join(
            f"{n:20s}{row['cites']}: judges {row['judges']}" for n, row in rows.items()
        )
    from fedtheory.experiments import _pool

    record = experiment(name)
    named = record.named(scale, only)
    requests, absent = _pool.possible_runs([run for _, run in named])
    row = dict(
        cites=record.cites, printed=record.printed, chosen=record.chosen, tuning=record.tuning
    )
    row |= dict(judges=record.judges, scale=scale, absent=absent, **_estimate_cost(requests))
    if carry:
        row |= _carry_out(requests)
    if only:
        row |= dict(ends=_final_metrics(named))
    return row, "\n".join(_experiment_lines(record, row))


def _all_carried(scale: str) -> tuple[dict[str, Any], str]:
    """Carry out the runs of every experiment together, so that shared runs are computed once."""
    from fedtheory.experiments import _pool

    asked = [run for record in experiments().values() for run in record.requests(scale)]
    requests, absent = _pool.possible_runs(asked)
    row = dict(scale=scale, absent=absent, **_estimate_cost(requests)) | _carry_out(requests)
    said = [f"    runs on {name} are left out: {why}" for name, why in absent.items()]
    said.append(f"    {row['runs']} runs of all experiments are kept, {row['seconds']:.0f} s")
    return row, "\n".join(said)


def _estimate_cost(requests: Sequence[dict[str, int | dict[str, Any]]]) -> dict[str, float]:
    """Return the number of different runs, of runs that are not stored, and their estimated core
    seconds."""
    from fedtheory.experiments import _pool

    left, seconds = _pool.estimate_work(requests)
    return dict(
        runs=len({_pool.request_text(r) for r in requests}), missing=left, core_seconds=seconds
    )


def _carry_out(requests: Sequence[dict[str, int | dict[str, Any]]]) -> dict[str, float]:
    """Compute the runs that are not stored, with a line of progress every 10 seconds; return the
    seconds."""
    from fedtheory.experiments import _pool

    begun, last = time.perf_counter(), [0.0]

    def progress(done: int, total: int) -> None:
        now = time.perf_counter()
        if now - last[0] > 10 or done == total:
            last[0] = now
            terminal.say(f"{done}/{total} runs, {now - begun:.0f} s")

    _pool.load_or_run_all(requests, progress)
    return dict(missing=0, seconds=time.perf_counter() - begun)


def _final_metrics(named: Sequence[Any]) -> dict[str, dict[str, float]]:
    """Return {words of a run: {metric: final value}} for the stored runs."""
    from fedtheory.experiments import _pool

    found = {" ".join(words): _pool.load_run(run) for words, run in named}
    last = lambda run: {name: float(each[-1]) for name, each in run.items()}
    return {words: last(run) for words, run in found.items() if run is not None}


def _experiment_lines(record: Experiment, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines on one experiment: values, judgement, absent sets, cost, and final metrics
    if asked."""
    yield f"{record.name}: {record.cites}"
    for label, table in (
        ("printed", record.printed),
        ("chosen", record.chosen),
        ("tuned", record.tuning),
    ):
        for name, value in table.items():
            yield f"    {label:9s}{name}: {value}"
    yield (
        f"    at the scale {row['scale']} it judges {record.judges}"
        if row["scale"] != "paper"
        else ""
    )
    for name, why in row["absent"].items():
        yield f"    runs on {name} are left out: {why}"
    hours = row["core_seconds"] / 3600
    cost = f"{hours:.1f} hours" if hours >= 1 else f"{row['core_seconds']:.0f} seconds"
    yield f"    {row['runs']} runs, {row['missing']} of them not kept: about {cost} of one core before"
    for words, metrics in row.get("ends", {}).items():
        yield f"    {words}: " + ", ".join(f"{name} {end:.4g}" for name, end in metrics.items())

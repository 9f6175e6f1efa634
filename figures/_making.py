"""Making figures: workers find or compute the arrays, then draw, tabulate and judge; the main
process collects and saves the results."""

import time
from contextlib import closing
from typing import NamedTuple

from fedtheory import figures
from fedtheory.errors import FedtheoryError
from fedtheory.figures import _export, _findings, _store
from fedtheory.parallel import executors
from fedtheory.terminal import Line

EXECUTOR = "processes:2"


class FigureResult(NamedTuple):
    """The result of a worker for one figure."""

    data: dict | None = None  # its arrays, where they were computed
    drawn: _export.DrawnFigure | None = None
    wrong: str = ""  # what was in the way of either
    how: str = ""  # how long it took, of a core: what else runs does not count


def make_all(ids, scale, out, folders=(), line=None, executor=EXECUTOR):
    """Make figures, print a line for each, and return the names of the figures that failed."""
    line, failed, told = line or Line(), [], 0
    for name, wrong, how in make_figures(ids, scale, out, folders, line, executor):
        told += 1
        if wrong:
            failed.append(name)
        cites = "" if wrong else f" ({figures.figure(name).cites})"
        line.say(f"{told}/{len(ids)} {name}{cites}: {f'failed, {wrong}' if wrong else how}")
    return failed


def make_figures(ids, scale, out, folders, line, executor):
    """Yield (name, error text or "", how the result was obtained) for each figure as soon as its
    result is saved."""
    wanted = []
    for name in ids:
        try:
            data = load_arrays(name, scale, folders, out, line)
            drawn = None if data is None else _export.find_drawn(name, data, scale, out)
        except Exception as error:
            yield name, error_words(error), ""
            continue
        if drawn is None:
            wanted.append((name, scale, data))
        else:
            say_moved(line, _export.keep_drawn(name, figures.figure(name), drawn, scale, out))
            yield name, "", f"saved before{count_verdicts(drawn)}"
    here = executor in (None, "serial") or executor == EXECUTOR and len(wanted) < 2
    if not here:
        wanted.sort(key=estimate_minutes, reverse=True)
    tasks = [(*each, line if here else None) for each in wanted]
    report, left = line.progress("figures"), set(range(len(tasks)))
    with closing(executors.iter_completed(make_one, tasks, None if here else executor)) as batches:
        for results in batches:
            for place, result in results.items():
                name = wanted[place][0]
                say_moved(line, keep_result(name, scale, result, out))
                yield name, result.wrong, result.how
            left -= results.keys()
            if not here:
                ahead = sum(estimate_minutes(wanted[place]) for place in left)
                report(
                    len(tasks) - len(left),
                    len(tasks),
                    share=1 - ahead / sum(map(estimate_minutes, wanted)),
                )


def estimate_minutes(task):
    """Estimate the minutes of one core that a task takes, including some seconds for drawing."""
    name, _, data = task
    return 0.05 + (figures.figure(name).minutes if data is None else 0)


def load_arrays(name, scale, folders, out, line):
    """Load a figure's arrays from below `out` or from one of the folders, and save arrays from
    elsewhere below `out`; return None where no readable file exists."""
    kept = _store.arrays_path(out / "data", name, scale)
    for folder in (out / "data", *folders):
        file = folder / kept.name
        if file.is_file():
            try:
                data = _store.load_arrays(file)
            except FedtheoryError as error:
                line.say(f"{name}: {error}; it is computed anew")
                continue
            if file != kept:
                say_moved(line, _store.save_arrays(kept, data))
            return data
    return None


def make_one(name, scale, data, line=None):
    """Compute a figure's arrays unless they are given, and draw its files, in a worker; print
    nothing if no line is given."""
    begun, computed, told = time.process_time(), None, "saved before"
    try:
        record = figures.figure(name)
        if data is None:
            if line:
                line.say(f"{name}: computing", "")
            report = line.progress(name) if line else lambda done, total: None
            data = computed = _store.check_arrays(name, record.compute(scale, report))
            told = f"computed in {time.process_time() - begun:.1f} s of a core"
        begun = time.process_time()
        drawn = _export.draw_files(name, record, data, scale)
    except Exception as error:
        return FigureResult(computed, None, error_words(error))
    took = time.process_time() - begun
    return FigureResult(
        computed, drawn, "", f"{told}, drawn in {took:.1f} s{count_verdicts(drawn)}"
    )


def keep_result(name, scale, result, out):
    """Save a worker's result, including arrays from which nothing could be drawn. Return sentences
    on the files that were moved aside."""
    moved = []
    if result.data is not None:
        moved += _store.save_arrays(_store.arrays_path(out / "data", name, scale), result.data)
    if result.drawn is not None:
        moved += _export.keep_drawn(name, figures.figure(name), result.drawn, scale, out)
    return moved


def say_moved(line, moved):
    """Print which files were moved aside."""
    for sentence in moved:
        line.say(f"this was no figure's as it was, and is moved aside: {sentence}")


def count_verdicts(drawn):
    """Return `; 3 reproduced` and the like: the number of findings with each verdict."""
    verdicts = [verdict for verdict, _ in drawn.findings.values()]
    counts = {verdict: verdicts.count(verdict) for verdict in _findings.VERDICTS}
    return "".join(f"; {count} {verdict}" for verdict, count in counts.items() if count)


def error_words(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"

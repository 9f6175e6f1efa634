"""What makes figures: arrays computed in processes, or found, then drawn, tabulated and judged
here."""

import io
import sys
import time
from contextlib import closing

from fedtheory import figures
from fedtheory.app import processes
from fedtheory.errors import FedtheoryError
from fedtheory.figures import _export, _store


class Line:
    """Live progress on a stream: rewritten on a terminal, now and then a line elsewhere."""

    def __init__(self, stream=None):
        self.stream, self.last = stream or sys.stderr, 0.0
        self.tty = self.stream.isatty()

    def progress(self, label):
        begun = time.perf_counter()

        def report(done, total):
            now = time.perf_counter()
            if now - self.last > (0.2 if self.tty else 5) and 0 < done < total:
                self.last = now
                seconds = now - begun
                self.say(
                    f"{label}: {done}/{total}, {seconds:.0f} s, {seconds * (total - done) / done:.0f} s left",
                    "",
                )

        self.last = begun
        return report

    def say(self, text, end="\n"):
        self.stream.write(f"\r{text}\033[K{end}" if self.tty else f"{text}\n")
        self.stream.flush()


def arrays(name, scale, folders, out, line):
    """The saved arrays of a figure: found in a folder, or computed; kept below `out` either way."""
    kept = _store.path(out / "data", name, scale)
    for folder in (out / "data", *folders):
        file = folder / kept.name
        if file.is_file():
            try:
                data = _store.load(file)
            except FedtheoryError as error:
                line.say(f"{name}: {error}; it is computed anew")
                continue
            if file != kept:
                _store.save(kept, data)
            return data, "saved before"
    begun = time.perf_counter()
    line.say(f"{name}: computing", "")
    data = _store.checked(name, figures.figure(name).compute(scale, line.progress(name)))
    _store.save(kept, data)
    return data, f"computed in {time.perf_counter() - begun:.1f} s"


def make(ids, scale, out, folders=(), line=None, workers=processes.WORKERS):
    """Make figures, their arrays in so many processes; returns the names of those that failed."""
    line, failed, made = line or Line(), [], []
    for name, error, how in computed(ids, scale, out, folders, line, workers):
        made.append(name)
        told, begun = f"{len(made)}/{len(ids)} {name}", time.perf_counter()
        if error:
            failed.append(name)
            line.say(f"{told}: failed, {error}")
            continue
        try:
            record = figures.figure(name)
            data = _store.load(_store.path(out / "data", name, scale))
            verdicts = _export.export(name, record, data, scale, out)
        except Exception as error:
            failed.append(name)
            line.say(f"{told}: failed, {words(error)}")
            continue
        found = "".join(f"; {count} {verdict}" for verdict, count in verdicts.items() if count)
        line.say(
            f"{told} ({record.cites}): {how}, drawn in {time.perf_counter() - begun:.1f} s{found}"
        )
    return failed


def computed(ids, scale, out, folders, line, workers):
    """Yield (name, what was in the way of its arrays, how they came to be kept)."""
    tasks = [(name, scale, folders, out) for name in ids]
    if not workers or len(ids) < 2:
        yield from (kept(*task, line) for task in tasks)
        return
    tasks.reverse()  # theorems and proofs take longest, and stand last in the alphabet
    report, done = line.progress("figures"), 0
    with closing(processes.done(kept, tasks, workers)) as batches:
        for results in batches:
            yield from results.values()
            done += len(results)
            report(done, len(tasks))


def kept(name, scale, folders, out, line=None):
    """(name, what was in the way of its arrays, how they came to be kept below `out`): what a
    process runs, which says nothing itself."""
    try:
        return name, "", arrays(name, scale, folders, out, line or Line(io.StringIO()))[1]
    except Exception as error:
        return name, words(error), ""


def words(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"

"""What makes figures: arrays found, or computed by workers, then kept, drawn, tabulated and judged
here."""

import time
from contextlib import closing

from fedtheory import figures, spreading
from fedtheory.errors import FedtheoryError
from fedtheory.figures import _export, _store
from fedtheory.terminal import Line

EXECUTOR = "processes:2"


def saved(name, scale, folders, out, line):
    """Whether a figure's arrays are kept below `out`, or found in a folder, and so are from now on."""
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
            return True
    return False


def make(ids, scale, out, folders=(), line=None, executor=EXECUTOR):
    """Make figures, their arrays by workers; returns the names of those that failed."""
    line, failed, made = line or Line(), [], []
    for name, error, how in computed(ids, scale, out, folders, line, executor):
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


def computed(ids, scale, out, folders, line, executor):
    """Yield (name, what was in the way of its arrays, how they came to be kept)."""
    wanted = []
    for name in ids:
        try:
            if saved(name, scale, folders, out, line):
                yield name, "", "saved before"
            else:
                wanted.append(name)
        except Exception as error:
            yield name, words(error), ""
    here = executor in (None, "serial") or executor == EXECUTOR and len(wanted) < 2
    if not here:
        wanted.reverse()  # theorems and proofs take longest, and stand last in the alphabet
    tasks = [(name, scale, line if here else None) for name in wanted]
    report, done = line.progress("figures"), 0
    with closing(spreading.done(arrays, tasks, None if here else executor)) as batches:
        for results in batches:
            for place, (data, error, _) in results.items():  # kept before anything is drawn
                if not error:
                    _store.save(_store.path(out / "data", wanted[place], scale), data)
            yield from ((wanted[place], *said) for place, (_, *said) in results.items())
            done += len(results)
            if not here:
                report(done, len(tasks))


def arrays(name, scale, line=None):
    """(a figure's arrays, what was in the way of them, how they came to be): what a worker runs,
    which says nothing where no line is given."""
    begun = time.perf_counter()
    try:
        if line:
            line.say(f"{name}: computing", "")
        report = line.progress(name) if line else lambda done, total: None
        data = _store.checked(name, figures.figure(name).compute(scale, report))
    except Exception as error:
        return None, words(error), ""
    return data, "", f"computed in {time.perf_counter() - begun:.1f} s"


def words(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"

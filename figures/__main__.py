"""`python -m figures [ID ...]`: compute what is not yet saved, then draw, tabulate and judge from
what is.

Exit 0: all were made. 1: one of them failed; the others were made. 2: bad input. 130: Ctrl-C.
"""

import argparse
import sys
import time
from pathlib import Path

import figures
from fedtheory.errors import FedtheoryError, refuse
from figures import _export, _store


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


def make(ids, scale, out, folders=(), line=None):
    """Make figures; returns the names of those that failed."""
    line, failed = line or Line(), []
    for done, name in enumerate(ids, 1):
        begun = time.perf_counter()
        try:
            record = figures.figure(name)
            data, how = arrays(name, scale, folders, out, line)
            verdicts = _export.export(name, record, data, scale, out)
        except Exception as error:
            failed.append(name)
            line.say(
                f"{done}/{len(ids)} {name}: failed, {type(error).__name__}: {' '.join(str(error).split())}"
            )
            continue
        found = "".join(f"; {count} {verdict}" for verdict, count in verdicts.items() if count)
        line.say(
            f"{done}/{len(ids)} {name} ({record.cites}): {how}, {time.perf_counter() - begun:.1f} s{found}"
        )
    return failed


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m figures", description="Make the figures and tables."
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="which; all of them if none is named")
    parser.add_argument(
        "--scale", default="quick", metavar="|".join(figures.SCALES), help="quick if not given"
    )
    parser.add_argument(
        "--data", metavar="DIR", help="a folder of arrays from an earlier run; it is only read"
    )
    parser.add_argument("--out", default="figures-out", metavar="DIR", help="where everything goes")
    arguments = parser.parse_args(argv)
    try:
        for name in arguments.ids:
            figures.known(name)
        if arguments.scale not in figures.SCALES:
            refuse("--scale", f"must be one of {', '.join(figures.SCALES)}", arguments.scale)
        if arguments.data and not Path(arguments.data).is_dir():
            refuse("--data", "must be a folder", arguments.data)
        out = Path(arguments.out)
        if out.exists() and not out.is_dir():
            refuse("--out", "must be a folder", arguments.out)
        folders = [Path(arguments.data), Path(arguments.data) / "data"] if arguments.data else []
        ids = list(dict.fromkeys(arguments.ids)) or figures.ids()
        failed = make(ids, arguments.scale, out, folders)
    except KeyboardInterrupt:
        print("figures: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    except (FedtheoryError, OSError) as error:
        print(f"figures: {error}", file=sys.stderr)
        return 2
    print(f"{len(ids) - len(failed)} of {len(ids)} figures are in {out}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

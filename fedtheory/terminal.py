"""What a terminal shows: how wide it is, whether it takes styles, and one live line with the time
left, which is rewritten; elsewhere a line is printed now and then."""

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress

from fedtheory.errors import explain_system, printable, refuse


def say(line: object) -> None:
    """Print a line on standard error; where that cannot be written to, nothing is said."""
    with suppress(OSError, ValueError):
        print(printable(str(line)), file=sys.stderr, flush=True)


def finish(whose: str, work: Callable[[], int]) -> int:
    """The exit status of a command, whose answer has been written out by then: 2, and a sentence, where
    it cannot be. A reader who has seen enough, as `head` has, is no error."""
    left, status = None, 0
    try:
        try:
            status = work()
        except SystemExit as ended:
            left = ended
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        _silence(sys.stdout)
        say(f"{whose}: {explain_system(error)}; the answer could not be written")
        return 2
    if left is not None:
        raise left
    return status


def _silence(stream):
    """Let what a stream still holds go nowhere: Python would try once more when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def wants_bold(stream=None):
    """Whether bold text is wanted: on a terminal, unless NO_COLOR is set or the terminal is dumb."""
    stream = stream or sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def terminal_width(otherwise, stream=None):
    """Columns to fill: the terminal's, or a number of them where output goes elsewhere."""
    stream = stream or sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else otherwise


def reading_width(otherwise=88):
    """Columns of running text: as wide as the terminal, within what is read well."""
    return min(100, max(60, terminal_width(otherwise)))


def fit_width(line, wide):
    """A line in so many columns; what is cut off is said to be.

    >>> from fedtheory.terminal import fitted
    >>> fitted("a long line", 8)
    'a lon...'
    """
    return line if len(line) <= wide else f"{line[: max(wide - 3, 0)]}..."


def print_table(rows, stream=None):
    """Rows of (name, text) under each other; on a terminal each text keeps to the columns that are
    left beside the names."""
    wide = max((len(name) for name, _ in rows), default=0) + 2
    left = terminal_width(0, stream) - wide
    if left <= -wide:  # elsewhere a row is a line, for programs such as grep
        return "\n".join(f"{name:{wide}s}{text}" for name, text in rows)
    if left < 24:  # names leave too little room: each text stands below its name
        return "\n".join(part for name, text in rows for part in hang_text(name, text, left + wide))
    broken = lambda text: textwrap.wrap(text, left, break_on_hyphens=False)
    indent = "\n" + " " * wide
    return "\n".join(f"{name:{wide}s}{indent.join(broken(text))}" for name, text in rows)


def hang_text(name, text, wide):
    """Lines of a name, and of its text under it."""
    inset = " " * (len(name) - len(name.lstrip()))
    yield inset + " ".join(name.split())
    yield from textwrap.wrap(
        text, wide, initial_indent=f"{inset}  ", subsequent_indent=f"{inset}  "
    )


def duration_text(seconds):
    """Seconds in words that are read at a glance.

    >>> from fedtheory.terminal import duration
    >>> duration(7.2), duration(95), duration(7500)
    ('7 s', '1 min 35 s', '2 h 5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_ = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def progress_callback(progress, label):
    """What is called as work goes on: a function as it is, `True` as a live line; None of None.

    >>> from fedtheory.terminal import followed
    >>> followed(None, "a run") is None, followed(print, "a run") is print
    (True, True)
    """
    if progress is True:
        return Line().progress(label)
    if progress is not None and progress is not False and not callable(progress):
        refuse("progress", "must be True, or a function that is called as work goes on", progress)
    return progress or None


def is_notebook(stream):
    """Whether a stream goes to a notebook, where a carriage return begins the line anew."""
    return type(stream).__module__.partition(".")[0] == "ipykernel"


class Line:
    """Live progress on a stream: rewritten on a terminal and in a notebook, now and then a line
    elsewhere."""

    def __init__(self, stream=None):
        self.stream, self.last, self.long = stream or sys.stderr, 0.0, 0
        self.terminal = self.stream.isatty()
        self.tty = self.terminal or is_notebook(self.stream)

    def progress(self, label):
        """A function of (done, total) that says how far it is and how long it takes; `share` is what
        is done of the time, where that is known."""
        begun = time.perf_counter()

        def report(done, total, *_, share=None):
            now = time.perf_counter()
            if now - self.last <= (0.2 if self.tty else 5):
                return
            seconds = now - begun
            if isinstance(done, str):  # of a search: (claim, instances so far, largest ratio)
                self.last = now
                self.say(f"{label}: {total} instances, {duration_text(seconds)}", "")
            elif 0 < done < total:
                self.last = now
                share = share or done / total
                left = duration_text(seconds * (1 - share) / share)
                self.say(f"{label}: {done}/{total}, {duration_text(seconds)}, {left} left", "")

        self.last = begun
        return report

    def say(self, text, end="\n"):
        """A line; with another `end` one that the next replaces."""
        if self.tty and not end:
            text = fit_width(
                text, terminal_width(80, self.stream) - 1
            )  # a line that wraps is not replaced
        rest = "\033[K" if self.terminal else " " * max(0, self.long - len(text))
        with suppress(OSError):  # how far it is matters to nobody who cannot read it
            self.stream.write(f"\r{text}{rest}{end}" if self.tty else f"{text}\n")
            self.stream.flush()
        self.long = len(text)

    def clear(self):
        """Leave nothing of a live line."""
        if self.tty:
            self.say("", "")

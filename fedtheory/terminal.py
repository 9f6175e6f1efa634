"""Terminal output: its width, its styles, and one live progress line that is rewritten. Elsewhere a
progress line is printed every few seconds."""

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TextIO

from fedtheory.errors import explain_system, printable, refuse


def say(line: object) -> None:
    """Print a line on standard error; do nothing where standard error cannot be written to."""
    with suppress(OSError, ValueError):
        print(printable(str(line)), file=sys.stderr, flush=True)


def run_to_end(whose: str, work: Callable[[], int]) -> int:
    """Run a command, flush its answer and return its exit status: 2, with a sentence, where the
    answer cannot be written. A reader that closes the pipe early, such as `head`, is no error."""
    left, status = None, 0
    try:
        try:
            status = work()
        except SystemExit as ended:
            left = ended
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stream(sys.stdout)
    except OSError as error:
        _silence_stream(sys.stdout)
        say(f"{whose}: {explain_system(error)}; the answer could not be written")
        return 2
    if left is not None:
        raise left
    return status


def _silence_stream(stream: TextIO) -> None:
    """Redirect a stream to the null device, because Python would flush its buffer once more at
    exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def wants_bold(stream: TextIO | None = None) -> bool:
    """Tell whether bold text is wanted: on a terminal, unless NO_COLOR is set or the terminal is
    dumb."""
    stream = stream or sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def terminal_width(otherwise: int, stream: TextIO | None = None) -> int:
    """Return the number of columns of the terminal, or `otherwise` where the output goes elsewhere."""
    stream = stream or sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else otherwise


def reading_width(otherwise: int = 88) -> int:
    """Return the number of columns for running text: the terminal's width, limited to 60 to 100."""
    return min(100, max(60, terminal_width(otherwise)))


def fit_width(line: str, wide: int) -> str:
    """Return a line cut to `wide` columns, with "..." at the end where text was cut off.

    >>> from fedtheory.terminal import fit_width
    >>> fit_width("a long line", 8)
    'a lon...'
    """
    return line if len(line) <= wide else f"{line[: max(wide - 3, 0)]}..."


def print_table(rows: Sequence[tuple[str, str]], stream: TextIO | None = None) -> str:
    """Return rows of (name, text) as text, one under the other; on a terminal each text is wrapped
    in the columns beside the names."""
    wide = max((len(name) for name, _ in rows), default=0) + 2
    left = terminal_width(0, stream) - wide
    if left <= -wide:  # not a terminal: each row is one line, for programs such as grep
        return "\n".join(f"{name:{wide}s}{text}" for name, text in rows)
    if left < 24:  # long names leave too little width: each text stands below its name
        return "\n".join(part for name, text in rows for part in hang_text(name, text, left + wide))
    broken = lambda text: textwrap.wrap(text, left, break_on_hyphens=False)
    indent = "\n" + " " * wide
    return "\n".join(f"{name:{wide}s}{indent.join(broken(text))}" for name, text in rows)


def hang_text(name: str, text: str, wide: int) -> Iterator[str]:
    """Yield the lines of a name, and of its text, indented below the name."""
    inset = " " * (len(name) - len(name.lstrip()))
    yield inset + " ".join(name.split())
    yield from textwrap.wrap(
        text, wide, initial_indent=f"{inset}  ", subsequent_indent=f"{inset}  "
    )


def duration_text(seconds: float) -> str:
    """Return a number of seconds in words that are quick to read.

    >>> from fedtheory.terminal import duration_text
    >>> duration_text(7.2), duration_text(95), duration_text(7500)
    ('7 s', '1 min 35 s', '2 h 5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_ = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def progress_callback(progress: Any, label: str) -> Callable[..., Any] | None:
    """Return the function that is called with progress: a given function as it is, a live line for
    `True`, None for None.

    >>> from fedtheory.terminal import progress_callback
    >>> progress_callback(None, "a run") is None, progress_callback(print, "a run") is print
    (True, True)
    """
    if progress is True:
        return Line().progress(label)
    if progress is not None and progress is not False and not callable(progress):
        refuse(
            "progress",
            "must be True, or a function that is called while the work goes on",
            progress,
        )
    return progress or None


def is_notebook(stream: object) -> bool:
    """Tell whether a stream goes to a notebook, where a carriage return restarts the line."""
    return type(stream).__module__.partition(".")[0] == "ipykernel"


class Line:
    """A progress line on a stream: rewritten in a terminal and in a notebook, printed every few
    seconds elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream, self.last, self.long = stream or sys.stderr, 0.0, 0
        self.terminal = self.stream.isatty()
        self.tty = self.terminal or is_notebook(self.stream)

    def progress(self, label: str) -> Callable[..., None]:
        """Return a function of (done, total) that prints the progress and the time left. `share` is
        the share of the total time that is over, where known."""
        begun = time.perf_counter()

        def report(done: int | str, total: int, *_: object, share: float | None = None) -> None:
            now = time.perf_counter()
            if now - self.last <= (0.2 if self.tty else 5):
                return
            seconds = now - begun
            # progress of a search: (claim, instances so far, largest ratio)
            if isinstance(done, str):
                self.last = now
                self.say(f"{label}: {total} instances, {duration_text(seconds)}", "")
            elif 0 < done < total:
                self.last = now
                share = share or done / total
                left = duration_text(seconds * (1 - share) / share)
                self.say(f"{label}: {done}/{total}, {duration_text(seconds)}, {left} left", "")

        self.last = begun
        return report

    def say(self, text: str, end: str = "\n") -> None:
        """Print a line; with an `end` other than a line break, the next line replaces this one."""
        if self.tty and not end:
            text = fit_width(
                text, terminal_width(80, self.stream) - 1
            )  # cut to the width: a line that wraps cannot be overwritten
        rest = "\033[K" if self.terminal else " " * max(0, self.long - len(text))
        with suppress(OSError):  # an unwritable stream must not stop the work
            self.stream.write(f"\r{text}{rest}{end}" if self.tty else f"{text}\n")
            self.stream.flush()
        self.long = len(text)

    def clear(self) -> None:
        """Erase a live line."""
        if self.tty:
            self.say("", "")

"""What a terminal shows: live lines, tables as wide as it is, and no styles where none are wanted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fedtheory import terminal
from fedtheory.errors import InvalidInput


class Stream:
    """A terminal, or a file, that keeps what is written."""

    def __init__(self, tty=True):
        self.text, self.isatty = "", lambda: tty

    def flush(self):
        pass

    def write(self, text):
        self.text += text


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(
        shutil, "get_terminal_size", lambda *_, **__: shutil.os.terminal_size((40, 20))
    )


def test_progress_is_shown_on_the_way(monkeypatch):
    clock = iter([0.0, 1.0, 1.1, 3.0])
    monkeypatch.setattr(terminal.time, "perf_counter", lambda: next(clock))
    line = terminal.Line(Stream())
    report = line.progress("flex_table5")
    for done in (1, 2, 3):
        report(done, 6)
    assert line.stream.text == (
        "\rflex_table5: 1/6, 1 s, 5 s left\033[K\rflex_table5: 3/6, 3 s, 3 s left\033[K"
    )


def test_a_live_line_never_wraps_and_a_file_gets_whole_lines(narrow):
    tty, file = Stream(), Stream(tty=False)
    for stream in (tty, file):
        terminal.Line(stream).say("x" * 100, "")
    assert tty.text == "\r" + "x" * 36 + "...\033[K"
    assert file.text == "x" * 100 + "\n"


def test_tables_keep_to_the_columns_of_a_terminal(narrow):
    rows = [("one", "a text of words that goes on and on, for more than a line"), ("three", "b")]
    shown = terminal.print_table(rows, Stream()).splitlines()
    assert max(map(len, shown)) <= 40 and len(shown) == 3 and shown[1].startswith("       ")
    assert " ".join(" ".join(shown[:2]).split()) == "one " + rows[0][1]
    assert terminal.print_table(rows, Stream(tty=False)).splitlines() == [
        f"one    {rows[0][1]}",
        "three  b",
    ]


def test_texts_stand_below_names_that_leave_no_room(narrow):
    rows = [("a.name.that.is.long        exact", "a text of words that goes on and on, and on")]
    assert terminal.print_table(rows, Stream()).splitlines() == [
        "a.name.that.is.long exact",
        "  a text of words that goes on and on,",
        "  and on",
    ]
    assert terminal.print_table(rows, Stream(tty=False)) == f"{rows[0][0]}  {rows[0][1]}"


@pytest.mark.parametrize(
    "tty, variables, wanted",
    [
        (True, {}, True),
        (False, {}, False),
        (True, dict(NO_COLOR="1"), False),
        (True, dict(TERM="dumb"), False),
        (True, dict(NO_COLOR=""), True),
    ],
)
def test_styles(monkeypatch, tty, variables, wanted):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal.wants_bold(Stream(tty)) == wanted


def test_progress_is_a_function_or_a_line(monkeypatch, capsys):
    assert terminal.progress_callback(False, "x") is None
    with pytest.raises(InvalidInput, match="progress must be True, or a function"):
        terminal.progress_callback(3, "x")
    clock = iter([0.0, 6.0, 12.0])
    monkeypatch.setattr(terminal.time, "perf_counter", lambda: next(clock))
    report = terminal.progress_callback(True, "mixed.stepD2")
    report("mixed.stepD2", 640, 0.5)  # of a search
    report(1, 3)
    assert capsys.readouterr().err.splitlines() == [
        "mixed.stepD2: 640 instances, 6 s",
        "mixed.stepD2: 1/3, 12 s, 24 s left",
    ]


def test_in_a_notebook_a_line_is_written_over():
    stream = type("Stream", (Stream,), dict(__module__="ipykernel.iostream"))(tty=False)
    line = terminal.Line(stream)
    line.say("a long line", "")
    line.say("short", "")
    assert stream.text == "\ra long line\rshort      "


@pytest.mark.parametrize("wide, reads", [(80, 80), (120, 100), (40, 60)])
def test_running_text_is_as_wide_as_the_terminal_within_what_is_read_well(monkeypatch, wide, reads):
    monkeypatch.setattr(terminal.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(wide))
    assert terminal.reading_width() == reads


def test_elsewhere_running_text_has_a_width_of_its_own():
    assert terminal.reading_width() == 88 and terminal.reading_width(86) == 86


ROOT = Path(__file__).resolve().parents[1]
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")


@needs_full
@pytest.mark.parametrize(
    "command",
    [
        ["list", "papers"],
        ["list", "claims", "--json"],
        ["--help"],
        ["completion", "bash"],
        ["verify", "--help"],
        ["figures", "--help"],
    ],
    ids=" ".join,
)
def test_an_answer_that_cannot_be_written_out_is_said_in_one_sentence(command):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fedtheory", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


@needs_full
def test_progress_that_cannot_be_written_stops_nothing():
    with open("/dev/full", "w") as full:
        line = terminal.Line(full)
        line.say("on the way")
        line.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stderr", full)
            terminal.say("a sentence")
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


def test_a_reader_who_has_seen_enough_is_no_error(monkeypatch):
    def closed():
        raise BrokenPipeError(32, "Broken pipe")

    assert terminal.run_to_end("fedtheory", closed) == 0
    with pytest.raises(SystemExit):
        terminal.run_to_end("fedtheory", lambda: sys.exit(3))

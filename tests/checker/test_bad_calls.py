"""Bad calls of commands and functions are answered by one clear sentence:
`python -m tests.checker.bad_calls` makes thousands of them, and here are some."""

import random
import sys

import pytest

from fedtheory.errors import InvalidInput
from tests.checker import bad_calls


def test_a_sample_of_bad_calls_is_answered():
    told = []
    assert not bad_calls.campaign(25, seed=5, say=told.append), told


def test_what_is_no_answer_is_counted(monkeypatch, capsys):
    def refuses(text):
        raise InvalidInput(text)

    answers = {
        "": lambda err: "",
        "2 lines": lambda err: refuses("one\ntwo"),
        "ZeroDivisionError at": lambda err: 1 / 0,
        "SystemExit at": lambda err: sys.exit(0),
    }
    for wanted, call in answers.items():
        found = bad_calls.ask(call)
        assert found.startswith(wanted) and bool(found) == bool(wanted)
    assert bad_calls.ask(lambda err: refuses("one")) == ""
    monkeypatch.setattr(bad_calls, "functions", lambda folder: [("divided", divided, dict(by=1))])
    monkeypatch.setattr(bad_calls.cli, "main", lambda words: print("a\nb", file=sys.stderr) or 2)
    assert bad_calls.main(["--count", "60", "--seed", "1"]) == 1
    told = capsys.readouterr().out
    assert "ZeroDivisionError" in told and "exit 2, 2 lines: a / b" in told


def divided(by):
    return 1 / by


def test_calls_are_drawn_by_their_seed():
    drawn = [[bad_calls.command(random.Random(seed)) for seed in range(20)] for _ in range(2)]
    assert drawn[0] == drawn[1] and len({*map(tuple, drawn[0])}) > 15
    assert bad_calls.run_file(random.Random(1)) == bad_calls.run_file(random.Random(1))


@pytest.mark.parametrize(
    "words", [["check", "claims.py"], ["conform", "none.py"], ["run", "spec.toml"]]
)
def test_files_that_end_a_program_are_among_them(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bad_calls.of_command(random.Random(0))  # writes them
    (tmp_path / "spec.toml").write_text("kind = []")
    assert bad_calls.cli.main(words) == 2 and capsys.readouterr().err.count("\n") == 1

"""Habits of a command line: a version, `python -m`, and names that are nearly right."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory.app import completion
from fedtheory.app.cli import main

ROOT = Path(ft.__file__).parents[1]


def test_the_version_is_said():
    told = subprocess.run(
        [sys.executable, "-m", "fedtheory", "--version"], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == f"fedtheory {ft.__version__}"


@pytest.mark.parametrize(
    "command, near",
    [
        (["explain", "fsl.theorm1"], "fsl.theorem1"),
        (["check", "theorem1"], "fsl.theorem1"),
        (["worst", "fedavgg"], "fedavg"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(command, near, capsys):
    assert main(command) == 2
    error = capsys.readouterr().err
    assert near in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("room", ["figures", "verify"])
def test_rooms_above_are_commands(room, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main([room, "--help"])
    assert left.value.code == 0
    assert f"usage: fedtheory {room}" in capsys.readouterr().out
    assert main([room, "--workers", "many"]) == 2
    assert capsys.readouterr().err.startswith(f"{room}: --workers must be from 0 to")


@pytest.mark.parametrize(
    "command, meant",
    [
        (["chek", "lamb.lemma1"], "check"),
        (["check", "lamb.lemma1", "--budgte", "3"], "--budget"),
        (["list", "claim"], "claims"),
        (["new", "clam"], "claim"),
        (["verify", "--rocc"], "--rocq"),
        (["figures", "--scael", "smoke"], "--scale"),
    ],
)
def test_a_word_that_is_nearly_right_is_suggested_in_one_line(command, meant, capsys):
    with pytest.raises(SystemExit) as left:
        main(command)
    printed = capsys.readouterr()
    assert left.value.code == 2 and printed.out == ""
    assert f"did you mean {meant}?" in printed.err and len(printed.err.splitlines()) == 1


@pytest.mark.parametrize(
    "command, says",
    [
        (["check", "lamb.lemma1", "--budget", "x"], "--budget must be a number; got 'x'"),
        (["check", "lamb.lemma1", "--seed", "1.5"], "--seed must be an integer; got '1.5'"),
    ],
)
def test_what_is_no_number_is_refused_in_one_line(command, says, capsys):
    with pytest.raises(SystemExit) as left:
        main(command)
    assert left.value.code == 2
    assert capsys.readouterr().err == f"fedtheory: {says}; see fedtheory check --help\n"


def test_nothing_asked_is_one_line_too(capsys):
    with pytest.raises(SystemExit) as left:
        main([])
    assert left.value.code == 2
    assert capsys.readouterr().err == "fedtheory: it needs COMMAND; see fedtheory --help\n"


# A command of each name that ends soon, and one of bad input; {F} is a file that stands there.
SOON = {
    "list": (["papers"], ["nothing"]),
    "explain": (["lamb.lemma1"], ["lamb.nothing"]),
    "bound": (
        ["lamb.lemma1", *"alpha_r=1 beta_2=0 lambda_=0 T=1 p=1 v_0=1 M=1 phi_M=1".split()],
        ["lamb.lemma1", "M"],
    ),
    "run": (None, ["nothing.toml"]),
    "check": (["mixed.stepD2", "--budget", "0.1"], ["mixed.stepD2", "--budget", "-1"]),
    "replay": (["{F}"], ["nothing.json"]),
    "diff": (None, ["nothing.json", "nothing.json"]),
    "export": (["{F}"], ["nothing.json"]),
    "mutate": (["mixed.stepD2", "--budget", "0.1"], ["nothing"]),
    "sharpen": (["mixed.propD6", "--budget", "0.1"], ["nothing"]),
    "minimise": (["fsl.h_lower", "--budget", "0.1"], ["nothing"]),
    "audit": (["fsl.h_lower", "--budget", "0.1"], ["nothing"]),
    "worst": (None, ["nothing"]),
    "new": (["claim", "own.py"], ["claim", "own.txt"]),
    "contracts": (None, ["nothing.py"]),
    "conform": (None, ["nothing.py"]),
    "data": ([], ["nothing"]),
    "experiments": ([], ["nothing"]),
    "warmup": (None, ["--cold"]),
    "completion": (["bash"], ["dos"]),
    "figures": (None, ["nothing"]),
    "verify": (["mixed.stepD2", "--budget", "0.1", "--workers", "0"], ["nothing"]),
}  # None: asked in the tests of that command


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("document") / "shown.json"
    shipped = json.loads((ROOT / "tests/second_opinion/certificates.json").read_text())
    path.write_text(json.dumps(shipped["mixed.stepD2"]))
    return str(path)


def test_every_command_is_asked():
    assert set(SOON) == set(completion.command_parsers())


@pytest.mark.parametrize("command", [name for name, (good, _) in SOON.items() if good is not None])
def test_every_command_answers_in_json(command, document, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [each.replace("{F}", document) for each in SOON[command][0]]
    assert main([command, *asked, "--json"]) == 0
    json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", SOON)
def test_every_command_refuses_bad_input_in_one_line(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        status = main([command, *SOON[command][1]])
    except SystemExit as left:
        status = left.code
    printed = capsys.readouterr()
    assert status == 2 and printed.out == "" and len(printed.err.splitlines()) == 1, printed.err


def test_every_command_takes_json_and_files_of_ones_own():
    for name, parser in completion.command_parsers().items():
        options = {option for option, _, _ in completion.parser_options(parser)}
        assert {"--json", "--with"} <= options, name


def test_a_check_that_was_asked_to_hold_and_does_not_ends_with_1(capsys):
    soon = ["check", "mixed.stepD2", "--budget", "0.1", "--expect"]
    assert main([*soon, "violated"]) == 0
    assert main([*soon, "holds"]) == 1
    assert "expected holds" in capsys.readouterr().out

"""`python -m figures`: found, refused, interrupted, resumed; and `fedtheory list figures`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fedtheory import figures
from fedtheory.app import cli
from fedtheory.figures import __main__ as command
from fedtheory.figures._record import Figure
from fedtheory.store import outputs

ROOT = Path(__file__).parents[2]
ONE = "mixed_table5"


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != outputs.LOG and outputs.ASIDE not in path.parts
    }


def test_every_file_is_a_figure():
    assert figures.figure_ids() == sorted(path.stem for path in (ROOT / "figures").glob("[!_]*.py"))
    for name in figures.figure_ids():
        assert isinstance(figures.figure(name), Figure)
        paper = figures.figure(name).cites.partition(",")[0]
        assert {
            "mixed FL": "mixed",
            "FSL": "fsl",
            "FSL (short)": "fsls",
            "FED-LAMB": "lamb",
            "all papers": "all",
        }.get(paper, paper) in name.split("_")


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["mixed_table99"], "figure must be one of mixed_fig1, "),
        (["../x"], "got '../x'"),
        (["_style"], "got '_style'"),
        ([ONE, "--scale", "huge"], "--scale must be one of smoke, quick, paper; got 'huge'"),
        ([ONE, "--workers", "-1"], "--workers must be from 0 to 4096; got '-1'"),
        ([ONE, "--data", "/nowhere"], "--data must be a folder; got '/nowhere'"),
    ],
)
def test_bad_input_is_one_sentence(arguments, says, capsys, tmp_path):
    assert command.main([*arguments, "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "must be" in printed and not (tmp_path / "out").exists()
    assert says in printed


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "out").write_text("")
    assert command.main([ONE, "--out", str(tmp_path / "out")]) == 2
    assert "--out must be a folder" in capsys.readouterr().err


@pytest.mark.slow
def test_another_process_gives_the_same_bytes(tmp_path):
    assert command.main([ONE, "--scale", "smoke", "--out", str(tmp_path / "a")]) == 0
    subprocess.run(
        [sys.executable, "-m", "figures", ONE, "--scale", "smoke", "--out", tmp_path / "b"],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"},
        cwd=ROOT,
        capture_output=True,
    )
    one, two = files(tmp_path / "a"), files(tmp_path / "b")
    assert one == two
    assert {f"{ONE}.{suffix}" for suffix in ("pdf", "svg", "png", "csv", "tex", "txt")} | {
        "findings.json"
    } <= set(one)
    assert {entry["claim"] for entry in json.loads(one["findings.json"])} == {"mixed.table5"}


def counted(monkeypatch, name=ONE, compute=None):
    """Count how often a figure is computed; optionally replace the computation."""
    real, calls = figures.figure(name), []

    def watched(scale, progress):
        calls.append(scale)
        return (compute or real.compute)(scale, progress)

    monkeypatch.setattr(
        figures,
        "figure",
        lambda wanted, find=figures.figure: (
            Figure(**{**vars(real), "compute": watched}) if wanted == name else find(wanted)
        ),
    )
    return calls


def test_what_is_saved_is_not_computed_again(tmp_path, monkeypatch, capsys):
    calls = counted(monkeypatch)
    run = lambda out, *more: command.main(
        [ONE, "--scale", "smoke", "--out", str(tmp_path / out), *more]
    )
    assert run("a") == 0 and run("a") == 0 and calls == ["smoke"]
    assert (
        run("b", "--data", str(tmp_path / "a")) == 0
        and run("c", "--data", str(tmp_path / "a" / "data")) == 0
    )
    assert calls == ["smoke"] and files(tmp_path / "a") == files(tmp_path / "b") == files(
        tmp_path / "c"
    )
    (saved,) = (tmp_path / "a" / "data").glob("*.npz")
    good = saved.read_bytes()
    saved.write_bytes(good[:-5])
    capsys.readouterr()
    assert run("a") == 0 and calls == ["smoke", "smoke"] and saved.read_bytes() == good
    assert "it is computed anew" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_finished(tmp_path, monkeypatch, capsys):
    two = ["fsl_table2", "mixed_table5", "--scale", "smoke", "--workers", "0"]

    def stopped(scale, progress):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        counted(patch, "mixed_table5", stopped)
        assert command.main([*two, "--out", str(tmp_path)]) == 130
    assert "interrupted" in capsys.readouterr().err
    kept = files(tmp_path)
    assert "fsl_table2.pdf" in kept and "mixed_table5.pdf" not in kept
    calls = counted(monkeypatch, "fsl_table2")
    assert command.main([*two, "--out", str(tmp_path)]) == 0
    assert not calls and "mixed_table5.pdf" in files(tmp_path)


@pytest.mark.slow
def test_processes_draw_the_same_bytes_and_end_with_their_giver(tmp_path):
    two = ["fsl_table2", "mixed_table5", "--scale", "smoke"]
    assert command.main([*two, "--workers", "0", "--out", str(tmp_path / "a")]) == 0
    assert command.main([*two, "--out", str(tmp_path / "b")]) == 0
    assert files(tmp_path / "a") == files(tmp_path / "b")
    heard = (  # a job in the background starts with SIGINT ignored
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from fedtheory.figures.__main__ import main; sys.exit(main())"
    )
    long = subprocess.Popen(
        [sys.executable, "-c", heard, "fsl_table2", "theory_fsl", "--scale", "paper"]
        + ["--out", tmp_path / "c"],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while "fsl_table2" not in long.stderr.readline():
        assert long.poll() is None
    os.kill(long.pid, signal.SIGINT)
    _, printed = long.communicate(timeout=60)
    assert long.returncode == 130 and "interrupted; what was finished is kept" in printed
    with pytest.raises(ProcessLookupError):  # no process of its group is left
        for _ in range(100):
            os.killpg(long.pid, 0)
            time.sleep(0.1)
    assert {path.name for path in (tmp_path / "c").glob("*.pdf")} == {"fsl_table2.pdf"}


def test_a_figure_that_fails_is_named_and_the_others_are_made(tmp_path, monkeypatch, capsys):
    counted(monkeypatch, "fsl_table2", lambda *_: {"x": np.array([object()])})
    here = ["--scale", "smoke", "--workers", "0", "--out", str(tmp_path)]
    assert command.main(["fsl_table2", ONE, *here]) == 1
    printed = capsys.readouterr()
    assert "1/2 fsl_table2: failed" in printed.err and "1 of 2 figures" in printed.out
    assert f"{ONE}.png" in files(tmp_path)


def test_the_library_lists_them(capsys):
    assert cli.main(["list", "figures", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert set(listed) == set(figures.figure_ids()) and listed[ONE]["cites"] == "mixed FL, table 5"


def test_a_folder_of_somebody_elses_with_such_a_file_is_left_alone(tmp_path, capsys):
    (tmp_path / f"{ONE}.pdf").write_bytes(b"dear")
    assert command.main([ONE, "--scale", "smoke", "--out", str(tmp_path)]) == 2
    assert "--out already holds a file that no command wrote" in capsys.readouterr().err
    assert files(tmp_path) == {f"{ONE}.pdf": b"dear"}

"""Runs described in files, and the command line around them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import jit
from fedtheory.app import cli, run_file
from fedtheory.errors import InvalidInput
from fedtheory.store import outputs

ROOT = Path(__file__).resolve().parents[2]
GOOD = """
[problem]
kind = "quadratic"
d = 3
clients = 4
L = 1.0
mu = 0.5
G = 0.5
sigma = 0.2
[run]
algorithm = "fsl"
rounds = 8
trials = 3
S = 2
[hyper]
eta_l = 0.05
eta_0 = 0.05
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "spec.toml"
        path.write_text(text)
        return path

    return write


def test_a_file_runs_what_python_runs(write, tmp_path, capsys):
    assert cli.main(["run", str(write(GOOD)), "--out", str(tmp_path / "out"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    problem = ft.problems.quadratic(d=3, clients=4, L=1.0, mu=0.5, G=0.5, sigma=0.2)
    r = ft.run(problem, "fsl", rounds=8, trials=3, S=2, eta_l=0.05, eta_0=0.05)
    np.testing.assert_array_equal(data["loss"], r.metrics["loss"].mean(axis=0))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "run.pdf",
        "run.png",
        "run.npz",
        "run.json",
        outputs.LOG,
    }
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "run.npz")["loss"], data["loss"])


def test_figures_are_the_same_bytes_on_a_rerun(write, tmp_path):
    for name in "ab":
        assert cli.main(["run", str(write(GOOD)), "--out", str(tmp_path / name)]) == 0
    for file in ("run.pdf", "run.png", "run.npz"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_the_first_run_sets_theorem_2_against_fsl(tmp_path, capsys):
    assert (
        cli.main(["run", str(ROOT / "docs" / "first_run.toml"), "--out", str(tmp_path), "--json"])
        == 0
    )
    data = {k: np.array(v) for k, v in json.loads(capsys.readouterr().out).items()}
    # The bound worked out here from the paper, not from the record.
    L, gamma, S, N, K, K_0, eta_g, u = 1.0, 1.0, 10, 50, 5, 5, 3.0, 5 * 0.012
    G, xi, sigma, sigma_0 = 1.0, 0.3, 1.0, 0.3
    rho = (N - S) / (N - 1)
    Psi = gamma**2 * sigma_0**2 / K_0 + sigma**2 / (K * S) + rho * G**2 / S
    kappa = max(4 * gamma**3, 2 / eta_g**2 + 3 * gamma**2)
    Phi = (
        gamma**2 * Psi
        + 2 * gamma**2 / S * (sigma**2 / K + rho * G**2)
        + (2 * G**2 + sigma**2 / K) / eta_g**2
    )
    floor = 5 * u * L * Psi + 8 * u**2 * L**2 * (gamma * kappa / (1 + gamma) * xi**2 + Phi)
    problem = ft.problems.quadratic(d=20, clients=50, L=1.0, mu=0.1, G=1.0, xi_bar=0.3, seed=1)
    A, b, x = problem.data.A[0], problem.data.b, np.zeros(20)
    middle = (b[1:].mean(axis=0) + b[0]) / 2  # the minimiser of (F + f_0) / 2 under one Hessian
    D_0 = 0.5 * A @ ((x - middle) ** 2)
    np.testing.assert_allclose(data["right"], D_0 / (data["T"] * u) + floor, rtol=1e-9)
    h = gamma + 0.5 - u * L * (1 + gamma) / 2 * (3 * gamma + 3 + 16 * kappa * u * L)
    assert data["left"][0] == pytest.approx(h * np.sum((A * (x - middle)) ** 2), rel=1e-9)
    assert (data["left_exact"] <= data["right"]).all() and (np.diff(data["left_exact"]) <= 0).all()
    np.testing.assert_allclose(data["left"], data["left_exact"], rtol=0.25)


def test_a_random_start_has_no_exact_side_and_a_ball_is_reported(write, tmp_path, capsys):
    bound = '[bound]\nclaim = "fsl.theorem2"'
    own = GOOD.replace("G = 0.5", 'G = 0.5\nhessian = "own"\nradius = 0.01')
    for text, exact, said in (
        (own + bound, True, "G holds within 0.01 of the minimiser, and 3 of 3 trials left"),
        (GOOD.replace("S = 2", "S = 2\npretrained = {steps = 3, eta = 0.1}") + bound, False, ""),
    ):
        assert cli.main(["run", str(write(text)), "--out", str(tmp_path / "out")]) == 0
        printed = capsys.readouterr().out
        assert ("left side, exact" in printed) is exact and said in printed


REFUSED = [
    ("[run]\nalgorithm='fsl'\nrounds=1", "needs a section [problem]"),
    (GOOD + "[extra]\na=1", "takes the sections problem, run, hyper, bound; got 'extra'"),
    (GOOD.replace('kind = "quadratic"', 'kind = "cubic"'), "[problem] kind must be one of"),
    (GOOD.replace("d = 3", "dim = 3"), "[problem] of kind quadratic takes d, clients"),
    (GOOD.replace("d = 3\n", ""), "[problem] of kind quadratic needs d"),
    (GOOD.replace("L = 1.0", "L = nan"), "L must be a finite number > 0; got nan"),
    (GOOD.replace("L = 1.0", "L = 1e400"), "L must be a finite number > 0; got inf"),
    (GOOD.replace("rounds = 8", ""), "[run] needs rounds"),
    (GOOD.replace("rounds = 8", "rounds = 8\nround = 9"), "[run] takes algorithm"),
    (GOOD.replace("eta_l = 0.05", "eta_l = inf"), "eta_l must be a finite number >= 0; got inf"),
    (
        GOOD.replace("eta_l = 0.05", "eta_l = \"__import__('os')\""),
        "eta_l must be a finite number >= 0",
    ),
    (GOOD + "eta_l = 0.1", "is not TOML"),
    (GOOD + '[bound]\nclaim = "fsl.theorem99"', "fsl.theorem99"),
    (GOOD + '[bound]\nlaw = "x"', "[bound] takes claim; got 'law'"),
    (
        GOOD.replace("eta_0 = 0.05", "eta_0 = [" + "0.05, " * 7 + "0.04]")
        + '[bound]\nclaim = "fsl.theorem2"',
        "eta_0 must be constant over rounds for a comparison with theorem2",
    ),
    (GOOD.replace('kind = "quadratic"', "kind = []"), "[problem] kind must be one of"),
    (GOOD.replace('kind = "quadratic"', "kind = {a = 1}"), "[problem] kind must be one of"),
    (GOOD.replace("d = 3", f"d = {'9' * 5000}"), "is not TOML: ValueError: Exceeds the limit"),
    (GOOD.replace("rounds = 8", "rounds = 8\nout = 5"), "[run] out must be the name of a folder"),
    (GOOD.replace("rounds = 8", "rounds = 8\nout = ['a']"), "[run] out must be the name of a fo"),
    (GOOD.replace("rounds = 8", 'rounds = 8\nout = "a\\u0000b"'), "[run] out must be the name of"),
    (GOOD.replace("rounds = 8", 'rounds = 8\nout = "/dev/null"'), "[run] out must be the name of"),
    (GOOD.replace("rounds = 8", 'rounds = 8\nout = "/dev/null/x"'), "[run] out must be the name"),
    (GOOD.replace("rounds = 8", f'rounds = 8\nout = "{"a" * 5000}"'), "of at most 255 letters"),
    (GOOD.replace("rounds = 8", "rounds = 8\nmetrics = 5"), "[run] metrics must be a sequence of"),
    (GOOD.replace("rounds = 8", "rounds = 8\nmetrics = []"), "[run] metrics must name one metric"),
    (GOOD.replace("rounds = 8", "rounds = 8\nmetrics = ['loss', 'loss']"), "each once"),
    (
        GOOD.replace("rounds = 8", "rounds = 1979-05-27"),
        "run must be TOML of numbers, texts, lists",
    ),
    (
        GOOD.replace("rounds = 8", "rounds = 8\npretrained = [1]"),
        "[run] pretrained must be a table",
    ),
    *(
        (GOOD + f"{name} = 1", "[hyper] takes eta_l, eta_g, ")
        for name in ("progress", "problem", "rounds", "metrics", "executor", "line")
    ),
    (GOOD + "[bound]\n", "[bound] needs claim"),
    (GOOD + "[bound]\nclaim = []", "claim must be an id"),
    (GOOD.replace("rounds = 8", f"rounds = {'[' * 2000}{']' * 2000}"), "nested too deeply"),
    (GOOD.replace("rounds = 8", f"rounds = {'[' * 20}{']' * 20}"), "of at most 8 levels"),
    ("a" * 2**24 + " = 1", "must be a file of at most 16777216 bytes"),
    (GOOD.replace("eta_0 = 0.05", "eta_0 = 0.07") + '[bound]\nclaim = "fsl.theorem2"', "assumes"),
]


@pytest.mark.parametrize("text, sentence", REFUSED, ids=[s for _, s in REFUSED])
def test_a_bad_file_gets_one_line_and_exit_2(write, capsys, text, sentence, tmp_path):
    assert cli.main(["run", str(write(text)), "--out", str(tmp_path / "out")]) == 2
    out, err = capsys.readouterr()
    # With a cold cache, progress comes first: a problem is made before its bound is refused.
    errors = [line for line in err.splitlines() if not line.startswith("compiling kernels")]
    assert out == "" and len(errors) == 1 and sentence in errors[0]
    assert not (tmp_path / "out").exists()


def test_a_wait_for_the_compiler_is_announced_once(write, capsys, monkeypatch):
    monkeypatch.setattr(jit, "announce", [])
    for _ in range(2):
        assert cli.main(["run", str(write("[run]"))]) == 2
    capsys.readouterr()
    for announcement in jit.announce:
        announcement()
    assert capsys.readouterr().err.count("compiling kernels") == 1


def test_what_a_folder_is_said_to_be_is_asked_before_anything_is_made(write, capsys, monkeypatch):
    monkeypatch.setattr(run_file, "make_problem", lambda section: pytest.fail("it was made"))
    out, errors = [], ("[bound]", "out = 5", "metrics = []", "pretrained = 3", "S = 0")
    for wrong in errors:
        text = (
            GOOD + wrong if "[" in wrong[0] else GOOD.replace("rounds = 8", f"rounds = 8\n{wrong}")
        )
        assert cli.main(["run", str(write(text))]) == 2
        out.append(capsys.readouterr().err)
    assert len({*out}) == len(errors)


def test_a_missing_file_is_said(capsys):
    assert cli.main(["run", "nowhere.toml"]) == 2
    assert "No such file" in capsys.readouterr().err


def test_names_from_a_file_never_reach_a_shell_or_an_evaluator(write):
    for hostile in ("__import__('os').system('true')", "quadratic; import os", "../../x"):
        with pytest.raises(InvalidInput):
            run_file.make_problem(dict(kind=hostile))


@pytest.mark.parametrize("what", ["algorithms", "problems", "metrics"])
def test_lists(what, capsys):
    assert cli.main(["list", what, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"algorithms": "fsl", "problems": "quadratic", "metrics": "loss"}[what] in listed
    assert cli.main(["list", what]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in listed)


def test_the_command_runs_as_a_program():
    run = subprocess.run(
        [sys.executable, "-m", "fedtheory.app.cli", "list", "metrics"],
        text=True,
        capture_output=True,
        cwd=ROOT,
    )
    assert run.returncode == 0 and "sq_distance" in run.stdout
    run = subprocess.run(
        [sys.executable, "-m", "fedtheory.app.cli", "list", "nothing"],
        text=True,
        capture_output=True,
        cwd=ROOT,
    )
    assert run.returncode == 2

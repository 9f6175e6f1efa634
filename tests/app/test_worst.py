"""`fedtheory worst`: Drori and Teboulle's 1/(4n+2), FedAvg by its kernels, certificates that
replay, bad input."""

import json

import pytest

from fedtheory.app.cli import main
from fedtheory.proofs.worstcase import program

pytest.importorskip("clarabel")


def test_gradient_descent_has_the_known_rate_and_its_certificate_replays(tmp_path, capsys):
    file = tmp_path / "worst.json"
    assert (
        main(["worst", "gradient_descent", "eta=1", "--rounds", "2", "--out", str(file), "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(1 / 10, rel=1e-8)  # L R^2 / (4 n + 2)
    least, bound = program.replay_worst_case(file.read_text())
    assert least <= bound and float(bound) == pytest.approx(1 / 10, rel=1e-8)


def test_a_worst_case_in_a_short_fraction_is_told_as_one(capsys):
    """Without convexity the least gradient after three steps is at most 4 L gap/(3 T + 2)."""
    asked = ["eta=1", "--rounds", "3", "--mu", "-1", "--measure", "sq_grad_norm", "--over", "least"]
    assert main(["worst", "gradient_descent", *asked]) == 0
    assert "worst case 4/11 (0.3636363636), proved by" in capsys.readouterr().out
    assert main(["worst", "fedsgd", "eta=1/1000001", "--rounds", "2"]) == 0
    told = capsys.readouterr().out
    assert "/" not in told.partition("worst case")[2].partition(",")[0]


def test_a_library_method_is_read_from_its_kernels(capsys):
    """FedAvg with K = 1 and eta_g = 1 on one client is gradient descent."""
    assert main(["worst", "fedavg", "N=1", "K=1", "eta_l=1", "--rounds", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == pytest.approx(1 / 6, rel=1e-8)


def test_a_method_of_ones_own_that_mixes_coordinates_is_refused(tmp_path, capsys):
    """Two nodes of a gossip method in one vector: their worst case is not that of gradient descent."""
    file = tmp_path / "gossip.py"
    file.write_text(
        "from tests.checker.hostile_methods import METHODS\nALGORITHM = METHODS['gossip']\n"
    )
    arguments = ["worst", "hostile_gossip", "eta=1", "a=1/4", "--rounds", "2", "--with", str(file)]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert "hostile_gossip has no worst case here: on 2 coordinates" in error


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["fedavg", "N=0", "K=1", "eta_l=1"], "N must be an integer from 1 to 20"),
        (["gradient_descent"], "gradient_descent takes eta"),
        (["no_such"], "algorithm must be one of"),
        (["fedavg", "K=1", "eta_l=1", "--rounds", "-1"], "--rounds must be from 0 to 50"),
        (["fedavg", "K=1", "eta_l=1", "eta_l=2"], "takes each name once"),
    ],
)
def test_bad_input_is_one_sentence(arguments, said, capsys):
    assert main(["worst", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and len(error.strip().splitlines()) == 1

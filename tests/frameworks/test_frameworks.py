"""The command that asks released frameworks, without one: what it installs, what it refuses, what it
prints of cases; and the arithmetic of the page's findings."""

import json
import sys
from fractions import Fraction as Q
from types import SimpleNamespace

import pytest

from fedtheory.errors import InvalidInput
from tests.conformance.test_conform import FedAvg
from tests.frameworks import __main__ as command
from tests.frameworks import run_cases


def case(*faults):
    code = FedAvg(*faults)
    names = ("method", "hyper", "start", "round", "state")
    given = {name: getattr(code, name) for name in names}
    return SimpleNamespace(says="ours " + " ".join(faults), weighted=True, **given)


def test_what_there_is_is_read_and_not_run():
    known = command.find_frameworks()
    assert {"declearn", "fedlab", "flgo", "flower", "pfl"} <= set(known)
    assert all("==" in pin for pins in known.values() for pin in pins)
    assert not {"declearn", "fedlab", "flgo", "flwr", "pfl"} & set(sys.modules)
    assert "numba>=0.61" in command.own_requirements()


def test_an_unknown_name_is_refused(capsys):
    assert command.main(["no_such"]) == 2
    assert "NAME must be one of declearn, fedlab, flgo, flower, pfl" in capsys.readouterr().err


def test_without_a_clone_nothing_is_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "ROOT", tmp_path)
    assert command.main(["pfl", "--at", str(tmp_path / "at")]) == 2
    assert "in a clone" in capsys.readouterr().err and not (tmp_path / "at").exists()


def test_an_environment_is_made_once(tmp_path, monkeypatch):
    """With pip replaced: what it is given, a second call that asks nothing, and new pins that do."""
    given = []

    def run(arguments, **_):
        given.append(list(map(str, arguments)))
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(command.subprocess, "run", run)
    monkeypatch.setattr(
        command.venv, "create", lambda home, **_: home.mkdir(parents=True, exist_ok=True)
    )
    for pins in (("a==1",), ("a==1",), ("a==2",)):
        python = command.make_environment("a", pins, tmp_path)
    assert python == tmp_path / "a" / "bin" / "python"
    assert [[word for word in words if word[:3] == "a=="] for words in given] == [
        ["a==1"],
        ["a==2"],
    ]
    assert all("numpy>=2.0" in words for words in given)
    (tmp_path / "c").mkdir()  # somebody else's
    (tmp_path / "c" / "dear.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="--at must be a folder in which no other thing has"):
        command.make_environment("c", ("c==1",), tmp_path)
    assert (tmp_path / "c" / "dear.txt").read_text() == "mine"
    monkeypatch.setattr(command.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1))
    monkeypatch.setitem(command.__dict__, "frameworks", lambda: {"b": ("b==1",)})
    assert command.main(["b", "--at", str(tmp_path)]) == 2


def test_cases_are_asked_one_after_the_other(monkeypatch, capsys):
    module = SimpleNamespace(PINS=("numpy==0",), CASES=(case(), case("sign")))
    monkeypatch.setitem(sys.modules, "tests.frameworks.ours", module)
    run_cases.main("ours", as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["framework"] == "ours" and told["versions"]["numpy"] != "0"
    good, bad = told["cases"].values()
    assert good["broken"] is None and "ClientUpdate" in bad["broken"]["line"]
    run_cases.main("ours")
    assert "ours sign\nfedavg: not obeyed is McMahan" in capsys.readouterr().out


def test_the_pages_fractions_by_hand():
    """FedDyn's second step with and without its terms; pfl's c_1; the first step of Adam; declearn's
    c, from variates by hand: mean gradients of three steps of 1/4 from 3."""
    eta, alpha, x = Q(1, 4), Q(1, 2), Q(3)
    y = x - eta * (x - 2)
    assert y == Q(11, 4)
    assert y - eta * (y - 2 + alpha * (y - x)) == Q(83, 32) and y - eta * (y - 2) == Q(41, 16)
    z = y - eta * (y - 2)
    assert (x - (z - eta * (z - 2))) / (3 * eta) == Q(37, 48)
    factor = lambda t, b_1, b_2: (1 - b_2**t) ** 0.5 / (1 - b_1**t)
    step = lambda t, b_1, b_2: factor(t, b_1, b_2) * (1 - b_1) / (1 - b_2) ** 0.5
    assert step(1, 0.5, 0.75) == pytest.approx(1)
    assert 3 - step(2, 0.5, 0.75) / 8 == pytest.approx(2.88976, abs=5e-6)
    assert step(2, 0.9, 0.99) == pytest.approx(0.742, abs=5e-4)

    def variate(a, b):
        y, seen = Q(3), []
        for _ in range(3):
            seen.append(a * (y - b))
            y -= seen[-1] / 4
        return sum(seen) / 3

    both = variate(Q(1), 2) + variate(Q(1, 2), -1)
    assert both / 2 == Q(81, 64) and both / 3 == Q(27, 32)

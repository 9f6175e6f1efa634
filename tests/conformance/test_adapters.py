"""An adapter's file at the command line: its answer, its exit status, and what is refused."""

import json

from fedtheory.app import cli

ADAPTER = """
METHOD, HYPER = "fedavg", dict(eta_l=0.25, weighting="plain")
def start(task):
    return task.x_0
def round(x, cohort, work, gradient):
    ends = []
    for i, steps in zip(cohort, work):
        y = x.copy()
        for k in range(steps):
            y = y {} 0.25 * gradient(i, y, k)
        ends.append(y)
    return sum(ends) / len(ends)
def state(x):
    return dict(x=x)
"""


def test_an_adapters_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for sign, status, says in (("-", 0, "agrees on one client"), ("+", 1, "ClientUpdate")):
        (tmp_path / "adapter.py").write_text(ADAPTER.format(sign))
        assert cli.main(["conform", "adapter.py"]) == status
        told = capsys.readouterr().out
        assert says in told and "laws that the code obeys" in told
    assert cli.main(["conform", "adapter.py", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert {law["outcome"] for law in told["laws"]} == {"obeyed", "broken", "not asked"}
    (tmp_path / "adapter.py").write_text("METHOD = 'fedavg'")
    assert cli.main(["conform", "adapter.py"]) == 2 and "it lacks start" in capsys.readouterr().err


METHOD_OF_ONES_OWN = """
from typing import NamedTuple
import numpy as np
from fedtheory.algorithm import Algorithm, positive
from fedtheory.jit import jit

class Hyper(NamedTuple):
    eta: float = positive("step size")

class State(NamedTuple):
    x: np.ndarray

def init(x_0, N, layers, h):
    return State(x_0.copy())

@jit
def local_step(state, i, k, y, g, local, h):
    for j in range(y.size):
        y[j] -= h.eta * g[j]

@jit
def aggregate(state, cohort, work, p, y, local, h):  # the last client's word is law
    for j in range(y.shape[1]):
        state.x[j] = y[cohort.size - 1, j]

ALGORITHM = Algorithm("last_word", "nowhere", Hyper, init, local_step, aggregate, steps=2)
"""


def test_a_method_of_ones_own(tmp_path, monkeypatch, capsys):
    """Its kernels are the listing: FedAvg's mean breaks it, and that a cohort's order matters is no
    fault of the code, for the method has it so."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(METHOD_OF_ONES_OWN)
    text = ADAPTER.format("-").replace(
        '"fedavg", dict(eta_l=0.25, weighting="plain")', '"last_word", dict(eta=0.25)'
    )
    (tmp_path / "mean.py").write_text(text)
    (tmp_path / "last.py").write_text(text.replace("sum(ends) / len(ends)", "ends[-1]"))
    assert cli.main(["conform", "last.py", "--with", "mine.py"]) == 0
    told = capsys.readouterr().out
    assert "not laws of last_word" in told and "order of a cohort" in told.rpartition("not laws")[2]
    assert cli.main(["conform", "mean.py", "--with", "mine.py"]) == 1
    assert "not obeyed is nowhere: its aggregate" in capsys.readouterr().out


def test_the_starting_file_agrees_and_a_fault_in_it_is_seen(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "adapter", "mine.py"]) == 0
    assert "fedtheory conform mine.py" in capsys.readouterr().out
    assert cli.main(["conform", "mine.py"]) == 0
    assert "unequal weights, noise" in capsys.readouterr().out
    path = tmp_path / "mine.py"
    path.write_text(path.read_text().replace("mean / total", "mean"))
    assert cli.main(["conform", "mine.py"]) == 1
    assert "not obeyed is McMahan et al. 2017, algorithm 1" in capsys.readouterr().out

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

"""The pool: a run is carried out once, known by what defines it, and found again after an end."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.app import experiments_command
from fedtheory.app.cli import main
from fedtheory.errors import InvalidInput
from fedtheory.experiments import SCALES, _pool, _samples, _training, experiment, experiments
from fedtheory.experiments.data import partition
from fedtheory.experiments.problems.mlp import accuracy
from fedtheory.experiments.records import fsl_scenario1
from fedtheory.runs import checkpoints, execution

PLACE = "CIFAR-10"


def request(**changes):
    return {**fsl_scenario1.build_request("smoke", PLACE, "FSL", 1, 0), "rounds": 4, **changes}


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """An empty pool, and the seeds of the runs that were carried out."""
    monkeypatch.setattr(_pool, "FOLDER", str(tmp_path))
    seen, really = [], _training.train_run

    def trained(asked, *midway):
        seen.append(asked["seed"])
        return really(asked, *midway)

    monkeypatch.setattr(_training, "train_run", trained)
    return tmp_path, seen


def test_a_run_is_what_the_public_functions_do(pool):
    """Data, split, network and run made by hand from the same words."""
    told = request()
    found = _pool.load_or_run(told)
    data = ft.data.load(**told["set"])
    rows, test = (
        ft.data.flat(ft.data.smaller(X, 4)).astype(np.float32) for X in (data.X, data.X_test)
    )
    split = partition.classes(data.y, 5, 1, seed=0)
    own = partition.server_iid(data.y, 10, seed=0)
    problem = ft.problems.mlp(
        *split.arrays(rows), hidden=(8,), server=(rows[own], data.y[own]), batch=8, classes=10,
        seed=0, dtype="float32",
    )  # fmt: skip
    run = ft.run(
        problem, "fsl", rounds=4, S=2, seed=0, metrics=(), pretrained=dict(steps=625, eta=0.01),
        **told["hyper"],
    )  # fmt: skip
    assert found["test_accuracy"][-1] == pytest.approx(
        accuracy(problem, run.final[0], test, data.y_test)
    )
    assert found["rounds"].tolist() == [0, 1, 2, 3, 4]


def test_what_is_kept_is_not_run_again(pool):
    folder, seen = pool
    first = _pool.load_or_run(request())
    again = _pool.load_or_run(dict(reversed(request().items())))
    assert seen == [0] and all(np.array_equal(first[name], again[name]) for name in first)
    file = next(folder.glob("*.npz"))
    good = bytearray(file.read_bytes())
    good[40] ^= 1  # what another hand wrote counts as absent
    file.write_bytes(good)
    _pool.load_or_run(request())
    assert seen == [0, 0]


def test_a_key_is_of_all_that_defines_a_run():
    changed = dict(batch=4, rounds=5, method="fedavg", side=5, seed=1, N=4, net=[9])
    keys = {_pool.run_key(request(**{name: value})) for name, value in changed.items()}
    assert len(keys) == len(changed) and _pool.run_key(request()) not in keys


def test_runs_go_on_where_they_ended(pool, monkeypatch):
    """The third of four is cut short: two are kept, two are run afterwards; order and repetition
    are those of who asks."""
    _, seen = pool
    asked = [request(seed=seed) for seed in (3, 1, 2, 0, 1)]
    monkeypatch.setenv("FEDTHEORY_NUM_THREADS", "1")
    whole = _training.train_run

    def cut(told, *midway):
        if len(seen) == 2:
            raise KeyboardInterrupt
        return whole(told, *midway)

    monkeypatch.setattr(_training, "train_run", cut)
    with pytest.raises(KeyboardInterrupt):
        _pool.load_or_run_all(asked)
    assert len(seen) == 2 and len(_pool.missing_runs(asked)) == 2
    monkeypatch.setattr(_training, "train_run", whole)
    told = []
    found = _pool.load_or_run_all(asked, lambda done, total: told.append((done, total)))
    assert sorted(seen) == [0, 1, 2, 3] and told[-1] == (4, 4)
    assert found[1]["test_loss"].tolist() == found[4]["test_loss"].tolist()
    assert found[0]["test_loss"].tolist() == _pool.load_run(asked[0])["test_loss"].tolist()


def test_a_run_goes_on_in_its_middle(pool, monkeypatch):
    """The process ends after the third round: two rounds of five are left. What is broken is absent."""
    told, rounds = request(rounds=5), []
    whole = _training.train_run(told)
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 0)
    really = checkpoints.Checkpoint.write

    def write(self, job, last=False):
        really(self, job, last)
        rounds.append(job.done)
        if rounds == [1, 2, 3]:
            raise SystemExit

    monkeypatch.setattr(checkpoints.Checkpoint, "write", write)
    monkeypatch.setattr(execution, "CHUNK_SECONDS", 0.0)
    with pytest.raises(SystemExit):
        _pool.load_or_run(told)
    (midway,) = pool[0].glob("*.midway.npz")
    assert _pool.load_run(told) is None
    found = _pool.load_or_run(told)
    assert rounds == [1, 2, 3, 4, 5] and not midway.exists()
    assert all(np.array_equal(found[name], whole[name]) for name in whole)
    other = request(rounds=5, seed=7)
    _pool._checkpoint_path(other).write_bytes(b"half of it")
    again = _pool.load_or_run(other)
    assert rounds[5:] == [1, 2, 3, 4, 5] and not np.array_equal(
        again["test_loss"], whole["test_loss"]
    )


def test_runs_are_named_by_words():
    record = experiment("fsl_table1")
    named = record.named("smoke", ["FSL", "gamma=1"])
    assert {words[-1] for words, _ in named} == {"seed=0", "seed=1"} and len(named) == 4
    assert all(run["hyper"]["gamma"] == 1.0 and run["method"] == "fsl" for _, run in named)
    assert len(record.named("smoke")) == len(record.requests("smoke"))
    with pytest.raises(
        InvalidInput, match="only must be words of runs: 18, 9, FSL, .*; got 'gama=1'"
    ):
        record.named("smoke", ["gama=1"])
    with pytest.raises(InvalidInput, match="only must be words that one run has together; got"):
        record.named("smoke", ["FedDyn", "gamma=1"])


def test_the_command_says_how_chosen_runs_ended(pool, capsys):
    words = ["FSL", "9", "gamma=1", "seed=1"]
    command = ["experiments", "fsl_table1", "--scale", "smoke", "--only", *words]
    assert main([*command, "--run"]) == 0
    told = capsys.readouterr().out
    (kept,) = [_pool.load_run(run) for _, run in experiment("fsl_table1").named("smoke", words)]
    assert f"FSL 9 gamma=1 seed=1: rounds 10, test_accuracy {kept['test_accuracy'][-1]:.4g}" in told
    assert pool[1] == [1, 1, 1, 1, 1]  # four short ones for the estimate


def test_an_estimate_counts_what_is_left(pool):
    asked = [request(seed=seed) for seed in (0, 1)]
    left, seconds = _pool.estimate_work(asked)
    assert left == 2 and seconds > 0
    _pool.load_or_run(asked[0])
    assert _pool.estimate_work(asked)[0] == 1
    assert (
        _training.count_work(asked[0]) == 4 * (2 * 6 + 6) * 8 + 625 * 8
    )  # rounds (S K + K_0) B + before


def test_scenario_1_is_as_printed():
    """Section IV-A and B: EMNIST's N, n_i, n_0, S; CIFAR-10's E_s = 10 epochs over 500 samples."""
    told = fsl_scenario1.build_request("paper", "EMNIST", "FSL", 2, 0)
    assert (told["N"], told["S"], told["rounds"]) == (45, 5, 1000)
    assert told["server"] == {"server_iid": {"n_0": 225}} and told["hyper"]["eta_g"] == 5**0.5
    told = fsl_scenario1.build_request("paper", PLACE, "FSL", 2, 0, gamma=0.5)
    h = told["hyper"]
    assert told["server"] == {"server_iid": {"n_0": 500}} and (h["K"], h["K_0"]) == (100, 100)
    assert h["eta_0"] == pytest.approx(2 * 0.01) and h["gamma"] == 0.5
    assert told["pretrained"] == dict(steps=5000, eta=0.01)
    assert fsl_scenario1.build_request("paper", PLACE, "FL", 2, 0)["pretrained"] is None


@pytest.mark.parametrize("name", experiments())
def test_requests_can_be_carried_out(name):
    """At every scale: words of methods, partitions, sets and hyper-parameters that there are."""
    record = experiment(name)
    assert record.name == name and record.printed and record.chosen and record.judges
    for scale in SCALES:
        asked = record.requests(scale)
        assert asked and all(told["seed"] >= 0 for told in asked)
        for told in {
            _pool.request_text([t["method"], t["hyper"], t["split"]]): t for t in asked
        }.values():
            ft.algorithm(told["method"]).resolve(told["hyper"], told["rounds"])
            assert all(how in partition.__all__ for how in _pool._split_of(told))
    small = {
        _pool.request_text([t["set"], t["split"], t["N"]]): t for t in record.requests("smoke")
    }
    for told in small.values():  # the data suffice for every split
        text = _training.request_text({name: told.get(name) for name in _training.PROBLEM})
        assert _samples.prepare_problem(text).N == told["N"]
    with pytest.raises(InvalidInput, match="scale must be one of"):
        record.requests("huge")


def test_the_command(pool, monkeypatch, capsys):
    assert main(["experiments"]) == 0 and "fsl_scenario1" in capsys.readouterr().out
    few = fsl_scenario1.EXPERIMENT._replace(
        figures=dict(fig1=lambda scale: {(PLACE,): {}}),
        request=lambda scale, place, seed: request(rounds=2),
        seeds=dict(smoke=1, quick=1),
    )
    monkeypatch.setitem(experiments(), "fsl_scenario1", few)
    assert main(["experiments", "fsl_scenario1", "--scale", "smoke"]) == 0
    told = capsys.readouterr().out
    assert "1 runs, 1 of them not kept" in told and "printed  T: 1000" in told
    assert main(["experiments", "fsl_scenario1", "--run"]) == 0
    assert len(_pool.missing_runs([request(rounds=2)])) == 0
    assert main(["experiments", "fsl_scenari"]) == 2
    capsys.readouterr()
    more = few._replace(request=lambda scale, place, seed: request(rounds=3))
    monkeypatch.setattr(experiments_command, "experiments", lambda: dict(few=few, more=more))
    assert main(["experiments", "--run"]) == 0
    assert "2 runs of all experiments are kept" in capsys.readouterr().out
    assert len(_pool.missing_runs([request(rounds=3)])) == 0
    assert main(["experiments", "--run", "--only", "FSL"]) == 2


def test_an_estimate_counts_measurements_too(pool, monkeypatch):
    """Of a run whose rounds take 3 seconds each and its measurements 5, but for a start of 7."""
    clock = [0.0]

    def trained(asked, *midway):
        clock[0] += 7 + 3 * asked["rounds"] + 5 * (asked["rounds"] // asked["every"] + 1)

    monkeypatch.setattr(_training, "train_run", trained)
    monkeypatch.setattr(_pool.time, "process_time", lambda: clock[0])
    asked = request(rounds=40, every=4, pretrained=None)
    assert _pool.estimate_work([asked]) == (1, pytest.approx(40 * 3 + 10 * 5))

"""The runner: the same bits however the work is cut up, interruption, divergence, refusals."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import jit
from fedtheory.errors import Diverged, Interrupted, InvalidInput
from fedtheory.participation import Arrival, Departure, Participation, uniform
from fedtheory.problem import Kernels
from fedtheory.runs import execution, machine
from fedtheory.runs.planning import plan_of

ROOT = Path(__file__).resolve().parents[2]
FSL = dict(S=3, K=3, K_0=2, eta_l=0.05, eta_0=0.05, gamma=0.7)


@pytest.fixture(scope="module")
def problem():
    return ft.problems.quadratic(
        5, 6, L=1.0, mu=0.2, G=1.0, xi_bar=0.5, sigma=0.5, sigma_0=0.2, seed=1
    )


def run(problem, **changes):
    return ft.run(
        problem,
        "fsl",
        **{
            **dict(rounds=12, trials=5, seed=9, keep="x", metrics=tuple(ft.metrics)),
            **FSL,
            **changes,
        },
    )


def same(a, b):
    assert a.metrics.keys() == b.metrics.keys()
    for name in a.metrics:
        np.testing.assert_array_equal(a.metrics[name], b.metrics[name])
    np.testing.assert_array_equal(a.x, b.x)
    np.testing.assert_array_equal(a.final, b.final)


@pytest.mark.parametrize(
    "changes",
    [
        dict(workers=1),
        dict(workers=2),
        dict(workers=7),
        dict(chunk=1),
        dict(chunk=5),
        dict(chunk=100),
        dict(compiled=False),
    ],
    ids=str,
)
def test_bits_do_not_depend_on_how_the_work_is_cut(problem, changes):
    same(run(problem), run(problem, **changes))


def test_bits_do_not_depend_on_the_process(problem):
    code = """
        import hashlib, fedtheory as ft
        p = ft.problems.quadratic(5, 6, L=1.0, mu=0.2, G=1.0, xi_bar=0.5, sigma=0.5, sigma_0=0.2, seed=1)
        r = ft.run(p, "fsl", rounds=12, trials=5, seed=9, S=3, K=3, K_0=2, eta_l=0.05, eta_0=0.05, gamma=0.7)
        print(hashlib.sha256(r.final.tobytes() + r.metrics["loss"].tobytes()).hexdigest())
    """
    digest = lambda **env: (
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            text=True,
            cwd=ROOT,
            check=True,
            capture_output=True,
            env=dict(os.environ, **env),
        ).stdout
    )
    assert (
        len(
            {
                digest(FEDTHEORY_NUM_THREADS="1"),
                digest(FEDTHEORY_NUM_THREADS="2", PYTHONHASHSEED="7"),
                digest(TZ="Asia/Tokyo", LC_ALL="C"),
            }
        )
        == 1
    )


def run_both_ways(problem, workers, R, rounds, **given):
    """A run of two trials in chunks of R rounds: on one thread's loop, and with the clients of a
    round spread over workers."""
    plan = plan_of(
        problem,
        "fsl",
        rounds=rounds,
        trials=2,
        seed=9,
        S=3,
        participation=Participation(work=uniform(0)),
        keep="x",
        names=tuple(ft.metrics),
        given={k: v for k, v in {**FSL, **given}.items() if k != "S"},
    )
    results = []
    for together in (False, True):
        job = execution.Job(plan, None, workers=workers)
        with ThreadPoolExecutor(workers) as pool:
            while job.done < plan.rounds:
                part = job.chunk(R)
                job.machine.carry(part, pool, together)
                job.keep(part)
        results.append(job.result())
    return results


@pytest.mark.parametrize("workers", [2, 3])
def test_clients_spread_over_workers_give_the_same_bits(problem, workers):
    same(*run_both_ways(problem, workers, 2, 6))


def test_clients_spread_over_workers_diverge_in_the_same_round(problem):
    """All leave a trial together, and go on with the next."""
    one, other = run_both_ways(problem, 3, 50, 100, eta_l=[0.02] * 3 + [50.0] * 97)
    assert 3 <= one.diverged.min() and one.diverged.max() < 99
    same(one, other)


def test_trials_are_independent_of_their_number_and_of_one_another(problem):
    many, few = run(problem, trials=5), run(problem, trials=2)
    np.testing.assert_array_equal(many.x[:2], few.x)
    assert len({row.tobytes() for row in many.final}) == 5


def test_two_algorithms_share_their_noise(problem):
    """With the same draws, FedAvg is FSL's first half: gamma = 0 takes the server's part away."""
    one = run(problem, gamma=0.0)
    two = ft.run(
        problem,
        "fedavg",
        rounds=12,
        trials=5,
        seed=9,
        keep="x",
        S=3,
        K=3,
        eta_l=0.05,
        weighting="plain",
    )
    np.testing.assert_array_equal(one.x, two.x)


def test_a_shorter_run_is_resumed_bit_for_bit(problem):
    same(run(problem), run(problem, resume=run(problem, rounds=5)))
    with pytest.raises(InvalidInput, match="same seed"):
        run(problem, resume=run(problem, rounds=5, seed=8))
    with pytest.raises(InvalidInput, match="same hyper-parameters"):
        run(problem, resume=run(problem, rounds=5, gamma=0.6))


def test_metrics_are_what_their_definitions_say(problem):
    r = run(problem, gamma=0.7)
    for x, row in ((r.x[t, n], (t, n)) for t, n in ((0, 0), (1, 4), (4, 12))):
        F, g = problem.loss(x), problem.grad(x)
        f_0, g_0 = problem.client_loss(0, x), problem.client_grad(0, x)
        clients = [problem.client_grad(i, x) for i in range(1, problem.N + 1)]
        tilde = (g + 0.7 * g_0) / 1.7
        expected = dict(
            loss=F,
            server_loss=f_0,
            sq_grad_norm=g @ g,
            sq_server_grad_norm=g_0 @ g_0,
            grad_inner=g @ g_0,
            sq_xi=(g - g_0) @ (g - g_0),
            tilde_loss=(F + 0.7 * f_0) / 1.7,
            sq_distance=np.sum((x - problem.minimizer()) ** 2),
            sq_tilde_grad_norm=tilde @ tilde,
            sq_dissimilarity=np.mean([(c - g) @ (c - g) for c in clients]),
            mixed_loss=F + f_0,
            sq_mixed_grad_norm=(g + g_0) @ (g + g_0),
        )
        for name, value in expected.items():
            assert r.metrics[name][row] == pytest.approx(value, rel=1e-12, abs=1e-13), name
    assert (r.metrics["client_drift"][:, 0] == 0).all() and (
        r.metrics["client_drift"][:, 1:] > 0
    ).all()


def test_drift_by_hand():
    """One client, f = x^2 / 2, x = 1, K = 2, eta = 1/2: points 1, 1/2, so the drift is (0 + 1/4) /
    2. Then x = 1/4; the server, f_0 = (x - 1)^2 / 2, with gamma eta_0 = 1/2: points 1/4, 5/8, drift
    from 1."""
    p = ft.problems.quadratic_from_arrays([1.0], [[1.0], [0.0]])
    r = ft.run(
        p,
        "fsl",
        rounds=1,
        x_0=[1.0],
        K=2,
        K_0=2,
        eta_l=0.5,
        eta_0=0.25,
        gamma=2.0,
        metrics=("client_drift", "server_drift"),
    )
    assert r.metrics["client_drift"][0, 1] == 0.125
    assert r.metrics["server_drift"][0, 1] == ((3 / 4) ** 2 + (3 / 8) ** 2) / 2
    assert r.final[0, 0] == 13 / 16


def test_pretraining_is_sgd_on_the_server(problem):
    exact = replace(problem, sigma=np.zeros(problem.N + 1))
    A, b = exact.data.A[0], exact.data.b[0]
    x = np.zeros(5)
    for _ in range(4):
        x = x - 0.1 * A * (x - b)
    np.testing.assert_allclose(ft.pretrain(exact, steps=4, eta=0.1, trials=2), [x, x], rtol=1e-14)
    r = run(exact, pretrained=dict(steps=4, eta=0.1))
    np.testing.assert_allclose(r.x[:, 0], np.tile(x, (5, 1)), rtol=1e-14)


def test_a_run_tells_whether_it_stayed_in_the_ball():
    own = ft.problems.quadratic(3, 4, L=1.0, mu=0.2, G=1.0, hessian="own", radius=2.0)
    assert own.constants["G"].scope == "ball"
    inside = own.minimizer() + 0.1
    near = ft.run(own, "fedavg", rounds=3, x_0=inside, eta_l=0.01, metrics=())
    far = ft.run(own, "fedavg", rounds=3, x_0=inside + 5, eta_l=0.01, metrics=())
    assert near.inside["G"].all() and not far.inside["G"].any()


def test_divergence_is_said_and_never_a_number(problem):
    with pytest.warns(
        Diverged, match=r"fsl diverged in 2 of 2 trials, first in round \d+; their metrics are NaN"
    ):
        r = run(problem, eta_l=50.0, rounds=400, trials=2)
    t = r.diverged[0]
    assert (
        0 < t < 400
        and np.isnan(r.metrics["loss"][0, t + 1 :]).all()
        and np.isfinite(r.metrics["loss"][0, :t]).all()
    )
    assert r.metrics["loss"].shape == (2, 401)


def test_a_gradient_that_returns_nan_is_divergence(problem):
    def nan_grad(data, i, x, out):
        out[:] = np.nan

    broken = replace(problem, kernels=problem.kernels._replace(grad=nan_grad))
    with pytest.warns(Diverged, match="first in round 0"):
        run(broken, rounds=2)


def test_an_interpreted_gradient_may_raise(problem):
    def grad(data, i, x, out):
        raise ValueError("the sensor is off")

    with pytest.raises(ValueError, match="the sensor is off"):
        run(replace(problem, kernels=problem.kernels._replace(grad=grad)), rounds=2)


REFUSED = [
    (dict(S=7), "S must be an integer 1..6, the number of clients; got 7"),
    (dict(S=0), "S must be an integer 1..6"),
    (dict(S=2.5), "S must be an integer"),
    (
        dict(eta=0.1),
        "fsl (FSL, algorithm 1) has no hyper-parameter eta; it has eta_l, eta_g, eta_0, gamma, K, K_0",
    ),
    (dict(eta_l=-1.0), "eta_l must be a finite number >= 0; got -1.0"),
    (dict(eta_l=float("nan")), "eta_l must be a finite number >= 0; got nan"),
    (dict(eta_l="0.1; import os"), "eta_l must be a finite number"),
    (dict(K=0), "K must be an integer >= 1; got 0"),
    (dict(K=1.5), "K must be an integer >= 1; got 1.5"),
    (dict(eta_l=[0.1, 0.1]), "eta_l as a schedule must have a value for each of 12 rounds"),
    (dict(rounds=-1), "rounds must be an integer >= 0; got -1"),
    (dict(trials=0), "trials must be an integer >= 1; got 0"),
    (dict(trials=True), "trials must be an integer"),
    (dict(seed=-1), "seed must be an integer >= 0; got -1"),
    (dict(seed=2**64), "seed must be below 2**64"),
    (dict(x_0=np.zeros(4)), "x_0 must be finite of shape (5,) or (5, 5); got (4,)"),
    (dict(x_0=np.full(5, np.inf)), "x_0 must be finite"),
    (dict(metrics=("lose",)), "metrics must be among loss, "),
    (dict(keep="all"), "keep must be 'metrics' or 'x'; got 'all'"),
    (dict(workers=0), "workers must be an integer >= 1; got 0"),
    (dict(chunk=0), "chunk must be an integer >= 1; got 0"),
    (dict(pretrained=3), "pretrained must be dict(steps=, eta=); got 3"),
    (dict(resume=3), "resume must be an earlier run; got 3"),
    (
        dict(participation=Participation("most")),
        "cohort must be one of full, without, with; got 'most'",
    ),
    (dict(participation=Participation("full")), "S must be 6 in a full cohort; got 3"),
    (
        dict(participation=Participation(arrivals=(Arrival(9, 2),))),
        "Arrival needs a client 1..6; got 9",
    ),
    (
        dict(participation=Participation(arrivals=(Arrival(1, 5),), departures=(Departure(1, 3),))),
        "Departure of client 1 must come after its arrival at 5; got 3",
    ),
]


@pytest.mark.parametrize("changes, sentence", REFUSED, ids=[str(c)[:40] for c, _ in REFUSED])
def test_bad_input_gets_one_clear_sentence(problem, changes, sentence):
    with pytest.raises(InvalidInput) as caught:
        run(problem, **changes)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_unknown_and_missing_names_are_refused(problem):
    with pytest.raises(InvalidInput, match="algorithm must be one of .*fedavg.*; got 'fedavgg'"):
        ft.run(problem, "fedavgg", rounds=1)
    with pytest.raises(
        InvalidInput, match=re.escape("needs eta_l, step size of a client; none was given")
    ):
        ft.run(problem, "fedavg", rounds=1)
    alone = replace(problem, has_server=False)
    with pytest.raises(
        InvalidInput, match="needs a problem with a server loss; quadratic has none"
    ):
        run(alone)


def test_nothing_is_computed_before_a_refusal(problem, monkeypatch):
    monkeypatch.setattr(machine.Machine, "__init__", lambda *a, **k: pytest.fail("work began"))
    for changes, _ in REFUSED:
        if "x_0" not in changes:
            with pytest.raises(InvalidInput):
                run(problem, **changes)


def test_progress_counts_rounds(problem):
    seen = []
    run(
        problem,
        chunk=5,
        progress=lambda done, total, seconds: seen.append((done, total, seconds >= 0)),
    )
    assert seen == [(5, 12, True), (10, 12, True), (12, 12, True)]


@pytest.fixture
def interrupt_after():
    """Ctrl-C after some seconds. A job in the background starts with SIGINT ignored: it must not be
    here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda seconds: threading.Timer(
        seconds, lambda: os.kill(os.getpid(), signal.SIGINT)
    ).start()
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_within_a_second_and_loses_no_finished_round(problem, interrupt_after):
    run(problem, rounds=2)  # compiled before the clock runs
    interrupt_after(0.5)
    begun = time.process_time()  # which a busy machine does not lengthen
    with pytest.raises(
        Interrupted, match=r"interrupted after \d+ of 10000000 rounds of fsl"
    ) as caught:
        run(problem, rounds=10**7, keep="metrics", metrics=())
    assert time.process_time() - begun < 3  # half a second on each core, and a chunk; not hours
    partial = caught.value.partial
    assert 0 < partial.rounds < 10**7
    more = run(problem, rounds=partial.rounds + 3, keep="metrics", metrics=(), resume=partial)
    whole = run(problem, rounds=partial.rounds + 3, keep="metrics", metrics=())
    np.testing.assert_array_equal(more.final, whole.final)


@pytest.mark.skipif(jit.DISABLED, reason="interpreted rounds of this size take minutes")
def test_ctrl_c_drops_a_round_that_takes_too_long(problem, interrupt_after):
    interrupt_after(0.5)
    with pytest.raises(Interrupted, match="interrupted after 0 of 1 rounds") as caught:
        run(problem, rounds=1, K=10**9)
    np.testing.assert_array_equal(caught.value.partial.final, np.zeros((5, 5)))


def test_memory_grows_with_what_is_kept(problem):
    r = run(problem, keep="metrics", metrics=("loss",))
    assert r.x is None and r._record.shape == (5, 13, 1)


def test_a_kernel_tuple_is_typed_once(problem):
    assert isinstance(problem.kernels, Kernels) and problem.kernels.compiled is not jit.DISABLED


# ---------------------------------------------------------------- pace


def test_clients_share_workers_where_rounds_are_long_and_as_long_as_it_is_faster():
    pace = execution.Pace()
    assert not pace.together(10**6)
    pace.record_time(5.0, False)  # the first chunk compiled its loops: it says nothing
    assert not pace.together(10**6)
    pace.record_time(0.15, False)
    assert pace.together(100) and not pace.together(1)  # one round is not worth it
    pace.record_time(9.0, True)
    assert pace.together(100) and pace.together(
        1
    )  # its loops are there now: all rounds are worth it
    pace.record_time(0.1, True)
    assert pace.together(100) and pace.together(1)
    pace = execution.Pace()
    for seconds, together in ((5.0, False), (0.5, False), (9.0, True), (0.7, True)):
        pace.record_time(seconds, together)
    assert not pace.together(100)  # it was slower
    pace.record_time(0.8, False)
    assert pace.together(100)  # and is not any more
    pace.record_time(0.3, True)
    assert pace.together(100)
    pace.record_time(2.4, True)  # a stranger came to one of the cores
    assert not pace.together(100)


def test_short_rounds_never_share_workers_however_long_the_first_took():
    pace = execution.Pace()
    for seconds in (5.0, 1e-5, 2e-2, 1e-5):  # the machine was busy for a moment
        pace.record_time(seconds, False)
        assert not pace.together(10**9)

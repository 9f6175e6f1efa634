"""Runs of FSL with many clients and steps: at small sizes those of the setting that looks at every
cohort, at large ones a loop."""

from fractions import Fraction as Q
from random import Random

import pytest

from fedtheory.arithmetic.operations import ends_of
from fedtheory.models import losses
from fedtheory.models.families import two_point
from fedtheory.models.fsl import large_run
from fedtheory.models.fsl import run as fsl_run
from tests.models.agree import exact_is_batch, fits, refuses

WANTED = list(fsl_run.MEASURED)
STEPS = dict(eta_l=Q(1, 8), eta_g=Q(3, 2), eta_0=Q(1, 4), gamma=Q(1, 2))


def plain(value):
    return value if isinstance(value, float) else ends_of(value)


@pytest.mark.parametrize("seed", range(10))
def test_small_runs_are_those_of_every_cohort(seed):
    random = Random(seed)
    number = lambda low: Q(random.randint(4 * low, 16), 4)
    members = random.choice([[1], [2], [1, 1], [2, 1], [1, 1, 1]])
    slopes = [number(0) + Q(1, 4)] * 3 if random.random() < 0.5 else [number(0) for _ in range(3)]
    instance = dict(
        S=random.randint(1, sum(members)),
        K=random.choice([1, 2, 3]),
        K_0=random.choice([1, 2, 3]),
        T=random.choice([1, 2, 4]),
        members=members,
        slopes=slopes[: len(members)],
        tilts=[number(-4) for _ in members],
        x=number(-4),
        sigma=number(0),
        sigma_0=number(0),
    )
    if random.random() < 0.7:
        instance["server"] = [number(0) + Q(1, 8), number(-4)]
    clients = [
        [losses.make_curve(a, t)]
        for a, t, n in zip(instance["slopes"], instance["tilts"], members)
        for _ in range(n)
    ]
    server = [losses.make_curve(*instance["server"])] if "server" in instance else "mean"
    noise = lambda size, kind: two_point(size, kind if size else "none", 1)
    told = dict(
        {name: instance[name] for name in ("S", "K", "K_0", "T")},
        N=len(clients),
        losses=[server, *clients],
        x=[instance["x"]],
        noise=noise(instance["sigma"], "even"),
        noise_0=noise(instance["sigma_0"], "skewed"),
    )
    known, theirs = large_run.derive_constants(instance), fsl_run.derive_constants(told)
    assert {n: plain(v) for n, v in known.items()} == {n: plain(v) for n, v in theirs.items()}
    # where f_0 is the mean of unlike curvatures, the other setting does not see that xi_bar is 0
    unseen = set() if "server" in instance else {"server_dissimilar"}
    assert large_run.conditions_held(instance) - unseen == fsl_run.conditions_held(told) - unseen
    bounded = "bounded_below" in large_run.conditions_held(instance)
    wanted = WANTED if bounded else [name for name in WANTED if name != "tilde_D_0"]
    found = large_run.measure_symbols(instance, {**known, **STEPS}, wanted)
    assert found == fsl_run.measure_symbols(told, {**theirs, **STEPS}, wanted)


def test_many_clients_are_a_slow_loop():
    """Without noise and cohorts: 900 clients of two kinds, 200 steps, 50 rounds, in floats."""
    instance = dict(
        S=900,
        K=200,
        K_0=30,
        T=50,
        members=[300, 600],
        slopes=[Q(1), Q(1, 10)],
        tilts=[Q(2), Q(-1)],
        server=[Q(1, 2), Q(1, 3)],
        x=Q(3),
        sigma=Q(0),
        sigma_0=Q(0),
    )
    steps = dict(eta_l=Q(1, 1000), eta_g=Q(1), eta_0=Q(1, 150), gamma=Q(1, 4))
    x, seen = 3.0, []
    for _ in range(50):
        seen.append((0.4 * x) ** 2)
        ends = [x, x]
        for k, (a, t) in enumerate(((1.0, 2.0), (0.1, -1.0))):
            for _ in range(200):
                ends[k] -= 0.001 * (a * ends[k] + t)
        x = ends[0] / 3 + 2 * ends[1] / 3
        for _ in range(30):
            x -= 0.25 / 150 * (0.5 * x + 1 / 3)
    found = large_run.measure_symbols(instance, steps, ["best_sq_grad"])
    assert float(found["best_sq_grad"]) == pytest.approx(min(seen), rel=1e-9)


def test_batches_are_exact_numbers():
    takes = large_run.MODEL.takes
    assert exact_is_batch(large_run.MODEL, ["tilde_F_T", "sq_grad"], takes, count=6, seed=1) > 30
    assert fits("fsl.theorem2", large_run.MODEL)


@pytest.mark.parametrize(
    "broken", [dict(S=9), dict(T=101), dict(tilts=[Q(1)]), dict(members=[2, 0])]
)
def test_what_does_not_fit_together_is_no_instance(broken):
    instance = dict(S=1, K=1, K_0=1, T=1, members=[1, 1], slopes=[Q(1), Q(1)], tilts=[Q(0), Q(1)])
    instance.update(x=Q(1), sigma=Q(0), sigma_0=Q(0))
    assert large_run.conditions_held(instance)
    assert refuses(large_run.MODEL, {**instance, **broken})

"""Runs of thousands of clients in closed form: at small sizes what the kernels do in all their ways,
at large ones a loop that is slow and obvious."""

from fractions import Fraction as F
from random import Random

import pytest

from fedtheory.arithmetic.operations import ends_of
from fedtheory.exact import recursions
from fedtheory.models import by_name, losses
from fedtheory.models.families import two_point
from fedtheory.models.general import run_cohort, run_large
from tests.models.agree import exact_is_batch, refuses

SIMPLE = [name for name in run_large.MEASURED if name != "best_sq_grad"]


def number(random, low=-4, high=4):
    return F(random.randint(4 * low, 4 * high), 4)


def told(instance):
    """The same as the setting that enumerates tells it: each client by itself."""
    clients = run_large.Clients(instance)
    each = [k for k, n in enumerate(instance["members"]) for _ in range(n)]
    plain = lambda k: dict(curves=[losses.make_curve(a) for a in instance["slopes"][k]])
    return dict(
        {name: instance[name] for name in ("S", "K", "T", "x_0", "lipschitz")},
        N=clients.N,
        convex=1,
        losses=[plain(0)] if clients.shared else [plain(k) for k in each],
        at_star=[clients.at_star[k] for k in each[:-1]],
        noise=two_point(instance["sigma"], "skewed" if instance["sigma"] else "none", clients.d),
    )


def small(seed):
    random = Random(seed)
    members = random.choice([[1], [2], [1, 1], [2, 1], [1, 2], [1, 1, 1]])
    d, noisy = random.choice([1, 2]), random.random() < 0.5
    sizes = dict(S=random.randint(1, sum(members)), K=random.choice([1, 2]), T=2 if noisy else 3)
    if noisy:
        sizes.update(S=min(2, sizes["S"]))
    row = lambda low: [number(random, low) for _ in range(d)]
    return dict(
        sizes,
        lipschitz=1,
        members=members,
        slopes=[[a + F(1, 8) for a in row(0)] for _ in members],
        at_star=[row(-4) for _ in members[1:]],
        x_0=row(-4),
        sigma=F(random.randint(1, 8), 4) if noisy else F(0),
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("method", ["fedsgd", "fedavg"])
def test_small_runs_are_the_kernels(method, seed):
    instance = small(seed)
    if method == "fedsgd":
        instance["K"] = 1
    large, enumerated = by_name(f"run_large_{method}"), by_name(f"run_{method}")
    values = {name: F(n, 8) for name, n in zip(large.takes, (1, 9))}
    same = told(instance)
    known, theirs = large.constants(instance), enumerated.constants(same)
    plain = lambda value: value if isinstance(value, float) else ends_of(value)
    assert all(plain(value) == plain(theirs[name]) for name, value in known.items())
    assert large.holds(instance) == enumerated.holds(same)
    found = large.measure(instance, values, run_large.MEASURED)
    assert found == enumerated.measure(same, values, run_large.MEASURED)


@pytest.mark.parametrize("seed", range(8))
def test_small_cohorts_are_enumerated(seed):
    random = Random(seed)
    kinds = random.choice([[1], [2], [1, 1], [2, 1], [1, 1, 1], [2, 1, 1]])
    grads, sigma = [number(random) for _ in kinds], F(random.randint(0, 8), 4)
    instance = dict(S=random.randint(1, sum(kinds)), members=kinds, grads=grads, sigma=sigma)
    same = dict(
        S=instance["S"],
        grads=[[g] for g, n in zip(grads, kinds) for _ in range(n)],
        noise=two_point(sigma, "skewed" if sigma else "none", 1),
    )
    large, enumerated = by_name("run_large_cohort"), by_name("run_cohort")
    known, theirs = large.constants(instance), enumerated.constants(same)
    assert {name: ends_of(v) for name, v in known.items()} == {
        n: ends_of(v) for n, v in theirs.items()
    }
    wanted = list(run_cohort.MEASURED)
    assert large.measure(instance, {}, wanted) == enumerated.measure(same, {}, wanted)
    assert large.holds(instance) == enumerated.holds(same)


def looped(instance, eta_l, eta_g, T):
    """E F and E F of the mean point after T rounds without noise, all clients taking part: in
    floats, client by client."""
    clients = run_large.Clients(instance)
    x, seen = float(instance["x_0"][0]), []
    for _ in range(T):
        seen.append(x)
        moved = 0.0
        for n, (a,), (g,) in zip(clients.members, clients.slopes, clients.at_star):
            y = x
            for _ in range(instance["K"]):
                y -= eta_l * (float(a) * y + float(g))
            moved += n * (y - x) / clients.N
        x += eta_g * moved
    mean, slope = sum(seen) / T, float(clients.mean_slope(0))
    return slope * x * x / 2, slope * mean * mean / 2, slope * sum(y * y for y in seen) / T / 2


# Khaled, Mishchenko and Richtarik 2020, theorem 4, without the drift of their bound: 4 R^2 / (eta K
# T) + 20 eta zeta^2 / N is 1/2000 here.
TWO_KINDS = dict(
    S=100,
    K=51,
    T=60,
    lipschitz=1,
    members=[50, 50],
    slopes=[[F(1)], [F(1, 1000)]],
    at_star=[[F(-1)]],
    x_0=[F(0)],
    sigma=F(0),
)


def test_hundreds_of_steps_are_a_slow_loop():
    wanted = ["gap_T", "gap_of_mean", "gap_mean"]
    values = dict(eta_l=F(1, 400), eta_g=F(1))
    found = run_large.measure_symbols(TWO_KINDS, values, wanted, "fedavg")
    for name, value in zip(wanted, looped(TWO_KINDS, 1 / 400, 1.0, 60)):
        assert float(found[name]) == pytest.approx(value, rel=1e-9)
    assert ends_of(found["gap_of_mean"])[0] > F("0.000539934") > F(1, 2000)


def test_the_noise_of_many_steps_is_its_closed_form():
    """x_T of T steps on x^2 / 2 with S of variance sigma^2 each: an AR(1) series."""
    instance = dict(
        TWO_KINDS, members=[1000], slopes=[[F(1)]], at_star=[], S=1000, sigma=F(2), T=10
    )
    found = run_large.measure_symbols(
        dict(instance, K=1), dict(eta=F(1, 2)), ["sq_distance_T"], "fedsgd"
    )
    assert found["sq_distance_T"] == F(1, 4) * 4 / 1000 * (1 - F(1, 4) ** 10) / (1 - F(1, 4))


@pytest.mark.parametrize("setting", run_large.MODELS, ids=lambda setting: setting.name)
def test_batches_are_exact_numbers(setting):
    assert exact_is_batch(setting, SIMPLE, setting.takes, count=10, seed=3) > 100


def test_sums_over_rounds_are_those_of_a_walk():
    """Sums by doubling against the moments of each round, one after the other."""
    step = recursions.Step(F(1, 2), F(3), recursions.Spread(F(1, 3), F(1, 5), F(1, 7), F(2)))
    sums = recursions.sum_rounds(step, 7)
    walk = list(recursions.follow_points(step, F(5), F(1), 7))
    assert recursions.repeat_step(step, 7).of(F(5), F(1)) == walk[7]
    assert sums.keep * 5 + sums.shift == sum(m for m, _ in walk[:7])
    assert sums.squares.at(F(5), F(1)) == sum(m * m + v for m, v in walk[:7])
    # Cov(x_s, x_t) = keep^(t - s) Var x_s
    covariance = lambda s, t: step.keep ** abs(t - s) * walk[min(s, t)][1]
    assert sums.spread.at(F(5), F(1)) == sum(covariance(s, t) for s in range(7) for t in range(7))
    assert sums.along.at(F(5), F(1)) == sum(covariance(s, 7) for s in range(7))


@pytest.mark.parametrize(
    "broken",
    [
        dict(members=[50]),
        dict(members=[100, 0]),
        dict(S=101),
        dict(T=0),
        dict(sigma=F(-1)),
        dict(slopes=[[F(1)], []]),
    ],
)
def test_what_does_not_fit_together_is_no_instance(broken):
    model, bad = by_name("run_large_fedavg"), dict(TWO_KINDS, **broken)
    assert model.holds(TWO_KINDS) and refuses(model, bad)

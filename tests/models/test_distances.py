"""Distances to sets of minimisers, against a grid, by hand, and in batches."""

from fractions import Fraction as F
from random import Random

import numpy as np
import pytest
from sympy import Eq, Rational

import fedtheory as ft
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import BOUNDED_BELOW, CONVEX, EXACT_GRADIENTS, LIPSCHITZ
from fedtheory.models import by_name, distances, losses, minima
from fedtheory.models.general.clients import Clients
from fedtheory.symbols.run import TABLE, N, gap_0, mu_PL, sq_distance_0
from tests.models.agree import exact_is_batch

TENTH = F(1, 10)


def drawn(random):
    """A curve with knots and minima on a grid of tenths, often flat or with two lowest valleys."""
    slopes = [F(random.choice([-1, 0, 0, 1])) for _ in range(random.choice([2, 3, 4]))]
    slopes[0], slopes[-1] = (F(random.choice([0, 1])) for _ in range(2))
    at = sorted(random.sample([F(n, 5) for n in range(-10, 11)], len(slopes) - 1))
    return losses.curve_from_pieces(slopes, at, F(random.choice([0, 0, random.randint(-3, 3)]), 5))


def test_the_set_of_minimisers_is_that_of_a_grid():
    random, seen = Random(0), set()
    grid = [F(n, 10) for n in range(-400, 401)]
    for _ in range(150):
        curves = [drawn(random) for _ in range(random.choice([1, 1, 2]))]
        weights = [F(1, len(curves))] * len(curves)
        infimum, place = minima.least_of(curves, weights)
        if isinstance(infimum, float) or (10 * place).denominator > 1:
            continue
        height = lambda y: sum(w * losses.loss_value([f], [y]) for f, w in zip(curves, weights))
        lowest = [y for y in grid if height(y) == infimum]
        for x in (F(-4), F(-7, 10), F(0), F(3, 10), F(4)):
            found = distances.from_least([[f] for f in curves], weights, [x])
            assert found == min((x - y) ** 2 for y in lowest), (curves, x)
            if all(losses.convexity_of([f]) >= 0 for f in curves) and 0 in lowest:
                assert found == distances.beyond_straight(curves, x) ** 2
        seen.add("one" if len(lowest) == 1 else "many")
    assert seen == {"one", "many"}


def one(curve, x_0, convex=1, **more):
    return dict(
        dict(N=1, S=1, T=1, K=1, convex=convex, lipschitz=1, losses=[dict(curves=[curve])]),
        **dict(at_star=[], x_0=[F(x_0)], noise=[], **more),
    )


def test_one_sided_parabola_by_hand():
    """max(x, 0)^2/2 is least at every x <= 0: -3 is a minimiser, 2 lies 2 from the nearest one."""
    setting = by_name("run_fedsgd")
    flat = losses.curve_from_pieces([F(0), F(1)], [F(0)])
    for x_0, distance in ((-3, 0), (2, 4)):
        known = setting.constants(one(flat, x_0))
        assert known["sq_distance_0"] == distance and known["R"] ** 2 == distance
    moved = setting.measure(one(flat, 2), dict(eta=F(1, 2)), ["sq_distance_T"])
    assert moved["sq_distance_T"] == 1


def test_of_two_valleys_that_are_as_deep_the_nearer_one_counts():
    """Slopes 1, -1, 1 between knots -1 and 1: f' = 2 + x, -x, x - 2, f is least at -2 and 2."""
    valleys = losses.curve_from_pieces([F(1), F(-1), F(1)], [F(-1), F(1)], F(2))
    found = [distances.from_least([[valleys]], [F(1)], [F(x)]) for x in (-3, -1, 1, 5)]
    assert found == [1, 1, 1, 9]


def test_where_no_minimum_is_there_is_no_distance():
    setting = by_name("run_fedsgd")
    falling = one(losses.curve_from_pieces([F(0), F(-1)], [F(0)]), 1, convex=0)
    assert setting.constants(falling)["sq_distance_0"] == float("inf")
    with pytest.raises(Undefined, match="not there"):
        setting.measure(falling, dict(eta=F(1)), ["sq_distance_T"])


def test_turned_losses_have_a_distance_where_their_minimiser_is_surely_alone():
    straight = lambda *slopes: [dict(slope=F(a), tilt=F(0), bends=[], soft=[]) for a in slopes]
    lone = dict(
        dict(N=2, S=2, T=1, K=1, convex=1, lipschitz=1, at_star=[[F(0), F(0)]], noise=[]),
        losses=[dict(turn=t, curves=straight(1, 0)) for t in (F(0), F(1, 2))],
        x_0=[F(3), F(4)],
    )
    assert Clients(lone).sq_distance(np.array([F(3), F(4)])) == 25
    valley = dict(lone, losses=[dict(turn=F(1, 2), curves=straight(1, 0))] * 2)
    assert Clients(valley).sq_distance(np.array([F(3), F(4)])) == float("inf")


def test_coordinates_on_which_F_does_not_depend_add_nothing():
    setting = by_name("run_large_fedsgd")
    instance = dict(
        dict(S=2, K=1, T=1, lipschitz=1, members=[2], at_star=[], sigma=F(0)),
        slopes=[[F(1), F(0)]],
        x_0=[F(2), F(7)],
    )
    assert setting.constants(instance)["sq_distance_0"] == 4
    assert setting.measure(instance, dict(eta=F(1, 2)), ["sq_distance_T"])["sq_distance_T"] == 1


@pytest.mark.parametrize("relaxed", [set(), {"convex", "strongly_convex", "lipschitz"}])
def test_a_batch_agrees_with_fractions(relaxed):
    relaxed = frozenset({"quadratic", "same_curvature", *relaxed})
    wanted = ["loss_T"] if "convex" in relaxed else ["sq_distance_T", "sq_distance_0"]
    run = by_name("run_fedsgd")
    assert exact_is_batch(run, wanted, ["eta"], count=12, relaxed=relaxed) >= 80


def test_a_batch_sees_which_of_its_losses_are_flat():
    curve = lambda end: losses.curve_from_pieces(
        [end, Many(np.array([1.0, 1.0]))], [Many(np.zeros(2))]
    )
    mixed_up = curve(Many(np.array([0.0, 1.0])))
    found = distances.from_least([[mixed_up]], [F(1)], [Many(np.array([-3.0, -3.0]))])
    assert found.at.tolist() == [0.0, 9.0]


@pytest.mark.parametrize("shape", [CONVEX, BOUNDED_BELOW], ids=["convex", "any"])
def test_quadratic_growth_follows_from_the_inequality_of_polyak_and_lojasiewicz(shape):
    """Karimi, Nutini, Schmidt 2016, theorem 2: the distance is that to the set. With three fifths in
    place of a half x^2/2 breaks it."""
    claim = Claim(
        id="mine.growth",
        cites="Karimi et al. 2016",
        symbols=TABLE,
        algorithm="fedsgd",
        assumes=(LIPSCHITZ, shape, EXACT_GRADIENTS, Eq(N, 1), mu_PL > 0),
        measures=gap_0,
        relation=">=",
        bound=mu_PL * sq_distance_0 / 2,
    )
    for seed in range(2):
        assert ft.check(claim, budget=0.5, seed=seed).status == "holds"
    more = claim.replace("mine.more", bound=mu_PL * sq_distance_0 * Rational(3, 5))
    verdict = ft.check(more, budget=0.5)
    assert verdict.status == "violated" and ft.replay(verdict.certificate)["status"] == "violated"

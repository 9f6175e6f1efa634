"""A round of 1-way gradient transfer: against the engine's exact expectation and a round worked by
hand."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.models.families import two_point
from fedtheory.models.losses import curve_from_pieces, make_curve
from fedtheory.models.mixed import large
from fedtheory.models.mixed import round as mixed_round
from fedtheory.models.mixed.pair import PAIR, pair_constants
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.dropped_hypotheses import ViolationCounts
from fedtheory.verdicts.evidence import Search
from fedtheory.verdicts.model_search import search_model
from tests.models.agree import exact_is_batch, refuted, weakened

NAMES = list(mixed_round.ROUND)
CASE = dict(
    losses=[[make_curve(Q(1), Q(-1))], [make_curve(Q(1, 2), Q(1))]],
    x=[Q(2)],
    smooth="each",
    N=3,
    S=2,
    K=2,
    noise=two_point(Q(1), "even", 1),
    noise_c=two_point(Q(1, 2), "skewed", 1),
)
STEPS = dict(eta=Q(1, 8), eta_s=Q(3, 2))


def measured(case, names=NAMES):
    return mixed_round.measure_symbols(case, {**mixed_round.derive_constants(case), **STEPS}, names)


def test_the_round_is_the_engine_s():
    A, tilt = np.array([[0.5], [1.0], [1.0], [1.0]]), np.array([[1.0], [-1.0], [-1.0], [-1.0]])
    problem = ft.problems.quadratic_from_arrays(A, -tilt / A, sigma=1.0, sigma_0=0.5)
    found = ft.expected(
        problem, "one_way_gt", rounds=1, x_0=np.array([2.0]), S=2, K=2, eta=0.125, eta_s=1.5
    ).metrics
    told = measured(CASE)
    mixed = found["loss"] + found["server_loss"]
    assert mixed[1] - mixed[0] == pytest.approx(float(told["f_next"] - told["f_t"]), rel=1e-12)
    gradient = found["sq_grad_norm"] + 2 * found["grad_inner"] + found["sq_server_grad_norm"]
    assert gradient[0] == pytest.approx(float(told["sq_grad"]), rel=1e-12)


def test_a_step_by_hand():
    """f = 3 y^2/4 has its minimum at 0; from 2 one step of size 1/8 each, times 3/2: 2 - (3/16) 3,
    without noise."""
    told = measured(dict(CASE, K=1, noise=[], noise_c=[]))
    end = 2 - Q(9, 16)
    assert told["sq_dist_next"] == end**2 and told["gap"] == 3 and told["sq_grad"] == 9
    assert (
        told["f_next"] == Q(3, 4) * end**2 and told["drift"] == 0 and told["ends"] == Q(3, 8) ** 2
    )
    # A central gradient with variance 1/4 joins: (3/16)^2 / 4 more
    assert measured(dict(CASE, K=1, noise=[]))["sq_dist_next"] == end**2 + Q(9, 1024)
    # and two clients' mean noise, of variance 1/2
    assert measured(dict(CASE, K=1))["sq_dist_next"] == end**2 + Q(9, 1024) + Q(9, 512)


def test_one_draw_for_all_steps_by_hand():
    """From 2 with f' = 3 y/2, two steps of 1/8 at two clients, of f_f' = y - 1 beside g_c = 2 there:
    y_1 = 2 - (3 + n)/8, y_2 = y_1 - (y_1 + 1 + n)/8; the point moves by 3/2 of what they do."""
    case = dict(CASE, noise_c=[], breaks="independent_noise")
    after = []
    for n in (1, -1):
        y = 2 - Q(3 + n) / 8
        after.append(2 + Q(3, 2) * (y - (y + 1 + n) / 8 - 2))
    told = measured(case)
    assert told["sq_dist_next"] == sum(x * x for x in after) / 2
    assert told["drift"] == sum(Q(3 + n, 8) ** 2 for n in (1, -1)) / 4
    assert told["sq_dist_next"] > measured(dict(case, breaks="uniform_cohort"))["sq_dist_next"]
    assert "independent_noise" not in mixed_round.conditions_held(case)
    alone = dict(case, S=1, K=1)  # one draw is one draw
    assert "independent_noise" in mixed_round.conditions_held(alone)
    assert measured(alone) == measured({**alone, "breaks": "uniform_cohort"})


def test_a_cohort_that_is_always_the_same_makes_no_difference_where_clients_are_alike():
    case = dict(CASE, breaks="uniform_cohort")
    assert measured(case) == measured(CASE)
    assert "uniform_cohort" not in mixed_round.conditions_held(case)
    assert "uniform_cohort" in mixed_round.conditions_held(dict(case, N=2))


@pytest.mark.parametrize("setting", [mixed_round.MODEL, large.MODEL], ids=lambda s: s.name)
def test_independent_noise_is_needed_where_it_is_averaged(setting):
    """D.9 divides sigma^2 by S."""
    claim = ft.claim("mixed.lemmaD9").without("independent_noise")
    broken = dict.fromkeys(claim.dropped, 0)
    found = search_model(Case.of(claim, 0.3), setting, ViolationCounts(broken, {}))
    verdict = conclude(claim.id, found)
    assert verdict.status == "violated" and verdict.tightness > 1.01
    assert verdict.certificate["instance"]["breaks"] == "independent_noise"
    assert ft.replay(verdict.certificate)["status"] == "violated"


def test_who_works_does_not_matter_where_clients_are_alike():
    claim = ft.claim("mixed.lemmaD9").without("uniform_cohort")
    broken = dict.fromkeys(claim.dropped, 0)
    found = search_model(Case.of(claim, 0.3), mixed_round.MODEL, ViolationCounts(broken, {}))
    assert isinstance(found, Search) and min(broken.values()) > 0


def test_beta_covers_the_sum_where_that_is_asked():
    case = dict(CASE, losses=[[make_curve(Q(1))], [curve_from_pieces([Q(-1), Q(2)], [Q(0)])]])
    assert pair_constants(dict(case, smooth="each")) == dict(beta=2, mu=0, beta_sum=3)
    assert pair_constants(dict(case, smooth="sum")) == dict(beta=3, mu=0, beta_sum=3)
    assert "smooth_sum" in mixed_round.conditions_held(dict(case, smooth="sum"))
    assert not {"smooth_sum", "convex"} & mixed_round.conditions_held(dict(case, smooth="each"))
    assert "convex" in mixed_round.conditions_held(CASE)
    assert mixed_round.conditions_held(dict(CASE, S=4)) == frozenset()
    assert (
        mixed_round.conditions_held(dict(CASE, noise=[[Q(1, 2), [Q(1)]], [Q(1, 2), [Q(0)]]]))
        == frozenset()
    )  # biased
    assert "bounded_below" not in mixed_round.conditions_held(
        dict(CASE, losses=[[make_curve(Q(0), Q(1))], [make_curve(Q(0))]])
    )


def test_opposed_tilts_make_the_start_stationary():
    shape = dict(
        d=1,
        pieces=2,
        convex=True,
        soft=0,
        alike=0,
        own="slopes",
        smooth="each",
        tilts="opposed",
        start="still",
    )
    point = {
        "scale": Q(2),
        "slope_0_0": Q(1, 2),
        "slope_0_1": Q(1),
        "knot_0": Q(-1),
        "tilt_0_0": Q(5),
        **{f"own_{i}_0_{k}": Q(1, 2 + i + k) for i in range(2) for k in range(2)},
    }
    told = measured({**CASE, **PAIR.build(shape, point)})
    assert told["sq_grad"] == told["gap"] == told["sq_dist"] == 0 < told["sq_grad_f"]


def test_a_batch_has_the_exact_numbers():
    assert (
        exact_is_batch(mixed_round.MODEL, NAMES, ["eta", "eta_s"], count=8, relaxed={"smooth_sum"})
        > 200
    )


@pytest.mark.parametrize(
    "name", ["lemmaD9", "lemmaD10", "lemmaD11", "lemmaD12", "lemmaD13", "stepB2_convex"]
)
def test_false_variants_are_refuted(name):
    refuted(weakened(f"mixed.{name}"))


def test_the_step_that_halves_the_central_variance_is_refuted():
    """4 K^2 eta^2 E||grad f_f + g_c||^2 has 4 before sigma_c^2 where the right side has 2: twice
    it, with sigma = 0."""
    verdict = refuted(ft.claim("mixed.stepD11_separate").replace(name="a.step"))
    assert verdict.tightness == pytest.approx(2)


def test_first_line_of_D12_needs_a_smooth_sum():
    """f_f = f_c = y^2/2, beta = 1, from 1 with two steps of 1: 1 - 2, then -1 - 1 + ... = f grows
    past the bound."""
    first = ft.claim("mixed.stepD12_smooth")
    assert ft.check(first, budget=0.3).status == "holds"
    refuted(first.without("smooth_sum"))

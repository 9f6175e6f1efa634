"""Runs of mixed FL's methods: by hand, against the engine's exact expectation, and moments against
enumeration."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.models.families import two_point
from fedtheory.models.losses import curve_from_pieces, make_curve
from fedtheory.models.mixed import moments
from fedtheory.models.mixed import run as mixed_run
from fedtheory.verdicts.pipeline import as_meant
from tests.models.agree import exact_is_batch, middle, refuted, weakened

METHODS = {setting.algorithms[0]: setting for setting in mixed_run.MODELS}
STEPS = dict(eta=Q(1, 16), eta_s=Q(3, 2), eta_c=Q(1, 8), eta_m=Q(5, 4))
CASE = dict(
    losses=[[make_curve(Q(1), Q(-1))], [make_curve(Q(1, 2), Q(2))]],
    x=[Q(3)],
    smooth="each",
    N=2,
    S=2,
    K=2,
    T=3,
    noise=two_point(Q(1), "even", 1),
    noise_c=two_point(Q(1, 2), "skewed", 1),
)
WANTED = ["gap_mean", "gap_weighted", "best_sq_grad", "gap_decreasing", "mean_gap", "mean_sq_grad"]


def case_of(method, **changes):
    more = dict(
        parallel_training=dict(B=Q(2)), one_way_gt={}, two_way_gt=dict(first=[[Q(0)], [Q(0)]])
    )[method]
    return {**CASE, **more, **changes}


def measured(method, case, steps=STEPS):
    setting = METHODS[method]
    return setting.measure(case, {**setting.constants(case), **steps}, WANTED)


@pytest.mark.parametrize("method", METHODS)
def test_moments_are_the_engine_s(method):
    A, tilt = np.array([[0.5], [1.0], [1.0]]), np.array([[2.0], [-1.0], [-1.0]])
    problem = ft.problems.quadratic_from_arrays(A, -tilt / A, sigma=1.0, sigma_0=0.5)
    steps = {name: float(STEPS[name]) for name in METHODS[method].takes}
    for rounds in (1, 2, 3):
        found = ft.expected(
            problem, method, rounds=rounds, x_0=np.array([3.0]), S=2, K=2, **steps
        ).metrics
        squares = found["sq_grad_norm"] + 2 * found["grad_inner"] + found["sq_server_grad_norm"]
        told = measured(method, case_of(method, T=rounds))
        assert float(told["best_sq_grad"]) == pytest.approx(min(squares), rel=1e-10)
        assert float(told["mean_sq_grad"]) == pytest.approx(np.mean(squares), rel=1e-10)
        # f = (x - 1)^2 / 2 + (x + 4)^2 / 4 is lowest at -2/3, where it is 25/6
        losses = found["loss"] + found["server_loss"]
        assert float(told["mean_gap"]) == pytest.approx(np.mean(losses) - 25 / 6, rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_moments_are_those_of_enumeration(method):
    case = case_of(method, K=1, T=2)
    instance = mixed_run.Case(
        method,
        *(lambda y, f=f: mixed_run.losses.loss_gradient(f, y) for f in case["losses"]),
        2,
        1,
        2,
        *(STEPS[name] for name in METHODS[method].takes),
    )
    weights = [Q(1), Q(2), Q(4)]
    assert mixed_run.by_paths(instance, case, weights) == mixed_run.by_moments(
        instance, case, weights
    )


def test_one_round_of_1_way_by_hand():
    """f = y^2 in two halves: from 1 by 1/4 to 1/2. Weights 1 and (1 - 3/8)^(-1) = 8/5 give 9/13,
    weights 1 and 5/8 give 21/26."""
    half = [make_curve(Q(1))]
    told = measured(
        "one_way_gt",
        case_of("one_way_gt", losses=[half, half], x=[Q(1)], K=1, T=1, noise=[], noise_c=[]),
        dict(eta=Q(1, 4), eta_s=Q(1)),
    )
    assert told == dict(
        gap_mean=Q(9, 16),
        gap_weighted=Q(81, 169),
        best_sq_grad=1,
        gap_decreasing=Q(441, 676),
        mean_gap=Q(5, 8),
        mean_sq_grad=Q(5, 2),
    )


def test_one_round_of_parallel_training_by_hand():
    """f_f = f_c = y^2/2 + 2 y - ..., each of slope 1, tilts 2 and -1: f' = 2 y + 1, least at -1/2. From 3,
    of distance 7/2, one step of 1/4 along f' = 7 to 5/4; noise (1/4)^2 (1/2 + 1/4) of two clients of
    variance 1 and a center of variance 1/4."""
    losses = [[make_curve(Q(1), Q(2))], [make_curve(Q(1), Q(-1))]]
    case = case_of("parallel_training", losses=losses, K=1, T=3)
    case.update(noise=two_point(Q(1), "even", 1), noise_c=two_point(Q(1, 2), "even", 1))
    steps = dict(eta=Q(1, 4), eta_s=Q(1), eta_c=Q(1, 4), eta_m=Q(1))
    told = METHODS["parallel_training"].measure(
        case, {**METHODS["parallel_training"].constants(case), **steps}, mixed_run.FIRST
    )
    noise, f = Q(1, 16) * Q(3, 4), lambda y: y * y + y
    assert told == dict(
        f_t=12,
        f_next=f(Q(5, 4)) + noise,
        gap=Q(49, 4),
        sq_grad=49,
        sq_dist=Q(49, 4),
        sq_dist_next=Q(49, 16) + noise,
    )


APART = [[Q(1)], [Q(2)], [Q(-3)]]  # gradients of three clients around grad f_f


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("S", [1, 2, 3])
def test_heterogeneous_clients_are_the_engine_s(method, S):
    """f_i = f_f + <o_i, x>: three clients that differ, S of them drawn in each round."""
    A, tilt = np.array([[0.5], [1.0], [1.0], [1.0]]), np.array([[2.0], [0.0], [1.0], [-4.0]])
    problem = ft.problems.quadratic_from_arrays(A, -tilt / A, sigma=1.0, sigma_0=0.5)
    steps = {name: float(STEPS[name]) for name in METHODS[method].takes}
    case = case_of(method, N=3, S=S, apart=APART)
    for rounds in (1, 2, 3):
        found = ft.expected(
            problem, method, rounds=rounds, x_0=np.array([3.0]), S=S, K=2, **steps
        ).metrics
        squares = found["sq_grad_norm"] + 2 * found["grad_inner"] + found["sq_server_grad_norm"]
        losses = found["loss"] + found["server_loss"]
        told = measured(method, {**case, "T": rounds})
        assert float(told["mean_sq_grad"]) == pytest.approx(np.mean(squares), rel=1e-10)
        least = (losses - squares / (2 * 1.5))[0]  # f has curvature 3/2
        assert float(told["mean_gap"]) == pytest.approx(np.mean(losses) - least, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_heterogeneous_moments_are_those_of_enumeration(method):
    case = case_of(method, K=2, T=2, N=3, S=2, apart=APART, noise=[], noise_c=[])
    instance = mixed_run.Case(
        method,
        *(lambda y, f=f: mixed_run.losses.loss_gradient(f, y) for f in case["losses"]),
        2,
        2,
        2,
        *(STEPS[name] for name in METHODS[method].takes),
        apart=tuple(map(tuple, APART)),
    )
    weights = [Q(1), Q(2), Q(4)]
    told = mixed_run.by_paths(instance, case, weights)
    assert told == mixed_run.by_moments(instance, case, weights)
    alike = instance._replace(apart=())
    assert told != mixed_run.by_paths(alike, case, weights)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("changes", [{}, dict(one=True), dict(always=True)])
def test_what_is_broken_in_moments_is_what_is_enumerated(method, changes):
    apart = {} if changes.get("one") else dict(apart=APART, N=3, noise=[], noise_c=[])
    case = case_of(method, K=2, T=2, S=2, **apart)
    instance = mixed_run.Case(
        method,
        *(lambda y, f=f: mixed_run.losses.loss_gradient(f, y) for f in case["losses"]),
        2,
        2,
        2,
        *(STEPS[name] for name in METHODS[method].takes),
        apart=tuple(map(tuple, case.get("apart", ()))),
        **changes,
    )
    weights = [Q(1), Q(2), Q(4)]
    told = mixed_run.by_moments(instance, case, weights)
    assert told == mixed_run.by_paths(instance, case, weights)
    if changes:  # and it makes a difference
        plain = instance._replace(**dict.fromkeys(changes, False))
        assert told != mixed_run.by_moments(plain, case, weights)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("changes", [{}, dict(one=True), dict(always=True)])
def test_rounds_in_closed_form_are_the_kernels(method, changes):
    """Clients that differ and noise, in three steps: what more steps are followed by."""
    case = mixed_run.Case(
        method,
        None,
        None,
        2,
        3,
        2,
        *(STEPS[name] for name in METHODS[method].takes),
        apart=tuple(map(tuple, APART)),
        **changes,
    )
    given = case, [Q(1), Q(1, 2)], [Q(-1), Q(2)], [Q(1), Q(1, 4)]
    for told, known in zip(moments.in_closed_form(*given), moments.by_kernels(*given)):
        assert (told == known).all()


def test_crowds_of_two_kinds_drift_apart_however_large_they_are():
    """f is x^2 / 2 right of 0 and x^2 / 10 left of it, x^(0) = 0 its minimiser; half of all clients
    step to the right and half to the left, so that a round moves left. The cohort is everybody:
    what section 4.2 adds for clients that differ, 6 eta^ sigma_f^2 / S, is less than the error by
    S = 2 10^6. Worked in floats, and by the setting."""
    bend, eta, T = lambda y: y if y > 0 else y / 5, 1 / 40, 30
    x, path = 0.0, [0.0]
    for _ in range(T):
        ends = []
        for o in (1.0, -1.0):
            y = x
            for _ in range(2):
                y -= eta * (bend(y) + o)
            ends.append(y)
        x = sum(ends) / 2
        path.append(x)
    case = case_of(
        "parallel_training",
        losses=[[curve_from_pieces([Q(1, 5), Q(1)], [Q(0)])], [make_curve(Q(0))]],
        x=[Q(0)],
        T=T,
        noise=[],
        noise_c=[],
        apart=[[Q(1)], [Q(-1)]],
        copies=Q(10**6),
        B=Q(3, 2),
    )
    setting = METHODS["parallel_training"]
    steps = dict(eta=Q(1, 40), eta_s=Q(1), eta_c=Q(1, 40), eta_m=Q(1))
    known = setting.constants(case)
    assert known["S"] == known["N"] == 2 * 10**6 and known["sigma_f"] == 1 and known["D_sq"] == 0
    found = setting.measure(case, {**known, **steps}, ["gap_mean"])["gap_mean"]
    assert middle(found) == pytest.approx(np.mean(path) ** 2 / 10, rel=1e-9)
    claim = ft.claim("mixed.heterogeneous_pt_convex")
    assert setting.holds(case) >= {a.condition.name for a in claim.assumptions if a.condition}
    numbers = {n: v for n, v in {**known, **steps}.items() if n in claim.symbols}
    numbers["B"], numbers["G"] = Q(3, 2), Q(0)
    bound = claim.evaluate({n: float(v) for n, v in numbers.items()} | dict(K=2, S=2 * 10**6, T=T))
    assert bound == pytest.approx(6 / 20 / (2 * 10**6)) and middle(found) > 6 * bound
    paths = ft.claim("mixed.heterogeneous_pt_convex_paths")
    assert middle(found) < paths.evaluate(
        {n: float(v) for n, v in numbers.items()} | dict(K=2, S=2 * 10**6, T=T)
    )
    # noise, or clients that stay away, make crowds of one client each something else
    assert setting.holds({**case, "noise": CASE["noise"]}) == frozenset()
    assert setting.holds({**case, "copies": Q(3, 2)}) == frozenset()


def test_what_heterogeneous_instances_meet():
    setting = METHODS["one_way_gt"]
    apart = case_of("one_way_gt", N=3, S=2, apart=APART)
    assert "homogeneous" not in setting.holds(apart) and "clients_spread" in setting.holds(apart)
    assert middle(setting.constants(apart)["sigma_f"]) ** 2 == pytest.approx(14 / 3)
    assert setting.constants(CASE)["sigma_f"] == 0 and "homogeneous" in setting.holds(CASE)
    # f_f is the clients' mean, of N clients
    for wrong in ([[Q(1)], [Q(1)], [Q(1)]], APART[:2], [[Q(1), Q(0)], [Q(-1), Q(0)], [Q(0), Q(0)]]):
        assert setting.holds({**apart, "apart": wrong}) == frozenset()
    assert "homogeneous" in setting.holds({**apart, "apart": [[Q(0)]] * 3})


def test_decreasing_weights_hold_the_mean_back_by_hand():
    """f = y^2 in two halves, eta~ = 1/16, mu = 1: points (7/8)^t, weights (29/32)^t. Their mean
    tends to (1 - 29/32) / (1 - (7/8)(29/32)) = 24/53 of the start; that with growing weights goes
    to 0 with the points."""
    half = [make_curve(Q(1))]
    steps, far = dict(eta=Q(1, 16), eta_s=Q(1)), 120
    told = measured(
        "one_way_gt",
        case_of("one_way_gt", losses=[half, half], x=[Q(1)], K=1, T=far, noise=[], noise_c=[]),
        steps,
    )
    assert float(told["gap_decreasing"]) == pytest.approx((24 / 53) ** 2, rel=1e-4)
    assert float(told["gap_weighted"]) < 1e-6


def test_the_mean_point_is_no_worse_than_the_mean_of_points():
    """Jensen, on bent losses and noise, by enumeration."""
    bends = [
        [curve_from_pieces([Q(0), Q(2)], [Q(0)])],
        [curve_from_pieces([Q(1), Q(1, 2)], [Q(1)])],
    ]
    told = measured("one_way_gt", case_of("one_way_gt", losses=bends, S=1, N=1, K=1, T=3))
    assert told["gap_mean"] < told["mean_gap"] and told["best_sq_grad"] < told["mean_sq_grad"]


def test_two_rounds_of_2_way_by_hand():
    """The second round moves along both gradients: 1, then 1 - 2/8 = 3/4, then 3/4 - 2 (3/4 + 1)/8
    = 5/16."""
    half = [make_curve(Q(1))]
    case = case_of("two_way_gt", losses=[half, half], x=[Q(1)], K=1, T=2, noise=[], noise_c=[])
    steps = dict(eta=Q(1, 8), eta_s=Q(1), eta_c=Q(1, 8), eta_m=Q(1))
    told = measured("two_way_gt", case, steps)
    assert (
        told["best_sq_grad"] == Q(25, 64)
        and told["gap_mean"] == (Q(1) + Q(3, 4) + Q(5, 16)) ** 2 / 9
    )
    assert (
        METHODS["two_way_gt"].constants(case)["lag"] == 0
    )  # both gradients vanish at the minimiser
    assert "gradients_first" not in METHODS["two_way_gt"].holds(case)
    first = dict(case, first=[[Q(1)], [Q(1)]])
    assert "gradients_first" in METHODS["two_way_gt"].holds(first)
    assert METHODS["two_way_gt"].constants(first)["lag"] == 4
    assert measured("two_way_gt", first, steps)["best_sq_grad"] == Q(
        1, 16
    )  # 1, 1/2, then 1/2 - 2 (1/2 + 1)/8


def test_what_instances_do_not_meet():
    held = METHODS["parallel_training"].holds
    assert held(case_of("parallel_training")) >= {"dissimilar", "strongly_convex", "noise"}
    assert "dissimilar" not in held(case_of("parallel_training", B=Q(1)))
    assert held(case_of("parallel_training", T=0)) == frozenset()
    assert "strongly_convex" not in held(
        case_of(
            "parallel_training",
            losses=[[make_curve(Q(0))], [curve_from_pieces([Q(0), Q(1)], [Q(0)])]],
        )
    )


def test_long_runs_become_intervals_that_hold_the_value():
    case = case_of("two_way_gt", T=200, noise=[], noise_c=[])
    told = measured("two_way_gt", case)
    x, g_f, g_c, path = 3.0, 0.0, 0.0, [3.0]
    for _ in range(200):
        y, w, sums = x, x, [0.0, 0.0]
        for _ in range(2):
            g, h = y - 1, w / 2 + 2
            y, w, sums = y - (g + g_c) / 16, w - (h + g_f) / 8, [sums[0] + g / 2, sums[1] + h / 2]
        x, (g_f, g_c) = x + 1.25 * (1.5 * (y - x) + (w - x)), sums
        path.append(x)
    mean = sum(path) / 201
    assert middle(told["gap_mean"]) == pytest.approx(0.75 * mean**2 + mean + 1 / 3, rel=1e-9)
    low, high = told["gap_mean"].pair
    assert 0 < high - low < Q(1, 10**80)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_has_the_exact_numbers(method):
    assert (
        exact_is_batch(
            METHODS[method],
            ["gap_mean", "best_sq_grad"],
            METHODS[method].takes,
            count=3,
            relaxed={"smooth_sum"},
        )
        > 20
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["theoremB1_convex", "theoremB2_strong", "theoremB2_nonconvex"])
def test_false_variants_are_refuted(name):
    refuted(weakened(f"mixed.{name}_explicit"))


@pytest.mark.parametrize("K", [1, 2, 5, 40])
@pytest.mark.parametrize("method", METHODS)
def test_many_steps_in_closed_form_are_the_kernels_where_they_are_few(method, K):
    case = mixed_run.Case(
        method, None, None, 3, K, 2, *(STEPS[name] for name in METHODS[method].takes)
    )
    about = [Q(1), Q(-1, 2)], [Q(-1), Q(2)], [Q(3), Q(5)]
    read, closed = (
        [part.tolist() for part in way(case, *about)]
        for way in (moments.by_kernels, moments.in_closed_form)
    )
    assert read == closed


def test_a_first_step_as_far_as_one_likes_by_hand():
    """f = x^2 from 1, where f' is 2: thrown far away, no point of 90 rounds has a smaller gradient,
    and theorem B.3 promises 14 F/(eta (T + 1)) = 14 * 24/91 < 4."""
    half = [make_curve(Q(1))]
    case = dict(
        **dict(losses=[half, half], smooth="each", x=[Q(1)], N=1, S=1, K=1, T=90),
        **dict(noise=[], noise_c=[], first=[[Q(-(10**9))], [Q(-(10**9))]]),
    )
    steps = dict(eta=Q(1, 24), eta_c=Q(1, 24), eta_s=Q(1), eta_m=Q(1))
    known = mixed_run.derive_constants("two_way_gt", case)
    found = mixed_run.measure_symbols("two_way_gt", case, {**known, **steps}, ["best_sq_grad"])
    assert (known["beta"], known["F"], found["best_sq_grad"]) == (1, 1, 4)
    assert 14 * 24 / Q(91) < 4
    near = dict(case, first=[[Q(1)], [Q(1)]])
    assert (
        mixed_run.measure_symbols("two_way_gt", near, {**known, **steps}, ["best_sq_grad"]) != found
    )


@pytest.mark.slow
def test_theorem_b3_is_not_held_without_true_first_gradients():
    """It fails there (by hand, above); exact numbers of so long a run may be too dear to say so."""
    claim = ft.claim("mixed.theoremB3_nonconvex_explicit")
    (cold,) = (r for h, r in claim.lacking.items() if h.name == "gradients_first")
    found = as_meant(cold, 2.0, 0, proofs=False)
    assert found.status == "violated" or "seems to fail" in found.why

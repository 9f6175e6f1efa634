"""Functions of one's own: what they measure is right, and what is no number is refused in a
sentence."""

import json
import math
from fractions import Fraction as F

import numpy as np
import pytest
from sympy import Eq, Rational

import fedtheory as ft
from fedtheory import plugins
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Interval, Many
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    CONVEX,
    DISSIMILAR,
    EXACT_GRADIENTS,
    GROWING_NOISE,
    LIPSCHITZ,
    SAMPLED_BY_WEIGHT,
    Condition,
    settle_words,
)
from fedtheory.language.symbol import LOSS, SQ_POINT
from fedtheory.language.user_quantities import Own, Way, check_number, weighted_mean
from fedtheory.models import by_name, losses, minima, polyak
from fedtheory.models.general import own
from fedtheory.models.general.clients import Clients
from fedtheory.symbols.run import TABLE as RUN

eta, eta_l, L, N, S, K, T = (RUN[n].symbol for n in ("eta", "eta_l", "L", "N", "S", "K", "T"))
gap_0, gap_T, sq_0, sq_T = (
    RUN[n].symbol for n in ("gap_0", "gap_T", "sq_distance_0", "sq_distance_T")
)
mu_PL, growth, sigma = (RUN[n].symbol for n in ("mu_PL", "growth", "sigma"))
PLAIN = (LIPSCHITZ, CONVEX, EXACT_GRADIENTS, Eq(S, N), eta * L <= 1)


def claim(of=None, bound=sq_0 / (2 * eta), name="mine.claim", **words):
    """A claim on gradient descent that measures a function of one's own."""
    table = RUN.extended([])
    table.paper = "mine"
    found = dict(algorithm="fedsgd", assumes=PLAIN, bound=bound)
    if of is not None:
        found["measures"] = table.along("mine", "m", "what is measured here", LOSS, of)
    return Claim(id=name, cites="a test", symbols=table, **{**found, **words})


def late(run):
    """The gap of a mean that counts later points more."""
    return run.problem.gap(weighted_mean(run.x[1:], range(1, run.T + 1)))


def test_a_weighted_mean_of_iterates_holds_and_fails():
    assert ft.check(claim(late), budget=0.2).status == "holds"
    v = ft.check(claim(late, sq_0 / (40 * eta)), budget=0.2)
    assert v.status == "violated"
    assert ft.replay(json.loads(json.dumps(v.certificate)))["status"] == "violated"


def test_weighted_means():
    """By hand, many at once, and where weights are none."""
    assert weighted_mean([F(0), F(3)], [F(1), F(2)]) == 2
    many = weighted_mean([Many(np.array([0.0, 1.0]))] * 2, [Many(np.array([1.0, -1.0])), 3])
    assert many.at[0] == 0 and math.isnan(many.at[1])
    for weights in ([1, -2], [0, 0]):
        with pytest.raises(Undefined):
            weighted_mean([F(1), F(2)], weights)
    with pytest.raises(ft.errors.InvalidInput, match="as many numbers as there are points"):
        weighted_mean([F(1)], [1, 2])


def test_negative_weights_decide_nothing():
    of = lambda run: run.problem.gap(weighted_mean(run.x, [1 + run.T, *[-1] * run.T]))
    assert ft.check(claim(of), budget=0.2).status == "undecided"


def raises(run):
    raise RuntimeError("no")


@pytest.mark.parametrize(
    "of, told",
    [
        (raises, "raised RuntimeError: no"),
        (lambda run: float("nan"), "must return a number"),
        (lambda run: None, "must return a number"),
        (lambda run: True, "must return a number"),
        (lambda run: "1", "must return a number"),
        (lambda run: 0.5, "a float is not an exact number"),
        (lambda run: run.x[0], "must return a number"),
        (lambda run: run["nothing"], "a letter must be one of"),
        (lambda run: run.x[0].__setitem__(0, 0), "raised ValueError"),
        (lambda run: Interval(F(2), F(1)), "must return a number"),
        (lambda run: Many(np.zeros((2, 2))), "must return one number"),
        (lambda run: run.problem.client_loss(0, run.x[0]), "clients are 1 to"),
    ],
    ids=range(12),
)
def test_hostile_measures_are_refused_in_a_sentence(of, told):
    with pytest.raises(ft.errors.InvalidInput, match=told) as refusal:
        ft.check(claim(of), budget=0.2)
    assert "\n" not in str(refusal.value) and "mine" in str(refusal.value) or "letter" in told


@pytest.mark.parametrize(
    "of",
    [
        lambda run: Many(np.array(5.0)),  # no exact number
        lambda run, seen=[]: seen.append(0) or F(len(seen) % 3),
        lambda run: float("inf"),
        lambda run: run.problem.gap(run.x[-1]) / (run.T - run.T),
    ],
    ids=range(4),
)
def test_what_exact_numbers_do_not_confirm_is_undecided(of):
    assert ft.check(claim(of, 1), budget=0.2).status == "undecided"


def test_what_is_no_function_is_refused():
    with pytest.raises(ft.errors.InvalidInput, match="must be a function"):
        RUN.extended([]).along("m", "m", "", LOSS, 3)
    with pytest.raises(ft.errors.InvalidInput, match="upper, lower, exact"):
        RUN.extended([]).constant("m", "m", "", LOSS, late, bound="loose")


def test_numbers():
    assert check_number("m", np.int64(3)) == 3 and check_number("m", 2) == F(2)
    assert check_number("m", float("inf")) == float("inf")


def test_a_measure_has_no_sign_that_nothing_checks():
    """What is called nonnegative could be -1: algebra proves nothing of it."""
    v = ft.check(claim(lambda run: F(-1), 0, relation=">="), budget=0.2)
    assert v.status == "violated"


def test_a_function_that_branches_is_asked_one_by_one():
    of = lambda run: run.problem.gap(run.x[1]) if run.x[0][0] > 0 else F(0)
    assert ft.check(claim(of, bound=gap_0), budget=0.1).status == "holds"


def test_points_within_rounds():
    """Two clients on lines, two steps each, by hand: means of 1, 1/2 and 1/4 with slopes 1."""
    setting = by_name("run_fedavg")
    curve = dict(slope=F(1), tilt=F(0), bends=[], soft=[])
    instance = dict(N=2, S=2, T=1, K=2, convex=1, lipschitz=1, losses=[dict(curves=[curve])])
    instance.update(at_star=[[F(1)]], x_0=[F(1)], noise=[])
    ((p, x, rounds),) = setting.ways(instance, dict(eta_l=F(1, 2), eta_g=F(1)))
    assert p == 1 and [point[0] for point in x] == [1, F(1, 4)]
    assert [y[0] for y in rounds[0].means()] == [1, F(1, 2), F(1, 4)]
    assert [y[0] for y in rounds[0].points[0]] == [1, 0, F(-1, 2)]
    way = Way(own.UserInstance(instance), x, rounds, dict(K=F(2)))
    assert way["K"] == 2 and way.problem.gap(x[0]) == F(1, 2)
    assert way.problem.client_infimum(1) == F(-1, 2)
    assert way.problem.curvature(1) == (1, 1) and way.problem.sq_distance(x[1]) == F(1, 16)


def test_polyak_lojasiewicz_holds_and_is_needed():
    """Theorem 1 of Karimi, Nutini, Schmidt 2016: exact, and not below it."""
    assumes = (LIPSCHITZ, BOUNDED_BELOW, EXACT_GRADIENTS, Eq(S, N), eta * L <= 1, mu_PL > 0)
    more = dict(measures=gap_T, assumes=assumes)
    true = claim(bound=(1 - eta * mu_PL) ** T * gap_0, **more)
    assert ft.check(true, budget=0.3).status == "holds"
    false = claim(bound=(1 - eta * mu_PL) ** (3 * T) * gap_0, **more)
    assert ft.check(false, budget=0.3).status == "violated"


@pytest.mark.parametrize(
    "slopes, knots, expected",
    [
        ([2], [], 2),
        ([4, 1], [0], 1),  # inf of f'^2 / 2f: 4 on the left, 1 on the right of 0
        ([1, 3], [1], 1),  # right of 1: f' = 1 + 3u, f = 1/2 + u + 3u^2/2, at 1: 1/(2 * 1/2) = 1
        ([1, 0], [1], 0),  # linear from 1 on
        ([1, -1, 1], [1, 3], 0),  # stationary at 2, where it is not least
    ],
    ids=range(5),
)
def test_its_constant_by_hand(slopes, knots, expected):
    curve = losses.curve_from_pieces([F(a) for a in slopes], [F(y) for y in knots])
    found = polyak.polyak_lojasiewicz([[curve]], [F(1)])
    assert found == expected
    f = lambda x: losses.loss_value([curve], [x])
    least = minima.infimum_of([[curve]], [F(1)])
    for x in (F(n, 7) for n in range(-40, 41)):  # and it is one
        assert losses.slope_at(curve, x) ** 2 >= 2 * found * (f(x) - least)


def test_noise_that_grows():
    """One step on x^2/2 from 1 with noise of +-rho times the gradient: E x_1^2 by hand."""
    assumes = (LIPSCHITZ, CONVEX, GROWING_NOISE, Eq(N, 1), Eq(T, 1), eta * L * (1 + growth**2) <= 1)
    more = dict(measures=sq_T, assumes=assumes)
    assert ft.check(claim(bound=sq_0 + eta**2 * sigma**2, **more), budget=0.4).status == "holds"
    more["assumes"] = (*assumes[:-1], eta * L <= 1)
    false = claim(bound=sq_0 + eta**2 * sigma**2, **more)
    assert ft.check(false, budget=0.4).status == "violated"
    setting = by_name("run_fedsgd")
    assert {"growing_noise"} <= setting.ensures
    curve = dict(slope=F(1), tilt=F(0), bends=[], soft=[])
    one = dict(N=1, S=1, T=1, K=1, convex=1, lipschitz=1, losses=[dict(curves=[curve])])
    one.update(at_star=[], x_0=[F(1)], noise=[[F(1, 2), [F(3)]], [F(1, 2), [F(-3)]]])
    one["growth"] = F(2)
    assert setting.measure(one, dict(eta=F(1)), ["sq_distance_T"])["sq_distance_T"] == 4 + 9
    assert "noise" not in setting.holds(one) and setting.constants(one)["growth"] == 2


def test_draws_by_weight():
    """Weights 1/4 and 3/4, one draw a round, gradients 3 and -1 at the minimiser: by hand. The
    method takes plain means, for the draws weigh: to -3 or 1."""
    setting = by_name("run_fedsgd")
    curve = dict(slope=F(1), tilt=F(0), bends=[], soft=[])
    one = dict(N=2, S=1, T=1, K=1, convex=1, lipschitz=1, losses=[dict(curves=[curve])])
    one.update(at_star=[[F(3)]], x_0=[F(0)], noise=[], p=[F(1, 4), F(3, 4)])
    assert Clients(one).at_star[1][0] == -1
    found = setting.measure(one, dict(eta=F(1)), ["sq_distance_T"])["sq_distance_T"]
    assert found == F(9, 4) + F(3, 4)
    assert {"sampled_by_weight"} <= setting.holds(one)
    assert not {"equal_weights", "uniform_cohort"} & setting.holds(one)
    two = {**one, "S": 2}  # cohorts 11, 12, 22 with 1/16, 6/16, 9/16: points -3, -1, 1
    assert setting.measure(two, dict(eta=F(1)), ["sq_distance_T"])["sq_distance_T"] == F(3, 2)
    for wrong in ([F(1, 2), F(1, 4)], [F(2), F(-1)], [F(1)]):
        with pytest.raises(Undefined):
            Clients({**one, "p": wrong})
    assert SAMPLED_BY_WEIGHT.name in setting.ensures


def by_weight(method, *assumes):
    """One round of clients that differ by nothing, drawn by weight, leads no further away."""
    G = RUN["G"].symbol
    alike = (DISSIMILAR, Eq(G, 0), Eq(T, 1), Eq(K, 1), eta_l * L <= 1)
    return Claim(
        id="mine.by_weight",
        cites="a test",
        symbols=RUN,
        algorithm=method,
        measures=sq_T,
        bound=sq_0,
        assumes=(LIPSCHITZ, CONVEX, EXACT_GRADIENTS, SAMPLED_BY_WEIGHT, *alike, *assumes),
    )


def test_cohorts_drawn_by_weight_are_not_weighed_again():
    """With steps N p_i / S long a cohort of alike clients could go too far."""
    true = by_weight("fedavg", Eq(RUN["eta_g"].symbol, 1))
    assert ft.check(true, budget=0.5).status in ("holds", "proved")
    words, rest = settle_words([SAMPLED_BY_WEIGHT], None, ft.algorithm("fedavg").hyper)
    assert words == dict(weighting="plain") and rest == dict(cohort="with")
    with pytest.raises(InvalidInput, match="must take plain means of a cohort"):
        ft.check(by_weight("scaffold"), budget=0.1)


def test_conditions_of_ones_own():
    """One that no instance meets decides nothing; one that losses meet lets a claim hold."""
    never = Condition("never", "nothing is so", lambda *_: True, on=lambda problem: False)
    assert ft.check(claim(late, 0, assumes=(*PLAIN, never)), budget=0.2).status == "undecided"
    broken = Condition("broken", "no truth", lambda *_: True, on=lambda problem: 3)
    with pytest.raises(ft.errors.InvalidInput, match="must return True or False"):
        ft.check(claim(late, assumes=(*PLAIN, broken)), budget=0.2)
    left = Condition(
        "left", "the start is left of the minimiser", lambda *_: True,
        on=lambda problem: problem.x_0[0] < problem.minimizer[0],
    )  # fmt: skip
    away = lambda run: run.x[0][0] - run.problem.minimizer[0]
    assert ft.check(claim(away, 0, assumes=(*PLAIN, left)), budget=0.3).status == "holds"
    assert ft.check(claim(away, 0), budget=0.3).status == "violated"


SOURCE = """
from sympy import Eq
from fedtheory.claim import Claim
from fedtheory.conditions import CONVEX, EXACT_GRADIENTS, LIPSCHITZ
from fedtheory.language.user_quantities import weighted_mean
from fedtheory.symbol import LOSS
from fedtheory.symbols.run import TABLE as RUN

TABLE = RUN.extended([])
TABLE.paper = "brought"
eta, L, N, S, sq_0 = (TABLE[n].symbol for n in ("eta", "L", "N", "S", "sq_distance_0"))
late = TABLE.along("late", "m", "of a mean", LOSS, lambda run: run.problem.gap(
    weighted_mean(run.x[1:], range(1, run.T + 1))))
CLAIM = Claim(id="brought.late", cites="a test", symbols=TABLE, algorithm="fedsgd",
              assumes=(LIPSCHITZ, CONVEX, EXACT_GRADIENTS, Eq(S, N), eta * L <= 1),
              measures=late, bound=sq_0 / (40 * eta))
"""


def test_a_certificate_is_replayed_beside_its_file_alone(tmp_path):
    file = tmp_path / "late.py"
    file.write_text(SOURCE)
    with plugins.registered([file]):
        document = json.loads(json.dumps(ft.check("brought.late", budget=0.5).certificate))
        assert document["from"]["file"] == "late.py"
        own._MADE.clear()  # as in another process
        assert ft.replay(document)["about"] == "the claim as it is recorded here"
    own._MADE.clear()
    with pytest.raises(Refused, match="give it with --with"):
        ft.replay(document)
    file.write_text(SOURCE.replace("run.x[1:]", "run.x[:-1]"))
    with (
        plugins.registered([file]),
        pytest.raises(Refused, match="it was made with the file 'late.py'"),
    ):
        ft.replay(document)


def test_letters_are_refused_as_everywhere():
    table = RUN.extended([])
    table.paper = "mine"
    rate = table.positive("rate", "r", "no letter of any method")
    mine = table.along("mine", "m", "", SQ_POINT, late)
    wrong = Claim(id="mine.letters", cites="a test", symbols=table, algorithm="fedsgd",
                  assumes=PLAIN, measures=mine, bound=rate * sq_0)  # fmt: skip
    with pytest.raises(ft.errors.InvalidInput, match="its letters must be"):
        ft.check(wrong, budget=0.2)


def test_a_paper_whose_settings_keep_no_runs_leaves_it_undecided():
    table = ft.claim("fsl.theorem1").table.extended([])
    mine = table.along("mine", "m", "", SQ_POINT, late)
    v = ft.check(Claim(id="mine.fsl", cites="a test", symbols=table, algorithm="fsl",
                       assumes=(), measures=mine, bound=Rational(1)), budget=0.2)  # fmt: skip
    assert v.status == "undecided"
    assert Own(late).bound is None


def test_points_are_those_that_a_method_sees():
    """Where the minimiser lies elsewhere, so do the points: FedAvg's by hand, from 1 + 5."""
    curve = dict(slope=F(1), tilt=F(0), bends=[], soft=[])
    one = dict(N=1, S=1, T=1, convex=1, lipschitz=1, losses=[dict(curves=[curve])])
    one.update(at_star=[], x_0=[F(1)], noise=[], K=1, origin=[F(5)])
    about = own.UserInstance(one)
    assert about.x_0[0] == 6 and about.minimizer[0] == 5 and about.gap(about.x_0) == F(1, 2)
    assert about.grad(about.x_0)[0] == 1 and about.client_grad(1, about.x_0)[0] == 1
    ((_, x, rounds),) = by_name("run_feddyn").ways(one, dict(eta_l=F(1, 2), alpha=F(1)))
    assert x[0][0] == 6 and rounds[0].points[0][0][0] == 6

"""What an instance of FED-LAMB may break: by hand, and claims that need it against some that do not."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.arithmetic import Undefined
from fedtheory.models.lamb import broken, quantities
from fedtheory.models.lamb import round as lamb_round
from fedtheory.models.lamb import run as lamb_run
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.dropped_hypotheses import ViolationCounts
from fedtheory.verdicts.model_search import search_model
from tests.models.agree import middle
from tests.models.test_lamb_round import FLAT, HUBER, STEEP, VALUES, hand

QUIET = dict(noise=[], n=2, T=1, t=0)


def seen(wanted, **change):
    instance = hand(**change)
    known = {**lamb_round.derive_constants(instance), **VALUES}
    return lamb_round.measure_symbols(instance, known, wanted)


def test_means_are_over_those_who_take_part():
    """Of f_1 = x and f_2 = -3 x the first client alone steps: to -alpha phi, while f = -x grows."""
    steep = dict(slope=Q(0), tilt=Q(-3), bends=[])
    change = dict(QUIET, losses=[[FLAT], [steep]], layers=[[0, 1]], x=[Q(0)], phi=[Q(1), Q(1)])
    wanted = ["loss_now", "loss_next", "gap_sq", "sq_grad_vartheta"]
    told = seen(wanted, **change, S=1)
    # (8) leads the mean by beta_1 / (1 - beta_1) = 1/2 of a move of -1/2
    assert told == dict(loss_now=0, loss_next=Q(3, 4), gap_sq=0, sq_grad_vartheta=2)
    both = seen(wanted, **change)
    assert both["gap_sq"] == Q(1, 4) and both["loss_next"] == 0
    with pytest.raises(Undefined, match="do nothing"):
        seen(["B_1"], **change, S=1)
    assert "everyone" not in lamb_round.conditions_held(hand(**change, S=1))
    assert "everyone" in lamb_round.conditions_held(hand(**change, S=2))
    assert (
        lamb_round.conditions_held(hand(**change, S=3))
        == lamb_round.conditions_held(hand(**change, S=0))
        == set()
    )


def run_of(turn=None, **more):
    """Two iterations with beta_1 = 1/2 on x + 2 y, in one layer."""
    grad = lambda i, x: np.array([Q(1), Q(2)], dtype=object)
    case = quantities.Instance(
        lambda i, x: x[0] + 2 * x[1], grad, ((0, 2),), (0,), lambda n: Q(1), 1, 1, Q(1), Q(1, 2),
        Q(0), Q(4), **more,
    )  # fmt: skip
    nothing = lambda t, i: np.array([Q(0), Q(0)], dtype=object)
    return quantities.follow_path(case, np.array([Q(0), Q(0)], dtype=object), nothing, 2)[0]


def test_m_begins_each_round_at_0():
    kept, reset = run_of(), run_of(reset=True)
    assert [list(it.past[0]) for it in kept] == [[0, 0], [Q(1, 2), 1]]
    assert [list(it.past[0]) for it in reset] == [[0, 0], [0, 0]]


def test_a_number_is_added_to_the_root():
    """v = (4, 4) in the first round: p = m / 3 with epsilon 1, whose direction is that of m, and v =
    (4, 4) in the second, as beta_2 = 0 and g^2 <= 4. The text's phi / (||p|| sqrt v) is 3/2 of what
    a step is multiplied with."""
    for it in run_of(epsilon=Q(1)):
        m = it.g[0] / 2 + it.past[0] / 2
        taken = (it.theta[0] - it.moved[0]) / m
        for j in range(2):
            assert middle(it.stretch[0][j]) == pytest.approx(1.5 * middle(taken[j]), rel=1e-12)


def test_layers_that_depend_on_each_other():
    """Curves of (3 x + 4 y)/5 and (3 y - 4 x)/5: second derivatives of client 2 are in [-4, 0] and
    [0, 2], whose mean with weights 9/25 and 16/25 is in [-36/25, 32/25], the other way round in
    [-64/25, 18/25]."""
    instance = hand(
        n=2,
        noise=[],
        losses=[[HUBER, FLAT], [STEEP, HUBER]],
        layers=[[0, 1], [1, 2]],
        x=[Q(1), Q(2)],
        turn=[Q(3, 5), Q(4, 5)],
    )
    assert broken.layer_smoothness(instance) == [Q(36, 25), Q(64, 25)]
    convex = {**instance, "losses": [[HUBER, HUBER]] * 2}
    assert broken.layer_smoothness(convex) == [2, 2]
    held = lamb_round.conditions_held(instance)
    assert held and "layers_apart" not in held
    assert "layers_apart" in lamb_round.conditions_held({**instance, "turn": [Q(0), Q(1)]})
    assert lamb_round.conditions_held({**instance, "turn": [Q(1, 2), Q(1, 2)]}) == frozenset()
    assert lamb_round.conditions_held({**instance, "layers": [[0, 2]]}) == frozenset()
    case = lamb_round.build_case(instance, {**lamb_round.derive_constants(instance), **VALUES})
    x, step = np.array([Q(1, 3), Q(1, 7)], dtype=object), Q(1, 10**6)
    for i in range(2):  # inside the pieces, differences are those of a quadratic
        for j, g in enumerate(case.grad(i, x)):
            e = np.array([step if k == j else Q(0) for k in range(2)], dtype=object)
            assert g == (case.loss(i, x + e) - case.loss(i, x - e)) / (2 * step)


NEEDED = [
    ("lamb.step_split", "everyone", lamb_round),
    ("lamb.theorem1_explicit", "everyone", lamb_run),
    ("lamb.step7", "layers_apart", lamb_round),
    ("lamb.step13", "plain_moments", lamb_round),
]
IDLE = [
    ("lamb.step13", "everyone", lamb_round),  # an identity of means
    ("lamb.step12", "layers_apart", lamb_round),  # every layer's L of the whole move
]


def without(claim, name, setting):
    claim = ft.claim(claim).without(name)
    told = dict.fromkeys(claim.dropped, 0)
    found = search_model(Case.of(claim, 0.4), setting.MODEL, ViolationCounts(told, {}))
    return conclude(claim.id, found), sum(told.values())


@pytest.mark.parametrize("claim, name, setting", NEEDED)
def test_what_is_needed_is_refuted_without_it(claim, name, setting):
    verdict, _ = without(claim, name, setting)
    assert verdict.status == "violated"
    assert ft.replay(verdict.certificate)["status"] == "violated"
    told = {"S", "turn", "epsilon", "reset"} & set(verdict.certificate["instance"])
    assert told, verdict.certificate["instance"]


@pytest.mark.parametrize("claim, name, setting", IDLE)
def test_what_is_not_needed_is_not(claim, name, setting):
    verdict, count = without(claim, name, setting)
    assert verdict.status == "holds" and count > 0


@pytest.mark.slow
def test_where_a_sum_has_no_meaning_a_search_goes_on():
    """(17) is a sum over all n clients: shapes in which some are idle tell nothing of it, however
    long one of them is climbed."""
    verdict = ft.check("lamb.step17", budget=4.5)
    assert (verdict.status, verdict.printed.status) == ("holds", "undecided")

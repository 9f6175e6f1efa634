"""A hypothesis that is taken away is broken by what is then searched, or nothing is said of it."""

from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.checks.case import Case, answer
from fedtheory.claim import Claim
from fedtheory.conditions import Condition
from fedtheory.symbol import CURVATURE, Table


def loosened(claim, name):
    """The constants that are any number once a hypothesis is gone."""
    return {n for n in ft.claim(claim).without(name).parameters if n.startswith("any_")}


@pytest.mark.parametrize("claim, name, free", [
    ("mixed.lemmaD8", "smooth", {"any_beta"}),                 # the paper's beta is a problem's L
    ("mixed.lemmaD8", "convex", {"any_mu"}),
    ("mixed.theoremB1_convex", "dissimilar", {"any_B", "any_G"}),
    ("flex.theorem3_1", "second_moment", {"any_G"}),           # flex's G is a problem's M
    ("flex.theorem3_1", "devices_smooth", {"any_L"}),
    ("flex.corollary4_0_2", "bounded_by_W", set()),               # the same of F_l is left
    ("lamb.theorem1", "layer_smooth", {"any_L_l"}), ("lamb.theorem1", "coordinate_variance", {"any_sigma"}),
    ("lamb.theorem1", "bounded_gradient", {"any_M"}), ("lamb.theorem1", "bounded_scale", {"any_phi_M"}),
    ("lamb.theorem1_explicit", "layer_smooth", {"any_L_l", "any_L_bar"}),
    ("fsl.theorem1", "dissimilar", {"any_G"}), ("fsl.theorem1", "smooth", set()),    # lipschitz is left
])
def test_a_paper_s_letter_is_freed_whatever_a_problem_calls_it(claim, name, free):
    assert loosened(claim, name) == free


def test_every_constant_that_a_record_s_conditions_certify_can_be_freed():
    """What a condition certifies is found through the paper's table, never by a coincidence of names."""
    for claim in discover.claims():
        own = [*claim.assumes, *claim.unstated]
        conditions = [a.condition for a in own if a.condition is not None]
        if claim.lines and conditions:
            constants = {name for condition in conditions for name in condition.constants}
            certified = [n for n in claim.parameters if claim.table.constants.get(n, n) in constants]
            bare = claim.under([a for a in own if a.condition is None])
            assert not set(certified) & set(bare.parameters), claim.id


def test_a_table_of_one_s_own_names_its_constants():
    table = Table("mine", constants={"ell": "L"})
    ell = table.positive("ell", r"\ell", "smoothness", CURVATURE)
    smooth = Condition("smooth", "losses are smooth", lambda problem, setup: True, ("L",))
    claim = Claim(id="mine.bound", cites="x", symbols=table, measures=ell, bound=2 * ell, assumes=(smooth,))
    assert set(claim.without("smooth").parameters) == {"any_ell"}


def test_smoothness_is_needed_in_lemma_D8():
    """By hand: h = 5 x^2, beta = 1, mu = 1/10, eta = 1: (1 - 10)^2 = 81 > 9/10 = (1 - eta mu)."""
    claim = ft.claim("mixed.lemmaD8").without("smooth")
    loss = [dict(slope=Q(10), tilt=Q(0), bends=[], soft=[])]
    numbers = dict(eta=Q(1), any_beta=Q(1), mu=Q(1, 10))
    found = answer(claim, Case("mixed_functions", dict(loss=loss, x=[Q(1)], y=[Q(0)], z=[Q(0)]), numbers, {}))
    assert (found.left, found.right) == (81, Q(9, 10)) and found.violated and not list(found.failing())
    assert "smooth" in [a.name for a in ft.minimise("mixed.lemmaD8", budget=2).needed]

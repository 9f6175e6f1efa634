"""Flex, theorem 3.2: its facts on devices whose losses are parabolas, in fractions, and what its proof
gives of the constant."""

from fractions import Fraction as Q

import pytest
import sympy

from fedtheory import discover
from fedtheory.proofs.textbook import flex, proof_steps
from fedtheory.symbols.flex import TABLE
from fedtheory.verdicts import proof_graph
from tests.proofs.textbook.exactly import truth

SIZES, CURVES, CENTRES = (3, 1, 5), (Q(2), Q(1, 2), Q(7)), (Q(1), Q(-3), Q(5, 2))


def least(members):
    """The minimiser of sum n_k a_k (x - b_k)^2 / 2."""
    weight = lambda k: SIZES[k] * CURVES[k]
    return sum(weight(k) * CENTRES[k] for k in members) / sum(weight(k) for k in members)


def slope(members, x):
    """The gradient at x of the members' mean loss over data points."""
    total = sum(SIZES[k] for k in members)
    return sum(SIZES[k] * CURVES[k] * (x - CENTRES[k]) for k in members) / total


def numbers(event):
    """Letters at an event of device 2; n counts what there was before it."""
    few, every = (0, 1), (0, 1, 2)
    alone = least(few)  # F is of the few before an arrival, and F~ of them after a departure
    gap = CURVES[2] * (alone - CENTRES[2]) ** 2 / 2
    known = dict(
        n=sum(SIZES[k] for k in (few if event == "arrival" else every)),
        n_l=SIZES[2],
        mu=min(CURVES),
        L=max(CURVES),
        shift=abs(alone - least(every)),
        Gamma_l=gap,
        tilde_Gamma_l=gap,
    )
    names = ("grad_new_old", "grad_l_old") if event == "arrival" else ("grad_old_new", "grad_l_new")
    steep, alone_slope = abs(slope(every, alone)), abs(CURVES[2] * (alone - CENTRES[2]))
    known |= dict(zip(names, (steep, alone_slope)))
    return {TABLE[name].symbol: Q(value) for name, value in known.items()}


@pytest.mark.parametrize("event, at", (("arrival", 1), ("departure", 4)))
def test_each_fact_holds_of_parabolas_and_what_is_nudged_fails(event, at):
    known = numbers(event)
    growth, share, gap = (fact.relation for fact in flex.FACTS[at : at + 3])
    assert truth(growth, known) and truth(share, known)
    assert not truth(sympy.Eq(share.lhs, 2 * share.rhs, evaluate=False), known)
    # Device 2 is the steepest, so that the last one is an equality between squares.
    assert truth(sympy.Eq(gap.lhs**2, gap.rhs**2, evaluate=False), known)


def test_the_shares_of_the_two_events_are_not_each_other_s():
    known = {**numbers("departure"), TABLE["n"].symbol: Q(4)}
    assert not truth(flex.FACTS[5].relation, known)


@pytest.mark.parametrize("event", ("arrival", "departure"))
def test_theorem_3_2_follows_with_half_of_its_constant_and_no_less(event):
    claim = discover.claim(f"flex.theorem3_2_{event}")
    found = proof_graph.build_graph(claim, lambda one, led: [None] * len(one.lines))
    assert found.status == "proved" and set(found.steps.values()) == {"proved"}
    less = lambda share: proof_steps.step_of(claim.replace(bound=share * claim.bound), 0).status
    assert less(sympy.Rational(1, 2)) == "proved" and less(sympy.Rational(49, 100)) == "undecided"


@pytest.mark.parametrize("n", range(3))
def test_no_line_is_idle(n):
    claim = discover.claim("flex.theorem3_2_arrival")
    some = [f"flex.step3_2_arrival/{k + 1}" for k in range(3) if k != n]
    assert proof_steps.step_of(claim.replace(follows=tuple(some)), 0).status != "proved"


def test_the_other_readings_of_the_excess_do_not_follow():
    for event, reading in (("arrival", "arrival_new"), ("departure", "departure_old")):
        claim = discover.claim(f"flex.theorem3_2_{reading}")
        asked = claim.replace(follows=(f"flex.step3_2_{event}",))
        assert proof_steps.step_of(asked, 0).status != "proved"


def test_mean_work_is_at_most_that_of_the_largest_coefficient():
    """Two devices of weights 1/4 and 3/4; coefficients 1/2 and 3/4, of 1 and 2 steps out of E = 2."""
    known = dict(
        ps=Q(1, 2) * 1 + Q(3, 4) * 2, ratio_sup=max(Q(1, 2) * 4, Q(3, 4) * Q(4, 3)), E=Q(2)
    )
    known = {TABLE[name].symbol: value for name, value in known.items()}
    assert truth(flex.FACTS[0].relation, known)
    assert not truth(flex.FACTS[0].relation, {**known, TABLE["ps"].symbol: Q(5)})


def test_of_theorem_3_1_all_but_the_induction_is_decided():
    claim = discover.claim("flex.theorem3_1")
    assert proof_steps.step_of(claim, 0).status == "undecided"
    for name, lines in (("start", (0, 1, 2)), ("level", (0, 1))):
        step = discover.claim(f"flex.step3_1_{name}")
        assert all(proof_steps.step_of(step, at).status == "proved" for at in lines)


def test_a_level_that_falls_too_fast_does_not_follow():
    step = discover.claim("flex.step3_1_level")
    less = step.replace(bound=step.bound * sympy.Rational(99, 100))
    assert proof_steps.step_of(less, 0).status == "undecided"

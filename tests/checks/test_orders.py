"""Orders with known answers: refuted by families that grow, supported by companions, and left open where neither is."""

import copy
import json
from fractions import Fraction

import pytest
from sympy import Rational, sqrt

import fedtheory as ft
from fedtheory.checks import certificate_family, certificate_run, orders
from fedtheory.checks.certificate_algebra import Refused
from fedtheory.claim import Claim, Theta
from fedtheory.symbol import LOSS, Table

TABLE = Table("invented")
n, m = TABLE.count("n", "n", ""), TABLE.count("m", "m", "")
x, y, eta = (TABLE.positive(name, name, "", LOSS) for name in ("x", "y", "eta"))
z = TABLE.positive("z", "z", "")
SUM = n * (n + 1) / 2    # 1 + 2 + ... + n


def order(left, shape, **more):
    return Claim(**{**dict(id="invented.order", cites="nowhere", symbols=TABLE, kind="order", relation="O",
                           measures=left, bound=shape), **more})


def explicit(left, bound, **more):
    return Claim(id="invented.explicit", cites="nowhere", symbols=TABLE, measures=left, bound=bound, **more)


def test_the_sum_of_the_first_numbers_is_no_multiple_of_their_count():
    verdict = ft.check(order(SUM, n), budget=1.0)
    assert (verdict.status, verdict.kind, verdict.confidence) == ("violated", "order", 1.0)
    assert verdict.witness["moves"].keys() == {"n"}
    shown = ft.replay(json.loads(json.dumps(verdict.certificate)))
    for member, constant in zip(verdict.certificate["members"], shown["constants"]):    # (n + 1)/2 by hand
        at = Fraction(member["numbers"]["n"])
        assert constant < (at + 1) / 2 < constant * Fraction(1001, 1000)


def test_the_sum_of_the_first_numbers_is_of_the_order_of_the_square_of_their_count():
    assert ft.check(order(SUM, n**2), budget=1.0).status == "undecided"    # nothing to support it
    verdict = ft.check(order(SUM, n**2, explicit=explicit(SUM, n**2 * Rational(3, 2))), budget=1.0)
    assert verdict.status == "holds" and "1.5 times the shape" in verdict.why


@pytest.mark.parametrize("shape", [x * y, x**2, x**2 * y**2, x**2 + y, x**2 * sqrt(y)])
def test_orders_that_lost_a_factor_are_refuted(shape):
    """x^2 y is none of these; where y is not mentioned at all, the constant may depend on it."""
    verdict = ft.check(order(x**2 * y, shape), budget=1.0)
    assert verdict.status == ("undecided" if shape == x**2 else "violated")
    if verdict.certificate:
        assert len(ft.replay(verdict.certificate)["constants"]) >= 7


def test_growth_that_ends_refutes_nothing():
    for left in (x / (1 + x / 10**4), 10**6 * x / (1 + x)):
        assert ft.check(order(left * x, x, assumes=(x <= 10**3,)), budget=0.5).status != "violated"
        assert ft.check(order(left, x / x + x / (10**5 + x)), budget=0.5).status != "violated"


def test_a_regime_ties_what_moves():
    """eta = c / sqrt(n): n eta^2 is of order 1, n eta is not."""
    regime = (Theta(eta, 1 / sqrt(n)),)
    assert ft.check(order(n * eta**2, 1 + 1 / n, regime=regime), budget=1.0).status != "violated"
    verdict = ft.check(order(n * eta, 1 + 1 / n, regime=regime), budget=1.0)
    assert verdict.status == "violated" and verdict.witness["moves"].keys() == {"n"}


def test_a_number_without_a_unit_goes_to_infinity_only():
    assert ft.check(order(z + 1, z), budget=0.5).status == "undecided"
    assert ft.check(order(x + 1, x), budget=0.5).status == "violated"
    assert ft.check(order(z**2 + 1, z), budget=0.5).status == "violated"


def test_a_rule_for_choosing_numbers_is_not_refuted():
    verdict = ft.check(order(y, x), budget=0.5)
    assert verdict.status == "undecided" and "rule for choosing" in verdict.notes[0]


def test_a_companion_that_does_not_give_the_shape_is_told_from_one_that_does():
    left = x / (1 + y)
    shape, loose = x / (1 + y) + x, x * (1 + y)    # the order holds; the loose companion does not show it
    assert ft.check(order(left, shape, explicit=explicit(left, 2 * shape)), budget=0.5).status == "holds"
    verdict = ft.check(order(left, shape, explicit=explicit(left, loose)), budget=0.5)
    assert verdict.status == "undecided" and any("does not follow" in note for note in verdict.notes)
    verdict = ft.check(order(left, shape, explicit=explicit(left, shape / 4)), budget=0.5)    # false: at y = 0
    assert verdict.status == "undecided" and "violated" in verdict.why


def test_a_family_that_was_tampered_with_is_refused():
    document = ft.check(order(SUM, n), budget=1.0).certificate

    def changed(change):
        again = copy.deepcopy(document)
        change(again["members"])
        for member in again["members"]:
            member["digest"] = certificate_run.digest(member)
        again["digest"] = certificate_run.digest(again)
        return again

    assert certificate_family.check(changed(lambda members: None))
    for change in (lambda members: members.pop(3), lambda members: members.reverse(),
                   lambda members: members[2]["numbers"].update(C_order="1000000"),
                   lambda members: members[5].update(members[0]),
                   lambda members: members[4]["numbers"].update(n="17")):
        with pytest.raises(Refused):
            certificate_family.check(changed(change))
    with pytest.raises(Refused):
        certificate_family.check(dict(document, claim="another"))


def test_what_the_shape_does_not_mention_must_stay():
    """x y = O(x) with y moving: left over shape grows, and shows nothing."""
    document = ft.check(order(x * y, y), budget=1.0).certificate
    assert document is None
    document = ft.check(order(x * y, sqrt(x) * sqrt(y)), budget=1.0).certificate
    document["members"] = [json.loads(json.dumps(member).replace('"y"', '"q"')) for member in document["members"]]
    with pytest.raises(Refused):
        certificate_family.check(document)


def test_rounds_are_found_from_the_bound():
    """8 beta D^2/(T + 1) <= eps takes T = 8 beta D^2/eps - 1 rounds, which is below 8 times the shape."""
    from fedtheory.symbols.mixed import D_sq, TABLE as MIXED, T, beta, eps, gap_mean, rounds
    companion = Claim(id="invented.bound", cites="", symbols=MIXED, measures=gap_mean, bound=8 * beta * D_sq / (T + 1))
    claim = Claim(id="invented.rounds", cites="", symbols=MIXED, kind="order", relation="O", measures=rounds,
                  bound=1 + beta * D_sq / eps, explicit=companion)
    most, _, growth = orders.swept(claim, 0, companion, 0)
    assert 7.9 < most <= 8.01 and not growth
    less = claim.replace(bound=1 + beta * sqrt(D_sq) / eps)
    assert "D_sq" in orders.swept(less, 0, companion, 0)[2]

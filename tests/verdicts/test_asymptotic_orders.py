"""Orders with known answers: refuted by families that grow, supported by companions, and left open
where neither is."""

import copy
import json
from fractions import Fraction

import pytest
import sympy
from sympy import Eq, Rational, sqrt

import fedtheory as ft
from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim, Theta
from fedtheory.language.symbol import LOSS, Table
from fedtheory.models import fitting
from fedtheory.search import divergent_families
from fedtheory.verdicts import asymptotic_orders

TABLE = Table("invented")
n, m = TABLE.count("n", "n", ""), TABLE.count("m", "m", "")
x, y, eta = (TABLE.positive(name, name, "", LOSS) for name in ("x", "y", "eta"))
z, w = TABLE.positive("z", "z", ""), TABLE.nonnegative("w", "w", "")
SUM = n * (n + 1) / 2  # 1 + 2 + ... + n


def order(left, shape, **more):
    return Claim(
        **{
            **dict(
                id="invented.order",
                cites="nowhere",
                symbols=TABLE,
                kind="order",
                relation="O",
                measures=left,
                bound=shape,
            ),
            **more,
        }
    )


def explicit(left, bound, **more):
    return Claim(
        id="invented.explicit", cites="nowhere", symbols=TABLE, measures=left, bound=bound, **more
    )


def test_the_sum_of_the_first_numbers_is_no_multiple_of_their_count():
    verdict = ft.check(order(SUM, n), budget=1.0)
    assert (verdict.status, verdict.kind, verdict.confidence) == ("violated", "order", 1.0)
    assert verdict.witness["moves"].keys() == {"n"}
    shown = ft.replay(json.loads(json.dumps(verdict.certificate)))
    for member, constant in zip(
        verdict.certificate["members"], shown["constants"]
    ):  # (n + 1)/2 by hand
        at = Fraction(member["numbers"]["n"])
        assert constant < (at + 1) / 2 < constant * Fraction(1001, 1000)


def test_the_sum_of_the_first_numbers_is_of_the_order_of_the_square_of_their_count():
    assert ft.check(order(SUM, n**2), budget=1.0).status == "undecided"  # nothing to support it
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
    shape, loose = (
        x / (1 + y) + x,
        x * (1 + y),
    )  # the order holds; the loose companion does not show it
    assert (
        ft.check(order(left, shape, explicit=explicit(left, 2 * shape)), budget=0.5).status
        == "holds"
    )
    verdict = ft.check(order(left, shape, explicit=explicit(left, loose)), budget=0.5)
    assert verdict.status == "undecided" and any(
        "does not follow" in note for note in verdict.notes
    )
    verdict = ft.check(
        order(left, shape, explicit=explicit(left, shape / 4)), budget=0.5
    )  # false: at y = 0
    assert verdict.status == "undecided" and "violated" in verdict.why


def test_a_constant_that_moves_with_the_draws_is_none():
    """By hand: x <= C x (x - 2)^2 needs C >= 1 / (x - 2)^2, which is without bound near x = 2."""
    shape = x * (x - 2) ** 2 + y
    verdict = ft.check(order(x, shape, explicit=explicit(x, x)), budget=0.5)
    assert verdict.status != "holds", verdict


def test_a_family_that_was_tampered_with_is_refused():
    document = ft.check(order(SUM, n), budget=1.0).certificate

    def changed(change):
        again = copy.deepcopy(document)
        change(again["members"])
        for member in again["members"]:
            member["digest"] = check_instance.digest_of(member)
        again["digest"] = check_instance.digest_of(again)
        return again

    assert check_family.check(changed(lambda members: None))
    for change in (
        lambda members: members.pop(3),
        lambda members: members.reverse(),
        lambda members: members[2]["numbers"].update(C_order="1000000"),
        lambda members: members[5].update(members[0]),
        lambda members: members[4]["numbers"].update(n="17"),
    ):
        with pytest.raises(Refused):
            check_family.check(changed(change))
    with pytest.raises(Refused):
        check_family.check(dict(document, claim="another"))


def test_what_the_shape_does_not_mention_must_stay():
    """x y = O(x) with y moving: left over shape grows, and shows nothing."""
    document = ft.check(order(x * y, y), budget=1.0).certificate
    assert document is None
    document = ft.check(order(x * y, sqrt(x) * sqrt(y)), budget=1.0).certificate
    document["members"] = [
        json.loads(json.dumps(member).replace('"y"', '"q"')) for member in document["members"]
    ]
    with pytest.raises(Refused):
        check_family.check(document)


def test_rounds_are_found_from_the_bound():
    """8 beta D^2/(T + 1) <= eps takes T = 8 beta D^2/eps - 1 rounds, which is below 8 times the
    shape."""
    from fedtheory.symbols.mixed import TABLE as MIXED
    from fedtheory.symbols.mixed import D_sq, T, beta, eps, gap_mean, rounds

    companion = Claim(
        id="invented.bound",
        cites="",
        symbols=MIXED,
        measures=gap_mean,
        bound=8 * beta * D_sq / (T + 1),
    )
    claim = Claim(
        id="invented.rounds",
        cites="",
        symbols=MIXED,
        kind="order",
        relation="O",
        measures=rounds,
        bound=1 + beta * D_sq / eps,
        explicit=companion,
    )
    most, _, growth = asymptotic_orders.sweep_order(claim, 0, companion, 0)
    assert 7.9 < most <= 8.01 and not growth
    less = claim.replace(bound=1 + beta * sqrt(D_sq) / eps)
    assert "D_sq" in asymptotic_orders.sweep_order(less, 0, companion, 0)[2]


def test_a_supremum_between_the_steps_of_sweeps_is_found():
    """bound/shape = 7 (2 r/(1 + r^2))^60 for r = x/y is 7 at r = 1 and falls to a third at r = 1.2."""
    companion = explicit(x, 7 * y * (2 * x * y / (x**2 + y**2)) ** 60)
    most, _, growth = asymptotic_orders.sweep_order(
        order(x, y, explicit=companion), 0, companion, 0
    )
    assert 6.999 < most <= 7.0001 and not growth


@pytest.mark.parametrize(
    "left",
    [
        y * sympy.log(2 + y),
        y * sympy.log(2 + sympy.log(2 + y)),
        y * sympy.log(2 + sympy.log(2 + sympy.log(2 + y))),
        y * sqrt(sympy.log(2 + sympy.log(2 + y))),
        y * sympy.log(2 + sympy.log(2 + 1 / y)),
        y * sympy.log(2 + sympy.log(2 + y)) + 1000 * y / (1 + y**2),
        x * y * sympy.log(2 + sympy.log(2 + x / y)) / x,
    ],
    ids=str,
)
def test_growth_that_no_factor_shows_is_no_support(left):
    """Each of these over y grows without end, however slowly; none by a factor at each step."""
    shape = y + x - x if x not in left.free_symbols else y + 0 * x
    verdict = ft.check(order(left, shape, explicit=explicit(left, left)), budget=0.3)
    assert verdict.status == "undecided", verdict
    assert any("grows along" in note for note in verdict.notes)


@pytest.mark.parametrize(
    "left",
    [
        y * sympy.log(2 + y) / sympy.log(3 + y),
        y * (2 - 1 / sympy.log(3 + y)),
        y * sqrt(y) / (2 + sqrt(y)),
        y * (1 + sympy.exp(-y)),
        y * sympy.log(2 + sympy.log(2 + y)) / sympy.log(2 + y),
    ],
    ids=str,
)
def test_growth_that_ends_slowly_is_supported(left):
    verdict = ft.check(order(left, y, explicit=explicit(left, left)), budget=0.3)
    assert verdict.status == "holds", verdict


@pytest.mark.parametrize("shape", [1, 2, sympy.Rational(1, 3)])
def test_a_shape_that_mentions_nothing_supports_nothing(shape):
    for left in (z / (1 + z), z, 1 + z / (1 + z)):
        verdict = ft.check(order(left, shape, explicit=explicit(left, left)), budget=0.3)
        assert verdict.status == "undecided" and "mentions nothing" in verdict.why
    # nor does one whose symbols equations fix
    fixed = order(z, eta, explicit=explicit(z, 2 * z), assumes=(Eq(eta, 1), z <= 1))
    assert ft.check(fixed, budget=0.3).status == "undecided"


def test_an_order_is_not_held_by_a_companion_that_assumes_more():
    """x <= 2 y is all of a companion's reason, and no hypothesis of the order x = O(y)."""
    companion = explicit(x, 2 * y, assumes=(x <= 2 * y,))
    verdict = ft.check(order(x, y, explicit=companion, assumes=(x >= y,)), budget=0.5)
    assert verdict.status == "undecided" and "assumes what it does not: x <= 2 y." in verdict.why
    verdict = ft.check(
        order(x, y, explicit=companion, assumes=(2 * x <= y,)), budget=0.5
    )  # it follows
    assert verdict.status == "holds" and verdict.searched


def test_a_regime_implies_what_a_companion_assumes_of_the_step():
    """eta = c/n is at most 1 at c = 1, at most 1/n^2 at no c."""
    regime = (Theta(eta, 1 / n),)
    of = lambda rule: order(
        n * eta, 1 + 1 / n, regime=regime, explicit=explicit(n * eta, n * eta, assumes=(rule,))
    )
    beyond = lambda claim: asymptotic_orders.extra_assumptions(claim, claim.explicit)
    assert beyond(of(eta <= 1)) == ([], [1.0, 0.1, 0.01])
    assert beyond(of(eta <= 1 / (2 * n))) == ([], [0.1, 0.01])
    assert beyond(of(eta <= 1 / n**2))[0] == ["eta <= 1/n^2"]
    assert ft.check(of(eta <= 1), budget=0.5).status == "holds"
    assert ft.check(of(eta <= 1 / n**2), budget=0.5).status != "holds"


def test_a_companion_does_not_tie_what_its_order_leaves_free():
    """y m = O(1 + 1/m) is false with y fixed; a companion that sets y = z/m shows it of another
    y."""
    companion = explicit(y * m, z, assumes=(Eq(y, z / m),))
    verdict = ft.check(order(y * m, 1 + 1 / m, explicit=companion), budget=1.0)
    assert verdict.status == "undecided" and "does not follow" in verdict.why
    tied = order(y * m, 1 + 1 / m, explicit=companion, regime=(Theta(y, 1 / m),))
    assert ft.check(tied, budget=1.0).status == "holds"


def test_a_step_that_a_companion_tunes_stays_within_the_regime():
    """eta = 1/n and eta = 1/n^2 are no steps of one order, though a coefficient c = 1/n makes them
    one."""
    companion = explicit(n * eta, n * eta, assumes=(Eq(eta, 1 / n**2),))
    claim = order(n * eta, 1 / n, regime=(Theta(eta, 1 / n),), explicit=companion)
    assert ft.check(claim, budget=0.5).status != "holds"


@pytest.mark.slow
def test_hypotheses_taken_from_mixed_theorem_b2_leave_it_without_support():
    """The companion assumes all three of them, of which the regime gives back the ceiling alone."""
    claim = ft.claim("mixed.theoremB2_nonconvex")
    companion = ft.claim("mixed.theoremB2_nonconvex_explicit")
    less = lambda *names: asymptotic_orders.extra_assumptions(claim.without(*names), companion)[0]
    assert less() == less("theorem B.2, eta") == []
    assert less("theorem B.2, eta_s") == ["eta_s >= sqrt(S)"]
    assert [text[:20] for text in less("independent_noise")] == ["noise is independent"]
    verdict = ft.check(
        claim.without("theorem B.2, eta_s", "theorem B.2, eta", "independent_noise"), budget=0.2
    )
    assert verdict.status == "undecided" and "assumes what it does not" in verdict.why


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixed.theoremB3_nonconvex", "mixed.table1_two_way_nonconvex"])
def test_mixed_theorem_b3_assumes_no_warm_start_and_its_companion_does(name):
    """Without one, rounds to a squared gradient of 1/4 grow with a slope p that neither beta nor F
    knows of: no support, and a family that refutes it."""
    claim = ft.claim(name)
    assert asymptotic_orders.extra_assumptions(claim, ft.claim(claim.explicit))[0] == [
        "the first transferred gradients are those at x^(0)"
    ]
    verdict = ft.check(name, budget=0.2)
    assert verdict.status == "violated"
    assert verdict.witness["moves"].keys() == {"first"}


def cold_rounds(p, eta):
    """Rounds of 2-way gradient transfer, K = 2, without noise and with no gradients to begin with,
    until the squared gradient of f is at most 1/4: f_f = x^2/2 + p x, f_c = Huber(x) - x^2/2 - p x,
    from 1."""
    huber = lambda x: max(-1.0, min(1.0, x))
    grad_f, grad_c = lambda x: x + p, lambda x: huber(x) - x - p
    x, given_f, given_c, t = 1.0, 0.0, 0.0, 0
    while huber(x) ** 2 > 0.25:
        sides = []
        for grad, other in ((grad_f, given_c), (grad_c, given_f)):
            y, total = x, 0.0
            for _ in range(2):
                g = grad(y)
                y, total = y - eta * (g + other), total + g
            sides.append((y, total / 2))
        (y_f, given_f), (y_c, given_c) = sides
        x, t = y_f + y_c - x, t + 1
    return t


def test_the_family_against_a_cold_start_is_what_it_is_said_to_be():
    """F = f(1) = 1/2 and beta = 1 whatever p is; rounds grow with p, which the shape does not
    know."""
    assert [cold_rounds(p, 1 / 96) for p in (1e4, 1e5, 1e6)] == [121, 1059, 10434]


def test_a_shape_that_is_0_where_the_left_side_is_not_has_no_constant():
    verdict = ft.check(order(z, w * z), budget=0.5)  # by hand: at w = 0 it says z <= 0
    assert verdict.status == "violated"
    assert ft.replay(json.loads(json.dumps(verdict.certificate)))["status"] == "violated"


def test_what_o_tilde_hides_is_one_factor():
    """n log(1 + n) is no multiple of n, and is one of n log(1 + n); n^2 is neither."""
    logs = sympy.log(1 + n)
    left = n * logs
    holds = lambda claim: ft.check(claim, budget=0.5).status == "holds"
    assert holds(order(left, n, logs=2 * logs, explicit=explicit(left, left)))
    assert str(order(left, n, logs=logs)).endswith("O~(n)")
    assert r"\tilde{\mathcal{O}}" in order(left, n, logs=logs).latex()
    verdict = ft.check(order(n**2, n, logs=logs), budget=1.0)
    assert verdict.status == "violated"
    assert ft.replay(verdict.certificate)["claim"] == "invented.order"


def test_a_count_that_a_regime_fixes_is_at_least_1():
    """m = c/n is no count from some n on: (m - 1)^2 = O(1/n^2) is asked where it is."""
    regime = (Theta(m, n**2),)
    left = (m - 1) ** 2
    claim = order(left, n**4, regime=regime, explicit=explicit(left, m**2))
    assert ft.check(claim, budget=0.5).status == "holds"


@pytest.mark.parametrize("case", ["strong", "convex", "nonconvex"])
def test_parallel_training_has_no_rounds_of_the_printed_order(case):
    """Noise of single paths is not averaged over the cohort; what stops the run is checked in
    tests/models/test_mixed_rounds.py."""
    claim = ft.claim(f"mixed.theoremB1_{case}")
    (setting,) = fitting(claim)
    document, _, _ = divergent_families.refute_order(claim, 0, setting, 5, 0)
    members = document["members"]
    assert {member["left"] for member in members} == {"infinite"}
    steps = [Fraction(member["numbers"]["c_order_1"]) for member in members]
    assert all(4 * after <= before for before, after in zip(steps, steps[1:]))
    assert check_family.check(document)["status"] == "violated"
    again = copy.deepcopy(document)
    again["members"] = [again["members"][0]] * len(members)  # one step size, however often
    again["digest"] = check_instance.digest_of(again)
    with pytest.raises(Refused):
        check_family.check(again)


def test_a_family_moves_the_unit_of_losses_and_the_rounds_at_once():
    """flex, corollary 3.2.1: a distance is compared with a loss, and V / (tau E + gamma) vanishes
    with the rounds."""
    claim = ft.claim("flex.corollary3_2_1_start")
    (setting,) = fitting(claim)
    document, moves, _ = divergent_families.refute_order(claim, 0, setting, 15, 0)
    assert len(moves) >= 3 and moves["tau"] == "1296"
    assert {moves[name] for name in moves if name.startswith("a_")} == {"1/1296"}
    assert check_family.check(document)["status"] == "violated"

"""Both lines of (2) in one round: with the summand that (1) never applies, and without."""

from fractions import Fraction as Q

from fedtheory.models.flex import round as flex_round


def test_a_round_by_hand():
    """One device, a = 1, x = 2, eta = 1/2: gradients 2 + 1, then 1/2 - 1, then (never applied) 3/4
    + 4."""
    instance = dict(
        scheme="C", E=4, s=[2], x=[Q(2)], a=[[Q(1)]], tilt=[[[Q(1)], [Q(-1)], [Q(4)]]], p=[Q(1)]
    )
    found = flex_round.measure_symbols(
        instance, dict(eta=Q(1, 2)), ["sq_gap_eq2", "sq_gap_printed", "sq_extra"]
    )
    # w: 2 -> 1/2 -> 3/4; p_tau = 4/2
    assert found == dict(
        sq_gap_eq2=0, sq_gap_printed=(Q(1, 2) * 2 * Q(19, 4)) ** 2, sq_extra=Q(19, 4) ** 2
    )
    assert flex_round.list_conditions(instance) == flex_round.ENSURES - {
        "full_work",
        "some_complete",
    }

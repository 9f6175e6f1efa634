"""Moments of participation laws: joint laws by enumeration against sums over independent devices,
and by hand."""

from fractions import Fraction as Q

import pytest

from fedtheory.models.flex import laws as flex_laws
from fedtheory.models.flex import run as flex_run
from fedtheory.models.flex import work_law
from fedtheory.participation import moments

P = [Q(1, 2), Q(3, 10), Q(1, 5)]
ROWS = dict(
    unlike=[[Q(1, 10), Q(1, 5), Q(7, 10)], [Q(0), Q(1, 3), Q(2, 3)], [Q(1, 2), Q(0), Q(1, 2)]],
    alike=[[Q(1, 4), Q(1, 4), Q(1, 2)]] * 3,
)


def joint(rows):
    found = [[Q(1), []]]
    for row in rows:
        found = [[q * chance, [*s, steps]] for q, s in found for steps, chance in enumerate(row)]
    return found


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("scheme", "ABC")
def test_independent_devices_both_ways(scheme, rows):
    Gamma, sigma_sq = [Q(1), Q(1, 3), Q(2)], [Q(4), Q(0), Q(1, 9)]
    slow = moments.of_rounds(scheme, P, joint(ROWS[rows]), 2, Gamma, sigma_sq, tau=5)
    quick = moments.moments(scheme, P, ROWS[rows], 2, Gamma, sigma_sq)
    both = set(slow) & set(quick)
    assert {"ps", "ps_plus", "p2s_sigma", "ratio_max", "p_inv"} <= both and ("E_s" in both) == (
        rows == "alike"
    )
    assert {name: slow[name] for name in both} == {name: quick[name] for name in both}
    assert slow["I_sum"] == 5 * (1 - Q(9, 10) * Q(1, 2) if rows == "unlike" else 1 - Q(27, 64))
    limit = moments.limit_weights(scheme, P, ROWS[rows], 2)
    instance = dict(
        scheme=scheme,
        E=2,
        law=joint(ROWS[rows]),
        k=2,
        s_k=1,
        tau=1,
        devices=dict(p=P, a=[Q(1)] * 3, b=[Q(0), Q(1), Q(3)], r=[Q(0)] * 3),
    )
    found = flex_laws.measure_symbols(
        instance,
        {},
        ["sq_bias", "limit_sq_dist", "gain_k"] + [f"limit_weight_{scheme}_k"] * (scheme != "C"),
    )
    best, end = (sum(w * b for w, b in zip(weights, (0, 1, 3))) for weights in (P, limit))
    assert found["limit_sq_dist"] == found["sq_bias"] == (end - best) ** 2 and found["gain_k"] == 2
    assert scheme == "C" or found[f"limit_weight_{scheme}_k"] == limit[1]


def test_a_joint_law_by_hand():
    """One of two devices works, never both: coefficients of scheme C are 2/s times the weight."""
    law = [[Q(1, 3), [2, 0]], [Q(2, 3), [0, 1]]]
    found = moments.of_rounds("C", [Q(1, 4), Q(3, 4)], law, 2, [Q(1), Q(5)], [Q(3), Q(7)], tau=4)
    assert found["ps"] == Q(1, 3) * Q(1, 4) * 2 + Q(2, 3) * Q(3, 2) and found["ratio_sup"] == 2
    assert found["ratio_min"] == Q(2, 3) and found["ratio_max"] == Q(4, 3) and found["I_sum"] == 4
    assert found["p2s_sigma"] == Q(1, 3) * Q(1, 16) * 2 * 3 + Q(2, 3) * Q(9, 4) * 7
    assert found["ps_Gamma"] == Q(1, 6) + 5 and found["p_inv"] == Q(1, 4) * Q(1, 6) + Q(3, 4) * Q(
        2, 3
    )
    assert moments.of_rounds(
        "A", [Q(1, 4), Q(3, 4)], law, 2, [0, 0], [0, 0], ["ps", "E_inv_K"]
    ) == dict(ps=1, E_inv_K=1)  # the round [0, 1] is discarded; p_tau^1 = 2 / 4, s = 2
    wide = moments.of_rounds("C", [Q(1, 2), Q(1, 2)], [[Q(1), [1, 1]]], 3, [0, 0], [0, 0])
    assert wide["p_plus"] == 1 and wide["ps_plus"] == 3 and wide["plus_A"] == 3


@pytest.mark.parametrize(
    "law, scheme, held",
    [
        (
            [[Q(1), [2, 2]]],
            "C",
            {"homogeneous", "devices_independent", "some_complete", "all_active", "full_work"},
        ),
        ([[Q(1, 2), [2, 0]], [Q(1, 2), [0, 2]]], "C", {"homogeneous", "some_complete"}),
        (
            [[Q(1, 2), [2, 1]], [Q(1, 2), [1, 1]]],
            "C",
            {"heterogeneous", "devices_independent", "all_active"},
        ),
        (
            [[Q(1, 2), [2, 1]], [Q(1, 2), [1, 1]]],
            "A",
            {"heterogeneous", "devices_independent", "all_active", "some_complete"},
        ),
        (
            [[Q(1), [1, 1]], [Q(0), [0, 2]]],
            "A",
            {"homogeneous", "devices_independent", "all_active"},
        ),
    ],
)
def test_what_a_law_meets(law, scheme, held):
    assert work_law.held_by_law(law, 2, scheme) == held


def test_no_law():
    assert (
        work_law.held_by_law([[Q(1, 2), [1]]], 2) is None
        and work_law.held_by_law([[Q(1), [3]]], 2) is None
    )
    assert work_law.held_by_law([[Q(3, 2), [1]], [Q(-1, 2), [2]]], 2) is None
    assert "E_inv_K" in flex_run.LAWS

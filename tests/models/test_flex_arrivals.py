"""Shifts of the minimiser, a run after one, and the arriving device's extra update, against hand
and dense numbers."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.arithmetic.operations import ends_of
from fedtheory.models.flex import arrivals as flex_arrivals
from fedtheory.models.flex import run as flex_run
from fedtheory.models.flex import shifted as flex_shifted


@pytest.mark.parametrize("event, n", [("arrival", 3), ("departure", 5)])
def test_how_far_the_minimiser_moves(event, n):
    """F at 0 with curvature 1 and 3 data points, F_l at 1 with curvature 2 and 2: p_l 2 / (p_l 2 +
    1 - p_l) = 4/7."""
    case = dict(event=event, n=[1, 2, 2], a=[[Q(1)], [Q(1)], [Q(2)]], b=[[Q(0)], [Q(0)], [Q(1)]])
    found = flex_arrivals.shift_constants(case)
    assert found["n"] == n and found["n_l"] == 2 and found["L"] == 2 and found["mu"] == 1
    assert flex_arrivals.shift_measure(case, found, ["shift"]) == dict(shift=Q(4, 7))
    mine, other = (
        ("Gamma_l", "tilde_Gamma_l") if event == "arrival" else ("tilde_Gamma_l", "Gamma_l")
    )
    assert found[mine] == 1 and found[other] == float(
        "inf"
    )  # F_l(0) - F_l(1), where the device is missing
    (model,) = (each for each in flex_arrivals.MODELS if each.name == f"flex_{event}")
    assert model.holds(case) and not model.holds(dict(case, n=[1, 2]))


def test_an_extra_update_by_dense_search():
    case = dict(
        bounds="both",
        a=[[Q(1), Q(3)], [Q(2), Q(1, 2)]],
        b=[[Q(0), Q(1)], [Q(2), Q(-1)]],
        p_l=Q(1, 3),
        w=[Q(1, 4), Q(5, 4)],
    )
    found = {
        **flex_arrivals.reboot_constants(case),
        **flex_arrivals.reboot_measure(case, {}, flex_arrivals.REBOOT),
    }
    a, a_l, b, b_l, w = (
        np.array([1, 3.0]),
        np.array([2, 0.5]),
        np.array([0, 1.0]),
        np.array([2, -1.0]),
        np.array([0.25, 1.25]),
    )
    A = 2 / 3 * a + a_l / 3
    new = (2 / 3 * a * b + a_l * b_l / 3) / A
    F_new = lambda x: (2 / 3 * (a * (x - b) ** 2).sum() + (a_l * (x - b_l) ** 2).sum() / 3) / 2
    g = a_l * (w - b_l)
    deltas = np.linspace(0, 2, 200_001)
    expected = dict(
        dist_old=np.linalg.norm(w - b),
        dist_new=np.linalg.norm(w - new),
        inner_l=g @ (w - new),
        gap_new=F_new(b) - F_new(new),
        Gamma_l=(a_l * (b - b_l) ** 2).sum() / 2,
        dist_reboot=np.sqrt(((w - new)[:, None] - np.outer(g, deltas)).T.__pow__(2).sum(1)).min(),
    )
    for name, value in expected.items():
        assert float(found[name]) == pytest.approx(value, rel=1e-8), name
    corners = np.array([[x, y] for x in (w[0], b[0], new[0]) for y in (w[1], b[1], new[1])])
    W = max(
        3,
        *(np.linalg.norm(a * (c - b)) for c in corners),
        *(np.linalg.norm(a_l * (c - b_l)) for c in corners),
    )
    assert float(found["W"]) == pytest.approx(W)
    assert float(flex_arrivals.reboot_constants(dict(case, bounds="old"))["W"]) < W
    assert flex_arrivals.reboot_holds(case) >= {"bounded_by_W", "bounded_by_W_l"}
    assert not {"bounded_by_W"} & flex_arrivals.reboot_holds(
        dict(case, w=case["b"][0])
    )  # grad F(w) = 0
    assert flex_arrivals.reboot_holds(dict(case, p_l=Q(1))) == frozenset()


def test_an_update_that_leads_away_is_best_left_out():
    case = dict(
        bounds="both", a=[[Q(1)], [Q(1)]], b=[[Q(0)], [Q(4)]], p_l=Q(1, 4), w=[Q(3)]
    )  # w~* = 1
    found = flex_arrivals.reboot_measure(case, {}, ["inner_l", "dist_new", "dist_reboot"])
    assert found["inner_l"] == -2 and found["dist_new"] == found["dist_reboot"] == 2


def test_the_sphere_needs_the_arriving_loss_bounded():
    """(7) with W of the old devices alone: the witness by hand."""
    verdict = ft.check(ft.claim("flex.corollary4_0_2").without("bounded_by_W_l"), budget=2)
    assert verdict.status == "violated"
    i = {
        k: [[Q(v) for v in row] for row in rows]
        for k, rows in verdict.witness["instance"].items()
        if k in "ab"
    }
    p, w = Q(verdict.witness["instance"]["p_l"]), [Q(v) for v in verdict.witness["instance"]["w"]]
    (a, a_l), (b, b_l) = i["a"], i["b"]
    new = [
        ((1 - p) * m * x + p * m_l * y) / ((1 - p) * m + p * m_l)
        for m, m_l, x, y in zip(a, a_l, b, b_l)
    ]
    assert sum(m * (x - y) * (x - z) for m, x, y, z in zip(a_l, w, b_l, new)) <= 0


def test_after_a_shift_the_run_is_one_from_the_start():
    """tau - tau_0 rounds of the new devices, as flex_run has them."""
    devices = dict(a=[Q(1), Q(2)], b=[Q(0), Q(1)], r=[Q(1, 3), Q(0)], p=[Q(1, 4), Q(3, 4)])
    shifted = dict(
        E=2,
        tau_0=7,
        rounds=2,
        event="arrival",
        n=[1, 3],
        devices=devices,
        x=Q(2),
        law=[[Q(1), [2, 1]]],
        span=[Q(-3), Q(4)],
    )
    known = flex_shifted.after_constants(shifted)
    assert (
        known["Delta"] == 4 and known["tau"] == 9 and known["n"] == 1 and known["shift"] == Q(6, 7)
    )
    again = dict(
        scheme="C", E=2, tau=2, devices=devices, law=shifted["law"], x=Q(2), span=shifted["span"]
    )
    same = flex_run.derive_constants(again)
    assert all(known[f"tilde_{name}"] == same[name] for name in flex_shifted.AFTER)
    values = dict(known, eta=Q(1, 90))
    assert (
        flex_shifted.after_measure(shifted, values, ["sq_dist_new"])["sq_dist_new"]
        == flex_run.measure_symbols(again, dict(same, eta=Q(1, 90)), ["sq_dist"])["sq_dist"]
    )
    gone = dict(shifted, event="departure", law=[[Q(1), [2]]])
    assert (
        flex_shifted.after_constants(gone)["Delta"] == Q(8, 7) ** 2
        and flex_shifted.after_constants(gone)["n"] == 4
    )
    assert flex_shifted.held_after(gone)
    assert not flex_shifted.held_after(dict(gone, law=shifted["law"]))


def test_before_an_arrival_points_stay_where_gradients_are_bounded():
    devices = dict(a=[Q(1), Q(2)], b=[Q(0), Q(1)], r=[Q(1, 3), Q(4)], p=[Q(1, 4), Q(3, 4)])
    case = dict(
        E=1,
        tau_0=0,
        rounds=1,
        event="arrival",
        n=[1, 3],
        devices=devices,
        x=Q(2),
        law=[[Q(1), [1]]],
        span=[Q(0), Q(0)],
    )
    assert flex_shifted.before_span(case) == [-1, 3]
    low, high = ends_of(flex_shifted.before_constants(case)["G"])
    assert low**2 <= 4 * 4 + 16 <= high**2  # device 2 at 3 or -1: gradient 4, noise 4

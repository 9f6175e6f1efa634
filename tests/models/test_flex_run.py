"""Runs of flex on quadratics: exact moments against every path, one by one; the interval that
points reach; limits."""

from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest
from sympy import Eq, Rational

import fedtheory as ft
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many
from fedtheory.models import fitting
from fedtheory.models.flex import quadratics
from fedtheory.models.flex import run as flex_run
from fedtheory.participation import moments

DEVICES = dict(a=[Q(1), Q(5, 2)], b=[Q(-1), Q(2)], r=[Q(1, 2), Q(1)], p=[Q(1, 3), Q(2, 3)])
LAW = [[Q(1, 2), [2, 1]], [Q(1, 3), [0, 2]], [Q(1, 6), [1, 0]]]


def instance(scheme, span=(Q(-5), Q(5)), law=LAW, tau=2):
    return dict(scheme=scheme, E=2, tau=tau, devices=DEVICES, law=law, x=Q(3, 2), span=list(span))


def paths(case, etas):
    """Every way a run can go: [(probability, last point, gradients' points)], rounds without
    coefficients left out."""
    a, b, r, p = (case["devices"][name] for name in "abrp")
    rounds = [(q, moments.coefficients(case["scheme"], p, s, case["E"]), s) for q, s in case["law"]]
    rounds = [(q, c, s) for q, c, s in rounds if c is not None]
    total = sum(q for q, _, _ in rounds)
    found = [(Q(1), case["x"], ())]
    for eta in etas:
        longer = []
        for chance, x, seen in found:
            for q, c, s in rounds:
                for signs in product((-1, 1), repeat=sum(s)):
                    signs, w, more = list(signs), x, []
                    for k, steps in enumerate(s):
                        y = x
                        for _ in range(steps):
                            more.append(y)
                            y = y - eta * (a[k] * (y - b[k]) + signs.pop() * r[k])
                        w = w + c[k] * (y - x)
                    longer.append((chance * q / total / 2 ** sum(s), w, (*seen, *more)))
        found = longer
    return found


def rates(case, L, mu, theta):
    """The theorem's, transcribed once more."""
    found = moments.of_rounds(case["scheme"], DEVICES["p"], case["law"], 2, [0, 0], [0, 0], ["ps"])[
        "ps"
    ]
    gamma = max(32 * 2 * (1 + theta) * L / (mu * found), 16 * theta / found)
    return [16 * 2 / (mu * found) / (2 * t + gamma) for t in range(case["tau"] + 1)]


@pytest.mark.parametrize("scheme", "ABC")
def test_exact_moments_are_those_of_all_paths(scheme):
    case = instance(scheme)
    etas = rates(case, Q(5, 2), Q(1), 2)
    every = paths(case, etas[:2])
    assert sum(q for q, _, _ in every) == 1
    best = (DEVICES["p"][0] * -1 + DEVICES["p"][1] * 5) / (
        DEVICES["p"][0] + DEVICES["p"][1] * Q(5, 2)
    )
    values = dict(flex_run.derive_constants(case), eta=etas[2])
    assert values["sq_dist_0"] == (case["x"] - best) ** 2
    found = flex_run.measure_symbols(case, values, ["sq_dist_new"])["sq_dist_new"]
    assert found == sum(q * (w - best) ** 2 for q, w, _ in every)
    ends = [w for _, w, _ in every]
    visited = [y for _, _, seen in every for y in seen] + ends
    state = quadratics.start(case["x"], case["span"])
    for eta in etas[:2]:
        state = quadratics.one_round(
            state, DEVICES, moments.rounds_of(scheme, DEVICES["p"], LAW, 2), eta, 2, case["span"]
        )
    assert state[2:4] == (min(ends), max(ends)) and state[4] <= min(
        min(visited) + 5, 5 - max(visited)
    )
    assert values["G"] ** 2 >= max(
        a * a * (y - b) ** 2 + r * r
        for a, b, r in zip(*(DEVICES[n] for n in "abr"))
        for y in visited
    )


def test_points_that_leave_the_set_leave_no_number():
    narrow = instance("C", span=(Q(149, 100), Q(151, 100)))
    with pytest.raises(Undefined):
        flex_run.measure_symbols(narrow, dict(eta=Q(1, 50), mu=Q(1)), ["sq_dist_new"])
    batch = dict(narrow, x=Many(np.array([1.5])))
    assert np.isnan(
        flex_run.measure_symbols(batch, dict(eta=Many(np.array([0.02])), mu=1.0), ["sq_dist_new"])[
            "sq_dist"
        ].at
    )
    assert "second_moment" in flex_run.conditions_held(narrow) and not {
        "second_moment",
        "stays",
    } & flex_run.conditions_held(dict(narrow, span=[]))
    assert flex_run.derive_constants(dict(narrow, span=[]))["G"] == float("inf")


def test_the_learning_rate_goes_back_to_the_start():
    case = instance("B")
    assert (
        quadratics.staircase(
            rates(case, Q(5, 2), Q(1), 1)[2], flex_run.derive_constants(case)["ps"], Q(1), 2
        )
        == rates(case, Q(5, 2), Q(1), 1)[:2]
    )
    with pytest.raises(Undefined):
        quadratics.staircase(Q(100), Q(1), Q(1), 1)


@pytest.mark.parametrize(
    "name, place",
    [
        ("flex.theorem3_1", "theorem 3.1, learning rate"),
        ("flex.corollary3_2_1", "learning rate"),
        ("flex.table1_A_hom_explicit", "learning rate"),
        ("flex.table1_B_hom_explicit", "learning rate"),
        ("flex.table1_C_hom_explicit", "learning rate"),
        ("flex.fedavg_special", "learning rate"),
    ],
)
def test_runs_go_at_the_rate_that_is_prescribed_or_not_at_all(name, place):
    claim = ft.claim(name)
    own = [*claim.assumes, *claim.unstated]
    eta = claim.table["eta"].symbol
    rate = next(a for a in own if isinstance(a.relation, Eq) and a.relation.lhs == eta)
    assert place in rate.where and fitting(claim)
    for factor in (Rational(1, 2), 2, claim.table["E"].symbol):
        other = claim.replace(
            "x",
            assumptions=[*(a for a in own if a is not rate), Eq(eta, factor * rate.relation.rhs)],
        )
        assert fitting(other) == []
    assert "step sizes" in ft.check(other, budget=0.1).why
    constant = claim.replace(
        "x", assumptions=[*(a for a in own if a is not rate), Eq(eta, 1 / claim.table["L"].symbol)]
    )
    assert fitting(constant) == []


def test_a_limit_outside_the_set_leaves_no_number():
    """The bound on gradients (A3.4) speaks of all rounds, those to come included."""
    law = [[Q(1), [2, 1]]]
    limit = flex_run.measure_symbols(instance("B", law=law), {}, ["limit_sq_dist"])["limit_sq_dist"]
    assert (
        limit > 0
        and flex_run.measure_symbols(instance("B", span=(), law=law), {}, ["limit_sq_dist"])[
            "limit_sq_dist"
        ]
        == limit
    )
    with pytest.raises(Undefined):
        flex_run.measure_symbols(
            instance("B", span=(Q(7, 5), Q(8, 5)), law=law), {}, ["limit_sq_dist"]
        )


@pytest.mark.parametrize("scheme", "ABC")
def test_long_runs_end_at_the_limit(scheme):
    """What is missing falls like 1/tau."""
    law = [[Q(1, 2), [2, 1]], [Q(1, 6), [0, 2]], [Q(1, 3), [1, 0]]]
    limit = float(
        flex_run.measure_symbols(instance(scheme, law=law), {}, ["limit_sq_dist"])["limit_sq_dist"]
    )
    floats = {name: [float(v) for v in values] for name, values in DEVICES.items()}
    rounds = [
        (float(q), [float(w) for w in c], s)
        for q, c, s in moments.rounds_of(scheme, DEVICES["p"], law, 2)
    ]
    state, missing = (1.5, 2.25, 1.5, 1.5, None), {}
    for t in range(8000):
        state = quadratics.one_round(state, floats, rounds, 16 / (t + 200), 2, [])
        missing[t + 201] = (
            quadratics.sq_distance(state, float(quadratics.minimiser(DEVICES))) - limit
        )
    assert limit > 1e-3 and abs(missing[8200]) < limit
    assert missing[8200] * 8200 == pytest.approx(missing[4100] * 4100, rel=0.03)


def test_full_work_without_noise_is_fedavg():
    case = dict(instance("B", law=[[Q(1), [2, 2]]], tau=3), devices=dict(DEVICES, r=[Q(0), Q(0)]))
    etas = rates(case, Q(5, 2), Q(1), 1)
    x = 1.5
    for eta in etas[:3]:
        ends = []
        for a, b in zip(DEVICES["a"], DEVICES["b"]):
            y = x
            for _ in range(2):
                y -= float(eta * a) * (y - float(b))
            ends.append(y)
        x = float(DEVICES["p"][0]) * ends[0] + float(DEVICES["p"][1]) * ends[1]
    found = flex_run.measure_symbols(
        case, dict(flex_run.derive_constants(case), eta=etas[3]), ["sq_dist_new"]
    )["sq_dist"]
    assert float(found) == pytest.approx((x - float(quadratics.minimiser(DEVICES))) ** 2, rel=1e-12)


def test_an_idle_device_makes_the_limit_as_far_as_it_gets():
    """Device 2 never works: the end is b_1, and ||b_1 - w*||^2 = 2 Gamma / mu, 1/32 of D/E."""
    case = dict(
        instance("B", law=[[Q(1), [1, 0]]]),
        devices=dict(a=[Q(1), Q(1)], b=[Q(0), Q(1)], r=[Q(0)] * 2, p=[Q(1, 2)] * 2),
    )
    known = flex_run.derive_constants(case)
    end = flex_run.measure_symbols(case, known, ["limit_sq_dist"])["limit_sq_dist"]
    claim = ft.claim("flex.suboptimal_DE")
    D_E = claim.evaluate(
        {
            **{
                k: known[k]
                for k in ("E", "mu", "ps", "ps_Gamma", "ratio_min", "ratio_max", "L", "ratio_sup")
            },
            "theta": 1,
            "tau": 1,
            "eta": Q(16 * 2, 1) / (Q(1, 2)) / (2 + 256),
        },
        strict=False,
    )
    assert end == Q(1, 4) and D_E.exact == 32 * end

"""What excluding a departed device does to the loss at the deadline, recomputed by hand; and times
by bisection."""

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many, ends_of
from fedtheory.models.flex import departures as flex_departures


def theorem(p, a, b, L, mu, G, work, start):
    """gamma, D, V of theorem 3.1 with E = 1, no noise, `work` of each device (0 or 1), theta = 1,
    as printed."""
    best = sum(w * m * x for w, m, x in zip(p, a, b)) / sum(w * m for w, m in zip(p, a))
    Gamma = [m * (best - x) ** 2 / 2 for m, x in zip(a, b)]
    ps = sum(w * s for w, s in zip(p, work))
    psG = sum(w * s * g for w, s, g in zip(p, work, Gamma))
    gamma = max(Q(64) * L / (mu * ps), Q(4) / ps)
    B = 6 * L * psG + 2 * G**2 * ps  # (p_tau)^2 / p = p where s = 1
    return dict(
        ps=ps,
        gamma=gamma,
        D=64 * psG / (mu * ps),
        V=max(gamma**2 * start(best), (16 / (mu * ps)) ** 2 * B),
        best=best,
    )


def test_excluding_a_device_can_cost_training_loss_though_8_holds():
    """All devices do all their work, without noise; device 3 leaves after round 3 of 6. At w_0 =
    w*."""
    a, b, p = [Q(1), Q(5), Q(1)], [Q(-1), Q(1, 2), Q(0)], [Q(3, 8), Q(1, 2), Q(1, 8)]
    case = dict(
        E=1,
        tau_0=3,
        T=6,
        devices=dict(a=a, b=b, r=[Q(0)] * 3, p=p),
        x=Q(0),
        law=[[Q(1), [1, 1, 1]]],
        span=[Q(0), Q(1)],
    )
    step = lambda w, eta, p, k: w - eta * sum(p[j] * a[j] * (w - b[j]) for j in range(k))
    best = (p[0] * -1 + p[1] * Q(5, 2)) / (p[0] + 5 * p[1] + p[2])
    G = max(m * abs(end - x) for m, x in zip(a, b) for end in case["span"])
    kept = theorem(p, a, b, Q(5), Q(1), G, [1, 1, 1], lambda best: best**2)
    w = Q(0)
    for t in range(3):
        w = step(w, 16 / (t + kept["gamma"]), p, 3)
    q = [Q(3, 7), Q(4, 7)]
    new = theorem(
        q, a, b, Q(5), Q(1), G, [1, 1], lambda other: (abs(w - best) + abs(best - other)) ** 2
    )
    included = excluded = w
    points = [w]
    for t in range(3, 6):
        included = step(included, 16 / (kept["ps"] * (t + kept["gamma"])), p, 2)
        excluded = step(excluded, 16 / (new["ps"] * (t - 3 + new["gamma"])), q, 2)
        points += [included, excluded]
    assert all(0 <= x <= 1 for x in points)
    # (8), with D before and after the departure
    gone = theorem(p, a, b, Q(5), Q(1), G, [1, 1, 0], lambda best: best**2)
    f_1 = new["V"] / (6 - 3 + new["gamma"])
    eight = min(kept["V"] / (3 + kept["gamma"]), kept["D"], gone["D"]) >= f_1
    F = lambda x: sum(w * m * (x - y) ** 2 for w, m, y in zip(p, a, b)) / 2
    F_new = lambda x: sum(w * m * (x - y) ** 2 for w, m, y in zip(q, a, b)) / 2
    losses = dict(
        loss_included=F(included) - F(best), loss_excluded=F_new(excluded) - F_new(new["best"])
    )
    known = flex_departures.derive_constants(case)
    assert (
        known["V_0"] == kept["V"] and known["gamma_0"] == kept["gamma"] and known["V_1"] == new["V"]
    )
    assert (
        known["gamma_1"] == new["gamma"]
        and known["D_0"] == min(kept["D"], gone["D"])
        and known["G"] == G
    )
    assert flex_departures.measure_symbols(case, known, list(losses)) == losses
    assert eight and losses["loss_excluded"] > losses["loss_included"]


def test_a_point_outside_the_set_has_no_loss():
    case = dict(
        E=1,
        tau_0=1,
        T=2,
        devices=dict(a=[Q(1)] * 2, b=[Q(0), Q(1)], r=[Q(0)] * 2, p=[Q(1, 2)] * 2),
        x=Q(2),
        law=[[Q(1), [1, 1]]],
        span=[Q(2), Q(3)],
    )
    with pytest.raises(Undefined):
        flex_departures.measure_symbols(
            case, flex_departures.derive_constants(case), ["loss_included"]
        )
    assert not flex_departures.conditions_held(
        dict(case, T=1)
    ) and "stays" in flex_departures.conditions_held(case)


@pytest.mark.parametrize(
    "V_0, gamma_0, D_0, V_1, tau_0, E, delay, at_T",
    [
        (1, 1, 1, 5, 0, 1, 4, 4),  # f_0 = 1; f_1 = 5 / (x + 1)
        (
            1,
            Q(1, 3),
            1,
            3,
            0,
            1,
            Q(8, 3),
            2,
        ),  # f_0 from 3 to 1; f_1 = 3 / (x + 1/3) is 1 at 8/3; 3 = x + 1 at 2
        (8, 2, 1, 4, 1, 2, 3, None),  # f_0 from 2 to 1/2: 4 / (2 x + 2) = 1/2 at 3
        (8, 2, 8, 1, 1, 2, 0, 0),  # already so
    ],
)
def test_times_by_hand(V_0, gamma_0, D_0, V_1, tau_0, E, delay, at_T):
    values = {
        name: Q(v)
        for name, v in dict(
            V_0=V_0, gamma_0=gamma_0, D_0=D_0, V_1=V_1, gamma_1=gamma_0, tau_0=tau_0, E=E
        ).items()
    }
    found = flex_departures.delays({}, values, ["delay", "delay_at_T"])
    many = flex_departures.delays(
        {},
        {name: Many(np.array([float(v)])) for name, v in values.items()},
        ["delay", "delay_at_T"],
    )
    for name, expected in (("delay", delay), ("delay_at_T", at_T)):
        if expected is not None:
            low, high = ends_of(found[name])
            assert low <= expected <= high and high - low < Q(1, 2**300)
            assert many[name].at == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


def test_no_time_at_all():
    """D = 0: f_0 falls to 0, and no f_1 stays below it."""
    values = {
        name: Q(v)
        for name, v in dict(V_0=1, gamma_0=1, D_0=0, V_1=5, gamma_1=1, tau_0=0, E=1).items()
    }
    with pytest.raises(Undefined):
        flex_departures.delays({}, values, ["delay"])
    assert np.isnan(
        flex_departures.delays(
            {}, {n: Many(np.array([float(v)])) for n, v in values.items()}, ["delay"]
        )["delay"].at
    )

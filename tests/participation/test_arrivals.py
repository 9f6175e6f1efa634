"""Arrivals and departures shift the objective, its minimiser and the coefficients; a fast reboot
boosts an arrival."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.participation import Arrival, Departure, Participation, staircase

from ..algorithms.rational import PLANE, START, close, vector

E = 3


def rounds_of(f, rounds, eta, members, boost=lambda t: {}, working=None):
    """Scheme B by hand: p over the members of round t, boosted; idle devices, s = 0, do not
    move."""
    path = [vector(START)]
    for t in range(rounds):
        here = members(t)
        total = sum(f.p[k] for k in here)
        x = path[-1]
        path.append(
            x
            + sum(
                f.p[k] / total * boost(t).get(k, 1) * (f.walk(k, x, eta, E) - x)
                for k in here
                if working is None or k in working(t)
            )
        )
    return path


def run(part, rounds, **kw):
    return PLANE.run("flex_b", rounds, START, eta=0.125, E=E, participation=part, **kw)


def test_an_arrival_joins_the_objective_when_it_comes():
    part = Participation("full", arrivals=(Arrival(3, 2),))
    x = run(part, 5)
    assert close(x, rounds_of(PLANE, 5, Q(1, 8), lambda t: [1, 2, 4] if t < 2 else [1, 2, 3, 4]))
    assert not close(
        x, rounds_of(PLANE, 5, Q(1, 8), lambda t: [1, 2, 4] if t < 3 else [1, 2, 3, 4])
    )


def test_a_fast_reboot_starts_at_three_times_the_coefficient_and_fades():
    """Section 5.3: p^l_tau = 3 p^l at first, back to p^l as tau^-2: boost = 2."""
    part = Participation("full", arrivals=(Arrival(3, 1, boost=2.0),))
    boost = lambda t: {3: 1 + Q(2, (1 + t - 1) ** 2)} if t >= 1 else {}
    assert close(
        run(part, 5),
        rounds_of(PLANE, 5, Q(1, 8), lambda t: [1, 2, 4] if t < 1 else [1, 2, 3, 4], boost),
    )
    shares = part.shares(PLANE.problem.weights, 0, 5)
    np.testing.assert_allclose(
        shares[:, 3] / PLANE.problem.weights[3], [1, 3, 1 + 2 / 4, 1 + 2 / 9, 1 + 2 / 16]
    )
    np.testing.assert_array_equal(
        shares[:, [1, 2, 4]], np.tile(PLANE.problem.weights[[1, 2, 4]], (5, 1))
    )
    np.testing.assert_array_equal(shares[:, 0], [0, 1, 1, 1, 1])  # weights are new in these rounds
    np.testing.assert_array_equal(part.shares(PLANE.problem.weights, 3, 2), shares[3:])


def test_an_excluded_departure_shifts_the_objective_an_included_one_only_stops_working():
    gone = Participation("full", departures=(Departure(2, 2),))
    assert close(
        run(gone, 5), rounds_of(PLANE, 5, Q(1, 8), lambda t: [1, 2, 3, 4] if t < 2 else [1, 3, 4])
    )
    kept = Participation("full", departures=(Departure(2, 2, exclude=False),))
    everyone, working = lambda t: [1, 2, 3, 4], lambda t: [1, 2, 3, 4] if t < 2 else [1, 3, 4]
    assert close(run(kept, 5), rounds_of(PLANE, 5, Q(1, 8), everyone, working=working))


def test_the_round_it_ends_in_depends_on_the_objective():
    """Excluded: the minimiser over who stays. Included, scheme B: the same point, since p^2 only
    drops out; what is measured differs."""
    left = PLANE.minimizer(weights=[0, *(p * (k != 2) for k, p in enumerate(PLANE.p) if k)]).astype(
        float
    )
    for exclude in (True, False):
        part = Participation("full", departures=(Departure(2, 5, exclude),))
        r = ft.run(
            PLANE.problem,
            "flex_b",
            rounds=800,
            x_0=np.array(START),
            eta=0.125,
            E=1,
            participation=part,
            metrics=("sq_distance",),
        )
        np.testing.assert_allclose(r.final[0], left, rtol=1e-10)
        distance = r.metrics["sq_distance"][0, -1]
        assert distance < 1e-18 if exclude else distance > 0.1


def test_metrics_follow_the_objective_of_their_round():
    part = Participation("full", arrivals=(Arrival(3, 2),), departures=(Departure(1, 4),))
    r = ft.run(
        PLANE.problem,
        "flex_b",
        rounds=6,
        x_0=np.array(START),
        eta=0.125,
        E=E,
        participation=part,
        keep="x",
        metrics=("loss", "sq_grad_norm"),
    )
    members = (
        [[1, 2, 4]] * 3 + [[1, 2, 3, 4]] * 2 + [[2, 3, 4]] * 2
    )  # before the first round, then after each
    for x, loss, square, there in zip(
        r.x[0], r.metrics["loss"][0], r.metrics["sq_grad_norm"][0], members
    ):
        weights = PLANE.problem.weights[there] / PLANE.problem.weights[there].sum()
        value = sum(w * PLANE.problem.client_loss(i, x) for w, i in zip(weights, there))
        assert loss == pytest.approx(value, rel=1e-12)
        gradient = sum(w * PLANE.problem.client_grad(i, x) for w, i in zip(weights, there))
        assert square == pytest.approx(gradient @ gradient, rel=1e-10, abs=1e-20)


@pytest.mark.parametrize("chunk", [1, 2, 5])
def test_shifts_do_not_depend_on_chunks(chunk):
    part = Participation(
        arrivals=(Arrival(3, 2, boost=2.0),), departures=(Departure(1, 5), Departure(4, 7, False))
    )
    common = dict(rounds=9, x_0=np.array(START), eta=0.125, E=E, participation=part, keep="x")
    np.testing.assert_array_equal(
        ft.run(PLANE.problem, "flex_a", chunk=chunk, **common).x,
        ft.run(PLANE.problem, "flex_a", chunk=9, **common).x,
    )


def test_draws_know_who_is_there():
    part = Participation(
        "full", arrivals=(Arrival(2, 3),), departures=(Departure(1, 5, exclude=False),)
    )
    work = part.draw(0, np.arange(2), 0, 8, 3, np.full(8, E), 3)[1]
    for t in range(8):
        assert work[0, t].tolist() == work[1, t].tolist() == [E * (t < 5), E * (t >= 3), E]
    assert part.shifts == [0, 3, 5] and part.restarts == [3]


def test_the_learning_rate_restarts_help_an_arrival():
    """Flex, corollary 3.2.1: without a restart the staircase is too small to reach the new
    minimiser."""
    rounds, shift = 400, 300
    part = Participation("full", arrivals=(Arrival(3, shift),))
    gap = {}
    for name, shifts in (("restart", part.restarts), ("none", ())):
        eta = staircase(1.0, rounds, shifts, offset=8.0)
        x = PLANE.run("flex_c", rounds, START, eta=eta, E=E, participation=part)[-1]
        gap[name] = np.linalg.norm(x - PLANE.minimizer().astype(float))
    assert gap["restart"] < 0.1 * gap["none"]


@pytest.mark.parametrize(
    "part, words",
    [
        (Participation(arrivals=(Arrival(5, 1),)), "Arrival needs a client 1..4; got 5"),
        (Participation(arrivals=(Arrival(1.5, 1),)), "Arrival needs a client 1..4; got 1.5"),
        (
            Participation(departures=(Departure(1, -1),)),
            "Departure needs an integer round >= 0; got -1",
        ),
        (
            Participation(departures=(Departure(1, 2.5),)),
            "Departure needs an integer round >= 0; got 2.5",
        ),
        (
            Participation(arrivals=(Arrival(1, 1, -2.0),)),
            "Arrival: boost must be a finite number >= 0; got -2.0",
        ),
        (
            Participation(arrivals=(Arrival(1, 1, np.nan),)),
            "Arrival: boost must be a finite number >= 0; got nan",
        ),
        (
            Participation(arrivals=(Arrival(1, 1), Arrival(1, 2))),
            "Arrival may name a client once; got 1",
        ),
        (
            Participation(arrivals=(Arrival(1, 4),), departures=(Departure(1, 4),)),
            "must come after its arrival at 4",
        ),
        (
            Participation(departures=tuple(Departure(i, 3) for i in range(1, 5))),
            "leave the objective a client in round 3",
        ),
        (
            Participation(arrivals=tuple(Arrival(i, 3) for i in range(1, 5))),
            "leave the objective a client in round 0",
        ),
    ],
)
def test_impossible_events_are_refused(part, words):
    with pytest.raises(InvalidInput, match=words):
        ft.run(PLANE.problem, "flex_b", rounds=5, eta=0.1, participation=part)

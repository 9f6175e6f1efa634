"""Rounds to an error, enclosed: what is said to have no end, or to take so many rounds, against runs
that are simulated by definitions typed anew."""

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.arithmetic.intervals import INF
from fedtheory.models.families import two_point
from fedtheory.models.losses import curve_from_pieces
from fedtheory.models.mixed import rounds

METHODS = {setting.algorithms[0]: setting for setting in rounds.MODELS}
# f_f = f_c has curvature 2 left of 1/2 and 1 right of it, and is lowest at 0.
KINKED = [curve_from_pieces([Q(2), Q(1)], [Q(1, 2)])]
STEPS = dict(eta=Q(1, 200), eta_s=Q(1), eta_c=Q(1, 200), eta_m=Q(1))


def kinked(S, sigma=8000, K=2):
    return dict(
        losses=[KINKED, KINKED],
        x=[Q(1)],
        smooth="each",
        K=K,
        S=Q(S),
        noise=two_point(Q(sigma), "even", 1),
        B=Q(1),
    )


def slope(x):
    return np.where(x < 0.5, 2 * x, x + 0.5)


def loss(x):
    return 2 * np.where(x < 0.5, x**2, x**2 / 2 + x / 2 - 1 / 8)


def walked(S, sigma, T, trials, K=2):
    """Points x^(0), ..., x^(T) of parallel training, by the text: at each client of a cohort of S, of
    which so many draw +sigma first, y <- y - eta (g(y) + n), and the same at the center without
    noise; deltas are averaged over the cohort, and both added."""
    rng, x, path, eta = np.random.default_rng(0), np.ones(trials), [], 1 / 200
    for _ in range(T):
        path.append(x)
        up = rng.binomial(S, 0.5, trials) / S  # share of clients whose first noise is +sigma
        last = (2 * rng.binomial(S, 0.5, trials) / S - 1) * sigma  # mean of their last noise
        delta = -eta * last if K > 1 else 0.0
        for share, noise in ((up, sigma), (1 - up, -sigma)):
            y = x - eta * (slope(x) + noise)
            delta = delta + share * (y - eta * slope(y) * (K > 1) - x)
        w = x - eta * slope(x)
        x = x + delta + (w - eta * slope(w) * (K > 1) - x)
    return np.array([*path, x])


def asked(method, case, **errors):
    setting = METHODS[method]
    wanted = ["rounds_grad"] if "eps_grad" in errors else ["rounds"]
    values = {**setting.constants(case), **STEPS, **errors}
    return setting.measure(case, values, wanted)[wanted[0]]


def test_noise_of_single_paths_keeps_parallel_training_from_an_error():
    """However large the cohort: half of the second gradients are taken where f_f is less steep than
    it is on the way back, and their mean stands still right of 1."""
    S = 10**9
    assert asked("parallel_training", kinked(S), eps=Q(1)).low == INF
    assert asked("parallel_training", kinked(S), eps_grad=Q(1)).low == INF
    path = walked(S, 8000, 3000, 20)
    assert (loss(path.mean(axis=0)).mean() > 1) and (loss(path[-1]).mean() > 1)
    assert ((2 * slope(path)) ** 2).mean(axis=1).min() > 1


def test_nothing_is_said_where_an_error_can_be_reached():
    for case, eps in (
        (kinked(10**9, K=1), Q(1)),  # no drift
        (kinked(10**9, sigma=1), Q(1)),  # noise that reaches no kink
        (kinked(10), Q(1)),  # a cohort too small to tell
        (kinked(10**9), Q(100)),  # an error that is met at the start
    ):
        found = asked("parallel_training", case, eps=eps)
        assert (found.low, found.high) == (0, INF), case
    assert loss(walked(10**9, 1, 3000, 5)[-1]).mean() < 1e-3


def clipped(push):
    """f_f = f_c, flat beyond 1 on both sides of 0, and gradients given for the first round."""
    curve = curve_from_pieces([Q(0), Q(1), Q(0)], [Q(-1), Q(1)], Q(-1))
    return dict(
        losses=[[curve], [curve]],
        x=[Q(2)],
        smooth="each",
        K=2,
        S=Q(1),
        noise=[],
        first=[[Q(-push)], [Q(-push)]],
    )


def thrown(push, T):
    """x^(0), ..., x^(T) of 2-way gradient transfer on two clipped losses, by the text."""
    g, x, u, v, eta, path = (lambda y: max(-1.0, min(1.0, y))), 2.0, -push, -push, 1 / 200, []
    for _ in range(T):
        path.append(x)
        y = w = x
        a = b = 0.0
        for _ in range(2):
            a, y = a + g(y) / 2, y - eta * (g(y) + u)
            b, w = b + g(w) / 2, w - eta * (g(w) + v)
        x, u, v = y + w - x, b, a
    return np.array([*path, x])


@pytest.mark.parametrize("push", [1000, 4000])
def test_two_way_gradient_transfer_takes_as_long_as_its_first_gradients_are_large(push):
    path = thrown(float(push), 60 * push)
    least = asked("two_way_gt", clipped(push), eps_grad=Q(1)).low
    first = np.argmax((2 * np.clip(path, -1, 1)) ** 2 <= 1)
    assert first / 2 <= least <= first
    means = np.cumsum(path) / np.arange(1, len(path) + 1)
    far = np.where(means < 1, means**2, 2 * means - 1)
    least = asked("two_way_gt", clipped(push), eps=Q(1, 2)).low
    assert push / 4 <= least <= 1 + np.max(np.nonzero(far > 1 / 2))

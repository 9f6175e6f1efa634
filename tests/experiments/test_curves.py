"""What is read off a curve, by hand."""

import numpy as np
import pytest

from fedtheory.experiments import _curves


def test_rolling_is_a_mean_of_the_last():
    assert _curves.rolling_mean([0, 2, 4, 6], 0.5).tolist() == [0, 1, 3, 5]
    assert _curves.rolling_mean([3.0], 0.02).tolist() == [3]


def test_a_ramp():
    """0, .01, .., 1: the window of 2 % is 2 of 101, so the end is .995, and .8955 is reached at the
    mean of .89 and .90, nowhere before .90 and .91 in fact: .895 < .8955."""
    ramp = np.linspace(0, 1, 101)
    assert _curves.final_mean(ramp) == pytest.approx(0.995)
    assert _curves.rounds_to_goal(ramp) == pytest.approx(0.91)
    assert _curves.rounds_to_goal(ramp, 0.5) == pytest.approx(0.51)
    assert _curves.rounds_to_goal(ramp, 2.0) == np.inf
    assert _curves.early_mean(ramp) == pytest.approx(ramp[:10].mean())


def test_oscillation_is_what_the_mean_takes_away():
    still, wave = np.full(200, 0.5), 0.5 + 0.1 * (-1.0) ** np.arange(200)
    assert _curves.curve_oscillation(still) == 0
    assert _curves.curve_oscillation(wave) == pytest.approx(0.1, rel=0.15)
    assert _curves.final_mean(np.full(9, np.nan)) != _curves.final_mean(np.full(9, np.nan))
    assert _curves.rounds_to_goal(np.full(9, np.nan)) == np.inf

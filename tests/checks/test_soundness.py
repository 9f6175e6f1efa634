"""True statements of textbooks are never called violated, and the tight ones are found tight."""

from fractions import Fraction

import pytest
from sympy import Eq

from fedtheory.checks import checking, losses
from fedtheory.checks.settings import fitting
from fedtheory.symbols.run import N, T
from verify.textbook import FALSE, TIGHT, TRUE, reached
from verify import soundness


@pytest.mark.parametrize("name", TRUE)
def test_a_true_statement_is_not_refuted(name):
    assert fitting(TRUE[name]), checking.unfit(TRUE[name])
    for seed in range(2):
        verdict = checking.check(TRUE[name], budget=0.03, seed=seed)
        assert verdict.status in ("holds", "proved", "undecided"), verdict.witness
        assert verdict.tightness is None or verdict.tightness <= 1


@pytest.mark.parametrize("name", [name for name in TIGHT if name != "gd_gradient"])
def test_a_tight_statement_is_found_tight(name):
    assert 0.99 <= reached(TRUE[name], 0.99, 4.0) <= 1


def test_a_worst_case_that_needs_a_bump_between_two_points_is_found():
    # Slope L, -L, L: equal gradients at x_0 and x_1 with the least descent between them.
    claim = TRUE["gd_gradient"]
    setting, = fitting(claim)
    curve = losses.bent([Fraction(1), Fraction(-1), Fraction(1)], [Fraction(1), Fraction(3, 2)])
    instance = dict(N=1, S=1, T=1, K=1, convex=0, lipschitz=1, losses=[dict(curves=[curve])], at_star=[],
                    x_0=[Fraction(2)], noise=[])
    known = setting.constants(instance)
    found = setting.measure(instance, dict(known, eta=Fraction(1)), ["best_sq_grad", "gap_0"])
    assert known["L"] == 1 and known["mu"] == -1 and setting.holds(instance) >= {"lipschitz", "bounded_below"}
    assert found["gap_0"] == Fraction(5, 4) and found["best_sq_grad"] == 1    # 4 L gap / (3 T + 2)
    short = claim.replace(assumptions=[*claim.assumes, *claim.unstated, Eq(T, 1), Eq(N, 1)])
    assert 0.99 <= reached(short, 0.99, 8.0) <= 1


def test_the_campaign_would_tell(capsys):
    told = soundness.campaign({"right": TRUE["young"], "wrong": FALSE["young.no_inverse"]}, seeds=2, budget=0.05)
    assert [name for name, _, _ in told] == ["wrong"] * 2
    assert "wrong" in capsys.readouterr().out

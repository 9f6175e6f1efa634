"""Theory against practice: the plotted numbers against closed forms and the statements themselves."""

import numpy as np
import pytest

import fedtheory as ft
import figures
from fedtheory import discover
from fedtheory.checks.settings import by_name
from figures import _slack, _store, _theory, mutants_fsl, theory_fsl, vacuity_fsl
from tests.figures.looks import drawn, faults


def saved(name, data, tmp_path):
    """The arrays as a figure is drawn from them: checked, saved and loaded."""
    _store.save(tmp_path / f"{name}-smoke-0.npz", _store.checked(name, data))
    return _store.load(tmp_path / f"{name}-smoke-0.npz")


def looks_well(name, data, tmp_path):
    record, kept = figures.figure(name), saved(name, data, tmp_path)
    assert len({len(row) for row in record.rows(kept)}) == 1
    return faults(drawn(record, kept)) == []


def test_the_excess_and_the_ceiling_by_hand():
    # f_0 = (x - 3)^2 / 2, F = (x - 0)^2 / 2, gamma = 1/2: F~ = (x^2 + (x - 3)^2 / 2) / 3, least at 1: (1 + 2) / 3
    of = ft.problems.quadratic_from_arrays([1.], [[3.], [0.]])
    assert theory_fsl.excess(of, np.array([2.])) == pytest.approx((4 + .5) / 3 - 1)
    # kappa = max(1/2, 1/2 + 3/4) = 5/4: min(1, (9/4) / (5/2)) / (8 * 3/2) = 3/40
    assert theory_fsl.ceiling(.5, 2., 1.) == pytest.approx(.075)


@pytest.mark.parametrize("id", theory_fsl.SHAPES)
def test_the_plotted_numbers_are_inside_the_hypotheses(id):
    claim = discover.claim(id)
    for T in (5, 1280):
        at = theory_fsl.values(id, T, 3.)
        assert not claim.admits(at)
        longer = dict(at, eta_0=2 * at["eta_0"], eta_l=2 * at["eta_l"])
        assert id == "fsl.theorem2" or claim.admits(longer)


def test_theorem_2_by_hand():
    at = theory_fsl.values("fsl.theorem2", 10, 3.)
    u, kappa, Psi = 4 * at["eta_0"], 1.25, .25 / 4 + 1 / 8 + 4 / 7 / 4
    Phi = .25 * Psi + .5 / 4 * (.5 + 4 / 7) + 2.5 / 4
    h = 1 - u * 1.5 / 2 * (4.5 + 16 * kappa * u)
    right = 3 / (10 * u) + 5 * u * Psi + 8 * u**2 * (.5 * kappa / 1.5 * .09 + Phi)
    assert theory_fsl.bound("fsl.theorem2", 10, 3.) == pytest.approx(right / h)


def test_the_least_expectation_is_that_of_a_noiseless_run():
    # one client, f_0 = F = x^2 / 2, u = 1/4: x shrinks by (3/4)^2 a round, the squared gradient by (3/4)^4
    of = ft.problems.quadratic_from_arrays([1.], [[0.], [0.]])
    found = _theory.least(of, "fsl", "sq_tilde_grad_norm", 3, 2, np.ones(1), 1, eta_l=.25, eta_g=1., eta_0=.25,
                          gamma=1., K=1, K_0=1)
    assert found == pytest.approx([(3 / 4) ** 8] * 4)


def test_only_instances_of_that_many_rounds_are_searched():
    from random import Random
    setting = _theory.of_rounds(by_name("fsl_run"), 20)
    assert {setting.shapes(Random(n), frozenset())["rounds"] for n in range(5)} == {"20"}


def test_a_false_bound_is_reached_by_the_worst_case():
    claim = discover.claim("fsl.theorem2")
    true, false = _theory.worst(claim, (2,), .2), _theory.worst(claim.replace(bound=claim.bound / 20), (2,), .2)
    assert 0 < true[0] <= 1 < false[0]


def test_theory_looks_well(tmp_path):
    T, data = np.array([5, 80, 1280]), {"trivial": np.array([6.])}
    for id in theory_fsl.SHAPES:
        measured = [[1 / t, 1.1 / t, .9 / t, 1.4 / t] for t in T]
        data.update(_theory.panel(id, T, 50 / T, measured, (5, 10), np.array([.5, np.nan]), np.array([10., 5.])))
    assert looks_well("theory_fsl", data, tmp_path)


def test_the_vacuity_map_against_the_statement(tmp_path):
    data = vacuity_fsl.compute("smoke", lambda done, total: None)
    n, m = 24, 24    # gamma = 1
    gamma, eta_g, claim = data["gamma"][n], data["eta_g"][m], discover.claim("fsl.theorem2")
    assert data["longest_11"][n, m] == pytest.approx(min(8 / 9, eta_g, 1 / gamma) / 4)
    assert data["h_13"].min() > 0 > data["h_11"].min()
    needed = data["rounds_11"][n, m]

    def speaks(T):
        u = data["longest_11"][n, m] * np.geomspace(1e-5, 1, 60)
        at = dict(vacuity_fsl.AT, gamma=gamma, eta_g=eta_g, eta_0=u / 10, eta_l=u / (10 * eta_g), T=T)
        h = vacuity_fsl.value(claim, claim.table["h"].symbol, at)
        return bool((claim.fast(at) < 2 * h).any())    # 2 L D~_0 = 2
    assert speaks(1.001 * needed) and not speaks(.999 * needed)
    assert (data["rounds_11"] <= data["rounds_13"] * 1.2).all()    # (11) admits more, up to the grid of steps
    assert looks_well("vacuity_fsl", data, tmp_path)


def test_mutants_are_grouped_and_drawn(tmp_path):
    from fedtheory.checks import mutants
    claim = discover.claim(mutants_fsl.CLAIM)
    made = list(mutants.mutants(claim))
    assert 0 < len(mutants_fsl.chosen(made, "smoke")) < len(mutants_fsl.chosen(made, "quick")) == len(made)
    data = dict(change=np.array([m.change for m in made]), kind=np.array([m.at[0] for m in made]),
                state=np.array((["killed", "survives", "implied"] * len(made))[:len(made)]),
                part=np.array([mutants_fsl.part_of(claim, m) for m in made]),
                about=np.array([mutants_fsl.about(claim, m) for m in made]), statement=np.array(claim.latex()))
    assert sum(map(len, mutants_fsl.groups(data).values())) == len(made)
    assert looks_well("mutants_fsl", data, tmp_path)


def test_the_slack_adds_up(tmp_path, monkeypatch):
    monkeypatch.setitem(_slack.INSTANCES, "smoke", 1)
    data = figures.figure("slack_mixed").compute("smoke", lambda done, total: None)
    row = ft.audit("mixed.stepB2_convex", at="drawn", seed=0).rows[-1]
    assert data["adds"].sum() == pytest.approx(row["slack"]) and (data["adds"] >= 0).all() and data["fails"] >= 0
    assert data["ratios"][-1, 0] == row["ratio"] and len(set(data["stage"].tolist())) == len(data["stage"])
    assert looks_well("slack_mixed", data, tmp_path)

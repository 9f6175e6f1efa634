"""Mutants of statements whose slack is known: what is tight dies, what is slack survives, what is weaker is implied."""

import pytest
from sympy import Rational

import fedtheory as ft
from fedtheory.checks import mutants
from fedtheory.claim import Claim
from fedtheory.conditions import Assumption
from fedtheory.errors import InvalidInput
from fedtheory.symbol import Table

T = Table("mine")
a, b = T.positive("a", "a", "a number"), T.positive("b", "b", "another")
# (a + b)^2 <= 2 a^2 + 2 b^2 is tight at a = b; 3 a b is there for nothing.
TIGHT = Claim(id="mine.tight", cites="Young", symbols=T, measures=(a + b)**2, bound=2 * a**2 + 2 * b**2)
SLACK = TIGHT.replace(name="mine.slack", bound=2 * a**2 + 2 * b**2 + 3 * a * b)
NEEDS = Claim(id="mine.needs", cites="order", symbols=T, measures=a, bound=a**2,
              assumes=(Assumption(a >= 1, "a >= 1"), Assumption(b >= 1, "b >= 1")))


def by_change(claim, budget=4.0):
    return {m.change: m for m in ft.mutate(claim, budget=budget).mutants}


def test_every_stronger_relative_of_a_tight_statement_is_killed():
    found = ft.mutate(TIGHT, budget=6.0)
    stronger = [m for m in found.mutants if "without the term" in m.change or "halved" in m.change]
    assert len(stronger) == 4 and all(m.killed for m in stronger)
    for m in stronger:
        assert ft.replay(m.verdict.certificate)["status"] == "violated"
    assert found.score == sum(m.killed for m in found.mutants) / sum(not m.implied for m in found.mutants)


def test_a_term_for_nothing_survives():
    found = by_change(SLACK)
    assert not found["without the term 3 a b"].killed
    assert found["without the term 2 a^2"].killed


def test_hypotheses_that_are_needed():
    found = by_change(NEEDS)
    needed, spare = (found[f"without: {claim}"] for claim in ("a >= 1 [a >= 1]", "b >= 1 [b >= 1]"))
    assert needed.killed and not spare.killed


def test_a_weaker_relative_is_implied_not_counted():
    weaker = mutants.Mutant("", TIGHT.replace(bound=3 * a**2 + 2 * b**2), 0, ("scale", "x"))
    stronger = mutants.Mutant("", TIGHT.replace(bound=a**2 + 2 * b**2), 0, ("scale", "x"))
    assert mutants.implied(TIGHT, weaker) and not mutants.implied(TIGHT, stronger)


def test_changes_reach_into_definitions():
    """Theorem 1 of FSL: each of the terms with sigma, sigma_0, G, xi_bar, each factor L, K, S, eta_g, gamma."""
    made = list(mutants.mutants(ft.claim("fsl.theorem1")))
    dropped = {m.at[1] for m in made if m.at[0] == "factor"}
    assert {"L", "K", "S", "eta_g", "gamma", "sigma", "sigma_0", "G", "xi_bar"} <= dropped
    terms = {m.at[1] for m in made if m.at[0] == "term"}
    for symbol in ("sigma^2", "sigma_0^2", "G^2", "xi_bar^2"):
        assert any(symbol in term for term in terms)
    assert len({m.change + str(m.claim.lines[m.line][2]) + str(m.claim.assumptions) for m in made}) == len(made)


def test_a_dropped_noise_term_of_theorem_1_is_refuted():
    claim = ft.claim("fsl.theorem1")
    reservoir = mutants.Reservoir()
    wanted = ["without the term gamma^2 sigma_0^2/K_0, in Psi", "without the term sigma^2/(K S), in Psi",
              "without the term G^2 rho_s/S, in Psi"]
    found = {m.change: m for m in mutants.mutants(claim)}
    for change in wanted:
        verdict = mutants.judged(found[change], reservoir, 3.0, 0)
        assert verdict.status == "violated", change
        assert ft.replay(verdict.certificate)["left"] > ft.replay(verdict.certificate)["right"]


def test_a_halved_constant_with_slack_is_not_refuted():
    """The 5 of theorem 1's noise term has room: its half still bounds every round that is found."""
    claim = ft.claim("fsl.theorem1")
    half = next(m for m in mutants.mutants(claim) if m.change.startswith("the term 5 K_0^2") and "halved" in m.change)
    assert mutants.judged(half, mutants.Reservoir(), 1.0, 0).status == "holds"


@pytest.mark.parametrize("claim, says", [("fsl.table2", "inequality or an equation"), ("fsl.corollary1", "order")])
def test_what_has_no_mutants_is_refused(claim, says):
    with pytest.raises(InvalidInput, match=says):
        ft.mutate(claim)

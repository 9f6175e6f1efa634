"""Mutants of statements whose slack is known: what is tight dies, what is slack survives, what is
weaker is implied."""

from fractions import Fraction
from itertools import islice

import pytest
import sympy

import fedtheory as ft
from fedtheory import models
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.language.symbol import Table
from fedtheory.search.objective import as_array
from fedtheory.search.optimizer import BATCH
from fedtheory.search.rational_points import Point
from fedtheory.verdicts import mutation_testing
from fedtheory.verdicts.exploration import Explorer
from fedtheory.verdicts.exploration_parameters import PARAMETERS
from fedtheory.verdicts.instance_pool import Pool
from fedtheory.verdicts.mutation_testing import Mutant, judge_mutant
from fedtheory.verdicts.perturbations import list_mutants

T = Table("mine")
a, b = T.positive("a", "a", "a number"), T.positive("b", "b", "another")
# (a + b)^2 <= 2 a^2 + 2 b^2 is tight at a = b; 3 a b is there for nothing.
TIGHT = Claim(
    id="mine.tight", cites="Young", symbols=T, measures=(a + b) ** 2, bound=2 * a**2 + 2 * b**2
)
SLACK = TIGHT.replace(name="mine.slack", bound=2 * a**2 + 2 * b**2 + 3 * a * b)
NEEDS = Claim(
    id="mine.needs",
    cites="order",
    symbols=T,
    measures=a,
    bound=a**2,
    assumes=(Assumption(a >= 1, "a >= 1"), Assumption(b >= 1, "b >= 1")),
)


def by_change(claim, budget=4.0):
    return {m.change: m for m in ft.mutate(claim, budget=budget).mutants}


def test_every_stronger_relative_of_a_tight_statement_is_killed():
    found = ft.mutate(TIGHT, budget=6.0)
    stronger = [m for m in found.mutants if "without the term" in m.change or "halved" in m.change]
    assert len(stronger) == 4 and all(m.killed for m in stronger)
    for m in stronger:
        assert ft.replay(m.verdict.certificate)["status"] == "violated"
    counted = [m for m in found.mutants if m.asked and not m.implied]
    assert found.score == sum(m.killed for m in counted) / len(counted)


def test_a_term_for_nothing_survives():
    found = by_change(SLACK)
    assert not found["without the term 3 a b"].killed
    assert found["without the term 2 a^2"].killed


def test_hypotheses_that_are_needed():
    found = by_change(NEEDS)
    needed, spare = (found[f"without: {claim}"] for claim in ("a >= 1 [a >= 1]", "b >= 1 [b >= 1]"))
    assert needed.killed and not spare.killed


def test_a_weaker_relative_is_implied_not_counted():
    weaker = Mutant("", TIGHT.replace(bound=3 * a**2 + 2 * b**2), 0, ("scale", "x"))
    stronger = Mutant("", TIGHT.replace(bound=a**2 + 2 * b**2), 0, ("scale", "x"))
    assert mutation_testing.line_implies(TIGHT, weaker) and not mutation_testing.line_implies(
        TIGHT, stronger
    )


def test_what_asks_for_no_more_is_no_false_relative():
    """Twice the bound, of a statement whose sides no algebra compares: an enclosed exponential."""
    c = T.positive("c", "c", "a third")
    claim = Claim(id="mine.exp", cites="exp", symbols=T, measures=1 - a, bound=sympy.exp(-a) + c)
    weaker = Mutant("", claim.replace(bound=2 * sympy.exp(-a) + c), 0, ("scale", "x"))
    judge_mutant(Explorer(claim, 0.5, 0), weaker, 0.1)
    assert not weaker.killed and not (weaker.asked and not weaker.implied)


def test_what_nothing_measures_is_not_counted():
    """No run of FSL measures the moments of FED-LAMB: nothing could speak against a relative."""
    claim = ft.claim("lamb.theorem1_appendix")
    if models.fitting(claim):
        pytest.skip("something measures it now")
    asked = [Mutant(**vars(each)) for each in islice(list_mutants(claim), 2)]
    for mutant in asked:
        judge_mutant(Explorer(claim, 0.1, 0), mutant, 0.1)
    assert not any(m.asked for m in asked)


def test_instances_where_a_false_statement_fails_stay_and_those_of_rounding_go(monkeypatch):
    """(a + b)^2 <= a^2 + b^2 fails at every instance, and Fractions say so; that equation (10) of
    mixed FL fails, floats say alone. A counterexample that nobody reads is made no simpler."""
    monkeypatch.delattr(Point, "simpler")
    false = TIGHT.replace(name="mine.false", bound=a**2 + b**2)
    for claim, fails in ((false, True), (ft.claim("mixed.eq10"), False)):
        rated = [
            (ratios, population)
            for block in Pool(claim, 1.0, 0).blocks.values()
            for ratios, population in block.rate_populations(block.target)
        ]
        above = [(r.argmax(), p) for r, p in rated if r.max() > PARAMETERS.wrong]
        assert rated and bool(above) == fails
        for n, population in above:
            one, other = (Fraction(float(as_array(population.values[k], BATCH)[n])) for k in "ab")
            assert (one + other) ** 2 > one**2 + other**2


def test_changes_reach_into_definitions():
    """Theorem 1 of FSL: each of the terms with sigma, sigma_0, G, xi_bar, each factor L, K, S,
    eta_g, gamma."""
    made = list(list_mutants(ft.claim("fsl.theorem1")))
    dropped = {m.at[1] for m in made if m.at[0] == "factor"}
    assert {"L", "K", "S", "eta_g", "gamma", "sigma", "sigma_0", "G", "xi_bar"} <= dropped
    terms = {m.at[1] for m in made if m.at[0] == "term"}
    for symbol in ("sigma^2", "sigma_0^2", "G^2", "xi_bar^2"):
        assert any(symbol in term for term in terms)
    assert len(
        {m.change + str(m.claim.lines[m.line][2]) + str(m.claim.assumptions) for m in made}
    ) == len(made)


def test_a_change_that_divides_by_zero_is_no_mutant():
    """Without its factor a, the divisor 1 - a would be 0."""
    claim = TIGHT.replace(name="mine.quotient", bound=2 * a**2 + 2 * b**2 + b / (1 - a))
    changes = {mutant.change for mutant in list_mutants(claim)}
    assert "-a turned into -a^2 in -a" not in changes and "without the term 2 a^2" in changes
    assert not [change for change in changes if change.startswith("without the factor a in -a")]


NEEDED = [
    "gamma^2 sigma_0^2/K_0, in Psi",
    "sigma^2/(K S), in Psi",
    "rho_s G^2/S, in Psi",
    "Phi",
    "(sigma^2/K + 2 G^2)/eta_g^2, in Phi",
    "gamma kappa xi_bar^2/(1 + gamma)",
    "5 K_0^2 eta_0^2 L Psi",
]


@pytest.mark.slow
def test_terms_that_theorem_1_needs():
    """At small step and with a single source of error, a round's loss grows by what only that term
    allows for."""
    found = ft.mutate(
        "fsl.theorem1",
        budget=20.0,
        only=lambda m: m.change in {f"without the term {t}" for t in NEEDED},
    )
    assert len(found.mutants) == len(NEEDED)
    for m in found.mutants:
        assert m.killed, m.change
        shown = ft.replay(m.verdict.certificate)
        assert shown["left"] > shown["right"]


@pytest.mark.slow
def test_factors_that_theorem_1_needs():
    """Without one L or G of the drift's term, the units do not fit: it fails for losses of a large
    scale."""
    wanted = (
        "L^2 turned into L in 8 K_0^3",
        "G^2 turned into G in 2 G^2",
        "without the factor L in 5 K_0^2",
        "without the factor eta_0 in -K_0 eta_0 h",
    )
    found = ft.mutate("fsl.theorem1", budget=30.0, only=lambda m: m.change.startswith(wanted))
    assert [m.change for m in found.mutants if m.killed] == [m.change for m in found.mutants] != []


def test_a_halved_constant_with_slack_is_not_refuted():
    """The 5 of theorem 1's noise term has room: its half still bounds every round that is found."""
    found = ft.mutate(
        "fsl.theorem1",
        budget=3.0,
        only=lambda m: m.change == "the term 5 K_0^2 eta_0^2 L Psi halved",
    )
    assert [m.killed or m.implied for m in found.mutants] == [False]


def test_a_mutation_depends_on_its_seed_alone():
    one, other = (ft.mutate(TIGHT, budget=1.0, seed=3).as_dict() for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    "claim, says", [("fsl.table2", "inequality or an equation"), ("fsl.corollary1", "order")]
)
def test_what_has_no_mutants_is_refused(claim, says):
    with pytest.raises(InvalidInput, match=says):
        ft.mutate(claim)


def test_a_mutant_may_leave_another_symbol_to_its_equations():
    """Which symbol K eta_g eta_l = K_0 eta_0 fixes depends on what the changed line mentions."""
    found = ft.mutate("fsl.step18", budget=3.0)
    assert any(m.killed for m in found.mutants)
    for m in found.mutants:
        if m.killed:
            assert ft.replay(m.verdict.certificate)["status"] == "violated"


def test_who_looks_changes_nothing_and_seeds_add_up():
    asked = dict(
        budget=0.3, seed=5, only=lambda mutant: "halved" in mutant.change or mutant.line == 0
    )
    alone = [ft.mutate("fsl.h_lower", **(asked | dict(seed=seed))).as_dict() for seed in (5, 6)]
    both = ft.mutate("fsl.h_lower", **asked, seeds=2)
    for n, mutant in enumerate(both.as_dict()["mutants"]):
        assert mutant["killed"] == any(one["mutants"][n]["killed"] for one in alone)
        assert mutant["change"] == alone[0]["mutants"][n]["change"]
    for executor in ("threads:2", "processes:2"):
        spread = ft.mutate("fsl.h_lower", **asked, seeds=2, executor=executor)
        assert spread.as_dict() == both.as_dict()
    with pytest.raises(InvalidInput, match="executor"):
        ft.mutate("fsl.h_lower", budget=0.1, executor="nobody")

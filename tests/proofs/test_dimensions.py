"""Units: homogeneous bounds pass, a damaged one is caught, and the place is named."""

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import CURVATURE, POINT, Table
from fedtheory.proofs import dimensions
from fedtheory.proofs.dimensions import unit_clashes
from fedtheory.symbols.fsl import L, sigma
from fedtheory.verify import judge_verdicts

# Their printed shapes hide constants with units behind Theta and O.
HIDDEN = {"fsl.corollary1", "fsl.corollary2a", "fsl.corollary2b", "fsl.corollary2c"} | {
    f"fsl.{name}"  # sentences about (14) and its parts
    for name in ("corollary1_fedavg", "G_dependence", "first_term", "K_helps", "S_helps")
}


BOUNDS = [
    c
    for c in discover.claims()
    if c.lines and c.kind != "order" and c.paper in ("fsl", "fsls") and c.id not in HIDDEN
]


@pytest.mark.parametrize("claim", BOUNDS, ids=lambda c: c.id)
def test_bounds_are_homogeneous(claim):
    assert unit_clashes(claim) == []


def test_orders_with_hidden_units_are_seen():
    assert {c.id for c in discover.claims() if c.paper == "fsl" and unit_clashes(c)} == HIDDEN
    assert unit_clashes(ft.claim("fsl.corollary1")) == [
        "in M_sq/(1 + gamma)^2 + tilde_D_0, tilde_D_0 has unit f and M_sq/(1 + gamma)^2 has unit x^-2 f^2"
    ]


def test_a_metric_brings_its_unit():
    named = ft.claim("fsl.theorem1").replace(measures="tilde_loss")
    assert (
        unit_clashes(named) == [] and len(unit_clashes(named.replace(measures="sq_distance"))) == 1
    )


def test_damage_is_caught():
    theorem = ft.claim("fsl.theorem1")
    assert unit_clashes(theorem.replace(bound=theorem.bound * L))
    assert unit_clashes(theorem.replace(bound=theorem.bound + sigma**2))
    lost = theorem.replace(bound=theorem.bound.subs(L**2, L))
    assert len(unit_clashes(lost)) == 1 and "has unit" in unit_clashes(lost)[0]
    assert unit_clashes(theorem.replace(assumptions=(L <= sigma,))) == [
        "in L <= sigma, L has unit x^-2 f and sigma has unit x^-1 f"
    ]


def test_check_names_the_terms_whose_units_clash():
    """(7) of flex adds a distance to 1; M <= 1 of FED-LAMB bounds a gradient by a number."""
    found = ft.check("fsl.corollary1", budget=0.1).notes
    assert found[-1] == (
        "Units clash (x of a point, f of a loss): in M_sq/(1 + gamma)^2 + tilde_D_0, "
        "tilde_D_0 has unit f and M_sq/(1 + gamma)^2 has unit x^-2 f^2"
    )
    for id, terms in (
        ("flex.corollary4_0_2", "1 has unit 1 and 2 p_l sqrt(2 Gamma_l L)/mu has unit x"),
        ("lamb.theorem1_explicit", "M has unit x^-1 f and 1 has unit 1"),
        ("mixed.theoremB1_strong", "1/eps has unit f^-1 where a plain number is needed"),
    ):
        assert sum(terms in note for note in dimensions.unit_notes(ft.claim(id))) == 1


def test_no_note_where_units_agree_or_none_were_given():
    assert ft.check("fsl.h_lower", budget=0.1).notes == []
    table = Table("own")
    a, b = table.positive("a", "a", "a number"), table.positive("b", "b", "another")
    plain = Claim(id="own", cites="own", symbols=table, measures="sq_distance", bound=a + b)
    assert unit_clashes(plain) and dimensions.unit_notes(plain) == []  # only the metric has a unit


def test_a_proved_statement_whose_units_clash_says_so():
    """r + L r <= r (1 + L): true of all numbers, and no sum of a length and a length times a
    curvature makes sense."""
    table = Table("own")
    r, L = (
        table.positive("r", "r", "a radius", POINT),
        table.positive("L", "L", "curvature", CURVATURE),
    )
    claim = Claim(id="own", cites="own", symbols=table, measures=r + L * r, bound=r * (1 + L))
    verdict = ft.check(claim, budget=1)
    assert verdict.status == "proved"
    assert verdict.notes == [
        "Units clash (x of a point, f of a loss): in r + L r, r has unit x and L r has unit x^-1 f"
    ]
    # a replay derives it, and misses it where it was taken out
    kept = judge_verdicts.plain_verdict(verdict)
    assert judge_verdicts.judge_verdict(claim, kept, 1, 0).wrong == []
    for notes in ([], ["Units agree."], [*verdict.notes, "It is tight."]):
        (wrong,) = judge_verdicts.judge_verdict(claim, dict(kept, notes=notes), 1, 0).wrong
        assert "notes" in wrong

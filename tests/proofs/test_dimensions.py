"""Units: homogeneous bounds pass, a damaged one is caught, and the place is named."""

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.proofs.dimensions import clashes
from fedtheory.symbols.fsl import L, sigma

# Their printed shapes hide constants with units behind Theta and O.
HIDDEN = {"fsl.corollary1", "fsl.corollary2a", "fsl.corollary2b", "fsl.corollary2c"}


BOUNDS = [
    c for c in discover.claims() if c.lines and c.kind != "order" and c.paper in ("fsl", "fsls")
]


@pytest.mark.parametrize("claim", BOUNDS, ids=lambda c: c.id)
def test_bounds_are_homogeneous(claim):
    assert clashes(claim) == []


def test_orders_with_hidden_units_are_seen():
    assert {c.id for c in discover.claims() if c.paper == "fsl" and clashes(c)} == HIDDEN
    assert clashes(ft.claim("fsl.corollary1")) == [
        "in M_sq/(1 + gamma)^2 + tilde_D_0, tilde_D_0 has unit f and M_sq/(1 + gamma)^2 has unit x^-2 f^2"
    ]


def test_a_metric_brings_its_unit():
    named = ft.claim("fsl.theorem1").replace(measures="tilde_loss")
    assert clashes(named) == [] and len(clashes(named.replace(measures="sq_distance"))) == 1


def test_damage_is_caught():
    theorem = ft.claim("fsl.theorem1")
    assert clashes(theorem.replace(bound=theorem.bound * L))
    assert clashes(theorem.replace(bound=theorem.bound + sigma**2))
    lost = theorem.replace(bound=theorem.bound.subs(L**2, L))
    assert len(clashes(lost)) == 1 and "has unit" in clashes(lost)[0]
    assert clashes(theorem.replace(assumptions=(L <= sigma,))) == [
        "in L <= sigma, L has unit x^-2 f and sigma has unit x^-1 f"
    ]

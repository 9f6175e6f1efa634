"""Orders that are false only where three numbers move at once are refuted so, and true ones beside
them are not."""

import json

import pytest

import fedtheory as ft
from tests.checker import growing_orders, power


@pytest.mark.parametrize("name", growing_orders.FALSE)
def test_three_moves_at_once_refute_it(name):
    verdict, replays = power.refute_claim(growing_orders.FALSE[name], budget=10.0)
    assert replays and len(verdict.witness["moves"]) == 3
    assert ft.replay(json.loads(json.dumps(verdict.certificate)))["status"] == "violated"


def test_they_are_bounded_along_fewer():
    """By hand: with one of the three at 1, what is measured is below 1, or below 1 times x."""
    for claim in growing_orders.FALSE.values():
        left, _, shape = claim.lines[0]
        for still in shape.free_symbols:
            at = {s: 1 if s == still else 10**6 for s in shape.free_symbols}
            assert left.subs(at) < 2 * shape.subs(at)


@pytest.mark.parametrize("name", growing_orders.TRUE)
def test_what_is_true_is_not_refuted(name):
    assert ft.check(growing_orders.TRUE[name], budget=3.0).status != "violated"

"""What is looked at for one number of a statement, and what that may take."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import sympy

from fedtheory.arithmetic.operations import Many
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, SMOOTH
from fedtheory.models import by_name
from fedtheory.search import optimizer
from fedtheory.search.objective import Target
from fedtheory.symbols import run
from fedtheory.verdicts import sharpening
from fedtheory.verdicts.exploration import Account
from fedtheory.verdicts.instance_pool import Block, Population
from fedtheory.verdicts.necessary_values import NumberSearch, Sharpened
from fedtheory.verdicts.perturbations import list_parts


class Part(NamedTuple):
    printed: object
    kind: str = "constant"


def test_values_are_asked_from_the_most_telling_on_whatever_shape_they_come_from():
    """A ratio that rounding made is asked for first; it must not keep what others refute from being
    asked."""
    search = NumberSearch.__new__(NumberSearch)
    search.found, search.account = Sharpened("5", "constant", 0, 5), Account(0.03)
    search.part, search.goal = Part(sympy.Integer(5)), sympy.Integer(0)
    search.best = {"rounding": (0.9, None), "true": (0.1, None)}
    refuted = lambda each: each.value == 0 or each.hunt == "true" and each.value < 0.5
    first = next(filter(refuted, search._candidates()))
    assert first.hunt == "true" and 0.49 < first.value < 0.5


def test_what_is_looked_at_is_what_the_budget_buys(monkeypatch):
    """Exact looks, certificates and witnesses count as well as the search; the rest is the pool's."""
    searches = []

    class Watched(NumberSearch):
        def run(self):
            super().run()
            searches.append(self)

    monkeypatch.setattr(sharpening, "NumberSearch", Watched)
    sharpening.sharpen("mixed.lemmaD9", budget=2)
    spent = sum(search.cost for search in searches) / optimizer.budget_to_units(2)
    assert 0.4 < spent < 1.0 and len(searches) > 5


UNSIGNED = "L (1 - eta L) sq_distance_0"


def nonnegative_term():
    """SVRG's 4 L (gap_0 + gap_T), of which rounding may leave gap_T below zero."""
    return Claim(
        id="mine.svrg",
        cites="nobody",
        symbols=run.TABLE,
        algorithm="fedsgd",
        measures=run.sq_grad_T,
        bound=4 * run.L * (run.gap_0 + run.gap_T)
        - run.mu * run.sq_distance_T
        + run.L * (1 - run.eta * run.L) * run.sq_distance_0,
        assumes=(SMOOTH, CONVEX, EXACT_GRADIENTS, sympy.Eq(run.S, run.N)),
    )


@pytest.mark.parametrize(
    "name, sign",
    [("gap_T", 1), ("4 in 4 L (gap_0 + gap_T)", 1), ("mu sq_distance_T", -1), (UNSIGNED, None)],
)
def test_the_sign_of_a_term_is_that_of_its_letters(name, sign):
    """eta L may be above 1, so that such a term raises the bound at some instances and lowers it at
    others; a gap cannot, whatever floats say."""
    claim = nonnegative_term()
    (part,) = [part for part in list_parts(claim) if part.name == name]
    pool = SimpleNamespace(exceeds_somewhere=lambda line, small, large: True)
    explorer = SimpleNamespace(claim=claim, pool=pool)
    search = NumberSearch(explorer, part, Sharpened(name, "term", 0, 1), 1.0)
    assert search._sign() == sign
    assert search._weakens_upward() == (None if sign is None else sign == 1)
    assert search.found.why == (
        "" if sign else "raises the bound at some instances and lowers it at others"
    )


def test_what_rounding_leaves_below_zero_of_a_nonnegative_letter_is_zero():
    claim = nonnegative_term()
    block = Block(Target(claim, by_name("run_fedsgd")))
    values = {name: Many(np.array([1.0, 1.0])) for name in ("L", "sq_distance_T", "gap_0")}
    values.update(gap_T=Many(np.array([-1e-17, np.nan])), loss_0=Many(np.array([-1.0, -1.0])))
    block.populations.append(Population(None, np.zeros((2, 1)), values, np.ones(2, bool)))
    joined, _, _ = block.join_populations()
    assert joined["gap_T"].at[0] == 0 and np.isnan(joined["gap_T"].at[1])
    assert joined["loss_0"].at[0] == -1 and joined["L"].at[0] == 1
    assert not block.exceeds_somewhere(run.L * run.gap_T, 2 * run.L * run.gap_T)
    assert not block.exceeds_somewhere(2 * run.L * run.gap_T, run.L * run.gap_T)

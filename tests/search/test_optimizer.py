"""What the search keeps: ratios that stand a nudge of the point, not those that rounding made."""

import numpy as np
import pytest

from fedtheory.arithmetic import NoInstance
from fedtheory.arithmetic.operations import Many
from fedtheory.discover import claim as claim_of
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import PLAIN, Table
from fedtheory.models import Model, by_name, fitting, names
from fedtheory.search import scheduler
from fedtheory.search.coverage import Coverage
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import budget_to_units
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.confirmation import conclude_search
from fedtheory.verdicts.decision import decide_line
from tests.checker.known_statements import TRUE

TABLE = Table("house")
left = TABLE.measured("left", "l", "a square", PLAIN, "left", domain="nonnegative")


def setting(measured):
    return Model(
        name="house",
        says="a point",
        measures=names(TABLE, "left"),
        shapes=lambda random, relaxed: {},
        coordinates=lambda shape: {"x": "positive"},
        build=lambda shape, point: dict(x=point["x"]),
        constants=lambda instance: {},
        measure=lambda instance, values, wanted: dict(left=measured(instance["x"])),
        table=TABLE,
        kind="exact",
    )


@pytest.mark.parametrize(
    "measured, stays", [(lambda x: x * x, True), (lambda x: ((x + 1e6) - 1e6 - x) ** 2, False)]
)
def test_a_difference_that_only_rounding_makes_is_dropped(measured, stays):
    """x^2 <= 0 fails; ((x + 10^6) - 10^6 - x)^2 <= 0 holds, though floats say otherwise."""
    claim = Claim(id="house.square", cites="house check", symbols=TABLE, measures=left, bound=0)
    hunt = next(scheduler.generate_hunts(Target(claim, setting(measured)), 0))
    points, rates = hunt.rate_points(hunt.draw(64))
    rates = np.nan_to_num(rates, nan=-1.0)
    assert (rates > 1e6).sum() > 30  # left over zero
    kept = hunt.drop_rounding_artifacts(points, rates)[1]
    assert ((kept > 0).sum() == (rates > 0).sum()) == stays and ((kept > 0).sum() < 3) == (
        not stays
    )


def test_what_rounding_gives_twice_is_asked_more_often():
    """(x/49 * 49 - x)^2 <= 0 holds; rounding leaves 0 or one last place, and often the same after a
    nudge."""
    rest = lambda x: (x / 49 * 49 - x) ** 2
    claim = Claim(id="house.square", cites="house check", symbols=TABLE, measures=left, bound=0)
    hunt = next(scheduler.generate_hunts(Target(claim, setting(rest)), 0))
    points, rates = hunt.rate_points(hunt.draw(256))
    rates = np.nan_to_num(rates, nan=-1.0)
    often, once = hunt.is_steady(points, rates), hunt.is_steady(points, np.zeros(256))
    assert (once & (rates > 0)).sum() > 10 > 2 * (often & (rates > 0)).sum()


def test_what_a_budget_is_worth():
    """The first second counts as it is, each later one as the 800,000 steps that a core does in it."""
    assert [budget_to_units(seconds) for seconds in (0, 0.02, 1, 4)] == [0, 0.02, 1, 9]


def test_what_nothing_runs_at_speaks_against_nothing():
    """A method refuses numbers that floats let pass; then x^2 <= 0 has not failed there."""

    def refused(x):
        if not isinstance(x, Many):
            raise NoInstance("the method takes no such number")
        return x * x

    claim = Claim(id="house.square", cites="house check", symbols=TABLE, measures=left, bound=0)
    target = Target(claim, setting(refused))
    hunt, ratio, row = next(scheduler.search_waves(target, 0.1, 0))
    assert ratio > 1 and hunt.top is not None
    found = conclude_search([(ratio, hunt, row)], Coverage(target.setting), 0.1)
    verdict = conclude(claim.id, found)
    assert verdict.status == "undecided" and "was found inside" in verdict.why


def test_a_gradient_that_begins_at_zero_does_not_seem_to_rise():
    """The remark on the original loss follows from each round's; rounding at starts without a gradient,
    where exact numbers of long runs take too long, left it undecided."""
    assert decide_line(Case.of(claim_of("fsl.original_loss"), 0.2, 4, line=1)).status == "holds"


def test_climbs_go_where_shapes_are_unlike_and_begin_anew():
    """Of the first dozen shapes seven are climbed, no two for the same pairs of features but the
    leading ones; later some shape that came far is climbed from other places."""
    target = Target(TRUE["gd_gradient"], by_name("run_fedsgd"), 0)
    seen, order = {}, []
    for hunt, _, _ in scheduler.search_waves(target, 5.0, 0):
        seen[hunt] = seen.get(hunt, 0) + 1
        order += [hunt] if seen[hunt] == 2 else []
    first = order[: scheduler.DEEP + scheduler.BROAD]
    assert len(set(first)) == len(first) == 7 and len(seen) >= scheduler.WAVE
    met = set().union(*map(scheduler.shape_features, first[: scheduler.DEEP]))
    new = [scheduler.shape_features(hunt) - met for hunt in first[scheduler.DEEP :]]
    assert len(new[0]) == max(map(len, new)) > 0
    again = [hunt for n, hunt in enumerate(order) if hunt.shape in [h.shape for h in order[:n]]]
    assert again


@pytest.mark.parametrize("name", ["fsl.lemma4", "mixed.lemmaD10"])
def test_more_work_looks_at_all_that_less_does(name):
    """The same seed: what a small budget looks at is how a larger one begins."""
    claim = claim_of(name)
    target = Target(claim, fitting(claim)[0])
    few, more = (
        [(r, tuple(x)) for _, r, x in scheduler.search_waves(target, s, 0)] for s in (0.05, 0.15)
    )
    assert 0 < len(few) < len(more) and more[: len(few)] == few


def test_from_a_corner_of_the_box_the_way_inside_leads_out_of_it():
    """Where the largest curvature meets the smallest step at eta L = 1, rounding may leave eta L
    above 1, and only a smaller step than those that are searched leads inside."""
    target = Target(TRUE["sgd_nonconvex"], by_name("run_fedsgd"))
    hunt, _, point = next(scheduler.search_waves(target, 0.1, 0))
    eta, scale = hunt.column["eta"], hunt.column["scale"]
    point[eta], point[scale] = -25.0, 25.0
    eta_L = lambda at: float(hunt.build_instances(at[None])[1]["L"].at[0]) * np.exp(at[eta])
    point[scale] -= np.log(eta_L(point))
    assert eta_L(point) == pytest.approx(1.0)
    assert eta_L(hunt.move_inside(point, 1e-3)) == pytest.approx(np.exp(-1e-3), rel=1e-4)

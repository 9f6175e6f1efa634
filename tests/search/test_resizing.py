"""Sizes that cost nothing are changed along what came far, and only where the new shape has
instances."""

from random import Random

import pytest

from fedtheory import discover
from fedtheory.models import all_models, by_name
from fedtheory.search import resizing, scheduler
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import search_at
from tests.checker import large_cases

SHAPE = dict(
    N="12",
    S="12",
    K="8",
    T="90",
    kinds=1,
    first="12",
    d=1,
    convex=1,
    lipschitz=1,
    shared=1,
    equal=1,
    start="still",
    noise=1,
)


def climbed(name="fedavg_rounds.noise_over_N_root_N", **shape):
    target = Target(large_cases.FALSE[name], by_name("run_large_fedavg"))
    hunt = search_at(target, {**SHAPE, **shape}, {}, 0)
    for _ in hunt.climb_generations(10):
        pass
    return hunt, lambda shape: scheduler.admits_shape(target, shape, {})


@pytest.mark.parametrize("seed", range(4))
def test_a_bound_that_fails_only_at_many_clients_and_single_steps_is_led_there(seed):
    """By hand: noise leaves a loss of eta sigma^2/(2 N (2 - eta)) after many rounds of single
    steps, and the bound allows 2 eta sigma^2/N^(3/2) of it: it fails beyond N = 64 alone."""
    hunt, admits = climbed()
    assert resizing.best_score(hunt) < 1
    for turn in range(8):
        further, work = resizing.vary_size(hunt, Random(f"{seed}/{turn}"), admits)
        assert work > 0
        hunt = further or hunt
    assert resizing.best_score(hunt) > 1 and int(hunt.shape["N"]) > 64 and int(hunt.shape["K"]) < 8
    assert hunt.shape["S"] == hunt.shape["N"]  # the statement is of all clients


def test_work_is_counted_and_nothing_else_decides():
    hunt, admits = climbed()
    one, other = (resizing.vary_size(hunt, Random("same"), admits) for _ in range(2))
    assert one[1] == other[1] and one[0].shape == other[0].shape


def test_a_shape_without_instances_is_not_gone_to():
    """More clients in a cohort than there are, and a part that is larger than the whole."""
    hunt, _ = climbed()
    for wrong in (dict(S="13"), dict(kinds=2, first="12"), dict(N="0")):
        assert resizing.transplant(hunt, {**hunt.shape, **wrong}, Random(0)).top is None
    assert resizing.transplant(hunt, {**hunt.shape, "T": "91"}, Random(0)).top is not None


def test_sizes_that_a_setting_never_changes_stay():
    """Gradient steps are one a round; shapes whose sizes are numbers have none that are free, and of
    long runs the rounds are."""
    target = Target(large_cases.FALSE["sgd_cohorts.noise_over_N"], by_name("run_large_fedsgd"))
    shape, numbers = scheduler.shapes_of(target, Random(1), target.relaxed)
    found = resizing.sizes_of(search_at(target, shape, numbers, 0), Random(0))
    assert set(found) == {"N", "S", "T", "first"}
    small = Target(large_cases.FALSE["sgd_cohorts.noise_over_N"], by_name("run_fedsgd"))
    setting = small.setting._replace(shapes=small.setting.longer)
    for target, free in ((small, set()), (Target(small.claim, setting), {"T"})):
        shape, numbers = scheduler.shapes_of(target, Random(1), target.relaxed)
        assert set(resizing.sizes_of(search_at(target, shape, numbers, 0), Random(0))) == free


def test_rounds_are_not_multiplied_where_each_multiplies_the_ways_that_a_run_goes():
    """2 outcomes of a round are 2^39 of forty, on losses whose moments do not tell; on quadratics they
    do."""
    target = Target(discover.claim("fsl.theorem2"), by_name("fsl_run"))
    drawn = (scheduler.shapes_of(target, Random(n), target.relaxed) for n in range(4000))
    several = lambda s: s["pieces"] > 1 and s["noise"] != "none" and s["rounds"] == "2"
    shape, numbers = next(each for each in drawn if several(each[0]))
    hunt = search_at(target, shape, numbers, 0)
    for _ in hunt.climb_generations(0):
        pass
    assert resizing.transplant(hunt, {**shape, "rounds": "1"}, Random(0)).top is not None
    assert resizing.transplant(hunt, {**shape, "rounds": "40"}, Random(0)).top is None
    assert target.setting.affords({**shape, "rounds": "40", "pieces": 1, "K": 1, "K_0": 1})


@pytest.mark.parametrize("name", sorted(s.name for s in all_models() if s.affords))
def test_what_a_setting_draws_it_affords(name):
    setting = by_name(name)
    drawn = [setting.shapes(Random(n), frozenset(setting.ensures)) for n in range(200)]
    assert all(map(setting.affords, drawn))
    assert any(not setting.affords({**s, **long(s)}) for s in drawn)


def long(shape):
    """More rounds than any setting draws, where each may go several ways."""
    return {name: "100000" for name in ("rounds", "T", "tau") if name in shape}

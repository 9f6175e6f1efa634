"""All of flex's settings: every claim has one, exact and batched numbers agree, what is no instance
is refused."""

import copy
import json
from fractions import Fraction as Q
from random import Random

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Interval, Many
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.models import fitting
from fedtheory.models.flex import arrivals as flex_arrivals
from fedtheory.models.flex import departures as flex_departures
from fedtheory.models.flex import laws as flex_laws
from fedtheory.models.flex import round as flex_round
from fedtheory.models.flex import run as flex_run
from fedtheory.models.flex import shifted as flex_shifted
from fedtheory.search.counterexample import texts

SETTINGS = [
    s
    for module in (flex_arrivals, flex_departures, flex_laws, flex_round, flex_run, flex_shifted)
    for s in module.MODELS
]
CLAIMS = [
    c
    for c in discover.claims()
    if c.id.startswith("flex.") and c.lines and c.kind in ("exact", "step")
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_every_claim_has_a_setting(claim):
    assert fitting(claim)


def point_of(random, kinds):
    draw = dict(
        real=lambda: Q(random.randint(-8, 8), 4),
        positive=lambda: Q(random.randint(1, 12), 4),
        unit=lambda: Q(random.randint(1, 4), 4),
    )
    return {name: draw[kind]() for name, kind in kinds.items()}


def near(exact, batched):
    if isinstance(exact, float):
        return np.isinf(exact) and np.all(
            np.isinf(batched if isinstance(batched, float) else batched.at)
        )
    return np.allclose(
        batched.at if isinstance(batched, Many) else float(batched),
        float(exact),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_exact_and_batched_numbers_agree(setting):
    random, seen = Random(f"agree {setting.name}"), 0
    for _ in range(25):
        shape = setting.shapes(random, setting.ensures - {"stays"})
        point = point_of(random, setting.coordinates(shape))
        free = {name: Q(random.randint(1, 5)) for name in setting.takes} | dict(eta=Q(1, 1000))
        if setting.name == "flex_delay":
            free["E"] = Q(2)
        many = {name: Many(np.array([float(v), float(v)])) for name, v in free.items()}
        exact = setting.build(shape, point)
        batch = setting.build(
            shape, {name: Many(np.array([float(v), float(v)])) for name, v in point.items()}
        )
        wanted = sorted(
            name
            for name, entry in setting.table.items()
            if entry.measure in setting.measures and name not in setting.early
        )
        wanted = [
            name for name in wanted if name not in ("sq_dist",)
        ]  # the same measure as sq_dist_new
        try:
            known, batched = setting.constants(exact), setting.constants(batch)
            found = setting.measure(exact, {**known, **free}, wanted)
        except (Undefined, ZeroDivisionError):
            continue
        measured = setting.measure(batch, {**batched, **many}, wanted)
        assert known.keys() == batched.keys() and all(
            near(known[name], batched[name]) for name in known
        )
        assert set(wanted) <= set(found) and all(
            near(found[name], measured[name]) for name in wanted
        )
        assert all(isinstance(value, (Q, int, float, Interval)) for value in found.values())
        if setting.holds:
            assert {"devices_smooth"} <= setting.holds(exact) <= setting.ensures
        assert check_instance.read_numbers(json.loads(json.dumps(texts(exact)))) == exact
        seen += 1
    assert seen >= 5


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.holds], ids=lambda s: s.name)
def test_no_instance_no_condition(setting):
    """Probabilities or weights that do not add up, curvatures of the wrong sign, lists that do not
    fit."""
    random = Random("holds")
    shape = setting.shapes(random, setting.ensures)
    instance = setting.build(shape, point_of(random, setting.coordinates(shape)))
    assert setting.holds(instance)

    def broken(change):
        bad = copy.deepcopy(instance)
        change(bad)
        return setting.holds(bad)

    if "law" in instance:
        assert not broken(lambda i: i["law"].append([Q(1, 2), i["law"][0][1]]))
        assert not broken(lambda i: i["law"].append([Q(0), [i["E"] + 1] * len(i["law"][0][1])]))
    if "devices" in instance:
        assert not broken(lambda i: i["devices"]["p"].__setitem__(0, i["devices"]["p"][0] * 2))
        assert not broken(lambda i: i["devices"]["a"].__setitem__(0, Q(-1)))
        assert not broken(lambda i: i["devices"]["b"].append(Q(0)))
    else:
        assert not broken(lambda i: i["a"][0].__setitem__(0, Q(-1)))
        assert not broken(lambda i: i["a"].pop())


DECIDED = {
    "flex.eq2": ("holds", 0.02),
    "flex.eq2_printed": ("violated", 0.1),
    "flex.bias_A_B": ("holds", 0.1),
    "flex.theorem3_1": ("holds", 0.2),
    "flex.suboptimal_DE": ("holds", 0.4),
    "flex.corollary3_2_1": ("holds", 0.2),
    "flex.corollary3_2_1_start_explicit": ("holds", 0.4),
    "flex.corollary4_0_3_loss": ("violated", 4.0),
    "flex.eq9_at_T_explicit": ("holds", 0.02),
}


@pytest.mark.parametrize("name", DECIDED)
def test_verdicts_and_weakened_bounds(name):
    claim = ft.claim(name)
    status, budget = DECIDED[name]
    assert ft.check(claim, budget=budget).status == status
    verdict = ft.check(claim.replace(bound=claim.weakened, name="damaged"), budget=max(1.0, budget))
    assert verdict.status == "violated"
    document = json.loads(json.dumps(verdict.certificate))
    assert ft.replay(document)["status"] == "violated"
    for key in ("instance", "numbers", "statement"):
        changed = copy.deepcopy(document)
        changed[key]["extra"] = "1"
        with pytest.raises(Refused):
            ft.replay(changed)


@pytest.mark.parametrize(
    "name", ["flex.theorem3_1", "flex.corollary3_2_1", "flex.corollary4_0_3_loss"]
)
def test_bounded_gradients_on_all_points_have_no_strongly_convex_instance(name):
    """Assumption 3.4 for every w against assumption 3.2: without the bounded set nothing meets
    both."""
    verdict = ft.check(ft.claim(name).without("stays"), budget=0.3)
    assert verdict.status == "vacuous" and verdict.tightness is None


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.holds], ids=lambda s: s.name)
def test_what_is_no_instance_has_no_constants(setting):
    """A claim that assumes nothing is not broken by curvatures below zero or chances beyond one
    either."""
    random = Random("checked")
    shape = setting.shapes(random, setting.ensures)
    kinds = setting.coordinates(shape)
    point = point_of(random, kinds)
    setting.constants(setting.build(shape, point))
    name = next(name for name, kind in kinds.items() if name.startswith("a_"))
    with pytest.raises(Undefined):
        setting.constants(setting.build(shape, {**point, name: -point[name]}))

"""One iteration of FED-LAMB as a setting: constants by hand, three arithmetics that agree, verdicts
and documents."""

import json
from fractions import Fraction as Q
from random import Random

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many, Undecided, ends_of
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.models import fitting
from fedtheory.models.lamb import broken
from fedtheory.models.lamb import round as lamb_round
from fedtheory.search.objective import as_array
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.decision import decide_line

HUBER = dict(
    slope=Q(0), tilt=Q(-3), bends=[[Q(2), Q(0)], [Q(-2), Q(2)]]
)  # gradient from -3 to 1, by 2 over [0, 2]
STEEP = dict(slope=Q(0), tilt=Q(5), bends=[[Q(-4), Q(1)], [Q(4), Q(2)]])  # from 5 down to 1
FLAT = dict(slope=Q(0), tilt=Q(1), bends=[])


def hand(**change):
    """Two clients, layers of 2 and 1 coordinates, noise (2, 1, 0) with chance 1/5 and (-1/2, -1/4,
    0) with 4/5."""
    return dict(
        dict(
            n=2,
            T=2,
            t=1,
            layers=[[0, 2], [2, 3]],
            losses=[[HUBER, FLAT, STEEP], [FLAT, HUBER, FLAT]],
            x=[Q(1), Q(0), Q(1)],
            alpha=Q(1, 2),
            phi=[Q(1, 3), Q(4)],
            noise=[[Q(1, 5), [Q(2), Q(1), Q(0)]], [Q(4, 5), [Q(-1, 2), Q(-1, 4), Q(0)]]],
        ),
        **change,
    )


VALUES = dict(beta_1=Q(1, 3), beta_2=Q(3, 4), v_0=Q(1, 4))


def test_constants_by_hand():
    found = lamb_round.derive_constants(hand())
    assert (found["L_l"], found["L_bar"], found["sigma"]) == (
        4,
        4,
        1,
    )  # variance (4 + 4/4) / 5 = 1 in coordinate 1
    assert broken.layer_smoothness(hand()) == [2, 4]
    # (-3 - 1/2)^2 + (1 - 1/4)^2 + 5^2 = 37.8125 for client 1; (1 + 2)^2 + (1 + 1)^2 + ... and 5^2
    # for the other outcome
    outcomes = [(-3.5) ** 2 + 0.75**2 + 25, max(1.0, 3.0) ** 2 + 2.0**2 + 25]
    low, high = ends_of(found["M"])
    assert low**2 <= Q(max(outcomes)) <= high**2 and high - low < Q(1, 10**50)
    assert {
        name: found[name] for name in ("n", "T", "h", "p", "alpha_r", "phi_m", "phi_M")
    } == dict(n=2, T=2, h=2, p=3, alpha_r=Q(1, 2), phi_m=Q(1, 3), phi_M=4)


def test_no_stochastic_gradient_is_longer_than_M():
    random, checked = Random(3), 0
    for _ in range(40):
        shape = lamb_round.draw_shapes(random, frozenset())
        at = point(shape, random)
        instance = lamb_round.MODEL.build(shape, at)
        M, L = (float(lamb_round.derive_constants(instance)[name]) for name in ("M", "L_l"))
        knots = [float(k) for loss in instance["losses"] for f in loss for _, k in f["bends"]]
        grid = [Q(z) for z in (*np.linspace(min(knots) - 1, max(knots) + 1, 41), *knots)]
        for loss in instance["losses"]:
            slopes = [[float(lamb_round.losses.slope_at(f, z)) for z in grid] for f in loss]
            for _, error in instance["noise"] or [(1, [0] * len(loss))]:
                longest = (
                    sum(max((g + float(e)) ** 2 for g in gs) for gs, e in zip(slopes, error)) ** 0.5
                )
                assert longest <= M * (1 + 1e-9)
                checked += longest > M * (1 - 1e-9)
            for gs in slopes:
                rises = [
                    abs(a - b) - L * abs(float(y - z))
                    for a, b, y, z in zip(gs, gs[1:], grid, grid[1:])
                ]
                assert max(rises) <= 1e-9 * (1 + M)
    assert checked >= 40  # reached by a client and an outcome of each


def point(shape, random, model=lamb_round.MODEL):
    """Rational coordinates."""
    draw = dict(
        real=lambda: Q(random.randint(-12, 12), 4),
        positive=lambda: Q(random.randint(1, 12), 4),
        unit=lambda: Q(random.randint(0, 4), 4),
    )
    return {name: draw[kind]() for name, kind in model.coordinates(shape).items()}


def agree(setting, measured, seeds, values=VALUES):
    """What rationals and intervals give is what a batch gives; returns how many numbers differ from
    zero."""
    told = 0
    for seed in seeds:
        random = Random(seed)
        shape = setting.shapes(random, frozenset())
        points = [point(shape, random, setting) for _ in range(2)]
        batch = {name: Many(np.array([float(p[name]) for p in points])) for name in points[0]}
        together = setting.build(shape, batch)
        rough = {**setting.constants(together), **values}
        with np.errstate(all="ignore"):
            rough.update(setting.measure(together, rough, measured))
        for n, at in enumerate(points):
            instance = setting.build(shape, at)
            exact = {**setting.constants(instance), **values}
            if exact["M"] == 0:  # no M > 0, as its domain has it
                continue
            try:
                exact.update(setting.measure(instance, exact, measured))
            except (
                Undecided,
                Undefined,
            ):  # a layer that may rest, a sign that may differ; no least loss
                continue
            assert setting.holds(instance)
            for name, value in exact.items():
                value = float(value) if isinstance(value, float) else float(sum(ends_of(value)) / 2)
                assert as_array(rough[name], 2)[n] == pytest.approx(value, rel=1e-9, abs=1e-9), (
                    seed,
                    name,
                    shape,
                )
                told += name in measured and value != 0
    return told


def test_a_batch_agrees_with_rationals():
    assert agree(lamb_round.MODEL, list(lamb_round.quantities.ITERATION), range(12)) > 300


def test_only_what_is_wanted_is_measured():
    instance = hand()
    values = {**lamb_round.derive_constants(instance), **VALUES}
    assert lamb_round.measure_symbols(instance, values, ["gap_sq"]).keys() == {"gap_sq"}
    assert lamb_round.measure_symbols(instance, values, []) == {}


@pytest.mark.parametrize(
    "name, value", [("beta_1", Q(1)), ("beta_1", Q(-1, 2)), ("beta_2", Q(2)), ("v_0", Q(0))]
)
def test_numbers_outside_the_method_measure_nothing(name, value):
    instance = hand()
    values = {**lamb_round.derive_constants(instance), **VALUES, name: value}
    with pytest.raises(Undefined):
        lamb_round.measure_symbols(instance, values, ["gap_sq"])
    values[name] = Many(np.array([float(value), float(VALUES[name])]))
    with np.errstate(all="ignore"):
        found = as_array(
            lamb_round.measure_symbols(instance, values, ["loss_next"])["loss_next"], 2
        )
    assert np.isnan(found).tolist() == [True, False]


@pytest.mark.parametrize(
    "change",
    [
        dict(noise=[[Q(1, 2), [Q(1), Q(0), Q(0)]], [Q(1, 2), [Q(0), Q(0), Q(0)]]]),
        dict(layers=[[0, 2], [1, 3]]),
        dict(layers=[[0, 2]]),
        dict(n=3),
        dict(phi=[Q(5), Q(4)]),
        dict(phi=[Q(0), Q(4)]),
        dict(alpha=Q(0)),
        dict(T=0),
        dict(noise=[[Q(1, 2), [Q(0)] * 3], [Q(1, 4), [Q(0)] * 3]]),
        dict(x=[Q(1), Q(0)]),
        dict(t=-1),
    ],
)
def test_parts_that_do_not_fit_meet_no_condition(change):
    assert lamb_round.conditions_held(hand()) and not lamb_round.conditions_held(hand(**change))


def test_what_an_instance_does_not_meet():
    quadratic = dict(slope=Q(1), tilt=Q(0), bends=[])
    found = hand(losses=[[HUBER, HUBER, quadratic], [FLAT, HUBER, FLAT]])
    assert "bounded_gradient" not in lamb_round.conditions_held(found)
    assert lamb_round.derive_constants(found)["M"] == float("inf")
    # Both clients' third coordinate rises for ever: no minimum. With a Huber curve twice as steep
    # there is one
    assert "bounded_below" not in lamb_round.conditions_held(hand())
    bowl = dict(slope=Q(0), tilt=Q(-9), bends=[[Q(9), Q(0)], [Q(-9), Q(2)]])
    assert "bounded_below" in lamb_round.conditions_held(
        hand(losses=[[bowl] * 3, [FLAT, HUBER, FLAT]])
    )


def asked(claim, budget=2.0, line=0):
    return decide_line(Case.of(claim, budget, 0, line=line))


STEPS = [
    "lemma1",
    "lemma2",
    "step7",
    "step11",
    "step13",
    "step16",
    "step16_half",
    "step_split",
    "step_momentum",
    "step17",
    "step_B1",
    "step_B2",
    "step_17_becomes",
    "step_inner",
    "step_g_bar",
    "step_average",
    "step_A1",
]
TEETH = [
    "lemma1",
    "lemma2",
    "step7",
    "step13",
    "step_split",
    "step17",
    "step_B2",
    "step_17_becomes",
]
FALSE = ["lemma1", "lemma2", "step_B2"]
TRUE = ["step7", "step13", "step_split", "step17"]


@pytest.mark.parametrize("name", STEPS)
def test_the_setting_fits(name):
    assert lamb_round.MODEL in fitting(ft.claim(f"lamb.{name}"))


@pytest.mark.parametrize("name", TEETH)
def test_false_variants_are_refuted(name):
    claim = ft.claim(f"lamb.{name}")
    found = asked(claim.replace(name=claim.id + "_false", bound=claim.weakened))
    assert found.status == "violated"


@pytest.mark.parametrize("name", FALSE)
def test_what_fails_does_so_by_a_document(name):
    found = asked(ft.claim(f"lamb.{name}"))
    assert found.status == "violated"
    document = json.loads(json.dumps(found.certificate))
    assert ft.replay(document)["status"] == "violated"
    document["instance"]["alpha"] = "1/1000003"
    with pytest.raises(Refused, match="digest"):
        ft.replay(document)
    document["digest"] = check_instance.digest_of(document)
    document["instance"]["phi"] = ["-1", "1"]
    document["digest"] = check_instance.digest_of(document)
    with pytest.raises(Refused):
        ft.replay(document)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_not_refuted(name):
    """Convexity, smoothness layer by layer, and identities."""
    found = asked(ft.claim(f"lamb.{name}"), 0.6)
    assert found.status in ("holds", "proved") and found.tightness >= 0.49


def test_lemma2_by_hand():
    """Two clients on the line, gradients -1/2 falling to -3/2 over [0, 1] and 3/2 left of 0, one
    step of length 1.

    They end at 1 and -1, where gradients are -3/2 and 3/2: mean 0. At their mean 0 the mean
    gradient is 1/2, so half its square is 1/8; L-bar alpha^2 M^2 phi_M^2 (1 - beta_2) p / v_0 =
    (9/4) / 100.
    """
    fall = [[Q(-1), Q(0)], [Q(1), Q(1)]]
    clients = [[dict(slope=Q(0), tilt=tilt, bends=fall)] for tilt in (Q(-1, 2), Q(3, 2))]
    instance = hand(
        T=1, t=0, layers=[[0, 1]], losses=clients, x=[Q(0)], noise=[], alpha=Q(1), phi=[Q(1), Q(1)]
    )
    values = {
        **lamb_round.derive_constants(instance),
        "beta_1": Q(0),
        "beta_2": Q(99, 100),
        "v_0": Q(1),
        "lambda_": Q(0),
    }
    values.update(lamb_round.measure_symbols(instance, values, ["avg_grad_by_v", "grad_by_v"]))
    assert values["avg_grad_by_v"] == 0 and values["grad_by_v"] == Q(1, 4)
    claim = ft.claim("lamb.lemma2")
    given = {name: values[name] for name in claim.needs(claim.bound)}
    given.update(T=1, lambda_=0, L_l=values["L_l"])
    assert claim.evaluate(given).exact == Q(1, 8) - Q(9, 400) > 0

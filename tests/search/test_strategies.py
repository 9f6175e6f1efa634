"""Cases are inside the assumptions, reach their corners, repeat, and shrink to small rationals."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

import fedtheory as ft
from fedtheory.arithmetic.operations import vector
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, SMOOTH
from fedtheory.models.losses import loss_gradient, loss_value
from fedtheory.search.exact_instances import answer_at
from fedtheory.search.strategies import cases, measure, shapes_with_instances
from fedtheory.symbols.run import TABLE, L, f_x, f_y, inner_xy, sq_xy

QUIET = settings(
    max_examples=40, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
)
DESCENT = Claim(
    id="house.descent",
    cites="descent lemma",
    symbols=TABLE,
    measures=f_y,
    assumes=(SMOOTH, CONVEX),
    bound=f_x + inner_xy + L / 2 * sq_xy,
)
FALSE = DESCENT.replace("house.too_low", bound=f_x + inner_xy + L / 4 * sq_xy)


def drawn(strategy, profile=QUIET):
    found = []

    @profile
    @given(strategy)
    def collect(case):
        found.append(case)

    collect()
    return found


@given(cases(DESCENT))
@settings(QUIET, max_examples=60)
def test_a_property_test_as_a_user_writes_it(case):
    assert measure(DESCENT, case).lower <= DESCENT.evaluate(case.values)


def test_the_same_test_refutes_what_is_false():
    @given(cases(FALSE))
    @settings(QUIET)
    def progress_stays_below(case):
        assert measure(FALSE, case).lower <= FALSE.evaluate(case.values)

    with pytest.raises(AssertionError):
        progress_stays_below()


def test_what_is_measured_is_the_loss_itself():
    for case in drawn(cases(DESCENT)):
        loss, x, y = case.instance["loss"], vector(case.instance["x"]), vector(case.instance["y"])
        assert measure(DESCENT, case).exact == loss_value(loss, y)
        assert case.values["inner_xy"] == sum(
            g * (b - a) for g, a, b in zip(loss_gradient(loss, x), x, y)
        )


def test_a_counterexample_shrinks_to_small_rationals():
    case = find(
        cases(FALSE),
        lambda case: answer_at(FALSE, case).certainly_fails,
        settings=settings(
            QUIET,
            max_examples=500,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert len(case.instance["loss"]) == 1  # one dimension
    numbers = [*case.instance["x"], *case.instance["y"], case.numbers["L"]]
    assert all(abs(n.numerator) <= 2 and n.denominator <= 2 for n in numbers), numbers


def test_cases_lie_inside_and_reach_the_edges():
    claim = ft.claim("fsl.theorem1")
    found = drawn(cases(claim, "fsl_round"), settings(QUIET, max_examples=60))
    assert len(found) >= 50  # next to nothing is filtered
    assert all(claim.admits(case.values) == [] for case in found)
    assert all(isinstance(v, Fraction) for case in found for v in case.values.values())
    instances = [case.values for case in found]
    corners = dict(
        alone=lambda v: v["N"] == 1,
        everyone=lambda v: v["S"] == v["N"] > 1,
        alike=lambda v: v["G"] == 0,
        no_server=lambda v: v["gamma"] == 0,
        stationary=lambda v: v["sq_tilde_grad"] == 0,
        steep=lambda v: v["L"] >= 100 or v["L"] <= Fraction(1, 100),
        noisy=lambda v: v["sigma"] > 0,
        many_steps=lambda v: v["K"] >= 5,
        edge=lambda v: (
            4 * v["L"] * v["K_0"] * v["eta_0"]
            >= Fraction(9, 10)
            * min(Fraction(8, 9), v["eta_g"], 1 / v["gamma"] if v["gamma"] else 1)
        ),
    )
    assert [name for name, there in corners.items() if not any(map(there, instances))] == []


def test_the_same_cases_every_time_and_small_shapes_first():
    claim = ft.claim("mixed.lemmaD9")
    assert drawn(cases(claim)) == drawn(cases(claim))
    first, last = (
        shapes_with_instances(claim, "mixed_round")[0][0],
        shapes_with_instances(claim, "mixed_round")[-1][0],
    )
    assert first["S"] * first["K"] == 1 < last["S"] * last["K"]


@pytest.mark.parametrize(
    "claim, setting, words",
    [
        (
            "fsl.theorem1",
            "mixed_round",
            "setting must be one of fsl_large, fsl_round for fsl.theorem1",
        ),
        (
            DESCENT.replace("house.none", assumptions=(SMOOTH, L < 0)),
            None,
            "instances inside its hypotheses",
        ),
    ],
)
def test_refusals(claim, setting, words):
    with pytest.raises(InvalidInput, match=words):
        cases(claim, setting)

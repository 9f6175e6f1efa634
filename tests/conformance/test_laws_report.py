"""Laws are those of the method alone; they catch faults from after the round, and two that any run
to the minimiser would pass."""

from functools import cache

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.conformance import laws
from fedtheory.conformance.laws import LAWS
from fedtheory.conformance.work import WORK
from fedtheory.errors import InvalidInput

from .test_conform import (
    FAITHFUL,
    FAULTS,
    NAME,
    FedAvg,
    FedDyn,
    OneWay,
    Parallel,
    Scaffold,
    SchemeA,
    SchemeC,
    asked,
)

REST, MEAN, KEEPS, STRAIGHT, STEP, BOTH, DRAWN, COPIES, ENOUGH = (
    next(law.name for law in (*LAWS, *WORK) if law.name.startswith(start))
    for start in (
        *(
            "rests",
            "the server's",
            "who rests",
            "memories of",
            "K = 1 is a grad",
            "K = 1 is a step",
        ),
        *("who is drawn", "copies", "one of equals"),
    )
)
# What laws do not see: FedDyn without its quadratic term rests where FedDyn does, on another way; and
# Adam's v has no law but its line: coordinates, scales and rounds are all special to it.
UNSEEN = {"FedDyn--no prox", "FedAdam--v"}


@cache  # of faithful code, which two tests look at
def obeyed(code):
    return laws(code.method, code.start, code.round, code.state, code.hyper)


def outcomes(found):
    return {law.name: law.outcome for law in found.found}


@pytest.mark.parametrize("code", FAITHFUL, ids=NAME)
def test_faithful_code_obeys_its_methods_laws(code):
    found = obeyed(code)
    assert not found.broken, str(found)
    assert sum(law.outcome == "obeyed" for law in found.found) >= 6
    assert "Traceback" not in str(found) and code.method in str(found)


def test_which_laws_are_whose():
    """By the papers: drift keeps FedAvg from the minimiser and not SCAFFOLD or FedDyn; a coordinate
    is special to Adam alone; FedDyn's first round is no gradient step."""
    of = {NAME(code): obeyed(code) for code in FAITHFUL}
    rest = {
        name: next(law.says for law in found.found if law.name == REST)
        for name, found in of.items()
    }
    assert "which is not the minimiser" in rest["FedAvg-"]
    assert all(
        "which is not" not in rest[name] for name in ("Scaffold-I", "Scaffold-II", "FedDyn-")
    )
    # F's minimiser by hand: sum p_i a_i b_i / sum p_i a_i, coordinate by coordinate
    assert "[0.833333, -0.166667]" in rest["Scaffold-II"]
    turned = {name for name, found in of.items() if outcomes(found)["rotation"] == "not asked"}
    assert turned == {"FedAdam-"}
    assert outcomes(of["FedDyn-"])[STEP] == "not asked" != outcomes(of["Scaffold-I"])[STEP]


# SCAFFOLD and FedDyn that reach the minimiser of F, to the last digit, and are wrong
WRONG_AND_THERE = [Scaffold("II", "cohort"), FedDyn("cohort")]


@pytest.mark.parametrize("code", WRONG_AND_THERE, ids=NAME)
def test_reaching_the_minimiser_is_not_enough(code):
    found = obeyed(code)
    assert [law.name for law in found.broken] == [MEAN], str(found)
    assert next(law for law in found.found if law.name == REST).outcome == "obeyed"


@pytest.mark.parametrize(
    "code, names",
    [
        (FedAvg("weights"), {REST, STEP, COPIES}),
        (FedAvg("denominator"), {"stays at a common minimiser", "shift", DRAWN}),
        (FedAvg("first"), {REST, STEP, "order of a cohort"}),
        (Scaffold("II", "biased"), {KEEPS, STRAIGHT, "relabelled clients"}),
        (Scaffold("II", "swap"), {REST, STRAIGHT}),
        (Scaffold("II", "K"), {STRAIGHT}),
        (Scaffold("I", "fresh"), {"memories are gradients at x"}),
        (SchemeC("mean"), {"work adds up"}),
        (SchemeC("unscaled"), {"work is scaled up"}),
        (SchemeA("keeps"), {"who is not ready does not count", ENOUGH}),
        (SchemeA("N"), {ENOUGH}),
        (OneWay("stale"), {"a round knows x alone", BOTH}),
        (OneWay("eta_s"), {BOTH}),
        (OneWay("N"), {DRAWN}),
        (Parallel("mean"), {BOTH}),
    ],
    ids=lambda v: "" if isinstance(v, set) else NAME(v),
)
def test_a_fault_breaks_the_laws_that_it_must(code, names):
    assert {law.name for law in obeyed(code).broken} == names


@pytest.mark.slow
@pytest.mark.parametrize("code", [code for code, _ in FAULTS], ids=NAME)
def test_laws_alone_see_all_faults_but_two(code):
    assert bool(obeyed(code).broken) == (NAME(code) not in UNSEEN)


def test_laws_of_incomplete_work_are_those_of_the_schemes():
    """By section 4.1: A discards what is incomplete and makes up for it, B takes it as it is, C scales
    it up; coefficients of B and C are each client's own."""
    of = {
        NAME(code)[:7]: {law.name for law in obeyed(code).found if law.outcome == "obeyed"}
        for code in FAITHFUL
        if code.method.startswith("flex")
    }
    assert {name: {law.name for law in WORK} & laws for name, laws in of.items()} == {
        "SchemeA": {*SHARED, "who is not ready does not count", ENOUGH},
        "SchemeB": {*SHARED, "work adds up", "work counts in proportion"},
        "SchemeC": {*SHARED, "work adds up", "work is scaled up"},
    }
    names = {law.name for law in obeyed(FAITHFUL[0]).found}
    assert not names & {law.name for law in WORK}  # FedAvg's listing knows no incomplete work


SHARED = {"nobody works", "who does nothing is not seen"}


def test_laws_ask_for_nothing_but_points():
    """Gradients in any order, steps that are not told, no memories shown: what is left is asked."""

    class Shut(Scaffold):
        def round(self, s, cohort, work, gradient):
            return super().round(s, cohort, work, lambda i, y, k: gradient(i, y, 0))

        def state(self, s):
            return dict(x=s["x"])

    assert asked(Shut("II")).broken is not None
    found = obeyed(Shut("II"))
    assert not found.broken
    assert outcomes(found)[MEAN] == outcomes(found)[KEEPS] == "not asked"
    assert [law.name for law in obeyed(Shut("II", "no c_i")).broken] == [REST, STEP]


def test_a_run_that_diverges_breaks_a_law_and_nothing_else():
    found = obeyed(FedAvg("sign"))
    assert REST in {law.name for law in found.broken}


def test_where_the_method_rests_is_where_the_engine_ends():
    """The law's long run against `ft.run` compiled, on the same losses typed anew."""
    a, b = np.array([1, 1, 0.5, 2.0]), np.array([[1, 1], [2, 0], [-1, 3], [0, -2.0]])
    problem = ft.problems.quadratic_from_arrays(a[:, None] * np.ones(2), b, weights=[3, 2, 1])
    end = ft.run(problem, "fedavg", rounds=150, x_0=[3.0, 4.0], K=3, eta_l=0.25, metrics=()).final[
        0
    ]
    code = FedAvg()
    code.hyper = code.hyper | dict(weighting="samples")
    told = next(law.says for law in obeyed(code).found if law.name == REST)
    assert f"[{end[0]:.6g}, {end[1]:.6g}]" in told


@pytest.mark.parametrize(
    "method, more, says",
    [
        ("no_such", {}, "algorithm must be one of"),
        ("fedavg", dict(state=1), "state must be a function"),
        ("fedavg", dict(state=lambda s: s["x"]), "state must return a dict with x"),
        ("fedavg", dict(weighted=1), "weighted must be True or False"),
        (
            "scaffold",
            dict(hyper=dict(eta_l=0.25), state=lambda s: dict(s, c=s["x"], c_i={0: s["x"]})),
            "state: c_i must have rows of clients 1..3; got 0",
        ),
    ],
)
def test_bad_input_is_refused(method, more, says):
    code = FedAvg()
    given = dict(start=code.start, round=code.round, state=code.state, hyper=code.hyper) | more
    with pytest.raises(InvalidInput, match=says):
        laws(method, **given)

"""A hypothesis that is taken away is broken by what is then searched, or nothing is said of it."""

from fractions import Fraction as Q

import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory import discover
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import (
    CONVEX,
    EQUAL_WEIGHTS,
    EXACT_GRADIENTS,
    INDEPENDENT,
    LIPSCHITZ,
    NOISE,
    SAMPLED_BY_WEIGHT,
    SMOOTH,
    UNIFORM_COHORT,
    Condition,
)
from fedtheory.language.symbol import CURVATURE, Table
from fedtheory.models import fitting
from fedtheory.models.fsl import large as fsl_large
from fedtheory.models.fsl import round as fsl_round
from fedtheory.models.general import run_cohort
from fedtheory.models.losses import curve_from_pieces
from fedtheory.search.exact_instances import ExactInstance, answer_at
from fedtheory.symbols.run import TABLE as HOUSE
from fedtheory.verdicts import case as cases
from fedtheory.verdicts import dropped_hypotheses
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.model_search import search_model


def loosened(claim, name):
    """The constants that are any number once a hypothesis is gone."""
    return {n for n in ft.claim(claim).without(name).parameters if n.startswith("any_")}


@pytest.mark.parametrize(
    "claim, name, free",
    [
        ("mixed.lemmaD8", "smooth", {"any_beta"}),  # the paper's beta is a problem's L
        ("mixed.lemmaD8", "convex", {"any_mu"}),
        ("mixed.theoremB1_convex", "dissimilar", {"any_B", "any_G"}),
        ("flex.theorem3_1", "second_moment", {"any_G"}),  # flex's G is a problem's M
        ("flex.theorem3_1", "devices_smooth", {"any_L"}),
        ("flex.corollary4_0_2", "bounded_by_W", set()),  # the same of F_l is left
        ("lamb.theorem1", "layer_smooth", {"any_L_l"}),
        ("lamb.theorem1", "coordinate_variance", {"any_sigma"}),
        ("lamb.theorem1", "bounded_gradient", {"any_M"}),
        ("lamb.theorem1", "bounded_scale", {"any_phi_M"}),
        ("lamb.theorem1_explicit", "layer_smooth", {"any_L_l", "any_L_bar"}),
        ("fsl.theorem1", "dissimilar", {"any_G"}),
        ("fsl.theorem1", "smooth", set()),  # lipschitz is left
    ],
)
def test_a_paper_s_letter_is_freed_whatever_a_problem_calls_it(claim, name, free):
    assert loosened(claim, name) == free


def test_every_constant_that_a_record_s_conditions_certify_can_be_freed():
    """What a condition certifies is found through the paper's table, never by a coincidence of
    names."""
    for claim in discover.claims():
        own = [*claim.assumes, *claim.unstated]
        conditions = [a.condition for a in own if a.condition is not None]
        if claim.lines and conditions:
            constants = {name for condition in conditions for name in condition.constants}
            certified = [
                n for n in claim.parameters if claim.table.constants.get(n, n) in constants
            ]
            bare = claim.under([a for a in own if a.condition is None])
            assert not set(certified) & set(bare.parameters), claim.id


def test_a_table_of_one_s_own_names_its_constants():
    table = Table("mine", constants={"ell": "L"})
    ell = table.positive("ell", r"\ell", "smoothness", CURVATURE)
    smooth = Condition("smooth", "losses are smooth", lambda problem, setup: True, ("L",))
    claim = Claim(
        id="mine.bound", cites="x", symbols=table, measures=ell, bound=2 * ell, assumes=(smooth,)
    )
    assert set(claim.without("smooth").parameters) == {"any_ell"}


def test_smoothness_is_needed_in_lemma_D8():
    """By hand: h = 5 x^2, beta = 1, mu = 1/10, eta = 1: (1 - 10)^2 = 81 > 9/10 = (1 - eta mu)."""
    claim = ft.claim("mixed.lemmaD8").without("smooth")
    loss = [dict(slope=Q(10), tilt=Q(0), bends=[], soft=[])]
    numbers = dict(eta=Q(1), any_beta=Q(1), mu=Q(1, 10))
    found = answer_at(
        claim,
        ExactInstance(
            "mixed_functions", dict(loss=loss, x=[Q(1)], y=[Q(0)], z=[Q(0)]), numbers, {}
        ),
    )
    assert (
        (found.left, found.right) == (81, Q(9, 10))
        and found.certainly_fails
        and not list(found.failing())
    )
    assert "smooth" in [a.name for a in ft.minimise("mixed.lemmaD8", budget=2).needed]


@pytest.mark.parametrize("name", ["work_independent", "static_law", "independent_noise"])
def test_where_no_instance_breaks_what_was_dropped_nothing_is_said(name):
    """Devices draw their work anew and apart from noise in every setting of flex."""
    verdict = ft.check(ft.claim("flex.theorem3_1").without(name), budget=0.5)
    assert verdict.status == "undecided" and "breaks what is not assumed any more" in verdict.why


def test_what_holds_without_a_hypothesis_says_how_many_instances_break_it():
    f_x, f_y, inner_xy, L, sq_xy = (
        HOUSE[name].symbol for name in ("f_x", "f_y", "inner_xy", "L", "sq_xy")
    )
    claim = Claim(
        id="house.descent",
        cites="x",
        symbols=HOUSE,
        measures=f_y,
        bound=f_x + inner_xy + L / 2 * sq_xy,
        assumes=(SMOOTH, CONVEX),
    )
    verdict = ft.check(claim.without("convex"), budget=0.5)
    assert verdict.status == "holds" and "without: " in verdict.searched


def test_what_follows_from_the_rest_need_not_be_broken():
    t = Table("mine")
    a, b = t.positive("a", "a", ""), t.positive("b", "b", "")
    claim = Claim(
        id="mine.a", cites="x", symbols=t, measures=a, bound=b, assumes=(a <= b, 2 * a <= 2 * b)
    )
    bare = claim.without("2 a <= 2 b")
    assert [str(each) for each in bare.dropped] == [
        "2 a <= 2 b"
    ] and dropped_hypotheses.relevant_hypotheses(bare, 1.0) == []
    assert dropped_hypotheses.relevant_hypotheses(claim.without("a <= b", "2 a <= 2 b"), 1.0) == [
        *claim.assumes
    ]
    assert bare.replace(assumptions=[*bare.assumes, *bare.dropped]).dropped == ()


def test_steps_that_share_their_noise_break_theorem1():
    """They take K S > 10, more than enumeration follows one by one."""
    claim = ft.claim("fsl.theorem1").without("independent_noise")
    unmet = dropped_hypotheses.ViolationCounts(dict.fromkeys(claim.dropped, 0), {})
    found = search_model(cases.Case.of(claim, 0.5), fsl_large.MODEL, unmet)
    verdict = conclude(claim.id, found)
    assert verdict.status == "violated" and ft.replay(verdict.certificate)["status"] == "violated"


def test_one_sided_smoothness_breaks_theorem1():
    """The text's upper quadratics leave steep concave pieces out of L: ten steps of a client lead
    astray."""
    curve = lambda tilt, *bends: [dict(slope=Q(-1, 125), tilt=tilt, bends=list(bends), soft=[])]
    knots = Q(-4, 3), Q(8, 3)
    instance = dict(
        N=1,
        S=1,
        K=10,
        K_0=1,
        x=[Q(-1, 7)],
        noise=[],
        noise_0=[],
        breaks="lipschitz",
        losses=[
            curve(Q(1, 350), [Q(-1, 500), knots[0]], [Q(2, 195), knots[1]]),
            curve(Q(-7, 300), [Q(3, 1000), knots[0]], [Q(41, 7800), knots[1]]),
        ],
    )
    numbers = dict(eta_g=Q(1, 47470), eta_0=Q(1, 6042), gamma=Q(14))
    found = answer_at(
        ft.claim("fsl.theorem1").without("lipschitz"),
        ExactInstance("fsl_round", instance, numbers, {}),
    )
    assert found.certainly_fails and not list(found.failing())
    assert "lipschitz" not in fsl_round.conditions_held(instance)


def test_most_of_a_budget_goes_where_what_was_dropped_can_be_broken():
    claim = ft.claim("fsl.theorem1").without("lipschitz")
    settings = [
        fsl_large.MODEL,
        fsl_round.MODEL,
    ]  # quadratics of one curvature have one L on both sides
    assert dropped_hypotheses.budget_shares(claim, 0, settings, claim.dropped, 0) == [0.1, 0.9]
    assert dropped_hypotheses.budget_shares(ft.claim("fsl.theorem1"), 0, settings, {}, 0) == [
        0.5,
        0.5,
    ]


def test_only_what_makes_a_difference_counts_as_broken():
    assert "independent_noise" in fsl_round.conditions_held(
        case := dict(
            N=1,
            S=1,
            K=1,
            K_0=1,
            x=[Q(0)],
            noise=[[Q(1, 2), [Q(1)]], [Q(1, 2), [Q(-1)]]],
            noise_0=[],
            losses=[[curve_from_pieces([Q(1)], [])], [curve_from_pieces([Q(1)], [])]],
            breaks="independent_noise",
        )
    )
    assert "independent_noise" not in fsl_round.conditions_held(dict(case, K=2))
    assert "lipschitz" in fsl_round.conditions_held(dict(case, breaks="lipschitz"))


def test_many_steps_that_share_a_draw_by_hand():
    """f = x^2/2 + 0, N = S = K_0 = 1, eta_g = 1, gamma = 0: y = (1 - eta)^K x - (1 - (1 - eta)^K)
    n."""
    instance = dict(
        N=1,
        S=1,
        K=3,
        K_0=1,
        kind_1=1,
        x=Q(0),
        slope=Q(1),
        slope_0=Q(1),
        tilts=[Q(0)] * 3,
        sigma=Q(2),
        sigma_0=Q(0),
        shared=1,
    )
    values = dict(eta_l=Q(1, 2), eta_g=Q(1), eta_0=Q(1), gamma=Q(0))
    assert (
        fsl_large.measure_symbols(instance, values, ["tilde_F_next"])["tilde_F_next"]
        == Q(7, 8) ** 2 * 4 / 2
    )
    apart = {name: value for name, value in instance.items() if name != "shared"}
    assert (
        fsl_large.measure_symbols(apart, values, ["tilde_F_next"])["tilde_F_next"]
        == Q(1 + 4 + 16, 64) * 4 / 2
    )
    assert "independent_noise" in fsl_large.conditions_held(
        apart
    ) and "independent_noise" not in fsl_large.conditions_held(instance)


# Laws of chance that were never written


def of_cohorts(*assumes):
    """The variance of a cohort's mean gradient, by every law that it needs."""
    names = ("cohort_error", "sigma", "S", "rho_s", "G_t_sq")
    error, sigma, S, rho_s, spread = (HOUSE[name].symbol for name in names)
    bound = sigma**2 / S + rho_s * spread / S
    return Claim(
        id="mine.cohort", cites="x", symbols=HOUSE, measures=error, bound=bound, assumes=assumes
    )


EVERY = (NOISE, INDEPENDENT, UNIFORM_COHORT, EQUAL_WEIGHTS)


@pytest.mark.parametrize("lost", EVERY, ids=lambda law: law.name)
def test_a_law_that_was_never_written_is_broken_as_one_that_is_dropped(lost):
    kept = [law for law in EVERY if law is not lost]
    for claim in (of_cohorts(*kept), of_cohorts(*EVERY).without(lost.name)):
        verdict = ft.check(claim, budget=1.0)
        assert verdict.status == "violated"
        assert ft.replay(verdict.certificate)["status"] == "violated"
    written = ft.check(of_cohorts(*kept), budget=1.0)
    assert f"does not meet what the claim does not assume: {lost.says}." in written.why


def test_with_every_law_it_holds():
    verdict = ft.check(of_cohorts(*EVERY), budget=0.5)
    assert verdict.status == "holds" and "does not assume" not in f"{verdict} {verdict.notes}"


def test_without_any_law_that_always_works_client_1_refutes_it():
    """Gradients 3, 0, 0: 4 <= 2."""
    instance = dict(S=1, grads=[[Q(3)], [Q(0)], [Q(0)]], noise=[], breaks="uniform_cohort")
    found = answer_at(of_cohorts(), ExactInstance("run_cohort", instance, {}, {}))
    assert (
        (found.left, found.right) == (4, 2) and found.certainly_fails and not list(found.failing())
    )
    assert list(
        answer_at(of_cohorts(*EVERY), ExactInstance("run_cohort", instance, {}, {})).failing()
    ) == [UNIFORM_COHORT.says]


def of_runs(*assumes, method="fedsgd"):
    """Gradient steps that are short enough lead no further away, with or without chance."""
    names = ("sq_distance_0", "sq_distance_T", "eta", "L")
    before, after, eta, L = (HOUSE[name].symbol for name in names)
    return Claim(
        id="mine.run",
        cites="x",
        symbols=HOUSE,
        algorithm=method,
        measures=after,
        bound=before,
        assumes=(LIPSCHITZ, CONVEX, EXACT_GRADIENTS, eta * L <= 1, *assumes),
    )


N, S, T = (HOUSE[name].symbol for name in "NST")


@pytest.mark.parametrize(
    "assumes, laws",
    [
        ((), ["equal_weights", "uniform_cohort"]),
        ((Eq(S, N),), ["equal_weights"]),
        ((S >= N,), ["equal_weights"]),
        ((Eq(N, 1),), []),
        ((SAMPLED_BY_WEIGHT,), []),
        (EVERY, []),
    ],
)
def test_a_law_matters_only_where_it_can_make_a_difference(assumes, laws):
    claim = of_runs(*assumes)
    assert [a.name for a in dropped_hypotheses.silent(claim, fitting(claim))] == laws


def test_of_one_draw_independence_says_nothing():
    claim = of_runs(Eq(N, 1), Eq(T, 1))
    noisy = claim.replace(assumptions=[a for a in claim.assumes if a.condition != EXACT_GRADIENTS])
    assert [a.name for a in dropped_hypotheses.silent(noisy, fitting(noisy))] == ["noise"]
    assert dropped_hypotheses.matters(claim.replace(assumptions=[LIPSCHITZ]), "independent_noise")


def test_papers_letters_and_losses_at_points_have_no_such_laws():
    f_y = Claim(id="mine.f", cites="x", symbols=HOUSE, measures=HOUSE["f_y"].symbol, bound=1)
    for claim in (ft.claim("fsl.lemma3"), ft.claim("fsl.h_lower"), f_y):
        assert dropped_hypotheses.silent(claim, fitting(claim)) == []


def test_what_a_run_is_read_with_is_said_first():
    """F is the plain mean unless a claim drops that: a sentence says so, and no instance breaks it."""
    verdict = ft.check(of_runs(Eq(S, N)), budget=0.5)
    assert verdict.status == "holds"
    assert verdict.notes[0] == f"It does not say so, and is read so: {EQUAL_WEIGHTS.says}."


def test_where_no_instance_breaks_what_was_never_written_nothing_is_said(monkeypatch):
    monkeypatch.setattr(run_cohort.run, "breakable", lambda *_: frozenset())
    verdict = ft.check(of_cohorts(*EVERY[:2], EQUAL_WEIGHTS), budget=0.3)
    met = "Every instance that was looked at met what the claim does not assume: "
    assert verdict.status == "undecided" and verdict.why.startswith(met + UNIFORM_COHORT.says)


def test_minimise_says_of_a_law_what_check_says():
    found = ft.minimise(of_cohorts(*EVERY), budget=4.0)
    assert {a.name for a in found.needed} == {law.name for law in EVERY}

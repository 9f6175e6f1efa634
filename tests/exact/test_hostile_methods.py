"""Hostile methods where a structure might be taken for granted: exact expectations against enumeration and
runs, kernels on batches and intervals against what they do to fractions, cohorts as sets, names."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory.arithmetic.operations import COMPARED, Interval, Many, Undecided, vector
from fedtheory.errors import InvalidInput, NotExact
from fedtheory.exact import cohorts, round_map_models
from fedtheory.exact.participation_law import Law
from fedtheory.exact.traces import Losses, Rounds, uniform_cohorts
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, LIPSCHITZ, SMOOTH
from fedtheory.models.general import method_probe
from fedtheory.symbols import run as r
from tests.checker.hostile_methods import METHOD, METHODS, TRAITS

UNORDERED = [trait for trait in TRAITS if trait not in ("first of the cohort", "writes")]
GENERATOR = np.random.default_rng(0)
CENTRES = GENERATOR.normal(size=(5, 2)) * 2
PROBLEMS = dict(
    diagonal=ft.problems.quadratic_from_arrays(
        A=[1.0, 0.25], b=CENTRES, sigma=[0.5, 0.0, 0.5, 0.0], noise="rademacher"
    ),
    dense=ft.problems.quadratic_from_arrays(
        A=np.stack([[[a, 0.3], [0.3, 0.6]] for a in (1.0, 0.5, 0.8, 0.7, 0.9)]), b=CENTRES
    ),
)


def given(trait, **more):
    return dict(rounds=2, x_0=[3.0, -2.0], eta=0.7, a=0.25, trait=TRAITS.index(trait), **more)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("trait", UNORDERED)
def test_moments_are_those_of_an_enumeration_or_are_refused(name, trait):
    problem, asked = PROBLEMS[name], given(trait, S=2)
    every = ft.expected(problem, METHOD, how="enumeration", **asked)
    try:
        moments = ft.expected(problem, METHOD, how="moments", **asked)
    except NotExact:
        return
    assert trait not in ("sign", "norm", "top", "square", "positive", "visits")
    for metric in ("loss", "sq_grad_norm", "sq_distance"):
        np.testing.assert_allclose(moments.metrics[metric], every.metrics[metric], rtol=1e-7)


@pytest.mark.parametrize("trait", ["first of the cohort", "writes"])
def test_an_enumeration_takes_a_cohort_for_a_set(trait):
    """Cohorts are enumerated in one order and drawn in any: the numbers were those of the one."""
    with pytest.raises(NotExact, match="depends on the order of the cohort"):
        ft.expected(PROBLEMS["dense"], METHOD, how="enumeration", **given(trait, S=2))
    alone = ft.expected(PROBLEMS["dense"], METHOD, how="enumeration", **given(trait, S=1))
    runs = ft.run(PROBLEMS["dense"], METHOD, trials=4000, seed=0, **given(trait, S=1))
    loss = runs.metrics["loss"][:, -1]
    assert abs(loss.mean() - alone.metrics["loss"][-1]) < 5 * loss.std() / 4000**0.5


def rounds_of(trait, grad=lambda i, y: y * F(i, 4)):
    losses = Losses(grad, lambda i, k: [], (F(0), F(1, 2), F(1, 4), F(1, 4)), 2)
    return Rounds(METHOD, losses, dict(eta=F(1), a=F(1, 4), trait=TRAITS.index(trait)))


@pytest.mark.parametrize(
    "trait, said",
    [("first of the cohort", "depends on the order of the cohort"), ("writes", "write into the")],
)
def test_traces_take_a_cohort_for_a_set_of_clients_that_leave_the_state_alone(trait, said):
    rounds = rounds_of(trait)
    with pytest.raises(NotExact, match=said):
        rounds.of(rounds.start(vector([F(1), F(2)])), uniform_cohorts(3, 2, 1))


def test_what_one_client_writes_and_another_takes_back_is_written():
    """f_1 = x + x^2/2 and f_2 = -x from 0: the second client led the state back to where it was."""
    rounds = rounds_of("writes", lambda i, y: y + F(1) if i == 1 else 0 * y - F(1))
    rounds.h = rounds.h._replace(a=F(1, 2), eta=F(1))
    with pytest.raises(NotExact, match="write into the state"):
        rounds.of(rounds.start(vector([F(0), F(0)])), uniform_cohorts(3, 3, 1))


@pytest.mark.parametrize("trait", UNORDERED)
def test_traces_follow_the_engine(trait):
    """Two rounds of everybody, exactly, against a run in floats."""
    A, x_0 = np.array([[i / 4] * 2 for i in (1, 1, 2, 3)]), [F(1), F(2)]
    problem = ft.problems.quadratic_from_arrays(A=A, b=np.zeros((4, 2)), weights=[0.5, 0.25, 0.25])
    rounds = rounds_of(trait)
    state = rounds.start(vector(x_0))
    for t in range(5):
        rounds.at(t)
        ((_, trace),) = rounds.of(state, uniform_cohorts(3, 3, 1))
        state = trace.after
    asked = {**given(trait), "rounds": 5, "x_0": [1.0, 2.0], "eta": 1.0}
    run = ft.run(problem, METHOD, keep="x", **asked)
    np.testing.assert_allclose([float(n) for n in state.x], run.x[0, -1], rtol=1e-12)


def test_orders_make_every_other():
    for size in range(1, 6):
        seen, waiting = set(), [tuple(range(size))]
        while waiting:
            order = waiting.pop()
            if order not in seen:
                seen.add(order)
                waiting += [
                    tuple(order[n] for n in move) for move in cohorts.generating_orders(size)
                ]
        assert len(seen) == int(np.prod(range(1, size + 1)))


def test_every_two_clients_meet():
    for N, S in ((4, 2), (9, 3), (12, 11)):
        law = Law("without", N, S, np.tile([0.0, 1.0], (N, 1)))
        found = round_map_models.meeting_designs(law, np.random.default_rng(0), 400)
        pairs = {(i, j) for cohort, _ in found for i in cohort for j in cohort if i < j}
        assert len(pairs) == N * (N - 1) // 2
        assert all(len(set(cohort)) == S == len(work) for cohort, work in found)


# Comparisons in users' kernels


def test_equality_is_asked_of_batches_and_intervals_in_users_kernels():
    """`==` of a batch or an interval was always False there, and an interval always true."""
    two, wide = Many(np.array([1.0, 2.0])), Interval(F(-1), F(1))
    assert not two == 1.0 and two != 1.0 and not wide == 0 and wide
    token = COMPARED.set(True)
    try:
        assert (two == 1.0).at.tolist() == [True, False] == (F(1) == two).at.tolist()
        assert (two != 1.0).at.tolist() == [False, True]
        assert Interval(F(2)) == 2 and F(2) == Interval(F(2)) and Interval(F(2), F(3)) != 1
        assert wide != float("inf") and wide != "a word"
        for undecided in (lambda: wide == 0, lambda: wide != F(1, 2), lambda: bool(wide)):
            with pytest.raises(Undecided):
                undecided()
    finally:
        COMPARED.reset(token)


def test_a_kernel_that_asks_whether_numbers_are_equal_is_read_so():
    for trait in ("top", "zero"):
        numbers = vector([Many(np.array([1.0, -2.0])), Many(np.array([3.0, -1.0]))])
        rounds = rounds_of(trait)
        with pytest.raises(ft.errors.FedtheoryError, match="no single truth"):
            for _ in range(2):  # a gradient of 0 is met, or another coordinate is the largest
                rounds.of(rounds.start(numbers), uniform_cohorts(3, 3, 1))
                numbers = vector([Many(np.array([0.0, -2.0])), Many(np.array([3.0, -1.0]))])


def test_a_search_looks_at_the_method_that_it_is_given():
    """Steps of the largest coordinate alone: no batch moved, so nothing was found against them."""
    claim = Claim(
        id="mine.top",
        cites="nobody",
        symbols=r.TABLE,
        algorithm=METHODS["top"],
        measures=r.gap_T,
        bound=r.L * r.sq_distance_0 / 100,
        assumes=(SMOOTH, CONVEX, EXACT_GRADIENTS, LIPSCHITZ, Eq(r.S, r.N), Eq(r.T, 1)),
    )
    assert ft.check(claim, budget=0.1).status == "violated"


# Names, and where a method is the same


def test_a_method_under_the_name_of_one_of_the_library_is_refused():
    """Its settings, closed forms among them, would speak for it: it does nothing, and "holds"."""
    library = ft.algorithm("fedsgd")
    still = replace(library, local_step=library.local_end)
    claim = Claim(
        id="mine.still",
        cites="nobody",
        symbols=r.TABLE,
        algorithm=still,
        measures=r.gap_T,
        bound=r.L * r.sq_distance_0 / 4,
        assumes=(SMOOTH, CONVEX, EXACT_GRADIENTS, Eq(r.S, r.N), Eq(r.eta * r.L, 1)),
    )
    with pytest.raises(InvalidInput, match="a name that no method of fedtheory has; got 'fedsgd'"):
        ft.check(claim, budget=0.3)


@pytest.mark.parametrize("trait", ["plain", "clip", "origin", "positive"])
def test_a_method_is_the_same_everywhere_where_it_is(trait):
    expected = trait not in ("origin", "positive")
    assert method_probe.alike_everywhere(METHODS[trait]) == expected


@pytest.mark.parametrize("trait", ["first of the cohort", "writes"])
def test_a_claim_about_a_method_for_which_the_order_of_a_cohort_matters_is_refused(trait):
    claim = Claim(
        id="mine.order",
        cites="nobody",
        symbols=r.TABLE,
        algorithm=METHODS[trait],
        measures=r.gap_T,
        bound=r.L * r.sq_distance_0,
        assumes=(SMOOTH, CONVEX, EXACT_GRADIENTS, Eq(r.S, r.N)),
    )
    with pytest.raises(NotExact, match="depends on the order|write into the state"):
        ft.check(claim, budget=0.1)

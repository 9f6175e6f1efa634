"""Vectors, random variables and cohorts: numbers by hand, lemmas refuted where they claim too
much."""

from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import PLAIN, Table
from fedtheory.models import by_name, fitting
from fedtheory.models.general import vectors
from tests.models.agree import exact_is_batch, fits, refuted, weakened


def test_vectors_by_hand():
    found = by_name("mixed_vectors").measure(
        dict(vectors=[[Q(1), Q(2)], [Q(0), Q(1)], [Q(3), Q(-1)]]),
        dict(a=Q(4)),
        ["sq_sum", "sum_sq", "sq_pair", "sq_i", "sq_j", "sq_cross"],
    )
    # v_i = (1, 2), v_j = (3, -1): 2 v_i + v_j / 2 = (7/2, 7/2)
    assert found == dict(sq_sum=20, sum_sq=16, sq_pair=17, sq_i=5, sq_j=10, sq_cross=Q(49, 2))


CHAIN = dict(
    up=Q(1, 4), means="given", variables=[[[Q(3)], [Q(-1)]], [[Q(5)], [Q(1)], [Q(-2)], [Q(2)]]]
)


def test_a_chain_by_hand():
    """Xi_1 is 3 or -1 (1/4, 3/4); given 3, Xi_2 is 5 or 1, given -1, it is -2 or 2: conditional
    means 2 and 1."""
    s = by_name("mixed_variables")
    wanted = ["E_sq_sum", "E_sq_sum_means", "E_sq_sum_errors", "sq_sum_means"]
    found = s.measure(CHAIN, {}, wanted)
    # sums 8, 4, -3, 1 at 1/16, 3/16, 3/16, 9/16; means 0 + 2, 0 + 1
    assert found["E_sq_sum"] == Q(64 + 3 * 16 + 3 * 9 + 9, 16)
    assert found["E_sq_sum_means"] == Q(4 + 3, 4)
    assert found["E_sq_sum_errors"] == Q(36 + 3 * 4 + 3 * 16 + 9 * 0, 16)
    assert found["sq_sum_means"] == float("inf")  # xi is random: no number
    assert (
        vectors.mean_deviations(CHAIN) == [3, Q(1, 4) * 3 + Q(3, 4) * 3]
        and s.constants(CHAIN)["tau"] == 2
    )
    assert float(s.constants(CHAIN)["spread"]) == pytest.approx(3**0.5)
    plain = s.measure(dict(CHAIN, means="plain"), {}, wanted)
    assert plain["sq_sum_means"] == plain["E_sq_sum_means"] == Q(5, 4) ** 2
    assert plain["E_sq_sum"] == plain["sq_sum_means"] + plain["E_sq_sum_errors"]


def test_conditions_are_decided_from_the_values():
    assert vectors.conditions_met(CHAIN) == {"bounded_variance", "martingale"}
    assert vectors.conditions_met(dict(CHAIN, means="plain")) == {"bounded_variance"}
    # Xi_1 takes one value only: what comes before Xi_2 says nothing, and its mean is one number,
    # not two.
    silent = dict(CHAIN, variables=[[[Q(0)], [Q(0)]], CHAIN["variables"][1]])
    assert "martingale" not in vectors.conditions_met(silent)
    free = dict(CHAIN, means="plain", variables=[[[Q(3)], [Q(-1)]], [[Q(-6)], [Q(2)]] * 2])
    assert vectors.conditions_met(free) == {
        "bounded_variance",
        "martingale",
        "zero_mean_independent",
    }
    assert "zero_mean_independent" not in vectors.conditions_met(dict(free, up=Q(1, 2)))
    assert "zero_mean_independent" not in vectors.conditions_met(
        dict(free, variables=[free["variables"][0], [[Q(-6)], [Q(2)], [Q(-3)], [Q(1)]]])
    )
    assert (
        vectors.conditions_met(dict(free, up=Q(5, 4)))
        == vectors.conditions_met(dict(free, variables=[[[Q(0)]]]))
        == frozenset()
    )


def test_a_cohort_by_hand():
    """Two of three clients with gradients 0, 0, 3 and noise +-1 at each: 1/2 noise, and 3/2^2 over
    three cohorts."""
    case = dict(
        gradients=[[Q(0)], [Q(0)], [Q(3)]],
        S=2,
        together=0,
        noise=[[[Q(1, 2), [Q(1)]], [Q(1, 2), [Q(-1)]]]] * 3,
    )
    sampling = Q(1 + Q(1, 4) + Q(1, 4)) / 3
    assert vectors.cohort_error(case, {}, [])["cohort_error"] == sampling + Q(1, 2)
    assert vectors.cohort_error(dict(case, together=1), {}, [])["cohort_error"] == sampling + 1
    assert vectors.cohort_holds(case) == {"noise", "independent_noise", "uniform_cohort"}
    assert vectors.cohort_holds(dict(case, gradients=[[Q(2)]] * 3, together=1)) == {
        "homogeneous",
        "noise",
        "uniform_cohort",
    }
    assert vectors.cohort_holds(dict(case, S=4)) == frozenset()


@pytest.mark.parametrize(
    "name, wanted, takes",
    [
        ("fsl_vectors", ["sq_sum", "sum_sq", "sq_pair", "sq_i", "sq_j"], ["a_split"]),
        ("mixed_vectors", ["sq_cross"], ["a"]),
        ("fsl_variables", ["E_sq_sum", "E_sum_sq"], []),
        ("mixed_variables", ["E_sq_sum", "E_sq_sum_means", "E_sq_sum_errors"], []),
        ("mixed_cohort", ["cohort_error"], []),
    ],
)
def test_a_batch_has_the_exact_numbers(name, wanted, takes):
    assert exact_is_batch(by_name(name), wanted, takes) > 10


@pytest.mark.parametrize(
    "name",
    [
        "fsl.lemma1",
        "fsl.lemma2",
        "mixed.lemmaD2",
        "mixed.lemmaD3",
        "mixed.lemmaD3_martingale",
        "mixed.eq5",
    ],
)
def test_false_variants_are_refuted(name):
    refuted(weakened(name))
    assert ft.check(name, budget=0.3).status in ("holds", "proved")


def test_the_printed_square_of_D2_has_the_wrong_sign():
    """v = v_i = v_j, a = 1: ||2 v||^2 is not (2 + 2) ||v||^2 - ||2 v||^2."""
    verdict = refuted(ft.claim("mixed.stepD2"))
    assert verdict.certificate["setting"] == "mixed_vectors"


@pytest.mark.parametrize(
    "name, dropped",
    [
        ("fsl.lemma1", "zero_mean_independent"),
        ("mixed.eq5", "independent_noise"),
        ("mixed.eq5", "homogeneous"),
        ("mixed.lemmaD3_martingale", "martingale"),
    ],
)
def test_what_a_lemma_assumes_it_needs(name, dropped):
    refuted(ft.claim(name).without(dropped))


def test_a_paper_s_names_are_not_another_s():
    assert not fits("fsl.lemma2", by_name("mixed_vectors")) and fits(
        "fsl.lemma2", by_name("fsl_vectors")
    )


@pytest.mark.parametrize(
    "count, read", [("m", ["fsl_vectors"]), ("tau", ["mixed_vectors"]), ("many", [])]
)
def test_a_user_s_count_is_never_free_of_the_vectors(count, read):
    """||v_1 + ... + v_m||^2 <= m (||v_1||^2 + ...) in a table of one's own: true, whatever m is
    called."""
    table = Table("mine")
    number = table.count(count, count, "how many vectors")
    square = table.measured(
        "sq_sum", "s", "squared norm of a sum", PLAIN, "sq_sum", domain="nonnegative"
    )
    sum_sq = table.measured(
        "sum_sq", "t", "sum of squared norms", PLAIN, "sum_sq", domain="nonnegative"
    )
    claim = Claim(
        id="mine.lemma", cites="mine", symbols=table, measures=square, bound=number * sum_sq
    )
    assert [setting.name for setting in fitting(claim)] == read
    assert ft.check(claim, budget=0.3).status == ("holds" if read else "undecided")

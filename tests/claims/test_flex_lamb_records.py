"""The records of flex and lamb: every id is here, speaks in plain words, has units, and its two
evaluations agree."""

import random
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import InvalidInput
from fedtheory.proofs.dimensions import unit_clashes

IDS = """
flex.eq2 flex.theorem3_1 flex.fedavg_special flex.suboptimal_DE flex.theorem3_2_arrival flex.theorem3_2_departure
flex.corollary3_2_1 flex.table1_A_hom flex.table1_B_hom flex.table1_C_hom flex.table1_A_het flex.table1_B_het
flex.table1_C_het flex.scheme_C_unbiased flex.bias_A_B flex.corollary4_0_2 flex.corollary4_0_3 flex.eq9 flex.jensen_s
lamb.lemma1 lamb.lemma2 lamb.theorem1 lamb.theorem1_appendix lamb.corollary1 lamb.theorem2 lamb.communication
lamb.step7 lamb.step11 lamb.step16 lamb.step17 lamb.step_B1 lamb.step_B2 lamb.step_A1 lamb.step_final
""".split()
FIGURES = {
    "flex": {
        *("table3", "table3a", "table3b", "table4", "table4_networks", "table5"),
        *("fig3", "fig4", "fig5"),
    },
    "lamb": {"fig2", "fig3", "fig4"},
}
CLAIMS = [claim for claim in discover.claims() if claim.paper in ("flex", "lamb")]
BY_ID = {claim.id: claim for claim in CLAIMS}
LINED = [claim for claim in CLAIMS if claim.lines]
EACH = pytest.mark.parametrize("claim", LINED, ids=lambda c: c.id)


def test_every_id_is_a_record_once():
    assert not set(IDS) - set(BY_ID)
    assert len(BY_ID) == len(CLAIMS)
    assert all(claim.id.startswith(claim.paper + ".") for claim in CLAIMS)


@pytest.mark.parametrize("paper", FIGURES)
def test_every_figure_and_table_has_findings(paper):
    found = {
        claim.figure.removeprefix(f"{paper}_")
        for claim in CLAIMS
        if claim.paper == paper and claim.kind == "finding"
    }
    assert found == FIGURES[paper]


def test_the_tables_have_all_their_cells():
    counts = {
        f"table{t}": sum(c.id.startswith(f"flex.table{t}_") and len(c.printed) == 1 for c in CLAIMS)
        for t in ("3a", "3b", "3c", "4", "5")
    }
    assert counts == {"table3a": 32, "table3b": 32, "table3c": 32, "table4": 24, "table5": 27}
    # Cells read off the paper by hand: corners, and the odd ones
    for name, value in {
        "table3a_IID_T1_B_over_A": -0.6,
        "table3a_NIID_T8_C_over_B": 6.9,
        "table3b_NIID_T2_C_over_B": -2.0,
        "table3b_NIID_T4_B_over_A": 37.9,
        "table3c_IID_T3_C_over_B": 0.0,
        "table3c_NIID_T6_C_over_B": 7.9,
        "table4_EMNIST_10_fast": 4,
        "table4_EMNIST_10_vanilla": 3,
        "table4_SYNTHETIC_70_fast": 3,
        "table4_MNIST_70_vanilla": 66,
        "table5_01_10": 2,
        "table5_05_25": 14,
        "table5_10_50": 77,
    }.items():
        assert list(BY_ID[f"flex.{name}"].printed.values()) == [value]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_a_record_is_complete(claim):
    assert claim.meaning.endswith(".") or claim.printed
    assert claim.cites and (claim.lines or claim.says)
    assert all(entry.meaning for entry in claim.symbols.values())
    assert claim.kind != "finding" or claim.compares
    if claim.lines:
        assert claim.latex() and "measured_" not in claim.latex()
    if claim.explicit:
        assert ft.claim(claim.explicit).kind == "exact"
    elif claim.kind == "order":
        assert claim.id == "lamb.theorem2"  # its constants stand in another paper
    if claim.kind != "order" and claim.lines and claim.id != "flex.eq2_printed":
        assert claim.weakened is not None and claim.weakened != claim.bound


# What is not homogeneous, and why. Everything else is.
HIDDEN = {
    "flex.table1_A_hom",
    "flex.table1_B_hom",
    "flex.table1_C_hom",
    "flex.table1_C_het",
    "lamb.theorem2",
    "flex.corollary3_2_1_start",
    "lamb.corollary1",
    "lamb.contribution_rate",
    "lamb.dominated",
    "lamb.dominated_local_ams",
    "lamb.decreases_in_h",  # sentences about (5) and (6)
}  # O hides constants with units
MIXED = {
    "flex.corollary4_0_2",  # (7) adds a distance to 1
    "flex.eq9",
    "flex.eq9_explicit",
    "flex.eq9_at_T_explicit",
    "flex.shift_increases_typed",  # adds Gamma_l to a squared distance
    "lamb.lemma2",
    "lamb.step_B1",
    "lamb.step_momentum",
    "lamb.step_average",  # L in the place of L^2
    "lamb.theorem1",
    "lamb.theorem1_explicit",
    "lamb.theorem1_appendix",
    "lamb.corollary1_explicit",
    "lamb.theorem1_no_cst",
    "lamb.theorem1_decreases_in_h",
    "lamb.lemma2_typed",
    "lamb.step_B2",
    "lamb.step_17_becomes",
    "lamb.step_inner",
    "lamb.step_A1",
    "lamb.step_final",  # gradients added to their squares
}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_homogeneity(claim):
    assert bool(unit_clashes(claim)) == (claim.id in HIDDEN | MIXED), unit_clashes(claim)


def test_where_units_clash_is_named():
    assert "M <= 1" in " ".join(unit_clashes(BY_ID["lamb.step_final"]))
    assert any(
        "1 has unit 1" in clash and "has unit x" in clash
        for clash in unit_clashes(BY_ID["flex.corollary4_0_2"])
    )


def draws(claim, line, count, seed):
    """Values of what both sides of a line need; domains kept, assumptions not."""
    draw, needed = random.Random(seed), claim.needs(claim.lines[line][0], claim.lines[line][2])
    for _ in range(count):
        number = dict(
            count=lambda: Q(draw.randint(1, 6)),
            real=lambda: Q(draw.randint(-30, 30), 16),
            positive=lambda: Q(draw.randint(1, 60), 16),
            nonnegative=lambda: Q(draw.randint(0, 31), 32),
        )
        yield {name: number[claim.symbols[name].domain]() for name in needed}


@EACH
def test_the_fast_path_agrees_with_the_enclosure(claim):
    for line in range(len(claim.lines)):
        cases = list(draws(claim, line, 40, claim.id))
        columns = {name: np.array([float(case[name]) for case in cases]) for name in cases[0]}
        for fast, slow in ((claim.fast, claim.evaluate), (claim.fast_left, claim.evaluate_left)):
            needed = claim.needs(claim.lines[line][2 if fast == claim.fast else 0])
            found = np.broadcast_to(
                fast({name: columns[name] for name in needed}, line=line), len(cases)
            )
            for value, case in zip(found, cases):
                try:
                    expected = slow({name: case[name] for name in needed}, strict=False, line=line)
                except InvalidInput:
                    assert np.isnan(value)
                    continue
                assert (
                    value == pytest.approx(float(expected), rel=1e-11, abs=1e-300)
                    or value == expected
                )


@EACH
def test_an_enclosure_is_on_the_safe_side(claim):
    for line, (_, sign, _) in enumerate(claim.lines):
        for case in draws(claim, line, 5, claim.id):
            try:
                found = claim.evaluate(case, strict=False, line=line)
            except InvalidInput:
                continue
            assert found.lower <= found.upper
            assert (
                float(found) <= found.lower if sign in (">=", ">") else float(found) >= found.upper
            )


def test_refusals_name_the_reason():
    claim = BY_ID["flex.theorem3_2_arrival"]
    good = dict(L=2, mu=1, n=10, n_l=5, Gamma_l=3)
    claim.evaluate(good)
    for change, words in (
        (dict(Gamma_l=-1), "Gamma_l >= 0"),
        (dict(n=Q(1, 2)), "n is an integer >= 1"),
        (dict(mu=0), "mu > 0"),
        (dict(mu=3), "mu <= L"),
        (dict(L="nan"), "finite"),
        (dict(beta_1=1), "no symbol 'beta_1'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            claim.evaluate({**good, **change})
    with pytest.raises(InvalidInput, match="needs n_l"):
        claim.evaluate({name: good[name] for name in ("L", "mu", "n", "Gamma_l")})
    claim = BY_ID["lamb.corollary1_explicit"]
    good = dict(
        M=1,
        n=4,
        h=4,
        p=9,
        f_excess=1,
        a=1,
        R=9,
        alpha=Q(1, 6),
        phi_M=1,
        sigma=1,
        beta_1=0,
        beta_2=Q(1, 2),
        T=2,
        v_0=1,
        L_l=1,
        L_bar=1,
        lambda_=0,
    )
    claim.evaluate(good)
    for change, words in (
        (dict(alpha=Q(1, 5)), "learning rate"),
        (dict(lambda_=Q(1, 10)), "lambda = 0"),
        (dict(M=2, a=1), "M <= 1"),
        (dict(beta_1=Q(1, 2)), "not stated"),
    ):
        with pytest.raises(InvalidInput, match=words):
            claim.evaluate({**good, **change})
        claim.evaluate({**good, **change}, strict=False)
    with pytest.raises(InvalidInput, match="finding"):
        BY_ID["lamb.fig2_mlp_best"].evaluate({})


def test_an_assumption_can_be_switched_off():
    claim = BY_ID["lamb.theorem1"]
    assert {a.name for a in claim.unstated} >= {
        "proof of theorem 1, last display",
        "proof of theorem 1, E[B_2]",
    }
    less = claim.without("theorem 1, lambda = 0", "everyone")
    assert len(less.assumptions) == len(claim.assumptions) - 2
    assert all(a.stated for a in claim.assumes) and not any(a.stated for a in claim.unstated)

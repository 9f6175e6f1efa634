"""A proof's chain on an instance worked by hand, one with a false step in its middle, and the
papers' own chains."""

import json
from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, SMOOTH
from fedtheory.models import by_name
from fedtheory.models.losses import make_curve
from fedtheory.search.exact_instances import ExactInstance, answer_at, measure
from fedtheory.symbols.run import TABLE, L, a, f_x, f_y, inner_xy, sq_change, sq_grad_x, sq_xy
from fedtheory.verdicts.audit import proof_chain

# f(z) = z^2 at x = 1, y = 3: f_x = 1, f_y = 9, gradients 2 and 6, inner_xy = 4, sq_xy = 4, L = 2
CASE = ExactInstance(
    "run_points",
    dict(lipschitz=1, loss=[make_curve(Q(2), Q(0))], x=[Q(1)], y=[Q(3)]),
    dict(L=Q(2), mu=Q(2), lam=Q(1, 2)),
    {},
)


def step(name, left, sign, right, *assumes, kind="step"):
    return Claim(
        id=f"house.{name}",
        cites=name,
        symbols=TABLE,
        measures=left,
        relation=sign,
        bound=right,
        kind=kind,
        assumes=assumes or (SMOOTH, CONVEX),
    )


DESCENT = step("descent", f_y, "<=", f_x + inner_xy + L / 2 * sq_xy)
LOOSER = step("looser", f_y, "<=", f_x + inner_xy + 3 * L / 4 * sq_xy)
CHANGE = step("change", sq_change, ">=", L * inner_xy)
FALSE = step("false", sq_change, "<=", L**2 * sq_xy / 2)
LAST = step("last", f_y, "<=", f_x + inner_xy + L * sq_xy, kind="exact")


def test_a_chain_by_hand():
    found = ft.audit(LAST, at=CASE, steps=[DESCENT, LOOSER, CHANGE])
    rows = [
        (row["left"], row["right"], row["slack"], row["status"], row["share"]) for row in found.rows
    ]
    assert rows == [
        (9, 9, 0, "equal", 0),
        (9, 11, 2, "holds", 0.5),
        (16, 8, 8, "holds", None),
        (9, 13, 4, "holds", 1),
    ]
    assert found.fails is None
    assert [(row["claim"], row["adds"]) for row in found.waterfall()] == [
        ("house.descent", 0),
        ("house.looser", 2),
        ("house.last", 2),
    ]
    assert sum(row["adds"] for row in found.waterfall()) == found.rows[-1]["slack"]


def test_a_false_step_in_the_middle_is_named():
    found = ft.audit(LAST, at=CASE, steps=[DESCENT, FALSE, LOOSER])
    assert (found.fails["claim"], found.fails["slack"], found.fails["ratio"]) == (
        "house.false",
        -8,
        2,
    )
    assert found.rows[-1]["status"] == "holds"  # the end is true though its proof is not
    assert "The first line that fails: house.false, line 1" in str(found)
    assert json.loads(json.dumps(found.as_dict()))["rows"][1]["status"] == "fails"


def test_what_does_not_apply_is_no_failure():
    bound = sq_grad_x / 100
    found = ft.audit(
        LAST,
        at=CASE,
        steps=[
            step("small", sq_change, "<=", bound, SMOOTH, L <= 1),
            step("split", sq_change, "<=", a * bound),
        ],
    )
    assert [row["status"] for row in found.rows] == ["outside", "undecided", "holds"]
    assert (
        "L <= 1" in found.rows[0]["why"]
        and "must give a" in found.rows[1]["why"]
        and found.fails is None
    )


def test_a_left_side_and_a_line_at_a_case():
    assert measure(DESCENT, CASE) == 9 and measure(DESCENT, CASE).exact == 9
    assert answer_at(DESCENT, CASE).right == 9 and not answer_at(DESCENT, CASE).certainly_fails
    assert answer_at(FALSE, CASE).certainly_fails
    loosely = CASE._replace(numbers=dict(CASE.numbers, L=Q(3)))
    assert answer_at(DESCENT, loosely).right == 11 and not list(
        answer_at(DESCENT, loosely).failing()
    )


def test_the_chain_of_theorem_1_is_found():
    """Appendix A of FSL: lemmas 3 to 5, then (16) to (28); the waterfall sums to the theorem's own
    slack."""
    found = ft.audit("fsl.theorem1", at="drawn", seed=1)
    names = [row["claim"] for row in found.rows]
    order = [
        "fsl.lemma3",
        "fsl.step16",
        "fsl.step24",
        "fsl.step28",
        "fsl.step_G3_G4",
        "fsl.theorem1",
    ]
    assert [name for name in dict.fromkeys(names) if name in order] == order and names[
        -1
    ] == "fsl.theorem1"
    assert found.fails is None and not any(
        row["status"] in ("outside", "undecided") for row in found.rows if row["claim"] in order
    )
    drops = found.waterfall()
    last = [row["claim"] for row in drops if row["claim"] in order]
    assert last[-2:] == ["fsl.step28", "fsl.theorem1"] and drops[-1]["claim"] == "fsl.theorem1"
    assert sum(row["adds"] for row in drops) == pytest.approx(found.rows[-1]["slack"])
    assert all(row["adds"] >= 0 for row in drops)


def test_a_chain_needs_no_hypothesis_that_its_claim_lacks():
    links, left_out = proof_chain(ft.claim("mixed.stepB2_nonconvex"), by_name("mixed_round"))
    names = [link.id for link in links]
    assert "mixed.stepD13_recursion" in names and "mixed.lemmaD10" not in names
    assert "convex" in left_out["mixed.lemmaD10"]


def test_a_drawn_case_and_a_worst_one_differ_by_ratio():
    drawn = ft.audit(DESCENT, at="drawn", steps=[], seed=3).rows[-1]
    worst = ft.audit(DESCENT, at="worst", steps=[], budget=0.1).rows[-1]
    assert drawn["status"] != "fails" and worst["ratio"] > 0.99 and worst["status"] != "fails"
    assert ft.audit(FALSE, at="worst", steps=[], budget=0.1).fails is not None


@pytest.mark.parametrize(
    "claim, given, words",
    [
        (LAST, dict(at="best"), 'at must be "worst"'),
        ("fsl.findings", {}, "claim must be"),
        (step("order", f_y, "O", L * sq_xy), {}, "lines with constants"),
    ],
)
def test_refusals(claim, given, words):
    with pytest.raises(InvalidInput, match=words):
        ft.audit(claim, **given)

"""A counterexample in words says what its document shows: the line with its numbers put in is read
again here, by Python, and comes to the document's two sides."""

import ast
import json
from fractions import Fraction
from math import isclose, sqrt
from operator import add, mul, sub, truediv
from pathlib import Path

import pytest
import sympy

import fedtheory as ft
from fedtheory.models import by_name
from fedtheory.rendering.formulas import write_formula
from fedtheory.rendering.losses import loss_formula
from fedtheory.rendering.words import describe_counterexample, is_trivial, made_of
from fedtheory.search.counterexample import formula_data as formula_of

SHIPPED = Path(__file__).parents[1] / "second_opinion" / "certificates.json"
FAILING = [
    document
    for document in json.loads(SHIPPED.read_text()).values()
    if document["format"] == "fedtheory counterexample 1"
]


OPERATIONS = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv, ast.Pow: pow}


def read(text):
    """A formula as a number, by Python's own grammar."""

    def value(node):
        if isinstance(node, ast.Constant):
            return float(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Call):
            return dict(sqrt=sqrt, max=max, min=min)[node.func.id](*map(value, node.args))
        return OPERATIONS[type(node.op)](value(node.left), value(node.right))

    return value(ast.parse(text.replace("^", "**"), mode="eval").body)


def number(text):
    return float(Fraction(text)) if "e" not in text and "." not in text else float(text)


@pytest.mark.parametrize("document", FAILING, ids=lambda document: document["claim"])
def test_the_line_with_its_numbers_comes_to_what_the_document_says(document):
    lines = describe_counterexample(document)
    sign = document["statement"]["sign"]
    end = f"{document['left']} {sign} {document['right']}, which is false."
    assert lines[0].startswith(document["cites"])
    assert lines[-1] in (f"that is {end}", f"There it comes to {end}")
    there = [line for line in lines if line.startswith("There it reads: ")]
    if not there:  # too long to be read, or no more than the end
        return
    left, right = there[0].removeprefix("There it reads: ").split(f" {sign} ")
    assert isclose(read(left), number(document["left"]), rel_tol=1e-9, abs_tol=1e-300)
    assert isclose(read(right), number(document["right"]), rel_tol=1e-9, abs_tol=1e-300)


def test_most_lines_are_short_enough_to_be_read():
    reads = ("There it reads", "There it comes to")
    short = [
        d for d in FAILING if any(line.startswith(reads) for line in describe_counterexample(d))
    ]
    assert len(short) > 0.8 * len(FAILING)


a, b, c = sympy.symbols("a b c", positive=True)


@pytest.mark.parametrize(
    "expr",
    [
        c * (1 / a + b),
        (1 / a + b) ** 2 / c,
        -(a - b) / (c * (a + 1 / b)),
        a ** sympy.Rational(-1, 2) - b * (1 - c) ** 3,
        1 / (1 / a - 1 / b),
        sympy.Max(a, b) * (-2 * a + c) / 3,
    ],
    ids=str,
)
def test_formulas_come_to_what_sympy_says(expr):
    numbers = dict(a="3/7", b="2", c="5.5e-01")
    at = {s: sympy.Rational(n) for s, n in ((a, "3/7"), (b, "2"), (c, "11/20"))}
    text = write_formula(formula_of(expr), numbers)
    assert isclose(read(text), float(expr.subs(at)), rel_tol=1e-12)


def test_losses_by_hand():
    one = dict(slope="2", tilt="-1/3", bends=[["1", "0"], ["0", "5"], ["-1", "-2"]], soft=[])
    two = dict(slope="0", tilt="0", bends=[], soft=[["3", "2", "1/2"]])
    assert loss_formula([one]) == "x^2 - 1/3 x + 1/2 (x)+^2 - 1/2 (x + 2)+^2"
    assert loss_formula([one, two]).endswith("+ 3 log(1 + exp(2 (x2 - 1/2)))")
    assert loss_formula([two | dict(soft=[])]) == "0"


def test_a_document_that_is_no_counterexample_tells_nothing():
    assert (
        describe_counterexample(None)
        == describe_counterexample({})
        == describe_counterexample(ft.check("fsl.gradient_identity", budget=1).certificate)
        == []
    )


def test_parts_that_double_do_not_fill_the_memory():
    document = json.loads(json.dumps(FAILING[0]))
    doubled = [["add", [n, n], None] for n in range(300)]
    document["statement"]["left"] = [["number", [], "1"], *doubled]
    assert not any(line.startswith("There it reads") for line in describe_counterexample(document))


def test_a_sum_that_begins_with_a_reciprocal_is_no_reciprocal():
    """(1/a + b) c, in an order of terms that a document may have."""
    steps = [["symbol", [], "a"], ["power", [0], ["-1", True]], ["symbol", [], "b"]]
    steps += [["add", [1, 2], None], ["symbol", [], "c"], ["mul", [3, 4], None]]
    text = write_formula(steps, dict(a="4", b="3", c="2"))
    assert text == "(1/4 + 3) * 2" and read(text) == 6.5


@pytest.mark.parametrize(
    "expr, numbers, says",
    [
        (a * b**2 / c, dict(a="1", b="1", c="7"), "1/7"),
        (a + b * c, dict(a="2", b="0", c="5"), "2"),
        ((a - b) ** 2 / c, dict(a="3", b="1", c="1"), "(3 - 1)^2"),
        (sympy.sqrt(a) * b, dict(a="1", b="4/3", c="1"), "4/3"),
        (sympy.Piecewise((a, sympy.Eq(b, 1)), (c, True)), dict(a="2", b="3", c="5"), "5"),
    ],
    ids=str,
)
def test_what_has_no_effect_is_left_out(expr, numbers, says):
    assert write_formula(formula_of(expr), numbers) == says


def test_instances_say_whose_losses_they_are_and_what_noise():
    """By hand: f_0 is the server's, two clients are alike, noise is +-1."""
    curve = lambda slope: [dict(slope=slope, tilt="0", bends=[], soft=[])]
    instance = dict(losses=[curve("2"), curve("1"), curve("1")], x=["0"], noise_0=[])
    instance |= dict(noise=[["1/2", ["1"]], ["1/2", ["-1"]]])
    made = made_of(dict(instance=instance, numbers={}), by_name("fsl_round"))
    lines = "\n".join(made)
    assert "f_0 = x^2   (f_0: the server's loss)" in lines and "f_1 = f_2 = 1/2 x^2" in lines
    assert "noise of a client's gradients: +-1, each with probability 1/2" in lines
    assert "noise of the server's gradients" not in lines


def test_families_and_tables_are_told():
    shipped = json.loads(SHIPPED.read_text())
    lines = describe_counterexample(shipped["flex.eq9"])
    assert lines[0].endswith("delay = O(sqrt(tau_0 Gamma_l))")
    assert any("each further one has Gamma_l times 1/1296" in line for line in lines)
    assert describe_counterexample(shipped["fsl.table3"])[1:] == [
        "  MaxPooling2D 1, shape: printed (13, 13, 64), computed (16, 16, 32)"
    ]


def test_two_methods_that_part_are_told_with_their_losses():
    lines = describe_counterexample(json.loads(SHIPPED.read_text())["mixed.K1_equivalence"])
    assert lines[1] == "Not so: run two_way_gt with K = 1, eta_m = 1.0, and merged_descent, on"
    assert "  f_2 = 1/4 (x - 2)^2" in lines and lines[-1].startswith("from one start: they end")


def test_what_cancels_or_is_zero_is_not_told():
    """f(x) = x/2 + 3/4 (x - 1)+^2 whatever its pieces, and noise of size zero is none."""
    bends = [[Fraction(1), Fraction(0)], [Fraction(-1), Fraction(0)], [Fraction(1), Fraction(1)]]
    curve = dict(slope=0, tilt=Fraction(1, 2), bends=[*bends, [Fraction(1, 2), Fraction(1)]])
    assert loss_formula([curve]) == "1/2 x + 3/4 (x - 1)+^2"
    half, zero = Fraction(1, 2), [Fraction(0)]
    assert is_trivial("noise", [[half, zero], [half, zero]], {})
    assert not is_trivial("noise", [[half, [Fraction(1)]], [half, [Fraction(-1)]]], {})
    assert not is_trivial("noise", [[half, zero], [half, [Fraction(1)]]], {})

"""Where a proof could lose an edge: denominators that vanish, roots of what is negative, sides that
are equal.

1/x is +infinity at x = 0 where x >= 0; 0/0 and infinity - infinity are nothing, and no relation
holds of them.
"""

import itertools
import math
from fractions import Fraction

import pytest
import sympy
from sympy import Ge, Gt, Le, Lt, Max, Min, Piecewise, Symbol, exp, log, sqrt

import fedtheory as ft
from fedtheory import arithmetic
from fedtheory.certificates import check_proof
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Table
from fedtheory.proofs import algebra

x, z, p = (Symbol(name, positive=True) for name in "xzp")
y, w = (Symbol(name, nonnegative=True) for name in "yw")
r, k = Symbol("r", real=True), Symbol("k", integer=True, positive=True)

# (assumptions, a relation that fails or has no value at some point that meets them, such a point)
LOST = {
    "a strict line between infinities": ((), Lt(x / y, (x + 1) / y), dict(x=1, y=0)),
    "a strict line between infinite roots": ((), Lt(1 / sqrt(y), 2 / sqrt(y)), dict(y=0)),
    "a strict line between other infinities": ((), Lt(1 / y, 1 / y**2 + 2 / y), dict(y=0)),
    "an assumption between infinities": ((Le(1 / y**2, 1 / y),), Ge(y, 1), dict(y=0)),
    "an assumption between infinities, cleared": (
        (Le(x / y, z / y),),
        Le(x, z),
        dict(x=2, z=1, y=0),
    ),
    "nothing over nothing": ((), Le(w / y, w / y + 1), dict(w=0, y=0)),
    "a negative number over nothing": ((), Le(-1 / y, 1 / r), dict(y=1, r=0)),
    "a square over nothing": ((), Lt(1 / r**2, 1 + 1 / r**2), dict(r=0)),
    "a minimum of infinities": ((), Lt(Min(1 / y, 1 / w), Min(1 / y, 1 / w) + 1), dict(y=0, w=0)),
    "a case that divides by zero": (
        (),
        Lt(Piecewise((1 / (k - 1), k < 3), (1, True)), k / (k - 1) + 1),
        dict(k=1),
    ),
    "the logarithm of zero": ((), Lt(log(y), log(y) + 1), dict(y=0)),
    "what vanishes at infinity": ((), Gt(exp(-1 / y), 0, evaluate=False), dict(y=0)),
    "a root of what may be negative": ((), Ge(sqrt(r) + 1, 0, evaluate=False), dict(r=-1)),
    "a root that an assumption mentions": (
        (Ge(sqrt(r) + p, p / 2),),
        Ge(r + 1, 0),
        dict(r=-2, p=1),
    ),
}


@pytest.mark.parametrize("name", LOST)
def test_an_edge_is_not_lost(name):
    assumptions, relation, at = LOST[name]
    assert algebra.prove(relation, assumptions, refute=False, budget=0.5) is None
    at = {name: Fraction(value) for name, value in at.items()}

    def holds(relation):
        try:
            return arithmetic.decide_relation(relation, at)
        except (arithmetic.Undefined, ZeroDivisionError):
            return None

    if (
        name != "a root that an assumption mentions"
    ):  # it has no value there, and so excludes nothing for certain
        assert all(holds(a) for a in assumptions)
    assert not holds(relation)


KEPT = {
    "a finite side below an infinite one": ((), Le(1 / (y + 1), 1 / y)),
    "likewise strict": ((), Lt(1 / (y + 1), 1 / y)),
    "infinities that are equal": ((), Le(x / y, (x + 1) / y)),
    "a step below the inverse of what may vanish": (
        (Le(x, Min(1 / z, 1 / (y * z))),),
        Le(x * y * z, 1),
    ),
    "likewise of one of two": ((Le(x, Min(1 / z, 1 / (y * z))),), Le(x, 1 / z)),
    "an inverse below a number": ((Le(1 / y, x),), Ge(x * y, 1)),
    "cases that keep apart": ((), Ge(Piecewise((1 / (k - 1), k > 1), (0, True)), 0)),
    "a root of what an assumption keeps nonnegative": ((Le(x, 1),), Le(sqrt(1 - x), 1)),
    "a denominator that an assumption keeps positive": ((Lt(x, 1),), Gt(1 / (1 - x), 1)),
    "a maximum": ((), Ge(Max(1 / y, 1 / p), 1 / p)),
    "a positive denominator": ((), Lt(x / p, (x + 1) / p)),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_the_convention_decides_is_proved(name):
    assumptions, relation = KEPT[name]
    proof = algebra.prove(relation, assumptions, refute=False, budget=1)
    assert proof and algebra.replay(proof.certificate) == proof.certificate["shows"]
    numbers = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3)]
    free = sorted(relation.free_symbols.union(*(a.free_symbols for a in assumptions)), key=str)
    met = 0
    for values in itertools.product(numbers, repeat=len(free)):
        at = {s.name: value for s, value in zip(free, values)}
        if all(
            (value > 0 or not s.is_positive) and (value.denominator == 1 or not s.is_integer)
            for s, value in zip(free, values)
        ):
            try:
                if all(arithmetic.decide_relation(a, at) for a in assumptions):
                    met += 1
                    assert arithmetic.decide_relation(relation, at) is True
            except arithmetic.Undefined:
                pytest.fail(f"undefined at {at}")
    assert met > 1


def document(shows, proof, assumes=(), nodes=None, **variables):
    return dict(
        format="fedtheory proof 2",
        variables=variables,
        nodes=nodes or {},
        assumes=list(assumes),
        shows=shows,
        proof={**dict(scale="1", terms=[]), **proof},
    )


over = lambda tree: ["^", tree, -1]
FORGED = {
    "a strict line, cleared of what may vanish": document(
        ["<", over("y"), ["*", "2", over("y")]], dict(terms=[dict(by="1")]), y="nonnegative"
    ),
    "an equation, cleared of what may vanish": document(
        ["==", ["*", "y", over("y")], "1"], {}, y="nonnegative"
    ),
    "a cancelled denominator": document(["<=", ["*", "y", over("y")], "1"], {}, y="nonnegative"),
    "infinity less infinity": document(
        ["<=", ["+", over("y"), ["*", "-1", over("y")]], "0"], {}, y="nonnegative"
    ),
    "a root whose being says something": document(  # that s is a root of y would show y >= 0
        [">=", "y", "0"],
        dict(solve=[["y", ["^", "s", 2], "s"]], terms=[dict(by="1", square="s")]),
        nodes={"s": ["root", "y", 2]},
        y="real",
    ),
    "a case whose being says something": document(
        ["<", "m", ["+", "m", "1"]],
        dict(terms=[dict(by="1")]),
        nodes={"m": ["cases", ["<=", "y", "1"], over("y"), "1"]},
        y="nonnegative",
    ),
    "a square over a vanishing denominator": document(
        [">=", ["^", "r", -1], "0"], dict(terms=[dict(by="1", square=["^", "r", -1])]), r="real"
    ),
    "an equation solved by a vanishing slope": document(
        ["==", "x", "1"],
        dict(solve=[["x", "1", "assumed:0"]]),
        [["==", ["*", "y", "x"], "y"]],
        x="real",
        y="nonnegative",
    ),
    "an equation with a vanishing denominator": document(
        ["==", "x", "1"],
        dict(solve=[["x", "1", "assumed:0"]]),
        [["==", ["*", "x", over("y")], over("y")]],
        x="real",
        y="nonnegative",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_document_that_divides_by_what_may_vanish_is_refused(name):
    with pytest.raises(Refused):
        check_proof.check(FORGED[name])


def test_two_symbols_of_one_name_are_two_numbers():
    positive, real = Symbol("t", positive=True), Symbol("t", real=True)
    assert algebra.prove(Ge(real + positive, positive), refute=False, budget=0.2) is None
    part = Symbol("part_1", real=True)  # the name that an unknown part would be given
    assert algebra.prove(Ge(sympy.floor(r), part), refute=False, budget=0.2) is None
    root = Symbol("root_of_1", real=True)
    assert algebra.prove(Ge(sqrt(x) - root, 0), refute=False, budget=0.2) is None
    assert algebra.prove(Ge(root - sqrt(x), 0), refute=False, budget=0.2) is None


def test_what_may_be_no_real_number_is_no_part():
    for part in (log(r), sympy.zeta(r), sympy.Function("f")(r)):  # log(-1/2)^2 is not >= 0
        assert algebra.prove(Ge(part**2, 0, evaluate=False), refute=False, budget=0.2) is None
    assert algebra.prove(Ge(log(x) ** 2 + 1, 2 * log(x)), refute=False, budget=0.2)


# The search


def own(left, relation, right):
    table = Table("invented")
    letter = table.positive("p", "p", "a number")
    return Claim(
        id="own.it",
        cites="nowhere",
        symbols=table,
        measures=sympy.sympify(left).xreplace({p: letter}),
        bound=sympy.sympify(right).xreplace({p: letter}),
        relation=relation,
    )


TIES = {
    "one root": (sqrt(2) * p, sqrt(2) * p),
    "a nested root": (sqrt(3 + 2 * sqrt(2)) * p, p + sqrt(2) * p),
}


@pytest.mark.parametrize("name", TIES)
def test_a_strict_line_between_equal_sides_does_not_hold(name):
    left, right = TIES[name]
    assert math.isclose(left.subs(p, 1), right.subs(p, 1))
    for relation in "<", ">":
        assert ft.check(own(left, relation, right), budget=0.5).status in ("undecided", "violated")
    for relation in "<=", ">=":
        assert ft.check(own(left, relation, right), budget=0.5).status in ("holds", "proved")


def test_a_strict_line_between_equal_rationals_is_violated_and_one_with_room_holds():
    assert ft.check(own(p, "<", p), budget=0.5).status == "violated"
    assert ft.check(own(sqrt(2) * p, "<", sqrt(3) * p), budget=0.5).status in ("holds", "proved")

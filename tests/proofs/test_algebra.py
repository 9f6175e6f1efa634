"""Implications between conditions: proved with documents that replay alone, refuted by rational
points, never both."""

import copy
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from scipy.optimize import linprog
from sympy import Eq, Ge, Le, Lt, Max, Min, Rational, Symbol, sqrt

from fedtheory import arithmetic, discover
from fedtheory.certificates import check_proof
from fedtheory.claims.fsl._assumptions import EQ11_STEP, EQ13
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import LIPSCHITZ
from fedtheory.language.symbol import Table
from fedtheory.proofs import algebra, meaning, positivity
from fedtheory.proofs.algebra import Counterexample, Proof
from fedtheory.symbols import fsl as f

x, y, z = (Symbol(name, positive=True) for name in "xyz")
r, s = Symbol("r", real=True), Symbol("s", real=True)
k, n = Symbol("k", integer=True, positive=True), Symbol("n", integer=True, positive=True)
u = f.K_0 * f.eta_0
MORE = 1 + Rational(1, 1000)
A11, A13, MEANT = (EQ11_STEP.relation,), (EQ13.relation,), (f.S <= f.N,)

# (assumptions, a relation that follows, the same with a constant nudged: false)
NUDGED = {
    "(13) gives h >= (3 gamma + 1)/4": (
        A13,
        Ge(f.h, (3 * f.gamma + 1) / 4),
        Ge(f.h, MORE * (3 * f.gamma + 1) / 4),
    ),
    "(11) gives 1 + 4.5 u L <= 2": (
        A11,
        Le(1 + Rational(9, 2) * u * f.L, 2),
        Le(1 + Rational(9, 2) * u * f.L * MORE, 2),
    ),
    "(11) gives 16 (u gamma L)^2 <= 1": (
        A11,
        Le(16 * (u * f.gamma * f.L) ** 2, 1),
        Le(16 * (u * f.gamma * f.L) ** 2 * MORE, 1),
    ),
    "G_3 <= 2/9 G_2": (
        MEANT,
        Le(f.G_3, Rational(2, 9) * f.G_2),
        Le(f.G_3 * MORE, Rational(2, 9) * f.G_2),
    ),
    "2/9 G_2 <= Psi": (
        MEANT,
        Le(Rational(2, 9) * f.G_2, f.Psi),
        Le(Rational(2, 9) * f.G_2 * MORE, f.Psi),
    ),
    "G_4 <= Phi": (MEANT, Le(f.G_4, f.Phi), Le(f.G_4 * MORE, f.Phi)),
    "rho_s <= 1": (MEANT, Le(f.rho_s, 1), Lt(f.rho_s, 1)),
    "means": ((), Ge(x + y, 2 * sqrt(x * y)), Ge(x + y, 2 * MORE * sqrt(x * y))),
    "a square with a double root": (
        (),
        Ge(x**2 + Rational(9, 4), 3 * x),
        Ge(x**2 + Rational(9, 4), 3 * MORE * x),
    ),
    "a cubic that touches zero": ((), Ge(x**3 + 2, 3 * x), Ge(x**3 + 2, 3 * MORE * x)),
    "a maximum over a mean": ((), Ge(Max(x, y), (x + y) / 2), Ge(Max(x, y), MORE * (x + y) / 2)),
    "a minimum below each": ((Le(z, Min(x, 2 * y)),), Le(z, 2 * y), Le(z, 2 * y / MORE)),
    "an equation in between": ((Eq(x * y, z), Le(y, 3)), Le(z, 3 * x), Le(z, 3 * x / MORE)),
    "real numbers": ((), Ge(r**2 + s**2, 2 * r * s), Ge(r**2 + s**2, 2 * MORE * r * s)),
    "integers are at least 1": ((), Ge(k**2 * n, k), Ge(k**2 * n, k * MORE)),
}


@pytest.mark.parametrize("name", NUDGED)
def test_what_follows_is_proved_and_its_nudge_refuted(name):
    assumptions, true, false = NUDGED[name]
    proof = algebra.prove(true, assumptions, f.TABLE)
    assert isinstance(proof, Proof)
    document = json.loads(json.dumps(proof.certificate))
    assert algebra.replay(document) == document["shows"]
    found = algebra.prove(false, assumptions, f.TABLE)
    assert isinstance(found, Counterexample) and not found
    # Decided anew, on the relations as they were given.
    definitions = {e.symbol: e.definition for e in f.TABLE.values() if e.definition is not None}
    whole = lambda e: e if e == e.xreplace(definitions) else whole(e.xreplace(definitions))
    values = dict(found.values)
    assert all(isinstance(value, Fraction) for value in values.values())
    assert arithmetic.decide_relation(whole(false), values) is False
    assert all(arithmetic.decide_relation(whole(a), values) is True for a in assumptions)


def test_a_point_is_not_taken_outside_its_domain():
    for seed in range(3):
        found = algebra.prove(Ge(k, 2), (), seed=seed)
        assert found.values == {"k": 1}
        values = algebra.prove(Le(x * k, y), (Le(y, 1),), seed=seed).values
        assert values["x"] > 0 and values["y"] > 0 and values["k"].denominator == 1
    assert isinstance(algebra.prove(Ge(k * n + k, 2), ()), Proof)
    assert isinstance(algebra.prove(Ge(x * n + x, 2), ()), Counterexample)


LINES = [
    ("fsl.h_lower", 0),
    ("fsl.phi_kappa_decrease", 0),
    ("fsl.phi_kappa_decrease", 1),
    ("fsl.step_G3_G4", 0),
    ("fsl.step_G3_G4", 1),
    ("fsl.step_G3_G4", 2),
    ("fsl.gradient_identity", 0),
    ("fsl.original_loss", 0),
    ("fsl.lemma2", 0),
    ("fsl.eq7", 1),
    ("fsl.eq8_eq9", 0),
]


@pytest.mark.parametrize("name, at", LINES)
def test_lines_of_claims_are_proved_from_the_record_alone(name, at):
    claim = discover.claim(name)
    proof = algebra.prove_line(claim, at)
    assert isinstance(proof, Proof) and algebra.speaks_of(proof.certificate, claim, at)
    # The record is all that counts: another id, another place, the same proof.
    renamed = claim.replace(name="mine.own", cites="nowhere", meaning="")
    assert algebra.prove_line(renamed, at).certificate == proof.certificate


CHAINS = [
    ("fsl.step25", 0, ["fsl.step24", "fsl.step25"]),
    ("fsl.step28", 0, ["fsl.step25", "fsl.step_T6"]),
    ("fsl.theorem1", 0, ["fsl.step28", "fsl.step_28_to_12"]),
    ("fsl.step24", 0, ["fsl.step16", "fsl.step19", "fsl.step23"]),
    ("fsl.step23", 0, ["fsl.step20", "fsl.step21", "fsl.step22"]),
    ("fsl.lemma5", 0, ["fsl.step31_at_x", "fsl.step_move"]),
    ("fsl.corollary2a_explicit", 0, ["fsl.theorem2", "fsl.h_lower"]),
]


@pytest.mark.parametrize("name, at, given", CHAINS, ids=str)
def test_a_line_of_a_proof_follows_from_those_before_it(name, at, given):
    claim, before = discover.claim(name), [discover.claim(other) for other in given]
    proof = algebra.prove_line(claim, at, before, budget=30)
    assert isinstance(proof, Proof) and algebra.speaks_of(proof.certificate, claim, at, before)


def test_weakened_bounds_are_not_proved():
    for name in (
        "fsl.h_lower",
        "fsl.phi_kappa_decrease",
        "fsl.step_G3_G4",
        "fsl.gradient_identity",
        "fsl.lemma2",
    ):
        claim = discover.claim(name)
        assert not algebra.prove_line(claim.replace(bound=claim.weakened), 0, budget=1)


def test_what_is_measured_is_no_free_number():
    """Theorem 1 is no implication between numbers: numbers that break it need not come from any
    run."""
    assert algebra.prove_line(discover.claim("fsl.theorem1"), budget=1) is None
    assert algebra.prove_line(discover.claim("mixed.eq7"), budget=1) is None
    h_lower_ = discover.claim("fsl.h_lower")
    assert isinstance(algebra.prove_line(h_lower_.replace(bound=h_lower_.weakened)), Counterexample)


def test_what_it_cannot_decide_it_does_not_prove():
    assert algebra.prove(Ge(sympy.exp(x), 1 + x), (), refute=False, budget=1) is None
    with pytest.raises(InvalidInput, match="relation between symbols"):
        algebra.prove(sympy.true)


# The checker, and documents that were tampered with


def h_lower():
    return json.loads(json.dumps(algebra.prove_line(discover.claim("fsl.h_lower")).certificate))


def test_the_checker_needs_neither_the_engine_nor_sympy():
    source = Path(check_proof.__file__)
    script = (
        "import sys, json, importlib.util as u\n"
        f"spec = u.spec_from_file_location('alone', {str(source)!r}); m = u.module_from_spec(spec)\n"
        "spec.loader.exec_module(m); print(json.dumps(m.check(json.load(sys.stdin))))\n"
        "assert not {'sympy', 'numpy', 'fedtheory', 'scipy'} & set(sys.modules)"
    )
    document = h_lower()
    out = subprocess.run(
        [sys.executable, "-I", "-c", script],
        input=json.dumps(document),
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    assert json.loads(out) == document["shows"]


def numbers(tree, path=()):
    """Paths to every number in a document's parts that matter."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from numbers(value, (*path, key))
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield from numbers(value, (*path, at))
    elif (
        isinstance(tree, int)
        or isinstance(tree, str)
        and tree.lstrip("-").replace("/", "").isdigit()
    ):
        yield path


def test_no_number_of_a_document_can_be_changed_to_a_false_one():
    """Whatever number is nudged, the document is refused, or what it now states is true at random
    points."""
    document, refused, kept = h_lower(), 0, 0
    points = [point for point in _points(document) if _holds(document, point)]
    assert len(points) > 20
    for path in [
        (part, *p)
        for part in ("shows", "assumes", "nodes", "proof")
        for p in numbers(document[part])
    ]:
        for change in (1, -1):
            nudged = copy.deepcopy(document)
            place = nudged
            for step in path[:-1]:
                place = place[step]
            old = place[path[-1]]
            place[path[-1]] = (
                old + change if isinstance(old, int) else str(Fraction(old) + Fraction(change, 7))
            )
            try:
                algebra.replay(nudged)
            except check_proof.Refused:
                refused += 1
            else:
                kept += 1
                for point in points:
                    assert not _holds(nudged, point) or _value(nudged, nudged["shows"], point)
    assert refused > 50 > kept


def _points(document):
    import random

    draw = random.Random(0)
    for _ in range(4000):
        yield {
            name: Fraction(draw.randint(1, 5))
            if domain == "count"
            else Fraction(draw.randint(1, 40), draw.choice([1, 2, 5, 20, 60]))
            for name, domain in document["variables"].items()
        }


def _holds(document, point):
    return all(_value(document, relation, point) for relation in document["assumes"])


def _value(document, tree, point):
    """A second reading of trees, in numbers."""
    if isinstance(tree, str):
        if tree in point:
            return point[tree]
        if tree in document["nodes"]:
            kind, *parts = document["nodes"][tree]
            if kind == "define":
                return _value(document, parts[0], point)
            return _value(
                document, parts[1] if _value(document, parts[0], point) else parts[2], point
            )
        return Fraction(tree)
    op, *parts = tree
    if op == "^":
        return _value(document, parts[0], point) ** parts[1]
    values = [_value(document, part, point) for part in parts]
    if op in ("<=", "<", ">=", ">", "=="):
        a, b = values
        return {"<=": a <= b, "<": a < b, ">=": a >= b, ">": a > b, "==": a == b}[op]
    total = values[0]
    for value in values[1:]:
        total = total + value if op == "+" else total * value
    return total


def small(**changes):
    """x >= 0 and y >= x show y^2 >= x^2, by hand: y^2 - x^2 = (y + x)(y - x)."""
    return {
        **dict(
            format="fedtheory proof 2",
            variables=dict(x="nonnegative", y="real", m="count"),
            nodes={},
            assumes=[[">=", "y", "x"]],
            shows=[">=", ["^", "y", 2], ["^", "x", 2]],
            proof=dict(
                scale="1",
                lemmas=[
                    [
                        "lemma 1",
                        [">=", "y", "0"],
                        dict(scale="1", terms=[dict(by="1", facts=["assumed:0"]), dict(by="x")]),
                    ]
                ],
                terms=[dict(by=["+", "x", "y"], facts=["assumed:0"])],
            ),
        ),
        **changes,
    }


def proof_of(**changes):
    return small(proof={**small()["proof"], **changes})


def test_a_document_written_by_hand_is_accepted():
    assert algebra.replay(small()) == small()["shows"]


REFUSED = {
    "another format": small(format="fedtheory proof 3"),
    "no proof": small(proof={}),
    "a factor of unknown sign": proof_of(lemmas=[]),
    "a negative factor": proof_of(
        terms=[dict(by=["*", "-1", ["+", "x", "y"]], facts=["assumed:0"])]
    ),
    "a scale that may be zero": proof_of(
        scale="x", terms=[dict(by=["*", "x", ["+", "x", "y"]], facts=["assumed:0"])]
    ),
    "a scale of zero": proof_of(scale="0", terms=[]),
    "a fact that is not there": proof_of(terms=[dict(by=["+", "x", "y"], facts=["assumed:1"])]),
    "a strict goal without a strict term": small(shows=[">", ["^", "y", 2], ["^", "x", 2]]),
    "a goal turned round": small(shows=["<=", ["^", "y", 2], ["^", "x", 2]]),
    "a wider domain": small(variables=dict(x="real", y="real", m="count")),
    "no domain": small(variables=dict(x="nonnegative", y="integer", m="count")),
    "an equation used as an inequality": small(assumes=[["==", "y", "x"]]),
    "a lemma that uses itself": proof_of(
        lemmas=[
            ["lemma 1", [">=", "y", "0"], dict(scale="1", terms=[dict(by="1", facts=["lemma 1"])])]
        ]
    ),
    "a lemma that overwrites": proof_of(
        lemmas=[["x", [">=", "y", "0"], dict(scale="1", terms=[dict(by="y")])]]
    ),
    "a node that uses itself": small(nodes=dict(w=["define", ["+", "w", "1"]])),
    "a node named as a variable": small(nodes=dict(x=["define", "1"])),
    "a root of degree zero": small(nodes=dict(w=["root", "y", 0])),
    "a case left out": small(
        nodes=dict(w=["cases", [">=", "y", "x"], "x"]), proof=dict(split="w", branches=[{}])
    ),
    "a power that is no integer": small(shows=[">=", ["^", "y", "1/2"], "x"]),
    "a number that is text": small(shows=[">=", "__import__('os')", "x"]),
    "an equation that is none": proof_of(solve=[["y", "x", "assumed:0"]]),
    "a division by zero": small(shows=[">=", ["^", ["+", "y", ["*", "-1", "y"]], -1], "x"]),
    "nothing": {},
    "not a document": [],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_document_that_proves_nothing_is_refused(name):
    with pytest.raises(check_proof.Refused):
        algebra.replay(REFUSED[name])


def test_an_equation_may_only_be_solved_where_it_fixes_the_symbol():
    free = dict(
        format="fedtheory proof 2",
        variables=dict(x="real", y="real"),
        nodes={},
        assumes=[["==", ["*", "x", "y"], "0"]],
        shows=["==", "y", "0"],
        proof=dict(scale="1", terms=[], solve=[["y", "0", "assumed:0"]]),
    )
    with pytest.raises(check_proof.Refused, match="fix"):  # x may be 0
        algebra.replay(free)
    assert algebra.replay({**free, "variables": dict(x="positive", y="real")})
    with pytest.raises(check_proof.Refused, match="value"):
        algebra.replay(
            {
                **free,
                "variables": dict(x="positive", y="real"),
                "proof": dict(scale="1", terms=[], solve=[["y", "1", "assumed:0"]]),
            }
        )


def test_what_metrics_mean_agrees_with_a_computed_round():
    """The relations between measured quantities, against numbers from vectors."""
    F, g = sympy.Matrix([3, -1, 2]), sympy.Matrix([1, 4, -2])
    gamma, eta_0 = Rational(2, 5), Rational(1, 7)
    tilde = (F + gamma * g) / (1 + gamma)
    measured = dict(
        sq_grad_norm=F.dot(F),
        sq_server_grad_norm=g.dot(g),
        grad_inner=F.dot(g),
        sq_xi=(F - g).dot(F - g),
        sq_tilde_grad_norm=tilde.dot(tilde),
        a_w0=F.dot(F),
        b_w0=g.dot(g),
        inner_w0=F.dot(g),
        xi_w0=(F - g).dot(F - g),
        inner_move=F.dot(-eta_0 * g),
        sq_move=eta_0**2 * g.dot(g),
        sq_i=F.dot(F),
        sq_j=g.dot(g),
        sq_pair=(F + g).dot(F + g),
    )
    assert set(measured) == set(meaning.INNER)
    vectors = {
        meaning.F: F,
        meaning.SERVER: g,
        meaning.OTHER_F: F,
        meaning.OTHER_SERVER: g,
        meaning.FIRST: F,
        meaning.SECOND: g,
    }
    for metric, expr in meaning.INNER.items():
        value = expr.subs({meaning.gamma: gamma, meaning.eta_0: eta_0})
        assert (
            value.replace(meaning.Inner, lambda v, w: vectors[v].dot(vectors[w]))
            == measured[metric]
        )


def test_what_signs_show_to_be_hopeless_no_program_solves():
    """Random small programs: what `_hopeless` gives up has no solution, says SciPy of the same."""
    generator = np.random.default_rng(0)
    room = positivity.Room(["p", "q"], [2, 0])
    monomials = [(i, j) for i in range(3) for j in range(3)]
    given_up = solved = 0
    for _ in range(400):
        draw = lambda most: {
            monomials[k]: int(generator.choice([-2, -1, 1, 3]))
            for k in generator.choice(len(monomials), generator.integers(1, most), replace=False)
        }
        goal, columns = draw(4), [draw(4) for _ in range(generator.integers(1, 7))]
        rows = sorted({*goal, *(m for poly in columns for m in poly)})
        matrix = np.array([[poly.get(m, 0) for poly in columns] for m in rows], dtype=float)
        b = np.array([goal.get(m, 0) for m in rows], dtype=float)
        free = np.array([room.nonnegative(m) for m in rows])
        asked = dict(A_ub=matrix[free], b_ub=b[free], A_eq=matrix[~free], b_eq=b[~free])
        feasible = linprog(np.ones(len(columns)), **asked).status == 0
        hopeless = positivity._is_hopeless(room, goal, columns)
        assert not (hopeless and feasible)
        given_up, solved = given_up + hopeless, solved + feasible
    assert given_up > 50 and solved > 50


def test_a_search_in_vain_is_remembered_and_a_larger_one_is_made():
    target = Le(x**2 + y**2, 3 * x * y, evaluate=False)
    algebra.VAIN.clear()
    assert algebra.prove(target, budget=0.1, refute=False) is None
    assert len(algebra.VAIN) == 1
    assert algebra.prove(target, budget=0.2, refute=False) is None
    assert algebra.prove(target, [Eq(x, y)], budget=0.1, refute=False)
    assert len(algebra.VAIN) == 2


Z, Y, B_ = (sympy.Symbol(name, real=True) for name in ("z", "y", "b"))
COUNT = sympy.Symbol("n", integer=True, positive=True)
CIRCLES = [
    sympy.Eq(Z, sympy.Max(Z, Y), evaluate=False),
    sympy.Eq(Z, sympy.Abs(Z), evaluate=False),
    sympy.Eq(Z, sympy.Min(COUNT, Z), evaluate=False),
    sympy.Eq(2 * Z, sympy.Max(Z, Y) + sympy.Min(Z, Y), evaluate=False),
    sympy.Eq(B_, sympy.Piecewise((B_, B_ > 0), (Y, True)), evaluate=False),
]


@pytest.mark.parametrize("relation", CIRCLES, ids=str)
def test_an_equation_that_asks_for_what_it_gives_is_not_solved(relation):
    """z = max(z, y) says z >= y; it fixes no z, and unfolding it has no end."""
    symbol = relation.lhs.free_symbols.pop()
    for goal in (symbol <= Y, symbol >= Y + 1, symbol * Y <= 1):
        assert not algebra.prove(goal, [relation], budget=0.3, refute=False)
    more = sympy.Le(symbol, symbol + 1, evaluate=False)
    assert algebra.prove(more, [relation], budget=0.3, refute=False)


def test_a_document_that_solves_in_a_circle_is_refused():
    document = algebra.build_statement(Z <= Y, [CIRCLES[0]], {}).document()
    (node,) = document["nodes"]
    circle = dict(
        solve=[["z", node, "assumed:0"]], split=node, branches=[dict(scale="1", terms=[])] * 2
    )
    with pytest.raises(algebra.Refused, match="made of itself"):
        algebra.replay(dict(document, proof=circle))


def test_letters_that_proofs_use_within_are_no_letters_of_a_table():
    """One's own g_x, s and L_flatter are not the components, points and constants along a line."""
    table = Table("mine")
    for name, domain in dict(g_x="real", g_y="real", s="positive", L_curved="nonnegative").items():
        table.add(name, name, name, domain=domain)
    mine = {entry.symbol for entry in table.values()}
    claim = Claim(
        "mine.a", "mine, (1)", table, measures=table["g_x"].symbol, bound=1, assumes=[LIPSCHITZ]
    )
    found, _ = meaning.line_facts(claim)
    assert found and not {s for r, _ in found for s in r.free_symbols} & mine

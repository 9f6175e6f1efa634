"""Proofs that speak of vectors: nothing is true of them because it is true of numbers."""

import copy
from itertools import product

import pytest
import sympy
from sympy import Eq, Ge, Gt, Le, Lt, Rational, Symbol

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates import check_proof
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import InvalidInput
from fedtheory.proofs import algebra
from fedtheory.proofs.meaning import Inner, Vector, inner_product, square_norm

u, v, w, z = map(Vector, "uvwz")
c, r = Symbol("c", positive=True), Symbol("r", real=True)
dot = inner_product
SOME = {
    u: (1, 0, 2),
    v: (0, 1, -1),
    w: (1, 2, 1),
    z: (2, -1, 0),
}  # no identity of lower dimensions holds of these


def gram(*vectors):
    return sympy.Matrix([[dot(one, other) for other in vectors] for one in vectors]).det()


def truth(relation, vectors, numbers=()):
    """The relation at vectors of fractions, by coordinates."""
    values = {c: Rational(2), r: Rational(-3), **dict(numbers)}
    at = lambda one, other: sum(Rational(a) * b for a, b in zip(vectors[one], vectors[other]))
    left, right = (side.replace(Inner, at).subs(values) for side in relation.args)
    return {
        "<=": left <= right,
        "<": left < right,
        ">=": left >= right,
        ">": left > right,
        "==": left == right,
    }[relation.rel_op]


FALSE = {
    "Cauchy-Schwarz reversed": Ge(dot(u, v) ** 2, square_norm(u) * square_norm(v)),
    "Cauchy-Schwarz with equality": Eq(
        dot(u, v) ** 2, square_norm(u) * square_norm(v), evaluate=False
    ),
    "Cauchy-Schwarz, strict": Lt(
        dot(u, v) ** 2, square_norm(u) * square_norm(v)
    ),  # false where v = 2 u
    "norms below an inner product and a bit": Le(
        square_norm(u) * square_norm(v), dot(u, v) ** 2 + square_norm(u - v) ** 2 / 100
    ),
    "four vectors paired otherwise": Eq(
        dot(u, v) * dot(w, z), dot(u, w) * dot(v, z), evaluate=False
    ),
    "three vectors paired otherwise": Eq(
        dot(u, v) * dot(u, w), square_norm(u) * dot(v, w), evaluate=False
    ),
    "three vectors paired otherwise, as an inequality": Le(
        dot(u, v) * dot(u, w), square_norm(u) * dot(v, w)
    ),
    "three vectors are dependent": Eq(gram(u, v, w), 0, evaluate=False),
    "two vectors are dependent": Le(gram(u, v), 0),
    "the norm of a sum": Ge(
        square_norm(u + v) * square_norm(u - v), (square_norm(u) + square_norm(v)) ** 2
    ),
    "Lagrange's identity of numbers": Eq(
        (square_norm(u) + square_norm(v)) * (square_norm(w) + square_norm(z)),
        (dot(u, w) + dot(v, z)) ** 2 + (dot(u, z) - dot(v, w)) ** 2,
        evaluate=False,
    ),
    "a product of inner products is no square": Ge(dot(u, v) * dot(v, w) * dot(w, u), 0),
    "an inner product has a sign": Ge(dot(u, v), 0),
    "a norm is not zero": Gt(square_norm(u), 0),
    "an inner product of distant vectors": Le(
        2 * c * dot(u, v), c**2 * square_norm(u) + Rational(99, 100) * square_norm(v)
    ),
}
# Vectors of one, two or three dimensions where a false one fails; SOME for the others
WHERE = {
    "Cauchy-Schwarz, strict": {u: (1, 1), v: (2, 2)},
    "a norm is not zero": {u: (0, 0)},
    "three vectors paired otherwise, as an inequality": {u: (1, 0), v: (0, 1), w: (0, -1)},
    "a product of inner products is no square": {u: (1, 0), v: (-1, 2), w: (1, 1)},
    "an inner product has a sign": {u: (1,), v: (-1,)},
    "an inner product of distant vectors": {u: (1,), v: (2,)},
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_true_of_numbers_is_not_proved_of_vectors(name):
    relation = FALSE[name]
    assert not truth(relation, WHERE.get(name, SOME))
    assert not algebra.prove(relation, budget=0.5)


TRUE = {
    "Cauchy-Schwarz": Le(dot(u, v) ** 2, square_norm(u) * square_norm(v)),
    "Cauchy-Schwarz for sums": Le(dot(u + v, u) ** 2, square_norm(u + v) * square_norm(u)),
    "the parallelogram": Eq(
        square_norm(u + v) + square_norm(u - v),
        2 * square_norm(u) + 2 * square_norm(v),
        evaluate=False,
    ),
    "Young": Le(2 * dot(u, v), c * square_norm(u) + square_norm(v) / c),
    "a norm of two": Le(square_norm(u + v), 2 * square_norm(u) + 2 * square_norm(v)),
    "a norm of three": Le(
        square_norm(u + v + w), 3 * (square_norm(u) + square_norm(v) + square_norm(w))
    ),
    "a coefficient of any sign": Ge(square_norm(u) + 2 * r * dot(u, v) + r**2 * square_norm(v), 0),
    "norms multiply": Ge(square_norm(u) * square_norm(v), 0),
    "the norm of a sum, the other way": Le(
        square_norm(u + v) * square_norm(u - v), (square_norm(u) + square_norm(v)) ** 2
    ),
    "Gram's determinant": Ge(gram(u, v, w), 0),
    "inner products below the norms": Le(dot(u, v), (square_norm(u) + square_norm(v)) / 2),
    "a strict one": Lt(2 * dot(u, v), square_norm(u) + square_norm(v) + c),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_of_vectors_is_proved(name):
    relation = TRUE[name]
    assert truth(relation, SOME) and truth(relation, {**SOME, v: SOME[u]})
    proof = algebra.prove(relation, budget=2, refute=False)
    assert proof and algebra.replay(proof.certificate) == proof.certificate["shows"]


def test_the_products_of_measured_inner_products():
    """The claim that was once proved: the reverse of Cauchy-Schwarz, between what two metrics
    measure."""
    claim = discover.claim("fsl.gradient_identity")
    inner_, one, other = (
        claim.table[name].symbol for name in ("grad_inner", "sq_grad", "sq_server_grad")
    )
    own = lambda relation: claim.replace(
        "own", measures=inner_**2, bound=one * other, relation=relation, also=()
    )
    for relation in (">=", "==", "<", ">"):
        assert not algebra.prove_line(own(relation), budget=0.5)
        assert ft.check(own(relation), budget=0.5).status != "proved"
    verdict = ft.check(own("<="), budget=1)
    assert verdict.status == "proved" and ft.replay(verdict.certificate)["status"] == "proved"


def test_a_vector_is_no_number():
    for relation in (
        Ge(u**2, 0),
        Ge(u * v, u * v - 1),
        Eq(u, v),
        Ge(c * u, u),
        Le(dot(u, v), u * v),
    ):
        assert algebra.prove(relation, refute=False, budget=0.2) is None
    for one in (u * v, u**2, u + 1, c, 1 / u, sympy.sqrt(u)):
        with pytest.raises(InvalidInput, match="inner product"):
            inner_product(one, u)


# Documents


def document(shows, terms=(), scale="1", vectors="uvwz", **more):
    return dict(
        format="fedtheory proof 2",
        variables={**dict.fromkeys(vectors, "vector"), "c": "positive"},
        nodes={},
        assumes=[],
        shows=shows,
        proof=dict(scale=scale, terms=list(terms), **more),
    )


uu, vv, uv = "u.u", "v.v", "u.v"
NORMS, SQUARE = ["*", uu, vv], ["^", uv, 2]
minus = lambda tree: ["*", "-1", tree]
cs = dict(by="1", gram=[{"u": "1"}, {"v": "1"}])


def test_documents_written_by_hand():
    assert check_proof.check(document(["<=", SQUARE, NORMS], [cs]))
    assert check_proof.check(document(["<=", ["^", "v.u", 2], NORMS], [cs]))  # v.u is u.v
    sum_ = {"u": "1", "v": "1"}
    assert check_proof.check(document(["==", ["dot", sum_, sum_], ["+", uu, vv, ["*", "2", uv]]]))
    assert check_proof.check(
        document(
            ["<=", ["dot", sum_, {"u": "1", "v": "-1"}], uu], [dict(by="1", gram=[{"v": "1"}])]
        )
    )
    assert check_proof.check(
        document(
            [">=", ["dot", {"u": "1", "v": "c"}, {"u": "1", "v": "c"}], "0"],
            [dict(by="1", gram=[{"u": "1", "v": "c"}])],
        )
    )


FORGED = {
    "two vectors multiplied as numbers": document(
        [">=", ["*", "u", "v"], "0"], [dict(by=["*", "u", "v"])]
    ),
    "a vector squared": document([">=", ["^", "u", 2], "0"], [dict(by=["^", "u", 2])]),
    "a vector squared in the proof alone": document(
        [">=", NORMS, "0"], [dict(by="1", square=["*", "u", "v"])]
    ),
    "an odd vector": document([">=", ["*", uu, "u"], "0"], [dict(by="1")]),
    "a vector in a sum with a number": document([">=", ["+", "u", "1"], "0"], [dict(by="1")]),
    "an inner product with a number": document([">=", "u.c", "0"], [dict(by="u.c")]),
    "an inner product of three": document([">=", "u.v.w", "0"], [dict(by="u.v.w")]),
    "an inner product with nothing": document([">=", "u.", "0"], [dict(by="u.")]),
    "a vector as a coefficient": document(
        [">=", ["dot", {"u": "v"}, {"w": "z"}], "0"], [dict(by="1")]
    ),
    "a number as a vector": document([">=", ["dot", {"c": "1"}, {"u": "1"}], "0"], [dict(by="1")]),
    "a vector as a node's value": {
        **document([">=", "n", "0"], [dict(by="1", square="u")]),
        "nodes": {"n": ["define", ["^", "u", 2]]},
    },
    "a vector's root": {
        **document([">=", "n", "0"], [dict(by="n")]),
        "nodes": {"n": ["root", "u", 2]},
    },
    "an equation solved for a vector": {
        **document(["==", uv, "0"], solve=[["u", "0", "assumed:0"]]),
        "assumes": [["==", uv, "0"]],
    },
    "an inner product taken to be nonnegative": document([">=", uv, "0"], [dict(by=uv)]),
    "reversed": document([">=", SQUARE, NORMS], [cs]),
    "reversed, by a negative factor": document([">=", SQUARE, NORMS], [{**cs, "by": "-1"}]),
    "a minor of mixed rows": document(
        [">=", SQUARE, NORMS], [dict(by="1", gram=[{"u": "1"}, {"v": uv}])]
    ),
    "a minor that is strict": document(["<", SQUARE, NORMS], [cs]),
    "a norm that is strict": document([">", uu, "0"], [dict(by="1", gram=[{"u": "1"}])]),
    "an equation from a minor": document(["==", SQUARE, NORMS], [cs]),
    "an equation from nothing": document(["==", SQUARE, NORMS]),
    "paired otherwise": document(["==", ["*", "u.v", "w.z"], ["*", "u.w", "v.z"]]),
    "a minor without rows": document([">=", "0", "1"], [dict(by="-1", gram=[])]),
    "a minor of nothing": document([">=", "0", "1"], [dict(by="-1", gram=[{}])]),
    "a minor too large": document(
        [">=", "1", "0"], [dict(by="1"), dict(by="0", gram=[{"u": "1"}] * 9)]
    ),
    "the older format, which took vectors for numbers": {
        **document(["<=", SQUARE, NORMS], [cs]),
        "format": "fedtheory proof 1",
    },
    "a name with a dot": {
        **document([">=", "u.v", "0"], [dict(by="u.v")]),
        "variables": {"u.v": "positive"},
    },
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_document_is_refused(name):
    with pytest.raises(Refused):
        check_proof.check(FORGED[name])


def test_the_older_format_is_read_where_there_are_no_vectors():
    old = dict(
        format="fedtheory proof 1",
        variables=dict(x="positive"),
        nodes={},
        assumes=[],
        shows=[">", "x", "0"],
        proof=dict(scale="1", terms=[dict(by="x")]),
    )
    assert check_proof.check(old) == old["shows"]


@pytest.mark.parametrize("name", FALSE)
def test_the_proof_that_holds_of_numbers_is_refused_of_vectors(name):
    """A false statement that holds of numbers has a proof of numbers; no rewriting of it makes one
    of vectors."""
    relation = FALSE[name]
    numbers = {one: Symbol(f"n_{one.name}", real=True) for one in (u, v, w, z)}
    scalar = relation.replace(Inner, lambda a, b: numbers[a] * numbers[b])
    if scalar == sympy.true:
        scalar = Le(0, 0, evaluate=False)
    if scalar == sympy.false or (proof := algebra.prove(scalar, refute=False, budget=0.5)) is None:
        return
    as_numbers = proof.certificate
    shows = algebra.prove(
        Ge(square_norm(u) + 1, 0), refute=False
    ).certificate  # a document with vectors, to start from
    goal = algebra.build_statement(relation, (), {}).document()
    renamed = lambda tree: (
        tree.removeprefix("n_")
        if isinstance(tree, str)
        else {k: renamed(t) for k, t in tree.items()}
        if isinstance(tree, dict)
        else [renamed(t) for t in tree]
        if isinstance(tree, list)
        else tree
    )
    for variables, proof in product(
        (
            goal["variables"],
            {**goal["variables"], **{f"n_{k}": "real" for k in "uvwz"}},
            {**goal["variables"], **dict.fromkeys(map(str, numbers.values()), "vector")},
        ),
        (as_numbers["proof"], renamed(as_numbers["proof"])),
    ):
        forged = {**copy.deepcopy(shows), **goal, "variables": variables, "proof": proof}
        with pytest.raises(Refused):
            check_proof.check(forged)

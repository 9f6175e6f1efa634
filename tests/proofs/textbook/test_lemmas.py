"""Textbook facts: each part has a document that the checker accepts, is true of drawn vectors, and
false with a constant nudged."""

import json
import random
from fractions import Fraction as Q

import pytest
import sympy

from fedtheory.certificates import check_proof
from fedtheory.errors import InvalidInput
from fedtheory.proofs import algebra
from fedtheory.proofs.meaning import Inner, Vector, square_norm
from fedtheory.proofs.textbook import facts
from fedtheory.proofs.textbook.axioms import AXIOMS
from fedtheory.proofs.textbook.lemmas import LEAVES, Part
from tests.proofs.textbook.exactly import truth

PARTS = [(leaf, part) for leaf in LEAVES for part in leaf.parts]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.id)
def test_each_rests_on_named_axioms_and_documents(leaf):
    assert leaf.parts and set(leaf.axioms) <= set(AXIOMS)
    documents = facts.fact_documents(leaf.id)
    assert len(documents) == len(leaf.parts)
    for document, part in zip(documents, leaf.parts):
        assert check_proof.check(json.loads(json.dumps(document))) == document["shows"]
        stated = algebra.build_statement(part.shows, part.given, {}).document()
        assert all(stated[key] == document[key] for key in algebra.PARTS)


def drawn(relations, draw):
    """Values of the relations' symbols and inner products, of drawn vectors of integers."""
    free = set().union(*(r.free_symbols for r in relations))
    inners = set().union(*(r.atoms(Inner) for r in relations))
    vectors = {v: [draw.randint(-4, 4) for _ in range(2)] for i in inners for v in i.args}
    number = lambda s: Q(
        draw.randint(0 if s.is_nonnegative and not s.is_positive else 1, 9),
        1 if s.is_integer else draw.choice([1, 2, 5]),
    )
    known = {s: number(s) for s in sorted(free, key=str) if not isinstance(s, Vector)}
    known.update(
        {
            s: -v
            for s, v in known.items()
            if s.is_real and draw.random() < 0.5 and not s.is_nonnegative
        }
    )
    dot = lambda v, w: sum(Q(a * b) for a, b in zip(vectors[v], vectors[w]))
    return {**known, **{i: dot(*i.args) for i in inners}}


def test_each_part_is_true_of_drawn_vectors():
    draw, met = random.Random(1), {}
    for leaf, part in PARTS:
        tried = 0
        for _ in range(500):
            known = drawn((part.shows, *part.given), draw)
            if all(truth(relation, known) for relation in part.given):
                tried += 1
                assert truth(part.shows, known), (leaf.id, part.says, known)
        met[leaf.id] = max(met.get(leaf.id, 0), tried)
    # An equation is rarely met by chance: there the identity that the checker sees is all there is.
    assert {name for name, tried in met.items() if tried < 5} <= {
        "textbook.independent_sum",
        "textbook.cohort",
    }


NUDGED = [leaf.id for leaf in LEAVES if leaf.parts[-1].shows.func in (sympy.Le, sympy.Ge)]


@pytest.mark.parametrize("name", NUDGED)
def test_a_sharper_statement_is_not_proved(name):
    """A hundredth of a squared norm, or of a number squared, added to the smaller side."""
    part = facts.NAMES[name].parts[-1]
    small, large = part.shows.args if part.shows.func is sympy.Le else reversed(part.shows.args)
    free = sorted(part.shows.free_symbols, key=str)
    vectors = [v for v in free if isinstance(v, Vector)]
    more = square_norm(vectors[0]) if vectors else free[0] ** 2
    sharper = sympy.Le(small + sympy.Rational(1, 100) * more, large)
    with pytest.raises(RuntimeError, match="no proof"):
        facts.part_proof(Part("sharper", sharper, part.given))


def test_without_a_hypothesis_nothing_is_proved():
    for _, part in PARTS:
        for one in part.given:  # an equation is two inequalities of one left side
            fewer = tuple(other for other in part.given if other.lhs != one.lhs)
            with pytest.raises(RuntimeError, match="no proof"):
                facts.part_proof(Part("fewer", part.shows, fewer))


def test_an_unknown_fact_is_refused():
    assert not facts.is_textbook_name("fsl.theorem1")
    with pytest.raises(InvalidInput, match="textbook.young"):
        facts.is_textbook_name("textbook.everything")

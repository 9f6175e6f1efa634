"""Proofs by algebra: a document shows that an inequality between expressions follows from other
relations.

The scope is relations between rational expressions, roots, maxima, minima and cases. The unknowns
are real, nonnegative, positive or integers >= 1; of an integer, only the bound 1 is used. Equations
eliminate a symbol that they fix. Inequalities are cleared of denominators and combined by
`positivity`. The search is not complete: None means that no proof and no counterexample was found.
A proof is returned only after `certificates/check_proof.py` has accepted it. The checker and the
search share nothing but the reading of the document.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory.certificates import check_proof as certificate
from fedtheory.certificates.check_proof import Laborious, Refused
from fedtheory.errors import InvalidInput
from fedtheory.language.symbol import Table
from fedtheory.proofs import meaning, refutation
from fedtheory.proofs.derivation import CHAIN, Search
from fedtheory.proofs.statement import Outside, Statement
from fedtheory.typing import Document

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

PARTS = (
    "variables",
    "nodes",
    "assumes",
    "sources",
    "parts",
    "shows",
)  # the parts of a document that make up its statement

# Hashes of searches that found no proof. Work is counted, so a repeated search finds none either.
VAIN: set = set()
MOST = 10_000  # the most entries of VAIN


@dataclass(frozen=True)
class Proof:
    """An implication that holds, with the document that proves it."""

    certificate: dict[str, Any]

    def __str__(self) -> str:
        return f"proved, {proof_size(self.certificate['proof'])} terms"


@dataclass(frozen=True)
class Counterexample:
    """Rational numbers that satisfy every assumption and violate the target; its truth value is
    False, and that of a Proof is True."""

    values: dict[str, Any]

    def __bool__(self) -> bool:
        return False


def proof_size(proof: Mapping[str, Any]) -> int:
    """Return the number of terms of a proof, with all its branches and lemmas."""
    return (
        len(proof.get("terms", ()))
        + sum(map(proof_size, proof.get("branches", ())))
        + sum(proof_size(lemma) for _, _, lemma in proof.get("lemmas", ()))
    )


def replay(document: Document | Sequence[Any]) -> list[str | list[Any]]:
    """Return the relation that a document proves; raise Refused if the document proves none."""
    return certificate.check(document)


def prove(
    target: sympy.Rel,
    assumptions: Sequence[sympy.Rel] = (),
    symbols: Table | Mapping[sympy.Symbol, sympy.Expr] | None = None,
    budget: float = 10.0,
    refute: bool = True,
    seed: int = 0,
    chain: bool = False,
) -> Proof | Counterexample | None:
    """Return a Proof that the assumptions imply the target, a Counterexample, or None where neither
    was found.

    `target` and `assumptions` are SymPy relations. `symbols` is a Table (or a mapping of symbols to
    definitions) whose derived symbols are expanded. The domain of a symbol is given by its SymPy
    assumptions. `budget` is in seconds. With `chain`, the search tries long chains of inequalities
    first.

    The returned Proof has been accepted by the checker for exactly this statement. A Counterexample
    is an exact point inside the assumptions and the domains. With `refute` false only proofs are
    searched for, and a search that failed before is not repeated. Raises InvalidInput if `target`
    is no relation.

    >>> import sympy
    >>> from fedtheory.proofs.algebra import prove
    >>> x = sympy.Symbol("x", positive=True)
    >>> bool(prove(x + 1 / x >= 2, budget=1)), bool(prove(x >= 2, budget=1))
    (True, False)
    """
    definitions = (
        symbols
        if isinstance(symbols, dict)
        else {
            entry.symbol: entry.definition
            for entry in getattr(symbols, "values", tuple)()
            if entry.definition is not None
        }
    )
    statement = build_statement(target, assumptions, definitions)
    asked = None if refute or not statement else search_name(statement, budget, chain)
    if asked in VAIN:
        return None
    proof = search = None
    if statement:
        document = statement.document()
        try:
            search = Search(document, statement.extremes, budget)
        except Laborious:  # a checker may not multiply it out either
            statement = None
    if search:
        proof = find_proof(search, document, quick=True)
    if proof is None and statement and chain:
        proof = find_proof(Search(document, statement.extremes, budget), document, CHAIN)
    if proof is None and refute:
        point = refutation.find_violation(target, assumptions, definitions, seed)
        if point is not None:
            return Counterexample(point)
    if proof is None and search:
        proof = find_proof(search, document)
    if proof is None:
        if asked is not None:
            if len(VAIN) >= MOST:
                VAIN.clear()
            VAIN.add(asked)
        return None
    document["proof"] = proof
    try:
        certificate.check(document)  # a wrong search raises an error instead of giving a proof
    except Laborious:  # a document that takes too much work to check is no proof
        return None
    return Proof(prune_lemmas(document))


def search_name(statement: Statement, budget: float, chain: bool) -> str:
    """Return the name of a search for a proof: a hash that all claims with the same assumptions and
    conclusion about numbers share."""
    asked = [statement.document(), list(statement.extremes.items()), budget, chain]
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def find_proof(
    search: Search, document: Document, quick: bool | Sequence[tuple[int, int, int]] = False
) -> dict[str, str | list[Any]] | None:
    """Return the proof that a search finds, or None. A search also returns None where its guiding
    floats overflow, or where a sign is not known."""
    try:
        return search.proof(document["shows"], quick=quick)
    except (OverflowError, Refused):
        return None


def build_statement(
    target: Any, assumptions: Sequence[sympy.Rel], definitions: Mapping[sympy.Symbol, sympy.Expr]
) -> Statement | None:
    """Return the Statement that assumptions imply a target, None where the target is no polynomial
    one.

    Assumptions that are not polynomial are left out, which makes the statement stronger.
    """
    if not isinstance(target, sympy.core.relational.Relational):
        raise InvalidInput(f"the target must be a relation between symbols; got {target}")
    statement = Statement(definitions)
    try:
        for assumption in assumptions:
            statement.assume(assumption)
        statement.shows = statement.relation(target)
    except Outside:
        return None
    return statement


def prune_lemmas(document: Document) -> Any:
    """Return the document without the lemmas that its proof does not need."""

    def proofs(proof: dict[str, Any]) -> Iterator[dict[str, str | list[Any]]]:
        yield proof
        for part in (
            *proof.get("branches", ()),
            *(lemma for _, _, lemma in proof.get("lemmas", ())),
        ):
            yield from proofs(part)

    for proof in proofs(document["proof"]):
        for lemma in reversed(list(proof.get("lemmas", ()))):
            kept = proof["lemmas"]
            proof["lemmas"] = [other for other in kept if other is not lemma]
            try:
                certificate.check(document)
            except Refused:
                proof["lemmas"] = kept
    return document


def prove_line(
    claim: "Claim",
    at: int = 0,
    given: "Sequence[Claim]" = (),
    budget: float = 10.0,
    refute: bool = True,
    seed: int = 0,
) -> Any:
    """Apply `prove` to a line of a claim, given the claim's assumptions between numbers and the
    lines of the claims in `given`.

    If `given` contains the claim itself, only the other lines of the claim are premises. A
    Counterexample refutes the implication between numbers. It is searched only where no measured
    quantity appears. Conditions on the problem, which numbers cannot express, may still exclude it.
    """
    left, sign, right = claim.lines[at]
    if sign == "O":
        return None
    # A measured quantity is no free number: numbers that violate the line may come from no run.
    free = not given and not {
        s.name for side in (left, right) for s in claim.expand(side).free_symbols
    } & set(claim.quantities)
    found = None
    for meant in (False, True):
        target, relations, definitions, more = line_question(claim, at, given, meant)
        if found is None and (more or not meant):
            found = prove(target, relations, definitions, budget, refute and free, seed)
    return found


def line_question(
    claim: "Claim", at: int = 0, given: Sequence[Any] = (), meant: bool = False
) -> tuple[sympy.Rel, list[sympy.Rel], dict[sympy.Symbol, sympy.Expr], bool]:
    """Return (target, relations, definitions, whether measured quantities have a meaning here) of a
    line of a claim."""
    relations, facts = (
        [a.relation for a in claim.assumptions if a.relation is not None],
        meaning.meaning_facts(claim),
    )
    definitions = dict(claim.definitions)
    for other in given:
        relations += [
            make_relation(*each)
            for n, each in enumerate(other.lines)
            if each[1] != "O" and not (other.id == claim.id and n == at)
        ]
        facts += meaning.meaning_facts(other)
        definitions.update(other.definitions)
    return (
        make_relation(*claim.lines[at]),
        list(dict.fromkeys(relations + facts * meant)),
        definitions,
        bool(facts),
    )


def speaks_of(
    document: Document, claim: "Claim", at: int = 0, given: "Sequence[Claim]" = ()
) -> bool:
    """Tell whether a document states this line of this claim, derived from these claims. The
    document's proof may still be wrong."""
    for meant in (False, True):
        statement = build_statement(*line_question(claim, at, given, meant)[:3])
        if statement and all(statement.document()[key] == document.get(key) for key in PARTS):
            return True
    return False


def make_relation(left: sympy.Expr, sign: str, right: sympy.Expr) -> sympy.Rel:
    """Return a relation with the given sign, unevaluated, so that SymPy decides nothing."""
    kind = {"<=": sympy.Le, "<": sympy.Lt, ">=": sympy.Ge, ">": sympy.Gt, "==": sympy.Eq}[sign]
    return kind(left, right, evaluate=False)

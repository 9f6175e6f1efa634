"""One step of a proof: tells whether a line follows from the lines and textbook facts that are
cited for it.

A premise counts if its own hypotheses are among the hypotheses of the line, or follow from them. If
the premise assumes more, the step is refused. Premise and line have to be about the same
quantities: their letters are the same records (`letters.py`), measured in one run of one method, at
every instance inside the line's hypotheses. A constant that a premise leaves open belongs to this
premise alone. The step is then an implication between numbers and inner products, which algebra
decides with a document.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory import discover
from fedtheory.errors import refuse
from fedtheory.language import conditions
from fedtheory.language.printing import plain
from fedtheory.language.symbol import expand_definitions
from fedtheory.proofs import algebra, meaning
from fedtheory.proofs.textbook import facts, letters, proof_cache
from fedtheory.typing import Document, Number

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

BUDGET = 0.1  # seconds of a core, counted as work, for the proof of a step
QUICK = 0.5  # a share of BUDGET, for the form in which derived letters are any numbers
INDUCTION = (
    "an induction over rounds is no implication between numbers; its start and its step are lines"
)
# Pairs of conditions of which the first implies the second: (stronger, weaker).
STRONGER = (
    (conditions.STRONGLY_CONVEX, conditions.CONVEX),  # mu > 0 implies mu >= 0
    (conditions.LIPSCHITZ, conditions.SMOOTH),  # by textbook.upper_quadratic
)


@dataclass(frozen=True)
class Edge:
    """A step of a proof: a line, its cited premises, and whether the line follows from these
    premises."""

    line: str  # "fsl.step24/1"
    premises: tuple[Any, ...]  # names of lines and of textbook facts
    status: str  # "proved", "undecided" (no proof was found), "refused" (a premise assumes more)
    why: str = ""
    documents: tuple[
        Any, ...
    ] = ()  # the step's, then those of premises' hypotheses that had to be proved

    def as_dict(self) -> dict[str, str | list[str]]:
        """Return plain data without the documents."""
        return dict(line=self.line, premises=list(self.premises), status=self.status, why=self.why)


def parse_line_name(line: str) -> "tuple[Claim, int]":
    """Return (claim, index of its line from 0) of a name of the form "id/line"."""
    name, _, number = line.rpartition("/")
    claim = discover.claim(name)
    if not number.isdigit() or not 1 <= int(number) <= len(claim.lines):
        refuse("a line", f"must be one of the {len(claim.lines)} lines of {name}", line)
    return claim, int(number) - 1


def line_premises(claim: Any, at: Number) -> "list[str | tuple[Claim, int]]":
    """Return the premises cited for a line, each as (claim, index of its line) or the name of a
    textbook fact."""
    found = []
    for one in claim.follows.get(at + 1, ()):
        if isinstance(one, str) and facts.is_textbook_name(one):
            found.append(one)
        elif isinstance(one, str) and "/" in one:
            found.append(own_line(claim, one))
        else:
            other = claim if one == claim.id else discover.claim(one)
            if not other.lines:
                refuse(f"{claim.id}: follows", "must name claims that have lines", one)
            places = range(len(other.lines))
            found += [(other, n) for n in places if not (other.id == claim.id and n == at)]
    return list(dict.fromkeys(found))


def own_line(claim: "Claim", line: str) -> "tuple[Claim, int]":
    """Return (claim, index of its line) of a name "id/line", where the id may be the claim's own."""
    if line.rpartition("/")[0] != claim.id:
        return parse_line_name(line)
    number = line.rpartition("/")[2]
    if not number.isdigit() or not 1 <= int(number) <= len(claim.lines):
        refuse(f"{claim.id}: follows", f"must name lines from 1 to {len(claim.lines)}", line)
    return claim, int(number) - 1


def premise_name(premise: "str | tuple[Claim, int]") -> str:
    """Return "id/line" for a line, or the name of a textbook fact."""
    return premise if isinstance(premise, str) else f"{premise[0].id}/{premise[1] + 1}"


@lru_cache(maxsize=1024)
def step_of(claim: "Claim", at: int) -> Edge | None:
    """Return the Edge of a line, or None where no premises are cited for the line."""
    some = line_premises(claim, at)
    if not some:
        return None
    make = lambda status, why="", documents=(): Edge(
        premise_name((claim, at)), tuple(map(premise_name, some)), status, why, tuple(documents)
    )
    if claim.lines[at][1] == "O":
        return make("undecided", "an order of growth is no relation that algebra decides")
    if facts.PREFIX + "induction" in some:
        return make("undecided", INDUCTION)
    lines = [one for one in some if not isinstance(one, str)]
    documents = []
    if why := why_reopened(claim, some):
        return make("refused", why)
    for other, n in lines:
        if why := why_apart(claim, other, n) or assumed_more(claim, other, documents):
            return make("refused", why)
    if silent := unmentioned_names(claim, at, tuple(some)):
        return make("undecided", f"none of these speaks of {', '.join(silent)}")
    document = prove_line(claim, at, tuple(some))
    if document is None:
        return make("undecided", "algebra found no proof from these alone")
    return make("proved", documents=[document, *documents])


def why_apart(claim: "Claim", other: "Claim", n: int) -> str | None:
    """Return why a premise does not concern the same quantities as the line, or None where it does."""
    if other.lines[n][1] == "O" or other.kind == "order":
        return f"{other.id} is an order: its constant is not the same everywhere"
    if other is claim:
        return None
    if other.table.paper != claim.table.paper:
        return f"{other.id} is written in the letters of another paper"
    if strange := letters.differing_letters(other.table, claim.table, other.symbols):
        return f"{other.id} means something else by {', '.join(strange)}"
    if any(entry.measure.of_a_run for entry in other.quantities.values()):
        same = bool(letters.claim_methods(claim)) and bool(letters.claim_methods(other))
    else:
        same = (
            bool(letters.claim_methods(claim))
            or not letters.claim_methods(other)
            or not other.quantities
        )
    if (
        not same
        or other.quantities
        and letters.claim_methods(other)
        and not covers_methods(claim, other)
    ):
        return f"{other.id} speaks of another method"
    return None


def covers_methods(claim: "Claim", other: "Claim") -> bool:
    """Tell whether a premise covers each method that a claim refers to."""
    return letters.covers_methods(claim, letters.claim_methods(other))


def why_reopened(claim: "Claim", some: "Sequence[str | tuple[Claim, int]]") -> Any:
    """Return why a constant that a premise leaves open has another meaning here, or None where
    there is no such conflict."""
    others = lambda premises: list(
        dict.fromkeys(
            one[0] for one in premises if not isinstance(one, str) and one[0] is not claim
        )
    )
    everywhere = [one for at in claim.follows for one in line_premises(claim, at - 1)]
    name = letters.reopened_constant(claim, others(some), others(everywhere))
    return (
        name
        and f"{name} is a constant for some value of which one line is said, and another line has it as well"
    )


def method_names(claim: "Claim") -> Any:
    """Return the names of the methods that a claim refers to."""
    return {getattr(one, "name", one) for one in letters.claim_methods(claim)}


def assumed_more(claim: "Claim", other: "Claim", documents: Any) -> str:
    """Return why a hypothesis of a premise is not available, or "" where all are. Adds to
    `documents` the proofs of hypotheses that had to be derived."""
    mine = () if other is claim else at_hand(claim)
    for assumption in other.assumptions if other is not claim else ():
        if assumption.condition is not None:
            if assumption.condition not in mine:
                return f"{other.id} assumes that {assumption.condition.says}"
        elif (document := prove_relation(claim, other, assumption.relation)) is None:
            return f"{other.id} assumes {plain(assumption.relation)}, which was not shown to follow"
        else:
            documents += [document] * bool(document)
    return ""


def prove_relation(claim: "Claim", other: "Claim", relation: sympy.Rel) -> dict[str, Any] | None:
    """Return a document that proves a premise's relation from a claim's hypotheses, or {} where it
    is one of them. Return None where no proof is known."""
    if relation in _with_rules(claim, other):
        return {}
    if isinstance(relation, sympy.And):
        return None
    return proof_cache.load_proof(*discharge_question(claim, other, relation), BUDGET)


def at_hand(claim: "Claim") -> list[conditions.Condition]:
    """Return the conditions that a claim assumes, together with the conditions that they imply."""
    found = [a.condition for a in claim.assumptions if a.condition is not None]
    for strong, weak in (*STRONGER, *facts.stronger_conditions(claim.table)):
        found += [weak] * (strong in found)
    return found


def _with_rules(claim: "Claim", *others: "Claim") -> list[sympy.Rel]:
    """Return a claim's relations, together with the rules that hold by the meaning of the other
    claims' letters."""
    relations = [a.relation for a in claim.assumptions if a.relation is not None]
    rules = [
        rule
        for other in others
        for rule in other.symbols.rules
        if letters.is_binding(rule, claim.table)
    ]
    return list(dict.fromkeys([*relations, *rules]))


def prove_line(
    claim: "Claim", at: int, some: "Sequence[str | tuple[Claim, int]]"
) -> dict[str, Any] | None:
    """Return the document that proves that a line follows from its premises, or None."""
    for target, relations, definitions in step_question(claim, at, some):
        brief = BUDGET if definitions else QUICK * BUDGET  # first form: less time
        if document := proof_cache.load_proof(target, relations, definitions, brief):
            return document
    return None


def step_question(
    claim: "Claim", at: int, some: "Sequence[str | tuple[Claim, int]]"
) -> Iterator[tuple[sympy.Rel, list[sympy.Rel], dict[sympy.Symbol, sympy.Expr]]]:
    """Yield (target, relations, definitions) of a step in up to three forms. Derived letters (and a
    right side shared with a premise) are taken as any real numbers, then by their definitions, then
    together with conditions and textbook facts about measured quantities."""
    lines = [one for one in some if not isinstance(one, str)]
    names = {one for one in some if isinstance(one, str)}
    claims = list(dict.fromkeys([claim, *(other for other, _ in lines)]))
    target = algebra.make_relation(*claim.lines[at])
    relations = _with_rules(*claims) + [
        algebra.make_relation(*other.lines[n]) for other, n in lines
    ]
    definitions = {s: e for other in claims for s, e in other.definitions.items()}
    meant = [fact for other in claims for fact in meaning.meaning_facts(other)]
    meant += [fact.relation for fact in facts.usable_facts(claims, names, at_hand(claim))]
    if facts.PREFIX + "rounds" in names:
        means = [facts.average_line(other, n) for other, n in lines]
        meant += [relation for relation in means if relation is not None]
    distinct = lambda some: list(dict.fromkeys(some))
    if lines and (meant or not names):
        free = {s: sympy.Symbol(s.name, real=True) for s in definitions}
        used = relations + meant if names else relations
        if any(target.rhs in relation.args for relation in used) and not target.rhs.is_Atom:
            free[target.rhs] = meaning.unused_symbol("right_hand_side", claim.table, real=True)
        turned = [replace_letters(relation, free) for relation in distinct([target, *used])]
        yield turned[0], connected_relations(turned[0], turned[1:]), {}
    if not names:
        yield target, distinct(relations), definitions
    if meant:
        yield target, distinct(relations + meant), definitions


def connected_relations(target: sympy.Rel, relations: Sequence[sympy.Rel]) -> list[sympy.Rel]:
    """Return the relations that share letters with a target, directly or through other relations."""
    found, letters = [], set(target.free_symbols)
    while more := [r for r in relations if r not in found and r.free_symbols & letters]:
        found += more
        letters |= set().union(*(r.free_symbols for r in more))
    return [r for r in relations if r in found]


def unmentioned_names(
    claim: "Claim", at: int, some: "Sequence[str | tuple[Claim, int]]"
) -> list[str]:
    """Return the names of measured quantities that a line bounds and no premise mentions, so that
    the line cannot follow."""
    asked = list(step_question(claim, at, some))
    if not asked:  # no named textbook fact mentions the quantities that are measured here
        return []
    target, relations, definitions = asked[-1]
    spoken = set().union(*(expand_definitions(r, definitions).free_symbols for r in relations))
    bounded = expand_definitions(target.lhs, definitions).free_symbols
    measured = {e.symbol for e in claim.quantities.values()}
    return sorted(s.name for s in bounded & measured - spoken)


def replace_letters(relation: sympy.Rel, free: Mapping[sympy.Expr, sympy.Symbol]) -> sympy.Rel:
    """Return a relation with letters replaced and otherwise unchanged."""
    if not isinstance(relation, sympy.core.relational.Relational):
        return relation.xreplace(free)
    return relation.func(*(side.xreplace(free) for side in relation.args), evaluate=False)


def speaks_of(document: Document, claim: "Claim", at: int) -> bool:
    """Tell whether a document states the step to a line of a claim. The document's proof may still
    be wrong."""
    return any(
        states_implication(document, asked)
        for asked in step_question(claim, at, tuple(line_premises(claim, at)))
    )


def states_implication(
    document: Document, asked: tuple[sympy.Rel, list[sympy.Rel], dict[sympy.Symbol, sympy.Expr]]
) -> bool:
    """Tell whether a document states that relations imply a target."""
    statement = algebra.build_statement(*asked)
    return isinstance(document, dict) and bool(
        statement and all(statement.document()[k] == document.get(k) for k in algebra.PARTS)
    )


def needed_hypotheses(claim: "Claim", at: int) -> list[Any] | None:
    """Return [(target, relations, definitions)] for the hypotheses of a line's premises that must
    be proved. Return None where a premise can never be used."""
    found, some = [], line_premises(claim, at)
    if why_reopened(claim, some):
        return None
    for other, n in (one for one in some if not isinstance(one, str)):
        mine = at_hand(claim)
        if why_apart(claim, other, n):
            return None
        for assumption in other.assumptions if other is not claim else ():
            if assumption.condition is not None:
                if assumption.condition not in mine:
                    return None
            elif assumption.relation not in _with_rules(claim, other):
                found.append(discharge_question(claim, other, assumption.relation))
    return found


def discharge_question(
    claim: "Claim", other: "Claim", relation: sympy.Rel
) -> tuple[sympy.Rel, list[sympy.Rel], dict[sympy.Symbol, sympy.Expr]]:
    """Return (target, relations, definitions) of the question whether a premise's relation follows
    from a claim's hypotheses."""
    return relation, _with_rules(claim, other), {**other.definitions, **claim.definitions}


__all__ = [
    "Edge",
    "step_of",
    "premise_name",
    "parse_line_name",
    "line_premises",
    "step_question",
    "prove_line",
    "speaks_of",
]

"""Vacuous claims: hypotheses that contradict each other, bounds weaker than a trivial bound, and
coefficients that turn negative inside the admitted range.

The module `fedtheory.proofs.meaning` gives the meaning of a condition by its name. A claim's
hypotheses are called contradictory only if algebra proves the contradiction.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Confined
from fedtheory.proofs import algebra, meaning, refutation
from fedtheory.verdicts.evidence import Vacuity

ABSURD = sympy.Le(1, 0, evaluate=False)
SECONDS = 0.5  # seconds: the limit on each proof; few successful proofs take so long
ENOUGH = 30  # the fewest admitted draws for which a share is reported
MOVES = 25  # random steps that move a draw into the hypotheses


class ClaimExamination(NamedTuple):
    """What the hypotheses and the bound of a claim say by themselves."""

    vacuity: Vacuity | None
    notes: tuple[str, ...]  # on a claim that says something


def examine_hypotheses(claim: Claim, seed: int = 0, budget: float = 10.0) -> ClaimExamination:
    """Return whether a claim says nothing, and notes; `budget` is in seconds, as for a check."""
    seconds = min(SECONDS, 0.1 * budget)
    relations = [a.relation for a in claim.assumptions if a.relation is not None]
    if any(claim.expand(r) == sympy.false for r in relations):
        return ClaimExamination(Vacuity(says="One of its hypotheses is false at any numbers."), ())
    if any(r.free_symbols for r in relations) and (
        proof := prove_goal(ABSURD, relations, claim.definitions, seconds)
    ):
        says = "Its hypotheses between numbers contradict each other."
        return ClaimExamination(Vacuity(says=says, document=proof.certificate), ())
    notes: tuple[str, ...] = ()
    conditions, proof = find_contradiction(claim, relations, seconds)
    if proof:
        says = f"on all of R^d no loss meets all of: {'; '.join(conditions)}"
        saved = [a.condition.says for a, _ in meaning.meanings_of(claim, Confined)]
        if not saved:
            says = f"{says[0].upper()}{says[1:]}."
            return ClaimExamination(Vacuity(says=says, document=proof.certificate), ())
        notes = (f"{says}. It speaks of something only because {saved[0]}",)
    proof = prove_trivial_constant(claim, relations, seconds) if claim.left_open else None
    if proof:
        says = (
            f"It is said for some value of {', '.join(claim.left_open)}, and at any instance some "
            "value makes it true."
        )
        return ClaimExamination(Vacuity(says=says, document=proof.certificate, notes=notes), notes)
    for n in range(len(claim.lines)):
        proof, found = prove_trivial_bound(claim, n, relations, 0.3 * seconds, seed)
        if proof and len(claim.lines) == 1:
            vacuity = Vacuity(says=found[0], document=proof.certificate, notes=notes)
            return ClaimExamination(vacuity, notes)
        notes += tuple(found)
    return ClaimExamination(None, (*notes, *sign_notes(claim, relations, seed)))


def prove_goal(
    goal: sympy.Rel,
    relations: Sequence[sympy.Rel],
    definitions: Mapping[sympy.Symbol, sympy.Expr],
    seconds: float,
) -> Any:
    """Return a Proof of a goal, or None; None also where the sign of a denominator is unknown."""
    try:
        return algebra.prove(
            goal, list(dict.fromkeys(relations)), dict(definitions), seconds, refute=False
        )
    except Refused:
        return None


def find_contradiction(
    claim: Claim, relations: Sequence[sympy.Rel], seconds: float
) -> tuple[Sequence[str], Any]:
    """Return (the statements of the conditions that contradict each other along a line, the Proof),
    or ((), None)."""
    said, limits = meaning.line_facts(claim)
    for goal in [*limits, ABSURD]:
        about = lambda pairs: set().union(goal.free_symbols, *(r.free_symbols for r, _ in pairs))
        between = [
            r for r in relations if r.free_symbols <= about(said)
        ]  # relations between numbers may take part in the contradiction
        shown = lambda pairs: (
            prove_goal(goal, [r for r, _ in pairs] + between, {}, seconds) if pairs else None
        )
        needed, proof = said, shown(said)
        if not proof:
            continue
        for says in dict.fromkeys(says for _, says in said):  # drop unneeded ones
            fewer = shown(kept := [each for each in needed if each[1] != says])
            needed, proof = (kept, fewer) if fewer else (needed, proof)
        return list(dict.fromkeys(says for _, says in needed)), proof
    return (), None


def prove_trivial_constant(claim: Claim, relations: Sequence[Any], seconds: float) -> Any:
    """Return the Proof that a line holds at one value, chosen after the instance, of a constant
    that the text leaves open: the measured quantity over the constant's factor. The result is None
    where there is no such value, or where the claim has other lines."""
    left, sign, right = claim.lines[0]
    if (
        len(claim.lines) > 1
        or sign not in ("<=", ">=")
        or any(
            e.symbol in r.free_symbols
            for e in claim.left_open.values()
            for r in map(claim.expand, relations)
        )
    ):
        return None
    small, large = (left, right) if sign == "<=" else (right, left)
    for entry in claim.left_open.values():
        factor = sympy.expand(claim.expand(large)).coeff(entry.symbol)
        if (
            small.is_nonnegative
            and factor.is_positive
            and not claim.expand(small).has(entry.symbol)
        ):
            return prove_goal(
                sympy.Le(small, large.xreplace({entry.symbol: small / factor}), evaluate=False),
                relations,
                claim.definitions,
                seconds,
            )
    return None


def prove_trivial_bound(
    claim: Claim, at: int, relations: Sequence[sympy.Rel], seconds: float, seed: int
) -> tuple[None, list[Any]]:
    """Return (Proof that a line's bound is no better than a trivial bound, or None; notes as a
    list).

    The measured quantity may have a coefficient. Where the coefficient is negative, a nonnegative
    bound says nothing either.
    """
    left, sign, right = claim.lines[at]
    if sign in (">=", ">"):
        left, right = right, left
    if sign not in ("<=", "<", ">=", ">"):
        return None, []
    known = [
        (left.coeff(symbol) * value, why)
        for symbol, value, why in meaning.trivial_bounds(claim)
        if sign in ("<=", "<")
        and left.coeff(symbol) != 0
        and sympy.expand(left - left.coeff(symbol) * symbol) == 0
    ]
    if (
        sign in (">=", ">")
        and left.is_number
        and left <= 0
        and right.is_Symbol
        and right.is_nonnegative
    ):
        return None, [
            f"Line {at + 1} says that something nonnegative is at least {left}: always true"
        ]
    for value, why in known:
        goal = sympy.Ge(right, value, evaluate=False)
        proof = prove_goal(goal, relations, claim.definitions, seconds)
        if proof and value.is_nonnegative:
            return proof, [
                f"Its bound exceeds what is trivially true over the whole admitted range: {why}."
            ]
        found = useless_region(claim, sympy.Le(right, value, evaluate=False), relations, seed)
        if found:
            share, drives = found
            return None, [
                f"At {share:.0%} of admitted draws of its numbers the bound says no more than what is "
                f"trivially true{drives} ({why})"
            ] if share else []
    return None, []


def useless_region(
    claim: Claim, useful: sympy.Rel, relations: Sequence[sympy.Rel], seed: int
) -> tuple[float, str] | None:
    """Return (share of the admitted draws at which a bound is not `useful`, words for the symbol
    that causes this), or None."""
    parts = [
        p
        for r in map(claim.expand, relations)
        for p in (r.args if isinstance(r, sympy.And) else (r,))
    ]
    solved, rules = refutation._solve_equalities([p for p in parts if p is not sympy.true])
    if any(rule is sympy.false or isinstance(rule, sympy.Eq) for rule in rules):
        return None
    hunt = refutation.RefutationSearch(claim.expand(useful), rules, solved, seed)
    if not hunt.symbols:
        return None
    points = np.sign(near := hunt.draw()) * abs(near) ** hunt.rng.choice(
        [1.0, 2.0, 3.0], near.shape
    )
    merit = hunt.violation_of(points)
    for _ in range(MOVES):  # points inside the hypotheses no longer move
        trial = hunt.move_points(points)
        found = hunt.violation_of(trial)
        better = (merit < -1) & (found > merit)
        points, merit = np.where(better[:, None], trial, points), np.where(better, found, merit)
    admitted = merit >= -1
    if np.count_nonzero(admitted) < ENOUGH:
        return None
    points, beyond = points[admitted], merit[admitted] > 0
    share, found = beyond.mean(), (0.05, "")
    if 0 < share < 1:
        for n, symbol in enumerate(hunt.symbols):
            order = np.argsort(np.argsort(points[:, n]))
            gap = (order[beyond].mean() - order[~beyond].mean()) / len(
                order
            )  # a difference of mean ranks, in (-1/2, 1/2)
            found = max(
                found,
                (abs(gap), f", mostly where {symbol.name} is {'large' if gap > 0 else 'small'}"),
            )
    return share, found[1]


def sign_notes(claim: Claim, relations: Sequence[sympy.Rel], seed: int) -> list[str]:
    """Return notes on derived symbols that multiply or divide something and change their sign
    inside the admitted range."""
    notes = []
    sides = [side for left, _, right in claim.lines for side in (left, right)]
    for symbol, value in claim.definitions.items():
        if symbol.is_nonnegative or not any(is_factor(symbol, side) for side in sides):
            continue
        found = refutation.find_violation(
            sympy.Ge(value, 0, evaluate=False), relations, dict(claim.definitions), seed
        )
        if found:
            at = ", ".join(f"{name} = {number}" for name, number in sorted(found.items()))
            notes.append(
                f"{symbol.name}, a coefficient, is negative inside the admitted range, at {at}"
            )
    return notes


def is_factor(symbol: sympy.Symbol, expr: sympy.Expr) -> bool:
    """Tell whether a symbol multiplies or divides something in an expression."""
    return any(
        symbol in e.free_symbols and (e.is_Mul or e.is_Pow and e.exp.is_negative)
        for e in sympy.preorder_traversal(expr)
    )


__all__ = ["examine_hypotheses"]

"""Upper bounds on a number in a statement: the smallest value with which algebra or a worst-case
program proves the line, and the smallest with which the line still follows from the steps of the
text's proof.

The line is proved if it follows from its hypotheses alone, or from steps that are proved
themselves. If some of these steps are only upheld by search, the line follows from them but is not
proved.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import sympy

from fedtheory.errors import InvalidInput
from fedtheory.proofs import algebra
from fedtheory.proofs.textbook import proof_steps
from fedtheory.verdicts import proof_graph, worst_case_bounds
from fedtheory.verdicts.necessary_values import FAR, HALF, STEPS, round_to_digits

# Work is in units of PER_SECOND elementary steps.
PROOF = 0.5  # units of work: the limit on a proof by algebra
STEP = 2.0  # units of work charged for deciding whether a line follows from others
ASKED = 0.05  # units of work charged for a proof by algebra that succeeds
KEPT = 0.25  # a share of a part's budget, reserved for proofs
# PROGRAM: units of work for a worst-case program, times the cube of its number of points. COMPARED:
# units of work for one comparison with the program's bound. OFTEN: the most comparisons.
PROGRAM, COMPARED, OFTEN = 0.005, 0.002, 20
# A share of the printed number, by which a solver's bound may exceed this number.
BEYOND = sympy.Rational(1, 10**5)


class Way(NamedTuple):
    """A method to prove a line."""

    name: str  # the field that is set: "proved" or "follows"
    proof: Callable  # claim and line -> document or None
    document: dict | None  # of the line as printed; None if only a slightly weaker line may work
    least: float  # units of work of an attempt that finds a proof
    vain: float  # units of work of an attempt that finds none
    times: int = STEPS  # the most attempts


class Enough:
    """The ways to prove a line of a claim with another number in it, each used only where it proves
    the printed line."""

    def __init__(self, claim, budget, seed):
        self.claim, self.seed, self.most = claim, seed, min(PROOF, budget / 10)
        self.ways, self.spent = {}, 0.0

    def kept(self, part, share):
        """Return the part of a budget share that is reserved for proofs, 0 where it is too small
        for any proof."""
        least, share = [way.least for way in self.of(part.line)], KEPT * share
        return share if least and share >= min(least) else 0.0

    def of(self, line):
        """Return the Ways to prove a line."""
        if line not in self.ways:
            self.ways[line] = list(self._ways(line))
        return self.ways[line]

    def _ways(self, line):
        document = self._algebra(self.claim, line)
        self.spent += ASKED if document else self.most
        if document:
            yield Way("proved", self._algebra, document, ASKED, self.most)
            return
        if found := worst_case_bounds.parse_question(self.claim, line):
            self.spent += PROGRAM * (2 + found[0].rounds) ** 3
            if worst_case_bounds.solve_question(found[0]):
                document = worst_case_bounds.prove_worst_case(self.claim, line)
                yield Way(
                    "proved",
                    worst_case_bounds.prove_worst_case,
                    document,
                    COMPARED,
                    COMPARED,
                    OFTEN,
                )
        self.spent += STEP if self.claim.follows.get(line + 1) else 0.0
        if document := self._steps(self.claim, line):
            whole = proof_graph.build_graph(self.claim, lambda other, led: None)
            sure = all(whole.nodes[name].status == "proved" for name in self._premises(line))
            yield Way("proved" if sure else "follows", self._steps, document, STEP, STEP)

    def _algebra(self, claim, line):
        proof = algebra.line(claim, line, budget=self.most, refute=False, seed=self.seed)
        return dict(proof.certificate) if proof else None

    def _premises(self, line):
        return proof_steps.step_of(self.claim, line).premises

    def _steps(self, claim, line):
        """Return the document of the step to a line; None where no step is named, none is found, or
        the line is among its own premises."""
        if not claim.follows.get(line + 1):
            return None
        try:
            edge = proof_steps.step_of(claim, line)
        except InvalidInput:  # in a variant, no record says that other lines lead to this line
            return None
        if (
            edge is None
            or edge.status != "proved"
            or f"{self.claim.id}/{line + 1}" in edge.premises
        ):
            return None
        return edge.documents[0]

    def ask(self, part, found, share):
        """Set the values of a part with which the line is proved or follows from the steps of the
        text's proof, within the budget share."""
        before = self.spent
        for way in [] if found.why else self.of(part.line):
            for value, proof in self._nearer(part, found, way, before + share):
                setattr(found, way.name, Fraction(int(value.p), int(value.q)))
                found.document = proof if way.name == "proved" else found.document
            if found.proved is not None:
                break

    def _begun(self, part, found, way):
        """Return (value, document) of the line as printed or, where the line's own proof is not
        available, with a slightly weaker number."""
        holds = sympy.Rational(found.printed)
        if way.document is not None:
            return holds, way.document
        if part.kind not in ("constant", "term"):
            return holds, None
        holds *= 1 - BEYOND if found.most else 1 + BEYOND
        return holds, way.proof(part.variant(holds), part.line)

    def _nearer(self, part, found, way, most):
        """Yield (value, document) for values ever nearer to the refuted value with which a way
        still proves the line, until `most` is spent."""
        (holds, document), fails = self._begun(part, found, way), None
        if document is None:
            return
        yield holds, document
        if found.refuted is not None:
            fails = sympy.Rational(found.refuted)
        for _ in range(way.times):
            value = self._next(part, found, holds, fails)
            if value is None or value in (holds, fails) or self.spent + way.least > most:
                return
            document = way.proof(part.variant(value), part.line)
            self.spent += way.least if document else way.vain
            if document:
                holds = value
                yield value, document
                if fails is None:
                    return
            else:
                fails = value

    def _next(self, part, found, holds, fails):
        """Return the next value to try, in steps of a half for exponents; None where there is none."""
        if part.kind == "exponent":
            value = holds + (HALF if found.most else -HALF)
            return None if fails is not None and (value >= fails) == found.most else value
        if fails is None:
            return FAR * holds if found.most else sympy.Integer(0)
        value = round_to_digits((holds + fails) / 2, up=not found.most)
        return value if min(holds, fails) < value < max(holds, fails) else None

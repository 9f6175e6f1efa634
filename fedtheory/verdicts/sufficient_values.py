"""Upper bounds on a number in a statement: the smallest value with which algebra or a worst-case
program proves the line, and the smallest with which the line still follows from the steps of the
text's proof.

The line is proved if it follows from its hypotheses alone, or from steps that are proved
themselves. If some of these steps are only upheld by search, the line follows from them but is not
proved.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import sympy

from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.proofs import algebra
from fedtheory.proofs.textbook import proof_steps
from fedtheory.verdicts import proof_graph, worst_case_bounds
from fedtheory.verdicts.exploration_parameters import PARAMETERS
from fedtheory.verdicts.necessary_values import Sharpened, as_fraction, round_to_digits
from fedtheory.verdicts.perturbations import HALF, Part


class ProofMethod(NamedTuple):
    """A method to prove a line."""

    name: str  # the field that is set: "proved" or "follows"
    proof: Callable[[Claim, int], dict | None]  # claim and line -> document
    document: dict | None  # of the line as printed; None if only a slightly weaker line may work
    least: float  # units of work of an attempt that finds a proof
    vain: float  # units of work of an attempt that finds none
    times: int = PARAMETERS.steps  # the most attempts


class ProofSearch:
    """The ways to prove a line of a claim with another number in it, each used only where it proves
    the printed line; `spent` is in units of work."""

    def __init__(self, claim: Claim, budget: float, seed: int) -> None:
        self.claim, self.seed = claim, seed
        self.most, self.spent = min(PARAMETERS.proof_limit, budget / 10), 0.0
        self.ways: dict[int, list[ProofMethod]] = {}

    def reserve(self, part: Part, share: float) -> float:
        """Return the part of a budget share that is reserved for proofs, 0 where it is too small
        for any proof."""
        least, share = [way.least for way in self.of(part.line)], PARAMETERS.proof_share * share
        return share if least and share >= min(least) else 0.0

    def of(self, line: int) -> list[ProofMethod]:
        """Return the Ways to prove a line."""
        if line not in self.ways:
            self.ways[line] = list(self._ways(line))
        return self.ways[line]

    def _ways(self, line: int) -> Iterator[ProofMethod]:
        cost = PARAMETERS.proof_cost
        document = self._algebra(self.claim, line)
        self.spent += cost if document else self.most
        if document:
            yield ProofMethod("proved", self._algebra, document, cost, self.most)
            return
        if found := worst_case_bounds.parse_question(self.claim, line):
            self.spent += PARAMETERS.program_cost * (2 + found.question.rounds) ** 3
            if worst_case_bounds.solve_question(found.question):
                prove, cost = worst_case_bounds.prove_worst_case, PARAMETERS.comparison_cost
                document = prove(self.claim, line)
                yield ProofMethod("proved", prove, document, cost, cost, PARAMETERS.comparisons)
        cost = PARAMETERS.step_cost
        self.spent += cost if self.claim.follows.get(line + 1) else 0.0
        if document := self._steps(self.claim, line):
            whole = proof_graph.build_graph(self.claim, lambda other, led: None)
            premises = proof_steps.step_of(self.claim, line).premises
            sure = all(whole.nodes[name].status == "proved" for name in premises)
            yield ProofMethod("proved" if sure else "follows", self._steps, document, cost, cost)

    def _algebra(self, claim: Claim, line: int) -> dict | None:
        proof = algebra.prove_line(claim, line, budget=self.most, refute=False, seed=self.seed)
        return dict(proof.certificate) if proof else None

    def _steps(self, claim: Claim, line: int) -> dict | None:
        """Return the document of the step to a line; None where no step is named, none is found, or
        the line is among its own premises."""
        if not claim.follows.get(line + 1):
            return None
        try:
            edge = proof_steps.step_of(claim, line)
        except InvalidInput:  # in a variant, no record says that other lines lead to this line
            return None
        itself = f"{self.claim.id}/{line + 1}"
        if edge is None or edge.status != "proved" or itself in edge.premises:
            return None
        return edge.documents[0]

    def improve(self, part: Part, found: Sharpened, share: float) -> None:
        """Set the values of a part with which the line is proved or follows from the steps of the
        text's proof, within the budget share."""
        before = self.spent
        for way in [] if found.why else self.of(part.line):
            for value, proof in self._nearer(part, found, way, before + share):
                setattr(found, way.name, as_fraction(value))
                found.document = proof if way.name == "proved" else found.document
            if found.proved is not None:
                break

    def _nearer(
        self, part: Part, found: Sharpened, way: ProofMethod, most: float
    ) -> Iterator[tuple[sympy.Rational, dict]]:
        """Yield (value, document) for values ever nearer to the refuted value with which a way
        still proves the line, until `most` is spent."""
        holds, document = sympy.Rational(found.printed), way.document
        if document is None and part.kind in ("constant", "term"):  # a slightly weaker number
            holds *= 1 + (-1 if found.most else 1) * PARAMETERS.solver_excess
            document = way.proof(part.variant(holds), part.line)
        if document is None:
            return
        yield holds, document
        fails = None if found.refuted is None else sympy.Rational(found.refuted)
        for _ in range(way.times):
            value = next_value(part, found, holds, fails)
            if value is None or value in (holds, fails) or self.spent + way.least > most:
                return
            document = way.proof(part.variant(value), part.line)
            self.spent += way.least if document else way.vain
            if not document:
                fails = value
                continue
            holds = value
            yield value, document
            if fails is None:
                return


def next_value(
    part: Part, found: Sharpened, holds: sympy.Rational, fails: sympy.Rational | None
) -> sympy.Rational | None:
    """Return the next value to try, in steps of a half for exponents; None where there is none."""
    if part.kind == "exponent":
        value = holds + (HALF if found.most else -HALF)
        return None if fails is not None and (value >= fails) == found.most else value
    if fails is None:
        return PARAMETERS.far * holds if found.most else sympy.Integer(0)
    value = round_to_digits((holds + fails) / 2, up=not found.most)
    return value if min(holds, fails) < value < max(holds, fails) else None

"""How much of a number of a statement is enough, from above: the smallest value with which algebra
proves the line, and the smallest with which it still follows from the steps of the text's proof.

A proof is one where the line follows from its hypotheses alone, or from steps that are proved
themselves. Where some of these only hold by search, what follows from them is no proof.
"""

from fractions import Fraction

import sympy

from fedtheory.errors import InvalidInput
from fedtheory.proofs import algebra
from fedtheory.textbook import edges
from fedtheory.verdicts import graphs
from fedtheory.verdicts.needing import FAR, HALF, STEPS, rounded

PROOF = 0.5  # units of work for a proof by algebra, at most
STEP = 2.0  # what asking whether a line follows from others counts as
ASKED = 0.05  # and what a proof counts as at least
KEPT = 0.25  # of what a part may spend


class Enough:
    """Ways to prove a line of a claim with another number in it, each tried only where it leads to the
    line as printed."""

    def __init__(self, claim, budget, seed):
        self.claim, self.seed, self.most = claim, seed, min(PROOF, budget / 10)
        self.ways, self.spent = {}, 0.0

    def kept(self, part, share):
        """What of a part's share is kept for proofs: nothing where it buys none."""
        least, share = [least for *_, least, _ in self.of(part.line)], KEPT * share
        return share if least and share >= min(least) else 0.0

    def of(self, line):
        """[(name of what is set, claim and line -> document or None, that of the line as printed, what
        asking takes where there is one and where there is none)] of a line's ways."""
        if line not in self.ways:
            self.ways[line] = list(self._ways(line))
        return self.ways[line]

    def _ways(self, line):
        document = self._algebra(self.claim, line)
        self.spent += ASKED if document else self.most
        if document:
            yield "proved", self._algebra, document, ASKED, self.most
        self.spent += STEP if self.claim.follows.get(line + 1) else 0.0
        if document := self._steps(self.claim, line):
            whole = graphs.graph(self.claim, lambda other, led: None)
            sure = all(whole.nodes[name].status == "proved" for name in self._premises(line))
            yield "proved" if sure else "follows", self._steps, document, STEP, STEP

    def _algebra(self, claim, line):
        proof = algebra.line(claim, line, budget=self.most, refute=False, seed=self.seed)
        return dict(proof.certificate) if proof else None

    def _premises(self, line):
        return edges.edge(self.claim, line).premises

    def _steps(self, claim, line):
        """The document of the step to a line; None where none is named, none is found, or the line
        itself is among what it follows from."""
        if not claim.follows.get(line + 1):
            return None
        try:
            edge = edges.edge(claim, line)
        except InvalidInput:  # a variant's other lines are no longer said to lead to it
            return None
        if (
            edge is None
            or edge.status != "proved"
            or f"{self.claim.id}/{line + 1}" in edge.premises
        ):
            return None
        return edge.documents[0]

    def ask(self, part, found, share):
        """Set what is proved of a part, and what follows from the steps to its line, as far as its
        share leads."""
        before = self.spent
        for name, way, document, *costs in [] if found.why else self.of(part.line):
            setattr(found, name, found.printed)
            found.document = document if name == "proved" else found.document
            most = before + share
            for value, proof in self._nearer(part, found, way, most, *costs):
                setattr(found, name, Fraction(int(value.p), int(value.q)))
                found.document = proof if name == "proved" else found.document
            if found.proved is not None:
                break

    def _nearer(self, part, found, way, most, least, vain):
        """(value, document) of values ever nearer to what is refuted with which a way still leads to
        the line, until so much is spent."""
        holds, fails = sympy.Rational(found.printed), None
        if found.refuted is not None:
            fails = sympy.Rational(found.refuted)
        for _ in range(STEPS):
            value = self._next(part, found, holds, fails)
            if value is None or value in (holds, fails) or self.spent + least > most:
                return
            document = way(part.variant(value), part.line)
            self.spent += least if document else vain
            if document:
                holds = value
                yield value, document
                if fails is None:
                    return
            else:
                fails = value

    def _next(self, part, found, holds, fails):
        """The next value to be asked for; of exponents, half by half."""
        if part.kind == "exponent":
            value = holds + (HALF if found.most else -HALF)
            return None if fails is not None and (value >= fails) == found.most else value
        if fails is None:
            return FAR * holds if found.most else sympy.Integer(0)
        return rounded((holds + fails) / 2, up=not found.most)

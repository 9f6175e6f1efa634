"""The facts known at one place of a proof, each with the Rocq hypothesis that states the fact.

`Facts` reads a document as its checker does. With each fact, a polynomial of known sign, it stores
the name of the hypothesis that states the fact. Signs are proved monomial by monomial; identities
between rational expressions are proved by `field`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fedtheory.certificates.check_proof import ONE, Reading, Refused, Ring, monomial_key, require
from fedtheory.rocq.text import Spelling, assign_identifiers, number_text
from fedtheory.typing import Document

if TYPE_CHECKING:
    from fedtheory.rocq.script import Script


class Infinite(Refused):
    """The error that a side of a relation may be infinite."""


class Facts(Reading):
    """The facts known at one place of a proof, with the names of the hypotheses that state the
    facts."""

    def __init__(self, document: Document, ring: Ring, script: "Script") -> None:
        variables, self.script = document["variables"], script
        nodes = list(document["nodes"])
        self.spell = Spelling(assign_identifiers([*variables, *nodes]))
        self.vector_names = [name for name, domain in variables.items() if domain == "vector"]
        self.held = {name: f"D{n}" for n, name in enumerate(variables)}
        self.equal = {name: f"E{n}" for n, name in enumerate(nodes)}
        self.defined = dict(self.equal)
        self.by_key, self.by_sign, self.by_name = {}, {}, {}
        self.used = set()  # assumptions that some step uses
        self.source = None
        super().__init__(document, ring)

    def again(self) -> Any:
        other = super().again()
        other.__class__ = type(self)
        for name in ("equal", "by_key", "by_sign", "by_name"):
            setattr(other, name, getattr(self, name).copy())
        return other

    # Facts

    def know(
        self, name: Any, poly: Mapping[tuple[tuple[str, int], ...], Fraction], strict: bool
    ) -> None:
        """Record a fact, which the hypothesis `self.source` states or, if that is None, a
        hypothesis on a variable's domain."""
        hypothesis, self.source = self.source or self.of_domain(name, poly, strict), None
        self.by_name[name] = hypothesis
        self.source = hypothesis
        super().know(name, poly, strict)

    def learn(self, poly: Mapping[tuple[tuple[str, int], ...], Fraction], strict: bool) -> None:
        hypothesis, self.source = self.source, None
        k = monomial_key(poly)
        if k not in self.by_key or strict > self.by_key[k][1]:
            self.by_key[k] = hypothesis, strict
        ((m, value), *more) = poly.items() or [((), 0)]
        if not more and len(m) == value == 1 and m[0][1] == 1:
            name = m[0][0]
            if name not in self.by_sign or strict > self.by_sign[name][1]:
                self.by_sign[name] = hypothesis, strict
        super().learn(poly, strict)

    def of_domain(
        self, name: str, poly: Mapping[tuple[tuple[str, int], ...], Fraction], strict: bool
    ) -> str:
        one, dot, _ = name.partition(".")
        if dot:
            return self.script.fact(f"0 <= {self.spell.atom(name)}", "apply gram_1.")
        symbol, _, at = name.partition(":")
        held = self.held[symbol]
        if at:
            return self.script.fact(f"0 <= {self.spell.polynomial(poly)}", "lra.")
        if self.domains[symbol] == "count":
            return self.script.fact(f"0 < {self.spell.symbols[symbol]}", "lra.")
        return held

    # Signs

    def positive(self, p: Mapping[tuple[tuple[str, int], ...], Fraction]) -> tuple[str, bool]:
        """Return (a proof that a polynomial is >= 0 or > 0, whether the proof shows > 0)."""
        known, strict = self.by_key.get(monomial_key(p), (None, False))
        if strict:
            return known, True
        parts = [self.positive_monomial(m, value) for m, value in sorted(p.items())]
        if parts and None not in parts:
            proof, sure = prove_sum(parts)
            if sure or known is None:
                return proof, sure
        require(known is not None, "of unknown sign")
        return known, False

    def positive_monomial(
        self, m: Sequence[tuple[str, int]], value: Fraction
    ) -> tuple[bool | str, ...] | None:
        if value < 0:
            return None
        parts = []
        if value != 1 or not m:
            parts.append((f"(ltac:(lra) : 0 < {number_text(value)})", True))
        for name, k in m:
            known, strict = self.by_sign.get(name, (None, False))
            if known is not None:
                way = "pow_lt" if strict else "pow_le"
                parts.append((known if k == 1 else f"({way} _ {k} {known})", strict))
            elif k % 2 == 0:
                parts.append((f"(even_power _ {k // 2})", False))
            else:
                return None
        return prove_product(parts)

    def surely(self, p: Mapping[tuple[tuple[str, int], ...], Fraction]) -> str:
        proof, strict = self.positive(p)
        require(strict, "not known to be positive")
        return proof

    # Relations

    def whole_of(self, full: Mapping[Any, int]) -> tuple[str, str]:
        """Return (the product of denominators as text, a proof that the product is positive)."""
        full = {f: n for f, n in full.items() if dict(f) != ONE}
        if not full:
            return "1", "Rlt_0_1"
        parts, proofs = [], []
        for f, n in full.items():
            text = self.spell.polynomial(dict(f))
            known = self.below(f)
            parts.append(f"({text})" if n == 1 else f"({text}) ^ {n}")
            proofs.append((known if n == 1 else f"(pow_lt _ {n} {known})", True))
        return " * ".join(parts), prove_product(proofs)[0]

    def below(self, f: Sequence[Any]) -> str:
        """Return the hypothesis that a denominator is positive."""
        known, strict = self.by_key.get(f, (None, False))
        if strict:
            return known
        proof = self.surely(dict(f))
        name = self.script.fact(f"0 < {self.spell.polynomial(dict(f))}", f"exact {proof}.")
        self.by_key[f] = name, True
        return name

    def gap(self, relation: Sequence[str | list[Any]], goal: bool = True) -> tuple[Any, ...]:
        for den in [den for _, den in self.sides(relation)]:
            if not all(map(self.firm, den)):
                raise Infinite(
                    "it divides by what may be zero, where Rocq's reals have no infinity"
                )
        return super().gap(relation, goal)

    def full(self, relation: Sequence[str | list[str | list[Any]]]) -> dict[Any, int]:
        (_, under), (_, over) = self.sides(relation)
        each = {f: max(under.get(f, 0), over.get(f, 0)) for f in {**under, **over}}
        return {f: n for f, n in each.items() if dict(f) != ONE}

    def identity(self, full: Mapping[Any, int], *more: Any) -> str:
        """Return a proof of an identity between expressions: replace symbols by their values, then
        apply `field`."""
        orders = [self.equal[name] for name in self.order()]
        rewriting = f"rewrite {', '.join(f'?{name}' for name in orders)}; " if orders else ""
        if self.vector_names:
            rewriting += "opened; "
            pairs = [
                f"?(inner_symmetric {self.spell.symbols[b]} {self.spell.symbols[a]})"
                for n, a in enumerate(sorted(self.vector_names))
                for b in sorted(self.vector_names)[n + 1 :]
            ]
            rewriting += f"rewrite {', '.join(pairs)}; " if pairs else ""
        inside = {name for f in full for m, _ in f for name, _ in m}
        known = [self.by_sign[name] for name in sorted(inside) if name in self.by_sign]
        hypotheses = [name for name, strict in known if strict] + [self.below(f) for f in full]
        tries = " | ".join(f"nonzero {name}" for name in dict.fromkeys(hypotheses))
        return f"{rewriting}field" + (f"; repeat split; first [{tries}]" if tries else "")

    def order(self) -> list[str]:
        """Return the symbols that have values, each before the symbols that occur in its value."""
        found, seen = [], set()

        def visit(name: str) -> None:
            if name in seen or name not in self.solved:
                return
            seen.add(name)
            for other in tree_symbols(self.solved[name]):
                visit(other)
            found.append(name)

        for name in self.solved:
            visit(name)
        return found[::-1]

    def link_relation(self, relation: Sequence[str], hypothesis: str) -> str:
        """Return the hypothesis that a relation's gap is nonnegative, or positive, proved from the
        hypothesis that states the relation."""
        poly, strict = self.gap(relation, False)
        f, sure = self.whole_of(full := self.full(relation))
        way = "cleared_lt" if strict else "cleared_le"
        return self.script.fact(
            f"0 {'<' if strict else '<='} {self.spell.polynomial(poly)}",
            f"apply ({way} _ _ ({f}) _ {turn_relation(relation, hypothesis)} {sure}); {self.identity(full)}.",
        )


SUMS = {
    (True, True): "Rplus_lt_0_compat",
    (True, False): "Rplus_lt_le_0_compat",
    (False, True): "Rplus_le_lt_0_compat",
    (False, False): "Rplus_le_le_0_compat",
}


def prove_sum(parts: Sequence[Any]) -> tuple[str, bool]:
    """Return (a proof of the sign of a sum, whether the sum is > 0) from the proofs for its terms."""
    proof, sure = parts[0]
    for other, strict in parts[1:]:
        proof, sure = f"({SUMS[sure, strict]} _ _ {proof} {other})", sure or strict
    return proof, sure


def prove_product(parts: Sequence[tuple[str, bool]]) -> tuple[str, bool] | None:
    """Return (a proof of the sign of a product, whether the product is > 0) from the proofs for its
    factors, or None if the sign of a factor is unknown."""
    if None in parts:
        return None
    proof, sure = parts[0]
    for other, strict in parts[1:]:
        if sure and strict:
            proof = f"(Rmult_lt_0_compat _ _ {proof} {other})"
        else:
            proof, other = (
                f"(Rlt_le _ _ {text})" if positive else text
                for text, positive in ((proof, sure), (other, strict))
            )
            proof = f"(Rmult_le_pos _ _ {proof} {other})"
        sure = sure and strict
    return proof, sure


def turn_relation(relation: Sequence[str], hypothesis: str) -> str:
    """Return a hypothesis in the form `smaller side <= larger side`."""
    way = {">=": "Rge_le", ">": "Rgt_lt"}.get(relation[0])
    return f"({way} _ _ {hypothesis})" if way else hypothesis


def tree_symbols(tree: Any) -> set[str]:
    """Return the names in an expression."""
    if isinstance(tree, str):
        return {tree}
    op, *parts = tree
    if op == "^":
        parts = parts[:1]
    elif op == "dot":
        parts = [c for v in parts for c in v.values()]
    return set().union(*map(tree_symbols, parts))

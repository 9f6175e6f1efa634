"""The translation of a proof by algebra into a theorem about real numbers and its Rocq proof, step
by step.

`Place` follows a document as its checker does, and writes down why each step holds: facts are
polynomials of known sign, a goal is a sum of their products, and every identity is proved by
`field`. Rocq repeats every decision that is taken here. Where a side may be infinite, as 1/0 is in
documents, nothing is written: Rocq's reals have no infinity.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fedtheory.certificates.check_proof import OPPOSITE, Reading, Refused, Ring, require
from fedtheory.rocq.facts import Facts, prove_product, prove_sum
from fedtheory.rocq.script import Script
from fedtheory.typing import Document

if TYPE_CHECKING:
    pass

CASES = {"<=": "Rle", "<": "Rlt", ">=": "Rge", ">": "Rgt"}
STRICT = ("<", ">")


class Place(Facts):
    """One place of a proof, whose facts the steps of the proof change."""

    # The checker's steps, with reasons

    def settle_node(self, which: Any) -> bool:
        if which in self.finite:
            return True
        mark = self.script.mark()
        try:
            if which not in self.nodes:
                relation = self.assumes[which]
                poly, strict = self.gap(relation, False)
                self.source = self.link_relation(relation, f"A{which}")
                self.used.add(which)
                self.learn(poly, strict)
            elif self.nodes[which][0] == "root":
                self.root_fact(which)
            else:
                for case in self.cases(which):
                    value = case.entry[3]
                    Reading.learn(case, *case.gap(case.entry[2], False))
                    case.solved[which], case.values = value, {}
                    require(
                        all(map(case.firm, case.read_polynomial(value)[1])), "it may be infinite"
                    )
        except Refused:
            self.ring.spend(1)
            self.script.back(mark)
            self.source = None
            return False
        self.finite.add(which)
        return True

    def root_fact(self, which: Any) -> None:
        num, den = self.read_polynomial(self.nodes[which][1])
        require(self.sign(num) and all(map(self.firm, den)), "it may be negative or infinite")
        degree, name = self.nodes[which][2], self.spell.symbols[which]
        strict = self.sign(num) == 2
        base = self.sign_fact(self.nodes[which][1], strict) if strict else None
        lemma = {
            2: ("(sqrt_pos _)", "(sqrt_lt_R0 _ {})"),
            4: ("(sqrt_pos _)", "(fourth_root_positive _ {})"),
        }.get(degree, ("(root_nonnegative _ _)", "(root_positive _ _ {})"))
        proof = lemma[strict].format(base)
        self.source = self.script.fact(
            f"0 {'<' if strict else '<='} {name}", f"rewrite {self.defined[which]}; exact {proof}."
        )
        self.know(which, {((which, 1),): Fraction(1)}, strict)

    def sign_fact(self, tree: str | Sequence[Any], strict: bool) -> Any:
        """Return the hypothesis that an expression is nonnegative or, if `strict`, positive."""
        num, den = self.read_polynomial(tree)
        proof, sure = self.positive(num)
        require(sure or not strict, "not known to be positive")
        f, firm = self.whole_of(den)
        way = "positive_quotient" if strict else "nonnegative_quotient"
        proof = proof if strict or not sure else f"(Rlt_le _ _ {proof})"
        return self.script.fact(
            f"0 {'<' if strict else '<='} {self.spell.tree(tree)}",
            f"apply ({way} _ ({f}) ({self.spell.polynomial(num)}) {firm} {proof}); "
            f"{self.identity(den)}.",
        )

    def solve(self, symbol: str, value: Sequence[str | list[Any]], name: str) -> None:
        kind, *parts = self.nodes.get(name, [None])
        if kind == "root":
            require(name in self.finite, "no root of what may be negative")
            relation, equation = ["==", ["^", name, parts[1]], parts[0]], self.raised_root(name)
        else:
            at = int(name[8:])
            relation, equation = self.assumes[at], f"A{at}"
            self.used.add(at)
        having = {m: v for m, v in self.gap(relation)[0].items() if symbol in dict(m)}
        slope = {tuple(f for f in m if f[0] != symbol): v for m, v in having.items()}
        if self.sign(slope) == 2:
            nonzero = f"(Rgt_not_eq _ _ {self.surely(slope)})"
        else:
            minus = {m: -v for m, v in slope.items()}
            below = f"({self.spell.polynomial(minus)}) ({self.spell.polynomial(slope)})"
            nonzero = f"(not_zero_below {below} {self.surely(minus)} ltac:(field))"
        f, _ = self.whole_of(full := self.full(relation))
        s, x, v = self.spell.polynomial(slope), self.spell.symbols[symbol], self.spell.tree(value)
        # the checker reads an equation from right to left
        proof = (
            f"apply (solved _ _ ({f}) ({s}) _ _ (eq_sym {equation}) {nonzero}); "
            f"{self.identity(full | self.read_polynomial(value)[1])}."
        )
        before = dict(self.equal)
        super().solve(symbol, value, name)
        self.equal = before | {symbol: self.script.fact(f"{x} = {v}", proof, "E")}

    def raised_root(self, name: str) -> Any:
        base, degree = self.nodes[name][1:]
        proof = self.sign_fact(base, False)
        lemma = {2: f"(sqrt_power _ {proof})", 4: f"(fourth_root_power _ {proof})"}.get(
            degree, f"(root_power {degree - 1} _ {proof})"
        )
        return self.script.fact(
            f"{self.spell.symbols[name]} ^ {degree} = {self.spell.tree(base)}",
            f"rewrite {self.defined[name]}; exact {lemma}.",
            "Q",
        )

    def fact(self, name: str) -> Any:
        poly, strict = super().fact(name)
        kind, _, at = name.partition(":")
        if kind == "assumed":
            self.by_name[name] = self.link_relation(self.assumes[int(at)], f"A{at}")
            self.used.add(int(at))
        elif kind in self.solved and kind in self.domains:
            relation = [">" if self.facts[name][1] else ">=", kind, at or "0"]
            held = self.held[kind]
            if self.domains[kind] == "count" and not at:
                held = f"(Rlt_le_trans _ _ _ Rlt_0_1 {held})"
            way = {">": "Rlt_gt", ">=": "Rle_ge"}[relation[0]]
            self.by_name[name] = self.link_relation(relation, f"({way} _ _ {held})")
        return poly, strict

    def cases(self, node: Any) -> "tuple[Place, Place]":
        kind, (sign, *sides), *values = self.nodes[node]
        require(kind == "cases" and node not in self.solved, "no cases")
        held, denied = self.again(), self.again()
        for here, relation, value in zip(
            (held, denied), ([sign, *sides], [OPPOSITE[sign], *sides]), values
        ):
            here.gap(relation, False)
            here.entry = self.script.name("C"), self.script.name("E"), relation, value
        return held, denied

    def enter_branch(self, node: Any) -> None:
        """Record the condition of a branch and the value that the node has in the branch."""
        condition, equation, relation, value = self.entry
        self.source = self.link_relation(relation, condition)
        self.know(f"{node}:case", *self.gap(relation, False))
        self.solved[node], self.values, self.equal[node] = value, {}, equation

    def prove(self, goal: Sequence[str | list[str | list[Any]]], proof: Mapping[str, Any]) -> None:
        for step in proof.get("solve", ()):
            self.solve(*step)
            self.settle()
        for name, relation, lemma in proof.get("lemmas", ()):
            self.lemma(name, relation, lemma)
            self.settle()
        if "split" in proof:
            self.split_cases(goal, proof)
            return
        if "absurd" in proof:
            goal = ["<=", "1", "0"]
            self.script.add("exfalso; apply (Rlt_not_le 1 0 Rlt_0_1).")
        self.added_up(goal, proof)

    def lemma(self, name: str, relation: Any, lemma: Any) -> None:
        hypothesis = self.script.name("L")
        self.script.add(f"assert ({hypothesis} : {self.spell.relation(relation)}).")
        self.script.open()
        self.again().prove(relation, lemma)
        self.script.close()
        poly, strict = self.gap(relation)
        self.source = self.link_relation(relation, hypothesis)
        self.know(name, poly, strict)

    def split_cases(
        self, goal: Sequence[str | list[str | list[Any]]], proof: Mapping[str, str | list[Any]]
    ) -> None:
        node = proof["split"]
        branches = self.cases(node)
        (c, e, relation, _), (other_c, other_e, _, _) = (here.entry for here in branches)
        lemma = f"cases_{CASES[relation[0]][1:]}"
        self.script.add(
            f"destruct ({lemma} _ _ _ _ _ {self.defined[node]}) "
            f"as [[{c} {e}] | [{other_c} {other_e}]]."
        )
        for here, branch in zip(branches, proof["branches"]):
            self.script.open()
            here.enter_branch(node)
            here.settle()
            here.prove(goal, branch)
            self.script.close()

    def added_up(self, goal: Sequence[Any], proof: Mapping[str, str | list[Any]]) -> None:
        full = self.full(goal)
        f, firm = self.whole_of(full)
        if goal[0] == "==":
            self.script.add(f"apply eq_sym, (shown_eq _ _ ({f}) {firm}).\n{self.identity(full)}.")
            return
        parts = [self.term_of(term) for term in proof["terms"]]
        total = " + ".join(text for text, _, _ in parts) or "0"
        strict = goal[0] in STRICT
        signed, sure = prove_sum([part[1:] for part in parts]) if parts else ("(Rle_refl 0)", False)
        require(sure or not strict, "nothing makes it strict")
        signed = f"(Rlt_le _ _ {signed})" if sure and not strict else signed
        scale = self.whole(proof["scale"])
        turn = {">=": "apply Rle_ge; ", ">": "apply Rlt_gt; "}.get(goal[0], "")
        way = "shown_lt" if strict else "shown_le"
        self.script.add(
            f"{turn}apply ({way} _ _ ({f}) ({self.spell.polynomial(scale)})\n"
            f"  ({total})\n  {firm} {self.surely(scale)}\n  {signed}).\n"
            f"{self.identity(full)}."
        )

    def term_of(self, term: Any) -> tuple[str, str, bool]:
        """Return (a term as text, a proof of its sign, whether the term is > 0)."""
        value = self.whole(term["by"])
        factors = [(self.spell.polynomial(value), *self.positive(value))]
        for name in term.get("facts", ()):
            poly, strict = self.fact(name)
            factors.append((self.spell.polynomial(poly), self.by_name[name], strict))
        if "square" in term:
            square = self.spell.polynomial(self.whole(term["square"]))
            factors.append((f"({square}) ^ 2", "(pow2_ge_0 _)", False))
        if "gram" in term:
            factors.append(self.gram(term["gram"]))
        text = " * ".join(f"({factor})" for factor, _, _ in factors)
        proof, sure = prove_product([(proof, sure) for _, proof, sure in factors])
        return text, proof, sure

    def gram(self, vectors: Sequence[Any]) -> tuple[str, str, bool]:
        minor = self.minor(vectors)
        text = self.spell.polynomial(minor)
        combined = " ".join(map(self.spell.combination, vectors))
        name = self.script.fact(
            f"0 <= {text}",
            f"apply (cleared_le _ _ 1 _ (gram_{len(vectors)} V {combined}) Rlt_0_1); "
            f"{self.identity({})}.",
        )
        return text, name, False


def theorem_text(document: Document, ring: Ring, name: str) -> str:
    """Return the text of a theorem and its proof."""
    script = Script()
    place = Place(document, ring, script)
    place.prove(document["shows"], document["proof"])
    for n in place.used:  # as a premise its sides must be finite in every case
        place.gap(document["assumes"][n], False)
    return f"{statement_text(document, place, name)}\nProof.\n{introduction(document, place)}{script.text()}\nQed."


def list_premises(document: Document, place: Place) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each premise of a theorem."""
    spell = place.spell
    for name, domain in document["variables"].items():
        text = {"nonnegative": "0 <= {}", "positive": "0 < {}", "count": "1 <= {}"}.get(domain)
        if text:
            yield place.held[name], text.format(spell.symbols[name])
    for name in document["nodes"]:
        yield (
            place.defined[name],
            f"{spell.symbols[name]} = {node_text(document['nodes'][name], spell)}",
        )
    for n, relation in enumerate(document["assumes"]):
        if n in place.used:
            yield f"A{n}", spell.relation(relation)


def node_text(parts: Sequence[str | list[str | list[Any]]], spell: Any) -> str:
    """Return the definition of a node as text."""
    kind, *rest = parts
    if kind == "define":
        return spell.tree(rest[0])
    if kind == "root":
        base, degree = rest
        if degree in (2, 4):
            text = f"sqrt {spell.tree(base, 3)}"
            return text if degree == 2 else f"sqrt ({text})"
        return f"root {degree} {spell.tree(base, 3)}"
    (sign, left, right), value, other = rest
    decide = f"{CASES[sign]}_dec {spell.tree(left, 3)} {spell.tree(right, 3)}"
    return f"(if {decide} then {spell.tree(value)} else {spell.tree(other)})"


def statement_text(document: Document, place: Place, name: str) -> str:
    spell, kinds = place.spell, document["variables"]
    vectors = [spell.symbols[v] for v in place.vector_names]
    numbers = [spell.symbols[v] for v in kinds if kinds[v] != "vector"]
    numbers += [spell.symbols[v] for v in document["nodes"]]
    binders = ["(V : InnerProductSpace)", f"({' '.join(vectors)} : V)"] if vectors else []
    binders += [f"({' '.join(numbers)} : R)"] if numbers else []
    lines = [f"  {text} ->" for _, text in list_premises(document, place)]
    head = f"Theorem {name} : forall {' '.join(binders)}," if binders else f"Theorem {name} :"
    return "\n".join([head, *lines, f"  {spell.relation(document['shows'])}."])


def introduction(document: Document, place: Place) -> str:
    spell = place.spell
    vectors = ["V", *(spell.symbols[v] for v in place.vector_names)] if place.vector_names else []
    numbers = [spell.symbols[v] for v in document["variables"] if v not in place.vector_names]
    numbers += [spell.symbols[v] for v in document["nodes"]]
    held = [name for name, _ in list_premises(document, place)]
    each = [*vectors, *numbers, *held]
    return f"  intros {' '.join(each)}.\n" if each else ""

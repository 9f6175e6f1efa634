"""Checks a proof by algebra from its document alone: dictionaries and fractions, nothing else.

A goal, cleared of its denominators, must equal a sum of products of what is known to be nonnegative: variables,
assumptions, lemmas, squares. Expressions are trees: "3/4", "gamma", ["+", ...], ["*", ...], ["^", base, 3]. Nodes
name parts of them: definitions, roots, and cases [relation, value, otherwise]. 1/x is +infinity at x = 0.
"""

import re
from fractions import Fraction

ONE = {(): Fraction(1)}
DOMAINS = {"real": "real", "vector": "real", "nonnegative": ">= 0", "positive": "> 0", "count": "an integer >= 1"}


class Refused(ValueError):
    """The document does not prove what it says."""


def require(truth, why):
    if not truth:
        raise Refused(why)


def plus(p, q, c=1):
    """Polynomials are {monomial: coefficient}; a monomial is a sorted tuple of (name, power)."""
    total = dict(p)
    for m, value in q.items():
        total[m] = total.get(m, 0) + c * value
    return {m: value for m, value in total.items() if value}


def times(p, q):
    product = {}
    for m, value in p.items():
        for n, other in q.items():
            powers = dict(m)
            for name, k in n:
                powers[name] = powers.get(name, 0) + k
            key = tuple(sorted(powers.items()))
            product[key] = product.get(key, 0) + value * other
    return {m: value for m, value in product.items() if value}


def raised(p, n):
    require(type(n) is int and 0 <= n <= 100, f"no power: {n}")
    return times(raised(p, n - 1), p) if n else ONE


def lifted(p, factors):
    for factor, n in factors.items():
        p = times(p, raised(dict(factor), n))
    return p


class Reading:
    """What is known at one place of a proof: values of symbols, facts (a polynomial, whether it is > 0)."""

    def __init__(self, document):
        self.domains, self.nodes, self.assumes = document["variables"], {}, document["assumes"]
        self.solved, self.facts, self.vectors = {}, {}, {v for v, d in self.domains.items() if d == "vector"}
        require(set(self.domains.values()) <= set(DOMAINS), "a variable has no domain")
        for name, domain in self.domains.items():
            require(re.fullmatch(r"[A-Za-z]\w*", name), f"no name: {name}")
            if DOMAINS[domain] != "real":
                self.facts[name] = ({((name, 1),): Fraction(1)}, domain != "nonnegative")
            if domain == "count":
                self.facts[f"{name}:1"] = (plus(self.facts[name][0], ONE, -1), False)
        for name, (kind, *parts) in document["nodes"].items():
            require(re.fullmatch(r"[A-Za-z]\w*", name) and name not in self.domains, f"no name: {name}")
            for tree in [*parts[0][1:], *parts[1:]] if kind == "cases" else parts[:1]:    # made of earlier nodes only
                num, den = self.read(tree)
            if kind == "define":
                self.solved[name] = parts[0]
            if kind == "root":    # the nonnegative one
                self.facts[name] = ({((name, 1),): Fraction(1)}, all(self.sign(p) == 2 for p in (num, *map(dict, den))))
            self.nodes[name] = kind, *parts

    def copy(self):
        other = object.__new__(Reading)
        other.__dict__.update(self.__dict__, solved=dict(self.solved), facts=dict(self.facts))
        return other

    def read(self, tree):
        """A rational expression: a polynomial over {denominator: power}."""
        if isinstance(tree, str):
            if tree in self.solved:
                return self.read(self.solved[tree])
            if tree in self.domains or tree in self.nodes:
                return {((tree, 1),): Fraction(1)}, {}
            require(re.fullmatch(r"-?\d{1,4000}(/\d{1,4000})?", tree), f"no number and no symbol: {tree}")
            return plus({}, {(): Fraction(tree)}), {}
        op, (first, *rest) = tree[0], tree[1:]
        num, den = self.read(first)
        if op == "^":
            if rest[0] >= 0:
                return raised(num, rest[0]), {f: n * rest[0] for f, n in den.items()}
            require(num, "a division by zero")
            return lifted(ONE, {f: -n * rest[0] for f, n in den.items()}), {tuple(sorted(num.items())): -rest[0]}
        require(op in ("+", "*"), f"no operation: {op}")
        for other, below in map(self.read, rest):
            every = {*den, *below}
            if op == "*":
                num, den = times(num, other), {f: den.get(f, 0) + below.get(f, 0) for f in every}
            else:
                full = {f: max(den.get(f, 0), below.get(f, 0)) for f in every}
                num, other = (lifted(p, {f: n - d.get(f, 0) for f, n in full.items()})
                              for p, d in ((num, den), (other, below)))
                num, den = plus(num, other), full
        return num, den

    def sign(self, p):
        """2: positive, 1: nonnegative, 0: not known."""
        known = {tuple(sorted(q.items())): 1 + strict for q, strict in self.facts.values()}
        of = lambda q: known.get(tuple(sorted(q.items())), 0)
        signs = [0 if value < 0 else min((max(of({((name, 1),): 1}), k % 2 == 0) for name, k in m), default=2)
                 for m, value in p.items()]
        return max(of(p), max(signs) if signs and 0 not in signs else 0)

    def gap(self, relation, least=1):
        """What a relation says is >= 0, its nonnegative denominators cleared; and whether it is > 0."""
        sign, left, right = relation
        require(sign in ("<=", "<", ">=", ">", "=="), f"no relation: {sign}")
        num, den = self.read(["+", *((right, ["*", "-1", left]) if "<" in sign else (left, ["*", "-1", right]))])
        require(all(self.sign(dict(f)) >= least for f in den), f"a denominator of unknown sign in {relation}")
        return num, sign in ("<", ">") and all(self.sign(dict(f)) == 2 for f in den)

    def fact(self, name):
        kind, _, at = name.partition(":")
        if kind == "assumed":
            require(self.assumes[int(at)][0] != "==", f"no inequality: {name}")
            return self.gap(self.assumes[int(at)])
        if kind in self.solved and kind in self.domains and name in self.facts:    # what a domain says of a value
            return self.gap([">" if self.facts[name][1] else ">=", kind, at or "0"])
        require(name in self.facts, f"no fact: {name}")
        return self.facts[name]

    def solve(self, symbol, value, name):
        """Replace a symbol by a value: an equation, linear in it with a coefficient that is not zero, asks for it."""
        kind, *parts = self.nodes.get(name, [None])
        relation = ["==", ["^", name, parts[1]], parts[0]] if kind == "root" else self.assumes[int(name[8:])]
        require(relation[0] == "==" and symbol not in self.solved, f"no equation for {symbol}: {name}")
        having = {m: v for m, v in self.gap(relation, 2)[0].items() if symbol in dict(m)}
        slope = {tuple(f for f in m if f[0] != symbol): v for m, v in having.items()}
        require(2 in (self.sign(slope), self.sign(plus({}, slope, -1))) and all(dict(m)[symbol] == 1 for m in having),
                f"{name} does not fix {symbol}")
        self.solved[symbol] = value
        require(not self.gap(relation, 2)[0], f"{name} does not give {symbol} that value")

    def prove(self, goal, proof):
        """Refused unless the proof shows the goal, a relation."""
        for step in proof.get("solve", ()):
            self.solve(*step)
        for name, relation, lemma in proof.get("lemmas", ()):
            require(re.fullmatch(r"lemma \d+", name) and name not in self.facts, f"no name of a lemma: {name}")
            self.copy().prove(relation, lemma)
            self.facts[name] = self.gap(relation)
        if "split" in proof:
            node, (held, denied) = proof["split"], proof["branches"]
            kind, (sign, left, right), *values = self.nodes[node]
            require(kind == "cases" and node not in self.solved and sign in OPPOSITE, f"no cases: {node}")
            for sign, value, branch in zip((sign, OPPOSITE[sign]), values, (held, denied)):
                here = self.copy()
                here.facts[f"{node}:case"], here.solved[node] = here.gap([sign, left, right]), value
                here.prove(goal, branch)
            return
        goal = ["<=", "1", "0"] if "absurd" in proof else goal
        target, _ = self.gap(goal)
        total, positive = {}, False
        for term in proof["terms"]:
            value, sure = self.term(term)
            total, positive = plus(total, value), positive or sure
        require(goal[0] != "==" or not target , f"no identity: {goal}")
        require(times(self.known(proof["scale"], 2), target) == total, f"the sum is not the goal: {goal}")
        require(positive or goal[0] not in ("<", ">"), f"nothing makes it strict: {goal}")

    def known(self, tree, least):
        num, den = self.read(tree)
        require(not den and self.sign(num) >= least, f"of unknown sign: {tree}")
        return num

    def term(self, term):
        """A polynomial that is >= 0, and whether it is > 0: a known factor times facts times a square."""
        value = self.known(term["by"], 1)
        sure = self.sign(value) == 2 and "square" not in term
        for name in term.get("facts", ()):
            factor, strict = self.fact(name)
            value, sure = times(value, factor), sure and strict
        value = times(value, raised(self.read(["*", term.get("square", "1")])[0], 2))
        require(all(sum(k for name, k in m if name in self.vectors) <= 2 for m in value), "no identity of vectors")
        return value, sure


OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}


def check(document):
    """The relation that a document shows under its assumptions; Refused if it does not."""
    try:
        require(document["format"] == "fedtheory proof 1", "no proof of this format")
        Reading(document).prove(document["shows"], document["proof"])
    except (KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise Refused(f"the document is not well formed: {type(error).__name__} {error}") from None
    return document["shows"]

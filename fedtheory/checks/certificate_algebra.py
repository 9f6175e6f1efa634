"""Checks a proof by algebra from its document alone: dictionaries and fractions, nothing else.

A goal, cleared of its denominators, must equal a sum of products of what is known to be nonnegative: variables,
assumptions, lemmas, squares. Expressions are trees: "3/4", "gamma", ["+", ...], ["*", ...], ["^", base, 3]. Nodes
name parts of them: definitions, roots, and cases [relation, value, otherwise]. 1/x is +infinity at x = 0.
"""

import re
from fractions import Fraction

ONE = {(): Fraction(1)}
DOMAINS = {"real", "vector", "nonnegative", "positive", "count"}    # a count is an integer >= 1
OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}


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
    total = {}
    for m, n in ((m, n) for m in p for n in q):
        powers = dict(m)
        for name, k in n:
            powers[name] = powers.get(name, 0) + k
        key = tuple(sorted(powers.items()))
        total[key] = total.get(key, 0) + p[m] * q[n]
    return {m: value for m, value in total.items() if value}


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
        for name, domain in self.domains.items():
            require(re.fullmatch(r"[A-Za-z]\w*", name) and domain in DOMAINS, f"no variable: {name}, {domain}")
            if domain not in ("real", "vector"):
                self.facts[name] = ({((name, 1),): Fraction(1)}, domain != "nonnegative")
            if domain == "count":
                self.facts[f"{name}:1"] = (plus(self.facts[name][0], ONE, -1), False)
        for name, (kind, *parts) in document["nodes"].items():
            require(re.fullmatch(r"[A-Za-z]\w*", name) and name not in self.domains, f"no node: {name}")
            for tree in [*parts[0][1:], *parts[1:]] if kind == "cases" else parts[:1]:    # made of earlier nodes only
                num, den = self.read(tree)
            if kind == "define":
                self.solved[name] = parts[0]
            elif kind == "root":    # the nonnegative one
                require(parts[1] >= 1, f"no root: {name}")
                self.facts[name] = ({((name, 1),): Fraction(1)}, all(self.sign(p) == 2 for p in (num, *map(dict, den))))
            self.nodes[name] = kind, *parts

    def again(self):
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
            require(re.fullmatch(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?", tree), f"no number and no symbol: {tree}")
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
            full = {f: (max if op == "+" else sum)((den.get(f, 0), below.get(f, 0))) for f in {*den, *below}}
            common = lambda p, d: lifted(p, {f: n - d.get(f, 0) for f, n in full.items()})
            num, den = plus(common(num, den), common(other, below)) if op == "+" else times(num, other), full
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
        require(name in self.facts, f"no fact: {name}")
        if kind in self.solved and kind in self.domains:    # what a domain says of a value
            return self.gap([">" if self.facts[name][1] else ">=", kind, at or "0"])
        return self.facts[name]

    def solve(self, symbol, value, name):
        """Replace a symbol by a value: an equation, linear in it with a coefficient that is not zero, asks for it."""
        kind, *parts = self.nodes.get(name, [None])
        relation = ["==", ["^", name, parts[1]], parts[0]] if kind == "root" else self.assumes[int(name[8:])]
        require(relation[0] == "==" and symbol not in self.solved, f"no equation for {symbol}: {name}")
        having = {m: v for m, v in self.gap(relation, 2)[0].items() if symbol in dict(m)}
        slope = {tuple(f for f in m if f[0] != symbol): v for m, v in having.items()}
        require(all(dict(m)[symbol] == 1 for m in having), f"{name} is not linear in {symbol}")
        require(2 in (self.sign(slope), self.sign(plus({}, slope, -1))), f"{name} does not fix {symbol}")
        self.solved[symbol] = value
        require(not self.gap(relation, 2)[0], f"{name} does not give {symbol} that value")

    def cases(self, node):
        """What is known where the condition of a node of cases holds, and where it does not."""
        kind, (sign, left, right), value, otherwise = self.nodes[node]
        require(kind == "cases" and node not in self.solved, f"no cases: {node}")
        held, denied = self.again(), self.again()
        held.facts[f"{node}:case"], held.solved[node] = self.gap([sign, left, right]), value
        denied.facts[f"{node}:case"], denied.solved[node] = self.gap([OPPOSITE[sign], left, right]), otherwise
        return held, denied

    def prove(self, goal, proof):
        """Refused unless the proof shows the goal, a relation."""
        for step in proof.get("solve", ()):
            self.solve(*step)
        for name, relation, lemma in proof.get("lemmas", ()):
            require(re.fullmatch(r"lemma [0-9]+", name) and name not in self.facts, f"no name of a lemma: {name}")
            self.again().prove(relation, lemma)
            self.facts[name] = self.gap(relation)
        if "split" in proof:
            (here, there), (held, denied) = self.cases(proof["split"]), proof["branches"]
            return here.prove(goal, held), there.prove(goal, denied)
        goal = ["<=", "1", "0"] if "absurd" in proof else goal
        target, total, positive = self.gap(goal)[0], {}, False
        for value, sure in map(self.term, proof["terms"]):
            total, positive = plus(total, value), positive or sure
        require(goal[0] != "==" or not target, f"no identity: {goal}")
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
        for factor, strict in map(self.fact, term.get("facts", ())):
            value, sure = times(value, factor), sure and strict
        value = times(value, raised(self.read(term.get("square", "1"))[0], 2))
        require(all(sum(k for name, k in m if name in self.vectors) <= 2 for m in value), "no identity of vectors")
        return value, sure


def check(document):
    """The relation that a document shows under its assumptions; Refused if it does not."""
    try:
        require(document["format"] == "fedtheory proof 1", "no proof of this format")
        Reading(document).prove(document["shows"], document["proof"])
    except Exception as error:    # whatever a malformed document leads to
        raise error if isinstance(error, Refused) else Refused(f"the document is not well formed: {error!r}") from None
    return document["shows"]

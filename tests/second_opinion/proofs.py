"""Judges a proof by algebra: its terms are nonnegative one by one, and add up to the goal, as
polynomials.

Polynomials are multiplied out in the variables and in the vectors' inner products, which are
unknowns "v.w" of their own. What the document states is compared, at random points and with vectors
of real coordinates, with what is typed in `lines`: a goal and hypotheses.
"""

import random
from fractions import Fraction
from itertools import permutations

from tests.second_opinion.opinion import NUMBER, Reader, Refused, require
from tests.second_opinion.reals import Unknown, dot, plus, real, root, times

WEAKER = {
    "real": {"real"},
    "nonnegative": {"real", "nonnegative"},
    "positive": {"real", "nonnegative", "positive"},
    "count": {"real", "nonnegative", "positive", "count"},
    "vector": {"vector"},
}
UNIT = {(): Fraction(1)}


def add(p, q, c=1):
    total = dict(p)
    for m, v in q.items():
        total[m] = total.get(m, Fraction(0)) + c * v
    return {m: v for m, v in total.items() if v}


def mul(p, q):
    total = {}
    for m, v in p.items():
        for n, w in q.items():
            powers = dict(m)
            for name, k in n:
                powers[name] = powers.get(name, 0) + k
            both = tuple(sorted(powers.items()))
            total[both] = total.get(both, Fraction(0)) + v * w
    return {m: v for m, v in total.items() if v}


def power(p, n):
    require(type(n) is int and 0 <= n <= 40, "no power")
    total = UNIT
    for _ in range(n):
        total = mul(total, p)
    return total


def frozen(p):
    return tuple(sorted(p.items()))


class Place:
    """What is known somewhere in a proof."""

    def __init__(self, document):
        self.document, self.vectors = (
            document,
            {n for n, d in document["variables"].items() if d == "vector"},
        )
        self.values, self.facts, self.opaque = {}, {}, set()
        self.within = frozenset()  # what is being read
        self.hints = {}  # what the assumptions say of signs
        for name, domain in document["variables"].items():
            require(domain in WEAKER, "no domain")
            unknown = f"{name}.{name}" if domain == "vector" else name
            if domain != "real":
                self.facts[unknown] = variable(unknown), domain in ("positive", "count")
            if domain == "count":
                self.facts[f"{name}:1"] = add(variable(name), UNIT, -1), False

    def copy(self):
        other = object.__new__(Place)
        other.__dict__.update(
            self.__dict__, values=dict(self.values), facts=dict(self.facts), opaque=set(self.opaque)
        )
        return other

    def sign(self, p):
        """2 positive, 1 nonnegative, 0 unknown: a known fact, or monomial by monomial."""
        known = dict(self.hints)
        for q, strict in self.facts.values():
            known[frozen(q)] = max(known.get(frozen(q), 0), 1 + strict)
        each = []
        for m, v in p.items():
            factors = [
                known.get(frozen(variable(name)), 0) or (1 if k % 2 == 0 else 0) for name, k in m
            ]
            each.append(0 if v < 0 else min(factors, default=2))
        combined = 0 if not each or 0 in each else max(each)
        return max(combined, known.get(frozen(p), 0))

    def read(self, tree):
        """(numerator, {denominator: power}), denominators positive, or nonnegative under a positive
        numerator."""
        if isinstance(tree, str):
            return self.name(tree)
        op, *parts = tree
        if op == "dot":
            one, other = parts
            require(set(one) | set(other) <= self.vectors and one and other, "no vectors")
            return self.read(
                ["+", *(["*", a, b, f"{v}.{w}"] for v, a in one.items() for w, b in other.items())]
            )
        if op == "^":
            (num, den), n = self.read(parts[0]), parts[1]
            require(type(n) is int, "no power")
            if n < 0:
                require(num, "a division by zero")
                over = UNIT
                for f, k in den.items():
                    over = mul(over, power(dict(f), k * -n))
                num, den = over, {frozen(num): -n}
            else:
                num, den = power(num, n), {f: k * n for f, k in den.items() if n}
        else:
            require(op in ("+", "*") and parts, "no operation")
            num, den = self.read(parts[0])
            for part in parts[1:]:
                other, below = self.read(part)
                if op == "*":
                    num, den = (
                        mul(num, other),
                        {f: den.get(f, 0) + below.get(f, 0) for f in {*den, *below}},
                    )
                else:
                    full = {f: max(den.get(f, 0), below.get(f, 0)) for f in {*den, *below}}
                    num, den = add(lifted(num, den, full), lifted(other, below, full)), full
        require(
            all(self.sign(dict(f)) == 2 for f in den)
            or self.sign(num) == 2
            and all(self.sign(dict(f)) for f in den),
            "it divides by what may be zero",
        )
        return num, den

    def name(self, text):
        if "." in text and not NUMBER.fullmatch(text):
            one, other = sorted(text.split("."))
            require({one, other} <= self.vectors, "no vectors")
            return variable(f"{one}.{other}"), {}
        if text in self.values:
            require(text not in self.within, "it is made of itself")
            self.within = self.within | {text}
            try:
                return self.read(self.values[text])
            finally:
                self.within = self.within - {text}
        nodes = self.document["nodes"]
        if text in nodes:
            kind, *parts = nodes[text]
            if kind == "define":
                return self.read(parts[0])
            if text not in self.opaque:
                self.opaque.add(text)
                if kind == "root":
                    num, den = self.read(parts[0])
                    require(
                        self.sign(num) and all(self.sign(dict(f)) == 2 for f in den),
                        "a root of what is negative",
                    )
                    self.facts[text] = variable(text), self.sign(num) == 2
                else:
                    for place, value in zip(self.branches(text), parts[1:]):
                        require(
                            all(place.sign(dict(f)) == 2 for f in place.read(value)[1]),
                            "a case that is infinite",
                        )
            return variable(text), {}
        if text in self.document["variables"]:
            require(text not in self.vectors, "a vector is no number")
            return variable(text), {}
        require(NUMBER.fullmatch(text), f"no number: {text[:30]}")
        return add({}, {(): Fraction(text)}), {}

    def gap(self, relation, goal):
        """(polynomial that is >= 0, whether > 0) of a relation; where a side is infinite only as
        far as that is right."""
        sign, *sides = relation
        require(sign in ("<=", "<", ">=", ">", "==") and len(sides) == 2, "no relation")
        (low, under), (high, over) = [
            self.read(side) for side in (sides if "<" in sign else sides[::-1])
        ]
        below, above = (all(self.sign(dict(f)) == 2 for f in den) for den in (under, over))
        strict = sign in ("<", ">")
        require(
            below
            and above
            or sign != "=="
            and ((below or not strict) if goal else (below or above or strict)),
            "both sides may be infinite",
        )
        full = {f: max(under.get(f, 0), over.get(f, 0)) for f in {*under, *over}}
        return add(lifted(high, over, full), lifted(low, under, full), -1), strict

    def branches(self, node):
        kind, (sign, *sides), value, otherwise = self.document["nodes"][node]
        require(kind == "cases" and node not in self.values, "no cases")
        yes, no = self.copy(), self.copy()
        for place, how, taken in (
            (yes, sign, value),
            (no, {"<=": ">", "<": ">=", ">=": "<", ">": "<="}[sign], otherwise),
        ):
            place.facts[f"{node}:case"] = place.gap([how, *sides], False)
            smaller = place.read(sides[0 if "<" in how else 1])[
                1
            ]  # finite, where such a relation is allowed
            place.facts.update({f"{node}:case {k}": (dict(f), True) for k, f in enumerate(smaller)})
            place.values[node] = taken
        return yes, no

    def solve(self, symbol, value, source):
        nodes = self.document["nodes"]
        if source in nodes:
            kind, base, degree = nodes[source]
            require(kind == "root", "no root")
            self.name(source)
            relation = ["==", ["^", source, degree], base]
        else:
            relation = self.document["assumes"][int(source.removeprefix("assumed:"))]
        require(relation[0] == "==" and symbol not in self.values, "no equation")
        before = self.gap(relation, True)[0]
        having = {m: v for m, v in before.items() if symbol in dict(m)}
        require(having and all(dict(m)[symbol] == 1 for m in having), "not linear")
        slope = {tuple(f for f in m if f[0] != symbol): v for m, v in having.items()}
        require(
            2 in (self.sign(slope), self.sign(add({}, slope, -1))), "it does not fix the symbol"
        )
        self.values[symbol] = value
        require(not self.gap(relation, True)[0], "another value")

    def fact(self, name):
        kind, _, at = name.partition(":")
        if kind == "assumed":
            relation = self.document["assumes"][int(at)]
            require(relation[0] != "==", "no inequality")
            return self.gap(relation, False)
        require(name in self.facts, f"no fact: {name}")
        if kind in self.values and kind in self.document["variables"]:
            return self.gap([">" if self.facts[name][1] else ">=", kind, at or "0"], False)
        return self.facts[name]

    def learn(self):
        """The signs that assumptions give, as far as they can be read; one may make another
        readable."""
        self.hints, pending = {}, [r for r in self.document["assumes"] if r[0] != "=="]
        while True:
            left = []
            for relation in pending:
                opaque = set(self.opaque)
                try:
                    poly, strict = self.gap(relation, False)
                except Refused:
                    self.opaque = opaque  # what was not shown to be a number stays none
                    left.append(relation)
                else:
                    self.hints[frozen(poly)] = max(self.hints.get(frozen(poly), 0), 1 + strict)
            if len(left) == len(pending):
                return
            pending = left

    def prove(self, goal, proof):
        self.learn()
        for step in proof.get("solve", ()):
            self.solve(*step)
            self.learn()
        for name, relation, lemma in proof.get("lemmas", ()):
            require(name.startswith("lemma ") and name not in self.facts, "no lemma")
            self.copy().prove(relation, lemma)
            self.facts[name] = self.gap(relation, True)
        if "split" in proof:
            require(len(proof["branches"]) == 2, "two cases")
            for place, branch in zip(self.branches(proof["split"]), proof["branches"]):
                place.prove(goal, branch)
            return
        goal = ["<=", "1", "0"] if "absurd" in proof else goal
        target, strict = self.gap(goal, True)
        require(goal[0] != "==" or not target and not proof["terms"], "no identity")
        total, positive = {}, False
        for term in proof["terms"]:
            value = self.whole(term["by"])
            sign = self.sign(value)
            require(sign, "a term of unknown sign")
            for name in term.get("facts", ()):
                factor, sure = self.fact(name)
                value, sign = mul(value, factor), min(sign, 1 + sure)
            if "square" in term:
                value, sign = mul(value, power(self.whole(term["square"]), 2)), 1
            if "gram" in term:
                value, sign = mul(value, self.minor(term["gram"])), 1
            total, positive = add(total, value), positive or sign == 2
        scale = self.whole(proof["scale"])
        require(self.sign(scale) == 2 and mul(scale, target) == total, "the terms do not add up")
        require(positive or not strict, "nothing makes it strict")

    def whole(self, tree):
        num, den = self.read(tree)
        require(not den, "no polynomial")
        return num

    def minor(self, vectors):
        """The determinant of inner products, which is never negative."""
        n, total = len(vectors), {}
        require(1 <= n <= 4, "no minor")
        rows = [[self.whole(["dot", v, w]) for w in vectors] for v in vectors]
        for order in permutations(range(n)):
            product, swaps = (
                UNIT,
                sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n)),
            )
            for i, j in enumerate(order):
                product = mul(product, rows[i][j])
            total = add(total, product, (-1) ** swaps)
        return total


def variable(name):
    return {((name, 1),): Fraction(1)}


def lifted(num, den, full):
    for f, n in full.items():
        num = mul(num, power(dict(f), n - den.get(f, 0)))
    return num


# What a document states


def evaluated(tree, document, point):
    """A tree at numbers and vectors."""
    if isinstance(tree, str):
        if tree in document["nodes"]:
            kind, *parts = document["nodes"][tree]
            if kind == "define":
                return evaluated(parts[0], document, point)
            if kind == "root":
                return root(evaluated(parts[0], document, point), parts[1])
            (sign, *sides), value, otherwise = parts
            one, other = (evaluated(side, document, point) for side in sides)
            truth = {
                "<=": lambda: one <= other,
                "<": lambda: one < other,
                ">=": lambda: one >= other,
                ">": lambda: one > other,
            }[sign]()
            return evaluated(value if truth else otherwise, document, point)
        if "." in tree and not NUMBER.fullmatch(tree):
            return real(dot(*(point[name] for name in tree.split("."))))
        return real(Fraction(tree)) if NUMBER.fullmatch(tree) else real(point[tree])
    op, *parts = tree
    if op == "dot":
        one, other = (
            [times(evaluated(c, document, point).low, point[v]) for v, c in side.items()]
            for side in parts
        )
        return real(dot(plus(*one), plus(*other)))
    if op == "^":
        return evaluated(parts[0], document, point) ** parts[1]
    values = [evaluated(part, document, point) for part in parts]
    total = values[0]
    for value in values[1:]:
        total = total + value if op == "+" else total * value
    return total


def equal(a, b):
    """Whether two enclosures may be of one number, and are narrow."""
    size = 1 + abs(a.low)
    return (
        max(a.low, b.low) <= min(a.high, b.high)
        and (a.high - a.low) + (b.high - b.low) < size / 10**30
    )


def stated(document, line, domains, meanings):
    """Refused unless a document shows a typed line, (left, sign, right), from (hypotheses) and what
    symbols mean."""
    (left, sign, right), hypotheses = line
    for name, domain in document["variables"].items():
        require(domain in WEAKER[domains[name]], f"more is assumed of {name}")
    hits, points = [set() for _ in document["assumes"]], 0
    for k in range(60):
        chance = random.Random(f"point/{k}")
        point = {}
        for name, domain in domains.items():
            number = lambda: Fraction(chance.randint(1, 40), chance.randint(5, 40))
            point[name] = (
                Fraction(chance.randint(1, 5))
                if domain == "count"
                else number()
                if domain != "vector"
                else [chance.choice([-1, 1]) * number() for _ in range(4)]
            )
        point.update({name: meaning(Reader(point)) for name, meaning in meanings.items()})
        v = Reader(point)
        try:
            mine = real(left(v)), real(right(v))
            theirs = [evaluated(side, document, point) for side in document["shows"][1:]]
            given = [
                (how, *(evaluated(side, document, point) for side in sides))
                for how, *sides in document["assumes"]
            ]
            typed = [(how, real(low(v)), real(high(v))) for low, how, high in hypotheses]
        except Unknown:
            continue
        points += 1
        require(
            any(
                document["shows"][0] == how and equal(theirs[0], one) and equal(theirs[1], other)
                for how, one, other in ((sign, *mine), (turned(sign), *mine[::-1]))
            ),
            "it shows another line",
        )
        for n, (how, one, other) in enumerate(given):
            matches = {
                j
                for j, (h, low, high) in enumerate(typed)
                for f, p, q in ((h, low, high), (turned(h), high, low))
                if f == how and equal(other - one, q - p)
            }
            if how == "==" and equal(one, other):
                matches.add("by meaning")
            hits[n] = matches if points == 1 else hits[n] & matches
        if points == 6:
            break
    require(points == 6 and all(hits), "it assumes something else")


def turned(sign):
    return {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "=="}[sign]


def proof(document, line, domains, meanings):
    """Refused unless the document proves the line."""
    vectors = "vector" in document["variables"].values()
    require(
        document["format"] in ["fedtheory proof 2"] + ["fedtheory proof 1"] * (not vectors),
        "no proof",
    )
    stated(document, line, domains, meanings)
    Place(document).prove(document["shows"], document["proof"])


__all__ = ["Refused", "proof"]

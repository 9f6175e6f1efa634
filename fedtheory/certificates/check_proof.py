"""Checker of an algebraic proof from its document alone, with dictionaries and fractions only.

A goal, cleared of its denominators, must equal a sum of products of nonnegative facts: variables,
assumptions, lemmas, squares, principal minors of Gram matrices. A document of the format "fedtheory
proof 2" holds

- `variables`, {name: domain}: numbers, or vectors of one real inner product space;
- `nodes`, {name: node}, named subexpressions: ["define", value], ["root", base, degree], ["cases",
  relation, value, other];
- `assumes`, relations such as ["<=", left, right], and `shows`, the relation that follows from
  them;
- `proof`, the steps that `Reading.prove` follows; other texts are for readers.

Expressions are trees: "3/4", "gamma", ["+", ...], ["*", ...], ["^", base, 3]. A vector is no
number. It enters only by inner products, which are real unknowns with "v.w" = "w.v" and "v.v" >= 0:
["dot", {"v": "1", "w": "gamma"}, {"w": "3"}] is 3 v.w + 3 gamma w.w. Two inner products are
multiplied as numbers; vectors have no other product. About products of inner products the checker
knows only {"gram": [{"v": "1"}, {"w": "2"}]} in a term, the determinant of inner products.

1/x is +infinity at x = 0 where x >= 0. This is allowed only where the sum is positive. No other
division by an expression that may vanish is allowed.
"""

import re
from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from reprlib import Repr
from typing import Any

FORMAT, SCALAR_FORMAT = (
    "fedtheory proof 2",
    "fedtheory proof 1",
)  # the same language, without vectors
ONE = {(): Fraction(1)}
DOMAINS = {"real", "vector", "nonnegative", "positive", "count"}  # a count is an integer >= 1
OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}
NAME, NUMBER = re.compile(r"[A-Za-z]\w*"), re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
PARTS = dict(variables=dict, nodes=dict, assumes=list, shows=list, proof=dict)
ITEMS, LETTERS, DEPTH = 200_000, 2_000_000, 100  # limits of a document: items, letters, depth
WORK, DEGREE, MINOR = (
    200_000,
    10_000,
    3,
)  # limits: products of small terms, a variable's power, rows of a minor
# Bits times bits of two coefficients whose sum takes as long as a product of small terms.
LONG = 2_000_000


BRIEF = Repr()  # shows only the first items, however large the object is
BRIEF.maxlist = BRIEF.maxtuple = BRIEF.maxdict = 12
BRIEF.maxlevel, BRIEF.maxstring = 4, 80


class Refused(ValueError):
    """Raised where the document does not prove its statement."""


class Laborious(Refused):
    """Raised where checking takes more work than a document may use."""


def require(truth: Any, why: Any, *part: Any) -> None:
    """Raise Refused, where `truth` is false, with a reason and perhaps the part of the document at
    fault; the part is put into words only then."""
    if not truth:
        raise Refused(": ".join([why, *map(abbreviate, part)]))


def abbreviate(part: Any) -> str:
    text = BRIEF.repr(part)
    return text if len(text) <= 80 else text[:77] + "..."


def monomial_key(p: Mapping[Any, Fraction]) -> tuple[Any, ...]:
    return tuple(sorted(p.items()))


class Ring:
    """Polynomials within a budget of work: {monomial: coefficient}, with monomials as sorted tuples
    of (name, power)."""

    def __init__(self, work: float) -> None:
        self.left = work

    def spend(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise Laborious("its expressions are too large to be multiplied out")

    def plus(
        self, p: Mapping[Any, Fraction], q: Mapping[Any, Fraction], c: int = 1
    ) -> dict[Any, Fraction]:
        self.spend(len(p) // 10 + len(q) * (1 + coefficient_bits(p) * coefficient_bits(q) // LONG))
        total = dict(p)
        for m, value in q.items():
            total[m] = total.get(m, 0) + c * value
        return {m: value for m, value in total.items() if value}

    def times(self, p: Mapping[Any, Fraction], q: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
        long = max(map(len, p), default=0) + max(map(len, q), default=0)
        self.spend(
            1
            + len(p)
            * len(q)
            * (1 + long + ((coefficient_bits(p) + coefficient_bits(q)) // 512) ** 2)
        )
        total = {}
        for m, n in ((m, n) for m in p for n in q):
            powers = dict(m)
            for name, k in n:
                powers[name] = powers.get(name, 0) + k
                require(powers[name] <= DEGREE, f"a power above {DEGREE}")
            product = tuple(sorted(powers.items()))
            total[product] = total.get(product, 0) + p[m] * q[n]
        return {m: value for m, value in total.items() if value}

    def power(self, p: Mapping[Any, Fraction], n: int) -> dict[Any, Fraction]:
        require(type(n) is int and 0 <= n <= 100, "no power", n)
        result = ONE
        for _ in range(n):
            result = self.times(result, p)
        return result


def coefficient_bits(p: Mapping[Any, Fraction]) -> int:
    """Return the number of bits of the longest coefficient."""
    return max(
        (v.numerator.bit_length() + v.denominator.bit_length() for v in p.values()), default=0
    )


class Reading:
    """The knowledge at one place of a proof: values of symbols, and facts (a polynomial >= 0, and
    whether it is > 0)."""

    def __init__(self, document: Any, ring: Ring) -> None:
        self.ring, self.nodes, self.assumes = ring, document["nodes"], document["assumes"]
        self.domains, self.vectors, self.facts, self.known, self.signs = {}, set(), {}, {}, {}
        self.solved, self.values, self.finite = (
            {},
            {},
            set(),
        )  # values of symbols as trees; the trees as read; names known to be finite
        for name, domain in document["variables"].items():
            require(
                NAME.fullmatch(name) and domain in DOMAINS,
                f"no variable: {abbreviate(name)}, {abbreviate(domain)}",
            )
            if domain == "vector":
                self.vectors.add(name)
                name, domain = f"{name}.{name}", "nonnegative"
            self.domains[name] = domain
            if domain != "real":
                self.know(name, {((name, 1),): Fraction(1)}, domain != "nonnegative")
            if domain == "count":
                self.know(f"{name}:1", {((name, 1),): Fraction(1), (): Fraction(-1)}, False)
        names = set(self.domains)
        for name, (kind, *parts) in self.nodes.items():  # a node may use earlier nodes only
            require(NAME.fullmatch(name) and name not in names | self.vectors, "no node", name)
            if kind == "define":
                (self.solved[name],) = trees = parts
            elif kind == "root":
                trees, degree = parts[:1], parts[1]
                require(type(degree) is int and 1 <= degree <= 100, f"no root: {name}")
            else:
                (sign, *trees), *values = parts
                require(
                    kind == "cases" and len(values) == 2 and sign in OPPOSITE, f"no cases: {name}"
                )
                trees += values
            self.check_names(trees, names)
            names.add(name)
        for sign, *sides in [*self.assumes, document["shows"]]:
            require(sign in (*OPPOSITE, "==") and len(sides) == 2, "no relation", sign)
            self.check_names(sides, names)
        self.settle()

    def check_names(self, trees: Sequence[Any], names: Set[str]) -> None:
        """Raise Refused unless these are expressions in these names."""
        for tree in trees:
            if isinstance(tree, str):
                require(
                    tree in names
                    or NUMBER.fullmatch(tree)
                    or len(between := tree.split(".")) == 2
                    and {*between} <= self.vectors,
                    "no number and no symbol",
                    tree,
                )
            else:
                op, *parts = tree
                require(op in ("+", "*", "^", "dot") and parts, "no operation", op)
                self.check_names(
                    parts[:1]
                    if op == "^"
                    else [c for v in parts for c in v.values()]
                    if op == "dot"
                    else parts,
                    names,
                )

    def know(self, name: Any, poly: Mapping[Any, Fraction], strict: bool) -> None:
        self.facts[name] = poly, strict
        self.learn(poly, strict)

    def learn(self, poly: Mapping[Any, Fraction], strict: bool) -> None:
        self.known[monomial_key(poly)] = max(self.known.get(monomial_key(poly), 0), 1 + strict)
        for m, value in poly.items():
            if len(poly) == len(m) == value == m[0][1] == 1:  # a variable: store its sign
                self.signs[m[0][0]] = max(self.signs.get(m[0][0], 0), 1 + strict)

    def again(self) -> "Reading":
        other = object.__new__(Reading)
        self.ring.spend(1 + len(self.facts) // 10)
        other.__dict__.update(
            self.__dict__,
            **{
                name: getattr(self, name).copy()
                for name in ("facts", "known", "signs", "solved", "values", "finite")
            },
        )
        return other

    def settle(self) -> None:
        """Derive the signs that assumptions give, and make available the nodes that are finite
        numbers, as far as known."""
        pending = [
            *(n for n, relation in enumerate(self.assumes) if relation[0] != "=="),
            *(name for name in self.nodes if name not in self.solved),
        ]
        while (
            pending
            and (left := [each for each in pending if not self.settle_node(each)]) != pending
        ):
            pending = left

    def settle_node(self, which: int | str) -> bool:
        if which in self.finite:
            return True
        try:
            if which not in self.nodes:
                self.learn(*self.gap(self.assumes[which], False))
            elif self.nodes[which][0] == "root":  # the nonnegative root of a nonnegative value
                num, den = self.read_polynomial(self.nodes[which][1])
                require(
                    self.sign(num) and all(map(self.firm, den)), "it may be negative or infinite"
                )
                self.know(which, {((which, 1),): Fraction(1)}, self.sign(num) == 2)
            else:
                for case, value in zip(self.cases(which), self.nodes[which][2:]):
                    require(
                        all(map(case.firm, case.read_polynomial(value)[1])), "it may be infinite"
                    )
        except Refused:
            self.ring.spend(1)  # not provable so far; too large a term ends the check here
            return False
        self.finite.add(which)
        return True

    def read_polynomial(self, tree: Any) -> tuple[Any, Any]:
        """Return a rational expression as a polynomial over {denominator: power}; its value is
        +infinity where a denominator vanishes."""
        if isinstance(tree, str):
            v, dot, w = tree.partition(".")
            tree = f"{min(v, w)}.{max(v, w)}" if dot else tree
            if tree in self.solved:
                if tree not in self.values:
                    self.values[tree] = self.unfold_symbol(tree)
                require(self.values[tree], "it is made of itself", tree)
                return self.values[tree]
            if tree in self.domains or tree in self.finite or dot and {v, w} <= self.vectors:
                return {((tree, 1),): Fraction(1)}, {}
            require(NUMBER.fullmatch(tree), "not known to be a finite number", tree)
            self.ring.spend(1 + (len(tree) // 100) ** 2 // 4)
            return self.ring.plus({}, {(): Fraction(tree)}), {}
        self.ring.spend(1)
        op, first, *rest = tree
        if op == "dot":
            self.ring.spend(sum(len(first) * len(other) for other in rest))
            return self.read_polynomial(inner_product(first, *rest))
        num, den = self.read_polynomial(first)
        if op == "^":
            (power,) = rest
            require(type(power) is int and abs(power) <= 100, "no power", power)
            den = {f: n * abs(power) for f, n in den.items() if power}
            if power < 0:
                require(num, "a division by zero")
                num, den = self.numerator_over(ONE, {}, den), {monomial_key(num): -power}
            else:
                num = self.ring.power(num, power)
        require(op in ("+", "*", "^"), "no operation", op)
        for other, below in map(self.read_polynomial, () if op == "^" else rest):
            full = {
                f: (max if op == "+" else sum)((den.get(f, 0), below.get(f, 0)))
                for f in {*den, *below}
            }
            num = (
                self.ring.times(num, other)
                if op == "*"
                else self.ring.plus(
                    self.numerator_over(num, den, full), self.numerator_over(other, below, full)
                )
            )
            den = full
        require(
            all(map(self.firm, den))
            or self.sign(num) == 2
            and all(self.sign(dict(f)) for f in den),
            "it may divide by zero",
            tree,
        )
        return num, den

    def unfold_symbol(self, name: str) -> tuple[Any, ...]:
        """Return the reading of a solved symbol; a use of the symbol before its reading is complete
        is refused."""
        self.values[name] = None
        try:
            return self.read_polynomial(self.solved[name])
        finally:
            if self.values.get(name, 0) is None:
                del self.values[name]

    def numerator_over(
        self, num: Mapping[Any, Fraction], den: Mapping[Any, int], full: Mapping[Any, int]
    ) -> Any:
        """Return a numerator brought to another denominator."""
        for f, n in full.items():
            num = self.ring.times(num, self.ring.power(dict(f), n - den.get(f, 0)))
        return num

    def sign(self, p: Mapping[Any, Any]) -> int:
        """Return the sign of a polynomial: 2 for positive, 1 for nonnegative, 0 for unknown."""
        self.ring.spend(len(p) // 10)
        signs = [
            0
            if value < 0
            else min((self.signs.get(name, 0) or k % 2 == 0 for name, k in m), default=2)
            for m, value in p.items()
        ]
        return max(
            self.known.get(monomial_key(p), 0), max(signs) if signs and 0 not in signs else 0
        )

    def firm(self, f: Sequence[Any]) -> bool:
        """Tell whether a denominator is positive."""
        return self.sign(dict(f)) == 2

    def sides(self, relation: Sequence[Any]) -> list[Any]:
        """Return the smaller side and the larger side of a relation."""
        sign, *sides = relation
        require(sign in (*OPPOSITE, "=="), "no relation", sign)
        return [self.read_polynomial(side) for side in (sides if "<" in sign else sides[::-1])]

    def gap(self, relation: Sequence[Any], goal: bool = True) -> tuple[Any, bool]:
        """Return a polynomial that is >= 0 where a relation holds (for a goal: one whose sign shows
        that the relation holds), and whether the polynomial is > 0.

        A side is infinite where a denominator f vanishes. There, after multiplication by f, this
        side's numerator remains and is positive, and the other side's term vanishes. So the
        polynomial is positive where the larger side alone is infinite, and negative where the
        smaller side alone is. It says nothing where both sides are infinite: a goal "<=" holds
        there, and an assumption "<" does not.
        """
        (low, under), (high, over) = self.sides(relation)
        low_finite, high_finite = (all(map(self.firm, den)) for den in (under, over))
        equation, strict = relation[0] == "==", relation[0] in ("<", ">")
        require(
            low_finite and high_finite
            if equation
            else low_finite or not strict
            if goal
            else low_finite or high_finite or strict,
            "it divides by what may be zero",
            relation,
        )
        full = {f: max(under.get(f, 0), over.get(f, 0)) for f in {*under, *over}}
        return self.ring.plus(
            self.numerator_over(high, over, full), self.numerator_over(low, under, full), -1
        ), strict

    def fact(self, name: str) -> tuple[Any, ...]:
        kind, _, at = name.partition(":")
        if kind == "assumed":
            require(self.assumes[int(at)][0] != "==", "no inequality", name)
            return self.gap(self.assumes[int(at)], False)
        require(name in self.facts, "no fact", name)
        if kind in self.solved and kind in self.domains:  # the sign of the domain
            return self.gap([">" if self.facts[name][1] else ">=", kind, at or "0"], False)
        return self.facts[name]

    def solve(self, symbol: str, value: Sequence[Any], name: str) -> None:
        """Replace a symbol by a value; an equation must be linear in the symbol, with a nonzero
        coefficient, and give that value."""
        kind, *parts = self.nodes.get(name, [None])
        require(kind != "root" or name in self.finite, "no root of what may be negative", name)
        relation = (
            ["==", ["^", name, parts[1]], parts[0]]
            if kind == "root"
            else self.assumes[int(name[8:])]
        )
        require(
            relation[0] == "==" and symbol not in self.solved,
            f"no equation for {abbreviate(symbol)}: {abbreviate(name)}",
        )
        having = {m: v for m, v in self.gap(relation)[0].items() if symbol in dict(m)}
        slope = {tuple(f for f in m if f[0] != symbol): v for m, v in having.items()}
        require(all(dict(m)[symbol] == 1 for m in having), f"{name} is not linear in {symbol}")
        require(
            2 in (self.sign(slope), self.sign(self.ring.plus({}, slope, -1))),
            f"{name} does not fix {symbol}",
        )
        self.solved[symbol], self.values = value, {}
        self.finite -= set(range(len(self.assumes)))  # their finiteness must be decided again
        require(not self.gap(relation)[0], f"{name} does not give {symbol} that value")

    def cases(self, node: Any) -> "tuple[Reading, Reading]":
        """Return the knowledge where the condition of a node of cases holds, and the knowledge
        where the condition fails."""
        kind, (sign, *sides), *values = self.nodes[node]
        require(kind == "cases" and node not in self.solved, "no cases", node)
        held, denied = branches = self.again(), self.again()
        for here, relation, value in zip(
            branches, ([sign, *sides], [OPPOSITE[sign], *sides]), values
        ):
            here.know(f"{node}:case", *here.gap(relation, False))
            for n, f in enumerate(f for f in here.sides(relation)[0][1] if not here.firm(f)):
                here.know(f"{node}:case {n}", dict(f), True)  # the smaller side is finite
            here.solved[node], here.values = value, {}
        return held, denied

    def prove(self, goal: Sequence[Any], proof: Mapping[str, Any]) -> None:
        """Raise Refused unless the proof shows the goal, a relation."""
        for step in proof.get("solve", ()):
            self.solve(*step)
            self.settle()
        for name, relation, lemma in proof.get("lemmas", ()):
            require(
                re.fullmatch(r"lemma [0-9]+", name) and name not in self.facts, "no lemma", name
            )
            self.again().prove(relation, lemma)
            self.know(name, *self.gap(relation))
            self.settle()
        if "split" in proof:
            (held, denied), branches = self.cases(proof["split"]), proof["branches"]
            require(len(branches) == 2, "not two branches")
            for here, branch in zip((held, denied), branches):
                here.settle()
                here.prove(goal, branch)
            return
        goal = ["<=", "1", "0"] if "absurd" in proof else goal
        target, total, positive = self.gap(goal)[0], {}, False
        for value, sure in map(self.term, proof["terms"]):
            total, positive = self.ring.plus(total, value), positive or sure
        require(goal[0] != "==" or not target, "no identity", goal)
        scale = self.whole(proof["scale"])
        require(self.sign(scale) == 2, "not known to be positive", proof["scale"])
        require(self.ring.times(scale, target) == total, "the sum is not the goal", goal)
        require(positive or goal[0] not in ("<", ">"), "nothing makes it strict", goal)

    def whole(self, tree: Any) -> dict[Any, Fraction]:
        num, den = self.read_polynomial(tree)
        require(not den, "no polynomial", tree)
        return num

    def term(self, term: Mapping[str, Any]) -> tuple[Any, bool]:
        """Return a polynomial that is >= 0, and whether it is > 0: the product of a factor of known
        sign, facts, a square and a minor."""
        value = self.whole(term["by"])
        sign = self.sign(value)
        require(sign, "of unknown sign", term["by"])
        for factor, strict in map(self.fact, term.get("facts", ())):
            value, sign = self.ring.times(value, factor), min(sign, 1 + strict)
        if "square" in term:
            value, sign = self.ring.times(value, self.ring.power(self.whole(term["square"]), 2)), 1
        if "gram" in term:
            value, sign = self.ring.times(value, self.minor(term["gram"])), 1
        return value, sign == 2

    def minor(self, vectors: Sequence[Any]) -> dict[Any, Fraction]:
        """Return the determinant of the inner products of some combinations of vectors."""
        require(1 <= len(vectors) <= MINOR, "no minor", vectors)
        rows = [[self.whole(["dot", v, w]) for w in vectors] for v in vectors]
        return self.determinant(rows)

    def determinant(self, rows: Sequence[Any]) -> dict[Any, Fraction]:
        total = {} if rows else ONE
        for n, entry in enumerate(rows[0] if rows else ()):
            rest = self.determinant([row[:n] + row[n + 1 :] for row in rows[1:]])
            total = self.ring.plus(total, self.ring.times(entry, rest), (-1) ** n)
        return total


def inner_product(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Any]:
    """Return the inner product of two combinations of vectors, as an expression in the inner
    products of the vectors."""
    require(one and other, "an inner product of nothing")
    return ["+", *(["*", a, b, f"{v}.{w}"] for v, a in one.items() for w, b in other.items())]


def check_size(document: Any) -> int:
    """Raise Refused if a document is not plain data, or larger than any proof here needs to be."""
    items, letters, level = 1, 0, [document]
    for _ in range(DEPTH):
        below = []
        for part in level:
            if isinstance(part, (dict, list, tuple)):
                below += [*part, *part.values()] if isinstance(part, dict) else part
            else:
                require(isinstance(part, (str, int)), "no text and no integer", part)
                letters += len(part) if isinstance(part, str) else part.bit_length() // 4
            require(items + len(below) <= ITEMS and letters <= LETTERS, "it is too long")
        items, level = items + len(below), below
    require(not level, "it nests too deeply")
    return items


def check(document: Any, ring: Ring | None = None) -> list[Any]:
    """Return the relation that a document shows under its assumptions; raise Refused if the
    document does not show one. Documents that are checked together share a ring, and its budget of
    work."""
    try:
        ring = ring or Ring(WORK)
        ring.spend(check_size(document))
        require(isinstance(document, dict), "no document")
        for part, kind in PARTS.items():
            require(isinstance(document.get(part), kind), f"its {part} must be a {kind.__name__}")
        vectors = "vector" in document["variables"].values()
        require(
            document.get("format") in (FORMAT, *[SCALAR_FORMAT] * (not vectors)),
            "no proof of this format",
        )
        Reading(document, ring).prove(document["shows"], document["proof"])
    except Exception as error:  # any error that a malformed document causes
        if isinstance(error, Refused):
            raise
        raise Refused("the document is not well formed", error) from None
    return document["shows"]

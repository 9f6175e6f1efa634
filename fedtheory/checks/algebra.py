"""Proofs by algebra: an inequality between expressions follows from others, with a document that proves it.

Scope. Relations between rational expressions, roots, maxima, minima and cases, whose unknowns are real,
nonnegative, positive or integers >= 1 (of integers only that is used). Equations are used to eliminate a symbol
they fix; inequalities are cleared of denominators and combined by `positivity`. Complete it is not: None means that
no proof and no counterexample was found. A proof is returned only after `certificate_algebra`, which shares
nothing with the search but the reading of the document, has accepted it.
"""

import time
from dataclasses import dataclass

import sympy

from fedtheory.checks import certificate_algebra as certificate
from fedtheory.checks import meaning, positivity, refutation
from fedtheory.checks._statement import Outside, Statement
from fedtheory.checks.certificate_algebra import Reading, Refused
from fedtheory.errors import InvalidInput

DEPTH = 3    # cases within cases
LIGHT = positivity.EFFORTS[:4]
PARTS = ("variables", "nodes", "assumes", "shows")    # of a document: what it states


@dataclass(frozen=True)
class Proof:
    """An implication that holds, with the document that shows it."""

    certificate: dict

    def __str__(self):
        return f"proved, {size(self.certificate['proof'])} terms"


@dataclass(frozen=True)
class Counterexample:
    """Rational numbers that satisfy every assumption and break the target; false where a proof is true."""

    values: dict

    def __bool__(self):
        return False


def size(proof):
    return len(proof.get("terms", ())) + sum(map(size, proof.get("branches", ()))) \
        + sum(size(lemma) for _, _, lemma in proof.get("lemmas", ()))


def replay(document):
    """The relation that a document proves; Refused if it proves none."""
    return certificate.check(document)


def prove(target, assumptions=(), symbols=None, budget=10.0, refute=True, seed=0):
    """A Proof that the assumptions imply the target, a Counterexample, or None where neither was found.

    `target` and `assumptions` are SymPy relations; `symbols` is a Table (or a mapping of symbols to
    definitions) whose derived symbols are expanded. Symbols' domains are assumed: SymPy's. `budget` is in seconds.
    """
    definitions = symbols if isinstance(symbols, dict) else {
        entry.symbol: entry.definition for entry in getattr(symbols, "values", tuple)() if entry.definition is not None}
    statement = _stated(target, assumptions, definitions)
    proof = search = None
    if statement:
        document = statement.document()
        search = Search(document, statement.extremes, budget)
        proof = search.proof(document["shows"], quick=True)
    if proof is None and refute:
        point = refutation.search(target, assumptions, definitions, seed)
        if point is not None:
            return Counterexample(point)
    if proof is None and search:
        proof = search.proof(document["shows"])
    if proof is None:
        return None
    document["proof"] = proof
    certificate.check(document)    # a search that errs is an error, not a proof
    return Proof(pruned(document))


def _stated(target, assumptions, definitions):
    if not isinstance(target, sympy.core.relational.Relational):
        raise InvalidInput(f"the target must be a relation between symbols; got {target}")
    statement = Statement(definitions)
    try:
        for assumption in assumptions:
            statement.assume(assumption)
        statement.shows = statement.relation(target)
    except Outside:
        return None
    return statement


def pruned(document):
    """The document without the lemmas that its proof can do without."""
    def proofs(proof):
        yield proof
        for part in (*proof.get("branches", ()), *(lemma for _, _, lemma in proof.get("lemmas", ()))):
            yield from proofs(part)

    for proof in proofs(document["proof"]):
        for lemma in reversed(list(proof.get("lemmas", ()))):
            kept = proof["lemmas"]
            proof["lemmas"] = [other for other in kept if other is not lemma]
            try:
                certificate.check(document)
            except Refused:
                proof["lemmas"] = kept
    return document


def line(claim, at=0, given=(), budget=10.0, refute=True, seed=0):
    """`prove` for a line of a claim, from its assumptions and from the lines of the claims `given` (its own others)."""
    if claim.lines[at][1] == "O":
        return None
    found = None
    for meant in (False, True):
        target, relations, definitions, more = question(claim, at, given, meant)
        if found is None and (more or not meant):
            found = prove(target, relations, definitions, budget, refute and not (given or more), seed)
    return found


def question(claim, at=0, given=(), meant=False):
    """(target, relations, definitions, whether measured quantities have a meaning here) of a line of a claim."""
    relations, facts = [a.relation for a in claim.assumptions if a.relation is not None], meaning.facts(claim)
    definitions = dict(claim.definitions)
    for other in given:
        relations += [related(*each) for n, each in enumerate(other.lines)
                      if each[1] != "O" and not (other.id == claim.id and n == at)]
        facts += meaning.facts(other)
        definitions.update(other.definitions)
    return (related(*claim.lines[at]), list(dict.fromkeys(relations + facts * meant)), definitions, bool(facts))


def speaks_of(document, claim, at=0, given=()):
    """Whether a document states this line of this claim, from these claims: its proof may still be wrong."""
    for meant in (False, True):
        statement = _stated(*question(claim, at, given, meant)[:3])
        if statement and all(statement.document()[key] == document.get(key) for key in PARTS):
            return True
    return False


def related(left, sign, right):
    kind = {"<=": sympy.Le, "<": sympy.Lt, ">=": sympy.Ge, ">": sympy.Gt, "==": sympy.Eq}[sign]
    return kind(left, right, evaluate=False)


class Search:
    """Looks for the proof of a document."""

    def __init__(self, document, extremes, budget):
        self.document, self.extremes = document, extremes
        self.deadline = time.monotonic() + budget
        self.start = Reading(document)
        self.lemmas, self.read = 0, {}

    def proof(self, goal, quick=False):
        reading = self.start.again()
        solved = self.eliminate(reading)
        if goal[0] == "==":    # an identity after elimination, or nothing
            proof = None if reading.gap(goal)[0] else dict(scale="1", terms=[])
        elif quick:
            proof = self.combine(reading, goal, LIGHT[:1])
        else:
            proof = self.within(reading, goal, DEPTH)
        return proof and {**({"solve": solved} if solved else {}), **proof}

    def eliminate(self, reading):
        """Equations solved for a symbol each: the one that the rest of the document mentions least."""
        steps = []
        equations = [(f"assumed:{n}", relation) for n, relation in enumerate(self.document["assumes"])
                     if relation[0] == "=="]
        equations += [(name, ["==", ["^", name, node[2]], node[1]]) for name, node in self.document["nodes"].items()
                      if node[0] == "root"]
        mentions = {}
        for name in _names([self.document["assumes"], self.document["shows"], list(self.document["nodes"].values())]):
            mentions[name] = mentions.get(name, 0) + 1
        while equations:
            for name, relation in equations:
                step = self.fixed(reading, name, relation, mentions)
                if step:
                    steps.append(step)
                    equations.remove((name, relation))
                    break
            else:
                break
        return steps

    def fixed(self, reading, name, relation, mentions):
        try:
            num, _ = reading.gap(relation, 2)
        except Refused:
            return None
        inside = {s for m in num for s, _ in m}
        for symbol in sorted(inside & set(reading.domains), key=lambda s: (mentions.get(s, 0), s)):
            if reading.domains[symbol] == "vector":
                continue
            having = {m: v for m, v in num.items() if symbol in dict(m)}
            slope = {tuple(f for f in m if f[0] != symbol): v for m, v in having.items()}
            way = -1 if reading.sign(slope) < 2 else 1
            slope = {m: way * v for m, v in slope.items()}
            rest = {m: -way * v for m, v in num.items() if m not in having}
            value = ["*", positivity.tree(rest), ["^", positivity.tree(slope), -1]]
            trial = reading.again()
            try:
                trial.solve(symbol, value, name)
            except (Refused, RecursionError):
                continue
            reading.solve(symbol, value, name)
            return [symbol, value, name]
        return None

    # Under given cases

    def within(self, reading, goal, depth):
        lemmas, found = [], self.combine(reading, goal, LIGHT[:1])
        if found is None:
            lemmas = self.bounds(reading)
            lemmas += self.instances(reading)
            found = self.combine(reading, goal)
        if found is None and depth and time.monotonic() < self.deadline:
            for node in self.splittable(reading, goal):
                branches = []
                for here in reading.cases(node):
                    branch = self.within(here, goal, depth - 1)
                    if branch is None:
                        break
                    branches.append(branch)
                else:
                    found = dict(split=node, branches=branches)
                    break
        return found and {**({"lemmas": lemmas} if lemmas else {}), **found}

    def combine(self, reading, goal, efforts=positivity.EFFORTS, only=None):
        try:
            target, _ = reading.gap(goal)
        except Refused:
            return None
        facts = self.facts(reading) if only is None else only
        signs = {s: 1 + strict for p, strict in reading.facts.values() for s in _variable(p)}
        found = positivity.find(target, goal[0] in ("<", ">"), facts, signs, reading.vectors, efforts,
                                self.deadline)
        if found is None and only is None and depth_of(reading):
            absurd = positivity.find({(): -1}, False, facts, signs, reading.vectors, LIGHT, self.deadline)
            found = absurd and {**absurd, "absurd": True}
        return found

    def facts(self, reading, within=None):
        """name -> (polynomial, strict) of everything known here, or of what speaks of some symbols only."""
        known = {}
        for name in [*reading.facts, *(f"assumed:{n}" for n, r in enumerate(self.document["assumes"]) if r[0] != "=="
                                       and n not in reading.__dict__.get("spent", ()))]:
            poly, strict = self.fact(reading, name)
            if poly and (within is None or {s for m in poly for s, _ in m} <= within) \
                    and not any(same(poly, other) and s >= strict for other, s in known.values()):
                known[name] = poly, strict
        return known

    def fact(self, reading, name):
        key = name, str(reading.solved)
        if name in reading.facts and name.partition(":")[0] not in reading.solved:
            return reading.facts[name]
        if key not in self.read:
            try:
                self.read[key] = reading.fact(name)
            except Refused:
                return {}, False
        return self.read[key]

    def lemma(self, reading, relation, proof):
        self.lemmas += 1
        name = f"lemma {self.lemmas}"
        reading.facts[name] = reading.gap(relation)
        return [name, relation, proof]

    def bounds(self, reading):
        """Each node of cases: its sign, and what it means to be a maximum or a minimum."""
        lemmas = []
        for node, (kind, *_) in self.document["nodes"].items():
            if kind != "cases" or node in reading.solved:
                continue
            wanted = []
            if node in self.extremes:
                sign, one, other = self.extremes[node]
                wanted += [[sign, node, one], [sign, node, other]]
            for relation in (*wanted, [">", node, "0"], [">=", node, "0"]):
                if relation[0] == ">=" and reading.sign({((node, 1),): 1}):
                    continue
                within = self.reach([node])
                proof = self.combine(reading, relation, LIGHT, self.facts(reading, within)) \
                    if relation[2] == "0" else None
                if proof is None:
                    branches = [self.combine(here, relation, LIGHT, self.facts(here, within))
                                for here in reading.cases(node)]
                    proof = None if None in branches else dict(split=node, branches=branches)
                if proof is not None:
                    try:
                        lemmas.append(self.lemma(reading, relation, proof))
                    except Refused:
                        pass
        return lemmas

    def instances(self, reading):
        """An assumption x <= c min(a, b) as x <= c a and x <= c b: shown one by one, and used in its place."""
        lemmas, spent = [], set(reading.__dict__.get("spent", ()))
        for n, relation in enumerate(self.document["assumes"]):
            if relation[0] == "==" or n in spent:
                continue
            queue, name = [(f"assumed:{n}", relation)], f"assumed:{n}"
            while queue:
                name, relation = queue.pop()
                node = next((s for s in _names(relation) if s in self.extremes and s not in reading.solved), None)
                if node is None:
                    continue
                made = []
                for argument in self.extremes[node][1:]:
                    instance = _replaced(relation, node, argument)
                    facts = {k: v for k, v in self.facts(reading).items()
                             if k == name or k.startswith("lemma") and node in _names(v[0])}
                    proof = self.combine(reading, instance, LIGHT, facts)
                    if proof is not None:
                        lemmas.append(self.lemma(reading, instance, proof))
                        made.append((lemmas[-1][0], instance))
                if len(made) == 2 and name.startswith("assumed"):
                    spent.add(n)
                queue += made
        reading.spent = spent
        return lemmas

    def splittable(self, reading, goal):
        """Nodes of cases, those that the goal mentions first."""
        reach = self.reach(goal)
        nodes = [n for n, (kind, *_) in self.document["nodes"].items() if kind == "cases" and n not in reading.solved]
        return sorted(nodes, key=lambda n: n not in reach)


    def reach(self, tree):
        """The symbols a tree mentions, definitions followed."""
        found = set(_names(tree))
        for node, parts in reversed(self.document["nodes"].items()):
            if node in found:
                found |= set(_names(list(parts)))
        return found


def depth_of(reading):
    return any(name.endswith(":case") for name in reading.facts)


def same(p, q):
    """Whether polynomials agree up to a positive factor."""
    if set(p) != set(q):
        return False
    m = next(iter(p))
    return p[m] * q[m] > 0 and all(p[n] * q[m] == q[n] * p[m] for n in p)


def _variable(poly):
    if len(poly) == 1:
        (monomial, value), = poly.items()
        if len(monomial) == 1 and monomial[0][1] == 1 and value == 1:
            yield monomial[0][0]


def _names(tree):
    return [tree] if isinstance(tree, str) else [n for t in tree for n in _names(t)] if isinstance(tree, (list, tuple, dict)) \
        else []


def _replaced(tree, name, by):
    return by if tree == name else [_replaced(t, name, by) for t in tree] if isinstance(tree, list) else tree

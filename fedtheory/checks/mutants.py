"""Wrong relatives of a statement, made one change at a time, and whether the checker refutes them.

A killed mutant shows that the statement needs what was changed; a survivor is evidence of slack. A mutant that the
statement provably implies is no wrong relative, and is not counted. Instances near which the statement itself is
tight are kept, and tried on every mutant before it is hunted by itself.
"""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import sympy

from fedtheory import discover
from fedtheory.checks import adversary, algebra, checking
from fedtheory.checks.question import Question
from fedtheory.checks.settings import fitting
from fedtheory.checks.verdict import Verdict
from fedtheory.conditions import Assumption
from fedtheory.errors import InvalidInput, refuse
from fedtheory.symbol import plain

HALF = sympy.Rational(1, 2)
POPULATIONS = 24    # kept in the reservoir, of each sort
KEPT = 12           # instances of each that every mutant is tried on
CLIMBED = 3         # of them climbed from
GENERATIONS = 12
EFFORT = 40         # how long a counterexample is made smaller


@dataclass
class Mutant:
    change: str              # what was changed, in words
    claim: object
    line: int
    at: tuple = ()           # ("term", text), ("factor", symbol), ("condition", name), ...: what the change is about
    killed: bool = False
    implied: bool = False    # the statement implies it
    verdict: object = None

    @property
    def witness(self):
        return self.verdict.witness if self.killed else None

    def __str__(self):
        state = "implied" if self.implied else "killed" if self.killed else "survives"
        return f"{state:9s}{self.change}"


@dataclass
class Mutation:
    claim: str
    mutants: list = field(default_factory=list)

    @property
    def score(self):
        """The share of mutants killed, of those that the statement does not imply."""
        counted = [m for m in self.mutants if not m.implied]
        return sum(m.killed for m in counted) / len(counted) if counted else None

    @property
    def survivors(self):
        return [m for m in self.mutants if not m.killed and not m.implied]

    def __str__(self):
        share = "no mutants" if self.score is None else f"{self.score:.0%} of its false relatives refuted"
        return "\n".join([f"{self.claim}: {share}", *map(str, self.mutants)])

    def as_dict(self):
        return dict(claim=self.claim, score=self.score, mutants=[
            dict(change=m.change, line=m.line, about=list(m.at), killed=m.killed, implied=m.implied, witness=m.witness)
            for m in self.mutants])


def mutate(claim, budget=60.0, seed=0, progress=None):
    """The Mutation of a claim: each mutant killed or not, within a budget in seconds of one core."""
    if not isinstance(budget, (int, float)) or isinstance(budget, bool) or not 0 < budget < float("inf"):
        refuse("budget", "must be a positive number of seconds", budget)
    claim = discover.claim(claim)
    if not any(sign != "O" for _, sign, _ in claim.lines):
        raise InvalidInput(f"mutate takes a claim with an inequality or an equation; {claim.id} is a {claim.kind}")
    # Dropped terms first: where they matter, other changes to them show
    made = sorted(mutants(claim), key=lambda mutant: mutant.at[0] != "term")
    weights = sum(4 if mutant.at[0] in ("term", "condition") else 1 for mutant in made)
    known = Reservoir()
    known.fill(claim, budget / 10, seed)
    for n, mutant in enumerate(made):
        share = (4 if mutant.at[0] in ("term", "condition") else 1) / weights
        mutant.verdict = judged(mutant, known, 0.9 * budget * share, seed)
        mutant.killed = mutant.verdict.status == "violated"
        mutant.implied = not mutant.killed and implied(claim, mutant)
        if progress:
            progress(n + 1, len(made), mutant)
    return Mutation(claim.id, made)


class Reservoir:
    """Populations at which some relative of the statement fails, and those near which the statement is tight."""

    def __init__(self):
        self.telling, self.other = [], []

    def keep(self, line, hunt, telling=False):
        kept = self.telling if telling else self.other
        if hunt.top is not None:
            kept.insert(0, (line, hunt.question.setting, hunt.shape, hunt.numbers, dict(hunt.column), hunt.top.copy()))
            del kept[POPULATIONS:]

    def fill(self, claim, budget, seed):
        """Where the statement itself is tight."""
        for at, (_, sign, _) in enumerate(claim.lines):
            for setting in fitting(claim) if sign != "O" else ():
                hunts = {hunt: None for hunt, _, _ in adversary.searched(
                    Question(claim, setting, at), budget / len(claim.lines), seed)}
                for hunt in hunts:
                    self.keep(at, hunt)

    def at(self, mutant, questions):
        """(largest ratio, hunt, points, ratios, rows) of the mutant's question at what is kept, the largest first."""
        found = []
        for line, setting, shape, numbers, column, rows in [*self.telling, *self.other]:
            question = questions.get(setting.name)
            if line != mutant.line or question is None:
                continue
            hunt = adversary.hunt_at(question, shape, numbers, 0)
            if set(hunt.names) == set(column):
                rows = rows[:, [column[name] for name in hunt.names]]
                points, ratios = hunt.rated(rows[:KEPT].copy())
                ratios = np.nan_to_num(ratios, nan=-1.0)
                found.append((ratios.max(), hunt, points, ratios, rows))
        return sorted(found, key=lambda each: -each[0])


def judged(mutant, reservoir, budget, seed):
    """The Verdict on a mutant: at the instances kept, climbing from the best of them, then by its own search."""
    settings, cases = fitting(mutant.claim), 0
    if not settings:
        return checking.line(mutant.claim, mutant.line, budget, seed)
    questions = {setting.name: Question(mutant.claim, setting, mutant.line) for setting in settings}
    questions = {name: question for name, question in questions.items() if not question.impossible}
    confirmed = lambda hunt, point: checking.violated(mutant.claim, hunt, point, cases, effort=EFFORT)
    near = reservoir.at(mutant, questions)
    for best, hunt, points, ratios, _ in near:
        cases += len(points)
        for n in np.argsort(-ratios, kind="stable")[:2]:
            verdict = ratios[n] > 1 + 1e-9 and confirmed(hunt, points[n])
            if verdict:
                return verdict
    for best, hunt, _, _, rows in near[:CLIMBED]:
        for ratio, point in hunt.climb(GENERATIONS, rows):
            cases += adversary.BATCH
            verdict = ratio > 1 + 1e-9 and confirmed(hunt, point)
            if verdict:
                reservoir.keep(mutant.line, hunt, True)
                return verdict
    for question in questions.values():
        last = None
        for hunt, ratio, point in adversary.searched(question, budget / len(questions), seed):
            cases += adversary.BATCH
            verdict = ratio > 1 + 1e-9 and last is not hunt and confirmed(hunt, point)
            last = hunt if ratio > 1 + 1e-9 else last    # one look at a shape
            if verdict:
                reservoir.keep(mutant.line, hunt, True)
                return verdict
    return Verdict(mutant.claim.id, "holds", settings[0].kind, "It was not refuted.", cases=cases)


def implied(claim, mutant):
    """Whether the statement's line, under its hypotheses, provably gives the mutant's."""
    if mutant.at[0] in ("condition", "ceiling"):
        return False
    _, sign, right = claim.lines[mutant.line]
    _, _, other = mutant.claim.lines[mutant.line]
    if sign == "==":
        return claim.expand(right - other).expand() == 0
    relations = [a.relation for a in claim.assumptions if a.relation is not None]
    target = algebra.related(right, {"<": "<=", ">": ">="}.get(sign, sign), other)
    plainly = claim.expand(target)
    if plainly in (sympy.true, sympy.false):
        return plainly == sympy.true
    return bool(algebra.prove(target, relations, claim.definitions, budget=0.3, refute=False))


# Making them

def mutants(claim):
    """Every Mutant of a claim, each change once."""
    seen = set()
    for at, (left, sign, right) in enumerate(claim.lines):
        if sign == "O":
            continue
        for change, about, bound in changes(claim, right):
            key = at, claim.expand(bound)
            if key not in seen and claim.expand(bound - right) != 0:
                seen.add(key)
                yield Mutant(change, with_bound(claim, at, bound), at, about)
    for change, about, variant in weaker_hypotheses(claim):
        for at, (_, sign, _) in enumerate(claim.lines):
            if sign != "O":
                yield Mutant(change, variant, at, about)


def with_bound(claim, at, bound):
    name = f"{claim.id} (mutant)"
    if at == 0:
        return claim.replace(name=name, bound=bound)
    also = list(claim.also)
    place = at - (claim.bound is not None)
    also[place] = (also[place][0], also[place][1], bound)
    return claim.replace(name=name, also=tuple(also))


def changes(claim, right):
    """(words, what it is about, new right-hand side) of each change to the right-hand side."""
    for words, about, bound in in_tree(right, right):
        yield words, about, bound
    mentioned, queue = [], [right]
    while queue:
        for symbol in sorted(queue.pop().free_symbols, key=lambda s: s.name):
            if symbol in claim.definitions and symbol not in mentioned:
                mentioned.append(symbol)
                queue.append(claim.definitions[symbol])
    for symbol in mentioned:    # what is named, changed in its definition
        for words, about, definition in in_tree(claim.definitions[symbol], claim.definitions[symbol]):
            yield f"{words}, in {symbol.name}", about, opened(right, {**claim.definitions, symbol: definition}, symbol)
    parameters = [e for e in claim.parameters.values() if e.symbol in claim.expand(right).free_symbols]
    for one, other in combinations(parameters, 2):
        if one.unit == other.unit and one.domain == other.domain:
            swapped = claim.expand(right).xreplace({one.symbol: other.symbol, other.symbol: one.symbol})
            yield f"{one.name} and {other.name} swapped", ("swap", one.name, other.name), swapped


def opened(expr, definitions, symbol):
    """An expression with definitions written out as far as the changed one is reached."""
    for _ in definitions:
        inside = [s for s in expr.free_symbols if s in definitions
                  and (s == symbol or symbol in _reach(definitions[s], definitions))]
        if not inside:
            break
        expr = expr.xreplace({s: definitions[s] for s in inside})
    return expr


def _reach(expr, definitions):
    found = set(expr.free_symbols)
    for s in list(found):
        if s in definitions:
            found |= _reach(definitions[s], definitions)
    return found


def in_tree(expr, whole):
    """(words, about, changed) of each change somewhere in an expression."""
    if not isinstance(expr, sympy.Basic) or not expr.args or isinstance(expr, (sympy.core.relational.Relational,)):
        if expr is whole and expr != 0:
            yield f"{plain(expr)} halved", ("scale", plain(expr)), expr * HALF
        return
    rebuilt = lambda n, part: expr.func(*[part if k == n else a for k, a in enumerate(expr.args)])
    if expr.is_Add:
        for n, term in enumerate(expr.args):
            yield f"without the term {plain(term)}", ("term", plain(term)), expr - term
            if term.could_extract_minus_sign():
                yield f"the term {plain(term)} times 2", ("scale", plain(term)), expr + term
            else:
                yield f"the term {plain(term)} halved", ("scale", plain(term)), expr - term * HALF
    elif expr is whole:
        for factor, words in ((HALF, "halved"), (2, "times 2")):
            yield f"{plain(expr)} {words}", ("scale", plain(expr)), expr * factor
    if expr.is_Mul:
        for n, factor in enumerate(expr.args):
            base, power = factor.as_base_exp()
            if base.is_Symbol:
                for shift in (-1, 1):
                    changed = base ** (power + shift)
                    words = f"without the factor {base}" if power == 1 and shift < 0 else \
                        f"{plain(factor)} turned into {plain(changed)}"
                    yield f"{words} in {plain(expr)}", ("factor", base.name), rebuilt(n, changed)
    elif expr.is_Pow and expr.base.is_Symbol and expr.exp.is_Rational:
        for shift in (-1, 1):
            yield (f"{plain(expr)} turned into {plain(expr.base ** (expr.exp + shift))}", ("factor", expr.base.name),
                   expr.base ** (expr.exp + shift))
    for n, part in enumerate(expr.args):
        if part.args and not isinstance(part, (sympy.core.relational.Relational, sympy.logic.boolalg.Boolean)) \
                and not isinstance(expr, (sympy.Piecewise, sympy.functions.elementary.piecewise.ExprCondPair)) \
                and not (part.is_Pow and part.base.is_Symbol and expr.is_Mul):
            for words, about, changed in in_tree(part, None):
                yield words, about, rebuilt(n, changed)


def weaker_hypotheses(claim):
    """(words, about, variant) with a hypothesis removed, or a ceiling raised."""
    own = [*claim.assumes, *claim.unstated]
    for assumption in own:
        rest = [a for a in own if a is not assumption]
        yield f"without: {assumption}", ("condition", assumption.name), claim.replace(
            name=f"{claim.id} (mutant)", assumptions=rest)
        relation = assumption.relation
        if isinstance(relation, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)) and relation.lts.free_symbols:
            for factor in (2, 8):
                wider = type(relation)(relation.lhs / factor, relation.rhs, evaluate=False) \
                    if isinstance(relation, (sympy.Le, sympy.Lt)) else \
                    type(relation)(relation.lhs * factor, relation.rhs, evaluate=False)
                yield f"{factor} times as far: {assumption}", ("ceiling", assumption.name), claim.replace(
                    name=f"{claim.id} (mutant)",
                    assumptions=[*rest, Assumption(wider, assumption.where, assumption.stated)])

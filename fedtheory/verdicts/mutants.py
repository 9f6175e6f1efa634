"""Mutants of a statement, made by one change at a time: constants, terms, exponents, symbols,
hypotheses."""

from dataclasses import dataclass
from itertools import combinations

import sympy

from fedtheory.display import Shown
from fedtheory.language.conditions import Assumption

HALF = sympy.Rational(1, 2)


@dataclass(repr=False)
class Mutant(Shown):
    change: str  # the change, in words
    claim: object
    line: int
    # The changed part: ("term", text), ("factor", symbol), ("condition", name), ...
    at: tuple = ()
    killed: bool = False
    implied: bool = False  # the statement implies it
    # Whether any instance could refute the mutant. None could if nothing measures the mutant, if
    # the mutant demands no more than the statement, or if no instance breaks the removed
    # hypothesis.
    asked: bool = True
    verdict: object = None

    def heading(self):
        return f"Mutant {self.change}"

    def facts(self):
        said = "refuted" if self.killed else "implied" if self.implied else "not refuted"
        why = {} if self.verdict is None else dict(why=self.verdict.why)
        return dict(it_is=said, claim=str(self.claim)) | why

    @property
    def witness(self):
        return self.verdict.witness if self.killed else None

    def __str__(self):
        state = "implied" if self.implied else "killed" if self.killed else "survives"
        state = state if self.asked else "unasked"
        return f"{state:9s}{self.change}"


def list_mutants(claim):
    """Return every Mutant of a claim, each change once."""
    seen, several = set(), len(claim.lines) > 1
    named = lambda change, at: f"{change}, line {at + 1}" if several else change
    for at, (left, sign, right) in enumerate(claim.lines):
        if sign == "O":
            continue
        for change, about, bound in right_side_changes(claim, right):
            key = at, claim.expand(bound)
            if (
                key not in seen and claim.expand(bound - right) != 0 and not bound.has(sympy.I)
            ):  # a bound with I is no real number
                seen.add(key)
                yield Mutant(named(change, at), with_bound(claim, at, bound), at, about)
    for change, about, variant in weaker_hypotheses(claim):
        for at, (_, sign, _) in enumerate(claim.lines):
            if sign != "O":
                yield Mutant(named(change, at), variant, at, about)


def with_bound(claim, at, bound):
    lines = list(claim.lines)
    lines[at] = lines[at]._replace(right=bound)
    return claim.replace(name=claim.called(" (mutant)"), lines=lines)


def right_side_changes(claim, right):
    """Yield (words, what is changed, new right-hand side) of each change to the right-hand side."""
    for words, about, bound in in_tree(right, right, claim.plain):
        yield words, about, bound
    mentioned, queue = [], [right]
    while queue:
        for symbol in sorted(queue.pop().free_symbols, key=lambda s: s.name):
            if symbol in claim.definitions and symbol not in mentioned:
                mentioned.append(symbol)
                queue.append(claim.definitions[symbol])
    for symbol in mentioned:  # derived symbols: the change is in the definition
        for words, about, definition in in_tree(
            claim.definitions[symbol], claim.definitions[symbol], claim.plain
        ):
            yield (
                f"{words}, in {symbol.name}",
                about,
                expand_to_symbol(right, {**claim.definitions, symbol: definition}, symbol),
            )
    parameters = [
        e for e in claim.parameters.values() if e.symbol in claim.expand(right).free_symbols
    ]
    for one, other in combinations(parameters, 2):
        if one.unit == other.unit and one.domain == other.domain:
            swapped = claim.expand(right).xreplace(
                {one.symbol: other.symbol, other.symbol: one.symbol}
            )
            yield f"{one.name} and {other.name} swapped", ("swap", one.name, other.name), swapped


def expand_to_symbol(expr, definitions, symbol):
    """Return an expression with definitions expanded until the symbol to be changed appears."""
    for _ in definitions:
        inside = [
            s
            for s in expr.free_symbols
            if s in definitions
            and (s == symbol or symbol in _reachable_symbols(definitions[s], definitions))
        ]
        if not inside:
            break
        expr = expr.xreplace({s: definitions[s] for s in inside})
    return expr


def _reachable_symbols(expr, definitions):
    found = set(expr.free_symbols)
    for s in list(found):
        if s in definitions:
            found |= _reachable_symbols(definitions[s], definitions)
    return found


def in_tree(expr, whole, write):
    """Yield (words, what is changed, changed expression) of each change somewhere in an expression."""
    if (
        not isinstance(expr, sympy.Basic)
        or not expr.args
        or isinstance(expr, (sympy.core.relational.Relational,))
    ):
        if expr is whole and expr != 0:
            yield f"{write(expr)} halved", ("scale", write(expr)), expr * HALF
        return
    rebuilt = lambda n, part: expr.func(*[part if k == n else a for k, a in enumerate(expr.args)])
    if expr.is_Add:
        for n, term in enumerate(expr.args):
            yield f"without the term {write(term)}", ("term", write(term)), expr - term
            if term.could_extract_minus_sign():
                yield f"the term {write(term)} times 2", ("scale", write(term)), expr + term
            else:
                yield f"the term {write(term)} halved", ("scale", write(term)), expr - term * HALF
    elif expr is whole:
        for factor, words in ((HALF, "halved"), (2, "times 2")):
            yield f"{write(expr)} {words}", ("scale", write(expr)), expr * factor
    if expr.is_Mul:
        for n, factor in enumerate(expr.args):
            base, power = factor.as_base_exp()
            if base.is_Symbol:
                for shift in (-1, 1):
                    changed = base ** (power + shift)
                    words = (
                        f"without the factor {base}"
                        if power == 1 and shift < 0
                        else f"{write(factor)} turned into {write(changed)}"
                    )
                    yield f"{words} in {write(expr)}", ("factor", base.name), rebuilt(n, changed)
    elif expr.is_Pow and expr.base.is_Symbol and expr.exp.is_Rational:
        for shift in (-1, 1):
            yield (
                f"{write(expr)} turned into {write(expr.base ** (expr.exp + shift))}",
                ("factor", expr.base.name),
                expr.base ** (expr.exp + shift),
            )
    for n, part in enumerate(expr.args):
        if (
            part.args
            and not isinstance(
                part, (sympy.core.relational.Relational, sympy.logic.boolalg.Boolean)
            )
            and not isinstance(
                expr, (sympy.Piecewise, sympy.functions.elementary.piecewise.ExprCondPair)
            )
            and not (part.is_Pow and part.base.is_Symbol and expr.is_Mul)
        ):
            for words, about, changed in in_tree(part, None, write):
                yield words, about, rebuilt(n, changed)


def weaker_hypotheses(claim):
    """Yield (words, what is changed, variant) with a hypothesis removed, or an upper limit raised."""
    own = [*claim.assumes, *claim.unstated]
    for assumption in own:
        rest = [a for a in own if a is not assumption]
        yield (
            f"without: {assumption}",
            ("condition", assumption.name),
            claim.under(rest, claim.called(" (mutant)")),
        )
        relation = assumption.relation
        if (
            isinstance(relation, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt))
            and relation.lts.free_symbols
        ):
            for factor in (2, 8):
                wider = (
                    type(relation)(relation.lhs / factor, relation.rhs, evaluate=False)
                    if isinstance(relation, (sympy.Le, sympy.Lt))
                    else type(relation)(relation.lhs * factor, relation.rhs, evaluate=False)
                )
                yield (
                    f"{factor} times as far: {assumption}",
                    ("ceiling", assumption.name),
                    claim.replace(
                        name=claim.called(" (mutant)"),
                        assumptions=[*rest, Assumption(wider, assumption.where, assumption.stated)],
                    ),
                )

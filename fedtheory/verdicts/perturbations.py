"""Perturbations of a statement: variants in which one part has another value.

A part is a number in the statement: the factor of a term, a constant, an exponent, or how far a
hypothesis reaches. `list_mutants` gives each part the few values whose difference a checker has to
notice, `list_parts` returns the parts whose needed value `sharpen` searches, and
`without_hypotheses` drops hypotheses, one or several.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import sympy
from sympy.core.relational import Relational

from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption

HALF = sympy.Rational(1, 2)
INEQUALITIES = ("<", "<=", ">", ">=")
LESS = (sympy.Le, sympy.Lt)
GREATER = (sympy.Ge, sympy.Gt)
LOGICAL = (Relational, sympy.logic.boolalg.Boolean)
CASES = (sympy.Piecewise, sympy.functions.elementary.piecewise.ExprCondPair)
MUTANT = " (mutant)"  # ending of a mutant's id

Put = Callable[[Any], sympy.Expr]  # maps a value of a part to the right side with this value
Write = Callable[[sympy.Expr], str]
Definitions = dict[sympy.Symbol, sympy.Expr]


class Part(NamedTuple):
    """A number in a statement: `right` maps a value to the right side of the line with this value,
    `variant` to the claim."""

    kind: str  # "constant", "term", "exponent" or "ceiling"
    name: str
    line: int
    printed: sympy.Rational
    variant: Callable[[Any], Claim]
    right: Put
    sides: tuple[sympy.Expr, ...] = ()  # (smaller side, larger side) of a ceiling's hypothesis


@dataclass
class Perturbation:
    """A variant of a statement in which one part has another value."""

    change: str  # the change, in words
    claim: Claim
    line: int
    # The changed part: ("term", text), ("factor", symbol), ("condition", name), ...
    at: tuple[str, ...] = ()


class Change(NamedTuple):
    """An expression in which one part has another value."""

    words: str
    at: tuple[str, ...]
    changed: sympy.Expr


class Number(NamedTuple):
    """A number in a right side."""

    kind: str
    name: str
    printed: sympy.Rational
    put: Put


class Expression(NamedTuple):
    """A right side, or a definition in it."""

    expr: sympy.Expr
    where: str  # its place, in words
    put: Put  # maps a replacement of the expression to the right side


def list_hypotheses(claim: Claim) -> list[Assumption]:
    """Return the stated and the unstated hypotheses of a claim, without the meanings of symbols."""
    return [*claim.assumes, *claim.unstated]


def without_hypotheses(claim: Claim, dropped: Sequence[Assumption], ending: str) -> Claim:
    """Return the variant of a claim without some hypotheses, named with an ending."""
    lost = {id(each) for each in dropped}
    kept = [each for each in list_hypotheses(claim) if id(each) not in lost]
    return claim.under(kept, claim.name_variant(ending))


def with_right_side(claim: Claim, line: int, right: sympy.Expr, ending: str) -> Claim:
    """Return the variant of a claim with another right side of a line, named with an ending."""
    lines = list(claim.lines)
    lines[line] = lines[line]._replace(right=right)
    return claim.replace(name=claim.name_variant(ending), lines=lines)


def widen_hypothesis(
    claim: Claim, assumption: Assumption, relation: Relational, times: Any, ending: str
) -> Claim:
    """Return the variant with a hypothesis, written as `relation`, widened: the smaller side reaches
    `times` as far."""
    left = relation.lhs / times if isinstance(relation, LESS) else relation.lhs * times
    wider = type(relation)(left, relation.rhs, evaluate=False)
    kept = [each for each in list_hypotheses(claim) if each is not assumption]
    hypotheses = [*kept, Assumption(wider, assumption.where, assumption.stated)]
    return claim.replace(name=claim.name_variant(ending), assumptions=hypotheses)


def name_in_line(claim: Claim, words: str, line: int) -> str:
    """Return words for a part with the number of the line, where the claim has several lines."""
    return f"{words}, line {line + 1}" if len(claim.lines) > 1 else words


def list_mutants(claim: Claim) -> Iterator[Perturbation]:
    """Yield the mutants of a claim, each change once: terms dropped or halved, factors dropped or
    repeated, symbols swapped, hypotheses dropped or widened."""
    seen, lines = set(), [at for at, line in enumerate(claim.lines) if line.relation != "O"]
    for at in lines:
        right = claim.lines[at].right
        for words, about, bound in right_side_changes(claim, right):
            key = at, claim.expand(bound)
            # A bound with I or with a division by 0 is no real number.
            no_number = bound.has(sympy.I, sympy.zoo, sympy.nan)
            if key not in seen and not no_number and claim.expand(bound - right) != 0:
                seen.add(key)
                variant = with_right_side(claim, at, bound, MUTANT)
                yield Perturbation(name_in_line(claim, words, at), variant, at, about)
    for words, about, variant in weaker_hypotheses(claim):
        for at in lines:
            yield Perturbation(name_in_line(claim, words, at), variant, at, about)


def list_parts(claim: Claim) -> Iterator[Part]:
    """Yield the Parts of a claim's inequalities, each once."""
    found: dict[tuple[int, sympy.Expr], Part] = {}
    for at, (_, sign, right) in enumerate(claim.lines):
        for kind, name, printed, put in numbers_of(claim, right) if sign in INEQUALITIES else ():
            label, whole = name_in_line(claim, name, at), claim.expand(put(printed + 5))
            variant = lambda value, at=at, put=put, label=label: with_right_side(
                claim, at, put(value), f" ({label}: {value})"
            )
            if whole != claim.expand(right) and not whole.has(sympy.I, sympy.nan):
                found.setdefault((at, whole), Part(kind, label, at, printed, variant, put))
    yield from found.values()
    yield from ceiling_parts(claim)


# Right sides


def expressions_of(claim: Claim, right: sympy.Expr) -> Iterator[Expression]:
    """Yield a right side and the definitions used there."""
    yield Expression(right, "", lambda expr: expr)
    definitions, queue = claim.definitions, [right]
    mentioned: list[sympy.Symbol] = []
    while queue:
        for symbol in sorted(queue.pop().free_symbols, key=lambda s: s.name):
            if symbol in definitions and symbol not in mentioned:
                mentioned.append(symbol)
                queue.append(definitions[symbol])
    for symbol in mentioned:
        put = lambda expr, symbol=symbol: expand_to_symbol(
            right, {**definitions, symbol: expr}, symbol
        )
        yield Expression(definitions[symbol], f", in {symbol.name}", put)


def expand_to_symbol(
    expr: sympy.Expr, definitions: Definitions, symbol: sympy.Symbol
) -> sympy.Expr:
    """Return an expression with definitions expanded until the symbol to be changed appears."""
    reaches = lambda s: s == symbol or symbol in _reachable_symbols(definitions[s], definitions)
    for _ in definitions:
        inside = [s for s in expr.free_symbols if s in definitions and reaches(s)]
        if not inside:
            break
        expr = expr.xreplace({s: definitions[s] for s in inside})
    return expr


def _reachable_symbols(
    expr: sympy.Expr, definitions: Mapping[sympy.Symbol, sympy.Expr]
) -> set[sympy.Symbol]:
    found = set(expr.free_symbols)
    inside = (definitions[s] for s in found if s in definitions)
    return found.union(*(_reachable_symbols(each, definitions) for each in inside))


def right_side_changes(claim: Claim, right: sympy.Expr) -> Iterator[Change]:
    """Yield the Changes of a right side, of definitions used there, and of pairs of symbols."""
    for expr, where, put in expressions_of(claim, right):
        for words, at, changed in changes_in(expr, claim.plain, True):
            yield Change(words + where, at, put(changed))
    whole = claim.expand(right)
    parameters = [e for e in claim.parameters.values() if e.symbol in whole.free_symbols]
    for one, other in combinations(parameters, 2):
        if one.unit == other.unit and one.domain == other.domain:
            swapped = whole.xreplace({one.symbol: other.symbol, other.symbol: one.symbol})
            names = one.name, other.name
            yield Change(f"{' and '.join(names)} swapped", ("swap", *names), swapped)


def changes_in(expr: sympy.Expr, write: Write, whole: bool) -> Iterator[Change]:
    """Yield the Changes somewhere in an expression, which is `whole` or part of another."""
    if not isinstance(expr, sympy.Basic) or not expr.args or isinstance(expr, Relational):
        if whole and expr != 0:
            yield Change(f"{write(expr)} halved", ("scale", write(expr)), expr * HALF)
        return
    rebuilt = lambda n, part: expr.func(*[part if k == n else a for k, a in enumerate(expr.args)])
    if expr.is_Add:
        for term in expr.args:
            text, minus = write(term), term.could_extract_minus_sign()
            yield Change(f"without the term {text}", ("term", text), expr - term)
            scaled, words = (expr + term, "times 2") if minus else (expr - term * HALF, "halved")
            yield Change(f"the term {text} {words}", ("scale", text), scaled)
    elif whole:
        for factor, words in ((HALF, "halved"), (2, "times 2")):
            yield Change(f"{write(expr)} {words}", ("scale", write(expr)), expr * factor)
    if expr.is_Mul:
        for n, factor in enumerate(expr.args):
            for words, about, changed in exponent_changes(factor, write):
                yield Change(f"{words} in {write(expr)}", about, rebuilt(n, changed))
    elif expr.is_Pow and expr.exp.is_Rational:
        yield from exponent_changes(expr, write)
    for n, part in enumerate(expr.args):
        power = expr.is_Mul and part.is_Pow and part.base.is_Symbol  # changed as a factor
        logical = isinstance(part, LOGICAL) or isinstance(expr, CASES)
        if part.args and not power and not logical:
            for words, about, changed in changes_in(part, write, False):
                yield Change(words, about, rebuilt(n, changed))


def exponent_changes(factor: sympy.Expr, write: Write) -> Iterator[Change]:
    """Yield the Changes of a symbol's power by 1, down and up."""
    base, power = factor.as_base_exp()
    for shift in (-1, 1) if base.is_Symbol else ():
        changed = base ** (power + shift)
        words = f"{write(factor)} turned into {write(changed)}"
        if power == 1 and shift < 0:
            words = f"without the factor {base}"
        yield Change(words, ("factor", base.name), changed)


def numbers_of(claim: Claim, right: sympy.Expr) -> Iterator[Number]:
    """Yield each Number of a right side and of the definitions used there."""
    for expr, where, put in expressions_of(claim, right):
        yield from numbers_in(claim, expr, put, where, whole=not where)


def numbers_in(
    claim: Claim, expr: sympy.Expr, put: Put, where: str, whole: bool = False
) -> Iterator[Number]:
    """Yield each Number of an expression, a `whole` right side or a part; `put`
    maps a replacement of the expression to the right side. A sum with a number, such as 1 + gamma,
    does not count as a sum of terms, and divisors have no parts."""
    if not isinstance(expr, sympy.Basic) or expr.is_Atom or expr.is_Piecewise:
        return
    terms = expr.is_Add and not any(part.is_Number for part in expr.args)
    if whole and not expr.is_Add:
        yield scale_of(claim, expr, put, where)
        yield from exponents_of(claim, expr, put, where)
    for n, part in enumerate(expr.args):
        inside = lambda e, n=n: put(expr.func(*expr.args[:n], e, *expr.args[n + 1 :]))
        constant = part.is_Mul and abs(part.as_coeff_Mul()[0]) != 1
        if part.is_Number or expr.is_Pow and n == 1:
            continue
        if constant and not expr.is_Mul or terms and not is_of_losses(claim, part):
            yield scale_of(claim, part, inside, where)
        if terms:
            yield from exponents_of(claim, part, inside, where)
        if not (part.is_Pow and part.exp.is_negative):
            yield from numbers_in(claim, part, inside, where)


def is_of_losses(claim: Claim, term: sympy.Expr) -> bool:
    """Tell whether a term is a loss or an inner product, of which only differences have a meaning."""
    names = {s.name for s in term.free_symbols}
    return any(entry.domain == "real" and n in names for n, entry in claim.quantities.items())


def scale_of(claim: Claim, term: sympy.Expr, put: Put, where: str) -> Number:
    """Return the Number of a term's constant or, where the constant is 1, of a factor of the
    term."""
    constant, rest = term.as_coeff_Mul()
    size, sign = abs(constant), sympy.sign(constant)
    words, make = claim.plain(sign * term) + where, lambda value: put(sign * value * rest)
    if size == 1:
        return Number("term", words, sympy.Integer(1), make)
    return Number("constant", f"{size} in {words}", size, make)


def exponents_of(claim: Claim, expr: sympy.Expr, put: Put, where: str) -> Iterator[Number]:
    """Yield the Number of each exponent of a count in a product."""
    factors = sympy.Mul.make_args(expr) if expr.is_Mul or expr.is_Pow else ()
    for n, factor in enumerate(factors):
        base, power = factor.as_base_exp()
        entry = claim.symbols[base.name] if base.is_Symbol and base.name in claim.symbols else None
        if entry is not None and entry.domain == "count" and power.is_Rational:
            name = f"exponent of {base.name} in {claim.plain(expr).removeprefix('-')}{where}"
            make = lambda value, n=n, base=base: put(
                sympy.Mul(*factors[:n], base**value, *factors[n + 1 :])
            )
            yield Number("exponent", name, power, make)


# Hypotheses


def weaker_hypotheses(claim: Claim) -> Iterator[tuple[str, tuple[str, str], Claim]]:
    """Yield (words, changed part, variant) with a hypothesis dropped, or an upper limit raised."""
    for assumption in list_hypotheses(claim):
        dropped = without_hypotheses(claim, [assumption], MUTANT)
        yield f"without: {assumption}", ("condition", assumption.name), dropped
        relation = assumption.relation
        if isinstance(relation, LESS + GREATER):
            for times in (2, 8) if relation.lts.free_symbols else ():
                wider = widen_hypothesis(claim, assumption, relation, times, MUTANT)
                yield f"{times} times as far: {assumption}", ("ceiling", assumption.name), wider


def ceiling_parts(claim: Claim) -> Iterator[Part]:
    """Yield a Part for each hypothesis between numbers and each line: how much further the
    hypothesis could reach, in multiples of its smaller side."""
    for assumption in list_hypotheses(claim):
        if not isinstance(assumption.relation, LESS + GREATER):
            continue
        small, large = assumption.relation.lts, assumption.relation.gts
        less = isinstance(assumption.relation, LESS)
        limit = assumption.relation if less else assumption.relation.reversed
        variant = lambda value, assumption=assumption, limit=limit: widen_hypothesis(
            claim, assumption, limit, value, f" ({value} times as far: {assumption.name})"
        )
        for at, line in enumerate(claim.lines):
            if small.free_symbols and large.is_nonnegative and line.relation != "O":
                label = name_in_line(claim, str(assumption), at)
                right = lambda value, line=line: line.right
                one = sympy.Integer(1)
                yield Part("ceiling", label, at, one, variant, right, (small, large))

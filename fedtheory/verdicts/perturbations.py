"""Parts of a statement that can be sharpened: numeric constants, terms, exponents of counts, and
upper limits in hypotheses, each as a number that a variant may change."""

from collections.abc import Callable
from dataclasses import dataclass

import sympy

from fedtheory.language.conditions import Assumption
from fedtheory.verdicts.mutants import expand_to_symbol


@dataclass(frozen=True)
class Part:
    """A number in a statement: `right` maps a value to the right side of the line with this value,
    `variant` to the claim."""

    kind: str  # "constant", "term", "exponent" or "ceiling"
    name: str
    line: int
    printed: sympy.Rational
    right: Callable | None  # value -> right side; None for a ceiling
    variant: Callable  # value -> Claim
    sides: tuple = ()  # (smaller side, larger side) of a ceiling's hypothesis


def list_parts(claim):
    """Return the Parts of a claim's inequalities, each once."""
    found = {}
    for at, (_, sign, right) in enumerate(claim.lines):
        if sign in ("<", "<=", ">", ">="):
            for kind, name, printed, make in of_right(claim, right):
                label = f"{name}, line {at + 1}" if len(claim.lines) > 1 else name
                whole = claim.expand(make(printed + 5))
                if whole != claim.expand(right) and not whole.has(sympy.I, sympy.nan):
                    found.setdefault((at, whole), (kind, label, at, printed, make))
    for kind, label, at, printed, make in found.values():
        yield Part(kind, label, at, printed, make, make_variants(claim, at, label, make))
    yield from ceiling_parts(claim)


def make_variants(claim, at, label, make):
    """Return the function value -> variant of the claim with this value in the line."""

    def variant(value):
        lines = list(claim.lines)
        lines[at] = lines[at]._replace(right=make(value))
        return claim.replace(name=claim.called(f" ({label}: {value})"), lines=lines)

    return variant


def of_right(claim, right):
    """Yield (kind, name, value, value -> right side) of each number in a right side and in the
    definitions of its symbols."""
    yield from number_parts(claim, right, lambda expr: expr, "", right)
    mentioned, queue = [], [right]
    while queue:
        for symbol in sorted(queue.pop().free_symbols, key=lambda s: s.name):
            if symbol in claim.definitions and symbol not in mentioned:
                mentioned.append(symbol)
                queue.append(claim.definitions[symbol])
    for symbol in mentioned:
        put = lambda expr, symbol=symbol: expand_to_symbol(
            right, {**claim.definitions, symbol: expr}, symbol
        )
        yield from number_parts(claim, claim.definitions[symbol], put, f", in {symbol.name}", None)


def number_parts(claim, expr, put, where, whole):
    """Yield (kind, name, value, value -> right side) of each number in an expression; `put` maps a
    replacement of the expression to the right side. A sum with a number, such as 1 + gamma, does
    not count as a sum of terms, and divisors have no parts."""
    if not isinstance(expr, sympy.Basic) or expr.is_Atom or expr.is_Piecewise:
        return
    terms = expr.is_Add and not any(part.is_Number for part in expr.args)
    if expr is whole and not expr.is_Add:
        yield from scale_term(claim, expr, put, where)
        yield from exponent_parts(claim, expr, put, where)
    for n, part in enumerate(expr.args):
        inside = lambda e, n=n: put(expr.func(*expr.args[:n], e, *expr.args[n + 1 :]))
        constant = part.is_Mul and abs(part.as_coeff_Mul()[0]) != 1
        if part.is_Number or expr.is_Pow and n == 1:
            continue
        if constant and not expr.is_Mul or terms and not is_of_losses(claim, part):
            yield from scale_term(claim, part, inside, where)
        if terms:
            yield from exponent_parts(claim, part, inside, where)
        if not (part.is_Pow and part.exp.is_negative):
            yield from number_parts(claim, part, inside, where, None)


def is_of_losses(claim, term):
    """Tell whether a term is a loss or an inner product, of which only differences have a meaning."""
    names = {s.name for s in term.free_symbols}
    return any(entry.domain == "real" and n in names for n, entry in claim.quantities.items())


def scale_term(claim, term, put, where):
    """Yield (kind, name, value, value -> right side) of a term's constant or, where the constant is
    1, of a factor of the term."""
    constant, rest = term.as_coeff_Mul()
    size, sign = abs(constant), sympy.sign(constant)
    make = lambda value: put(sign * value * rest)
    words = claim.plain(sign * term) + where
    if size == 1:
        yield "term", words, sympy.Integer(1), make
    else:
        yield "constant", f"{size} in {words}", size, make


def exponent_parts(claim, expr, put, where):
    """Yield (kind, name, value, value -> right side) of the exponents of counts in a product."""
    factors = sympy.Mul.make_args(expr) if expr.is_Mul or expr.is_Pow else ()
    for n, factor in enumerate(factors):
        base, power = factor.as_base_exp()
        entry = claim.symbols[base.name] if base.is_Symbol and base.name in claim.symbols else None
        if entry is not None and entry.domain == "count" and power.is_Rational:
            make = lambda value, n=n, base=base: put(
                sympy.Mul(*factors[:n], base**value, *factors[n + 1 :])
            )
            yield (
                "exponent",
                f"exponent of {base.name} in {claim.plain(expr).removeprefix('-')}{where}",
                power,
                make,
            )


def ceiling_parts(claim):
    """Yield a Part for each hypothesis between numbers and each line: how much further the
    hypothesis could reach, in multiples of its smaller side."""
    own = [*claim.assumes, *claim.unstated]
    for assumption in own:
        relation = assumption.relation
        if not isinstance(relation, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)):
            continue
        small, large = (
            relation.args if isinstance(relation, (sympy.Le, sympy.Lt)) else relation.args[::-1]
        )
        if not small.free_symbols or not large.is_nonnegative:
            continue
        strict = isinstance(relation, (sympy.Lt, sympy.Gt))

        def variant(value, assumption=assumption, small=small, large=large, strict=strict):
            wider = (sympy.Lt if strict else sympy.Le)(small / value, large, evaluate=False)
            kept = [a for a in own if a is not assumption]
            return claim.replace(
                name=claim.called(f" ({value} times as far: {assumption.name})"),
                assumptions=[*kept, Assumption(wider, assumption.where, assumption.stated)],
            )

        for at, (_, sign, _) in enumerate(claim.lines):
            if sign != "O":
                label = f"{assumption}" + (f", line {at + 1}" if len(claim.lines) > 1 else "")
                yield Part("ceiling", label, at, sympy.Integer(1), None, variant, (small, large))

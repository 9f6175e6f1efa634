"""Equations among hypotheses: which symbol an equation fixes, and in which ways a product can be 0.

An equation is divided only by expressions that are known not to be 0. For example,
(L - 1) (eta L - 1) = 0 says that L is 1 or that eta is 1/L, and not that eta is 1/L.
"""

from collections.abc import Sequence
from itertools import islice, product
from typing import NamedTuple

import sympy

LARGEST = 400  # operations of the largest formula that is factored
MOST = 64  # the most ways to meet all equations together that are followed
DEEPEST = 3  # how often in a row a vanishing slope may lead to a further equation
STRICT = (sympy.Lt, sympy.Gt)
LEAST = (sympy.Ge, sympy.Gt)


class FixedSymbol(NamedTuple):
    """A symbol, its value by an equation, and whether the divisor is certainly never 0."""

    symbol: sympy.Symbol
    value: sympy.Expr
    surely: bool


def solve_equation(
    equation: sympy.Rel, symbols: Sequence[sympy.Symbol], rules: Sequence[sympy.Rel] = ()
) -> FixedSymbol | None:
    """Return the symbol and value that an equation fixes, or None where the equation is linear in
    none of the symbols.

    A symbol whose slope is never 0 is preferred; the first such symbol is chosen.

    The value is -(gap at symbol = 0) / slope, with gap = left - right. `rules` are relations that
    may show that the slope is never 0.
    """
    gap, found = equation.lhs - equation.rhs, None
    for symbol in symbols:
        slope = sympy.expand(gap.diff(symbol))
        if slope == 0 or symbol in slope.free_symbols:
            continue
        surely = never_zero(slope, rules)
        if surely or found is None:
            found = FixedSymbol(symbol, sympy.expand(-gap.subs(symbol, 0)) / slope, surely)
        if surely:
            break
    return found


def never_zero(expr: sympy.Expr, rules: Sequence[sympy.Basic] = ()) -> bool:
    """Tell whether an expression is never 0, by its symbols' domains or by one of the rules."""
    return all(
        _factor_solution(factor, rules) for factor in sympy.Mul.make_args(_split_factors(expr))
    )


def _split_factors(expr: sympy.Expr) -> sympy.Expr:
    """Return an expression as a product of factors, unchanged where factoring would take too
    long."""
    if expr.count_ops() > LARGEST or expr.has(sympy.Piecewise):
        return expr
    return sympy.factor(expr)


def _factor_solution(factor: sympy.Expr, rules: Sequence[sympy.Basic]) -> bool:
    """Tell whether a factor is never 0, by its domain or by a rule."""
    if factor.is_Pow and factor.exp.is_number:
        if factor.exp.is_negative:  # 1/x is never 0
            return True
        factor = factor.base
    known = factor.is_nonzero or _is_positive(factor)
    return bool(known) or any(_says_nonzero(factor, rule) for rule in rules)


def _is_positive(expr: sympy.Expr) -> bool:
    """Tell whether an expression is positive wherever it has a value, as 1/x is for x >= 0."""
    if expr.is_positive:
        return True
    if expr.is_Pow:
        return _is_positive(expr.base) or bool(expr.exp.is_negative and _is_nonnegative(expr.base))
    if expr.is_Add:
        return all(map(_is_nonnegative, expr.args)) and any(map(_is_positive, expr.args))
    if isinstance(expr, sympy.Max):
        return any(map(_is_positive, expr.args))
    return isinstance(expr, (sympy.Mul, sympy.Min)) and all(map(_is_positive, expr.args))


def _is_nonnegative(expr: sympy.Expr) -> bool:
    """Tell whether an expression is nonnegative wherever it has a value."""
    if expr.is_nonnegative or _is_positive(expr):
        return True
    if isinstance(expr, sympy.Max):
        return any(map(_is_nonnegative, expr.args))
    if expr.is_Pow:
        return bool(expr.exp.is_real) and _is_nonnegative(expr.base)
    return isinstance(expr, (sympy.Add, sympy.Mul, sympy.Min)) and all(
        map(_is_nonnegative, expr.args)
    )


def _says_nonzero(factor: sympy.Expr, rule: sympy.Basic) -> bool:
    """Tell whether a rule implies that a factor is not 0. The factor is then the expression that
    the rule bounds away from 0, or that expression plus terms of the same sign."""
    if isinstance(rule, sympy.Ne):
        return sympy.expand(rule.lhs - rule.rhs) in (sympy.expand(factor), sympy.expand(-factor))
    if not isinstance(rule, (sympy.Le, sympy.Lt, *LEAST)):
        return False
    gap = rule.lhs - rule.rhs if isinstance(rule, LEAST) else rule.rhs - rule.lhs
    more = (sympy.expand(way * factor - gap) for way in (1, -1))
    strict = isinstance(rule, STRICT)
    return any(rest.is_nonnegative if strict else rest.is_positive for rest in more)


def equation_cases(
    equations: Sequence[sympy.Rel], symbols: Sequence[sympy.Symbol], rules: Sequence[sympy.Rel] = ()
) -> list[list[sympy.Rel]]:
    """Return the ways in which equations can be met, each a list of equations that `solve` can
    solve.

    A product is 0 where one of its factors is 0. If no symbol has a slope that is never 0, one more
    way is that the slope and the rest of the equation are both 0.
    """
    ways = [_equation_ways(equation, symbols, rules, 0) for equation in equations]
    return [[each for way in some for each in way] for some in islice(product(*ways), MOST)]


def _equation_ways(
    equation: sympy.Rel, symbols: Sequence[sympy.Symbol], rules: Sequence[sympy.Rel], depth: int
) -> list[list[sympy.Rel]]:
    """Return the ways in which an equation can be met: one for each factor that can be 0."""
    if depth > DEEPEST or not isinstance(equation, sympy.Eq):
        return [[] if equation is sympy.true else [equation]]
    gap = equation.lhs - equation.rhs
    factors = _vanishing_factors(gap, rules)
    prime = len(factors) == 1 and sympy.cancel(gap / factors[0]).is_number
    linear = len(factors) == 1 and solve_equation(equation, symbols) is not None
    stays = not factors or prime or linear
    single = [equation] if stays else [_as_equation(factor) for factor in factors]
    return [way for each in single for way in _equation_branches(each, symbols, rules, depth)]


def _equation_branches(
    equation: sympy.Rel, symbols: Sequence[sympy.Symbol], rules: Sequence[sympy.Rel], depth: int
) -> list[list[sympy.Rel]]:
    """Return the ways of an equation that is not a product."""
    fixed = solve_equation(equation, [s for s in symbols if s in equation.free_symbols], rules)
    if fixed is None or fixed.surely:
        return [[equation]]
    gap = equation.lhs - equation.rhs
    parts = [gap.diff(fixed.symbol), gap.subs(fixed.symbol, 0)]
    if not all(part.is_polynomial(*part.free_symbols) for part in parts):
        return [[equation]]
    vanishing = [_as_equation(part) for part in parts]
    if sympy.false in vanishing:
        return [[equation]]
    further = [_equation_ways(each, symbols, rules, depth + 1) for each in vanishing]
    return [[equation], *([*one, *other] for one in further[0] for other in further[1])]


def _as_equation(expr: sympy.Expr) -> sympy.Rel:
    return sympy.Eq(sympy.expand(expr), 0)


def _vanishing_factors(gap: sympy.Expr, rules: Sequence[sympy.Rel]) -> list[sympy.Expr]:
    """Return the factors of an expression that may be 0, each once."""
    if gap.count_ops() > LARGEST or gap.has(sympy.Piecewise):
        return [gap]
    try:
        found = sympy.factor_list(sympy.fraction(sympy.together(gap))[0])[1]
    except sympy.PolynomialError:
        return [gap]
    return [factor for factor, _ in found if not never_zero(factor, rules)]

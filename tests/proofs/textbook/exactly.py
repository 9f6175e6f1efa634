"""The value of a relation at fractions, by walking its formula."""

from fractions import Fraction
from math import prod

import sympy

ORDERS = {
    sympy.Le: lambda a, b: a <= b,
    sympy.Ge: lambda a, b: a >= b,
    sympy.Lt: lambda a, b: a < b,
    sympy.Gt: lambda a, b: a > b,
    sympy.Eq: lambda a, b: a == b,
}


def truth(relation, known):
    """Whether a relation holds, `known` being the values of symbols and inner products."""
    return ORDERS[relation.func](*(value(side, known) for side in relation.args))


def value(e, known):
    if e in known:
        return known[e]
    if e.is_Rational:
        return Fraction(int(e.p), int(e.q))
    if e.is_Add:
        return sum(value(part, known) for part in e.args)
    if e.is_Mul:
        return prod(value(part, known) for part in e.args)
    if e.is_Pow and e.exp.is_Integer:
        return Fraction(value(e.base, known)) ** int(e.exp)
    if isinstance(e, sympy.Max):
        return max(value(part, known) for part in e.args)
    if isinstance(e, sympy.Piecewise):
        return next(value(v, known) for v, when in e.args if when == True or truth(when, known))  # noqa: E712
    raise TypeError(e)

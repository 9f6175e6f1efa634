"""Which symbol an equation fixes, and the ways in which a product is 0: nothing is divided by that
may vanish."""

import pytest
from sympy import Eq, Ge, Gt, Le, Lt, Max, Min, Ne, sqrt, symbols

from fedtheory.proofs import equations, refutation

L, eta = symbols("L eta", positive=True)
n, m = symbols("n m", positive=True, integer=True)
x, y, z = symbols("x y z", real=True)
g = symbols("g", nonnegative=True)


@pytest.mark.parametrize(
    "expr, rules, never",
    [
        (L, (), True),
        (n, (), True),
        (x, (), False),
        (n - 1, (), False),
        (L - 1, (), False),
        (L**2 + g, (), True),
        (1 / g**2, (), True),  # one over a number, wherever it has a value
        (Min(1 / g, L), (), True),
        (Max(g, x), (), False),
        (n - 1, (Ge(n, 2),), True),
        (n - 1, (Ge(n, 1),), False),
        (1 - g, (Lt(g, 1),), True),
        (1 - g, (Le(g, 1),), False),
        (2 - g, (Le(g, 1),), True),
        (g - 2, (Gt(1, g),), True),
        (x - y, (Ne(x, y),), True),
        (x * (1 - g), (Lt(g, 1),), False),
    ],
)
def test_what_never_vanishes(expr, rules, never):
    assert equations.never_zero(expr, rules) is never


@pytest.mark.parametrize(
    "equation, symbols_, ways",
    [
        (Eq((L - 1) * (eta * L - 1), 0), (eta, L), [{L: 1}, {eta: 1 / L}]),
        (Eq((n - 1) * z, n - 1), (z,), [{n: 1}, {z: 1}]),
        (Eq(x * y, 0), (x, y), [{x: 0}, {y: 0}]),
        (Eq(x**2, y**2), (x, y), [{x: y}, {x: -y}]),
        (Eq((n - 1) * z, m - 1), (z,), [{z: (m - 1) / (n - 1)}, {n: 1, m: 1}]),
        (Eq(eta * L, 1), (eta,), [{eta: 1 / L}]),
        (Eq(sqrt(g), eta * L), (eta,), [{eta: sqrt(g) / L}]),
    ],
)
def test_the_ways_to_meet_an_equation(equation, symbols_, ways):
    """Together they are all of its solutions: each way is met by the values that are said here, and
    there are as many ways."""
    found = equations.equation_cases((equation,), symbols_)
    assert len(found) == len(ways)
    for way in ways:
        assert any(all(e.subs(way).doit() == True for e in each) for each in found)  # noqa: E712 (SymPy's truth)


def test_a_symbol_whose_slope_is_known_comes_first():
    fixed = equations.solve_equation(Eq(x * y, z), (x, z))
    assert (fixed.symbol, fixed.value, fixed.surely) == (z, x * y, True)
    assert not equations.solve_equation(Eq(x * y, 1), (x,)).surely
    assert equations.solve_equation(Eq(x**2, y), (x,)) is None


def test_refutation_looks_where_a_factor_vanishes():
    """At L = 1 any eta meets the product; the claim that eta is at most 1 is false there alone."""
    rules = [Eq((L - 1) * (eta * L - 1), 0), Ge(L, 1)]
    found = refutation.find_violation(Le(eta, 1, evaluate=False), rules, {})
    assert found is not None and found["L"] == 1 and found["eta"] > 1

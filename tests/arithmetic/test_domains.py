"""The members of a domain are the numbers that SymPy's assumptions about its symbols admit."""

from fractions import Fraction

import pytest
import sympy

from fedtheory.arithmetic.domains import DOMAINS, domain_admits

VALUES = [Fraction(p, q) for p in range(-3, 4) for q in (1, 2)]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_domain_admits_what_its_assumptions_admit(domain, value):
    number = sympy.Rational(value.numerator, value.denominator)
    assumptions, _ = DOMAINS[domain]
    admitted = all(getattr(number, f"is_{name}") == holds for name, holds in assumptions.items())
    assert domain_admits(domain, value) == admitted

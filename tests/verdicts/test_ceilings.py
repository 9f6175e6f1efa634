"""How far a hypothesis can reach, against closed forms."""

from fractions import Fraction as Q

from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption
from fedtheory.verdicts.ceilings import distance_beyond
from fedtheory.verdicts.perturbations import list_parts
from tests.verdicts.test_sharpening import T, a, b, of

CEILING = Claim(
    id="mine.ceiling",
    cites="squares",
    symbols=T,
    measures=a**2,
    bound=4 * b,
    assumes=(Assumption(a <= 1, "a <= 1"), Assumption(b >= 1, "b >= 1")),
)


def test_how_far_a_ceiling_reaches():
    """a^2 <= 4 b under a <= 1 and b >= 1: it holds as far as a <= 2."""
    found = of(CEILING, only=lambda p: p.kind == "ceiling")
    part = next(p for name, p in found.items() if "a <=" in name)
    assert part.most and 2 < part.refuted < Q(5, 2) and 1 < part.proved <= 2


def test_an_instance_at_twice_a_ceiling_lies_a_factor_2_beyond():
    claim = CEILING.replace(assumptions=[Assumption(a >= 3 * b, "a >= 3 b")])
    (part,) = (part for part in list_parts(claim) if part.kind == "ceiling")
    assert part.sides == (3 * b, a)
    assert float(distance_beyond(part, dict(a=Q(3), b=Q(2)))) == 2

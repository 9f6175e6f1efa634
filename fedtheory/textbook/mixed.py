"""Mixed FL: what its text writes one of its quantities as, and which of its conditions say more."""

from sympy import Eq

from fedtheory import conditions
from fedtheory.claims.mixed._assumptions import MU_CONVEX, MU_STRONGLY
from fedtheory.symbols.mixed import gap, gap_c, gap_f
from fedtheory.textbook.facts import PREFIX, Fact

FACTS = (Fact(PREFIX + "definition", Eq(gap, gap_f + gap_c, evaluate=False)),)
STRONGER = (  # mu >= 0; mu > 0
    (MU_STRONGLY, MU_CONVEX),
    (MU_CONVEX, conditions.CONVEX),
)

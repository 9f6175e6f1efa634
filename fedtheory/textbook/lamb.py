"""FED-LAMB, appendix A.2: what its text writes one of its quantities as."""

from sympy import Eq

from fedtheory.symbols.lamb import A_1, alpha, inner_g
from fedtheory.textbook.facts import PREFIX, Fact

FACTS = (  # "we can write (15) as A_1 = ..."
    Fact(PREFIX + "definition", Eq(A_1, -alpha * inner_g, evaluate=False)),
)

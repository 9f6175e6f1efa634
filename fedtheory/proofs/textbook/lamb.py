"""Facts for FED-LAMB, appendix A.2: the expression that its text gives for one of its quantities."""

from sympy import Eq

from fedtheory.proofs.textbook.facts import PREFIX, Fact
from fedtheory.symbols.lamb import A_1, alpha, inner_g

METHODS = ("fed_lamb",)  # methods whose rounds the facts describe
EACH_ROUND = ()  # methods of these whose rounds have no memory of earlier rounds
STEADY = ()  # conditions of the paper that hold in every round or in none

FACTS = (  # the paper says: "we can write (15) as A_1 = ..."
    Fact(PREFIX + "definition", Eq(A_1, -alpha * inner_g, evaluate=False)),
)

"""Facts for FED-LAMB, appendix A.2: the expression that its text gives for one of its quantities."""

from sympy import Eq

from fedtheory.symbols.lamb import A_1, alpha, inner_g
from fedtheory.textbook.facts import PREFIX, Fact

METHODS = ("fed_lamb",)  # of whose rounds the facts speak
EACH_ROUND = ()  # of these no round has a memory of those before it
STEADY = ()  # conditions of the paper that hold of every round or of none

FACTS = (  # "we can write (15) as A_1 = ..."
    Fact(PREFIX + "definition", Eq(A_1, -alpha * inner_g, evaluate=False)),
)

"""FED-LAMB, section 3.2: how many local steps a round may have, and how many rounds that saves.

These are rules for choosing T, and are judged by what they are for: with T of that order, the last
term of (5), or of (6), is of the order of the first ("is small as long as T <= O(...)").
"""

from sympy import Rational, sqrt

from fedtheory.claim import Claim, Theta
from fedtheory.conditions import Assumption
from fedtheory.symbols.lamb import TABLE, R, T, h, n, p

QUARTER = Rational(1, 4)
last = (T - 1) ** 2 * p / (h**3 * R ** Rational(3, 2))  # of (5)
first = sqrt(p / n) / sqrt(h * R)
few_steps = Assumption(
    T - 1 <= sqrt(R) * h ** (5 * QUARTER) / (n * p) ** QUARTER, "section 3.2, T small"
)
last_ams = n * (T - 1) ** 2 / R  # of (6)
first_ams = sqrt(p / (R * n))
few_steps_ams = Assumption(
    (T - 1) ** 2 <= sqrt(R * p) / n ** Rational(3, 2), "section 3.2, Local-AMS"
)

CLAIMS = (
    Claim(
        id="lamb.communication",
        cites="FED-LAMB, section 3.2, T <= ...",
        kind="order",
        relation="O",
        symbols=TABLE,
        measures=last,
        bound=first,
        regime=(Theta(T, sqrt(R) * h ** (5 * QUARTER) / (n * p) ** QUARTER),),
        explicit="lamb.communication_explicit",
        meaning="Local steps that cost nothing: as many as keep the last term of (5) below the first.",
    ),
    Claim(
        id="lamb.communication_explicit",
        cites="FED-LAMB, section 3.2, T <= ..., from (5)",
        symbols=TABLE,
        assumes=(few_steps,),
        measures=last,
        bound=first,
        weakened=first / 2,
        meaning="With T - 1 up to that number, the last term of (5) is at most the first.",
    ),
    Claim(
        id="lamb.communication_rounds",
        cites="FED-LAMB, section 3.2, R/T >= ...",
        kind="order",
        relation="O",
        symbols=TABLE,
        assumes=(Assumption(p <= h**4, "section 3.2, p^(1/4)/h = O(1)"),),
        measures=last,
        bound=first,
        regime=(Theta(T, sqrt(R) / n**QUARTER),),  # R/T >= sqrt(R) n^(1/4)
        explicit="lamb.communication_explicit",
        meaning="The rate of AMSGrad with rounds in number of order sqrt(R) n^(1/4).",
        note="R/T >= O(y) is read as enough: R/T = Theta(y) keeps the last term of (5) below the first, with a "
        "factor h^(-1/4) to spare where p^(1/4)/h = O(1).",
    ),
    Claim(
        id="lamb.communication_rounds_explicit",
        cites="FED-LAMB, section 3.2, R/T >= ..., from (5)",
        symbols=TABLE,
        assumes=(few_steps,),
        measures=(T - 1) / R,
        bound=h ** (5 * QUARTER) / (sqrt(R) * (n * p) ** QUARTER),
        weakened=h ** (5 * QUARTER) / (2 * sqrt(R) * (n * p) ** QUARTER),
        meaning="The same with every factor: rounds per local step beyond the first.",
    ),
    Claim(
        id="lamb.communication_local_ams",
        cites="FED-LAMB, section 3.2, Local-AMS",
        kind="order",
        relation="O",
        symbols=TABLE,
        measures=last_ams,
        bound=first_ams,
        regime=(Theta(T, R / (R * n) ** (3 * QUARTER)),),  # R/T of order (R n)^(3/4)
        explicit="lamb.communication_local_ams_explicit",
        meaning="Local-AMS needs rounds in number of order (R n)^(3/4).",
        note="From (6), R/(T - 1) >= (R n)^(3/4) / p^(1/4) is enough: the line has p^(1/4) to spare.",
    ),
    Claim(
        id="lamb.communication_local_ams_explicit",
        cites="FED-LAMB, section 3.2, Local-AMS, from (6)",
        symbols=TABLE,
        assumes=(few_steps_ams,),
        measures=last_ams,
        bound=first_ams,
        also=(((T - 1) / R, "<=", p**QUARTER / (R * n) ** (3 * QUARTER)),),
        weakened=first_ams / 2,
        meaning="The same with every factor.",
    ),
)

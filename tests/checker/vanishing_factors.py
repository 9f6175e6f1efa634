"""Equations with factors that may vanish: claims under (u - a)(v - b) = 0, written in several ways.

Such an equation gives v = b only where u is not a. So v is arbitrary at u = a, and a bound on v
alone is false, however near b it lies; with a further hypothesis that excludes u = a it is true.
The same holds for runs: at L = a, the equation (L - a)(eta L - 1) = 0 says nothing about the step
size.
"""

from random import Random

from sympy import Eq, Expr, Rational, Symbol, expand

from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, SMOOTH
from fedtheory.language.symbol import Table
from fedtheory.symbols import run as house

TABLE = Table("factors")
U, V, W = (TABLE.positive(name, name, "a number") for name in ("u", "v", "w"))
COUNT = TABLE.count("n", "n", "a count")
KINDS = ("apart", "expanded", "shared", "squared", "three", "run")


def equation(kind: str, u: Symbol, a: Expr, v: Symbol, b: Expr) -> Eq:
    """Return (u - a)(v - b) = 0, or a variant of that equation, in the form of the given kind."""
    gap, other = u - a, v - b
    sides = dict(
        apart=(gap * other, 0),
        expanded=(expand(gap * other), 0),
        shared=(gap * v, gap * b),
        squared=(gap**2 * other, 0),
        three=(gap * other * (W - a - b), 0),
    )
    return Eq(*sides[kind], evaluate=False)


def claim(name: str, assumes: tuple, left: Expr, sign: str, right: Expr) -> Claim:
    return Claim(
        id=f"mine.{name}",
        cites="nobody",
        symbols=TABLE,
        assumes=assumes,
        measures=left,
        relation=sign,
        bound=right,
    )


def draw_claim(kind: str, seed: int) -> tuple[Claim, bool]:
    """Draw (claim, whether the claim is true)."""
    random = Random(f"{kind}/{seed}")
    if kind == "run":
        return of_run(random)
    a, b = (Rational(random.randint(1, 5), random.choice((1, 2, 3))) for _ in range(2))
    u, v = random.choice([(U, V), (COUNT, V), (V, U)])
    a = Rational(random.randint(1, 4)) if u is COUNT else a
    given, truth = equation(kind, u, a, v, b), random.random() < 0.5
    more = (u >= a + 1,) if truth else random.choice([(), (u <= a,), (u <= a + 1,)])
    if kind == "three" and truth:
        more += (W >= a + b + 1,)
    left, sign, right = random.choice(
        [
            (v, "<=", b * random.choice((1, 2))),
            (v, ">=", b / random.choice((1, 2))),
            (v**2, "<=", b**2 + random.choice((0, 3))),
            (v * u, "<=", b * u),
            (v + u, "<=", b + u),
        ]
    )
    return claim(f"{kind}_{seed}", (given, *more), left, sign, right), truth


def of_run(random: Random) -> tuple[Claim, bool]:
    """Draw a claim about gradient descent with eta = 1/L, unless L equals a number at which the
    hypotheses say nothing of eta.

    T steps of size 1/L leave at most L D/(4 T + 2) of the gap; vanishing steps leave L D/2.
    """
    T, a = random.randint(1, 3), Rational(random.randint(1, 3))
    truth = random.random() < 0.3
    given = (house.L - a) * (house.eta * house.L - 1)
    kept = (house.L >= a + 1,) if truth else ()
    share = Rational(1, 4 * T + 2) if truth else Rational(1, random.randint(3, 4 * T + 2))
    return Claim(
        id="mine.run",
        cites="nobody",
        symbols=house.TABLE,
        algorithm="fedsgd",
        assumes=(
            SMOOTH,
            CONVEX,
            EXACT_GRADIENTS,
            Eq(house.S, house.N),
            Eq(house.T, T),
            Eq(random.choice([given, expand(given)]), 0, evaluate=False),
            house.eta * house.L <= 1,
            *kept,
        ),
        measures=house.gap_T,
        bound=share * house.L * house.sq_distance_0,
    ), truth


def with_assumptions(claim: Claim) -> str:
    """Return the text of a claim with its assumptions."""
    return f"{claim}, where {'; '.join(str(a) for a in claim.assumptions)}"

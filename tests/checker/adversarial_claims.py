"""Adversarial claims of a user, with the statuses allowed for each: strict relations, infinite
sides, contradictions, names, vectors.

A case is a function that makes a claim (the claim may be refused, with a sentence) and the set of
answers that are not wrong; `REFUSED` stands for a sentence about the input. Undecided is never
wrong.
"""

from random import Random

import sympy
from sympy import (
    Abs,
    And,
    Eq,
    Integer,
    Max,
    Min,
    Ne,
    Not,
    Or,
    Piecewise,
    Rational,
    Symbol,
    exp,
    floor,
    log,
    nan,
    oo,
    sqrt,
    zoo,
)

from fedtheory import discover
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Condition
from fedtheory.language.symbol import Table

REFUSED = "refused"
TRUE = {"proved", "holds", "undecided"}
FALSE = {"violated", "undecided"}
NOTHING = {"vacuous", "undecided", "proved"}  # from a contradiction everything follows
# true for all numbers, or true because no instance meets the hypotheses
SAYS_NOTHING = TRUE | NOTHING

TABLE = Table("mine")
a, b = (TABLE.positive(name, name, "a positive number") for name in "ab")
z = TABLE.nonnegative("z", "z", "a number that may be zero")
x, y = (TABLE.real(name, name, "a number") for name in "xy")
n = TABLE.count("n", "n", "a count")
d = TABLE.define("d", "d", "a difference", a - b, domain="real")
huge, tiny = Integer(10) ** 400, Rational(1, 10**400)


def claim_maker(left, sign, right, *assumes, **more):
    return lambda: Claim(
        id="mine.claim",
        cites="nobody",
        symbols=TABLE,
        measures=left,
        relation=sign,
        bound=right,
        assumes=assumes,
        **more,
    )


def own_table_claim(table, left, sign, right):
    return lambda: Claim(
        id="mine.claim", cites="nobody", symbols=table, measures=left, relation=sign, bound=right
    )


def shadow_table():
    """Return a claim whose table gives the name of a paper's derived symbol another meaning."""
    table = Table("mine")
    one, gamma = (
        table.positive("one", "1", "a number"),
        table.define("gamma", "g", "the same number", Symbol("one", positive=True)),
    )
    return Claim(
        id="mine.claim", cites="nobody", symbols=table, measures=gamma, relation="<=", bound=one
    )


def dangling_definition():
    """Return a claim with a derived symbol whose definition uses a symbol that the table lacks."""
    table = Table("mine")
    one, more = (
        table.positive("one", "1", "a number"),
        table.define("more", "m", "more", 2 * Symbol("lost")),
    )
    return Claim(
        id="mine.claim", cites="nobody", symbols=table, measures=one, relation="<=", bound=more
    )


UNKNOWN = Condition("unheard_of", "the moon is full", lambda problem, setup: True)
CASES = {
    # Sides that vanish, strictness
    "nothing at most nothing": (claim_maker(Integer(0), "<=", Integer(0)), SAYS_NOTHING),
    "one at most nothing": (claim_maker(Integer(1), "<=", Integer(0)), FALSE),
    "nothing below nothing": (claim_maker(Integer(0), "<", Integer(0)), FALSE),
    "itself": (claim_maker(x, "==", x), TRUE),
    "below itself": (claim_maker(x, "<", x), FALSE),
    "a root below itself": (claim_maker(sqrt(2) * a, "<", sqrt(2) * a), FALSE),
    "two roots below one": (claim_maker(sqrt(a) * sqrt(b), "<", sqrt(a * b)), FALSE),
    "below one more": (claim_maker(a, "<", a + 1), TRUE),
    "what may vanish is positive": (claim_maker(z, ">", Integer(0)), FALSE),
    "what may vanish is more than half of it": (claim_maker(z / 2, "<", z), FALSE),
    "an unequal square": (claim_maker((a - b) ** 2, ">", Integer(0), Ne(a, b)), TRUE),
    "a square": (claim_maker((a - b) ** 2, ">", Integer(0)), FALSE),
    # Divisions by expressions that may vanish, infinite sides
    "over anything": (claim_maker(x / y, "<", (x + 1) / y), FALSE),
    "over anything, not strictly": (claim_maker(x / y, "<=", (x + 1) / y), FALSE),
    "over what may vanish, strictly": (
        claim_maker(a / z, "<", (a + 1) / z),
        {"holds"} | FALSE,
    ),  # the sides have no value at z = 0
    "both infinite": (claim_maker(1 / z, "<", 2 / z), {"holds"} | FALSE),
    "roots of anything": (claim_maker(sqrt(x), ">", Integer(-1)), TRUE),
    "the difference of the infinite": (claim_maker(1 / z - 1 / z**2, "<=", Integer(1)), TRUE),
    # Counts
    "counts": (claim_maker(n, ">=", Integer(1)), SAYS_NOTHING),
    "no half count": (claim_maker((2 * n - 3) ** 2, ">=", Integer(1)), TRUE),
    "between counts": (claim_maker((n - 1) * (n - 2), ">=", Integer(0)), TRUE),
    "across counts": (claim_maker((n - 1) * (n - 3), ">=", Integer(0)), FALSE),
    "a count between counts": (claim_maker(a, "<=", b, n > 1, n < 2), NOTHING),
    # Hypotheses
    "contradiction": (claim_maker(a, "<=", b, a > 2, a < 1), NOTHING),
    "two values": (claim_maker(a, "<=", b, Eq(a, 2), Eq(a, 1)), NOTHING),
    "roots contradict": (claim_maker(a, "<=", b, sqrt(a) < 1, a > 1), NOTHING),
    "a negative square": (claim_maker(a, "<=", b, x**2 < 0), NOTHING),
    "an irrational value": (claim_maker(x**2, "<=", Integer(2), Eq(x**2, 2)), TRUE),
    "its sign left out": (claim_maker(x, ">=", Integer(0), Eq(x**2, 2)), FALSE),
    "by a derived symbol": (claim_maker(b, "<=", a, d >= 0), TRUE),
    "by its opposite": (claim_maker(b, "<=", a, d <= 0), FALSE),
    "either": (claim_maker(a, "<=", Integer(2), Or(a < 1, Eq(a, 2))), TRUE | {REFUSED}),
    "either, falsely": (claim_maker(a, "<=", Integer(1), Or(a < 1, Eq(a, 2))), FALSE | {REFUSED}),
    "both hypotheses": (claim_maker(a, "<=", Integer(2), And(a < 1, b < 1)), TRUE),
    "not more": (claim_maker(a, "<=", Integer(1), Not(a > 1)), TRUE),
    "text": (claim_maker(a, "<=", Integer(1), "a <= 1"), {REFUSED}),
    "a lambda": (claim_maker(a, "<=", 1, lambda p, s: True), {REFUSED}),
    "None": (claim_maker(a, "<=", Integer(1), None), {REFUSED}),
    "True": (claim_maker(a, "<=", Integer(1), True), {REFUSED}),
    "what is true anyway": (
        claim_maker(a, "<=", Integer(1), n >= 1),
        FALSE | {REFUSED},
    ),  # the hypothesis is SymPy's true
    "a number for a hypothesis": (claim_maker(a, "<=", Integer(1), 5), {REFUSED}),
    "a condition that nobody knows": (claim_maker(a, "<=", Integer(1), UNKNOWN), {"undecided"}),
    # Names
    "a foreign symbol": (claim_maker(a, "<=", Symbol("q", positive=True)), {REFUSED}),
    "a namesake": (claim_maker(Symbol("a"), "<=", a), {REFUSED}),
    "a namesake in a hypothesis": (
        claim_maker(a, "<=", Integer(1), Symbol("a", real=True) <= 1),
        {REFUSED},
    ),
    "a namesake of a derived symbol": (claim_maker(Symbol("d"), "<=", a), {REFUSED}),
    "a name that means another thing elsewhere": (shadow_table, TRUE),
    "a definition of the unknown": (dangling_definition, {REFUSED}),
    # Sizes, and values that are not numbers
    "a tiny gap": (claim_maker(a, "<=", a - tiny), FALSE),
    "a huge factor": (claim_maker(a, "<=", huge * a), TRUE),
    "a huge factor, falsely": (claim_maker(huge * a, "<=", a), FALSE),
    "a huge power": (claim_maker(a**90, "<=", (1 + a) ** 90), TRUE),
    **{
        f"{what} as a bound": (claim_maker(a, "<=", what), {REFUSED})
        for what in (nan, oo, -oo, zoo, sympy.I)
    },
    "None as what is measured": (
        lambda: claim_maker(None, "<=", a)(),  # noqa: PLW0108 (making it may be refused)
        {REFUSED, "undecided"},
    ),
    # Functions
    "a maximum": (claim_maker(Max(a, b), "<=", a + b), TRUE),
    "a minimum": (claim_maker(Min(a, b), ">=", a + b), FALSE),
    "a distance": (claim_maker(Abs(x - y), "<=", Abs(x) + Abs(y)), TRUE),
    "a floor": (claim_maker(floor(a), "<", a), FALSE),
    "an exponential": (claim_maker(exp(x), ">=", 1 + x), TRUE),
    "an exponential, strictly": (claim_maker(exp(x), ">", 1 + x), FALSE),
    "a logarithm": (claim_maker(log(a), "<=", a - 1), TRUE),
    "a logarithm, falsely": (claim_maker(log(a), "<=", a - Rational(101, 100)), FALSE),
    "a case": (claim_maker(Piecewise((a, a < 1), (1, True)), "<=", Integer(1)), TRUE),
    "a case's edge": (claim_maker(Piecewise((a, a <= 1), (2, True)), "<=", Integer(1)), FALSE),
    "means": (claim_maker(a * b, "<=", (a**2 + b**2) / 2), TRUE),
    "means, just not": (claim_maker(a * b, "<=", (a**2 + b**2) / 2 - Rational(1, 10**9)), FALSE),
    # Several lines
    "a second line": (claim_maker(a, "<=", a + b, also=((a, "<=", b),)), FALSE),
    "a second line that is no order": (claim_maker(a, "<=", a + b, also=((b, "<=", a + b),)), TRUE),
}


def draw_vector_claim(seed):
    """Return (claim, whether an instance refutes the claim) for a random form of degree four in two
    gradients u and v. The forms are in the inner products p = u.u, q = v.v, r = u.v, of which only
    r^2 <= p q is known."""
    identity = discover.claim("fsl.gradient_identity")
    table, random = identity.table.whole, Random(f"vectors/{seed}")
    p, q, r = (table[name].symbol for name in ("sq_grad", "sq_server_grad", "grad_inner"))
    terms = [p**2, q**2, r**2, p * q, p * r, q * r]
    form = random.choice([0, 1]) * (p * q - r**2) * random.choice([1, 1, -1]) + sum(
        random.choice([0, 0, 0, 1, -1, 2, -2]) * term for term in terms
    )
    if form == 0:
        form = r**2 - p * q
    claim = identity.replace(
        "mine.vectors", measures=form, bound=Integer(0), relation=">=", also=()
    )
    grid = [Rational(k, 4) for k in range(-8, 9)]
    refuted = any(form.subs({p: 1, q: s**2 + t**2, r: s}) < 0 for s in grid for t in grid)
    return claim, refuted or form.subs({p: 0, q: 1, r: 0}) < 0


def allowed_statuses(refuted):
    """Return the statuses allowed for a form: FALSE alone where an instance refutes the form;
    otherwise any status, since the truth of the form is not known here."""
    return FALSE if refuted else TRUE | FALSE | NOTHING

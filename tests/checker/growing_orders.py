"""Orders that are false only where three numbers grow at once, or a unit and another number, beside
true orders. A family of instances must move more than one or two numbers to refute the false
orders.

Let h = x y z/(x y + y z + z x), a third of the harmonic mean. It is at most the least of x, y, z,
so it is bounded as long as one of them is, and it grows like t where all three grow like t.
"""

from sympy import Rational, sqrt

from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Table

TABLE = Table("growing")
x, y, z = (TABLE.positive(name, name, "a number") for name in "xyz")
n, m, k = (TABLE.count(name, name, "a count") for name in "nmk")


def harmonic_third(a, b, c):
    """Return a third of the harmonic mean of a, b and c."""
    return a * b * c / (a * b + b * c + c * a)


def make_order(name, left, shape):
    return Claim(
        id=f"house.{name}",
        cites="by hand",
        symbols=TABLE,
        kind="order",
        relation="O",
        measures=left,
        bound=shape,
    )


def share_held(*numbers):
    """Return a sum of a / (1 + a), which lies between 0 and the count of the numbers whatever their
    values are."""
    return sum(a / (1 + a) for a in numbers)


h = harmonic_third(x, y, z)
TRUE = {
    "harmonic_sum": make_order("harmonic_sum", h, x + y + z),
    "harmonic_root": make_order("harmonic_root", h, (x * y * z) ** 2 + sqrt(x * y + y * z + z * x)),
    "counts_sum": make_order("counts_sum", harmonic_third(n, m, k), n + m + k),
}
FALSE = {
    # By hand at x = y = z = t: t/3 is not bounded by a multiple of 3 t/(1 + t) or of sqrt(t), nor
    # t^2/3 by a multiple of 2 t.
    "harmonic_sum.bounded": make_order("harmonic_sum.bounded", h, share_held(x, y, z)),
    "harmonic_sum.root": make_order("harmonic_sum.root", h, (x * y * z) ** Rational(1, 6)),
    "harmonic_root.exponent": make_order(
        "harmonic_root.exponent", h * x, x + (x * y * z) ** Rational(1, 3)
    ),
    "counts_sum.bounded": make_order(
        "counts_sum.bounded", harmonic_third(n, m, k), share_held(n, m, k)
    ),
    "counts_sum.mixed": make_order(
        "counts_sum.mixed", harmonic_third(n, m, x), share_held(n, m, x)
    ),
}

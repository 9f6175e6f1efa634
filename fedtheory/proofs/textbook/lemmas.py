"""Textbook facts, each proved once: the parts of a fact follow by algebra from the axioms that the
fact names.

A part is an implication between numbers and inner products, with a document that
`certificates/check_proof.py` accepts. The parts are joined by one of the axioms, such as an
induction or an integral along a line.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from sympy import Eq, Ge, Le, Max, Symbol

from fedtheory.proofs.meaning import Inner, Vector, inner_product, square_norm

if TYPE_CHECKING:
    import sympy


class Part(NamedTuple):
    """An implication: `shows` follows from `given`."""

    says: str
    shows: Any
    given: tuple[Any, ...] = ()


class Leaf(NamedTuple):
    """A textbook fact: its statement, the axioms that it rests on, and its parts.

    The `axioms` join the parts: they are named, and not proved. A reader who accepts the axioms and
    the checker's answers on the parts accepts the fact.
    """

    id: str
    says: str
    axioms: tuple[Any, ...]
    parts: tuple[Any, ...]


def number_symbol(name: str, **domain: bool) -> Symbol:
    """Return a real symbol, or a symbol of a given domain."""
    return Symbol(name, **(domain or dict(real=True)))


def inner_equation(
    left: "sympy.Expr | Inner", right: "sympy.Expr | int" = 0
) -> "tuple[sympy.Rel, sympy.Rel]":
    """Return an equation between inner products as two inequalities, so that no symbol is
    eliminated with it."""
    return Le(left, right, evaluate=False), Ge(left, right, evaluate=False)


u, v, g, s = (Vector(f"vec_{name}") for name in "uvgs")
a, c, L, mu, eta = (number_symbol(name, positive=True) for name in ("a", "c", "L", "mu", "eta"))
p, q = number_symbol("p", positive=True), number_symbol("q", positive=True)
m, S, N_1 = (number_symbol(name, integer=True, positive=True) for name in ("m", "S", "N_1"))
f_x, f_y, f_z, least = (number_symbol(name) for name in ("f_x", "f_y", "f_z", "least"))
sum_sq, mixed = number_symbol("sum_sq", nonnegative=True), number_symbol("mixed")
ALGEBRA = ("inner_product", "expectation")
N = N_1 + 1  # at least 2: with a single client, the mean over the cohort is the mean over all

PRODUCT = Le(2 * c * inner_product(u, s), square_norm(u) + c**2 * square_norm(s))
LEAVES = (
    Leaf(
        "textbook.young",
        "||u + v||^2 <= (1 + a) ||u||^2 + (1 + 1/a) ||v||^2, and 2 c <u, s> <= ||u||^2 + "
        "c^2 ||s||^2, for a, c > 0",
        ALGEBRA,
        (
            Part(
                "of a sum",
                Le(square_norm(u + v), (1 + a) * square_norm(u) + (1 + 1 / a) * square_norm(v)),
            ),
            Part("of a product", PRODUCT),
        ),
    ),
    Leaf(
        "textbook.convex_square",
        "||(p u + q v)/(p + q)||^2 <= (p ||u||^2 + q ||v||^2)/(p + q) for p, q > 0",
        ALGEBRA,
        (
            Part(
                "multiplied out",
                Le(
                    square_norm((p * u + q * v) / (p + q)),
                    (p * square_norm(u) + q * square_norm(v)) / (p + q),
                ),
            ),
        ),
    ),
    Leaf(
        "textbook.sum_of_squares",
        "||v_1 + ... + v_m||^2 <= m (||v_1||^2 + ... + ||v_m||^2)",
        (*ALGEBRA, "induction"),
        (
            Part("m = 1", Le(square_norm(v), sum_sq), inner_equation(square_norm(v), sum_sq)),
            Part(
                "from m to m + 1: u is the sum of the first m",
                Le(square_norm(u + v), (m + 1) * (sum_sq + square_norm(v))),
                (Le(square_norm(u), m * sum_sq),),
            ),
        ),
    ),
    Leaf(
        "textbook.cauchy_schwarz",
        "<u, v>^2 <= ||u||^2 ||v||^2",
        ALGEBRA,
        (
            Part(
                "a Gram determinant", Le(inner_product(u, v) ** 2, square_norm(u) * square_norm(v))
            ),
        ),
    ),
    Leaf(
        "textbook.jensen",
        "||E[X | Y]||^2 <= E||X||^2, likewise for a mean over steps or clients",
        (*ALGEBRA, "conditional_mean"),
        (
            Part(
                "u is the mean of v",
                Le(square_norm(u), square_norm(v)),
                inner_equation(inner_product(u, v - u)),
            ),
        ),
    ),
    Leaf(
        "textbook.upper_quadratic",
        "f(x + s) <= f(x) + <grad f(x), s> + L/2 ||s||^2 where f is L-smooth",
        (*ALGEBRA, "smooth", "slope"),
        (
            Part(
                "u is grad f(x + t s) - grad f(x), of norm at most L t ||s||; c is L t",
                Le(inner_product(u, s), c * square_norm(s)),
                (Le(square_norm(u), c**2 * square_norm(s)), PRODUCT),
            ),
            Part(
                "from 0 to 1, f(x + t s) - t <grad f(x), s> grows no more than L t^2/2 ||s||^2",
                Le(f_y, f_x + inner_product(g, s) + L / 2 * square_norm(s)),
                (Le((f_y - inner_product(g, s)) - f_x, L / 2 * square_norm(s)),),
            ),
        ),
    ),
    Leaf(
        "textbook.descent",
        "f(x - eta grad f(x)) <= f(x) - eta (1 - L eta/2) ||grad f(x)||^2",
        (*ALGEBRA, "smooth", "slope"),
        (
            Part(
                "the upper quadratic at s = -eta grad f(x)",
                Le(f_y, f_x - eta * (1 - L * eta / 2) * square_norm(g)),
                (Le(f_y, f_x + inner_product(g, -eta * g) + L / 2 * square_norm(-eta * g)),),
            ),
        ),
    ),
    Leaf(
        "textbook.gradient_gap",
        "||grad f(x)||^2 <= 2 L (f(x) - inf f) where f is L-smooth",
        (*ALGEBRA, "smooth", "slope", "minimum"),
        (
            Part(
                "the upper quadratic at s = -grad f(x)/L",
                Le(square_norm(g), 2 * L * (f_x - least)),
                (
                    Le(f_y, f_x + inner_product(g, -g / L) + L / 2 * square_norm(-g / L)),
                    Le(least, f_y),
                ),
            ),
        ),
    ),
    Leaf(
        "textbook.monotone",
        "<grad f(x) - grad f(y), x - y> >= mu ||x - y||^2 where f is mu-strongly convex",
        (*ALGEBRA, "strongly_convex"),
        (
            Part(
                "both inequalities added; s is x - y, u and v are the gradients at x and y",
                Ge(inner_product(u - v, s), mu * square_norm(s)),
                (
                    Ge(f_y, f_x + inner_product(u, -s) + mu / 2 * square_norm(s)),
                    Ge(f_x, f_y + inner_product(v, s) + mu / 2 * square_norm(s)),
                ),
            ),
        ),
    ),
    Leaf(
        "textbook.convex_mean",
        "f((p x + q y)/(p + q)) <= (p f(x) + q f(y))/(p + q) for p, q > 0 where f is convex; "
        "likewise for any mean",
        (*ALGEBRA, "convex", "induction"),
        (
            Part(
                "the tangent at z, of gradient g, at x = z - q s and at y = z + p s",
                Le((p + q) * f_z, p * f_x + q * f_y),
                (Ge(f_x, f_z + inner_product(g, -q * s)), Ge(f_y, f_z + inner_product(g, p * s))),
            ),
        ),
    ),
    Leaf(
        "textbook.gradient_growth",
        "mu ||x - y|| <= ||grad f(x) - grad f(y)|| where f is mu-strongly convex",
        (*ALGEBRA, "strongly_convex"),
        (
            Part(
                "u is the difference of the gradients, monotone along s = x - y",
                Le(mu**2 * square_norm(s), square_norm(u)),
                (Ge(inner_product(u, s), mu * square_norm(s)),),
            ),
        ),
    ),
    Leaf(
        "textbook.independent_sum",
        "E||Z_1 + ... + Z_m||^2 = E||Z_1||^2 + ... + E||Z_m||^2 where each Z has mean zero given "
        "those before it",
        (*ALGEBRA, "conditional_mean", "independence", "induction"),
        (
            Part("m = 1", Le(square_norm(v), sum_sq), inner_equation(square_norm(v), sum_sq)),
            *(
                Part(
                    "from m to m + 1: u is the sum of the first m",
                    sign(square_norm(u + v), sum_sq + square_norm(v)),
                    (*inner_equation(square_norm(u), sum_sq), *inner_equation(inner_product(u, v))),
                )
                for sign in (Le, Ge)
            ),
        ),
    ),
    Leaf(
        "textbook.smallest",
        "q x <= max(0, q) y where 0 <= x <= y, as of the smallest of some numbers and their mean",
        ("largest",),
        (Part("x is sum_sq, y is a more", Le(f_x * sum_sq, Max(0, f_x) * (sum_sq + a))),),
    ),
    Leaf(
        "textbook.cohort",
        "E||mean over the cohort - mean over all||^2 = rho_s/S times the members' variance, "
        "rho_s = (N - S)/(N - 1)",
        (*ALGEBRA, "subsets"),
        (
            Part(
                "sum_sq adds up the squared deviations, mixed the products of two; together they "
                "are the squared norm of the deviations' sum, which is 0",
                Eq(
                    (S / N * sum_sq + S * (S - 1) / (N * (N - 1)) * mixed) / S**2,
                    (N - S) / (N - 1) / S * sum_sq / N,
                ),
                (Eq(sum_sq + mixed, 0),),
            ),
        ),
    ),
)

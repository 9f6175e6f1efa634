"""Accusations about inequalities: Young, Jensen, Cauchy and Schwarz, smooth functions."""

from fractions import Fraction as F

from sympy import Eq

from fedtheory.language.conditions import BOUNDED_BELOW, CONVEX, LIPSCHITZ, SMOOTH, STRONGLY_CONVEX
from fedtheory.symbols import run as r
from tests.checker.accusation import Accusation, b, c, state, x, y

mixed = r.lam * r.f_x + (1 - r.lam) * r.f_y
bowed = r.lam * (1 - r.lam) * r.sq_xy


ACCUSATIONS = (
    Accusation(
        "young_quarter",
        dict(statement="For all x, y and a > 0: <x, y> <= (a/4) |x|^2 + (1/(4a)) |y|^2."),
        {},
        lambda: state("young_quarter", r.inner_points, "<=", r.a / 4 * r.sq_x + r.sq_y / (4 * r.a)),
        "statement",
        "Half of Young's bound is too little: x = y with a = 1 needs all of it.",
        dict(p=1, q=1, a=1),
        lambda p, q, a: p * q <= F(a, 4) * p**2 + F(1, 4 * a) * q**2,
    ),
    Accusation(
        "young_inverse",
        dict(
            statement="For all x, y and a > 0: <x, y> <= (a/2) |x|^2 + (a/2) |y|^2.",
            proof="Expand 0 <= |sqrt(a) x - y/sqrt(a)|^2.",
        ),
        {},
        lambda: state("young_inverse", r.inner_points, "<=", r.a / 2 * (r.sq_x + r.sq_y)),
        "misprint",
        "The expansion in the proof gives 1/(2a) before |y|^2, where a/2 is printed.",
        dict(p=1, q=1, a=F(1, 2)),
        lambda p, q, a: p * q <= a / 2 * (p**2 + q**2),
        intended=lambda: state(
            "young_inverse.meant", r.inner_points, "<=", r.a / 2 * r.sq_x + r.sq_y / (2 * r.a)
        ),
        meant=lambda p, q, a: p * q <= a / 2 * p**2 + q**2 / (2 * a),
    ),
    Accusation(
        "orthogonal_sum",
        dict(
            statement="|x + y|^2 <= |x|^2 + |y|^2.",
            assumption="Assumption 2: x and y are orthogonal.",
        ),
        {"inner_points = 0": "text"},
        lambda: state("orthogonal_sum", r.sq_sum, "<=", r.sq_x + r.sq_y, Eq(r.inner_points, 0)),
        "none",
        "Assumption 2 makes the cross term 0; x = y = 1 is no instance.",
        dict(x_1=3, x_2=0, y_1=0, y_2=4),
        lambda x_1, x_2, y_1, y_2: (
            x_1 * y_1 + x_2 * y_2 == 0
            and (x_1 + y_1) ** 2 + (x_2 + y_2) ** 2 <= x_1**2 + x_2**2 + y_1**2 + y_2**2
        ),
    ),
    Accusation(
        "jensen_title",
        dict(
            title="3. Convex losses",
            statement="f(lambda x + (1 - lambda) y) <= lambda f(x) + (1 - lambda) f(y).",
        ),
        {"convex": "text"},
        lambda: state("jensen_title", r.f_mix, "<=", mixed, CONVEX),
        "none",
        "The section's title says that losses are convex.",
        dict(p=0, q=4, lam=F(1, 4)),
        lambda p, q, lam: (lam * p + (1 - lam) * q) ** 2 <= lam * p**2 + (1 - lam) * q**2,
    ),
    Accusation(
        "jensen_proof",
        dict(
            statement="For every f: f(lambda x + (1 - lambda) y) <= lambda f(x) + (1 - lambda) f(y).",
            proof="As f is convex, its graph lies below the chord.",
        ),
        {"convex": "proof"},
        lambda: state("jensen_proof", r.f_mix, "<=", mixed, unstated=(CONVEX,)),
        "hypothesis",
        "Jensen's inequality needs a convex f, which only the proof says.",
        dict(p=0, q=2, lam=F(1, 2), A=-2),
        lambda p, q, lam, A: (
            F(A, 2) * (lam * p + (1 - lam) * q) ** 2
            <= lam * F(A, 2) * p**2 + (1 - lam) * F(A, 2) * q**2
        ),
        needs=lambda p, q, lam, A: A >= 0,
    ),
    Accusation(
        "strong_jensen_half",
        dict(
            statement="If f is mu-strongly convex, f(lambda x + (1 - lambda) y) <= lambda f(x) "
            "+ (1 - lambda) f(y) - mu lambda (1 - lambda) |x - y|^2.",
            notation="f is mu-strongly convex if f - (mu/2) |x|^2 is convex.",
            proof="Apply Jensen's inequality to f - (mu/2) |x|^2.",
        ),
        {"strongly_convex": "statement", "mu > 0": "statement"},
        lambda: state(
            "strong_jensen_half", r.f_mix, "<=", mixed - r.mu * bowed, STRONGLY_CONVEX, r.mu > 0
        ),
        "misprint",
        "The proof carries mu/2 from the definition; the display has lost the half.",
        dict(p=0, q=2, lam=F(1, 2)),
        lambda p, q, lam: (
            (lam * p + (1 - lam) * q) ** 2 / 2
            <= lam * F(p**2, 2) + (1 - lam) * F(q**2, 2) - lam * (1 - lam) * (p - q) ** 2
        ),
        intended=lambda: state(
            "strong_jensen_half.meant",
            r.f_mix,
            "<=",
            mixed - r.mu / 2 * bowed,
            STRONGLY_CONVEX,
            r.mu > 0,
        ),
        meant=lambda p, q, lam: (
            (lam * p + (1 - lam) * q) ** 2 / 2
            <= lam * F(p**2, 2) + (1 - lam) * F(q**2, 2) - lam * (1 - lam) * (p - q) ** 2 / 2
        ),
    ),
    Accusation(
        "square_of_sum",
        dict(
            statement="(x + y)^2 <= 2 x^2 + 2 y^2.",
            proof="Since 2 x y <= (x^2 + y^2)/2, expanding the square gives the claim.",
        ),
        {},
        lambda: state("square_of_sum", 2 * x * y, "<=", (x**2 + y**2) / 2, kind="step"),
        "step",
        "2 x y is at most x^2 + y^2, not half of it; the lemma is true all the same.",
        dict(p=1, q=1),
        lambda p, q: 2 * p * q <= F(p**2 + q**2, 2),
        intended=lambda: state("square_of_sum.meant", (x + y) ** 2, "<=", 2 * x**2 + 2 * y**2),
        meant=lambda p, q: (p + q) ** 2 <= 2 * p**2 + 2 * q**2,
    ),
    Accusation(
        "reciprocal_sum",
        dict(
            statement="x + 1/x >= 2 by [7, theorem 9].",
            source="[7] Theorem 9. Let x be positive. Then x + 1/x >= 2.",
        ),
        {"x > 0": "source"},
        lambda: state("reciprocal_sum", x + 1 / x, ">=", 2, unstated=(x > 0,)),
        "hypothesis",
        "The inequality needs x > 0, which only the cited theorem says.",
        dict(p=-1),
        lambda p: p + F(1, p) >= 2,
        needs=lambda p: p > 0,
    ),
    Accusation(
        "lipschitz_square",
        dict(
            statement="If grad f is L-Lipschitz, |grad f(x) - grad f(y)|^2 <= L |x - y|^2.",
            notation="L-Lipschitz: |grad f(x) - grad f(y)| <= L |x - y|.",
        ),
        {"lipschitz": "statement"},
        lambda: state("lipschitz_square", r.sq_change, "<=", r.L * r.sq_xy, LIPSCHITZ),
        "misprint",
        "Squaring the definition gives L^2; the exponent is lost.",
        dict(L=2, p=1, q=0),
        lambda L, p, q: (L * p - L * q) ** 2 <= L * (p - q) ** 2,
        intended=lambda: state(
            "lipschitz_square.meant", r.sq_change, "<=", r.L**2 * r.sq_xy, LIPSCHITZ
        ),
        meant=lambda L, p, q: (L * p - L * q) ** 2 <= L**2 * (p - q) ** 2,
    ),
    Accusation(
        "gradient_below_gap",
        dict(
            statement="If f is L-smooth, |grad f(x)|^2 <= 2 L (f(x) - f*).",
            notation="f* > -infinity denotes the infimum of f.",
        ),
        {"smooth": "statement", "bounded_below": "text"},
        lambda: state(
            "gradient_below_gap", r.sq_grad_x, "<=", 2 * r.L * r.gap_x, SMOOTH, BOUNDED_BELOW
        ),
        "none",
        "No convexity is needed: a step of 1/L from x cannot fall below f*.",
        dict(L=2, p=3),
        lambda L, p: (L * p) ** 2 <= 2 * L * F(L * p**2, 2),
    ),
    Accusation(
        "cocoercive_proof",
        dict(
            statement="If f is L-smooth, <grad f(x) - grad f(y), x - y> >= |grad f(x) - grad f(y)|^2/L.",
            proof="By convexity f(z) - <grad f(y), z> is least at y. Take one step of 1/L from x.",
        ),
        {"smooth": "statement", "convex": "proof"},
        lambda: state(
            "cocoercive_proof", r.inner_change, ">=", r.sq_change / r.L, SMOOTH, unstated=(CONVEX,)
        ),
        "hypothesis",
        "Gradients of smooth functions are cocoercive only if these are convex: the proof says so.",
        dict(A=-2, L=2, p=1, q=0),
        lambda A, L, p, q: A * (p - q) * (p - q) >= F((A * (p - q)) ** 2, L),
        needs=lambda A, L, p, q: A >= 0,
    ),
    Accusation(
        "reciprocals",
        dict(
            statement="1/(b + c) <= 1/b for positive b and c.",
            proof="By Taylor's theorem 1/(b + c) <= 1/b - c/b^2, which is less than 1/b.",
        ),
        {},
        lambda: state("reciprocals", 1 / (b + c), "<=", 1 / b - c / b**2, kind="step"),
        "step",
        "The tangent of 1/b lies below its graph, not above; the lemma is true all the same.",
        dict(b=1, c=1),
        lambda b, c: F(1, b + c) <= F(1, b) - F(c, b**2),
        intended=lambda: state("reciprocals.meant", 1 / (b + c), "<=", 1 / b),
        meant=lambda b, c: F(1, b + c) <= F(1, b),
    ),
)

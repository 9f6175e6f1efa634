"""Accusations about gradient descent: its step sizes, rates, iterates and telescoped sums."""

from fractions import Fraction as F
from typing import Any

from sympy import Eq

from fedtheory.language.claim import Claim
from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    CONVEX,
    EXACT_GRADIENTS,
    LIPSCHITZ,
    SMOOTH,
    STRONGLY_CONVEX,
)
from fedtheory.symbols import run as r
from tests.checker.accusation import Accusation, state, x, y, z

EXACT = (EXACT_GRADIENTS, Eq(r.S, r.N))  # gradient descent: every client works, without noise
TITLE = "2. Gradient descent: one machine, exact gradients"
IN_TITLE = {"exact_gradients": "text", "S = N": "text"}


def descend(name: str, left: Any, right: Any, *assumes: Any, **more: Any) -> Claim:
    """Build a claim about gradient descent."""
    return state(name, left, "<=", right, *assumes, *EXACT, algorithm="fedsgd", **more)


def hill(p: int | F) -> tuple[F, F]:
    """Return (f(p), f'(p)) of a function with f'' = -1 on [-1, 1] and f'' = 1 elsewhere, with its
    least value -1 at 2 and -2."""
    away = F(abs(p))
    slope = -away if away <= 1 else away - 2
    value = -(away**2) / 2 if away <= 1 else (away - 2) ** 2 / 2 - 1
    return value, slope if p >= 0 else -slope


def climb_down(p: int | F, eta: int | F, T: int) -> list[F]:
    """Return the points x_0, ..., x_T of gradient descent on `hill`."""
    points = [F(p)]
    for _ in range(T):
        points.append(points[-1] - eta * hill(points[-1])[1])
    return points


ACCUSATIONS = (
    Accusation(
        "gd_footnote",
        dict(
            title=TITLE,
            statement="If F is L-smooth, F(x_T) <= F(x_(T-1)) - (eta/2) |grad F(x_(T-1))|^2.",
            footnote="Here and below, eta is at most 1/L.",
        ),
        {"smooth": "statement", "L eta <= 1": "text", **IN_TITLE},
        lambda: descend(
            "gd_footnote",
            r.loss_T,
            r.loss_before - r.eta / 2 * r.sq_grad_before,
            *(SMOOTH, r.eta * r.L <= 1),
        ),
        "none",
        "The footnote bounds the step; eta = 3/L is no instance.",
        dict(L=1, eta=F(1, 2), p=2),
        lambda L, eta, p: (
            F(L, 2) * (p - eta * L * p) ** 2 <= F(L, 2) * p**2 - eta / 2 * (L * p) ** 2
        ),
        quantifier="for all",
    ),
    Accusation(
        "gd_monotone_proof",
        dict(
            title=TITLE,
            statement="If F is L-smooth, F(x_T) <= F(x_(T-1)).",
            proof="The descent lemma with eta <= 2/L has a bracket of the right sign.",
        ),
        {"smooth": "statement", "L eta <= 2": "proof", **IN_TITLE},
        lambda: descend(
            "gd_monotone_proof", r.loss_T, r.loss_before, SMOOTH, unstated=(r.eta * r.L <= 2,)
        ),
        "hypothesis",
        "Steps longer than 2/L raise the loss; only the proof bounds the step.",
        dict(L=1, eta=3, p=1),
        lambda L, eta, p: F(L, 2) * (p - eta * L * p) ** 2 <= F(L, 2) * p**2,
        needs=lambda L, eta, p: eta * L <= 2,
        quantifier="open",
    ),
    Accusation(
        "gd_every_step",
        dict(
            title=TITLE,
            statement="If F is L-smooth, F(x_T) <= F(x_(T-1)) for every step size eta > 0.",
        ),
        {"smooth": "statement", **IN_TITLE},
        lambda: descend("gd_every_step", r.loss_T, r.loss_before, SMOOTH),
        "statement",
        "The statement insists on every step size, and steps longer than 2/L raise the loss.",
        dict(L=1, eta=3, p=1),
        lambda L, eta, p: F(L, 2) * (p - eta * L * p) ** 2 <= F(L, 2) * p**2,
        quantifier="for all",
    ),
    Accusation(
        "contraction_mu",
        dict(
            title=TITLE,
            statement="For mu-strongly convex (mu > 0), L-smooth F and all eta <= 2/L: "
            "|x_T - x*|^2 <= (1 - eta mu)^(2T) |x_0 - x*|^2.",
        ),
        {
            "smooth": "statement",
            "strongly_convex": "statement",
            "mu > 0": "statement",
            "L eta <= 2": "statement",
            **IN_TITLE,
        },
        lambda: descend(
            "contraction_mu",
            r.sq_distance_T,
            (1 - r.eta * r.mu) ** (2 * r.T) * r.sq_distance_0,
            *(SMOOTH, STRONGLY_CONVEX, r.mu > 0, r.eta * r.L <= 2),
        ),
        "statement",
        "Near 2/L the direction of curvature L decides: |1 - eta L| is above 1 - eta mu.",
        dict(L=1, mu=F(1, 10), eta=2, T=1, p=1),
        lambda L, mu, eta, T, p: ((1 - eta * L) ** T * p) ** 2 <= (1 - eta * mu) ** (2 * T) * p**2,
        quantifier="for all",
    ),
    Accusation(
        "contraction_listing",
        dict(
            title=TITLE,
            statement="For mu-strongly convex, L-smooth F with mu > 0: "
            "|x_T - x*|^2 <= (1 - eta mu)^(2T) |x_0 - x*|^2.",
            listing="Require: eta in (0, 2/(L + mu)]",
        ),
        {
            "smooth": "statement",
            "strongly_convex": "statement",
            "mu > 0": "statement",
            "eta (L + mu) <= 2": "text",
            **IN_TITLE,
        },
        lambda: descend(
            "contraction_listing",
            r.sq_distance_T,
            (1 - r.eta * r.mu) ** (2 * r.T) * r.sq_distance_0,
            *(SMOOTH, STRONGLY_CONVEX, r.mu > 0, r.eta * (r.L + r.mu) <= 2),
        ),
        "none",
        "The listing requires steps of at most 2/(L + mu), where 1 - eta mu is the larger factor.",
        dict(L=1, mu=F(1, 3), eta=F(3, 2), T=1, p=1),
        lambda L, mu, eta, T, p: ((1 - eta * L) ** T * p) ** 2 <= (1 - eta * mu) ** (2 * T) * p**2,
        quantifier="for all",
    ),
    Accusation(
        "gd_rate_source",
        dict(
            title=TITLE,
            statement="For convex, L-smooth F, F(x_T) - F* <= L |x_0 - x*|^2/(4T + 2) by [2].",
            source="[2] Theorem 3.1. Gradient descent with the step size 1/L satisfies ...",
        ),
        {"smooth": "statement", "convex": "statement", "L eta = 1": "source", **IN_TITLE},
        lambda: descend(
            "gd_rate_source",
            r.gap_T,
            r.L * r.sq_distance_0 / (4 * r.T + 2),
            *(SMOOTH, CONVEX),
            unstated=(Eq(r.eta * r.L, 1),),
        ),
        "hypothesis",
        "Shorter steps are slower; only the cited theorem fixes the step at 1/L.",
        dict(L=1, eta=F(1, 10), T=1, p=1),
        lambda L, eta, T, p: F(L, 2) * ((1 - eta * L) ** T * p) ** 2 <= F(L * p**2, 4 * T + 2),
        needs=lambda L, eta, T, p: eta * L == 1,
        quantifier="open",
    ),
    Accusation(
        "gd_rate_square",
        dict(
            title=TITLE,
            before="The next theorem is [2], theorem 3.1: L |x_0 - x*|^2/(4T + 2), best possible.",
            statement="For convex, L-smooth F and eta = 1/L, "
            "F(x_T) - F* <= L^2 |x_0 - x*|^2/(4T + 2).",
        ),
        {"smooth": "statement", "convex": "statement", "L eta = 1": "statement", **IN_TITLE},
        lambda: descend(
            "gd_rate_square",
            r.gap_T,
            r.L**2 * r.sq_distance_0 / (4 * r.T + 2),
            *(SMOOTH, CONVEX, Eq(r.eta * r.L, 1)),
        ),
        "misprint",
        "The sentence before has the bound with L; L^2 has the wrong unit.",
        # f(x) = a x - a^2/(2 L) from x = a/L on, where it joins L x^2/2; x_0 = 1 and T = 1
        dict(L=F(1, 2), a=F(1, 6)),
        lambda L, a: 1 - a / L >= a / L and a * (1 - a / L) - a**2 / (2 * L) <= L**2 / 6,
        intended=lambda: descend(
            "gd_rate_square.meant",
            r.gap_T,
            r.L * r.sq_distance_0 / (4 * r.T + 2),
            SMOOTH,
            CONVEX,
            Eq(r.eta * r.L, 1),
        ),
        meant=lambda L, a: a * (1 - a / L) - a**2 / (2 * L) <= L / 6,
    ),
    Accusation(
        "telescope",
        dict(
            statement="(a_0 - a_1) + (a_1 - a_2) = a_0 - a_1.",
            after="Only the first and the last term of a telescoping sum are left.",
        ),
        {},
        lambda: state("telescope", (x - y) + (y - z), "==", x - y),
        "misprint",
        "The sentence after says that the last term is left, which is a_2.",
        dict(p=5, q=3, s=2),
        lambda p, q, s: (p - q) + (q - s) == p - q,
        intended=lambda: state("telescope.meant", (x - y) + (y - z), "==", x - z),
        meant=lambda p, q, s: (p - q) + (q - s) == p - s,
    ),
    Accusation(
        "telescoped_half",
        dict(
            title=TITLE,
            statement="For L-smooth F and eta <= 1/L the mean of |grad F(x_t)|^2, t < T, is at most "
            "2 (F(x_0) - F*)/(eta T).",
            notation="F* > -infinity is the infimum of F.",
            proof="By the descent lemma the mean is at most (F(x_0) - F*)/(eta T), so the claim holds.",
        ),
        {"smooth": "statement", "bounded_below": "text", "L eta <= 1": "statement", **IN_TITLE},
        lambda: descend(
            "telescoped_half",
            r.mean_sq_grad,
            r.gap_0 / (r.eta * r.T),
            *(SMOOTH, BOUNDED_BELOW, r.eta * r.L <= 1),
            kind="step",
        ),
        "step",
        "The descent lemma gives twice the bound of the step, which is the theorem's bound.",
        dict(L=1, eta=1, p=1),  # T = 1
        lambda L, eta, p: (L * p) ** 2 <= F(L * p**2, 2) / eta,
        intended=lambda: descend(
            "telescoped_half.meant",
            r.mean_sq_grad,
            2 * r.gap_0 / (r.eta * r.T),
            SMOOTH,
            BOUNDED_BELOW,
            r.eta * r.L <= 1,
        ),
        meant=lambda L, eta, p: (L * p) ** 2 <= 2 * F(L * p**2, 2) / eta,
    ),
    Accusation(
        "last_iterate",
        dict(
            title=TITLE,
            statement="For L-smooth F, eta <= 1/L and the output x: E|grad F(x)|^2 <= "
            "2 (F(x_0) - F*)/(eta T).",
            notation="F* > -infinity is the infimum of F.",
            listing="7: return x, drawn uniformly from x_0, ..., x_(T-1)",
        ),
        {"lipschitz": "statement", "bounded_below": "text", "L eta <= 1": "statement", **IN_TITLE},
        lambda: descend(
            "last_iterate",
            r.sq_grad_T,
            2 * r.gap_0 / (r.eta * r.T),
            *(LIPSCHITZ, BOUNDED_BELOW, r.eta * r.L <= 1),
        ),
        "reading",
        "The bound fails at the last iterate; the listing returns a random one.",
        dict(p=F(1, 8), eta=1, T=3),
        lambda p, eta, T: (
            hill(climb_down(p, eta, T)[-1])[1] ** 2 <= 2 * (hill(p)[0] + 1) / (eta * T)
        ),
        intended=lambda: descend(
            "last_iterate.meant",
            r.mean_sq_grad,
            2 * r.gap_0 / (r.eta * r.T),
            LIPSCHITZ,
            BOUNDED_BELOW,
            r.eta * r.L <= 1,
        ),
        whose="reader",
        meant=lambda p, eta, T: (
            sum(hill(each)[1] ** 2 for each in climb_down(p, eta, T)[:-1]) / T
            <= 2 * (hill(p)[0] + 1) / (eta * T)
        ),
    ),
    Accusation(
        "mean_iterate_proof",
        dict(
            title=TITLE,
            statement="The mean of x_0, ..., x_(T-1) has at most the mean of their losses.",
            proof="This is Jensen's inequality, F being convex.",
        ),
        {"convex": "proof", **IN_TITLE},
        lambda: descend("mean_iterate_proof", r.gap_of_mean, r.gap_mean, unstated=(CONVEX,)),
        "hypothesis",
        "Between two valleys lies a hill; only the proof says that F is convex.",
        dict(p=3, eta=6, T=2),
        lambda p, eta, T: (
            hill(sum(climb_down(p, eta, T)[:-1]) / T)[0]
            <= sum(hill(each)[0] for each in climb_down(p, eta, T)[:-1]) / T
        ),
        needs=lambda p, eta, T: hill(F(1, 2))[1] >= hill(F(0))[1],
        quantifier="open",
    ),
    Accusation(
        "short_steps_proof",
        dict(
            title=TITLE,
            statement="For convex, L-smooth F the mean of F(x_t) - F*, t < T, is at most "
            "|x_0 - x*|^2/(2 eta T (1 - eta L)).",
            proof="Divide by 1 - eta L, which is positive as eta < 1/L.",
        ),
        {"smooth": "statement", "convex": "statement", "L eta < 1": "proof", **IN_TITLE},
        lambda: descend(
            "short_steps_proof",
            r.gap_mean,
            r.sq_distance_0 / (2 * r.eta * r.T * (1 - r.eta * r.L)),
            *(SMOOTH, CONVEX),
            unstated=(r.eta * r.L < 1,),
        ),
        "hypothesis",
        "With eta > 1/L the bound is negative; only the proof divides by a positive number.",
        dict(L=1, eta=2, p=1),  # T = 1
        lambda L, eta, p: F(L * p**2, 2) <= F(p**2, 2 * eta * (1 - eta * L)),
        needs=lambda L, eta, p: eta * L < 1,
        quantifier="open",
    ),
)

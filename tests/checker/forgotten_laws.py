"""Statements about random quantities, drawn with all of their probability laws or with some left
out: a law that is not written must not be assumed.

By hand, without each law. Uniform cohorts: for gradients 3, 0, 0, the first client always works;
its gradient lies 2 from their mean, and their variance is 2. Independent noise: two clients with
one shared draw of variance 1 have a mean of variance 1, not 1/2, and one draw in every step drives
x^2/2 to the draw's own variance. Unbiased noise: a gradient that is always 1 too large has a mean
square error of 1 however many are averaged, and a step along it leads uphill. Equal weights: F may
give weight 1 to the client that is worst for a cohort's plain mean.
"""

from random import Random
from typing import NamedTuple

import sympy
from sympy import Eq, Rational

from fedtheory.language.claim import Claim
from fedtheory.language.conditions import (
    DISSIMILAR,
    EQUAL_WEIGHTS,
    EXACT_GRADIENTS,
    INDEPENDENT,
    LIPSCHITZ,
    NOISE,
    STRONGLY_CONVEX,
    UNIFORM_COHORT,
)
from fedtheory.symbols import run
from fedtheory.symbols.run import G, G_t_sq, L, N, S, T, eta, mu, rho_s, sigma


class Base(NamedTuple):
    """A true statement, and the probability laws that the statement needs: without any one of them
    the statement is false."""

    left: sympy.Expr
    right: sympy.Expr  # the right side without chance
    chance: sympy.Expr  # the largest term that chance adds
    assumes: tuple
    needs: tuple
    algorithm: str | None = None


COHORT = sigma**2 / S + rho_s * G_t_sq / S
EVERY = (NOISE, INDEPENDENT, UNIFORM_COHORT, EQUAL_WEIGHTS)
ONE_ROUND = run.loss_0 - eta * run.sq_grad_0 / 2
BASES = dict(
    error=Base(run.cohort_error, sympy.Integer(0), COHORT, (), EVERY),
    square=Base(run.cohort_square, run.sq_grad, COHORT, (), EVERY),
    floor=Base(
        run.sq_distance_T,
        (1 - eta * mu) ** (2 * T) * run.sq_distance_0,
        eta * sigma**2 / (N * mu * (2 - eta * mu)),
        (LIPSCHITZ, STRONGLY_CONVEX, Eq(S, N), eta * L <= 1),
        (NOISE, INDEPENDENT),
        "fedsgd",
    ),
    descent=Base(
        run.loss_T,
        ONE_ROUND,
        L * eta**2 * sigma**2 / 2,
        (LIPSCHITZ, Eq(N, 1), Eq(T, 1), eta * L <= 1),
        (NOISE,),
        "fedsgd",
    ),
    sampling=Base(
        run.loss_T,
        ONE_ROUND,
        L * eta**2 * rho_s * G**2 / (2 * S),
        (LIPSCHITZ, DISSIMILAR, EXACT_GRADIENTS, Eq(T, 1), eta * L <= 1),
        (UNIFORM_COHORT,),
        "fedsgd",
    ),
)


def forgotten(seed: int) -> tuple[Claim, bool]:
    """Draw (statement, whether the statement is true); in two of three draws some of the
    statement's probability laws are left out."""
    random = Random(f"forgotten/{seed}")
    name = random.choice(sorted(BASES))
    base = BASES[name]
    few = random.randint(1, len(base.needs)) if random.random() < 2 / 3 else 0
    lost = random.sample(base.needs, few)
    room = random.choice([Rational(1), Rational(1), Rational(9, 8)])
    kept = [law for law in base.needs if law not in lost]
    claim = Claim(
        id=f"forgotten.{name}",
        cites="nobody",
        symbols=run.TABLE,
        algorithm=base.algorithm,
        assumes=(*base.assumes, *random.sample(kept, len(kept))),
        measures=base.left,
        relation="<=",
        bound=base.right + room * base.chance,
    )
    return claim, not lost


def allowed_statuses(true: bool) -> set[str]:
    """Return the statuses allowed for a statement that is true, or for one that is not."""
    return {"proved", "holds", "undecided"} if true else {"violated", "undecided"}

"""Orders and equivalences, drawn at random, whose truth is known without a search.

Over all positive numbers, a monomial is at most a constant times a sum of monomials exactly if its
powers lie in the convex hull of the sum's powers. The power of a count, which is at least 1, may
also be lowered to any smaller power.
"""

from random import Random

import numpy as np
import sympy
from scipy.optimize import linprog
from sympy import Rational

from fedtheory.language.claim import Claim, Same
from fedtheory.language.symbol import Table
from fedtheory.symbols.fsl import TABLE as FSL
from tests.checker.adversarial_claims import FALSE, TRUE

TABLE = Table("mine")
SYMBOLS = [
    TABLE.positive("a", "a", "a number"),
    TABLE.positive("b", "b", "a number"),
    TABLE.count("n", "n", "a count"),
]
FREE = TABLE.positive("c", "c", "a number of which the shape says nothing")
POWERS = [0, 0, 1, 1, 2, -1, Rational(1, 2), Rational(-1, 2)]


def draw_monomial(random):
    return [random.choice(POWERS) for _ in SYMBOLS]


def monomial_product(powers):
    return sympy.prod([s**k for s, k in zip(SYMBOLS, powers)])


def is_dominated(powers, shape):
    """Tell whether a monomial is at most a constant times the sum of the monomials in `shape`."""
    shape = np.array(shape, dtype=float)
    count = [float(s.is_integer or 0) for s in SYMBOLS]
    # The weights add up to 1. The weighted sum of the powers equals the monomial's power, or is at
    # least that power for a count.
    equal = [k for k, way in enumerate(count) if not way]
    more = [k for k, way in enumerate(count) if way]
    found = linprog(
        np.zeros(len(shape)),
        A_ub=-shape[:, more].T,
        b_ub=[-float(powers[k]) for k in more],
        A_eq=np.vstack([shape[:, equal].T, np.ones(len(shape))]),
        b_eq=[*(float(powers[k]) for k in equal), 1.0],
        bounds=[(0, None)] * len(shape),
    )
    return bool(found.success)


def draw_order(seed):
    """Draw (claim, whether the claim is true) for an order between sums of monomials."""
    random = Random(f"order/{seed}")
    while True:
        left = [draw_monomial(random) for _ in range(random.choice((1, 1, 2)))]
        shape = [draw_monomial(random) for _ in range(random.choice((1, 2, 3)))]
        mentioned = set().union(*(monomial_product(m).free_symbols for m in shape))
        if any(monomial_product(m).free_symbols for m in left) and all(
            monomial_product(m).free_symbols <= mentioned for m in left
        ):  # the constant may depend on the other symbols
            break
    terms = [random.choice((1, 3, Rational(1, 7))) * monomial_product(m) for m in left]
    terms[0] *= FREE ** random.choice((0, 0, 1, -1))
    claim = Claim(
        id="mine.order",
        cites="nobody",
        kind="order",
        symbols=TABLE,
        measures=sum(terms),
        relation="O",
        bound=sum(monomial_product(m) for m in shape),
    )
    return claim, all(is_dominated(m, shape) for m in left)


# (a method, its fixed hyper-parameters, another method, its fixed hyper-parameters, shared
# hyper-parameters, whether the two are equivalent)
EQUIVALENCES = (
    ("fsl", dict(gamma=0.0), "fedavg", dict(weighting="plain"), ("eta_l", "eta_g", "K"), True),
    ("fsl", dict(gamma=0.0, K_0=3), "fsl", dict(gamma=0.0, K_0=1), ("eta_l", "eta_g", "K"), True),
    ("fsl", dict(gamma=0.5), "fedavg", dict(weighting="plain"), ("eta_l", "eta_g", "K"), False),
    ("fsl", dict(gamma=0.0, K=1), "fsl", dict(gamma=0.0, K=2), ("eta_l", "eta_g"), False),
    ("fedavg", dict(K=1), "fedavg", dict(K=1), ("eta_l", "eta_g"), True),
    ("fedavg", dict(K=1), "fedavg", dict(K=2), ("eta_l", "eta_g"), False),
    ("fedavg", dict(eta_g=1.0), "fedavg", dict(eta_g=2.0), ("eta_l", "K"), False),
    ("one_way_gt", dict(K=2), "parallel_training", dict(K=2, eta_m=1.0), ("eta", "eta_s"), False),
)


def draw_equivalence(which):
    """Return (claim, whether the claim is true) for two methods that are said to give the same
    points."""
    one, fixed, other, also, shared, truth = EQUIVALENCES[which]
    return Claim(
        id="mine.structure",
        cites="nobody",
        kind="structure",
        symbols=FSL,
        says="Alike.",
        same=(Same(one, fixed, other, also, shared=shared),),
    ), truth


def draw_cells(seed):
    """Draw (claim, whether the claim is true) for printed cells beside computed ones."""
    random = Random(f"cells/{seed}")
    computed = {
        f"cell {k}": random.choice(
            [random.randint(0, 99), Rational(random.randint(1, 9), 7), (3, 3, 64), "word"]
        )
        for k in range(random.randint(1, 4))
    }
    printed, truth = dict(computed), random.random() < 0.5
    if not truth:
        cell = random.choice(sorted(printed))
        printed[cell] = (printed[cell], 1)
    return Claim(
        id="mine.cells",
        cites="nobody",
        kind="structure",
        symbols=FSL,
        says="So it is printed.",
        printed=printed,
        compute=lambda: computed,
    ), truth


def allowed_statuses(truth):
    return TRUE if truth else FALSE

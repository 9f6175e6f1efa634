"""Bounds of known truth, compared with runs: each bound is the exact value of the measured
quantity, or a share of that value.

On quadratics of one curvature the distance to the minimiser has a closed form for any noise and any
uniform cohort. A round of K steps of size eta multiplies the distance of the server's point by q^K,
q = 1 - eta L, and adds the terms of the cohort and of the noise. A bound equal to this value is
true, with equality; a fraction of it is false at every T.

    python -m tests.checker.compared_bounds                  # 2,000 true and 2,000 false bounds
    python -m tests.checker.compared_bounds --count 100
"""

import argparse
import sys
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from sympy import Rational

import fedtheory as ft
from fedtheory.language.claim import Claim
from fedtheory.symbols import run as house

SHARES = {"true": Fraction(1), "half": Fraction(1, 2), "nine tenths": Fraction(9, 10)}
# step sizes as multiples of 1/L
STEPS = [Fraction(k, 32) for k in (1, 4, 8, 16, 24, 28, 36, 40, 48, 56)]
FALSE = tuple(name for name in SHARES if name != "true")


class Case(NamedTuple):
    """A bound on a problem, and the arguments of `ft.compare` for that bound."""

    claim: Claim
    problem: object
    settings: dict


def exactly(values):
    return [Fraction(float(value)) for value in np.ravel(values)]


def square(one, other):
    return sum(((a - b) ** 2 for a, b in zip(one, other)), Fraction(0))


def rational(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)


def draw_bound(seed: int, share: Fraction) -> Case:
    """Draw a quadratic with one curvature, a way to run FedAvg or FedSGD on that quadratic, and a
    bound that is a share of the exact value."""
    rng = np.random.default_rng([seed, 1841])
    N, d, rounds = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 61))
    L = Fraction(int(rng.choice([1, 2, 8])), int(rng.choice([1, 4])))
    where, apart = rng.choice([0.0, 0.0, 1.0, 30.0]), rng.choice([0.0, 0.5, 2.0])
    centre = where * rng.standard_normal(d)
    b = centre + apart * rng.standard_normal((N + 1, d))
    sigma = Fraction(int(rng.choice([0, 0, 1, 3])), 8)
    S = int(rng.integers(1, N + 1))
    noisy = bool(sigma) or (S < N and apart > 0)
    K, eta = int(rng.integers(1, 4)), STEPS[rng.integers(len(STEPS))] / L
    x_0 = centre + rng.standard_normal(d)
    problem = ft.problems.quadratic_from_arrays(
        [float(L)] * d, b, sigma=float(sigma), noise=str(rng.choice(["gaussian", "rademacher"]))
    )
    points = [exactly(row) for row in b[1:]]
    star = [sum(column) / N for column in zip(*points)]
    G_sq = sum(square(point, star) for point in points) / N
    D, q = square(exactly(x_0), star), 1 - eta * L
    spread = Fraction(N - S, S * (N - 1)) * G_sq if N > 1 else Fraction(0)
    noise = eta**2 * sigma**2 * sum(q ** (2 * k) for k in range(K)) / S
    added, kept = (1 - q**K) ** 2 * spread + noise, q ** (2 * K)
    metric, unit = [
        (house.sq_distance_T, Fraction(1)),
        (house.gap_T, L / 2),
        (house.sq_grad_T, L**2),
    ][rng.integers(3)]
    level = added / (1 - kept)
    value = rational(unit * level) + rational(unit * (D - level)) * rational(kept) ** house.T
    single = K == 1 and bool(rng.integers(2))
    claim = Claim(
        id="mine.share_of_the_value",
        cites="a closed form",
        symbols=house.TABLE,
        algorithm="fedsgd" if single else "fedavg",
        measures=metric,
        bound=rational(share) * value,
    )
    steps = dict(eta=float(eta)) if single else dict(eta_l=float(eta), K=K)
    exact = noisy or bool(rng.integers(4))  # a deterministic run is its own expectation
    return Case(claim, problem, dict(rounds=rounds, x_0=x_0, S=S, trials=2, exact=exact, **steps))


def answer(seed: int, kind: str) -> str:
    """Return the answer of `ft.compare` about a bound: "holds" (at every T), "violated", or
    neither."""
    case = draw_bound(seed, SHARES[kind])
    found = ft.compare(case.claim, case.problem, **case.settings)
    if found.exceeded is not None:
        return "violated"
    return "undecided" if "undecided" in found.says else "holds"


def wrong(kind: str, said: str) -> bool:
    """Tell whether an answer is false; "undecided" never is."""
    return said == ("violated" if kind == "true" else "holds")


def count(number: int) -> dict[str, Counter]:
    """Return the answers to `number` true bounds and as many false bounds, counted by kind."""
    found: dict[str, Counter] = {kind: Counter() for kind in SHARES}
    for seed in range(number):
        for kind in ("true", FALSE[seed % len(FALSE)]):
            found[kind][answer(seed, kind)] += 1
    return found


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.checker.compared_bounds")
    parser.add_argument(
        "--count", type=int, default=2000, help="true bounds, and false ones (2000)"
    )
    found, bad = count(parser.parse_args(arguments).count), 0
    for kind, answers in found.items():
        said = ", ".join(f"{number} {status}" for status, number in sorted(answers.items()))
        print(f"{kind}: {sum(answers.values())} bounds, {said}")
        bad += sum(number for status, number in answers.items() if wrong(kind, status))
    print(f"{bad} wrong answers")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""Equivalence of two ways to run, which are said to give the same points, tested on drawn
quadratics.

Where the claim allows it, instances have noise and partial participation. A plain function is
compared at full participation and without noise, because it describes no other case.
"""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory import discover
from fedtheory.algorithm import Field
from fedtheory.certificates.documents import parse_fraction
from fedtheory.language.claim import Claim
from fedtheory.language.statements import Same
from fedtheory.problem import Problem
from fedtheory.problems.quadratics import quadratic_from_arrays
from fedtheory.runs.running import run

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim
    from fedtheory.language.statements import Same

# Differences over the largest coordinate.
ALIKE = 1e-10  # rounding explains a smaller difference
APART = 1e-6  # a larger difference is far beyond rounding
SHAKEN = 1e-12  # share by which the data are perturbed, above rounding
# Factor: the gap between two paths has to exceed CALM times the change of either path under this
# perturbation, so that instability explains no gap.
CALM = 100

Way = str | Callable  # an algorithm, or a plain function that returns the path
Instance = dict[str, Any]


class ShortestDifference(NamedTuple):
    """An instance with the fewest rounds after which two ways to run differ."""

    gap: float  # over the largest coordinate
    instance: Instance
    paths: tuple[np.ndarray, np.ndarray]


def side_label(one: Way) -> str:
    return str(getattr(one, "name", getattr(one, "__name__", one)))


def draw_instance(claim: Claim, same: Same, random: Random, n: int) -> Instance | None:
    """Return plain data of the n-th instance, larger for larger n; None where the claim's
    conditions fail on it."""
    d, N = 1 + n // 4 % 2, same.clients or 1 + n % 4
    deterministic = callable(same.other)
    small = lambda low, high, part: Fraction(random.randint(low * part, high * part), part)
    asked = {a.name: a.condition for a in claim.assumptions if a.condition is not None}
    exact = deterministic or "exact_gradients" in asked or random.random() < 0.5
    shares = [1 if "equal_weights" in asked else random.randint(1, 4) for _ in range(N)]
    instance = dict(
        A=[[str(small(0, 2, 4)) for _ in range(d)] for _ in range(N + 1)],
        b=[[str(small(-2, 2, 2)) for _ in range(d)] for _ in range(N + 1)],
        weights=[str(Fraction(share, sum(shares))) for share in shares],
        sigma="0" if exact else str(small(1, 2, 2)),
        x=[str(small(-2, 2, 2)) for _ in range(d)],
        S=N if deterministic else random.randint(1, N),
        rounds=1 + n % 5,
        seed=random.randint(0, 10**6),
        hyper={name: choose_hyper(field, random) for name, field in free_fields(same).items()},
    )
    setup = SimpleNamespace(cohort="full" if instance["S"] == N else "without", partial=False)
    return (
        instance
        if all(condition(problem_of(instance), setup) for condition in asked.values())
        else None
    )


def free_fields(same: Same) -> dict[str, Field]:
    """Return the mapping name -> Field of the fields that may be drawn: shared fields, and required
    fields of a method that the claim leaves open."""
    found = {}
    for one, fixed in ((same.one, same.fixed), (same.other, same.other_fixed)):
        if not callable(one):
            found.update(
                {
                    name: field
                    for name, field in discover.algorithm(one).hyper.items()
                    if name not in fixed and (name in same.shared or field.default is None)
                }
            )
    return found


def choose_hyper(field: Field, random: Random) -> str:
    """Draw a value of a field, as text."""
    if field.integer:
        return str(random.randint(max(1, int(field.low)), max(1, int(field.low)) + 2))
    return str(Fraction(random.randint(1, 5), 16))


def problem_of(instance: Instance) -> Problem:
    """Return the quadratic problem of an instance."""
    rows = lambda name: np.array(
        [[float(parse_fraction(v)) for v in row] for row in instance[name]]
    )
    A, sigma = rows("A"), float(parse_fraction(instance["sigma"]))
    if len(A) == A.shape[1]:  # a square array would be read as a single matrix
        A = np.array([np.diag(row) for row in A])
    return quadratic_from_arrays(
        A,
        rows("b"),
        sigma=sigma,
        sigma_0=sigma,
        weights=[float(parse_fraction(w)) for w in instance["weights"]],
    )


def visited_points(one: Way, fixed: dict, same: Same, instance: Instance) -> np.ndarray:
    """Return the points that one side of an equivalence visits on an instance."""
    problem, x = problem_of(instance), np.array([float(parse_fraction(v)) for v in instance["x"]])
    fields = free_fields(same)
    hyper = {
        name: int(v) if fields[name].integer else float(parse_fraction(v))
        for name, v in instance["hyper"].items()
    }
    if callable(one):
        return np.array(
            one(
                problem,
                x,
                instance["rounds"],
                **{name: hyper[name] for name in same.shared},
                **fixed,
            )
        )
    known = discover.algorithm(one).hyper
    return run(
        problem,
        one,
        rounds=instance["rounds"],
        x_0=x,
        S=instance["S"],
        seed=instance["seed"],
        keep="x",
        **{name: v for name, v in hyper.items() if name in known and name not in fixed},
        **fixed,
    ).x[0]


def path_difference(same: Same, instance: Instance) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    """Return (largest difference of the two paths over their largest coordinate, both paths)."""
    paths = (
        visited_points(same.one, same.fixed, same, instance),
        visited_points(same.other, same.other_fixed, same, instance),
    )
    gap = apart_by(*paths, instance)
    return (gap if np.isfinite(gap) else 0.0), paths


def apart_by(one: np.ndarray, other: np.ndarray, instance: Instance) -> float:
    """Return the largest difference of two paths over the largest coordinate of the paths and of
    the data."""
    data = [abs(float(parse_fraction(v))) for row in (*instance["b"], instance["x"]) for v in row]
    return float(abs(one - other).max() / max(abs(one).max(), abs(other).max(), *data, 1e-300))


def is_apart(same: Same, instance: Instance) -> bool:
    """Tell whether the paths differ by more than rounding explains: the gap is large, and a small
    perturbation of the data changes each path by much less than the gap."""
    gap, paths = path_difference(same, instance)
    random = Random(0)
    moved = lambda v: str(
        parse_fraction(v) * (1 + Fraction(random.choice([-1, 1])) * Fraction(SHAKEN))
    )
    shaken = dict(
        instance,
        **{name: [list(map(moved, row)) for row in instance[name]] for name in ("A", "b")},
        x=list(map(moved, instance["x"])),
    )
    steady = [
        apart_by(before, after, instance)
        for before, after in zip(paths, path_difference(same, shaken)[1])
    ]
    return gap > APART and all(CALM * each < gap for each in steady)


def make_plainer(same: Same, instance: Instance) -> Instance:
    """Return the instance with all clients and without noise, if the two ways differ there too,
    because such an instance can be checked without random draws; otherwise return the instance
    unchanged."""
    plain = dict(instance, S=len(instance["b"]) - 1, sigma="0")
    return plain if is_apart(same, plain) else instance


def shorten_rounds(same: Same, instance: Instance) -> ShortestDifference:
    """Return the difference, the instance and the paths with the fewest rounds after which the two
    ways differ."""
    for rounds in range(1, instance["rounds"] + 1):
        fewer = dict(instance, rounds=rounds)
        gap, paths = path_difference(same, fewer)
        if is_apart(same, fewer):
            return ShortestDifference(gap, fewer, paths)
    raise AssertionError("a difference that a rerun does not show")

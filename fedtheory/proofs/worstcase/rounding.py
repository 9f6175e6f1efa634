"""Rounding of a solver's floats to fractions that meet all conditions, by exact linear algebra and
steps towards the interior."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.certificates.check_worst_case import add_sums, is_semidefinite
from fedtheory.typing import Number

FINE = 2**50  # the common denominator of rounded floats
# Steps towards a solution well inside, as shares of the way, the smallest first.
STEPS = [Fraction(2) ** -k for k in range(50, -1, -2)]


def next_power(value: Number) -> Fraction:
    """Return the power of two nearest to a positive number on the logarithmic scale, as a fraction."""
    return Fraction(2) ** round(np.log2(float(value)))


def round_fine(value: float) -> Fraction:
    """Return the nearest fraction with the denominator FINE."""
    return Fraction(round(float(value) * FINE), FINE)


def balance_multipliers(
    multipliers: Any, equations: Sequence[dict[int, Fraction]], last: int
) -> list[Fraction] | None:
    """Return the multipliers, changed where they are largest so that the equations hold exactly, or
    None where this fails.

    `equations[n]` is {row: coefficient} of multiplier n. The row `last` has to sum to 1, and every
    other row to 0.

    The largest multipliers are changed, because a small change keeps them nonnegative.
    """
    rest = add_sums(
        (1, {last: Fraction(1)}),
        *((-value, line) for value, line in zip(multipliers, equations) if value),
    )
    pivots = []
    for n in sorted(range(len(multipliers)), key=lambda n: -multipliers[n]):
        if len(pivots) == last + 1:
            break
        line, origin = equations[n], {n: Fraction(1)}
        for at, pivot, made in pivots:
            if at in line:
                line, origin = (
                    add_sums((1, line), (-line[at], pivot)),
                    add_sums((1, origin), (-line[at], made)),
                )
        if line:
            at = min(line)
            pivots.append((at, add_sums((1 / line[at], line)), add_sums((1 / line[at], origin))))
    multipliers = list(multipliers)
    for at, pivot, made in pivots:
        if at in rest:
            factor = rest[at]
            rest = add_sums((1, rest), (-factor, pivot))
            for n, value in made.items():
                multipliers[n] += factor * value
    return None if rest else multipliers


def largest_step(near: Any, inner: Any, forms: Any, inner_forms: Any) -> Number:
    """Return the first step t in STEPS towards `inner` at which all numbers are nonnegative and all
    forms semidefinite. Return None if no step achieves this."""
    for t in STEPS:
        if all(value >= 0 for value in mix_lists(t, near, inner)) and all(
            map(is_semidefinite, mix_lists(t, forms, inner_forms))
        ):
            return t


def mix_lists(
    t: Number, near: Any, inner: Any
) -> Fraction | list[Fraction | list[Fraction | list[Fraction]]]:
    """Return (1 - t) near + t inner of nested lists."""
    if isinstance(near, Fraction):
        return (1 - t) * near + t * inner
    return [mix_lists(t, a, b) for a, b in zip(near, inner)]


def visible_coordinates(forms: Sequence[dict[tuple[int, int], Fraction]], r: int) -> list[int]:
    """Return pivot coordinates of the joint row space of the forms. The forms vanish on a
    complement of these coordinates, which may be omitted."""
    rows, pivots = [], []
    for form in forms:
        for row in square_matrix(form, r):
            row = {n: value for n, value in enumerate(row) if value}
            for at, pivot in zip(pivots, rows):
                if at in row:
                    row = add_sums((1, row), (-row[at], pivot))
            if row:
                at = min(row)
                rows.append(add_sums((1 / row[at], row)))
                pivots.append(at)
        if len(pivots) == r:
            break
    return sorted(pivots)


def square_matrix(form: Mapping[tuple[int, int], Fraction], r: int) -> list[list[Fraction]]:
    """Return the symmetric matrix of size r of a quadratic form {(i, j): coefficient}, i <= j."""
    half = lambda i, j: form.get((min(i, j), max(i, j)), Fraction(0)) / (1 if i == j else 2)
    return [[half(i, j) for j in range(r)] for i in range(r)]

"""The ratio that measures how nearly a line fails, and the terms over which the ratio is formed.

The gap of a line, right minus left, is a sum of terms. Losses and inner products count together as
one term, because only their differences have a meaning. A term that stands on both sides cancels.
Every other term counts by itself. The *plain* ratio is the sum of the negative terms, in absolute
value, over the sum of the positive terms. Where all terms of both sides are nonnegative, the plain
ratio is left over right.

For a theorem on one round, the plain ratio is near 1 wherever nothing is random and the loss falls
as promised. It then says nothing about the constants of noise and drift. Therefore a line is rated
against its weakened bound (`Claim.weakened`), a false bound recorded with the claim. Let s be the part of
the bound that the weakened bound lacks. The ratio is 1 - gap/s, the share of s that the instance
needs. Without a weakened bound, s is the sum of the terms that raise the bound if the line has
losses; any other line is rated by its plain ratio. For every s, the ratio is above 1 exactly where
the line fails.
"""

from collections.abc import Callable, Sequence, Set
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from fedtheory.arithmetic import operations
from fedtheory.arithmetic.operations import ends_of

HIDDEN = 1e-7  # a share of the terms' size: rounding hides a smaller gap
OVER = 1.0 + 1e-9  # rounding alone does not explain a ratio above this
# A share of the terms' size: a gap that is negative by less is no failure. Where the terms of the
# gap are hardly above HIDDEN, the last digits of a loss give a ratio of 1 + 1e-9.
LAST_DIGITS = 2.0**-48
LOW = -0.9995  # the score of an instance inside the hypotheses at which the ratio has no value
LARGEST = 2000  # operations of the largest bound that is multiplied out


class Rating:
    """The terms over which a line is rated: `terms` of its gap, `net` terms that count together,
    and, unless the plain ratio is used, the terms `over` whose sum is s."""

    def __init__(
        self,
        left: sympy.Expr,
        right: sympy.Expr,
        way: int,
        real: Set[str],
        weakened: Any = None,
        over: Sequence[sympy.Expr] | None = None,
    ) -> None:
        self.way = way
        self.terms, self.net = split_terms(left, right, way, real)
        # `over`: the terms of the gap whose sum is s. `rest`: the other terms.
        self.over, self.rest = (
            self._over_weakened(left, right, weakened) if over is None else (over, None)
        )
        if self.over and self.rest is None:
            gap = sympy.Add(*self.terms, *self.net) - sympy.Add(*self.over)
            self.rest = sympy.Add.make_args(gap)
        # A single term has no other term to be compared with.
        self.mute = not self.over and way != 0 and len(self.terms) + bool(self.net) < 2

    def _over_weakened(
        self, left: sympy.Expr, right: sympy.Expr, weakened: Any
    ) -> tuple[tuple[sympy.Expr, ...], Any]:
        """Return (terms `over` whose sum is s, the other terms of the gap), both empty where the
        plain ratio is used. s is what the bound has beyond the weakened bound; without one, the
        terms that raise the bound, if the line has losses."""
        if self.way == 0:
            return (), ()
        raising = tuple(t for t in self.terms if not t.could_extract_minus_sign())
        if weakened is not None and (found := terms_beyond(right, weakened, self.way))[0]:
            over, kept = found
            if self.net or set(over) != set(raising):
                return over, (*kept, *(-self.way * e for e in sympy.Add.make_args(left)))
            return (), ()
        if self.net and raising:
            return raising, None
        if not self.terms and weakened is not None:
            return (self.way * (right - weakened),), None
        return (), ()

    # Many instances at once

    def pulls(
        self, value: Callable[..., Any], size: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (sum of terms that raise the gap, sum of terms that lower the gap, size of the
        terms), as in the plain ratio. For an equation, return the size of its terms, the absolute
        gap and the size again."""
        terms = [value(e) for e in self.terms]
        together = [value(e) for e in self.net]
        scale = sum((abs(t) for t in (*terms, *together)), np.zeros(size))
        groups = terms + ([sum(together)] if together else [])
        if self.way == 0:
            return scale, abs(sum(groups)), scale
        up = sum((np.maximum(g, 0.0) for g in groups), np.zeros(size))
        down = sum((np.maximum(-g, 0.0) for g in groups), np.zeros(size))
        return up, down, scale

    def scores(self, value: Callable[..., Any], size: int, strict: bool) -> np.ndarray:
        """Return the ratio as a column, negative where not even the part below s is needed, and the
        plain ratio as a second column where it differs. NaN marks vanishing sides, or a gap hidden
        by rounding, which counts against a strict line."""
        with np.errstate(all="ignore"):
            up, down, scale = self.pulls(value, size)
            if self.way == 0:
                found = np.where(up > 0, 1.0 + down / up, np.where(up == 0, 1.0, np.nan))
                return found[:, None]  # 0 = 0 holds
            hidden = np.where(np.isfinite(scale), 0.0, np.nan) if strict else np.nan
            up, down = np.where(up + down > HIDDEN * scale, (up, down), hidden)
            level = 1.0 if strict else np.nan
            plain = np.where(
                up > 0, down / up, np.where(down > 0, np.inf, np.where(down == 0, level, np.nan))
            )
            plain = np.where(down - up > LAST_DIGITS * scale, plain, np.minimum(plain, 1.0))
            if not self.over:
                return plain[:, None]
            gap, over = up - down, [value(e) for e in self.over]
            s = sum(np.maximum(e, 0.0) for e in over)
            ratio = sum((np.maximum(-e, 0.0) for e in over), -sum(map(value, self.rest))) / s
            ratio = np.where(ratio < 0, 0.999 * ratio / (1.0 - ratio), ratio)
            ratio = np.where((s > 0) & (s + abs(gap) > HIDDEN * scale), ratio, LOW)
            ratio = np.where(plain > OVER, np.fmax(ratio, plain), np.minimum(ratio, 1.0))
            silent = np.isnan(plain) | (up == down) & (up == 0)
            return np.column_stack([np.where(silent, plain, np.nan_to_num(ratio, nan=LOW)), plain])

    # One instance, exactly

    def exactly(self, bounded: Callable[..., Any], violated: bool, strict: bool) -> float | None:
        """Return the ratio as a float from values of `bounded`. The result is None where both sides
        vanish, and 0 where the line needs none of the terms that it is rated over."""
        if self.way == 0:
            return 1.0 if not violated else float("inf")
        groups = [bounded(e) for e in self.terms]
        groups += [sum(bounded(e) for e in self.net)] if self.net else []
        up = sum((operations.positive_part(g) for g in groups), Fraction(0))
        down = sum((operations.positive_part(-g) for g in groups), Fraction(0))
        if ends_of(up)[1] <= 0:
            return float("inf") if ends_of(down)[1] > 0 else 1.0 if strict else None
        if self.over:
            gap = up - down
            up = sum((operations.positive_part(bounded(e)) for e in self.over), Fraction(0))
            if ends_of(up)[1] <= 0:  # s is 0: the bound equals its weakened bound here
                return float("inf") if violated else 0.0 if ends_of(gap)[0] > 0 else None
            down = operations.positive_part(up - gap)
        if ends_of(up)[0] <= 0:
            return None
        try:
            return float(down / up)
        except OverflowError:
            return float("inf")


def split_terms(
    left: sympy.Expr, right: sympy.Expr, way: int, real: Set[str]
) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """Return (terms of the gap that count separately, terms that count together). `real` holds the
    names of losses and inner products."""
    up, down = (right, left) if way >= 0 else (left, right)
    raises, lowers = (list(sympy.Add.make_args(side)) for side in (up, down))
    for term in [term for term in raises if term in lowers]:
        if len(raises) > 1 or len(lowers) > 1:
            raises.remove(term)
            lowers.remove(term)
    parts = [part for part in (*raises, *(-part for part in lowers)) if part != 0]
    together = [part for part in parts if real & {s.name for s in part.free_symbols}]
    return [part for part in parts if part not in together], together


@lru_cache(maxsize=4096)
def terms_beyond(
    right: sympy.Expr, weakened: Any, way: int = 1
) -> tuple[tuple[sympy.Expr, ...], tuple[sympy.Expr, ...]]:
    """Return (terms of a bound that the weakened bound lacks wholly or in part and that raise the
    bound, its other terms). Return two empty tuples where weakened bound and bound share no term.
    """
    terms, fewer = sympy.Add.make_args(right), sympy.Add.make_args(weakened)
    if not set(fewer) < set(terms):
        if right.count_ops() + weakened.count_ops() > LARGEST:
            return (), ()
        terms, fewer = (sympy.Add.make_args(sympy.expand(e)) for e in (right, weakened))
    kept = set(fewer)
    if not kept & set(terms):  # the weakened bound has another form
        return (), ()
    raises = lambda term: term not in kept and not (way * term).could_extract_minus_sign()
    over = tuple(way * term for term in terms if raises(term))
    return over, tuple(way * term for term in terms if not raises(term))

"""Verdicts from draws: E(left) <= right with right exact, and one error budget for all claims of a campaign.

The evidence is the betting e-process of `confidence`: by Ville's inequality it may be looked at after every
draw. Never evidence: a draw that is not finite, or below what the claim says left can be.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.checks.confidence import EMPTY_HANDED, bet, lower
from fedtheory.errors import refuse

FRESH = 2**40    # trials from here on are kept for confirmation
PIECE = 2**14    # draws asked for at once, at most


class Budget(NamedTuple):
    """The chance alpha of any false alarm, shared by name before anything is drawn.

    A claim's share is by weight; its k-th attempt (an instance, a repetition) gets 1 / (k (k + 1)) of that,
    which sums to 1: instances may be added for ever. Order and outcome of other claims do not matter.
    """

    alpha: float
    weights: dict    # claim -> positive weight, every claim of the campaign

    def level(self, claim, attempt=1):
        """The alpha of one attempt at a claim, rounded down."""
        if not 0 < self.alpha < 1:
            refuse("alpha", "must lie in (0, 1)", self.alpha)
        for name, weight in self.weights.items():
            if not 0 < weight < np.inf:
                refuse(f"the weight of {name}", "must be positive and finite", weight)
        if claim not in self.weights:
            refuse("claim", "must be one that the budget was made for", claim)
        if int(attempt) != attempt or attempt < 1:
            refuse("attempt", "must be a positive integer", attempt)
        total = sum(Fraction(weight) for weight in self.weights.values())
        exact = Fraction(self.alpha) * Fraction(self.weights[claim]) / total / (int(attempt) * (int(attempt) + 1))
        return float(exact) if Fraction(float(exact)) <= exact else float(np.nextafter(float(exact), 0.0))


class Sampled(NamedTuple):
    status: str         # "violated", "not refuted", "undecided"
    e_value: float      # against E(left) <= right, when drawing stopped; None where undecided
    draws: int          # all that were used
    lower: float        # below E(left) with confidence 1 - alpha; None where undecided
    tightness: float    # lower / right; None where undecided or right <= 0
    reason: str = ""


class _Seen(NamedTuple):
    log_e: float
    x: np.ndarray    # the draws up to the decision
    trouble: str = ""


def _watch(draw, first, bound, alpha, least, most, piece):
    """Draw until the e-process exceeds 1 / alpha, a draw is no evidence, or `most` draws are used."""
    seen, n, wealth, log_e = [], 0, EMPTY_HANDED, 0.0
    while n < most:
        count = min(piece, most - n)
        x = np.asarray(draw(first + n, count), dtype=float)
        if x.shape != (count,):
            refuse("draw", f"must return {count} values when asked for them", x)
        with np.errstate(invalid="ignore"):
            good = np.isfinite(x) & (x >= least)
        used = count if good.all() else int(np.argmin(good))
        if used:
            paths = bet(x[:used], bound, least, wealth)
            path = np.logaddexp.reduce(paths, axis=0)
            over = np.flatnonzero(path > -np.log(alpha))
            if over.size:    # looked for after each draw: the size of the pieces must not matter
                seen.append(x[:over[0] + 1])
                return _Seen(path[over[0]], np.concatenate(seen))
            wealth, log_e = paths[:, -1], path[-1]
        seen.append(x[:used])
        if used < count:
            cause = f"below the least value {least}" if np.isfinite(x[used]) else "diverged"
            return _Seen(log_e, np.concatenate(seen), f"trial {first + n + used} gave {x[used]}: {cause}")
        n, piece = n + count, min(2 * piece, PIECE)
    return _Seen(log_e, np.concatenate(seen))


def sampled(draw, bound, alpha, *, least=0.0, most=100_000, fresh=None, piece=64):
    """Is E(left) <= bound? `draw(first, count)` returns left of i.i.d. trials first .. first + count - 1.

    left >= least surely, else undecided; for E(left) >= bound with left <= M, negate all three. `bound` is exact,
    or rounded up. A violation must be seen twice, the second time by draws that nothing was chosen by: `fresh`,
    of another seed, or the trials of `draw` from 2**40 on. Each time has alpha / 2 and up to `most` draws, so all
    that is said holds with chance 1 - alpha, and an excess below (bound - least) log(2 / alpha) / most is
    never called a violation: rounding errors of the draws are far smaller.
    """
    if not 0 < alpha < 1:
        refuse("alpha", "must lie in (0, 1)", alpha)
    if not np.isfinite(bound) or not np.isfinite(least):
        refuse("bound and least", "must be finite", (bound, least))
    if min(most, piece) < 1:
        refuse("most and piece", "must be at least 1", (most, piece))
    if bound <= least:
        return Sampled("undecided", None, 0, None, None,
                       f"the bound {bound} is not above the least value {least}: a case for exact arithmetic")
    found = _watch(draw, 0, bound, alpha / 2, least, most, piece)
    draws, crossed = found.x.size, found.log_e > -np.log(alpha / 2)
    if crossed:
        found = _watch(draw, FRESH, bound, alpha / 2, least, most, piece) if fresh is None \
            else _watch(fresh, 0, bound, alpha / 2, least, most, piece)
        draws += found.x.size
    if found.trouble:
        return Sampled("undecided", None, draws, None, None, found.trouble)
    violated = bool(found.log_e > -np.log(alpha / 2))
    below = float(lower(found.x, alpha / 2, least))
    return Sampled("violated" if violated else "not refuted", float(np.exp(np.minimum(found.log_e, 709.0))), draws,
                   below, below / bound if bound > 0 else None,
                   "fresh draws did not confirm a violation" if crossed and not violated else "")

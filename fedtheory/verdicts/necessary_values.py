"""Lower bounds on a number in a statement: the instance that needs the largest share of the number,
and the certificate that the variant with a smaller number fails.

For ceilings of hypotheses, and for terms that lower a bound, the search looks for the least value
that is too large. All evaluations count as work, exact evaluations included. The search for one
part starts from the instances that the searches for other parts left.
"""

from fractions import Fraction
from itertools import islice

import numpy as np
import sympy

from fedtheory.models import fitting
from fedtheory.search import optimizer, scheduler
from fedtheory.search.coordinates import LOOK
from fedtheory.search.objective import Target, exact_value
from fedtheory.search.rational_points import STEP, UNANSWERED, Point
from fedtheory.search.tightness_score import OVER
from fedtheory.verdicts import confirmation, given_witnesses
from fedtheory.verdicts.mutation_testing import (
    EFFORT,
    GENERATIONS,
    GROWTH,
    PATIENCE,
    at_shape,
    fit_rows,
)

FAR = 4  # a multiple of the printed value: the largest value tried for a term that lowers a bound
WIDE = 100  # a multiple of a ceiling: the largest ceiling tried
CLIMBED = 3  # populations of the pool from which a part is optimised
# CANDIDATES: shapes at which values are tested exactly. TRIES: exact tests that may exceed the
# budget.
CANDIDATES, TRIES = (4, 12)
# Shares of the ratio in floats, tried in turn for the value that an instance refutes exactly.
SHARES = (1.0, 0.999, 0.99, 0.95, 0.8, 0.5, 0.2)
DIGITS = 3  # significant digits of a value that is tested
MARGINS = 8  # points, ever further inside the edges, at which a refuted ceiling is tested exactly
STEPS = 6  # searches for a refuted ceiling, each nearer to the printed one
# All four are shares of a part's budget. NEAR: spent once the pool's populations are optimised.
# OWN: spent once shapes of the part's own are searched. SIMPLE: for making a counterexample simple.
# KNOWN: for counterexamples of other parts.
NEAR, OWN, SIMPLE, KNOWN = 0.4, 0.8, 0.2, 0.2
AT_MOST = 2.0  # a multiple of a part's budget, which the first TRIES exact tests may spend
# Both in units of PER_SECOND elementary steps. SET_UP: what a part takes before its first
# evaluation. LITTLE: the smallest budget of a part.
SET_UP, LITTLE = 0.1, 0.03
# Steps of exact arithmetic. LEAST: the smallest limit on the evaluation of a point. FEWEST: the
# smallest limit on making a counterexample simple.
LEAST, FEWEST = 40_000, 2_000
LOOKED = 0.3  # a share of a part's budget: the limit on one evaluation
HALF = sympy.Rational(1, 2)


class Purse:
    """The budget of one part and the work spent so far, in units of PER_SECOND elementary steps."""

    def __init__(self, most):
        self.most, self.hunts, self.other = max(LITTLE, most - SET_UP), {}, 0.0

    def paying(self, hunt):
        """Return a search, whose work is charged to this budget from now on. The exact evaluation
        of one of its points is limited to a share of the budget."""
        self.hunts.setdefault(hunt, hunt.work)
        hunt.look = min(LOOK, max(LEAST, int(LOOKED * self.most * optimizer.PER_SECOND / STEP)))
        return hunt

    @property
    def cost(self):
        """Return all work that the part took, set-up included."""
        return SET_UP + self.spent

    @property
    def spent(self):
        work = sum(hunt.work - before for hunt, before in self.hunts.items())
        return self.other + work / optimizer.PER_SECOND

    def left(self, share=1.0):
        """Return the unspent part of a share of the budget."""
        return max(0.0, share * self.most - self.spent)


class Less:
    """The search for the instance that needs the largest value of a constant, a term or an
    exponent."""

    def __init__(self, claim, part, pool, found, most, seed):
        self.claim, self.part, self.pool, self.found = claim, part, pool, found
        self.purse = Purse(most)
        way = self._way()
        if way is None:
            return
        found.most = not way
        self.goal = self._goal()
        upper = claim.lines[part.line][1] in ("<", "<=")
        self.over = ((1 if upper else -1) * self._span(),)
        self.best, self.doubted = {}, set()
        self._search(seed)
        self._certify()

    def _way(self):
        """Tell whether a larger value weakens the line, as far as the pool shows; None where the
        pool shows no direction or both."""
        part, claim = self.part, self.claim
        more = part.printed * 9 / 8 if part.kind != "exponent" else part.printed + HALF
        more, here = claim.expand(part.right(more)), claim.expand(part.right(part.printed))
        sign = self._sign()
        rises = sign != -1 and self.pool.exceeded(part.line, more, here)
        falls = sign != 1 and self.pool.exceeded(part.line, here, more)
        if rises == falls:
            self.found.why = (
                "raises the bound at some instances and lowers it at others"
                if rises
                else "no instance that was looked at feels it"
            )
            return None
        return rises == (claim.lines[part.line][1] in ("<", "<="))

    def _sign(self):
        """Return 1 if the right side increases with the number, -1 if it decreases, as the symbols'
        domains decide; None where the domains do not decide."""
        at = sympy.Dummy(positive=True)
        right = self.part.right(at)
        for side in (right, self.claim.expand(right)):
            slope = sympy.factor_terms(side.diff(at))
            if slope.is_nonnegative or slope.is_nonpositive:
                return 1 if slope.is_nonnegative else -1
        return None

    def _span(self):
        """Return the right side at the printed value minus the right side at the goal."""
        at, claim, part = sympy.Dummy(positive=True), self.claim, self.part
        slope = claim.expand(part.right(at)).diff(at)
        if at in slope.free_symbols or slope.has(sympy.Derivative, sympy.Heaviside):
            there, here = (
                claim.expand(part.right(self.goal)),
                claim.expand(part.right(part.printed)),
            )
            return here - there
        return (part.printed - self.goal) * slope

    def _goal(self):
        """Return the value of the number with which the line is strongest."""
        if self.part.kind == "exponent":
            return self.part.printed + (2 if self.found.most else -2)
        return FAR * self.part.printed if self.found.most else sympy.Integer(0)

    def _search(self, seed):
        near, targets = [], []
        for (line, _), block in self.pool.blocks.items():
            if line == self.part.line:
                target = Target(self.claim, block.target.setting, line, over=self.over)
                targets.append(target)
                near += [(rates, pop, target) for rates, pop in block.rated(target)]
        near.sort(key=lambda each: -each[0].max())
        for at, (rates, population, target) in enumerate(near[:CLIMBED]):
            if at and not self.purse.left(NEAR):
                break
            self._climb(rates, population, target)
        for n, target in enumerate(targets):
            share = self.purse.left(OWN) / (len(targets) - n)
            for hunt, rate, row in scheduler.search_waves(target, share, seed):
                self.purse.hunts.setdefault(hunt, 0.0)
                self._note(hunt, rate, row)

    def _climb(self, rates, population, target):
        """Optimise from a population of the pool as long as the ratio improves."""
        own, reached = self.purse.paying(at_shape(population, target, 0)), []
        start = fit_rows(population, own)[np.argsort(-rates, kind="stable")]
        for rate, row in own.climb(GENERATIONS, start[: optimizer.BATCH // 2]):
            self._note(own, rate, row)
            reached.append(rate)
            stale = len(reached) > PATIENCE and rate - reached[-PATIENCE] < (GROWTH - 1) * abs(rate)
            if stale or not self.purse.left(NEAR):
                break

    def _note(self, hunt, rate, row):
        """Record the best row of a search. A ratio above 1, which may be due to rounding, is
        recorded only if the line fails exactly."""
        if rate > OVER and hunt not in self.doubted:
            self.doubted.add(hunt)
            if breaks_at(self.purse, self.part, self.part.printed, hunt, row):
                self.best[hunt] = rate, row
        if rate > OVER:
            rates = np.where(hunt.rates > OVER, -1.0, hunt.rates)
            rate, row = rates.max(), hunt.top[rates.argmax()]
        if rate > max(0.0, self.best.get(hunt, (0.0,))[0]):
            self.best[hunt] = rate, row

    def _certify(self):
        """Set the strongest value that an instance refutes for certain, and its document."""
        reached = next(filter(self._breaks, self._ask_best()), None)
        if reached is not None and self.part.kind == "exponent" and self.purse.left():
            nearer = (reached[0] + self.part.printed) / 2, *reached[1:]
            reached = nearer if self._breaks(nearer) else reached
        if reached is not None:
            self._learn(*reached[1:])
            keep_refutation(self.purse, self.found, self.part, *reached)
        self._known(reached[0] if reached is not None else self.part.printed)
        if (
            self.found.certificate is not None and self.part.kind != "exponent"
        ):  # whose numbers are long
            self.pool.keep(self.found.certificate)

    def _ask_best(self):
        """Yield (value, search, row) of values that the best instances may refute, the strongest
        first: a minimum number of them, then more while budget is left."""
        ranked = sorted(self.best.items(), key=lambda item: -item[1][0])[:CANDIDATES]
        telling = lambda each: each[0] if self.found.most else -each[0]
        asked = [
            (value, hunt, row)
            for hunt, (rate, row) in ranked
            for value in self._values(min(float(rate), 1.0 + FAR))
        ]
        for n, each in enumerate(sorted(asked, key=telling)):
            if n and not self.purse.left(1 if n >= TRIES else AT_MOST):
                return
            yield each

    def _breaks(self, asked):
        value, hunt, row = asked
        return breaks_at(self.purse, self.part, value, hunt, row)

    def _learn(self, hunt, row):
        before = self.pool.work
        self.pool.learn(hunt, row[None, :] if hunt.top is None else hunt.top)
        self.purse.other += (self.pool.work - before) / optimizer.PER_SECOND

    def _known(self, reached):
        """Set a stronger refuted value if a counterexample found for another part refutes that
        value."""
        part, values = self.part, [self.goal]
        if part.kind != "exponent":  # also a value half-way to the goal
            values += [round_to_digits((reached + self.goal) / 2, up=self.found.most)]
        for n, value in enumerate(values) if self.pool.witnesses else ():
            if n and not self.purse.left():
                return
            if self._sharper(value, reached) or self.found.refuted is None:
                claim, most = part.variant(value), KNOWN * self.purse.most
                verdict, took = given_witnesses.refute_by_witness(
                    claim, part.line, self.pool.witnesses, most
                )
                self.purse.other += took
                if verdict:
                    self.found.refuted = Fraction(int(value.p), int(value.q))
                    self.found.certificate = verdict.certificate
                    return

    def _values(self, rate):
        """Return the values that an instance with this ratio may refute, the strongest first."""
        part, goal = self.part, self.goal
        if part.kind == "exponent":
            sign = 1 if self.found.most else -1
            return [part.printed + sign * step for step in (1, 2)]  # roots are expensive
        span = goal - part.printed
        values = [part.printed + span * (1 - sympy.Float(rate * t)) for t in SHARES]
        values = [round_to_digits(value, up=self.found.most) for value in values]
        return list(dict.fromkeys([*values, *([goal] if not self.found.most else [])]))

    def _sharper(self, value, old):
        return value < old if self.found.most else value > old


class Ceiling:
    """The search for the nearest instance outside one hypothesis at which the line fails."""

    def __init__(self, claim, part, pool, found, most, seed):
        self.claim, self.part, self.found, self.purse = claim, part, found, Purse(most)
        found.most = True
        settings, wide, low = fitting(claim), sympy.Integer(WIDE), sympy.Integer(1)
        for step in range(STEPS):
            share = self.purse.left() / (2 * max(1, len(settings)))
            for setting in settings if share else ():
                self._hunt(part.variant(wide), setting, share, seed + step)
            if found.refuted is None or not self.purse.left():
                return
            reached = sympy.Rational(found.refuted)
            low = low if reached <= wide else wide  # no failure up to this ceiling
            wide = round_to_digits(sympy.sqrt(low * reached).n(), up=True)
            if wide >= reached:
                return

    def _hunt(self, variant, setting, share, seed):
        target = Target(variant, setting, self.part.line)
        if target.impossible:
            return
        looked, done = 0, False
        for hunt, rate, row in scheduler.search_waves(target, share, seed):
            self.purse.hunts.setdefault(hunt, 0.0)
            if rate > OVER and looked < CANDIDATES * STEPS:
                for point in Point.nearby(hunt, row):  # on an edge, rounding may leave it
                    looked += 1
                    answer = point.breaks()
                    done = answer is not None and self._take(answer, hunt, row)
                    if answer is not None:
                        break
            if done:
                break

    def _take(self, answer, hunt, row):
        """Record a violation, with the distance of its instance beyond the hypothesis, and tell
        whether the instance is nearer than the last one."""
        try:
            value = round_to_digits(distance_beyond(self.part, answer.values), up=True)
        except UNANSWERED:
            return False
        old = self.found.refuted
        if value <= 1 or old is not None and value >= old:
            return False
        keep_refutation(self.purse, self.found, self.part, value, hunt, row, MARGINS)
        return self.found.refuted != old


def distance_beyond(part, values):
    """Return how far an instance lies beyond an upper limit: the smaller side over the larger side,
    as a Float."""
    small, large = (exact_value(part.variant(1).expand(side), values) for side in part.sides)
    return sympy.Float(float(small / large))


def variant_at(purse, part, value, hunt, row, tries=2):
    """Return (the variant with a value, its search at the shape of another search, its points near
    `row`). The points are empty where the variant has other coordinates."""
    claim = part.variant(value)
    target = Target(claim, hunt.target.setting, part.line)
    numbers = {name: n for name, n in hunt.numbers.items() if name in target.counts}
    own = purse.paying(optimizer.hunt_at(target, hunt.shape, numbers, 0))
    if not set(own.names) <= set(hunt.column):
        return claim, own, []
    there = np.array([row[hunt.column[name]] for name in own.names])
    return claim, own, list(islice(Point.nearby(own, there), tries))


def breaks_at(purse, part, value, hunt, row):
    """Tell whether the variant with a value fails for certain at a point of a search."""
    return any(point.breaks() for point in variant_at(purse, part, value, hunt, row)[2])


def keep_refutation(purse, found, part, value, hunt, row, tries=2):
    """Set the refuted value with its certificate."""
    _, _, points = variant_at(purse, part, value, hunt, row, tries)
    looks = max(FEWEST, int(SIMPLE * purse.most * optimizer.PER_SECOND / STEP))
    violation = confirmation.refute_at_points(points, 0, EFFORT, looks)
    if violation:
        found.refuted = Fraction(int(value.p), int(value.q))
        found.certificate = violation.document


def round_to_digits(value, up):
    """Return a positive number rounded to DIGITS digits, up or down; 0 for a number that is not
    positive."""
    value = sympy.Rational(str(sympy.Float(value))) if not value.is_Rational else value
    if value <= 0:
        return sympy.Integer(0)
    unit = sympy.Integer(10) ** (int(sympy.floor(sympy.log(value, 10))) - DIGITS + 1)
    steps = sympy.ceiling(value / unit) if up else sympy.floor(value / unit)
    return sympy.Rational(steps * unit)

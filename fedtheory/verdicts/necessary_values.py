"""Lower bounds on a number in a statement: the instance that needs the largest share of the number,
and the certificate that the variant with a smaller number fails.

For terms that lower a bound, and for ceilings of hypotheses (`ceilings.py`), the search looks for
the least value that is too large. All evaluations count as work, exact evaluations included. The
search for one part starts from the instances that the searches for other parts left.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np
import sympy

from fedtheory.display import Shown
from fedtheory.search import optimizer, scheduler
from fedtheory.search.coordinates import LOOK
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import PER_SECOND, ShapeSearch
from fedtheory.search.rational_points import STEP, Point
from fedtheory.search.tightness_score import OVER
from fedtheory.verdicts import confirmation
from fedtheory.verdicts.exploration import Account, Explorer, climb
from fedtheory.verdicts.exploration_parameters import PARAMETERS
from fedtheory.verdicts.instance_pool import RatedPopulation
from fedtheory.verdicts.perturbations import HALF, Part


@dataclass(repr=False)
class Sharpened(Shown):
    """The known needs of a statement for one of its numbers.

    `refuted` is the largest value that a certificate refutes. `proved` is the smallest value with a
    document. `follows` is the smallest value with which the line follows from the steps of the
    text's proof, some of which are only upheld by search. Where `most` is set, largest and smallest
    change places. Each of the three is None where no such value is known.
    """

    name: str
    kind: str  # "constant", "term", "exponent" or "ceiling"
    line: int
    printed: Fraction
    refuted: Fraction | None = None
    proved: Fraction | None = None
    follows: Fraction | None = None
    most: bool = False  # whether a smaller value weakens the statement: a gain, or a ceiling
    certificate: dict | None = None  # refutes the variant with the value `refuted`
    document: dict | None = None  # proves the variant with the value `proved`
    why: str = ""  # the reason if nothing was searched

    def heading(self) -> str:
        return f"Sharpened {self.kind}"

    def facts(self) -> dict[str, str]:
        return {self.name: self.says}

    @property
    def needed(self) -> bool:
        """Tell whether the statement is refuted when the number is smaller."""
        return self.refuted is not None and not self.most

    def __str__(self) -> str:
        return f"{self.name}: {self.says}"

    @property
    def says(self) -> str:
        """Return words for how much of the number is needed."""
        if self.why:
            return self.why
        low, high = decimal_text(self.refuted), decimal_text(self.proved)
        if self.most:
            times = " times as far" if self.kind == "ceiling" else ""
            if self.refuted is None:
                return "nothing refutes more" if times else "nothing refutes more of it"
            return f"at most between {high or decimal_text(self.printed)} and {low}{times}"
        if self.refuted is None:
            return "not needed" if self.proved == 0 else "nothing shows that it is needed"
        if high:
            return f"needed between {low} and {high}"
        if self.follows is None:
            return f"needed above {low}; nothing proves how much is enough"
        follows = f"{decimal_text(self.follows)} follows from steps that hold by search"
        return f"needed above {low}; {follows}"

    def as_dict(self) -> dict:
        return {
            name: str(value) if isinstance(value, Fraction) else value
            for name, value in vars(self).items()
        }


def decimal_text(value: Fraction | None) -> str | None:
    return None if value is None else f"{float(value):.6g}"


class Candidate(NamedTuple):
    """A value that an instance may refute."""

    value: sympy.Expr
    hunt: ShapeSearch
    row: np.ndarray


class PartSearch:
    """The search for the values of one part that instances refute, which sets `found`."""

    def __init__(self, explorer: Explorer, part: Part, found: Sharpened, most: float) -> None:
        self.explorer, self.claim, self.part, self.found = explorer, explorer.claim, part, found
        self.account = Account(max(PARAMETERS.least, most - PARAMETERS.set_up))

    @property
    def cost(self) -> float:
        """All work for the part, set-up included."""
        return PARAMETERS.set_up + self.account.work_done

    def run(self) -> None:
        """Search until the budget is spent."""
        raise NotImplementedError

    def limit_looks(self, hunt: ShapeSearch) -> ShapeSearch:
        """Limit the exact evaluation of a search's point to a share of the budget, and return
        the search."""
        share = int(PARAMETERS.look_share * self.account.most * PER_SECOND / STEP)
        hunt.look = min(LOOK, max(PARAMETERS.look_steps, share))
        return hunt

    def points_at(self, candidate: Candidate, tries: int = 2) -> list[Point]:
        """Return at most `tries` points of the variant with a candidate's value near the candidate's
        row; none where the variant has other coordinates."""
        claim = self.part.variant(candidate.value)
        hunt, row = candidate.hunt, candidate.row
        target = Target(claim, hunt.target.setting, self.part.line)
        numbers = {name: n for name, n in hunt.numbers.items() if name in target.counts}
        own = optimizer.search_at(target, hunt.shape, numbers, 0)
        self.limit_looks(self.account.charge(own))
        if not set(own.names) <= set(hunt.column):
            return []
        there = np.array([row[hunt.column[name]] for name in own.names])
        return list(islice(Point.nearby_points(own, there), tries))

    def breaks(self, candidate: Candidate) -> bool:
        """Tell whether the variant fails for certain at a candidate's instance."""
        return any(point.breaks() for point in self.points_at(candidate))

    def keep_refutation(self, candidate: Candidate, tries: int = 2) -> None:
        """Set the refuted value with its certificate."""
        points = self.points_at(candidate, tries)
        steps = int(PARAMETERS.simple_share * self.account.most * PER_SECOND / STEP)
        looks = max(PARAMETERS.simple_steps, steps)
        violation = confirmation.refute_at_points(points, 0, PARAMETERS.effort, looks)
        if violation:
            self.found.refuted = as_fraction(candidate.value)
            self.found.certificate = violation.document


class NumberSearch(PartSearch):
    """The search for the instance that needs the largest value of a constant, a term or an
    exponent."""

    def run(self) -> None:
        upward = self._weakens_upward()
        if upward is None:
            return
        self.found.most = not upward
        self.goal = self._goal()
        upper = self.claim.lines[self.part.line][1] in ("<", "<=")
        self.over = ((1 if upper else -1) * self._span(),)
        self.best: dict[ShapeSearch, tuple[float, np.ndarray]] = {}
        self.doubted: set[ShapeSearch] = set()
        self._search()
        self._certify()

    def _weakens_upward(self) -> bool | None:
        """Tell whether a larger value weakens the line, as far as the pool shows; None where the
        pool shows no direction or both."""
        part, claim, pool = self.part, self.claim, self.explorer.pool
        more = part.printed * 9 / 8 if part.kind != "exponent" else part.printed + HALF
        more, here = claim.expand(part.right(more)), claim.expand(part.right(part.printed))
        sign = self._sign()
        rises = sign != -1 and pool.exceeds_somewhere(part.line, more, here)
        falls = sign != 1 and pool.exceeds_somewhere(part.line, here, more)
        if rises == falls:
            self.found.why = (
                "raises the bound at some instances and lowers it at others"
                if rises
                else "no instance that was looked at feels it"
            )
            return None
        return rises == (claim.lines[part.line][1] in ("<", "<="))

    def _sign(self) -> int | None:
        """Return 1 if the right side increases with the number, -1 if it decreases, as the symbols'
        domains decide; None where the domains do not decide."""
        at = sympy.Dummy(positive=True)
        right = self.part.right(at)
        for side in (right, self.claim.expand(right)):
            slope = sympy.factor_terms(side.diff(at))
            if slope.is_nonnegative or slope.is_nonpositive:
                return 1 if slope.is_nonnegative else -1
        return None

    def _span(self) -> sympy.Expr:
        """Return the right side at the printed value minus the right side at the goal."""
        at, claim, part = sympy.Dummy(positive=True), self.claim, self.part
        slope = claim.expand(part.right(at)).diff(at)
        if at in slope.free_symbols or slope.has(sympy.Derivative, sympy.Heaviside):
            return claim.expand(part.right(part.printed)) - claim.expand(part.right(self.goal))
        return (part.printed - self.goal) * slope

    def _goal(self) -> sympy.Rational:
        """Return the value of the number with which the line is strongest."""
        if self.part.kind == "exponent":
            return self.part.printed + (2 if self.found.most else -2)
        return PARAMETERS.far * self.part.printed if self.found.most else sympy.Integer(0)

    def _search(self) -> None:
        targets, near = [], []
        for block in self.explorer.pool.of_line(self.part.line):
            target = Target(self.claim, block.target.setting, self.part.line, over=self.over)
            targets.append(target)
            near += [
                RatedPopulation(ratios, 0.0, pop, target)
                for ratios, pop in block.rate_populations(target)
            ]
        near.sort(key=lambda each: -each.ratios.max())
        for n, each in enumerate(near[: PARAMETERS.number_starts]):
            if n and not self.account.unspent(PARAMETERS.near_share):
                break
            self._climb(each)
        for n, target in enumerate(targets):
            share = self.account.unspent(PARAMETERS.own_share) / (len(targets) - n)
            for hunt, ratio, row in scheduler.search_waves(target, share, self.explorer.seed):
                self._note(self.account.charge(hunt), ratio, row)

    def _climb(self, each: RatedPopulation) -> None:
        """Optimise from a population of the pool as long as the ratio improves."""
        growth = PARAMETERS.growth - 1
        for step in climb(self.account, each.population, each.ratios, each.target):
            self._note(self.limit_looks(step.hunt), step.ratio, step.row)
            grown = None if step.before is None else step.ratio - step.before
            stale = grown is not None and grown < growth * abs(step.ratio)
            if stale or not self.account.unspent(PARAMETERS.near_share):
                return

    def _note(self, hunt: ShapeSearch, ratio: float, row: np.ndarray) -> None:
        """Record the best row of a search. A ratio above 1, which may be due to rounding, is
        recorded only if the line fails exactly."""
        if ratio > OVER and hunt not in self.doubted:
            self.doubted.add(hunt)
            if self.breaks(Candidate(self.part.printed, hunt, row)):
                self.best[hunt] = ratio, row
        if ratio > OVER:
            ratios = np.where(hunt.rates > OVER, -1.0, hunt.rates)
            ratio, row = ratios.max(), hunt.top[ratios.argmax()]
        if ratio > max(0.0, self.best.get(hunt, (0.0,))[0]):
            self.best[hunt] = ratio, row

    def _certify(self) -> None:
        """Set the strongest value that an instance refutes for certain, and its document."""
        reached = next(filter(self.breaks, self._candidates()), None)
        if reached is not None and self.part.kind == "exponent" and self.account.unspent():
            nearer = reached._replace(value=(reached.value + self.part.printed) / 2)
            reached = nearer if self.breaks(nearer) else reached
        if reached is not None:
            self.explorer.pool.learn(reached.hunt, reached.row)
            self.keep_refutation(reached)
        self._try_known(reached.value if reached is not None else self.part.printed)
        if self.part.kind != "exponent":  # whose numbers are long
            self.explorer.remember(self.found.certificate)

    def _candidates(self) -> Iterator[Candidate]:
        """Yield values that the best instances may refute, the strongest first: a minimum number of
        them, then more while budget is left."""
        ranked = sorted(self.best.items(), key=lambda item: -item[1][0])[: PARAMETERS.candidates]
        made = [
            Candidate(value, hunt, row)
            for hunt, (ratio, row) in ranked
            for value in self._values(min(float(ratio), 1.0 + PARAMETERS.far))
        ]
        strength = lambda each: each.value if self.found.most else -each.value
        for n, each in enumerate(sorted(made, key=strength)):
            share = 1 if n >= PARAMETERS.tries else PARAMETERS.overdraft
            if n and not self.account.unspent(share):
                return
            yield each

    def _try_known(self, reached: sympy.Expr) -> None:
        """Set a stronger refuted value if a counterexample found for another part refutes that
        value."""
        part, values = self.part, [self.goal]
        if part.kind != "exponent":  # also a value half-way to the goal
            values += [round_to_digits((reached + self.goal) / 2, up=self.found.most)]
        for n, value in enumerate(values) if self.explorer.known else ():
            if n and not self.account.unspent():
                return
            stronger = value < reached if self.found.most else value > reached
            if stronger or self.found.refuted is None:
                verdict, spent = self.explorer.refute_by_known(
                    part.variant(value), part.line, self.account.most
                )
                self.account.other += spent
                if verdict:
                    self.found.refuted = as_fraction(value)
                    self.found.certificate = verdict.certificate
                    return

    def _values(self, ratio: float) -> list[sympy.Expr]:
        """Return the values that an instance with this ratio may refute, the strongest first."""
        part, goal = self.part, self.goal
        if part.kind == "exponent":
            sign = 1 if self.found.most else -1
            return [part.printed + sign * step for step in (1, 2)]  # roots are expensive
        shares = (sympy.Float(ratio * share) for share in PARAMETERS.ratio_shares)
        values = [part.printed + (goal - part.printed) * (1 - share) for share in shares]
        values = [round_to_digits(value, up=self.found.most) for value in values]
        return list(dict.fromkeys([*values, *([goal] if not self.found.most else [])]))


def as_fraction(value: sympy.Rational) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def round_to_digits(value: sympy.Expr, up: bool) -> sympy.Rational:
    """Return a positive number rounded to few digits, up or down; 0 for a number that is not
    positive."""
    value = sympy.Rational(str(sympy.Float(value))) if not value.is_Rational else value
    if value <= 0:
        return sympy.Integer(0)
    unit = sympy.Integer(10) ** (int(sympy.floor(sympy.log(value, 10))) - PARAMETERS.digits + 1)
    steps = sympy.ceiling(value / unit) if up else sympy.floor(value / unit)
    return sympy.Rational(steps * unit)

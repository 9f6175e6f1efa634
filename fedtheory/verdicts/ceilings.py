"""Upper bounds on how far a hypothesis can reach: the nearest instance outside the hypothesis at which
the line fails."""

import numpy as np
import sympy

from fedtheory.language.claim import Claim
from fedtheory.models import Model, fitting
from fedtheory.search import scheduler
from fedtheory.search.objective import Answer, Target, exact_value
from fedtheory.search.optimizer import ShapeSearch
from fedtheory.search.rational_points import UNANSWERED, Point
from fedtheory.search.tightness_score import OVER
from fedtheory.verdicts.exploration_parameters import PARAMETERS
from fedtheory.verdicts.necessary_values import Candidate, PartSearch, round_to_digits
from fedtheory.verdicts.perturbations import Part


class CeilingSearch(PartSearch):
    """The search for the nearest instance outside one hypothesis at which the line fails."""

    def run(self) -> None:
        self.found.most = True
        settings = fitting(self.claim)
        wide, low = sympy.Integer(PARAMETERS.widest), sympy.Integer(1)
        for step in range(PARAMETERS.steps):
            share = self.account.unspent() / (2 * max(1, len(settings)))
            for setting in settings if share else ():
                self._search(self.part.variant(wide), setting, share, self.explorer.seed + step)
            if self.found.refuted is None or not self.account.unspent():
                return
            reached = sympy.Rational(self.found.refuted)
            low = low if reached <= wide else wide  # no failure up to this ceiling
            wide = round_to_digits(sympy.sqrt(low * reached).n(), up=True)
            if wide >= reached:
                return

    def _search(self, variant: Claim, setting: Model, share: float, seed: int) -> None:
        """Search a variant until an instance nearer than the last one violates it."""
        looked = 0
        target = Target(variant, setting, self.part.line)
        for hunt, ratio, row in scheduler.search_waves(target, share, seed):
            self.account.charge(hunt)
            if ratio <= OVER or looked >= PARAMETERS.candidates * PARAMETERS.steps:
                continue
            for point in Point.nearby_points(hunt, row):  # on an edge, rounding may leave it
                looked += 1
                answer = point.breaks()
                if answer is not None:
                    if self._take(answer, hunt, row):
                        return
                    break

    def _take(self, answer: Answer, hunt: ShapeSearch, row: np.ndarray) -> bool:
        """Record a violation, with the distance of its instance beyond the hypothesis, and tell
        whether the instance is nearer than the last one."""
        try:
            value = round_to_digits(distance_beyond(self.part, answer.values), up=True)
        except UNANSWERED:
            return False
        old = self.found.refuted
        if value <= 1 or old is not None and value >= old:
            return False
        self.keep_refutation(Candidate(value, hunt, row), PARAMETERS.margins)
        return self.found.refuted != old


def distance_beyond(part: Part, values: dict) -> sympy.Float:
    """Return how far an instance lies beyond an upper limit: the smaller side over the larger
    side."""
    small, large = (exact_value(part.variant(1).expand(side), values) for side in part.sides)
    return sympy.Float(float(small / large))

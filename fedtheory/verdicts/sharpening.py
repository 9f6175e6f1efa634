"""`sharpen`: how much of each number of a statement the truth needs.

From below: for each constant, term and exponent the search looks for the instance that needs most
of it; a variant with less is then violated there, by a certificate that replays. From above: where
algebra proves the line, the smallest value with which it still does, with its document. Ceilings of
hypotheses, and terms that lower a bound, go the other way: the most of them that nothing refutes.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

import numpy as np
import sympy

from fedtheory import arguments, discover, terminal
from fedtheory.errors import InvalidInput
from fedtheory.proofs import algebra
from fedtheory.search import hunting, waves
from fedtheory.search.rationals import UNANSWERED, Point
from fedtheory.search.target import Target, bounded
from fedtheory.settings import fitting
from fedtheory.shown import Shown
from fedtheory.verdicts import handed, looking
from fedtheory.verdicts.mutation import (
    EFFORT,
    GENERATIONS,
    GROWTH,
    PATIENCE,
    WRONG,
    Pool,
    at_shape,
    fitted,
)
from fedtheory.verdicts.parts import parts

FAR = 4  # times as much of a term that lowers a bound, to see how much of it there may be
WIDE = 100  # times as far as a ceiling
CLIMBED = 3  # populations of the pool that a part is climbed from
CANDIDATES = 3  # shapes at which the most needed is asked for exactly
SHARES = (1.0, 0.999, 0.99, 0.95, 0.8, 0.5, 0.2)  # of what floats say is needed
DIGITS = 3  # of a value that is asked for
MARGINS = 8  # points ever further inside the edges at which a ceiling is asked for
STEPS = 6  # halvings of what lies between refuted and proved
PROOF = 0.5  # seconds of a proof
HALF = sympy.Rational(1, 2)


@dataclass(repr=False)
class Sharpened(Shown):
    """What is known of one number of a statement.

    `refuted` is the largest value (of what has to be large, the smallest) with a certificate,
    `proved` the smallest with a document; None where there is none.
    """

    name: str
    kind: str  # "constant", "term", "exponent" or "ceiling"
    line: int
    printed: Fraction
    refuted: Fraction | None = None
    proved: Fraction | None = None
    most: bool = False  # whether less of it asks for less: a gain, or a ceiling
    certificate: dict | None = None  # of the variant with `refuted`, violated
    document: dict | None = None  # of the variant with `proved`
    why: str = ""  # why nothing was asked

    def heading(self):
        return f"Sharpened {self.kind}"

    def facts(self):
        return {self.name: self.says}

    @property
    def needed(self):
        """Whether a statement that has none of it is refuted."""
        return self.refuted is not None and not self.most

    def __str__(self):
        return f"{self.name}: {self.says}"

    @property
    def says(self):
        """How much of it is needed, in words."""
        if self.why:
            return self.why
        low, high = decimal(self.refuted), decimal(self.proved)
        times = " times as far" if self.kind == "ceiling" else ""
        if self.most:
            if self.refuted is None:
                return "nothing refutes more of it" if not times else "nothing refutes more"
            at_least = high or decimal(self.printed)
            return f"at most between {at_least} and {low}{times}"
        if self.refuted is None:
            return "not needed" if self.proved == 0 else "nothing shows that it is needed"
        if self.proved is None:
            return f"needed above {low}; no less than {decimal(self.printed)} is proved"
        return f"needed between {low} and {high}"

    def as_dict(self):
        text = lambda value: None if value is None else str(value)
        return dict(
            name=self.name,
            kind=self.kind,
            line=self.line,
            printed=text(self.printed),
            refuted=text(self.refuted),
            proved=text(self.proved),
            most=self.most,
            certificate=self.certificate,
            document=self.document,
            why=self.why,
        )


@dataclass(repr=False)
class Sharpening(Shown):
    """What `sharpen` found: `parts`, one Sharpened for each number."""

    claim: str
    parts: list = field(default_factory=list)

    def heading(self):
        return f"What {self.claim} needs of its numbers"

    def facts(self):
        return {part.name: part.says for part in self.parts}

    def __repr__(self):
        return f"<{self.heading()}: {len(self.parts)} looked at>"

    def __str__(self):
        return "\n".join([f"{self.claim}:", *(f"  {part}" for part in self.parts)])

    def as_dict(self):
        return dict(claim=self.claim, parts=[part.as_dict() for part in self.parts])


def sharpen(claim, budget=60.0, seed=0, progress=None, only=lambda part: True):
    """The Sharpening of a claim: how much of each constant, term, exponent and ceiling it needs.

    `budget` is in seconds of one core, counted as work; `only` picks the parts that are looked at,
    `progress=True` shows how far it is.

    >>> import fedtheory as ft
    >>> found = ft.sharpen("mixed.propD6", budget=2, only=lambda part: part.kind == "constant")
    >>> print(*found.parts)
    4 in 4 beta gap: needed above 3.99; no less than 4 is proved

    """
    budget, seed = arguments.budget(budget), arguments.seed(seed)
    claim = discover.claim(claim)
    progress = terminal.followed(progress, f"parts of {claim.id}")
    if not any(sign in ("<", "<=", ">", ">=") for _, sign, _ in claim.lines):
        raise InvalidInput(
            f"sharpen takes a claim with an inequality; {claim.id} is a {claim.kind}"
        )
    made = list(filter(only, parts(claim)))
    if not made:
        return Sharpening(claim.id)
    pool = Pool(claim, budget, seed)
    left, found, provable = budget - pool.work / hunting.PER_SECOND, [], {}
    for n, part in enumerate(made):
        share = max(0.0, left) / (len(made) - n)
        search = Ceiling if part.kind == "ceiling" else Less
        asked = search(claim, part, pool, share, seed)
        left -= asked.spent
        if part.line not in provable:
            provable[part.line] = bool(
                algebra.line(claim, part.line, budget=min(PROOF, budget), refute=False, seed=seed)
            )
        if provable[part.line]:
            proved(asked.found, part, min(PROOF, budget), seed)
        found.append(asked.found)
        if progress:
            progress(n + 1, len(made), asked.found)
    return Sharpening(claim.id, found)


class Less:
    """The search for the instance that needs most of a constant, a term or an exponent."""

    def __init__(self, claim, part, pool, budget, seed):
        self.claim, self.part, self.pool, self.spent = claim, part, pool, 0.0
        printed = Fraction(int(part.printed.p), int(part.printed.q))
        self.found = Sharpened(part.name, part.kind, part.line, printed)
        way = self._way()
        if way is None:
            return
        self.found.most = not way
        self.goal = self._goal()
        upper = claim.lines[part.line][1] in ("<", "<=")
        self.over = ((1 if upper else -1) * self._span(),)
        self.best, self.doubted = {}, set()
        self._search(budget, seed)
        self._certify()

    def _way(self):
        """Whether more of it asks for less, as far as the pool tells; None where it does not."""
        part, claim = self.part, self.claim
        more = part.printed * 9 / 8 if part.kind != "exponent" else part.printed + HALF
        more, here = claim.expand(part.right(more)), claim.expand(part.right(part.printed))
        rises = self.pool.exceeded(part.line, more, here)
        falls = self.pool.exceeded(part.line, here, more)
        if rises == falls:
            self.found.why = (
                "raises the bound at some instances and lowers it at others"
                if rises
                else "no instance that was looked at feels it"
            )
            return None
        return rises == (claim.lines[part.line][1] in ("<", "<="))

    def _span(self):
        """By how much the right side at the printed value exceeds that at the goal."""
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
        """A value that asks for the most that is asked for."""
        if self.part.kind == "exponent":
            return self.part.printed + (2 if self.found.most else -2)
        return FAR * self.part.printed if self.found.most else sympy.Integer(0)

    def _search(self, budget, seed):
        part, near, targets = self.part, [], []
        for (line, _), block in self.pool.blocks.items():
            if line == part.line:
                was = block.target
                target = Target(self.claim, was.setting, line, over=self.over)
                targets.append(target)
                near += [(rates, pop, target) for rates, pop in block.rated(target)]
        near.sort(key=lambda each: -each[0].max())
        for rates, population, target in near[:CLIMBED]:
            own, reached = at_shape(population, target, 0), []
            start = fitted(population, own)[np.argsort(-rates, kind="stable")]
            for rate, row in own.climb(GENERATIONS, start[: hunting.BATCH // 2]):
                self._note(own, rate, row)
                reached.append(rate)
                over = self.spent + own.work / hunting.PER_SECOND > budget / 2
                stale = len(reached) > PATIENCE and rate < GROWTH * reached[-PATIENCE]
                if over or stale:
                    break
            self.spent += own.work / hunting.PER_SECOND
        for target in targets:
            seconds = max(0.0, budget - self.spent) / len(targets)
            seen = {}
            for hunt, rate, row in waves.searched(target, seconds, seed):
                self._note(hunt, rate, row)
                seen[hunt] = hunt.work
            self.spent += sum(seen.values()) / hunting.PER_SECOND

    def _note(self, hunt, rate, row):
        """Keep the best of a hunt; above 1 only what fails exactly, since rounding may have done
        it."""
        if rate > WRONG and hunt not in self.doubted:
            self.doubted.add(hunt)
            breaks, seconds = breaks_at(self.part, self.part.printed, hunt, row)
            self.spent += seconds
            if breaks:
                self.best[hunt] = rate, row
        if rate > WRONG:
            rates = np.where(hunt.rates > WRONG, -1.0, hunt.rates)
            rate, row = rates.max(), hunt.top[rates.argmax()]
        if rate > max(0.0, self.best.get(hunt, (0.0,))[0]):
            self.best[hunt] = rate, row

    def _certify(self):
        """Set the most telling value that an instance refutes for certain, and its document."""
        ranked, reached = sorted(self.best.items(), key=lambda item: -item[1][0]), None
        for hunt, (rate, row) in ranked[:CANDIDATES]:
            self.pool.learn(hunt, row[None, :] if hunt.top is None else hunt.top)
            for value in self._values(min(float(rate), 1.0 + FAR)):
                if reached is not None and not self._sharper(value, reached[0]):
                    break
                breaks, seconds = breaks_at(self.part, value, hunt, row)
                self.spent += seconds
                if breaks:
                    reached = value, hunt, row
                    break
        if reached is not None:
            keep(self.found, self.part, *reached)
        self._known(reached[0] if reached is not None else self.part.printed)
        if self.found.certificate is not None:
            self.pool.keep(self.found.certificate)

    def _known(self, reached):
        """Set a more telling value if what was found for other parts refutes it."""
        part, values = self.part, [self.goal]
        if part.kind != "exponent":  # a value between, where none so far is refuted
            values += [rounded((reached + self.goal) / 2, up=self.found.most)]
        for value in values if self.pool.witnesses else ():
            if self._sharper(value, reached) or self.found.refuted is None:
                claim = part.variant(value)
                verdict, seconds = handed.refuted(claim, part.line, self.pool.witnesses, PROOF)
                self.spent += seconds
                if verdict:
                    self.found.refuted = Fraction(int(value.p), int(value.q))
                    self.found.certificate = verdict.certificate
                    return

    def _values(self, rate):
        """Values that an instance with this ratio may refute, the most telling first."""
        part, goal = self.part, self.goal
        if part.kind == "exponent":
            sign = 1 if self.found.most else -1
            return [part.printed + sign * step for step in (HALF, 1, 2)]
        span = goal - part.printed
        values = [part.printed + span * (1 - sympy.Float(rate * t)) for t in SHARES]
        values = [rounded(value, up=self.found.most) for value in values]
        return list(dict.fromkeys([*values, *([goal] if not self.found.most else [])]))

    def _sharper(self, value, old):
        return value < old if self.found.most else value > old


class Ceiling:
    """The search for the nearest instance outside one hypothesis at which the line fails."""

    def __init__(self, claim, part, pool, budget, seed):
        self.claim, self.part, self.spent = claim, part, 0.0
        self.found = Sharpened(part.name, "ceiling", part.line, Fraction(1), most=True)
        settings, wide, low = fitting(claim), sympy.Integer(WIDE), sympy.Integer(1)
        for step in range(STEPS):
            share = (budget - self.spent) / (2 * max(1, len(settings)))
            for setting in settings:
                if share > 0:
                    self._hunt(part.variant(wide), setting, share, seed + step)
            if self.found.refuted is None or self.spent >= budget:
                return
            reached = sympy.Rational(self.found.refuted)
            low = low if reached <= wide else wide  # as far as that nothing was found
            wide = rounded(sympy.sqrt(low * reached).n(), up=True)
            if wide >= reached:
                return

    def _hunt(self, variant, setting, seconds, seed):
        target = Target(variant, setting, self.part.line)
        if target.impossible:
            return
        seen, looked, done = {}, 0, False
        for hunt, rate, row in waves.searched(target, seconds, seed):
            seen[hunt] = None
            if rate > WRONG and looked < CANDIDATES * STEPS:
                for point in Point.nearby(hunt, row):  # on an edge, rounding leads outside
                    looked += 1
                    answer = point.breaks()
                    done = answer is not None and self._take(answer, hunt, row)
                    if answer is not None:
                        break
            if done:
                break
        self.spent += sum(hunt.work for hunt in seen) / hunting.PER_SECOND

    def _take(self, answer, hunt, row):
        """Keep the violation, at as near a ceiling as its instance lies beyond; whether it is
        nearer than the last."""
        try:
            value = rounded(beyond(self.part, answer.values), up=True)
        except UNANSWERED:
            return False
        old = self.found.refuted
        if value <= 1 or old is not None and value >= old:
            return False
        keep(self.found, self.part, value, hunt, row, MARGINS)
        return self.found.refuted != old


def beyond(part, values):
    """How far an instance lies beyond a ceiling: the smaller side over the larger, as a Float."""
    small, large = (bounded(part.variant(1).expand(side), values) for side in part.sides)
    return sympy.Float(float(small / large))


def at(part, value, hunt, row, tries=2):
    """(the variant with a value, its hunt at another's shape, Points there): the last is empty where
    it has other coordinates."""
    claim = part.variant(value)
    target = Target(claim, hunt.target.setting, part.line)
    numbers = {name: n for name, n in hunt.numbers.items() if name in target.counts}
    own = hunting.hunt_at(target, hunt.shape, numbers, 0)
    if not set(own.names) <= set(hunt.column):
        return claim, own, []
    there = np.array([row[hunt.column[name]] for name in own.names])
    return claim, own, list(islice(Point.nearby(own, there), tries))


def breaks_at(part, value, hunt, row):
    """(whether the variant with a value fails for certain at a hunt's point, the seconds that it
    took to see)."""
    _, own, points = at(part, value, hunt, row)
    return any(point.breaks() for point in points), own.work / hunting.PER_SECOND


def keep(found, part, value, hunt, row, tries=2):
    """Set what is refuted, with its certificate."""
    claim, own, points = at(part, value, hunt, row, tries)
    verdict = looking.refuted(claim, own, points, 0, EFFORT)
    if verdict:
        found.refuted = Fraction(int(value.p), int(value.q))
        found.certificate = verdict.certificate


def proved(found, part, seconds, seed):
    """Set the value nearest to what is refuted with which algebra still proves the line."""
    printed = sympy.Rational(found.printed)
    if found.why or part.kind == "exponent":
        return
    end = FAR * printed if found.most else sympy.Integer(0)
    end = end if found.refuted is None else sympy.Rational(found.refuted)
    holds, fails = printed, None
    for step in range(STEPS):
        value = end if fails is None else rounded((holds + fails) / 2, up=not found.most)
        if value in (holds, fails):
            return
        proof = None
        if not (fails is None and found.refuted is not None):
            proof = algebra.line(
                part.variant(value), part.line, budget=seconds, refute=False, seed=seed
            )
        if proof:
            holds = value
            found.proved = Fraction(int(value.p), int(value.q))
            found.document = dict(proof.certificate)
            if fails is None:
                return
        else:
            fails = value


def rounded(value, up):
    """A number of few digits on one side of a positive one."""
    value = sympy.Rational(str(sympy.Float(value))) if not value.is_Rational else value
    if value <= 0:
        return sympy.Integer(0)
    unit = sympy.Integer(10) ** (int(sympy.floor(sympy.log(value, 10))) - DIGITS + 1)
    steps = sympy.ceiling(value / unit) if up else sympy.floor(value / unit)
    return sympy.Rational(steps * unit)


def decimal(value):
    return None if value is None else f"{float(value):.6g}"

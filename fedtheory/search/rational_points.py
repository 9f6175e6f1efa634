"""Rounding of a search's point to an instance in small rationals, and the exact test whether the
line fails there."""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import NoInstance, Undefined, Unknown, work
from fedtheory.arithmetic.operations import Interval, Undecided
from fedtheory.errors import FedtheoryError
from fedtheory.search.objective import Answer, exact_value
from fedtheory.typing import Number

if TYPE_CHECKING:
    import numpy as np
    import sympy

    from fedtheory.search.optimizer import ShapeSearch

# Logarithmic margins by which a point is moved inside the edges, tried in turn: rounding may leave
# a point of an edge outside.
MARGINS = (0.0, 1e-7, 1e-5, 1e-3)
ROOT_BITS = 40  # bits of the number whose square is put under a root
# Largest denominators of the simpler numbers that are tried in place of a number.
DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 50, 100, 1000)
# Both in elementary steps of a search. STEP: the cost of one step of exact arithmetic. ASKED: the
# cost of one question to a point, besides its arithmetic.
STEP, ASKED = 2.5, 300.0
EVEN, SKEWED = "even", "skewed"  # kinds of noise in `models.families`
SIMPLER = 5  # work for finding simpler numbers, in multiples of the limit on one evaluation
UNANSWERED = (Undefined, Undecided, ZeroDivisionError, OverflowError, FedtheoryError)


class Point:
    """The shape of a search with every coordinate and free number as a Fraction.

    Evaluations of the point are charged to its ShapeSearch. An evaluation that would take more steps than
    the ShapeSearch's `look` has no answer.
    """

    def __init__(self, hunt: "ShapeSearch", numbers: Mapping[str, Number]) -> None:
        self.hunt, self.numbers = hunt, numbers
        self.dear = False  # whether an evaluation exceeded the allowed work
        self.none = False  # whether the point is no instance, because the run would be refused
        self.lacking = None  # the exception for which the last question had no answer

    def answer_question(self, question: Callable[..., Any]) -> float | Answer | None:
        """Return the result of a question, or None where it has no value or exceeds the allowed
        work."""
        left, before = [0], 0
        try:
            with work.limit_work(self.hunt.look) as left:
                before = left[0]
                return question()
        except UNANSWERED as why:  # `within` raises it again where NumPy went on
            self.dear |= isinstance(why, work.Spent)
            self.lacking = why
            self.none |= isinstance(why, NoInstance)
            return None
        finally:
            self.hunt.work += ASKED + STEP * (before - left[0])

    @classmethod
    def near(cls, hunt: "ShapeSearch", raw: "np.ndarray") -> "Point | None":
        """Return the point of a raw row, with numbers rounded to Fractions of few bits; later
        arithmetic is exact. Return None where a number is not finite."""
        numbers = {}
        for name, n in hunt.column.items():
            value = float(hunt.number(name, raw[n]))
            if not math.isfinite(value):
                return None
            numbers[name] = round_to_bits(value)
        return cls(hunt, numbers)

    @classmethod
    def nearby_points(cls, hunt: "ShapeSearch", raw: "np.ndarray") -> "Iterator[Point]":
        """Yield the point of a raw row, then points ever further inside the edges, since rounding
        leads outside from an edge. Stops once a point has exceeded the allowed work."""
        for margin in MARGINS:
            point = cls.near(hunt, hunt.move_inside(raw, margin) if margin else raw)
            if point is not None:
                yield point
                if point.dear:
                    return
                yield from point.squares()

    def instance_and_values(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return (instance, all values that are known before a method runs)."""
        q, hunt = self.hunt.target, self.hunt
        exact = work.Counted if work.is_metered() else Fraction
        numbers = {
            name: number if isinstance(number, Interval) else exact(number)
            for name, number in self.numbers.items()
        }
        at = {name: numbers[name] for name in q.setting.coordinates(hunt.shape)}
        instance = q.setting.build(hunt.shape, at)
        tight = q.setting.constants(instance)
        given = {name: Fraction(n) for name, n in hunt.numbers.items()}
        given.update({name: numbers[name] for name in q.reals})
        for name in q.slack:
            slack = numbers[f"slack {name}"]
            if slack <= 0 or (slack - 1) * q.setting.loose[name] < 0:
                raise Undefined("no bound any more")
            if slack != 1:
                given[name] = tight[name] * slack
        return instance, q.values_before_run(given, tight)

    @cached_property
    def _answer(self) -> Any:
        return self.answer_question(lambda: self.hunt.target.exactly(*self.instance_and_values()))

    def answer(self) -> Answer | None:
        """Return the Answer at this point, or None where it has no value."""
        return self._answer

    def squares(self) -> "Iterator[Point]":
        """Yield, for each root in the hypotheses that is irrational here, this point with one
        coordinate scaled slightly so that the expression under the root is a square.

        An irrational root is known only by an enclosure. Where an instance lies on an edge with
        such a root, no enclosure decides on which side of the edge the instance lies.
        """
        try:
            for under in self.hunt.target.list_radicands:
                value = self.under(under)
                if value is not None and not is_square(value):
                    scaled = (
                        self.scale_to_square(name, under, value) for name in self.scale_exponents()
                    )
                    yield from islice(filter(None, scaled), 1)
        except UNANSWERED:
            return

    def under(self, expr: "sympy.Symbol") -> Fraction | None:
        """Return the value of an expression under a root of a hypothesis, where it is a positive
        rational that is known early, else None."""
        values = self.instance_and_values()[1]
        if not {s.name for s in expr.free_symbols} <= set(values):
            return None
        value = exact_value(expr, values)
        return value if isinstance(value, Fraction) and value > 0 else None

    def scale_exponents(self) -> list[str]:
        """Return the names of positive coordinates and free numbers, with the scale of all losses
        first."""
        kinds = self.hunt.kinds
        return sorted(
            (
                n
                for n, kind in kinds.items()
                if kind in ("positive", "nonnegative") and self.numbers[n] > 0
            ),
            key=lambda n: n != "scale",
        )

    def scale_to_square(self, name: str, under: "sympy.Symbol", value: Fraction) -> "Point | None":
        """Return this point with a coordinate scaled so that a value becomes a square, if the value
        is proportional to an odd power of the coordinate, else None."""
        there = self.with_number(name, 2 * self.numbers[name]).under(under)
        if there not in {value * Fraction(2) ** k for k in (-3, -1, 1, 3)}:
            return None
        root = round_to_bits(math.sqrt(value), ROOT_BITS)
        return self.with_number(name, self.numbers[name] * root * root / value)

    def breaks(self) -> Answer | None:
        """Return the Answer if the line is certainly false and every assumption certainly holds,
        else None."""
        answer = self.answer()
        if answer is None:
            return None
        fails = self.answer_question(lambda: answer.certainly_fails and not any(answer.failing()))
        return answer if fails else None

    def equality_undecided(self) -> bool:
        """Tell whether the line is strict and no enclosure separates its sides. Both sides may then
        be the same irrational number."""
        answer = self.answer()
        if answer is None or not answer.target.strict:
            return False
        open_ = lambda: not answer.certainly_holds and not answer.certainly_fails
        return bool(self.answer_question(lambda: open_() and not any(answer.failing(surely=True))))

    def failing(self) -> Any:
        """Return in words the assumptions of the claim that an instance at this point certainly
        violates."""
        q = self.hunt.target
        answer = self.answer_question(lambda: Answer(q, *self.instance_and_values(), sides=False))
        return (answer and self.answer_question(lambda: [*answer.failing(surely=True)])) or []

    def why_unsettled(self) -> str:
        """Return why it stays undecided whether the line fails at this point, or "" where this
        point is no candidate. A point is no candidate where a side has no value (0/0), a hypothesis
        certainly fails, or the line certainly holds."""
        answer = self.answer()
        if self.dear:
            return "a look at it takes more work than it may"
        if answer is None:
            unknown = isinstance(self.lacking, (Unknown, Undecided, OverflowError))
            return str(self.lacking) if unknown else ""
        fails = self.answer_question(lambda: [*islice(answer.failing(surely=True), 1)])
        if fails or self.certainly_holds():
            return ""
        unmet = self.answer_question(lambda: [*islice(answer.failing(), 1)])
        if unmet:
            return f"whether it meets {unmet[0]} stays open"
        return "no enclosure tells its two sides apart"

    def ratio(self, certified: bool = False) -> Number:
        """Return the line's ratio where no assumption certainly fails, else None. With `certified`,
        every assumption must certainly hold."""
        answer = self.answer()
        if answer is None:
            return None
        outside = lambda: any(answer.failing(surely=not certified))
        return self.answer_question(lambda: None if outside() else answer.ratio)

    def certainly_holds(self) -> bool:
        """Tell whether the line certainly holds at this point, whether or not the point meets the
        hypotheses."""
        answer = self.answer()
        return answer is not None and bool(self.answer_question(lambda: answer.certainly_holds))

    def with_number(self, name: str, value: Fraction) -> "Point":
        """Return this point with another value of a number."""
        return Point(self.hunt, {**self.numbers, name: value})

    def simpler(self, effort: int = 400, looks: int | None = None) -> "Point | None":
        """Return a point with the simplest numbers, found one coordinate after another, at which
        the line still fails. The number of tries and of exact steps is limited; None means that the
        line does not fail here."""
        if self.breaks() is None:
            return None
        most = self.hunt.work + STEP * (looks or SIMPLER * self.hunt.look)
        best, tries = self.even(), 0
        hunt = best.hunt
        for round in range(2):
            changed = False
            for name in sorted(best.numbers, key=lambda n: -bit_size(best.numbers[n])):
                value = best.numbers[name]
                for candidate in simpler_numbers(value, name.startswith("slack")):
                    if (
                        bit_size(candidate) >= bit_size(value)
                        or tries >= effort
                        or hunt.work > most
                    ):
                        break
                    tries += 1
                    trial = best.with_number(name, candidate)
                    if trial.breaks() is not None:
                        best, changed = trial, True
                        break
            if not changed:
                break
        self.hunt.work = hunt.work
        return best

    def even(self) -> "Point":
        """Return this point with symmetric noise in place of skewed noise, wherever the line still
        fails with it."""
        best = self
        for name in (name for name, word in self.hunt.shape.items() if word == SKEWED):
            hunt = best.hunt
            shape = {**hunt.shape, name: EVEN}
            other = type(hunt)(hunt.target, shape, hunt.numbers, hunt.generator)
            other.look, other.work = hunt.look, hunt.work
            trial = Point(other, self.numbers)
            best = trial if trial.breaks() is not None else best
            best.hunt.work = other.work
        return best


def simpler_numbers(value: Fraction, slack: bool) -> list[Fraction]:
    """Return simpler numbers near a value, the simplest first."""
    found = [] if not slack else [Fraction(1)]
    one = Fraction(1 if value > 0 else -1)
    found += [Fraction(0), Fraction(1), Fraction(-1)] if abs(value) < 30 else [one]
    if value:
        size = math.log10(abs(value.numerator)) - math.log10(
            value.denominator
        )  # beyond floats, too
        near = Fraction(10) ** round(size)
        found += [near if value > 0 else -near]
    for d in DENOMINATORS:
        near = (
            value.limit_denominator(d)
            if abs(value) >= 1 or value == 0
            else 1 / (1 / value).limit_denominator(d)
        )
        for scale in (1, Fraction(99, 100), Fraction(101, 100)):
            found.append(near if scale == 1 else (near * scale).limit_denominator(d * 100))
    return sorted(dict.fromkeys(found), key=bit_size)


def is_square(value: Fraction) -> bool:
    """Tell whether a positive Fraction is the square of a Fraction."""
    return all(math.isqrt(part) ** 2 == part for part in (value.numerator, value.denominator))


def bit_size(value: Fraction) -> int:
    """Return the bits of numerator and denominator, plus 1 for a minus sign: the simplicity by
    which numbers are ordered."""
    return value.numerator.bit_length() + value.denominator.bit_length() + (value < 0)


def round_to_bits(value: float, digits: int = 30) -> Fraction:
    """Return a float as a Fraction of few bits; zero stays zero."""
    if value == 0:
        return Fraction(0)
    exponent = math.frexp(value)[1]
    return Fraction(round(value * 2.0 ** (digits - exponent))) * Fraction(2) ** (exponent - digits)

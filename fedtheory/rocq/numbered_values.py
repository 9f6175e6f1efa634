"""A computation as plain data: the numbers of a document by their positions, and each step after
its operands."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fedtheory.arithmetic.operations import BITS, ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.rocq.steps import Step, Steps, round_outward
from fedtheory.rocq.tracked_values import Book, Exact
from fedtheory.typing import Assignment


class Wide(Steps):
    """Steps that are only computed, not proved in Rocq: the limits on the number of steps and on
    the length of numbers are larger."""

    bits, long, most = BITS, 40_000, 300_000


class NumberedBook(Book):
    """A book in which a number of the document is named by its position. Integer parts and rounding
    outward are steps, too."""

    def __init__(self) -> None:
        super().__init__(Wide())

    def tree(self, data: Any, path: str = "") -> Any:
        if isinstance(data, dict):
            return {name: self.tree(value, f"{path}{name}/") for name, value in data.items()}
        if isinstance(data, list):
            return [self.tree(value, f"{path}{n}/") for n, value in enumerate(data)]
        if isinstance(data, Fraction):
            return self.number(self.steps.make("at", (path[:-1],), data, data))
        return data

    def number_of_document(self, name: str, value: Counted) -> Exact:
        """Return a number that the document gives by name."""
        return self.number(self.steps.make("given", (name,), *ends_of(value)))

    def floor(self, step: Step) -> Exact:
        low, high = (Fraction(end // 1) for end in (step.low, step.high))
        return self.number(self.steps.make("floor", (step,), low, high))

    def short(self, step: Step) -> Any:
        low, high = round_outward(step.low, -1, BITS), round_outward(step.high, 1, BITS)
        return self.number(self.steps.make("short", (step,), low, high))


def write_steps(values: Assignment, went: Sequence[tuple[Step, str, Step]] = ()) -> dict[str, Any]:
    """Return {"steps", "values", "went"} for steps, or lists of steps, by name (`values`) and for
    comparisons between steps (`went`)."""
    flat = lambda value: value if isinstance(value, (list, tuple)) else [value]
    wanted = [step for value in values.values() for step in flat(value)]
    needed, waiting = {}, [*wanted, *(step for a, _, b in went for step in (a, b))]
    while waiting:
        step = waiting.pop()
        if step.at not in needed:
            needed[step.at] = step
            waiting += [part for part in step.parts if isinstance(part, Step)]
    place = {at: n for n, at in enumerate(sorted(needed))}
    at = lambda value: (
        [at(step) for step in value] if isinstance(value, (list, tuple)) else place[value.at]
    )
    plain = lambda part: (
        place[part.at]
        if isinstance(part, Step)
        else str(part)
        if isinstance(part, Fraction)
        else part
    )
    return dict(
        steps=[[needed[n].op, *map(plain, needed[n].parts)] for n in sorted(needed)],
        values={name: at(value) for name, value in sorted(values.items())},
        went=[[place[a.at], sign, place[b.at]] for a, sign, b in went],
    )

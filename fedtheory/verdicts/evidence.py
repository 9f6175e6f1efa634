"""Evidence: what a strategy found on a line or a statement, as a record of its kind.

A record says what was found and where. It names no status: `verdicts.combination` alone derives
statuses and sentences from evidence.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from fedtheory.models import Model
from fedtheory.models.instances import texts
from fedtheory.search.rational_points import Point
from fedtheory.typing import Number
from fedtheory.verdicts.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What every kind of evidence may have."""

    cases: int = 0  # the number of examined instances
    searched: str = ""  # in words: the sizes, losses and number of examined instances
    notes: tuple[str, ...] = ()
    document: dict | None = None  # shows it, and stands alone
    model: Model | None = None


@dataclass(frozen=True, kw_only=True)
class Proof(Evidence):
    """A proof that a line follows from the hypotheses."""

    says: str


@dataclass(frozen=True, kw_only=True)
class Implication(Evidence):
    """Another claim, from which a line follows."""

    premise: str


@dataclass(frozen=True, kw_only=True)
class Vacuity(Evidence):
    """The reason why a claim says nothing at all, or nothing in the model."""

    says: str


@dataclass(frozen=True, kw_only=True)
class Counterexample(Evidence):
    """An instance of a model, checked from its document, at which a line fails."""

    model: Model
    document: dict
    ratio: float | None  # left to right side


class Tightest(NamedTuple):
    """The instance at which a line reaches the largest ratio of left to right side."""

    ratio: float
    numbers: dict
    witness: dict

    @classmethod
    def at_point(cls, ratio: Number, point: Point) -> "Tightest":
        """Return the ratio at a point of a search."""
        hunt, numbers = point.hunt, {**point.hunt.numbers, **point.numbers}
        name = hunt.target.setting.name
        witness = dict(setting=name, shape=hunt.shape, numbers=texts(numbers))
        return cls(ratio, texts(point.numbers), witness)


@dataclass(frozen=True, kw_only=True)
class Search(Evidence):
    """A search of a model that found no counterexample."""

    model: Model
    tightest: Tightest | None = None


@dataclass(frozen=True, kw_only=True)
class Trial(Evidence):
    """Searches of several models, beside a pool of instances, that found no counterexample."""

    kind: str


@dataclass(frozen=True, kw_only=True)
class Doubt(Evidence):
    """An instance of a model at which a line seems to fail and exact numbers do not confirm it."""

    model: Model
    reason: str
    witness: dict


@dataclass(frozen=True, kw_only=True)
class Gap(Evidence):
    """The reason why nothing was decided."""

    says: str
    kind: str
    witness: dict | None = None


@dataclass(frozen=True, kw_only=True)
class Family(Evidence):
    """Instances of a model along which the left side of an order outgrows its shape."""

    model: Model
    document: dict
    growth: list[str]  # left over shape along the family


@dataclass(frozen=True, kw_only=True)
class Companion(Evidence):
    """An explicit claim, from whose bound an order follows with a constant."""

    name: str
    verdict: Verdict  # on the explicit claim
    constant: float
    held: float  # the coefficients of the order's regime
    sweeps: str  # in words: how the bound was compared with the shape


@dataclass(frozen=True, kw_only=True)
class Misprint(Evidence):
    """Printed cells of a table that differ from the computed cells."""

    first: tuple[str, Any, Any]  # a cell, as it is printed and as it is computed
    witness: dict  # every such cell, in words


@dataclass(frozen=True, kw_only=True)
class Difference(Evidence):
    """Two ways to run that end at different points."""

    one: str
    other: str
    gap: float  # a share of the largest coordinate
    instance: dict
    points: list


@dataclass(frozen=True, kw_only=True)
class Agreement(Evidence):
    """Printed cells that are those computed, and runs that end at the same points."""

    cells: int
    tolerance: float  # a share of the largest coordinate
    sizes: str  # of the problems that were run, in words


@dataclass(frozen=True, kw_only=True)
class Draws(Evidence):
    """Sampled runs, against a bound on an expectation."""

    refuted: bool
    bound: float
    least: float  # what the expectation is at least, with confidence 1 - alpha / 2
    alpha: float
    witness: dict


class Given(NamedTuple):
    """The evaluation of instances that the user gives with a claim, on one line."""

    refuting: Counterexample | None = None
    tightest: Tightest | None = None
    says: str = ""  # how many were evaluated; "" for none

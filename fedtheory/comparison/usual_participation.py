"""Defaults of a comparison: hyper-parameter words and participation with which a run meets the
claim's hypotheses, and the value of a letter that nothing else fixes, chosen to make the bound
least."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar

from fedtheory.algorithm import Field
from fedtheory.comparison.case import Letters, right_side
from fedtheory.comparison.objectives import LOSSES
from fedtheory.comparison.run_measures import POINTWISE
from fedtheory.errors import InvalidInput
from fedtheory.language.conditions import Condition, settle_words
from fedtheory.participation import Participation
from fedtheory.problem import Problem

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

DECADES = np.linspace(-9, 6, 61)  # powers of ten of a letter at which the bound is evaluated first
FIGURES = 3  # significant figures of the chosen value


def settled_words(
    claim: "Claim", problem: Problem, hyper: Mapping[str, Field]
) -> dict[str, float | str]:
    """Return {hyper-parameter: value} that the claim's conditions settle for a method with these
    hyper-parameters."""
    return settle_words(assumed_conditions(claim), problem, hyper)[0]


def assumed_conditions(claim: "Claim") -> list[Condition]:
    """Return the conditions that a claim assumes."""
    return [a.condition for a in claim.assumptions if a.condition is not None]


def usual_participation(claim: "Claim", problem: Problem) -> Participation:
    """Return the participation that a claim assumes, for a comparison in which none is given."""
    fields = {field.name for field in dataclasses.fields(Participation)}
    found = settle_words(assumed_conditions(claim), problem, {})[1]
    return Participation(**{name: value for name, value in found.items() if name in fields})


def cheapest_letters(letters: Letters, T: int) -> dict[str, float]:
    """Return {letter: value} that minimises the bound at T rounds, if one letter is left that
    nothing fixes, or one letter from which equations give the others; else {}.

    A constant of a rate (a letter that is no hyper-parameter) is chosen before the rate. The bound
    is evaluated on the grid DECADES and minimised between the neighbours of its least point; a
    least point at an end of the grid is no minimum.
    """
    claim = letters.claim
    left = [n for n in claim.parameters if n not in letters.at(T)[0]]
    for name in sorted(left, key=lambda n: n in letters.hyper):
        found = (
            None if claim.table[name].domain != "positive" else _least_in_letter(letters, name, T)
        )
        if found is not None:
            return {name: found}
    return {}


def _least_in_letter(letters: Letters, name: str, T: int) -> float | None:
    """Return the value of a letter at which the bound is least, None where no such value lies
    between the ends. Quantities that the bound measures along the run are taken at the start: the
    result is a choice, not a claim."""
    line = letters.line
    read = line.on(line.right)
    known = LOSSES.keys() | set(POINTWISE)
    if line.sign not in ("<=", "<") or any(e.measure.metric not in known for e in read.values()):
        return None
    at_start = {n: np.array([[np.mean(letters.of_start(entry))]]) for n, entry in read.items()}

    def bound(decade: float) -> float:
        tried = letters.with_letter(name, 10.0**decade)
        known = tried.at(T)[0]
        if not set(letters.claim.parameters) <= set(known):
            return np.inf
        found = float(right_side(line, tried, known, at_start, [T])[0])
        return found if np.isfinite(found) else np.inf

    try:
        at = int(np.argmin([bound(decade) for decade in DECADES]))
    except InvalidInput:
        return None
    if not 0 < at < len(DECADES) - 1:
        return None
    ends = DECADES[at - 1], DECADES[at + 1]
    best = minimize_scalar(bound, bounds=ends, method="bounded", options=dict(xatol=1e-4)).x
    return float(f"{10.0**best:.{FIGURES}g}")

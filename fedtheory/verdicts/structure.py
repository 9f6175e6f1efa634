"""Structure claims: two ways to run that are said to give the same points, and cells that are said
to follow.

Points that agree to rounding, from the smallest problems on, support the claim; points far apart
refute it where data that differ by more than rounding move either path by far less.
"""

from dataclasses import dataclass, field
from random import Random

from fedtheory.search.coverage import ranges
from fedtheory.verdicts import ends
from fedtheory.verdicts.equivalence import (
    ALIKE,
    APART,
    apart,
    difference,
    drawn,
    label,
    plainer,
    shortened,
)
from fedtheory.verdicts.structure_document import (
    conditions,
    counted,
    misprints,
    signed,
    text,
    written,
)
from fedtheory.verdicts.verdict import Verdict

ALONE = "No document of it stands alone: it compares with what a function of yours computes."
CASES_A_SECOND, FEWEST, MOST = 4, 8, 100  # of budget; instances of each equivalence


def decide(claim, budget, seed):
    """The Verdict on a claim that states equivalences or cells."""
    cells = [each for each in claim.cells() if each[2] is not None]
    differ = [each for each in cells if each[1] != each[2]]
    if differ:
        return misprinted(claim, differ)
    if len(cells) < len(claim.printed):
        return said(
            claim,
            "undecided",
            f"Of {len(claim.printed)} printed cells {len(cells)} were computed.",
            cases=len(cells),
        )
    number, found = min(MOST, max(FEWEST, int(CASES_A_SECOND * budget))), Compared()
    for which, same in enumerate(claim.same):
        verdict = compared(claim, which, same, number, seed, found)
        if verdict:
            return verdict
    if found.largest > ALIKE:
        return said(
            claim,
            "undecided",
            f"Points differ by up to {found.largest:.3g} of their largest "
            "coordinate, more than rounding explains and less than a difference.",
            cases=found.cases,
        )
    return agreeing(claim, found)


@dataclass
class Compared:
    """What a search for points that differ has looked at."""

    cases: int = 0
    largest: float = 0.0  # gap, in parts of the largest coordinate
    sizes: dict = field(default_factory=dict)

    def add(self, instance, gap):
        self.cases += 1
        self.largest = max(self.largest, gap)
        N, d = len(instance["b"]) - 1, len(instance["x"])
        for name, size in dict(N=N, d=d, S=instance["S"], rounds=instance["rounds"]).items():
            self.sizes.setdefault(name, set()).add(size)


def said(claim, status, why, **more):
    return Verdict(claim.id, status, "structure", why, **more)


def refuted(claim, why, certificate, **more):
    notes = [] if certificate else [ALONE]
    return said(claim, "violated", why, certificate=certificate, notes=notes, **more)


def misprinted(claim, differ):
    """The Verdict where cells are printed that are not those computed."""
    cell, printed, computed = differ[0]
    return refuted(
        claim,
        f"{cell}: printed {printed}, computed {computed}.",
        signed(claim, cells=misprints(claim), **counted(claim)),
        cases=len(claim.printed),
        confidence=1.0,
        witness={
            cell: dict(printed=text(printed), computed=text(computed))
            for cell, printed, computed in differ
        },
    )


def compared(claim, which, same, number, seed, found):
    """The Verdict on one equivalence if it is refuted, or if no problem meets its hypotheses; None
    where points agree on all that were drawn."""
    before = found.cases
    for n in range(number):
        instance = drawn(claim, same, Random(f"{seed}/structure/{which}/{n}"), n)
        if instance is None:
            continue
        gap, _ = difference(same, instance)
        parted = gap > APART and apart(same, instance)
        found.add(instance, 0.0 if parted else gap)
        if parted:
            return parting(claim, which, same, instance, found.cases)
    if found.cases == before:
        return said(claim, "undecided", "No problem was drawn that meets its hypotheses.")
    return None


def parting(claim, which, same, instance, cases):
    """The Verdict where two ways to run give different points."""
    gap, instance, paths = shortened(same, plainer(same, instance))
    exact = ends.written(same, instance)
    points = [[[repr(float(x)) for x in point] for point in path] for path in paths]
    one, other = label(same.one), label(same.other)
    return refuted(
        claim,
        f"{one} and {other} differ by "
        f"{gap:.3g} of their largest coordinate after {instance['rounds']} rounds.",
        signed(
            claim,
            same=which,
            equivalence=written(same),
            instance=instance,
            conditions=conditions(claim),
            **(dict(points=exact) if exact else {}),
        ),
        cases=cases,
        witness=dict(instance, one=one, other=other, points=points),
    )


def agreeing(claim, found):
    """The Verdict where nothing differs."""
    why = (
        f"{len(claim.printed)} printed cells are those computed"
        if claim.printed
        else f"points agree to {ALIKE:g} of their largest coordinate on {found.cases} drawn problems"
    )
    runs = f"{found.cases} drawn problems, quadratic, run both ways ({ranges(found.sizes)})"
    searched = [runs] * bool(found.cases)
    searched += [f"all {len(claim.printed)} printed cells"] * bool(claim.printed)
    return said(
        claim,
        "holds",
        why[0].upper() + why[1:] + ".",
        cases=found.cases or len(claim.printed),
        confidence=1.0 if claim.printed and not claim.same else None,
        searched="; ".join(searched),
    )

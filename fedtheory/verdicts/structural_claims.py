"""Structure claims: two ways to run that should give the same points, and table cells that should
follow from inputs.

Points that agree up to rounding support the claim; the smallest problems are tried first. Points
far apart refute the claim if a perturbation of the data, larger than rounding, moves each path by
much less.
"""

from dataclasses import dataclass, field
from random import Random

from fedtheory.search.coverage import describe_ranges
from fedtheory.verdicts import exact_endpoints
from fedtheory.verdicts.equivalence import (
    ALIKE,
    APART,
    draw_instance,
    is_apart,
    make_plainer,
    path_difference,
    shorten_rounds,
    side_label,
)
from fedtheory.verdicts.structural_certificate import (
    cell_inputs,
    cell_text,
    condition_words,
    equivalence_data,
    list_misprints,
    sign_violation,
)
from fedtheory.verdicts.verdict import Verdict

ALONE = "No document of it stands alone: it compares with what a function of yours computes."
# CASES_A_SECOND: instances of each equivalence per second of budget. FEWEST, MOST: the smallest and
# the largest number of instances.
CASES_A_SECOND, FEWEST, MOST = 4, 8, 100


def decide_structure(claim, budget, seed):
    """Return the Verdict on a claim that states equivalences or cells."""
    cells = [each for each in claim.cells() if each[2] is not None]
    differ = [each for each in cells if each[1] != each[2]]
    if differ:
        return refute_misprint(claim, differ)
    if len(cells) < len(claim.printed):
        return structure_verdict(
            claim,
            "undecided",
            f"Of {len(claim.printed)} printed cells {len(cells)} were computed.",
            cases=len(cells),
        )
    number, found = min(MOST, max(FEWEST, int(CASES_A_SECOND * budget))), Compared()
    for which, same in enumerate(claim.same):
        verdict = compare_equivalence(claim, which, same, number, seed, found)
        if verdict:
            return verdict
    if found.largest > ALIKE:
        return structure_verdict(
            claim,
            "undecided",
            f"Points differ by up to {found.largest:.3g} of their largest "
            "coordinate, more than rounding explains and less than a difference.",
            cases=found.cases,
        )
    return paths_agree(claim, found)


@dataclass
class Compared:
    """The statistics of a search for points that differ: number of cases, largest difference,
    sizes."""

    cases: int = 0
    largest: float = 0.0  # the largest gap, as a share of the largest coordinate
    sizes: dict = field(default_factory=dict)

    def add(self, instance, gap):
        self.cases += 1
        self.largest = max(self.largest, gap)
        N, d = len(instance["b"]) - 1, len(instance["x"])
        for name, size in dict(N=N, d=d, S=instance["S"], rounds=instance["rounds"]).items():
            self.sizes.setdefault(name, set()).add(size)


def structure_verdict(claim, status, why, **more):
    return Verdict(claim.id, status, "structure", why, **more)


def refute_structure(claim, why, certificate, **more):
    notes = [] if certificate else [ALONE]
    return structure_verdict(claim, "violated", why, certificate=certificate, notes=notes, **more)


def refute_misprint(claim, differ):
    """Return the Verdict where printed cells differ from the computed ones."""
    cell, printed, computed = differ[0]
    return refute_structure(
        claim,
        f"{cell}: printed {printed}, computed {computed}.",
        sign_violation(claim, cells=list_misprints(claim), **cell_inputs(claim)),
        cases=len(claim.printed),
        confidence=1.0,
        witness={
            cell: dict(printed=cell_text(printed), computed=cell_text(computed))
            for cell, printed, computed in differ
        },
    )


def compare_equivalence(claim, which, same, number, seed, found):
    """Return the Verdict on one equivalence if it is refuted, or if no problem satisfies its
    hypotheses; None where the points agree on all drawn problems."""
    before = found.cases
    for n in range(number):
        instance = draw_instance(claim, same, Random(f"{seed}/structure/{which}/{n}"), n)
        if instance is None:
            continue
        gap, _ = path_difference(same, instance)
        parted = gap > APART and is_apart(same, instance)
        found.add(instance, 0.0 if parted else gap)
        if parted:
            return paths_part(claim, which, same, instance, found.cases)
    if found.cases == before:
        return structure_verdict(
            claim, "undecided", "No problem was drawn that meets its hypotheses."
        )
    return None


def paths_part(claim, which, same, instance, cases):
    """Return the Verdict where two ways to run give different points."""
    gap, instance, paths = shorten_rounds(same, make_plainer(same, instance))
    exact = exact_endpoints.document_points(same, instance)
    points = [[[repr(float(x)) for x in point] for point in path] for path in paths]
    one, other = side_label(same.one), side_label(same.other)
    return refute_structure(
        claim,
        f"{one} and {other} differ by "
        f"{gap:.3g} of their largest coordinate after {instance['rounds']} rounds.",
        sign_violation(
            claim,
            same=which,
            equivalence=equivalence_data(same),
            instance=instance,
            conditions=condition_words(claim),
            **(dict(points=exact) if exact else {}),
        ),
        cases=cases,
        witness=dict(instance, one=one, other=other, points=points),
    )


def paths_agree(claim, found):
    """Return the Verdict where no cell and no point differs."""
    why = (
        f"{len(claim.printed)} printed cells are those computed"
        if claim.printed
        else f"points agree to {ALIKE:g} of their largest coordinate on {found.cases} drawn problems"
    )
    runs = (
        f"{found.cases} drawn problems, quadratic, run both ways ({describe_ranges(found.sizes)})"
    )
    searched = [runs] * bool(found.cases)
    searched += [f"all {len(claim.printed)} printed cells"] * bool(claim.printed)
    return structure_verdict(
        claim,
        "holds",
        why[0].upper() + why[1:] + ".",
        cases=found.cases or len(claim.printed),
        confidence=1.0 if claim.printed and not claim.same else None,
        searched="; ".join(searched),
    )

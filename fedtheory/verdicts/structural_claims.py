"""Structure claims: two ways to run that should give the same points, and table cells that should
follow from inputs.

Points that agree up to rounding support the claim; the smallest problems are tried first. Points
far apart refute the claim if a perturbation of the data, larger than rounding, moves each path by
much less.
"""

from dataclasses import dataclass, field
from random import Random

from fedtheory.language.claim import Claim, Same
from fedtheory.search.coverage import describe_ranges
from fedtheory.verdicts import exact_endpoints
from fedtheory.verdicts.case import Case
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
from fedtheory.verdicts.evidence import Agreement, Difference, Evidence, Gap, Misprint
from fedtheory.verdicts.structural_certificate import (
    cell_inputs,
    cell_text,
    condition_words,
    equivalence_data,
    list_misprints,
    sign_violation,
)

ALONE = "No document of it stands alone: it compares with what a function of yours computes."
# CASES_A_SECOND: instances of each equivalence per second of budget. FEWEST, MOST: the smallest and
# the largest number of instances.
CASES_A_SECOND, FEWEST, MOST = 4, 8, 100


def examine_structure(case: Case) -> Evidence:
    """Return the evidence on a claim of equivalences or cells."""
    claim = case.claim
    cells = [each for each in claim.cells() if each[2] is not None]
    if differ := [each for each in cells if each[1] != each[2]]:
        return find_misprint(claim, differ)
    if len(cells) < len(claim.printed):
        says = f"Of {len(claim.printed)} printed cells {len(cells)} were computed."
        return Gap(says=says, kind="structure", cases=len(cells))
    number, found = (
        min(MOST, max(FEWEST, int(CASES_A_SECOND * case.budget))),
        DifferenceStatistics(),
    )
    for which, same in enumerate(claim.same):
        evidence = compare_equivalence(claim, which, same, number, case.seed, found)
        if evidence:
            return evidence
    if found.largest > ALIKE:
        says = (
            f"Points differ by up to {found.largest:.3g} of their largest "
            "coordinate, more than rounding explains and less than a difference."
        )
        return Gap(says=says, kind="structure", cases=found.cases)
    sizes = describe_ranges(found.sizes)
    return Agreement(cells=len(claim.printed), tolerance=ALIKE, sizes=sizes, cases=found.cases)


@dataclass
class DifferenceStatistics:
    """The statistics of a search for points that differ: number of cases, largest difference,
    sizes."""

    cases: int = 0
    largest: float = 0.0  # the largest gap, as a share of the largest coordinate
    sizes: dict[str, set] = field(default_factory=dict)

    def add(self, instance: dict, gap: float) -> None:
        self.cases += 1
        self.largest = max(self.largest, gap)
        N, d = len(instance["b"]) - 1, len(instance["x"])
        for name, size in dict(N=N, d=d, S=instance["S"], rounds=instance["rounds"]).items():
            self.sizes.setdefault(name, set()).add(size)


def find_misprint(claim: Claim, differ: list) -> Misprint:
    """Return the evidence of printed cells unlike the computed cells."""
    document = sign_violation(claim, cells=list_misprints(claim), **cell_inputs(claim))
    witness = {
        cell: dict(printed=cell_text(printed), computed=cell_text(computed))
        for cell, printed, computed in differ
    }
    return Misprint(
        first=differ[0],
        witness=witness,
        cases=len(claim.printed),
        document=document,
        notes=() if document else (ALONE,),
    )


def compare_equivalence(
    claim: Claim, which: int, same: Same, number: int, seed: int, found: DifferenceStatistics
) -> Evidence | None:
    """Return the evidence on one equivalence if it is refuted, or if no problem satisfies its
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
            return find_difference(claim, which, same, instance, found.cases)
    if found.cases == before:
        return Gap(says="No problem was drawn that meets its hypotheses.", kind="structure")
    return None


def find_difference(claim: Claim, which: int, same: Same, instance: dict, cases: int) -> Difference:
    """Return the evidence of two ways to run with different ends."""
    gap, instance, paths = shorten_rounds(same, make_plainer(same, instance))
    exact = exact_endpoints.document_points(same, instance)
    document = sign_violation(
        claim,
        same=which,
        equivalence=equivalence_data(same),
        instance=instance,
        conditions=condition_words(claim),
        **(dict(points=exact) if exact else {}),
    )
    return Difference(
        one=side_label(same.one),
        other=side_label(same.other),
        gap=gap,
        instance=instance,
        points=[[[repr(float(x)) for x in point] for point in path] for path in paths],
        cases=cases,
        document=document,
        notes=() if document else (ALONE,),
    )

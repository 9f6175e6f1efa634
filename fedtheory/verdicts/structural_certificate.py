"""Documents of refuted structure claims: table cells that differ, or two runs that differ.

A document contains everything that a rerun needs: methods and fixed fields by name, and the
problem. A document does not contain the code of a function. Therefore only functions of a recorded
claim can be rerun.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from fedtheory import discover
from fedtheory.certificates.check_proof import require
from fedtheory.certificates.documents import (
    check_entries,
    check_sealed,
    digest_of,
    parse_fraction,
    plain_copy,
    refuse_malformed,
)
from fedtheory.certificates.schemas import TWO_RUNS
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.language.claim import Claim, Same
from fedtheory.language.conditions import ALL, Condition
from fedtheory.schema import fault
from fedtheory.search.counterexample import document_title, find_recorded_claim
from fedtheory.typing import Document, Instance
from fedtheory.verdicts import exact_endpoints
from fedtheory.verdicts.equivalence import (
    free_fields,
    is_apart,
    path_difference,
    problem_of,
    side_label,
)

FORMAT = "fedtheory structure 1"
# Limits on a run from a document: rounds, clients, coordinates, and each integer field.
MOST_OF = dict(rounds=50, clients=16, d=8, integer=100)


def cell_text(cell: Any) -> int | str | list[int]:
    return (
        cell
        if isinstance(cell, (bool, int, str)) or cell is None
        else [cell_text(part) for part in cell]
        if isinstance(cell, (tuple, list))
        else str(cell)
    )


def sign_violation(
    claim: Claim, **content: int | Mapping[str, Any] | Sequence[list[Any]]
) -> dict[str, Any] | None:
    """Return the document of a violation; None where a compared function is in no record here."""
    own = document_title(claim) != claim.id or find_recorded_claim(claim.id) is None
    if own and not stands_alone(claim, **content):
        return None
    written = dict(format=FORMAT, claim=document_title(claim), says=claim.says, **content)
    written["digest"] = digest_of(written)
    return written


def stands_alone(
    claim: Claim,
    equivalence: Mapping[str, Any] | None = None,
    **content: int | Mapping[str, Any] | Sequence[list[int | str]],
) -> bool:
    """Tell whether a document contains everything that a rerun of a user's claim needs."""
    try:
        return (
            equivalence is not None
            and "function" not in equivalence
            and bool(read_equivalence(equivalence))
            and all(find_condition(*each) for each in condition_words(claim).items())
        )
    except (InvalidInput, ValueError):
        return False


def list_misprints(claim: Claim) -> list[list[Any]]:
    return [
        [cell, cell_text(printed), cell_text(value)]
        for cell, printed, value in claim.cells()
        if value is not None and printed != value
    ]


def cell_inputs(claim: Claim) -> dict[str, Any]:
    """Return the inputs from which a claim's cells are computed, as plain data."""
    cells = claim.statement
    found = dict(given=plain_copy(dict(cells.given))) if cells.given else {}
    if cells.ranges:
        found.update(
            ranges=plain_copy(dict(cells.ranges)),
            fixing=[[cell, cell_text(cells.printed[cell])] for cell in cells.fixing],
        )
    return found


def condition_words(claim: Claim) -> dict[str, str]:
    return {a.name: a.condition.says for a in claim.assumptions if a.condition is not None}


def equivalence_data(same: Any) -> dict[str, Any]:
    """Return an equivalence as plain data."""
    other = (
        dict(function=side_label(same.other))
        if callable(same.other)
        else dict(other=side_label(same.other))
    )
    return dict(
        one=side_label(same.one),
        fixed=dict(same.fixed),
        **other,
        other_fixed=dict(same.other_fixed),
        shared=list(same.shared),
        clients=same.clients,
    )


def read_equivalence(said: Mapping[str, Any]) -> Any:
    """Return the equivalence in a document; refuse methods that are not found here by name, and
    fields that no such method has."""
    check_entries(
        said, "the equivalence", "one", "fixed", "other", "other_fixed", "shared", "clients"
    )
    for name, fixed in ((said["one"], said["fixed"]), (said["other"], said["other_fixed"])):
        require(isinstance(name, str) and isinstance(fixed, dict), "no method")
        fields = discover.algorithm(name).hyper
        require(
            fixed.keys() <= fields.keys()
            and all(isinstance(v, (int, float, str)) for v in fixed.values()),
            f"{show(name)} has no such fields",
        )
        require(
            all(type(v) is not int or abs(v) <= MOST_OF["integer"] for v in fixed.values()),
            "a field is too large",
        )
    require(said["clients"] is None or type(said["clients"]) is int, "no number of clients")
    require(
        isinstance(said["shared"], list) and all(isinstance(name, str) for name in said["shared"]),
        "no fields",
    )
    return Same(
        said["one"],
        said["fixed"],
        said["other"],
        said["other_fixed"],
        tuple(said["shared"]),
        said["clients"],
    )


def find_condition(name: str, says: str) -> Condition:
    """Return the recorded condition with this name and these words; refuse if there is none."""
    known = [
        *ALL.values(),
        *(a.condition for c in discover.claims() for a in c.assumptions if a.condition),
    ]
    found = next((condition for condition in known if condition[:2] == (name, says)), None)
    if found is None:
        refuse("a condition", "must be one that is recorded here", name)
    return found


@refuse_malformed
def check_structure(document: Document) -> dict[str, Any]:
    """Refuse a document unless a rerun shows again what the document says."""
    cells = "cells" in document
    check_sealed(
        document,
        FORMAT,
        "claim",
        "says",
        *(["cells"] if cells else ["same", "equivalence", "instance", "conditions"]),
        perhaps=("given", "ranges", "fixing") if cells else ("points",),
    )
    claim = find_recorded_claim(document["claim"])
    require(
        isinstance(document["claim"], str) and isinstance(document["says"], str),
        "its words are no texts",
    )
    require(
        claim is None or document["says"] == claim.says,
        "its words are not those of the claim as it is recorded here",
    )
    if cells:
        require(claim is not None, "cells that are computed by no claim recorded here show nothing")
        for cell in document["cells"]:
            require(cell in list_misprints(claim), f"{show(cell)}: it does not differ so")
        require(
            document["cells"] and document["cells"] == list_misprints(claim),
            "these are not the cells that differ",
        )
        require(
            {name: document[name] for name in document.keys() & {"given", "ranges", "fixing"}}
            in ({}, cell_inputs(claim)),
            "its cells are not computed from what the record has",
        )
        return dict(
            status="violated",
            claim=claim.id,
            says=claim.says,
            cells=document["cells"],
            rests_on="cells that the record computes anew",
        )
    which, said, instance = document["same"], document["equivalence"], document["instance"]
    if claim is not None:
        require(
            type(which) is int and 0 <= which < len(claim.same), "the claim has no such equivalence"
        )
        require(
            said == equivalence_data(claim.same[which]),
            "its equivalence is not that of the claim as it is recorded here",
        )
        require(
            document["conditions"] == condition_words(claim),
            "its conditions are not those of the claim as it is recorded here",
        )
    same = claim.same[which] if claim is not None else read_equivalence(said)
    check_moderate(same, instance)
    setup = SimpleNamespace(
        cohort="full" if instance["S"] == len(instance["b"]) - 1 else "without", partial=False
    )
    require(
        not callable(same.other)
        or setup.cohort == "full"
        and parse_fraction(instance["sigma"]) == 0,
        "a plain function speaks of full participation without noise",
    )
    for name, says in document["conditions"].items():
        require(find_condition(name, says)(problem_of(instance), setup), f"does not meet: {says}")
    require(is_apart(same, instance), "both ways give the same points, as far as floats tell")
    gap, paths = path_difference(same, instance)
    require(
        "points" not in document
        or document["points"] == exact_endpoints.document_points(same, instance),
        "its points are not where both ways end",
    )
    return dict(
        status="violated",
        claim=document["claim"],
        says=document["says"],
        gap=gap,
        points=paths,
        rests_on="two runs of the engine, in floats"
        + ", and of the methods' kernels, exactly" * ("points" in document),
    )


def check_moderate(same: Any, instance: Instance) -> None:
    """Refuse an instance unless it belongs to this equivalence and is small enough to run quickly."""
    why = fault(TWO_RUNS, instance, parse_fraction)
    require(why is None, f"it is no instance of two runs: {why}")
    N, d = len(instance["b"]) - 1, len(instance["x"])
    for name, most in (("rounds", MOST_OF["rounds"]), ("seed", 10**9)):
        require(instance[name] <= most, f"{name} is out of range")
    require(N <= MOST_OF["clients"] and d <= MOST_OF["d"], "its problem is too large")
    require(not same.clients or N == same.clients, "its clients are not those of the claim")
    fields = free_fields(same)
    require(
        instance["hyper"].keys() == fields.keys(), "its hyper-parameters are not those of the claim"
    )
    require(
        all(
            not fields[name].integer or abs(parse_fraction(v)) <= MOST_OF["integer"]
            for name, v in instance["hyper"].items()
        ),
        "a hyper-parameter is out of range",
    )

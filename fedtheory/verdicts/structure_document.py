"""Documents of structure claims that are refuted: cells that differ, or two runs that do.

A document holds all that a rerun needs: methods and fixed fields by name, and the problem. What a
function computes stands in no document: only that of a recorded claim can be asked again.
"""

from types import SimpleNamespace

from fedtheory import discover
from fedtheory.certificates.check_proof import require
from fedtheory.certificates.documents import digest, fraction, having, plain, refusing, sealed
from fedtheory.certificates.schemas import TWO_RUNS
from fedtheory.claim import Same
from fedtheory.conditions import ALL
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.schema import fault
from fedtheory.search.counterexample import recorded, title
from fedtheory.verdicts import ends
from fedtheory.verdicts.equivalence import apart, difference, free, label, problem_of

FORMAT = "fedtheory structure 1"
MOST_OF = dict(rounds=50, clients=16, d=8, integer=100)  # what a document may ask to be run


def text(cell):
    return (
        cell
        if isinstance(cell, (bool, int, str)) or cell is None
        else [text(part) for part in cell]
        if isinstance(cell, (tuple, list))
        else str(cell)
    )


def signed(claim, **content):
    """The document of a violation; None where what is compared is a function that no record here
    holds."""
    own = title(claim) != claim.id or recorded(claim.id) is None
    if own and not carried(claim, **content):
        return None
    written = dict(format=FORMAT, claim=title(claim), says=claim.says, **content)
    written["digest"] = digest(written)
    return written


def carried(claim, equivalence=None, **content):
    """Whether a document by itself says all that a rerun of a claim of the user's own needs."""
    try:
        return (
            equivalence is not None
            and "function" not in equivalence
            and bool(read(equivalence))
            and all(predicate(*each) for each in conditions(claim).items())
        )
    except (InvalidInput, ValueError):
        return False


def misprints(claim):
    return [
        [cell, text(printed), text(value)]
        for cell, printed, value in claim.cells()
        if value is not None and printed != value
    ]


def counted(claim):
    """What the cells of a claim are computed from, as plain data."""
    cells = claim.statement
    found = dict(given=plain(dict(cells.given))) if cells.given else {}
    if cells.ranges:
        found.update(
            ranges=plain(dict(cells.ranges)),
            fixing=[[cell, text(cells.printed[cell])] for cell in cells.fixing],
        )
    return found


def conditions(claim):
    return {a.name: a.condition.says for a in claim.assumptions if a.condition is not None}


def written(same):
    """An equivalence as plain data."""
    other = (
        dict(function=label(same.other)) if callable(same.other) else dict(other=label(same.other))
    )
    return dict(
        one=label(same.one),
        fixed=dict(same.fixed),
        **other,
        other_fixed=dict(same.other_fixed),
        shared=list(same.shared),
        clients=same.clients,
    )


def read(said):
    """The equivalence of a document: methods that are found here by name, and fields that they
    have."""
    having(said, "the equivalence", "one", "fixed", "other", "other_fixed", "shared", "clients")
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


def predicate(name, says):
    """The condition of a name and these words, of those that are recorded here."""
    known = [
        *ALL.values(),
        *(a.condition for c in discover.claims() for a in c.assumptions if a.condition),
    ]
    found = next((condition for condition in known if condition[:2] == (name, says)), None)
    if found is None:
        refuse("a condition", "must be one that is recorded here", name)
    return found


@refusing
def check(document):
    """Refused unless a rerun shows again what the document says."""
    cells = "cells" in document
    sealed(
        document,
        FORMAT,
        "claim",
        "says",
        *(["cells"] if cells else ["same", "equivalence", "instance", "conditions"]),
        perhaps=("given", "ranges", "fixing") if cells else ("points",),
    )
    claim = recorded(document["claim"])
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
            require(cell in misprints(claim), f"{show(cell)}: it does not differ so")
        require(
            document["cells"] and document["cells"] == misprints(claim),
            "these are not the cells that differ",
        )
        require(
            {name: document[name] for name in document.keys() & {"given", "ranges", "fixing"}}
            in ({}, counted(claim)),
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
            said == written(claim.same[which]),
            "its equivalence is not that of the claim as it is recorded here",
        )
        require(
            document["conditions"] == conditions(claim),
            "its conditions are not those of the claim as it is recorded here",
        )
    same = claim.same[which] if claim is not None else read(said)
    moderate(same, instance)
    setup = SimpleNamespace(
        cohort="full" if instance["S"] == len(instance["b"]) - 1 else "without", partial=False
    )
    require(
        not callable(same.other) or setup.cohort == "full" and fraction(instance["sigma"]) == 0,
        "a plain function speaks of full participation without noise",
    )
    for name, says in document["conditions"].items():
        require(predicate(name, says)(problem_of(instance), setup), f"does not meet: {says}")
    require(apart(same, instance), "both ways give the same points, as far as floats tell")
    gap, paths = difference(same, instance)
    require(
        "points" not in document or document["points"] == ends.written(same, instance),
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


def moderate(same, instance):
    """Refused unless an instance is one of this equivalence, and of a size that is quickly run."""
    why = fault(TWO_RUNS, instance, fraction)
    require(why is None, f"it is no instance of two runs: {why}")
    N, d = len(instance["b"]) - 1, len(instance["x"])
    for name, most in (("rounds", MOST_OF["rounds"]), ("seed", 10**9)):
        require(instance[name] <= most, f"{name} is out of range")
    require(N <= MOST_OF["clients"] and d <= MOST_OF["d"], "its problem is too large")
    require(not same.clients or N == same.clients, "its clients are not those of the claim")
    fields = free(same)
    require(
        instance["hyper"].keys() == fields.keys(), "its hyper-parameters are not those of the claim"
    )
    require(
        all(
            not fields[name].integer or abs(fraction(v)) <= MOST_OF["integer"]
            for name, v in instance["hyper"].items()
        ),
        "a hyper-parameter is out of range",
    )

"""Structure claims: two ways to run that are said to give the same points, and cells that are said
to follow.

Equivalences are run on drawn quadratics, noisy and with a part of the clients where the claim lets
them be, from the smallest ones on; a plain function is compared at full participation and without
noise, all it can speak of. Points that agree to rounding support the claim; points far apart refute
it where data that differ by more than rounding move either path by far less. A document holds all
that a rerun needs: methods and fixed fields by name, and the problem. What a function computes
stands in no document: only that of a recorded claim can be asked again.
"""

from fractions import Fraction
from random import Random
from types import SimpleNamespace

import numpy as np

from fedtheory import discover
from fedtheory.certificates.check_proof import require
from fedtheory.certificates.documents import digest, fraction, having, refusing, sealed
from fedtheory.claim import Same
from fedtheory.conditions import ALL
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.problems.quadratics import quadratic_from_arrays
from fedtheory.runs.running import run
from fedtheory.search.counterexample import recorded, title
from fedtheory.search.coverage import ranges
from fedtheory.verdicts.verdict import Verdict

FORMAT = "fedtheory structure 1"
ALIKE, APART = 1e-10, 1e-6  # differences over the largest coordinate: rounding, and far beyond it
SHAKEN, CALM = (
    1e-12,
    100,
)  # data are moved by this share, beyond rounding; a difference is so many times what comes of it
ALONE = "No document of it stands alone: it compares with what a function of yours computes."
MOST_OF = dict(rounds=50, clients=16, d=8, integer=100)  # what a document may ask to be run
CASES_A_SECOND, FEWEST, MOST = 4, 8, 100  # of budget; instances of each equivalence


def decide(claim, budget, seed):
    """The Verdict on a claim that states equivalences or cells."""
    cells = [
        (cell, printed, computed)
        for cell, printed, computed in claim.cells()
        if computed is not None
    ]
    differ = [(cell, printed, computed) for cell, printed, computed in cells if printed != computed]
    if differ:
        cell, printed, computed = differ[0]
        certificate = signed(claim, cells=misprints(claim))
        return Verdict(
            claim.id,
            "violated",
            "structure",
            f"{cell}: printed {printed}, computed {computed}.",
            cases=len(claim.printed),
            confidence=1.0,
            witness={
                cell: dict(printed=text(printed), computed=text(computed))
                for cell, printed, computed in differ
            },
            certificate=certificate,
            notes=[] if certificate else [ALONE],
        )
    if len(cells) < len(claim.printed):
        return Verdict(
            claim.id,
            "undecided",
            "structure",
            f"Of {len(claim.printed)} printed cells {len(cells)} were computed.",
            cases=len(cells),
        )
    number = min(MOST, max(FEWEST, int(CASES_A_SECOND * budget)))
    cases, largest, sizes = 0, 0.0, {}
    for which, same in enumerate(claim.same):
        before = cases
        for n in range(number):
            instance = drawn(claim, same, Random(f"{seed}/structure/{which}/{n}"), n)
            if instance is None:
                continue
            gap, paths = difference(same, instance)
            cases += 1
            for name, size in dict(
                N=len(instance["b"]) - 1,
                d=len(instance["x"]),
                S=instance["S"],
                rounds=instance["rounds"],
            ).items():
                sizes.setdefault(name, set()).add(size)
            if gap > APART and apart(same, instance):
                gap, instance, paths = shortened(same, instance)
                certificate = signed(
                    claim,
                    same=which,
                    equivalence=written(same),
                    instance=instance,
                    conditions=conditions(claim),
                )
                return Verdict(
                    claim.id,
                    "violated",
                    "structure",
                    f"{label(same.one)} and {label(same.other)} differ by "
                    f"{gap:.3g} of their largest coordinate after {instance['rounds']} rounds.",
                    cases=cases,
                    witness=dict(
                        instance,
                        one=label(same.one),
                        other=label(same.other),
                        points=[
                            [[repr(float(x)) for x in point] for point in path] for path in paths
                        ],
                    ),
                    certificate=certificate,
                    notes=[] if certificate else [ALONE],
                )
            largest = max(largest, gap)
        if cases == before:
            return Verdict(
                claim.id,
                "undecided",
                "structure",
                "No problem was drawn that meets its hypotheses.",
            )
    if largest > ALIKE:
        return Verdict(
            claim.id,
            "undecided",
            "structure",
            f"Points differ by up to {largest:.3g} of their largest "
            "coordinate, more than rounding explains and less than a difference.",
            cases=cases,
        )
    said = (
        f"{len(claim.printed)} printed cells are those computed"
        if claim.printed
        else f"points agree to {ALIKE:g} of their largest coordinate on {cases} drawn problems"
    )
    return Verdict(
        claim.id,
        "holds",
        "structure",
        said[0].upper() + said[1:] + ".",
        cases=cases or len(claim.printed),
        confidence=1.0 if claim.printed and not claim.same else None,
        searched="; ".join(
            [f"{cases} drawn problems, quadratic, run both ways ({ranges(sizes)})"] * bool(cases)
            + [f"all {len(claim.printed)} printed cells"] * bool(claim.printed)
        ),
    )


def label(one):
    return getattr(one, "name", getattr(one, "__name__", one))


def text(cell):
    return (
        cell
        if isinstance(cell, (bool, int, str)) or cell is None
        else [text(part) for part in cell]
        if isinstance(cell, (tuple, list))
        else str(cell)
    )


# Instances


def drawn(claim, same, random, n):
    """Plain data of the n-th instance, larger ones later; None where the claim's conditions fail on
    it."""
    d, N = 1 + n // 4 % 2, same.clients or 1 + n % 4
    deterministic = callable(same.other)
    small = lambda low, high, part: Fraction(random.randint(low * part, high * part), part)
    asked = {a.name: a.condition for a in claim.assumptions if a.condition is not None}
    exact = deterministic or "exact_gradients" in asked or random.random() < 0.5
    shares = [1 if "equal_weights" in asked else random.randint(1, 4) for _ in range(N)]
    instance = dict(
        A=[[str(small(0, 2, 4)) for _ in range(d)] for _ in range(N + 1)],
        b=[[str(small(-2, 2, 2)) for _ in range(d)] for _ in range(N + 1)],
        weights=[str(Fraction(share, sum(shares))) for share in shares],
        sigma="0" if exact else str(small(1, 2, 2)),
        x=[str(small(-2, 2, 2)) for _ in range(d)],
        S=N if deterministic else random.randint(1, N),
        rounds=1 + n % 5,
        seed=random.randint(0, 10**6),
        hyper={name: chosen(field, random) for name, field in free(same).items()},
    )
    setup = SimpleNamespace(cohort="full" if instance["S"] == N else "without", partial=False)
    return (
        instance
        if all(condition(problem_of(instance), setup) for condition in asked.values())
        else None
    )


def free(same):
    """name -> Field of what may be drawn: shared fields, and those that a method needs and the
    claim leaves open."""
    found = {}
    for one, fixed in ((same.one, same.fixed), (same.other, same.other_fixed)):
        if not callable(one):
            found.update(
                {
                    name: field
                    for name, field in discover.algorithm(one).hyper.items()
                    if name not in fixed and (name in same.shared or field.default is None)
                }
            )
    return found


def chosen(field, random):
    if field.integer:
        return str(random.randint(max(1, int(field.low)), max(1, int(field.low)) + 2))
    return str(Fraction(random.randint(1, 5), 16))


def problem_of(instance):
    rows = lambda name: np.array([[float(fraction(v)) for v in row] for row in instance[name]])
    A, sigma = rows("A"), float(fraction(instance["sigma"]))
    if len(A) == A.shape[1]:  # as many rows as coordinates would be read as one matrix
        A = np.array([np.diag(row) for row in A])
    return quadratic_from_arrays(
        A,
        rows("b"),
        sigma=sigma,
        sigma_0=sigma,
        weights=[float(fraction(w)) for w in instance["weights"]],
    )


def path(one, fixed, same, instance):
    """The points that one side of an equivalence visits on an instance."""
    problem, x = problem_of(instance), np.array([float(fraction(v)) for v in instance["x"]])
    fields = free(same)
    hyper = {
        name: int(v) if fields[name].integer else float(fraction(v))
        for name, v in instance["hyper"].items()
    }
    if callable(one):
        return np.array(
            one(
                problem,
                x,
                instance["rounds"],
                **{name: hyper[name] for name in same.shared},
                **fixed,
            )
        )
    known = discover.algorithm(one).hyper
    return run(
        problem,
        one,
        rounds=instance["rounds"],
        x_0=x,
        S=instance["S"],
        seed=instance["seed"],
        keep="x",
        **{name: v for name, v in hyper.items() if name in known and name not in fixed},
        **fixed,
    ).x[0]


def difference(same, instance):
    """(largest difference over the largest coordinate, both paths)."""
    paths = (
        path(same.one, same.fixed, same, instance),
        path(same.other, same.other_fixed, same, instance),
    )
    gap = apart_by(*paths, instance)
    return (gap if np.isfinite(gap) else 0.0), paths


def apart_by(one, other, instance):
    """The largest difference of two paths over their largest coordinate, those of the data among
    them."""
    data = [abs(float(fraction(v))) for row in (*instance["b"], instance["x"]) for v in row]
    return float(abs(one - other).max() / max(abs(one).max(), abs(other).max(), *data, 1e-300))


def apart(same, instance):
    """Whether the paths are far apart, for more than rounding: data moved a little leave each path
    where it is."""
    gap, paths = difference(same, instance)
    random = Random(0)
    moved = lambda v: str(fraction(v) * (1 + Fraction(random.choice([-1, 1])) * Fraction(SHAKEN)))
    shaken = dict(
        instance,
        **{name: [list(map(moved, row)) for row in instance[name]] for name in ("A", "b")},
        x=list(map(moved, instance["x"])),
    )
    steady = [
        apart_by(before, after, instance)
        for before, after in zip(paths, difference(same, shaken)[1])
    ]
    return gap > APART and all(CALM * each < gap for each in steady)


def shortened(same, instance):
    """The fewest rounds after which both are apart."""
    for rounds in range(1, instance["rounds"] + 1):
        fewer = dict(instance, rounds=rounds)
        gap, paths = difference(same, fewer)
        if apart(same, fewer):
            return gap, fewer, paths
    raise AssertionError("a difference that a rerun does not show")


# Documents


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
    return dict(
        status="violated",
        claim=document["claim"],
        says=document["says"],
        gap=gap,
        points=paths,
        rests_on="two runs of the engine, in floats",
    )


def moderate(same, instance):
    """Refused unless an instance is one of this equivalence, and of a size that is quickly run."""
    having(
        instance, "the instance", "A", "b", "weights", "sigma", "x", "S", "rounds", "seed", "hyper"
    )
    N, d = len(instance["b"]) - 1, len(instance["x"])
    for name, most in (("rounds", MOST_OF["rounds"]), ("S", N), ("seed", 10**9)):
        require(
            type(instance[name]) is int
            and (name == "seed" or instance[name] >= 1)
            and 0 <= instance[name] <= most,
            f"{name} is out of range",
        )
    require(1 <= N <= MOST_OF["clients"] and 1 <= d <= MOST_OF["d"], "its problem is too large")
    require(
        all(
            len(rows) == N + 1 and all(len(row) == d for row in rows)
            for rows in (instance["A"], instance["b"])
        ),
        "its parts do not fit together",
    )
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

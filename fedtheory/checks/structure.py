"""Structure claims: two ways to run that are said to give the same points, and cells that are said to follow.

Equivalences are run on drawn quadratics, noisy and with a part of the clients where the claim lets them be, from the
smallest ones on; a plain function is compared at full participation and without noise, all it can speak of. Points
that agree to rounding support the claim, points far apart refute it; a document holds all that a rerun needs.
"""

from fractions import Fraction
from random import Random
from types import SimpleNamespace

import numpy as np

from fedtheory import discover
from fedtheory.checks.certificate_algebra import Refused, require
from fedtheory.checks.certificate_run import digest, fraction, refusing
from fedtheory.checks.searched import ranges
from fedtheory.checks.verdict import Verdict
from fedtheory.errors import FedtheoryError
from fedtheory.problems.quadratics import quadratic_from_arrays
from fedtheory.running import run

FORMAT = "fedtheory structure 1"
ALIKE, APART = 1e-10, 1e-6    # differences over the largest coordinate: rounding, and far beyond it
CASES_A_SECOND, FEWEST, MOST = 4, 8, 100    # of budget; instances of each equivalence


def decide(claim, budget, seed):
    """The Verdict on a claim that states equivalences or cells."""
    cells = [(cell, printed, computed) for cell, printed, computed in claim.cells() if computed is not None]
    differ = [(cell, printed, computed) for cell, printed, computed in cells if printed != computed]
    if differ:
        cell, printed, computed = differ[0]
        return Verdict(claim.id, "violated", "structure", f"{cell}: printed {printed}, computed {computed}.",
                       cases=len(claim.printed), confidence=1.0, witness={cell: dict(printed=text(printed),
                                                                                    computed=text(computed))
                                                                          for cell, printed, computed in differ},
                       certificate=signed(claim, cells=[[cell, text(printed), text(computed)]
                                                        for cell, printed, computed in differ]))
    if len(cells) < len(claim.printed):
        return Verdict(claim.id, "undecided", "structure", f"Of {len(claim.printed)} printed cells {len(cells)} were "
                       "computed.", cases=len(cells))
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
            for name, size in dict(N=len(instance["b"]) - 1, d=len(instance["x"]), S=instance["S"],
                                   rounds=instance["rounds"]).items():
                sizes.setdefault(name, set()).add(size)
            if gap > APART:
                gap, instance, paths = shortened(same, instance)
                return Verdict(
                    claim.id, "violated", "structure", f"{label(same.one)} and {label(same.other)} differ by "
                    f"{gap:.3g} of their largest coordinate after {instance['rounds']} rounds.", cases=cases,
                    witness=dict(instance, one=label(same.one), other=label(same.other), points=[
                        [[repr(float(x)) for x in point] for point in path] for path in paths]),
                    certificate=signed(claim, same=which, instance=instance))
            largest = max(largest, gap)
        if cases == before:
            return Verdict(claim.id, "undecided", "structure", "No problem was drawn that meets its hypotheses.")
    if largest > ALIKE:
        return Verdict(claim.id, "undecided", "structure", f"Points differ by up to {largest:.3g} of their largest "
                       "coordinate, more than rounding explains and less than a difference.", cases=cases)
    said = f"{len(claim.printed)} printed cells are those computed" if claim.printed else \
        f"points agree to {ALIKE:g} of their largest coordinate on {cases} drawn problems"
    return Verdict(claim.id, "holds", "structure", said[0].upper() + said[1:] + ".", cases=cases or len(claim.printed),
                   confidence=1.0 if claim.printed and not claim.same else None,
                   searched="; ".join([f"{cases} drawn problems, quadratic, run both ways ({ranges(sizes)})"] * bool(cases)
                                      + [f"all {len(claim.printed)} printed cells"] * bool(claim.printed)))


def label(one):
    return getattr(one, "name", getattr(one, "__name__", one))


def text(cell):
    return cell if isinstance(cell, (bool, int, str)) or cell is None else [text(part) for part in cell] \
        if isinstance(cell, (tuple, list)) else str(cell)


# Instances

def drawn(claim, same, random, n):
    """Plain data of the n-th instance, larger ones later; None where the claim's conditions fail on it."""
    d, N = 1 + n // 4 % 2, same.clients or 1 + n % 4
    deterministic = callable(same.other)
    small = lambda low, high, part: Fraction(random.randint(low * part, high * part), part)
    asked = {a.name: a.condition for a in claim.assumptions if a.condition is not None}
    exact = deterministic or "exact_gradients" in asked or random.random() < 0.5
    shares = [1 if "equal_weights" in asked else random.randint(1, 4) for _ in range(N)]
    instance = dict(
        A=[[str(small(0, 2, 4)) for _ in range(d)] for _ in range(N + 1)],
        b=[[str(small(-2, 2, 2)) for _ in range(d)] for _ in range(N + 1)],
        weights=[str(Fraction(share, sum(shares))) for share in shares], sigma="0" if exact else str(small(1, 2, 2)),
        x=[str(small(-2, 2, 2)) for _ in range(d)], S=N if deterministic else random.randint(1, N),
        rounds=1 + n % 5, seed=random.randint(0, 10**6), hyper={name: chosen(field, random)
                                                                for name, field in free(same).items()})
    setup = SimpleNamespace(cohort="full" if instance["S"] == N else "without", partial=False)
    return instance if all(condition(problem_of(instance), setup) for condition in asked.values()) else None


def free(same):
    """name -> Field of what may be drawn: shared fields, and those that a method needs and the claim leaves open."""
    found = {}
    for one, fixed in ((same.one, same.fixed), (same.other, same.other_fixed)):
        if not callable(one):
            found.update({name: field for name, field in discover.algorithm(one).hyper.items() if name not in fixed
                          and (name in same.shared or field.default is None)})
    return found


def chosen(field, random):
    if field.integer:
        return str(random.randint(max(1, int(field.low)), max(1, int(field.low)) + 2))
    return str(Fraction(random.randint(1, 5), 16))


def problem_of(instance):
    rows = lambda name: np.array([[float(fraction(v)) for v in row] for row in instance[name]])
    A, sigma = rows("A"), float(fraction(instance["sigma"]))
    if len(A) == A.shape[1]:    # as many rows as coordinates would be read as one matrix
        A = np.array([np.diag(row) for row in A])
    return quadratic_from_arrays(A, rows("b"), sigma=sigma, sigma_0=sigma,
                                 weights=[float(fraction(w)) for w in instance["weights"]])


def path(one, fixed, same, instance):
    """The points that one side of an equivalence visits on an instance."""
    problem, x = problem_of(instance), np.array([float(fraction(v)) for v in instance["x"]])
    fields = free(same)
    hyper = {name: int(v) if fields[name].integer else float(fraction(v)) for name, v in instance["hyper"].items()}
    if callable(one):
        return np.array(one(problem, x, instance["rounds"], **{name: hyper[name] for name in same.shared}, **fixed))
    known = discover.algorithm(one).hyper
    return run(problem, one, rounds=instance["rounds"], x_0=x, S=instance["S"], seed=instance["seed"], keep="x",
               **{name: v for name, v in hyper.items() if name in known and name not in fixed}, **fixed).x[0]


def difference(same, instance):
    """(largest difference over the largest coordinate, both paths)."""
    paths = path(same.one, same.fixed, same, instance), path(same.other, same.other_fixed, same, instance)
    scale = max(abs(paths[0]).max(), abs(paths[1]).max(), 1e-300)
    gap = float(abs(paths[0] - paths[1]).max() / scale)
    return (gap if np.isfinite(gap) else 0.0), paths


def shortened(same, instance):
    """The fewest rounds after which both are apart."""
    for rounds in range(1, instance["rounds"] + 1):
        fewer = dict(instance, rounds=rounds)
        gap, paths = difference(same, fewer)
        if gap > APART:
            return gap, fewer, paths
    raise AssertionError("a difference that a rerun does not show")


# Documents

def signed(claim, **content):
    written = dict(format=FORMAT, claim=claim.id, says=claim.says, **content)
    written["digest"] = digest(written)
    return written


@refusing
def check(document):
    """Refused unless a rerun shows again what the document says; the claim is looked up by its id."""
    require(document["digest"] == digest(document), "its content does not match its digest: it was changed")
    try:
        claim = discover.claim(document["claim"])
    except FedtheoryError:
        raise Refused(f"no claim here is called {document['claim']}") from None
    if "cells" in document:
        computed = {cell: (text(printed), text(value)) for cell, printed, value in claim.cells()}
        for cell, printed, value in document["cells"]:
            require(computed.get(cell) == (printed, value) and value is not None and printed != value,
                    f"{cell} does not differ so")
        return dict(status="violated", claim=claim.id, cells=document["cells"])
    same, instance = claim.same[document["same"]], document["instance"]
    require(set(instance["hyper"]) == set(free(same)), "its hyper-parameters are not those of the claim")
    require(not same.clients or len(instance["b"]) == same.clients + 1, "its clients are not those of the claim")
    setup = SimpleNamespace(cohort="full" if instance["S"] == len(instance["b"]) - 1 else "without", partial=False)
    require(not callable(same.other) or setup.cohort == "full" and fraction(instance["sigma"]) == 0,
            "a plain function speaks of full participation without noise")
    for assumption in claim.assumptions:
        require(assumption.condition is None or assumption.condition(problem_of(instance), setup),
                f"does not meet: {assumption}")
    gap, paths = difference(same, instance)
    require(gap > APART, "both ways give the same points")
    return dict(status="violated", claim=claim.id, gap=gap, points=paths)

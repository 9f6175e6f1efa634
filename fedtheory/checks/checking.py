"""`check`: find out whether a claim is true, how tight it is and where it breaks; `replay` a verdict's document.

Each line is first given to algebra. What is measured is then hunted in every setting that fits, from small shapes to
larger ones, until the work that the budget buys is done; a line that fails does so at an instance in rationals, which
is made as small as it goes and checked again from its document. No claim is known here by name.
"""

import time

from fedtheory import discover, given
from fedtheory.checks import (adversary, algebra, certificate_algebra, certificate_family, certificate_run,
                              counterexample, orders, vacuity)
from fedtheory.checks.certificate_algebra import Refused
from fedtheory.checks.exactly import Point
from fedtheory.checks.question import Question
from fedtheory.checks.settings import all_settings, conditions, fitting, methods, reads
from fedtheory.checks.verdict import Tightness, Verdict, together
from fedtheory.errors import refuse

NEAR = 1.0 - 1e-6    # a ratio from which the exact value is asked for
ATTEMPTS, EXACT = 4, 6    # exact looks at a shape while it is hunted, and shapes looked at in the end


def check(claim, budget=10.0, seed=0, progress=None):
    """The Verdict on a claim, or on an id; `budget` is in seconds of one core, counted as work."""
    budget, seed = given.budget(budget), given.seed(seed)
    claim, begun = discover.claim(claim), time.perf_counter()
    if not claim.lines:
        verdict = without_lines(claim, budget, seed)
        verdict.seconds = time.perf_counter() - begun
        return verdict
    fitting(claim)    # a run without its method is refused before anything is computed
    status, why, notes, certificate = vacuity.vacuity(claim, seed, budget)
    if status:    # nothing meets its hypotheses, or it says nothing: there is no counterexample to look for
        return Verdict(claim.id, status, "algebra", why, confidence=1.0, certificate=certificate, notes=notes,
                       seconds=time.perf_counter() - begun)
    found = []
    for n in range(len(claim.lines)):
        found.append(line(claim, n, budget / len(claim.lines), seed, progress))
        if found[-1].status == "violated":
            break
    verdict = together(claim, found, time.perf_counter() - begun)
    verdict.notes += notes if verdict.status in ("holds", "undecided") else []
    return verdict


def line(claim, at, budget, seed, progress=None):
    """The Verdict on one line."""
    if claim.lines[at][1] == "O":
        return orders.decide(claim, at, budget, seed, check)
    proof = algebra.line(claim, at, budget=min(2.0, budget), refute=False, seed=seed)
    if proof:
        return Verdict(claim.id, "proved", "algebra", f"It follows from its hypotheses ({proof}).", confidence=1.0,
                       certificate=dict(proof.certificate))
    settings = fitting(claim)
    if not settings:
        return Verdict(claim.id, "undecided", "exact", unfit(claim))
    found = [hunted(claim, at, setting, budget / len(settings), seed, progress) for setting in settings]
    return min(found, key=lambda v: ("violated", "holds", "vacuous", "undecided").index(v.status))


def hunted(claim, at, setting, budget, seed, progress=None):
    """The Verdict on a line by search in one setting."""
    question = Question(claim, setting, at)
    if question.impossible:
        return Verdict(claim.id, "vacuous", "exact", "Its hypotheses contradict each other.", confidence=1.0)
    cases, tried, best = 0, {}, {}
    for hunt, ratio, point in adversary.searched(question, budget, seed):
        cases += adversary.BATCH
        if ratio >= NEAR and tried.get(hunt, (0, 0.0))[0] < ATTEMPTS and ratio > tried.get(hunt, (0, 0.0))[1]:
            tried[hunt] = tried.get(hunt, (0, 0.0))[0] + 1, ratio
            verdict = violated(claim, hunt, point, cases)
            if verdict:
                return verdict
        if ratio >= 0:
            best[hunt] = ratio, point
        if progress:
            progress(claim.id, cases, max((r for r, _ in best.values()), default=None))
    if not cases:
        return Verdict(claim.id, "undecided", setting.kind, f"No shape of {setting.says} meets its hypotheses.")
    reached, told = None, 0
    for hunt, (_, raw) in sorted(best.items(), key=lambda item: -item[1][0]):
        point = Point.near(hunt, raw)
        ratio = point and point.ratio()
        told += ratio is not None    # where rounding made a ratio, there is none
        if ratio is not None and (reached is None or ratio > reached[0]):
            reached = ratio, point
        if told == EXACT:
            break
    if reached is None:
        return Verdict(claim.id, "undecided", setting.kind, f"No instance of {setting.says} was found inside its "
                       "hypotheses at which its sides differ from zero.", cases=cases)
    ratio, point = reached
    return Verdict(claim.id, "holds", setting.kind, f"No counterexample among {cases} instances of {setting.says}.",
                   Tightness(ratio, counterexample.texts(point.numbers)), cases, None,
                   dict(setting=setting.name, shape=point.hunt.shape,
                        numbers=counterexample.texts({**point.hunt.numbers, **point.numbers})))


def violated(claim, hunt, raw, cases, effort=400):
    """The Verdict if the line fails at a point for certain."""
    point = Point.near(hunt, raw)
    small = point.simpler(effort) if point is not None and point.breaks() else None
    if small is None:
        return None
    written = counterexample.document(small)
    ratio = small.ratio()
    return Verdict(claim.id, "violated", hunt.question.setting.kind, f"It fails in {hunt.question.setting.says}: "
                   f"left {written['left']}, right {written['right']}.", ratio and Tightness(ratio, written["numbers"]),
                   cases, 1.0, dict(instance=written["instance"], numbers=written["numbers"]), written)


def unfit(claim):
    """Why no setting fits."""
    asked = {name: condition.says for name, condition in conditions(claim).items()}
    wanted = {entry.measure for entry in claim.quantities.values()}
    able = [s for s in all_settings() if wanted <= s.measures and bool(wanted) == bool(s.measures)
            and (not wanted or reads(s, claim))]
    named = set(methods(claim))
    if able and named and not any(named & set(s.algorithms) or not s.algorithms for s in able):
        return f"No setting that measures it runs {', '.join(sorted(named))}."
    if able:
        lacking = [says for name, says in asked.items() if not any(name in s.ensures for s in able)]
        return "No setting vouches for: " + "; ".join(lacking or asked.values()) + "."
    names = sorted({m.metric for m in wanted if not any(m in s.measures for s in all_settings())})
    return f"Nothing here measures {', '.join(names) or 'all of it at once'}."


def without_lines(claim, budget, seed):
    """The Verdict on a structure by running or computing both of its sides; a finding's figure has its own."""
    if claim.same or claim.compute:
        from fedtheory.checks import structure    # loads the compiler, which no other verdict needs
        return structure.decide(claim, budget, seed)
    return Verdict(claim.id, "undecided", claim.kind, "A sentence about an experiment: its figure decides it.")


def replay(document):
    """What a verdict's document shows, derived anew from it alone; Refused if it shows nothing."""
    if not isinstance(document, dict):
        refuse("certificate", "must be the JSON document of a verdict", type(document).__name__)
    if document.get("format") == certificate_run.FORMAT:
        return certificate_run.check(document)
    if document.get("format") == certificate_family.FORMAT:
        return certificate_family.check(document)
    if document.get("format") == "fedtheory structure 1":
        from fedtheory.checks import structure
        return structure.check(document)
    if document.get("format") == "fedtheory proofs 1":
        return dict(status="proved", claim=document.get("claim"),
                    lines=[certificate_algebra.check(proof) for proof in document["lines"]])
    return dict(status="proved", shows=certificate_algebra.check(document))


__all__ = ["Refused", "check", "replay"]

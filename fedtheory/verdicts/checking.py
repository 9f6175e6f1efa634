"""`check`: find out whether a claim is true, how tight it is and where it breaks.

Each line is first given to algebra. What is measured is then hunted in every setting that fits,
from small shapes to larger ones, until the work that the budget buys is done; a line that fails
does so at an instance in rationals, which is made as small as it goes and checked again from its
document. No claim is known here by name.
"""

import time

from fedtheory import arguments, discover
from fedtheory.certificates.check_proof import Laborious, Refused
from fedtheory.claim import Cells, Equivalences
from fedtheory.proofs import algebra, dimensions
from fedtheory.search import counterexample, hunting, waves
from fedtheory.search.columns import LOOK
from fedtheory.search.coverage import Coverage
from fedtheory.search.rationals import Point
from fedtheory.search.target import Target
from fedtheory.settings import all_settings, conditions, fitting, methods, reads, strangers
from fedtheory.verdicts import as_printed, dropped, graphs, orders, vacuity
from fedtheory.verdicts.replaying import replay
from fedtheory.verdicts.verdict import Tightness, Verdict, across, together

NEAR = 1.0 - 1e-6  # a ratio from which the exact value is asked for
OVER = 1.0 + 1e-9  # a ratio that rounding alone does not explain
ATTEMPTS, EXACT = 4, 6  # exact looks at a shape while it is hunted, and shapes looked at in the end
LOOKS, ROWS = (
    40,
    3,
)  # shapes with instances above 1 that are looked at in the end, and instances of each


ALIKE = 1.001  # how much larger a float has to be to be worth another exact look
# Shares of a budget: for a proof, which has LONGEST seconds at most, and for the exact looks in the
# end, of which there are FEW at cheap instances if none of the others had an answer
PROOF, LONGEST, ENDS, FEW = 0.2, 2.0, 0.2, 3


def check(claim, budget=10.0, seed=0, progress=None):
    """The Verdict on a claim, or on an id, as it is meant; its `printed` is that of the statement
    as printed.

    `budget` is in seconds of one core, counted as work; what is printed without a hypothesis that
    its proof uses takes up to two fifths as much more.

    >>> import fedtheory as ft
    >>> ft.check("fsl.h_lower", budget=1).status
    'proved'
    """
    begun = time.perf_counter()
    budget, seed = arguments.budget(budget), arguments.seed(seed)
    claim = discover.claim(claim)
    verdict = readings(claim, budget, seed, progress)
    if claim.follows:
        share = lambda other: as_meant(other, graphs.SHARE * budget, seed)
        verdict.rests_on = graphs.rests_on(claim, verdict, share)
    verdict.seconds = time.perf_counter() - begun
    return verdict


def readings(claim, budget, seed, progress=None):
    """The Verdict on a claim by itself, with all of its hypotheses and as it is printed."""
    begun = time.perf_counter()
    units = dimensions.notes(claim) if claim.lines else []
    verdict = as_meant(claim, budget, seed, progress)
    verdict.notes += units
    as_printed.judge(claim, verdict, budget, seed, as_meant)
    verdict.seconds = time.perf_counter() - begun
    return verdict


def as_meant(claim, budget, seed, progress=None, proofs=True):
    """The Verdict on a claim with all of its hypotheses, and nothing of how it is printed; without
    `proofs` by search alone."""
    begun = time.perf_counter()
    if not claim.lines:
        verdict = without_lines(claim, budget, seed)
        verdict.seconds = time.perf_counter() - begun
        return verdict
    fitting(claim)  # a run without its method is refused before anything is computed
    status, why, notes, certificate = (
        vacuity.vacuity(claim, seed, budget) if proofs else (None, "", [], None)
    )
    if (
        status
    ):  # nothing meets its hypotheses, or it says nothing: there is no counterexample to look for
        return Verdict(
            claim.id,
            status,
            "algebra",
            why,
            confidence=1.0,
            certificate=certificate,
            notes=notes,
            seconds=time.perf_counter() - begun,
        )
    found = []
    for n in range(len(claim.lines)):
        found.append(line(claim, n, budget / len(claim.lines), seed, progress, proofs))
        if found[-1].status == "violated":
            break
    verdict = together(claim, found, time.perf_counter() - begun)
    verdict.notes += notes if verdict.status in ("holds", "undecided") else []
    return verdict


def line(claim, at, budget, seed, progress=None, proofs=True):
    """The Verdict on one line; without `proofs` by search alone."""
    if claim.lines[at][1] == "O":
        return orders.decide(claim, at, budget, seed, as_meant)
    seconds = min(LONGEST, PROOF * budget)
    if proofs and (proof := algebra.line(claim, at, budget=seconds, refute=False, seed=seed)):
        return Verdict(
            claim.id,
            "proved",
            "algebra",
            f"It follows from its hypotheses ({proof}).",
            confidence=1.0,
            certificate=dict(proof.certificate),
        )
    settings = fitting(claim)
    if not settings:
        return Verdict(claim.id, "undecided", "exact", unfit(claim))
    found, broken = [], dict.fromkeys(dropped.telling(claim, budget), 0)
    for setting, share in zip(settings, dropped.shares(claim, at, settings, broken, seed)):
        found.append(hunted(claim, at, setting, budget * share, seed, progress, broken))
        if found[-1].status in ("violated", "vacuous"):
            break
    return dropped.weighed(across(found), broken)


def hunted(claim, at, setting, budget, seed, progress=None, broken=()):
    """The Verdict on a line by search in one setting; `broken` counts instances that break what a
    variant dropped."""
    verdict = _hunted(claim, at, setting, budget, seed, progress, broken)
    verdict.decided_on = setting.by
    return verdict


def _hunted(claim, at, setting, budget, seed, progress, broken):
    target = Target(claim, setting, at)
    if target.impossible:
        return Verdict(
            claim.id, "vacuous", "exact", "Its hypotheses contradict each other.", confidence=1.0
        )
    looked, tried, best = Coverage(setting), {}, {}
    wanted = (lambda hunt: dropped.breaking(hunt, claim, broken)) if broken else None
    for hunt, ratio, point in waves.searched(target, (1 - ENDS) * budget, seed, wanted=wanted):
        looked.add(hunt)
        if (
            ratio >= NEAR
            and tried.get(hunt, (0, 0.0))[0] < ATTEMPTS
            and ratio > tried.get(hunt, (0, 0.0))[1]
        ):
            tried[hunt] = tried.get(hunt, (0, 0.0))[0] + 1, ratio
            verdict = violated(claim, hunt, point, looked.cases)
            if verdict:
                verdict.searched = str(looked)
                return verdict
        if ratio >= 0:
            best[hunt] = ratio, point
        if progress:
            progress(claim.id, looked.cases, max((r for r, _ in best.values()), default=None))
    if not looked.seen:
        return Verdict(
            claim.id,
            "undecided",
            setting.kind,
            f"No shape of {setting.says} meets its hypotheses.",
            searched=str(looked),
        )
    if broken:
        dropped.count(broken, claim, best)
    ranked = sorted(
        ((ratio, hunt, raw) for hunt, (ratio, raw) in best.items()), key=lambda each: -each[0]
    )
    ends = Ends(ranked, ENDS * budget)
    verdict = unexplained(claim, ranked, looked, ends) or tightest(claim, ranked, looked, ends)
    verdict.searched = str(looked)
    return verdict


class Ends:
    """The work that is left for exact looks at what a search has found."""

    def __init__(self, ranked, seconds):
        self.hunts, self.steps = [hunt for _, hunt, _ in ranked], seconds * hunting.PER_SECOND
        self.begun = self.done()

    def done(self):
        return sum(hunt.work for hunt in self.hunts)

    def spent(self):
        return self.done() - self.begun > self.steps


def unexplained(claim, ranked, looked, ends):
    """The Verdict where instances are rated above 1: "violated" if one of them is confirmed,
    "undecided" if one is neither that nor shown to be rounding's, None if all are shown to be."""
    # Where equality is left out, sides that look equal speak against the line.
    high = NEAR if ranked and ranked[0][1].target.strict else OVER
    above = [(hunt, raw) for ratio, hunt, raw in ranked if ratio > high]
    for hunt, raw in above[:LOOKS]:
        rows = [
            raw,
            *(row for row, rate in zip(hunt.top, hunt.rates) if rate > high and (row != raw).any()),
        ][: 1 if ends.spent() else ROWS]
        for row in rows:
            point = Point.near(hunt, row)
            if point is not None and point.harmless():  # rounding's own
                continue
            points = [near for near in Point.nearby(hunt, row) if near.answer() or not near.dear]
            verdict = refuted(claim, hunt, points, looked.cases)
            if verdict:
                return verdict
            certain = [p.ratio(certified=True) for p in points]
            told = [ratio for ratio in certain if ratio is not None]
            if any(ratio > 1 for ratio in told) or not told:
                # It fails, and no document may say so, or nothing tells
                return doubtful(claim, hunt, row, looked)
    return doubtful(claim, *above[LOOKS], looked) if len(above) > LOOKS else None


def doubtful(claim, hunt, raw, looked):
    """The Verdict "undecided" because of an instance at which the line seems to fail."""
    point, setting = Point.near(hunt, raw), hunt.target.setting
    return Verdict(
        claim.id,
        "undecided",
        setting.kind,
        f"It seems to fail at an instance of {setting.says}, and exact "
        "numbers neither confirm that nor say why.",
        cases=looked.cases,
        witness=dict(
            shape=hunt.shape, numbers=counterexample.texts(point.numbers) if point else {}
        ),
    )


def tightest(claim, ranked, looked, ends):
    """The Verdict "holds" with the largest ratio that is certain, or "undecided" where no instance
    says anything."""
    setting, reached, seen = looked.setting, None, 0
    for rate, hunt, raw in affordable(ranked, ends, lambda: not seen):
        # Where the first do not say for certain what floats do, others are asked: more work must not
        # tell less
        enough = reached is not None and rate <= ALIKE * reached[0]
        if seen >= EXACT and (enough or seen >= LOOKS):
            break
        if (point := Point.near(hunt, raw)) is not None and point.tied():
            return doubtful(claim, hunt, raw, looked)
        near = Point.nearby(hunt, raw)
        certain = ((point.ratio(certified=True), point) for point in near)
        found = next((each for each in certain if each[0] is not None), None)
        seen += found is not None or point is not None and point.ratio() is not None
        if found and (reached is None or found[0] > reached[0]):
            reached = found
    if not seen:
        return Verdict(
            claim.id,
            "undecided",
            setting.kind,
            f"No instance of {setting.says} was found inside its "
            "hypotheses at which its sides differ from zero.",
            cases=looked.cases,
        )
    why = f"No counterexample among {looked.cases} instances of {setting.says}."
    if reached is None or ranked[0][1].target.rating.mute:  # one term has nothing to be compared to
        return Verdict(claim.id, "holds", setting.kind, why, cases=looked.cases)
    ratio, point = reached
    numbers = counterexample.texts(point.numbers)
    return Verdict(
        claim.id,
        "holds",
        setting.kind,
        why,
        Tightness(ratio, numbers),
        looked.cases,
        None,
        dict(
            setting=setting.name,
            shape=point.hunt.shape,
            numbers=counterexample.texts({**point.hunt.numbers, **point.numbers}),
        ),
    )


def affordable(ranked, ends, lacking):
    """What is looked at in the end: the best as long as there is work left, then a few of the
    cheapest as long as an answer is `lacking`."""
    for each in ranked:
        if ends.spent():
            break
        yield each
    for each in sorted(ranked, key=lambda each: each[1].cost)[:FEW]:
        if lacking():
            each[1].look = LOOK
            yield each


def violated(claim, hunt, raw, cases, effort=400):
    """The Verdict if the line fails at a point for certain."""
    return refuted(claim, hunt, [Point.near(hunt, raw)], cases, effort)


def refuted(claim, hunt, points, cases, effort=400):
    """The Verdict if the line fails at one of some points for certain."""
    small = next((p.simpler(effort) for p in points if p is not None and p.breaks()), None)
    if small is None:
        return None
    try:
        written = counterexample.document(small)
    except Laborious:  # nobody could replay it in the time that a document may take
        return None
    except Refused:  # a search that errs is an error, not a verdict
        raise
    except (ValueError, OverflowError):  # numbers too long to be written down
        return None
    ratio = small.ratio()
    return Verdict(
        claim.id,
        "violated",
        hunt.target.setting.kind,
        f"It fails in {hunt.target.setting.says}: "
        f"left {written['left']}, right {written['right']}.",
        ratio and Tightness(ratio, written["numbers"]),
        cases,
        1.0,
        dict(instance=written["instance"], numbers=written["numbers"]),
        written,
    )


def unfit(claim):
    """Why no setting fits."""
    if claim.left_open:
        return f"It is said for some value of {', '.join(claim.left_open)}: no instance speaks against all of them."
    asked = {name: condition.says for name, condition in conditions(claim).items()}
    wanted = {entry.measure for entry in claim.quantities.values()}
    able = [
        s
        for s in all_settings()
        if wanted <= s.measures
        and bool(wanted) == bool(s.measures)
        and (not wanted or reads(s, claim))
    ]
    named = set(methods(claim))
    if able and named and not any(named & set(s.algorithms) or not s.algorithms for s in able):
        return f"No setting that measures it runs {', '.join(sorted(named))}."
    foreign = {name for s in able if named & set(s.algorithms) for name in strangers(s, claim)}
    if foreign:
        return f"No number of {', '.join(sorted(named))} is called {', '.join(sorted(foreign))}: other methods take it."
    if able and not any(s.runs is None or s.runs(claim) for s in able):
        return "No setting runs with the step sizes that it prescribes."
    if able:
        lacking = [says for name, says in asked.items() if not any(name in s.ensures for s in able)]
        return "No setting vouches for: " + "; ".join(lacking or asked.values()) + "."
    names = sorted({m.metric for m in wanted if not any(m in s.measures for s in all_settings())})
    return f"Nothing here measures {', '.join(names) or 'all of it at once'}."


def without_lines(claim, budget, seed):
    """The Verdict on a structure by running or computing both of its sides; a finding's figure has
    its own."""
    if isinstance(claim.statement, (Equivalences, Cells)):
        from fedtheory.verdicts import structure  # loads the compiler, which no other verdict needs

        return structure.decide(claim, budget, seed)
    return Verdict(
        claim.id, "undecided", claim.kind, "A sentence about an experiment: its figure decides it."
    )


__all__ = ["Refused", "check", "replay"]

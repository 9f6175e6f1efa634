"""`check`: a decision on whether a claim is true, how tight it is and where it fails.

Algebra tries to prove each line first. A line about measured quantities is then searched for
counterexamples in every setting that fits, from small shapes to larger ones, until the budget's
work is done. A counterexample is an instance in rationals; it is made as small as possible and
checked again from its document. This module treats no claim by name.
"""

import time
from contextlib import closing
from functools import partial
from itertools import chain

from fedtheory import arguments, discover, terminal
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Cells, Equivalences, Exists
from fedtheory.models import all_settings, conditions, fitting, methods, reads, strangers, tacit
from fedtheory.parallel import executors
from fedtheory.proofs import algebra, dimensions
from fedtheory.search import optimizer, scheduler
from fedtheory.search.coverage import Coverage
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import budget_to_units
from fedtheory.search.witnesses import read_witnesses
from fedtheory.verdicts import (
    asymptotic_orders,
    confirmation,
    dropped_hypotheses,
    existence,
    printed_reading,
    proof_graph,
    vacuity,
)
from fedtheory.verdicts.given_witnesses import try_witnesses as asked
from fedtheory.verdicts.replaying import replay
from fedtheory.verdicts.verdict import Verdict, merge_lines, merge_seeds, merge_settings

ATTEMPTS = 4  # exact evaluations at a shape during its search
# LONG: the least share of a search's budget for long runs, where the model has long runs. AFFORDED:
# seconds; below this budget no share is reserved.
LONG, AFFORDED = 0.2, 0.5
# PROOF: a share of the budget, for a proof by algebra. SHORTEST, LONGEST: seconds, the limits of
# the time for a proof. ENDS: a share of the budget, for exact evaluations at the end of a search.
PROOF, SHORTEST, LONGEST, ENDS = 0.2, 0.05, 2.0, 0.2


def check(claim, budget=10.0, seed=0, progress=None, witnesses=(), executor=None, seeds=1):
    """Return the Verdict on a claim, or on an id, as meant; its `printed` is the Verdict on the
    statement as printed.

    `budget` is in seconds of one core, counted as work. The check of the statement as printed,
    without hypotheses that only its proof uses, takes up to as much again.

    `witnesses` are documents of counterexamples, or Verdicts, for this claim or related claims.
    Each witness is evaluated exactly before the search starts. A witness never refutes a proved
    line.

    With `seeds` above 1, the search runs once per seed, from `seed` on, each time with the whole
    budget, so that many cores can search one claim. `executor` runs the searches: any
    concurrent.futures.Executor, or a text such as "processes:8". The executor never changes the
    result. `progress=True` shows the number of instances evaluated.

    >>> import fedtheory as ft
    >>> ft.check("fsl.h_lower", budget=1).status
    'proved'
    """
    begun = time.perf_counter()
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    seeds = arguments.check_integer("seeds", seeds, 1)
    executors.executor_factory(executor)
    claim, known = discover.claim(claim), read_witnesses(witnesses)
    progress = terminal.progress_callback(progress, claim.id)
    verdict = decide_readings(claim, budget, seed, progress, known, executor, seeds)
    if claim.follows:
        share = lambda other: as_meant(other, proof_graph.SHARE * budget_to_units(budget), seed)
        verdict.rests_on = proof_graph.rests_on(claim, verdict, share)
    verdict.seconds = time.perf_counter() - begun
    return verdict


def decide_readings(claim, budget, seed, progress=None, witnesses=(), executor=None, seeds=1):
    """Return the Verdict on a claim by itself, with all hypotheses and as printed. `budget` is in
    seconds of one core, and is converted to work units for everything below."""
    judge = partial(as_meant, witnesses=witnesses)
    if executor is not None or seeds > 1:
        judge = partial(from_seeds, witnesses=witnesses, executor=executor, seeds=seeds)
    begun, budget = time.perf_counter(), budget_to_units(budget)
    units = dimensions.notes(claim) if claim.lines else []
    verdict = judge(claim, budget, seed, progress=progress)
    verdict.notes += units
    printed_reading.judge_printed(claim, verdict, budget, seed, judge)
    verdict.seconds = time.perf_counter() - begun
    return verdict


def from_seeds(
    claim, budget, seed, progress=None, proofs=True, witnesses=(), executor=None, seeds=1
):
    """Return the Verdict of `as_meant` from several searches that workers run: the first that
    decides, in the order of seeds, or the merged Verdict of all."""
    first = lambda n: proofs and n == 0  # only the first search looks for a proof
    asked_of = lambda n: () if n else witnesses  # only the first search evaluates witnesses
    said = progress if executor is None else None  # workers would need the function, too
    tasks = [(claim, budget, seed + n, said, first(n), asked_of(n)) for n in range(seeds)]
    found = []
    with closing(executors.in_order(as_meant, tasks, executor)) as searched:
        for verdict in searched:
            found.append(verdict)
            if progress:
                progress(claim.id, sum(v.cases for v in found), verdict.tightness)
            if verdict.status in ("violated", "vacuous", "proved"):
                break
    return (
        found[-1]
        if found[-1].status in ("violated", "vacuous", "proved")
        else merge_seeds(claim, found)
    )


def as_meant(claim, budget, seed, progress=None, proofs=True, witnesses=()):
    """Return the Verdict on a claim with all hypotheses, whatever is printed; without `proofs` by
    search alone. A claim that `witnesses` refute is not searched; a proved line is not refuted by
    `witnesses`, and a note reports the conflict."""
    begun = time.perf_counter()
    if not claim.lines:
        verdict = without_lines(claim, budget, seed)
        verdict.seconds = time.perf_counter() - begun
        return verdict
    fitting(claim)  # raises for a run without its method, before anything is computed
    status, why, notes, certificate = (
        vacuity.decide_vacuity(claim, seed, budget) if proofs else (None, "", [], None)
    )
    handed = [asked(claim, at, witnesses) for at in range(len(claim.lines) if witnesses else 0)]
    shown = lambda at: status or proofs and proof(claim, at, budget, seed) and "proved"
    refuting = {at: known for at, known in enumerate(handed) if known.verdict}
    wrong = {at: said for at in refuting if (said := shown(at))}
    if unproved := [known.verdict for at, known in refuting.items() if at not in wrong]:
        unproved[0].seconds = time.perf_counter() - begun
        return unproved[0]
    errors = [contradiction(at, said) for at, said in wrong.items()]
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
            notes=[*notes, *errors],
            seconds=time.perf_counter() - begun,
        )
    found = []
    for n in range(len(claim.lines)):
        found.append(decide_line(claim, n, budget / len(claim.lines), seed, progress, proofs))
        if handed:
            handed[n].beside(found[-1])
        if found[-1].status == "violated":
            break
    verdict = merge_lines(claim, found, time.perf_counter() - begun)
    verdict.notes += [*errors, *(notes if verdict.status in ("holds", "undecided") else [])]
    return verdict


def proof(claim, at, budget, seed):
    """Return the Proof of a line by algebra, or None; `budget` is that of the whole claim."""
    seconds = min(LONGEST, max(SHORTEST, PROOF * budget / len(claim.lines)))
    return algebra.line(claim, at, budget=seconds, refute=False, seed=seed)


def contradiction(at, status):
    """Return the note for an instance given by the user that refutes a line that is proved, or a
    line of a vacuous claim."""
    return (
        f"An instance that was handed in refutes line {at + 1}, which is {status}: one of the two errs. "
        "That is a mistake of fedtheory, to be reported with the instance's document and the certificate."
    )


def decide_line(claim, at, budget, seed, progress=None, proofs=True):
    """Return the Verdict on one line; without `proofs` by search alone."""
    if claim.lines[at][1] == "O":
        return asymptotic_orders.decide_order(claim, at, budget, seed, as_meant)
    seconds = min(LONGEST, max(SHORTEST, PROOF * budget))
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
        return Verdict(claim.id, "undecided", "exact", explain_unfit(claim))
    found, broken = [], dict.fromkeys(dropped_hypotheses.relevant_hypotheses(claim, budget), 0)
    laws = dict.fromkeys(dropped_hypotheses.silent(claim, settings), 0)
    for setting, share in zip(
        settings, dropped_hypotheses.budget_shares(claim, at, settings, broken, seed)
    ):
        found.append(search_line(claim, at, setting, budget * share, seed, progress, broken, laws))
        if found[-1].status in ("violated", "vacuous"):
            break
    if found[-1].status == "holds" and any(n < dropped_hypotheses.FEW for n in laws.values()):
        found += breaking(claim, at, settings, budget, seed, laws)
    return dropped_hypotheses.spoken_of(
        dropped_hypotheses.qualify_verdict(merge_settings(found), broken), laws, claim, settings
    )


def breaking(claim, at, settings, budget, seed, laws):
    """Return the Verdicts of searches among instances that violate probability laws which few
    instances have violated so far."""
    found = []
    for setting in settings:
        read = tacit(setting, claim)
        left = {a: 0 for a, n in laws.items() if n < dropped_hypotheses.FEW and a.name not in read}
        if left and dropped_hypotheses.setting_can_break(claim, at, setting, left, seed):
            share = dropped_hypotheses.EXTRA * budget
            other = -1 - seed  # a seed for shapes that were not searched
            verdict = _search_line(claim, at, setting, share, other, None, left, laws)
            verdict.decided_on = setting.by
            found += [verdict] * bool(verdict.cases)
            if verdict.status == "violated":
                break
    return found


def search_line(claim, at, setting, budget, seed, progress=None, broken=(), laws=()):
    """Return the Verdict on a line by search in one setting. `broken` counts instances that violate
    what a variant dropped, `laws` instances that violate probability laws that the claim does not
    mention."""
    verdict = _search_line(claim, at, setting, budget, seed, progress, broken, laws)
    verdict.decided_on = setting.by
    return verdict


def _search_line(claim, at, setting, budget, seed, progress, broken, laws):
    target = Target(claim, setting, at)
    if target.impossible:
        return Verdict(
            claim.id, "vacuous", "exact", "Its hypotheses contradict each other.", confidence=1.0
        )
    looked, tried, best = Coverage(setting), {}, {}
    wanted = (lambda hunt: dropped_hypotheses.draws_break(hunt, claim, broken)) if broken else None
    others = scheduler.OTHERS
    open_ = {a.name for a in laws} - tacit(setting, claim)
    if open_ and not broken:  # at least half of the searched shapes break a law
        wanted, others = lambda hunt: "breaks" in hunt.shape, 2
    ways = [target, *target.others()]  # one Target for each way to meet the equations
    chosen = dict(wanted=wanted, others=others)
    for hunt, ratio, point in search_each_way(
        target, ways, (1 - ENDS) * budget, seed, chosen, looked
    ):
        looked.add(hunt)
        if (
            ratio >= confirmation.NEAR
            and tried.get(hunt, (0, 0.0))[0] < ATTEMPTS
            and ratio > tried.get(hunt, (0, 0.0))[1]
        ):
            tried[hunt] = tried.get(hunt, (0, 0.0))[0] + 1, ratio
            verdict = confirmation.confirm_violation(claim, hunt, point, looked.cases)
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
    if not setting.measures:
        found = (confirmation.at_roots(claim, each, looked, seed, budget) for each in ways)
        verdict = next((each for each in found if each is not None), None)
        if verdict:
            verdict.searched = str(looked)
            return verdict
    if broken:
        dropped_hypotheses.count_breaking(broken, claim, best)
    if laws:
        dropped_hypotheses.note_laws(laws, claim, best)
    ranked = sorted(
        ((ratio, hunt, raw) for hunt, (ratio, raw) in best.items()), key=lambda each: -each[0]
    )
    verdict = confirmation.conclude_search(claim, ranked, looked, ENDS * budget)
    verdict.searched = str(looked)
    return verdict


def search_each_way(target, ways, budget, seed, chosen, looked):
    """Yield the results of `scheduler.search_waves` for each way to satisfy the equations; long
    runs come last, with the budget that is left."""
    longer = target.setting.longer
    long = LONG if longer and budget >= AFFORDED else 0.0
    share = (1 - long) * budget / len(ways)
    yield from chain.from_iterable(
        scheduler.search_waves(each, share, seed, **chosen) for each in ways
    )
    if longer:
        setting = target.setting._replace(shapes=longer, longer=None)
        left = budget - sum(hunt.work for hunt in looked.seen) / optimizer.PER_SECOND
        runs = Target(target.claim, setting, target.line)
        yield from scheduler.search_waves(runs, max(left, long * budget), seed)


def explain_unfit(claim):
    """Return a sentence that says why no setting fits."""
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
        own = ", ".join(sorted(named))
        return (
            f"No setting in the letters of {claim.table.paper} runs {own}: in those of "
            "fedtheory.symbols.run any method may be spoken of."
        )
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
    """Return the Verdict on a structure by running or computing both of its sides. A finding is
    decided by its figure."""
    if isinstance(claim.statement, Exists):
        return existence.decide_existence(claim, budget, seed, as_meant)
    if isinstance(claim.statement, (Equivalences, Cells)):
        from fedtheory.verdicts import (
            structural_claims,  # imported here: it loads the compiler, which others do not need
        )

        return structural_claims.decide_structure(claim, budget, seed)
    return Verdict(
        claim.id, "undecided", claim.kind, "A sentence about an experiment: its figure decides it."
    )


__all__ = ["Refused", "check", "replay"]

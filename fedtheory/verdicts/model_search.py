"""The search for counterexamples to a line in every model that fits, from small shapes to larger
ones, until the budget's work is done."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from fedtheory.language.claim import Claim
from fedtheory.models import Model, all_models, conditions, methods, reads, strangers, tacit
from fedtheory.search import optimizer, scheduler
from fedtheory.search.coverage import Coverage
from fedtheory.search.objective import Target
from fedtheory.verdicts import confirmation, dropped_hypotheses
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.confirmation import ENDS, RankedInstance
from fedtheory.verdicts.dropped_hypotheses import ViolationCounts
from fedtheory.verdicts.evidence import Counterexample, Evidence, Gap, Search, Vacuity

ATTEMPTS = 4  # exact evaluations at a shape during its search
# LONG: the least share of a search's budget for long runs, where the model has long runs. AFFORDED:
# seconds; below this budget no share is reserved.
LONG, AFFORDED = 0.2, 0.5


def search_models(case: Case) -> tuple[list[Evidence], ViolationCounts]:
    """Return the evidence of searches of a line in every model of a case, up to the first that
    refutes the line, and how many instances violate what the claim does not assume."""
    claim, models, found = case.claim, case.models, list[Evidence]()
    unmet = ViolationCounts.of(claim, models, case.budget)
    shares = dropped_hypotheses.budget_shares(claim, case.line, models, unmet.dropped, case.seed)
    for model, share in zip(models, shares):
        part = case.of_line(case.line, case.budget * share)
        found.append(search_model(part, model, unmet))
        if isinstance(found[-1], Counterexample | Vacuity):
            break
    if isinstance(found[-1], Search) and unmet.rare_laws():
        found += search_beyond_laws(case, unmet)
    return found, unmet


def search_beyond_laws(case: Case, unmet: ViolationCounts) -> Iterator[Evidence]:
    """Yield the evidence of searches among instances that violate probability laws which few
    instances have violated so far."""
    for model in case.models:
        read = tacit(model, case.claim)
        left = {a: 0 for a in unmet.rare_laws() if a.name not in read}
        can_break = dropped_hypotheses.setting_can_break
        if left and can_break(case.claim, case.line, model, left, case.seed):
            share = dropped_hypotheses.EXTRA * case.budget
            other = -1 - case.seed  # a seed for shapes that were not searched
            part = replace(case, budget=share, seed=other, progress=None)
            found = search_model(part, model, ViolationCounts(left, unmet.laws))
            if found.cases:
                yield found
            if isinstance(found, Counterexample):
                break


def search_model(case: Case, model: Model, unmet: ViolationCounts | None = None) -> Evidence:
    """Return the evidence of a search of a line in one model. The counts in `unmet` grow by the
    instances that violate dropped hypotheses and unmentioned probability laws."""
    unmet = unmet or ViolationCounts({}, {})
    target = Target(case.claim, model, case.line)
    if target.impossible:
        return Vacuity(says="Its hypotheses contradict each other.", model=model)
    looked = Coverage(model)
    ways = [target, *target.others()]  # one Target for each way to meet the equations
    found = search_ways(case, ways, looked, unmet)
    return replace(found, searched=str(looked), model=model)


def search_ways(
    case: Case, ways: list[Target], looked: Coverage, unmet: ViolationCounts
) -> Evidence:
    """Return the evidence of a search of all ways to meet the equations of a line."""
    tried: dict = {}  # {hunt: (number of exact evaluations, ratio at the last of them)}
    best: dict = {}
    for hunt, ratio, point in search_each_way(case, ways, looked, unmet):
        looked.add(hunt)
        times, last = tried.get(hunt, (0, 0.0))
        if ratio >= confirmation.NEAR and times < ATTEMPTS and ratio > last:
            tried[hunt] = times + 1, ratio
            violation = confirmation.confirm_violation(hunt, point, looked.cases)
            if violation:
                return violation
        if ratio >= 0:
            best[hunt] = ratio, point
        if case.progress:
            most = max((ratio for ratio, _ in best.values()), default=None)
            case.progress(case.claim.id, looked.cases, most)
    model = looked.setting
    if not looked.seen:
        says = f"No shape of {model.says} meets its hypotheses."
        return Gap(says=says, kind=model.kind)
    if not model.measures:
        at_roots = (confirmation.at_roots(each, looked, case.seed, case.budget) for each in ways)
        if found := next(filter(None, at_roots), None):
            return found
    unmet.add_searches(case.claim, best)
    ranked = [RankedInstance(ratio, hunt, raw) for hunt, (ratio, raw) in best.items()]
    ranked.sort(key=lambda each: -each.ratio)
    return confirmation.conclude_search(ranked, looked, ENDS * case.budget)


def search_each_way(
    case: Case, ways: list[Target], looked: Coverage, unmet: ViolationCounts
) -> Iterator[tuple]:
    """Yield the results of `scheduler.search_waves` for each way to satisfy the equations; long
    runs come last, with the budget that is left."""
    target, budget = ways[0], (1 - ENDS) * case.budget
    model, claim = target.setting, case.claim
    wanted, others = None, scheduler.OTHERS
    if unmet.dropped:
        wanted = lambda hunt: dropped_hypotheses.draws_break(hunt, claim, unmet.dropped)
    elif {a.name for a in unmet.laws} - tacit(model, claim):
        # At least half of the searched shapes break a law.
        wanted, others = lambda hunt: "breaks" in hunt.shape, 2
    longer = model.longer
    long = LONG if longer and budget >= AFFORDED else 0.0
    share = (1 - long) * budget / len(ways)
    yield from chain.from_iterable(
        scheduler.search_waves(each, share, case.seed, wanted=wanted, others=others)
        for each in ways
    )
    if longer:
        setting = model._replace(shapes=longer, longer=None)
        left = budget - sum(hunt.work for hunt in looked.seen) / optimizer.PER_SECOND
        runs = Target(claim, setting, target.line)
        yield from scheduler.search_waves(runs, max(left, long * budget), case.seed)


def explain_unfit(claim: Claim) -> str:
    """Return a sentence with the reason why no setting fits."""
    if claim.left_open:
        return f"It is said for some value of {', '.join(claim.left_open)}: no instance speaks against all of them."
    asked = {name: condition.says for name, condition in conditions(claim).items()}
    wanted = {entry.measure for entry in claim.quantities.values()}
    able = [
        s
        for s in all_models()
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
    names = sorted({m.metric for m in wanted if not any(m in s.measures for s in all_models())})
    return f"Nothing here measures {', '.join(names) or 'all of it at once'}."

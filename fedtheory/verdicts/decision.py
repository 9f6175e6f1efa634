"""The decision of a case: which strategies are asked, in which order, and what ends the decision.

Algebra tries to prove each line first. A line about measured quantities is then searched for
counterexamples in every model that fits. A proof or a confirmed counterexample ends the decision of
a line. Strategies return evidence; `verdicts.combination` makes the Verdict of it.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from fedtheory.errors import refuse
from fedtheory.language.claim import Cells, Claim, Equivalences, Exists
from fedtheory.parallel import executors
from fedtheory.proofs import algebra
from fedtheory.search.witnesses import Witness
from fedtheory.verdicts import asymptotic_orders, combination
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.combination import conclude
from fedtheory.verdicts.evidence import Gap, Given, Proof
from fedtheory.verdicts.given_witnesses import try_witnesses
from fedtheory.verdicts.model_search import explain_unfit, search_models
from fedtheory.verdicts.status import FINAL, HOLDS, PROVED, UNDECIDED, VACUOUS, VIOLATED
from fedtheory.verdicts.vacuity import ClaimExamination, examine_hypotheses
from fedtheory.verdicts.verdict import Verdict

# PROOF: a share of the budget, for a proof by algebra. SHORTEST, LONGEST: seconds, the limits of
# the time for a proof.
PROOF, SHORTEST, LONGEST = 0.2, 0.05, 2.0


def decide(case: Case) -> Verdict:
    """Return the Verdict on a case, whatever is printed.

    A case of several seeds or with an executor is searched seed by seed; a claim with lines is
    decided line by line; any other claim as a structure, a denial or a finding. `seconds` is the
    elapsed time.
    """
    begun = time.perf_counter()
    if case.seeds > 1 or case.executor is not None:
        verdict = decide_by_seeds(case)
    elif case.claim.lines:
        verdict = decide_lines(case)
    else:
        verdict = decide_statement(case)
    return replace(verdict, seconds=time.perf_counter() - begun)


def as_meant(
    claim: Claim,
    budget: float,
    seed: int,
    progress: Callable | None = None,
    proofs: bool = True,
    witnesses: Sequence[Witness] = (),
) -> Verdict:
    """Return the Verdict on a claim with all its hypotheses; without `proofs` by search alone."""
    more = dict(progress=progress, proofs=proofs, witnesses=tuple(witnesses))
    return decide(Case.of(claim, budget, seed, **more))


def decide_by_seeds(case: Case) -> Verdict:
    """Return the Verdict of several searches that workers run: the first that decides, in the order
    of seeds, or the merged Verdict of all."""
    said = case.progress if case.executor is None else None  # workers would need the function, too
    # Only the first search looks for a proof and evaluates witnesses.
    tasks = [
        (case.claim, case.budget, case.seed + n, said, not n and case.proofs, case.witnesses[:0])
        for n in range(case.seeds)
    ]
    tasks[0] = (*tasks[0][:-1], case.witnesses)
    found: list[Verdict] = []
    with closing(executors.in_order(as_meant, tasks, case.executor)) as searched:
        for verdict in searched:
            found.append(verdict)
            if case.progress:
                case.progress(case.claim.id, sum(v.cases for v in found), verdict.tightness)
            if verdict.status in FINAL:
                break
    return combination.combine_seeds(case.claim, found)


def decide_lines(case: Case) -> Verdict:
    """Return the Verdict on a statement of lines. A claim that a user's instance refutes is not
    searched; a proved line is not refuted by an instance, and a note reports the conflict."""
    claim, count = case.claim, len(case.claim.lines)
    hypotheses = (
        examine_hypotheses(claim, case.seed, case.budget)
        if case.proofs
        else ClaimExamination(None, ())
    )
    lines = [case.of_line(at, case.budget / count) for at in range(count)]
    given = [try_witnesses(line) for line in lines] if case.witnesses else [Given()] * count
    conflicts = []
    for line, tried in zip(lines, given):
        if tried.refuting is not None:
            decided = VACUOUS if hypotheses.vacuity else prove_line(line) and PROVED
            if not decided:
                return conclude(claim.id, tried.refuting)
            conflicts.append(combination.note_contradiction(line.line, decided))
    if hypotheses.vacuity:  # there is no counterexample to look for
        verdict = conclude(claim.id, hypotheses.vacuity)
        return replace(verdict, notes=[*verdict.notes, *conflicts])
    found: list[Verdict] = []
    for line, tried in zip(lines, given):
        found.append(combination.add_given(decide_line(line), tried))
        if found[-1].status == VIOLATED:
            break
    verdict = combination.combine_lines(claim, found)
    more = hypotheses.notes if verdict.status in (HOLDS, UNDECIDED) else ()
    return replace(verdict, notes=[*verdict.notes, *conflicts, *more])


def decide_line(case: Case) -> Verdict:
    """Return the Verdict on a single line of a case.

    The order of attempts is the order of strength: the explicit companion for an order O, then a
    proof by algebra, then a search in every fitting model. A line that no model measures ends in a
    Gap that says why no model fits.
    """
    claim = case.claim
    if claim.lines[case.line][1] == "O":
        return decide_order(case)
    if proof := prove_line(case):
        return conclude(claim.id, proof)
    if not case.models:
        return conclude(claim.id, Gap(says=explain_unfit(claim), kind="exact"))
    return combination.combine_models(case, *search_models(case))


def prove_line(case: Case) -> Proof | None:
    """Return a proof of a line by algebra, or None.

    A share PROOF of the case's budget is spent, within SHORTEST and LONGEST seconds. Algebra looks
    for no counterexample here: the models do this with measured quantities.
    """
    seconds = min(LONGEST, max(SHORTEST, PROOF * case.budget))
    if not case.proofs:
        return None
    found = algebra.prove_line(case.claim, case.line, budget=seconds, refute=False, seed=case.seed)
    return Proof(says=str(found), document=dict(found.certificate)) if found else None


def decide_order(case: Case) -> Verdict:
    """Return the Verdict on an order, after the Verdict on the explicit companion."""
    explicit = asymptotic_orders.explicit_companion(case.claim)
    known = as_meant(explicit, 0.5 * case.budget, case.seed) if explicit else None
    return conclude(case.claim.id, asymptotic_orders.examine_order(case, known))


def decide_statement(case: Case) -> Verdict:
    """Return the Verdict on a statement without lines: a structure is run or computed on both of its
    sides, and the denial of a statement of existence is decided. A finding is decided by its
    figure."""
    claim = case.claim
    if isinstance(claim.statement, Exists):
        denial = claim.denial
        if denial.left_open:
            refuse(f"{claim.id}: {', '.join(denial.left_open)}", "must not be left open", claim)
        return combination.conclude_denial(claim, as_meant(denial, case.budget, case.seed))
    if isinstance(claim.statement, (Equivalences, Cells)):
        from fedtheory.verdicts import (
            structural_claims,  # imported here: it loads the compiler, which others do not need
        )

        return conclude(claim.id, structural_claims.examine_structure(case))
    says = "A sentence about an experiment: its figure decides it."
    return conclude(claim.id, Gap(says=says, kind=claim.kind))

"""`check`: a decision on whether a claim is true, how tight it is and where it fails.

The claim is decided as meant, with all its hypotheses, and then in the readings that the paper's
text leaves open. This module treats no claim by name.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from fedtheory import arguments, discover, terminal
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim
from fedtheory.parallel import executors
from fedtheory.proofs import dimensions
from fedtheory.search.optimizer import budget_to_units
from fedtheory.search.witnesses import read_witnesses
from fedtheory.verdicts import printed_reading, proof_graph
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.decision import as_meant, decide
from fedtheory.verdicts.replaying import replay
from fedtheory.verdicts.verdict import Verdict


def check(
    claim: Claim | str,
    budget: float = 10.0,
    seed: int = 0,
    progress: Callable | bool | None = None,
    witnesses: Iterable[dict | Verdict] = (),
    executor: Executor | str | None = None,
    seeds: int = 1,
) -> Verdict:
    """Return the Verdict on a claim as meant; its `printed` is the Verdict on the statement as
    printed.

    `claim` is a Claim or the id of a recorded claim, such as "fsl.theorem1". `budget` is in seconds
    of one core, counted as work. The check of the statement as printed, without hypotheses that
    only its proof uses, takes up to as much again. `seed` fixes every draw of the search.

    `witnesses` are documents of counterexamples, or Verdicts, for this claim or related claims.
    Each witness is evaluated exactly before the search starts. A witness never refutes a proved
    line.

    With `seeds` above 1, the search runs once per seed, from `seed` on, each time with the whole
    budget, so that many cores can search one claim. `executor` runs the searches: any
    concurrent.futures.Executor, or a text such as "processes:8". The executor never changes the
    result. `progress=True` shows the number of instances evaluated.

    The Verdict has a status of `verdicts.status`, the reason in a sentence, the largest ratio of
    left to right side found with its instance, and for "proved" and "violated" a `certificate` for
    `replay`. Raises InvalidInput, before anything is computed, for an unknown id, a budget, seed,
    number of seeds or executor outside its range, and a claim about a run that names no method.

    >>> import fedtheory as ft
    >>> v = ft.check("fsl.h_lower", budget=1)
    >>> v.status, ft.replay(v.certificate)["status"]
    ('proved', 'proved')
    """
    begun = time.perf_counter()
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    seeds = arguments.check_integer("seeds", seeds, 1)
    executors.executor_factory(executor)
    asked, known = discover.claim(claim), tuple(read_witnesses(witnesses))
    said = terminal.progress_callback(progress, asked.id)
    more = dict(progress=said, witnesses=known, executor=executor, seeds=seeds)
    verdict = decide_readings(asked, budget, seed, **more)
    if asked.follows:
        share = lambda other: as_meant(other, proof_graph.SHARE * budget_to_units(budget), seed)
        verdict = replace(verdict, rests_on=proof_graph.rests_on(asked, verdict, share))
    return replace(verdict, seconds=time.perf_counter() - begun)


def decide_readings(claim: Claim, budget: float, seed: int, **more: Any) -> Verdict:
    """Return the Verdict on a claim by itself, with all hypotheses and as printed. `budget` is in
    seconds of one core, and is converted to work units for everything below; `more` are fields of
    its Case."""
    units = dimensions.unit_notes(claim) if claim.lines else []
    case = Case.of(claim, budget_to_units(budget), seed, **more)
    verdict = decide(case)
    verdict = replace(verdict, notes=[*verdict.notes, *units])
    return printed_reading.add_readings(case, verdict)


__all__ = ["Refused", "as_meant", "check", "decide_readings", "replay"]

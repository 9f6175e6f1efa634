"""Soundness: checks of statements of independently known truth; one wrong verdict is a bug.

    python -m tests.checker.soundness                            # all parts
    python -m tests.checker.soundness textbook --seeds 50 sgd    # true textbook statements with sgd in their names
    python -m tests.checker.soundness relatives --relatives 300

Parts: `textbook`, true statements that are never violated and, where they are tight, found tight;
`hostile`, users' claims that invite an error; `vectors`, forms of degree four; `graphs`, steps of
proofs with premises of other tables, methods, rounds and constants; `orders`, `structures`;
`factors`, claims under equations whose factors may vanish; `compared`, bounds of known truth set
against runs; `methods`, worst cases of hostile methods; `forgotten`, users' claims in which laws of
chance were never written; `relatives`, random variants of all recorded claims. Each answer is
stored in --out as soon as it is found: an interrupted run continues where it stopped, and answers
that were found with other sources, budgets or seeds are not counted.
"""

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache, lru_cache
from multiprocessing import get_context
from pathlib import Path

from fedtheory import discover
from fedtheory.app import ledger
from fedtheory.errors import FedtheoryError
from fedtheory.store import source_hash
from fedtheory.terminal import duration_text
from fedtheory.verdicts import pipeline
from fedtheory.verdicts.verdict import Verdict
from tests.checker import (
    adversarial_claims,
    compared_bounds,
    forgotten_laws,
    hostile_methods,
    known_statements,
    large_cases,
    premises,
    random_orders,
    random_variants,
    vanishing_factors,
)
from tests.checker.known_statements import TIGHT, reach_ratio

TRUE = {**known_statements.TRUE, **large_cases.TRUE}
LOOK = dict(
    hostile=0.5, vectors=0.5, factors=0.1, forgotten=0.5
)  # minimal seconds: with less a search sees only one kind of shape
LONGER = 5.0  # minimal seconds for a claim with a refuted relative


def sources_digest() -> str:
    """Return one hash of the files of this folder and of everything that these files reach."""
    facts = [source_hash.file_facts(path) for path in sorted(Path(__file__).parent.glob("*.py"))]
    imports = {name for fact in facts for name in source_hash.imported_modules(fact.imports)}
    return ledger.digest_of([[fact.syntax for fact in facts], source_hash.digest_of_reach(imports)])


class Store:
    """A store of answers by name in a file of lines; each answer is written as soon as it is found."""

    def __init__(self, folder, *settings):
        self.found, self.path = {}, None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            name = ledger.digest_of([sources_digest(), ledger.library_versions(), settings])[:16]
            self.path = folder / f"{name}.jsonl"
            lines = self.path.read_text().splitlines() if self.path.exists() else []
            for line in lines:
                try:
                    name, answer = json.loads(line)
                    self.found[name] = answer
                except ValueError:  # a line cut off by a crash
                    continue

    def keep(self, name, answer):
        self.found[name] = answer
        if self.path is not None:
            with self.path.open("a") as out:
                # separated from a line that was cut off
                out.write("\n" + json.dumps([name, answer]) + "\n")


# ---------------------------------------------------------------- questions, by part, name and
# number


def textbook(name, seed, budget):
    verdict = pipeline.check(TRUE[name], budget=budget, seed=seed)
    wrong = verdict.status in ("violated", "vacuous") or (verdict.tightness or 0.0) > 1
    return verdict, f"a true statement: {TRUE[name]}" if wrong else ""


def of_hostile(name, seed, budget):
    make, allowed = adversarial_claims.CASES[name]
    try:
        verdict = pipeline.check(make(), budget=budget, seed=seed)
    except FedtheoryError as error:
        verdict = Verdict(name, adversarial_claims.REFUSED, "", str(error))
    return verdict, "" if verdict.status in allowed else f"may be {', '.join(sorted(allowed))}"


def of_vectors(name, seed, budget):
    claim, refuted = adversarial_claims.draw_vector_claim(seed)
    verdict = pipeline.check(claim, budget=budget, seed=seed)
    return verdict, "" if verdict.status in adversarial_claims.allowed_statuses(
        refuted
    ) else f"an instance refutes it: {claim}"


def of_premises(name, seed, budget):
    step = premises.draw(name, seed)
    try:
        verdict = pipeline.check(step.claim, budget=budget, seed=seed)
    except FedtheoryError as error:
        return Verdict(
            name, adversarial_claims.REFUSED, "", str(error)
        ), "it is true" * step.follows
    return verdict, premises.objection(step, verdict)


def of_drawn(name, seed, budget):
    claim, truth = dict(
        order=random_orders.draw_order,
        cells=random_orders.draw_cells,
        equivalence=random_orders.draw_equivalence,
    )[name](seed)
    verdict = pipeline.check(claim, budget=budget, seed=seed)
    return verdict, "" if verdict.status in random_orders.allowed_statuses(
        truth
    ) else f"{'true' if truth else 'false'}: {claim}"


def of_method(trait, seed, budget):
    """Prove a worst case for a program of a hostile method; the answer is right where the proof is
    refused, or where no run exceeds the proved bound."""
    worst = hostile_methods.proved_worst(trait, seed)
    if isinstance(worst, str):
        return Verdict(trait, adversarial_claims.REFUSED, "", worst), ""
    verdict = Verdict(trait, "proved", "", str(worst))
    largest = hostile_methods.largest_loss(trait, seed)
    if largest > worst.value * (1 + 1e-9) + 1e-12:
        return verdict, f"a run loses {largest:.6g}, of at most {worst.value:.6g}"
    return verdict, ""


def of_factors(name, seed, budget):
    claim, truth = vanishing_factors.draw_claim(name, seed)
    verdict = pipeline.check(claim, budget=budget, seed=seed)
    right = verdict.status in random_orders.allowed_statuses(truth)
    return (
        verdict,
        ""
        if right
        else f"{'true' if truth else 'false'}: {vanishing_factors.with_assumptions(claim)}",
    )


def of_compared(name, seed, budget):
    said = compared_bounds.answer(seed, name)
    verdict = Verdict(name, said, "", "")
    return verdict, f"a bound that is {name}" if compared_bounds.wrong(name, said) else ""


def of_forgotten(name, seed, budget):
    claim, true = forgotten_laws.forgotten(seed)
    verdict = pipeline.check(claim, budget=budget, seed=seed)
    wrong = verdict.status not in forgotten_laws.allowed_statuses(true)
    return verdict, f"{'true' if true else 'false'}: {claim}" if wrong else ""


def base(name, seed, budget):
    """Check a recorded claim itself."""
    return pipeline.check(name, budget=budget, seed=0), ""


@cache
def cases(name):
    return random_variants.drawn_cases(discover.claim(name), 3, 0)


@lru_cache(maxsize=2)
def resolve_bases(bases):
    """Return [(claim, recorded verdict of the claim)] for the bases (id, status, tightness)."""
    recorded = {claim.id: claim for claim in discover.claims()}
    return [
        (recorded[name], Verdict(name, status, "", tightness=tight))
        for name, status, tight in bases
    ]


def relative(name, seed, budget, bases):
    made = random_variants.drawn_relative(resolve_bases(bases), name, seed)
    verdict = pipeline.check(made.claim, budget=budget, seed=seed)
    objection = random_variants.objection(made, verdict, cases(made.base.id))
    if objection and verdict.status == "violated" and fails_too(made.base, verdict, budget, seed):
        objection = ""
    return verdict, objection and f"{objection}; {made.base.id}, {made.says}"


def fails_too(base, verdict, budget, seed):
    """Tell whether the base of a variant fails as well where the base has no proof: the variant's
    verdict is then right, and a short search had missed the base's failure. An instance that
    refutes the variant is tried on the base; for a family of instances, a new search is made."""
    longer = pipeline.check(base, budget=max(budget, LONGER), seed=seed)
    if longer.status in ("proved", "violated") or "setting" not in verdict.certificate:
        return longer.status == "violated"
    return pipeline.check(base, budget=budget, seed=seed, witnesses=[verdict]).status == "violated"


ASK = dict(
    textbook=textbook,
    hostile=of_hostile,
    vectors=of_vectors,
    drawn=of_drawn,
    factors=of_factors,
    compared=of_compared,
    base=base,
    methods=of_method,
    graphs=of_premises,
    forgotten=of_forgotten,
)


def answer(question, budget, bases=()):
    """Return the answer to a question as plain data; any exception counts as a wrong answer."""
    part, name, seed = question
    begun = time.perf_counter()
    try:
        verdict, objection = (
            relative(name, seed, budget, bases)
            if part == "relatives"
            else ASK[part](name, seed, budget)
        )
        status, tight, cases_, why = verdict.status, verdict.tightness, verdict.cases, verdict.why
    except Exception as error:  # a campaign records crashes as findings
        status, tight, cases_, why, objection = "crash", None, 0, repr(error)[:300], "it raises"
    return dict(
        status=status,
        tightness=None if tight is None else float(tight),
        cases=cases_,
        objection=objection,
        why=why if objection else "",
        seconds=round(time.perf_counter() - begun, 3),
    )


def campaign(questions, budget, store, workers=0, bases=(), say=print):
    """Return {name: answer} of every question; questions whose answers are stored already are not
    asked again."""
    label = lambda question: "/".join(map(str, question))
    wanted = [question for question in questions if label(question) not in store.found]
    progress = Progress(len(questions), len(questions) - len(wanted), say)
    if workers and wanted:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            waiting = [
                (question, pool.submit(answer, question, budget, bases)) for question in wanted
            ]
            for question, future in waiting:
                store.keep(label(question), future.result())
                progress.show(label(question), store.found[label(question)])
    else:
        for question in wanted:
            store.keep(label(question), answer(question, budget, bases))
            progress.show(label(question), store.found[label(question)])
    return {label(question): store.found[label(question)] for question in questions}


class Progress:
    def __init__(self, total, done, say):
        self.total, self.done, self.say, self.wrong = total, done, say, 0
        self.begun = self.last = time.monotonic()
        self.before = done

    def show(self, name, found):
        self.done += 1
        if found["objection"]:
            self.wrong += 1
            self.say(f"WRONG {name}: {found['status']}: {found['objection']} {found['why']}")
        if time.monotonic() - self.last > 10 or self.done == self.total:
            self.last = time.monotonic()
            each = (self.last - self.begun) / (self.done - self.before)
            left = duration_text(each * (self.total - self.done))
            self.say(f"{self.done} of {self.total}, {self.wrong} wrong, {left} left")


def questions(part, given):
    """Return [(part, name, seed)] of all questions of a part."""
    if part == "textbook":
        return [
            (part, name, seed) for name in TRUE if given.only in name for seed in range(given.seeds)
        ]
    if part == "hostile":
        return [
            (part, name, seed)
            for name in adversarial_claims.CASES
            if given.only in name
            for seed in range(3)
        ]
    if part == "vectors":
        return [(part, "form", seed) for seed in range(given.drawn)]
    if part == "factors":
        kinds = [kind for kind in vanishing_factors.KINDS if given.only in kind]
        return [(part, kind, seed) for seed in range(given.drawn // 5) for kind in kinds]
    if part == "compared":
        return [
            (part, kind, seed) for seed in range(given.drawn) for kind in compared_bounds.SHARES
        ]
    if part == "graphs":
        kinds = [name for name in premises.KINDS if given.only in name]
        return [(part, name, seed) for name in kinds for seed in range(given.drawn)]
    if part == "forgotten":
        return [(part, "law", seed) for seed in range(given.drawn)]
    if part == "orders":
        return [("drawn", "order", seed) for seed in range(given.drawn)]
    if part == "methods":
        traits = hostile_methods.TRAITS
        return [(part, trait, seed) for trait in traits for seed in range(given.drawn // 10)]
    if part == "structures":
        return [("drawn", "cells", seed) for seed in range(given.drawn // 10)] + [
            ("drawn", "equivalence", k) for k in range(len(random_orders.EQUIVALENCES))
        ]
    return [("relatives", given.seed, n) for n in range(given.relatives)]


def find_loose(only, budget):
    """Return {name: largest ratio} of the tight textbook statements for which the search does not
    reach the bound."""
    loose = {}
    for name in (name for name in TIGHT if only in name):
        found = max((reach_ratio(TRUE[name], 0.99, budget, seed) for seed in range(5)), default=0.0)
        if found < 0.99:
            loose[name] = found
    return loose


PARTS = (
    "hostile",
    "vectors",
    "graphs",
    "forgotten",
    "orders",
    "structures",
    "factors",
    "compared",
    "methods",
    "textbook",
    "relatives",
)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.checker.soundness", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "part", nargs="?", default="all", choices=("all", *PARTS), help="one part alone"
    )
    parser.add_argument(
        "only", nargs="?", default="", help="only statements with this in their names"
    )
    parser.add_argument(
        "--seeds", type=int, default=1000, help="seeds for each textbook statement (1000)"
    )
    parser.add_argument(
        "--drawn",
        type=int,
        default=200,
        help="forms of vectors, orders and bounds that are drawn (200)",
    )
    parser.add_argument(
        "--relatives", type=int, default=2000, help="relatives of recorded claims (2000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the relatives (0)")
    parser.add_argument(
        "--budget", type=float, default=0.02, help="seconds of work for a question (0.02)"
    )
    parser.add_argument(
        "--tight",
        type=float,
        default=10.0,
        help="seconds of a try to find a tight one tight; 0: none",
    )
    parser.add_argument("--workers", type=int, default=2, help="processes (2); 0: this one")
    parser.add_argument(
        "--out", default="out/soundness", help="where answers are kept (out/soundness)"
    )
    given = parser.parse_args(arguments)
    store, wrong, begun = Store(Path(given.out), given.budget), 0, time.monotonic()
    say = lambda text: print(text, flush=True)
    for part in PARTS if given.part == "all" else (given.part,):
        bases = ()
        if part == "relatives":
            asked = [
                ("base", claim.id, 0)
                for claim in discover.claims()
                if claim.lines and given.only in claim.id
            ]
            found = campaign(asked, given.budget, store, given.workers, say=say)
            bases = tuple(
                (name, each["status"], each["tightness"])
                for (_, name, _), each in zip(asked, found.values())
                if each["status"] not in ("crash", "vacuous")
            )
        budget = max(given.budget, LOOK.get(part, 0.0))
        found = campaign(questions(part, given), budget, store, given.workers, bases, say)
        statuses = Counter(each["status"] for each in found.values())
        bad = sum(1 for each in found.values() if each["objection"])
        say(
            f"{part}: {len(found)} questions, {bad} wrong verdicts; "
            + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        )
        wrong += bad
        if part == "textbook" and given.tight:
            loose = find_loose(given.only, given.tight)
            say(
                f"tight ones not found tight: {', '.join(f'{n} ({r:.3f})' for n, r in loose.items()) or 'none'}"
            )
    say(f"{wrong} wrong verdicts in all, {time.monotonic() - begun:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

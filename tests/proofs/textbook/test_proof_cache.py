"""What is kept of proofs is what the records ask for: nothing is stale, and nothing is missing."""

from fedtheory import discover
from fedtheory.proofs import algebra
from fedtheory.proofs.textbook import facts, proof_cache, proof_steps
from fedtheory.proofs.textbook.lemmas import LEAVES

AGAIN = "run python -m tests.proofs.textbook.refresh"


def test_every_step_and_fact_is_kept_and_nothing_else(monkeypatch):
    """A step whose question is not kept would be searched for; a kept answer to no question is of a
    step that was changed since."""
    asked, sought, real = set(), [], proof_cache.statement_hash

    def name(document):
        asked.add(real(document))
        return real(document)

    monkeypatch.setattr(proof_cache, "statement_hash", name)
    monkeypatch.setattr(algebra, "prove", lambda target, *rest, **more: sought.append(target))
    proof_steps.step_of.cache_clear()
    facts.fact_documents.cache_clear()
    for leaf in LEAVES:
        facts.fact_documents(leaf.id)
    for claim in discover.claims():
        for line in claim.follows:
            proof_steps.step_of(claim, line - 1)
    proof_steps.step_of.cache_clear()
    assert not sought, f"{len(sought)} questions are not kept: {AGAIN}"
    assert set(proof_cache.load_store()) == asked, (
        f"answers to {len(set(proof_cache.load_store()) - asked)} others: {AGAIN}"
    )

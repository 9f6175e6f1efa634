"""`python -m tests.proofs.textbook.refresh`: proofs of all steps and textbook facts, as they ship."""

import json

from fedtheory import discover
from fedtheory.proofs.textbook import facts, proof_cache, proof_steps
from fedtheory.proofs.textbook.lemmas import LEAVES
from fedtheory.store.files import write_file


def main():
    for name in [name for name, proof in proof_cache.load_store().items() if proof is None]:
        del proof_cache.load_store()[name]  # what was searched in vain is searched again
    proof_steps.BUDGET, proof_steps.QUICK = 1.0, 0.5  # longer than whoever asks for a step waits
    for leaf in LEAVES:
        facts.fact_documents(leaf.id)
    for claim in discover.claims():
        for line in claim.follows:
            found = proof_steps.step_of(claim, line - 1)
            print(f"{found.line}: {found.status} {found.why}", flush=True)
    write_file(
        proof_cache.FILE, (json.dumps(proof_cache.SEEN, sort_keys=True, indent=0) + "\n").encode()
    )


if __name__ == "__main__":
    main()

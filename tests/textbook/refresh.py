"""`python -m tests.textbook.refresh`: proofs of all steps and textbook facts, as they ship."""

import json

from fedtheory import discover
from fedtheory.files import write
from fedtheory.textbook import edges, facts, kept
from fedtheory.textbook.leaves import LEAVES


def main():
    for name in [name for name, proof in kept.load_store().items() if proof is None]:
        del kept.load_store()[name]  # what was searched in vain is searched again
    edges.BUDGET, edges.QUICK = 1.0, 0.5  # longer than whoever asks for a step waits
    for leaf in LEAVES:
        facts.fact_documents(leaf.id)
    for claim in discover.claims():
        for line in claim.follows:
            found = edges.step_of(claim, line - 1)
            print(f"{found.line}: {found.status} {found.why}", flush=True)
    write(kept.FILE, (json.dumps(kept.SEEN, sort_keys=True, indent=0) + "\n").encode())


if __name__ == "__main__":
    main()

"""`python -m tests.figures.refresh_broken`: documents of the violated lines that figures of proofs go
through, as they ship. One that still replays stays; other lines are searched for anew."""

import json
from importlib import import_module

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates.check_proof import Refused
from fedtheory.figures import _proofs
from fedtheory.store.files import write_file
from fedtheory.verdicts import proof_graph
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.decision import decide_line

FIGURES, BUDGET = ("proof_flex", "proof_fsl", "proof_lamb", "proof_mixed"), dict(order=5.0)


def document(claim, n):
    """The document that a line is violated, the one that was kept if it still shows that."""
    for one in _proofs.known_violations().get(claim.id, ()):
        try:
            if one["line"] == n and ft.replay(one)["about"] == _proofs.RECORDED:
                return one
        except Refused:
            pass
    verdict = decide_line(Case.of(claim, BUDGET.get(claim.kind, 1.0), 0, line=n))
    return verdict.certificate if verdict.status == "violated" else None


def lines():
    """(claim, place) of every line that figures of proofs go through, each once."""
    found = {}
    for name in FIGURES:
        for id in import_module(f"fedtheory.figures.{name}").CLAIMS:
            for one in proof_graph.order_lines(proof_graph.claim_lines(discover.claim(id))):
                if not isinstance(one, str):
                    found.setdefault((one[0].id, one[1]), one)
    return list(found.values())


def main():
    found = {}
    for claim, n in lines():
        found[claim.id, n] = document(claim, n)
        print(claim.id, n, found[claim.id, n] is not None, flush=True)
    kept = {}
    for (id, _), one in sorted(found.items()):
        if one is not None:
            kept.setdefault(id, []).append(one)
    write_file(_proofs.BROKEN, (json.dumps(kept, sort_keys=True, indent=0) + "\n").encode())


if __name__ == "__main__":
    main()

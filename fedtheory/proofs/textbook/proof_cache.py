"""A cache of proofs of steps, addressed by the statement that each proves, so that no search is
repeated.

A proof is stored under the hash of its statement. It counts only after the checker has accepted it
for the statement at hand. A proof that is stale, changed or missing is searched for anew. The store
also records that a search found no proof, which does not mean that there is none.
`python -m tests.proofs.textbook.refresh` searches for missing proofs and writes all proofs.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.certificates import check_proof
from fedtheory.proofs import algebra
from fedtheory.typing import Document

if TYPE_CHECKING:
    import sympy

FILE = Path(__file__).with_name("proofs.json")
SEEN: dict = {}  # {hash: proof or None} of the statements met so far, for `tests.proofs.textbook.refresh`


@cache
def load_store() -> dict[str, Any]:
    """Return {hash of a statement: its proof}."""
    return json.loads(FILE.read_text()) if FILE.is_file() else {}


def statement_hash(document: Document) -> str:
    """Return the hash of the statement of a document, independent of its sources and wording."""
    stated = [document[part] for part in algebra.PARTS if part not in ("sources", "parts")]
    text = json.dumps(stated, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load_proof(
    target: "sympy.Rel",
    relations: "Sequence[sympy.Rel]",
    definitions: "Mapping[sympy.Symbol, sympy.Expr]",
    budget: float,
) -> dict[str, Any] | None:
    """Return a document that proves that relations imply a target, or None where no proof was
    found.

    `budget` is in seconds of one core, and only spent where the store knows nothing of the
    statement.
    """
    statement = algebra.build_statement(target, relations, definitions)
    if statement is None:
        return None
    document = statement.document()
    key = statement_hash(document)
    if key in load_store() and load_store()[key] is None:  # an earlier search failed
        return None
    if key in load_store():
        found = {**document, "proof": load_store()[key]}
        try:
            check_proof.check(found)
        except check_proof.Refused:
            pass
        else:
            SEEN[key] = found["proof"]
            return found
    proof = algebra.prove(target, relations, definitions, budget, False, chain=True)
    if not proof:
        SEEN[key] = None
        return None
    SEEN[key] = proof.certificate["proof"]
    return dict(proof.certificate)

"""`python -m tests.second_opinion.refresh`: the shipped documents in the words of the records.

How formulas are written may change; what a document states may not. Its instance, its numbers and
its proof stay as they are, its words are written anew from the record that it names, and each
document is derived again before any is written.
"""

import json
from pathlib import Path

import fedtheory as ft
from fedtheory.certificates import check_family, check_instance
from fedtheory.models import by_name
from fedtheory.proofs import algebra
from fedtheory.search import counterexample, divergent_families
from fedtheory.search.objective import Target
from fedtheory.store.files import write_file
from fedtheory.verdicts import structural_certificate

HERE = Path(__file__).resolve().parent
WORDS = ("sources", "parts")  # of a proof


def wordless(statement):
    """A counterexample's statement without its words."""
    return {
        **statement,
        "says": None,
        "assumes": [rule["program"] for rule in statement["assumes"]],
    }


def reworded(document, target):
    """A counterexample in the words of a line in a setting; what it states stays as it was."""
    stated = counterexample.target_statement(target)
    if wordless(stated["statement"]) != wordless(document["statement"]):
        raise SystemExit(f"{document['claim']}: it states something else than its record now does")
    return sealed({**document, **stated})


def sealed(document):
    return {**document, "digest": check_instance.digest_of(document)}


def refreshed(document):
    """A shipped document of a violation."""
    claim = counterexample.find_recorded_claim(document["claim"])
    if document["format"] == check_instance.FORMAT:
        return reworded(document, Target(claim, by_name(document["setting"]), document["line"]))
    if document["format"] == structural_certificate.FORMAT:
        return sealed({**document, "says": claim.says})
    at, setting = document["line"], by_name(document["members"][0]["setting"])
    keep = divergent_families.hidden_symbols(claim)
    target = Target(divergent_families.bound_by_constant(claim, at, None), setting, keep=keep)
    members = [reworded(member, target) for member in document["members"]]
    assert document["format"] == check_family.FORMAT
    return sealed({**document, "says": str(claim), "cites": claim.cites, "members": members})


def refreshed_proof(name, document):
    """A shipped proof of a claim's line."""
    claim, _, line = name.partition("/")
    for meant in (False, True):
        question = algebra.line_question(ft.claim(claim), int(line) - 1, (), meant)
        stated = algebra.build_statement(*question[:3])
        kept = [part for part in algebra.PARTS if part not in WORDS]
        if stated and all(stated.document()[part] == document[part] for part in kept):
            return {**document, **{part: stated.document()[part] for part in WORDS}}
    raise SystemExit(f"{name}: it states something else than its record now does")


def main():
    for file, anew in (
        ("certificates.json", lambda name, document: refreshed(document)),
        ("proofs.json", refreshed_proof),
    ):
        before = json.loads((HERE / file).read_text())
        after = {
            name: json.loads(json.dumps(anew(name, document))) for name, document in before.items()
        }
        for document in after.values():
            ft.replay(document)
        changed = sum(after[name] != before[name] for name in before)
        write_file(HERE / file, json.dumps(after, separators=(",", ":")).encode())
        print(f"{file}: {changed} of {len(before)} documents in other words")


if __name__ == "__main__":
    main()

"""The derivation of a claim that is not a line: the steps by which the cells of a table follow from
the given integers, or by which two runs reach their ends.

A cell is one step or several, with the form in which it is shown: "rounded" as the text prints it,
"<" or "=" where the cell is true or false.
"""

from fractions import Fraction
from typing import Any

from fedtheory.arithmetic.work import limit_work
from fedtheory.certificates import alone
from fedtheory.certificates.check_proof import require
from fedtheory.language.claim import Claim
from fedtheory.language.statements import Related, Rounded
from fedtheory.rocq.numbered_values import NumberedBook, write_steps
from fedtheory.search.counterexample import find_recorded_claim
from fedtheory.typing import Assignment, Document
from fedtheory.verdicts import exact_endpoints, structural_certificate

WORK = 400_000  # budget for arithmetic that records its steps


def derive_structure(document: dict[str, Any]) -> dict[str, Any]:
    """Return {"steps", "values", "went", "told"} of a document, with "shown" for a document of
    cells."""
    claim, book = find_recorded_claim(document["claim"]), NumberedBook()
    with limit_work(WORK):
        found = cell_steps if "cells" in document else point_steps
        return dict(found(document, claim, book), told=[])


def cell_steps(document: Any, claim: Any, book: Any) -> dict[str, Any]:
    """Return the steps of the cells that differ, and of the cells that fix the integers, computed
    from the given numbers."""
    computed = claim.statement.compute_cells(book.tree(as_fractions(document["given"])))
    wanted = [cell for cell, *_ in (*document["cells"], *document.get("fixing", []))]
    shown, values = {}, {}
    for cell in wanted:
        value = computed[cell]
        kind, parts = "equal", value
        if isinstance(value, Rounded):
            kind, parts = "rounded", value.value
        if isinstance(value, Related):
            kind, parts = value.sign, (value.left, value.right)
        shown[cell] = kind
        values[cell] = [*map(book.step, parts)] if isinstance(parts, tuple) else book.step(parts)
    return dict(make_comparisons(values, book), shown=shown)


def point_steps(document: Document, claim: Claim | None, book: NumberedBook) -> dict[str, Any]:
    """Return the steps of the coordinates of both end points."""
    require("points" in document, "its ways go by chance")
    which, said = document["same"], document["equivalence"]
    same = claim.same[which] if claim is not None else structural_certificate.read_equivalence(said)
    found = exact_endpoints.exact_ends(
        same, book.tree(exact_endpoints.as_numbers(document["instance"]))
    )
    names = ("one", "other")
    values = {name: [*map(book.step, point)] for name, point in zip(names, found)}
    return dict(make_comparisons(values, book), of=alone.document_outline(document))


def make_comparisons(values: Assignment, book: NumberedBook) -> dict[str, Any]:
    return write_steps(values, [(a, sign, b) for (_, _, sign), (a, b) in book.taken.items()])


def as_fractions(tree: Any) -> Any:
    """Return plain data with its integers converted to fractions."""
    if isinstance(tree, dict):
        return {name: as_fractions(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [as_fractions(value) for value in tree]
    return Fraction(tree) if type(tree) is int else tree

"""`coqc` on every document that ships, where it is at hand."""

import pytest

from fedtheory.rocq import coqc
from fedtheory.rocq.exporting import Unwritten, export, theorems
from tests.rocq.test_exporting import INSTANCES, PROOFS, needs_coqc

WITHOUT_FORM = {
    "fsl.table3": "cells of a table",
    "mixed.table3_numbers": "cells of a table",
    "mixed.K1_equivalence": "runs two programs in floats",
    "mixed.table4_two_way_strong/1": "what may be zero",
    "mixed.table4_two_way_strong/2": "what may be zero",
}


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROOFS, *INSTANCES])
def test_coqc_accepts_every_shipped_document(name):
    document = {**PROOFS, **INSTANCES}[name]
    if name in WITHOUT_FORM:
        with pytest.raises(Unwritten):
            export(document)
        return
    text = export(document)
    answer = coqc.judged(text, theorems(text))
    assert answer.accepted, answer.why

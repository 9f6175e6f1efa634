"""`coqc` on some documents that ship, where `coqc` is installed: `python -m tests.checker.rocq_kernel`
runs it on all of them."""

import pytest

from fedtheory.rocq import coqc
from fedtheory.rocq.export_file import Unwritten, export, theorem_names
from tests.rocq.test_export_file import INSTANCES, PROOFS, needs_coqc

WITHOUT_FORM = {
    "fsl.table3": "cells of a table",
    "mixed.table3_numbers": "cells of a table",
    "mixed.K1_equivalence": "runs two programs in floats",
    "mixed.table4_two_way_strong/1": "not known to be a finite number",
    "mixed.table4_two_way_strong/2": "not known to be a finite number",
}


ALL = {**PROOFS, **INSTANCES}


@pytest.mark.parametrize("name", WITHOUT_FORM)
def test_what_has_no_form_is_refused_in_words(name):
    with pytest.raises(Unwritten, match=WITHOUT_FORM[name]):
        export(ALL[name])


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ALL.keys() - WITHOUT_FORM.keys())[::12])
def test_coqc_accepts_shipped_documents(name):
    document = ALL[name]
    text = export(document)
    answer = coqc.judge_file(text, theorem_names(text))
    assert answer.accepted, answer.why

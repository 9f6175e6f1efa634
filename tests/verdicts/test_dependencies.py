"""A verdict runs nothing that its key does not hash."""

import sys
from pathlib import Path

import pytest

from fedtheory import discover
from fedtheory.models import all_models
from fedtheory.store import source_hash
from fedtheory.verdicts import dependencies, pipeline, structural_claims

# Lines by algebra, search and proof, an order, an equivalence, cells, a finding; methods of each
# paper.
CLAIMS = (
    "fsl.theorem1",
    "fsl.lemma3",
    "flex.table1_A_hom",
    "mixed.K1_equivalence",
    "fsl.table2",
    "lamb.theorem1",
)
# The face of the package and its import finders, which compute nothing.
LOOKS = {"__init__.py", "old_names.py", "folders_beside.py"}


def ran(call):
    """Files of the library whose functions a call runs, but for those that importing runs."""
    found = set()

    def seen(frame, event, argument):
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add((frame.f_code.co_filename, frame.f_code.co_name))

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    home = source_hash.ROOT / "fedtheory"
    return {Path(name) for name, _ in found if home in Path(name).parents}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_runs_is_reached(name):
    claim = discover.claim(name)
    assert all_models() and structural_claims  # read before: a record counts by what it says
    reached = set()
    for one in dependencies.claims_asked(claim):
        reached |= source_hash.reachable_files(dependencies.find_dependencies(one)[2], walked=False)
        reached |= set(map(source_hash.home_file, dependencies.claim_functions(one)))
    reached |= {source_hash.ROOT / "fedtheory" / name for name in LOOKS}
    stray = ran(lambda: pipeline.decide_readings(claim, 0.05, 0)) - reached
    assert not {path.name for path in stray}


def test_every_method_has_its_file():
    for record in discover.algorithms().values():
        assert dependencies.module_of(record) == f"fedtheory.algorithms.{record.name}"

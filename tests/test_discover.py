"""Finding one record: the same one as among all, and nothing that it does not need is read."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import InvalidInput

ONE = """
import sys
from fedtheory import discover
import fedtheory.verdicts.pipeline
assert discover.claim("{name}").id == "{name}"
assert discover.find_recorded("{name} (mutant)") is None
print(*sorted(sys.modules))
"""


def test_an_id_finds_the_claim_that_is_among_all():
    assert all(discover._find_shipped(record.id) is record for record in discover.shipped_claims())
    assert all(discover.find_recorded(record.id) is record for record in discover.shipped_claims())
    assert (
        discover._find_shipped("lamb.lemma") is None
        and discover._find_shipped("none.lemma1") is None
    )
    with pytest.raises(InvalidInput, match="such as fsl.lemma1"):
        discover.claim("lamb.lemma")


@pytest.mark.parametrize("name", ["lamb.lemma1", "fsl.fig1_iid_alike"])
def test_one_claim_is_read_without_the_others(name):
    done = subprocess.run(
        [sys.executable, "-c", ONE.format(name=name)], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "fedtheory.claims.mixed.lemmas" not in loaded
    assert not loaded & {"scipy.optimize", "scipy.sparse", "scipy.special"}


def test_checkers_of_types_see_what_is_imported_on_first_use():
    """Type checkers read the imports that no run makes; both name the same things."""
    tree = ast.parse(Path(ft.__file__).read_text())
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {a.asname: f"{node.module}.{a.name}" for node in block.body for a in node.names}
    assert seen == {name: ".".join(filter(None, place)) for name, place in ft._LAZY.items()}

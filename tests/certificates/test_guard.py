"""What checks documents asks nothing of what found them, and says what it rests on."""

import ast
import json
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory import certificates
from tests.second_opinion import opinion

FILES = sorted(Path(certificates.__file__).parent.glob("check_*.py"))
ALLOWED = {
    "check_proof.py": set(),
    "check_worst_case.py": set(),
    "check_instance.py": {"arithmetic", "errors", "models", "certificates"},
    "check_family.py": {"arithmetic", "models", "certificates"},
}


def rooms(path):
    """Rooms of this library that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "fedtheory":
            found |= {(*node.module.split("."), *(a.name for a in node.names))[1]}
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.split(".")[0] == "fedtheory"}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_checker_imports_no_search_and_no_proof(path):
    assert rooms(path) <= ALLOWED[path.name]


def test_every_replay_says_what_it_rests_on():
    """A proof rests on fractions; a counterexample also on the definitions of its setting."""
    shipped = Path(opinion.__file__).parent
    proofs = json.loads((shipped / "proofs.json").read_text())
    instances = json.loads((shipped / "certificates.json").read_text())
    assert ft.replay(next(iter(proofs.values())))["rests_on"] == "fractions alone"
    for document in instances.values():
        if document["format"] == "fedtheory counterexample 1":
            assert document["setting"] in ft.replay(document)["rests_on"]
            break

"""Tests mirror modules: a changed module names the tests that look at it.

`python -m tests.test_mirror fedtheory/rng.py ...` prints them. They are those of its own name in its
room's folder, those that import it, and, for what is reached as a record or from within its room
alone, those that `REACHED` names.
"""

import ast
import sys
from pathlib import Path

import pytest

from tests.test_layers import LEVEL, imports

ROOT = Path(__file__).resolve().parents[1]
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
# What no test imports, by the start of its path: records that discovery finds, parts of one room
# that are asked through it, and commands that run as processes.
REACHED = {
    "fedtheory/typing": "test_house.py",
    "fedtheory/__main__": "app/test_habits.py",
    "fedtheory/app/commands": "app/test_habits.py",
    "fedtheory/app/argument_parser": "app/test_habits.py app/test_completion.py",
    "fedtheory/app/rocq_command": "rocq/test_export_file.py",
    "fedtheory/algorithms/": "test_contracts.py",
    "fedtheory/arguments": "test_hostile_arguments.py",
    "fedtheory/claims/": "language/test_claim.py second_opinion/test_second_opinion.py",
    "fedtheory/comparison/": "comparison/test_result.py comparison/test_every_claim.py",
    "fedtheory/parallel/pickling": "test_pickling.py",
    "fedtheory/experiments/": "experiments/test_pool.py",
    "fedtheory/app/data_command": "experiments/data/test_sets.py",
    "fedtheory/experiments/data/partition/": "experiments/data/test_partition.py",
    "fedtheory/experiments/data/": "experiments/data/test_sets.py",
    "fedtheory/arithmetic/": "arithmetic/test_enclosure.py test_hostile_numbers.py",
    "fedtheory/exact/": "exact/test_expected.py",
    "fedtheory/experiments/layers/": "experiments/layers/test_layers.py",
    "fedtheory/experiments/networks/": "experiments/networks/test_networks.py",
    "fedtheory/language/paper": "language/test_papers.py",
    "fedtheory/problems/": "test_contracts.py",
    "fedtheory/proofs/": "proofs/test_algebra.py",
    "fedtheory/rocq/": "rocq/test_export_file.py",
    "fedtheory/runs/result": "runs/test_running.py",
    "fedtheory/runs/plots": "comparison/test_result.py",
    "fedtheory/search/": "search/test_optimizer.py verdicts/test_verdicts.py",
    "fedtheory/models/": "models/test_run.py verdicts/test_verdicts.py",
    "fedtheory/language/statements": "language/test_claim.py language/test_claim_validation.py",
    "fedtheory/symbols/": "language/test_symbols.py language/test_printing.py",
    "fedtheory/language/claim": "language/test_claim.py",
    "fedtheory/claim.py": "language/test_claim.py",
    "fedtheory/conditions.py": "language/test_claim.py",
    "fedtheory/symbol.py": "language/test_symbols.py",
    "fedtheory/store/npz": "experiments/data/test_formats.py",
    "fedtheory/papers/": "language/test_papers.py",
    "fedtheory/proofs/textbook/": "proofs/textbook/test_proof_steps.py proofs/textbook/test_facts.py proofs/textbook/test_flex_facts.py proofs/textbook/test_lemmas.py",
    "fedtheory/language/claim_evaluation": "language/test_claim.py language/test_claim_validation.py",
    "fedtheory/language/variants": "language/test_claim.py language/test_claim_validation.py",
    "fedtheory/proofs/worstcase/": "proofs/worstcase/test_program.py",
    "figures/": "figures/test_main.py figures/test_proofs.py figures/test_tables.py figures/test_theory.py",
    "verify/": "verify/test_campaign.py verify/test_rederive_package.py",
}


def modules():
    """Every module that ships, as a path from the root; a package stands for what it holds."""
    tops = [ROOT / name for name in ("fedtheory", "figures", "verify")]
    return [
        path.relative_to(ROOT).as_posix()
        for top in tops
        for path in sorted(top.rglob("*.py"))
        if path.name != "__init__.py"
    ]


def imported():
    """test file -> what it imports."""
    return {test: set(imports(test.read_text())) for test in TESTS}


def own(module):
    """Test files of a module's own name: test_fsl.py and test_fsl_rounds.py of fsl.py,
    test_fsl_round.py of fsl/round.py."""
    first, *rest = Path(module).with_suffix("").parts
    *folder, name = rest if first == "fedtheory" else (first, *rest)
    name = name.lstrip("_")
    homes = [(folder, name)]
    if len(folder) > 1:
        homes.append((folder[:-1], f"{folder[-1]}_{name}"))
    return {
        test
        for home, stem in homes
        for test in (ROOT / "tests").joinpath(*home).glob("test_*.py")
        if test.stem == f"test_{stem}" or test.stem.startswith(f"test_{stem}_")
    }


def looking(module, seen):
    """(the tests that name a module, those that reach it otherwise)."""
    dotted = ".".join(Path(module).with_suffix("").parts)
    dotted = f"fedtheory.{dotted.removeprefix('fedtheory.')}"
    by_name = own(module) | {test for test, names in seen.items() if dotted in names}
    reached = next((files for start, files in REACHED.items() if module.startswith(start)), "")
    return by_name, {ROOT / "tests" / name for name in reached.split()}


@pytest.fixture(scope="module")
def seen():
    return imported()


@pytest.mark.parametrize("module", modules())
def test_a_module_has_its_tests(module, seen):
    by_name, reached = looking(module, seen)
    assert by_name or reached, f"no test is called after {module} or imports it"
    assert all(test.is_file() for test in reached)


def test_an_exception_is_one(seen):
    """Each start in REACHED has a module that no test names."""
    for start in REACHED:
        under = [module for module in modules() if module.startswith(start)]
        assert any(not looking(module, seen)[0] for module in under), start


def test_folders_of_tests_are_rooms():
    rooms = {path.name for path in (ROOT / "tests").iterdir() if (path / "__init__.py").is_file()}
    assert rooms - set(LEVEL) == {"bench", "checker", "frameworks", "oracle", "second_opinion"}


def test_every_test_file_says_what_it_looks_at():
    for test in TESTS:
        assert ast.get_docstring(ast.parse(test.read_text())), test


def test_a_module_without_a_test_is_seen(seen):
    assert looking("fedtheory/lonely.py", seen) == (set(), set())
    assert own("fedtheory/models/fsl/round.py") == {ROOT / "tests/models/test_fsl_round.py"}


if __name__ == "__main__":
    names, found = imported(), set()
    for module in sys.argv[1:]:
        by_name, reached = looking(Path(module).as_posix(), names)
        found |= by_name or reached
    print(*sorted(test.relative_to(ROOT).as_posix() for test in found), sep="\n")

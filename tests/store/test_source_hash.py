"""What a source can reach, and what counts of it."""

import json

import pytest

from fedtheory.store import private_cache, source_hash

SOURCE = """
import json
from fedtheory.figures import _style, _findings
SIZE = 3
LABEL = "rounds"
def helper(n):
    return n * SIZE
def compute(scale, progress):
    return {"x": helper(2), "y": _findings.LEVEL}
def draw(figure, data):
    figure.text(0, 0, LABEL, color=_style.INK)
"""


def test_only_what_computes_counts():
    part, modules = source_hash.used_statements(SOURCE, "compute")
    assert modules == {"fedtheory.figures._findings"}
    same = [
        SOURCE.replace('"rounds"', '"T"'),
        SOURCE.replace("0, 0", "1, 1"),
        SOURCE + "# a comment\n",
    ]
    other = [
        SOURCE.replace("SIZE = 3", "SIZE = 4"),
        SOURCE.replace("n * SIZE", "n + SIZE"),
        SOURCE.replace("helper(2)", "helper(3)"),
        SOURCE + "SIZE += 1\n",
    ]
    assert all(source_hash.used_statements(text, "compute")[0] == part for text in same)
    assert all(source_hash.used_statements(text, "compute")[0] != part for text in other)


def relative(modules):
    return {source_hash.file_label(path) for path in source_hash.reachable_files(modules)}


def test_what_a_computation_reaches():
    found = relative(["fedtheory.rng"])
    assert "fedtheory/rng.py" in found and "fedtheory/errors.py" in found
    assert not found & {
        "fedtheory/runs/engine.py",
        "fedtheory/figures/_style.py",
        "fedtheory/app/cli.py",
    }
    # Whoever asks discovery reaches every record.
    assert {"fedtheory/claims/flex/table1.py", "fedtheory/algorithms/fsl.py"} <= relative(
        ["fedtheory.discover"]
    )
    assert {"fedtheory/runs/engine.py", "fedtheory/problems/quadratics.py"} <= relative(
        ["fedtheory"]
    )
    assert relative(["numpy", "json"]) == set()


def test_a_name_that_a_module_does_not_define_needs_all_of_it():
    whole = source_hash.used_statements(SOURCE, "<lambda>")
    assert whole[1] == {"json", "fedtheory.figures._style", "fedtheory.figures._findings"}
    assert source_hash.used_statements(SOURCE.replace('"rounds"', '"T"'), "<lambda>")[0] != whole[0]


TEXT = """
from fedtheory import errors


class Point:
    x: float = 1.0

    def norm(self, p=2):
        return abs(self.x) ** p
"""


@pytest.mark.parametrize(
    "old, new",
    [
        ("from", "# a remark\nfrom"),
        ("class Point:", 'class Point:\n    """Where it is."""\n'),
        ("p=2):", "p=2):\n        # the root of what\n"),
        ("abs(self.x) ** p", "(\n            abs(self.x)  # or so\n            ** p\n        )"),
        ("from", '"""A module."""\nfrom'),
    ],
)
def test_what_computes_nothing_counts_for_nothing(old, new):
    assert TEXT.replace(old, new, 1) != TEXT
    assert source_hash.parse_facts(TEXT.replace(old, new, 1)) == source_hash.parse_facts(TEXT)


@pytest.mark.parametrize(
    "old, new",
    [("1.0", "1"), ("1.0", "True"), ("p=2", "p=3"), ("abs(self.x)", "self.x"), ("Point", "Place")],
)
def test_what_computes_counts(old, new):
    assert (
        source_hash.parse_facts(TEXT.replace(old, new)).syntax
        != source_hash.parse_facts(TEXT).syntax
    )


def test_an_import_inside_a_function_counts_and_a_walk_reaches_what_its_text_names(tmp_path):
    room = tmp_path / "fedtheory" / "records"
    room.mkdir(parents=True)
    (room / "one.py").write_text("x = 1\n")
    (room.parent / "far.py").write_text("y = 1\n")
    (room.parent / "walk.py").write_text('import pkgutil\n\nPLACE = "fedtheory.records"\n')
    (room.parent / "lazy.py").write_text("def f():\n    from fedtheory import walk\n")
    names = lambda *a, **k: {path.name for path in source_hash.reachable_files(*a, **k)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_hash, "ROOT", tmp_path)
        assert names(["fedtheory.lazy"]) == {"lazy.py", "walk.py", "one.py"}
        assert names(["fedtheory.lazy"], walked=False) == {"lazy.py", "walk.py"}


@pytest.mark.parametrize(
    "start, name, counts",
    [
        ("walk", "kept.json", True),  # named in full
        ("walk", "lemma.v", True),  # by its ending
        ("walk", "other.json", False),  # beside it, and not named
        ("walk", "far/kept.json", False),  # named, and in another folder
        ("top", "kept.json", True),  # through an import
        ("alone", "kept.json", False),
    ],
)
def test_a_data_file_that_a_module_names_beside_itself_counts(
    tmp_path, monkeypatch, start, name, counts
):
    room = tmp_path / "fedtheory"
    (room / "far").mkdir(parents=True)
    texts = dict(
        walk='A, B = "kept.json", f"{__name__}.v"\n\n\ndef f():\n    pass\n',
        top="from fedtheory import walk\n",
        alone='A = "lemma.w"\n',
    )
    for module, text in texts.items():
        (room / f"{module}.py").write_text(text)
    for file in ("kept.json", "lemma.v", "other.json", "far/kept.json"):
        (room / file).write_text("{}")
    monkeypatch.setattr(source_hash, "ROOT", tmp_path)
    monkeypatch.setattr(source_hash._FactsCache, "keep", lambda self: None)
    whole = lambda: source_hash.digest_of_reach([f"fedtheory.{start}"])
    part = lambda: source_hash.part_digest(room / f"{start}.py", "f")
    source_hash.forget_files()
    try:
        before = whole(), part()
        (room / name).write_text('{"one": null}')
        source_hash.forget_files()
        after = whole(), part()
        assert (before[0] != after[0], before[1] != after[1]) == (counts, counts)
        (room / name).unlink()
        source_hash.forget_files()
        assert (whole() != before[0]) == counts
    finally:
        monkeypatch.undo()
        source_hash.forget_files()


def test_kept_proofs_and_broken_lines_bear_on_what_reads_them(edited):
    from fedtheory import discover
    from fedtheory.app import ledger
    from fedtheory.figures import _store

    keys = lambda: (
        ledger.result_key(discover.claim("fsl.theorem1"), 1.0, 0),
        _store.arrays_key("proof_lamb", "smoke"),
    )
    assert {"proofs/textbook/proof_cache.py", "proofs/textbook/proofs.json", "rocq/roots.v"} <= set(
        ledger.source_hashes()
    )
    first = keys()
    edited("fedtheory/proofs/textbook/proofs.json", " ")
    second = keys()
    assert all(a != b for a, b in zip(first, second))
    edited("figures/_broken.json", " ")
    third = keys()
    assert [a != b for a, b in zip(second, third)] == [False, True]


def test_facts_are_kept_for_the_next_process_and_a_forged_file_counts_as_absent(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("FEDTHEORY_CACHE_DIR", str(tmp_path))
    source_hash.forget_files()
    real = source_hash.digest_of_reach(["fedtheory.rng"])
    file = tmp_path / source_hash.KEPT
    form, found = json.loads(private_cache.unseal(source_hash.KEPT, file.read_bytes()))
    assert form == source_hash.FORMAT and found
    try:
        monkeypatch.setattr(source_hash, "parse_facts", lambda content: pytest.fail("parsed again"))
        source_hash.forget_files()
        assert source_hash.digest_of_reach(["fedtheory.rng"]) == real
        monkeypatch.undo()
        monkeypatch.setenv("FEDTHEORY_CACHE_DIR", str(tmp_path))
        forged = {name: ["0" * 64, [], [], False] for name in found}
        content = json.dumps([form, forged]).encode()
        for seal in (
            b"\0" * private_cache.SEAL,
            private_cache.seal("another name", b"")[: private_cache.SEAL],
        ):
            file.write_bytes(seal + content)
            source_hash.forget_files()
            assert source_hash.digest_of_reach(["fedtheory.rng"]) == real
        file.write_bytes(b"")
        source_hash.forget_files()
        assert source_hash.digest_of_reach(["fedtheory.rng"]) == real
    finally:
        source_hash.forget_files()

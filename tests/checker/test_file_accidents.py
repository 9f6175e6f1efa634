"""Accidents with files: a few of each kind here, all of them by `python -m tests.checker.file_accidents`."""

import pytest

from tests.checker import file_accidents

FAST = (
    "export: the disk is full at file 1",
    "export: a file of somebody's",
    "export: a link of somebody's",
    "export: --out lies below a file",
    "export: --out is of the system",
    "new: the disk is full at file 1",
    "new: a link that leads nowhere",
    "new: --out is a device",
    "check: the disk is full at file 2",
    "check: what I noted in its files",
    "check: Ctrl-C in mid-write",
    "check: a folder of somebody's",
    "run: the disk is full at file 3",
    "run: --out is a file",
    "check of what is decided otherwise now",
    "run of a file that leads above",
    "run of a file that leads through a link",
    "verify at a thesis with checksums",
    "verify at a store of another key",
    "a checkpoint that is none",
)
ALL = file_accidents.accidents()


def test_there_are_a_hundred_and_more():
    assert len(ALL) >= 100 and set(FAST) <= set(ALL)


@pytest.mark.parametrize("name", FAST)
def test_nothing_is_lost(name, tmp_path):
    ALL[name](file_accidents.prepare_folder(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*ALL} - {*FAST}))
def test_nothing_is_lost_in_all_others(name, tmp_path):
    ALL[name](file_accidents.prepare_folder(tmp_path))


def careless(root):
    """A command that does what commands did."""
    (root / "thesis.tex").unlink()


def half(root):
    (root / "run.npz").write_bytes(b"PK\3\4 and no more")


def test_what_is_lost_and_what_is_half_is_seen(tmp_path):
    before = file_accidents.contents(file_accidents.prepare_folder(tmp_path))
    assert not file_accidents.find_lost(before, tmp_path) and not file_accidents.find_broken(
        tmp_path
    )
    careless(tmp_path)
    half(tmp_path)
    assert file_accidents.find_lost(before, tmp_path) == ["thesis.tex"]
    assert file_accidents.find_broken(tmp_path) == ["run.npz"]
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "thesis.tex").write_text("years")
    assert not file_accidents.find_lost(before, tmp_path)
    with pytest.raises(AssertionError):
        file_accidents.judge(file_accidents.Ended(1, "Traceback (most recent call last):"), (1, 2))


def test_the_command_says_what_was_lost(monkeypatch, capsys):
    some = {
        "a loss": lambda root: file_accidents.judge(file_accidents.Ended(0, "")),
        "none": lambda root: None,
    }
    monkeypatch.setattr(file_accidents, "accidents", lambda: some)
    assert file_accidents.main([]) == 1
    told = capsys.readouterr().out
    assert "LOST a loss: AssertionError" in told and "2 accidents, 1 in which something" in told
    assert file_accidents.main(["--only", "none"]) == 0

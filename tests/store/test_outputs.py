"""Folders that commands write to: all files or none, and nothing of anybody else's is touched."""

import os

import pytest

from fedtheory.errors import InvalidInput
from fedtheory.store import files, outputs


def content(folder):
    """Everything below a folder but the log: {name: bytes, or where a link leads, or None}."""
    return {
        path.relative_to(folder).as_posix(): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
        if path.name != outputs.LOG
    }


def test_what_a_command_wrote_is_written_again_and_goes(tmp_path):
    folder = outputs.Folder(tmp_path / "out")
    folder.write({"a": b"1", "b/c": b"2", "b/d": b"3"})
    folder.check(["a", "b/c"])
    folder.write({"a": b"4", "e": b"5"}, stale=["a", "b/c"])
    assert content(tmp_path / "out") == {"a": b"4", "b": None, "b/d": b"3", "e": b"5"}
    folder.remove(["b/d", "nothing"])
    assert content(tmp_path / "out") == {"a": b"4", "e": b"5"}


def by_another(place):
    place.write_bytes(b"dear")


def by_a_link(place):
    place.with_name("target").write_bytes(b"1")
    place.symlink_to("target")


def by_a_link_that_leads_nowhere(place):
    place.symlink_to("nowhere")


def by_a_folder(place):
    place.mkdir()


def by_a_change(place):
    outputs.Folder(place.parent).write({place.name: b"1"})
    place.write_bytes(b"1 and what I noted")


@pytest.mark.parametrize(
    "stands", [by_another, by_a_link, by_a_link_that_leads_nowhere, by_a_folder, by_a_change]
)
def test_what_no_command_wrote_is_refused_and_stays(tmp_path, stands):
    stands(tmp_path / "a")
    before, folder = content(tmp_path), outputs.Folder(tmp_path)
    assert folder.foreign("a")
    for attempt in (lambda: folder.check(["a"]), lambda: folder.write({"b": b"2", "a": b"2"})):
        with pytest.raises(InvalidInput, match="--out already holds a file that no command wrote"):
            attempt()
    folder.remove(["a"])
    assert content(tmp_path) == before


def test_what_stands_in_the_way_can_be_moved_aside(tmp_path):
    folder = outputs.Folder(tmp_path)
    folder.write({"a": b"1", "b": b"1"})
    (tmp_path / "a").write_bytes(b"dear")
    (moved,) = folder.put_aside(["a", "b", "c"], "aside")
    folder.write({"a": b"2"})
    (kept,) = (name for name in content(tmp_path) if name.startswith("aside/") and name[-1] == "a")
    assert (
        content(tmp_path)[kept] == b"dear"
        and f"{tmp_path}/{kept}" == moved.partition(" to ")[2] + "/a"
    )


@pytest.mark.parametrize("torn", [b"", b"0" * 64 + b"  half", b"0" * 64 + b"  a\n", b"\xff\n"])
def test_a_log_that_was_cut_off_goes_on(tmp_path, torn):
    folder = outputs.Folder(tmp_path)
    folder.write({"a": b"1"})
    with (tmp_path / outputs.LOG).open("ab") as log:
        log.write(torn)
    folder.write({"b": b"2"})
    assert not folder.foreign("a") and not folder.foreign("b")
    folder.write({"a": b"3"})
    assert content(tmp_path) == {"a": b"3", "b": b"2"}


@pytest.mark.parametrize("make", [by_another, by_a_folder, by_a_link])
def test_a_log_that_is_none_is_refused(tmp_path, make):
    make(tmp_path / outputs.LOG)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(InvalidInput, match="this file is fedtheory's log"):
        outputs.Folder(tmp_path).write({"a": b"1"})
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("after", range(4))
def test_where_the_disk_is_full_there_is_all_or_nothing(tmp_path, monkeypatch, after):
    """The system refuses the first, second, ... time that content is to be kept."""
    folder, count, real = outputs.Folder(tmp_path / "new" / "out"), [0], os.fsync

    def full(handle):
        count[0] += 1
        if count[0] > after:
            raise OSError(28, "No space left on device")
        real(handle)

    wanted = {"a": b"1", "b": b"2", "c": b"3"}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left on device"):
            folder.write(wanted)
    found = content(tmp_path)
    assert not found if after < 3 else set(found) == {"new", "new/out"}  # the log is there by then
    folder.write(wanted)
    assert content(tmp_path / "new" / "out") == wanted


def test_a_file_at_the_folders_place_and_a_folder_that_cannot_be_are_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"dear")
    for place in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(InvalidInput, match="--out must be a folder"):
            outputs.Folder(place).check(["a"])
    with pytest.raises(InvalidInput, match="must be a folder that can be written to"):
        outputs.Folder("/proc/self/out").check(["a"])
    assert content(tmp_path) == {"file": b"dear"}


def test_a_question_leaves_nothing_behind(tmp_path):
    outputs.Folder(tmp_path / "a" / "b").check(["c"])
    assert not content(tmp_path)


def test_what_was_half_written_goes_and_what_looks_alike_stays(tmp_path):
    folder = outputs.Folder(tmp_path)
    part = f"{files.PREFIX}x1{files.SUFFIX}"
    for name in (part, ".mine.part", "busy"):
        (tmp_path / name).mkdir() if name == "busy" else (tmp_path / name).write_bytes(b"half")
    (tmp_path / "busy" / part).write_bytes(b"half")
    folder.sweep("busy")
    assert set(content(tmp_path)) == {".mine.part", "busy", f"busy/{part}"}


@pytest.mark.parametrize("name", ["", ".", "..", "/", outputs.LOG])
def test_a_file_has_a_name(name):
    with pytest.raises(InvalidInput, match="--out must be a file's name"):
        outputs.folder_for(name)

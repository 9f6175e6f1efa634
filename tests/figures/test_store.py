"""Saved arrays: keyed by what defines them, written whole, and checked before they are read."""

import io
import zipfile

import numpy as np
import pytest

from fedtheory.errors import InvalidInput
from fedtheory.figures import _store
from fedtheory.store import files, outputs


def test_scale_and_sources_are_in_the_key(edited):
    keys = {_store.arrays_key("mixed_table5", scale) for scale in ("smoke", "quick", "paper")}
    assert len(keys) == 3 and _store.arrays_key("mixed_table5", "smoke") in keys
    edited("fedtheory/claims/mixed/theorem_b2.py", "# a remark")
    assert _store.arrays_key("mixed_table5", "smoke") in keys
    edited("fedtheory/claims/mixed/theorem_b2.py", "LATER = 1")
    assert _store.arrays_key("mixed_table5", "smoke") not in keys


def test_what_is_saved_is_read_and_equal_arrays_are_equal_bytes(tmp_path):
    arrays = dict(
        a=np.arange(6.0).reshape(2, 3),
        b=np.array(["x", "äß"]),
        c=np.array(True),
        d=np.array([], int),
    )
    one, two = tmp_path / "n-smoke-1.npz", tmp_path / "m-smoke-1.npz"
    _store.save_arrays(one, arrays)
    _store.save_arrays(two, dict(reversed(arrays.items())))
    assert one.read_bytes() == two.read_bytes()
    found = _store.load_arrays(one)
    assert set(found) == set(arrays)
    assert all(
        np.array_equal(found[k], arrays[k]) and found[k].dtype == arrays[k].dtype for k in arrays
    )


def test_arrays_of_an_older_key_go_and_others_stay(tmp_path):
    (tmp_path / "n-smoke-mine.npz").write_bytes(b"dear")
    for name in ("n-smoke-1.npz", "n-quick-1.npz", "nn-smoke-1.npz", "n-smoke-2.npz"):
        _store.save_arrays(tmp_path / name, dict(a=np.zeros(1)))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        outputs.LOG,
        "n-quick-1.npz",
        "n-smoke-2.npz",
        "n-smoke-mine.npz",
        "nn-smoke-1.npz",
    ]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "x.txt"
    files.write_file(file, b"old")
    monkeypatch.setattr(files.os, "replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError):
        files.write_file(file, b"new")
    assert file.read_bytes() == b"old" and list(tmp_path.iterdir()) == [file]


def member(file, content):
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", content)


def npy(header):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 8


def test_hostile_and_broken_files_are_refused(tmp_path):
    file = tmp_path / "a.npz"
    stream = io.BytesIO()
    np.savez(stream, a=np.array([{}], dtype=object))
    file.write_bytes(stream.getvalue())
    with pytest.raises(InvalidInput, match="must hold floats"):
        _store.load_arrays(file)
    member(file, npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }"))
    with pytest.raises(InvalidInput, match="as long as its header says"):
        _store.load_arrays(file)
    member(file, b"no array")
    with pytest.raises(InvalidInput, match="a.npz"):
        _store.load_arrays(file)
    _store.save_arrays(file, dict(a=np.arange(1000.0)))
    whole = file.read_bytes()
    for broken in (whole[:-30], whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], b""):
        file.write_bytes(broken)
        with pytest.raises(InvalidInput, match="a.npz"):
            _store.load_arrays(file)


def test_more_than_the_budget_is_refused_before_it_is_read(tmp_path, monkeypatch):
    _store.save_arrays(tmp_path / "a-b-c.npz", dict(a=np.zeros(10_000)))
    monkeypatch.setattr(_store, "LARGEST", 10_000)
    with pytest.raises(InvalidInput, match="at most 10000 bytes"):
        _store.load_arrays(tmp_path / "a-b-c.npz")


def test_what_compute_returns_is_checked():
    for bad in ([1], {}, {"x": object()}, {"not a name": 1}, {"x": 1j}):
        with pytest.raises(InvalidInput, match="some_figure"):
            _store.check_arrays("some_figure", bad)
